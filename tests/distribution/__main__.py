"""``python -m tests.distribution``: build sdist and wheel into dist/, try the wheel alone with one or several Pythons, and each extra."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.distribution.contents import ROOT, ContentError, build, check_sdist, check_wheel

SMOKE, SMOKE_EXTRAS = (Path(__file__).with_name(name) for name in ("smoke.py", "smoke_extras.py"))
EXTRAS = ("tournament", "cli", "web", "analysis", "openspiel", "sb3", "torchrl", "rllib")
"""Those for users of the wheel; the others (training, docs, notebooks, dev) are for a checkout."""
TORCH = ("sb3", "torchrl", "rllib")
"""Those that bring PyTorch, which is named first and exactly: another release would bring gigabytes of GPU libraries along."""
OLDER_GYMNASIUM = ("rllib",)
"""Those that pin another gymnasium than constraints.txt."""
CACHE = {"KEPLER_ENVS_CACHE_DIR": str(ROOT / "build" / "distribution-cache")}
"""Compiled code of the wheel, which the environments share: the same sources and the same compiler."""


def try_alone(wheel: Path, python: str, extra: str = "") -> None:
    """Install the wheel into a fresh environment, with its core dependencies or with an extra, and use it outside the checkout."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
        inside = folder / "venv" / "bin" / "python"
        pins = folder / "constraints.txt"
        lines = (ROOT / "constraints.txt").read_text().splitlines()
        unpinned = "gymnasium==" if extra in OLDER_GYMNASIUM else "#"
        pins.write_text("\n".join(line for line in lines if not line.startswith(unpinned)) + "\n")
        pip = [inside, "-I", "-m", "pip"]  # isolated: a checkout on PYTHONPATH would pass for an installation
        torch = [next(line for line in lines if line.startswith("torch=="))] if extra in TORCH else []
        for wanted in (torch, [f"{wheel.resolve()}[{extra}]" if extra else wheel.resolve()]):
            if wanted:
                subprocess.run([*pip, "install", "--quiet", "-c", pins, *wanted], check=True)
        subprocess.run([*pip, "check"], check=True, stdout=subprocess.DEVNULL)
        script = [SMOKE_EXTRAS, extra] if extra else [SMOKE]
        subprocess.run([inside, "-I", *script, folder], check=True, cwd=folder, env={**os.environ, **CACHE})


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.distribution", description=__doc__)
    parser.add_argument("--python", nargs="+", default=[sys.executable], help="interpreters to try the wheel with")
    parser.add_argument(
        "--extras", nargs="*", choices=EXTRAS, default=EXTRAS, help="extras to try with the first of them"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the two files go")
    asked = parser.parse_args(argv)
    absent = [python for python in asked.python if shutil.which(python) is None]
    if absent:
        print(f"no such interpreter: {', '.join(absent)}", file=sys.stderr)
        return 2
    asked.out.mkdir(parents=True, exist_ok=True)
    try:
        built = build(asked.out)
        print(f"{built.sdist}: {len(check_sdist(built.sdist))} files")
        print(f"{built.wheel}: {len(check_wheel(built.wheel))} files")
        for python in asked.python:
            try_alone(built.wheel, python)
        for extra in asked.extras:
            try_alone(built.wheel, asked.python[0], extra)
    except ContentError as problem:
        print(problem, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as problem:
        print(f"failed: {' '.join(map(str, problem.cmd))}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
