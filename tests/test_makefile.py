"""The Makefile's first steps: an interpreter that does not fit is refused before anything is installed, and whoever
waits is told for what."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")

ROOT = Path(__file__).parents[1]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What `make install` reads, in a folder of its own."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def interpreter(folder: Path, version: str) -> Path:
    """A program that passes for a Python of another version. It notes in `called` what else it is asked to do."""
    path = folder / f"python{version}"
    pretend = f"import sys; sys.version_info = ({version.replace('.', ', ')}, 7, 'final', 0)"
    path.write_text(
        f'#!/bin/sh\n[ "$1" = -c ] || {{ echo "$@" >> {folder}/called; exit 3; }}\n'
        f'exec {sys.executable} -c "{pretend}; exec(sys.argv[1])" "$2"\n'
    )
    path.chmod(0o755)
    return path


def make(checkout: Path, python: object, target: str = "demo") -> subprocess.CompletedProcess[str]:
    return run("make", target, f"PYTHON={python}", cwd=checkout)


def run(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run make as a user does, not as a part of the ``make test`` that runs this: that one's settings stay outside."""
    own = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=60, env=own)


@pytest.mark.parametrize("version", ["3.10", "3.14", "2.7"])
@pytest.mark.parametrize("target", ["demo", "install", "test-rllib", "test-clients"])
def test_a_python_that_does_not_fit_is_refused_at_once(checkout, version, target):
    done = make(checkout, interpreter(checkout, version), target)
    assert done.returncode == 2 and done.stdout == ""
    said = done.stderr.splitlines()[0]
    assert f"is Python {version}, but this needs 3.11, 3.12 or 3.13" in said and "PYTHON=" in said
    assert not (checkout / "called").exists() and not list(checkout.glob(".venv*"))


@pytest.mark.parametrize("version", ["3.11", "3.13"])
def test_a_python_that_fits_is_used(checkout, version):
    done = make(checkout, interpreter(checkout, version))
    assert done.stdout.startswith("Setting up .venv, once.") and "needs 3.11" not in done.stderr
    assert (checkout / "called").read_text() == "-m venv .venv\n"


def test_a_python_that_is_not_there_is_told(checkout):
    done = make(checkout, "python3.99")
    assert done.returncode == 2 and "There is no python3.99 here" in done.stderr


def test_every_step_that_takes_long_is_announced(checkout):
    done = run("make", "-n", "demo", cwd=checkout)
    said, announced = "", []
    for line in done.stdout.splitlines():
        if line.startswith("echo"):
            said += line
        elif re.search(r"torch==|\[dev\]|compile|agents.train|tournament", line):
            announced.append(bool(re.search(r"minute", said)))
            said = ""
    assert announced == [True] * 5


def test_a_warning_of_the_pages_is_an_error_in_every_run(checkout):
    """Sphinx keeps what it has read, and warns of a page only when it reads it."""
    (sphinx,) = [line for line in run("make", "-n", "docs", cwd=checkout).stdout.splitlines() if "-m sphinx" in line]
    assert {"-W", "-E"} <= set(sphinx.split())


def test_every_command_says_what_it_does(checkout):
    text = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)[1].split()
    done = run("make", "help", cwd=checkout)
    assert [line.split()[0] for line in done.stdout.splitlines()] == phony
