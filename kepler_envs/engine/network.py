"""What a trained network computes, and the arrays it is made of.

A network looks at the tables of an observation (:class:`~kepler_envs.engine.inputs.ObservationInputs`). With x the
inputs of a row:

* **row**: what it says of a row of table T by itself, a vector of ``rows`` numbers:
  ``q = row[r] + encoder x``; for each reference of this row ``q += to [x of the row referred to, 1]``, and for each row
  that refers to this one ``q += back [x of that row, 1]`` (of a table of one row only the 1);
* **context**: ``first = relu(bias + sum of flat over all rows + sum over tables of more than one row of pool (mean over
  rows of relu(q)))``; the policy's ``hidden`` layers make ``c`` of it, those of the value ``v``, each layer followed by
  relu;
* **logit** of an action: ``actions[a] . c + bias[a]``, and where it points at rows ``+ out . relu(context c + bias +
  sum over its axes of axes * q)`` with its block's own ``out``, ``context``, ``bias``, ``axes``;
* **values**: ``values v + bias``, the returns it expects for all seats, the observing one first, then clockwise.

With ``rows`` 0 there are no rows by themselves: a flat network.

A network *over* a bot is told what that bot would do: a label, the last entry of what it sees. To the logit of that
action it adds ``follow . c + bias``, so that it begins as the bot and learns where to leave it (residual policy
learning, T. Silver et al., arXiv:1812.06298, 2018).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kepler_envs.engine.actions import ActionSet
from kepler_envs.engine.checks import is_integer
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.inputs import Join, ObservationInputs, TableInputs
from kepler_envs.engine.observation import LABEL, Block, Layout, piece, table

Weights = Mapping[str, np.ndarray]
"""Arrays by the names that PyTorch gives them in :class:`kepler_envs.adapters.pytorch.PieceNetwork`."""


CHOICE = "choice"
"""The table of one row that tells a network over a bot what the bot would do."""


@dataclass(frozen=True)
class NetworkShape:
    """The outputs of the layers of a network, and the bot that it is over ("" if none).

    The layers are the first one, the further ones of policy and value, and the one that looks at single rows. Raises
    ValueError if one has no outputs, but ``rows`` may be 0: see above. ``hidden`` may be given as a list.
    """

    width: int = 128
    hidden: tuple[int, ...] = (128,)
    rows: int = 32
    over: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.hidden, (tuple, list)):
            raise ValueError(f"hidden is {self.hidden!r}; it must be a tuple, the outputs of each layer")
        object.__setattr__(self, "hidden", tuple(self.hidden))
        for name, least, values in (("width", 1, [self.width]), ("hidden", 1, self.hidden), ("rows", 0, [self.rows])):
            if not all(is_integer(one) and one >= least for one in values):
                raise ValueError(f"{name} is {getattr(self, name)!r}; outputs are whole numbers from {least} on")

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> NetworkShape:
        """Make a shape from what ``dataclasses.asdict`` gave."""
        return cls(**saved)

    def inputs(self, config: Configuration) -> NetworkInputs:
        """Its inputs in games of ``config``."""
        return NetworkInputs(config.observation, config.actions, config.game.max_players, self)


class NetworkInputs:
    """Which tables, references and actions a network deals with.

    Args:
        layout, actions: those of the game.
        seats: the most seats that play it.
        shape: the shape of the network.

    Attributes:
        layout: the layout of what it sees: the game's, followed by the bot's choice for a network over a bot.
        tables: all tables.
        rows_of: the names of the tables whose rows it looks at one by one. They have more than one row, or are pointed
            at, or are referred to.
        pooled: those of them that are in the vector and have more than one row.
        joins: the references between them.
        heads: (name of a block, how many of its axes are tables), for the blocks that point at rows.
    """

    def __init__(self, layout: Layout, actions: ActionSet, seats: int, shape: NetworkShape) -> None:
        self.layout = layout.followed_by(_choice(actions)) if shape.over else layout
        self.actions, self.seats, self.shape = actions, seats, shape
        whole = ObservationInputs(self.layout)
        self.tables: dict[str, TableInputs] = whole.tables
        self.rows_of: list[str] = []
        self.pooled: list[str] = []
        self.joins: list[Join] = []
        self.heads: list[tuple[str, int]] = []
        if shape.rows:
            self.rows_of = [name for name in self.tables if name != CHOICE]
            self.pooled = [name for name, one in self.tables.items() if one.entries is not None and one.rows > 1]
            self.joins = whole.joins
            counts = [(block.name, sum(bool(axis.table) for axis in block.axes)) for block in actions.blocks]
            self.heads = [(name, count) for name, count in counts if count]

    def check(self, weights: Weights) -> None:
        """Raise ValueError for the first array that is missing, has another shape, or has no place in this network."""
        expected = self.expected_shapes()
        for name, size in expected.items():
            if name not in weights:
                raise ValueError(f"{name} is missing")
            if weights[name].shape != size:
                raise ValueError(f"{name} is {weights[name].shape}, it must be {size}")
        for name in weights:
            if name not in expected:
                raise ValueError(f"{name} has no place in it")

    def expected_shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each array of weights by its name."""
        return dict(self._shapes())

    def _shapes(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        width, rows, tables = self.shape.width, self.shape.rows, self.tables
        yield "first.bias", (width,)
        for name, one in tables.items():
            if one.entries is not None:
                yield f"tables.{name}.flat", (one.rows * one.size, width)
        for name in self.rows_of:
            yield f"tables.{name}.encoder", (tables[name].size, rows)
            yield f"tables.{name}.row", (tables[name].rows, rows)
        for name in self.pooled:
            yield f"tables.{name}.pool", (rows, width)
        for join in self.joins:
            back = 1 if tables[join.table].rows == 1 else tables[join.table].size + 1
            yield f"joins.{join.name}.to", (tables[join.of].size + 1, rows)
            yield f"joins.{join.name}.back", (back, rows)
        sizes = (width, *self.shape.hidden)
        for side in ("policy", "value"):
            for number, (before, after) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
                yield f"{side}.{number}.weight", (after, before)
                yield f"{side}.{number}.bias", (after,)
        for block, axes in self.heads:
            yield f"heads.{block}.context", (rows, sizes[-1])
            yield f"heads.{block}.bias", (rows,)
            yield f"heads.{block}.axes", (axes, rows)
            yield f"heads.{block}.out", (rows,)
        yield "actions.weight", (len(self.actions), sizes[-1])
        yield "actions.bias", (len(self.actions),)
        if self.shape.over:
            yield "follow.weight", (1, sizes[-1])
            yield "follow.bias", (1,)
        yield "values.weight", (self.seats, sizes[-1])
        yield "values.bias", (self.seats,)


def _choice(actions: ActionSet) -> Block:
    field = piece("action", LABEL, len(actions) - 1, "what the bot that a network is over would do")
    return table(CHOICE, 1, [field], derived=True)
