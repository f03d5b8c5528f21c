"""The component file of a configuration as it is written, and what follows from it at once: the map, benefits of
levels, bonus actions of the board."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from kepler_envs.engine.game import Configuration
from kepler_envs.games.kepler_3042.components import DEFAULT_FILE
from tests.games.kepler_3042.scenario import Seat, steps_between

NUM_HEXES, ROUNDS, LAST_LEVEL, TRACK_END, MOST_COLONIES, LAST_CAMPAIGN_LEVEL = 418, 16, 4, 20, 5, 4
"""What no component file changes."""

TECHNOLOGY_OF = {
    "speed": 0, "cheap_ships": 0, "conversions": 1, "allocations": 1, "energy": 2, "single_burn": 2, "planets": 3,
    "terraform_level": 3, "antimatter": 4, "alien_colonies": 4,
}  # fmt: skip
"""Technology by what it allows (2.4)."""
MOST_CONVERSIONS = 14
"""K13: what "unlimited" means."""


class Numbers:
    """Sections of the file by the id of their rows."""

    def __init__(self, path: Path) -> None:
        file = tomllib.loads(path.read_text(encoding="utf-8"))
        self.number = {row["name"]: row["value"] for row in file["numbers"]}
        self.cubes = [row["cubes"] for row in file["resources"]]
        self.earth = [row["earth"] for row in file["resources"]]
        self.setup = {row["players"]: row for row in file["setup"]}
        self.zone_vp = [row["vp"] for row in file["zones"]]
        self.type = {row["code"]: row for row in file["planet_types"]}
        self.planet = {row["number"]: row for row in file["planets"]}
        self.level = {(row["technology"], row["level"]): row for row in file["technology_levels"]}
        self.medals = [set(row["medals"]) for row in file["tracks"]]
        self.icons = [{space: kind for space, kind in row["icons"]} for row in file["tracks"]]
        self.track_vp = [row["vp"] for row in file["tracks"]]
        self.bonus_lines = {row["id"]: (row["line"], row["number"]) for row in file["bonus_actions"]}
        self.card = {row["id"]: row for row in file["progress_cards"]}
        self.objective = {row["id"]: row for row in file["objectives"]}
        self.campaign = {row["id"]: row["objectives"] for row in file["campaigns"]}
        self.campaign_level = {row["level"]: row for row in file["campaign_levels"]}
        self.ghost_rounds = {row["round"] for row in file["ghost"]}
        self._read_map("".join(row["hexes"] for row in file["terrain"]))

    def _read_map(self, signs: str) -> None:
        """2.2."""
        self.space = {place for place, sign in enumerate(signs) if sign == "."}
        self.stars = {place: int(sign) for place, sign in enumerate(signs) if sign in "123"}
        self.sol = signs.index("S")
        radii = (self.number["short_radius"], self.number["mid_radius"])
        self.zone = [sum(steps_between(place, self.sol) > radius for radius in radii) for place in range(NUM_HEXES)]

    def benefit(self, seat: Seat, name: str) -> int:
        """2.4: what a player's technology allows; level 0 allows nothing."""
        technology = TECHNOLOGY_OF[name]
        if seat.tech[technology] == 0:
            return 0
        value = self.level[technology, seat.tech[technology]]["benefit"][name]
        return min(value, MOST_CONVERSIONS) if name == "conversions" else value

    def bonuses_of(self, main: int) -> set[int]:
        """3.7: the bonus actions of a main action's column and row."""
        lines = {("column", main % 3), ("row", main // 3)}
        return {bonus for bonus, line in self.bonus_lines.items() if line in lines}

    def ship_cost(self, seat: Seat) -> list[int]:
        """3.4: an energy and a matter, or the energy alone (K20)."""
        return [1, 0, 0] if self.benefit(seat, "cheap_ships") else [1, 1, 0]


@cache
def _numbers(path: Path, digest: str) -> Numbers:
    return Numbers(path)


def numbers_of(config: Configuration) -> Numbers:
    return _numbers(config.components or DEFAULT_FILE, config.components_digest)
