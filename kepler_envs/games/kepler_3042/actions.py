"""The 576 action ids."""

from __future__ import annotations

from typing import Any

from kepler_envs.engine.actions import NO_ROW, ActionSet, Axis, Block, axes
from kepler_envs.engine.components import names
from kepler_envs.games.kepler_3042.hexes import NUM_HEXES, WIDTH
from kepler_envs.games.kepler_3042.state import (
    MAX_COLONIES,
    MAX_SHIPS,
    NUM_BONUS,
    NUM_MAIN,
    NUM_RESOURCES,
    NUM_SLOTS,
    NUM_TECHS,
    NUM_TRACKS,
)

NUM_SOURCES = NUM_SLOTS + 1  # of burned cubes: storage, then the slots
NUM_DIRECTIONS = 2  # of a conversion: energy of the card becomes matter, matter becomes energy

DONE = 0
MAIN = 1  # + main action
BONUS = MAIN + NUM_MAIN  # + bonus action
TECH = BONUS + NUM_BONUS  # + technology
TRACK = TECH + NUM_TECHS  # + track
SLOT = TRACK + NUM_TRACKS  # + slot
SHIP = SLOT + NUM_SLOTS  # + starship
RES = SHIP + MAX_SHIPS  # + resource
BURN = RES + NUM_RESOURCES  # + NUM_RESOURCES * (0 storage, 1 + slot) + resource
CONVERT = BURN + NUM_RESOURCES * NUM_SOURCES  # + NUM_DIRECTIONS * slot + direction
ALLOCATE = CONVERT + NUM_DIRECTIONS * NUM_SLOTS  # + NUM_RESOURCES * (5 * from + to, less 1 if to > from) + resource
HEX = ALLOCATE + NUM_SLOTS * MAX_COLONIES * NUM_RESOURCES  # + hex
NUM_ACTIONS = HEX + NUM_HEXES

SLOT_NAMES = ("Earth", *(f"colony {number}" for number in range(1, NUM_SLOTS)))
SOURCE_NAMES = ("storage", *SLOT_NAMES)


def make_actions(tables: Any) -> ActionSet:
    """The ids with the names of a component file."""
    resources = names(tables["resource_name"])
    energy, matter = resources[:2]
    slots = range(NUM_SLOTS)
    by_slot = ("slot", "slots", NUM_SLOTS)
    by_resource = ("resource", "resources", NUM_RESOURCES)
    return ActionSet(
        [
            Block("DONE", DONE, 1, "done"),
            Block("MAIN", MAIN, NUM_MAIN, "main action {}", names(tables["main_name"]),
                  axes(("main action", "main_actions", NUM_MAIN))),
            Block("BONUS", BONUS, NUM_BONUS, "bonus action {}", names(tables["bonus_name"]),
                  axes(("bonus action", "bonus_actions", NUM_BONUS))),
            Block("TECH", TECH, NUM_TECHS, "advance {}", names(tables["tech_name"]),
                  axes(("technology", "technologies", NUM_TECHS))),
            Block("TRACK", TRACK, NUM_TRACKS, "advance on the {} track", names(tables["track_name"]),
                  axes(("track", "tracks", NUM_TRACKS))),
            Block("SLOT", SLOT, NUM_SLOTS, "with {}", SLOT_NAMES, axes(by_slot)),
            Block("SHIP", SHIP, MAX_SHIPS, "starship {}", tuple(str(ship + 1) for ship in range(MAX_SHIPS)),
                  axes(("starship", "starships", MAX_SHIPS))),
            Block("RES", RES, NUM_RESOURCES, "choose {}", resources, axes(by_resource)),
            Block("BURN", BURN, NUM_RESOURCES * NUM_SOURCES, "burn {}",
                  tuple(f"{name} from {source}" for source in SOURCE_NAMES for name in resources),
                  axes(("slot, none for storage", "slots", (NO_ROW, *slots)), by_resource)),
            Block("CONVERT", CONVERT, NUM_DIRECTIONS * NUM_SLOTS, "convert {}",
                  tuple(f"{old} on {slot} into {new}" for slot in SLOT_NAMES
                        for old, new in ((energy, matter), (matter, energy))),
                  axes(by_slot, ("resource that is converted", "resources", NUM_DIRECTIONS))),
            Block("ALLOCATE", ALLOCATE, NUM_SLOTS * MAX_COLONIES * NUM_RESOURCES, "allocate {}",
                  tuple(f"{name} from {SLOT_NAMES[giver]} to {SLOT_NAMES[taker]}"
                        for giver, taker in _pairs() for name in resources),
                  tuple(Axis(name, table, tuple(row[part] for row in _allocations())) for part,
                        (name, table) in enumerate(
                      (("slot it leaves", "slots"), ("slot it comes to", "slots"), ("resource", "resources"))))),
            Block("HEX", HEX, NUM_HEXES, "hex {}", tuple(hex_name(hex_id) for hex_id in range(NUM_HEXES)),
                  axes(("hex", "places", NUM_HEXES))),
        ]
    )  # fmt: skip


def _pairs() -> list[tuple[int, int]]:
    """The pairs of different slots, in the order of the ids."""
    return [(giver, taker) for giver in range(NUM_SLOTS) for taker in range(NUM_SLOTS) if taker != giver]


def _allocations() -> list[tuple[int, int, int]]:
    """The slots and the resource of each allocation."""
    return [(giver, taker, kind) for giver, taker in _pairs() for kind in range(NUM_RESOURCES)]


def hex_name(hex_id: int) -> str:
    """The number, row and column of a hex."""
    return f"{hex_id} (row {hex_id // WIDTH}, column {hex_id % WIDTH})"
