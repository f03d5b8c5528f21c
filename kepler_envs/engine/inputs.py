"""What a network takes in, made from the tables of an observation. With and without PyTorch the inputs are the same, in
the same order.

The meaning of each entry of the flat vector is data (:class:`~kepler_envs.engine.observation.Layout`). A row of a table
becomes numbers, its *inputs*; all rows of a table have the same ones. ``adapters/pytorch`` makes layers from them, and
``networks`` computes trained ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kepler_envs.engine.observation import COUNT, LABEL, REFERENCE, FixedTable, Layout, Piece, Table

MOST_NAMED = 64
"""The most rows of a table whose rows a reference names one by one. Of a larger table, only the contents of the rows
are of use.
"""


def labels_of(field: Piece, layout: Layout) -> int:
    """The number of labels of a field that networks take in one-hot. It is 0 for any other field."""
    named = field.kind == REFERENCE and layout.rows(field.of) <= MOST_NAMED
    return field.high - field.low + 1 if field.kind == LABEL or named else 0


class Input(NamedTuple):
    """How one entry of a row becomes inputs.

    * number, flag: ``x * inverse_scale``; count: that, and the sign of ``x``;
    * label: one input a label, 1 for that of ``x`` (``one_hot``); so for a reference to a table of at most MOST_NAMED
      rows (0 is none);
    * reference to a larger table: whether there is one, as a number that is cut to 1.
    """

    kind: str
    first: int
    """Number of its first input within the row's."""
    size: int
    """How many inputs it becomes."""
    low: int
    inverse_scale: float
    one_hot: bool


@dataclass(frozen=True, eq=False)
class Join:
    """A field of ``table`` that refers to rows of the table ``of``. A network sees each of the two rows with the other.

    Attributes:
        name: the name of the piece.
        columns: which entries of a row of ``table`` it covers.
    """

    name: str
    table: str
    of: str
    columns: tuple[int, ...]


class TableInputs:
    """How the rows of a table become inputs.

    Attributes:
        name: the name of the table.
        rows: the number of its rows.
        entries: int64 (rows, K), the places in the vector of the K entries of each row. None for a fixed table.
        values: int16 (rows, K), the entries of a fixed table; else None.
        inputs: an :class:`Input` for each of the K entries.
        size: the number of inputs of a row.
        joins: a :class:`Join` for each of its fields that are references.
    """

    def __init__(self, name: str, layout: Layout) -> None:
        self.name = name
        self.rows = layout.rows(name)
        source: Table | FixedTable = layout.fixed[name] if name in layout.fixed else layout.tables[name]
        self.values = source.values if isinstance(source, FixedTable) else None
        self.entries = None if self.values is not None else _entries(source.fields, self.rows)
        self.inputs: list[Input] = []
        self.joins: list[Join] = []
        self.size = 0
        for field in source.fields:
            entries_of_a_row = field.size if self.values is not None else field.size // self.rows
            if field.kind == REFERENCE:
                first = len(self.inputs)
                self.joins.append(Join(field.name, name, field.of, tuple(range(first, first + entries_of_a_row))))
            for _ in range(entries_of_a_row):
                self._add(field, layout)

    def _add(self, field: Piece, layout: Layout) -> None:
        labels = labels_of(field, layout)
        count = labels or (2 if field.kind == COUNT else 1)
        scale = 1.0 if field.kind == REFERENCE else field.scale
        self.inputs.append(Input(field.kind, self.size, count, field.low, 1.0 / scale, labels > 0))
        self.size += count

    def encode(self, rows: np.ndarray) -> np.ndarray:
        """The inputs, float32 (..., size), of rows given by their entries int (..., K).

        Everything else has to agree with this.
        """
        out = np.zeros((*rows.shape[:-1], self.size), np.float32)
        for column, one in enumerate(self.inputs):
            x = rows[..., column]
            if one.one_hot:
                labels = np.arange(one.low, one.low + one.size)
                out[..., one.first : one.first + one.size] = x[..., None] == labels
            elif one.kind == REFERENCE:
                out[..., one.first] = x > 0
            else:
                out[..., one.first] = x * np.float32(one.inverse_scale)
                if one.kind == COUNT:
                    out[..., one.first + 1] = np.sign(x)
        return out


def _entries(fields: Sequence[Piece], rows: int) -> np.ndarray:
    """int64 (rows, K)."""
    columns = [field.indices().reshape(rows, -1) for field in fields]
    return np.concatenate(columns, axis=1)


class ObservationInputs:
    """All tables of a layout as a network takes them in.

    Attributes:
        tables: :class:`TableInputs` by name, fixed ones last.
        joins: the joins of all tables, in their order.
    """

    def __init__(self, layout: Layout) -> None:
        self.tables = {name: TableInputs(name, layout) for name in (*layout.tables, *layout.fixed)}
        self.joins = [join for table in self.tables.values() for join in table.joins]
