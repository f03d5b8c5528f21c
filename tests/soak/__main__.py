"""``python -m tests.soak``; see the package."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

os.environ["NUMBA_BOUNDSCHECK"] = "1"  # before numba is imported, here and in the processes

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from kepler_envs.processes import FRESH
from kepler_envs.registry import list_games
from kepler_envs.revision import commit
from kepler_envs.terminal import make_console
from tests.soak.games import ROWS, STEPS
from tests.soak.trials import CYCLE, KINDS, Trial, run

MOST_FINDINGS = 20
"""A run ends at so many."""


class Soak:
    """A run: trials until the time is over or every game has had its decisions.

    Attributes:
        tried: what was tried, by game. findings: trial and traceback.
    """

    def __init__(self, names: Sequence[str], kinds: Sequence[str], seed: int) -> None:
        self.kinds = [kind for kind in CYCLE if kind in kinds]
        self.tried = {name: Counter[str]() for name in names}
        self.findings: list[tuple[Trial, str]] = []
        self._begun: Counter[str] = Counter()
        self._expected: Counter[str] = Counter()
        self._seed = seed

    def next_trial(self) -> Trial:
        """For the game that has had the fewest decisions; kinds follow one another as in CYCLE."""
        name = min(self.tried, key=lambda game: self._expected[game])
        number = self._begun[name]
        self._begun[name] += 1
        kind = self.kinds[number % len(self.kinds)]
        self._expected[name] += ROWS * STEPS if kind == "games" else 1
        return Trial(kind, name, self._seed + number)

    def enough(self, decisions: int | None, deadline: float | None) -> bool:
        """Whether no further trial need begin."""
        over = deadline is not None and time.monotonic() > deadline
        if over or len(self.findings) >= MOST_FINDINGS:
            return True
        return decisions is not None and all(self._expected[name] >= decisions for name in self.tried)

    def note(self, trial: Trial, tried: Counter[str], problem: str, console: Console) -> None:
        """Add what a trial tried, and say at once what it found."""
        self.tried[trial.game] += tried
        if problem:
            self.findings.append((trial, problem))
            words = f"Found by python -m tests.soak --repeat {trial}\n{problem}"
            console.print(words, markup=False, soft_wrap=True)

    def table(self) -> Table:
        """What was tried, a row a thing, a column a game."""
        table = Table(title="Tried", title_justify="left")
        table.add_column("", no_wrap=True)
        for name in self.tried:
            table.add_column(name, justify="right")
        for what in dict.fromkeys(key for counter in self.tried.values() for key in counter):
            table.add_row(what, *(f"{counter[what]:,}" for counter in self.tried.values()))
        return table


def soak(run_: Soak, decisions: int | None, minutes: float | None, processes: int, console: Console) -> None:
    """Run trials side by side; Ctrl-C ends the run with what it has."""
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("soak", total=None)
        pool, running = _pool(processes), dict[Future, Trial]()
        try:
            while running or not run_.enough(decisions, deadline):
                while len(running) < processes and not run_.enough(decisions, deadline):
                    trial = run_.next_trial()
                    running[pool.submit(run, trial)] = trial
                done, _ = wait(running, timeout=1, return_when=FIRST_COMPLETED)
                for future in done:
                    trial = running.pop(future)
                    try:
                        run_.note(trial, *future.result(), console)
                    except BrokenProcessPool:
                        lost = ", ".join(map(str, (trial, *running.values())))
                        run_.note(trial, Counter(), f"a process died, in one of {lost}", console)
                        running, pool = {}, _pool(processes)
                        break
                counts = ", ".join(f"{name} {tried['decisions'] / 1e6:.1f} M" for name, tried in run_.tried.items())
                progress.update(task, description=f"{counts}; {len(run_.findings)} findings")
        except KeyboardInterrupt:
            console.print("interrupted; what was tried so far:")
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _pool(processes: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, FRESH)


def main(argv: Sequence[str] | None = None) -> int:
    """0: nothing found, 1: findings, each with the command that repeats it."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description="Play everything there is and check it.")
    parser.add_argument("--minutes", type=float, help="for so long; 10 unless --decisions is given")
    parser.add_argument("--decisions", type=int, help="until every game has had so many decisions")
    parser.add_argument("--games", nargs="+", choices=list_games(), default=list_games(), help="these only")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="these kinds of trials only")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the first trial of every game")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="trials side by side")
    parser.add_argument("--repeat", type=Trial.parse, help="run one trial again, KIND:GAME:SEED")
    asked = parser.parse_args(argv)
    console = make_console()
    if asked.repeat:
        tried, problem = run(asked.repeat)
        console.print("\n".join(f"{count:,} {what}" for what, count in tried.items()), problem, markup=False)
        return int(bool(problem))
    run_ = Soak(asked.games, asked.kinds, asked.seed)
    minutes = 10.0 if asked.minutes is None and asked.decisions is None else asked.minutes
    soak(run_, asked.decisions, minutes, asked.processes, console)
    console.print(run_.table())
    console.print(f"seeds from {asked.seed} on, commit {commit(12) or 'unknown'}; {len(run_.findings)} findings")
    return int(bool(run_.findings))


if __name__ == "__main__":
    sys.exit(main())
