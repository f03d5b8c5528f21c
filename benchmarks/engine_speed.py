"""Engine, batch and AEC environment: decisions per second, and the cost of copying a state."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import kepler_envs
from benchmarks import c_anchor, loops
from benchmarks.sampling import GAME, PLAYERS, Row, Settings, millions, rates, ratio
from kepler_envs.engine.game import record_array
from kepler_envs.engine.rng import GENERATOR
from kepler_envs.printable import counted

LEAST_RATE = {
    "kepler_run": 3e6,
    "ad_astra": 1.5e6,
    "race_to_kepler": 1e6,
    "kepler_3042": 0.5e6,
}
"""Decisions per second that each game should reach on one thread, when GAME reaches its own target."""


def engine_side(game_name: str, games: int, players: int) -> Callable[[int], int]:
    """The engine alone: ``loops.random_play`` over ``games`` games."""
    batch = kepler_envs.make_batch(game_name, games, num_players=players, seed=1)
    run = loops.random_play(batch.config.game)
    policy = record_array(np.zeros(games, GENERATOR))
    policy["rng"] = np.arange(games)

    def side(rounds: int) -> int:
        run(
            batch.states, batch.rows, batch.observation, batch.action_mask, batch.config.constants, policy, rounds,
        )  # fmt: skip
        return rounds * games

    return side


def batch_side(game_name: str, games: int, players: int) -> Callable[[int], int]:
    """``Batch.step`` from Python. ``Batch.uniform`` picks the actions from the masks."""
    batch = kepler_envs.make_batch(game_name, games, num_players=players, seed=1)

    def side(rounds: int) -> int:
        for _ in range(rounds):
            batch.step(batch.uniform())
        return rounds * games

    return side


def engine_and_batch(settings: Settings) -> list[Row]:
    """engine and batch against the C anchor"""
    sides = {"engine": engine_side(GAME, 256, PLAYERS), "batch": batch_side(GAME, 256, PLAYERS)}
    anchor = None
    if c_anchor.compiler() is not None:
        anchor = c_anchor.CAnchor(256, PLAYERS)

        def c_side(rounds: int) -> int:
            anchor.steps(rounds)
            return rounds * 256

        sides["C"] = c_side
    samples = rates(sides, settings, time.thread_time)
    if anchor is None:
        absent = "no C compiler here"
        return [
            Row("engine alone, 256 games, 1 thread", millions(samples["engine"]), absent),
            Row("batch from Python, 256 games, 1 thread", millions(samples["batch"]), absent),
        ]
    anchor.close()
    engine, batch = ratio(samples, "engine", "C"), ratio(samples, "batch", "C")
    return [
        Row("C anchor, 256 games, 1 thread", millions(samples["C"])),
        Row(
            "engine alone, 256 games, 1 thread",
            f"{millions(samples['engine'])} = {engine:.2f} of C",
            ">= 0.5 of C",
            engine >= 0.5,
            engine,
        ),
        Row(
            "batch from Python, 256 games, 1 thread",
            f"{millions(samples['batch'])} = {batch:.2f} of C",
            ">= 0.35 of C",
            batch >= 0.35,
            batch,
        ),
    ]


def threads(settings: Settings) -> list[Row]:
    """two threads against one"""
    if (os.cpu_count() or 1) < 2:
        return [Row("batch step, 4096 games, 2 threads against 1", "one core only", ">= 1.7")]
    one, two = ScriptedBatch(4096, 1), ScriptedBatch(4096, 2)
    rounds = max(1, round(settings.seconds / one.seconds()))
    samples: dict[str, list[float]] = {"one": [], "two": []}
    for _ in range(settings.repetitions):
        for name, batch in (("one", one), ("two", two)):
            samples[name].append(rounds * batch.steps / sum(batch.seconds() for _ in range(rounds)))
    gain = ratio(samples, "two", "one")
    value = f"{millions(samples['two'])} / {millions(samples['one'])} = {gain:.2f}"
    return [Row("batch step, 4096 games, 2 threads against 1", value, ">= 1.7", gain >= 1.7, gain)]


class ScriptedBatch:
    """``Batch.step`` with recorded actions, so that only the step is timed and shared between threads."""

    def __init__(self, games: int, threads_used: int) -> None:
        self.batch = kepler_envs.make_batch(GAME, games, num_players=PLAYERS, seed=1, threads=threads_used)
        recorder = kepler_envs.make_batch(GAME, games, num_players=PLAYERS, seed=1)
        self.script = []
        for _ in range(128):
            self.script.append(recorder.uniform())
            recorder.step(self.script[-1])
        self.steps = games * len(self.script)

    def seconds(self) -> float:
        """Wall time of playing the script once."""
        self.batch.reset(1)
        start = time.perf_counter()
        for actions in self.script:
            self.batch.step(actions)
        return time.perf_counter() - start


def aec_loop(settings: Settings) -> list[Row]:
    """the AEC loop against connect four"""
    import pettingzoo

    envs = {
        "kepler": pettingzoo.make("aec", f"kepler/{GAME}-v1", num_players=PLAYERS),
        "connect four": pettingzoo.make("aec", "classic/connect_four-v3"),
    }
    samples = rates({name: aec_side(env) for name, env in envs.items()}, settings, time.thread_time)
    times = ratio(samples, "kepler", "connect four")
    ours, theirs = (statistics.median(samples[name]) / 1e3 for name in envs)
    value = f"{ours:.0f} k/s against {theirs:.0f} k/s = {times:.1f} times as fast"
    return [Row("AEC last()/step() loop against PettingZoo connect_four", value, ">= 10 times", times >= 10, times)]


def aec_side(env: Any) -> Callable[[int], int]:
    """Uniformly random legal play, picked in the same way in every environment."""
    rng = np.random.default_rng(0)

    def side(rounds: int) -> int:
        steps = 0
        while steps < 50 * rounds:
            env.reset(seed=int(rng.integers(2**31)))
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                legal = observation["action_mask"].nonzero()[0]
                env.step(legal[rng.integers(legal.size)])
                steps += 1
        return steps

    return side


def clone_cost(settings: Settings) -> list[Row]:
    """copies of a state"""
    rows = []
    for label, count in (("in cache", 16), ("from 65,536 states", 65_536)):
        game = kepler_envs.load_game(GAME)
        source, ring, run = game.new_states(count), game.new_states(256), loops.clone(game)
        source.view(np.uint8)[:] = 1  # states never written to would share one page of zeros, which stays in the cache

        def side(rounds: int, source=source, ring=ring, run=run) -> int:
            run(source, ring, rounds * 1000)
            return rounds * 1000

        samples = rates({"clone": side}, settings, time.thread_time)
        nanoseconds = 1e9 / statistics.median(samples["clone"])
        what = f"clone of a state of {game.state.itemsize} bytes, {label}"
        rows.append(Row(what, f"{nanoseconds:.0f} ns", "< 1000 ns", nanoseconds < 1000))
    return rows


def games_table(settings: Settings) -> list[Row]:
    """every game's batch"""
    rows = []
    for name in kepler_envs.list_games():
        game = kepler_envs.load_game(name)
        for players in sorted({game.min_players, game.default_players, game.max_players}):
            samples = rates({"batch": batch_side(name, 256, players)}, settings, time.thread_time)
            what = f"{name}, batch from Python, {counted(players, 'player')}"
            least = LEAST_RATE.get(name)
            if least is None:
                rows.append(Row(what, millions(samples["batch"])))
            else:
                met = statistics.median(samples["batch"]) >= least
                rows.append(Row(what, millions(samples["batch"]), f">= {least / 1e6:g} M/s", met))
    return rows
