"""Checking and chaining the seeds of games on the Python side."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from kepler_envs.engine.checks import is_integer

SEED_LIMIT = 2**64
GOLDEN = 0x9E3779B97F4A7C15
"""What SplitMix64 adds to its state at each step."""


def check_seed(seed: Any, or_else: str = "") -> int:
    """A seed as a Python integer. Raises ValueError unless it is an integer 0 .. 2**64 - 1.

    ``or_else`` is what the caller allows beside that, in words.
    """
    if not is_integer(seed) or not 0 <= seed < SEED_LIMIT:
        raise ValueError(f"seed = {seed!r} is not allowed; allowed: an integer 0..2**64 - 1{or_else}")
    return int(seed)


def fresh_seed() -> int:
    """A seed from the operating system, for games that need not be reproducible."""
    return secrets.randbits(63)


def following_seed(seed: int) -> int:
    """The seed of the game after one with ``seed``. It equals rng.next_seed."""
    return (seed + GOLDEN) % SEED_LIMIT


def mix(word: int) -> int:
    """rng.mix outside compiled code. It gives neighbouring seeds separate generators."""
    word = (word + GOLDEN) % SEED_LIMIT
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % SEED_LIMIT
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % SEED_LIMIT
    return word ^ (word >> 31)


def mix_all(words: np.ndarray) -> np.ndarray:
    """:func:`mix` of each word, uint64."""
    words = words.astype(np.uint64) + np.uint64(GOLDEN)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def stream_seed(seed: int, stream: int) -> int:
    """rng.stream_seed outside compiled code: the seed of the first game of a batch's row ``stream``."""
    return mix(mix(seed) ^ stream)


def opponent_seeds(game_seeds: np.ndarray) -> np.ndarray:
    """Seeds for the opponents' own generators, uint64 as those of the games that are given.

    They differ from those of the games, so that cards and choices are independent.
    """
    words = game_seeds ^ np.uint64(0x5851F42D4C957F2D)
    words = (words ^ (words >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return words ^ (words >> np.uint64(32))
