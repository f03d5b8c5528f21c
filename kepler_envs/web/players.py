"""The bots at one table."""

from __future__ import annotations

import numpy as np

from kepler_envs import bots
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.seeds import following_seed
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.web import WebError


def load_bot(spec: str, config: Configuration) -> bots.Bot:
    """Load the bot that ``spec`` names; WebError if there is none, or if it cannot play this game."""
    try:
        return bots.load(spec, config)
    except bots.BotError as problem:
        raise WebError(str(problem)) from problem


class Players:
    """The bots of a game, each loaded once, asked about one position at a time.

    Args:
        specs: the bots that play.
        seed: seed of their randomness.
    """

    def __init__(self, config: Configuration, specs: list[str], seed: int) -> None:
        self._batch = Batch(config, 1, seed)
        self._rows = np.zeros(1, np.int64)
        self._bots: dict[str, bots.Bot] = {}
        for spec in dict.fromkeys(specs):
            seed = following_seed(seed)
            self._bots[spec] = load_bot(spec, config)
            self._bots[spec].start(self._rows, np.array([seed], np.uint64))

    def decide(self, spec: str, position: Snapshot) -> int:
        """Let the bot of ``spec`` decide at a position that is not over. Its exceptions pass through."""
        self._batch.restore(0, position)
        return int(self._bots[spec].act(bots.TrustedDecisions(self._batch, self._rows))[0])
