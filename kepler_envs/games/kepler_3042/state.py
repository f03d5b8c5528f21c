"""The whole state of a game of Kepler-3042, field by field.

Resources ("cubes"): 0 energy, 1 matter, 2 antimatter. A cube of a player lies in his storage, in his Clausius pit, on
his Earth card or on one of his planet cards. *Slot* 0 is Earth, slots 1..5 are the colonies in the order of
colonisation. Technologies: 0 I Space Travels, 1 II Quantum Physics, 2 III Energy Development, 3 IV Terraforming, 4 V
Antimatter Science. Tracks: 0 colonial, 1 technological. A hex is ``22 * row + column``; sets of hexes are seven 64-bit
words (hexes.py). A field written "1 + x" is 0 where there is no x, so that nothing is left over from what has ended.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from kepler_envs.engine.overlay import overlay
from kepler_envs.games.kepler_3042.hexes import NUM_HEXES, WORDS

MIN_PLAYERS, MAX_PLAYERS = 1, 4
GHOST = 1  # row of the ghost in the table of players of the solo game
ROUNDS = 16

NUM_RESOURCES = 3
ENERGY, MATTER, ANTIMATTER = range(NUM_RESOURCES)
REGENERATION = 2  # third kind of a reward, after producing energy and matter
REWARD_KINDS = 4  # none, and these

NUM_SLOTS, EARTH = 6, 0
MAX_COLONIES = NUM_SLOTS - 1
MAX_SHIPS = 3

NUM_PLANETS = 28
MINE, TARGET = NUM_PLANETS + 1, NUM_PLANETS + 2
"""Bodies of a hex besides the planets' numbers 1..28."""

NUM_TYPES = 5
OCEANIC, ROCKY, SUPER_EARTH, GAS_GIANT, ALIEN = range(NUM_TYPES)
NUM_ZONES = 3
SHORT, MID, LONG = range(NUM_ZONES)

NUM_TECHS = 5
SPACE_TRAVELS, QUANTUM_PHYSICS, ENERGY_DEVELOPMENT, TERRAFORMING, ANTIMATTER_SCIENCE = range(NUM_TECHS)
MAX_LEVEL = 4

COLONIAL, TECHNOLOGICAL = 0, 1
NUM_TRACKS = 2
TRACK_END = 20
NUM_MEDALS = 5  # on each track at the start

LINES = 3  # rows of main actions, and columns
NUM_MAIN = LINES**2
(
    SPACE_MISSIONS, COLONY_SEEDING, TECHNOLOGICAL_DEVELOPMENT, STELLAR_PROPULSION, TERRAFORM, GALACTIC_MAPPING,
    ENERGY_STORAGE,
    PLANETARY_EXPLOITATION, ANTIMATTER_GENERATION,
) = range(NUM_MAIN)  # fmt: skip
NUM_BONUS = 6
SPACE_LOGISTICS, EVOLUTION_OF_TECHNOLOGY, SCIENTIFIC_PROGRESS, CIVIL_MODERNITY, EXPLORATORY_PLANNING, NEO = range(
    NUM_BONUS
)

NUM_TERMS = 10  # of the final score
NUM_CARDS = 18
NUM_OBJECTIVES = 17
NUM_CAMPAIGNS, NUM_LEVELS = 5, 4
MAX_SPEED = 6
MAX_CONVERSIONS = 14  # a turn: all cubes of energy and matter; more never helps
MAX_ALLOCATIONS = 4
MOST_LEADERSHIP = 3  # spaces gained at once
MOST_REWARDS = MOST_LEADERSHIP * (1 + (MAX_PLAYERS - 1) * (MAX_LEVEL - 1))
"""That can wait at the same time, with an icon on every space: a level's leadership, and that of all levels the others
catch up."""
REWARD_SLOTS = 48
assert MOST_REWARDS <= REWARD_SLOTS

BY_MISSION, BY_LOGISTICS, BY_CARD = 0, 1, 3
"""Why a starship is placed: ``source`` at PLACE."""
BY_PROPULSION, BY_PLANNING, BY_TURN = 0, 1, 2
"""Why starships move: ``source`` at MOVEMENT, MOVER and GOING_ON, or BY_CARD."""


class Node(IntEnum):
    """What the deciding seat is asked for.

    The comments begin with the name in the specification where that is another one.
    """

    FIRST_TECHNOLOGY = 0  # SETUP_TECH: a first technology
    SOLO_BONUS = 1  # the kind of a bonus cube
    MAIN_ACTION = 2  # MAIN: the main action
    SPACE_MISSIONS = 3  # SM: the card that pays for a starship
    PLACE = 4  # where a new starship stands
    COLONY_SEEDING = 5  # CS: the starship that becomes a colony
    TECHNOLOGICAL_DEVELOPMENT = 6  # TD: what to advance
    DEVELOPMENT_PAYMENT = 7  # TD_PAY: which card pays
    MOVEMENT = 8  # MV: where a starship moves, or which is withdrawn without a further move
    MOVER = 9  # which of several starships goes there
    GOING_ON = 10  # after a colonial target: where the starship goes on to
    TERRAFORMING = 11  # TF: the planet to terraform
    MAPPING_TRACK = 12  # GM_TRACK: Galactic Mapping: the track to advance on
    MAPPING_TILE = 13  # GM_FLIP: the tile to turn up
    ENERGY_STORAGE = 14  # ES: the card that gets the energy
    PLANETARY_EXPLOITATION = 15  # PE: the planet that produces
    ANTIMATTER_GENERATION = 16  # AG: the card that gets the antimatter
    BONUS_ACTION = 17  # BON_SEL: a bonus action
    BONUS_BURN = 18  # BON_BURN: the cube that is burned for it
    BONUS_ANTIMATTER = 19  # BON_ANTI: the card that gets the antimatter
    WITHDRAWAL = 20  # WD: a starship to withdraw
    END_OF_TURN = 21  # ENDT: the end of the turn
    CARD_TECHNOLOGY = 22  # PC_TECH: progress cards: the technology to advance for free
    CARD_BURN = 23  # PC_BURN: the cube that is burned for it
    CARD_PRODUCTION = 24  # PC_PROD: the card that produces
    CARD_EXPLOITATION = 25  # PC_EXPL: the planet that produces
    CARD_TILE = 26  # PC_FLIP: the tile to turn up
    CARD_REGENERATION = 27  # PC_REGEN: the cube that comes back from the pit
    REWARD_REGENERATION = 28  # P_REGEN: a track's icon: the cube that comes back
    REWARD_PRODUCTION = 29  # P_PROD: the card that produces
    OVER = 30


def node_set(*nodes: Node) -> np.uint64:
    """Nodes as the bits of a word."""
    return np.uint64(sum(1 << node for node in nodes))


NEXT_BENEFICIARY = len(Node)
"""``flow`` while rewards are handed out between two seats that the progress card is for."""
TURN_OVER = NEXT_BENEFICIARY + 1
"""``flow`` once a seat has declined all that its turn still offers."""


class Phase(IntEnum):
    """Where a round stands."""

    SETUP = 0
    TURNS = 1  # phase 2 of the round
    CLEANUP = 2  # phase 3: the progress card
    OVER = 3


class Who(IntEnum):
    """Who benefits from a progress card; ties are shared."""

    ALL = 0
    FEWEST_COLONIES = 1
    HIGHEST_COLONIAL = 2
    LOWEST_COLONIAL = 3
    HIGHEST_TECHNOLOGICAL = 4
    LOWEST_TECHNOLOGICAL = 5
    HIGHEST_TECH = 6  # level of the technology that the card names
    LOWEST_TECH = 7


class What(IntEnum):
    """What a progress card brings."""

    FREE_TECH = 0
    SHIP = 1
    TRACK = 2
    REGENERATE = 3
    PRODUCE = 4
    MOVE = 5
    FLIP = 6
    EXPLOIT = 7


class Requirement(IntEnum):
    """What an objective asks for; ``subject`` and ``count`` of its row say of what and how much."""

    TERRAFORMED_TYPE = 0
    TERRAFORMED_ZONE = 1
    COLONISED_ZONE = 2
    COLONISED_EACH_ZONE = 3
    COLONISED_TYPE = 4
    COLONISED_TYPES = 5
    COLONISED_TOTAL = 6
    TERRAFORMED_TOTAL = 7
    TERRAFORMED_SAME_TYPE = 8
    TECHS_AT_LEVEL = 9
    ANTIMATTER_ON_PLANETS = 10
    TRACK = 11


WHO = {who.name.lower(): who for who in Who}
WHAT = {what.name.lower(): what for what in What}
"""As a component file writes them."""


PLAYER = overlay(
    [
        # what everybody sees, in the order of the observation
        ("present", "i1"),  # 1 for seats in the game and the ghost; everything else of an absent seat is 0
        ("ghost", "i1"),
        ("storage", "i1", (NUM_RESOURCES,)),  # 0..21
        ("pit", "i1", (NUM_RESOURCES,)),  # 0..21
        ("cubes", "i1", (NUM_SLOTS, NUM_RESOURCES)),  # on the card of each slot, 0..21
        ("tech", "i1", (NUM_TECHS,)),  # levels 0..4
        ("track", "i1", (NUM_TRACKS,)),  # spaces 0..20
        ("medals", "i1", (NUM_TRACKS,)),  # 0..5 of each colour
        ("action_cube", "i1"),  # main action it lies on, 0..8
        ("ships_in_supply", "i1"),  # 0..3, as the next three; counts of ``ship``
        ("ships_in_space", "i1"),
        ("ships_on_planets", "i1"),
        ("ships_on_mines", "i1"),
        ("colonies", "i1"),  # 0..5
        ("terraformed", "i1"),  # of them
        ("colonies_of_type", "i1", (NUM_TYPES,)),
        ("colonies_in_zone", "i1", (NUM_ZONES,)),
        # the rest
        ("total", "i1", (NUM_RESOURCES,)),  # all cubes of the player
        ("slot", "i1", (NUM_SLOTS,)),  # planet number of each colony; 0 none, and for Earth
        ("ship", "<i2", (MAX_SHIPS,)),  # 1 + hex; 0 in supply
        ("objectives", "<u4"),  # bit k: objective 1 + k is required of this player
        ("objectives_done", "i1"),  # 1 if all of them are satisfied; 0 until the game is over
        ("score_sheet", "<i2", (NUM_TERMS,)),  # the terms of the final score; 0 until the game is over
    ],
    belongings_row=("i1", 8),  # present .. pit
    progress_row=("i1", 10, "tech"),  # tech .. action_cube
    counts_row=("i1", 14, "ships_in_supply"),  # ships_in_supply .. colonies_in_zone
)

STATE = np.dtype(
    [
        # the map
        ("bodies", "<u8", (WORDS,)),  # hexes with a celestial body
        ("face_up", "<u8", (WORDS,)),  # of them, those turned up
        ("colonised", "<u8", (WORDS,)),  # hexes of planets with an owner
        ("ships", "<u8", (WORDS,)),  # hexes with a starship
        # engine
        ("rng", "<u8"),
        ("decisions", "<i4"),
        ("node", "i1"),  # Node
        ("seat", "i1"),  # who decides
        ("num_players", "i1"),  # 1..4
        ("end", "i1"),  # RUNNING or TERMINATED
        # options that the rules need
        ("win_loss", "i1"),  # 1: returns by winning alone
        ("advanced", "i1"),  # 1: the advanced set of objectives
        ("campaign", "i1"),  # solo: 1 + campaign
        ("level", "i1"),  # solo: level of the campaign, 1..4
        ("bonus_cubes", "i1"),  # solo: cubes carried over from the level before, 0..14
        ("tile_group", "i1"),  # planets whose min_players is at most this are in play, 1..4
        ("shaping", "<f4"),  # coefficient of the shaping reward
        # planets
        ("body", "i1", (NUM_HEXES,)),  # 0 none, 1..28 planet, MINE, TARGET
        ("planet_hex", "<i2", (NUM_PLANETS + 1,)),  # by number: 1 + hex
        ("planet_owner", "i1", (NUM_PLANETS + 1,)),  # by number: 1 + seat
        ("planet_terraformed", "i1", (NUM_PLANETS + 1,)),  # by number
        # cards and medals
        ("deck", "i1", (ROUNDS,)),  # progress cards 1..18 by round
        ("track_medals", "i1", (NUM_TRACKS, NUM_MEDALS)),  # 1 while the medal lies on its space
        ("card_medals", "i1", (NUM_TRACKS,)),  # on the current card, 0..5
        # the round
        ("round_number", "i1"),  # 0 during setup, then 1..16
        ("phase", "i1"),  # Phase
        ("first", "i1"),  # seat of the first player
        ("turn_index", "i1"),  # turns done this round (setup: seats done)
        ("active", "i1"),  # seat whose setup, turn or card it is
        ("flow", "i1"),  # the node of that seat, or NEXT_BENEFICIARY; ``node`` differs while a reward is handed out
        ("beneficiaries", "i1"),  # seats (bits) that the card still waits for, the active one not included
        ("pending", "i1"),  # rewards waiting, 0..MOST_REWARDS: the first ones of the next field
        ("rewards", "i1", (REWARD_SLOTS,)),  # REWARD_KINDS * seat + kind; 1 energy, 2 matter, 3 regeneration
        # the turn; all 0 outside of it
        ("conversions", "i1"),  # left this turn, 0..14
        ("allocations", "i1"),  # left this turn, 0..4
        ("bonus_used", "i1"),  # bits of the bonus actions done this turn
        ("second_free", "i1"),  # 1: the next bonus action burns nothing
        ("bonus", "i1"),  # at BONUS_BURN: 1 + bonus action
        # the action; 0 where it has no meaning
        ("left", "i1"),  # how often it can be repeated (starships, tiles, planets, cubes)
        ("exploited", "i1"),  # bits of the slots that have produced in this action
        ("technology", "i1"),  # at DEVELOPMENT_PAYMENT, CARD_BURN: 1 + technology
        ("source", "i1"),  # at PLACE, MOVEMENT, MOVER, GOING_ON: see BY_MISSION, BY_PROPULSION
        ("place_slot", "i1"),  # at PLACE: 1 + slot of the card that paid; 0 next to any own planet
        ("speed", "i1"),  # at MOVEMENT, MOVER, GOING_ON: spaces of each starship
        ("moved", "i1"),  # bits of the starships that have moved
        ("goal", "<i2"),  # at MOVER: 1 + hex
        ("moving", "i1"),  # at GOING_ON: 1 + starship
        ("points", "i1"),  # at GOING_ON: spaces it has left
        ("player", PLAYER, (MAX_PLAYERS,)),
    ],
    align=True,
)

OPTIONS = np.dtype(
    [
        ("num_players", "i1"),
        ("advanced", "i1"),
        ("win_loss", "i1"),
        ("campaign", "i1"),  # 1 + campaign, 0 unless solo
        ("level", "i1"),
        ("bonus", "i1"),  # bonus cubes to place, 0..14
        ("tile_group", "i1"),
        ("shaping", "<f4"),
    ],
    align=True,
)
