"""The fuel of flights, by trying all ways to use tools."""

from __future__ import annotations

from collections.abc import Sequence

JUMP, SLING = 6, 7  # part fields; 1..5 bypass the type field of the same value
Tools = Sequence[tuple[int, int]]
"""(part field, fuel) of each."""


def least_fuel(sectors: Sequence[tuple[int, int]], port_cost: int, tools: Tools, start: int) -> list[int]:
    """The least fuel to each place from ``start`` on, Kepler included, with single steps only.

    Args:
        sectors: (type field, fuel to leave it without tools) of the run.
    """
    ways = {tuple(sorted(tool for tool in tools if tool[0] != SLING)): 0}
    fuel = [0]
    for place in range(start, len(sectors) + 1):
        kind, cost = sectors[place - 1] if place else (0, port_cost)
        after: dict[tuple[tuple[int, int], ...], int] = {}
        for left, spent in ways.items():
            after[left] = min(after.get(left, 1000), spent + cost)
            for i, (works, dots) in enumerate(left):
                if place and cost and works in (JUMP, kind):
                    rest = left[:i] + left[i + 1 :]
                    after[rest] = min(after.get(rest, 1000), spent + dots)
        ways = after
        fuel.append(min(ways.values()))
    return fuel


def fuel_to_places(
    sectors: Sequence[tuple[int, int]], port_cost: int, tools: Tools, start: int, budget: int
) -> dict[int, int]:
    """The fuel to each place in reach, with the two cheapest tools of each kind; with a SLING over two sectors as if the other tools were used as without it."""
    tools = two_of_a_kind(tools)
    plain = least_fuel(sectors, port_cost, tools, start)
    sling = min((fuel for works, fuel in tools if works == SLING), default=1000)
    slung = [1000, 1000]
    for i in range(1, len(plain) - 1):
        slung.append(min(slung[i] + plain[i + 1] - plain[i], plain[i - 1] + sling))
    best = {start + i: min(plain[i], slung[i]) for i in range(len(plain))}
    return {place: fuel for place, fuel in best.items() if fuel <= budget}


def two_of_a_kind(tools: Tools) -> Tools:
    """The two cheapest of each kind; a third does not count."""
    return [tool for kind in range(1, SLING + 1) for tool in sorted(tool for tool in tools if tool[0] == kind)[:2]]
