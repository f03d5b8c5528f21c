"""The figures that README and pages quote: one run of ``python -m benchmarks --record docs/figures.json``.

The file says which release, commit, machine and day they are of. With ``--only``, parts of the run are measured again,
and their rows are marked. Tables are made of it, never typed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.sampling import Row
from docs.markdown import short
from kepler_envs import machine
from kepler_envs.files import write_atomically
from kepler_envs.printable import one_line
from kepler_envs.records import RecordError
from kepler_envs.revision import VERSION, commit

RECORD = Path(__file__).parents[1] / "docs" / "figures.json"


@dataclass(frozen=True)
class Source:
    """What figures were measured with.

    Attributes:
        release: version of kepler_envs. commit: of the checkout, with ``+`` if files differ from it. date: the day,
            UTC, as ``2026-11-23``. machine: lines about processor, load, system and versions.
    """

    release: str
    commit: str
    date: str
    machine: tuple[str, ...]


@dataclass(frozen=True)
class Again:
    """Rows that were measured again after the run, by name, and what with."""

    source: Source
    rows: tuple[str, ...]


@dataclass(frozen=True)
class Figures:
    """One run of the benchmarks, and what was measured again."""

    source: Source
    rows: tuple[Row, ...]
    again: tuple[Again, ...] = ()

    def mark(self, row: Row) -> str:
        """What a table shows behind a figure that was measured again: a star, two for the second time."""
        return "".join(" " + "*" * number for number, one in enumerate(self.again, 1) if row.what in one.rows)

    def only(self, parts: Sequence[str]) -> Figures:
        """The figures with one of these in their names, whose stars count from one again."""
        rows = tuple(row for row in self.rows if any(part in row.what for part in parts))
        return Figures(self.source, rows, _of_rows(self.again, {row.what for row in rows}))

    def with_rows(self, source: Source, rows: Sequence[Row]) -> Figures:
        """The figures with these rows, measured again, in place of those of the same names.

        RecordError if the run has no row of such a name.
        """
        new = {row.what: row for row in rows}
        if unknown := sorted(set(new) - {row.what for row in self.rows}):
            raise RecordError(f"the record has no row {unknown[0]!r}: record a whole run")
        before = _of_rows(self.again, {row.what for row in self.rows} - set(new))
        now = (Again(source, tuple(new)),) if new else ()
        return Figures(self.source, tuple(new.get(row.what, row) for row in self.rows), before + now)


def _of_rows(again: Sequence[Again], names: Collection[str]) -> tuple[Again, ...]:
    """What was measured again, of the rows of these names alone."""
    kept = (Again(one.source, tuple(name for name in one.rows if name in names)) for one in again)
    return tuple(one for one in kept if one.rows)


def source() -> Source:
    """This release, commit, day and machine."""
    return Source(VERSION, commit() or "unknown", f"{datetime.now(UTC):%Y-%m-%d}", tuple(machine.describe()))


def write(figures: Figures, path: Path) -> None:
    """Replace the record."""
    content = {**asdict(figures.source), "rows": [asdict(row) for row in figures.rows]}
    content["again"] = [{**asdict(one.source), "rows": one.rows} for one in figures.again]
    write_atomically(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def read(path: Path) -> Figures:
    """The record. OSError if there is none, RecordError if the file is something else."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        rows = tuple(Row(**row) for row in content.pop("rows"))
        again = tuple(Again(rows=tuple(one.pop("rows")), source=_source(one)) for one in content.pop("again", ()))
        return Figures(_source(content), rows, again)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as problem:
        raise RecordError(f"{path} is no record of figures: {one_line(problem)}") from problem


def _source(content: Mapping[str, Any]) -> Source:
    return Source(**{**content, "machine": tuple(content["machine"])})


def chosen(figures: Figures, beginnings: Sequence[str]) -> list[Row]:
    """For each of these beginnings the rows that begin so, in their order. KeyError if none does."""
    rows = []
    for beginning in beginnings:
        found = [row for row in figures.rows if row.what.startswith(beginning)]
        if not found:
            raise KeyError(f"the record has no figure that begins {beginning!r}")
        rows += found
    return rows


def footnote(found: Figures) -> str:
    """Where the figures come from, in a sentence, and one for each time that some were measured again."""
    parts = [_in_words(found.source)]
    for number, one in enumerate(found.again, 1):
        parts.append(f"With {'*' * number}, measured again: {_in_words(one.source)}")
    return "\n\n".join(parts)


def _in_words(source: Source) -> str:
    return f"{'; '.join(source.machine)}; kepler_envs {source.release}, commit {short(source.commit)}, {source.date}."
