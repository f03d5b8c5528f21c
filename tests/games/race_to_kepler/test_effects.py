"""The effect language: every instruction, word, trigger and trait, each by a test that says which.

A case plays the card Probe, which has just the program in question, and looks at what came of it. What a case is about
is read off its program, and the last tests count that nothing has been left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.race_to_kepler.effects import (
    Counter,
    Destination,
    Filter,
    Hook,
    Mode,
    Op,
    Replay,
    Resource,
    Source,
)
from kepler_envs.games.race_to_kepler.state import GOLD, EndReason, Node
from tests.games.race_to_kepler.card_file import card, default_data, write_file
from tests.games.race_to_kepler.scenario import (
    DONE,
    END,
    GAME,
    OP_1,
    OP_2,
    OP_3,
    OP_4,
    OPT_1,
    OPT_2,
    Seat,
    after,
    cards,
    legal,
    parsecs,
    scenario,
    tokens,
    top_cards,
)

EMPTY: list[Any] = []


@dataclass
class Case:
    """``decisions`` come after playing Probe; ``expect``: fields of the state, zones by name, ``parsecs``, ``legal``,
    ``top``."""

    name: str
    program: list[Any]
    hand: str = "Probe, Mafia"
    expect: dict[str, Any] = field(default_factory=dict)
    decisions: tuple[str, ...] = ()
    on_discard: list[Any] = field(default_factory=list)
    on_eject: list[Any] = field(default_factory=list)
    seat: dict[str, Any] = field(default_factory=dict)
    table: dict[str, Any] = field(default_factory=dict)
    play: str = "Probe"


AIRLOCK = {"airlock": "Iron, Gold, Mafia, Fencing, Teleporter, Amplify"}


def filtered(name: str, parameter: int, *passing: str) -> Case:
    """A filter on the airlock; what passes can be picked."""
    program = [["move", "airlock", name, parameter, "upto", 1, "hand"]]
    return Case(
        f"filter {name}", program, table=AIRLOCK, expect={"legal": {DONE, *(f"pick {card}" for card in passing)}}
    )


def counted(name: str, energy: int, table: dict[str, Any], hand: str = "Probe, Mafia") -> Case:
    """Energy for everything a counter counts."""
    return Case(f"counter {name}", [["gain", "energy", 1, name]], hand, expect={"energy": energy}, table=table)


CASES = [
    Case("gain energy", [["gain", "energy", 2]], expect={"energy": 2}),
    Case("gain money", [["gain", "money", 3]], expect={"money": 3}),
    Case("gain market", [["gain", "market", 2]], expect={"market": 3}),
    Case("gain jump", [["gain", "jump", 4]], expect={"parsecs": 4, "crossed": [1, 1, 0, 0, 0, 0, 0]}),
    Case("gain draw", [["gain", "draw", 2]], seat={"top": "Gold, Iron, Fencing"}, expect={"hand": "Iron, Gold, Mafia"}),
    Case("gain saturates", [["gain", "energy", 20]], table={"energy": 90}, expect={"energy": 99}),
    Case("gain with a cap", [["gain", "energy", 2, "ejected", 3]], table={"ejected": 5}, expect={"energy": 3}),
    Case("counter moved", [["move", "hand", "iron", 0, "must", 2, "eject"], ["gain", "energy", 1, "moved"]],
         "Probe, Mafia, 3 Iron", expect={"energy": 2, "airlock": "2 Iron"}),
    Case("counter value", [["move", "hand", "gold", 0, "must", 2, "eject"], ["gain", "energy", 1, "value"]],
         "Probe, Mafia, 2 Gold", expect={"energy": 6}),
    Case("counter value of the last move alone",
         [["move", "hand", "iron", 0, "must", 1, "eject"], ["move", "hand", "gold", 0, "must", 1, "eject"],
          ["gain", "energy", 1, "value"]],
         "Probe, Mafia, Iron, Gold", expect={"energy": 3, "airlock": "Iron, Gold"}),
    Case("counter from_own: hand", EMPTY, "Probe, Mafia, Astronomer",
         on_eject=[["if", "from_own", 1, [["gain", "energy", 5]]]],
         play="Astronomer", decisions=("pick Probe",), expect={"energy": 6}),
    Case("counter from_own: play area", [["move", "self", "any", 0, "must", 1, "eject"]],
         on_eject=[["if", "from_own", 1, [["gain", "energy", 5]]]], decisions=(),
         expect={"energy": 0, "airlock": "Probe"}),
    counted("ejected", 3, {"ejected": 3}),
    counted("discarded", 4, {"discarded": 4}),
    counted("market_taken", 2, {"market_taken": 2}),
    counted("gold_played", 2, {"gold_played": 2, "resource_played": 2}),
    counted("gold_in_hand", 3, {}, "Probe, Mafia, 3 Gold"),
    counted("resource_played", 5, {"resource_played": 5}),
    counted("crew_played", 3, {"crew_played": 2}),  # Probe is one of them
    counted("titan_played", 1, {"titan_played": 1}),
    counted("departments", 2, {"department": [0, 0, 1, 0]}),  # and Probe's own
    counted("ops_used", 2, {"ops_used": 2}),
    filtered("any", 0, "Iron", "Gold", "Mafia", "Fencing", "Teleporter", "Amplify"),
    filtered("iron", 0, "Iron"),
    filtered("gold", 0, "Gold"),
    filtered("resource", 0, "Iron", "Gold"),
    filtered("crew", 0, "Fencing", "Teleporter"),
    filtered("titan", 0, "Amplify"),
    filtered("cost_le", 2, "Iron", "Mafia", "Fencing"),
    filtered("crew_cost_eq", 3, "Teleporter"),
    filtered("dept", 2, "Amplify"),
    Case("filter cost_le_value", [["move", "hand", "iron", 0, "must", 1, "eject"],
                                  ["move", "supply", "cost_le_value", 2, "upto", 1, "hand"]],
         "Probe, Mafia, Iron", table={"supply": "Fencing, Teleporter, Fuser"},
         expect={"legal": {"pick Fencing", "pick Teleporter", DONE}}),
    Case("source hand", [["move", "hand", "any", 0, "must", 1, "discard"]], "Probe, Mafia, Iron",
         decisions=("pick Iron",),
         expect={"hand": "Mafia", "discard": "Iron", "discarded": 1}),
    Case("source discard", [["move", "discard", "any", 0, "must", 1, "eject"]], seat={"discard": "Iron"},
         expect={"discard": "", "airlock": "Iron", "ejected": 1}),
    Case("source hand_discard takes the discarded copy", [["move", "hand_discard", "any", 0, "must", 1, "eject"]],
         "Probe, Mafia, Iron", seat={"discard": "Iron"}, decisions=("pick Iron",),
         expect={"hand": "Iron, Mafia", "discard": ""}),
    Case("source supply", [["move", "supply", "any", 0, "must", 1, "hand"]], table={"supply": "Fencing"},
         expect={"hand": "Mafia, Fencing", "supply": ""}),
    Case("source airlock", [["move", "airlock", "any", 0, "must", 1, "owndiscard"]], table={"airlock": "Broker"},
         expect={"discard": "Broker", "airlock": "", "discarded": 0}),
    Case("source play", [["move", "play", "iron", 0, "must", 1, "eject"]], seat={"play": "Iron"},
         expect={"play": "Probe", "airlock": "Iron"}),
    Case("source self", [["move", "self", "any", 0, "upto", 1, "airlock"]], decisions=("pick Probe",),
         expect={"play": "", "airlock": "Probe", "ejected": 0}),
    Case("source look", [["look", 2], ["move", "look", "any", 0, "must", 1, "hand"]], seat={"top": "Gold, Iron, Mafia"},
         decisions=("pick Iron",), expect={"hand": "Iron, Mafia", "top": "Gold, Mafia", "look_size": 0}),
    Case("look at fewer cards", [["look", 3], ["move", "look", "any", 0, "all", 99, "hand"]], seat={"top": "Gold"},
         expect={"hand": "Gold, Mafia", "look_size": 0}),
    Case("source deck", [["move", "deck", "any", 0, "must", 2, "eject"]], seat={"top": "Gold, Iron"},
         expect={"airlock": "Iron, Gold", "ejected": 2}),
    Case("source deck with fewer cards", [["move", "deck", "any", 0, "must", 3, "eject"]],
         seat={"top": "Gold", "discard": "Iron"}, expect={"airlock": "Iron, Gold", "ejected": 2}),
    Case("source goldpile", [["move", "goldpile", "any", 0, "must", 3, "hand"]], table={"gold_pile": 2},
         expect={"hand": "2 Gold, Mafia", "gold_pile": 0}),
    Case("source titandeck", [["move", "titandeck", "any", 0, "must", 1, "hand"]], table={"titans": "Heist"},
         expect={"hand": "Mafia, Heist", "titan_deck_size": 0}),
    Case("source titandeck without titans", [["move", "titandeck", "any", 0, "must", 1, "hand"]], table={"titans": ""},
         expect={"hand": "Mafia", "titan_deck_size": 0}),
    Case("source self_discard", EMPTY, "Probe, Mafia, Machinist", play="Machinist", decisions=("pick Probe",),
         on_discard=[["move", "self_discard", "any", 0, "must", 1, "hand"]],
         expect={"hand": "Mafia, Probe", "discarded": 1}),
    Case("destination decktop", [["move", "hand", "resource", 0, "upto", 2, "decktop"]], "Probe, Mafia, Iron, Gold",
         decisions=("pick Iron", "pick Gold"), expect={"top": "Gold, Iron", "hand": "Mafia"}),
    Case("mode must takes what there is", [["move", "hand", "iron", 0, "must", 3, "eject"]], "Probe, Mafia, 2 Iron",
         expect={"airlock": "2 Iron", "hand": "Mafia"}),
    Case("mode may is all or nothing", [["move", "hand", "iron", 0, "may", 3, "eject"]], "Probe, Mafia, 2 Iron",
         expect={"airlock": "", "node": Node.ACTION}),
    Case("mode may, once begun, goes on", [["move", "hand", "any", 0, "may", 2, "eject"]], "Probe, Mafia, Iron, Gold",
         decisions=("pick Iron",), expect={"legal": {"pick Gold", "pick Mafia"}}),
    Case("mode may takes all there is", [["move", "hand", "iron", 0, "may", 2, "eject"]], "Probe, Mafia, 2 Iron",
         decisions=("pick Iron",), expect={"hand": "Mafia", "airlock": "2 Iron"}),
    Case("mode may declined",
         [["move", "hand", "any", 0, "may", 2, "eject"], ["if", "moved", 1, [["gain", "energy", 9]]]],
         "Probe, Mafia, Iron, Gold", decisions=(DONE,), expect={"energy": 0, "airlock": ""}),
    Case("mode upto", [["move", "hand", "iron", 0, "upto", 2, "eject"]], "Probe, Mafia, 3 Iron",
         decisions=("pick Iron", DONE), expect={"airlock": "Iron"}),
    Case("mode all", [["move", "hand", "any", 0, "all", 99, "eject"], ["gain", "energy", 1, "moved"]],
         "Probe, 2 Iron, Gold", seat={"deck": "5 Iron"}, table={"money": 9},
         expect={"hand": "", "airlock": "2 Iron, Gold", "energy": 3}),
    Case("choice, first", [["choice", [[["gain", "energy", 1]], [["gain", "money", 1]]]], ["gain", "market", 1]],
         decisions=(OPT_1,), expect={"energy": 1, "money": 0, "market": 2}),
    Case("choice, last of three", [["choice", [[["gain", "energy", 1]], [], [["gain", "money", 1]]]]],
         decisions=("choose alternative 3",), expect={"energy": 0, "money": 1}),
    Case("if not reached", [["if", "ejected", 2, [["gain", "energy", 9]]], ["gain", "money", 1]], table={"ejected": 1},
         expect={"energy": 0, "money": 1}),
    Case("if reached", [["if", "ejected", 2, [["gain", "energy", 9]]], ["gain", "money", 1]], table={"ejected": 2},
         expect={"energy": 9, "money": 1}),
    Case("replay play", [["replay", "play"]], seat={"play": "Gold, Trade Specialist"}, decisions=("pick Gold",),
         expect={"money": 2, "gold_played": 0}),
    Case("replay nothing", [["replay", "play"], ["gain", "energy", 1]], expect={"energy": 1}),
    Case("replay supply", [["replay", "supply"]], table={"supply": "Jeweler"},
         expect={"money": 2, "energy": 1, "supply": "Jeweler"}),
    Case("discount", [["discount", 2]], table={"supply": "Teleporter", "money": 1}, decisions=("acquire Teleporter",),
         expect={"money": 0, "discount": 2, "hand": "Mafia, Teleporter"}),
    Case("the trigger on_discard", EMPTY, "Probe, Mafia, Machinist", play="Machinist", decisions=("pick Probe",),
         on_discard=[["gain", "energy", 2]], on_eject=[["gain", "money", 9]], expect={"energy": 2, "money": 0}),
    Case("the trigger on_eject", EMPTY, "Probe, Mafia, Astronomer", play="Astronomer", decisions=("pick Probe",),
         on_eject=[["gain", "money", 2]], on_discard=[["gain", "energy", 9]], expect={"energy": 1, "money": 2}),
]  # fmt: skip


def probe(folder: Path, on_play: list[Any], **columns: Any) -> Any:
    """A configuration in which the card Probe stands for Scavenger."""
    data = default_data()
    data["cards"] = [row for row in data["cards"] if row["name"] != "Scavenger"]
    data["cards"].append(card(27, "Probe", on_play, **columns))
    return GAME.configure(2, components=write_file(folder, data))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_an_instruction_does(case: Case, tmp_path: Path) -> None:
    config = probe(tmp_path, case.program, on_discard=case.on_discard, on_eject=case.on_eject)
    start = scenario(Seat(hand=case.hand, **case.seat), config=config, **case.table)
    position = after(start, f"play {case.play}", *case.decisions)
    for what, value in case.expect.items():
        assert found(position, what) == value, what


def found(position: Snapshot, what: str) -> Any:
    if what == "legal":
        return legal(position)
    if what == "top":
        return top_cards(position)
    if what == "parsecs":
        return parsecs(position)[0]
    if what in ("supply", "airlock"):
        return cards(position, what, None)
    if what in ("hand", "discard", "play", "deck"):
        return cards(position, what)
    return position.state[what].tolist()


MAY_TWO = {
    # source: where one card lies, and where two lie
    "hand": ({"hand": "Iron"}, {"hand": "2 Iron"}),
    "discard": ({"discard": "Iron"}, {"discard": "2 Iron"}),
    "hand_discard": ({"discard": "Iron"}, {"hand": "Iron", "discard": "Iron"}),
    "supply": ({"supply": "Iron"}, {"supply": "2 Iron"}),
    "airlock": ({"airlock": "Iron"}, {"airlock": "2 Iron"}),
    "play": ({"play": "Iron"}, {"play": "2 Iron"}),
    "look": ({"top": "Iron, Gold"}, {"top": "2 Iron"}),
}


@pytest.mark.parametrize("source", MAY_TWO)
def test_all_or_nothing_counts_the_cards_at_the_source(source: str, tmp_path: Path) -> None:
    """3.4: who may move two Iron is asked where two lie, and not where one does."""
    look = [["look", 2]] if source == "look" else []
    config = probe(tmp_path, [*look, ["move", source, "iron", 0, "may", 2, "airlock"]])
    for zones, node in zip(MAY_TWO[source], (Node.ACTION, Node.MOVE), strict=True):
        table = {name: words for name, words in zones.items() if name in ("supply", "airlock")}
        own = {name: words for name, words in zones.items() if name not in table}
        own["hand"] = ", ".join(["Probe, Mafia", *filter(None, [own.get("hand")])])
        position = after(scenario(Seat(**own), config=config, **table), "play Probe")
        assert position.node == node
    assert legal(position) == {"pick Iron", DONE}
    taken = after(position, "pick Iron")
    assert (cards(taken, "airlock", None), cards(taken, "hand"), cards(taken, "discard")) == ("2 Iron", "Mafia", "")


# ---------------------------------------------------------------- order, the stack, limits


def test_own_trigger_first_then_the_trait_then_the_move_goes_on(tmp_path: Path) -> None:
    """A card's own trigger asks before Tokyo's trait gives its energy, and the second pick waits for both."""
    config = probe(tmp_path, [["move", "hand", "crew", 0, "must", 2, "eject"]])
    start = scenario(Seat("Tokyo", hand="Probe, Mafia, 2 Fencing"), config=config)
    asked = after(start, "play Probe")
    assert asked.node == Node.CHOICE and asked.state["energy"] == 0
    assert asked.state["airlock"].sum() == 1
    second = after(asked, OPT_1)
    assert second.node == Node.CHOICE and second.state["energy"] == 1 and second.state["airlock"].sum() == 2
    assert after(second, OPT_1).state["energy"] == 2


def test_a_repeated_card_that_is_not_in_play_cannot_eject_itself() -> None:
    """R23: Fencing repeated from the supply; from the play area it can."""
    supply = after(scenario(Seat(hand="Mimicry, Iron"), supply="Fencing"), "play Mimicry")
    assert supply.node == Node.ACTION and cards(supply, "supply", None) == "Fencing"
    play = after(scenario(Seat(hand="Cloning, Iron", play="Fencing")), "play Cloning")
    assert legal(play) == {"pick Fencing", DONE}


def test_a_full_stack_drops_what_comes_on_top(tmp_path: Path) -> None:
    """Two cards that repeat each other end once the stack is full: every frame goes on after its repeat."""
    data = default_data()
    data["cards"] = [row for row in data["cards"] if row["name"] not in ("Scavenger", "Demolition Experts")]
    echo = [["replay", "play"], ["gain", "energy", 1]]
    data["cards"] += [card(27, "Echo", echo), card(28, "Answer", echo)]
    config = GAME.configure(2, components=write_file(tmp_path, data))
    position = after(scenario(Seat(hand="Echo, Mafia", play="Answer"), config=config), "play Echo")
    assert position.state["depth"] == 0 and position.state["energy"] == 8


def test_the_known_top_of_a_deck_is_limited(tmp_path: Path) -> None:
    config = probe(tmp_path, [["move", "hand", "iron", 0, "must", 99, "decktop"]])
    position = after(scenario(Seat(hand="Probe, Mafia, 20 Iron"), config=config), "play Probe")
    assert cards(position, "hand") == "4 Iron, Mafia" and position.state["player"][0]["known_size"] == 16


def test_what_is_kept_in_mind_of_a_hand_is_limited(tmp_path: Path) -> None:
    """Everybody saw nine Gold go into the hand. The first eight are kept in mind."""
    config = probe(tmp_path, [["move", "goldpile", "any", 0, "must", 9, "hand"]])
    start = scenario(Seat(hand="Probe, Mafia", deck="9 Iron"), Seat(hand="Iron"), config=config)
    position = after(start, "play Probe")
    assert cards(position, "hand") == "9 Gold, Mafia"
    player = position.state["player"][0]
    assert player["shown_size"] == 8 and player["shown_kind"].tolist() == [1 + GOLD] * 8


def test_the_row_has_as_many_titans_as_the_file_says(tmp_path: Path) -> None:
    for titans in (1, 5):
        data = default_data()
        next(row for row in data["numbers"] if row["name"] == "titan_row")["value"] = titans
        config = GAME.configure(2, components=write_file(tmp_path, data))
        seats = Seat(hand="Iron", deck="9 Iron"), Seat(hand="2 Iron")
        position = after(scenario(*seats, config=config, crossed=[1, 0, 0, 0, 0, 0, 0]), END)
        assert position.state["titan_row"].sum() == titans


def test_a_card_put_on_the_deck_unseen_may_be_any_of_the_hand(tmp_path: Path) -> None:
    """R20: everybody saw the Gold gained, until any card of the hand may have gone on the deck.

    Only its owner knows the card there, also when it is drawn again.
    """
    gain, put = ["move", "goldpile", "any", 0, "must", 1, "hand"], ["move", "hand", "any", 0, "must", 1, "decktop"]
    config = probe(tmp_path, [gain, put])
    shown, following = config.observation["cards.shown"], config.observation["players.next"]
    seats = Seat(hand="Probe, Mafia, Iron", deck="9 Iron"), Seat(hand="Iron")
    asked = after(scenario(*seats, config=config), "play Probe")
    assert shown.view(asked.observe(1))[1] == 1
    moved = after(asked, "pick Mafia")
    assert top_cards(moved) == "Mafia"
    assert not shown.view(moved.observe(1)).any() and not following.view(moved.observe(1)).any()
    drawn = after(moved, END)
    assert cards(drawn, "hand") == "4 Iron, Mafia" and not shown.view(drawn.observe(1)).any()


@pytest.mark.parametrize("destination", ["hand", "decktop"])
def test_a_card_moved_off_an_open_top_is_known(destination: str, tmp_path: Path) -> None:
    """R20: everybody saw the Gold put on the deck, so everybody knows which card is taken from there, as in a draw."""
    put, take = ([["move", *words]] for words in (
        ("airlock", "any", 0, "must", 1, "decktop"), ("deck", "any", 0, "must", 1, destination)))  # fmt: skip
    config = probe(tmp_path, [*put, *take])
    start = scenario(Seat(hand="Probe, Mafia", deck="9 Iron"), Seat(hand="Iron"), config=config, airlock="Gold")
    seen = after(start, "play Probe").observe(1)
    assert config.observation["cards.shown"].view(seen)[1] == (destination == "hand")
    following = [2, 0, 0, 0, 0] if destination == "decktop" else [0, 0, 0, 0, 0]
    assert config.observation["players.next"].view(seen)[1].tolist() == following


def test_look_returns_what_is_left_in_its_order(tmp_path: Path) -> None:
    config = probe(tmp_path, [["look", 5], ["move", "look", "gold", 0, "upto", 1, "eject"]])
    start = scenario(Seat(hand="Probe, Mafia", top="Iron, Fencing, Gold, Broker", discard="Jeweler"), config=config)
    asked = after(start, "play Probe")
    assert asked.state["look_size"] == 5 and cards(asked, "look", None) == "Iron, Gold, Fencing, Jeweler, Broker"
    assert top_cards(after(asked, "pick Gold")) == "Iron, Fencing, Broker, Jeweler"
    assert top_cards(after(asked, DONE)) == "Iron, Fencing, Gold, Broker, Jeweler"


def test_a_move_of_any_number_ends(tmp_path: Path) -> None:
    """Cards that go back where they came from are not moved for ever."""
    config = probe(tmp_path, [["move", "deck", "any", 0, "must", 99, "decktop"], ["gain", "energy", 1, "moved", 99]])
    position = after(scenario(Seat(hand="Probe, Mafia", deck="2 Iron"), config=config), "play Probe")
    assert position.state["energy"] == 99 and position.state["player"][0]["deck_size"] == 2


def test_a_turn_of_150_decisions_can_only_be_ended() -> None:
    start = scenario(Seat("Istanbul", hand="Iron", deck="9 Iron"), energy=99, decisions=160, decisions_before=11)
    assert OP_1 in legal(start)
    position = after(start, OP_1)
    assert position.state["player"][0]["turns"] == 1  # the turn has ended unasked
    assert tokens(position) == [1, 3, 5, 8, 11, 14, 17]


# ---------------------------------------------------------------- traits


def test_trait_turn_start() -> None:
    """Moscow scans, Johannesburg gets money, Delhi chooses."""
    moscow = after(scenario(Seat(hand="Iron", deck="5 Iron"), Seat("Moscow", hand="Iron", top="Gold, Iron")), END)
    assert (moscow.node, moscow.seat) == (Node.MOVE, 1) and legal(moscow) == {"pick Gold", DONE}
    assert cards(after(moscow, "pick Gold"), "discard", 1) == "Gold"
    rich = after(scenario(Seat(hand="Iron", deck="5 Iron"), Seat("Johannesburg", hand="Iron")), END)
    assert rich.state["money"] == 1 and rich.state["active"] == 1
    delhi = after(scenario(Seat(hand="Iron", deck="5 Iron"), Seat("Delhi", hand="Iron")), END)
    assert after(delhi, OPT_2).state["energy"] == 1


def test_trait_play() -> None:
    """Sao Paulo: only crew of cost 3. Tehran stands in vector T16."""
    start = scenario(Seat("Sao Paulo", hand="Asteroid Miner, Jeweler, Iron"))
    assert after(start, "play Jeweler").state["energy"] == 1
    asked = after(start, "play Asteroid Miner")
    assert asked.node == Node.CHOICE and after(asked, OPT_1).state["energy"] == 2


def test_trait_acquire() -> None:
    """Kinshasa: cards acquired, in both phases, but not cards gained."""
    start = scenario(Seat("Kinshasa", hand="Iron, Excavation"), money=3, supply="Fencing", race=0)
    assert after(start, "acquire Gold").state["energy"] == 1
    assert after(start, "play Excavation").state["energy"] == 2


@pytest.mark.parametrize(
    ("city", "hand", "actions", "gained"),
    [
        ("Istanbul", "Extractor, Iron", ("play Extractor", OPT_1), "Iron, Gold"),
        ("Istanbul", "Ore Processor, 2 Iron", ("play Ore Processor", "pick Iron"), "Iron, Gold"),
        ("Istanbul", "Excavation, Iron", ("play Excavation",), "Iron, 2 Gold"),
        ("Tehran", "Iron", (OP_2,), "Iron, Gold"),
    ],
)
@pytest.mark.parametrize("race", [0, 1])
def test_a_gain_is_not_declined(city: str, hand: str, actions: tuple[str, ...], gained: str, race: int) -> None:
    """R8: nobody is asked, and the card goes to hand in the Launch phase, too."""
    position = after(scenario(Seat(city, hand=hand), energy=6, race=race), *actions)
    assert position.node == Node.ACTION and cards(position, "hand") == gained and not cards(position, "discard")


def test_trait_eject() -> None:
    """Tokyo: each card, wherever it comes from."""
    start = scenario(Seat("Tokyo", hand="Extinction, Iron", discard="2 Gold"))
    assert after(start, "play Extinction", "pick Gold", "pick Gold").state["energy"] == 2 + 2 + 2


def test_trait_discard() -> None:
    """Cairo: by effects, not by cleaning up."""
    position = after(scenario(Seat("Cairo", hand="Thrust Operator, Iron", top="Gold, Gold")), "play Thrust Operator")
    assert position.state["energy"] == 4
    ended = after(position, END)
    assert ended.state["energy"] == 0


def test_trait_supply_airlock() -> None:
    """Lagos: from the supply, not when a card is ejected."""
    start = scenario(Seat("Lagos", hand="Swarm, Iron, Astronomer"), supply="Fencing, Broker")
    swarm = after(start, "play Swarm", "pick Fencing", "pick Broker")
    assert swarm.state["energy"] == 1 + 2 + 2
    assert after(swarm, "play Astronomer", "pick Iron").state["energy"] == 6


def test_cards_to_the_airlock_from_elsewhere_are_none_of_the_supply(tmp_path: Path) -> None:
    """R17: a card that goes to the airlock from elsewhere is none of the supply's."""
    config = probe(tmp_path, [["move", "hand", "iron", 0, "must", 1, "airlock"]])
    position = after(scenario(Seat("Lagos", hand="Probe, Mafia, Iron"), config=config), "play Probe")
    assert cards(position, "airlock", None) == "Iron" and position.state["energy"] == 0


def test_trait_all_ops() -> None:
    """Seoul: once, as soon as the fourth operation is used; the parsecs are in vector T15."""
    start = scenario(Seat("Seoul", hand="Iron"), energy=10)
    position = after(start, OP_4, OP_3, OP_2)
    assert parsecs(position)[0] == 2 and position.state["all_ops"] == 0
    done = after(position, OP_1)
    assert parsecs(done)[0] == 6 and done.state["all_ops"] == 1


def test_all_operations_of_another_city_fire_nothing() -> None:
    """Johannesburg's first operation brings money, and its trait is for the start of a turn."""
    start = scenario(Seat("Johannesburg", hand="Iron"), energy=21)
    done = after(start, OP_1, OP_2, OP_3, OP_4)
    assert parsecs(done)[0] == 9 and done.state["money"] == 1 and done.state["all_ops"] == 0


def test_trait_win_bid() -> None:
    """Karachi may also take the titan; only the winner of the bid is asked."""
    seats = Seat("Karachi", hand="Iron", deck="5 Iron", parsecs=1), Seat(hand="2 Iron")
    won = after(scenario(*seats, crossed=[1, 0, 0, 0, 0, 0, 0]), END, "pick Iron", DONE, DONE)
    assert after(won, min(legal(won) - {DONE})).state["titan_deck_size"] == 15
    lost = after(scenario(*seats[::-1], crossed=[1, 0, 0, 0, 0, 0, 0]), END, DONE)
    assert DONE in legal(lost)


def test_trait_win_bid_can_win_the_game() -> None:
    seats = Seat("Karachi", hand="Iron", deck="5 Iron", parsecs=17), Seat(hand="2 Iron")
    position = after(scenario(*seats, crossed=[0, 0, 0, 0, 0, 0, 1]), END, "pick Iron", DONE, DONE, DONE)
    assert position.over and position.state["winner"] == 1 and not position.state["titan_row"].any()


def test_an_arrival_in_the_turn_of_another_player_wins() -> None:
    """7.1: whoever wins the bid."""
    seats = Seat(hand="2 Iron", deck="5 Iron"), Seat("Karachi", hand="2 Gold", parsecs=17)
    position = after(scenario(*seats, crossed=[1, 0, 0, 0, 0, 0, 0]), END, "pick Gold", DONE, DONE, DONE)
    assert position.over and position.state["winner"] == 2 and position.results()[2].tolist() == [-1, 1]


def test_an_arrival_in_the_last_turn_of_the_last_round_wins() -> None:
    """R26: the game has ended, so the round is not completed and nothing is halved."""
    seats = Seat(hand="2 Iron"), Seat("Karachi", hand="Iron", deck="5 Iron", parsecs=17)
    start = scenario(*seats, active=1, rounds=39, crossed=[0, 0, 0, 0, 0, 0, 1])
    position = after(start, END, "pick Iron", DONE, DONE, DONE)
    assert EndReason(int(position.state["end_reason"])) == EndReason.KEPLER and position.state["winner"] == 2
    assert position.results()[2].tolist() == [-1, 1]


def test_trait_hand_size() -> None:
    position = after(scenario(Seat("Shanghai", hand="Iron", deck="9 Iron")), END)
    assert position.state["player"][0]["hand_size"] == 6


def test_trait_discount() -> None:
    """Bangkok; it adds up with others in vector T12."""
    start = scenario(Seat("Bangkok", hand="Iron"), money=2, supply="Teleporter, Jeweler")
    assert {"acquire Teleporter", "acquire Gold"} <= legal(start) and "acquire Jeweler" not in legal(start)


def test_trait_bid_bonus() -> None:
    """Lima's two count once a bid, and Jeweler's two for each copy."""
    seats = Seat("Lima", hand="Iron", deck="2 Jeweler"), Seat(hand="2 Scavenger, Iron", parsecs=0)
    asked = after(scenario(*seats, crossed=[1, 0, 0, 0, 0, 0, 0]), END, "pick Jeweler", "pick Jeweler")
    assert (asked.node, asked.seat) == (Node.BID, 1)
    won = after(asked, "pick Scavenger", "pick Scavenger")
    assert (won.node, won.seat) == (Node.TITAN, 0)  # 2 x (4 + 2) + 2 against 12


def test_trait_repeat_ops() -> None:
    """Istanbul: again and again; elsewhere once a turn."""
    assert after(scenario(Seat("Istanbul", hand="Iron"), energy=9), OP_2, OP_2, OP_2).state["ops_used"] == 3
    used = after(scenario(Seat("Johannesburg", hand="Iron"), energy=9), OP_2)
    assert OP_2 not in legal(used) and OP_3 not in legal(used) and OP_1 in legal(used)


def test_trait_none(tmp_path: Path) -> None:
    data = default_data()
    data["cities"][0]["trait"] = {"hook": "none", "filter": "any", "param": 0, "effect": []}
    config = GAME.configure(2, components=write_file(tmp_path, data))
    position = after(
        scenario(Seat("Tokyo", hand="Astronomer, Iron, Mafia"), config=config), "play Astronomer", "pick Iron"
    )
    assert position.state["energy"] == 1


HOOK_TESTS = {name.removeprefix("test_trait_") for name in list(globals()) if name.startswith("test_trait_")}


# ---------------------------------------------------------------- nothing is left out

OPERANDS: dict[str, tuple[tuple[int, type[IntEnum]], ...]] = {
    "gain": ((1, Resource), (3, Counter)),
    "move": ((1, Source), (2, Filter), (4, Mode), (6, Destination)),
    "if": ((1, Counter),),
    "replay": ((1, Replay),),
}


def words_of(program: list[Any]) -> Iterator[str]:
    """The instructions and operands of a program."""
    for name, *parts in program:
        yield name_of(Op[name.upper()])
        for place, words in OPERANDS.get(name, ()):
            if place <= len(parts):
                yield name_of(words[parts[place - 1].upper()])
        yield from [name_of(Op.JMP)] if name == "choice" else []
        for block in parts[0] if name == "choice" else parts[2:] if name == "if" else ():
            yield from words_of(block)


def name_of(word: IntEnum) -> str:
    """``Counter.MOVED``: equal numbers of different kinds are different words."""
    return f"{type(word).__name__}.{word.name}"


def test_every_word_of_the_language_has_a_case() -> None:
    programs = [program for case in CASES for program in (case.program, case.on_discard, case.on_eject)]
    covered = {name_of(Op.END), *(word for program in programs for word in words_of(program))}
    for words in (Op, Resource, Counter, Filter, Source, Destination, Mode, Replay):
        assert not {name_of(word) for word in words} - covered


def test_every_hook_has_a_test() -> None:
    assert {hook.name.lower() for hook in Hook} <= HOOK_TESTS


def test_every_default_program_has_an_address_and_words() -> None:
    """Nothing of the component file is skipped by the compiler."""
    tables = GAME.default_tables[0]
    for row in default_data()["cards"]:
        for name in ("on_play", "on_discard", "on_eject"):
            assert (tables["card"][row["id"]][name] >= 0) == bool(row.get(name))
    for row in default_data()["cities"]:
        assert (tables["city"][row["id"]]["trait"] >= 0) == bool(row["trait"]["effect"])
        for number, operation in enumerate(row["ops"]):
            assert (tables["city"][row["id"]]["operation"][number] >= 0) == bool(operation["effect"])
    # the specification counts an END for each of the six programs that are written down but empty
    assert tables["instructions"] + 6 == 391


@pytest.mark.parametrize("operation", [OP_1, OP_2, OP_3, OP_4])
def test_operations_cost_their_energy(operation: str) -> None:
    number = int(operation[-1]) - 1
    cost = [3, 4, 6, 9][number]
    start = scenario(Seat("Tokyo", hand="2 Iron", discard="Iron"), energy=cost)
    assert operation in legal(start) and after(start, operation).state["energy"] == 0
    assert operation not in legal(scenario(Seat("Tokyo", hand="2 Iron", discard="Iron"), energy=cost - 1))
