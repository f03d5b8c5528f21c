"""Pictures and texts of positions built by hand: what they say, and what they must not give away."""

from __future__ import annotations

import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from kepler_envs.engine.game import RUNNING, TERMINATED, TRUNCATED
from kepler_envs.games.kitten_adventurers import GAME
from kepler_envs.games.kitten_adventurers.actions import PLAY_HAND, PLAY_LANE, PLAY_QUEST
from kepler_envs.games.kitten_adventurers.components import DEFAULT_FILE
from kepler_envs.games.kitten_adventurers.picture import COLUMNS, TYPE_COLOURS, draw, look, text
from kepler_envs.games.kitten_adventurers.state import HYPERSPEED, NUM_LANES, NUM_TYPES, Node
from kepler_envs.rules import rules_text
from tests.pictures import SVG

H = HYPERSPEED
NUM_LADDERS = 14  # eight wormholes and six hyperspeed cards
NAMES = [row.tobytes().rstrip(b"\0").decode() for row in GAME.default_tables[0]["type_name"]]


def new_state(
    players: int = 3,
    *,
    ladders: Mapping[int, Sequence[int]] | None = None,
    hands: Sequence[Sequence[int]] = (),
    quests: Sequence[Sequence[int]] = (),
    lanes: Mapping[tuple[int, int], Sequence[int]] | None = None,
    discard: Sequence[int] = (),
    **fields: Any,
) -> np.void:
    """A position: ladders by slot, lanes by (player, lane), cards from the bottom to the top."""
    state = GAME.new_states(1)[0]
    state["num_players"], state["quest_size"] = players, 10
    for slot, cards in (ladders or {}).items():
        state["ladder_height"][slot] = len(cards)
        state["wild_at"][slot] = sum(1 << value for value, card in enumerate(cards) if card == H)
    for player in range(players):
        put_quest_pile(state, player, quests[player] if quests else (1, 2))
        for card in hands[player] if hands else (3,):
            state["player"][player]["hand"][card] += 1
            state["player"][player]["hand_count"] += 1
    for (player, lane), cards in (lanes or {}).items():
        put_lane(state, player, lane, cards)
    for card in discard:
        state["discard"][card] += 1
        state["discard_count"] += 1
    for name, value in fields.items():
        state[name] = value
    return state


def put_quest_pile(state: np.void, player: int, cards: Sequence[int]) -> None:
    first = player * int(state["quest_size"])
    state["quest_pile"][first : first + len(cards)] = cards
    state["player"][player]["quest_count"] = len(cards)
    state["player"][player]["quest_top"] = cards[-1] + 1 if cards else 0


def put_lane(state: np.void, player: int, lane: int, cards: Sequence[int]) -> None:
    row = state["player"][player]
    record = row["lane"][lane]
    record["depth"] = len(cards)
    for field, card in zip(("top", "second", "third"), reversed(cards), strict=False):
        record[field] = card + 1
    more = [card + 1 for card in reversed(cards[:-3])]
    first = int(state["buried_to"][player - 1]) if player else 0
    first += sum(max(0, int(depth) - 3) for depth in row["lane"]["depth"][:lane])
    buried = state["buried"].tolist()
    state["buried"] = (buried[:first] + more + buried[first:])[: len(buried)]
    state["buried_to"][player:] += len(more)


def configuration(state: np.void) -> Any:
    return GAME.configure(int(state["num_players"]))


def svg(state: np.void, seat: int | None = None) -> str:
    return draw(state, configuration(state), seat).svg()


def words(state: np.void, seat: int | None = None) -> str:
    return text(state, configuration(state), seat)


def hints(state: np.void, seat: int | None = None) -> list[str]:
    """The cards of the drawing, by name."""
    groups = ElementTree.fromstring(svg(state, seat)).iter(SVG + "g")
    return [group.findtext(SVG + "title") for group in groups]


def labels(state: np.void, seat: int | None = None) -> list[str]:
    return [element.text for element in ElementTree.fromstring(svg(state, seat)).iter(SVG + "text")]


# ---------------------------------------------------------------- facts


def test_header_says_turn_player_and_piles():
    state = new_state(turns=6, seat=2, deck_count=42, discard=(1, 1, 12))
    shown = labels(state)
    for fact in ("turn 7", "player_2: play a card or end the turn", "Deck 42", "Discard 3", "all cards open"):
        assert fact in shown
    lines = words(state).splitlines()
    assert lines[0] == "Kitten Adventurers   turn 7   all cards open"
    assert lines[1] == "player_2: play a card or end the turn"
    assert lines[4].split() == ["discard", "3", ".", "2", *"." * 10, "1", ".", "deck", "42"]


def test_discard_lists_every_card_type_by_name():
    shown = labels(new_state(discard=(1, 1, 12)))
    counts = [shown[shown.index(name) + 1] for name in NAMES]
    assert counts == ["0", "2", *"0" * 10, "1", "0"]


def test_ladders_show_values_wild_cards_and_what_comes_next():
    state = new_state(ladders={0: (0, 1, H, 3), 5: (H,)})
    shown = hints(state)
    assert "Hyperspeed as 2" in shown and "Hyperspeed as 0" in shown and "Hyperspeed as 1" not in shown
    assert [label for label in labels(state) if label.startswith("next")] == ["next 4", "next 1"]
    lines = [line.split() for line in words(state).splitlines() if line.startswith("ladder")]
    assert lines == [
        ["ladder", "1:", "0", "1", "2*", "3", "next", "4"],
        ["ladder", "6:", "0*", "next", "1"],
    ]


def test_no_ladder_is_said():
    assert "no ladder in play" in words(new_state())


def test_lanes_show_their_cards_from_the_top_to_the_bottom():
    state = new_state(lanes={(1, 2): (9, 8, 7, 6, 5, H)})
    assert look(state, configuration(state)).players[1].lanes == ((), (), (H, 5, 6, 7, 8, 9), ())
    assert "3: * 5 6 7 8 9" in words(state)
    assert hints(state).count("Hyperspeed") == 1 + 1  # in the discard's list and in the lane


def test_two_deep_lanes_keep_their_cards_apart():
    state = new_state(lanes={(0, 0): (1, 2, 3, 4, 5), (0, 3): (6, 7, 8, 9, 10)})
    lanes = look(state, configuration(state)).players[0].lanes
    assert (lanes[0], lanes[3]) == ((5, 4, 3, 2, 1), (10, 9, 8, 7, 6))


def test_quest_pile_shows_its_open_card_and_its_count():
    state = new_state(quests=((1, 2, 12), (5,), ()), end=TERMINATED, node=Node.OVER)
    shown = labels(state)
    assert "quest 3" in shown and "quest 1" in shown and "quest 0" in shown
    assert "quest 3 left, open: 12 (Final Frontier)" in words(state)
    assert "quest pile empty" in words(state)


def test_hands_are_open_without_a_seat_and_closed_for_others():
    state = new_state(hands=((3, 3, H), (4, 5), (6,)))
    assert "hand 3: 3 3 *" in words(state) and "hand 2: 4 5" in words(state)
    seen = words(state, seat=1)
    assert "hand 3: ? ? ?" in seen and "hand 2: 4 5" in seen and "hand 1: ?" in seen
    assert "seen by player_1" in seen and "player_1   quest 2 left, open: 2 (Class 2 planet)   (viewer)" in seen
    assert hints(state).count("a covered card") == 0
    assert hints(state, seat=1).count("a covered card") == 4


def test_covered_quest_cards_show_only_when_everything_is_open():
    state = new_state(quests=((7, 8, 9), (1,), (1,)))
    assert "under it: 8 7" in words(state)
    assert "under it" not in words(state, seat=0)
    assert "covered" not in labels(state, seat=0)


@pytest.mark.parametrize(
    ("source", "question"),
    [
        (PLAY_HAND + H, "play Hyperspeed from the hand"),
        (PLAY_QUEST, "play the open quest card"),
        (PLAY_LANE + 1, "play the top card of lane 2"),
    ],
)
def test_value_node_shows_the_hyperspeed_where_it_lies(source, question):
    state = new_state(
        hands=((3, H), (4, H), (6,)), quests=((1, H), (1, H), (1,)), lanes={(1, 1): (4, H)},
        node=Node.VALUE, seat=1, pending_source=1 + source,
    )  # fmt: skip
    assert f"player_1: {question} - as which value?" in labels(state, seat=0)
    seen = words(state, seat=0)
    places = ["hand 2: [*] ?" in seen, "open: [*] (Hyperspeed)" in seen, "2: [*] 4" in seen]
    assert places == [source == PLAY_HAND + H, source == PLAY_QUEST, source == PLAY_LANE + 1]
    assert "hand 2: 4 [*]" in words(state, seat=1) or source != PLAY_HAND + H


def test_lane_node_shows_the_announced_card_to_everybody():
    state = new_state(hands=((3, H), (4, 5), (6,)), node=Node.LANE, seat=1, pending_card=5 + 1)
    assert "player_1: end the turn with Class 5 planet - in which lane?" in labels(state, seat=0)
    assert "hand 2: [5] ?" in words(state, seat=0) and "hand 2: 4 [5]" in words(state)
    assert hints(state, seat=0).count("Class 5 planet") == 1 + 1 + 1  # header, list of the discard, hand


@pytest.mark.parametrize(
    ("quests", "end", "result", "ranks"),
    [
        ((2, 0, 4), TERMINATED, "player_1 wins", [2, 1, 3]),
        ((2, 4, 2), TERMINATED, "stalemate: player_0 and player_2 win", [1, 3, 1]),
        ((5, 4, 4), TRUNCATED, "cut off by the limit: player_1 and player_2 win", [3, 1, 1]),
    ],
)
def test_the_end_shows_result_and_ranks(quests, end, result, ranks):
    state = new_state(quests=[(1,) * count for count in quests], end=end, node=Node.OVER, turns=30)
    assert result in labels(state) and "after 30 turns" in labels(state)
    assert words(state).splitlines()[1] == result
    assert [label for label in labels(state) if label.startswith("rank")] == [f"rank {rank}" for rank in ranks]


def test_only_the_active_player_is_marked():
    state = new_state(seat=1)
    assert [line.split()[1] for line in words(state).splitlines() if line.startswith("> ")] == ["player_1"]
    state["end"], state["node"] = TERMINATED, Node.OVER
    assert "> " not in words(state)


# ---------------------------------------------------------------- hidden information


@pytest.mark.parametrize("node", [Node.PLAY, Node.VALUE, Node.LANE])
def test_what_a_seat_cannot_know_changes_nothing(node):
    """Two positions that differ in everything hidden from seat 0: other hands, quest cards, deck, generator."""
    pending = {Node.PLAY: {}, Node.VALUE: {"pending_source": 1 + PLAY_HAND + H}, Node.LANE: {"pending_card": H + 1}}
    public = dict(ladders={0: (0, 1)}, lanes={(1, 0): (5, 6)}, node=node, seat=1, deck_count=2, **pending[node])
    one = new_state(hands=((3, 4), (H, 5), (6, 7, 8)), quests=((1, 2, 3), (4, 5), (6, 7)), rng=1, **public)
    two = new_state(hands=((3, 4), (H, 9), (0, 0, H)), quests=((9, 8, 3), (0, 5), (H, 7)), rng=2, **public)
    one["deck"][:2], two["deck"][:2] = (1, 2), (11, 12)
    one["unseen"][:], two["unseen"][:] = 1, 2
    assert svg(one, seat=0) == svg(two, seat=0)
    assert words(one, seat=0) == words(two, seat=0)
    assert svg(one) != svg(two) and words(one) != words(two)
    assert svg(one, seat=2) != svg(two, seat=2)


# ---------------------------------------------------------------- form


def crowded(players: int, seed: int) -> np.void:
    """A position with everything at its largest."""
    numbers = np.random.default_rng(seed)

    def cards(count: int) -> list[int]:
        return numbers.integers(0, NUM_TYPES, count).tolist()

    state = new_state(
        players,
        ladders={slot: [slot % H, H] * 6 for slot in range(NUM_LADDERS)},
        hands=[cards(12) for _ in range(players)],
        quests=[cards(10) for _ in range(players)],
        lanes={(0, lane): cards(25) for lane in range(NUM_LANES)},
        discard=range(NUM_TYPES),
        seat=players - 1, turns=29_999, deck_count=88,
    )  # fmt: skip
    state["pending_card"] = 1 + np.flatnonzero(state["player"][players - 1]["hand"])[-1]
    state["node"] = Node.LANE
    return state


@pytest.mark.parametrize("players", range(2, 9))
@pytest.mark.parametrize("seat", [None, 1])
def test_everything_fits_at_every_number_of_players(players, seat):
    state = crowded(players, seed=players)
    drawing = draw(state, configuration(state), seat)
    assert drawing.width == 1280
    assert drawing.height == draw(new_state(players), configuration(state)).height
    for element in ElementTree.fromstring(drawing.svg()).iter():
        x, y = (float(element.get(name, 0)) for name in ("x", "y"))
        if element.tag == SVG + "rect":
            assert 0 <= x <= x + float(element.get("width")) <= drawing.width
            assert 0 <= y <= y + float(element.get("height")) <= drawing.height
    lines = text(state, configuration(state), seat).split("\n")
    assert max(len(line) for line in lines) <= COLUMNS
    assert all(line == line.rstrip() for line in lines)
    assert all(f"player_{player}" in "\n".join(lines) for player in range(players))


def test_cards_have_the_colours_of_their_values():
    assert len(set(TYPE_COLOURS)) == NUM_TYPES
    state = new_state(ladders={0: (0,)}, lanes={(0, 0): (11,)})
    drawing = draw(state, configuration(state))
    rgb = drawing.rgb()
    assert (rgb.shape, rgb.dtype) == ((int(drawing.height), 1280, 3), np.uint8)
    chips = [
        (rect.get("fill"), float(rect.get("x")), float(rect.get("y")), float(rect.get("height")))
        for rect in ElementTree.fromstring(drawing.svg()).iter(SVG + "rect")
        if rect.get("fill") in TYPE_COLOURS
    ]
    assert len(chips) == NUM_TYPES + 2  # the list of the discard, the ladder, the lane
    for fill, x, y, height in chips:
        assert "#" + bytes(rgb[int(y + height / 2), int(x + 3)]).hex() == fill


def test_uncompiled_records_give_the_same_picture():
    state = crowded(4, seed=0)
    array = np.zeros(1, GAME.state)
    array[0] = state
    record = array.view(np.recarray)[0]
    assert isinstance(record, np.record)
    assert svg(record, seat=2) == svg(state, seat=2)
    assert words(record, seat=2) == words(state, seat=2)


def test_own_card_names_are_shown(tmp_path):
    file = tmp_path / "cards.toml"
    cards = DEFAULT_FILE.read_text(encoding="utf-8").replace("Class 5 planet", "Moon <5> & co")
    file.write_text(cards, encoding="utf-8")
    config = GAME.configure(3, components=file)
    state = new_state(quests=((5,), (1,), (1,)))
    assert state["end"] == RUNNING
    assert "open: 5 (Moon <5> & co)" in text(state, config)
    document = ElementTree.fromstring(draw(state, config).svg())
    assert "Moon <5> & co" in [element.text for element in document.iter(SVG + "text")]


def test_the_rules_card_has_the_setup() -> None:
    """Who plays first and in which direction, and the sizes of quest piles and hands by number of players."""
    card = " ".join(rules_text(GAME).split())
    assert (GAME.min_players, GAME.max_players) == (2, 8)
    assert "Two to eight players take turns clockwise, and the first one is drawn at random." in card
    rows = tomllib.loads(DEFAULT_FILE.read_text(encoding="utf-8"))["setup"]
    assert [(row["quest"], row["hand"]) for row in rows] == [(10, 7)] * 4 + [(7, 7), (6, 6), (5, 6)]
    assert "(ten cards; with six, seven and eight players seven, six and five)" in card
    assert "(seven cards; with seven and eight players six)" in card
