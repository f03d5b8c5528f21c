"""One flat integer vector, and the tables of entities it is made of.

Kernels write the vector; a :class:`Layout` says what each entry means. Everything that has to know the meaning (the
tables in the docs, the pretty-printer, networks, tests) reads it from here::

    layout = game.observation
    planets = layout.tables["planets"]               # the rows and fields of one kind of entity
    owner = layout["planets.owner"].view(vector)     # (rows,), a view, no copy; works on batches (..., size) too

Facts come first, and after them what can be computed from them. ``layout.facts`` is the layout of an observation
without derived fields. Such an observation is the beginning of the whole one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property

import numpy as np

from kepler_envs.engine.checks import is_integer

NUMBER, COUNT, FLAG, LABEL, REFERENCE = "number", "count", "flag", "label", "reference"
KINDS = (NUMBER, COUNT, FLAG, LABEL, REFERENCE)

DTYPE = np.dtype(np.int16)
"""The type of an observation."""


@dataclass(frozen=True)
class Piece:
    """A field of a table: the same thing about each of its rows.

    ``shape`` (its first axis is the rows) and ``strides`` (in entries) place it: entry (i, j) lies at
    ``offset + i*strides[0] + j*strides[1]``. ``low`` and ``high`` are inclusive. ``kind`` is one of

    * ``number``: a quantity, which may be negative;
    * ``count``: how many there are of something. Whether it is 0 is a fact of its own;
    * ``flag``: 1 for yes, 0 for no;
    * ``label``: ``low..high`` are names without an order. 0 often means none;
    * ``reference``: 0 for none, else 1 + a row of the table ``of``.

    Networks divide a number or a count by ``scale``, by default the larger bound. ``derived`` says that the piece
    follows from other pieces, the rules and the components.
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
    of: str = ""
    derived: bool = False

    @property
    def size(self) -> int:
        """The number of entries."""
        return int(np.prod(self.shape, dtype=int))

    @property
    def table(self) -> str:
        """The name of the table that it is a field of."""
        return self.name.partition(".")[0]

    @property
    def field(self) -> str:
        """Its name within the table."""
        return self.name.partition(".")[2]

    def indices(self) -> np.ndarray:
        """The piece's positions in the vector, an int64 array of ``shape``."""
        grid = np.zeros(self.shape, dtype=np.int64) + self.offset
        for axis, stride in enumerate(self.strides):
            steps = np.arange(self.shape[axis]) * stride
            grid += steps.reshape((-1,) + (1,) * (len(self.shape) - axis - 1))
        return grid

    def view(self, vector: np.ndarray) -> np.ndarray:
        """The piece of ``vector`` (..., size), as a view of shape (..., *shape).

        Raises ValueError if the vector ends before the piece does, as one without derived fields may, and TypeError if
        it is no array.
        """
        if not isinstance(vector, np.ndarray):
            raise TypeError(f"{self.name}: the vector must be an array of NumPy, not {type(vector).__name__}")
        if not vector.ndim or vector.shape[-1] < self._end:
            raise ValueError(
                f"{self.name}: the vector has shape {vector.shape}; allowed: at least {self._end} entries, as an "
                "observation of the layout that this field is of"
            )
        item = vector.strides[-1]
        shape = vector.shape[:-1] + self.shape
        strides = vector.strides[:-1] + tuple([stride * item for stride in self.strides])
        if vector.flags.c_contiguous and vector.size:  # the same as below in a fraction of the time
            return np.ndarray(shape, vector.dtype, vector, self.offset * item, strides)
        return np.lib.stride_tricks.as_strided(vector[..., self.offset :], shape, strides)

    @cached_property
    def _end(self) -> int:
        """Where it ends in the vector."""
        return self.offset + sum((count - 1) * step for count, step in zip(self.shape, self.strides, strict=True)) + 1


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
    """Make a field. :func:`table` gives it its place.

    Args:
        name: its name within the table.
        kind: see :class:`Piece`.
        high: the largest value.
        meaning: what it says, in words.
        shape: that of one row, a length or several.
        low: the smallest value.
        scale: what networks divide by. None takes the larger bound.

    Raises:
        ValueError: there is no such kind, or ``low`` is above ``high``.
    """
    if kind not in KINDS:
        raise ValueError(f"piece {name!r}: kind {kind!r} is not one of {', '.join(KINDS)}")
    if low > high:
        raise ValueError(f"piece {name!r}: low {low} is above high {high}")
    full_shape = (int(shape),) if is_integer(shape) else tuple(shape)  # type: ignore[arg-type]
    strides = tuple(int(np.prod(full_shape[axis + 1 :], dtype=int)) for axis in range(len(full_shape)))
    low, high = int(low), int(high)  # members of an enumeration may print as words
    return Piece(name, -1, full_shape, strides, low, high, kind, meaning, float(scale or max(abs(low), high) or 1))


def reference(name: str, of: str, meaning: str, *, shape: int | tuple[int, ...] = ()) -> Piece:
    """Make a field that names rows of the table ``of``: 0 for none, else 1 + the row."""
    return replace(piece(name, REFERENCE, 0, meaning, shape=shape), of=of)


def numbered(labels: type[IntEnum], first: int = 1) -> str:
    """The words of an enumeration as values of a LABEL, the one with value 0 being ``first``: ``1 must, 2 may``."""
    return ", ".join(f"{first + word} {word.name.lower()}" for word in labels)


@dataclass(frozen=True)
class Block:
    """``rows`` equal records. :class:`Layout` places them one after the other, or field by field."""

    name: str
    rows: int
    fields: tuple[Piece, ...]
    derived: bool
    by_field: bool = False


def table(name: str, rows: int, fields: Sequence[Piece], *, derived: bool = False, by_field: bool = False) -> Block:
    """``rows`` entities with the given fields, for example one row per seat.

    Facts about the game as a whole are a table of one row. The derived fields of a table are a second block of the same
    name, with as many rows. With ``by_field``, each entry of a row lies beside the same entry of the other rows, which
    lets a kernel copy whole fields.
    """
    return Block(name, rows, tuple(replace(field, derived=derived) for field in fields), derived, by_field)


@dataclass(frozen=True, eq=False)
class FixedTable:
    """Entities that are the same in all games with a component file, such as the places of a map. They are not part of
    the vector.

    ``values`` is int16 (rows, entries of a row), read-only. The offsets of ``fields`` are its columns.
    """

    name: str
    fields: tuple[Piece, ...]
    values: np.ndarray

    @property
    def rows(self) -> int:
        """The number of entities."""
        return len(self.values)


def fixed_table(name: str, fields: Sequence[Piece], values: np.ndarray) -> FixedTable:
    """Make a table that lies outside the vector.

    Args:
        name: its name.
        fields: the fields of a row.
        values: integers (rows, entries of a row). They are copied.

    Raises:
        ValueError: the values do not have the columns of the fields, or are not integers within their bounds, or two
            fields have the same name.
    """
    values, width = np.asarray(values), sum(field.size for field in fields)
    if values.ndim != 2 or values.shape[1] != width:
        raise ValueError(f"table {name!r}: the fields have {width} entries, the values have shape {values.shape}")
    placed: dict[str, Piece] = {}
    offset = 0
    for field in fields:
        full = replace(field, name=f"{name}.{field.name}", offset=offset)
        if full.name in placed:
            raise ValueError(f"two pieces are named {full.name!r}")
        column = values[:, offset : offset + full.size]
        high = (
            np.iinfo(DTYPE).max if full.kind == REFERENCE else full.high
        )  # how many rows it may name is known to the layout
        if not ((column >= full.low) & (column <= high)).all() or (column % 1).any():
            raise ValueError(f"table {name!r}: {field.name} is not everywhere an integer in {full.low}..{full.high}")
        placed[full.name] = full
        offset += full.size
    kept = values.astype(DTYPE)
    kept.flags.writeable = False
    return FixedTable(name, tuple(placed.values()), kept)


@dataclass(frozen=True)
class Table:
    """One kind of entity in a layout: the number of rows, and the pieces that are its fields, facts first."""

    name: str
    rows: int
    fields: tuple[Piece, ...]


class Layout:
    """The tables of an observation, in the order of the vector.

    Args:
        blocks: the tables. They follow one another without gaps, and derived ones come last.
        fixed: tables outside the vector, which references and actions may name.

    Attributes:
        size: the number of entries of the vector.
        pieces: all fields by name (``table.field``).
        tables: the tables by name.
        fixed: the fixed tables by name.
        low: int16 (size,), the lower bound of each entry.
        high: int16 (size,), the upper bound of each entry.

    Raises:
        ValueError: two fields or two tables have the same name, bounds do not fit the vector's type, a derived block
            comes before others or has other rows than the facts of its name, or a reference names a table that does not
            exist.
    """

    def __init__(self, blocks: Sequence[Block], fixed: Sequence[FixedTable] = ()) -> None:
        self._blocks = tuple(blocks)
        self.dtype = DTYPE
        self.pieces: dict[str, Piece] = {}
        in_vector = tuple(dict.fromkeys(block.name for block in blocks))  # facts and derived fields are one table
        named = [*in_vector, *(one.name for one in fixed)]
        for name in named:
            if named.count(name) > 1:
                raise ValueError(f"two tables are named {name!r}")
        self._rows: dict[str, int] = {one.name: one.rows for one in fixed}
        for block in blocks:
            if self._rows.setdefault(block.name, block.rows) != block.rows:
                raise ValueError(f"table {block.name!r} has {self._rows[block.name]} rows and {block.rows}")
        self.fixed = {one.name: self._with_references(one) for one in fixed}
        offset = 0
        for before, block in zip((None, *blocks), blocks, strict=False):
            if before is not None and before.derived and not block.derived:
                raise ValueError(f"table {block.name!r} comes after derived fields; facts come first")
            offset = self._place(block, offset)
        self.size = offset
        self.low, self.high = self._bounds()
        self.tables = {
            name: Table(name, self._rows[name], tuple(found for found in self if found.table == name))
            for name in in_vector
        }

    def followed_by(self, block: Block) -> Layout:
        """This layout with one more table of derived fields behind it."""
        return Layout((*self._blocks, block), tuple(self.fixed.values()))

    def _place(self, block: Block, offset: int) -> int:
        width = sum(field.size for field in block.fields)
        row, entry = (1, block.rows) if block.by_field else (width, 1)  # steps from row to row, and within a row
        first = offset
        for field in block.fields:
            self._add(
                replace(
                    field,
                    name=f"{block.name}.{field.name}",
                    offset=offset,
                    shape=(block.rows, *field.shape),
                    strides=(row, *(entry * stride for stride in field.strides)),
                )
            )
            offset += entry * field.size
        return first + block.rows * width

    def _with_references(self, fixed: FixedTable) -> FixedTable:
        """A fixed table whose references know how many rows they may name."""
        fields = tuple(self._bounded(field) for field in fixed.fields)
        for field in fields:
            if fixed.values[:, field.offset : field.offset + field.size].max(initial=0) > field.high:
                raise ValueError(f"table {fixed.name!r}: {field.name} is not everywhere in {field.low}..{field.high}")
        return replace(fixed, fields=fields)

    def _bounded(self, placed: Piece) -> Piece:
        """A reference with the bound that the table it refers to gives it; any other piece as it is."""
        if placed.kind != REFERENCE:
            return placed
        if placed.of not in self._rows:
            raise ValueError(
                f"piece {placed.name!r} refers to no table {placed.of!r}; there are: {', '.join(self._rows)}"
            )
        return replace(placed, high=self._rows[placed.of], scale=float(self._rows[placed.of]))

    def _add(self, placed: Piece) -> None:
        if placed.name in self.pieces:
            raise ValueError(f"two pieces are named {placed.name!r}")
        placed = self._bounded(placed)
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

    @property
    def facts(self) -> Layout:
        """The layout without derived fields. It is the beginning of this one."""
        return Layout([block for block in self._blocks if not block.derived], tuple(self.fixed.values()))

    def rows(self, name: str) -> int:
        """The number of rows of a table, a fixed one included. Raises KeyError."""
        try:
            return self._rows[name]
        except KeyError:
            raise KeyError(f"no table {name!r}; there are: {', '.join(self._rows)}") from None

    def begin(self, name: str, *, derived: bool = False) -> tuple[int, int]:
        """(first entry, entries from one row to the next) of a table's facts, or of its derived fields.

        Kernels write there. Raises KeyError.
        """
        for found in self:
            if found.table == name and found.derived == derived:
                return found.offset, found.strides[0]
        raise KeyError(f"no {'derived fields' if derived else 'facts'} of a table {name!r}")

    def check(self, observations: np.ndarray) -> None:
        """Raise ValueError unless observations are (N, size) and within the bounds. It names the first one outside."""
        observations = np.asarray(observations)
        if observations.ndim != 2 or observations.shape[1] != self.size:
            raise ValueError(f"observations must be (N, {self.size}), not {observations.shape}")
        if not len(observations) or self._within(observations.min(0), observations.max(0)).all():
            return
        row, entry = np.argwhere(~self._within(observations, observations))[0]
        raise ValueError(
            f"observation {row}: {self.entry(int(entry))} is {observations[row, entry]}; allowed: "
            f"{self.low[entry]}..{self.high[entry]}"
        )

    def _within(self, least: np.ndarray, most: np.ndarray) -> np.ndarray:
        """Whether entries from ``least`` to ``most`` are within the bounds. NaN is not."""
        return (least >= self.low) & (most <= self.high)

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
