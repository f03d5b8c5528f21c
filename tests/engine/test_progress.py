"""What is said on stderr while code is compiled."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kepler_envs.engine.kernel import JIT_ENABLED
from tests.effort import slow
from tests.engine.toy_package import Copy

pytestmark = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")

THREE = (
    "from functools import cache, partial\n"
    "import numpy as np, toy\n"
    "from kepler_envs.engine import progress\n"
    "from kepler_envs.engine.kernel import INT, array_of, kernel\n"
    "@cache\n"
    "def build(number):\n"
    "    @kernel(toy.SCOPE, f'number_{number}', (INT,))\n"
    "    def count(more):\n"
    "        return number + more\n"
    "    return count\n"
    "def ask(*numbers):\n"
    "    progress.load_or_compile([partial(build, number) for number in numbers])\n"
    "    return [build(number)(1) for number in numbers]\n"
)
EACH = "progress.SECONDS_BETWEEN_LINES = 0\n"


def line(number: int, total: int) -> str:
    return f"compiling toy, once for this version: {number} of {total} kernels"


def told(copied: Copy, code: str, **changes: str | None) -> list[str]:
    out, told = copied.start(THREE + code, **{"KEPLER_ENVS_QUIET": None, **changes}).communicate(timeout=300)
    assert out == "[2, 3, 4]\n", told
    return told.splitlines()


@slow
def test_how_far_it_is(copied: Copy) -> None:
    """Counted are the kernels that are compiled, not those that are kept; with a warm cache nothing is said."""
    assert told(copied, EACH + "build(2); print(ask(1, 2, 3))") == [line(1, 1), line(1, 2), line(2, 2)]
    assert told(copied, "print(ask(1, 2, 3))") == []
    for file in copied.cached_files():
        file.unlink()
    assert told(copied, EACH + "print(ask(1, 2, 3))") == [line(number, 3) for number in (1, 2, 3)]


@slow
def test_one_line_at_once_and_then_one_now_and_then(copied: Copy) -> None:
    assert told(copied, "print(ask(1, 2, 3))") == [line(1, 3)]


@slow
@pytest.mark.parametrize("silence", ["variable", "caller"])
def test_silence(copied: Copy, silence: str) -> None:
    code = "with progress.silence():\n    print(ask(1, 2, 3))" if silence == "caller" else "print(ask(1, 2, 3))"
    assert told(copied, code, KEPLER_ENVS_QUIET="1" if silence == "variable" else None) == []


def test_a_kernel_that_fails_is_no_end_of_it(copied: Copy) -> None:
    code = (
        "tries = [ValueError, progress.NotKept]\n"
        "def fail():\n    raise tries.pop()\n"
        "try:\n    progress.load_or_compile([partial(build, 1), fail])\nexcept ValueError:\n    pass\n"
        "print(ask(1, 2, 3))"
    )
    assert told(copied, EACH + code)[-1] == line(2, 2)


@slow
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no terminals")
@pytest.mark.parametrize("has_rich", [True, False])
def test_on_a_terminal(copied: Copy, has_rich: bool) -> None:
    """A bar where rich is installed, the lines where it is not."""
    pytest.importorskip("rich")
    master, slave = os.openpty()
    missing = "" if has_rich else "import sys; sys.modules['rich.console'] = None\n"
    environment = copied.environment(KEPLER_ENVS_QUIET=None, TERM="xterm", COLUMNS="120")
    command = [sys.executable, "-c", missing + THREE + EACH + "print(ask(1, 2, 3))"]
    process = subprocess.Popen(
        command, env=environment, cwd=copied.folder, stdout=subprocess.PIPE, stderr=slave, text=True
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    out, _ = process.communicate(timeout=300)
    assert out == "[2, 3, 4]\n"
    text = shown.decode()
    always = (1, 3) if has_rich else (1, 2, 3)  # a bar is drawn ten times a second: kernels may come quicker
    assert all(line(number, 3) in text for number in always), text
    assert ("━" in text) == has_rich


def test_the_seconds_are_counted(copied: Copy) -> None:
    """Once, though a kernel may bring another one along, and those of loading are few."""
    code = (
        "import time; began, before = time.monotonic(), progress.seconds_spent()\n"
        "answer = ask(1, 2, 3); took = time.monotonic() - began; spent = progress.seconds_spent() - before\n"
        "assert 0.8 * took < spent <= took, (spent, took); time.sleep(0.1)\n"
        "assert progress.seconds_spent() == before + spent\n"
        "print(answer)"
    )
    told(copied, code)
