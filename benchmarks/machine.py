"""What a measurement was made with: machine, versions, commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kepler_envs import machine


def describe() -> str:
    """Processor, cores, load, versions and commit."""
    return "\n".join([*machine.describe(), f"commit {_commit()}"])


def _commit() -> str:
    """The commit of the checkout, with a mark where files were changed; ``unknown`` outside one."""
    here = Path(__file__).parent
    try:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True)
        changes = subprocess.run(["git", "status", "--porcelain"], cwd=here, capture_output=True, text=True)
    except OSError:
        return "unknown"
    if commit.returncode != 0:
        return "unknown"
    return commit.stdout.strip() + (" with local changes" if changes.stdout.strip() else "")
