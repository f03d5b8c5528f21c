"""How commands end: exit codes, and one line instead of a traceback."""

from __future__ import annotations

import errno
import importlib
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kepler_envs
from agents.ending import plain_ending
from kepler_envs.bots.protocol import BotError
from tests.agents.endings import BROKEN_OFF, IMPOSSIBLE, ends

ROOT = Path(__file__).parents[2]
COMMANDS = [f"agents.{name}" for name in ("train", "expert", "exploit", "publish")] + [
    f"benchmarks.{name}" for name in ("__main__", "ablation", "calibration", "campaigns", "imitation")
]


@pytest.mark.parametrize(
    ("problem", "code", "line"),
    [
        (BotError("no bot 'gredy'"), IMPOSSIBLE, "no bot 'gredy'"),
        (kepler_envs.OptionError("quest_size is 9"), IMPOSSIBLE, "quest_size is 9"),
        (kepler_envs.UnknownGame("no game 'chess'"), IMPOSSIBLE, "no game 'chess'"),
        (FileNotFoundError(errno.ENOENT, "No such file", "x.csv"), IMPOSSIBLE, r"\[Errno 2\] No such file: 'x.csv'"),
        (OSError(errno.ENOSPC, "Full"), BROKEN_OFF, r"\[Errno 28\] Full; .* run the same command again to continue"),
        (BotError("red \x1b[31m name"), IMPOSSIBLE, r"red \?\[31m name"),
        (MemoryError(), IMPOSSIBLE, "not enough memory; ask for less, such as fewer games"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_an_expected_problem_is_one_line(problem, code, line, capsys):
    with ends(capsys, f"^{line}\n$", code), plain_ending():
        raise problem


def test_a_lack_of_memory_says_how_much_was_asked_for(capsys):
    with (
        ends(
            capsys,
            "^not enough memory: Unable to allocate .* for an array with shape .*; ask for less, such as fewer games$",
        ),
        plain_ending(),
    ):
        np.zeros((10**9, 10**9), np.int8)


@pytest.mark.parametrize(("command", "agent"), [("train", []), ("expert", []), ("exploit", ["greedy"])])
def test_ctrl_c_while_pytorch_is_imported_ends_quietly(command, agent, tmp_path):
    program = (
        "import sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *others):\n"
        "        if name == 'torch':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        f"from agents.{command} import main\n"
        "main()\n"
    )
    asked = [sys.executable, "-c", program, "kitten_adventurers", *agent, "--out", str(tmp_path)]
    ended = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert (ended.returncode, ended.stdout.strip(), ended.stderr) == (130, "", "\n")


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(
    "command",
    [f"agents.{name}" for name in ("train", "expert", "exploit", "publish", "benchmark")]
    + ["benchmarks", "benchmarks.ablation"],
)
def test_ctrl_c_while_a_command_is_imported_ends_quietly(command, tmp_path):
    """A shell reports 130 for a program that SIGINT ended."""
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *others):\n"
        "        if name == 'numpy':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
    )
    environ = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    asked = [sys.executable, "-m", command, "--help"]
    ended = subprocess.run(asked, cwd=ROOT, env=environ, capture_output=True, text=True, timeout=240)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")


def test_ctrl_c_interrupts_once_a_command_is_loaded(monkeypatch):
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        with plain_ending():
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


class Unread(io.StringIO):
    """Standard output into a pipe that nobody reads any more."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self.descriptor = descriptor

    def fileno(self) -> int:
        return self.descriptor

    def write(self, text: str) -> int:
        raise BrokenPipeError


@pytest.mark.parametrize("command", COMMANDS)
def test_help_that_nobody_reads_ends_quietly(command, monkeypatch, tmp_path, capsys):
    """As before ``| head -1``."""
    monkeypatch.setattr("sys.argv", [command, "--help"])
    with (tmp_path / "file").open("w") as file, pytest.raises(SystemExit) as ended:
        monkeypatch.setattr("sys.stdout", Unread(file.fileno()))
        importlib.import_module(command).main()
    assert (ended.value.code, capsys.readouterr().err) == (141, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a full disk to print to")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_a_full_disk_does_not_take_is_one_line(unbuffered):
    program = "from agents.ending import plain_ending\nwith plain_ending():\n    print('a log')"
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=full, stderr=subprocess.PIPE, text=True, timeout=240,
        )  # fmt: skip
    said = "[Errno 28] No space left on device; all files written before are complete, run the same command again to"
    assert (ended.returncode, ended.stderr) == (1, f"{said} continue\n")


@pytest.mark.parametrize("bug", [ZeroDivisionError, KeyError])
def test_a_bug_keeps_its_traceback(bug):
    with pytest.raises(bug), plain_ending():
        raise bug
