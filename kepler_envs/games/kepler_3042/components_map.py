"""The map of a component file: zones, terrain, stars, and what lies on it with how many players."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from kepler_envs.engine.components import ComponentFile
from kepler_envs.games.kepler_3042.hexes import HEIGHT, WIDTH, WORDS, as_words, distance, neighbour_ids
from kepler_envs.games.kepler_3042.state import MAX_PLAYERS, MIN_PLAYERS, NUM_ZONES

LEAST_STAR_DISTANCE = 4  # then no hex touches two stars and tiles around two stars never touch
LEAST_SOL_DISTANCE = 3  # then no tile lies beside Sol

SPACE, STAR, SOL, SAGITTARIUS = range(4)
TERRAIN_SIGNS = ".S*123"
NUM_STAR_KINDS = 3

SETUP = np.dtype(
    [
        ("mines", "i1"),
        ("targets", "i1"),
        ("sites", "<u8", (WORDS,)),  # space hexes beside a star in play
        ("stars", "<u8", (WORDS,)),  # hexes of stars in play
    ],
    align=True,
)


def read_zones(file: ComponentFile, tables: Any) -> None:
    """Read the three zones and what a colony in each is worth."""
    rows = file.rows("zones", {"id": int, "name": str, "vp": int, "prov": str})
    file.check_ids("zones", rows, range(NUM_ZONES))
    for row in rows:
        file.check_range(f"zones row {row['id'] + 1}", row, "vp", 0, 3)
        tables["zone_vp"][row["id"]] = row["vp"]
    file.write_names("zones", rows, "name", tables["zone_name"])


def read_map(file: ComponentFile, tables: Any) -> None:
    """Read the grid, the zones' reach, and the sites of each number of players."""
    rows = file.rows("terrain", {"row": int, "hexes": str, "prov": str})
    file.check_ids("terrain", rows, range(HEIGHT), "row")
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
        tables["star_kind"][h] = stars.get(h, 0)
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
    file.check_ids("setup", rows, range(MIN_PLAYERS, MIN_PLAYERS + MAX_PLAYERS), "players")
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
        setup["stars"] = as_words(in_play)
        setup["sites"] = as_words(h for star in in_play for h in neighbour_ids(star))
