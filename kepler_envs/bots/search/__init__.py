"""Bots that search.

``mcts:1000`` thinks for 1,000 iterations about each decision, ``mcts:50ms`` for 50 milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kepler_envs.bots.protocol import BotError, TrustedDecisions, check_plays
from kepler_envs.bots.search.config import MctsConfig
from kepler_envs.bots.search.searcher import Grown, Searcher, make_searcher, playout_policy
from kepler_envs.engine.checks import check_type
from kepler_envs.engine.game import Configuration, record_array
from kepler_envs.engine.rng import GENERATOR
from kepler_envs.engine.seeds import check_seed, mix
from kepler_envs.engine.snapshot import Snapshot

__all__ = ["MctsBot", "MctsConfig", "SearchResult", "Searcher", "make_searcher", "playout_policy", "search"]


@dataclass(frozen=True)
class SearchResult:
    """What a search found for the seat to move.

    Attributes:
        action: the decision visited most; if several are, the one with the better value.
        visits: int64 (A,), the iterations by id.
        values: float64 (A,), the mean return of the searching seat by id, nan where it was never tried.
        iterations: the iterations of all trees.
        simulated: the number of decisions simulated in them.
        tree: the nodes of the first tree (dtype tree.NODE).
    """

    action: int
    visits: np.ndarray
    values: np.ndarray
    iterations: int
    simulated: int
    tree: np.ndarray


def search(snapshot: Snapshot, asked: MctsConfig, seed: int = 0) -> SearchResult:
    """Search one position for the seat to move. With a budget in iterations, equal seeds give equal results.

    Raises:
        ValueError: the game is over, or the seed is not allowed.
        BotError: the network does not fit the game.
        TypeError: it is no snapshot, or what is asked for is no MctsConfig.
    """
    check_type("snapshot", snapshot, Snapshot, "env.snapshot() gives one")
    check_type("asked", asked, MctsConfig, 'MctsConfig.parse("100") makes one')
    if snapshot.over:
        raise ValueError("the game is over: there is nothing to search for")
    searcher = make_searcher(snapshot.config, asked)
    states = record_array(np.repeat(np.asarray(snapshot.states), asked.trees))
    trees = searcher.grow(states, tree_generators(mix(check_seed(seed)), asked.trees))
    visits, sums = add_up(trees, snapshot.seat, len(snapshot.config.actions))
    values = np.where(visits > 0, sums / np.maximum(visits, 1), np.nan)
    return SearchResult(
        decide_by_visits(visits, sums),
        visits,
        values,
        int(visits.sum()),
        sum(tree.simulated for tree in trees),
        trees[0].nodes,
    )


def tree_generators(word: int, trees: int) -> np.ndarray:
    """Generator records (trees,) for the trees of a search."""
    generators = record_array(np.zeros(trees, GENERATOR))
    generators["rng"] = [mix((word + tree) % 2**64) for tree in range(trees)]
    return generators


def add_up(trees: list[Grown], seat: int, num_actions: int) -> tuple[np.ndarray, np.ndarray]:
    """(visits int64 (A,), sums of the returns of ``seat`` float64 (A,)) over the trees of one position."""
    visits, sums = zip(*(tree.root_visits(seat, num_actions) for tree in trees), strict=True)
    return np.sum(visits, axis=0), np.sum(sums, axis=0)


def decide_by_visits(visits: np.ndarray, sums: np.ndarray) -> int:
    """The id visited most; if several are, the one with the better mean, then the smallest."""
    return int(np.lexsort((-np.arange(len(visits)), sums / np.maximum(visits, 1), visits))[-1])


class MctsBot:
    """A bot that plays the decision its search visits most. Each row of the batch has a generator of its own."""

    def __init__(self, asked: MctsConfig, config: Configuration) -> None:
        self.name = "mcts"
        self.asked = asked
        self.config = config
        self._searcher = make_searcher(config, asked)
        self._words: dict[int, int] = {}  # for each row, what the generators of its next search come from

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """See :meth:`Bot.start`."""
        for row, seed in zip(rows, seeds, strict=True):
            self._words[int(row)] = mix(int(seed))

    def act(self, decisions: TrustedDecisions) -> np.ndarray:
        """See :meth:`Bot.act`."""
        check_plays(self.name, self.config, decisions)
        rows = [int(row) for row in decisions.rows]
        missing = [row for row in rows if row not in self._words]
        if missing:
            raise BotError(f"bot {self.name} is asked about row {missing[0]}, where it was not started")
        if not rows:
            return np.empty(0, np.int64)
        per_row, num_actions = self.asked.trees, len(self.config.actions)
        generators = record_array(np.concatenate([tree_generators(self._words[row], per_row) for row in rows]))
        for row in rows:
            self._words[row] = mix(self._words[row])
        found = self._searcher.grow(record_array(np.repeat(decisions.batch.states[rows], per_row)), generators)
        actions = np.empty(len(rows), np.int64)
        for number, row in enumerate(rows):
            trees = found[number * per_row : (number + 1) * per_row]
            actions[number] = decide_by_visits(*add_up(trees, int(decisions.batch.seat[row]), num_actions))
        return actions
