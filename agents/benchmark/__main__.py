"""The benchmark: train a method, check and measure what somebody hands in, and make the tables.

    python -m agents.benchmark run kitten_adventurers pieces          # train five seeds, then measure: one method in
    one game python -m agents.benchmark check their-entry                      # what is wrong with an entry that was
    handed in python -m agents.benchmark measure their-entry                    # play its agents and add them to the
    record python -m agents.benchmark references                             # the bots that scores are made of python
    -m agents.benchmark attack                                 # how exploitable the published agents are python -m
    agents.benchmark exact                                  # NashConv in reduced games python -m agents.benchmark
    report                                 # docs/benchmark.md from the records

Each goes on where it was interrupted. docs/benchmark.md says what is measured.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.console import Console
from tyro.conf import Positional

import kepler_envs
from agents.benchmark.entry import check, read_entry
from agents.benchmark.playing import Effort, check_not_taken, fixed_players, measure, players_of, write_curves
from agents.benchmark.protocol import DECISIONS, GAMES, LEAST_SEEDS, SEARCH_GAMES, TASKS, Task, task_of
from agents.benchmark.records import ATTACKS, CURVES, EXACT, RESULTS, ExactLine
from kepler_envs.bots.protocol import BotError
from kepler_envs.records import write_lines
from kepler_envs.terminal import make_console, say, stop_on_signals

STOPPING = "stopping after this update or these games; press again to stop at once"
INTERRUPTED = 130
"""Exit code after Ctrl-C."""


@dataclass(frozen=True)
class Run:
    """Train a method in a game from several seeds, then measure it: one row.

    Ctrl-C keeps what there is; the same command goes on.
    """

    game: Positional[str]
    """Name or id of the game."""
    method: Positional[str]
    """Name of the method; a wrong one is answered with all there are."""
    seeds: int = LEAST_SEEDS
    """Training runs: seeds 0, 1, ..."""
    decisions: int = DECISIONS
    """Of the learner in each run; another number makes a row of its own."""
    threads: int = 1
    """Of the learner."""
    games: int = GAMES
    """Of each agent against each bot of the pool."""
    search_games: int = SEARCH_GAMES
    """Of each agent against the search; 0: none."""
    out: Path = Path("runs/benchmark")
    """Folder: entries, which can be handed in, and the state of training."""
    record: Path = RESULTS
    """File of results."""
    curves: Path = CURVES
    """File of learning curves."""

    def run(self, console: Console, stop: threading.Event) -> int:
        """Train what is missing, then play what is missing."""
        from agents.benchmark.methods import METHODS
        from agents.benchmark.running import entry_folder, train_entry
        from agents.progress import Display, full_disks_told_once

        if self.method not in METHODS:
            raise BotError(
                f"no method {self.method!r}; there are:\n"
                + "\n".join(f"  {one.name}: {one.about}" for one in METHODS.values())
            )
        if self.seeds < 1 or self.decisions < 1:
            raise BotError(f"--seeds {self.seeds} --decisions {self.decisions} is not allowed; allowed: 1 and more")
        task, method = task_of(self.game), METHODS[self.method]
        display, tell = Display(console, ratings=False), partial(say, console)
        with full_disks_told_once(), display.progress:
            entry = train_entry(
                self.out, task, method, list(range(self.seeds)), self.decisions, self.threads, stop, display, tell
            )
        if entry is None:
            return INTERRUPTED
        folder = entry_folder(self.out, task, method, self.decisions)
        write_curves(folder, entry, self.curves)
        players = [*fixed_players(task), *players_of(folder, entry)]
        return 0 if measure(players, Effort(self.games, self.search_games), self.record, stop, tell) else INTERRUPTED


@dataclass(frozen=True)
class Check:
    """Check entries that somebody hands in: files, fields, and that every agent plays.

    The code of agents from Python files is run.
    """

    folders: Positional[tuple[Path, ...]]
    """Folders with an entry.json."""
    decisions: int = DECISIONS
    """Budget that the runs were to have."""
    seeds: int = LEAST_SEEDS
    """Least number of runs."""

    def run(self, console: Console, stop: threading.Event) -> int:
        """0 if nothing is wrong, else 1."""
        return int(not all([_is_right(folder, self.decisions, self.seeds, console) for folder in self.folders]))


@dataclass(frozen=True)
class Measure:
    """Check entries, play their agents, and add results and curves to the record."""

    folders: Positional[tuple[Path, ...]]
    """Folders with an entry.json."""
    decisions: int = DECISIONS
    """Budget that the runs were to have."""
    seeds: int = LEAST_SEEDS
    """Least number of runs."""
    games: int = GAMES
    """Of each agent against each bot of the pool."""
    search_games: int = SEARCH_GAMES
    """Of each agent against the search; 0: none."""
    replace: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Put agents in the place of others that the record has by the same name."""
    record: Path = RESULTS
    """File of results."""
    curves: Path = CURVES
    """File of learning curves."""

    def run(self, console: Console, stop: threading.Event) -> int:
        """1 if an entry is wrong; nothing of it is played then."""
        for folder in self.folders:
            if not _is_right(folder, self.decisions, self.seeds, console):
                return 1
            entry = read_entry(folder)
            players = players_of(folder, entry)
            if not self.replace:
                check_not_taken(players, self.record)
            write_curves(folder, entry, self.curves)
            if not measure(
                [*fixed_players(entry.task), *players],
                Effort(self.games, self.search_games),
                self.record,
                stop,
                partial(say, console),
            ):
                return INTERRUPTED
        return 0


@dataclass(frozen=True)
class References:
    """Measure the bots that scores are made of, the rest of the pool and the search."""

    only: tuple[str, ...] = ()
    """Names or ids of the games; all unless told."""
    games: int = GAMES
    """Of each bot against each bot of the pool."""
    search_games: int = SEARCH_GAMES
    """Of each bot against the search, and of the search; 0: none."""
    record: Path = RESULTS
    """File of results."""

    def run(self, console: Console, stop: threading.Event) -> int:
        """Play what the record lacks."""
        players = [player for task in _tasks(self.only) for player in fixed_players(task)]
        return (
            0
            if measure(players, Effort(self.games, self.search_games), self.record, stop, partial(say, console))
            else INTERRUPTED
        )


@dataclass(frozen=True)
class Attack:
    """Attack every published agent with the same budget; the best of several attackers counts."""

    agents: tuple[str, ...] = ()
    """Agents to attack, such as bc-v1 or greedy; every published one unless told."""
    only: tuple[str, ...] = ()
    """Names or ids of the games; all unless told."""
    attackers: int = 3
    """On each agent: seeds 0, 1, ..."""
    decisions: int = 1_000_000
    """Of each attacker in training."""
    games: int = 2000
    """That choose the best attacker, and as many others for the result."""
    out: Path = Path("runs/attacks")
    """Folder for the attackers."""
    record: Path = ATTACKS
    """File of results."""

    def run(self, console: Console, stop: threading.Event) -> int:
        """Attack one after the other."""
        from agents.benchmark.robustness import Siege, attack, published_agents
        from agents.progress import Display, full_disks_told_once

        if self.attackers < 1:
            raise BotError(f"--attackers {self.attackers} is not allowed; allowed: 1 and more")
        tasks = _tasks(self.only)
        pairs = [(task, agent) for task in tasks for agent in self.agents] or published_agents(tasks)
        for task, agent in pairs:
            siege = Siege(task, agent, self.attackers, self.decisions, self.games, self.out)
            display = Display(console, ratings=False)
            with full_disks_told_once(), display.progress:
                line = attack(siege, self.record, stop, display, partial(say, console))
            if line is None:
                return INTERRUPTED
            say(console,
                f"{agent} in {task.name}: the best attacker wins {line.wins:.1%} ({line.low:.1%} .. {line.high:.1%}), "
                f"an equal share is {line.equal_share:.1%}")  # fmt: skip
        return 0


@dataclass(frozen=True)
class Exact:
    """NashConv in reduced games, through OpenSpiel: CFR, PPO, search, greedy and uniform play."""

    only: tuple[str, ...] = ()
    """Names of the games; all unless told."""
    iterations: int = 50
    """Of CFR."""
    decisions: int = 300_000
    """Of each PPO run."""
    seeds: int = 3
    """PPO runs: seeds 0, 1, ..."""
    record: Path = EXACT
    """File of results."""

    def run(self, console: Console, stop: threading.Event) -> int:
        """Measure; what the record has is measured anew."""
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
            measure_exactly(game, Amounts(self.iterations, self.decisions, self.seeds), told)
        return 0


@dataclass(frozen=True)
class Report:
    """Print the tables of the records, and write docs/benchmark.md and its picture."""

    page: Annotated[bool, tyro.conf.FlagCreatePairsOff] = True
    """Write the page; else only print."""

    def run(self, console: Console, stop: threading.Event) -> int:
        """Nothing is measured."""
        from agents.benchmark.report import show, write_page, write_picture

        show(console)
        if self.page:
            write_picture()
            write_page()
        return 0


def _tasks(names: tuple[str, ...]) -> tuple[Task, ...]:
    return tuple(map(task_of, names)) or TASKS


def _is_right(folder: Path, decisions: int, seeds: int, console: Console) -> bool:
    problems = check(folder, decisions, seeds, partial(say, console))
    for problem in problems:
        say(console, f"{folder}: {problem}")
    if not problems:
        say(console, f"{folder}: nothing is wrong")
    return not problems


COMMANDS: Any = Run | Check | Measure | References | Attack | Exact | Report


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    console = make_console()
    try:
        command = tyro.cli(COMMANDS, args=argv, prog="python -m agents.benchmark", description=__doc__)
        with stop_on_signals(console, STOPPING) as stop:
            return command.run(console, stop)
    except (BotError, kepler_envs.OptionError, KeyError) as error:
        sys.exit(str(error.args[0]))
    except OSError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    sys.exit(main())
