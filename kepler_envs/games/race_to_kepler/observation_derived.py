"""What a player works out at the table: the derived fields of an observation. They are all 0 before."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import bit_count, lowest, without_lowest
from kepler_envs.engine.kernel import leaf
from kepler_envs.engine.simd import expand_bits, write_row
from kepler_envs.games.race_to_kepler.estimates import MOST_WORTH
from kepler_envs.games.race_to_kepler.observation_layout import (
    ACQUIRABLE,
    ACTION,
    BEST,
    BID,
    CHOICE,
    COUNTS,
    DERIVED_PLAYER_SIZE,
    DERIVED_PLAYERS,
    MOST_VALUE,
    OPTION_SIZE,
    OPTIONS,
    REPLAY,
    REST,
    REST_SIZE,
    TO_PLAY,
    WORTH,
)
from kepler_envs.games.race_to_kepler.rules_cards import kinds_in, seat_at
from kepler_envs.games.race_to_kepler.rules_effects import NOTHING
from kepler_envs.games.race_to_kepler.rules_encounter import BID_BONUS
from kepler_envs.games.race_to_kepler.rules_turn import acquirable_kinds
from kepler_envs.games.race_to_kepler.state import (
    NUM_KINDS,
    NUM_OPERATIONS,
)
from kepler_envs.games.race_to_kepler.worths import best_operations, counted_worth, option_worth, usable_worth


@leaf
def derive(s, t, seat, n, out):
    """Write what is not 0."""
    if s.node == BID:
        for distance in range(n):
            strength = min(_strength(s, t, seat_at(seat, distance, n), distance), MOST_VALUE)
            out[DERIVED_PLAYERS + DERIVED_PLAYER_SIZE * distance + 3] = strength
    elif seat == s.active and ACTION <= s.node <= REPLAY:
        _derive_turn(s, t, out)
    for level in range(int(s.depth)):
        write_row(out, REST + REST_SIZE * level, t.program[s.frame[level].at].rest)
    if s.node == CHOICE:
        choice = t.program[s.frame[int(s.depth) - 1].at]
        place = OPTIONS
        for option in range(int(choice.amount)):
            if seat == s.active:
                out[place] = min(option_worth(s, t, choice, option), MOST_WORTH)
            write_row(out, place + 1, t.program[choice.target[option]].rest)
            place += OPTION_SIZE


@leaf
def _strength(s, t, seat, distance):
    """What a player can bid with hand and bid.

    The observer's own cards count by their values. Of others, it is the share of the concealed cards that is in hand or
    bid.
    """
    player = s.player[seat]
    city = t.city[int(player.city) - 1]
    bonus = int(city.parameter) if city.hook == BID_BONUS else 0
    value, cards = 0, 0
    for kind in range(NUM_KINDS):
        count = int(player.concealed[kind]) if distance > 0 else int(player.hand[kind]) + int(player.bid[kind])
        value += count * int(t.card[kind].bid_value)
        cards += count
    held = int(player.hand_size) + int(player.bid_size)
    if held == 0:
        return 0
    return bonus + (value * held // cards if distance > 0 else value)


@leaf
def _derive_turn(s, t, out):
    """Write, for the player whose turn it is, cards in hand, what can be bought, and the operations."""
    own = s.player[s.active]
    city = t.city[int(own.city) - 1]
    hand = kinds_in(own.hand)
    out[TO_PLAY] = bit_count(hand & np.uint64(t.played_early))
    counting = hand & np.uint64(t.counting)
    while counting != NOTHING:
        kind = lowest(counting)
        counting = without_lowest(counting)
        out[COUNTS + kind] = min(counted_worth(s, t, kind), MOST_WORTH)
    if s.node != ACTION:
        return
    kinds = acquirable_kinds(s, t, city)
    if kinds != NOTHING:
        expand_bits(out, ACQUIRABLE, kinds, NUM_KINDS)
    if s.energy < city.least_cost:
        return
    one = two = three = four = 0
    for operation in range(NUM_OPERATIONS):  # one call, which is copied to here
        worth = max(usable_worth(s, t, city, operation), 0)
        one = worth if operation == 0 else one
        two = worth if operation == 1 else two
        three = worth if operation == 2 else three
        four = worth if operation == 3 else four
    if max(one, two, three, four) == 0:
        return
    out[WORTH] = min(one, MOST_WORTH)
    out[WORTH + 1] = min(two, MOST_WORTH)
    out[WORTH + 2] = min(three, MOST_WORTH)
    out[WORTH + 3] = min(four, MOST_WORTH)
    expand_bits(out, BEST, np.uint64(best_operations(s, city, one, two, three, four)), NUM_OPERATIONS)
