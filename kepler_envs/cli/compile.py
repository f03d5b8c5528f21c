"""``kepler-envs compile``."""

from __future__ import annotations

import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Annotated

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from tyro.conf import Positional, arg

from kepler_envs import registry
from kepler_envs.cli.common import UsageError, find_game, say
from kepler_envs.engine.game import Game
from kepler_envs.engine.kernel import JIT_ENABLED
from kepler_envs.engine.warmup import compile_game

_COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())


@dataclass(frozen=True)
class Compile:
    """Compile games ahead of their first use and keep the code on disk."""

    games: Annotated[Positional[tuple[str, ...]], arg(metavar="GAME")] = ()
    """Games to compile; all of them if left out."""
    processes: Annotated[int | None, arg(metavar="N")] = None
    """Games compiled at the same time; as many as there are cores if left out."""

    def run(self, console: Console) -> int:
        games = [find_game(name) for name in self.games or registry.games()]
        if self.processes is not None and self.processes < 1:
            raise UsageError(f"--processes {self.processes} is not allowed; allowed: an integer from 1 on")
        if not JIT_ENABLED:
            console.print("NUMBA_DISABLE_JIT is set: nothing is compiled")
            return 0
        processes = min(len(games), self.processes or os.cpu_count() or 1)
        if processes == 1:
            for game in games:
                _compile_here(game, console)
        else:
            _compile_side_by_side(games, processes, console)
        return 0


def _compile_here(game: Game, console: Console) -> None:
    begun = time.perf_counter()
    with Progress(*_COLUMNS, console=console, transient=True) as bar:
        task = bar.add_task(game.id)

        def report(name: str, done: int, total: int) -> None:
            bar.update(task, description=f"{game.id}: {name}", completed=done, total=total)

        count = compile_game(game, report)
    _tell(game, count, time.perf_counter() - begun, console)


def _compile_side_by_side(games: list[Game], processes: int, console: Console) -> None:
    # spawned: a fork of a process in which numba runs threads may hang
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(processes, mp_context=context) as pool,
        Progress(*_COLUMNS, console=console, transient=True) as bar,
    ):
        task = bar.add_task(f"compiling on {processes} cores", total=len(games))
        running = {pool.submit(_compile_there, game): game for game in games}
        for done in as_completed(running):
            _tell(running[done], *done.result(), console)
            bar.advance(task)


def _compile_there(game: Game) -> tuple[int, float]:
    begun = time.perf_counter()
    return compile_game(game), time.perf_counter() - begun


def _tell(game: Game, count: int, seconds: float, console: Console) -> None:
    folder = game.scope.cache_folder()
    where = f"kept in {folder}" if folder else "not kept: no cache folder can be written"
    say(console, f"{game.id}: {count} kernels ready in {seconds:.1f} s, {where}")
