"""Blocks of action ids, and the rows they point at."""

from __future__ import annotations

import numpy as np
import pytest

from kepler_envs.engine.actions import ActionSet, Axis, Block, axes
from kepler_envs.engine.observation import FLAG, Layout, piece, table

BLOCKS = [
    Block("TAKE", 0, 2, "take {}", ("red", "blue"), axes(("card", "cards", 2))),
    Block("PASS", 2, 1, "pass"),
    Block(
        "MOVE", 3, 4, "move {}", ("a to x", "a to y", "b to x", "b to y"), axes(("ship", "ships", 2), ("way", "", 2))
    ),
    Block("LAND", 7, 4, "land {}", tuple("abcd"), axes(("ship", "ships", 2), ("place", "places", (3, -1)))),
]


def layout_of(places: int) -> Layout:
    there = piece("there", FLAG, 1, "")
    return Layout([table(name, rows, [there]) for name, rows in (("cards", 2), ("ships", 2), ("places", places))])


def test_texts_lead_to_ids_and_back() -> None:
    actions = ActionSet(BLOCKS)
    texts = ("take red", "take blue", "pass")
    assert len(actions) == 11
    assert tuple(actions.text(action) for action in range(3)) == texts
    assert [actions.id_of(text) for text in texts] == [0, 1, 2]
    assert [actions.block_of(action).name for action in range(4)] == ["TAKE", "TAKE", "PASS", "MOVE"]
    assert list(BLOCKS[1].ids) == [2]


def test_axes_run_through_all_combinations_the_last_the_fastest() -> None:
    assert axes(("ship", "ships", 2), ("place", "places", (3, -1, 0))) == (
        Axis("ship", "ships", (0, 0, 0, 1, 1, 1)),
        Axis("place", "places", (3, -1, 0, 3, -1, 0)),
    )
    assert axes(("ship", "ships", np.int64(2))) == (Axis("ship", "ships", (0, 1)),), "as it stands in a table"
    assert BLOCKS[3].argument == "ship and place" and BLOCKS[1].argument == ""


def test_pointers_name_the_rows_of_all_ids() -> None:
    pointers = ActionSet(BLOCKS).pointers
    assert pointers.tables == ("cards", "ships", "places")
    assert pointers.block.tolist() == [0, 0, 1, 2, 2, 2, 2, 3, 3, 3, 3]
    assert pointers.table.tolist() == [[0, -1]] * 2 + [[-1, -1]] + [[1, -1]] * 4 + [[1, 2]] * 4
    assert pointers.row.tolist() == [
        [0, -1], [1, -1], [-1, -1], [0, -1], [0, -1], [1, -1], [1, -1], [0, 3], [0, -1], [1, 3], [1, -1],
    ]  # fmt: skip
    assert ActionSet(BLOCKS[:2]).pointers.row.shape == (3, 1)


def test_axes_fit_the_observation() -> None:
    ActionSet(BLOCKS).check_against(layout_of(4))
    with pytest.raises(ValueError, match=r"block LAND, place: rows outside 0..2 of places"):
        ActionSet(BLOCKS).check_against(layout_of(3))
    with pytest.raises(ValueError, match=r"block TAKE, card: no table 'cards'; there are: ships"):
        ActionSet(BLOCKS).check_against(Layout([table("ships", 2, [piece("there", FLAG, 1, "")])]))


@pytest.mark.parametrize("action", [-1, 11, 10**9])
def test_ids_outside(action: int) -> None:
    with pytest.raises(ValueError, match=f"action = {action} is not allowed; allowed: an integer 0..10"):
        ActionSet(BLOCKS).text(action)
    with pytest.raises(ValueError):
        ActionSet(BLOCKS).block_of(action)


def test_unknown_text() -> None:
    with pytest.raises(KeyError, match="no action reads 'take green'"):
        ActionSet(BLOCKS).id_of("take green")


@pytest.mark.parametrize("rows", [0, -2, (), True, 2.0, None])
def test_an_axis_has_rows(rows) -> None:
    with pytest.raises(ValueError, match=r"axis ship: rows = .* is not allowed; allowed: an integer from 1 on, or the"):
        axes(("ship", "ships", rows), ("way", "", 2))


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="PASS starts at 3, not at 2"):
        ActionSet([BLOCKS[0], Block("PASS", 3, 1, "pass")])
    with pytest.raises(ValueError, match="PASS starts at 1, not at 2"):
        ActionSet([BLOCKS[0], Block("PASS", 1, 1, "pass")])
    with pytest.raises(ValueError, match="2 ids but 1 labels"):
        ActionSet([Block("TAKE", 0, 2, "take {}", ("red",))])
    with pytest.raises(ValueError, match="2 ids but 3 rows of card"):
        ActionSet([Block("TAKE", 0, 2, "take {}", ("red", "blue"), axes(("card", "cards", 3)))])
    with pytest.raises(ValueError, match=r"several ids: \['take red'\]"):
        ActionSet([Block("TAKE", 0, 2, "take {}", ("red", "red"))])
    with pytest.raises(ValueError, match="several ids"):
        ActionSet([Block("WAIT", 0, 2, "wait")])
