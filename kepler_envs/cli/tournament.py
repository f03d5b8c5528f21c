"""``kepler-envs tournament``."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console
from tyro.conf import arg

from kepler_envs.cli.common import Flag, GameArguments, OnRay, UsageError, check_folder, needing, optional
from kepler_envs.engine.replay import write_replay
from kepler_envs.terminal import say

if TYPE_CHECKING:
    from kepler_envs.tournament.run import Tournament


@dataclass(frozen=True)
class PlayTournament(GameArguments):
    """Play a rated tournament between agents at balanced tables, and write a report.

    Run the same command again to continue where you stopped. A larger --games extends a finished tournament. With
    --replay it plays no new game and writes down one that was played.
    """

    agents: Annotated[tuple[str, ...], arg(metavar="AGENT ...")] = ("uniform", "greedy")
    """At least two agents: uniform, greedy, mcts:1000, net:PATH, ..."""
    games: Annotated[int, arg(metavar="N")] = 1200
    """Number of games in total, rounded up so that every agent takes each seat equally often."""
    adaptive: Flag = False
    """Instead of a balanced schedule, choose the tables where it is least certain who is better."""
    seconds_per_decision: Annotated[float | None, optional(metavar="S")] = None
    """Time limit. An agent that takes longer forfeits the game, even if it never answers. No limit if left out."""
    memory_per_agent: Annotated[int | None, optional(metavar="MIB")] = None
    """Memory limit for the process of an agent from a file. One that takes more forfeits. No limit if left out."""
    out: Annotated[Path, arg(metavar="FOLDER")] = Path("runs/tournament")
    """Folder that everything is written to, and continued from."""
    seed: Annotated[int, arg(metavar="SEED")] = 0
    """Seed of the schedule. Each game's own seed follows from it."""
    processes: Annotated[int | None, optional(metavar="N")] = None
    """Number of processes that play. One per core if left out."""
    batch: Annotated[int, arg(metavar="N")] = 256
    """Number of games a process plays at once, at most. It changes the speed, never a game."""
    bootstrap: Annotated[int, arg(metavar="N")] = 400
    """Number of bootstrap samples for the rating intervals."""
    fresh: Flag = False
    """Discard what an earlier tournament left in the folder."""
    replay: Annotated[int | None, optional(metavar="NUMBER")] = None
    """Write this game of the ledger to FOLDER/game-NUMBER.jsonl, for `kepler-envs replay`."""
    ray: OnRay = None
    """Play on a Ray cluster: that at ADDRESS, or this machine's, started with --processes cores if there is none."""

    def run(self, console: Console) -> int:
        """Play what is missing and report, or write a game down; 0, or 130 if it was stopped before the last game."""
        check_folder("--out", self.out)
        if self.replay is not None and self.fresh:
            raise UsageError("--fresh deletes the games that --replay is to find: leave it out")
        if self.replay is not None and self.ray is not None:
            raise UsageError("--replay plays its one game on this machine: leave --ray out")
        with needing("tournament"):
            from kepler_envs.tournament.cluster import cluster_at
            from kepler_envs.tournament.run import Tournament
        from kepler_envs.web.page import replay_page

        own = {field.name for field in fields(PlayTournament)} - {field.name for field in fields(GameArguments)}
        asked = {name: getattr(self, name) for name in own - {"replay", "ray"}}
        tournament = Tournament(self.configure(), **asked)
        if self.replay is not None:
            return self._write_down(tournament, self.replay, console)
        with cluster_at(self.ray, console, self.processes) as cluster:
            if cluster is not None:
                tournament = replace(tournament, cluster=cluster, processes=None)
            return tournament.run(console, replay_page)

    def _write_down(self, tournament: Tournament, number: int, console: Console) -> int:
        path = self.out / f"game-{number}.jsonl"
        write_replay(path, tournament.replay(number))
        say(console, f"written: {path}")
        return 0
