"""Checking one option's value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kepler_envs.engine.game import Option, OptionError

WORDS = Option("speed", "slow", "how fast", ("slow", "fast", 3))
NUMBER = Option("limit", 10, "how many", (), int, 1, 20)
EITHER = Option("size", "rulebook", "how large", ("rulebook",), float, 0, 1)


@pytest.mark.parametrize(
    "option, value, expected",
    [
        (WORDS, "fast", "fast"),
        (WORDS, 3, 3),
        (NUMBER, 1, 1),
        (NUMBER, 20, 20),
        (NUMBER, 7.0, 7),
        (NUMBER, np.int16(5), 5),
        (EITHER, "rulebook", "rulebook"),
        (EITHER, 0, 0.0),
        (EITHER, np.float32(0.5), 0.5),
    ],
)
def test_allowed(option: Option, value: Any, expected: Any) -> None:
    found = option.check(value, "chess")
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    "option, value",
    [
        (WORDS, "Fast"),
        (WORDS, 3.0),
        (WORDS, True),
        (WORDS, None),
        (NUMBER, 0),
        (NUMBER, 21),
        (NUMBER, 2.5),
        (NUMBER, True),
        (NUMBER, "5"),
        (NUMBER, float("inf")),
        (NUMBER, float("nan")),
        (NUMBER, [3]),
        (EITHER, "house rule"),
        (EITHER, -0.001),
        (EITHER, np.bool_(True)),
    ],
)
def test_not_allowed(option: Option, value: Any) -> None:
    with pytest.raises(OptionError) as caught:
        option.check(value, "chess")
    assert f"chess: option {option.name} = {value!r} is not allowed; allowed: {option.allowed}" == str(caught.value)


def test_allowed_values_in_words() -> None:
    assert WORDS.allowed == "'slow' or 'fast' or 3"
    assert NUMBER.allowed == "an integer 1..20"
    assert EITHER.allowed == "'rulebook' or a number 0..1"
