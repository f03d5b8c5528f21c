"""Self-play of all seats: MaskablePPO with one network for every seat."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

import numpy as np
import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import explained_variance
from stable_baselines3.common.vec_env import VecEnv, VecNormalize, unwrap_vec_wrapper

from kepler_envs.adapters.pytorch import CompiledLearner, Goal, Judged, torch_threads
from kepler_envs.adapters.pytorch.goal import norms_checked
from kepler_envs.adapters.sb3.buffer import SharedRolloutBuffer
from kepler_envs.adapters.sb3.environments import SharedSeatVecEnv
from kepler_envs.adapters.sb3.policy import PiecePolicy


class _Figures(NamedTuple):
    """What a step of the optimizer is logged with."""

    entropy_loss: float
    policy_gradient_loss: float
    value_loss: float
    approx_kl: float
    clip_fraction: float


def _figures(goal: Goal, judged: Judged) -> _Figures:
    change = judged.told - cast(np.ndarray, goal.before)
    ratio, advantages = np.exp(change), cast(np.ndarray, goal.advantages)
    clipped = ratio.clip(1 - goal.clip_range, 1 + goal.clip_range)
    errors = judged.values[:, : goal.returns.shape[1]] - goal.returns
    return _Figures(
        -float(judged.entropy.mean()),
        -float(np.minimum(advantages * ratio, advantages * clipped).mean()),
        float(np.square(errors[~np.isnan(goal.returns)]).mean()),
        float((ratio - 1 - change).mean()),
        float((abs(ratio - 1) > goal.clip_range).mean()),
    )


class CheckedMaskablePPO(MaskablePPO):
    """MaskablePPO that stops with DivergedError where it would clip gradients without a finite norm. It would learn
    nothing from them, and go on."""

    def train(self) -> None:
        """Learn from the rollout."""
        with norms_checked(self.policy.parameters()):
            super().train()


class SharedMaskablePPO(CheckedMaskablePPO):
    """MaskablePPO on a :class:`SharedSeatVecEnv`: one network decides for every seat and learns from all of them.

    The policy has to be a :class:`PiecePolicy`, because the values of all seats are learned. Rewards are those of all
    seats, in ``batch.reward``: ``learn`` raises ValueError if a wrapper around the environment changes what it returns.
    For rewards of your own, write them there, in ``step_wait`` of a subclass of the environment. The arguments are
    MaskablePPO's. ``n_steps`` counts decisions per game, and timesteps count the learner's decisions.
    """

    def __init__(self, policy: Any, env: Any, *args: Any, _init_setup_model: bool = True, **kwargs: Any) -> None:
        super().__init__(policy, env, *args, _init_setup_model=False, **kwargs)
        if env is not None:
            self.rollout_buffer_class = SharedRolloutBuffer
        if _init_setup_model:
            self._setup_model()

    _buffers: tuple[th.Tensor, ...] = ()

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_buffers"]

    def _setup_model(self) -> None:
        if self.env is not None:  # after loading, it may have another number of players than the one before
            self.rollout_buffer_kwargs = {"num_players": self._games().batch.num_players}
        super()._setup_model()
        if not isinstance(self.policy, PiecePolicy):
            raise TypeError(f"SharedMaskablePPO learns with a PiecePolicy, not with {type(self.policy).__name__}")
        self.policy.valued_seats = self.rollout_buffer_kwargs["num_players"]

    def set_env(self, env: Any, force_reset: bool = True) -> None:
        """Learn in another environment, which may have another number of players."""
        super().set_env(env, force_reset)
        players = self._games().batch.num_players
        if players != self.rollout_buffer_kwargs["num_players"]:
            self.rollout_buffer_kwargs = {"num_players": players}
            self.rollout_buffer = self.rollout_buffer_class(
                self.n_steps, self.observation_space, self.action_space, self.device, gamma=self.gamma,
                gae_lambda=self.gae_lambda, n_envs=self.n_envs, **self.rollout_buffer_kwargs,
            )  # fmt: skip
            self.policy.valued_seats = players

    def _games(self) -> SharedSeatVecEnv:
        games = self.env.unwrapped if self.env is not None else None
        if not isinstance(games, SharedSeatVecEnv):
            raise TypeError(f"SharedMaskablePPO learns on a SharedSeatVecEnv, not on {type(games).__name__}")
        scaled = unwrap_vec_wrapper(cast(VecEnv, self.env), VecNormalize)
        if scaled is not None and scaled.norm_reward:
            raise ValueError(
                "SharedMaskablePPO learns from what the game paid every seat, so scaled rewards would change nothing; "
                "allowed: VecNormalize(..., norm_reward=False)"
            )
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
            seen = self._seen(cast(np.ndarray, self._last_obs))
            with th.no_grad():
                chosen, values, log_probs = self.policy(seen, action_masks=masks if use_masking else None)
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

    def train(self) -> None:
        """Learn from the rollout: MaskablePPO's own method, in one pass through compiled code where the policy has it.

        Both lead to the same weights, to rounding, and log the same figures. With ``clip_range_vf`` and on other
        devices than the processor, MaskablePPO's own is used. The explained variance is that of the decisions learned
        from.
        """
        learner = cast(PiecePolicy, self.policy).learner
        if learner is None or self.clip_range_vf is not None:
            with self._values_of_samples():
                super().train()
        else:
            self._train_in_one_pass(learner)
        self._log_explained_variance()

    @contextmanager
    def _values_of_samples(self) -> Iterator[None]:
        """Meanwhile the policy tells those values of a sample whose returns are known: MaskablePPO compares all that it
        tells with all returns that there are."""
        rollout, judge = cast(SharedRolloutBuffer, self.rollout_buffer), self.policy.evaluate_actions
        if not rollout.lacks_seats:
            yield
            return

        def judge_known(*asked: Any, **named: Any) -> tuple[th.Tensor, ...]:
            values, *others = judge(*asked, **named)
            return values[rollout.known], *others

        self.policy.evaluate_actions = judge_known
        try:
            yield
        finally:
            del self.policy.evaluate_actions

    def _train_in_one_pass(self, learner: CompiledLearner) -> None:
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        epochs: list[list[_Figures]] = []
        for epoch in range(self.n_epochs):
            epochs.append(self._epoch(learner))
            self._n_updates += 1
            if self._is_far(epochs[-1][-1]):
                if self.verbose >= 1:
                    print(f"Early stopping at step {epoch} due to reaching max kl: {epochs[-1][-1].approx_kl:.2f}")
                break
        self._log(epochs)

    def _epoch(self, learner: CompiledLearner) -> list[_Figures]:
        """Pass through the rollout once. It ends early where the policy has moved too far."""
        figures = []
        for chosen in self.rollout_buffer.minibatches(self.batch_size):  # type: ignore[attr-defined]
            figures.append(self._step(learner, chosen))
            if self._is_far(figures[-1]):
                break
            learner.clip_gradients(self.max_grad_norm)
            with torch_threads(1):
                self.policy.optimizer.step()
        return figures

    def _step(self, learner: CompiledLearner, chosen: np.ndarray) -> _Figures:
        """Find the gradients of a minibatch."""
        arrays = self.rollout_buffer.arrays()  # type: ignore[attr-defined]
        observations, masks, actions, before, advantages, returns = (one.take(chosen, 0) for one in arrays)
        if self.normalize_advantage:
            advantages = (advantages - advantages.mean()) / (advantages.std(ddof=1) + 1e-8)
        clip_range = float(self.clip_range(self._current_progress_remaining))
        goal = Goal(returns, self.vf_coef, self.ent_coef, before, advantages, clip_range)
        return _figures(goal, learner.learn(observations, masks, actions, goal))

    def _is_far(self, figures: _Figures) -> bool:
        return self.target_kl is not None and figures.approx_kl > 1.5 * self.target_kl

    def _log(self, epochs: list[list[_Figures]]) -> None:
        """As MaskablePPO does: means of all steps, but of the last epoch's divergence and the last step's loss."""
        every, last = sum(epochs, []), epochs[-1][-1]
        for name in ("entropy_loss", "policy_gradient_loss", "value_loss", "clip_fraction"):
            self.logger.record(f"train/{name}", np.mean([getattr(one, name) for one in every]))
        self.logger.record("train/approx_kl", np.mean([one.approx_kl for one in epochs[-1]]))
        loss = last.policy_gradient_loss + self.ent_coef * last.entropy_loss + self.vf_coef * last.value_loss
        self.logger.record("train/loss", loss)
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        self.logger.record("train/clip_range", self.clip_range(self._current_progress_remaining))

    def _log_explained_variance(self) -> None:
        """MaskablePPO's own counts decisions of others, too, and those whose worth is unknown as foretold exactly."""
        rollout = cast(SharedRolloutBuffer, self.rollout_buffer)
        values, returns = (of_all[rollout.learning].ravel() for of_all in (rollout.values, rollout.returns))
        known = ~np.isnan(returns)
        self.logger.record("train/explained_variance", explained_variance(values[known], returns[known]))

    def _seen(self, observations: np.ndarray) -> th.Tensor:
        """The observations, where the policy decides: small networks do so faster in compiled code than on a GPU."""
        seen = th.from_numpy(observations)
        at_hand = self.device.type == "cpu" or cast(PiecePolicy, self.policy).compiled
        return seen if at_hand else self._pinned(seen).to(self.device, non_blocking=True)

    def _pinned(self, seen: th.Tensor) -> th.Tensor:
        """A copy in memory that a device reads by itself: in one of two buffers in turn, as the one before may still be
        read."""
        self._buffers = self._buffers[::-1] or tuple(th.empty_like(seen).pin_memory() for _ in range(2))
        return self._buffers[0].copy_(seen)

    def _values(self, observations: np.ndarray) -> np.ndarray:
        """float32 (N, P), what the network expects."""
        with th.no_grad():
            return self.policy.predict_values(self._seen(observations)).cpu().numpy()

    def _play(self, env: Any, games: SharedSeatVecEnv, actions: np.ndarray, rollout: SharedRolloutBuffer) -> None:
        """Make one decision in every game, and book what it paid into the rollout."""
        learned = int(games.learning.sum())
        self._last_obs, rewards, dones, infos = env.step(actions)
        if not np.array_equal(rewards, games.batch.reward[:, 0]):
            raise ValueError(
                "a wrapper has changed rewards, and SharedMaskablePPO learns from what every seat was paid, so this "
                "would change nothing; write rewards of your own into batch.reward, in step_wait of a subclass of "
                "SharedSeatVecEnv"
            )
        rollout.add_outcome(games.batch.reward, dones)
        self._last_episode_starts = dones
        self.num_timesteps += learned
        if dones.any():  # only then is there something to tell, and to ask 64 games takes a while
            self._update_info_buffer(infos, dones)
