"""Modern space board games as multi-agent reinforcement-learning environments::

    import kepler_envs
    env = kepler_envs.make("kitten_adventurers-v1", num_players=4)            # PettingZoo AEC
    batch = kepler_envs.make_batch("kitten_adventurers-v1", num_envs=4096)    # thousands of games as arrays

Importing this package registers every game with PettingZoo (1.27 and later) and with Gymnasium:

* ``pettingzoo.make("aec", "kepler/kitten_adventurers-v1")`` is the AEC environment;
* ``gymnasium.make("kepler/kitten_adventurers-v1")`` is one seat against opponents;
* ``gymnasium.make_vec`` plays many such games at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pettingzoo

from kepler_envs import registry
from kepler_envs.engine.aec import KeplerEnv
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import ComponentError, Configuration, Game, OptionError
from kepler_envs.engine.playout import CompiledPolicy, Playouts, playouts
from kepler_envs.engine.snapshot import IllegalAction, Snapshot
from kepler_envs.registry import UnknownGame, list_games, load_game
from kepler_envs.revision import VERSION

__version__ = VERSION

__all__ = [
    "Batch", "CompiledPolicy", "ComponentError", "Configuration", "Game", "IllegalAction", "KeplerEnv", "OptionError",
    "Playouts", "Snapshot", "UnknownGame", "list_games", "load_game", "make", "make_batch", "playouts", "register",
]  # fmt: skip


def make(
    name: str,
    *,
    num_players: int | None = None,
    render_mode: str | None = None,
    render_seat: int | None = None,
    illegal: str = "raise",
    copy: bool = True,
    mask_in: str = "observation",
    components: str | Path | None = None,
    **options: Any,
) -> KeplerEnv:
    """Make a PettingZoo AEC environment.

    Args:
        name: a game's name or id, such as ``kitten_adventurers-v1``.
        num_players: the number of seats. None takes the game's default.
        render_mode: None, ``ansi``, ``svg``, ``rgb_array`` or ``human``.
        render_seat: the seat whose view is drawn. None draws everything.
        illegal: what an illegal action does, ``raise`` or ``lose``.
        copy: whether observations are copies.
        mask_in: where the action mask goes: ``observation``, ``info`` or ``both``. With ``info`` the observation is the
            vector alone.
        components: a component file of your own, like the game's components.toml.
        options: the game's options. ``kepler-envs show GAME`` lists them.

    Raises:
        UnknownGame: there is no such game; a KeyError.
        BrokenGame: an installed package brings it, but it cannot be loaded; an ImportError.
        OptionError: a value is not allowed.
        ComponentError: the component file is wrong.
        TypeError: ``name`` is no text.
    """
    also = ("render_mode", "render_seat", "illegal", "copy", "mask_in")
    config = registry.configure(name, num_players, components, options, also)
    return KeplerEnv(config, render_mode, illegal, copy, render_seat, mask_in)


def make_batch(
    name: str,
    num_envs: int,
    *,
    num_players: int | None = None,
    seed: int | np.integer | np.ndarray | None = None,
    threads: int = 1,
    components: str | Path | None = None,
    **options: Any,
) -> Batch:
    """Make games as arrays; see :class:`Batch`.

    Args:
        name: a game's name or id, such as ``kitten_adventurers-v1``.
        num_envs: the number of games.
        num_players: the number of seats. None takes the game's default.
        seed: an integer 0 .. 2**64 - 1, of which each row plays a stream of its own, or an integer array (num_envs,)
            with the seed of each row's first game. None draws one.
        threads: the threads that step the games. They change the speed alone.
        components: a component file of your own, like the game's components.toml.
        options: the game's options. ``kepler-envs show GAME`` lists them.

    Raises:
        UnknownGame: there is no such game; a KeyError.
        BrokenGame: an installed package brings it, but it cannot be loaded; an ImportError.
        OptionError: a value is not allowed.
        ValueError: the seed is not allowed.
        ComponentError: the component file is wrong, or a deal ends its game at once (see :meth:`Batch.reset`).
        TypeError: ``name`` is no text.
    """
    config = registry.configure(name, num_players, components, options, ("num_envs", "seed", "threads"))
    return Batch(config, num_envs, seed, threads)


def register(game: Game) -> None:
    """Make a game of your own known by its name here, to PettingZoo and to Gymnasium.

    An installed package needs no call: see :mod:`kepler_envs.registry`.

    Raises:
        TypeError: it is not a :class:`Game`, or not the ``GAME`` of its module.
        ValueError: there is another game of that name.
    """
    if registry.register(game):
        _register_elsewhere(game.id)


def _register_elsewhere(game_id: str) -> None:
    env_id = f"{registry.NAMESPACE}{game_id}"
    if hasattr(pettingzoo, "register"):  # older ones have no registry: there `make` above is the way in
        pettingzoo.register("aec", env_id, entry_point="kepler_envs:make", kwargs={"name": game_id})
    gymnasium.register(
        env_id,
        "kepler_envs.adapters.gym:make_seat",
        vector_entry_point="kepler_envs.adapters.gym_vector:make_seats",
        kwargs={"name": game_id},
    )


for _game_id in registry.list_ids():
    _register_elsewhere(_game_id)
