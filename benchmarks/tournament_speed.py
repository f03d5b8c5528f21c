"""Tournaments: games per second, schedule and ledger included."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import kepler_envs
from benchmarks.sampling import GAME, PLAYERS, Row, Settings, rates, ratio
from kepler_envs.tournament.ledger import Ledger
from kepler_envs.tournament.play import COMPILED_TOGETHER, Players
from kepler_envs.tournament.run import BATCH
from kepler_envs.tournament.schedule import Schedule


def tournament(settings: Settings) -> list[Row]:
    """a tournament's games per second against the batch's"""
    with tempfile.TemporaryDirectory(prefix="kepler_envs_tournament_") as folder:
        sides = {"tournament": tournament_side(Path(folder)), "batch": finished_games_side(GAME, 256, PLAYERS)}
        samples = rates(sides, settings, time.perf_counter)  # wall time: a ledger waits for the disk
    part = ratio(samples, "tournament", "batch")
    ours, theirs = (f"{statistics.median(samples[name]):,.0f}" for name in ("tournament", "batch"))
    what = "tournament, uniform against uniform, 1 process, with its ledger, against the batch from Python"
    return [Row(what, f"{ours} games/s / {theirs} games/s = {part:.2f}", ">= 0.5", part >= 0.5, part)]


def tournament_side(folder: Path) -> Callable[[int], int]:
    """Plays and writes scheduled games as ``kepler-envs tournament`` does, on and on."""
    players = Players(("uniform", "uniform"), kepler_envs.load_game(GAME).configure(PLAYERS))
    schedule, ledger = Schedule(2, PLAYERS, 0), Ledger(folder / "games.sqlite", {})
    together, played = BATCH * COMPILED_TOGETHER, 0

    def side(rounds: int) -> int:
        nonlocal played
        for _ in range(rounds):
            games = [schedule[number] for number in range(played, played + together)]
            for results in players.stream(games):
                ledger.add(results, "", "")
            played += together
        return rounds * together

    return side


def finished_games_side(game_name: str, games: int, players: int) -> Callable[[int], int]:
    """Steps a batch like ``batch_side``, but counts finished games."""
    batch = kepler_envs.make_batch(game_name, games, num_players=players, seed=1)

    def side(rounds: int) -> int:
        before = int(batch.episodes.sum())
        for _ in range(rounds):
            batch.step(batch.uniform())
        return int(batch.episodes.sum()) - before

    return side
