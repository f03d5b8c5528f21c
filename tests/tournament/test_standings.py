"""Adding up games, by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from kepler_envs.tournament.play import Forfeit, GameResult
from kepler_envs.tournament.standings import half_width, share, standings


def game(
    number: int, agents: Sequence[str], ranks: tuple[int, ...], length: int = 10, end: str = "terminated"
) -> GameResult:
    returns = tuple(1.0 if rank == 1 else -1.0 for rank in ranks)
    return GameResult(number, number, tuple(agents), ranks, tuple(10 - rank for rank in ranks), returns, length, end)


RESULTS = [
    game(0, "ubb", (3, 1, 2)),
    game(1, "bub", (1, 2, 2), length=20),
    game(2, "uub", (1, 1, 3), end="truncated"),
    game(3, "bbu", (2, 2, 1)),
]


def test_lines():
    found = standings(RESULTS, ["u", "b"], ["ugly", "bad"], samples=5, seed=0)
    lines = {line.agent: line for line in found.lines}
    bad = lines["bad"]
    assert (bad.spec, bad.games, bad.seats) == ("b", 4, 7)
    assert bad.win_rate == pytest.approx((1 + 0 + 1 + 0 + 0 + 0 + 0) / 7)
    assert lines["ugly"].win_rate == pytest.approx((0 + 0 + 0.5 + 0.5 + 1) / 5)
    assert bad.mean_rank == pytest.approx((1 + 2 + 1 + 2 + 3 + 2 + 2) / 7)
    assert bad.mean_score == pytest.approx(10 - bad.mean_rank)
    assert bad.mean_return == pytest.approx((2 - 5) / 7)
    assert [seat.mean for seat in bad.by_seat] == pytest.approx([0.5, 0.5, 0])
    assert [seat.games for seat in bad.by_seat] == [2, 2, 3] and bad.by_seat[2].high > 0.3
    assert [seat.mean for seat in found.by_seat] == pytest.approx([(0 + 1 + 0.5 + 0) / 4, (1 + 0 + 0.5 + 0) / 4, 1 / 4])
    assert (found.games, found.mean_length, found.ends) == (4, 12.5, {"terminated": 3, "truncated": 1})
    assert found.anchor == "the mean of all agents"


def test_matrices():
    found = standings(RESULTS, ["u", "b"], ["u", "b"], samples=5, seed=0)
    first = [line.agent for line in found.lines].index("u")
    other = 1 - first
    # pairs of seats: 0 + 0 of 2, 0 + half of 2, 1 + 1 of 2, 1 + 1 of 2
    assert found.ahead[first][other] == pytest.approx((0 + 0 + 0 + 0.5 + 2 + 2) / 8)
    assert found.ahead[other][first] == pytest.approx(1 - found.ahead[first][other])
    assert found.ahead[first][first] is None and found.alone[other][other] is None
    assert (found.alone[first][other].mean, found.alone[first][other].games) == (pytest.approx(1 / 3), 3)
    assert (found.alone[other][first].mean, found.alone[other][first].games) == (0, 1)


def test_margins_are_scores_less_the_mean_of_the_others():
    found = standings(RESULTS, ["u", "b"], ["u", "b"], samples=5, seed=0)
    first = [line.agent for line in found.lines].index("u")
    margin = found.margins[first][1 - first]  # scores are 10 - rank: 7 - 8.5, 8 - 8.5, 9 - 8
    assert (margin.mean, margin.games) == (pytest.approx((-1.5 - 0.5 + 1) / 3), 3)
    spread = np.std([-1.5, -0.5, 1], ddof=1)
    assert margin.high - margin.low == pytest.approx(2 * 4.303 * spread / np.sqrt(3), rel=1e-3)  # t with 2 degrees
    assert found.margins[1 - first][first].mean == pytest.approx(7 - 9) and found.margins[first][first] is None


def test_two_values_have_an_interval_and_one_has_none():
    assert half_width(np.array([0.0, 1.0])) == pytest.approx(12.706 / 2, rel=1e-4)  # t with one degree
    assert half_width(np.array([1.0])) == np.inf


def test_forfeits_that_look_alike_are_counted_together():
    def crash(number: int, line: str) -> GameResult:
        forfeit = Forfeit("u", 5 + number, "exception", f"Traceback\n  File\nValueError: {line}\n")
        return dataclasses.replace(RESULTS[number], forfeits=(forfeit,))

    results = [crash(0, "b"), RESULTS[1], crash(2, "a"), crash(3, "a")]
    found = standings(results, ["u", "b"], ["ugly", "bad"], samples=5, seed=0)
    assert [(group.agent, group.games, group.game, group.decision) for group in found.forfeits] == [
        ("ugly", 2, 2, 7),
        ("ugly", 1, 0, 5),
    ]
    assert {line.agent: line.forfeits for line in found.lines} == {"ugly": 3, "bad": 0}


def test_uniform_is_the_zero_of_the_ratings():
    seatings = (["uniform", "b"], ["b", "uniform"])
    results = [game(number, seatings[number % 2], (1 + number % 3 % 2, 2 - number % 3 % 2)) for number in range(12)]
    found = standings(results, ["uniform", "b"], ["uniform", "b"], samples=5, seed=0)
    assert found.anchor == "uniform"
    assert next(line for line in found.lines if line.agent == "uniform").rating == 0


def test_intervals_of_shares():
    assert share(np.zeros(100)).low == 0 and 0.02 < share(np.zeros(100)).high < 0.05
    half = share(np.tile([0.0, 1.0], 200))
    assert (half.mean, half.games) == (0.5, 400)
    assert (half.low, half.high) == (pytest.approx(0.451, abs=0.001), pytest.approx(0.549, abs=0.001))


@pytest.mark.parametrize("games", [1, 7, 30, 100, 2000])
def test_the_interval_of_a_share_contains_it(games):
    """Rounding would leave out the share of an agent that wins all of 100 games."""
    for won in (0.0, 1.0):
        found = share(np.full(games, won))
        assert found.low <= found.mean == won <= found.high
