"""What the time of a training run goes into."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace

import pytest

from benchmarks import training
from benchmarks.learner import BATCH_SIZE, EPOCHS, N_STEPS, NUM_ENVS
from benchmarks.sampling import GAME, PLAYERS, Settings

pytest.importorskip("sb3_contrib", reason="Stable-Baselines3 is not installed")


def test_time_is_that_of_the_timed_rounds_by_what_is_called(monkeypatch):
    """One round warms up and one is timed, by a clock that goes on by a second whenever somebody looks at it."""
    ticks = count()
    monkeypatch.setattr(training, "time", SimpleNamespace(perf_counter=lambda: float(next(ticks))))
    decisions = NUM_ENVS * N_STEPS
    shares, rate = training.time_by_part(GAME, PLAYERS, decisions)
    steps = EPOCHS * decisions // BATCH_SIZE
    answers = N_STEPS + 1  # the last one tells the values after the rollout
    wall = 2 * (2 * steps + answers) + 1  # two looks around each call, and one at the end
    assert rate == decisions / wall
    assert shares["gradients"] == shares["optimizer"] == steps / wall and shares["answers"] == answers / wall
    assert 0 < shares["games"] < 1e-2, "by the clock of the environment"
    assert sum(shares.values()) == pytest.approx(1)


def test_each_game_has_a_row_and_one_has_a_target(monkeypatch):
    shares = {"gradients": 0.5, "answers": 0.25, "optimizer": 0.05, "games": 0.125, "loops": 0.075}
    monkeypatch.setattr(training, "time_by_part", lambda game, players, steps: (shares, float(steps)))
    rows = training.training_share(Settings(ppo_steps=1000))
    assert len(rows) == 6
    (share,) = (row for row in rows if row.target)
    assert share.value == "12.5 % at 1000 decisions/s" and share.ratio == 0.125 and not share.met
    assert rows[2].what == "kepler_run, MaskablePPO, 4 players, where its time goes"
    assert rows[2].value == "gradients 50 %, answers 25 %, optimizer 5 %, games 12 %, loops 8 %"


def test_no_rows_without_decisions():
    assert training.training_share(Settings(ppo_steps=0)) == []
