"""The whole state of a game of Kepler Run, field by field.

Places of the run: 0 is Port, 1..L are the sectors (place i is run index i - 1), L + 1 is Kepler. A *field* counts from
1, so that 0 can mean none: type field = sector type + 1, card field = card id + 1, and so on.

What every seat may see lies in rows (``game_row``, ``run_row``, ``PLAYER.public_row``, ...) that share their bytes with
the named fields beside them, in the order of the observation: rules write names, the observation copies rows.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from kepler_envs.engine.overlay import overlay
from kepler_envs.engine.returns import RANK_OR_WIN

MIN_PLAYERS, MAX_PLAYERS = 2, 5
MAX_ROUNDS = 3
MAX_CARDS = 40  # of any component file
ROW_SLOTS = 2 * MAX_PLAYERS + 1
RUN_SLOTS = 35  # sectors of any component file; the rulebook's longest run with five players
PART_SLOTS = 2 * MAX_ROUNDS  # two picks a round
DELIVERY_SLOTS = 2 * MAX_ROUNDS
MAX_FUEL = 10  # on a ship, with any component file
NUM_TYPES = 5
NUM_SHIPS = 5
ASTEROIDS, COMETS, STATIONS = 0, 1, 2
NUM_TRAITS = 3  # and contracts, one for each
RANDOM_FIRST_PLAYER = -1
REWARD_MODES = RANK_OR_WIN  # names of the values of reward_mode

# part fields: 1..5 bypass the type field of the same value
JUMP_PART, SLING_PART = NUM_TYPES + 1, NUM_TYPES + 2

# special actions of cards
NO_ACTION, REFUEL, REROUTE, OUTPOST = 0, 1, 2, 3
NUM_SPECIALS = 3

# where victory points come from: places in PLAYER.vp_from
SOURCES = ("discover", "part", "delivery", "kepler", "complete", "secondary", "stations", "closest")
BY_DISCOVER, BY_PART, BY_DELIVERY, BY_KEPLER, BY_COMPLETE, BY_SECONDARY, BY_STATIONS, BY_CLOSEST = range(len(SOURCES))


class Node(IntEnum):
    """What the deciding seat is asked for."""

    DRAFT = 0  # a card of the row and its use
    TARGET = 1  # the sector for the special action just played
    CONTRACT = 2  # the secret contract of the round
    LOAD = 3  # fuel to move from the ship to the tank
    FLY = 4  # the next move of the flight
    OVER = 5


SECTOR = overlay(
    [
        ("type", "i1"),  # type field; an unused sector is all 0
        ("cost", "i1"),  # fuel to leave it
        ("asteroids", "i1"),  # icons, 0..3
        ("comets", "i1"),
        ("stations", "i1"),
        ("disk", "i1"),  # 1 + seat whose disk lies here, 0 none
    ],
    icons=("i1", NUM_TRAITS, "asteroids"),
    entries=("i1", 6),
)

ROW_CARD = np.dtype(
    [
        ("type", "i1"),  # type field; an empty slot is all 0
        ("cost", "i1"),
        ("wrenches", "i1"),  # modules to install it
        ("part", "i1"),  # part field: 1..5 bypass, 6 JUMP, 7 SLING
        ("dots", "i1"),  # fuel to use the part
        ("asteroids", "i1"),
        ("comets", "i1"),
        ("stations", "i1"),
        ("action", "i1"),  # special action, 0 none
        ("vp", "i1"),  # for installing it
    ],
    align=True,
)

PART = np.dtype(
    [
        ("part", "i1"),  # part field, 0 for an empty slot
        ("dots", "i1"),
        ("used", "i1"),  # 1 once used in this flight
    ],
    align=True,
)

PLAYER = overlay(
    [
        ("present", "i1"),  # 1 for seats in the game; everything of an absent seat is 0
        ("order_position", "i1"),  # 0..4 in the order of the round
        ("vp", "i1"),  # 0..127
        ("modules", "i1"),  # 0..boxes
        ("fuel", "i1"),  # on the ship, 0..fuel_cap
        ("disks", "i1"),  # in supply
        ("built_in", "i1"),  # type field that this ship leaves free
        ("hand", "i1", (NUM_TRAITS,)),  # 1 for each contract not completed by this player
        ("place", "i1"),  # of the pawn: 0 Port, 1..L sectors, L + 1 Kepler
        ("tank", "i1"),  # fuel for this flight
        ("flown", "i1"),  # 1 once this round's flight is over
        ("committed", "i1"),  # 1 once this round's contract is chosen
        ("revealed", "i1"),  # 1 + contract of the last scoring, 0 before the first
        ("booster_used", "i1"),
        ("deliveries", "i1", (NUM_TYPES,)),  # how many to each sector type
        ("delivered", "i1", (NUM_TYPES,)),  # 1 once those of the type are made in this flight
        # where the flight of the round has ended or is, before it how far it could go with all fuel
        ("reach", "i1"),
        ("icons", "i1", (NUM_TRAITS,)),  # of each contract on the sectors from Port to there
        ("parts", PART, (PART_SLOTS,)),
        # hidden, or not in the observation, from here on
        ("contract", "i1"),  # 1 + contract chosen this round, 0 none; hidden until scoring
        ("ship", "i1"),  # colour of the ship
        ("part_count", "i1"),
        ("delivery_count", "i1"),
        ("part_card", "i1", (PART_SLOTS,)),  # card fields of the parts
        ("delivery_card", "i1", (DELIVERY_SLOTS,)),  # card fields of the deliveries
        ("vp_from", "i1", (len(SOURCES),)),  # vp by source
        ("vp_paid", "i1"),  # vp when the last round ended: what shaping has paid for
    ],
    public_row=("i1", 16 + 2 * NUM_TYPES),
    reach_row=("i1", 1 + NUM_TRAITS, "reach"),
    parts_row=("i1", 3 * PART_SLOTS, "parts"),
)

SECTOR_SIZE, ROW_CARD_SIZE = SECTOR.itemsize, ROW_CARD.itemsize

STATE = overlay(
    [
        # facts of the game as a whole, as in the observation
        ("node", "i1"),  # Node
        ("round_index", "i1"),  # 0..2; the last one when the game is over
        ("num_players", "i1"),  # 2..5
        ("draft_pos", "i1"),  # picks made this round, 0..2n; 2n until the next round
        ("run_length", "i1"),  # L, sectors in the run
        ("deck_count", "i1"),
        ("pending_action", "i1"),  # at TARGET: REROUTE or OUTPOST, else 0
        ("pending_type", "i1"),  # at TARGET: type field of the card played, which becomes a delivery
        ("arrivals", "i1"),  # at Kepler this round
        ("committed_count", "i1"),  # contracts chosen this round; n until the next round
        # the table, as in the observation
        ("run", SECTOR, (RUN_SLOTS,)),
        ("row", ROW_CARD, (ROW_SLOTS,)),
        ("unseen", "i1", (MAX_CARDS,)),  # [id]: 1 while the card is in the deck
        ("player", PLAYER, (MAX_PLAYERS,)),
        ("order", "i1", (MAX_PLAYERS,)),  # seats in turn order, -1 beyond n
        ("completed_by", "i1", (NUM_TRAITS,)),  # 1 + seat that completed the contract, 0 none
        ("leaving_cost", "i1"),  # fuel with which the flying player can leave its place, 0 outside flights
        # engine
        ("rng", "<u8"),
        ("decisions", "<i4"),
        ("seat", "i1"),  # the deciding player
        ("end", "i1"),  # RUNNING or TERMINATED
        # options that rules need
        ("reward_mode", "i1"),  # place in REWARD_MODES
        ("shaping", "<f4"),  # coefficient of the shaping reward
        # which cards they are, and sets kept for speed
        ("pending_card", "i1"),  # at TARGET: card field of the card played, else 0
        ("run_card", "i1", (RUN_SLOTS,)),  # card fields
        ("row_card", "i1", (ROW_SLOTS,)),  # card fields
        ("row_set", "<u2"),  # bit i: slot i of the row holds a card
        ("disk_set", "<u8"),  # bit i: a disk lies on run index i
        ("free_stations", "<u8"),  # bit i: run index i shows a station and has no disk
        # cards nobody sees in order
        ("deck", "i1", (MAX_CARDS,)),  # ids; the next card is the last of the first deck_count, those beyond are 0
    ],
    game_row=("i1", 10),
    run_row=("i1", SECTOR_SIZE * RUN_SLOTS, "run"),
    card_row=("i1", ROW_CARD_SIZE * ROW_SLOTS, "row"),
)

OPTIONS = np.dtype(
    [
        ("num_players", "i1"),
        ("first_player", "i1"),  # a seat, or RANDOM_FIRST_PLAYER
        ("seat_fuel", "i1"),  # 1: fuel at the start by position in the starting order
        ("reward_mode", "i1"),  # place in REWARD_MODES
        ("shaping", "<f4"),
    ],
    align=True,
)
