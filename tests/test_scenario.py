"""What the scenarios of all games share."""

from __future__ import annotations

import numpy as np
import pytest

from tests.scenario import check_fields

INNER = np.dtype([("flag", np.uint8), ("count", np.uint32)], align=True)
OUTER = np.dtype([("inner", INNER, 2), ("round", np.uint8)], align=True)


def test_what_lies_between_fields_is_not_compared() -> None:
    """Numpy leaves it as it was, so that two equal states can differ there."""
    states = [np.full(OUTER.itemsize, filling, np.uint8).view(OUTER)[0] for filling in (0, 255)]
    for state in states:
        state["inner"]["flag"], state["inner"]["count"], state["round"] = 1, [2, 3], 4
    assert states[0].tobytes() != states[1].tobytes()
    check_fields(*states)


@pytest.mark.parametrize(
    "name, place, message",
    [("count", 1, "count is 4, the position says 3"), ("flag", 0, "flag is 1, the position says 0")],
)
def test_a_field_of_a_record_in_a_record_is_named(name: str, place: int, message: str) -> None:
    state, expected = np.zeros(2, OUTER)
    state["inner"]["count"] = expected["inner"]["count"] = 3
    state["inner"][name][place] += 1
    with pytest.raises(AssertionError, match=f"^{message}"):
        check_fields(state, expected)
