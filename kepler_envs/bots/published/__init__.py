"""Trained networks that come with the package.

``published/GAME/NAME.zip`` is loaded as ``GAME/NAME``, and a game's best one as ``GAME/best``. ``python -m
agents.publish`` makes them. Only their names are looked up here; ``bots/networks`` reads them. Their weights are plain
arrays, for which NumPy is enough.
"""

from __future__ import annotations

import re
from pathlib import Path

from kepler_envs.engine.game import Configuration

FOLDER = Path(__file__).parent
NAME = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")
"""What a name looks like: ``bc-v1``."""
BEST = "best"
"""The name that stands for the best network of a game; ``published/GAME/best.txt`` says which one that is."""


def published_path(game: str, name: str) -> Path:
    """The path for a bot of that name, whether there is one or not."""
    return FOLDER / game / f"{name}.zip"


def best_path(game: str) -> Path:
    """The path of the file that names the best network of a game."""
    return FOLDER / game / f"{BEST}.txt"


def best_names() -> list[str]:
    """``GAME/NAME`` of the best networks, sorted."""
    return sorted(f"{path.parent.name}/{path.read_text().strip()}" for path in FOLDER.glob(f"*/{BEST}.txt"))


def published_names() -> list[str]:
    """``GAME/NAME`` of all published networks, sorted."""
    return sorted(f"{path.parent.name}/{path.stem}" for path in FOLDER.glob("*/*.zip"))


def names_in(game: str) -> list[str]:
    """The names of the published networks of a game, sorted."""
    return sorted(path.stem for path in (FOLDER / game).glob("*.zip"))


def published_files(spec: str) -> list[Path]:
    """The file of ``GAME/NAME``. For ``NAME`` alone, those of all games that have one. ``best`` is a name, too."""
    game, _, name = spec.rpartition("/")
    known = best_names() if name == BEST else [one for one in published_names() if one.split("/")[1] == name]
    return [published_path(*one.split("/")) for one in known if game in ("", one.split("/")[0])]


def find_published(spec: str, game: str) -> Path | None:
    """The file of ``GAME/NAME``, or of ``NAME`` for this game. It is None if there is none."""
    full = spec if "/" in spec else f"{game}/{spec}"
    files = published_files(full) if full.count("/") == 1 else []
    return files[0] if files else None


def network_file(spec: str, config: Configuration) -> Path | None:
    """The checkpoint, or the folder of its run, of a bot that is a trained network. It is None for other bots."""
    name, _, argument = spec.partition(":")
    return Path(argument) if name == "net" and argument else find_published(spec, config.game.name)
