"""Component files with the largest and the smallest values that the loader admits."""

from __future__ import annotations

from typing import Any

from kepler_envs.games.kitten_adventurers.state import HYPERSPEED, MAX_CARDS, MAX_LADDERS, WORMHOLE
from tests.component_file import Rows, own_rows

INVARIANTS_HOLD = ("largest", "smallest")


def options(kind: str, players: int) -> dict[str, Any]:
    return {}


def largest(players: int) -> Rows:
    """All cards and ladders there can be; two have the largest quest piles, eight the largest hands."""
    rows = own_rows("kitten_adventurers")
    for row in rows["card_types"]:
        row["count"] = 8
    rows["card_types"][WORMHOLE]["count"] = MAX_LADDERS - rows["card_types"][HYPERSPEED]["count"]
    rows["card_types"][1]["count"] += MAX_CARDS - sum(row["count"] for row in rows["card_types"])
    for row in rows["setup"]:
        most = (MAX_CARDS - 1) // row["players"] - 1
        row |= {"quest": most, "hand": 1} if row["players"] == 2 else {"quest": 1, "hand": most}
        row["quest_later_edition"] = MAX_CARDS
    return rows


def smallest(players: int) -> Rows:
    """One card more than is dealt, one of them wild, and most types not there at all."""
    rows = own_rows("kitten_adventurers")
    for row in rows["card_types"]:
        row["count"] = 0
    rows["card_types"][HYPERSPEED]["count"] = 1
    rows["card_types"][1]["count"] = 2 * players
    rows["setup"] = [
        {**row, "quest": 1, "hand": 1, "quest_later_edition": 1} for row in rows["setup"] if row["players"] == players
    ]
    return rows
