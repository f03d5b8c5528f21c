"""The switch between the quick and the deep profile."""

from __future__ import annotations

import os

DEEP = os.environ.get("KEPLER_ENVS_DEEP", "") not in ("", "0")
DEEP_FACTOR = 10


def games_to_play(count: int) -> int:
    """``count`` games (or steps) in the quick profile, many times as many in the deep one."""
    return count * DEEP_FACTOR if DEEP else count
