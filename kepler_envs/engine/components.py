"""Reading a game's component file with errors that name the file, the row and the rule."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kepler_envs.engine.game import ComponentError


class ComponentFile:
    """A parsed TOML file of one game.

    Args:
        path: the file.
        game: what its ``[meta] game`` must say.

    Raises:
        ComponentError: the file is missing, is no TOML, or belongs to another game.
    """

    def __init__(self, path: Path, game: str) -> None:
        self.path = Path(path)
        try:
            self.data: dict[str, Any] = tomllib.loads(self.path.read_text(encoding="utf-8"))
        except OSError as problem:
            raise ComponentError(f"{self.path}: cannot be read: {problem.strerror}") from problem
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
            raise ComponentError(f"{self.path}: not a TOML file: {problem}") from problem
        meta = self.data.get("meta")
        named = meta.get("game") if isinstance(meta, dict) else None
        if named != game:
            raise self.error("meta", f"game is {named!r}; this file must be for {game!r}")

    def error(self, where: str, rule: str) -> ComponentError:
        """An error about one place of the file."""
        return ComponentError(f"{self.path}: {where}: {rule}")

    def rows(self, section: str, columns: Mapping[str, type]) -> list[dict[str, Any]]:
        """The ``[[section]]`` rows, each with exactly these columns and types."""
        rows = self.data.get(section)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self.error(section, f"must be a list of [[{section}]] rows")
        for position, row in enumerate(rows):
            where = f"{section} row {position + 1}"
            missing = [name for name in columns if name not in row]
            if missing:
                raise self.error(where, f"lacks {', '.join(missing)}")
            unknown = [name for name in row if name not in columns]
            if unknown:
                raise self.error(where, f"has unknown columns {', '.join(unknown)}; there are {', '.join(columns)}")
            for name, kind in columns.items():
                if type(row[name]) is not kind:
                    raise self.error(where, f"{name} is {row[name]!r}; it must be of type {kind.__name__}")
        return rows
