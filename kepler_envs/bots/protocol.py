"""The protocol of bots. A bot picks legal ids for the rows of a batch."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from kepler_envs.engine.batch import MOST_GAMES, SKIP, Batch
from kepler_envs.engine.checks import check_integer, check_type
from kepler_envs.engine.game import Configuration, OptionError
from kepler_envs.engine.snapshot import IllegalAction, Snapshot


class BotError(ValueError):
    """The bot asked for cannot be made. The message says what is wrong and what is allowed."""


class UnknownBotError(BotError):
    """There is no bot of that name. The message lists those that there are, a line each."""


@dataclass(frozen=True)
class Decisions:
    """Decisions that a bot from a file has to make, in M games: what the seats to move may know, and nothing else.

    Everything is a copy, so writing into it changes no game.
    """

    config: Configuration
    rows: np.ndarray
    """(M,) int64, ascending: The games, by the numbers that ``start`` gave them."""
    seat: np.ndarray
    """(M,) int8: The seats to move."""
    observation: np.ndarray
    """(M, D) int16: What each of them sees."""
    action_mask: np.ndarray
    """(M, A) int8: The legal ids are 1. Each row has at least one."""
    snapshots: Sequence[Snapshot] = ()
    """A position for each row if the bot has ``searches = True``, else empty.

    It is the game's position, but everything that the seat to move cannot know, and all chance to come, is redrawn from
    the bot's seed. ``resample`` it for more draws.
    """

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def legal_actions(self) -> list[np.ndarray]:
        """The legal ids of each row, int64, ascending."""
        return [np.flatnonzero(mask) for mask in self.action_mask]


@dataclass(frozen=True)
class TrustedDecisions:
    """Decisions as the bots of this repository get them: with the batch, and everything hidden in it.

    Compiled policies read their own seat's facts from ``batch.states``. A search resamples the states first. No bot
    here reads more. Bots from files (``python:FILE.py:NAME``) get :class:`Decisions`.

    Raises:
        ValueError: ``rows`` is no array of integers (M,), or the batch has no such row.
    """

    batch: Batch
    rows: np.ndarray
    """(M,) int64: The row numbers of the batch, ascending."""

    def __post_init__(self) -> None:
        rows, most = self.rows, self.batch.num_envs - 1
        is_array = isinstance(rows, np.ndarray) and rows.ndim == 1 and rows.dtype.kind in "iu"
        if not is_array or (rows.size and not 0 <= rows.min() <= rows.max() <= most):  # compiled bots read any memory
            raise ValueError(f"rows must be an integer array (M,) of rows 0..{most}, not {rows!r}")

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def config(self) -> Configuration:
        """The game that is played."""
        return self.batch.config

    @property
    def observation(self) -> np.ndarray:
        """(M, D) int16: What each seat to move sees. It is a copy, as are the next two."""
        return self.batch.observation[self.rows]

    @property
    def action_mask(self) -> np.ndarray:
        """(M, A) int8: The legal ids are 1. Each row has at least one."""
        return self.batch.action_mask[self.rows]

    @property
    def seat(self) -> np.ndarray:
        """(M,) int8: The seats to move."""
        return self.batch.seat[self.rows]

    @property
    def legal_actions(self) -> list[np.ndarray]:
        """See :attr:`Decisions.legal_actions`."""
        return [np.flatnonzero(mask) for mask in self.action_mask]


class Bot(Protocol):
    """Plays any number of seats in any number of games at once.

    How a game goes must depend only on the game's seed, the bots and their seeds. So what a bot draws or remembers for
    a row must not depend on other rows. Each row has its own generator, which ``start`` sets.
    """

    name: str
    """The name in tables. By default it is the spec that the bot was loaded from. A bot of your own needs none."""

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """Begin games in these rows of the batch.

        Args:
            rows: (M,) int64.
            seeds: (M,) uint64, one per row, for the bot's own randomness.
        """

    def act(self, decisions: TrustedDecisions) -> np.ndarray:
        """Choose a legal id for each decision, (M,) int64."""


class FileBot(Protocol):
    """What a file has to make for ``python:FILE.py:NAME``.

    It is like a :class:`Bot`, but it sees only what its seats see. With an attribute ``searches = True`` it gets a
    snapshot for each decision.
    """

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """See :meth:`Bot.start`."""

    def act(self, decisions: Decisions) -> np.ndarray:
        """Choose a legal id for each decision: integers (M,)."""


def check_bot(bot: Any) -> None:
    """Raise TypeError unless it is a bot, not its spec or its class, and can be asked without a process of its own."""
    if isinstance(bot, type) or not (hasattr(bot, "start") and hasattr(bot, "act")):
        raise TypeError(f"bot must have start and act, as what bots.load(SPEC, config) makes, not {bot!r}")
    if getattr(bot, "searches", False):
        raise TypeError(
            f"{bot!r} has searches = True, and snapshots go to bots from files alone: "
            "bots.load('python:FILE.py:NAME', config) makes one"
        )


def named(bot: Any) -> str:
    """What messages call a bot. One of your own needs no name."""
    return f"bot {getattr(bot, 'name', type(bot).__name__)}"


def check_decisions(decisions: Any) -> None:
    """Raise TypeError unless it is what a bot's ``act`` gets, as a batch or an observation is not."""
    check_type("decisions", decisions, TrustedDecisions, "bots.TrustedDecisions(batch, rows) makes them")


def check_plays(bot: str, loaded: Configuration, decisions: TrustedDecisions) -> None:
    """Raise BotError unless a bot that was loaded for one configuration can decide in these games.

    Options may differ, as they do between training and evaluation. Numbers of players and cards may not: arrays have
    other sizes, and what was learned or searched would be of another game.
    """
    check_decisions(decisions)
    played = decisions.config
    if played is loaded:
        return
    if (played.game, played.num_players) != (loaded.game, loaded.num_players):
        raise BotError(f"bot {bot} was loaded for {loaded}, and this is {played}: load it for that")
    if played.components_digest != loaded.components_digest:
        raise BotError(f"bot {bot} was loaded for other cards of {played.game.id}: load it for these")


def legal_ids(batch: Batch, rows: np.ndarray, answer: Any, who: str = "act") -> np.ndarray:
    """What somebody chose for these rows (M,) of a batch, as int64 (M,).

    Raises IllegalAction unless there is a legal id for each row. ``SKIP`` is none: the game would stand still for ever.
    """
    try:
        ids = np.asarray(answer)
    except ValueError as problem:
        raise IllegalAction(f"{who} returned what makes no array: {problem}") from None
    if ids.shape != rows.shape or ids.dtype.kind not in "iu":
        raise IllegalAction(f"{who} returned {ids.dtype} {ids.shape} in place of integers {rows.shape}")
    fine = (ids >= 0) & (ids < batch.action_mask.shape[1])
    fine &= batch.action_mask[rows, np.where(fine, ids, 0)] == 1
    if not fine.all():
        wrong = int(np.argmin(fine))
        legal = batch.config.legal_actions(batch.action_mask[rows[wrong]])
        raise IllegalAction(f"{who} returned the id {ids[wrong]}; legal were {', '.join(map(str, legal))}")
    return ids.astype(np.int64)


class BotOpponent:
    """Lets a bot play the seats that do not learn. The adapters of ``kepler_envs`` take it as an opponent.

    Args:
        bot: what ``bots.load`` makes, or a bot of your own.

    Raises:
        TypeError: it is no bot.
    """

    def __init__(self, bot: Bot) -> None:
        check_bot(bot)
        self.bot = bot

    def with_own_memory(self) -> BotOpponent:
        """A copy that remembers games of its own. A bot in a process, which cannot be copied, stays the same one."""
        return self if hasattr(self.bot, "close") else copy.deepcopy(self)

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        self.bot.start(rows, seeds)

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        return self.bot.act(TrustedDecisions(batch, rows))


def play_games(bot: Bot, config: Configuration, games: int, seed: int) -> Batch:
    """Play a batch in which every row plays exactly one game, with ``bot`` on all seats. Returns the batch.

    If rows played on and the games that end first were counted, short games would be favoured.

    Args:
        bot: what ``bots.load`` makes, or a bot of your own.
        config: the game with its players, options and components.
        games: the number of games.
        seed: the seed of the games, as a :class:`Batch` takes it. The bot's own seed is the row's number.

    Raises:
        TypeError: it is no bot, or no configuration.
        OptionError: the number of games is not allowed.
        ValueError: the seed is not allowed.
        BotError: the bot was loaded for other games.
        IllegalAction: the bot chose what is not legal.
    """
    check_bot(bot)
    check_integer("games", games, 1, MOST_GAMES, error=OptionError)
    batch, rows = Batch(config, games, seed), np.arange(games)
    who = named(bot)
    bot.start(rows, rows.astype(np.uint64))
    while rows.size:
        actions = np.full(games, SKIP, np.int64)
        actions[rows] = legal_ids(batch, rows, bot.act(TrustedDecisions(batch, rows)), who)
        batch.step(actions)
        rows = np.flatnonzero(batch.episodes == 0)
    return batch
