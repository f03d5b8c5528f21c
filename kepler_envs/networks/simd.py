"""Sums of weights, a few vector registers at a time.

Rows of a network are short, and most sums are over few of them: LLVM would spend more time on asking whether two arrays
overlap than on adding. So the additions are spelled out as vector operations here, with sums that stay in registers.
Each has a portable form with the same meaning, which runs uncompiled. LANES stands for how many numbers are handled at
once, a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from kepler_envs.engine.kernel import JIT_ENABLED

REGISTER = 16
"""Numbers that are one vector here."""
BLOCK = 6
"""Positions whose dense products are computed together: each weight is loaded once for all of them. Their sums fill 12
of the 16 registers of AVX2; the weights and a factor need three. With more, sums would go through memory."""


def sum_rows_portable(
    out: Any, place: Any, source: Any, start: Any, weights: Any, begin: Any, stride: Any, rows: Any, times: Any,
    first: Any,
    last: Any, lanes: int,
) -> None:  # fmt: skip
    """``out[place:] = source[start:] + the sum over first <= i < last of times[i] * weights[begin + stride *
    rows[i]:]``, LANES of each."""
    total = np.array(source[start : start + lanes])
    for i in range(first, last):
        at = begin + stride * int(rows[i])
        total += times[i] * weights[at : at + lanes]
    out[place : place + lanes] = total


def add_row_portable(out: Any, place: Any, row: Any, begin: Any, lanes: int) -> None:
    """``out[place:] += row[begin:]``, LANES of each."""
    out[place : place + lanes] += row[begin : begin + lanes]


def add_times_portable(out: Any, place: Any, factor: Any, row: Any, begin: Any, lanes: int) -> None:
    """``out[place:] += factor * row[begin:]``, LANES of each."""
    out[place : place + lanes] += factor * row[begin : begin + lanes]


def add_product_portable(out: Any, place: Any, a: Any, a_begin: Any, b: Any, b_begin: Any, lanes: int) -> None:
    """``out[place:] += a[a_begin:] * b[b_begin:]``, LANES of each."""
    out[place : place + lanes] += a[a_begin : a_begin + lanes] * b[b_begin : b_begin + lanes]


def add_where_positive_portable(out: Any, place: Any, row: Any, begin: Any, gate: Any, at: Any, lanes: int) -> None:
    """``out[place:] += row[begin:]`` where ``gate[at:]`` is above 0, LANES of each."""
    out[place : place + lanes] += row[begin : begin + lanes] * (gate[at : at + lanes] > 0)


def keep_where_positive_portable(out: Any, place: Any, gate: Any, at: Any, lanes: int) -> None:
    """``out[place:] = 0`` where ``gate[at:]`` is not above 0, LANES of each."""
    out[place : place + lanes][~(gate[at : at + lanes] > 0)] = 0


def mean_positive_portable(
    out: Any, place: Any, rows: Any, begin: Any, stride: Any, first: Any, last: Any, lanes: int
) -> None:
    """``out[place:] = the mean over first <= i < last of max(rows[begin + stride * i:], 0)``, LANES of each."""
    total = np.zeros(lanes, np.float32)
    for i in range(first, last):
        at = begin + stride * i
        total += np.maximum(rows[at : at + lanes], np.float32(0))
    out[place : place + lanes] = total * (np.float32(1) / np.float32(last - first))


def spread_row_portable(
    out: Any, begin: Any, stride: Any, rows: Any, times: Any, first: Any, last: Any, source: Any, start: Any, lanes: int
) -> None:
    """``out[begin + stride * rows[i]:] += times[i] * source[start:]`` for first <= i < last, LANES of each."""
    for i in range(first, last):
        at = begin + stride * int(rows[i])
        out[at : at + lanes] += times[i] * source[start : start + lanes]


def block_products_portable(
    out: Any,
    place: Any,
    left: Any,
    begin: Any,
    stride: Any,
    inner: Any,
    weights: Any,
    weights_begin: Any,
    width: Any,
    lanes: int,
) -> None:
    """For BLOCK rows r, ``stride`` apart: ``out[place + r:] += the sum over k < inner of left[begin + r + k] *
    weights[weights_begin + width * k:]``, LANES of each."""
    for row in range(BLOCK):
        to, of = place + row * stride, begin + row * stride
        total = np.array(out[to : to + lanes])
        for k in range(inner):
            at = weights_begin + width * k
            total += left[of + k] * weights[at : at + lanes]
        out[to : to + lanes] = total


def dot_portable(a: Any, a_begin: Any, b: Any, b_begin: Any, vectors: Any) -> Any:
    """The sum of ``a[a_begin + i] * b[b_begin + i]`` over so many vectors of REGISTER numbers."""
    total = np.zeros(REGISTER, np.float32)
    for i in range(0, REGISTER * vectors, REGISTER):
        total += a[a_begin + i : a_begin + i + REGISTER] * b[b_begin + i : b_begin + i + REGISTER]
    while total.size > 1:
        total = total[: total.size // 2] + total[total.size // 2 :]
    return total[0]


FLOATS = ir.VectorType(ir.FloatType(), REGISTER)
WORD = ir.IntType(64)


def _data(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return context.make_array(kind)(context, builder, value).data


def _vector_at(builder: Any, data: Any, place: Any, number: int) -> Any:
    where = builder.add(place, ir.Constant(WORD, number * REGISTER))
    return builder.bitcast(builder.gep(data, [where]), FLOATS.as_pointer())


def _source(context: Any, builder: Any, signature: Any, args: Any, number: int) -> tuple[Any, Any]:
    """The data of an argument that is an array, and where to begin in it: the argument behind."""
    return _data(context, builder, signature.args[number], args[number]), args[number + 1]


def _update(
    context: Any,
    builder: Any,
    to: tuple[Any, Any],
    sources: Sequence[tuple[Any, Any]],
    registers: int,
    new: Callable[..., Any],
) -> Any:
    """Registers of ``to`` become what ``new`` makes of them and of those of the sources."""
    for number in range(registers):
        where = _vector_at(builder, *to, number)
        parts = [builder.load(_vector_at(builder, *source, number), align=4) for source in (to, *sources)]
        builder.store(new(*parts), where, align=4)
    return context.get_dummy_value()


def _splat(builder: Any, value: Any) -> Any:
    one = builder.insert_element(ir.Constant(FLOATS, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(
        one, ir.Constant(FLOATS, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), REGISTER), [0] * REGISTER)
    )


def _zeros() -> Any:
    return ir.Constant(FLOATS, [0.0] * REGISTER)


def _sums(builder: Any, begin_with: list[Any]) -> list[Any]:
    """Variables that become registers."""
    sums = [cgutils.alloca_once(builder, FLOATS) for _ in begin_with]
    for one, value in zip(sums, begin_with, strict=True):
        builder.store(value, one)
    return sums


def _add_to(builder: Any, variable: Any, value: Any) -> None:
    builder.store(builder.fadd(builder.load(variable), value), variable)


def _product_and(builder: Any, one: Any, other: Any, more: Any) -> Any:
    """``one * other + more``, rounded once: on every machine to the same number, and one instruction on those of the
    last ten years."""
    kind = ir.FunctionType(FLOATS, [FLOATS] * 3)
    return builder.call(
        cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{REGISTER}f32"), [one, other, more]
    )


def _add_product_to(builder: Any, variable: Any, one: Any, other: Any) -> None:
    builder.store(_product_and(builder, one, other, builder.load(variable)), variable)


def _reduced(builder: Any, vector: Any) -> Any:
    """The sum of a register's numbers, of halves again and again."""
    lanes = REGISTER
    while lanes > 1:
        lanes //= 2
        halves = [
            builder.shuffle_vector(
                vector,
                ir.Constant(vector.type, ir.Undefined),
                ir.Constant(ir.VectorType(ir.IntType(32), lanes), list(range(first, first + lanes))),
            )
            for first in (0, lanes)
        ]
        vector = builder.fadd(*halves)
    return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))


def _literal(lanes: Any) -> int:
    if not isinstance(lanes, types.IntegerLiteral) or lanes.literal_value % REGISTER:
        raise TypeError(f"lanes must be a constant, a multiple of {REGISTER}")
    return lanes.literal_value // REGISTER


sum_rows: Callable[..., Any]
add_row: Callable[..., Any]
add_times: Callable[..., Any]
add_product: Callable[..., Any]
add_where_positive: Callable[..., Any]
keep_where_positive: Callable[..., Any]
mean_positive: Callable[..., Any]
spread_row: Callable[..., Any]
block_products: Callable[..., Any]
dot: Callable[..., Any]

if not JIT_ENABLED:
    sum_rows, add_row, add_times, add_product = (
        sum_rows_portable, add_row_portable, add_times_portable, add_product_portable,
    )  # fmt: skip
    block_products, keep_where_positive = block_products_portable, keep_where_positive_portable
    add_where_positive, mean_positive, spread_row, dot = (
        add_where_positive_portable, mean_positive_portable, spread_row_portable, dot_portable,
    )  # fmt: skip
else:

    @intrinsic(prefer_literal=True)
    def sum_rows(typingctx, out, place, source, start, weights, begin, stride, rows, times, first, last, lanes):
        registers = _literal(lanes)
        word = types.int64

        def codegen(context, builder, signature, args):
            out_, place_, source_, start_, weights_, begin_, stride_, rows_, times_, first_, last_, _ = args
            kinds = signature.args
            to, given = (_data(context, builder, kinds[k], args[k]) for k in (0, 2))
            matrix, numbers, factors = (_data(context, builder, kinds[k], args[k]) for k in (4, 7, 8))
            at = [_vector_at(builder, given, start_, number) for number in range(registers)]
            sums = _sums(builder, [builder.load(one, align=4) for one in at])
            with cgutils.for_range_slice(builder, first_, last_, ir.Constant(WORD, 1), WORD) as (i, _):
                row = builder.sext(builder.load(builder.gep(numbers, [i])), WORD)
                where = builder.add(begin_, builder.mul(row, stride_))
                factor = _splat(builder, builder.load(builder.gep(factors, [i])))
                for number, one in enumerate(sums):
                    part = builder.load(_vector_at(builder, matrix, where, number), align=4)
                    _add_product_to(builder, one, factor, part)
            for number, one in enumerate(sums):
                builder.store(builder.load(one), _vector_at(builder, to, place_, number), align=4)
            return context.get_dummy_value()

        return types.void(out, word, source, word, weights, word, word, rows, times, word, word, lanes), codegen

    @intrinsic(prefer_literal=True)
    def add_row(typingctx, out, place, row, begin, lanes):
        registers = _literal(lanes)

        def codegen(context, builder, signature, args):
            sources = [_source(context, builder, signature, args, 2)]
            to = _source(context, builder, signature, args, 0)
            return _update(context, builder, to, sources, registers, builder.fadd)

        return types.void(out, types.int64, row, types.int64, lanes), codegen

    @intrinsic(prefer_literal=True)
    def add_times(typingctx, out, place, factor, row, begin, lanes):
        registers = _literal(lanes)

        def codegen(context, builder, signature, args):
            times = _splat(builder, args[2])
            sources = [_source(context, builder, signature, args, 3)]
            to = _source(context, builder, signature, args, 0)
            return _update(
                context, builder, to, sources, registers, lambda old, part: _product_and(builder, times, part, old)
            )

        return types.void(out, types.int64, types.float32, row, types.int64, lanes), codegen

    @intrinsic(prefer_literal=True)
    def add_product(typingctx, out, place, a, a_begin, b, b_begin, lanes):
        registers = _literal(lanes)

        def codegen(context, builder, signature, args):
            sources = [_source(context, builder, signature, args, place) for place in (2, 4)]
            to = _source(context, builder, signature, args, 0)
            return _update(
                context, builder, to, sources, registers, lambda old, one, other: _product_and(builder, one, other, old)
            )

        return types.void(out, types.int64, a, types.int64, b, types.int64, lanes), codegen

    @intrinsic(prefer_literal=True)
    def add_where_positive(typingctx, out, place, row, begin, gate, at, lanes):
        registers = _literal(lanes)

        def codegen(context, builder, signature, args):
            def gated(old: Any, part: Any, decides: Any) -> Any:
                positive = builder.fcmp_ordered(">", decides, _zeros())
                return builder.fadd(old, builder.select(positive, part, _zeros()))

            sources = [_source(context, builder, signature, args, place) for place in (2, 4)]
            to = _source(context, builder, signature, args, 0)
            return _update(context, builder, to, sources, registers, gated)

        return types.void(out, types.int64, row, types.int64, gate, types.int64, lanes), codegen

    @intrinsic(prefer_literal=True)
    def keep_where_positive(typingctx, out, place, gate, at, lanes):
        registers = _literal(lanes)

        def codegen(context, builder, signature, args):
            def gated(old: Any, decides: Any) -> Any:
                return builder.select(builder.fcmp_ordered(">", decides, _zeros()), old, _zeros())

            sources = [_source(context, builder, signature, args, 2)]
            to = _source(context, builder, signature, args, 0)
            return _update(context, builder, to, sources, registers, gated)

        return types.void(out, types.int64, gate, types.int64, lanes), codegen

    @intrinsic(prefer_literal=True)
    def mean_positive(typingctx, out, place, rows, begin, stride, first, last, lanes):
        registers = _literal(lanes)
        word = types.int64

        def codegen(context, builder, signature, args):
            _, place_, _, begin_, stride_, first_, last_, _ = args
            to, given = (_data(context, builder, signature.args[k], args[k]) for k in (0, 2))
            sums = _sums(builder, [_zeros()] * registers)
            with cgutils.for_range_slice(builder, first_, last_, ir.Constant(WORD, 1), WORD) as (i, _):
                where = builder.add(begin_, builder.mul(i, stride_))
                for number, one in enumerate(sums):
                    part = builder.load(_vector_at(builder, given, where, number), align=4)
                    positive = builder.fcmp_ordered(">", part, _zeros())
                    _add_to(builder, one, builder.select(positive, part, _zeros()))
            count = builder.sitofp(builder.sub(last_, first_), ir.FloatType())
            share = _splat(builder, builder.fdiv(ir.Constant(ir.FloatType(), 1.0), count))
            for number, one in enumerate(sums):
                mean = builder.fmul(builder.load(one), share)
                builder.store(mean, _vector_at(builder, to, place_, number), align=4)
            return context.get_dummy_value()

        return types.void(out, word, rows, word, word, word, word, lanes), codegen

    @intrinsic(prefer_literal=True)
    def spread_row(typingctx, out, begin, stride, rows, times, first, last, source, start, lanes):
        registers = _literal(lanes)
        word = types.int64

        def codegen(context, builder, signature, args):
            _, begin_, stride_, _, _, first_, last_, _, start_, _ = args
            to, numbers, factors, given = (_data(context, builder, signature.args[k], args[k]) for k in (0, 3, 4, 7))
            parts = [builder.load(_vector_at(builder, given, start_, number), align=4) for number in range(registers)]
            with cgutils.for_range_slice(builder, first_, last_, ir.Constant(WORD, 1), WORD) as (i, _):
                row = builder.sext(builder.load(builder.gep(numbers, [i])), WORD)
                at = builder.add(begin_, builder.mul(row, stride_))
                factor = _splat(builder, builder.load(builder.gep(factors, [i])))
                for number, part in enumerate(parts):
                    where = _vector_at(builder, to, at, number)
                    builder.store(_product_and(builder, factor, part, builder.load(where, align=4)), where, align=4)
            return context.get_dummy_value()

        return types.void(out, word, word, rows, times, word, word, source, word, lanes), codegen

    @intrinsic(prefer_literal=True)
    def block_products(typingctx, out, place, left, begin, stride, inner, weights, weights_begin, width, lanes):
        if _literal(lanes) != 1:
            raise TypeError(f"lanes must be {REGISTER}")
        word = types.int64

        def codegen(context, builder, signature, args):
            _, place_, _, begin_, stride_, inner_, _, weights_begin_, width_, _ = args
            to, given, matrix = (_data(context, builder, signature.args[k], args[k]) for k in (0, 2, 6))
            further = [builder.mul(ir.Constant(WORD, row), stride_) for row in range(BLOCK)]
            places = [_vector_at(builder, to, builder.add(place_, far), 0) for far in further]
            sums = _sums(builder, [builder.load(one, align=4) for one in places])
            zero, one_more = ir.Constant(WORD, 0), ir.Constant(WORD, 1)
            with cgutils.for_range_slice(builder, zero, inner_, one_more, WORD) as (k, _):
                where = builder.add(weights_begin_, builder.mul(k, width_))
                its = builder.load(_vector_at(builder, matrix, where, 0), align=4)
                for far, total in zip(further, sums, strict=True):
                    factor = builder.load(builder.gep(given, [builder.add(builder.add(begin_, far), k)]))
                    _add_product_to(builder, total, _splat(builder, factor), its)
            for one, total in zip(places, sums, strict=True):
                builder.store(builder.load(total), one, align=4)
            return context.get_dummy_value()

        return types.void(out, word, left, word, word, word, weights, word, word, lanes), codegen

    @intrinsic
    def dot(typingctx, a, a_begin, b, b_begin, vectors):
        word = types.int64

        def codegen(context, builder, signature, args):
            one, other = (_data(context, builder, signature.args[k], args[k]) for k in (0, 2))
            (total,) = _sums(builder, [_zeros()])
            zero, step = ir.Constant(WORD, 0), ir.Constant(WORD, REGISTER)
            stop = builder.mul(args[4], step)
            with cgutils.for_range_slice(builder, zero, stop, step, WORD) as (i, _):
                left = builder.load(_vector_at(builder, one, builder.add(args[1], i), 0), align=4)
                right = builder.load(_vector_at(builder, other, builder.add(args[3], i), 0), align=4)
                _add_product_to(builder, total, left, right)
            return _reduced(builder, builder.load(total))

        return types.float32(a, word, b, word, word), codegen
