"""Component files and options: what is allowed works, what is not is refused in words; the data checks of section
8.4."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import kepler_envs
from kepler_envs import ComponentError, OptionError, Snapshot
from kepler_envs.engine.components import names
from kepler_envs.games.kepler_3042.components import DEFAULT_FILE
from kepler_envs.games.kepler_3042.hexes import AXIAL_STEPS, as_hexes, axial, distance, hex_at, neighbour_ids
from kepler_envs.games.kepler_3042.state import Node
from kepler_envs.rules import rules_text
from tests.component_file import changed, check_refused, own_rows, own_text, write, write_rows
from tests.games.kepler_3042.scenario import GAME, NEIGHBOURS, SOL, steps_between

RADIUS = 'name = "short_radius", value = 4'
ENERGY = 'id = 0, name = "energy", cubes = 7, earth = 3'
FOUR = "players = 4, mines = 4, colonial_targets = 4, star_kinds = [1, 2, 3]"
SOL_ROW = 'row = 9, hexes = "..........S..........."'
FIRST_STAR = 'row = 1, hexes = "..1..................."'
LAST_ROW = 'row = 18, hexes = "......................"'
OCEANIC = 'id = 0, code = "oceanic", name = "oceanic", colonise = 1'
ONE_KIND = "players = 1, mines = 2, colonial_targets = 2, star_kinds = [1]"
PLANET = (
    'number = 1, name = "AP-780427", type = "oceanic", level = 1, colony = [1, 0, 0], terraformed = [1, 1, 0], '
    "cost = [0, 1, 0], vp = 3, min_players = 1"
)
ENGINE = (
    'technology = 0, level = 1, name = "Light-Speed Engine", cost = [1, 0, 0], leadership = 0, unlock = 0, '
    "benefit = { speed = 1, cheap_ships = 0 }"
)
MEDALS = "medals = [4, 7, 10, 13, 16]"
ICONS = "icons = [[3, 1], [6, 2], [9, 1]"
LOGISTICS = 'name = "Space Logistics", line = "column", number = 0'
KNOWLEDGE = 'who = "all", what = "free_tech", args = { max_level = 4, burn_rule = "new_level_minus_one" }'
SUBSIDIES = "args = { track = 0 }, solo = true"
HARVEST = "triple = [2, 0, 0]"
FLEET = "args = { tech = 0, spaces = 2 }"
ATLANTIS = 'test = "terraformed_type", args = { type = "oceanic", n = 1 }, vp = 4'
EDGE = "objectives = [1, 2, 3, 4]"
FIRST_LEVEL = "level = 1, minimum_score = 30, antimatter = 0"

BROKEN = {
    # name: (text to replace, its replacement, where the message points, what rule it names)
    "other game": ('"kepler_3042"', '"chess"', "meta", "must be for 'kepler_3042'"),
    "syntax": (RADIUS, RADIUS.replace("4", ""), "", "not a TOML file"),
    "actions alike": ('id = 0, name = "Space Travels"', 'id = 0, name = "on the colonial track"',
                      "names give actions texts that stand for several ids", "['advance on the colonial track']"),
    "text for a number": (RADIUS, RADIUS.replace("4", '"4"'), "numbers row 1", "value is '4'; it must be of type int"),
    "unknown number": (RADIUS, RADIUS.replace("short", "tiny"), "numbers row 1",
                       "name is 'tiny_radius'; there are short_radius"),
    "crossed radii": (RADIUS, RADIUS.replace("4", "9"), "numbers", "short_radius must be below mid_radius"),
    "too many cubes": (ENERGY, ENERGY.replace("7", "8"), "resources row 1", "cubes is 8; allowed: 1..7"),
    "more on Earth": (ENERGY, ENERGY.replace("earth = 3", "earth = 8"), "resources row 1", "earth is 8; allowed: 0..7"),
    "five mines": (FOUR, FOUR.replace("mines = 4", "mines = 5"), "setup row 4", "mines is 5; allowed: 0..4"),
    "no stars": (FOUR, FOUR.replace("[1, 2, 3]", "[]"), "setup row 4", "it must list some of 1..3"),
    "too few stars": (FOUR, FOUR.replace("[1, 2, 3]", "[1, 2]"), "setup row 4",
                      "36 tiles for 16 stars; at most two for each star"),
    "short row": (SOL_ROW, SOL_ROW.replace("S.", "S"), "terrain row 10", "hexes has 21 signs; it must have 22"),
    "unknown sign": (SOL_ROW, SOL_ROW.replace("S.", "S?"), "terrain row 10", "the sign '?'; allowed: . S * 1 2 3"),
    "no Sol": (SOL_ROW, SOL_ROW.replace("S", "."), "terrain", "Sol ('S') is there 0 times"),
    "two centres": (SOL_ROW, SOL_ROW.replace("S.", "S*"), "terrain", "Sagittarius A* ('*') is there 2 times"),
    "star at the rim": (LAST_ROW, LAST_ROW.replace('".', '"1'), "terrain row 19, column 1", "a star at the rim"),
    "stars side by side": (FIRST_STAR, FIRST_STAR.replace("..1..", "..1.1"), "terrain row 2, column 5",
                           "a star 2 hexes from another one; at least 4"),
    "star beside Sol": (SOL_ROW, SOL_ROW.replace("S..", "S1."), "terrain row 10, column 12",
                        "a star 1 hexes from Sol; at least 3"),
    "row order": (LAST_ROW, LAST_ROW.replace("18", "17"), "terrain row 19",
                  "row is 17; rows must have row 0..18 in this order"),
    "type code": (OCEANIC, OCEANIC.replace('"oceanic", name', '"wet", name'), "planet_types row 1",
                  "the type with id 0 is 'oceanic'"),
    "too much leadership": (OCEANIC, OCEANIC.replace("= 1", "= 4"), "planet_types row 1",
                            "colonise is 4; allowed: 0..3"),
    "unknown type": (PLANET, PLANET.replace('"oceanic"', '"icy"'), "planets row 1 ('AP-780427')",
                     "type is 'icy'; allowed: oceanic"),
    "high level": (PLANET, PLANET.replace("level = 1", "level = 5"), "planets row 1", "level is 5; allowed: 1..4"),
    "worse side": (PLANET, PLANET.replace("[1, 1, 0]", "[0, 1, 0]"), "planets row 1",
                   "no cube of it may be below colony [1, 0, 0]"),
    "antimatter cost": (PLANET, PLANET.replace("[0, 1, 0]", "[0, 1, 1]"), "planets row 1",
                        "only alien planets cost antimatter"),
    "short cost": (PLANET, PLANET.replace("[0, 1, 0]", "[0, 1]"), "planets row 1",
                   "cost is [0, 1]; it must be 3 integers 0..7"),
    "same name": (PLANET, PLANET.replace("AP-780427", "RV-351016"), "planets row 2", "name 'RV-351016' is used twice"),
    "long name": (PLANET, PLANET.replace("AP-780427", "A" * 41), "planets row 1", "name has 41 bytes; allowed: 1..40"),
    "nested star kinds": (ONE_KIND, ONE_KIND.replace("[1]", "[[1]]"), "setup row 1",
                          "star_kinds is [[1]]; it must list some of 1..3"),
    "level order": (ENGINE, ENGINE.replace("level = 1", "level = 2"), "technology_levels",
                    "rows must have technology 0..4, level 1..4"),
    "wrong benefit": (ENGINE, ENGINE.replace("speed", "energy"), "technology_levels row 1",
                      "it must have speed, cheap_ships"),
    "fast engine": (ENGINE, ENGINE.replace("speed = 1", "speed = 7"), "technology_levels row 1",
                    "speed is 7; allowed: 0..6"),
    "falling benefit": (ENGINE, ENGINE.replace("speed = 1", "speed = 3"), "technology_levels row 2",
                        "speed is 2; it must not be below"),
    "unlocks itself": (ENGINE, ENGINE.replace("unlock = 0", "unlock = 1"), "technology_levels row 1",
                       "unlock is 1; allowed: 0"),
    "medal order": (MEDALS, MEDALS.replace("4, 7", "7, 4"), "tracks row 1", "the spaces must ascend"),
    "four medals": (MEDALS, MEDALS.replace("4, ", ""), "tracks row 1", "it must be 5 integers 1..20"),
    "icon kind": (ICONS, ICONS.replace("[3, 1]", "[3, 3]"), "tracks row 1", "icons has [3, 3]"),
    "icon twice": (ICONS, ICONS.replace("[6, 2]", "[3, 2]"), "tracks row 1", "icons has two on space 3"),
    "unknown line": (LOGISTICS, LOGISTICS.replace("column", "diagonal"), "bonus_actions row 1",
                     "line is 'diagonal'; allowed: column, row"),
    "line twice": (LOGISTICS, LOGISTICS.replace("number = 0", "number = 1"), "bonus_actions row 2",
                   "a second bonus action on column 1"),
    "unknown beneficiary": (KNOWLEDGE, KNOWLEDGE.replace('"all"', '"nobody"'), "progress_cards row 1",
                            "who is 'nobody'; allowed: all"),
    "unknown effect": (KNOWLEDGE, KNOWLEDGE.replace("free_tech", "peace"), "progress_cards row 1",
                       "what is 'peace'; allowed: free_tech"),
    "missing argument": (KNOWLEDGE, KNOWLEDGE.replace("max_level = 4, ", ""), "progress_cards row 1",
                         "it must have max_level, burn_rule"),
    "argument too many": (SUBSIDIES, SUBSIDIES.replace("track = 0", "track = 0, n = 1"), "progress_cards row 3",
                          "it must have track"),
    "third track": (SUBSIDIES, SUBSIDIES.replace("track = 0", "track = 2"), "progress_cards row 3",
                    "track is 2; allowed: 0..1"),
    "nothing produced": (HARVEST, HARVEST.replace("2", "0"), "progress_cards row 9", "it must produce something"),
    "sixth technology": (FLEET, FLEET.replace("tech = 0", "tech = 5"), "progress_cards row 15",
                         "tech is 5; allowed: 0..4"),
    "unknown test": (ATLANTIS, ATLANTIS.replace("terraformed_type", "swimming"), "objectives row 2",
                     "test is 'swimming'; allowed: terraformed_type"),
    "objective's type": (ATLANTIS, ATLANTIS.replace('"oceanic"', '"icy"'), "objectives row 2",
                         "type is 'icy'; allowed: oceanic"),
    "campaign twice": (EDGE, EDGE.replace("2", "1"), "campaigns row 1", "they must differ"),
    "no such objective": (EDGE, EDGE.replace("4", "18"), "campaigns row 1", "it must be 4 integers 1..17"),
    "minimum": (FIRST_LEVEL, FIRST_LEVEL.replace("30", "0"), "campaign_levels row 1",
                "minimum_score is 0; allowed: 1..100"),
    "ghost": ("round = 15", "round = 17", "ghost row 3", "round is 17; allowed: 1..16"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", BROKEN)
def test_broken_component_file(mistake: str, tmp_path: Path) -> None:
    old, new, where, rule = BROKEN[mistake]
    check_refused(GAME.name, write(tmp_path, changed(own_text(GAME.name), old, new)), where, rule)


def test_a_short_solo_deck(tmp_path: Path) -> None:
    """Two more cards are not for the game alone."""
    path = write(tmp_path, own_text(GAME.name).replace("solo = true", "solo = false", 2))
    check_refused(GAME.name, path, "progress_cards", "15 cards with solo = true")


SECTIONS = re.findall(r"^(\w+) = \[$", DEFAULT_FILE.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("section", sorted(set(SECTIONS)))
def test_missing_rows(section: str, tmp_path: Path) -> None:
    """Without the section, and without its last row."""
    text = DEFAULT_FILE.read_text(encoding="utf-8")
    found = re.search(rf"^{section} = \[\n((?:  .*\n)+)\]\n", text, re.MULTILINE)
    assert found is not None
    without = text[: found.start()] + text[found.end() :]
    with pytest.raises(ComponentError, match=rf"mine.toml: {section}: must be a list of \[\[{section}\]\] rows"):
        GAME.configure(4, components=write(tmp_path, without))
    rows = found.group(1).splitlines(keepends=True)
    shorter = write(tmp_path, text.replace(found.group(1), "".join(rows[:-1])))
    if section == "ghost":  # a round fewer in which it advances
        assert GAME.configure(1, components=shorter).tables[0]["ghost_advances"].sum() == 2
    else:
        with pytest.raises(ComponentError, match=f"mine.toml: {section}"):
            GAME.configure(4, components=shorter)


def test_a_copy_is_the_same_game(tmp_path: Path) -> None:
    path = write(tmp_path, DEFAULT_FILE.read_text(encoding="utf-8"))
    assert GAME.configure(4, components=str(path)).components_digest == GAME.configure(4).components_digest


def test_own_names_show(tmp_path: Path) -> None:
    """Two files in one process: names of technologies and cards reach the texts of the game that was made with them."""
    text = DEFAULT_FILE.read_text(encoding="utf-8").replace("Space Travels", "Sailing")
    config = GAME.configure(4, components=write(tmp_path, text.replace("Adv", "Adv")))
    assert config.actions.text(16) == "advance Sailing" and GAME.actions.text(16) == "advance Space Travels"


# ---------------------------------------------------------------- 8.4 data checks


def toml() -> dict[str, Any]:
    return tomllib.loads(DEFAULT_FILE.read_text(encoding="utf-8"))


def test_planets() -> None:
    planets = toml()["planets"]
    assert [row["number"] for row in planets] == list(range(1, 29)) and len({row["name"] for row in planets}) == 28
    assert [sum(row["min_players"] <= players for row in planets) for players in (1, 2, 3, 4)] == [18, 20, 24, 28]
    assert 28 + 4 + 4 == 36
    table = GAME.default_tables[0]["planet"]
    for number, kind, level, colony, cost in (
        (2, 0, 1, None, [1, 0, 0]), (5, 2, 2, None, [1, 1, 0]), (18, None, None, [1, 2, 0], None),
        (19, None, None, [1, 2, 0], None), (21, None, None, [1, 2, 0], None), (22, 3, None, [1, 3, 0], None),
        (26, 4, None, None, None),
    ):  # fmt: skip
        row = table[number]
        found = (int(row["kind"]), int(row["level"]), row["colony"].tolist(), row["cost"].tolist())
        assert all(
            seen == wanted
            for seen, wanted in zip(found, (kind, level, colony, cost), strict=True)
            if wanted is not None
        )
    assert all(row["terraformed"][k] >= row["colony"][k] for row in planets for k in range(3))
    assert {row["type"] for row in planets if row["cost"][2]} == {"alien"}


def test_map() -> None:
    data, table = toml(), GAME.default_tables[0]
    signs = Counter("".join(row["hexes"] for row in data["terrain"]))
    assert signs == {".": 396, "1": 12, "2": 4, "3": 4, "S": 1, "*": 1} and signs.total() == 418
    assert int(table["sol"]) == SOL == 208
    assert all(
        int(table["zone"][place]) == int(steps > 4) + int(steps > 8)
        for place, steps in enumerate(table["sol_distance"])
    )
    zones = Counter(int(table["zone"][place]) for place in range(418) if table["terrain"][place] == 0)
    assert zones == {0: 56, 1: 148, 2: 192}
    stars = [place for place in range(418) if table["terrain"][place] == 1]
    assert len(stars) == 20 and all(len(NEIGHBOURS[star]) == 6 for star in stars)
    assert min(steps_between(a, b) for a in stars for b in stars if a < b) >= 4
    for row in data["setup"]:
        stars = as_hexes(table["setup"][row["players"]]["stars"])
        group = max(2, row["players"])
        tiles = (
            sum(planet["min_players"] <= group for planet in data["planets"]) + row["mines"] + row["colonial_targets"]
        )
        assert 2 * len(stars) >= tiles
        assert {int(table["star_kind"][star]) for star in stars} == set(row["star_kinds"])


def test_directions_and_distances_agree() -> None:
    for place in range(418):
        assert sorted(neighbour_ids(place)) == NEIGHBOURS[place]
        q, r = axial(place)
        assert hex_at(q, r) == place
        for dq, dr in AXIAL_STEPS:
            other = hex_at(q + dq, r + dr)
            assert other is None or distance(place, other) == 1
    assert all(distance(0, other) == steps_between(0, other) for other in range(418))


def test_technologies_and_tracks() -> None:
    data, table = toml(), GAME.default_tables[0]["tech"]
    assert table[4, 1]["cost"].tolist() == [1, 0, 0] and table[4, 1]["leadership"] == 0
    assert table[4, 2]["cost"].tolist() == [2, 0, 1] and table[4, 2]["leadership"] == 1
    assert (table[4, 3]["benefit"], table[4, 3]["extra"], table[4, 2]["extra"]) == (2, 1, 0)
    assert table[0, 3]["benefit"] == 3 and table[2, 3]["benefit"] == 4 and table[3, 2]["extra"] == 2
    assert (table[3, 3]["benefit"], table[3, 3]["unlock"]) == (2, 1)
    assert [int(table[1, level]["extra"]) for level in range(1, 5)] == [1, 2, 3, 4]
    assert int(table[1, 4]["benefit"]) == 14, "without limit: as often as it can help"
    for row in data["tracks"]:
        assert len(row["medals"]) == 5 and len(row["vp"]) == 21 and sorted(row["vp"]) == row["vp"]


def test_the_rules_card_tells_the_steps_of_the_tracks() -> None:
    """A colony's and its terraforming's by type, those of levels, and what icons bring."""
    data, card = toml(), " ".join(rules_text(GAME).split())
    told = re.findall(r"(\d) and (\d) on an? (\w+)", card)
    assert [(int(colony), int(terraformed)) for colony, terraformed, _ in told] == [
        (row["colonise"], row["terraform"]) for row in data["planet_types"]
    ]
    assert all(row["name"].startswith(name) for row, (*_, name) in zip(data["planet_types"], told, strict=True))
    assert "Levels 2 and 3 of a technology bring a step on the technological track, level 4 brings two." in card
    by_level = {(row["level"], row["leadership"]) for row in data["technology_levels"]}
    assert by_level == {(1, 0), (2, 1), (3, 1), (4, 2)}
    assert "Every third space" in card and "(matter on the colonial, energy on the technological track)" in card
    for row, kind in zip(data["tracks"], (1, 0), strict=True):
        assert row["icons"] == [[3, kind], [6, 2], [9, kind], [12, 2], [15, kind], [18, 2]]


def test_cards_objectives_and_campaigns() -> None:
    data = toml()
    assert len({row["name"] for row in data["progress_cards"]}) == 18
    assert sum(row["solo"] for row in data["progress_cards"]) == 17
    assert Counter(row["set"] for row in data["objectives"]) == {"standard": 10, "advanced": 7}
    campaigns = [row["objectives"] for row in data["campaigns"]]
    assert [len(row) for row in campaigns] == [4] * 5 and set().union(*campaigns) == set(range(1, 18))


def test_provenance() -> None:
    """Every row says where it comes from."""
    data = toml()
    assert set(data["provenance"]) == set("REPD")
    for section in SECTIONS:
        for row in data[section]:
            assert re.match(r"[REPD](\+[REPD])*( |$)", row["prov"]), (section, row)


def test_action_blocks() -> None:
    assert len(GAME.actions) == 576
    expected = {
        "DONE": (0, 1), "MAIN": (1, 9), "BONUS": (10, 6), "TECH": (16, 5), "TRACK": (21, 2), "SLOT": (23, 6),
        "SHIP": (29, 3),
        "RES": (32, 3), "BURN": (35, 21), "CONVERT": (56, 12), "ALLOCATE": (68, 90), "HEX": (158, 418),
    }  # fmt: skip
    assert {block.name: (block.first, block.count) for block in GAME.actions.blocks} == expected


# ---------------------------------------------------------------- observation


def test_tables_of_the_observation() -> None:
    """Rows in the order of the ids that point at them, and what is the same in all games beside the vector."""
    layout = GAME.observation
    assert layout.size <= 1500 and layout.facts.size < layout.size
    rows = {
        "players": 4,
        "slots": 6,
        "planets": 28,
        "starships": 3,
        "technologies": 5,
        "tracks": 2,
        "main_actions": 9,
        "bonus_actions": 6,
    }
    assert {name: layout.rows(name) for name in rows} == rows and layout.rows("places") == 418
    assert set(layout.fixed) == {"places", "planet_cards"}
    fields = layout.fixed["places"].fields
    at_sol = {field.field: int(layout.fixed["places"].values[SOL, field.offset]) for field in fields}
    assert [at_sol[name] for name in ("row", "column", "q", "terrain", "sol_distance")] == [9, 10, 6, 2, 0]
    pointers = GAME.actions.pointers
    slots, resources = pointers.tables.index("slots"), pointers.tables.index("resources")
    to_earth = GAME.actions.id_of("allocate antimatter from colony 2 to Earth")
    assert pointers.row[GAME.actions.id_of("burn energy from storage")].tolist()[:2] == [-1, 0]
    assert pointers.row[GAME.actions.id_of("burn matter from Earth")].tolist()[:2] == [0, 1]
    assert pointers.table[to_earth].tolist() == [slots, slots, resources]
    assert pointers.row[to_earth].tolist() == [2, 0, 2] and pointers.row[158 + SOL, 0] == SOL


def test_bonus_actions_may_change_places(tmp_path: Path) -> None:
    """A file may put them on any line; the observation and the picture say where they are."""
    rows = own_rows("kepler_3042")
    assert [(row["line"], row["number"]) for row in rows["bonus_actions"]] == [
        (line, number) for line in ("column", "row") for number in range(3)
    ]
    rows["bonus_actions"][0] |= {"line": "row", "number": 1}  # Space Logistics changes places with the bonus of row 1
    rows["bonus_actions"][4] |= {"line": "column", "number": 0}
    config = GAME.configure(2, write_rows(tmp_path / "moved.toml", rows))
    position = Snapshot.deal(config, 1)
    while position.state["node"] != Node.MAIN_ACTION:
        position = position.apply(position.legal_actions()[0])
    seen = config.observation.names(position.observe(position.seat))
    assert seen["main_actions.column"].tolist() == [5, 2, 3] * 3
    assert seen["main_actions.row"].tolist() == [4] * 3 + [1] * 3 + [6] * 3
    worth = np.maximum(0, seen["bonus_actions.worth"] - seen["game.burn_cost"][0])
    beyond = [worth[column - 1] + worth[row - 1] for column, row in zip([5, 2, 3] * 3, [4, 1, 6], strict=False)]
    assert worth.any() and seen["main_actions.bonus_worth"][[0, 4, 8]].tolist() == beyond
    first, fifth = rows["bonus_actions"][0]["name"], rows["bonus_actions"][4]["name"]
    assert corner(position, first)[1] == corner(position, "Stellar Propulsion")[1]  # in the second row
    assert corner(position, fifth)[0] == corner(position, "Space Missions")[0]  # below the first column


def corner(position: Snapshot, words: str) -> tuple[float, float]:
    """Where these words begin in the picture."""
    texts = ElementTree.fromstring(position.drawing().svg()).iter("{http://www.w3.org/2000/svg}text")
    found = next(text for text in texts if text.text == words)
    return float(found.attrib["x"]), float(found.attrib["y"])


def test_steps_between_all_hexes() -> None:
    table = GAME.default_tables[0]["distance"]
    assert all(table[place, other] == steps_between(place, other) for place in range(0, 418, 7) for other in range(418))


def test_planes_for_convolutions() -> None:
    from kepler_envs.games.kepler_3042.observation import PLANES, hex_planes

    batch = kepler_envs.make_batch("kepler_3042-v1", 3, seed=1)
    image = hex_planes(GAME.observation, batch.observation)
    assert image.shape == (3, len(PLANES), 19, 22) and image.dtype == np.float32
    plane = dict(zip(PLANES, image.transpose(1, 0, 2, 3), strict=True))
    assert (plane["row parity"][:, 1::2] == 1).all() and (plane["row parity"][:, ::2] == 0).all()
    assert (plane["distance from Sol"][:, 9, 10] == 0).all() and (plane["distance from Sol"][:, 9, 13] == 3).all()
    for row, state in enumerate(batch.states):
        up = np.zeros(418, bool)
        up[list(as_hexes(state["face_up"]))] = True
        body, up = state["body"].reshape(19, 22), up.reshape(19, 22)
        assert (plane["face down"][row] == ((body > 0) & ~up)).all() and plane["face down"][row].any()
        assert (plane["planet"][row] == ((body > 0) & (body <= 28) & up)).all() and plane["planet"][row].any()
        assert (plane["mine"][row] == ((body == 29) & up)).all()
        assert (plane["star in play"][row].sum(), plane["star"][row].sum()) == (12, 20)
    one = hex_planes(GAME.observation, batch.observation[1])
    assert one.shape == (len(PLANES), 19, 22) and (one == image[1]).all()
    other = kepler_envs.load_game("ad_astra").observation
    with pytest.raises(ValueError, match="the layout has no map of hexes; only that of kepler_3042 has one"):
        hex_planes(other, batch.observation)
    with pytest.raises(TypeError, match=r"layout must be a Layout, not .*; config\.observation is one"):
        hex_planes(GAME, batch.observation)


# ---------------------------------------------------------------- options


@pytest.mark.parametrize(
    "options, allowed",
    [
        ({"objectives": "hard"}, "'standard' or 'advanced'"),
        ({"reward_mode": "points"}, "'win' or 'rank'"),
        ({"num_players": 1, "campaign": 5}, "an integer 0..4"),
        ({"num_players": 1, "level": 0}, "an integer 1..4"),
        ({"num_players": 1, "bonus": 15}, "an integer 0..14"),
        ({"num_players": 1, "solo_planets": 19}, "18 or 20"),
        ({"num_players": 2, "level": 2}, "is for the solo game only; allowed here: 1"),
        ({"num_players": 1, "objectives": "advanced"}, "is for 2 to 4 players only; allowed here: 'standard'"),
        ({"shaping": 2}, "a number 0..1"),
        ({"num_players": 5}, "an integer 1..4"),
        ({"stars": 4}, "there are num_players, components, objectives"),
    ],
)
def test_options_that_are_not_allowed(options: dict[str, Any], allowed: str) -> None:
    with pytest.raises(OptionError) as caught:
        GAME.configure(**options)
    assert allowed in str(caught.value)


def test_bonus_cap_of_the_file(tmp_path: Path) -> None:
    text = DEFAULT_FILE.read_text(encoding="utf-8").replace(
        '"bonus_cube_cap", value = 14', '"bonus_cube_cap", value = 2'
    )
    with pytest.raises(OptionError, match=r"bonus = 3 is not allowed; allowed: an integer 0\.\.2"):
        GAME.configure(1, components=write(tmp_path, text), bonus=3)


def test_every_combination_of_level_and_bonus_is_a_game() -> None:
    """No campaign begins level 1 with bonus cubes, but training takes every combination of the options' values."""
    for level in (1, 2, 3, 4):
        for bonus in (0, 14):
            options = GAME.configure(1, level=level, bonus=bonus).options[0]
            assert (options["level"], options["bonus"]) == (level, bonus)


@pytest.mark.parametrize("campaign", range(5))
def test_campaigns_require_their_objectives(campaign: int) -> None:
    titles = names(GAME.default_tables[0]["objective"]["name"])
    wanted = {
        0: ["External Logistics Base", "Atlantis Project", "Helios Project", "Titan Project"],
        1: ["Elite Scientific Branch", "Antimatter Mastery", "Extraterrestrial Contact", "Technological Supremacy"],
        2: ["Logistic Support", "Internal Logistics", "Eden Project", "External Logistics"],
        3: ["Extraterrestrial Study", "Colonial Plan", "Gemini Program", "Civil Expansion"],
        4: ["Colonial Supremacy", "Colonial Plan", "Technological Supremacy", "Internal Logistics"],
    }[campaign]
    for level in (1, 2, 3, 4):
        state = Snapshot.deal(GAME.configure(1, campaign=campaign, level=level), 1).state
        required = [number for number in range(17) if int(state["player"][0]["objectives"]) >> number & 1]
        assert {titles[number] for number in required} == set(wanted[:level])
