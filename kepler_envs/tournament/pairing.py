"""One bot against another on all other seats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kepler_envs.bots.protocol import Bot, TrustedDecisions
from kepler_envs.engine.batch import SKIP, Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.seeds import opponent_seeds


@dataclass(frozen=True)
class Results:
    """How the one fared, one number a game: float64 (G,) each. A win shared by w counts 1 / w."""

    wins: np.ndarray
    returns: np.ndarray
    lengths: np.ndarray


def play_against(learner: Bot, opponent: Bot, config: Configuration, games: int, seed: int) -> Results:
    """Play ``games`` games, rounded up to use every seat equally often, all side by side.

    Args:
        learner: sits alone, on seat g mod P in game g. opponent: sits on all other seats.
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
                actions[asked] = agent.act(TrustedDecisions(batch, asked))
        batch.step(actions)
        running &= ~(batch.terminated | batch.truncated)
    won = batch.final_rank == 1
    return Results(
        (won / won.sum(1, keepdims=True))[rows, own_seat],
        batch.final_return[rows, own_seat].astype(np.float64),
        batch.final_length.astype(np.float64),
    )


def whole_rounds(games: int, at_a_time: int, seats: int) -> Iterator[int]:
    """The games of each part of ``games``, played so many at a time: all are rounded up to use every seat equally often."""
    left, most = (-(-number // seats) * seats for number in (games, at_a_time))
    while left > 0:
        yield min(left, most)
        left -= most
