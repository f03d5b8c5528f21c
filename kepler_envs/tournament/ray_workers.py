"""Playing a tournament's games in the workers of a cluster."""

from __future__ import annotations

import pickle
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from kepler_envs.engine.game import Configuration
from kepler_envs.tournament.cluster import Cluster
from kepler_envs.tournament.play import COMPILED_TOGETHER, Chunk, Forfeit, GameResult, Players
from kepler_envs.tournament.schedule import ScheduledGame
from kepler_envs.tournament.shipment import Shipment
from kepler_envs.tournament.workers import Workers

SECONDS_A_TASK, LEAST_SECONDS = 2.0, 0.1
"""What a task should take: long beside sending it, short beside what is lost with a worker. In the end tasks become
shorter, down to the second number, so that no worker waits long for the last one."""
FIRST_GAMES = 8
"""Of the first tasks, from which it is learned how long a game takes."""
GROWTH = 8
"""A task has at most so many times the games of one whose time is known."""


@dataclass(frozen=True)
class Team:
    """The bots of a tournament and what they play: everything that a worker needs to know."""

    bots: Shipment
    config: Configuration
    limit: float | None
    whole_games: bool
    memory: int | None


@dataclass(frozen=True)
class PlayedTask:
    """The results of a task: chunks, each a pickled list of GameResult; how many games they are; and the seconds that
    they took."""

    results: list[bytes]
    games: int
    seconds: float


class RayWorkers:
    """Those who play, as :class:`~kepler_envs.tournament.workers.Workers`; the games are the same ones.

    Args:
        players: the bots. cluster: whose workers play. batch: most games that a worker plays side by side.

    Attributes:
        watch: called about every second; does nothing unless it is set.
    """

    def __init__(self, players: Players, cluster: Cluster, batch: int) -> None:
        self.players = players
        self.cluster = cluster
        self.watch: Callable[[], None] = lambda: None
        self._here = Workers(players, 1)
        shipped = Shipment.pack(players.specs)
        self._team = Team(shipped, players.config, players.limit, players.whole_games, players.memory)
        self._batch = batch
        self._paces = {True: Pace(), False: Pace()}  # of games of compiled policies, and of others

    @property
    def processes(self) -> int:
        """The number of workers there can be."""
        return max(1, self.cluster.cores)

    def __enter__(self) -> RayWorkers:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes of this machine. Those of the cluster belong to the cluster."""
        self._here.close()

    def play(self, chunks: Sequence[Chunk], stop: threading.Event | None = None) -> Iterator[list[GameResult]]:
        """Play as :meth:`Workers.play` does. How many games go together is found out on the way."""
        for compiled, pace in self._paces.items():
            games = [game for chunk in chunks for game in chunk if self.players.is_compiled(game) == compiled]
            together = self._batch * (COMPILED_TOGETHER if compiled else 1)
            tasks = (_pickled(task, together) for task in _tasks(games, pace, lambda: self.processes))
            for _, played in self.cluster.map(play_games, self._team, tasks, stop, self.watch):
                pace.took(played.games, played.seconds)
                yield from map(pickle.loads, played.results)

    def play_alone(self, game: ScheduledGame, careful: bool = False) -> tuple[list[int], GameResult]:
        """Play as :meth:`Workers.play_alone` does, on this machine."""
        return self._here.play_alone(game, careful)


class Pace:
    """How many games a task should have, judged by how long games have taken."""

    def __init__(self) -> None:
        self.games, self.least = FIRST_GAMES, 1

    def took(self, games: int, seconds: float) -> None:
        """Note that a task of that many games took that long."""
        a_second = games / max(seconds, 1e-4)
        self.games = max(1, min(int(SECONDS_A_TASK * a_second), GROWTH * games))
        self.least = max(1, min(int(LEAST_SECONDS * a_second), self.games))


def _tasks(games: Chunk, pace: Pace, processes: Callable[[], int]) -> Iterator[Chunk]:
    """The games in tasks: half of what is left shared between all, but not more or less than the pace allows."""
    begun = 0
    while begun < len(games):
        share = -(-(len(games) - begun) // (2 * processes()))
        size = min(pace.games, max(pace.least, share))
        yield games[begun : begun + size]
        begun += size


def _pickled(games: Chunk, together: int) -> list[bytes]:
    """Chunks of so many games, each pickled by itself.

    Ray's own pickler asks Python about each object, which takes as long as a game. And a list of ten thousand games
    keeps Python's garbage collector busy for as long again.
    """
    return [pickle.dumps(games[low : low + together]) for low in range(0, len(games), together)]


# ---------------------------------------------------------------- in a worker

_here: dict[str, tuple[Workers, dict[str, str]]] = {}
"""Of the last team that played in this process: who plays, and the bots' specs by those they have here."""


def play_games(team: Team, chunks: list[bytes]) -> PlayedTask:
    """Play pickled chunks of games, each side by side. Bots are loaded with the first ones."""
    workers, names = _workers_of(team)
    began, played, count = time.perf_counter(), [], 0
    renamed = any(here != asked for here, asked in names.items())
    for chunk in chunks:
        games: Chunk = pickle.loads(chunk)
        results = [_without_course(result) for some in workers.play([games]) for result in some]
        if renamed:
            results = [_named(result, names) for result in results]
        played.append(pickle.dumps(results))
        count += len(results)
    return PlayedTask(played, count, time.perf_counter() - began)


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


def _without_course(result: GameResult) -> GameResult:
    """Without its decisions, which were checked here. Most have none, and copies take time."""
    return result if result.course is None else replace(result, course=None)


def _named(result: GameResult, names: dict[str, str]) -> GameResult:
    """With the bots' specs as they were asked for."""
    forfeits = tuple(Forfeit(names[one.agent], one.decision, one.reason, one.details) for one in result.forfeits)
    return replace(result, agents=tuple(names[agent] for agent in result.agents), forfeits=forfeits)
