"""Pictures and texts show what lies on the table, and to a seat only what it may see."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from kepler_envs.engine.components import names
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.ad_astra.picture import COLUMNS, LEGEND, SEAT_COLOURS, TYPE_COLOURS, explain, look
from kepler_envs.games.ad_astra.state import Node
from tests.choosing import eager, uniform
from tests.effort import slow
from tests.games.ad_astra.invariants import EAGER
from tests.games.ad_astra.scenario import (
    ACCEPT,
    BLUE,
    COLONY_X,
    DEEP,
    FACTORY,
    FIRST_ELEMENT,
    GAME,
    GREEN,
    PASS,
    RED,
    YELLOW,
    Play,
    W,
    X,
    artifact,
    cards,
    move,
    partner,
    plan,
    scenario,
    worked_config,
)
from tests.pictures import SVG, hints, labels, marked

# ---------------------------------------------------------------- facts


def test_header() -> None:
    game = scenario(resolve=(RED, 3))
    for fact in ("round 1, space 1: move LY/TY", "player_1: move a starship or pass", "everything open"):
        assert fact in labels(game.snapshot)
    assert "seen by player_2" in labels(game.snapshot, YELLOW)
    assert game.snapshot.text().splitlines()[:2] == [
        "Ad Astra   round 1, space 1: move LY/TY   everything open",
        "player_1: move a starship or pass",
    ]


@pytest.mark.parametrize("seat", [None, RED, GREEN])
def test_planets_show_type_owner_and_pawns(seat: int | None) -> None:
    game = scenario(ships={RED: [35, 35, DEEP]}, colonies={RED: {35}}, terraformers={RED: {35}}, up={22})
    shown = hints(game.snapshot, seat)
    assert "planet 1 of twin yellow: water, player_1 with 2 starships, colony, terraformer" in shown
    assert "planet 2 of large yellow: xanthium" in shown
    assert "the start planet of player_3: energy, player_3 with factory" in shown
    text = game.snapshot.text(seat)
    assert "W 1:2sct" in text and all(line in text for line in LEGEND)
    assert "W water, F food, E energy, X xanthium, Y yoyodium, Z zozodium, A alien" in text
    assert "planet 1 of large yellow: " + ("energy, face down" if seat is None else "face down") in shown


def test_planets_looked_at_are_shown_to_those_who_looked() -> None:
    game = scenario(resolve=(RED, 3)).play(move(0, "TY"))
    assert "planet 1 of twin yellow: water, face down" in hints(game.snapshot, RED)
    assert "planet 1 of twin yellow: face down" in hints(game.snapshot, BLUE)
    assert "(W)      (Z)" in game.snapshot.text(RED) and "(W)" not in game.snapshot.text(BLUE)
    assert "starship 1 enters twin yellow" in game.snapshot.text(BLUE)


def test_planning_board() -> None:
    game = scenario().play(plan(8, 12))
    assert "space 12: scoring card 1 of player_0" in hints(game.snapshot, BLUE)
    assert "space 12: a card face down of player_0" in hints(game.snapshot, RED)
    assert "space 1: empty" in hints(game.snapshot)
    assert "12: 0 [score 1]" in game.snapshot.text(BLUE) and "12: 0 [?]" in game.snapshot.text(RED)
    shown = look(game.snapshot.state, game.snapshot.config, RED)
    assert shown.board[11].slot is None and len(shown.board) == 12
    assert len(look(Snapshot.deal(GAME.configure(5), 1).state, GAME.configure(5)).board) == 15


def test_offers_are_public() -> None:
    game = scenario(resolve=(GREEN, 7)).play(partner(2), cards(X, 1), cards(W, 1))
    assert game.node == Node.REPLY
    for seat in (None, BLUE, GREEN):
        assert "offer of player_3 to player_1, 1 xanthium, for 1 water" in game.snapshot.text(seat)
        assert "offer of player_3 to player_1, 1 xanthium, for 1 water" in labels(game.snapshot, seat)
        assert "player_1: accept the offer or decline" in labels(game.snapshot, seat)


def told(game: Play) -> dict[int, str]:
    """What the moves of a position mean."""
    return explain(game.snapshot.state, game.snapshot.config, sorted(game.legal()))


def test_an_offer_says_who_gives_what() -> None:
    """The same ids name what is given and what is asked for, and players are counted from the one who offers."""
    trading = scenario(resolve=(GREEN, 7)).snapshot
    assert trading.full_text(partner(2)) == trading.public_text(partner(2)) == "make an offer to player_1"
    game = scenario(resolve=(GREEN, 7)).play(partner(2))
    assert told(game)[cards(X, 1)] == "give" and game.snapshot.public_text(cards(X, 1)) == "offer 1 xanthium"
    assert game.snapshot.full_text(cards(X, 1)) == "offer 1 xanthium"
    game.play(cards(X, 1))
    assert told(game)[cards(W, 1)] == "ask for" and game.snapshot.public_text(cards(W, 1)) == "ask for 1 water"
    game.play(cards(W, 1))
    assert told(game) == {PASS: "decline", ACCEPT: "you give 1 water for 1 xanthium"}
    assert told(game.play(PASS))[PASS] == "stop trading"


def test_choices_on_the_way_are_told() -> None:
    game = scenario(resolve=(RED, 6), ships={RED: [35, 37]}, colonies={RED: {36}}, held={5: RED})
    game.play(388)
    assert "(the item is free)" in game.snapshot.text()
    game.play(COLONY_X)
    assert "(the item is free, colony)" in game.snapshot.text()
    assert "colonies and factories or starships" in scenario(resolve=(BLUE, 8)).snapshot.text()


def test_what_an_artifact_promises_cannot_be_passed() -> None:
    """Nothing is paid for the item, and the question does not offer what is illegal."""
    game = scenario(resolve=(RED, 6), ships={RED: [35, 37]}, colonies={RED: {36}}, held={5: RED})
    assert game.snapshot.text().splitlines()[1] == "player_1: build something or pass"
    game.play(artifact(5))
    assert PASS not in game.legal() and game.snapshot.text().splitlines()[1] == "player_1: build something"
    assert {action: told(game)[action] for action in (COLONY_X, FACTORY)} == dict.fromkeys(
        (COLONY_X, FACTORY), "nothing is paid"
    )
    gate = scenario(resolve=(RED, 3), held={1: RED})
    gate.play(artifact(1))
    assert PASS not in gate.legal() and gate.snapshot.text().splitlines()[1] == "player_1: move a starship"
    hands = {RED: [3, 3, 0, 0, 0, 0]}
    discard = scenario(resolve=(BLUE, 10), hands=hands, held={8: RED}).play(FIRST_ELEMENT, artifact(8))
    assert PASS not in discard.legal()
    assert discard.snapshot.text().splitlines()[1] == "player_1: discard cards of one type"


def test_artifacts_say_what_they_do() -> None:
    """To their holder alone: among its moves, and in the picture before they can be played."""
    game = scenario(resolve=(RED, 3), held={4: RED, 7: RED, 8: RED})
    assert {number: told(game).get(artifact(number)) for number in (4, 7)} == {
        4: "3 cards of one resource from the bank", 7: "a starship from the reserve enters deep space"
    }  # fmt: skip
    hint = "Thesaurus Antiquus, when you discard for points: the discard counts 2 cards more"
    assert hint in hints(game.snapshot, RED) and hint in " ".join(game.snapshot.text(RED).split())
    assert hint not in hints(game.snapshot, BLUE) and "Thesaurus" not in game.snapshot.text(BLUE)


def test_all_artifacts_fit() -> None:
    game = scenario(config=GAME.configure(4, artifacts="all"), held=dict.fromkeys(range(1, 11), RED))
    all_names = names(game.snapshot.config.tables[0]["artifact_name"])[1:]
    shown = [hint.partition(", ")[0] for hint in hints(game.snapshot, RED)]
    assert [name for name in shown if name in all_names] == list(all_names)
    assert {artifact(number) for number in range(1, 11)} <= marked(game.snapshot, RED)


def test_players() -> None:
    hands = {RED: [3, 0, 0, 0, 0, 2]}
    game = scenario(points={RED: 12, BLUE: 1}, aside={RED: {8, 9}}, held={4: RED, 7: RED}, hands=hands)
    text = game.snapshot.text(RED)
    assert "  player_1  red  12 points   (viewer)" in text and "  blue  1 point" in text and "1 points" not in text
    assert "hand 5: W3 F0 E0 X0 Y0 Z2   in deep space s1   reserve s3 c4 f3 t4" in text
    assert "set aside: score 1 2" in text and "artifact Cornu Copiae, " in text and "artifact Navis Antiqua, " in text
    assert "cards: produce F/X W/Z E/Y, move LY/TY SY/LR SR/NR, build, trade, score 3" in text
    other = game.snapshot.text(BLUE)
    assert "artifacts: 2, face down" in other and "Cornu" not in other and "move SY/LR" not in other
    assert "hand: hidden" in labels(game.snapshot, BLUE) and "artifacts: 2 face down" in labels(game.snapshot, BLUE)
    assert "player_1: 12 points" in hints(game.snapshot, BLUE)


def test_the_end() -> None:
    game = scenario(resolve=(BLUE, 7), last=True, points={0: 60, 1: 50, 2: 50, 3: 40}).play(PASS)
    assert game.over
    assert "enough points: player_0 wins" in labels(game.snapshot) and "after round 1" in labels(game.snapshot)
    assert [label for label in labels(game.snapshot) if label.startswith("rank")] == [
        "rank 1",
        "rank 2",
        "rank 2",
        "rank 4",
    ]
    tie = scenario(resolve=(BLUE, 7), last=True, points=dict.fromkeys(range(4), 50)).play(PASS)
    assert "enough points: player_0 and player_1 and player_2 and player_3 win" in tie.snapshot.text()
    rounds = scenario(config=worked_config(max_rounds=1), resolve=(BLUE, 7), last=True).play(PASS)
    assert "the last round is over" in rounds.snapshot.text()


@pytest.mark.parametrize("seat", [-1, 4])
def test_a_seat_outside_the_game_is_refused(seat: int) -> None:
    with pytest.raises(ValueError, match=r"allowed: None, or an integer 0\.\.3"):
        scenario().snapshot.drawing(seat)


# ---------------------------------------------------------------- form


def positions(players: int) -> list[Snapshot]:
    """Positions of a game, and its end."""
    position, choose, found = Snapshot.deal(GAME.configure(players, artifacts="all"), 3), eager(3, EAGER, 0.6), []
    while not position.over:
        if position.state["decisions"] % 25 == 0:
            found.append(position)
        position = position.apply(choose(position.legal_actions()))
    return [*found, position]


@pytest.mark.parametrize("players", [3, 4, 5])
@pytest.mark.parametrize("seat", [None, 1])
def test_everything_fits(players: int, seat: int | None) -> None:
    heights = set()
    for position in positions(players):
        drawing = position.drawing(seat)
        heights.add(drawing.height)
        assert drawing.width == 1280
        for element in ElementTree.fromstring(drawing.svg()).iter(SVG + "rect"):
            x, y = float(element.get("x", 0)), float(element.get("y", 0))
            assert x >= 0 and x + float(element.get("width")) <= drawing.width
            assert y >= 0 and y + float(element.get("height")) <= drawing.height
        lines = position.text(seat).split("\n")
        assert max(len(line) for line in lines) <= COLUMNS
        assert all(line == line.rstrip() for line in lines)
        assert all(f"player_{player}" in "\n".join(lines) for player in range(players))
    assert len(heights) == 1


@slow
@pytest.mark.parametrize("players", [3, 4, 5])
def test_no_header_is_cut(players: int) -> None:
    """At each node the longest that random games lead to."""
    longest: dict[Any, tuple[int, Snapshot]] = {}
    for deal in range(2):
        position, choose = Snapshot.deal(GAME.configure(players), deal), uniform(deal)
        while not position.over:
            size = len(position.text().partition("\n\n")[0])
            if size > longest.get(position.node, (0, position))[0]:
                longest[position.node] = size, position
            position = position.apply(choose(position.legal_actions()))
        longest["the end", deal] = 0, position
    assert {Node.REPLY, Node.ELEMENT, Node.LAND} <= set(longest)
    for _, position in longest.values():
        view = look(position.state, position.config)
        assert {view.situation, view.turn, view.detail} - {""} <= set(labels(position))


def test_every_node_has_a_question() -> None:
    seen: dict[Any, str] = {}
    for players in (3, 4, 5):
        for position in positions(players):
            if not position.over:
                seen[position.node] = position.text().splitlines()[1]
    assert len(seen) > 8 and len(set(seen.values())) >= len(seen)


def test_pixels() -> None:
    drawing = scenario().snapshot.drawing()
    rgb = drawing.rgb()
    assert rgb.shape == (int(drawing.height), 1280, 3) and rgb.dtype == np.uint8
    assert len(set(TYPE_COLOURS)) == 7 and len(set(SEAT_COLOURS)) == 5


def test_uncompiled_records_give_the_same_picture() -> None:
    position = positions(4)[4]
    array = np.zeros(1, GAME.state)
    array[0] = position.state
    record = array.view(np.recarray)[0]
    assert GAME.draw(record, position.config, 2).svg() == position.drawing(2).svg()
    assert GAME.text(record, position.config, 2) == position.text(2)
