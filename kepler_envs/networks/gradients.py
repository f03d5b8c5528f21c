"""How what a network says of chosen actions changes with its weights, in compiled code.

The network is that of ``kernels.py``: only inputs that are not 0, units above 0 and legal actions count, here as well. A position is looked at once to be
judged, and once more when its gradients are asked for; in between nothing of it is kept.

``gradient`` is a flat array like that of the weights: derivatives are added to it. Names beginning with ``d_`` are derivatives of the loss.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import exp, log
from typing import Any, NamedTuple

import numba
import numpy as np

from kepler_envs.engine.kernel import INT, array_of, borrowed, helper, kernel, leaf
from kepler_envs.networks.kernels import (
    FLOAT,
    NET_TYPES,
    NOWHERE,
    SCOPE,
    WHOLE,
    add_said,
    add_up_rows,
    as_net,
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
from kepler_envs.networks.simd import add_product, add_times, add_where_positive, spread_row


class Back(NamedTuple):
    """What becomes of derivatives on their way back, for the next position to be written over."""

    units: Any
    """(widest,), by the outputs of a layer."""
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
        int(net["widest"]) + int(net["width"]) + rows * (1 + int(net["pooled"]) + all_rows + int(net["shown"]))
    )


@helper
def _furnish_back(net, wholes, floats, used):
    its = net.network[0]
    widest, stride = np.int64(its.widest), np.int64(its.rows)
    whole, decimal = used[:1], used[1:]
    back = Back(
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
def _spread_said(gradient, begin, stride, rows, times, first, last, d, place):
    """``d[place:]``, so many times, to each of the rows ``rows[first:last]`` of the weights of what is said of a row."""
    at = 0
    while at + 32 <= stride:
        spread_row(gradient, begin + at, stride, rows, times, first, last, d, place + at, 32)
        at += 32
    if at < stride:
        spread_row(gradient, begin + at, stride, rows, times, first, last, d, place + at, 16)


@leaf
def _add_times(out, place, factor, row, begin, width):
    """``out[place:] += factor * row[begin:]``."""
    at = 0
    while at + 64 <= width:
        add_times(out, place + at, factor, row, begin + at, 64)
        at += 64
    while at + 16 <= width:
        add_times(out, place + at, factor, row, begin + at, 16)
        at += 16
    for unit in range(at, width):
        out[place + unit] += factor * row[begin + unit]


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
            _add_times(gradient, weights, d_logit, room.policy, last, features)
            _add_times(d_units, 0, d_logit, numbers, weights, features)
            if looks:
                look_at_rows(head, numbers, net.pointers, one, room.contexts, i * stride, room.q, room.beside)
                _back_from_rows(head, numbers, net.pointers, one, d_logit, room, back, gradient)
        if looks and asked:
            add_said(gradient, np.int64(head.bias), back.context, 0, stride)
            listed = list_positive(units, 0, room.listed_rows, room.listed_times, 0)
            context = np.int64(head.context)
            _spread_said(gradient, context, stride, room.listed_rows, room.listed_times, 0, listed, back.context, 0)
            for j in range(listed):
                unit = np.int64(room.listed_rows[j])
                d_units[unit] += row_dot(numbers, context + unit * stride, back.context, stride)


@leaf
def _back_from_rows(head, numbers, pointers, action, d_logit, room, back, gradient):
    """From an action's logit to the rows it points at; ``room.beside`` is the rectified sum."""
    stride = room.beside.size
    _add_times(gradient, np.int64(head.out), d_logit, room.beside, 0, stride)
    d_sum = room.said
    d_sum[:] = np.float32(0.0)
    _add_times(d_sum, 0, d_logit, numbers, np.int64(head.out), stride)
    for unit in range(stride):
        d_sum[unit] = d_sum[unit] if room.beside[unit] > 0.0 else np.float32(0.0)
    add_said(back.context, 0, d_sum, 0, stride)
    for axis in range(head.axes):
        row = np.int64(pointers[action, axis])
        if row != NOWHERE:
            factors, place = np.int64(head.factors) + axis * stride, row * stride
            for at in range(0, stride, 16):
                add_product(gradient, factors + at, d_sum, at, room.q, place + at, 16)
                add_product(back.q, place + at, d_sum, at, numbers, factors + at, 16)


@leaf
def _back_from_values(net, room, back, d_values, last, features, gradient):
    """From the returns of all seats to the value's last outputs, ``back.units``."""
    its, numbers = net.network[0], net.numbers
    back.units[:features] = np.float32(0.0)
    for seat in range(d_values.size):
        weights = np.int64(its.values) + seat * features
        gradient[its.value_biases + seat] += d_values[seat]
        _add_times(gradient, weights, d_values[seat], room.value, last, features)
        _add_times(back.units, 0, d_values[seat], numbers, weights, features)


@helper
def _back_through_layers(layers, numbers, kept, last, room, back, d_kept):
    """From the last outputs, ``back.units``, to those of the first layer, to whose derivatives they are added.

    Of all layers but the first ``d_kept`` becomes the derivatives by their outputs before they are rectified.
    """
    begin = last
    for number in range(layers.size):
        layer = layers[layers.size - 1 - number]
        inputs, outputs = np.int64(layer.inputs), np.int64(layer.outputs)
        weights = np.int64(layer.weights)
        for unit in range(outputs):
            d_kept[begin + unit] = back.units[unit] if kept[begin + unit] > 0.0 else np.float32(0.0)
        back.units[:inputs] = np.float32(0.0)
        for unit in range(inputs):
            if kept[begin - inputs + unit] > 0.0:
                back.units[unit] = row_dot(numbers, weights + unit * outputs, d_kept[begin : begin + outputs], outputs)
        begin -= inputs
    _add_times(back.first, 0, np.float32(1.0), back.units, 0, back.first.size)


@leaf
def _back_from_first(net, room, back, d_first, gradient):
    """From the first layer to what is said of rows by their means; ``d_first`` becomes the derivatives by its outputs before they are rectified."""
    its, numbers = net.network[0], net.numbers
    width, stride, pool = back.first.size, np.int64(its.rows), np.int64(its.pool)
    for unit in range(width):
        d_first[unit] = back.first[unit] if room.policy[unit] > 0.0 else np.float32(0.0)
    if stride == 0:
        return
    listed = list_means(net.tables, room.q, stride, room.beside, room.listed_rows, room.listed_times)
    back.mean[:] = np.float32(0.0)
    for j in range(listed):
        mean = np.int64(room.listed_rows[j])
        _add_times(gradient, pool + mean * width, room.listed_times[j], d_first, 0, width)
        back.mean[mean] = row_dot(numbers, pool + mean * width, d_first, width)
    for i in range(net.tables.size):
        table = net.tables[i]
        if table.pooled != NOWHERE:
            begin, share = np.int64(table.pooled) * stride, np.float32(1.0) / np.float32(table.rows)
            for unit in range(begin, begin + stride):
                back.mean[unit] *= share
            for row in range(table.first, table.first + table.rows):
                for at in range(row * stride, (row + 1) * stride, 16):
                    add_where_positive(back.q, at, back.mean, begin + at - row * stride, room.q, at, 16)


@leaf
def _back_to_side(weights, bias, row, stride, room, d, place, gradient):
    """To the weights of what a row adds to another one, by the other one's ``d[place:]``."""
    add_said(gradient, bias, d, place, stride)
    if weights != NOWHERE:
        _spread_said(gradient, weights, stride, room.rows, room.times, room.begins[row], room.begins[row + 1], d, place)


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
                _back_to_side(np.int64(table.encoder), alone + at, row, stride, room, back.q, at, gradient)


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
                add_said(gradient, np.int64(join.to) + (value - 1) * stride, back.q, row * stride, stride)
            continue
        if join.to_bias != NOWHERE:
            slot = np.int64(join.shown) + value - 1
            if back.shown_at[slot] != n:
                back.shown_at[slot] = n
                back.shown[slot * stride : (slot + 1) * stride] = np.float32(0.0)
            add_said(back.shown, slot * stride, back.q, row * stride, stride)
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
        add_said(gradient, alone + place, back.q, place, stride)
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


class Ledger(NamedTuple):
    """What is kept of all positions of a part: products of many of them are summed up at once."""

    policy: Any
    """float32 (N, kept), outputs of the policy's layers."""
    value: Any
    d_policy: Any
    """The same shape: derivatives by these outputs before they are rectified; those of the first layer by all that follow it."""
    d_value: Any
    begins: Any
    """int64 (N + 1,), the first input of each position."""
    inputs: Any
    """int32, numbers of the inputs that are not 0, as of INPUT.wide."""
    times: Any
    """float32."""


@helper
def _go_back(net, room, back, ledger, observations, masks, actions, logits, d_chosen, d_entropy, d_values, gradient):
    its = net.network[0]
    value_layers, policy_layers = net.layers[its.policy_layers :], net.layers[: its.policy_layers]
    used = 0
    for n in range(actions.size):
        x, d_policy, d_value = observations[n], ledger.d_policy[n], ledger.d_value[n]
        count, legal, last, features = look(net, room, x, masks[n], n, logits)
        entropy = _to_logs(room.legal[:legal], logits)
        _clear_rows(net, room, back, n)
        back.first[:] = np.float32(0.0)
        _back_from_actions(
            net, room, back, room.legal[:legal], logits, actions[n], d_chosen[n], d_entropy[n], entropy, last, features, gradient,
        )  # fmt: skip
        _back_through_layers(policy_layers, net.numbers, room.policy, last, room, back, d_policy)
        _back_from_values(net, room, back, d_values[n], last, features, gradient)
        _back_through_layers(value_layers, net.numbers, room.value, last, room, back, d_value)
        _back_from_first(net, room, back, d_policy, gradient)
        if its.rows > 0:
            _back_to_rows(net, room, back, gradient)
            _back_to_joins(net, room, back, x, n, gradient)
            _back_to_fixed_rows(net, room, back, n, gradient)
        forget(net, room, x)
        ledger.policy[n, :] = room.policy
        ledger.value[n, :] = room.value
        ledger.begins[n] = used
        ledger.inputs[used : used + count] = room.wide_rows[:count]
        ledger.times[used : used + count] = room.times[:count]
        used += count
    ledger.begins[actions.size] = used


@helper
def _sum_first_layer(net, ledger, wide_rows, gradient):
    """The gradient of the first layer, one input after the other: each is one sum over the positions in which it is not 0."""
    its = net.network[0]
    width, wide, kept = np.int64(its.width), np.int64(its.wide), np.int64(its.kept)
    used = ledger.begins[ledger.begins.size - 1]
    begins = np.zeros(wide_rows + 1, np.int64)
    for i in range(used):
        begins[ledger.inputs[i] + 1] += 1
    for row in range(wide_rows):
        begins[row + 1] += begins[row]
    positions, times = np.empty(used, np.int32), np.empty(used, np.float32)
    ends = begins[:wide_rows].copy()
    for n in range(ledger.begins.size - 1):
        for i in range(ledger.begins[n], ledger.begins[n + 1]):
            row = ledger.inputs[i]
            positions[ends[row]] = n
            times[ends[row]] = ledger.times[i]
            ends[row] += 1
    d_first = ledger.d_policy.reshape(-1)
    for row in range(wide_rows):
        if begins[row + 1] > begins[row]:
            place = wide + row * width
            add_up_rows(
                gradient[place : place + width], gradient, place, d_first, 0, positions, times, begins[row], begins[row + 1], kept
            )  # fmt: skip


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
            net = as_net(
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
    policy, value, d_policy, d_value float32[N, kept], inputs int32[N, I], times float32[N, I],
    wide_rows int64, d_chosen float32[N], d_entropy float32[N], d_values float32[N, P], gradients float32[T, size]).

    Adds to each row of ``gradients`` the derivatives by the weights, of one of T parts of the positions; those of biases and dense layers
    are left to :func:`finish`.
    """
    signature = (
        *POSITIONS, *SHARED, *[array_of(FLOAT, 2)] * 4, array_of(WHOLE, 2), array_of(FLOAT, 2), INT,
        array_of(FLOAT), array_of(FLOAT), array_of(FLOAT, 2), array_of(FLOAT, 2),
    )  # fmt: skip

    @kernel(SCOPE, "gradient_parallel" if parallel else "gradient", signature, parallel=parallel)
    def gradient(
        observations, masks, actions, network, numbers, entries, inputs, tables, joins, references, links, link_begins, layers,
        heads, pointers, wholes, floats, policy, value, d_policy, d_value, found, times, wide_rows, d_chosen, d_entropy, d_values,
        gradients,
    ):  # fmt: skip
        parts = len(wholes)
        for share in numba.prange(parts):
            net = as_net(
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
            begins = np.zeros(high - low + 1, np.int64)
            ledger = Ledger(
                borrowed(policy[low:high]), borrowed(value[low:high]), borrowed(d_policy[low:high]), borrowed(d_value[low:high]),
                borrowed(begins), borrowed(found[low:high].reshape(-1)), borrowed(times[low:high].reshape(-1)),
            )  # fmt: skip
            _go_back(
                net, room, back, ledger, observations[low:high], masks[low:high], actions[low:high], logits, d_chosen[low:high],
                d_entropy[low:high], d_values[low:high], borrowed(gradients[share]),
            )  # fmt: skip
            _sum_first_layer(net, ledger, wide_rows, borrowed(gradients[share]))
            begins[0] = 0  # what is borrowed lives until here

    return gradient


def finish(
    network: np.ndarray, layers: np.ndarray, policy: np.ndarray, value: np.ndarray, d_policy: np.ndarray, d_value: np.ndarray,
    multiply: Callable[[np.ndarray, np.ndarray], np.ndarray], gradient: np.ndarray,
) -> None:  # fmt: skip
    """Add the derivatives of the first bias and of the dense layers.

    Args:
        network: NETWORK[1]. layers: of :class:`~kepler_envs.networks.kernels.Net`.
        policy, value, d_policy, d_value: float32 (N, kept), what the kernel has filled.
        multiply: the product of the transpose of a matrix with another one.
        gradient: float32 (size,).
    """
    its = network[0]
    width, policy_layers = int(its["width"]), int(its["policy_layers"])
    bias = int(its["bias"])
    gradient[bias : bias + width] += d_policy[:, :width].sum(0)
    for number, layer in enumerate(layers):
        kept, d_kept = (policy, d_policy) if number < policy_layers else (value, d_value)
        begin = 0 if number in (0, policy_layers) else end  # noqa: F821 - the layer before it has set it
        end = begin + int(layer["inputs"])
        outputs = int(layer["outputs"])
        d_outputs = d_kept[:, end : end + outputs]
        weights, biases = int(layer["weights"]), int(layer["biases"])
        gradient[weights : weights + (end - begin) * outputs] += multiply(kept[:, begin:end], d_outputs).ravel()
        gradient[biases : biases + outputs] += d_outputs.sum(0)
