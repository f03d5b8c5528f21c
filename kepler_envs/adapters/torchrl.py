"""TorchRL: a game through TorchRL's own PettingZoo wrapper.

For example::

    from kepler_envs.adapters.torchrl import make_torchrl

    env = make_torchrl("kitten_adventurers", num_players=3)
    games = env.rollout(300)
    games["player_0", "action_mask"], games["next", "player_0", "reward"]
"""

from __future__ import annotations

from typing import Any

import kepler_envs
from kepler_envs.adapters.masks import check_mask_place

try:
    from torchrl.envs.libs.pettingzoo import PettingZooWrapper
except ImportError as problem:
    raise ImportError("this adapter needs TorchRL: pip install 'kepler_envs[torchrl]'") from problem


def make_torchrl(
    name: str, seed: int | None = None, num_players: int | None = None, **settings: Any
) -> PettingZooWrapper:
    """Make a TorchRL environment in which every seat is a group of one.

    ``("player_0", "observation", "observation")`` is int16 (1, D), ``("player_0", "action_mask")`` bool (1, A), and
    ``("player_0", "mask")`` bool (1,): whether the seat decides now. Infos are below ``("player_0", "info")``, 0 until
    the end.

    Args:
        name: the name of the game.
        seed: what the games follow from.
        num_players: the number of seats. None takes the game's default.
        settings: ``components`` and the game's options.

    Raises:
        OptionError: an option is not as it must be, or ``mask_in`` is not ``observation``, where TorchRL
            takes masks from.
    """
    check_mask_place(settings, "TorchRL")
    env = kepler_envs.make(name, num_players=num_players, **settings)
    groups = {agent: [agent] for agent in env.possible_agents}
    return PettingZooWrapper(env, use_mask=True, group_map=groups, categorical_actions=True, seed=seed)
