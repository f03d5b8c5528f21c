"""The environment's share of a training run."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from benchmarks import training
from benchmarks.learner import N_STEPS, NUM_ENVS

pytest.importorskip("sb3_contrib", reason="Stable-Baselines3 is not installed")


def test_only_decisions_that_were_timed_count(monkeypatch):
    """One round warms up and one is timed, by a clock that says a second has passed."""
    monkeypatch.setattr(training, "time", SimpleNamespace(perf_counter=iter((0.0, 1.0)).__next__))
    decisions = NUM_ENVS * N_STEPS
    _, rate = training.environment_share(decisions)
    assert rate == decisions
