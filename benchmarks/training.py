"""The environment's share of a training run."""

from __future__ import annotations

import time

from benchmarks.learner import N_STEPS, NUM_ENVS, learning_model
from benchmarks.sampling import GAME, PLAYERS, Row, Settings


def training_share(settings: Settings) -> list[Row]:
    """the environment's share of MaskablePPO training"""
    if settings.ppo_steps == 0:
        return []
    share, rate = environment_share(settings.ppo_steps)
    value = f"{100 * share:.1f} % at {rate:.0f} decisions/s"
    return [Row("environment's share of MaskablePPO wall time, 64 games", value, "< 10 %", share < 0.1, share)]


def environment_share(steps: int) -> tuple[float, float]:
    """Train MaskablePPO on all seats for about ``steps`` decisions, with the defaults of ``python -m agents.train``.

    Returns:
        (share of wall time spent in calls of the VecEnv, decisions per second).
    """
    from kepler_envs.adapters.pytorch import torch_threads  # here alone: the other parts do without it

    model = learning_model(GAME, PLAYERS, compiled=True)
    with torch_threads(1):
        model.learn(N_STEPS * NUM_ENVS)  # warms up
        before, done, start = model.env.env_seconds, model.num_timesteps, time.perf_counter()
        model.learn(steps, reset_num_timesteps=False)
        wall = time.perf_counter() - start
    return (model.env.env_seconds - before) / wall, (model.num_timesteps - done) / wall
