"""The golden playthroughs are played again: compiled and uncompiled, to the last character."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kepler_envs import Snapshot
from tests import playthroughs
from tests.effort import DEEP, slow

REPOSITORY = Path(__file__).parents[2]
every_file = pytest.mark.parametrize(
    "path", [pytest.param(path, id=f"{path.parts[-3]}-{path.stem}") for path in playthroughs.files()]
)


@every_file
def test_playthrough_is_unchanged(path: Path) -> None:
    """A difference means another version of the game (see tests/playthroughs.py), or a bug."""
    assert path.exists(), "no golden playthrough: python -m tests.playthroughs --write"
    difference = playthroughs.first_difference(path.read_text(encoding="utf-8"), playthroughs.playthrough(path))
    assert not difference, difference


@every_file
def test_playthrough_is_a_whole_game(path: Path) -> None:
    """The file itself says a game from the deal to its end, and stays small enough to read."""
    lines = path.read_text(encoding="utf-8").splitlines()
    config, _, seed = playthroughs.configuration(path)
    numbers = [int(line.split(".")[0]) for line in lines if line[:1].isdigit()]
    assert numbers == list(range(1, len(numbers) + 1))
    actions = [int(line.split()[1]) for line in lines if line.startswith("  -> ")]
    position = Snapshot.deal(config, seed)
    for action in actions:
        position = position.apply(action)
    assert position.over and lines[-1].split()[1] == position.digest()
    assert path.stat().st_size < 250_000


@slow
@pytest.mark.parametrize("name", sorted({path.parts[-3] for path in playthroughs.files()}))
def test_uncompiled_game_is_the_same(name: str) -> None:
    """The same source as plain Python (NUMBA_DISABLE_JIT=1), for whole golden playthroughs: one, or in the deep profile
    all."""
    paths = [path for path in playthroughs.files() if path.parts[-3] == name][: None if DEEP else 1]
    result = subprocess.run(
        [sys.executable, "-m", "tests.playthroughs", "--print", *map(str, paths)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    expected = "".join(path.read_text(encoding="utf-8") for path in paths)
    difference = playthroughs.first_difference(expected, result.stdout)
    assert not difference, difference


def test_every_file_belongs_to_a_recipe() -> None:
    found = set(playthroughs.FOLDER.glob("*/playthroughs/*.txt"))
    assert found == set(playthroughs.files())
