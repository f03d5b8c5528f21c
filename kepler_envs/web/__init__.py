"""Play, watch and study games in a browser, on a local server or on pages that need no server.

    kepler-envs serve                              # extra ``web``: prints the link to its page
    kepler-envs replay game.jsonl --html game.html

The server computes what it tells a seat from the position as that seat knows it (``Snapshot.resample``), so nothing
hidden can leave it. ``tables`` holds the games, ``store`` keeps them on disk, ``views`` says what a seat sees,
``films`` shows recorded games, ``advice`` asks bots, and ``server`` is the HTTP around them. ``page`` writes a replay
as one file, and ``inline`` shows it in a notebook.
"""

from __future__ import annotations


class WebError(ValueError):
    """The request cannot be met; the message says what is allowed. Nothing has changed."""


class UnknownError(WebError):
    """There is no such link, game or picture."""


class NotNowError(WebError):
    """The request is not possible at this point of the game."""
