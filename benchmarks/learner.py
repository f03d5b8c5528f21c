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
    """decisions that MaskablePPO learns per second, with its network in compiled code and in PyTorch"""
    if settings.ppo_steps == 0:
        return []
    rows = []
    for name in kepler_envs.list_games():
        players = kepler_envs.load_game(name).default_players
        sides = {"compiled": learning(name, players, True), "pytorch": learning(name, players, False)}
        samples = rates(sides, settings, time.thread_time)
        value = f"{statistics.median(samples['compiled']) / 1e3:.1f} k decisions/s"
        times = ratio(samples, "compiled", "pytorch")
        rows.append(
            Row(
                f"{name}, MaskablePPO, {players} players, 1 thread",
                f"{value} = {times:.1f} times as many as with PyTorch's own operations",
                ratio=times,
            )
        )
    return rows


def learning(game: str, players: int, compiled: bool) -> Callable[[int], int]:
    """A function that plays and learns from about so many updates, and returns of how many decisions."""
    import torch  # here alone: the other parts do without it

    from kepler_envs.adapters.sb3 import PiecePolicy, SharedMaskablePPO, SharedSeatVecEnv, piece_policy

    torch.set_num_threads(1)
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
    model.learn(NUM_ENVS * N_STEPS)  # warms up
    return partial(_learn, model)


def _learn(model: Any, updates: int) -> int:
    before = model.num_timesteps
    model.learn(updates * NUM_ENVS * N_STEPS, reset_num_timesteps=False)
    return model.num_timesteps - before
