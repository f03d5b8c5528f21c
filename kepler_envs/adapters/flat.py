"""Observations as float vectors, for adapters whose library knows nothing of tables."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.checks import check_type
from kepler_envs.engine.inputs import labels_of
from kepler_envs.engine.observation import Layout, Piece


class FlatInputs:
    """An observation as one float vector, piece by piece.

    Numbers and counts are divided by their scale, and labels become one-hot. References to tables of at most MOST_NAMED
    rows become one-hot, too; references to larger tables are divided by the number of rows.

    Args:
        layout: the layout of the observation.

    Raises:
        TypeError: ``layout`` is no layout.

    Attributes:
        size: the length E of the vector.
        low: float32 (E,), its lower bounds.
        high: float32 (E,), its upper bounds.
        pieces: for each name, where the piece begins and its shape. Labels add an axis.
    """

    def __init__(self, layout: Layout) -> None:
        check_type("layout", layout, Layout, "it is config.observation")
        self.pieces: dict[str, tuple[int, tuple[int, ...]]] = {}
        source, low, high, scale, one_hot = [], [], [], [], []
        begin = 0
        for piece in layout:
            labels = labels_of(piece, layout)
            self.pieces[piece.name] = begin, (*piece.shape, labels) if labels else piece.shape
            entries = piece.indices().ravel()
            source.append(np.repeat(entries, labels or 1))
            one_hot.append(
                np.tile(np.arange(piece.low, piece.high + 1), len(entries)) if labels else np.zeros(len(entries))
            )
            scale.append(np.full(len(source[-1]), 0.0 if labels else 1 / _scale(piece)))
            low.append(np.full(len(source[-1]), 0.0 if labels else piece.low))
            high.append(np.full(len(source[-1]), 1.0 if labels else piece.high))
            begin += len(source[-1])
        self.size = begin
        self._length = layout.size
        self._source = np.concatenate(source)
        self._label = np.concatenate(one_hot).astype(np.int16)
        factor = np.concatenate(scale).astype(np.float32)
        self._numbers = np.flatnonzero(factor)
        self._factor = factor[self._numbers]
        # rounded like the values, which are to lie between them
        by = np.where(factor == 0, np.float32(1.0), factor)
        self.low, self.high = (np.concatenate(bound).astype(np.float32) * by for bound in (low, high))

    def encode(self, observation: np.ndarray) -> np.ndarray:
        """Encode observations int16 (..., D) as float32 (..., E). Raises ValueError if they end too early."""
        observation = np.asarray(observation)
        if not observation.ndim or observation.shape[-1] < self._length:
            raise ValueError(f"observations have shape {observation.shape}; allowed: at least {self._length} entries")
        spread = observation[..., self._source]
        encoded = (spread == self._label).astype(np.float32)
        encoded[..., self._numbers] = spread[..., self._numbers] * self._factor
        return encoded


def _scale(piece: Piece) -> float:
    return piece.scale or 1.0
