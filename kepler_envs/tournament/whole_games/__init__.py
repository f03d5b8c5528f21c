"""Whole games inside one compiled call, where compiled policies sit on all seats.

The folder has nothing else in it. What is compiled here is kept under its sources, and a change of a table in the
report should not compile anything again.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.engine.code_cache import Scope, digest_when_loaded
from kepler_envs.engine.game import RUNNING, Configuration, Game, record_array
from kepler_envs.engine.kernel import array_of, borrowed, helper, kernel
from kepler_envs.engine.playout import CompiledPolicy
from kepler_envs.engine.rng import GENERATOR, start
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.engine.transition import NO_DECISION, core, record_types

FOLDER = Path(__file__).parent
digest_when_loaded(FOLDER)

ENDING = np.dtype([("length", "<i4"), ("end", "<i4")], align=True)
"""How a game ended: decisions, and TERMINATED or TRUNCATED."""


class WholeGames:
    """Plays games of one configuration between compiled policies, exactly as :class:`Batch` and the agents would.

    Args:
        config: the game with its players, options and components.
        policies: the policies that may sit on the seats.
    """

    def __init__(self, config: Configuration, policies: tuple[CompiledPolicy, ...]) -> None:
        self.config = config
        self._play = whole_games_kernel(policies)

    def play(
        self, seeds: np.ndarray, policies: np.ndarray, owners: np.ndarray, agent_seeds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Play N games to their ends.

        Args:
            seeds: uint64 (N,), the seeds of the deals.
            policies: int64 (N, n), which policy decides for each seat.
            owners: int64 (N, n), the first seat of the agent that sits on each seat. An agent has one generator per
                game.
            agent_seeds: uint64 (N, n), the seeds of the generators. Those of owners count.

        Returns:
            ranks int32 (N, n), scores int32 (N, n), returns float32 (N, n), ENDING (N,).
        """
        config, shape = self.config, policies.shape
        ranks, scores = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        returns, endings = np.zeros(shape, np.float32), record_array(np.zeros(len(seeds), ENDING))
        stuck = self._play(
            config.game.new_states(1), config.constants, np.zeros(config.game.mask_words, np.uint64),
            record_array(np.zeros(config.num_players, GENERATOR)), seeds, policies, owners, agent_seeds,
            ranks, scores, returns, endings,
        )  # fmt: skip
        if stuck >= 0:
            raise AssertionError(f"{config.game.id}: the game of seed {seeds[stuck]}: {NO_DECISION}")
        return ranks, scores, returns, endings


@cache
def whole_games_kernel(policies: tuple[CompiledPolicy, ...]) -> Any:
    """See :meth:`WholeGames.play`; returns a game that got stuck, or -1."""
    game = policies[0].game
    kinds, helpers, verbs = record_types(game), core(game), game.verbs
    begin, decide = helpers.begin, helpers.decide
    find_ranks, find_scores, find_returns = verbs.ranks, verbs.scores, verbs.returns
    choose = _choice_among(policies)
    seats = array_of(np.int64, 2)
    signature = (
        kinds.states, kinds.constants, array_of(np.uint64), array_of(GENERATOR), array_of(np.uint64),
        seats, seats, array_of(np.uint64, 2), array_of(np.int32, 2), array_of(np.int32, 2), array_of(np.float32, 2),
        array_of(ENDING),
    )  # fmt: skip

    @kernel(_scope(policies), "whole_games_" + "_".join(policy.name for policy in policies), signature)
    def whole_games(
        states, constants, legal, generators, seeds, chosen, owners, agent_seeds, ranks, scores, returns, endings,
    ):  # fmt: skip
        c, legal = constants[0], borrowed(legal)
        t = c.tables
        for g in range(seeds.size):
            for seat in range(generators.size):
                start(generators[seat], agent_seeds[g, seat])
            count = begin(states, 0, c, seeds[g], legal)
            s = states[0]
            while s.end == RUNNING:
                if count == 0:
                    return g
                seat = int(s.seat)
                action = choose(chosen[g, seat], s, t, legal, count, generators[owners[g, seat]])
                count = decide(s, t, action, legal)
            find_ranks(s, t, ranks[g])
            find_scores(s, t, scores[g])
            find_returns(s, t, ranks[g], returns[g])
            endings[g].length = s.decisions
            endings[g].end = s.end
        return -1

    return whole_games


def _choice_among(policies: tuple[CompiledPolicy, ...]) -> Any:
    """A compiled function (number of the policy, then a policy's arguments) -> id."""
    first = policies[0].function
    if len(policies) == 1:

        @helper
        def only(policy, s, t, mask, count, generator):
            return first(s, t, mask, count, generator)

        return only
    others = _choice_among(policies[1:])

    @helper
    def choose(policy, s, t, mask, count, generator):
        if policy == 0:
            return first(s, t, mask, count, generator)
        return others(policy - 1, s, t, mask, count, generator)

    return choose


def _scope(policies: tuple[CompiledPolicy, ...]) -> Scope:
    """The sources of all the policies and of this folder."""
    folders = dict.fromkeys(folder for policy in policies for folder in policy.scope.folders[1:])
    return Scope(f"{policies[0].game.name}-tournament", *folders, FOLDER)


@cache
def returns_kernel(game: Game) -> Any:
    """(states, tables, ranks int32[n], returns float32[n]): what a finished game pays for ranks that were set by
    hand."""
    kinds, find_returns = record_types(game), game.verbs.returns
    scope = Scope(f"{game.name}-tournament", *game.scope.folders[1:], FOLDER)

    @kernel(scope, "returns", (kinds.states, kinds.tables, array_of(np.int32), array_of(np.float32)))
    def pay(states, tables, ranks, returns):
        find_returns(states[0], tables[0], ranks, returns)

    return pay


def returns_for(position: Snapshot, ranks: tuple[int, ...]) -> tuple[float, ...]:
    """The returns of a finished game if its ranks were these."""
    returns = np.zeros(len(ranks), np.float32)
    returns_kernel(position.game)(position.states, position.config.tables, np.array(ranks, np.int32), returns)
    return tuple(returns.tolist())
