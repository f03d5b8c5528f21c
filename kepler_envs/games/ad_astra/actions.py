"""The 394 action ids."""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs.engine.actions import ActionSet, Block, axes
from kepler_envs.engine.components import names
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.naming import agent_name
from kepler_envs.games.ad_astra.components import MAX_PER_RESOURCE
from kepler_envs.games.ad_astra.state import (
    FIRST_ORE,
    FIRST_START,
    MAX_PAWNS,
    MAX_PLAYERS,
    NUM_ARTIFACTS,
    NUM_CARDS,
    NUM_ITEMS,
    NUM_POSITIONS,
    NUM_RESOURCES,
    NUM_SPACES,
    NUM_STARS,
    SLOTS,
    Node,
)

DESTINATIONS = NUM_STARS + 1  # of a starship: the systems, deep space
TO_DEEP = NUM_STARS
QUANTITIES = 2  # cards of one side of an offer, at most
SMALLEST_DISCARD = 2  # cards that a discard for points consists of, at least

SUBSETS = np.array([mask for mask in range(1 << NUM_RESOURCES) if mask.bit_count() >= SMALLEST_DISCARD], np.int64)
"""The sets of resources that can be discarded as different ones, in the order of their ids."""

PASS = 0
ACCEPT = 1
PLACE = 2  # + NUM_SPACES * card + space
TAKE = PLACE + NUM_CARDS * NUM_SPACES  # + resource
GO = TAKE + NUM_RESOURCES  # + DESTINATIONS * starship + destination
AT = GO + MAX_PAWNS * DESTINATIONS  # + position, start planets by clockwise distance: the own one first
ITEM = AT + NUM_POSITIONS  # + item
BANK = ITEM + NUM_ITEMS  # + resource given
PARTNER = BANK + NUM_RESOURCES  # + clockwise distance from the owner - 1
CARDS = PARTNER + MAX_PLAYERS - 1  # + QUANTITIES * resource + quantity - 1
CHOOSE = CARDS + NUM_RESOURCES * QUANTITIES  # + first or second element
COUNT = CHOOSE + 2  # + number of cards - SMALLEST_DISCARD
SUBSET = COUNT + MAX_PER_RESOURCE - SMALLEST_DISCARD + 1  # + index in SUBSETS
ARTIFACT = SUBSET + len(SUBSETS)  # + artifact
NUM_ACTIONS = ARTIFACT + NUM_ARTIFACTS

CARD_NAMES = (
    *(f"production card {number}" for number in (1, 2, 3)),
    *(f"movement card {number}" for number in (1, 2, 3)),
    "build card",
    "trade card",
    *(f"scoring card {number}" for number in (1, 2, 3)),
)


OTHER_PLAYERS = ("the next player", *(f"the player {distance} seats on" for distance in range(2, MAX_PLAYERS)))


def make_actions(tables: Any) -> ActionSet:
    """The ids with the names of a component file."""
    resources = names(tables["resource_name"])
    systems = names(tables["system_name"])
    spaces = range(1, NUM_SPACES + 1)
    ships = range(1, MAX_PAWNS + 1)
    ores = resources[FIRST_ORE:]
    return ActionSet(
        [
            Block("PASS", PASS, 1, "pass"),
            Block("ACCEPT", ACCEPT, 1, "accept the offer"),
            Block("PLAN", PLACE, NUM_CARDS * NUM_SPACES, "place {}",
                  tuple(f"{card} on space {space}" for card in CARD_NAMES for space in spaces),
                  axes(("card", "cards", NUM_CARDS), ("space", "spaces", NUM_SPACES))),
            Block("RES", TAKE, NUM_RESOURCES, "choose {}", resources, axes(("resource", "resources", NUM_RESOURCES))),
            Block("MOVE", GO, MAX_PAWNS * DESTINATIONS, "move {}",
                  tuple(f"starship {ship} to {place}" for ship in ships for place in (*systems[:NUM_STARS],
                                                                                      "deep space")),
                  axes(("starship", "starships", MAX_PAWNS), ("destination", "systems", DESTINATIONS))),
            Block("POS", AT, NUM_POSITIONS, "on {}",
                  (*(planet_name(systems, position) for position in range(FIRST_START)), "the own start planet",
                   *(f"the start planet of {player}" for player in OTHER_PLAYERS)),
                  axes(("position", "positions", NUM_POSITIONS))),
            Block("BUILD", ITEM, NUM_ITEMS, "build a {}",
                  (*(f"colony paying {ore}" for ore in ores), "factory", "terraformer",
                   *(f"starship paying one more {ore}" for ore in ores)), axes(("item", "items", NUM_ITEMS))),
            Block("BANK", BANK, NUM_RESOURCES, "give {} to the bank", resources,
                  axes(("resource", "resources", NUM_RESOURCES))),
            Block("PARTNER", PARTNER, MAX_PLAYERS - 1, "make an offer to {}", OTHER_PLAYERS,
                  axes(("player", "players", range(1, MAX_PLAYERS)))),
            Block("RESQ", CARDS, NUM_RESOURCES * QUANTITIES, "offer: {}",
                  tuple(f"{count} {name}" for name in resources for count in range(1, QUANTITIES + 1)),
                  axes(("resource", "resources", NUM_RESOURCES), ("quantity", "", range(1, QUANTITIES + 1)))),
            Block("ELEMENT", CHOOSE, 2, "score the {} element", ("first", "second"), axes(("element", "choices", 2))),
            Block("COUNT", COUNT, MAX_PER_RESOURCE - SMALLEST_DISCARD + 1, "discard {} cards",
                  tuple(str(count) for count in range(SMALLEST_DISCARD, MAX_PER_RESOURCE + 1)),
                  axes(("number", "", range(SMALLEST_DISCARD, MAX_PER_RESOURCE + 1)))),
            Block("SUBSET", SUBSET, len(SUBSETS), "discard {}",
                  tuple(_listed([resources[r] for r in range(NUM_RESOURCES) if mask >> r & 1]) for mask in SUBSETS),
                  axes(("resources", "subsets", len(SUBSETS)))),
            Block("ART", ARTIFACT, NUM_ARTIFACTS, "play {}", names(tables["artifact_name"]),
                  axes(("artifact", "artifacts", NUM_ARTIFACTS))),
        ]
    )  # fmt: skip


def full_text(state: np.void, config: Configuration, action: int) -> str:
    """A decision in words. Ids count players from the one who decides, and both sides of an offer have the same ids."""

    def player(distance: int) -> str:
        return agent_name((int(state["seat"]) + distance) % config.num_players)

    if AT + FIRST_START < action < ITEM:
        return f"on the start planet of {player(action - AT - FIRST_START)}"
    if PARTNER <= action < CARDS:
        return f"make an offer to {player(action - PARTNER + 1)}"
    text = config.actions.text(action)
    if CARDS <= action < CHOOSE:
        return text.replace("offer:", "ask for" if state["node"] == Node.OFFER_GET else "offer", 1)
    return text


def public_text(state: np.void, config: Configuration, action: int) -> str:
    """A decision as the others hear it. Action cards lie face down until their space is reached."""
    if PLACE <= action < TAKE:
        return f"place an action card face down on space {(action - PLACE) % NUM_SPACES + 1}"
    return full_text(state, config, action)


def planet_name(systems: tuple[str, ...], position: int) -> str:
    """A position around a star in words: its system and the number of the planet there."""
    return f"planet {position % SLOTS + 1} of {systems[position // SLOTS]}"


def _listed(words: list[str]) -> str:
    return ", ".join(words[:-1]) + " and " + words[-1]
