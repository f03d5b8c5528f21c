"""What a network takes in, made from the pieces of an observation: with or without PyTorch the same entries in the same order.

What an entry of the flat vector means is data (:class:`~kepler_envs.engine.observation.Layout`): counts are scaled, labels looked up, boards
convolved. Here is which entry goes where; ``adapters/pytorch.py`` makes layers of it, ``bots/networks`` plays with trained ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from kepler_envs.engine.actions import ActionSet
from kepler_envs.engine.observation import CATEGORY, COUNT, PLANE, Layout, Piece


def entries_of(layout: Layout, patterns: Sequence[str]) -> np.ndarray:
    """Entries of all pieces whose name fits a pattern: ``own_hand``, ``players.lane_*``; ``players.lane_*[1:]`` are rows 1 and up.

    Raises:
        ValueError: a pattern that fits no piece, or rows that are not written ``[first:end]``.
    """
    found = [np.zeros(0, np.int64)]
    for pattern in patterns:
        name, bracket, rows = pattern.partition("[")
        pieces = [placed for placed in layout if fnmatchcase(placed.name, name)]
        if not pieces:
            raise ValueError(f"no piece fits {pattern!r}; there are: {', '.join(layout.pieces)}")
        chosen = slice(None)
        if bracket:
            limits = re.fullmatch(r"(\d*):(\d*)\]", rows)
            if limits is None:
                raise ValueError(f"the rows of {pattern!r} cannot be read; write name[first:end]")
            chosen = slice(*(int(limit) if limit else None for limit in limits.groups()))
        found += [np.atleast_1d(placed.indices())[chosen].ravel() for placed in pieces]
    return np.concatenate(found)


def absent_seats(layout: Layout, num_players: int | None) -> list[str]:
    """The pattern of the rows of the table ``players`` beyond ``num_players``: always 0, so no use as inputs."""
    has_table = any(name.startswith("players.") for name in layout.pieces)
    return [f"players.*[{num_players}:]"] if num_players is not None and has_table else []


class ChosenInputs(NamedTuple):
    """Which parts of an observation a network takes in how."""

    left_out: np.ndarray
    """int64, entries that are no plain inputs."""
    planes: list[Piece]
    """Planes for convolutions whose values count; none without convolutions."""
    label_planes: list[Piece]
    """Those whose values are labels."""


def choose_inputs(
    layout: Layout,
    num_players: int | None,
    leave_out: Sequence[str],
    channels: Sequence[int],
    label_planes: Sequence[str],
) -> ChosenInputs:
    """What a network sees: all but absent seats and what is left out; planes through its convolutions, if it has ``channels``.

    Args:
        num_players: seats whose entries it sees; None: all. leave_out: patterns of pieces. label_planes: names.

    Raises:
        ValueError: see :func:`entries_of`. KeyError: no such plane.
    """
    left_out = [entries_of(layout, [*absent_seats(layout, num_players), *leave_out])]
    planes = [placed for placed in layout if placed.kind == PLANE] if channels else []
    labelled = [layout[name] for name in label_planes] if planes else []
    left_out += [placed.indices().ravel() for placed in planes]
    return ChosenInputs(np.concatenate(left_out), [placed for placed in planes if placed not in labelled], labelled)


class PieceInputs:
    """The inputs of a first layer over an observation's pieces, in the order of the layout.

    * count: ``x / scale`` and the sign of ``x`` (is there any at all?);
    * flag, one-hot, plane: ``x / scale``, which is ``x`` itself for flags;
    * category: one input per label, 1 for the label it has.

    Args:
        layout: what the entries mean.
        leave_out: entries (of the vector) that are no inputs, for example those of absent players.

    Attributes:
        plain: int64 (K,), entries that are numbers. inverse_scale: float32 (K,).
        signed: int64 (S,), which of these are counts.
        labelled: int64 (L,), entries that are labels. first_row: int64 (L,), where the rows of each begin in a table of a row a label.
        row_of_zero: int64 (L,), where that of label 0 lies (or would lie). rows: how many there are.
    """

    def __init__(self, layout: Layout, leave_out: Sequence[int] | np.ndarray = ()) -> None:
        skipped = frozenset(int(index) for index in leave_out)
        plain: list[int] = []
        scale: list[float] = []
        signed: list[int] = []
        labelled: list[int] = []
        first_row: list[int] = []
        low: list[int] = []
        self.rows = 0
        for placed in layout:
            for index in placed.indices().ravel():
                if int(index) in skipped:
                    continue
                if placed.kind == CATEGORY:
                    labelled.append(index)
                    low.append(placed.low)
                    first_row.append(self.rows)
                    self.rows += placed.high - placed.low + 1
                    continue
                if placed.kind == COUNT:
                    signed.append(len(plain))
                plain.append(index)
                scale.append(placed.scale)
        self.plain, self.signed, self.labelled, self.first_row = (
            np.array(values, np.int64) for values in (plain, signed, labelled, first_row)
        )
        self.row_of_zero = self.first_row - np.array(low, np.int64)
        self.inverse_scale = np.float32(1) / np.array(scale, np.float32)

    @property
    def dense(self) -> int:
        """Inputs that are numbers: those of ``plain``, then the signs of those of ``signed``."""
        return len(self.plain) + len(self.signed)

    def label_rows(self) -> list[tuple[int, range]]:
        """Each entry that is a label, and the rows of the values it may have, the lowest first."""
        begins = self.first_row.tolist()
        ends = [*begins, self.rows][1:]
        return [(entry, range(*limits)) for entry, *limits in zip(self.labelled.tolist(), begins, ends, strict=True)]


EMBEDDING = 4
"""Learned numbers of each label on a plane."""


class PlaneInputs:
    """Planes of equal size, stacked, as convolutions take them.

    Args:
        planes: pieces that end in the axes row and column; each plane is divided by its scale.
        labelled: such pieces whose values are labels (0 to ``high``).

    Attributes:
        board: rows and columns. index, inverse_scale: entries of the stacked planes, and what they are multiplied by.
        label_index, first_row: entries of the stacked labels, and what is added to a label for its row in a table. rows: of that table.
    """

    def __init__(self, planes: Sequence[Piece], labelled: Sequence[Piece] = ()) -> None:
        boards = {placed.shape[-2:] for placed in (*planes, *labelled)}
        if len(boards) != 1 or any(len(placed.shape) < 2 for placed in (*planes, *labelled)):
            raise ValueError(f"planes of different sizes cannot be stacked: {sorted(boards)}")
        self.board = boards.pop()
        self.index, self.label_index = _stacked(planes), _stacked(labelled)
        scale = np.concatenate([np.zeros(0), *(np.full(placed.size, placed.scale) for placed in planes)])
        self.inverse_scale = np.float32(1) / scale.astype(np.float32)
        first_row, self.rows = [np.zeros(0, np.int64)], 0
        for placed in labelled:
            first_row.append(np.full(placed.size, self.rows - placed.low))
            self.rows += placed.high - placed.low + 1
        self.first_row = np.concatenate(first_row)

    @property
    def size(self) -> int:
        """Places on the board."""
        return self.board[0] * self.board[1]

    @property
    def channels(self) -> int:
        """Of the stack that the first convolution takes: one a plane, EMBEDDING a plane of labels."""
        return (len(self.index) + EMBEDDING * len(self.label_index)) // self.size


def _stacked(planes: Sequence[Piece]) -> np.ndarray:
    return np.concatenate([np.zeros(0, np.int64), *(placed.indices().ravel() for placed in planes)])


# ---------------------------------------------------------------- places seen from an anchor


@dataclass(frozen=True)
class Anchor:
    """An axis of places (card values, say) looked at from the place of one card, the anchor.

    "Do I hold the card two below the one I need?" is one input when places are counted from the card that is needed; without that a
    network has to learn it for every value anew. It is the cheapest way to strength where a game turns on such distances.

    Attributes:
        entry: pattern (:func:`entries_of`) of the one category that is the anchor: label v > 0 stands for place v - 1, 0 for no anchor.
        reach: how many places below the anchor are seen.
        counts: (pattern, place of the first entry) of pieces that run along the axis; seen is whether there are any.
        labels: patterns of categories whose labels are places in the same way as the anchor's.
        actions: names of the blocks of actions whose argument is a place, from 0 on.
    """

    entry: str
    reach: int
    counts: tuple[tuple[str, int], ...] = ()
    labels: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()


class AnchorInputs:
    """What lies 1 .. reach places below the anchor.

    Attributes:
        entry: of the anchor. reach: as the anchor's.
        columns: int64 (places + 1, K), by the anchor's label the entries that are seen; ``layout.size`` where there is nothing.
        labelled: int64 (L,), entries that are labels. first_row: int64 (L,), where the rows of each begin in a table: one for "not below
            the anchor, or too far", then one for 1, 2, ... places below. rows: of that table.
    """

    def __init__(self, layout: Layout, anchor: Anchor) -> None:
        self.entry, places = anchor_entry(layout, anchor)
        self.reach = anchor.reach
        columns = np.full((places + 1, len(anchor.counts), anchor.reach), layout.size, np.int64)
        for number, (pattern, first) in enumerate(anchor.counts):
            entries = entries_of(layout, [pattern])
            for place in range(places):
                for below in range(1, anchor.reach + 1):
                    if 0 <= place - below - first < len(entries):
                        columns[place + 1, number, below - 1] = entries[place - below - first]
        self.columns = columns.reshape(places + 1, -1)
        self.labelled = entries_of(layout, anchor.labels)
        self.first_row = np.arange(len(self.labelled)) * (anchor.reach + 1)
        self.rows = len(self.labelled) * (anchor.reach + 1)


class AnchoredActions:
    """Actions that lie at places of the anchor's axis.

    Attributes:
        entry: of the anchor. ids: int64 (M,). place: int64 (M,), of each. first: int64 (M,), where the rows of its block begin in a table:
            one for 0, 1, ... reach places below the anchor, then one for elsewhere. rows: of that table.
        elsewhere: the last row of a block: above the anchor, too far below it, or no anchor.
    """

    def __init__(self, layout: Layout, anchor: Anchor, actions: ActionSet) -> None:
        self.entry, _ = anchor_entry(layout, anchor)
        self.elsewhere = anchor.reach + 1
        blocks = [block for block in actions.blocks if block.name in anchor.actions]
        missing = sorted(set(anchor.actions) - {block.name for block in blocks})
        if missing:
            raise ValueError(f"no block of actions is called {', '.join(missing)}")
        self.ids = np.array([action for block in blocks for action in block.ids], np.int64)
        self.place = np.array([action - block.first for block in blocks for action in block.ids], np.int64)
        self.first = np.array(
            [number * (self.elsewhere + 1) for number, block in enumerate(blocks) for _ in block.ids], np.int64
        )
        self.rows = len(blocks) * (self.elsewhere + 1)


def anchor_entry(layout: Layout, anchor: Anchor) -> tuple[int, int]:
    """(entry of the vector, number of places) of an anchor; ValueError unless it is one category with labels from 0 on."""
    entries = entries_of(layout, [anchor.entry])
    places = [placed for placed in layout if entries[0] in np.ravel(placed.indices())] if len(entries) == 1 else []
    if len(entries) != 1 or places[0].kind != CATEGORY or places[0].low != 0:
        raise ValueError(f"the anchor {anchor.entry!r} is not one category with labels from 0 on")
    return int(entries[0]), places[0].high
