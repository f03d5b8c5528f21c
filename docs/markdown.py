"""Markdown that the generated parts of the pages are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

UNMEASURED = "-"


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A pipe table. Columns that hold nothing but numbers are right-aligned."""
    cells = [[str(cell).replace("|", r"\|") for cell in row] for row in rows]
    right = [all(re.fullmatch(r"[-\d.,]+", row[place]) for row in cells) for place in range(len(columns))]
    lines = [columns, ["--:" if is_right else "---" for is_right in right], *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def explained(table: str) -> str:
    """A table, and what its dashes mean if it has any."""
    return f"{table}\n\nA dash: not measured." if f"| {UNMEASURED} |" in table else table


def short(commit: str) -> str:
    """A commit as tables show it, with the mark of changed files."""
    return commit[:7] + "+" * commit.endswith("+")


def code(text: str) -> str:
    return f"`{text}`"
