"""What a seat sees, and redrawing what it cannot know.

What follows from the facts is written in observation_derived.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs.engine.bits import bit, lowest, without_lowest
from kepler_envs.engine.checks import check_type
from kepler_envs.engine.game import RUNNING
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.observation import Layout
from kepler_envs.engine.rng import fork
from kepler_envs.engine.simd import expand_bits, write_row
from kepler_envs.games.kepler_3042.hexes import HEIGHT, NUM_HEXES, WIDTH, WORDS
from kepler_envs.games.kepler_3042.observation_derived import derive
from kepler_envs.games.kepler_3042.observation_layout import (
    FACTS_SIZE,
    REWARDS_SHOWN,
    first,
    layout_of,
    places_table,
    planet_table,
    width,
    within,
)
from kepler_envs.games.kepler_3042.rules_board import colonies, seat_after
from kepler_envs.games.kepler_3042.setup import objectives_of_set, random_member, tile_kind, usable_cards
from kepler_envs.games.kepler_3042.state import (
    EARTH,
    GHOST,
    MAX_SHIPS,
    MINE,
    NUM_BONUS,
    NUM_MEDALS,
    NUM_OBJECTIVES,
    NUM_PLANETS,
    NUM_RESOURCES,
    NUM_TECHS,
    NUM_TRACKS,
    REWARD_KINDS,
    ROUNDS,
)


def make_observation(tables: Any) -> Layout:
    """The layout. Its entries are the same for every component file; map and planets are tables beside them."""
    return layout_of(places_table(tables), planet_table(tables))


PLANES = (
    "row parity", "space", "star", "star in play", "zone", "distance from Sol", "face down", "planet", "mine",
    "colonial target",
    "own planet", "other's planet", "terraformed", "own starship", "other's starship", "worth",
)  # fmt: skip
"""What :func:`hex_planes` draws, in order. Distance and worth (in points) are numbers, the others 0, 1 or 2."""


def hex_planes(layout: Layout, vectors: np.ndarray) -> np.ndarray:
    """The map of observations (..., size) as images, float32 (..., 16, 19, 22), for convolutional networks.

    The grid is "odd-r": pointy hexes, with odd rows shifted right by half a hex. The neighbours above and below the hex
    in column c are c - 1 and c in even rows, and c and c + 1 in odd ones, so a 3 x 3 window holds two hexes too many.
    You can take the first plane, which marks odd rows, and let the network find out. Or use two kernels, with masked
    corners, for the two kinds of rows.

    Args:
        layout: the layout of a configuration, ``config.observation``. Without derived fields there are no worths.
        vectors: observations of that configuration.

    Raises:
        ValueError: it is the layout of a game without hexes.
    """
    check_type("layout", layout, Layout, "config.observation is one")
    if "places" not in layout.fixed:
        raise ValueError("the layout has no map of hexes; only that of kepler_3042 has one")
    vectors = np.asarray(vectors)
    planes = np.zeros((*vectors.shape[:-1], len(PLANES), NUM_HEXES), np.float32)
    fixed = layout.fixed["places"]
    column = {field.field: fixed.values[:, field.offset : field.offset + field.size] for field in fixed.fields}
    players = layout["game.num_players"].view(vectors)[..., 0]
    planes[..., 0, :] = column["row"][:, 0] % 2
    planes[..., 1, :] = column["terrain"][:, 0] == 0
    planes[..., 2, :] = column["terrain"][:, 0] == 1
    planes[..., 3, :] = column["star_in_play"].T[players - 1]
    planes[..., 4, :] = column["zone"][:, 0]
    planes[..., 5, :] = column["sol_distance"][:, 0]

    def draw(plane: int, places: np.ndarray, values: np.ndarray) -> None:
        """Values of rows (..., rows) at their places, 0 of which is none."""
        where = np.nonzero(places)
        index: Any = (*where[:-1], plane, places[where] - 1)
        planes[index] = np.broadcast_to(values, places.shape)[where]

    seen = {name: layout[name].view(vectors) for name in layout.pieces}
    draw(6, seen["tiles.place"], np.array(1))
    draw(7, seen["planets.place"], np.array(1))
    for kind in (1, 2):
        draw(7 + kind, seen["sites.place"] * (seen["sites.kind"] == kind), np.array(1))
    draw(10, seen["planets.place"], seen["planets.owner"] == 1)
    draw(11, seen["planets.place"], seen["planets.owner"] > 1)
    draw(12, seen["planets.place"], seen["planets.status"] == 3)
    draw(13, seen["starships.place"], np.array(1))
    draw(14, seen["rivals.place"], np.array(1))
    for name in ("planets", "sites"):
        if f"{name}.worth" in seen:
            draw(15, seen[f"{name}.place"], seen[f"{name}.worth"] / 100)
    return planes.reshape(*vectors.shape[:-1], len(PLANES), HEIGHT, WIDTH)


# ---------------------------------------------------------------- where things are written

GAME = first("game")
(
    NODE, FLOW, PHASE, ROUND, PLAYER_COUNT, TURNS_DONE, ACTIVE, TO_MOVE, CONVERSIONS, ALLOCATIONS, SECOND_FREE, BONUS,
    TECHNOLOGY, LEFT,
    SOURCE, PLACE_SLOT, SPEED, POINTS, GOAL, CARD, REWARD_COUNT, LEVEL, CAMPAIGN, BONUS_CUBES, TILE_GROUP, ADVANCED,
    WIN_LOSS,
) = range(GAME, GAME + width("game"))  # fmt: skip
PLAYERS, PLAYER = first("players"), width("players")
PROGRESS, EARTH_CUBES, FIRST, WAITS = (
    within(f"players.{name}") for name in ("tech", "earth", "first", "waits_for_card")
)
TRACKS, TRACK = first("tracks"), width("tracks")
TECHNOLOGIES, MAIN_ACTIONS, BONUS_ACTIONS, SLOTS = (
    first(name) for name in ("technologies", "main_actions", "bonus_actions", "slots")
)
RESOURCES, RESOURCE = first("resources"), width("resources")
PLANETS, PLANET = first("planets"), width("planets")
STATUS, OWNER, PLANET_PLACE, SLOT_OF_PLANET, CUBES, EXPLOITED = (
    within(f"planets.{name}") for name in ("status", "owner", "place", "slot", "cubes", "exploited")
)
TILES, SITES, SITE, CARDS, OBJECTIVES, REWARDS, REWARD = (
    first("tiles"), first("sites"), width("sites"), first("cards"), first("objectives"), first("rewards"),
    width("rewards"),
)  # fmt: skip
STARSHIPS, RIVALS, SHIP = first("starships"), first("rivals"), width("starships")
OPEN, COLONISED = 1, 2  # status of a planet, and COLONISED + 1 once terraformed
NOTHING = np.uint64(0)


# ---------------------------------------------------------------- observe


@leaf
def observe(s, t, seat, out):
    """Write the observation of ``seat``. There is one compiled version, whatever the type of the number."""
    _write_observation(s, t, np.int64(seat), out)


@helper
def _write_observation(s, t, seat, out):
    """Write what is there over zeros."""
    for i in range(FACTS_SIZE):
        out[i] = 0
    _write_game(s, seat, out)
    _write_players(s, seat, out)
    _write_own_board(s, seat, out)
    _write_map(s, seat, out)
    _write_cards(s, seat, out)
    if out.size > FACTS_SIZE:
        derive(s, t, seat, out)


@leaf
def _distance(s, seat, other):
    """The number of places clockwise from the observer to another seat."""
    distance = other - seat
    return distance if distance >= 0 else distance + int(s.num_players)


@leaf
def _write_game(s, seat, out):
    out[NODE] = s.node
    out[FLOW] = s.flow
    out[PHASE] = s.phase
    out[ROUND] = s.round_number
    out[PLAYER_COUNT] = s.num_players
    out[TURNS_DONE] = s.turn_index
    out[ACTIVE] = 1 + _distance(s, seat, int(s.active))
    out[TO_MOVE] = 1 + _distance(s, seat, int(s.seat))
    out[CONVERSIONS] = s.conversions
    out[ALLOCATIONS] = s.allocations
    out[SECOND_FREE] = s.second_free
    out[BONUS] = s.bonus
    out[TECHNOLOGY] = s.technology
    out[LEFT] = s.left
    out[SOURCE] = s.source
    out[PLACE_SLOT] = s.place_slot
    out[SPEED] = s.speed
    out[POINTS] = s.points
    out[GOAL] = s.goal
    out[REWARD_COUNT] = s.pending
    out[LEVEL] = s.level
    out[CAMPAIGN] = s.campaign
    out[BONUS_CUBES] = s.bonus_cubes
    out[TILE_GROUP] = s.tile_group
    out[ADVANCED] = s.advanced
    out[WIN_LOSS] = s.win_loss


@helper
def _write_players(s, seat, out):
    n = int(s.num_players)
    for distance in range(n):
        other = int(seat_after(s, seat, distance))
        row = PLAYERS + PLAYER * distance
        _write_player(s, other, out, row)
        out[row + FIRST] = other == s.first
        out[row + WAITS] = s.beneficiaries >> other & 1
        _write_ships(s, other, out, STARSHIPS if distance == 0 else RIVALS + SHIP * MAX_SHIPS * (distance - 1))
        _write_colonies(s, other, out)
    if n == 1:
        _write_player(s, GHOST, out, PLAYERS + PLAYER)


@leaf
def _write_player(s, number, out, row):
    player = s.player[number]
    write_row(out, row, player.belongings_row)
    write_row(out, row + PROGRESS, player.progress_row)
    for kind in range(NUM_RESOURCES):
        out[row + EARTH_CUBES + kind] = player.cubes[EARTH, kind]


@leaf
def _write_ships(s, other, out, row):
    player = s.player[other]
    for ship in range(MAX_SHIPS):
        out[row + SHIP * ship] = player.ship[ship]
    if other == s.active:
        for ship in range(MAX_SHIPS):
            out[row + SHIP * ship + 1] = s.moved >> ship & 1
        if s.moving > 0:
            out[row + SHIP * (int(s.moving) - 1) + 2] = 1


@leaf
def _write_colonies(s, other, out):
    """Write what lies on the planets' cards."""
    player = s.player[other]
    for slot in colonies(player):
        row = PLANETS + PLANET * (int(player.slot[slot]) - 1)
        out[row + SLOT_OF_PLANET] = slot
        for kind in range(NUM_RESOURCES):
            out[row + CUBES + kind] = player.cubes[slot, kind]
        if other == s.active:
            out[row + EXPLOITED] = s.exploited >> slot & 1


@leaf
def _write_own_board(s, seat, out):
    """Write the rows that the observer's own ids are about."""
    player = s.player[seat]
    for track in range(NUM_TRACKS):
        out[TRACKS + TRACK * track] = s.card_medals[track]
        for medal in range(NUM_MEDALS):
            out[TRACKS + TRACK * track + 1 + medal] = s.track_medals[track, medal]
    for tech in range(NUM_TECHS):
        out[TECHNOLOGIES + tech] = player.tech[tech]
    out[MAIN_ACTIONS + int(player.action_cube)] = 1
    expand_bits(out, BONUS_ACTIONS, np.uint64(s.bonus_used), NUM_BONUS)
    for kind in range(NUM_RESOURCES):
        out[RESOURCES + RESOURCE * kind] = player.storage[kind]
        out[RESOURCES + RESOURCE * kind + 1] = player.pit[kind]
    for slot in colonies(player):
        out[SLOTS + slot] = player.slot[slot]


@helper
def _write_map(s, seat, out):
    """Write the tiles that are face down, and those that are open."""
    tile = TILES
    site = SITES
    for word in range(WORDS):
        left = s.bodies[word] & ~s.face_up[word]
        while left != NOTHING:
            out[tile] = 64 * word + lowest(left) + 1
            left = without_lowest(left)
            tile += 1
    for word in range(WORDS):
        left = s.face_up[word]
        while left != NOTHING:
            place = 64 * word + lowest(left)
            left = without_lowest(left)
            body = int(s.body[place])
            if body <= NUM_PLANETS:
                _write_planet(s, seat, out, place, body)
            else:
                out[site] = body - MINE + 1
                out[site + 1] = place + 1
                site += SITE


@leaf
def _write_planet(s, seat, out, place, number):
    row = PLANETS + PLANET * (number - 1)
    out[row + PLANET_PLACE] = place + 1
    out[row + STATUS] = OPEN
    if s.planet_owner[number] > 0:
        out[row + STATUS] = COLONISED + s.planet_terraformed[number]
        out[row + OWNER] = 1 + _distance(s, seat, int(s.planet_owner[number]) - 1)


@leaf
def _write_cards(s, seat, out):
    """Write progress cards by the round in which they were shown, own objectives, and rewards that wait."""
    for place in range(int(s.round_number)):
        out[CARDS + int(s.deck[place]) - 1] = place + 1
    if s.round_number > 0:
        out[CARD] = s.deck[s.round_number - 1]
    expand_bits(out, OBJECTIVES, np.uint64(s.player[seat].objectives), NUM_OBJECTIVES)
    for place in range(min(REWARDS_SHOWN, int(s.pending))):
        out[REWARDS + REWARD * place] = 1 + _distance(s, seat, int(s.rewards[place]) // REWARD_KINDS)
        out[REWARDS + REWARD * place + 1] = s.rewards[place] % REWARD_KINDS


# ---------------------------------------------------------------- resample


@helper
def resample(s, t, seat, generator):
    """Redraw face-down tiles, the rest of the deck and the others' objectives from what ``seat`` knows.

    Once the game is over the objectives are open.
    """
    _redraw_tiles(s, generator)
    _redraw_deck(s, t, generator)
    if s.end == RUNNING:
        _redraw_objectives(s, t, seat, generator)
    s.rng = fork(generator)


@leaf
def _hidden_tiles(s):
    """The face-down tiles, as bits.

    They are those in play less all planets that were seen. Of mines and targets only the number counts.
    """
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
def _redraw_tiles(s, generator):
    """Put any of the tiles that are left on each face-down place, in the order of their hexes."""
    hidden = _hidden_tiles(s)
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
    """Redraw the cards of later rounds from those that were not shown.

    Two of them are in the box, and nobody knows which.
    """
    left = usable_cards(s, t)
    for place in range(ROUNDS):
        if place >= s.round_number:
            s.deck[place] = random_member(left, generator)
        left &= ~bit(s.deck[place])


@helper
def _redraw_objectives(s, t, seat, generator):
    """Give the others different objectives of the set, none of them the observer's own.

    The solo game has no hidden ones.
    """
    left = objectives_of_set(s, t) & ~np.uint64(s.player[seat].objectives)
    for distance in range(1, int(s.num_players)):
        other = seat_after(s, seat, distance)
        objective = bit(random_member(left, generator))
        s.player[other].objectives = objective
        left &= ~objective
