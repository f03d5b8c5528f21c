"""What lies on the board as each seat sees it, kept as the observation shows it: few things change with a decision.

Positions are absolute in the rules. To a seat its own start planet comes first of all start planets, then those of the
others clockwise: that order has the rows of its view, and the ids of actions.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import bit, bit_count, has, lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.ad_astra.state import (
    CARD_DOWN,
    CARD_UP,
    COLONY,
    EMPTY,
    FACE_DOWN,
    FACE_UP,
    FACTORY,
    FIRST_START,
    MAX_PAWNS,
    MAX_PLAYERS,
    NUM_CARDS,
    NUM_POSITIONS,
    NUM_SPACES,
    NUM_STARS,
    NUM_SYSTEMS,
    NUM_TYPES,
    SLOTS,
)

NOTHING = np.uint64(0)

SYSTEM_SET = np.array(
    [((1 << SLOTS) - 1) << SLOTS * system for system in range(NUM_STARS)] + [((1 << MAX_PLAYERS) - 1) << FIRST_START],
    np.uint64,
)
"""The positions of each system."""
AROUND_STARS = np.uint64((1 << FIRST_START) - 1)
"""The positions that are no start planets."""


# ---------------------------------------------------------------- seats and rows


@leaf
def seat_in_row(s, seat, distance):
    """The seat that many places clockwise. Where nobody sits, it is an absent one."""
    n = int(s.num_players)
    other = seat + distance
    return other - n if n <= other < seat + n else other if distance < n else distance


@leaf
def seat_after(s, seat, distance):
    """The seat ``distance`` (at most the number of players) places clockwise of ``seat``."""
    following = seat + distance
    n = int(s.num_players)
    return following - n if following >= n else following


@leaf
def distance_to(s, seat, other):
    """The number of places clockwise from a seat to another one."""
    distance = other - seat
    return distance if distance >= 0 else distance + int(s.num_players)


@leaf
def _row_of(s, seat, position):
    """The row of a position for a seat."""
    if position < FIRST_START:
        return position
    return FIRST_START + distance_to(s, seat, position - FIRST_START)


@leaf
def position_of(s, seat, row):
    """The position in a row: the inverse of :func:`_row_of`."""
    if row < FIRST_START:
        return row
    return FIRST_START + seat_after(s, seat, row - FIRST_START)


@leaf
def rows_of(s, seat, positions):
    """The rows of a set of positions."""
    starts = positions >> np.uint64(FIRST_START)
    starts = starts >> np.uint64(seat) | starts << np.uint64(int(s.num_players) - seat)
    starts &= (np.uint64(1) << np.uint64(s.num_players)) - np.uint64(1)
    return (positions & AROUND_STARS) | starts << np.uint64(FIRST_START)


# ---------------------------------------------------------------- planets


@leaf
def face_down(s):
    """Positions of face-down planets."""
    return s.planets & ~s.face_up


@leaf
def _type_of(s, position):
    """The type of the planet at a position."""
    kind = 0
    while not has(s.of_type[kind], position):
        kind += 1
    return kind


@helper
def lay_out(s):
    """Prepare the views once the planets lie on their positions: only the start planets are face up or known."""
    for position in range(NUM_POSITIONS):
        if has(s.planets, position):
            s.planet_at[position] = FACE_DOWN
    for system in range(NUM_SYSTEMS):
        s.face_down_in[system] = bit_count(s.planets & SYSTEM_SET[system])
    for seat in range(int(s.num_players)):
        for kind in range(NUM_TYPES):
            s.player[seat].unseen[kind] = bit_count(s.of_type[kind])
    for seat in range(int(s.num_players)):
        turn_up(s, FIRST_START + seat)


@helper
def look_at(s, seat, positions):
    """Let a seat see these face-down planets."""
    player = s.player[seat]
    left = positions & ~player.known
    player.known |= positions
    while left != NOTHING:
        _show_type(s, seat, lowest(left))
        left = without_lowest(left)
    _follow_known(s, seat)


@leaf
def _show_type(s, seat, position):
    kind = _type_of(s, position)
    s.player[seat].type_at[_row_of(s, seat, position)] = kind + 1
    s.player[seat].unseen[kind] -= 1


@leaf
def _follow_known(s, seat):
    looked_at = 0
    for system in range(NUM_STARS):
        if s.player[seat].known & SYSTEM_SET[system]:
            looked_at |= 1 << system
    s.player[seat].looked_at = looked_at


@helper
def turn_up(s, position):
    """Turn a face-down planet up, for all to see."""
    s.face_up |= bit(position)
    s.planet_at[position] = FACE_UP
    s.face_down_in[position // SLOTS] -= 1
    for seat in range(int(s.num_players)):
        player = s.player[seat]
        if has(player.known, position):
            player.known &= ~bit(position)
            _follow_known(s, seat)
        else:
            _show_type(s, seat, position)


@helper
def show_redrawn_types(s, seat, positions):
    """Show the new types of these face-down planets to a seat that has seen them."""
    player = s.player[seat]
    left = positions & player.known
    while left != NOTHING:
        player.type_at[lowest(left)] = _type_of(s, lowest(left)) + 1
        left = without_lowest(left)
    for kind in range(NUM_TYPES):
        player.unseen[kind] = bit_count(s.of_type[kind] & face_down(s) & ~player.known)


# ---------------------------------------------------------------- pawns


@helper
def show_pawns(s, seat, position):
    """Show a change of a seat's pawns on a position."""
    player = s.player[seat]
    starships = 0
    for ship in range(MAX_PAWNS):
        starships += player.ship[ship] == position + 1
    s.starships_at[position] = starships
    s.building_at[position] = COLONY * has(player.colonies, position) + FACTORY * has(player.factories, position)
    s.terraformer_at[position] = has(player.terraformers, position)
    present = has(player.pawns, position)
    for other in range(int(s.num_players)):
        label = distance_to(s, other, seat) + 1 if present else 0
        s.player[other].owner_at[_row_of(s, other, position)] = label


# ---------------------------------------------------------------- action cards


@leaf
def clear_spaces(s, spaces):
    """Empty the spaces. The first ``spaces`` are in use."""
    for space in range(NUM_SPACES):
        s.on_space[space] = EMPTY if space < spaces else 0
    for seat in range(int(s.num_players)):
        player = s.player[seat]
        for space in range(NUM_SPACES):
            player.owner_on[space] = 0
            player.card_on[space] = 0
        for card in range(NUM_CARDS):
            player.space_of[card] = 0


@leaf
def show_placed_card(s, space):
    """Show whose card lies on a space. Only its owner sees which card it is."""
    owner = int(s.space_owner[space]) - 1
    s.on_space[space] = CARD_DOWN
    for seat in range(int(s.num_players)):
        s.player[seat].owner_on[space] = distance_to(s, seat, owner) + 1
    show_own_card(s, owner, space)


@leaf
def show_own_card(s, owner, space):
    card = int(s.space_card[space])
    s.player[owner].card_on[space] = card
    s.player[owner].space_of[card - 1] = space + 1


@leaf
def show_revealed_card(s, space):
    s.on_space[space] = CARD_UP
    for seat in range(int(s.num_players)):
        s.player[seat].card_on[space] = s.space_card[space]
