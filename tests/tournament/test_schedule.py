"""The schedule's balance, counted exactly."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations

import numpy as np
import pytest

from kepler_envs.tournament.adaptive import AdaptiveSchedule
from kepler_envs.tournament.pairing import parts_of
from kepler_envs.tournament.schedule import Schedule, ScheduledGame, count_tables, stand_in_seed

SIZES = [(agents, seats) for agents in (2, 3, 4, 5, 7) for seats in (2, 3, 4, 5, 8)]


@pytest.mark.parametrize(("agents", "seats"), SIZES)
def test_a_block_is_balanced(agents, seats):
    schedule = Schedule(agents, seats, 3)
    for block in (0, 4):
        games = [schedule[block * schedule.block + place] for place in range(schedule.block)]
        on_seat = Counter((agent, seat) for game in games for seat, agent in enumerate(game.agents))
        assert len(set(on_seat.values())) == 1 and len(on_seat) == agents * seats
        meetings: Counter[tuple[int, int]] = Counter()
        for game in games:
            meetings.update(tuple(sorted(pair)) for pair in combinations(game.agents, 2) if pair[0] != pair[1])
        assert len(set(meetings.values())) == 1 and len(meetings) == agents * (agents - 1) // 2


@pytest.mark.parametrize(("agents", "seats"), SIZES)
def test_every_pairing_is_played_from_every_seat(agents, seats):
    schedule = Schedule(agents, seats, 3)
    tables = Counter(schedule[number].agents for number in range(schedule.block))
    for one, other in permutations(range(agents), 2):
        for seat in range(seats):
            assert tables[tuple(one if place == seat else other for place in range(seats))] >= 1


@pytest.mark.parametrize(("agents", "seats"), SIZES)
def test_tables_are_counted_without_listing_them(agents, seats):
    assert count_tables(agents, seats) == len(Schedule(agents, seats, 3).compositions)
    assert count_tables(40, 8) == 40 * 39 + 76_904_685  # n (n - 1) and n over 8


def test_blocks_by_hand():
    assert Schedule(2, 2, 0).compositions == ((0, 1),)
    assert Schedule(2, 4, 0).compositions == ((0, 1, 1, 1), (0, 0, 0, 1), (0, 0, 1, 1))
    assert Schedule(3, 4, 0).compositions[6:] == ((0, 0, 1, 2), (0, 1, 1, 2), (0, 1, 2, 2))
    assert Schedule(5, 4, 0).block == (20 + 5) * 4
    assert [Schedule(2, 4, 0).whole_rounds(games) for games in (0, 1, 12, 13)] == [0, 12, 12, 24]


def test_seatings_differ_between_blocks_and_seeds():
    schedule = Schedule(3, 5, 0)

    def seatings(schedule: Schedule, block: int) -> list[tuple[int, ...]]:
        return [schedule[block * schedule.block + place].agents for place in range(schedule.block)]

    assert seatings(schedule, 0) == seatings(Schedule(3, 5, 0), 0)
    assert seatings(schedule, 0) != seatings(schedule, 1)
    assert seatings(schedule, 0) != seatings(Schedule(3, 5, 1), 0)


def test_every_table_has_a_random_order_of_its_own():
    """Of the 35 tables of four different agents, few are seated alike; 24 orders are possible."""
    schedule = Schedule(7, 4, 0)
    mixed = [number for number, table in enumerate(schedule.compositions) if len(set(table)) == 4]
    orders = [np.argsort(schedule[4 * number].agents).tolist() for number in mixed]
    assert len(orders) == 35 and len(set(map(tuple, orders))) > 12


def test_seeds_are_distinct_and_repeat():
    schedule = Schedule(3, 4, 0)
    games = [schedule[number] for number in range(2000)]
    seeds = [game.seed for game in games] + [seed for game in games for seed in set(game.agent_seeds)]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert [Schedule(3, 4, 0)[number] for number in range(2000)] == games
    assert Schedule(3, 4, 1)[0].seed != games[0].seed


def test_a_tournament_begun_by_an_earlier_version_goes_on():
    """Its ledger holds games that this version plays again, and it would not play the missing ones otherwise."""
    own = {0: 5191317289821016647, 1: 3025714648123181289, 2: 5407827293178686995}
    game = ScheduledGame(29, (1, 2, 0, 1), 1380313749858714631, (own[1], own[2], own[0], own[1]))
    assert Schedule(3, 4, 7)[29] == game
    assert stand_in_seed(game) == 6128049008474306520


def test_an_agent_has_one_seed_at_a_table():
    for number in range(200):
        game = Schedule(2, 5, 0)[number]
        assert len(set(zip(game.agents, game.agent_seeds, strict=True))) == len(set(game.agents)) == 2


def test_who_plays_on_after_a_forfeit_draws_otherwise_than_the_game_and_its_agents():
    for number in range(50):
        game = Schedule(3, 4, 0)[number]
        assert stand_in_seed(game) not in (game.seed, *game.agent_seeds)


@pytest.mark.parametrize("kind", [Schedule, AdaptiveSchedule])
def test_what_is_no_tournament_is_refused(kind):
    with pytest.raises(ValueError, match="at least 2 agents, not 1"):
        kind(1, 4, 0)
    with pytest.raises(ValueError, match="at least 2 seats, not 1"):
        kind(2, 1, 0)
    with pytest.raises(ValueError, match=r"allowed: an integer 0\.\.2\*\*64 - 1"):
        kind(2, 4, -1)


@pytest.mark.parametrize("kind", [Schedule, AdaptiveSchedule])
def test_fewer_games_than_none_are_refused(kind):
    with pytest.raises(ValueError, match="games = -1 is not allowed; allowed: an integer from 0 on"):
        kind(2, 4, 0).whole_rounds(-1)


def test_a_game_that_no_schedule_has_is_refused():
    with pytest.raises(IndexError, match="there is no game -1; allowed: from 0 on"):
        Schedule(2, 4, 0)[-1]
    adaptive = AdaptiveSchedule(2, 4, 0, [[(0, 1, 1, 1)]])
    assert adaptive[3].number == 3
    for number in (-1, 4):
        with pytest.raises(IndexError, match=f"there is no game {number}; allowed: 0..3"):
            adaptive[number]


@pytest.mark.parametrize(("games", "at_a_time"), [(0, 8), (-4, 8), (8, 0), (8, -4)])
def test_parts_of_no_games_are_refused(games, at_a_time):
    """Nothing would be played, and nobody told."""
    wrong = "games" if games < 1 else "at_a_time"
    with pytest.raises(ValueError, match=f"{wrong} = .* is not allowed; allowed: an integer from 1 on"):
        next(parts_of(games, at_a_time, 4, 0))


def test_parts_fill_every_seat():
    assert [part.games for part in parts_of(1, 1, 4, 0)] == [4]
    assert [part.games for part in parts_of(9, 5, 4, 0)] == [8, 4]
