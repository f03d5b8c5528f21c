"""A network of an observation's tables, in compiled code: what it says of a few positions at a time.

Most entries of an observation are 0, and few actions are legal. Only the entries that are not 0 are added up, only legal actions get a
logit, and of a fixed table only those rows are finished that legal actions point at: a small part of the dense products. Each position is
computed by itself, in a fixed order: the answer does not depend on what else is asked at the same time.

Rows of all tables are numbered through: those in the vector first, then those of fixed tables. What is computed is said in
:mod:`kepler_envs.engine.network`; here labels of 0 and scales are part of the weights already (``compiled.py``).
"""

from __future__ import annotations

from functools import cache
from math import exp
from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.engine.kernel import Scope, array_of, helper, kernel, leaf

SCOPE = Scope("network", Path(__file__).parent)

FLOAT = np.dtype(np.float32)
WHOLE = np.dtype(np.int32)
NOWHERE = -1
"""In place of an array of weights: there is none."""


def _record(*names: str) -> np.dtype:
    return np.dtype([(name, WHOLE) for name in names], align=True)


NETWORK = _record(
    "width",  # outputs H of the first layer
    "widest",  # outputs of the widest layer
    "rows",  # numbers R that are said of a row
    "in_vector", "fixed",  # rows of tables in the vector, and of fixed tables
    "pooled",  # how many tables add their mean to the first layer
    "policy_layers",  # how many of the layers are the policy's; those of the value follow
    "bias", "wide",  # of the first layer: H, and a row of H for each input of the vector
    "alone",  # what is said of each row whatever the vector holds, (all rows, R)
    "pool",  # (pooled * R, H)
    "actions", "action_biases", "values", "value_biases",  # (A, F), A, (P, F), P, with F outputs of the last layer
)  # fmt: skip
"""A network's sizes, and where its arrays begin in the flat one."""

INPUT = _record("kind", "wide", "row")
"""What an entry that is not 0 adds: the row of ``wide``, and the row among those of its table."""
NUMBER, SIGN, LABEL = 0, 1, 2
"""Kinds of inputs. NUMBER: times its row. SIGN: its sign times the row. LABEL: the row of the label, counted from that of 0."""

TABLE = _record("first", "rows", "encoder", "pooled")
"""A table in the vector: its first row; where its encoder begins, NOWHERE if its rows are not looked at; its number among the pooled."""

JOIN = _record("of", "fixed", "to", "to_bias", "back", "back_bias")
"""References to a table whose first row is ``of``. A bias that is NOWHERE: nobody wants to know. ``to`` of a fixed table: what each of its
rows adds. ``back`` NOWHERE: the bias alone is added."""

REFERENCE = _record("entry", "row", "join")
"""An entry of the vector that refers to a row, in ``row``."""

LAYER = _record("inputs", "outputs", "weights", "biases")
"""A dense layer, and where its weights (inputs by outputs) and biases begin."""

HEAD = _record("first", "last", "axes", "context", "bias", "factors", "out")
"""A block's actions, from ``first`` up to ``last``, and how many rows each points at; ``context`` (F, R), R, (axes, R), R."""


@leaf
def _add(out, times, weights):
    """``out += times * weights``."""
    for unit in range(out.size):
        out[unit] += times * weights[unit]


@leaf
def _add_four(out, a, first, b, second, c, third, d, fourth):
    """Four at once: ``out`` is read and written once."""
    for unit in range(out.size):
        out[unit] += (a * first[unit] + b * second[unit]) + (c * third[unit] + d * fourth[unit])


@leaf
def _row(numbers, begin, row, width):
    first = begin + int(row) * width
    return numbers[first : first + width]


@leaf
def _add_rows(out, numbers, begin, rows, times, first, last):
    """Add the rows ``rows[first:last]``, each so many times, of the matrix that begins there."""
    width = out.size
    i = first
    while i + 4 <= last:
        _add_four(
            out,
            times[i], _row(numbers, begin, rows[i], width),
            times[i + 1], _row(numbers, begin, rows[i + 1], width),
            times[i + 2], _row(numbers, begin, rows[i + 2], width),
            times[i + 3], _row(numbers, begin, rows[i + 3], width),
        )  # fmt: skip
        i += 4
    while i < last:
        _add(out, times[i], _row(numbers, begin, rows[i], width))
        i += 1


@leaf
def _dot(weights, units):
    """Eight sums side by side: one alone would wait for itself."""
    a, b, c, d = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
    e, f, g, h = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
    width = units.size
    unit = 0
    while unit + 8 <= width:
        a += weights[unit] * units[unit]
        b += weights[unit + 1] * units[unit + 1]
        c += weights[unit + 2] * units[unit + 2]
        d += weights[unit + 3] * units[unit + 3]
        e += weights[unit + 4] * units[unit + 4]
        f += weights[unit + 5] * units[unit + 5]
        g += weights[unit + 6] * units[unit + 6]
        h += weights[unit + 7] * units[unit + 7]
        unit += 8
    while unit < width:
        a += weights[unit] * units[unit]
        unit += 1
    return ((a + e) + (c + g)) + ((b + f) + (d + h))


@leaf
def _rectify(units):
    for unit in range(units.size):
        units[unit] = max(units[unit], np.float32(0.0))


@leaf
def _list_positive(units, offset, rows, times, listed):
    """Append the units above 0 to a list of rows (``offset`` + number) and times; its new length."""
    for unit in range(units.size):
        rows[listed] = offset + unit
        times[listed] = units[unit]
        listed += units[unit] > 0.0
    return listed


# ---------------------------------------------------------------- the vector


@leaf
def _list_inputs(x, entries, row_begins, inputs, begins, found, wide_rows, rows, times):
    """The inputs that are not 0, row by row: ``begins[r]`` to ``begins[r + 1]`` are those of row r. Their number."""
    count = 0
    for row in range(row_begins.size - 1):
        begins[row] = count
        for i in range(row_begins[row], row_begins[row + 1]):
            found[count] = i  # overwritten by the next one if this is 0: no branch to guess
            count += x[entries[i]] != 0
    begins[row_begins.size - 1] = count
    for k in range(count):
        i = int(found[k])
        value = x[entries[i]]
        one = inputs[i]
        label = int(value) if one.kind == LABEL else 0
        sign = np.float32(1.0) if one.kind == LABEL or value > 0 else np.float32(-1.0)
        wide_rows[k] = one.wide + label
        rows[k] = one.row + label
        times[k] = np.float32(value) if one.kind == NUMBER else sign
    return count


# ---------------------------------------------------------------- rows by themselves


@leaf
def _encode_rows(tables, numbers, alone, width, begins, rows, times, q):
    """What each row in the vector says by itself."""
    for i in range(tables.size):
        table = tables[i]
        if table.encoder == NOWHERE:
            continue
        for row in range(table.first, table.first + table.rows):
            out = q[row]
            out[:] = _row(numbers, alone, row, width)
            _add_rows(out, numbers, int(table.encoder), rows, times, int(begins[row]), int(begins[row + 1]))


@helper
def _add_joined(numbers, weights, bias, row, begins, rows, times, out):
    """Add what the row, as it is referred to or refers, says of another one."""
    _add(out, np.float32(1.0), numbers[bias : bias + out.size])
    if weights != NOWHERE:
        _add_rows(out, numbers, weights, rows, times, int(begins[row]), int(begins[row + 1]))


@leaf
def _join_rows(x, references, joins, numbers, in_vector, begins, rows, times, q, latest, earlier):
    """Show rows in the vector the rows they refer to and are referred to by; list who refers to rows of fixed tables."""
    for k in range(references.size):
        value = int(x[references[k].entry])
        if value <= 0:
            continue
        row, join = int(references[k].row), joins[references[k].join]
        other = int(join.of) + value - 1
        if join.fixed:
            if join.to_bias != NOWHERE:
                _add(q[row], np.float32(1.0), _row(numbers, int(join.to), value - 1, q.shape[1]))
            if join.back_bias != NOWHERE:
                earlier[k] = latest[other - in_vector]
                latest[other - in_vector] = k
            continue
        if join.to_bias != NOWHERE:
            _add_joined(numbers, int(join.to), int(join.to_bias), other, begins, rows, times, q[row])
        if join.back_bias != NOWHERE:
            _add_joined(numbers, int(join.back), int(join.back_bias), row, begins, rows, times, q[other])


@leaf
def _forget_references(x, references, joins, in_vector, latest):
    for k in range(references.size):
        value = int(x[references[k].entry])
        if value > 0 and joins[references[k].join].fixed:
            latest[int(joins[references[k].join].of) + value - 1 - in_vector] = NOWHERE


@leaf
def _finish_fixed_row(row, numbers, alone, references, joins, in_vector, begins, rows, times, q, latest, earlier):
    """What a row of a fixed table says with those that refer to it."""
    out = q[row]
    out[:] = _row(numbers, alone, row, out.size)
    k = int(latest[row - in_vector])
    while k != NOWHERE:
        join = joins[references[k].join]
        if join.back_bias != NOWHERE:
            _add_joined(numbers, int(join.back), int(join.back_bias), int(references[k].row), begins, rows, times, out)
        k = int(earlier[k])


@leaf
def _pool_rows(tables, q, mean, listed_rows, listed_times):
    """List the means over rows that add to the first layer; their number."""
    listed = 0
    for i in range(tables.size):
        table = tables[i]
        if table.pooled == NOWHERE:
            continue
        mean[:] = np.float32(0.0)
        for row in range(table.first, table.first + table.rows):
            said = q[row]
            for unit in range(mean.size):
                mean[unit] += max(said[unit], np.float32(0.0))
        share = np.float32(1.0 / table.rows)
        for unit in range(mean.size):
            mean[unit] *= share
        listed = _list_positive(mean, int(table.pooled) * mean.size, listed_rows, listed_times, listed)
    return listed


# ---------------------------------------------------------------- layers and answers


@helper
def _through_layers(layers, numbers, width, units, spare, listed_rows, listed_times):
    """The rectified outputs of dense layers one after the other, from ``units[:width]`` and back into it; their number in the end."""
    for i in range(layers.size):
        layer = layers[i]
        listed = _list_positive(units[:width], 0, listed_rows, listed_times, 0)
        width = int(layer.outputs)
        out = spare[:width]
        out[:] = numbers[layer.biases : layer.biases + width]
        _add_rows(out, numbers, int(layer.weights), listed_rows, listed_times, 0, listed)
        _rectify(out)
        units[:width] = out
    return width


@leaf
def _list_legal(mask, first, last, legal):
    """The legal ids of a block; their number."""
    count = 0
    for action in range(first, last):
        legal[count] = action
        count += mask[action] != 0
    return count


@leaf
def _look_at_rows(head, numbers, pointers, action, context, q, sum_of):
    """What the rows an action points at add to its logit."""
    sum_of[:] = context
    for axis in range(head.axes):
        row = int(pointers[action, axis])
        if row != NOWHERE:
            factors, said = _row(numbers, int(head.factors), axis, context.size), q[row]
            for unit in range(sum_of.size):
                sum_of[unit] += factors[unit] * said[unit]
    _rectify(sum_of)
    return _dot(numbers[head.out : head.out + sum_of.size], sum_of)


@leaf
def _to_probabilities(mask, largest, logits):
    """Logits of legal actions to probabilities, 0 for all others."""
    total = np.float32(0.0)
    for action in range(mask.size):
        if mask[action] != 0:
            logits[action] = np.float32(exp(logits[action] - largest))
            total += logits[action]
    for action in range(mask.size):
        if mask[action] != 0:
            logits[action] /= total


def whole_numbers(net: np.ndarray, inputs: int, actions: int, references: int) -> int:
    """Whole numbers in the workspace of a network that has so many."""
    listed = max(int(net["widest"]), int(net["pooled"] * net["rows"]))
    return int(net["in_vector"]) + 1 + 3 * (inputs + 1) + listed + 1 + actions + 1 + 2 * int(net["fixed"]) + references


def decimals(net: np.ndarray, inputs: int) -> int:
    """Floats in the workspace."""
    listed = max(int(net["widest"]), int(net["pooled"] * net["rows"]))
    rows = int(net["rows"]) * (int(net["in_vector"]) + int(net["fixed"]) + 2)
    return inputs + 1 + listed + 1 + int(net["width"]) + 2 * int(net["widest"]) + rows


@cache
def network_kernel() -> Any:
    """(observations int16[N, D], masks int8[N, A],
    network NETWORK[1], its weights float32[], entries of the vector int32[I] and what each adds INPUT[I], the first of each row int32[V + 1],
    tables TABLE[], joins JOIN[], references REFERENCE[], layers LAYER[],
    heads HEAD[], rows that actions point at int32[A, K],
    workspaces int32[whole_numbers] and float32[decimals], priors float32[N, A], values float32[N, P]).

    Fills ``priors`` (0 for what is illegal) and ``values``. A row of a mask without a legal action gets zeros.
    """
    signature = (
        array_of(np.int16, 2), array_of(np.int8, 2),
        array_of(NETWORK), array_of(FLOAT), array_of(WHOLE), array_of(INPUT), array_of(WHOLE),
        array_of(TABLE), array_of(JOIN), array_of(REFERENCE), array_of(LAYER),
        array_of(HEAD), array_of(WHOLE, 2),
        array_of(WHOLE), array_of(FLOAT), array_of(FLOAT, 2), array_of(FLOAT, 2),
    )  # fmt: skip

    @kernel(SCOPE, "evaluate", signature)
    def evaluate(
        observations, masks, network, numbers, entries, inputs, row_begins, tables, joins, references, layers,
        heads, pointers, wholes, floats, priors, values,
    ):  # fmt: skip
        net = network[0]
        width, widest, rows = np.int64(net.width), np.int64(net.widest), np.int64(net.rows)
        in_vector, fixed = np.int64(net.in_vector), np.int64(net.fixed)
        policy_layers, value_layers = layers[: net.policy_layers], layers[net.policy_layers :]
        most, listed_most = entries.size + 1, max(widest, int(net.pooled) * rows) + 1
        # the parts of the workspaces
        at = in_vector + 1
        begins = wholes[:at]
        found = wholes[at : at + most]
        wide_rows, row_rows = wholes[at + most : at + 2 * most], wholes[at + 2 * most : at + 3 * most]
        at += 3 * most
        listed_rows = wholes[at : at + listed_most]
        at += listed_most
        legal = wholes[at : at + masks.shape[1] + 1]
        at += masks.shape[1] + 1
        latest, finished = wholes[at : at + fixed], wholes[at + fixed : at + 2 * fixed]
        earlier = wholes[at + 2 * fixed :]
        times, listed_times = floats[:most], floats[most : most + listed_most]
        at = most + listed_most
        first, units, spare = floats[at : at + width], floats[at + width : at + width + widest], floats[at + width + widest : at + width + 2 * widest]  # noqa: E501
        at += width + 2 * widest
        context, beside = floats[at : at + rows], floats[at + rows : at + 2 * rows]
        q = floats[at + 2 * rows : at + (2 + in_vector + fixed) * rows].reshape((in_vector + fixed, rows))
        latest[:] = NOWHERE
        finished[:] = NOWHERE
        for n in range(observations.shape[0]):
            x, mask, logits = observations[n], masks[n], priors[n]
            count = _list_inputs(x, entries, row_begins, inputs, begins, found, wide_rows, row_rows, times)
            first[:] = numbers[net.bias : net.bias + width]
            _add_rows(first, numbers, int(net.wide), wide_rows, times, 0, count)
            if rows > 0:
                _encode_rows(tables, numbers, int(net.alone), rows, begins, row_rows, times, q)
                _join_rows(x, references, joins, numbers, in_vector, begins, row_rows, times, q, latest, earlier)
                listed = _pool_rows(tables, q, beside, listed_rows, listed_times)
                _add_rows(first, numbers, int(net.pool), listed_rows, listed_times, 0, listed)
            _rectify(first)

            units[:width] = first
            features = _through_layers(value_layers, numbers, width, units, spare, listed_rows, listed_times)
            for seat in range(values.shape[1]):
                weights = _row(numbers, int(net.values), seat, features)
                values[n, seat] = numbers[net.value_biases + seat] + _dot(weights, units[:features])

            units[:width] = first
            features = _through_layers(policy_layers, numbers, width, units, spare, listed_rows, listed_times)
            listed = _list_positive(units[:features], 0, listed_rows, listed_times, 0)
            logits[:] = np.float32(0.0)
            largest = np.float32(-np.inf)
            for i in range(heads.size):
                head = heads[i]
                count = _list_legal(mask, int(head.first), int(head.last), legal)
                if count > 0 and head.context != NOWHERE:
                    context[:] = numbers[head.bias : head.bias + rows]
                    _add_rows(context, numbers, int(head.context), listed_rows, listed_times, 0, listed)
                for k in range(count):
                    action = int(legal[k])
                    weights = _row(numbers, int(net.actions), action, features)
                    logit = numbers[net.action_biases + action] + _dot(weights, units[:features])
                    if head.context != NOWHERE:
                        for axis in range(head.axes):
                            row = int(pointers[action, axis])
                            if row >= in_vector and finished[row - in_vector] != n:
                                finished[row - in_vector] = n
                                _finish_fixed_row(
                                    row, numbers, int(net.alone), references, joins, in_vector, begins, row_rows, times, q,
                                    latest, earlier,
                                )  # fmt: skip
                        logit += _look_at_rows(head, numbers, pointers, action, context, q, beside)
                    logits[action] = logit
                    largest = max(largest, logit)
            _to_probabilities(mask, largest, logits)
            if fixed > 0:
                _forget_references(x, references, joins, in_vector, latest)

    return evaluate
