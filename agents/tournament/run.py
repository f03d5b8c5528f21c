"""One tournament from the command line to the report."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text
from tyro.conf import arg

import agents
from agents.tournament.ledger import Ledger
from agents.tournament.play import Chunk, GameResult, Players, play_all
from agents.tournament.report import SavedReplay, print_report, write_report
from agents.tournament.schedule import Schedule, ScheduledGame
from agents.tournament.standings import standings
from kepler_envs.cli.common import GameArguments, UsageError
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.replay import read_replay, record, verify, write_replay

LEDGER = "games.sqlite"
_COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
REPLAYS = "replays"


@dataclass(frozen=True)
class Tournament(GameArguments):
    """Play agents against each other at balanced tables, rate them, and write a report.

    The same command goes on where an earlier one stopped; more --games extend a finished tournament.
    """

    agents: Annotated[tuple[str, ...], arg(metavar="SPEC ...")] = ("uniform", "greedy")
    """At least two agents: uniform, greedy, mcts:1000, ppo:PATH, ..."""
    games: Annotated[int, arg(metavar="N")] = 1200
    """Games to have in the end; rounded up until every agent has sat on each seat equally often."""
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

    def run(self, console: Console) -> int:
        """Play what is missing and report; 0, or 130 if it was stopped before the last game."""
        self._check()
        config = self.configure()
        with console.status("loading and compiling agents ..."):
            players = Players(self.agents, config)
        schedule = Schedule(len(self.agents), config.num_players, self.seed)
        games = schedule.whole_blocks(self.games)
        if games != self.games:
            console.print(
                f"{self.games} games are rounded up to {games}: whole rounds of {schedule.block} balanced games"
            )
        self.out.mkdir(parents=True, exist_ok=True)
        if self.fresh:
            (self.out / LEDGER).unlink(missing_ok=True)
        with Ledger(self.out / LEDGER, self._identity(config)) as ledger:
            if not self._play(ledger, schedule, players, games, console):
                console.print(f"stopped; every finished game is in {ledger.path}, the same command goes on from there")
                return 130
            results, commits = ledger.results(games), ledger.commits(games)
        names = display_names(self.agents)
        with Progress(*_COLUMNS, console=console, transient=True) as progress:
            task = progress.add_task("rating", total=self.bootstrap)
            found = standings(
                results,
                self.agents,
                names,
                self.bootstrap,
                self.seed,
                lambda done, _: progress.update(task, completed=done),
            )
        saved = save_replays(self.out / REPLAYS, players, schedule, results, names)
        print_report(found, console)
        write_report(self.out, found, saved, config, self.agents, self.seed, commits)
        console.print(f"written: {self.out / 'results.md'}")
        return 0

    def _check(self) -> None:
        if len(self.agents) < 2 or len(set(self.agents)) < len(self.agents):
            raise UsageError(f"--agents {' '.join(self.agents)}: at least two are needed, each named once")
        least = {"games": 1, "processes": 1, "batch": 1, "bootstrap": 1, "seed": 0}
        for name, low in least.items():
            value = getattr(self, name)
            if value is not None and value < low:
                raise UsageError(f"--{name} {value} is not allowed; allowed: an integer from {low} on")

    def _identity(self, config: Configuration) -> dict[str, Any]:
        """What all games of one ledger have in common."""
        return {
            "game": config.game.id,
            "options": {"num_players": config.num_players, **config.values},
            "components": config.components_digest,
            "agents": list(self.agents),
            "checkpoints": [agents.fingerprint(spec) for spec in self.agents],
            "seed": self.seed,
        }

    def _play(self, ledger: Ledger, schedule: Schedule, players: Players, games: int, console: Console) -> bool:
        """Play the missing games; whether all are there now."""
        missing = ledger.missing(games)
        processes = self.processes or os.cpu_count() or 1
        size = max(1, min(self.batch, -(-len(missing) // processes)))
        chunks: list[Chunk] = [
            [schedule[number] for number in missing[first : first + size]] for first in range(0, len(missing), size)
        ]
        options, commit = players.config.digest, current_commit()
        with _stop_on_interrupt(console) as stop, _progress(console) as progress:
            task = progress.add_task("games", total=games, completed=games - len(missing))
            for results in play_all(players, chunks, processes, stop):
                ledger.add(results, options, commit)
                progress.advance(task, len(results))
        return not ledger.missing(games)


@contextmanager
def _stop_on_interrupt(console: Console) -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets; the second one interrupts as ever."""
    stop = threading.Event()

    def on_interrupt(number: int, frame: Any) -> None:
        signal.signal(signal.SIGINT, before)
        stop.set()
        console.print("finishing the games that are being played; Ctrl-C again drops them")

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


class _GamesPerSecond(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f} games/s" if speed else "")


def _progress(console: Console) -> Progress:
    return Progress(*_COLUMNS[:-1], _GamesPerSecond(), _COLUMNS[-1], console=console)


def display_names(specs: Sequence[str]) -> list[str]:
    """Short names: the kind alone where only one agent is of it, else the whole spec."""
    kinds = [spec.partition(":")[0] for spec in specs]
    return [kind if kinds.count(kind) == 1 else spec for kind, spec in zip(kinds, specs, strict=True)]


def current_commit() -> str:
    """The commit of the checkout, with a ``+`` if files have changed since; empty outside of one."""
    root = Path(__file__).resolve().parents[2]
    try:
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True)
        changed = subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return head.stdout.strip()[:12] + ("+" if changed.stdout.strip() else "")


def save_replays(
    folder: Path, players: Players, schedule: Schedule, results: Sequence[GameResult], names: Sequence[str]
) -> list[SavedReplay]:
    """Write one game of each two agents as a replay, and verify the file.

    The game is played again for it: by itself, where the tournament played it among others. It should be the same game.
    """
    folder.mkdir(parents=True, exist_ok=True)
    saved = []
    for one, other in combinations(range(len(names)), 2):
        game = next(result for result in results if {players.specs[one], players.specs[other]} == set(result.agents))
        actions, again = _play_alone(players, schedule[game.number])
        by_seat = [names[players.specs.index(spec)] for spec in game.agents]
        path = folder / f"{_file_name(names[one])}-{_file_name(names[other])}.jsonl"
        write_replay(path, record(players.config, game.seed, actions, by_seat))
        verify(read_replay(path), players.config)
        saved.append(SavedReplay(path.name, game.number, by_seat, again == game))
    return saved


def _play_alone(players: Players, game: ScheduledGame) -> tuple[list[int], GameResult]:
    """Play one game by itself: its actions and its result."""
    actions: list[int] = []

    def watch(step: np.ndarray) -> None:
        actions.append(int(step[0]))

    result = players.play([game], watch)[0]
    return actions, result


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)
