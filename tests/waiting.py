"""Waiting for what other threads and processes do."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

LONGEST_WAIT = 60.0  # seconds


def wait_until(true: Callable[[], object], what: str, longest: float = LONGEST_WAIT) -> None:
    """Wait until something is true; AssertionError once ``longest`` seconds are over."""
    end = time.monotonic() + longest
    while not true():
        assert time.monotonic() < end, f"{what} takes too long"
        time.sleep(0.002)


def is_running(process: int) -> bool:
    """Whether a process has not ended. One that nobody has waited for has ended, too."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
