"""Aggregates of the benchmark: against numbers worked out by hand, and against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from agents.benchmark.statistics import Estimate, interquartile_mean, probability_of_improvement


def arrays(*games: list[float]) -> list[np.ndarray]:
    return [np.array(game, float) for game in games]


def test_the_interquartile_mean_is_that_of_the_middle_half():
    found = interquartile_mean(arrays([0, 100, 2, 3], [4, 5, -50, 7]))
    assert found.value == pytest.approx((2 + 3 + 4 + 5) / 4)
    scores = np.random.default_rng(0).normal(size=(5, 5))
    assert interquartile_mean(list(scores)).value == pytest.approx(stats.trim_mean(scores, 0.25, axis=None))


def test_the_interval_of_two_runs_is_theirs():
    """Drawn anew, the mean of 0 and 1 is 0, 1/2, 1 with probabilities 1/4, 1/2, 1/4."""
    assert interquartile_mean(arrays([0, 1])) == Estimate(0.5, 0.0, 1.0)


def test_runs_are_drawn_game_by_game():
    """Games differ, their runs do not: so nothing is uncertain, as it would be if runs were drawn from all games
    together."""
    assert interquartile_mean(arrays([0, 0, 0], [1, 1, 1])) == Estimate(0.5, 0.5, 0.5)
    found = interquartile_mean(arrays([0, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 1, 5]))
    assert found.value == 0.5 and (found.low, found.high) == (0.5, 0.5)


def test_the_interval_is_that_of_a_stratified_bootstrap():
    rng = np.random.default_rng(1)
    scores = [rng.normal(game, 1, 6) for game in range(4)]
    found = interquartile_mean(scores, seed=2)
    drawn = [
        stats.trim_mean(np.concatenate([rng.choice(game, len(game)) for game in scores]), 0.25) for _ in range(10_000)
    ]
    low, high = np.percentile(drawn, [2.5, 97.5])
    assert found.low == pytest.approx(low, abs=0.03) and found.high == pytest.approx(high, abs=0.03)
    assert interquartile_mean(scores, seed=2) == found


def test_a_single_run_has_no_interval():
    found = interquartile_mean(arrays([3], [5]))
    assert found.value == 4 and math.isnan(found.low) and math.isnan(found.high)


def test_the_probability_of_improvement_counts_pairs():
    found = probability_of_improvement(arrays([1, 2, 3], [9, 9]), arrays([2], [1, 2, 3]))
    assert found.value == pytest.approx(((0 + 0.5 + 1) / 3 + 1) / 2)
    rng = np.random.default_rng(3)
    one, other = rng.normal(0.5, 1, 7), rng.normal(0, 1, 5)
    expected = stats.mannwhitneyu(one, other).statistic / 35
    found = probability_of_improvement([one], [other])
    assert found.value == pytest.approx(expected) and found.low < expected < found.high
    assert probability_of_improvement([other], [one]).value == pytest.approx(1 - expected)
    with pytest.raises(ValueError, match="1 games against 2"):
        probability_of_improvement([one], [one, other])
