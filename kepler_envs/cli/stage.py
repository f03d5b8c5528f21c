"""Showing a game move by move."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from kepler_envs.cli.common import UsageError
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.terminal import grid, say

LINES_KEPT = 8


class Stage:
    """On a terminal the position is redrawn in place, ``delay`` seconds a move; elsewhere each move is a line.

    Args:
        console: where to.
        delay: 0 shows moves as lines on a terminal too.
        seat: whose view is shown; None shows everything.
    """

    def __init__(self, console: Console, delay: float, seat: int | None = None) -> None:
        if delay < 0:
            raise UsageError(f"--delay {delay:g} is not allowed; allowed: 0 or more seconds")
        self._console = console
        self._delay = delay if console.is_terminal else 0
        self._seat = seat
        self._lines: deque[str] = deque(maxlen=LINES_KEPT)

    def open(self, line: str, position: Snapshot) -> None:
        """Show the first position."""
        self.show(line, position)
        if not self._delay:
            print_position(self._console, position, self._seat)

    def show(self, line: str, position: Snapshot) -> None:
        """Show a move and the position behind it."""
        if not self._delay:
            say(self._console, line)
            return
        self._lines.append(line)
        self._console.clear()
        print_position(self._console, position, self._seat)
        self._console.print()
        for kept in self._lines:
            say(self._console, kept)
        time.sleep(self._delay)

    def close(self, position: Snapshot) -> None:
        """Show the last position, if it is not to be seen already."""
        if not self._delay:
            print_position(self._console, position, self._seat)


def print_position(console: Console, position: Snapshot, seat: int | None) -> None:
    """The text of a position, as ``seat`` sees it."""
    console.print()
    say(console, position.text(seat))


def print_result(console: Console, position: Snapshot, names: Sequence[str]) -> None:
    """Ranks, scores and rewards of a game, best rank first. ``names``: who played, by seat."""
    ranks, scores, returns = position.results()
    rows = [
        (ranks[seat], f"player_{seat}", names[seat], scores[seat], f"{returns[seat]:+.3f}")
        for seat in sorted(range(position.config.num_players), key=lambda seat: (ranks[seat], seat))
    ]
    columns = ("rank", "seat", "who", "score", "reward")
    console.print()
    console.print(grid("Result", columns, rows, right=("rank", "score", "reward")))


def write_picture(path: Path, position: Snapshot, seat: int | None = None) -> None:
    """A position as an SVG or, where the name ends so, a PNG file."""
    drawing = position.drawing(seat)
    if path.suffix.lower() != ".png":
        path.write_text(drawing.svg(), encoding="utf-8")
        return
    try:
        rgb = drawing.rgb()
    except ImportError as problem:  # without pillow
        raise UsageError(str(problem)) from problem
    from PIL import Image

    Image.fromarray(rgb).save(path)


def picture_folder(path: Path) -> Path:
    """The folder pictures go to, made on demand."""
    path.mkdir(parents=True, exist_ok=True)
    return path
