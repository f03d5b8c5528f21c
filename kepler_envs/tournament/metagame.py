"""Agents as strategies of a game that is played by choosing an agent: alpha-rank, through open_spiel, and Nash
averaging, through cvxpy.

Ratings put agents in one line; where strength goes in circles (A beats B beats C beats A) there is none. Both methods
here look at a symmetric two-player zero-sum *meta-game* in which each player names an agent, with the payoff

    A[i][j] = (share of wins of one i against j on all other seats) - (share of wins of one j against i on all other
    seats)

For two players that is wins less losses. For more, an n-player meta-game over all mixtures of agents would need every
mixture to be played, and both methods want two players. This reduction asks who invades whom, with both sides equally
alone at the table, so that A[i][i] = 0 and A = -A' hold by construction, and no third agent has a part in an entry:
neither a strong nor a duplicate agent that also takes part changes what two others have between them.

* **alpha-rank** (Omidshafiei et al. 2019, https://doi.org/10.1038/s41598-019-45619-9): the share of time that a
  population, in which now and then a single agent takes over if it does better than the residents, spends with each
  agent. Single population, infinite alpha: only who beats whom counts.
* **Nash averaging** (Balduzzi et al. 2018, https://arxiv.org/abs/1806.02643): the symmetric equilibrium of A with the
  largest entropy, and what each agent wins against it (0 for agents in it, less for others).

Both are step functions of A, so a single number would hide how little it may be worth. Intervals are percentiles over a
bootstrap by game, beside the value for all games.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

MISSING = "alpha-rank and Nash averaging need open_spiel, cvxpy and networkx: pip install 'kepler_envs[analysis]'"

MUTATION = 0.01
"""alpha-rank's perturbation at infinite alpha: how often an agent takes over that does no better."""

SMALL = 1e-4
"""Solvers are no more exact than this; smaller masses are 0."""

ROUNDING = 1e-9
"""Means of the same shares over different numbers of games differ by less; such a payoff is 0."""


@dataclass(frozen=True)
class Value:
    """A number for all games, with its 95 % interval over the bootstrap."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Evaluation:
    """What the two methods say of one agent."""

    alpha_rank: Value
    """Share of the stationary distribution; the shares of all agents sum to 1."""
    nash_mass: Value | None
    """Share in the equilibrium; they sum to 1. None if the solver found none."""
    nash_average: Value | None
    """Payoff against the equilibrium, in [-1, 0] but for rounding. None if the solver found none."""


def alone_tables(agents: np.ndarray, one: int, other: int) -> np.ndarray:
    """Mark the games (N, n) that have a single ``one`` among ``other`` on all other seats: bool (N,)."""
    if one == other:
        return np.zeros(len(agents), bool)
    return ((agents == one).sum(axis=1) == 1) & ((agents == other).sum(axis=1) == agents.shape[1] - 1)


def evaluate(
    agents: np.ndarray, wins: np.ndarray, order: Sequence[int], samples: int, seed: int
) -> list[Evaluation] | None:
    """Evaluate the agents ``order``.

    Returns None where a library is missing, and if one of them was never alone against each of the others.

    Args:
        agents: integers (N, n), the agent on each seat of each game.
        wins: (N, n), the share of the win of each seat.
        order: the agents, in the order in which the result lists them.
        samples: the number of bootstrap samples.
        seed: the seed of the samples.
    """
    if not is_installed():
        return None
    won = wins_alone(agents, wins, order)
    if any(len(won[i][j]) == 0 for i in range(len(order)) for j in range(len(order)) if i != j):
        return None
    rng = np.random.default_rng(seed)
    found = [_values(payoffs(won))]
    for _ in range(samples):
        found.append(_values(payoffs(resampled(won, agents.shape[1], rng))))
    values = np.array(found)  # (1 + samples, 3, k)
    ranks, masses, averages = (_over_samples(values[:, measure]) for measure in range(3))
    return [Evaluation(*each) for each in zip(ranks, masses, averages, strict=True)]


def _over_samples(values: np.ndarray) -> list[Any]:
    """A Value for each agent from its values (1 + samples, k), those for all games first.

    None for all agents if those for all games are NaN, or those of all samples. The two fail for all agents at once.
    """
    drawn = values[1:] if len(values) > 1 else values
    if np.isnan(values[0]).any() or np.isnan(drawn).all():
        return [None] * values.shape[1]
    bounds = np.nanpercentile(drawn, (2.5, 97.5), axis=0)
    return [Value(*map(float, each)) for each in zip(values[0], *bounds, strict=True)]


def is_installed() -> bool:
    """Whether open_spiel and cvxpy are there, and networkx, which open_spiel does not declare."""
    try:
        import cvxpy  # noqa: F401
        from open_spiel.python.egt import alpharank  # noqa: F401
    except ImportError:
        return False
    return True


def payoffs(won: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    """The meta-game A (k, k) from the wins of one i against j on all other seats, an array per pair."""
    alone = np.array([[cell.mean() if len(cell) else 0.0 for cell in row] for row in won])
    return alone - alone.T


def wins_alone(agents: np.ndarray, wins: np.ndarray, order: Sequence[int]) -> list[list[np.ndarray]]:
    """The wins of one i against j on all other seats, game by game, as an array in cell [i][j]."""
    cells = []
    for one in order:
        row = [alone_tables(agents, one, other) for other in order]
        cells.append([wins[tables][agents[tables] == one] for tables in row])
    return cells


def resampled(won: Sequence[Sequence[np.ndarray]], seats: int, rng: np.random.Generator) -> list[list[np.ndarray]]:
    """Draw as many games of each cell with replacement.

    With two seats [i][j] and [j][i] are the same games, seen from either side, and so are drawn as one: drawn apart,
    their difference would vary by sqrt(2) too little.
    """
    drawn = [list(row) for row in won]
    for i, j in combinations(range(len(won)), 2):
        games = rng.integers(len(won[i][j]), size=len(won[i][j]))
        others = games if seats == 2 else rng.integers(len(won[j][i]), size=len(won[j][i]))
        drawn[i][j], drawn[j][i] = won[i][j][games], won[j][i][others]
    return drawn


def _values(game: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return alpha_rank(game), *nash_averaging(game)


def alpha_rank(game: np.ndarray) -> np.ndarray:
    """The stationary distribution (k,) of a symmetric zero-sum game (k, k)."""
    from open_spiel.python.egt import alpharank

    # only its signs count; its comparison of sums wants them exact
    signs = np.where(np.abs(game) < ROUNDING, 0.0, np.sign(game))
    shares = alpharank.compute([signs], use_inf_alpha=True, inf_alpha_eps=MUTATION)[2]
    return np.asarray(shares, float)


def nash_averaging(game: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The maximum-entropy equilibrium (k,) of a symmetric zero-sum game (k, k), and each row's payoff against it (k,).

    NaN where the solver fails.
    """
    import cvxpy

    programme, payoff, mass = _programme(len(game))
    payoff.value = game
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the solver's remarks on accuracy
        try:
            programme.solve()
        except cvxpy.error.SolverError:
            mass.value = None  # it would keep that of the game before
    if mass.value is None:
        return np.full(len(game), np.nan), np.full(len(game), np.nan)
    shares = np.where(mass.value < SMALL, 0.0, mass.value)
    return shares / shares.sum(), game @ mass.value


@cache
def _programme(agents: int) -> tuple[Any, Any, Any]:
    """The convex programme of open_spiel's ``nash_averaging``, its payoffs (k, k) and its masses (k,).

    It is made once for all samples of a bootstrap: open_spiel makes it anew for each game, which takes three times as
    long as to solve it.
    """
    import cvxpy

    payoff, mass = cvxpy.Parameter((agents, agents)), cvxpy.Variable(agents)
    entropy = cvxpy.Maximize(cvxpy.sum(cvxpy.entr(mass)))
    return cvxpy.Problem(entropy, [payoff @ mass <= 0, mass >= 0, cvxpy.sum(mass) == 1]), payoff, mass
