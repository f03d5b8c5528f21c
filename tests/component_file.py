"""Component files that tests write: the game's own, parsed, with some rows changed."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w

import kepler_envs
from kepler_envs import ComponentError

Rows = dict[str, Any]
"""A parsed component file: lists of rows by section, and the tables beside them."""


def own_rows(game: str) -> Rows:
    """The component file that comes with a game."""
    return tomllib.loads(own_text(game))


def write_rows(path: Path, rows: Rows) -> Path:
    """Write them as TOML."""
    path.write_text(tomli_w.dumps(rows), encoding="utf-8")
    return path


def kittens_with(count: int, path: Path) -> Path:
    """Kitten Adventurers with so many cards of the first type. The game's own has 8."""
    rows = own_rows("kitten_adventurers")
    rows["card_types"][0]["count"] = count
    return write_rows(path, rows)


def own_text(game: str) -> str:
    """The component file that comes with a game, as it stands."""
    file: Path = importlib.import_module(f"kepler_envs.games.{game}.components").DEFAULT_FILE
    return file.read_text(encoding="utf-8")


def changed(text: str, old: str, new: str) -> str:
    """``text`` with the first ``old``, which must be there, replaced."""
    assert old in text
    return text.replace(old, new, 1)


def write(folder: Path, text: str) -> Path:
    """A component file with this text."""
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def check_refused(game: str, path: Path, where: str, rule: str) -> None:
    """The game refuses a component file, and its message names the place and the rule."""
    with pytest.raises(ComponentError) as caught:
        kepler_envs.make(f"{game}-v1", components=path)
    message = str(caught.value)
    assert message.startswith(f"{path}: {where}") and rule in message, message


def check_missing_section(game: str, folder: Path, section: str, text: str) -> None:
    """A file without the rows of a section, or with something else in their place, is refused."""
    rule = f"must be a list of [[{section}]] rows"
    check_refused(game, write(folder, text), f"{section}: ", rule)
    check_refused(game, write(folder, f"{section} = 3\n" + text), f"{section}: ", rule)
