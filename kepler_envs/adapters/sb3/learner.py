"""Self-play of all seats: MaskablePPO with one network for every seat."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import update_learning_rate
from stable_baselines3.common.vec_env import VecEnv
from torch.nn import functional as F

from kepler_envs.adapters.opponents import Opponent
from kepler_envs.adapters.sb3.buffer import SharedRolloutBuffer
from kepler_envs.adapters.sb3.environments import SharedSeatVecEnv
from kepler_envs.engine.seeds import opponent_seeds


class SharedMaskablePPO(MaskablePPO):
    """MaskablePPO on a :class:`SharedSeatVecEnv`: one network decides for every seat and learns from all of them.

    Arguments are MaskablePPO's; ``n_steps`` counts decisions per game, timesteps those of the learner.
    """

    def __init__(self, policy: Any, env: Any, *args: Any, _init_setup_model: bool = True, **kwargs: Any) -> None:
        super().__init__(policy, env, *args, _init_setup_model=False, **kwargs)
        if env is not None:
            self.rollout_buffer_class = SharedRolloutBuffer
            self.rollout_buffer_kwargs = {"num_players": self._games().batch.num_players}
        if _init_setup_model:
            self._setup_model()

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
        """Play ``n_rollout_steps`` decisions in every game; False if the callback stopped it."""
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
                self._last_obs, masks, games.seats, games.learning, actions, values.cpu().numpy().ravel(),
                log_probs.cpu().numpy(),
            )  # fmt: skip
            self._play(env, games, actions, rollout_buffer)
            callback.update_locals(locals())
            if not callback.on_step():
                return False
        rollout_buffer.compute_seat_advantages(games.seats, self._values(cast(np.ndarray, self._last_obs)))
        callback.on_rollout_end()
        return True

    def imitate(self, teacher: Opponent, learning_rate: float, batch_size: int) -> None:
        """Let ``teacher`` play a rollout on every seat, and learn to predict its choices and what they lead to.

        A start for self-play: the policy is trained by the likelihood of the teacher's actions, the value by the same
        returns as in self-play. Call it as often as wanted before ``learn``; its decisions count as timesteps.
        """
        self._setup_learn(0, None, reset_num_timesteps=False)
        games, rollout = self._games(), cast(SharedRolloutBuffer, self.rollout_buffer)
        rows = np.arange(games.num_envs)
        teacher.start(rows, opponent_seeds(games.batch.seed))
        rollout.reset()
        unknown = np.zeros(games.num_envs, np.float32)
        for _ in range(self.n_steps):
            actions = games.others_choose(teacher(games.batch, rows))
            rollout.add_decisions(
                self._last_obs, games.action_masks(), games.seats, games.learning, actions, unknown, unknown
            )
            ended = self._play(self.env, games, actions, rollout)
            if ended.size:
                teacher.start(ended, opponent_seeds(games.batch.seed[ended]))
        for step in range(self.n_steps):
            rollout.values[step] = self._values(rollout.observations[step])
        rollout.compute_seat_advantages(games.seats, self._values(cast(np.ndarray, self._last_obs)))
        self._learn_to_predict(rollout, learning_rate, batch_size)

    def _learn_to_predict(self, rollout: SharedRolloutBuffer, learning_rate: float, batch_size: int) -> None:
        self.policy.set_training_mode(True)
        update_learning_rate(self.policy.optimizer, learning_rate)
        losses = []
        for samples in rollout.get(batch_size):
            values, log_probs, _ = self.policy.evaluate_actions(
                samples.observations, samples.actions, samples.action_masks
            )
            surprise = -log_probs.mean()
            loss = surprise + self.vf_coef * F.mse_loss(values.flatten(), samples.returns)
            self.policy.optimizer.zero_grad()
            loss.backward()
            th.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
            losses.append(surprise.item())
        self.logger.record("imitation/loss", float(np.mean(losses)))
        self.logger.dump(self.num_timesteps)

    def _last_seen(self) -> th.Tensor:
        return th.as_tensor(cast(np.ndarray, self._last_obs), device=self.device)

    def _values(self, observations: np.ndarray) -> np.ndarray:
        """float32 (N,), what the network expects."""
        with th.no_grad():
            return self.policy.predict_values(th.as_tensor(observations, device=self.device)).cpu().numpy().ravel()

    def _play(self, env: Any, games: SharedSeatVecEnv, actions: np.ndarray, rollout: SharedRolloutBuffer) -> np.ndarray:
        """One decision in every game, and what it paid into the rollout; the rows (M,) whose games it ended."""
        learned = int(games.learning.sum())
        self._last_obs, _, dones, infos = env.step(actions)
        rollout.add_outcome(games.batch.reward, dones)
        self._last_episode_starts = dones
        self.num_timesteps += learned
        self._update_info_buffer(infos, dones)
        return np.flatnonzero(dones)
