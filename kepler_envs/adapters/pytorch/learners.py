"""PyTorch: a network with what it takes to learn, in compiled code on the processor, in PyTorch's own operations anywhere else."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch as th

from kepler_envs.adapters.pytorch.compiled import CompiledLearner
from kepler_envs.adapters.pytorch.network import PieceNetwork


class Learner(Protocol):
    """What a network says of decisions that were made, with gradients, and what a bot with its weights would find."""

    def judge(
        self, observations: np.ndarray, masks: np.ndarray, actions: np.ndarray, shares: np.ndarray | None = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """See :meth:`CompiledLearner.judge`."""

    def answer(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See :meth:`CompiledLearner.answer`."""


class TorchLearner:
    """A :class:`Learner` in PyTorch's operations, where the network lies.

    Args:
        network: whose weights learn.
    """

    def __init__(self, network: PieceNetwork) -> None:
        self.network = network

    def judge(
        self, observations: np.ndarray, masks: np.ndarray, actions: np.ndarray, shares: np.ndarray | None = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """See :meth:`CompiledLearner.judge`; tensors on the network's device."""
        log_probs, values = self.network(self._sent(observations), self._sent(masks).bool())
        chosen = log_probs.gather(1, self._sent(actions).long().reshape(len(log_probs), -1))
        if shares is not None:
            counted = self._sent(shares)
            chosen = th.where(counted != 0, chosen * counted, 0)
        return chosen.sum(1), -(log_probs.exp() * log_probs).sum(1), values

    def answer(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See :meth:`CompiledLearner.answer`."""
        with th.no_grad():
            log_probs, values = self.network(self._sent(observations), self._sent(masks).bool())
        return log_probs.exp().cpu().numpy(), values.cpu().numpy()

    def _sent(self, array: np.ndarray) -> th.Tensor:
        return th.as_tensor(array, device=self.network.device)


def learner_of(network: PieceNetwork) -> Learner:
    """The fastest learner for a network where it lies."""
    return CompiledLearner(network) if network.device.type == "cpu" else TorchLearner(network)
