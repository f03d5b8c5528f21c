"""Write a replay as one file that opens from disk: every position in every view, as picture and in words, plots.

The pictures of a game differ little from one to the next, and so do its texts. So the page holds every line of SVG or
text once, and a picture is a list of line numbers; all of it is deflated. The page loads nothing. Its scripts are those
of the server's pages.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from html import escape
from importlib.resources import files
from typing import Any

from kepler_envs.engine.drawing import Drawing
from kepler_envs.engine.replay import Replay
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.web.films import Film
from kepler_envs.web.views import Outcome

MODULES = ("dom", "board", "moves", "plot", "viewer", "filepage")
"""Modules of static/, each after those it imports."""

_MARKS = re.compile(r' data-actions="[^"]*"')  # nobody plays on these pages
_IMPORT = re.compile(r'^import (\{.*?\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const) (\w+))", re.MULTILINE)

FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" 
  content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header></header>
<main><noscript>
<p>Stepping through the game needs JavaScript; this is its last position.</p>
<div class="board">{last}</div></noscript></main>
<script type="application/octet-stream" id="game">{game}</script>
<script type="module">
{script}</script>
</body>
</html>
"""


def replay_page(replay: Replay, label: str, outcome: Outcome | None = None) -> str:
    """Return the page of a recorded game as HTML.

    Args:
        replay: the recorded game.
        label: heading of the page, next to the game's title.
        outcome: ranks and returns by seat, where they are not those of the moves alone: after forfeits.

    Raises:
        ReplayError: the game does not come out as recorded.
        TypeError: it is no replay.
    """
    film = Film.of(replay, label)
    packed = zlib.compress(json.dumps(contents(film, outcome), separators=(",", ":")).encode(), 9)
    return FRAME.format(
        title=escape(f"{film.config.game.title}: {film.label}"),
        style=_static("style.css"),
        last=film.positions[-1].drawing().svg(),
        game=base64.b64encode(packed).decode(),
        script=bundle(),
    )


def contents(film: Film, outcome: Outcome | None = None) -> dict[str, Any]:
    """Collect what the page's script reads: the story (see :meth:`Film.story`), lines of SVG and text, and the pictures
    and texts by view, with what each decision changed."""
    lines: dict[str, int] = {}
    views = [_View(lines, None), *(_View(lines, seat) for seat in range(film.config.num_players))]
    for position in film.positions:  # all views of a position in a row: they have most of their shapes in common
        for view in views:
            view.add(position)
    legal = [[] if at.over else at.legal_actions() for at in film.positions]
    words = {action: film.config.actions.text(action) for ids in legal for action in ids}
    return {
        "story": film.story(outcome=outcome),
        "lines": list(lines),
        "pictures": {view.name: view.pictures.changes for view in views},
        "texts": {view.name: view.texts.changes for view in views},
        "news": {view.name: view.news for view in views},
        "legal": legal,
        "words": words,
        "turns": [None if at.over else at.seat for at in film.positions],
        "taken": [*film.replay.actions, None],
    }


class _View:
    """A game as one seat sees it.

    Attributes:
        pictures, texts: the positions as SVG and in words.
        news: by picture, the groups that differ from the picture before.
    """

    def __init__(self, lines: dict[str, int], seat: int | None) -> None:
        self.name = "open" if seat is None else str(seat)
        self.pictures, self.texts = _Changes(lines), _Changes(lines)
        self.news: list[list[int]] = []
        self._seat = seat
        self._drawing: Drawing | None = None

    def add(self, position: Snapshot) -> None:
        """Add the next position."""
        drawing = position.drawing(self._seat)
        self.pictures.add(_MARKS.sub("", drawing.svg()))
        self.texts.add(position.text(self._seat))
        self.news.append([] if self._drawing is None else drawing.changed_groups(self._drawing))
        self._drawing = drawing


class _Changes:
    """Texts that differ little from one to the next.

    Attributes:
        changes: each text as a change of the one before: lines kept from its start, lines kept to its end, and the
            numbers of the lines between.
    """

    def __init__(self, lines: dict[str, int]) -> None:
        self.changes: list[list[int]] = []
        self._lines = lines
        self._last: list[int] = []

    def add(self, text: str) -> None:
        """Add the next text."""
        before, after = self._last, [self._lines.setdefault(line, len(self._lines)) for line in text.split("\n")]
        most = min(len(before), len(after))
        head = next((place for place in range(most) if before[place] != after[place]), most)
        tail = next((back for back in range(most - head) if before[-1 - back] != after[-1 - back]), most - head)
        self.changes.append([head, tail, *after[head : len(after) - tail]])
        self._last = after


def bundle() -> str:
    """Join the modules of MODULES into one script. Each is a function that imports what others export."""
    parts = ["const modules = {};\n"]
    for name in MODULES:
        source = _static(f"{name}.js")
        exports = [found.group(2) for found in _EXPORT.finditer(source)]
        inside = _EXPORT.sub(r"\1", _IMPORT.sub(r"const \1 = modules.\2;", source))
        parts.append(f"modules.{name} = (() => {{\n{inside}return {{ {', '.join(exports)} }};\n}})();\n")
    return "".join(parts)


def _static(name: str) -> str:
    return (files("kepler_envs.web") / "static" / name).read_text(encoding="utf-8")
