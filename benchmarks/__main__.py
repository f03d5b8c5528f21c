"""Measure how fast kepler_envs is on this machine.

Everything is measured in one run, both sides of a ratio in turn. The table shows medians; benchmarks/README.md explains
the rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import kepler_envs
from agents.ending import plain_ending
from benchmarks import figures, machine
from benchmarks.engine_speed import aec_loop, clone_cost, engine_and_batch, games_table, threads
from benchmarks.imitation import IMITATED, imitation
from benchmarks.learner import AGAINST_V0, ROWS_ON_GPU, learner, learner_against_v0, learner_on_gpu
from benchmarks.observation import observation
from benchmarks.ray_speed import ray_tournament
from benchmarks.sampling import GAME, PLAYERS, Row, Settings
from benchmarks.search_speed import guided_search_table, search_table
from benchmarks.start_up import compiled_wheels, differing, start_up
from benchmarks.tournament_speed import tournament
from benchmarks.training import BY_PART, training_share
from benchmarks.v0 import V0_COMMIT, has_v0
from kepler_envs.cli.codes import INTERRUPTED
from kepler_envs.cli.common import UsageError, parse
from kepler_envs.terminal import make_console, say

Part = Callable[[Settings], list[Row]]

LONG = (imitation,)
"""Parts that take an hour or more. They run only if you name them."""

MAY_LACK: dict[Part, str] = {
    imitation: IMITATED,
    learner_on_gpu: ROWS_ON_GPU,
    learner_against_v0: AGAINST_V0,
    training_share: BY_PART,
}
"""Parts that a record may have no rows of, as they take hours, need a GPU or are younger, and what is in the names of
their rows."""


PARTS = (
    engine_and_batch,
    threads,
    aec_loop,
    clone_cost,
    games_table,
    observation,
    search_table,
    guided_search_table,
    tournament,
    ray_tournament,
    start_up,
    training_share,
    learner,
    learner_against_v0,
    learner_on_gpu,
    *LONG,
)


def main() -> int:
    """Measure what is asked for; the exit code."""
    names = ", ".join(part.__name__ for part in PARTS)
    with plain_ending():
        settings = parse(Settings, "benchmarks", f"{__doc__}\nThe parts are: {names}.")
        return run(settings, make_console())


def run(settings: Settings, console: Console) -> int:
    """Returns 0, or 130 after Ctrl-C: what was measured until then is shown, and recorded with ``--only``."""
    settings.check()
    parts, source = chosen_parts(settings.only), figures.source()
    if settings.record is not None:
        _check_record(settings.record, settings, parts)
    if settings.quick:
        settings = replace(settings, seconds=0.1, repetitions=3, ppo_steps=min(settings.ppo_steps, 10_000))
        settings = replace(settings, positions=min(settings.positions, 20_000), minutes=min(settings.minutes, 1.0))
    say(console, machine.describe())
    rows, whole = measure(parts, settings, console)
    console.print(as_table(rows))
    if settings.record is not None:
        say(console, _record(settings.record, source, rows, bool(settings.only), whole))
    return 0 if whole else INTERRUPTED


def measure(parts: Sequence[Part], settings: Settings, console: Console) -> tuple[list[Row], bool]:
    """The rows of these parts, and whether they are all there: Ctrl-C leaves out the part it hits and those after."""
    rows: list[Row] = []
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("measuring", total=len(parts))
        for part in parts:
            progress.update(task, description=(part.__doc__ or "").partition("\n")[0])
            try:
                rows += part(settings)
            except KeyboardInterrupt:
                return rows, False
            progress.advance(task)
    return rows, True


def _record(path: Path, source: figures.Source, rows: list[Row], some: bool, whole: bool) -> str:
    """Write rows to a record, ``some`` in place of those it has. Returns what was done."""
    if some:
        figures.write(figures.read(path).with_rows(source, rows), path)
    elif whole:
        figures.write(figures.Figures(source, tuple(rows)), path)
    else:
        return "interrupted: a record needs a whole run, nothing is written"
    return f"written: {path}"


def chosen_parts(only: Sequence[str]) -> list[Part]:
    """The parts with these names; without names, all but the long ones."""
    known = {part.__name__: part for part in PARTS}
    if unknown := set(only) - set(known):
        raise UsageError(f"there is no part {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    return [part for name, part in known.items() if (name in only if only else part not in LONG)]


def _check_record(record: Path, settings: Settings, parts: Sequence[Part]) -> None:
    """Raise UsageError unless what is measured now may go into the record."""
    if settings.quick:
        raise UsageError("--record keeps figures to quote: leave out --quick")
    if settings.only and not record.is_file():
        raise UsageError(f"--only measures parts of a record again, and there is no {record}: leave it out")
    if settings.only:
        _check_rows(figures.read(record), parts)
    if start_up in parts:
        _check_wheel()
    if {observation, learner_against_v0} & set(parts) and not has_v0():
        raise UsageError(
            f"--record compares with v0, and this clone lacks v0's commit {V0_COMMIT}: git fetch --unshallow"
        )


def _check_rows(found: figures.Figures, parts: Sequence[Part]) -> None:
    """Raise UsageError if the record has no row of one of these parts."""
    for part in parts:
        name = MAY_LACK.get(part, "")
        if not any(name in row.what for row in found.rows):
            raise UsageError(f"the record has no rows of {part.__name__} that --only could measure again: leave it out")


def _check_wheel() -> None:
    """Raise UsageError unless there is a wheel to measure, of the sources whose commit the record names."""
    remedy = f"make dist PYTHONS={sys.executable}"
    wheels = compiled_wheels()
    if not wheels:
        raise UsageError(f"--record needs the wheel to measure: {remedy}")
    if names := differing(wheels[-1]):
        raise UsageError(f"dist/{wheels[-1].name} has another {names[0]} than this checkout: {remedy}")


def as_table(rows: list[Row]) -> Table:
    """The figures for a terminal."""
    table = Table(title=f"kepler_envs {kepler_envs.__version__}, {GAME}, {PLAYERS} players unless said")
    for column in ("what", "measured", "target", ""):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(row.what, row.value, row.target, {True: "met", False: "MISSED", None: ""}[row.met])
    return table


if __name__ == "__main__":
    sys.exit(main())
