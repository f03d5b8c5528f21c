"""What a player works out at the table: derived fields of the deciding seat's observation.

Flights are planned (``reach.py``) for what their ends are worth, in hundredths of points. In the draft the best flight with the pieces
of now is searched, and what a card would change is estimated from it. The tables of facts are written
afterwards: until then their entries are room for the search.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import has, lowest, without_lowest
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
from kepler_envs.games.kepler_run.reach import ROOM, find_fuel, own_cost
from kepler_envs.games.kepler_run.state import (
    JUMP_PART,
    MAX_FUEL,
    MAX_PLAYERS,
    NUM_SPECIALS,
    NUM_TRAITS,
    OUTPOST,
    REFUEL,
    REROUTE,
    ROW_CARD,
    ROW_CARD_SIZE,
    SLING_PART,
    Node,
)

IN_DRAFT, IN_TARGET, IN_CONTRACT = int(Node.DRAFT), int(Node.TARGET), int(Node.CONTRACT)
IN_LOAD, IN_FLY, OVER = int(Node.LOAD), int(Node.FLY), int(Node.OVER)
NOTHING = -MOST_WORTH

# What things are worth, in hundredths of points; a round to come is one after the present one.
FUEL_ON_SHIP, LAST_FUEL = 45, 2  # while there are rounds to come, and at the end
PLACE, TANK = 5, 1  # turn order: for each place flown, for each fuel left over
MODULE, DELIVERY, PART, STATION = 50, 75, 50, 50  # a round to come
CLOSEST_NOW, CLOSEST_LATER = 250, 60
UNKNOWN_SECTOR, DISCOVERY = 160, 64  # fuel to Kepler for the last card of the row, and for each pick to come

# room in the entries of facts, after that of the search
CROSSED, CONTRACT_WORTH, BEST_WITH, END_WITH = range(ROOM, ROOM + 4 * NUM_TRAITS, NUM_TRAITS)
BY_LOAD = ROOM + 4 * NUM_TRAITS
SAVED = BY_LOAD + MAX_FUEL + 1  # + part field
SPECIALS = SAVED + SLING_PART + 1  # + special action
assert SPECIALS + NUM_SPECIALS + 1 <= FACTS_SIZE

FIRST_ICON = int(ROW_CARD.fields["asteroids"][1])

# hundredths of fuel that a part of each kind probably saves in a flight, and how much less for each of its dots
USUAL_SAVING = np.array([0, 120, 120, 120, 120, 120, 250, 350])
USUAL_DOT = np.array([0, 60, 60, 60, 60, 60, 100, 100])


@helper
def write_derived(s, t, seat, out):
    """All derived fields, with the entries before them as room."""
    for entry in range(FACTS_SIZE, SIZE):
        out[entry] = 0
    n = int(s.num_players)
    for distance in range(n):
        other = seat + distance if seat + distance < n else seat + distance - n
        write_row(out, PLAYERS_REACH + PLAYER_DERIVED * distance, s.player[other].reach_row)
    node = int(s.node)
    if seat != s.seat or node == OVER:
        return
    player = s.player[seat]
    place, tank, ship, extra = 0, int(player.modules), int(player.fuel), 0
    if node == IN_FLY:
        place, tank, ship = int(player.place), int(player.tank), 0
        out[NEXT] = place + 2
    elif node <= IN_TARGET:
        extra = 1
    farthest = find_fuel(s, t, player, place, tank + ship + extra, out, PLACES_FUEL, PLACE_DERIVED)
    best, contract, end, one_more, one_less, beyond, stay, onward = _weigh_ends(
        s, t, seat, player, place, farthest, tank, ship, out
    )
    rounds = int(t.rounds) - 1 - int(s.round_index)
    out[BEST] = best
    out[END] = end + 1
    if node == IN_FLY:
        _write_ways(s, t, player, place, end, best - stay, best - onward, out)
    elif node == IN_LOAD:
        _write_loads(s, ship, tank, end, best, _fuel_worth(rounds), out)
    elif node == IN_CONTRACT:
        for other in range(NUM_TRAITS):
            if player.hand[other]:
                out[CONTRACTS_BEHIND + other] = _cut(best - int(out[BEST_WITH + other]))
    else:
        out[ONE_MORE] = _cut(one_more - best)
        out[ONE_LESS] = _cut(best - one_less)
        needed = _least_fuel(s, end, out) - tank
        each = _fuel_worth(rounds) if needed > 0 else TANK
        if node == IN_DRAFT:
            out[AS_MODULE] = _cut(rounds * MODULE + one_more - best)
            _write_offers(
                s, t, player, contract, end, best, one_more - best, best - one_less, beyond, rounds, each, out
            )
        else:
            _write_aims(s, t, player, contract, end, rounds, each, out)


@leaf
def _cut(worth):
    return max(-MOST_WORTH, min(MOST_WORTH, worth))


@leaf
def _fuel_worth(rounds):
    return FUEL_ON_SHIP if rounds > 0 else LAST_FUEL


# ---------------------------------------------------------------- where to end a flight


@leaf
def _unknown_fuel(s):
    """What the sectors that will probably still be added cost before Kepler."""
    if s.node > IN_TARGET:
        return 0
    picks = 2 * int(s.num_players) - int(s.draft_pos) - 1
    return (UNKNOWN_SECTOR + DISCOVERY * picks + 50) // 100 if picks > 0 else 0


@leaf
def _least_fuel(s, place, out):
    fuel = int(out[PLACES_FUEL + PLACE_DERIVED * place]) - 1
    return fuel + _unknown_fuel(s) if place > s.run_length else fuel


@helper
def _weigh_ends(s, t, seat, player, start, farthest, tank, ship, out):
    """What it is worth to end the flight at each place, with each contract that is possible.

    Returns (worth of the best, its contract, its place, the best with one fuel more and less, that of a further sector before Kepler,
    that of ``start``, the best beyond it); leaves the best of each contract at ``BEST_WITH``, the best of each load at ``BY_LOAD``.
    """
    length, rounds = int(s.run_length), int(t.rounds) - 1 - int(s.round_index)
    fuel_worth, unknown = _fuel_worth(rounds), _unknown_fuel(s)
    chosen = int(player.contract) - 1
    candidates = 0
    for contract in range(NUM_TRAITS):
        crossed = int(player.icons[contract]) if start > 0 else 0
        out[CROSSED + contract] = crossed
        out[CONTRACT_WORTH + contract] = 0
        if crossed > 0 and chosen == contract:
            out[CONTRACT_WORTH + contract] = _contract_worth(s, t, seat, contract, crossed, fuel_worth)
        out[BEST_WITH + contract] = NOTHING
        out[END_WITH + contract] = start
        if player.hand[contract] and (chosen < 0 or chosen == contract):
            candidates |= 1 << contract
    for load in range(MAX_FUEL + 1):
        out[BY_LOAD + load] = NOTHING
    one_more, one_less, beyond, stay, onward = NOTHING, NOTHING, NOTHING, NOTHING, NOTHING
    gained, met = 0, 0
    for place in range(start, farthest + 1):
        if start < place <= length:
            sector = s.run[place - 1]
            for contract in range(NUM_TRAITS):
                if candidates >> contract & 1 and sector.icons[contract] > 0:
                    crossed = int(out[CROSSED + contract]) + int(sector.icons[contract])
                    out[CROSSED + contract] = crossed
                    out[CONTRACT_WORTH + contract] = _contract_worth(s, t, seat, contract, crossed, fuel_worth)
            kind = int(sector.type)
            if met >> kind & 1 == 0 and player.delivered[kind - 1] == 0:
                met |= 1 << kind
                gained += int(player.deliveries[kind - 1]) * int(t.delivery_vp) * POINT
            if sector.disk == seat + 1:
                gained += int(t.station_fuel) * fuel_worth
        if out[PLACES_FUEL + PLACE_DERIVED * place] == 0:
            continue
        worth = gained + PLACE * place
        loaded = int(out[PLACES_FUEL + PLACE_DERIVED * place]) - 1 - tank
        most = _most_with_contract(candidates, out)
        if place > length:
            if loaded <= ship:
                beyond = _cut(worth + most - _load_worth(loaded, fuel_worth))
            loaded += unknown
            worth += _kepler_worth(s, t, seat)
        elif place > 0 and player.disks > 0 and has(s.free_stations, place - 1):
            worth += _station_worth(s, t, place - 1, rounds)
        worth -= _load_worth(loaded, fuel_worth)
        if loaded <= ship + 1:
            one_more = max(one_more, _cut(worth + most + (fuel_worth if loaded > 0 else TANK)))
        if loaded > ship:
            continue
        if loaded < ship:
            one_less = max(one_less, _cut(worth + most - (fuel_worth if loaded >= 0 else TANK)))
        if place == start:
            stay = _cut(worth + most)
        else:
            onward = max(onward, _cut(worth + most))
        load = max(loaded, 0)
        out[BY_LOAD + load] = max(int(out[BY_LOAD + load]), _cut(worth + most))
        for contract in range(NUM_TRAITS):
            if candidates >> contract & 1:
                whole = _cut(worth + int(out[CONTRACT_WORTH + contract]))
                if whole > out[BEST_WITH + contract]:
                    out[BEST_WITH + contract] = whole
                    out[END_WITH + contract] = place
    best, choice = NOTHING - 1, 0
    for contract in range(NUM_TRAITS):
        if candidates >> contract & 1 and out[BEST_WITH + contract] > best:
            best, choice = int(out[BEST_WITH + contract]), contract
    return best, choice, int(out[END_WITH + choice]), one_more, one_less, beyond, stay, onward


@leaf
def _load_worth(loaded, fuel_worth):
    """What the fuel from the ship would have been worth; if the tank suffices, less what is left in it."""
    return loaded * fuel_worth if loaded > 0 else loaded * TANK


@leaf
def _most_with_contract(candidates, out):
    most = NOTHING
    for contract in range(NUM_TRAITS):
        if candidates >> contract & 1:
            most = max(most, int(out[CONTRACT_WORTH + contract]))
    return most


@leaf
def _contract_worth(s, t, seat, contract, crossed, fuel_worth):
    """The prize, if no other who may hold the same contract crosses more; else what the icons pay.

    In the draft nobody's reach is known. Each rival who is ahead leaves a chance of (hand - 1) / hand, here in sixths.
    """
    each = int(t.secondary_vp[contract]) * POINT + int(t.secondary_fuel[contract]) * fuel_worth
    consolation = min(crossed * each, MOST_WORTH)
    if crossed == 0 or s.completed_by[contract] > 0:
        return consolation
    prize = int(t.complete_vp[contract]) * POINT
    if s.node <= IN_TARGET:
        return prize
    chance, position = 1, int(s.player[seat].order_position)
    for other in range(MAX_PLAYERS):
        rival = s.player[other]
        ahead = int(rival.icons[contract]) + (rival.order_position < position) > crossed
        in_hand = int(rival.hand[0]) + int(rival.hand[1]) + int(rival.hand[2])
        lost = (in_hand == 3) * 2 + (in_hand == 2) * 3 + (in_hand == 1) * 6
        chance *= 6 - lost * (ahead & (rival.hand[contract] > 0) & (other != seat))
    return consolation + (prize - consolation) * chance // 7776  # 6 ** MAX_PLAYERS


@leaf
def _kepler_worth(s, t, seat):
    """The first arrival's prize, unless somebody is there or will probably be there before."""
    first = s.arrivals == 0
    for other in range(int(s.num_players)):
        rival = s.player[other]
        if other != seat and rival.order_position < s.player[seat].order_position and rival.reach > s.run_length:
            first = False
    return POINT * (int(t.first_arrival_vp) if first else int(t.later_arrival_vp))


@leaf
def _station_worth(s, t, index, rounds):
    """A disk on a run index: its points, its fuel in rounds to come, the prize for the closest."""
    worth = POINT * int(t.station_vp) + STATION * rounds
    if s.disk_set >> np.uint64(index + 1):
        return worth
    return worth + (CLOSEST_LATER if rounds > 0 else CLOSEST_NOW)


# ---------------------------------------------------------------- load and flight


@leaf
def _write_loads(s, ship, tank, end, best, fuel_worth, out):
    """Each amount of fuel: the best flight with it; what it does not need is worth less in the tank than on the ship."""
    needed = max(0, _least_fuel(s, end, out) - tank)
    out[LOADS_BEHIND + LOAD_DERIVED * needed + 2] = 1
    worth = NOTHING
    for load in range(ship + 1):
        worth = max(_cut(worth - fuel_worth + TANK), int(out[BY_LOAD + load]))
        out[LOADS_BEHIND + LOAD_DERIVED * load] = _cut(best - worth)
        out[LOADS_BEHIND + LOAD_DERIVED * load + 1] = load - needed


@helper
def _write_ways(s, t, player, place, end, behind_to_stay, behind_onward, out):
    """Each way to leave: what it saves here, and what it could save before the best end."""
    length = int(s.run_length)
    cost, kind = int(t.port_cost), 0
    if place > 0:
        kind, cost = int(s.run[place - 1].type), own_cost(s, player, place)
    single_steps = place > 0 and cost > 0
    following = own_cost(s, player, place + 1) if place < length else 0
    most, _, pair, by_type, _ = _costs_between(s, player, place + 1, end)
    for way in range(BY_STOP):
        out[WAYS_BEHIND + WAY_DERIVED * way] = _cut(behind_onward)
    out[WAYS_BEHIND + WAY_DERIVED * BY_STOP] = _cut(behind_to_stay)
    if player.booster_used == 0:
        entry = WAYS_BEHIND + WAY_DERIVED * BY_BOOSTER
        out[entry + 1] = cost - int(t.booster_dots) if single_steps else 0
        out[entry + 2] = max(0, most - int(t.booster_dots))
    for slot in range(int(player.part_count)):
        part = player.parts[slot]
        if part.used:
            continue
        entry = WAYS_BEHIND + WAY_DERIVED * (BY_PARTS + slot)
        dots, works = int(part.dots), int(part.part)
        if works == SLING_PART:
            out[entry + 1] = cost + following - dots if place < length else 0
            out[entry + 2] = max(0, pair - dots)
        else:
            out[entry + 1] = cost - dots if single_steps and works in (JUMP_PART, kind) else 0
            out[entry + 2] = max(0, (most if works == JUMP_PART else by_type >> 4 * works & 15) - dots)


@helper
def _costs_between(s, player, first, end):
    """(the most, the second most, the most of two in a row, the most of each type in four bits, types met) of what leaving costs.

    Of the places from ``first`` to the one before ``end``; types are met at the end, too.
    """
    most, second, pair, by_type, met, before = 0, 0, 0, 0, 0, 0
    for place in range(max(first, 1), min(end, int(s.run_length)) + 1):
        kind = int(s.run[place - 1].type)
        met |= 1 << kind
        if place == end:
            break
        cost = own_cost(s, player, place)
        pair = max(pair, cost + before)
        before = cost
        if cost > most:
            most, second = cost, most
        elif cost > second:
            second = cost
        if cost > by_type >> 4 * kind & 15:
            by_type = by_type & ~(15 << 4 * kind) | cost << 4 * kind
    return most, second, pair, by_type, met


# ---------------------------------------------------------------- draft


@leaf
def _content(s, t, player, contract, met, kind, icons, rounds):
    """What entering a sector with these icons brings, where types in ``met`` were entered before."""
    open_deliveries = int(player.deliveries[kind - 1]) * (1 - (met >> kind & 1))
    each = int(t.secondary_vp[contract]) * POINT + int(t.secondary_fuel[contract]) * _fuel_worth(rounds)
    return icons * each + open_deliveries * int(t.delivery_vp) * POINT


@helper
def _write_offers(s, t, player, contract, end, best, more, less, beyond, rounds, each, out):
    """Each card of the row for each of its uses, besides what all picks have in common."""
    met = _lay_out_savings(s, t, player, end, out)
    _lay_out_specials(s, t, player, contract, end, more, rounds, each, out)
    at_kepler = end > s.run_length
    station = POINT * int(t.station_vp) + STATION * rounds if player.disks > 0 else 0
    delivered = int(t.delivery_vp) * POINT
    cards = np.uint64(s.row_set)
    while cards:
        slot = lowest(cards)
        cards = without_lowest(cards)
        card = s.row[slot]
        entry = ROW_OFFERS + OFFERS * slot
        kind, works, dots, action = int(card.type), int(card.part), int(card.dots), int(card.action)
        # as a sector: the flight may end there, or goes on to a Kepler that is farther away
        icons = int(s.card_row[ROW_CARD_SIZE * slot + FIRST_ICON + contract])
        stay = beyond + _content(s, t, player, contract, met, kind, icons, rounds)
        stay += station * (card.stations > 0)
        onward = best - int(card.cost) * each * (at_kepler & (card.type != player.built_in))
        change = max(stay, onward) - best if beyond > NOTHING else 0
        out[entry] = _cut(int(t.discover_vp) * POINT + change)
        # as a part: what it saves today, and probably later
        wrenches = int(card.wrenches)  # modules, and with them fuel
        saved = max(0, int(out[SAVED + works]) - dots) - wrenches
        usual = max(0, USUAL_SAVING[works] - USUAL_DOT[works] * dots)
        worth = int(card.vp) * POINT + rounds * (PART * usual // 100 - MODULE * wrenches)
        worth += (saved > 0) * (more + (saved - 1) * each) - (saved < 0) * (less - (saved + 1) * each)
        out[entry + 1] = _cut(worth)
        # for its action, and as a delivery
        worth = rounds * DELIVERY + (met >> kind & 1) * delivered + int(out[SPECIALS + action])
        out[entry + 2] = _cut(worth) * (action > 0)


@leaf
def _lay_out_savings(s, t, player, end, out):
    """At ``SAVED``: the most that a part of each kind could save on the way to the best end. Returns the types met."""
    most, second, pair, by_type, met = _costs_between(s, player, 1, end)
    for kind in range(1, JUMP_PART):
        out[SAVED + kind] = by_type >> 4 * kind & 15
    out[SAVED + JUMP_PART] = second if t.booster_dots < most else most  # the booster is already where it saves most
    out[SAVED + SLING_PART] = pair
    return met


@leaf
def _lay_out_specials(s, t, player, contract, end, more, rounds, each, out):
    """At ``SPECIALS``: what each action is worth."""
    fuel = _fuel_worth(rounds)
    added = min(int(t.refuel), int(t.fuel_cap) - int(player.fuel))
    out[SPECIALS] = 0
    out[SPECIALS + REFUEL] = added * fuel + max(0, more - fuel) * (added > 0)
    reroute = max(0, _rerouted(s, t, player, contract, end, end - 1, rounds, each))
    out[SPECIALS + REROUTE] = _cut(max(reroute, _rerouted(s, t, player, contract, end, end, rounds, each)))
    out[SPECIALS + OUTPOST] = _best_outpost(s, t, end, rounds) if player.disks > 0 and s.free_stations else 0


@helper
def _best_outpost(s, t, end, rounds):
    best = NOTHING
    free = s.free_stations
    while free:
        index = lowest(free)
        free = without_lowest(free)
        best = max(best, _outpost(s, t, index, end, rounds))
    return best


@leaf
def _outpost(s, t, index, end, rounds):
    """A disk now: it is passed on the way already."""
    return _station_worth(s, t, index, rounds) + (int(t.station_fuel) * _fuel_worth(rounds) if index < end else 0)


@helper
def _rerouted(s, t, player, contract, end, place, rounds, each):
    """What the best flight gains if the sectors at ``place`` and behind it change places.

    Only two such changes matter to it: what is left last before its end, and which sector it ends at.
    """
    if place < 1 or place >= s.run_length or place < end - 1 or place > end:
        return 0
    if place == end - 1:
        return (own_cost(s, player, place) - own_cost(s, player, place + 1)) * each
    here, behind = s.run[place - 1], s.run[place]
    before = 0
    for earlier in range(1, place):
        before |= 1 << int(s.run[earlier - 1].type)
    gained = _content(s, t, player, contract, before, int(behind.type), int(behind.icons[contract]), rounds)
    return gained - _content(s, t, player, contract, before, int(here.type), int(here.icons[contract]), rounds)


@helper
def _write_aims(s, t, player, contract, end, rounds, each, out):
    """Each sector that the special action can be applied to."""
    if s.pending_action == OUTPOST:
        free = s.free_stations
        while free:
            index = lowest(free)
            free = without_lowest(free)
            out[PLACES_FUEL + PLACE_DERIVED * (index + 1) + 1] = _cut(_outpost(s, t, index, end, rounds))
        return
    for place in range(max(1, end - 1), min(end, int(s.run_length) - 1) + 1):
        worth = _rerouted(s, t, player, contract, end, place, rounds, each)
        out[PLACES_FUEL + PLACE_DERIVED * place + 1] = _cut(worth)
