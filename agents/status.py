"""What a training run says of itself. Apart from the run, as displays need no PyTorch."""

from __future__ import annotations

from dataclasses import dataclass

from agents.evaluation import Evaluation


@dataclass(frozen=True)
class Status:
    """The progress of a run, for displays."""

    steps: int
    seconds: float
    fraction: float
    steps_per_second: float
    mean_length: float
    evaluations: tuple[Evaluation, ...]
    evaluated: bool
    """Whether the evaluations are new in this status."""
    ratings: str = ""
    """Ratings of the pool in words, if there is one."""
    evaluated_at: int | None = None
    """The steps at which the evaluations were made, None without any. A run that continues begins with older ones."""
