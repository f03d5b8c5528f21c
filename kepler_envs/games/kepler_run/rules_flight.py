"""Rules of contracts, takeoff and flight (3.4 - 3.6)."""

from __future__ import annotations

from kepler_envs.engine.bits import allow, allow_word, has
from kepler_envs.engine.kernel import leaf
from kepler_envs.games.kepler_run.actions import BOOSTER, CONTRACT, LOAD, MOVE, STOP, USE_PART
from kepler_envs.games.kepler_run.rules_cards import add_fuel, forget_reach, place_disk, score
from kepler_envs.games.kepler_run.rules_scoring import end_round
from kepler_envs.games.kepler_run.state import BY_DELIVERY, BY_KEPLER, JUMP_PART, NUM_TRAITS, SLING_PART, Node

IN_LOAD, IN_FLY = int(Node.LOAD), int(Node.FLY)


# ---------------------------------------------------------------- contracts and takeoff


@leaf
def legal_contracts(player, mask):
    for contract in range(NUM_TRAITS):
        if player.hand[contract]:
            allow(mask, CONTRACT + contract)


@leaf
def commit(s, player, contract):
    player.contract = contract + 1
    player.committed = 1
    chosen = int(s.committed_count) + 1
    s.committed_count = chosen
    if chosen < s.num_players:
        s.seat = s.order[chosen]
    else:
        _take_off(s, 0)


@leaf
def _take_off(s, position):
    """Let the player at this position of the order take off. Each module puts one fuel into the tank (R)."""
    seat = int(s.order[position])
    s.seat = seat
    s.player[seat].tank = s.player[seat].modules
    s.node = IN_LOAD


@leaf
def legal_loads(player, mask):
    """Allow any of the fuel on the ship."""
    allow_word(mask, LOAD, (1 << (int(player.fuel) + 1)) - 1)


@leaf
def load(s, t, player, amount):
    player.fuel -= amount
    player.tank += amount
    s.leaving_cost = t.port_cost
    s.node = IN_FLY
    forget_reach(player)


# ---------------------------------------------------------------- flight


@leaf
def legal_moves(s, t, player, mask):
    """Allow the ways of leaving the place (3.6).

    A single step by other means is only allowed where leaving costs fuel (ruling 26).
    """
    place, tank, cost = int(player.place), int(player.tank), int(s.leaving_cost)
    moves = 1 << (STOP - MOVE)
    if tank >= cost:
        moves |= 1
    here = 0  # type field of a sector that is worth a part
    if place > 0 and cost > 0:
        here = int(s.run[place - 1].type)
        if player.booster_used == 0 and tank >= t.booster_dots:
            moves |= 1 << (BOOSTER - MOVE)
    for slot in range(int(player.part_count)):
        part = player.parts[slot]
        if part.used == 0 and tank >= part.dots:
            if part.part == SLING_PART:
                works = place < s.run_length
            else:
                works = here > 0 and (part.part == here or part.part == JUMP_PART)
            if works:
                moves |= 1 << (USE_PART - MOVE + slot)
    allow_word(mask, MOVE, moves)


@leaf
def fly(s, t, player, seat, action):
    if action == STOP:
        _establish_station(s, player, seat)
    else:
        for _ in range(_pay_for_steps(s, t, player, action)):
            _enter_next(s, t, player, seat)
    if action == STOP or player.place > s.run_length:
        _end_flight(s, t, player)


@leaf
def _pay_for_steps(s, t, player, action):
    """Spend the fuel for leaving in the chosen way. Returns how many places on it leads."""
    if action == MOVE:
        player.tank -= s.leaving_cost
        return 1
    if action == BOOSTER:
        player.tank -= t.booster_dots
        player.booster_used = 1
        return 1
    part = player.parts[action - USE_PART]
    player.tank -= part.dots
    part.used = 1
    return 2 if part.part == SLING_PART else 1


@leaf
def _enter_next(s, t, player, seat):
    """Enter the next place and apply what waits there."""
    index = int(player.place)  # run index of the next place
    player.place = index + 1
    player.reach = index + 1
    if index == s.run_length:
        _reach_kepler(s, t, player)
        return
    sector = s.run[index]
    for contract in range(NUM_TRAITS):
        player.icons[contract] += sector.icons[contract]
    _deliver(player, t, sector.type)
    if sector.disk == seat + 1:
        add_fuel(player, t, int(t.station_fuel))
    s.leaving_cost = 0 if sector.type == player.built_in else sector.cost


@leaf
def _deliver(player, t, sector_type):
    """Pay every delivery of this type, once per flight (ruling 11)."""
    kind = int(sector_type) - 1
    if player.deliveries[kind] > 0 and player.delivered[kind] == 0:
        player.delivered[kind] = 1
        score(player, BY_DELIVERY, player.deliveries[kind] * t.delivery_vp)


@leaf
def _reach_kepler(s, t, player):
    score(player, BY_KEPLER, t.first_arrival_vp if s.arrivals == 0 else t.later_arrival_vp)
    s.arrivals += 1


@leaf
def _establish_station(s, player, seat):
    """Leave a disk where a flight ends at a station without one (R)."""
    index = int(player.place) - 1
    if index >= 0 and player.disks > 0 and has(s.free_stations, index):
        place_disk(s, player, seat, index)


@leaf
def _end_flight(s, t, player):
    player.flown = 1
    s.leaving_cost = 0
    following = int(player.order_position) + 1
    if following < s.num_players:
        _take_off(s, following)
    else:
        end_round(s, t)
