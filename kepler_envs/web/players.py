"""The bots at one table."""

from __future__ import annotations

import numpy as np

from kepler_envs import bots
from kepler_envs.bots.from_file import BotFromFile
from kepler_envs.bots.protocol import UnknownBotError, legal_ids
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.seeds import following_seed
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.printable import one_line
from kepler_envs.web import WebError

MOST_SECONDS = 60.0
"""The longest that a bot from a file may think about a decision. One that hangs would keep other bots waiting."""


def load_bot(spec: str, config: Configuration) -> bots.Bot:
    """Load the bot that ``spec`` names; WebError if there is none, or if it cannot play this game."""
    try:
        return bots.load(spec, config)
    except UnknownBotError as problem:
        raise WebError(f"there is no bot {spec!r}: choose one from the list") from problem
    except bots.BotError as problem:
        raise WebError(str(problem)) from problem


class Players:
    """The bots of a game, each loaded once, asked about one position at a time.

    Args:
        config: the game.
        specs: the bots that play.
        seed: seed of their randomness.

    Raises:
        WebError: there is no such bot, or it cannot play this game.
    """

    def __init__(self, config: Configuration, specs: list[str], seed: int) -> None:
        self._closed = False
        self._batch = Batch(config, 1, seed)
        self._rows = np.zeros(1, np.int64)
        self._bots: dict[str, bots.Bot] = {}
        for spec in dict.fromkeys(specs):
            seed = following_seed(seed)
            bot = self._bots[spec] = load_bot(spec, config)
            if isinstance(bot, BotFromFile):
                bot.seconds = MOST_SECONDS
            try:
                bot.start(self._rows, np.array([seed], np.uint64))
            except bots.BotError as problem:
                raise WebError(f"bot {spec} cannot begin: {one_line(problem)}") from problem

    def decide(self, spec: str, position: Snapshot) -> int:
        """Let the bot of ``spec`` decide at a position that is not over. Its exceptions pass through."""
        self._batch.restore(0, position)
        try:
            (action,) = legal_ids(
                self._batch, self._rows, self._bots[spec].act(bots.TrustedDecisions(self._batch, self._rows))
            )
            return int(action)
        finally:
            if self._closed:  # meanwhile, and the bot may have started a process after that
                self.close()

    def close(self) -> None:
        """End the processes of bots from files, also of one that is thinking: it raises then."""
        self._closed = True
        for bot in self._bots.values():
            if isinstance(bot, BotFromFile):
                bot.close()
