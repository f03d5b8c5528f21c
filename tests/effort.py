"""How much is tested: what is slow or said by others already, and the switch between the quick and the deep profile."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

DEEP = os.environ.get("KEPLER_ENVS_DEEP", "") not in ("", "0")
DEEP_FACTOR = 10

only_deep = pytest.mark.skipif(not DEEP, reason="takes long: make test-deep")
"""For tests, and cases of tests, whose neighbours say nearly the same sooner."""

slow = pytest.mark.slow
"""For tests, and cases of tests, that take seconds and are about what few edits touch: ``make test-slow``."""


def but_slow(values: Iterable[Any], *which: Any) -> list[Any]:
    """Values for ``parametrize``, of which some are slow."""
    return [pytest.param(value, marks=slow) if value in which else value for value in values]


def games_to_play(count: int) -> int:
    """``count`` games (or steps) in the quick profile, many times as many in the deep one."""
    return count * DEEP_FACTOR if DEEP else count
