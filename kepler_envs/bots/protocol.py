"""What a bot is: something that picks legal ids for the rows of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kepler_envs.engine.batch import SKIP, Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.snapshot import Snapshot


class BotError(ValueError):
    """A bot cannot be made as asked; the message says what is wrong and what there is."""


@dataclass(frozen=True)
class Decisions:
    """Decisions that wait for a bot from a file, in M games: what the seats to move may know, and nothing else.

    All of it is a copy: what is written into it changes no game.
    """

    config: Configuration
    rows: np.ndarray
    """(M,) int64, ascending: the games, by the numbers that ``start`` gave them."""
    seat: np.ndarray
    """(M,) int8: the seats to move."""
    observation: np.ndarray
    """(M, D) int16: what each of them sees."""
    action_mask: np.ndarray
    """(M, A) int8: 1 for each legal id; at least one per row."""
    snapshots: Sequence[Snapshot] = ()
    """A position for each row if the bot has ``searches = True``, else empty: the game's, with all that the seat to
    move cannot know, and all chance to come, drawn anew from the bot's seed. For more draws, ``resample`` it again."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def legal_actions(self) -> list[np.ndarray]:
        """The legal ids of each row, int64, ascending."""
        return [np.flatnonzero(mask) for mask in self.action_mask]


@dataclass(frozen=True)
class TrustedDecisions:
    """Decisions as the bots of this repository get them: with the batch, and all that is hidden in it.

    Compiled policies read their own seat's facts from ``batch.states``, a search resamples them first; no bot here
    reads more. Bots from files (``python:FILE.py:NAME``) get :class:`Decisions`.
    """

    batch: Batch
    rows: np.ndarray
    """(M,) int64: row numbers of the batch, ascending."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def observation(self) -> np.ndarray:
        """(M, D) int16: what each seat to move sees; a copy, as the next two."""
        return self.batch.observation[self.rows]

    @property
    def action_mask(self) -> np.ndarray:
        """(M, A) int8: 1 for each legal id; at least one per row."""
        return self.batch.action_mask[self.rows]

    @property
    def seat(self) -> np.ndarray:
        """(M,) int8: the seats to move."""
        return self.batch.seat[self.rows]


class Bot(Protocol):
    """Plays any number of seats in any number of games at once.

    A game's course must be a function of the game's seed and of the bots and their seeds alone. So what a bot
    draws or remembers for a row must not depend on other rows: each row has its own generator, started by ``start``.
    """

    name: str
    """What tables call it; the spec it was loaded from, unless told otherwise."""

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """Games begin in these rows of the batch.

        Args:
            rows: (M,) int64.
            seeds: (M,) uint64, one per row, for the bot's own randomness.
        """

    def act(self, decisions: TrustedDecisions) -> np.ndarray:
        """A legal id for each decision, (M,) int64."""


class FileBot(Protocol):
    """What a file has to make for ``python:FILE.py:NAME``: as an :class:`Bot`, but it sees what its seats see.

    With an attribute ``searches = True`` it gets a snapshot for each decision.
    """

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """See :meth:`Bot.start`."""

    def act(self, decisions: Decisions) -> np.ndarray:
        """A legal id for each decision: integers (M,)."""


class BotOpponent:
    """A bot on the seats that do not learn: what the adapters of ``kepler_envs`` take as an opponent."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        self.bot.start(rows, seeds)

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        return self.bot.act(TrustedDecisions(batch, rows))


def play_games(bot: Bot, config: Configuration, games: int, seed: int) -> Batch:
    """A batch in which every row has played exactly one game, with ``bot`` on all seats.

    Playing on and counting the games that are over first would count short ones.

    Args:
        seed: of the games; the bot's own is the row's number.
    """
    batch, rows = Batch(config, games, seed), np.arange(games)
    bot.start(rows, rows.astype(np.uint64))
    while rows.size:
        actions = np.full(games, SKIP, np.int64)
        actions[rows] = bot.act(TrustedDecisions(batch, rows))
        batch.step(actions)
        rows = np.flatnonzero(batch.episodes == 0)
    return batch
