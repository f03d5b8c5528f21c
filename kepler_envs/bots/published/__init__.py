"""Trained networks that come with the package: ``published/GAME/NAME.zip``, loaded as ``GAME/NAME``.

``python -m agents.publish`` makes them. Only their names are looked up here; ``bots/networks`` reads them. Their weights are plain arrays,
for which NumPy is enough.
"""

from __future__ import annotations

import re
from pathlib import Path

from kepler_envs.engine.game import Configuration

FOLDER = Path(__file__).parent
NAME = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")
"""What a name looks like: ``bc-v1``."""


def published_path(game: str, name: str) -> Path:
    """Where the bot of that name lies, whether there is one or not."""
    return FOLDER / game / f"{name}.zip"


def published_names() -> list[str]:
    """``GAME/NAME`` of all there are, sorted."""
    return sorted(f"{path.parent.name}/{path.stem}" for path in FOLDER.glob("*/*.zip"))


def published_files(spec: str) -> list[Path]:
    """The file of ``GAME/NAME``; for ``NAME`` those of all games that have one."""
    return [published_path(*name.split("/")) for name in published_names() if spec in (name, name.split("/")[1])]


def find_published(spec: str, game: str) -> Path | None:
    """The file of ``GAME/NAME``, or of ``NAME`` for this game; None if there is none."""
    full = spec if "/" in spec else f"{game}/{spec}"
    return published_path(*full.split("/")) if full in published_names() else None


def network_file(spec: str, config: Configuration) -> Path | None:
    """The checkpoint, or the folder of its run, of a bot that is a trained network; None for other bots."""
    name, _, argument = spec.partition(":")
    return Path(argument) if name == "net" and argument else find_published(spec, config.game.name)
