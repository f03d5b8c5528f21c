"""Single keys from a terminal, without waiting for Enter."""

from __future__ import annotations

import os
import re
import select
import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import Protocol

NAMES = {
    "\x1b[C": "right", "\x1b[D": "left", "\x1b[A": "up", "\x1b[B": "down", "\x1b[H": "home", "\x1b[F": "end",
    "\x1bOC": "right", "\x1bOD": "left", "\x1bOH": "home", "\x1bOF": "end", "\x1b[1~": "home", "\x1b[4~": "end",
    "\r": "enter", "\n": "enter", "\t": "tab", " ": "space", "\x1b": "escape",
}  # fmt: skip
"""What a terminal sends for keys that have no letter."""
ONE_KEY = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z])|.", re.DOTALL)
LOOK_EVERY = 0.05  # seconds, where one cannot wait for a key


class Keys(Protocol):
    """Where keys come from."""

    def read(self, seconds: float | None) -> str:
        """The next key, a letter or one of NAMES' values; "" if none came in that time (None waits for one)."""


class NoKeys:
    """Nobody can press a key: standard input is no terminal."""

    def read(self, seconds: float | None) -> str:
        time.sleep(seconds or 0.0)
        return ""


class TerminalKeys:
    """Keys of the terminal that standard input is, which is set to hand them over one by one until the end of ``with``.

    Ctrl-C interrupts as usual.
    """

    def __enter__(self) -> TerminalKeys:
        if sys.platform != "win32":
            import termios
            import tty

            self._descriptor = sys.stdin.fileno()
            self._before = termios.tcgetattr(self._descriptor)
            tty.setcbreak(self._descriptor)
        self._waiting: list[str] = []  # keys that were sent, but not read
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if sys.platform != "win32":
            import termios

            with suppress(termios.error):  # the terminal has ended
                termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)

    def read(self, seconds: float | None) -> str:
        if sys.platform == "win32":
            return self._read_on_windows(seconds)
        if not self._waiting:
            if not select.select([self._descriptor], [], [], seconds)[0]:
                return ""
            self._waiting = ONE_KEY.findall(os.read(self._descriptor, 1024).decode(errors="replace"))
        if not self._waiting:
            return "q"  # the terminal has ended
        sent = self._waiting.pop(0)
        return NAMES.get(sent, sent[0])

    def _read_on_windows(self, seconds: float | None) -> str:  # pragma: no cover
        import msvcrt

        codes = {"M": "right", "K": "left", "H": "up", "P": "down", "G": "home", "O": "end"}
        end = None if seconds is None else time.monotonic() + seconds
        while not msvcrt.kbhit():  # type: ignore[attr-defined]
            if end is not None and time.monotonic() >= end:
                return ""
            time.sleep(LOOK_EVERY)
        sent = msvcrt.getwch()  # type: ignore[attr-defined]
        if sent in "\x00\xe0":
            return codes.get(msvcrt.getwch(), "")  # type: ignore[attr-defined]
        return NAMES.get(sent, sent)
