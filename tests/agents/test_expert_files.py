"""The files of expert iteration: what is left of a run that was killed, and files that are damaged, missing, or of
another run."""

from __future__ import annotations

import io
import pickle
import shutil
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from agents.expert_run import ExpertRun, iterate
from kepler_envs.bots.networks.checkpoint import read_description
from kepler_envs.bots.protocol import BotError
from kepler_envs.tournament import ClusterError
from tests.agents.test_expert import BEGUN, TINY, same, same_curve

SHORT = replace(TINY, generations=2)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> ExpertRun:
    return iterate(replace(SHORT, out=tmp_path_factory.mktemp("whole")))


# ---------------------------------------------------------------- the best network


def test_the_best_network_of_another_run_judges_nobody(finished, tmp_path):
    (tmp_path / "best.zip").write_bytes(finished.best_file.read_bytes())
    with pytest.raises(BotError, match=r"best.zip is the network of another run: delete it, or give another --out"):
        ExpertRun(replace(SHORT, out=tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["best.zip"]


@pytest.mark.parametrize("method", ["save", "_write_best"])
def test_a_run_that_is_killed_at_the_end_of_a_generation_ends_like_another_one(finished, method, tmp_path, monkeypatch):
    """Before last.zip is written, and between that and best.zip, in every generation."""
    write, killed = getattr(ExpertRun, method), set()

    def once_killed(run: ExpertRun) -> None:
        if run._learning is None and run.curve and len(run.curve) not in killed:
            killed.add(len(run.curve))
            raise KeyboardInterrupt
        write(run)

    monkeypatch.setattr(ExpertRun, method, once_killed)
    run = None
    while run is None:
        with suppress(KeyboardInterrupt):
            run = iterate(replace(SHORT, out=tmp_path))
    assert killed == {1, 2} and same(run, finished) and same_curve(run.curve, finished.curve)
    one, other = (read_description(its.best_file)["results"] for its in (run, finished))
    assert {**one, "seconds": 0} == {**other, "seconds": 0} and run.best == finished.best == 2


def test_a_run_that_begins_with_a_network_may_be_killed_at_once(finished, tmp_path, monkeypatch):
    config = replace(BEGUN, generations=2, start=f"net:{finished.out}", out=tmp_path)
    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        patch.setattr(ExpertRun, "_write_best", lambda run: (_ for _ in ()).throw(KeyboardInterrupt))
        ExpertRun(config)
    assert not (tmp_path / "best.zip").exists()
    run = ExpertRun(config)
    assert run.best_file.exists() and run.best == run.generation == 1


def test_a_best_network_that_is_lost_is_not_replaced_by_another_one(finished, tmp_path):
    config = replace(BEGUN, generations=1, start=f"net:{finished.out}", gate=100.0, out=tmp_path)
    run = iterate(config)
    assert (run.best, run.generation) == (1, 2)
    run.best_file.unlink()
    with pytest.raises(BotError, match="best.zip is missing, or not the best network of .*last.zip: use another --out"):
        ExpertRun(config)


# ---------------------------------------------------------------- games


DAMAGE = {
    "cut off": lambda content: content[:100],
    "packed by another method": lambda content: _with_method(content, 99),
    "bytes that are not packed": lambda content: content[:60] + bytes(200) + content[260:],
    "no header of an array": lambda content: _with_array(content, b"\x93NUMPY\x01\x00\x0a\x00{'descr' ((("),
}


def _with_method(content: bytes, method: int) -> bytes:
    """A zip whose first file says that it is packed so, in both places."""
    first, changed = content.index(b"PK\x01\x02"), bytearray(content)
    for place in (8, first + 10):
        changed[place : place + 2] = method.to_bytes(2, "little")
    return bytes(changed)


def _with_array(content: bytes, array: bytes) -> bytes:
    """A zip whose first file has this content."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(changed, "w") as after:
        for number, name in enumerate(before.namelist()):
            after.writestr(name, before.read(name) if number else array)
    return changed.getvalue()


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_of_games_is_named_however_it_is_damaged(finished, damage, tmp_path):
    run = _copy(finished, tmp_path)
    path = run._file(1, 0)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    run.generation = 1
    with pytest.raises(BotError, match="001/000.npz is damaged: .*Delete it and run the same command: its games are"):
        run._positions()
    run.generation = 2
    with pytest.raises(
        BotError, match="000.npz is damaged: .*games of generation 1 are not played again.*--start net:"
    ):
        run._positions()


def test_a_missing_file_of_earlier_games_is_not_passed_over(finished, tmp_path):
    run = _copy(finished, tmp_path)
    run._file(1, 0).unlink()
    run.generation = 1
    with pytest.raises(BotError, match="001/000.npz is missing. Run the same command: its games are played again"):
        run._positions()
    assert [job.out for job in run._jobs()] == [run._file(1, 0)]
    run.generation = 2
    with pytest.raises(
        BotError, match="is missing. The games of generation 1 are not played again.*give another --out"
    ):
        run._positions()


class Elsewhere:
    """A cluster whose workers are this process, with other files in ``agents/`` if so asked."""

    def __init__(self, patch: pytest.MonkeyPatch, files: str = "") -> None:
        self.patch, self.files, self.played = patch, files, 0

    def map(self, function, common, tasks, stop):
        for task in tasks:
            there, job = pickle.loads(pickle.dumps((common, task)))
            with self.patch.context() as patch:
                if self.files:
                    patch.setattr("agents.expert_run.agents_here", lambda: self.files)
                yield task, function(there, job)
            self.played += 1


def test_games_are_played_on_a_cluster_only_by_the_same_code(finished, tmp_path, monkeypatch):
    with pytest.raises(
        ClusterError, match=r"has .*agents \(files 0123\), and this process has other files \([0-9a-f]{12}\)"
    ):
        iterate(replace(SHORT, out=tmp_path), cluster=Elsewhere(monkeypatch, "0123"))
    same_code = Elsewhere(monkeypatch)
    run = iterate(replace(SHORT, out=tmp_path), cluster=same_code)
    assert same_code.played == 1 and same(run, finished) and same_curve(run.curve, finished.curve)


def _copy(finished: ExpertRun, out: Path) -> ExpertRun:
    """A finished run in a folder of its own."""
    shutil.copytree(finished.out, out, dirs_exist_ok=True)
    return ExpertRun(replace(SHORT, out=out))


def test_a_finished_run_that_is_started_again_stays_as_it_is(finished, monkeypatch):
    """Its files go on naming the code that it learned with."""
    monkeypatch.setattr("agents.checkpoint.commit", lambda: "another")
    before = finished.last.read_bytes()
    assert iterate(replace(SHORT, out=finished.out)).generation == 2
    assert finished.last.read_bytes() == before
