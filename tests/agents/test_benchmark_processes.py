"""Seeds of the benchmark that train side by side, and pairings played so: the same results, whatever stops or dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from agents.benchmark.entry import Entry
from agents.benchmark.methods import METHODS, Job, Method, Trained
from agents.benchmark.playing import Effort, fixed_players, measure
from agents.benchmark.protocol import task_of
from agents.benchmark.running import entry_folder, train_entry
from agents.evaluation import Evaluation
from agents.status import Status
from kepler_envs.bots.networks.checkpoint import read_weights
from kepler_envs.bots.protocol import BotError
from kepler_envs.files import write_atomically
from kepler_envs.tournament.standings import Share
from tests.effort import only_deep, slow
from tests.waiting import is_running, wait_until

ROOT = Path(__file__).parents[2]
TASK = task_of("kitten_adventurers")
DECISIONS = 100
GAMES = Evaluation("uniform", Share(0.5, 0.4, 0.6, 8), 30.0, Share(0.5, 0.4, 0.6, 8))


def count(job: Job, stop: threading.Event, watch, trouble: str = "") -> Trained | None:
    """A method that counts to its budget, a decision at a time, and keeps its count in the folder of training.

    It goes on from 10 when the other seed has come to 10, too. At 50, seed 1 has ``trouble``.
    """
    kept = job.training / "count"
    job.training.mkdir(parents=True, exist_ok=True)
    (job.training / "pid").write_text(str(os.getpid()))
    done = int(kept.read_text()) if kept.exists() else 0
    while done < job.decisions and not stop.is_set():
        done += 1
        write_atomically(kept, str(done).encode())  # whoever is killed leaves a number
        over = done == job.decisions
        watch(Status(done, 0.0, done / job.decisions, 0.0, 0.0, (GAMES,) if over else (), over))
        other = job.training.with_name(f"seed-{1 - job.seed}") / "count"
        while done == 10 and not (other.exists() and int(other.read_text()) >= 10):
            time.sleep(0.01)
        if done == 50 and job.seed == 1 and trouble:
            happen(trouble)
        time.sleep(0.002)
    return Trained(done, 1.0, "agent.zip") if done == job.decisions else None


def happen(trouble: str) -> None:
    """What may go wrong in a process."""
    if trouble == "error":
        raise BotError("no room for seed 1")
    os.kill(os.getpid(), signal.SIGKILL)


def counting(**settings) -> Method:
    return Method("count", "other", "counts", "count GAME", partial(count, **settings))


def train(out: Path, method: Method, stop=None, watch=lambda seed, status: None, decisions=DECISIONS) -> Entry | None:
    return train_entry(
        out,
        TASK,
        method,
        [0, 1],
        decisions=decisions,
        threads=1,
        stop=stop or threading.Event(),
        watch=watch,
        processes=2,
    )


def counts(out: Path) -> list[int]:
    """How far each seed has come."""
    return [int(path.read_text()) for path in sorted(out.glob("training/*/*/seed-*/count"))]


@slow
def test_seeds_train_at_the_same_time_stop_and_go_on(tmp_path):
    stop, seen = threading.Event(), {0: [], 1: []}

    def watch(seed: int, status: Status) -> None:
        seen[seed].append(status.steps)
        if status.steps >= 20:
            stop.set()

    assert train(tmp_path, counting(), stop, watch) is None
    before = counts(tmp_path)
    assert len(before) == 2 and all(10 <= done < DECISIONS for done in before)
    assert all(steps == list(range(1, len(steps) + 1)) and len(steps) >= 9 for steps in seen.values())
    seen = {0: [], 1: []}
    entry = train(tmp_path, counting(), watch=lambda seed, status: seen[seed].append(status.steps))
    assert seen == {seed: list(range(done + 1, DECISIONS + 1)) for seed, done in enumerate(before)}
    assert [(run.seed, run.decisions, run.agent) for run in entry.runs] == [
        (seed, DECISIONS, f"seed-{seed}/agent.zip") for seed in (0, 1)
    ]


@slow
@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        pytest.param("error", "no room for seed 1", marks=only_deep),
        ("killed", "a process was killed; .* the same command continues"),
    ],
)
def test_what_one_seed_does_not_survive_the_others_do(trouble, words, tmp_path):
    with pytest.raises((BotError, ChildProcessError), match=words):
        train(tmp_path, counting(trouble=trouble))
    assert counts(tmp_path)[1] == 50 and counts(tmp_path)[0] >= 10


@slow
def test_seeds_end_soon_after_whoever_started_them_was_killed(tmp_path):
    command = (
        "import pathlib, sys; from tests.agents.test_benchmark_processes import counting, train;"
        "train(pathlib.Path(sys.argv[1]), counting(), decisions=1_000_000)"
    )
    with subprocess.Popen([sys.executable, "-c", command, str(tmp_path)], cwd=ROOT) as parent:
        wait_until(lambda: len(counts(tmp_path)) == 2 and min(counts(tmp_path)) > 20, "beginning")
        parent.kill()
    pids = [int(path.read_text()) for path in tmp_path.glob("training/*/*/seed-*/pid")]
    wait_until(lambda: not any(map(is_running, pids)), "ending")


@only_deep
def test_networks_are_those_of_seeds_one_after_the_other(tmp_path):
    """An update of the real learner."""
    agents = {}
    for processes in (1, 2):
        out = tmp_path / str(processes)
        entry = train_entry(
            out, TASK, METHODS["flat"], [0, 1], decisions=1, threads=1, stop=threading.Event(), processes=processes
        )
        folder = entry_folder(out, TASK, METHODS["flat"], 1)
        agents[processes] = [read_weights(folder / run.agent) for run in entry.runs]
    for one, other in zip(*agents.values(), strict=True):
        assert one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


@slow
def test_pairings_side_by_side_have_the_games_of_those_one_after_the_other(tmp_path):
    said: dict[int, list[str]] = {1: [], 2: []}
    for processes, lines in said.items():
        record = tmp_path / f"{processes}.csv"
        assert measure(fixed_players(TASK), Effort(8, 0), record, threading.Event(), lines.append, processes)
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()
    in_turn, together = (set(zip(lines[::2], lines[1::2], strict=True)) for lines in said.values())
    assert in_turn == together and len(in_turn) == 6, "each result is told below its pairing"


@slow
def test_pairings_side_by_side_stop(tmp_path):
    stop, record = threading.Event(), tmp_path / "results.csv"
    stop.set()
    assert not measure(fixed_players(TASK), Effort(8, 0), record, stop, processes=2)
    assert not record.exists()
