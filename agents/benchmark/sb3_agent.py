"""A network on the flat observation that plays without PyTorch: ``python:FOLDER/agent.py:FlatAgent``, with its weights
beside it.

``python -m agents.benchmark run GAME sb3`` copies this file into the folder of each agent. It is an example of an
entry that is not a checkpoint of this library.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.adapters.flat import FlatInputs

WEIGHTS = "weights.npz"


class FlatAgent:
    """Chooses the action that its network finds most probable.

    Args:
        config: the games to play.
        weights: ``weight_i`` (out, in) and ``bias_i`` (out,) of each layer. Without it, those of the file beside this
            one.
    """

    name = "flat"

    def __init__(self, config: Any, weights: dict[str, np.ndarray] | None = None) -> None:
        if weights is None:
            with np.load(Path(__file__).with_name(WEIGHTS), allow_pickle=False) as arrays:
                weights = {name: arrays[name] for name in arrays.files}
        self._inputs = FlatInputs(config.observation)
        self._layers = [(weights[f"weight_{layer}"], weights[f"bias_{layer}"]) for layer in range(len(weights) // 2)]

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """Does nothing: this agent draws no random numbers."""

    def act(self, decisions: Any) -> np.ndarray:
        """A legal id for each decision, int64 (M,)."""
        x = self._inputs.encode(decisions.observation)
        for weight, bias in self._layers[:-1]:
            x = np.maximum(x @ weight.T + bias, 0)
        weight, bias = self._layers[-1]
        logits = np.where(decisions.action_mask == 1, x @ weight.T + bias, -np.inf)
        return logits.argmax(1).astype(np.int64)
