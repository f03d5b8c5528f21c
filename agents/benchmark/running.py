"""Training a method in a game from several seeds into an entry, one seed after the other or side by side."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from agents.benchmark.entry import FILE, Entry, TrainedRun, read_entry, write_entry
from agents.benchmark.methods import CURVE, Curve, Job, Method, Watch
from agents.benchmark.protocol import Task
from agents.benchmark.side_by_side import side_by_side
from agents.status import Status
from kepler_envs.bots.protocol import BotError
from kepler_envs.files import write_atomically
from kepler_envs.machine import processor
from kepler_envs.revision import commit

ORIGIN = "trained_with.json"
"""The file beside the state of a seed's training that says where it learned so far."""

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
    jobs = {
        seed: Job(task, seed, decisions, training / f"seed-{seed}", folder / f"seed-{seed}", threads, trust_folder)
        for seed in seeds
        if all(run.seed != seed for run in entry.runs)
    }
    together = min(processes, len(jobs))
    train = partial(_train_side_by_side, processes=together) if together > 1 else _in_turn
    runs = train(method, list(jobs.values()), stop=stop, watch=watch)
    if jobs:
        numbers = ", ".join(map(str, jobs))
        say(f"{task.name}: {method.name}, {decisions:,} decisions, seeds {numbers}")
    for run in runs:
        its = Origin(entry.code, entry.hardware).and_of(_origin(jobs[run.seed]))
        runs_so_far = tuple(sorted((*entry.runs, run), key=lambda one: one.seed))
        entry = replace(entry, runs=runs_so_far, code=its.code, hardware=its.hardware)
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


@dataclass(frozen=True)
class Origin:
    """Code and machines that something was trained with, each as a list in words."""

    code: str = ""
    hardware: str = ""

    def and_of(self, other: Origin) -> Origin:
        """This, and what the other one has besides."""
        return Origin(_with(self.code, ", ", other.code), _with(self.hardware, "; ", other.hardware))


def _origin(job: Job) -> Origin:
    """Where the run of a job learned so far."""
    path = job.training / ORIGIN
    return Origin(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else Origin()


def _note_origin(job: Job) -> None:
    """Note where the run of a job begins, or goes on: whoever ends it may be elsewhere."""
    here = Origin(commit() or "unknown", f"{processor()}, {job.threads} of {os.cpu_count()} cores")
    text = json.dumps(asdict(_origin(job).and_of(here)), indent=2) + "\n"
    write_atomically(job.training / ORIGIN, text.encode())


def _with(known: str, comma: str, others: str) -> str:
    """A list in words, with those entries of another one that it lacks."""
    entries = [*known.split(comma), *others.split(comma)]
    return comma.join(dict.fromkeys(one for one in entries if one))


def _train(method: Method, job: Job, stop: threading.Event, watch: Watch) -> TrainedRun | None:
    curve, noted = Curve(job.curve), False

    def both(status: Status) -> None:
        nonlocal noted
        if not noted:  # nobody else trains there, and the folder is trusted
            _note_origin(job)
            noted = True
        if status.evaluated:
            curve.add(status)
        watch(status)

    done = method.train(job, stop, both)
    if done is None:
        return None
    if not curve.points:
        raise BotError(f"{method.name} has no learning curve: it told watch of no evaluation")
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
