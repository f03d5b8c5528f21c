"""Checking and chaining the seeds of games on the Python side."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from kepler_envs.engine.checks import is_integer

SEED_LIMIT = 2**64
_GOLDEN = 0x9E3779B97F4A7C15


def check_seed(seed: Any) -> int:
    """A seed as a Python integer. Raises ValueError unless it is an integer 0 .. 2**64 - 1."""
    if not is_integer(seed) or not 0 <= seed < SEED_LIMIT:
        raise ValueError(f"seed = {seed!r} is not allowed; allowed: an integer 0..2**64 - 1, or None")
    return int(seed)


def fresh_seed() -> int:
    """A seed from the operating system, for games that need not be reproducible."""
    return secrets.randbits(63)


def following_seed(seed: int) -> int:
    """The seed of the game after one with ``seed``. It equals rng.next_seed."""
    return (seed + _GOLDEN) % SEED_LIMIT


def mix(word: int) -> int:
    """rng.mix outside compiled code. It gives neighbouring seeds separate generators."""
    word = (word + _GOLDEN) % SEED_LIMIT
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % SEED_LIMIT
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % SEED_LIMIT
    return word ^ (word >> 31)


def stream_seed(seed: int, stream: int) -> int:
    """rng.stream_seed outside compiled code: the seed of the first game of a batch's row ``stream``."""
    return mix(mix(seed) ^ stream)


def opponent_seeds(game_seeds: np.ndarray) -> np.ndarray:
    """Seeds for the opponents' own generators, uint64.

    They differ from those of the games, so that cards and choices are independent.
    """
    words = game_seeds ^ np.uint64(0x5851F42D4C957F2D)
    words = (words ^ (words >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return words ^ (words >> np.uint64(32))
