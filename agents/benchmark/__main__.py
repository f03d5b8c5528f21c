"""Train methods, check and measure entries, and write the tables of the benchmark.

Commands that train or play continue where they were interrupted; exact keeps its lines, but begins again.
docs/benchmark.md says what is measured.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from tyro.conf import Positional, arg

from agents.allowed import need
from agents.benchmark.entry import check, read_entry
from agents.benchmark.playing import (
    Effort,
    check_not_taken,
    check_row_is_free,
    fixed_players,
    measure,
    players_of,
    remove_others,
    write_curves,
)
from agents.benchmark.protocol import (
    ATTACKER_DECISIONS,
    ATTACKERS,
    CFR_ITERATIONS,
    DECISIONS,
    GAMES,
    LEAST_SEEDS,
    PPO_DECISIONS,
    PPO_SEEDS,
    SEARCH_GAMES,
    TASKS,
    Task,
    task_of,
)
from agents.benchmark.records import ATTACKS, CURVES, EXACT, RESULTS, ExactLine
from agents.ending import INTERRUPTED, plain_ending
from agents.games import distinct
from kepler_envs.bots.protocol import BotError
from kepler_envs.cli.common import Flag, GameName, optional, parse
from kepler_envs.records import write_lines
from kepler_envs.terminal import make_console, say, stop_on_signals

STOPPING = "stopping after this update or these games; press again to stop at once"
Folders = Annotated[Positional[tuple[Path, ...]], arg(metavar="FOLDER [FOLDER ...]", help_behavior_hint="(required)")]


@dataclass(frozen=True)
class Run:
    """Train a method in a game from several seeds, then measure it: one row of the table.

    Ctrl-C keeps what there is. The same command continues.
    """

    game: GameName
    """Name or id of the game."""
    method: Annotated[Positional[str], arg(metavar="METHOD")]
    """Name of the method. A wrong name prints the list of methods."""
    seeds: int = LEAST_SEEDS
    """Number of training runs, with seeds 0, 1, ..."""
    first_seed: int = 0
    """The first of these seeds, to train the others elsewhere."""
    decisions: int = DECISIONS
    """Decisions of the learner per run. Another number makes a row of its own."""
    threads: int = 1
    """Threads of each learner."""
    processes: int = 1
    """Seeds that train side by side, and pairings played side by side. Agents and games are the same as with 1."""
    games: int = GAMES
    """Games of each agent against each bot of the pool."""
    search_games: int = SEARCH_GAMES
    """Games of each agent against the search. 0 leaves the search out."""
    out: Path = Path("runs/benchmark")
    """Folder for the entries, which can be handed in, and for the state of training."""
    replace: Flag = False
    """Remove other agents that the record has in this row, with their curves."""
    record: Path = RESULTS
    """The record of results, a CSV file."""
    curves: Path = CURVES
    """The record of learning curves, a CSV file."""
    trust_folder: Flag = False
    """Continue runs even if their folders belong to another user or others may write to them."""

    def run(self, console: Console, stop: threading.Event) -> int:
        """Train what is missing, then play what is missing."""
        from agents.benchmark.methods import METHODS
        from agents.benchmark.running import entry_folder, train_entry
        from agents.progress import SeedDisplays, full_disks_told_once

        if self.method not in METHODS:
            raise BotError(
                f"no method {self.method!r}; there are:\n"
                + "\n".join(f"  {one.name}: {one.about}" for one in METHODS.values())
            )
        task, method = task_of(self.game), METHODS[self.method]
        seeds, tell = list(range(self.first_seed, self.first_seed + self.seeds)), partial(say, console)
        folder = entry_folder(self.out, task, method, self.decisions)
        if not self.replace:
            check_row_is_free(folder, (*astuple(task), method.name, self.decisions), seeds, self.record)
        with full_disks_told_once(), SeedDisplays(console) as displays:
            entry = train_entry(
                self.out, task, method, seeds, decisions=self.decisions, threads=self.threads, stop=stop,
                watch=displays.show, say=tell, processes=self.processes, trust_folder=self.trust_folder,
            )  # fmt: skip
        if entry is None:
            return INTERRUPTED
        players = players_of(folder, entry)
        if self.replace:
            remove_others(players, self.record, self.curves)
        write_curves(folder, entry, self.curves)
        everybody, effort = [*fixed_players(task), *players], Effort(self.games, self.search_games)
        return 0 if measure(everybody, effort, self.record, stop, tell, self.processes) else INTERRUPTED


@dataclass(frozen=True)
class Check:
    """Check entries that somebody hands in: files, fields, and whether every agent plays.

    This runs the code of agents from Python files.
    """

    folders: Folders
    """Folders that hold an entry.json."""
    decisions: int = DECISIONS
    """Decisions that each run should have made."""
    seeds: int = LEAST_SEEDS
    """Minimum number of runs."""

    def run(self, console: Console, stop: threading.Event) -> int:
        """Returns 0 if nothing is wrong, else 1, or INTERRUPTED if it was stopped before the last run."""
        wrong = 0
        for folder in self.folders:
            code = _checked(folder, self.decisions, self.seeds, console, stop)
            if code == INTERRUPTED:
                return INTERRUPTED
            wrong |= code
        return wrong


@dataclass(frozen=True)
class Measure:
    """Check entries, play their agents, and add results and curves to the record."""

    folders: Folders
    """Folders that hold an entry.json."""
    decisions: int = DECISIONS
    """Decisions that each run should have made."""
    seeds: int = LEAST_SEEDS
    """Minimum number of runs."""
    games: int = GAMES
    """Games of each agent against each bot of the pool."""
    search_games: int = SEARCH_GAMES
    """Games of each agent against the search. 0 leaves the search out."""
    replace: Flag = False
    """Remove other agents that the record has under the same name, with their curves."""
    processes: int = 1
    """Number of pairings that are played side by side. Their games are the same as one after the other."""
    record: Path = RESULTS
    """The record of results, a CSV file."""
    curves: Path = CURVES
    """The record of learning curves, a CSV file."""

    def run(self, console: Console, stop: threading.Event) -> int:
        """Returns 1 if an entry is wrong, and then plays none of it."""
        for folder in self.folders:
            if code := _checked(folder, self.decisions, self.seeds, console, stop):
                return code
            entry = read_entry(folder)
            players = players_of(folder, entry)
            if self.replace:
                remove_others(players, self.record, self.curves)
            else:
                check_not_taken(players, self.record)
            write_curves(folder, entry, self.curves)
            everybody, effort = [*fixed_players(entry.task), *players], Effort(self.games, self.search_games)
            if not measure(everybody, effort, self.record, stop, partial(say, console), self.processes):
                return INTERRUPTED
        return 0


@dataclass(frozen=True)
class References:
    """Measure the bots that define the score, the rest of the pool, and the search."""

    only: Annotated[tuple[str, ...], optional("GAME ...")] = ()
    """Names or ids of games. Without it, all games."""
    games: int = GAMES
    """Games of each bot against each bot of the pool."""
    search_games: int = SEARCH_GAMES
    """Games of each bot against the search, and of the search against the pool. 0 leaves the search out."""
    processes: int = 1
    """Number of pairings that are played side by side. Their games are the same as one after the other."""
    record: Path = RESULTS
    """The record of results, a CSV file."""

    def run(self, console: Console, stop: threading.Event) -> int:
        """Play what the record lacks."""
        players = [player for task in _tasks(self.only) for player in fixed_players(task)]
        effort, tell = Effort(self.games, self.search_games), partial(say, console)
        return 0 if measure(players, effort, self.record, stop, tell, self.processes) else INTERRUPTED


@dataclass(frozen=True)
class Attack:
    """Attack published networks with the same budget. The best of several attackers counts."""

    agents: Annotated[tuple[str, ...], optional("AGENT ...")] = ()
    """Bots to attack, such as bc-v1 or greedy, in all games that they play. Without it, every published network."""
    only: Annotated[tuple[str, ...], optional("GAME ...")] = ()
    """Names or ids of games. Without it, all games."""
    attackers: int = ATTACKERS
    """Number of attackers per bot, with seeds 0, 1, ... and a high, a middle and a low learning rate in turn."""
    decisions: int = ATTACKER_DECISIONS
    """Decisions of each attacker in training."""
    games: int = GAMES
    """Games of the result, and of the choice of the best attacker. Half as many choose the checkpoint of each."""
    out: Path = Path("runs/attacks")
    """Folder for the attackers."""
    record: Path = ATTACKS
    """The record of results, a CSV file."""
    trust_folder: Flag = False
    """Continue attackers even if their folders belong to another user or others may write to them."""

    def run(self, console: Console, stop: threading.Event) -> int:
        """Attack one bot after the other."""
        from agents.benchmark.robustness import Siege, attack, named_agents, published_agents
        from agents.progress import Display, full_disks_told_once

        tasks, tell = _tasks(self.only), partial(say, console)
        pairs = named_agents(tasks, self.agents, tell) if self.agents else published_agents(tasks)
        for task, agent in pairs:
            siege = Siege(task, agent, self.attackers, self.decisions, self.games, self.out, self.trust_folder)
            display = Display(console, ratings=False)
            with full_disks_told_once(), display.progress:
                line = attack(siege, self.record, stop, display, tell)
            if line is None:
                return INTERRUPTED
            say(console,
                f"{agent} in {task.name}: the best attacker wins {line.wins:.1%} ({line.low:.1%} .. {line.high:.1%}), "
                f"an equal share is {line.equal_share:.1%}")  # fmt: skip
        return 0


@dataclass(frozen=True)
class Exact:
    """Compute NashConv in reduced games with OpenSpiel: CFR, PPO, search, greedy and uniform play.

    Ctrl-C keeps the lines that are finished. The same command begins again.
    """

    only: Annotated[tuple[str, ...], optional("GAME ...")] = ()
    """Names of games. Without it, all reduced games."""
    iterations: int = CFR_ITERATIONS
    """Iterations of CFR."""
    decisions: int = PPO_DECISIONS
    """Decisions of each PPO run."""
    seeds: int = PPO_SEEDS
    """Number of PPO runs, with seeds 0, 1, ..."""
    record: Path = EXACT
    """The record of results, a CSV file."""

    def run(self, console: Console, stop: threading.Event) -> int:
        """Measure all of it, also what the record has."""
        from agents.benchmark.exact import REDUCED, Amounts
        from agents.benchmark.exact import measure as measure_exactly

        chosen = [game for game in REDUCED if not self.only or game.name in self.only]
        if unknown := set(self.only) - {game.name for game in REDUCED}:
            raise BotError(
                f"no reduced game {', '.join(sorted(unknown))}; there are: {', '.join(game.name for game in REDUCED)}"
            )

        def told(line: ExactLine) -> None:
            write_lines(self.record, [line], ExactLine)
            say(
                console,
                f"{line.game}: {line.policy} {line.amount or ''} seed {line.seed}: NashConv {line.nash_conv:.4f}, "
                f"{line.seconds:.0f} s",
            )

        for game in chosen:
            if not measure_exactly(game, Amounts(self.iterations, self.decisions, self.seeds), told, stop):
                return INTERRUPTED
        return 0


@dataclass(frozen=True)
class Report:
    """Print the tables of the records, and write docs/benchmark.md and its picture."""

    page: Flag = True
    """Only print the tables, and leave the page and its picture as they are."""
    record: Annotated[Path | None, optional("PATH")] = None
    """Only print the tables of this record of results, as measure --record PATH writes it."""

    def run(self, console: Console, stop: threading.Event) -> int:
        """Print and write, without measuring anything."""
        from agents.benchmark.report import show, show_results, write_page, write_picture

        if self.record is not None:
            if not self.record.exists():
                raise BotError(f"there is no {self.record}")
            show_results(console, self.record)
            return 0
        show(console)
        if self.page:
            write_picture()
            write_page()
        return 0


def _tasks(names: tuple[str, ...]) -> tuple[Task, ...]:
    """The tasks of these games, each once; without names all."""
    return tuple(distinct(map(task_of, names))) or TASKS


def _checked(folder: Path, decisions: int, seeds: int, console: Console, stop: threading.Event) -> int:
    """Say what is wrong with an entry. 0 if that is nothing, else 1, or INTERRUPTED if it was stopped before."""
    problems = check(folder, decisions, seeds, partial(say, console), stop)
    if problems is None:
        return INTERRUPTED
    for problem in problems or ["nothing is wrong"]:
        say(console, f"{folder}: {problem}")
    return int(bool(problems))


def _check_settings(command: Any) -> None:
    """Folders must be named. Every whole number but a seed is an amount of something, and only the search may be left
    out."""
    for field in fields(command):
        amount = getattr(command, field.name)
        if field.name == "folders" and not amount:
            raise BotError("no folder is named; name at least one that holds an entry.json")
        if type(amount) is int:
            least = 0 if field.name in ("search_games", "first_seed") else 1
            need(command, field.name, amount >= least, f"an integer from {least} on")


COMMANDS: Any = Run | Check | Measure | References | Attack | Exact | Report


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; the exit code."""
    console = make_console()
    with plain_ending():
        command = parse(COMMANDS, "agents.benchmark", __doc__, argv)
        _check_settings(command)
        with stop_on_signals(console, STOPPING) as stop:
            return command.run(console, stop)


if __name__ == "__main__":
    sys.exit(main())
