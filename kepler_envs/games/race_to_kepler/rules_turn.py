"""Rules of the active player's turn: actions, clean-up, whose turn is next (SPEC section 4.1)."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow, allow_word, bit
from kepler_envs.engine.game import TERMINATED
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.race_to_kepler.actions import ACQUIRE, ACQUIRE_GOLD, END_TURN, OPERATE, PLAY
from kepler_envs.games.race_to_kepler.effects import MAX_COST, Hook
from kepler_envs.games.race_to_kepler.rules_cards import (
    count_card,
    draw_hand,
    forget_all,
    kinds_in,
    push,
    put_in_hand,
    put_on_discard,
    take_from_hand,
    take_from_supply,
)
from kepler_envs.games.race_to_kepler.rules_effects import NOT_OWN, OF_CITY, ON_PLAY, push_trait, run
from kepler_envs.games.race_to_kepler.state import (
    CREW,
    GOLD,
    IRON,
    NUM_DEPARTMENTS,
    NUM_KINDS,
    NUM_OPERATIONS,
    NUM_TOKENS,
    RESOURCE,
    TITAN,
    EndReason,
    Node,
    Origin,
)

OVER, ROUNDS = int(Node.OVER), int(EndReason.ROUNDS)
ON_OPERATION = int(Origin.OPERATION)
ON_TURN_START, ON_PLAYING, ON_ACQUIRING = (np.int64(hook) for hook in (Hook.TURN_START, Hook.PLAY, Hook.ACQUIRE))
DISCOUNT, REPEAT_OPS = int(Hook.DISCOUNT), int(Hook.REPEAT_OPS)


@helper
def begin_turn(s, t, seat):
    """Begin a turn. Nothing is left of the turn before, and there is one market action (R).

    The city's trait comes first.
    """
    s.active = seat
    s.energy = 0
    s.money = 0
    s.market = t.market_actions
    s.discount = 0
    s.ejected = 0
    s.discarded = 0
    s.market_taken = 0
    s.gold_played = 0
    s.resource_played = 0
    s.crew_played = 0
    s.titan_played = 0
    s.ops_used = 0
    for department in range(NUM_DEPARTMENTS):
        s.department[department] = 0
    for operation in range(NUM_OPERATIONS):
        s.op_used[operation] = 0
    for token in range(NUM_TOKENS):
        s.crossed[token] = 0
    s.all_ops = 0
    s.decisions_before = s.decisions
    push_trait(s, t, ON_TURN_START, np.int64(IRON), NOT_OWN)  # the filter of such a trait is "any"
    run(s, t)


# ---------------------------------------------------------------- actions


@leaf
def legal_actions(s, t, mask):
    """Allow cards in hand, cards that can be paid for, and operations there is energy for.

    The end of the turn is always allowed.
    """
    allow(mask, END_TURN)
    if s.decisions - s.decisions_before >= t.turn_decision_cap:
        return
    player = s.player[s.active]
    city = t.city[int(player.city) - 1]
    allow_word(mask, PLAY, kinds_in(player.hand))
    if s.market > 0:
        kinds = acquirable_kinds(s, t, city)
        if kinds & bit(GOLD):
            allow(mask, ACQUIRE_GOLD)
        allow_word(mask, ACQUIRE, kinds & ~bit(GOLD))
    if s.energy >= city.least_cost:
        for operation in range(int(city.operations)):
            if s.energy >= city.operation_cost[operation] and (not s.op_used[operation] or city.hook == REPEAT_OPS):
                allow(mask, OPERATE + operation)


@leaf
def acquirable_kinds(s, t, city):
    """The kinds that the active player of ``city`` can acquire now."""
    if s.market == 0:
        return np.uint64(0)
    on_offer = kinds_in(s.supply) | (bit(GOLD) if s.gold_pile > 0 else np.uint64(0))
    return _affordable(s, t, city) & on_offer


@leaf
def _affordable(s, t, city):
    """The kinds whose price is no more than the money left."""
    if s.money == 0:  # only what costs nothing even without a discount
        return np.uint64(t.costs_at_most[0])
    discount = int(s.discount) + (int(city.parameter) if city.hook == DISCOUNT else 0)
    return np.uint64(t.costs_at_most[min(int(s.money) + discount, MAX_COST)])


@helper
def _price(s, t, kind):
    """What acquiring a card costs the active player now.

    It is never below 1, unless the card costs nothing anyway (ruling R22).
    """
    city = t.city[int(s.player[s.active].city) - 1]
    discount = int(s.discount) + (int(city.parameter) if city.hook == DISCOUNT else 0)
    cost = int(t.card[kind].cost)
    return max(min(1, cost), cost - discount)


@leaf
def act(s, t, action):
    """Carry out one action and all that follows from it."""
    if action == END_TURN:
        _clean_up(s, t)
        return
    if action < ACQUIRE_GOLD:
        _play(s, t, action - PLAY)
    elif action < OPERATE:
        _acquire(s, t, GOLD if action == ACQUIRE_GOLD else action - ACQUIRE)
    else:
        _operate(s, t, action - OPERATE)


@leaf
def _play(s, t, kind):
    player = s.player[s.active]
    take_from_hand(player, kind)
    player.play[kind] += 1
    player.play_size += 1
    card = t.card[kind]
    group = int(card.group)
    if group == RESOURCE:
        s.resource_played += 1
        if kind == GOLD:
            s.gold_played += 1
    elif group == CREW:
        s.crew_played += 1
    elif group == TITAN:
        s.titan_played += 1
    if card.department > 0:
        s.department[int(card.department) - 1] = 1
    push_trait(s, t, ON_PLAYING, kind, NOT_OWN)
    push(s, card.on_play, kind + 1, NOT_OWN, ON_PLAY)


@leaf
def _acquire(s, t, kind):
    """Move the card to the discard pile in the Launch phase, to hand in the Race phase (R)."""
    player = s.player[s.active]
    s.money = int(s.money) - _price(s, t, kind)
    s.market -= 1
    s.market_taken += 1
    if kind == GOLD:
        s.gold_pile -= 1
    else:
        take_from_supply(s, kind)
    if s.race:
        put_in_hand(player, kind, np.bool_(True))
    else:
        put_on_discard(player, kind)
    count_card(t, player, kind, 1)
    push_trait(s, t, ON_ACQUIRING, kind, NOT_OWN)


@leaf
def _operate(s, t, operation):
    city = t.city[int(s.player[s.active].city) - 1]
    s.energy = int(s.energy) - int(city.operation_cost[operation])
    s.op_used[operation] = 1
    s.ops_used += 1
    push(s, city.operation[operation], OF_CITY, NOT_OWN, ON_OPERATION + operation)


# ---------------------------------------------------------------- the end of the turn


@leaf
def _clean_up(s, t):
    """End the turn: hand and play area are discarded without triggers (ruling R18) and a new hand is drawn (R).

    Everything else is lost.
    """
    player = s.player[s.active]
    for kind in range(NUM_KINDS):
        player.discard[kind] += player.hand[kind] + player.play[kind]
        player.concealed[kind] -= player.hand[kind]
        player.hand[kind] = 0
        player.play[kind] = 0
    player.discard_size += player.hand_size + player.play_size
    player.hand_size = 0
    player.play_size = 0
    forget_all(player)
    s.energy = 0
    s.money = 0
    s.market = 0
    s.discount = 0
    player.turns += 1
    s.decisions_before = s.decisions
    draw_hand(s, t, s.player[s.active])


@helper
def next_turn(s, t):
    """Go to the next player clockwise.

    The round is over when the first player is to move again. After the last round the game is over.
    """
    seat = int(s.active) + 1
    if seat == s.num_players:
        seat = 0
    if seat == s.first:
        s.rounds += 1
        if s.rounds == s.max_rounds:
            s.end_reason = ROUNDS
            s.end = TERMINATED
            s.node = OVER
            return
    begin_turn(s, t, seat)
