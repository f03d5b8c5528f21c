"""The code of a game that its kernels share: what happens at a decision, what a seat sees, what the end is worth.

Each is compiled once; the kernels of :mod:`one_game` and :mod:`batch` are loops around it. What runs in tight loops of its own (playouts,
searches) holds a copy of the rules, from :func:`kepler_envs.engine.transition.core`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from kepler_envs.engine.game import RUNNING, Game
from kepler_envs.engine.kernel import INT
from kepler_envs.engine.linking import Shared, caller_at, copy_record, item_of, shared, viewer
from kepler_envs.engine.rng import start
from kepler_envs.engine.transition import NOTHING, core

LOOK, DEAL = -2, -3
"""Actions of ``turn`` besides an id: write the legal set of the position as it is, and deal a new game."""

NO_SEED = np.uint64(0)


@cache
def turn(game: Game) -> Shared:
    """(s, c, action, seed, legal) -> count: what happens from one decision to the next.

    ``action`` is a legal id, LOOK (at a node of a game that is not over) or DEAL, for which alone ``seed`` counts. ``c`` is the record of a
    configuration's constants, ``legal`` the address of a legal set, which becomes that of the next decision; 0 once the game is over.
    """
    helpers, setup, apply = core(game), game.verbs.setup, game.verbs.apply
    find_legal, is_offered, only_legal, clear = (
        helpers.find_legal, helpers.is_offered, helpers.only_legal, helpers.clear,
    )  # fmt: skip
    view, words = viewer(np.uint64), game.mask_words

    @shared(game.scope, "turn", (item_of(game.state), item_of(game.constants), INT, item_of(np.uint64), INT))
    def turn(s, c, action, seed, legal):
        legal, t = view(legal, words), c.tables
        looking = action == LOOK
        if action == DEAL:
            copy_record(s, c.blank)
            start(s, seed)
            setup(s, t, c.options)
            action = NOTHING
        elif looking:
            action = NOTHING
        else:
            s.decisions += 1
        while True:
            if action != NOTHING:
                apply(s, t, action)
            if s.end != RUNNING:
                break
            count = find_legal(s, t, legal)
            if looking or is_offered(s, count):
                return count
            action = only_legal(legal)
        clear(legal)
        return 0

    return turn


@cache
def show(game: Game) -> Shared:
    """(s, t, seat, out, size): what ``seat`` observes, written into the int16 array of ``size`` entries at the address ``out``."""
    observe, view = game.verbs.observe, viewer(np.int16)

    @shared(game.scope, "show", (item_of(game.state), item_of(game.tables), INT, INT, INT))
    def show(s, t, seat, out, size):
        observe(s, t, seat, view(out, size))

    return show


@cache
def finish(game: Game) -> Shared:
    """(s, t, ranks, scores, returns): what a game ends with, at the addresses of int32, int32 and float32 arrays; returns only once it is over."""
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
def value(game: Game) -> Shared:
    """(s, t, out): the shaping potential of every seat, at the address of a float32 array."""
    potential, view, seats = game.verbs.potential, viewer(np.float32), game.max_players

    @shared(game.scope, "value", (item_of(game.state), item_of(game.tables), INT))
    def value(s, t, out):
        potential(s, t, view(out, seats))

    return value


@cache
def call_value(game: Game) -> Any:
    """What compiled code calls ``value`` with that is told its address: (address, s, t, out). Nothing is compiled for it."""
    return caller_at(item_of(game.state), item_of(game.tables), INT)
