"""Positions of Kitten Adventurers in words: cards on the table instead of fields of a record.

A :class:`Position` is where every card lies. ``write`` turns it into a state, with everything a state keeps only for
speed worked out anew from the cards; ``read`` goes the other way. :func:`scenario` builds one from the few cards a test
is about and puts all other cards of the deck where they do not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from kepler_envs.engine.game import RUNNING, Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.kitten_adventurers.state import MAX_LADDERS, NUM_LANES, NUM_TYPES, Node
from kepler_envs.registry import load_game
from tests.effort import only_deep
from tests.scenario import Play as AnyPlay

GAME = load_game("kitten_adventurers")
H = 13  # hyperspeed, the wild type
LAST_VALUE = 12
PLAYER_COUNTS = [players if players in (2, 4, 8) else pytest.param(players, marks=only_deep) for players in range(2, 9)]
"""The fewest, the default and the most; the deep profile has all."""


@dataclass
class Seat:
    """The cards of one player, as types; piles are listed bottom to top."""

    hand: list[int] = field(default_factory=list)  # in ascending order
    quest: list[int] = field(default_factory=list)
    lanes: list[list[int]] = field(default_factory=lambda: [[] for _ in range(NUM_LANES)])
    plays: int = 0  # cards this player has played on ladders


def in_reach(lane: Sequence[int]) -> int:
    """What a chain can use of the cards of a lane, the top one first, as a set; from H on a bit for each hyperspeed
    card.

    The values of a chain ascend, and hyperspeed cards stand for any.
    """
    values: list[int] = []
    wilds = 0
    for card in lane:
        if card == H:
            wilds += 1
        elif values and card <= max(values):
            break
        else:
            values.append(card)
    return sum(1 << bit for bit in [*values, *range(H, H + wilds)])


@dataclass
class Position:
    """Every card of a game, the counters, and whose turn it is. Ladders are cards bottom to top, by slot."""

    seats: list[Seat]
    ladders: dict[int, list[int]] = field(default_factory=dict)
    deck: list[int] = field(default_factory=list)
    discard: list[int] = field(default_factory=list)  # in ascending order
    turn: int = 0
    node: Node = Node.PLAY
    pending_source: int = 0
    pending_card: int = 0
    turns: int = 0
    plays: int = 0
    dead_turns: int = 0
    played_this_turn: int = 0
    quests_this_turn: int = 0
    decisions: int = 0
    end: int = RUNNING
    rng: int = 1

    COUNTERS: ClassVar = (
        "pending_source", "pending_card", "turns", "plays", "dead_turns", "played_this_turn", "quests_this_turn",
        "decisions", "end", "rng",
    )  # fmt: skip

    @property
    def mover(self) -> Seat:
        return self.seats[self.turn]

    def ladder_heights(self) -> list[int]:
        """Heights of the ladders in play, lowest slot first."""
        return [len(self.ladders[slot]) for slot in sorted(self.ladders)]

    def open_cards(self) -> Counter[int]:
        """Cards everybody sees: lanes, ladders, discard, open quest cards."""
        cards = Counter(self.discard)
        for ladder in self.ladders.values():
            cards.update(ladder)
        for seat in self.seats:
            cards.update(seat.quest[-1:])
            for lane in seat.lanes:
                cards.update(lane)
        return cards

    def hidden_cards(self) -> Counter[int]:
        """Cards in the deck, in hands and below the top of quest piles."""
        cards = Counter(self.deck)
        for seat in self.seats:
            cards.update(seat.hand)
            cards.update(seat.quest[:-1])
        return cards

    # ------------------------------------------------------------ to and from a state

    @classmethod
    def read(cls, state: Any) -> Position:
        """The cards of a state record, taken from where the cards are, not from what is derived of them."""
        count, size = int(state["num_players"]), int(state["quest_size"])
        pile, players = state["quest_pile"].tolist(), state["player"]
        seats = []
        buried = iter(state["buried"].tolist())
        for seat in range(count):
            player = players[seat]
            quest = pile[seat * size : seat * size + int(player["quest_count"])]
            lanes = [cls._read_lane(shown, buried) for shown in player["lane"].tolist()]
            seats.append(Seat(_spread(player["hand"].tolist()), quest, lanes, int(player["plays"])))
        ladders = {}
        wild_at = state["wild_at"].tolist()
        for height, slots in enumerate(state["slots_at"].tolist()):
            for slot in range(MAX_LADDERS):
                if height and slots >> slot & 1:
                    ladders[slot] = [H if wild_at[slot] >> value & 1 else value for value in range(height)]
        return cls(
            seats,
            ladders,
            state["deck"].tolist()[: int(state["deck_count"])],
            _spread(state["discard"].tolist()),
            int(state["seat"]),
            Node(int(state["node"])),
            **{name: int(state[name]) for name in cls.COUNTERS},
        )

    @staticmethod
    def _read_lane(shown: tuple[int, ...], buried: Iterator[int]) -> list[int]:
        """(depth, top, second, third) and the cards below, of which it takes its own -> the cards, bottom to top."""
        depth, *fields = shown
        fields = [field for field in fields if field] + [next(buried) for _ in range(depth - 3)]
        assert len(fields) == depth and all(fields), "a lane lacks cards"
        return [field - 1 for field in fields[::-1]]

    def write(self, config: Configuration) -> Snapshot:
        """The state with these cards; the options are those of ``config``."""
        states = config.game.new_states(1)
        state, options = states[0], config.options[0]
        for name in self.COUNTERS:
            state[name] = getattr(self, name)
        for name in ("num_players", "hand_size", "quest_size", "reward_mode", "max_turns", "max_plays", "shaping"):
            state[name] = options[name]
        state["node"], state["seat"] = self.node, self.turn
        state["deck_count"], state["discard_count"] = len(self.deck), len(self.discard)
        state["deck"][: len(self.deck)] = self.deck
        state["discard"] = _counts(self.discard)
        state["on_ladders"] = _counts([card for ladder in self.ladders.values() for card in ladder])
        hidden = self.hidden_cards()
        state["unseen"] = [hidden[card] for card in range(NUM_TYPES)]
        self._write_ladders(state)
        for number, seat in enumerate(self.seats):
            first = number * int(options["quest_size"])
            state["quest_pile"][first : first + len(seat.quest)] = seat.quest
            self._write_seat(state["player"][number], seat)
        self._write_lanes(state)
        return Snapshot(config, states)

    @staticmethod
    def _write_seat(player: Any, seat: Seat) -> None:
        player["present"] = 1
        player["plays"] = seat.plays
        player["quest_count"] = len(seat.quest)
        player["quest_top"] = seat.quest[-1] + 1 if seat.quest else 0
        player["hand_count"] = len(seat.hand)
        player["hand"] = _counts(seat.hand)
        player["hand_set"] = sum(1 << card for card in set(seat.hand))
        player["lane_set"] = [in_reach(lane[:-4:-1]) for lane in seat.lanes]

    def _write_ladders(self, state: Any) -> None:
        slots_at = [0] * (LAST_VALUE + 1)
        slots_at[0] = (1 << MAX_LADDERS) - 1
        for slot, ladder in self.ladders.items():
            slots_at[0] &= ~(1 << slot)
            slots_at[len(ladder)] |= 1 << slot
            state["wild_at"][slot] = sum(1 << value for value, card in enumerate(ladder) if card == H)
            state["ladder_height"][slot] = len(ladder)
            state["waiting"][len(ladder)] += 1
        state["slots_at"] = slots_at
        fits = {0, *self.ladder_heights()}
        state["fits"] = sum(1 << height for height in fits)
        for value in range(LAST_VALUE + 1):
            state["missing"][value] = min(value - height for height in fits if height <= value)
        for number, seat in enumerate(self.seats):
            state["quest_missing"][number] = state["missing"][seat.quest[-1]] if seat.quest else 0

    def _write_lanes(self, state: Any) -> None:
        buried: list[int] = []
        for number, seat in enumerate(self.seats):
            for place, lane in enumerate(seat.lanes):
                fields = [card + 1 for card in lane[::-1]]
                state["player"][number]["lane"][place] = (len(lane), *(fields + [0] * 3)[:3])
                buried += fields[3:]
            state["buried_to"][number:] = len(buried)
        state["buried"][: len(buried)] = buried


def _spread(counts: Sequence[int]) -> list[int]:
    return [card for card, count in enumerate(counts) for _ in range(count)]


def _counts(cards: Sequence[int]) -> list[int]:
    counts = Counter(cards)
    return [counts[card] for card in range(NUM_TYPES)]


# ---------------------------------------------------------------- scenarios


def ladder(height: int, *wild: int) -> list[int]:
    """The cards of a ladder of that height, hyperspeed cards at the positions ``wild``."""
    return [H if value in wild else value for value in range(height)]


def scenario(
    *,
    players: int = 2,
    hands: Sequence[Sequence[int] | int] = (),
    quests: Sequence[Sequence[int] | int] = (),
    lanes: Mapping[int, Mapping[int, Sequence[int]]] | None = None,
    ladders: Mapping[int, Sequence[int] | int] | None = None,
    deck: Sequence[int] | int = 0,
    discard: Sequence[int] | int = 0,
    turn: int = 0,
    config: Configuration | None = None,
    **counters: int,
) -> Play:
    """A position with the described cards, seat ``turn`` at its PLAY node.

    Args:
        hands, quests: one entry a seat, cards bottom to top or a number of arbitrary cards; seats without one have an
        empty
            hand and two arbitrary quest cards.
        lanes: seat -> lane -> cards bottom to top.
        ladders: slot -> cards bottom to top, or a height (no wild cards).
        deck, discard: cards, or a number of arbitrary ones.
        config: the options; the rulebook's for ``players`` unless told.
        counters: turns, plays, dead_turns, ... as in :class:`Position`.

    All other cards of the game lie at the bottom of the last lane of the last seat, so that none is missing.
    """
    config = config or GAME.configure(players)
    seats = [Seat() for _ in range(config.num_players)]
    position = Position(seats, turn=turn, **counters)
    seats[turn].plays = position.plays
    for slot, cards in (ladders or {}).items():
        position.ladders[slot] = ladder(cards) if isinstance(cards, int) else list(cards)
    for number, piles in (lanes or {}).items():
        for place, cards in piles.items():
            seats[number].lanes[place] = list(cards)
    hands, quests = [*hands, *[0] * (len(seats) - len(hands))], [*quests, *[2] * (len(seats) - len(quests))]
    wanted: list[tuple[list[int], Sequence[int] | int]] = [(position.deck, deck), (position.discard, discard)]
    wanted += [(seat.hand, cards) for seat, cards in zip(seats, hands, strict=True)]
    wanted += [(seat.quest, cards) for seat, cards in zip(seats, quests, strict=True)]
    for place, cards in wanted:
        if not isinstance(cards, int):
            place.extend(cards)
    left = Counter(_spread(config.tables[0]["card_count"].tolist()))
    left.subtract(position.open_cards() + position.hidden_cards())
    missing = {card: -count for card, count in left.items() if count < 0}
    if missing:
        raise ValueError(f"the scenario uses more cards than there are: {missing}")
    for place, cards in wanted:
        for _ in range(cards if isinstance(cards, int) else 0):
            card = max(left, key=lambda kind: (left[kind], kind))  # the most plentiful, so that places get a mixture
            left[card] -= 1
            place.append(card)
    seats[-1].lanes[-1] = sorted(left.elements()) + seats[-1].lanes[-1]
    for seat in seats:
        seat.hand.sort()
    position.discard.sort()
    return Play(position.write(config))


class Play(AnyPlay[Position]):
    """A game that goes on from a scenario, read as cards."""

    POSITION = Position

    @property
    def mover(self) -> Seat:
        return self.position.mover
