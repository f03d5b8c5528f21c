"""Exit codes of commands that were ended from outside."""

from __future__ import annotations

INTERRUPTED, KILLED_BY_PIPE = 130, 141
"""As a shell reports a program that SIGINT or SIGPIPE ended."""
