"""What a player works out at the table: derived fields of the deciding seat's observation.

Flights are planned place by place (``reach.py``) for what their ends are worth (``worth.py``), in hundredths of points.
Each node has its own plan, with only what it shows; the draft's is in ``observation_derived_draft.py``.
"""

from __future__ import annotations

from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.simd import write_row
from kepler_envs.games.kepler_run.observation_derived_draft import write_draft
from kepler_envs.games.kepler_run.observation_layout import (
    BEST,
    BY_BOOSTER,
    BY_PARTS,
    BY_STOP,
    CONTRACT_DERIVED,
    CONTRACTS_BEHIND,
    END,
    FACTS_SIZE,
    LOAD_DERIVED,
    LOADS_BEHIND,
    MOST_WORTH,
    NEXT,
    PLACE_DERIVED,
    PLACES_FUEL,
    PLACES_WORTH,
    PLAYER_DERIVED,
    PLAYERS_REACH,
    SIZE,
    WAY_DERIVED,
    WAYS_BEHIND,
)
from kepler_envs.games.kepler_run.reach import NO_TOOLS, NONE, TOO_MUCH, find_fuel, lay_out_tools, least_fuel
from kepler_envs.games.kepler_run.state import JUMP_PART, SLING_PART, Node
from kepler_envs.games.kepler_run.worth import (
    TANK,
    best_end,
    contract_terms,
    cut,
    fuel_worth_of,
    load_worth,
    open_deliveries,
    rounds_to_come,
    write_ends,
)

IN_CONTRACT, IN_FLY, OVER = int(Node.CONTRACT), int(Node.FLY), int(Node.OVER)
NOTHING = -MOST_WORTH


@helper
def write_derived(s, t, seat, out):
    """Write all derived fields."""
    for entry in range(FACTS_SIZE, SIZE):
        out[entry] = 0
    n, node = int(s.num_players), int(s.node)
    if node == OVER:
        return
    for distance in range(n):
        other = seat + distance if seat + distance < n else seat + distance - n
        write_row(out, PLAYERS_REACH + PLAYER_DERIVED * distance, s.player[other].reach_row)
    if seat != s.seat:
        return
    if node < IN_CONTRACT:
        write_draft(s, t, seat, s.player[seat], out)
    else:
        _write_flight(s, t, seat, s.player[seat], out)


@leaf
def _write_flight(s, t, seat, player, out):
    """Write where to end the flight with each contract, each load before it, or each way to leave on it."""
    node, length, fuel_worth = int(s.node), int(s.run_length), fuel_worth_of(rounds_to_come(s, t))
    flying = node == IN_FLY
    start = int(player.place) if flying else 0
    tank = int(player.modules) if node == IN_CONTRACT else int(player.tank)
    ship = 0 if flying else int(player.fuel)
    tools, more_tools, _ = lay_out_tools(t, player, NONE)
    find_fuel(s, t, player, start, length + 1, tank + ship, tools, more_tools, 0, False, out, PLACES_FUEL)
    last = length + 1
    while out[PLACES_FUEL + PLACE_DERIVED * last] == 0:
        last -= 1
    terms = contract_terms(s, t, seat, fuel_worth, int(player.contract) - 1)
    deliveries = open_deliveries(player)
    best, end, best_0, best_1, best_2, _, _, _, _, _, _, _, _, _ = write_ends(
        s, t, seat, player, start, last, tank, ship, int(flying), deliveries, terms, out
    )
    out[BEST] = cut(best)
    out[END] = end + 1
    if flying:
        _write_ways(s, t, player, start, last, end, best, tank, fuel_worth, tools, out)
    elif node == IN_CONTRACT:
        _write_contract(player, 0, best, best_0, best_0 == best, out)
        _write_contract(player, 1, best, best_1, best_1 == best > best_0, out)
        _write_contract(player, 2, best, best_2, best_2 == best > max(best_0, best_1), out)
    else:
        _write_loads(last, end, tank, ship, best, fuel_worth, out)


@leaf
def _write_contract(player, contract, best, worth, is_best, out):
    entry = CONTRACTS_BEHIND + CONTRACT_DERIVED * contract
    out[entry] = cut(best - worth) * int(player.hand[contract])
    out[entry + 1] = is_best


# ---------------------------------------------------------------- load


@leaf
def _write_loads(last, end, tank, ship, best, fuel_worth, out):
    """Write the best flight with each amount of fuel.

    Fuel that it does not need is worth less in the tank than on the ship.
    """
    for load in range(ship + 1):
        out[LOADS_BEHIND + LOAD_DERIVED * load] = NOTHING
    for place in range(last + 1):
        fuel = int(out[PLACES_FUEL + PLACE_DERIVED * place]) - 1
        if fuel >= 0:
            entry = LOADS_BEHIND + LOAD_DERIVED * max(0, fuel - tank)
            worth = int(out[PLACES_WORTH + PLACE_DERIVED * place]) - load_worth(fuel - tank, fuel_worth)
            out[entry] = max(int(out[entry]), cut(worth))
    needed = max(0, int(out[PLACES_FUEL + PLACE_DERIVED * end]) - 1 - tank)
    worth = NOTHING
    for load in range(ship + 1):
        entry = LOADS_BEHIND + LOAD_DERIVED * load
        worth = max(cut(worth - fuel_worth + TANK), int(out[entry]))
        out[entry] = cut(best - worth)
        out[entry + 1] = load - needed
    out[LOADS_BEHIND + LOAD_DERIVED * needed + 2] = 1


# ---------------------------------------------------------------- flight


@leaf
def _write_ways(s, t, player, place, last, end, best, tank, fuel_worth, tools, out):
    """Write each way to leave.

    The best one is the first with which the flight to the best end takes the least fuel.
    """
    out[NEXT] = place + 2
    stay = best_end(out, PLACES_FUEL, place, place, tank, 0, fuel_worth)
    behind = cut(best - best_end(out, PLACES_FUEL, place + 1, last, tank, 0, fuel_worth))
    for way in range(BY_STOP):
        out[WAYS_BEHIND + WAY_DERIVED * way] = behind
    out[WAYS_BEHIND + WAY_DERIVED * BY_STOP] = cut(best - stay)
    if end == place:
        out[WAYS_BEHIND + WAY_DERIVED * BY_STOP + 1] = 1
        return
    if tools == NO_TOOLS:
        out[WAYS_BEHIND + 1] = 1
        return
    least = int(out[PLACES_FUEL + PLACE_DERIVED * end]) - 1
    single_steps = (place > 0) & (s.leaving_cost > 0)
    kind = int(s.run[place - 1].type) if place > 0 else 0
    choice = NONE
    for way in range(BY_PARTS + int(player.part_count)):
        takes, to = _taken(s, t, player, way, place, kind, single_steps)
        if takes > tank or to > end:
            continue
        left, more_left, _ = lay_out_tools(t, player, way)
        if takes + least_fuel(s, t, player, to, end, left, more_left, out) == least:
            choice = way
            break
    out[WAYS_BEHIND + WAY_DERIVED * choice + 1] = 1


@leaf
def _taken(s, t, player, way, place, kind, single_steps):
    """(fuel that a way to leave takes, the place it leads to).

    It is too much fuel for a way that cannot be chosen.
    """
    if way < BY_BOOSTER:
        return int(s.leaving_cost), place + 1
    if way < BY_PARTS:
        return int(t.booster_dots) if single_steps & (player.booster_used == 0) else TOO_MUCH, place + 1
    part = player.parts[way - BY_PARTS]
    dots = int(part.dots) if part.used == 0 else TOO_MUCH
    if part.part == SLING_PART:
        return dots if place < s.run_length else TOO_MUCH, place + 2
    return dots if single_steps & ((part.part == kind) | (part.part == JUMP_PART)) else TOO_MUCH, place + 1
