"""RLlib's new API stack: all seats of a game as a ``MultiAgentEnv``, and PPO with masked actions for them::

    from kepler_envs.adapters.rllib import masked_ppo

    algorithm = masked_ppo("kitten_adventurers", num_players=4).build_algo()
    algorithm.train()

``ray[rllib]`` pins an older Gymnasium than the rest of this library is tested with: give it an environment of its own
(``pip install 'kepler_envs[rllib]'``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

import kepler_envs
from kepler_envs.adapters.flat import FlatInputs
from kepler_envs.adapters.masks import check_mask_place
from kepler_envs.engine.aec import NoGameError
from kepler_envs.engine.game import Configuration, OptionError

try:
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
    from ray.rllib.core.columns import Columns
    from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ImportError as problem:
    raise ImportError("this adapter needs RLlib: pip install 'kepler_envs[rllib]'") from problem

SHARED = "shared"
"""The one policy that plays, and learns from, every seat."""

FORBIDDEN = -1e9
"""Logit of an illegal action: low enough for probability 0, finite, so that entropies stay numbers."""


class SeatsEnv(MultiAgentEnv):
    """Every seat of a game is an agent, ``player_0`` .. Each step is one decision of the seat to move.

    Rewards accumulate between a seat's decisions, the final loss included; a seat gets them with its next observation
    or at the end. Seats that never decided are left out there. A game that reaches a limit pays its final result like
    any other, so it counts as terminated.

    Observations are ``{"observations": float32 (E,), "action_mask": float32 (A,)}``, see :class:`FlatInputs`.

    Args:
        config: ``game`` and the other arguments of :func:`kepler_envs.make`. ``illegal`` is ``lose`` by default.

    Raises:
        OptionError: there is no ``game``, an option is not as it must be, or ``mask_in`` is not ``observation``, where
            the mask is taken from.
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__()
        # RLlib tries an environment with actions of its own before it trains
        settings = {"illegal": "lose", **(config or {})}
        check_mask_place(settings, "RLlib")
        if "game" not in settings:
            games = ", ".join(kepler_envs.list_games())
            raise OptionError(
                f"SeatsEnv needs the name of a game: env_config={{'game': NAME, ...}}; there are: {games}"
            )
        self.game = kepler_envs.make(settings.pop("game"), **settings)
        self.possible_agents = list(self.game.possible_agents)
        self.agents = list(self.possible_agents)
        self.observation_spaces = dict.fromkeys(self.possible_agents, observation_space(self.game.config))
        self.action_spaces = dict.fromkeys(self.possible_agents, action_space(self.game.config))
        self._inputs = FlatInputs(self.game.config.observation)
        self._decided: set[str] = set()
        self._early: dict[str, float] = {}  # paid before the seat's first decision

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deal a game. Returns (observation of the seat to move, infos).

        Raises what :meth:`kepler_envs.KeplerEnv.reset` does.
        """
        self.game.reset(seed=seed, options=options)
        self._decided.clear()
        self._early.clear()
        mover = self.game.agent_selection
        return {mover: self._observe(mover)}, {}

    def step(self, action_dict: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Apply the decision of the seat to move. Returns (observations, rewards, terminateds, truncateds, infos).

        Raises ValueError if ``action_dict`` has no decision of that seat or one that is no integer, and RuntimeError
        if no game is running.
        """
        mover = self.game.agent_selection
        if self._is_over():
            raise NoGameError
        if mover not in action_dict:
            raise ValueError(f"{mover} is to move; got decisions of: {', '.join(map(str, action_dict)) or 'nobody'}")
        if mover not in self._decided:
            self._early[mover] = float(self.game._cumulative_rewards[mover])  # the game forgets it now
            self._decided.add(mover)
        self.game.step(action_dict[mover])
        over = self._is_over()
        told = sorted(self._decided) if over else [self.game.agent_selection]
        observations = {agent: self._observe(agent) for agent in told}
        rewards = {agent: self._collect(agent) for agent in told if agent in self._decided}
        infos = {agent: {"rank": self.game.infos[agent]["rank"]} if over else {} for agent in told}
        return observations, rewards, {"__all__": over}, {"__all__": False}, infos

    def render(self) -> Any:
        """Draw the position in the ``render_mode`` of ``config``; see :meth:`KeplerEnv.render`."""
        return self.game.render()

    def close(self) -> None:
        """Close the window if ``human`` opened one."""
        self.game.close()

    def _is_over(self) -> bool:
        """Whether the game has ended; all agents end together."""
        mover = self.game.agent_selection
        return self.game.terminations[mover] or self.game.truncations[mover]

    def _observe(self, agent: str) -> dict[str, np.ndarray]:
        seen = self.game.observe(agent)
        return {
            "observations": self._inputs.encode(seen["observation"]),
            "action_mask": seen["action_mask"].astype(np.float32),
        }

    def _collect(self, agent: str) -> float:
        """What the seat was paid since its last decision, or since the deal."""
        return float(self.game._cumulative_rewards[agent]) + self._early.pop(agent, 0.0)


def observation_space(config: Configuration) -> spaces.Dict:
    """What a seat sees, and a mask of its actions."""
    inputs = FlatInputs(config.observation)
    seen = spaces.Box(inputs.low, inputs.high)
    return spaces.Dict({"observations": seen, "action_mask": spaces.Box(0.0, 1.0, (len(config.actions),), np.float32)})


def action_space(config: Configuration) -> spaces.Discrete:
    """The game's action ids."""
    return spaces.Discrete(len(config.actions))


class MaskedModule(DefaultPPOTorchRLModule):
    """RLlib's default network of PPO on ``observations``, with the logits of actions outside ``action_mask`` far below
    all others."""

    def __init__(self, *args: Any, observation_space: spaces.Dict, **kwargs: Any) -> None:
        super().__init__(*args, observation_space=observation_space["observations"], **kwargs)

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return self._mask(super()._forward(seen(batch), **kwargs), batch)

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        return self._mask(super()._forward_train(seen(batch), **kwargs), batch)

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        return super().compute_values(seen(batch), embeddings)

    def _mask(self, outputs: dict[str, Any], batch: dict[str, Any]) -> dict[str, Any]:
        logits, mask = outputs[Columns.ACTION_DIST_INPUTS], batch[Columns.OBS]["action_mask"]
        return {**outputs, Columns.ACTION_DIST_INPUTS: logits.masked_fill(mask == 0, FORBIDDEN)}


def seen(batch: dict[str, Any]) -> dict[str, Any]:
    """A batch with the observations alone, as the default network wants it."""
    return {**batch, Columns.OBS: batch[Columns.OBS]["observations"]}


def masked_ppo(game: str, hidden: tuple[int, ...] = (256, 128), **settings: Any) -> PPOConfig:
    """PPO in which one masked network plays every seat. Change the configuration further as RLlib's pages say.

    Args:
        game: the name of the game.
        hidden: the widths of the network's layers.
        settings: as for :func:`kepler_envs.make`, but for ``mask_in``.

    Raises:
        UnknownGame: there is no such game; a KeyError.
        BrokenGame: an installed package brings it, but it cannot be loaded; an ImportError.
        OptionError: a setting is not as it must be, ``mask_in`` among them.
        ComponentError: the component file is wrong.
    """
    check_mask_place(settings, "RLlib")
    config = kepler_envs.make(game, **settings).config
    module = RLModuleSpec(
        module_class=MaskedModule,
        observation_space=observation_space(config),
        action_space=action_space(config),
        model_config={"fcnet_hiddens": list(hidden), "fcnet_activation": "relu"},
    )
    return (
        PPOConfig()
        .environment(SeatsEnv, env_config={"game": game, **settings})
        .multi_agent(policies={SHARED}, policy_mapping_fn=lambda agent, episode, **_: SHARED)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={SHARED: module}))
        .training(gamma=1.0)
    )
