"""A network that looks at an observation's tables, in compiled code. It judges a few positions at a time.

Most entries of an observation are 0, and few actions are legal. So the kernels add up only entries that are not 0, give
only legal actions a logit, and finish only those rows of a fixed table that legal actions point at. That is a small
part of the dense products. Each position is computed by itself, in a fixed order, so the answer does not depend on what
else is asked at the same time.

The rows of all tables are numbered in one sequence: first those in the vector, then those of fixed tables.
:mod:`kepler_envs.engine.network` says what is computed. Here, scales and labels of 0 are already part of the weights
(``arrangement.py``).
"""

from __future__ import annotations

from functools import cache
from math import exp
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kepler_envs.engine.bits import ONE, lowest, without_lowest
from kepler_envs.engine.code_cache import Scope
from kepler_envs.engine.kernel import array_of, borrowed, helper, kernel, leaf
from kepler_envs.engine.simd import pack_bits
from kepler_envs.networks.simd import BLOCK, REGISTER, add_row, add_times, block_products, dot, mean_positive, sum_rows

SCOPE = Scope("network", Path(__file__).parent)

FLOAT = np.dtype(np.float32)
WHOLE = np.dtype(np.int32)
ZERO = np.uint64(0)
NOWHERE = -1
"""Stands for an array of weights that does not exist."""


def _record(*names: str) -> np.dtype:
    return np.dtype([(name, WHOLE) for name in names], align=True)


NETWORK = _record(
    "width",  # outputs H of the first layer
    "widest",  # outputs of the widest layer
    "kept",  # outputs of all layers of the policy, the first included; the value has as many
    "rows",  # how many numbers R are said of a row
    "in_vector", "fixed",  # how many rows of tables are in the vector, and how many in fixed tables
    "shown",  # how many pairs of a join and a row in the vector that it shows to rows referring to it
    "pooled",  # how many tables add their mean to the first layer
    "policy_layers",  # how many of the layers are the policy's; the value's follow
    "bias", "wide",  # of the first layer: H, and a row of H for each input of the vector
    "wide_rows",  # how many rows these are
    "alone",  # what is said of each row whatever the vector holds, (all rows, R)
    "pool", "pool_back",  # (pooled * R, H), and its transpose
    "actions", "action_biases", "values", "value_biases",  # (A, F), A, (P, F), P; F is the outputs of the last layer
    "choice",  # the entry of the vector that says what a bot would do, NOWHERE if there is none
    "follow", "follow_bias",  # F, 1: how much the logit of its choice is raised
)  # fmt: skip
"""A network's sizes, and where its arrays begin in the flat one."""

INPUT = _record("kind", "owner", "wide", "row")
"""An input of the row ``owner``, which counts if its entry is not 0: its row of ``wide``, and of an encoder."""
NUMBER, SIGN, LABEL = 0, 1, 2
"""Kinds of inputs.

NUMBER adds the entry times the row, SIGN the sign of the entry times the row. LABEL adds the row of the label, counted
from the row of label 0.
"""

TABLE = _record("first", "rows", "encoder", "pooled")
"""A table in the vector: its first row; where its encoder begins, NOWHERE if its rows are not looked at; its number
among the pooled tables, NOWHERE if it is not pooled."""

JOIN = _record("of", "fixed", "shown", "to", "to_bias", "back", "back_bias")
"""References to a table whose first row is ``of``.

If a bias is NOWHERE, that side of the join is not needed. For a fixed table, ``to`` is what each of its rows adds. For
a table in the vector, ``shown`` is the first of its rows among those shown. If ``back`` is NOWHERE, only the bias is
added.
"""

REFERENCE = _record("entry", "row", "join")
"""An entry of the vector, in the row ``row``, that refers to another row."""

LINK = _record("row", "to", "to_bias")
"""A row in the vector that a row of a fixed table refers to."""

LAYER = _record("inputs", "outputs", "weights", "back", "biases")
"""A dense layer: its size, and where its weights (inputs by outputs), their transpose and its biases begin."""

HEAD = _record("last", "axes", "context", "bias", "factors", "out")
"""A block's actions, up to ``last``, how many rows each points at, and its weights (F, R), R, (axes, R), R."""


@leaf
def add_up_rows(out, source, start, numbers, begin, rows, times, first, last, stride):
    """Write to ``out`` the sum of ``source[start:]`` and of matrix rows, ``rows[first:last]``, each times its number.

    The matrix begins at ``numbers[begin]`` and has rows of ``stride`` numbers.
    """
    width = out.size
    at = 0
    while at + 64 <= width:
        sum_rows(out, at, source, start + at, numbers, begin + at, stride, rows, times, first, last, 64)
        at += 64
    while at + 16 <= width:
        sum_rows(out, at, source, start + at, numbers, begin + at, stride, rows, times, first, last, 16)
        at += 16
    for unit in range(at, width):
        total = source[start + unit]
        for i in range(first, last):
            total += times[i] * numbers[begin + int(rows[i]) * stride + unit]
        out[unit] = total


@leaf
def add_multiple(out, place, factor, row, begin, width):
    """Add ``factor * row[begin:]`` to ``out[place:]``."""
    at = 0
    while at + 64 <= width:
        add_times(out, place + at, factor, row, begin + at, 64)
        at += 64
    while at + 16 <= width:
        add_times(out, place + at, factor, row, begin + at, 16)
        at += 16
    for unit in range(at, width):
        out[place + unit] += factor * row[begin + unit]


@leaf
def row_dot(weights, begin, units, width):
    """The product of ``weights[begin:]`` and ``units[:width]``."""
    vectors = width // REGISTER
    total = dot(weights, begin, units, 0, vectors)
    for unit in range(vectors * REGISTER, width):
        total += weights[begin + unit] * units[unit]
    return total


@leaf
def rectify(units):
    for unit in range(units.size):
        units[unit] = max(units[unit], np.float32(0.0))


@leaf
def list_positive(units, offset, rows, times, listed):
    """Append the units above 0 to the lists ``rows`` (offset + number) and ``times``. Returns their new length."""
    for unit in range(units.size):
        rows[listed] = offset + unit
        times[listed] = units[unit]
        listed += units[unit] > 0.0
    return listed


# ---------------------------------------------------------------- the vector


@leaf
def _list_inputs(x, entries, inputs, taken, begins, wide_rows, rows, times):
    """List the inputs that are not 0, row by row. Returns their number.

    ``begins[r]`` to ``begins[r + 1]`` are those of row r. Indices are unsigned: of others, compiled code would ask
    whether they count from the end.
    """
    for i in range(entries.size):
        taken[i] = x[np.uint32(entries[i])]
    begins[:] = 0
    count = ZERO
    for first in range(0, entries.size, 64):
        left = pack_bits(taken, first, 64)
        while left != ZERO:
            i = np.uint64(first + lowest(left))
            left = without_lowest(left)
            value, one = int(taken[i]), inputs[i]
            label = value if one.kind == LABEL else 0
            sign = 1 if (one.kind == LABEL) | (value > 0) else -1
            wide_rows[count] = one.wide + label
            rows[count] = one.row + label
            times[count] = np.float32(value if one.kind == NUMBER else sign)
            count += ONE
            begins[np.uint32(one.owner + 1)] = count
    for row in range(1, begins.size):
        begins[row] = max(begins[row], begins[row - 1])  # rows without an input
    return np.int64(count)


# ---------------------------------------------------------------- rows by themselves


@leaf
def _sum_said(out, place, source, start, numbers, begin, stride, rows, times, first, last):
    """Compute what weights say of one row: like :func:`add_up_rows`, but in whole registers."""
    at = 0
    while at + 32 <= stride:
        sum_rows(out, place + at, source, start + at, numbers, begin + at, stride, rows, times, first, last, 32)
        at += 32
    if at < stride:
        sum_rows(out, place + at, source, start + at, numbers, begin + at, stride, rows, times, first, last, 16)


@leaf
def add_said(out, place, said, begin, stride):
    """Add what is said of one row: ``out[place:] += said[begin:]``."""
    at = 0
    while at + 32 <= stride:
        add_row(out, place + at, said, begin + at, 32)
        at += 32
    if at < stride:
        add_row(out, place + at, said, begin + at, 16)


@leaf
def _encode_rows(tables, numbers, alone, stride, begins, rows, times, q):
    """Compute what is said of each row in the vector by itself."""
    for i in range(tables.size):
        table = tables[i]
        if table.encoder == NOWHERE:
            continue
        encoder = np.int64(table.encoder)
        for row in range(table.first, table.first + table.rows):
            at = row * stride
            _sum_said(q, at, numbers, alone + at, numbers, encoder, stride, rows, times, begins[row], begins[row + 1])


@helper
def _add_joined(numbers, weights, bias, row, stride, begins, rows, times, said, q, place):
    """Add to ``q`` at ``place`` what a row adds to the row it is joined with."""
    if weights == NOWHERE:
        add_said(q, place, numbers, bias, stride)
    else:
        _sum_said(said, 0, numbers, bias, numbers, weights, stride, rows, times, begins[row], begins[row + 1])
        add_said(q, place, said, 0, stride)


@leaf
def _join_rows(
    x, references, joins, numbers, stride, in_vector, begins, rows, times, said, q, shown, shown_at, n, latest, earlier
):  # fmt: skip
    """Add to the rows in the vector what the rows add that they refer to, and those that refer to them.

    Also list which references point at rows of fixed tables.
    """
    for k in range(references.size):
        value = int(x[references[k].entry])
        if value <= 0:
            continue
        row, join = np.int64(references[k].row), joins[references[k].join]
        other = np.int64(join.of) + value - 1
        if join.fixed:
            if join.to_bias != NOWHERE:
                add_said(q, row * stride, numbers, np.int64(join.to) + (value - 1) * stride, stride)
            if join.back_bias != NOWHERE:
                earlier[k] = latest[other - in_vector]
                latest[other - in_vector] = k
            continue
        if join.to_bias != NOWHERE:
            slot = np.int64(join.shown) + value - 1
            if shown_at[slot] != n:  # computed once, as other rows may refer to it, too
                shown_at[slot] = n
                _sum_said(
                    shown, slot * stride, numbers, np.int64(join.to_bias), numbers, np.int64(join.to), stride, rows,
                    times,
                    begins[other], begins[other + 1],
                )  # fmt: skip
            add_said(q, row * stride, shown, slot * stride, stride)
        if join.back_bias != NOWHERE:
            _add_joined(
                numbers,
                np.int64(join.back),
                np.int64(join.back_bias),
                row,
                stride,
                begins,
                rows,
                times,
                said,
                q,
                other * stride,
            )


@leaf
def _forget_references(x, references, joins, in_vector, latest):
    for k in range(references.size):
        value = int(x[references[k].entry])
        if value > 0 and joins[references[k].join].fixed:
            latest[np.int64(joins[references[k].join].of) + value - 1 - in_vector] = NOWHERE


@leaf
def _finish_fixed_row(
    row, numbers, alone, references, joins, links, link_begins, stride, in_vector, begins, rows, times, said, q, latest,
    earlier
):  # fmt: skip
    """Compute what is said of a row of a fixed table, joined with the rows that refer to it and those it refers to."""
    place = row * stride
    for unit in range(stride):
        q[place + unit] = numbers[alone + place + unit]
    k = np.int64(latest[row - in_vector])
    while k != NOWHERE:
        join, by = joins[references[k].join], np.int64(references[k].row)
        _add_joined(
            numbers, np.int64(join.back), np.int64(join.back_bias), by, stride, begins, rows, times, said, q, place
        )
        k = np.int64(earlier[k])
    for i in range(link_begins[row - in_vector], link_begins[row - in_vector + 1]):
        link, of = links[i], np.int64(links[i].row)
        _add_joined(numbers, np.int64(link.to), np.int64(link.to_bias), of, stride, begins, rows, times, said, q, place)


@leaf
def _average_rows(tables, q, stride, means):
    """Compute the means over rows of the pooled tables, one table after the other."""
    for i in range(tables.size):
        table = tables[i]
        if table.pooled != NOWHERE:
            first, to = np.int64(table.first), np.int64(table.pooled) * stride
            for at in range(0, stride, 16):
                mean_positive(means, to + at, q, at, stride, first, first + np.int64(table.rows), 16)


# ---------------------------------------------------------------- layers and answers


@helper
def add_products(floats, place, begin, stride, inner, numbers, weights, width):
    """Add products to BLOCK rows of ``floats`` at ``place``, ``stride`` apart.

    The factors are the rows at ``begin``, equally far apart, and the matrix (inner, width) that begins at ``weights``.
    """
    at = 0
    while at + REGISTER <= width:
        block_products(floats, place + at, floats, begin, stride, inner, numbers, weights + at, width, REGISTER)
        at += REGISTER
    if at < width:
        for row in range(0, BLOCK * stride, stride):
            for unit in range(at, width):
                total = floats[place + row + unit]
                for k in range(inner):
                    total += floats[begin + row + k] * numbers[weights + k * width + unit]
                floats[place + row + unit] = total


@leaf
def _through_layers(layers, numbers, width, floats, kept, stride):
    """Compute the rectified outputs of dense layers, each behind its inputs, the first of which begin at ``kept``.

    Returns (where the last outputs begin, how many they are).
    """
    begin = 0
    for i in range(layers.size):
        layer = layers[i]
        inner, begin, width = width, begin + width, np.int64(layer.outputs)
        biases = np.int64(layer.biases)
        for row in range(0, BLOCK * stride, stride):
            place = kept + begin + row
            for unit in range(width):
                floats[place + unit] = numbers[biases + unit]
        add_products(floats, kept + begin, kept + begin - inner, stride, inner, numbers, np.int64(layer.weights), width)
        for row in range(0, BLOCK * stride, stride):
            rectify(floats[kept + begin + row : kept + begin + row + width])
    return begin, width


@leaf
def _list_legal(mask, legal):
    """List the legal ids in order. Returns their number."""
    count = 0
    whole = mask.size // 64 * 64
    for first in range(0, whole, 64):
        left = pack_bits(mask, first, 64)
        while left != ZERO:
            legal[count] = first + lowest(left)
            count += 1
            left = without_lowest(left)
    for action in range(whole, mask.size):
        if mask[action] != 0:
            legal[count] = action
            count += 1
    return count


@leaf
def look_at_rows(head, numbers, pointers, action, context, context_begin, q, sum_of):
    """What the rows that an action points at add to its logit. ``sum_of`` becomes the rectified sum."""
    stride = sum_of.size
    for unit in range(stride):
        sum_of[unit] = context[context_begin + unit]
    for axis in range(head.axes):
        row = np.int64(pointers[action, axis])
        if row != NOWHERE:
            at = np.int64(head.factors) + axis * stride
            factors, said = numbers[at : at + stride], q[row * stride : (row + 1) * stride]
            for unit in range(stride):
                sum_of[unit] += factors[unit] * said[unit]
    rectify(sum_of)
    return row_dot(numbers, np.int64(head.out), sum_of, stride)


@leaf
def _to_probabilities(legal, logits, priors):
    """Turn logits of the legal actions into probabilities. Returns what they were divided by, NaN if they are none."""
    largest, total = np.float32(-np.inf), np.float32(0.0)
    for k in range(legal.size):
        largest = max(largest, logits[legal[k]])
    for k in range(legal.size):
        priors[legal[k]] = np.float32(exp(logits[legal[k]] - largest))
        total += priors[legal[k]]
    for k in range(legal.size):
        priors[legal[k]] /= total
    return total


@leaf
def _all_finite(total, values):
    """Whether the sum behind the probabilities is a finite number, and so is each value."""
    finite = np.isfinite(total)
    for seat in range(values.size):
        finite &= np.isfinite(values[seat])
    return finite


# ---------------------------------------------------------------- positions


class Net(NamedTuple):
    """The arrays of a network, in the order in which kernels take them."""

    network: Any
    """NETWORK[1]: sizes, and where the parts of ``numbers`` begin."""
    numbers: Any
    """float32[]: the weights."""
    entries: Any
    """int32[I]: the entries of the vector that inputs come from."""
    inputs: Any
    """INPUT[I]: what each of them adds."""
    tables: Any
    joins: Any
    references: Any
    links: Any
    link_begins: Any
    """int32[fixed + 1]: where the links of each row of a fixed table begin."""
    layers: Any
    """The layers of the policy, then those of the value."""
    heads: Any
    pointers: Any
    """int32[A, K]: the rows that actions point at."""


NET_TYPES = (
    array_of(NETWORK), array_of(FLOAT), array_of(WHOLE), array_of(INPUT), array_of(TABLE), array_of(JOIN),
    array_of(REFERENCE),
    array_of(LINK), array_of(WHOLE), array_of(LAYER), array_of(HEAD), array_of(WHOLE, 2),
)  # fmt: skip
"""The types of these arrays in the signatures of kernels."""


@leaf
def as_net(
    network, numbers, entries, inputs, tables, joins, references, links, link_begins, layers, heads, pointers
):  # fmt: skip
    """The arrays of a kernel's arguments as a Net. Their references are not counted while the kernel runs."""
    return Net(
        borrowed(network), borrowed(numbers), borrowed(entries), borrowed(inputs), borrowed(tables), borrowed(joins),
        borrowed(references), borrowed(links), borrowed(link_begins), borrowed(layers), borrowed(heads),
        borrowed(pointers),
    )  # fmt: skip


class Room(NamedTuple):
    """What the kernels work out about a position. The next position overwrites it."""

    taken: Any
    wide_rows: Any
    rows: Any
    begins: Any
    listed_rows: Any
    legal: Any
    latest: Any
    finished: Any
    earlier: Any
    shown_at: Any
    times: Any
    listed_times: Any
    policy: Any
    """The outputs of the first layer, then those of each layer of the policy."""
    value: Any
    """The same for the value."""
    means: Any
    """(pooled * R,): means over rows."""
    contexts: Any
    """(heads * R,): what a block's head makes of the policy's last outputs, if one of its actions is legal."""
    said: Any
    beside: Any
    q: Any
    """(all rows * R,): what is said of each row, in fixed tables only of those that were ``finished``."""
    shown: Any
    policy_at: Any
    """Where ``policy`` begins in its workspace. The next two say the same of ``value`` and ``means``."""
    value_at: Any
    means_at: Any


@leaf
def _words_of(count):
    """``count`` rounded up to whole words of 64 bits."""
    return (count + 63) // 64 * 64


def workspace_sizes(net: np.ndarray, inputs: int, actions: int, references: int, heads: int) -> tuple[int, int]:
    """The room that each position of a block takes in the two workspaces of such a network."""
    rows, in_vector, fixed, shown = (int(net[name]) for name in ("rows", "in_vector", "fixed", "shown"))
    listed = int(net["widest"]) + 1
    whole = _words_of(inputs) + 2 * inputs + in_vector + 1 + listed + actions + 2 * fixed + references + shown
    pooled = int(net["pooled"])
    return whole, inputs + listed + 2 * int(net["kept"]) + rows * (heads + pooled + 2 + in_vector + fixed + shown)


@leaf
def part(workspace, used, size):
    """The next ``size`` numbers of a workspace. ``used`` counts them."""
    first = used[0]
    used[0] += size
    return borrowed(workspace[first : first + size])


@leaf
def room_of(net, actions, place, all_wholes, all_floats, used):
    """The rows that one position of a block has in the two workspaces, as a Room.

    ``used`` int64[2] becomes how much of each is in use.
    """
    wholes, floats = borrowed(all_wholes[place]), borrowed(all_floats[place])
    its = net.network[0]
    stride, in_vector, fixed, shown = (
        np.int64(its.rows),
        np.int64(its.in_vector),
        np.int64(its.fixed),
        np.int64(its.shown),
    )
    kept, inputs, listed_most = np.int64(its.kept), net.entries.size, np.int64(its.widest) + 1
    used[0], used[1] = 0, 0
    whole, decimal = borrowed(used[:1]), borrowed(used[1:])
    policy_at = inputs + listed_most
    return Room(
        part(wholes, whole, _words_of(inputs)), part(wholes, whole, inputs), part(wholes, whole, inputs),
        part(wholes, whole, in_vector + 1), part(wholes, whole, listed_most), part(wholes, whole, actions),
        part(wholes, whole, fixed), part(wholes, whole, fixed), part(wholes, whole, net.references.size),
        part(wholes, whole, shown),
        part(floats, decimal, inputs), part(floats, decimal, listed_most), part(floats, decimal, kept),
        part(floats, decimal, kept), part(floats, decimal, stride * its.pooled),
        part(floats, decimal, stride * net.heads.size),
        part(floats, decimal, stride), part(floats, decimal, stride),
        part(floats, decimal, stride * (in_vector + fixed)),
        part(floats, decimal, stride * shown), policy_at, policy_at + kept, policy_at + 2 * kept,
    )  # fmt: skip


@helper
def clear_rooms(net, actions, wholes, floats, used):
    """Prepare the workspaces (BLOCK, ...) of :func:`workspace_sizes`."""
    for place in range(BLOCK):
        room = room_of(net, actions, place, wholes, floats, used)
        room.taken[:] = 0
        room.latest[:] = NOWHERE
        room.finished[:] = NOWHERE
        room.shown_at[:] = NOWHERE
        room.policy[:] = np.float32(0.0)
        room.value[:] = np.float32(0.0)
        room.means[:] = np.float32(0.0)


@helper
def _gather(net, room, x, n):
    """Gather the inputs of a position, what is said of its rows, and the first layer without the means over rows.

    Returns how many inputs are not 0.
    """
    its, numbers = net.network[0], net.numbers
    width, stride = np.int64(its.width), np.int64(its.rows)
    count = _list_inputs(x, net.entries, net.inputs, room.taken, room.begins, room.wide_rows, room.rows, room.times)
    first = room.policy[:width]
    add_up_rows(
        first, numbers, np.int64(its.bias), numbers, np.int64(its.wide), room.wide_rows, room.times, 0, count, width
    )
    if stride > 0:
        _encode_rows(net.tables, numbers, np.int64(its.alone), stride, room.begins, room.rows, room.times, room.q)
        _join_rows(
            x, net.references, net.joins, numbers, stride, np.int64(its.in_vector), room.begins, room.rows, room.times,
            room.said,
            room.q, room.shown, room.shown_at, n, room.latest, room.earlier,
        )  # fmt: skip
        _average_rows(net.tables, room.q, stride, room.means)
    return count


@helper
def look(net, observations, masks, first, count, wholes, floats, used, logits, looks):
    """Look at ``count`` positions, at most BLOCK, from number ``first`` on.

    Fills ``logits`` (BLOCK, A) for the legal actions and leaves the others as they are. Fills ``looks`` int64 (BLOCK,
    2) with the number of inputs that are not 0 and of legal actions. Everything else is in the rooms.

    Returns:
        Where the last outputs of policy and value begin, and how many they are.
    """
    its, numbers = net.network[0], net.numbers
    width, actions = np.int64(its.width), masks.shape[1]
    flat, stride = borrowed(floats.reshape(-1)), floats.shape[1]
    for place in range(count):
        room = room_of(net, actions, place, wholes, floats, used)
        looks[place, 0] = _gather(net, room, borrowed(observations[first + place]), first + place)
    room = room_of(net, actions, 0, wholes, floats, used)
    inner = np.int64(its.pooled) * np.int64(its.rows)
    add_products(flat, room.policy_at, room.means_at, stride, inner, numbers, np.int64(its.pool), width)
    for place in range(BLOCK):
        at = place * stride
        rectify(flat[at + room.policy_at : at + room.policy_at + width])
        for unit in range(width):
            flat[at + room.value_at + unit] = flat[at + room.policy_at + unit]
    value_layers, policy_layers = net.layers[its.policy_layers :], net.layers[: its.policy_layers]
    _through_layers(value_layers, numbers, width, flat, room.value_at, stride)
    last, features = _through_layers(policy_layers, numbers, width, flat, room.policy_at, stride)
    for place in range(count):
        room = room_of(net, actions, place, wholes, floats, used)
        mask, given = borrowed(masks[first + place]), borrowed(logits[place])
        looks[place, 1] = _judge_legal(net, room, mask, first + place, given, last, features)
        if its.choice != NOWHERE:
            units = room.policy[last : last + features]
            given[observations[first + place, its.choice]] += (
                row_dot(numbers, np.int64(its.follow), units, features) + numbers[its.follow_bias]
            )
    return last, features


@helper
def _judge_legal(net, room, mask, n, logits, last, features):
    """Compute the logits of the legal actions. Returns their number."""
    its, numbers = net.network[0], net.numbers
    stride, in_vector = np.int64(its.rows), np.int64(its.in_vector)
    units = room.policy[last : last + features]
    listed = list_positive(units, 0, room.listed_rows, room.listed_times, 0)
    legal = room.legal[: _list_legal(mask, room.legal)]
    k = 0
    for i in range(net.heads.size):
        head = net.heads[i]
        looks = head.context != NOWHERE
        if looks and k < legal.size and legal[k] < head.last:
            add_up_rows(
                room.contexts[i * stride : (i + 1) * stride], numbers, np.int64(head.bias), numbers,
                np.int64(head.context),
                room.listed_rows, room.listed_times, 0, listed, stride,
            )  # fmt: skip
        while k < legal.size and legal[k] < head.last:
            action = np.int64(legal[k])
            k += 1
            logit = numbers[its.action_biases + action]
            logit += row_dot(numbers, np.int64(its.actions) + action * features, units, features)
            if looks:
                for axis in range(head.axes):
                    row = np.int64(net.pointers[action, axis])
                    if row >= in_vector and room.finished[row - in_vector] != n:
                        room.finished[row - in_vector] = n
                        _finish_fixed_row(
                            row, numbers, np.int64(its.alone), net.references, net.joins, net.links, net.link_begins,
                            stride,
                            in_vector, room.begins, room.rows, room.times, room.said, room.q, room.latest, room.earlier,
                        )  # fmt: skip
                logit += look_at_rows(
                    head, numbers, net.pointers, action, room.contexts, i * stride, room.q, room.beside
                )
            logits[action] = logit
    return legal.size


@leaf
def tell_values(net, room, last, features, values):
    """Compute the returns of all seats (P,)."""
    its, numbers = net.network[0], net.numbers
    units = room.value[last : last + features]
    for seat in range(values.size):
        value = row_dot(numbers, np.int64(its.values) + seat * features, units, features)
        values[seat] = numbers[its.value_biases + seat] + value


@leaf
def forget(net, room, x):
    """Clear the references of a position, so that the room can take another one."""
    if net.network[0].fixed > 0:
        _forget_references(x, net.references, net.joins, np.int64(net.network[0].in_vector), room.latest)


@cache
def evaluate_kernel() -> Any:
    """(observations int16[N, D], masks int8[N, A], *:class:`Net`, workspaces int32[BLOCK, ...] and float32[BLOCK, ...]
    of :func:`workspace_sizes`, logits float32[BLOCK, A], priors float32[N, A], values float32[N, P]) -> how many
    rows come before the first one whose answer is not all finite numbers.

    Fills ``priors`` (0 for what is illegal) and ``values``. A row of a mask without a legal action gets zeros.
    """
    signature = (
        array_of(np.int16, 2), array_of(np.int8, 2), *NET_TYPES,
        array_of(WHOLE, 2), array_of(FLOAT, 2), array_of(FLOAT, 2), array_of(FLOAT, 2), array_of(FLOAT, 2),
    )  # fmt: skip

    @kernel(SCOPE, "evaluate", signature)
    def evaluate(
        observations, masks, network, numbers, entries, inputs, tables, joins, references, links, link_begins, layers,
        heads, pointers, wholes, floats, logits, priors, values,
    ):  # fmt: skip
        net = as_net(
            network, numbers, entries, inputs, tables, joins, references, links, link_begins, layers, heads, pointers
        )
        used, looks = np.zeros(2, np.int64), np.zeros((BLOCK, 2), np.int64)
        clear_rooms(net, masks.shape[1], wholes, floats, used)
        priors[:] = np.float32(0.0)
        finite = observations.shape[0]
        for first in range(0, observations.shape[0], BLOCK):
            count = min(BLOCK, observations.shape[0] - first)
            last, features = look(net, observations, masks, first, count, wholes, floats, used, logits, looks)
            for place in range(count):
                room = room_of(net, masks.shape[1], place, wholes, floats, used)
                told = borrowed(values[first + place])
                tell_values(net, room, last, features, told)
                legal, given = room.legal[: looks[place, 1]], logits[place]
                if not _all_finite(_to_probabilities(legal, given, borrowed(priors[first + place])), told):
                    finite = min(finite, first + place)
                forget(net, room, borrowed(observations[first + place]))
        used[0] = 0  # keeps what is borrowed alive until here
        return finite

    return evaluate
