"""How many decisions MaskablePPO learns per second."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import kepler_envs
from benchmarks.sampling import Row, Settings, rates, ratio

NUM_ENVS, N_STEPS, BATCH_SIZE, EPOCHS = 64, 128, 2048, 3
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
