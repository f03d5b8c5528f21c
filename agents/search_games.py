"""Games from which a network learns what a search finds: see :mod:`agents.expert`.

A few decisions of each game are searched for long. There the network learns what the search visited (D. Silver et al.,
Science 362, 2018). All others are made at once (playout cap randomisation, D. Wu, arXiv:1902.10565, 2019), so that many
games end and returns are learned from all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agents.positions import Kept, Positions
from kepler_envs.bots.protocol import Bot, TrustedDecisions
from kepler_envs.bots.search import Grown, MctsConfig, Searcher, decide_by_visits, tree_generators
from kepler_envs.engine.batch import SKIP, Batch
from kepler_envs.engine.game import Configuration, record_array
from kepler_envs.engine.seeds import mix, opponent_seeds

MOST_ACTIONS = 24
"""Most actions kept per position: those with the largest shares."""


@dataclass(frozen=True)
class Play:
    """How games are played.

    Attributes:
        searched: share of decisions that are searched. noise: share of uniformly random moves.
        quick: share of decisions without a search that are kept for their returns.
        differing: weight of a position where the search disagrees with the bot below; others have weight 1.
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
    bots: Sequence[Bot],
    below: Bot,
    play: Play,
) -> Positions:
    """Play games to their end. Returns what was searched in them, and some of what was not.

    Decisions with one legal action are left out.

    Args:
        config: the games. games: how many, in parallel. seed: of the batch of games, of all noise, and of all bots.
        asked, searcher: the search; None to learn what the bot below would do, at all positions that are kept.
        bots: they decide without a search; each seat of each game has one of them throughout. below: the bot that a
            network may be over.
    """
    batch, dice = Batch(config, games, seed), np.random.default_rng([seed, 0x5EA2C4])
    table = _Table(batch, bots, below, dice)
    search = _Search(batch, asked, searcher, play.differing, mix(seed ^ 0x5EA2C4)) if asked and searcher else None
    kept = Kept(batch)
    rows = np.arange(games)
    while rows.size:
        chosen, told = table.choose(rows)
        several = batch.legal_count[rows] > 1
        draw = dice.random(rows.size)
        searched, noted = several & (draw < play.searched), several & (draw > 1 - play.quick)
        targets = _Targets(rows.size, len(config.actions))
        if search is None:
            targets.set_choices(searched | noted, told)  # asking costs nothing
        elif searched.any():
            chosen[searched] = search.decide(rows, searched, told, targets)
        due = searched | noted
        kept.add(rows[due], targets.actions[due], targets.shares[due], told[due])
        actions = np.full(games, SKIP, np.int64)
        actions[rows] = np.where(dice.random(rows.size) < play.noise, batch.uniform()[rows], chosen)
        batch.step(actions)
        rows = np.flatnonzero(batch.episodes == 0)
    return kept.positions()


class _Table:
    """The bots that decide without a search, and what the bot below would do."""

    def __init__(self, batch: Batch, bots: Sequence[Bot], below: Bot, dice: np.random.Generator) -> None:
        self._batch, self._bots, self._below = batch, bots, below
        self._seated = dice.integers(0, len(bots), (batch.num_envs, batch.num_players))
        rows = np.arange(batch.num_envs)
        for number, bot in enumerate((below, *bots)):
            bot.start(rows, opponent_seeds(batch.seed + np.uint64(number)))

    def choose(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The choices without a search, and those of the bot below, both int64 (M,)."""
        sitting = self._seated[rows, self._batch.seat[rows]]
        below = self._below.act(TrustedDecisions(self._batch, rows))
        chosen = np.empty(rows.size, np.int64)
        for number, bot in enumerate(self._bots):
            its = sitting == number
            if its.any():
                chosen[its] = bot.act(TrustedDecisions(self._batch, rows[its]))
        return chosen, below


class _Targets:
    """Target actions and shares of M positions, empty at first."""

    def __init__(self, count: int, num_actions: int) -> None:
        width = min(MOST_ACTIONS, num_actions)
        self.actions, self.shares = np.zeros((count, width), np.int16), np.zeros((count, width), np.float32)

    def set_choices(self, places: np.ndarray, chosen: np.ndarray) -> None:
        """Set the targets of the positions where ``places`` bool (M,) is true to the chosen one of the ids (M,)
        alone."""
        self.actions[places, 0], self.shares[places, 0] = chosen[places], 1.0

    def set(self, place: int, target: np.ndarray, weight: float) -> None:
        """Set the target of one position: shares (A,) that add up to 1, and its weight."""
        order = np.argsort(-target, kind="stable")[: self.actions.shape[1]]
        order = order[target[order] > 0]
        self.actions[place, : len(order)] = order
        self.shares[place, : len(order)] = weight * target[order] / target[order].sum()


class _Search:
    """Searches of the positions of a batch, each with deals of its own."""

    def __init__(self, batch: Batch, asked: MctsConfig, searcher: Searcher, differing: float, word: int) -> None:
        self._batch, self._asked, self._searcher, self._differing, self._word = batch, asked, searcher, differing, word

    def decide(self, rows: np.ndarray, searched: np.ndarray, told: np.ndarray, targets: _Targets) -> np.ndarray:
        """Choose by search in these of the rows (M,), and write to ``targets`` what is to be learned there.

        Args:
            searched: bool (M,), which ones. told: int64 (M,), what the bot below would do.
        """
        its, batch = rows[searched], self._batch
        trees = self._searcher.grow(record_array(batch.states[its]), tree_generators(self._word, len(its)))
        self._word = mix(self._word)
        chosen = []
        for place, row, grown in zip(np.flatnonzero(searched), its, trees, strict=True):
            count = int(batch.legal_count[row])
            shares, best = target_of(grown, int(batch.seat[row]), self._asked, len(batch.config.actions), count)
            targets.set(int(place), shares, self._differing if best != told[place] else 1.0)
            chosen.append(best)
        return np.array(chosen)


def target_of(grown: Grown, seat: int, asked: MctsConfig, num_actions: int, num_legal: int) -> tuple[np.ndarray, int]:
    """Shares float64 (A,) of the visits at the root, and the action of a search.

    Visits that exploration alone caused are removed (*forced playouts and policy target pruning*, D. Wu 2019): as many
    as an action could lose and still be worth less than the best one in the selection formula.

    Args:
        grown: the tree. seat: the searching seat.
        num_legal: how many actions are legal, whether or not they were tried.
    """
    visits, sums = grown.root_visits(seat, num_actions)
    best = decide_by_visits(visits, sums)
    values = np.where(visits > 0, sums / np.maximum(visits, 1), -1.0)
    even = (1 - asked.trust) / num_legal
    trusted = _trusted(grown, asked, num_actions)
    scale = asked.exploration * np.sqrt(visits.sum() + 1) * (asked.trust * trusted + even)
    worth = values[best] + scale[best] / (1 + visits[best])
    needed = np.ceil(scale / np.maximum(worth - values, 1e-9) - 1)
    others = np.arange(num_actions) != best
    pruned = np.where(others, np.clip(needed, 0, visits), visits)
    pruned[(pruned <= 1) & others] = 0
    return pruned / pruned.sum(), best


def _trusted(grown: Grown, asked: MctsConfig, num_actions: int) -> np.ndarray:
    """What the search trusted in at the root, (A,): the network's priors, or the share of visits at which the policy of
    the playouts chose each action. It is asked anew at each of them, and may draw."""
    found = grown.root_priors(num_actions)
    return found if asked.network else found / grown.iterations
