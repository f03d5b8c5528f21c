"""Games from which a network learns what a search finds: see :mod:`agents.expert`.

A few decisions of each game are searched for long, and what the search visited is what is to be learned there (D. Silver et al., Science 362, 2018);
all others are made at once (playout cap randomisation, D. Wu, arXiv:1902.10565, 2019), so that many games end, and returns are learned from all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agents.imitation import returns_from
from agents.positions import Positions
from kepler_envs.bots.protocol import Bot, TrustedDecisions
from kepler_envs.bots.search import MctsConfig, Searcher, tree_generators
from kepler_envs.bots.search.kernels.tree import ROOT
from kepler_envs.engine.batch import SKIP, Batch
from kepler_envs.engine.game import Configuration, record_array
from kepler_envs.engine.seeds import mix, opponent_seeds

MOST_ACTIONS = 24
"""Actions of a position that are kept: those with the largest shares."""


@dataclass(frozen=True)
class Play:
    """How games are played.

    Attributes:
        searched: share of decisions that are searched. noise: share of moves that are uniformly random.
        quick: share of decisions without a search that are kept for their returns.
        differing: how much a position counts in which the search does not choose what the bot below would do; others count 1.
    """

    searched: float = 0.25
    noise: float = 0.05
    quick: float = 0.1
    differing: float = 3.0


def search_games(
    config: Configuration,
    games: int,
    seed: int,
    asked: MctsConfig | None,
    searcher: Searcher | None,
    quick: Sequence[Bot],
    below: Bot,
    play: Play,
) -> Positions:
    """Play games to their end; what was searched in them, and some of what was not.

    Decisions with one legal action are left out.

    Args:
        config: the games. games: how many, side by side. seed: of the first one, of all noise, and of all bots.
        asked, searcher: the search; None: what the bot below would do is what is to be learned. quick: who decides without a search; each seat of each game has one of them throughout.
        below: the bot that a network may be over.
    """
    batch, dice = Batch(config, games, seed), np.random.default_rng([seed, 0x5EA2C4])
    table = _Table(batch, quick, below, dice)
    rows, kept = np.arange(games), []
    word = mix(seed ^ 0x5EA2C4)
    while rows.size:
        chosen, below_chose = table.choose(rows)
        several = batch.legal_count[rows] > 1
        draw = dice.random(rows.size)
        searched, noted = several & (draw < play.searched), several & (draw > 1 - play.quick)
        targets = _Targets(rows.size, len(config.actions))
        if asked is None or searcher is None:
            for place in np.flatnonzero(searched):
                targets.set_one(place, int(below_chose[place]))
        elif searched.any():
            its = rows[searched]
            trees = searcher.grow(record_array(batch.states[its]), tree_generators(word, len(its)))
            word = mix(word)
            for place, row, grown in zip(np.flatnonzero(searched), its, trees, strict=True):
                target, best = target_of(
                    grown.nodes, int(batch.seat[row]), int(below_chose[place]), asked, len(config.actions)
                )
                targets.set(place, target, play.differing if best != below_chose[place] else 1.0)
                chosen[place] = best
        noted |= searched
        its = rows[noted]
        masks = np.packbits(batch.action_mask[its].view(np.bool_), axis=1)
        kept.append(
            (batch.observation[its], masks, targets.actions[noted], targets.shares[noted], below_chose[noted].astype(np.int16),
             its, batch.seat[its])
        )  # fmt: skip
        actions = np.full(games, SKIP, np.int64)
        actions[rows] = np.where(dice.random(rows.size) < play.noise, batch.uniform()[rows], chosen)
        batch.step(actions)
        rows = np.flatnonzero(batch.episodes == 0)
    observation, mask, best, shares, told, game, seat = (np.concatenate(part) for part in zip(*kept, strict=True))
    returns = returns_from(batch, game, seat)
    counts = np.array(len(config.actions)), np.array(int(batch.final_length.sum()))
    return Positions(observation, mask, best, shares, told, returns, game, *counts)


class _Table:
    """Who decides without a search, and what the bot below would do."""

    def __init__(self, batch: Batch, quick: Sequence[Bot], below: Bot, dice: np.random.Generator) -> None:
        self._batch, self._quick, self._below = batch, quick, below
        self._seated = dice.integers(0, len(quick), (batch.num_envs, batch.num_players))
        rows = np.arange(batch.num_envs)
        for number, bot in enumerate((below, *quick)):
            bot.start(rows, opponent_seeds(batch.seed + np.uint64(number)))

    def choose(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(what is chosen without a search, what the bot below would do), both int64 (M,)."""
        sitting = self._seated[rows, self._batch.seat[rows]]
        below = self._below.act(TrustedDecisions(self._batch, rows))
        chosen = np.empty(rows.size, np.int64)
        for number, bot in enumerate(self._quick):
            its = sitting == number
            if its.any():
                chosen[its] = bot.act(TrustedDecisions(self._batch, rows[its]))
        return chosen, below


class _Targets:
    """Actions and shares of M positions; none have any at first."""

    def __init__(self, count: int, num_actions: int) -> None:
        width = min(MOST_ACTIONS, num_actions)
        self.actions, self.shares = np.zeros((count, width), np.int16), np.zeros((count, width), np.float32)

    def set_one(self, place: int, action: int) -> None:
        """Of one position: this action alone."""
        self.actions[place, 0], self.shares[place, 0] = action, 1.0

    def set(self, place: int, target: np.ndarray, weight: float) -> None:
        """Of one position: shares (A,) that add up to 1, and what the position counts."""
        order = np.argsort(-target, kind="stable")[: self.actions.shape[1]]
        order = order[target[order] > 0]
        self.actions[place, : len(order)] = order
        self.shares[place, : len(order)] = weight * target[order] / target[order].sum()


def target_of(nodes: np.ndarray, seat: int, below: int, asked: MctsConfig, num_actions: int) -> tuple[np.ndarray, int]:
    """(shares float64 (A,) of the visits at the root, the action of a search).

    Visits that exploration alone had made are taken off (*forced playouts and policy target pruning*, D. Wu 2019): as many as an action
    could be without, and still be worth less than the best one in the selection formula.

    Args:
        nodes: of the tree. seat: searches. below: what the playouts' policy, or the bot below, would do.
    """
    children = np.flatnonzero(nodes["parent"] == ROOT)
    actions, visits = nodes["action"][children], nodes["visits"][children].astype(np.float64)
    values = np.where(visits > 0, nodes["value"][children, seat] / np.maximum(visits, 1), -1.0)
    best = int(np.lexsort((-actions, values, visits))[-1])
    even = (1 - asked.trust) / len(children)
    prior = nodes["prior"][children].astype(np.float64) if asked.network else actions == below
    scale = asked.exploration * np.sqrt(visits.sum() + 1) * (asked.trust * prior + even)
    worth = values[best] + scale[best] / (1 + visits[best])
    needed = np.ceil(scale / np.maximum(worth - values, 1e-9) - 1)
    pruned = np.where(np.arange(len(children)) == best, visits, np.clip(needed, 0, visits))
    pruned[(pruned <= 1) & (np.arange(len(children)) != best)] = 0
    shares = np.zeros(num_actions)
    shares[actions] = pruned / pruned.sum()
    return shares, int(actions[best])
