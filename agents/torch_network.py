"""A network computed by PyTorch, which tests and benchmarks compare with the library's own arithmetic."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import torch as th

from kepler_envs.adapters.pytorch import torch_threads
from kepler_envs.adapters.sb3 import PiecePolicy


class TorchNetwork:
    """A network that evaluates positions in double precision: see :class:`kepler_envs.networks.PositionNetwork`.

    It computes on one thread: the few rows that a bot asks about gain nothing from more.
    """

    def __init__(self, policy: PiecePolicy) -> None:
        self._policy = deepcopy(policy).double()
        self._policy.set_training_mode(False)

    def __call__(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with th.no_grad(), torch_threads(1):
            log_probs, values = self._policy.log_probs_and_values(th.as_tensor(observations), masks.astype(np.bool_))
        return log_probs.exp().float().numpy(), values.float().numpy()
