"""Greedy play of Kitten Adventurers.

It does the first of these that it can:

1. Play the quest card.
2. Play the first card of a chain that makes a ladder ready for the quest card. It takes the chain with the fewest
    hyperspeed cards.
3. Play a card onto a ladder: one from the hand, which is replaced by a new one, or else one from a lane.
4. End the turn with the card it will miss least, in the lane where that card is least in the way.

It keeps hyperspeed cards for the quest. Some variants were of no use or did harm, in 20,000 games or more each with 2,
4 and 7 players: holding back cards that prepare the next player's quest card, spending hyperspeed cards to empty the
hand, and playing other cards before a chain.
"""

from __future__ import annotations

from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kitten_adventurers.actions import (
    AS_VALUE,
    END_WITH,
    PASS,
    PLAY_HAND,
    PLAY_LANE,
    PLAY_QUEST,
    TO_LANE,
)
from kepler_envs.games.kitten_adventurers.chains import NO_CHAIN, best_chain, chain_source, chain_start
from kepler_envs.games.kitten_adventurers.state import HYPERSPEED, LADDER_LENGTH, NUM_LANES, NUM_TYPES, Node

VERSION = 1
"""Goes up whenever a choice changes, so that records say which greedy played."""

VALUE, LANE = int(Node.VALUE), int(Node.LANE)
NEVER = -1_000_000

# How good it is to end the turn with a card. Only differences matter.
KEEP_HYPERSPEED = -100
KEEP_FOR_QUEST = -15  # it can raise the nearest ladder towards the quest card
DUPLICATE = 30  # another of its kind stays in the hand
# How good it is to put it in a lane, by the top card there.
ON_HYPERSPEED = -80
ON_LOWER = -20
ON_SAME_OR_NEXT = 5
ON_HIGHER = -3  # per step


@helper
def policy(s, t, mask, count, generator):
    """The choice of the active seat, from its own cards and what lies open."""
    player = s.player[s.seat]
    node = int(s.node)
    if node == VALUE:
        return AS_VALUE + _value_for_hyperspeed(s, player)
    if node == LANE:
        return TO_LANE + _best_lane(player, int(s.pending_card) - 1)
    quest = int(player.quest_top) - 1
    if quest == HYPERSPEED or _fits(s, quest):
        return PLAY_QUEST
    chain = best_chain(s, player, quest)
    if chain != NO_CHAIN:
        return chain_source(chain)
    for value in range(LADDER_LENGTH):
        if _fits(s, value) and player.hand[value] > 0:
            return PLAY_HAND + value
    for lane in range(NUM_LANES):
        card = int(player.lane[lane].top) - 1
        if 0 <= card < LADDER_LENGTH and _fits(s, card):
            return PLAY_LANE + lane
    if player.hand_count == 0:
        return PASS
    return END_WITH + _card_to_end_with(s, player, quest)


@leaf
def _fits(s, value):
    """Whether a card of this value can be played."""
    return int(s.fits) >> value & 1 == 1


@leaf
def _value_for_hyperspeed(s, player):
    """The value to play a hyperspeed card as: the next one of the chain.

    For one from the quest pile, or without a chain, it is the highest that the hand does not hold itself.
    """
    if s.pending_source - 1 != PLAY_QUEST:
        chain = best_chain(s, player, int(player.quest_top) - 1)
        if chain != NO_CHAIN:
            return chain_start(chain)
    highest = 0
    for value in range(LADDER_LENGTH):
        if _fits(s, value) and player.hand[value] == 0:
            highest = value
    return highest


# ---------------------------------------------------------------- the end of the turn


@leaf
def _card_to_end_with(s, player, quest):
    """The card in the hand that will be missed least, given the room in the lanes."""
    nearest = quest - int(s.missing[quest])
    best, best_worth = 0, NEVER
    for card in range(NUM_TYPES):
        if player.hand[card] == 0:
            continue
        worth = _lane_worth(player, _best_lane(player, card), card)
        if card == HYPERSPEED:
            worth += KEEP_HYPERSPEED
        if nearest <= card < quest:
            worth += KEEP_FOR_QUEST
        if player.hand[card] > 1:
            worth += DUPLICATE
        if worth > best_worth:
            best, best_worth = card, worth
    return best


@helper
def _best_lane(player, card):
    """The lane for a card; of the empty lanes only the first may be chosen."""
    best, best_worth = 0, NEVER
    for lane in range(NUM_LANES):
        worth = _lane_worth(player, lane, card)
        if worth > best_worth:
            best, best_worth = lane, worth
    return best


@leaf
def _lane_worth(player, lane, card):
    top = int(player.lane[lane].top) - 1
    if top < 0:
        return 0
    if top == HYPERSPEED:
        return ON_HYPERSPEED
    if top < card:
        return ON_LOWER
    if top <= card + 1:
        return ON_SAME_OR_NEXT
    return ON_HIGHER * (top - card)
