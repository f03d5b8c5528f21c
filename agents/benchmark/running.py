"""Training a method in a game from several seeds into an entry, one seed after the other or side by side."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from agents.benchmark.entry import FILE, Entry, TrainedRun, read_entry, write_entry
from agents.benchmark.methods import CURVE, Curve, Job, Method, Watch
from agents.benchmark.protocol import Task
from agents.run import Status
from kepler_envs.bots.protocol import BotError
from kepler_envs.machine import processor
from kepler_envs.processes import FRESH, fresh_processes
from kepler_envs.revision import commit
from kepler_envs.terminal import ignore_interrupts, interrupts_held_back

WatchSeed = Callable[[int, Status], None]
"""Called with a seed and the progress of its run."""
SECONDS_BETWEEN_LOOKS = 0.2
"""Of the process that waits for others."""


def entry_folder(out: Path, task: Task, method: Method, decisions: int) -> Path:
    """The folder of an entry below the folder of all entries."""
    return out / "entries" / task.name / f"{method.name}-{decisions}"


def train_entry(
    out: Path,
    task: Task,
    method: Method,
    seeds: list[int],
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
    runs = _side_by_side(method, jobs, together, stop, watch) if together > 1 else _in_turn(method, jobs, stop, watch)
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


# ---------------------------------------------------------------- side by side

_stopping: Any = None
"""In a process that trains: the event that stops all of them."""
_statuses: Any = None
"""In a process that trains: where it puts (seed, status)."""
_training = threading.Lock()
"""In a process that trains: held while it does."""


def _side_by_side(
    method: Method, jobs: Sequence[Job], processes: int, stop: threading.Event, watch: WatchSeed
) -> Iterator[TrainedRun]:
    """Train jobs in so many processes. What one of them raises stops the others, which save what they have."""
    stopping, statuses = FRESH.Event(), FRESH.SimpleQueue()
    problems: list[BaseException] = []
    with fresh_processes(processes, _begin_process, (stopping, statuses)) as pool:
        with interrupts_held_back():  # the pool starts its processes now
            under_way = {pool.submit(_train_in_process, method, job) for job in jobs}
        while under_way:
            done, under_way = wait(under_way, SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)
            while not statuses.empty():
                watch(*statuses.get())
            for future in done:
                if problem := future.exception():
                    problems.append(problem)
                elif run := future.result():
                    yield run
            if stop.is_set() or problems:
                stopping.set()
        if problems:
            raise problems[0]


def _begin_process(stopping: Any, statuses: Any) -> None:
    global _stopping, _statuses
    ignore_interrupts()
    _stopping, _statuses = stopping, statuses
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Save and end when the process that takes the results is gone. It may have been killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        _stopping.set()
        with _training:
            os._exit(1)


def _train_in_process(method: Method, job: Job) -> TrainedRun | None:
    def tell(status: Status) -> None:
        if not _stopping.is_set():  # else there may be nobody who takes it
            _statuses.put((job.seed, status))

    with _training:
        return None if _stopping.is_set() else _train(method, job, _stopping, tell)
