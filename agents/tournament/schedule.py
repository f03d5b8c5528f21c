"""Who sits where: an endless, numbered, balanced schedule.

The schedule goes round in *blocks*. With k agents and n seats a block holds these tables:

* **alone**: for each ordered pair of agents (i, j), one i against n - 1 j (for n = 2 the unordered pairs, each once);
* **mixed** (n > 2): all agents as evenly as n allows. With k >= n that is every choice of n different agents; otherwise each agent sits
  on n // k seats, and every choice of n mod k agents on one seat more.

A table is seated in a random order, drawn for each block, and played n times, turned by one seat each time. So within every
block each agent sits on each seat equally often, and any two agents meet as often as any other two.

Games are numbered from 0. Table and seeds of a game depend on its number, the agents' count, the seats and the schedule's seed alone: a
tournament that was interrupted, or that is asked for more games later, knows what is missing.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations

from kepler_envs.engine.seeds import check_seed, stream_seed

SEED_BITS = 63
"""Seeds of games stay below 2**63, SQLite's largest integer."""


@dataclass(frozen=True)
class ScheduledGame:
    """One game to play: its number, the agent (an index) on each seat, its seed and a seed for each agent's own randomness."""

    number: int
    agents: tuple[int, ...]
    seed: int
    agent_seeds: tuple[int, ...]


@dataclass(frozen=True)
class Schedule:
    """All games of a tournament of ``agents`` agents (at least 2) at tables of ``seats`` seats."""

    agents: int
    seats: int
    seed: int

    def __post_init__(self) -> None:
        if self.agents < 2:
            raise ValueError(f"a tournament needs at least 2 agents, not {self.agents}")
        check_seed(self.seed)

    @cached_property
    def compositions(self) -> tuple[tuple[int, ...], ...]:
        """The tables of a block: agents (indices) in ascending order, one per seat."""
        alone = permutations if self.seats > 2 else combinations
        tables = [tuple(sorted((one, *[other] * (self.seats - 1)))) for one, other in alone(range(self.agents), 2)]
        if self.seats > 2:
            everybody = list(range(self.agents)) * (self.seats // self.agents)
            for extra in combinations(range(self.agents), self.seats % self.agents):
                tables.append(tuple(sorted((*everybody, *extra))))
        return tuple(tables)

    @property
    def block(self) -> int:
        """Games in a block."""
        return len(self.compositions) * self.seats

    def whole_blocks(self, games: int) -> int:
        """The smallest number of games from ``games`` on that fills whole blocks."""
        return -(-games // self.block) * self.block

    def __getitem__(self, number: int) -> ScheduledGame:
        """Game ``number``, from 0 on."""
        block, place = divmod(number, self.block)
        table, turn = divmod(place, self.seats)
        seated = list(self.compositions[table])
        random.Random(f"{self.seed}/{block}/{table}").shuffle(seated)
        seated = seated[turn:] + seated[:turn]
        seed = _seed(self.seed, number)
        # an agent draws for all its seats from one generator, named by the first of them
        own = [_seed(seed, 1 + seated.index(agent)) for agent in seated]
        return ScheduledGame(number, tuple(seated), seed, tuple(own))


def _seed(seed: int, stream: int) -> int:
    return stream_seed(seed, stream) >> (64 - SEED_BITS)
