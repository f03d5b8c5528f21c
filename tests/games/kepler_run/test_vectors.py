"""The test vectors of the specification, each by its number."""

from __future__ import annotations

import numpy as np
import pytest

from kepler_envs.engine.game import TERMINATED
from kepler_envs.engine.snapshot import IllegalAction, Snapshot
from kepler_envs.games.kepler_run.actions import (
    BOOSTER,
    CONTRACT,
    DISCOVER,
    LOAD,
    MODULE,
    MOVE,
    PART,
    SPECIAL,
    STOP,
    TARGET,
    USE_PART,
)
from kepler_envs.games.kepler_run.state import Node
from tests.games.kepler_run.scenario import GAME, Position, Seat, flight, look, scenario
from tests.scenario import after


def first_with_order(order: list[int], **options: bool) -> Snapshot:
    """The first deal with this starting order."""
    config = GAME.configure(len(order), **options)
    deals = (Snapshot.deal(config, seed) for seed in range(200))
    return next(deal for deal in deals if look(deal).order == order)


def places_and_tanks(position: Snapshot, actions: list[int], seat: int = 0) -> list[tuple[int, int]]:
    found = []
    for action in actions:
        position = position.apply(action)
        player = look(position).seats[seat]
        found.append((player.place, player.tank))
    return found


def test_1_setup_counts() -> None:
    position = look(first_with_order([2, 3, 0, 1], seat_fuel=True))
    assert len(position.deck) == 40 - 2 - 9 == 29
    assert len(position.run) == 2 and len(position.row) == 9
    assert [seat.fuel for seat in position.seats] == [3, 4, 0, 2]
    assert all(seat.modules == 4 and seat.disks == 4 and seat.hand == [0, 1, 2] for seat in position.seats)
    assert len({seat.ship for seat in position.seats}) == 4
    without = look(first_with_order([2, 3, 0, 1]))
    assert [seat.fuel for seat in without.seats] == [0, 0, 0, 0]


def test_2_snake() -> None:
    position = first_with_order([1, 2, 0])
    deciders = []
    for slot in range(6):
        deciders.append(position.seat)
        position = position.apply(DISCOVER + slot)
    assert deciders == [1, 2, 0, 0, 2, 1]
    assert position.node == Node.CONTRACT and position.seat == 1
    assert look(position).row == {} and len(look(position).run) == 2 + 6 + 1


def test_3_part() -> None:
    position = scenario([0, 1], Seat(ship=0), Seat(ship=1), row=[15, 2, 3, 4, 5])
    mover = look(position.apply(PART + 0)).seats[0]
    assert (mover.modules, mover.vp, mover.points["part"], mover.parts) == (2, 1, 1, [15])
    part = position.apply(PART + 0).state["player"][0]["parts"][0]
    assert (part["part"] - 1, part["dots"], part["used"]) == (5, 0, 0)  # JUMP
    poor = scenario([0, 1], Seat(ship=0, modules=1), Seat(ship=1), row=[15, 2, 3, 4, 5])
    assert PART + 0 not in poor.legal_actions() and PART + 3 in poor.legal_actions()


def test_4_module() -> None:
    full = scenario([0, 1], Seat(ship=0, modules=6), Seat(ship=1, modules=6), row=[4, 2, 3, 5, 6])
    assert not set(range(MODULE, SPECIAL)) & set(full.legal_actions())
    other = after(full, PART + 0, DISCOVER + 1, DISCOVER + 2)  # seat 0 picks last in a snake of two
    assert other.seat == 0 and look(other).seats[0].modules == 5
    assert [i for i in other.legal_actions() if MODULE <= i < SPECIAL] == [MODULE + 3, MODULE + 4]
    assert look(other.apply(MODULE + 3)).seats[0].modules == 6


def test_5_refuel_cap() -> None:
    position = scenario([0, 1], Seat(ship=0, fuel=9), Seat(ship=1), row=[8, 2, 3, 4, 5])
    mover = look(position.apply(SPECIAL + 0)).seats[0]
    assert (mover.fuel, mover.deliveries) == (10, [8])
    assert position.apply(SPECIAL + 0).state["player"][0]["deliveries"].tolist() == [0, 1, 0, 0, 0]
    full = scenario([0, 1], Seat(ship=0, fuel=10), Seat(ship=1), row=[8, 2, 3, 4, 5])
    assert look(full.apply(SPECIAL + 0)).seats[0].deliveries == [8]  # ruling 9


def test_6_outpost_mask() -> None:
    no_station = scenario([0, 1, 2], Seat(ship=0), Seat(ship=1), row=[7, 3, 4, 5, 6])
    assert SPECIAL + 0 not in no_station.legal_actions()
    one_free = scenario([5, 13], Seat(ship=0), Seat(ship=1, disks=3), row=[7, 3, 4, 8, 6], disks={0: 1})
    placed = look(one_free.apply(SPECIAL + 0))
    assert placed.disks == {0: 1, 1: 0} and placed.seats[0].disks == 3 and placed.seats[0].deliveries == [7]
    assert placed.node == Node.DRAFT and placed.turn == 1
    no_disk = scenario([5, 13], Seat(ship=0, disks=0), Seat(ship=1), row=[7, 3, 4, 8, 6])
    assert SPECIAL + 0 not in no_disk.legal_actions()


def test_7_built_in_part() -> None:
    position = flight([1, 13, 22, 24], Seat(ship=2, tank=5))
    assert places_and_tanks(position, [MOVE] * 5) == [(1, 5), (2, 4), (3, 2), (4, 2), (5, 1)]
    end = look(after(position, *[MOVE] * 5))
    assert end.seats[0].points["kepler"] == end.seats[0].vp == 4
    assert end.seats[0].flown and end.arrivals == 1 and end.turn == 1


def test_8_booster_and_forced_stop() -> None:
    position = flight([1, 13, 22, 24], Seat(ship=0, tank=4)).apply(MOVE)
    assert (look(position).mover.place, look(position).mover.tank) == (1, 4)
    assert position.legal_actions() == [MOVE, STOP]  # leaving is free, so the booster is masked
    assert places_and_tanks(position, [MOVE, BOOSTER, MOVE]) == [(2, 4), (3, 3), (4, 0)]
    end = look(after(position, MOVE, BOOSTER, MOVE))
    assert end.seats[0].flown and end.turn == 1 and end.node == Node.FLY
    assert end.disks == {} and end.seats[0].place == 4


def test_9_sling() -> None:
    run = [1, 13, 22, 24]

    def at(place: int) -> Snapshot:
        return flight(run, Seat(ship=1, tank=4, place=place, parts=[6], disks=3), disks={1: 0})

    landed = look(at(0).apply(USE_PART + 0)).seats[0]
    assert (landed.place, landed.tank, landed.fuel, landed.used_parts) == (2, 3, 2, {6})
    assert USE_PART + 0 not in at(0).apply(USE_PART + 0).legal_actions()
    arrived = look(at(3).apply(USE_PART + 0)).seats[0]
    assert (arrived.place, arrived.tank, arrived.points["kepler"], arrived.flown) == (5, 3, 4, True)
    assert USE_PART + 0 not in at(4).legal_actions()


def test_10_deliveries() -> None:
    position = flight([8, 16, 9], Seat(ship=4, tank=9, deliveries=[11, 15]))
    points = []
    for _ in range(3):
        position = position.apply(MOVE)
        points.append(look(position).seats[0].points["delivery"])
    assert points == [2, 2, 2]
    assert look(position).seats[0].tank == 9 - 1 - 1


def test_11_station() -> None:
    run = [0, 13, 5, 2]
    stopped = look(flight(run, Seat(ship=4, place=2, tank=3, disks=1), disks={3: 0}).apply(STOP))
    assert stopped.disks == {3: 0, 1: 0} and stopped.seats[0].disks == 0
    empty = look(flight(run, Seat(ship=4, place=3, tank=3, disks=0)).apply(STOP))
    assert empty.disks == {} and empty.seats[0].disks == 0
    rival = look(flight(run, Seat(ship=4, place=2, tank=3), Seat(ship=3, disks=3), disks={1: 1}).apply(STOP))
    assert rival.disks == {1: 1} and rival.seats[0].disks == 4


def last_flight(run: list[int], *seats: Seat, **fields: object) -> Snapshot:
    """The last seat of the order is flying, all others have flown."""
    for seat in seats[:-1]:
        seat.flown = True
    draft_pos = 2 * len(seats)
    return scenario(run, *seats, node=Node.FLY, turn=len(seats) - 1, draft_pos=draft_pos, **fields)


def test_12_contract_race() -> None:
    seats = [Seat(ship=ship, contract=1, place=place) for ship, place in enumerate([2, 3, 3])]
    end = look(last_flight([2, 4, 6, 10], *seats).apply(STOP))
    assert [seat.vp for seat in end.seats] == [2, 5, 3]
    assert end.seats[1].points["complete"] == 5 and end.seats[1].hand == [0, 2]
    assert end.seats[0].hand == end.seats[2].hand == [0, 1, 2]
    assert end.completed_by == [None, 1, None]
    assert end.order == [1, 2, 0] and end.turn == 1


def test_13_earlier_completion() -> None:
    seats = Seat(ship=0, contract=2, hand=[1, 2]), Seat(ship=1, contract=0, place=4, tank=9)
    position = last_flight([1, 3, 7, 9], *seats, completed_by=[0, None, None], round=1)
    end = look(position.apply(MOVE))  # from the last sector to Kepler
    assert end.seats[1].fuel == 4
    assert end.seats[1].points["secondary"] == end.seats[1].points["complete"] == 0
    assert end.completed_by == [0, None, None] and end.seats[1].hand == [0, 1, 2]


def test_14_no_icon() -> None:
    seats = Seat(ship=0, contract=2), Seat(ship=1, contract=1, place=4, tank=9)
    end = look(last_flight([1, 3, 7, 9], *seats).apply(MOVE))
    assert end.completed_by[1] is None and end.seats[1].hand == [0, 1, 2]
    assert end.seats[1].vp == end.seats[1].points["kepler"] == 4


def test_15_order() -> None:
    pieces = zip([5, 5, 2], [1, 2, 6], strict=True)
    seats = [Seat(ship=ship, contract=0, place=place, tank=tank) for ship, (place, tank) in enumerate(pieces)]
    end = look(last_flight([0, 1, 2, 3, 4], *seats).apply(STOP))
    assert end.order == [1, 0, 2]
    assert [(seat.place, seat.tank) for seat in end.seats] == [(0, 0)] * 3


def test_16_final_scoring() -> None:
    seats = Seat(ship=0, contract=0, disks=2), Seat(ship=1, contract=0, disks=3)
    disks = {1: 0, 6: 0, 4: 1}
    end = look(last_flight([0, 5, 1, 2, 13, 3, 21, 4], *seats, disks=disks, round=2).apply(STOP))
    assert end.node == Node.OVER and end.end == TERMINATED
    assert [seat.vp for seat in end.seats] == [7, 2]
    assert [seat.points["stations"] for seat in end.seats] == [4, 2]
    assert [seat.points["closest"] for seat in end.seats] == [3, 0]


@pytest.mark.parametrize(
    "fuel, places, rewards",
    [([1, 0, 0, 3], [1, 2, 3, 4], [1, 1 / 3, -1 / 3, -1]), ([1, 1, 0, 3], [1, 1, 3, 4], [2 / 3, 2 / 3, -1 / 3, -1])],
)
def test_17_rewards(fuel: list[int], places: list[int], rewards: list[float]) -> None:
    seats = [Seat(ship=ship, fuel=amount) for ship, amount in enumerate(fuel)]
    for seat, points in zip(seats, [25, 25, 20, 18], strict=True):
        seat.points["delivery"] = points
    end = scenario([0, 1], *seats, node=Node.OVER, round=2, end=TERMINATED, draft_pos=8)
    assert end.results()[0].tolist() == places
    assert np.allclose(end.results()[2], rewards)
    winners = scenario([0, 1], *seats, node=Node.OVER, end=TERMINATED, config=GAME.configure(4, reward_mode="win"))
    shared = places.count(1)
    expected = [(4 - shared) / (shared * 3) if place == 1 else -1 / 3 for place in places]
    assert np.allclose(winners.results()[2], expected)


def test_18_full_round() -> None:
    seats = Seat(ship=0), Seat(ship=1, fuel=2)
    position = scenario([0, 1], *seats, row=[2, 3, 4, 5, 6], deck=list(range(7, 40)))

    def expect(run: list[int], points: list[int]) -> Position:
        now = look(position)
        assert now.run == run and [seat.vp for seat in now.seats] == points
        return now

    position = position.apply(DISCOVER + 3)
    expect([0, 1, 5], [1, 0])
    assert position.seat == 1
    position = position.apply(SPECIAL + 1)
    assert position.node == Node.TARGET and position.legal_actions() == [44, 45]
    position = position.apply(TARGET + 1)
    now = expect([0, 5, 1], [1, 0])
    assert now.seats[1].deliveries == [3] and position.seat == 1
    position = position.apply(PART + 2)
    assert expect([0, 5, 1], [1, 1]).seats[1].modules == 3
    position = position.apply(MODULE + 0)
    assert expect([0, 5, 1, 6], [1, 1]).seats[0].modules == 5
    position = after(position, CONTRACT + 2, CONTRACT + 0)
    assert (position.seat, position.node, look(position).seats[0].tank) == (0, Node.FLY, 5)
    assert places_and_tanks(position, [MOVE] * 5) == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]
    position = after(position, *[MOVE] * 5)
    expect([0, 5, 1, 6], [5, 1])
    assert (position.seat, position.node) == (1, Node.LOAD)
    position = position.apply(LOAD + 2)
    assert places_and_tanks(position, [MOVE, MOVE, MOVE], seat=1) == [(1, 5), (2, 4), (3, 2)]
    assert look(position.apply(MOVE)).seats[1].vp == 2
    now = look(after(position, MOVE, MOVE, MOVE, BOOSTER))
    assert now.disks == {3: 1} and now.seats[1].disks == 3
    assert [seat.vp for seat in now.seats] == [10, 8]
    assert now.completed_by == [1, None, 0] and now.order == [0, 1]
    assert now.decisions == 17 and now.round == 1
    assert now.row == dict(enumerate([7, 8, 9, 10, 11]))


def test_18_ids_as_listed() -> None:
    """The ids that the vector names by number."""
    assert (DISCOVER + 3, SPECIAL + 1, TARGET + 1, PART + 2, MODULE + 0) == (3, 34, 45, 13, 22)
    assert (CONTRACT + 2, CONTRACT + 0, LOAD + 2, MOVE, STOP) == (81, 79, 84, 93, 101)
    with pytest.raises(IllegalAction, match="DRAFT"):
        Snapshot.deal(GAME.configure(2), 1).apply(MOVE)
