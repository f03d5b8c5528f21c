"""SuperSuit's wrappers: each that plays connect four plays our games, and with the mask in the infos more of them
do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.clients import needs

needs("supersuit")

import supersuit
from pettingzoo.classic import connect_four_v3

import kepler_envs

WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "clip_reward": supersuit.clip_reward_v0,
    "clip_actions": supersuit.clip_actions_v0,
    "color_reduction": supersuit.color_reduction_v0,
    "delay_observations": lambda env: supersuit.delay_observations_v0(env, 1),
    "dtype": lambda env: supersuit.dtype_v0(env, np.float32),
    "flatten": supersuit.flatten_v0,
    "frame_skip": lambda env: supersuit.frame_skip_v0(env, 2),
    "frame_stack": lambda env: supersuit.frame_stack_v1(env, 2),
    "max_observation": lambda env: supersuit.max_observation_v0(env, 2),
    "normalize_obs": supersuit.normalize_obs_v0,
    "resize": lambda env: supersuit.resize_v1(env, 4, 4),
    "sticky_actions": lambda env: supersuit.sticky_actions_v0(env, 0.0),
    "observation_lambda": lambda env: supersuit.observation_lambda_v0(env, lambda seen, _: seen, lambda space: space),
    "action_lambda": lambda env: supersuit.action_lambda_v1(env, lambda action, _: action, lambda space: space),
    "reward_lambda": lambda env: supersuit.reward_lambda_v0(env, lambda reward: reward),
    "black_death": supersuit.black_death_v3,
    "agent_indicator": supersuit.agent_indicator_v0,
    "pad_action_space": supersuit.pad_action_space_v0,
    "pad_observations": supersuit.pad_observations_v0,
}
PLAY_WITH_MASKS_IN_INFOS = {"dtype", "flatten", "frame_stack", "max_observation", "agent_indicator", "pad_observations"}
"""Those that take no observation with a mask in it, of connect four neither."""


def plays(build: Callable[[], Any], wrapper: Callable[[Any], Any]) -> bool:
    """Whether a wrapped environment plays a game of masked random actions to its end."""
    rng = np.random.default_rng(0)
    try:
        env = wrapper(build())
        env.reset(seed=1)
        for _ in env.agent_iter(2000):
            seen, _, terminated, truncated, info = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            mask = seen["action_mask"] if isinstance(seen, dict) else info["action_mask"]
            legal = np.flatnonzero(mask)
            env.step(int(rng.choice(legal)) if legal.size else 0)
    except (
        AssertionError,
        AttributeError,
        KeyError,
        TypeError,
        ValueError,
    ):  # what it raises for spaces it does not take
        return False
    return not env.agents


def ours(**settings: Any) -> Callable[[], Any]:
    return lambda: kepler_envs.make("kitten_adventurers", quest_size=1, illegal="lose", **settings)


@pytest.mark.parametrize("name", WRAPPERS)
def test_as_far_as_connect_four(name):
    wrapper = WRAPPERS[name]
    theirs, here, in_infos = (plays(build, wrapper) for build in (connect_four_v3.env, ours(), ours(mask_in="info")))
    assert here or not theirs
    assert in_infos == (theirs and name != "frame_skip" or name in PLAY_WITH_MASKS_IN_INFOS), "frame_skip drops infos"
