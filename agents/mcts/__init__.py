"""Agents that search: ``mcts:1000`` thinks for 1,000 iterations about each decision, ``mcts:50ms`` for 50 milliseconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any, get_type_hints

import numpy as np

from agents.greedy import greedy_games, greedy_policy
from agents.mcts.search import search_kernel
from agents.mcts.tree import NODE, PUCT, ROOT, SETTINGS, UCB
from agents.protocol import AgentError, Decisions
from kepler_envs.engine.game import Configuration, Game, record_array
from kepler_envs.engine.kernel import Scope
from kepler_envs.engine.playout import CompiledPolicy, uniform_policy
from kepler_envs.engine.rng import GENERATOR
from kepler_envs.engine.seeds import check_seed, mix
from kepler_envs.engine.snapshot import Snapshot

FOLDER = Path(__file__).parent
ITERATIONS_BETWEEN_LOOKS = 16
"""At the clock, with a budget in milliseconds."""
MOST_ITERATIONS = 1_000_000
SELECTIONS = {"ucb": UCB, "puct": PUCT}


@dataclass(frozen=True)
class MctsConfig:
    """What a search is asked for. Exactly one of ``iterations`` and ``milliseconds`` is the budget of a decision."""

    iterations: int = 0
    milliseconds: float = 0.0
    playout: str = "greedy"
    """Who plays a game to its end: greedy, or uniform. Games without a greedy policy are played out uniformly."""
    selection: str = "puct"
    """puct: a prior from the playout policy says what to look at first. ucb: everything once, no prior."""
    exploration: float = 4.0
    """Weight of what is little known."""
    trust: float = 0.5
    """With puct: prior probability of what the playout policy would do."""
    caution: float = 0.0
    """With puct: how much worse than its parent an untried decision is taken to be; returns are in [-1, 1]."""
    noise: float = 0.0
    """Share of playout decisions that are uniform."""
    depth: int = 10_000
    """Decisions after which a playout is stopped; it is worth the returns for the places as they stand."""
    trees: int = 1
    """Independent trees that share the budget; their visits are added up."""
    threads: int = 1
    """Threads that search: games of a batch, and trees of a game, side by side. They change the speed, never a move."""

    def __post_init__(self) -> None:
        self._need("budget", (self.iterations > 0) != (self.milliseconds > 0), "iterations or milliseconds, above 0")
        self._need("iterations", self.iterations <= MOST_ITERATIONS, f"1 to {MOST_ITERATIONS}")
        self._need("playout", self.playout in ("greedy", "uniform"), "greedy, uniform")
        self._need("selection", self.selection in SELECTIONS, ", ".join(SELECTIONS))
        self._need("exploration", self.exploration >= 0, "0 and more")
        self._need("trust", 0 <= self.trust <= 1, "0 to 1")
        self._need("caution", abs(self.caution) <= 2, "-2 to 2")
        self._need("noise", 0 <= self.noise <= 1, "0 to 1")
        self._need("depth", self.depth >= 0, "0 and more")
        self._need("trees", 1 <= self.trees <= 64, "1 to 64")
        self._need("threads", 1 <= self.threads <= 64, "1 to 64")

    def _need(self, name: str, fine: bool, allowed: str) -> None:
        if not fine:
            value = getattr(self, name, f"{self.iterations} iterations, {self.milliseconds:g} ms")
            raise AgentError(f"mcts: {name} = {value} is not allowed; allowed: {allowed}")

    @classmethod
    def parse(cls, argument: str) -> MctsConfig:
        """``1000``, ``50ms``, ``1000,playout=uniform,exploration=0.7`` -> the configuration; AgentError."""
        budget, *pairs = argument.split(",")
        kinds = get_type_hints(cls)
        values: dict[str, Any] = {}
        unit = "milliseconds" if budget.endswith("ms") else "iterations"
        for name, text in [(unit, budget.removesuffix("ms")), *(_pair(pair) for pair in pairs)]:
            if name not in kinds:
                raise AgentError(f"mcts: there is no {name!r}; there are {', '.join(kinds)}")
            try:
                values[name] = kinds[name](text)
            except ValueError:
                raise AgentError(f"mcts: {name} = {text!r} is no {kinds[name].__name__}") from None
        return cls(**values)

    def settings(self) -> np.ndarray:
        """What the kernel reads."""
        record = np.zeros(1, SETTINGS)
        for field in fields(self):
            if field.name in SETTINGS.names and field.name != "selection":  # type: ignore[operator]
                record[field.name] = getattr(self, field.name)
        record["selection"] = SELECTIONS[self.selection]
        return record_array(record)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise AgentError(f"mcts: {text!r} must read name=value")
    return name.strip(), value


@cache
def playout_policy(game: Game, name: str) -> CompiledPolicy:
    """The policy of that name, with the sources of the search added to those its code is kept under."""
    greedy = name == "greedy" and game.name in greedy_games()
    policy = greedy_policy(game) if greedy else uniform_policy(game)
    return replace(policy, scope=Scope(f"{game.name}-mcts", *policy.scope.folders[1:], FOLDER))


class Workspace:
    """The arrays of one search at a time."""

    def __init__(self, config: Configuration, capacity: int) -> None:
        game = config.game
        self.work = game.new_states(1)
        self.legal = np.zeros(game.mask_words, np.uint64)
        self.untried = np.zeros(game.mask_words, np.uint64)
        self.places = np.zeros(config.num_players, np.int32)
        self.returns = np.zeros(config.num_players, np.float32)
        self.used = np.zeros(1, np.int64)
        self._reserve(capacity)

    def _reserve(self, capacity: int) -> None:
        self.nodes = record_array(np.zeros(capacity, NODE))
        self.path = np.zeros(capacity, np.int32)

    def make_room(self, nodes: int) -> None:
        """Room for that many nodes, the tree so far kept."""
        if nodes > len(self.nodes):
            kept = self.nodes
            self._reserve(max(nodes, 2 * len(kept)))
            self.nodes[: len(kept)] = kept


@dataclass(frozen=True)
class SearchResult:
    """What a search found for the seat to move.

    Attributes:
        action: the decision visited most; of equals the one with the better value.
        visits: int64 (A,), iterations by id. values: float64 (A,), mean return of the searching seat by id, nan where never tried.
        iterations: of all trees. simulated: decisions that were simulated for that.
        tree: the nodes of the first tree (dtype tree.NODE).
    """

    action: int
    visits: np.ndarray
    values: np.ndarray
    iterations: int
    simulated: int
    tree: np.ndarray


class Searcher:
    """Searches positions of one configuration. Keeps its arrays; one search at a time in each workspace."""

    def __init__(self, config: Configuration, asked: MctsConfig) -> None:
        self.config = config
        self.asked = asked
        self._kernel = search_kernel(playout_policy(config.game, asked.playout))
        self._settings = asked.settings()
        self._iterations = -(-asked.iterations // asked.trees)

    def workspace(self) -> Workspace:
        return Workspace(self.config, (self._iterations or 1024) + 1)

    def grow(self, states: np.ndarray, generators: np.ndarray, space: Workspace) -> int:
        """Search one tree for the position in ``states`` (length one) with the whole budget; the decisions simulated."""
        space.used[0] = 0
        if self._iterations:
            return self._run(states, generators, space, self._iterations)
        simulated, end = 0, time.perf_counter() + self.asked.milliseconds / 1000
        while True:
            space.make_room(int(space.used[0]) + ITERATIONS_BETWEEN_LOOKS + 1)
            simulated += self._run(states, generators, space, ITERATIONS_BETWEEN_LOOKS)
            if time.perf_counter() >= end:
                return simulated

    def _run(self, states: np.ndarray, generators: np.ndarray, space: Workspace, iterations: int) -> int:
        return int(
            self._kernel(
                states, self.config.tables, space.work, space.nodes, space.used, space.path, space.legal, space.untried,
                generators, self._settings, iterations, space.places, space.returns,
            )
        )  # fmt: skip

    def root_visits(self, seat: int, space: Workspace) -> tuple[np.ndarray, np.ndarray]:
        """(visits int64, sums of the returns of ``seat`` float64) by action id."""
        visits, sums = np.zeros(len(self.config.actions), np.int64), np.zeros(len(self.config.actions))
        tree = space.nodes[: int(space.used[0])]
        children = np.flatnonzero(tree["parent"] == ROOT)
        visits[tree["action"][children]] = tree["visits"][children]
        sums[tree["action"][children]] = tree["value"][children, seat]
        return visits, sums


def decide_by_visits(visits: np.ndarray, sums: np.ndarray) -> int:
    """The most visited id; of equals the one with the better mean, then the smaller id."""
    return int(np.lexsort((-np.arange(len(visits)), sums / np.maximum(visits, 1), visits))[-1])


def search(snapshot: Snapshot, asked: MctsConfig, seed: int = 0) -> SearchResult:
    """Search one position for the seat to move. Equal seeds and an iteration budget give equal results.

    Raises:
        ValueError: the game is over, or the seed is not allowed.
    """
    if snapshot.over:
        raise ValueError("the game is over: there is nothing to search for")
    searcher = Searcher(snapshot.config, asked)
    visits, sums = np.zeros(len(snapshot.config.actions), np.int64), np.zeros(len(snapshot.config.actions))
    first: np.ndarray | None = None
    iterations = simulated = 0
    space = searcher.workspace()
    for generators in tree_generators(mix(check_seed(seed)), asked.trees):
        simulated += searcher.grow(snapshot.states, generators, space)
        of_tree = searcher.root_visits(snapshot.seat, space)
        visits += of_tree[0]
        sums += of_tree[1]
        iterations += int(space.nodes["visits"][ROOT])
        if first is None:
            first = np.array(space.nodes[: int(space.used[0])])
    assert first is not None
    values = np.where(visits > 0, sums / np.maximum(visits, 1), np.nan)
    return SearchResult(decide_by_visits(visits, sums), visits, values, iterations, simulated, first)


def tree_generators(word: int, trees: int) -> Iterator[np.ndarray]:
    """A generator record (length one) for each tree of a search."""
    for tree in range(trees):
        generators = record_array(np.zeros(1, GENERATOR))
        generators["rng"] = mix((word + tree) % 2**64)
        yield generators


class MctsAgent:
    """Plays what a search visits most; each row of the batch has a generator of its own."""

    def __init__(self, asked: MctsConfig, config: Configuration) -> None:
        self.name = "mcts"
        self.asked = asked
        self.config = config
        self._searcher = Searcher(config, asked)
        self._words: dict[int, int] = {}  # of each row, what the generators of its next search come from
        self._spaces: SimpleQueue[Workspace] = SimpleQueue()
        for _ in range(asked.threads):
            self._spaces.put(self._searcher.workspace())

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """See :meth:`Agent.start`."""
        for row, seed in zip(rows, seeds, strict=True):
            self._words[int(row)] = mix(int(seed))

    def act(self, decisions: Decisions) -> np.ndarray:
        """See :meth:`Agent.act`."""
        rows = [int(row) for row in decisions.rows]
        missing = [row for row in rows if row not in self._words]
        if missing:
            raise AgentError(f"agent {self.name} is asked for row {missing[0]}, in which it has not been started")
        tasks = []
        for row in rows:
            states, seat = decisions.batch.states[row : row + 1], int(decisions.batch.seat[row])
            for generators in tree_generators(self._words[row], self.asked.trees):
                tasks.append((states, seat, generators))
            self._words[row] = mix(self._words[row])
        found = self._search_all(tasks)
        actions = np.empty(len(rows), np.int64)
        for number in range(len(rows)):
            trees = found[number * self.asked.trees : (number + 1) * self.asked.trees]
            actions[number] = decide_by_visits(sum(tree[0] for tree in trees), sum(tree[1] for tree in trees))
        return actions

    def _search_all(self, tasks: list[tuple[np.ndarray, int, np.ndarray]]) -> list[tuple[np.ndarray, np.ndarray]]:
        if self.asked.threads == 1 or len(tasks) == 1:
            return [self._search_one(*task) for task in tasks]
        with ThreadPoolExecutor(self.asked.threads) as pool:  # the kernel lets go of the interpreter
            return list(pool.map(lambda task: self._search_one(*task), tasks))

    def _search_one(self, states: np.ndarray, seat: int, generators: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        space = self._spaces.get()
        try:
            self._searcher.grow(states, generators, space)
            return self._searcher.root_visits(seat, space)
        finally:
            self._spaces.put(space)
