"""PettingZoo's own checks through its registry, and through an older release that has none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients import needs

needs("pettingzoo")

import pettingzoo
from pettingzoo.test import api_test, performance_benchmark, seed_test
from pettingzoo.test.state_test import test_state as check_state

import kepler_envs

ROOT = Path(__file__).parents[2]
OLDER = Path(sys.prefix) / "older"
"""Where the Makefile installs the oldest PettingZoo that is allowed."""


@pytest.mark.parametrize("name", kepler_envs.list_games())
def test_its_checks(name):
    def build(**settings):
        return pettingzoo.make("aec", f"kepler/{kepler_envs.load_game(name).id}", **settings)

    api_test(build(), num_cycles=200)
    seed_test(build, num_cycles=100)
    env = build(illegal="lose")  # this one chooses without looking at the mask
    env.reset(seed=1)
    check_state(env, 100)


def test_its_benchmark(capsys):
    performance_benchmark(pettingzoo.make("aec", "kepler/kitten_adventurers-v1"))
    assert "turns per second" in capsys.readouterr().out.lower()


def test_an_environment_that_is_not_parallel_says_so():
    from pettingzoo.utils.conversions import aec_to_parallel

    with pytest.raises(AssertionError, match="is_parallelizable"):
        aec_to_parallel(pettingzoo.make("aec", "kepler/kitten_adventurers-v1"))


OLD = """
import warnings
warnings.simplefilter("ignore")
import pettingzoo
assert pettingzoo.__version__.startswith("1.26.") and not hasattr(pettingzoo, "register")
import gymnasium
import numpy as np
import kepler_envs
from pettingzoo.test import api_test, seed_test
for name in ("kitten_adventurers", "kepler_run"):
    api_test(kepler_envs.make(name), num_cycles=100)
    seed_test(lambda: kepler_envs.make(name), num_cycles=100)
    env = gymnasium.make(f"kepler/{kepler_envs.load_game(name).id}")
    observation, info = env.reset(seed=1)
    env.step(int(np.flatnonzero(info["action_mask"])[0]))
"""


@pytest.mark.skipif(not OLDER.is_dir(), reason="make test-clients installs an older PettingZoo beside")
def test_an_older_release_without_a_registry():
    path = os.pathsep.join([str(OLDER), str(ROOT)])
    result = subprocess.run(
        [sys.executable, "-c", OLD], env={**os.environ, "PYTHONPATH": path}, cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
