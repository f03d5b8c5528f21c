"""Greedy play of Kepler Run: it looks one pick ahead in the draft, and plans flights exactly.

To plan a flight, it finds the least fuel that leads to each place, over all ways to spend parts and booster. A place to
end at is worth what the flight gains in deliveries, contract, Kepler and station, less the ship's fuel it takes. To
judge a pick, it tries the pick out on a copy of the position (the rules say what it does). The pick is worth the points
it scores, the best flight after it, and what modules, fuel, parts, deliveries and stations are worth in the rounds to
come.

It assumes that the others fly as far as their fuel carries them, and that each of the contracts in their hands is
equally likely.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allowed
from kepler_envs.engine.kernel import helper, leaf, room_for
from kepler_envs.games.kepler_run import rules
from kepler_envs.games.kepler_run.actions import (
    BOOSTER,
    CONTRACT,
    LOAD,
    MOVE,
    NUM_ACTIONS,
    STOP,
    TARGET,
    USE_PART,
)
from kepler_envs.games.kepler_run.reach import icons_crossed
from kepler_envs.games.kepler_run.state import (
    JUMP_PART,
    MAX_PLAYERS,
    NUM_TRAITS,
    PART_SLOTS,
    RUN_SLOTS,
    SLING_PART,
    STATE,
    Node,
)

VERSION = 1
"""Goes up whenever a choice changes, so that records say which greedy played."""

IN_DRAFT, IN_TARGET, IN_CONTRACT = int(Node.DRAFT), int(Node.TARGET), int(Node.CONTRACT)
IN_LOAD, IN_FLY = int(Node.LOAD), int(Node.FLY)
NUM_PLACES = RUN_SLOTS + 2
BOOSTER_TOOL = 1  # bit of the booster in a set of tools; part i has bit i + 1
NUM_TOOL_SETS = 2 << PART_SLOTS
TOO_MUCH = 1000  # fuel that nobody has
NOTHING = -1000.0

# What things are worth in points. Rounds to come are those after the present one.
FUEL_ON_SHIP = 0.45  # while there are rounds to come
MODULE = 0.5  # for each round to come
DELIVERY = 0.75  # for each round to come
PART = 0.5  # for each round to come and each fuel that it probably saves
STATION = 0.5  # for each round to come, besides its points
CLOSEST_NOW, CLOSEST_LATER = 2.5, 0.6  # the station nearest to Kepler, in the last round and before it
PLACE = 0.05  # for each place flown, for the turn order
TANK = 0.01  # for each fuel left in the tank, for the turn order
LAST_FUEL = 0.02  # for each fuel on the ship at the end, which decides ties
COST_OF_UNKNOWN = 1.6  # fuel for each sector that will probably be added before Kepler
DISCOVERY_RATE = 0.4  # share of picks that discover a sector


_room_for_states = room_for(STATE)


@helper
def policy(s, t, mask, count, generator):
    """The choice of the seat to move, from what lies open and from its own contract."""
    seat, node = int(s.seat), int(s.node)
    least = np.empty((NUM_PLACES, NUM_TOOL_SETS), np.int64)
    reach = np.zeros(MAX_PLAYERS, np.int64)
    for other in range(int(s.num_players)):
        if other != seat:
            reach[other] = _farthest_place(s, t, other, least)
    if node in (IN_DRAFT, IN_TARGET):
        return _best_pick(s, t, seat, mask, least, reach)
    if node == IN_CONTRACT:
        return CONTRACT + _best_contract(s, t, seat, least, reach)
    if node == IN_LOAD:
        return LOAD + _best_load(s, t, seat, least, reach)
    return _best_move(s, t, seat, mask, least, reach)


# ---------------------------------------------------------------- flights


@helper
def _find_least_fuel(s, t, seat, start, used, least):
    """Write to ``least[place, tools used]`` the least fuel that leads there from ``start``.

    The tools in ``used`` are gone at the start.
    """
    player, length = s.player[seat], int(s.run_length)
    sets = 2 << int(player.part_count)
    for place in range(start, length + 2):
        for tools in range(sets):
            least[place, tools] = TOO_MUCH
    least[start, used] = 0
    for place in range(start, length + 1):
        cost, here = int(t.port_cost), 0
        if place > 0:
            here = int(s.run[place - 1].type)
            cost = 0 if here == player.built_in else int(s.run[place - 1].cost)
        single_steps = place > 0 and cost > 0
        for tools in range(sets):
            spent = least[place, tools]
            if spent == TOO_MUCH:
                continue
            _lower(least, place + 1, tools, spent + cost)
            if single_steps and tools & BOOSTER_TOOL == 0:
                _lower(least, place + 1, tools | BOOSTER_TOOL, spent + int(t.booster_dots))
            for slot in range(int(player.part_count)):
                tool = 2 << slot
                if tools & tool:
                    continue
                kind = int(player.parts[slot].part)
                after = spent + int(player.parts[slot].dots)
                if kind == SLING_PART:
                    if place < length:
                        _lower(least, place + 2, tools | tool, after)
                elif single_steps and kind in (JUMP_PART, here):
                    _lower(least, place + 1, tools | tool, after)


@leaf
def _lower(least, place, tools, fuel):
    if fuel < least[place, tools]:
        least[place, tools] = fuel


@leaf
def _least_to(least, place, sets):
    best = TOO_MUCH
    for tools in range(sets):
        if least[place, tools] < best:
            best = least[place, tools]
    return best


@leaf
def _tools_used(player):
    """The set of tools that this flight has already used."""
    tools = int(player.booster_used)
    for slot in range(int(player.part_count)):
        tools |= int(player.parts[slot].used) << (slot + 1)
    return tools


@helper
def _farthest_place(s, t, seat, least):
    """The place where a seat's flight ended, or the farthest it could reach with all its fuel."""
    player = s.player[seat]
    if player.flown:
        return int(player.place)
    _find_least_fuel(s, t, seat, 0, 0, least)
    sets = 2 << int(player.part_count)
    place = 0
    while place <= s.run_length and _least_to(least, place + 1, sets) <= int(player.modules) + int(player.fuel):
        place += 1
    return place


@helper
def _best_flight(s, t, seat, contract, start, used, tank, ship_fuel, unknown, least, reach):
    """(worth, place) of the best flight from ``start`` with ``tank`` fuel in the tank.

    ``ship_fuel`` more can be loaded from the ship. ``unknown`` sectors will probably be added to the run before the
    flight.
    """
    player, length = s.player[seat], int(s.run_length)
    sets = 2 << int(player.part_count)
    _find_least_fuel(s, t, seat, start, used, least)
    rounds_to_come = int(t.rounds) - 1 - int(s.round_index)
    crossed = icons_crossed(s, start, contract)
    gained = 0.0  # on the way
    delivered = 0  # set of type fields met since the start
    best, end = NOTHING, start
    for place in range(start, length + 2):
        fuel = _least_to(least, place, sets)
        if place > length:
            fuel += int(unknown * COST_OF_UNKNOWN + 0.5)
        elif place > start:
            sector = s.run[place - 1]
            kind = int(sector.type)
            crossed += int(sector.icons[contract])
            if delivered >> kind & 1 == 0:
                delivered |= 1 << kind
                gained += _deliveries_open(player, kind) * int(t.delivery_vp)
            if sector.disk == seat + 1:
                gained += int(t.station_fuel) * _fuel_worth(rounds_to_come)
        loaded = fuel - tank
        if loaded > ship_fuel:
            if place < length:
                continue  # a SLING may still lead farther
            break
        worth = gained + PLACE * place - (loaded * _fuel_worth(rounds_to_come) if loaded > 0 else TANK * loaded)
        worth += _contract_worth(s, t, seat, contract, crossed, rounds_to_come, reach)
        if place > length:
            worth += _kepler_worth(s, t, seat, reach)
        elif place > 0 and player.disks > 0 and s.run[place - 1].stations > 0 and s.run[place - 1].disk == 0:
            worth += _station_worth(s, t, place - 1, rounds_to_come)
        if worth > best:
            best, end = worth, place
    return best, end


@leaf
def _deliveries_open(player, kind):
    return 0 if player.delivered[kind - 1] else int(player.deliveries[kind - 1])


@leaf
def _fuel_worth(rounds_to_come):
    return FUEL_ON_SHIP if rounds_to_come > 0 else LAST_FUEL


@helper
def _contract_worth(s, t, seat, contract, crossed, rounds_to_come, reach):
    """What a contract is worth: its prize if nobody who may hold the same one crosses more, else what the icons pay."""
    consolation = crossed * (
        int(t.secondary_vp[contract]) + int(t.secondary_fuel[contract]) * _fuel_worth(rounds_to_come)
    )
    if crossed == 0 or s.completed_by[contract] > 0:
        return consolation
    chance = 1.0
    for other in range(int(s.num_players)):
        rival = s.player[other]
        if other == seat or rival.hand[contract] == 0:
            continue
        theirs = icons_crossed(s, reach[other], contract)
        if theirs > crossed or (theirs == crossed and rival.order_position < s.player[seat].order_position):
            in_hand = int(rival.hand[0]) + int(rival.hand[1]) + int(rival.hand[2])
            chance *= 1 - 1 / in_hand
    return chance * int(t.complete_vp[contract]) + (1 - chance) * consolation


@leaf
def _kepler_worth(s, t, seat, reach):
    """The prize for reaching Kepler: the first arrival's, unless somebody is or will probably be there before."""
    first = s.arrivals == 0
    for other in range(int(s.num_players)):
        rival = s.player[other]
        if other != seat and rival.order_position < s.player[seat].order_position and reach[other] > s.run_length:
            first = False
    return int(t.first_arrival_vp) if first else int(t.later_arrival_vp)


@leaf
def _station_worth(s, t, index, rounds_to_come):
    """What a station on ``run[index]`` is worth: its points, fuel in the rounds to come, the prize for the closest."""
    worth = int(t.station_vp) + STATION * rounds_to_come
    for farther in range(index + 1, int(s.run_length)):
        if s.run[farther].disk > 0:
            return worth
    return worth + (CLOSEST_NOW if rounds_to_come == 0 else CLOSEST_LATER)


@helper
def _best_contract(s, t, seat, least, reach):
    player = s.player[seat]
    best, choice = NOTHING, 0
    for contract in range(NUM_TRAITS):
        if player.hand[contract]:
            worth, _ = _best_flight(
                s, t, seat, contract, 0, 0, int(player.modules), int(player.fuel), 0.0, least, reach
            )
            if worth > best:
                best, choice = worth, contract
    return choice


@helper
def _best_load(s, t, seat, least, reach):
    """The fuel to load: just what the best flight needs."""
    player = s.player[seat]
    contract = int(player.contract) - 1
    _, end = _best_flight(s, t, seat, contract, 0, 0, int(player.tank), int(player.fuel), 0.0, least, reach)
    loaded = _least_to(least, end, 2 << int(player.part_count)) - int(player.tank)
    return loaded if loaded > 0 else 0


@helper
def _best_move(s, t, seat, mask, least, reach):
    """The way to fly on that still allows the best flight and leaves the most fuel."""
    player = s.player[seat]
    contract, place, tank, used = int(player.contract) - 1, int(player.place), int(player.tank), _tools_used(player)
    _, end = _best_flight(s, t, seat, contract, place, used, tank, 0, 0.0, least, reach)
    if end == place:
        return STOP
    sets = 2 << int(player.part_count)
    best, choice = TOO_MUCH, MOVE
    for action in range(MOVE, STOP):
        if not allowed(mask, action):
            continue
        to, spent, tools = place + 1, int(s.leaving_cost), used
        if action == BOOSTER:
            spent, tools = int(t.booster_dots), used | BOOSTER_TOOL
        elif action >= USE_PART:
            part = player.parts[action - USE_PART]
            spent, tools = int(part.dots), used | 2 << (action - USE_PART)
            if part.part == SLING_PART:
                to += 1
        if to > end:
            continue
        _find_least_fuel(s, t, seat, to, tools, least)
        fuel = spent + _least_to(least, end, sets)
        if fuel < best:
            best, choice = fuel, action
    return choice


# ---------------------------------------------------------------- draft


@helper
def _best_pick(s, t, seat, mask, least, reach):
    """The pick, or the target of a pick, that leads to the best position."""
    copies = _room_for_states(1)
    best, choice = NOTHING, 0
    for action in range(CONTRACT):
        if not allowed(mask, action):
            continue
        copies[0] = s
        rules.apply(copies[0], t, action)
        if copies[0].node == IN_TARGET:
            worth = _worth_with_target(copies[0], t, seat, least, reach)
        else:
            worth = _worth(copies[0], t, seat, least, reach)
        if worth > best:
            best, choice = worth, action
    return choice


@helper
def _worth_with_target(s, t, seat, least, reach):
    """The worth of a special action with its best target."""
    copies = _room_for_states(1)
    mask = np.zeros((NUM_ACTIONS + 63) // 64, np.uint64)
    rules.legal(s, t, mask)
    best = NOTHING
    for action in range(TARGET, CONTRACT):
        if allowed(mask, action):
            copies[0] = s
            rules.apply(copies[0], t, action)
            worth = _worth(copies[0], t, seat, least, reach)
            if worth > best:
                best = worth
    return best


@helper
def _worth(s, t, seat, least, reach):
    """A seat's prospects in the middle of a draft, in points."""
    player = s.player[seat]
    picks_left = 2 * int(s.num_players) - int(s.draft_pos)
    unknown = 1 + DISCOVERY_RATE * picks_left if picks_left > 0 else 0.0
    best = NOTHING
    for contract in range(NUM_TRAITS):
        if player.hand[contract]:
            worth, _ = _best_flight(
                s, t, seat, contract, 0, 0, int(player.modules), int(player.fuel), unknown, least, reach
            )
            if worth > best:
                best = worth
    return int(player.vp) + best + _later_worth(s, t, seat)


@helper
def _later_worth(s, t, seat):
    """What modules, fuel, parts, deliveries and stations will be worth in the rounds to come and at the end."""
    player = s.player[seat]
    rounds = int(t.rounds) - 1 - int(s.round_index)
    worth = int(player.fuel) * _fuel_worth(rounds)
    worth += rounds * (MODULE * int(player.modules) + DELIVERY * int(player.delivery_count))
    for slot in range(int(player.part_count)):
        saved = _usual_saving(player.parts[slot])
        if saved > 0:
            worth += rounds * PART * saved
    for index in range(int(s.run_length)):
        if s.run[index].disk == seat + 1:
            worth += _station_worth(s, t, index, rounds)
    return worth


@leaf
def _usual_saving(part):
    """The fuel that a part probably saves in a flight."""
    if part.part == SLING_PART:
        return 3.5 - int(part.dots)
    if part.part == JUMP_PART:
        return 2.5 - int(part.dots)
    return 1.2 - 0.6 * int(part.dots)
