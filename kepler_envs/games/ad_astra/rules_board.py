"""What the rules of every card stand on: positions, pawns and resource cards."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import bit
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.ad_astra.state import (
    DEEP_SPACE,
    FIRST_START,
    MAX_PAWNS,
    MAX_PLAYERS,
    NUM_RESOURCES,
    NUM_STARS,
    NUM_SYSTEMS,
    RESERVE,
    SLOTS,
)

NOTHING = np.uint64(0)

SYSTEM_SET = np.array(
    [((1 << SLOTS) - 1) << SLOTS * system for system in range(NUM_STARS)] + [((1 << MAX_PLAYERS) - 1) << FIRST_START],
    np.uint64,
)
"""The positions of each system."""


# ---------------------------------------------------------------- seats


@leaf
def seat_after(s, seat, distance):
    """The seat ``distance`` (at most the number of players) places clockwise of ``seat``."""
    following = seat + distance
    n = int(s.num_players)
    return following - n if following >= n else following


# ---------------------------------------------------------------- pawns


@leaf
def system_of(place):
    """The system of a starship's place; -1 for deep space and the reserve."""
    if place in (DEEP_SPACE, RESERVE):
        return -1
    return (place - 1) // SLOTS


@helper
def follow_pawns(s, seat):
    """After any pawn of a seat has moved: work out anew where it is present, in how many systems, and what is occupied."""
    player = s.player[seat]
    ships = NOTHING
    in_deep_space = 0
    for ship in range(MAX_PAWNS):
        place = int(player.ship[ship])
        if place == DEEP_SPACE:
            in_deep_space += 1
        elif place != RESERVE:
            ships |= bit(place - 1)
    pawns = ships | player.colonies | player.factories | player.terraformers
    s.occupied = (s.occupied & ~player.pawns) | pawns
    player.starships = ships
    player.pawns = pawns
    player.in_deep_space = in_deep_space
    systems = 0
    for system in range(NUM_SYSTEMS):
        if pawns & SYSTEM_SET[system]:
            systems += 1
    player.systems = systems


@leaf
def launch_starship(s, t, seat):
    """The first starship of the reserve enters deep space."""
    player = s.player[seat]
    ship = 0
    while player.ship[ship] != RESERVE:
        ship += 1
    player.ship[ship] = DEEP_SPACE
    player.starships_left -= 1
    player.in_deep_space += 1


@leaf
def face_down(s):
    """Positions of face-down planets."""
    return s.planets & ~s.face_up


# ---------------------------------------------------------------- resource cards


@leaf
def gain(s, seat, resource, count):
    """Cards from the bank to a hand."""
    player = s.player[seat]
    s.bank[resource] -= count
    player.hand[resource] += count
    player.hand_total += count


@leaf
def gain_from_stock(s, seat, resource, count):
    """As many of ``count`` cards as the bank has."""
    gain(s, seat, resource, min(count, int(s.bank[resource])))


@leaf
def pay(s, seat, resource, count):
    """Cards from a hand to the bank."""
    gain(s, seat, resource, -count)


@leaf
def hand_over(s, giver, taker, resource, count):
    """Cards from one hand to another."""
    s.player[giver].hand[resource] -= count
    s.player[giver].hand_total -= count
    s.player[taker].hand[resource] += count
    s.player[taker].hand_total += count


@leaf
def held_at_least(s, seat, count):
    """The set of resources of which a seat holds ``count`` cards or more."""
    player = s.player[seat]
    held = 0
    for resource in range(NUM_RESOURCES):
        if player.hand[resource] >= count:
            held |= 1 << resource
    return held


@leaf
def in_stock(s):
    """The set of resources the bank has."""
    stock = 0
    for resource in range(NUM_RESOURCES):
        if s.bank[resource] > 0:
            stock |= 1 << resource
    return stock
