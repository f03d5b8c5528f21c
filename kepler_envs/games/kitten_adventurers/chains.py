"""Chains: own cards that, played one after the other, make a ladder ready for a card."""

from __future__ import annotations

from kepler_envs.engine.bits import bit_count
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kitten_adventurers.actions import PASS, PLAY_HAND, PLAY_LANE
from kepler_envs.games.kitten_adventurers.state import HYPERSPEED, NUM_LANES, NUM_TYPES

NO_CHAIN = -1
START_BITS = 4
"""A chain is its first value plus its hyperspeed cards shifted by so many bits."""


@helper
def best_chain(s, player, goal):
    """The chain to the value ``goal`` with the fewest hyperspeed cards, of these the shortest, or NO_CHAIN."""
    own = _own_cards(player)
    limit = min(_chain_limit(player), NUM_TYPES)
    best = NO_CHAIN
    start = goal
    while start > 0:
        start -= 1
        start -= int(s.missing[start])  # the next lower value that can be played
        lacking = ((1 << goal) - (1 << start)) & ~own
        if bit_count(lacking) >= limit:
            break  # a longer one lacks no less
        cost = _chain_cost(player, start, goal)
        if cost < limit:
            best, limit = start + (cost << START_BITS), cost
    return best


@leaf
def may_have_chain(player, goal, missing):
    """False where the nearest ladder alone, ``missing`` cards away, needs more than the seat has: a quick look, without branches."""
    span = ((1 << goal + 1) - (1 << goal + 1 - missing)) >> 1
    return (missing > 0) & (bit_count(span & ~_own_cards(player)) < _chain_limit(player))


@leaf
def _own_cards(player):
    """The set of types in the hand and among the top three cards of each lane."""
    return _lane_cards(player) | int(player.hand_set)


@leaf
def _chain_limit(player):
    """More hyperspeed cards than the seat can play; many if there is one in a lane."""
    return int(player.hand[HYPERSPEED]) + 1 + NUM_TYPES * (_lane_cards(player) >> HYPERSPEED & 1)


@leaf
def _lane_cards(player):
    return int(player.lane_set[0]) | int(player.lane_set[1]) | int(player.lane_set[2]) | int(player.lane_set[3])


@leaf
def chain_start(chain):
    """The value that is played first."""
    return chain & (1 << START_BITS) - 1


@leaf
def chain_hyperspeeds(chain):
    """How many hyperspeed cards it takes."""
    return chain >> START_BITS


@leaf
def _chain_cost(player, start, goal):
    """Hyperspeeds needed for all values ``start .. goal - 1``; NUM_TYPES if the seat lacks cards."""
    taken = 0  # cards taken from each lane, two bits a lane
    from_hand = 0  # hyperspeeds taken from the hand
    total = 0
    hand = int(player.hand_set)
    for value in range(start, goal):
        if hand >> value & 1:
            continue
        source = _source(player, taken, from_hand, value)
        if source == PASS:
            return NUM_TYPES
        if source >= PLAY_LANE:
            lane = source - PLAY_LANE
            total += _lane_card(player, lane, taken) == HYPERSPEED
            taken += 1 << 2 * lane
        else:
            total += 1
            from_hand += 1
    return total


@leaf
def source_of(player, value):
    """The id that plays a card for ``value``: itself from hand or lane, a hyperspeed from lane or hand; PASS if there is none."""
    if player.hand[value] > 0:
        return PLAY_HAND + value
    return _source(player, 0, 0, value)


@leaf
def _source(player, taken, from_hand, value):
    """The same for a value that is not in the hand, when some cards are taken already."""
    wild = PASS
    for lane in range(NUM_LANES):
        card = _lane_card(player, lane, taken)
        if card == value:
            return PLAY_LANE + lane
        if card == HYPERSPEED:
            wild = PLAY_LANE + lane
    if wild == PASS and player.hand[HYPERSPEED] > from_hand:
        wild = PLAY_HAND + HYPERSPEED
    return wild


@leaf
def _lane_card(player, lane, taken):
    """The card on top of a lane when ``taken`` cards are gone; -1 for none, and below the third."""
    stack = player.lane[lane]
    gone = taken >> 2 * lane & 3
    if gone == 0:
        return int(stack.top) - 1
    if gone == 1:
        return int(stack.second) - 1
    if gone == 2:
        return int(stack.third) - 1
    return -1
