"""Greedy play of Kepler Run: it looks one pick ahead in the draft, and plans flights exactly.

To plan a flight, it finds the least fuel that leads to each place, over all ways to spend parts and booster. For a few
tools that is the plan that observations show; for more it tries all sets of them. A place to end at is worth what the
flight gains in deliveries, contract, Kepler and station, less the ship's fuel it takes. To judge a pick, it tries the
pick out on a copy of the position (the rules say what it does). The pick is worth the points it scores, the best flight
after it, and what modules, fuel, parts, deliveries and stations are worth in the rounds to come.

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
    MODULE,
    MOVE,
    NUM_ACTIONS,
    SPECIAL,
    STOP,
    TARGET,
    USE_PART,
)
from kepler_envs.games.kepler_run.observation_layout import BY_BOOSTER, BY_PARTS, NUM_PLACES, PLACE_DERIVED
from kepler_envs.games.kepler_run.reach import NONE, clear_column, find_fuel, icons_on, lay_out_tools, own_cost_of
from kepler_envs.games.kepler_run.rules_draft import use_card, use_special
from kepler_envs.games.kepler_run.state import (
    JUMP_PART,
    MAX_PLAYERS,
    NUM_TRAITS,
    PART_SLOTS,
    SLING_PART,
    STATE,
    Node,
)
from kepler_envs.games.kepler_run.worth import rounds_to_come

VERSION = 1
"""Goes up whenever a choice changes, so that records say which greedy played."""

IN_DRAFT, IN_TARGET, IN_CONTRACT = int(Node.DRAFT), int(Node.TARGET), int(Node.CONTRACT)
IN_LOAD, IN_FLY = int(Node.LOAD), int(Node.FLY)
BOOSTER_TOOL = 1  # bit of the booster in a set of tools; part i has bit i + 1
MANY, TOP_BITS = 0x65555550, 0x88888880
"""Added to how many tools there are of each part field, in nibbles: more than one SLING, or two of another kind, set a
top bit."""
NUM_TOOL_SETS = 2 << PART_SLOTS
TOO_MUCH = 1000  # fuel that nobody has
NOTHING = -1000.0

# What things are worth in points. Rounds to come are those after the present one.
FUEL_ON_SHIP = 0.45  # while there are rounds to come
MODULE_LATER = 0.5  # for each round to come
DELIVERY_LATER = 0.75  # for each round to come
PART_LATER = 0.5  # for each round to come and each fuel that it probably saves
STATION_LATER = 0.5  # for each round to come, besides its points
CLOSEST_NOW, CLOSEST_LATER = 2.5, 0.6  # the station nearest to Kepler, in the last round and before it
PLACE = 0.05  # for each place flown, for the turn order
TANK = 0.01  # for each fuel left in the tank, for the turn order
LAST_FUEL = 0.02  # for each fuel on the ship at the end, which decides ties
COST_OF_UNKNOWN = 1.6  # fuel for each sector that will probably be added before Kepler
DISCOVERY_RATE = 0.4  # share of picks that discover a sector


PLAN = np.dtype(
    [
        ("fuel", "i2", (PLACE_DERIVED * NUM_PLACES,)),  # 1 + the least that leads to each place, as a column of places
        ("crossed", "i8", (NUM_PLACES,)),  # icons of each contract that a flight to the place crosses, in bytes
        ("ways", "i2", (NUM_PLACES,)),  # sets of tools used with which it can be reached: how many,
        ("tools", "i2", (NUM_PLACES, NUM_TOOL_SETS)),  # which,
        ("spent", "i2", (NUM_PLACES, NUM_TOOL_SETS)),  # and the least fuel for each
        ("tool", "i2", (PART_SLOTS + 1,)),  # the tools that work at a place: their bits,
        ("dots", "i2", (PART_SLOTS + 1,)),  # the fuel they take,
        ("leads_to", "i2", (PART_SLOTS + 1,)),  # the places they lead to
        ("farthest", "i8"),  # the last place in reach
        ("on_the_way", "f8", (NUM_PLACES,)),  # what a flight to each place gains, less the ship's fuel; or NOTHING
        ("at_the_end", "f8", (NUM_PLACES,)),  # what it gains there besides: Kepler or a station
        ("reach", "i8", (MAX_PLAYERS,)),  # the place where a rival's flight ended, or the farthest it could reach
        ("ahead", "i8", (MAX_PLAYERS,)),  # a rival completes a contract before those who cross fewer icons than this
        ("without", "f8", (MAX_PLAYERS,)),  # the chance that the rival has not chosen it
    ]
)

_room_for_a_plan = room_for(PLAN, 1)
_room_for_a_state = room_for(STATE, 1)
_room_for_mask = room_for(np.uint64, (NUM_ACTIONS + 63) // 64)


@helper
def policy(s, t, mask, count, generator):
    """The choice of the seat to move, from what lies open and from its own contract."""
    return _choose(s, t, mask, _room_for_a_plan())


@helper
def _choose(s, t, mask, plans):
    """The same with room for one plan, which lasts until this returns."""
    seat, node = int(s.seat), int(s.node)
    plan = plans[0]
    for other in range(int(s.num_players)):
        if other != seat:
            rival = s.player[other]
            plan.reach[other] = _farthest_place(s, t, other, plan)
            plan.without[other] = 1 - 1 / max(1, int(rival.hand[0]) + int(rival.hand[1]) + int(rival.hand[2]))
    if node == IN_DRAFT:
        return _best_pick(s, t, seat, mask, plan)
    if node == IN_TARGET:
        return _best_target(s, t, seat, plan)[1]
    if node == IN_CONTRACT:
        return CONTRACT + _best_contract(s, t, seat, plan)
    if node == IN_LOAD:
        return LOAD + _best_load(s, t, seat, plan)
    return _best_move(s, t, seat, mask, plan)


# ---------------------------------------------------------------- flights


@helper
def _find_least_fuel(s, t, seat, start, without, limit, plan):
    """Write 1 + the least fuel from ``start`` to each place to ``plan.fuel``. Where that is above ``limit``, it is 0.

    The tool of the way ``without`` is gone at the start. What is said of places farther than ``plan.farthest`` does not
    count.
    """
    player, farthest = s.player[seat], int(s.run_length) + 1
    if not _are_few(player):
        _try_all_ways(s, t, seat, start, without, limit, plan)
        return
    clear_column(plan.fuel, 0, farthest)
    tools, more_tools, _ = lay_out_tools(t, player, without)
    find_fuel(s, t, player, start, farthest, limit, tools, more_tools, 0, False, plan.fuel, 0)
    while plan.fuel[PLACE_DERIVED * farthest] == 0:
        farthest -= 1
    plan.farthest = farthest


@leaf
def _fuel_to(plan, place):
    """The least fuel that leads to a place."""
    found = int(plan.fuel[PLACE_DERIVED * place])
    return found - 1 if found > 0 else TOO_MUCH


@leaf
def _are_few(player):
    """Whether ``find_fuel`` looks at all tools that a player has left: one SLING at most, two of any other kind.

    The booster counts as a JUMP.
    """
    counts = MANY + ((1 - int(player.booster_used)) << 4 * JUMP_PART)
    for slot in range(int(player.part_count)):
        part = player.parts[slot]
        counts += (1 - int(part.used)) << 4 * int(part.part)
    return counts & TOP_BITS == 0


@helper
def _try_all_ways(s, t, seat, start, without, limit, plan):
    """The same for any number of tools: it tries all sets of them that lead somewhere."""
    player, length = s.player[seat], int(s.run_length)
    for place in range(start, length + 2):
        plan.ways[place] = 0
        for tools in range(2 << int(player.part_count)):
            plan.spent[place, tools] = TOO_MUCH
    _arrive(plan, start, _tools_used(player, without), 0)
    farthest, place = start, start
    while place <= farthest:
        cost = own_cost_of(player, s.run[place - 1]) if 0 < place <= length else int(t.port_cost)
        tools_here = _list_tools(s, t, player, place, cost, plan) if place <= length else 0
        least = TOO_MUCH
        for way in range(plan.ways[place]):
            tools = int(plan.tools[place, way])
            spent = int(plan.spent[place, tools])
            least = min(least, spent)
            if place <= length and spent + cost <= limit:
                _arrive(plan, place + 1, tools, spent + cost)
                farthest = max(farthest, place + 1)
            for number in range(tools_here):
                tool, to, after = int(plan.tool[number]), int(plan.leads_to[number]), spent + int(plan.dots[number])
                if tools & tool == 0 and after <= limit:
                    _arrive(plan, to, tools | tool, after)
                    farthest = max(farthest, to)
        plan.fuel[PLACE_DERIVED * place] = least + 1 if least < TOO_MUCH else 0
        place += 1
    plan.farthest = farthest


@leaf
def _arrive(plan, place, tools, fuel):
    """Note that so much fuel leads to a place with these tools used."""
    known = plan.spent[place, tools]
    if fuel < known:
        plan.spent[place, tools] = fuel
        if known == TOO_MUCH:
            plan.tools[place, plan.ways[place]] = tools
            plan.ways[place] += 1


@leaf
def _list_tools(s, t, player, place, cost, plan):
    """Write the tools that save fuel at a place to the plan: their bits, fuel and where they lead. Returns how many."""
    count, here = 0, 0
    if place > 0:
        here = int(s.run[place - 1].type)
        if t.booster_dots < cost:
            plan.tool[0], plan.dots[0], plan.leads_to[0] = BOOSTER_TOOL, t.booster_dots, place + 1
            count = 1
    for slot in range(int(player.part_count)):
        part = player.parts[slot]
        slung, kind = int(part.part == SLING_PART), int(part.part)
        if (place < s.run_length) if slung else (here > 0 and part.dots < cost and kind in (JUMP_PART, here)):
            plan.tool[count], plan.dots[count], plan.leads_to[count] = 2 << slot, part.dots, place + 1 + slung
            count += 1
    return count


@leaf
def _tools_used(player, without):
    """The set of tools that this flight has already used, and the one of the way ``without``."""
    tools = int(player.booster_used) | (without == BY_BOOSTER)
    for slot in range(int(player.part_count)):
        tools |= (int(player.parts[slot].used) | (without == BY_PARTS + slot)) << (slot + 1)
    return tools


@helper
def _farthest_place(s, t, seat, plan):
    """The place where a seat's flight ended, or the farthest it could reach with all its fuel."""
    player = s.player[seat]
    if player.flown or _are_few(player):
        return int(player.reach)  # it is in the observation, so it is kept up to date
    _find_least_fuel(s, t, seat, 0, NONE, int(player.modules) + int(player.fuel), plan)
    place = 0
    while place < plan.farthest and _fuel_to(plan, place + 1) != TOO_MUCH:
        place += 1
    return place


@helper
def _value_ends(s, t, seat, start, tank, ship_fuel, unknown, plan):
    """Write what flights from ``start`` to each place in reach are worth, their contract aside, and return the last.

    There is ``tank`` fuel in the tank. ``ship_fuel`` more can be loaded from the ship. ``unknown`` sectors will
    probably be added to the run before the flight.
    """
    player, length = s.player[seat], int(s.run_length)
    _find_least_fuel(s, t, seat, start, NONE, tank + ship_fuel, plan)
    _count_icons(s, plan)
    fuel_worth = _fuel_worth(rounds_to_come(s, t))
    gained = 0.0  # on the way
    delivered = 0  # set of type fields met since the start
    for place in range(start, int(plan.farthest) + 1):
        fuel = _fuel_to(plan, place)
        if place > length:
            fuel += int(unknown * COST_OF_UNKNOWN + 0.5)
        elif place > start:
            sector = s.run[place - 1]
            kind = int(sector.type)
            if delivered >> kind & 1 == 0:
                delivered |= 1 << kind
                gained += _deliveries_open(player, kind) * int(t.delivery_vp)
            if sector.disk == seat + 1:
                gained += int(t.station_fuel) * fuel_worth
        loaded = fuel - tank
        plan.on_the_way[place] = NOTHING
        if loaded > ship_fuel:
            if place == length:
                return place
            continue  # a SLING may still lead farther
        plan.on_the_way[place] = gained + PLACE * place - (loaded * fuel_worth if loaded > 0 else TANK * loaded)
        plan.at_the_end[place] = 0.0
        if place > length:
            plan.at_the_end[place] = _kepler_worth(s, t, seat, plan)
        elif place > 0 and player.disks > 0 and s.run[place - 1].stations > 0 and s.run[place - 1].disk == 0:
            plan.at_the_end[place] = _station_worth(s, t, place - 1, rounds_to_come(s, t))
    return int(plan.farthest)


@helper
def _best_flight(s, t, seat, contract, start, last, plan):
    """(worth, place) of the best of the flights from ``start`` with this contract."""
    fuel_worth = _fuel_worth(rounds_to_come(s, t))
    each = int(t.secondary_vp[contract]) + int(t.secondary_fuel[contract]) * fuel_worth
    prize = int(t.complete_vp[contract]) if s.completed_by[contract] == 0 else -1
    if prize >= 0:
        _find_rivals(s, seat, contract, plan)
    known, contract_worth = -1, 0.0
    best, end = NOTHING, start
    for place in range(start, last + 1):
        if plan.on_the_way[place] == NOTHING:
            continue
        crossed = _icons_crossed(s, plan, place, contract)
        if crossed != known:
            known, contract_worth = crossed, _contract_worth(s, crossed, each, prize, plan)
        worth = plan.on_the_way[place] + contract_worth + plan.at_the_end[place]
        if worth > best:
            best, end = worth, place
    return best, end


@leaf
def _count_icons(s, plan):
    """Write the icons that flights to Port and to each sector cross."""
    crossed = 0
    plan.crossed[0] = 0
    for index in range(int(s.run_length)):
        crossed += icons_on(s.run[index])
        plan.crossed[index + 1] = crossed


@leaf
def _icons_crossed(s, plan, place, contract):
    """The icons of a contract that a flight to a place crosses."""
    return int(plan.crossed[min(int(place), int(s.run_length))]) >> 8 * contract & 255


@leaf
def _deliveries_open(player, kind):
    return 0 if player.delivered[kind - 1] else int(player.deliveries[kind - 1])


@leaf
def _fuel_worth(rounds):
    return FUEL_ON_SHIP if rounds > 0 else LAST_FUEL


@leaf
def _find_rivals(s, seat, contract, plan):
    """Write to the plan how many icons each of the others who may hold a contract will probably cross."""
    for other in range(int(s.num_players)):
        rival = s.player[other]
        plan.ahead[other] = 0
        if other != seat and rival.hand[contract]:
            earlier = rival.order_position < s.player[seat].order_position
            plan.ahead[other] = _icons_crossed(s, plan, plan.reach[other], contract) + int(earlier)


@leaf
def _contract_worth(s, crossed, each, prize, plan):
    """What a contract is worth: its prize if nobody who may hold the same one crosses more, else what the icons pay.

    Below 0, there is no prize any more.
    """
    consolation = crossed * each
    if crossed == 0 or prize < 0:
        return consolation
    chance = 1.0
    for other in range(int(s.num_players)):
        if plan.ahead[other] > crossed:
            chance *= plan.without[other]
    return chance * prize + (1 - chance) * consolation


@leaf
def _kepler_worth(s, t, seat, plan):
    """The prize for reaching Kepler: the first arrival's, unless somebody is or will probably be there before."""
    first = s.arrivals == 0
    for other in range(int(s.num_players)):
        rival = s.player[other]
        if other != seat and rival.order_position < s.player[seat].order_position and plan.reach[other] > s.run_length:
            first = False
    return int(t.first_arrival_vp) if first else int(t.later_arrival_vp)


@leaf
def _station_worth(s, t, index, rounds):
    """What a station on ``run[index]`` is worth: its points, fuel in the rounds to come, the prize for the closest."""
    worth = int(t.station_vp) + STATION_LATER * rounds
    if int(s.disk_set) >> index + 1 != 0:
        return worth
    return worth + (CLOSEST_NOW if rounds == 0 else CLOSEST_LATER)


@helper
def _best_contract(s, t, seat, plan):
    """The contract with the best flight."""
    return _best_of_hand(s, t, seat, 0.0, plan)[1]


@helper
def _best_of_hand(s, t, seat, unknown, plan):
    """(worth, contract) of the best flight with any of the contracts in hand."""
    player = s.player[seat]
    last = _value_ends(s, t, seat, 0, int(player.modules), int(player.fuel), unknown, plan)
    best, choice = NOTHING, 0
    for contract in range(NUM_TRAITS):
        if player.hand[contract]:
            worth, _ = _best_flight(s, t, seat, contract, 0, last, plan)
            if worth > best:
                best, choice = worth, contract
    return best, choice


@helper
def _best_load(s, t, seat, plan):
    """The fuel to load: just what the best flight needs."""
    player = s.player[seat]
    last = _value_ends(s, t, seat, 0, int(player.tank), int(player.fuel), 0.0, plan)
    _, end = _best_flight(s, t, seat, int(player.contract) - 1, 0, last, plan)
    return max(0, _fuel_to(plan, end) - int(player.tank))


@helper
def _best_move(s, t, seat, mask, plan):
    """The way to fly on that still allows the best flight and leaves the most fuel."""
    player = s.player[seat]
    place, tank = int(player.place), int(player.tank)
    last = _value_ends(s, t, seat, place, tank, 0, 0.0, plan)
    _, end = _best_flight(s, t, seat, int(player.contract) - 1, place, last, plan)
    if end == place:
        return STOP
    best, choice = TOO_MUCH, MOVE
    for action in range(MOVE, STOP):
        if not allowed(mask, action):
            continue
        to, spent = place + 1, int(s.leaving_cost)
        if action == BOOSTER:
            spent = int(t.booster_dots)
        elif action >= USE_PART:
            part = player.parts[action - USE_PART]
            spent = int(part.dots)
            if part.part == SLING_PART:
                to += 1
        if to > end:
            continue
        _find_least_fuel(s, t, seat, to, action - MOVE, tank - spent, plan)
        if end <= plan.farthest and spent + _fuel_to(plan, end) < best:
            best, choice = spent + _fuel_to(plan, end), action
    return choice


# ---------------------------------------------------------------- draft


@helper
def _best_pick(s, t, seat, mask, plan):
    """The pick that leads to the best position."""
    copies = _room_for_a_state()
    best, choice = NOTHING, 0
    any_card = s.draft_pos < 2 * int(s.num_players) - 1  # and not the one that leaves the last card for the run
    module = False
    for action in range(TARGET):
        if not allowed(mask, action):
            continue
        if MODULE <= action < SPECIAL:
            if any_card and module:
                continue
            module = True
        copies[0] = s
        use_card(copies[0], t, copies[0].player[seat], action)
        if copies[0].node == IN_TARGET:
            worth, _ = _best_target(copies[0], t, seat, plan)
        else:
            worth = _worth(copies[0], t, seat, plan)
        if worth > best:
            best, choice = worth, action
    return choice


@helper
def _best_target(s, t, seat, plan):
    """(worth, id) of the best target of a special action."""
    copies = _room_for_a_state()
    mask = _room_for_mask()
    for word in range(mask.size):
        mask[word] = 0
    rules.legal(s, t, mask)
    best, choice = NOTHING, TARGET
    for action in range(TARGET, CONTRACT):
        if allowed(mask, action):
            copies[0] = s
            use_special(copies[0], t, copies[0].player[seat], seat, action - TARGET)
            worth = _worth(copies[0], t, seat, plan)
            if worth > best:
                best, choice = worth, action
    return best, choice


@helper
def _worth(s, t, seat, plan):
    """A seat's prospects in the middle of a draft, in points."""
    picks_left = 2 * int(s.num_players) - int(s.draft_pos)
    unknown = 1 + DISCOVERY_RATE * picks_left if picks_left > 0 else 0.0
    best, _ = _best_of_hand(s, t, seat, unknown, plan)
    return int(s.player[seat].vp) + best + _later_worth(s, t, seat)


@helper
def _later_worth(s, t, seat):
    """What modules, fuel, parts, deliveries and stations will be worth in the rounds to come and at the end."""
    player = s.player[seat]
    rounds = rounds_to_come(s, t)
    worth = int(player.fuel) * _fuel_worth(rounds)
    worth += rounds * (MODULE_LATER * int(player.modules) + DELIVERY_LATER * int(player.delivery_count))
    for slot in range(int(player.part_count)):
        saved = _usual_saving(player.parts[slot])
        if saved > 0:
            worth += rounds * PART_LATER * saved
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
