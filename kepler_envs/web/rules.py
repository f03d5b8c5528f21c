"""Rules cards for the pages."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from kepler_envs.describe import node_rows
from kepler_envs.engine.game import Game
from kepler_envs.rules import ITEM, blocks, list_items, rules_text, table_rows

MARKS = ((r"\*\*(.+?)\*\*", r"<strong>\1</strong>"), (r"\*(.+?)\*", r"<em>\1</em>"), (r"`(.+?)`", r"<code>\1</code>"))


def rules_card(game: Game) -> dict[str, Any]:
    """Return the rules in short (``html``) and what a seat is asked for, node by node (``asked``)."""
    asked = [row.name.replace("_", " ").lower() for row in node_rows(game) if not row.asked.startswith("never")]
    return {"title": game.title, "html": to_html(rules_text(game)), "asked": asked}


def to_html(markdown: str) -> str:
    """Turn Markdown into HTML, as far as the cards use it: paragraphs, lists, tables, emphasis. All else is text."""
    return "\n".join(map(_block, blocks(markdown)))


def _block(lines: list[str]) -> str:
    if lines[0].startswith("|"):
        return _table(lines)
    if ITEM.match(lines[0]):
        tag = "ol" if lines[0][0].isdigit() else "ul"
        return f"<{tag}>" + "".join(f"<li>{_inline(item)}</li>" for item in list_items(lines)) + f"</{tag}>"
    return f"<p>{_inline(' '.join(line.strip() for line in lines))}</p>"


def _inline(text: str) -> str:
    shown = escape(text, quote=False)
    for pattern, replacement in MARKS:
        shown = re.sub(pattern, replacement, shown)
    return shown


def _table(lines: list[str]) -> str:
    """A table whose first column heads the rows if nothing heads that column. Keys reach it, to scroll it sideways."""
    head, *body = [[_inline(cell) for cell in row] for row in table_rows(lines)]
    top = "".join(f'<th scope="col">{cell}</th>' if cell else "<td></td>" for cell in head)
    first = "<td>{}</td>" if head[0] else '<th scope="row">{}</th>'
    rest = "".join(
        f"<tr>{first.format(cell)}{''.join(f'<td>{other}</td>' for other in others)}</tr>" for cell, *others in body
    )
    return f'<div class="wide" tabindex="0"><table><thead><tr>{top}</tr></thead><tbody>{rest}</tbody></table></div>'
