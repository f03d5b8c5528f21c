"""What happens between two decisions, for any game. The compiled helpers are built once per game from its verbs.

The flow is always the same: a seat picks an id; ``decide`` applies it; ``settle`` runs the game's ``apply`` and then
applies forced nodes, too, up to the next decision; then the legal set of that decision is written.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from kepler_envs.engine.bits import allowed, bit_count, lowest, without_lowest
from kepler_envs.engine.game import RUNNING, Game
from kepler_envs.engine.kernel import array_of, helper, leaf
from kepler_envs.engine.rng import below, start
from kepler_envs.engine.rows import row_dtype
from kepler_envs.engine.simd import expand_bits

NOTHING = -1
"""The action that stands for none: settle the position as it is."""

MOST_FORCED = 1 << 20
"""Forced nodes in a row after which a game is taken to hang, by a bug of its rules.

Cards of Race to Kepler that repeat one another can make two hundred thousand.
"""

ZERO, ONE = np.uint64(0), np.uint64(1)


NO_DECISION = "a node without a legal action, or forced nodes without end (a bug of the game)"
"""Why a game that is not over has nothing to decide."""


class RecordTypes(NamedTuple):
    """Signature types of the arrays of records that kernels of a game take."""

    states: Any
    """State records."""
    tables: Any
    """One tables record, read-only."""
    constants: Any
    """One record of what a configuration fixes (:attr:`Configuration.constants`), read-only."""
    rows: Any
    """Records of rows of a batch (:func:`row_dtype`)."""


class Transition(NamedTuple):
    """Compiled helpers of one game. ``s`` is a state record, ``t`` the tables record, ``c`` the record of a
    configuration's constants, ``legal`` a legal set (uint64 words)."""

    find_legal: Any
    """(s, t, legal) -> count: write the legal set of the present node, which is not over; its size."""
    settle: Any
    """(s, t, action, legal, looking=False) -> count: apply a legal id (or NOTHING), then forced nodes up to the next
    decision that is offered, and write its legal set; 0 once the game is over, or hangs. Who is only looking, with
    NOTHING, gets the present node's set."""
    begin: Any
    """(states, index, c, seed, legal) -> count: deal game number ``index`` of ``states`` and settle; 0 if the deal ends
    the game."""
    decide: Any
    """(s, t, action, legal) -> count: one decision with a legal id, and settle; 0 once the game is over."""
    is_legal: Any
    """(legal, action) -> bool: whether any integer is in the legal set."""
    pick: Any
    """(legal, count, generator) -> id: a uniformly random one of the ``count`` ids of a legal set."""
    count_legal: Any
    """(legal) -> the number of ids in a legal set."""
    expand: Any
    """(legal, out int8 (A,)): a legal set as bytes, 0 or 1."""
    observe: Any
    """(s, t, seat, out int16 (D,)): the game's verb."""


@cache
def record_types(game: Game) -> RecordTypes:
    """The types of the records of ``game``."""
    return RecordTypes(
        states=array_of(game.state),
        tables=array_of(game.tables, readonly=True),
        constants=array_of(game.constants, readonly=True),
        rows=array_of(row_dtype(game)),
    )


@cache
def core(game: Game) -> Transition:
    """The helpers of ``game``, built on first use."""
    words = game.mask_words
    num_actions = len(game.actions)
    rest = num_actions - 64 * (words - 1)
    always_offered = sum(1 << node for node in game.always_offered)
    setup, legal_of, apply = game.verbs.setup, game.verbs.legal, game.verbs.apply

    @leaf
    def count_legal(legal):
        total = 0
        for word in range(words):
            total += bit_count(legal[word])
        return total

    @leaf
    def clear(legal):
        for word in range(words):
            legal[word] = ZERO

    @leaf
    def find_legal(s, t, legal):
        clear(legal)
        legal_of(s, t, legal)
        return count_legal(legal)

    @leaf
    def only_legal(legal):
        """The one id of a legal set of size one."""
        action = 0
        for word in range(words):
            if legal[word] != ZERO:
                action = 64 * word + lowest(legal[word])
        return action

    @leaf
    def is_offered(s, count):
        """Whether a seat is asked at the node when it has ``count`` legal ids."""
        return count != 1 or (always_offered >> int(s.node)) & 1

    @leaf
    def settle(s, t, action, legal, looking=False):
        for _ in range(MOST_FORCED):
            if action != NOTHING:
                apply(s, t, action)  # the one call: many a game's ``apply`` is copied to where it is called
            if s.end != RUNNING:
                break
            count = find_legal(s, t, legal)
            if looking or is_offered(s, count):
                return count
            action = only_legal(legal)
        clear(legal)
        return 0

    @helper
    def begin(states, index, c, seed, legal):
        states[index] = c.blank
        s = states[index]
        start(s, seed)
        setup(s, c.tables, c.options)
        return settle(s, c.tables, NOTHING, legal)

    @leaf
    def decide(s, t, action, legal):
        s.decisions += 1
        return settle(s, t, action, legal)

    @leaf
    def is_legal(legal, action):
        return 0 <= action < num_actions and allowed(legal, action) == ONE

    @leaf
    def pick(legal, count, generator):
        skip = below(generator, count)
        word = 0
        while word < words - 1:
            here = bit_count(legal[word])
            if skip < here:
                break
            skip -= here
            word += 1
        left = legal[word]
        for _ in range(skip):
            left = without_lowest(left)
        return 64 * word + lowest(left)

    @leaf
    def expand(legal, out):
        for word in range(words - 1):
            expand_bits(out, 64 * word, legal[word], 64)
        expand_bits(out, 64 * (words - 1), legal[words - 1], rest)

    return Transition(
        find_legal=find_legal, settle=settle, begin=begin, decide=decide, is_legal=is_legal, pick=pick,
        count_legal=count_legal, expand=expand, observe=game.verbs.observe,
    )  # fmt: skip
