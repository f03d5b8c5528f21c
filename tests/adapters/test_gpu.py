"""A network on a GPU decides and learns as on the processor, to rounding."""

from __future__ import annotations

import numpy as np
import pytest
import torch as th

import kepler_envs
from kepler_envs.adapters.sb3 import PiecePolicy, SharedMaskablePPO, SharedSeatVecEnv, piece_policy

pytestmark = pytest.mark.skipif(not th.cuda.is_available(), reason="no GPU")

GPU = "cuda"
STEPS, GAMES = 32, 16


@pytest.fixture(params=[("kitten_adventurers", True), ("kepler_3042", True), ("kepler_3042", False)], ids=str)
def rollout(request) -> SharedMaskablePPO:
    """A learner on the GPU, after a rollout: decided in compiled code with a copy of its weights, or on the GPU."""
    game, compiled = request.param
    model = learner(game, GPU, compiled)
    collect(model)
    return model


def collect(model: SharedMaskablePPO) -> None:
    _, callback = model._setup_learn(STEPS * GAMES, reset_num_timesteps=False)
    model.collect_rollouts(model.env, callback, model.rollout_buffer, STEPS)


def learner(game: str, device: str, compiled: bool = True) -> SharedMaskablePPO:
    """The same weights on every device: PyTorch draws them on the processor."""
    batch = kepler_envs.make_batch(game, GAMES, num_players=3, seed=3)
    network = piece_policy(batch.config, width=24, hidden=(24,), rows=16, compiled=compiled)
    return SharedMaskablePPO(
        PiecePolicy, SharedSeatVecEnv(batch), n_steps=STEPS, batch_size=128, n_epochs=2, seed=4, ent_coef=0.01,
        policy_kwargs=network, device=device,
    )  # fmt: skip


def game_of(model: SharedMaskablePPO) -> str:
    return model.env.unwrapped.batch.config.game.name


@pytest.mark.parametrize("learned", [False, True])
def test_a_rollout_has_what_the_network_says_of_each_observation(rollout, learned):
    """A copy of the weights may not be old. Where the GPU decides, it reads observations by itself, from two buffers in
    turn: none may be overwritten too early."""
    if learned:
        rollout.train()
        collect(rollout)
    judge = learner(game_of(rollout), "cpu").policy
    judge.load_state_dict(rollout.policy.state_dict())
    assert rollout.policy.network.device.type == GPU
    observations, masks, actions, told, *_ = (th.from_numpy(one) for one in rollout.rollout_buffer.arrays())
    assert (masks.sum(1) > 1).float().mean() > 0.3, "there is something to choose"
    assert masks.gather(1, actions.unsqueeze(1)).all(), "every choice is legal"
    values, log_probs, _ = judge.evaluate_actions(observations, actions, masks)
    np.testing.assert_allclose(told, log_probs.detach(), atol=2e-4)
    np.testing.assert_allclose(rollout.rollout_buffer.values.reshape(len(told), -1), values.detach(), atol=2e-4)


def test_the_same_rollout_leads_to_the_same_weights(rollout):
    other = learner(game_of(rollout), "cpu")
    collect(other)  # another rollout, which is overwritten
    for name, one in vars(rollout.rollout_buffer).items():
        if isinstance(one, np.ndarray):
            getattr(other.rollout_buffer, name)[:] = one
    before = {name: one.detach().clone() for name, one in other.policy.network.named_parameters()}
    for model in (rollout, other):
        np.random.seed(1)
        model.train()
    right, most = dict(other.policy.network.named_parameters()), 0.0
    for name, one in rollout.policy.network.named_parameters():
        assert one.device.type == GPU
        moved = float((right[name].detach() - before[name]).abs().max())
        np.testing.assert_allclose(one.detach().cpu(), right[name].detach(), atol=0.03 * moved + 1e-6, err_msg=name)
        most = max(most, moved)
    assert most > 1e-3, "it has learned"
    for name, value in other.logger.name_to_value.items():
        assert rollout.logger.name_to_value[name] == pytest.approx(value, rel=5e-3, abs=2e-4), name


def test_what_learned_on_a_gpu_goes_on_on_the_processor(rollout, tmp_path):
    rollout.save(tmp_path / "model")
    batch = kepler_envs.make_batch(game_of(rollout), GAMES, num_players=3, seed=5)
    loaded = SharedMaskablePPO.load(tmp_path / "model", SharedSeatVecEnv(batch), device="cpu")
    assert loaded.policy.network.device.type == "cpu"
    assert (loaded.policy.learner is not None) == rollout.policy.compiled
    for name, one in rollout.policy.network.named_parameters():
        assert th.equal(one.detach().cpu(), dict(loaded.policy.network.named_parameters())[name].detach()), name
    assert loaded.learn(STEPS * GAMES).num_timesteps == STEPS * GAMES
