"""``kepler-envs bench``: a quick look at how fast a game runs on this machine. Quote what benchmarks/ measures."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from rich.console import Console
from tyro.conf import Positional, arg

from kepler_envs import machine, registry
from kepler_envs.cli.common import UsageError, optional
from kepler_envs.engine.aec import KeplerEnv
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.playout import playouts
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.terminal import grid, say

PLAYOUTS_A_CALL = 64
ROUNDS_A_LOOK = 16
"""Rounds between two looks at the clock, so that looking costs nothing."""


@dataclass(frozen=True)
class Bench:
    """Measure quickly how fast games run on this machine, in one thread."""

    games: Annotated[Positional[tuple[str, ...]], optional(metavar="[GAME ...]")] = ()
    """Games to measure. All of them if left out."""
    players: Annotated[int | None, optional(metavar="N")] = None
    """Number of players. Each game's default if left out."""
    num_envs: Annotated[int, arg(metavar="N")] = 256
    """Number of games in the batch."""
    seconds: Annotated[float, arg(metavar="S")] = 2.0
    """How long to measure each row of the table."""

    def run(self, console: Console) -> int:
        if not 0 < self.seconds <= 3600:
            raise UsageError(f"--seconds {self.seconds:g} is not allowed; allowed: more than 0, at most 3600")
        games = [registry.load_game(name) for name in self.games] or registry.load_games()
        configs = [game.configure(self.players) for game in games]
        for line in machine.describe():
            say(console, line)
        console.print("one thread, uniformly random decisions")
        for config in configs:
            with console.status(f"measuring {config.game.id} ..."):
                rows = self._measure(config)
            console.print(grid(config.label, ("what", "measured", "unit"), rows, right=("measured",)))
        return 0

    def _measure(self, config: Configuration) -> list[tuple[str, str, str]]:
        batch = Batch(config, self.num_envs, seed=1)
        env = KeplerEnv(config)
        recorded = _random_games(env, 8)
        opening = Snapshot.deal(config, 1)

        def batch_round() -> int:
            batch.step(batch.uniform())
            return self.num_envs

        def aec_round() -> int:
            return sum(_play(env, seed, actions) for seed, actions in recorded)

        def playout_round() -> int:
            playouts(opening, PLAYOUTS_A_CALL, seed=1)
            return PLAYOUTS_A_CALL

        def clone_round() -> int:
            opening.clone()
            return 1

        steps = _rate(batch_round, self.seconds)
        turns = _rate(aec_round, self.seconds)
        games = _rate(playout_round, self.seconds)
        clones = _rate(clone_round, self.seconds)
        return [
            (f"Batch of {self.num_envs}: choose and step", f"{steps:,.0f}", "decisions/s"),
            ("AEC: last() and step()", f"{turns:,.0f}", "decisions/s"),
            ("playouts from the deal", f"{games:,.0f}", "games/s"),
            ("Snapshot.clone()", f"{1e6 / clones:.2f}", "us"),
        ]


def _rate(work: Callable[[], int], seconds: float) -> float:
    """Return how much gets done per second. Each call of ``work`` returns how much it did."""
    work()
    done, begun = 0, time.perf_counter()
    while True:
        for _ in range(ROUNDS_A_LOOK):
            done += work()
        passed = time.perf_counter() - begun
        if passed >= seconds:
            return done / passed


def _random_games(env: KeplerEnv, count: int) -> list[tuple[int, list[int]]]:
    """(seed, ids) of games of uniformly random decisions, so that choosing is not part of what is measured."""
    generator = np.random.default_rng(1)
    games = []
    for seed in range(count):
        env.reset(seed=seed)
        actions: list[int] = []
        while not env.terminations[env.agent_selection] and not env.truncations[env.agent_selection]:
            actions.append(int(generator.choice(env.legal_actions())))
            env.step(actions[-1])
        games.append((seed, actions))
    return games


def _play(env: KeplerEnv, seed: int, actions: list[int]) -> int:
    """Play a recorded game and return its number of decisions."""
    env.reset(seed=seed)
    for action in actions:
        env.last()
        env.step(action)
    return len(actions)
