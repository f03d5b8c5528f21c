"""The 576 action ids."""

from __future__ import annotations

from typing import Any

from kepler_envs.engine.actions import ActionSet, Block
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
    energy, matter, antimatter = resources = names(tables["resource_name"])
    slots = range(NUM_SLOTS)
    return ActionSet(
        [
            Block("DONE", DONE, 1, "done"),
            Block("MAIN", MAIN, NUM_MAIN, "main action {}", "main action", names(tables["main_name"])),
            Block("BONUS", BONUS, NUM_BONUS, "bonus action {}", "bonus action", names(tables["bonus_name"])),
            Block("TECH", TECH, NUM_TECHS, "advance {}", "technology", names(tables["tech_name"])),
            Block("TRACK", TRACK, NUM_TRACKS, "advance on the {} track", "track", names(tables["track_name"])),
            Block("SLOT", SLOT, NUM_SLOTS, "with {}", "slot", SLOT_NAMES),
            Block("SHIP", SHIP, MAX_SHIPS, "starship {}", "starship", tuple(str(ship + 1) for ship in range(MAX_SHIPS))),
            Block("RES", RES, NUM_RESOURCES, "choose {}", "resource", resources),
            Block("BURN", BURN, NUM_RESOURCES * NUM_SOURCES, "burn {}", "place and resource",
                  tuple(f"{name} from {source}" for source in SOURCE_NAMES for name in resources)),
            Block("CONVERT", CONVERT, NUM_DIRECTIONS * NUM_SLOTS, "convert {}", "slot and direction",
                  tuple(f"{old} on {slot} into {new}" for slot in SLOT_NAMES
                        for old, new in ((energy, matter), (matter, energy)))),
            Block("ALLOCATE", ALLOCATE, NUM_SLOTS * MAX_COLONIES * NUM_RESOURCES, "allocate {}", "slots and resource",
                  tuple(f"{name} from {SLOT_NAMES[giver]} to {SLOT_NAMES[taker]}"
                        for giver in slots for taker in slots if taker != giver for name in resources)),
            Block("HEX", HEX, NUM_HEXES, "hex {}", "hex", tuple(hex_name(hex_id) for hex_id in range(NUM_HEXES))),
        ]
    )  # fmt: skip


def hex_name(hex_id: int) -> str:
    """Number, row and column of a hex."""
    return f"{hex_id} (row {hex_id // WIDTH}, column {hex_id % WIDTH})"
