"""One bot against another on all other seats, played here or in parts on a cluster."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from kepler_envs import bots
from kepler_envs.bots.protocol import Bot, TrustedDecisions, legal_ids, named
from kepler_envs.engine.batch import SKIP, Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.seeds import opponent_seeds, stream_seed
from kepler_envs.tournament.cluster import Cluster
from kepler_envs.tournament.shipment import Shipment


@dataclass(frozen=True)
class Results:
    """How the single bot fared, one number per game: float64 (G,) each.

    A win shared by w counts 1 / w. A game for one player is won if it pays more than 0.
    """

    wins: np.ndarray
    returns: np.ndarray
    lengths: np.ndarray
    points: np.ndarray


def play_against(learner: Bot, opponent: Bot, config: Configuration, games: int, seed: int) -> Results:
    """Play ``games`` games side by side. The number is rounded up to use every seat equally often.

    Args:
        learner: the bot that sits alone, on seat g mod P in game g.
        opponent: the bot on all other seats.
    """
    players = config.num_players
    games = -(-games // players) * players
    batch = Batch(config, games, seed)
    rows = np.arange(games)
    own_seat = rows % players
    seeds = opponent_seeds(batch.seed)
    learner.start(rows, seeds)
    opponent.start(rows, ~seeds)
    running = np.ones(games, np.bool_)
    while running.any():
        actions = np.full(games, SKIP, np.int64)
        own = batch.seat == own_seat
        for agent, asked in ((learner, np.flatnonzero(running & own)), (opponent, np.flatnonzero(running & ~own))):
            if len(asked):
                actions[asked] = legal_ids(batch, asked, agent.act(TrustedDecisions(batch, asked)), named(agent))
        batch.step(actions)
        running &= ~(batch.terminated | batch.truncated)
    won = batch.final_rank == 1 if players > 1 else batch.final_return > 0
    return Results(
        (won / np.maximum(1, won.sum(1, keepdims=True)))[rows, own_seat],
        batch.final_return[rows, own_seat].astype(np.float64),
        batch.final_length.astype(np.float64),
        batch.final_score[rows, own_seat].astype(np.float64),
    )


@dataclass(frozen=True)
class Part:
    """Games that are played side by side: how many, and the seed of their batch."""

    games: int
    seed: int


def parts_of(games: int, at_a_time: int, seats: int, seed: int) -> Iterator[Part]:
    """Yield the parts of ``games``, one after the other.

    All numbers are rounded up to use every seat equally often, and no two parts share seeds.

    Raises ValueError if one of them is not positive.
    """
    for name, number in (("games", games), ("at_a_time", at_a_time)):
        if number < 1:
            raise ValueError(f"{name} = {number} is not allowed; allowed: an integer from 1 on")
    total, most = (-(-number // seats) * seats for number in (games, at_a_time))
    for done in range(0, total, most):
        yield Part(min(most, total - done), stream_seed(seed, done))


def play_parts(
    learner: str,
    opponent: str,
    config: Configuration,
    parts: Iterable[Part],
    cluster: Cluster | None = None,
    stop: threading.Event | None = None,
) -> Iterator[Results]:
    """Yield the results of each part, in order, as they come in.

    Args:
        learner, opponent: the specs of the bots.
        cluster: the cluster that plays. None plays in this process.
        stop: once it is set, no further part begins.

    Raises:
        BotError: there is no such bot.
        TournamentError: the cluster fails.
    """
    if cluster is None:
        one, others = bots.load(learner, config), bots.load(opponent, config)
        for part in parts:
            if stop is not None and stop.is_set():
                return
            yield play_against(one, others, config, part.games, part.seed)
        return
    known: dict[int, Results] = {}
    told, duel = 0, _Duel(Shipment.pack((learner, opponent)), config)
    for (number, _), results in cluster.map(_play_part, duel, enumerate(parts), stop):
        known[number] = results
        while told in known:
            yield known.pop(told)
            told += 1


@dataclass(frozen=True)
class _Duel:
    bots: Shipment
    config: Configuration


def _play_part(duel: _Duel, numbered: tuple[int, Part]) -> Results:
    """Play a part in a worker of a cluster."""
    learner, opponent = (bots.load(spec, duel.config) for spec in duel.bots.unpack())
    return play_against(learner, opponent, duel.config, numbered[1].games, numbered[1].seed)
