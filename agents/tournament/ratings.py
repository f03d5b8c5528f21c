"""Ratings from finishing orders: the Plackett-Luce model, by maximum likelihood.

Each agent has a strength; the finishing order of a table is as if the places were drawn one after the other, each with
chances proportional to the strengths of those that are left. An agent on several seats of a table counts for each of them.
All games are fitted at once, so their order does not matter.

The estimate is that of ``choix.ilsr_rankings`` (the tests hold the two together). It is computed here over the distinct remainders
of tables with their frequencies, because the bootstrap fits hundreds of samples of thousands of games.

Ties are broken uniformly at random, anew in each bootstrap sample. ``openskill.models.PlackettLuce`` is of no use
here: it misjudges ties.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

POINTS_PER_UNIT = 400 / np.log(10)
"""Elo's scale: 400 points are odds of 10 to 1."""

IMAGINARY_DRAWS = 1.0
"""Draws each two agents are taken to have played besides: they keep a perfect record finite and hardly touch others."""

TIE_COPIES = 16
"""Independent random breakings of ties that the estimate itself averages over."""

CONVERGED = 1e-8  # step of Newton's method, in units of log strength
MOST_STEPS = 100


@dataclass(frozen=True)
class Ratings:
    """Points per agent with 95 % intervals (percentiles of the bootstrap by game); all (k,) float64."""

    points: np.ndarray
    low: np.ndarray
    high: np.ndarray


def rate(
    agents: np.ndarray, ranks: np.ndarray, count: int, anchor: int | None = None, samples: int = 200, seed: int = 0
) -> Ratings:
    """Rate ``count`` agents.

    Args:
        agents: integers (N, n), the agent on each seat of each game.
        ranks: integers (N, n), the places, 1 is best, equal places are ties.
        count: number of agents k.
        anchor: the agent with 0 points; None: the agents' mean is 0.
        samples: bootstrap samples.
        seed: of the samples and of the breaking of ties.
    """
    rng = np.random.default_rng(seed)
    copies = [finishing_orders(agents, ranks, rng) for _ in range(TIE_COPIES)]
    strength = fit(np.concatenate(copies), count, 1 / TIE_COPIES)
    drawn = np.empty((samples, count))
    for sample in range(samples):
        games = rng.integers(0, len(agents), len(agents))
        drawn[sample] = fit(finishing_orders(agents[games], ranks[games], rng), count, start=strength)
    points, drawn = _points(strength, anchor), _points(drawn, anchor)
    low, high = np.percentile(drawn, (2.5, 97.5), axis=0) if samples else (points, points)
    return Ratings(points, low, high)


def finishing_orders(agents: np.ndarray, ranks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The agents of each game from first to last, ties in random order: (N, n)."""
    order = np.argsort(ranks + rng.random(ranks.shape), axis=1)  # ranks differ by at least 1
    return np.take_along_axis(agents, order, axis=1)


def fit(orders: np.ndarray, count: int, weight: float = 1.0, start: np.ndarray | None = None) -> np.ndarray:
    """Log strengths (k,) with mean 0 that make finishing orders (N, n), each counted ``weight`` times, most likely."""
    left, times = _remainders(orders, count)
    pairs = np.array([(one, other) for one in range(count) for other in range(count) if one != other])
    left = np.concatenate([left, np.eye(count)[pairs].sum(axis=1)])
    times = np.concatenate([times * weight, np.full(len(pairs), IMAGINARY_DRAWS / 2)])
    # everybody is drawn once per seat, the last one of a table from himself alone
    chosen = np.bincount(orders.ravel(), minlength=count) * weight
    chosen = chosen + np.bincount(pairs[:, 0], minlength=count) * IMAGINARY_DRAWS / 2

    def likelihood(strength: np.ndarray) -> float:
        return float(chosen @ strength - times @ np.log(left @ np.exp(strength)))

    strength = np.zeros(count) if start is None else start
    reached = likelihood(strength)
    for _ in range(MOST_STEPS):
        chances = left * np.exp(strength)
        chances /= chances.sum(axis=1, keepdims=True)
        expected = times @ chances
        curvature = np.diag(expected) - (chances * times[:, None]).T @ chances
        step = np.linalg.lstsq(curvature, chosen - expected, rcond=None)[0]  # the shortest: without a shift of all
        while (found := likelihood(strength + step)) < reached and np.abs(step).max() > CONVERGED:
            step /= 2
        strength, reached = strength + step, found
        if np.abs(step).max() <= CONVERGED:
            break
    return strength - strength.mean()


def _remainders(orders: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Who was left when each place was drawn: distinct seats per agent (R, k) and how often each occurs (R,)."""
    seats = orders.shape[1]
    if (seats + 1) ** count >= 2**63:
        raise ValueError(f"{count} agents at tables of {seats} are more than can be rated together")
    digits = (seats + 1) ** np.arange(count, dtype=np.int64)  # a remainder as a number: one digit an agent
    numbers = np.cumsum(digits[orders][:, ::-1], axis=1)
    distinct, times = np.unique(numbers, return_counts=True)
    return (distinct[:, None] // digits % (seats + 1)).astype(float), times.astype(float)


def _points(strength: np.ndarray, anchor: int | None) -> np.ndarray:
    zero = strength.mean(axis=-1, keepdims=True) if anchor is None else strength[..., [anchor]]
    return (strength - zero) * POINTS_PER_UNIT
