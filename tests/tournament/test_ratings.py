"""Ratings recover strengths they are told, with and without ties."""

from __future__ import annotations

from itertools import permutations

import choix
import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import beta

from kepler_envs.tournament.ratings import IMAGINARY_WINS, POINTS_PER_UNIT, count_orders, finishing_orders, fit, rate


def simulate(
    points: list[float], games: int, seats: int, seed: int, tied_from: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(agents, ranks) of Plackett-Luce games between agents drawn for each seat; ranks from ``tied_from`` on are
    shared."""
    rng = np.random.default_rng(seed)
    agents = rng.integers(0, len(points), (games, seats))
    strength = np.array(points)[agents] / POINTS_PER_UNIT
    order = np.argsort(-(strength + rng.gumbel(size=agents.shape)), axis=1)  # Gumbel noise makes it Plackett-Luce
    ranks = np.argsort(order, axis=1) + 1
    return agents, ranks if tied_from is None else np.minimum(ranks, tied_from)


@pytest.mark.parametrize("seats", [2, 4, 8])
def test_known_strengths_are_recovered(seats):
    truth = [0.0, 120.0, 300.0, 310.0, 700.0]
    agents, ranks = simulate(truth, 4000, seats, seed=seats)
    found = rate(agents, ranks, 5, anchor=0, samples=60)
    assert found.points == pytest.approx(truth, abs=45)
    assert found.points[0] == found.low[0] == found.high[0] == 0
    width = (found.high - found.low)[1:]
    assert np.all(width > 5) and np.all(width < 120)
    assert np.all(np.abs(found.points - truth)[1:] < width)


def test_intervals_cover_the_truth():
    truth = np.array([0.0, 100.0, 250.0])
    inside = []
    for seed in range(30):
        found = rate(*simulate(list(truth), 400, 3, seed), 3, anchor=0, samples=100, seed=seed)
        inside += list((found.low <= truth)[1:] & (truth <= found.high)[1:])
    assert np.mean(inside) > 0.85


def test_identical_agents_are_equal_within_their_intervals_despite_ties():
    agents, ranks = simulate(
        [0.0, 200.0, 200.0], 3000, 4, seed=1, tied_from=2
    )  # only the winner is told from the others
    found = rate(agents, ranks, 3, samples=100)
    assert found.low[1] < found.points[2] < found.high[1] and found.low[2] < found.points[1] < found.high[2]
    assert found.points[0] < found.low[1]
    assert found.points.sum() == pytest.approx(0, abs=1e-6)


def test_ties_in_everything_rate_everybody_the_same():
    agents = np.tile([0, 1, 2, 1], (500, 1))
    found = rate(agents, np.ones((500, 4), int), 3, samples=50)
    assert np.all(found.low <= 0) and np.all(found.high >= 0)
    assert np.abs(found.points).max() < 15


def test_ties_are_broken_evenly():
    agents = np.tile([0, 1, 2], (6000, 1))
    orders = finishing_orders(agents, np.tile([2, 1, 1], (6000, 1)), np.random.default_rng(0))
    assert np.all(orders[:, 2] == 0)
    assert abs(np.mean(orders[:, 0] == 1) - 0.5) < 0.03


def test_a_perfect_record_stays_finite():
    agents = np.tile([0, 1], (1000, 1))
    ranks = np.tile([1, 2], (1000, 1))
    found = rate(agents, ranks, 2, anchor=1, samples=20)
    assert 800 < found.points[0] < 3000 and np.isfinite(found.high).all()


@pytest.mark.parametrize(("wins", "losses"), [(20, 0), (4, 0), (59, 1)])
def test_the_interval_of_two_agents_is_bayes_s(wins, losses):
    """With one imaginary win of each it is that of Beta(wins + 1, losses + 1). A perfect record has one, too."""
    ranks = np.array([[1, 2]] * wins + [[2, 1]] * losses)
    found = rate(np.tile([0, 1], (wins + losses, 1)), ranks, 2, anchor=1, samples=4000)
    expected = POINTS_PER_UNIT * logit(beta.ppf([0.025, 0.975], wins + 1, losses + 1))
    assert [found.low[0], found.high[0]] == pytest.approx(expected, rel=0.1, abs=25)
    assert found.low[0] < found.points[0] < found.high[0]


def test_many_agents_in_a_perfect_order_have_intervals():
    agents = np.array([[one, other] for one in range(10) for other in range(one + 1, 10)] * 20)
    found = rate(agents, np.tile([1, 2], (len(agents), 1)), 10, anchor=9, samples=100)
    assert (np.diff(found.points) < 0).all() and np.isfinite(found.high).all()
    assert (found.high - found.low)[:-1].min() > 100


def test_the_order_of_games_and_the_names_of_agents_do_not_matter():
    agents, ranks = simulate([0.0, 150.0, 400.0], 500, 4, seed=2)
    orders = finishing_orders(agents, ranks, np.random.default_rng(0))
    strength = fit([orders], 3)
    assert fit([orders[::-1]], 3) == pytest.approx(strength, abs=1e-6)
    renamed = np.array([2, 0, 1])
    assert fit([renamed[orders]], 3)[renamed] == pytest.approx(strength, abs=1e-6)


@pytest.mark.parametrize("seats", [2, 3, 8])
def test_the_fit_is_the_one_of_choix(seats):
    agents, ranks = simulate([0.0, 150.0, 400.0, 900.0], 300, seats, seed=seats)
    orders = finishing_orders(agents, ranks, np.random.default_rng(0))
    wins = list(permutations(range(4), 2)) * IMAGINARY_WINS
    expected = choix.ilsr_rankings(4, orders.tolist() + wins)
    assert fit([orders], 4) == pytest.approx(expected - expected.mean(), abs=1e-6)


def test_orders_are_counted():
    orders, times = count_orders(np.array([[2, 0], [0, 1], [2, 0], [2, 2]]), 3)
    assert orders.tolist() == [[0, 1], [2, 0], [2, 2]] and times.tolist() == [1, 2, 1]


def test_copies_of_the_same_games_count_once():
    agents, ranks = simulate([0.0, 150.0, 400.0], 200, 4, seed=4)
    orders = finishing_orders(agents, ranks, np.random.default_rng(0))
    assert fit([orders, orders, orders], 3) == pytest.approx(fit([orders], 3), abs=1e-6)
