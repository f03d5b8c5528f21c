"""What holds in every position of Race to Kepler, worked out from what lies on the table alone.

Nothing here looks at what a state keeps for speed: a :class:`Position` is read from where things are and written anew,
and legal ids and the outcome of a decision follow from it by the rules of ``referee.py``. All of that is then compared
with the game's own, entry by entry. The contract tests find ``check_invariants``, ``check_decision`` and ``EAGER`` by
name.
"""

from __future__ import annotations

from typing import Any

from kepler_envs.engine.game import RUNNING, TERMINATED, Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.race_to_kepler.actions import PICK, PLAY
from kepler_envs.games.race_to_kepler.state import (
    FIRST_CREW,
    FIRST_TITAN,
    GOLD,
    IRON,
    KNOWN_SLOTS,
    LOOK_ZONE,
    MAFIA,
    MOST_COUNTED,
    MOST_UNITS,
    SHOWN_SLOTS,
    STACK,
    EndReason,
    Node,
    Origin,
)
from tests.games.race_to_kepler.book import Book, book_of
from tests.games.race_to_kepler.position import Player, Position, Zone, counted
from tests.games.race_to_kepler.referee import check_decision, legal_actions
from tests.scenario import check_fields

__all__ = ["ASKS_TELL", "EAGER", "PLAYTHROUGH_OPTIONS", "REVEALS", "check_decision", "check_invariants"]

EAGER = frozenset(range(PLAY, PICK))
"""Playing, acquiring, operating: whatever is no end of the turn."""

REVEALS = ("cards.other_discard", "cards.airlock", "cards.offer", "game.energy", "players.city")
"""Where cards come to light, and cities; energy tells how much Gold is in a hand where a card counts it."""
ASKS_TELL = True  # from how many kinds a bidder or the active player chooses

PLAYTHROUGH_OPTIONS = {"max_rounds": 15}
"""Whole random games are long, and too much to read."""

ASKING = {Node.MOVE: "move", Node.CHOICE: "choice", Node.REPLAY: "replay"}
ENCOUNTER = (Node.BID, Node.TITAN)


def check_invariants(state: Any, config: Configuration) -> None:
    """AssertionError if a position breaks a rule of the game or a promise of state.py."""
    position, book = Position.read(state, config), book_of(config)
    _check_cards(position, book)
    _check_table(position, book)
    _check_stack(position, book)
    for number in range(config.num_players):
        _check_player(position, number)
    _check_cities(position, book)
    _check_bids(position)
    _check_turn(position, book)
    _check_end(position, config)
    _check_views(state, position, config)
    _check_legal(state, position, config)


def _check_cards(position: Position, book: Book) -> None:
    """I1, I2: every card of the game is somewhere, once."""
    players = position.players
    zones = [position.supply, position.airlock, position.crew_deck, counted(position.look)]
    for player in players:
        zones += [*(getattr(player, name) for name in Player.ZONES), counted(player.known)]
    assert all(min(zone) >= 0 for zone in zones) and position.gold_pile >= 0, "fewer cards than none"
    found = [sum(column) for column in zip(*zones, strict=True)]
    found[GOLD] += position.gold_pile
    assert not position.titan_row & position.titan_deck, "a titan in row and deck"
    for titan in position.titan_row | position.titan_deck:
        found[titan] += 1
    wanted = [card.copies for card in book.cards]
    wanted[IRON], wanted[MAFIA] = (len(players) * book.number[name] for name in ("start_iron", "start_mafia"))
    assert found == wanted, "copies of each kind"


def _check_table(position: Position, book: Book) -> None:
    supply, size = sum(position.supply), book.number["supply_size"]
    for zone in (position.supply, position.crew_deck):
        assert sum(zone) == sum(zone[FIRST_CREW:FIRST_TITAN]), "only crew"
    assert supply <= size  # I3
    if position.node == Node.ACTION and any(position.crew_deck):
        assert supply == size
    assert bool(position.titan_row) == (position.node in ENCOUNTER)  # I4
    assert position.race or position.node in ENCOUNTER or len(position.tokens) == len(book.spaces)


def _check_stack(position: Position, book: Book) -> None:
    frames, look = position.frames, position.look
    assert len(frames) <= STACK and (position.node in ASKING) == bool(frames)
    for frame in frames:
        assert (frame.kind is None) == (frame.origin >= Origin.TRAIT)
        program = book.program(frame.origin, frame.kind, position.owner.city)
        assert 0 <= frame.at < len(program) and frame.moved >= 0 and frame.value >= 0
        assert not frame.own or frame.origin in (Origin.ON_DISCARD, Origin.ON_EJECT, Origin.TRAIT)
        assert not frame.in_move or program[frame.at][0] == "move"
    if frames:
        assert program[frame.at][0] == ASKING[position.node], "the program on top asks"
    looking = sum(frame.looking for frame in frames)
    assert looking <= 1 and len(look) <= (LOOK_ZONE if looking else 0)


def _check_player(position: Position, number: int) -> None:
    player = position.players[number]
    assert len(player.known) <= KNOWN_SLOTS and len(player.shown) <= SHOWN_SLOTS
    held = [in_hand + bid for in_hand, bid in zip(player.hand, player.bid, strict=True)]
    assert _contains(held, counted(player.shown)), "what everybody has seen in a hand is there"
    if number != position.active or position.node == Node.CITY:
        assert not any(player.play)  # I4


def _contains(zone: Zone, part: Zone) -> bool:
    return all(copies >= wanted for copies, wanted in zip(zone, part, strict=True))


def _check_cities(position: Position, book: Book) -> None:
    players = position.players
    chosen = [player.city for player in players if player.city is not None]
    assert len(set(chosen)) == len(chosen) == position.chosen and set(chosen) <= set(book.cities)
    if position.node != Node.CITY:
        assert len(chosen) == len(players) and not any(player.offers for player in players)
        return
    assert position.chosen == position.turn
    dealt = [city for player in players for city in player.offers]
    assert len(set(dealt)) == len(dealt) and set(dealt) <= set(book.cities)
    for number, player in enumerate(players):
        assert len(player.offers) == book.number["cities_dealt"] and not any(player.hand)
        assert (player.city in player.offers) == (number < position.turn)


def _check_bids(position: Position) -> None:
    """4.2: places follow one another; whoever bids has the last one, and only its bid is open."""
    players, bidding = position.players, position.node == Node.BID
    places = sorted(player.bid_place for player in players if player.bid_place)
    assert places == list(range(1, len(places) + 1)) and bidding == bool(places)
    for number, player in enumerate(players):
        is_bidder = bidding and number == position.turn
        assert bool(player.bid_place) == bool(player.bid_closed or is_bidder)
        assert not (is_bidder and player.bid_closed) and not (any(player.bid) and not player.bid_place)
    if bidding:
        assert position.mover.bid_place == len(places) and position.last_bidder == position.turn
        assert position.last_bid == max((kind for kind, cards in enumerate(position.mover.bid) if cards), default=None)
    else:
        assert position.last_bid is position.last_bidder is None


def _check_turn(position: Position, book: Book) -> None:
    units = [position.energy, position.money, position.market, position.discount]
    assert min(units) >= 0 and max(units) <= MOST_UNITS
    assert all(0 <= getattr(position, name) <= MOST_COUNTED for name in Position.COUNTERS)
    assert position.gold_played <= position.resource_played
    assert 0 <= position.decisions_before <= position.decisions
    if position.node in (Node.ACTION, *ASKING):
        assert position.turn == position.active and len(position.op_used) <= position.ops_used
        if book.cities[position.owner.city].hook != "repeat_ops":
            assert len(position.op_used) == position.ops_used
    if position.node in ENCOUNTER:
        assert not any(units)
    if position.node != Node.CITY and position.end == RUNNING:
        _check_turns(position)


def _check_turns(position: Position) -> None:
    """Turns taken: those of complete rounds, and one more of each who has had its turn in this one."""
    n, bidding = len(position.players), position.node in ENCOUNTER
    done = (position.active - position.first) % n + bidding
    for place in range(n):
        player = position.players[(position.first + place) % n]
        assert player.turns == position.rounds + (place < done)


def _check_end(position: Position, config: Configuration) -> None:
    over, length = position.end != RUNNING, book_of(config).number["track_length"]
    assert position.end in (RUNNING, TERMINATED) and over == (position.node == Node.OVER)
    reason = EndReason(position.end_reason)
    assert over == (reason != EndReason.RUNNING)
    arrived = [seat for seat, player in enumerate(position.players) if player.parsecs >= length]
    assert arrived == ([] if position.winner is None else [position.winner])
    assert bool(arrived) == (reason == EndReason.KEPLER)
    max_rounds = config.options[0]["max_rounds"]
    assert 0 <= position.rounds <= max_rounds and (position.rounds == max_rounds) == (reason == EndReason.ROUNDS)


def _check_views(state: Any, position: Position, config: Configuration) -> None:
    """What a state keeps for speed or for observations; everything of absent seats is 0."""
    check_fields(state, position.write(config)[0])


def _check_legal(state: Any, position: Position, config: Configuration) -> None:
    states = config.game.new_states(1)
    states[0] = state
    legal, expected = Snapshot(config, states).legal_actions(), sorted(legal_actions(position, config))
    assert legal == expected, f"legal ids are {legal}, the rules say {expected}"
