"""New processes: time to the first step, and to compile everything."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import kepler_envs
from benchmarks.sampling import GAME, Row, Settings

ROOT = Path(__file__).parents[1]


def start_up(settings: Settings) -> list[Row]:
    """the first step of a new process: empty cache, full cache, wheel with compiled code"""
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
        *([] if settings.quick else _of_everything(settings)),
    ]


def _of_everything(settings: Settings) -> list[Row]:
    """What takes minutes."""
    return [*_from_wheel(max(WHEEL_REPETITIONS, settings.repetitions)), *_cold_compile()]


def _first_step(cache_folder: str) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.first_step", GAME]
    run = subprocess.run(command, env=_environment(cache_folder), cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def _environment(cache_folder: str) -> dict[str, str]:
    """The environment of a new process that keeps compiled code there, and bytecode beside the sources, whatever it is
    told here: an installation has that, too."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "KEPLER_ENVS_CACHE_DIR": cache_folder, "KEPLER_ENVS_QUIET": "1"}


# ---------------------------------------------------------------- the wheel


WHEEL_REPETITIONS = 12
"""Of whole processes. The fastest of fewer still differs by a fifth from one time to the next."""


def compiled_wheels() -> list[Path]:
    """The wheels in dist/ of this version that bring compiled code for this Python."""
    return sorted(
        (ROOT / "dist").glob("kepler_envs-{}-cp{}{}-*.whl".format(kepler_envs.__version__, *sys.version_info))
    )


def differing(wheel: Path, root: Path = ROOT) -> list[str]:
    """The files of the package that differ between a wheel and a checkout, compiled code aside; of files that the wheel
    lacks, the modules."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("kepler_envs/") and not name.endswith("/")]
        held = {name: archive.read(name) for name in names if not name.startswith("kepler_envs/_compiled/")}
    modules = {path.relative_to(root).as_posix() for path in (root / "kepler_envs").rglob("*.py")}
    return sorted(name for name in modules.union(held) if held.get(name) != _content(root / name))


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _from_wheel(repetitions: int) -> list[Row]:
    """The first step of each game from the wheel for this Python. No rows if dist/ has none."""
    wheels = compiled_wheels()
    if not wheels:
        return []
    with tempfile.TemporaryDirectory(prefix="kepler_envs_wheel_") as folder:
        with zipfile.ZipFile(wheels[-1]) as archive:
            archive.extractall(folder)
        return [_wheel_row(game, folder, repetitions) for game in kepler_envs.list_games()]


def _wheel_row(game: str, folder: str, repetitions: int) -> Row:
    libraries = "import numba, gymnasium, pettingzoo"
    step = f"import kepler_envs; env = kepler_envs.make({game!r}); env.reset(seed=0); env.step(env.legal_actions()[0])"
    cache_folder = Path(folder, "cache")
    environment = {**_environment(str(cache_folder)), "PYTHONPATH": folder}
    seconds: dict[str, list[float]] = {libraries: [], step: []}
    _seconds_of(step, folder, environment)  # writes the bytecode, as an installation does
    for _ in range(repetitions):
        for code, found in seconds.items():
            found.append(_seconds_of(code, folder, environment))
    first, imports = min(seconds[step]), min(seconds[libraries])
    compiled = any(cache_folder.rglob("*.nbc"))  # its code does not fit here
    late = ", after compiling" if compiled else ""
    value = f"{first:.2f} s ({first / imports:.2f} of importing the libraries alone{late})"
    met = first <= 2 * imports and not compiled
    return Row(f"{game}, first step from the wheel", value, "<= 2", met, first / imports)


def _seconds_of(code: str, folder: str, environment: dict[str, str]) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=environment, cwd=folder, check=True)
    return time.perf_counter() - begun


# ---------------------------------------------------------------- compiling


def _cold_compile() -> list[Row]:
    """CPU seconds to compile all kernels of each game into an empty cache, in a new process each, and their sum."""
    code = (
        "import time, sys; import kepler_envs; from kepler_envs.engine.warmup import compile_kernels, kernels; "
        "start = time.process_time(); "
        "compile_kernels(kernels(kepler_envs.load_game(sys.argv[1]))); print(time.process_time() - start)"
    )
    rows, total = [], 0.0
    for name in kepler_envs.list_games():
        with tempfile.TemporaryDirectory(prefix="kepler_envs_cache_") as folder:
            command = [sys.executable, "-c", code, name]
            run = subprocess.run(
                command, env=_environment(folder), cwd=ROOT, capture_output=True, text=True, check=True
            )
        seconds = float(run.stdout)
        total += seconds
        target, met = ("< 15 s", seconds < 15) if name == GAME else ("", None)
        rows.append(Row(f"{name}, cold compile of every kernel", f"{seconds:.1f} CPU s", target, met))
    return [*rows, Row("all games, cold compile of every kernel", f"{total:.1f} CPU s")]
