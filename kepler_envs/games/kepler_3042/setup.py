"""The setup. Tiles, objectives and progress cards are dealt; then everybody chooses the first technologies."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import ONE, allow, bit, bit_count, lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.rng import below
from kepler_envs.games.kepler_3042.actions import RES, TECH
from kepler_envs.games.kepler_3042.components_objectives import ADVANCED, STANDARD
from kepler_envs.games.kepler_3042.hexes import members, neighbours, nth_member, put_in, single, size, union, without
from kepler_envs.games.kepler_3042.rules_board import seat_after, seats, turn_up
from kepler_envs.games.kepler_3042.rules_round import start_round
from kepler_envs.games.kepler_3042.state import (
    ANTIMATTER,
    EARTH,
    GHOST,
    MINE,
    NUM_CARDS,
    NUM_MEDALS,
    NUM_OBJECTIVES,
    NUM_PLANETS,
    NUM_RESOURCES,
    NUM_TECHS,
    NUM_TRACKS,
    ROUNDS,
    SHORT,
    Node,
    node_set,
)

NODES = node_set(Node.FIRST_TECHNOLOGY, Node.SOLO_BONUS)
NOTHING = np.uint64(0)

# ---------------------------------------------------------------- dealing


@helper
def setup(s, t, o):
    """Deal tiles, objectives and progress cards, and draw the first player. The choice of technologies follows."""
    s.num_players = o.num_players
    s.advanced = o.advanced
    s.win_loss = o.win_loss
    s.campaign = o.campaign
    s.level = o.level
    s.bonus_cubes = o.bonus
    s.tile_group = o.tile_group
    s.shaping = o.shaping
    _place_tiles(s, t)
    _deal_objectives(s, t)
    _shuffle_deck(s, t)
    s.first = below(s, s.num_players)
    for track in range(NUM_TRACKS):
        for medal in range(NUM_MEDALS):
            s.track_medals[track, medal] = 1
    for seat in seats(s):
        _equip(s, t, seat)
    if s.num_players == 1:
        s.player[GHOST].present = 1
        s.player[GHOST].ghost = 1
    s.active = s.first
    s.left = o.bonus
    s.flow = Node.SOLO_BONUS if o.bonus > 0 else Node.FIRST_TECHNOLOGY
    s.node = s.flow
    s.seat = s.active


@leaf
def random_member(members_of_word, generator):
    """A uniformly random member of a set in one word."""
    left = members_of_word
    for _ in range(below(generator, bit_count(members_of_word))):
        left = without_lowest(left)
    return lowest(left)


@leaf
def _place_tiles(s, t):
    """Place the tiles in random order.

    Each goes on a random hex that lies beside a star in play and beside no tile. In the short zone it is open (R).
    """
    left = _all_tiles(s, t)
    legal = members(t.setup[s.num_players].sites)
    for _ in range(bit_count(left)):
        tile = random_member(left, s)
        left &= ~bit(tile)
        place = nth_member(legal, below(s, size(legal)))
        _put_tile(s, place, tile)
        legal = without(legal, union(single(place), neighbours(single(place))))
        if t.zone[place] == SHORT:
            turn_up(s, place)


@leaf
def _all_tiles(s, t):
    """The tiles in play, as bits of a word.

    They are the planets of the group, and the mines and targets for the players.
    """
    tiles = NOTHING
    setup = t.setup[s.num_players]
    for number in range(1, NUM_PLANETS + 1):
        tiles |= np.uint64(t.planet[number].min_players <= s.tile_group) << np.uint64(number)
    tiles |= (bit(setup.mines) - ONE) << np.uint64(MINE)
    tiles |= (bit(setup.targets) - ONE) << np.uint64(MINE + 4)
    return tiles


@leaf
def _put_tile(s, place, tile):
    body = tile_kind(tile)
    s.body[place] = body
    put_in(s.bodies, place)
    if body <= NUM_PLANETS:
        s.planet_hex[body] = place + 1


@leaf
def tile_kind(tile):
    """The body that tile number 1..36 is: planets, then four mines, then four colonial targets."""
    return min(tile, MINE + int(tile > MINE + 3))


@leaf
def _deal_objectives(s, t):
    """Deal one to each player, face down. The solo game gets those of the campaign up to its level (R)."""
    if s.num_players == 1:
        s.player[0].objectives = t.campaign[s.campaign - 1, s.level]
        return
    left = objectives_of_set(s, t)
    for seat in seats(s):
        dealt = bit(random_member(left, s))
        s.player[seat].objectives = dealt
        left &= ~dealt


@leaf
def objectives_of_set(s, t):
    """The objectives that are dealt from, as bits."""
    wanted = ADVANCED if s.advanced else STANDARD
    found = NOTHING
    for number in range(NUM_OBJECTIVES):
        if t.objective[number].set == wanted:
            found |= bit(number)
    return found


@leaf
def _shuffle_deck(s, t):
    left = usable_cards(s, t)
    for place in range(ROUNDS):
        card = random_member(left, s)
        left &= ~bit(card)
        s.deck[place] = card


@leaf
def usable_cards(s, t):
    """The progress cards that can be in the deck, as bits."""
    cards = NOTHING
    for card in range(1, NUM_CARDS + 1):
        if s.num_players > 1 or t.card[card].solo:
            cards |= bit(card)
    return cards


@leaf
def _equip(s, t, seat):
    """Give out cubes, and starships in the supply.

    In the solo game all cubes are in storage, and the level's antimatter is on Earth besides (R).
    """
    player = s.player[seat]
    player.present = 1
    player.ships_in_supply = len(player.ship)
    player.action_cube = t.start_cube
    for kind in range(NUM_RESOURCES):
        on_earth = 0 if s.num_players == 1 else t.earth[kind]
        player.total[kind] = t.cubes[kind]
        player.cubes[EARTH, kind] = on_earth
        player.storage[kind] = t.cubes[kind] - on_earth
    if s.num_players == 1:
        player.total[ANTIMATTER] += t.level_antimatter[s.level]
        player.cubes[EARTH, ANTIMATTER] += t.level_antimatter[s.level]


# ---------------------------------------------------------------- first choices


@helper
def legal(s, mask):
    """Allow what can be chosen during setup."""
    if s.node == Node.FIRST_TECHNOLOGY:
        _legal_first_technologies(s, mask)
    else:
        _legal_bonus_cubes(mask)


@helper
def apply(s, t, action):
    """Apply a choice during setup."""
    if s.node == Node.FIRST_TECHNOLOGY:
        _choose_first_technology(s, t, action)
    else:
        _place_bonus_cube(s, action)


@leaf
def _legal_bonus_cubes(mask):
    """Allow energy or matter (R)."""
    for kind in range(ANTIMATTER):
        allow(mask, RES + kind)


@leaf
def _place_bonus_cube(s, action):
    """Put an additional cube on Earth (R)."""
    player = s.player[0]
    player.cubes[EARTH, action - RES] += 1
    player.total[action - RES] += 1
    s.left -= 1
    if s.left == 0:
        s.flow = Node.FIRST_TECHNOLOGY


@leaf
def _legal_first_technologies(s, mask):
    for tech in range(NUM_TECHS):
        if s.player[s.seat].tech[tech] == 0:
            allow(mask, TECH + tech)


@leaf
def _choose_first_technology(s, t, action):
    """Take a technology at level 1 for nothing.

    Everybody takes different ones, in turn order (R).
    """
    player = s.player[s.seat]
    player.tech[action - TECH] = 1
    chosen = 0
    for tech in range(NUM_TECHS):
        chosen += player.tech[tech]
    if chosen < t.free_technologies:
        return
    s.turn_index += 1
    if s.turn_index < s.num_players:
        s.active = seat_after(s, s.first, s.turn_index)
        return
    if s.num_players == 1:  # the ghost gets the others (R)
        for tech in range(NUM_TECHS):
            s.player[GHOST].tech[tech] = 1 - player.tech[tech]
    start_round(s, t)
