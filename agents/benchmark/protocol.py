"""Version 1 of the benchmark: what is played, for how long, and against whom.

Changing any number here makes another version.
"""

from __future__ import annotations

from dataclasses import dataclass

import kepler_envs
from kepler_envs.bots import fingerprint
from kepler_envs.bots.protocol import BotError
from kepler_envs.engine.game import Configuration

FORMAT = "kepler-benchmark-1"
DECISIONS = 10_000_000
"""Decisions of the learner in training."""
AN_UPDATE = 16_384
"""Decisions by which training may exceed its budget, or a hundredth of the budget if that is more: updates are
finished."""
LEAST_SEEDS = 5
"""Minimum number of training runs per game."""

ZERO, ONE = "uniform", "greedy"
"""The bots whose scores are 0 and 1."""
IMITATION = "bc-v1"
"""The published imitation of greedy."""
POOL = (ZERO, ONE, IMITATION)
"""The bots on all other seats, one kind per game, each equally often: one that plays anything, one written by hand, one
that was learned. An agent that wins only where the others play well, or only against one way of playing, scores low."""
SEARCH = "mcts:100"
"""A stronger opponent, for a score of its own."""
GAMES, SEARCH_GAMES = 2000, 400
"""Games of one agent against each bot of the pool, and against the search, rounded up so that every seat is used
equally often."""

ATTACKERS, ATTACKER_DECISIONS = 3, 500_000
"""Attackers of an agent, and the decisions of each in training."""
ATTACKER_RATES = (1e-3, 3e-4, 1e-4)
"""Learning rates of the attackers in turn. No single one would do: at the highest, an attacker that begins with a
strong network may forget what that knows, and at the lowest it takes too long to learn what a weak bot gives away."""
CFR_ITERATIONS, PPO_DECISIONS, PPO_SEEDS = 50, 300_000, 3
"""Iterations of CFR in a reduced game, decisions of a PPO run there, and number of those runs."""

CURVE_POINTS, CURVE_GAMES = 20, 200
"""Evaluations of a training run after the first one, and games of each against every bot of the pool."""


@dataclass(frozen=True, order=True)
class Task:
    """A game with its version and number of players. All options are the defaults of the game."""

    game: str
    players: int

    @property
    def name(self) -> str:
        """The name for folders and tables: ``ad_astra-v1-4p``."""
        return f"{self.game}-{self.players}p"

    @property
    def config(self) -> Configuration:
        """The configuration of the games. KeyError if this version no longer exists."""
        return kepler_envs.load_game(self.game).configure(self.players)


TASKS = (
    Task("kitten_adventurers-v1", 4),
    Task("kepler_run-v1", 4),
    Task("ad_astra-v1", 4),
    Task("race_to_kepler-v1", 4),
    Task("kepler_3042-v1", 2),
)


def most_decisions(budget: int) -> int:
    """The decisions that a run may make within its budget."""
    return budget + max(AN_UPDATE, budget // 100)


def task_of(game: str) -> Task:
    """The task of a game, by its name or id. BotError if the benchmark has none."""
    for task in TASKS:
        if game in (task.game, task.game.partition("-v")[0]):
            return task
    raise BotError(f"the benchmark has no game {game!r}; it has: {', '.join(task.game for task in TASKS)}")


def version_of(bot: str, game: str) -> str:
    """The version of a bot of the pool in a game: ``greedy-1``, or 16 hex digits of a network. Empty for bots that
    never change.

    Results against different versions of a bot are not compared.
    """
    return fingerprint(bot, game)
