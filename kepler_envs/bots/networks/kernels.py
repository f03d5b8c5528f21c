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

FLOAT = np.dtype(np.float32)

TABLE = np.dtype([("begin", np.int32), ("rows", np.int32), ("width", np.int32)], align=True)
"""Where an array of weights lies in the flat one; a vector has one row."""

TABLES = (
    "bias",  # of the first layer: one entry for each of its H outputs, as in the next three
    "pieces",  # a row for each input: numbers, counts and labels
    "columns",  # a row for each entry that is seen from the anchor
    "labels",  # rows for the places of labels below the anchor
    "actions",  # a row for each action: one entry for each of the last layer's F outputs, as in 'places' and 'returns'
    "action_biases",
    "places",  # rows for the places of actions below the anchor
    "returns",  # the value's one row
    "return_bias",
)
NETWORK = np.dtype(
    [(name, np.int32) for name in ("widest", "anchor_entry", "reach", "policy_layers")]
    + [(name, TABLE) for name in TABLES],
    align=True,
)  # fmt: skip
"""A network: outputs of its widest layer; the entry with the anchor's place, or NO_ANCHOR; how far from it is seen; how many of the
layers are the policy's (those of the value follow); where its arrays are."""

INPUT = np.dtype([("entry", np.int32), ("kind", np.int32), ("row", np.int32)], align=True)
"""An entry of the observation and its first row in the table of pieces."""
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


@leaf
def _vector(weights, table):
    return weights[table.begin : table.begin + table.width]


@leaf
def _table(weights, table):
    return weights[table.begin : table.begin + table.rows * table.width].reshape((table.rows, table.width))


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
    network NETWORK[1], its weights float32[], inputs INPUT[], columns seen from each place of the anchor int32[places + 1, K], labels
    seen from it SEEN_LABEL[], layers LAYER[], the actions' places PLACED_ACTION[A],
    workspace float32[H + 2 * widest], priors float32[N, A], values float32[N]).

    Fills ``priors`` (0 for what is illegal) and ``values``. A row of a mask without a legal action leaves NaN.
    """
    signature = (
        array_of(np.int16, 2), array_of(np.int8, 2),
        array_of(NETWORK), array_of(FLOAT), array_of(INPUT), array_of(np.int32, 2), array_of(SEEN_LABEL), array_of(LAYER),
        array_of(PLACED_ACTION),
        array_of(FLOAT), array_of(FLOAT, 2), array_of(FLOAT),
    )  # fmt: skip

    @kernel(SCOPE, "evaluate", signature)
    def evaluate(
        observations, masks, network, weights, inputs, columns, labels, layers, placed, workspace, priors, values
    ):  # fmt: skip
        net = network[0]
        bias, pieces = _vector(weights, net.bias), _table(weights, net.pieces)
        column_weights, label_weights = _table(weights, net.columns), _table(weights, net.labels)
        action_weights, action_biases = _table(weights, net.actions), _vector(weights, net.action_biases)
        place_weights, return_weights = _table(weights, net.places), _table(weights, net.returns)
        return_bias = weights[net.return_bias.begin]
        policy_layers, value_layers = layers[: net.policy_layers], layers[net.policy_layers :]
        reach, width, widest = int(net.reach), bias.size, int(net.widest)
        first, units, spare = workspace[:width], workspace[width : width + widest], workspace[width + widest :]
        for n in range(observations.shape[0]):
            x = observations[n]
            first[:] = bias
            _add_pieces(x, inputs, pieces, first)
            anchor = 0
            if net.anchor_entry != NO_ANCHOR:
                anchor = int(x[net.anchor_entry])
                _add_anchored(x, anchor, columns, column_weights, labels, reach, label_weights, first)
            _rectify(first)
            units[:width] = first
            features = _through_layers(value_layers, weights, width, units, spare)
            values[n] = return_bias + _dot(return_weights, 0, units, features)
            units[:width] = first
            features = _through_layers(policy_layers, weights, width, units, spare)
            largest = _find_logits(
                masks[n],
                action_weights,
                action_biases,
                placed,
                place_weights,
                anchor,
                reach,
                units,
                features,
                priors[n],
            )
            _to_probabilities(masks[n], largest, priors[n])

    return evaluate
