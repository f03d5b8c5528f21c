"""A game of another package, in the way a package brings one: Kitten Adventurers under another name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kepler_envs.engine.code_cache import Scope
from kepler_envs.games.kitten_adventurers import GAME as KITTENS

GAME = replace(
    KITTENS,
    name="toy_game",
    module=__name__,
    title="Toy game",
    version=3,
    scope=Scope("toy_game", *KITTENS.scope.folders[1:], Path(__file__).parent),
)
