"""How many decisions MaskablePPO learns per second."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import kepler_envs
from benchmarks.sampling import Row, Settings, rates, ratio
from benchmarks.v0 import ABSENT, ROOT, Side, in_turn, old_checkout

NUM_ENVS, N_STEPS, BATCH_SIZE, EPOCHS = 64, 128, 512, 1
"""The defaults of ``python -m agents.train``: games side by side, decisions of each between two updates, decisions per
step of the optimiser, passes over each update."""


def learner(settings: Settings) -> list[Row]:
    """decisions that MaskablePPO learns per second, in compiled code and in PyTorch, with one thread and two"""
    if settings.ppo_steps == 0:
        return []
    rows = []
    for name in kepler_envs.list_games():
        players = kepler_envs.load_game(name).default_players
        what = f"{name}, MaskablePPO, {players} players"
        compiled = learning(name, players, True)
        samples = rates({"compiled": compiled, "pytorch": learning(name, players, False)}, settings, time.thread_time)
        times = ratio(samples, "compiled", "pytorch")
        value = f"{_thousands(samples['compiled'])} = {times:.1f} times as many as with PyTorch's own operations"
        rows.append(Row(f"{what}, 1 thread", value, ratio=times))
        both = rates({"two": learning(name, players, True, threads=2), "one": compiled}, settings, time.perf_counter)
        times = ratio(both, "two", "one")
        value = f"{_thousands(both['two'])} / {_thousands(both['one'])} = {times:.2f}"
        rows.append(Row(f"{what}, 2 threads against 1", value, ">= 1.6", times >= 1.6, times))
    return rows


AS_V0 = """
import sys
import torch
import kepler_envs
from agents.checkpoint import Network
from agents.views import view_of
from kepler_envs.adapters.sb3 import PiecePolicy, SharedMaskablePPO, SharedSeatVecEnv
game, players, games, steps, batch_size, epochs = sys.argv[1], *map(int, sys.argv[2:])
torch.set_num_threads(1)
torch.manual_seed(0)
batch = kepler_envs.make_batch(game, num_envs=games, num_players=players, seed=0)
view = view_of(batch.config.game.name)
network = Network(128, (128,), view.leave_out, view.anchor)
model = SharedMaskablePPO(
    PiecePolicy, SharedSeatVecEnv(batch), policy_kwargs=network.policy_kwargs(batch.config),
    n_steps=steps, batch_size=batch_size, n_epochs=epochs, seed=0, device="cpu",
)
def one_round():
    model.learn(games * steps, reset_num_timesteps=False)
"""
"""A process that learns as ``python -m agents.train`` did in v0, with its network for each game."""
V0_BATCH_SIZE, V0_EPOCHS = 2048, 3
"""The defaults of v0."""

AS_NOW = """
import sys
import torch
from benchmarks.learner import learning
torch.set_num_threads(1)
learn = learning(sys.argv[1], int(sys.argv[2]), True, **({"rows": 0} if sys.argv[3] == "flat" else {}))
def one_round():
    learn(1)
"""
"""A process that learns now, with a flat network or one that looks at rows."""

LEAST_AGAINST_V0 = {"flat": 3, "rows": 2}
"""How many times as fast as v0 a network of the same size should learn, and the one that is usual now."""
AGAINST_V0 = "players, against v0"
"""In the names of the rows of :func:`learner_against_v0`."""


def learner_against_v0(settings: Settings) -> list[Row]:
    """decisions that MaskablePPO learns per second, against v0"""
    if settings.ppo_steps == 0:
        return []
    rows = []
    with old_checkout() as checkout:
        for name in kepler_envs.list_games():
            rows += _against_v0(settings, name, kepler_envs.load_game(name).default_players, checkout)
    return rows


def _against_v0(settings: Settings, name: str, players: int, checkout: Path | None) -> list[Row]:
    what = f"{name}, MaskablePPO, {players} {AGAINST_V0}"
    if checkout is None:
        return [Row(f"{what}, {kind}", ABSENT, f">= {least}") for kind, least in LEAST_AGAINST_V0.items()]
    sizes = players, NUM_ENVS, N_STEPS, V0_BATCH_SIZE, V0_EPOCHS
    sides = [Side(AS_V0, (f"{name}-v0", *sizes), checkout)]
    sides += [Side(AS_NOW, (name, players, kind), ROOT) for kind in LEAST_AGAINST_V0]
    rounds, seconds = in_turn(sides, settings, settings.repetitions)
    decisions = rounds * NUM_ENVS * N_STEPS
    before, *after = ([decisions / one for one in side] for side in zip(*seconds, strict=True))
    rows = []
    for (kind, least), now in zip(LEAST_AGAINST_V0.items(), after, strict=True):
        times = ratio({"now": now, "v0": before}, "now", "v0")
        value = f"{_thousands(now)} against {_thousands(before)} = {times:.2f}"
        rows.append(Row(f"{what}, {kind}", value, f">= {least}", times >= least, times))
    return rows


SIZES = {64: (128, 32), 256: (512, 64)}
"""What a GPU is measured with: games side by side, to the network's width and what it says of a row. The first is what
``python -m agents.train`` learns by default."""


ROWS_ON_GPU = "GPU against 1 thread"
"""In the names of the rows of :func:`learner_on_gpu`."""


def learner_on_gpu(settings: Settings) -> list[Row]:
    """decisions that MaskablePPO learns per second on a GPU, and on one core"""
    import torch

    if settings.ppo_steps == 0 or not torch.cuda.is_available():
        return []
    rows = []
    for name in kepler_envs.list_games():
        players = kepler_envs.load_game(name).default_players
        for games, (width, said) in SIZES.items():
            learn = partial(learning, name, players, num_envs=games, width=width, hidden=(width,), rows=said)
            sides = {
                "gpu": learn(True, device="cuda"),
                "alone": learn(False, device="cuda"),
                "one": learn(True),
            }
            samples = rates(sides, settings, time.perf_counter)
            gpu, alone, one = (_thousands(samples[side]) for side in sides)
            times = ratio(samples, "gpu", "one")
            what = f"{name}, MaskablePPO, {players} players, {games} games, width {width}, {ROWS_ON_GPU}"
            rows.append(Row(what, f"{gpu} / {one} = {times:.2f}; {alone} if the GPU decides, too", ratio=times))
    return rows


def _thousands(values: list[float]) -> str:
    return f"{statistics.median(values) / 1e3:.1f} k decisions/s"


def learning(
    game: str,
    players: int,
    compiled: bool,
    threads: int = 1,
    num_envs: int = NUM_ENVS,
    **network: Any,
) -> Callable[[int], int]:
    """A function that plays and learns from about so many updates, and returns of how many decisions."""
    return partial(_learn, learning_model(game, players, compiled, num_envs=num_envs, **network), threads)


def learning_model(
    game: str, players: int, compiled: bool, device: str = "cpu", num_envs: int = NUM_ENVS, **network: Any
) -> Any:
    """MaskablePPO with the defaults of ``python -m agents.train``. ``network`` is what :func:`piece_policy` takes."""
    import torch  # here alone: the other parts do without it

    from kepler_envs.adapters.sb3 import PiecePolicy, SharedMaskablePPO, SharedSeatVecEnv, piece_policy

    torch.manual_seed(0)
    batch = kepler_envs.make_batch(game, num_envs, num_players=players, seed=0)
    return SharedMaskablePPO(
        PiecePolicy,
        SharedSeatVecEnv(batch),
        policy_kwargs=piece_policy(batch.config, compiled=compiled, **network),
        n_steps=N_STEPS,
        batch_size=BATCH_SIZE,
        n_epochs=EPOCHS,
        seed=0,
        device=device,
    )


def _learn(model: Any, threads: int, updates: int) -> int:
    import torch

    torch.set_num_threads(threads)
    before = model.num_timesteps
    model.learn(updates * model.n_envs * N_STEPS, reset_num_timesteps=False)
    return model.num_timesteps - before
