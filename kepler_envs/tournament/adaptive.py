"""Tables chosen where it is least certain who is better.

An adaptive tournament has the rounds of schedule.py, so each table is played once from every seat, but it chooses which
tables. It goes in *stages*. The first is one balanced block. Each later stage has as many rounds as a block, or GROWTH
of all rounds so far if that is more, chosen one after the other from the games of all stages before it:

1. The Plackett-Luce model (ratings.py) is fitted to the games.
2. What one game at a table tells about the strengths is its Fisher information at that fit: the finishing order is a
   sequence of choices, and each choice between seats with chances p tells diag(p) - p p'. The expectation over
   all orders is exact, by going through the sets of seats that may be left.
3. The covariance of the strengths is the inverse of all information there is. From it follows how wide the interval of
   each chance is that one agent finishes before another. The next round goes to the table that makes the sum of these
   widths, over all pairs of agents, smallest. The information of the round is added, and so on.

Two rules come first, as a model that does not hold should not decide alone:

* Tables where one agent is alone and mixed ones (schedule.py) keep the shares of the rounds that they have in a block.
  A mixed table tells most under the model, so nearly all rounds would go there. But the tables of one against others
  need the rest, and agents' ratings are not the same at both kinds of tables.
* A table that has had less than FLOOR of an equal share of its kind's rounds goes before the others of its kind.

Chances, not ratings: between agents that are far apart the ratings' intervals stay wide for ever, and games whose
winner is known in advance would take the whole budget.

The choice depends on the games of earlier stages alone and is written into the ledger before the stage is played.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations

import numpy as np

from kepler_envs.printable import counted
from kepler_envs.tournament.play import GameResult
from kepler_envs.tournament.ratings import IMAGINARY_WINS, fit
from kepler_envs.tournament.schedule import (
    ScheduledGame,
    check_games,
    check_number,
    check_schedule,
    compositions,
    scheduled_game,
    shuffled,
)

GROWTH = 0.1
"""Of all rounds so far, the share that the next stage has at least."""

FLOOR = 0.25
"""Of an equal share of the rounds of its kind, what each table gets in any case."""

Table = tuple[int, ...]


@dataclass
class AdaptiveSchedule:
    """The schedule of an adaptive tournament, as far as it has been chosen.

    Args:
        agents: the number of agents, at least 2.
        seats: the number of seats at a table, at least 2.
        seed: the seed of seatings and games.
        stages: the rounds' tables of earlier stages, as a ledger has them.

    Raises:
        ValueError: there are fewer than two agents or seats, or the seed is not allowed.
    """

    agents: int
    seats: int
    seed: int
    stages: list[list[Table]] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_schedule(self.agents, self.seats, self.seed)
        self._rounds = [table for stage in self.stages for table in stage]

    @cached_property
    def compositions(self) -> tuple[Table, ...]:
        """All tables that are possible, each once: with two agents on three seats, mixed tables are those where one is
        alone."""
        return tuple(dict.fromkeys(compositions(self.agents, self.seats)))

    @property
    def known(self) -> int:
        """The number of games whose tables have been chosen."""
        return len(self._rounds) * self.seats

    @property
    def block(self) -> int:
        """The number of games in the first stage."""
        return len(self.compositions) * self.seats

    def whole_rounds(self, games: int) -> int:
        """The smallest number of games, at least ``games`` (from 0 on), that has the first stage and then whole
        rounds."""
        check_games(games)
        return max(self.block, -(-games // self.seats) * self.seats)

    def __getitem__(self, number: int) -> ScheduledGame:
        """Game ``number``, from 0 on and below ``known``. Raises IndexError for others."""
        check_number(number, self.known)
        place, turn = divmod(number, self.seats)
        seated = shuffled(self._rounds[place], f"{self.seed}/round {place}")
        return scheduled_game(number, seated, turn, self.seed)

    def choose_stage(self, results: Sequence[GameResult], specs: Sequence[str]) -> list[Table]:
        """Choose the next stage from the results of all known games, and add it."""
        if len(results) != self.known:
            raise ValueError(f"{counted(len(results), 'result')}, but the schedule goes up to game {self.known}")
        if not self.stages:
            stage = list(self.compositions)
        else:
            strength = strengths(results, specs)
            rounds = max(len(self.compositions), round(GROWTH * len(self._rounds)))
            stage = choose_tables(self.compositions, self._rounds, strength, rounds, self.seats)
        self.stages.append(stage)
        self._rounds += stage
        return stage


def strengths(results: Sequence[GameResult], specs: Sequence[str]) -> np.ndarray:
    """Log strengths (k,) of the agents ``specs``."""
    index = {spec: place for place, spec in enumerate(specs)}
    agents = np.array([[index[spec] for spec in game.agents] for game in results])
    ranks = np.array([game.ranks for game in results])
    return fit(agents, ranks, len(specs))


def choose_tables(
    tables: Sequence[Table], played: Sequence[Table], strength: np.ndarray, rounds: int, games_in_round: int
) -> list[Table]:
    """Choose the next rounds. Each goes to the table, of the kind whose turn it is, that most shrinks the intervals of
    the win probabilities.

    Args:
        tables: the tables of a block.
        played: the tables of the rounds so far.
        strength: log strengths (k,), the best guess there is.
        rounds: the number of rounds to choose.
        games_in_round: the number of games that a table is played for.
    """
    told = np.array([games_in_round * information(table, strength) for table in tables])
    place = {table: number for number, table in enumerate(tables)}
    so_far = np.bincount([place[table] for table in played], minlength=len(tables))
    total = prior_information(strength) + np.tensordot(so_far, told, 1)
    alone = np.array([is_alone(table) for table in tables])
    kinds = [kind for kind in (np.flatnonzero(alone), np.flatnonzero(~alone)) if len(kind)]
    chosen = []
    for _ in range(rounds):
        kind = min(kinds, key=lambda kind: so_far[kind].mean())
        best = kind[np.argmin(so_far[kind])]
        if so_far[best] >= FLOOR * so_far[kind].mean():
            best = kind[np.argmin([interval_widths(total + told[table], strength).sum() for table in kind])]
        chosen.append(tables[best])
        so_far[best] += 1
        total = total + told[best]
    return chosen


def is_alone(table: Table) -> bool:
    """Whether one agent sits on one seat, and one other agent on all others."""
    return len(set(table)) == 2 and min(map(table.count, table)) == 1


def interval_widths(total: np.ndarray, strength: np.ndarray) -> np.ndarray:
    """How uncertain it is that one agent finishes before another: standard deviations (k, k) of the probabilities.

    Args:
        total: all information (k, k) on the strengths.
        strength: log strengths (k,).
    """
    covariance = np.linalg.pinv(total, hermitian=True)  # of strengths with mean 0
    variance = np.diag(covariance)
    of_differences = np.maximum(variance[:, None] + variance - 2 * covariance, 0.0)
    chance = 1 / (1 + np.exp(strength[:, None] - strength))
    return chance * (1 - chance) * np.sqrt(of_differences)


def prior_information(strength: np.ndarray) -> np.ndarray:
    """The information (k, k) in the imaginary games of ratings.py."""
    pairs = [information(pair, strength) for pair in permutations(range(len(strength)), 2)]
    return IMAGINARY_WINS / (len(strength) - 1) * np.sum(pairs, axis=0)


def information(table: Sequence[int], strength: np.ndarray) -> np.ndarray:
    """The Fisher information (k, k) on log strengths (k,) in the finishing order of one game at a table.

    Args:
        table: the agent on each seat. An agent may sit on several.
        strength: log strengths.
    """
    agents, weight = np.array(table), np.exp(strength[list(table)])
    everybody = (1 << len(table)) - 1
    chance = {everybody: 1.0}  # of each set of seats to be what is left, sets with more seats first
    total = np.zeros((len(strength), len(strength)))
    while chance:
        following: dict[int, float] = {}
        for left, likely in chance.items():
            seats = [seat for seat in range(len(table)) if left >> seat & 1]
            p = weight[seats] / weight[seats].sum()
            by_agent = np.bincount(agents[seats], p, len(strength))
            total += likely * (np.diag(by_agent) - np.outer(by_agent, by_agent))
            if len(seats) > 2:
                for seat, share in zip(seats, p, strict=True):
                    rest = left & ~(1 << seat)
                    following[rest] = following.get(rest, 0.0) + likely * float(share)
        chance = following
    return total
