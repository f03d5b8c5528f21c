"""A network of an observation's pieces, in compiled code: what it says of a few positions at a time.

Most entries of an observation are 0, and few actions are legal. Only the entries that are not 0 are added up in the first layer, and
only legal actions get a logit, which is a small part of the dense products. Each position is computed by itself, in a fixed order:
the answer does not depend on what else is asked at the same time.
"""

from __future__ import annotations

from functools import cache
from math import exp
from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.engine.kernel import Scope, array_of, helper, kernel, leaf

SCOPE = Scope("network", Path(__file__).parent)

INPUT = np.dtype([("entry", np.int32), ("kind", np.int32), ("row", np.int32)], align=True)
"""An entry of the observation and its first row in the table of first weights."""
NUMBER, COUNT, LABEL = 0, 1, 2
"""Kinds of inputs. NUMBER: times its row. COUNT: that, and its sign times the next row. LABEL: the row of the label, counted from that of 0."""

SEEN_LABEL = np.dtype([("entry", np.int32), ("row", np.int32)], align=True)
"""A label that is a place on the anchor's axis, and the row for 'not below the anchor'; those for 1, 2, ... below follow."""

LAYER = np.dtype([("inputs", np.int32), ("outputs", np.int32), ("weights", np.int32), ("biases", np.int32)], align=True)
"""A dense layer, and where its weights (inputs by outputs) and biases begin in the flat array."""

PLACED_ACTION = np.dtype([("place", np.int32), ("row", np.int32)], align=True)
"""An action's place on the anchor's axis and the first row of its block; row NO_BLOCK: it has no place there."""
NO_BLOCK = -1
NO_ANCHOR = -1

FLOAT = np.dtype(np.float32)


@leaf
def _add(out, times, weights):
    """``out += times * weights``."""
    for unit in range(out.size):
        out[unit] += times * weights[unit]


@leaf
def _sign(value):
    """Of what is not 0."""
    return np.float32(1.0) if value > 0 else np.float32(-1.0)


@helper
def _add_pieces(x, inputs, weights, out):
    """The first layer over the entries that are not 0; what labels of 0 add is in the bias already."""
    for i in range(inputs.size):
        value = x[inputs[i].entry]
        if value != 0:
            row, kind = int(inputs[i].row), inputs[i].kind
            if kind == LABEL:
                _add(out, np.float32(1.0), weights[row + int(value)])
            else:
                _add(out, np.float32(value), weights[row])
                if kind == COUNT:
                    _add(out, _sign(value), weights[row + 1])


@helper
def _add_anchored(x, anchor, columns, column_weights, labels, reach, label_weights, out):
    """What lies below the anchor: AnchorInput."""
    for k in range(columns.shape[1]):
        entry = columns[anchor, k]
        if entry < x.size and x[entry] != 0:
            _add(out, _sign(x[entry]), column_weights[k])
    for i in range(labels.size):
        label = int(x[labels[i].entry])
        below = anchor - label
        if label <= 0 or below <= 0 or below > reach:
            below = 0
        _add(out, np.float32(1.0), label_weights[int(labels[i].row) + below])


@leaf
def _rectify(units):
    for unit in range(units.size):
        units[unit] = max(units[unit], np.float32(0.0))


@helper
def _through_layers(layers, numbers, width, units, spare):
    """The rectified outputs of dense layers one after the other, from ``units[:width]`` and back into it; their number in the end."""
    for i in range(layers.size):
        layer = layers[i]
        width = int(layer.outputs)
        out = spare[:width]
        out[:] = numbers[layer.biases : layer.biases + width]
        for k in range(layer.inputs):
            if units[k] != 0.0:
                first = int(layer.weights) + k * width
                _add(out, units[k], numbers[first : first + width])
        _rectify(out)
        for unit in range(width):
            units[unit] = out[unit]
    return width


@leaf
def _dot(weights, row, units, width):
    """Four sums side by side: one alone would wait for itself."""
    a, b, c, d = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
    unit = 0
    while unit + 4 <= width:
        a += weights[row, unit] * units[unit]
        b += weights[row, unit + 1] * units[unit + 1]
        c += weights[row, unit + 2] * units[unit + 2]
        d += weights[row, unit + 3] * units[unit + 3]
        unit += 4
    while unit < width:
        a += weights[row, unit] * units[unit]
        unit += 1
    return (a + b) + (c + d)


@helper
def _find_logits(mask, weights, biases, placed, place_weights, anchor, reach, units, width, logits):
    """Logits of the legal actions; the largest of them."""
    largest = np.float32(-np.inf)
    for action in range(mask.size):
        if mask[action] == 0:
            continue
        logit = biases[action] + _dot(weights, action, units, width)
        row = int(placed[action].row)
        if row != NO_BLOCK:
            below = anchor - 1 - int(placed[action].place)
            if below < 0 or below > reach:
                below = reach + 1
            logit += _dot(place_weights, row + below, units, width)
        logits[action] = logit
        largest = max(largest, logit)
    return largest


@helper
def _to_probabilities(mask, largest, logits):
    """Logits of legal actions to probabilities, 0 for all others."""
    total = np.float32(0.0)
    for action in range(mask.size):
        weight = np.float32(exp(logits[action] - largest)) if mask[action] != 0 else np.float32(0.0)
        logits[action] = weight
        total += weight
    for action in range(mask.size):
        logits[action] /= total


@cache
def network_kernel() -> Any:
    """(observations int16[N, D], masks int8[N, A],
    bias[H], inputs INPUT[n], weights[R, H],
    anchor_entry int64[1], columns int32[places + 1, K], column_weights[K, H], seen labels SEEN_LABEL[m], label_weights[L, H],
    layers of the policy and of the value LAYER[], their numbers[],
    action weights[A, F], action biases[A], placed actions PLACED_ACTION[A], place weights[B, F], reach int64[1],
    value weights[1, V], value bias[1],
    first[H], units[U], spare[U], priors[N, A], values[N]); what is not said to be otherwise is float32.

    Fills ``priors`` (0 for what is illegal) and ``values``. A row of a mask without a legal action leaves NaN.
    """
    vector, matrix = array_of(FLOAT), array_of(FLOAT, 2)
    signature = (
        array_of(np.int16, 2), array_of(np.int8, 2),
        vector, array_of(INPUT), matrix,
        array_of(np.int64), array_of(np.int32, 2), matrix, array_of(SEEN_LABEL), matrix,
        array_of(LAYER), array_of(LAYER), vector,
        matrix, vector, array_of(PLACED_ACTION), matrix, array_of(np.int64),
        matrix, vector,
        vector, vector, vector, matrix, vector,
    )  # fmt: skip

    @kernel(SCOPE, "evaluate", signature)
    def evaluate(
        observations, masks, bias, inputs, weights, anchor_entry, columns, column_weights, labels, label_weights,
        policy_layers, value_layers, numbers, action_weights, action_biases, placed, place_weights, reaches,
        value_weights, value_bias, first, units, spare, priors, values,
    ):  # fmt: skip
        reach = int(reaches[0])
        for n in range(observations.shape[0]):
            x = observations[n]
            first[:] = bias
            _add_pieces(x, inputs, weights, first)
            anchor = 0
            if anchor_entry[0] != NO_ANCHOR:
                anchor = int(x[anchor_entry[0]])
                _add_anchored(x, anchor, columns, column_weights, labels, reach, label_weights, first)
            _rectify(first)
            units[: first.size] = first
            width = _through_layers(value_layers, numbers, first.size, units, spare)
            values[n] = value_bias[0] + _dot(value_weights, 0, units, width)
            units[: first.size] = first
            width = _through_layers(policy_layers, numbers, first.size, units, spare)
            largest = _find_logits(
                masks[n], action_weights, action_biases, placed, place_weights, anchor, reach, units, width, priors[n]
            )
            _to_probabilities(masks[n], largest, priors[n])

    return evaluate
