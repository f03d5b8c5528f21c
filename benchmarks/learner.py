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


def _thousands(values: list[float]) -> str:
    return f"{statistics.median(values) / 1e3:.1f} k decisions/s"


def learning(game: str, players: int, compiled: bool, threads: int = 1) -> Callable[[int], int]:
    """A function that plays and learns from about so many updates, and returns of how many decisions."""
    import torch  # here alone: the other parts do without it

    from kepler_envs.adapters.sb3 import PiecePolicy, SharedMaskablePPO, SharedSeatVecEnv, piece_policy

    torch.manual_seed(0)
    batch = kepler_envs.make_batch(game, NUM_ENVS, num_players=players, seed=0)
    network = {**piece_policy(batch.config), "compiled": compiled}
    model = SharedMaskablePPO(
        PiecePolicy,
        SharedSeatVecEnv(batch),
        policy_kwargs=network,
        n_steps=N_STEPS,
        batch_size=BATCH_SIZE,
        n_epochs=EPOCHS,
        seed=0,
    )
    return partial(_learn, model, threads)


def _learn(model: Any, threads: int, updates: int) -> int:
    import torch

    torch.set_num_threads(threads)
    before = model.num_timesteps
    model.learn(updates * NUM_ENVS * N_STEPS, reset_num_timesteps=False)
    return model.num_timesteps - before
