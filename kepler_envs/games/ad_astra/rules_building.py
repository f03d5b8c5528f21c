"""Rules of build cards."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow, allow_word, bit, has
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.ad_astra.actions import AT, ITEM, PASS
from kepler_envs.games.ad_astra.rules_board import follow_pawns, launch_starship, pay
from kepler_envs.games.ad_astra.rules_round import next_space
from kepler_envs.games.ad_astra.state import (
    ALIEN,
    COLONY,
    FACTORY,
    FREE_BUILDING,
    FREE_TERRAFORMER,
    ITEM_FACTORY,
    ITEM_STARSHIP,
    ITEM_TERRAFORMER,
    NUM_ITEMS,
    NUM_RESOURCES,
    NUM_TYPES,
    TERRAFORMER,
    Node,
)
from kepler_envs.games.ad_astra.views import NOTHING, position_of, rows_of, seat_after

BUILD, BUILD_POS = int(Node.BUILD), int(Node.BUILD_POS)


# ---------------------------------------------------------------- what and where


@leaf
def colony_places(s, seat):
    """Planets with an own starship or terraformer and no colony or factory; none without a pawn in reserve."""
    player = s.player[seat]
    if player.colonies_left == 0:
        return NOTHING
    return (player.starships | player.terraformers) & ~(player.colonies | player.factories)


@leaf
def factory_places(s, seat):
    """The planets with own colonies."""
    player = s.player[seat]
    if player.factories_left == 0:
        return NOTHING
    return player.colonies


@leaf
def terraformer_places(s, t, seat):
    """Planets of the right types with an own colony, factory or starship and without a terraformer."""
    player = s.player[seat]
    if player.terraformers_left == 0:
        return NOTHING
    suitable = NOTHING
    for kind in range(NUM_TYPES):
        if t.terraformable[kind] != 0:
            suitable |= s.of_type[kind]
    return (player.colonies | player.factories | player.starships) & suitable & ~player.terraformers


@leaf
def building_places(s, t, seat, item):
    """Where an item other than a starship can be placed."""
    if item < ITEM_FACTORY:
        return colony_places(s, seat)
    if item == ITEM_FACTORY:
        return factory_places(s, seat)
    return terraformer_places(s, t, seat)


@helper
def legal_items(s, t):
    """The items that the deciding seat can build: it can pay and place them, or an artifact pays."""
    seat = int(s.seat)
    if s.free == FREE_TERRAFORMER:
        return 1 << ITEM_TERRAFORMER
    player = s.player[seat]
    colony = colony_places(s, seat) != NOTHING
    factory = factory_places(s, seat) != NOTHING
    if s.free == FREE_BUILDING:  # the first of the colony ids stands for all three: no ore is paid
        return int(colony) | int(factory) << ITEM_FACTORY
    starship = player.starships_left > 0
    terraformer = terraformer_places(s, t, seat) != NOTHING
    items = 0
    for item in range(NUM_ITEMS):
        if item < ITEM_FACTORY:
            possible = colony
        elif item == ITEM_FACTORY:
            possible = factory
        elif item == ITEM_TERRAFORMER:
            possible = terraformer
        else:
            possible = starship
        if possible and _can_pay(t, player, item):
            items |= 1 << item
    return items


@leaf
def _can_pay(t, player, item):
    lacking = 0
    for resource in range(NUM_RESOURCES):
        lacking += player.hand[resource] < t.item_cost[item, resource]
    return lacking == 0


@leaf
def legal_to_build(s, t, mask):
    allow_word(mask, ITEM, np.uint64(legal_items(s, t)))
    if s.free == 0:
        allow(mask, PASS)


@leaf
def legal_positions(s, t, mask):
    seat = int(s.seat)
    allow_word(mask, AT, rows_of(s, seat, building_places(s, t, seat, int(s.chosen_item) - 1)))


# ---------------------------------------------------------------- building


@leaf
def build(s, t, action):
    """Choose an item. A starship needs no place."""
    seat = int(s.seat)
    item = action - ITEM
    if action == PASS:
        _next_builder(s, t)
    elif item >= ITEM_STARSHIP:
        _pay_for(s, t, seat, item)
        launch_starship(s, t, seat)
        _end_building(s, t)
    else:
        s.chosen_item = item + 1
        s.node = BUILD_POS


@leaf
def build_at(s, t, action):
    """Put the chosen item on its planet. Points are scored at once (R)."""
    seat = int(s.seat)
    position = position_of(s, seat, action - AT)
    item = int(s.chosen_item) - 1
    _pay_for(s, t, seat, item)
    player = s.player[seat]
    pawn = COLONY
    if item < ITEM_FACTORY:
        player.colonies |= bit(position)
        player.colonies_left -= 1
    elif item == ITEM_FACTORY:  # it replaces the colony, whose pawn is free again (R)
        pawn = FACTORY
        player.factories |= bit(position)
        player.factories_left -= 1
        player.colonies &= ~bit(position)
        player.colonies_left += 1
    else:
        pawn = TERRAFORMER
        player.terraformers |= bit(position)
        player.terraformers_left -= 1
    player.points += int(t.pawn[pawn].points)
    if has(s.of_type[ALIEN], position):
        player.points += int(t.pawn[pawn].points_alien)
    follow_pawns(s, t, seat, position)
    s.chosen_item = 0
    s.node = BUILD
    _end_building(s, t)


@helper
def _pay_for(s, t, seat, item):
    """Pay the price to the bank, or nothing if an artifact pays."""
    if s.free != 0:
        s.free = 0
        return
    for resource in range(NUM_RESOURCES):
        pay(s, seat, resource, int(t.item_cost[item, resource]))


@leaf
def _end_building(s, t):
    """Let the owner go on. Everybody else builds one item."""
    if s.step != 0:
        _next_builder(s, t)


@helper
def _next_builder(s, t):
    step = int(s.step) + 1
    if step == s.num_players:
        next_space(s, t)
        return
    s.step = step
    s.free = 0
    s.seat = seat_after(s, int(s.owner), step)
