"""A rollout of games in which all seats decide, and what each decision was worth to its seat."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, cast

import numpy as np
import torch as th
from gymnasium import spaces
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples

from kepler_envs.printable import counted


class TooFewDecisions(RuntimeError):
    """A rollout has less than two decisions of the learner, so that no advantages can be normalised."""


def seat_advantages(
    rewards: np.ndarray,
    seats: np.ndarray,
    dones: np.ndarray,
    values: np.ndarray,
    last_seats: np.ndarray,
    last_values: np.ndarray,
    gamma: float,
    gae_lambda: float,
    players: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Generalised advantages where each step of a game is a decision of one of its seats.

    For every (game, seat) its own decisions form the trajectory: its reward is all the seat was paid from one decision
    up to the next (or to the end of the game), the next value is that of its own next decision, and the discount
    applies once per own decision. Along the same decisions, what it expects for the other seats is compared with what
    those were paid and what it expects for them next.

    Where a seat's next decision lies beyond the rollout: the seat that is to move then has its values as the next ones.
    The others' next values are not known. So the TD errors of their last decision count as 0 in the advantages of those
    before it, and it is no decision to learn from. (What the seat to move expects for them won nothing in place of
    that, see docs/training.md.) Rewards before a seat's first decision of a game are no consequence of its decisions
    and are left out.

    Args:
        rewards: (T, N, P), what step t paid each seat of game n.
        seats: (T, N) integers, who decided. dones: (T, N) bool, whether that ended the game.
        values: (T, N, S), predicted for the deciding seat, the next one clockwise, and so on; S from 1 to P.
        last_seats, last_values: (N,) and (N, S), who is to move after the last step, and the values predicted for it.
        gamma, gae_lambda: the discount per own decision, and lambda.
        players: (N,), seats of each game; None: P in all.

    Returns:
        The advantages, float32 (T, N, S), in the order of ``values``: ``[..., 0]`` are those of the deciding seats, and
        with ``values`` added they all are lambda-returns. And bool (T, N): whether the next value of the decision is
        known, so that it can be learned from.
    """
    steps, games, most = rewards.shape
    valued = values.shape[2]
    rows = np.arange(games)
    clockwise = _clockwise(np.full(games, most) if players is None else players, most)[:, :, :valued]
    shape = (games, most, valued)  # by the seat that sees it
    paid = np.zeros(shape, np.float32)  # since the decision that comes next in the backward pass
    next_value, next_advantage = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    known = np.zeros((games, most), np.bool_)
    next_value[rows, last_seats] = last_values
    known[rows, last_seats] = True
    advantages = np.zeros((steps, games, valued), np.float32)
    to_learn_from = np.zeros((steps, games), np.bool_)
    for step in range(steps - 1, -1, -1):
        ended = dones[step]
        if ended.any():
            paid[ended] = 0
            next_value[ended] = 0
            next_advantage[ended] = 0
            known[ended] = True
        paid += rewards[step][rows[:, None, None], clockwise]
        own = rows, seats[step]
        delta = paid[own] + gamma * next_value[own] - values[step]
        to_learn_from[step] = known[own]
        advantage = np.where(known[own][:, None], delta + gamma * gae_lambda * next_advantage[own], 0)
        advantages[step] = advantage
        next_value[own] = values[step]
        next_advantage[own] = advantage
        paid[own] = 0
        known[own] = True
    return advantages, to_learn_from


def _clockwise(players: np.ndarray, most: int) -> np.ndarray:
    """(N, P, P): of each game and seat, all seats from it on clockwise; those that the game does not have stay last."""
    seat, further = np.arange(most)[:, None], np.arange(most)
    players = players[:, None, None]
    return np.where(further < players, (seat + further) % players, further)


class SharedRolloutBuffer(MaskableRolloutBuffer):
    """A rollout of games in which all seats decide: observations and masks keep their small types, rewards have a seat
    axis.

    ``rewards`` float32 (T, N, P), ``seats`` int8 (T, N), ``dones`` bool (T, N), ``learning`` bool (T, N): decisions to
    learn from. ``values`` and ``returns`` float32 (T, N, P) are those of all seats, the deciding one first, then
    clockwise. Returns of seats that a game lacks are NaN. A sample has all others, one after the other, and ``known``
    says which these are: bool (M, P) of the last sample. All else as in its base class.
    """

    known: th.Tensor

    def __init__(self, *args: Any, num_players: int, **kwargs: Any) -> None:
        self.num_players = num_players
        self._allocated = False
        self.lacks_seats = False
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        """Start over; the arrays are allocated once."""
        self.pos, self.full = 0, False
        self._sent: tuple[th.Tensor, ...] = ()
        if self._allocated:
            return
        self._allocated = True
        steps = (self.buffer_size, self.n_envs)
        self.mask_dims = int(cast(spaces.Discrete, self.action_space).n)
        self.observations = np.zeros((*steps, *self.obs_shape), self.observation_space.dtype)
        self.action_masks = np.zeros((*steps, self.mask_dims), np.bool_)
        self.actions = np.zeros(steps, np.int64)
        self.seats = np.zeros(steps, np.int8)
        self.learning = np.ones(steps, np.bool_)
        self.dones = np.zeros(steps, np.bool_)
        self.rewards = np.zeros((*steps, self.num_players), np.float32)
        self.values = np.zeros((*steps, self.num_players), np.float32)
        self.log_probs = np.zeros(steps, np.float32)
        self.advantages = np.zeros(steps, np.float32)
        self.returns = np.zeros((*steps, self.num_players), np.float32)

    def add_decisions(
        self,
        obs: np.ndarray,
        masks: np.ndarray,
        seats: np.ndarray,
        learning: np.ndarray,
        actions: np.ndarray,
        values: np.ndarray,
        log_probs: np.ndarray,
    ) -> None:
        """What the seats to move (N,) saw, might do, did, what the network expected (N, P), and whether it is to learn
        from it."""
        step = self.pos
        self.learning[step] = learning
        self.observations[step] = obs
        self.action_masks[step] = masks
        self.seats[step] = seats
        self.actions[step] = actions
        self.values[step] = values
        self.log_probs[step] = log_probs

    def add_outcome(self, rewards: np.ndarray, dones: np.ndarray) -> None:
        """What these decisions paid every seat (N, P) and which games they ended (N,)."""
        self.rewards[self.pos] = rewards
        self.dones[self.pos] = dones
        self.pos += 1
        self.full = self.pos == self.buffer_size

    def compute_seat_advantages(
        self, last_seats: np.ndarray, last_values: np.ndarray, players: np.ndarray | None = None
    ) -> None:
        """Fill ``advantages`` and ``returns``, and take decisions out of ``learning`` whose worth the rollout does not
        show; see :func:`seat_advantages`."""
        of_all, known = seat_advantages(
            self.rewards,
            self.seats,
            self.dones,
            self.values,
            last_seats,
            last_values,
            self.gamma,
            self.gae_lambda,
            players,
        )
        self.learning &= known
        self.advantages = of_all[..., 0]
        self.returns = of_all + self.values
        self.lacks_seats = players is not None and bool((players < self.num_players).any())
        if players is not None:
            self.returns[:, np.arange(self.num_players) >= players[:, None]] = np.nan

    def minibatches(self, batch_size: int | None = None) -> list[np.ndarray]:
        """Numbers of the decisions in each minibatch, in random order (numpy's global generator, as in the base class).

        They are equally large, up to one, and about as large as asked: of a small rest, advantages could not be
        normalised.
        """
        if not self.full:
            raise RuntimeError(f"the rollout has {self.pos} of {self.buffer_size} steps")
        order = np.random.permutation(np.flatnonzero(self.learning.ravel()))
        if len(order) < 2:
            decisions = counted(len(order), "decision")
            raise TooFewDecisions(f"{decisions} to learn from; play more games side by side, or longer rollouts")
        parts = round(len(order) / (batch_size or len(order)))
        return np.array_split(order, max(1, min(parts, len(order) // 2)))

    def get(self, batch_size: int | None = None) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """The :meth:`minibatches`."""
        for chosen in self.minibatches(batch_size):
            yield self._get_samples(chosen)

    def arrays(self) -> tuple[np.ndarray, ...]:
        """(observations (M, D), masks (M, A), actions (M,), log-probabilities (M,), advantages (M,), returns (M, P)) of
        all M decisions, not copied."""
        return (
            self.observations.reshape(-1, *self.obs_shape),
            self.action_masks.reshape(-1, self.mask_dims),
            self.actions.ravel(),
            self.log_probs.ravel(),
            self.advantages.ravel(),
            self.returns.reshape(-1, self.num_players),
        )

    def _get_samples(self, batch_inds: np.ndarray, env: Any = None) -> MaskableRolloutBufferSamples:
        observations, masks, actions, log_probs, advantages, returns = self.arrays()
        values = self.values.reshape(-1, self.num_players)
        flat = observations, actions, values, log_probs, advantages, returns, masks
        if self.device.type == "cpu":
            samples = MaskableRolloutBufferSamples(*(th.from_numpy(one[batch_inds]) for one in flat))
        else:  # the whole rollout is sent once, and stays there for all epochs
            self._sent = self._sent or tuple(th.from_numpy(one).pin_memory().to(self.device) for one in flat)
            chosen = th.as_tensor(batch_inds, device=self.device)
            samples = MaskableRolloutBufferSamples(*(one[chosen] for one in self._sent))
        if not self.lacks_seats:
            return samples._replace(old_values=samples.old_values.flatten(), returns=samples.returns.flatten())
        self.known = ~samples.returns.isnan()
        return samples._replace(old_values=samples.old_values[self.known], returns=samples.returns[self.known])
