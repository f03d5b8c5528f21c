"""How far a flight can go: the fuel to each place, with booster and parts where they save most.

It is what a player works out at the table before loading fuel. Rules do not need it; observations show it.

The tools of a flight lie in two words of eight nibbles, one for each part field (the booster is a JUMP): what using the cheapest of
that kind takes, and the next one; ``NO_TOOL`` for none. A third of a kind does not count. Once a tool is used, its nibble is the
cost of the sector it was used for: what it takes to have it back. So everything is in registers, and nothing branches.
"""

from __future__ import annotations

from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_run.state import JUMP_PART, SLING_PART

NO_TOOL = 15
NO_TOOLS = (1 << 32) - 1
TOO_MUCH = 999  # fuel that nobody has


@helper
def find_reach(s, t):
    """How far each flight of the round could go with all the fuel there is."""
    for seat in range(int(s.num_players)):
        player = s.player[seat]
        _fly_as_far_as_possible(s, t, player, int(player.modules) + int(player.fuel))


@helper
def icons_crossed(s, place, contract):
    """Icons of a contract on the sectors entered by a flight to ``place``."""
    count = 0
    sectors = place if place < s.run_length else int(s.run_length)
    for index in range(sectors):
        count += int(s.run[index].icons[contract])
    return count


@leaf
def own_cost(s, player, place):
    """Fuel to leave a sector (a place from 1 on) without tools."""
    sector = s.run[place - 1]
    return int(sector.cost) * (sector.type != player.built_in)


@leaf
def _fly_as_far_as_possible(s, t, player, budget):
    """The farthest place, and the icons on the way there."""
    tools, more_tools, sling = lay_out_tools(t, player)
    one, one_at, two, two_at = first_jumps(tools, more_tools)
    length, missed = int(s.run_length), 0
    plain, slung, before = int(t.port_cost), TOO_MUCH, 0
    icons = 0  # of the three contracts, in bytes
    for place in range(1, length + 2):
        if place <= length:
            sector = s.run[place - 1]
            icons += int(sector.asteroids) | int(sector.comets) << 8 | int(sector.stations) << 16
        if min(plain, slung) <= budget:
            player.reach, missed = place, 0
            player.icons[0], player.icons[1], player.icons[2] = icons & 255, icons >> 8 & 255, icons >> 16
        elif missed or sling == TOO_MUCH:  # a SLING may lead over a place that is out of reach
            break
        else:
            missed = 1
        if place <= length:
            cost, kind = own_cost(s, player, place), int(s.run[place - 1].type)
            paid, tools, more_tools, one, one_at, two, two_at = leave(
                tools, more_tools, one, one_at, two, two_at, kind, cost
            )
            slung = min(slung + paid, before + sling)
            before = plain
            plain += paid


@leaf
def lay_out_tools(t, player):
    """(word of the cheapest tools, word of the next ones, dots of the best SLING)."""
    tools, more_tools = NO_TOOLS, NO_TOOLS
    booster = NO_TOOL if player.booster_used else int(t.booster_dots)
    tools ^= (NO_TOOL ^ booster) << 4 * JUMP_PART
    for slot in range(int(player.part_count)):
        part = player.parts[slot]
        shift = 4 * int(part.part)
        dots = NO_TOOL if part.used else int(part.dots)
        cheapest = tools >> shift & 15
        tools ^= (cheapest ^ min(cheapest, dots)) << shift
        following = more_tools >> shift & 15
        more_tools ^= (following ^ min(following, max(cheapest, dots))) << shift
    sling = tools >> 4 * SLING_PART & 15
    return tools, more_tools, TOO_MUCH if sling == NO_TOOL else sling


@leaf
def first_jumps(tools, more_tools):
    """What each of two JUMPs takes, and the type field of the sector that it is used for: none yet."""
    return tools >> 4 * JUMP_PART & 15, 0, more_tools >> 4 * JUMP_PART & 15, 0


@leaf
def leave(tools, more_tools, one, one_at, two, two_at, kind, cost):
    """What it takes to leave a sector as well, and the tools afterwards: where they save most.

    That is its cost, a tool's dots, or the cost of a sector that gives up its tool; a sector that gives up a JUMP may take a bypass instead.
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
