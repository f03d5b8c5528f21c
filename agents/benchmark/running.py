"""Training a method in a game from several seeds into an entry, one seed after the other or side by side."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from agents.benchmark.entry import FILE, Entry, TrainedRun, read_entry, write_entry
from agents.benchmark.methods import CURVE, Curve, Job, Method, Watch
from agents.benchmark.protocol import Task
from agents.benchmark.side_by_side import side_by_side
from agents.status import Status
from kepler_envs.bots.protocol import BotError
from kepler_envs.machine import processor
from kepler_envs.revision import commit

WatchSeed = Callable[[int, Status], None]
"""Called with a seed and the progress of its run."""


def entry_folder(out: Path, task: Task, method: Method, decisions: int) -> Path:
    """The folder of an entry below the folder of all entries."""
    return out / "entries" / task.name / f"{method.name}-{decisions}"


def train_entry(
    out: Path,
    task: Task,
    method: Method,
    seeds: list[int],
    *,
    decisions: int,
    threads: int,
    stop: threading.Event,
    watch: WatchSeed = lambda seed, status: None,
    say: Callable[[str], None] = lambda line: None,
    processes: int = 1,
    trust_folder: bool = False,
) -> Entry | None:
    """Train what the entry lacks. None if it was stopped before the last seed.

    The folder ``training`` beside the entries holds the state of training. It is no part of the entry.

    Args:
        processes: how many seeds train side by side. Their agents are the same as one after the other.
        trust_folder: continue runs even if others may write to their folders, whose code is run.

    Raises:
        BotError: a folder is not trusted.
        ChildProcessError: a process was killed.
    """
    folder = entry_folder(out, task, method, decisions)
    entry = _begun(folder, task, method, decisions)
    training = out / "training" / task.name / f"{method.name}-{decisions}"
    jobs = [
        Job(task, seed, decisions, training / f"seed-{seed}", folder / f"seed-{seed}", threads, trust_folder)
        for seed in seeds
        if all(run.seed != seed for run in entry.runs)
    ]
    together = min(processes, len(jobs))
    train = partial(_train_side_by_side, processes=together) if together > 1 else _in_turn
    runs = train(method, jobs, stop=stop, watch=watch)
    if jobs:
        numbers = ", ".join(str(job.seed) for job in jobs)
        say(f"{task.name}: {method.name}, {decisions:,} decisions, seeds {numbers}")
    for run in runs:
        entry = replace(
            entry,
            runs=tuple(sorted((*entry.runs, run), key=lambda one: one.seed)),
            code=_with(entry.code, ", ", commit() or "unknown"),
            hardware=_with(entry.hardware, "; ", _hardware(threads)),
        )
        write_entry(folder, entry)
    return entry if {run.seed for run in entry.runs}.issuperset(seeds) else None


def _begun(folder: Path, task: Task, method: Method, decisions: int) -> Entry:
    """The entry so far, which names the machines and the code of those runs that it has."""
    if (folder / FILE).exists():
        entry = read_entry(folder)
        if (entry.task, entry.method, entry.budget) != (task, method.name, decisions):
            raise BotError(
                f"{folder} holds {entry.method} in {entry.task.name} with {entry.budget:,} decisions; use another --out"
            )
        return entry
    command = f"{method.command.replace('GAME', task.game.partition('-v')[0])} (settings: agents/benchmark/methods.py)"
    return Entry(
        task.game, task.players, method.name, method.kind, method.about, command, "", decisions, method.known, "", ()
    )  # fmt: skip


def _hardware(threads: int) -> str:
    return f"{processor()}, {threads} of {os.cpu_count()} cores"


def _with(known: str, comma: str, one: str) -> str:
    """A list in words, with one more entry unless it has that."""
    entries = known.split(comma) if known else []
    return known if one in entries else comma.join([*entries, one])


def _train(method: Method, job: Job, stop: threading.Event, watch: Watch) -> TrainedRun | None:
    curve = Curve(job.curve)

    def both(status: Status) -> None:
        if status.evaluated:
            curve.add(status)
        watch(status)

    done = method.train(job, stop, both)
    if done is None:
        return None
    own = job.agent.name
    kind, colon, file = done.spec.rpartition("python:")
    hours = float(f"{done.hours:.4g}")  # digits, not places: the shortest run took some time, too
    return TrainedRun(job.seed, done.decisions, hours, f"{kind}{colon}{own}/{file}", f"{own}/{CURVE}")


def _in_turn(method: Method, jobs: Sequence[Job], stop: threading.Event, watch: WatchSeed) -> Iterator[TrainedRun]:
    """Train jobs one after the other, up to the first that was stopped."""
    for job in jobs:
        run = _train(method, job, stop, partial(watch, job.seed))
        if run is None:
            return
        yield run


def _train_side_by_side(
    method: Method, jobs: Sequence[Job], processes: int, stop: threading.Event, watch: WatchSeed
) -> Iterator[TrainedRun]:
    """Train jobs in so many processes."""
    return side_by_side(partial(_train_and_tell, method), jobs, processes, stop, lambda told: watch(*told))


def _train_and_tell(
    method: Method, job: Job, stop: threading.Event, tell: Callable[[tuple[int, Status]], None]
) -> TrainedRun | None:
    return _train(method, job, stop, lambda status: tell((job.seed, status)))
