"""A tournament's games played by the workers of a cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from kepler_envs.engine.game import Configuration
from kepler_envs.tournament.cluster import Cluster
from kepler_envs.tournament.play import Chunk, Forfeit, GameResult, Players
from kepler_envs.tournament.schedule import ScheduledGame
from kepler_envs.tournament.shipment import Shipment
from kepler_envs.tournament.workers import Workers

SECONDS_A_TASK = 4.0
"""What a task should take: long beside sending it, short beside what is lost with a worker."""
FIRST_GAMES = 8
"""Of the first tasks, from which it is learned how long a game takes."""
GROWTH = 4
"""A task has at most so many times the games of those whose time is known."""


@dataclass(frozen=True)
class Team:
    """The bots of a tournament, and what they play: all that a worker needs to know."""

    bots: Shipment
    config: Configuration
    limit: float | None
    whole_games: bool
    memory: int | None


class RayWorkers:
    """Those who play, as :class:`~kepler_envs.tournament.workers.Workers`; the games are the same ones.

    Args:
        players: the bots. cluster: whose workers play. batch: most games of a task.
        watch: called about every second.
    """

    def __init__(
        self, players: Players, cluster: Cluster, batch: int, watch: Callable[[], None] = lambda: None
    ) -> None:
        self.players = players
        self.cluster = cluster
        self.watch = watch
        self._batch = batch
        self._here = Workers(players, 1)
        self._team = Team(
            Shipment.pack(players.specs), players.config, players.limit, players.whole_games, players.memory
        )

    @property
    def processes(self) -> int:
        """Workers there can be."""
        return max(1, self.cluster.cores)

    def __enter__(self) -> RayWorkers:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes of this machine; those of the cluster belong to it."""
        self._here.close()

    def play(self, chunks: Sequence[Chunk], stop: threading.Event | None = None) -> Iterator[list[GameResult]]:
        """As :meth:`Workers.play`; how many games are together is found out on the way."""
        for compiled in (True, False):
            games = [game for chunk in chunks for game in chunk if self.players.is_compiled(game) == compiled]
            tasks = _Tasks(games, self._batch * (GROWTH if compiled else 1), self.processes)
            for task, (results, seconds) in self.cluster.map(play_games, self._team, tasks, stop, self.watch):
                tasks.took(len(task), seconds)
                yield results

    def play_alone(self, game: ScheduledGame, careful: bool = False) -> tuple[list[int], GameResult]:
        """As :meth:`Workers.play_alone`, on this machine."""
        return self._here.play_alone(game, careful)


class _Tasks:
    """Games in tasks of about SECONDS_A_TASK, and in the end of fewer, so that all workers have something to do."""

    def __init__(self, games: Chunk, most: int, processes: int) -> None:
        self._games, self._most, self._processes = games, most, processes
        self._begun, self._size = 0, min(FIRST_GAMES, most)

    def __iter__(self) -> _Tasks:
        return self

    def __next__(self) -> Chunk:
        left = len(self._games) - self._begun
        if not left:
            raise StopIteration
        size = max(1, min(self._size, -(-left // self._processes)))
        task = self._games[self._begun : self._begun + size]
        self._begun += size
        return task

    def took(self, games: int, seconds: float) -> None:
        """A task of so many games took so long."""
        wanted = int(games * SECONDS_A_TASK / max(seconds, 1e-3))
        self._size = max(1, min(self._most, wanted, GROWTH * games if wanted > games else wanted))


# ---------------------------------------------------------------- in a worker

_here: dict[str, tuple[Workers, dict[str, str]]] = {}
"""Of the last team that played in this process: who plays, and the bots' specs by those they have here."""


def play_games(team: Team, games: Chunk) -> tuple[list[GameResult], float]:
    """(the results of these games, the seconds they took); bots are loaded with the first games."""
    workers, names = _workers_of(team)
    began = time.perf_counter()
    results = [_named(result, names) for some in workers.play([games]) for result in some]
    return results, time.perf_counter() - began


def _workers_of(team: Team) -> tuple[Workers, dict[str, str]]:
    key = f"{team.bots.key} {team.config.digest} {team.limit} {team.whole_games} {team.memory}"
    if key not in _here:
        for workers, _ in _here.values():
            workers.close()
        _here.clear()
        specs = team.bots.unpack()
        players = Players(specs, team.config, team.limit, team.whole_games, memory=team.memory)
        _here[key] = Workers(players, 1), dict(zip(specs, team.bots.specs, strict=True))
    return _here[key]


def _named(result: GameResult, names: dict[str, str]) -> GameResult:
    """With the bots' specs as they were asked for. Its decisions were checked here, and stay."""
    forfeits = tuple(Forfeit(names[one.agent], one.decision, one.reason, one.details) for one in result.forfeits)
    return replace(result, agents=tuple(names[agent] for agent in result.agents), forfeits=forfeits, course=None)
