"""Networks with convolutions over an observation's planes, in NumPy."""

from __future__ import annotations

import numpy as np

from kepler_envs.bots.networks.shape import NetworkInputs, Weights
from kepler_envs.engine.inputs import EMBEDDING, AnchoredActions, AnchorInputs, PlaneInputs


class ConvolutionalNetwork:
    """A network's answers, all layers written out: see :class:`kepler_envs.bots.networks.PositionNetwork`.

    Sums in another order differ in their last bits when a network is asked for another number of positions at a time, so it computes in
    double precision: two actions would have to be as good to one part in 10**13 to be swapped by that.

    Args:
        inputs: of the network. It may do without convolutions.
        weights: of the network; they are copied.
    """

    def __init__(self, inputs: NetworkInputs, weights: Weights) -> None:
        self._inputs = inputs
        self._weights = {name: array.astype(np.float64) for name, array in weights.items()}

    def __call__(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x = np.asarray(observations)
        features = self._features(x)
        logits = self._through("policy_net", features)
        scores = logits @ self._of("action_net.weight").T + self._of("action_net.bias")
        if self._inputs.anchored_actions is not None:
            self._add_anchored(self._inputs.anchored_actions, x, logits, scores)
        scores = np.where(masks != 0, scores, -np.inf)
        likely = np.exp(scores - scores.max(1, keepdims=True))
        values = self._through("value_net", features) @ self._of("value_net.weight")[0] + self._of("value_net.bias")
        return (likely / likely.sum(1, keepdims=True)).astype(np.float32), values.astype(np.float32)

    def _of(self, name: str) -> np.ndarray:
        return self._weights[name]

    def _features(self, x: np.ndarray) -> np.ndarray:
        pieces, first = self._inputs.pieces, "features_extractor."
        plain = x[:, pieces.plain] * pieces.inverse_scale.astype(np.float64)
        dense = np.concatenate((plain, np.sign(plain[:, pieces.signed])), 1)
        out = dense @ self._of(f"{first}pieces.linear.weight").T + self._of(f"{first}pieces.linear.bias")
        out += self._of(f"{first}pieces.rows")[x[:, pieces.labelled] + pieces.row_of_zero].sum(1)
        if self._inputs.planes is not None:
            out += self._seen_on_planes(self._inputs.planes, x)
        if self._inputs.anchored is not None:
            out += self._seen_from_anchor(self._inputs.anchored, x)
        return np.maximum(out, 0)

    def _through(self, side: str, units: np.ndarray) -> np.ndarray:
        for number in range(len(self._inputs.shape.hidden)):
            layer = f"mlp_extractor.{side}.{2 * number}"
            units = np.maximum(units @ self._of(f"{layer}.weight").T + self._of(f"{layer}.bias"), 0)
        return units

    def _seen_on_planes(self, planes: PlaneInputs, x: np.ndarray) -> np.ndarray:
        stack = x[:, planes.index] * planes.inverse_scale.astype(np.float64)
        boards = stack.reshape(len(x), -1, *planes.board)
        if planes.rows:
            known = self._of("features_extractor.planes.labels.weight")[x[:, planes.label_index] + planes.first_row]
            known = known.reshape(len(x), -1, *planes.board, EMBEDDING).transpose(0, 1, 4, 2, 3)
            boards = np.concatenate((boards, known.reshape(len(x), -1, *planes.board)), 1)
        for number in range(len(self._inputs.shape.channels)):
            layer = f"features_extractor.planes.convolutions.{2 * number}"
            boards = np.maximum(convolve(boards, self._of(f"{layer}.weight"), self._of(f"{layer}.bias")), 0)
        return boards.reshape(len(x), -1) @ self._of("features_extractor.planes.linear.weight").T

    def _seen_from_anchor(self, anchored: AnchorInputs, x: np.ndarray) -> np.ndarray:
        at = x[:, anchored.entry].astype(np.int64)
        beside_zero = np.pad(x, ((0, 0), (0, 1)))
        present = np.sign(np.take_along_axis(beside_zero, anchored.columns[at], 1)).astype(np.float64)
        labels = x[:, anchored.labelled].astype(np.int64)
        below = at[:, None] - labels
        below *= (labels > 0) & (below > 0) & (below <= anchored.reach)
        rows = self._of("features_extractor.anchored.rows")[below + anchored.first_row].sum(1)
        return present @ self._of("features_extractor.anchored.linear.weight").T + rows

    def _add_anchored(self, actions: AnchoredActions, x: np.ndarray, features: np.ndarray, scores: np.ndarray) -> None:
        below = x[:, actions.entry].astype(np.int64)[:, None] - 1 - actions.place
        near = (below >= 0) & (below < actions.elsewhere)
        rows = np.where(near, below, actions.elsewhere) + actions.first
        added = features @ self._of("anchor_net.linear.weight").T
        scores[:, actions.ids] += np.take_along_axis(added, rows, 1)


def convolve(boards: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> np.ndarray:
    """A 3x3 convolution with a border of zeros: boards (N, C, H, W), weights (K, C, 3, 3), biases (K,) -> (N, K, H, W)."""
    bordered = np.pad(boards, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(bordered, (3, 3), (2, 3))  # (N, C, H, W, 3, 3)
    columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(*_places(boards), -1)
    out = columns @ weights.reshape(len(weights), -1).T + biases
    return out.transpose(0, 3, 1, 2)


def _places(boards: np.ndarray) -> tuple[int, int, int]:
    return len(boards), boards.shape[2], boards.shape[3]
