"""Ratings from finishing orders: the Plackett-Luce model, by maximum likelihood.

The algorithm is iterative Luce spectral ranking (Maystre and Grossglauser 2015), as in ``choix.ilsr_rankings``, whose
answers it gives; but choix goes through every game in each step, while here games that ended in the same order are
counted. A few agents have few orders, and a bootstrap of a long tournament takes seconds rather than many minutes.

Each agent has a strength; the finishing order of a table is as if the ranks were drawn one after the other, each with
chances proportional to the strengths of those that are left. An agent on several seats of a table counts for each of
them. All games are fitted at once, so their order does not matter.

Ties are broken uniformly at random, anew in each bootstrap sample. ``openskill.models.PlackettLuce`` is of no use
here: it misjudges ties.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from choix.utils import log_transform, statdist

POINTS_PER_UNIT = 400 / np.log(10)
"""Elo's scale: 400 points are odds of 10 to 1."""

IMAGINARY_WINS = 1
"""Games each two agents are taken to have won against one another besides: they keep a perfect record finite and hardly
touch others."""

TOLERANCE, MOST_STEPS = 1e-8, 100
"""Of the fit: a change of all log strengths together that ends it, and steps after which it has failed."""

FEWEST_SAMPLES = 40
"""Samples of a bootstrap from which on there is a 2.5th percentile."""

TIE_COPIES = 4
"""Independent random breakings of ties that the estimate itself averages over, if there are ties."""


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
        seed: the seed of the samples and of the breaking of ties.
        progress: called with (samples done, samples).
    """
    rng = np.random.default_rng(seed)
    tied = any(len(set(ranks)) < len(ranks) for ranks in ranks.tolist())
    strength = fit([finishing_orders(agents, ranks, rng) for _ in range(TIE_COPIES if tied else 1)], count)
    drawn = np.empty((samples, count))
    for sample in range(samples):
        drawn[sample] = _fit_weighted(finishing_orders(agents, ranks, rng), count, strength, rng)
        if progress is not None:
            progress(sample + 1, samples)
    points, drawn = _points(strength, anchor), _points(drawn, anchor)
    low, high = np.percentile(drawn, (2.5, 97.5), axis=0)
    return Ratings(points, low, high)


def finishing_orders(agents: np.ndarray, ranks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The agents of each game from first to last, ties in random order: (N, n)."""
    order = np.argsort(ranks + rng.random(ranks.shape), axis=1)  # ranks differ by at least 1
    return np.take_along_axis(agents, order, axis=1)


def fit(copies: Sequence[np.ndarray], count: int) -> np.ndarray:
    """Log strengths (k,) with mean 0 that make the finishing orders most likely.

    Args:
        copies: finishing orders (N, n) of the same games that differ in how ties were broken. Each counts for its part.
        count: the number of agents k.
    """
    imaginary = np.full(count * (count - 1), IMAGINARY_WINS * len(copies))
    return _most_likely(count_orders(np.concatenate(copies), count), imaginary, np.zeros(count))


def _fit_weighted(orders: np.ndarray, count: int, start: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A sample of the Bayesian bootstrap: log strengths (k,) for games with weights drawn from Exp(1)."""
    counted = count_orders(orders, count, rng.exponential(size=len(orders)))
    return _most_likely(counted, rng.gamma(IMAGINARY_WINS, size=count * (count - 1)), start)


def _most_likely(counted: tuple[np.ndarray, np.ndarray], imaginary: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Log strengths (k,) for orders that occurred so often, and imaginary wins (k (k - 1),) of each over each other,
    found from ``start`` (k,) on."""
    every_pair = np.array(list(permutations(range(len(start)), 2)))
    parts = [counted, (every_pair, imaginary)]
    strength = start - start.mean()
    for _ in range(MOST_STEPS):
        before, rates = strength, np.sum([_transition_rates(*part, strength) for part in parts], axis=0)
        strength = log_transform(statdist(rates - np.diag(rates.sum(axis=1))))
        if np.abs(strength - before).sum() < TOLERANCE:
            return strength - strength.mean()
    raise RuntimeError(f"ratings did not converge within {MOST_STEPS} steps")


def count_orders(orders: np.ndarray, count: int, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The different rows of orders (N, n) of ``count`` agents, (M, n), and how often each occurs, (M,), or what their
    ``weights`` (N,) add up to."""
    shape = (count,) * orders.shape[1]
    numbers, which = np.unique(np.ravel_multi_index(tuple(orders.T), shape), return_inverse=True)
    return np.stack(np.unravel_index(numbers, shape), axis=1), np.bincount(which, weights)


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
