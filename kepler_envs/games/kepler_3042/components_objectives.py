"""The objectives of a component file, and the solo campaigns, which ask for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs.engine.components import ComponentFile
from kepler_envs.games.kepler_3042.components_checks import NAME_BYTES, check_choice, check_keys
from kepler_envs.games.kepler_3042.components_planets import TYPE_CODES
from kepler_envs.games.kepler_3042.state import (
    MAX_COLONIES,
    MAX_LEVEL,
    MAX_PLAYERS,
    NUM_CAMPAIGNS,
    NUM_LEVELS,
    NUM_OBJECTIVES,
    NUM_TECHS,
    NUM_TRACKS,
    NUM_TYPES,
    NUM_ZONES,
    ROUNDS,
    TRACK_END,
    Requirement,
)

MOST_OBJECTIVE_VP = 30
STANDARD, ADVANCED = 1, 2
SETS = {"standard": STANDARD, "advanced": ADVANCED}

OBJECTIVE = np.dtype(
    [
        ("set", "i1"),  # STANDARD, ADVANCED
        ("test", "i1"),  # Requirement
        ("subject", "i1"),  # the type, zone, level or track it is about
        ("count", "i1"),  # how many; the space of a track
        ("vp", "i1"),
        ("name", "u1", (NAME_BYTES,)),
    ],
    align=True,
)

OBJECTIVE_ARGUMENTS: dict[str, tuple[tuple[str, int, int], ...]] = {
    # test: (argument, lowest, highest); the last one is the count, one before it the subject
    "terraformed_type": (("type", 0, NUM_TYPES - 1), ("n", 1, MAX_COLONIES)),
    "terraformed_zone": (("zone", 0, NUM_ZONES - 1), ("n", 1, MAX_COLONIES)),
    "colonised_zone": (("zone", 0, NUM_ZONES - 1), ("n", 1, MAX_COLONIES)),
    "colonised_each_zone": (("n", 1, 1),),
    "colonised_type": (("type", 0, NUM_TYPES - 1), ("n", 1, MAX_COLONIES)),
    "colonised_types": (("n", 1, NUM_TYPES),),
    "colonised_total": (("n", 1, MAX_COLONIES),),
    "terraformed_total": (("n", 1, MAX_COLONIES),),
    "terraformed_same_type": (("n", 2, MAX_COLONIES),),
    "techs_at_level": (("level", 1, MAX_LEVEL), ("n", 1, NUM_TECHS)),
    "antimatter_on_planets": (("n", 1, 3),),
    "track": (("track", 0, NUM_TRACKS - 1), ("space", 1, TRACK_END)),
}


def read_objectives(file: ComponentFile, tables: Any) -> None:
    """Read the objectives of both sets."""
    rows = file.rows(
        "objectives", {"id": int, "name": str, "set": str, "test": str, "args": dict, "vp": int, "prov": str}
    )
    file.check_ids("objectives", rows, range(1, NUM_OBJECTIVES + 1))
    for row in rows:
        where = f"objectives row {row['id']} ({row['name']!r})"
        check_choice(file, where, row, "set", SETS)
        check_choice(file, where, row, "test", OBJECTIVE_ARGUMENTS)
        file.check_range(where, row, "vp", 0, MOST_OBJECTIVE_VP)
        wanted = OBJECTIVE_ARGUMENTS[row["test"]]
        check_keys(file, where, "args", row["args"], [name for name, _, _ in wanted])
        args = dict(row["args"])
        if "type" in args:
            check_choice(file, where, args, "type", TYPE_CODES)
            args["type"] = TYPE_CODES.index(args["type"])
        for name, low, high in wanted:
            file.check_range(where, args, name, low, high)
        objective = tables["objective"][row["id"] - 1]
        objective["set"], objective["test"], objective["vp"] = (
            SETS[row["set"]],
            Requirement[row["test"].upper()],
            row["vp"],
        )
        objective["count"] = args[wanted[-1][0]]
        objective["subject"] = args[wanted[0][0]] if len(wanted) > 1 else 0
    for name, number in SETS.items():
        count = int((tables["objective"]["set"] == number).sum())
        if count < MAX_PLAYERS:
            raise file.error("objectives", f"{count} in the set {name}; at least {MAX_PLAYERS}, one for each player")
    file.write_names("objectives", rows, "name", tables["objective"]["name"])


def read_campaigns(file: ComponentFile, tables: Any) -> None:
    """Read the five campaigns: the objectives that their levels add."""
    rows = file.rows("campaigns", {"id": int, "name": str, "difficulty": str, "objectives": list, "prov": str})
    file.check_ids("campaigns", rows, range(NUM_CAMPAIGNS))
    for row in rows:
        where = f"campaigns row {row['id'] + 1} ({row['name']!r})"
        file.check_list(where, row, "objectives", NUM_LEVELS, 1, NUM_OBJECTIVES)
        if len(set(row["objectives"])) != NUM_LEVELS:
            raise file.error(where, f"objectives is {row['objectives']}; they must differ")
        for level in range(1, NUM_LEVELS + 1):
            required = sum(1 << objective - 1 for objective in row["objectives"][:level])
            tables["campaign"][row["id"], level] = required
    file.write_names("campaigns", rows, "name", tables["campaign_name"])
    file.write_names("campaigns", rows, "difficulty", tables["campaign_difficulty"])


def read_solo(file: ComponentFile, tables: Any) -> None:
    """Read the levels of a campaign, and the rounds in which the ghost advances."""
    levels = file.rows("campaign_levels", {"level": int, "minimum_score": int, "antimatter": int, "prov": str})
    file.check_ids("campaign_levels", levels, range(1, NUM_LEVELS + 1), "level")
    for row in levels:
        where = f"campaign_levels row {row['level']}"
        file.check_range(where, row, "minimum_score", 1, 100)
        file.check_range(where, row, "antimatter", 0, 3)
        tables["minimum_score"][row["level"]] = row["minimum_score"]
        tables["level_antimatter"][row["level"]] = row["antimatter"]
    for position, row in enumerate(file.rows("ghost", {"round": int, "meaning": str, "prov": str})):
        file.check_range(f"ghost row {position + 1}", row, "round", 1, ROUNDS)
        tables["ghost_advances"][row["round"]] = 1
