"""Games in a browser: a local page to play, watch and ask bots, and pages of replays that need no server.

    kepler-envs serve                              # extra ``web``: prints the link of its page
    kepler-envs replay game.jsonl --html game.html

What the server tells a seat is computed from the position as that seat knows it (``Snapshot.resample``), so that
nothing hidden can leave it. ``tables`` holds the games, ``store`` keeps them on disk, ``views`` says what a seat sees,
``films`` shows recorded games, ``advice`` asks bots, ``server`` is HTTP around all of them, ``page`` writes a replay as
one file.
"""

from __future__ import annotations


class WebError(ValueError):
    """A request that cannot be met; the message says what is allowed. Nothing has changed."""


class UnknownError(WebError):
    """A link, a game or a picture that is not there."""


class NotNowError(WebError):
    """What is asked is not possible in this state of the game."""
