"""The VecEnvs: what a learner sees, may do and is paid, on a batch and with Stable-Baselines3's own code."""

from __future__ import annotations

import numpy as np
import pytest
import torch as th
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks

import kepler_envs
from kepler_envs.adapters.pytorch import PieceInput
from kepler_envs.adapters.sb3 import (
    PiecePolicy,
    SeatVecEnv,
    SharedMaskablePPO,
    SharedSeatVecEnv,
    piece_policy,
)
from kepler_envs.engine.observation import CATEGORY, COUNT

GAME = "kitten_adventurers"


def batch_of(num_envs: int, players: int, **options) -> kepler_envs.Batch:
    return kepler_envs.make_batch(GAME, num_envs, num_players=players, seed=3, quest_size=2, **options)


def uniform_choice(masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.where(masks, rng.random(masks.shape), -1).argmax(1)


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("seat", [None, 0, 1])
def test_a_learner_is_paid_all_of_its_game_losses_included(players, seat):
    batch = batch_of(16, players)
    env, rng = SeatVecEnv(batch, learner_seat=seat), np.random.default_rng(0)
    env.reset()
    paid, final = np.zeros(16), []
    for _ in range(800):
        assert (batch.seat == env.learner).all()
        assert seat is None or (env.learner == seat).all()
        _, rewards, dones, infos = env.step(uniform_choice(env.action_masks(), rng))
        paid += rewards
        for row in np.flatnonzero(dones):
            own = infos[row]["seat"]
            assert paid[row] == pytest.approx(infos[row]["episode"]["r"])
            assert infos[row]["rank"] >= 1
            assert infos[row]["terminal_observation"].shape == batch.config.observation.low.shape
            final.append((own, round(float(paid[row]), 4)))
            paid[row] = 0
    outcomes = {value for _, value in final}
    assert len(final) > 100
    assert 1.0 in outcomes, "a win pays 1"
    assert round(-1 / (players - 1), 4) in outcomes, "and a loss reaches the learner"
    if seat is None:
        assert {own for own, _ in final} == set(range(players)), "the learner takes every seat"


def test_rewards_of_two_players_are_those_the_batch_paid():
    batch = batch_of(8, 2)
    env, rng = SeatVecEnv(batch), np.random.default_rng(1)
    env.reset()
    compared = 0
    for _ in range(400):
        learners, games = env.learner.copy(), batch.episodes.copy()
        _, rewards, dones, _ = env.step(uniform_choice(env.action_masks(), rng))
        assert (rewards[~dones] == 0).all(), "without shaping only the end pays"
        # where a second game went by before the learner could decide in it, the batch has only that one's returns
        for row in np.flatnonzero(dones & (batch.episodes == games + 1)):
            assert rewards[row] == pytest.approx(batch.final_return[row, learners[row]])
            compared += 1
    assert compared > 20


def test_masks_reach_sb3_contrib_as_the_batch_has_them():
    batch = batch_of(6, 4)
    env = SeatVecEnv(batch)
    observation = env.reset()
    masks = get_action_masks(env)
    assert masks.dtype == bool and (masks == batch.action_mask.astype(bool)).all()
    assert (observation == batch.observation).all()
    assert observation.dtype == np.int16


@pytest.mark.parametrize("kind", ["seat", "shared"])
def test_ppo_learns_saves_and_loads(kind, tmp_path):
    batch = batch_of(8, 3)
    network = piece_policy(batch.config.observation, num_players=3, width=16, hidden=(16,))
    sizes = {"n_steps": 32, "batch_size": 64, "n_epochs": 1, "seed": 0}
    if kind == "seat":
        model = MaskablePPO(PiecePolicy, SeatVecEnv(batch), policy_kwargs=network, **sizes)
    else:
        model = SharedMaskablePPO(PiecePolicy, SharedSeatVecEnv(batch), policy_kwargs=network, **sizes)
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    model.learn(2 * 32 * 8)
    assert model.num_timesteps == 2 * 32 * 8
    assert any(not th.equal(old, new) for old, new in zip(before, model.policy.parameters(), strict=True))
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    masks = batch.action_mask.astype(bool)
    first, _ = model.predict(batch.observation, action_masks=masks, deterministic=True)
    second, _ = loaded.predict(batch.observation, action_masks=masks, deterministic=True)
    assert (first == second).all()
    assert masks[np.arange(8), first].all(), "every choice is legal"


def test_the_shared_environment_shows_whoever_is_to_move():
    batch = batch_of(5, 4)
    env, rng = SharedSeatVecEnv(batch), np.random.default_rng(2)
    observation = env.reset()
    for _ in range(200):
        active = batch.config.observation["active_seat"].view(observation)
        assert (active == 0).all(), "the observer is the one to move"
        movers = env.seats
        observation, rewards, dones, infos = env.step(uniform_choice(env.action_masks(), rng))
        assert rewards == pytest.approx(batch.reward[np.arange(5), movers])
        for row in np.flatnonzero(dones):
            assert infos[row]["returns"] == pytest.approx(batch.final_return[row])


def test_the_first_layer_is_a_linear_layer_over_what_the_pieces_mean():
    batch = batch_of(7, 4)
    layout = batch.config.observation
    th.manual_seed(0)
    layer = PieceInput(layout, width=5)
    found = layer(th.as_tensor(batch.observation)).detach().numpy()
    plain, signed, rows = [], [], []
    for piece in layout:
        values = piece.view(batch.observation).reshape(7, -1).astype(float)
        for column in values.T:
            if piece.kind == CATEGORY:
                rows.append(np.arange(piece.low, piece.high + 1)[None, :] == column[:, None])
                continue
            plain.append(column / piece.scale)
            if piece.kind == COUNT:
                signed.append(np.sign(column))
    weight, bias = layer.linear.weight.detach().numpy(), layer.linear.bias.detach().numpy()
    expected = np.array([*plain, *signed]).T @ weight.T + bias
    expected = expected + np.concatenate(rows, axis=1).astype(float) @ layer.rows.detach().numpy()
    assert found == pytest.approx(expected, abs=1e-4)
    assert layer.inputs == len(plain) + len(signed) + sum(row.shape[1] for row in rows)
