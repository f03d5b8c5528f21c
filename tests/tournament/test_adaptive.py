"""Adaptive schedules: what a game tells, where the next one goes, and that a ledger is enough to go on."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import kepler_envs
from kepler_envs.cli.tournament import PlayTournament
from kepler_envs.tournament import adaptive
from kepler_envs.tournament.adaptive import AdaptiveSchedule, choose_tables, information, interval_widths
from kepler_envs.tournament.play import GameResult
from kepler_envs.tournament.ratings import IMAGINARY_WINS
from kepler_envs.tournament.schedule import compositions

GAME = "kitten_adventurers"


def log_likelihood(order: tuple[int, ...], table: tuple[int, ...], strength: np.ndarray) -> float:
    """Of seats finishing in this order."""
    weights = np.exp(strength[[table[seat] for seat in order]])
    return float(sum(np.log(weights[i] / weights[i:].sum()) for i in range(len(order))))


@pytest.mark.parametrize("table", [(0, 1), (0, 1, 2), (0, 0, 1), (0, 1, 1, 2)])
def test_information_is_the_curvature_of_the_expected_likelihood(table):
    strength = np.array([0.3, -0.5, 0.9])
    orders = list(permutations(range(len(table))))
    chances = [np.exp(log_likelihood(order, table, strength)) for order in orders]
    assert sum(chances) == pytest.approx(1)

    def expected(at: np.ndarray) -> float:
        return sum(p * log_likelihood(order, table, at) for p, order in zip(chances, orders, strict=True))

    step, curvature, axes = 1e-3, np.zeros((3, 3)), np.eye(3)
    for i in range(3):
        for j in range(3):
            a, b = step * axes[i], step * axes[j]
            ends = expected(strength + a + b) - expected(strength + a - b)
            curvature[i, j] = (ends - expected(strength - a + b) + expected(strength - a - b)) / (4 * step**2)
    assert information(table, strength) == pytest.approx(-curvature, abs=1e-5)


def test_widths_of_intervals():
    strength = np.zeros(3)
    total = 10 * information((0, 1), strength) + 40 * information((1, 2), strength)
    widths = interval_widths(
        total, strength
    )  # a chance of 1/2: each game tells 1/4, and a chance moves by 1/4 of the strength
    expected = [[0, 4 / 10, 4 / 10 + 4 / 40], [4 / 10, 0, 4 / 40], [4 / 10 + 4 / 40, 4 / 40, 0]]
    assert widths == pytest.approx(np.sqrt(expected) / 4, abs=1e-6)
    far = interval_widths(total, np.array([0.0, 0.0, 9.0]))
    assert far[0, 1] == pytest.approx(widths[0, 1]) and far[1, 2] < 1e-3  # nobody doubts who wins


@pytest.mark.parametrize("agents", [2, 3, 6])
def test_imaginary_games_tell_as_much_of_an_agent_however_many_there_are(agents):
    """Each agent wins and loses as many; between equals a game tells 1/4."""
    told = np.diag(adaptive.prior_information(np.zeros(agents)))
    assert told == pytest.approx(2 * IMAGINARY_WINS / 4)


def test_games_go_to_the_close_pair():
    tables = compositions(3, 2)
    chosen = Counter(choose_tables(tables, tables, np.array([0.0, 6.0, 6.2]), 60, 2))
    assert chosen[1, 2] > 2 * (chosen[0, 1] + chosen[0, 2])


def test_the_next_round_goes_where_least_is_known():
    tables = compositions(4, 2)
    played = [table for table in tables for _ in range(40 if 3 not in table else 5)]
    chosen = choose_tables(tables, played, np.zeros(4), 12, 2)
    assert all(3 in table for table in chosen)
    assert Counter(table[0] for table in chosen) == {0: 4, 1: 4, 2: 4}


def test_a_round_tells_as_much_as_all_its_games():
    """Beside what is known from the imaginary games, that decides which round tells most."""
    tables, strength, chosen = compositions(3, 2), np.array([-0.3, 2.7, -1.3]), []
    played = [tables[number] for number in (1, 1, 0, 1, 0, 1, 2)]
    for games in (1, 8):
        told = [games * information(table, strength) for table in tables]
        known = adaptive.prior_information(strength) + sum(told[tables.index(table)] for table in played)
        chosen += choose_tables(tables, played, strength, 1, games)
        widths = [interval_widths(known + its, strength).sum() for its in told]
        assert chosen[-1] == tables[int(np.argmin(widths))]
    assert chosen == [(0, 2), (0, 1)]


def test_no_table_is_forgotten():
    tables = compositions(3, 4)
    chosen = choose_tables(tables, tables, np.array([0.0, 0.1, 8.0]), 400, 4)
    counts = Counter([*tables, *chosen])
    assert min(counts.values()) >= adaptive.FLOOR * (409 / 9) - 1 and max(counts.values()) > 2 * 409 / 9


@pytest.mark.parametrize(("agents", "seats"), [(4, 4), (3, 4), (5, 3)])
def test_alone_and_mixed_tables_keep_their_shares(agents, seats):
    """A mixed table tells most under the model. Still it gets no more rounds than in a balanced tournament."""
    tables = compositions(agents, seats)
    strength = np.linspace(0.0, 2.0, agents)
    played = Counter([*tables, *choose_tables(tables, tables, strength, 20 * len(tables), seats)])
    alone = [played[table] for table in tables if adaptive.is_alone(table)]
    mixed = [played[table] for table in tables if not adaptive.is_alone(table)]
    assert len(alone) == agents * (agents - 1) and mixed
    assert np.mean(mixed) == pytest.approx(np.mean(alone), abs=1)
    assert max(alone) > 2 * min(alone)


def test_alone_tables():
    assert [adaptive.is_alone(table) for table in [(0, 1), (0, 1, 1), (0, 0, 0, 1)]] == [True] * 3
    assert [adaptive.is_alone(table) for table in [(0, 1, 2), (0, 0, 1, 1), (0, 1, 1, 2)]] == [False] * 3


def test_chosen_tables_tell_more_than_balanced_ones():
    strength, tables = np.array([0.0, 1.0, 2.5, 6.0]), compositions(4, 4)
    told = {table: 4 * information(table, strength) for table in tables}
    prior = adaptive.prior_information(strength)
    chosen = choose_tables(tables, tables, strength, 5 * len(tables), 4)
    adapted = interval_widths(prior + sum(told[table] for table in [*tables, *chosen]), strength)
    balanced = interval_widths(prior + 6 * sum(told.values()), strength)
    assert adapted.sum() < 0.9 * balanced.sum()


def test_seatings_differ_between_rounds_of_one_table():
    schedule = AdaptiveSchedule(3, 4, 0, [[(0, 0, 1, 2)] * 30])
    assert len({schedule[4 * place].agents for place in range(30)}) > 5


def finished(schedule: AdaptiveSchedule, number: int) -> GameResult:
    """A made-up result: agents with larger indices are better, more or less."""
    game = schedule[number]
    specs = tuple("abc"[agent] for agent in game.agents)
    luck = np.random.default_rng(game.seed).normal(size=len(specs))
    order = np.argsort(-(np.array(game.agents) + luck))
    ranks = np.empty(len(specs), int)
    ranks[order] = np.arange(1, len(specs) + 1)
    zeros = (0,) * len(specs)
    return GameResult(number, game.seed, specs, tuple(ranks.tolist()), zeros, zeros, 1, "terminated")


def test_stages_repeat_and_seats_are_balanced():
    schedules = [AdaptiveSchedule(3, 4, 7) for _ in range(2)]
    for schedule in schedules:
        for _ in range(5):
            schedule.choose_stage([finished(schedule, number) for number in range(schedule.known)], "abc")
    assert schedules[0].stages == schedules[1].stages
    assert schedules[0].stages[0] == list(compositions(3, 4)) and len(schedules[0].stages) == 5
    again = AdaptiveSchedule(3, 4, 7, schedules[0].stages)
    assert [again[number] for number in range(again.known)] == [schedules[0][number] for number in range(again.known)]
    on_seat = Counter((agent, seat) for i in range(again.known) for seat, agent in enumerate(again[i].agents))
    assert all(len({on_seat[agent, seat] for seat in range(4)}) == 1 for agent in range(3))
    assert len({again[number].seed for number in range(again.known)}) == again.known
    with pytest.raises(ValueError, match="0 results, but the schedule goes up to game"):
        again.choose_stage([], "abc")


@pytest.mark.parametrize(("rounds", "following"), [(9, 9), (80, 9), (120, 12), (306, 31)])
def test_a_stage_is_as_long_as_a_block_or_a_tenth_of_all_rounds(rounds, following):
    tables = compositions(3, 4)
    schedule = AdaptiveSchedule(3, 4, 7, [[tables[number % 9] for number in range(rounds)]])
    stage = schedule.choose_stage([finished(schedule, number) for number in range(schedule.known)], "abc")
    assert len(stage) == following and schedule.known == 4 * (rounds + following)


def test_rounding_up():
    schedule = AdaptiveSchedule(2, 4, 0)
    assert [schedule.whole_rounds(games) for games in (1, 12, 13, 16, 17)] == [12, 12, 16, 16, 20]


def run(out: Path, games: int) -> None:
    settings = {"players": 4, "processes": 1, "bootstrap": 40, "adaptive": True}
    assert PlayTournament(game=GAME, out=out, games=games, **settings).run(Console(quiet=True)) == 0


def content(out: Path) -> list[list[tuple]]:
    database = sqlite3.connect(out / "games.sqlite")
    try:
        games = "SELECT number, seed, agents, ranks, scores, returns, length FROM games ORDER BY number"
        return [database.execute(query).fetchall() for query in (games, "SELECT * FROM rounds ORDER BY number")]
    finally:
        database.close()


def test_a_ledger_is_enough_to_go_on(tmp_path):
    run(tmp_path / "once", 96)
    whole = content(tmp_path / "once")
    assert len(whole[0]) == 96 and len(whole[1]) >= 24
    run(tmp_path / "hit", 48)
    database = sqlite3.connect(tmp_path / "hit" / "games.sqlite")
    database.execute(
        "DELETE FROM games WHERE number IN (3, 17, 30) OR number > 40"
    )  # as if killed between transactions
    database.commit()
    database.close()
    run(tmp_path / "hit", 96)
    assert content(tmp_path / "hit") == whole
    data = json.loads((tmp_path / "once" / "leaderboard.json").read_text())
    assert data["adaptive"] and data["games"] == 96
    assert "adaptive" in (tmp_path / "once" / "results.md").read_text()


def test_choices_survive_without_the_rounds(tmp_path):
    """What is written is what would be chosen again."""
    run(tmp_path, 60)
    before = content(tmp_path)
    specs, config = ("uniform", "greedy"), kepler_envs.load_game(GAME).configure(4)
    results = [
        GameResult(number, seed, tuple(json.loads(names)), tuple(json.loads(ranks)), (), (), length, "terminated")
        for number, seed, names, ranks, _, _, length in before[0]
    ]
    schedule = AdaptiveSchedule(2, config.num_players, 0)
    while schedule.known < 60:
        schedule.choose_stage(results[: schedule.known], specs)
    chosen = [(stage, json.dumps(table)) for stage, tables in enumerate(schedule.stages) for table in tables]
    assert [row[1:3] for row in before[1]] == chosen


def test_tables_that_are_the_same_are_one_table():
    """With two agents on three seats, mixed tables are those where one is alone."""
    schedule = AdaptiveSchedule(2, 3, 0)
    assert sorted(schedule.compositions) == [(0, 0, 1), (0, 1, 1)] and schedule.block == 6
    chosen = Counter(choose_tables(schedule.compositions, schedule.compositions, np.array([0.0, 4.0]), 60, 3))
    assert max(chosen.values()) > 2 * min(chosen.values())
