"""Component files and options: what is allowed works, what is not is refused in words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import kepler_envs
from kepler_envs import ComponentError, OptionError
from kepler_envs.games.kitten_adventurers.actions import AS_VALUE
from tests.component_file import changed, check_missing_section, check_refused, own_text, write
from tests.games.kitten_adventurers.scenario import GAME

TEXT = own_text("kitten_adventurers")
WORMHOLE = '[[card_types]]\nid = 0\nname = "Wormhole"\ncount = 8\nprov = "R"\n'
HYPERSPEED = '[[card_types]]\nid = 13\nname = "Hyperspeed"\ncount = 6\nprov = "R"\n'
FOUR = "players = 4\nquest = 10\nhand = 7"

BROKEN = {
    # name: (text to replace, its replacement, where the message points, what rule it names)
    "other game": ('game = "kitten_adventurers"', 'game = "ad_astra"', "meta", "must be for 'kitten_adventurers'"),
    "no game": ('game = "kitten_adventurers"\n', "", "meta", "must be for 'kitten_adventurers'"),
    "syntax": ("id = 3\n", "id = \n", "", "not a TOML file"),
    "text for a number": (WORMHOLE, WORMHOLE.replace("8", '"8"'), "card_types row 1",
                          "count is '8'; it must be of type int"),
    "fraction": (WORMHOLE, WORMHOLE.replace("8", "8.5"), "card_types row 1", "count is 8.5; it must be of type int"),
    "boolean": (WORMHOLE, WORMHOLE.replace("8", "true"), "card_types row 1", "count is True; it must be of type int"),
    "number for a name": (WORMHOLE, WORMHOLE.replace('"Wormhole"', "7"), "card_types row 1", "name is 7"),
    "missing column": (WORMHOLE, WORMHOLE.replace("count = 8\n", ""), "card_types row 1", "lacks count"),
    "unknown column": (WORMHOLE, WORMHOLE + "value = 0\n", "card_types row 1", "unknown columns value"),
    "no provenance": (WORMHOLE, WORMHOLE.replace('prov = "R"\n', ""), "card_types row 1", "lacks prov"),
    "negative count": (WORMHOLE, WORMHOLE.replace("8", "-1"), "card_types row 1 ('Wormhole')",
                       "count is -1; allowed: 0..120"),
    "huge count": (WORMHOLE, WORMHOLE.replace("8", "1000"), "card_types row 1 ('Wormhole')",
                   "count is 1000; allowed: 0..120"),
    "too many cards": (WORMHOLE, WORMHOLE.replace("8", "19"), "card_types", "sum to 121; at most 120"),
    "too many bottoms": (WORMHOLE, WORMHOLE.replace("8", "11"), "card_types", "together have 17 cards"),
    "wrong id": (WORMHOLE, WORMHOLE.replace("id = 0", "id = 1"), "card_types row 1",
                 "rows must have id 0..13 in this order"),
    "row missing": (HYPERSPEED, "", "card_types", "13 rows; there are exactly 14"),
    "row too many": (HYPERSPEED, HYPERSPEED + HYPERSPEED.replace("13", "14").replace("Hyper", "Ultra"), "card_types",
                     "15 rows; there are exactly 14"),
    "same name": (HYPERSPEED, HYPERSPEED.replace("Hyperspeed", "Wormhole"), "card_types row 14", "used twice"),
    "empty name": (WORMHOLE, WORMHOLE.replace('"Wormhole"', '""'), "card_types row 1", "name has 0 bytes"),
    "long name": (WORMHOLE, WORMHOLE.replace("Wormhole", "W" * 33), "card_types row 1", "name has 33 bytes"),
    "long name in bytes": (WORMHOLE, WORMHOLE.replace("Wormhole", "ö" * 17), "card_types row 1", "name has 34 bytes"),
    "too few players": (FOUR, FOUR.replace("players = 4", "players = 1"), "setup row 3 (players = 1)",
                        "players must be 2..8"),
    "too many players": (FOUR, FOUR.replace("players = 4", "players = 9"), "setup row 3 (players = 9)",
                         "players must be 2..8"),
    "second row": (FOUR, FOUR.replace("players = 4", "players = 3"), "setup row 3 (players = 3)", "a second row"),
    "no quest cards": (FOUR, FOUR.replace("10", "0"), "setup row 3 (players = 4)", "quest is 0; allowed: 1.."),
    "negative hand": (FOUR, FOUR.replace("7", "-7"), "setup row 3 (players = 4)", "hand is -7; allowed: 1.."),
    "deck too small": (FOUR, FOUR.replace("10", "21"), "setup row 3 (players = 4)",
                       "= 112 cards are dealt, but the deck has 110"),
    "no card left": (FOUR, "players = 5\nquest = 15\nhand = 7", "setup row 3 (players = 5)",
                     "at least one must be left"),
    "later edition": (
        "hand = 7\nquest_later_edition = 14", "hand = 7\nquest_later_edition = 0", "setup row 3",
        "quest_later_edition is 0"
    ),
    "no start of a ladder": (WORMHOLE, WORMHOLE.replace("8", "0") + "#", "card_types", "together have 0 cards"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", BROKEN)
def test_broken_card_file(mistake: str, tmp_path: Path) -> None:
    old, new, where, rule = BROKEN[mistake]
    text = TEXT
    if mistake == "no start of a ladder":
        text = text.replace(HYPERSPEED, HYPERSPEED.replace("6", "0"))
    check_refused("kitten_adventurers", write(tmp_path, changed(text, old, new)), where, rule)


def without(section: str, text: str) -> str:
    """The file without all rows of a section."""
    return re.sub(rf"\[\[{section}\]\]\n(?:[^\[\n][^\n]*\n)+", "", text)


@pytest.mark.parametrize("section", ["card_types", "setup"])
def test_missing_section(section: str, tmp_path: Path) -> None:
    check_missing_section("kitten_adventurers", tmp_path, section, without(section, TEXT))


def test_meta_that_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(ComponentError, match="meta"):
        GAME.configure(4, components=write(tmp_path, "meta = 3\n"))


def test_empty_file(tmp_path: Path) -> None:
    with pytest.raises(ComponentError, match="meta: game is None"):
        GAME.configure(4, components=write(tmp_path, ""))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ComponentError, match="nowhere.toml: cannot be read: No such file"):
        GAME.configure(4, components=tmp_path / "nowhere.toml")
    with pytest.raises(ComponentError, match="cannot be read: Is a directory"):
        GAME.configure(4, components=tmp_path)


def test_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ComponentError, match="not a TOML file"):
        GAME.configure(4, components=path)


def test_a_path_may_be_a_string(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT)
    assert GAME.configure(4, components=str(path)).components_digest == GAME.configure(4).components_digest


def test_the_wild_card_is_called_as_the_file_does(tmp_path: Path) -> None:
    path = write(tmp_path, changed(TEXT, 'name = "Hyperspeed"', 'name = "Jump {} drive"'))
    actions = GAME.configure(4, components=path).actions
    assert actions.text(AS_VALUE + 12) == "use the jump {} drive card as 12"
    assert GAME.actions.text(AS_VALUE + 12) == "use the hyperspeed card as 12"


def test_player_count_without_a_setup_row(tmp_path: Path) -> None:
    start = TEXT.index("[[setup]]\nplayers = 5")
    path = write(tmp_path, TEXT[:start])
    GAME.configure(4, components=path)
    with pytest.raises(
        OptionError, match="^kitten_adventurers: the component file has no setup row for 6 players; it has 2, 3, 4$"
    ):
        GAME.configure(6, components=path)


# ---------------------------------------------------------------- the game's own file


def test_own_file_is_the_rulebook() -> None:
    """Section 2: 8 of each type, 6 hyperspeed cards, 110 in all; quest piles and hands by players."""
    table = GAME.default_tables[0]
    assert table["card_count"].tolist() == [8] * 13 + [6]
    assert table["cards_total"] == 110
    assert table["deck"][:110].tolist() == sorted(table["deck"][:110].tolist())
    assert table["quest_size"].tolist() == [0, 0, 10, 10, 10, 10, 7, 6, 5]
    assert table["hand_size"].tolist() == [0, 0, 7, 7, 7, 7, 7, 6, 6]
    assert table["quest_size_later"].tolist() == [0, 0, 35, 21, 14, 10, 7, 6, 5]


# ---------------------------------------------------------------- options


@pytest.mark.parametrize(
    "options, allowed",
    [
        ({"hand_size": 8}, "'rulebook' or 5 or 6 or 7"),
        ({"hand_size": "big"}, "'rulebook' or 5 or 6 or 7"),
        ({"hand_size": True}, "'rulebook' or 5 or 6 or 7"),
        ({"hand_size": None}, "'rulebook' or 5 or 6 or 7"),
        ({"quest_size": 0}, "'rulebook' or 'later_edition' or an integer 1..35"),
        ({"quest_size": 36}, "an integer 1..35"),
        ({"quest_size": 3.5}, "an integer 1..35"),
        ({"first_player": 1}, "'random' or 'seat0'"),
        ({"reward_mode": "points"}, "'win' or 'rank'"),
        ({"max_turns": 0}, "an integer 1..30000"),
        ({"max_plays": 30_001}, "an integer 1..30000"),
        ({"max_plays": "many"}, "an integer 1..30000"),
        ({"shaping": -0.5}, "a number 0..1"),
        ({"shaping": float("nan")}, "a number 0..1"),
        ({"shaping": True}, "a number 0..1"),
        ({"quest_size": 21}, "at most 109"),
        ({"quest_size": 35}, "at most 109"),
        ({"num_players": 1}, "an integer 2..8"),
        ({"num_players": 9}, "an integer 2..8"),
        ({"num_players": 3.0}, "an integer 2..8"),
        ({"num_players": "4"}, "an integer 2..8"),
        ({"quests": 4}, "there are num_players, components, hand_size, quest_size"),
    ],
)
def test_option_that_is_not_allowed(options: dict[str, Any], allowed: str) -> None:
    with pytest.raises(OptionError) as caught:
        kepler_envs.make("kitten_adventurers-v1", **{"num_players": 4, **options})
    name, value = next(iter(options.items()))
    assert "kitten_adventurers" in str(caught.value) and allowed in str(caught.value)
    assert name in str(caught.value) or str(value) in str(caught.value)


@pytest.mark.parametrize(
    "players, options, hand, quest",
    [
        (2, {}, 7, 10),
        (8, {}, 6, 5),
        (8, {"hand_size": 7}, 7, 5),
        (7, {"hand_size": 5}, 5, 6),
        (2, {"quest_size": "later_edition"}, 7, 35),
        (3, {"quest_size": "later_edition"}, 7, 21),
        (4, {"quest_size": 20}, 7, 20),
        (8, {"quest_size": 8, "hand_size": 5}, 5, 8),
    ],
)
def test_option_that_is_allowed(players: int, options: dict[str, Any], hand: int, quest: int) -> None:
    state = kepler_envs.Snapshot.deal(GAME.configure(players, **options), 1).state
    assert state["player"]["hand_count"][:players].tolist() == [hand] * players
    assert state["player"]["quest_count"][:players].tolist() == [quest] * players
    assert state["deck_count"] == 110 - players * (hand + quest)
