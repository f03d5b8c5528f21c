"""The first round of the rulebook's example, decision by decision (section 8.1 of the specification)."""

from __future__ import annotations

from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.ad_astra.state import Node
from tests.games.ad_astra.scenario import (
    ACCEPT,
    BLUE,
    COLONY_X,
    DEEP,
    GREEN,
    PASS,
    RED,
    RESERVE,
    SECOND_ELEMENT,
    STARSHIP_X,
    TERRAFORMER,
    YELLOW,
    Play,
    at,
    bank,
    move,
    plan,
    resource,
    worked_config,
)

PLANNING = [
    # seat, card, space, id of the specification
    (BLUE, 8, 12, 133), (RED, 0, 1, 2), (YELLOW, 3, 2, 48), (GREEN, 0, 3, 4),
    (BLUE, 0, 4, 5), (RED, 3, 5, 51), (YELLOW, 6, 11, 102), (GREEN, 7, 6, 112),
    (BLUE, 6, 7, 98), (RED, 1, 10, 26), (YELLOW, 0, 8, 9), (GREEN, 6, 9, 100),
]  # fmt: skip

ACTION = [
    # space, seat, node, id
    (1, RED, Node.PRODUCE, 168),
    (2, YELLOW, Node.MOVE, 173), (2, YELLOW, Node.LAND, 209),
    (2, GREEN, Node.MOVE, 176), (2, GREEN, Node.LAND, 231),
    (2, BLUE, Node.MOVE, 176), (2, BLUE, Node.LAND, 230),
    (2, RED, Node.MOVE, 0),
    (3, GREEN, Node.PRODUCE, 169),
    (4, BLUE, Node.PRODUCE, 170),
    (5, RED, Node.MOVE, 178), (5, RED, Node.LAND, 244),
    (5, YELLOW, Node.MOVE, 0),
    (5, GREEN, Node.MOVE, 176), (5, GREEN, Node.LAND, 232),
    (5, BLUE, Node.MOVE, 0),
    (6, GREEN, Node.TRADE, 280), (6, GREEN, Node.BANK_GET, 167), (6, GREEN, Node.TRADE, 0),
    (7, BLUE, Node.BUILD, 275), (7, BLUE, Node.BUILD, 270), (7, RED, Node.BUILD, 270), (7, YELLOW, Node.BUILD, 270),
    (7, GREEN, Node.BUILD, 275),
    (8, YELLOW, Node.PRODUCE, 167),
    (9, RED, Node.BUILD, 274), (9, RED, Node.BUILD_POS, 265),
    (10, RED, Node.PRODUCE, 167),
    (12, BLUE, Node.ELEMENT, 301),
]  # fmt: skip


def started() -> Play:
    return Play(Snapshot.deal(worked_config(), 1))


def planned() -> Play:
    return started().play(*(action for *_, action in PLANNING))


def played_to(space: int) -> Play:
    """The position when the first decision on a space (from 1) is due."""
    return planned().play(*(action for number, _, _, action in ACTION if number < space))


def test_setup() -> None:
    game = started()
    position = game.position
    assert game.hands() == [[1] * 6] * 4 and position.bank == [21] * 6
    assert [seat.ships for seat in position.seats] == [[DEEP, RESERVE, RESERVE, RESERVE]] * 4
    assert [seat.factories for seat in position.seats] == [{56}, {57}, {58}, {59}]
    assert [position.planets[56 + seat] for seat in range(4)] == [3, 1, 0, 2]
    assert len(position.planets) == 43 and len(position.hidden()) == 39
    assert position.deck == [1, 2, 3, 4, 5, 6, 7, 8, 0]
    assert (position.first, game.seat, game.node, position.round) == (0, 0, Node.PLAN, 1)


def test_ids_are_those_of_the_specification() -> None:
    assert [plan(card, space) for _, card, space, _ in PLANNING] == [action for *_, action in PLANNING]
    assert (resource(1), move(0, "SR"), move(0, "TY"), move(0, DEEP), at(35), bank(2)) == (168, 173, 178, 181, 244, 280)
    assert (COLONY_X, TERRAFORMER, STARSHIP_X, SECOND_ELEMENT, PASS, ACCEPT) == (270, 274, 275, 301, 0, 1)


def test_planning() -> None:
    game = started()
    for seat, card, space, action in PLANNING:
        assert (game.seat, game.node) == (seat, Node.PLAN)
        game.play(action)
        if game.node == Node.PLAN:
            assert game.position.board[space - 1] == (seat, card)
            assert card not in game.position.seats[seat].cards
    assert (game.seat, game.node, game.position.current) == (RED, Node.PRODUCE, 0)


def test_every_decision() -> None:
    """Order of seats and nodes; whatever is not listed was forced and is not offered."""
    game = planned()
    for space, seat, node, action in ACTION:
        assert (game.position.current + 1, game.seat, game.node) == (space, seat, node)
        game.play(action)
    assert game.position.decisions == 41
    assert (game.node, game.seat, game.position.round) == (Node.PLAN, BLUE, 2)


def test_space_1_red_production() -> None:
    game = played_to(2)
    assert game.hands()[RED] == [1, 3, 1, 1, 1, 1] and game.position.bank[1] == 19


def test_space_2_yellow_movement() -> None:
    game = played_to(2).play(173, 209, 176, 231, 176)
    assert game.legal() == {230, 232, 233, 234}
    assert game.position.seats[BLUE].known == {21, 23, 24, 25}
    game = played_to(3)
    assert [seat.ships[0] for seat in game.position.seats] == [21, DEEP, 0, 22]
    assert all(sum(hand) == (8 if seat == RED else 6) for seat, hand in enumerate(game.hands())), "all moves were free"


def test_space_3_green_production() -> None:
    game = played_to(4)
    assert [hand[2] for hand in game.hands()] == [2, 1, 2, 3] and game.position.bank[2] == 17


def test_space_4_blue_production() -> None:
    game = played_to(5)
    assert [hand[3] for hand in game.hands()] == [3, 1, 1, 2] and game.position.bank[3] == 18


def test_space_5_red_movement() -> None:
    game = played_to(5).play(178, 244)
    assert game.legal() == {176, 178, 181, 0}  # Yellow: within reach for two energy, or deep space
    game = played_to(6)
    assert [seat.ships[0] for seat in game.position.seats] == [21, 35, 0, 23]
    assert game.hands()[GREEN][2] == 2 and game.position.holdings(GREEN) == {1}
    assert game.position.deck == [2, 3, 4, 5, 6, 7, 8, 0]


def test_space_6_green_trade() -> None:
    game = played_to(7)
    assert game.hands()[GREEN] == [2, 1, 0, 2, 1, 1]
    assert game.position.bank[0] == 20 and game.position.bank[2] == 20


def test_space_7_blue_build() -> None:
    game = played_to(8)
    assert game.hands() == [[0, 0, 2, 0, 0, 0], [0, 2, 1, 0, 1, 1], [0, 0, 2, 0, 1, 1], [2, 1, 0, 0, 0, 0]]
    assert game.position.bank == [23, 22, 20, 25, 23, 23]
    assert [seat.colonies for seat in game.position.seats] == [{21}, {35}, {0}, set()]
    assert [seat.ships[1] for seat in game.position.seats] == [DEEP, RESERVE, RESERVE, DEEP]


def test_space_8_yellow_production() -> None:
    game = played_to(9)
    assert game.hands()[YELLOW][0] == 2 and game.hands()[RED][0] == 2 and game.position.bank[0] == 19


def test_space_9_green_build() -> None:
    game = played_to(9)
    assert game.seat == RED  # Green could build nothing and was not asked
    assert game.play(TERRAFORMER).legal() == {244, 265}
    game = played_to(10)
    assert game.hands()[RED] == [0, 0, 1, 0, 1, 1] and game.points() == [0, 4, 0, 0]
    assert game.position.bank[0] == 21 and game.position.bank[1] == 24
    assert game.position.seats[RED].terraformers == {57}


def test_space_10_red_production() -> None:
    game = played_to(12)
    assert game.hands()[RED][0] == 2 and game.hands()[YELLOW][0] == 4 and game.position.bank[0] == 17


def test_space_12_blue_scoring() -> None:
    game = played_to(12)
    assert (game.seat, game.node, game.position.current) == (BLUE, Node.ELEMENT, 11)  # space 11 was all forced
    assert game.position.seats[BLUE].aside == {8} and game.position.first == BLUE


def test_end_of_the_round() -> None:
    game = played_to(13)
    position = game.position
    assert game.points() == [4, 6, 2, 4]
    assert game.hands() == [[0, 0, 2, 0, 0, 0], [2, 0, 1, 0, 1, 1], [4, 0, 2, 0, 1, 1], [2, 1, 0, 0, 0, 0]]
    assert position.bank == [17, 24, 20, 25, 23, 23]
    assert position.first == BLUE and position.board == {}
    assert [seat.aside for seat in position.seats] == [{8}, set(), set(), set()]
    assert [seat.cards for seat in position.seats] == [set(range(11)) - {8}, *[set(range(11))] * 3]
    assert len(position.hidden()) == 34 and position.face_up == {0, 22, 21, 35, 23, 56, 57, 58, 59}
    looked = [{place // 7 for place in seat.known} for seat in position.seats]
    assert looked == [{3}, {5}, {0}, {3}]


def test_rewards_if_the_game_ended_here() -> None:
    config = worked_config(max_rounds=1)
    game = Play(Snapshot.deal(config, 1)).play(*(action for *_, action in PLANNING), *(row[-1] for row in ACTION))
    assert game.over and game.returns() == [0, 1, -1, 0]


def test_the_other_element_at_space_12() -> None:
    game = played_to(12).play(300)
    assert game.points() == [3, 7, 3, 2]
