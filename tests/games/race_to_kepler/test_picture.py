"""Pictures and texts of positions built by hand: what they say, and what they must not give away."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from kepler_envs import Snapshot
from kepler_envs.games.race_to_kepler.picture import COLUMNS
from tests.contract.subjects import play
from tests.games.race_to_kepler.card_file import default_data, write_file
from tests.games.race_to_kepler.scenario import DONE, END, GAME, OP_2, OP_3, Seat, after, legal, scenario
from tests.pictures import hints, labels, lines, marked


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


def test_alternatives_and_discarded_cards_can_be_clicked() -> None:
    choosing = after(scenario(Seat(hand="Energeticist, Iron")), "play Energeticist")
    ejecting = after(scenario(Seat("Seoul", hand="Iron", discard="Gold, Mafia"), energy=3), OP_3)
    assert {"pick Gold", "pick Mafia"} < legal(ejecting) and "choose alternative 2" in legal(choosing)
    for position in (choosing, ejecting):
        assert set(position.legal_actions()) <= marked(position, position.seat)


def test_programs_that_ask_are_told() -> None:
    asking = after(scenario(Seat(hand="Surge Tech, 2 Iron, Gold")), "play Surge Tech")
    assert "player_0: discard 2 from hand" in labels(asking)
    assert "Surge Tech: 1 E; may discard 2 from hand: 2 E; draw 1" in labels(asking)
    choosing = after(scenario(Seat(hand="Energeticist, Iron")), "play Energeticist")
    assert "(Energeticist: 1 E; (draw 1) or (1 E per card ejected))" in choosing.text()
    operating = after(scenario(Seat("Seoul", hand="Iron", discard="Iron, Gold"), energy=3), OP_3)
    assert "(Seoul: may eject 1 from discard pile: jump 1)" in operating.text()


def test_cards_of_others_are_closed() -> None:
    position = acting()
    words = position.text(1)
    assert "hand 3 cards" in words and "deck 1 cards" in words and "on top" not in words and "2 Iron" not in words
    assert "3 cards" in labels(position, 1) and "Fuser" not in labels(position, 1)
    seats = Seat(hand="Iron", deck="3 Iron, 2 Broker"), Seat(hand="2 Iron", deck="9 Iron")
    bid = after(scenario(*seats, crossed=[1, 0, 0, 0, 0, 0, 0]), END, "pick Iron", DONE)
    assert "bid 1 cards, complete" in bid.text(1) and "bid Iron, complete" in bid.text(0)
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


def test_no_such_seat() -> None:
    with pytest.raises(ValueError, match="seat = 2 is not allowed"):
        acting().text(2)
