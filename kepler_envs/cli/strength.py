"""``kepler-envs strength``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.console import Console
from tyro.conf import arg

from kepler_envs.cli.common import GameName, OnRay, find_game, needing
from kepler_envs.terminal import stop_on_signals

STOPPING = "stopping after these games; once more to give it up"


@dataclass(frozen=True)
class MeasureStrength:
    """Measure agents, each alone against one on all other seats, seats rotated.

    A pairing that the record has with as many games, by the same versions of the agents, is not played again; after
    Ctrl-C, or once --minutes are over, the games so far are written.
    """

    game: GameName
    """Name of the game; `kepler-envs list` prints them all."""
    agents: Annotated[tuple[str, ...], arg(metavar="SPEC ...")]
    """Agents to measure: uniform, greedy, mcts:1000, bc-v1, ..."""
    against: Annotated[tuple[str, ...], arg(metavar="SPEC ...")] = ("greedy",)
    """Agents on all other seats, one after the other."""
    players: Annotated[int | None, arg(metavar="N")] = None
    """Number of players; the game's default if left out."""
    games: Annotated[int, arg(metavar="N")] = 1000
    """Games of each pairing, rounded up to use every seat equally often."""
    side_by_side: Annotated[int, arg(metavar="N")] = 1000
    """Games played at a time: what is kept if the rest is given up."""
    minutes: Annotated[float | None, arg(metavar="M")] = None
    """Most time for a pairing; the games played by then count."""
    seed: Annotated[int, arg(metavar="SEED")] = 77
    """Of the games."""
    out: Annotated[Path, arg(metavar="FILE")] = Path("strength.csv")
    """The record that lines are added to."""
    ray: OnRay = None
    """Play on a Ray cluster: the one at ADDRESS, or, without one, that of this machine, which is started if it is not
    there. Parts of --side-by-side games are what it shares out."""

    def run(self, console: Console) -> int:
        """Measure what the record lacks; 0, or 130 if it was stopped."""
        with needing("tournament"):
            from kepler_envs.tournament.cluster import cluster_at
            from kepler_envs.tournament.strength import Strength, measure_all
        request = Strength(
            find_game(self.game).configure(self.players), self.agents, self.against, self.games, self.side_by_side,
            self.minutes, self.seed, self.out,
        )  # fmt: skip
        with cluster_at(self.ray, console) as cluster, stop_on_signals(console, STOPPING) as stop:
            measure_all(request, stop, console, cluster)
        return 130 if stop.is_set() else 0
