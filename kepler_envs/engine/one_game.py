"""Kernels for one game at a time: what the AEC environment and snapshots call.

Each is built on first use for a game and kept. Arrays hold one game (length one, or one row).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from kepler_envs.engine.game import RUNNING, Game
from kepler_envs.engine.kernel import INT, array_of, borrowed, kernel
from kepler_envs.engine.rng import GENERATOR
from kepler_envs.engine.transition import core, record_types


@cache
def begin_kernel(game: Game) -> Any:
    """(states, constants, seeds uint64[1], legal uint64[W], action_mask int8[A]) -> number of legal ids."""
    kinds, begin, expand = record_types(game), core(game).begin, core(game).expand
    signature = (kinds.states, kinds.constants, array_of(np.uint64), array_of(np.uint64), array_of(np.int8))

    @kernel(game.scope, "begin_one", signature)
    def begin_one(states, constants, seeds, legal, action_mask):
        count = begin(states, 0, constants[0], seeds[0], legal)
        expand(legal, action_mask)
        return count

    return begin_one


@cache
def apply_kernel(game: Game) -> Any:
    """(states, tables, legal uint64[W], action) -> whether ``action`` is legal; if so, it has been applied.

    Any integer may be given. ``legal`` is only written.
    """
    kinds, helpers = record_types(game), core(game)
    decide, find_legal, is_legal = helpers.decide, helpers.find_legal, helpers.is_legal

    @kernel(game.scope, "apply_one", (kinds.states, kinds.tables, array_of(np.uint64), INT))
    def apply_one(states, tables, legal, action):
        s, t = states[0], tables[0]
        if s.end != RUNNING:
            return False
        find_legal(s, t, legal)
        if not is_legal(legal, action):
            return False
        decide(s, t, action, legal)
        return True

    return apply_one


@cache
def step_kernel(game: Game) -> Any:
    """(states, tables, legal uint64[W], action, observation int16[D], action_mask int8[A]) -> (seat, end, count).

    ``action`` must be legal. Observation and mask are those of the seat that moves next, the mask all 0 at the end.
    """
    kinds, helpers = record_types(game), core(game)
    decide, expand, observe = helpers.decide, helpers.expand, helpers.observe

    @kernel(game.scope, "step_one", (kinds.states, kinds.tables, array_of(np.uint64), INT, array_of(np.int16), array_of(np.int8)))  # fmt: skip
    def step_one(states, tables, legal, action, observation, action_mask):
        s, t = states[0], tables[0]
        count = decide(s, t, action, legal)
        expand(legal, action_mask)
        observe(s, t, np.int64(s.seat), borrowed(observation))
        return int(s.seat), int(s.end), count

    return step_one


@cache
def legal_kernel(game: Game) -> Any:
    """(states, tables, legal uint64[W], action_mask int8[A]) -> number of legal ids of the present node; 0, and empty sets, once the game is over."""
    kinds, find_legal, expand = record_types(game), core(game).find_legal, core(game).expand

    @kernel(game.scope, "legal_one", (kinds.states, kinds.tables, array_of(np.uint64), array_of(np.int8)))
    def legal_one(states, tables, legal, action_mask):
        s = states[0]
        if s.end != RUNNING:
            legal[:] = 0
            action_mask[:] = 0
            return 0
        count = find_legal(s, tables[0], legal)
        expand(legal, action_mask)
        return count

    return legal_one


@cache
def observe_kernel(game: Game) -> Any:
    """(states, tables, seat, observation int16[D]): what ``seat`` observes."""
    kinds, observe = record_types(game), game.verbs.observe

    @kernel(game.scope, "observe_one", (kinds.states, kinds.tables, INT, array_of(np.int16)))
    def observe_one(states, tables, seat, observation):
        observe(states[0], tables[0], seat, borrowed(observation))

    return observe_one


@cache
def resample_kernel(game: Game) -> Any:
    """(states, tables, seat, generators GENERATOR[1]): redraw what ``seat`` cannot know."""
    kinds, resample = record_types(game), game.verbs.resample

    @kernel(game.scope, "resample_one", (kinds.states, kinds.tables, INT, array_of(GENERATOR)))
    def resample_one(states, tables, seat, generators):
        resample(states[0], tables[0], seat, generators[0])

    return resample_one


@cache
def result_kernel(game: Game) -> Any:
    """(states, tables, ranks int32[P], scores int32[P], returns float32[P]); returns only once the game is over."""
    kinds, verbs = record_types(game), game.verbs
    find_ranks, find_scores, find_returns = verbs.ranks, verbs.scores, verbs.returns

    @kernel(game.scope, "result_one", (kinds.states, kinds.tables, array_of(np.int32), array_of(np.int32), array_of(np.float32)))  # fmt: skip
    def result_one(states, tables, ranks, scores, returns):
        s, t = states[0], tables[0]
        find_ranks(s, t, ranks)
        find_scores(s, t, scores)
        if s.end != RUNNING:
            find_returns(s, t, ranks, returns)

    return result_one


@cache
def potential_kernel(game: Game) -> Any:
    """(states, tables, potential float32[P]): the shaping potential of every seat."""
    kinds, potential = record_types(game), game.verbs.potential

    @kernel(game.scope, "potential_one", (kinds.states, kinds.tables, array_of(np.float32)))
    def potential_one(states, tables, out):
        potential(states[0], tables[0], out)

    return potential_one
