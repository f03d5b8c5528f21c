"""Checks that several sections of the component file share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kepler_envs.engine.components import ComponentFile

NAME_BYTES = 40


def check_ids(
    file: ComponentFile, section: str, rows: list[dict[str, Any]], count: int, first: int = 0, column: str = "id"
) -> None:
    """All ids, in their order."""
    for position, row in enumerate(rows[:count]):
        if row[column] != position + first:
            raise file.error(
                f"{section} row {position + 1}",
                f"{column} is {row[column]}; rows must have {column} {first}..{first + count - 1} in this order",
            )
    if len(rows) != count:
        raise file.error(section, f"{len(rows)} rows; there are exactly {count}")


def check_keys(file: ComponentFile, where: str, column: str, given: dict[str, Any], names: Sequence[str]) -> None:
    """These keys and no others."""
    if set(given) != set(names):
        wanted = ", ".join(names) if names else "nothing"
        raise file.error(where, f"{column} has {', '.join(given) or 'nothing'}; it must have {wanted}")


def check_choice(file: ComponentFile, where: str, row: dict[str, Any], column: str, allowed: Iterable[str]) -> None:
    """One of the allowed words."""
    if row[column] not in allowed:
        raise file.error(where, f"{column} is {row[column]!r}; allowed: {', '.join(allowed)}")
