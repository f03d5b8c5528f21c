"""Structured dtypes with overlays: a row that shares its bytes with the named fields it spans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def overlay(fields: Sequence[tuple[Any, ...]], **rows: tuple[Any, ...]) -> np.dtype:
    """An aligned structured dtype whose ``rows`` are second names for runs of its fields.

    Args:
        fields: as for ``np.dtype([...])``.
        rows: name = (item type, length) or (item type, length, first field); the row covers ``length`` items from
            that field (the first of all unless told) on. The fields it covers must lie there without gaps.

    Raises:
        TypeError: a row ends inside a field or spans a gap.
    """
    plain = np.dtype(list(fields), align=True)
    assert plain.names is not None and plain.fields is not None
    offsets = {name: int(plain.fields[name][1]) for name in plain.names}
    names, formats = list(plain.names), [plain.fields[name][0] for name in plain.names]
    places = [offsets[name] for name in plain.names]
    for row, (item, length, *first) in rows.items():
        start = offsets[first[0]] if first else 0
        end = start + np.dtype(item).itemsize * length
        covered = sorted((offsets[name], plain.fields[name][0].itemsize) for name in plain.names)
        inside = [(place, size) for place, size in covered if start <= place < end]
        if sum(size for _, size in inside) != end - start or inside[-1][0] + inside[-1][1] != end:
            raise TypeError(f"row {row!r} does not cover whole fields without gaps")
        names.append(row)
        formats.append(np.dtype((item, (length,))))
        places.append(start)
    return np.dtype(
        {"names": names, "formats": formats, "offsets": places, "itemsize": plain.itemsize, "aligned": True}
    )
