"""A position of Race to Kepler: every card, token and counter, and who is asked for what.

:meth:`Position.read` takes it from a state, from where things are and not from what the state derives of them.
:meth:`Position.write` goes the other way and works out anew what a state keeps for speed or for the observation.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from kepler_envs.engine.game import RUNNING, Configuration
from kepler_envs.games.race_to_kepler.state import FIRST_TITAN, NUM_KINDS, Node, Origin
from tests.games.race_to_kepler.book import book_of
from tests.scenario import members

Zone = list[int]
"""How many cards of each kind lie there."""


def no_cards() -> Zone:
    return [0] * NUM_KINDS


@dataclass
class Player:
    """The cards of a player. ``known`` are the kinds on top of the deck that its owner knows, the top one last."""

    hand: Zone = field(default_factory=no_cards)
    deck: Zone = field(default_factory=no_cards)  # below the known ones
    discard: Zone = field(default_factory=no_cards)
    play: Zone = field(default_factory=no_cards)
    bid: Zone = field(default_factory=no_cards)
    known: list[int] = field(default_factory=list)
    open: list[bool] = field(default_factory=list)  # of each of these, whether everybody saw it put there
    shown: list[int] = field(default_factory=list)  # kinds in hand or bid that everybody has seen
    city: int | None = None
    offers: set[int] = field(default_factory=set)
    parsecs: int = 0
    turns: int = 0
    bid_closed: int = 0
    bid_place: int = 0

    ZONES: ClassVar = ("hand", "deck", "discard", "play", "bid")
    PLAIN: ClassVar = ("parsecs", "turns", "bid_closed", "bid_place")


@dataclass
class Frame:
    """A program under way, of a card or of the active player's city; ``at`` counts its instructions."""

    origin: int
    kind: int | None
    own: int = 0
    at: int = 0
    moved: int = 0
    value: int = 0
    value_before: int = 0
    in_move: int = 0
    looking: int = 0

    PLAIN: ClassVar = ("origin", "own", "moved", "value", "value_before", "in_move", "looking")


@dataclass
class Position:
    """Everything on the table. Seats, kinds and cities count from 0, None means there is none."""

    players: list[Player]
    supply: Zone
    airlock: Zone
    crew_deck: Zone
    titan_row: set[int] = field(default_factory=set)  # kinds
    titan_deck: set[int] = field(default_factory=set)
    tokens: set[int] = field(default_factory=set)  # by number, on the track
    crossed: set[int] = field(default_factory=set)
    op_used: set[int] = field(default_factory=set)
    departments: set[int] = field(default_factory=set)
    look: list[int] = field(default_factory=list)  # the former top first
    frames: list[Frame] = field(default_factory=list)  # the program on top last
    node: Node = Node.ACTION
    turn: int = 0  # the seat that decides
    last_bid: int | None = None
    last_bidder: int | None = None
    winner: int | None = None
    end: int = RUNNING
    end_reason: int = 0
    active: int = 0
    first: int = 0
    energy: int = 0
    money: int = 0
    market: int = 0
    discount: int = 0
    ejected: int = 0
    discarded: int = 0
    market_taken: int = 0
    gold_played: int = 0
    resource_played: int = 0
    crew_played: int = 0
    titan_played: int = 0
    ops_used: int = 0
    all_ops: int = 0
    race: int = 0
    rounds: int = 0
    chosen: int = 0
    gold_pile: int = 0
    decisions: int = 0
    decisions_before: int = 0
    rng: int = 1

    SETS: ClassVar = {"tokens": "token", "crossed": "crossed", "op_used": "op_used", "departments": "department"}
    OR_NONE: ClassVar = ("last_bid", "last_bidder", "winner")
    COUNTERS: ClassVar = (
        "ejected", "discarded", "market_taken", "gold_played", "resource_played", "crew_played", "titan_played",
        "ops_used",
    )  # fmt: skip
    PLAIN: ClassVar = (
        *COUNTERS, "energy", "money", "market", "discount", "all_ops", "race", "rounds", "chosen", "gold_pile",
        "decisions", "decisions_before", "rng", "end", "end_reason", "active", "first",
    )  # fmt: skip

    @property
    def mover(self) -> Player:
        """Who decides."""
        return self.players[self.turn]

    @property
    def owner(self) -> Player:
        """Whose turn it is."""
        return self.players[self.active]

    # ------------------------------------------------------------ from a state

    @classmethod
    def read(cls, state: Any, config: Configuration) -> Position:
        """The position of a state record."""
        position = cls(
            [_read_player(state["player"][number]) for number in range(int(state["num_players"]))],
            *(state[name].tolist() for name in ("supply", "airlock", "crew_deck")),
            *({FIRST_TITAN + titan for titan in _set(state[name])} for name in ("titan_row", "titan_deck")),
            look=[kind - 1 for kind in state["look_kind"].tolist() if kind],
            node=Node(int(state["node"])),
            turn=int(state["seat"]),
            **{name: _set(state[its_field]) for name, its_field in cls.SETS.items()},
        )
        for name in cls.PLAIN:
            setattr(position, name, int(state[name]))
        for name in cls.OR_NONE:
            setattr(position, name, int(state[name]) - 1 if state[name] else None)
        position.frames = [position._read_frame(frame, config) for frame in state["frame"][: int(state["depth"])]]
        return position

    def _read_frame(self, record: Any, config: Configuration) -> Frame:
        frame = Frame(int(record["origin"]), int(record["kind"]) - 1 if record["kind"] else None)
        for name in Frame.PLAIN:
            setattr(frame, name, int(record[name]))
        frame.at = int(record["at"]) - self._address(frame, config)
        return frame

    def _address(self, frame: Frame, config: Configuration) -> int:
        """Where the frame's program begins in program memory."""
        tables = config.tables[0]
        if frame.kind is not None:
            return int(tables["card"][frame.kind][("on_play", "on_discard", "on_eject")[frame.origin]])
        city = tables["city"][self.owner.city]
        return int(city["trait"] if frame.origin == Origin.TRAIT else city["operation"][frame.origin - 4])

    # ------------------------------------------------------------ to a state

    def write(self, config: Configuration) -> Any:
        """The state of this position, an array of one record; the options are those of ``config``."""
        states = config.game.new_states(1)
        state = states[0]
        for name in self.PLAIN:
            state[name] = getattr(self, name)
        for name in self.OR_NONE:
            value = getattr(self, name)
            state[name] = 0 if value is None else value + 1
        for name in ("num_players", "max_rounds", "reward_mode", "shaping"):
            state[name] = config.options[0][name]
        state["node"], state["seat"] = self.node, self.turn
        self._write_table(state)
        state["depth"] = len(self.frames)
        for record, frame in zip(state["frame"], self.frames, strict=False):
            self._write_frame(record, frame, config)
        for number, player in enumerate(self.players):
            self._write_player(state["player"][number], player, config)
        return states

    def _write_table(self, state: Any) -> None:
        for name in ("supply", "airlock", "crew_deck"):
            state[name] = getattr(self, name)
        state["supply_size"], state["crew_deck_size"] = sum(self.supply), sum(self.crew_deck)
        for name in ("titan_row", "titan_deck"):
            state[name][[kind - FIRST_TITAN for kind in getattr(self, name)]] = 1
        state["titan_deck_size"] = len(self.titan_deck)
        for name, its_field in self.SETS.items():
            state[its_field][list(getattr(self, name))] = 1
        state["look_size"], state["look"] = len(self.look), counted(self.look)
        state["look_kind"][: len(self.look)] = [kind + 1 for kind in self.look]

    def _write_frame(self, record: Any, frame: Frame, config: Configuration) -> None:
        for name in Frame.PLAIN:
            record[name] = getattr(frame, name)
        record["kind"] = 0 if frame.kind is None else frame.kind + 1
        record["at"] = self._address(frame, config) + frame.at

    def _write_player(self, record: Any, player: Player, config: Configuration) -> None:
        for name in Player.PLAIN:
            record[name] = getattr(player, name)
        for name in ("hand", "discard", "play", "bid"):
            record[name], record[f"{name}_size"] = getattr(player, name), sum(getattr(player, name))
        deck = [below + known for below, known in zip(player.deck, counted(player.known), strict=True)]
        record["deck"], record["deck_size"] = deck, sum(deck)
        record["known_size"], record["shown_size"] = len(player.known), len(player.shown)
        record["known_kind"][: len(player.known)] = [kind + 1 for kind in player.known]
        record["shown_kind"][: len(player.shown)] = [kind + 1 for kind in player.shown]
        record["known_open"] = sum(1 << place for place, is_open in enumerate(player.open) if is_open)
        record["present"], record["offers"] = 1, sum(1 << city for city in player.offers)
        if player.city is not None:
            record["city"] = player.city + 1
            record["open_city"] = player.city + 1 if self.chosen == len(self.players) else 0
        self._write_views(record, player, config)

    def _write_views(self, record: Any, player: Player, config: Configuration) -> None:
        """What is kept ready for observations."""
        book, look = book_of(config), self.look if player is self.owner else []
        concealed = [sum(column) for column in zip(player.hand, record["deck"].tolist(), player.bid, counted(look),
                                                   strict=True)]  # fmt: skip
        owned = [sum(column) for column in zip(concealed, player.discard, player.play, strict=True)]
        worth = config.tables[0]["card"]["worth"].tolist()
        record["concealed"], record["cards"] = concealed, sum(owned)
        record["worth"] = sum(number * each for number, each in zip(owned, worth, strict=True))
        record["average"] = record["worth"] // max(1, sum(owned))
        record["to_kepler"] = book.number["track_length"] - player.parsecs
        ahead = [book.spaces[token] - player.parsecs for token in self.tokens]
        record["to_token"] = min((parsecs for parsecs in ahead if parsecs > 0), default=0)


def _read_player(record: Any) -> Player:
    known = [kind - 1 for kind in record["known_kind"].tolist()[: int(record["known_size"])]]
    player = Player(
        *(record[name].tolist() for name in Player.ZONES),
        known,
        [bool(int(record["known_open"]) >> place & 1) for place in range(len(known))],
        [kind - 1 for kind in record["shown_kind"].tolist()[: int(record["shown_size"])]],
        int(record["city"]) - 1 if record["city"] else None,
        members(record["offers"]),
    )
    for kind in known:
        player.deck[kind] -= 1
    for name in Player.PLAIN:
        setattr(player, name, int(record[name]))
    return player


def counted(kinds: list[int]) -> Zone:
    """How many there are of each kind."""
    zone = no_cards()
    for kind in kinds:
        zone[kind] += 1
    return zone


def _set(flags: np.ndarray) -> set[int]:
    """The places of flags that are set."""
    return {place for place, flag in enumerate(flags.tolist()) if flag}
