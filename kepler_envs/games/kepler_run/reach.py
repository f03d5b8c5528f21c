"""How far a flight can go: the least fuel to each place, with every way to spend parts and booster.

It is what a player works out at the table before loading fuel. Rules do not need it; observations show it.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_run.state import JUMP_PART, NUM_TRAITS, PART_SLOTS, RUN_SLOTS, SLING_PART

MOST_SETS = 2 << PART_SLOTS  # sets of tools: the booster and the parts
COLUMNS = 3  # places that a search has before it: a SLING leads two on
ROOM = COLUMNS * MOST_SETS
TOO_MUCH = 99  # fuel that nobody has
NUM_PLACES = RUN_SLOTS + 2


@helper
def find_reach(s, t):
    """How far each flight of the round could go with all the fuel there is."""
    room = np.empty(ROOM + NUM_PLACES, np.int16)
    for seat in range(int(s.num_players)):
        player = s.player[seat]
        fuel = int(player.modules) + int(player.fuel)
        set_reach(s, player, find_least_fuel(s, t, player, 0, fuel, room, ROOM, 1))


@helper
def set_reach(s, player, place):
    """``place`` is where a flight ends, or can end: the icons on the way there."""
    player.reach = place
    for contract in range(NUM_TRAITS):
        player.icons[contract] = icons_crossed(s, place, contract)


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
    return 0 if sector.type == player.built_in else int(sector.cost)


@helper
def find_least_fuel(s, t, player, start, budget, room, first, stride):
    """The least fuel from ``start`` to each place, with the tools that are left.

    The first ``ROOM`` entries of ``room`` are for the search. ``room[first + stride * place]`` becomes 1 + the fuel for each place that
    ``budget`` leads to; those of others stay as they are. Returns the farthest such place.
    """
    kinds, dots, tools = _tools_at_hand(t, player)
    sets, length = 1 << tools, int(s.run_length)
    for entry in range(sets):
        room[entry] = TOO_MUCH
        room[MOST_SETS + entry] = TOO_MUCH
        room[2 * MOST_SETS + entry] = TOO_MUCH
    room[0] = 0
    here, following, beyond = 0, MOST_SETS, 2 * MOST_SETS
    place, farthest, missed = start, start, 0
    while missed < 2:  # beyond two places in a row that are out of reach nothing is in reach
        cost, kind = int(t.port_cost), 0
        if 0 < place <= length:
            kind, cost = int(s.run[place - 1].type), own_cost(s, player, place)
        best = TOO_MUCH
        for used in range(sets):
            spent = int(room[here + used])
            if spent > budget:
                room[here + used] = TOO_MUCH
                continue
            room[here + used] = TOO_MUCH
            best = min(best, spent)
            if place > length:
                continue
            room[following + used] = min(room[following + used], spent + cost)
            for tool in range(tools):
                if used >> tool & 1:
                    continue
                part = kinds >> 4 * tool & 15
                after = spent + (dots >> 4 * tool & 15)
                if part == SLING_PART:
                    if place < length:
                        entry = beyond + (used | 1 << tool)
                        room[entry] = min(room[entry], after)
                elif place > 0 and cost > 0 and part in (JUMP_PART, kind):
                    entry = following + (used | 1 << tool)
                    room[entry] = min(room[entry], after)
        missed += 1
        if best <= budget:
            room[first + stride * place] = 1 + best
            farthest, missed = place, 0
        if place > length:
            break
        here, following, beyond = following, beyond, here
        place += 1
    return farthest


@leaf
def _tools_at_hand(t, player):
    """(kinds, dots, how many): booster and parts that this flight has not used, four bits for each."""
    kinds, dots, tools = 0, 0, 0
    if player.booster_used == 0:
        kinds, dots, tools = JUMP_PART, int(t.booster_dots), 1
    for slot in range(int(player.part_count)):
        part = player.parts[slot]
        if part.used == 0 and part.part != player.built_in:
            kinds |= int(part.part) << 4 * tools
            dots |= int(part.dots) << 4 * tools
            tools += 1
    return kinds, dots, tools
