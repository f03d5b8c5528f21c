"""Rules of starships: where they are built, how they move, how they are withdrawn."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow, lowest
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_3042.actions import DONE, HEX, SHIP, SLOT
from kepler_envs.games.kepler_3042.hexes import (
    allow_hexes,
    common,
    is_empty,
    members,
    neighbours,
    single,
    take_out,
    union,
    without,
)
from kepler_envs.games.kepler_3042.rules_board import (
    add_reward,
    colonies,
    extra,
    finish_action,
    free_space,
    is_empty_space,
    lead,
    slots,
    station,
    uncolonised_face_up,
)
from kepler_envs.games.kepler_3042.state import (
    BY_CARD,
    BY_MISSION,
    BY_TURN,
    COLONIAL,
    EARTH,
    ENERGY,
    MATTER,
    MAX_SHIPS,
    MINE,
    NEXT_BENEFICIARY,
    REGENERATION,
    SPACE_TRAVELS,
    TARGET,
    TURN_OVER,
    Node,
    node_set,
)

NODES = node_set(Node.SPACE_MISSIONS, Node.PLACE, Node.MOVEMENT, Node.MOVER, Node.GOING_ON, Node.WITHDRAWAL)


@helper
def legal(s, t, mask):
    """Allow building, placing, moving and withdrawing starships."""
    node = s.node
    if node == Node.SPACE_MISSIONS:
        _legal_payments(s, t, mask)
    elif node == Node.PLACE:
        _legal_places(s, t, mask)
    elif node == Node.MOVEMENT:
        _legal_moves(s, t, mask)
    elif node == Node.MOVER:
        _legal_movers(s, t, mask)
    elif node == Node.GOING_ON:
        _legal_to_go_on(s, t, mask)
    else:
        legal_to_withdraw(s, mask)


@helper
def apply(s, t, action):
    """Apply a choice at one of these nodes."""
    node = s.node
    if node == Node.SPACE_MISSIONS:
        _build_ship(s, t, action)
    elif node == Node.PLACE:
        _place_ship(s, action)
    elif node == Node.MOVEMENT:
        _choose_move(s, t, action)
    elif node == Node.MOVER:
        _choose_mover(s, t, action)
    elif node == Node.GOING_ON:
        _go_on(s, t, action)
    else:
        _choose_to_withdraw(s, action)


@leaf
def goes_on(s, t):
    """Go on once no starship is left that could move, go on, or be withdrawn. Returns whether it did."""
    flow = s.flow
    if flow == Node.MOVEMENT:
        if _still_movable(s, t) == 0:
            _end_movement(s)
            return True
    elif flow == Node.GOING_ON:
        if not _can_go_on(s, t):
            _end_leg(s)
            return True
    elif flow == Node.WITHDRAWAL and s.player[s.active].ships_in_supply == MAX_SHIPS:
        s.flow = Node.END_OF_TURN
        return True
    return False


# ---------------------------------------------------------------- building


@leaf
def _can_pay_starship(t, player, slot):
    """Whether a card can pay for a starship.

    That takes one energy and one matter, or one energy alone with the highest Space Travels (R).
    """
    matter = 0 if extra(t, player, SPACE_TRAVELS) else 1
    return player.cubes[slot, ENERGY] >= 1 and player.cubes[slot, MATTER] >= matter


@leaf
def _legal_payments(s, t, mask):
    """Allow the cards that can pay for one more starship (Space Missions)."""
    player = s.player[s.seat]
    allow(mask, DONE)
    if s.left > 0 and player.ships_in_supply > 0:
        for slot in slots(player):
            if _can_pay_starship(t, player, slot):
                allow(mask, SLOT + slot)


@leaf
def _build_ship(s, t, action):
    """Pay for a starship. Its place comes next."""
    if action == DONE:
        finish_action(s)
        return
    slot = action - SLOT
    player = s.player[s.seat]
    player.cubes[slot, ENERGY] -= 1
    player.storage[ENERGY] += 1
    if not extra(t, player, SPACE_TRAVELS):
        player.cubes[slot, MATTER] -= 1
        player.storage[MATTER] += 1
    s.left -= 1
    start_placing(s, BY_MISSION, slot + 1)


@leaf
def start_placing(s, source, place_slot):
    s.source = source
    s.place_slot = place_slot
    s.flow = Node.PLACE


@leaf
def home(s, t, player, slot):
    """The hex of the planet of a slot. It is Sol for Earth."""
    return int(t.sol) if slot == EARTH else int(s.planet_hex[player.slot[slot]]) - 1


@helper
def _places_around(s, t, centre):
    """The free hexes beside a planet. If there are none, all nearest ones (R)."""
    free = free_space(s, t)
    reached = neighbours(single(centre))
    found = common(reached, free)
    while is_empty(found):
        reached = union(reached, neighbours(reached))
        found = common(reached, free)
    return found


@helper
def places(s, t, player):
    """Where the new starship may stand: beside the planet that paid, or beside any own planet."""
    if s.place_slot > 0:
        return _places_around(s, t, home(s, t, player, s.place_slot - 1))
    found = _places_around(s, t, home(s, t, player, EARTH))
    for slot in colonies(player):
        found = union(found, _places_around(s, t, home(s, t, player, slot)))
    return found


@leaf
def _legal_places(s, t, mask):
    allow_hexes(mask, HEX, places(s, t, s.player[s.seat]))
    if s.source == BY_CARD:
        allow(mask, DONE)


@leaf
def _place_ship(s, action):
    seat = s.seat
    source = s.source
    s.source = 0
    s.place_slot = 0
    if action != DONE:
        ship = 0
        while s.player[seat].ship[ship] != 0:
            ship += 1
        station(s, np.int64(seat), np.int64(ship), action - HEX)
    if source == BY_MISSION:
        s.flow = Node.SPACE_MISSIONS
    elif source == BY_CARD:
        s.flow = NEXT_BENEFICIARY
    else:
        s.flow = Node.BONUS_ACTION


# ---------------------------------------------------------------- the search


@helper
def _destinations(s, t, start, points):
    """Hexes a starship can end on with so many spaces: through empty space only, and onto a tile as the last step (R).

    Starships in empty space do not stop others; tiles that are face down, colonised or occupied cannot be entered.
    """
    space = without(members(t.space), members(s.bodies))
    reached = single(start)
    border = neighbours(reached)
    for _ in range(points - 1):
        reached = union(reached, common(border, space))
        border = neighbours(reached)
    everywhere = union(union(reached, common(border, space)), common(border, uncolonised_face_up(s)))
    return without(everywhere, members(s.ships))


@helper
def _has_destination(s, t, start, points):
    """Whether the search finds anything. Mostly its first step does."""
    steps = 1
    while steps <= points:
        if not is_empty(_destinations(s, t, np.int64(start), np.int64(steps))):
            return True
        steps += 1
    return False


@helper
def _search_distance(s, t, start, goal):
    """The number of spaces to a destination."""
    space = without(members(t.space), members(s.bodies))
    reached = single(start)
    aim = single(goal)
    border = neighbours(reached)
    steps = 1
    while is_empty(common(border, aim)):
        reached = union(reached, common(border, space))
        border = neighbours(reached)
        steps += 1
    return steps


# ---------------------------------------------------------------- moving


@leaf
def start_movement(s, source, speed):
    s.source = source
    s.speed = speed
    s.moved = 0
    s.flow = Node.MOVEMENT


@leaf
def _can_move(s, t, player, ship, speed):
    """Whether a starship can move.

    It must be in empty space, with somewhere to go. One that has landed only leaves by withdrawal or colonising (R).
    """
    place = player.ship[ship] - 1
    return place >= 0 and is_empty_space(s, t, place) and _has_destination(s, t, np.int64(place), np.int64(speed))


@helper
def movable(s, t, seat, speed):
    """The starships of a seat that could move that many spaces, as bits."""
    player = s.player[seat]
    ships = 0
    if player.ships_in_space > 0:
        for ship in range(MAX_SHIPS):
            ships |= int(_can_move(s, t, player, ship, speed)) << ship
    return ships


@leaf
def _still_movable(s, t):
    """The starships that have not moved yet in this movement."""
    return movable(s, t, np.int64(s.active), np.int64(s.speed)) & ~s.moved


@leaf
def ready_to_move(s, t, player, ship):
    """Whether a starship of the seat that moves is in empty space and has not moved yet."""
    place = player.ship[ship] - 1
    return s.speed > 0 and place >= 0 and not s.moved >> ship & 1 and is_empty_space(s, t, place)


@leaf
def destinations(s, t, player, ship, points):
    """The hexes where a starship can go."""
    return _destinations(s, t, np.int64(player.ship[ship] - 1), np.int64(points))


@leaf
def _legal_moves(s, t, mask):
    """Allow every hex where any of the starships can go.

    In step 2c a starship may be withdrawn instead, which ends the moves. The destination comes first, because it mostly
    tells which starship is meant.
    """
    player = s.player[s.active]
    for ship in range(MAX_SHIPS):
        if ready_to_move(s, t, player, ship):
            allow_hexes(mask, HEX, destinations(s, t, player, ship, s.speed))
    if s.source == BY_TURN:
        legal_to_withdraw(s, mask)
    allow(mask, DONE)


@helper
def _able_to_reach(s, t, goal):
    """The starships that can still go to a hex, as bits."""
    player = s.player[s.active]
    ships = 0
    for ship in range(MAX_SHIPS):
        if ready_to_move(s, t, player, ship):
            reached = common(destinations(s, t, player, ship, s.speed), single(goal))
            ships |= int(not is_empty(reached)) << ship
    return ships


@leaf
def _choose_move(s, t, action):
    """Choose to stop, to withdraw a starship, or a destination."""
    if action == DONE:
        _stop_moving(s)
    elif action < HEX:
        _end_movement(s)
        withdraw(s, action - SHIP)
    else:
        goal = action - HEX
        ships = _able_to_reach(s, t, np.int64(goal))
        if ships & (ships - 1):
            s.goal = goal + 1
            s.flow = Node.MOVER
        else:
            _move_ship(s, t, np.int64(lowest(ships)), np.int64(goal), np.int64(s.speed))


@leaf
def _stop_moving(s):
    """End the moves. Whoever wants none in step 2c withdraws nothing either, because that was offered, too."""
    source = s.source
    _end_movement(s)
    if source == BY_TURN:
        s.flow = TURN_OVER


@leaf
def _legal_movers(s, t, mask):
    ships = _able_to_reach(s, t, np.int64(s.goal - 1))
    for ship in range(MAX_SHIPS):
        if ships >> ship & 1:
            allow(mask, SHIP + ship)


@leaf
def _choose_mover(s, t, action):
    goal = s.goal - 1
    s.goal = 0
    _move_ship(s, t, np.int64(action - SHIP), np.int64(goal), np.int64(s.speed))


@leaf
def mover_hex(s):
    """The hex of the starship that may go on."""
    return s.player[s.active].ship[s.moving - 1] - 1


@leaf
def _legal_to_go_on(s, t, mask):
    allow_hexes(mask, HEX, _destinations(s, t, np.int64(mover_hex(s)), np.int64(s.points)))
    allow(mask, DONE)


@leaf
def _go_on(s, t, action):
    if action == DONE:
        _end_leg(s)
    else:
        _move_ship(s, t, np.int64(s.moving - 1), np.int64(action - HEX), np.int64(s.points))


@helper
def _move_ship(s, t, ship, goal, points):
    """Move a starship to its destination.

    A colonial target is taken on the way, and the starship may go on from there (R).
    """
    seat = s.active
    s.moving = ship + 1
    if s.body[goal] == TARGET:
        s.points = points - _search_distance(s, t, mover_hex(s), goal)
        s.body[goal] = 0
        take_out(s.bodies, goal)
        take_out(s.face_up, goal)
        station(s, np.int64(seat), ship, goal)
        s.flow = Node.GOING_ON
        lead(s, t, seat, COLONIAL, 1)
    else:
        station(s, np.int64(seat), ship, goal)
        _end_leg(s)


@helper
def _end_leg(s):
    """Note that this starship has moved."""
    s.moved |= 1 << s.moving - 1
    s.moving = 0
    s.points = 0
    s.flow = Node.MOVEMENT


@leaf
def _can_go_on(s, t):
    """Whether the starship may go on after a colonial target: it has spaces left, and somewhere to go."""
    return _has_destination(s, t, np.int64(mover_hex(s)), np.int64(s.points))


@helper
def _end_movement(s):
    source = s.source
    s.source = 0
    s.speed = 0
    s.moved = 0
    if source == BY_TURN:
        s.flow = Node.WITHDRAWAL
    elif source == BY_CARD:
        s.flow = NEXT_BENEFICIARY
    else:
        s.flow = Node.BONUS_ACTION


# ---------------------------------------------------------------- withdrawing


@leaf
def legal_to_withdraw(s, mask):
    player = s.player[s.seat]
    for ship in range(MAX_SHIPS):
        if player.ship[ship] != 0:
            allow(mask, SHIP + ship)
    allow(mask, DONE)


@leaf
def _choose_to_withdraw(s, action):
    if action == DONE:
        s.flow = TURN_OVER
    else:
        withdraw(s, action - SHIP)


@helper
def withdraw(s, ship):
    """Return a starship to the supply. From a mine, a cube may be regenerated (R)."""
    seat = s.seat
    on_mine = s.body[s.player[seat].ship[ship] - 1] == MINE
    station(s, np.int64(seat), np.int64(ship), np.int64(-1))
    if on_mine:
        add_reward(s, np.int64(seat), np.int64(REGENERATION + 1))
