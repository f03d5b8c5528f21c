"""What the rules of every card stand on: positions, pawns and resource cards."""

from __future__ import annotations

from kepler_envs.engine.bits import bit, bit_count, has
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.ad_astra.actions import SMALLEST_DISCARD
from kepler_envs.games.ad_astra.state import (
    COLONIES_FACTORIES,
    COLONY,
    DEEP_SPACE,
    DIFFERENT,
    FACTORY,
    IDENTICAL,
    MAX_PAWNS,
    NUM_RESOURCES,
    NUM_SYSTEMS,
    RESERVE,
    SLOTS,
    STARSHIP,
    STARSHIPS,
    SYSTEMS,
    TERRAFORMERS,
)
from kepler_envs.games.ad_astra.views import NOTHING, SYSTEM_SET, show_pawns

# ---------------------------------------------------------------- pawns


@leaf
def system_of(place):
    """The system of a starship's place; -1 for deep space and the reserve."""
    if place in (DEEP_SPACE, RESERVE):
        return -1
    return (place - 1) // SLOTS


@helper
def follow_pawns(s, t, seat, position):
    """Update what depends on a seat's pawns on a position after a change.

    That is where the seat is present, and what its pawns produce and are worth.
    """
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
            systems |= 1 << system
    player.present_in = systems
    player.systems = bit_count(systems)
    show_pawns(s, seat, position)
    for resource in range(NUM_RESOURCES):
        player.output[resource] = _output(s, t, seat, resource)
    _follow_elements(t, player)


@leaf
def _output(s, t, seat, resource):
    """The number of cards that the seat's colonies, factories and starships on planets of the type produce."""
    player = s.player[seat]
    places = s.of_type[resource]
    starships = 0
    for ship in range(MAX_PAWNS):
        place = int(player.ship[ship])
        if place != RESERVE and place != DEEP_SPACE:
            starships += int(has(places, place - 1))
    return (
        int(t.pawn[COLONY].production) * bit_count(player.colonies & places)
        + int(t.pawn[FACTORY].production) * bit_count(player.factories & places)
        + int(t.pawn[STARSHIP].production) * starships
    )


@leaf
def _follow_elements(t, player):
    """Update the points of the elements that pawns count for."""
    points = t.element_points
    player.elements[COLONIES_FACTORIES] = int(points[COLONIES_FACTORIES]) * bit_count(player.colonies) + int(
        t.factory_points
    ) * bit_count(player.factories)
    player.elements[STARSHIPS] = int(points[STARSHIPS]) * (int(t.pawn[STARSHIP].count) - int(player.starships_left))
    player.elements[TERRAFORMERS] = int(points[TERRAFORMERS]) * bit_count(player.terraformers)
    player.elements[SYSTEMS] = int(points[SYSTEMS]) * int(player.systems)


@leaf
def launch_starship(s, t, seat):
    """Move the first starship of the reserve into deep space."""
    player = s.player[seat]
    ship = 0
    while player.ship[ship] != RESERVE:
        ship += 1
    player.ship[ship] = DEEP_SPACE
    player.starships_left -= 1
    player.in_deep_space += 1
    _follow_elements(t, player)


# ---------------------------------------------------------------- resource cards


@leaf
def gain(s, seat, resource, count):
    """Move cards from the bank to a hand."""
    player = s.player[seat]
    s.bank[resource] -= count
    player.hand[resource] += count
    player.hand_total += count
    if count != 0:
        _follow_hand(player)


@helper
def _follow_hand(player):
    """Update the cards that could be discarded for points: the most of one type, and the types."""
    most, kinds = 0, 0
    for resource in range(NUM_RESOURCES):
        held = int(player.hand[resource])
        most = max(most, held)
        kinds += held > 0
    player.elements[IDENTICAL] = most if most >= SMALLEST_DISCARD else 0
    player.elements[DIFFERENT] = kinds if kinds >= SMALLEST_DISCARD else 0


@leaf
def gain_from_stock(s, seat, resource, count):
    """Move as many of ``count`` cards as the bank has."""
    gain(s, seat, resource, min(count, int(s.bank[resource])))


@leaf
def pay(s, seat, resource, count):
    """Move cards from a hand to the bank."""
    gain(s, seat, resource, -count)


@leaf
def hand_over(s, giver, taker, resource, count):
    """Move cards from one hand to another."""
    s.player[giver].hand[resource] -= count
    s.player[giver].hand_total -= count
    s.player[taker].hand[resource] += count
    s.player[taker].hand_total += count
    _follow_hand(s.player[giver])
    _follow_hand(s.player[taker])


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
