"""PyTorch: networks that learn in compiled code on the processor, several times as fast as with PyTorch's own
operations.

Most entries of an observation are 0 and few actions are legal. Dense products spend most of their time on what does not
count. The functions computed here, and their gradients, are those of
:class:`~kepler_envs.adapters.pytorch.network.PieceNetwork`, to rounding.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch as th

from kepler_envs.adapters.pytorch.checks import check_goal, check_positions, checked_decisions
from kepler_envs.adapters.pytorch.goal import Goal, check_norm
from kepler_envs.adapters.pytorch.network import PieceNetwork
from kepler_envs.adapters.pytorch.threads import torch_threads
from kepler_envs.networks import CompiledNetwork, as_kernels_take
from kepler_envs.networks.arrangement import Arrangement
from kepler_envs.networks.gradients import Judged, added_sizes, back_sizes, finish, gradient_kernel, judge_kernel
from kepler_envs.networks.kernels import FLOAT, WHOLE
from kepler_envs.networks.linear import LinearLayout
from kepler_envs.networks.simd import BLOCK
from kepler_envs.networks.threads import in_parts

ENOUGH, ENOUGH_TO_LEARN = 8 * BLOCK, 128
"""Positions that are worth a thread where nothing is learned, and where something is. A minibatch of the usual size has
to be enough for several threads."""


class CompiledLearner:
    """What a network says, and how that changes with its weights.

    It uses the network's weights as they are at each call, but for changes that leave no trace: see :meth:`answer`. It
    computes with as many threads as PyTorch is told to use. With another number of threads, sums of gradients are
    rounded differently; nothing else changes. Threads of yours that judge or learn with one of these take turns.

    Args:
        network: the network whose weights learn.
    """

    def __init__(self, network: PieceNetwork) -> None:
        self.network = network
        self.arrangement = Arrangement(network.inputs)
        self._weights = dict(network.named_parameters())  # which takes long to ask for at every step
        self._workspaces: tuple[np.ndarray, ...] = (np.zeros((0, 0, 0), WHOLE),)
        self._inputs: tuple[np.ndarray, ...] = (np.zeros((0, 0), WHOLE),)
        self._gradients = np.zeros((0, 0), FLOAT)
        self._ledger: tuple[np.ndarray, ...] = (np.zeros((0, 0), FLOAT),)
        self._learned = np.zeros(0, FLOAT)
        self._turn = threading.Lock()  # held while workspaces, ledger and gradients are in use
        self._known: tuple[tuple[int, ...], CompiledNetwork] | None = None

    @cached_property
    def _layout(self) -> LinearLayout:
        """Takes up to a second to work out, so not before it is needed."""
        return LinearLayout(self.arrangement)

    def judge(
        self, observations: np.ndarray, masks: np.ndarray, actions: np.ndarray, shares: np.ndarray | None = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """Log-probabilities (N,) of actions, entropies (N,) of the choice, and values (N, P) of all seats.

        The observing seat's value comes first.

        Args:
            observations: int16 (N, D).
            masks: bool or int8 (N, A), with at least one action in each row.
            actions: integers (N,), legal ones.
            shares: float32 (N, K), for several actions (N, K) of each position. Their log-probabilities are multiplied
                by the shares and added up. An action with a share of 0 does not count.

        Raises:
            ValueError: there are no positions, an array has another dtype or shape, an entry is outside its bounds, a
                row has no legal action, or an action that counts is not legal.
        """
        joined = th.cat([self._weights[name].reshape(-1) for name in self._layout.sizes])
        return _Judged.apply(joined, self, checked_decisions(self.network.inputs, observations, masks, actions, shares))

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

        Raises:
            ValueError: as in :meth:`judge`, or the goal is about another number of positions, or about more seats than
                the game can have.
        """
        asked = checked_decisions(self.network.inputs, observations, masks, actions, shares)
        check_goal(goal, len(observations), self.network.inputs.seats)
        count, nothing = len(observations), np.zeros(0, FLOAT)
        entropy_rate, value_rate = goal.rates
        known = (nothing if one is None else as_kernels_take(one, FLOAT) for one in (goal.before, goal.advantages))
        rates = np.array([goal.clip_range, goal.policy_rate(shares), entropy_rate, value_rate], FLOAT)
        judged = Judged(*self._room_for_judged(count))
        gradient = self._gradient(
            self._flat(), asked, (*known, as_kernels_take(goal.returns, FLOAT)), rates, judged,
            self._room_for_judged(count),
        )  # fmt: skip
        for name, part in self._layout.parts(gradient).items():
            self._weights[name].grad = th.from_numpy(part)
        self._learned = gradient
        return judged

    def clip_gradients(self, most: float) -> None:
        """Scale the gradients that :meth:`learn` has set to a norm of ``most`` if it is larger.

        That is what ``torch.nn.utils.clip_grad_norm_`` does, which visits each array of weights by itself.

        Raises:
            DivergedError: the norm is not finite.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            norm = float(np.sqrt(self._learned @ self._learned))
        check_norm(norm)
        if norm > most:
            self._learned *= FLOAT.type(most / (norm + 1e-6))

    def answer(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What a bot with these weights would find: see :class:`kepler_envs.networks.PositionNetwork`.

        Raises ValueError for an entry of an observation outside its bounds, too. Masks may be bool.

        While the network is in training mode, its weights are laid out at each call: optimizers change them without
        leaving a trace. In evaluation mode that is done again only when PyTorch has counted a change. It counts none
        through a tensor's ``data``: call :meth:`forget` after those.
        """
        versions = tuple([weights._version for weights in self._weights.values()])
        if self._known is None or self._known[0] != versions or self.network.training:
            self._known = versions, CompiledNetwork(self.arrangement, self._flat())
        network = self._known[1]
        check_positions(self.network.inputs, observations, masks)
        observations, masks = np.ascontiguousarray(observations), np.ascontiguousarray(masks).view(np.int8)
        count = len(observations)
        found = in_parts(lambda _, part: network(observations[part], masks[part]), count, _threads(count, ENOUGH))
        return found[0] if len(found) == 1 else tuple(map(np.concatenate, zip(*found, strict=True)))  # type: ignore[return-value]

    def forget(self) -> None:
        """Forget the layout, because the weights have changed or are about to."""
        self._known = None

    def _room_for_judged(self, count: int) -> tuple[np.ndarray, ...]:
        return np.empty(count, FLOAT), np.empty(count, FLOAT), np.empty((count, self.network.inputs.seats), FLOAT)

    def _gradient(
        self, flat: np.ndarray, asked: Sequence[np.ndarray], goal: Sequence[np.ndarray], rates: np.ndarray,
        judged: Sequence[np.ndarray], derivatives: Sequence[np.ndarray],
    ) -> np.ndarray:  # fmt: skip
        """By all weights, as one array; arguments as those of
        :func:`~kepler_envs.networks.gradients.gradient_kernel`."""
        self.forget()
        count = len(asked[0])
        threads = _threads(count, ENOUGH_TO_LEARN)
        arguments = self.arrangement.arguments(flat)
        kernel = gradient_kernel()

        def work(number: int, part: slice) -> None:
            gradients[number] = 0
            of_part = [[one[part] for one in arrays] for arrays in (asked, ledger, goal, judged, derivatives)]
            kernel(
                *of_part[0], *arguments, *(one[number] for one in workspaces), *of_part[1], *of_part[2], rates,
                *of_part[3], *of_part[4], gradients[number],
            )  # fmt: skip
            finish(arguments, of_part[1], _product, gradients[number])

        with self._turn, torch_threads(1):
            ledger, workspaces = self.ledger(count), (*self.workspaces(threads), *self._room_for_inputs(threads))
            gradients = self._room_for_gradients(threads, len(flat))
            in_parts(work, count, threads)
            for gradient in gradients[1:threads]:
                gradients[0] += gradient
            return self._layout.back(gradients[0])

    def _flat(self) -> np.ndarray:
        joined = th.cat([self._weights[name].detach().reshape(-1) for name in self._layout.sizes])
        return self._layout.flat(joined.cpu().numpy())  # in one piece, if it comes from another device

    def workspaces(self, threads: int) -> tuple[np.ndarray, ...]:
        """Workspaces of at least so many threads, kept from one call to the next."""
        if len(self._workspaces[0]) < threads:
            own, back = self.arrangement.workspaces, back_sizes(self.arrangement.network[0])
            whole, decimal = (one + other for one, other in zip(own, back, strict=True))
            shape, actions = (threads, BLOCK), len(self.network.inputs.actions)
            self._workspaces = (
                np.zeros((*shape, whole), WHOLE), np.zeros((*shape, decimal), FLOAT), np.zeros((*shape, actions), FLOAT)
            )  # fmt: skip
        return self._workspaces

    def _room_for_gradients(self, threads: int, size: int) -> np.ndarray:
        """float32 (at least so many threads, size), kept: to get that much memory at each call takes a while."""
        if len(self._gradients) < threads:
            self._gradients = np.zeros((threads, size), FLOAT)
        return self._gradients

    def _room_for_inputs(self, threads: int) -> tuple[np.ndarray, ...]:
        """The workspaces of a kernel's inputs, of at least so many threads."""
        if len(self._inputs[0]) < threads:
            whole, decimal = added_sizes(self.arrangement.network[0], self.arrangement.entries)
            self._inputs = np.zeros((threads, whole), WHOLE), np.zeros((threads, decimal), FLOAT)
        return self._inputs

    def ledger(self, count: int) -> tuple[np.ndarray, ...]:
        """Room for what is kept of so many positions, from one call to the next; see
        :func:`~kepler_envs.networks.gradients.gradient_kernel`."""
        if len(self._ledger[0]) < count:
            its = self.arrangement.network[0]
            kept, means = int(its["kept"]), int(its["pooled"] * its["rows"])
            self._ledger = tuple(np.zeros((count, width), FLOAT) for width in (kept, kept, means, kept, kept))
        return tuple(array[:count] for array in self._ledger)

    def __getstate__(self) -> dict[str, Any]:
        return {"network": self.network}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["network"])


class _Judged(th.autograd.Function):
    """(log-probabilities, entropies, values) of weights (size,)."""

    @staticmethod
    def forward(ctx: Any, joined: th.Tensor, learner: CompiledLearner, asked: tuple[np.ndarray, ...]) -> Any:
        count = len(asked[0])
        found = learner._room_for_judged(count)
        ctx.learner, ctx.asked, ctx.flat = learner, asked, learner._layout.flat(joined.detach().numpy())
        threads = _threads(count, ENOUGH)
        arguments = learner.arrangement.arguments(ctx.flat)

        def work(number: int, part: slice) -> None:
            its, to = ([one[part] for one in arrays] for arrays in (asked, found))
            judge_kernel()(*its, *arguments, *(one[number] for one in workspaces), *to)

        with learner._turn:
            workspaces = learner.workspaces(threads)
            in_parts(work, count, threads)
        return tuple(map(th.from_numpy, found))

    @staticmethod
    def backward(ctx: Any, *derivatives: th.Tensor) -> Any:
        given = tuple(np.ascontiguousarray(one.numpy()) for one in derivatives)
        return th.from_numpy(ctx.learner._gradient(ctx.flat, ctx.asked, NO_GOAL, NO_RATES, given, given)), None, None


NO_RATES = np.zeros(0, FLOAT)
NO_GOAL = (NO_RATES, NO_RATES, np.zeros((0, 0), FLOAT))
"""The kernel's goal where somebody else computes the loss."""


def _product(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return (th.from_numpy(one).T @ th.from_numpy(other)).numpy()


def _threads(positions: int, least: int) -> int:
    """Threads to compute with: as many as PyTorch is told to use, if each gets ``least`` positions."""
    return max(1, min(th.get_num_threads(), positions // least))
