"""The switch between the quick and the deep profile."""

from __future__ import annotations

import os

import pytest

DEEP = os.environ.get("KEPLER_ENVS_DEEP", "") not in ("", "0")
DEEP_FACTOR = 10

only_deep = pytest.mark.skipif(not DEEP, reason="takes long: make test-deep")
"""For tests, and cases of tests, whose neighbours say nearly the same sooner."""


def games_to_play(count: int) -> int:
    """``count`` games (or steps) in the quick profile, many times as many in the deep one."""
    return count * DEEP_FACTOR if DEEP else count
