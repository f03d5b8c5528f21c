"""Rules of production and movement cards, and of what is found on the way."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow, allow_word, bit, has, lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.ad_astra.actions import AT, DESTINATIONS, GO, PASS, TAKE, TO_DEEP
from kepler_envs.games.ad_astra.components import BETWEEN_SYSTEMS, FROM_DEEP_SPACE, TO_DEEP_SPACE, WITHIN_SYSTEM
from kepler_envs.games.ad_astra.rules_board import (
    follow_pawns,
    gain_from_stock,
    pay,
    system_of,
)
from kepler_envs.games.ad_astra.rules_round import next_space
from kepler_envs.games.ad_astra.state import (
    ALIEN,
    DEEP_SPACE,
    FIRST_MOVEMENT,
    FIRST_PRODUCTION,
    MAX_PAWNS,
    NUM_RESOURCES,
    NUM_STARS,
    RESERVE,
    Node,
)
from kepler_envs.games.ad_astra.views import (
    NOTHING,
    SYSTEM_SET,
    face_down,
    look_at,
    seat_after,
    show_pawns,
    turn_up,
)

MOVE, LAND = int(Node.MOVE), int(Node.LAND)
ALL_SYSTEMS = np.uint64((1 << NUM_STARS) - 1)
ONE = np.uint64(1)


# ---------------------------------------------------------------- production


@leaf
def legal_production(s, t, mask):
    """Let the owner choose one of the two resources on the card, even if nobody gets any (R)."""
    faction = t.faction[s.player[s.seat].faction]
    allow_word(mask, TAKE, np.uint64(faction.production[int(s.slot) - 1 - FIRST_PRODUCTION]))


@leaf
def produce(s, t, action):
    """Give everybody all their cards of the resource, clockwise from the owner, until the bank is empty (R)."""
    resource = action - TAKE
    for distance in range(int(s.num_players)):
        seat = seat_after(s, int(s.owner), distance)
        gain_from_stock(s, seat, resource, int(s.player[seat].output[resource]))
    next_space(s, t)


# ---------------------------------------------------------------- where starships can go


@helper
def _open_planets(s, seat):
    """Planets that a seat may land on: face down, or without pawns of others."""
    return s.planets & ~(s.occupied & ~s.player[seat].pawns)


@leaf
def landing_places(s, seat, place, system):
    """Positions in a system where a starship at ``place`` can land."""
    places = _open_planets(s, seat) & SYSTEM_SET[system]
    if place != DEEP_SPACE:
        places &= ~bit(place - 1)
    return places


@leaf
def _move_cost(t, place, system):
    """The fuel that a starship pays to move from ``place`` into a system."""
    if place == DEEP_SPACE:
        return int(t.move_cost[FROM_DEEP_SPACE])
    if system_of(place) == system:
        return int(t.move_cost[WITHIN_SYSTEM])
    return int(t.move_cost[BETWEEN_SYSTEMS])


@helper
def legal_moves(s, t, gate):
    """The moves of the deciding seat, bit ``DESTINATIONS * starship + destination``.

    Through the gate any system is free.
    """
    player = s.player[s.seat]
    systems = ALL_SYSTEMS
    if not gate:
        owner = t.faction[s.player[s.owner].faction]
        systems = np.uint64(owner.movement[int(s.slot) - 1 - FIRST_MOVEMENT])
    moves = NOTHING
    for ship in range(MAX_PAWNS):
        if _may_move(s, player, ship):
            targets = _destinations(s, t, int(player.ship[ship]), systems, gate)
            moves |= targets << np.uint64(DESTINATIONS * ship)
    return moves


@leaf
def _may_move(s, player, ship):
    """Whether a starship is in play, has not moved on this card, and is the first of equal starships."""
    place = int(player.ship[ship])
    moved = int(s.moved)
    if place == RESERVE or moved >> ship & 1:
        return False
    twins = 0
    for other in range(ship):
        twins += player.ship[other] == place and not moved >> other & 1
    return twins == 0


@leaf
def _destinations(s, t, place, systems, gate):
    """Where a starship at ``place`` can go. Bit TO_DEEP stands for deep space."""
    seat = int(s.seat)
    fuel = int(s.player[seat].hand[t.fuel])
    targets = NOTHING
    left = systems
    while left != NOTHING:
        system = lowest(left)
        left = without_lowest(left)
        if (gate or _move_cost(t, place, system) <= fuel) and landing_places(s, seat, place, system) != NOTHING:
            targets |= bit(system)
    if not gate and place != DEEP_SPACE and t.move_cost[TO_DEEP_SPACE] <= fuel:
        targets |= bit(TO_DEEP)
    return targets


@leaf
def legal_to_move(s, t, mask):
    allow_word(mask, GO, legal_moves(s, t, s.gate != 0))
    if s.gate == 0:
        allow(mask, PASS)


# ---------------------------------------------------------------- moving


@leaf
def move(s, t, action):
    if action == PASS:
        _next_mover(s, t)
    elif (action - GO) % DESTINATIONS == TO_DEEP:
        _leave_for_deep_space(s, t, (action - GO) // DESTINATIONS)
    else:
        _enter_system(s, t, (action - GO) // DESTINATIONS, (action - GO) % DESTINATIONS)


@leaf
def _leave_for_deep_space(s, t, ship):
    seat = int(s.seat)
    pay(s, seat, int(t.fuel), int(t.move_cost[TO_DEEP_SPACE]))
    left = int(s.player[seat].ship[ship]) - 1
    s.player[seat].ship[ship] = DEEP_SPACE
    follow_pawns(s, t, seat, left)
    _end_move(s, t, ship)


@leaf
def _enter_system(s, t, ship, system):
    """Pay and look at all face-down planets of the system. The landing follows."""
    seat = int(s.seat)
    player = s.player[seat]
    if s.gate == 0:
        pay(s, seat, int(t.fuel), _move_cost(t, int(player.ship[ship]), system))
    s.gate = 0
    look_at(s, seat, SYSTEM_SET[system] & face_down(s))
    s.chosen_ship = ship + 1
    s.chosen_system = system + 1
    s.node = LAND


@leaf
def legal_to_land(s, mask):
    seat = int(s.seat)
    place = int(s.player[seat].ship[int(s.chosen_ship) - 1])
    allow_word(mask, AT, landing_places(s, seat, place, int(s.chosen_system) - 1))


@leaf
def land(s, t, action):
    """Land on a planet of the chosen system.

    A face-down planet is turned up. An alien one brings an artifact when it is turned up (R).
    """
    seat = int(s.seat)
    position = action - AT
    ship = int(s.chosen_ship) - 1
    s.chosen_ship = 0
    s.chosen_system = 0
    left = int(s.player[seat].ship[ship])
    s.player[seat].ship[ship] = position + 1
    follow_pawns(s, t, seat, position)
    if left != DEEP_SPACE:
        show_pawns(s, seat, left - 1)
    if not has(s.face_up, position):
        turn_up(s, position)
        if has(s.of_type[ALIEN], position):
            _draw_artifact(s, t, seat)
    s.node = MOVE
    _end_move(s, t, ship)


@leaf
def _draw_artifact(s, t, seat):
    """Draw the top artifact. The first one is shown and acts at once (R); others stay with the finder."""
    if s.deck_count == 0:
        return
    top = int(s.deck_count) - 1
    artifact = int(s.deck[top])
    s.deck[top] = 0
    s.deck_count = top
    if artifact == 0:
        s.artifacts_used = int(s.artifacts_used) | 1
        for resource in range(NUM_RESOURCES):
            gain_from_stock(s, seat, resource, int(t.artifact_amount[0]))
    else:
        player = s.player[seat]
        player.artifacts = int(player.artifacts) | 1 << artifact
        player.artifact_count += 1


@helper
def _end_move(s, t, ship):
    """End a move. Others move one starship; the owner moves one at first, and the others in the end."""
    s.moved = int(s.moved) | 1 << ship
    if s.step < s.num_players:
        _next_mover(s, t)


@helper
def _next_mover(s, t):
    """Go from the owner to the others clockwise, then to the owner's starships that have not moved."""
    n = int(s.num_players)
    step = int(s.step)
    if step == n:
        next_space(s, t)
        return
    if step == 0:
        s.owner_moved = s.moved
    step += 1
    s.step = step
    s.seat = seat_after(s, int(s.owner), step)
    s.moved = 0
    if step == n:
        s.moved = s.owner_moved
        s.owner_moved = 0
