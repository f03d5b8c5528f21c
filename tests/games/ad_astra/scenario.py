"""Positions of Ad Astra in words: pawns, planets and cards instead of fields of a record.

A :class:`Position` is where everything lies. ``write`` turns it into a state, with everything a state keeps only for
speed worked out anew; ``read`` goes the other way. :func:`scenario` makes one from the few things a test is about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from kepler_envs.engine.game import RUNNING, Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.ad_astra.state import Node
from kepler_envs.registry import load_game
from tests.scenario import Play as AnyPlay
from tests.scenario import members

GAME = load_game("ad_astra")

SYSTEMS = ("SR", "SY", "LR", "LY", "TR", "TY", "NR", "NY")
TYPES = "WFEXYZA"
W, F, E, X, Y, Z, A = range(7)
RESERVE, DEEP = "reserve", "deep space"
Place = int | str  # of a starship: a position, RESERVE or DEEP
DECK, USED = "deck", "used"  # places of an artifact besides the seat that holds it

# ---------------------------------------------------------------- ids, as the specification numbers them

PASS, ACCEPT = 0, 1


def plan(card: int, space: int) -> int:
    """``space`` as printed on the board, from 1."""
    return 2 + 15 * card + space - 1


def resource(kind: int) -> int:
    return 167 + kind


def move(ship: int, system: str) -> int:
    return 173 + 9 * ship + (8 if system == DEEP else SYSTEMS.index(system))


def at(row: int) -> int:
    """``row``: a position around a star; 56 is the own start planet, 57 that of the next player."""
    return 209 + row


COLONY_X, COLONY_Y, COLONY_Z, FACTORY, TERRAFORMER, STARSHIP_X, STARSHIP_Y, STARSHIP_Z = range(270, 278)


def bank(kind: int) -> int:
    return 278 + kind


def partner(distance: int) -> int:
    return 284 + distance - 1


def cards(kind: int, count: int) -> int:
    return 288 + 2 * kind + count - 1


FIRST_ELEMENT, SECOND_ELEMENT = 300, 301


def count(number: int) -> int:
    return 302 + number - 2


MASKS = [mask for mask in range(64) if mask.bit_count() >= 2]


def subset(kinds: Sequence[int]) -> int:
    return 326 + MASKS.index(sum(1 << kind for kind in kinds))


def artifact(number: int) -> int:
    return 383 + number


# ---------------------------------------------------------------- a position


@dataclass
class Seat:
    """What belongs to one player. Action cards are slots 0..10; a card is in hand, set aside, or on the board."""

    faction: int = 0
    points: int = 0
    hand: list[int] = field(default_factory=lambda: [0] * 6)  # resource cards by type
    ships: list[Place] = field(default_factory=lambda: [DEEP, RESERVE, RESERVE, RESERVE])
    colonies: set[int] = field(default_factory=set)
    factories: set[int] = field(default_factory=set)
    terraformers: set[int] = field(default_factory=set)
    known: set[int] = field(default_factory=set)  # face-down planets looked at
    cards: set[int] = field(default_factory=lambda: set(range(11)))
    aside: set[int] = field(default_factory=set)
    came_back: set[int] = field(
        default_factory=set
    )  # cards that artifact 3 brought back this round, on the board or not
    filled_before: set[int] = field(default_factory=set)  # own spaces filled by then; both empty if there were none

    def pawns(self) -> set[int]:
        """Positions with an own pawn."""
        return self.on_planets() | self.colonies | self.factories | self.terraformers

    def on_planets(self) -> set[int]:
        return {place for place in self.ships if isinstance(place, int)}

    def reserve(self) -> list[int]:
        """Colonies, factories, terraformers, starships left."""
        built = (len(self.colonies), len(self.factories), len(self.terraformers))
        return [*(4 - number for number in built), self.ships.count(RESERVE)]

    def systems(self) -> set[int]:
        return {system_of(position) for position in self.pawns()}


def system_of(position: int) -> int:
    return position // 7


def row_of(position: int, observer: int, players: int) -> int:
    """Where a seat sees a position: of start planets its own one comes first."""
    return position if position < 56 else 56 + (position - 56 - observer) % players


def position_of(row: int, observer: int, players: int) -> int:
    """The inverse."""
    return row if row < 56 else 56 + (row - 56 + observer) % players


@dataclass
class Position:
    """Everything on the table, and whose turn it is. Seats and spaces count from 0 here, None means there is none."""

    seats: list[Seat]
    planets: dict[int, int] = field(default_factory=dict)  # position -> type
    face_up: set[int] = field(default_factory=set)
    bank: list[int] = field(default_factory=lambda: [25] * 6)
    artifacts: dict[int, int | str] = field(default_factory=dict)  # DECK, USED or a seat
    deck: list[int] = field(default_factory=list)  # the top first
    spaces: int = 12  # in use
    board: dict[int, tuple[int, int]] = field(default_factory=dict)  # space -> (seat, card)
    revealed: int = 0
    current: int | None = None  # space of the card being resolved
    turn: int = 0
    node: Node = Node.PLAN
    round: int = 1
    first: int = 0
    step: int = 0
    moved: set[int] = field(default_factory=set)
    owner_moved: set[int] = field(default_factory=set)
    gate: int = 0
    free: int = 0
    thesaurus: int = 0
    return_node: int = 0
    ship: int | None = None
    system: int | None = None
    item: int | None = None
    partner: int | None = None
    give: int | None = None
    give_count: int = 0
    want: int | None = None
    want_count: int = 0
    offers: int = 0
    bank_trades: int = 0
    element: int | None = None
    discarded: list[int] = field(default_factory=list)
    end_reason: int = 0
    end: int = RUNNING
    decisions: int = 0
    rng: int = 1

    PLAIN: ClassVar = (
        "revealed", "first", "step", "gate", "free", "thesaurus", "return_node", "give_count", "offers",
        "bank_trades", "end_reason", "end", "decisions", "rng",
    )  # fmt: skip
    OR_NONE: ClassVar = {
        "ship": "chosen_ship", "system": "chosen_system", "item": "chosen_item", "partner": "partner",
        "give": "give_type", "want": "get_type", "element": "element",
    }  # fmt: skip

    @property
    def mover(self) -> Seat:
        return self.seats[self.turn]

    def hidden(self) -> set[int]:
        """Face-down planets."""
        return set(self.planets) - self.face_up

    def owner_of(self, position: int) -> int | None:
        """The seat with pawns there."""
        return self.owners().get(position)

    def owners(self) -> dict[int, int]:
        """The seat with pawns on each position that has some."""
        found: dict[int, int] = {}
        for number, seat in enumerate(self.seats):
            for position in seat.pawns():
                assert position not in found, f"pawns of {[found[position], number]} on position {position}"
                found[position] = number
        return found

    def card(self) -> tuple[int, int] | None:
        """(owner, slot) of the card being resolved."""
        return None if self.current is None else self.board[self.current]

    def holdings(self, seat: int) -> set[int]:
        """Artifacts a seat holds."""
        return {number for number, place in self.artifacts.items() if place == seat}

    # ------------------------------------------------------------ to and from a state

    @classmethod
    def read(cls, state: Any) -> Position:
        """The position of a state record, taken from where things are, not from what is derived of them."""
        players = int(state["num_players"])
        types = {position: kind for kind in range(7) for position in members(state["of_type"][kind])}
        position = cls([cls._read_seat(state["player"][number]) for number in range(players)], types)
        assert set(types) == members(state["planets"])
        position.face_up = members(state["face_up"])
        position.bank = state["bank"].tolist()
        position.deck = state["deck"].tolist()[: int(state["deck_count"])][::-1]
        position.artifacts = dict.fromkeys(position.deck, DECK) | dict.fromkeys(members(state["artifacts_used"]), USED)
        for number in range(players):
            position.artifacts |= dict.fromkeys(members(state["player"][number]["artifacts"]), number)
        for space, (owner, slot) in enumerate(
            zip(state["space_owner"].tolist(), state["space_card"].tolist(), strict=True)
        ):
            if owner:
                position.board[space] = (owner - 1, slot - 1)
        position.spaces = len(position.board) + int(state["player"]["to_place"].sum())
        position.turn, position.node = int(state["seat"]), Node(int(state["node"]))
        position.current = int(state["revealed"]) - 1 if state["slot"] else None
        position.moved, position.owner_moved = members(state["moved"]), members(state["owner_moved"])
        position.round, position.want_count = int(state["round_number"]), int(state["get_count"])
        position.discarded = state["player"]["discarded"].tolist()[:players]
        for name in cls.PLAIN:
            setattr(position, name, int(state[name]))
        for name, its_field in cls.OR_NONE.items():
            setattr(position, name, int(state[its_field]) - 1 if state[its_field] else None)
        return position

    @staticmethod
    def _read_seat(player: Any) -> Seat:
        ships: list[Place] = [
            RESERVE if place == 0 else DEEP if place == 62 else place - 1 for place in player["ship"].tolist()
        ]
        aside = {8 + number for number in range(3) if player["set_aside"][number]}
        sets = [members(player[name]) for name in ("colonies", "factories", "terraformers", "known", "cards")]
        came_back = {8 + number for number in members(player["came_back"])}
        before = members(player["filled_before"])
        points, hand = int(player["points"]), player["hand"].tolist()
        return Seat(int(player["faction"]), points, hand, ships, *sets, aside, came_back, before)

    def write(self, config: Configuration) -> Snapshot:
        """The state of this position; the options are those of ``config``."""
        states = config.game.new_states(1)
        state, options = states[0], config.options[0]
        for name in self.PLAIN:
            state[name] = getattr(self, name)
        for name, its_field in self.OR_NONE.items():
            value = getattr(self, name)
            state[its_field] = 0 if value is None else value + 1
        for name in ("num_players", "max_rounds", "max_offers", "max_bank_trades", "shaping"):
            state[name] = options[name]
        state["seat"], state["node"], state["round_number"] = self.turn, self.node, self.round
        state["get_count"] = self.want_count
        state["moved"], state["owner_moved"] = _bits(self.moved), _bits(self.owner_moved)
        if self.current is not None:
            owner, slot = self.board[self.current]
            state["owner"], state["slot"] = owner, slot + 1
        for space, (owner, slot) in self.board.items():
            state["space_owner"][space], state["space_card"][space] = owner + 1, slot + 1
        if self.node == Node.PLAN:
            state["empty_spaces"] = _bits(set(range(self.spaces)) - set(self.board))
        state["bank"] = self.bank
        state["planets"], state["face_up"] = np.uint64(_bits(self.planets)), np.uint64(_bits(self.face_up))
        for kind in range(7):
            places = {position for position, its_type in self.planets.items() if its_type == kind}
            state["of_type"][kind] = np.uint64(_bits(places))
        state["occupied"] = np.uint64(_bits({position for seat in self.seats for position in seat.pawns()}))
        state["deck_count"] = len(self.deck)
        state["deck"][: len(self.deck)] = self.deck[::-1]
        state["artifacts_used"] = _bits({number for number, place in self.artifacts.items() if place == USED})
        for number, seat in enumerate(self.seats):
            self._write_seat(state["player"][number], number, seat)
        for number, discarded in enumerate(self.discarded):
            state["player"][number]["discarded"] = discarded
        self._write_board(state)
        tables, owners = config.tables[0], self.owners()
        for number in range(len(self.seats)):
            self._write_view(state["player"][number], number, owners)
            self._write_production(state["player"][number], self.seats[number], tables)
        return Snapshot(config, states)

    def _write_board(self, state: Any) -> None:
        """What lies on each position and space, as it is kept for the observation."""
        for position in self.planets:
            state["planet_at"][position] = 1 + (position in self.face_up)
            state["starships_at"][position] = sum(seat.ships.count(position) for seat in self.seats)
            for seat in self.seats:
                state["building_at"][position] += (position in seat.colonies) + 2 * (position in seat.factories)
                state["terraformer_at"][position] += position in seat.terraformers
        for position in self.hidden():
            state["face_down_in"][system_of(position)] += 1
        for space in range(self.spaces):
            state["on_space"][space] = 3 if space < self.revealed else 2 if space in self.board else 1

    def _write_view(self, player: Any, observer: int, owners: dict[int, int]) -> None:
        """The same as one seat sees it: seats count from itself, and its own start planet is the first one."""
        players, own = len(self.seats), self.seats[observer]
        seen = self.face_up | own.known
        for position, kind in self.planets.items():
            row = row_of(position, observer, players)
            if position in owners:
                player["owner_at"][row] = 1 + (owners[position] - observer) % players
            if position in seen:
                player["type_at"][row] = 1 + kind
            else:
                player["unseen"][kind] += 1
        for space, (owner, slot) in self.board.items():
            player["owner_on"][space] = 1 + (owner - observer) % players
            if owner == observer or space < self.revealed:
                player["card_on"][space] = 1 + slot
            if owner == observer:
                player["space_of"][slot] = 1 + space
        player["looked_at"] = _bits({system_of(position) for position in own.known})
        player["present_in"] = _bits(own.systems())

    def _write_production(self, player: Any, seat: Seat, tables: Any) -> None:
        """What the pawns of a seat produce, and what it would score."""
        pawn, points = tables["pawn"], tables["element_points"].tolist()
        for position, kind in self.planets.items():
            if kind != A:
                player["output"][kind] += (
                    seat.ships.count(position) * pawn["production"][0]
                    + (position in seat.colonies) * pawn["production"][1]
                    + (position in seat.factories) * pawn["production"][2]
                )
        most, kinds = max(seat.hand), sum(count > 0 for count in seat.hand)
        player["elements"] = [
            points[0] * len(seat.colonies) + int(tables["factory_points"]) * len(seat.factories),
            points[1] * (4 - seat.ships.count(RESERVE)),
            points[2] * len(seat.terraformers),
            points[3] * len(seat.systems()),
            most if most >= 2 else 0,
            kinds if kinds >= 2 else 0,
        ]

    def _write_seat(self, player: Any, number: int, seat: Seat) -> None:
        player["present"], player["faction"], player["points"] = 1, seat.faction, seat.points
        player["hand"], player["hand_total"] = seat.hand, sum(seat.hand)
        names = ("colonies_left", "factories_left", "terraformers_left", "starships_left")
        for name, left in zip(names, seat.reserve(), strict=True):
            player[name] = left
        player["in_deep_space"] = seat.ships.count(DEEP)
        player["systems"] = len(seat.systems())
        player["artifacts"] = _bits(self.holdings(number))
        player["artifact_count"] = len(self.holdings(number))
        placed = sum(owner == number for owner, _ in self.board.values())
        player["to_place"] = self.spaces // len(self.seats) - placed
        player["set_aside"] = [8 + card in seat.aside for card in range(3)]
        for name in ("colonies", "factories", "terraformers", "known"):
            player[name] = np.uint64(_bits(getattr(seat, name)))
        player["starships"], player["pawns"] = np.uint64(_bits(seat.on_planets())), np.uint64(_bits(seat.pawns()))
        player["ship"] = [0 if place == RESERVE else 62 if place == DEEP else place + 1 for place in seat.ships]
        player["cards"] = _bits(seat.cards)
        player["came_back"] = _bits(card - 8 for card in seat.came_back)
        player["filled_before"] = _bits(seat.filled_before)


def _bits(members: Any) -> int:
    return sum(1 << place for place in members)


# ---------------------------------------------------------------- the worked round's setup

WORKED_SETUP = {
    "start_planets": "XFWE",
    "systems": {
        "SR": "EFYZW", "SY": "WXZAE", "LR": "FEYXZ", "LY": "EXAYF", "TR": "YEAWZ", "TY": "WZFAY", "NR": "EXYFZ",
        "NY": "WEXA",
    },
    "artifact_deck": [1, 2, 3, 4, 5, 6, 7, 8, 0],
    "first_player": 0,
}  # fmt: skip
BLUE, RED, YELLOW, GREEN = range(4)


def worked_config(**options: Any) -> Configuration:
    """The four players of the worked round: Blue, Red, Yellow, Green."""
    return GAME.configure(4, **{"factions": "blue,red,yellow,green", "setup": WORKED_SETUP, **options})


# ---------------------------------------------------------------- scenarios


def scenario(
    players: int = 4, *, config: Configuration | None = None, resolve: tuple[int, int] | None = None,
    last: bool = False,
    **changes: Any,
) -> Play:  # fmt: skip
    """A position after the deal, with a card to be resolved first if wanted, and with these changes.

    Args:
        players: seats; four play the factions and planets of the worked round, three and five what seed 1 deals.
        resolve: (seat, card): this card lies face up on the first space and its owner is asked; other cards lie behind
            it.
        last: it lies on the last space instead, and the others are done.
        changes: fields of :class:`Position`; ``hands``, ``ships``, ``colonies``, ``factories``, ``terraformers``,
            ``points``, ``aside`` by seat (a start planet's factory is kept); ``up``: positions to turn up; ``held``:
            artifact -> seat.

    The bank is what the hands leave. Pawns turn their planets up.
    """
    config = config or (worked_config() if players == 4 else GAME.configure(players))
    position = Position.read(Snapshot.deal(config, 1).state)
    _change(position, changes)
    if resolve is not None:
        _resolve(position, *resolve, last)
    play = Play(position.write(config))
    return play.settle() if resolve is not None else play


def _change(position: Position, changes: Mapping[str, Any]) -> None:
    by_seat = {"hands": "hand", "ships": "ships", "points": "points", "aside": "aside"}
    for name, value in changes.items():
        if name in by_seat:
            for number, its_value in value.items():
                setattr(position.seats[number], by_seat[name], deepcopy(its_value))
        elif name in ("colonies", "factories", "terraformers"):
            for number, places in value.items():
                getattr(position.seats[number], name).update(places)
        elif name == "up":
            position.face_up |= set(value)
        elif name == "held":
            for number, place in value.items():
                position.artifacts[number] = place
                if number in position.deck:
                    position.deck.remove(number)
        else:
            assert hasattr(position, name), name
            setattr(position, name, deepcopy(value))
    for seat in position.seats:
        seat.ships = [*seat.ships, *[RESERVE] * (4 - len(seat.ships))]
        seat.cards -= seat.aside
        position.face_up |= seat.pawns()
        for other in position.seats:
            other.known -= position.face_up
    for kind in range(6):
        if "bank" not in changes:
            position.bank[kind] = 25 - sum(seat.hand[kind] for seat in position.seats)


def _resolve(position: Position, owner: int, card: int, last: bool) -> None:
    """Fill the board: this card, and what everybody has in hand, lowest slots first."""
    players, spaces = len(position.seats), position.spaces
    its_space = spaces - 1 if last else 0
    position.board = {its_space: (owner, card)}
    position.seats[owner].cards.discard(card)
    left = {seat: spaces // players - (seat == owner) for seat in range(players)}
    seat = owner
    for space in range(spaces):
        if space != its_space:
            seat = next(other % players for other in range(seat + 1, seat + 1 + players) if left[other % players])
            left[seat] -= 1
            slot = min(position.seats[seat].cards)
            position.board[space] = (seat, slot)
            position.seats[seat].cards.discard(slot)
    position.revealed, position.current, position.turn = its_space + 1, its_space, owner
    nodes = [Node.PRODUCE] * 3 + [Node.MOVE] * 3 + [Node.BUILD, Node.TRADE] + [Node.ELEMENT] * 3
    position.node = nodes[card]
    if card >= 8:
        position.first = owner
        position.seats[owner].aside.add(card)


class Play(AnyPlay[Position]):
    """A game that goes on from a scenario, read as a position."""

    POSITION = Position

    def settle(self) -> Play:
        """Nodes with a single legal id are applied, as the engine does after every decision."""
        while not self.over and len(self.legal()) == 1:
            decisions = int(self.snapshot.state["decisions"])
            self.snapshot = self.snapshot.apply(self.legal().pop())
            self.snapshot.state["decisions"] = decisions
        return self

    def points(self) -> list[int]:
        return [seat.points for seat in self.position.seats]

    def hands(self) -> list[list[int]]:
        return [seat.hand for seat in self.position.seats]

    def play_round(self, wanted: Mapping[int, Sequence[tuple[int, int]]]) -> Play:
        """A whole round in which seats place these (card, space) pairs, and otherwise as little happens as possible."""
        number, plans = self.position.round, {seat: list(pairs) for seat, pairs in wanted.items()}
        taken = {space for pairs in wanted.values() for _, space in pairs}
        while not self.over and self.position.round == number and self.node == Node.PLAN:
            position = self.position
            if plans.get(self.seat):
                self.play(plan(*plans[self.seat].pop(0)))
            else:
                card = min(position.mover.cards - {slot for slot, _ in wanted.get(self.seat, ())})
                space = min(set(range(1, position.spaces + 1)) - taken - {space + 1 for space in position.board})
                self.play(plan(card, space))
        return self.pass_to(Node.PLAN)
