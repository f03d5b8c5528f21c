"""How far a flight can go: the fuel to each place, with booster and parts where they save most.

It is what a player works out at the table before loading fuel. Rules do not need it; observations show it.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_run.state import JUMP_PART, NUM_TRAITS, PART_SLOTS, RUN_SLOTS, SLING_PART

MOST_TOOLS = PART_SLOTS + 1  # parts and the booster
ROOM = 3 * MOST_TOOLS
TOO_MUCH = 999  # fuel that nobody has
NUM_PLACES = RUN_SLOTS + 2


@helper
def find_reach(s, t):
    """How far each flight of the round could go with all the fuel there is."""
    room = np.empty(ROOM + NUM_PLACES, np.int16)
    for seat in range(int(s.num_players)):
        player = s.player[seat]
        player.reach = find_fuel(s, t, player, 0, int(player.modules) + int(player.fuel), room, ROOM, 1)
        for index in range(min(int(player.reach), int(s.run_length))):
            for contract in range(NUM_TRAITS):
                player.icons[contract] += s.run[index].icons[contract]


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
def find_fuel(s, t, player, start, budget, room, first, stride):
    """The fuel from ``start`` to each place, with the tools that are left: the least, but for a SLING, which may save still more.

    ``room[first + stride * place]`` becomes 1 + the fuel for each place that ``budget`` leads to; those of others stay as they are. Returns
    the farthest such place. The first ``ROOM`` entries of ``room`` are for the search.
    """
    tools, sling = _lay_out_tools(t, player, room)
    length = int(s.run_length)
    plain, slung, before = (
        0,
        TOO_MUCH,
        TOO_MUCH,
    )  # fuel to here without and with the SLING, and to the place before without
    place, farthest, missed = start, start, 0
    while True:
        fuel = min(plain, slung)
        missed += 1
        if fuel <= budget:
            room[first + stride * place] = 1 + fuel
            farthest, missed = place, 0
        if place > length or missed > (sling < TOO_MUCH):  # a SLING may lead over a place that is out of reach
            return farthest
        paid = int(t.port_cost)
        if place > 0:
            paid = own_cost(s, player, place)
            if paid > 0 and tools > 0:
                paid = _use_tools(room, tools, int(s.run[place - 1].type), paid)
        slung = min(slung + paid, before + sling)
        before = plain
        plain += paid
        place += 1


@leaf
def _lay_out_tools(t, player, room):
    """(single steps at hand, dots of the best SLING): of each single step its kind, what it takes, no type that it is used for."""
    tools, sling = 0, TOO_MUCH
    if player.booster_used == 0:
        room[0], room[MOST_TOOLS], room[2 * MOST_TOOLS] = JUMP_PART, t.booster_dots, 0
        tools = 1
    for slot in range(int(player.part_count)):
        part = player.parts[slot]
        if part.used:
            continue
        if part.part == SLING_PART:
            sling = min(sling, int(part.dots))
        else:
            room[tools], room[MOST_TOOLS + tools], room[2 * MOST_TOOLS + tools] = part.part, part.dots, 0
            tools += 1
    return tools, sling


@leaf
def _use_tools(room, tools, kind, cost):
    """What it takes to leave a sector as well: its cost, a tool's dots, or the cost of a sector that gives up its tool.

    A sector that gives up a JUMP may take a bypass instead. So the tools are always where they save most.
    """
    paid, chosen, instead = cost, -1, -1
    for tool in range(tools):
        works = room[tool]
        if works == JUMP_PART:
            taking, moved = int(room[MOST_TOOLS + tool]), -1
            there = room[2 * MOST_TOOLS + tool]
            if there > 0:
                for other in range(tools):
                    if room[other] == there and room[MOST_TOOLS + other] < taking:
                        taking, moved = int(room[MOST_TOOLS + other]), other
            if taking < paid:
                paid, chosen, instead = taking, tool, moved
        elif works == kind and room[MOST_TOOLS + tool] < paid:
            paid, chosen, instead = int(room[MOST_TOOLS + tool]), tool, -1
    if chosen >= 0:
        if instead >= 0:
            room[MOST_TOOLS + instead] = room[MOST_TOOLS + chosen]
            room[2 * MOST_TOOLS + instead] = room[2 * MOST_TOOLS + chosen]
        room[MOST_TOOLS + chosen] = cost
        room[2 * MOST_TOOLS + chosen] = kind
    return paid
