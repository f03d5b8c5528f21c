"""Output that nobody reads any more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes")

STOPPED = """
import os, signal, sys
from pathlib import Path
from agents.ending import plain_ending
from kepler_envs.terminal import make_console, stop_on_signals

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


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_what_is_under_way_is_finished_though_ctrl_c_ended_the_reader_too(name, tmp_path):
    """As in ``python -m agents.train ... | tee log``: Ctrl-C goes to both programs."""
    assert ended(tmp_path / "file", name) == (130, b"")
    assert (tmp_path / "file").read_text() == "kept"


def test_without_a_reader_a_command_that_was_not_stopped_ends_like_any_program(tmp_path):
    assert ended(tmp_path / "file") == (141, b"")
    assert not (tmp_path / "file").exists()
