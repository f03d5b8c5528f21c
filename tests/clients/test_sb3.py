"""sb3-contrib's MaskablePPO on the AEC environment, wrapped as PettingZoo's tutorial on connect four wraps it: only the
id is another."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from tests.clients import needs

needs("sb3_contrib")

import pettingzoo
from pettingzoo.classic import connect_four_v3
from pettingzoo.utils import BaseWrapper
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_contrib.common.wrappers import ActionMasker


class OneLearner(BaseWrapper, gymnasium.Env):
    """All agents as one learner: plain observations, the mask apart, rewards of the agent that moved."""

    render_mode = None

    def reset(self, seed=None, options=None):
        super().reset(seed, options)
        self.observation_space = super().observation_space(self.possible_agents[0])["observation"]
        self.action_space = super().action_space(self.possible_agents[0])
        return self.observe(self.agent_selection), {}

    def step(self, action):
        mover = self.agent_selection
        super().step(action)
        told = (facts[mover] for facts in (self._cumulative_rewards, self.terminations, self.truncations, self.infos))
        return self.observe(self.agent_selection), *told

    def observe(self, agent):
        return super().observe(agent)["observation"]

    def action_mask(self):
        return super().observe(self.agent_selection)["action_mask"]


GAMES = {
    "connect four": connect_four_v3.env,
    **{
        name: lambda name=name, **settings: pettingzoo.make("aec", f"kepler/{name}-v1", num_players=2, **settings)
        for name in ("kitten_adventurers", "kepler_run")
    },
}


@pytest.mark.parametrize("game", GAMES)
def test_the_tutorial_trains_and_plays(game, tmp_path):
    env = OneLearner(GAMES[game]())
    env.reset(seed=0)
    env = ActionMasker(env, lambda wrapped: wrapped.action_mask())
    model = MaskablePPO(MaskableActorCriticPolicy, env, n_steps=256, batch_size=64)
    model.set_random_seed(0)
    model.learn(1024)
    model.save(tmp_path / "model")
    model = MaskablePPO.load(tmp_path / "model")
    env, paid = GAMES[game](), []
    for seed in range(5):
        env.reset(seed=seed)
        env.action_space("player_0").seed(seed)
        for agent in env.agent_iter():
            seen, _, terminated, truncated, _ = env.last()
            observation, mask = seen.values()
            if terminated or truncated:
                paid.append(sum(env.rewards.values()))
                break
            if agent == "player_0":
                action = env.action_space(agent).sample(mask)
            else:
                action = int(model.predict(observation, action_masks=mask, deterministic=True)[0])
            assert mask[action]
            env.step(action)
    assert len(paid) == 5 and np.allclose(paid, 0)
