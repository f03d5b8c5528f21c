"""OpenSpiel's games back in PettingZoo, by Shimmy: ours go as far as connect four."""

from __future__ import annotations

import numpy as np
import pytest

from tests.clients import needs

needs("shimmy", "pyspiel")

from pettingzoo.test import api_test
from shimmy import OpenSpielCompatibilityV0

import kepler_envs.adapters.openspiel  # noqa: F401

GAMES = {
    "connect_four": None,
    "kepler_kitten_adventurers": {"players": 2, "options": "quest_size:1"},
    "kepler_kepler_run": {"players": 2},
}


@pytest.mark.parametrize("name", GAMES)
def test_a_game_of_openspiel_in_pettingzoo(name):
    api_test(OpenSpielCompatibilityV0(game_name=name, config=GAMES[name]), num_cycles=30)
    env, rng = OpenSpielCompatibilityV0(game_name=name, config=GAMES[name]), np.random.default_rng(0)
    env.reset(seed=1)
    for _ in env.agent_iter():
        _, _, terminated, truncated, info = env.last()
        over = terminated or truncated
        env.step(None if over else int(rng.choice(np.flatnonzero(info["action_mask"]))))
    assert not env.agents and len(set(env.game_state.returns())) > 1
