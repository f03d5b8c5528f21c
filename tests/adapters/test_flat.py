"""Observations as float vectors for libraries that know nothing of tables."""

from __future__ import annotations

import numpy as np
import pytest

import kepler_envs
from kepler_envs.adapters.flat import FlatInputs
from kepler_envs.engine.observation import COUNT, FLAG, LABEL, NUMBER, Layout, fixed_table, piece, reference, table

PLACES = fixed_table("places", [piece("zone", LABEL, 2, "")], np.zeros((100, 1), int))
LAYOUT = Layout(
    [
        table("game", 1, [piece("phase", LABEL, 3, "", low=1), piece("lead", NUMBER, 8, "", low=-8, scale=4)]),
        table(
            "ships",
            2,
            [
                piece("fuel", COUNT, 10, "", shape=2),
                reference("of", "game", ""),
                reference("at", "places", ""),
                piece("up", FLAG, 1, ""),
            ],
        ),
    ],
    [PLACES],
)


def test_numbers_are_scaled_and_labels_are_spread() -> None:
    inputs = FlatInputs(LAYOUT)
    found = inputs.encode(
        np.array([[2, -6, 10, 0, 1, 25, 1, 0, 5, 0, 0, 0], [1, 8, 0, 0, 0, 0, 0, 0, 0, 1, 100, 1]], np.int16)
    )
    assert found.dtype == np.float32 and found.shape == (2, inputs.size)
    begin, shape = inputs.pieces["game.phase"]
    assert shape == (1, 3) and found[:, begin : begin + 3].tolist() == [[0, 1, 0], [1, 0, 0]]
    begin, shape = inputs.pieces["game.lead"]
    assert shape == (1,) and found[:, begin].tolist() == [-1.5, 2.0]
    begin, shape = inputs.pieces["ships.fuel"]
    assert shape == (2, 2) and found[0, begin : begin + 4].tolist() == [1.0, 0.0, 0.0, 0.5]
    begin, shape = inputs.pieces["ships.of"]
    assert shape == (2, 2) and found[:, begin : begin + 4].tolist() == [[0, 1, 1, 0], [1, 0, 0, 1]]
    begin, shape = inputs.pieces["ships.at"]
    assert shape == (2,) and found[:, begin : begin + 2].tolist() == [[0.25, 0], [0, 1]]
    begin, shape = inputs.pieces["ships.up"]
    assert found[:, begin : begin + 2].tolist() == [[1, 0], [0, 1]]


def test_observations_that_end_too_early_are_refused() -> None:
    """So do those without derived fields."""
    config = kepler_envs.load_game("kitten_adventurers").configure(4)
    inputs, size = FlatInputs(config.observation), config.observation.facts.size
    with pytest.raises(
        ValueError, match=rf"observations have shape \(2, {size}\); allowed: at least {inputs._length} "
    ):
        inputs.encode(np.zeros((2, size), np.int16))


def test_bounds_hold_for_the_bounds_of_the_layout() -> None:
    inputs = FlatInputs(LAYOUT)
    assert inputs.high.max() == 2 and inputs.low.min() == -2
    begin, _ = inputs.pieces["game.phase"]
    assert inputs.low[begin : begin + 3].tolist() == [0, 0, 0] and inputs.high[begin : begin + 3].tolist() == [1, 1, 1]
    assert_within_bounds(LAYOUT)


@pytest.mark.parametrize("name", kepler_envs.list_games())
def test_bounds_hold_in_every_game(name: str) -> None:
    """To the last digit, or the observation space of a library would refuse an observation."""
    assert_within_bounds(kepler_envs.load_game(name).configure().observation)


def assert_within_bounds(layout: Layout) -> None:
    inputs = FlatInputs(layout)
    for vector in (layout.low, layout.high):
        found = inputs.encode(vector)
        assert (found >= inputs.low).all() and (found <= inputs.high).all()


def test_lists_are_encoded_and_configurations_refused():
    config = kepler_envs.load_game("kitten_adventurers").configure(2)
    inputs, seen = FlatInputs(config.observation), config.observation.low
    assert np.array_equal(inputs.encode(seen.tolist()), inputs.encode(seen))
    with pytest.raises(TypeError, match="layout must be a Layout, not .*; it is config.observation"):
        FlatInputs(config)
