"""PyTorch: the first layers of a network, made from the pieces of an observation.

What an entry of the flat vector means is data (:class:`~kepler_envs.engine.observation.Layout`), so the layers that take it in are made
from that: counts are scaled, labels looked up, boards convolved.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import torch as th
from torch import nn
from torch.nn import functional as F

from kepler_envs.engine.actions import ActionSet
from kepler_envs.engine.observation import CATEGORY, COUNT, Layout, Piece

__all__ = ["Anchor", "AnchorInput", "AnchorOutput", "PieceInput", "PlaneInput", "absent_seats", "entries_of"]


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


class PieceInput(nn.Module):
    """A first layer that knows what each entry of an observation means.

    It is a linear layer over these inputs, in the order of the layout:

    * count: ``x / scale`` and the sign of ``x`` (is there any at all?);
    * flag, one-hot, plane: ``x / scale``, which is ``x`` itself for flags;
    * category: one input per label, 1 for the label it has.

    The one-hot inputs are never written out: their part of the product is a sum of weight rows that are looked up.

    Args:
        layout: what the entries mean.
        width: outputs H.
        leave_out: entries (of the vector) that are no inputs, for example those of absent players.
    """

    def __init__(self, layout: Layout, width: int, leave_out: Sequence[int] = ()) -> None:
        super().__init__()
        skipped = frozenset(int(index) for index in leave_out)
        plain, scale, signed, labelled, first_row, low = [], [], [], [], [], []
        rows = 0
        for placed in layout:
            for index in placed.indices().ravel():
                if int(index) in skipped:
                    continue
                if placed.kind == CATEGORY:
                    labelled.append(index)
                    low.append(placed.low)
                    first_row.append(rows)
                    rows += placed.high - placed.low + 1
                    continue
                if placed.kind == COUNT:
                    signed.append(len(plain))
                plain.append(index)
                scale.append(placed.scale)
        self.inputs = len(plain) + len(signed) + rows
        self._buffer("plain", plain)
        self._buffer("signed", signed)
        self._buffer("labelled", labelled)
        self._buffer("first_row", first_row)
        self._buffer("row_of_zero", np.array(first_row, np.int64) - np.array(low, np.int64))
        self.register_buffer("inverse_scale", 1 / th.tensor(scale, dtype=th.float32), persistent=False)
        active = max(1, len(plain) + len(labelled))  # inputs that are usually not zero
        self.linear = nn.Linear(len(plain) + len(signed), width)
        self.rows = nn.Parameter(th.empty(rows, width))
        with th.no_grad():
            self.linear.weight.normal_(0, (2 / active) ** 0.5)
            self.linear.bias.zero_()
            self.rows.normal_(0, (2 / active) ** 0.5)

    def _buffer(self, name: str, values: Sequence[Any] | np.ndarray) -> None:
        """Constants that follow the module's device but are made from the layout, not saved."""
        self.register_buffer(name, th.tensor(np.array(values, np.int64)), persistent=False)

    def forward(self, x: th.Tensor) -> th.Tensor:
        """(N, D) observations of any number type -> (N, H)."""
        plain = x.index_select(1, self.plain).to(self.inverse_scale.dtype) * self.inverse_scale
        out = self.linear(th.cat((plain, plain.index_select(1, self.signed).sign()), 1))
        if self.labelled.numel():
            rows = x.index_select(1, self.labelled).long() + self.row_of_zero
            out = out + F.embedding_bag(rows, self.rows, mode="sum")
        return out

    def take_over(self, other: PieceInput) -> None:
        """Start with the weights of a layer over the same layout that leaves out other entries: what it does not know counts for nothing.

        Raises:
            ValueError: it has another width.
        """
        if other.linear.out_features != self.linear.out_features:
            raise ValueError(
                f"a layer of width {self.linear.out_features} cannot take over one of {other.linear.out_features}"
            )
        weights = (self.linear.weight.T, other.linear.weight.T), (self.rows, other.rows)
        with th.no_grad():
            self.linear.bias.copy_(other.linear.bias)
            for (mine, known), ours, theirs in zip(weights, self._columns(), other._columns(), strict=True):
                shared = [name for name in theirs if name in ours]
                mine.zero_()
                mine[[ours[name] for name in shared]] = known[[theirs[name] for name in shared]]

    def _columns(self) -> tuple[dict[tuple[str | int, int], int], ...]:
        """The places of inputs in ``linear``, by (value or sign, entry), and in ``rows``, by (entry, number of the label)."""
        plain, signed = self.plain.tolist(), self.signed.tolist()
        columns: dict[tuple[str | int, int], int] = {("value", entry): place for place, entry in enumerate(plain)}
        columns |= {("sign", plain[number]): len(plain) + place for place, number in enumerate(signed)}
        rows: dict[tuple[str | int, int], int] = {
            (entry, number): row for entry, its_rows in self.label_rows() for number, row in enumerate(its_rows)
        }
        return columns, rows

    def label_rows(self) -> list[tuple[int, range]]:
        """Each entry that is a label, and the places in ``rows`` of the values it may have, the lowest first."""
        begins = self.first_row.tolist()
        ends = [*begins, len(self.rows)][1:]
        return [(entry, range(*limits)) for entry, *limits in zip(self.labelled.tolist(), begins, ends, strict=True)]


class PlaneInput(nn.Module):
    """Planes of equal size, stacked, through 3x3 convolutions and a linear layer: (N, D) -> (N, H).

    Args:
        planes: pieces that end in the axes row and column; each plane is divided by its scale.
        width: outputs H.
        channels: of each convolution.
        labelled: those of the planes whose values are labels (0 to ``high``): each label has ``EMBEDDING`` learned
            numbers instead, which is a one-hot plane per label and a 1x1 convolution over them.
    """

    EMBEDDING = 4

    def __init__(
        self, planes: Sequence[Piece], width: int, channels: Sequence[int], labelled: Sequence[Piece] = ()
    ) -> None:
        super().__init__()
        boards = {placed.shape[-2:] for placed in (*planes, *labelled)}
        if len(boards) != 1 or any(len(placed.shape) < 2 for placed in (*planes, *labelled)):
            raise ValueError(f"planes of different sizes cannot be stacked: {sorted(boards)}")
        self.board = boards.pop()
        self._buffer("index", self._stacked(planes))
        scale = [np.full(placed.size, placed.scale) for placed in planes] or [np.zeros(0)]
        self.register_buffer("inverse_scale", 1 / th.tensor(np.concatenate(scale), dtype=th.float32), persistent=False)
        self._buffer("label_index", self._stacked(labelled))
        first_row, rows = [np.zeros(0, np.int64)], 0
        for placed in labelled:
            first_row += [np.full(placed.size, rows - placed.low)]
            rows += placed.high - placed.low + 1
        self._buffer("first_row", np.concatenate(first_row))
        size = self.board[0] * self.board[1]
        self.labels = nn.Embedding(rows, self.EMBEDDING) if rows else None
        layers: list[nn.Module] = []
        before = (len(self.index) + self.EMBEDDING * len(self.label_index)) // size
        for count in channels:
            layers += [nn.Conv2d(before, count, 3, padding=1), nn.ReLU()]
            before = count
        self.convolutions = nn.Sequential(*layers, nn.Flatten())
        self.linear = nn.Linear(before * size, width, bias=False)

    def _stacked(self, planes: Sequence[Piece]) -> np.ndarray:
        return np.concatenate([np.zeros(0, np.int64), *(placed.indices().ravel() for placed in planes)])

    def _buffer(self, name: str, values: np.ndarray) -> None:
        """Constants that follow the module's device but are made from the layout, not saved."""
        self.register_buffer(name, th.tensor(values), persistent=False)

    def forward(self, x: th.Tensor) -> th.Tensor:
        stack = x.index_select(1, self.index).to(self.inverse_scale.dtype) * self.inverse_scale
        boards = stack.reshape(len(x), -1, *self.board)
        if self.labels is not None:
            known = self.labels(x.index_select(1, self.label_index).long() + self.first_row)
            known = known.reshape(len(x), -1, *self.board, self.EMBEDDING).permute(0, 1, 4, 2, 3)
            boards = th.cat((boards, known.flatten(1, 2)), 1)
        return self.linear(self.convolutions(boards))


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


class AnchorInput(nn.Module):
    """What lies 1 .. reach places below the anchor: (N, D) observations -> (N, H), to be added to other inputs."""

    def __init__(self, layout: Layout, anchor: Anchor, width: int) -> None:
        super().__init__()
        self.entry, places = anchor_entry(layout, anchor)
        self.reach = anchor.reach
        nothing = layout.size  # a column of zeros behind the vector
        columns = np.full((places + 1, len(anchor.counts), anchor.reach), nothing, np.int64)
        for number, (pattern, first) in enumerate(anchor.counts):
            entries = entries_of(layout, [pattern])
            for place in range(places):
                for below in range(1, anchor.reach + 1):
                    if 0 <= place - below - first < len(entries):
                        columns[place + 1, number, below - 1] = entries[place - below - first]
        self.register_buffer("columns", th.tensor(columns.reshape(places + 1, -1)), persistent=False)
        labelled = entries_of(layout, anchor.labels)
        self.register_buffer("labelled", th.tensor(labelled), persistent=False)
        first_row = np.arange(len(labelled)) * (anchor.reach + 1)
        self.register_buffer("first_row", th.tensor(first_row, dtype=th.int64), persistent=False)
        self.linear = nn.Linear(columns[0].size, width, bias=False)
        self.rows = nn.Parameter(th.empty(len(labelled) * (anchor.reach + 1), width))
        active = max(1, columns[0].size // 2 + len(labelled))
        with th.no_grad():
            self.linear.weight.normal_(0, (2 / active) ** 0.5)
            self.rows.normal_(0, (2 / active) ** 0.5)

    def forward(self, x: th.Tensor) -> th.Tensor:
        at = x[:, self.entry].long()
        beside_zero = F.pad(x, (0, 1))
        present = beside_zero.gather(1, self.columns[at]).sign().to(self.rows.dtype)
        out = self.linear(present)
        if self.labelled.numel():
            labels = x.index_select(1, self.labelled).long()
            below = at.unsqueeze(1) - labels
            seen = (labels > 0) & (below > 0) & (below <= self.reach)
            out = out + F.embedding_bag(below * seen + self.first_row, self.rows, mode="sum")
        return out


class AnchorOutput(nn.Module):
    """Logits for actions by their distance from the anchor: features (N, F), observations (N, D) -> added to logits (N, A)."""

    def __init__(self, layout: Layout, anchor: Anchor, actions: ActionSet, features: int) -> None:
        super().__init__()
        self.entry, _ = anchor_entry(layout, anchor)
        self.elsewhere = anchor.reach + 1  # above the anchor, too far below it, or no anchor
        blocks = [block for block in actions.blocks if block.name in anchor.actions]
        missing = sorted(set(anchor.actions) - {block.name for block in blocks})
        if missing:
            raise ValueError(f"no block of actions is called {', '.join(missing)}")
        ids = [action for block in blocks for action in block.ids]
        place = [action - block.first for block in blocks for action in block.ids]
        first = [number * (self.elsewhere + 1) for number, block in enumerate(blocks) for _ in block.ids]
        for name, values in (("ids", ids), ("place", place), ("first", first)):
            self.register_buffer(name, th.tensor(values, dtype=th.int64), persistent=False)
        self.linear = nn.Linear(features, len(blocks) * (self.elsewhere + 1), bias=False)
        nn.init.orthogonal_(self.linear.weight, 0.01)

    def forward(self, features: th.Tensor, x: th.Tensor, logits: th.Tensor) -> th.Tensor:
        below = x[:, self.entry].long().unsqueeze(1) - 1 - self.place
        near = (below >= 0) & (below < self.elsewhere)
        chosen = th.where(near, below, self.elsewhere) + self.first
        return logits.index_add(1, self.ids, self.linear(features).gather(1, chosen))


def anchor_entry(layout: Layout, anchor: Anchor) -> tuple[int, int]:
    """(entry of the vector, number of places) of an anchor; ValueError unless it is one category with labels from 0 on."""
    entries = entries_of(layout, [anchor.entry])
    places = [placed for placed in layout if entries[0] in np.ravel(placed.indices())] if len(entries) == 1 else []
    if len(entries) != 1 or places[0].kind != CATEGORY or places[0].low != 0:
        raise ValueError(f"the anchor {anchor.entry!r} is not one category with labels from 0 on")
    return int(entries[0]), places[0].high
