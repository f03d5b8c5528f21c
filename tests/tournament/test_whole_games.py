"""Whole games in compiled code are the games that agents play step by step."""

from __future__ import annotations

import numpy as np
import pytest

import kepler_envs
from kepler_envs.bots.greedy import greedy_games
from kepler_envs.tournament.play import Players
from kepler_envs.tournament.schedule import Schedule
from tests.effort import DEEP
from tests.tournament.playing import own

GAMES = kepler_envs.list_games() if DEEP else ("kitten_adventurers",)  # each compiles all its rules once more
OTHERS = own("Lowest")


@pytest.mark.parametrize("name", GAMES)
def test_results_are_the_same_step_by_step(name):
    game = kepler_envs.load_game(name)
    specs = ("uniform", "greedy") if name in greedy_games() else ("uniform", "uniform")
    for seats in sorted({max(2, game.min_players), game.default_players, game.max_players}):
        players, schedule = Players(specs, game.configure(seats)), Schedule(2, seats, 5)
        games = [schedule[number] for number in range(min(24, 2 * schedule.block))]
        assert all(players.is_compiled(game) for game in games)
        whole = players.play(games)
        stepped = {result.number: result for some in players.play_side_by_side(games) for result in some}
        assert whole == [stepped[game.number] for game in games]
        assert players.play_alone(games[1])[1] == whole[1]


def test_truncated_games_are_the_same():
    config = kepler_envs.load_game("kitten_adventurers").configure(4, max_turns=20, reward_mode="rank")
    players, schedule = Players(("uniform", "greedy"), config), Schedule(2, 4, 0)
    games = [schedule[number] for number in range(24)]
    whole = players.play(games)
    assert {result.end for result in whole} == {"terminated", "truncated"}
    stepped = {result.number: result for some in players.play_side_by_side(games) for result in some}
    assert whole == [stepped[game.number] for game in games]


def test_only_games_of_compiled_policies_are_played_whole(monkeypatch):
    config = kepler_envs.load_game("kitten_adventurers").configure(4)
    players, schedule = Players(("uniform", "greedy", OTHERS), config), Schedule(3, 4, 0)
    games = [schedule[number] for number in range(schedule.block)]
    compiled = [game for game in games if 2 not in game.agents]
    assert [game for game in games if players.is_compiled(game)] == compiled and 0 < len(compiled) < len(games)
    seen = []
    play_compiled = players._play_compiled
    monkeypatch.setattr(players, "_play_compiled", lambda some: seen.extend(some) or play_compiled(some))
    results = players.play(games)
    assert seen == compiled and [result.number for result in results] == [game.number for game in games]
    assert np.unique([result.length for result in results]).size > 10
