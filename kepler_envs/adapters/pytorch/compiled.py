"""PyTorch: networks that learn in compiled code on the processor, several times as fast as with PyTorch's own
operations.

Most entries of an observation are 0 and few actions are legal. Dense products spend most of their time on what does not
count. The functions computed here, and their gradients, are those of
:class:`~kepler_envs.adapters.pytorch.network.PieceNetwork`, to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
import torch as th

from kepler_envs.adapters.pytorch.goal import Goal
from kepler_envs.adapters.pytorch.network import PieceNetwork
from kepler_envs.networks import CompiledNetwork
from kepler_envs.networks.arrangement import Arrangement
from kepler_envs.networks.gradients import Judged, back_sizes, finish, gradient_kernel, judge_kernel
from kepler_envs.networks.kernels import FLOAT, WHOLE
from kepler_envs.networks.simd import BLOCK


class TorchArrays:
    """PyTorch's tensors as :class:`~kepler_envs.networks.arrangement.Arrays`, in single precision."""

    def constant(self, values: np.ndarray) -> th.Tensor:
        """See :class:`~kepler_envs.networks.arrangement.Arrays`."""
        return th.as_tensor(values, dtype=th.float32)

    def join(self, parts: Sequence[th.Tensor], axis: int) -> th.Tensor:
        """See :class:`~kepler_envs.networks.arrangement.Arrays`."""
        return th.cat(list(parts), axis)


class CompiledLearner:
    """What a network says, and how that changes with its weights.

    It uses the network's weights as they are at each call. It computes with as many threads as PyTorch is told to use.
    With another number of threads, sums of gradients are rounded differently; nothing else changes.

    Args:
        network: the network whose weights learn.
    """

    def __init__(self, network: PieceNetwork) -> None:
        self.network = network
        self.arrangement = Arrangement(network.inputs)
        self._weights = dict(network.named_parameters())  # which takes long to ask for at every step
        self._workspaces: tuple[np.ndarray, ...] = (np.zeros((0, 0, 0), WHOLE),)
        self._ledger: tuple[np.ndarray, ...] = (np.zeros((0, 0), FLOAT),)
        self._known: tuple[tuple[int, ...], CompiledNetwork] | None = None

    def judge(
        self, observations: np.ndarray, masks: np.ndarray, actions: np.ndarray, shares: np.ndarray | None = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """Log-probabilities (N,) of actions, entropies (N,) of the choice, and values (N, P) of all seats.

        The observing seat's value comes first.

        Args:
            observations: int16 (N, D).
            masks: bool or int8 (N, A), with at least one action in each row.
            actions: int64 (N,), legal ones.
            shares: float32 (N, K), for several actions (N, K) of each position. Their log-probabilities are multiplied
                by the shares and added up. An action with a share of 0 does not count.
        """
        return _Judged.apply(self._flat(), self, _asked(observations, masks, actions, shares))  # type: ignore[no-any-return]

    def learn(
        self,
        observations: np.ndarray,
        masks: np.ndarray,
        actions: np.ndarray,
        goal: Goal,
        shares: np.ndarray | None = None,
    ) -> Judged:
        """Set the gradients of the network's weights to those of the goal's loss.

        That is what the loss of :meth:`judge` and ``backward`` would do, but each position is looked at only once.

        Args:
            observations, masks, actions, shares: see :meth:`judge`.
            goal: the loss.

        Returns:
            What the network says now.
        """
        asked, flat = _asked(observations, masks, actions, shares), self._flat()
        count, nothing = len(observations), np.zeros(0, FLOAT)
        entropy_rate, value_rate = goal.rates
        known = (nothing if one is None else np.ascontiguousarray(one, FLOAT) for one in (goal.before, goal.advantages))
        rates = np.array([goal.clip_range, goal.policy_rate(shares), entropy_rate, value_rate], FLOAT)
        judged = Judged(*self._room_for_judged(count))
        gradient = self._gradient(
            flat.detach().numpy(), asked, (*known, np.ascontiguousarray(goal.returns, FLOAT), rates), judged,
            self._room_for_judged(count),
        )  # fmt: skip
        self.network.zero_grad(set_to_none=True)
        flat.backward(gradient)
        return judged

    def answer(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What a bot with these weights would find: see :class:`kepler_envs.networks.PositionNetwork`.

        While the network is in training mode, its weights are laid out at each call: optimizers change them without
        leaving a trace.
        """
        versions = tuple([weights._version for weights in self._weights.values()])
        if self._known is None or self._known[0] != versions or self.network.training:
            with th.no_grad():
                flat = self._flat().numpy()
            self._known = versions, CompiledNetwork(self.arrangement, flat)
        return self._known[1](np.ascontiguousarray(observations), np.ascontiguousarray(masks).view(np.int8))

    def forget(self) -> None:
        """Forget the layout, because the weights are about to change."""
        self._known = None

    def _room_for_judged(self, count: int) -> tuple[np.ndarray, ...]:
        return np.empty(count, FLOAT), np.empty(count, FLOAT), np.empty((count, self.network.inputs.seats), FLOAT)

    def _gradient(
        self, numbers: np.ndarray, asked: Sequence[np.ndarray], goal: Sequence[np.ndarray],
        judged: Sequence[np.ndarray], derivatives: Sequence[np.ndarray],
    ) -> th.Tensor:  # fmt: skip
        """Of the flat array; arguments as those of :func:`~kepler_envs.networks.gradients.gradient_kernel`."""
        self.forget()
        threads = _threads()
        gradients = np.zeros((threads, len(numbers)), FLOAT)
        arguments, ledger = self.arrangement.arguments(numbers), self.ledger(len(asked[0]))
        gradient_kernel(threads > 1)(
            *asked, *arguments, *self.workspaces(threads), *ledger, self.arrangement.wide_rows, *goal, *judged,
            *derivatives, gradients,
        )  # fmt: skip
        gradient = gradients[0] if threads == 1 else gradients.sum(0)
        finish(arguments, ledger, _product, gradient)
        return th.from_numpy(gradient)

    def _flat(self) -> th.Tensor:
        return self.arrangement.flat(TorchArrays(), self._weights)  # type: ignore[no-any-return]

    def workspaces(self, threads: int) -> tuple[np.ndarray, ...]:
        """The workspace of each thread, kept from one call to the next."""
        if len(self._workspaces[0]) != threads:
            own, back = self.arrangement.workspaces, back_sizes(self.arrangement.network[0])
            whole, decimal = (one + other for one, other in zip(own, back, strict=True))
            shape, actions = (threads, BLOCK), len(self.network.inputs.actions)
            self._workspaces = (
                np.zeros((*shape, whole), WHOLE), np.zeros((*shape, decimal), FLOAT), np.zeros((*shape, actions), FLOAT)
            )  # fmt: skip
        return self._workspaces

    def ledger(self, count: int) -> tuple[np.ndarray, ...]:
        """Room for what is kept of so many positions, from one call to the next; see
        :func:`~kepler_envs.networks.gradients.gradient_kernel`."""
        if len(self._ledger[0]) < count:
            its, inputs = self.arrangement.network[0], self.arrangement.entries
            kept, means = int(its["kept"]), int(its["pooled"] * its["rows"])
            self._ledger = (
                *(np.zeros((count, width), FLOAT) for width in (kept, kept, means, kept, kept)),
                np.zeros((count, inputs), WHOLE),
                np.zeros((count, inputs), FLOAT),
            )  # fmt: skip
        return tuple(array[:count] for array in self._ledger)

    def __getstate__(self) -> dict[str, Any]:
        return {"network": self.network}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["network"])  # type: ignore[misc]


class _Judged(th.autograd.Function):
    """(log-probabilities, entropies, values) of a flat array of weights."""

    @staticmethod
    def forward(ctx: Any, flat: th.Tensor, learner: CompiledLearner, asked: tuple[np.ndarray, ...]) -> Any:
        found = learner._room_for_judged(len(asked[0]))
        ctx.learner, ctx.asked, ctx.numbers = learner, asked, flat.detach().numpy()
        threads = _threads()
        arguments = learner.arrangement.arguments(ctx.numbers)
        judge_kernel(threads > 1)(*asked, *arguments, *learner.workspaces(threads), *found)
        return tuple(map(th.from_numpy, found))

    @staticmethod
    def backward(ctx: Any, *derivatives: th.Tensor) -> Any:
        given = tuple(np.ascontiguousarray(one.numpy()) for one in derivatives)
        return ctx.learner._gradient(ctx.numbers, ctx.asked, NO_GOAL, given, given), None, None


NO_GOAL = (np.zeros(0, FLOAT), np.zeros(0, FLOAT), np.zeros((0, 0), FLOAT), np.zeros(0, FLOAT))
"""The kernel's goal where somebody else computes the loss."""


def _asked(
    observations: np.ndarray, masks: np.ndarray, actions: np.ndarray, shares: np.ndarray | None
) -> tuple[np.ndarray, ...]:
    count = len(observations)
    return (
        np.ascontiguousarray(observations, np.int16),
        np.ascontiguousarray(masks).view(np.int8),
        np.ascontiguousarray(actions, np.int64).reshape(count, -1),
        np.ones((count, 1), FLOAT) if shares is None else np.ascontiguousarray(shares, FLOAT),
    )


def _product(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (th.from_numpy(one).T @ th.from_numpy(other)).numpy()


def _threads() -> int:
    """Threads to compute with."""
    most = int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    threads = max(1, min(th.get_num_threads(), most))
    if threads > 1:
        numba.set_num_threads(threads)
    return threads
