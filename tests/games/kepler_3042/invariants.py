"""What holds in every position of Kepler-3042 (section 8.2), worked out from what lies on the table alone.

The position that a state shows is written anew and compared byte by byte, so everything that a state keeps only for
speed is checked by that. The numbered invariants follow, then the legal ids, as :mod:`legal` works them out; what
becomes of a decision is said by :mod:`referee`. Numbers are read from the component file itself. The contract tests
find ``check_invariants``, ``check_decision``, ``EAGER``, ``REVEALS`` and ``possible_nodes`` by name.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from kepler_envs.engine.game import RUNNING, TERMINATED, Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.kepler_3042.state import NEXT_BENEFICIARY, Node, Phase
from tests.games.kepler_3042.component_numbers import Numbers, numbers_of
from tests.games.kepler_3042.legal import legal_actions
from tests.games.kepler_3042.referee import check_decision as check_decision
from tests.games.kepler_3042.scenario import MINE, NEIGHBOURS, TARGET, Position, Seat
from tests.scenario import check_fields

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


def check_invariants(state: Any, config: Configuration) -> None:
    """AssertionError if the state breaks a rule."""
    position, numbers = Position.read(state, config), numbers_of(config)
    check_written(position, state, config)
    check_cubes(position, numbers)
    check_ships(position, numbers)
    check_tiles(position, numbers)
    check_progress(position, numbers)
    check_turn(position, numbers)
    if position.phase == Phase.SETUP and position.decisions == 0:
        check_deal(position, config)
    check_legal(position, state, config)


def check_written(position: Position, state: Any, config: Configuration) -> None:
    """Everything derived is what it must be, and everything unused is 0. Infos are made of the final score's sheet, so
    that is looked at with the result."""
    written = position.write(config).state
    if position.end != RUNNING:
        for name in ("score_sheet", "objectives_done"):
            written["player"][name] = state["player"][name]
    check_fields(state, written)


def check_deal(position: Position, config: Configuration) -> None:
    """2.8, 2.9: what every player has at first; tiles, cards, objectives and who begins are drawn."""
    numbers, alone = numbers_of(config), config.num_players == 1
    values = config.values
    earth = [0, 0, numbers.campaign_level[values["level"]]["antimatter"]] if alone else numbers.earth
    stored = numbers.cubes if alone else [a - b for a, b in zip(numbers.cubes, numbers.earth, strict=True)]
    seats = [
        Seat(storage=list(stored), cubes=[list(earth), *([0] * 3 for _ in range(5))],
             action_cube=numbers.number["start_cube"], objectives=seat.objectives)
        for seat in position.seats
    ]  # fmt: skip
    node = Node.SOLO_BONUS if values["bonus"] else Node.FIRST_TECHNOLOGY
    expected = Position(
        seats, Seat(action_cube=0) if alone else None, position.tiles,
        {place for place in position.tiles if numbers.zone[place] == 0}, deck=position.deck,
        track_medals=[set(spaces) for spaces in numbers.medals], round=0, phase=Phase.SETUP, first=position.first,
        active=position.first, turn=position.first, flow=node, node=node, left=values["bonus"],
        campaign=values["campaign"] if alone else None, level=values["level"] if alone else 0,
        bonus_cubes=values["bonus"], tile_group={18: 1, 20: 2}[values["solo_planets"]] if alone else config.num_players,
        advanced=values["objectives"] == "advanced", win_loss=values["reward_mode"] == "win", rng=position.rng,
    )  # fmt: skip
    for name in vars(expected):
        assert getattr(position, name) == getattr(expected, name), f"{name} at the deal"


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
            assert total[2] == numbers.cubes[2] + numbers.campaign_level[position.level]["antimatter"]
            assert all(a >= b for a, b in zip(total, numbers.cubes, strict=True))


def check_ships(position: Position, numbers: Numbers) -> None:
    """Invariants 2 and 3."""
    places = [place for seat in position.seats for place in seat.ships if place is not None]
    assert len(set(places)) == len(places), "two starships on a hex"
    owners = position.owners()
    for place in places:
        body = position.tiles.get(place)
        assert place in numbers.space
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
        assert place in numbers.space and len(stars) == 1 and numbers.stars[stars[0]] in setup["star_kinds"]
        assert not set(NEIGHBOURS[place]) & set(position.tiles), "two tiles side by side"
        assert numbers.sol not in NEIGHBOURS[place]
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
        assert all(space <= reached for space in numbers.medals[number] - position.track_medals[number])
    assert len(set(position.deck)) == 16 and set(position.deck) <= set(numbers.card)
    if position.level:
        assert all(numbers.card[card]["solo"] for card in position.deck)
    dealt = [seat.objectives for seat in position.seats]
    if position.level:
        assert dealt == [set(numbers.campaign[position.campaign][: position.level])], "all levels up to this one (2.9)"
    else:
        wanted = "advanced" if position.advanced else "standard"
        assert all(len(own) == 1 and numbers.objective[min(own)]["set"] == wanted for own in dealt)
        assert len(set().union(*dealt)) == len(dealt)


def most_rewards(numbers: Numbers, players: int) -> int:
    """That can wait at once: icons within one gain of leadership, or within those of a new level and of all who catch
    up; or the cube of a mine."""

    def icons(track: int, spaces: int) -> int:
        return max(sum(first <= space < first + spaces for space in numbers.icons[track]) for first in range(1, 21))

    colonial = max(max(row["colonise"], row["terraform"]) for row in numbers.type.values())
    most = max(icons(0, colonial), icons(0, 1), icons(1, 1), 1)
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
    """Registers are there when they mean something, else 0; invariant 13 is part of the legal ids."""
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


def check_legal(position: Position, state: Any, config: Configuration) -> None:
    """Invariant 12."""
    states = config.game.new_states(1)
    states[0] = state
    legal = legal_actions(position, config)
    found = set(Snapshot(config, states).legal_actions())
    beyond, lacking = sorted(found - legal), sorted(legal - found)
    assert found == legal, f"{position.node.name}: the rules do not allow {beyond}, and allow {lacking}"
    assert position.end != RUNNING or len(legal) >= 2
