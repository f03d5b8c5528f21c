"""``kepler-envs tournament``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

from rich.console import Console
from tyro.conf import arg

from kepler_envs.cli.common import GameArguments, OnRay, needing


@dataclass(frozen=True)
class PlayTournament(GameArguments):
    """Play agents against each other at balanced tables, rate them, and write a report.

    The same command goes on where an earlier one stopped; more --games extend a finished tournament.
    """

    agents: Annotated[tuple[str, ...], arg(metavar="SPEC ...")] = ("uniform", "greedy")
    """At least two agents: uniform, greedy, mcts:1000, net:PATH, ..."""
    games: Annotated[int, arg(metavar="N")] = 1200
    """Games to have in the end; rounded up until every agent has sat on each seat equally often."""
    adaptive: bool = False
    """Choose tables where it is least certain who is better, in place of a balanced schedule."""
    seconds_per_decision: Annotated[float | None, arg(metavar="S")] = None
    """An agent that takes longer forfeits the game; it is cut off even if it never answers. No limit if left out."""
    memory_per_agent: Annotated[int | None, arg(metavar="MIB")] = None
    """An agent from a file (python:FILE.py:NAME) whose process takes more than so many MiB forfeits the game.

    No limit if left out.
    """
    out: Annotated[Path, arg(metavar="FOLDER")] = Path("runs/tournament")
    """Where everything is written, and continued from."""
    seed: Annotated[int, arg(metavar="SEED")] = 0
    """Of the schedule; each game's own seed follows from it."""
    processes: Annotated[int | None, arg(metavar="N")] = None
    """Processes that play; as many as there are cores if left out."""
    batch: Annotated[int, arg(metavar="N")] = 256
    """Most games a process plays side by side. It changes the speed, never a game."""
    bootstrap: Annotated[int, arg(metavar="N")] = 100
    """Samples for the intervals of the ratings."""
    fresh: bool = False
    """Throw away what an earlier tournament left in the folder."""
    ray: OnRay = None
    """Play on a Ray cluster: the one at ADDRESS, or, without one, that of this machine, which is started with
    --processes cores if it is not there."""

    def run(self, console: Console) -> int:
        """Play what is missing and report; 0, or 130 if it was stopped before the last game."""
        with needing("tournament"):
            from kepler_envs.tournament.cluster import cluster_at
            from kepler_envs.tournament.run import Tournament
        from kepler_envs.web.page import replay_page

        own = {field.name for field in fields(PlayTournament)} - {field.name for field in fields(GameArguments)}
        asked = {name: getattr(self, name) for name in own - {"ray"}}
        with cluster_at(self.ray, console, self.processes) as cluster:
            return Tournament(self.configure(), cluster=cluster, **asked).run(console, replay_page)
