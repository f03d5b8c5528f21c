"""Ratings from finishing orders: the Plackett-Luce model, by maximum likelihood.

The algorithm is iterative Luce spectral ranking (Maystre and Grossglauser 2015), as in ``choix.ilsr_rankings``, whose
answers it gives; but choix goes through every game in each step, while here the same choices between the same agents
are counted. A few agents have few choices, and a bootstrap of a long tournament takes seconds rather than many minutes.

Each agent has a strength; the finishing order of a table is as if the ranks were drawn one after the other, each with
chances proportional to the strengths of those that are left. An agent on several seats of a table counts for each of
them. All games are fitted at once, so their order does not matter.

A game with ties counts as all the orders that it may have ended in, each for its part. There may be 40,320 of eight
seats, but their choices are few: who of those that tie comes next is a fair draw, and so is who of them is left.
``openskill.models.PlackettLuce`` is of no use here: it misjudges ties.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product

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
        seed: the seed of the samples.
        progress: called with (samples done, samples).

    Raises ValueError if there are no games or less than two agents, an array has another shape or dtype or names other
    agents, or another argument is not allowed.
    """
    _check_games(agents, ranks, count)
    if anchor is not None:
        check_integer("anchor", anchor, 0, count - 1)
    check_integer("samples", samples, 1)
    rng = np.random.default_rng(check_seed(seed))
    games = Games.of(agents, ranks)
    strength = _most_likely(games.choices, games.times(), _imaginary(count), np.zeros(count))
    drawn = np.empty((samples, count))
    for sample in range(samples):
        times = games.times(rng.exponential(size=len(agents)))
        drawn[sample] = _most_likely(games.choices, times, rng.gamma(_imaginary(count)), strength)
        if progress is not None:
            progress(sample + 1, samples)
    points, drawn = _points(strength, anchor), _points(drawn, anchor)
    low, high = np.percentile(drawn, (2.5, 97.5), axis=0)
    return Ratings(points, low, high)


def fit(agents: np.ndarray, ranks: np.ndarray, count: int) -> np.ndarray:
    """Log strengths (k,) with mean 0 that make the finishing orders of games most likely.

    Arguments and errors are those of ``rate``.
    """
    _check_games(agents, ranks, count)
    games = Games.of(agents, ranks)
    return _most_likely(games.choices, games.times(), _imaginary(count), np.zeros(count))


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


Seats = tuple[tuple[int, int], ...]
"""How many seats which agents have, (agent, seats) each, by agent."""


@dataclass(frozen=True)
class Choices:
    """Who comes next, out of those that are left.

    Attributes:
        winners: the agent that comes next, (C,).
        places, agents, seats: a row for each agent left in a choice, (E,): which choice, who, on how many seats.
    """

    winners: np.ndarray
    places: np.ndarray
    agents: np.ndarray
    seats: np.ndarray

    @classmethod
    def of(cls, choices: Sequence[tuple[int, Seats]]) -> Choices:
        """Choices, each given as (winner, who is left)."""
        left = [(place, *one) for place, (_, those) in enumerate(choices) for one in those]
        winners = np.array([winner for winner, _ in choices], int)
        return cls(winners, *np.array(left, int).reshape(-1, 3).T)

    def transition_rates(self, times: np.ndarray, strength: np.ndarray) -> np.ndarray:
        """The Markov chain (k, k) of Luce spectral ranking: from each agent to those it finished behind, if the choices
        were made so many ``times`` (C,)."""
        count = len(strength)
        weights = self.seats * np.exp(strength)[self.agents]
        a_seat = times / np.bincount(self.places, weights, len(times))
        moves = self.agents * count + self.winners[self.places]
        return np.bincount(moves, self.seats * a_seat[self.places], count * count).reshape(count, count)


@dataclass(frozen=True)
class Games:
    """Games as choices. Those in which the same agents share the same ranks are of one kind.

    Attributes:
        choices: the different choices.
        kinds: the kind of each game, (N,).
        rows: (which choice, of which kind) for each choice of each kind, (R, 2).
        parts: its part of a game of that kind, (R,): 1, or less if there are ties.
    """

    choices: Choices
    kinds: np.ndarray
    rows: np.ndarray
    parts: np.ndarray

    @classmethod
    def of(cls, agents: np.ndarray, ranks: np.ndarray) -> Games:
        """The games (N, n)."""
        order = np.lexsort((agents, ranks), axis=1)  # by rank, and those that tie by agent
        sorted_agents, sorted_ranks = (np.take_along_axis(array, order, axis=1) for array in (agents, ranks))
        is_behind = np.hstack([np.zeros((len(ranks), 1), bool), sorted_ranks[:, 1:] > sorted_ranks[:, :-1]])
        different, kinds = np.unique(np.stack([sorted_agents, is_behind], axis=2), axis=0, return_inverse=True)
        number: dict[tuple[int, Seats], int] = {}
        rows, parts = [], []
        choices_at = cache(_choices_at)  # many games have the same ones
        for kind, seats in enumerate(different.tolist()):
            for place, behind in _places(seats):
                for winner, left, part in choices_at(place, behind):
                    rows.append((number.setdefault((winner, left), len(number)), kind))
                    parts.append(part)
        return cls(Choices.of(list(number)), kinds.ravel(), np.array(rows, int).reshape(-1, 2), np.array(parts))

    def times(self, weights: np.ndarray | None = None) -> np.ndarray:
        """How often each choice was made (C,), if each game counts as so many (N,)."""
        which, kind = self.rows.T
        of_kind = np.bincount(self.kinds, weights)
        return np.bincount(which, self.parts * of_kind[kind], len(self.choices.winners))


def _places(seats: Sequence[tuple[int, int]]) -> Iterator[tuple[Seats, Seats]]:
    """(the agents that share a place, those behind it) from the last place to the first.

    ``seats``: (agent, 1 if it is behind the one before, else 0), the best ones first and those that tie by agent.
    """
    behind: Seats = ()
    place: Seats = ()
    for agent, is_behind in reversed(seats):
        place = _together(((agent, 1),), place)
        if is_behind:
            yield place, behind
            place, behind = (), _together(place, behind)
    yield place, behind


def _together(one: Seats, other: Seats) -> Seats:
    many = dict(one)
    for agent, seats in other:
        many[agent] = many.get(agent, 0) + seats
    return tuple(sorted(many.items()))


def _choices_at(place: Seats, behind: Seats) -> list[tuple[int, Seats, float]]:
    """(who comes next, who is left, the part of all orders in which it happens), each as somebody of a place comes
    next."""
    found = []
    tied = sum(many for _, many in place)
    for left_over in product(*(range(many + 1) for _, many in place)):
        still = tuple((agent, many) for (agent, _), many in zip(place, left_over, strict=True) if many)
        left = _together(still, behind)
        if not still or len(left) == 1:  # one agent alone has no choice
            continue
        orders = math.prod(math.comb(most, many) for (_, most), many in zip(place, left_over, strict=True))
        part = orders / math.comb(tied, sum(left_over)) / sum(left_over)
        found += [(agent, left, many * part) for agent, many in still]
    return found


def _imaginary(count: int) -> np.ndarray:
    """The imaginary wins (k (k - 1),) of each agent over each other."""
    return np.full(count * (count - 1), IMAGINARY_WINS / (count - 1))


@cache
def _between_two(count: int) -> Choices:
    """One win of each agent over each other."""
    return Choices.of([(one, ((one, 1), (other, 1))) for one, other in permutations(range(count), 2)])


def _most_likely(choices: Choices, times: np.ndarray, imaginary: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Log strengths (k,) for choices that were made so often (C,), and imaginary wins (k (k - 1),) of each agent over
    each other, found from ``start`` (k,) on."""
    from choix.utils import log_transform, statdist  # takes a second, and playing games needs none of it

    parts = [(choices, times), (_between_two(len(start)), imaginary)]
    strength = start - start.mean()
    for _ in range(MOST_STEPS):
        before, rates = strength, np.sum([made.transition_rates(often, strength) for made, often in parts], axis=0)
        strength = log_transform(statdist(rates - np.diag(rates.sum(axis=1))))
        if np.abs(strength - before).sum() < TOLERANCE:
            return strength - strength.mean()
    raise RuntimeError(f"ratings did not converge within {MOST_STEPS} steps")


def _points(strength: np.ndarray, anchor: int | None) -> np.ndarray:
    zero = strength.mean(axis=-1, keepdims=True) if anchor is None else strength[..., [anchor]]
    return (strength - zero) * POINTS_PER_UNIT
