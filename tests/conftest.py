"""How much is tested: a quick, repeatable run by default, many times as much with ``KEPLER_ENVS_DEEP=1``."""

from __future__ import annotations

import os

os.environ.setdefault("NUMBA_NUM_THREADS", "2")  # batches with two threads are tested on machines with one core, too
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # waiting threads of NumPy would spin beside other tests
os.environ.setdefault("KEPLER_ENVS_QUIET", "1")  # tests compare what commands say, whatever is compiled on the way

from hypothesis import HealthCheck, settings

from tests.effort import DEEP

SHARED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}

settings.register_profile("quick", max_examples=50, derandomize=True, database=None, **SHARED)
settings.register_profile("deep", max_examples=300, print_blob=True, **SHARED)
settings.load_profile("deep" if DEEP else "quick")
