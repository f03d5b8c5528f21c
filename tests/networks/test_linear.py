"""The layout of weights as a linear function that is worked out once."""

from __future__ import annotations

import numpy as np
import pytest

import kepler_envs
from kepler_envs.engine.network import NetworkInputs, NetworkShape
from kepler_envs.networks.arrangement import Arrangement
from kepler_envs.networks.linear import LinearLayout, Sums, concatenate
from kepler_envs.registry import list_games
from tests.networks.subjects import SHAPES, made_up_inputs, random_weights


def assert_same_layout(inputs: NetworkInputs) -> None:
    arrangement, weights = Arrangement(inputs), random_weights(inputs)
    layout = LinearLayout(arrangement)
    precise = {name: one.astype(np.float64) for name, one in weights.items()}
    expected = arrangement.flat(np.concatenate, precise)
    joined = np.concatenate([weights[name].ravel() for name in layout.sizes])
    np.testing.assert_allclose(layout.flat(joined), expected, rtol=1e-4, atol=1e-5)
    for name, one in layout.parts(joined).items():
        np.testing.assert_array_equal(one, weights[name])
    direction = np.random.default_rng(3).normal(size=arrangement.size).astype(np.float32)
    # the transpose: the change of a sum of flat entries with the weights
    assert layout.back(direction) @ joined.astype(np.float64) == pytest.approx(direction @ expected, rel=1e-3, abs=0.05)


@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_the_arrangement(shape):
    assert_same_layout(made_up_inputs(SHAPES[shape]))


@pytest.mark.parametrize("game", list_games())
def test_it_is_the_arrangement_in_every_game(game):
    assert_same_layout(NetworkShape(24, (24,), 16).inputs(kepler_envs.load_game(game).configure()))


def numbered(*shape: int) -> Sums:
    count = int(np.prod(shape))
    return Sums(shape, np.arange(count), np.arange(count), np.ones(count))


def values(sums: Sums, weights: np.ndarray) -> np.ndarray:
    found = np.zeros(sums.size)
    np.add.at(found, sums.places, weights[sums.weights] * sums.factors)
    return found.reshape(sums.shape)


def test_operators_are_those_of_arrays():
    dice = np.random.default_rng(0)
    w = dice.normal(size=(3, 4))
    sums, flat = numbered(3, 4), w.ravel()
    left, column, zeros = dice.normal(size=(5, 3)), np.array([[2.0], [0.0], [1.0]]), np.zeros((5, 4))
    for found, expected in (
        (sums.T, w.T),
        (sums.reshape(2, -1), w.reshape(2, -1)),
        (sums[..., [1, 1, 3]], w[..., [1, 1, 3]]),
        (sums[-1], w[-1]),
        (sums * column, w * column),
        (left @ sums, left @ w),
        (left @ (sums - sums[1] * np.ones(1)), left @ (w - w[1])),
        (sums.sum(0) + sums, w.sum(0) + w),
        (sums.sum(-2), w.sum(-2)),
        (zeros + left @ sums, left @ w),
        (concatenate([sums, np.zeros((3, 2)), sums], -1), np.concatenate([w, np.zeros((3, 2)), w], -1)),
    ):
        assert found.shape == expected.shape and len(found) == len(expected) and found.size == expected.size
        np.testing.assert_allclose(values(found, flat), expected)


def test_constants_are_not_added():
    with pytest.raises(ValueError, match="has to be 0"):
        numbered(2) + np.array([0.0, 1.0])
    with pytest.raises(ValueError, match="cannot be multiplied"):
        numbered(2) * np.ones((3, 2))
