"""Sets of small integers in 64-bit words: legal sets, free slots, hands.

Written in plain arithmetic, so that the same source runs compiled, uncompiled and on other targets; LLVM recognises
the population count and emits the machine's instruction. All words are ``np.uint64``.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.kernel import leaf

ONE = np.uint64(1)
_U1, _U2, _U4, _U56, _U6 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56), np.uint64(6)
_EACH_SECOND = np.uint64(0x5555555555555555)
_EACH_PAIR = np.uint64(0x3333333333333333)
_EACH_NIBBLE = np.uint64(0x0F0F0F0F0F0F0F0F)
_EACH_BYTE = np.uint64(0x0101010101010101)
_LOW_6 = np.uint64(63)


@leaf
def bit(index):
    """The set that holds only ``index`` (0..63)."""
    return ONE << np.uint64(index)


@leaf
def has(word, index):
    """Return 1 if ``index`` is in the set, else 0."""
    return (np.uint64(word) >> np.uint64(index)) & ONE


@leaf
def bit_count(word):
    """The number of members."""
    word = np.uint64(word)
    word = word - ((word >> _U1) & _EACH_SECOND)
    word = (word & _EACH_PAIR) + ((word >> _U2) & _EACH_PAIR)
    word = (word + (word >> _U4)) & _EACH_NIBBLE
    return np.int64((word * _EACH_BYTE) >> _U56)


@leaf
def lowest(word):
    """The smallest member of a non-empty set."""
    word = np.uint64(word)
    return bit_count(~word & (word - ONE))


@leaf
def without_lowest(word):
    """The set without its smallest member."""
    word = np.uint64(word)
    return word & (word - ONE)


@leaf
def allow(mask, action):
    """Add an id to a legal set of several words."""
    mask[action >> 6] |= ONE << (np.uint64(action) & _LOW_6)


@leaf
def allowed(mask, action):
    """Return 1 if the id is in the legal set, else 0."""
    return (mask[action >> 6] >> (np.uint64(action) & _LOW_6)) & ONE


@leaf
def allow_word(mask, first, word):
    """Add the ids ``first + i`` for all members ``i`` of ``word``.

    The ids may lie in two words of the mask.
    """
    word = np.uint64(word)
    shift = np.uint64(first) & _LOW_6
    mask[first >> 6] |= word << shift
    if shift:
        over = word >> (np.uint64(64) - shift)
        if over:
            mask[(first >> 6) + 1] |= over


@leaf
def allowed_word(mask, first, count):
    """The ids from ``first`` to ``first + count - 1`` that are in the legal set, as a word with the bits 0 to
    ``count - 1``: the inverse of :func:`allow_word`. ``count`` is at most 64."""
    shift = np.uint64(first) & _LOW_6
    word = mask[first >> 6] >> shift
    if int(shift) + count > 64:
        word |= mask[(first >> 6) + 1] << (np.uint64(64) - shift)
    return word & (~np.uint64(0) >> np.uint64(64 - count))
