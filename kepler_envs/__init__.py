"""Modern space board games as multi-agent reinforcement-learning environments.

    import kepler_envs
    env = kepler_envs.make("kitten_adventurers-v0", num_players=4)            # PettingZoo AEC
    batch = kepler_envs.make_batch("kitten_adventurers-v0", num_envs=4096)    # thousands of games as arrays

Importing this package registers every game with PettingZoo (1.27 and later): ``pettingzoo.make("aec", "kepler/kitten_adventurers-v0")``; and with
Gymnasium, one seat against opponents: ``gymnasium.make("kepler/kitten_adventurers-v0")``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium
import pettingzoo

from kepler_envs.engine.aec import KeplerEnv
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import ComponentError, Configuration, Game, OptionError
from kepler_envs.engine.playout import CompiledPolicy, Playouts, playouts
from kepler_envs.engine.snapshot import IllegalAction, Snapshot
from kepler_envs.registry import IDS, game

if TYPE_CHECKING:
    from kepler_envs.registry import games
else:
    from kepler_envs import games  # the package, which is callable

__version__ = "0.1.0"

__all__ = [
    "Batch", "CompiledPolicy", "ComponentError", "Configuration", "Game", "IllegalAction", "KeplerEnv", "OptionError",
    "Playouts", "Snapshot", "game", "games", "make", "make_batch", "playouts",
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
    """A PettingZoo AEC environment.

    Args:
        name: a game's name or id, ``kitten_adventurers-v0``.
        num_players: seats; the game's default if None.
        render_mode: None, ``ansi``, ``svg``, ``rgb_array`` or ``human``.
        render_seat: whose view is drawn; None draws everything.
        illegal: ``raise`` or ``lose``, what an illegal action does.
        copy: whether observations are copies.
        mask_in: ``observation``, ``info`` or ``both``: where the action mask is; with ``info`` the observation is the vector alone.
        components: a card file of your own, like the game's components.toml.
        options: the game's options (``kepler-envs show GAME`` lists them).

    Raises:
        KeyError: no such game. OptionError: a value that is not allowed. ComponentError: a wrong card file.
    """
    config = game(name).configure(num_players, components, **options)
    return KeplerEnv(config, render_mode, illegal, copy, render_seat, mask_in)


def make_batch(
    name: str,
    num_envs: int,
    *,
    num_players: int | None = None,
    seed: int | None = None,
    threads: int = 1,
    components: str | Path | None = None,
    **options: Any,
) -> Batch:
    """``num_envs`` games as arrays; see :class:`Batch`. Arguments and errors as for :func:`make`."""
    return Batch(game(name).configure(num_players, components, **options), num_envs, seed, threads)


def _register() -> None:
    for game_id in IDS:
        if hasattr(pettingzoo, "register"):  # older ones have no registry: there `make` above is the way in
            pettingzoo.register("aec", f"kepler/{game_id}", entry_point="kepler_envs:make", kwargs={"name": game_id})
        gymnasium.register(f"kepler/{game_id}", "kepler_envs.adapters.gym:make_seat", kwargs={"name": game_id})


_register()
