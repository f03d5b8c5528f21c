"""Component files with the largest and the smallest values that the loader admits; a low price counts as large."""

from __future__ import annotations

from typing import Any

from kepler_envs.games.ad_astra.components import MAX_PER_RESOURCE, MAX_POINTS
from kepler_envs.games.ad_astra.state import (
    COLONIES_FACTORIES,
    DIFFERENT,
    FACTORY,
    IDENTICAL,
    MAX_PAWNS,
    MAX_PLAYERS,
    NUM_RESOURCES,
    NUM_SPACES,
    NUM_STARS,
    SLOTS,
    STARSHIP,
)
from tests.component_file import Rows, own_rows

INVARIANTS_HOLD = ("largest",)
"""They know four pawns of each kind."""


def options(kind: str, players: int) -> dict[str, Any]:
    return {"artifacts": "all", "max_offers": 20, "max_bank_trades": 40}


def largest(players: int) -> Rows:
    """A planet on every position, all cards in hands, nothing costs more than the ore of choice, and points for all of
    it."""
    rows = own_rows("ad_astra")
    _set_numbers(rows, {
        "cards_per_resource": MAX_PER_RESOURCE, "hand_limit": NUM_RESOURCES * MAX_PER_RESOURCE, "end_points": 1000,
        "bonus": MAX_POINTS, "bank_rate": 1, "smallest_system": SLOTS, "largest_system": SLOTS,
    })  # fmt: skip
    for row in rows["moves"]:
        row["cost"] = 0
    for row in rows["resources"]:
        row["start"] = MAX_PER_RESOURCE // MAX_PLAYERS
    for row in rows["planet_types"]:
        row["count"] = 7
    rows["planet_types"][-1]["count"] = NUM_STARS * SLOTS + players - 42
    for row in rows["pawns"]:
        row |= {"count": MAX_PAWNS, "cost": [0] * NUM_RESOURCES, "production": MAX_PAWNS}
        if row["id"] != STARSHIP:
            row["points"] = row["points_alien"] = MAX_POINTS
        else:
            row["start"] = MAX_PAWNS
    rows["setup"] = [row for row in rows["setup"] if row["players"] == players]
    for row in rows["setup"]:
        row |= {"spaces": NUM_SPACES // players * players, "layout": [SLOTS] * NUM_STARS}
    for row in rows["scoring_elements"]:
        row["points"] = [MAX_POINTS]
    rows["scoring_elements"][COLONIES_FACTORIES]["points"] = [10, 10]
    for element in (IDENTICAL, DIFFERENT):
        rows["scoring_elements"][element]["points"] = [MAX_POINTS if players == 3 else 67]  # as many as fit
    for row in rows["artifacts"]:
        row["amount"] = MAX_PER_RESOURCE
    return rows


def smallest(players: int) -> Rows:
    """One pawn of each kind, a planet in each system, no cards at the start and none kept, the highest prices, no
    points."""
    rows = own_rows("ad_astra")
    _set_numbers(rows, {
        "cards_per_resource": MAX_PLAYERS, "hand_limit": 0, "end_points": 1, "bonus": 0, "bank_rate": 2,
        "smallest_system": 1,
        "largest_system": 1,
    })  # fmt: skip
    for row in rows["moves"]:
        row["cost"] = 0
    for row in rows["resources"]:
        row["start"] = 0
    for row in rows["planet_types"]:
        row |= {"count": 0, "terraformable": False}
    rows["planet_types"][0]["count"] = NUM_STARS + players
    for row in rows["pawns"]:
        row |= {"count": 1, "start": int(row["id"] == FACTORY), "cost": [MAX_PER_RESOURCE] * NUM_RESOURCES}
        row |= {"points": 0, "points_alien": 0, "production": 0}
    rows["setup"] = [row for row in rows["setup"] if row["players"] == players]
    for row in rows["setup"]:
        row |= {"spaces": players, "layout": [1] * NUM_STARS}
    for row in rows["scoring_elements"]:
        row["points"] = [0] * len(row["points"])
    for row in rows["artifacts"]:
        row["amount"] = int(row["id"] in (4, 9))
    return rows


def _set_numbers(rows: Rows, values: dict[str, int]) -> None:
    for row in rows["numbers"]:
        row["value"] = values[row["name"]]
