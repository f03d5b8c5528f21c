"""One flat integer vector, and the named pieces it is made of.

The vector is what kernels write; a :class:`Layout` says what each entry means. Everything that has to know the
meaning (docs tables, the pretty-printer, the learner's preprocessing, tests) reads it from here.

    layout = game.observation
    hand = layout["own_hand"].view(vector)      # a view, no copy; works on batches (..., size) too
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

COUNT, FLAG, CATEGORY, ONE_HOT, PLANE = "count", "flag", "category", "one-hot", "plane"
KINDS = (COUNT, FLAG, CATEGORY, ONE_HOT, PLANE)


@dataclass(frozen=True)
class Piece:
    """A named part of the vector.

    ``shape`` and ``strides`` (in entries) place it: entry (i, j) lies at ``offset + i*strides[0] + j*strides[1]``, so a
    column of a table is a piece too. ``low`` and ``high`` are inclusive. ``kind`` is one of ``count``, ``flag``,
    ``category`` (``low..high`` are labels, 0 often meaning none), ``one-hot`` (the last axis holds at most a single 1) and ``plane``
    (axes: plane, row, column). ``scale`` is what a count is divided by for a network (``high`` unless told).
    """

    name: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    low: int
    high: int
    kind: str
    meaning: str
    scale: float

    @property
    def size(self) -> int:
        """Number of entries."""
        return int(np.prod(self.shape, dtype=int))

    def indices(self) -> np.ndarray:
        """The piece's positions in the vector, an int64 array of ``shape``."""
        grid = np.zeros(self.shape, dtype=np.int64) + self.offset
        for axis, stride in enumerate(self.strides):
            steps = np.arange(self.shape[axis]) * stride
            grid += steps.reshape((-1,) + (1,) * (len(self.shape) - axis - 1))
        return grid

    def view(self, vector: np.ndarray) -> np.ndarray:
        """The piece of ``vector`` (..., size) as a view of shape (..., *shape)."""
        item = vector.strides[-1]
        return np.lib.stride_tricks.as_strided(
            vector[..., self.offset :],
            shape=vector.shape[:-1] + self.shape,
            strides=vector.strides[:-1] + tuple(stride * item for stride in self.strides),
        )


def piece(
    name: str,
    kind: str,
    high: int,
    meaning: str,
    *,
    shape: int | tuple[int, ...] = (),
    low: int = 0,
    scale: float | None = None,
) -> Piece:
    """A piece without a place; :class:`Layout` and :func:`table` give it one."""
    if kind not in KINDS:
        raise ValueError(f"piece {name!r}: kind {kind!r} is not one of {', '.join(KINDS)}")
    if low > high:
        raise ValueError(f"piece {name!r}: low {low} is above high {high}")
    full_shape = (shape,) if isinstance(shape, int) else tuple(shape)
    strides = tuple(int(np.prod(full_shape[axis + 1 :], dtype=int)) for axis in range(len(full_shape)))
    return Piece(name, -1, full_shape, strides, low, high, kind, meaning, float(scale or max(abs(low), high) or 1))


@dataclass(frozen=True)
class Table:
    """``rows`` equal records one after the other; each field becomes a piece named ``table.field``."""

    name: str
    rows: int
    fields: tuple[Piece, ...]


def table(name: str, rows: int, fields: Sequence[Piece]) -> Table:
    """A block of ``rows`` records with the given fields, for example one row a seat."""
    return Table(name, rows, tuple(fields))


class Layout:
    """The pieces of an observation, in the order of the vector.

    Args:
        parts: pieces and tables; they follow one another without gaps.
        dtype: the vector's integer type.
    """

    def __init__(self, parts: Sequence[Piece | Table], dtype: np.dtype | type = np.int16) -> None:
        self.dtype = np.dtype(dtype)
        self.pieces: dict[str, Piece] = {}
        offset = 0
        for part in parts:
            if isinstance(part, Table):
                offset = self._place_table(part, offset)
            else:
                self._add(replace(part, offset=offset))
                offset += part.size
        self.size = offset
        self.low, self.high = self._bounds()

    def _place_table(self, part: Table, offset: int) -> int:
        width = sum(field.size for field in part.fields)
        for field in part.fields:
            self._add(
                replace(
                    field,
                    name=f"{part.name}.{field.name}",
                    offset=offset,
                    shape=(part.rows, *field.shape),
                    strides=(width, *field.strides),
                )
            )
            offset += field.size
        return offset + (part.rows - 1) * width

    def _add(self, placed: Piece) -> None:
        if placed.name in self.pieces:
            raise ValueError(f"two pieces are named {placed.name!r}")
        limits = np.iinfo(self.dtype)
        if placed.low < limits.min or placed.high > limits.max:
            raise ValueError(f"piece {placed.name!r}: {placed.low}..{placed.high} does not fit {self.dtype}")
        self.pieces[placed.name] = placed

    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        low, high = np.zeros(self.size, self.dtype), np.zeros(self.size, self.dtype)
        for placed in self:
            low[placed.indices()], high[placed.indices()] = placed.low, placed.high
        return low, high

    def __getitem__(self, name: str) -> Piece:
        try:
            return self.pieces[name]
        except KeyError:
            raise KeyError(f"no piece {name!r}; there are: {', '.join(self.pieces)}") from None

    def __iter__(self) -> Iterator[Piece]:
        return iter(self.pieces.values())

    def __len__(self) -> int:
        return len(self.pieces)

    def names(self, vector: np.ndarray) -> dict[str, np.ndarray]:
        """Every piece of ``vector`` (..., size) by name, as views."""
        return {placed.name: placed.view(vector) for placed in self}

    def entry(self, index: int) -> str:
        """The name of one entry of the vector, for messages: ``players.quest_top[2]``."""
        for placed in self:
            where = np.argwhere(placed.indices() == index)
            if len(where):
                return placed.name + "".join(f"[{position}]" for position in where[0])
        raise IndexError(f"entry {index} is outside 0..{self.size - 1}")
