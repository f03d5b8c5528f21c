"""Component files with the largest and the smallest values that the loader admits; a low price counts as large."""

from __future__ import annotations

from typing import Any

from kepler_envs.games.kepler_run.components import NUMBERS
from kepler_envs.games.kepler_run.state import MAX_CARDS, MAX_ROUNDS, RUN_SLOTS
from tests.component_file import Rows, own_rows

INVARIANTS_HOLD = ("largest",)
"""They count discoveries by the points for them, of which the smallest file has none."""

POINTS = {
    # 12 + 10 + 10 for picks, 3 * (20 + 5) for rounds, 10 * 1 + 10 for stations: 127, which is as many as a byte holds
    "discover_vp": 5, "delivery_vp": 2, "first_arrival_vp": 5, "later_arrival_vp": 5, "station_vp": 1,
    "closest_station_vp": 10,
}  # fmt: skip
PART_VP = 5


def options(kind: str, players: int) -> dict[str, Any]:
    return {"seat_fuel": True}


def largest(players: int) -> Rows:
    """Every place of the run, of ships and of the row is used; the points add up to the most that is allowed."""
    rows = own_rows("kepler_run")
    for row in rows["numbers"]:
        row["value"] = POINTS.get(row["name"], NUMBERS[row["name"]][1])
        if row["name"] == "initial_run":
            row["value"] = RUN_SLOTS - MAX_ROUNDS * (2 * players + 1)
    for row in rows["seat_fuel"]:
        row["fuel"] = NUMBERS["fuel_cap"][1]
    for row in rows["contracts"]:
        row |= {"complete_vp": 20, "secondary": "fuel", "secondary_per_icon": 5}
    assert len(rows["game_cards"]) == MAX_CARDS
    for row in rows["game_cards"]:
        row |= {"cost": row["id"] % 2 * 9, "wrenches": row["id"] % 3, "dots": row["id"] % 2 * 9, "vp": PART_VP}
        row |= {"asteroids": 3, "comets": 3, "station": 3, "action": row["id"] % 4}
    return rows


def smallest(players: int) -> Rows:
    """A round with as few cards as that takes, and nothing that anything brings or costs."""
    rows = own_rows("kepler_run")
    for row in rows["numbers"]:
        row["value"] = NUMBERS[row["name"]][0]
    for row in rows["seat_fuel"]:
        row["fuel"] = 0
    for row in rows["contracts"]:
        row |= {"complete_vp": 0, "secondary": "vp", "secondary_per_icon": 0}
    rows["game_cards"] = rows["game_cards"][: NUMBERS["initial_run"][0] + 2 * players + 1]
    for row in rows["game_cards"]:
        row |= dict.fromkeys(("cost", "wrenches", "dots", "asteroids", "comets", "station", "vp"), 0)
        row["action"] = 2
    return rows
