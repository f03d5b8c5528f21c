"""The whole state of a game of Kitten Adventurers, field by field.

Card types: 0 wormhole, 1-11 planets of that class, 12 final frontier, 13 hyperspeed (wild). Which of several
equal cards is meant never matters, so cards are kept as types. A *card field* is ``type + 1``, 0 = none.

What every seat may see lies in rows (``globals_row``, ``piles_row``, ``PLAYER.public_row``, ...) that share their bytes
with the named fields beside them, in the order of the observation: rules write names, the observation copies rows.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from kepler_envs.engine.game import Reason
from kepler_envs.engine.overlay import overlay
from kepler_envs.engine.returns import WIN_OR_RANK

MIN_PLAYERS, MAX_PLAYERS = 2, 8
NUM_TYPES = 14
WORMHOLE, FINAL_FRONTIER, HYPERSPEED = 0, 12, 13
LADDER_LENGTH = 13  # values 0..12
NUM_LANES = 4
SHOWN = 3  # lane cards that have a field of their own; those below are buried
MAX_CARDS = 120  # of any component file; the rulebook's has 110
FEW_BURIED = 59
"""So many buried cards are mostly all there are: they are copied without looking at the places for more."""
MAX_LADDERS = 16  # wormholes and hyperspeeds of any component file; the rulebook's has 14

COLUMN = 16
"""A number of each card type, NUM_TYPES of them, is copied in a run that a register holds; what comes after writes over
the rest."""

RANDOM_FIRST_PLAYER = -1
REWARD_MODES = WIN_OR_RANK  # names of the values of reward_mode


class Node(IntEnum):
    """What the deciding seat is asked for."""

    PLAY = 0  # play a card or end the turn
    VALUE = 1  # the value of the hyperspeed card just played
    LANE = 2  # the lane for the card that ends the turn
    OVER = 3


class EndReason(Reason):
    """Why a game ended."""

    RUNNING = 0
    WIN = 1  # a quest pile is empty
    STALEMATE = 2  # as many dead turns in a row as there are players
    LIMIT = 3  # of turns or of cards played


LANE = np.dtype(
    [
        ("depth", "i1"),  # cards in the lane, 0..108
        ("top", "i1"),  # card field
        ("second", "i1"),  # card field below the top
        ("third", "i1"),
    ],
    align=True,
)

PLAYER = overlay(
    [
        # hidden
        ("hand", "i1", (NUM_TYPES,)),  # cards of each type in the hand
        ("hand_set", "<u2"),  # bit t: the hand holds type t
        # as in the observation
        ("present", "i1"),  # 1 for seats in the game; everything else of an absent seat is 0
        ("quest_count", "i1"),  # cards left in the quest pile
        ("quest_top", "i1"),  # card field of the open quest card
        ("hand_count", "i1"),
        ("lane", LANE, (NUM_LANES,)),
        # kept for speed, or for the infos
        ("lane_set", "<u2", (NUM_LANES,)),  # what a chain can use of its top three cards: see _note_shown
        ("plays", "<i4"),  # cards this seat played on ladders in the whole game
    ],
    public_row=("i1", 4 + 4 * NUM_LANES, "present"),
    lane_words=("<i4", NUM_LANES, "lane"),
    lane_set_pairs=("<u4", NUM_LANES // 2, "lane_set"),
    lanes_row=("i1", 4 * NUM_LANES, "lane"),
    hand_row=("i1", COLUMN, "hand"),
)

STATE = overlay(
    [
        # globals, as in the observation
        ("node", "<i2"),  # Node
        ("num_players", "<i2"),  # 2..8
        ("hand_size", "<i2"),  # cards a hand is refilled to
        ("quest_size", "<i2"),  # cards dealt to each quest pile
        ("max_turns", "<i2"),
        ("max_plays", "<i2"),
        ("reward_mode", "<i2"),  # place in REWARD_MODES
        ("deck_count", "<i2"),
        ("discard_count", "<i2"),
        ("turns", "<i2"),  # turns ended
        ("plays", "<i2"),  # cards played on ladders in the whole game
        ("dead_turns", "<i2"),  # passes without a play in a row
        ("pending_source", "<i2"),  # at VALUE: 1 + id of the play that announced the hyperspeed, else 0
        ("pending_card", "<i2"),  # at LANE: card field of the hand card announced, else 0
        ("active_distance", "<i2"),  # always 0: seen from the active seat, the active seat is itself
        ("played_this_turn", "<i2"),
        ("quests_this_turn", "<i2"),  # own quest cards played this turn
        # ladders by slot, as in the observation
        ("wild_at", "<i2", (MAX_LADDERS,)),  # bit v: position v of ladder i is a hyperspeed card
        ("ladder_height", "i1", (MAX_LADDERS,)),  # cards on ladder i, 0 for a free slot
        # piles, as in the observation
        ("discard", "i1", (NUM_TYPES,)),  # cards of each type in the discard
        ("on_ladders", "i1", (NUM_TYPES,)),  # cards of each type on ladders
        # what ladders wait for, as in the observation; both 0 for hyperspeed cards
        ("no_card", "i1"),  # always 0: what no card lacks
        ("missing", "i1", (NUM_TYPES,)),  # cards that the nearest ladder lacks before value v can be played
        ("waiting", "i1", (NUM_TYPES,)),  # ladders of height v; 0 for value 0, which any free slot takes
        ("unseen", "i1", (NUM_TYPES,)),  # cards of each type in deck, hands and covered quest cards
        # engine
        ("seat", "i1"),  # the active player
        ("end", "i1"),  # RUNNING, TERMINATED or TRUNCATED
        ("rng", "<u8"),
        ("quest_missing", "i1", (MAX_PLAYERS,)),  # ``missing`` of each seat's open quest card
        ("buried_to", "i1", (MAX_PLAYERS,)),  # where the buried cards of each seat end
        ("decisions", "<i4"),
        ("shaping", "<f4"),  # coefficient of the shaping reward
        # ladders: slot i in slots_at[h] means that ladder i has height h; slots_at[0] are the free slots
        ("fits", "<u2"),  # bit v: value v can be played; bit 0 always
        ("slots_at", "<u2", (LADDER_LENGTH,)),
        ("player", PLAYER, (MAX_PLAYERS,)),
        # cards nobody sees in order
        ("deck_begin", "i1", (MAX_CARDS - FEW_BURIED,)),  # two parts of ``deck``
        ("deck_end", "i1", (FEW_BURIED,)),
        # lane cards below the third of their lane, as card fields: seat by seat, lane by lane, from the top down; then
        # 0
        ("buried_begin", "i1", (FEW_BURIED,)),  # parts of ``buried``
        ("buried_more", "i1", (FEW_BURIED,)),
        ("buried_end", "i1", (MAX_CARDS - 2 * FEW_BURIED,)),
        ("quest_pile", "i1", (MAX_CARDS,)),  # types; seat p's pile starts at p * quest_size, top at its end
    ],
    globals_row=("<i2", 17),
    piles_row=("i1", 2 * NUM_TYPES, "discard"),
    needs_row=("i1", 2 * NUM_TYPES, "missing"),
    missing_by_field=("i1", 1 + NUM_TYPES, "no_card"),
    unseen_row=("i1", COLUMN, "unseen"),
    quest_missing_room=("i1", 3 * MAX_PLAYERS, "rng"),  # as buried_room
    buried_ends=("<i8", 1, "buried_to"),
    deck=("i1", MAX_CARDS, "deck_begin"),  # a bag: draws take a random one of the first deck_count types
    buried=("i1", MAX_CARDS, "buried_begin"),
    few_buried_room=("i1", 3 * FEW_BURIED, "deck_end"),
    buried_room=("i1", 3 * MAX_CARDS, "deck_begin"),  # with what lies on either side: see write_turned
)

OPTIONS = np.dtype(
    [
        ("num_players", "i1"),
        ("hand_size", "i1"),
        ("quest_size", "i1"),
        ("first_player", "i1"),  # a seat, or RANDOM_FIRST_PLAYER
        ("reward_mode", "i1"),  # place in REWARD_MODES
        ("max_turns", "<i2"),
        ("max_plays", "<i2"),
        ("shaping", "<f4"),
    ],
    align=True,
)
