"""Component files and options: what is allowed works, what is not is refused in words."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kepler_envs
from kepler_envs import ComponentError, OptionError
from kepler_envs.engine.replay import configuration_of, read_replay, record, write_replay
from tests.component_file import changed, check_missing_section, check_refused, own_text, write
from tests.games.ad_astra.scenario import GAME, WORKED_SETUP, Position

TEXT = own_text("ad_astra")
BONUS = 'name = "bonus"\nvalue = 3'
WATER = 'id = 0\nkey = "W"\nname = "water"\nfuel = false\nstart = 1'
ENERGY_PLANET = 'name = "energy"\ncount = 8'
ALIEN_PLANET = 'name = "alien"\ncount = 5\nterraformable = false'
ALIEN_KEY = 'key = "A"\nname = "alien"'
SMALLEST = 'name = "smallest_system"\nvalue = 3'
COLONY = 'name = "colony"\ncount = 4\nstart = 0\ncost = [1, 1, 0, 0, 0, 0]\nany_ore = 1'
FACTORY = 'name = "factory"\ncount = 4\nstart = 1'
FOUR = "players = 4\nspaces = 12\nlayout = [5, 5, 5, 5, 5, 5, 5, 4]"
FIRST_PRODUCTION = "faction = 0\ncard = 1\ncouple = [0, 3]"
FIRST_MOVEMENT = "faction = 0\ncard = 1\ncouple = [0, 4]"
FIRST_SCORING = "[[scoring_cards]]\ncard = 1\ncouple = [0, 1]"
HORN = 'name = "Cornu Copiae"\namount = 3'
IDENTICAL = 'name = "identical resources"\npoints = [1]'

BROKEN = {
    # name: (text to replace, its replacement, where the message points, what rule it names)
    "other game": ('game = "ad_astra"', 'game = "chess"', "meta", "must be for 'ad_astra'"),
    "syntax": (BONUS, BONUS.replace("3", ""), "", "not a TOML file"),
    "text for a number": (BONUS, BONUS.replace("3", '"3"'), "numbers row 4", "value is '3'; it must be of type int"),
    "missing column": (BONUS, 'name = "bonus"', "numbers row 4", "lacks value"),
    "unknown column": (BONUS, BONUS + "\ncolour = 1", "numbers row 4", "unknown columns colour"),
    "unknown number": (BONUS, BONUS.replace("bonus", "malus"), "numbers row 4",
                       "name is 'malus'; there are cards_per_resource"),
    "number twice": (BONUS, BONUS.replace("bonus", "hand_limit"), "numbers row 4", "a second row for 'hand_limit'"),
    "negative bonus": (BONUS, BONUS.replace("3", "-1"), "numbers row 'bonus'", "value is -1; allowed: 0..100"),
    "too many cards": ("value = 25", "value = 26", "numbers row 'cards_per_resource'", "value is 26; allowed: 5..25"),
    "greedy bank": ("value = 2\n", "value = 3\n", "numbers row 'bank_rate'", "value is 3; allowed: 1..2"),
    "too many points": (IDENTICAL, IDENTICAL.replace("1", "100"), "scoring_elements",
                        "up to 37864 points would be possible for one player"),
    "sizes crossed": ('"largest_system"\nvalue = 7', '"largest_system"\nvalue = 2', "numbers",
                      "smallest_system is above"),
    "dear move": ('system"\ncost = 1', 'system"\ncost = 99', "moves row 'within a system'",
                  "cost is 99; allowed: 0..25"),
    "two fuels": (WATER, WATER.replace("false", "true"), "resources", "2 rows have fuel = true"),
    "rich start": (WATER, WATER.replace("start = 1", "start = 6"), "resources row 1", "start is 6; allowed: 0..5"),
    "same key": (WATER, WATER.replace("water", "food"), "resources row 2", "name 'food' is used twice"),
    "comma": (WATER, WATER.replace("water", "water, salt"), "resources row 1", "must not contain a comma"),
    "long name": (WATER, WATER.replace("water", "w" * 33), "resources row 1", "name has 33 bytes; allowed: 1..32"),
    "spaces": (WATER, WATER.replace("water", " water"), "resources row 1", "must not have spaces at its ends"),
    "control characters": (WATER, WATER.replace("water", "wat\\u0000er"), "resources row 1",
                           "must not have control characters"),
    "wrong id": (WATER, WATER.replace("id = 0", "id = 1"), "resources row 1", "rows must have id 0..5 in this order"),
    "alien paradise": (ALIEN_PLANET, ALIEN_PLANET.replace("false", "true"), "planet_types row 7",
                       "cannot be terraformable"),
    "planet key with a space": (ALIEN_KEY, ALIEN_KEY.replace("A", "A L"), "planet_types row 7",
                                "key is 'A L'; it must not contain a space: option setup separates keys by spaces"),
    "too few planets": (ENERGY_PLANET, ENERGY_PLANET.replace("8", "7"), "setup row 1",
                        "layout has 40 planets; 39 are left"),
    "too many planets": (ENERGY_PLANET, ENERGY_PLANET.replace("8", "40"), "setup row 1",
                         "75 planets leave 72 for the 8 systems"),
    "deep space": ('name = "small red"', 'name = "deep space"', "systems row 1", "deep space is no system's name"),
    "other pawn": (COLONY, COLONY.replace("colony", "castle"), "pawns row 2 ('castle')",
                   "the pawn with id 1 is the colony"),
    "five pawns": (COLONY, COLONY.replace("count = 4", "count = 5"), "pawns row 2 ('colony')",
                   "count is 5; allowed: 1..4"),
    "short cost": (COLONY, COLONY.replace("[1, 1, 0, 0, 0, 0]", "[1, 1]"), "pawns row 2 ('colony')",
                   "must be 6 integers 0..25"),
    "no ore of choice": (COLONY, COLONY.replace("any_ore = 1", "any_ore = 0"), "pawns row 2 ('colony')",
                         "any_ore is 0; allowed: 1"),
    "no start factory": (FACTORY, FACTORY.replace("start = 1", "start = 0"), "pawns row 3 ('factory')",
                         "start is 0; allowed: 1"),
    "two players": (FOUR, FOUR.replace("players = 4", "players = 2"), "setup row 2 (players = 2)",
                    "players is 2; allowed: 3..5"),
    "second row": (FOUR, FOUR.replace("players = 4", "players = 3"), "setup row 2 (players = 3)", "a second row"),
    "uneven spaces": (FOUR, FOUR.replace("12", "13"), "setup row 2 (players = 4)",
                      "cannot be shared equally by 4 players"),
    "too many spaces": (FOUR, FOUR.replace("12", "16"), "setup row 2 (players = 4)", "spaces is 16; allowed: 4..15"),
    "small system": (FOUR, FOUR.replace("[5, 5, 5, 5", "[2, 8, 5, 5"), "setup row 2 (players = 4)",
                     "must be 8 integers 3..7"),
    "wrong layout": (FOUR, FOUR.replace("5, 4]", "5, 5]"), "setup row 2 (players = 4)",
                     "layout has 40 planets; 39 are left"),
    "faction with comma": ('name = "grey"', 'name = "gr,ey"', "factions row 5", "must not contain a comma"),
    "unknown faction": (FIRST_PRODUCTION, FIRST_PRODUCTION.replace("faction = 0", "faction = 5"),
                        "production_cards row 1", "faction is 5; allowed: 0..4"),
    "card twice": (FIRST_PRODUCTION, FIRST_PRODUCTION.replace("card = 1", "card = 2"), "production_cards row 2",
                   "a second row for card 2"),
    "no couple": (FIRST_PRODUCTION, FIRST_PRODUCTION.replace("[0, 3]", "[3, 3]"), "production_cards row 1",
                  "its two entries must differ"),
    "move to the Sun": (FIRST_MOVEMENT, FIRST_MOVEMENT.replace("[0, 4]", "[0, 8]"), "movement_cards row 1",
                        "must be 2 integers 0..7"),
    "scoring order": (FIRST_SCORING, FIRST_SCORING.replace("card = 1", "card = 2"), "scoring_cards row 1",
                      "card is 2; rows must have card 1..3 in this order"),
    "one element": (FIRST_SCORING, FIRST_SCORING.replace("[0, 1]", "[1, 1]"), "scoring_cards row 1",
                    "its two entries must differ"),
    "points": ("points = [1, 2]", "points = [1]", "scoring_elements row 1", "must be 2 integers 0..10"),
    "empty horn": (HORN, HORN.replace("3", "0"), "artifacts row 5 ('Cornu Copiae')", "amount is 0; allowed: 1..25"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", BROKEN)
def test_broken_component_file(mistake: str, tmp_path: Path) -> None:
    old, new, where, rule = BROKEN[mistake]
    check_refused("ad_astra", write(tmp_path, changed(TEXT, old, new)), where, rule)


def test_names_that_make_two_actions_read_alike(tmp_path: Path) -> None:
    """Each may pass on its own: the texts of actions are put together from several."""
    text = TEXT
    for old, new in (("water", "x"), ("food", "and y"), ("energy", "x and"), ("xanthium", "y")):
        text = changed(text, f'name = "{old}"', f'name = "{new}"')
    where = "names give actions texts that stand for several ids"
    check_refused("ad_astra", write(tmp_path, text), where, "['discard x and and y']")


SECTIONS = re.findall(r"^\[\[(\w+)\]\]", TEXT, re.MULTILINE)


@pytest.mark.parametrize("section", sorted(set(SECTIONS)))
def test_missing_rows(section: str, tmp_path: Path) -> None:
    """Without the section, and without its last row."""
    rows = rf"\[\[{section}\]\]\n(?:[^\[\n][^\n]*\n)+"
    check_missing_section("ad_astra", tmp_path, section, re.sub(rows, "", TEXT))
    last = list(re.finditer(rows, TEXT))[-1]
    shorter = write(tmp_path, TEXT[: last.start()] + TEXT[last.end() :])
    if section == "setup":  # a number of players fewer
        with pytest.raises(
            OptionError, match="^ad_astra: the component file has no setup row for 5 players; it has 3, 4$"
        ):
            GAME.configure(5, components=shorter)
    else:
        with pytest.raises(ComponentError, match=f"mine.toml: {section}"):
            GAME.configure(4, components=shorter)


def test_a_copy_is_the_same_game(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT)
    assert GAME.configure(4, components=str(path)).components_digest == GAME.configure(4).components_digest


def test_own_file_is_the_specification() -> None:
    """Sections 1 and 2: counts, costs, couples."""
    table = GAME.default_tables[0]
    assert table["planet_count"].tolist() == [6, 6, 8, 6, 6, 6, 5] and table["terraformable"].tolist() == [
        1,
        1,
        0,
        0,
        0,
        0,
        0,
    ]
    assert table["spaces"].tolist() == [0, 0, 0, 12, 12, 15]
    assert table["item_cost"].tolist() == [
        [1, 1, 0, 1, 0, 0], [1, 1, 0, 0, 1, 0], [1, 1, 0, 0, 0, 1], [0, 0, 0, 1, 1, 1], [2, 2, 0, 0, 0, 0],
        [0, 0, 0, 2, 1, 1], [0, 0, 0, 1, 2, 1], [0, 0, 0, 1, 1, 2],
    ]  # fmt: skip
    assert table["move_cost"].tolist() == [0, 1, 1, 2] and table["fuel"] == 2
    assert table["pawn"]["points"].tolist() == [0, 0, 0, 4] and table["pawn"]["points_alien"].tolist() == [0, 3, 6, 0]
    assert table["pawn"]["production"].tolist() == [1, 1, 2, 0]
    assert table["element"].tolist() == [[0, 1], [2, 3], [4, 5]]
    assert (table["hand_limit"], table["end_points"], table["bonus"], table["bank_rate"]) == (10, 50, 3, 2)
    every_couple = [int(word) for faction in table["faction"] for word in faction["production"]]
    assert len(set(every_couple)) == 15 and all(word.bit_count() == 2 for word in every_couple)
    for faction in table["faction"]:
        assert sum(int(word) for word in faction["production"]) == 63, "each resource once"
        systems = [int(word) for word in faction["movement"]]
        assert (systems[0] | systems[1] | systems[2]).bit_count() == 6, "six systems"


# ---------------------------------------------------------------- options


def changed_setup(**changes: Any) -> dict[str, Any]:
    return {**deepcopy(WORKED_SETUP), **changes}


@pytest.mark.parametrize(
    "options, allowed",
    [
        ({"artifacts": "some"}, "'none' or 'regular' or 'all'"),
        ({"layout": "spiral"}, "'random' or 'even'"),
        ({"max_rounds": 0}, "an integer 1..20"),
        ({"max_rounds": 21}, "an integer 1..20"),
        ({"max_offers": -1}, "an integer 0..20"),
        ({"max_bank_trades": 41}, "an integer 0..40"),
        ({"shaping": 2}, "a number 0..1"),
        ({"factions": "blue,red"}, "4 different ones of blue, red, yellow, green, grey"),
        ({"factions": ["blue", "red", "green", "pink"]}, "4 different ones of blue"),
        ({"factions": "blue,blue,red,green"}, "4 different ones of blue"),
        ({"factions": 4}, "one name a seat, as a list or with commas"),
        ({"factions": []}, "'random' or 4 different ones"),
        ({"factions": [1, 2, 3, 4]}, "one name a seat"),
        ({"num_players": 2}, "an integer 3..5"),
        ({"num_players": 6}, "an integer 3..5"),
        ({"trades": 4}, "there are num_players, components, artifacts, layout"),
        ({"setup": np.array(["random", "random"])}, "a mapping with start_planets"),
        ({"setup": 7}, "a mapping with start_planets and systems, artifact_deck, first_player"),
        ({"setup": "chess"}, "a mapping with start_planets and systems"),
        ({"setup": {"stars": 3}}, "unknown parts stars"),
        ({"setup": {"stars": 3, 7: 1, None: 2}}, "unknown parts 7, None, stars"),
        ({"setup": {"start_planets": "XFWE"}}, "start_planets and systems together"),
        ({"setup": {"first_player": 4}}, "first_player is 4; allowed: 0..3"),
        ({"setup": {"first_player": True}}, "first_player is True; allowed: 0..3"),
        ({"setup": {"first_player": {1}}}, "must hold numbers, texts, lists and mappings alone"),
        ({"setup": {"artifact_deck": "abc"}}, "must be a list of artifact ids"),
        ({"setup": {"artifact_deck": [0, 1, 2]}}, "each of the 9 artifacts 0..8 once"),
        (
            {"setup": {"artifact_deck": list(range(9)), "first_player": 0}, "artifacts": "all"},
            "each of the 11 artifacts",
        ),
        ({"setup": changed_setup(start_planets="XFWA")}, "none of them A"),
        ({"setup": changed_setup(start_planets="XFW")}, "it must name 4 planets"),
        ({"setup": changed_setup(start_planets=7)}, "it must be a text of planet keys"),
        ({"setup": changed_setup(start_planets="XFWQ")}, "'Q' is none of the planet keys"),
        ({"setup": changed_setup(systems=3)}, "it must be a mapping from system keys"),
        ({"setup": changed_setup(systems={"SR": "WWW"})}, "they must be SR, SY"),
        (
            {"setup": changed_setup(systems={**WORKED_SETUP["systems"], "NY": "WE"})},
            "system NY has 2 planets; allowed: 3..7",
        ),
        (
            {"setup": changed_setup(systems={**WORKED_SETUP["systems"], "NY": "WEXX"})},
            "places 7 planets X; there are 6",
        ),
    ],
)
def test_option_that_is_not_allowed(options: dict[str, Any], allowed: str) -> None:
    with pytest.raises(OptionError) as caught:
        kepler_envs.make("ad_astra-v1", **{"num_players": 4, **options})
    assert str(caught.value).startswith("ad_astra") and allowed in str(caught.value)


def test_factions_by_name() -> None:
    for value in ("grey,green,blue", ["grey", "green", "blue"], ("grey", " green ", "blue")):
        config = GAME.configure(3, factions=value)
        assert config.values["factions"] == "grey,green,blue"
        state = kepler_envs.Snapshot.deal(config, 5).state
        assert state["player"]["faction"][:3].tolist() == [4, 3, 0]


def test_parts_of_the_setup() -> None:
    config = GAME.configure(4, setup={"first_player": 2, "artifact_deck": [8, 7, 6, 5, 4, 3, 2, 1, 0]})
    decks, planets = [], set()
    for seed in range(5):
        position = Position.read(kepler_envs.Snapshot.deal(config, seed).state)
        assert position.first == position.turn == 2
        decks.append(position.deck)
        planets.add(tuple(sorted(position.planets.items())))
    assert decks == [[8, 7, 6, 5, 4, 3, 2, 1, 0]] * 5 and len(planets) == 5


def test_setup_as_text_and_through_a_description() -> None:
    """A JSON text (for the command line), a mapping, and what ``describe`` gives back are the same game."""
    config = GAME.configure(4, setup=WORKED_SETUP)
    same = GAME.configure(4, setup=json.dumps(WORKED_SETUP))
    again = GAME.configure(**json.loads(json.dumps(config.describe())))
    assert config.digest == same.digest == again.digest
    assert kepler_envs.Snapshot.deal(config, 3).state.tobytes() == kepler_envs.Snapshot.deal(again, 3).state.tobytes()
    assert GAME.configure(4, setup={"first_player": np.int64(2)}).values["setup"] == '{"first_player": 2}'
    spaced = changed_setup(start_planets="X F W E")
    assert (GAME.configure(4, setup=spaced).options["planet"] == config.options["planet"]).all()


@pytest.mark.parametrize("text", ["[" * 200_000, '{"first_player": ' + "9" * 5000 + "}"])
def test_a_setup_that_no_reader_takes_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match="option setup = .* is not allowed"):
        GAME.configure(4, setup=text)


@pytest.mark.parametrize("options", [{"setup": WORKED_SETUP}, {"factions": "red,blue,green,grey"}])
def test_a_game_with_a_given_setup_is_read_back(options: dict[str, Any], tmp_path: Path) -> None:
    config = GAME.configure(4, **options)
    write_replay(tmp_path / "game.jsonl", record(config, 3, []))
    assert configuration_of(read_replay(tmp_path / "game.jsonl"), kepler_envs.load_game).digest == config.digest


def test_a_system_of_one_planet_with_a_long_key(tmp_path: Path) -> None:
    """A text that is a key is that planet, even if its letters are keys, too."""
    smaller = changed(TEXT, SMALLEST, SMALLEST.replace("3", "1"))
    systems = {**WORKED_SETUP["systems"], "NY": "A", "SR": "EFYZWWE", "SY": "WXZAEX"}
    config = GAME.configure(4, write(tmp_path, smaller), setup=changed_setup(systems=systems))
    for key in ("AL", "WE"):
        longer = write(tmp_path, changed(smaller, ALIEN_KEY, ALIEN_KEY.replace("A", key)))
        spaced = {system: " ".join(planets).replace("A", key) for system, planets in systems.items()}
        named = GAME.configure(4, longer, setup=changed_setup(systems=spaced))
        assert spaced["NY"] == key and (named.options["planet"] == config.options["planet"]).all()


def test_trade_limits() -> None:
    config = GAME.configure(3, max_offers=0, max_bank_trades=1)
    state = kepler_envs.Snapshot.deal(config, 1).state
    assert (state["max_offers"], state["max_bank_trades"]) == (0, 1)
