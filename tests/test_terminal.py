"""Output that nobody reads any more, the end of a terminal, and streams that were closed before."""

from __future__ import annotations

import io
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from kepler_envs.cli.keys import TerminalKeys
from kepler_envs.engine.replay import read_replay
from kepler_envs.files import drop_output
from kepler_envs.terminal import make_console, stop_on_signals

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes")

STOPPED = """
import os, signal, sys
from pathlib import Path
from agents.ending import plain_ending
from kepler_envs.terminal import make_console, stop_on_signals

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where nohup runs the tests
console = make_console()
with plain_ending(), stop_on_signals(console, "finishing what is under way") as stop:
    for name in sys.argv[2:]:
        os.kill(os.getpid(), getattr(signal, name))
        assert stop.wait(10)
    console.print("the last lines")
    console.print("of a log")
    Path(sys.argv[1]).write_text("kept")
sys.exit(130)
"""


def ended(*arguments: str | Path) -> tuple[int, bytes]:
    """Run the program into a pipe whose reader is gone; its exit code, and what it says on stderr."""
    asked = [sys.executable, "-c", STOPPED, *map(str, arguments)]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        program.stdout.close()
        said = program.stderr.read()
    return program.returncode, said


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_what_is_under_way_is_finished_though_ctrl_c_ended_the_reader_too(name, tmp_path):
    """As in ``python -m agents.train ... | tee log``: Ctrl-C goes to both programs."""
    assert ended(tmp_path / "file", name) == (130, b"")
    assert (tmp_path / "file").read_text() == "kept"


class SignalledInItsMidst(io.RawIOBase):
    """A file whose first writing is interrupted, while the buffer in front of it is locked."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, content) -> int:
        self.written.append(bytes(content))
        if len(self.written) == 1:
            signal.raise_signal(signal.SIGINT)
        return len(content)


def test_ctrl_c_in_the_midst_of_printing_stops_and_breaks_nothing(monkeypatch):
    file = SignalledInItsMidst()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BufferedWriter(file), write_through=True))
    with stop_on_signals(Console(), "finishing what is under way") as stop:
        print("a line", flush=True)
    assert stop.is_set() and file.written[0].startswith(b"a line")


def test_without_a_reader_a_command_that_was_not_stopped_ends_like_any_program(tmp_path):
    assert ended(tmp_path / "file") == (141, b"")
    assert not (tmp_path / "file").exists()


def run_into(output: str, *command: str, **variables: str) -> tuple[int, bytes]:
    """Run a module whose output goes to a full disk (``/dev/full``) or a pipe that nobody reads; as :func:`ended`."""
    asked = ["sh", "-c", f'exec "$@" > {output}', "sh", sys.executable, "-m", *command]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONUNBUFFERED": "", **variables}
    with subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ) as program:
        program.stdout.close()
        said = program.stderr.read()
    return program.returncode, said


NO_SPACE = b"[Errno 28] No space left on device\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a full disk to print to")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", [["--version"], ["list"]])
def test_output_that_a_full_disk_does_not_take_is_one_line(command, unbuffered):
    ended = run_into("/dev/full", "kepler_envs", *command, PYTHONUNBUFFERED=unbuffered)
    assert ended == (1, b"kepler-envs: " + NO_SPACE)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_version_that_nobody_reads_ends_quietly(unbuffered):
    assert run_into("/dev/stdout", "kepler_envs", "--version", PYTHONUNBUFFERED=unbuffered) == (141, b"")


def test_dropped_output_leaves_no_file_open(tmp_path):
    with (tmp_path / "file").open("w") as file, (tmp_path / "other").open("w") as other:
        drop_output(file)
        print("nowhere", file=file, flush=True)
        with open(os.devnull) as lowest:
            assert lowest.fileno() == other.fileno() + 1
    assert (tmp_path / "file").read_text() == ""


@pytest.mark.parametrize(
    ("command", "columns"), [(["kepler_envs", "play"], "3"), (["benchmarks.ablation"], "1")], ids=["play", "benchmarks"]
)
def test_help_in_very_few_columns(command, columns):
    asked = [sys.executable, "-m", *command, "--help"]
    environ = {**os.environ, "COLUMNS": columns}
    said = subprocess.run(asked, capture_output=True, text=True, env=environ, timeout=240, check=True).stdout
    assert len(said.splitlines()[-1]) == 40


HUNG_UP = """
import signal, sys, time
from pathlib import Path
from agents.ending import plain_ending
from kepler_envs.terminal import make_console, stop_on_signals

signal.signal(signal.SIGHUP, getattr(signal, sys.argv[2]))
console = make_console()
with plain_ending(), stop_on_signals(console, "finishing what is under way") as stop:
    print("begun", flush=True)
    end = time.monotonic() + float(sys.argv[3])
    while not stop.is_set() and time.monotonic() < end:
        time.sleep(0.01)
    if stop.is_set():
        signal.raise_signal(signal.SIGHUP)  # shell and system tell it, each of them
        console.print("the last line of a log")
        print("an error", file=sys.stderr, flush=True)
    Path(sys.argv[1]).write_text(f"stopped: {stop.is_set()}")
sys.exit(130)
"""


def after_its_terminal(*arguments: str, begun: bytes = b"begun\r\n", errors: str = os.devnull) -> int:
    """Run Python in a terminal of its own, and close that once it has printed ``begun``. Returns its exit code."""
    program, terminal = pty.fork()
    if program == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where nohup runs the tests
        os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
        os.execve(sys.executable, [sys.executable, *arguments], {**os.environ, "TERM": "xterm"})
    printed = b""
    while begun not in printed:
        printed += os.read(terminal, 1000)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])


@pytest.mark.parametrize(
    ("command", "begun", "codes"),
    [(["watch", "--delay", "0.2"], b"pause", (130,)), (["play"], b"(h help)> ", (0, 130))],
    ids=["watch", "play"],
)
def test_a_game_in_a_terminal_that_is_closed_ends_as_with_ctrl_c(command, begun, codes, tmp_path):
    file, errors = tmp_path / "kept.jsonl", tmp_path / "errors"
    name, *more = command
    asked = ["-m", "kepler_envs", name, *GAME, *more, "--save", str(file)]
    assert after_its_terminal(*asked, begun=begun, errors=str(errors)) in codes
    assert errors.read_text().strip() == ""
    assert read_replay(file).final is None


def test_a_terminal_that_has_ended_leaves_a_game_that_is_shown(monkeypatch):
    """As after ``disown``, where no signal tells of it."""
    reader, terminal = pty.openpty()
    with open(terminal) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        with TerminalKeys() as keys:
            os.close(reader)
            assert keys.read(None) == "q"


def test_what_is_under_way_is_finished_though_the_terminal_is_closed(tmp_path):
    assert after_its_terminal("-c", HUNG_UP, str(tmp_path / "file"), "SIG_DFL", "60") == 130
    assert (tmp_path / "file").read_text() == "stopped: True"


def test_after_nohup_the_end_of_the_terminal_stops_nothing(tmp_path):
    assert after_its_terminal("-c", HUNG_UP, str(tmp_path / "file"), "SIG_IGN", "1") == 130
    assert (tmp_path / "file").read_text() == "stopped: False"


@pytest.mark.parametrize(
    ("variables", "width"),
    [
        ({}, 160),
        ({"COLUMNS": "100"}, 100),
        ({"COLUMNS": "0"}, 160),
        ({"FORCE_COLOR": "1"}, 160),
        ({"COLUMNS": ""}, 160),
    ],
)
def test_a_pipe_is_as_wide_as_told_and_no_terminal(variables, width, monkeypatch, capsys):
    monkeypatch.delenv("COLUMNS", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    console = make_console()
    assert (console.width, console.is_terminal) == (width, False)


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_letters_that_an_encoding_lacks_end_nothing(encoding, tmp_path):
    """Neither those of a file's name that is printed, nor bytes that are typed."""
    asked = [sys.executable, "-m", "kepler_envs", "play", *GAME, "--save", "k\u00e4tzchen.jsonl"]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONIOENCODING": f"{encoding}:strict"}
    program = subprocess.run(asked, input=b"\xff\n1\nq\n", capture_output=True, cwd=tmp_path, env=environ)
    assert (program.returncode, program.stderr) == (0, b"")
    said = program.stdout.decode(encoding)
    assert "is not a move" in said and "Replay of the unfinished game written" in said
    assert ("k\u00e4tzchen.jsonl" if encoding == "utf-8" else r"k\xe4tzchen.jsonl") in said
    assert [path.name for path in tmp_path.iterdir()] == ["k\u00e4tzchen.jsonl"]


GAME = ["kitten_adventurers", "--players", "2", "--option", "quest_size=1", "--seed", "3"]
PRINTS = """
import os

class First:
    def __init__(self, config):
        os.write(1, b"as native code prints")

    def start(self, rows, seeds): ...

    def act(self, decisions):
        return decisions.action_mask.argmax(axis=1)
"""


@pytest.mark.parametrize(
    "command",
    [
        ["kepler_envs", "--help"],
        ["kepler_envs", "play", *GAME, "--save", "played.jsonl"],
        ["kepler_envs", "watch", *GAME, "--agents", "python:prints.py:First", "--save", "watched.jsonl"],
        ["agents.train", "--help"],
    ],
    ids=["help", "play", "a bot that prints", "agents"],
)
def test_closed_streams_are_like_no_input_and_output_that_nobody_reads(command, tmp_path):
    """The next file that is opened has the number of the closed one, and would get what others print there."""
    (tmp_path / "prints.py").write_text(PRINTS)
    asked = ["sh", "-c", 'exec "$@" <&- >&-', "sh", sys.executable, "-m", *command]
    folders = {"PYTHONPATH": str(Path(__file__).parents[1])}
    program = subprocess.run(asked, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **folders})
    assert (program.returncode, program.stderr) == (0, "")
    saved = [name for name in command if name.endswith(".jsonl")]
    assert [path.name for path in tmp_path.glob("*.jsonl")] == saved
