"""Scores, ranks, returns and shaping from what a game says of one seat."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kepler_envs.engine.returns import (
    RANK_OR_WIN,
    WIN_OR_RANK,
    ahead_of_mean,
    ahead_of_others,
    rank_returns,
    ranks_by,
    returns_by,
    returns_by_rank,
    reward_mode_option,
    scores_of,
    win_returns,
)


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


# ---------------------------------------------------------------- verbs of one rule


def points(s: Any, t: Any, seat: int) -> int:
    return int(s.points[seat])


def written(verb: Any, *given: Any, players: int = 3, **state: Any) -> list[float]:
    """What a verb, run as plain Python, writes for a state with these fields."""
    out = np.full(5, 99, np.float32)
    s = SimpleNamespace(num_players=players, **state)
    getattr(verb, "py_func", verb)(s, None, *given, out)
    assert (out[players:] == 99).all(), "nothing for absent seats"
    return out[:players].tolist()


def test_ranks_are_by_standing_and_equal_ones_share_the_better() -> None:
    assert written(scores_of(points), points=[4, 9, 4]) == [4, 9, 4]
    assert written(ranks_by(points), points=[4, 9, 4]) == [2, 1, 2]
    assert written(ranks_by(points), points=[7, 7, 4, 7], players=4) == [1, 1, 4, 1]


@pytest.mark.parametrize("modes", [WIN_OR_RANK, RANK_OR_WIN])
def test_returns_are_paid_as_the_state_says(modes: tuple[str, ...]) -> None:
    """The value 0 is the default of the option, and every value means its name."""
    option = reward_mode_option(modes)
    assert (option.default, option.choices) == (modes[0], modes)
    ranks, verb = np.array([1, 2, 3], np.int32), returns_by(modes)
    assert written(verb, ranks, reward_mode=modes.index("win")) == pytest.approx([1, -1 / 2, -1 / 2])
    assert written(verb, ranks, reward_mode=modes.index("rank")) == [1, 0, -1]


def test_returns_by_rank_ask_for_no_mode() -> None:
    assert written(returns_by_rank, np.array([3, 1, 2], np.int32)) == [-1, 1, 0]


def test_shaping_compares_with_the_mean() -> None:
    by_mean, by_others = ahead_of_mean(points), ahead_of_others(points, lambda s, t: 4)
    assert written(by_mean, points=[3, 6, 0], shaping=0.5) == [0, 1.5, -1.5]
    assert written(by_others, points=[3, 6, 0], shaping=0.5) == pytest.approx([0, 4.5 / 8, -4.5 / 8])
