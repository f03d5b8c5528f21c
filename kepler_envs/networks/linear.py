"""The flat array of a network as a linear function of its weights, in compiled code.

A learner lays out weights and takes derivatives back at each of its steps. In the operations of a library that is a
hundred small ones and takes a tenth of the time of learning. So the function is worked out once, term by term, by
calling :meth:`~kepler_envs.networks.arrangement.Arrangement.flat` with arrays that note what they are made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from kepler_envs.engine.game import record_array
from kepler_envs.engine.kernel import INT, array_of, kernel
from kepler_envs.networks.arrangement import Arrangement, aligned
from kepler_envs.networks.kernels import FLOAT, NOWHERE, SCOPE, WHOLE, add_multiple


class Sums:
    """An array whose entries are sums of weights, each times a factor.

    It has the operators that an arrangement uses. The other operand is a constant array, or has to be 0 if it is added.

    Args:
        shape: its shape.
        places: int64 (K,), to which entry each of K terms belongs, as a number within the array.
        weights: int64 (K,), the number of its weight.
        factors: float64 (K,).
    """

    __array_ufunc__ = None  # so that a NumPy array on the left leaves the operation to this class

    def __init__(self, shape: tuple[int, ...], places: np.ndarray, weights: np.ndarray, factors: np.ndarray) -> None:
        self.shape, self.places, self.weights, self.factors = shape, places, weights, factors

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def size(self) -> int:
        """The number of entries."""
        return int(np.prod(self.shape))

    @property
    def _numbered(self) -> np.ndarray:
        return np.arange(self.size).reshape(self.shape)

    @property
    def T(self) -> Sums:
        """The transpose."""
        return self._picked(self._numbered.T)

    def reshape(self, *shape: int) -> Sums:
        """The same entries in another shape."""
        return Sums(self._numbered.reshape(*shape).shape, self.places, self.weights, self.factors)

    def __getitem__(self, key: Any) -> Sums:
        return self._picked(np.asarray(self._numbered[key]))

    def _picked(self, entries: np.ndarray) -> Sums:
        """An array of these entries, each as often as it is named."""
        order = np.argsort(self.places, kind="stable")
        begins = np.searchsorted(self.places[order], np.arange(self.size + 1))
        of, terms = _expanded(begins, entries.ravel())
        terms = order[terms]
        return Sums(entries.shape, of, self.weights[terms], self.factors[terms])

    def sum(self, axis: int) -> Sums:
        """The sums over an axis."""
        kept = list(self.shape)
        del kept[axis]
        numbers = np.expand_dims(np.arange(int(np.prod(kept))).reshape(kept), axis)
        places = np.broadcast_to(numbers, self.shape).ravel()[self.places]
        return Sums(tuple(kept), places, self.weights, self.factors)

    def __mul__(self, constant: np.ndarray) -> Sums:
        shape = np.broadcast_shapes(self.shape, constant.shape)
        if shape != self.shape:
            raise ValueError(f"an array {self.shape} cannot be multiplied by one {constant.shape}")
        factors = self.factors * np.broadcast_to(constant, shape).ravel()[self.places]
        terms = factors != 0
        return Sums(self.shape, self.places[terms], self.weights[terms], factors[terms])

    def __rmatmul__(self, constant: np.ndarray) -> Sums:
        """The product of a constant matrix (R, K) and this one (K, C)."""
        columns = self.shape[1]
        order = np.argsort(self.places // columns, kind="stable")
        begins = np.searchsorted(self.places[order] // columns, np.arange(len(self) + 1))
        rows, inner = np.nonzero(constant)
        of, terms = _expanded(begins, inner)
        terms = order[terms]
        return Sums(
            (len(constant), columns), rows[of] * columns + self.places[terms] % columns, self.weights[terms],
            constant[rows, inner][of] * self.factors[terms],
        )  # fmt: skip

    def __neg__(self) -> Sums:
        return Sums(self.shape, self.places, self.weights, -self.factors)

    def __add__(self, other: Sums | np.ndarray) -> Sums:
        other = _as_sums(other)
        shape = np.broadcast_shapes(self.shape, other.shape)
        one, two = self._as_large_as(shape), other._as_large_as(shape)
        return Sums(shape, *_joined(one, two))

    __radd__ = __add__

    def __sub__(self, other: Sums) -> Sums:
        return self + -other

    def _as_large_as(self, shape: tuple[int, ...]) -> Sums:
        return self if shape == self.shape else self._picked(np.broadcast_to(self._numbered, shape))


def _expanded(begins: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(number in ``chosen``, item) for all items of the chosen groups; those of group g are ``begins[g]`` to
    ``begins[g + 1]``."""
    counts = (begins[1:] - begins[:-1])[chosen]
    of = np.repeat(np.arange(len(chosen)), counts)
    within = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
    return of, begins[:-1][chosen][of] + within


def _joined(*parts: Sums) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (
        np.concatenate([one.places for one in parts]),
        np.concatenate([one.weights for one in parts]),
        np.concatenate([one.factors for one in parts]),
    )


def _as_sums(array: Sums | np.ndarray) -> Sums:
    if isinstance(array, Sums):
        return array
    if np.any(array):
        raise ValueError("what does not depend on the weights has to be 0")
    nothing = np.zeros(0, np.int64)
    return Sums(array.shape, nothing, nothing, np.zeros(0))


def concatenate(parts: Sequence[Sums | np.ndarray], axis: int) -> Sums:
    """Join sums along an axis: a :data:`~kepler_envs.networks.arrangement.Concatenate`."""
    sums = [_as_sums(one) for one in parts]
    numbers = np.concatenate([np.zeros(one.shape, np.int8) for one in sums], axis)
    numbered = np.arange(numbers.size).reshape(numbers.shape)
    ends = np.cumsum([one.shape[axis] for one in sums])
    places = np.split(numbered, ends[:-1], axis)
    moved = [
        Sums(one.shape, place.ravel()[one.places], one.weights, one.factors)
        for one, place in zip(sums, places, strict=True)
    ]
    return Sums(numbers.shape, *_joined(*moved))


class LinearLayout:
    """Lays out weights as an arrangement does, and takes derivatives back to the weights.

    Args:
        arrangement: the arrangement.

    Attributes:
        sizes: the shape of each array of weights, by name, in the order in which the weights are numbered.
        size: the number of weights.
    """

    def __init__(self, arrangement: Arrangement) -> None:
        self.sizes = arrangement.inputs.expected_shapes()
        self._places: dict[str, slice] = {}
        numbered: dict[str, Sums] = {}
        self.size = 0
        for name, shape in self.sizes.items():
            count = int(np.prod(shape))
            places = np.arange(count)
            numbered[name] = Sums(shape, places, self.size + places, np.ones(count))
            self._places[name] = slice(self.size, self.size + count)
            self.size += count
        self._runs = _runs_of(arrangement.flat(concatenate, numbered))
        self._flat_size = arrangement.size

    def parts(self, joined: np.ndarray) -> dict[str, np.ndarray]:
        """The parts of an array of all weights (size,), by name. They are not copied."""
        return {name: joined[self._places[name]].reshape(shape) for name, shape in self.sizes.items()}

    def flat(self, joined: np.ndarray) -> np.ndarray:
        """The flat array of weights (size,), float32."""
        flat = aligned(self._flat_size)
        runs_kernel()(joined, *self._runs, flat, 0)
        return flat

    def back(self, d_flat: np.ndarray) -> np.ndarray:
        """Derivatives by the weights, float32 (size,), from those by the flat array."""
        d_joined = np.zeros(self.size, FLOAT)
        runs_kernel()(d_flat, *self._runs, d_joined, 1)
        return d_joined


def _runs_of(sums: Sums) -> tuple[np.ndarray, np.ndarray]:
    """(RUN records, TERM records) of an array."""
    order = np.lexsort((sums.weights, sums.places))
    places, weights, factors = sums.places[order], sums.weights[order], sums.factors[order]
    entries, begins, counts = np.unique(places, return_index=True, return_counts=True)
    step = _steps(entries, np.append(begins, len(places)), weights, factors)
    heads = np.flatnonzero((step == NOWHERE) | ((step != np.roll(step, 1)) & (np.roll(step, 1) != NOWHERE)))
    runs = np.zeros(len(heads), RUN)
    runs["entry"], runs["count"] = entries[heads], np.diff(np.append(heads, len(entries)))
    runs["step"] = np.where(runs["count"] > 1, np.roll(step, -1)[heads], 1)
    runs["end"] = np.cumsum(counts[heads])
    _, chosen = _expanded(np.append(begins, len(places)), heads)
    terms = np.zeros(len(chosen), TERM)
    terms["weight"], terms["factor"] = weights[chosen], factors[chosen]
    return record_array(runs), record_array(terms)


def _steps(entries: np.ndarray, begins: np.ndarray, weights: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """How far each term's weight is from that of the entry before, int64 (len(entries),).

    NOWHERE if that is not one positive number for all terms, if factors differ, or if an entry without terms is in
    between.
    """
    counts = np.diff(begins)
    alike = np.flatnonzero((np.diff(entries) == 1) & (np.diff(counts) == 0)) + 1
    of, terms = _expanded(begins, alike)
    before = terms - counts[alike][of]
    ahead = weights[terms] - weights[before]
    first = ahead[np.cumsum(counts[alike]) - counts[alike]]
    same = (factors[terms] == factors[before]) & (ahead == first[of]) & (ahead > 0)
    steps = np.full(len(entries), NOWHERE)
    fits = np.bincount(of, same, len(alike)) == counts[alike]
    steps[alike[fits]] = first[fits]
    return steps


RUN = np.dtype([(name, WHOLE) for name in ("entry", "count", "step", "end")], align=True)
"""Entries of the flat array, one after the other, that are alike: the first one, and how many.

The terms of a run end before ``end`` and begin where those of the run before it end. They are those of its first entry;
the weights of the following ones are ``step`` further each.
"""
TERM = np.dtype([("weight", WHOLE), ("factor", FLOAT)], align=True)


@cache
def runs_kernel() -> Any:
    """(source float32[], runs RUN[], terms TERM[], out float32[], back int64).

    Adds the terms to ``out``: the weights in ``source`` to the flat array, or, with ``back`` 1, the derivatives by the
    flat array in ``source`` to those by the weights.
    """

    @kernel(SCOPE, "lay_out", (array_of(FLOAT), array_of(RUN), array_of(TERM), array_of(FLOAT), INT))
    def lay_out(source, runs, terms, out, back):
        term = 0
        for i in range(runs.size):
            run = runs[i]
            entry, count, step = np.int64(run.entry), np.int64(run.count), np.int64(run.step)
            while term < run.end:
                weight, factor = np.int64(terms[term].weight), terms[term].factor
                term += 1
                to, begin = (weight, entry) if back else (entry, weight)
                if step == 1:
                    add_multiple(out, to, factor, source, begin, count)
                    continue
                to_step, from_step = (step, 1) if back else (1, step)
                for k in range(count):
                    out[to + k * to_step] += source[begin + k * from_step] * factor

    return lay_out
