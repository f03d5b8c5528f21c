"""What holds in every position of Kepler Run, worked out from the cards and pieces alone.

Nothing here looks at what a state keeps for speed: legal ids and the outcome of a decision follow from
the cards and pieces of a :class:`Position`, rule by rule, and are then compared with the game's own, entry by entry.
The contract tests find ``check_invariants``, ``check_decision`` and ``EAGER`` by name.
"""

from __future__ import annotations

import copy
from typing import Any

from kepler_envs.engine.game import RUNNING, TERMINATED, Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.kepler_run.state import Node
from tests.games.kepler_run.scenario import (
    CONTRACTS,
    JUMP,
    OUTPOST,
    REFUEL,
    REROUTE,
    SLING,
    Card,
    Position,
    Seat,
    card_of,
)
from tests.scenario import check_fields, check_in_bounds, take

DISCOVER, PART, MODULE, SPECIAL, TARGET, CONTRACT, LOAD, MOVE, BOOSTER, USE_PART, STOP = (
    0, 11, 22, 33, 44, 79, 82, 93, 94, 95, 101,
)  # fmt: skip
ID_RANGES = {
    Node.DRAFT: range(DISCOVER, TARGET),
    Node.TARGET: range(TARGET, CONTRACT),
    Node.CONTRACT: range(CONTRACT, LOAD),
    Node.LOAD: range(LOAD, MOVE),
    Node.FLY: range(MOVE, STOP + 1),
    Node.OVER: range(0),
}

EAGER = frozenset(range(PART, MODULE)) | frozenset(range(SPECIAL, TARGET)) | frozenset(range(MOVE, STOP))
"""Ids that use cards and fly on: a chooser that prefers them reaches Kepler and fills the ships."""

REVEALS = ("players.revealed", "deck.unseen")
"""Where contracts are shown when they are scored, and cards of the deck when they come to the row."""


# ---------------------------------------------------------------- a position


def check_invariants(state: Any, config: Configuration) -> None:
    """AssertionError naming the broken rule, if this state cannot be a position of the game."""
    position = Position.read(state, config)
    _check_cards(position, config)
    for number in range(len(position.seats)):
        _check_seat(position, number, config)
    _check_round(position, config)
    check_fields(state, position.write(config).state)
    _check_views(state, position, config)


def _number(config: Configuration, name: str) -> int:
    return int(config.tables[0][name])


def _check_cards(position: Position, config: Configuration) -> None:
    """Every id lies in one place, or is one of the cards discarded for a module."""
    cards = position.cards()
    assert len(set(cards)) == len(cards) and set(cards) <= set(range(_number(config, "cards_total"))), "card ids"
    discards = _number(config, "cards_total") - len(cards)
    assert discards == sum(_module_picks(seat, config) for seat in position.seats), "discarded cards"


def _module_picks(seat: Seat, config: Configuration) -> int:
    """Picks that added a module: what the ship has, and what its parts have cost, beyond the start."""
    wrenches = sum(card_of(config, card).wrenches for card in seat.parts)
    return seat.modules - _number(config, "start_modules") + wrenches


def _picks_made(position: Position, number: int) -> int:
    deciders = [*position.order, *position.order[::-1]]
    return 2 * position.round + deciders[: position.draft_pos].count(number)


def _check_seat(position: Position, number: int, config: Configuration) -> None:
    seat = position.seats[number]
    where = f"seat {number}"
    owned = list(position.disks.values()).count(number)
    assert seat.disks + owned == _number(config, "disks") and seat.disks >= 0, f"{where}: disks"
    assert 0 <= seat.modules <= _number(config, "boxes"), f"{where}: modules"
    assert 0 <= seat.fuel <= _number(config, "fuel_cap"), f"{where}: fuel on the ship"
    assert 0 <= seat.tank <= _number(config, "boxes") + _number(config, "fuel_cap"), f"{where}: tank"
    assert 0 <= seat.place <= len(position.run) + 1, f"{where}: place"
    discoveries = seat.points["discover"] // max(1, _number(config, "discover_vp"))
    picks = discoveries + len(seat.parts) + len(seat.deliveries) + _module_picks(seat, config)
    if position.end == RUNNING:
        pending = position.pending_card is not None and number == position.turn
        assert picks == _picks_made(position, number), f"{where}: picks"
        assert picks + pending <= 6
    assert len(seat.parts) + len(seat.deliveries) <= picks <= 6, f"{where}: cards"
    assert all(points >= 0 for points in seat.points.values()) and seat.vp <= 127, f"{where}: points"
    completed = [contract for contract in CONTRACTS if position.completed_by[contract] == number]
    assert sorted(seat.hand + completed) == [0, 1, 2], f"{where}: hand"
    assert seat.contract is None or seat.contract in seat.hand, f"{where}: contract"
    assert set(seat.used_parts) <= set(seat.parts) and set(seat.used_deliveries) <= set(seat.deliveries)


def _check_round(position: Position, config: Configuration) -> None:
    n, node = len(position.seats), position.node
    assert n == config.num_players and sorted(position.order) == list(range(n)), "turn order"
    assert (node == Node.OVER) == (position.end == TERMINATED) == (position.end != RUNNING)
    assert len({seat.ship for seat in position.seats}) == n, "ships"
    dealt = 2 * n + 1
    rounds_drafted = position.round + (node not in (Node.DRAFT, Node.TARGET))
    discoveries = sum(seat.points["discover"] for seat in position.seats) // max(1, _number(config, "discover_vp"))
    assert len(position.run) == _number(config, "initial_run") + discoveries + rounds_drafted, "length of the run"
    assert len(position.run) <= _number(config, "initial_run") + _number(config, "rounds") * dealt
    assert all(0 <= index < len(position.run) for index in position.disks), "disks off the run"
    drafting = node in (Node.DRAFT, Node.TARGET)
    pending = position.pending_card is not None
    assert pending == (node == Node.TARGET)
    assert len(position.row) == (dealt - position.draft_pos - pending if drafting else 0), "cards in the row"
    assert position.draft_pos < 2 * n if drafting else position.draft_pos == 2 * n
    chosen = [seat.contract is not None for seat in position.seats]
    assert sum(chosen) == (0 if node == Node.OVER else position.committed), "contracts chosen"
    if node == Node.CONTRACT:
        assert chosen == [number in position.order[: position.committed] for number in range(n)]
        assert position.turn == position.order[position.committed]
    flying = node in (Node.LOAD, Node.FLY)
    if flying:
        place = position.order.index(position.turn)
        flown = [position.seats[number].flown for number in position.order]
        assert flown == [True] * place + [False] * (n - place), "flights are in turn order"
        assert position.committed == n
    for seat in position.seats:
        if not flying or (not seat.flown and seat is not position.mover):
            assert (seat.place, seat.tank, seat.booster_used) == (0, 0, False), "a ship that has not taken off"
            assert not seat.used_parts and not seat.used_deliveries
            assert not (seat.flown and not flying)
    if node == Node.LOAD:
        assert (position.mover.place, position.mover.tank) == (0, position.mover.modules)
    assert position.arrivals == sum(seat.place == len(position.run) + 1 for seat in position.seats)


def _check_views(state: Any, position: Position, config: Configuration) -> None:
    states = config.game.new_states(1)
    states[0] = state
    snapshot = Snapshot(config, states)
    legal = legal_actions(position, config)
    assert snapshot.legal_actions() == sorted(legal)
    assert all(action in ID_RANGES[position.node] for action in legal), "an id of another node"
    assert len(legal) >= 2 or position.end != RUNNING, "a decision without a choice"
    check_in_bounds(snapshot)


# ---------------------------------------------------------------- what is legal


def legal_actions(position: Position, config: Configuration) -> set[int]:
    """The legal ids, one rule after the other."""
    mover, length = position.mover, len(position.run)
    if position.node == Node.DRAFT:
        return _legal_picks(position, config)
    if position.node == Node.TARGET:
        assert position.pending_card is not None
        if card_of(config, position.pending_card).action == REROUTE:
            return {TARGET + index for index in range(length - 1)}
        return {TARGET + index for index in position.free_stations(config)}
    if position.node == Node.CONTRACT:
        return {CONTRACT + contract for contract in mover.hand}
    if position.node == Node.LOAD:
        return {LOAD + fuel for fuel in range(mover.fuel + 1)}
    return _legal_moves(position, config) if position.node == Node.FLY else set()


def _legal_picks(position: Position, config: Configuration) -> set[int]:
    mover = position.mover
    legal = set()
    for slot, number in position.row.items():
        card = card_of(config, number)
        legal.add(DISCOVER + slot)
        if mover.modules >= card.wrenches:
            legal.add(PART + slot)
        if mover.modules < _number(config, "boxes"):
            legal.add(MODULE + slot)
        outpost_possible = mover.disks > 0 and bool(position.free_stations(config))
        if card.action in (REFUEL, REROUTE) or (card.action == OUTPOST and outpost_possible):
            legal.add(SPECIAL + slot)
    return legal


def _legal_moves(position: Position, config: Configuration) -> set[int]:
    mover, cost = position.mover, position.leaving_cost(config)
    legal = {STOP}
    if mover.tank >= cost:
        legal.add(MOVE)
    single_steps = mover.place >= 1 and cost > 0
    if single_steps and not mover.booster_used and mover.tank >= _number(config, "booster_dots"):
        legal.add(BOOSTER)
    for slot, number in enumerate(mover.parts):
        part = card_of(config, number)
        if number in mover.used_parts or mover.tank < part.dots:
            continue
        if part.kind == SLING:
            possible = mover.place <= len(position.run) - 1
        else:
            possible = single_steps and part.kind in (JUMP, _type_below(position, config))
        if possible:
            legal.add(USE_PART + slot)
    return legal


def _type_below(position: Position, config: Configuration) -> int:
    return card_of(config, position.run[position.mover.place - 1]).type


# ---------------------------------------------------------------- a decision


def check_decision(before_state: Any, action: int, after_state: Any, config: Configuration) -> None:
    """AssertionError unless ``after_state`` is what the rules make of ``before_state`` and ``action``."""
    before, after = Position.read(before_state, config), Position.read(after_state, config)
    referee = Referee(copy.deepcopy(before), config)
    referee.decide(action)
    for name in vars(referee.position):
        expected, found = getattr(referee.position, name), getattr(after, name)
        assert expected == found, f"{name}: {found}, the rules say {expected} after id {action}"
    for number, (old, new) in enumerate(zip(before.seats, after.seats, strict=True)):
        assert all(new.points[source] >= points for source, points in old.points.items()), "points were lost"
        if before.node == Node.FLY and before.round == after.round and number == before.turn:
            assert new.tank <= old.tank, "a tank was filled in flight"


class Referee:
    """The rules once more, on cards and pieces, as slowly as they read; forced decisions included."""

    def __init__(self, position: Position, config: Configuration) -> None:
        self.position = position
        self.config = config

    def card(self, number: int) -> Card:
        return card_of(self.config, number)

    def number(self, name: str) -> int:
        return _number(self.config, name)

    def decide(self, action: int) -> None:
        take(action, self.position, lambda: legal_actions(self.position, self.config), self.apply)

    def apply(self, action: int) -> None:
        position = self.position
        if position.node == Node.DRAFT:
            self.pick(action // 11, position.row.pop(action % 11))
        elif position.node == Node.TARGET:
            self.aim(action - TARGET)
        elif position.node == Node.CONTRACT:
            position.mover.contract = action - CONTRACT
            position.committed += 1
            if position.committed < len(position.seats):
                position.turn = position.order[position.committed]
            else:
                self.take_off(position.order[0])
        elif position.node == Node.LOAD:
            position.mover.fuel -= action - LOAD
            position.mover.tank += action - LOAD
            position.node = Node.FLY
        else:
            self.fly(action)

    # ------------------------------------------------------------ draft

    def pick(self, use: int, number: int) -> None:
        position, mover, card = self.position, self.position.mover, self.card(number)
        if use == 0:
            position.run.append(number)
            mover.points["discover"] += self.number("discover_vp")
        elif use == 1:
            mover.modules -= card.wrenches
            mover.parts.append(number)
            mover.points["part"] += card.vp
        elif use == 2:
            mover.modules += 1
        elif card.action == REFUEL:
            self.add_fuel(mover, self.number("refuel"))
            mover.deliveries.append(number)
        else:
            position.node, position.pending_card = Node.TARGET, number
            return
        self.end_pick()

    def aim(self, index: int) -> None:
        position = self.position
        number = position.pending_card
        assert number is not None
        if self.card(number).action == REROUTE:
            position.run[index : index + 2] = position.run[index : index + 2][::-1]
            moved = {index: index + 1, index + 1: index}
            position.disks = {moved.get(place, place): seat for place, seat in position.disks.items()}
        else:
            position.disks[index] = position.turn
            position.mover.disks -= 1
        position.mover.deliveries.append(number)
        position.node, position.pending_card = Node.DRAFT, None
        self.end_pick()

    def end_pick(self) -> None:
        position = self.position
        position.draft_pos += 1
        snake = position.order + position.order[::-1]
        if position.draft_pos < len(snake):
            position.turn = snake[position.draft_pos]
        else:
            position.run += position.row.values()
            position.row = {}
            position.node, position.turn = Node.CONTRACT, position.order[0]

    def add_fuel(self, seat: Seat, amount: int) -> None:
        seat.fuel = min(self.number("fuel_cap"), seat.fuel + amount)

    # ------------------------------------------------------------ flight

    def take_off(self, seat: int) -> None:
        position = self.position
        position.turn, position.node = seat, Node.LOAD
        position.mover.tank = position.mover.modules

    def fly(self, action: int) -> None:
        position, mover = self.position, self.position.mover
        steps = 1
        if action == STOP:
            index = mover.place - 1
            if index in position.free_stations(self.config) and mover.disks > 0:
                position.disks[index] = position.turn
                mover.disks -= 1
            self.end_flight()
            return
        if action == MOVE:
            mover.tank -= position.leaving_cost(self.config)
        elif action == BOOSTER:
            mover.tank -= self.number("booster_dots")
            mover.booster_used = True
        else:
            number = mover.parts[action - USE_PART]
            mover.tank -= self.card(number).dots
            mover.used_parts.add(number)
            steps = 2 if self.card(number).kind == SLING else 1
        for _ in range(steps):
            self.enter_next()
        if mover.place == len(position.run) + 1:
            self.end_flight()

    def enter_next(self) -> None:
        position, mover = self.position, self.position.mover
        mover.place += 1
        if mover.place == len(position.run) + 1:
            mover.points["kepler"] += self.number("later_arrival_vp" if position.arrivals else "first_arrival_vp")
            position.arrivals += 1
            return
        sector = self.card(position.run[mover.place - 1])
        for number in mover.deliveries:
            if number not in mover.used_deliveries and self.card(number).type == sector.type:
                mover.used_deliveries.add(number)
                mover.points["delivery"] += self.number("delivery_vp")
        if position.disks.get(mover.place - 1) == position.turn:
            self.add_fuel(mover, self.number("station_fuel"))

    def end_flight(self) -> None:
        position = self.position
        position.mover.flown = True
        following = position.order.index(position.turn) + 1
        if following < len(position.seats):
            self.take_off(position.order[following])
        else:
            self.end_round()

    # ------------------------------------------------------------ end of a round and of the game

    def end_round(self) -> None:
        position, seats = self.position, self.position.seats
        for contract in CONTRACTS:
            self.score_contract(contract)
        position.order.sort(key=lambda seat: (-seats[seat].place, -seats[seat].tank))  # stable: then as before
        for seat in seats:
            seat.revealed, seat.contract = seat.contract, None
            seat.place, seat.tank, seat.flown, seat.booster_used = 0, 0, False, False
            seat.used_parts, seat.used_deliveries = set(), set()
        position.arrivals = position.committed = 0
        if position.round + 1 < self.number("rounds"):
            position.round += 1
            self.begin_round()
        else:
            self.score_stations()
            position.node, position.end = Node.OVER, TERMINATED
        for seat in seats:
            seat.vp_paid = seat.vp

    def begin_round(self) -> None:
        position = self.position
        dealt = 2 * len(position.seats) + 1
        position.row = dict(enumerate(position.deck[:dealt]))
        position.deck = position.deck[dealt:]
        position.draft_pos, position.node, position.turn = 0, Node.DRAFT, position.order[0]

    def score_contract(self, contract: int) -> None:
        position = self.position
        revealers = [seat for seat in position.order if position.seats[seat].contract == contract]
        crossings = {seat: self.crossings(seat, contract) for seat in revealers}
        winner = None
        if position.completed_by[contract] is None and max(crossings.values(), default=0) > 0:
            winner = max(revealers, key=lambda seat: crossings[seat])  # the first of the best
            position.completed_by[contract] = winner
            position.seats[winner].hand.remove(contract)
            position.seats[winner].points["complete"] += int(self.config.tables[0]["complete_vp"][contract])
        for seat in revealers:
            if seat != winner:
                vp = int(self.config.tables[0]["secondary_vp"][contract])
                fuel = int(self.config.tables[0]["secondary_fuel"][contract])
                position.seats[seat].points["secondary"] += vp * crossings[seat]
                self.add_fuel(position.seats[seat], fuel * crossings[seat])

    def crossings(self, seat: int, contract: int) -> int:
        entered = self.position.run[: self.position.seats[seat].place]
        return sum(self.card(number).icons[contract] for number in entered)

    def score_stations(self) -> None:
        position = self.position
        for seat in position.disks.values():
            position.seats[seat].points["stations"] += self.number("station_vp")
        if position.disks:
            closest = position.disks[max(position.disks)]
            position.seats[closest].points["closest"] += self.number("closest_station_vp")
