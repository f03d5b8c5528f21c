"""Compiled loops that only the benchmarks need."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.engine.code_cache import Scope
from kepler_envs.engine.game import RUNNING, TERMINATED, TRUNCATED, Game
from kepler_envs.engine.kernel import INT, array_of, kernel
from kepler_envs.engine.rng import GENERATOR, next_seed
from kepler_envs.engine.transition import core, record_types


@cache
def scope(game: Game) -> Scope:
    return Scope(f"bench_{game.name}", *game.scope.folders[1:], Path(__file__).parent)


@cache
def random_play(game: Game) -> Any:
    """A kernel of the engine alone: ``steps`` times for every game, it picks uniformly, applies, settles, deals anew
    when a game ends, and writes legal set, mask and observation."""
    kinds, helpers = record_types(game), core(game)
    begin, decide, pick, expand, observe = (
        helpers.begin, helpers.decide, helpers.pick, helpers.expand, helpers.observe,
    )  # fmt: skip
    signature = (
        kinds.states, kinds.rows, array_of(np.int16, 2), array_of(np.int8, 2), kinds.constants, array_of(GENERATOR),
        INT,
    )  # fmt: skip

    @kernel(scope(game), "random_play", signature)
    def run(states, rows, observation, mask, constants, policy, steps):
        c = constants[0]
        t = c.tables
        for _ in range(steps):
            for g in range(states.size):
                s, row = states[g], rows[g]
                legal = row.legal_bits[:]
                count = decide(s, t, pick(legal, int(row.legal_count), policy[g]), legal)
                row.terminated = s.end == TERMINATED
                row.truncated = s.end == TRUNCATED
                if s.end != RUNNING:
                    row.seed = next_seed(row.seed)
                    count = begin(states, g, c, row.seed, legal)
                row.legal_count = count
                expand(legal, mask[g])
                observe(s, t, int(s.seat), observation[g])

    return run


@cache
def clone(game: Game) -> Any:
    """A kernel that copies scattered states of ``source`` into a ring."""
    kinds = record_types(game)

    @kernel(scope(game), "clone", (kinds.states, kinds.states, INT))
    def run(source, ring, copies):
        for i in range(copies):
            ring[i % ring.size] = source[i * 7919 % source.size]

    return run
