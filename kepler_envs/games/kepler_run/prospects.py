"""What a player works out at the table: derived fields of the deciding seat's observation.

Flights are planned place by place (``reach.py``) for what their ends are worth, in hundredths of points. In the draft the best flight with the
pieces of now is searched, and what a card would change is estimated from it. Each node has its own plan, with only what it shows.
Conditions are numbers to multiply with where they can be: what happens next in a flight is hard to foretell, for processors as well.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import bit_count, lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.simd import write_row
from kepler_envs.games.kepler_run.layout import (
    AS_MODULE,
    BEST,
    BY_BOOSTER,
    BY_PARTS,
    BY_STOP,
    CONTRACTS_BEHIND,
    END,
    FACTS_SIZE,
    LOAD_DERIVED,
    LOADS_BEHIND,
    MOST_WORTH,
    NEXT,
    OFFERS,
    ONE_LESS,
    ONE_MORE,
    PLACE_DERIVED,
    PLACES_FUEL,
    PLAYER_DERIVED,
    PLAYERS_REACH,
    POINT,
    ROW_OFFERS,
    SIZE,
    WAY_DERIVED,
    WAYS_BEHIND,
)
from kepler_envs.games.kepler_run.reach import TOO_MUCH, first_jumps, lay_out_tools, leave, own_cost
from kepler_envs.games.kepler_run.state import (
    JUMP_PART,
    MAX_PLAYERS,
    NUM_TRAITS,
    NUM_TYPES,
    OUTPOST,
    REFUEL,
    REROUTE,
    SLING_PART,
    Node,
)

IN_TARGET, IN_CONTRACT, IN_FLY, OVER = int(Node.TARGET), int(Node.CONTRACT), int(Node.FLY), int(Node.OVER)
NOTHING = -MOST_WORTH
NEVER = -(1 << 24)  # below all that anything could be worth

# What things are worth, in hundredths of points; a round to come is one after the present one.
FUEL_ON_SHIP, LAST_FUEL = 45, 2  # while there are rounds to come, and at the end
PLACE, TANK = 5, 1  # turn order: for each place flown, for each fuel left over
MODULE, DELIVERY, PART, STATION = 50, 75, 50, 50  # a round to come
CLOSEST_NOW, CLOSEST_LATER = 250, 60
UNKNOWN_SECTOR, DISCOVERY = 160, 64  # fuel to Kepler for the last card of the row, and for each pick to come

USUAL = [(0, 0), *[(120, 60)] * NUM_TYPES, (250, 100), (350, 100)]
"""Hundredths of fuel that a part of each kind probably saves in a flight, and how much less for each of its dots."""

DOTS = 10  # 0..9
PART_LATER = np.array([PART * max(0, usual - dot * dots) // 100 for usual, dot in USUAL for dots in range(DOTS)])
"""[part field * DOTS + dots]: what a part is worth a round to come."""

CERTAIN = 6**MAX_PLAYERS
CHANCE = np.array([6 ** (MAX_PLAYERS - three - two) * 4**three * 3**two if three + two <= MAX_PLAYERS else 0
                   for three in range(MAX_PLAYERS) for two in range(MAX_PLAYERS)])  # fmt: skip
"""[MAX_PLAYERS * rivals ahead with three contracts in hand + those with two]: that none of them has chosen a contract, of ``CERTAIN``."""

SHIFTED = MOST_WORTH  # is added to what is kept in 16 bits
EACH_BYTE, TOP_BITS = 0x0101010101, 0x8080808080  # a byte for each seat


@helper
def write_derived(s, t, seat, out):
    """All derived fields."""
    for entry in range(FACTS_SIZE, SIZE):
        out[entry] = 0
    n, node = int(s.num_players), int(s.node)
    if IN_CONTRACT <= node < OVER:
        for distance in range(n):
            other = seat + distance if seat + distance < n else seat + distance - n
            write_row(out, PLAYERS_REACH + PLAYER_DERIVED * distance, s.player[other].reach_row)
    if seat != s.seat or node == OVER:
        return
    if node > IN_CONTRACT:
        _write_flight(s, t, seat, s.player[seat], out)
    elif node == IN_CONTRACT:
        _write_contracts(s, t, seat, s.player[seat], out)
    else:
        _write_draft(s, t, seat, s.player[seat], out)


@leaf
def _cut(worth):
    return max(-MOST_WORTH, min(MOST_WORTH, worth))


@leaf
def _rounds_to_come(s, t):
    return int(t.rounds) - 1 - int(s.round_index)


@leaf
def _fuel_worth(rounds):
    return FUEL_ON_SHIP if rounds > 0 else LAST_FUEL


# ---------------------------------------------------------------- worth of an end


@leaf
def _load_worth(loaded, fuel_worth):
    """What the fuel from the ship would have been worth; if the tank suffices, less what is left in it."""
    return loaded * (fuel_worth if loaded > 0 else TANK)


@leaf
def _open_deliveries(player):
    """How many would pay at the first sector of each type, in nibbles."""
    word = 0
    for kind in range(NUM_TYPES):
        word |= int(player.deliveries[kind]) * (1 - int(player.delivered[kind])) << 4 * kind + 4
    return word


@leaf
def _stations(s, player):
    """The run indices where the player could leave a disk, as bits."""
    return np.int64(s.free_stations) if player.disks > 0 else 0


@leaf
def _station_worth(s, t, rounds):
    """(what a disk is worth: its points, its fuel in rounds to come; what it is worth more as the closest to Kepler)."""
    return POINT * int(t.station_vp) + STATION * rounds, CLOSEST_LATER if rounds > 0 else CLOSEST_NOW


@leaf
def _each_icon(t, contract, fuel_worth):
    """What an icon of a contract pays to those who do not complete it."""
    return int(t.secondary_vp[contract]) * POINT + int(t.secondary_fuel[contract]) * fuel_worth


@leaf
def _hands(s, seat):
    """(rivals with three contracts in hand, those with two, those with one): the top bits of their bytes."""
    three, two, one = 0, 0, 0
    for other in range(MAX_PLAYERS):  # absent ones hold none; a constant count has no branches
        rival = s.player[other]
        count = int(rival.hand[0]) + int(rival.hand[1]) + int(rival.hand[2])
        top = (128 if other != seat else 0) << 8 * other
        three |= top * (count == 3)
        two |= top * (count == 2)
        one |= top * (count == 1)
    return three, two, one


@leaf
def _icons_of_rivals(s, seat, contract):
    """In the byte of each rival who may hold a contract: with fewer icons of it than that a player is behind."""
    word, position = 0, s.player[seat].order_position
    for other in range(MAX_PLAYERS):
        rival = s.player[other]
        icons = int(rival.icons[contract]) + (rival.order_position < position)
        word |= icons * (rival.hand[contract] & (other != seat)) << 8 * other
    return word


@leaf
def _contract_worth(crossed, each, prize, rivals, three, two, one):
    """The prize (0: it is gone), if no rival who may hold the same contract crosses more; else what the icons pay."""
    ahead = (rivals | TOP_BITS) - (crossed + 1) * EACH_BYTE & TOP_BITS
    chance = CHANCE[MAX_PLAYERS * bit_count(ahead & three) + bit_count(ahead & two)]
    possible = (crossed > 0) & (prize > 0) & ((ahead & one) == 0)
    return crossed * each + (prize - crossed * each) * chance // CERTAIN * possible


@leaf
def _prize(s, t, contract):
    """For completing a contract; 0 where somebody has."""
    return int(t.complete_vp[contract]) * POINT * (s.completed_by[contract] == 0)


@leaf
def _kepler_worth(s, t, seat):
    """The first arrival's prize, unless somebody is there or will probably be there before."""
    earlier = int(s.arrivals)
    for other in range(MAX_PLAYERS):  # absent ones reach nothing
        rival = s.player[other]
        earlier += (rival.order_position < s.player[seat].order_position) & (rival.reach > s.run_length)
    return POINT * int(t.first_arrival_vp if earlier == 0 else t.later_arrival_vp)


# ---------------------------------------------------------------- load and flight


@helper
def _write_flight(s, t, seat, player, out):
    """Where to end the flight with the chosen contract; each load before it, or each way to leave on it."""
    length, rounds, flying = int(s.run_length), _rounds_to_come(s, t), s.node == IN_FLY
    fuel_worth, contract = _fuel_worth(rounds), int(player.contract) - 1
    start, tank, ship = int(player.place), int(player.tank), 0 if flying else int(player.fuel)
    budget = tank + ship
    three, two, one = _hands(s, seat)
    rivals, prize = _icons_of_rivals(s, seat, contract), _prize(s, t, contract)
    each, delivered = _each_icon(t, contract, fuel_worth), int(t.delivery_vp) * POINT
    stations, disks, own_disk = _stations(s, player), np.int64(s.disk_set), seat + 1
    station, closest = _station_worth(s, t, rounds)
    visit = int(t.station_fuel) * fuel_worth
    crossed = int(player.icons[contract]) if flying else 0
    gained, deliveries = 0, _open_deliveries(player)

    stay = PLACE * start + tank * TANK + _contract_worth(crossed, each, prize, rivals, three, two, one)
    stay += (stations << 1 >> start & 1) * (station + closest * (disks >> start == 0))
    best, end, onward, needed = stay, start, NEVER, -tank
    out[PLACES_FUEL + PLACE_DERIVED * start] = 1
    _clear_loads(stay, ship, out)

    tools, more_tools, sling = lay_out_tools(t, player)
    first, first_at, second, second_at = first_jumps(tools, more_tools)
    plain, slung, before, missed = int(t.port_cost), TOO_MUCH, 0, 0
    if start > 0:
        plain, tools, more_tools, first, first_at, second, second_at = leave(
            tools,
            more_tools,
            first,
            first_at,
            second,
            second_at,
            int(s.run[start - 1].type),
            own_cost(s, player, start),
        )
    for place in range(start + 1, length + 2):
        at_kepler = place > length
        kind, cost = 0, 0
        if not at_kepler:
            sector = s.run[place - 1]
            kind, cost = int(sector.type), int(sector.cost) * (sector.type != player.built_in)
            crossed += int(sector.icons[contract])
            gained += (deliveries >> 4 * kind & 15) * delivered + visit * (sector.disk == own_disk)
            deliveries &= ~(15 << 4 * kind)
        fuel = min(plain, slung)
        if fuel <= budget:
            missed = 0
            out[PLACES_FUEL + PLACE_DERIVED * place] = 1 + fuel
            worth = gained + PLACE * place + _contract_worth(crossed, each, prize, rivals, three, two, one)
            worth += (stations >> place - 1 & 1) * (station + closest * (disks >> place == 0))
            worth -= _load_worth(fuel - tank, fuel_worth)
            if at_kepler:
                worth += _kepler_worth(s, t, seat)
            entry = LOADS_BEHIND + LOAD_DERIVED * max(0, fuel - tank)
            out[entry] = max(int(out[entry]), _cut(worth))
            onward = max(onward, worth)
            end = place if worth > best else end
            needed = fuel - tank if worth > best else needed
            best = max(best, worth)
        elif missed or sling == TOO_MUCH:  # a SLING may lead over a place that is out of reach
            break
        else:
            missed = 1
        if at_kepler:
            break
        paid, tools, more_tools, first, first_at, second, second_at = leave(
            tools, more_tools, first, first_at, second, second_at, kind, cost
        )
        slung = min(slung + paid, before + sling)
        before = plain
        plain += paid
    out[BEST] = _cut(best)
    out[END] = end + 1
    if flying:
        out[NEXT] = start + 2
        out[LOADS_BEHIND] = 0
        _write_ways(s, t, player, start, end, best - stay, best - onward, out)
    else:
        _write_loads(ship, max(0, needed), best, fuel_worth, out)


@leaf
def _clear_loads(worth, ship, out):
    """Each load, for the best that can be done with it; until now to stay where one is."""
    for load in range(1, ship + 1):
        out[LOADS_BEHIND + LOAD_DERIVED * load] = NOTHING
    out[LOADS_BEHIND] = _cut(worth)


@leaf
def _write_loads(ship, needed, best, fuel_worth, out):
    """Each amount of fuel: the best flight with it; what it does not need is worth less in the tank than on the ship."""
    worth = NOTHING
    for load in range(ship + 1):
        entry = LOADS_BEHIND + LOAD_DERIVED * load
        worth = max(_cut(worth - fuel_worth + TANK), int(out[entry]))
        out[entry] = _cut(best - worth)
        out[entry + 1] = load - needed
    out[LOADS_BEHIND + LOAD_DERIVED * needed + 2] = 1


@leaf
def _write_ways(s, t, player, place, end, behind_to_stay, behind_onward, out):
    """Each way to leave: what it saves here, and what it could save before the best end."""
    length = int(s.run_length)
    cost, kind = int(t.port_cost), 0
    if place > 0:
        kind, cost = int(s.run[place - 1].type), own_cost(s, player, place)
    single_steps = (place > 0) & (cost > 0)
    following = own_cost(s, player, place + 1) if place < length else 0
    most, _, pair, by_type, _ = _costs_between(s, player, place + 1, end)
    behind_onward = _cut(behind_onward)
    for way in range(BY_STOP):
        out[WAYS_BEHIND + WAY_DERIVED * way] = behind_onward
    out[WAYS_BEHIND + WAY_DERIVED * BY_STOP] = _cut(behind_to_stay)
    unused = 1 - int(player.booster_used)
    entry = WAYS_BEHIND + WAY_DERIVED * BY_BOOSTER
    out[entry + 1] = (cost - int(t.booster_dots)) * single_steps * unused
    out[entry + 2] = max(0, most - int(t.booster_dots)) * unused
    for slot in range(int(player.part_count)):
        part = player.parts[slot]
        entry = WAYS_BEHIND + WAY_DERIVED * (BY_PARTS + slot)
        dots, works, unused = int(part.dots), int(part.part), 1 - int(part.used)
        jumps, slings = works == JUMP_PART, works == SLING_PART
        saves = cost - dots + following * slings
        helps = (place < length) if slings else single_steps & (jumps | (works == kind))
        later = most if jumps else by_type >> 4 * works & 15
        out[entry + 1] = saves * helps * unused
        out[entry + 2] = max(0, (pair if slings else later) - dots) * unused


@leaf
def _costs_between(s, player, first, end):
    """What leaving the sectors from ``first`` to the one before ``end`` costs, and what there is to meet.

    Returns (the most, the second most, the most of two in a row, the most of each type in nibbles, types met as bits, at the end, too).
    """
    most, second, pair, by_type, met, before = 0, 0, 0, 0, 0, 0
    for place in range(first, min(end, int(s.run_length) + 1)):
        kind, cost = int(s.run[place - 1].type), own_cost(s, player, place)
        met |= 1 << kind
        pair = max(pair, cost + before)
        before = cost
        second = max(second, min(most, cost))
        most = max(most, cost)
        by_type += max(0, cost - (by_type >> 4 * kind & 15)) << 4 * kind
    at_sector = first <= end <= s.run_length
    return most, second, pair, by_type, met | (1 << int(s.run[end - 1].type) if at_sector else 0)


# ---------------------------------------------------------------- contract


@helper
def _write_contracts(s, t, seat, player, out):
    """Where to end the flight with each contract in hand."""
    length, rounds = int(s.run_length), _rounds_to_come(s, t)
    fuel_worth, tank = _fuel_worth(rounds), int(player.modules)
    budget = tank + int(player.fuel)
    three, two, one = _hands(s, seat)
    rivals_0, rivals_1, rivals_2 = (
        _icons_of_rivals(s, seat, 0),
        _icons_of_rivals(s, seat, 1),
        _icons_of_rivals(s, seat, 2),
    )
    prize_0, prize_1, prize_2 = _prize(s, t, 0), _prize(s, t, 1), _prize(s, t, 2)
    each_0, each_1, each_2 = _each_icon(t, 0, fuel_worth), _each_icon(t, 1, fuel_worth), _each_icon(t, 2, fuel_worth)
    no_0, no_1, no_2 = _not_in_hand(player, 0), _not_in_hand(player, 1), _not_in_hand(player, 2)
    stations, disks, own_disk = _stations(s, player), np.int64(s.disk_set), seat + 1
    station, closest = _station_worth(s, t, rounds)
    visit, delivered = int(t.station_fuel) * fuel_worth, int(t.delivery_vp) * POINT
    gained, deliveries, crossed_0, crossed_1, crossed_2 = 0, _open_deliveries(player), 0, 0, 0

    best_0, best_1, best_2 = tank * TANK + no_0, tank * TANK + no_1, tank * TANK + no_2
    best = max(_ranked(best_0, 0, 0), _ranked(best_1, 1, 0), _ranked(best_2, 2, 0))
    out[PLACES_FUEL] = 1

    tools, more_tools, sling = lay_out_tools(t, player)
    first, first_at, second, second_at = first_jumps(tools, more_tools)
    plain, slung, before, missed = int(t.port_cost), TOO_MUCH, 0, 0
    for place in range(1, length + 2):
        at_kepler = place > length
        kind, cost = 0, 0
        if not at_kepler:
            sector = s.run[place - 1]
            kind, cost = int(sector.type), int(sector.cost) * (sector.type != player.built_in)
            crossed_0 += int(sector.asteroids)
            crossed_1 += int(sector.comets)
            crossed_2 += int(sector.stations)
            gained += (deliveries >> 4 * kind & 15) * delivered + visit * (sector.disk == own_disk)
            deliveries &= ~(15 << 4 * kind)
        fuel = min(plain, slung)
        if fuel <= budget:
            missed = 0
            out[PLACES_FUEL + PLACE_DERIVED * place] = 1 + fuel
            worth = gained + PLACE * place - _load_worth(fuel - tank, fuel_worth)
            worth += (stations >> place - 1 & 1) * (station + closest * (disks >> place == 0))
            if at_kepler:
                worth += _kepler_worth(s, t, seat)
            worth_0 = worth + no_0 + _contract_worth(crossed_0, each_0, prize_0, rivals_0, three, two, one)
            worth_1 = worth + no_1 + _contract_worth(crossed_1, each_1, prize_1, rivals_1, three, two, one)
            worth_2 = worth + no_2 + _contract_worth(crossed_2, each_2, prize_2, rivals_2, three, two, one)
            best = max(best, _ranked(worth_0, 0, place), _ranked(worth_1, 1, place), _ranked(worth_2, 2, place))
            best_0, best_1, best_2 = max(best_0, worth_0), max(best_1, worth_1), max(best_2, worth_2)
        elif missed or sling == TOO_MUCH:
            break
        else:
            missed = 1
        if at_kepler:
            break
        paid, tools, more_tools, first, first_at, second, second_at = leave(
            tools, more_tools, first, first_at, second, second_at, kind, cost
        )
        slung = min(slung + paid, before + sling)
        before = plain
        plain += paid
    worth = _worth_of(best)
    out[BEST] = _cut(worth)
    out[END] = _end_of(best) + 1
    out[CONTRACTS_BEHIND] = _cut(worth - best_0) * (no_0 == 0)
    out[CONTRACTS_BEHIND + 1] = _cut(worth - best_1) * (no_1 == 0)
    out[CONTRACTS_BEHIND + 2] = _cut(worth - best_2) * (no_2 == 0)


@leaf
def _not_in_hand(player, contract):
    """What is to be added to the worth of a contract so that none is chosen that is not in hand."""
    return (1 - int(player.hand[contract])) * NEVER


@leaf
def _ranked(worth, contract, place):
    """Numbers in the order of worth; equal ones: the first contract, then the nearest place."""
    return (worth << 8) + (NUM_TRAITS - 1 - contract << 6) + (63 - place)


@leaf
def _worth_of(ranked):
    return ranked >> 8


@leaf
def _contract_of(ranked):
    return NUM_TRAITS - 1 - (ranked >> 6 & 3)


@leaf
def _end_of(ranked):
    return 63 - (ranked & 63)


# ---------------------------------------------------------------- draft


@helper
def _write_draft(s, t, seat, player, out):
    """The best flight with what one has now, and with a fuel more and less; what a card would change."""
    length, rounds = int(s.run_length), _rounds_to_come(s, t)
    fuel_worth, tank, ship = _fuel_worth(rounds), int(player.modules), int(player.fuel)
    budget, unknown = tank + ship + 1, _unknown_fuel(s)
    each_0, each_1, each_2 = _each_icon(t, 0, fuel_worth), _each_icon(t, 1, fuel_worth), _each_icon(t, 2, fuel_worth)
    prize_0, prize_1, prize_2 = _prize(s, t, 0), _prize(s, t, 1), _prize(s, t, 2)
    no_0, no_1, no_2 = _not_in_hand(player, 0), _not_in_hand(player, 1), _not_in_hand(player, 2)
    stations, disks, own_disk = _stations(s, player), np.int64(s.disk_set), seat + 1
    station, closest = _station_worth(s, t, rounds)
    visit, delivered = int(t.station_fuel) * fuel_worth, int(t.delivery_vp) * POINT
    gained, deliveries, crossed_0, crossed_1, crossed_2 = 0, _open_deliveries(player), 0, 0, 0
    deliveries_before, deliveries_at_end, deliveries_before_end = deliveries, deliveries, deliveries

    ranked = max(_ranked(no_0, 0, 0), _ranked(no_1, 1, 0), _ranked(no_2, 2, 0)) + (tank * TANK << 8)
    best, needed, beyond = ranked, -tank, NEVER
    one_more = _worth_of(ranked) + TANK
    one_less = _worth_of(ranked) - (fuel_worth if tank == 0 else TANK) if tank + ship > 0 else NOTHING
    out[PLACES_FUEL] = 1

    tools, more_tools, sling = lay_out_tools(t, player)
    first, first_at, second, second_at = first_jumps(tools, more_tools)
    plain, slung, before, missed = int(t.port_cost), TOO_MUCH, 0, 0
    for place in range(1, length + 2):
        at_kepler = place > length
        kind, cost = 0, 0
        if not at_kepler:
            sector = s.run[place - 1]
            kind, cost = int(sector.type), int(sector.cost) * (sector.type != player.built_in)
            crossed_0 += int(sector.asteroids)
            crossed_1 += int(sector.comets)
            crossed_2 += int(sector.stations)
            deliveries_before = deliveries
            gained += (deliveries >> 4 * kind & 15) * delivered + visit * (sector.disk == own_disk)
            deliveries &= ~(15 << 4 * kind)
        fuel = min(plain, slung)
        if fuel <= budget:
            missed = 0
            out[PLACES_FUEL + PLACE_DERIVED * place] = 1 + fuel
            loaded = fuel - tank
            worth_0 = no_0 + _probable_worth(crossed_0, each_0, prize_0)
            worth_1 = no_1 + _probable_worth(crossed_1, each_1, prize_1)
            worth_2 = no_2 + _probable_worth(crossed_2, each_2, prize_2)
            ranked = max(_ranked(worth_0, 0, place), _ranked(worth_1, 1, place), _ranked(worth_2, 2, place))
            worth = gained + PLACE * place + (stations >> place - 1 & 1) * (station + closest * (disks >> place == 0))
            if at_kepler:
                if loaded <= ship:
                    beyond = worth + _worth_of(ranked) - _load_worth(loaded, fuel_worth)
                loaded += unknown
                worth += POINT * int(t.first_arrival_vp)  # nobody is there in the draft
            ranked += worth - _load_worth(loaded, fuel_worth) << 8
            whole = _worth_of(ranked)
            with_more = whole + (fuel_worth if loaded > 0 else TANK)
            with_less = whole - (fuel_worth if loaded >= 0 else TANK)
            one_more = max(one_more, with_more if loaded <= ship + 1 else NEVER)
            one_less = max(one_less, with_less if loaded < ship else NEVER)
            ranked = ranked if loaded <= ship else NEVER << 8
            needed = loaded if ranked > best else needed
            deliveries_at_end = deliveries if ranked > best else deliveries_at_end
            deliveries_before_end = deliveries_before if ranked > best else deliveries_before_end
            best = max(best, ranked)
        elif missed or sling == TOO_MUCH:
            break
        else:
            missed = 1
        if at_kepler:
            break
        paid, tools, more_tools, first, first_at, second, second_at = leave(
            tools, more_tools, first, first_at, second, second_at, kind, cost
        )
        slung = min(slung + paid, before + sling)
        before = plain
        plain += paid
    worth, contract, end = _worth_of(best), _contract_of(best), _end_of(best)
    more, less = one_more - worth, worth - one_less
    out[BEST] = _cut(worth)
    out[END] = end + 1
    out[ONE_MORE] = _cut(more)
    out[ONE_LESS] = _cut(less)
    each_fuel = fuel_worth if needed > 0 else TANK
    each = _each_icon(t, contract, fuel_worth)
    most, runner_up, pair, by_type, met = _costs_between(s, player, 1, end)
    swap = _swap_before(s, player, end) * each_fuel
    swap_end = _swap_at(s, contract, end, each, deliveries_before_end, delivered)
    visit_before = (1 << end) - 1  # run indices that the best flight passes
    if s.node == IN_TARGET:
        _write_aims(s, end, swap, swap_end, station, closest, visit, visit_before, out)
        return
    out[AS_MODULE] = _cut(rounds * MODULE + more)
    at_kepler = end > length
    # what each action is worth, in 16 bits
    added = min(int(t.refuel), int(t.fuel_cap) - ship)
    refuel = added * fuel_worth + max(0, more - fuel_worth) * (added > 0)
    outpost = _best_outpost(stations, disks, station, closest, visit, visit_before)
    actions = _cut(refuel) + SHIFTED << 16 * REFUEL
    actions |= _cut(max(0, swap, swap_end)) + SHIFTED << 16 * REROUTE
    actions |= _cut(outpost) + SHIFTED << 16 * OUTPOST
    # what a part of each kind could save on the way, in nibbles; the booster is already where it saves most
    saved = by_type | (runner_up if t.booster_dots < most else most) << 4 * JUMP_PART | pair << 4 * SLING_PART
    deliveries = deliveries_at_end
    passing, can_pass = beyond - worth, beyond > NEVER
    station *= player.disks > 0
    discovered, to_come = int(t.discover_vp) * POINT, rounds * DELIVERY
    cards = np.uint64(s.row_set)
    while cards:
        slot = lowest(cards)
        cards = without_lowest(cards)
        card = s.row[slot]
        entry = ROW_OFFERS + OFFERS * slot
        kind, works, dots, action = int(card.type), int(card.part), int(card.dots), int(card.action)
        # as a sector: the flight may end there, or goes on to a Kepler that is farther away
        icons = int(card.asteroids) if contract == 0 else int(card.comets if contract == 1 else card.stations)
        stay = passing + icons * each + (deliveries >> 4 * kind & 15) * delivered + station * (card.stations > 0)
        onward = -int(card.cost) * each_fuel * (at_kepler & (card.type != player.built_in))
        out[entry] = _cut(discovered + max(stay, onward) * can_pass)
        # as a part: what it saves today, and probably later
        wrenches = int(card.wrenches)  # modules, and with them fuel
        spared = max(0, (saved >> 4 * works & (31 if works == SLING_PART else 15)) - dots) - wrenches
        change = more + (spared - 1) * each_fuel if spared > 0 else (spared + 1) * each_fuel - less
        usual = rounds * (PART_LATER[DOTS * works + dots] - MODULE * wrenches)
        out[entry + 1] = _cut(int(card.vp) * POINT + usual + change * (spared != 0))
        # for its action, and as a delivery
        special = to_come + (met >> kind & 1) * delivered + (actions >> 16 * action & 0xFFFF) - SHIFTED
        out[entry + 2] = _cut(special) * (action > 0)


@leaf
def _unknown_fuel(s):
    """What the sectors that will probably still be added cost before Kepler."""
    picks = 2 * int(s.num_players) - int(s.draft_pos) - 1
    return (UNKNOWN_SECTOR + DISCOVERY * picks + 50) // 100 if picks > 0 else 0


@leaf
def _probable_worth(crossed, each, prize):
    """In the draft nobody's reach is known: the prize for a single icon; what icons pay, where it is gone."""
    return prize if (crossed > 0) & (prize > 0) else crossed * each


@leaf
def _swap_before(s, player, end):
    """The fuel that the best flight saves if its end comes one place earlier: the last sector it leaves changes places with the end."""
    if 1 < end <= s.run_length:
        return own_cost(s, player, end - 1) - own_cost(s, player, end)
    return 0


@leaf
def _swap_at(s, contract, end, each, deliveries, delivered):
    """What the best flight gains if it ends at the sector that is now behind its end; only these two changes matter to it."""
    if not 1 <= end < s.run_length:
        return 0
    here, behind = s.run[end - 1], s.run[end]
    gained = (int(behind.icons[contract]) - int(here.icons[contract])) * each
    change = (deliveries >> 4 * int(behind.type) & 15) - (deliveries >> 4 * int(here.type) & 15)
    return gained + change * delivered


@leaf
def _best_outpost(free, disks, station, closest, visit, passed):
    """A disk now, on one of the free stations: of two sets of bits the greater number has the farthest."""
    best = max(closest * (free > disks), visit * (free & passed > 0), (closest + visit) * (free & passed > disks))
    return (station + best) * (free > 0)


@leaf
def _write_aims(s, end, swap, swap_end, station, closest, visit, passed, out):
    """Each sector that the special action can be applied to."""
    if s.pending_action == OUTPOST:
        free = s.free_stations
        while free:
            index = lowest(free)
            free = without_lowest(free)
            worth = station + closest * (np.int64(s.disk_set) >> index + 1 == 0) + visit * (passed >> index & 1)
            out[PLACES_FUEL + PLACE_DERIVED * (index + 1) + 1] = _cut(worth)
        return
    if 1 < end <= s.run_length:
        out[PLACES_FUEL + PLACE_DERIVED * (end - 1) + 1] = _cut(swap)
    if 1 <= end < s.run_length:
        out[PLACES_FUEL + PLACE_DERIVED * end + 1] = _cut(swap_end)
