"""Positions of Kepler-3042 in words: tiles, starships, cubes and cards instead of fields of a record.

A :class:`Position` is where everything lies. ``write`` turns it into a state, with everything a state keeps only for
speed worked out anew; ``read`` goes the other way. :func:`scenario` makes one from the few things a test is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from kepler_envs.engine.game import RUNNING, Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.kepler_3042.state import Node, Phase
from kepler_envs.registry import load_game
from tests.scenario import Play as AnyPlay
from tests.scenario import members

GAME = load_game("kepler_3042")
SOL, SAGITTARIUS = 208, 115
MINE, TARGET = 29, 30
E, M, A = range(3)
REGENERATE = 2
COLONIAL, TECHNOLOGICAL = 0, 1
MEDAL_SPACES = (4, 7, 10, 13, 16)

DONE = "done"
ADVANCES = [
    f"advance {technology}"
    for technology in ("Space Travels", "Quantum Physics", "Energy Development", "Terraforming", "Antimatter Science")
]
DONE_ID, FIRST_MAIN_ID, FIRST_HEX_ID = 0, 1, 158
"""Ids, as the specification numbers them, for what goes through all that is legal."""


# ---------------------------------------------------------------- the grid


def row_column(hex_id: int) -> tuple[int, int]:
    return divmod(hex_id, 22)


def steps_between(one: int, other: int) -> int:
    """Distance by cube coordinates."""
    (row_a, column_a), (row_b, column_b) = row_column(one), row_column(other)
    qa, qb = column_a - (row_a - row_a % 2) // 2, column_b - (row_b - row_b % 2) // 2
    dq, dr = qa - qb, row_a - row_b
    return (abs(dq) + abs(dr) + abs(dq + dr)) // 2


NEIGHBOURS = {one: [other for other in range(418) if steps_between(one, other) == 1] for one in range(418)}


def to_hex(hex_id: int) -> str:
    """The text of the choice of a hex."""
    row, column = row_column(hex_id)
    return f"hex {hex_id} (row {row}, column {column})"


# ---------------------------------------------------------------- a position


@dataclass
class Seat:
    """What belongs to one player (or the ghost)."""

    tech: list[int] = field(default_factory=lambda: [0] * 5)
    track: list[int] = field(default_factory=lambda: [0, 0])
    medals: list[int] = field(default_factory=lambda: [0, 0])
    storage: list[int] = field(default_factory=lambda: [0] * 3)
    pit: list[int] = field(default_factory=lambda: [0] * 3)
    cubes: list[list[int]] = field(default_factory=lambda: [[0] * 3 for _ in range(6)])  # Earth, colonies
    planets: list[int] = field(default_factory=list)  # numbers in the order of colonisation
    ships: list[int | None] = field(default_factory=lambda: [None] * 3)  # hexes, None in supply
    action_cube: int = 4
    objectives: set[int] = field(default_factory=set)  # ids 1..17

    def total(self) -> list[int]:
        return [self.storage[kind] + self.pit[kind] + sum(card[kind] for card in self.cubes) for kind in range(3)]


@dataclass
class Position:
    """Everything on the table, and whose turn it is. None means there is none."""

    seats: list[Seat]
    ghost: Seat | None = None
    tiles: dict[int, int] = field(default_factory=dict)  # hex -> planet number, MINE, TARGET
    face_up: set[int] = field(default_factory=set)
    terraformed: set[int] = field(default_factory=set)  # planet numbers
    deck: list[int] = field(default_factory=list)
    track_medals: list[set[int]] = field(default_factory=lambda: [set(MEDAL_SPACES), set(MEDAL_SPACES)])  # spaces
    card_medals: list[int] = field(default_factory=lambda: [0, 0])
    round: int = 1
    phase: Phase = Phase.TURNS
    first: int = 0
    turn_index: int = 0
    active: int = 0
    flow: int = Node.MAIN_ACTION  # a node, or NEXT_BENEFICIARY
    node: Node = Node.MAIN_ACTION
    turn: int = 0  # the seat that decides
    beneficiaries: set[int] = field(default_factory=set)
    rewards: list[tuple[int, int]] = field(default_factory=list)  # (seat, E, M or REGENERATE)
    conversions: int = 0
    allocations: int = 0
    bonus_used: set[int] = field(default_factory=set)
    second_free: int = 0
    bonus: int | None = None
    left: int = 0
    exploited: set[int] = field(default_factory=set)
    technology: int | None = None
    source: int = 0
    place_slot: int | None = None
    speed: int = 0
    moved: set[int] = field(default_factory=set)
    goal: int | None = None
    moving: int | None = None
    points: int = 0
    campaign: int | None = None
    level: int = 0
    bonus_cubes: int = 0
    tile_group: int = 4
    advanced: int = 0
    win_loss: int = 0
    end: int = RUNNING
    decisions: int = 0
    rng: int = 1

    PLAIN: ClassVar = (
        "first", "turn_index", "active", "conversions", "allocations", "second_free", "left", "source", "speed",
        "points",
        "level", "bonus_cubes", "tile_group", "advanced", "win_loss", "end", "decisions", "rng",
    )  # fmt: skip
    OR_NONE: ClassVar = ("bonus", "technology", "place_slot", "goal", "moving", "campaign")
    BITS: ClassVar = ("beneficiaries", "bonus_used", "exploited", "moved")

    def rows(self) -> list[Seat]:
        """Players, and the ghost."""
        return self.seats + ([self.ghost] if self.ghost is not None else [])

    def hex_of(self, planet: int) -> int:
        return next(place for place, body in self.tiles.items() if body == planet)

    def owners(self) -> dict[int, int]:
        """Planet number -> seat."""
        return {planet: number for number, seat in enumerate(self.seats) for planet in seat.planets}

    def ships_at(self) -> dict[int, tuple[int, int]]:
        """Hex -> (seat, starship)."""
        return {
            place: (number, index)
            for number, seat in enumerate(self.seats)
            for index, place in enumerate(seat.ships)
            if place is not None
        }

    # ------------------------------------------------------------ to and from a state

    @classmethod
    def read(cls, state: Any, config: Configuration | None = None) -> Position:
        """The position of a state record, taken from where things are, not from what is derived of them.

        Args:
            config: needed where its component file has medals on other spaces than the game's own.
        """
        players = int(state["num_players"])
        rows = [cls._read_seat(state["player"][number]) for number in range(4)]
        position = cls(rows[:players], rows[1] if players == 1 else None)
        position.tiles = {place: body for place, body in enumerate(state["body"].tolist()) if body}
        position.face_up = _hexes(state["face_up"])
        position.terraformed = {number for number, there in enumerate(state["planet_terraformed"].tolist()) if there}
        position.deck = state["deck"].tolist()
        position.track_medals = [
            {space for space, there in zip(spaces, medals, strict=True) if there}
            for spaces, medals in zip(_medal_spaces(config), state["track_medals"], strict=True)
        ]
        position.card_medals = state["card_medals"].tolist()
        position.round, position.phase = int(state["round_number"]), Phase(int(state["phase"]))
        position.flow, position.node = int(state["flow"]), Node(int(state["node"]))
        position.turn = int(state["seat"])
        waiting = int(state["pending"])
        position.rewards = [(reward // 4, reward % 4 - 1) for reward in state["rewards"][:waiting].tolist()]
        for name in cls.PLAIN:
            setattr(position, name, int(state[name]))
        for name in cls.OR_NONE:
            setattr(position, name, int(state[name]) - 1 if state[name] else None)
        for name in cls.BITS:
            setattr(position, name, members(state[name]))
        return position

    @staticmethod
    def _read_seat(player: Any) -> Seat:
        return Seat(
            tech=player["tech"].tolist(), track=player["track"].tolist(), medals=player["medals"].tolist(),
            storage=player["storage"].tolist(), pit=player["pit"].tolist(), cubes=player["cubes"].tolist(),
            planets=[number for number in player["slot"].tolist() if number],
            ships=[place - 1 if place else None for place in player["ship"].tolist()],
            action_cube=int(player["action_cube"]),
            objectives={1 + number for number in members(player["objectives"])},
        )  # fmt: skip

    def write(self, config: Configuration) -> Snapshot:
        """The state of this position."""
        states = config.game.new_states(1)
        state = states[0]
        for name in self.PLAIN:
            state[name] = getattr(self, name)
        for name in self.OR_NONE:
            value = getattr(self, name)
            state[name] = 0 if value is None else value + 1
        for name in self.BITS:
            state[name] = sum(1 << member for member in getattr(self, name))
        state["num_players"], state["shaping"] = len(self.seats), config.values["shaping"]
        state["round_number"], state["phase"] = self.round, self.phase
        state["flow"], state["node"], state["seat"] = self.flow, self.node, self.turn
        for place, body in self.tiles.items():
            state["body"][place] = body
            if body < MINE:
                state["planet_hex"][body] = place + 1
        owners = self.owners()
        for planet, owner in owners.items():
            state["planet_owner"][planet] = owner + 1
        for planet in self.terraformed:
            state["planet_terraformed"][planet] = 1
        state["bodies"], state["face_up"] = _words(self.tiles), _words(self.face_up)
        state["colonised"] = _words(self.hex_of(planet) for planet in owners)
        state["ships"] = _words(self.ships_at())
        state["deck"] = self.deck
        for number, spaces in enumerate(_medal_spaces(config)):
            state["track_medals"][number] = [space in self.track_medals[number] for space in spaces]
        state["card_medals"] = self.card_medals
        state["pending"] = len(self.rewards)
        for place, (seat, kind) in enumerate(self.rewards):
            state["rewards"][place] = 4 * seat + kind + 1
        for number, seat in enumerate(self.seats):
            self._write_seat(state["player"][number], seat, config)
        if self.ghost is not None:
            ghost = state["player"][1]
            ghost["present"] = ghost["ghost"] = 1
            ghost["tech"], ghost["track"], ghost["medals"] = self.ghost.tech, self.ghost.track, self.ghost.medals
        return Snapshot(config, states)

    def _write_seat(self, player: Any, seat: Seat, config: Configuration) -> None:
        tables = config.tables[0]
        player["present"] = 1
        for name in ("tech", "track", "medals", "storage", "pit", "cubes", "action_cube"):
            player[name] = getattr(seat, name)
        player["total"] = seat.total()
        player["slot"][1 : 1 + len(seat.planets)] = seat.planets
        player["ship"] = [0 if place is None else place + 1 for place in seat.ships]
        bodies = [self.tiles.get(place, 0) for place in seat.ships if place is not None]
        player["ships_in_supply"] = seat.ships.count(None)
        player["ships_in_space"] = bodies.count(0)
        player["ships_on_mines"] = bodies.count(MINE)
        player["ships_on_planets"] = sum(0 < body < MINE for body in bodies)
        player["colonies"] = len(seat.planets)
        player["terraformed"] = sum(planet in self.terraformed for planet in seat.planets)
        for planet in seat.planets:
            player["colonies_of_type"][int(tables["planet"]["kind"][planet])] += 1
            player["colonies_in_zone"][int(tables["zone"][self.hex_of(planet)])] += 1
        player["objectives"] = sum(1 << objective - 1 for objective in seat.objectives)


def _medal_spaces(config: Configuration | None) -> list[list[int]]:
    return [list(MEDAL_SPACES)] * 2 if config is None else config.tables[0]["medal_space"].tolist()


def _hexes(words: Any) -> set[int]:
    return {64 * number + place for number, word in enumerate(words) for place in members(word)}


def _words(hexes: Iterable[int]) -> np.ndarray:
    whole = sum(1 << place for place in set(hexes))
    return np.array([whole >> 64 * word & (1 << 64) - 1 for word in range(7)], np.uint64)


# ---------------------------------------------------------------- scenarios


def scenario(
    players: int = 4, *, config: Configuration | None = None, seats: Mapping[int, Mapping[str, Any]] | None = None,
    bodies: Mapping[int, int] | None = None, up: Iterable[int] = (), earth: Iterable[int] | None = None,
    colonies: Mapping[int, Iterable[int]] | None = None, card: int | None = None, **changes: Any,
) -> Play:  # fmt: skip
    """A position at the start of seat 0's turn in round 1, with these changes.

    Technologies, tracks and cubes are 0 on everybody's cards unless told, starships in the supply, and medals on their
    spaces.

    Args:
        seats: fields of :class:`Seat` by seat; storage gets what is left of 7/7/3 unless it is given.
        bodies: the only tiles there are (hex -> body), all face up; None: those that seed 1 deals.
        up: tiles turned up, by their number (planets) or hex (hexes are negative: ``-hex``).
        earth: cubes on seat 0's Earth.
        colonies: seat 0's planets with the cubes on them, in the order of their slots; they are turned up.
        card: the progress card of this round.
        changes: fields of :class:`Position`.
    """
    config = config or GAME.configure(players)
    position = Position.read(Snapshot.deal(config, 1).state)
    position.round, position.phase, position.first, position.active, position.turn = 1, Phase.TURNS, 0, 0, 0
    position.flow = position.node = Node.MAIN_ACTION
    position.left = 0
    if bodies is not None:
        position.tiles, position.face_up = dict(bodies), set(bodies)
    for number, seat in enumerate(position.seats):
        fresh = Seat(objectives=seat.objectives)
        for name, value in (seats or {}).get(number, {}).items():
            setattr(fresh, name, deepcopy(value))
        position.seats[number] = fresh
    own = position.seats[0]
    own.cubes[0] = list(earth or [0, 0, 0])
    for number, (planet, cubes) in enumerate((colonies or {}).items(), 1):
        own.planets.append(planet)
        own.cubes[number] = list(cubes)
        position.face_up.add(position.hex_of(planet))
    for number, seat in enumerate(position.seats):
        if "storage" not in (seats or {}).get(number, {}):
            used = seat.total()
            seat.storage = [whole - part for whole, part in zip((7, 7, 3), used, strict=True)]
    position.face_up |= {-hex_id if hex_id < 0 else position.hex_of(hex_id) for hex_id in up}
    if card is not None:
        position.deck = [card, *(other for other in range(1, 19) if other != card)][:16]
    level = own.tech[1]
    position.conversions, position.allocations = ((0, 0), (1, 1), (1, 2), (2, 3), (14, 4))[level]
    for name, value in changes.items():
        assert hasattr(position, name), name
        setattr(position, name, deepcopy(value))
    if "flow" in changes and "node" not in changes:
        position.node = position.flow
    return Play(position.write(config))


class Play(AnyPlay[Position]):
    """A game that goes on from a scenario. Decisions are named by their texts, not by their ids."""

    POSITION = Position

    def legal(self) -> set[str]:
        """What may be done at the current node, in words."""
        return {self.snapshot.config.actions.text(action) for action in self.snapshot.legal_actions()}

    def places(self) -> set[int]:
        """The hexes that may be chosen."""
        return {action - FIRST_HEX_ID for action in self.snapshot.legal_actions() if action >= FIRST_HEX_ID}

    def play(self, *texts: str) -> Play:
        """Take these decisions, which must be legal."""
        for text in texts:
            assert text in self.legal(), f"{text!r} is not legal at {self.node.name}; legal: {sorted(self.legal())}"
            self.snapshot = self.snapshot.apply(self.snapshot.config.actions.id_of(text))
        return self

    @property
    def own(self) -> Seat:
        """Seat 0."""
        return self.position.seats[0]
