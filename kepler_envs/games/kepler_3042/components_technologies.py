"""The technologies of a component file with their levels, and the leadership tracks."""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs.engine.components import ComponentFile, is_row_of
from kepler_envs.games.kepler_3042.components_checks import NAME_BYTES, check_keys
from kepler_envs.games.kepler_3042.state import (
    MAX_ALLOCATIONS,
    MAX_COLONIES,
    MAX_CONVERSIONS,
    MAX_LEVEL,
    MAX_SPEED,
    MOST_LEADERSHIP,
    NUM_MEDALS,
    NUM_RESOURCES,
    NUM_TECHS,
    NUM_TRACKS,
    TRACK_END,
)

MOST_TRACK_VP = 15
UNLIMITED = 99

LEVEL = np.dtype(
    [
        ("cost", "i1", (NUM_RESOURCES,)),
        ("leadership", "i1"),
        ("unlock", "i1"),
        ("benefit", "i1"),  # speed; conversions; energy; planets that produce; antimatter
        ("extra", "i1"),  # cheap starships; allocations; single burn; level that can be terraformed; alien colonies
        ("name", "u1", (NAME_BYTES,)),
    ],
    align=True,
)

BENEFITS = {
    # technology: its two benefits with their highest values
    0: (("speed", MAX_SPEED), ("cheap_ships", 1)),
    1: (("conversions", UNLIMITED), ("allocations", MAX_ALLOCATIONS)),
    2: (("energy", 9), ("single_burn", 1)),
    3: (("planets", MAX_COLONIES), ("terraform_level", MAX_LEVEL)),
    4: (("antimatter", 9), ("alien_colonies", 1)),
}


def read_technologies(file: ComponentFile, tables: Any) -> None:
    """Read the five technologies."""
    rows = file.rows("technologies", {"id": int, "name": str, "prov": str})
    file.check_ids("technologies", rows, range(NUM_TECHS))
    file.write_names("technologies", rows, "name", tables["tech_name"])


def read_levels(file: ComponentFile, tables: Any) -> None:
    """Read levels 1 to 4 of each technology."""
    columns = {
        "technology": int, "level": int, "name": str, "cost": list, "leadership": int, "unlock": int, "benefit": dict,
        "prov": str,
    }  # fmt: skip
    rows = file.rows("technology_levels", columns)
    expected = [(tech, level) for tech in range(NUM_TECHS) for level in range(1, MAX_LEVEL + 1)]
    if [(row["technology"], row["level"]) for row in rows] != expected:
        raise file.error(
            "technology_levels", f"rows must have technology 0..{NUM_TECHS - 1}, level 1..{MAX_LEVEL} in this order"
        )
    for position, row in enumerate(rows):
        where = f"technology_levels row {position + 1} ({row['name']!r})"
        file.check_list(where, row, "cost", NUM_RESOURCES, 0, 7)
        file.check_range(where, row, "leadership", 0, MOST_LEADERSHIP)
        file.check_range(where, row, "unlock", 0, row["level"] - 1)
        level = tables["tech"][row["technology"], row["level"]]
        for column in ("cost", "leadership", "unlock"):
            level[column] = row[column]
        check_keys(file, where, "benefit", row["benefit"], [name for name, _ in BENEFITS[row["technology"]]])
        for (name, most), column in zip(BENEFITS[row["technology"]], ("benefit", "extra"), strict=True):
            file.check_range(where, row["benefit"], name, 0, most)
            value = min(row["benefit"][name], MAX_CONVERSIONS) if name == "conversions" else row["benefit"][name]
            if value < tables["tech"][row["technology"], row["level"] - 1][column]:
                raise file.error(
                    where, f"{name} is {row['benefit'][name]}; it must not be below that of the level before"
                )
            level[column] = value
    flat = tables["tech"].reshape(-1)["name"]
    chosen = np.array([tech * (MAX_LEVEL + 1) + level for tech, level in expected])
    texts = flat[chosen]
    file.write_names("technology_levels", rows, "name", texts)
    flat[chosen] = texts


def read_tracks(file: ComponentFile, tables: Any) -> None:
    """Read both tracks with medals, icons and points."""
    rows = file.rows("tracks", {"id": int, "name": str, "medals": list, "icons": list, "vp": list, "prov": str})
    file.check_ids("tracks", rows, range(NUM_TRACKS))
    for row in rows:
        where, track = f"tracks row {row['id'] + 1}", row["id"]
        file.check_list(where, row, "medals", NUM_MEDALS, 1, TRACK_END)
        file.check_list(where, row, "vp", TRACK_END + 1, 0, MOST_TRACK_VP)
        if sorted(set(row["medals"])) != row["medals"]:
            raise file.error(where, f"medals is {row['medals']}; the spaces must ascend")
        if sorted(row["vp"]) != row["vp"]:
            raise file.error(where, "vp must not decrease along the track")
        for number, space in enumerate(row["medals"]):
            tables["medal"][track, space], tables["medal_space"][track, number] = number + 1, space
        for icon in row["icons"]:
            if not is_row_of(icon, 2) or not (1 <= icon[0] <= TRACK_END and 0 <= icon[1] <= 2):
                raise file.error(where, f"icons has {icon}; each must be [space 1..{TRACK_END}, kind 0..2]")
            if tables["icon"][track, icon[0]]:
                raise file.error(where, f"icons has two on space {icon[0]}")
            tables["icon"][track, icon[0]] = icon[1] + 1
        tables["track_vp"][track] = row["vp"]
    file.write_names("tracks", rows, "name", tables["track_name"])
