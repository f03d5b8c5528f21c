"""``kepler-envs compile``."""

from __future__ import annotations

import os
import time
from concurrent.futures import as_completed
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from tyro.conf import Positional

from kepler_envs import registry
from kepler_envs.bots.warmup import NETWORK_SCOPE, network_kernels
from kepler_envs.bots.warmup import kernels as bot_kernels
from kepler_envs.cli.codes import INTERRUPTED
from kepler_envs.cli.common import Flag, UsageError, optional
from kepler_envs.engine import shipped
from kepler_envs.engine.code_cache import Scope, without_shipped
from kepler_envs.engine.game import Game
from kepler_envs.engine.kernel import JIT_ENABLED
from kepler_envs.engine.progress import silence
from kepler_envs.engine.warmup import Kernels, Report, compile_kernels, kernels
from kepler_envs.printable import counted
from kepler_envs.processes import fresh_processes
from kepler_envs.terminal import say, signals_held_back, termination_interrupts

_COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())


@dataclass(frozen=True)
class Compile:
    """Compile games and agents ahead of time and keep the code on disk."""

    games: Annotated[Positional[tuple[str, ...]], optional(metavar="[GAME ...]")] = ()
    """Games to compile. All of them if left out."""
    processes: Annotated[int | None, optional(metavar="N")] = None
    """Number of games to compile at once. One per core if left out."""
    agents: Flag = True
    """Skip what the agents need: greedy, mcts and networks."""
    native: Flag = False
    """Recompile for this processor what came compiled with the package, and use that from now on."""

    def run(self, console: Console) -> int:
        games = [registry.load_game(name) for name in self.games] or registry.load_games()
        if self.processes is not None and self.processes < 1:
            raise UsageError(f"--processes {self.processes} is not allowed; allowed: an integer from 1 on")
        if not JIT_ENABLED:
            console.print("NUMBA_DISABLE_JIT is set: nothing is compiled")
            return 0
        try:
            with termination_interrupts():
                self._compile_games(games, console)
        except KeyboardInterrupt:
            say(console, "\nStopped; what was compiled is kept.")
            return INTERRUPTED
        return 0

    def _compile_games(self, games: list[Game], console: Console) -> None:
        parts = [*([NETWORKS] if self.agents else []), *(Part(game, self.agents) for game in games)]
        processes = min(len(parts), self.processes or os.cpu_count() or 1)
        if processes == 1:
            for part in parts:
                _compile_here(part, self.native, console)
        else:
            _compile_side_by_side(parts, self.native, processes, console)


@dataclass(frozen=True)
class Part:
    """What is compiled in one go: a game, with or without what its agents need, or networks, which are the same for all
    games."""

    game: Game | None
    agents: bool

    @property
    def name(self) -> str:
        """As the lines of the command have it."""
        return self.game.id if self.game else "networks"

    @property
    def scope(self) -> Scope:
        """Says where the compiled code is."""
        return self.game.scope if self.game else NETWORK_SCOPE

    def kernels(self) -> Kernels:
        """Those of the game itself. Those with which networks learn need PyTorch, so they are left out without it."""
        return kernels(self.game) if self.game else network_kernels(learning=find_spec("torch") is not None)

    def agent_kernels(self) -> Kernels:
        """Those of its agents."""
        return bot_kernels(self.game) if self.game and self.agents else ()


NETWORKS = Part(None, agents=True)


class Done(NamedTuple):
    """Kernels of a part and of its agents that were compiled or loaded from the cache, and the seconds they took."""

    kernels: int
    seconds: float
    agent_kernels: int
    agent_seconds: float


def _compile_here(part: Part, native: bool, console: Console) -> None:
    with Progress(*_COLUMNS, console=console, transient=True) as bar:
        task = bar.add_task(part.name)

        def report(name: str, done: int, total: int) -> None:
            bar.update(task, description=f"{part.name}: {name}", completed=done, total=total)

        done = _compile(part, native, report)
    _tell(part, done, console)


def _compile_side_by_side(parts: list[Part], native: bool, processes: int, console: Console) -> None:
    with (
        fresh_processes(processes) as pool,
        Progress(*_COLUMNS, console=console, transient=True) as bar,
    ):
        task = bar.add_task(f"compiling on {counted(processes, 'core')}", total=len(parts))
        with signals_held_back():  # the pool starts its processes now
            running = {pool.submit(_compile, part, native): part for part in parts}
        for done in as_completed(running):
            _tell(running[done], done.result(), console)
            bar.advance(task)


def _compile(part: Part, native: bool, report: Report | None = None) -> Done:
    with silence(), without_shipped() if native else nullcontext():
        begun = time.perf_counter()
        count = compile_kernels(part.kernels(), report)
        between = time.perf_counter()
        agent_count = compile_kernels(part.agent_kernels(), report)
        return Done(count, between - begun, agent_count, time.perf_counter() - between)


def _tell(part: Part, done: Done, console: Console) -> None:
    agents = f", {done.agent_kernels} of agents in {done.agent_seconds:.1f} s" if done.agent_kernels else ""
    ready = f"{counted(done.kernels, 'kernel')} ready in {done.seconds:.1f} s{agents}"
    say(console, f"{part.name}: {ready}, {_place(part.scope)}")


def _place(scope: Scope) -> str:
    """Say where the compiled code is."""
    for folder in scope.kept_in():
        return f"kept in {folder.parent}"
    if scope.came_with_package():
        return f"as they came with kepler_envs, for {shipped.CPU}; --native compiles them for this processor"
    return "not kept: no cache folder can be used"
