"""components.toml -> validated tables. A user's own file goes the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.engine.components import ComponentFile, is_row_of
from kepler_envs.engine.game import record_array
from kepler_envs.games.kepler_3042.hexes import HEIGHT, NUM_HEXES, WIDTH, WORDS, as_words, distance, neighbour_ids
from kepler_envs.games.kepler_3042.state import (
    ALIEN,
    MAX_ALLOCATIONS,
    MAX_COLONIES,
    MAX_CONVERSIONS,
    MAX_LEVEL,
    MAX_PLAYERS,
    MAX_SHIPS,
    MAX_SPEED,
    MIN_PLAYERS,
    MOST_LEADERSHIP,
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
    WHAT,
    WHO,
    Requirement,
    What,
)

DEFAULT_FILE = Path(__file__).with_name("components.toml")
NAME_BYTES = 40
LEAST_STAR_DISTANCE = 4  # then no hex touches two stars and tiles around two stars never touch
LEAST_SOL_DISTANCE = 3  # then no tile lies beside Sol
MOST_TERRAFORM_VP = 15
MOST_OBJECTIVE_VP = 30
MOST_TRACK_VP = 15
UNLIMITED = 99

SPACE, STAR, SOL, SAGITTARIUS = range(4)
TERRAIN_SIGNS = ".S*123"
NUM_STAR_KINDS = 3
STANDARD, ADVANCED = 1, 2
SETS = {"standard": STANDARD, "advanced": ADVANCED}

SETUP = np.dtype(
    [
        ("mines", "i1"),
        ("targets", "i1"),
        ("sites", "<u8", (WORDS,)),  # space hexes beside a star in play
        ("first_planes", "i1", (4 * NUM_HEXES,)),  # of the observation: terrain, star kind, zone, star in play
    ],
    align=True,
)

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

CARD = np.dtype(
    [
        ("who", "i1"),  # Who
        ("what", "i1"),  # What
        ("tech", "i1"),
        ("track", "i1"),
        ("count", "i1"),  # cubes, spaces, tiles or highest level
        ("burns", "i1"),  # 1: a free technology burns its new level less one cubes
        ("produced", "i1", (NUM_RESOURCES,)),
        ("solo", "i1"),  # 1: also in the solo deck
        ("name", "u1", (NAME_BYTES,)),
    ],
    align=True,
)

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
        ("zone", "i1", (NUM_HEXES,)),
        ("sol_distance", "i1", (NUM_HEXES,)),
        ("setup", SETUP, (MAX_PLAYERS + 1,)),  # by number of players
        ("zone_vp", "i1", (NUM_ZONES,)),
        # players
        ("cubes", "i1", (NUM_RESOURCES,)),
        ("earth", "i1", (NUM_RESOURCES,)),  # of them on Earth at the start
        # planets, technologies, tracks
        ("planet", PLANET, (NUM_PLANETS + 1,)),  # by number
        ("colonise_leadership", "i1", (NUM_TYPES,)),
        ("terraform_leadership", "i1", (NUM_TYPES,)),
        ("tech", LEVEL, (NUM_TECHS, MAX_LEVEL + 1)),
        ("icon", "i1", (NUM_TRACKS, TRACK_END + 1)),  # 0 none, 1 energy, 2 matter, 3 regeneration
        ("medal", "i1", (NUM_TRACKS, TRACK_END + 1)),  # 1 + number of the medal that lies there at the start
        ("medal_space", "i1", (NUM_TRACKS, NUM_MEDALS)),
        ("track_vp", "i1", (NUM_TRACKS, TRACK_END + 1)),
        # actions and cards
        ("bonus_of", "i1", (NUM_MAIN,)),  # bits of the bonus actions that a main action allows
        ("card", CARD, (NUM_CARDS + 1,)),  # by id
        ("objective", OBJECTIVE, (NUM_OBJECTIVES,)),  # by id - 1
        # solo
        ("campaign", "<u4", (NUM_CAMPAIGNS, NUM_LEVELS + 1)),  # bits of the objectives required at each level
        ("minimum_score", "i1", (NUM_LEVELS + 1,)),
        ("level_antimatter", "i1", (NUM_LEVELS + 1,)),
        ("ghost_advances", "i1", (ROUNDS + 1,)),  # 1 in rounds in which its technologies rise
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

BENEFITS = {
    # technology: its two benefits with their highest values
    0: (("speed", MAX_SPEED), ("cheap_ships", 1)),
    1: (("conversions", UNLIMITED), ("allocations", MAX_ALLOCATIONS)),
    2: (("energy", 9), ("single_burn", 1)),
    3: (("planets", MAX_COLONIES), ("terraform_level", MAX_LEVEL)),
    4: (("antimatter", 9), ("alien_colonies", 1)),
}


def load_components(path: Path | None) -> np.ndarray:
    """Read and check a component file.

    Args:
        path: a TOML file like this folder's components.toml; None for that one.

    Returns:
        A record array of length one, dtype TABLES.

    Raises:
        ComponentError: naming the file, the row and the rule that is broken.
    """
    file = ComponentFile(path or DEFAULT_FILE, game="kepler_3042")
    tables = np.zeros(1, TABLES)
    record = tables[0]
    for read in (
        _read_numbers, _read_resources, _read_types, _read_planets, _read_zones, _read_map, _read_technologies, _read_levels,
        _read_tracks, _read_actions, _read_cards, _read_objectives, _read_campaigns, _read_solo,
    ):  # fmt: skip
        read(file, record)
    return record_array(tables)


# ---------------------------------------------------------------- sections


def _read_numbers(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("numbers", {"name": str, "value": int, "meaning": str, "prov": str})
    file.check_names("numbers", rows, tuple(NUMBERS))
    for row in rows:
        file.check_range(f"numbers row {row['name']!r}", row, "value", *NUMBERS[row["name"]])
        tables[row["name"]] = row["value"]
    if tables["short_radius"] >= tables["mid_radius"]:
        raise file.error("numbers", "short_radius must be below mid_radius")


def _read_resources(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("resources", {"id": int, "name": str, "cubes": int, "earth": int, "prov": str})
    _check_ids(file, "resources", rows, NUM_RESOURCES)
    for row, most in zip(rows, (7, 7, 3), strict=True):
        where = f"resources row {row['id'] + 1}"
        file.check_range(where, row, "cubes", 1, most)
        file.check_range(where, row, "earth", 0, row["cubes"])
        tables["cubes"][row["id"]], tables["earth"][row["id"]] = row["cubes"], row["earth"]
    file.write_names("resources", rows, "name", tables["resource_name"])


def _read_types(file: ComponentFile, tables: Any) -> None:
    rows = file.rows(
        "planet_types", {"id": int, "code": str, "name": str, "colonise": int, "terraform": int, "prov": str}
    )
    _check_ids(file, "planet_types", rows, NUM_TYPES)
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


TYPE_CODES = ("oceanic", "rocky", "super_earth", "gas_giant", "alien")


def _read_planets(file: ComponentFile, tables: Any) -> None:
    columns = {
        "number": int, "name": str, "type": str, "level": int, "colony": list, "terraformed": list, "cost": list, "vp": int,
        "min_players": int, "prov": str,
    }  # fmt: skip
    rows = file.rows("planets", columns)
    _check_ids(file, "planets", rows, NUM_PLANETS, first=1, column="number")
    for row in rows:
        where = f"planets row {row['number']} ({row['name']!r})"
        planet = tables["planet"][row["number"]]
        _check_choice(file, where, row, "type", TYPE_CODES)
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


def _read_zones(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("zones", {"id": int, "name": str, "vp": int, "prov": str})
    _check_ids(file, "zones", rows, NUM_ZONES)
    for row in rows:
        file.check_range(f"zones row {row['id'] + 1}", row, "vp", 0, 3)
        tables["zone_vp"][row["id"]] = row["vp"]
    file.write_names("zones", rows, "name", tables["zone_name"])


def _read_map(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("terrain", {"row": int, "hexes": str, "prov": str})
    _check_ids(file, "terrain", rows, HEIGHT, column="row")
    for row in rows:
        where = f"terrain row {row['row'] + 1}"
        if len(row["hexes"]) != WIDTH:
            raise file.error(where, f"hexes has {len(row['hexes'])} signs; it must have {WIDTH}")
        strange = sorted(set(row["hexes"]) - set(TERRAIN_SIGNS))
        if strange:
            raise file.error(where, f"hexes has the sign {strange[0]!r}; allowed: {' '.join(TERRAIN_SIGNS)}")
    signs = "".join(row["hexes"] for row in rows)
    for sign, name in (("S", "Sol"), ("*", "Sagittarius A*")):
        if signs.count(sign) != 1:
            raise file.error("terrain", f"{name} ({sign!r}) is there {signs.count(sign)} times; it must be there once")
    stars = {h: int(sign) for h, sign in enumerate(signs) if sign in "123"}
    sol, centre = signs.index("S"), signs.index("*")
    _check_stars(file, stars, sol, centre)
    tables["sol"] = sol
    tables["space"] = as_words(h for h, sign in enumerate(signs) if sign == ".")
    for h, sign in enumerate(signs):
        tables["terrain"][h] = {".": SPACE, "S": SOL, "*": SAGITTARIUS}.get(sign, STAR)
        steps = distance(h, sol)
        tables["sol_distance"][h] = steps
        tables["zone"][h] = int(steps > tables["short_radius"]) + int(steps > tables["mid_radius"])
    _read_setup(file, tables, stars)


def _check_stars(file: ComponentFile, stars: dict[int, int], sol: int, centre: int) -> None:
    def place(h: int) -> str:
        return f"terrain row {h // WIDTH + 1}, column {h % WIDTH + 1}"

    for star in stars:
        if len(neighbour_ids(star)) < 6:
            raise file.error(place(star), "a star at the rim; it must have six neighbours")
        if distance(star, sol) < LEAST_SOL_DISTANCE:
            raise file.error(place(star), f"a star {distance(star, sol)} hexes from Sol; at least {LEAST_SOL_DISTANCE}")
        if distance(star, centre) < 2:
            raise file.error(place(star), "a star beside Sagittarius A*; its neighbours must be empty space")
    for one, other in combinations(stars, 2):
        if distance(one, other) < LEAST_STAR_DISTANCE:
            raise file.error(
                place(other), f"a star {distance(one, other)} hexes from another one; at least {LEAST_STAR_DISTANCE}"
            )


def _read_setup(file: ComponentFile, tables: Any, stars: dict[int, int]) -> None:
    rows = file.rows("setup", {"players": int, "mines": int, "colonial_targets": int, "star_kinds": list, "prov": str})
    _check_ids(file, "setup", rows, MAX_PLAYERS, first=MIN_PLAYERS, column="players")
    for row in rows:
        players = row["players"]
        where = f"setup row {players}"
        for column in ("mines", "colonial_targets"):
            file.check_range(where, row, column, 0, 4)
        kinds = range(1, NUM_STAR_KINDS + 1)
        if not row["star_kinds"] or not all(type(kind) is int and kind in kinds for kind in row["star_kinds"]):
            raise file.error(where, f"star_kinds is {row['star_kinds']}; it must list some of 1..{NUM_STAR_KINDS}")
        in_play = {star for star, kind in stars.items() if kind in row["star_kinds"]}
        group = max(players, 2)  # the solo game can be played with the planets for two
        planets = int((tables["planet"]["min_players"][1:] <= group).sum())
        tiles = planets + row["mines"] + row["colonial_targets"]
        if tiles > 2 * len(in_play):  # two tiles always fit around a star, whatever the order
            raise file.error(where, f"{tiles} tiles for {len(in_play)} stars; at most two for each star in play")
        setup = tables["setup"][players]
        setup["mines"], setup["targets"] = row["mines"], row["colonial_targets"]
        setup["sites"] = as_words(h for star in in_play for h in neighbour_ids(star))
        planes = setup["first_planes"].reshape(4, NUM_HEXES)
        planes[0], planes[2] = tables["terrain"], tables["zone"]
        for star, kind in stars.items():
            planes[1][star], planes[3][star] = kind, star in in_play


def _read_technologies(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("technologies", {"id": int, "name": str, "prov": str})
    _check_ids(file, "technologies", rows, NUM_TECHS)
    file.write_names("technologies", rows, "name", tables["tech_name"])


def _read_levels(file: ComponentFile, tables: Any) -> None:
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
        _check_keys(file, where, "benefit", row["benefit"], [name for name, _ in BENEFITS[row["technology"]]])
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


def _read_tracks(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("tracks", {"id": int, "name": str, "medals": list, "icons": list, "vp": list, "prov": str})
    _check_ids(file, "tracks", rows, NUM_TRACKS)
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


def _read_actions(file: ComponentFile, tables: Any) -> None:
    main = file.rows("main_actions", {"id": int, "name": str, "prov": str})
    _check_ids(file, "main_actions", main, NUM_MAIN)
    file.write_names("main_actions", main, "name", tables["main_name"])
    bonus = file.rows("bonus_actions", {"id": int, "name": str, "line": str, "number": int, "prov": str})
    _check_ids(file, "bonus_actions", bonus, NUM_BONUS)
    file.write_names("bonus_actions", bonus, "name", tables["bonus_name"])
    lines = []
    for row in bonus:
        where = f"bonus_actions row {row['id'] + 1}"
        _check_choice(file, where, row, "line", ("column", "row"))
        file.check_range(where, row, "number", 0, 2)
        if (row["line"], row["number"]) in lines:
            raise file.error(where, f"a second bonus action on {row['line']} {row['number']}")
        lines.append((row["line"], row["number"]))
        for action in range(NUM_MAIN):
            if (action % 3 if row["line"] == "column" else action // 3) == row["number"]:
                tables["bonus_of"][action] |= 1 << row["id"]


def _read_cards(file: ComponentFile, tables: Any) -> None:
    columns = {"id": int, "name": str, "who": str, "what": str, "args": dict, "solo": bool, "prov": str}
    rows = file.rows("progress_cards", columns)
    _check_ids(file, "progress_cards", rows, NUM_CARDS, first=1)
    for row in rows:
        where = f"progress_cards row {row['id']} ({row['name']!r})"
        _check_choice(file, where, row, "who", WHO)
        _check_choice(file, where, row, "what", WHAT)
        card, args, what = tables["card"][row["id"]], row["args"], WHAT[row["what"]]
        by_tech = row["who"].endswith("_tech")
        _check_keys(file, where, "args", args, ["tech"] * by_tech + CARD_ARGUMENTS[what])
        if by_tech:
            file.check_range(where, args, "tech", 0, NUM_TECHS - 1)
            card["tech"] = args["tech"]
        card["who"], card["what"], card["solo"] = WHO[row["who"]], what, row["solo"]
        CARD_READERS[what](file, where, card, args)
    solo = sum(row["solo"] for row in rows)
    if solo < ROUNDS:
        raise file.error("progress_cards", f"{solo} cards have solo = true; the solo game needs {ROUNDS}")
    file.write_names("progress_cards", rows, "name", tables["card"]["name"][1:])


def _free_tech(file: ComponentFile, where: str, card: Any, args: dict[str, Any]) -> None:
    file.check_range(where, args, "max_level", 1, MAX_LEVEL)
    _check_choice(file, where, args, "burn_rule", ("none", "new_level_minus_one"))
    card["count"], card["burns"] = args["max_level"], args["burn_rule"] != "none"


def _counted(name: str, most: int) -> Callable[[ComponentFile, str, Any, dict[str, Any]], None]:
    def read(file: ComponentFile, where: str, card: Any, args: dict[str, Any]) -> None:
        file.check_range(where, args, name, 1, most)
        card["count"] = args[name]

    return read


def _track(file: ComponentFile, where: str, card: Any, args: dict[str, Any]) -> None:
    file.check_range(where, args, "track", 0, NUM_TRACKS - 1)
    card["track"] = args["track"]


def _produced(file: ComponentFile, where: str, card: Any, args: dict[str, Any]) -> None:
    file.check_list(where, args, "triple", NUM_RESOURCES, 0, 7)
    if not any(args["triple"]):
        raise file.error(where, f"triple is {args['triple']}; it must produce something")
    card["produced"] = args["triple"]


CARD_ARGUMENTS = {
    What.FREE_TECH: ["max_level", "burn_rule"], What.SHIP: [], What.TRACK: ["track"], What.REGENERATE: ["n"],
    What.PRODUCE: ["triple"], What.MOVE: ["spaces"], What.FLIP: ["n"], What.EXPLOIT: ["n"],
}  # fmt: skip
CARD_READERS: dict[What, Callable[[ComponentFile, str, Any, dict[str, Any]], None]] = {
    What.FREE_TECH: _free_tech, What.SHIP: lambda *_: None, What.TRACK: _track, What.REGENERATE: _counted("n", 3),
    What.PRODUCE: _produced, What.MOVE: _counted("spaces", MAX_SPEED), What.FLIP: _counted("n", 9),
    What.EXPLOIT: _counted("n", 1),
}  # fmt: skip


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


def _read_objectives(file: ComponentFile, tables: Any) -> None:
    rows = file.rows(
        "objectives", {"id": int, "name": str, "set": str, "test": str, "args": dict, "vp": int, "prov": str}
    )
    _check_ids(file, "objectives", rows, NUM_OBJECTIVES, first=1)
    for row in rows:
        where = f"objectives row {row['id']} ({row['name']!r})"
        _check_choice(file, where, row, "set", SETS)
        _check_choice(file, where, row, "test", OBJECTIVE_ARGUMENTS)
        file.check_range(where, row, "vp", 0, MOST_OBJECTIVE_VP)
        wanted = OBJECTIVE_ARGUMENTS[row["test"]]
        _check_keys(file, where, "args", row["args"], [name for name, _, _ in wanted])
        args = dict(row["args"])
        if "type" in args:
            _check_choice(file, where, args, "type", TYPE_CODES)
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


def _read_campaigns(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("campaigns", {"id": int, "name": str, "difficulty": str, "objectives": list, "prov": str})
    _check_ids(file, "campaigns", rows, NUM_CAMPAIGNS)
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


def _read_solo(file: ComponentFile, tables: Any) -> None:
    levels = file.rows("campaign_levels", {"level": int, "minimum_score": int, "antimatter": int, "prov": str})
    _check_ids(file, "campaign_levels", levels, NUM_LEVELS, first=1, column="level")
    for row in levels:
        where = f"campaign_levels row {row['level']}"
        file.check_range(where, row, "minimum_score", 1, 100)
        file.check_range(where, row, "antimatter", 0, 3)
        tables["minimum_score"][row["level"]] = row["minimum_score"]
        tables["level_antimatter"][row["level"]] = row["antimatter"]
    for position, row in enumerate(file.rows("ghost", {"round": int, "meaning": str, "prov": str})):
        file.check_range(f"ghost row {position + 1}", row, "round", 1, ROUNDS)
        tables["ghost_advances"][row["round"]] = 1


# ---------------------------------------------------------------- checks


def _check_ids(
    file: ComponentFile, section: str, rows: list[dict[str, Any]], count: int, first: int = 0, column: str = "id"
) -> None:
    for position, row in enumerate(rows[:count]):
        if row[column] != position + first:
            raise file.error(
                f"{section} row {position + 1}",
                f"{column} is {row[column]}; rows must have {column} {first}..{first + count - 1} in this order",
            )
    if len(rows) != count:
        raise file.error(section, f"{len(rows)} rows; there are exactly {count}")


def _check_keys(file: ComponentFile, where: str, column: str, given: dict[str, Any], names: Sequence[str]) -> None:
    if set(given) != set(names):
        wanted = ", ".join(names) if names else "nothing"
        raise file.error(where, f"{column} has {', '.join(given) or 'nothing'}; it must have {wanted}")


def _check_choice(file: ComponentFile, where: str, row: dict[str, Any], column: str, allowed: Iterable[str]) -> None:
    if row[column] not in allowed:
        raise file.error(where, f"{column} is {row[column]!r}; allowed: {', '.join(allowed)}")
