"""The tables of an observation: what each entry means, and where compiled code finds it.

Tables lie column by column: a column of ``cards`` is a row of the state.
"""

from __future__ import annotations

from typing import Any

from kepler_envs.engine.observation import COUNT, FLAG, LABEL, NUMBER, Layout, piece, table
from kepler_envs.games.kitten_adventurers.actions import END_WITH
from kepler_envs.games.kitten_adventurers.components import NEXT, ON_NEXT
from kepler_envs.games.kitten_adventurers.state import (
    HYPERSPEED,
    LADDER_LENGTH,
    MAX_CARDS,
    MAX_LADDERS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_LANES,
    NUM_TYPES,
    PLAYER,
    REWARD_MODES,
    STATE,
    Node,
)

ROW_SIZE = PLAYER["public_row"].shape[0]

BURIED = MAX_PLAYERS * ROW_SIZE
GLOBALS = BURIED + MAX_CARDS
HAND = GLOBALS + STATE["globals_row"].shape[0]
UNSEEN = HAND + NUM_TYPES
PILES = UNSEEN + NUM_TYPES
LANES = PILES + STATE["piles_row"].shape[0]
WILD_AT = LANES + PLAYER["lanes_row"].shape[0]
HEIGHTS = WILD_AT + MAX_LADDERS
FACTS_SIZE = HEIGHTS + MAX_LADDERS

NEEDS = FACTS_SIZE
BELOW = NEEDS + STATE["needs_row"].shape[0]
ROOM = BELOW + NUM_TYPES
ROLES = ROOM + NUM_TYPES
CHAIN = ROLES + NUM_TYPES
LANE_NEXT = CHAIN + 3
LANE_ROOM = LANE_NEXT + NUM_LANES
QUEST_MISSING = LANE_ROOM + NUM_LANES

ACTIVE_DISTANCE = GLOBALS + (STATE.names or ()).index("active_distance")
"""The one entry of the globals that differs between observers."""

LANE = int(Node.LANE)
MAX_LIMIT = 30_000  # of turns and plays, by option
CARD_FIELD = "0 none, else 1 + type"


def make_observation(tables: Any) -> Layout:
    """Facts, then what follows from them. Seats are relative: 0 is the observer, then clockwise."""
    cards = int(tables["cards_total"])
    copies = int(tables["card_count"].max())
    most_quests = max(35, int(tables["quest_size"].max()), int(tables["quest_size_later"].max()))
    most_hand = max(7, int(tables["hand_size"].max()))
    bottoms = int(tables["card_count"][0]) + int(tables["card_count"][HYPERSPEED])
    last = LADDER_LENGTH - 1

    def derived(name: str, rows: int, *fields: Any) -> list[Any]:
        return [table(name, rows, [field], derived=True) for field in fields]

    return Layout(
        [
            table("players", MAX_PLAYERS, [
                piece("present", FLAG, 1, "1 for seats in the game"),
                piece("quest_count", COUNT, most_quests, "quest cards left", scale=10),
                piece("quest_top", LABEL, NUM_TYPES, f"open quest card: {CARD_FIELD}"),
                piece("hand_count", COUNT, most_hand, "cards in hand"),
                *[
                    part
                    for lane in range(1, NUM_LANES + 1)
                    for part in (
                        piece(f"lane_{lane}_depth", COUNT, cards, f"cards in lane {lane}", scale=10),
                        piece(f"lane_{lane}_top", LABEL, NUM_TYPES, f"top card of lane {lane}: {CARD_FIELD}"),
                        piece(f"lane_{lane}_second", LABEL, NUM_TYPES, "the card below"),
                        piece(f"lane_{lane}_third", LABEL, NUM_TYPES, "the third card from the top"),
                    )
                ],
            ]),
            table("game", 1, [
                piece("buried", NUMBER, NUM_TYPES,
                      "lane cards below the third, seat by seat and lane by lane, from the top down (depths tell where "
                      f"a lane begins): {CARD_FIELD}", shape=MAX_CARDS),
            ]),
            table("game", 1, [
                piece("phase", LABEL, max(Node), "node: 0 PLAY, 1 VALUE, 2 LANE, 3 OVER"),
                piece("num_players", NUMBER, MAX_PLAYERS, "players in the game", low=MIN_PLAYERS),
                piece("hand_size", NUMBER, most_hand, "cards a hand is refilled to", low=1),
                piece("quest_size", NUMBER, most_quests, "cards dealt to each quest pile", low=1, scale=10),
                piece("max_turns", NUMBER, MAX_LIMIT, "turns until the game is cut off", scale=600),
                piece("max_plays", NUMBER, MAX_LIMIT, "cards on ladders until the game is cut off", scale=1000),
                piece("reward_mode", LABEL, len(REWARD_MODES) - 1,
                      "rewards based on: " + ", ".join(f"{number} {mode}" for number, mode in enumerate(REWARD_MODES))),
                piece("deck_count", COUNT, cards, "cards in the deck", scale=50),
                piece("discard_count", COUNT, cards, "cards in the discard", scale=50),
                piece("turns", NUMBER, MAX_LIMIT, "turns ended", scale=100),
                piece("plays", NUMBER, MAX_LIMIT, "cards played on ladders", scale=100),
                piece("dead_turns", COUNT, MAX_PLAYERS, "passes without a play in a row"),
                piece("pending_source", LABEL, END_WITH, "hyperspeed announced by: 0 none, else 1 + id of the play"),
                piece("pending_card", LABEL, NUM_TYPES, f"card announced to end the turn: {CARD_FIELD}"),
                piece("active_seat", LABEL, MAX_PLAYERS - 1, "relative seat of the active player"),
                piece("played_this_turn", COUNT, MAX_LIMIT, "cards played this turn", scale=10),
                piece("quests_this_turn", COUNT, most_quests, "own quest cards the active player played this turn",
                      scale=3),
            ]),
            *[table("cards", NUM_TYPES, [field]) for field in (
                piece("hand", COUNT, min(copies, most_hand), "cards in the observer's hand", scale=2),
                piece("unseen", COUNT, copies, "cards that the observer sees nowhere"),
                piece("discard", COUNT, copies, "cards in the discard"),
                piece("on_ladders", COUNT, copies, "cards on ladders"),
            )],
            table("lanes", NUM_LANES, [
                piece("depth", COUNT, cards, "cards in the lane of the observer", scale=10),
                piece("top", LABEL, NUM_TYPES, f"top card: {CARD_FIELD}"),
                piece("second", LABEL, NUM_TYPES, "the card below"),
                piece("third", LABEL, NUM_TYPES, "the third card from the top"),
            ]),
            *[table("ladders", MAX_LADDERS, [field]) for field in (
                piece("wild_at", NUMBER, (1 << last) - 1, "bit v is set if its card of value v is a hyperspeed card"),
                piece("height", COUNT, last,
                      "cards on the ladder, 0 for a free slot; among equal ladders the first row grows"),
            )],
            *derived("cards", NUM_TYPES,
                piece("missing", LABEL, last,
                      "cards that the nearest ladder still needs before this card can be played"),
                piece("waiting", COUNT, bottoms, "ladders that need this value next", scale=2),
                piece("below", LABEL, last, "how far it is below the observer's quest card; 0 if it is not below"),
                piece("room", LABEL, ON_NEXT,
                      "how well it fits the observer's best lane: 14 on the same or next value, 13 in an empty lane, "
                      "12..8 on a card 2..6 higher, 7 on a lower card, 6..1 on a card 7..12 higher, "
                      "0 on a hyperspeed card"),
                piece("chain", LABEL, NEXT,
                      "1 if it raises the ladder nearest to the observer's quest card; 2 if its value is on the chain; "
                      "3 if it is the chain's next value, or the hyperspeed card in hand that stands for it"),
            ),
            table("game", 1, [
                piece("chain", LABEL, LADDER_LENGTH,
                      "chain of own cards that makes a ladder ready for the observer's quest card: 0 if none is found "
                      "or needed, else 1 + the hyperspeed cards it takes; cards of the hand are used first, and only "
                      "the top three of a lane are looked at, so that a chain may be missed"),
                piece("turns_left", NUMBER, MAX_LIMIT, "turns until the game is cut off", scale=600),
                piece("plays_left", NUMBER, MAX_LIMIT, "plays until the game is cut off", scale=1000),
            ], derived=True),
            *derived("lanes", NUM_LANES,
                piece("next", FLAG, 1, "whether its top card is the chain's next"),
                piece("room", LABEL, ON_NEXT + 1,
                      "how well the announced card fits here: 0 if none is announced, else 1 + room"),
            ),
            *derived("players", MAX_PLAYERS,
                piece("missing", LABEL, last,
                      "cards that the nearest ladder still needs before the open quest card can be played"),
            ),
        ]
    )  # fmt: skip
