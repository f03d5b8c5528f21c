"""Networks of an observation's pieces: weights laid out for compiled code that skips zeros and illegal actions."""

from __future__ import annotations

import numpy as np

from kepler_envs.bots.networks.kernels import (
    COUNT,
    FLOAT,
    INPUT,
    LABEL,
    LAYER,
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
        width, hidden = inputs.shape.width, len(inputs.shape.hidden)
        self._actions = inputs.num_actions
        layers = _Layers(numbers)
        policy_layers, value_layers = (layers.add(side, hidden) for side in ("policy_net", "value_net"))
        self._weights = (
            *_pieces(inputs.pieces, numbers), *_anchored(inputs.anchored, width, numbers), policy_layers, value_layers,
            layers.numbers(), numbers["action_net.weight"], numbers["action_net.bias"],
            *_placed(inputs.anchored_actions, numbers), np.array([inputs.anchored.reach if inputs.anchored else 0]),
            numbers["value_net.weight"], numbers["value_net.bias"],
        )  # fmt: skip
        self._width, self._widest = width, max(width, layers.widest)
        self._evaluate = network_kernel()

    def __call__(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        priors = np.empty((len(observations), self._actions), FLOAT)
        values = np.empty(len(observations), FLOAT)
        first, units, spare = (np.empty(size, FLOAT) for size in (self._width, self._widest, self._widest))
        self._evaluate(observations, masks, *self._weights, first, units, spare, priors, values)
        return priors, values


def _pieces(pieces: PieceInputs, numbers: Weights) -> tuple[np.ndarray, ...]:
    """(bias, inputs, table of first weights) of a first layer: numbers and counts in the order of the layout, then labels.

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
    return bias.astype(FLOAT), record_array(np.array(inputs, INPUT)), weights


def _anchored(anchored: AnchorInputs | None, width: int, numbers: Weights) -> tuple[np.ndarray, ...]:
    """(entry of the anchor, columns by its label, their weights, labels, their weights), empty where there is no anchor."""
    nothing = np.zeros((0, width), FLOAT)
    if anchored is None:
        no_labels = record_array(np.zeros(0, SEEN_LABEL))
        return np.array([NO_ANCHOR]), np.zeros((1, 0), np.int32), nothing, no_labels, nothing
    labels = list(zip(anchored.labelled.tolist(), anchored.first_row.tolist(), strict=True))
    return (
        np.array([anchored.entry]), anchored.columns.astype(np.int32),
        np.ascontiguousarray(numbers["features_extractor.anchored.linear.weight"].T),
        record_array(np.array(labels, SEEN_LABEL)), numbers["features_extractor.anchored.rows"],
    )  # fmt: skip


def _placed(actions: AnchoredActions | None, numbers: Weights) -> tuple[np.ndarray, ...]:
    """(places of the actions on the anchor's axis, weights of their blocks)."""
    count, features = numbers["action_net.weight"].shape
    placed = record_array(np.zeros(count, PLACED_ACTION))
    placed["row"] = NO_BLOCK
    if actions is None:
        return placed, np.zeros((0, features), FLOAT)
    placed["place"][actions.ids], placed["row"][actions.ids] = actions.place, actions.first
    return placed, numbers["anchor_net.linear.weight"]


class _Layers:
    """Dense layers with ReLU, their weights and biases one after the other in one array."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._parts: list[np.ndarray] = [np.zeros(0, FLOAT)]
        self._size = 0
        self.widest = 0

    def add(self, side: str, count: int) -> np.ndarray:
        """The records LAYER of the ``count`` layers of the policy or the value."""
        layers = []
        for number in range(count):
            name = f"mlp_extractor.{side}.{2 * number}"
            weights = self._weights[f"{name}.weight"]
            outputs, inputs = weights.shape
            layers.append((inputs, outputs, self._put(weights.T), self._put(self._weights[f"{name}.bias"])))
            self.widest = max(self.widest, outputs)
        return record_array(np.array(layers, LAYER))

    def _put(self, numbers: np.ndarray) -> int:
        begin = self._size
        self._parts.append(numbers.ravel())
        self._size += numbers.size
        return begin

    def numbers(self) -> np.ndarray:
        return np.concatenate(self._parts)
