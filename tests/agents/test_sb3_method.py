"""The benchmark's method ``sb3``: sb3-contrib's own learner, whose network plays all seats."""

from __future__ import annotations

import time

import numpy as np
import torch as th

import kepler_envs
from agents.benchmark.sb3 import OwnPlay, Sb3Run
from agents.settings import TrainConfig


def test_the_other_seats_draw_from_the_probabilities_of_the_network_as_it_is(tmp_path):
    run = Sb3Run(TrainConfig(steps=64, num_envs=2, n_steps=16, batch_size=32, eval_games=2, out=tmp_path), tmp_path)
    own = run.env.opponent
    assert isinstance(own, OwnPlay)
    batch, copies = kepler_envs.Batch(run.games, 2, seed=4), 4000
    rows = np.repeat([0, 1], copies)
    for step in range(12):
        seen, masks = batch.observation.copy(), batch.action_mask == 1
        chosen = own(batch, rows)
        assert chosen.dtype == np.int64 and chosen.shape == (2 * copies,)
        drawn = np.array([np.bincount(part, minlength=masks.shape[1]) for part in np.split(chosen, 2)]) / copies
        with th.no_grad():
            spread = run.model.policy.get_distribution(th.as_tensor(seen), masks).distribution
        expected = spread.probs.numpy()
        assert not drawn[~masks].any()
        assert np.abs(drawn - expected).max() < 4.5 * np.sqrt(0.25 / copies)
        batch.step(chosen[[0, copies]])
        if step == 5:
            run.advance()
            seen_after = run.model.policy.get_distribution(th.as_tensor(seen), masks).distribution.probs
            assert not np.allclose(seen_after.detach().numpy(), expected), "it has learned nothing"


def test_compiling_counts_no_hours(tmp_path, monkeypatch):
    """As in all other methods. Here all but a thousandth of the time is spent on it."""
    monkeypatch.setattr("agents.run.seconds_spent", lambda: 0.999 * time.perf_counter())
    run = Sb3Run(TrainConfig(steps=64, num_envs=2, n_steps=16, batch_size=32, eval_games=2, out=tmp_path), tmp_path)
    began = time.perf_counter()
    run.evaluate()
    run.advance()
    assert 0 < run.seconds <= 0.0011 * (time.perf_counter() - began)
