"""The code of a game that its kernels share: what happens at a decision, what a seat sees, what the end is worth.

Each is compiled once; the kernels of :mod:`one_game` and :mod:`batch` are loops around it. What runs in tight loops of
its own (playouts, searches) holds a copy of the rules, from :func:`kepler_envs.engine.transition.core`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from kepler_envs.engine.game import RUNNING, Game
from kepler_envs.engine.kernel import INT, leaf
from kepler_envs.engine.linking import Shared, caller_at, copy_record, item_of, shared, viewer
from kepler_envs.engine.rng import start
from kepler_envs.engine.transition import NOTHING, core

LOOK, DEAL, SEE = -2, -3, -4
"""Actions of ``turn`` besides an id: write the legal set of the position as it is; deal a new game from the seed that
is in ``s.rng``; only write what a seat observes (SEE - seat)."""

NOT_SEEN = 0
"""The size of an observation that is not to be written."""


@cache
def turn_kernel(game: Game) -> Shared:
    """(s, c, action, legal, out, size) -> count: what happens from one decision to the next, and what the seat that
    makes it observes.

    ``action`` is a legal id, LOOK, DEAL, or SEE - seat. ``c`` is the record of a configuration's constants. ``legal``
    is the address of a legal set, which becomes that of the next decision, and count its size; 0 once the game is over.
    ``out`` is the address of an observation of ``size`` entries; at the end it is not written, unless it was asked for
    with SEE.
    """
    settle, setup, observe = core(game).settle, game.verbs.setup, game.verbs.observe
    view_bits, view_entries, words = viewer(np.uint64), viewer(np.int16), game.mask_words

    @leaf
    def deal(s, c):
        seed = np.uint64(s.rng)
        copy_record(s, c.blank)
        start(s, seed)
        setup(s, c.tables, c.options)

    @shared(game.scope, "turn", (item_of(game.state), item_of(game.constants), INT, INT, INT, INT))
    def turn(s, c, action, legal, out, size):
        count = 0
        if action <= SEE:
            seat = SEE - action
        else:
            if action == DEAL:
                deal(s, c)
            elif action != LOOK:
                s.decisions += 1
            count = settle(s, c.tables, max(action, NOTHING), view_bits(legal, words), action == LOOK)
            if s.end != RUNNING:
                return count
            seat = int(s.seat)
        if size != NOT_SEEN:
            observe(s, c.tables, seat, view_entries(out, size))
        return count

    return turn


@cache
def finish_kernel(game: Game) -> Shared:
    """(s, t, ranks, scores, returns): what a game ends with, at the addresses of int32, int32 and float32 arrays;
    returns only once it is over."""
    verbs, seats = game.verbs, game.max_players
    find_ranks, find_scores, find_returns = verbs.ranks, verbs.scores, verbs.returns
    view_integers, view_floats = viewer(np.int32), viewer(np.float32)

    @shared(game.scope, "finish", (item_of(game.state), item_of(game.tables), INT, INT, INT))
    def finish(s, t, ranks, scores, returns):
        ranks = view_integers(ranks, seats)
        find_ranks(s, t, ranks)
        find_scores(s, t, view_integers(scores, seats))
        if s.end != RUNNING:
            find_returns(s, t, ranks, view_floats(returns, seats))

    return finish


@cache
def value_kernel(game: Game) -> Shared:
    """(s, t, out): the shaping potential of every seat, at the address of a float32 array."""
    potential, view, seats = game.verbs.potential, viewer(np.float32), game.max_players

    @shared(game.scope, "value", (item_of(game.state), item_of(game.tables), INT))
    def value(s, t, out):
        potential(s, t, view(out, seats))

    return value


@cache
def call_value(game: Game) -> Any:
    """What compiled code calls ``value`` with that is told its address:

    (address, s, t, out). Nothing is compiled for it.
    """
    return caller_at(item_of(game.state), item_of(game.tables), INT)
