"""The games there are. Adding one is one line here."""

from __future__ import annotations

import importlib

from kepler_envs.engine.game import Game

IDS = ("kitten_adventurers-v0", "kepler_run-v0", "ad_astra-v0", "race_to_kepler-v0", "kepler_3042-v0")
"""Folder below ``kepler_envs/games`` and version of every game, in the order of the README."""


def games() -> tuple[str, ...]:
    """The names of all games."""
    return tuple(game_id.partition("-v")[0] for game_id in IDS)


def game(name: str) -> Game:
    """The game called ``name``, also with its version (``kitten_adventurers-v0``). KeyError naming all others."""
    folder, _, version = name.partition("-v")
    if folder not in games():
        raise KeyError(f"no game {name!r}; there are: {', '.join(games())}")
    found: Game = importlib.import_module(f"kepler_envs.games.{folder}").GAME
    if version and version != str(found.version):
        raise KeyError(f"no version {version!r} of {folder}; there is: {found.id}")
    return found
