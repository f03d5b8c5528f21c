"""The state of the sources that something was made with."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

VERSION = "0.1.0"
"""Version of the package; ``pyproject.toml`` and ``CITATION.cff`` say the same."""
DIGITS = 40
"""Of a commit."""


@cache
def commit(digits: int = DIGITS) -> str:
    """The git commit of the checkout this package lies in, followed by ``+`` if files differ from it.

    It is empty outside of a checkout. A process asks once: what is committed while it runs is not what it runs.

    Args:
        digits: the number of leading digits to return.
    """
    head, changed = _git("rev-parse", "HEAD"), _git("status", "--porcelain")
    if head is None or changed is None or _git("ls-files", "--error-unmatch", Path(__file__).name) is None:
        return ""  # or a package installed somewhere below another project's checkout
    return head[:digits] + ("+" if changed else "")


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=Path(__file__).parent, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
