"""Checks that several sections of the component file share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kepler_envs.engine.components import ComponentFile

NAME_BYTES = 40


def check_keys(file: ComponentFile, where: str, column: str, given: dict[str, Any], names: Sequence[str]) -> None:
    """Check that a mapping has these keys and no others."""
    if set(given) != set(names):
        wanted = ", ".join(names) if names else "nothing"
        raise file.error(where, f"{column} has {', '.join(given) or 'nothing'}; it must have {wanted}")


def check_choice(file: ComponentFile, where: str, row: dict[str, Any], column: str, allowed: Iterable[str]) -> None:
    """Check that a value is one of the allowed words."""
    if row[column] not in allowed:
        raise file.error(where, f"{column} is {row[column]!r}; allowed: {', '.join(allowed)}")
