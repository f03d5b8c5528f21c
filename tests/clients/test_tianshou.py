"""Tianshou's own environment, vectors and collector, with masked random players and with a DQN."""

from __future__ import annotations

import numpy as np

from tests.clients import needs

needs("tianshou")

from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.env.pettingzoo_env import PettingZooEnv

import kepler_envs


def build() -> PettingZooEnv:
    return PettingZooEnv(kepler_envs.make("kitten_adventurers", num_players=3, quest_size=1))


def test_seeds_reach_the_games():
    envs = DummyVectorEnv([build for _ in range(3)])
    envs.seed(7)
    assert [worker.env.env.game_seed for worker in envs.workers] == [7, 8, 9]


def test_its_collector_plays_games():
    env, envs = build(), DummyVectorEnv([build for _ in range(4)])
    envs.seed(1)
    players = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=env.action_space) for _ in env.agents]
    collector = Collector(
        MultiAgentOffPolicyAlgorithm(algorithms=players, env=env), envs, VectorReplayBuffer(20_000, 4)
    )
    collector.reset()
    found = collector.collect(n_episode=20)
    assert found.n_collected_episodes == 20
    assert np.allclose(found.returns.sum(axis=1), 0) and set(np.round(found.returns.max(axis=1), 3)) <= {
        0.0,
        0.25,
        0.5,
        1.0,
    }
    assert (found.returns.max(axis=1) == 1).sum() >= 10, "most games have one winner"
