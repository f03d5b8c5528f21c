"""Action ids. They come in blocks of consecutive ids, each with a name, a sentence, and what the ids are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from kepler_envs.engine.checks import check_integer, is_integer
from kepler_envs.engine.observation import Layout

NO_ROW = -1


class SameTexts(ValueError):
    """Several ids have the same text. Names of a component file can do that, where texts are put together from them."""


@dataclass(frozen=True)
class Axis:
    """One thing that the ids of a block are about.

    Attributes:
        name: what it is, in words.
        table: the table of the observation that it names a row of. It is empty for a plain number or name.
        rows: the row in the table, or the number, for each id of the block in order. NO_ROW means that there is none.
    """

    name: str
    table: str
    rows: tuple[int, ...]


def axes(*parts: tuple[str, str, int | Sequence[int]]) -> tuple[Axis, ...]:
    """Build the axes of a block whose ids run through all combinations; the last axis runs fastest.

    For example::

        axes(("starship", "starships", 4), ("destination", "systems", 8))

    Args:
        parts: (name, table or "", rows). ``rows`` is a count, for rows from 0 on, or the rows themselves.

    Raises:
        ValueError: an axis has no rows.
    """
    choices = [_rows_of(name, rows) for name, _, rows in parts]
    columns = zip(*product(*choices), strict=True)
    return tuple(Axis(name, of, tuple(column)) for (name, of, _), column in zip(parts, columns, strict=True))


def _rows_of(name: str, rows: Any) -> Sequence[int]:
    if is_integer(rows) and rows >= 1:
        return range(int(rows))
    if not isinstance(rows, (Sequence, np.ndarray)) or not np.size(rows):
        raise ValueError(
            f"axis {name}: rows = {rows!r} is not allowed; allowed: an integer from 1 on, or the rows themselves"
        )
    return rows  # type: ignore[return-value]


@dataclass(frozen=True)
class Block:
    """``count`` consecutive ids from ``first`` on.

    ``text`` holds ``{}`` where the label of an id goes. ``axes`` say what the ids are about, so that a network can look
    at the rows an action points at.
    """

    name: str
    first: int
    count: int
    text: str
    labels: tuple[str, ...] = ()
    axes: tuple[Axis, ...] = ()

    @property
    def ids(self) -> range:
        return range(self.first, self.first + self.count)

    @property
    def argument(self) -> str:
        """What the ids are about, in words."""
        return " and ".join(axis.name for axis in self.axes)

    def sentence(self, action: int) -> str:
        return self.text.format(self.labels[action - self.first]) if self.labels else self.text


class Pointers(NamedTuple):
    """Arrays that give the table rows which each id points at."""

    block: np.ndarray
    """int64 (A,): The block of each id."""
    table: np.ndarray
    """int64 (A, K): The table of each axis, as an index into ``tables``. NO_ROW fills the unused axes."""
    row: np.ndarray
    """int64 (A, K): The row in that table. NO_ROW means that there is none."""
    tables: tuple[str, ...]
    """The names of the tables that are pointed at."""


class ActionSet:
    """All blocks of a game. ``len()`` is the size of its Discrete space.

    Texts are unique and lead back to their ids (``text``, ``id_of``).

    Args:
        blocks: the blocks in order and without gaps.

    Raises:
        ValueError: a block does not begin where the one before it ends, its text has no place for its labels, or it
            has not as many labels and rows as ids.
        SameTexts: several ids have the same text; a ValueError.
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = tuple(blocks)
        self._texts: list[str] = []
        for block in self.blocks:
            if block.first != len(self._texts):
                raise ValueError(f"block {block.name} starts at {block.first}, not at {len(self._texts)}")
            if block.text.count("{}") != bool(block.labels):
                raise ValueError(f"block {block.name}: {block.text!r} must have one {{}} with labels, none without")
            if block.labels and len(block.labels) != block.count:
                raise ValueError(f"block {block.name}: {block.count} ids but {len(block.labels)} labels")
            for axis in block.axes:
                if len(axis.rows) != block.count:
                    raise ValueError(f"block {block.name}: {block.count} ids but {len(axis.rows)} rows of {axis.name}")
            self._texts += [block.sentence(action) for action in block.ids]
        self._ids = {text: action for action, text in enumerate(self._texts)}
        if len(self._ids) != len(self._texts):
            twice = {text for text in self._texts if self._texts.count(text) > 1}
            raise SameTexts(f"texts that stand for several ids: {sorted(twice)}")

    def __len__(self) -> int:
        return len(self._texts)

    def text(self, action: int) -> str:
        """Say in words what ``action`` does. Raises ValueError outside the space."""
        return self._texts[check_integer("action", action, 0, len(self) - 1)]

    def id_of(self, text: str) -> int:
        """The id with that text. Raises KeyError if there is none."""
        try:
            return self._ids[text]
        except KeyError:
            raise KeyError(f"no action reads {text!r}") from None

    def block_of(self, action: int) -> Block:
        """The block that an id belongs to. Raises ValueError outside the space."""
        check_integer("action", action, 0, len(self) - 1)
        return next(block for block in self.blocks if action in block.ids)

    @cached_property
    def pointers(self) -> Pointers:
        """The rows that each id points at, for learners."""
        tables = tuple(dict.fromkeys(axis.table for block in self.blocks for axis in block.axes if axis.table))
        most = max(sum(bool(axis.table) for axis in block.axes) for block in self.blocks)
        number = np.full((len(self), most), NO_ROW, np.int64)
        row = np.full((len(self), most), NO_ROW, np.int64)
        for block in self.blocks:
            for place, axis in enumerate(axis for axis in block.axes if axis.table):
                number[block.ids, place] = tables.index(axis.table)
                row[block.ids, place] = axis.rows
        owner = np.repeat(np.arange(len(self.blocks)), [block.count for block in self.blocks])
        return Pointers(owner, number, row, tables)

    def check_against(self, layout: Layout) -> None:
        """Raise ValueError for the first axis whose table or rows the observation does not have."""
        for block in self.blocks:
            for axis in block.axes:
                if not axis.table:
                    continue
                try:
                    rows = layout.rows(axis.table)
                except KeyError as error:
                    raise ValueError(f"block {block.name}, {axis.name}: {error.args[0]}") from None
                if not all(NO_ROW <= row < rows for row in axis.rows):
                    raise ValueError(f"block {block.name}, {axis.name}: rows outside 0..{rows - 1} of {axis.table}")
