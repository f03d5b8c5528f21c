"""The 51 action ids. A value is the card type that has it: both are rows of ``cards``."""

from __future__ import annotations

from typing import Any

from kepler_envs.engine.actions import ActionSet, Block, axes
from kepler_envs.games.kitten_adventurers.components import type_names
from kepler_envs.games.kitten_adventurers.state import HYPERSPEED, LADDER_LENGTH, NUM_LANES, NUM_TYPES

PLAY_HAND = 0  # + card type
PLAY_QUEST = PLAY_HAND + NUM_TYPES
PLAY_LANE = PLAY_QUEST + 1  # + lane
END_WITH = PLAY_LANE + NUM_LANES  # + card type
PASS = END_WITH + NUM_TYPES
AS_VALUE = PASS + 1  # + value
TO_LANE = AS_VALUE + LADDER_LENGTH  # + lane
NUM_ACTIONS = TO_LANE + NUM_LANES


def make_actions(tables: Any) -> ActionSet:
    """The ids with the card names of a component file."""
    cards = type_names(tables)
    wild = cards[HYPERSPEED].lower()
    lanes = tuple(str(lane + 1) for lane in range(NUM_LANES))
    return ActionSet(
        [
            Block("PLAY_HAND", PLAY_HAND, NUM_TYPES, "play {} from the hand", cards,
                  axes(("card type", "cards", NUM_TYPES))),
            Block("PLAY_QUEST", PLAY_QUEST, 1, "play the open quest card",
                  axes=axes(("own quest card", "players", 1))),
            Block("PLAY_LANE", PLAY_LANE, NUM_LANES, "play the top card of lane {}", lanes,
                  axes(("lane", "lanes", NUM_LANES))),
            Block("END_WITH", END_WITH, NUM_TYPES, "end the turn with {}", cards,
                  axes(("card type", "cards", NUM_TYPES))),
            Block("PASS", PASS, 1, "pass with an empty hand"),
            Block("AS_VALUE", AS_VALUE, LADDER_LENGTH, "use the {}",
                  tuple(f"{wild} card as {value}" for value in range(LADDER_LENGTH)),
                  axes(("value", "cards", LADDER_LENGTH))),
            Block("TO_LANE", TO_LANE, NUM_LANES, "place it in lane {}", lanes,
                  axes(("lane", "lanes", NUM_LANES))),
        ]
    )  # fmt: skip
