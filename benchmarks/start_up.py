"""New processes: how long until the first step, and until everything is compiled."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import kepler_envs
from benchmarks.sampling import GAME, Row, Settings


def start_up(settings: Settings) -> list[Row]:
    """start-up of new processes, with an empty and with a full compile cache"""
    with tempfile.TemporaryDirectory(prefix="kepler_envs_cache_") as folder:
        cold = _first_step(folder)
        warm = [_first_step(folder) for _ in range(max(3, settings.repetitions))]
    median = statistics.median(run["first_step_s"] for run in warm)
    imported = statistics.median(run["import_s"] for run in warm)
    cold_value = f"{cold['first_step_s']:.1f} s"
    return [
        Row(
            "first AEC step after import, warm cache", f"{median:.2f} s (import {imported:.2f} s)", "< 1 s", median < 1
        ),
        Row("first AEC step, empty cache", cold_value, "< 15 s", cold["first_step_s"] < 15),
        *_cold_compile(),
    ]


def _first_step(cache_folder: str) -> dict[str, float]:
    environment = {**os.environ, "KEPLER_ENVS_CACHE_DIR": cache_folder}
    command = [sys.executable, "-m", "benchmarks.first_step", GAME]
    root = Path(__file__).parents[1]
    run = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def _cold_compile() -> list[Row]:
    """All kernels of a game into an empty cache, in a new process."""
    code = (
        "import time, sys; import kepler_envs; from kepler_envs.engine.warmup import compile_kernels, kernels; start = time.perf_counter(); "
        "compile_kernels(kernels(kepler_envs.load_game(sys.argv[1]))); print(time.perf_counter() - start)"
    )
    rows = []
    for name in kepler_envs.list_games():
        with tempfile.TemporaryDirectory(prefix="kepler_envs_cache_") as folder:
            environment = {**os.environ, "KEPLER_ENVS_CACHE_DIR": folder}
            command = [sys.executable, "-c", code, name]
            root = Path(__file__).parents[1]
            run = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=True)
        seconds = float(run.stdout)
        target = ("< 15 s", seconds < 15) if name == GAME else ("", None)
        rows.append(Row(f"{name}, cold compile of every kernel", f"{seconds:.1f} s", *target))
    return rows
