"""What a seat sees, and redrawing what it cannot know."""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs.engine.bits import bit, lowest, without_lowest
from kepler_envs.engine.game import RUNNING
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.observation import CATEGORY, COUNT, FLAG, ONE_HOT, PLANE, Layout, piece, table
from kepler_envs.engine.rng import fork
from kepler_envs.engine.simd import expand_bits, write_row
from kepler_envs.games.kepler_3042.hexes import HEIGHT, NUM_HEXES, WIDTH, WORDS, includes
from kepler_envs.games.kepler_3042.rules_board import colonies, own_turn, planet_at, reward_kind, seat_after
from kepler_envs.games.kepler_3042.rules_movement import home, mover_hex
from kepler_envs.games.kepler_3042.rules_scoring import public_points, satisfied_objectives
from kepler_envs.games.kepler_3042.setup import objectives_of_set, random_member, tile_kind, usable_cards
from kepler_envs.games.kepler_3042.state import (
    BY_MISSION,
    GHOST,
    MAX_ALLOCATIONS,
    MAX_COLONIES,
    MAX_CONVERSIONS,
    MAX_LEVEL,
    MAX_PLAYERS,
    MAX_SHIPS,
    MAX_SPEED,
    MINE,
    NUM_BONUS,
    NUM_CAMPAIGNS,
    NUM_CARDS,
    NUM_LEVELS,
    NUM_MAIN,
    NUM_MEDALS,
    NUM_OBJECTIVES,
    NUM_PLANETS,
    NUM_RESOURCES,
    NUM_TECHS,
    NUM_TRACKS,
    NUM_TYPES,
    NUM_ZONES,
    PLAYER,
    ROUNDS,
    TRACK_END,
    Node,
    Phase,
)

CUBES = (21, 21, 6)  # most cubes of each kind that a player can have anywhere
MOST_CUBES = max(CUBES)
MOST_VP = 200
BOARD = (HEIGHT, WIDTH)

LAYOUT = Layout(
    [
        piece("hex.terrain", PLANE, 3, "0 space, 1 star, 2 Sol, 3 Sagittarius A*", shape=BOARD),
        piece("hex.star_kind", PLANE, 3, "1 single, 2 binary, 3 trinary star", shape=BOARD),
        piece("hex.zone", PLANE, 2, "0 short, 1 mid, 2 long", shape=BOARD),
        piece("hex.star_in_play", PLANE, 1, "a star with this number of players in play", shape=BOARD),
        piece("hex.body", PLANE, 4, "1 face-down tile, 2 planet, 3 mine, 4 colonial target", shape=BOARD),
        piece("hex.planet", PLANE, NUM_PLANETS, "number of a face-up planet", shape=BOARD),
        piece("hex.planet_owner", PLANE, MAX_PLAYERS, "1 + relative seat that owns it", shape=BOARD),
        piece("hex.terraformed", PLANE, 1, "a terraformed planet", shape=BOARD),
        piece("hex.ship_owner", PLANE, MAX_PLAYERS, "1 + relative seat with a starship there", shape=BOARD),
        piece("hex.own_ship", PLANE, MAX_SHIPS, "1 + number of an own starship", shape=BOARD),
        piece("hex.focus", PLANE, 1, "at DESTINATION the starship that moves, at PLACE (Space Missions) the planet or Sol", shape=BOARD),
        piece("hex.sol_distance", PLANE, 31, "distance from Sol", shape=BOARD, scale=15),
        table(
            "planets",
            NUM_PLANETS,
            [
                piece("in_play", FLAG, 1, "its tile is used; row number - 1"),
                piece("status", CATEGORY, 4, "0 face down or absent, 1 revealed, 2 starship on it, 3 colonised, 4 terraformed"),
                piece("owner", CATEGORY, MAX_PLAYERS, "1 + relative seat"),
                piece("zone", CATEGORY, NUM_ZONES, "1 + zone, if revealed"),
                piece("cubes", COUNT, MOST_CUBES, "energy, matter, antimatter on its card", shape=NUM_RESOURCES, scale=5),
                piece("slot", CATEGORY, MAX_COLONIES, "number among its owner's colonies"),
            ],
        ),
        table(
            "players",
            MAX_PLAYERS,
            [
                piece("present", FLAG, 1, "1 for players and the ghost; row 0 is the observer, then clockwise"),
                piece("ghost", FLAG, 1, "the ghost of the solo game"),
                piece("storage", COUNT, MOST_CUBES, "energy, matter, antimatter in storage", shape=NUM_RESOURCES, scale=7),
                piece("pit", COUNT, MOST_CUBES, "in the Clausius pit", shape=NUM_RESOURCES, scale=7),
                piece("earth", COUNT, MOST_CUBES, "on Earth", shape=NUM_RESOURCES, scale=7),
                piece("on_colonies", COUNT, MOST_CUBES, "on the planet cards", shape=NUM_RESOURCES, scale=7),
                piece("tech", COUNT, MAX_LEVEL, "levels of the technologies I to V", shape=NUM_TECHS),
                piece("track", COUNT, TRACK_END, "space on the colonial and the technological track", shape=NUM_TRACKS),
                piece("medals", COUNT, NUM_MEDALS, "medals of both colours", shape=NUM_TRACKS),
                piece("ships_in_supply", COUNT, MAX_SHIPS, "starships not in play"),
                piece("ships_in_space", COUNT, MAX_SHIPS, "starships in empty space"),
                piece("ships_on_planets", COUNT, MAX_SHIPS, "starships on planets"),
                piece("ships_on_mines", COUNT, MAX_SHIPS, "starships on mines"),
                piece("action_cube", CATEGORY, NUM_MAIN - 1, "main action it lies on"),
                piece("colonies", COUNT, MAX_COLONIES, "planets colonised"),
                piece("terraformed", COUNT, MAX_COLONIES, "planets terraformed"),
                piece("colonies_of_type", COUNT, MAX_COLONIES, "oceanic, rocky, super-Earth, gas giant, alien", shape=NUM_TYPES),
                piece("colonies_in_zone", COUNT, MAX_COLONIES, "short, mid, long", shape=NUM_ZONES),
                piece("first_player", FLAG, 1, "has the first player's marker"),
                piece("position", COUNT, MAX_PLAYERS - 1, "place in this round's order"),
                piece("turn_taken", FLAG, 1, "has had its turn this round"),
                piece("public_vp", COUNT, MOST_VP, "points without the objective", scale=60),
            ],
        ),
        piece("objectives", FLAG, 1, "objectives required of the observer, by id - 1", shape=NUM_OBJECTIVES),
        piece("satisfied", FLAG, 1, "of them, those satisfied now", shape=NUM_OBJECTIVES),
        piece("card", ONE_HOT, 1, "current progress card, by id - 1", shape=NUM_CARDS),
        piece("past_cards", FLAG, 1, "cards of earlier rounds", shape=NUM_CARDS),
        piece("card_medals", COUNT, NUM_MEDALS, "medals on the card, by track", shape=NUM_TRACKS),
        piece("track_medals", FLAG, 1, "medals still on their spaces", shape=(NUM_TRACKS, NUM_MEDALS)),
        piece("round", COUNT, ROUNDS, "round, 0 during setup"),
        piece("num_players", COUNT, MAX_PLAYERS, "players", low=1),
        piece("node", ONE_HOT, 1, "what the seat to move is asked for", shape=len(Node)),
        piece("reward", CATEGORY, 3, "reward handed out: 1 energy, 2 matter, 3 regeneration"),
        piece("own_turn", FLAG, 1, "the seat to move is in its own turn"),
        piece("conversions", COUNT, MAX_CONVERSIONS, "left this turn", scale=3),
        piece("allocations", COUNT, MAX_ALLOCATIONS, "left this turn"),
        piece("bonus_used", FLAG, 1, "bonus actions done this turn", shape=NUM_BONUS),
        piece("second_free", FLAG, 1, "the next bonus action burns nothing"),
        piece("moved", FLAG, 1, "starships that have moved in this movement", shape=MAX_SHIPS),
        piece("points", COUNT, MAX_SPEED, "spaces left to the moving starship"),
        piece("speed", COUNT, MAX_SPEED, "spaces each starship may move"),
        piece("source", CATEGORY, 3, "of a movement or a new starship: main action, bonus action, end of the turn, card"),
        piece("left", COUNT, MAX_CONVERSIONS, "repetitions left of the action", scale=4),
        piece("technology", CATEGORY, NUM_TECHS, "1 + technology chosen"),
        piece("bonus", CATEGORY, NUM_BONUS, "1 + bonus action chosen"),
        piece("exploited", FLAG, 1, "colonies that have produced in this action", shape=MAX_COLONIES),
        piece("face_down", COUNT, NUM_PLANETS, "planets, mines, colonial targets face down", shape=3, scale=20),
        piece("level", COUNT, NUM_LEVELS, "solo: level of the campaign"),
        piece("campaign", CATEGORY, NUM_CAMPAIGNS, "solo: 1 + campaign"),
        piece("minimum_score", COUNT, 100, "solo: points needed", scale=60),
        piece("advanced", FLAG, 1, "advanced objectives"),
    ]
)  # fmt: skip


def make_observation(tables: Any) -> Layout:
    """The 5554 entries, the same for every component file."""
    return LAYOUT


NUM_PLANES = 12


def hex_planes(vector: np.ndarray) -> np.ndarray:
    """The planes of observations (..., 5554) as images (..., 12, 19, 22), a view."""
    return vector[..., : NUM_PLANES * NUM_HEXES].reshape(*vector.shape[:-1], NUM_PLANES, HEIGHT, WIDTH)


def _first(name: str) -> int:
    """Where a piece (or its row 0) begins."""
    return LAYOUT[name].offset


SIZE = LAYOUT.size
BODY, PLANET, OWNER, TERRAFORMED = (_first(f"hex.{p}") for p in ("body", "planet", "planet_owner", "terraformed"))
SHIP_OWNER, OWN_SHIP, FOCUS, SOL_DISTANCE = (
    _first(f"hex.{p}") for p in ("ship_owner", "own_ship", "focus", "sol_distance")
)
PLANETS, PLAYERS = _first("planets.in_play"), _first("players.present")
PLANET_SIZE, PLAYER_SIZE = LAYOUT["planets.in_play"].strides[0], LAYOUT["players.present"].strides[0]
STATUS, OWNER_OF_PLANET, ZONE, CUBES_ON_PLANET, SLOT_OF_PLANET = (
    _first(f"planets.{p}") - PLANETS for p in ("status", "owner", "zone", "cubes", "slot")
)
EARTH_CUBES, COLONY_CUBES, PROGRESS, FIRST_PLAYER, POSITION, TURN_TAKEN, PUBLIC_VP = (
    _first(f"players.{p}") - PLAYERS
    for p in ("earth", "on_colonies", "tech", "first_player", "position", "turn_taken", "public_vp")
)
OBJECTIVES, SATISFIED, CARD, PAST_CARDS, CARD_MEDALS, TRACK_MEDALS = (
    _first(p) for p in ("objectives", "satisfied", "card", "past_cards", "card_medals", "track_medals")
)
ROUND, PLAYER_COUNT, NODE, REWARD, OWN_TURN = (
    _first(p) for p in ("round", "num_players", "node", "reward", "own_turn")
)
CONVERSIONS, ALLOCATIONS, BONUS_USED, SECOND_FREE = (
    _first(p) for p in ("conversions", "allocations", "bonus_used", "second_free")
)
MOVED, POINTS, SPEED, SOURCE, LEFT = (_first(p) for p in ("moved", "points", "speed", "source", "left"))
TECHNOLOGY, BONUS, EXPLOITED, FACE_DOWN = (_first(p) for p in ("technology", "bonus", "exploited", "face_down"))
LEVEL, CAMPAIGN, MINIMUM_SCORE, ADVANCED = (_first(p) for p in ("level", "campaign", "minimum_score", "advanced"))
assert LAYOUT["players.colonies_in_zone"].offset + NUM_ZONES - PLAYERS - PROGRESS == PLAYER["progress_row"].shape[0]

REVEALED, OCCUPIED, COLONISED = 1, 2, 3  # status of a planet, and COLONISED + 1 once terraformed
NOTHING = np.uint64(0)


# ---------------------------------------------------------------- observe


@leaf
def observe(s, t, seat, out):
    """Write the observation of ``seat`` (one compiled version, whatever the type of the number)."""
    _write_observation(s, t, np.int64(seat), out)


@helper
def _write_observation(s, t, seat, out):
    """The constant planes are copied, the rest is cleared and what is there is written."""
    write_row(out, 0, t.setup[s.num_players].first_planes)
    for i in range(BODY, SIZE):
        out[i] = 0
    write_row(out, SOL_DISTANCE, t.sol_distance)
    _observe_tiles(s, t, seat, out)
    _observe_players(s, t, seat, out)
    _observe_cards(s, t, seat, out)
    _observe_turn(s, t, out)
    _observe_focus(s, t, out)


@leaf
def _distance(s, seat, other):
    """How many places clockwise of the observer another seat is."""
    distance = other - seat
    return distance if distance >= 0 else distance + int(s.num_players)


@helper
def _observe_tiles(s, t, seat, out):
    """Tiles on the map, planets in their table, and how many tiles of which kind are face down (all of it public)."""
    for number in range(1, NUM_PLANETS + 1):
        out[PLANETS + PLANET_SIZE * (number - 1)] = t.planet[number].min_players <= s.tile_group
    for word in range(WORDS):
        left = s.bodies[word]
        while left != NOTHING:
            place = 64 * word + lowest(left)
            left = without_lowest(left)
            body = int(s.body[place])
            if not includes(s.face_up, place):
                out[BODY + place] = 1
                out[FACE_DOWN + max(0, body - NUM_PLANETS)] += 1
            elif body <= NUM_PLANETS:
                _observe_planet(s, t, seat, out, place, body)
            else:
                out[BODY + place] = 3 + body - MINE


@leaf
def _observe_planet(s, t, seat, out, place, number):
    row = PLANETS + PLANET_SIZE * (number - 1)
    out[BODY + place] = 2
    out[PLANET + place] = number
    out[row + STATUS] = REVEALED
    out[row + ZONE] = t.zone[place] + 1
    if s.planet_owner[number] > 0:
        owner = _distance(s, seat, int(s.planet_owner[number]) - 1) + 1
        out[OWNER + place] = owner
        out[TERRAFORMED + place] = s.planet_terraformed[number]
        out[row + STATUS] = COLONISED + s.planet_terraformed[number]
        out[row + OWNER_OF_PLANET] = owner


@helper
def _observe_players(s, t, seat, out):
    n = int(s.num_players)
    for distance in range(n):
        other = seat_after(s, seat, distance)
        row = PLAYERS + PLAYER_SIZE * distance
        _observe_board(s, other, out, row)
        _observe_ships(s, other, distance, out)
        _observe_colonies(s, other, out, row)
        position = _distance(s, int(s.first), other)
        out[row + FIRST_PLAYER] = other == s.first
        out[row + POSITION] = position
        out[row + TURN_TAKEN] = s.phase in (Phase.TURNS, Phase.CLEANUP) and position < s.turn_index
        out[row + PUBLIC_VP] = public_points(s, t, other)
    if n == 1:
        _observe_board(s, GHOST, out, PLAYERS + PLAYER_SIZE)


@leaf
def _observe_board(s, row_number, out, row):
    """The fields of a player that are there as they are in the state."""
    player = s.player[row_number]
    write_row(out, row, player.belongings_row)
    for kind in range(NUM_RESOURCES):
        out[row + EARTH_CUBES + kind] = player.cubes[0, kind]
    write_row(out, row + PROGRESS, player.progress_row)


@leaf
def _observe_ships(s, other, distance, out):
    player = s.player[other]
    for ship in range(MAX_SHIPS):
        place = player.ship[ship] - 1
        if place >= 0:
            out[SHIP_OWNER + place] = distance + 1
            if distance == 0:
                out[OWN_SHIP + place] = ship + 1
            number = planet_at(s, place)
            if number > 0:
                out[PLANETS + PLANET_SIZE * (number - 1) + STATUS] = OCCUPIED


@leaf
def _observe_colonies(s, other, out, row):
    """Cubes on the planets' cards, one by one and together."""
    player = s.player[other]
    for slot in colonies(player):
        planet = PLANETS + PLANET_SIZE * (int(player.slot[slot]) - 1)
        out[planet + SLOT_OF_PLANET] = slot
        for kind in range(NUM_RESOURCES):
            out[planet + CUBES_ON_PLANET + kind] = player.cubes[slot, kind]
            out[row + COLONY_CUBES + kind] += player.cubes[slot, kind]


@helper
def _observe_cards(s, t, seat, out):
    expand_bits(out, OBJECTIVES, np.uint64(s.player[seat].objectives), NUM_OBJECTIVES)
    expand_bits(out, SATISFIED, satisfied_objectives(s, t, seat), NUM_OBJECTIVES)
    current = s.round_number - 1
    for place in range(current):
        out[PAST_CARDS + int(s.deck[place]) - 1] = 1
    if current >= 0:
        out[CARD + int(s.deck[current]) - 1] = 1
    for track in range(NUM_TRACKS):
        out[CARD_MEDALS + track] = s.card_medals[track]
        for medal in range(NUM_MEDALS):
            out[TRACK_MEDALS + NUM_MEDALS * track + medal] = s.track_medals[track, medal]


@leaf
def _observe_turn(s, t, out):
    out[ROUND] = s.round_number
    out[PLAYER_COUNT] = s.num_players
    out[NODE + int(s.node)] = 1
    if s.pending > 0:
        out[REWARD] = reward_kind(s)
    out[OWN_TURN] = own_turn(s)
    out[CONVERSIONS] = s.conversions
    out[ALLOCATIONS] = s.allocations
    expand_bits(out, BONUS_USED, np.uint64(s.bonus_used), NUM_BONUS)
    out[SECOND_FREE] = s.second_free
    expand_bits(out, MOVED, np.uint64(s.moved), MAX_SHIPS)
    out[POINTS] = s.points
    out[SPEED] = s.speed
    out[SOURCE] = s.source
    out[LEFT] = s.left
    out[TECHNOLOGY] = s.technology
    out[BONUS] = s.bonus
    expand_bits(out, EXPLOITED, np.uint64(s.exploited) >> np.uint64(1), MAX_COLONIES)
    out[LEVEL] = s.level
    out[CAMPAIGN] = s.campaign
    if s.level > 0:
        out[MINIMUM_SCORE] = t.minimum_score[s.level]
    out[ADVANCED] = s.advanced


@leaf
def _observe_focus(s, t, out):
    if s.flow == Node.DESTINATION:
        out[FOCUS + mover_hex(s)] = 1
    elif s.flow == Node.PLACE and s.source == BY_MISSION:
        out[FOCUS + home(s, t, s.player[s.active], s.place_slot - 1)] = 1


# ---------------------------------------------------------------- resample


@helper
def resample(s, t, seat, generator):
    """Redraw face-down tiles, the rest of the deck and the others' objectives from what ``seat`` knows.

    Once the game is over the objectives are open.
    """
    _redraw_tiles(s, t, generator)
    _redraw_deck(s, t, generator)
    if s.end == RUNNING:
        _redraw_objectives(s, t, seat, generator)
    s.rng = fork(generator)


@leaf
def _hidden_tiles(s, t):
    """The tiles that lie face down, as bits: those in play less all planets that were seen; mines and targets by their number."""
    hidden = np.uint64(0)
    mines = 0
    targets = 0
    for word in range(WORDS):
        left = s.bodies[word] & ~s.face_up[word]
        while left != NOTHING:
            body = int(s.body[64 * word + lowest(left)])
            left = without_lowest(left)
            if body <= NUM_PLANETS:
                hidden |= bit(body)
            elif body == MINE:
                hidden |= bit(MINE + mines)
                mines += 1
            else:
                hidden |= bit(MINE + 4 + targets)
                targets += 1
    return hidden


@helper
def _redraw_tiles(s, t, generator):
    """In the order of their hexes, each any of those that are left."""
    hidden = _hidden_tiles(s, t)
    for word in range(WORDS):
        left = s.bodies[word] & ~s.face_up[word]
        while left != NOTHING:
            place = 64 * word + lowest(left)
            left = without_lowest(left)
            tile = random_member(hidden, generator)
            hidden &= ~bit(tile)
            body = tile_kind(tile)
            s.body[place] = body
            if body <= NUM_PLANETS:
                s.planet_hex[body] = place + 1


@helper
def _redraw_deck(s, t, generator):
    """The cards of later rounds are any that were not shown; two are in the box and nobody knows which."""
    left = usable_cards(s, t)
    for place in range(ROUNDS):
        if place >= s.round_number:
            s.deck[place] = random_member(left, generator)
        left &= ~bit(s.deck[place])


@helper
def _redraw_objectives(s, t, seat, generator):
    """The others hold different ones of the set, none of them the own one; the solo game has none that are hidden."""
    left = objectives_of_set(s, t) & ~np.uint64(s.player[seat].objectives)
    for distance in range(1, int(s.num_players)):
        other = seat_after(s, seat, distance)
        objective = bit(random_member(left, generator))
        s.player[other].objectives = objective
        left &= ~objective
