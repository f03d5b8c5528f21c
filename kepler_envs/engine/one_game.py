"""Kernels for one game at a time: what the AEC environment and snapshots call.

Each is built on first use for a game and kept. Arrays hold one game (length one, or one row).
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from kepler_envs.engine.game import RUNNING, Game
from kepler_envs.engine.kernel import INT, array_of, kernel
from kepler_envs.engine.rng import GENERATOR
from kepler_envs.engine.transition import build_core

core = cache(build_core)


def record_types(game: Game) -> SimpleNamespace:
    """Signature types of the arrays every kernel of a game takes."""
    return SimpleNamespace(
        states=array_of(game.state),
        blank=array_of(game.state, readonly=True),
        tables=array_of(game.tables, readonly=True),
        options=array_of(game.options, readonly=True),
    )


@cache
def begin_kernel(game: Game) -> Any:
    """(states, blank, tables, options, seeds uint64[1], legal uint64[W]) -> number of legal ids."""
    kinds, begin = record_types(game), core(game).begin

    @kernel(game.scope, "begin_one", (kinds.states, kinds.blank, kinds.tables, kinds.options, array_of(np.uint64), array_of(np.uint64)))  # fmt: skip
    def begin_one(states, blank, tables, options, seeds, legal):
        return begin(states, 0, blank, tables[0], options[0], seeds[0], legal)

    return begin_one


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
        observe(s, t, np.int64(s.seat), observation)
        return int(s.seat), int(s.end), count

    return step_one


@cache
def look_kernel(game: Game) -> Any:
    """(states, tables, seat, legal uint64[W], observation int16[D], action_mask int8[A]) -> number of legal ids.

    Writes the legal set of the current node and what ``seat`` observes; the mask is all 0 unless that seat decides.
    """
    kinds, helpers = record_types(game), core(game)
    find_legal, expand, observe = helpers.find_legal, helpers.expand, helpers.observe

    @kernel(game.scope, "look_one", (kinds.states, kinds.tables, INT, array_of(np.uint64), array_of(np.int16), array_of(np.int8)))  # fmt: skip
    def look_one(states, tables, seat, legal, observation, action_mask):
        s, t = states[0], tables[0]
        count = 0
        for word in range(legal.size):
            legal[word] = 0
        if s.end == RUNNING:
            count = find_legal(s, t, legal)
        if seat == s.seat:
            expand(legal, action_mask)
        else:
            action_mask[:] = 0
        observe(s, t, seat, observation)
        return count

    return look_one


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
