"""Observations as numbers of the size that networks like, for adapters whose library knows nothing of pieces."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.observation import COUNT, Layout


def scale_of(layout: Layout) -> np.ndarray:
    """float32 (D,): what the entries are divided by. Counts by their piece's scale, all others by 1."""
    scale = np.ones(layout.size, np.float32)
    for piece in layout:
        if piece.kind == COUNT:
            scale[piece.indices()] = piece.scale
    return scale
