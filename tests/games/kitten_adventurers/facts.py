"""What a seat sees, twice: read from the state, and rebuilt from its observation; and what follows from that, in plain
Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kepler_envs import Configuration
from kepler_envs.engine.game import RUNNING, TERMINATED, TRUNCATED
from kepler_envs.games.kitten_adventurers.state import (
    LADDER_LENGTH,
    MAX_CARDS,
    MAX_LADDERS,
    MAX_PLAYERS,
    NUM_LANES,
    NUM_TYPES,
    Node,
)
from tests.games.kitten_adventurers.scenario import H, Position, in_reach

HIDDEN = {
    "rng": "chance to come",
    "deck_begin": "the deck is hidden from everybody; how many of each type are in it or covered is `unseen`",
    "deck_end": "the rest of the deck",
    "buried_begin": "the first part of `buried`, which is known",
    "buried_more": "the second part of `buried`",
    "buried_end": "the rest of `buried`",
    "quest_pile": "covered cards are hidden from everybody; the open one is player.quest_top",
    "decisions": "a count of the engine, which nothing depends on",
    "shaping": "what training is paid besides; the game knows nothing of it",
    "player.plays": "counted for the infos; nothing depends on it",
    "active_distance": "a place in the observation; always 0 in the state",
    "no_card": "a place in the row of `missing`; always 0",
    "buried_to": "where the cards of a seat end in `buried`: it follows from the depths of the lanes",
}

NUMBERS = (
    "num_players", "hand_size", "quest_size", "max_turns", "max_plays", "reward_mode", "deck_count", "discard_count",
    "turns", "plays", "dead_turns", "pending_source", "pending_card", "played_this_turn", "quests_this_turn",
)  # fmt: skip
"""Fields of the state that are fields of the table ``game`` by the same name."""

SHOWN = ("top", "second", "third")


def relative(values: Any, players: int, seat: int) -> np.ndarray:
    """Rows of all seats, from ``seat`` on; absent seats stay where they are."""
    turned = np.array(values)
    turned[:players] = np.roll(turned[:players], -seat, axis=0)
    return turned


def facts_known(config: Configuration, state: Any, seat: int) -> dict[str, Any]:
    players, own = config.num_players, state["player"][seat]
    known = {name: int(state[name]) for name in NUMBERS}
    known |= {"node": int(state["node"]), "end": int(state["end"]), "fits": int(state["fits"])}
    known["seat"] = (int(state["seat"]) - seat) % players
    for name in ("wild_at", "ladder_height", "slots_at", "discard", "on_ladders", "unseen", "waiting", "missing"):
        known[name] = state[name].tolist()
    for name in ("present", "quest_count", "quest_top", "hand_count", "lane_set"):
        known[f"player.{name}"] = relative(state["player"][name], players, seat)
    known["quest_missing"] = relative(state["quest_missing"], players, seat)
    for name in ("depth", *SHOWN):
        known[f"player.lane.{name}"] = relative(state["player"]["lane"][name], players, seat)
    known["player.hand"], known["player.hand_set"] = own["hand"].tolist(), int(own["hand_set"])
    lanes = [[lane[::-1] for lane in one.lanes] for one in Position.read(state).seats]
    known["buried"] = relative(padded(lanes), players, seat)
    return known


def padded(lanes: list[list[list[int]]]) -> np.ndarray:
    """Cards of lanes, from the top down, as card fields, int (seats, lanes, MAX_CARDS)."""
    whole = np.zeros((MAX_PLAYERS, NUM_LANES, MAX_CARDS), int)
    for seat, own in enumerate(lanes):
        for place, lane in enumerate(own):
            whole[seat, place, : len(lane)] = np.array(lane, int) + 1
    return whole


def facts_seen(config: Configuration, observation: np.ndarray) -> dict[str, Any]:
    seen = config.observation.names(observation)
    game = {name.partition(".")[2]: piece.ravel().tolist() for name, piece in seen.items() if name.startswith("game.")}
    found: dict[str, Any] = {name: game[name][0] for name in NUMBERS}
    found["node"], found["seat"] = game["phase"][0], game["active_seat"][0]
    hand, heights = seen["cards.hand"].tolist(), seen["ladders.height"].tolist()
    found["wild_at"], found["ladder_height"] = seen["ladders.wild_at"].tolist(), heights
    found["slots_at"] = [
        sum(1 << slot for slot in range(MAX_LADDERS) if heights[slot] == height) for height in range(LADDER_LENGTH)
    ]
    found["fits"] = sum(1 << height for height in {0, *heights})
    found["waiting"], found["missing"] = waiting(heights), missing(heights)
    found["discard"], found["on_ladders"] = seen["cards.discard"].tolist(), seen["cards.on_ladders"].tolist()
    found["unseen"] = (seen["cards.unseen"] + seen["cards.hand"]).tolist()
    for name in ("present", "quest_count", "quest_top", "hand_count"):
        found[f"player.{name}"] = seen[f"players.{name}"]
    found["quest_missing"] = [found["missing"][top - 1] if top else 0 for top in found["player.quest_top"]]
    for name in ("depth", *SHOWN):
        columns = [seen[f"players.lane_{lane}_{name}"] for lane in range(1, NUM_LANES + 1)]
        found[f"player.lane.{name}"] = np.stack(columns, axis=1)
        assert (seen[f"lanes.{name}"] == found[f"player.lane.{name}"][0]).all(), "own lanes are told twice"
    found["player.hand"] = hand
    found["player.hand_set"] = sum(1 << card for card in range(NUM_TYPES) if hand[card])
    found["buried"] = all_lanes(found, game["buried"])
    shown = found["buried"][:, :, :3]
    found["player.lane_set"] = [
        [in_reach([card - 1 for card in lane if card]) for lane in own] for own in shown.tolist()
    ]
    found["end"] = end(found)
    return found


def all_lanes(found: Mapping[str, Any], buried: list[int]) -> np.ndarray:
    """The lanes of all seats to the bottom: three cards of their own, then as many of ``buried`` as the depth says."""
    whole, place = np.zeros((MAX_PLAYERS, NUM_LANES, MAX_CARDS), int), 0
    for seat in range(MAX_PLAYERS):
        for lane in range(NUM_LANES):
            depth = int(found["player.lane.depth"][seat, lane])
            more = max(0, depth - len(SHOWN))
            cards = [int(found[f"player.lane.{name}"][seat, lane]) for name in SHOWN][:depth]
            cards += buried[place : place + more]
            whole[seat, lane, :depth] = cards
            place += more
    assert not any(buried[place:]), "cards of no lane"
    return whole


def end(found: Mapping[str, Any]) -> int:
    if found["node"] != Node.OVER:
        return RUNNING
    won = 0 in found["player.quest_count"][: found["num_players"]]
    return TERMINATED if won or found["dead_turns"] == found["num_players"] else TRUNCATED


# ---------------------------------------------------------------- what follows


def waiting(heights: list[int]) -> list[int]:
    """Ladders that wait for each value above 0."""
    return [0, *(heights.count(value) for value in range(1, LADDER_LENGTH)), 0]


def missing(heights: list[int]) -> list[int]:
    """Cards that the nearest ladder, or a new one, lacks before each type can be played."""
    return [min(value - height for height in {0, *heights} if height <= value) for value in range(LADDER_LENGTH)] + [0]


ROOMS = [
    "on a hyperspeed card",
    12,
    11,
    10,
    9,
    8,
    7,
    "on a lower card",
    6,
    5,
    4,
    3,
    2,
    "in an empty lane",
    "on the next",
]
"""How well a card lies in a lane, worst first; numbers are how much higher the top card is."""


def room(top: int, card: int) -> int:
    """Of a card on the card field ``top``."""
    if top == 0:
        return ROOMS.index("in an empty lane")
    if top - 1 == H:
        return ROOMS.index("on a hyperspeed card")
    if top - 1 < card:
        return ROOMS.index("on a lower card")
    return ROOMS.index("on the next" if top - 1 - card < 2 else top - 1 - card)


def chain(hand: list[int], lanes: list[list[int]], start: int, goal: int) -> list[str] | None:
    """Where each card comes from that makes ``start .. goal - 1``: "hand", "wild" or the lane's number (and "wild" for
    one there)."""
    lanes, wilds, sources = [list(lane) for lane in lanes], hand[H], []
    for value in range(start, goal):
        tops = [lane[0] if lane else None for lane in lanes]
        if hand[value]:
            sources.append("hand")
        elif value in tops:
            sources.append(f"{tops.index(value)}")
            lanes[tops.index(value)].pop(0)
        elif H in tops:
            last = max(place for place, top in enumerate(tops) if top == H)
            sources.append(f"{last} wild")
            lanes[last].pop(0)
        elif wilds:
            sources.append("wild")
            wilds -= 1
        else:
            return None
    return sources


def best_chain(seen: Mapping[str, np.ndarray], goal: int) -> tuple[int, list[str]] | None:
    """The first value and the sources of the chain with the fewest hyperspeed cards, of these the shortest."""
    hand = seen["cards.hand"].tolist()
    lanes = [
        [int(seen[f"lanes.{name}"][lane]) - 1 for name in SHOWN if seen[f"lanes.{name}"][lane]]
        for lane in range(NUM_LANES)
    ]
    found = {}
    for start in {0, *seen["ladders.height"].tolist()}:
        if start < goal and (sources := chain(hand, lanes, start, goal)):
            found[start] = sources
    if not found:
        return None
    return min(found.items(), key=lambda one: (sum("wild" in source for source in one[1]), -one[0]))


def derived(config: Configuration, seen: Mapping[str, np.ndarray]) -> dict[str, Any]:
    heights = seen["ladders.height"].tolist()
    lacking = missing(heights)
    quest, pending = int(seen["players.quest_top"][0]) - 1, int(seen["game.pending_card"][0]) - 1
    tops = seen["lanes.top"].tolist()
    below = [quest - card if quest != H and card < quest else 0 for card in range(NUM_TYPES)]
    roles, lanes, hyperspeeds = [0] * NUM_TYPES, [0] * NUM_LANES, 0
    away = lacking[quest] if quest >= 0 else 0
    for value in range(quest - away, quest):
        roles[value] = 1
    ends_turn = seen["game.phase"][0] == Node.LANE and seen["game.active_seat"][0] == 0
    if away and not ends_turn and (best := best_chain(seen, quest)):
        start, sources = best
        hyperspeeds = 1 + sum("wild" in source for source in sources)
        for value in range(start, quest):
            roles[value] = 2
        roles[start] = 3
        if sources[0] == "wild":
            roles[H] = 3
        if sources[0][0].isdigit():
            lanes[int(sources[0][0])] = 1
    return {
        "cards.waiting": waiting(heights),
        "cards.missing": lacking,
        "cards.below": below,
        "cards.room": [max(room(top, card) for top in tops) for card in range(NUM_TYPES)],
        "cards.chain": roles,
        "game.chain": [hyperspeeds],
        "game.turns_left": seen["game.max_turns"] - seen["game.turns"],
        "game.plays_left": seen["game.max_plays"] - seen["game.plays"],
        "lanes.next": lanes,
        "lanes.room": [1 + room(top, pending) if pending >= 0 else 0 for top in tops],
        "players.missing": [lacking[top - 1] if top else 0 for top in seen["players.quest_top"].tolist()],
    }
