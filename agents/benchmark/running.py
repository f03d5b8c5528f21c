"""Training a method in a game from several seeds into an entry."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from agents.benchmark.entry import FILE, Entry, TrainedRun, read_entry, write_entry
from agents.benchmark.methods import CURVE, Curve, Job, Method, Watch
from agents.benchmark.protocol import Task
from agents.run import Status
from kepler_envs.bots.protocol import BotError
from kepler_envs.machine import processor
from kepler_envs.revision import commit


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
    watch: Watch = lambda status: None,
    say: Callable[[str], None] = lambda line: None,
) -> Entry | None:
    """Train what the entry lacks, seed by seed. None if it was stopped before the last one.

    The folder ``training`` beside the entries holds the state of training. It is no part of the entry.
    """
    folder = entry_folder(out, task, method, decisions)
    entry = _begun(folder, task, method, decisions, threads)
    for seed in seeds:
        if any(run.seed == seed for run in entry.runs):
            continue
        say(f"{task.name}: {method.name}, seed {seed}, {decisions:,} decisions")
        training = out / "training" / task.name / f"{method.name}-{decisions}" / f"seed-{seed}"
        job = Job(task, seed, decisions, training, folder / f"seed-{seed}", threads)
        run = _train(method, job, stop, watch)
        if run is None:
            return None
        entry = replace(entry, runs=tuple(sorted((*entry.runs, run), key=lambda one: one.seed)))
        write_entry(folder, entry)
    return entry


def _begun(folder: Path, task: Task, method: Method, decisions: int, threads: int) -> Entry:
    if (folder / FILE).exists():
        entry = read_entry(folder)
        if (entry.task, entry.method, entry.budget) != (task, method.name, decisions):
            raise BotError(
                f"{folder} holds {entry.method} in {entry.task.name} with {entry.budget:,} decisions; use another --out"
            )
        return entry
    command = f"{method.command.replace('GAME', task.game.partition('-v')[0])} (settings: agents/benchmark/methods.py)"
    return Entry(
        task.game, task.players, method.name, method.kind, method.about, command, commit() or "unknown", decisions,
        method.known,
        f"{processor()}, {threads} of {os.cpu_count()} cores", (),
    )  # fmt: skip


def _train(method: Method, job: Job, stop: threading.Event, watch: Watch) -> TrainedRun | None:
    curve = Curve(job.curve, method.repeats)

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
