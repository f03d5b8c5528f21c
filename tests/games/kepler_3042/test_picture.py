"""Pictures and texts show what lies on the table, and to a seat only what it may see."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from kepler_envs.engine.game import TERMINATED
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.kepler_3042.components import DEFAULT_FILE
from kepler_envs.games.kepler_3042.picture import (
    COLUMNS,
    DRAWN_WIDTH,
    GOLD,
    LEGEND,
    MARGIN,
    QUESTIONS,
    SEAT_COLOURS,
    TYPE_COLOURS,
    explain,
    look,
)
from kepler_envs.games.kepler_3042.state import Node, Phase
from tests.component_file import write
from tests.games.kepler_3042.purposeful import purposeful
from tests.games.kepler_3042.scenario import GAME, MINE, SOL, TARGET, Play, scenario, to_hex
from tests.pictures import SVG, hints, labels


def test_header() -> None:
    game = scenario(card=9)
    for fact in ("round 1 of 16", "player_0: choose a main action", "everything open", "Solar Harvest", "produce 2E"):
        assert fact in labels(game.snapshot)
    assert "seen by player_2" in labels(game.snapshot, 2)
    assert game.snapshot.text().splitlines()[:2] == [
        "Kepler-3042, round 1 of 16 (everything open)", "player_0: choose a main action",
    ]  # fmt: skip


@pytest.mark.parametrize("number", [1, 2])
def test_one_space_and_one_tile(number: int, tmp_path: Path) -> None:
    """Cards of one's own may give a single one."""
    text = DEFAULT_FILE.read_text(encoding="utf-8")
    text = text.replace("spaces = 2", f"spaces = {number}").replace("tech = 0, n = 2", f"tech = 0, n = {number}")
    config = GAME.configure(2, components=write(tmp_path, text))
    shown = [effect for card in (15, 16) for effect in labels(scenario(config=config, card=card).snapshot)]
    assert {1: {"move 1 space", "turn up 1 tile"}, 2: {"move 2 spaces", "turn up 2 tiles"}}[number] <= set(shown)


def table() -> Play:
    bodies = {148: 27, 193: MINE, 239: TARGET, 30: 5, 60: 6}
    seats = {0: {"ships": [145, 193, None]}, 1: {"planets": [5], "ships": [148, None, None]}, 2: {"planets": [6]}}
    return scenario(bodies=bodies, seats=seats, terraformed={6})


def test_the_map_in_words() -> None:
    game = table()
    text = game.snapshot.text()
    for cell in ("27'", "Mi'", "Ta ", "5b ", "6C ", "a1 ", "Sol", "Sgr", "***"):
        assert cell in text, cell
    for line in LEGEND:
        assert line in text
    shown = hints(game.snapshot)
    assert "hex 148 (row 6, column 16), planet 27, alien, starship 1 of player_1" in shown
    assert "hex 193 (row 8, column 17), a mine, starship 2 of player_0" in shown
    assert "hex 239 (row 10, column 19), a colonial target" in shown
    assert "hex 30 (row 1, column 8), planet 5, super-Earth, colonised by player_1" in shown
    assert "hex 60 (row 2, column 16), planet 6, rocky, terraformed by player_2" in shown
    assert f"hex {SOL} (row 9, column 10), Sol" in shown and "hex 24 (row 1, column 2), single star" in shown


def test_face_down_tiles_are_hidden_from_seats() -> None:
    game = scenario()
    position = game.position
    place = min(set(position.tiles) - position.face_up)
    words = f"hex {place} (row {place // 22}, column {place % 22}), a tile face down"
    assert words in hints(game.snapshot, 1) and words in hints(game.snapshot)
    assert "??" in game.snapshot.text(1) and f"{position.tiles[place]}?" in game.snapshot.text()
    shown = look(game.snapshot.state, game.snapshot.config, 1).hexes[place]
    assert shown.tile and shown.body is None
    assert look(game.snapshot.state, game.snapshot.config).hexes[place].body == position.tiles[place]


def test_players() -> None:
    own = {"tech": [1, 2, 0, 3, 0], "track": [5, 7], "medals": [1, 0], "pit": [1, 0, 0], "objectives": {2}}
    game = scenario(seats={0: own}, earth=[2, 1, 0], colonies={2: [0, 1, 0]}, terraformed={2})
    text = game.snapshot.text(0)
    assert f"> a player_0  {game.scores()[0] - 4} points   cube on Terraforming   (first player, viewer)" in text
    assert "tech I 1 II 2 III 0 IV 3 V 0   colonial 5   technological 7   medals 1 + 0" in text
    assert "storage 4E 5M 3A   pit 1E 0M 0A   Earth: 2E 1M 0A" in text
    assert "2 RV-351016 (oceanic, " in text and "terraformed): 0E 1M 0A" in text
    objective = "objective: Atlantis Project (satisfied): terraform 1 planet of type oceanic, 4 VP"
    assert objective in " ".join(text.split()) and text.count("objective:") == 1
    assert objective in labels(game.snapshot, 0)
    assert labels(game.snapshot, 0).count("objective face down") == 3
    assert "objective face down" not in labels(game.snapshot)


def test_choices_on_the_way_are_told() -> None:
    own = {"tech": [3, 1, 0, 0, 0], "ships": [145, None, None]}
    game = scenario(seats={0: own}, earth=[3, 3, 0]).play("main action Stellar Propulsion")
    assert "3 spaces each" in game.snapshot.text() and "convert 1, allocate 1" in game.snapshot.text()
    game = scenario(seats={0: {**own, "tech": [1, 1, 0, 0, 0]}}, earth=[3, 3, 0]).play("main action Stellar Propulsion")
    assert "1 space each" in game.snapshot.text()
    own = {"tech": [3, 0, 0, 0, 0], "ships": [145, 146, None]}
    game = scenario(seats={0: own}, bodies={148: TARGET}).play("main action Stellar Propulsion", to_hex(148))
    assert "to hex 148 (row 6, column 16)" in game.snapshot.text()
    assert look(game.snapshot.state, game.snapshot.config).hexes[148].marked
    game.play("starship 2")
    assert "starship 2 with 1 of 3 spaces" in game.snapshot.text()
    assert look(game.snapshot.state, game.snapshot.config).hexes[148].marked
    game = scenario(seats={0: own}, earth=[3, 3, 0]).play("main action Space Missions", "with Earth")
    assert "    Space Missions, 2 left" in game.snapshot.text()
    assert look(game.snapshot.state, game.snapshot.config).hexes[SOL].marked


LEVELS = {
    # by technology: levels 1 and 4 of the specification
    "Space Travels": ("1E: speed 1", "2E 2M 1A: speed 6, starships for one energy"),
    "Quantum Physics": ("1M: 1 conversion, 1 allocation", "2E 2M 1A: any conversions, 4 allocations"),
    "Energy Development": (
        "1M: 2 energy from Energy Storage", "2E 2M 1A: 5 energy from Energy Storage, one burn for both bonus actions",
    ),
    "Terraforming": ("1E: 1 planet produces, terraforming up to level 1",
                     "2E 2M 1A: 3 planets produce, terraforming up to level 4"),
    "Antimatter Science": ("1E: 1 antimatter from Antimatter Generation",
                           "2E 2M 1A: 3 antimatter from Antimatter Generation, alien colonies"),
}  # fmt: skip


@pytest.mark.parametrize("level", [1, 4])
def test_what_a_technology_costs_and_brings_is_said(level: int) -> None:
    game = scenario(seats={0: {"tech": [level - 1] * 5}}, earth=[3, 3, 2])
    snapshot = game.play("main action Technological Development").snapshot
    said = explain(snapshot.state, snapshot.config, snapshot.legal_actions())
    words = {snapshot.config.actions.text(action): more for action, more in said.items()}
    for technology, levels in LEVELS.items():
        assert words[f"advance {technology}"] == f"to level {level} for {levels[level == 4]}"


def test_a_technology_that_is_free_has_no_cost() -> None:
    snapshot = Snapshot.deal(GAME.configure(2), 1)
    assert snapshot.node == Node.FIRST_TECHNOLOGY
    said = explain(snapshot.state, snapshot.config, snapshot.legal_actions())
    assert "to level 1: speed 1" in said.values() and not any(" for " in words for words in said.values())


def test_solo() -> None:
    """A level says from its start what wins it, and nobody is ranked."""
    game = Play(Snapshot.deal(GAME.configure(1, campaign=2, level=3), 1))
    text = game.snapshot.text(0)
    assert text.startswith("Kepler-3042, level 3, minimum 50, setup (seen by player_0)\n") and "ghost" in text
    aim = text.splitlines()[text.splitlines().index("Sagittarius A*, level 3: at least 50 points and all objectives") :]
    assert aim[1:] == [
        "    Eden Project: terraform 1 planet of type alien, 7 VP",
        "    Logistic Support: colonise 1 planet in each zone, 5 VP",
        "    Internal Logistics: terraform 2 planets in the short zone, 7 VP",
    ]
    assert {"ghost", "level 3, minimum 50, setup", *(line.strip() for line in aim)} < set(labels(game.snapshot))
    game.pass_to(Node.OVER)
    assert "the level is lost" in game.snapshot.text() and "rank" not in game.snapshot.text()
    assert not [label for label in labels(game.snapshot) if "rank" in label]
    assert GOLD not in edges(game.snapshot)


def edges(position: Snapshot) -> set[str | None]:
    """The strokes of wide frames."""
    shapes = ElementTree.fromstring(position.drawing().svg()).iter(SVG + "rect")
    return {shape.get("stroke") for shape in shapes if shape.get("width") == str(DRAWN_WIDTH - 2 * MARGIN)}


EVERY_OBJECTIVE = {60: 26, 62: 17, 188: 1, 190: 7, 100: 3}
"""Hexes and planets in the long, short and mid zone: all five terraformed satisfy each objective about planets."""


def level_position(campaign: int, level: int, satisfied: bool, **changes: Any) -> Snapshot:
    """A position of a level with all of its objectives satisfied, or none."""
    config = GAME.configure(1, campaign=campaign, level=level)
    planets = list(EVERY_OBJECTIVE.values())
    if satisfied:
        own = {"planets": planets, "tech": [4, 4, 0, 0, 0], "track": [14, 14]}
        changes |= {"earth": [0, 0, 3], "bodies": EVERY_OBJECTIVE, "terraformed": set(planets), "seats": {0: own}}
    return scenario(1, config=config, **changes).snapshot


@pytest.mark.parametrize("campaign", range(5))
def test_nothing_of_a_campaign_is_cut(campaign: int) -> None:
    moments: list[dict[str, Any]] = [{"round": number} for number in (1, 9, 10, 16)]
    moments += [{"round": number, "phase": Phase.CLEANUP, "flow": Node.CARD_TILE} for number in (1, 16)]
    moments.append({"round": 16, "phase": Phase.OVER, "flow": Node.OVER, "end": TERMINATED})
    for level, moment, satisfied in product(range(1, 5), moments, (False, True)):
        position = level_position(campaign, level, satisfied, **moment)
        shown, objectives = labels(position), position.config.tables[0]["campaign"][campaign, level]
        assert not [label for label in shown if label.endswith("...")]
        assert any(f"level {level}, minimum {20 + 10 * level}, round {moment['round']} of 16" in one for one in shown)
        said = [label for label in shown if label.endswith(" VP")]
        assert len(said) == level == int(objectives).bit_count()
        assert sum("(satisfied)" in label for label in said) == level * satisfied
        assert max(len(line) for line in position.text(0).split("\n")[:2]) <= COLUMNS
        if "end" in moment:
            won = bool(position.results()[2][0] > 0)
            assert ("the level is won" in shown) == won == (GOLD in edges(position))


@pytest.mark.parametrize("question", QUESTIONS.values())
def test_no_question_is_cut(question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(QUESTIONS, Node.MAIN_ACTION, question)
    assert f"player_0: {question}" in labels(scenario(2).snapshot)


def test_points_alone_are_those_that_the_minimum_counts() -> None:
    position = level_position(3, 4, satisfied=True)
    score = int(position.results()[1][0])
    assert f"> a player_0  {score} points" in position.text() and str(score) in labels(position)
    public = int(position.config.game.observation["players.public_vp"].view(position.observe(0))[0])
    assert score == public + 5 + 7 + 7 + 9


@pytest.mark.parametrize("players", [1, 2])
def test_what_every_objective_asks_for_is_said(players: int) -> None:
    """Each in words of its own, which fit the picture."""
    tables = GAME.configure(players).tables[0]
    asked = set()
    for number, objective in enumerate(tables["objective"], 1):
        seats = {0: {"objectives": {number}}}
        said = [label for label in labels(scenario(players, seats=seats).snapshot, 0) if label.endswith(" VP")]
        assert len(said) == 1 and said[0].endswith(f", {objective['vp']} VP")
        asked.add(said[0].removeprefix("objective: ").partition(": ")[2])
    assert len(asked) == 17
    assert "raise 2 of the technologies to level 4, 5 VP" in asked
    assert "reach space 14 on the technological track, 8 VP" in asked


def test_results() -> None:
    game = Play(Snapshot.deal(GAME.configure(2), 3)).pass_to(Node.OVER)
    ranks = game.snapshot.results()[0].tolist()
    text = game.snapshot.text()
    winners = [f"player_{seat}" for seat, rank in enumerate(ranks) if rank == 1]
    assert all(winner in text.splitlines()[1] for winner in winners) and "win" in text.splitlines()[1]
    assert text.count("(rank ") + text.count(", rank ") == 2


def test_every_seat_sees_itself_and_no_other_seat_exists() -> None:
    game = scenario(3)
    with pytest.raises(ValueError, match=r"seat = 3 is not allowed; allowed: None, or an integer 0\.\.2"):
        game.snapshot.text(3)


@pytest.mark.parametrize("players", [1, 2, 4])
def test_pictures_of_whole_games(players: int) -> None:
    """Any position can be drawn; the height depends on the players only, and lines are short enough."""
    heights, choose = set(), purposeful(players)
    position, number = Snapshot.deal(GAME.configure(players), players), 0
    while True:
        if number % 25 == 0 or position.over:
            seat = None if number % 50 else number % players
            heights.add(position.drawing(seat).height)
            ElementTree.fromstring(position.drawing(seat).svg())
            lines = position.text(seat).split("\n")
            assert max(len(line) for line in lines) <= COLUMNS and all(line == line.rstrip() for line in lines)
        if position.over:
            break
        position = position.apply(choose(position))
        number += 1
    assert len(heights) == 1


def test_every_node_has_a_question() -> None:
    assert set(QUESTIONS) == set(Node) - {Node.OVER} and len(set(QUESTIONS.values())) == len(QUESTIONS)


def test_pixels() -> None:
    drawing = scenario(2).snapshot.drawing()
    rgb = drawing.rgb()
    assert rgb.shape == (int(round(drawing.height)), 1280, 3) and rgb.dtype == np.uint8
    assert len(set(TYPE_COLOURS)) == 5 and len(set(SEAT_COLOURS)) == 4


def test_uncompiled_records_give_the_same_picture() -> None:
    position = table().snapshot
    array = np.zeros(1, GAME.state)
    array[0] = position.state
    record = array.view(np.recarray)[0]
    assert GAME.draw(record, position.config, 2).svg() == position.drawing(2).svg()
    assert GAME.text(record, position.config, 2) == position.text(2)
