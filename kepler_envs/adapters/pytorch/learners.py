"""PyTorch: a network with what it takes to learn.

It learns in compiled code on the processor, and in PyTorch's own operations anywhere else.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch as th

from kepler_envs.adapters.pytorch.checks import check_goal, check_positions, checked_decisions
from kepler_envs.adapters.pytorch.compiled import CompiledLearner
from kepler_envs.adapters.pytorch.goal import Goal, check_norm
from kepler_envs.adapters.pytorch.network import PieceNetwork
from kepler_envs.networks import DivergedError
from kepler_envs.networks.gradients import Judged


class Learner(Protocol):
    """What a network says about decisions that were made, with gradients, and what a bot with it would find."""

    def judge(
        self, observations: np.ndarray, masks: np.ndarray, actions: np.ndarray, shares: np.ndarray | None = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """See :meth:`CompiledLearner.judge`."""

    def learn(
        self,
        observations: np.ndarray,
        masks: np.ndarray,
        actions: np.ndarray,
        goal: Goal,
        shares: np.ndarray | None = None,
    ) -> Judged:
        """See :meth:`CompiledLearner.learn`."""

    def clip_gradients(self, most: float) -> None:
        """See :meth:`CompiledLearner.clip_gradients`."""

    def answer(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See :meth:`CompiledLearner.answer`."""


class TorchLearner:
    """A :class:`Learner` in PyTorch's operations, on the network's device.

    Args:
        network: the network whose weights learn.
    """

    def __init__(self, network: PieceNetwork) -> None:
        self.network = network

    def judge(
        self, observations: np.ndarray, masks: np.ndarray, actions: np.ndarray, shares: np.ndarray | None = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """See :meth:`CompiledLearner.judge`. The tensors are on the network's device."""
        asked = checked_decisions(self.network.inputs, observations, masks, actions, shares)
        seen, allowed, chosen, counts = map(self._sent, asked)
        log_probs, values = self.network(seen, allowed.bool())
        return *judged(log_probs, chosen, counts), values

    def learn(
        self,
        observations: np.ndarray,
        masks: np.ndarray,
        actions: np.ndarray,
        goal: Goal,
        shares: np.ndarray | None = None,
    ) -> Judged:
        """See :meth:`CompiledLearner.learn`."""
        judged = self.judge(observations, masks, actions, shares)
        check_goal(goal, len(observations), self.network.inputs.seats)
        self.network.zero_grad(set_to_none=True)
        goal.loss(*judged, shares).backward()
        return Judged(*(one.detach().cpu().numpy() for one in judged))

    def clip_gradients(self, most: float) -> None:
        """See :meth:`CompiledLearner.clip_gradients`."""
        check_norm(float(th.nn.utils.clip_grad_norm_(self.network.parameters(), most)))

    def answer(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See :meth:`CompiledLearner.answer`."""
        check_positions(self.network.inputs, observations, masks)
        allowed = self._sent(masks).bool()
        with th.no_grad():
            log_probs, values = self.network(self._sent(observations), allowed)
            priors = log_probs.exp().masked_fill(~allowed, 0)  # a row without legal actions would have some
        if not bool(priors.isfinite().all() and values.isfinite().all()):
            raise DivergedError("the network's answers are no finite numbers any more; use a lower learning rate")
        return priors.cpu().numpy(), values.cpu().numpy()

    def _sent(self, array: np.ndarray) -> th.Tensor:
        return th.as_tensor(array, device=self.network.device)


def judged(log_probs: th.Tensor, actions: th.Tensor, shares: th.Tensor | None = None) -> tuple[th.Tensor, th.Tensor]:
    """(log-probabilities (N,) of actions (N,) or, by their shares, of actions (N, K); entropies (N,)) from masked
    log-probabilities (N, A)."""
    chosen = log_probs.gather(1, actions.long().reshape(len(log_probs), -1))
    if shares is not None:
        chosen = th.where(shares != 0, chosen * shares, 0)
    return chosen.sum(1), -(log_probs.exp() * log_probs).sum(1)


def learner_of(network: PieceNetwork) -> Learner:
    """The fastest learner for a network on its device."""
    return CompiledLearner(network) if network.device.type == "cpu" else TorchLearner(network)
