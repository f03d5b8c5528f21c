"""Ratings from finishing orders: the Plackett-Luce model, by maximum likelihood.

The algorithm is iterative Luce spectral ranking (Maystre and Grossglauser 2015), as in ``choix.ilsr_rankings``, whose
answers it gives; but choix goes through every game in each step, while here games that ended in the same order are
counted. A few agents have few orders, and a bootstrap of a long tournament takes seconds rather than many minutes.

Each agent has a strength; the finishing order of a table is as if the ranks were drawn one after the other, each with
chances proportional to the strengths of those that are left. An agent on several seats of a table counts for each of
them. All games are fitted at once, so their order does not matter.

A game with ties counts as all the orders that it may have ended in, each for its part.
``openskill.models.PlackettLuce`` is of no use here: it misjudges ties.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, permutations, product

import numpy as np

from kepler_envs.engine.checks import check_integer
from kepler_envs.engine.seeds import check_seed

POINTS_PER_UNIT = 400 / np.log(10)
"""Elo's scale: 400 points are odds of 10 to 1."""

IMAGINARY_WINS = 1
"""Imaginary wins of each agent, and as many losses, in equal parts against each other agent. They keep a perfect record
finite and hardly touch others. With one against each other agent, many agents would pull one that always loses towards
them."""

TOLERANCE, MOST_STEPS = 1e-8, 10_000
"""Of the fit: a change of all log strengths together that ends it, and steps after which it has failed. A few agents
take about ten steps, a hundred of them in a perfect order some hundreds."""

FEWEST_SAMPLES = 40
"""Samples of a bootstrap from which on there is a 2.5th percentile."""

MOST_ORDERS, DRAWN_ORDERS = 24, 4
"""Orders that a game with ties counts as: all of them, such as 24 if four seats tie. If there are more, a few are
drawn, which keeps the fit fast."""


@dataclass(frozen=True)
class Ratings:
    """Points per agent with 95 % intervals (percentiles of a Bayesian bootstrap by game). All are (k,) float64."""

    points: np.ndarray
    low: np.ndarray
    high: np.ndarray


def rate(
    agents: np.ndarray,
    ranks: np.ndarray,
    count: int,
    anchor: int | None = None,
    samples: int = 200,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Ratings:
    """Rate ``count`` agents.

    Args:
        agents: integers (N, n), the agent on each seat of each game.
        ranks: integers (N, n), the ranks. 1 is best, and equal ranks are ties.
        count: the number of agents k.
        anchor: the agent with 0 points. None gives the agents' mean 0 points.
        samples: the number of samples of the Bayesian bootstrap (Rubin 1981), for intervals at least FEWEST_SAMPLES.
            Each gives every game, and every imaginary one, a weight of its own. So a perfect record has an interval,
            too: for two agents without ties that of Beta(wins + 1, losses + 1).
        seed: the seed of the samples, and of orders drawn for ties of more than four seats.
        progress: called with (samples done, samples).

    Raises ValueError if there are no games or less than two agents, an array has another shape or dtype or names other
    agents, or another argument is not allowed.
    """
    _check_games(agents, ranks, count)
    if anchor is not None:
        check_integer("anchor", anchor, 0, count - 1)
    check_integer("samples", samples, 1)
    rng = np.random.default_rng(check_seed(seed))
    orders, games, parts = finishing_orders(agents, ranks, rng)
    orders, which = different_orders(orders, count)
    strength = _most_likely(orders, np.bincount(which, parts), _imaginary(count), np.zeros(count))
    drawn = np.empty((samples, count))
    for sample in range(samples):
        weights = rng.exponential(size=len(agents))[games]
        imaginary = rng.gamma(_imaginary(count))
        drawn[sample] = _most_likely(orders, np.bincount(which, parts * weights), imaginary, strength)
        if progress is not None:
            progress(sample + 1, samples)
    points, drawn = _points(strength, anchor), _points(drawn, anchor)
    low, high = np.percentile(drawn, (2.5, 97.5), axis=0)
    return Ratings(points, low, high)


def fit(agents: np.ndarray, ranks: np.ndarray, count: int, seed: int = 0) -> np.ndarray:
    """Log strengths (k,) with mean 0 that make the finishing orders of games most likely.

    Arguments and errors are those of ``rate``.
    """
    _check_games(agents, ranks, count)
    orders, _, parts = finishing_orders(agents, ranks, np.random.default_rng(seed))
    orders, which = different_orders(orders, count)
    return _most_likely(orders, np.bincount(which, parts), _imaginary(count), np.zeros(count))


def _check_games(agents: np.ndarray, ranks: np.ndarray, count: int) -> None:
    """Raise ValueError unless these are games of ``count`` agents."""
    check_integer("count", count, 2)
    for name, array in (("agents", agents), ("ranks", ranks)):
        if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "iu":
            found = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
            raise ValueError(f"{name} must be an integer array (N, n), not {found}")
    if agents.shape != ranks.shape or not agents.size:
        raise ValueError(f"agents {agents.shape} and ranks {ranks.shape} must have one shape, and at least one game")
    if agents.min() < 0 or agents.max() >= count:
        raise ValueError(f"agents are {agents.min()}..{agents.max()}; allowed: 0..{count - 1}")


def finishing_orders(
    agents: np.ndarray, ranks: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The orders that N games may have ended in.

    Returns:
        The agents from first to last, (M, n); the game of each order, (M,); its part of that game, (M,): 1, or less if
        there are ties.
    """
    patterns, pattern_of = np.unique(ranks, axis=0, return_inverse=True)
    by_pattern = [_orders_of_seats(pattern, rng) for pattern in patterns]
    ends = np.cumsum([len(orders) for orders in by_pattern])
    places = np.split(np.arange(ends[-1]), ends[:-1])  # of each pattern's orders, among those of all patterns
    by_game = [places[number] for number in pattern_of.ravel()]  # numpy 2.0 gives it two axes
    many = np.array([len(its) for its in by_game])
    games = np.repeat(np.arange(len(ranks)), many)
    seats = np.concatenate(by_pattern)[np.concatenate(by_game)]
    return np.take_along_axis(agents[games], seats, axis=1), games, 1 / many[games]


def _orders_of_seats(ranks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The seats from first to last, in all orders that are possible with these ranks (n,), or in DRAWN_ORDERS."""
    ties = [np.flatnonzero(ranks == rank).tolist() for rank in np.unique(ranks)]
    if math.prod(math.factorial(len(tie)) for tie in ties) <= MOST_ORDERS:
        return np.array([np.concatenate(order) for order in product(*map(permutations, ties))])
    return np.argsort(ranks + rng.random((DRAWN_ORDERS, len(ranks))), axis=1)  # ranks differ by at least 1


def _imaginary(count: int) -> np.ndarray:
    """The imaginary wins (k (k - 1),) of each agent over each other."""
    return np.full(count * (count - 1), IMAGINARY_WINS / (count - 1))


def _most_likely(orders: np.ndarray, times: np.ndarray, imaginary: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Log strengths (k,) for orders (M, n) that occurred so often (M,), and imaginary wins (k (k - 1),) of each agent
    over each other, found from ``start`` (k,) on."""
    from choix.utils import log_transform, statdist  # takes a second, and playing games needs none of it

    every_pair = np.array(list(permutations(range(len(start)), 2)))
    parts = [(orders, times), (every_pair, imaginary)]
    strength = start - start.mean()
    for _ in range(MOST_STEPS):
        before, rates = strength, np.sum([_transition_rates(*part, strength) for part in parts], axis=0)
        strength = log_transform(statdist(rates - np.diag(rates.sum(axis=1))))
        if np.abs(strength - before).sum() < TOLERANCE:
            return strength - strength.mean()
    raise RuntimeError(f"ratings did not converge within {MOST_STEPS} steps")


def different_orders(orders: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The different rows of orders (M, n) of ``count`` agents, and which of them each row is, (M,)."""
    shape = (count,) * orders.shape[1]
    numbers, which = np.unique(np.ravel_multi_index(tuple(orders.T), shape), return_inverse=True)
    return np.stack(np.unravel_index(numbers, shape), axis=1), which


def _transition_rates(orders: np.ndarray, times: np.ndarray, strength: np.ndarray) -> np.ndarray:
    """The Markov chain (k, k) of Luce spectral ranking: from each agent to those it finished behind."""
    count, weights = len(strength), np.exp(strength)[orders]
    of_those_left = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
    rates = np.zeros(count * count)
    for winner, loser in combinations(range(orders.shape[1]), 2):
        moves = orders[:, loser] * count + orders[:, winner]
        rates += np.bincount(moves, times / of_those_left[:, winner], count * count)
    return rates.reshape(count, count)


def _points(strength: np.ndarray, anchor: int | None) -> np.ndarray:
    zero = strength.mean(axis=-1, keepdims=True) if anchor is None else strength[..., [anchor]]
    return (strength - zero) * POINTS_PER_UNIT
