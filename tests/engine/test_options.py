"""Checking one option's value."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import kepler_envs
from kepler_envs import describe
from kepler_envs.engine.game import Option, OptionError, UnknownOptionError

WORDS = Option("speed", "slow", "how fast", ("slow", "fast", 3))
NUMBER = Option("limit", 10, "how many", (), int, 1, 20)
SWITCH = Option("derived", True, "whether", (True, False))
EITHER = Option("size", "rulebook", "how large", ("rulebook",), float, 0, 1)


@pytest.mark.parametrize(
    "option, value, expected",
    [
        (WORDS, "fast", "fast"),
        (WORDS, 3, 3),
        (WORDS, np.int64(3), 3),
        (WORDS, np.str_("fast"), "fast"),
        (SWITCH, np.bool_(True), True),
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
        (WORDS, np.bool_(True)),
        (WORDS, np.str_("Fast")),
        (WORDS, np.float64(3)),
        (SWITCH, 1),
        (SWITCH, np.int64(1)),
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


def test_components_are_a_path() -> None:
    for wrong in (3, ""):  # the last would be the present folder
        with pytest.raises(OptionError, match=f"components = {wrong!r} is not allowed; allowed: a path, or None"):
            kepler_envs.load_game("kitten_adventurers").configure(components=wrong)


def test_unknown_options_are_named() -> None:
    """As an option error, and as what Python says of an unknown keyword."""
    with pytest.raises(
        OptionError, match="unknown option frameskip, zoom; there are num_players, components"
    ) as caught:
        kepler_envs.load_game("kitten_adventurers").configure(zoom=1, hand_size=5, frameskip=4)
    assert isinstance(caught.value, UnknownOptionError) and isinstance(caught.value, TypeError)
    assert caught.value.names == ("frameskip", "zoom")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.names == caught.value.names


def test_unknown_arguments_are_answered_with_all_there_are() -> None:
    """Those of the function, too, not the game's options alone."""
    for make, own in (
        (kepler_envs.make, "render_mode, render_seat, illegal, copy, mask_in"),
        (partial(kepler_envs.make_batch, num_envs=2), "num_envs, seed, threads"),
    ):
        with pytest.raises(UnknownOptionError, match=f"unknown option zoom; there are num_players, .*, {own}$"):
            make("kitten_adventurers", zoom=1)


def test_equal_configurations_play_the_same_games() -> None:
    """Wherever the cards lie; but not with others, or of a game of the same name."""
    game = kepler_envs.load_game("kitten_adventurers")
    one = game.configure(2, hand_size=5)
    same = game.configure(2, describe.component_file(game), hand_size=5)
    assert one == same == pickle.loads(pickle.dumps(one)) and len({one, same}) == 1
    assert one not in (game.configure(3, hand_size=5), game.configure(2), replace(game).configure(2, hand_size=5), None)
