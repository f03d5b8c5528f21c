"""From ranks to returns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kepler_envs.engine.returns import rank_returns, win_returns


def returns(function: object, ranks: list[int]) -> list[float]:
    out = np.zeros(len(ranks), np.float32)
    function(np.array(ranks, np.int32), len(ranks), out)  # type: ignore[operator]
    return out.tolist()


@pytest.mark.parametrize(
    "ranks, by_win, by_rank",
    [
        ([1, 2], [1, -1], [1, -1]),
        ([1, 1], [0, 0], [0, 0]),
        ([1, 3, 1], [1 / 4, -1 / 2, 1 / 4], [1 / 2, -1, 1 / 2]),
        ([1, 2, 2, 4], [1, -1 / 3, -1 / 3, -1 / 3], [1, 0, 0, -1]),
        ([4, 3, 2, 1], [-1 / 3, -1 / 3, -1 / 3, 1], [-1, -1 / 3, 1 / 3, 1]),
        ([1] * 5, [0] * 5, [0] * 5),
    ],
)
def test_examples(ranks: list[int], by_win: list[float], by_rank: list[float]) -> None:
    assert returns(win_returns, ranks) == pytest.approx(by_win)
    assert returns(rank_returns, ranks) == pytest.approx(by_rank)


@given(scores=st.lists(st.integers(0, 4), min_size=2, max_size=8))
def test_rank_averages_the_places_of_tied_seats(scores: list[int]) -> None:
    """1 - 2 (rank - 1) / (n - 1) with averaged ranks: the formula of the specification."""
    ranks = [1 + sum(other > own for other in scores) for own in scores]
    average = [place + (scores.count(own) - 1) / 2 for place, own in zip(ranks, scores, strict=True)]
    expected = [1 - 2 * (place - 1) / (len(scores) - 1) for place in average]
    assert returns(rank_returns, ranks) == pytest.approx(expected, abs=1e-6)
    winners = ranks.count(1)
    share = (len(scores) - winners) / (winners * (len(scores) - 1))
    assert returns(win_returns, ranks) == pytest.approx(
        [share if place == 1 else -1 / (len(scores) - 1) for place in ranks], abs=1e-6
    )
