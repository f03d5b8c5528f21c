"""Records of measurements, kept as CSV. A dataclass is a line, and lines of the same key replace one another."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import MISSING, astuple, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from kepler_envs.files import in_turn, without_links, write_atomically
from kepler_envs.revision import VERSION


def _truth(text: str) -> bool:
    if text not in ("True", "False"):
        raise ValueError(f"{text!r} is neither True nor False")
    return text == "True"


KINDS: dict[str, Callable[[str], Any]] = {"str": str, "int": int, "float": float, "bool": _truth}
"""How a column of each type is read."""


class RecordError(ValueError):
    """A file is no record of that kind. The message says where."""


@dataclass(frozen=True)
class Line:
    """A line of a record. ``KEY`` names the columns that tell lines apart.

    Attributes:
        release: version of kepler_envs that measured it; empty in files that are older than this column.
    """

    KEY: ClassVar[tuple[str, ...]] = ()
    release: str = field(default=VERSION, kw_only=True)

    @property
    def key(self) -> tuple[Any, ...]:
        """The values that tell the line apart."""
        return tuple(getattr(self, name) for name in self.KEY)

    @property
    def is_of_this_release(self) -> bool:
        """Whether this version of kepler_envs measured it, or a later one. The last number of the version is passed
        over."""
        return minor(self.release) >= minor(VERSION)


Kind = TypeVar("Kind", bound=Line)


def minor(version: str) -> tuple[int, ...]:
    """The first two numbers of a version, (0, 1) of ``0.1.3``: figures of one pair may stand side by side. Empty for an
    empty version."""
    return tuple(int(number) for number in version.split(".")[:2] if number)


def read_lines(path: Path, kind: type[Kind]) -> list[Kind]:
    """Read the lines of a record. Without a file there are none. A column that an older file lacks has its default, and
    the release is empty. Raises RecordError if the file is something else, or has more columns, which a line would
    lose."""
    if not path.exists():
        return []
    columns = {field.name: KINDS[str(field.type)] for field in fields(kind)}
    found = []
    for number, row in enumerate(_rows(path, kind), start=2):
        try:
            if None in row or None in row.values():
                raise ValueError("it has more cells than the first line, or fewer")
            minor(row["release"])
            found.append(kind(**{name: cast(row[name]) for name, cast in columns.items() if name in row}))
        except (TypeError, ValueError) as problem:
            raise RecordError(
                f"{path}, line {number}: this is no line of a record with the columns {', '.join(columns)}: {problem}"
            ) from problem
    return found


def _rows(path: Path, kind: type[Line]) -> list[dict[str, str]]:
    """The cells of each line by column."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            rows = [{"release": ""} | row for row in reader]
            names = reader.fieldnames  # None in an empty file, which is a record without lines
    except (UnicodeDecodeError, csv.Error) as problem:
        raise RecordError(f"{path} is no record: {problem}") from problem
    needed = [field.name for field in fields(kind) if field.default is MISSING]
    if missing := [name for name in needed if name not in (names or needed)]:
        raise RecordError(f"{path} is no record of this kind: its first line lacks {', '.join(missing)}")
    known = [field.name for field in fields(kind)]
    if more := [name for name in names or () if name not in known]:
        raise RecordError(
            f"{path} has columns that this version does not know, and would lose: {', '.join(map(repr, more))}"
        )
    return rows


def write_lines(
    path: Path, new: Iterable[Kind], kind: type[Kind], gone: Callable[[Kind], bool] = lambda line: False
) -> None:
    """Put lines in the place of those with their keys, or beside them, and leave out what is ``gone``.

    The record stays sorted. Several processes may write to it.
    """
    with in_turn(without_links(path).parent):
        _put(path, new, [line for line in read_lines(path, kind) if not gone(line)], kind)


def change_lines(path: Path, kind: type[Kind], changed: Callable[[Kind], Kind]) -> None:
    """Put ``changed(line)``, which must have the key of ``line``, in the place of each line of a record.

    Nobody writes in between, so no line of another process is lost. A record in which nothing changes is only read.
    """
    if all(changed(line) == line for line in read_lines(path, kind)):
        return
    with in_turn(without_links(path).parent):
        _put(path, [changed(line) for line in read_lines(path, kind)], [], kind)


def write_unless(path: Path, line: Kind, is_enough: Callable[[Kind], bool]) -> Kind | None:
    """Put a line into a record, unless the one of its key there ``is_enough``: that one stays, and is returned.

    Nobody writes in between: whoever played for long asks what others have recorded meanwhile.
    """
    kind = type(line)
    with in_turn(without_links(path).parent):
        before = read_lines(path, kind)
        for known in before:
            if known.key == line.key and is_enough(known):
                return known
        _put(path, [line], before, kind)
    return None


def not_recorded(known: int, games: int) -> str:
    """What is told of a line of ``games`` games if one of ``known`` games stays."""
    return f"  not recorded: the record keeps its line of {known:,} games, these are {games:,}"


def _put(path: Path, new: Iterable[Kind], before: list[Kind], kind: type[Kind]) -> None:
    """Write new lines, and those of before that have other keys."""
    lines = {line.key: line for line in [*before, *new]}
    write_atomically(path, as_csv(kind, (lines[key] for key in sorted(lines))))


def as_csv(kind: type[Kind], lines: Iterable[Kind]) -> bytes:
    """The file of these lines."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(kind)])
    writer.writerows(astuple(line) for line in lines)
    return text.getvalue().encode()
