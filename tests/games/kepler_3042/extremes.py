"""Component files with the largest and the smallest values that the loader admits; a low price counts as large."""

from __future__ import annotations

from typing import Any

from kepler_envs.games.kepler_3042.components import NUMBERS
from kepler_envs.games.kepler_3042.components_objectives import MOST_OBJECTIVE_VP, OBJECTIVE_ARGUMENTS
from kepler_envs.games.kepler_3042.components_planets import MOST_TERRAFORM_VP
from kepler_envs.games.kepler_3042.components_technologies import BENEFITS, MOST_TRACK_VP
from kepler_envs.games.kepler_3042.state import MAX_LEVEL, MOST_LEADERSHIP, ROUNDS, TRACK_END
from tests.component_file import Rows, own_rows

INVARIANTS_HOLD = ("largest", "smallest")


def options(kind: str, players: int) -> dict[str, Any]:
    if players > 1:
        return {"objectives": "advanced"}
    return {"level": 4, "bonus": 14, "solo_planets": 20} if kind == "largest" else {}


def largest(players: int) -> Rows:
    """Leadership and icons wherever they may be, and all others catch up at once from level 0, so that most rewards
    wait.

    Nothing costs anything.
    """
    rows = own_rows("kepler_3042")
    for row in rows["numbers"]:
        if not row["name"].endswith("_radius"):
            row["value"] = NUMBERS[row["name"]][row["name"] != "free_technologies"]
    for row, most in zip(rows["resources"], (7, 7, 3), strict=True):
        row |= {"cubes": most, "earth": 0}
    for row in rows["setup"]:
        row |= {"mines": 4, "colonial_targets": 4, "star_kinds": [1, 2, 3]}
    for row in rows["zones"]:
        row["vp"] = 3
    for row in rows["planet_types"]:
        row["colonise"] = row["terraform"] = MOST_LEADERSHIP
    for row in rows["planets"]:
        row |= {"vp": MOST_TERRAFORM_VP, "min_players": 1, "level": 1}
        row |= {"colony": [7, 7, 7], "terraformed": [7, 7, 7], "cost": [0, 0, 0]}
    for row in rows["technology_levels"]:
        row |= {"cost": [0, 0, 0], "leadership": MOST_LEADERSHIP, "unlock": (0, 0, 0, MAX_LEVEL - 1)[row["level"] - 1]}
        row["benefit"] = dict(BENEFITS[row["technology"]])
    for row in rows["tracks"]:
        row |= {
            "icons": [[space, space % 3] for space in range(1, TRACK_END + 1)],
            "vp": [MOST_TRACK_VP] * (TRACK_END + 1),
        }
    benefits: list[dict[str, Any]] = [
        {"what": "free_tech", "args": {"max_level": MAX_LEVEL, "burn_rule": "none"}},
        {"what": "ship", "args": {}},
        {"what": "regenerate", "args": {"n": 3}},
        {"what": "produce", "args": {"triple": [7, 7, 7]}},
        {"what": "move", "args": {"spaces": 6}},
        {"what": "flip", "args": {"n": 9}},
        {"what": "exploit", "args": {"n": 1}},
        {"what": "track", "args": {"track": 1}},
    ]
    for number, row in enumerate(rows["progress_cards"]):
        row |= {"who": "all", "solo": True, **benefits[number % len(benefits)]}
    for row in rows["objectives"]:
        row["vp"] = MOST_OBJECTIVE_VP
        name, low, _ = OBJECTIVE_ARGUMENTS[row["test"]][-1]
        row["args"] |= {name: low}
    for row in rows["campaign_levels"]:
        row |= {"minimum_score": 100, "antimatter": 3}
    rows["ghost"] = [{"round": number, "meaning": "", "prov": "D"} for number in range(1, ROUNDS + 1)]
    return rows


def smallest(players: int) -> Rows:
    """A cube of each resource, no tiles but with most players, Sol in a corner, and nothing that anything brings."""
    rows = own_rows("kepler_3042")
    for row in rows["numbers"]:
        row["value"] = NUMBERS[row["name"]][0]
    for row in rows["resources"]:
        row |= {"cubes": 1, "earth": 1}
    for row in rows["setup"]:
        row |= {"mines": 0, "colonial_targets": 0, "star_kinds": [1, 2, 3] if row["players"] == 4 else [1]}
    signs = [row["hexes"].replace("S", ".") for row in rows["terrain"]]
    signs[0] = "S" + signs[0][1:]
    for row, hexes in zip(rows["terrain"], signs, strict=True):
        row["hexes"] = hexes
    for row in rows["zones"]:
        row["vp"] = 0
    for row in rows["planet_types"]:
        row["colonise"] = row["terraform"] = 0
    for row in rows["planets"]:
        row |= {"vp": 0, "min_players": 4, "level": MAX_LEVEL, "colony": [0, 0, 0], "terraformed": [0, 0, 0]}
        row["cost"] = [7, 7, 7 if row["type"] == "alien" else 0]
    for row in rows["technology_levels"]:
        row |= {"cost": [0, 0, 0] if row["level"] == 1 else [7, 7, 7], "leadership": 0, "unlock": 0}
        row["benefit"] = dict.fromkeys(dict(BENEFITS[row["technology"]]), 0)
    for row in rows["tracks"]:
        row |= {"medals": [1, 2, 3, 4, 5], "icons": [], "vp": [0] * (TRACK_END + 1)}
    for row in rows["progress_cards"]:
        row |= {
            "who": "all",
            "what": "free_tech",
            "args": {"max_level": 1, "burn_rule": "new_level_minus_one"},
            "solo": True,
        }
    for row in rows["objectives"]:
        row["vp"] = 0
        name, _, high = OBJECTIVE_ARGUMENTS[row["test"]][-1]
        row["args"] |= {name: high}
    for row in rows["campaign_levels"]:
        row |= {"minimum_score": 1, "antimatter": 0}
    rows["ghost"] = []
    return rows
