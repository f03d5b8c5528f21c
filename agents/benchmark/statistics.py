"""Statistics of scores over games and training runs (Agarwal et al. 2021, *Deep Reinforcement Learning at the Edge of
the Statistical Precipice*).

Scores come as one array per game, with an entry per training run. The bootstrap draws runs game by game (stratified).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

RESAMPLES = 10_000
CONFIDENCE = 0.95
TRIMMED = 0.25
"""Share of the scores that is cut off at each end."""


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval by the percentile bootstrap. The ends are nan if a game has a single run."""

    value: float
    low: float
    high: float


def interquartile_mean(scores: Sequence[np.ndarray], seed: int = 0) -> Estimate:
    """The mean of the middle half of all runs of all games.

    Args:
        scores: one array (runs,) per game.
        seed: the seed of the bootstrap: the same one gives the same interval.
    """
    return estimate(scores, _middle_half, seed)


def probability_of_improvement(one: Sequence[np.ndarray], other: Sequence[np.ndarray]) -> Estimate:
    """How likely a run of one method scores more than a run of the other, ties counting half: the mean over the games.

    Args:
        one, other: one array (runs,) per game, for the same games in the same order. ValueError if their numbers
            differ.
    """
    if len(one) != len(other):
        raise ValueError(f"{len(one)} games against {len(other)}; both methods need the same games")
    return estimate([*one, *other], _improvement)


def estimate(samples: Sequence[np.ndarray], statistic: Callable[..., Any], seed: int = 0) -> Estimate:
    """A statistic ``(*samples, axis)`` with its interval. Every sample is drawn independently."""
    value = float(statistic(*samples, axis=-1))
    if min(map(len, samples)) < 2:
        return Estimate(value, float("nan"), float("nan"))
    if all(np.ptp(sample) == 0 for sample in samples):  # scipy calls that degenerate
        return Estimate(value, value, value)
    found = stats.bootstrap(
        tuple(samples), statistic, n_resamples=RESAMPLES, batch=1000, paired=False, vectorized=True,
        method="percentile",
        confidence_level=CONFIDENCE, rng=np.random.default_rng(seed),
    ).confidence_interval  # fmt: skip
    return Estimate(value, float(found.low), float(found.high))


def _middle_half(*samples: np.ndarray, axis: int = -1) -> Any:
    return stats.trim_mean(np.concatenate(samples, axis=axis), TRIMMED, axis=axis)


def _improvement(*samples: np.ndarray, axis: int = -1) -> Any:
    """The statistic: the first half of the samples is one method, the second half the other. ``axis`` is always the
    last."""
    games = len(samples) // 2
    parts = []
    for one, other in zip(samples[:games], samples[games:], strict=True):
        difference = one[..., :, None] - other[..., None, :]
        parts.append(((difference > 0) + 0.5 * (difference == 0)).mean((-2, -1)))
    return np.mean(parts, axis=0)
