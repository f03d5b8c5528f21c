"""The machine and the versions a measurement was made with."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

MEASURED_WITH = ("numba", "llvmlite", "numpy", "pettingzoo")


def processor() -> str:
    """The processor's model name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(": ")[2] for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or "unknown processor"


def describe() -> list[str]:
    """Describe the machine in two lines: processor, logical cores and load; system and versions."""
    return [
        f"{processor()}, {os.cpu_count()} logical cores, load {os.getloadavg()[0]:.1f}",
        ", ".join(
            [
                f"{platform.system()} {platform.release()}",
                f"Python {platform.python_version()}",
                *(f"{name} {version(name)}" for name in MEASURED_WITH),
            ]
        ),
    ]
