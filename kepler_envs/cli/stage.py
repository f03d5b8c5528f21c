"""Showing a game move by move."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from kepler_envs.cli.common import UsageError
from kepler_envs.cli.keys import Keys, NoKeys, TerminalKeys
from kepler_envs.cli.screens import Screen, split_text
from kepler_envs.engine.naming import agent_name
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.printable import shorten
from kepler_envs.terminal import grid, say

LINES_KEPT = 8
"""Number of moves shown below a position, where there is room."""
KEYS = "space pause  left/right step  Home/End  Tab next screen  +/- pace  q quit"
KEYS_IN_SHORT = "space pause  arrows step  Tab turn  +/- pace  q quit"
LEAST_DELAY, MOST_DELAY, PACES = 0.05, 3600.0, 2.0


class Frame(NamedTuple):
    """A position, and the line that says how it came about."""

    line: str
    position: Snapshot


class Stage:
    """Shows a game: on a terminal in place, ``delay`` seconds a move and with keys. Elsewhere, and on a terminal that
    cannot be cleared (``TERM=dumb``), each move is a line.

    Args:
        console: where to.
        delay: seconds; 0 shows moves as lines on a terminal too.
        seat: whose view is shown; None shows everything.
        keys: where keys come from; standard input if left out.
    """

    def __init__(self, console: Console, delay: float, seat: int | None = None, keys: Keys | None = None) -> None:
        if not 0 <= delay <= MOST_DELAY:
            raise UsageError(f"--delay {delay:g} is not allowed; allowed: 0 to {MOST_DELAY:g} seconds")
        self._console = console
        self._delay = delay if console.is_terminal and not console.is_dumb_terminal else 0
        self._seat = seat
        self._keys = keys

    def show(self, frames: Iterator[Frame]) -> None:
        """Show a game from its deal on; ``frames`` are asked for one at a time. Returns at its end, or on ``q``."""
        if not self._delay:
            self._as_lines(frames)
            return
        with nullcontext(self._keys) if self._keys else _usual_keys() as keys:
            _Film(self._console, self._delay, self._seat, keys, frames).run()

    def _as_lines(self, frames: Iterator[Frame]) -> None:
        last = next(frames)
        say(self._console, last.line)
        print_position(self._console, last.position, self._seat)
        for last in frames:
            say(self._console, last.line)
        print_position(self._console, last.position, self._seat)


def _usual_keys() -> TerminalKeys | nullcontext[NoKeys]:
    return TerminalKeys() if sys.stdin.isatty() else nullcontext(NoKeys())


class _Film:
    """A game on a terminal: where the reader is, and whether it goes on by itself."""

    def __init__(self, console: Console, delay: float, seat: int | None, keys: Keys, frames: Iterator[Frame]) -> None:
        self._console = console
        self._delay = delay
        self._seat = seat
        self._keys = keys
        self._coming = frames
        self._frames = [next(frames)]
        self._ended = False
        self._at = 0
        self._screen = 0
        self._running = True

    def run(self) -> None:
        self._draw()
        while True:
            key = self._keys.read(self._delay if self._running else None)
            if key == "q":
                return
            if key:
                self._press(key)
            elif not self._go(self._at + 1):
                return
            self._draw()

    def _press(self, key: str) -> None:
        if key == "space":
            self._running = not self._running
        elif key in ("right", "left", "home", "end"):
            self._running = False
            self._go({"right": self._at + 1, "left": self._at - 1, "home": 0, "end": sys.maxsize}[key])
        elif key in ("tab", "enter"):
            self._screen += 1
        elif key == "+":
            self._delay = max(LEAST_DELAY, self._delay / PACES)
        elif key == "-":
            self._delay = min(MOST_DELAY, self._delay * PACES)

    def _go(self, at: int) -> bool:
        """Move there, as far as the game goes; False if it has no such position."""
        while at >= len(self._frames) and not self._ended:
            try:
                self._frames.append(next(self._coming))
            except StopIteration:
                self._ended = True
        self._at = max(0, min(at, len(self._frames) - 1))
        return at < len(self._frames)

    def _draw(self) -> None:
        width, height = self._console.size
        lines = [frame.line for frame in self._frames[max(0, self._at - LINES_KEPT + 1) : self._at + 1]]
        state = "" if self._running else "paused  "
        screen = compose(self._frames[self._at].position, self._seat, lines, self._screen, width, height, state)
        self._console.clear()
        for number, line in enumerate(screen):
            self._console.print(line, markup=False, soft_wrap=True, end="" if number == len(screen) - 1 else "\n")


def compose(
    position: Snapshot, seat: int | None, lines: Sequence[str], screen: int, width: int, height: int, state: str = ""
) -> Screen:
    """A screen of a position: its part number ``screen`` (counted around), the last moves and what keys there are."""
    parts = split_text(position.text(seat), width, max(1, height - 2))
    number = screen % len(parts)
    shown = parts[number]
    room = max(1, height - 2 - len(shown))
    moves = [shorten(line, width) for line in lines[-room:]]
    where = f"{state}screen {number + 1} of {len(parts)}  " if len(parts) > 1 else state
    keys = where + (KEYS if len(where) + len(KEYS) < width else KEYS_IN_SHORT)
    return [*shown, *([""] if len(moves) < room else []), *moves, shorten(keys, width - 1)]


def print_position(console: Console, position: Snapshot, seat: int | None) -> None:
    """Print the text of a position, as ``seat`` sees it."""
    console.print()
    say(console, position.text(seat))


def print_result(console: Console, position: Snapshot, names: Sequence[str]) -> None:
    """Print ranks, scores and rewards of a game, best rank first. ``names``: who played, by seat.

    Who plays alone has no rank.
    """
    ranks, scores, returns = position.results()
    rows = [
        (ranks[seat], agent_name(seat), names[seat], scores[seat], f"{returns[seat]:+z.3f}")
        for seat in sorted(range(position.config.num_players), key=lambda seat: (ranks[seat], seat))
    ]
    columns = ("rank", "seat", "who", "score", "reward")
    first = 1 if len(rows) == 1 else 0
    console.print()
    console.print(grid("Result", columns[first:], [row[first:] for row in rows], right=("rank", "score", "reward")))


def write_picture(path: Path, position: Snapshot, seat: int | None = None) -> None:
    """Write a position as an SVG or, where the name ends so, a PNG file."""
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
