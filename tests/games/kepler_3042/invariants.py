"""What holds in every position of Kepler-3042 (section 8.2), worked out from what lies on the table alone.

The position that a state shows is written anew and compared byte by byte, so everything that a state keeps only for
speed is checked by that; the numbered invariants follow, and legal ids of the map's nodes and scores are worked out a
second time, plainly. Numbers are read from the component file itself. The contract tests find the hooks by name.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.engine.game import RUNNING, TERMINATED, Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.kepler_3042.components import DEFAULT_FILE
from kepler_envs.games.kepler_3042.state import NEXT_BENEFICIARY, Node, Phase
from tests.games.kepler_3042.scenario import (
    DONE_ID,
    FIRST_HEX_ID,
    MEDAL_SPACES,
    MINE,
    NEIGHBOURS,
    SOL,
    TARGET,
    Position,
    Seat,
    steps_between,
)

EAGER = frozenset([1, 2, 3, 5, 8, 10, 14, *range(16, 35), *range(158, 576)])
"""Ids that build, colonise, develop, terraform, exploit, produce and move, rather than decline."""

REVEALS = ("planets.place", "sites.kind", "sites.place", "cards.shown")
"""Where tiles are turned up, and progress cards."""


def possible_nodes(config: Configuration) -> set[Node]:
    """The nodes that random games come to: bonus cubes follow a level that brought some.

    Random players hardly colonise, so that they seldom choose a card to pay a technology from, or take colonial targets
    with spaces left.
    """
    without = {Node.OVER, Node.CARD_EXPLOITATION, Node.GOING_ON, Node.DEVELOPMENT_PAYMENT}
    if not config.values["bonus"]:
        without.add(Node.SOLO_BONUS)
    return set(Node) - without


class Numbers:
    """The component file of a configuration, as it is written."""

    def __init__(self, path: Path) -> None:
        file = tomllib.loads(path.read_text(encoding="utf-8"))
        number = {row["name"]: row["value"] for row in file["numbers"]}
        self.radii = (number["short_radius"], number["mid_radius"])
        self.planet = {row["number"]: row for row in file["planets"]}
        self.codes = [row["code"] for row in file["planet_types"]]
        self.level = {(row["technology"], row["level"]): row for row in file["technology_levels"]}
        self.signs = "".join(row["hexes"] for row in file["terrain"])
        self.setup = {row["players"]: row for row in file["setup"]}
        self.cubes = [row["cubes"] for row in file["resources"]]
        self.card = {row["id"]: row for row in file["progress_cards"]}
        self.objective = {row["id"]: row for row in file["objectives"]}
        self.minimum = {row["level"]: row["minimum_score"] for row in file["campaign_levels"]}
        self.antimatter = {row["level"]: row["antimatter"] for row in file["campaign_levels"]}
        self.zone_vp = [row["vp"] for row in file["zones"]]
        self.track_vp = [row["vp"] for row in file["tracks"]]
        self.icons = [[space for space, _ in row["icons"]] for row in file["tracks"]]
        self.most_colonial = max(max(row["colonise"], row["terraform"]) for row in file["planet_types"])
        self.vp = {name: value for name, value in number.items() if name.startswith("vp_")}
        self.stars = {place: int(sign) for place, sign in enumerate(self.signs) if sign in "123"}
        self.distance = [steps_between(place, SOL) for place in range(418)]
        self.zone = [sum(steps > radius for radius in self.radii) for steps in self.distance]

    def is_space(self, place: int) -> bool:
        return self.signs[place] == "."

    def kind(self, planet: int) -> int:
        return self.codes.index(self.planet[planet]["type"])


@cache
def numbers_of(path: Path | None) -> Numbers:
    return Numbers(path or DEFAULT_FILE)


def check_invariants(state: Any, config: Configuration) -> None:
    """AssertionError if the state breaks a rule."""
    position, numbers = Position.read(state), numbers_of(config.components)
    check_bytes(position, state, config)
    check_cubes(position, numbers)
    check_ships(position, numbers)
    check_tiles(position, numbers)
    check_progress(position, numbers)
    check_turn(position, numbers)
    if position.end == RUNNING:
        snapshot = Snapshot.take(config, np.frombuffer(bytearray(state.tobytes()), config.game.state))
        check_legal(position, numbers, snapshot)


def check_bytes(position: Position, state: Any, config: Configuration) -> None:
    """Everything derived is what it must be, and everything unused is 0."""
    written = position.write(config).state
    for name in config.game.state.names:
        if name == "player":
            continue
        assert np.array_equal(written[name], state[name]), name
    for row in range(4):
        for name in config.game.state["player"].base.names:
            if name not in ("score_sheet", "objectives_done") or position.end == RUNNING:
                assert np.array_equal(written["player"][row][name], state["player"][row][name]), f"player {row} {name}"


def check_cubes(position: Position, numbers: Numbers) -> None:
    """Invariants 1 and 9."""
    for seat in position.seats:
        cards = seat.cubes
        assert all(count >= 0 for row in [seat.storage, seat.pit, *cards] for count in row)
        assert all(not any(card) for card in cards[1 + len(seat.planets) :]), "cubes on an empty slot"
        assert len(seat.planets) <= 5 and len(set(seat.planets)) == len(seat.planets)
        total = seat.total()
        if position.level == 0:
            assert total == numbers.cubes
        else:
            waiting = position.left if position.flow == Node.SOLO_BONUS else 0
            assert sum(total[:2]) + waiting == sum(numbers.cubes[:2]) + position.bonus_cubes
            assert total[2] == numbers.cubes[2] + numbers.antimatter[position.level]
            assert all(a >= b for a, b in zip(total, numbers.cubes, strict=True))


def check_ships(position: Position, numbers: Numbers) -> None:
    """Invariants 2 and 3."""
    places = [place for seat in position.seats for place in seat.ships if place is not None]
    assert len(set(places)) == len(places), "two starships on a hex"
    owners = position.owners()
    for place in places:
        body = position.tiles.get(place)
        assert numbers.is_space(place)
        assert body is None or (place in position.face_up and body != TARGET and body not in owners), (place, body)


def check_tiles(position: Position, numbers: Numbers) -> None:
    """Invariants 4 and 5."""
    setup = numbers.setup[len(position.seats)]
    in_play = {number for number, row in numbers.planet.items() if row["min_players"] <= position.tile_group}
    counts = Counter(position.tiles.values())
    assert {body for body in counts if body < MINE} == in_play and all(counts[planet] == 1 for planet in in_play)
    assert counts[MINE] == setup["mines"] and counts[TARGET] <= setup["colonial_targets"]
    assert position.face_up <= set(position.tiles)
    owned = [planet for seat in position.seats for planet in seat.planets]
    assert len(set(owned)) == len(owned) and position.terraformed <= set(owned)
    assert {position.hex_of(planet) for planet in owned} <= position.face_up
    for place in position.tiles:
        stars = [star for star in NEIGHBOURS[place] if star in numbers.stars]
        assert numbers.is_space(place) and len(stars) == 1 and numbers.stars[stars[0]] in setup["star_kinds"]
        assert not set(NEIGHBOURS[place]) & set(position.tiles), "two tiles side by side"
        assert SOL not in NEIGHBOURS[place]
        assert numbers.zone[place] != 0 or place in position.face_up


def check_progress(position: Position, numbers: Numbers) -> None:
    """Invariants 6, 7 and 8."""
    for seat in position.rows():
        assert all(0 <= level <= 4 for level in seat.tech) and all(0 <= space <= 20 for space in seat.track)
        assert sum(len(medals) for medals in position.track_medals) <= 10
    for number in range(2):
        taken = 5 - len(position.track_medals[number]) - position.card_medals[number]
        held = [seat.medals[number] for seat in position.rows()]
        assert 0 <= max(held) <= taken <= sum(held)
        reached = max(seat.track[number] for seat in position.rows())
        assert all(space > reached for space in position.track_medals[number])
        assert all(space <= reached for space in set(MEDAL_SPACES) - position.track_medals[number])
    assert len(set(position.deck)) == 16 and set(position.deck) <= set(numbers.card)
    if position.level:
        assert all(numbers.card[card]["solo"] for card in position.deck)
    dealt = [seat.objectives for seat in position.seats]
    if position.level:
        assert len(dealt[0]) == position.level
    else:
        wanted = "advanced" if position.advanced else "standard"
        assert all(len(own) == 1 and numbers.objective[min(own)]["set"] == wanted for own in dealt)
        assert len(set().union(*dealt)) == len(dealt)


def most_rewards(numbers: Numbers, players: int) -> int:
    """That can wait at once: icons within one gain of leadership, or within those of a new level and of all who catch
    up."""

    def icons(track: int, spaces: int) -> int:
        return max(sum(first <= space < first + spaces for space in numbers.icons[track]) for first in range(1, 21))

    most = max(icons(0, numbers.most_colonial), icons(0, 1), icons(1, 1))
    for (tech, _), row in numbers.level.items():
        caught_up = sum(numbers.level[tech, level]["leadership"] for level in range(1, row["unlock"] + 1))
        most = max(most, icons(1, row["leadership"]) + (players - 1) * icons(1, caught_up))
    return most


PHASE_OF = {
    **dict.fromkeys((Node.FIRST_TECHNOLOGY, Node.SOLO_BONUS), Phase.SETUP),
    **dict.fromkeys((node for node in Node if node.name.startswith("CARD_")), Phase.CLEANUP),
    Node.OVER: Phase.OVER,
}


def check_turn(position: Position, numbers: Numbers) -> None:
    """Registers are there when they mean something, else 0; invariant 13 is part of :func:`check_legal`."""
    flow, players = position.flow, len(position.seats)
    assert 0 <= position.round <= 16 and (position.round == 0) == (position.phase == Phase.SETUP)
    assert (position.node == Node.OVER) == (position.end == TERMINATED) == (position.phase == Phase.OVER)
    if flow != NEXT_BENEFICIARY and not (
        flow in (Node.PLACE, Node.MOVEMENT, Node.MOVER, Node.GOING_ON) and position.source == 3
    ):
        assert position.phase == PHASE_OF.get(Node(flow), Phase.TURNS)
    else:
        assert position.phase == Phase.CLEANUP
    if position.phase == Phase.TURNS:
        assert position.active == (position.first + position.turn_index) % players
        assert len(position.bonus_used) <= 2 and not position.beneficiaries
    else:
        assert not (position.conversions or position.allocations or position.bonus_used or position.second_free)
    if position.rewards:
        seat, kind = position.rewards[0]
        assert position.turn == seat and position.node == (
            Node.REWARD_REGENERATION if kind == 2 else Node.REWARD_PRODUCTION
        )
        assert len(position.rewards) <= most_rewards(numbers, players)
    else:
        assert (position.node, position.turn) == (flow, position.active)
    moves = (Node.MOVEMENT, Node.MOVER, Node.GOING_ON)
    assert (position.moving is not None) == (flow == Node.GOING_ON)
    assert position.moving is not None or not position.points
    assert (position.goal is not None) == (flow == Node.MOVER)
    assert flow in moves or not (position.speed or position.moved)
    assert flow in (*moves, Node.PLACE) or position.source == 0
    assert (position.bonus is not None) == (flow == Node.BONUS_BURN)
    assert (position.technology is not None) == (flow in (Node.DEVELOPMENT_PAYMENT, Node.CARD_BURN))
    assert flow == Node.PLANETARY_EXPLOITATION or not position.exploited
    counted = (
        Node.SPACE_MISSIONS,
        Node.PLACE,
        Node.PLANETARY_EXPLOITATION,
        Node.MAPPING_TILE,
        Node.SOLO_BONUS,
        Node.CARD_TILE,
        Node.CARD_REGENERATION,
        Node.CARD_BURN,
    )
    assert flow in counted or position.left == 0
    assert flow != Node.PLACE or position.source == 0 or position.left == 0


# ---------------------------------------------------------------- the map, searched plainly


def reachable(position: Position, numbers: Numbers, start: int, points: int) -> set[int]:
    """Where a starship can end: breadth first, hex by hex."""
    owners, ships = position.owners(), position.ships_at()
    found, frontier, seen = set(), [start], {start}
    for _ in range(points):
        following = []
        for place in frontier:
            for other in NEIGHBOURS[place]:
                if other in seen or not numbers.is_space(other):
                    continue
                body = position.tiles.get(other)
                if body is None:
                    seen.add(other)
                    following.append(other)
                    if other not in ships:
                        found.add(other)
                elif other in position.face_up and body not in owners and other not in ships:
                    found.add(other)
        frontier = following
    return found


def ways(position: Position, numbers: Numbers, seat: Seat, speed: int, moved: set[int]) -> dict[int, set[int]]:
    """Where each starship in empty space that has not moved can end."""
    return {
        index: reachable(position, numbers, place, speed) if speed else set()
        for index, place in enumerate(seat.ships)
        if index not in moved and place is not None and place not in position.tiles
    }


def places_for_a_ship(position: Position, numbers: Numbers, centre: int) -> set[int]:
    """The free hexes nearest to a planet."""
    taken = set(position.tiles) | set(position.ships_at())
    free = [place for place in range(418) if numbers.is_space(place) and place not in taken]
    nearest = min(steps_between(place, centre) for place in free)
    return {place for place in free if steps_between(place, centre) == nearest}


def check_legal(position: Position, numbers: Numbers, snapshot: Snapshot) -> None:
    """Invariants 12 and 13, and the ids of the map's nodes."""
    legal = set(snapshot.legal_actions())
    assert legal <= set(range(576))
    seat = position.seats[position.turn]
    if position.phase != Phase.TURNS or position.turn != position.active:
        assert not any(56 <= action < 158 for action in legal)
    if position.node == Node.MAIN_ACTION:
        assert {action for action in legal if action < 56} == set(range(1, 10)) - {1 + seat.action_cube}
    on_board = {29 + index for index, place in enumerate(seat.ships) if place is not None}
    withdrawn = {action for action in legal if 29 <= action < 32}
    if position.node == Node.GOING_ON:
        places = reachable(position, numbers, seat.ships[position.moving], position.points)
        assert places and legal == {FIRST_HEX_ID + place for place in places} | {DONE_ID}
    elif position.node == Node.MOVEMENT:
        places = set().union(*ways(position, numbers, seat, position.speed, position.moved).values())
        assert places == {action - FIRST_HEX_ID for action in legal if action >= FIRST_HEX_ID} and places
        assert withdrawn == (on_board if position.source == 2 else set()) and DONE_ID in legal
    elif position.node == Node.MOVER:
        able = ways(position, numbers, seat, position.speed, position.moved)
        assert legal == {29 + ship for ship, places in able.items() if position.goal in places} and len(legal) > 1
    elif position.node == Node.BONUS_ACTION:
        speed = numbers.level[0, seat.tech[0]]["benefit"]["speed"] if seat.tech[0] else 0
        can_move = any(ways(position, numbers, seat, speed, set()).values())
        assert withdrawn == (set() if can_move else on_board)
    elif position.node == Node.WITHDRAWAL:
        assert withdrawn == on_board != set()
    elif position.node == Node.PLACE:
        slots = range(1 + len(seat.planets)) if position.place_slot is None else [position.place_slot]
        centres = [SOL if number == 0 else position.hex_of(seat.planets[number - 1]) for number in slots]
        places = set().union(*(places_for_a_ship(position, numbers, centre) for centre in centres))
        assert legal - {DONE_ID} == {FIRST_HEX_ID + place for place in places}
    elif position.node in (Node.MAPPING_TILE, Node.CARD_TILE):
        assert legal - {DONE_ID} == {FIRST_HEX_ID + place for place in set(position.tiles) - position.face_up}


# ---------------------------------------------------------------- points, worked out plainly


def public_points(position: Position, numbers: Numbers, seat: Seat) -> int:
    kinds = Counter(numbers.kind(planet) for planet in seat.planets)
    vp = numbers.vp
    points = vp["vp_antimatter"] * sum(card[2] for card in seat.cubes)
    points += vp["vp_five_types"] * (len(kinds) == 5)
    points += vp["vp_three_of_a_type"] * (max(kinds.values(), default=0) >= 3)
    points += vp["vp_mine"] * sum(position.tiles.get(place) == MINE for place in seat.ships if place is not None)
    points += vp["vp_max_technology"] * seat.tech.count(4) + vp["vp_medal"] * sum(seat.medals)
    points += sum(numbers.zone_vp[numbers.zone[position.hex_of(planet)]] for planet in seat.planets)
    points += sum(numbers.track_vp[track][space] for track, space in enumerate(seat.track))
    return points + sum(numbers.planet[planet]["vp"] for planet in seat.planets if planet in position.terraformed)


def is_satisfied(position: Position, numbers: Numbers, seat: Seat, objective: int) -> bool:
    row = numbers.objective[objective]
    args, test = row["args"], row["test"]
    colonies = [
        (numbers.planet[p]["type"], numbers.zone[position.hex_of(p)], p in position.terraformed) for p in seat.planets
    ]
    done = [colony for colony in colonies if colony[2]]
    among = done if test.startswith("terraformed") else colonies
    found = {
        "type": lambda: sum(kind == args["type"] for kind, _, _ in among),
        "zone": lambda: sum(zone == args["zone"] for _, zone, _ in among),
        "each_zone": lambda: min(sum(zone == wanted for _, zone, _ in among) for wanted in range(3)),
        "types": lambda: len({kind for kind, _, _ in among}),
        "total": lambda: len(among),
        "same_type": lambda: max(Counter(kind for kind, _, _ in among).values(), default=0),
    }
    if test == "track":
        return seat.track[args["track"]] >= args["space"]
    if test == "techs_at_level":
        return sum(level >= args["level"] for level in seat.tech) >= args["n"]
    if test == "antimatter_on_planets":
        return sum(card[2] for card in seat.cubes) >= args["n"]
    return found[test.partition("_")[2]]() >= args["n"]


# ---------------------------------------------------------------- decisions


def check_decision(before: Any, action: int, after: Any, config: Configuration) -> None:
    """What a decision may change: invariants 4 to 6, 10, 11 and 15."""
    old, new = Position.read(before), Position.read(after)
    seat = old.turn
    assert old.face_up <= new.face_up | {place for place, body in old.tiles.items() if body == TARGET}
    gone = {place: body for place, body in old.tiles.items() if place not in new.tiles}
    assert set(gone.values()) <= {TARGET} and len(gone) <= 1 and set(new.tiles.items()) <= set(old.tiles.items())
    for one, other in zip(old.rows(), new.rows(), strict=True):
        assert all(
            a <= b
            for a, b in zip(one.tech + one.track + one.medals, other.tech + other.track + other.medals, strict=True)
        )
        assert one.planets == other.planets[: len(one.planets)]
    assert old.terraformed <= new.terraformed
    if old.node == Node.MAIN_ACTION and 1 <= action <= 9:
        assert old.seats[seat].action_cube != new.seats[seat].action_cube == action - 1
    elif old.node != Node.MAIN_ACTION:
        assert old.seats[seat].action_cube == new.seats[seat].action_cube
    if 10 <= action < 16:
        assert action - 10 not in old.bonus_used
    burned = sum(new.seats[seat].pit) - sum(old.seats[seat].pit)
    by_bonus, by_card = (
        old.node in (Node.BONUS_ACTION, Node.BONUS_BURN),
        old.node in (Node.CARD_TECHNOLOGY, Node.CARD_BURN),
    )
    assert burned <= (1 if by_bonus else 3 if by_card else 0)  # the last cubes are burned unasked
    assert new.round in (old.round, old.round + 1)
    assert new.deck == old.deck and [own.objectives for own in new.seats] == [own.objectives for own in old.seats]
