"""What environments return from ``render()``, and the windows of ``render_mode="human"``."""

from __future__ import annotations

import itertools
from typing import Any

from kepler_envs.engine.snapshot import Snapshot

RENDER_MODES = ("ansi", "svg", "rgb_array", "human")

_numbers = itertools.count(1)


def render(position: Snapshot, seat: int | None, mode: str) -> Any:
    """The position as a seat sees it: text (``ansi``, ``svg``), or uint8 (height, width, 3) for all other modes."""
    if mode == "ansi":
        return position.text(seat)
    drawing = position.drawing(seat)
    return drawing.svg() if mode == "svg" else drawing.rgb()


class Window:
    """The window of one environment, called after its game. A copy of the environment has a window of its own."""

    def __init__(self, caption: str) -> None:
        self._caption = caption
        self._printed: tuple[Snapshot, int | None] | None = None
        self.title = f"{caption} [{next(_numbers)}]"

    def __reduce__(self) -> tuple[type[Window], tuple[str]]:
        return Window, (self._caption,)

    def show(self, position: Snapshot, seat: int | None) -> None:
        """Draw the position, or print it where there is no display. A position is not printed twice in a row."""
        from kepler_envs.engine import render_window

        if not render_window.show(render(position, seat, "rgb_array"), self.title) and self._printed != (
            position,
            seat,
        ):
            print(position.text(seat))
            self._printed = position, seat

    def close(self) -> None:
        """Close the window if it is open."""
        from kepler_envs.engine import render_window

        render_window.close(self.title)
