"""Greedy play of Race to Kepler.

Every card has a static worth, added up from what its programs gain. A turn plays everything, crew before resources so that there is
something to eject; then it buys the card worth most that it can pay for, uses the operations that bring most for the energy at
hand, and ends. Cards are lost cheapest first and gained dearest first. Bids are cheap cards up to a small random budget.

Worths are in tenths of an energy; nothing but the component tables decides them, so that cards of a user's own file have one, too.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allowed
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
from kepler_envs.games.race_to_kepler.components import RESOURCE
from kepler_envs.games.race_to_kepler.effects import (
    ANY_NUMBER,
    NO_PROGRAM,
    Counter,
    Destination,
    Hook,
    Mode,
    Op,
    Resource,
    Source,
)
from kepler_envs.games.race_to_kepler.rules_effects import ON_DISCARDING, ON_EJECTING, ON_SUPPLY_AIRLOCK
from kepler_envs.games.race_to_kepler.rules_encounter import bid_value
from kepler_envs.games.race_to_kepler.state import (
    FIRST_CREW,
    FIRST_TITAN,
    GOLD,
    NUM_CITIES,
    NUM_KINDS,
    NUM_OPTIONS,
    Node,
    Origin,
)

CITY_NODE, ACTION, MOVE, CHOICE = int(Node.CITY), int(Node.ACTION), int(Node.MOVE), int(Node.CHOICE)
REPLAY, BID = int(Node.REPLAY), int(Node.BID)
OP_END, OP_GAIN, OP_MOVE, OP_LOOK, OP_CHOICE = int(Op.END), int(Op.GAIN), int(Op.MOVE), int(Op.LOOK), int(Op.CHOICE)
OP_JMP, OP_IF, OP_REPLAY, OP_DISCOUNT = (int(x) for x in (Op.JMP, Op.IF, Op.REPLAY, Op.DISCOUNT))
TO_EJECT, TO_DISCARD, TO_AIRLOCK, TO_HAND = (
    int(x) for x in (Destination.EJECT, Destination.DISCARD, Destination.AIRLOCK, Destination.HAND)
)
FROM_HAND, FROM_DISCARD, FROM_BOTH = int(Source.HAND), int(Source.DISCARD), int(Source.HAND_DISCARD)
MAY, REPEAT_OPS = int(Mode.MAY), int(Hook.REPEAT_OPS)
OPERATION = int(Origin.OPERATION)
MONEY, DRAW = int(Resource.MONEY), int(Resource.DRAW)
FROM_OWN, EJECTED, DISCARDED, MARKET_TAKEN, GOLD_IN_HAND = (
    int(c) for c in (Counter.FROM_OWN, Counter.EJECTED, Counter.DISCARDED, Counter.MARKET_TAKEN, Counter.GOLD_IN_HAND)
)
GOLD_PLAYED, RESOURCE_PLAYED = int(Counter.GOLD_PLAYED), int(Counter.RESOURCE_PLAYED)
NEVER = -1_000_000

GAIN_WORTH = np.array([10, 5, 4, 40, 11], np.int64)
"""Of one energy, money, market action, parsec, card; in the order of Resource."""
COUNTED = np.array([1, 3, 1, 1, 2, 1, 1, 2, 2, 2, 1, 2, 2], np.int64)
"""What a counter will read, about; in the order of Counter."""
COST_WORTH = 4  # of crew, for a unit of cost: designers knew what cards are worth
TRIGGER_SHARE = 50  # per cent of what a trigger gains: how often it will be pulled
MOVE_WORTH = np.array([3, 0, 1, 12, 4, 3], np.int64)
"""Of one card moved to each Destination."""
THROWN_AWAY = 24  # a card worth less is gladly ejected
BID_WORTH = 24  # of a card that may be bid
MOST_BID = 10  # value of a bid
NOT_BOUGHT = 9  # a card worth less is not bought
RESOURCES, LATE = -10, -9  # order of resources; of what is played only when operations have had their cards
assert len(GAIN_WORTH) == len(Resource) and len(COUNTED) == len(Counter) and len(MOVE_WORTH) == len(Destination)


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
    """Any."""
    skip = below(generator, count)
    for city in range(NUM_CITIES):
        if allowed(mask, CITY + city):
            if skip == 0:
                return CITY + city
            skip -= 1
    return CITY


# ---------------------------------------------------------------- worths


@leaf
def _instruction_worth(instruction):
    op = int(instruction.op)
    amount = int(instruction.amount)
    if op == OP_GAIN:
        if instruction.counter > 0:
            amount = min(amount * COUNTED[int(instruction.counter) - 1], int(instruction.cap))
        return amount * GAIN_WORTH[instruction.what]
    if op == OP_MOVE:
        return min(amount, 2) * MOVE_WORTH[instruction.destination]
    if op == OP_LOOK:
        return 3 * amount
    if op == OP_REPLAY:
        return 20
    if op == OP_DISCOUNT:
        return 5 * amount
    return 0


@helper
def _program_worth(t, address):
    """Everything a program might gain; of alternatives the best one."""
    if address == NO_PROGRAM:
        return 0
    worth = 0
    at = int(address)
    while t.program[at].op != OP_END:
        instruction = t.program[at]
        if instruction.op == OP_CHOICE:
            best = 0
            for option in range(int(instruction.amount)):
                at = int(instruction.target[option])
                gained = 0
                while t.program[at].op != OP_JMP:
                    gained += _instruction_worth(t.program[at])
                    at += 1
                best = max(best, gained)
            worth += best
            at = int(t.program[at].target[0])
        else:
            worth += _instruction_worth(instruction)
            at += 1
    return worth


@helper
def _worth(t, kind):
    """What a card is worth in the deck."""
    card = t.card[kind]
    worth = _program_worth(t, int(card.on_play)) + TRIGGER_SHARE * _program_worth(t, int(card.on_discard)) // 100
    worth += TRIGGER_SHARE * _program_worth(t, int(card.on_eject)) // 100
    return worth if card.group == RESOURCE else worth + COST_WORTH * int(card.cost)


@leaf
def _most_worth(t, mask, first):
    """The kind worth most whose id, from ``first`` on, is legal; -1 if there is none."""
    best, most = -1, NEVER
    for kind in range(NUM_KINDS):
        if allowed(mask, first + kind):
            worth = _worth(t, kind)
            if worth > most:
                best, most = kind, worth
    return best


# ---------------------------------------------------------------- actions


@leaf
def _act(s, t, mask):
    """Play, buy, operate, end: the first of these that there is; but an operation that wants a card gets one before resources are played."""
    kind = _next_to_play(s, t, mask)
    operation = -1
    if kind >= 0:
        if _order(t, kind) >= LATE:
            return PLAY + kind
        operation = _best_operation(s, t, mask)
        if operation >= 0 and _needs_hand(t, t.city[int(s.player[s.seat].city) - 1], operation):
            return OPERATE + operation
        return PLAY + kind
    action = _best_purchase(t, mask)
    if action >= 0:
        return action
    operation = _best_operation(s, t, mask)
    return OPERATE + operation if operation >= 0 else END_TURN


@leaf
def _next_to_play(s, t, mask):
    """Cards that draw come first, cards that count what happened this turn last, and resources when crew has had its choice."""
    best, first = -1, 2 * NEVER
    for kind in range(NUM_KINDS):
        if allowed(mask, PLAY + kind):
            order = _order(t, kind)
            if order > first:
                best, first = kind, order
    return best


@helper
def _order(t, kind):
    card = t.card[kind]
    if card.group == RESOURCE:
        return RESOURCES
    at = int(card.on_play)
    if at == NO_PROGRAM:
        return NEVER  # better discarded or ejected
    order = 0
    while t.program[at].op != OP_END:
        instruction = t.program[at]
        if instruction.op == OP_GAIN:
            counter = int(instruction.counter) - 1
            if instruction.what == DRAW:
                order += 4
            if counter in (GOLD_PLAYED, RESOURCE_PLAYED):
                order -= 20
            elif counter > FROM_OWN:
                order -= 4
        elif instruction.op == OP_REPLAY:
            order -= 6
        at += 1
    return order


@leaf
def _best_purchase(t, mask):
    """The id of the card worth most that can be paid for, -1 if none is worth it."""
    best, most = -1, NOT_BOUGHT
    if allowed(mask, ACQUIRE_GOLD):
        worth = _worth(t, GOLD)
        if worth > most:
            best, most = ACQUIRE_GOLD, worth
    for kind in range(FIRST_CREW, FIRST_TITAN):
        if allowed(mask, ACQUIRE + kind):
            worth = _worth(t, kind)
            if worth > most:
                best, most = ACQUIRE + kind, worth
    return best


@leaf
def _best_operation(s, t, mask):
    """One of the operations that together bring most for the energy at hand; -1 if none brings anything."""
    city = t.city[int(s.player[s.seat].city) - 1]
    if city.hook == REPEAT_OPS:
        best, most = -1, 0
        for operation in range(int(city.operations)):
            if allowed(mask, OPERATE + operation):
                worth = 60 * _operation_worth(s, t, city, operation) // int(city.operation_cost[operation])
                if worth > most:
                    best, most = operation, worth
        return best
    best, most = 0, 0
    for subset in range(1, 1 << int(city.operations)):
        cost, worth = 0, 0
        for operation in range(int(city.operations)):
            if subset >> operation & 1:
                cost += 1000 if s.op_used[operation] else int(city.operation_cost[operation])
                worth += _operation_worth(s, t, city, operation)
        if cost <= s.energy and worth > most:
            best, most = subset, worth
    for operation in range(int(city.operations)):
        if best >> operation & 1:
            return operation
    return -1


@helper
def _operation_worth(s, t, city, operation):
    """What its program gains as things are: without the parts that need cards which are not there, and money that buys nothing."""
    player = s.player[s.seat]
    worth, at = 0, int(city.operation[operation])
    if at == NO_PROGRAM:
        return 0
    possible = True
    while t.program[at].op != OP_END:
        instruction = t.program[at]
        amount = int(instruction.amount)
        at += 1
        if instruction.op == OP_MOVE:
            possible = _cards_at(player, int(instruction.what)) >= amount or amount == ANY_NUMBER
        if instruction.op == OP_IF and not possible:
            at = int(instruction.target[0])
        elif instruction.op == OP_GAIN and instruction.counter > 0:
            worth += _gain_now(s, instruction)
        elif instruction.op == OP_GAIN and instruction.what == MONEY and s.market == 0:
            worth += amount
        elif instruction.op == OP_MOVE and instruction.destination == TO_AIRLOCK:
            worth += _trait_worth(s, t, ON_SUPPLY_AIRLOCK) + 1
        else:
            worth += _instruction_worth(instruction)
    return worth


@leaf
def _cards_at(player, source):
    """How many cards a player has there; enough, where it does not matter."""
    if source == FROM_HAND:
        return int(player.hand_size)
    if source == FROM_DISCARD:
        return int(player.discard_size)
    if source == FROM_BOTH:
        return int(player.hand_size) + int(player.discard_size)
    return ANY_NUMBER


@helper
def _needs_hand(t, city, operation):
    """Whether an operation wants a card from hand for what it gains."""
    at = int(city.operation[operation])
    if at == NO_PROGRAM:
        return False
    while t.program[at].op != OP_END:
        if t.program[at].op == OP_MOVE and t.program[at].mode == MAY:
            return t.program[at].what == FROM_HAND or t.program[at].what == FROM_BOTH
        at += 1
    return False


@helper
def _trait_worth(s, t, hook):
    """What the city's trait brings with one event of this kind."""
    city = t.city[int(s.player[s.seat].city) - 1]
    return _program_worth(t, int(city.trait)) if city.hook == hook else 0


# ---------------------------------------------------------------- within programs


@leaf
def _move(s, t, mask):
    """Gain the best card, lose the worst; an optional loss only of a bad card, or for an operation's parsecs."""
    frame = s.frame[int(s.depth) - 1]
    instruction = t.program[frame.at]
    destination, source = int(instruction.destination), int(instruction.what)
    if destination != TO_EJECT and destination != TO_DISCARD:
        if (
            destination == TO_AIRLOCK
            and allowed(mask, DONE)
            and _trait_worth(s, t, ON_SUPPLY_AIRLOCK) == 0
            and frame.kind < FIRST_TITAN
        ):
            return DONE
        return PICK + _most_worth(t, mask, PICK)
    kind, least = -1, -NEVER
    for candidate in range(NUM_KINDS):
        if allowed(mask, PICK + candidate):
            worth = _loss(s, t, candidate, source, destination)
            if worth < least:
                kind, least = candidate, worth
    if allowed(mask, DONE) and least > THROWN_AWAY and frame.origin < OPERATION:
        return DONE
    return PICK + kind


@helper
def _loss(s, t, kind, source, destination):
    """What is lost with a card: all of it when it is ejected, this turn's use when it is discarded; less what that triggers."""
    card = t.card[kind]
    if destination == TO_EJECT:
        return _worth(t, kind) - _program_worth(t, int(card.on_eject)) - _trait_worth(s, t, ON_EJECTING)
    if source == FROM_HAND:
        return (
            _program_worth(t, int(card.on_play))
            - _program_worth(t, int(card.on_discard))
            - _trait_worth(s, t, ON_DISCARDING)
        )
    return _worth(t, kind) - _program_worth(t, int(card.on_discard)) - _trait_worth(s, t, ON_DISCARDING)


@leaf
def _choose(s, t):
    """The alternative that gains most now."""
    frame = s.frame[int(s.depth) - 1]
    instruction = t.program[frame.at]
    best, most = 0, NEVER
    for option in range(min(int(instruction.amount), NUM_OPTIONS)):
        worth = 0
        at = int(instruction.target[option])
        while t.program[at].op != OP_JMP:
            worth += _gain_now(s, t.program[at])
            at += 1
        if worth > most:
            best, most = option, worth
    return OPTION + best


@helper
def _gain_now(s, instruction):
    """An instruction's worth with the counters as they are."""
    if instruction.op != OP_GAIN or instruction.counter == 0:
        return _instruction_worth(instruction)
    counter = int(instruction.counter) - 1
    counted = COUNTED[counter]
    if counter == EJECTED:
        counted = int(s.ejected)
    elif counter == MARKET_TAKEN:
        counted = int(s.market_taken)
    elif counter == GOLD_IN_HAND:
        counted = int(s.player[s.active].hand[GOLD])
    elif counter == DISCARDED:
        counted = int(s.discarded)
    return min(int(instruction.amount) * counted, int(instruction.cap)) * GAIN_WORTH[instruction.what]


@leaf
def _bid(s, t, mask, generator):
    """The cheapest cards, up to a budget that is drawn anew for each."""
    budget = 1 + below(generator, MOST_BID)
    player = s.player[s.seat]
    spent = bid_value(s, t, int(s.seat)) if player.bid_size > 0 else 0
    best, least = -1, budget - spent
    for kind in range(FIRST_TITAN):
        if allowed(mask, PICK + kind):
            cost = int(t.card[kind].cost)
            if cost <= least and _worth(t, kind) <= BID_WORTH:
                best, least = kind, cost - 1
    return PICK + best if best >= 0 else DONE
