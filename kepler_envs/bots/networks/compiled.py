"""Networks of an observation's pieces: weights laid out for compiled code that skips zeros and illegal actions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kepler_envs.bots.networks.kernels import (
    COUNT,
    FLOAT,
    INPUT,
    LABEL,
    LAYER,
    NETWORK,
    NO_ANCHOR,
    NO_BLOCK,
    NUMBER,
    PLACED_ACTION,
    SEEN_LABEL,
    network_kernel,
)
from kepler_envs.bots.networks.shape import NetworkInputs, Weights
from kepler_envs.engine.game import record_array
from kepler_envs.engine.inputs import AnchoredActions, AnchorInputs, PieceInputs


class CompiledNetwork:
    """A network's answers in compiled code: see :class:`kepler_envs.bots.networks.PositionNetwork`.

    Single precision; priors and values differ from those of PyTorch by about 1e-6.

    Args:
        inputs: of the network.
        weights: of the network; they are copied.

    Raises:
        ValueError: it has convolutions.
    """

    def __init__(self, inputs: NetworkInputs, weights: Weights) -> None:
        if inputs.planes is not None:
            raise ValueError("only networks of pieces without convolutions can be compiled")
        numbers = {name: np.array(array, FLOAT, order="C") for name, array in weights.items()}
        width, hidden = inputs.shape.width, inputs.shape.hidden
        anchored = inputs.anchored
        buffer, network = _Buffer(), record_array(np.zeros(1, NETWORK))
        its = network[0]
        its["bias"], its["pieces"], pieces = _pieces(inputs.pieces, numbers, buffer)
        its["columns"], its["labels"], columns, labels = _anchored(anchored, width, numbers, buffer)
        layers = [
            *_layers("policy_net", len(hidden), numbers, buffer),
            *_layers("value_net", len(hidden), numbers, buffer),
        ]
        its["actions"] = buffer.table(numbers["action_net.weight"])
        its["action_biases"] = buffer.table(numbers["action_net.bias"])
        its["places"], placed = _placed(inputs.anchored_actions, numbers, buffer)
        its["returns"] = buffer.table(numbers["value_net.weight"])
        its["return_bias"] = buffer.table(numbers["value_net.bias"])
        its["anchor_entry"], its["reach"] = (anchored.entry, anchored.reach) if anchored else (NO_ANCHOR, 0)
        its["widest"], its["policy_layers"] = max((width, *hidden)), len(hidden)
        self._actions = inputs.num_actions
        self._network = network, buffer.flat(), pieces, columns, labels, record_array(np.array(layers, LAYER)), placed
        self._workspace = width + 2 * int(its["widest"])
        self._evaluate = network_kernel()

    def __call__(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        priors = np.empty((len(observations), self._actions), FLOAT)
        values = np.empty(len(observations), FLOAT)
        workspace = np.empty(self._workspace, FLOAT)  # one for each call, as threads may share a network
        self._evaluate(observations, masks, *self._network, workspace, priors, values)
        return priors, values


LINE = 16
"""Numbers in a line of the processor's cache. Each array begins with one: that makes a network a quarter faster."""

Place = tuple[int, int, int]
"""A TABLE."""


class _Buffer:
    """Arrays one after the other in one flat array."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []
        self._size = 0

    def put(self, numbers: np.ndarray) -> int:
        """Append an array; where it begins."""
        begin = self._size
        padding = -numbers.size % LINE
        self._parts += [numbers.ravel(), np.zeros(padding, FLOAT)]
        self._size += numbers.size + padding
        return begin

    def table(self, numbers: np.ndarray) -> Place:
        """Append a matrix, or a vector as its only row."""
        rows, width = np.atleast_2d(numbers).shape
        return self.put(numbers), rows, width

    def flat(self) -> np.ndarray:
        """The array, itself at the beginning of a line."""
        room = np.zeros(self._size + LINE, FLOAT)
        begin = -room.ctypes.data // FLOAT.itemsize % LINE
        flat = room[begin : begin + self._size]
        np.concatenate(self._parts, out=flat)
        return flat


def _pieces(pieces: PieceInputs, numbers: Weights, buffer: _Buffer) -> tuple[Place, Place, np.ndarray]:
    """(bias, pieces, the records INPUT) of a first layer: numbers and counts in the order of the layout, then labels.

    What a label of 0 adds is moved into the bias and taken off the entry's other labels, so that entries of 0 add nothing.
    """
    dense = numbers["features_extractor.pieces.linear.weight"].T
    rows = numbers["features_extractor.pieces.rows"]
    bias = numbers["features_extractor.pieces.linear.bias"].astype(np.float64)
    table: list[np.ndarray] = []
    inputs: list[tuple[int, int, int]] = []
    sign_weights = {int(number): dense[len(pieces.plain) + place] for place, number in enumerate(pieces.signed)}
    for number, (entry, inverse_scale) in enumerate(zip(pieces.plain, pieces.inverse_scale, strict=True)):
        inputs.append((int(entry), COUNT if number in sign_weights else NUMBER, len(table)))
        table.append(dense[number] * float(inverse_scale))
        if number in sign_weights:
            table.append(sign_weights[number])
    for (entry, its_rows), zero in zip(pieces.label_rows(), pieces.row_of_zero.tolist(), strict=True):
        moved = rows[zero] if zero in its_rows else np.zeros_like(bias)
        inputs.append((entry, LABEL, len(table) + zero - its_rows.start))
        table += [row - moved for row in rows[its_rows]]
        bias += moved
    weights = np.array(table, FLOAT).reshape(len(table), len(bias))
    return buffer.table(bias.astype(FLOAT)), buffer.table(weights), record_array(np.array(inputs, INPUT))


def _anchored(
    anchored: AnchorInputs | None, width: int, numbers: Weights, buffer: _Buffer
) -> tuple[Place, Place, np.ndarray, np.ndarray]:
    """(columns, labels, the columns by the anchor's place, the records SEEN_LABEL), empty where there is no anchor."""
    if anchored is None:
        nothing = buffer.table(np.zeros((0, width), FLOAT))
        return nothing, nothing, np.zeros((1, 0), np.int32), record_array(np.zeros(0, SEEN_LABEL))
    labels = list(zip(anchored.labelled.tolist(), anchored.first_row.tolist(), strict=True))
    return (
        buffer.table(numbers["features_extractor.anchored.linear.weight"].T),
        buffer.table(numbers["features_extractor.anchored.rows"]),
        anchored.columns.astype(np.int32),
        record_array(np.array(labels, SEEN_LABEL)),
    )


def _placed(actions: AnchoredActions | None, numbers: Weights, buffer: _Buffer) -> tuple[Place, np.ndarray]:
    """(places, the records PLACED_ACTION of all actions)."""
    count, features = numbers["action_net.weight"].shape
    placed = record_array(np.zeros(count, PLACED_ACTION))
    placed["row"] = NO_BLOCK
    if actions is None:
        return buffer.table(np.zeros((0, features), FLOAT)), placed
    placed["place"][actions.ids], placed["row"][actions.ids] = actions.place, actions.first
    return buffer.table(numbers["anchor_net.linear.weight"]), placed


def _layers(side: str, count: int, numbers: Weights, buffer: _Buffer) -> Iterator[tuple[int, int, int, int]]:
    """The records LAYER of the ``count`` layers of the policy or the value."""
    for number in range(count):
        name = f"mlp_extractor.{side}.{2 * number}"
        weights = numbers[f"{name}.weight"]
        outputs, inputs = weights.shape
        yield inputs, outputs, buffer.put(weights.T), buffer.put(numbers[f"{name}.bias"])
