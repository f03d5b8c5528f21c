"""A card with the rules of a game: of this package's games the section "The game" of their page, which comes with the
wheel."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from typing import Any

from kepler_envs.describe import node_rows
from kepler_envs.engine.game import Game

MARKS = ((r"\*\*(.+?)\*\*", r"<strong>\1</strong>"), (r"\*(.+?)\*", r"<em>\1</em>"), (r"`(.+?)`", r"<code>\1</code>"))


def rules_card(game: Game) -> dict[str, Any]:
    """``html``: the rules in short; ``asked``: what a seat is asked for, node by node."""
    path = files("kepler_envs.web") / "rules" / f"{game.name}.md"
    text = path.read_text(encoding="utf-8") if path.is_file() else _own_words(game)
    asked = [row.name.replace("_", " ").lower() for row in node_rows(game) if not row.asked.startswith("never")]
    return {"title": game.title, "html": to_html(text), "asked": asked}


def _own_words(game: Game) -> str:
    """What a game of another package says of itself."""
    import importlib

    words = importlib.import_module(game.module).__doc__ or game.title
    return f"{words.strip()}\n\nFor {game.min_players} to {game.max_players} players."


def to_html(markdown: str) -> str:
    """Paragraphs, lists, tables, emphasis: as much of Markdown as the cards use. Everything else is text."""
    blocks = re.split(r"\n\s*\n", markdown.strip())
    return "\n".join(_block(block.splitlines()) for block in blocks)


def _block(lines: list[str]) -> str:
    if lines[0].startswith("|"):
        return _table(lines)
    if re.match(r"(\d+\.|-) ", lines[0]):
        return _list(lines)
    return f"<p>{_inline(' '.join(line.strip() for line in lines))}</p>"


def _inline(text: str) -> str:
    shown = escape(text, quote=False)
    for pattern, replacement in MARKS:
        shown = re.sub(pattern, replacement, shown)
    return shown


def _list(lines: list[str]) -> str:
    """A list of one level, items of an indented list as parts of their item."""
    tag = "ol" if lines[0][0].isdigit() else "ul"
    items: list[str] = []
    for line in lines:
        start = re.match(r"(\d+\.|-) +", line)
        if start:
            items.append(line[start.end() :])
        else:
            items[-1] += " " + re.sub(r"^- ", "· ", line.strip())
    return f"<{tag}>" + "".join(f"<li>{_inline(item)}</li>" for item in items) + f"</{tag}>"


def _table(lines: list[str]) -> str:
    rows = [
        [cell.strip() for cell in line.strip()[1:-1].split("|")]
        for line in lines
        if not re.match(r"\|[-| :]+\|$", line)
    ]
    head, *body = [[_inline(cell) for cell in row] for row in rows]
    top = "".join(f"<th>{cell}</th>" for cell in head)
    rest = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in body)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{rest}</tbody></table></div>'
