"""Copying rows of a state into an observation, and bit sets into byte masks, a vector register at a time.

LLVM unrolls loops of constant length into scalar moves before it would vectorise them, and an observation is little
else than such loops (measured on 352 entries: 45 ns against 10). So the copies are spelled out as vector operations
here. Each has a portable form with the same meaning, which runs where vectors are not for us: uncompiled, and on other
targets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from kepler_envs.engine.kernel import JIT_ENABLED

LANES = (32, 16, 8, 4, 2, 1)


def write_row_portable(out: Any, place: Any, row: Any) -> None:
    """``out[place + i] = row[i]`` for the whole row; ``row`` may be narrower than ``out``."""
    for i in range(row.size):
        out[place + i] = row[i]


def write_difference_portable(out: Any, place: Any, row: Any, minus: Any) -> None:
    """``out[place + i] = row[i] - minus[i]`` for the whole row; the differences must fit the rows' type."""
    for i in range(row.size):
        out[place + i] = row[i] - minus[i]


def write_largest_portable(out: Any, place: Any, one: Any, two: Any, three: Any, four: Any) -> None:
    """``out[place + i]`` = the largest of the i-th items of four rows, for the whole rows."""
    for i in range(one.size):
        out[place + i] = max(one[i], two[i], three[i], four[i])


def write_turned_portable(out: Any, place: Any, room: Any, first: Any, count: Any) -> None:
    """The middle third of ``room``, of which ``count`` items are in use, from its item ``first`` on, round to there,
    then 0.

    The other two thirds are read as well, whatever they are, and make no difference.
    """
    size = room.size // 3
    for i in range(size):
        out[place + i] = 0 if i >= count else room[size + first + i - (count if first + i >= count else 0)]


def insert_item_portable(room: Any, place: Any, item: Any) -> None:
    """Put ``item`` at ``place`` of the middle third of ``room``; those from there on move up, and the last is lost."""
    size = room.size // 3
    for i in range(2 * size - 1, size + place, -1):
        room[i] = room[i - 1]
    room[size + place] = item


def remove_item_portable(room: Any, place: Any) -> None:
    """Take the item at ``place`` out of the middle third of ``room``; those behind it move down, and the last is 0."""
    size = room.size // 3
    for i in range(size + place, 2 * size - 1):
        room[i] = room[i + 1]
    room[2 * size - 1] = 0


def expand_bits_portable(out: Any, place: Any, bits: Any, count: int) -> None:
    """``out[place + i] = bit i of bits`` for ``count`` (a constant, at most 64) bits."""
    for i in range(count):
        out[place + i] = (bits >> np.uint64(i)) & np.uint64(1)


def pack_bits_portable(mask: Any, place: Any, count: int) -> Any:
    """The inverse: a word with bit i set where ``mask[place + i]`` is not 0, for ``count`` (at most 64) bytes."""
    bits = np.uint64(0)
    for i in range(count):
        if mask[place + i] != 0:
            bits |= np.uint64(1) << np.uint64(i)
    return bits


def _chunks(count: int) -> list[tuple[int, int]]:
    """(start, lanes) pieces of a row of ``count`` items, as wide as there is room for; the last one overlaps the one
    before rather than being narrow."""
    lanes = next(lanes for lanes in LANES if lanes <= count)
    return [(min(start, count - lanes), lanes) for start in range(0, count, lanes)]


def _pointer(builder: Any, data: Any, start: Any, item: Any, lanes: int) -> Any:
    at = builder.gep(data, [start])
    return builder.bitcast(at, ir.VectorType(item, lanes).as_pointer())


def _load(context: Any, builder: Any, kind: Any, value: Any, start: int, lanes: int) -> Any:
    item = context.get_data_type(kind.dtype)
    data = context.make_array(kind)(context, builder, value).data
    at = _pointer(builder, data, ir.Constant(ir.IntType(64), start), item, lanes)
    return builder.load(at, align=1)


def _store(context: Any, builder: Any, kind: Any, value: Any, place: Any, start: int, vector: Any) -> None:
    item = context.get_data_type(kind.dtype)
    lanes = vector.type.count
    data = context.make_array(kind)(context, builder, value).data
    where = builder.add(place, ir.Constant(place.type, start))
    if vector.type.element.width < item.width:
        vector = builder.sext(vector, ir.VectorType(item, lanes))
    builder.store(vector, _pointer(builder, data, where, item, lanes), align=1)


def _splat(builder: Any, value: Any, lanes: int) -> Any:
    vector = ir.VectorType(value.type, lanes)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)


def _places(start: int, lanes: int) -> Any:
    return ir.Constant(ir.VectorType(ir.IntType(16), lanes), list(range(start, start + lanes)))


def _move(context: Any, builder: Any, room: Any, value: Any, place: Any, step: int, last_moved: str) -> Any:
    """Items of the middle third at whose places ``last_moved`` compares with ``place`` come from ``step`` further; the
    third's pointer."""
    item, word = context.get_data_type(room.dtype), ir.IntType(64)
    size = room.shape[0] // 3
    data = builder.gep(context.make_array(room)(context, builder, value).data, [ir.Constant(word, size)])
    limit = builder.trunc(place, ir.IntType(16))
    moved = []
    for start, lanes in _chunks(size):
        here, there = (
            builder.load(_pointer(builder, data, ir.Constant(word, start + more), item, lanes), align=1)
            for more in (0, step)
        )
        does_move = builder.icmp_signed(last_moved, _places(start, lanes), _splat(builder, limit, lanes))
        moved.append((start, lanes, builder.select(does_move, there, here)))
    for start, lanes, vector in moved:
        builder.store(vector, _pointer(builder, data, ir.Constant(word, start), item, lanes), align=1)
    return data


def _check_room(room: Any) -> None:
    _check_rows(room, room)
    if room.shape[0] % 3 or room.shape[0] // 3 >= 2**15:
        raise TypeError(f"the row must have three equal parts, not {room}")


def _check_rows(out: Any, *rows: Any) -> None:
    for row in rows:
        if not isinstance(row, types.NestedArray) or row.ndim != 1 or not row.dtype.signed:
            raise TypeError(f"a row must be a one-dimensional signed field of a record, not {row}")
        if row.dtype.bitwidth > out.dtype.bitwidth:
            raise TypeError(f"a row of {row.dtype} does not fit an array of {out.dtype}")


if not JIT_ENABLED:
    write_row, write_difference, write_largest = write_row_portable, write_difference_portable, write_largest_portable
    write_turned = write_turned_portable
    insert_item, remove_item = insert_item_portable, remove_item_portable
    expand_bits, pack_bits = expand_bits_portable, pack_bits_portable
else:

    @intrinsic
    def write_row(typingctx, out, place, row):
        _check_rows(out, row)

        def codegen(context, builder, signature, args):
            out_value, place_value, row_value = args
            for start, lanes in _chunks(row.shape[0]):
                vector = _load(context, builder, row, row_value, start, lanes)
                _store(context, builder, out, out_value, place_value, start, vector)
            return context.get_dummy_value()

        return types.void(out, types.intp, row), codegen

    @intrinsic
    def write_difference(typingctx, out, place, row, minus):
        _check_rows(out, row, minus)
        if row.shape != minus.shape or row.dtype != minus.dtype:
            raise TypeError(f"rows differ: {row} and {minus}")

        def codegen(context, builder, signature, args):
            out_value, place_value, row_value, minus_value = args
            for start, lanes in _chunks(row.shape[0]):
                vector = builder.sub(
                    _load(context, builder, row, row_value, start, lanes),
                    _load(context, builder, minus, minus_value, start, lanes),
                )
                _store(context, builder, out, out_value, place_value, start, vector)
            return context.get_dummy_value()

        return types.void(out, types.intp, row, minus), codegen

    @intrinsic
    def write_largest(typingctx, out, place, one, two, three, four):
        rows = (one, two, three, four)
        _check_rows(out, *rows)
        if any((row.shape, row.dtype) != (one.shape, one.dtype) for row in rows):
            raise TypeError(f"rows differ: {rows}")

        def codegen(context, builder, signature, args):
            out_value, place_value, *values = args
            for start, lanes in _chunks(one.shape[0]):
                vectors = [_load(context, builder, one, value, start, lanes) for value in values]
                largest = vectors[0]
                for vector in vectors[1:]:
                    largest = builder.select(builder.icmp_signed(">", vector, largest), vector, largest)
                _store(context, builder, out, out_value, place_value, start, largest)
            return context.get_dummy_value()

        return types.void(out, types.intp, one, two, three, four), codegen

    @intrinsic
    def write_turned(typingctx, out, place, room, first, count):
        _check_rows(out, room)
        _check_room(room)

        def codegen(context, builder, signature, args):
            out_value, place_value, room_value, first_value, count_value = args
            data = context.make_array(room)(context, builder, room_value).data
            item, word, short = context.get_data_type(room.dtype), ir.IntType(64), ir.IntType(16)
            size = room.shape[0] // 3
            from_first = builder.add(first_value, ir.Constant(word, size))
            from_start = builder.sub(from_first, count_value)
            limits = [builder.trunc(value, short) for value in (builder.sub(count_value, first_value), count_value)]
            for start, lanes in _chunks(size):
                places = _places(start, lanes)
                parts = []
                for begin in (from_first, from_start):
                    at = builder.add(begin, ir.Constant(word, start))
                    parts.append(builder.load(_pointer(builder, data, at, item, lanes), align=1))
                in_first, in_use = (builder.icmp_signed("<", places, _splat(builder, value, lanes)) for value in limits)
                vector = builder.select(in_first, *parts)
                vector = builder.select(in_use, vector, ir.Constant(vector.type, [0] * lanes))
                _store(context, builder, out, out_value, place_value, start, vector)
            return context.get_dummy_value()

        return types.void(out, types.intp, room, types.intp, types.intp), codegen

    @intrinsic
    def insert_item(typingctx, room, place, item):
        _check_room(room)

        def codegen(context, builder, signature, args):
            room_value, place_value, item_value = args
            data = _move(context, builder, room, room_value, place_value, -1, ">")
            kind = context.get_data_type(room.dtype)
            builder.store(builder.trunc(item_value, kind), builder.gep(data, [place_value]))
            return context.get_dummy_value()

        return types.void(room, types.intp, types.int64), codegen

    @intrinsic
    def remove_item(typingctx, room, place):
        _check_room(room)

        def codegen(context, builder, signature, args):
            room_value, place_value = args
            data = _move(context, builder, room, room_value, place_value, 1, ">=")
            last = ir.Constant(ir.IntType(64), room.shape[0] // 3 - 1)
            builder.store(ir.Constant(context.get_data_type(room.dtype), 0), builder.gep(data, [last]))
            return context.get_dummy_value()

        return types.void(room, types.intp), codegen

    @intrinsic(prefer_literal=True)
    def expand_bits(typingctx, out, place, bits, count):
        if not isinstance(count, types.IntegerLiteral):
            raise TypeError("count must be a constant")
        size = count.literal_value

        def codegen(context, builder, signature, args):
            out_value, place_value, bits_value, _ = args
            flags = builder.bitcast(bits_value, ir.VectorType(ir.IntType(1), 64))
            item = context.get_data_type(out.dtype)
            every = builder.zext(flags, ir.VectorType(item, 64))
            for start, lanes in _chunks(size):
                pick = ir.Constant(ir.VectorType(ir.IntType(32), lanes), list(range(start, start + lanes)))
                part = builder.shuffle_vector(every, ir.Constant(every.type, ir.Undefined), pick)
                _store(context, builder, out, out_value, place_value, start, part)
            return context.get_dummy_value()

        return types.void(out, types.intp, types.uint64, count), codegen

    @intrinsic(prefer_literal=True)
    def pack_bits(typingctx, mask, place, count):
        if not isinstance(count, types.IntegerLiteral):
            raise TypeError("count must be a constant")
        size = count.literal_value

        def codegen(context, builder, signature, args):
            mask_value, place_value, _ = args
            item = context.get_data_type(mask.dtype)
            data = context.make_array(mask)(context, builder, mask_value).data
            word = ir.IntType(64)
            bits = ir.Constant(word, 0)
            for start, lanes in _chunks(size):
                where = builder.add(place_value, ir.Constant(place_value.type, start))
                part = builder.load(_pointer(builder, data, where, item, lanes), align=1)
                is_set = builder.icmp_unsigned("!=", part, ir.Constant(part.type, [0] * lanes))
                packed = builder.zext(builder.bitcast(is_set, ir.IntType(lanes)), word)
                bits = builder.or_(bits, builder.shl(packed, ir.Constant(word, start)))
            return bits

        return types.uint64(mask, types.intp, count), codegen
