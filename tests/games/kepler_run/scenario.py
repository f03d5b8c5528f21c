"""Positions of Kepler Run in words: which card lies where, instead of fields of a record.

A :class:`Position` holds every card and every piece of a game. ``write`` turns it into a state, with everything a state
keeps only for speed or for the observation worked out anew; ``read`` goes the other way. :func:`scenario` builds one
from what a test is about and leaves the other cards in the deck.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kepler_envs.engine.game import RUNNING, Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.kepler_run.state import Node
from kepler_envs.registry import load_game
from tests.games.kepler_run.flights import farthest, fuel_to_places

GAME = load_game("kepler_run")
CONTRACTS = (0, 1, 2)
ICONS = ("asteroids", "comets", "stations")
SOURCES = ("discover", "part", "delivery", "kepler", "complete", "secondary", "stations", "closest")
REFUEL, REROUTE, OUTPOST = 1, 2, 3
JUMP, SLING = 5, 6  # kinds of parts; 0..4 bypass sectors of that type


@dataclass
class Card:
    """What is printed on a card; types and kinds from 0 on."""

    type: int
    cost: int
    wrenches: int
    kind: int
    dots: int
    icons: tuple[int, int, int]
    action: int
    vp: int


def card_of(config: Configuration, card: int) -> Card:
    row = config.tables[0]["row_card"][card]
    icons = tuple(int(row[name]) for name in ICONS)
    numbers = {name: int(row[name]) for name in ("cost", "wrenches", "dots", "action", "vp")}
    return Card(type=int(row["type"]) - 1, kind=int(row["part"]) - 1, icons=icons, **numbers)


@dataclass
class Seat:
    """The pieces of one player. Parts and deliveries are card ids in the order they were gained."""

    ship: int = 0
    modules: int = 4
    fuel: int = 0
    disks: int = 4  # in supply
    hand: list[int] = field(default_factory=lambda: [0, 1, 2])
    place: int = 0
    tank: int = 0
    flown: bool = False
    contract: int | None = None  # of this round
    revealed: int | None = None  # at the last scoring
    booster_used: bool = False
    parts: list[int] = field(default_factory=list)
    used_parts: set[int] = field(default_factory=set)  # card ids
    deliveries: list[int] = field(default_factory=list)
    used_deliveries: set[int] = field(default_factory=set)
    points: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SOURCES, 0))
    vp_paid: int = 0

    @property
    def vp(self) -> int:
        return sum(self.points.values())


@dataclass
class Position:
    """Every card and piece of a game, and who is asked for what."""

    seats: list[Seat]
    run: list[int]
    row: dict[int, int] = field(default_factory=dict)  # slot: card
    deck: list[int] = field(default_factory=list)  # the next card first
    disks: dict[int, int] = field(default_factory=dict)  # run index: seat
    order: list[int] = field(default_factory=list)
    node: Node = Node.DRAFT
    turn: int = 0  # the seat that decides
    round: int = 0
    draft_pos: int = 0
    pending_card: int | None = None
    completed_by: list[int | None] = field(default_factory=lambda: [None, None, None])
    arrivals: int = 0
    committed: int = 0  # contracts chosen this round
    decisions: int = 0
    end: int = RUNNING
    rng: int = 1

    @property
    def mover(self) -> Seat:
        return self.seats[self.turn]

    def cards(self) -> list[int]:
        """All cards that have not been discarded."""
        cards = [*self.run, *self.row.values(), *self.deck]
        for seat in self.seats:
            cards += [*seat.parts, *seat.deliveries]
        return cards if self.pending_card is None else [*cards, self.pending_card]

    def free_stations(self, config: Configuration) -> list[int]:
        """Run indices that show a station and have no disk."""
        return [i for i, card in enumerate(self.run) if card_of(config, card).icons[2] and i not in self.disks]

    def leaving_cost(self, config: Configuration) -> int:
        """Fuel to leave the place of the flying player."""
        if self.node != Node.FLY:
            return 0
        if self.mover.place == 0:
            return int(config.tables[0]["port_cost"])
        card = card_of(config, self.run[self.mover.place - 1])
        return 0 if card.type == config.tables[0]["ship_type"][self.mover.ship] else card.cost

    def reach(self, number: int, config: Configuration) -> int:
        """Where a flight ended or is, before it how far it could go."""
        seat = self.seats[number]
        if self.node == Node.OVER:
            return 0
        if seat.flown or (self.node == Node.FLY and self.turn == number):
            return seat.place
        table = config.tables[0]
        cards = [card_of(config, card) for card in self.run]
        free = int(table["ship_type"][seat.ship])
        sectors = [(card.type + 1, 0 if card.type == free else card.cost) for card in cards]
        parts = [card_of(config, card) for card in seat.parts]
        tools = [(JUMP + 1, int(table["booster_dots"])), *((part.kind + 1, part.dots) for part in parts)]
        return farthest(fuel_to_places(sectors, int(table["port_cost"]), tools, 0, seat.modules + seat.fuel))

    # ------------------------------------------------------------ to and from a state

    @classmethod
    def read(cls, state: Any, config: Configuration | None = None) -> Position:
        """The cards of a state record, taken from where their ids are; of the game's own file unless told."""
        config = config or GAME.configure()
        seats = [_read_seat(state["player"][seat], config) for seat in range(int(state["num_players"]))]
        length = int(state["run_length"])
        row = {slot: int(card) - 1 for slot, card in enumerate(state["row_card"]) if card}
        disks = {index: int(state["run"][index]["disk"]) - 1 for index in range(length) if state["run"][index]["disk"]}
        return cls(
            seats,
            [int(card) - 1 for card in state["run_card"][:length]],
            row,
            state["deck"].tolist()[: int(state["deck_count"])][::-1],
            disks,
            [int(seat) for seat in state["order"][: len(seats)]],
            Node(int(state["node"])),
            int(state["seat"]),
            int(state["round_index"]),
            int(state["draft_pos"]),
            _less_one(state["pending_card"]),
            [_less_one(seat) for seat in state["completed_by"]],
            int(state["arrivals"]),
            int(state["committed_count"]),
            int(state["decisions"]),
            int(state["end"]),
            int(state["rng"]),
        )

    def write(self, config: Configuration) -> Snapshot:
        """The state with these cards and pieces; the options are those of ``config``."""
        states, table = config.game.new_states(1), config.tables[0]
        state, options = states[0], config.options[0]
        for name in ("num_players", "reward_mode", "shaping"):
            state[name] = options[name]
        for name in ("draft_pos", "arrivals", "decisions", "end", "rng", "node"):
            state[name] = getattr(self, name)
        state["round_index"], state["seat"], state["committed_count"] = self.round, self.turn, self.committed
        state["order"] = [*self.order, *[-1] * (len(state["order"]) - len(self.order))]
        state["completed_by"] = [_plus_one(seat) for seat in self.completed_by]
        state["leaving_cost"] = self.leaving_cost(config)
        if self.pending_card is not None:
            state["pending_card"] = self.pending_card + 1
            state["pending_action"] = card_of(config, self.pending_card).action
            state["pending_type"] = card_of(config, self.pending_card).type + 1
        state["run_length"] = len(self.run)
        for index, card in enumerate(self.run):
            state["run_card"][index] = card + 1
            state["run"][index] = table["sector"][card]
            state["run"][index]["disk"] = _plus_one(self.disks.get(index))
        for slot, card in self.row.items():
            state["row_card"][slot] = card + 1
            state["row"][slot] = table["row_card"][card]
        state["row_set"] = sum(1 << slot for slot in self.row)
        state["disk_set"] = sum(1 << index for index in self.disks)
        state["free_stations"] = sum(1 << index for index in self.free_stations(config))
        state["deck_count"] = len(self.deck)
        state["deck"][: len(self.deck)] = self.deck[::-1]
        state["unseen"][self.deck] = 1
        for number, seat in enumerate(self.seats):
            _write_seat(state["player"][number], seat, self.order.index(number), config)
            place = self.reach(number, config)
            state["player"][number]["reach"] = place
            icons = [card_of(config, card).icons for card in self.run[:place]]
            state["player"][number]["icons"] = np.sum(icons, axis=0) if icons else 0
        return Snapshot(config, states)


def _plus_one(value: int | None) -> int:
    return 0 if value is None else value + 1


def _less_one(value: Any) -> int | None:
    return int(value) - 1 if value else None


def _read_seat(player: Any, config: Configuration) -> Seat:
    parts = [int(card) - 1 for card in player["part_card"][: int(player["part_count"])]]
    deliveries = [int(card) - 1 for card in player["delivery_card"][: int(player["delivery_count"])]]
    return Seat(
        **{name: int(player[name]) for name in ("ship", "modules", "fuel", "disks", "place", "tank", "vp_paid")},
        hand=[contract for contract in CONTRACTS if player["hand"][contract]],
        flown=bool(player["flown"]),
        contract=_less_one(player["contract"]),
        revealed=_less_one(player["revealed"]),
        booster_used=bool(player["booster_used"]),
        parts=parts,
        used_parts={card for card, part in zip(parts, player["parts"], strict=False) if part["used"]},
        deliveries=deliveries,
        used_deliveries={card for card in deliveries if player["delivered"][card_of(config, card).type]},
        points={name: int(points) for name, points in zip(SOURCES, player["vp_from"], strict=True)},
    )


def _write_seat(player: Any, seat: Seat, order_position: int, config: Configuration) -> None:
    for name in ("vp", "ship", "modules", "fuel", "disks", "place", "tank", "flown", "booster_used", "vp_paid"):
        player[name] = getattr(seat, name)
    player["present"], player["order_position"] = 1, order_position
    player["built_in"] = config.tables[0]["ship_type"][seat.ship] + 1
    player["hand"] = [contract in seat.hand for contract in CONTRACTS]
    player["contract"], player["committed"] = _plus_one(seat.contract), seat.contract is not None
    player["revealed"] = _plus_one(seat.revealed)
    player["part_count"], player["delivery_count"] = len(seat.parts), len(seat.deliveries)
    for slot, card in enumerate(seat.parts):
        printed = card_of(config, card)
        player["part_card"][slot] = card + 1
        player["parts"][slot] = (printed.kind + 1, printed.dots, card in seat.used_parts)
    for slot, card in enumerate(seat.deliveries):
        player["delivery_card"][slot] = card + 1
        kind = card_of(config, card).type
        player["deliveries"][kind] += 1
        player["delivered"][kind] = card in seat.used_deliveries
    player["vp_from"] = list(seat.points.values())


# ---------------------------------------------------------------- scenarios


def scenario(
    run: Sequence[int], *seats: Seat, row: Sequence[int] = (), node: Node = Node.DRAFT, order: Sequence[int] = (),
    config: Configuration | None = None, **fields: Any,
) -> Snapshot:  # fmt: skip
    """A position with these sectors, players and row (slots from 0 on); all other cards are in the deck, in ascending
    order.

    Unless told, the turn order is 0, 1, ..; seat 0 decides; contracts count as chosen where seats have one.
    """
    fields.setdefault("committed", sum(seat.contract is not None for seat in seats))
    position = Position(
        list(seats), list(run), dict(enumerate(row)), node=node, order=list(order) or list(range(len(seats))), **fields
    )
    if "deck" not in fields:
        config = config or GAME.configure(len(seats))
        used = set(position.cards())
        position.deck = [card for card in range(int(config.tables[0]["cards_total"])) if card not in used]
    return position.write(config or GAME.configure(len(seats)))


def flight(run: Sequence[int], flyer: Seat, other: Seat | None = None, **fields: Any) -> Snapshot:
    """Seat 0 of two is flying, with a chosen contract that does not matter."""
    flyer.contract = 2 if flyer.contract is None else flyer.contract
    other = other or Seat(ship=4 if flyer.ship != 4 else 3)
    other.contract = 2 if other.contract is None else other.contract
    return scenario(run, flyer, other, node=Node.FLY, draft_pos=4, **fields)


def look(position: Snapshot) -> Position:
    """The cards and pieces of a position."""
    return Position.read(position.state, position.config)
