"""Evaluation during training: games against fixed opponents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kepler_envs import bots
from kepler_envs.bots.protocol import Bot
from kepler_envs.engine.game import Configuration
from kepler_envs.tournament.pairing import play_against
from kepler_envs.tournament.standings import Share, share

EVALUATION_SEED = 2**62
"""First seed of the evaluation games. They are the same every time, and training never plays them."""


@dataclass(frozen=True)
class Evaluation:
    """Results of the learner against one opponent on all other seats.

    Attributes:
        opponent: its spec, with the number of players if the network learns several counts.
        wins: share of wins (a win shared by w seats counts 1 / w).
        returns: mean return with its 95 % interval.
    """

    opponent: str
    wins: Share
    mean_length: float
    returns: Share

    @property
    def columns(self) -> dict[str, float]:
        """The columns of a learning curve about this opponent."""
        name, wins = self.opponent, self.wins
        return {
            f"win_rate_{name}": round(wins.mean, 4), f"low_{name}": round(wins.low, 4),
            f"high_{name}": round(wins.high, 4),
            f"games_{name}": wins.games,
        }  # fmt: skip

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Evaluation:
        """An evaluation from what ``dataclasses.asdict`` made of it."""
        return cls(saved["opponent"], Share(**saved["wins"]), saved["mean_length"], Share(**saved["returns"]))


def opponents_for(specs: Sequence[str], all_games: Sequence[Configuration]) -> list[tuple[Configuration, Bot]]:
    """The opponents in order, each for all player counts. Their names include the count if there are several."""
    found = []
    for spec in specs:
        for games in all_games:
            bot = bots.load(spec, games)
            if len(all_games) > 1:
                bot.name = f"{spec}_{games.num_players}p"
            found.append((games, bot))
    return found


def evaluate(learner: Bot, opponent: Bot, config: Configuration, games: int, seed: int = EVALUATION_SEED) -> Evaluation:
    """Play ``games`` games in parallel, rounded up so that every seat is used equally often."""
    results = play_against(learner, opponent, config, games, seed)
    return Evaluation(
        opponent.name, share(results.wins), float(results.lengths.mean()), mean_with_interval(results.returns)
    )


def mean_with_interval(values: np.ndarray) -> Share:
    """Mean of independent values with its 95 % interval, by the normal approximation."""
    half = 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("inf")
    mean = float(values.mean())
    return Share(mean, mean - half, mean + half, len(values))
