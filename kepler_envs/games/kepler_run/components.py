"""components.toml -> validated tables. A user's own component file goes the same way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.engine.components import ComponentFile, load_tables, names
from kepler_envs.games.kepler_run.state import (
    MAX_CARDS,
    MAX_FUEL,
    MAX_PLAYERS,
    MAX_ROUNDS,
    NUM_SHIPS,
    NUM_SPECIALS,
    NUM_TRAITS,
    NUM_TYPES,
    ROW_CARD,
    RUN_SLOTS,
    SECTOR,
    SLING_PART,
)

DEFAULT_FILE = Path(__file__).with_name("components.toml")
NAME_BYTES = 32
MAX_VP = 127  # a seat's points are kept in one byte

NUMBERS = {
    "rounds": (1, MAX_ROUNDS),
    "initial_run": (2, RUN_SLOTS),  # the action REROUTE needs two sectors
    "start_modules": (0, 10),
    "boxes": (0, 10),
    "fuel_cap": (0, MAX_FUEL),
    "disks": (0, 10),
    "port_cost": (0, 9),
    "booster_dots": (0, 9),
    "first_arrival_vp": (0, 20),
    "later_arrival_vp": (0, 20),
    "discover_vp": (0, 9),
    "delivery_vp": (0, 9),
    "refuel": (0, 10),
    "station_fuel": (0, 10),
    "station_vp": (0, 9),
    "closest_station_vp": (0, 20),
}
"""The single numbers of a component file and what each may be."""

CARD_COLUMNS = {
    "type": (0, NUM_TYPES - 1),
    "cost": (0, 9),
    "wrenches": (0, 10),
    "part_kind": (0, SLING_PART - 1),
    "dots": (0, 9),
    "asteroids": (0, 3),
    "comets": (0, 3),
    "station": (0, 3),
    "action": (0, NUM_SPECIALS),
    "vp": (0, 9),
}
"""The columns of a card and what each may be."""

TABLES = np.dtype(
    [
        ("cards_total", "i1"),
        ("sector", SECTOR, (MAX_CARDS,)),  # [id]: the card as a sector of the run
        ("row_card", ROW_CARD, (MAX_CARDS,)),  # [id]: the card in the row
        *[(name, "i1") for name in NUMBERS],
        ("seat_fuel", "i1", (MAX_PLAYERS,)),  # by position in the starting order
        ("ship_type", "i1", (NUM_SHIPS,)),  # built-in type of each colour
        ("complete_vp", "i1", (NUM_TRAITS,)),  # for completing each contract
        ("secondary_vp", "i1", (NUM_TRAITS,)),  # for each icon to others who reveal it
        ("secondary_fuel", "i1", (NUM_TRAITS,)),
        # UTF-8, padded with zeros; only for texts and pictures
        ("type_name", "u1", (NUM_TYPES, NAME_BYTES)),
        ("ship_name", "u1", (NUM_SHIPS, NAME_BYTES)),
        ("contract_name", "u1", (NUM_TRAITS, NAME_BYTES)),
        ("action_name", "u1", (NUM_SPECIALS, NAME_BYTES)),
        ("special_part_name", "u1", (SLING_PART - NUM_TYPES, NAME_BYTES)),
    ],
    align=True,
)


def load_components(path: Path | None) -> np.ndarray:
    """Load the tables of a component file, or of the game's own if there is none: see :func:`load_tables`."""
    sections = (_read_numbers, _read_seat_fuel, _read_texts, _read_ships, _read_contracts, _read_cards, _check_points)
    return load_tables(path or DEFAULT_FILE, "kepler_run", TABLES, sections)


def _read_numbers(file: ComponentFile, tables: Any) -> None:
    file.read_numbers(NUMBERS, tables)
    if tables["start_modules"] > tables["boxes"]:
        raise file.error("numbers", f"start_modules is {tables['start_modules']}; there are {tables['boxes']} boxes")


def _read_seat_fuel(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("seat_fuel", {"position": int, "fuel": int, "prov": str})
    file.check_ids("seat_fuel", rows, range(1, MAX_PLAYERS + 1), "position")
    for index, row in enumerate(rows):
        file.check_value(f"seat_fuel row {index + 1}", "fuel", row["fuel"], 0, int(tables["fuel_cap"]))
        tables["seat_fuel"][index] = row["fuel"]


def _read_texts(file: ComponentFile, tables: Any) -> None:
    _read_names(file, tables, "sector_types", range(NUM_TYPES), "name", "type_name")
    _read_names(file, tables, "special_actions", range(1, NUM_SPECIALS + 1), "name", "action_name")
    rows = _read_names(file, tables, "special_parts", range(NUM_TYPES, SLING_PART), "name", "special_part_name")
    bypasses = dict(zip(part_names(tables)[:NUM_TYPES], type_names(tables), strict=True))
    for index, row in enumerate(rows):
        if row["name"] in bypasses:
            rule = f"the bypass of the sector type {bypasses[row['name']]!r} is called so"
            raise file.error(f"special_parts row {index + 1}", f"name is {row['name']!r}; {rule}")


def _read_ships(file: ComponentFile, tables: Any) -> None:
    rows = _read_names(file, tables, "ships", range(NUM_SHIPS), "colour", "ship_name", {"builtin_type": int})
    for index, row in enumerate(rows):
        file.check_value(f"ships row {index + 1}", "builtin_type", row["builtin_type"], 0, NUM_TYPES - 1)
        tables["ship_type"][index] = row["builtin_type"]


def _read_contracts(file: ComponentFile, tables: Any) -> None:
    columns = {"complete_vp": int, "secondary": str, "secondary_per_icon": int}
    rows = _read_names(file, tables, "contracts", range(NUM_TRAITS), "name", "contract_name", columns)
    for index, row in enumerate(rows):
        where = f"contracts row {index + 1} ({row['name']!r})"
        if row["secondary"] not in ("vp", "fuel"):
            raise file.error(where, f"secondary is {row['secondary']!r}; allowed: 'vp' or 'fuel'")
        file.check_value(where, "complete_vp", row["complete_vp"], 0, 20)
        file.check_value(where, "secondary_per_icon", row["secondary_per_icon"], 0, 5)
        tables["complete_vp"][index] = row["complete_vp"]
        tables[f"secondary_{row['secondary']}"][index] = row["secondary_per_icon"]


def _read_cards(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("game_cards", {"id": int, **dict.fromkeys(CARD_COLUMNS, int), "prov": str})
    if not 1 <= len(rows) <= MAX_CARDS:
        raise file.error("game_cards", f"{len(rows)} rows; allowed: 1..{MAX_CARDS}")
    file.check_ids("game_cards", rows, range(len(rows)))
    tables["cards_total"] = len(rows)
    for card, row in enumerate(rows):
        where = f"game_cards row {card + 1}"
        for name, (low, high) in CARD_COLUMNS.items():
            file.check_value(where, name, row[name], low, high)
        if row["wrenches"] > tables["boxes"]:
            raise file.error(
                where, f"wrenches is {row['wrenches']}; a ship has only {tables['boxes']} boxes for modules"
            )
        sector, row_card = tables["sector"][card], tables["row_card"][card]
        for target in (sector, row_card):
            target["type"], target["cost"] = row["type"] + 1, row["cost"]
            target["asteroids"], target["comets"], target["stations"] = row["asteroids"], row["comets"], row["station"]
        row_card["wrenches"], row_card["part"], row_card["dots"] = row["wrenches"], row["part_kind"] + 1, row["dots"]
        row_card["action"], row_card["vp"] = row["action"], row["vp"]


def _check_points(file: ComponentFile, tables: Any) -> None:
    """Check that the most points a seat could get, with the best of everything at once, fit."""
    number = {name: int(tables[name]) for name in NUMBERS}
    rounds = range(number["rounds"])
    best_part = int(tables["row_card"]["vp"].max())
    # a delivery drafted in one round pays in all later ones as well
    picks = sum(
        2 * max(number["discover_vp"], best_part, number["delivery_vp"] * (number["rounds"] - r)) for r in rounds
    )
    icons = tables["sector"]["icons"].astype(int).sum(axis=0)
    contract = max(tables["complete_vp"].max(), (tables["secondary_vp"] * icons).max())
    kepler = max(number["first_arrival_vp"], number["later_arrival_vp"])
    stations = number["disks"] * number["station_vp"] + number["closest_station_vp"]
    most = picks + number["rounds"] * int(contract + kepler) + stations
    if most > MAX_VP:
        raise file.error(
            "numbers", f"up to {most} points would be possible for one player; at most {MAX_VP} are allowed"
        )


def _read_names(
    file: ComponentFile, tables: Any, section: str, ids: Sequence[int], column: str, field: str,
    columns: dict[str, type] | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """Read rows with exactly these ids and a name each, which goes into a field of the tables.

    Returns all columns of the rows.
    """
    rows = file.rows(section, {"id": int, column: str, **(columns or {}), "prov": str})
    file.check_ids(section, rows, ids)
    file.write_names(section, rows, column, tables[field])
    return rows


# ---------------------------------------------------------------- names


def type_names(tables: Any) -> tuple[str, ...]:
    """The names of the sector types."""
    return names(tables["type_name"])


def ship_names(tables: Any) -> tuple[str, ...]:
    """The colours of the ships."""
    return names(tables["ship_name"])


def contract_names(tables: Any) -> tuple[str, ...]:
    """The names of the contracts, which are those of the icons."""
    return names(tables["contract_name"])


def action_names(tables: Any) -> tuple[str, ...]:
    """The names of the special actions 1, 2, 3."""
    return names(tables["action_name"])


def part_names(tables: Any) -> tuple[str, ...]:
    """The names of the part kinds: bypasses are named after their sector type."""
    return tuple(f"bypass {name}" for name in type_names(tables)) + names(tables["special_part_name"])
