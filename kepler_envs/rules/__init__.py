"""Rules cards: the rules of each game in short, for the terminal and for the pages.

The card of one of this package's games is the section "The game" of its page, so that it comes with the wheel.
"""

from __future__ import annotations

import importlib
import re
import textwrap
from importlib.resources import files

from kepler_envs.engine.game import Game

ITEM = re.compile(r"(\d+\.|-) +")
RULE = re.compile(r"\|[-| :]+\|")
"""The line below the head of a table."""


def rules_text(game: Game) -> str:
    """Return the card of a game as Markdown. For a game of another package it is the docstring of its module."""
    path = files("kepler_envs.rules") / f"{game.name}.md"
    if path.is_file():
        return path.read_text(encoding="utf-8")
    words = importlib.import_module(game.module).__doc__ or game.title
    return f"{words.strip()}\n\nFor {game.min_players} to {game.max_players} players."


def blocks(markdown: str) -> list[list[str]]:
    """Split a card into paragraphs, lists and tables, each as its lines."""
    return [block.splitlines() for block in re.split(r"\n\s*\n", markdown.strip())]


def list_items(lines: list[str]) -> list[str]:
    """Return the items of a list. Inner items become part of theirs."""
    items: list[str] = []
    for line in lines:
        start = ITEM.match(line)
        if start:
            items.append(line[start.end() :])
        else:
            items[-1] += " " + re.sub(r"^- ", "· ", line.strip())
    return items


def table_rows(lines: list[str]) -> list[list[str]]:
    """Return the cells of a table by row, its head first."""
    return [[cell.strip() for cell in line.strip()[1:-1].split("|")] for line in lines if not RULE.fullmatch(line)]


def as_lines(markdown: str, width: int) -> list[str]:
    """Lay a card out for a terminal: lines of at most ``width`` columns, an empty one between blocks."""
    lines: list[str] = []
    for block in blocks(re.sub(r"[*`]", "", markdown)):
        lines += ["", *_block_lines(block, width)]
    return lines[1:]


def _block_lines(block: list[str], width: int) -> list[str]:
    if block[0].startswith("|"):
        head, *rows = table_rows(block)
        found = []
        for title, *cells in rows:
            found += _wrapped(title, width, "")
            for name, cell in zip(head[1:], cells, strict=True):
                found += _wrapped(f"  {name}: {cell}", width, "    ")
        return found
    if ITEM.match(block[0]):
        numbered = block[0][0].isdigit()
        items = enumerate(list_items(block), 1)
        return [
            line
            for number, item in items
            for line in _wrapped(f"{f'{number}.' if numbered else '-'} {item}", width, "   ")
        ]
    return _wrapped(" ".join(line.strip() for line in block), width, "")


def _wrapped(words: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(words, width, subsequent_indent=indent)
