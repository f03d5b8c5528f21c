"""The games, a folder each. The package is callable: ``kepler_envs.games()`` lists their names."""

from __future__ import annotations

import sys
import types

from kepler_envs.registry import games


class _GamesPackage(types.ModuleType):
    """``kepler_envs.games`` is both this package and the function that lists what is in it."""

    def __call__(self) -> tuple[str, ...]:
        """The names of all games."""
        return games()


sys.modules[__name__].__class__ = _GamesPackage
