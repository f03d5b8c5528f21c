"""Networks of an observation's pieces without PyTorch: weights laid out for compiled code that skips zeros and illegal actions."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import nn

from agents.inference.kernels import (
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
from kepler_envs.adapters.pytorch import AnchorInput, AnchorOutput, PieceInput
from kepler_envs.adapters.sb3 import PieceExtractor, PiecePolicy
from kepler_envs.engine.game import record_array

__all__ = ["CompiledNetwork", "can_compile"]


def can_compile(policy: PiecePolicy) -> bool:
    """Whether a network is one of pieces, without convolutions."""
    extractor = policy.features_extractor
    return isinstance(extractor, PieceExtractor) and extractor.planes is None


class CompiledNetwork:
    """A network's answers without PyTorch: see :class:`agents.ppo.PositionNetwork`.

    Single precision; priors and values differ from those of PyTorch by about 1e-6.

    Args:
        policy: the network; its weights are copied.

    Raises:
        ValueError: it has convolutions, or layers other than linear ones with ReLU.
    """

    def __init__(self, policy: PiecePolicy) -> None:
        if not can_compile(policy):
            raise ValueError("only networks of pieces without convolutions can be compiled")
        extractor = policy.features_extractor
        self._actions = policy.action_net.out_features
        layers = _Layers()
        policy_layers, value_layers = (
            layers.add(net) for net in (policy.mlp_extractor.policy_net, policy.mlp_extractor.value_net)
        )
        width = extractor.pieces.linear.out_features
        self._weights = (
            *_pieces(extractor.pieces), *_anchored(extractor.anchored, width), policy_layers, value_layers, layers.numbers(),
            _numbers(policy.action_net.weight), _numbers(policy.action_net.bias),
            *_placed(policy.anchor_net, policy.action_net), np.array([extractor.anchored.reach if extractor.anchored else 0]),
            _numbers(policy.value_net.weight), _numbers(policy.value_net.bias),
        )  # fmt: skip
        self._width, self._widest = width, max(width, layers.widest)
        self._evaluate = network_kernel()

    def __call__(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        priors = np.empty((len(observations), self._actions), FLOAT)
        values = np.empty(len(observations), FLOAT)
        first, units, spare = (np.empty(size, FLOAT) for size in (self._width, self._widest, self._widest))
        self._evaluate(observations, masks, *self._weights, first, units, spare, priors, values)
        return priors, values


def _numbers(tensor: Any) -> np.ndarray:
    """A copy: the tensor may go on learning."""
    return np.array(tensor.detach().cpu().numpy(), FLOAT, order="C")


def _pieces(layer: PieceInput) -> tuple[np.ndarray, ...]:
    """(bias, inputs, table of first weights) of a first layer: numbers and counts in the order of the layout, then labels.

    What a label of 0 adds is moved into the bias and taken off the entry's other labels, so that entries of 0 add nothing.
    """
    dense, rows = _numbers(layer.linear.weight).T, _numbers(layer.rows)
    bias = _numbers(layer.linear.bias).astype(np.float64)
    table: list[np.ndarray] = []
    inputs: list[tuple[int, int, int]] = []
    sign_weights = {int(number): dense[len(layer.plain) + place] for place, number in enumerate(layer.signed)}
    for number, (entry, inverse_scale) in enumerate(zip(layer.plain, layer.inverse_scale, strict=True)):
        inputs.append((int(entry), COUNT if number in sign_weights else NUMBER, len(table)))
        table.append(dense[number] * float(inverse_scale))
        if number in sign_weights:
            table.append(sign_weights[number])
    for (entry, its_rows), zero in zip(layer.label_rows(), layer.row_of_zero.tolist(), strict=True):
        moved = rows[zero] if zero in its_rows else np.zeros_like(bias)
        inputs.append((entry, LABEL, len(table) + zero - its_rows.start))
        table += [row - moved for row in rows[its_rows]]
        bias += moved
    weights = np.array(table, FLOAT).reshape(len(table), len(bias))
    return bias.astype(FLOAT), record_array(np.array(inputs, INPUT)), weights


def _anchored(layer: AnchorInput | None, width: int) -> tuple[np.ndarray, ...]:
    """(entry of the anchor, columns by its label, their weights, labels, their weights), empty where there is no anchor."""
    nothing = np.zeros((0, width), FLOAT)
    if layer is None:
        return (
            np.array([NO_ANCHOR]),
            np.zeros((1, 0), np.int32),
            nothing,
            record_array(np.zeros(0, SEEN_LABEL)),
            nothing,
        )
    labels = list(zip(layer.labelled.tolist(), layer.first_row.tolist(), strict=True))
    return (
        np.array([layer.entry]), layer.columns.numpy().astype(np.int32), np.ascontiguousarray(_numbers(layer.linear.weight).T),
        record_array(np.array(labels, SEEN_LABEL)), _numbers(layer.rows),
    )  # fmt: skip


def _placed(layer: AnchorOutput | None, action_net: nn.Linear) -> tuple[np.ndarray, ...]:
    """(places of the actions on the anchor's axis, weights of their blocks)."""
    placed = record_array(np.zeros(action_net.out_features, PLACED_ACTION))
    placed["row"] = NO_BLOCK
    if layer is None:
        return placed, np.zeros((0, action_net.in_features), FLOAT)
    ids = layer.ids.numpy()
    placed["place"][ids], placed["row"][ids] = layer.place.numpy(), layer.first.numpy()
    return placed, _numbers(layer.linear.weight)


class _Layers:
    """Dense layers with ReLU, their weights and biases one after the other in one array."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = [np.zeros(0, FLOAT)]
        self._size = 0
        self.widest = 0

    def add(self, net: nn.Sequential) -> np.ndarray:
        """The records LAYER of a network; ValueError unless it is linear layers, each with a ReLU behind it."""
        if [type(module) for module in net] != [nn.Linear, nn.ReLU] * (len(net) // 2):
            raise ValueError(f"only linear layers with ReLU can be compiled, not {net}")
        layers = [
            (
                linear.in_features,
                linear.out_features,
                self._put(_numbers(linear.weight).T),
                self._put(_numbers(linear.bias)),
            )
            for linear in net[::2]
        ]
        self.widest = max(self.widest, *(outputs for _, outputs, _, _ in layers), 0)
        return record_array(np.array(layers, LAYER))

    def _put(self, numbers: np.ndarray) -> int:
        begin = self._size
        self._parts.append(numbers.ravel())
        self._size += numbers.size
        return begin

    def numbers(self) -> np.ndarray:
        return np.concatenate(self._parts)
