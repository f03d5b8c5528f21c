"""A rollout of games in which all seats decide, and what each decision was worth to its seat."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, cast

import numpy as np
from gymnasium import spaces
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples


def seat_advantages(
    rewards: np.ndarray,
    seats: np.ndarray,
    dones: np.ndarray,
    values: np.ndarray,
    last_seats: np.ndarray,
    last_values: np.ndarray,
    gamma: float,
    gae_lambda: float,
) -> np.ndarray:
    """Generalised advantages where each step of a game is a decision of one of its seats.

    For every (game, seat) its own decisions form the trajectory: its reward is all the seat was paid from one decision up to
    the next (or to the end of the game), the next value is that of its own next decision, and the discount applies once per own decision.

    Where a seat's next decision lies beyond the rollout: the seat that is to move then has its value as the next one. The others' next
    values are not known, so the TD error of their last decision counts as 0. Rewards before a seat's first
    decision of a game are no consequence of its decisions and are left out.

    Args:
        rewards: (T, N, P), what step t paid each seat of game n.
        seats: (T, N) integers, who decided. dones: (T, N) bool, whether that ended the game.
        values: (T, N), predicted for the deciding seat.
        last_seats, last_values: (N,), who is to move after the last step, and the value predicted for it.
        gamma, gae_lambda: the discount per own decision, and lambda.

    Returns:
        float32 (T, N).
    """
    steps, games, players = rewards.shape
    rows = np.arange(games)
    paid = np.zeros((games, players), np.float32)  # since the decision that comes next in the backward pass
    next_value = np.zeros((games, players), np.float32)
    next_advantage = np.zeros((games, players), np.float32)
    known = np.zeros((games, players), np.bool_)
    next_value[rows, last_seats] = last_values
    known[rows, last_seats] = True
    advantages = np.zeros((steps, games), np.float32)
    for step in range(steps - 1, -1, -1):
        ended = dones[step]
        if ended.any():
            paid[ended] = 0
            next_value[ended] = 0
            next_advantage[ended] = 0
            known[ended] = True
        paid += rewards[step]
        own = rows, seats[step]
        delta = paid[own] + gamma * next_value[own] - values[step]
        advantage = np.where(known[own], delta + gamma * gae_lambda * next_advantage[own], 0)
        advantages[step] = advantage
        next_value[own] = values[step]
        next_advantage[own] = advantage
        paid[own] = 0
        known[own] = True
    return advantages


class SharedRolloutBuffer(MaskableRolloutBuffer):
    """A rollout of games in which all seats decide: observations and masks keep their small types, rewards have a seat axis.

    ``rewards`` float32 (T, N, P), ``seats`` int8 (T, N), ``dones`` bool (T, N), ``learning`` bool (T, N): decisions to learn from.
    All else as in its base class.
    """

    def __init__(self, *args: Any, num_players: int, **kwargs: Any) -> None:
        self.num_players = num_players
        self._allocated = False
        super().__init__(*args, **kwargs)

    def reset(self) -> None:
        """Start over; the arrays are allocated once."""
        self.pos, self.full = 0, False
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
        self.values = np.zeros(steps, np.float32)
        self.log_probs = np.zeros(steps, np.float32)
        self.advantages = np.zeros(steps, np.float32)
        self.returns = np.zeros(steps, np.float32)

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
        """What the seats to move (N,) saw, might do, did, what the network thought of it, and whether it is to learn from it."""
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

    def compute_seat_advantages(self, last_seats: np.ndarray, last_values: np.ndarray) -> None:
        """Fill ``advantages`` and ``returns``; see :func:`seat_advantages`."""
        self.advantages = seat_advantages(
            self.rewards, self.seats, self.dones, self.values, last_seats, last_values, self.gamma, self.gae_lambda
        )
        self.returns = self.advantages + self.values

    def get(self, batch_size: int | None = None) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """Minibatches in random order (numpy's global generator, as in the base class).

        They are equally large, up to one, and about as large as asked: of a small rest, advantages could not be normalised.
        """
        if not self.full:
            raise RuntimeError(f"the rollout has {self.pos} of {self.buffer_size} steps")
        order = np.random.permutation(np.flatnonzero(self.learning.ravel()))
        if len(order) < 2:
            raise RuntimeError(
                f"{len(order)} decisions to learn from; play more games side by side, or longer rollouts"
            )
        for chosen in np.array_split(order, max(1, round(len(order) / (batch_size or len(order))))):
            yield self._get_samples(chosen)

    def _get_samples(self, batch_inds: np.ndarray, env: Any = None) -> MaskableRolloutBufferSamples:
        flat = (
            self.observations.reshape(-1, *self.obs_shape),
            self.actions.ravel(),
            self.values.ravel(),
            self.log_probs.ravel(),
            self.advantages.ravel(),
            self.returns.ravel(),
            self.action_masks.reshape(-1, self.mask_dims),
        )
        return MaskableRolloutBufferSamples(*(self.to_torch(values[batch_inds]) for values in flat))
