"""How the benchmarks measure: both sides of a ratio in turn, then the median."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from agents.allowed import need
from kepler_envs.cli.common import Flag, optional

GAME = "kitten_adventurers"
PLAYERS = 4


@dataclass(frozen=True)
class Settings:
    """How long to measure, and what."""

    seconds: float = 0.4
    """Seconds per sample: of CPU time, or by the wall clock where threads are compared."""
    repetitions: int = 7
    """Samples per figure. The table shows their median; of new processes from a wheel, the fastest of at least 12."""
    ppo_steps: int = 40_000
    """Decisions of the training run that shows the environment's share. 0 leaves that row out."""
    positions: int = 200_000
    """Decisions of greedy that each network learns from in the part `imitation`."""
    minutes: float = 15
    """Most minutes that each network of `imitation` learns."""
    games: int = 2000
    """Games that each network of `imitation` plays against greedy."""
    only: Annotated[tuple[str, ...], optional("PART ...")] = ()
    """Names of the parts to measure. Without it, all but the long ones."""
    quick: Flag = False
    """Take short and few samples: for a first look, not for figures to quote."""
    record: Annotated[Path | None, optional("FILE")] = None
    """Write the run to this file, which pages quote if it is docs/figures.json; with --only, replace rows of it."""

    def check(self) -> None:
        """Raise BotError if a number is not allowed."""
        for name in ("seconds", "minutes"):
            need(self, name, 0 < getattr(self, name) < math.inf, "above 0")
        for name, least in (("repetitions", 1), ("ppo_steps", 0), ("positions", 1), ("games", 1)):
            need(self, name, getattr(self, name) >= least, f"an integer from {least} on")


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        what: its name, the same in every run. value: the measurement as text, with units. target: what it should be, as
            text; may be empty. met: whether it is; None without a target. ratio: the comparison in ``value`` as a
            number; None if nothing is compared.
    """

    what: str
    value: str
    target: str = ""
    met: bool | None = None
    ratio: float | None = None


def rates(
    sides: dict[str, Callable[[int], int]], settings: Settings, clock: Callable[[], float]
) -> dict[str, list[float]]:
    """Steps per second of each side, sampled in turn.

    Args:
        sides: by name, a function that plays about n rounds and returns how many steps these were.
        clock: seconds so far, for example ``time.thread_time``.

    Returns:
        By name, one rate per repetition.
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
    """How many rounds take about ``seconds``. The first one, which may compile, only warms the side up."""
    side(1)
    rounds = 1
    while True:
        start = clock()
        side(rounds)
        took = clock() - start
        if took > seconds / 8:
            return max(1, round(rounds * seconds / took))
        rounds *= 4


def ratio(samples: dict[str, list[float]], one: str, other: str) -> float:
    """Median ratio of neighbouring samples."""
    return statistics.median(a / b for a, b in zip(samples[one], samples[other], strict=True))


def millions(values: list[float]) -> str:
    """The median as text, in millions per second."""
    return f"{statistics.median(values) / 1e6:.1f} M/s"
