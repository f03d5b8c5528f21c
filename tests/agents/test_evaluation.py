"""What an evaluation says of the games it has seen."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

import kepler_envs
from agents.evaluation import ALONE, Evaluation, mean_return, trials_of
from kepler_envs import bots
from kepler_envs.tournament.standings import Share, half_width


def test_the_last_trials_are_those_against_the_last_opponent():
    """One for each number of players. Alone, nobody plays against the learner, so there is one such trial."""
    three = [kepler_envs.load_game("kitten_adventurers").configure(players) for players in (2, 3, 2)]
    found = trials_of(("uniform", "greedy"), three)
    assert [trial.name for trial in found] == ["uniform_2p", "uniform_3p", "greedy_2p", "greedy_3p"]
    assert [[bot.name for _, bot in trial.games] for trial in found] == [
        ["uniform"] * 2, ["uniform"], ["greedy"] * 2, ["greedy"]
    ]  # fmt: skip
    alone = [kepler_envs.load_game("kepler_3042").configure(players) for players in (1, 2)]
    assert [trial.name for trial in trials_of(("uniform", "greedy"), alone)] == ["uniform_2p", "alone", "greedy_2p"]


def test_the_games_of_a_trial_are_spread_over_its_configurations():
    """Ten of two are five each, and six to use both seats as often."""
    short = [kepler_envs.load_game("kitten_adventurers").configure(2, quest_size=size) for size in (1, 2)]
    (trial,) = trials_of(("uniform",), short)
    played = trial.evaluate(bots.load("greedy", short[1]), 10)
    assert [config for config, _ in trial.games] == short
    assert (played.opponent, played.wins.games) == ("uniform", 12)


def test_what_is_said_of_an_evaluation_and_kept_of_it():
    """Points are said of games for one player alone."""
    one = Evaluation("greedy", Share(0.26, 0.2, 0.33, 100), 40.5, Share(-0.2, -0.3, -0.1, 100), version="greedy-1")
    alone = replace(one, opponent=ALONE, points=Share(12.346, 11.0, 13.0, 100))
    assert (one.in_words, one.against) == ("greedy  26.0% (20-33)", "against greedy")
    assert (alone.in_words, alone.against) == ("alone  26.0% (20-33), 12.3 points", "alone")
    assert one.columns == {"win_rate_greedy": 0.26, "low_greedy": 0.2, "high_greedy": 0.33, "games_greedy": 100}
    assert alone.columns["points_alone"] == 12.35
    assert one.summary == {"mean": 0.26, "low": 0.2, "high": 0.33, "games": 100}
    assert alone.summary == {**one.summary, "points": 12.346}
    for its in (one, alone):
        assert Evaluation.from_json(json.loads(json.dumps(asdict(its)))) == its


def test_the_interval_of_a_mean_return_is_students():
    returns = np.array([0.5, 0.0, 0.25, 0.25])
    found = mean_return(returns)
    assert (found.mean, found.games) == (0.25, 4)
    assert (found.low, found.high) == (0.25 - half_width(returns), 0.25 + half_width(returns))


def test_no_interval_leaves_the_range_of_returns():
    returns = np.append(np.ones(99), -1 / 3)
    found = mean_return(returns)
    assert found.mean + half_width(returns) > 1 and found.high == 1
    assert mean_return(-returns).low == -1 and mean_return(-returns).high == -found.low


@pytest.mark.parametrize("games", [1, 4, 300, 2000])
@pytest.mark.parametrize("value", [-1.0, -1 / 3, 0.0, 1.0])
def test_equal_returns_leave_room_for_what_was_not_seen(games, value):
    """A game that pays something else is missed by so many games once in twenty times, if it is that frequent."""
    found = mean_return(np.full(games, value))
    frequent = 1 - 0.05 ** (1 / games)
    assert (1 - frequent) ** games == pytest.approx(0.05)
    assert found.mean == value and -1 <= found.low <= value <= found.high <= 1
    assert value - found.low == pytest.approx(frequent * (value + 1))
    assert found.high - value == pytest.approx(frequent * (1 - value))
    assert games < 30 or frequent == pytest.approx(3 / games, rel=0.02), "the rule of three"


def test_a_single_loss_leaves_no_less_room_than_none():
    returns = np.ones(2000)
    none = mean_return(returns).low
    returns[7] = -1.0
    assert mean_return(returns).low <= none + 1e-4
