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

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text
from tyro.conf import arg

import agents
from agents.own import MIB
from agents.tournament.adaptive import AdaptiveSchedule
from agents.tournament.html import write_page
from agents.tournament.ledger import Ledger
from agents.tournament.play import Chunk, GameResult, Players
from agents.tournament.report import Facts, SavedReplay, print_report, write_report
from agents.tournament.schedule import Schedule
from agents.tournament.standings import standings
from agents.tournament.workers import Workers
from kepler_envs.cli.common import GameArguments, UsageError, say
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.replay import read_replay, record, verify, write_replay
from kepler_envs.printable import printable, printable_name

LEDGER = "games.sqlite"
BATCH = 256
GAMES_WORTH_COMPILING = 5000
"""From this many games on, whole games are played in compiled code: it compiles half a minute or more when it is first used."""
COMPILED_TOGETHER = 4
"""Compiled games are this many times quicker to play than to write: more of them go into a transaction."""
_COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
REPLAYS = "replays"
MOST_LETTERS = 60
"""Of an agent's name, in the name of a file."""


@dataclass(frozen=True)
class Tournament(GameArguments):
    """Play agents against each other at balanced tables, rate them, and write a report.

    The same command goes on where an earlier one stopped; more --games extend a finished tournament.
    """

    agents: Annotated[tuple[str, ...], arg(metavar="SPEC ...")] = ("uniform", "greedy")
    """At least two agents: uniform, greedy, mcts:1000, ppo:PATH, ..."""
    games: Annotated[int, arg(metavar="N")] = 1200
    """Games to have in the end; rounded up until every agent has sat on each seat equally often."""
    adaptive: bool = False
    """Choose tables where it is least certain who is better, in place of a balanced schedule."""
    seconds_per_decision: Annotated[float | None, arg(metavar="S")] = None
    """An agent that takes longer forfeits the game; it is cut off even if it never answers. No limit if left out."""
    memory_per_agent: Annotated[int | None, arg(metavar="MIB")] = None
    """An agent from a file (python:FILE.py:NAME) whose process takes more than so many MiB forfeits the game. No limit if left out."""
    out: Annotated[Path, arg(metavar="FOLDER")] = Path("runs/tournament")
    """Where everything is written, and continued from."""
    seed: Annotated[int, arg(metavar="SEED")] = 0
    """Of the schedule; each game's own seed follows from it."""
    processes: Annotated[int | None, arg(metavar="N")] = None
    """Processes that play; as many as there are cores if left out."""
    batch: Annotated[int, arg(metavar="N")] = BATCH
    """Most games a process plays side by side. It changes the speed, never a game."""
    bootstrap: Annotated[int, arg(metavar="N")] = 100
    """Samples for the intervals of the ratings."""
    fresh: bool = False
    """Throw away what an earlier tournament left in the folder."""

    def run(self, console: Console) -> int:
        """Play what is missing and report; 0, or 130 if it was stopped before the last game."""
        self._check()
        config = self.configure()
        if config.num_players < 2:
            raise UsageError("--players 1 is no tournament; allowed: at least 2")
        with console.status("loading and compiling agents ..."):
            memory = None if self.memory_per_agent is None else self.memory_per_agent * MIB
            whole_games = self.games >= GAMES_WORTH_COMPILING
            players = Players(self.agents, config, self.seconds_per_decision, whole_games, memory=memory)
        self.out.mkdir(parents=True, exist_ok=True)
        if self.fresh:
            (self.out / LEDGER).unlink(missing_ok=True)
        with (
            Ledger(self.out / LEDGER, self._identity(config)) as ledger,
            Workers(players, self.processes or os.cpu_count() or 1) as workers,
        ):
            schedule = self._schedule(config, ledger)
            games = self._whole_rounds(schedule, console)
            if not self._play(ledger, schedule, workers, games, console):
                say(console, f"stopped; every finished game is in {ledger.path}, the same command goes on from there")
                return 130
            self._report(ledger, schedule, workers, games, console)
        return 0

    def _report(self, ledger: Ledger, schedule: AnySchedule, workers: Workers, games: int, console: Console) -> None:
        config, names = workers.players.config, display_names(self.agents)
        results = ledger.results(games)
        with Progress(*_COLUMNS, console=console, transient=True) as progress:
            task = progress.add_task("rating", total=self.bootstrap)

            def advance(done: int, _: int) -> None:
                progress.update(task, completed=done)

            found = standings(results, self.agents, names, self.bootstrap, self.seed, advance)
        with console.status("replays and pictures ..."):
            saved = save_replays(self.out / REPLAYS, workers, schedule, results, names)
            facts = Facts(
                config, self.agents, self.seed, self.adaptive, self.seconds_per_decision, ledger.commits(games)
            )
            write_report(self.out, found, saved, facts)
            write_page(self.out, found, saved, facts)
        print_report(found, console)
        say(console, printable(f"written: {self.out / 'report.html'}, {self.out / 'results.md'}"))

    def _check(self) -> None:
        if len(self.agents) < 2 or len(set(self.agents)) < len(self.agents):
            raise UsageError(f"--agents {' '.join(self.agents)}: at least two are needed, each named once")
        least = {"games": 1, "processes": 1, "batch": 1, "bootstrap": 1, "seed": 0, "memory_per_agent": 1}
        for name, low in least.items():
            value = getattr(self, name)
            if value is not None and value < low:
                raise UsageError(
                    f"--{name.replace('_', '-')} {value} is not allowed; allowed: an integer from {low} on"
                )
        if self.seconds_per_decision is not None and not self.seconds_per_decision > 0:
            raise UsageError(
                f"--seconds-per-decision {self.seconds_per_decision:g} is not allowed; allowed: a number above 0"
            )

    def _identity(self, config: Configuration) -> dict[str, Any]:
        """What all games of one ledger have in common."""
        return {
            "game": config.game.id,
            "options": {"num_players": config.num_players, **config.values},
            "components": config.components_digest,
            "agents": list(self.agents),
            "checkpoints": [agents.fingerprint(spec, config.game.name) for spec in self.agents],
            "seed": self.seed,
            "adaptive": self.adaptive,
            "seconds_per_decision": self.seconds_per_decision,
            "memory_per_agent": self.memory_per_agent,
        }

    def _schedule(self, config: Configuration, ledger: Ledger) -> AnySchedule:
        agents_and_seats = len(self.agents), config.num_players
        if self.adaptive:
            return AdaptiveSchedule(*agents_and_seats, self.seed, ledger.stages())
        return Schedule(*agents_and_seats, self.seed)

    def _whole_rounds(self, schedule: AnySchedule, console: Console) -> int:
        games = schedule.whole_rounds(self.games)
        if games != self.games:
            whole = f"whole rounds of {schedule.block} balanced games"
            if self.adaptive:
                whole = f"{schedule.block} balanced games first, then whole rounds of {schedule.seats}"
            console.print(f"{self.games} games are rounded up to {games}: {whole}")
        return games

    def _play(self, ledger: Ledger, schedule: AnySchedule, workers: Workers, games: int, console: Console) -> bool:
        """Play the missing games; whether all are there now."""
        commit = current_commit()
        with _stop_on_interrupt(console) as stop, _progress(console) as progress:
            task = progress.add_task("games", total=games, completed=games - len(ledger.missing(games)))
            while True:
                known = int(min(games, schedule.known))
                for results in workers.play(self._chunks(schedule, ledger.missing(known), workers), stop):
                    ledger.add(results, workers.players.config.digest, commit)
                    progress.advance(task, len(results))
                if ledger.missing(known):
                    return False
                if known == games:
                    return True
                assert isinstance(schedule, AdaptiveSchedule)
                ledger.add_stage(schedule.choose_stage(ledger.results(known), self.agents))

    def _chunks(self, schedule: AnySchedule, missing: Sequence[int], workers: Workers) -> list[Chunk]:
        """The missing games in parts, at least one for each process. Whole games in compiled code come in larger ones."""
        parts: list[Chunk] = []
        games = [schedule[number] for number in missing]
        for compiled, most in ((True, COMPILED_TOGETHER * self.batch), (False, self.batch)):
            alike = [game for game in games if workers.players.is_compiled(game) == compiled]
            size = max(1, min(most, -(-len(alike) // workers.processes)))
            parts += [alike[low : low + size] for low in range(0, len(alike), size)]
        return parts


AnySchedule = Schedule | AdaptiveSchedule


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
    """Short names: the kind alone where only one agent is of it, the name of one of your own; else the whole spec.

    They may be shown anywhere, and are all different.
    """
    short = [spec.rpartition(":")[2] if spec.startswith("python:") else spec.partition(":")[0] for spec in specs]
    names = [printable_name(name if short.count(name) == 1 else spec) for name, spec in zip(short, specs, strict=True)]
    return [name if names.count(name) == 1 else f"{name} #{place}" for place, name in enumerate(names)]


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
    folder: Path, workers: Workers, schedule: AnySchedule, results: Sequence[GameResult], names: Sequence[str]
) -> list[SavedReplay]:
    """Write one game of each two agents as a replay, if possible one without forfeits, and verify the file.

    The game is played again for it: by itself, where the tournament played it among others. It should be the same game.
    """
    folder.mkdir(parents=True, exist_ok=True)
    specs, config, saved = workers.players.specs, workers.players.config, []
    for (one, other), path in replay_paths(folder, names).items():
        theirs = [game for game in results if {specs[one], specs[other]} == set(game.agents)]
        game = min(theirs, key=lambda game: (bool(game.forfeits), game.number))
        actions, again = workers.play_alone(schedule[game.number], careful=bool(game.forfeits))
        by_seat = [names[specs.index(spec)] for spec in game.agents]
        write_replay(path, record(config, game.seed, actions, by_seat))
        verify(read_replay(path), config)
        same = (again.ranks, again.scores, again.length) == (game.ranks, game.scores, game.length)
        saved.append(SavedReplay(path.name, game.number, by_seat, same))
    return saved


def replay_paths(folder: Path, names: Sequence[str]) -> dict[tuple[int, int], Path]:
    """A file for each two agents, named after both, with a number where two pairs read the same."""
    paths: dict[tuple[int, int], Path] = {}
    for one, other in combinations(range(len(names)), 2):
        path = folder / f"{_file_name(names[one])}-{_file_name(names[other])}.jsonl"
        taken = path in paths.values()
        paths[one, other] = path.with_stem(f"{path.stem}-{one}-{other}") if taken else path
    return paths


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in name)[-MOST_LETTERS:]
