"""Component files that tests write: the game's own, parsed, with some rows changed."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path
from typing import Any

Rows = dict[str, Any]
"""A parsed component file: lists of rows by section, and the tables beside them."""


def own_rows(game: str) -> Rows:
    """The component file that comes with a game."""
    module = importlib.import_module(f"kepler_envs.games.{game}.components")
    return tomllib.loads(module.DEFAULT_FILE.read_text(encoding="utf-8"))


def write_rows(path: Path, rows: Rows) -> Path:
    """Write them as TOML."""
    path.write_text("".join(f"{name} = {_toml(value)}\n" for name, value in rows.items()), encoding="utf-8")
    return path


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {_toml(item)}" for name, item in value.items()) + "}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)
