"""A process that compiles nearly all the time."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

LEFT = 0.001
"""Share of the time that is left for learning."""


def nearly_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile all but a thousandth of the time. Time is read once for both, or what is left of it could be negative."""
    now = [0.0]

    def perf_counter() -> float:
        now[0] = time.perf_counter()
        return now[0]

    monkeypatch.setattr("agents.run.time", SimpleNamespace(perf_counter=perf_counter))
    monkeypatch.setattr("agents.run.seconds_spent", lambda: (1 - LEFT) * now[0])
