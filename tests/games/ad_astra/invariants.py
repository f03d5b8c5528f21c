"""What holds in every position of Ad Astra, worked out from what lies on the table alone.

Nothing here looks at what a state keeps for speed: legal ids and the outcome of a decision follow from a
:class:`Position`, rule by rule, and are then compared with the game's own, entry by entry. Numbers are read from the
component file itself. The contract tests find ``check_invariants``, ``check_decision`` and ``EAGER`` by name.
"""

from __future__ import annotations

import tomllib
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from kepler_envs.engine.game import RUNNING, TERMINATED, Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.ad_astra.components import DEFAULT_FILE
from kepler_envs.games.ad_astra.state import Node
from tests.games.ad_astra.scenario import (
    ACCEPT,
    DECK,
    DEEP,
    MASKS,
    PASS,
    RESERVE,
    SYSTEMS,
    USED,
    A,
    Place,
    Position,
    Seat,
    artifact,
    at,
    bank,
    cards,
    count,
    move,
    partner,
    plan,
    position_of,
    resource,
    row_of,
    subset,
    system_of,
)
from tests.scenario import check_fields, take

EAGER = frozenset([*range(167, 167 + 6), *range(209, 280), *range(300, 394), ACCEPT])
"""Ids that produce, land, build, score, discard, play an artifact or accept an offer."""

REVEALS = ("spaces.card", "players.hand", "players.set_aside", "positions.type", "artifacts.held")
"""Where action cards are turned up (the last one of a round is gone when the next decision comes, but has brought
resources or lies beside the board), and planets, and what the observer draws."""
ASKS_TELL = True  # an artifact in hand can be the second legal id


class Numbers:
    """The component file of a configuration, as it is written."""

    def __init__(self, path: Path) -> None:
        file = tomllib.loads(path.read_text(encoding="utf-8"))
        number = {row["name"]: row["value"] for row in file["numbers"]}
        self.copies, self.hand_limit, self.end_points = (
            number[name] for name in ("cards_per_resource", "hand_limit", "end_points")
        )
        self.bonus, self.bank_rate = number["bonus"], number["bank_rate"]
        self.sizes = (number["smallest_system"], number["largest_system"])
        self.leave_deep, self.to_deep, self.within, self.between = (row["cost"] for row in file["moves"])
        self.fuel = next(row["id"] for row in file["resources"] if row["fuel"])
        self.planets = [row["count"] for row in file["planet_types"]]
        self.terraformable = {row["id"] for row in file["planet_types"] if row["terraformable"]}
        self.pawns = file["pawns"]
        self.spaces = {row["players"]: row["spaces"] for row in file["setup"]}
        self.production = {(row["faction"], row["card"] - 1): row["couple"] for row in file["production_cards"]}
        self.movement = {(row["faction"], row["card"] + 2): row["couple"] for row in file["movement_cards"]}
        self.scoring = {row["card"] + 7: row["couple"] for row in file["scoring_cards"]}
        self.points = [row["points"] for row in file["scoring_elements"]]
        self.amount = [row["amount"] for row in file["artifacts"]]

    def cost(self, item: int) -> list[int]:
        """Items 0-2 colony with an ore of choice, 3 factory, 4 terraformer, 5-7 starship with an ore of choice."""
        pawn = {3: 2, 4: 3}.get(item, 1 if item < 3 else 0)
        cost = list(self.pawns[pawn]["cost"])
        if item not in (3, 4):
            cost[3 + item % 5] += 1
        return cost


@cache
def _numbers(path: Path) -> Numbers:
    return Numbers(path)


def numbers_of(config: Configuration) -> Numbers:
    return _numbers(config.components or DEFAULT_FILE)


# ---------------------------------------------------------------- a position


def check_invariants(state: Any, config: Configuration) -> None:
    """AssertionError naming the broken rule, if this state cannot be a position of the game."""
    position = Position.read(state)
    _check_cards(position, config)
    _check_board(position, config)
    _check_artifacts(position, config)
    _check_card_in_play(position, config)
    check_fields(state, position.write(config).state)
    _check_views(state, position, config)


def _check_cards(position: Position, config: Configuration) -> None:
    numbers = numbers_of(config)
    for kind in range(6):
        hands = [seat.hand[kind] for seat in position.seats]
        assert min(hands) >= 0 <= position.bank[kind], f"cards of resource {kind}"
        assert position.bank[kind] + sum(hands) == numbers.copies, f"cards of resource {kind}"
    share = numbers.spaces[config.num_players] // config.num_players
    for number, seat in enumerate(position.seats):
        placed = [slot for owner, slot in position.board.values() if owner == number]
        assert sorted([*seat.cards, *(set(placed) | seat.aside)]) == list(range(11)), "each card is at one place"
        assert len(set(placed)) == len(placed) <= share
        shown = {
            slot for space, (owner, slot) in position.board.items() if owner == number and space < position.revealed
        }
        assert set(placed) & seat.aside == shown & {8, 9, 10}, "scoring cards are set aside when they are revealed"
        for space in seat.filled_before:
            owner, slot = position.board[space]
            assert owner == number and slot not in seat.came_back, "a card lies where it cannot have been placed"
        assert bool(seat.came_back) == bool(seat.filled_before) and seat.came_back <= {8, 9, 10}
        assert seat.points >= 0
    if position.node == Node.PLAN:
        assert len(position.board) < position.spaces and position.revealed == 0
        assert all(seat.aside != {8, 9, 10} for seat in position.seats)
    else:
        assert set(position.board) == set(range(position.spaces))
    assert len({seat.faction for seat in position.seats}) == config.num_players


def _check_board(position: Position, config: Configuration) -> None:
    numbers = numbers_of(config)
    types = list(position.planets.values())
    assert [types.count(kind) for kind in range(7)] == numbers.planets, "planets of each type"
    starts = {56 + seat for seat in range(config.num_players)}
    assert {place for place in position.planets if place >= 56} == starts and starts <= position.face_up
    for system in range(8):
        slots = sorted(place % 7 for place in position.planets if place // 7 == system)
        assert slots == list(range(len(slots))) and numbers.sizes[0] <= len(slots) <= numbers.sizes[1]
    for number, seat in enumerate(position.seats):
        own_start = 56 + number
        assert position.planets[own_start] != A and own_start in seat.factories, "the start factory stands for ever"
        assert min(seat.reserve()) >= 0 and len(seat.ships) == 4
        assert seat.pawns() <= position.face_up, "a planet with a pawn is face up"
        assert not seat.colonies & seat.factories
        assert {position.planets[place] for place in seat.terraformers} <= numbers.terraformable
        assert all(place < 56 for place in seat.on_planets()), "no starship enters the Sun"
        assert seat.known <= position.hidden(), "what is face up is known to all"
    position.owners()  # at most one of each


def _check_artifacts(position: Position, config: Configuration) -> None:
    total = {"none": 0, "regular": 9, "all": 11}[config.values["artifacts"]]
    assert sorted(position.artifacts) == list(range(total)), "each artifact is at one place"
    assert len(set(position.deck)) == len(position.deck) >= total - numbers_of(config).planets[A]
    assert position.artifacts.get(0, USED) in (DECK, USED), "artifact 0 is used when it is drawn"


def _check_card_in_play(position: Position, config: Configuration) -> None:
    """What is left over when nobody needs it is 0, so that equal situations have equal bytes."""
    players = config.num_players
    node, card = position.node, position.card()
    assert (node == Node.OVER) == (position.end != RUNNING) == (position.end_reason != 0)
    assert 0 <= position.turn < players and 0 <= position.first < players
    assert 1 <= position.round <= config.values["max_rounds"]
    assert (card is None) == (node in (Node.PLAN, Node.DISCARD, Node.OVER))
    kinds = {
        0: (Node.PRODUCE,), 1: (Node.MOVE, Node.LAND, Node.ART_RES), 2: (Node.BUILD, Node.BUILD_POS, Node.ART_RES),
        3: (Node.TRADE, Node.BANK_GET, Node.OFFER_GIVE, Node.OFFER_GET, Node.REPLY),
        4: (Node.ELEMENT, Node.IDENT, Node.IDENT_COUNT, Node.DIFF),
    }  # fmt: skip
    if card is None:
        assert node == Node.PLAN or position.revealed == position.spaces
        slot_kind = -1
    else:
        assert position.current == position.revealed - 1
        slot_kind = 0 if card[1] < 3 else 1 if card[1] < 6 else 2 if card[1] == 6 else 3 if card[1] == 7 else 4
        assert node in kinds[slot_kind]
        steps = {1: position.step, 2: position.step, 4: position.step + 1 if position.element is not None else 0}
        if node != Node.REPLY:
            assert position.turn == (card[0] + steps.get(slot_kind, 0)) % players, "whose turn it is"
    assert 0 <= position.step <= (players if slot_kind == 1 else players - 1)
    assert slot_kind in (1, 2, 4) or position.step == 0
    assert slot_kind == 1 or not (position.moved or position.owner_moved or position.gate)
    assert slot_kind == 2 or position.free == 0
    assert slot_kind == 3 or position.offers == position.bank_trades == 0
    assert slot_kind == 4 or (position.element is None and not any(position.discarded))
    assert position.thesaurus == 0 or node in (Node.IDENT, Node.IDENT_COUNT, Node.DIFF)
    assert (position.return_node != 0) == (node == Node.ART_RES)
    assert (position.ship is not None) == (position.system is not None) == (node == Node.LAND)
    assert (position.item is not None) == (node == Node.BUILD_POS)
    assert (position.partner is not None) == (node in (Node.OFFER_GIVE, Node.OFFER_GET, Node.REPLY))
    assert (position.give is not None) == (node in (Node.BANK_GET, Node.OFFER_GET, Node.REPLY, Node.IDENT_COUNT))
    assert (position.want is not None) == (node == Node.REPLY) == (position.want_count > 0)
    assert 0 <= position.offers <= config.values["max_offers"]
    assert 0 <= position.bank_trades <= config.values["max_bank_trades"]


def _check_views(state: Any, position: Position, config: Configuration) -> None:
    states = config.game.new_states(1)
    states[0] = state
    snapshot = Snapshot(config, states)
    legal = legal_actions(position, config)
    assert snapshot.legal_actions() == sorted(legal)
    assert position.end != RUNNING or len(legal) >= 2


# ---------------------------------------------------------------- what is legal


def legal_actions(position: Position, config: Configuration) -> set[int]:
    """The legal ids, node by node as in section 3.2 of the specification."""
    if position.end != RUNNING:
        return set()
    return LEGAL[position.node](position, config)


def _plan_ids(position: Position, config: Configuration) -> set[int]:
    empty = set(range(position.spaces)) - set(position.board)
    return {plan(card, space + 1) for card in position.mover.cards for space in empty} | artifact_ids(position, config)


def _produce_ids(position: Position, config: Configuration) -> set[int]:
    owner, slot = position.card()
    return {resource(kind) for kind in numbers_of(config).production[position.seats[owner].faction, slot]}


def landing_places(position: Position, place: Place, system: int) -> set[int]:
    """Planets of the system but the one the starship is on, without pawns of others."""
    owners = position.owners()
    return {
        planet
        for planet in position.planets
        if planet // 7 == system and planet != place and owners.get(planet) in (None, position.turn)
    }


def move_price(numbers: Numbers, place: Place, system: int) -> int:
    if place == DEEP:
        return numbers.leave_deep
    return numbers.within if system_of(place) == system else numbers.between


def moves(position: Position, config: Configuration, gate: bool) -> set[int]:
    numbers, (owner, slot) = numbers_of(config), position.card()
    on_card = range(8) if gate else numbers.movement[position.seats[owner].faction, slot]
    ships, fuel = position.mover.ships, position.mover.hand[numbers.fuel]
    legal = set()
    for ship, place in enumerate(ships):
        twins = [other for other in range(ship) if ships[other] == place and other not in position.moved]
        if place == RESERVE or ship in position.moved or twins:
            continue
        for system in on_card:
            affordable = gate or move_price(numbers, place, system) <= fuel
            if affordable and landing_places(position, place, system):
                legal.add(move(ship, SYSTEMS[system]))
        if not gate and place != DEEP and numbers.to_deep <= fuel:
            legal.add(move(ship, DEEP))
    return legal


def _move_ids(position: Position, config: Configuration) -> set[int]:
    legal = moves(position, config, bool(position.gate)) | artifact_ids(position, config)
    return legal if position.gate else legal | {PASS}


def _land_ids(position: Position, config: Configuration) -> set[int]:
    return {at(place) for place in landing_places(position, position.mover.ships[position.ship], position.system)}


def building_places(position: Position, config: Configuration, item: int) -> set[int]:
    """Where the mover could place an item other than a starship, whatever it costs."""
    seat = position.mover
    colonies, factories, terraformers, _ = seat.reserve()
    if item < 3:
        free = (seat.on_planets() | seat.terraformers) - seat.colonies - seat.factories
        return free if colonies else set()
    if item == 3:
        return set(seat.colonies) if factories else set()
    suitable = {place for place, kind in position.planets.items() if kind in numbers_of(config).terraformable}
    own = seat.on_planets() | seat.colonies | seat.factories
    return (own & suitable) - seat.terraformers if terraformers else set()


def _build_ids(position: Position, config: Configuration) -> set[int]:
    numbers, seat = numbers_of(config), position.mover
    if position.free:
        items = (0, 3) if position.free == 1 else (4,)
        return {270 + item for item in items if building_places(position, config, item)}
    legal = {PASS} | artifact_ids(position, config)
    for item in range(8):
        affordable = all(held >= price for held, price in zip(seat.hand, numbers.cost(item), strict=True))
        possible = RESERVE in seat.ships if item >= 5 else bool(building_places(position, config, item))
        if affordable and possible:
            legal.add(270 + item)
    return legal


def _build_pos_ids(position: Position, config: Configuration) -> set[int]:
    places = building_places(position, config, position.item)
    return {at(row_of(place, position.turn, config.num_players)) for place in places}


def held(seat: Seat, least: int = 1) -> set[int]:
    return {kind for kind in range(6) if seat.hand[kind] >= least}


def exchanges(position: Position, other: Seat) -> set[tuple[int, int, int, int]]:
    """(kind given, number, kind wanted, number) of every offer the mover can make to a seat."""
    own = position.mover
    return {
        (give, given, want, wanted)
        for give in held(own) for given in (1, 2) if own.hand[give] >= given
        for want in held(other) - {give} for wanted in (1, 2) if other.hand[want] >= wanted
    }  # fmt: skip


def _trade_ids(position: Position, config: Configuration) -> set[int]:
    legal, players = {PASS}, len(position.seats)
    stock = {kind for kind in range(6) if position.bank[kind]}
    if position.bank_trades < config.values["max_bank_trades"]:
        legal |= {bank(kind) for kind in held(position.mover, numbers_of(config).bank_rate) if stock - {kind}}
    if position.offers < config.values["max_offers"]:
        for distance in range(1, players):
            if exchanges(position, position.seats[(position.turn + distance) % players]):
                legal.add(partner(distance))
    return legal


def _bank_ids(position: Position, config: Configuration) -> set[int]:
    return {resource(kind) for kind in range(6) if position.bank[kind] and kind != position.give}


def _give_ids(position: Position, config: Configuration) -> set[int]:
    return {cards(give, number) for give, number, _, _ in exchanges(position, position.seats[position.partner])}


def _get_ids(position: Position, config: Configuration) -> set[int]:
    offers = exchanges(position, position.seats[position.partner])
    return {
        cards(want, number)
        for give, given, want, number in offers
        if (give, given) == (position.give, position.give_count)
    }


def discards(position: Position) -> set[int]:
    """What the mover can discard for points, without passing."""
    if position.node == Node.IDENT:
        return {resource(kind) for kind in held(position.mover, 2)}
    kinds = sorted(held(position.mover))
    return {subset(chosen) for size in range(2, 7) for chosen in combinations(kinds, size)}


def _discard_ids(position: Position, config: Configuration) -> set[int]:
    return discards(position) | artifact_ids(position, config) | (set() if position.thesaurus else {PASS})


def _count_ids(position: Position, config: Configuration) -> set[int]:
    return {count(number) for number in range(2, position.mover.hand[position.give] + 1)}


LEGAL = {
    Node.PLAN: _plan_ids,
    Node.PRODUCE: _produce_ids,
    Node.MOVE: _move_ids,
    Node.LAND: _land_ids,
    Node.BUILD: _build_ids,
    Node.BUILD_POS: _build_pos_ids,
    Node.TRADE: _trade_ids,
    Node.BANK_GET: _bank_ids,
    Node.OFFER_GIVE: _give_ids,
    Node.OFFER_GET: _get_ids,
    Node.REPLY: lambda position, config: {PASS, ACCEPT},
    Node.ELEMENT: lambda position, config: {300, 301},
    Node.IDENT: _discard_ids,
    Node.IDENT_COUNT: _count_ids,
    Node.DIFF: _discard_ids,
    Node.DISCARD: lambda position, config: {resource(kind) for kind in held(position.mover)},
    Node.ART_RES: lambda position, config: {resource(kind) for kind in range(6) if position.bank[kind]},
}


def artifact_ids(position: Position, config: Configuration) -> set[int]:
    """Artifacts the mover may play here, by the conditions of section 2.5."""
    node, seat = position.node, position.mover
    others = [other for other in position.seats if other is not seat]
    stock = any(position.bank)
    conditions = {
        Node.PLAN: {
            2: bool(position.hidden() - seat.known),
            3: bool(seat.aside),
            9: True,
            10: any(sum(other.hand) for other in others),
        },
        Node.MOVE: {
            1: not position.gate and node == Node.MOVE and bool(moves(position, config, True)),
            4: stock,
            7: RESERVE in seat.ships,
        },
        Node.BUILD: {
            4: stock,
            5: bool(building_places(position, config, 0) | building_places(position, config, 3)),
            6: bool(building_places(position, config, 4)),
        },
        Node.IDENT: {8: not position.thesaurus and bool(discards(position))},
        Node.DIFF: {8: not position.thesaurus and bool(discards(position))},
    }
    possible = conditions.get(node, {})
    return {
        artifact(number)
        for number, playable in possible.items()
        if playable and number in position.holdings(position.turn)
    }


# ---------------------------------------------------------------- a decision


def check_decision(before_state: Any, action: int, after_state: Any, config: Configuration) -> None:
    """AssertionError unless ``after_state`` is what the rules make of ``before_state`` and ``action``.

    What chance gave (artifacts 9 and 10) is read off the result and checked for possibility.
    """
    before, after = Position.read(before_state), Position.read(after_state)
    referee = Referee(before, after, config)
    referee.decide(action)
    expected = referee.position
    if not referee.chance:
        assert expected.rng == after.rng, "chance was used"
    expected.rng = after.rng
    for name in vars(expected):
        assert getattr(expected, name) == getattr(after, name), (
            f"{name}: {getattr(after, name)}, the rules say {getattr(expected, name)} after id {action}"
        )


class Referee:
    """The rules once more, as slowly as they read."""

    def __init__(self, position: Position, outcome: Position, config: Configuration) -> None:
        self.position = position
        self.outcome = outcome
        self.config = config
        self.numbers = numbers_of(config)
        self.players = len(position.seats)
        self.chance = False

    def decide(self, action: int) -> None:
        take(action, self.position, lambda: legal_actions(self.position, self.config), self.apply)

    def apply(self, action: int) -> None:
        position = self.position
        if action >= 383:
            self.play_artifact(action - 383)
            return
        kind = action - 167  # where the id stands for a resource
        match position.node:
            case Node.PLAN:
                self.place((action - 2) // 15, (action - 2) % 15)
            case Node.PRODUCE:
                self.produce(kind)
            case Node.MOVE:
                self.move(action)
            case Node.LAND:
                self.land(action - 209)
            case Node.BUILD:
                self.build(action)
            case Node.BUILD_POS:
                self.build_at(position_of(action - 209, position.turn, len(position.seats)))
            case Node.TRADE | Node.BANK_GET | Node.OFFER_GIVE | Node.OFFER_GET | Node.REPLY:
                self.trade(action)
            case Node.ELEMENT:
                self.choose_element(action - 300)
            case Node.IDENT if action != PASS:
                position.give, position.node = kind, Node.IDENT_COUNT
            case Node.IDENT | Node.DIFF if action == PASS:
                self.discard({})
            case Node.IDENT_COUNT:
                self.discard({position.give: action - 302 + 2})
            case Node.DIFF:
                self.discard({place: 1 for place in range(6) if MASKS[action - 326] >> place & 1})
            case Node.DISCARD:
                self.exchange(position.turn, kind, -1)
                self.enforce_hand_limit()
            case Node.ART_RES:
                self.exchange(position.turn, kind, min(self.numbers.amount[4], position.bank[kind]))
                position.node, position.return_node = Node(position.return_node), 0

    def exchange(self, seat: int, kind: int, number: int) -> None:
        """Cards from the bank, or to it."""
        self.position.seats[seat].hand[kind] += number
        self.position.bank[kind] -= number

    def after(self, seat: int, distance: int = 1) -> int:
        return (seat + distance) % self.players

    # ------------------------------------------------------------ the round

    def place(self, card: int, space: int) -> None:
        position = self.position
        position.mover.cards.remove(card)
        position.board[space] = (position.turn, card)
        position.turn = self.after(position.turn)
        if len(position.board) == position.spaces:
            self.next_space()

    def next_space(self) -> None:
        position = self.position
        position.step = position.gate = position.free = position.thesaurus = position.offers = position.bank_trades = 0
        position.moved, position.owner_moved, position.element = set(), set(), None
        position.discarded = [0] * self.players
        if position.revealed == position.spaces:
            position.current = None
            self.end_round()
            return
        position.current = position.revealed
        position.revealed += 1
        position.turn, slot = position.card()
        position.node = ([Node.PRODUCE] * 3 + [Node.MOVE] * 3 + [Node.BUILD, Node.TRADE] + [Node.ELEMENT] * 3)[slot]
        if slot >= 8:
            position.first = position.turn
            position.mover.aside.add(slot)

    def end_round(self) -> None:
        position = self.position
        for seat in position.seats:
            seat.came_back, seat.filled_before = set(), set()
        reasons = [
            max(seat.points for seat in position.seats) >= self.numbers.end_points,
            not position.hidden(),
            position.round == self.config.values["max_rounds"],
        ]
        if any(reasons):
            position.end_reason = 1 + reasons.index(True)
            position.node, position.end = Node.OVER, TERMINATED
        else:
            self.enforce_hand_limit()

    def enforce_hand_limit(self) -> None:
        position = self.position
        for distance in range(self.players):
            seat = self.after(position.first, distance)
            if sum(position.seats[seat].hand) > self.numbers.hand_limit:
                position.node, position.turn = Node.DISCARD, seat
                return
        position.board, position.revealed = {}, 0
        for its in position.seats:
            if its.aside == {8, 9, 10}:
                its.aside = set()
            its.cards = set(range(11)) - its.aside
        position.round += 1
        position.node, position.turn = Node.PLAN, position.first

    # ------------------------------------------------------------ production, movement

    def produce(self, kind: int) -> None:
        position = self.position
        for distance in range(self.players):
            number = self.after(position.turn, distance)
            seat, units = position.seats[number], 0
            for places, pawn in ((seat.ships, 0), (seat.colonies, 1), (seat.factories, 2)):
                on_type = sum(position.planets.get(place) == kind for place in places)
                units += self.numbers.pawns[pawn]["production"] * on_type
            self.exchange(number, kind, min(units, position.bank[kind]))
        self.next_space()

    def move(self, action: int) -> None:
        position, numbers = self.position, self.numbers
        if action == PASS:
            self.next_mover()
            return
        ship, system = divmod(action - 173, 9)
        place = position.mover.ships[ship]
        if system == 8:
            self.exchange(position.turn, numbers.fuel, -numbers.to_deep)
            position.mover.ships[ship] = DEEP
            self.end_move(ship)
            return
        if not position.gate:
            self.exchange(position.turn, numbers.fuel, -move_price(numbers, place, system))
        position.gate = 0
        position.mover.known |= {planet for planet in position.hidden() if planet // 7 == system}
        position.ship, position.system, position.node = ship, system, Node.LAND

    def land(self, place: int) -> None:
        position, ship = self.position, self.position.ship
        position.ship = position.system = None
        position.node = Node.MOVE
        position.mover.ships[ship] = place
        if place in position.hidden():
            position.face_up.add(place)
            for seat in position.seats:
                seat.known.discard(place)
            if position.planets[place] == A and position.deck:
                self.draw_artifact()
        self.end_move(ship)

    def draw_artifact(self) -> None:
        position = self.position
        drawn = position.deck.pop(0)
        if drawn:
            position.artifacts[drawn] = position.turn
            return
        position.artifacts[0] = USED
        for kind in range(6):
            self.exchange(position.turn, kind, min(self.numbers.amount[0], position.bank[kind]))

    def end_move(self, ship: int) -> None:
        self.position.moved.add(ship)
        if self.position.step < self.players:
            self.next_mover()

    def next_mover(self) -> None:
        position = self.position
        if position.step == self.players:
            self.next_space()
            return
        if position.step == 0:
            position.owner_moved = position.moved
        position.step += 1
        position.turn = self.after(position.card()[0], position.step)
        position.moved = set()
        if position.step == self.players:
            position.moved, position.owner_moved = position.owner_moved, set()

    # ------------------------------------------------------------ building

    def build(self, action: int) -> None:
        position, item = self.position, action - 270
        if action == PASS:
            self.next_builder()
        elif item >= 5:
            self.pay_for(item)
            position.mover.ships[position.mover.ships.index(RESERVE)] = DEEP
            self.end_building()
        else:
            position.item, position.node = item, Node.BUILD_POS

    def build_at(self, place: int) -> None:
        position, seat, item = self.position, self.position.mover, self.position.item
        self.pay_for(item)
        pawn = 1 if item < 3 else item - 1
        (seat.colonies, seat.factories, seat.terraformers)[pawn - 1].add(place)
        if pawn == 2:
            seat.colonies.remove(place)
        row = self.numbers.pawns[pawn]
        seat.points += row["points"] + (row["points_alien"] if position.planets[place] == A else 0)
        position.item, position.node = None, Node.BUILD
        self.end_building()

    def pay_for(self, item: int) -> None:
        if not self.position.free:
            for kind, price in enumerate(self.numbers.cost(item)):
                self.exchange(self.position.turn, kind, -price)
        self.position.free = 0

    def end_building(self) -> None:
        if self.position.step:
            self.next_builder()

    def next_builder(self) -> None:
        position = self.position
        if position.step == self.players - 1:
            self.next_space()
        else:
            position.step += 1
            position.turn = self.after(position.card()[0], position.step)

    # ------------------------------------------------------------ trade

    def trade(self, action: int) -> None:
        position = self.position
        owner = position.card()[0]
        match position.node:
            case Node.TRADE if action == PASS:
                self.next_space()
            case Node.TRADE if action < 284:
                position.give, position.give_count, position.node = action - 278, self.numbers.bank_rate, Node.BANK_GET
            case Node.TRADE:
                position.partner, position.node = self.after(owner, action - 284 + 1), Node.OFFER_GIVE
            case Node.BANK_GET:
                self.exchange(owner, position.give, -self.numbers.bank_rate)
                self.exchange(owner, action - 167, 1)
                position.bank_trades += 1
                self.clear_offer()
            case Node.OFFER_GIVE:
                position.give, position.give_count = (action - 288) // 2, (action - 288) % 2 + 1
                position.node = Node.OFFER_GET
            case Node.OFFER_GET:
                position.want, position.want_count = (action - 288) // 2, (action - 288) % 2 + 1
                position.offers += 1
                position.node, position.turn = Node.REPLY, position.partner
            case Node.REPLY:
                if action == ACCEPT:
                    one, other = position.seats[owner].hand, position.mover.hand
                    for kind, number in ((position.give, position.give_count), (position.want, -position.want_count)):
                        one[kind] -= number
                        other[kind] += number
                position.turn = owner
                self.clear_offer()

    def clear_offer(self) -> None:
        position = self.position
        position.partner = position.give = position.want = None
        position.give_count = position.want_count = 0
        position.node = Node.TRADE

    # ------------------------------------------------------------ scoring

    def choose_element(self, choice: int) -> None:
        position = self.position
        owner, slot = position.card()
        position.element = self.numbers.scoring[slot][choice]
        if position.element >= 4:
            position.node, position.turn = (Node.IDENT if position.element == 4 else Node.DIFF), self.after(owner)
        else:
            self.award()

    def discard(self, chosen: dict[int, int]) -> None:
        position = self.position
        for kind, number in chosen.items():
            self.exchange(position.turn, kind, -number)
        extra = self.numbers.amount[8] if position.thesaurus else 0
        position.discarded[position.turn] = sum(chosen.values()) + extra if chosen else 0
        position.give, position.thesaurus = None, 0
        position.node = Node.IDENT if position.element == 4 else Node.DIFF
        if position.step == self.players - 1:
            self.award()
        else:
            position.step += 1
            position.turn = self.after(position.turn)

    def award(self) -> None:
        position, element = self.position, self.position.element
        points = self.numbers.points[element]
        measures = []
        for number, seat in enumerate(position.seats):
            factories = points[-1] * len(seat.factories)
            in_play = 4 - seat.ships.count(RESERVE)
            measures.append(
                [points[0] * len(seat.colonies) + factories, in_play, len(seat.terraformers), len(seat.systems()),
                 position.discarded[number], position.discarded[number]][element]
            )  # fmt: skip
        for seat, measure in zip(position.seats, measures, strict=True):
            seat.points += measure * (1 if element == 0 else points[0])
            if measure > 0 and measures.count(measure) == 1 and measure == max(measures):
                seat.points += self.numbers.bonus
        self.next_space()

    # ------------------------------------------------------------ artifacts

    def play_artifact(self, number: int) -> None:
        position, seat = self.position, self.position.mover
        position.artifacts[number] = USED
        match number:
            case 1:
                position.gate = 1
            case 2:
                seat.known = position.hidden()
            case 3:
                filled = {space for space, (owner, _) in position.board.items() if owner == position.turn}
                if filled:
                    seat.came_back, seat.filled_before = seat.aside, filled
                seat.cards |= seat.aside
                seat.aside = set()
            case 4:
                position.return_node, position.node = int(position.node), Node.ART_RES
            case 5 | 6:
                position.free = number - 4
            case 7:
                seat.ships[seat.ships.index(RESERVE)] = DEEP
            case 8:
                position.thesaurus = 1
            case 9:
                self.chance = True
                gained = self.outcome.seats[position.turn].points - seat.points
                assert 1 <= gained <= self.numbers.amount[9]
                seat.points += gained
            case 10:
                self.chance = True
                self.take_random_cards()

    def take_random_cards(self) -> None:
        """The outcome shows which card each hand lost."""
        position, taker = self.position, self.position.mover
        for number, seat in enumerate(position.seats):
            if seat is taker:
                continue
            lost = [kind for kind in range(6) if self.outcome.seats[number].hand[kind] == seat.hand[kind] - 1]
            assert len(lost) == (1 if sum(seat.hand) else 0), "each hand loses one card"
            for kind in lost:
                seat.hand[kind] -= 1
                taker.hand[kind] += 1
