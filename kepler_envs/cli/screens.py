"""Long texts as screens of a terminal: nothing is wider or higher than the terminal, and nothing is left out."""

from __future__ import annotations

from collections.abc import Sequence

from kepler_envs.printable import wrap

HEAD = 2
"""Lines that every screen of a position begins with: the game and the point of view, then who is asked for what."""
BETWEEN = 3
"""Columns between two columns of a list."""

Screen = list[str]


def split_text(text: str, width: int, height: int, before: Sequence[str] = ()) -> list[Screen]:
    """The text of a position as screens of at most ``height`` lines, each of which begins with its head.

    What stands between empty lines stays together where it fits.

    Args:
        before: lines shown before the position itself, below the head.
    """
    lines = text.split("\n")
    head = [line for whole in lines[:HEAD] for line in wrap(whole, width)]
    body = "\n".join([*before, "", *lines[HEAD:]])
    room = max(1, height - len(head))
    return [[*head, *screen] for screen in pack(body, width, room)]


def pack(text: str, width: int, height: int) -> list[Screen]:
    """Blocks, which empty lines separate, on as few screens as their order allows; a block that is too high is cut."""
    screens: list[Screen] = []
    for block in _blocks(text, width):
        if screens and len(screens[-1]) + 1 + len(block) <= height:
            screens[-1] += ["", *block]
        else:
            screens += [block[start : start + height] for start in range(0, len(block), height)]
    return screens or [[]]


def _blocks(text: str, width: int) -> list[list[str]]:
    blocks: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line.strip():
            blocks[-1] += wrap(line.rstrip(), width)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def split_list(entries: Sequence[str], width: int, height: int) -> list[Screen]:
    """Entries as screens, in columns, down and then across, where they are short enough; a long one takes several
    lines."""
    widest = max(map(len, entries), default=0)
    columns = max(1, (width + BETWEEN) // (widest + BETWEEN))
    if columns == 1:
        lines = [part for entry in entries for part in wrap(entry, width)]
        return [lines[start : start + height] for start in range(0, len(lines), height)]
    screens = []
    for start in range(0, len(entries), columns * height):
        shown = entries[start : start + columns * height]
        rows = -(-len(shown) // columns)
        step = widest + BETWEEN
        screens.append(["".join(entry.ljust(step) for entry in shown[row::rows]).rstrip() for row in range(rows)])
    return screens
