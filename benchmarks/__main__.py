"""The performance table: ``python -m benchmarks`` (all of it) or ``--quick`` (shorter samples).

Everything is measured in one run, the sides of a ratio in turn, and reported as medians; see README.md.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import tyro
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import kepler_envs
from benchmarks import c_anchor, loops, machine
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import record_array
from kepler_envs.engine.playout import playouts
from kepler_envs.engine.rng import GENERATOR
from kepler_envs.engine.snapshot import Snapshot

GAME = "kitten_adventurers"
LEAST_RATE = {
    "kepler_run": 3e6,
    "ad_astra": 1.5e6,
    "race_to_kepler": 1e6,
    "kepler_3042": 0.5e6,
}  # decisions a second, one thread, where GAME reaches its own target
PLAYERS = 4


@dataclass(frozen=True)
class Settings:
    """How long to measure, and what."""

    seconds: float = 0.4
    """CPU seconds of one sample."""
    repetitions: int = 7
    """Samples per quantity; the table has their median."""
    ppo_steps: int = 40_000
    """Decisions of the training run in which the environment's share is measured; 0 leaves the row out."""
    only: tuple[str, ...] = ()
    """Parts to measure, by name; all of them if left out."""
    quick: bool = False
    """Short samples, few repetitions: a look, not a measurement to quote."""


@dataclass(frozen=True)
class Row:
    what: str
    value: str
    target: str
    met: bool | None


def main() -> None:
    settings = tyro.cli(Settings, description=__doc__)
    if settings.quick:
        settings = replace(settings, seconds=0.1, repetitions=3, ppo_steps=min(settings.ppo_steps, 10_000))
    console = Console()
    console.print(machine.describe(), highlight=False)
    rows: list[Row] = []
    parts = chosen_parts(settings.only)
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("measuring", total=len(parts))
        for part in parts:
            progress.update(task, description=(part.__doc__ or "").partition("\n")[0])
            rows += part(settings)
            progress.advance(task)
    console.print(as_table(rows))


def chosen_parts(only: Sequence[str]) -> list[Callable[[Settings], list[Row]]]:
    """The parts with these names, or all of them."""
    parts = [
        engine_and_batch,
        threads,
        aec_loop,
        clone_cost,
        games_table,
        search_table,
        guided_search_table,
        tournament,
        start_up,
        training_share,
    ]
    known = {part.__name__: part for part in parts}
    if unknown := set(only) - set(known):
        sys.exit(f"there is no part {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    return [part for name, part in known.items() if name in only or not only]


def as_table(rows: list[Row]) -> Table:
    table = Table(title=f"kepler_envs {kepler_envs.__version__}, {GAME}, {PLAYERS} players unless said")
    for column in ("what", "measured", "target", ""):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(row.what, row.value, row.target, {True: "met", False: "MISSED", None: ""}[row.met])
    return table


# ---------------------------------------------------------------- sampling


def rates(
    sides: dict[str, Callable[[int], int]], settings: Settings, clock: Callable[[], float]
) -> dict[str, list[float]]:
    """Steps per second of each side, sampled in turn.

    ``sides`` maps a name to a function that makes about n rounds and returns the number of steps they were.
    """
    rounds = {name: _calibrate(side, settings.seconds, clock) for name, side in sides.items()}
    samples: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(settings.repetitions):
        for name, side in sides.items():
            start = clock()
            steps = side(rounds[name])
            samples[name].append(steps / (clock() - start))
    return samples


def _calibrate(side: Callable[[int], int], seconds: float, clock: Callable[[], float]) -> int:
    """Rounds that take about ``seconds``; warms the side up on the way."""
    rounds = 1
    while True:
        start = clock()
        side(rounds)
        took = clock() - start
        if took > seconds / 8:
            return max(1, round(rounds * seconds / took))
        rounds *= 4


def ratio(samples: dict[str, list[float]], one: str, other: str) -> float:
    """Median of the ratios of samples taken one after the other."""
    return statistics.median(a / b for a, b in zip(samples[one], samples[other], strict=True))


def millions(values: list[float]) -> str:
    return f"{statistics.median(values) / 1e6:.1f} M/s"


# ---------------------------------------------------------------- parts


def engine_side(game_name: str, games: int, players: int) -> Callable[[int], int]:
    """The compiled loop of loops.random_play over ``games`` games."""
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


def batch_side(game_name: str, games: int, players: int, threads: int = 1) -> Callable[[int], int]:
    """Batch.step from Python, actions by the compiled uniform pick over ``action_mask``."""
    batch = kepler_envs.make_batch(game_name, games, num_players=players, seed=1, threads=threads)

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
            Row("engine alone, 256 games, 1 thread", millions(samples["engine"]), absent, None),
            Row("batch from Python, 256 games, 1 thread", millions(samples["batch"]), absent, None),
        ]
    anchor.close()
    engine, batch = ratio(samples, "engine", "C"), ratio(samples, "batch", "C")
    return [
        Row("C anchor, 256 games, 1 thread", millions(samples["C"]), "", None),
        Row(
            "engine alone, 256 games, 1 thread",
            f"{millions(samples['engine'])} = {engine:.2f} of C",
            ">= 0.5 of C",
            engine >= 0.5,
        ),
        Row(
            "batch from Python, 256 games, 1 thread",
            f"{millions(samples['batch'])} = {batch:.2f} of C",
            ">= 0.35 of C",
            batch >= 0.35,
        ),
    ]


def threads(settings: Settings) -> list[Row]:
    """two threads against one"""
    if (os.cpu_count() or 1) < 2:
        return [Row("batch, 4096 games, 2 threads against 1", "one core only", ">= 1.7", None)]
    one, two = ScriptedBatch(4096, 1), ScriptedBatch(4096, 2)
    rounds = max(1, round(settings.seconds / one.seconds()))
    samples: dict[str, list[float]] = {"one": [], "two": []}
    for _ in range(settings.repetitions):
        for name, batch in (("one", one), ("two", two)):
            samples[name].append(rounds * batch.steps / sum(batch.seconds() for _ in range(rounds)))
    gain = ratio(samples, "two", "one")
    value = f"{millions(samples['two'])} / {millions(samples['one'])} = {gain:.2f}"
    return [Row("batch step, 4096 games, 2 threads against 1", value, ">= 1.7", gain >= 1.7)]


class ScriptedBatch:
    """Batch.step alone, with the actions of recorded play, so that only the step is timed and shared between threads."""

    def __init__(self, games: int, threads_used: int) -> None:
        self.batch = kepler_envs.make_batch(GAME, games, num_players=PLAYERS, seed=1, threads=threads_used)
        recorder = kepler_envs.make_batch(GAME, games, num_players=PLAYERS, seed=1)
        self.script = []
        for _ in range(128):
            self.script.append(recorder.uniform())
            recorder.step(self.script[-1])
        self.steps = games * len(self.script)

    def seconds(self) -> float:
        """Wall time of the script, played from the start."""
        self.batch.reset(1)
        start = time.perf_counter()
        for actions in self.script:
            self.batch.step(actions)
        return time.perf_counter() - start


def aec_loop(settings: Settings) -> list[Row]:
    """the AEC loop against connect four"""
    import pettingzoo

    envs = {
        "kepler": pettingzoo.make("aec", f"kepler/{GAME}-v0", num_players=PLAYERS),
        "connect four": pettingzoo.make("aec", "classic/connect_four-v3"),
    }
    samples = rates({name: aec_side(env) for name, env in envs.items()}, settings, time.thread_time)
    times = ratio(samples, "kepler", "connect four")
    ours, theirs = (statistics.median(samples[name]) / 1e3 for name in envs)
    value = f"{ours:.0f} k/s against {theirs:.0f} k/s = {times:.1f} times"
    return [Row("AEC last()/step() loop against PettingZoo connect_four", value, ">= 10 times", times >= 10)]


def aec_side(env: object) -> Callable[[int], int]:
    """Games of uniformly random legal play, chosen in the same way for every environment."""
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
            what, least = f"{name}, batch from Python, {players} players", LEAST_RATE.get(name)
            if least is None:
                rows.append(Row(what, millions(samples["batch"]), "", None))
            else:
                met = statistics.median(samples["batch"]) >= least
                rows.append(Row(what, millions(samples["batch"]), f">= {least / 1e6:g} M/s", met))
    return rows


def search_table(settings: Settings) -> list[Row]:
    """tree search against bare playouts"""
    from kepler_envs.bots.search import MctsConfig, make_searcher, playout_policy, tree_generators

    asked, rows = MctsConfig(iterations=200), []
    for name in kepler_envs.list_games():
        game = kepler_envs.load_game(name)
        position, policy = Snapshot.deal(game.configure(), 1), playout_policy(game, asked.playout)
        searcher = make_searcher(position.config, asked)
        generators = tree_generators(1, 1)

        def search(rounds: int, searcher=searcher, generators=generators, position=position) -> int:
            return sum(searcher.grow(position.states, generators)[0].simulated for _ in range(rounds))

        def bare(rounds: int, position=position, policy=policy) -> int:
            return int(playouts(position, 200 * rounds, 1, policy).lengths.sum())

        samples = rates({"search": search, "playouts": bare}, settings, time.thread_time)
        decisions = search(10) / 2000  # of an iteration
        rows.append(
            Row(
                f"{name}, tree search, {policy.name} playouts, {game.default_players} players",
                f"{statistics.median(samples['search']) / decisions:,.0f} iterations/s of {decisions:.0f} decisions, "
                f"{ratio(samples, 'search', 'playouts'):.2f} of the speed of bare playouts",
                "",
                None,
            )
        )
    return rows


def guided_search_table(settings: Settings) -> list[Row]:
    """tree search guided by networks, 64 positions side by side"""
    from agents.checkpoint import load_policy
    from agents.torch_network import TorchNetwork
    from kepler_envs.bots.networks import load_network
    from kepler_envs.bots.published import network_file
    from kepler_envs.bots.search import MctsConfig, make_searcher, tree_generators

    trees, asked, rows = 64, MctsConfig(iterations=20, network="ppo-v0"), []
    for name in kepler_envs.list_games():
        config = kepler_envs.load_game(name).configure()
        file = network_file(asked.network, config)
        if file is None:
            continue
        batch, generators = Batch(config, trees, 1), tree_generators(1, trees)
        searcher, network = make_searcher(config, asked), load_network(file, config)

        def search(rounds: int, searcher=searcher, batch=batch, generators=generators) -> int:
            for _ in range(rounds):
                searcher.grow(batch.states, generators)
            return rounds * trees * asked.iterations

        def ask(rounds: int, network=network, batch=batch) -> int:
            for _ in range(rounds * asked.iterations):
                network(batch.observation, batch.action_mask)
            return rounds * trees * asked.iterations

        pytorch = partial(ask, network=TorchNetwork(load_policy(file, config)))
        samples = rates({"search": search, "network": ask, "pytorch": pytorch}, settings, time.thread_time)
        rows.append(
            Row(
                f"{name}, tree search with ppo-v0, {config.num_players} players, {trees} positions side by side",
                f"{statistics.median(samples['search']):,.0f} iterations/s, {ratio(samples, 'search', 'network'):.2f} of the "
                f"speed of the network alone, which is {ratio(samples, 'network', 'pytorch'):.1f} times as fast as in PyTorch",
                "",
                None,
            )
        )
    return rows


def tournament(settings: Settings) -> list[Row]:
    """a tournament's games a second against the batch's"""
    with tempfile.TemporaryDirectory(prefix="kepler_envs_tournament_") as folder:
        sides = {"tournament": tournament_side(Path(folder)), "batch": finished_games_side(GAME, 256, PLAYERS)}
        samples = rates(sides, settings, time.perf_counter)  # wall time: a ledger waits for the disk
    part = ratio(samples, "tournament", "batch")
    ours, theirs = (f"{statistics.median(samples[name]):,.0f}" for name in ("tournament", "batch"))
    what = "tournament, uniform against uniform, 1 process, with its ledger, against the batch from Python"
    return [Row(what, f"{ours} games/s / {theirs} games/s = {part:.2f}", ">= 0.5", part >= 0.5)]


def tournament_side(folder: Path) -> Callable[[int], int]:
    """Scheduled games, played and written as ``python -m kepler_envs.tournament`` does, on and on."""
    from kepler_envs.tournament.ledger import Ledger
    from kepler_envs.tournament.play import Players
    from kepler_envs.tournament.run import BATCH, COMPILED_TOGETHER
    from kepler_envs.tournament.schedule import Schedule

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
    """As ``batch_side``; it counts the games that end."""
    batch = kepler_envs.make_batch(game_name, games, num_players=players, seed=1)

    def side(rounds: int) -> int:
        before = int(batch.episodes.sum())
        for _ in range(rounds):
            batch.step(batch.uniform())
        return int(batch.episodes.sum()) - before

    return side


def start_up(settings: Settings) -> list[Row]:
    """start-up of new processes, with an empty and with a full compile cache"""
    with tempfile.TemporaryDirectory(prefix="kepler_envs_cache_") as folder:
        cold = _first_step(folder)
        warm = [_first_step(folder) for _ in range(max(3, settings.repetitions))]
    median = statistics.median(run["first_step_s"] for run in warm)
    imported = statistics.median(run["import_s"] for run in warm)
    cold_value = f"{cold['first_step_s']:.1f} s"
    return [
        Row(
            "first AEC step after import, warm cache", f"{median:.2f} s (import {imported:.2f} s)", "< 1 s", median < 1
        ),
        Row("first AEC step, empty cache", cold_value, "< 15 s", cold["first_step_s"] < 15),
        *_cold_compile(),
    ]


def _first_step(cache_folder: str) -> dict[str, float]:
    environment = {**os.environ, "KEPLER_ENVS_CACHE_DIR": cache_folder}
    command = [sys.executable, "-m", "benchmarks.first_step", GAME]
    root = Path(__file__).parents[1]
    run = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def _cold_compile() -> list[Row]:
    """All kernels of a game into an empty cache, in a new process."""
    code = (
        "import time, sys; import kepler_envs; from kepler_envs.engine.warmup import compile_kernels, kernels; start = time.perf_counter(); "
        "compile_kernels(kernels(kepler_envs.load_game(sys.argv[1]))); print(time.perf_counter() - start)"
    )
    rows = []
    for name in kepler_envs.list_games():
        with tempfile.TemporaryDirectory(prefix="kepler_envs_cache_") as folder:
            environment = {**os.environ, "KEPLER_ENVS_CACHE_DIR": folder}
            command = [sys.executable, "-c", code, name]
            root = Path(__file__).parents[1]
            run = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=True)
        seconds = float(run.stdout)
        target = ("< 15 s", seconds < 15) if name == GAME else ("", None)
        rows.append(Row(f"{name}, cold compile of every kernel", f"{seconds:.1f} s", *target))
    return rows


def training_share(settings: Settings) -> list[Row]:
    """the environment's share of MaskablePPO training"""
    if settings.ppo_steps == 0:
        return []
    from benchmarks.training import environment_share

    share, rate = environment_share(GAME, PLAYERS, num_envs=64, steps=settings.ppo_steps)
    value = f"{100 * share:.1f} % at {rate:.0f} decisions/s"
    return [Row("environment's share of MaskablePPO wall time, 64 games", value, "< 10 %", share < 0.1)]


if __name__ == "__main__":
    main()
