"""Who sits where: an endless, numbered, balanced schedule.

The schedule goes round in *blocks*. With k agents and n seats a block holds these tables:

* **alone**: for each ordered pair of agents (i, j), one i against n - 1 j (for n = 2 the unordered pairs, each once);
* **mixed** (n > 2): all agents as evenly as n allows. With k >= n that is every choice of n different agents; otherwise
  each agent sits on n // k seats, and every choice of n mod k agents on one seat more.

A table is seated in a random order, drawn for each block, and played n times, turned by one seat each time: a *round*.
So within every block each agent sits on each seat equally often, and any two agents meet as often as any other two.

Games are numbered from 0. Table and seeds of a game depend on its number, the agents' count, the seats and the
schedule's seed alone: a tournament that was interrupted, or that is asked for more games later, knows what is missing.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, permutations

from kepler_envs.engine.seeds import check_seed, mix

SEED_BITS = 63
"""Seeds of games stay below 2**63, SQLite's largest integer."""


@dataclass(frozen=True)
class ScheduledGame:
    """One game to play: its number, the agent (an index) on each seat, its seed, and a seed for each agent's
    randomness."""

    number: int
    agents: tuple[int, ...]
    seed: int
    agent_seeds: tuple[int, ...]


@dataclass(frozen=True)
class Schedule:
    """All games of a tournament of ``agents`` agents (at least 2) at tables of ``seats`` seats (at least 2).

    Raises:
        ValueError: they are fewer, or the seed is not allowed.
    """

    agents: int
    seats: int
    seed: int

    def __post_init__(self) -> None:
        check_schedule(self.agents, self.seats, self.seed)

    @cached_property
    def compositions(self) -> tuple[tuple[int, ...], ...]:
        """The tables of a block: agents (indices) in ascending order, one per seat."""
        return compositions(self.agents, self.seats)

    @property
    def known(self) -> float:
        """The number of games whose tables are known: all of them."""
        return math.inf

    @property
    def block(self) -> int:
        """The number of games in a block."""
        return len(self.compositions) * self.seats

    def whole_rounds(self, games: int) -> int:
        """The smallest number of games, at least ``games`` (from 0 on), that fills whole blocks."""
        check_games(games)
        return -(-games // self.block) * self.block

    def __getitem__(self, number: int) -> ScheduledGame:
        """Game ``number``, counted from 0. Raises IndexError below."""
        check_number(number, self.known)
        block, place = divmod(number, self.block)
        table, turn = divmod(place, self.seats)
        seated = shuffled(self.compositions[table], f"{self.seed}/{block}/{table}")
        return scheduled_game(number, seated, turn, self.seed)


def check_schedule(agents: int, seats: int, seed: int) -> None:
    """Raise ValueError unless there can be a tournament of so many agents at tables of so many seats."""
    if agents < 2:
        raise ValueError(f"a tournament needs at least 2 agents, not {agents}")
    if seats < 2:
        raise ValueError(f"a table of a tournament needs at least 2 seats, not {seats}")
    check_seed(seed)


def check_games(games: int) -> None:
    """Raise ValueError unless there can be so many games."""
    if games < 0:
        raise ValueError(f"games = {games} is not allowed; allowed: an integer from 0 on")


def check_number(number: int, known: float) -> None:
    """Raise IndexError unless a schedule of which ``known`` games are known has a game of this number."""
    if not 0 <= number < known:
        allowed = "from 0 on" if known == math.inf else f"0..{known - 1}"
        raise IndexError(f"there is no game {number}; allowed: {allowed}")


def compositions(agents: int, seats: int) -> tuple[tuple[int, ...], ...]:
    """The tables of a block: agents (indices) in ascending order, one per seat."""
    alone = permutations if seats > 2 else combinations
    tables = [tuple(sorted((one, *[other] * (seats - 1)))) for one, other in alone(range(agents), 2)]
    if seats > 2:
        everybody = list(range(agents)) * (seats // agents)
        for extra in combinations(range(agents), seats % agents):
            tables.append(tuple(sorted((*everybody, *extra))))
    return tuple(tables)


def count_tables(agents: int, seats: int) -> int:
    """How many tables a block has."""
    alone = math.perm if seats > 2 else math.comb
    mixed = math.comb(agents, seats % agents) if seats > 2 else 0
    return alone(agents, 2) + mixed


def scheduled_game(number: int, seated: tuple[int, ...], turn: int, seed: int) -> ScheduledGame:
    """Game ``number`` of the schedule with ``seed``, at a table of agents ``seated`` so and then turned by ``turn``
    seats."""
    turned = seated[turn:] + seated[:turn]
    game_seed = _seed(seed, number)
    # an agent draws for all its seats from one generator, named by the first of them
    own = {agent: _seed(game_seed, 1 + turned.index(agent)) for agent in set(turned)}
    return ScheduledGame(number, turned, game_seed, tuple(own[agent] for agent in turned))


@lru_cache(maxsize=1024)  # asked for once per seat
def shuffled(table: tuple[int, ...], name: str) -> tuple[int, ...]:
    """A random order that is the same whenever it is asked for by this name."""
    seated = list(table)
    random.Random(name).shuffle(seated)
    return tuple(seated)


def stand_in_seed(game: ScheduledGame) -> int:
    """The seed of whoever plays on for agents that forfeited."""
    return _seed(game.seed, 0)


_mixed = lru_cache(maxsize=256)(mix)  # a schedule's and a game's own seed are asked for again and again


def _seed(seed: int, stream: int) -> int:
    """seeds.stream_seed, cut to SEED_BITS."""
    return mix(_mixed(seed) ^ stream) >> (64 - SEED_BITS)
