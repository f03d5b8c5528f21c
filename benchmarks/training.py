"""What the time of a training run goes into."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import kepler_envs
from benchmarks.learner import N_STEPS, NUM_ENVS, learning_model
from benchmarks.sampling import GAME, Row, Settings

BY_PART = "where its time goes"
"""In the names of the rows that say so."""


def training_share(settings: Settings) -> list[Row]:
    """what MaskablePPO's time goes into"""
    if settings.ppo_steps == 0:
        return []
    rows = []
    for name in kepler_envs.list_games():
        players = kepler_envs.load_game(name).default_players
        shares, rate = time_by_part(name, players, settings.ppo_steps)
        if name == GAME:
            value = f"{100 * shares['games']:.1f} % at {rate:.0f} decisions/s"
            share, what = shares["games"], "environment's share of MaskablePPO wall time, 64 games"
            rows.append(Row(what, value, "< 10 %", share < 0.1, share))
        parts = ", ".join(f"{part} {100 * share:.0f} %" for part, share in shares.items())
        rows.append(Row(f"{name}, MaskablePPO, {players} players, {BY_PART}", parts))
    return rows


def time_by_part(game: str, players: int, steps: int) -> tuple[dict[str, float], float]:
    """Train MaskablePPO on all seats for about ``steps`` decisions, with the defaults of ``python -m agents.train``.

    Returns:
        The shares of wall time, and decisions per second. ``games`` is what calls of the VecEnv take, and ``loops`` all
        that Stable-Baselines3 and its buffers do between compiled code and the optimizer.
    """
    from kepler_envs.adapters.pytorch import torch_threads  # here alone: the other parts do without it

    model = learning_model(game, players, compiled=True)
    learner, optimizer, spent = model.policy.learner, model.policy.optimizer, dict[str, float]()
    for part, owner, method in (
        ("gradients", learner, "learn"), ("answers", learner, "answer"), ("optimizer", optimizer, "step")
    ):  # fmt: skip
        spent[part] = 0.0
        setattr(owner, method, _timed(getattr(owner, method), part, spent))
    with torch_threads(1):
        model.learn(N_STEPS * NUM_ENVS)  # warms up
        before, done, in_games, start = dict(spent), model.num_timesteps, model.env.env_seconds, time.perf_counter()
        model.learn(steps, reset_num_timesteps=False)
        wall = time.perf_counter() - start
    shares = {part: (spent[part] - before[part]) / wall for part in spent}
    shares["games"] = (model.env.env_seconds - in_games) / wall
    return {**shares, "loops": 1 - sum(shares.values())}, (model.num_timesteps - done) / wall


def _timed(function: Callable[..., Any], part: str, spent: dict[str, float]) -> Callable[..., Any]:
    """The same function, whose time is added to ``spent[part]``."""

    def timed(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            spent[part] += time.perf_counter() - start

    return timed
