"""Shaping: coefficient x (own quest cards played this turn - mean over all players), paid at turn end."""

from __future__ import annotations

import pytest

from kepler_envs import KeplerEnv
from tests.games.kitten_adventurers.scenario import GAME, Play, scenario

X = 0.3
CONFIG = GAME.configure(3, shaping=X)


def environment(game: Play) -> KeplerEnv:
    env = KeplerEnv(CONFIG)
    env.restore(game.snapshot)
    return env


def test_paid_at_turn_end_for_all_cards_of_the_turn() -> None:
    env = environment(scenario(config=CONFIG, hands=[[9, 11], 3, 3], quests=[[5, 4, 1, 0], 3, 3], lanes={0: {0: [0]}}))
    for action in (14, 14, 15):  # two quest cards, one from a lane
        env.step(action)
        assert set(env.rewards.values()) == {0.0}
    env.step(19 + 9)
    assert list(env.rewards.values()) == pytest.approx([X * (2 - 2 / 3), -X * 2 / 3, -X * 2 / 3])
    assert env._cumulative_rewards["player_1"] == pytest.approx(-X * 2 / 3)


def test_nothing_for_a_turn_without_quest_cards() -> None:
    env = environment(scenario(config=CONFIG, hands=[[0, 9], 3, 3], quests=[[5, 4], 3, 3]))
    env.step(0)
    env.step(19 + 9)
    assert set(env.rewards.values()) == {0.0}


def test_the_winning_turn_is_paid_with_the_result() -> None:
    env = environment(scenario(config=CONFIG, hands=[[9], 3, 3], quests=[[1, 0], 3, 3]))
    env.step(14)
    env.step(14)
    expected = [1 + X * (2 - 2 / 3), -0.5 - X * 2 / 3, -0.5 - X * 2 / 3]
    assert list(env.rewards.values()) == pytest.approx(expected)
    assert env.infos["player_0"]["returns"] == 1.0


def test_off_by_default() -> None:
    env = KeplerEnv(GAME.configure(3))
    env.restore(scenario(players=3, hands=[[9, 11], 3, 3], quests=[[5, 0], 3, 3]).snapshot)
    env.step(14)
    env.step(19 + 9)
    assert set(env.rewards.values()) == {0.0}
