"""Rows that share their bytes with named fields."""

from __future__ import annotations

import numpy as np
import pytest

from kepler_envs.engine.overlay import overlay

INNER = np.dtype([("x", "i1"), ("y", "i1")], align=True)


def test_a_row_is_a_second_name() -> None:
    kind = overlay([("a", "i1"), ("b", "i1"), ("c", INNER, (2,)), ("d", "<i4")], row=("i1", 6))
    record = np.zeros(1, kind)
    record["a"], record["b"], record["c"]["y"] = 1, 2, [5, 6]
    assert record["row"].tolist() == [[1, 2, 0, 5, 0, 6]]
    record["row"][0, 2] = 9
    assert record["c"]["x"][0].tolist() == [9, 0] and record["d"] == 0
    plain = np.dtype([("a", "i1"), ("b", "i1"), ("c", INNER, (2,)), ("d", "<i4")], align=True)
    assert kind.itemsize == plain.itemsize and kind.isalignedstruct


def test_a_row_may_start_anywhere() -> None:
    kind = overlay(
        [("a", "<i2"), ("b", "i1"), ("c", "i1", (3,)), ("d", "<i2", (2,))], tail=("i1", 4, "b"), head=("<i2", 1)
    )
    record = np.zeros(1, kind)
    record["b"], record["c"], record["a"] = 1, [2, 3, 4], 7
    assert record["tail"].tolist() == [[1, 2, 3, 4]] and record["head"].tolist() == [[7]]
    assert kind.fields["tail"][1] == kind.fields["b"][1]


@pytest.mark.parametrize(
    "row",
    [("i1", 2), ("i1", 12), ("<i2", 1, "a"), ("i1", 4, "c")],
    ids=["inside a field", "gap", "two fields in part", "past the end"],
)
def test_rows_that_do_not_cover_whole_fields(row: tuple[object, ...]) -> None:
    with pytest.raises(TypeError, match="row 'row' does not cover whole fields without gaps"):
        overlay([("a", "i1"), ("b", "i1", (3,)), ("c", "i1"), ("d", "<i4")], row=row)
