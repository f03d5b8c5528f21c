"""The benchmark's method ``sb3``: sb3-contrib's own learner, whose network plays all seats."""

from __future__ import annotations

import runpy
import time

import numpy as np
import pytest
import torch as th

import kepler_envs
from agents.benchmark.sb3 import OwnPlay, Sb3Run, write_agent
from agents.benchmark.sb3_agent import FlatAgent
from agents.settings import TrainConfig
from kepler_envs.bots.protocol import TrustedDecisions


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


def test_the_agent_plays_what_the_network_finds_most_probable(tmp_path):
    """From its weights, and from the file of an entry; they are scattered, so that each layer counts."""
    settings = TrainConfig(steps=64, num_envs=2, n_steps=16, batch_size=32, eval_games=2, out=tmp_path)
    run, dice = Sb3Run(settings, tmp_path), th.Generator().manual_seed(2)
    with th.no_grad():
        for array in run.model.policy.parameters():
            array.normal_(0, 0.2, generator=dice)
    spec = write_agent(run, tmp_path / "agent")
    batch, rows = kepler_envs.Batch(run.games, 64, seed=4), np.arange(64)
    file, _, name = spec.partition(":")
    entered = runpy.run_path(str(tmp_path / "agent" / file))[name]
    agents = FlatAgent(run.games, run.weights()), entered(run.games)
    for _ in range(6):
        expected, _ = run.model.predict(batch.observation, action_masks=batch.action_mask, deterministic=True)
        for agent in agents:
            assert (agent.act(TrustedDecisions(batch, rows)) == expected).all()
        batch.step(batch.uniform())
    assert (expected != batch.action_mask.argmax(1)).any()


def test_the_learner_has_the_settings_of_agents_train(tmp_path):
    """The learning rate falls linearly, here to half of the way at the second of two updates."""
    settings = TrainConfig(
        steps=64, num_envs=2, n_steps=16, batch_size=32, epochs=2, gamma=0.9, gae_lambda=0.8, clip_range=0.3,
        entropy=0.02, value_weight=0.7, max_grad_norm=0.6, learning_rate=1e-3, final_learning_rate=1e-4, out=tmp_path,
    )  # fmt: skip
    run, rates = Sb3Run(settings, tmp_path), []
    model = run.model
    assert (model.n_envs, model.n_steps, model.batch_size, model.n_epochs) == (2, 16, 32, 2)
    assert (model.gamma, model.gae_lambda, model.clip_range(1.0)) == (0.9, 0.8, 0.3)
    assert (model.ent_coef, model.vf_coef, model.max_grad_norm) == (0.02, 0.7, 0.6)
    for _ in range(2):
        run.advance()
        rates.append(model.policy.optimizer.param_groups[0]["lr"])
    assert rates == pytest.approx([1e-3, 5.5e-4])


def test_compiling_counts_no_hours(tmp_path, monkeypatch):
    """As in all other methods. Here all but a thousandth of the time is spent on it."""
    monkeypatch.setattr("agents.run.seconds_spent", lambda: 0.999 * time.perf_counter())
    run = Sb3Run(TrainConfig(steps=64, num_envs=2, n_steps=16, batch_size=32, eval_games=2, out=tmp_path), tmp_path)
    began = time.perf_counter()
    run.evaluate()
    run.advance()
    assert 0 < run.seconds <= 0.0011 * (time.perf_counter() - began)
