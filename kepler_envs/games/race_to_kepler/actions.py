"""The 160 action ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kepler_envs.engine.actions import ActionSet, Axis, Block, axes
from kepler_envs.engine.game import Configuration
from kepler_envs.games.race_to_kepler.components import card_names, city_names
from kepler_envs.games.race_to_kepler.state import (
    FIRST_CREW,
    FIRST_TITAN,
    GOLD,
    NUM_CITIES,
    NUM_CREW,
    NUM_KINDS,
    NUM_OPERATIONS,
    NUM_OPTIONS,
    Node,
)

CITY = 0  # + city
PLAY = CITY + NUM_CITIES  # + kind
ACQUIRE_GOLD = PLAY + NUM_KINDS
ACQUIRE = ACQUIRE_GOLD + 1 - FIRST_CREW  # + kind of a crew card
OPERATE = ACQUIRE + FIRST_CREW + NUM_CREW  # + operation
PICK = OPERATE + NUM_OPERATIONS  # + kind
OPTION = PICK + NUM_KINDS  # + alternative
DONE = OPTION + NUM_OPTIONS
END_TURN = DONE + 1
NUM_ACTIONS = END_TURN + 1
FOR_SALE = (GOLD, *range(FIRST_CREW, FIRST_TITAN))  # kinds, in the order of ACQ


def make_actions(tables: Any) -> ActionSet:
    """The ids with the names of a component file. In words, operations and alternatives count from 1."""
    cards, cities = card_names(tables), city_names(tables)
    return ActionSet(
        [
            Block("CITY", CITY, NUM_CITIES, "keep {}", cities, axes(("city", "cities", NUM_CITIES))),
            Block("PLAY", PLAY, NUM_KINDS, "play {}", cards, _card_axes(range(NUM_KINDS))),
            Block("ACQ", ACQUIRE_GOLD, len(FOR_SALE), "acquire {}", tuple(cards[kind] for kind in FOR_SALE),
                  _card_axes(FOR_SALE)),
            Block("OP", OPERATE, NUM_OPERATIONS, "use operation {}", _numbers(NUM_OPERATIONS),
                  axes(("operation", "operations", NUM_OPERATIONS))),
            Block("PICK", PICK, NUM_KINDS, "pick {}", cards, _card_axes(range(NUM_KINDS))),
            Block("OPT", OPTION, NUM_OPTIONS, "choose alternative {}", _numbers(NUM_OPTIONS),
                  axes(("alternative", "options", NUM_OPTIONS))),
            Block("DONE", DONE, 1, "no more"),
            Block("END", END_TURN, 1, "end the turn"),
        ]
    )  # fmt: skip


def public_text(state: np.void, config: Configuration, action: int) -> str:
    """A decision as everybody hears it.

    It does not tell which city is kept, which card is bid, or which of a player's own cards stays concealed.
    """
    text, node = config.actions.text(action), Node(int(state["node"]))
    if node == Node.CITY:
        return "keep a city"
    if node == Node.BID and action != DONE:
        return "bid a card face down"
    if node == Node.MOVE and action != DONE:
        frame = state["frame"][int(state["depth"]) - 1]
        instruction = config.tables[0]["program"][int(frame["at"])]
        return text if instruction["shown"] else "pick a card"
    return text


def _card_axes(kinds: Sequence[int]) -> tuple[Axis, ...]:
    """Each id is about a card: where such cards are, and what is printed on them."""
    rows = tuple(kinds)
    return (Axis("card", "cards", rows), Axis("its kind", "kinds", rows))


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(str(1 + i) for i in range(count))
