"""PyTorch: the first layers of a network, made from the pieces of an observation (``engine/inputs.py``)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch as th
from torch import nn
from torch.nn import functional as F

from kepler_envs.engine.actions import ActionSet
from kepler_envs.engine.inputs import (
    EMBEDDING,
    Anchor,
    AnchoredActions,
    AnchorInputs,
    PieceInputs,
    PlaneInputs,
    absent_seats,
    entries_of,
)
from kepler_envs.engine.observation import Layout, Piece

__all__ = ["Anchor", "AnchorInput", "AnchorOutput", "PieceInput", "PlaneInput", "absent_seats", "entries_of"]


def _keep(module: nn.Module, name: str, values: np.ndarray) -> None:
    """Constants that follow the module's device but are made from the layout, not saved."""
    module.register_buffer(name, th.tensor(values), persistent=False)


class PieceInput(nn.Module):
    """A first layer that knows what each entry of an observation means: linear over :class:`PieceInputs`.

    The one-hot inputs are never written out: their part of the product is a sum of weight rows that are looked up.

    Args:
        layout: what the entries mean.
        width: outputs H.
        leave_out: entries (of the vector) that are no inputs, for example those of absent players.
    """

    def __init__(self, layout: Layout, width: int, leave_out: Sequence[int] | np.ndarray = ()) -> None:
        super().__init__()
        self.entries = PieceInputs(layout, leave_out)
        self.inputs = self.entries.dense + self.entries.rows
        for name in ("plain", "signed", "labelled", "row_of_zero", "inverse_scale"):
            _keep(self, name, getattr(self.entries, name))
        active = max(1, len(self.plain) + len(self.labelled))  # inputs that are usually not zero
        self.linear = nn.Linear(self.entries.dense, width)
        self.rows = nn.Parameter(th.empty(self.entries.rows, width))
        with th.no_grad():
            self.linear.weight.normal_(0, (2 / active) ** 0.5)
            self.linear.bias.zero_()
            self.rows.normal_(0, (2 / active) ** 0.5)

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
            (entry, number): row for entry, its_rows in self.entries.label_rows() for number, row in enumerate(its_rows)
        }
        return columns, rows


class PlaneInput(nn.Module):
    """Planes of equal size, stacked, through 3x3 convolutions and a linear layer: (N, D) -> (N, H).

    Args:
        planes: pieces that end in the axes row and column; each plane is divided by its scale.
        width: outputs H.
        channels: of each convolution.
        labelled: those of the planes whose values are labels (0 to ``high``): each label has ``EMBEDDING`` learned
            numbers instead, which is a one-hot plane per label and a 1x1 convolution over them.
    """

    def __init__(
        self, planes: Sequence[Piece], width: int, channels: Sequence[int], labelled: Sequence[Piece] = ()
    ) -> None:
        super().__init__()
        entries = PlaneInputs(planes, labelled)
        self.board = entries.board
        for name in ("index", "inverse_scale", "label_index", "first_row"):
            _keep(self, name, getattr(entries, name))
        self.labels = nn.Embedding(entries.rows, EMBEDDING) if entries.rows else None
        layers: list[nn.Module] = []
        before = entries.channels
        for count in channels:
            layers += [nn.Conv2d(before, count, 3, padding=1), nn.ReLU()]
            before = count
        self.convolutions = nn.Sequential(*layers, nn.Flatten())
        self.linear = nn.Linear(before * entries.size, width, bias=False)

    def forward(self, x: th.Tensor) -> th.Tensor:
        stack = x.index_select(1, self.index).to(self.inverse_scale.dtype) * self.inverse_scale
        boards = stack.reshape(len(x), -1, *self.board)
        if self.labels is not None:
            known = self.labels(x.index_select(1, self.label_index).long() + self.first_row)
            known = known.reshape(len(x), -1, *self.board, EMBEDDING).permute(0, 1, 4, 2, 3)
            boards = th.cat((boards, known.flatten(1, 2)), 1)
        return self.linear(self.convolutions(boards))


class AnchorInput(nn.Module):
    """What lies 1 .. reach places below the anchor: (N, D) observations -> (N, H), to be added to other inputs."""

    def __init__(self, layout: Layout, anchor: Anchor, width: int) -> None:
        super().__init__()
        entries = AnchorInputs(layout, anchor)
        self.entry, self.reach = entries.entry, entries.reach
        for name in ("columns", "labelled", "first_row"):
            _keep(self, name, getattr(entries, name))
        self.linear = nn.Linear(self.columns.shape[1], width, bias=False)
        self.rows = nn.Parameter(th.empty(entries.rows, width))
        active = max(1, self.columns.shape[1] // 2 + len(self.labelled))
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
        entries = AnchoredActions(layout, anchor, actions)
        self.entry, self.elsewhere = entries.entry, entries.elsewhere
        for name in ("ids", "place", "first"):
            _keep(self, name, getattr(entries, name))
        self.linear = nn.Linear(features, entries.rows, bias=False)
        nn.init.orthogonal_(self.linear.weight, 0.01)

    def forward(self, features: th.Tensor, x: th.Tensor, logits: th.Tensor) -> th.Tensor:
        below = x[:, self.entry].long().unsqueeze(1) - 1 - self.place
        near = (below >= 0) & (below < self.elsewhere)
        chosen = th.where(near, below, self.elsewhere) + self.first
        return logits.index_add(1, self.ids, self.linear(features).gather(1, chosen))
