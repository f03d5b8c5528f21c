"""A network computed by PyTorch, which tests and benchmarks compare with the library's own arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy

import numpy as np
import torch as th

from kepler_envs.adapters.sb3 import PiecePolicy


class TorchNetwork:
    """A network that evaluates positions in double precision on one thread: see
    :class:`kepler_envs.networks.PositionNetwork`."""

    def __init__(self, policy: PiecePolicy) -> None:
        self._policy = deepcopy(policy).double()
        self._policy.set_training_mode(False)

    def __call__(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with th.no_grad(), one_thread():
            log_probs, values = self._policy.log_probs_and_values(th.as_tensor(observations), masks.astype(np.bool_))
        return log_probs.exp().float().numpy(), values.float().numpy()


@contextmanager
def one_thread() -> Iterator[None]:
    """Run PyTorch on one thread. The few rows that a bot asks about gain nothing from more, and sums keep their
    order."""
    threads = th.get_num_threads()
    th.set_num_threads(1)
    try:
        yield
    finally:
        th.set_num_threads(threads)
