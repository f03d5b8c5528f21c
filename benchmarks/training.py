"""The environment's share of a training run."""

from __future__ import annotations

import time

import kepler_envs
from benchmarks.sampling import GAME, PLAYERS, Row, Settings


def training_share(settings: Settings) -> list[Row]:
    """the environment's share of MaskablePPO training"""
    if settings.ppo_steps == 0:
        return []
    share, rate = environment_share(GAME, PLAYERS, num_envs=64, steps=settings.ppo_steps)
    value = f"{100 * share:.1f} % at {rate:.0f} decisions/s"
    return [Row("environment's share of MaskablePPO wall time, 64 games", value, "< 10 %", share < 0.1, share)]


def environment_share(game: str, players: int, num_envs: int, steps: int) -> tuple[float, float]:
    """Train MaskablePPO on all seats of ``num_envs`` games for about ``steps`` decisions.

    Returns:
        (share of wall time spent in calls of the VecEnv, decisions per second).
    """
    import torch  # here alone: the other parts do without it

    from kepler_envs.adapters.sb3 import PiecePolicy, SharedMaskablePPO, SharedSeatVecEnv, piece_policy

    torch.manual_seed(0)
    batch = kepler_envs.make_batch(game, num_envs, num_players=players, seed=0)
    env = SharedSeatVecEnv(batch)
    network = piece_policy(batch.config)
    model = SharedMaskablePPO(PiecePolicy, env, policy_kwargs=network, n_steps=128, batch_size=1024, seed=0)
    model.learn(128 * num_envs)  # warms up
    before, done, start = env.env_seconds, model.num_timesteps, time.perf_counter()
    model.learn(steps, reset_num_timesteps=False)
    wall = time.perf_counter() - start
    return (env.env_seconds - before) / wall, (model.num_timesteps - done) / wall
