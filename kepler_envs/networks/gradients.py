"""How what a network says of chosen actions changes with its weights, in compiled code.

The network is that of ``kernels.py``: only inputs that are not 0, units above 0 and legal actions count, here as well. A position is looked at once to be
judged, and once more when its gradients are asked for; in between nothing of it is kept.

``gradient`` is a flat array like that of the weights: derivatives are added to it. Names beginning with ``d_`` are derivatives of the loss.
"""

from __future__ import annotations

from functools import cache
from math import exp, log
from typing import Any, NamedTuple

import numba
import numpy as np

from kepler_envs.engine.kernel import array_of, helper, kernel, leaf
from kepler_envs.networks.kernels import (
    FLOAT,
    NET_TYPES,
    NOWHERE,
    SCOPE,
    WHOLE,
    Net,
    forget,
    furnish,
    list_means,
    list_positive,
    look,
    look_at_rows,
    part,
    row_dot,
    tell_values,
)
from kepler_envs.networks.simd import spread_row


class Back(NamedTuple):
    """What becomes of derivatives on their way back, for the next position to be written over."""

    units: Any
    """(widest,), by the outputs of a layer."""
    before: Any
    """(widest,), by the outputs of the layer before it."""
    first: Any
    """(width,), by the outputs of the first layer."""
    context: Any
    """(R,)."""
    mean: Any
    """(pooled * R,), by means over rows."""
    q: Any
    """(all rows * R,), by what is said of each row; of fixed tables of those that were finished."""
    shown: Any
    """As :class:`~kepler_envs.networks.kernels.Room`'s."""
    shown_at: Any


def back_sizes(net: np.ndarray) -> tuple[int, int]:
    """Whole and decimal numbers of a Back."""
    rows = int(net["rows"])
    all_rows = int(net["in_vector"] + net["fixed"])
    return int(net["shown"]), (
        2 * int(net["widest"]) + int(net["width"]) + rows * (1 + int(net["pooled"]) + all_rows + int(net["shown"]))
    )


@helper
def _furnish_back(net, wholes, floats, used):
    its = net.network[0]
    widest, stride = np.int64(its.widest), np.int64(its.rows)
    whole, decimal = used[:1], used[1:]
    back = Back(
        part(floats, decimal, widest),
        part(floats, decimal, widest),
        part(floats, decimal, np.int64(its.width)),
        part(floats, decimal, stride),
        part(floats, decimal, stride * its.pooled),
        part(floats, decimal, stride * (np.int64(its.in_vector) + its.fixed)),
        part(floats, decimal, stride * its.shown),
        part(wholes, whole, np.int64(its.shown)),
    )
    back.shown_at[:] = NOWHERE
    return back


# ---------------------------------------------------------------- sums


@leaf
def _spread(gradient, begin, rows, times, first, last, source, start, width):
    """``source[start:]``, so many times, to each of the rows ``rows[first:last]`` of the matrix that begins there."""
    at = 0
    while at + 64 <= width:
        spread_row(gradient, begin + at, width, rows, times, first, last, source, start + at, 64)
        at += 64
    while at + 16 <= width:
        spread_row(gradient, begin + at, width, rows, times, first, last, source, start + at, 16)
        at += 16
    for i in range(first, last):
        row = begin + int(rows[i]) * width
        for unit in range(at, width):
            gradient[row + unit] += times[i] * source[start + unit]


@leaf
def _add(out, begin, factor, source, start, width):
    """``out[begin:] += factor * source[start:]``."""
    for unit in range(width):
        out[begin + unit] += factor * source[start + unit]


# ---------------------------------------------------------------- judging


@leaf
def _to_logs(legal, logits):
    """Logits of the legal actions to log-probabilities; the entropy."""
    largest = np.float32(-np.inf)
    for k in range(legal.size):
        largest = max(largest, logits[legal[k]])
    total = np.float32(0.0)
    for k in range(legal.size):
        total += np.float32(exp(logits[legal[k]] - largest))
    shift = largest + np.float32(log(total))
    entropy = np.float32(0.0)
    for k in range(legal.size):
        logits[legal[k]] -= shift
        entropy -= np.float32(exp(logits[legal[k]])) * logits[legal[k]]
    return entropy


@helper
def _judge(net, room, observations, masks, actions, logits, chosen, entropy, values):
    for n in range(actions.size):
        _, count, last, features = look(net, room, observations[n], masks[n], n, logits)
        entropy[n] = _to_logs(room.legal[:count], logits)
        chosen[n] = logits[actions[n]]
        tell_values(net, room, last, features, values[n])
        forget(net, room, observations[n])


# ---------------------------------------------------------------- back through a position


@leaf
def _back_from_actions(net, room, back, legal, logits, action, d_chosen, d_entropy, entropy, last, features, gradient):
    """From log-probabilities to the policy's last outputs, ``back.units``, and to the rows that legal actions point at."""
    its, numbers = net.network[0], net.numbers
    stride = np.int64(its.rows)
    units, d_units = room.policy[last : last + features], back.units
    d_units[:features] = np.float32(0.0)
    k = 0
    for i in range(net.heads.size):
        head = net.heads[i]
        looks = head.context != NOWHERE
        asked = k < legal.size and legal[k] < head.last
        back.context[:] = np.float32(0.0)
        while k < legal.size and legal[k] < head.last:
            one = np.int64(legal[k])
            k += 1
            chance = np.float32(exp(logits[one]))
            d_logit = d_chosen * (np.float32(one == action) - chance) - d_entropy * chance * (logits[one] + entropy)
            gradient[its.action_biases + one] += d_logit
            weights = np.int64(its.actions) + one * features
            _add(gradient, weights, d_logit, units, 0, features)
            _add(d_units, 0, d_logit, numbers, weights, features)
            if looks:
                look_at_rows(head, numbers, net.pointers, one, room.contexts, i * stride, room.q, room.beside)
                _back_from_rows(head, numbers, net.pointers, one, d_logit, room, back, gradient)
        if looks and asked:
            _add(gradient, np.int64(head.bias), np.float32(1.0), back.context, 0, stride)
            listed = list_positive(units, 0, room.listed_rows, room.listed_times, 0)
            context = np.int64(head.context)
            _spread(gradient, context, room.listed_rows, room.listed_times, 0, listed, back.context, 0, stride)
            for j in range(listed):
                unit = np.int64(room.listed_rows[j])
                d_units[unit] += row_dot(numbers, context + unit * stride, back.context, stride)


@leaf
def _back_from_rows(head, numbers, pointers, action, d_logit, room, back, gradient):
    """From an action's logit to the rows it points at; ``room.beside`` is the rectified sum."""
    stride = room.beside.size
    _add(gradient, np.int64(head.out), d_logit, room.beside, 0, stride)
    d_sum, out = room.said, np.int64(head.out)
    for unit in range(stride):
        d_sum[unit] = d_logit * numbers[out + unit] * np.float32(room.beside[unit] > 0.0)
    _add(back.context, 0, np.float32(1.0), d_sum, 0, stride)
    for axis in range(head.axes):
        row = np.int64(pointers[action, axis])
        if row != NOWHERE:
            factors, place = np.int64(head.factors) + axis * stride, row * stride
            for unit in range(stride):
                gradient[factors + unit] += d_sum[unit] * room.q[place + unit]
                back.q[place + unit] += d_sum[unit] * numbers[factors + unit]


@leaf
def _back_from_values(net, room, back, d_values, last, features, gradient):
    """From the returns of all seats to the value's last outputs, ``back.units``."""
    its, numbers = net.network[0], net.numbers
    back.units[:features] = np.float32(0.0)
    for seat in range(d_values.size):
        weights = np.int64(its.values) + seat * features
        gradient[its.value_biases + seat] += d_values[seat]
        _add(gradient, weights, d_values[seat], room.value, last, features)
        _add(back.units, 0, d_values[seat], numbers, weights, features)


@helper
def _back_through_layers(layers, numbers, kept, last, features, room, back, gradient):
    """From the last outputs, ``back.units``, to those of the first layer, to whose derivatives they are added."""
    begin = last
    for number in range(layers.size):
        layer = layers[layers.size - 1 - number]
        inputs, outputs = np.int64(layer.inputs), np.int64(layer.outputs)
        weights = np.int64(layer.weights)
        for unit in range(outputs):
            back.units[unit] *= np.float32(kept[begin + unit] > 0.0)
        begin -= inputs
        _add(gradient, np.int64(layer.biases), np.float32(1.0), back.units, 0, outputs)
        listed = list_positive(kept[begin : begin + inputs], 0, room.listed_rows, room.listed_times, 0)
        _spread(gradient, weights, room.listed_rows, room.listed_times, 0, listed, back.units, 0, outputs)
        back.before[:inputs] = np.float32(0.0)
        for j in range(listed):
            unit = np.int64(room.listed_rows[j])
            back.before[unit] = row_dot(numbers, weights + unit * outputs, back.units, outputs)
        back.units[:inputs] = back.before[:inputs]
    _add(back.first, 0, np.float32(1.0), back.units, 0, back.first.size)


@leaf
def _back_from_first(net, room, back, count, gradient):
    """From the first layer to the inputs' weights, and to what is said of rows by their means."""
    its, numbers = net.network[0], net.numbers
    width, stride, pool = back.first.size, np.int64(its.rows), np.int64(its.pool)
    for unit in range(width):
        back.first[unit] *= np.float32(room.policy[unit] > 0.0)
    _add(gradient, np.int64(its.bias), np.float32(1.0), back.first, 0, width)
    _spread(gradient, np.int64(its.wide), room.wide_rows, room.times, 0, count, back.first, 0, width)
    if stride == 0:
        return
    listed = list_means(net.tables, room.q, stride, room.beside, room.listed_rows, room.listed_times)
    _spread(gradient, pool, room.listed_rows, room.listed_times, 0, listed, back.first, 0, width)
    back.mean[:] = np.float32(0.0)
    for j in range(listed):
        mean = np.int64(room.listed_rows[j])
        back.mean[mean] = row_dot(numbers, pool + mean * width, back.first, width)
    for i in range(net.tables.size):
        table = net.tables[i]
        if table.pooled != NOWHERE:
            begin, share = np.int64(table.pooled) * stride, np.float32(1.0) / np.float32(table.rows)
            for row in range(table.first, table.first + table.rows):
                place = row * stride
                for unit in range(stride):
                    positive = np.float32(room.q[place + unit] > 0.0)
                    back.q[place + unit] += back.mean[begin + unit] * share * positive


@leaf
def _back_to_side(weights, bias, row, stride, room, d, place, gradient):
    """To the weights of what a row adds to another one, by the other one's ``d[place:]``."""
    _add(gradient, bias, np.float32(1.0), d, place, stride)
    if weights != NOWHERE:
        _spread(gradient, weights, room.rows, room.times, room.begins[row], room.begins[row + 1], d, place, stride)


@leaf
def _back_to_rows(net, room, back, gradient):
    """To what rows in the vector say by themselves."""
    its = net.network[0]
    stride, alone = np.int64(its.rows), np.int64(its.alone)
    for i in range(net.tables.size):
        table = net.tables[i]
        if table.encoder != NOWHERE:
            for row in range(table.first, table.first + table.rows):
                at = row * stride
                _add(gradient, alone + at, np.float32(1.0), back.q, at, stride)
                _spread(
                    gradient, np.int64(table.encoder), room.rows, room.times, room.begins[row], room.begins[row + 1], back.q, at,
                    stride,
                )  # fmt: skip


@helper
def _back_to_joins(net, room, back, x, n, gradient):
    """To what rows in the vector say of rows that they refer to, and that refer to them."""
    stride = np.int64(net.network[0].rows)
    for k in range(net.references.size):
        value = int(x[net.references[k].entry])
        if value <= 0:
            continue
        row, join = np.int64(net.references[k].row), net.joins[net.references[k].join]
        other = np.int64(join.of) + value - 1
        if join.fixed:
            if join.to_bias != NOWHERE:
                _add(gradient, np.int64(join.to) + (value - 1) * stride, np.float32(1.0), back.q, row * stride, stride)
            continue
        if join.to_bias != NOWHERE:
            slot = np.int64(join.shown) + value - 1
            if back.shown_at[slot] != n:
                back.shown_at[slot] = n
                back.shown[slot * stride : (slot + 1) * stride] = np.float32(0.0)
            _add(back.shown, slot * stride, np.float32(1.0), back.q, row * stride, stride)
        if join.back_bias != NOWHERE:
            _back_to_side(
                np.int64(join.back), np.int64(join.back_bias), row, stride, room, back.q, other * stride, gradient
            )
    for k in range(net.references.size):
        value = int(x[net.references[k].entry])
        join = net.joins[net.references[k].join]
        if value > 0 and not join.fixed and join.to_bias != NOWHERE:
            slot, other = np.int64(join.shown) + value - 1, np.int64(join.of) + value - 1
            if back.shown_at[slot] == n:  # once for all that refer to it
                back.shown_at[slot] = NOWHERE
                _back_to_side(
                    np.int64(join.to), np.int64(join.to_bias), other, stride, room, back.shown, slot * stride, gradient
                )


@helper
def _back_to_fixed_rows(net, room, back, n, gradient):
    """To what finished rows of fixed tables say, with those that refer to them and those they refer to."""
    its = net.network[0]
    stride, in_vector, alone = np.int64(its.rows), np.int64(its.in_vector), np.int64(its.alone)
    for fixed in range(its.fixed):
        if room.finished[fixed] != n:
            continue
        place = (in_vector + fixed) * stride
        _add(gradient, alone + place, np.float32(1.0), back.q, place, stride)
        k = np.int64(room.latest[fixed])
        while k != NOWHERE:
            join, by = net.joins[net.references[k].join], np.int64(net.references[k].row)
            _back_to_side(np.int64(join.back), np.int64(join.back_bias), by, stride, room, back.q, place, gradient)
            k = np.int64(room.earlier[k])
        for i in range(net.link_begins[fixed], net.link_begins[fixed + 1]):
            link = net.links[i]
            _back_to_side(
                np.int64(link.to), np.int64(link.to_bias), np.int64(link.row), stride, room, back.q, place, gradient
            )


@leaf
def _clear_rows(net, room, back, n):
    its = net.network[0]
    stride, in_vector = np.int64(its.rows), np.int64(its.in_vector)
    back.q[: in_vector * stride] = np.float32(0.0)
    for fixed in range(its.fixed):
        if room.finished[fixed] == n:
            place = (in_vector + fixed) * stride
            back.q[place : place + stride] = np.float32(0.0)


@helper
def _go_back(net, room, back, observations, masks, actions, logits, d_chosen, d_entropy, d_values, gradient):
    its = net.network[0]
    value_layers, policy_layers = net.layers[its.policy_layers :], net.layers[: its.policy_layers]
    for n in range(actions.size):
        x = observations[n]
        count, legal, last, features = look(net, room, x, masks[n], n, logits)
        entropy = _to_logs(room.legal[:legal], logits)
        _clear_rows(net, room, back, n)
        back.first[:] = np.float32(0.0)
        _back_from_actions(
            net, room, back, room.legal[:legal], logits, actions[n], d_chosen[n], d_entropy[n], entropy, last, features, gradient,
        )  # fmt: skip
        _back_through_layers(policy_layers, net.numbers, room.policy, last, features, room, back, gradient)
        _back_from_values(net, room, back, d_values[n], last, features, gradient)
        _back_through_layers(value_layers, net.numbers, room.value, last, features, room, back, gradient)
        _back_from_first(net, room, back, count, gradient)
        if its.rows > 0:
            _back_to_rows(net, room, back, gradient)
            _back_to_joins(net, room, back, x, n, gradient)
            _back_to_fixed_rows(net, room, back, n, gradient)
        forget(net, room, x)


# ---------------------------------------------------------------- kernels

POSITIONS = (array_of(np.int16, 2), array_of(np.int8, 2), array_of(np.int64))
"""Signature types of observations (N, D), masks (N, A) and chosen actions (N,)."""
SHARED = (*NET_TYPES, array_of(WHOLE, 2), array_of(FLOAT, 2))
"""Those of a network, and of a row of each workspace for each thread: of :attr:`Arrangement.workspaces`, of :func:`back_sizes`, and A numbers more."""


@cache
def judge_kernel(parallel: bool) -> Any:
    """(observations, masks, actions, *:class:`~kepler_envs.networks.kernels.Net`, workspaces int32[T, ...] and float32[T, ...],
    chosen float32[N], entropy float32[N], values float32[N, P]).

    Fills log-probabilities of the chosen actions, entropies, and returns. T parts of the positions are shared between threads.
    """
    signature = (*POSITIONS, *SHARED, array_of(FLOAT), array_of(FLOAT), array_of(FLOAT, 2))

    @kernel(SCOPE, "judge_parallel" if parallel else "judge", signature, parallel=parallel)
    def judge(
        observations, masks, actions, network, numbers, entries, inputs, tables, joins, references, links, link_begins, layers,
        heads, pointers, wholes, floats, chosen, entropy, values,
    ):  # fmt: skip
        parts = len(wholes)
        for share in numba.prange(parts):
            net = Net(
                network,
                numbers,
                entries,
                inputs,
                tables,
                joins,
                references,
                links,
                link_begins,
                layers,
                heads,
                pointers,
            )
            used = np.zeros(2, np.int64)
            room = furnish(net, masks.shape[1], wholes[share], floats[share], used)
            logits = part(floats[share], used[1:], masks.shape[1])
            low, high = actions.size * share // parts, actions.size * (share + 1) // parts
            _judge(
                net, room, observations[low:high], masks[low:high], actions[low:high], logits, chosen[low:high], entropy[low:high],
                values[low:high],
            )  # fmt: skip

    return judge


@cache
def gradient_kernel(parallel: bool) -> Any:
    """(observations, masks, actions, *:class:`~kepler_envs.networks.kernels.Net`, workspaces int32[T, ...] and float32[T, ...],
    d_chosen float32[N], d_entropy float32[N], d_values float32[N, P], gradients float32[T, size]).

    Adds to each row of ``gradients`` the derivatives by the weights, of one of T parts of the positions.
    """
    signature = (*POSITIONS, *SHARED, array_of(FLOAT), array_of(FLOAT), array_of(FLOAT, 2), array_of(FLOAT, 2))

    @kernel(SCOPE, "gradient_parallel" if parallel else "gradient", signature, parallel=parallel)
    def gradient(
        observations, masks, actions, network, numbers, entries, inputs, tables, joins, references, links, link_begins, layers,
        heads, pointers, wholes, floats, d_chosen, d_entropy, d_values, gradients,
    ):  # fmt: skip
        parts = len(wholes)
        for share in numba.prange(parts):
            net = Net(
                network,
                numbers,
                entries,
                inputs,
                tables,
                joins,
                references,
                links,
                link_begins,
                layers,
                heads,
                pointers,
            )
            used = np.zeros(2, np.int64)
            room = furnish(net, masks.shape[1], wholes[share], floats[share], used)
            logits = part(floats[share], used[1:], masks.shape[1])
            back = _furnish_back(net, wholes[share], floats[share], used)
            low, high = actions.size * share // parts, actions.size * (share + 1) // parts
            _go_back(
                net, room, back, observations[low:high], masks[low:high], actions[low:high], logits, d_chosen[low:high],
                d_entropy[low:high], d_values[low:high], gradients[share],
            )  # fmt: skip

    return gradient
