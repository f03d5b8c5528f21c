"""Networks of an observation's tables: weights laid out for compiled code that skips zeros and illegal actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from kepler_envs.bots.networks.kernels import (
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
    network_kernel,
    workspace_sizes,
)
from kepler_envs.engine.actions import NO_ROW
from kepler_envs.engine.game import record_array
from kepler_envs.engine.inputs import Input, Join, TableInputs
from kepler_envs.engine.network import NetworkInputs, Weights
from kepler_envs.engine.observation import COUNT
from kepler_envs.engine.observation import REFERENCE as REFERS


class CompiledNetwork:
    """A network's answers in compiled code: see :class:`kepler_envs.bots.networks.PositionNetwork`.

    Single precision; priors and values differ from those of PyTorch by about 1e-6.

    Args:
        inputs: of the network.
        weights: of the network; they are copied.
    """

    def __init__(self, inputs: NetworkInputs, weights: Weights) -> None:
        plan = _Plan(inputs, weights)
        self._actions, self._seats = len(inputs.actions), inputs.seats
        self._network = plan.arrays()
        self._sizes = plan.workspaces()
        self._evaluate = network_kernel()

    def __call__(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        priors = np.empty((len(observations), self._actions), FLOAT)
        values = np.empty((len(observations), self._seats), FLOAT)
        # one workspace for each call, as threads may share a network
        wholes, decimals = self._sizes
        workspaces = np.empty(wholes, WHOLE), np.empty(decimals, FLOAT), np.zeros(2, np.int64)
        self._evaluate(observations, masks, *self._network, *workspaces, priors, values)
        return priors, values


LINE = 16
"""Numbers in a line of the processor's cache. Each array begins with one: that makes a network a quarter faster."""


class _Buffer:
    """Arrays one after the other in one flat array."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []
        self._size = 0

    def put(self, numbers: np.ndarray) -> int:
        """Append an array; where it begins."""
        begin = self._size
        padding = -numbers.size % LINE
        self._parts += [numbers.astype(FLOAT).ravel(), np.zeros(padding, FLOAT)]
        self._size += numbers.size + padding
        return begin

    def flat(self) -> np.ndarray:
        """The array, itself at the beginning of a line."""
        room = np.zeros(self._size + LINE, FLOAT)
        begin = -room.ctypes.data // FLOAT.itemsize % LINE
        flat = room[begin : begin + self._size]
        np.concatenate(self._parts, out=flat)
        return flat


def _records(kind: np.dtype, rows: list[tuple[int, ...]]) -> np.ndarray:
    return record_array(np.array(rows, kind))


def _fold(one: TableInputs, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights (..., inputs of a row, outputs) for entries as they are, and (..., outputs) that are added whatever they are.

    Scales become part of the weights. What a label of 0 adds is taken off the entry's other labels, so that entries of 0 add nothing.
    """
    folded = weights.copy()
    always = np.zeros((*weights.shape[:-2], weights.shape[-1]))
    for given in one.inputs:
        its = folded[..., given.first : given.first + given.size, :]
        if not given.one_hot:
            its[..., 0, :] *= given.inverse_scale
        elif 0 <= -given.low < given.size:
            zero = its[..., -given.low, :].copy()
            its -= zero[..., None, :]
            always += zero
    return folded, always


def _added(given: Input) -> list[tuple[int, int]]:
    """(kind, the input's number within a row's, of labels that of 0) for each thing that an entry adds if it is not 0."""
    if given.one_hot:
        return [(LABEL, given.first - given.low)]
    if given.kind == REFERS:
        return [(SIGN, given.first)]
    return [(NUMBER, given.first), (SIGN, given.first + 1)] if given.kind == COUNT else [(NUMBER, given.first)]


class _Plan:
    """The arrays of a network, one after the other."""

    def __init__(self, inputs: NetworkInputs, weights: Weights) -> None:
        self._inputs, self._shape = inputs, inputs.shape
        self._said = -(-inputs.shape.rows // LINE) * LINE  # of a row, filled up with zeros to whole lines
        self._weights: Mapping[str, np.ndarray] = {name: array.astype(np.float64) for name, array in weights.items()}
        self._buffer = _Buffer()
        self._net = np.zeros(1, NETWORK)
        self._vector = [one for one in inputs.tables.values() if one.entries is not None]
        self._fixed = [one for one in inputs.tables.values() if one.entries is None]
        self._begin: dict[str, int] = {}
        for one in (*self._vector, *self._fixed):
            self._begin[one.name] = sum(inputs.tables[name].rows for name in self._begin)
        self._in_vector = sum(one.rows for one in self._vector)
        heads = {name for name, _ in inputs.heads}
        pointed = {axis.table for block in inputs.actions.blocks if block.name in heads for axis in block.axes}
        self._looked_at = (pointed | set(inputs.pooled)) if inputs.shape.rows else set()
        rows = self._in_vector + sum(one.rows for one in self._fixed)
        self._alone = np.zeros((rows, self._said))
        entries, found = self._first_layer()
        tables = self._tables()
        joins, references, links, link_begins = self._joins()
        layers = [*self._layers("policy"), *self._layers("value")]
        heads_of = self._heads()
        self._answers()
        self._sizes()
        self._counts = len(entries), len(references)
        self._arrays = (
            record_array(self._net), self._buffer.flat(), np.array(entries, WHOLE), _records(INPUT, found),
            _records(TABLE, tables), _records(JOIN, joins), _records(REFERENCE, references), _records(LINK, links),
            np.array(link_begins, WHOLE), _records(LAYER, layers),
            _records(HEAD, heads_of), self._pointers(),
        )  # fmt: skip

    def arrays(self) -> tuple[np.ndarray, ...]:
        """What the kernel takes between masks and workspaces."""
        return self._arrays

    def workspaces(self) -> tuple[int, int]:
        """Numbers in the two workspaces."""
        inputs, references = self._counts
        return workspace_sizes(self._net[0], inputs, len(self._inputs.actions), references)

    def _sizes(self) -> None:
        its = self._net[0]
        its["width"], its["widest"] = self._shape.width, max((self._shape.width, *self._shape.hidden))
        its["rows"], its["pooled"] = self._said, len(self._inputs.pooled)
        its["in_vector"], its["fixed"] = self._in_vector, len(self._alone) - self._in_vector
        its["policy_layers"] = len(self._shape.hidden)
        its["alone"] = self._buffer.put(self._alone)

    def _said_of(self, name: str) -> np.ndarray:
        """Weights whose last axis is what is said of a row, filled up."""
        weights = self._weights[name]
        return np.pad(weights, [(0, 0)] * (weights.ndim - 1) + [(0, self._said - self._shape.rows)])

    def _first_layer(self) -> tuple[list[int], list[tuple[int, ...]]]:
        """(entries, the records INPUT): all that may add something, row by row."""
        entries: list[int] = []
        found: list[tuple[int, ...]] = []
        parts: list[np.ndarray] = []
        bias, wide = self._weights["first.bias"].copy(), 0
        for one in self._vector:
            weights = self._weights[f"tables.{one.name}.flat"].reshape(one.rows, one.size, -1)
            folded, always = _fold(one, weights)
            parts.append(folded.reshape(one.rows * one.size, -1))
            bias += always.sum(0)
            for row in range(one.rows):
                for column, given in enumerate(one.inputs):
                    for kind, number in _added(given):
                        entries.append(int(one.entries[row, column]))  # type: ignore[index]
                        found.append((kind, self._begin[one.name] + row, wide + number, number))
                wide += one.size
        self._net[0]["bias"], self._net[0]["wide"] = self._buffer.put(bias), self._buffer.put(np.concatenate(parts))
        return entries, found

    def _tables(self) -> list[tuple[int, ...]]:
        """The records TABLE."""
        records: list[tuple[int, ...]] = []
        for one in self._vector:
            encoder, number = NOWHERE, NOWHERE
            if one.name in self._looked_at:
                folded, always = _fold(one, self._said_of(f"tables.{one.name}.encoder"))
                encoder = self._buffer.put(folded)
                self._rows(one)[:] = self._said_of(f"tables.{one.name}.row") + always
                number = self._inputs.pooled.index(one.name) if one.name in self._inputs.pooled else NOWHERE
            records.append((self._begin[one.name], one.rows, encoder, number))
        for one in self._fixed:
            if one.name in self._looked_at:
                encoded = one.encode(one.values) @ self._said_of(f"tables.{one.name}.encoder")  # type: ignore[arg-type]
                self._rows(one)[:] = self._said_of(f"tables.{one.name}.row") + encoded
        padding = (0, self._said - self._shape.rows), (0, 0)
        pools = [np.pad(self._weights[f"tables.{name}.pool"], padding) for name in self._inputs.pooled]
        if pools:
            self._net[0]["pool"] = self._buffer.put(np.concatenate(pools))
        return records

    def _rows(self, one: TableInputs) -> np.ndarray:
        """What is said of a table's rows whatever the vector holds: a view."""
        begin = self._begin[one.name]
        return self._alone[begin : begin + one.rows]

    def _joins(self) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]], list[tuple[int, ...]], list[int]]:
        """The records JOIN, REFERENCE and LINK, and where the links of each row of a fixed table begin."""
        joins: list[tuple[int, ...]] = []
        references: list[tuple[int, ...]] = []
        links: list[list[tuple[int, ...]]] = [[] for _ in range(len(self._alone) - self._in_vector)]
        for join in self._inputs.joins:
            one, other = self._inputs.tables[join.table], self._inputs.tables[join.of]
            if one.entries is None:
                self._join_fixed(join, one, other, links)
                continue
            to = to_bias = back = back_bias = NOWHERE
            if one.name in self._looked_at:
                to, to_bias = self._side(other, self._said_of(f"joins.{join.name}.to"))
            if other.name in self._looked_at:
                back, back_bias = self._side(one, self._said_of(f"joins.{join.name}.back"))
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

    def _side(self, seen: TableInputs, weights: np.ndarray) -> tuple[int, int]:
        """Where the weights of what a row of ``seen`` adds to another begin, and what it always adds."""
        if len(weights) == 1:
            return NOWHERE, self._buffer.put(weights)
        if seen.values is not None:  # the same in all positions: ready for each row
            return self._buffer.put(seen.encode(seen.values) @ weights[:-1] + weights[-1]), 0
        folded, always = _fold(seen, weights[:-1])
        return self._buffer.put(folded), self._buffer.put(weights[-1] + always)

    def _join_fixed(self, join: Join, one: TableInputs, other: TableInputs, links: list[list[tuple[int, ...]]]) -> None:
        """References of a fixed table: the same in all positions, but for what rows in the vector say."""
        to, back = self._said_of(f"joins.{join.name}.to"), self._said_of(f"joins.{join.name}.back")
        values: np.ndarray = one.values  # type: ignore[assignment]
        its = values[:, join.columns]
        said = one.encode(values) @ back[:-1] + back[-1] if len(back) > 1 else back
        links_wanted = other.values is None and one.name in self._looked_at
        placed = self._side(other, to) if links_wanted else (NOWHERE, NOWHERE)
        for row, column in np.argwhere(its > 0).tolist():
            of = int(its[row, column]) - 1
            self._rows(other)[of] += said[row]
            if other.values is not None:
                self._rows(one)[row] += other.encode(other.values[of]) @ to[:-1] + to[-1]
            elif links_wanted:
                links[self._begin[one.name] - self._in_vector + row].append((self._begin[other.name] + of, *placed))

    def _layers(self, side: str) -> Iterator[tuple[int, ...]]:
        """The records LAYER of policy or value."""
        for number in range(len(self._shape.hidden)):
            weights = self._weights[f"{side}.{number}.weight"]
            outputs, inputs = weights.shape
            bias = self._weights[f"{side}.{number}.bias"]
            yield inputs, outputs, self._buffer.put(weights.T), self._buffer.put(bias)

    def _heads(self) -> list[tuple[int, ...]]:
        """The records HEAD of all blocks."""
        pointing = dict(self._inputs.heads)
        records: list[tuple[int, ...]] = []
        for block in self._inputs.actions.blocks:
            places: tuple[int, ...] = (NOWHERE,) * 4
            if block.name in pointing:
                name = f"heads.{block.name}"
                context = np.pad(self._weights[f"{name}.context"].T, ((0, 0), (0, self._said - self._shape.rows)))
                others = (self._said_of(f"{name}.{part}") for part in ("bias", "axes", "out"))
                places = (self._buffer.put(context), *map(self._buffer.put, others))
            records.append((block.first + block.count, pointing.get(block.name, 0), *places))
        return records

    def _answers(self) -> None:
        for name, weights in (
            ("actions", "actions"),
            ("action_biases", "actions"),
            ("values", "values"),
            ("value_biases", "values"),
        ):
            part = "bias" if name.endswith("biases") else "weight"
            self._net[0][name] = self._buffer.put(self._weights[f"{weights}.{part}"])

    def _pointers(self) -> np.ndarray:
        """int32 (A, K), the rows that actions point at, in the numbers of the kernel."""
        pointers = self._inputs.actions.pointers
        begins = np.array([self._begin[name] for name in pointers.tables] + [0])
        return np.where(pointers.row == NO_ROW, NOWHERE, begins[pointers.table] + pointers.row).astype(WHOLE)
