"""Reading a game's component file. Errors name the file, the row and the rule."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.engine.game import ComponentError, OptionError, record_array
from kepler_envs.printable import counted

ABOUT_THE_FILE = ("meta", "provenance")
"""The sections that are no rows."""


def game_of(path: Path) -> str:
    """The name of the game that a component file is for.

    Raises:
        ComponentError: the file is missing, is not TOML, or does not name one.
    """
    named = _game_named(_parse(path))
    if not isinstance(named, str):
        raise ComponentError(f"{path}: meta: game is {named!r}; it must be the name of a game")
    return named


def _parse(path: Path) -> dict[str, Any]:
    try:
        # utf-8-sig: some editors begin a file with a byte order mark, which TOML does not know
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as problem:
        raise ComponentError(f"{path}: cannot be read: {problem.strerror}") from problem
    except RecursionError as problem:
        raise ComponentError(f"{path}: not a TOML file: nested too deeply") from problem
    except ValueError as problem:  # also of integers with thousands of digits, and of what is no UTF-8
        raise ComponentError(f"{path}: not a TOML file: {problem}") from problem


def _game_named(data: Mapping[str, Any]) -> Any:
    meta = data.get("meta")
    return meta.get("game") if isinstance(meta, dict) else None


class ComponentFile:
    """A parsed TOML file of one game.

    Args:
        path: the file.
        game: the name that its ``[meta] game`` must give.

    Raises:
        ComponentError: the file is missing, is not TOML, or belongs to another game.
    """

    def __init__(self, path: Path, game: str) -> None:
        self.path = Path(path)
        self.data = _parse(self.path)
        named = _game_named(self.data)
        if named != game:
            raise self.error("meta", f"game is {named!r}; this file must be for {game!r}")
        self._read: dict[str, None] = {}  # in the order of reading

    def error(self, where: str, rule: str) -> ComponentError:
        """Make an error about one place of the file."""
        return ComponentError(f"{self.path}: {where}: {rule}")

    def rows(self, section: str, columns: Mapping[str, type]) -> list[dict[str, Any]]:
        """The ``[[section]]`` rows. Each must have exactly these columns and types."""
        self._read[section] = None
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

    def check_sections(self) -> None:
        """Check, once all rows are read, that the file has no other sections. A misspelt name would be ignored."""
        for section in self.data:
            if section not in (*ABOUT_THE_FILE, *self._read):
                raise self.error(section, f"there is no such section; there are {', '.join(self._read)}")

    def check_value(self, where: str, name: str, value: Any, low: int, high: int) -> None:
        """Check that a value is an integer ``low..high``."""
        if type(value) is not int or not low <= value <= high:
            allowed = str(low) if low == high else f"{low}..{high}"
            raise self.error(where, f"{name} is {value!r}; allowed: {allowed}")

    def check_range(self, where: str, row: Mapping[str, Any], column: str, low: int, high: int) -> None:
        """Check that a column of a row holds an integer ``low..high``."""
        self.check_value(where, column, row[column], low, high)

    def check_list(self, where: str, row: Mapping[str, Any], column: str, size: int, low: int, high: int) -> None:
        """Check that a column of a row holds ``size`` integers ``low..high``."""
        values = row[column]
        if not is_row_of(values, size) or not all(low <= value <= high for value in values):
            raise self.error(where, f"{column} is {values}; it must be {size} integers {low}..{high}")

    def check_ids(
        self, section: str, rows: Sequence[Mapping[str, Any]], ids: Sequence[int], column: str = "id"
    ) -> None:
        """Check that the rows have exactly these ids, in this order."""
        for position, (row, wanted) in enumerate(zip(rows, ids, strict=False)):
            if row[column] != wanted:
                rule = f"{column} is {row[column]}; rows must have {column} {ids[0]}..{ids[-1]} in this order"
                raise self.error(f"{section} row {position + 1}", rule)
        if len(rows) != len(ids):
            raise self.error(section, f"{counted(len(rows), 'row')}; there are exactly {len(ids)}")

    def check_names(self, section: str, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
        """Check that every one of ``names`` has exactly one row."""
        for position, row in enumerate(rows):
            where = f"{section} row {position + 1}"
            if row["name"] not in names:
                raise self.error(where, f"name is {row['name']!r}; there are {', '.join(names)}")
            if row["name"] in [earlier["name"] for earlier in rows[:position]]:
                raise self.error(where, f"a second row for {row['name']!r}")
        missing = [name for name in names if name not in [row["name"] for row in rows]]
        if missing:
            raise self.error(section, f"lacks the rows {', '.join(missing)}")

    def read_numbers(self, allowed: Mapping[str, tuple[int, int]], tables: Any) -> None:
        """Read the ``[[numbers]]`` rows into the fields of their names. Each name in ``allowed`` needs one, in its
        range."""
        rows = self.rows("numbers", {"name": str, "value": int, "meaning": str, "prov": str})
        self.check_names("numbers", rows, tuple(allowed))
        for row in rows:
            self.check_range(f"numbers row {row['name']!r}", row, "value", *allowed[row["name"]])
            tables[row["name"]] = row["value"]

    def write_text(self, where: str, column: str, text: str, out: np.ndarray) -> None:
        """Write a text into its bytes (uint8), with 0 in those that it leaves.

        It must not be empty or too long, and its words must be separated by single spaces.
        """
        encoded = text.encode()
        if not 1 <= len(encoded) <= len(out):
            raise self.error(where, f"{column} has {len(encoded)} bytes; allowed: 1..{len(out)}")
        if text != " ".join(text.split()):
            raise self.error(
                where, f"{column} is {text!r}; it must not have spaces at its ends, two in a row, or breaks"
            )
        if not text.isprintable():
            raise self.error(where, f"{column} is {text!r}; it must not have control characters")
        out[len(encoded) :] = 0
        out[: len(encoded)] = np.frombuffer(encoded, np.uint8)

    def write_names(self, section: str, rows: Sequence[Mapping[str, Any]], column: str, out: np.ndarray) -> None:
        """Write the texts of a column into the rows of a names field. Each may occur only once."""
        for position, row in enumerate(rows):
            where = f"{section} row {position + 1}"
            self.write_text(where, column, row[column], out[position])
            if row[column] in [earlier[column] for earlier in rows[:position]]:
                raise self.error(where, f"{column} {row[column]!r} is used twice; they must differ")


def load_tables(
    path: Path, game: str, dtype: np.dtype, sections: Iterable[Callable[[ComponentFile, Any], None]]
) -> np.ndarray:
    """Read and check a component file.

    Args:
        path: a TOML file like the components.toml of the game.
        game: the game's name.
        dtype: the dtype of the tables.
        sections: functions (file, tables record). Each reads and checks one part of the file and fills in the record.
            They run in this order.

    Returns:
        A record array of length one, read-only.

    Raises:
        ComponentError: the message names the file, the row and the rule that is broken.
    """
    file = ComponentFile(path, game)
    tables = np.zeros(1, dtype)
    for read in sections:
        read(file, tables[0])
    file.check_sections()
    tables.flags.writeable = False  # all games with these cards share them
    return record_array(tables)


def check_setup_row(game: str, column: np.ndarray, num_players: int) -> None:
    """Raise OptionError unless the component file has a setup row for so many players.

    ``column`` has a number of each setup row, by number of players. It is 0 where there is no row.
    """
    if not column[num_players]:
        playable = ", ".join(map(str, np.flatnonzero(column)))
        raise OptionError(f"{game}: the component file has no setup row for {num_players} players; it has {playable}")


def is_row_of(value: Any, size: int) -> bool:
    """Whether a value of a file is a list of ``size`` integers."""
    return isinstance(value, list) and len(value) == size and all(type(entry) is int for entry in value)


def text_of(field: Any) -> str:
    """The text in a text field of the tables."""
    return bytes(field).rstrip(b"\0").decode()


def names(rows: Any) -> tuple[str, ...]:
    """The texts in a names field of the tables."""
    return tuple(text_of(row) for row in rows)
