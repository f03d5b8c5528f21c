"""components.toml -> validated tables. A user's own file goes the same way.

The sections of the file are read by subject, in the files components_<subject>.py beside this one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.engine.components import ComponentFile, load_tables
from kepler_envs.games.kepler_3042 import components_cards as cards
from kepler_envs.games.kepler_3042 import components_map as galaxy
from kepler_envs.games.kepler_3042 import components_objectives as objectives
from kepler_envs.games.kepler_3042 import components_planets as planets
from kepler_envs.games.kepler_3042 import components_technologies as technologies
from kepler_envs.games.kepler_3042.components_checks import NAME_BYTES, check_choice
from kepler_envs.games.kepler_3042.hexes import NUM_HEXES, WIDTH, WORDS, distances
from kepler_envs.games.kepler_3042.observation_layout import (
    CARD_ROW,
    LEVEL_ROW,
    TEMPLATE,
    TRACK_ROW,
    card_rows,
    level_rows,
    template,
    track_rows,
)
from kepler_envs.games.kepler_3042.state import (
    LINES,
    MAX_CONVERSIONS,
    MAX_LEVEL,
    MAX_PLAYERS,
    MAX_SHIPS,
    MAX_SPEED,
    NUM_BONUS,
    NUM_CAMPAIGNS,
    NUM_CARDS,
    NUM_LEVELS,
    NUM_MAIN,
    NUM_MEDALS,
    NUM_OBJECTIVES,
    NUM_PLANETS,
    NUM_RESOURCES,
    NUM_TECHS,
    NUM_TRACKS,
    NUM_TYPES,
    NUM_ZONES,
    ROUNDS,
    TRACK_END,
)
from kepler_envs.games.kepler_3042.worth import LEVEL_WORTHS, OPEN_WORTH, level_worths, open_worths

DEFAULT_FILE = Path(__file__).with_name("components.toml")


NUMBERS = {
    # name: (lowest, highest)
    "short_radius": (0, WIDTH),
    "mid_radius": (1, WIDTH),
    "free_technologies": (1, NUM_TECHS),
    "start_cube": (0, NUM_MAIN - 1),
    "ships_per_mission": (1, MAX_SHIPS),
    "reveals": (1, 9),
    "exploration_speed": (1, MAX_SPEED),
    "vp_antimatter": (0, 2),
    "vp_five_types": (0, 5),
    "vp_three_of_a_type": (0, 5),
    "vp_mine": (0, 5),
    "vp_max_technology": (0, 5),
    "vp_medal": (0, 1),
    "bonus_points_per_cube": (1, 100),
    "bonus_cube_cap": (0, MAX_CONVERSIONS),
}

TABLES = np.dtype(
    [
        *((name, "i1") for name in NUMBERS),
        # the map
        ("space", "<u8", (WORDS,)),  # hexes of empty space
        ("sol", "<i2"),
        ("terrain", "i1", (NUM_HEXES,)),  # SPACE, STAR, SOL, SAGITTARIUS
        ("star_kind", "i1", (NUM_HEXES,)),  # 0 no star, 1 single, 2 binary, 3 trinary
        ("zone", "i1", (NUM_HEXES,)),
        ("sol_distance", "i1", (NUM_HEXES,)),
        ("setup", galaxy.SETUP, (MAX_PLAYERS + 1,)),  # by number of players
        ("zone_vp", "i1", (NUM_ZONES,)),
        # players
        ("cubes", "i1", (NUM_RESOURCES,)),
        ("earth", "i1", (NUM_RESOURCES,)),  # of them on Earth at the start
        # planets, technologies, tracks
        ("planet", planets.PLANET, (NUM_PLANETS + 1,)),  # by number
        ("colonise_leadership", "i1", (NUM_TYPES,)),
        ("terraform_leadership", "i1", (NUM_TYPES,)),
        ("tech", technologies.LEVEL, (NUM_TECHS, MAX_LEVEL + 1)),
        ("icon", "i1", (NUM_TRACKS, TRACK_END + 1)),  # 0 none, 1 energy, 2 matter, 3 regeneration
        ("medal", "i1", (NUM_TRACKS, TRACK_END + 1)),  # 1 + number of the medal that lies there at the start
        ("medal_space", "i1", (NUM_TRACKS, NUM_MEDALS)),
        ("track_vp", "i1", (NUM_TRACKS, TRACK_END + 1)),
        # actions and cards
        ("bonus_of", "i1", (NUM_MAIN,)),  # bits of the bonus actions that a main action allows
        ("card", cards.CARD, (NUM_CARDS + 1,)),  # by id
        ("objective", objectives.OBJECTIVE, (NUM_OBJECTIVES,)),  # by id - 1
        # solo
        ("campaign", "<u4", (NUM_CAMPAIGNS, NUM_LEVELS + 1)),  # bits of the objectives required at each level
        ("minimum_score", "i1", (NUM_LEVELS + 1,)),
        ("level_antimatter", "i1", (NUM_LEVELS + 1,)),
        ("ghost_advances", "i1", (ROUNDS + 1,)),  # 1 in rounds in which its technologies rise
        # of the observation: what is the same in all games, by the group of tiles
        ("template", TEMPLATE, (MAX_PLAYERS + 1,)),
        ("level_row", LEVEL_ROW, (NUM_TECHS, MAX_LEVEL + 1)),
        ("track_row", TRACK_ROW, (NUM_TRACKS, TRACK_END + 1)),
        ("card_row", CARD_ROW, (NUM_CARDS + 1,)),
        ("open_worth", "<i2", OPEN_WORTH.shape),
        ("level_worth", "<i2", LEVEL_WORTHS.shape),
        ("distance", "i1", (NUM_HEXES, NUM_HEXES)),
        # names, UTF-8 padded with zeros; only for texts and pictures
        ("resource_name", "u1", (NUM_RESOURCES, NAME_BYTES)),
        ("zone_name", "u1", (NUM_ZONES, NAME_BYTES)),
        ("type_name", "u1", (NUM_TYPES, NAME_BYTES)),
        ("tech_name", "u1", (NUM_TECHS, NAME_BYTES)),
        ("track_name", "u1", (NUM_TRACKS, NAME_BYTES)),
        ("main_name", "u1", (NUM_MAIN, NAME_BYTES)),
        ("bonus_name", "u1", (NUM_BONUS, NAME_BYTES)),
        ("campaign_name", "u1", (NUM_CAMPAIGNS, NAME_BYTES)),
        ("campaign_difficulty", "u1", (NUM_CAMPAIGNS, NAME_BYTES)),
    ],
    align=True,
)


def load_components(path: Path | None) -> np.ndarray:
    """Load the tables of a component file, or of the game's own if there is none: see :func:`load_tables`."""
    sections = (
        _read_numbers, _read_resources, planets.read_types, planets.read_planets, galaxy.read_zones, galaxy.read_map,
        technologies.read_technologies, technologies.read_levels, technologies.read_tracks, _read_actions,
        cards.read_cards,
        objectives.read_objectives, objectives.read_campaigns, objectives.read_solo, _write_templates,
    )  # fmt: skip
    return load_tables(path or DEFAULT_FILE, "kepler_3042", TABLES, sections)


def _read_numbers(file: ComponentFile, tables: Any) -> None:
    file.read_numbers(NUMBERS, tables)
    if tables["short_radius"] >= tables["mid_radius"]:
        raise file.error("numbers", "short_radius must be below mid_radius")


def _write_templates(file: ComponentFile, tables: Any) -> None:
    """Write the templates last, because they read the other tables."""
    for group in range(1, MAX_PLAYERS + 1):
        tables["template"]["entries"][group] = template(tables, group)
    tables["level_row"]["entries"] = level_rows(tables)
    tables["track_row"]["entries"] = track_rows(tables)
    tables["card_row"]["entries"] = card_rows(tables)
    tables["open_worth"] = open_worths(tables)
    tables["level_worth"] = level_worths(tables)
    tables["distance"] = distances()


def _read_resources(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("resources", {"id": int, "name": str, "cubes": int, "earth": int, "prov": str})
    file.check_ids("resources", rows, range(NUM_RESOURCES))
    for row, most in zip(rows, (7, 7, 3), strict=True):
        where = f"resources row {row['id'] + 1}"
        file.check_range(where, row, "cubes", 1, most)
        file.check_range(where, row, "earth", 0, row["cubes"])
        tables["cubes"][row["id"]], tables["earth"][row["id"]] = row["cubes"], row["earth"]
    file.write_names("resources", rows, "name", tables["resource_name"])


def _read_actions(file: ComponentFile, tables: Any) -> None:
    main = file.rows("main_actions", {"id": int, "name": str, "prov": str})
    file.check_ids("main_actions", main, range(NUM_MAIN))
    file.write_names("main_actions", main, "name", tables["main_name"])
    bonus = file.rows("bonus_actions", {"id": int, "name": str, "line": str, "number": int, "prov": str})
    file.check_ids("bonus_actions", bonus, range(NUM_BONUS))
    file.write_names("bonus_actions", bonus, "name", tables["bonus_name"])
    lines = []
    for row in bonus:
        where = f"bonus_actions row {row['id'] + 1}"
        check_choice(file, where, row, "line", ("column", "row"))
        file.check_range(where, row, "number", 0, LINES - 1)
        if (row["line"], row["number"]) in lines:
            raise file.error(where, f"a second bonus action on {row['line']} {row['number']}")
        lines.append((row["line"], row["number"]))
        for action in range(NUM_MAIN):
            if (action % LINES if row["line"] == "column" else action // LINES) == row["number"]:
                tables["bonus_of"][action] |= 1 << row["id"]
