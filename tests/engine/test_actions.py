"""Blocks of action ids."""

from __future__ import annotations

import pytest

from kepler_envs.engine.actions import ActionSet, Block

BLOCKS = [Block("TAKE", 0, 2, "take {}", "card", ("red", "blue")), Block("PASS", 2, 1, "pass")]


def test_texts_lead_to_ids_and_back() -> None:
    actions = ActionSet(BLOCKS)
    assert len(actions) == 3
    assert [actions.text(action) for action in range(3)] == ["take red", "take blue", "pass"]
    assert [actions.id_of(text) for text in ("take red", "take blue", "pass")] == [0, 1, 2]
    assert [actions.block_of(action).name for action in range(3)] == ["TAKE", "TAKE", "PASS"]
    assert list(BLOCKS[1].ids) == [2]


@pytest.mark.parametrize("action", [-1, 3, 10**9])
def test_ids_outside(action: int) -> None:
    with pytest.raises(ValueError, match=f"action = {action} is not allowed; allowed: an integer 0..2"):
        ActionSet(BLOCKS).text(action)
    with pytest.raises(ValueError):
        ActionSet(BLOCKS).block_of(action)


def test_unknown_text() -> None:
    with pytest.raises(KeyError, match="no action reads 'take green'"):
        ActionSet(BLOCKS).id_of("take green")


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="PASS starts at 3, not at 2"):
        ActionSet([BLOCKS[0], Block("PASS", 3, 1, "pass")])
    with pytest.raises(ValueError, match="PASS starts at 1, not at 2"):
        ActionSet([BLOCKS[0], Block("PASS", 1, 1, "pass")])
    with pytest.raises(ValueError, match="2 ids but 1 labels"):
        ActionSet([Block("TAKE", 0, 2, "take {}", "card", ("red",))])
    with pytest.raises(ValueError, match=r"several ids: \['take red'\]"):
        ActionSet([Block("TAKE", 0, 2, "take {}", "card", ("red", "red"))])
    with pytest.raises(ValueError, match="several ids"):
        ActionSet([Block("WAIT", 0, 2, "wait")])
