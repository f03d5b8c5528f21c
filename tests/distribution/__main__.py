"""Build sdist, pure wheel and a wheel with compiled code for each Python into dist/, and try them.

The first of the Pythons tries the pure wheel, alone and with each extra. Each Python tries its own wheel.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import kepler_envs
from tests.distribution.compiled import (
    PYTHONS,
    build_compiled,
    can_build,
    check_compiled,
    find_python,
    make_environment,
)
from tests.distribution.contents import ROOT, ContentError, build, check_sdist, check_wheel

SMOKE, SMOKE_EXTRAS, INSTALLED = (
    Path(__file__).with_name(name) for name in ("smoke.py", "smoke_extras.py", "installed.py")
)
REPETITIONS = 7
MOST_IMPORTS = 2.0
"""Most time a first step may take, as a multiple of importing numba, gymnasium and pettingzoo."""
EXTRAS = ("tournament", "cli", "web", "analysis", "openspiel", "sb3", "torchrl", "ray", "rllib")
"""The extras for users of the wheel. The others (training, docs, notebooks, dev) are for a checkout."""
TORCH = ("sb3", "torchrl", "rllib")
"""The extras that bring PyTorch. It is installed first, in an exact version: another release could bring gigabytes of
GPU libraries."""
OLDER_GYMNASIUM = ("rllib",)
"""The extras that pin another gymnasium than constraints.txt."""
CACHE = {"KEPLER_ENVS_CACHE_DIR": str(ROOT / "build" / "distribution-cache")}
"""Compiled code of the wheel, shared by the environments: they have the same sources and compiler."""


def try_alone(wheel: Path, python: str, extra: str = "") -> None:
    """Install the wheel into a fresh environment, with its core dependencies or with an extra, and use it outside the
    checkout."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pins = folder / "constraints.txt"
        lines = (ROOT / "constraints.txt").read_text().splitlines()
        unpinned = "gymnasium==" if extra in OLDER_GYMNASIUM else "#"
        pins.write_text("\n".join(line for line in lines if not line.startswith(unpinned)) + "\n")
        torch = [next(line for line in lines if line.startswith("torch=="))] if extra in TORCH else []
        wanted = f"{wheel.resolve()}[{extra}]" if extra else wheel.resolve()
        inside = make_environment(folder / "venv", python, [*torch, wanted], pins)
        script = [SMOKE_EXTRAS, extra] if extra else [SMOKE]
        subprocess.run([inside, "-I", *script, folder], check=True, cwd=folder, env={**os.environ, **CACHE})


def try_compiled(wheel: Path, python: str) -> None:
    """Check that the wheel plays everything without compiling, and compiles what is needed where its code does not
    fit."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        inside = make_environment(folder / "venv", python, [wheel.resolve()], ROOT / "constraints.txt")

        def run(*command: object, cache: str = "cache") -> None:
            kept = {
                key: value for key, value in os.environ.items() if not key.startswith(("NUMBA_", "KEPLER_", "PYTHON"))
            }
            environment = {**kept, "KEPLER_ENVS_CACHE_DIR": str(folder / cache)}
            subprocess.run([inside, *command], check=True, cwd=folder, env=environment)

        run("-I", SMOKE, folder)
        run("-I", INSTALLED, "play")
        for game in kepler_envs.list_games():
            run("-I", INSTALLED, "first", game)
            print(f"{game:20} {_time_first_step(inside, game)}")
        rules = next((folder / "venv").rglob("games/kitten_adventurers/rules.py"))
        text = rules.read_text(encoding="utf-8")
        for reason in ("sources", "numba", "processor"):
            rules.write_text(text + "# edited\n" if reason == "sources" else text, encoding="utf-8")
            run("-I", INSTALLED, "lesser", reason, cache=reason)
            run("-I", INSTALLED, "again", reason, cache=reason)
        print("compiled and said why where sources, numba or the processor differ")
        subprocess.run(
            [inside, "-I", "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", "pytest"], check=True
        )
        shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
        run("-m", "tests.playthroughs")
        written = [str(path) for path in (folder / "cache").rglob("*.nbc")]
        if written:
            raise ContentError(f"{wheel.name} lacks code that was compiled here: {written}")


def _time_first_step(inside: Path, game: str) -> str:
    """The fastest of several new processes, compared with the fastest that imports the libraries alone. ContentError if
    it takes more than twice as long."""
    libraries = "import numba, gymnasium, pettingzoo"
    step = f"import kepler_envs as k; env = k.make({game!r}); env.reset(seed=1); env.step(env.legal_actions()[0])"
    seconds: dict[str, list[float]] = {libraries: [], step: []}
    for _ in range(REPETITIONS):
        for code, found in seconds.items():
            begun = time.perf_counter()
            subprocess.run([inside, "-I", "-c", code], check=True)
            found.append(time.perf_counter() - begun)
    imports, first = min(seconds[libraries]), min(seconds[step])
    if first > MOST_IMPORTS * imports:
        raise ContentError(
            f"{game}: first step after {first:.2f} s, more than {MOST_IMPORTS} times the {imports:.2f} s of imports"
        )
    return f"first step of a new process after {first:.2f} s, {first / imports:.2f} of importing the libraries alone"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.distribution", description=__doc__)
    parser.add_argument(
        "--python", nargs="+", default=PYTHONS, help="interpreters to build for; missing ones are reported"
    )
    parser.add_argument(
        "--extras", nargs="*", choices=EXTRAS, default=EXTRAS, help="extras to try with the first interpreter"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for the files")
    asked = parser.parse_args(argv)
    pythons = {command: find_python(command) for command in asked.python}
    for command, found in pythons.items():
        if found is None:
            print(f"{command}: no CPython that wheels are built for; skipped")
    present = list({found.tag: found for found in pythons.values() if found is not None}.values())
    if not present:
        print("none of these interpreters is on this machine", file=sys.stderr)
        return 2
    asked.out.mkdir(parents=True, exist_ok=True)
    try:
        built = build(asked.out)
        print(f"{built.sdist}: {len(check_sdist(built.sdist))} files")
        print(f"{built.wheel}: {len(check_wheel(built.wheel))} files")
        try_alone(built.wheel, present[0].command)
        for extra in asked.extras:
            try_alone(built.wheel, present[0].command, extra)
        if not can_build():
            print("no wheels with compiled code: they are for Linux on x86-64")
            return 0
        for python in present:
            wheel = build_compiled(built.wheel, python)
            code = check_compiled(wheel)
            sizes = f"{wheel.stat().st_size / 1e6:.1f} MB, of which {code.size / 1e6:.1f} MB of code unpacked"
            print(f"{wheel}: {code.kernels} kernels of {code.scopes} scopes, {sizes}", flush=True)
            try_compiled(wheel, python.command)
    except ContentError as problem:
        print(problem, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as problem:
        print(f"failed: {' '.join(map(str, problem.cmd))}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
