"""What the pictures of this package's games look alike in: colours, sizes, the header and the panels below it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from kepler_envs.engine.drawing import Drawing

BACKGROUND, PANEL, EDGE = "#0b1020", "#161d33", "#2b3557"
INK, DIM, GOLD = "#e8ecf8", "#8f9bbd", "#ffd166"
DARK = "#10152a"
"""Letters on bright colours, and what bright colours are blended with."""
SEAT_COLOURS = ("#56b4e9", "#ff7a33", "#f0e442", "#d55fae")  # told apart by all eyes; three are of Okabe and Ito

WIDTH, MARGIN, GAP = 1280, 16, 8
INNER = WIDTH - 2 * MARGIN
STARS = 60


def draw_stars(drawing: Drawing, height: float) -> None:
    """A few faint dots in the upper ``height`` of the picture, always the same ones."""
    for dot in range(1, STARS + 1):
        x, y = dot * 0.754877666 % 1 * WIDTH, dot * 0.569840291 % 1 * height
        drawing.circle(x, y, 0.7 + dot % 3 * 0.35, fill=EDGE if dot % 4 else DIM)


def draw_header(
    drawing: Drawing, height: float, left: tuple[str, str], right: tuple[str, str], *,
    room: float, right_room: float = math.inf, detail: str | None = None, actions: Iterable[int] = (),
) -> None:  # fmt: skip
    """Two lines at each side of the sky, and one below them.

    Args:
        left: the game's title, and who is asked for what.
        right: whose view it is, and which turn.
        room: width for the second line on the left; ``right_room`` for the one on the right.
        detail: the line below; None where the header has no room for it.
        actions: ids that touch the line below.
    """
    draw_stars(drawing, height)
    drawing.text(MARGIN, 24, left[0], size=26, fill=INK, bold=True)
    drawing.text(MARGIN, 54, left[1], size=18, fill=GOLD, width=room)
    if detail is not None:
        with drawing.group(actions=actions):
            drawing.text(MARGIN, 79, detail, size=14, fill=DIM, width=INNER)
    drawing.text(WIDTH - MARGIN, 24, right[0], size=15, fill=DIM, anchor="end")
    drawing.text(WIDTH - MARGIN, 54, right[1], size=18, fill=INK, anchor="end", width=right_room)


def draw_panel(drawing: Drawing, width: float, height: float, title: str | None = None, edge: str = EDGE) -> None:
    """A panel from the origin, with its title in the upper left corner; an ``edge`` of another colour is thicker."""
    drawing.rect(0, 0, width, height, radius=10, fill=PANEL, stroke=edge, stroke_width=1 if edge == EDGE else 2)
    if title is not None:
        drawing.text(14, 18, title, size=14, fill=DIM, bold=True)
