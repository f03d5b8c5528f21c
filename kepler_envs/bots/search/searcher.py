"""Searching positions: the arrays and budgets around the kernels, for playouts and for networks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Protocol

import numpy as np

from kepler_envs.bots.greedy import greedy_games, greedy_policy
from kepler_envs.bots.networks import load_network
from kepler_envs.bots.protocol import BotError
from kepler_envs.bots.published import network_file
from kepler_envs.bots.search.config import MctsConfig
from kepler_envs.bots.search.kernels.search import search_kernel
from kepler_envs.bots.search.kernels.tree import MOST_SEATS, NODE, ROOT
from kepler_envs.engine.code_cache import Scope, digest_when_loaded
from kepler_envs.engine.game import Configuration, Game, record_array
from kepler_envs.engine.playout import CompiledPolicy, uniform_policy
from kepler_envs.engine.rng import GENERATOR
from kepler_envs.engine.seeds import mix

FOLDER = Path(__file__).parent / "kernels"
digest_when_loaded(FOLDER)
ITERATIONS_BETWEEN_LOOKS = 16
"""Iterations of all trees between two looks at the clock, if the budget is in milliseconds."""
ITERATIONS_OF_A_CALL = 64
"""Iterations of a tree in one call of compiled code, if the budget is in iterations. Ctrl-C waits for its end."""
FIRST_CAPACITY = 1024
"""The nodes that a tree first has room for, if the budget is a time."""
MOST_SIDE_BY_SIDE = 64
"""The most trees that ask a network together. More would only cost memory."""


@cache
def playout_policy(game: Game, name: str) -> CompiledPolicy:
    """The policy of that name, or uniform play in games without greedy.

    The search's sources are added to those that its compiled code is cached for.
    """
    greedy = name == "greedy" and game.name in greedy_games()
    policy = greedy_policy(game) if greedy else uniform_policy(game)
    return replace(policy, scope=Scope(f"{game.name}-mcts", *policy.scope.folders[1:], FOLDER))


@dataclass(frozen=True)
class Grown:
    """A tree that a search has grown, and the number of decisions simulated for it."""

    nodes: np.ndarray
    simulated: int

    @property
    def iterations(self) -> int:
        return int(self.nodes["visits"][ROOT])

    def root_visits(self, seat: int, num_actions: int) -> tuple[np.ndarray, np.ndarray]:
        """(visits int64, sums of the returns of ``seat`` float64) by action id."""
        visits, sums = np.zeros(num_actions, np.int64), np.zeros(num_actions)
        children = np.flatnonzero(self.nodes["parent"] == ROOT)
        actions = self.nodes["action"][children]
        visits[actions] = self.nodes["visits"][children]
        sums[actions] = self.nodes["value"][children, seat]
        return visits, sums

    def root_priors(self, num_actions: int) -> np.ndarray:
        """The network's priors, float64, by action id; without a network, how often the playout policy chose each."""
        priors = np.zeros(num_actions)
        children = np.flatnonzero(self.nodes["parent"] == ROOT)
        priors[self.nodes["action"][children]] = self.nodes["prior"][children]
        return priors


class Searcher(Protocol):
    """Grows trees for positions of one configuration.

    With a budget in iterations, equal generators give equal trees.
    """

    def grow(self, states: np.ndarray, generators: np.ndarray) -> list[Grown]:
        """A tree for each position.

        Args:
            states: records (G,), games that are running.
            generators: GENERATOR records (G,), of which each tree uses its own.
        """


def make_searcher(config: Configuration, asked: MctsConfig) -> Searcher:
    """The searcher for a configuration. Raises BotError if its network does not fit, or for too many players."""
    if config.num_players > MOST_SEATS:
        raise BotError(f"mcts: {config.label} are not allowed; allowed: up to {MOST_SEATS} players")
    if asked.network:
        return NetworkSearcher(config, asked)
    return PlayoutSearcher(config, asked)


def _iterations_of_a_tree(asked: MctsConfig) -> int:
    return -(-asked.iterations // asked.trees)


def _seconds_of_a_tree(asked: MctsConfig) -> float:
    """With several threads, trees of a position are searched at the same time, so that each may take longer."""
    one_after_the_other = -(-asked.trees // asked.threads)
    return asked.milliseconds / 1000 / one_after_the_other


def _side_by_side(
    search: Callable[[Any, threading.Event], list[Grown]], parts: Sequence[Any], threads: int
) -> list[Grown]:
    """The trees of all parts in their order, searched on that many threads. The kernels release the GIL.

    Args:
        search: called with a part and an event. When that is set nobody waits for the trees any more.
    """
    stop = threading.Event()
    if threads == 1 or len(parts) == 1:
        return [grown for part in parts for grown in search(part, stop)]
    with ThreadPoolExecutor(threads) as pool:
        try:
            return [grown for of_part in pool.map(lambda part: search(part, stop), parts) for grown in of_part]
        finally:
            stop.set()  # after Ctrl-C, too: the pool waits for its threads


# ---------------------------------------------------------------- playouts


class Workspace:
    """The arrays that one search at a time works in."""

    def __init__(self, config: Configuration, capacity: int) -> None:
        game = config.game
        self.work = game.new_states(1)
        self.legal = np.zeros(game.mask_words, np.uint64)
        self.untried = np.zeros(game.mask_words, np.uint64)
        self.ranks = np.zeros(config.num_players, np.int32)
        self.returns = np.zeros(config.num_players, np.float32)
        self.used = np.zeros(1, np.int64)
        self._reserve(capacity)

    def _reserve(self, capacity: int) -> None:
        self.nodes = record_array(np.zeros(capacity, NODE))
        self.path = np.zeros(capacity, np.int32)

    def make_room(self, nodes: int) -> None:
        """Make room for that many nodes, and keep the tree so far."""
        if nodes > len(self.nodes):
            kept = self.nodes
            self._reserve(max(nodes, 2 * len(kept)))
            self.nodes[: len(kept)] = kept


def streams(generator: np.ndarray) -> np.ndarray:
    """The three generators of a search: see ``search_kernel``.

    One is for choices and one for the deal at hand. From the third, the second is set anew for each deal.
    """
    three = record_array(np.zeros(3, GENERATOR))
    three["rng"] = [generator["rng"], 0, mix(int(generator["rng"]))]
    return three


class PlayoutSearcher:
    """A searcher that plays games to their ends. It searches one tree after the other, or one on each thread."""

    def __init__(self, config: Configuration, asked: MctsConfig) -> None:
        self.config = config
        self.asked = asked
        self._kernel = search_kernel(playout_policy(config.game, asked.playout))
        self._settings = asked.settings()
        self._iterations = _iterations_of_a_tree(asked)
        self._spaces: SimpleQueue[Workspace] = SimpleQueue()
        for _ in range(asked.threads):
            self._spaces.put(Workspace(config, (self._iterations or FIRST_CAPACITY) + 1))

    def __reduce__(self) -> tuple[Any, ...]:
        return make_searcher, (self.config, self.asked)  # it keeps nothing from one search to the next

    def grow(self, states: np.ndarray, generators: np.ndarray) -> list[Grown]:
        """See :meth:`Searcher.grow`."""
        tasks = [(states[g : g + 1], streams(generators[g])) for g in range(len(states))]
        return _side_by_side(lambda task, stop: [self._grow_one(stop, *task)], tasks, self.asked.threads)

    def _grow_one(self, stop: threading.Event, states: np.ndarray, generators: np.ndarray) -> Grown:
        space = self._spaces.get()
        try:
            space.used[0] = 0
            spend = self._spend_iterations if self._iterations else self._spend_time
            simulated = spend(states, generators, space, stop)
            return Grown(np.array(space.nodes[: int(space.used[0])]), simulated)
        finally:
            self._spaces.put(space)

    def _spend_iterations(
        self, states: np.ndarray, generators: np.ndarray, space: Workspace, stop: threading.Event
    ) -> int:
        simulated = 0
        for done in range(0, self._iterations, ITERATIONS_OF_A_CALL):
            if stop.is_set():
                break
            at_a_time = min(ITERATIONS_OF_A_CALL, self._iterations - done)
            simulated += self._run(states, generators, space, at_a_time)
        return simulated

    def _spend_time(self, states: np.ndarray, generators: np.ndarray, space: Workspace, stop: threading.Event) -> int:
        simulated, end = 0, time.perf_counter() + _seconds_of_a_tree(self.asked)
        at_a_time = -(-ITERATIONS_BETWEEN_LOOKS // self.asked.trees)
        while True:
            space.make_room(int(space.used[0]) + at_a_time + 1)
            simulated += self._run(states, generators, space, at_a_time)
            if time.perf_counter() >= end or stop.is_set():
                return simulated

    def _run(self, states: np.ndarray, generators: np.ndarray, space: Workspace, iterations: int) -> int:
        return int(
            self._kernel(
                states, self.config.tables, space.work, space.nodes, space.used, space.path, space.legal, space.untried,
                generators, self._settings, iterations, space.ranks, space.returns,
            )
        )  # fmt: skip


# ---------------------------------------------------------------- a network


class Forest:
    """The arrays of a group of trees that grow in lock-step."""

    def __init__(self, config: Configuration, trees: int, capacity: int, over_a_bot: bool) -> None:
        game = config.game
        self.work = game.new_states(trees)
        self.used = np.zeros((trees, 1), np.int64)
        self.depths = np.zeros(trees, np.int64)
        self.legal = np.zeros((trees, game.mask_words), np.uint64)
        self.untried = np.zeros(game.mask_words, np.uint64)
        self.observations = np.zeros((trees, config.observation.size + over_a_bot), np.int16)
        self.masks = np.zeros((trees, len(config.actions)), np.int8)
        self.seats = np.zeros(trees, np.int64)
        self.ranks = np.zeros(config.num_players, np.int32)
        self.outcomes = np.zeros((trees, config.num_players), np.float32)
        self.returns = np.zeros(config.num_players, np.float32)
        self.nodes = np.zeros((trees, capacity), NODE)
        self.paths = np.zeros((trees, capacity), np.int32)

    def make_room(self, more: int) -> None:
        """Make room for that many more nodes in every tree, and for paths of that length."""
        needed, kept = int(self.used.max()) + more, self.nodes
        if needed > kept.shape[1]:
            self.nodes = np.zeros((len(kept), 2 * needed), NODE)
            self.nodes[:, : kept.shape[1]] = kept
            self.paths = np.zeros(self.nodes.shape, np.int32)


class NetworkSearcher:
    """A searcher that asks a network about the decision at which an iteration ends, for many trees in one call."""

    def __init__(self, config: Configuration, asked: MctsConfig) -> None:
        from kepler_envs.bots.search.kernels.guided import absorb_kernel, descend_kernel

        self.config = config
        self.asked = asked
        file = network_file(asked.network, config)
        if file is None:
            raise BotError(
                f"mcts: network = {asked.network!r} is not a trained bot; write net:PATH or a published name"
            )
        self._network = load_network(file, config)
        if self._network.over and self._network.over != asked.playout:
            raise BotError(f"mcts: playout = {asked.playout} is not allowed; the network is over {self._network.over}")
        policy = playout_policy(config.game, asked.playout)  # what is wrong is said before anything is compiled
        self._descend, self._absorb = descend_kernel(policy), absorb_kernel(policy)
        self._settings = asked.settings()

    def __reduce__(self) -> tuple[Any, ...]:
        return make_searcher, (self.config, self.asked)  # it keeps nothing from one search to the next

    def grow(self, states: np.ndarray, generators: np.ndarray) -> list[Grown]:
        """See :meth:`Searcher.grow`."""
        most = min(MOST_SIDE_BY_SIDE, -(-len(states) // self.asked.threads))
        parts = [
            (states[first : first + most], generators[first : first + most]) for first in range(0, len(states), most)
        ]
        return _side_by_side(lambda part, stop: self._grow_part(stop, *part), parts, self.asked.threads)

    def _grow_part(self, stop: threading.Event, states: np.ndarray, generators: np.ndarray) -> list[Grown]:
        trees = len(states)
        room = len(self.config.actions) + _iterations_of_a_tree(self.asked) + FIRST_CAPACITY
        forest = Forest(self.config, trees, 2 * room, bool(self._network.over))
        origins, generators = record_array(np.array(states)), record_array(np.array(generators))
        simulated = done = 0
        least = max(1, _iterations_of_a_tree(self.asked))
        end = time.perf_counter() + _seconds_of_a_tree(self.asked) * trees
        # the first iteration only opens the root, and without another one no decision was visited
        while (done <= least or time.perf_counter() < end) and not stop.is_set():
            forest.make_room(len(self.config.actions) + done + 2)
            simulated += self._iterate(origins, generators, forest)
            done += 1
        return [
            Grown(record_array(forest.nodes[tree, : int(forest.used[tree, 0])]), simulated // trees)
            for tree in range(trees)
        ]

    def _iterate(self, origins: np.ndarray, generators: np.ndarray, forest: Forest) -> int:
        simulated = self._descend(
            origins, self.config.tables, forest.work, forest.nodes, forest.used, forest.paths, forest.depths,
            forest.legal,
            forest.untried, generators, self._settings, forest.observations, forest.masks, forest.seats, forest.ranks,
            forest.outcomes, self.config.observation.size,
        )  # fmt: skip
        priors, values = self._network(forest.observations, forest.masks)
        self._absorb(
            forest.nodes, forest.used, forest.paths, forest.depths, forest.legal, forest.seats, priors, values,
            forest.outcomes, self._settings, forest.returns,
        )  # fmt: skip
        return int(simulated)
