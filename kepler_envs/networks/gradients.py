"""How what a network says of actions changes with its weights, in compiled code.

The network is that of ``kernels.py``. Here, too, only inputs that are not 0, units above 0 and legal actions count.
Where the loss is a :class:`Goal`, a position is looked at once. Where somebody else computes the loss, it is looked at
once to be judged and once more for its gradients, and nothing of it is kept in between.

``gradient`` is a flat array like that of the weights, to which derivatives are added. Names beginning with ``d_`` are
derivatives of the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import exp, log
from typing import Any, NamedTuple

import numpy as np

from kepler_envs.engine.bits import ONE
from kepler_envs.engine.kernel import array_of, borrowed, helper, kernel, leaf
from kepler_envs.networks.kernels import (
    FLOAT,
    NET_TYPES,
    NOWHERE,
    SCOPE,
    WHOLE,
    add_multiple,
    add_products,
    add_said,
    add_up_rows,
    as_net,
    clear_rooms,
    forget,
    list_positive,
    look,
    look_at_rows,
    part,
    room_of,
    row_dot,
    tell_values,
)
from kepler_envs.networks.simd import (
    BLOCK,
    REGISTER,
    add_product,
    add_where_positive,
    keep_where_positive,
    spread_row,
)


class Back(NamedTuple):
    """The derivatives of a position on their way back. A later position overwrites them."""

    policy: Any
    """As :class:`~kepler_envs.networks.kernels.Room`'s: by the outputs of layers; of all but the first one before they
    are rectified, at last."""
    value: Any
    means: Any
    context: Any
    """(R,)."""
    q: Any
    """(all rows * R,), by what is said of each row; of fixed tables of those that were finished."""
    shown: Any
    shown_at: Any
    policy_at: Any
    """Where ``policy`` begins in its workspace; so for the next two."""
    value_at: Any
    means_at: Any


def back_sizes(net: np.ndarray) -> tuple[int, int]:
    """The sizes of a Back in whole and in decimal numbers."""
    rows = int(net["rows"])
    all_rows = int(net["in_vector"] + net["fixed"])
    return int(net["shown"]), 2 * int(net["kept"]) + rows * (1 + int(net["pooled"]) + all_rows + int(net["shown"]))


@leaf
def _back_of(net, place, all_wholes, all_floats, used):
    """What is left of a position's workspaces behind its Room, as a Back. ``used`` tells where that begins."""
    wholes, floats = borrowed(all_wholes[place]), borrowed(all_floats[place])
    its = net.network[0]
    kept, stride, pooled = np.int64(its.kept), np.int64(its.rows), np.int64(its.pooled)
    whole, decimal = borrowed(used[:1]), borrowed(used[1:])
    policy_at = used[1]
    return Back(
        part(floats, decimal, kept), part(floats, decimal, kept), part(floats, decimal, stride * pooled),
        part(floats, decimal, stride),
        part(floats, decimal, stride * (np.int64(its.in_vector) + its.fixed)),
        part(floats, decimal, stride * its.shown),
        part(wholes, whole, np.int64(its.shown)), policy_at, policy_at + kept, policy_at + 2 * kept,
    )  # fmt: skip


# ---------------------------------------------------------------- sums


@leaf
def _spread_said(gradient, begin, stride, rows, times, first, last, d, place):
    """Add ``d[place:]``, that many times, to each of the rows ``rows[first:last]`` of the weights of what is said of a
    row."""
    at = 0
    while at + 32 <= stride:
        spread_row(gradient, begin + at, stride, rows, times, first, last, d, place + at, 32)
        at += 32
    if at < stride:
        spread_row(gradient, begin + at, stride, rows, times, first, last, d, place + at, 16)


# ---------------------------------------------------------------- judging


class Judged(NamedTuple):
    """What a network says of N decisions.

    Attributes:
        told: float32 (N,), log-probabilities of the actions, each times its share and added up.
        entropy: float32 (N,), of the choice.
        values: float32 (N, P), the returns it expects for all seats, the observing one first.
    """

    told: np.ndarray
    entropy: np.ndarray
    values: np.ndarray


@leaf
def _to_logs(legal, logits):
    """Turn logits of the legal actions into log-probabilities. Returns the entropy."""
    largest = np.float32(-np.inf)
    for k in range(legal.size):
        largest = max(largest, logits[legal[k]])
    total = np.float32(0.0)
    for k in range(legal.size):
        total += np.float32(exp(logits[legal[k]] - largest))
    shift = np.float32(log(total))
    entropy = np.float32(0.0)
    for k in range(legal.size):
        # One after the other: in their sum, the rounding of a large logit would drown what is left of a sure choice,
        # and with it that all derivatives of a position add up to 0.
        logits[legal[k]] = logits[legal[k]] - largest - shift
        entropy -= np.float32(exp(logits[legal[k]])) * logits[legal[k]]
    return entropy


@leaf
def _told(actions, shares, logits):
    total = np.float32(0.0)
    for k in range(actions.size):
        if shares[k] != 0.0:
            total += shares[k] * logits[actions[k]]
    return total


# ---------------------------------------------------------------- the loss

CLIP, POLICY, ENTROPY, VALUE = range(4)
"""Places in ``rates``: how far the probability of an action may move from what it was, as a share of it, and what the
losses of a position's policy, of its entropy and of one of its values count in the sum of all."""


class Goal(NamedTuple):
    """A loss that kernels know. All are arrays; those of an unused part are empty.

    With ``before``, the policy's loss is PPO's clipped one (Schulman et al. 2017, equation 7). Without, it is the
    cross-entropy: what is told of an action is to become large. The values' loss is the squared error.
    """

    before: Any
    """float32 (N,): what was told of the actions when they were chosen."""
    advantages: Any
    """float32 (N,)."""
    returns: Any
    """float32 (N, S) of the first S seats, NaN where they are not known."""
    rates: Any
    """float32 (4,); empty if somebody else computes the loss."""


class Derivatives(NamedTuple):
    """The derivatives of the loss by what is judged: see :class:`Judged`."""

    told: Any
    entropy: Any
    values: Any


@leaf
def _pursue(goal, n, judged, d):
    """Find the derivatives of a position's loss."""
    rates = goal.rates
    d.told[n] = -rates[POLICY]
    if goal.before.size > 0:
        ratio, advantage = np.float32(exp(judged.told[n] - goal.before[n])), goal.advantages[n]
        clipped = ratio > 1.0 + rates[CLIP] if advantage > 0.0 else ratio < 1.0 - rates[CLIP]
        d.told[n] = np.float32(0.0) if clipped else -rates[POLICY] * advantage * ratio
    d.entropy[n] = -rates[ENTROPY]
    for seat in range(d.values.shape[1]):
        d.values[n, seat] = np.float32(0.0)
        if seat < goal.returns.shape[1]:
            error = judged.values[n, seat] - goal.returns[n, seat]
            if error == error:  # the return is known
                d.values[n, seat] = np.float32(2.0) * rates[VALUE] * error


# ---------------------------------------------------------------- back through a position


@leaf
def _share_out(legal, logits, actions, shares, d_told, d_entropy, entropy):
    """Turn log-probabilities of the legal actions into what the loss changes with their logits."""
    total = np.float32(0.0)
    for k in range(shares.size):
        total += shares[k]
    for k in range(legal.size):
        chance = np.float32(exp(logits[legal[k]]))
        logits[legal[k]] = -d_told * total * chance - d_entropy * chance * (logits[legal[k]] + entropy)
    for k in range(shares.size):
        if shares[k] != 0.0:
            logits[actions[k]] += d_told * shares[k]


@leaf
def _back_from_actions(net, room, back, legal, d_logits, last, features, gradient):
    """Go back from logits to the policy's last outputs and to the rows that legal actions point at."""
    its, numbers = net.network[0], net.numbers
    stride = np.int64(its.rows)
    units, d_units = room.policy[last : last + features], back.policy[last : last + features]
    d_units[:] = np.float32(0.0)
    k = 0
    for i in range(net.heads.size):
        head = net.heads[i]
        looks = head.context != NOWHERE
        asked = k < legal.size and legal[k] < head.last
        back.context[:] = np.float32(0.0)
        while k < legal.size and legal[k] < head.last:
            one = np.int64(legal[k])
            k += 1
            d_logit = d_logits[one]
            gradient[its.action_biases + one] += d_logit
            weights = np.int64(its.actions) + one * features
            add_multiple(gradient, weights, d_logit, room.policy, last, features)
            add_multiple(d_units, 0, d_logit, numbers, weights, features)
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
def _back_from_choice(net, room, back, choice, d_logits, last, features, gradient):
    """Go back from the logit of a bot's choice to how much better that is taken to be."""
    its = net.network[0]
    gradient[its.follow_bias] += d_logits[choice]
    add_multiple(gradient, np.int64(its.follow), d_logits[choice], room.policy, last, features)
    add_multiple(back.policy, last, d_logits[choice], net.numbers, np.int64(its.follow), features)


@leaf
def _back_from_rows(head, numbers, pointers, action, d_logit, room, back, gradient):
    """Go back from an action's logit to the rows it points at. ``room.beside`` is the rectified sum."""
    stride = room.beside.size
    add_multiple(gradient, np.int64(head.out), d_logit, room.beside, 0, stride)
    d_sum = room.said
    d_sum[:] = np.float32(0.0)
    add_multiple(d_sum, 0, d_logit, numbers, np.int64(head.out), stride)
    for at in range(0, stride, REGISTER):
        keep_where_positive(d_sum, at, room.beside, at, REGISTER)
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
    """Go back from the returns of all seats to the value's last outputs."""
    its, numbers = net.network[0], net.numbers
    d_units = back.value[last : last + features]
    d_units[:] = np.float32(0.0)
    for seat in range(d_values.size):
        weights = np.int64(its.values) + seat * features
        gradient[its.value_biases + seat] += d_values[seat]
        add_multiple(gradient, weights, d_values[seat], room.value, last, features)
        add_multiple(d_units, 0, d_values[seat], numbers, weights, features)


@leaf
def _set_products(floats, place, begin, stride, inner, numbers, weights, width):
    """As :func:`~kepler_envs.networks.kernels.add_products`, to zeros."""
    for row in range(0, BLOCK * stride, stride):
        floats[place + row : place + row + width] = np.float32(0.0)
    add_products(floats, place, begin, stride, inner, numbers, weights, width)


@helper
def _back_through_layers(layers, numbers, last, floats, kept, d_kept, stride):
    """Go back from the last outputs to those of the first layer, whose derivatives are not gated yet."""
    begin = last
    for number in range(layers.size):
        layer = layers[layers.size - 1 - number]
        inputs, outputs = np.int64(layer.inputs), np.int64(layer.outputs)
        for row in range(0, BLOCK * stride, stride):
            _gate(floats, d_kept + begin + row, kept + begin + row, outputs)
        begin -= inputs
        _set_products(
            floats, d_kept + begin, d_kept + begin + inputs, stride, outputs, numbers, np.int64(layer.back), inputs
        )


@leaf
def _gate(floats, d_outputs, outputs, width):
    """Set derivatives by outputs that were rectified to 0 to 0."""
    at = 0
    while at + REGISTER <= width:
        keep_where_positive(floats, d_outputs + at, floats, outputs + at, REGISTER)
        at += REGISTER
    for unit in range(at, width):
        floats[d_outputs + unit] = floats[d_outputs + unit] if floats[outputs + unit] > 0.0 else np.float32(0.0)


@leaf
def _back_from_means(net, room, back):
    """Go back from means over rows to what is said of the rows."""
    stride = np.int64(net.network[0].rows)
    for i in range(net.tables.size):
        table = net.tables[i]
        if table.pooled != NOWHERE:
            begin, share = np.int64(table.pooled) * stride, np.float32(1.0) / np.float32(table.rows)
            for unit in range(begin, begin + stride):
                back.means[unit] *= share
            for row in range(table.first, table.first + table.rows):
                for at in range(row * stride, (row + 1) * stride, 16):
                    add_where_positive(back.q, at, back.means, begin + at - row * stride, room.q, at, 16)


@leaf
def _back_to_side(weights, bias, row, stride, room, d, place, gradient):
    """Go back to the weights of what a row adds to another one, by the other one's ``d[place:]``."""
    add_said(gradient, bias, d, place, stride)
    if weights != NOWHERE:
        _spread_said(gradient, weights, stride, room.rows, room.times, room.begins[row], room.begins[row + 1], d, place)


@leaf
def _back_to_rows(net, room, back, gradient):
    """Go back to what rows in the vector say by themselves."""
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
    """Go back to what rows in the vector say of rows that they refer to, and that refer to them."""
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
    """Go back to what finished rows of fixed tables say, with those they refer to and those that refer to them."""
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


# ---------------------------------------------------------------- the first layer

TWO = np.uint64(2)
CHUNK = 8 * BLOCK
"""Positions whose inputs are put in order at once: few enough for their derivatives to stay in the first cache."""


class Added(NamedTuple):
    """The inputs of a chunk of positions that are not 0, position by position, then row by row of the first layer.

    A row is in many positions, so its derivatives are summed up in registers, and read and written once a chunk.
    """

    begins: Any
    """int32 (CHUNK + 1,): where the inputs of each position begin."""
    rows: Any
    times: Any
    row_begins: Any
    """int32 (wide_rows + 2,): where the positions of each row begin."""
    positions: Any
    row_times: Any


def added_sizes(net: np.ndarray, inputs: int) -> tuple[int, int]:
    """The sizes of an Added in whole and in decimal numbers."""
    return CHUNK + 1 + int(net["wide_rows"]) + 2 + 2 * CHUNK * inputs, 2 * CHUNK * inputs


@leaf
def _added_of(net, wholes, floats, used):
    """The two workspaces of :func:`added_sizes` as an Added."""
    its, most = net.network[0], CHUNK * net.entries.size
    used[0], used[1] = 0, 0
    whole, decimal = borrowed(used[:1]), borrowed(used[1:])
    return Added(
        part(wholes, whole, CHUNK + 1), part(wholes, whole, most), part(floats, decimal, most),
        part(wholes, whole, np.int64(its.wide_rows) + 2), part(wholes, whole, most), part(floats, decimal, most),
    )  # fmt: skip


@leaf
def _append(room, count, added, position):
    """Append the inputs of a position, and count in how many positions each row is."""
    begin = np.uint64(added.begins[position])
    for i in range(np.uint64(count)):
        row = np.uint64(room.wide_rows[i])
        added.rows[begin + i] = row
        added.times[begin + i] = room.times[i]
        added.row_begins[row + TWO] += 1
    added.begins[position + 1] = begin + np.uint64(count)


@leaf
def _sort_by_row(added, positions):
    """Put what was appended in the order of rows. In a row, positions keep theirs."""
    begins = added.row_begins
    for row in range(2, begins.size):
        begins[row] += begins[row - 1]
    for position in range(positions):
        for i in range(np.uint64(added.begins[position]), np.uint64(added.begins[position + 1])):
            row = np.uint64(added.rows[i]) + ONE
            place = np.uint64(begins[row])
            begins[row] += 1  # at last it is where the next row begins
            added.positions[place] = position
            added.row_times[place] = added.times[i]


@leaf
def _back_to_first_layer(net, added, first, positions, d_policy, gradient):
    """Go back to what the inputs add to the first layer, from position ``first`` on."""
    its = net.network[0]
    width, kept = np.int64(its.width), d_policy.shape[1]
    d_first = borrowed(d_policy.reshape(-1))
    _sort_by_row(added, positions)
    for row in range(np.int64(its.wide_rows)):
        begin, end = added.row_begins[row], added.row_begins[row + 1]
        if begin < end:
            at = np.int64(its.wide) + row * width
            sums = borrowed(gradient[at : at + width])
            add_up_rows(sums, sums, 0, d_first, first * kept, added.positions, added.row_times, begin, end, kept)


# ---------------------------------------------------------------- all positions


class Ledger(NamedTuple):
    """What is kept of all positions of a part. Products of many of them are summed up at once."""

    policy: Any
    """float32 (N, kept), outputs of the policy's layers."""
    value: Any
    means: Any
    """float32 (N, pooled * R)."""
    d_policy: Any
    """float32 (N, kept): derivatives by these outputs before they are rectified; those of the first layer by all that
    follow it."""
    d_value: Any


@leaf
def _clear(net, actions, wholes, floats, used):
    """Prepare the workspaces."""
    clear_rooms(net, actions, wholes, floats, used)
    for place in range(BLOCK):
        room_of(net, actions, place, wholes, floats, used)
        back = _back_of(net, place, wholes, floats, used)
        back.shown_at[:] = NOWHERE
        back.policy[:] = np.float32(0.0)
        back.value[:] = np.float32(0.0)


@leaf
def _back_from_answers(
    net, wholes, floats, used, observations, masks, actions, shares, logits, goal, judged, d, gradient, n, place,
    legal_count, last, features
):  # fmt: skip
    """Judge position ``n``, in this place of the block, and go back to the last outputs of policy and value."""
    its = net.network[0]
    room = room_of(net, masks.shape[1], place, wholes, floats, used)
    back = _back_of(net, place, wholes, floats, used)
    legal, given = room.legal[:legal_count], borrowed(logits[place])
    entropy = _to_logs(legal, given)
    if goal.rates.size > 0:
        judged.entropy[n] = entropy
        judged.told[n] = _told(actions[n], shares[n], given)
        tell_values(net, room, last, features, borrowed(judged.values[n]))
        _pursue(goal, n, judged, d)
    _clear_rows(net, room, back, n)
    _share_out(legal, given, actions[n], shares[n], d.told[n], d.entropy[n], entropy)
    _back_from_actions(net, room, back, legal, given, last, features, gradient)
    choice = np.int64(observations[n, its.choice]) if its.choice != NOWHERE else 0
    if its.choice != NOWHERE and masks[n, choice] != 0:
        _back_from_choice(net, room, back, choice, given, last, features, gradient)
    _back_from_values(net, room, back, borrowed(d.values[n]), last, features, gradient)


@leaf
def _back_through_block(net, actions, wholes, floats, used, last):
    """Go back from the last outputs of a block to the outputs of the first layer and to the means over rows."""
    its = net.network[0]
    value_layers, policy_layers = net.layers[its.policy_layers :], net.layers[: its.policy_layers]
    flat, stride = borrowed(floats.reshape(-1)), floats.shape[1]
    width, inner = np.int64(its.width), np.int64(its.pooled) * np.int64(its.rows)
    room = room_of(net, actions, 0, wholes, floats, used)
    back = _back_of(net, 0, wholes, floats, used)
    _back_through_layers(policy_layers, net.numbers, last, flat, room.policy_at, back.policy_at, stride)
    _back_through_layers(value_layers, net.numbers, last, flat, room.value_at, back.value_at, stride)
    for row in range(0, BLOCK * stride, stride):
        for unit in range(width):
            flat[back.policy_at + row + unit] += flat[back.value_at + row + unit]
        _gate(flat, back.policy_at + row, room.policy_at + row, width)
    _set_products(flat, back.means_at, back.policy_at, stride, width, net.numbers, np.int64(its.pool_back), inner)


@leaf
def _note(room, back, ledger, n):
    """Write a position into the ledger."""
    _copy(ledger.policy, n, room.policy)
    _copy(ledger.value, n, room.value)
    _copy(ledger.means, n, room.means)
    _copy(ledger.d_policy, n, back.policy)
    _copy(ledger.d_value, n, back.value)


@leaf
def _copy(to, n, source):
    """Write ``source`` into a row. An assignment of whole arrays would ask for each number how long the array is."""
    for unit in range(source.size):
        to[n, unit] = source[unit]


@helper
def _go_back(
    net, wholes, floats, ledger, added, observations, masks, actions, shares, logits, goal, judged, d, gradient
):  # fmt: skip
    used, looks = np.zeros(2, np.int64), np.zeros((BLOCK, 2), np.int64)
    _clear(net, masks.shape[1], wholes, floats, used)
    positions = observations.shape[0]
    for low in range(0, positions, CHUNK):
        high = min(low + CHUNK, positions)
        added.row_begins[:] = 0
        for first in range(low, high, BLOCK):
            count = min(BLOCK, high - first)
            last, features = look(net, observations, masks, first, count, wholes, floats, used, logits, looks)
            for place in range(count):
                _back_from_answers(
                    net, wholes, floats, used, observations, masks, actions, shares, logits, goal, judged, d, gradient,
                    first + place, place, looks[place, 1], last, features,
                )  # fmt: skip
            _back_through_block(net, masks.shape[1], wholes, floats, used, last)
            for place in range(count):
                n = first + place
                x = borrowed(observations[n])
                room = room_of(net, masks.shape[1], place, wholes, floats, used)
                back = _back_of(net, place, wholes, floats, used)
                if net.network[0].rows > 0:
                    _back_from_means(net, room, back)
                    _back_to_rows(net, room, back, gradient)
                    _back_to_joins(net, room, back, x, n, gradient)
                    _back_to_fixed_rows(net, room, back, n, gradient)
                _append(room, looks[place, 0], added, n - low)
                forget(net, room, x)
                _note(room, back, ledger, n)
        _back_to_first_layer(net, added, low, high - low, ledger.d_policy, gradient)
    used[0] = 0  # what is borrowed lives until here


# ---------------------------------------------------------------- kernels

POSITIONS = (array_of(np.int16, 2), array_of(np.int8, 2), array_of(np.int64, 2), array_of(FLOAT, 2))
"""Signature types of observations (N, D), masks (N, A), and K legal actions (N, K) with their shares (N, K); one of
share 0 may be any number."""
SHARED = (*NET_TYPES, array_of(WHOLE, 2), array_of(FLOAT, 2), array_of(FLOAT, 2))
"""Those of a network, and of workspaces (BLOCK, ...): of :attr:`Arrangement.workspaces` and :func:`back_sizes`, and of
A numbers."""
JUDGED = (array_of(FLOAT), array_of(FLOAT), array_of(FLOAT, 2))
GOAL = (array_of(FLOAT), array_of(FLOAT), array_of(FLOAT, 2), array_of(FLOAT))


@cache
def judge_kernel() -> Any:
    """(observations, masks, actions, shares, *:class:`~kepler_envs.networks.kernels.Net`, workspaces int32, float32,
    float32 (BLOCK, ...), *:class:`Judged`).

    Fills what is judged.
    """
    signature = (*POSITIONS, *SHARED, *JUDGED)

    @kernel(SCOPE, "judge", signature)
    def judge(
        observations, masks, actions, shares, network, numbers, entries, inputs, tables, joins, references, links,
        link_begins, layers,
        heads, pointers, wholes, floats, logits, told, entropy, values,
    ):  # fmt: skip
        net = as_net(
            network, numbers, entries, inputs, tables, joins, references, links, link_begins, layers, heads, pointers
        )
        used, looks = np.zeros(2, np.int64), np.zeros((BLOCK, 2), np.int64)
        clear_rooms(net, masks.shape[1], wholes, floats, used)
        for first in range(0, observations.shape[0], BLOCK):
            count = min(BLOCK, observations.shape[0] - first)
            last, features = look(net, observations, masks, first, count, wholes, floats, used, logits, looks)
            for place in range(count):
                n = first + place
                room = room_of(net, masks.shape[1], place, wholes, floats, used)
                given = borrowed(logits[place])
                entropy[n] = _to_logs(room.legal[: looks[place, 1]], given)
                told[n] = _told(borrowed(actions[n]), borrowed(shares[n]), given)
                tell_values(net, room, last, features, borrowed(values[n]))
                forget(net, room, borrowed(observations[n]))
        used[0] = 0  # what is borrowed lives until here

    return judge


@cache
def gradient_kernel() -> Any:
    """(observations, masks, actions, shares, *:class:`~kepler_envs.networks.kernels.Net`, workspaces int32, float32,
    float32 (BLOCK, ...), int32 and float32 of :func:`added_sizes`, policy, value float32[N, kept], means float32[N,
    pooled * R], d_policy, d_value float32[N, kept], *:class:`Goal`, *:class:`Judged`, *:class:`Derivatives`, gradient
    float32[size]).

    Adds to ``gradient`` the derivatives by the weights; those of dense layers and of the first bias are left to
    :func:`finish`. With a goal, fills what is judged and the derivatives of the loss. Without, uses the derivatives
    that are given.
    """
    signature = (
        *POSITIONS, *SHARED, array_of(WHOLE), array_of(FLOAT), *[array_of(FLOAT, 2)] * 5, *GOAL, *JUDGED, *JUDGED,
        array_of(FLOAT),
    )  # fmt: skip

    @kernel(SCOPE, "gradient", signature)
    def add_gradient(
        observations, masks, actions, shares, network, numbers, entries, inputs, tables, joins, references, links,
        link_begins, layers,
        heads, pointers, wholes, floats, logits, added_wholes, added_floats, policy, value, means, d_policy, d_value,
        before, advantages, returns, rates, told, entropy, values, d_told, d_entropy, d_values, gradient,
    ):  # fmt: skip
        net = as_net(
            network, numbers, entries, inputs, tables, joins, references, links, link_begins, layers, heads, pointers
        )
        ledger = Ledger(borrowed(policy), borrowed(value), borrowed(means), borrowed(d_policy), borrowed(d_value))
        goal = Goal(borrowed(before), borrowed(advantages), borrowed(returns), borrowed(rates))
        judged = Judged(borrowed(told), borrowed(entropy), borrowed(values))
        d = Derivatives(borrowed(d_told), borrowed(d_entropy), borrowed(d_values))
        used = np.zeros(2, np.int64)
        added = _added_of(net, borrowed(added_wholes), borrowed(added_floats), used)
        _go_back(
            net, borrowed(wholes), borrowed(floats), ledger, added, borrowed(observations), borrowed(masks),
            borrowed(actions), borrowed(shares), borrowed(logits), goal, judged, d, borrowed(gradient),
        )  # fmt: skip

    return add_gradient


Product = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Of the transpose of a matrix with another one."""


def finish(
    arguments: Sequence[np.ndarray], ledger: Sequence[np.ndarray], product: Product, gradient: np.ndarray
) -> None:
    """Add the derivatives of dense layers, of means over rows, and of the first bias.

    Args:
        arguments: of :class:`~kepler_envs.networks.kernels.Net`. ledger: policy, value, means, d_policy, d_value, as
            the kernel has filled them.
        gradient: float32 (size,).
    """
    its, layers = arguments[0][0], arguments[9]
    policy, value, means, d_policy, d_value = ledger[:5]
    width, policy_layers = int(its["width"]), int(its["policy_layers"])
    d_first = d_policy[:, :width]
    _add_to(gradient, int(its["bias"]), d_first.sum(0))
    if means.shape[1]:
        _add_to(gradient, int(its["pool"]), product(means, d_first))
    for its_layers, kept, d_kept in (
        (layers[:policy_layers], policy, d_policy),
        (layers[policy_layers:], value, d_value),
    ):
        begin = 0
        for layer in its_layers:
            end = begin + int(layer["inputs"])
            d_outputs = d_kept[:, end : end + int(layer["outputs"])]
            _add_to(gradient, int(layer["weights"]), product(kept[:, begin:end], d_outputs))
            _add_to(gradient, int(layer["biases"]), d_outputs.sum(0))
            begin = end


def _add_to(gradient: np.ndarray, begin: int, part_of_it: np.ndarray) -> None:
    gradient[begin : begin + part_of_it.size] += part_of_it.ravel()
