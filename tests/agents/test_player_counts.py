"""One network that learns games of several player counts: seats that a game lacks teach it nothing."""

from __future__ import annotations

import numpy as np
import pytest
import torch as th
from stable_baselines3.common.utils import explained_variance

import kepler_envs
from agents.joined_batch import JoinedBatch
from kepler_envs.adapters.sb3 import PiecePolicy, SharedMaskablePPO, SharedSeatVecEnv, piece_policy

WAYS = [{}, {"compiled": False}, {"clip_range_vf": 1e9}]
"""Compiled code, PyTorch's own operations, and MaskablePPO's own method with a bound that is never reached."""


def after_a_rollout(counts: tuple[int, ...], compiled: bool = True, clip_range_vf: float | None = None):
    configs = [kepler_envs.load_game("ad_astra").configure(count) for count in counts]
    network = piece_policy(configs[-1], width=16, hidden=(16,), rows=8, compiled=compiled)
    model = SharedMaskablePPO(
        PiecePolicy, SharedSeatVecEnv(JoinedBatch.deal(configs, 8, 1)), n_steps=32, batch_size=10_000, n_epochs=1,
        seed=3, clip_range_vf=clip_range_vf, policy_kwargs=network,
    )  # fmt: skip
    _, callback = model._setup_learn(256)
    model.collect_rollouts(model.env, callback, model.rollout_buffer, 32)
    return model


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_the_value_loss_is_that_of_the_seats_that_play(way):
    model = after_a_rollout((3, 5), **way)
    rollout, its = model.rollout_buffer, model.rollout_buffer.learning
    lacking = np.isnan(rollout.returns)
    assert not lacking[:, 4:].any() and not lacking[:, :4, :3].any() and lacking[:, :4, 3:].all()
    plays, values, returns = ~lacking[its], rollout.values[its], rollout.returns[its]
    error, known = (values - returns)[plays], (values[plays], returns[plays])
    model.train()
    figures = model.logger.name_to_value
    assert figures["train/value_loss"] == pytest.approx(np.square(error).mean(), rel=1e-4)
    assert figures["train/explained_variance"] == pytest.approx(explained_variance(*known), rel=1e-4)


@pytest.mark.parametrize("way", WAYS[1:], ids=str)
def test_every_way_of_learning_leads_to_the_same_weights(way):
    one, other = after_a_rollout((3, 5)), after_a_rollout((3, 5), **way)
    for name, array in vars(one.rollout_buffer).items():
        if isinstance(array, np.ndarray):
            getattr(other.rollout_buffer, name)[:] = array
    before = th.nn.utils.parameters_to_vector(one.policy.parameters()).detach()
    other.policy.load_from_vector(before.numpy().copy())
    for model in (one, other):
        model.train()
    found, right = (th.nn.utils.parameters_to_vector(model.policy.parameters()).detach() for model in (one, other))
    moved = float((right - before).abs().max())
    assert moved > 1e-4 and float((found - right).abs().max()) < 0.03 * moved
    assert "evaluate_actions" not in vars(other.policy), "afterwards it tells the values of all seats again"


@pytest.mark.parametrize("counts", [(3,), (3, 3)])
def test_no_seat_is_missing_where_all_games_have_as_many(counts):
    model = after_a_rollout(counts)
    assert not np.isnan(model.rollout_buffer.returns).any() and not model.rollout_buffer.lacks_seats
