"""How much is tested: a quick, repeatable run by default, many times as much with ``KEPLER_ENVS_DEEP=1``."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("NUMBA_NUM_THREADS", "2")  # batches with two threads are tested on machines with one core, too
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # waiting threads of NumPy would spin beside other tests
os.environ.setdefault("KEPLER_ENVS_QUIET", "1")  # tests compare what commands say, whatever is compiled on the way

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a script; tests send Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

import pytest
from hypothesis import HealthCheck, settings

from tests.effort import DEEP

SHARED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}

settings.register_profile("quick", max_examples=50, derandomize=True, database=None, **SHARED)
settings.register_profile("deep", max_examples=300, print_blob=True, **SHARED)
settings.load_profile("deep" if DEEP else "quick")


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the package of a game, Undertow."""
    package, folder = Path(__file__).with_name("installed_game"), tmp_path_factory.mktemp("installed")
    shutil.copytree(package, folder / "source", ignore=shutil.ignore_patterns("*.egg-info", "__pycache__"))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", folder / "site", folder / "source"], check=True)
    return folder / "site"
