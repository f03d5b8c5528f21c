"""What a measurement was made with: machine, versions, commit."""

from __future__ import annotations

from kepler_envs import machine
from kepler_envs.revision import commit


def describe() -> str:
    """Processor, cores, load, versions and commit."""
    return "\n".join([*machine.describe(), f"commit {commit(7) or 'unknown'}"])
