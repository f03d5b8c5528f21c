"""Games that are over before the learner has decided anything."""

from __future__ import annotations

import numpy as np
import pytest

import kepler_envs
from kepler_envs.adapters.sb3 import SeatVecEnv
from kepler_envs.engine.playout import uniform_policy
from kepler_envs.engine.snapshot import IllegalAction


def test_an_opponent_that_chooses_nothing_is_told_of():
    """It would stand still for ever: -1 is the batch's SKIP."""
    batch = kepler_envs.make_batch("kitten_adventurers", 4, num_players=2, first_player="seat0")
    env = SeatVecEnv(batch, lambda observation, mask: -1, learner_seat=1)
    with pytest.raises(IllegalAction, match="the opponent returned the id -1; legal were"):
        env.reset()


@pytest.mark.parametrize("players", [2, 5])
def test_games_that_end_before_the_learners_first_decision_are_passed_over(players):
    """With one quest card each, a game is often over before everybody has had a turn."""
    batch = kepler_envs.make_batch("kitten_adventurers", 32, num_players=players, seed=2, quest_size=1)
    env = SeatVecEnv(batch, uniform_policy(batch.config.game))
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
