"""Builds in the checkout itself, as ``pip install .`` makes them: what was deleted since the last one stays away."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("setuptools", reason="the distributions are built with setuptools (extra dev)")

ROOT = Path(__file__).parents[2]
BUILD_FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "CHANGELOG.md")
MODULE, NETWORK = "kepler_envs/gone.py", "kepler_envs/bots/published/game/gone-v1.zip"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The real build files around a package of a few files."""
    for name in BUILD_FILES:
        shutil.copy(ROOT / name, tmp_path)
    for name in ("kepler_envs", "kepler_envs/bots", "kepler_envs/bots/published"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    (tmp_path / NETWORK).parent.mkdir()
    for name in (MODULE, NETWORK):
        (tmp_path / name).touch()
    return tmp_path


def built(checkout: Path) -> set[str]:
    """The files of a wheel that is built as pip builds it."""
    code = "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
    command = [sys.executable, "-I", "-c", code, "wheels"]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True)
    with zipfile.ZipFile(checkout / "wheels" / done.stdout.splitlines()[-1]) as archive:
        return {name for name in archive.namelist() if name.startswith("kepler_envs/")}


def test_a_wheel_holds_nothing_that_was_deleted(checkout):
    first = built(checkout)
    assert {MODULE, NETWORK} <= first
    for name in (MODULE, NETWORK):
        (checkout / name).unlink()
    assert built(checkout) == first - {MODULE, NETWORK}
