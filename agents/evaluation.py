"""How a network fares while it learns: games of its own against fixed opponents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kepler_envs.bots.protocol import Bot
from kepler_envs.engine.game import Configuration
from kepler_envs.tournament.pairing import play_against
from kepler_envs.tournament.standings import Share, share

EVALUATION_SEED = 2**62
"""Evaluation games are the same every time, and none that is trained on."""


@dataclass(frozen=True)
class Evaluation:
    """The learner against one opponent on all other seats.

    Attributes:
        opponent: its spec; with the number of players if a network learns several counts.
        wins: share of wins (a win shared by w counts 1 / w).
        returns: mean return with its 95 % interval.
    """

    opponent: str
    wins: Share
    mean_length: float
    returns: Share

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Evaluation:
        """What ``dataclasses.asdict`` made of one."""
        return cls(saved["opponent"], Share(**saved["wins"]), saved["mean_length"], Share(**saved["returns"]))


def evaluate(learner: Bot, opponent: Bot, config: Configuration, games: int, seed: int = EVALUATION_SEED) -> Evaluation:
    """Play ``games`` games, rounded up to use every seat equally often, all side by side."""
    results = play_against(learner, opponent, config, games, seed)
    return Evaluation(
        opponent.name, share(results.wins), float(results.lengths.mean()), mean_with_interval(results.returns)
    )


def mean_with_interval(values: np.ndarray) -> Share:
    """Mean of independent values with its 95 % interval, by the normal distribution."""
    half = 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("inf")
    mean = float(values.mean())
    return Share(mean, mean - half, mean + half, len(values))
