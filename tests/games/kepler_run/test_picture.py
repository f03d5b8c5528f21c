"""Pictures and texts of positions built by hand: what they say, and what they must not give away."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kepler_envs import Snapshot
from kepler_envs.engine.game import TERMINATED
from kepler_envs.games.kepler_run.actions import TARGET
from kepler_envs.games.kepler_run.components import DEFAULT_FILE, action_names, part_names
from kepler_envs.games.kepler_run.picture import COLUMNS, explain
from kepler_envs.games.kepler_run.state import NUM_TYPES, Node
from kepler_envs.rules import rules_text
from tests.component_file import changed, own_text, write, write_rows
from tests.contract.subjects import play
from tests.games.kepler_run.extremes import largest
from tests.games.kepler_run.scenario import GAME, Seat, flight, scenario
from tests.pictures import hints, labels, lines, shapes, sides


def drafting(**fields: Any) -> Snapshot:
    return scenario([0, 13], Seat(ship=0), Seat(ship=3), row=[8, 6, 7, 1, 4], **fields)


# ---------------------------------------------------------------- facts


def test_header_says_round_player_and_question() -> None:
    position = drafting(turn=1, round=1)
    for fact in ("round 2 of 3", "player_1: a card of the row and its use", "Deck 33", "all contracts open"):
        assert fact in labels(position)
    assert lines(position)[:3] == [
        "Kepler Run   round 2 of 3   all contracts open",
        "player_1: a card of the row and its use",
        "turn order player_0 player_1   deck 33",
    ]


def test_row_shows_every_use_of_a_card() -> None:
    rows = [line.split() for line in lines(drafting()) if "wrench" in line]
    assert " ".join(rows[0]) == "row 1 Warped space cost 1 bypass Black hole (1) for 0 wrenches; REFUEL"
    assert " ".join(rows[1]) == "2 Debris field cost 3 comets, stations SLING (1) for 2 wrenches, 1 VP"
    assert " ".join(rows[2]) == "3 Debris field cost 3 asteroids, stations JUMP (0) for 2 wrenches, 1 VP; OUTPOST"
    assert "Debris field, cost 3, comets, stations; SLING (1) for 2 wrenches, 1 VP" in hints(drafting())
    shown = labels(drafting())
    assert shown.count("REFUEL") == shown.count("OUTPOST") == shown.count("SLING") == 1 and shown.count("1 VP") == 3


def test_what_does_not_fit_a_line_goes_on_in_the_next() -> None:
    position = scenario([0, 13], Seat(ship=0, parts=[1, 2, 3, 4, 5, 6]), Seat(ship=3), row=[8, 7])
    said = " ".join(position.text().partition("parts ")[2].split())
    assert said.startswith(
        "bypass Black hole (0), JUMP (2), bypass Nebula (1), bypass Solar flare (0), JUMP (1), SLING (1)"
    )


def test_taken_cards_leave_empty_slots() -> None:
    after = drafting().apply(1)  # slot 2 becomes a sector
    assert [line[5:7].strip() for line in lines(after) if "wrench" in line] == ["1", "3", "4", "5"]
    assert "Kepler Run: 3 sectors" in labels(after)


def test_run_shows_sectors_disks_and_pawns() -> None:
    position = flight([0, 13, 22, 24], Seat(ship=0, place=3, tank=4, disks=3), disks={1: 0})
    run = [" ".join(line.split()) for line in lines(position)[5:11]]
    assert run == [
        "run 0 Port <- player_1",
        "1 Debris field cost 1",
        "2 Warped space cost 2 stations disk of player_0",
        "3 Black hole cost 3 comets, stations <- player_0",
        "4 Nebula cost 1",
        "5 Kepler",
    ]
    assert "Warped space, cost 2, stations, disk of player_0" in hints(position)
    assert "flying, tank 4" in labels(position) and "at Port" in labels(position)


def test_ships_show_modules_fuel_parts_and_deliveries() -> None:
    flyer = Seat(
        ship=2, modules=5, fuel=3, tank=2, place=1, parts=[6, 1], used_parts={6}, deliveries=[3], used_deliveries={3}
    )
    flyer.booster_used = True
    words = "\n".join(lines(flight([0, 13, 22, 24], flyer)))
    assert "modules 5/6   fuel 3   disks 4   black ship, free in Black hole" in words
    assert "parts SLING (1) used, bypass Black hole (0)" in words and "deliveries Debris field made" in words
    assert "tank 2, booster used" in words
    shown = labels(flight([0, 13, 22, 24], flyer))
    assert "fuel 3" in shown and "free in Black hole" in shown and shown.count("booster") == 1  # the other's


def test_contracts_of_others_are_closed() -> None:
    seats = Seat(ship=0, contract=1), Seat(ship=1, contract=2), Seat(ship=2, contract=0, hand=[0, 1])
    position = scenario([0, 1], *seats, node=Node.FLY, draft_pos=6, completed_by=[None, None, 2], turn=0)
    own = "\n".join(lines(position, 1))
    assert "asteroids comets stations; chosen: stations" in own
    assert own.count("; one is chosen") == 2 and own.count("; chosen") == 1
    assert "seen by player_1" in own and "player_1   (viewer)" in own
    assert position.text().count("; chosen") == 3
    assert labels(position, 1).count("contract chosen") == 2 and labels(position).count("contract chosen") == 0
    assert "stations done by player_2" in own and "stations done" in labels(position)


def test_nothing_hidden_shows() -> None:
    """Positions that a seat cannot tell apart look the same to it."""
    for players in (2, 5):
        for number, (position, _) in enumerate(play(GAME.configure(players), 4)):
            seat, other = number % players, position.resample(number % players, 99)
            assert position.text(seat) == other.text(seat)
            if number % 10 == 0:
                assert position.drawing(seat).svg() == other.drawing(seat).svg()


def test_target_and_contract_questions() -> None:
    reroute = scenario([0, 1, 13], Seat(ship=0), Seat(ship=3), row=[3, 6, 7, 1, 4]).apply(33)
    assert "player_0: a sector for REROUTE" in labels(reroute)
    words = explain(reroute.state, reroute.config, reroute.legal_actions())
    assert words[TARGET + 1].startswith("Debris field, cost 1, asteroids, changes places with Warped space, cost 2")
    outpost = scenario([13, 21], Seat(ship=0), Seat(ship=3), row=[7, 6, 3, 1, 4]).apply(33)
    assert explain(outpost.state, outpost.config, [TARGET]) == {TARGET: "Warped space, cost 2, stations"}
    choosing = scenario([0, 1], Seat(ship=0), Seat(ship=1), node=Node.CONTRACT, draft_pos=4)
    assert "player_0: a contract for this round" in labels(choosing)
    loading = scenario(
        [0, 1], Seat(ship=0, fuel=2, contract=0, tank=4), Seat(ship=1, contract=0), node=Node.LOAD, draft_pos=4
    )
    assert "player_0: fuel to take along from the ship" in labels(loading)


def test_the_rules_card_names_what_a_card_can_say() -> None:
    tables = scenario([0, 1], Seat(ship=0), Seat(ship=1)).config.tables[0]
    card = rules_text(GAME)
    assert all(word in card for word in (*action_names(tables), *part_names(tables)[NUM_TYPES:]))


def test_the_rules_card_has_the_prizes() -> None:
    """Points of each contract for whoever completes it, and which of them pays fuel to the others."""
    tables = scenario([0, 1], Seat(ship=0), Seat(ship=1)).config.tables[0]
    card = " ".join(rules_text(GAME).split())
    asteroids, comets, stations = (int(points) for points in tables["complete_vp"])
    assert comets == stations and f"{asteroids} points for asteroids, {comets} for comets or stations" in card
    assert tables["secondary_fuel"].tolist() == [1, 0, 0] and tables["secondary_vp"].tolist() == [0, 1, 1]
    assert "a point for each icon they crossed, for asteroids a fuel for the ship instead" in card
    first, later = int(tables["first_arrival_vp"]), int(tables["later_arrival_vp"])
    assert f"is worth {first} points, a later one {later}" in card


@pytest.mark.parametrize(
    ("points", "fuel", "result", "ranks"),
    [((20, 24), (0, 0), "player_1 wins", (2, 1)), ((24, 24), (1, 1), "player_0 and player_1 win", (1, 1))],
)
def test_the_end_shows_result_ranks_and_sources(
    points: tuple[int, int], fuel: tuple[int, int], result: str, ranks: tuple[int, int]
) -> None:
    seats = [Seat(ship=ship, fuel=amount) for ship, amount in enumerate(fuel)]
    for seat, number in zip(seats, points, strict=True):
        seat.points["kepler"], seat.points["closest"] = number - 3, 3
    end = scenario([0, 1], *seats, node=Node.OVER, end=TERMINATED, round=2, draft_pos=4)
    assert result in labels(end) and "after 3 rounds" in labels(end)
    assert [label for label in labels(end) if label.startswith("rank ")] == [f"rank {rank}" for rank in ranks]
    assert f"VP from kepler {points[1] - 3}, closest 3" in end.text()


# ---------------------------------------------------------------- form


@pytest.mark.parametrize("players", range(2, 6))
def test_pictures_and_texts_of_whole_games(players: int) -> None:
    """One size for all positions of a game; texts fit a terminal."""
    sizes = set()
    for number, (position, _) in enumerate(play(GAME.configure(players), 2)):
        assert all(len(line) <= COLUMNS and line == line.rstrip() for line in lines(position))
        if number % 8 == 0 or position.over:
            drawing = position.drawing(number % players)
            sizes.add((drawing.width, drawing.height))
            ElementTree.fromstring(drawing.svg())
    assert len(sizes) == 1


def test_pixels() -> None:
    pixels = drafting().drawing().rgb(0.5)
    assert pixels.dtype == np.uint8 and pixels.shape[1] == 640 and len(np.unique(pixels)) > 50


def full_cards(tmp_path: Path) -> Snapshot:
    """A position with cards that have as much of everything as a component file may give them."""
    rows = largest(2)
    for row in rows["game_cards"]:
        row |= {"wrenches": 10, "dots": 9, "action": 1}
    return drafting(config=GAME.configure(2, components=write_rows(tmp_path / "full.toml", rows)))


def test_the_fullest_cards_of_other_files_keep_within_their_frames(tmp_path: Path) -> None:
    position = full_cards(tmp_path)
    cards = shapes(position, "3 asteroids, 3 comets, 3 stations")
    assert len(cards) == 2 + 5  # of the run and of the row
    for frame, *inside in cards:
        left, right = sides(frame)
        assert all(left <= sides(shape)[0] and sides(shape)[1] <= right for shape in inside)


def test_many_icons_wrenches_and_dots_are_numbers(tmp_path: Path) -> None:
    shown = labels(full_cards(tmp_path))
    assert shown.count("x3") == 3 * 7 and shown.count("x10") == shown.count("x9") == 5
    assert not [label for label in labels(drafting()) if label.startswith("x")]


def test_long_names_of_types_are_whole(tmp_path: Path) -> None:
    """Those of sectors in the run and of cards in the row: only their last letters may differ."""
    text = own_text("kepler_run")
    for old, new in (("Warped space", "Singing asteroids A"), ("Debris field", "Singing asteroids B")):
        text = changed(text, f'"{old}"', f'"{new}"')
    position = drafting(config=GAME.configure(2, components=write(tmp_path, text)))
    columns = [line[:40].split(" cost ") for line in lines(position) if " cost " in line]
    assert {name[9:].strip() for name, _ in columns} == {"Singing asteroids A", "Singing asteroids B"}
    assert len({len(name) for name, _ in columns}) == 1


def test_names_of_other_files_are_shown_and_escaped(tmp_path: Any) -> None:
    path = tmp_path / "mine.toml"
    text = DEFAULT_FILE.read_text(encoding="utf-8").replace('"Debris field"', '"<Dust> & ice"')
    path.write_text(text.replace('"REFUEL"', '"TOP UP"'), encoding="utf-8")
    position = drafting(config=GAME.configure(2, components=path))
    assert "<Dust> & ice" in position.text() and "TOP UP" in labels(position)
    assert any("<Dust> & ice" in label for label in labels(position))
