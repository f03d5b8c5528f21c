"""Component files that tests write: the game's own, parsed, with some rows changed."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path
from typing import Any

import tomli_w

Rows = dict[str, Any]
"""A parsed component file: lists of rows by section, and the tables beside them."""


def own_rows(game: str) -> Rows:
    """The component file that comes with a game."""
    module = importlib.import_module(f"kepler_envs.games.{game}.components")
    return tomllib.loads(module.DEFAULT_FILE.read_text(encoding="utf-8"))


def write_rows(path: Path, rows: Rows) -> Path:
    """Write them as TOML."""
    path.write_text(tomli_w.dumps(rows), encoding="utf-8")
    return path
