"""Ratings recover strengths they are told, with and without ties."""

from __future__ import annotations

from itertools import permutations

import choix
import numpy as np
import pytest
from scipy.special import logit
from scipy.stats import beta

from kepler_envs.tournament.ratings import POINTS_PER_UNIT, Games, fit, rate


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


def test_ties_in_everything_rate_everybody_exactly_the_same():
    found = rate(np.tile([0, 1], (100, 1)), np.ones((100, 2), int), 2, anchor=0, samples=200)
    assert found.points == pytest.approx([0, 0], abs=1e-6)
    agents = np.tile([0, 1, 2, 1], (500, 1))
    assert rate(agents, np.ones((500, 4), int), 3, samples=50).points == pytest.approx([0, 0, 0], abs=1e-4)


def test_many_ties_make_intervals_narrower_not_wider():
    """A tie is half a win: with 60 of 100 games drawn, the share of wins has variance 0.1 a game and not 0.25."""
    ranks = np.array([[1, 1]] * 600 + [[1, 2]] * 200 + [[2, 1]] * 200)
    found = rate(np.tile([0, 1], (1000, 1)), ranks, 2, anchor=0, samples=1000)
    width = 2 * 1.96 * np.sqrt(0.1 / 1000) * 4 * POINTS_PER_UNIT  # the slope of the log odds is 4 at a half
    assert found.high[1] - found.low[1] == pytest.approx(width, rel=0.1)


@pytest.mark.parametrize(
    ("agents", "ranks"),
    [
        ([0, 1, 2, 3], [3, 1, 1, 3]),
        ([2, 1, 2, 0], [1, 1, 1, 4]),
        ([0, 1, 2, 3, 2, 1], [2, 2, 2, 1, 2, 2]),
        ([0, 1, 1, 2, 1, 1, 1, 1], [1, 2, 2, 2, 2, 2, 2, 2]),
    ],
)
def test_a_game_with_ties_counts_as_all_its_orders(agents, ranks):
    orders = [order for order in permutations(range(len(ranks))) if np.all(np.diff([ranks[i] for i in order]) >= 0)]
    apart = np.array([[agents[i] for i in order] for order in orders])
    weight = len(orders)  # the imaginary games weigh one each
    tied = fit(np.tile(agents, (weight, 1)), np.tile(ranks, (weight, 1)), 4)
    assert tied == pytest.approx(fit(apart, np.tile(np.arange(1, len(ranks) + 1), (weight, 1)), 4), abs=1e-6)


def test_ties_of_eight_take_no_longer_than_others():
    """There are 40,320 orders, but no more sets of seats that may be left than 2**8."""
    games = Games.of(np.tile(np.arange(8), (5, 1)), np.ones((5, 8), int))
    assert len(games.choices.winners) == len(games.rows) == 8 * 2**7 - 8, "nobody has a choice alone"
    assert games.times().sum() == pytest.approx(5 * 7), "seven choices a game"


def test_a_perfect_record_stays_finite():
    agents = np.tile([0, 1], (1000, 1))
    ranks = np.tile([1, 2], (1000, 1))
    found = rate(agents, ranks, 2, anchor=1, samples=20)
    assert 800 < found.points[0] < 3000 and np.isfinite(found.high).all()


def test_four_hundred_points_are_odds_of_ten_to_one():
    """Nine wins and the imaginary one are ten to the one imaginary loss."""
    told: list[tuple[int, int]] = []
    agents, ranks = np.tile([0, 1], (9, 1)), np.tile([1, 2], (9, 1))
    found = rate(agents, ranks, 2, anchor=1, samples=40, progress=lambda *so_far: told.append(so_far))
    assert found.points == pytest.approx([400, 0])
    assert told == [(sample, 40) for sample in range(1, 41)]


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


@pytest.mark.parametrize("others", [1, 3, 7])
def test_imaginary_games_count_the_same_however_many_agents_there_are(others):
    """One agent loses all of its 300 games against each other agent, which are equal: it is as far behind as it would
    be behind a single one that it met in all of them."""
    pairs = [(0, other) for other in range(1, others + 1)] * 300
    between = [pair for pair in permutations(range(1, others + 1), 2)] * 300
    ranks = [[2, 1]] * len(pairs) + [[1, 2]] * len(between)
    found = fit(np.array(pairs + between), np.array(ranks), others + 1)
    assert found[1] - found[0] == pytest.approx(logit((300 * others + 1) / (300 * others + 2)), abs=1e-4)


def test_the_order_of_games_and_the_names_of_agents_do_not_matter():
    agents, ranks = simulate([0.0, 150.0, 400.0], 500, 4, seed=2)
    strength = fit(agents, ranks, 3)
    assert fit(agents[::-1], ranks[::-1], 3) == pytest.approx(strength, abs=1e-6)
    renamed = np.array([2, 0, 1])
    assert fit(renamed[agents], ranks, 3)[renamed] == pytest.approx(strength, abs=1e-6)


@pytest.mark.parametrize("seats", [2, 3, 8])
def test_the_fit_is_the_one_of_choix(seats):
    agents, ranks = simulate([0.0, 150.0, 400.0, 900.0], 300, seats, seed=seats)
    orders = np.take_along_axis(agents, np.argsort(ranks, axis=1), axis=1).tolist()
    # three times the games, and one win of each over each: three opponents, so a third of a win over each
    expected = choix.ilsr_rankings(4, orders * 3 + list(permutations(range(4), 2)))
    assert fit(agents, ranks, 4) == pytest.approx(expected - expected.mean(), abs=1e-6)


def test_games_of_a_kind_are_counted():
    """Whoever sits where; a choice that two kinds have in common is one."""
    games = Games.of(np.array([[2, 0, 1], [0, 1, 2], [1, 1, 2]], np.int8), np.array([[1, 2, 3], [2, 3, 1], [2, 3, 1]]))
    assert games.kinds.tolist() == [0, 0, 1] and games.times().tolist() == [2, 2, 1]
    assert games.times(np.array([1.0, 0.5, 3.0])).tolist() == [1.5, 1.5, 3]
    made = [[] for _ in games.choices.winners]
    for place, agent, seats in zip(games.choices.places, games.choices.agents, games.choices.seats, strict=True):
        made[place].append((agent, seats))
    assert games.choices.winners.tolist() == [0, 2, 2]
    assert made == [[(0, 1), (1, 1)], [(0, 1), (1, 1), (2, 1)], [(1, 2), (2, 1)]]


def test_many_agents_in_a_perfect_order_are_rated():
    """Each of them meets its neighbours alone, so that what one game says reaches the ends slowly."""
    agents = np.array([(number, number + 1) for number in range(99)] * 50)
    found = fit(agents, np.tile([1, 2], (len(agents), 1)), 100)
    assert np.all(np.diff(found) < 0)


PAIRS, FIRST_WINS = np.tile([0, 1], (10, 1)), np.tile([1, 2], (10, 1))


@pytest.mark.parametrize(
    ("games", "more", "message"),
    [
        ((PAIRS * 0, FIRST_WINS, 1), {}, "count = 1 is not allowed; allowed: an integer from 2 on"),
        ((PAIRS[:0], FIRST_WINS[:0], 2), {}, r"agents \(0, 2\) and ranks \(0, 2\) must have .* at least one game"),
        ((PAIRS, FIRST_WINS[:5], 2), {}, r"agents \(10, 2\) and ranks \(5, 2\) must have one shape"),
        ((PAIRS[0], FIRST_WINS[0], 2), {}, r"agents must be an integer array \(N, n\), not int64 \(2,\)"),
        ((PAIRS, FIRST_WINS * 1.0, 2), {}, r"ranks must be an integer array \(N, n\), not float64 \(10, 2\)"),
        ((PAIRS.tolist(), FIRST_WINS, 2), {}, r"agents must be an integer array \(N, n\), not list"),
        ((PAIRS + 1, FIRST_WINS, 2), {}, r"agents are 1\.\.2; allowed: 0\.\.1"),
        ((PAIRS - 1, FIRST_WINS, 2), {}, r"agents are -1\.\.0; allowed: 0\.\.1"),
        ((PAIRS, FIRST_WINS, 2), {"anchor": -1}, r"anchor = -1 is not allowed; allowed: an integer 0\.\.1"),
        ((PAIRS, FIRST_WINS, 2), {"samples": 0}, "samples = 0 is not allowed; allowed: an integer from 1 on"),
        ((PAIRS, FIRST_WINS, 2), {"seed": -1}, "seed = -1 is not allowed"),
    ],
)
def test_what_cannot_be_rated(games, more, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        rate(*games, **more)
    if not more:
        with pytest.raises(ValueError, match=f"^{message}"):
            fit(*games)
