"""A replay's page inside a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

from kepler_envs.engine.replay import Replay, read_replay
from kepler_envs.web.page import replay_page

HEIGHT = 760
"""Height of the frame in pixels, unless told otherwise."""


@dataclass(frozen=True)
class InlinePage:
    """A page that a notebook shows in a frame of its own.

    Attributes:
        page: the whole page as HTML.
        height: height of the frame in pixels.
    """

    page: str
    height: int = HEIGHT

    def _repr_html_(self) -> str:
        """Return the frame as HTML. Scripts run in it, but reach nothing outside."""
        return (
            f'<iframe srcdoc="{escape(self.page)}" sandbox="allow-scripts" loading="lazy" '
            f'title="a recorded game" style="width: 100%; height: {self.height}px; border: 0"></iframe>'
        )


def show_replay(replay: Replay | str | Path, label: str = "", height: int = HEIGHT) -> InlinePage:
    """Show a recorded game in a notebook: make ``show_replay("game.jsonl")`` the last expression of a cell.

    Args:
        replay: a replay, or the path of its file.
        label: heading of the page. The file's name if left out.
        height: height of the frame in pixels.

    Raises:
        ReplayError: the file is no replay, or the game does not come out as recorded.
    """
    if not isinstance(replay, Replay):
        label = label or Path(replay).name
        replay = read_replay(replay)
    return InlinePage(replay_page(replay, label or "a game"), height)
