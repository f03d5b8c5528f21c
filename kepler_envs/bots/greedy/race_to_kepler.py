"""Greedy play of Race to Kepler.

Every card has a fixed worth, added up from what its programs gain. In a turn the bot plays all its cards, crew before
resources, so that there is something to eject. Then it buys the best card it can pay for, uses the operations that gain
most for its energy, and ends the turn. It gives up its worst cards first and takes the best ones. It bids with cheap
cards, up to a small random budget.

Worths are the game's own estimates (estimates.py, worths.py), in tenths of an energy. They are made from the component
tables, so cards from your own component file have one, too.
"""

from __future__ import annotations

from kepler_envs.engine.bits import allowed, allowed_word, lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.rng import below
from kepler_envs.games.race_to_kepler.actions import (
    ACQUIRE,
    ACQUIRE_GOLD,
    CITY,
    DONE,
    END_TURN,
    OPERATE,
    OPTION,
    PICK,
    PLAY,
)
from kepler_envs.games.race_to_kepler.effects import Destination, Source
from kepler_envs.games.race_to_kepler.estimates import LATE
from kepler_envs.games.race_to_kepler.rules_effects import ON_DISCARDING, ON_EJECTING, ON_SUPPLY_AIRLOCK
from kepler_envs.games.race_to_kepler.rules_encounter import bid_value
from kepler_envs.games.race_to_kepler.state import (
    FIRST_CREW,
    FIRST_TITAN,
    GOLD,
    NUM_CITIES,
    NUM_CREW,
    NUM_KINDS,
    NUM_OPERATIONS,
    NUM_OPTIONS,
    Node,
    Origin,
)
from kepler_envs.games.race_to_kepler.worths import best_operations, option_worth, trait_worth, usable_worth

VERSION = 1
"""Goes up whenever a choice changes, so that records say which greedy played."""

CITY_NODE, ACTION, MOVE, CHOICE = int(Node.CITY), int(Node.ACTION), int(Node.MOVE), int(Node.CHOICE)
BID = int(Node.BID)
TO_EJECT, TO_DISCARD, TO_AIRLOCK = (int(x) for x in (Destination.EJECT, Destination.DISCARD, Destination.AIRLOCK))
FROM_HAND = int(Source.HAND)
OPERATION = int(Origin.OPERATION)
NEVER = -1_000_000

THROWN_AWAY = 24  # a card worth no more than this is gladly ejected
BID_WORTH = 24  # a card worth more than this is never bid
MOST_BID = 10  # the largest budget of a bid
NOT_BOUGHT = 9  # a card worth no more than this is not bought


@helper
def policy(s, t, mask, count, generator):
    """The choice of the seat to move, from what it sees."""
    node = int(s.node)
    if node == ACTION:
        return _act(s, t, mask)
    if node == MOVE:
        return _move(s, t, mask)
    if node == CHOICE:
        return _choose(s, t)
    if node == BID:
        return _bid(s, t, mask, generator)
    if node == CITY_NODE:
        return _city(mask, count, generator)
    return PICK + _most_worth(t, mask, PICK)


@leaf
def _city(mask, count, generator):
    """Any city, all equally likely."""
    skip = below(generator, count)
    for city in range(NUM_CITIES):
        if allowed(mask, CITY + city):
            if skip == 0:
                return CITY + city
            skip -= 1
    return CITY


@leaf
def _most_worth(t, mask, first):
    """The kind worth most whose id, from ``first`` on, is legal; -1 if there is none."""
    best, most = -1, NEVER
    kinds = allowed_word(mask, first, NUM_KINDS)
    while kinds:
        kind = lowest(kinds)
        kinds = without_lowest(kinds)
        worth = int(t.card[kind].worth)
        if worth > most:
            best, most = kind, worth
    return best


# ---------------------------------------------------------------- actions


@leaf
def _act(s, t, mask):
    """Play a card, buy one, use an operation or end the turn: the first of these that is possible.

    But an operation that needs a card from the hand comes before resources are played.
    """
    kind = _next_to_play(t, mask)
    operation = -1
    if kind >= 0:
        if t.card[kind].order >= LATE:
            return PLAY + kind
        operation = _best_operation(s, t, mask)
        if operation >= 0 and t.city[int(s.player[s.seat].city) - 1].needs_hand[operation]:
            return OPERATE + operation
        return PLAY + kind
    action = _best_purchase(t, mask)
    if action >= 0:
        return action
    operation = _best_operation(s, t, mask)
    return OPERATE + operation if operation >= 0 else END_TURN


@leaf
def _next_to_play(t, mask):
    """The card to play next; -1 if there is none.

    Cards that draw others come first. Cards that count what happened this turn come last. Resources wait until crew has
    had its choice.
    """
    best, first = -1, 2 * NEVER
    kinds = allowed_word(mask, PLAY, NUM_KINDS)
    while kinds:
        kind = lowest(kinds)
        kinds = without_lowest(kinds)
        order = int(t.card[kind].order)
        if order > first:
            best, first = kind, order
    return best


@leaf
def _best_purchase(t, mask):
    """The id that buys the best card the seat can pay for; -1 if none is worth buying."""
    best, most = -1, NOT_BOUGHT
    if allowed(mask, ACQUIRE_GOLD):
        worth = int(t.card[GOLD].worth)
        if worth > most:
            best, most = ACQUIRE_GOLD, worth
    crew = allowed_word(mask, ACQUIRE + FIRST_CREW, NUM_CREW)
    while crew:
        kind = FIRST_CREW + lowest(crew)
        crew = without_lowest(crew)
        worth = int(t.card[kind].worth)
        if worth > most:
            best, most = ACQUIRE + kind, worth
    return best


@leaf
def _best_operation(s, t, mask):
    """One of the operations that together gain most for the energy at hand; -1 if none gains anything."""
    city = t.city[int(s.player[s.seat].city) - 1]
    best = best_operations(
        s, city, usable_worth(s, t, city, 0), usable_worth(s, t, city, 1), usable_worth(s, t, city, 2),
        usable_worth(s, t, city, 3)
    )  # fmt: skip
    for operation in range(NUM_OPERATIONS):
        if best >> operation & 1 and allowed(mask, OPERATE + operation):
            return operation
    return -1


# ---------------------------------------------------------------- within programs


@leaf
def _move(s, t, mask):
    """Gain the best card, or lose the worst.

    If the loss is optional, lose only a bad card, or any card for an operation's parsecs.
    """
    frame = s.frame[int(s.depth) - 1]
    instruction = t.program[frame.at]
    destination, source = int(instruction.destination), int(instruction.what)
    if destination != TO_EJECT and destination != TO_DISCARD:
        if (
            destination == TO_AIRLOCK
            and allowed(mask, DONE)
            and trait_worth(t.city[int(s.player[s.seat].city) - 1], ON_SUPPLY_AIRLOCK) == 0
            and frame.kind < FIRST_TITAN
        ):
            return DONE
        return PICK + _most_worth(t, mask, PICK)
    kind, least = -1, -NEVER
    candidates = allowed_word(mask, PICK, NUM_KINDS)
    while candidates:
        candidate = lowest(candidates)
        candidates = without_lowest(candidates)
        worth = _loss(s, t, candidate, source, destination)
        if worth < least:
            kind, least = candidate, worth
    if allowed(mask, DONE) and least > THROWN_AWAY and frame.origin < OPERATION:
        return DONE
    return PICK + kind


@helper
def _loss(s, t, kind, source, destination):
    """What losing a card costs: all its worth if it is ejected, its use this turn if it is discarded from the hand.

    What the loss triggers is taken off.
    """
    card, city = t.card[kind], t.city[int(s.player[s.seat].city) - 1]
    if destination == TO_EJECT:
        return int(card.worth) - int(card.eject_worth) - trait_worth(city, ON_EJECTING)
    worth = int(card.play_worth) if source == FROM_HAND else int(card.worth)
    return worth - int(card.discard_worth) - trait_worth(city, ON_DISCARDING)


@leaf
def _choose(s, t):
    """The option that gains most now."""
    frame = s.frame[int(s.depth) - 1]
    choice = t.program[frame.at]
    best, most = 0, NEVER
    for option in range(min(int(choice.amount), NUM_OPTIONS)):
        worth = option_worth(s, t, choice, option)
        if worth > most:
            best, most = option, worth
    return OPTION + best


@leaf
def _bid(s, t, mask, generator):
    """Bid the cheapest card, within a budget that is drawn anew for each card; else be done."""
    budget = 1 + below(generator, MOST_BID)
    player = s.player[s.seat]
    spent = bid_value(s, t, int(s.seat)) if player.bid_size > 0 else 0
    best, least = -1, budget - spent
    kinds = allowed_word(mask, PICK, FIRST_TITAN)
    while kinds:
        kind = lowest(kinds)
        kinds = without_lowest(kinds)
        cost = int(t.card[kind].cost)
        if cost <= least and t.card[kind].worth <= BID_WORTH:
            best, least = kind, cost - 1
    return PICK + best if best >= 0 else DONE
