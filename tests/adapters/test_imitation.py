"""A shared network learns from a teacher's games, and from games that others play in its place."""

from __future__ import annotations

import numpy as np
import pytest
from stable_baselines3.common.logger import Logger

import kepler_envs
from kepler_envs.adapters.opponents import CompiledOpponent
from kepler_envs.adapters.sb3 import (
    PiecePolicy,
    SeatVecEnv,
    SharedMaskablePPO,
    SharedSeatVecEnv,
    piece_policy,
)
from kepler_envs.engine.playout import uniform_policy

GAME = "kitten_adventurers"


class LowestId:
    """Always takes the lowest legal id; notes the rows in which it was started."""

    def __init__(self) -> None:
        self.started: list[int] = []

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        assert seeds.dtype == np.uint64 and len(seeds) == len(rows)
        self.started += rows.tolist()

    def __call__(self, batch: kepler_envs.Batch, rows: np.ndarray) -> np.ndarray:
        return batch.action_mask[rows].argmax(1)


def test_a_network_takes_over_its_teachers_choices():
    batch = kepler_envs.make_batch(GAME, 32, num_players=3, seed=1, quest_size=3)
    network = piece_policy(batch.config.observation, num_players=3, width=32, hidden=(32,))
    model = SharedMaskablePPO(PiecePolicy, SharedSeatVecEnv(batch), n_steps=64, seed=0, policy_kwargs=network)
    model.set_logger(Logger(None, []))
    teacher = LowestId()
    for _ in range(10):
        model.imitate(teacher, learning_rate=3e-3, batch_size=256)
    assert model.num_timesteps == 10 * 64 * 32
    assert len(teacher.started) == 10 * 32 + batch.episodes.sum(), "told of every game"
    masks = batch.action_mask.astype(bool)
    chosen, _ = model.predict(batch.observation, action_masks=masks, deterministic=True)
    assert (chosen == masks.argmax(1)).mean() > 0.9
    value_error = model.rollout_buffer.values - model.rollout_buffer.returns
    assert (value_error**2).mean() < (model.rollout_buffer.returns**2).mean(), "the value has learned something, too"


@pytest.mark.parametrize("players", [2, 5])
def test_games_that_end_before_the_learners_first_decision_are_passed_over(players):
    """With one quest card each, a game is often over before everybody has had a turn."""
    batch = kepler_envs.make_batch(GAME, 32, num_players=players, seed=2, quest_size=1)
    env = SeatVecEnv(batch, CompiledOpponent(uniform_policy(batch.config.game), 32))
    env.reset()
    seen = np.zeros(32, np.int64)
    decided = np.zeros(32, np.int64)
    for _ in range(300):
        assert (batch.seat == env.learner).all()
        _, rewards, dones, infos = env.step(batch.action_mask.argmax(1))
        decided += 1
        seen += dones
        for row in np.flatnonzero(dones):
            assert infos[row]["episode"]["l"] == decided[row] >= 1
            assert rewards[row] == pytest.approx(infos[row]["episode"]["r"])
        decided[dones] = 0
        assert (rewards[~dones] == 0).all()
    assert (seen < batch.episodes).any(), "some games went by"
    assert (seen <= batch.episodes).all()
