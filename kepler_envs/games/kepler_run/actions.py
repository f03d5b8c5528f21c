"""The 102 action ids."""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs.engine.actions import ActionSet, Block, axes
from kepler_envs.engine.game import Configuration
from kepler_envs.games.kepler_run.components import contract_names
from kepler_envs.games.kepler_run.observation_layout import BY_BOOSTER, BY_MOVE, BY_PARTS, BY_STOP
from kepler_envs.games.kepler_run.state import MAX_FUEL, NUM_TRAITS, PART_SLOTS, ROW_SLOTS, RUN_SLOTS, Node

DISCOVER = 0  # + row slot
PART = DISCOVER + ROW_SLOTS
MODULE = PART + ROW_SLOTS
SPECIAL = MODULE + ROW_SLOTS
TARGET = SPECIAL + ROW_SLOTS  # + run index
CONTRACT = TARGET + RUN_SLOTS  # + contract
LOAD = CONTRACT + NUM_TRAITS  # + fuel
MOVE = LOAD + MAX_FUEL + 1
BOOSTER = MOVE + 1
USE_PART = BOOSTER + 1  # + part slot
STOP = USE_PART + PART_SLOTS
NUM_ACTIONS = STOP + 1


def make_actions(tables: Any) -> ActionSet:
    """The ids with the contract names of a component file; slots and sectors count from 1 in words."""
    slots, parts, sectors = _numbers(1, ROW_SLOTS), _numbers(1, PART_SLOTS), _numbers(1, RUN_SLOTS)
    of_row, way = axes(("row slot", "row", ROW_SLOTS)), "way to leave"
    return ActionSet(
        [
            Block("DISCOVER", DISCOVER, ROW_SLOTS, "discover a sector with card {} of the row", slots, of_row),
            Block("PART", PART, ROW_SLOTS, "install card {} of the row as a ship part", slots, of_row),
            Block("MODULE", MODULE, ROW_SLOTS, "discard card {} of the row for a fuel module", slots, of_row),
            Block("SPECIAL", SPECIAL, ROW_SLOTS, "play the special action of card {} of the row", slots, of_row),
            Block("TARGET", TARGET, RUN_SLOTS, "apply it to sector {} of the run", sectors,
                  axes(("sector", "places", range(1, RUN_SLOTS + 1)))),
            Block("CONTRACT", CONTRACT, NUM_TRAITS, "choose the contract {}", contract_names(tables),
                  axes(("contract", "contracts", NUM_TRAITS))),
            Block("LOAD", LOAD, MAX_FUEL + 1, "take off with {} fuel from the ship", _numbers(0, MAX_FUEL + 1),
                  axes(("fuel", "loads", MAX_FUEL + 1))),
            Block("MOVE", MOVE, 1, "move on, paying the cost of leaving", (), axes((way, "ways", (BY_MOVE,)))),
            Block("BOOSTER", BOOSTER, 1, "move on with the booster", (), axes((way, "ways", (BY_BOOSTER,)))),
            Block("USE_PART", USE_PART, PART_SLOTS, "move on with ship part {}", parts,
                  axes(("part slot", "ways", range(BY_PARTS, BY_STOP)))),
            Block("STOP", STOP, 1, "end the flight here", (), axes((way, "ways", (BY_STOP,)))),
        ]
    )  # fmt: skip


def public_text(state: np.void, config: Configuration, action: int) -> str:
    """A decision as the others hear it. Contracts are chosen face down until scoring."""
    if state["node"] == Node.CONTRACT:
        return "choose a contract, face down"
    return config.actions.text(action)


def _numbers(first: int, count: int) -> tuple[str, ...]:
    return tuple(str(first + i) for i in range(count))
