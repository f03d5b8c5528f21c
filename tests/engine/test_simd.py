"""The vector forms write what the portable forms write, and nothing beside it."""

from __future__ import annotations

from collections.abc import Callable

import numba
import numpy as np
import pytest

from kepler_envs.engine import simd
from kepler_envs.engine.kernel import JIT_ENABLED, helper

SIZES = [1, 2, 3, 7, 8, 14, 31, 34, 40, 64, 67]
GUARD = 9  # entries around a row that must stay as they are

pytestmark = pytest.mark.skipif(not JIT_ENABLED, reason="without the compiler there are only the portable forms")


def record_of(size: int, item: str, other: str | None = None) -> np.ndarray:
    dtype = np.dtype([("filler", "i1"), ("row", item, (size,)), ("minus", other or item, (size,))], align=True)
    return np.zeros(2, dtype)


def random_row(size: int, item: str, seed: int) -> np.ndarray:
    limits = np.iinfo(item)
    return np.random.default_rng(seed).integers(limits.min // 2, limits.max // 2, size, endpoint=True).astype(item)


@pytest.mark.parametrize(
    "size, item, out_item",
    [(size, "i1", "i2") for size in SIZES]
    + [(size, item, out_item) for size in (1, 14, 67) for item, out_item in (("i2", "i2"), ("i1", "i4"))],
)
def test_rows(size: int, item: str, out_item: str) -> None:
    @helper
    def write(records, out, place, difference):
        if difference:
            simd.write_difference(out, place, records[1].row, records[1].minus)
        else:
            simd.write_row(out, place, records[1].row)

    records = record_of(size, item)
    records["row"][1], records["minus"][1] = random_row(size, item, size), random_row(size, item, size + 1)
    for difference in (False, True):
        out = np.arange(size + 2 * GUARD).astype(out_item)
        expected = out.copy()
        write(records, out, GUARD, difference)
        if difference:
            simd.write_difference_portable(expected, GUARD, records[1]["row"], records[1]["minus"])
        else:
            simd.write_row_portable(expected, GUARD, records[1]["row"])
        assert np.array_equal(out, expected)
        assert np.array_equal(out[:GUARD], np.arange(GUARD)) and np.array_equal(
            out[-GUARD:], np.arange(size + GUARD, size + 2 * GUARD)
        )


@pytest.mark.parametrize("size", SIZES + [120])
def test_rooms(size: int) -> None:
    """Turning, making a gap and closing it reach no further than the middle third, whatever lies beside it."""

    @helper
    def turn(records, out, place, first, count):
        simd.write_turned(out, place, records[1].row, first, count)

    @helper
    def insert(records, place):
        simd.insert_item(records[1].row, place, 77)

    @helper
    def remove(records, place):
        simd.remove_item(records[1].row, place)

    random = np.random.default_rng(size)
    for _ in range(20):
        records, row = record_of(3 * size, "i1"), random_row(3 * size, "i1", int(random.integers(1000)))
        count = int(random.integers(size + 1))
        first = int(random.integers(count + 1))
        out = np.arange(size + 2 * GUARD).astype("i2")
        expected = out.copy()
        records["row"][1] = row
        turn(records, out, GUARD, first, count)
        simd.write_turned_portable(expected, GUARD, row, first, count)
        assert np.array_equal(out, expected)
        used = row[size : size + count].tolist()
        assert out[GUARD : GUARD + size].tolist() == used[first:] + used[:first] + [0] * (size - count)
        place = int(random.integers(size))
        insert(records, place)
        simd.insert_item_portable(row, place, 77)
        assert np.array_equal(records["row"][1], row) and row[size + place] == 77
        remove(records, place)
        simd.remove_item_portable(row, place)
        assert np.array_equal(records["row"][1], row) and row[2 * size - 1] == 0


@pytest.mark.parametrize("count", [size for size in SIZES if size <= 64] + [51, 63])
def test_bits_and_bytes(count: int) -> None:
    @helper
    def expand(out, place, word):
        simd.expand_bits(out, place, word, count)

    @helper
    def pack(mask, place):
        return simd.pack_bits(mask, place, count)

    random = np.random.default_rng(count)
    for word in [0, 1, 2**64 - 1, 1 << (count - 1), *(int(random.integers(0, 2**63)) * 2 + 1 for _ in range(20))]:
        out = np.full(count + 2 * GUARD, 7, np.int8)
        expected = out.copy()
        expand(out, GUARD, np.uint64(word))
        simd.expand_bits_portable(expected, GUARD, np.uint64(word), count)
        assert np.array_equal(out, expected)
        assert out[GUARD : GUARD + count].tolist() == [word >> index & 1 for index in range(count)]
        assert (out[:GUARD] == 7).all() and (out[GUARD + count :] == 7).all()
        assert int(pack(out, GUARD)) == int(simd.pack_bits_portable(out, GUARD, count)) == word % 2**count


def refuse(function: Callable[..., None], message: str, *arguments: object) -> None:
    with pytest.raises((TypeError, numba.TypingError), match=message):
        numba.njit(function)(*arguments)


def test_rows_that_do_not_fit() -> None:
    """Unsigned rows, rows wider than the output, and pairs of different rows are refused when compiling."""

    def write(records, out):
        simd.write_row(out, 0, records[0].row)

    def subtract(records, out):
        simd.write_difference(out, 0, records[0].row, records[0].minus)

    out = np.zeros(40, np.int16)
    refuse(write, "must be a one-dimensional signed field of a record", record_of(4, "u1"), out)
    refuse(write, "a row of int32 does not fit an array of int16", record_of(4, "i4"), out)
    refuse(subtract, "rows differ", record_of(4, "i1", "i2"), out)

    def expand(out, count):
        simd.expand_bits(out, 0, np.uint64(1), count + out[0])

    refuse(expand, "count must be a constant", np.zeros(9, np.int8), 3)
