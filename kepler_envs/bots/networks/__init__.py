"""Trained networks that play. They are read from a checkpoint or a published file and computed without PyTorch."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from kepler_envs.bots.greedy import GreedyBot
from kepler_envs.bots.networks.checkpoint import read_network, values_own_seat
from kepler_envs.bots.protocol import Bot, BotError, TrustedDecisions, check_plays, named
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.seeds import GOLDEN, mix_all
from kepler_envs.networks import DivergedError, PositionNetwork, draw, position_network, with_choices

__all__ = ["CheckpointBot", "NetworkBot", "bot_below", "checkpoint_at", "find_checkpoint", "load_network"]

BEST_FILE, LAST_FILE, CURVE_FILE = "best.zip", "last.zip", "learning_curve.csv"
"""What the folder of a training run holds: the best network, everything needed to continue, and the learning curve."""
CHECKPOINTS = (BEST_FILE, LAST_FILE)
"""The files to look for there, in this order."""


class NetworkBot:
    """A bot that plays the action a network finds best, or draws one from its probabilities.

    What it plays in a row does not depend on any other row.

    Args:
        network: the network it asks.
        name: what it is called in messages and results.
        deterministic: True plays the most probable action. False draws one, from the row's own generator.
        below: the bot that the network is over, or None.

    Raises:
        ValueError: the network is over a bot and there is none below it, or the other way round.
    """

    def __init__(
        self, network: PositionNetwork, name: str = "network", deterministic: bool = True, below: Bot | None = None
    ) -> None:
        if bool(network.over) != (below is not None):
            raise ValueError(f"a network over {network.over!r} with {below and named(below)} below it")
        self.name = name
        self.below = below
        self.deterministic = deterministic
        self._network = network
        self._words = np.zeros(0, np.uint64)  # SplitMix64, one per row

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """See :meth:`Bot.start`."""
        missing = int(rows.max(initial=-1)) + 1 - len(self._words)
        if missing > 0:
            self._words = np.concatenate([self._words, np.zeros(missing, np.uint64)])
        self._words[rows] = seeds
        if self.below is not None:
            self.below.start(rows, seeds)

    def act(self, decisions: TrustedDecisions) -> np.ndarray:
        """See :meth:`Bot.act`."""
        probabilities, _ = self.ask(decisions)
        return probabilities.argmax(1) if self.deterministic else self._draw(probabilities, decisions.rows)

    def ask(self, decisions: TrustedDecisions) -> tuple[np.ndarray, np.ndarray]:
        """(probabilities of the actions, float32 (M, A); the returns it expects for all seats, float32 (M, P)).

        The seat to move comes first.
        """
        seen = decisions.observation
        if self.below is not None:
            seen = with_choices(seen, self.below.act(decisions))
        return self._network(seen, decisions.action_mask)

    def _draw(self, probabilities: np.ndarray, rows: np.ndarray) -> np.ndarray:
        if rows.max(initial=-1) >= len(self._words):
            raise BotError(f"bot {self.name} is asked about row {rows.max()}, where it was not started")
        words = mix_all(self._words[rows])
        self._words[rows] += np.uint64(GOLDEN)
        return draw(probabilities, (words >> np.uint64(11)) * 2.0**-53)


def bot_below(network: PositionNetwork, config: Configuration) -> Bot | None:
    """The bot that a network is over, or None."""
    return GreedyBot(config) if network.over else None


# ---------------------------------------------------------------- from files


class CheckpointBot(NetworkBot):
    """A checkpoint of ``python -m agents.train``, or a published network.

    Args:
        path: the checkpoint, or the folder of a run, from which the best checkpoint is taken.
        config: the games to play.
        deterministic: see :class:`NetworkBot`.

    Raises:
        BotError: there is no such file, it is not a checkpoint, it was trained for another game, number of players or
            options, or it needs PyTorch to read its weights and PyTorch is missing. When asked: its answer is not all
            finite numbers.
    """

    def __init__(self, path: Path, config: Configuration, deterministic: bool = True) -> None:
        network = load_network(path, config)
        super().__init__(network, f"net:{path}", deterministic, bot_below(network, config))
        self._config = config

    def ask(self, decisions: TrustedDecisions) -> tuple[np.ndarray, np.ndarray]:
        """See :meth:`NetworkBot.ask`. Raises BotError for games of another number of players, or with other cards."""
        check_plays(self.name, self._config, decisions)
        return super().ask(decisions)


def load_network(path: Path, config: Configuration) -> PositionNetwork:
    """The network of a checkpoint, or of the best one in a folder. Raises BotError as :class:`CheckpointBot` does."""
    inputs, weights, description = read_network(checkpoint_at(path), config)
    network: PositionNetwork = FileNetwork(position_network(inputs, weights), path)
    return OwnValue(network, config.num_players) if values_own_seat(description) else network


class FileNetwork:
    """A :class:`PositionNetwork` from a file. Raises BotError naming the file if its answer is not all finite numbers.

    Finite weights may be too large: nobody knows before it is asked.

    Args:
        network: the network it asks.
        path: the file.
    """

    def __init__(self, network: PositionNetwork, path: Path) -> None:
        self.over = network.over
        self._network = network
        self._path = path

    def __call__(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        try:
            return self._network(observations, masks)
        except DivergedError:
            raise BotError(f"{self._path}: its answers are no finite numbers; its weights are too large") from None


class OwnValue:
    """A :class:`PositionNetwork` whose values mean something for the observing seat alone.

    The others share what is left, as returns add up to 0.

    Args:
        network: the network it asks.
        players: the number of seats that play.
    """

    def __init__(self, network: PositionNetwork, players: int) -> None:
        self.over = network.over
        self._network = network
        self._players = players

    def __call__(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        priors, values = self._network(observations, masks)
        if self._players > 1:
            values[:, 1 : self._players] = values[:, :1] / (1 - self._players)
        return priors, values


def checkpoint_at(path: Path) -> Path:
    """The checkpoint a path stands for: itself, or the best one in the folder of a run.

    A leading ~ is the home folder: no shell writes it out behind a colon, as in ``net:~/runs/mine``.
    """
    path = Path(os.path.expanduser(path))
    return find_checkpoint(path) if os.path.isdir(path) else path  # Path.is_dir raises for names that are too long


def find_checkpoint(folder: Path) -> Path:
    """The checkpoint in the folder of a run: the best one, else the last. Raises BotError if there is none."""
    for name in CHECKPOINTS:
        if os.path.isfile(folder / name):
            return folder / name
    raise BotError(f"there is no checkpoint in {folder}; looked for {', '.join(CHECKPOINTS)}")
