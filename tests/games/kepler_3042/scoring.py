"""Points, places and returns at the end of a game of Kepler-3042 (6), worked out from what lies on the table."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from kepler_envs.engine.game import Configuration
from kepler_envs.engine.snapshot import Snapshot
from tests.games.kepler_3042.component_numbers import LAST_CAMPAIGN_LEVEL, LAST_LEVEL, ROUNDS, Numbers, numbers_of
from tests.games.kepler_3042.scenario import MINE, A, Position, Seat


def points(position: Position, numbers: Numbers, seat: Seat) -> dict[str, int]:
    """The terms of 6.2, by the names that infos give them."""
    vp = numbers.number
    of_type = Counter(numbers.planet[planet]["type"] for planet in seat.planets)
    done = [objective for objective in seat.objectives if is_satisfied(position, numbers, seat, objective)]
    return {
        "antimatter": vp["vp_antimatter"] * sum(card[A] for card in seat.cubes),
        "all_five_types": vp["vp_five_types"] * (len(of_type) == 5),
        "three_of_a_type": vp["vp_three_of_a_type"] * (max(of_type.values(), default=0) >= 3),
        "mines": vp["vp_mine"] * sum(position.tiles.get(place) == MINE for place in seat.ships if place is not None),
        "maximum_technology": vp["vp_max_technology"] * seat.tech.count(LAST_LEVEL),
        "medals": vp["vp_medal"] * sum(seat.medals),
        "zones": sum(numbers.zone_vp[numbers.zone[position.hex_of(planet)]] for planet in seat.planets),
        "tracks": sum(numbers.track_vp[track][space] for track, space in enumerate(seat.track)),
        "terraformed_planets": sum(numbers.planet[planet]["vp"] for planet in position.terraformed & set(seat.planets)),
        "objective": sum(numbers.objective[objective]["vp"] for objective in done),
    }


def is_satisfied(position: Position, numbers: Numbers, seat: Seat, objective: int) -> bool:
    """2.7: what an objective asks for; Earth never counts, but for antimatter."""
    row = numbers.objective[objective]
    args, test = row["args"], row["test"]
    if test == "track":
        return seat.track[args["track"]] >= args["space"]
    if test == "techs_at_level":
        return sum(level >= args["level"] for level in seat.tech) >= args["n"]
    if test == "antimatter_on_planets":
        return sum(card[A] for card in seat.cubes) >= args["n"]
    verb, _, what = test.partition("_")
    planets = [planet for planet in seat.planets if verb == "colonised" or planet in position.terraformed]
    types = Counter(numbers.planet[planet]["type"] for planet in planets)
    zones = Counter(numbers.zone[position.hex_of(planet)] for planet in planets)
    counts = {
        "type": lambda: types[args["type"]],
        "zone": lambda: zones[args["zone"]],
        "each_zone": lambda: min(zones[zone] for zone in range(3)),
        "types": lambda: len(types),
        "total": lambda: len(planets),
        "same_type": lambda: max(types.values(), default=0),
    }
    return counts[what]() >= args["n"]


def check_result(state: Any, config: Configuration) -> None:
    """AssertionError unless places, scores, returns and infos are what the table says."""
    states = config.game.new_states(1)
    states[0] = state
    places, scores, returns = (values.tolist() for values in Snapshot(config, states).results())
    position, numbers = Position.read(state, config), numbers_of(config)
    sheets = [points(position, numbers, seat) for seat in position.seats]
    totals = [sum(sheet.values()) for sheet in sheets]
    assert scores == totals, f"scores are {scores}, the table says {totals}"
    keys = [
        (total, max(position.terraformed & set(seat.planets), default=0))
        for total, seat in zip(totals, position.seats, strict=True)
    ]  # 6.3
    assert places == [1 + sum(other > own for other in keys) for own in keys], "places"
    done = [
        all(is_satisfied(position, numbers, seat, objective) for objective in seat.objectives)
        for seat in position.seats
    ]
    for number, sheet in enumerate(sheets):
        expected = {"round": ROUNDS, "final_vp": totals[number], "objective_done": done[number]}
        expected |= {f"vp_{term}": value for term, value in sheet.items()}
        if len(sheets) == 1:
            expected |= campaign_result(position, numbers, totals[0], done[0])
        assert config.game.info(state, config.tables[0], number) == expected, f"infos of seat {number}"
    if len(sheets) == 1:
        success = campaign_result(position, numbers, totals[0], done[0])["success"]
        assert returns == [1 if success else -1], "returns"
    else:
        assert returns == pytest.approx(paid(keys, config.values["reward_mode"] == "win"), abs=1e-6), "returns"


def paid(keys: list[tuple[int, int]], for_winning: bool) -> list[float]:
    """6.4: by the place, tied players get the mean of their places; or by winning alone."""
    players = len(keys)
    if for_winning:
        winners = keys.count(max(keys))
        if winners == players:
            return [0] * players
        return [1 / winners if own == max(keys) else -1 / (players - winners) for own in keys]
    better = [sum(other > own for other in keys) for own in keys]
    worth = [1 - 2 * place / (players - 1) for place in range(players)]
    shared = [worth[first : first + keys.count(own)] for own, first in zip(keys, better, strict=True)]
    return [sum(share) / len(share) for share in shared]


def campaign_result(position: Position, numbers: Numbers, total: int, done: bool) -> dict[str, Any]:
    """2.9, 6.4: a level takes its objectives and its points; points above the minimum are cubes of the next level."""
    level = position.level
    minimum = numbers.campaign_level[level]["minimum_score"]
    if not done or total < minimum:
        return {"success": False, "next_level": level, "next_bonus": position.bonus_cubes}
    if level == LAST_CAMPAIGN_LEVEL:
        return {"success": True, "next_level": level, "next_bonus": 0}
    cubes = (total - minimum) // numbers.number["bonus_points_per_cube"]
    return {"success": True, "next_level": level + 1, "next_bonus": min(cubes, numbers.number["bonus_cube_cap"])}
