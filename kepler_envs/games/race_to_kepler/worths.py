"""What operations, alternatives and cards are worth as things are, in tenths of an energy.

Observations and the greedy bot use it.
"""

from __future__ import annotations

from kepler_envs.engine.kernel import leaf
from kepler_envs.games.race_to_kepler.effects import (
    ANY_NUMBER,
    NO_PROGRAM,
    Counter,
    Destination,
    Hook,
    Op,
    Resource,
    Source,
)
from kepler_envs.games.race_to_kepler.estimates import COUNTED, GAIN_WORTH, OF_THE_TURN
from kepler_envs.games.race_to_kepler.rules_effects import ON_SUPPLY_AIRLOCK, turn_counter
from kepler_envs.games.race_to_kepler.state import GOLD, NUM_OPERATIONS

OP_END, OP_GAIN, OP_MOVE, OP_JMP, OP_IF = (int(x) for x in (Op.END, Op.GAIN, Op.MOVE, Op.JMP, Op.IF))
TO_AIRLOCK = int(Destination.AIRLOCK)
FROM_HAND, FROM_DISCARD, FROM_BOTH = int(Source.HAND), int(Source.DISCARD), int(Source.HAND_DISCARD)
REPEAT_OPS, MONEY = int(Hook.REPEAT_OPS), int(Resource.MONEY)
EJECTED, DISCARDED, MARKET_TAKEN, GOLD_IN_HAND = (
    int(c) for c in (Counter.EJECTED, Counter.DISCARDED, Counter.MARKET_TAKEN, Counter.GOLD_IN_HAND)
)
NOT_NOW = -1  # worth of an operation that cannot be used
assert NUM_OPERATIONS == 4


@leaf
def _gain_now(s, instruction):
    """The worth of an instruction with the counters as they are."""
    if instruction.op != OP_GAIN or instruction.counter == 0:
        return int(instruction.worth)
    counter = int(instruction.counter) - 1
    counted = int(COUNTED[counter])
    if counter == EJECTED:
        counted = int(s.ejected)
    elif counter == MARKET_TAKEN:
        counted = int(s.market_taken)
    elif counter == GOLD_IN_HAND:
        counted = int(s.player[s.active].hand[GOLD])
    elif counter == DISCARDED:
        counted = int(s.discarded)
    return min(int(instruction.amount) * counted, int(instruction.cap)) * int(GAIN_WORTH[instruction.what])


@leaf
def option_worth(s, t, choice, option):
    """What an alternative gains now."""
    worth = 0
    at = int(choice.target[option])
    while t.program[at].op != OP_JMP:
        worth += _gain_now(s, t.program[at])
        at += 1
    return worth


@leaf
def counted_worth(s, t, kind):
    """What a card of this kind gains by counters of the turn if it is played now."""
    worth = 0
    at = int(t.card[kind].on_play)
    while t.program[at].op != OP_END:
        instruction = t.program[at]
        counter = int(instruction.counter) - 1
        if instruction.op == OP_GAIN and counter >= OF_THE_TURN:
            amount = min(int(instruction.amount) * turn_counter(s, counter), int(instruction.cap))
            worth += amount * int(GAIN_WORTH[instruction.what])
        at += 1
    return worth


@leaf
def trait_worth(city, hook):
    """What a city's trait brings with one event of this kind."""
    return int(city.trait_worth) if city.hook == hook else 0


@leaf
def _operation_worth(s, t, city, operation):
    """What an operation's program gains as things are.

    Parts that need cards which are not there do not count, nor does money that buys nothing.
    """
    player = s.player[s.active]
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
            worth += trait_worth(city, ON_SUPPLY_AIRLOCK) + 1
        else:
            worth += int(instruction.worth)
    return worth


@leaf
def _cards_at(player, source):
    """The number of cards a player has there. Where it does not matter, it is enough of them."""
    if source == FROM_HAND:
        return int(player.hand_size)
    if source == FROM_DISCARD:
        return int(player.discard_size)
    if source == FROM_BOTH:
        return int(player.hand_size) + int(player.discard_size)
    return ANY_NUMBER


@leaf
def usable_worth(s, t, city, operation):
    """What an operation of the active player gains now, or NOT_NOW.

    It is NOT_NOW if there is no such operation, no energy for it, or it has been used.
    """
    if operation >= city.operations or city.operation_cost[operation] > s.energy:
        return NOT_NOW
    if s.op_used[operation] and city.hook != REPEAT_OPS:
        return NOT_NOW
    return _operation_worth(s, t, city, operation)


@leaf
def best_operations(s, city, one, two, three, four):
    """The operations, as bits, that together bring most for the energy at hand.

    ``usable_worth`` gives what each one gains now. Where operations can be repeated, it is the one that brings most for
    its cost.
    """
    usable = (one > 0) | (two > 0) << 1 | (three > 0) << 2 | (four > 0) << 3
    best, most = 0, 1
    subset = usable
    while subset > 0:  # downwards, so that of equals the lowest is found
        cost, worth, uses = 0, 0, 0
        for operation in range(NUM_OPERATIONS):
            if subset >> operation & 1:
                gained = one if operation == 0 else two if operation == 1 else three if operation == 2 else four
                cost += int(city.operation_cost[operation])
                worth += gained
                uses += 1
        if city.hook == REPEAT_OPS:
            worth = 60 * worth // cost if uses == 1 else 0
        if cost <= s.energy and worth >= most:
            best, most = subset, worth
        subset = (subset - 1) & usable
    return best
