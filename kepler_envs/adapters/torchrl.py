"""TorchRL: a game through TorchRL's own PettingZoo wrapper.

For example::

    from kepler_envs.adapters.torchrl import make_torchrl

    env = make_torchrl("kitten_adventurers", num_players=3)
    games = env.rollout(300)
    games["player_0", "action_mask"], games["next", "player_0", "reward"]
"""

from __future__ import annotations

from typing import Any

from pettingzoo.utils import BaseWrapper

import kepler_envs
from kepler_envs.adapters.masks import check_mask_place

try:
    from torchrl.envs.libs.pettingzoo import PettingZooWrapper
except ImportError as problem:
    raise ImportError("this adapter needs TorchRL: pip install 'kepler_envs[torchrl]'") from problem


class _Numbers(BaseWrapper):
    """The game without the one info that is no number: why an action was refused."""

    def step(self, action: Any) -> None:
        super().step(action)
        for info in self.infos.values():
            info.pop("illegal", None)


def make_torchrl(
    name: str, num_players: int | None = None, seed: int | None = None, **settings: Any
) -> PettingZooWrapper:
    """Make a TorchRL environment in which every seat is a group of one.

    ``("player_0", "observation", "observation")`` is int16 (1, D), ``("player_0", "action_mask")`` bool (1, A), and
    ``("player_0", "mask")`` bool (1,): whether the seat decides now. Infos are below ``("player_0", "info")``; results
    are 0 until the end.

    ``("next", "player_0", "reward")`` is what this step paid the seat, whoever moved. What a decision led to is the sum
    up to the seat's next one: most losses are paid while somebody else moves. A truncated game (it reached a limit) has
    paid its final result, so there is nothing to bootstrap.

    Args:
        name: the name of the game.
        num_players: the number of seats. None takes the game's default.
        seed: what the games follow from. TorchRL resets once before it begins, so the first game is not that of
            ``make(...).reset(seed=seed)`` but the one after it. None draws one.
        settings: as for :func:`kepler_envs.make`. ``illegal`` is ``lose`` by default: TorchRL's collectors without a
            policy, and several environments together, draw actions from an older mask.

    Raises:
        UnknownGame: there is no such game; a KeyError.
        BrokenGame: an installed package brings it, but it cannot be loaded; an ImportError.
        OptionError: an option is not as it must be, or ``mask_in`` is not ``observation``, where TorchRL
            takes masks from.
        ComponentError: the component file is wrong.
        ValueError: the seed is not allowed.
    """
    check_mask_place(settings, "TorchRL")
    env = kepler_envs.make(name, num_players=num_players, **{"illegal": "lose", **settings})
    groups = {agent: [agent] for agent in env.possible_agents}
    return PettingZooWrapper(_Numbers(env), use_mask=True, group_map=groups, categorical_actions=True, seed=seed)
