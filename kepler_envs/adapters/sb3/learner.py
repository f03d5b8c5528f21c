"""Self-play of all seats: MaskablePPO with one network for every seat."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import VecEnv

from kepler_envs.adapters.sb3.buffer import SharedRolloutBuffer
from kepler_envs.adapters.sb3.environments import SharedSeatVecEnv
from kepler_envs.adapters.sb3.policy import PiecePolicy


class SharedMaskablePPO(MaskablePPO):
    """MaskablePPO on a :class:`SharedSeatVecEnv`: one network decides for every seat and learns from all of them.

    The policy has to be a :class:`PiecePolicy`, because the values of all seats are learned. The arguments are
    MaskablePPO's. ``n_steps`` counts decisions per game, and timesteps count the learner's decisions.
    """

    def __init__(self, policy: Any, env: Any, *args: Any, _init_setup_model: bool = True, **kwargs: Any) -> None:
        super().__init__(policy, env, *args, _init_setup_model=False, **kwargs)
        if env is not None:
            self.rollout_buffer_class = SharedRolloutBuffer
            self.rollout_buffer_kwargs = {"num_players": self._games().batch.num_players}
        if _init_setup_model:
            self._setup_model()

    _buffers: tuple[th.Tensor, ...] = ()

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_buffers"]

    def _setup_model(self) -> None:
        super()._setup_model()
        if not isinstance(self.policy, PiecePolicy):
            raise TypeError(f"SharedMaskablePPO learns with a PiecePolicy, not with {type(self.policy).__name__}")
        self.policy.valued_seats = self.rollout_buffer_kwargs["num_players"]

    def _games(self) -> SharedSeatVecEnv:
        games = self.env.unwrapped if self.env is not None else None
        if not isinstance(games, SharedSeatVecEnv):
            raise TypeError(f"SharedMaskablePPO learns on a SharedSeatVecEnv, not on {type(games).__name__}")
        return games

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: Any,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Play ``n_rollout_steps`` decisions in every game. Returns False if the callback stopped it."""
        games = self._games()
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        callback.on_rollout_start()
        for _ in range(n_rollout_steps):
            masks = games.action_masks()
            with th.no_grad():
                chosen, values, log_probs = self.policy(self._last_seen(), action_masks=masks if use_masking else None)
            actions = games.others_choose(chosen.cpu().numpy())
            rollout_buffer.add_decisions(
                self._last_obs, masks, games.seats, games.learning, actions, values.cpu().numpy(),
                log_probs.cpu().numpy(),
            )  # fmt: skip
            self._play(env, games, actions, rollout_buffer)
            callback.update_locals(locals())
            if not callback.on_step():
                return False
        rollout_buffer.compute_seat_advantages(
            games.seats, self._values(cast(np.ndarray, self._last_obs)), getattr(games.batch, "players", None)
        )
        callback.on_rollout_end()
        return True

    def _last_seen(self) -> th.Tensor:
        seen = th.from_numpy(cast(np.ndarray, self._last_obs))
        return seen if self.device.type == "cpu" else self._pinned(seen).to(self.device, non_blocking=True)

    def _pinned(self, seen: th.Tensor) -> th.Tensor:
        """A copy in memory that a device reads by itself: in one of two buffers in turn, as the one before may still be
        read."""
        self._buffers = self._buffers[::-1] or tuple(th.empty_like(seen).pin_memory() for _ in range(2))
        return self._buffers[0].copy_(seen)

    def _values(self, observations: np.ndarray) -> np.ndarray:
        """float32 (N, P), what the network expects."""
        with th.no_grad():
            return self.policy.predict_values(th.as_tensor(observations, device=self.device)).cpu().numpy()

    def _play(self, env: Any, games: SharedSeatVecEnv, actions: np.ndarray, rollout: SharedRolloutBuffer) -> None:
        """Make one decision in every game, and book what it paid into the rollout."""
        learned = int(games.learning.sum())
        self._last_obs, _, dones, infos = env.step(actions)
        rollout.add_outcome(games.batch.reward, dones)
        self._last_episode_starts = dones
        self.num_timesteps += learned
        self._update_info_buffer(infos, dones)
