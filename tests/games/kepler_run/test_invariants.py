"""Every invariant after every decision of random games: all player counts, options and component files."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kepler_envs.engine.game import TERMINATED, Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.kepler_run.state import Node
from tests.choosing import Chooser, eager, scripted, uniform
from tests.component_file import Rows, own_rows, write_rows
from tests.effort import DEEP, games_to_play
from tests.games.kepler_run.invariants import EAGER, check_decision, check_invariants
from tests.games.kepler_run.scenario import GAME, SOURCES, Position
from tests.scenario import checked_game

PLAYER_COUNTS = range(2, 6)
LONGEST = {2: 102, 3: 189, 4: 300, 5: 435}
"""Bounds on the decisions of a game, section 9 of the specification."""


def play_checked(config: Configuration, seed: int, choose: Chooser) -> tuple[Snapshot, Counter[str]]:
    """Play a game to its end and check each position and decision; the last position and what happened."""
    events: Counter[str] = Counter()
    for before, action, position in checked_game(config, seed, choose, check_invariants, check_decision):  # noqa: B007
        events[config.actions.block_of(action).name] += 1
        events[before.node.name] += 1
    check_result(position)
    return position, events


def check_result(position: Snapshot) -> None:
    """Places, scores and returns of section 6."""
    ranks, scores, returns = (values.tolist() for values in position.results())
    seats = Position.read(position.state).seats
    results = [(seat.vp, seat.fuel) for seat in seats]
    assert ranks == [1 + sum(other > own for other in results) for own in results]
    assert scores == [seat.vp for seat in seats]
    n, winners = len(seats), ranks.count(1)
    if position.config.values["reward_mode"] == "win":
        expected = [(n - winners) / (winners * (n - 1)) if place == 1 else -1 / (n - 1) for place in ranks]
    else:
        shared = [place + (ranks.count(place) - 1) / 2 for place in ranks]
        expected = [1 - 2 * (place - 1) / (n - 1) for place in shared]
    assert np.allclose(returns, expected)
    assert position.state["end"] == TERMINATED and position.node == Node.OVER


@pytest.mark.parametrize("players", PLAYER_COUNTS)
@settings(max_examples=200 if DEEP else 6)
@given(
    seed=st.integers(0, 2**64 - 1),
    choices=st.lists(st.integers(0, 1000), max_size=40),
    eagerness=st.sampled_from([0.0, 0.5, 0.95]),
    seat_fuel=st.booleans(),
    reward_mode=st.sampled_from(["rank", "win"]),
)
def test_random_games(
    players: int, seed: int, choices: list[int], eagerness: float, seat_fuel: bool, reward_mode: str
) -> None:
    config = GAME.configure(players, seat_fuel=seat_fuel, reward_mode=reward_mode)
    position, _ = play_checked(config, seed, scripted(choices, eager(seed, EAGER, eagerness)))
    assert position.state["decisions"] <= LONGEST[players]


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_random_games_get_everywhere(players: int) -> None:
    """Every kind of decision is made, and points come from everywhere."""
    events: Counter[str] = Counter()
    config = GAME.configure(players)
    for seed in range(games_to_play(8)):
        position, seen = play_checked(config, seed, eager(seed, EAGER, 0.8) if seed % 2 else uniform(seed))
        events += seen
        for seat in Position.read(position.state).seats:
            events.update(seat.points)
    names = {block.name for block in GAME.actions.blocks} | {node.name for node in Node if node != Node.OVER}
    assert not [name for name in (*names, *SOURCES) if events[name] == 0]


def test_first_player_of_seat0() -> None:
    config = GAME.configure(4, first_player="seat0")
    assert {tuple(Position.read(Snapshot.deal(config, seed).state).order) for seed in range(20)} == {(0, 1, 2, 3)}


def test_setup_is_fair() -> None:
    """Ships, first player and the first card are uniform."""
    config = GAME.configure(3)
    deals = [Position.read(Snapshot.deal(config, seed).state) for seed in range(3000)]
    for counts, expected in (
        (Counter(deal.order[0] for deal in deals), 1000),
        (Counter(deal.seats[1].ship for deal in deals), 600),
        (Counter(deal.run[0] for deal in deals), 75),
        (Counter(deal.deck[-1] for deal in deals), 75),
    ):
        chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
        assert len(counts) == 3000 // expected and chi_square < 2 * len(counts) + 20


# ---------------------------------------------------------------- other component files


def changed_rows(numbers: dict[str, int], cards: list[dict[str, Any]]) -> Rows:
    """The game's own component file with other numbers and cards."""
    rows = own_rows("kepler_run")
    for row in rows["numbers"]:
        row["value"] = numbers.get(row["name"], row["value"])
    rows["game_cards"] = [{"id": card, **row, "prov": "D"} for card, row in enumerate(cards)]
    return rows


CARDS = st.fixed_dictionaries(
    {
        "type": st.integers(0, 4),
        "cost": st.integers(0, 4),
        "wrenches": st.integers(0, 3),
        "part_kind": st.integers(0, 6),
        "dots": st.integers(0, 2),
        "asteroids": st.integers(0, 1),
        "comets": st.integers(0, 1),
        "station": st.integers(0, 1),
        "action": st.integers(0, 3),
        "vp": st.integers(0, 2),
    }
)
NUMBERS = st.fixed_dictionaries(
    {
        "rounds": st.integers(1, 3),
        "start_modules": st.integers(0, 6),
        "boxes": st.integers(6, 10),
        "fuel_cap": st.integers(5, 10),
        "disks": st.integers(0, 6),
        "port_cost": st.integers(0, 2),
        "booster_dots": st.integers(0, 2),
        "refuel": st.integers(0, 4),
        "station_fuel": st.integers(0, 4),
    }
)


@settings(max_examples=100 if DEEP else 8)
@given(
    seed=st.integers(0, 1000), numbers=NUMBERS, cards=st.lists(CARDS, min_size=30, max_size=40),
    players=st.integers(2, 4)
)  # fmt: skip
def test_games_with_other_cards(
    tmp_path_factory: pytest.TempPathFactory, seed: int, numbers: dict[str, int], cards: list[dict[str, int]],
    players: int
) -> None:  # fmt: skip
    path = write_rows(tmp_path_factory.mktemp("cards") / "mine.toml", changed_rows(numbers, cards))
    config = GAME.configure(players, components=path, seat_fuel=bool(seed % 2))
    play_checked(config, seed, eager(seed, EAGER, 0.7))
