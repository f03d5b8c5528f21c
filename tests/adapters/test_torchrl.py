"""A game in TorchRL: what its rollouts hold is what the game deals, allows and pays."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

pytest.importorskip("torchrl", reason="TorchRL is not installed: pip install 'kepler_envs[torchrl]'")

import torch
from torchrl.collectors import Collector
from torchrl.envs import SerialEnv

import kepler_envs
from kepler_envs.adapters.torchrl import make_torchrl
from kepler_envs.engine.seeds import following_seed

SETTINGS = {"num_players": 3, "quest_size": 1}


def test_a_rollout_is_a_game_of_the_environment():
    env = make_torchrl("kitten_adventurers", seed=5, **SETTINGS)
    games = env.rollout(2000)
    assert bool(games["next", "done"][-1]) and not games["next", "done"][:-1].any()
    aec = kepler_envs.make("kitten_adventurers", **SETTINGS)
    aec.reset(seed=following_seed(5))  # TorchRL resets once before it begins
    for step in games:
        seat = aec.agent_selection
        assert [bool(step[agent, "mask"]) for agent in aec.possible_agents] == [
            agent == seat for agent in aec.possible_agents
        ]
        seen = aec.observe(seat)
        assert np.array_equal(step[seat, "observation", "observation"][0], seen["observation"])
        assert np.array_equal(step[seat, "action_mask"][0], seen["action_mask"])
        aec.step(int(step[seat, "action"][0]))
    for agent in aec.possible_agents:
        assert float(games["next", agent, "info", "rank"][-1]) == aec.infos[agent]["rank"]
        paid = float(games["next", agent, "reward"].sum())
        assert paid == pytest.approx(aec.infos[agent]["returns"], abs=1e-6)


def test_the_number_of_players_comes_after_the_name_as_in_make_seat():
    assert list(make_torchrl("kitten_adventurers", 3).group_map) == ["player_0", "player_1", "player_2"]


@pytest.mark.parametrize("name", kepler_envs.list_games())
def test_games_follow_one_another(name):
    options = {"quest_size": 1} if name == "kitten_adventurers" else {}
    torch.manual_seed(3)
    env = make_torchrl(name, seed=1, **options)
    steps = 300 if options else 40
    games = env.rollout(steps, break_when_any_done=False)
    assert games.numel() == steps
    if options:
        assert int(games["next", "done"].sum()) >= 1
    for agent in env.group_map:
        own = games[agent, "mask"].squeeze(-1)
        chosen = games[agent, "action_mask"].squeeze(1)[own]
        assert chosen.gather(1, games[agent, "action"][own]).all(), "TorchRL chooses what is allowed"


@pytest.mark.parametrize("place", ["info", "both"])
def test_masks_elsewhere_are_refused(place):
    with pytest.raises(kepler_envs.OptionError, match=f"mask_in = '{place}' is not allowed for TorchRL; allowed: obs"):
        make_torchrl("kitten_adventurers", mask_in=place, **SETTINGS)


def test_an_illegal_action_loses_the_game():
    env = make_torchrl("kitten_adventurers", seed=5, **SETTINGS)
    game = env.reset()
    seats = list(env.group_map)
    mover = next(seat for seat in seats if game[seat, "mask"])
    for seat in seats:
        game[seat, "action"] = (~game[seat, "action_mask"]).int().argmax(-1)
    after = env.step(game)["next"]
    assert bool(after["done"]) and float(after[mover, "reward"]) == -1.0
    assert {float(after[seat, "reward"]) for seat in seats if seat != mover} == {0.5}


def test_actions_of_an_older_mask_are_taken():
    """TorchRL's several environments, and its collectors without a policy, draw from one."""
    make = partial(make_torchrl, "kitten_adventurers", seed=5, **SETTINGS)
    together = SerialEnv(2, make)
    assert together.rollout(50, break_when_any_done=False).shape == (2, 50)
    together.close()
    collector = Collector(make, None, frames_per_batch=60, total_frames=120)
    assert [len(frames) for frames in collector] == [60, 60]
    collector.shutdown()
