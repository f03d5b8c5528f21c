"""Networks that look at the tables of an observation, in compiled code.

They judge positions, and find how their judgement changes with their weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from kepler_envs.engine.network import NetworkInputs, Weights
from kepler_envs.networks.arrangement import Arrangement, aligned
from kepler_envs.networks.kernels import FLOAT, WHOLE, evaluate_kernel
from kepler_envs.networks.simd import BLOCK


class PositionNetwork(Protocol):
    """A network that judges positions. Its answer about one position depends on no other.

    Attributes:
        over: the bot whose choice the network has to be told, "" if none.
    """

    over: str

    def __call__(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(priors float32 (N, A), 0 for what is illegal; returns float32 (N, P) that it expects for all seats).

        P is the most seats the game can have. The observing seat comes first, then the others clockwise. Returns of
        seats that do not play mean nothing.

        Args:
            observations: int16 (N, D), each entry 0 or within the bounds of the layout, which is not checked: labels
                and references are places in memory. :meth:`~kepler_envs.engine.observation.Layout.check` looks at
                arrays from elsewhere. Over a bot, they are those of :func:`with_choices`.
            masks: int8 (N, A), not 0 for what is legal.

        Raises:
            ValueError: an array has another shape or dtype, or there is no such choice.
            DivergedError: its answer is not all finite numbers: its weights are none, or too large.
        """


class DivergedError(ArithmeticError):
    """What a network computes is no finite number any more, so it cannot decide or learn."""


def check_array(name: str, array: np.ndarray, words: str, dtypes: Sequence[Any], shape: tuple[int, ...]) -> None:
    """Raise ValueError unless an array has one of these dtypes, and this shape."""
    if array.dtype not in dtypes or array.shape != shape:
        raise ValueError(f"{name} must be {words} {shape}, not {array.dtype} {array.shape}")


def as_kernels_take(array: np.ndarray, dtype: Any = None) -> np.ndarray:
    """The array, or a copy of it if it has another dtype, does not lie in one piece or is read-only."""
    given = np.ascontiguousarray(array, dtype)
    return given if given.flags.carray else given.copy()


class CompiledNetwork:
    """A :class:`PositionNetwork` in compiled code.

    It computes in single precision. Its priors and returns differ from those of PyTorch by about 1e-6.

    Args:
        arrangement: the arrangement of the network's arrays.
        flat: float32 (arrangement.size,), its weights. They are not copied.
    """

    def __init__(self, arrangement: Arrangement, flat: np.ndarray) -> None:
        self.over = arrangement.inputs.shape.over
        self._actions, self._seats = len(arrangement.inputs.actions), arrangement.inputs.seats
        self._length = arrangement.inputs.layout.size
        self._arguments, self._sizes = arrangement.arguments(flat), arrangement.workspaces
        self._evaluate = evaluate_kernel()

    def __call__(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self._check(observations, masks)
        observations, masks = as_kernels_take(observations), as_kernels_take(masks)
        priors = np.empty((len(observations), self._actions), FLOAT)
        values = np.empty((len(observations), self._seats), FLOAT)
        # each call has its own workspace, as threads may share a network
        wholes, decimals = self._sizes
        workspaces = np.empty((BLOCK, wholes), WHOLE), np.empty((BLOCK, decimals), FLOAT)
        logits = np.empty((BLOCK, self._actions), FLOAT)
        finite = self._evaluate(observations, masks, *self._arguments, *workspaces, logits, priors, values)
        if finite < len(observations):
            raise DivergedError("the network's answers are no finite numbers any more; use a lower learning rate")
        return priors, values

    def _check(self, observations: np.ndarray, masks: np.ndarray) -> None:
        """Raise ValueError unless the arrays are as the kernel trusts them to be."""
        count = len(observations)
        check_array("observations", observations, "int16", (np.int16,), (count, self._length))
        check_array("masks", masks, "int8", (np.int8,), (count, self._actions))
        if self.over and count:
            choices = observations[:, -1]
            if choices.min() < 0 or choices.max() >= self._actions:
                wrong = int(np.argmax((choices < 0) | (choices >= self._actions)))
                raise ValueError(
                    f"{self.over} cannot have chosen {choices[wrong]} in row {wrong}; allowed: 0..{self._actions - 1}"
                )


def position_network(inputs: NetworkInputs, weights: Weights) -> PositionNetwork:
    """A network to ask about positions. The weights are copied.

    Raises ValueError if they are not the weights of such a network.
    """
    inputs.check(weights)
    arrangement = Arrangement(inputs)
    flat = aligned(arrangement.size)
    flat[:] = arrangement.flat(np.concatenate, {name: array.astype(np.float64) for name, array in weights.items()})
    return CompiledNetwork(arrangement, flat)


def with_choices(observations: np.ndarray, choices: np.ndarray) -> np.ndarray:
    """What a network over a bot sees, int16 (N, D + 1): the observations (N, D), and what the bot would do (N,)."""
    return np.concatenate([observations, choices[:, None].astype(observations.dtype)], axis=1)


def draw(probabilities: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Draw an action for each row, int64 (N,), from its probabilities (N, A) and its uniform number in [0, 1), (N,).

    Probabilities need not sum to 1. Raises ValueError if those of a row sum to 0, or to no finite number.
    """
    reached = probabilities.cumsum(1, dtype=np.float64)
    total = reached[:, -1]
    drawable = (total > 0) & (total < np.inf)
    if not drawable.all():
        row = drawable.argmin()
        raise ValueError(f"the probabilities of row {row} sum to {total[row]}; allowed: a finite sum above 0")
    return (reached <= (uniform * total)[:, None]).sum(1)
