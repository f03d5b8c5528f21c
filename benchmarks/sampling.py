"""How everything is measured: the sides of a ratio in turn, reported as medians."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

GAME = "kitten_adventurers"
PLAYERS = 4


@dataclass(frozen=True)
class Settings:
    """How long to measure, and what."""

    seconds: float = 0.4
    """CPU seconds of one sample."""
    repetitions: int = 7
    """Samples per quantity; the table has their median."""
    ppo_steps: int = 40_000
    """Decisions of the training run in which the environment's share is measured; 0 leaves the row out."""
    positions: int = 200_000
    """Decisions of greedy that networks learn from in the part `imitation`."""
    minutes: float = 15
    """Each of them learns for this long at most."""
    games: int = 2000
    """They play against greedy."""
    record: Path | None = None
    """File for the results of that part, docs/imitation.csv unless told."""
    only: tuple[str, ...] = ()
    """Parts to measure, by name; all but the long ones if left out."""
    quick: bool = False
    """Short samples, few repetitions: a look, not a measurement to quote."""


@dataclass(frozen=True)
class Row:
    what: str
    value: str
    target: str
    met: bool | None


def rates(
    sides: dict[str, Callable[[int], int]], settings: Settings, clock: Callable[[], float]
) -> dict[str, list[float]]:
    """Steps per second of each side, sampled in turn.

    ``sides`` maps a name to a function that makes about n rounds and returns the number of steps they were.
    """
    rounds = {name: _calibrate(side, settings.seconds, clock) for name, side in sides.items()}
    samples: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(settings.repetitions):
        for name, side in sides.items():
            start = clock()
            steps = side(rounds[name])
            samples[name].append(steps / (clock() - start))
    return samples


def _calibrate(side: Callable[[int], int], seconds: float, clock: Callable[[], float]) -> int:
    """Rounds that take about ``seconds``; warms the side up on the way."""
    rounds = 1
    while True:
        start = clock()
        side(rounds)
        took = clock() - start
        if took > seconds / 8:
            return max(1, round(rounds * seconds / took))
        rounds *= 4


def ratio(samples: dict[str, list[float]], one: str, other: str) -> float:
    """Median of the ratios of samples taken one after the other."""
    return statistics.median(a / b for a, b in zip(samples[one], samples[other], strict=True))


def millions(values: list[float]) -> str:
    return f"{statistics.median(values) / 1e6:.1f} M/s"
