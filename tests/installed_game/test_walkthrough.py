"""docs/adding_a_game.md, done as it says: the package is installed, and every command on the page runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kepler_envs.engine.kernel import JIT_ENABLED
from tests import commands
from tests.effort import only_deep

HERE = Path(__file__).parent
PAGE = commands.ROOT / "docs" / "adding_a_game.md"
INCLUDED = re.compile(r"^```\{literalinclude\} (\S+)$", re.MULTILINE)
INSTALL = "pip install "
SHORTER = {"--minutes 1 ": "--minutes 0.02 --eval-games 6 ", "--games 400": "--games 12"}
"""What takes its time on the page, and what is run in its place."""


def test_the_page_shows_every_file_of_the_package():
    shown = {(PAGE.parent / name).resolve() for name in INCLUDED.findall(PAGE.read_text(encoding="utf-8"))}
    sources = {path for path in (HERE / "src").rglob("*") if path.suffix in (".py", ".toml")}
    assert shown >= sources - {HERE / "src" / "undertow_checks" / "__init__.py"} | {HERE / "pyproject.toml"}


@only_deep
@pytest.mark.skipif(not JIT_ENABLED, reason="runs programs of their own")
def test_every_command_of_the_page_runs(installed: Path, tmp_path: Path):
    asked = list(commands.commands(PAGE))
    assert asked and all(HERE.name in command.skipped for command in asked), "this test is what runs them"
    left = dict(SHORTER)
    for command in asked:
        text = command.text.replace("runs/undertow", str(tmp_path / "run"))
        for longer in [longer for longer in left if longer in text]:
            text = text.replace(longer, left.pop(longer))
        if not text.startswith(INSTALL):  # the fixture has done that, without the index
            done = run(command.language, text, installed, tmp_path)
            assert done.returncode == 0, f"{command}: {text}\n{done.stdout}"
    assert not left, f"not on the page: {left}"


def run(language: str, text: str, site: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the page in the checkout, with the package where Python finds it."""
    words = [sys.executable, "-"] if language == "python" else ["bash", "-e", "-c", text]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    variables = {"PATH": path, "PYTHONPATH": f"{commands.ROOT}{os.pathsep}{site}", "PYTEST_ADDOPTS": ""}
    return subprocess.run(
        words, input=text if language == "python" else "", cwd=commands.ROOT, env={**os.environ, **variables},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
    )  # fmt: skip
