"""Component files: new cards of the same instructions work without code; wrong ones are refused in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kepler_envs
from kepler_envs import OptionError, Snapshot
from tests.choosing import eager, uniform
from tests.component_file import check_refused
from tests.effort import but_slow
from tests.games.race_to_kepler.card_file import card, default_data, write_file
from tests.games.race_to_kepler.invariants import EAGER, check_decision, check_invariants
from tests.games.race_to_kepler.scenario import GAME, OP_1, OP_2, OPT_2, Seat, after, cards, legal, parsecs, scenario

# ---------------------------------------------------------------- a department of one's own

SMUGGLERS = range(21, 27)

NEW_DEPARTMENT = [
    card(27, "Stoker", [["gain", "energy", 1], ["move", "hand", "resource", 0, "may", 1, "discard"],
                        ["if", "moved", 1, [["gain", "energy", 1], ["gain", "money", 1]]]], copies=4, dept="smuggler"),
    card(28, "Archivist", [["look", 3], ["move", "look", "crew", 0, "upto", 1, "hand"],
                           ["move", "look", "any", 0, "upto", 1, "eject"]], copies=3, cost=3, dept="smuggler"),
    card(29, "Stowaway", [], copies=3, cost=3, dept="smuggler", bid_bonus=3, on_discard=[["gain", "jump", 1]],
         on_eject=[["choice", [[["gain", "money", 3]], [["gain", "draw", 2]], []]]]),
    card(30, "Understudy", [["replay", "play"], ["gain", "energy", 1, "departments", 3]], copies=3, cost=4,
         dept="smuggler"),
    card(31, "Trawler", [["move", "supply", "cost_le", 4, "upto", 2, "airlock"], ["gain", "energy", 2, "moved"],
                         ["move", "airlock", "dept", 4, "must", 1, "owndiscard"]], copies=2, cost=5, dept="smuggler"),
    card(32, "Furnace", [["move", "hand_discard", "any", 0, "upto", 99, "eject"], ["gain", "energy", 1, "value", 12],
                         ["if", "ejected", 3, [["if", "market_taken", 1, [["gain", "jump", 1]]]]]], cost=6,
                         dept="smuggler"),
]  # fmt: skip
NEW_CITIES = [
    {"id": 13, "key": "perth", "name": "Perth", "difficulty": 2, "prov": "D",
     "trait": {"hook": "discard", "filter": "dept", "param": 4, "effect": [["gain", "energy", 2]]},
     "ops": [{"cost": 2, "effect": [["gain", "jump", 1]]},
             {"cost": 5, "effect": [["discount", 2], ["gain", "market", 2]]}]},
    {"id": 14, "key": "oslo", "name": "Oslo", "difficulty": 1, "prov": "D",
     "trait": {"hook": "win_bid", "filter": "any", "param": 5, "effect": []},
     "ops": [{"cost": 1, "effect": [["look", 2], ["choice", [[["move", "look", "any", 0, "must", 1, "hand"]], []]]]},
             {"cost": 7, "effect": [["gain", "jump", 2, "crew_played", 6]]}]},
]  # fmt: skip


def new_department() -> dict[str, Any]:
    """The smugglers and two cities replaced."""
    data = default_data()
    data["cards"] = [row for row in data["cards"] if row["id"] not in SMUGGLERS] + NEW_DEPARTMENT
    data["cities"] = [row for row in data["cities"] if row["id"] not in (13, 14)] + NEW_CITIES
    return data


def test_a_department_and_two_cities_of_ones_own(tmp_path: Path) -> None:
    """Every new card and city does what its program says."""
    config = GAME.configure(2, components=write_file(tmp_path, new_department()))

    def start(hand: str, city: str = "Shanghai", **table: Any) -> Snapshot:
        fields = {name: table.pop(name) for name in ("discard", "top", "play") if name in table}
        return scenario(Seat(city, hand=hand, **fields), Seat("Tokyo"), config=config, **table)

    stoker = after(start("Stoker, Mafia, Iron"), "play Stoker", "pick Iron")
    assert (stoker.state["energy"], stoker.state["money"], cards(stoker, "discard")) == (2, 1, "Iron")
    archivist = after(start("Archivist, Mafia", top="Iron, Stoker, Gold"), "play Archivist", "pick Stoker", "pick Iron")
    assert (cards(archivist, "hand"), cards(archivist, "airlock", None)) == ("Mafia, Stoker", "Iron")
    stowaway = after(start("Astronomer, Mafia, Stowaway"), "play Astronomer", "pick Stowaway", "choose alternative 1")
    assert stowaway.state["money"] == 3
    assert parsecs(after(start("Machinist, Mafia, Stowaway"), "play Machinist", "pick Stowaway")) == [1, 0]
    understudy = after(start("Understudy, Mafia", play="Iron"), "play Understudy")
    assert (understudy.state["money"], understudy.state["energy"]) == (1, 1)
    trawler = after(start("Trawler, Mafia", supply="2 Stoker, Furnace"), "play Trawler", "pick Stoker", "pick Stoker")
    assert trawler.state["energy"] == 4 and cards(trawler, "discard") == "Stoker"
    furnace = after(
        start("Furnace, Mafia, 2 Iron", discard="Gold", market_taken=1), "play Furnace", "pick Gold", "pick Iron"
    )
    furnace = after(furnace, "pick Iron", "no more")
    assert furnace.state["energy"] == 5 and parsecs(furnace) == [1, 0]
    perth = after(start("Machinist, Mafia, Stoker", "Perth", energy=3), "play Machinist", "pick Stoker", OP_2)
    assert (perth.state["energy"], perth.state["market"], perth.state["discount"]) == (0, 3, 2)
    oslo = after(start("2 Iron", "Oslo", top="Gold, Iron", energy=1), OP_1, OPT_2)
    assert cards(oslo, "hand") == "2 Iron" and oslo.state["player"][0]["known_size"] == 2


@pytest.mark.parametrize("players", but_slow([2, 4], 4))
def test_games_with_the_new_cards(players: int, tmp_path: Path) -> None:
    """Whole games keep every invariant, and pictures, texts and observations know the new names."""
    config = GAME.configure(players, components=write_file(tmp_path, new_department()), max_rounds=25)
    seen: set[str] = set()
    for seed in range(8):
        choose = uniform(seed) if seed == 0 else eager(seed, EAGER, 0.95)
        position = Snapshot.deal(config, seed)
        while not position.over:
            before, action = position, choose(position.legal_actions())
            position = position.apply(action)
            seen.add(config.actions.text(action))
            check_decision(before.state, action, position.state, config)
            check_invariants(position.state, config)
        check_invariants(position.resample(0, seed).state, config)
        assert len(position.text()) > 500 and "svg" in position.drawing(1).svg()
    assert {f"play {row['name']}" for row in NEW_DEPARTMENT} <= seen


def test_two_card_files_live_side_by_side(tmp_path: Path) -> None:
    own = GAME.configure(2, components=write_file(tmp_path, new_department()))
    assert own.actions.text(15 + 27) == "play Stoker" and GAME.actions.text(15 + 27) == "play card 27"
    assert own.components_digest != GAME.configure(2).components_digest
    assert legal(scenario(Seat(hand="Stoker, Iron"), config=own)) >= {"play Stoker"}
    assert legal(scenario(Seat(hand="Scavenger, Iron"))) >= {"play Scavenger"}


# ---------------------------------------------------------------- what is refused

Change = Callable[[dict[str, Any]], None]


def row(section: str, name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda data: next(row for row in data[section] if row["name"] == name)


def setting(section: str, name: str, column: str, value: Any) -> Change:
    return lambda data: row(section, name)(data).__setitem__(column, value)


def playing(*program: Any) -> Change:
    """A new program of Fuser."""
    return setting("cards", "Fuser", "on_play", list(program))


def trait(**fields: Any) -> Change:
    """A new trait of Tokyo."""
    whole = {"hook": "eject", "filter": "any", "param": 0, "effect": [["gain", "energy", 1]], **fields}
    return setting("cities", "Tokyo", "trait", whole)


def operation(cost: Any, *program: Any) -> Change:
    return setting("cities", "Tokyo", "ops", [{"cost": cost, "effect": list(program)}])


def nested(depth: int) -> list[Any]:
    program: list[Any] = [["gain", "energy", 1]]
    for _ in range(depth):
        program = [["if", "ejected", 1, program]]
    return program


DISCARD_ONE = ["move", "hand", "any", 0, "may", 1, "discard"]
FUSER, TOKYO = "cards row 13 ('Fuser')", "cities row 1 ('Tokyo')"
BROKEN: dict[str, tuple[Change, str, str]] = {
    # name: (what is changed, where the message points, what rule it names)
    "other game": (lambda data: data["meta"].__setitem__("game", "chess"), "meta", "must be for 'race_to_kepler'"),
    "unknown number": (lambda data: data["numbers"][0].__setitem__("name", "length"), "numbers row 1",
                       "there are track_length"),
    "short track": (lambda data: data["numbers"][0].__setitem__("value", 1), "numbers row 'track_length'",
                    "value is 1; allowed: 2..100"),
    "one city dealt": (lambda data: row("numbers", "cities_dealt")(data).__setitem__("value", 1),
                       "numbers row 'cities_dealt'", "value is 1; allowed: 2..7"),
    "token missing": (lambda data: data["encounter_tokens"].pop(), "encounter_tokens", "6 rows; there are exactly 7"),
    "token order": (lambda data: data["encounter_tokens"][2].__setitem__("space", 2), "encounter_tokens row 3",
                    "must ascend"),
    "missing column": (lambda data: data["cards"][12].pop("cost"), "cards row 13", "lacks cost"),
    "unknown column": (setting("cards", "Fuser", "colour", "red"), "cards row 13", "unknown columns colour"),
    "class range": (setting("cards", "Fuser", "id", 36), FUSER, "a card of class crew has an id 3..34"),
    "unknown class": (setting("cards", "Fuser", "class", "pet"), FUSER,
                      "class is 'pet'; there are resource, mafia, crew"),
    "id twice": (setting("cards", "Fuser", "id", 3), FUSER, "id 3 is used twice"),
    "name twice": (setting("cards", "Fuser", "name", "Machinist"), "cards row 14", "name 'Machinist' is used twice"),
    "no department": (setting("cards", "Fuser", "dept", "none"), FUSER, "it must be one of the departments"),
    "gold of miners": (setting("cards", "Gold", "dept", "miner"), "cards row 2 ('Gold')", "it must be 'none'"),
    "dear card": (setting("cards", "Fuser", "cost", 21), FUSER, "cost is 21; allowed: 0..20"),
    "dear titan": (setting("cards", "Heist", "cost", 1), "cards row 41 ('Heist')", "cost is 1; allowed: 0"),
    "two titans": (setting("cards", "Heist", "copies", 2), "cards row 41 ('Heist')", "copies is 2; allowed: 1"),
    "too much crew": (setting("cards", "Fuser", "copies", 4), "cards", "65 crew cards; allowed: 7..64"),
    "too little Iron": (setting("cards", "Iron", "copies", 27), "cards",
                        "27 copies of the card with id 0 (Iron); 28 are needed"),
    "no mafia": (lambda data: data["cards"].pop(2), "cards", "0 copies of the card with id 2 (Mafia)"),
    "few cities": (lambda data: data.__setitem__("cities", data["cities"][:5]), "cities", "2 players need 6 cities"),
    "city id": (setting("cities", "Tokyo", "id", 15), TOKYO, "id is 15; allowed: 0..14"),
    "list of lists": (setting("cards", "Fuser", "on_play", [[["look", 5]]]), f"{FUSER}, on_play instruction 1",
                      "[['look', 5]] is not an instruction"),
    "no list": (setting("cards", "Fuser", "on_play", [3]), f"{FUSER}, on_play instruction 1",
                "3 is not an instruction"),
    "unknown op": (playing(["steal", 1]), f"{FUSER}, on_play instruction 1", "there are gain, move, look"),
    "unknown resource": (playing(["gain", "mana", 1]), f"{FUSER}, on_play instruction 1", "resource 'mana' is unknown"),
    "unknown counter": (playing(["gain", "energy", 1, "luck"]), f"{FUSER}, on_play instruction 1",
                        "counter 'luck' is unknown"),
    "gain nothing": (playing(["gain", "energy", 0]), f"{FUSER}, on_play instruction 1", "n is 0; allowed: 1..20"),
    "long gain": (playing(["gain", "energy", 1, "moved", 2, 3]), f"{FUSER}, on_play", "has 6 parts"),
    "unknown source": (playing(["move", "hnad", *DISCARD_ONE[2:]]), f"{FUSER}, on_play instruction 1",
                       "source 'hnad' is unknown"),
    "unknown filter": (playing([*DISCARD_ONE[:2], "red", *DISCARD_ONE[3:]]), f"{FUSER}, on_play",
                       "filter 'red' is unknown"),
    "unknown mode": (playing([*DISCARD_ONE[:4], "can", 1, "discard"]), f"{FUSER}, on_play", "mode 'can' is unknown"),
    "unknown destination": (playing([*DISCARD_ONE[:6], "sea"]), f"{FUSER}, on_play", "destination 'sea' is unknown"),
    "short move": (playing(DISCARD_ONE[:6]), f"{FUSER}, on_play instruction 1", "has 6 parts"),
    "filter parameter": (playing(["move", "hand", "iron", 2, "may", 1, "eject"]), f"{FUSER}, on_play",
                         "parameter is 2; allowed: 0"),
    "department": (playing(["move", "hand", "dept", 5, "may", 1, "eject"]), f"{FUSER}, on_play",
                   "parameter is 5; allowed: 1..4"),
    "chosen from a deck": (playing(["move", "deck", "iron", 0, "must", 1, "eject"]), f"{FUSER}, on_play",
                           "cards of deck cannot be chosen"),
    "maybe from a deck": (playing(["move", "deck", "any", 0, "upto", 1, "eject"]), f"{FUSER}, on_play",
                          "moves from deck are not asked for"),
    "all of any number": (playing(["move", "hand", "any", 0, "may", 99, "eject"]), f"{FUSER}, on_play instruction 1",
                          "n is 99, any number; with the mode 'may' all n cards move or none, so it must be 'upto'"),
    "look at many": (playing(["look", 6]), f"{FUSER}, on_play instruction 1", "n is 6; allowed: 1..5"),
    "look twice": (playing(["look", 1], ["look", 1]), f"{FUSER}, on_play instruction 2", "can look only once"),
    "look in one way": (playing(["choice", [[["look", 1]], []]], ["look", 1]), f"{FUSER}, on_play instruction 2",
                        "look only once"),
    "replay after look": (playing(["look", 1], ["replay", "play"]), f"{FUSER}, on_play instruction 2",
                          "may not follow look"),
    "replay elsewhere": (playing(["replay", "hand"]), f"{FUSER}, on_play instruction 1", "place 'hand' is unknown"),
    "one alternative": (playing(["choice", [[["gain", "energy", 1]]]]), f"{FUSER}, on_play instruction 1",
                        "between 2..4 programs"),
    "five alternatives": (playing(["choice", [[]] * 5]), f"{FUSER}, on_play instruction 1", "between 2..4 programs"),
    "alternative of no list": (playing(["choice", [[], 3]]), f"{FUSER}, on_play instruction 1 option 2",
                               "3 is not a list of instructions"),
    "cap of nothing": (playing(["gain", "energy", 1, "moved", 0]), f"{FUSER}, on_play instruction 1",
                       "cap is 0; allowed: 1..99"),
    "if always": (playing(["if", "moved", 0, []]), f"{FUSER}, on_play instruction 1", "n is 0; allowed: 1..99"),
    "large discount": (playing(["discount", 21]), f"{FUSER}, on_play instruction 1", "n is 21; allowed: 1..20"),
    "deep inside": (playing(["choice", [[["gain", "energy", 1]], [["gain", "gas", 1]]]]),
                    f"{FUSER}, on_play instruction 1 option 2.1", "resource 'gas' is unknown"),
    "too deep": (setting("cards", "Fuser", "on_play", nested(5)), f"{FUSER}, on_play", "at most 4 deep"),
    "hidden value": (playing(["look", 2], ["move", "look", "any", 0, "must", 1, "hand"],
                             ["gain", "energy", 1, "value"]),
                     f"{FUSER}, on_play instruction 3", "the other players have not seen"),
    "looking trigger": (setting("cards", "Fuser", "on_discard", [["look", 1]]), f"{FUSER}, on_discard",
                        "look is only allowed in on_play"),
    "cascade": (setting("cards", "Fuser", "on_discard", [DISCARD_ONE]), f"{FUSER}, on_discard",
                "triggers never cause triggers"),
    "replaying trigger": (setting("cards", "Fuser", "on_eject", [["replay", "play"]]), f"{FUSER}, on_eject",
                          "a trigger may not replay"),
    "cascade of a city": (trait(effect=[["move", "supply", "any", 0, "must", 1, "airlock"]]), f"{TOKYO}, trait",
                          "never cause triggers"),
    "unknown hook": (trait(hook="dream"), f"{TOKYO}, trait", "hook is 'dream'; there are none, turn_start"),
    "filter without card": (trait(hook="turn_start", filter="iron"), f"{TOKYO}, trait",
                            "with the hook 'turn_start' it must be 'any'"),
    "program of a number": (trait(hook="hand_size", param=1), f"{TOKYO}, trait",
                            "with the hook 'hand_size' it must be []"),
    "hand of no size": (trait(hook="hand_size", effect=[]), f"{TOKYO}, trait", "param is 0; allowed: 1..10"),
    "trait of itself": (trait(effect=[["move", "self", "any", 0, "must", 1, "hand"]]), f"{TOKYO}, trait",
                        "is for programs of cards"),
    "trait by value": (trait(filter="cost_le_value"), f"{TOKYO}, trait", "no move before it"),
    "trait field": (setting("cities", "Tokyo", "trait", {"hook": "none"}), f"{TOKYO}, trait",
                    "must have exactly the fields"),
    "looking trait": (trait(hook="play", effect=[["look", 1]]), f"{TOKYO}, trait", "look is only allowed"),
    "free operation": (operation(0, ["gain", "jump", 1]), f"{TOKYO}, ops 1", "cost is 0; allowed: 1..99"),
    "operation of words": (operation("3"), f"{TOKYO}, ops 1", "must be of type int"),
    "wrong operation": (operation(3, ["gain", "jump", 99]), f"{TOKYO}, ops 1 instruction 1", "n is 99; allowed: 1..20"),
    "no operations": (setting("cities", "Tokyo", "ops", []), f"{TOKYO}, ops", "0 operations; allowed: 1..4"),
    "long program": (playing(*[["gain", "energy", 1]] * 2048), f"{FUSER}, on_play", "more than 2048 instructions"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_with_place_and_rule(name: str, tmp_path: Path) -> None:
    change, where, rule = BROKEN[name]
    data = default_data()
    change(data)
    check_refused(GAME.name, write_file(tmp_path, data), where, rule)


@pytest.mark.parametrize(
    ("section", "name", "rule"),
    [
        ("cards", "card 27", "'card 27' stands for the card with id 27, which this file lacks"),
        ("cards", "card 34", "'card 34' stands for the card with id 34, which this file lacks"),
        ("cities", "city 14", "'city 14' stands for the city with id 14, which this file lacks"),
    ],
)
def test_names_that_stand_for_what_the_file_lacks(section: str, name: str, rule: str, tmp_path: Path) -> None:
    """Texts of actions call a missing card "card 27"; no other card may be called so."""
    data = default_data()
    data["cities"] = data["cities"][:14]
    data[section][5]["name"] = name
    check_refused(GAME.name, write_file(tmp_path, data), f"{section} row 6 ({name!r})", rule)


def test_a_number_that_stands_for_nothing_else_is_a_name(tmp_path: Path) -> None:
    data = default_data()
    for section, names in (("cards", ("card 0", "card 99", "Card 30")), ("cities", ("city 14", "city 15", "City"))):
        for row, name in zip(data[section], names, strict=False):
            row["name"] = name
    assert GAME.configure(2, components=write_file(tmp_path, data)).actions.text(15) == "play card 0"


def test_a_card_that_draws_more_than_an_order_can_tell(tmp_path: Path) -> None:
    """It is played first; estimates stay in their bounds."""
    data = default_data()
    next(row for row in data["cards"] if row["name"] == "Fuser")["on_play"] = [["gain", "draw", 1]] * 300
    config = GAME.configure(2, components=write_file(tmp_path, data))
    assert config.tables[0]["card"]["order"][12] == config.tables[0]["card"]["order"].max() == 999
    assert Snapshot.deal(config, 1).observe(0).shape == (1139,)


def test_the_default_file_survives_being_written_again(tmp_path: Path) -> None:
    """What the tests change is nothing else than the default."""
    again = GAME.configure(2, components=write_file(tmp_path, default_data()))
    assert again.components_digest == GAME.configure(2).components_digest


def test_optional_columns(tmp_path: Path) -> None:
    assert all("on_eject" not in row for row in default_data()["cards"] if row["name"] == "Iron")
    iron = GAME.default_tables[0]["card"][0]
    assert (iron["on_discard"], iron["on_eject"], iron["bid_bonus"]) == (-1, -1, 0)


@pytest.mark.parametrize(
    "options", [{"max_rounds": 0}, {"max_rounds": "many"}, {"reward_mode": "points"}, {"shaping": 2}]
)
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=re.escape(next(iter(options)))):
        kepler_envs.make("race_to_kepler-v1", **options)


def test_options_that_the_cards_do_not_allow(tmp_path: Path) -> None:
    data = default_data()
    data["cities"] = data["cities"][:8]
    path = write_file(tmp_path, data)
    assert GAME.configure(2, components=path).num_players == 2
    with pytest.raises(OptionError, match="3 players need 9 cities; the component file has 8"):
        GAME.configure(3, components=path)


def test_the_round_cap_of_the_file_is_the_default(tmp_path: Path) -> None:
    data = default_data()
    next(row for row in data["numbers"] if row["name"] == "round_cap")["value"] = 7
    path = write_file(tmp_path, data)
    assert GAME.configure(2, components=path).options[0]["max_rounds"] == 7
    assert GAME.configure(2, components=path, max_rounds=3).options[0]["max_rounds"] == 3
    assert GAME.configure(2).options[0]["max_rounds"] == 40


def test_default_data() -> None:
    """Numbers of sections 1 and 2 of the specification."""
    table = GAME.default_tables[0]["card"]
    crew = [table[kind] for kind in range(3, 27)]
    for department in range(1, 5):
        own = [card for card in crew if card["department"] == department]
        assert sorted(int(card["cost"]) for card in own) == [2, 3, 4, 4, 5, 6]
        assert sorted((int(card["copies"]) for card in own), reverse=True) == [4, 3, 3, 3, 2, 1]
    titans = table[35:]
    assert np.array_equal(titans["copies"], np.ones(16)) and not titans["cost"].any()
