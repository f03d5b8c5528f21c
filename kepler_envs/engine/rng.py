"""The random generator that lives inside a state.

PCG32 (XSH-RR 64/32, M. E. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for
Random Number Generation", 2014) over the one field ``rng`` (uint64) of a record, so that a copy of a state continues
identically. Bounded draws use multiply-shift: their bias is below n / 2**32.

Every constant is a ``np.uint64``/``np.uint32``: numba widens a mix of unsigned and signed integers to signed.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.kernel import leaf

GENERATOR = np.dtype([("rng", "<u8")], align=True)
"""A generator on its own, for choices that must not touch the chance of a game (policies, resampling)."""

_MULTIPLIER = np.uint64(6364136223846793005)
_INCREMENT = np.uint64(1442695040888963407)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_U18, _U27, _U30, _U31 = np.uint64(18), np.uint64(27), np.uint64(30), np.uint64(31)
_U32, _U59 = np.uint64(32), np.uint64(59)
_ONE_32, _MASK_31 = np.uint32(1), np.uint32(31)


@leaf
def below(generator, bound):
    """A uniform integer in ``0 .. bound - 1`` from ``generator.rng``. ``bound`` is at least 1."""
    old = np.uint64(generator.rng)
    generator.rng = old * _MULTIPLIER + _INCREMENT
    shifted = np.uint32((((old >> _U18) ^ old) >> _U27) & np.uint64(0xFFFFFFFF))
    rotation = np.uint32(old >> _U59)
    # uint32 << uint32 is a uint64 in numba: the cast keeps the draw 32 bits wide
    word = np.uint64(shifted >> rotation) | np.uint64(
        np.uint32((np.uint64(shifted) << np.uint64((~rotation + _ONE_32) & _MASK_31)) & np.uint64(0xFFFFFFFF))
    )
    return np.int64((word * np.uint64(bound)) >> _U32)


@leaf
def mix(seed):
    """SplitMix64's output function: a bijection of uint64 that separates neighbouring seeds."""
    word = np.uint64(seed) + _GOLDEN
    word = (word ^ (word >> _U30)) * _MIX_1
    word = (word ^ (word >> _U27)) * _MIX_2
    return word ^ (word >> _U31)


@leaf
def start(generator, seed):
    """Start ``generator`` from a user's seed."""
    generator.rng = mix(seed)


@leaf
def next_seed(seed):
    """The seed of the game that follows a game with ``seed`` (SplitMix64's sequence)."""
    return np.uint64(seed) + _GOLDEN


@leaf
def stream_seed(seed, stream):
    """The seed of the first game of stream number ``stream`` of a batch."""
    return mix(mix(np.uint64(seed)) ^ np.uint64(stream))


@leaf
def fork(generator):
    """A seed for another generator; ``generator`` moves on."""
    seed = mix(generator.rng)
    below(generator, 2)
    return seed
