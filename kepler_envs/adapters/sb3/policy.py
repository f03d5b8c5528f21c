"""The network as a policy of Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import torch as th
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

from kepler_envs.adapters.pytorch import CompiledLearner, PieceNetwork, judged
from kepler_envs.engine.actions import ActionSet
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.network import NetworkInputs, NetworkShape
from kepler_envs.engine.observation import Layout
from kepler_envs.networks import draw

CHANGED = (
    "PiecePolicy reads the game's own integer observations, and a wrapper has changed them; VecNormalize is allowed "
    "with norm_obs=False"
)
OPTIMIZER = {"optimizer_class", "optimizer_kwargs"}
"""What a policy uses of Stable-Baselines3's settings."""


class PiecePolicy(MaskableActorCriticPolicy):
    """A :class:`~kepler_envs.adapters.pytorch.PieceNetwork` that plays.

    It makes masked choices and tells the returns that it expects. Its arrays are saved under the names that the network
    has for them.

    Args:
        observation_space, action_space: as Stable-Baselines3 passes them. Their sizes must be those of ``layout`` and
            ``actions``.
        lr_schedule: as Stable-Baselines3 passes it.
        layout: ``config.observation``.
        actions: ``config.actions``.
        seats: the most seats that play the game.
        width, hidden, rows, over: as in :class:`~kepler_envs.engine.network.NetworkShape`. Over a bot, an observation
            has one more entry: the bot's choice.
        compiled: decide in compiled code, and learn in it if the network is on the processor. That is several times as
            fast as PyTorch's own operations, and equal but for rounding. For a network on another device, compiled code
            decides with a copy of its weights wherever observations are on the processor.
        optimizer_class, optimizer_kwargs: as in Stable-Baselines3. Its other settings of a network, such as
            ``net_arch``, would change nothing here.

    Raises:
        TypeError: layout, actions or seats are missing, or there is a setting that would change nothing.
        ValueError: the spaces have other sizes.

    Attributes:
        network: the network.
        valued_seats: the number of seats whose values it tells, the observing one first. It is 1 unless an algorithm
            learns more of them.
    """

    def __init__(
        self,
        observation_space: gym.Space,
        action_space: gym.spaces.Discrete,
        lr_schedule: Any,
        *,
        layout: Layout | None = None,
        actions: ActionSet | None = None,
        seats: int | None = None,
        width: int = 128,
        hidden: Sequence[int] = (128,),
        rows: int = 32,
        over: str = "",
        compiled: bool = True,
        **kwargs: Any,
    ) -> None:
        if layout is None or actions is None or seats is None:
            raise TypeError(
                "PiecePolicy needs layout, actions and seats of the game: policy_kwargs=piece_policy(config) gives them"
            )
        if unused := sorted(kwargs.keys() - OPTIMIZER):
            raise TypeError(
                f"PiecePolicy does not use {', '.join(unused)}; its network is as piece_policy(config, width=..., "
                "hidden=..., rows=...) says"
            )
        inputs = NetworkInputs(layout, actions, seats, NetworkShape(width, tuple(hidden), rows, over))
        if observation_space.shape != (inputs.layout.size,):
            hint = _choice_missing(inputs, observation_space.shape, over)
            raise ValueError(
                f"the layout has {inputs.layout.size} entries, the observation space {observation_space.shape}{hint}"
            )
        if action_space.n != len(actions):
            raise ValueError(f"there are {len(actions)} actions, in the action space {action_space.n}")
        self._made_of = {
            "layout": layout, "actions": actions, "seats": seats, "width": width, "hidden": tuple(hidden), "rows": rows,
            "over": over, "compiled": compiled,
        }  # fmt: skip
        self._inputs = inputs
        self.valued_seats = 1
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        used = {*OPTIMIZER, "observation_space", "action_space", "lr_schedule"}
        theirs = {name: value for name, value in super()._get_constructor_parameters().items() if name in used}
        return {**theirs, **self._made_of}

    def _build(self, lr_schedule: Any) -> None:
        self.network = PieceNetwork(self._inputs)
        self._learner = CompiledLearner(self.network) if self._made_of["compiled"] else None
        make_optimizer: Any = self.optimizer_class  # torch types it without the learning rate
        one_pass = {"fused": True} if make_optimizer is th.optim.Adam else {}  # many small arrays: a third of the time
        settings = {**one_pass, **self.optimizer_kwargs}
        self.optimizer = make_optimizer(self.network.parameters(), lr=lr_schedule(1), **settings)

    def set_training_mode(self, mode: bool) -> None:
        """See its base class. What learned in between may have changed the weights without leaving a trace."""
        super().set_training_mode(mode)
        self._forget()

    def load_from_vector(self, vector: np.ndarray) -> None:
        """See its base class. It leaves no trace in the weights, either."""
        super().load_from_vector(vector)
        self._forget()

    def _forget(self) -> None:
        if self._learner is not None:
            self._learner.forget()

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """The network's arrays."""
        return self.network.state_dict(*args, **kwargs)

    def load_state_dict(self, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
        """See :meth:`state_dict`."""
        return self.network.load_state_dict(state_dict, *args, **kwargs)

    def log_probs_and_values(self, obs: th.Tensor, action_masks: Any) -> tuple[th.Tensor, th.Tensor]:
        """Log-probabilities (N, A), masked, and values (N, P) of all seats, the observing one first.

        Raises ValueError if observations are no integers.
        """
        if obs.is_floating_point() and not bool((obs == obs.round()).all()):
            raise ValueError(CHANGED)
        obs = obs.to(self.network.device)
        if action_masks is not None:
            action_masks = th.as_tensor(action_masks, dtype=th.bool, device=obs.device).reshape(len(obs), -1)
        return self.network(obs, action_masks)

    def forward(
        self, obs: th.Tensor, deterministic: bool = False, action_masks: np.ndarray | None = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """(actions (N,), values (N, valued_seats), log-probabilities (N,))."""
        learner = self._answering(obs)
        if learner is not None and action_masks is not None:
            return self._play(learner, obs, deterministic, action_masks)
        log_probs, values = self.log_probs_and_values(obs, action_masks)
        actions = log_probs.argmax(1) if deterministic else th.multinomial(log_probs.exp(), 1).squeeze(1)
        return actions, values[:, : self.valued_seats], log_probs.gather(1, actions.unsqueeze(1)).squeeze(1)

    @property
    def learner(self) -> CompiledLearner | None:
        """Compiled code that learns; None where PyTorch does."""
        return self._learner if self.network.device.type == "cpu" else None

    @property
    def compiled(self) -> bool:
        """Whether compiled code decides about observations that are on the processor."""
        return self._learner is not None

    def _answering(self, obs: th.Tensor) -> CompiledLearner | None:
        """Compiled code for these observations; None where PyTorch computes."""
        return self._learner if obs.device.type == "cpu" else None

    @staticmethod
    def _own(obs: th.Tensor) -> np.ndarray:
        """Observations as compiled code takes them. Raises ValueError if a wrapper has changed them."""
        if obs.is_floating_point():
            raise ValueError(CHANGED)
        return obs.numpy()

    def _play(
        self, learner: CompiledLearner, obs: th.Tensor, deterministic: bool, action_masks: np.ndarray
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        priors, values = learner.answer(self._own(obs), _as_masks(action_masks, len(obs)))
        actions = priors.argmax(1) if deterministic else draw(priors, th.rand(len(priors), dtype=th.float64).numpy())
        chosen = np.log(priors[np.arange(len(priors)), actions])
        return th.from_numpy(actions), th.from_numpy(values)[:, : self.valued_seats], th.from_numpy(chosen)

    def evaluate_actions(
        self, obs: th.Tensor, actions: th.Tensor, action_masks: th.Tensor | None = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """(values (N, valued_seats), log-probabilities (N,), entropies (N,)) of given actions."""
        learner = self.learner
        if learner is not None and action_masks is not None:
            masks = _as_masks(action_masks, len(obs))
            chosen, entropy, values = learner.judge(obs.numpy(), masks, actions.long().reshape(-1).numpy())
            return values[:, : self.valued_seats], chosen, entropy
        log_probs, values = self.log_probs_and_values(obs, action_masks)
        chosen, entropy = judged(log_probs, actions)
        return values[:, : self.valued_seats], chosen, entropy

    def get_distribution(self, obs: Any, action_masks: np.ndarray | None = None) -> Any:
        """The distribution that ``predict`` chooses from."""
        log_probs, _ = self.log_probs_and_values(obs, None)
        distribution = self.action_dist.proba_distribution(action_logits=log_probs)
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution

    def predict_values(self, obs: Any) -> th.Tensor:
        """The values (N, valued_seats)."""
        learner = self._answering(obs)
        if learner is not None and not th.is_grad_enabled():
            nothing = np.zeros((len(obs), self.action_space.n), np.int8)  # type: ignore[attr-defined]
            return th.from_numpy(learner.answer(self._own(obs), nothing)[1][:, : self.valued_seats])
        return self.log_probs_and_values(obs, None)[1][:, : self.valued_seats]


def _choice_missing(inputs: NetworkInputs, seen: tuple[int, ...] | None, over: str) -> str:
    """What to do if network and environment are one entry apart because only one of them has a bot below."""
    if over and seen == (inputs.layout.size - 1,):
        return f"; the network is over {over}, so make the environment with over={over!r}, which tells its choice"
    if not over and seen == (inputs.layout.size + 1,):
        return "; the environment tells the choice of a bot, so name that in piece_policy(..., over=...)"
    return ""


def _as_masks(action_masks: Any, count: int) -> np.ndarray:
    """int8 (N, A)."""
    masks = action_masks.numpy() if isinstance(action_masks, th.Tensor) else np.asarray(action_masks)
    return masks.astype(np.bool_, copy=False).reshape(count, -1).view(np.int8)


def piece_policy(
    game: Configuration | tuple[Layout, ActionSet, int],
    width: int = 128,
    hidden: Sequence[int] = (128,),
    rows: int = 32,
    over: str = "",
    compiled: bool = True,
) -> dict[str, Any]:
    """Make ``policy_kwargs`` for a network of this library's observations.

    Args:
        game: ``batch.config``, or a tuple of its observation, its actions, and the most seats that play it.
        width: the outputs of the first layer.
        hidden: the outputs of the further layers, which policy and value have separately.
        rows: the numbers that it computes for each row of a table. 0 makes a flat network, which looks at no row by
            itself.
        over: the bot that it begins as, for environments that tell its choice (their argument ``over``).
        compiled: see :class:`PiecePolicy`.

    Raises TypeError if ``game`` is something else. Sizes are checked when the policy is made.
    """
    if isinstance(game, Configuration):
        game = game.observation, game.actions, game.game.max_players
    if not isinstance(game, tuple) or len(game) != 3:
        raise TypeError(
            f"game = {game!r} is not allowed; allowed: the configuration of a game, as batch.config, or a tuple of its "
            "observation, its actions and a number of seats"
        )
    layout, actions, seats = game
    return {
        "layout": layout, "actions": actions, "seats": seats, "width": width, "hidden": tuple(hidden), "rows": rows,
        "over": over, "compiled": compiled,
    }  # fmt: skip
