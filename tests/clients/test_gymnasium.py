"""Gymnasium's checker, its vector environments with their default automatic reset, and its wrappers."""

from __future__ import annotations

import numpy as np
import pytest

from tests.clients import needs

needs("gymnasium")

import gymnasium
from gymnasium.utils.env_checker import check_env

import kepler_envs

GAME = "kepler/kitten_adventurers-v1"
SHORT = {"num_players": 2, "quest_size": 1}


@pytest.mark.parametrize("name", kepler_envs.list_games())
def test_its_checker(name):
    check_env(gymnasium.make(f"kepler/{kepler_envs.load_game(name).id}").unwrapped, skip_render_check=True)


@pytest.mark.parametrize("mode", [None, "sync", "async"])
def test_vectors_always_have_something_to_choose(mode):
    """In Gymnasium's own vectors a step lies between the end and the next deal: its mask must not be empty.

    The batch deals in the same step and keeps apart what the game ended with.
    """
    envs = gymnasium.make_vec(GAME, num_envs=3, vectorization_mode=mode, opponents="greedy", **SHORT)
    rng, ended = np.random.default_rng(0), 0
    _, infos = envs.reset(seed=1)
    returns = []
    for _ in range(400):
        assert infos["action_mask"].any(axis=1).all() and infos["_action_mask"].all()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in infos["action_mask"]])
        _, rewards, terminated, truncated, infos = envs.step(actions)
        over = terminated | truncated
        ends = infos.get("final_info", infos)
        assert not over.any() or ((ends["rank"] > 0) == over).all()
        assert "illegal" not in ends
        returns += ends["returns"][over].tolist()
        ended += int(over.sum())
    envs.close()
    assert ended > 20 and set(returns) == {-1.0, 1.0}


def test_wrappers():
    env = gymnasium.make(GAME, **SHORT)
    env = gymnasium.wrappers.RecordEpisodeStatistics(env)
    env = gymnasium.wrappers.DtypeObservation(env, np.float32)
    env = gymnasium.wrappers.RescaleObservation(env, np.float32(0), np.float32(1))
    env = gymnasium.wrappers.FrameStackObservation(env, 2)
    env = gymnasium.wrappers.FlattenObservation(env)
    _, info = env.reset(seed=2)
    over = False
    while not over:
        observation, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        assert observation.shape == env.observation_space.shape and observation.dtype == np.float32
        over = terminated or truncated
    assert info["episode"]["r"] == pytest.approx(info["returns"])
