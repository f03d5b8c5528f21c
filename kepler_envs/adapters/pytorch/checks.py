"""Checks of what a network is asked about. Kernels trust it, and PyTorch's errors do not name what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs.adapters.pytorch.goal import Goal
from kepler_envs.engine.network import NetworkInputs
from kepler_envs.networks import as_kernels_take, check_array
from kepler_envs.networks.kernels import FLOAT


def check_positions(inputs: NetworkInputs, observations: Any, masks: Any) -> None:
    """Raise ValueError unless these are observations int16 (N, D) within bounds, and masks bool or int8 (N, A)."""
    _check_arrays(observations=observations, masks=masks)
    count = len(observations)
    check_array("observations", observations, "int16", (np.int16,), (count, inputs.layout.size))
    inputs.layout.check(observations)  # labels and references are places in memory
    check_array("masks", masks, "bool or int8", (np.bool_, np.int8), (count, len(inputs.actions)))


def checked_decisions(
    inputs: NetworkInputs, observations: np.ndarray, masks: np.ndarray, actions: np.ndarray, shares: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The arguments of :meth:`CompiledLearner.judge` as kernels take them: masks int8, actions int64 (N, K), shares.

    Raises ValueError if they are not as it says.
    """
    _check_arrays(observations=observations, actions=actions)
    count = len(observations)
    if not count:
        raise ValueError("there are no positions to learn from")
    check_positions(inputs, observations, masks)
    several = (count,) if shares is None else np.shape(shares)
    if shares is not None and (len(several) != 2 or several[0] != count):
        raise ValueError(f"shares must be ({count}, K), not {several}")
    check_array("actions", actions, "integers", (actions.dtype,) if actions.dtype.kind in "iu" else (), several)
    most = len(inputs.actions) - 1
    if actions.size and (actions.min() < 0 or actions.max() > most):
        raise ValueError(f"actions must be 0..{most}, not {actions.min()}..{actions.max()}")
    asked = (
        as_kernels_take(observations),
        as_kernels_take(masks).view(np.int8),
        as_kernels_take(actions, np.int64).reshape(count, -1),
        np.ones((count, 1), FLOAT) if shares is None else as_kernels_take(shares, FLOAT),
    )
    _check_legal(*asked[1:])
    return asked


def _check_arrays(**given: Any) -> None:
    for name, array in given.items():
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{name} must be a NumPy array, not {type(array).__name__}")


def _check_legal(masks: np.ndarray, actions: np.ndarray, shares: np.ndarray) -> None:
    """Raise ValueError unless each row has a legal action, and all actions that count are legal: for others, kernels
    would read what the positions before have left.

    Args:
        masks: int8 (N, A). actions: int64 (N, K). shares: float32 (N, K).
    """
    counts = shares != 0
    illegal = counts & (np.take_along_axis(masks, actions, 1) == 0)
    wrong = illegal.any(1)
    idle = np.flatnonzero(~counts.any(1))  # all other rows have a legal action if they are not wrong already
    wrong[idle] = ~masks[idle].any(1)
    if not wrong.any():
        return
    row = wrong.argmax()
    legal = np.flatnonzero(masks[row])
    if not legal.size:
        raise ValueError(f"masks must have a legal action in each row; row {row} has none")
    action = actions[row, illegal[row].argmax()]
    raise ValueError(f"action {action} of row {row} is not legal there; legal: {', '.join(map(str, legal))}")


def check_goal(goal: Goal, count: int, seats: int) -> None:
    """Raise ValueError unless a goal is about so many positions, and no more seats than play the game."""
    for name, array, shape in (
        ("before", goal.before, (count,)), ("advantages", goal.advantages, (count,)),
        ("returns", goal.returns, (count, goal.returns.shape[1])),
    ):  # fmt: skip
        if array is not None and np.shape(array) != shape:
            raise ValueError(f"{name} must be of {count} positions, not {np.shape(array)}")
    if goal.returns.shape[1] > seats:
        raise ValueError(f"returns are of {goal.returns.shape[1]} seats; at most {seats} play")
