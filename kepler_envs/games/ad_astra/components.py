"""components.toml -> validated tables. A user's own file goes the same way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.engine.components import ComponentFile, load_tables
from kepler_envs.games.ad_astra.state import (
    ALIEN,
    CARDS_OF_A_KIND,
    COLONIES_FACTORIES,
    COLONY,
    DIFFERENT,
    FACTORY,
    FIRST_MOVEMENT,
    FIRST_ORE,
    FIRST_PRODUCTION,
    IDENTICAL,
    ITEM_FACTORY,
    ITEM_STARSHIP,
    ITEM_TERRAFORMER,
    MAX_PAWNS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_ARTIFACTS,
    NUM_CARDS,
    NUM_ELEMENTS,
    NUM_FACTIONS,
    NUM_ITEMS,
    NUM_PAWNS,
    NUM_RESOURCES,
    NUM_SPACES,
    NUM_STARS,
    NUM_SYSTEMS,
    NUM_TYPES,
    SLOTS,
    STARSHIP,
    STARSHIPS,
    SYSTEMS,
    TERRAFORMER,
    TERRAFORMERS,
)
from kepler_envs.printable import counted

DEFAULT_FILE = Path(__file__).with_name("components.toml")
NAME_BYTES, KEY_BYTES = 32, 4
MAX_PER_RESOURCE = 25  # cards; the action ids of a discard reach so far
MAX_POINTS = 100  # of anything the file gives points for
FEWEST_CARDS_IN_HAND = 9  # action cards a player surely has when a round begins: two scoring cards may be set aside
MOST_ROUNDS = 20
MOST_POINTS = 32_767  # a player's points are kept in two bytes
LARGER_DISCARD, RANDOM_POINTS = 8, 9  # artifacts that bring points

FROM_DEEP_SPACE, TO_DEEP_SPACE, WITHIN_SYSTEM, BETWEEN_SYSTEMS = range(4)
MOVES = ("from deep space to a planet", "from a planet to deep space", "within a system", "between systems")
PAWNS = ("starship", "colony", "factory", "terraformer")
COUPLE = 2  # things on a production or movement card

NUMBERS = {
    "cards_per_resource": (MAX_PLAYERS, MAX_PER_RESOURCE),
    "hand_limit": (0, NUM_RESOURCES * MAX_PER_RESOURCE),
    "end_points": (1, 1000),
    "bonus": (0, MAX_POINTS),
    "bank_rate": (1, 2),
    "smallest_system": (1, SLOTS),
    "largest_system": (1, SLOTS),
}
"""The single numbers of a component file and their bounds."""

FACTION = np.dtype(
    [
        ("production", "u1", (CARDS_OF_A_KIND,)),  # bit r: the card offers resource r
        ("movement", "u1", (CARDS_OF_A_KIND,)),  # bit d: the card shows system d
        (
            "couples",
            "i1",
            (2 * COUPLE * NUM_CARDS,),
        ),  # 1 + resources on each of all cards, 1 + systems, as in the observation
        ("name", "u1", (NAME_BYTES,)),
    ],
    align=True,
)

PAWN = np.dtype(
    [
        ("count", "i1"),  # pawns of each player
        ("start", "i1"),  # of them in play at the start
        ("points", "i1"),  # scored when built on any planet
        ("points_alien", "i1"),  # ... on an alien planet
        ("production", "i1"),
    ],
    align=True,
)

TABLES = np.dtype(
    [
        ("cards_per_resource", "i1"),
        ("hand_limit", "<i2"),
        ("end_points", "<i2"),
        ("bonus", "i1"),
        ("bank_rate", "i1"),
        ("smallest_system", "i1"),
        ("largest_system", "i1"),
        ("fuel", "i1"),  # the resource that pays for moves
        ("move_cost", "i1", (len(MOVES),)),
        ("start_hand", "i1", (NUM_RESOURCES,)),
        ("planet_count", "i1", (NUM_TYPES,)),
        ("terraformable", "i1", (NUM_TYPES,)),
        ("pawn", PAWN, (NUM_PAWNS,)),
        ("item_cost", "i1", (NUM_ITEMS, NUM_RESOURCES)),  # what each item costs, the ore of choice included
        ("spaces", "i1", (MAX_PLAYERS + 1,)),  # by number of players; 0: cannot be played
        ("even_layout", "i1", (MAX_PLAYERS + 1, NUM_STARS)),
        ("faction", FACTION, (NUM_FACTIONS,)),
        ("element", "i1", (CARDS_OF_A_KIND, 2)),  # the two elements of each scoring card
        ("element_points", "i1", (NUM_ELEMENTS,)),  # per unit; colonies and factories: per colony
        ("factory_points", "i1"),  # colonies and factories: per factory
        ("artifact_amount", "i1", (NUM_ARTIFACTS,)),
        # names, UTF-8 padded with zeros; only for texts and pictures
        ("resource_name", "u1", (NUM_RESOURCES, NAME_BYTES)),
        ("type_key", "u1", (NUM_TYPES, KEY_BYTES)),
        ("type_name", "u1", (NUM_TYPES, NAME_BYTES)),
        ("system_key", "u1", (NUM_SYSTEMS, KEY_BYTES)),
        ("system_name", "u1", (NUM_SYSTEMS, NAME_BYTES)),
        ("element_name", "u1", (NUM_ELEMENTS, NAME_BYTES)),
        ("artifact_name", "u1", (NUM_ARTIFACTS, NAME_BYTES)),
    ],
    align=True,
)


def load_components(path: Path | None) -> np.ndarray:
    """Load the tables of a component file, or of the game's own if there is none: see :func:`load_tables`."""
    sections = (
        _read_numbers, _read_moves, _read_resources, _read_planet_types, _read_systems, _read_pawns, _read_setup,
        _read_factions,
        _read_production, _read_movement, _read_scoring, _read_artifacts, _check_points,
    )  # fmt: skip
    return load_tables(path or DEFAULT_FILE, "ad_astra", TABLES, sections)


# ---------------------------------------------------------------- sections


def _read_numbers(file: ComponentFile, tables: Any) -> None:
    file.read_numbers(NUMBERS, tables)
    if tables["smallest_system"] > tables["largest_system"]:
        raise file.error("numbers", "smallest_system is above largest_system")


def _read_moves(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("moves", {"name": str, "cost": int, "prov": str})
    file.check_names("moves", rows, MOVES)
    for row in rows:
        file.check_range(f"moves row {row['name']!r}", row, "cost", 0, MAX_PER_RESOURCE)
        tables["move_cost"][MOVES.index(row["name"])] = row["cost"]


def _read_resources(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("resources", {"id": int, "key": str, "name": str, "fuel": bool, "start": int, "prov": str})
    file.check_ids("resources", rows, range(NUM_RESOURCES))
    fuels = [row["id"] for row in rows if row["fuel"]]
    if len(fuels) != 1:
        raise file.error("resources", f"{len(fuels)} rows have fuel = true; exactly one resource pays for moves")
    tables["fuel"] = fuels[0]
    most = int(tables["cards_per_resource"]) // MAX_PLAYERS
    for row in rows:
        file.check_range(f"resources row {row['id'] + 1}", row, "start", 0, most)
        tables["start_hand"][row["id"]] = row["start"]
        if "," in row["name"] or " and " in row["name"]:
            raise file.error(
                f"resources row {row['id'] + 1}", "name must not contain a comma or 'and': texts list resources"
            )
    file.write_names("resources", rows, "name", tables["resource_name"])


def _read_planet_types(file: ComponentFile, tables: Any) -> None:
    columns = {"id": int, "key": str, "name": str, "count": int, "terraformable": bool, "prov": str}
    rows = file.rows("planet_types", columns)
    file.check_ids("planet_types", rows, range(NUM_TYPES))
    for row in rows:
        where = f"planet_types row {row['id'] + 1}"
        if " " in row["key"]:
            raise file.error(
                where, f"key is {row['key']!r}; it must not contain a space: option setup separates keys by spaces"
            )
        file.check_range(where, row, "count", 0, NUM_STARS * SLOTS)
        tables["planet_count"][row["id"]] = row["count"]
        tables["terraformable"][row["id"]] = row["terraformable"]
    if rows[ALIEN]["terraformable"]:
        raise file.error(f"planet_types row {ALIEN + 1}", "an alien planet cannot be terraformable")
    habitable = sum(row["count"] for row in rows[:ALIEN])
    if habitable < MAX_PLAYERS:
        raise file.error("planet_types", f"{habitable} planets are not alien; {MAX_PLAYERS} start planets are needed")
    file.write_names("planet_types", rows, "key", tables["type_key"])
    file.write_names("planet_types", rows, "name", tables["type_name"])


def _read_systems(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("systems", {"id": int, "key": str, "name": str, "prov": str})
    file.check_ids("systems", rows, range(NUM_SYSTEMS))
    for row in rows:
        if row["name"] == "deep space":
            raise file.error(f"systems row {row['id'] + 1}", "deep space is no system's name: it lies between them")
    file.write_names("systems", rows, "key", tables["system_key"])
    file.write_names("systems", rows, "name", tables["system_name"])


def _read_pawns(file: ComponentFile, tables: Any) -> None:
    columns = {
        "id": int, "name": str, "count": int, "start": int, "cost": list, "any_ore": int, "points": int,
        "points_alien": int, "production": int, "prov": str,
    }  # fmt: skip
    rows = file.rows("pawns", columns)
    file.check_ids("pawns", rows, range(NUM_PAWNS))
    for row, name in zip(rows, PAWNS, strict=True):
        where = f"pawns row {row['id'] + 1} ({row['name']!r})"
        if row["name"] != name:
            raise file.error(where, f"the pawn with id {row['id']} is the {name}")
        file.check_range(where, row, "count", 1, MAX_PAWNS)
        starts = {STARSHIP: (0, row["count"]), FACTORY: (1, 1)}
        file.check_range(where, row, "start", *starts.get(row["id"], (0, 0)))
        file.check_list(where, row, "cost", NUM_RESOURCES, 0, MAX_PER_RESOURCE)
        chooses_ore = int(row["id"] in (STARSHIP, COLONY))
        file.check_range(where, row, "any_ore", chooses_ore, chooses_ore)
        for column in ("points", "points_alien"):
            on_planets = 0 if row["id"] == STARSHIP else MAX_POINTS
            file.check_range(where, row, column, 0, on_planets)
        file.check_range(where, row, "production", 0, MAX_PAWNS)
        pawn = tables["pawn"][row["id"]]
        for column in ("count", "start", "points", "points_alien", "production"):
            pawn[column] = row[column]
    _price_items(tables, [row["cost"] for row in rows])


def _price_items(tables: Any, costs: Sequence[Sequence[int]]) -> None:
    cost = tables["item_cost"]
    for ore in range(NUM_RESOURCES - FIRST_ORE):
        cost[ore] = costs[COLONY]
        cost[ITEM_STARSHIP + ore] = costs[STARSHIP]
        cost[ore][FIRST_ORE + ore] += 1
        cost[ITEM_STARSHIP + ore][FIRST_ORE + ore] += 1
    cost[ITEM_FACTORY] = costs[FACTORY]
    cost[ITEM_TERRAFORMER] = costs[TERRAFORMER]


def _read_setup(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("setup", {"players": int, "spaces": int, "layout": list, "prov": str})
    low, high = int(tables["smallest_system"]), int(tables["largest_system"])
    total = int(tables["planet_count"].sum())
    for position, row in enumerate(rows):
        players, spaces = row["players"], row["spaces"]
        where = f"setup row {position + 1} (players = {players})"
        file.check_range(where, row, "players", MIN_PLAYERS, MAX_PLAYERS)
        if tables["spaces"][players]:
            raise file.error(where, "a second row for this number of players")
        file.check_range(where, row, "spaces", players, min(NUM_SPACES, players * FEWEST_CARDS_IN_HAND))
        if spaces % players:
            raise file.error(where, f"{spaces} spaces cannot be shared equally by {players} players")
        file.check_list(where, row, "layout", NUM_STARS, low, high)
        elsewhere = total - players
        if not NUM_STARS * low <= elsewhere <= NUM_STARS * high:
            raise file.error(
                where,
                f"{total} planets leave {elsewhere} for the {NUM_STARS} systems; with {low}..{high} each they hold "
                f"{NUM_STARS * low}..{NUM_STARS * high}",
            )
        if sum(row["layout"]) != elsewhere:
            raise file.error(where, f"layout has {sum(row['layout'])} planets; {elsewhere} are left for the systems")
        tables["spaces"][players] = spaces
        tables["even_layout"][players] = row["layout"]
    if not rows:
        raise file.error("setup", "no row; at least one number of players is needed")


def _read_factions(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("factions", {"id": int, "name": str, "prov": str})
    file.check_ids("factions", rows, range(NUM_FACTIONS))
    for row in rows:
        if "," in row["name"]:
            raise file.error(
                f"factions row {row['id'] + 1}", "a name must not contain a comma: option factions lists names"
            )
    file.write_names("factions", rows, "name", tables["faction"]["name"])


def _read_production(file: ComponentFile, tables: Any) -> None:
    _read_couples(file, tables, "production", NUM_RESOURCES)


def _read_movement(file: ComponentFile, tables: Any) -> None:
    _read_couples(file, tables, "movement", NUM_STARS)


def _read_couples(file: ComponentFile, tables: Any, kind: str, choices: int) -> None:
    """``[[production_cards]]`` or ``[[movement_cards]]``: three cards a faction, two of ``choices`` things on each."""
    section = f"{kind}_cards"
    rows = file.rows(section, {"faction": int, "card": int, "couple": list, "prov": str})
    first = COUPLE * (FIRST_PRODUCTION if kind == "production" else NUM_CARDS + FIRST_MOVEMENT)
    for position, row in enumerate(rows):
        where = f"{section} row {position + 1}"
        file.check_range(where, row, "faction", 0, NUM_FACTIONS - 1)
        file.check_range(where, row, "card", 1, CARDS_OF_A_KIND)
        file.check_list(where, row, "couple", COUPLE, 0, choices - 1)
        one, other = row["couple"]
        if one == other:
            raise file.error(where, f"couple is {row['couple']}; its two entries must differ")
        faction, card = tables["faction"][row["faction"]], row["card"] - 1
        if faction[kind][card]:
            raise file.error(where, f"a second row for card {row['card']} of faction {row['faction']}")
        faction[kind][card] = 1 << one | 1 << other
        for place, choice in enumerate(row["couple"]):
            faction["couples"][first + COUPLE * card + place] = choice + 1
    missing = NUM_FACTIONS * CARDS_OF_A_KIND - len(rows)
    if missing:
        raise file.error(section, f"{counted(missing, 'card')} missing; every faction has {CARDS_OF_A_KIND}")


def _read_scoring(file: ComponentFile, tables: Any) -> None:
    elements = file.rows("scoring_elements", {"id": int, "name": str, "points": list, "prov": str})
    file.check_ids("scoring_elements", elements, range(NUM_ELEMENTS))
    for row in elements:
        size = 2 if row["id"] == COLONIES_FACTORIES else 1
        most = 10 if size == 2 else MAX_POINTS
        file.check_list(f"scoring_elements row {row['id'] + 1}", row, "points", size, 0, most)
        tables["element_points"][row["id"]] = row["points"][0]
    tables["factory_points"] = elements[COLONIES_FACTORIES]["points"][1]
    file.write_names("scoring_elements", elements, "name", tables["element_name"])
    cards = file.rows("scoring_cards", {"card": int, "couple": list, "prov": str})
    file.check_ids("scoring_cards", cards, range(1, CARDS_OF_A_KIND + 1), "card")
    for position, row in enumerate(cards):
        where = f"scoring_cards row {position + 1}"
        file.check_list(where, row, "couple", 2, 0, NUM_ELEMENTS - 1)
        if row["couple"][0] == row["couple"][1]:
            raise file.error(where, f"couple is {row['couple']}; its two entries must differ")
        tables["element"][position] = row["couple"]


def _read_artifacts(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("artifacts", {"id": int, "name": str, "amount": int, "effect": str, "prov": str})
    file.check_ids("artifacts", rows, range(NUM_ARTIFACTS))
    for row in rows:
        where = f"artifacts row {row['id'] + 1} ({row['name']!r})"
        low = 1 if row["id"] in (4, 9) else 0
        file.check_range(where, row, "amount", low, MAX_PER_RESOURCE)
        tables["artifact_amount"][row["id"]] = row["amount"]
    file.write_names("artifacts", rows, "name", tables["artifact_name"])


# ---------------------------------------------------------------- checks


def _check_points(file: ComponentFile, tables: Any) -> None:
    """Check that the most points a player could have fit.

    These are one less than ends the game, all that can be built, and a round of scoring cards.
    """
    element, pawn = tables["element_points"].astype(int), tables["pawn"]
    count = pawn["count"].astype(int)
    copies, amount = int(tables["cards_per_resource"]), tables["artifact_amount"].astype(int)
    one_card = int(tables["bonus"]) + max(
        element[COLONIES_FACTORIES] * count[COLONY] + int(tables["factory_points"]) * count[FACTORY],
        element[STARSHIPS] * count[STARSHIP],
        element[TERRAFORMERS] * count[TERRAFORMER],
        element[SYSTEMS] * NUM_SYSTEMS,
        element[IDENTICAL] * copies,
        element[DIFFERENT] * NUM_RESOURCES,
    )
    cards = max(min(int(tables["spaces"][n]), n * CARDS_OF_A_KIND) for n in range(MIN_PLAYERS, MAX_PLAYERS + 1))
    per_pawn = pawn["points"].astype(int) + pawn["points_alien"]
    built = count[TERRAFORMER] * per_pawn[TERRAFORMER] + count[FACTORY] * per_pawn[FACTORY]
    built += (count[COLONY] + count[FACTORY]) * per_pawn[COLONY]  # a factory sets a colony free
    artifacts = amount[LARGER_DISCARD] * max(element[IDENTICAL], element[DIFFERENT]) + amount[RANDOM_POINTS]
    most = int(tables["end_points"]) - 1 + cards * one_card + built + artifacts
    if most > MOST_POINTS:
        raise file.error(
            "scoring_elements",
            f"up to {most} points would be possible for one player, {one_card} of them for each of {cards} scoring "
            "cards "
            f"in a round; at most {MOST_POINTS} are allowed",
        )
