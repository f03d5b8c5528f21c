"""Named pieces of a flat vector."""

from __future__ import annotations

import numpy as np
import pytest

from kepler_envs.engine.observation import (
    CATEGORY,
    COUNT,
    FLAG,
    ONE_HOT,
    PLANE,
    Layout,
    piece,
    table,
)


@pytest.fixture
def layout() -> Layout:
    return Layout(
        [
            piece("phase", CATEGORY, 3, "the phase"),
            piece("hand", COUNT, 7, "cards by type", shape=4),
            table("seats", 3, [piece("here", FLAG, 1, "taken"), piece("lanes", COUNT, 9, "cards", shape=2)]),
            piece("map", PLANE, 5, "two planes", shape=(2, 2, 3), low=-5),
            piece("colour", ONE_HOT, 1, "one of three", shape=3),
        ]
    )


def test_places(layout: Layout) -> None:
    assert layout.size == 1 + 4 + 9 + 12 + 3
    assert layout["phase"].indices() == 0
    assert layout["hand"].indices().tolist() == [1, 2, 3, 4]
    assert layout["seats.here"].indices().tolist() == [5, 8, 11]
    assert layout["seats.lanes"].indices().tolist() == [[6, 7], [9, 10], [12, 13]]
    assert layout["map"].indices().tolist() == np.arange(14, 26).reshape(2, 2, 3).tolist()
    assert [found.name for found in layout] == ["phase", "hand", "seats.here", "seats.lanes", "map", "colour"]
    assert len(layout) == 6


def test_views_share_memory(layout: Layout) -> None:
    vector = np.zeros(layout.size, np.int16)
    layout["seats.lanes"].view(vector)[1, 1] = 7
    assert vector[10] == 7 and vector.sum() == 7
    batch = np.arange(2 * layout.size).reshape(2, layout.size)
    lanes = layout["seats.lanes"].view(batch)
    assert lanes.shape == (2, 3, 2) and lanes[1, 2, 0] == layout.size + 12
    assert layout["phase"].view(batch).shape == (2,)
    strided = np.arange(4 * layout.size).reshape(2, 2 * layout.size)[:, ::2]
    assert layout["hand"].view(strided)[0].tolist() == [2, 4, 6, 8]
    named = layout.names(vector)
    assert set(named) == {found.name for found in layout} and named["seats.lanes"][1, 1] == 7


def test_bounds(layout: Layout) -> None:
    assert layout.low.dtype == layout.high.dtype == np.int16
    assert layout.high[:8].tolist() == [3, 7, 7, 7, 7, 1, 9, 9]
    assert set(layout.low[14:26].tolist()) == {-5} and set(layout.high[14:26].tolist()) == {5}
    assert layout["hand"].scale == 7 and layout["map"].scale == 5
    assert piece("x", COUNT, 100, "", scale=10).scale == 10
    assert piece("x", COUNT, 0, "").scale == 1


def test_entries_have_names(layout: Layout) -> None:
    assert layout.entry(0) == "phase"
    assert layout.entry(3) == "hand[2]"
    assert layout.entry(10) == "seats.lanes[1][1]"
    assert layout.entry(25) == "map[1][1][2]"
    assert len({layout.entry(index) for index in range(layout.size)}) == layout.size
    with pytest.raises(IndexError, match="outside 0..28"):
        layout.entry(29)


def test_mistakes() -> None:
    with pytest.raises(KeyError, match="no piece 'hnd'; there are: hand"):
        Layout([piece("hand", COUNT, 7, "")])["hnd"]
    with pytest.raises(ValueError, match="two pieces are named 'hand'"):
        Layout([piece("hand", COUNT, 7, ""), piece("hand", COUNT, 7, "")])
    with pytest.raises(ValueError, match="0..40000 does not fit int16"):
        Layout([piece("hand", COUNT, 40_000, "")])
    with pytest.raises(ValueError, match="kind 'number' is not one of count, flag"):
        piece("hand", "number", 7, "")
    with pytest.raises(ValueError, match="low 3 is above high 2"):
        piece("hand", COUNT, 2, "", low=3)
