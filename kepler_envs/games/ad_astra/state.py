"""The whole state of a game of Ad Astra, field by field.

Resources: 0 water, 1 food, 2 energy, 3-5 the three ores. Planet types: 0-5 as the resources, 6 alien.
Systems: 0-7 the eight stars, 8 the Sun. A *position* is a place for a planet: ``7 * system + slot`` in the eight
    systems,
``56 + seat`` for the start planets. Sets of positions are bits of a 64-bit word, sets of cards bits of a 16-bit word.
A field written "1 + x" is 0 where there is no x, so that nothing is left over from what has ended.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from kepler_envs.engine.game import Reason
from kepler_envs.engine.overlay import overlay

MIN_PLAYERS, MAX_PLAYERS = 3, 5
NUM_RESOURCES = 6
FIRST_ORE = 3
NUM_TYPES = 7
ALIEN = 6
NUM_STARS = 8  # systems a starship can enter
SUN = 8
NUM_SYSTEMS = 9
SLOTS = 7  # places for planets in a system
FIRST_START = NUM_STARS * SLOTS  # position of seat 0's start planet
NUM_POSITIONS = FIRST_START + MAX_PLAYERS
NUM_SPACES = 15
NUM_FACTIONS = 5

NUM_CARDS = 11  # slots of a hand of action cards
FIRST_PRODUCTION, FIRST_MOVEMENT, BUILD_CARD, TRADE_CARD, FIRST_SCORING = 0, 3, 6, 7, 8
CARDS_OF_A_KIND = 3  # production, movement and scoring cards
SCORING_CARDS = 0b111 << FIRST_SCORING
ALL_CARDS = (1 << NUM_CARDS) - 1

NUM_ARTIFACTS = 11
REGULAR_ARTIFACTS = 9  # artifacts 9 and 10 are optional

MAX_PAWNS = 4  # of each kind and player
RESERVE, DEEP_SPACE = 0, NUM_POSITIONS + 1
"""Places of a starship besides ``1 + position``."""

STARSHIP, COLONY, FACTORY, TERRAFORMER = range(4)
NUM_PAWNS = 4
NUM_ITEMS = 8  # colony paying one of three ores, factory, terraformer, starship with one of three extra ores
ITEM_FACTORY, ITEM_TERRAFORMER, ITEM_STARSHIP = 3, 4, 5

COLONIES_FACTORIES, STARSHIPS, TERRAFORMERS, SYSTEMS, IDENTICAL, DIFFERENT = range(6)
NUM_ELEMENTS = 6

FACE_DOWN, FACE_UP = 1, 2
"""Values of ``planet_at``."""
EMPTY, CARD_DOWN, CARD_UP = 1, 2, 3
"""Values of ``on_space``."""

FREE_BUILDING, FREE_TERRAFORMER = 1, 2
"""Values of ``free``: what an artifact pays for."""

RANDOM = -1
"""In the options: this part of the setup is drawn."""


class Node(IntEnum):
    """What the deciding seat is asked for."""

    PLAN = 0  # place an action card face down
    PRODUCE = 1  # which of the card's two resources is produced
    MOVE = 2  # a starship and where it goes
    LAND = 3  # the planet it lands on
    BUILD = 4  # what to build
    BUILD_POS = 5  # where
    TRADE = 6  # bank, partner or the end of trading
    BANK_GET = 7  # what the bank gives
    OFFER_GIVE = 8  # what the owner of the card gives to the partner
    OFFER_GET = 9  # what the owner wants for it
    REPLY = 10  # the partner accepts or declines
    ELEMENT = 11  # which of the card's two elements is scored
    IDENT = 12  # the resource to discard cards of
    IDENT_COUNT = 13  # how many
    DIFF = 14  # which different resources to discard
    DISCARD = 15  # one card over the hand limit
    ART_RES = 16  # the resource that an artifact brings
    OVER = 17


class EndReason(Reason):
    """Why a game ended. If several reasons hold, it is the first."""

    RUNNING = 0
    POINTS = 1  # a player reached the points that end the game
    PLANETS = 2  # no planet is face down
    ROUNDS = 3  # the round cap


PLAYER = overlay(
    [
        # what everybody sees, as in the observation
        ("present", "<i2"),  # 1 for seats in the game; everything else of an absent seat is 0
        ("points", "<i2"),  # victory points; the loader sees to it that they fit
        ("hand", "<i2", (NUM_RESOURCES,)),  # resource cards of each type, 0..25
        ("hand_total", "<i2"),  # 0..150
        ("colonies_left", "<i2"),  # pawns in reserve, 0..4, as the next three
        ("factories_left", "<i2"),
        ("terraformers_left", "<i2"),
        ("starships_left", "<i2"),
        ("in_deep_space", "<i2"),  # starships there
        ("systems", "<i2"),  # systems with an own pawn, the Sun included
        ("artifact_count", "<i2"),  # artifacts held
        ("to_place", "<i2"),  # cards still to be placed this round
        ("set_aside", "<i2", (CARDS_OF_A_KIND,)),  # 1 for scoring cards beside the board
        ("discarded", "<i2"),  # what the discard on the card being resolved counts
        # what follows from it and is kept, as in the observation, too
        ("output", "<i2", (NUM_RESOURCES,)),  # cards that own pawns produce of each resource
        ("elements", "<i2", (NUM_ELEMENTS,)),  # points that each element would bring, without the bonus
        # hidden, or seen in another form, from here on
        ("colonies", "<u8"),  # positions with an own colony
        ("factories", "<u8"),
        ("terraformers", "<u8"),
        ("starships", "<u8"),  # positions with at least one own starship
        ("pawns", "<u8"),  # positions with any own pawn: the union of the four
        ("known", "<u8"),  # positions of face-down planets this seat has looked at: all of a system, or none
        ("cards", "<u2"),  # action cards in hand
        ("artifacts", "<u2"),  # artifacts held
        ("present_in", "<u2"),  # systems with an own pawn
        ("looked_at", "<u2"),  # systems with face-down planets this seat has looked at
        ("ship", "i1", (MAX_PAWNS,)),  # place of each starship: RESERVE, 1 + position, DEEP_SPACE
        ("faction", "i1"),  # 0..4
        # what all have seen of this round's planning: cards do not lie on spaces that were filled before they came back
        ("came_back", "i1"),  # bits of these scoring cards
        ("filled_before", "<u2"),  # spaces with own cards when an artifact brought scoring cards back
        # the board as this seat sees it: seats count from itself, rows are those of the observation
        ("owner_at", "i1", (NUM_POSITIONS,)),  # 1 + seat with pawns there
        ("type_at", "i1", (NUM_POSITIONS,)),  # 1 + planet type, of planets that are face up or looked at
        ("owner_on", "i1", (NUM_SPACES,)),  # 1 + seat whose card lies on a space
        ("card_on", "i1", (NUM_SPACES,)),  # 1 + card slot, of cards that are face up or its own
        ("space_of", "i1", (NUM_CARDS,)),  # 1 + space on which each own card lies
        ("unseen", "i1", (NUM_TYPES,)),  # planets of each type that it has not seen
    ],
    public_row=("<i2", 21),
    kept_row=("<i2", NUM_RESOURCES + NUM_ELEMENTS, "output"),
    positions_row=("i1", 2 * NUM_POSITIONS, "owner_at"),
    spaces_row=("i1", 2 * NUM_SPACES, "owner_on"),
)

STATE = overlay(
    [
        # the board
        ("planets", "<u8"),  # positions that have a planet
        ("face_up", "<u8"),
        ("of_type", "<u8", (NUM_TYPES,)),  # positions of each planet type, face-down ones included
        ("occupied", "<u8"),  # positions with any pawn
        # engine
        ("rng", "<u8"),
        ("decisions", "<i4"),
        ("shaping", "<f4"),  # an option that the rules need: coefficient of the shaping reward
        ("artifacts_used", "<u2"),
        ("empty_spaces", "<u2"),  # spaces waiting for a card while players plan
        # the game and the card being resolved, as in the observation; all 0 of the card when there is none
        ("num_players", "i1"),  # 3..5
        ("max_rounds", "i1"),  # an option, 1..20
        ("max_offers", "i1"),  # an option: offers to other players on one trade card
        ("max_bank_trades", "i1"),  # an option: trades with the bank on one trade card
        ("round_number", "i1"),  # 1..20
        ("end_reason", "i1"),  # EndReason
        ("deck_count", "i1"),  # artifacts in the deck
        ("slot", "i1"),  # 1 + card slot
        ("step", "i1"),  # players who had their part, 0..5
        ("gate", "i1"),  # 1: the next move may enter any system at no cost
        ("free", "i1"),  # FREE_BUILDING, FREE_TERRAFORMER: the next item costs nothing; else 0
        ("thesaurus", "i1"),  # 1: the next discard counts more cards
        ("chosen_system", "i1"),  # at LAND: 1 + system
        ("give_type", "i1"),  # 1 + resource given (BANK_GET, OFFER_GET, REPLY) or discarded (IDENT_COUNT)
        ("give_count", "i1"),
        ("get_type", "i1"),  # at REPLY: 1 + resource wanted
        ("get_count", "i1"),
        ("offers", "i1"),  # offers made on this card
        ("bank_trades", "i1"),  # trades with the bank on this card
        # the same in another form
        ("node", "i1"),  # Node
        ("seat", "i1"),  # who decides
        ("end", "i1"),  # RUNNING or TERMINATED
        ("first", "i1"),  # seat of the first player
        ("revealed", "i1"),  # spaces turned up, 0..15: always the first ones
        ("owner", "i1"),  # seat that owns the card being resolved
        ("moved", "i1"),  # bit i: starship i of the deciding seat has moved on this card
        ("owner_moved", "i1"),  # the same of the owner, kept while others move; 0 once it moves again
        ("return_node", "i1"),  # at ART_RES: the node it came from
        ("chosen_ship", "i1"),  # at LAND: 1 + starship
        ("chosen_item", "i1"),  # at BUILD_POS: 1 + item
        ("partner", "i1"),  # at OFFER_GIVE, OFFER_GET, REPLY: 1 + seat
        ("element", "i1"),  # 1 + element chosen for scoring
        ("space_owner", "i1", (NUM_SPACES,)),  # 1 + seat
        ("space_card", "i1", (NUM_SPACES,)),  # 1 + card slot
        ("deck", "i1", (NUM_ARTIFACTS,)),  # artifacts, top at deck_count - 1
        ("bank", "i1", (NUM_RESOURCES,)),  # cards of each type, 0..25
        # what lies on the board, position by position and space by space, as in the observation
        ("planet_at", "i1", (NUM_POSITIONS,)),  # FACE_DOWN, FACE_UP; 0 without a planet
        ("starships_at", "i1", (NUM_POSITIONS,)),  # how many
        ("building_at", "i1", (NUM_POSITIONS,)),  # COLONY, FACTORY; 0 for none
        ("terraformer_at", "i1", (NUM_POSITIONS,)),  # 1 for one
        ("face_down_in", "i1", (NUM_SYSTEMS,)),  # face-down planets of each system
        ("on_space", "i1", (NUM_SPACES,)),  # EMPTY, CARD_DOWN, CARD_UP; 0 for a space not in use
        ("player", PLAYER, (MAX_PLAYERS,)),
    ],
    game_row=("i1", 19, "num_players"),
    positions_row=("i1", 4 * NUM_POSITIONS, "planet_at"),
)

OPTIONS = np.dtype(
    [
        ("num_players", "i1"),
        ("artifacts", "i1"),  # number of artifact cards: 0, 9 or 11
        ("even_layout", "i1"),  # 1: planets spread evenly, 0: at random
        ("max_rounds", "i1"),
        ("max_offers", "i1"),
        ("max_bank_trades", "i1"),
        ("shaping", "<f4"),
        # parts of the setup that are fixed; RANDOM where they are drawn
        ("first", "i1"),  # seat
        ("faction", "i1", (MAX_PLAYERS,)),
        (
            "planet",
            "i1",
            (NUM_POSITIONS,),
        ),  # type of the planet at each position; RANDOM: none, and no planet at all if all are
        ("deck", "i1", (NUM_ARTIFACTS,)),  # artifacts from the top of the deck down
    ],
    align=True,
)
