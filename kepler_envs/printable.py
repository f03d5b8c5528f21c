"""Words from outside (names, files, messages) as they may be shown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

KEPT = "\n\t"
"""Control characters that only lay text out."""
DOTS = "..."
"""What stands for letters that are left out."""


def printable(text: str) -> str:
    """``text`` with a ``?`` for whatever a terminal would obey and XML may not hold.

    That is control and format characters, and lone surrogates.
    """
    return "".join(letter if letter.isprintable() or letter in KEPT else "?" for letter in text)


def counted(number: int, noun: str) -> str:
    """``1 decision``, ``2 decisions``."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def wrapped(lines: Iterable[str], columns: int) -> str:
    """A text of these lines. One that is too long goes on in others, further in."""
    return "\n".join(part for line in lines for part in wrap(line.rstrip(), columns))


def wrap(line: str, columns: int) -> list[str]:
    """A line in as many as it takes, all but the first further in."""
    if len(line) <= columns:
        return [line]
    indent = min(len(line) - len(line.lstrip()) + 4, columns // 2)
    return textwrap.wrap(line, columns, subsequent_indent=" " * indent) or [""]


def shorten(text: str, letters: int) -> str:
    """A text of at most ``letters`` letters."""
    return text if len(text) <= letters else text[: max(0, letters - len(DOTS))] + DOTS


def printable_name(name: str) -> str:
    """The same for a name, which is one line."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)


def one_line(problem: object) -> str:
    """The message of an error, printable, on one line of at most 300 letters. Without one it is the error's type."""
    return shorten(printable_name(" ".join(str(problem).split())) or type(problem).__name__, 300)


def short_names(names: Sequence[str], letters: int) -> list[str]:
    """Shorten names in the middle to at most ``letters`` letters. Different names stay different."""
    for head in sorted(range(letters - 2), key=lambda head: abs(head - letters // 2)):
        short = [_without_middle(name, head, letters) for name in names]
        if len(set(short)) == len(set(names)):
            return short
    number = {name: f"#{place}" for place, name in enumerate(dict.fromkeys(names), 1)}
    room = letters - max(map(len, number.values())) - 1
    return [f"{number[name]} {_without_middle(name, room // 2, room)}" for name in names]


def _without_middle(name: str, head: int, letters: int) -> str:
    tail = letters - len(DOTS) - head
    return name if len(name) <= letters else name[:head] + DOTS + name[len(name) - tail :]
