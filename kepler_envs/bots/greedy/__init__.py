"""Bots that play by hand-written rules of thumb: a module per game, with a compiled ``policy`` and its ``VERSION``.

A version never changes its choices. Records of games name it (:func:`kepler_envs.bots.fingerprint`).
"""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from types import ModuleType

from kepler_envs.bots.compiled import CompiledBot
from kepler_envs.bots.protocol import BotError
from kepler_envs.engine.code_cache import Scope, digest_when_loaded
from kepler_envs.engine.game import Configuration, Game
from kepler_envs.engine.playout import CompiledPolicy

FOLDER = Path(__file__).parent
digest_when_loaded(FOLDER)


def greedy_games() -> tuple[str, ...]:
    """The names of the games that have a greedy policy."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__"))


def greedy_version(name: str) -> int:
    """The version of a game's greedy policy, counted from 1. Raises BotError if there is none."""
    return int(_module(name).VERSION)


def _module(name: str) -> ModuleType:
    if name not in greedy_games():
        raise BotError(f"there is no greedy bot for {name}; there is one for: {', '.join(greedy_games())}")
    return importlib.import_module(f"kepler_envs.bots.greedy.{name}")


@cache
def greedy_policy(game: Game) -> CompiledPolicy:
    """The greedy policy of a game. Raises BotError if there is none."""
    module = _module(game.name)
    scope = Scope(f"{game.name}-greedy", *game.scope.folders[1:], FOLDER)
    return CompiledPolicy(game, "greedy", module.policy, scope)


class GreedyBot(CompiledBot):
    """The greedy policy of the configuration's game."""

    def __init__(self, config: Configuration) -> None:
        super().__init__(greedy_policy(config.game), config)
