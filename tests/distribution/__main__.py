"""``python -m tests.distribution``: build sdist and wheel into dist/ and try the wheel alone with one or several Pythons."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.distribution.contents import ROOT, ContentError, build, check_sdist, check_wheel

SMOKE = Path(__file__).with_name("smoke.py")


def try_alone(wheel: Path, python: str) -> None:
    """Install the wheel with its core dependencies into a fresh environment and play every game outside the checkout."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
        inside = folder / "venv" / "bin" / "python"
        pins = ROOT / "constraints.txt"
        pip = [inside, "-I", "-m", "pip"]  # isolated: a checkout on PYTHONPATH would pass for an installation
        subprocess.run([*pip, "install", "--quiet", "-c", pins, wheel.resolve()], check=True)
        subprocess.run([*pip, "check"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([inside, "-I", SMOKE, folder], check=True, cwd=folder)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.distribution", description=__doc__)
    parser.add_argument("--python", nargs="+", default=[sys.executable], help="interpreters to try the wheel with")
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
    except ContentError as problem:
        print(problem, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as problem:
        print(f"failed: {' '.join(map(str, problem.cmd))}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
