"""The grid of the map, and sets of its hexes.

22 x 19 pointy-top hexes, odd rows shifted right by half a hex ("odd-r"); hex ``22 * row + column``. A set of hexes is a
tuple of seven 64-bit words, hex h being bit ``h % 64`` of word ``h // 64``; states and tables keep such words as
fields. All neighbours of a set are found with a few shifts, which makes a search over the map a handful of instructions
per step.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kepler_envs.engine.bits import allow_word, bit, bit_count, has, lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf

WIDTH, HEIGHT = 22, 19
NUM_HEXES = WIDTH * HEIGHT
WORDS = (NUM_HEXES + 63) // 64

NOTHING = np.uint64(0)
_64 = 64

DIRECTIONS = ("E", "NE", "NW", "W", "SW", "SE")
AXIAL_STEPS = ((1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1), (0, 1))


# ---------------------------------------------------------------- in Python: for tables, pictures and tests


def axial(hex_id: int) -> tuple[int, int]:
    """The axial coordinates (q, r) of a hex."""
    row, column = divmod(hex_id, WIDTH)
    return column - (row - (row & 1)) // 2, row


def hex_at(q: int, r: int) -> int | None:
    """The hex with these axial coordinates, or None off the map."""
    column = q + (r - (r & 1)) // 2
    return WIDTH * r + column if 0 <= r < HEIGHT and 0 <= column < WIDTH else None


def distance(one: int, other: int) -> int:
    """The number of steps between two hexes, whatever lies between them."""
    dq, dr = (a - b for a, b in zip(axial(one), axial(other), strict=True))
    return (abs(dq) + abs(dr) + abs(dq + dr)) // 2


def distances() -> np.ndarray:
    """The number of steps between all pairs of hexes, int8 (NUM_HEXES, NUM_HEXES)."""
    q, r = np.array([axial(hex_id) for hex_id in range(NUM_HEXES)]).T
    across, down = q[:, None] - q, r[:, None] - r
    return ((abs(across) + abs(down) + abs(across + down)) // 2).astype(np.int8)


def neighbour_ids(hex_id: int) -> list[int]:
    """The up to six neighbours, in the order of DIRECTIONS."""
    q, r = axial(hex_id)
    found = (hex_at(q + dq, r + dr) for dq, dr in AXIAL_STEPS)
    return [there for there in found if there is not None]


def as_words(hexes: Iterable[int]) -> np.ndarray:
    """A set of hexes as a field's words, uint64 (WORDS,)."""
    whole = sum(1 << there for there in set(hexes))
    return np.array([whole >> 64 * word & (1 << 64) - 1 for word in range(WORDS)], np.uint64)


def as_hexes(words: Iterable[int]) -> set[int]:
    """The members of a field's words."""
    return {64 * number + place for number, word in enumerate(words) for place in range(64) if int(word) >> place & 1}


ALL = as_words(range(NUM_HEXES))
EVEN_ROWS = as_words(h for h in range(NUM_HEXES) if h // WIDTH % 2 == 0)
ODD_ROWS = ALL & ~EVEN_ROWS
NOT_FIRST_COLUMN = as_words(h for h in range(NUM_HEXES) if h % WIDTH > 0)
NOT_LAST_COLUMN = as_words(h for h in range(NUM_HEXES) if h % WIDTH < WIDTH - 1)


# ---------------------------------------------------------------- compiled: sets


@leaf
def members(field):
    """The set that a field of seven words holds."""
    return field[0], field[1], field[2], field[3], field[4], field[5], field[6]


@leaf
def single(hex_id):
    """The set of one hex."""
    place = bit(hex_id & 63)
    word = hex_id >> 6
    return (
        place if word == 0 else NOTHING, place if word == 1 else NOTHING, place if word == 2 else NOTHING,
        place if word == 3 else NOTHING, place if word == 4 else NOTHING, place if word == 5 else NOTHING,
        place if word == 6 else NOTHING,
    )  # fmt: skip


@leaf
def union(a, b):
    return a[0] | b[0], a[1] | b[1], a[2] | b[2], a[3] | b[3], a[4] | b[4], a[5] | b[5], a[6] | b[6]


@leaf
def common(a, b):
    """The hexes in both sets."""
    return a[0] & b[0], a[1] & b[1], a[2] & b[2], a[3] & b[3], a[4] & b[4], a[5] & b[5], a[6] & b[6]


@leaf
def without(a, b):
    """The hexes of the first set that are not in the second."""
    return a[0] & ~b[0], a[1] & ~b[1], a[2] & ~b[2], a[3] & ~b[3], a[4] & ~b[4], a[5] & ~b[5], a[6] & ~b[6]


@leaf
def is_empty(a):
    return (a[0] | a[1] | a[2] | a[3] | a[4] | a[5] | a[6]) == NOTHING


@leaf
def size(a):
    """The number of hexes in a set."""
    return (
        bit_count(a[0]) + bit_count(a[1]) + bit_count(a[2]) + bit_count(a[3])
        + bit_count(a[4]) + bit_count(a[5]) + bit_count(a[6])
    )  # fmt: skip


@leaf
def _up(a, count):
    """Raise every hex number by ``count`` (1..63)."""
    left, right = np.uint64(count), np.uint64(_64 - count)
    return (
        a[0] << left, a[1] << left | a[0] >> right, a[2] << left | a[1] >> right, a[3] << left | a[2] >> right,
        a[4] << left | a[3] >> right, a[5] << left | a[4] >> right, a[6] << left | a[5] >> right,
    )  # fmt: skip


@leaf
def _down(a, count):
    """Lower every hex number by ``count`` (1..63)."""
    right, left = np.uint64(count), np.uint64(_64 - count)
    return (
        a[0] >> right | a[1] << left, a[1] >> right | a[2] << left, a[2] >> right | a[3] << left,
        a[3] >> right | a[4] << left, a[4] >> right | a[5] << left, a[5] >> right | a[6] << left, a[6] >> right,
    )  # fmt: skip


@helper
def neighbours(a):
    """All neighbours of the hexes of a set. A hex of the set is among them only as a neighbour of another one."""
    east = _up(common(a, members(NOT_LAST_COLUMN)), 1)
    west = _down(common(a, members(NOT_FIRST_COLUMN)), 1)
    # the two hexes above (and below) hex c of an even row are c - 1 and c, those of an odd row c and c + 1
    beside = union(common(west, members(EVEN_ROWS)), common(east, members(ODD_ROWS)))
    vertical = union(a, beside)
    above_and_below = union(_down(vertical, WIDTH), common(_up(vertical, WIDTH), members(ALL)))
    return union(union(east, west), above_and_below)


# ---------------------------------------------------------------- compiled: fields


@leaf
def includes(field, hex_id):
    """Return 1 if the hex is in the set that a field holds, else 0."""
    return has(field[hex_id >> 6], hex_id & 63)


@leaf
def put_in(field, hex_id):
    field[hex_id >> 6] |= bit(hex_id & 63)


@leaf
def take_out(field, hex_id):
    field[hex_id >> 6] &= ~bit(hex_id & 63)


@helper
def nth_member(a, number):
    """The member of a set that has ``number`` smaller ones before it."""
    first = 0
    word = a[0]
    count = bit_count(word)
    while number >= count:
        number -= count
        first += 64
        word = a[first >> 6]
        count = bit_count(word)
    for _ in range(number):
        word = without_lowest(word)
    return first + lowest(word)


@helper
def allow_hexes(mask, first, a):
    """Add the ids ``first + hex`` of a set to a legal set."""
    allow_word(mask, first, a[0])
    allow_word(mask, first + 64, a[1])
    allow_word(mask, first + 128, a[2])
    allow_word(mask, first + 192, a[3])
    allow_word(mask, first + 256, a[4])
    allow_word(mask, first + 320, a[5])
    allow_word(mask, first + 384, a[6])
