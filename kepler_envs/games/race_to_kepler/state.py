"""The whole state of a game of Race to Kepler, field by field.

Cards are interchangeable within a *kind*, so every zone is a row of counts by kind: 0 Iron, 1 Gold, 2 Mafia, 3-34 crew,
35-50 titans. Sets of kinds are bits of a 64-bit word. A field written "1 + x" is 0 where there is no x, so that nothing
is left over from what has ended.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from kepler_envs.engine.game import Reason
from kepler_envs.engine.overlay import overlay
from kepler_envs.engine.returns import WIN_OR_RANK

MIN_PLAYERS, MAX_PLAYERS = 2, 4

IRON, GOLD, MAFIA, FIRST_CREW, FIRST_TITAN = 0, 1, 2, 3, 35
NUM_CREW, NUM_TITANS = 32, 16
NUM_KINDS = FIRST_TITAN + NUM_TITANS
CLASSES = ("none", "resource", "mafia", "crew", "titan")
NO_CARD_GROUP, RESOURCE, MAFIA_GROUP, CREW, TITAN = range(5)
NUM_CITIES = 15
NUM_OPERATIONS = 4  # of a city, at most
NUM_TOKENS = 7  # encounter tokens on the track
MOST_SPACES = 100  # to Kepler
NUM_DEPARTMENTS = 4  # scientist, engineer, miner, smuggler; a card's department is 1 + this, or 0
NUM_OPTIONS = 4  # of a choice, at most

STACK = 8  # frames
KNOWN_TOP = 16  # cards a program may put on a deck
LOOK_ZONE = 5  # cards a program may look at
KNOWN_SLOTS = KNOWN_TOP + LOOK_ZONE  # cards that were looked at always go back
SHOWN_SLOTS = 8  # cards in a hand that everybody has seen and that are kept in mind
NEXT_CARDS = 5  # on top of a deck, which an observation has one by one
MOST_UNITS = 99  # energy, money, market actions, discount: more is lost
MOST_COUNTED = 1000  # cards ejected or discarded in a turn: no program asks whether there are more than MOST_UNITS
REWARD_MODES = WIN_OR_RANK  # names of the values of reward_mode


class Node(IntEnum):
    """What the deciding seat is asked for."""

    CITY = 0  # which of the cities dealt to keep
    ACTION = 1  # play a card, buy one, operate the city, or end the turn
    MOVE = 2  # a card that an effect moves
    CHOICE = 3  # one of an effect's alternatives
    REPLAY = 4  # a card whose play effect is repeated
    BID = 5  # a card to bid for a titan
    TITAN = 6  # the titan won
    OVER = 7


class Origin(IntEnum):
    """Where the program of a frame stands."""

    ON_PLAY = 0
    ON_DISCARD = 1
    ON_EJECT = 2
    TRAIT = 3
    OPERATION = 4  # + number of the operation


NUM_ORIGINS = int(Origin.OPERATION) + NUM_OPERATIONS


class EndReason(Reason):
    """Why a game ended."""

    RUNNING = 0
    KEPLER = 1  # a player arrived
    ROUNDS = 2  # the round cap


FRAME = np.dtype(
    [
        ("at", "<i2"),  # address of the instruction under way
        ("moved", "<i2"),  # cards moved by the last MOVE
        ("value", "<i2"),  # sum of the costs of those that everybody has seen
        ("value_before", "<i2"),  # the same of the MOVE before it
        ("kind", "<i2"),  # 1 + kind whose program it is; 0 for a city's
        ("own", "<i2"),  # in a trigger: 1 if the card left its owner's hand or discard pile
        ("in_move", "<i2"),  # 1 while the MOVE at ``at`` is under way
        ("looking", "<i2"),  # 1 if this frame opened the look zone
        ("origin", "<i2"),  # Origin
    ],
    align=True,
)

PLAYER = overlay(
    [
        # cards, as the player sees its own
        ("hand", "i1", (NUM_KINDS,)),
        ("deck", "i1", (NUM_KINDS,)),  # cards known to be on top included
        ("discard", "i1", (NUM_KINDS,)),
        ("play", "i1", (NUM_KINDS,)),  # in the play area; only of the active player
        ("bid", "i1", (NUM_KINDS,)),  # face down; only in encounters
        # what the others know of all that they do not see
        (
            "concealed",
            "i1",
            (NUM_KINDS,),
        ),  # hand, deck, bid and look zone together: every way in and out of it is public
        # what everybody sees
        ("open_city", "<i2"),  # 1 + city, once all have chosen
        ("present", "<i2"),  # 1 for seats in the game; everything else of an absent seat is 0
        ("parsecs", "<i2"),  # position on the track
        ("hand_size", "<i2"),
        ("deck_size", "<i2"),
        ("discard_size", "<i2"),
        ("play_size", "<i2"),
        ("turns", "<i2"),  # turns taken
        ("bid_size", "<i2"),
        ("bid_closed", "<i2"),  # 1 once the bid is complete
        ("bid_place", "<i2"),  # 1 + place in the order of bidding; 0 before the player bids
        ("known_size", "<i2"),  # cards on top of the deck that its owner knows
        ("average", "<i2"),  # worth of the player's cards, all zones together, divided by their number
        ("to_kepler", "<i2"),  # parsecs that are missing
        ("to_token", "<i2"),  # parsecs to the next encounter token, 0 for none
        # not observed in this form
        ("worth", "<i4"),  # of all the player's cards
        ("cards", "<i2"),  # how many
        ("offers", "<u2"),  # cities dealt, as bits; 0 once all have chosen
        ("known_open", "<u4"),  # places of ``known_kind`` where everybody saw the card put, as bits
        ("known_kind", "i1", (KNOWN_SLOTS,)),  # 1 + kind of the cards known on the deck, the top one last
        ("shown_kind", "i1", (SHOWN_SLOTS,)),  # 1 + kind of cards in hand, or bid from it, that everybody has seen
        ("shown_size", "i1"),
        ("city", "i1"),  # 1 + city, from its choice on
    ],
    own_row=("i1", 3 * NUM_KINDS),
    seat_row=("<i2", 12, "open_city"),
    derived_row=("<i2", 3, "average"),
)

STATE = overlay(
    [
        # the table
        ("supply", "i1", (NUM_KINDS,)),
        ("airlock", "i1", (NUM_KINDS,)),
        ("titan_row", "i1", (NUM_TITANS,)),  # 1 for each titan revealed
        ("crew_deck", "i1", (NUM_KINDS,)),
        ("titan_deck", "i1", (NUM_TITANS,)),
        # the turn of the active player
        ("energy", "<i2"),
        ("money", "<i2"),
        ("market", "<i2"),  # market actions left
        ("discount", "<i2"),
        ("ejected", "<i2"),  # cards, by effects, up to MOST_COUNTED; as the next one
        ("discarded", "<i2"),
        ("market_taken", "<i2"),
        ("gold_played", "<i2"),
        ("resource_played", "<i2"),
        ("crew_played", "<i2"),
        ("titan_played", "<i2"),
        ("ops_used", "<i2"),
        ("department", "<i2", (NUM_DEPARTMENTS,)),  # 1 for each department played
        ("all_ops", "<i2"),  # 1 once the trait for using all operations has fired this turn
        ("look_size", "<i2"),  # cards in the look zone
        ("depth", "<i2"),  # frames on the stack
        # the game
        ("race", "<i2"),  # 1 in the Race phase
        ("rounds", "<i2"),  # rounds complete
        ("chosen", "<i2"),  # players who have chosen a city
        ("gold_pile", "<i2"),
        ("crew_deck_size", "<i2"),
        ("titan_deck_size", "<i2"),
        ("token", "<i2", (NUM_TOKENS,)),  # 1 while it lies on the track
        ("crossed", "<i2", (NUM_TOKENS,)),  # 1 if the active player passed it this turn
        ("op_used", "<i2", (NUM_OPERATIONS,)),  # 1 for each operation used
        ("frame", FRAME, (STACK,)),
        # not observed in this form
        ("supply_size", "i1"),
        ("look", "i1", (NUM_KINDS,)),  # cards the active player looks at
        ("look_kind", "i1", (LOOK_ZONE,)),  # 1 + kind of each card in the look zone, the former top first
        ("active", "i1"),  # seat whose turn it is
        ("first", "i1"),  # seat of the first player
        ("last_bid", "i1"),  # 1 + highest kind in the bid under way
        ("last_bidder", "i1"),  # 1 + seat that bid before
        ("winner", "i1"),  # 1 + seat that arrived
        ("end_reason", "i1"),  # EndReason
        ("decisions_before", "<i4"),  # decisions before this turn or encounter
        # engine
        ("decisions", "<i4"),
        ("rng", "<u8"),
        ("node", "i1"),  # Node
        ("seat", "i1"),  # who decides
        ("num_players", "i1"),  # 2..4
        ("end", "i1"),  # RUNNING or TERMINATED
        # options that the rules need
        ("max_rounds", "<i2"),
        ("reward_mode", "i1"),  # place in REWARD_MODES
        ("shaping", "<f4"),  # coefficient of the shaping reward
        ("player", PLAYER, (MAX_PLAYERS,)),
    ],
    table_row=("i1", 2 * NUM_KINDS),
    game_row=("<i2", 12 + NUM_DEPARTMENTS + 3 + 6 + 2 * NUM_TOKENS, "energy"),
    frame_row=("<i2", STACK * FRAME.itemsize // 2, "frame"),
)

OPTIONS = np.dtype(
    [
        ("num_players", "i1"),
        ("max_rounds", "<i2"),
        ("reward_mode", "i1"),  # place in REWARD_MODES
        ("shaping", "<f4"),
    ],
    align=True,
)
