"""What holds in every position of Kitten Adventurers, worked out from the cards alone.

Nothing here looks at what a state keeps for speed: observation, legal ids and the outcome of a decision follow from
the cards of a :class:`Position`, rule by rule, and are then compared with the game's own, entry by entry.
The contract tests find ``check_invariants``, ``check_decision`` and ``EAGER`` by name.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from kepler_envs.engine.game import DERIVED, RUNNING, TERMINATED, TRUNCATED, Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.kitten_adventurers.state import NUM_LANES, NUM_TYPES, Node
from tests.effort import DEEP
from tests.games.kitten_adventurers import facts
from tests.games.kitten_adventurers.scenario import LAST_VALUE, H, Position
from tests.scenario import check_fields, check_in_bounds

PLAY_HAND, PLAY_QUEST, PLAY_LANE, END_WITH, PASS, AS_VALUE, TO_LANE, END_OF_IDS = 0, 14, 15, 19, 33, 34, 47, 51

EAGER = frozenset(range(END_WITH)) | frozenset(range(AS_VALUE, TO_LANE))
"""Ids that put a card on a ladder: a chooser that prefers them completes ladders, reshuffles and wins."""

REVEALS = ("players.quest_top", "cards.hand")
"""Where quest cards are turned up, and what the observer draws."""


# ---------------------------------------------------------------- a position


def check_invariants(state: Any, config: Configuration) -> None:
    """AssertionError naming the broken rule, if this state cannot be a position of the game."""
    position = Position.read(state)
    _check_cards(position, config)
    _check_counters(position, config)
    _check_pending(position)
    check_fields(state, position.write(config).state)
    _check_views(state, position, config)


def _check_cards(position: Position, config: Configuration) -> None:
    table, hand_size = config.tables[0], int(config.options[0]["hand_size"])
    cards = position.open_cards() + position.hidden_cards()
    assert [cards[card] for card in range(NUM_TYPES)] == table["card_count"].tolist(), "cards of each type"
    assert len(position.seats) == config.num_players
    assert len(position.ladders) <= int(table["card_count"][0] + table["card_count"][H]), "number of ladders"
    for slot, cards_of_ladder in position.ladders.items():
        assert 1 <= len(cards_of_ladder) <= LAST_VALUE, f"height of ladder {slot}"
        assert all(card in (value, H) for value, card in enumerate(cards_of_ladder)), f"ladder {slot}"
    for number, seat in enumerate(position.seats):
        assert len(seat.hand) <= hand_size, f"hand of seat {number}"
        assert len(seat.quest) <= int(config.options[0]["quest_size"]), f"quest pile of seat {number}"
        if not seat.quest:
            assert position.end == TERMINATED and position.turn == number, "an empty quest pile wins at once"
    if position.node == Node.PLAY and (not position.mover.hand or position.played_this_turn == 0):
        full = len(position.mover.hand) == hand_size
        assert full or not (position.deck or position.discard), "the hand was not refilled"


def _check_counters(position: Position, config: Configuration) -> None:
    options, running = config.options[0], position.end == RUNNING
    assert (position.node == Node.OVER) == (not running)
    assert 0 <= position.played_this_turn <= position.plays <= int(options["max_plays"])
    assert 0 <= position.quests_this_turn <= position.played_this_turn
    assert 0 <= position.turns <= int(options["max_turns"])
    assert sum(seat.plays for seat in position.seats) == position.plays
    assert 0 <= position.dead_turns <= config.num_players
    if running:
        assert position.plays < int(options["max_plays"]) and position.turns < int(options["max_turns"])
        assert position.dead_turns < config.num_players
    if position.end == TRUNCATED:
        assert position.plays == int(options["max_plays"]) or position.turns == int(options["max_turns"])
    if position.end == TERMINATED:
        assert position.dead_turns == config.num_players or not position.mover.quest


def _check_pending(position: Position) -> None:
    """A pending card stays where it was until it is played or placed."""
    mover = position.mover
    assert (position.pending_source > 0) == (position.node == Node.VALUE)
    assert (position.pending_card > 0) == (position.node == Node.LANE)
    if position.node == Node.VALUE:
        assert card_of(position, position.pending_source - 1) == H
        assert position.ladders, "a value was asked for although only 0 is possible"
    if position.node == Node.LANE:
        assert position.pending_card - 1 in mover.hand
        assert any(mover.lanes), "a lane was asked for although all are empty"


def _check_views(state: Any, position: Position, config: Configuration) -> None:
    states = config.game.new_states(1)
    states[0] = state
    snapshot = Snapshot(config, states)
    legal = legal_actions(position)
    assert snapshot.legal_actions() == sorted(legal)
    if position.end == RUNNING:
        assert legal and (position.node == Node.PLAY or len(legal) >= 2)
    check_in_bounds(snapshot)
    everyone = range(config.num_players)
    in_turn = {int(state["seat"]), int(state["decisions"]) % config.num_players}
    for seat in everyone if DEEP else in_turn:
        check_seen(config, state, seat, snapshot.observe(seat))


# ---------------------------------------------------------------- what is seen, what is legal


def check_seen(config: Configuration, state: Any, seat: int, observation: np.ndarray) -> None:
    """Every fact of the seat, and what follows from them."""
    seen = facts.facts_seen(config, observation)
    for name, value in facts.facts_known(config, state, seat).items():
        assert np.array_equal(seen[name], value), f"seat {seat}: {name} is {seen[name]}, not {value}"
    if not config.values[DERIVED]:
        return
    pieces = config.observation.names(observation)
    for name, value in facts.derived(config, pieces).items():
        assert np.array_equal(pieces[name], value), f"seat {seat}: {name} is {pieces[name]}, not {value}"


def fits(position: Position, card: int) -> bool:
    """A hyperspeed card, a wormhole, or the next value of a ladder in play."""
    return card in (0, H) or card in position.ladder_heights()


def card_of(position: Position, source: int) -> int | None:
    """The card a play id is about, or None."""
    mover = position.mover
    if source < PLAY_QUEST:
        return source if source in mover.hand else None
    pile = mover.quest if source == PLAY_QUEST else mover.lanes[source - PLAY_LANE]
    return pile[-1] if pile else None


def legal_actions(position: Position) -> set[int]:
    """The legal ids, one rule after the other."""
    mover = position.mover
    legal: set[int] = set()
    if position.node == Node.PLAY:
        for source in range(END_WITH):
            card = card_of(position, source)
            if card is not None and fits(position, card):
                legal.add(source)
        legal |= {END_WITH + card for card in mover.hand}
        if not mover.hand:
            legal.add(PASS)
    elif position.node == Node.VALUE:
        legal = {AS_VALUE} | {AS_VALUE + height for height in position.ladder_heights()}
    elif position.node == Node.LANE:
        legal = {TO_LANE + place for place, lane in enumerate(mover.lanes) if lane}
        empty = [place for place in range(NUM_LANES) if not mover.lanes[place]]
        legal |= {TO_LANE + place for place in empty[:1]}
    return legal


# ---------------------------------------------------------------- a decision


def check_decision(before_state: Any, action: int, after_state: Any, config: Configuration) -> None:
    """AssertionError unless ``after_state`` is what the rules make of ``before_state`` and ``action``.

    Which cards were drawn is read off the result; how many, from where, and everything else is checked.
    """
    before, after = Position.read(before_state), Position.read(after_state)
    referee = Referee(before, after, config)
    referee.decide(action)
    expected = referee.position
    assert sorted(expected.deck) == sorted(after.deck), "deck"
    if referee.drawn == 0:
        assert expected.deck == after.deck and expected.rng == after.rng, "chance was used without a draw"
    expected.deck, expected.rng = after.deck, after.rng
    for name in vars(expected):
        assert getattr(expected, name) == getattr(after, name), (
            f"{name}: {getattr(after, name)}, the rules say {getattr(expected, name)} after id {action}"
        )


class Referee:
    """The rules once more, on cards, as slowly as they read."""

    def __init__(self, position: Position, outcome: Position, config: Configuration) -> None:
        self.position = position
        self.outcome = outcome
        self.options = config.options[0]
        self.drawn = 0

    def decide(self, action: int) -> None:
        position = self.position
        position.decisions += 1
        if action < END_WITH:
            card = card_of(position, action)
            assert card is not None
            if card != H:
                self.put_on_ladder(action, card, card)
            elif not position.ladders:
                self.put_on_ladder(action, H, 0)
            else:
                position.node, position.pending_source = Node.VALUE, action + 1
        elif action < PASS:
            if any(position.mover.lanes):
                position.node, position.pending_card = Node.LANE, action - END_WITH + 1
            else:
                self.put_in_lane(action - END_WITH, 0)
        elif action == PASS:
            self.end_turn(dead=position.played_this_turn == 0)
        elif action < TO_LANE:
            self.put_on_ladder(position.pending_source - 1, H, action - AS_VALUE)
        else:
            self.put_in_lane(position.pending_card - 1, action - TO_LANE)

    def put_on_ladder(self, source: int, card: int, value: int) -> None:
        position, mover = self.position, self.position.mover
        if source < PLAY_QUEST:
            mover.hand.remove(card)
        elif source == PLAY_QUEST:
            mover.quest.pop()
            position.quests_this_turn += 1
        else:
            mover.lanes[source - PLAY_LANE].pop()
        position.node, position.pending_source = Node.PLAY, 0
        position.played_this_turn += 1
        position.plays += 1
        mover.plays += 1
        if value == 0:
            slot = min(slot for slot in range(len(position.ladders) + 1) if slot not in position.ladders)
            position.ladders[slot] = [card]
        else:
            slot = min(slot for slot, cards in position.ladders.items() if len(cards) == value)
            position.ladders[slot].append(card)
        if value == LAST_VALUE:
            position.discard = sorted(position.discard + position.ladders.pop(slot))
        if not mover.quest:
            self.finish(TERMINATED)
            return
        if not mover.hand:
            self.refill()
        if position.plays == self.options["max_plays"]:
            self.finish(TRUNCATED)

    def put_in_lane(self, card: int, lane: int) -> None:
        mover = self.position.mover
        mover.hand.remove(card)
        mover.lanes[lane].append(card)
        self.position.pending_card = 0
        self.end_turn(dead=False)

    def end_turn(self, dead: bool) -> None:
        position = self.position
        position.node = Node.PLAY
        position.turns += 1
        position.dead_turns = position.dead_turns + 1 if dead else 0
        position.played_this_turn = position.quests_this_turn = 0
        if position.dead_turns == len(position.seats):
            self.finish(TERMINATED)
        elif position.turns == self.options["max_turns"]:
            self.finish(TRUNCATED)
        else:
            position.turn = (position.turn + 1) % len(position.seats)
            self.refill()

    def finish(self, end: int) -> None:
        self.position.node, self.position.end = Node.OVER, end
        self.position.quests_this_turn = 0

    def refill(self) -> None:
        """Draw what the outcome's hand shows, if it is as many as the rules say and they were there to be drawn."""
        position, mover = self.position, self.position.mover
        drawn = Counter(self.outcome.seats[position.turn].hand)
        drawn.subtract(mover.hand)
        assert all(count >= 0 for count in drawn.values()), "a refill took cards away"
        self.drawn = drawn.total()
        wanted = max(0, int(self.options["hand_size"]) - len(mover.hand))
        assert self.drawn == min(wanted, len(position.deck) + len(position.discard)), "cards drawn"
        if self.drawn == 0:
            return
        deck = Counter(position.deck)
        if self.drawn > len(position.deck):  # the deck ran out in mid-refill: all of it was drawn first
            assert all(drawn[card] >= count for card, count in deck.items()), "reshuffled before the deck was empty"
            deck.update(position.discard)
            position.discard = []
        deck.subtract(drawn)
        assert all(count >= 0 for count in deck.values()), "a card was drawn that was not there"
        position.deck = sorted(deck.elements())
        mover.hand = sorted((Counter(mover.hand) + drawn).elements())
