"""Pictures and texts of positions built by hand: what they say, and what they must not give away."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kepler_envs import Snapshot
from kepler_envs.engine.drawing import contrast
from kepler_envs.engine.panels import INK, MARGIN, WIDTH
from kepler_envs.games.race_to_kepler.picture import COLUMNS, NAME_GROUNDS, TOKEN_GROUND, explain
from kepler_envs.games.race_to_kepler.state import Node
from kepler_envs.rules import rules_text
from tests.contract.subjects import play
from tests.effort import slow
from tests.games.race_to_kepler.card_file import default_data, write_file
from tests.games.race_to_kepler.scenario import (
    DONE,
    END,
    GAME,
    OP_2,
    OP_3,
    OP_4,
    OPT_1,
    OPT_2,
    Seat,
    after,
    legal,
    parsecs,
    scenario,
)
from tests.pictures import hints, labels, lines, marked, marks, shapes


def acting() -> Snapshot:
    return scenario(
        Seat("Tokyo", hand="2 Iron, Fuser", play="Gold", discard="Mafia", parsecs=4, top="Broker"),
        Seat("Seoul", hand="Iron", parsecs=4),
        supply="2 Astronomer, Scavenger", crew_deck="", energy=3, money=2, token=[0, 0, 1, 1, 1, 1, 1],
    )  # fmt: skip


def test_header_says_phase_player_and_question() -> None:
    shown = labels(acting())
    for fact in (
        "Race, round 1",
        "player_0: play, acquire, operate or end the turn",
        "everything open",
        "Gold pile 20",
    ):
        assert fact in shown
    assert lines(acting())[:2] == [
        "Race to Kepler   Race, round 1   everything open", "player_0: play, acquire, operate or end the turn"
    ]  # fmt: skip


def test_track_shows_tokens_and_players() -> None:
    words = lines(acting())
    track = next(number for number, line in enumerate(words) if line.startswith("track"))
    assert "*5" in words[track] and "*3" not in words[track]
    assert words[track + 1].index("01") == words[track].index(" 4 ")
    assert {"player_0: 4 parsecs", "player_1: 4 parsecs"} <= set(hints(acting()))


def test_supply_and_piles() -> None:
    assert labels(acting()).count("Astronomer") == 2
    assert "Astronomer: 1 E; may eject 1 from hand: draw 1" in hints(acting())
    words = "\n".join(lines(acting()))
    assert "supply 2 Astronomer (2): 1 E; may eject 1 from hand: draw 1" in words
    assert "Gold pile 20   crew deck 0   titan deck 16" in words and "airlock -" in words


def test_names_of_cards_and_numbers_of_tokens_can_be_read() -> None:
    """WCAG 2 asks for 4.5."""
    grounds = (*NAME_GROUNDS.values(), TOKEN_GROUND)
    assert min(contrast(INK, ground) for ground in grounds) >= 4.5
    svg = acting().drawing().svg()
    assert {NAME_GROUNDS["scientist"], NAME_GROUNDS["iron"], TOKEN_GROUND} <= set(re.findall(r'fill="([^"]+)"', svg))


def test_long_names_of_cards_are_whole() -> None:
    position = scenario(Seat(), supply="Unknown Substance, Trade Specialist, Demolition Experts")
    assert {"Unknown Substance", "Trade Specialist", "Demolition Experts"} < set(labels(position))


def test_player_shows_city_turn_and_cards() -> None:
    words = "\n".join(lines(acting(), 0))
    assert "Tokyo - a card ejected: 1 E" in words and "6: may eject 1 from discard pile: jump 3" in words
    assert "energy 3   money 2   market actions 1" in words and "hand 2 Iron, Fuser" in words
    assert "deck Broker (on top Broker)" in words and "discard pile Mafia" in words and "in play Gold" in words
    assert {"2 Iron", "Fuser", "Gold", "4 parsecs"} <= set(labels(acting(), 0))


def test_used_operations_are_marked() -> None:
    position = after(scenario(Seat("Seoul", hand="2 Iron", discard="Iron"), energy=9), OP_2, OP_3, "pick Iron")
    assert [line.strip() for line in lines(position) if "(used)" in line] == [
        "2: 1 market action (used)",
        "3: may eject 1 from discard pile: jump 1 (used)",
    ]


def test_operations_that_may_be_repeated_are_never_used_up() -> None:
    position = after(scenario(Seat("Istanbul", hand="Iron"), energy=5), OP_4)
    assert OP_4 in legal(position) and parsecs(position) == [1, 0] and "(used)" not in position.text()


def test_alternatives_and_discarded_cards_can_be_clicked() -> None:
    choosing = after(scenario(Seat(hand="Energeticist, Iron")), "play Energeticist")
    ejecting = after(scenario(Seat("Seoul", hand="Iron", discard="Gold, Mafia"), energy=3), OP_3)
    assert {"pick Gold", "pick Mafia"} < legal(ejecting) and "choose alternative 2" in legal(choosing)
    for position in (choosing, ejecting):
        assert set(position.legal_actions()) <= marked(position, position.seat)


def test_cards_to_repeat_are_marked_where_they_lie() -> None:
    """Mimicry repeats a card of the supply, Cloning one in play."""
    seat = Seat(hand="Mimicry, Cloning, Iron", play="Broker, Iron", deck="3 Gold")
    start = scenario(seat, supply="2 Astronomer, Scavenger")
    for card, kinds in (("Mimicry", {"Astronomer", "Scavenger"}), ("Cloning", {"Broker", "Iron"})):
        position = after(start, f"play {card}")
        assert position.state["node"] == Node.REPLAY and legal(position) == {f"pick {kind}" for kind in kinds}
        found = marks(position, position.seat)
        assert [found[action] > 0 for action in position.legal_actions()] == [True] * len(kinds)


@slow
def test_cards_are_marked_only_where_they_are_taken_from() -> None:
    """A bid and a play come from the hand, whatever lies in the airlock or on the piles."""
    nodes, texts = set(), GAME.actions.text
    for seed in range(3):
        for position, _ in play(GAME.configure(3), seed):
            node = Node(int(position.state["node"]))
            if position.over or node not in (Node.BID, Node.ACTION):
                continue
            found = marks(position, position.seat)
            cards = [action for action in position.legal_actions() if texts(action).startswith(("play ", "pick "))]
            assert [found[action] for action in cards] == [1] * len(cards)
            nodes.add(node)
    assert nodes == {Node.BID, Node.ACTION}


def test_programs_that_ask_are_told() -> None:
    asking = after(scenario(Seat(hand="Surge Tech, 2 Iron, Gold")), "play Surge Tech")
    assert "player_0: discard 2 from hand" in labels(asking)
    assert "Surge Tech: 1 E; may discard 2 from hand: 2 E; draw 1" in labels(asking)
    choosing = after(scenario(Seat(hand="Energeticist, Iron")), "play Energeticist")
    assert "(Energeticist: 1 E; (draw 1) or (1 E per card ejected))" in choosing.text()
    operating = after(scenario(Seat("Seoul", hand="Iron", discard="Iron, Gold"), energy=3), OP_3)
    assert "(Seoul: may eject 1 from discard pile: jump 1)" in operating.text()


def told(position: Snapshot) -> dict[str, str]:
    """What the legal ids mean, by their texts."""
    actions = position.config.actions
    words = explain(position.state, position.config, position.legal_actions())
    return {actions.text(action): said for action, said in words.items()}


def test_cards_are_offered_for_what_they_cost_now() -> None:
    """Bangkok takes one off every price, Trade Specialist another one; no price falls below 1."""
    position = scenario(Seat("Bangkok", hand="Trade Specialist, Iron"), supply="Broker, Fencing", money=5)
    assert told(position)["acquire Broker"].startswith("for 4: ")
    position = after(position, "play Trade Specialist")
    said = {name: told(position)[f"acquire {name}"].partition(":")[0] for name in ("Broker", "Gold", "Fencing")}
    assert said == {"Broker": "for 3", "Gold": "for 1", "Fencing": "for 1"}
    assert after(position, "acquire Broker").state["money"] == 2
    assert {"energy 1   money 5   market actions 2", "cards cost 1 less"} < set(labels(position))
    assert "energy 1   money 5   market actions 2   cards cost 1 less" in position.text()


def test_bids_say_what_cards_count() -> None:
    seat = Seat(hand="Iron", deck="Jeweler, Amplify, 2 Gold, Iron")
    position = after(scenario(seat, crossed=[1, 0, 0, 0, 0, 0, 0]), END)
    assert told(position) == {
        "pick Iron": "counts 1", "pick Gold": "counts 3", "pick Jeweler": "counts 6", "pick Amplify": "counts 0"
    }  # fmt: skip
    assert {"Gold (3): $2", "Jeweler (4): $2; 1 E. +2 in a bid"} < set(hints(position, 0))


@pytest.mark.parametrize(
    ("trait", "words"),
    [
        (("gold", 0), "Gold"),
        (("resource", 0), "Iron or Gold"),
        (("crew", 0), "crew"),
        (("titan", 0), "a titan"),
        (("cost_le", 1), "a card of cost 1 or less"),
        (("crew_cost_eq", 3), "crew of cost 3"),
        (("dept", 3), "a card of the miners"),
    ],
)
def test_traits_name_the_cards_they_work_on(trait: tuple[str, int], words: str, tmp_path: Path) -> None:
    data = default_data()
    city = next(row for row in data["cities"] if row["name"] == "Sao Paulo")
    city["trait"] |= {"filter": trait[0], "param": trait[1]}
    config = GAME.configure(2, components=write_file(tmp_path, data))
    position = scenario(Seat("Sao Paulo", hand="Iron, Gold"), config=config)
    assert f"Sao Paulo - {words} played: 1 E" in position.text()


def with_effect(folder: Path, program: list[Any]) -> Snapshot:
    """Astronomer is in hand and does this."""
    data = default_data()
    next(row for row in data["cards"] if row["name"] == "Astronomer")["on_play"] = program
    config = GAME.configure(2, components=write_file(folder, data))
    return scenario(Seat(hand="Astronomer, 3 Iron", deck="Gold"), config=config)


def test_alternatives_in_one_another_are_not_guessed(tmp_path: Path) -> None:
    energy, money, card = ([["gain", name, 1]] for name in ("energy", "money", "draw"))
    capped = [["gain", "energy", 1, "ejected", 4]]
    for inner in ([energy, money], [capped, money]):
        position = after(with_effect(tmp_path, [["choice", [[["choice", inner]], card]]]), "play Astronomer")
        assert legal(position) == {OPT_1, OPT_2} and told(position) == {}
    position = after(with_effect(tmp_path, [["choice", [capped, card]]]), "play Astronomer")
    assert told(position) == {OPT_1: "1 E per card ejected (at most 4)", OPT_2: "draw 1"}


@pytest.mark.parametrize(
    ("most", "least", "words"),
    [
        (3, 1, "eject up to 3 from hand: 2 E"),
        (3, 2, "eject up to 3 from hand, if 2 or more: 2 E"),
        (2, 2, "eject up to 2 from hand: 2 E"),
    ],
)
def test_effects_tell_how_many_cards_they_want(most: int, least: int, words: str, tmp_path: Path) -> None:
    program = [["move", "hand", "any", 0, "upto", most, "eject"], ["if", "moved", least, [["gain", "energy", 2]]]]
    assert told(with_effect(tmp_path, program))["play Astronomer"] == words


def test_long_effects_are_marked_as_cut(tmp_path: Path) -> None:
    said = told(with_effect(tmp_path, [["gain", "energy", 1]] * 40))["play Astronomer"]
    assert len(said) == 160 and said.startswith("1 E; 1 E; ") and said.endswith("...")


def test_cards_of_others_are_closed() -> None:
    position = acting()
    words = position.text(1)
    assert "hand 3 cards" in words and "deck 1 card\n" in words and "on top" not in words and "2 Iron" not in words
    assert "3 cards" in labels(position, 1) and "Fuser" not in labels(position, 1)
    seats = Seat(hand="Iron", deck="3 Iron, 2 Broker"), Seat(hand="2 Iron", deck="9 Iron")
    bid = after(scenario(*seats, crossed=[1, 0, 0, 0, 0, 0, 0]), END, "pick Iron", DONE)
    assert "bid 1 card, complete" in bid.text(1) and "bid Iron, complete" in bid.text(0)
    assert "1 face down, complete" in labels(bid, 1) and "Titans" in labels(bid)
    looking = after(scenario(Seat(hand="Bio Engineer, Iron", top="Iron, Gold, Fencing")), "play Bio Engineer")
    assert "looks at 3 cards" in looking.text(1) and "looks at Iron, Gold, Fencing" in looking.text(0)


def test_cities_dealt() -> None:
    dealt = Snapshot.deal(GAME.configure(2), 1)
    offers = [GAME.actions.text(action).removeprefix("keep ") for action in dealt.legal_actions()]
    assert f"cities dealt: {', '.join(offers)}" in dealt.text(0)
    assert not any(city in dealt.text(1) for city in offers)
    chosen = dealt.apply(dealt.legal_actions()[0])
    assert offers[0] in chosen.text(0) and offers[0] not in chosen.text(1)


def test_the_end_shows_result_and_places() -> None:
    won = after(scenario(Seat("Moscow", hand="Iron", parsecs=18), Seat(parsecs=3), energy=5), OP_3)
    assert "Kepler is reached: player_0 wins" in labels(won) and {"rank 1", "rank 2"} <= set(labels(won))
    capped = after(scenario(Seat(parsecs=2, hand="Iron"), Seat(parsecs=3), rounds=39, active=0, first=1), END)
    assert "the last round is over: nobody wins, player_1 got furthest" in capped.text()
    level = after(scenario(*4 * [Seat(parsecs=3, hand="Iron")], rounds=39, active=0, first=1), END)
    assert "player_1 and player_2 and player_3 got furthest" in " ".join(level.text().split())


@pytest.mark.parametrize("players", range(2, 5))
def test_pictures_and_texts_of_whole_games(players: int) -> None:
    """One size for all positions of a game; texts fit a terminal; positions that a seat cannot tell apart look the
    same."""
    sizes = set()
    for number, (position, _) in enumerate(play(GAME.configure(players), 2)):
        if number % 10 == 0 or position.over:
            assert all(len(line) <= COLUMNS and line == line.rstrip() for line in lines(position))
            seat = number % players
            assert position.text(seat) == position.resample(seat, 99).text(seat)
        if number % 60 == 0 or position.over:
            drawing = position.drawing(seat)
            sizes.add((drawing.width, drawing.height))
            ElementTree.fromstring(drawing.svg())
            assert drawing.svg() == position.resample(seat, 99).drawing(seat).svg()
    assert len(sizes) == 1


def test_pixels() -> None:
    pixels = acting().drawing().rgb(0.5)
    assert pixels.dtype == np.uint8 and pixels.shape[1] == 640 and len(np.unique(pixels)) > 50


def test_names_of_other_files_are_shown_and_escaped(tmp_path: Path) -> None:
    data = default_data()
    next(row for row in data["cards"] if row["name"] == "Fuser")["name"] = "<Fuse> & go"
    config = GAME.configure(2, components=write_file(tmp_path, data))
    position = scenario(Seat(hand="<Fuse> & go, Iron"), config=config)
    assert "<Fuse> & go" in position.text() and "<Fuse> & go" in labels(position)


@pytest.mark.parametrize("space", [0, 20])
def test_all_ships_at_an_end_of_the_track_lie_on_its_panel(space: int) -> None:
    position = scenario(*(Seat(parsecs=space) for _ in range(4)))
    ships = [shapes(position, f"player_{seat}: {space} parsecs")[0][0].points for seat in range(4)]
    assert min(x for ship in ships for x, _ in ship) >= MARGIN + 4
    assert max(x for ship in ships for x, _ in ship) <= WIDTH - MARGIN - 4
    assert all(left[2][0] < right[0][0] for left, right in pairwise(ships))


def test_no_such_seat() -> None:
    with pytest.raises(ValueError, match="seat = 2 is not allowed"):
        acting().text(2)


def test_the_rules_card_has_the_numbers_of_the_component_file() -> None:
    card, data = " ".join(rules_text(GAME).split()), default_data()
    number = {row["name"]: row["value"] for row in data["numbers"]}
    *spaces, last = (str(row["space"]) for row in data["encounter_tokens"])
    assert f"({', '.join(spaces)} and {last}) hold a token" in card
    assert f"reaches {number['track_length']} parsecs" in card and f"After {number['round_cap']} rounds" in card
    assert (number["market_actions"], number["hand_size"], number["titan_row"]) == (1, 5, 3)
    assert "market actions (there is one" in card and "draw five cards" in card and "three titans are revealed" in card


def test_the_rules_card_has_what_happens_without_a_bid_or_with_several_tokens() -> None:
    """R9 and R14, and what becomes of the other titans."""
    card = " ".join(rules_text(GAME).split())
    assert "of several the first one alone" in card
    assert "If nobody bids a card, nobody gets a titan. The titans left return to their deck." in card


def test_the_rules_card_has_the_first_deck() -> None:
    card, data = " ".join(rules_text(GAME).split()), default_data()
    number = {row["name"]: row["value"] for row in data["numbers"]}
    iron, gold, mafia = data["cards"][:3]
    assert [number[f"start_{name}"] for name in ("iron", "gold", "mafia")] == [7, 2, 1]
    assert [row["on_play"] for row in (iron, gold)] == [[["gain", "money", 1]], [["gain", "money", 2]]]
    assert (iron["cost"], gold["cost"], mafia["cost"]) == (1, 3, 1)
    assert mafia["on_play"] == [["move", "supply", "any", 0, "upto", 1, "airlock"]]
    assert "seven Iron (cost 1, brings 1 money), two Gold (cost 3, brings 2 money) and a Mafia (cost 1, can" in card
