"""The planets of a component file, and their types."""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs.engine.components import ComponentFile
from kepler_envs.games.kepler_3042.components_checks import NAME_BYTES, check_choice
from kepler_envs.games.kepler_3042.state import (
    ALIEN,
    MAX_LEVEL,
    MAX_PLAYERS,
    MIN_PLAYERS,
    MOST_LEADERSHIP,
    NUM_PLANETS,
    NUM_RESOURCES,
    NUM_TYPES,
)

MOST_TERRAFORM_VP = 15
TYPE_CODES = ("oceanic", "rocky", "super_earth", "gas_giant", "alien")

PLANET = np.dtype(
    [
        ("kind", "i1"),  # type 0..4
        ("level", "i1"),  # 1..4
        ("colony", "i1", (NUM_RESOURCES,)),  # production
        ("terraformed", "i1", (NUM_RESOURCES,)),  # production once terraformed
        ("cost", "i1", (NUM_RESOURCES,)),  # of terraforming
        ("vp", "i1"),
        ("min_players", "i1"),  # 1..4
        ("name", "u1", (NAME_BYTES,)),
    ],
    align=True,
)


def read_types(file: ComponentFile, tables: Any) -> None:
    """Read the five types with the leadership that they bring."""
    rows = file.rows(
        "planet_types", {"id": int, "code": str, "name": str, "colonise": int, "terraform": int, "prov": str}
    )
    file.check_ids("planet_types", rows, range(NUM_TYPES))
    for row in rows:
        where = f"planet_types row {row['id'] + 1}"
        for column in ("colonise", "terraform"):
            file.check_range(where, row, column, 0, MOST_LEADERSHIP)
            tables[f"{column}_leadership"][row["id"]] = row[column]
        if row["code"] != TYPE_CODES[row["id"]]:
            raise file.error(
                where, f"code is {row['code']!r}; the type with id {row['id']} is {TYPE_CODES[row['id']]!r}"
            )
    file.write_names("planet_types", rows, "name", tables["type_name"])


def read_planets(file: ComponentFile, tables: Any) -> None:
    """Read the 28 planets by number."""
    columns = {
        "number": int, "name": str, "type": str, "level": int, "colony": list, "terraformed": list, "cost": list,
        "vp": int,
        "min_players": int, "prov": str,
    }  # fmt: skip
    rows = file.rows("planets", columns)
    file.check_ids("planets", rows, range(1, NUM_PLANETS + 1), "number")
    for row in rows:
        where = f"planets row {row['number']} ({row['name']!r})"
        planet = tables["planet"][row["number"]]
        check_choice(file, where, row, "type", TYPE_CODES)
        file.check_range(where, row, "level", 1, MAX_LEVEL)
        file.check_range(where, row, "vp", 0, MOST_TERRAFORM_VP)
        file.check_range(where, row, "min_players", MIN_PLAYERS, MAX_PLAYERS)
        for column in ("colony", "terraformed", "cost"):
            file.check_list(where, row, column, NUM_RESOURCES, 0, 7)
            planet[column] = row[column]
        less = [c for c, t in zip(row["colony"], row["terraformed"], strict=True) if t < c]
        if less:
            raise file.error(
                where, f"terraformed is {row['terraformed']}; no cube of it may be below colony {row['colony']}"
            )
        if row["cost"][2] and row["type"] != TYPE_CODES[ALIEN]:
            raise file.error(where, f"cost is {row['cost']}; only alien planets cost antimatter")
        planet["kind"] = TYPE_CODES.index(row["type"])
        for column in ("level", "vp", "min_players"):
            planet[column] = row[column]
    file.write_names("planets", rows, "name", tables["planet"]["name"][1:])
