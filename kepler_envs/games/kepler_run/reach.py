"""How far a flight can go: the fuel to each place, with booster and parts where they save most.

It is what a player works out at the table. Rules do not need it; observations show it.

The tools of a flight lie in two words of eight nibbles, one for each part field (the booster is a JUMP): what using the
cheapest of that kind takes, and the next one; ``NO_TOOL`` for none. A third of a kind does not count. Once a tool is
used, its nibble is the cost of the sector it was used for: what it takes to have it back. So everything is in
registers, and nothing branches.
"""

from __future__ import annotations

from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_run.observation_layout import (
    BY_BOOSTER,
    BY_MOVE,
    BY_PARTS,
    PLACE_DERIVED,
    PLACE_SIZE,
    PLACES,
    PLACES_AIM,
)
from kepler_envs.games.kepler_run.state import JUMP_PART, SLING_PART

NO_TOOL = 15
NO_TOOLS = (1 << 32) - 1
TOO_MUCH = 999  # fuel that nobody has
NONE = BY_MOVE  # the way to leave that takes no tool
MARKS = PLACES  # notes on the places lie where facts are written after all that follows from them


@helper
def find_reach(s, t):
    """Find how far the flight of each player could go with all the fuel there is."""
    for seat in range(int(s.num_players)):
        find_reach_of(s, t, s.player[seat])


@helper
def find_reach_from(s, t, place):
    """Find it again after a change of the run at a place, for those who come that far."""
    for seat in range(int(s.num_players)):
        if s.player[seat].reach >= place:
            find_reach_of(s, t, s.player[seat])


@leaf
def own_cost_of(player, sector):
    """The fuel that a player needs to leave a sector without tools, also of a card that may become one."""
    return int(sector.cost) * (sector.type != player.built_in)


@leaf
def _own_cost(s, player, place):
    """The same for a place from 1 on."""
    return own_cost_of(player, s.run[place - 1])


@leaf
def icons_on(sector):
    """The icons of the three contracts, in bytes."""
    return int(sector.asteroids) | int(sector.comets) << 8 | int(sector.stations) << 16


@leaf
def _keep_reach(player, reach, icons):
    player.reach = reach
    player.icons[0], player.icons[1], player.icons[2] = icons & 255, icons >> 8 & 255, icons >> 16


@helper
def find_reach_of(s, t, player):
    """Find the farthest place for which there is fuel, as for all places before it, and the icons on the way there."""
    budget, length = int(player.modules) + int(player.fuel), int(s.run_length)
    if player.part_count == 0:
        _go_with_booster(s, t, player, budget)
        return
    tools, more_tools, sling = lay_out_tools(t, player, NONE)
    one, one_at, two, two_at = first_jumps(tools, more_tools)
    reach, fuel = 0, int(t.port_cost)
    if sling != TOO_MUCH:
        reach = min(fuel <= budget, length)
        reach = _slung_as_far(s, player, 2, sling, budget, tools, more_tools, one, one_at, two, two_at, reach)
    for place in range(1, length + 2):
        if fuel > budget:
            break
        reach = max(reach, place)
        if place > length:
            break
        if sling != TOO_MUCH and place < length:
            reach = _slung_as_far(
                s, player, place + 2, fuel + sling, budget, tools, more_tools, one, one_at, two, two_at, reach
            )
        cost, kind = _own_cost(s, player, place), int(s.run[place - 1].type)
        paid, tools, more_tools, one, one_at, two, two_at = leave(
            tools, more_tools, one, one_at, two, two_at, kind, cost
        )
        fuel += paid
    icons = 0
    for index in range(min(reach, length)):
        icons += icons_on(s.run[index])
    _keep_reach(player, reach, icons)


@leaf
def _go_with_booster(s, t, player, budget):
    """The same without parts. The booster is for the dearest of the sectors left."""
    length, booster = int(s.run_length), int(t.booster_dots)
    reach, icons, fuel, dearest = 0, 0, int(t.port_cost), 0
    for place in range(1, length + 1):
        if fuel - max(0, dearest - booster) > budget:
            break
        reach = place
        sector = s.run[place - 1]
        icons += icons_on(sector)
        cost = own_cost_of(player, sector)
        fuel += cost
        dearest = max(dearest, cost)
    _keep_reach(player, reach + ((reach == length) & (fuel - max(0, dearest - booster) <= budget)), icons)


@helper
def _slung_as_far(s, player, first, fuel, budget, tools, more_tools, one, one_at, two, two_at, reach):
    """How far a SLING to ``first`` takes a flight that reaches ``reach`` places without it."""
    length = int(s.run_length)
    if first > reach + 1:
        return reach
    for place in range(first, length + 2):
        if fuel > budget:
            break
        reach = max(reach, place)
        if place > length:
            break
        paid, tools, more_tools, one, one_at, two, two_at = leave(
            tools, more_tools, one, one_at, two, two_at, int(s.run[place - 1].type), _own_cost(s, player, place)
        )
        fuel += paid
    return reach


@leaf
def lay_out_tools(t, player, without):
    """(word of the cheapest tools, word of the next ones, dots of the best SLING).

    The tool of a way to leave is left out.
    """
    tools, more_tools = NO_TOOLS, NO_TOOLS
    booster = NO_TOOL if (player.booster_used > 0) | (without == BY_BOOSTER) else int(t.booster_dots)
    tools ^= (NO_TOOL ^ booster) << 4 * JUMP_PART
    for slot in range(int(player.part_count)):
        part = player.parts[slot]
        dots = NO_TOOL if (part.used > 0) | (without == BY_PARTS + slot) else int(part.dots)
        tools, more_tools = add_tool(tools, more_tools, int(part.part), dots)
    return tools, more_tools, _best_sling(tools)


@leaf
def add_tool(tools, more_tools, kind, dots):
    """The two words with one more tool."""
    cheapest, following = tools >> 4 * kind & 15, more_tools >> 4 * kind & 15
    tools ^= (cheapest ^ min(cheapest, dots)) << 4 * kind
    more_tools ^= (following ^ min(following, max(cheapest, dots))) << 4 * kind
    return tools, more_tools


@leaf
def _best_sling(tools):
    """The fuel that it takes to use the best SLING."""
    sling = tools >> 4 * SLING_PART & 15
    return TOO_MUCH if sling == NO_TOOL else sling


@helper
def find_fuel(s, t, player, start, until, limit, tools, more_tools, tail, marks, out, column):
    """Write 1 + the fuel from ``start`` to each place until ``until`` into a column of the places, of zeros before; 0
    stays where it is above ``limit``.

    ``tail`` holds a sector (:func:`tail_of`) that follows the run, if ``until`` lies so far. ``marks``: whether to note
    for each place what one more tool of each kind would save, dots not counted; :func:`saved_by` reads it.
    """
    sling = _best_sling(tools)
    out[column + PLACE_DERIVED * start] = 1
    if marks:
        out[MARKS], out[MARKS + 1] = 0, 0
    one, one_at, two, two_at = first_jumps(tools, more_tools)
    fuel, dearest, most = 0, 0, 0
    for place in range(start, until):
        if sling != TOO_MUCH and place + 2 <= until:
            _sling_on(
                s, player, place + 2, until, limit, fuel + sling, tools, more_tools, one, one_at, two, two_at, tail,
                out, column
            )  # fmt: skip
        if place == 0:
            fuel += int(t.port_cost)
        else:
            kind, cost = _sector_at(s, player, place, tail)
            before_one, before_two, one_before, two_before = one, two, one_at, two_at
            paid, tools, more_tools, one, one_at, two, two_at = leave(
                tools, more_tools, one, one_at, two, two_at, kind, cost
            )
            fuel += paid
            if marks:
                # what is paid now stays paid: a sector's cost, or the dots of a tool; the tools before would have to
                # give it up
                took_one = (one != before_one) | (one_at != one_before)
                took_two = (two != before_two) | (two_at != two_before)
                given = one_before if took_one else (two_before if took_two else kind)
                dearest += max(0, paid - (dearest >> 4 * given & 15)) << 4 * given
                most = max(most, paid)
        if fuel > limit:
            break
        entry = column + PLACE_DERIVED * (place + 1)
        slung = int(out[entry])
        out[entry] = min(fuel + 1, slung) if slung > 0 else fuel + 1
        if marks:
            word = dearest | most << 4 * JUMP_PART
            word += (most - (word >> 4 * one_at & 15)) << 4 * one_at
            word += (most - (word >> 4 * two_at & 15)) << 4 * two_at
            out[MARKS + PLACE_SIZE * (place + 1)] = word >> 4 & 0xFFF
            out[MARKS + PLACE_SIZE * (place + 1) + 1] = word >> 16 & 0xFFF
    return fuel, tools, more_tools, one, one_at, two, two_at


@leaf
def saved_by(out, place, kind):
    """The fuel that one more tool would save on the way to a place, its dots not counted.

    The tool bypasses a type, or is a JUMP.
    """
    entry = MARKS + PLACE_SIZE * place
    if kind < 4:
        return int(out[entry]) >> 4 * (kind - 1) & 15
    return int(out[entry + 1]) >> 4 * (kind - 4) & 15


@leaf
def clear_column(out, column, last):
    """Write zeros for all places until ``last``."""
    for place in range(last + 1):
        out[column + PLACE_DERIVED * place] = 0


@helper
def least_fuel(s, t, player, start, end, tools, more_tools, out):
    """The fuel from one place to another.

    With a SLING, a column of the places is written on. It holds zeros before and after.
    """
    if _best_sling(tools) != TOO_MUCH:
        find_fuel(s, t, player, start, end, TOO_MUCH, tools, more_tools, 0, False, out, PLACES_AIM)
        fuel = int(out[PLACES_AIM + PLACE_DERIVED * end]) - 1
        clear_column(out, PLACES_AIM, end)
        return fuel
    one, one_at, two, two_at = first_jumps(tools, more_tools)
    fuel = 0
    for place in range(start, end):
        paid, tools, more_tools, one, one_at, two, two_at = leave(
            tools, more_tools, one, one_at, two, two_at, int(s.run[place - 1].type), _own_cost(s, player, place)
        )
        fuel += paid
    return fuel


@helper
def _sling_on(s, player, first, until, limit, fuel, tools, more_tools, one, one_at, two, two_at, tail, out, column):
    """Continue flights by single steps from ``first``, where a SLING led to."""
    for place in range(first, until + 1):
        if fuel > limit:
            break
        entry = column + PLACE_DERIVED * place
        known = int(out[entry])
        out[entry] = min(fuel + 1, known) if known > 0 else fuel + 1
        if place < until:
            kind, cost = _sector_at(s, player, place, tail)
            paid, tools, more_tools, one, one_at, two, two_at = leave(
                tools, more_tools, one, one_at, two, two_at, kind, cost
            )
            fuel += paid


@leaf
def tail_of(player, card):
    """A card of the row as the sector behind the run: its type field and, above that, the fuel to leave it."""
    return int(card.type) | own_cost_of(player, card) << 4


@leaf
def _sector_at(s, player, place, tail):
    """(type field, fuel to leave) of a sector of the run, or of the one behind it."""
    if place > s.run_length:
        return tail & 15, tail >> 4
    sector = s.run[place - 1]
    return int(sector.type), own_cost_of(player, sector)


@leaf
def first_jumps(tools, more_tools):
    """What each of two JUMPs takes, and the type field of the sector that it is used for: none yet."""
    return tools >> 4 * JUMP_PART & 15, 0, more_tools >> 4 * JUMP_PART & 15, 0


@leaf
def leave(tools, more_tools, one, one_at, two, two_at, kind, cost):
    """What it takes to leave a sector as well, and the tools afterwards: where they save most.

    That is its cost, a tool's dots, or the cost of a sector that gives up its tool; a sector that gives up a JUMP may
    take a bypass instead.
    """
    by_kind = tools >> 4 * kind & 15
    by_one = min(one, tools >> 4 * one_at & 15)
    by_two = min(two, tools >> 4 * two_at & 15)
    by_jump = min(by_one, by_two)
    without = min(cost, by_kind)
    paid = min(without, by_jump)
    jumps, is_one = by_jump < without, by_one <= by_two
    given_up = one if is_one else two
    given_up_at = one_at if is_one else two_at
    # a bypass that is used for another sector than before: its type field, or 0; and what that sector costs
    bypass, price = 0, NO_TOOL
    bypass = kind if by_kind < cost else bypass
    price = cost if by_kind < cost else price
    instead = by_jump < given_up
    bypass = (given_up_at if instead else 0) if jumps else bypass
    price = (given_up if instead else NO_TOOL) if jumps else price
    following = more_tools >> 4 * bypass & 15
    tools ^= (tools >> 4 * bypass & 15 ^ min(following, price)) << 4 * bypass
    more_tools ^= (following ^ max(following, price)) << 4 * bypass
    takes_one, takes_two = jumps and is_one, jumps and not is_one
    one = cost if takes_one else one
    one_at = kind if takes_one else one_at
    two = cost if takes_two else two
    two_at = kind if takes_two else two_at
    return paid, tools, more_tools, one, one_at, two, two_at
