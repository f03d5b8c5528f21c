"""Write the tables of the page and the picture of the curves from the records, or print them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from agents.benchmark.records import CURVES, DOCS
from agents.benchmark.tables import OF_RESULTS, PICTURE, SECTIONS, Table, curves, picture
from docs.build import write_parts
from docs.markdown import markdown_table
from kepler_envs.files import write_atomically
from kepler_envs.terminal import grid

PAGE = DOCS / "benchmark.md"


def build_page(text: str) -> str:
    """The page with its generated parts updated."""
    return write_parts(text, lambda name: as_markdown(SECTIONS[name]()))


def write_page(page: Path = PAGE) -> None:
    """Update the generated parts of the page."""
    write_atomically(page, build_page(page.read_text(encoding="utf-8")).encode())


def write_picture(path: Path = PICTURE) -> None:
    """Draw the curves of the record, and say in the file of which record they are."""
    drawn = curves()
    if drawn:
        write_atomically(path, picture(drawn) + f"<!-- of records {digest()} -->\n".encode())


def digest(path: Path = CURVES) -> str:
    """What tells a record of curves from others."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else ""


def records_of(path: Path) -> str:
    """The digest of the record that a picture was drawn from, empty if it does not say."""
    found = re.search(r"<!-- of records (\w+) -->", path.read_text(encoding="utf-8") if path.exists() else "")
    return found[1] if found else ""


def as_markdown(part: Table | str) -> str:
    """A part of the page, or a word if a table is empty."""
    if isinstance(part, str):
        return part
    titles, rows = part
    return markdown_table(titles, rows) if rows else "None yet."


def show(console: Console) -> None:
    """Print every table of the page that has rows."""
    for name, section in SECTIONS.items():
        part = section()
        if not isinstance(part, str):
            _print(console, name, part)


def show_results(console: Console, record: Path) -> None:
    """Print the tables of another record of results."""
    for name, section in OF_RESULTS.items():
        _print(console, name, section(record))


def _print(console: Console, name: str, part: Table) -> None:
    titles, rows = part
    if rows:
        plain: list[Sequence[Any]] = [[str(cell).replace("`", "") for cell in row] for row in rows]
        console.print(grid(name, titles, plain))
