"""Weights of a network laid out for compiled code that skips zeros and illegal actions.

The layout is one flat array, together with where each part of it begins. The flat array is a linear function of the
weights. The function is written once, for NumPy's arrays and for others with their operators. NumPy's lay out a network
that plays. For one that learns, ``linear.py`` works the function out, and so finds the gradients of the weights from
those of the flat array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kepler_envs.engine.actions import NO_ROW
from kepler_envs.engine.game import record_array
from kepler_envs.engine.inputs import Input, Join, TableInputs
from kepler_envs.engine.network import NetworkInputs
from kepler_envs.engine.observation import COUNT
from kepler_envs.engine.observation import REFERENCE as REFERS
from kepler_envs.networks.kernels import (
    FLOAT,
    HEAD,
    INPUT,
    JOIN,
    LABEL,
    LAYER,
    LINK,
    NETWORK,
    NOWHERE,
    NUMBER,
    REFERENCE,
    SIGN,
    TABLE,
    WHOLE,
    workspace_sizes,
)

LINE = 16
"""Numbers in a line of the processor's cache. Each array begins on one, which makes a network a quarter faster."""

Array = Any
"""An array of NumPy's, or of another library with the same operators."""
Concatenate = Callable[[Sequence[Array], int], Array]
"""A function that joins arrays along an axis, as ``np.concatenate`` does."""
Make = Callable[[Concatenate, Mapping[str, Array]], Array]
"""A function that makes a part of the flat array from the weights."""


class _Fold:
    """Changes weights (..., inputs of a row, outputs) so that they can be applied to the entries as they are.

    Scales become part of the weights. What a label of 0 adds is subtracted from the entry's other labels and always
    added instead, so that entries of 0 add nothing.
    """

    def __init__(self, one: TableInputs) -> None:
        self._scale, self._labelled, self._counted = np.ones(one.size), np.zeros(one.size), np.zeros(one.size)
        self._zero = np.zeros(one.size, np.int64)
        for given in one.inputs:
            its = slice(given.first, given.first + given.size)
            if not given.one_hot:
                self._scale[given.first] = given.inverse_scale
            elif 0 <= -given.low < given.size:
                self._labelled[its], self._zero[its] = 1, given.first - given.low
                self._counted[given.first - given.low] = 1
        self._has_labels = bool(self._labelled.any())

    def __call__(self, weights: Array) -> Array:
        scaled = weights * self._scale[:, None]
        if not self._has_labels:
            return scaled
        return scaled - weights[..., self._zero, :] * self._labelled[:, None]

    def always(self, weights: Array) -> Array:
        """What is always added, whatever the entries are, (..., outputs)."""
        return (weights * self._counted[:, None]).sum(-2)


def _records(kind: np.dtype, rows: list[tuple[int, ...]]) -> np.ndarray:
    return record_array(np.array(rows, kind))


def _added(given: Input) -> list[tuple[int, int]]:
    """(kind, number within its row) for each input of an entry that is not 0; for labels, the number of label 0."""
    if given.one_hot:
        return [(LABEL, given.first - given.low)]
    if given.kind == REFERS:
        return [(SIGN, given.first)]
    return [(NUMBER, given.first), (SIGN, given.first + 1)] if given.kind == COUNT else [(NUMBER, given.first)]


class Arrangement:
    """Says where kernels find the parts of a network.

    Args:
        inputs: the inputs of the network.

    Attributes:
        inputs: the inputs of the network.
        size: the number of entries in the flat array.
        entries: how many inputs come from the vector.
        workspaces: the number of entries in the two workspaces of a kernel.
    """

    def __init__(self, inputs: NetworkInputs) -> None:
        self.inputs, self._shape = inputs, inputs.shape
        self._said = -(-inputs.shape.rows // LINE) * LINE  # numbers said of a row, filled up with zeros to whole lines
        self._nothing = {name: np.zeros(size) for name, size in inputs.expected_shapes().items()}
        self._parts: list[Make] = []
        self.size = 0
        self._net = np.zeros(1, NETWORK)
        self._fold = {name: _Fold(one) for name, one in inputs.tables.items()}
        self._vector = [one for one in inputs.tables.values() if one.entries is not None]
        self._fixed = [one for one in inputs.tables.values() if one.entries is None]
        self._begin: dict[str, int] = {}
        for one in (*self._vector, *self._fixed):
            self._begin[one.name] = sum(inputs.tables[name].rows for name in self._begin)
        self._in_vector = sum(one.rows for one in self._vector)
        self._all_rows = self._in_vector + sum(one.rows for one in self._fixed)
        self._encoded = {
            one.name: one.encode(one.values).astype(np.float64)  # type: ignore[arg-type]
            for one in self._fixed
        }
        heads = {name for name, _ in inputs.heads}
        pointed = {axis.table for block in inputs.actions.blocks if block.name in heads for axis in block.axes}
        self._looked_at = (pointed | set(inputs.pooled)) if inputs.shape.rows else set()
        entries, found = self._first_layer()
        tables = self._tables()
        joins, references, links, link_begins = self._joins()
        layers = [*self._layers("policy"), *self._layers("value")]
        heads_of = self._heads()
        self._answers()
        self._lasting = self._joined_for_ever()
        self._net[0]["alone"] = self._put(self._alone)
        self._sizes()
        self.entries = len(entries)
        self.workspaces = workspace_sizes(
            self._net[0], self.entries, len(inputs.actions), len(references), len(heads_of)
        )
        self._records = (
            np.array(entries, WHOLE), _records(INPUT, found), _records(TABLE, tables), _records(JOIN, joins),
            _records(REFERENCE, references), _records(LINK, links), np.array(link_begins, WHOLE),
            _records(LAYER, layers), _records(HEAD, heads_of), self._pointers(),
        )  # fmt: skip

    @property
    def network(self) -> np.ndarray:
        """NETWORK[1]: The sizes, and where the arrays begin."""
        return record_array(self._net)

    def arguments(self, flat: np.ndarray) -> tuple[np.ndarray, ...]:
        """The arguments of kernels for a network with this flat array: :class:`~kepler_envs.networks.kernels.Net`."""
        return (self.network, flat, *self._records)

    def flat(self, concatenate: Concatenate, weights: Mapping[str, Array]) -> Array:
        """The flat array of weights."""
        parts = []
        for make in self._parts:
            numbers = make(concatenate, weights).reshape(-1)
            parts.append(numbers)
            if len(numbers) % LINE:
                parts.append(np.zeros(-len(numbers) % LINE))
        return concatenate(parts, 0)

    def _put(self, make: Make) -> int:
        """Append an array. Returns where it begins."""
        begin, count = self.size, make(np.concatenate, self._nothing).size
        self._parts.append(make)
        self.size += -(-count // LINE) * LINE
        return begin

    def _sizes(self) -> None:
        its = self._net[0]
        its["width"], its["widest"] = self._shape.width, max((self._shape.width, *self._shape.hidden))
        its["kept"] = self._shape.width + sum(self._shape.hidden)
        its["rows"], its["pooled"] = self._said, len(self.inputs.pooled)
        its["in_vector"], its["fixed"] = self._in_vector, self._all_rows - self._in_vector
        its["policy_layers"] = len(self._shape.hidden)

    def _said_of(self, name: str) -> Make:
        """Make weights whose last axis is what is said of a row, padded to whole lines."""
        missing = self._said - self._shape.rows

        def make(concatenate: Concatenate, weights: Mapping[str, Array]) -> Array:
            its = weights[name]
            if not missing:
                return its
            return concatenate([its, np.zeros((*its.shape[:-1], missing))], -1)

        return make

    # ------------------------------------------------------------ the vector and its rows

    def _first_layer(self) -> tuple[list[int], list[tuple[int, ...]]]:
        """(entries, INPUT records) for every input that may add something, row by row."""
        entries: list[int] = []
        found: list[tuple[int, ...]] = []
        wide = 0
        for one in self._vector:
            for row in range(one.rows):
                for column, given in enumerate(one.inputs):
                    for kind, number in _added(given):
                        entries.append(int(one.entries[row, column]))  # type: ignore[index]
                        found.append((kind, self._begin[one.name] + row, wide + number, number))
                wide += one.size
        self._net[0]["bias"], self._net[0]["wide"] = self._put(self._bias), self._put(self._wide)
        self._net[0]["wide_rows"] = wide
        return entries, found

    def _flat_of(self, one: TableInputs, weights: Mapping[str, Array]) -> Array:
        return weights[f"tables.{one.name}.flat"].reshape(one.rows, one.size, -1)

    def _bias(self, concatenate: Concatenate, weights: Mapping[str, Array]) -> Array:
        total = weights["first.bias"]
        for one in self._vector:
            total = total + self._fold[one.name].always(self._flat_of(one, weights)).sum(0)
        return total

    def _wide(self, concatenate: Concatenate, weights: Mapping[str, Array]) -> Array:
        folded = [self._fold[one.name](self._flat_of(one, weights)) for one in self._vector]
        return concatenate([one.reshape(-1, self._shape.width) for one in folded], 0)

    def _tables(self) -> list[tuple[int, ...]]:
        """The TABLE records."""
        records: list[tuple[int, ...]] = []
        for one in self._vector:
            encoder, number = NOWHERE, NOWHERE
            if one.name in self._looked_at:
                encoder = self._put(self._folded(one, self._said_of(f"tables.{one.name}.encoder")))
                number = self.inputs.pooled.index(one.name) if one.name in self.inputs.pooled else NOWHERE
            records.append((self._begin[one.name], one.rows, encoder, number))
        if self.inputs.pooled:
            self._net[0]["pool"] = self._put(self._pools)
            self._net[0]["pool_back"] = self._put(lambda concatenate, weights: self._pools(concatenate, weights).T)
        return records

    def _folded(self, one: TableInputs, make: Make) -> Make:
        return lambda concatenate, weights: self._fold[one.name](make(concatenate, weights))

    def _pools(self, concatenate: Concatenate, weights: Mapping[str, Array]) -> Array:
        padding = np.zeros((self._said - self._shape.rows, self._shape.width))
        parts = [part for name in self.inputs.pooled for part in (weights[f"tables.{name}.pool"], padding)]
        return concatenate(parts, 0)

    # ------------------------------------------------------------ what is said of rows whatever the vector holds

    def _alone(self, concatenate: Concatenate, weights: Mapping[str, Array]) -> Array:
        """(all rows, R)."""
        said = [self._alone_of(one, concatenate, weights) for one in (*self._vector, *self._fixed)]
        return concatenate(said, 0) if said else np.zeros((0, 0))

    def _alone_of(self, one: TableInputs, concatenate: Concatenate, weights: Mapping[str, Array]) -> Array:
        total = np.zeros((one.rows, self._said))
        if one.name in self._looked_at:
            encoder = self._said_of(f"tables.{one.name}.encoder")(concatenate, weights)
            total = total + self._said_of(f"tables.{one.name}.row")(concatenate, weights)
            if one.values is None:
                total = total + self._fold[one.name].always(encoder)
            else:
                total = total + self._encoded[one.name] @ encoder
        for add in self._lasting[one.name]:
            total = total + add(concatenate, weights)
        return total

    def _joined_for_ever(self) -> dict[str, list[Make]]:
        """For each table, what the references of fixed tables add to its rows. It is the same in all positions."""
        found: dict[str, list[Make]] = {name: [] for name in self.inputs.tables}
        for join in self.inputs.joins:
            one, other = self.inputs.tables[join.table], self.inputs.tables[join.of]
            if one.values is None:
                continue
            refers = np.zeros((one.rows, other.rows))
            for row, of in _references(one, join):
                refers[row, of] += 1
            found[other.name].append(self._by_fixed(refers.T, one, f"joins.{join.name}.back"))
            if other.values is not None:
                found[one.name].append(self._by_fixed(refers, other, f"joins.{join.name}.to"))
        return found

    def _by_fixed(self, counts: np.ndarray, seen: TableInputs, name: str) -> Make:
        """Make ``counts`` times what the rows of a fixed table add to other rows."""
        said = self._said_by_fixed(seen, self._said_of(name))
        return lambda concatenate, weights: counts @ said(concatenate, weights)

    def _said_by_fixed(self, seen: TableInputs, make: Make) -> Make:
        """Make (rows, R): what each row of a fixed table adds to a row it is joined with."""
        numbers = self._encoded[seen.name]

        def said(concatenate: Concatenate, weights: Mapping[str, Array]) -> Array:
            its = make(concatenate, weights)
            return its if len(its) == 1 else numbers @ its[:-1] + its[-1]

        return said

    # ------------------------------------------------------------ references

    def _joins(self) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]], list[tuple[int, ...]], list[int]]:
        """The JOIN, REFERENCE and LINK records, and where the links of each row of a fixed table begin."""
        joins: list[tuple[int, ...]] = []
        references: list[tuple[int, ...]] = []
        links: list[list[tuple[int, ...]]] = [[] for _ in range(self._all_rows - self._in_vector)]
        for join in self.inputs.joins:
            one, other = self.inputs.tables[join.table], self.inputs.tables[join.of]
            if one.entries is None:
                self._link(join, one, other, links)
                continue
            to = to_bias = back = back_bias = NOWHERE
            if one.name in self._looked_at:
                to, to_bias = self._side(other, f"joins.{join.name}.to")
            if other.name in self._looked_at:
                back, back_bias = self._side(one, f"joins.{join.name}.back")
            if to_bias != NOWHERE or back_bias != NOWHERE:
                for row in range(one.rows):
                    for column in join.columns:
                        references.append((int(one.entries[row, column]), self._begin[one.name] + row, len(joins)))
                shown = int(self._net[0]["shown"])
                joins.append((self._begin[other.name], other.entries is None, shown, to, to_bias, back, back_bias))
                if other.entries is not None:
                    self._net[0]["shown"] += other.rows
        begins = np.cumsum([0, *map(len, links)]).tolist()
        return joins, references, [link for its in links for link in its], begins

    def _side(self, seen: TableInputs, name: str) -> tuple[int, int]:
        """(where the weights begin of what a row of ``seen`` adds to another, where its biases begin)."""
        make = self._said_of(name)
        if len(self._nothing[name]) == 1:
            return NOWHERE, self._put(make)
        if seen.values is not None:  # the same in all positions, so it is ready for each row
            return self._put(self._said_by_fixed(seen, make)), 0

        def inputs(concatenate: Concatenate, weights: Mapping[str, Array]) -> Array:
            return make(concatenate, weights)[:-1]

        def bias(concatenate: Concatenate, weights: Mapping[str, Array]) -> Array:
            its = make(concatenate, weights)
            return its[-1] + self._fold[seen.name].always(its[:-1])

        return self._put(self._folded(seen, inputs)), self._put(bias)

    def _link(self, join: Join, one: TableInputs, other: TableInputs, links: list[list[tuple[int, ...]]]) -> None:
        """Add to ``links`` a fixed table's references to rows in the vector."""
        if other.values is not None or one.name not in self._looked_at:
            return
        placed = self._side(other, f"joins.{join.name}.to")
        for row, of in _references(one, join):
            links[self._begin[one.name] - self._in_vector + row].append((self._begin[other.name] + of, *placed))

    # ------------------------------------------------------------ layers and answers

    def _layers(self, side: str) -> Iterator[tuple[int, ...]]:
        """The LAYER records of policy or value."""
        for number in range(len(self._shape.hidden)):
            name = f"{side}.{number}"
            outputs, inputs = self._nothing[f"{name}.weight"].shape
            weights, biases = self._put(_turned(f"{name}.weight")), self._put(_as_it_is(f"{name}.bias"))
            yield inputs, outputs, weights, self._put(_as_it_is(f"{name}.weight")), biases

    def _heads(self) -> list[tuple[int, ...]]:
        """The HEAD records of all blocks."""
        pointing = dict(self.inputs.heads)
        records: list[tuple[int, ...]] = []
        for block in self.inputs.actions.blocks:
            places: tuple[int, ...] = (NOWHERE,) * 4
            if block.name in pointing:
                name = f"heads.{block.name}"
                others = (self._put(self._said_of(f"{name}.{part}")) for part in ("bias", "axes", "out"))
                places = (self._put(self._context_of(name)), *others)
            records.append((block.first + block.count, pointing.get(block.name, 0), *places))
        return records

    def _context_of(self, name: str) -> Make:
        missing = self._said - self._shape.rows

        def make(concatenate: Concatenate, weights: Mapping[str, Array]) -> Array:
            its = weights[f"{name}.context"].T
            return concatenate([its, np.zeros((its.shape[0], missing))], -1) if missing else its

        return make

    def _answers(self) -> None:
        for name, weights in (
            ("actions", "actions.weight"),
            ("action_biases", "actions.bias"),
            ("values", "values.weight"),
            ("value_biases", "values.bias"),
        ):
            self._net[0][name] = self._put(_as_it_is(weights))
        its = self._net[0]
        its["choice"] = NOWHERE
        if self._shape.over:
            its["choice"] = self.inputs.layout.size - 1
            its["follow"], its["follow_bias"] = (self._put(_as_it_is(f"follow.{one}")) for one in ("weight", "bias"))

    def _pointers(self) -> np.ndarray:
        """int32 (A, K), the rows that actions point at, by the kernels' numbers."""
        pointers = self.inputs.actions.pointers
        begins = np.array([self._begin[name] for name in pointers.tables] + [0])
        return np.where(pointers.row == NO_ROW, NOWHERE, begins[pointers.table] + pointers.row).astype(WHOLE)


def _references(one: TableInputs, join: Join) -> Iterator[tuple[int, int]]:
    """(row, the row it refers to) for each reference of a fixed table, row by row."""
    its: np.ndarray = one.values[:, join.columns]  # type: ignore[index]
    for row, column in np.argwhere(its > 0).tolist():
        yield row, int(its[row, column]) - 1


def _as_it_is(name: str) -> Make:
    return lambda concatenate, weights: weights[name]


def _turned(name: str) -> Make:
    return lambda concatenate, weights: weights[name].T


def aligned(count: int) -> np.ndarray:
    """Zeros, float32 (count,), that begin on a line of the processor's cache."""
    room = np.zeros(count + LINE, FLOAT)
    begin = -room.ctypes.data // FLOAT.itemsize % LINE
    return room[begin : begin + count]
