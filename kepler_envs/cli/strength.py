"""``kepler-envs strength``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.console import Console
from tyro.conf import arg

from kepler_envs.cli.codes import INTERRUPTED
from kepler_envs.cli.common import GameArguments, OnRay, UsageError, needing, optional
from kepler_envs.terminal import stop_on_signals

STOPPING = "stopping after these games; once more to give them up"


@dataclass(frozen=True, kw_only=True)
class MeasureStrength(GameArguments):
    """Measure how strong agents are: each plays alone against another agent on all other seats, in every seat.

    A pairing that the record already has, with as many games and the same versions of the agents, is not played again.
    After Ctrl-C, or once --minutes are over, the games played so far are recorded, unless the record has as many
    already.
    """

    agents: Annotated[tuple[str, ...], arg(metavar="AGENT ...")]
    """Agents to measure: uniform, greedy, mcts:1000, bc-v1, ..."""
    against: Annotated[tuple[str, ...], arg(metavar="AGENT ...")] = ("greedy",)
    """Opponents. Each of them in turn takes all other seats."""
    games: Annotated[int, arg(metavar="N")] = 1000
    """Games per pairing, rounded up so that every seat is used equally often."""
    side_by_side: Annotated[
        int | None,
        optional(
            metavar="N",
            help="Number of games played at once. If you stop, whole parts of this size are kept. If left out, it is "
            "1000, or 20 where an agent searches or comes from a file.",
        ),
    ] = None
    minutes: Annotated[float | None, optional(metavar="M")] = None
    """Time for each pairing, after which no more games begin. Those played count. No limit if left out."""
    seed: Annotated[int, arg(metavar="SEED")] = 77
    """Seed of the games."""
    out: Annotated[Path, arg(metavar="FILE")] = Path("strength.csv")
    """File that results are added to."""
    ray: OnRay = None
    """Play parts of --side-by-side games on a Ray cluster: that at ADDRESS, or this machine's, started if needed."""

    def run(self, console: Console) -> int:
        """Measure what the record lacks; 0, or 130 if it was stopped before the last games."""
        if self.out.is_dir():
            raise UsageError(f"--out {self.out} is a folder; name a file")
        with needing("tournament"):
            from kepler_envs.tournament.cluster import cluster_at
            from kepler_envs.tournament.strength import Strength, measure_all
        request = Strength(
            self.configure(), self.agents, self.against, self.games, self.side_by_side, self.minutes, self.seed,
            self.out,
        )  # fmt: skip
        with cluster_at(self.ray, console) as cluster, stop_on_signals(console, STOPPING) as stop:
            complete = measure_all(request, stop, console, cluster)
        return 0 if complete else INTERRUPTED
