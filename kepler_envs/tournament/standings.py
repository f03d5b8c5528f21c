"""Adding up the games of a ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from kepler_envs.tournament import metagame
from kepler_envs.tournament.metagame import Evaluation, alone_tables
from kepler_envs.tournament.play import EXCEPTION, Forfeit, GameResult
from kepler_envs.tournament.ratings import rate

BASELINE = "uniform"
"""The agent whose rating is 0 where it takes part."""

QUANTILE = 1.96  # of the normal distribution, for 95 %


@dataclass(frozen=True)
class Share:
    """A share of ``games`` games with its 95 % interval (Wilson's, so that 0 and 1 have one, too)."""

    mean: float
    low: float
    high: float
    games: int


@dataclass(frozen=True)
class Margin:
    """The mean of a number per game with its 95 % interval (Student's, from the variance between games)."""

    mean: float
    low: float
    high: float
    games: int


@dataclass(frozen=True)
class Line:
    """One agent in the leaderboard. Rates are per seat it sat on, and a win shared by w seats counts 1 / w."""

    agent: str
    spec: str
    rating: float
    rating_low: float
    rating_high: float
    games: int
    seats: int
    win_rate: float
    mean_return: float
    mean_rank: float
    mean_score: float
    by_seat: list[Share]
    """Share of wins on each seat."""
    forfeits: int
    """Games it forfeited."""


@dataclass(frozen=True)
class Forfeits:
    """Forfeits of one agent that look alike. Game, decision and details are those of the first one."""

    agent: str
    reason: str
    games: int
    game: int
    decision: int
    details: str


@dataclass(frozen=True)
class Standings:
    """Everything the report shows.

    ``lines`` are sorted, best first. The matrices have the same order and None on their diagonals. ``ahead[i][j]``: how
    often i finishes before j at a common table, with ties as half. ``alone[i][j]``: the share of wins of one i against
    j on all other seats. ``margins[i][j]``: in the same games, the score of i less the mean score of the others.
    ``by_seat``: the share of wins on each seat, whoever sits there. ``metagame``: see :func:`metagame.evaluate`, which
    says when it is None.
    """

    lines: list[Line]
    anchor: str
    ahead: list[list[float | None]]
    alone: list[list[Share | None]]
    margins: list[list[Margin | None]]
    by_seat: list[Share]
    metagame: list[Evaluation] | None
    forfeits: list[Forfeits]
    games: int
    mean_length: float
    ends: dict[str, int]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def standings(
    results: Sequence[GameResult],
    specs: Sequence[str],
    names: Sequence[str],
    samples: int,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> Standings:
    """Add up games of the agents ``specs``, called ``names`` in the tables. The rest is for the bootstrap
    (ratings.rate)."""
    index = {spec: place for place, spec in enumerate(specs)}
    agents = np.array([[index[spec] for spec in game.agents] for game in results])
    ranks = np.array([game.ranks for game in results])
    returns = np.array([game.returns for game in results])
    scores = np.array([game.scores for game in results])
    anchor = index.get(BASELINE)
    ratings = rate(agents, ranks, len(specs), anchor, samples, seed, progress)
    wins = (ranks == 1) / (ranks == 1).sum(axis=1, keepdims=True)
    order = np.argsort(-ratings.points, kind="stable")
    lines = []
    for agent in order:
        own = agents == agent
        lines.append(
            Line(
                agent=names[agent],
                spec=specs[agent],
                rating=float(ratings.points[agent]),
                rating_low=float(ratings.low[agent]),
                rating_high=float(ratings.high[agent]),
                games=int(own.any(axis=1).sum()),
                seats=int(own.sum()),
                win_rate=float(wins[own].mean()),
                mean_return=float(returns[own].mean()),
                mean_rank=float(ranks[own].mean()),
                mean_score=float(scores[own].mean()),
                by_seat=[share(wins[own[:, seat], seat]) for seat in range(agents.shape[1])],
                forfeits=sum(forfeit.agent == specs[agent] for game in results for forfeit in game.forfeits),
            )
        )
    return Standings(
        lines=lines,
        anchor="the mean of all agents" if anchor is None else BASELINE,
        ahead=[[_ahead(agents, ranks, one, other) for other in order] for one in order],
        alone=[[_alone(agents, wins, one, other) for other in order] for one in order],
        margins=[[_margin(agents, scores, one, other) for other in order] for one in order],
        by_seat=[share(wins[:, seat]) for seat in range(agents.shape[1])],
        metagame=metagame.evaluate(agents, wins, order.tolist(), samples, seed),
        forfeits=_forfeits(results, dict(zip(specs, names, strict=True))),
        games=len(results),
        mean_length=float(np.mean([game.length for game in results])),
        ends=dict(sorted(Counter(game.end for game in results).items())),
    )


def _ahead(agents: np.ndarray, ranks: np.ndarray, one: int, other: int) -> float | None:
    """How often ``one`` finishes before ``other``, over all pairs of their seats at common tables."""
    if one == other:
        return None
    pairs = (agents == one)[:, :, None] & (agents == other)[:, None, :]
    ahead = (ranks[:, :, None] < ranks[:, None, :]) + 0.5 * (ranks[:, :, None] == ranks[:, None, :])
    return float(ahead[pairs].mean()) if pairs.any() else None


def _alone(agents: np.ndarray, wins: np.ndarray, one: int, other: int) -> Share | None:
    """The wins of a single ``one`` against ``other`` on all other seats."""
    tables = alone_tables(agents, one, other)
    return share(wins[tables][agents[tables] == one]) if tables.any() else None


def _margin(agents: np.ndarray, scores: np.ndarray, one: int, other: int) -> Margin | None:
    """By how much a single ``one`` outscores the mean of ``other`` on all other seats."""
    tables = alone_tables(agents, one, other)
    if not tables.any():
        return None
    own, seats = scores[tables][agents[tables] == one], agents.shape[1]
    differences = own - (scores[tables].sum(axis=1) - own) / (seats - 1)
    games, mean = len(differences), float(differences.mean())
    half = half_width(differences)
    return Margin(mean, mean - half, mean + half, games)


def half_width(values: np.ndarray) -> float:
    """Half the 95 % interval of the mean of independent values (N,): Student's; infinite for a single one."""
    if len(values) < 2:
        return float("inf")
    return float(stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / np.sqrt(len(values)))


def _forfeits(results: Sequence[GameResult], names: Mapping[str, str]) -> list[Forfeits]:
    """The forfeits: exceptions that end in the same line together, and everything else by reason."""
    groups: dict[tuple[str, str, str], list[tuple[int, Forfeit]]] = {}
    for game in results:
        for forfeit in game.forfeits:
            last_line = forfeit.details.strip().rpartition("\n")[2] if forfeit.reason == EXCEPTION else ""
            groups.setdefault((forfeit.agent, forfeit.reason, last_line), []).append((game.number, forfeit))
    found = []
    for (spec, reason, _), alike in groups.items():
        number, first = alike[0]
        found.append(Forfeits(names[spec], reason, len(alike), number, first.decision, first.details))
    return sorted(found, key=lambda group: (-group.games, group.game))


def share(won: np.ndarray) -> Share:
    """The mean of numbers in [0, 1], one a game, with Wilson's interval."""
    games, mean = len(won), float(won.mean())
    middle = (mean + QUANTILE**2 / (2 * games)) / (1 + QUANTILE**2 / games)
    half = QUANTILE * np.sqrt(mean * (1 - mean) / games + (QUANTILE / (2 * games)) ** 2) / (1 + QUANTILE**2 / games)
    low, high = max(0.0, float(middle - half)), min(1.0, float(middle + half))
    return Share(mean, min(mean, low), max(mean, high), games)  # by rounding, a share of 1 could lie above its interval
