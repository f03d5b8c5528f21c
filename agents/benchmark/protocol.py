"""What is played, for how long, and against whom: version 1 of the benchmark.

A change of any number is another version.
"""

from __future__ import annotations

from dataclasses import dataclass

import kepler_envs
from kepler_envs.bots import fingerprint
from kepler_envs.bots.protocol import BotError
from kepler_envs.engine.game import Configuration

FORMAT = "kepler-benchmark-1"
DECISIONS = 10_000_000
"""Of the learner, in training."""
AN_UPDATE = 16_384
"""Decisions by which training may go beyond its budget, or a hundredth of it if that is more: updates are made
whole."""
LEAST_SEEDS = 5
"""Training runs in each game."""

ZERO, ONE = "uniform", "greedy"
"""The bots whose scores are 0 and 1."""
POOL = ("uniform", "greedy", "bc-v1")
"""Who sits on all other seats, one kind a game, each equally often: a bot that plays anything, one that is written by
hand, and one that was learned. An agent that wins only where the others play well, or only against one way of playing,
falls back."""
SEARCH = "mcts:100"
"""A stronger opponent, for a score of its own."""
GAMES, SEARCH_GAMES = 2000, 400
"""Games of one agent against each bot of the pool, and against the search; rounded up to use every seat equally
often."""
GAMES_SEED = 2**62 + 2**40
"""Games that no training and no evaluation in training has seen."""

CURVE_POINTS, CURVE_GAMES = 20, 200
"""Evaluations of a training run behind its first one, and games of each against every bot of the pool."""


@dataclass(frozen=True, order=True)
class Task:
    """A game with its version, and how many play it. All options are the game's own."""

    game: str
    players: int

    @property
    def name(self) -> str:
        """For folders and tables: ``ad_astra-v1-4p``."""
        return f"{self.game}-{self.players}p"

    @property
    def config(self) -> Configuration:
        """What is played. KeyError if this version is not there any more."""
        return kepler_envs.load_game(self.game).configure(self.players)


TASKS = (
    Task("kitten_adventurers-v1", 4),
    Task("kepler_run-v1", 4),
    Task("ad_astra-v1", 4),
    Task("race_to_kepler-v1", 4),
    Task("kepler_3042-v1", 2),
)


def most_decisions(budget: int) -> int:
    """With how many a run has kept to its budget."""
    return budget + max(AN_UPDATE, budget // 100)


def task_of(game: str) -> Task:
    """The task of a game, by its name or id; BotError if the benchmark has none."""
    for task in TASKS:
        if game in (task.game, task.game.partition("-v")[0]):
            return task
    raise BotError(f"the benchmark has no game {game!r}; it has: {', '.join(task.game for task in TASKS)}")


def version_of(bot: str, game: str) -> str:
    """The version of a bot of the pool in a game: ``greedy-1``, or 16 hex digits of a network. Empty for bots that
    never change.

    Results against different versions of a bot are not compared.
    """
    return fingerprint(bot, game.partition("-v")[0])
