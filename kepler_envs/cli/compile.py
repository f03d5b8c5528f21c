"""``kepler-envs compile``."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from tyro.conf import Positional, arg

from kepler_envs import registry
from kepler_envs.cli.common import find_game, say
from kepler_envs.engine.game import Game
from kepler_envs.engine.kernel import JIT_ENABLED
from kepler_envs.engine.warmup import compile_game


@dataclass(frozen=True)
class Compile:
    """Compile games ahead of their first use and keep the code on disk."""

    games: Annotated[Positional[tuple[str, ...]], arg(metavar="GAME")] = ()
    """Games to compile; all of them if left out."""

    def run(self, console: Console) -> int:
        games = [find_game(name) for name in self.games or registry.games()]
        if not JIT_ENABLED:
            console.print("NUMBA_DISABLE_JIT is set: nothing is compiled")
            return 0
        for game in games:
            _compile(game, console)
        return 0


def _compile(game: Game, console: Console) -> None:
    begun = time.perf_counter()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(game.id)

        def report(name: str, done: int, total: int) -> None:
            bar.update(task, description=f"{game.id}: {name}", completed=done, total=total)

        count = compile_game(game, report)
    folder = game.scope.cache_folder()
    where = f"kept in {folder}" if folder else "not kept: no cache folder can be written"
    seconds = time.perf_counter() - begun
    say(console, f"{game.id}: {count} kernels ready in {seconds:.1f} s, {where}")
