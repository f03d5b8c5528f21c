"""Kernels for one game at a time: what the AEC environment and snapshots call.

Each is built on first use for a game and kept. Arrays hold one game (length one, or one row).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from kepler_envs.engine import shared
from kepler_envs.engine.game import RUNNING, Game
from kepler_envs.engine.kernel import INT, array_of, kernel
from kepler_envs.engine.linking import NOWHERE, address
from kepler_envs.engine.rng import GENERATOR
from kepler_envs.engine.shared import DEAL, LOOK, NOT_SEEN, SEE
from kepler_envs.engine.transition import core, record_types


@cache
def begin_kernel(game: Game) -> Any:
    """(states, constants, seeds uint64[1], legal uint64[W], action_mask int8[A]) -> number of legal ids."""
    kinds, turn, expand = record_types(game), shared.turn_kernel(game).call, core(game).expand
    signature = (kinds.states, kinds.constants, array_of(np.uint64), array_of(np.uint64), array_of(np.int8))

    @kernel(game.scope, "begin_one", signature)
    def begin_one(states, constants, seeds, legal, action_mask):
        s = states[0]
        s.rng = seeds[0]
        count = turn(s, constants[0], DEAL, address(legal), NOWHERE, NOT_SEEN)
        expand(legal, action_mask)
        return count

    return begin_one


@cache
def apply_kernel(game: Game) -> Any:
    """(states, constants, legal uint64[W], action) -> whether ``action`` is legal; if so, it has been applied.

    Any integer may be given. ``legal`` is only written.
    """
    kinds, turn, is_legal = record_types(game), shared.turn_kernel(game).call, core(game).is_legal

    @kernel(game.scope, "apply_one", (kinds.states, kinds.constants, array_of(np.uint64), INT))
    def apply_one(states, constants, legal, action):
        s, c = states[0], constants[0]
        if turn(s, c, LOOK, address(legal), NOWHERE, NOT_SEEN) == 0 or not is_legal(legal, action):
            return False
        turn(s, c, action, address(legal), NOWHERE, NOT_SEEN)
        return True

    return apply_one


@cache
def step_kernel(game: Game) -> Any:
    """(states, constants, legal uint64[W], action, observation int16[D], action_mask int8[A]) -> (seat, end, count).

    ``action`` must be legal. Observation and mask are those of the seat that moves next, the mask all 0 at the end.
    """
    kinds, turn, expand = record_types(game), shared.turn_kernel(game).call, core(game).expand

    @kernel(
        game.scope,
        "step_one",
        (kinds.states, kinds.constants, array_of(np.uint64), INT, array_of(np.int16), array_of(np.int8)),
    )
    def step_one(states, constants, legal, action, observation, action_mask):
        s, c = states[0], constants[0]
        count = turn(s, c, action, address(legal), address(observation), observation.size)
        expand(legal, action_mask)
        seat, end = int(s.seat), int(s.end)
        if end != RUNNING:
            turn(s, c, SEE - seat, NOWHERE, address(observation), observation.size)
        return seat, end, count

    return step_one


@cache
def legal_kernel(game: Game) -> Any:
    """(states, constants, legal uint64[W], action_mask int8[A]) -> number of legal ids of the present node; 0, and
    empty sets, once the game is over."""
    kinds, turn, expand = record_types(game), shared.turn_kernel(game).call, core(game).expand

    @kernel(game.scope, "legal_one", (kinds.states, kinds.constants, array_of(np.uint64), array_of(np.int8)))
    def legal_one(states, constants, legal, action_mask):
        count = turn(states[0], constants[0], LOOK, address(legal), NOWHERE, NOT_SEEN)
        expand(legal, action_mask)
        return count

    return legal_one


@cache
def observe_kernel(game: Game) -> Any:
    """(states, constants, seat, observation int16[D]): what ``seat`` observes."""
    kinds, turn = record_types(game), shared.turn_kernel(game).call

    @kernel(game.scope, "observe_one", (kinds.states, kinds.constants, INT, array_of(np.int16)))
    def observe_one(states, constants, seat, observation):
        turn(states[0], constants[0], SEE - seat, NOWHERE, address(observation), observation.size)

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
    kinds, finish = record_types(game), shared.finish_kernel(game).call

    @kernel(
        game.scope,
        "result_one",
        (kinds.states, kinds.tables, array_of(np.int32), array_of(np.int32), array_of(np.float32)),
    )
    def result_one(states, tables, ranks, scores, returns):
        finish(states[0], tables[0], address(ranks), address(scores), address(returns))

    return result_one


@cache
def potential_kernel(game: Game) -> Any:
    """(states, tables, potential float32[P]): the shaping potential of every seat."""
    kinds, value = record_types(game), shared.value_kernel(game).call

    @kernel(game.scope, "potential_one", (kinds.states, kinds.tables, array_of(np.float32)))
    def potential_one(states, tables, out):
        value(states[0], tables[0], address(out))

    return potential_one
