"""The fuel of flights, by trying all ways to use tools."""

from __future__ import annotations

from collections.abc import Sequence

JUMP, SLING = 6, 7  # part fields; 1..5 bypass the type field of the same value
Tools = Sequence[tuple[int, int]]
"""(part field, fuel) of each."""


def least_fuel(sectors: Sequence[tuple[int, int]], port_cost: int, tools: Tools, start: int = 0) -> dict[int, int]:
    """The least fuel to each place from ``start`` on, Kepler included, where tools lead to; of several SLINGs only the
    cheapest is used.

    Args:
        sectors: (type field, fuel to leave it without tools) of the run.
    """
    slings = sorted(tool for tool in tools if tool[0] == SLING)[:1]
    begin = tuple(sorted([tool for tool in tools if tool[0] != SLING] + slings))
    ways: dict[int, dict[tuple[tuple[int, int], ...], int]] = {place: {} for place in range(start, len(sectors) + 2)}
    ways[start][begin] = 0

    def arrive(place: int, left: tuple[tuple[int, int], ...], spent: int) -> None:
        ways[place][left] = min(ways[place].get(left, 1000), spent)

    for place in range(start, len(sectors) + 1):
        kind, cost = sectors[place - 1] if place else (0, port_cost)
        for left, spent in ways[place].items():
            arrive(place + 1, left, spent + cost)
            for i, (works, dots) in enumerate(left):
                rest = left[:i] + left[i + 1 :]
                if works == SLING and place < len(sectors):
                    arrive(place + 2, rest, spent + dots)
                elif place and cost and works in (JUMP, kind):
                    arrive(place + 1, rest, spent + dots)
    return {place: min(found.values()) for place, found in ways.items()}


def fuel_to_places(
    sectors: Sequence[tuple[int, int]], port_cost: int, tools: Tools, start: int, budget: int
) -> dict[int, int]:
    """The fuel to each place in reach, with the two cheapest tools of each kind."""
    fuel = least_fuel(sectors, port_cost, two_of_a_kind(tools), start)
    return {place: needed for place, needed in fuel.items() if needed <= budget}


def farthest(places: dict[int, int]) -> int:
    """The last of the places that follow one another from Port."""
    place = 0
    while place + 1 in places:
        place += 1
    return place


def two_of_a_kind(tools: Tools) -> list[tuple[int, int]]:
    """The two cheapest of each kind; a third does not count."""
    return [tool for kind in range(1, SLING + 1) for tool in sorted(tool for tool in tools if tool[0] == kind)[:2]]
