"""The source checkout around this package: its folder ``agents/`` is no part of the wheel."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

import kepler_envs

UNIFORM = "uniform"
"""The one agent that the package has by itself."""


class NoCheckoutError(Exception):
    """The module ``agents`` is not there; the message says where it would be."""


def find_agents() -> Any:
    """The module ``agents`` of the checkout; NoCheckoutError where there is none."""
    checkout = Path(kepler_envs.__file__).parents[1]
    if (checkout / "agents" / "protocol.py").is_file() and str(checkout) not in sys.path:
        sys.path.insert(0, str(checkout))
    try:
        ours = importlib.util.find_spec("agents.protocol") is not None  # other projects have a package agents too
    except ModuleNotFoundError:
        ours = False
    if not ours:
        raise NoCheckoutError(
            f"only the agent {UNIFORM!r} is part of the package; the others are in the folder agents/ of the source "
            "checkout, which is not on Python's path: run `python -m kepler_envs` in the checkout"
        )
    return importlib.import_module("agents")
