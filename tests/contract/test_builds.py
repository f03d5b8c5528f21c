"""The same tests in other builds: bounds-checked, uncompiled; and what is compiled ahead."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kepler_envs
from tests.effort import DEEP, slow

REPOSITORY = Path(__file__).parents[2]
every_name = pytest.mark.parametrize("name", kepler_envs.list_games())

IN_BOTH_BUILDS = "resampling_is_reproducible or playthrough_is_unchanged or extreme_file"
"""Tests of the contract that touch every verb in the fewest kernels, as compiling takes most of the time: what the
quick profile runs again; the deep one runs all."""


def run(arguments: list[str], **variables: str) -> str:
    """A Python process in the repository; its output."""
    result = subprocess.run(
        [sys.executable, *arguments], env={**os.environ, "PYTEST_ADDOPTS": "", "KEPLER_ENVS_DEEP": "", **variables},
        cwd=REPOSITORY, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout[-5000:]
    return result.stdout


def pytest_arguments(*paths: str) -> list[str]:
    return ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--timeout=1200", *paths]


@slow
@pytest.mark.parametrize("name", kepler_envs.list_games() if DEEP else ["kitten_adventurers"])
@pytest.mark.timeout(3000)
def test_bounds_checked(name: str, tmp_path: Path) -> None:
    """Rules and contract with every index checked, in a cache of its own: a wrong one raises IndexError."""
    checked = {"NUMBA_BOUNDSCHECK": "1", "KEPLER_ENVS_CACHE_DIR": str(tmp_path)}
    rules = run(pytest_arguments(f"tests/games/{name}/test_vectors.py"), **checked)
    assert " passed" in rules and "skipped" not in rules
    chosen = "not test_builds" if DEEP else f"({IN_BOTH_BUILDS})"
    contract = run([*pytest_arguments("tests/contract"), "-k", f"{name} and {chosen}"], **checked)
    assert " passed" in contract
    folders = [folder.name for folder in (tmp_path / "kepler_envs").iterdir()]
    assert folders and all(folder.endswith("-boundscheck") for folder in folders)


@slow
@every_name
def test_rules_uncompiled(name: str) -> None:
    """The rules' own tests with the same source as plain Python."""
    output = run(pytest_arguments(f"tests/games/{name}/test_vectors.py"), NUMBA_DISABLE_JIT="1")
    assert " passed" in output and "skipped" not in output


USE_EVERYTHING = """
import sys
import numpy as np
import kepler_envs
from kepler_envs.engine import code_cache, warmup

built = []
load = code_cache.KernelCache.load_overload
code_cache.KernelCache.load_overload = lambda cache, *rest: built.append(cache._name) or load(cache, *rest)

game = kepler_envs.load_game(sys.argv[1])
count = warmup.compile_kernels(warmup.kernels(game))
assert len(built) == count, (built, count)
env = kepler_envs.make(game.id, **({"shaping": 0.5} if "shaping" in {o.name for o in game.option_list} else {}))
env.reset(seed=1)
for _ in range(5):
    env.step(env.legal_actions()[0])
env.observe(env.possible_agents[1]), env.state(), env.clone()
env.snapshot().resample(0, 1), env.resample("player_1", 2)
env.snapshot().results(), env.snapshot().apply(env.legal_actions()[0])
for threads in (1, 2):
    batch = kepler_envs.make_batch(game.id, 8, seed=1, threads=threads)
    while not batch.episodes.all():
        batch.step(batch.uniform())
    batch.observe(0), batch.observe_final(0), batch.restore(0, batch.snapshot(1)), batch.reset(), batch.reset(3)
kepler_envs.playouts(env.snapshot(), 2, seed=1)
print("later", len(built) - count)
"""


@every_name
def test_nothing_is_compiled_after_the_warm_up(name: str) -> None:
    """warmup.kernels knows every kernel the package uses."""
    output = run(["-c", USE_EVERYTHING, name])
    assert output.splitlines()[-1] == "later 0"
