"""Tournaments on Ray and in processes, on the same cores: games per second, and how much one driver can handle."""

from __future__ import annotations

import pickle
import statistics
import time
from collections.abc import Callable

import kepler_envs
from benchmarks.sampling import Row, Settings, ratio
from kepler_envs.tournament.cluster import Cluster
from kepler_envs.tournament.play import Players
from kepler_envs.tournament.ray_workers import RayWorkers, Team, play_games
from kepler_envs.tournament.run import BATCH
from kepler_envs.tournament.schedule import Schedule
from kepler_envs.tournament.shipment import Shipment
from kepler_envs.tournament.workers import Workers

CORES = 2
SPECS = ("greedy", "uniform")
RUN = 15
"""A run takes this many times as long as other samples: its tasks first have to grow to their size, and the last of
them leave cores idle."""
TASKS = 2000
"""Empty tasks that measure the driver alone."""


def ray_tournament(settings: Settings) -> list[Row]:
    """a tournament's games per second on Ray against processes, both on two cores, without start-up"""
    with Cluster("local", CORES) as cluster:
        rows = [_game_row(name, cluster, settings) for name in kepler_envs.list_games()]
        return [*rows, *_driver_rows(cluster)]


def _game_row(name: str, cluster: Cluster, settings: Settings) -> Row:
    config = kepler_envs.load_game(name).configure()
    players = Players(SPECS, config)
    with Workers(players, CORES) as processes, RayWorkers(players, cluster, BATCH) as ray:
        sides = {"ray": _side(ray, config.num_players), "processes": _side(processes, config.num_players)}
        games = {side: _games_for(play, RUN * settings.seconds) for side, play in sides.items()}
        count = max(games.values())
        samples: dict[str, list[float]] = {side: [] for side in sides}
        for _ in range(max(3, settings.repetitions // 2)):
            for side, play in sides.items():
                samples[side].append(count / play(count))
    part = ratio(samples, "ray", "processes")
    ours, theirs = (statistics.median(samples[side]) for side in ("ray", "processes"))
    what = (
        f"{name}, {config.num_players} players: tournament of greedy and uniform "
        f"with --ray against processes, {CORES} cores"
    )
    return Row(what, f"{ours:,.0f} games/s / {theirs:,.0f} games/s = {part:.2f}", ">= 0.9", part >= 0.9, part)


def _side(workers: Workers | RayWorkers, seats: int) -> Callable[[int], float]:
    """A function that plays so many games, different ones each time, and returns the seconds they took."""
    schedule, played = Schedule(len(SPECS), seats, 0), 0

    def play(count: int) -> float:
        nonlocal played
        games = [schedule[number] for number in range(played, played + count)]
        played += count
        size = max(1, min(BATCH, -(-count // CORES)))
        began = time.perf_counter()
        for _ in workers.play([games[low : low + size] for low in range(0, count, size)]):
            pass
        return time.perf_counter() - began

    return play


def _games_for(play: Callable[[int], float], seconds: float) -> int:
    """How many games take about so long. The first ones start processes and compile."""
    count = 2 * BATCH
    play(count)
    while (took := play(count)) < seconds / 4:
        count *= 4
    return max(2 * BATCH, round(count * seconds / took))


def _driver_rows(cluster: Cluster) -> list[Row]:
    """How much the driver can send and receive, whatever the workers do."""
    began = time.perf_counter()
    done = sum(1 for _ in cluster.map(_nothing, None, iter(range(TASKS))))
    tasks = done / (time.perf_counter() - began)
    config = kepler_envs.load_game("kepler_3042").configure()
    team = Team(Shipment.pack(SPECS), config, None, False, None)
    schedule = Schedule(len(SPECS), config.num_players, 0)
    games = [schedule[number] for number in range(16)]
    sent = pickle.dumps(games)
    size = (len(sent) + len(play_games(team, [sent]).results[0])) / len(games)
    return [
        Row("Ray: empty tasks that one driver sends and receives", f"{tasks:,.0f} tasks/s"),
        Row("Ray: bytes per game, Kepler-3042, there and back", f"{size:,.0f} bytes"),
    ]


def _nothing(common: None, task: int) -> int:
    return task
