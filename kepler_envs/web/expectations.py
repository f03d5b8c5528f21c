"""The returns that a published network expects for all seats, for a plot over time."""

from __future__ import annotations

import numpy as np

from kepler_envs.bots import BotError
from kepler_envs.bots.networks import CheckpointBot
from kepler_envs.bots.networks.checkpoint import expects_shaping, read_description
from kepler_envs.bots.protocol import TrustedDecisions
from kepler_envs.bots.published import BEST, best_names, find_published
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.snapshot import Snapshot


class Expectations:
    """Ask the game's best network what it expects. It sees a position as the seat to move does.

    Attributes:
        name: name of the network, for example ``kitten_adventurers/bc-v1``.
        shaped: whether it expects shaping rewards as well as the return.
    """

    def __init__(self, name: str, config: Configuration) -> None:
        self.name = name
        self._config = config
        path = find_published(name, config.game.name)
        assert path is not None
        self.shaped = expects_shaping(read_description(path))
        self._bot = CheckpointBot(path, config)
        self._batch = Batch(config, 1, 0)
        self._rows = np.zeros(1, np.int64)
        self._bot.start(self._rows, np.zeros(1, np.uint64))

    @classmethod
    def of(cls, config: Configuration) -> Expectations | None:
        """Load the game's best network; None if there is none that plays this configuration."""
        names = [name for name in best_names() if name.split("/")[0] == config.game.name]
        try:
            return cls(names[0], config) if names and find_published(BEST, config.game.name) else None
        except BotError:
            return None

    def __call__(self, position: Snapshot) -> list[float]:
        """Return what the network expects for every seat, or the true returns of a finished game."""
        if position.over:
            return [round(float(paid), 3) for paid in position.results()[2]]
        values = self.ask(position)[1]
        players = self._config.num_players
        by_seat = np.zeros(players)
        by_seat[(position.seat + np.arange(players)) % players] = values[:players]
        return [round(float(value), 3) for value in by_seat]

    def ask(self, position: Snapshot) -> tuple[np.ndarray, np.ndarray]:
        """Return probabilities by id, and returns by seat from the deciding one on. The game must not be over."""
        self._batch.restore(0, position)
        probabilities, values = self._bot.ask(TrustedDecisions(self._batch, self._rows))
        return probabilities[0], values[0]
