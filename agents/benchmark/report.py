"""Write the page's tables and the picture of the curves from the records; print them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from agents.benchmark.records import DOCS
from agents.benchmark.tables import PICTURE, SECTIONS, Table, curves, picture
from docs.build import markdown_table, write_parts
from kepler_envs.files import write_atomically
from kepler_envs.terminal import grid

PAGE = DOCS / "benchmark.md"


def write_page(page: Path = PAGE) -> None:
    """Write the generated parts of the page anew."""
    text = write_parts(page.read_text(encoding="utf-8"), lambda name: as_markdown(SECTIONS[name]()))
    write_atomically(page, text.encode())


def write_picture(path: Path = PICTURE) -> None:
    """Draw the curves of the record."""
    drawn = curves()
    if drawn:
        write_atomically(path, picture(drawn))


def as_markdown(table: Table) -> str:
    """A table of a page, or a word where there is nothing to show."""
    titles, rows = table
    return markdown_table(titles, rows) if rows else "None yet."


def show(console: Console) -> None:
    """Print every table that has rows."""
    for name, section in SECTIONS.items():
        titles, rows = section()
        if rows:
            plain: list[Sequence[Any]] = [[str(cell).replace("`", "") for cell in row] for row in rows]
            console.print(grid(name, titles, plain))
