"""TorchRL's plain PettingZoo wrapper on the plain environment, whole games long."""

from __future__ import annotations

import pytest

from tests.clients import needs

needs("torchrl")

import torch
from torchrl.envs.libs.gym import GymEnv
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.envs.utils import check_env_specs

import kepler_envs


@pytest.mark.parametrize("mask_in", ["observation", "info"])
@pytest.mark.parametrize("name", kepler_envs.list_games())
def test_its_wrapper_plays_games(name, mask_in):
    torch.manual_seed(1)
    options = {"quest_size": 1} if name == "kitten_adventurers" else {}
    env = PettingZooWrapper(kepler_envs.make(name, mask_in=mask_in, **options), use_mask=True)
    if mask_in == "observation":
        check_env_specs(env)
    for _ in range(2):
        games = env.rollout(20_000)
        assert bool(games["next", "done"][-1]) and not games["next", "done"][:-1].any()
        last = games[-1]["next"]
        for group, agents in env.group_map.items():
            info = last[group, "info"]
            assert (info["rank"] >= 1).all() and info["rank"].shape[0] == len(agents)
            paid = games["next", group, "reward"].sum(0).squeeze(-1)
            assert torch.allclose(paid, info["returns"].squeeze(-1), atol=1e-5)
            assert not games["next", group, "info", "rank"][:-1].any()


def test_gymnasium_through_torchrl():
    env = GymEnv("kepler/kitten_adventurers-v1", num_players=2, quest_size=1)
    assert env.rollout(5)["observation"].shape[-1] == kepler_envs.load_game("kitten_adventurers").observation.size
