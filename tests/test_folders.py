"""One process at a time works in a folder: a second one is refused and changes nothing there."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from agents.benchmark.sb3 import train_sb3
from agents.expert_run import iterate
from agents.expert_settings import ExpertConfig
from agents.run import train
from agents.settings import TrainConfig
from kepler_envs.bots.protocol import BotError
from kepler_envs.cli import main
from kepler_envs.files import (
    ABANDONED,
    LOCK,
    TURN,
    alone_in,
    check_writable,
    in_turn,
    who_else_writes,
    write_atomically,
)

REFUSAL = RuntimeError("taken")
TAKES_AND_DIES = """
import os, pathlib, sys
from kepler_envs.files import alone_in
with alone_in(pathlib.Path(sys.argv[1]), RuntimeError()):
    os.kill(os.getpid(), 9)
"""
DIES_WRITING = """
import os, pathlib, sys
from kepler_envs.files import write_atomically
os.fsync = lambda handle: os.kill(os.getpid(), 9)
write_atomically(pathlib.Path(sys.argv[1]), b"half of it")
"""


def test_a_taken_folder_is_refused_until_it_is_left(tmp_path):
    for _ in range(2):
        with alone_in(tmp_path, REFUSAL), pytest.raises(RuntimeError, match="taken"), alone_in(tmp_path, REFUSAL):
            pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_no_folder_or_file_can_have_such_a_name(name, tmp_path):
    path = tmp_path / name
    with pytest.raises(OSError), alone_in(path, REFUSAL):
        pass
    for ask in (check_writable, lambda file: write_atomically(file, b"")):
        with pytest.raises(OSError):
            ask(path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_stayed_empty_is_gone(tmp_path):
    with pytest.raises(KeyError), alone_in(tmp_path / "runs" / "new", REFUSAL):
        raise KeyError
    assert list(tmp_path.iterdir()) == []
    with alone_in(tmp_path / "runs" / "new", REFUSAL):
        (tmp_path / "runs" / "new" / "kept").touch()
    assert [path.name for path in (tmp_path / "runs" / "new").iterdir()] == ["kept"]


def test_a_killed_process_has_left_its_folder(tmp_path):
    assert subprocess.run([sys.executable, "-c", TAKES_AND_DIES, tmp_path]).returncode == -9
    assert (tmp_path / LOCK).exists()
    with alone_in(tmp_path, REFUSAL):
        pass


@pytest.mark.parametrize("is_taken", [True, False], ids=["and taken by another one", "and free"])
def test_a_folder_may_be_left_between_the_opening_of_its_lock_and_the_taking(is_taken, tmp_path, monkeypatch):
    """What was opened is then no lock any more: the file is deleted, and somebody may have made a new one."""
    lock = fcntl.flock

    def late(handle: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        first.close()
        if is_taken:
            others.enter_context(alone_in(tmp_path, REFUSAL))
        lock(handle, how)

    with ExitStack() as others, ExitStack() as first:
        first.enter_context(alone_in(tmp_path, REFUSAL))
        monkeypatch.setattr(fcntl, "flock", late)
        with pytest.raises(RuntimeError, match="taken") if is_taken else nullcontext(), alone_in(tmp_path, REFUSAL):
            assert (tmp_path / LOCK).exists()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_left_by_one_is_taken_by_one(tmp_path):
    inside, most, start = [0], [0], threading.Barrier(8)

    def take() -> None:
        start.wait()
        for _ in range(200):
            try:
                with alone_in(tmp_path, RuntimeError("taken")):
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                    inside[0] -= 1
            except RuntimeError:
                os.sched_yield()

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


def test_others_wait_for_their_turn(tmp_path):
    """Eight add one to a number in a file, fifty times each: none is lost."""
    counted = tmp_path / "counted"
    counted.write_text("0")

    def add() -> None:
        for _ in range(50):
            with in_turn(tmp_path):
                counted.write_text(str(int(counted.read_text()) + 1))

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counted.read_text() == "400" and [path.name for path in tmp_path.iterdir()] == ["counted"]


def test_a_turn_locks_a_file(tmp_path):
    """Network file systems keep the lock of a folder to the machine that asks for it."""
    with in_turn(tmp_path), (tmp_path / TURN).open("r+b") as file, pytest.raises(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.parametrize(
    "group, members, reason",
    [("me", [], ""), ("me", ["me"], ""), ("me", ["me", "you"], "may be written to by group 70"),
     ("users", [], "may be written to by group 70"), (None, [], "may be written to by group 70")],
)  # fmt: skip
def test_only_the_group_of_one_user_may_write(group, members, reason, monkeypatch):
    """A user's own group need not be that: on clusters it is often the one of all users."""

    def look_up(number: int) -> SimpleNamespace:
        if group is None:
            raise KeyError(number)
        return SimpleNamespace(gr_name=group, gr_mem=members)

    monkeypatch.setattr("grp.getgrgid", look_up)
    monkeypatch.setattr("pwd.getpwuid", lambda number: SimpleNamespace(pw_name="me"))
    monkeypatch.setattr("os.getgid", lambda: 70)
    found = SimpleNamespace(st_uid=os.getuid(), st_gid=70, st_mode=0o100664)
    assert who_else_writes(found) == reason
    assert who_else_writes(SimpleNamespace(**{**vars(found), "st_mode": 0o100644})) == ""


@pytest.mark.parametrize("letters", [255, 256])
def test_what_can_be_written_is_known_before(letters, tmp_path):
    """A name has at most 255 bytes: the file that is still being written must not need more."""
    path = tmp_path / ("a" * letters)
    if letters > 255:
        with pytest.raises(OSError, match="File name too long"):
            check_writable(path)
        return
    check_writable(path)
    write_atomically(path, b"all of it")
    assert path.read_bytes() == b"all of it" and list(tmp_path.iterdir()) == [path]


def test_folders_that_are_missing_are_made(tmp_path):
    write_atomically(tmp_path / "a" / "b" / "file", b"x")
    assert (tmp_path / "a" / "b" / "file").read_bytes() == b"x"
    with in_turn(tmp_path / "c" / "d"):
        assert (tmp_path / "c" / "d").is_dir()


@pytest.mark.parametrize("is_there", [True, False])
def test_what_is_written_through_a_link_is_where_it_points(is_there, tmp_path):
    target, link = tmp_path / "storage" / "results.csv", tmp_path / "results.csv"
    target.parent.mkdir()
    if is_there:
        target.write_bytes(b"before")
    link.symlink_to(target)
    check_writable(link)
    write_atomically(link, b"all of it")
    assert link.is_symlink() and target.read_bytes() == b"all of it"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("is_linked", [True, False])
def test_a_pipe_stays_one_and_is_written_to(is_linked, tmp_path):
    """As root, ``--save /dev/null`` would otherwise put a file in the place of the device."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    path = pipe
    if is_linked:
        path = tmp_path / "link"
        path.symlink_to(pipe)
    try:
        check_writable(path)
        write_atomically(path, b"all of it")
        assert os.read(reader, 100) == b"all of it"
    finally:
        os.close(reader)
    assert pipe.is_fifo() and set(tmp_path.iterdir()) == {pipe, path}


# ---------------------------------------------------------------- who uses them


def test_a_fresh_tournament_does_not_delete_one_that_is_played(tmp_path, capsys):
    (tmp_path / "games.sqlite").write_text("games of the other one")
    with alone_in(tmp_path, REFUSAL):
        assert main(["tournament", "kitten_adventurers", "--games", "12", "--fresh", "--out", str(tmp_path)]) == 2
    assert f"another tournament is played in {tmp_path}: stop it, or give another --out" in capsys.readouterr().err
    assert (tmp_path / "games.sqlite").read_text() == "games of the other one"


def train_with_sb3(folder: Path) -> None:
    train_sb3(TrainConfig(steps=64, num_envs=2, n_steps=8, eval_games=2), folder, threading.Event(), lambda _: None)


@pytest.mark.parametrize(
    "work",
    [
        lambda folder: train(TrainConfig(steps=64, out=folder)),
        train_with_sb3,
        lambda folder: iterate(ExpertConfig(generations=1, games=8, out=folder)),
    ],
    ids=["train", "sb3", "expert"],
)
def test_two_runs_do_not_train_in_one_folder(work, tmp_path):
    with alone_in(tmp_path, REFUSAL), pytest.raises(BotError) as raised:
        work(tmp_path)
    assert str(raised.value) == f"another process trains in {tmp_path}: wait for it, or give another --out"
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_did_not_finish_writing_is_removed(tmp_path):
    """An hour later. Finished files and those of others stay."""
    assert subprocess.run([sys.executable, "-c", DIES_WRITING, tmp_path / "last.zip"]).returncode == -9
    [unfinished] = tmp_path.iterdir()
    (tmp_path / ".settings").touch()
    write_atomically(tmp_path / "last.zip", b"all of it")
    for age, is_kept in ((ABANDONED - 60, True), (ABANDONED + 60, False)):
        for path in tmp_path.iterdir():
            os.utime(path, (time.time() - age,) * 2)
        with alone_in(tmp_path, REFUSAL):
            assert unfinished.exists() == is_kept
    assert sorted(path.name for path in tmp_path.iterdir()) == [".settings", "last.zip"]
