"""PyTorch: what a network is to become better at, as a loss that compiled code knows, too."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch as th
from torch.nn import functional as F

from kepler_envs.networks import DivergedError


@dataclass(frozen=True)
class Goal:
    """A loss of N decisions: that of the policy, plus ``value_weight`` times that of the values, minus
    ``entropy_weight`` times the mean entropy.

    With ``before``, the policy's loss is PPO's clipped one (Schulman et al. 2017, equation 7). Without, it is the
    cross-entropy of the actions. The values' loss is the mean squared error of all known returns, 0 if there are none.

    Attributes:
        returns: float32 (N, S), of the observing seat and those clockwise from it, NaN where they are not known.
        value_weight: see above.
        entropy_weight: see above.
        before: float32 (N,), log-probabilities of the actions when they were chosen.
        advantages: float32 (N,), what the actions were worth; given with ``before``.
        clip_range: the ratio of probabilities earns nothing beyond 1 plus or minus this.

    Raises:
        ValueError: there is one of ``before`` and ``advantages`` without the other, or returns are not (N, S).
    """

    returns: np.ndarray
    value_weight: float
    entropy_weight: float = 0.0
    before: np.ndarray | None = None
    advantages: np.ndarray | None = None
    clip_range: float = 0.0

    def __post_init__(self) -> None:
        if (self.before is None) != (self.advantages is None):
            raise ValueError("before and advantages belong together; give both, or none for the cross-entropy")
        if np.ndim(self.returns) != 2:
            raise ValueError(f"returns must be (N, S), not {np.shape(self.returns)}")

    @property
    def rates(self) -> tuple[float, float]:
        """(what one entropy, one squared error count in the loss)."""
        known = np.count_nonzero(~np.isnan(self.returns))
        return self.entropy_weight / len(self.returns), self.value_weight / max(known, 1)

    def policy_rate(self, shares: np.ndarray | None) -> float:
        """What the policy's loss of one decision counts in the loss."""
        of = float(len(self.returns) if shares is None or self.before is not None else shares.sum())
        return 1 / max(of, 1.0)

    def loss(
        self, told: th.Tensor, entropy: th.Tensor, values: th.Tensor, shares: np.ndarray | None = None
    ) -> th.Tensor:
        """The loss, in PyTorch's operations; arguments as in :class:`~kepler_envs.networks.gradients.Judged`."""
        returns = th.as_tensor(self.returns, dtype=values.dtype, device=values.device)
        known = ~returns.isnan()
        _, value_rate = self.rates
        errors = F.mse_loss(values[:, : returns.shape[1]][known], returns[known], reduction="sum")  # 0 if none is known
        return self._policy_loss(told, shares) + value_rate * errors - self.entropy_weight * entropy.mean()

    def _policy_loss(self, told: th.Tensor, shares: np.ndarray | None) -> th.Tensor:
        if self.before is None:
            return -told.sum() * self.policy_rate(shares)
        before, advantages = (th.as_tensor(one, device=told.device) for one in (self.before, self.advantages))
        ratio = (told - before).exp()
        clipped = ratio.clamp(1 - self.clip_range, 1 + self.clip_range)
        return -th.min(advantages * ratio, advantages * clipped).mean()


def check_norm(norm: float) -> None:
    """Raise DivergedError if the norm of the gradients is not finite: clipped, they would teach nothing."""
    if not math.isfinite(norm):
        raise DivergedError(
            "the gradients are too large for float32, or no finite numbers any more; use a lower learning rate, or "
            "smaller weights in the loss"
        )


@contextmanager
def norms_checked(weights: Iterable[th.Tensor]) -> Iterator[None]:
    """Meanwhile, :func:`check_norm` of the gradients of these weights whenever ``backward`` has found them, before
    whoever asked for them can clip them."""

    def check(gradients: Sequence[th.Tensor | None]) -> None:
        check_norm(float(th.nn.utils.get_total_norm([one for one in gradients if one is not None])))

    handle = th.autograd.graph.register_multi_grad_hook([one for one in weights if one.requires_grad], check)
    try:
        yield
    finally:
        handle.remove()
