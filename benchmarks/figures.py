"""The figures that README and pages quote: one run of ``python -m benchmarks --record docs/figures.json``.

The file says which release, commit, machine and day they are of. Tables are made of it, never typed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.sampling import Row
from kepler_envs import machine
from kepler_envs.files import write_atomically
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
class Figures:
    """One run of the benchmarks."""

    source: Source
    rows: tuple[Row, ...]


def source() -> Source:
    """This release, commit, day and machine."""
    return Source(VERSION, commit() or "unknown", f"{datetime.now(UTC):%Y-%m-%d}", tuple(machine.describe()))


def write(figures: Figures, path: Path) -> None:
    """Replace the record."""
    content = {**asdict(figures.source), "rows": [asdict(row) for row in figures.rows]}
    write_atomically(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def read(path: Path) -> Figures:
    """The record. OSError if there is none."""
    content = json.loads(path.read_text(encoding="utf-8"))
    rows = tuple(Row(**row) for row in content.pop("rows"))
    return Figures(Source(**{**content, "machine": tuple(content["machine"])}), rows)


def chosen(figures: Figures, beginnings: Sequence[str]) -> list[Row]:
    """For each of these beginnings the rows that begin so, in their order. KeyError if none does."""
    rows = []
    for beginning in beginnings:
        found = [row for row in figures.rows if row.what.startswith(beginning)]
        if not found:
            raise KeyError(f"the record has no figure that begins {beginning!r}")
        rows += found
    return rows


def footnote(found: Source) -> str:
    """Where the figures come from, in one sentence."""
    return f"{'; '.join(found.machine)}; kepler_envs {found.release}, commit {found.commit[:7]}, {found.date}."
