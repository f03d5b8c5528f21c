"""Chains: own cards that, played one after the other, make a ladder ready for a card."""

from __future__ import annotations

from kepler_envs.engine.bits import bit_count, lowest
from kepler_envs.engine.kernel import leaf
from kepler_envs.games.kitten_adventurers.actions import PLAY_HAND, PLAY_LANE
from kepler_envs.games.kitten_adventurers.state import HYPERSPEED, NUM_TYPES

NO_CHAIN = -1
SOURCE_SHIFT, COST_SHIFT = 4, 9
"""A chain is a number: from the lowest bit on its first value, the id that plays that, its hyperspeed cards."""

LANE_BITS, LANE_FIELD = 16, 255
EACH_LANE, EVEN_FIELDS = 0x0001_0001_0001_0001, 0x0000_00FF_0000_00FF
LANE_WILDS = 7 << HYPERSPEED | 7 << 16 + HYPERSPEED  # of the sets of two lanes


@leaf
def best_chain(s, player, goal):
    """The chain to the value ``goal`` with the fewest hyperspeed cards, or NO_CHAIN.

    Of several, it is the shortest.
    """
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
        best = start if cost < limit else best
        limit = min(cost, limit)
        if (start == 0) | (limit == 0):  # mostly so: one branch, which is easily foretold
            break
    chain = best + (_source_of(player, max(best, 0)) << SOURCE_SHIFT) + (limit << COST_SHIFT)
    return chain if best >= 0 else NO_CHAIN


@leaf
def may_have_chain(player, goal, missing):
    """A quick look, without branches, that is False if there is surely no chain.

    That is so if the nearest ladder alone, ``missing`` cards away, needs more than the seat has.
    """
    span = ((1 << goal + 1) - (1 << goal + 1 - missing)) >> 1
    return (missing > 0) & (bit_count(span & ~_own_cards(player)) < _chain_limit(player))


@leaf
def _own_cards(player):
    """The set of values in the hand, and of those among the top three cards of each lane that a chain can reach."""
    both = int(player.lane_set_pairs[0]) | int(player.lane_set_pairs[1])
    return both >> 16 | both | int(player.hand_set)


@leaf
def _chain_limit(player):
    """A number larger than the hyperspeed cards that the seat can play."""
    lanes = int(player.lane_set_pairs[0]) & LANE_WILDS | (int(player.lane_set_pairs[1]) & LANE_WILDS) >> 8
    return int(player.hand[HYPERSPEED]) + 1 + bit_count(lanes)


@leaf
def chain_start(chain):
    """The value that is played first."""
    return chain & (1 << SOURCE_SHIFT) - 1


@leaf
def chain_hyperspeeds(chain):
    """The number of hyperspeed cards it takes. It is -1 for no chain."""
    return chain >> COST_SHIFT


@leaf
def chain_source(chain):
    """The id that plays its first value. For no chain it is none that plays a card."""
    return chain >> SOURCE_SHIFT & (1 << COST_SHIFT - SOURCE_SHIFT) - 1


@leaf
def _chain_cost(player, start, goal):
    """The number of hyperspeed cards needed for all values ``start .. goal - 1``, or NUM_TYPES if the seat lacks cards.

    Values that the hand lacks are looked at two at a time, which mostly covers all of them. What is done for one has no
    branches.
    """
    needed = ((1 << goal) - (1 << start)) & ~int(player.hand_set)
    even, odd = _even_lanes(player), _odd_lanes(player)
    top, second, third = _row_of_lanes(even, odd, 8), _row_of_lanes(even, odd, 16), _row_of_lanes(even, odd, 24)
    left = int(player.hand[HYPERSPEED])
    total = 0
    while True:
        for _ in range(2):
            lacks = int(needed != 0)
            own = _lanes_with(top, lowest(needed) + 1 & 15)
            needed &= needed - 1
            lane = _lane_taken(own, _lanes_with(top, HYPERSPEED + 1)) & -lacks
            total += lacks & int(own == 0)
            left -= lacks & int(lane == 0)
            taken = lane * LANE_FIELD
            top ^= (top ^ second) & taken
            second ^= (second ^ third) & taken
            third &= ~taken
        if (needed == 0) | (left < 0):
            return total if left >= 0 else NUM_TYPES


@leaf
def _source_of(player, value):
    """The id that plays a card for ``value``: the card itself from hand or lane, else a hyperspeed card.

    The hyperspeed card comes from a lane if there is one.
    """
    top = _row_of_lanes(_even_lanes(player), _odd_lanes(player), 8)
    lane = _lane_taken(_lanes_with(top, value + 1), _lanes_with(top, HYPERSPEED + 1))
    number = (lane >> LANE_BITS & 1) + (lane >> 2 * LANE_BITS & 1) * 2 + (lane >> 3 * LANE_BITS & 1) * 3
    source = PLAY_LANE + number if lane > 0 else PLAY_HAND + HYPERSPEED
    return PLAY_HAND + value if int(player.hand_set) >> value & 1 else source


# Sets of lanes, and a card field for each lane, are numbers with LANE_BITS bits for each of the four.


@leaf
def _even_lanes(player):
    return int(player.lane_words[0]) | int(player.lane_words[2]) << 2 * LANE_BITS


@leaf
def _odd_lanes(player):
    return int(player.lane_words[1]) | int(player.lane_words[3]) << 2 * LANE_BITS


@leaf
def _row_of_lanes(even, odd, shift):
    """The cards that lie ``shift`` bits up in the words of the lanes: 8 the top ones, 16 those below, 24 the third."""
    return even >> shift & EVEN_FIELDS | (odd >> shift & EVEN_FIELDS) << LANE_BITS


@leaf
def _lanes_with(fields, field):
    """The set of lanes with that card field. Where nothing differs, the fifth bit stays."""
    return EACH_LANE * 16 - (fields ^ field * EACH_LANE) >> 4 & EACH_LANE


@leaf
def _lane_taken(own, wild):
    """The lane that is taken, as a set of one or none.

    It is the first of those with the card itself, else the last of those with a hyperspeed card.
    """
    below = wild >> LANE_BITS | wild >> 2 * LANE_BITS | wild >> 3 * LANE_BITS
    return own & -own if own > 0 else wild & ~below
