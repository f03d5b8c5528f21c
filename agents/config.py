"""What a training run is asked for, and what a checkpoint says about itself."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import os
import platform
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from agents.protocol import AgentError
from kepler_envs.engine.game import Configuration

FORMAT = "kepler-ppo-1"
"""The format of a checkpoint's description; raised when its meaning changes."""

DESCRIPTION = "description.json"
"""The description's name inside a checkpoint; a copy lies beside it for people."""

REWARD_OPTIONS = ("shaping", "reward_mode")
"""Options that change what play is paid, not the game: an agent may play where they differ from its training."""

BUDGET = ("steps", "minutes", "out", "eval_every", "eval_games", "threads")
"""Fields that may differ when a run is taken up again."""


@dataclass(frozen=True)
class TrainConfig:
    """Train a MaskablePPO agent for a game."""

    game: Annotated[str, tyro.conf.Positional] = "kitten_adventurers"
    """Name or id of the game."""
    out: Path | None = None
    """Folder of the run, runs/GAME-PLAYERSp-SEAT unless told. A run that is already there goes on where it was."""
    steps: int = 2_000_000
    """Decisions of the network to learn from, all games together."""
    minutes: float | None = None
    """Stop after this long, evaluations included, even if steps are left."""
    players: int | None = None
    """Seats; the game's default unless told."""
    option: tuple[str, ...] = ()
    """Options of the game, as name=value."""
    seed: int = 0
    """Of games, network and sampling. The same seed gives the same run on one thread."""
    seat: Literal["shared", "single"] = "shared"
    """shared: the network plays every seat and learns from all of them. single: one seat, the others are played by `opponent`."""
    opponent: str = "uniform"
    """For --seat single: the agent on all other seats (uniform, greedy, ppo:PATH)."""
    num_envs: int = 64
    """Games side by side."""
    n_steps: int = 128
    """Decisions in each of them between two updates."""
    batch_size: int = 2048
    """Decisions in a minibatch."""
    epochs: int = 3
    """Passes over the decisions of an update."""
    learning_rate: float = 1e-3
    """Of Adam, at the start."""
    final_learning_rate: float = 1e-4
    """At the end; linear between."""
    gamma: float = 1.0
    """Discount per own decision."""
    gae_lambda: float = 0.95
    """How far advantages look ahead."""
    clip_range: float = 0.2
    """Bound on the change of a probability in an update."""
    entropy: float = 0.005
    """Reward for undecided play."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    max_grad_norm: float = 0.5
    """Gradients are scaled down to this norm."""
    shaping: float = 0.1
    """Training aid: the game's option `shaping`, where it has one."""
    width: int = 128
    """Outputs of the first layer."""
    hidden: tuple[int, ...] = (128,)
    """Widths of further layers, separate for policy and value."""
    eval_every: int = 250_000
    """Decisions between two evaluations; each writes a checkpoint and a line of the learning curve."""
    eval_games: int = 200
    """Games of an evaluation against each opponent, rounded up to use every seat equally often."""
    eval_opponents: tuple[str, ...] = ("uniform", "greedy")
    """Agents to evaluate against, each on all other seats."""
    threads: int = 1
    """Threads of the network's arithmetic. Two help only on an otherwise idle machine."""

    def __post_init__(self) -> None:
        for name in ("steps", "num_envs", "n_steps", "batch_size", "epochs", "width", "eval_every", "eval_games", "threads"):
            if getattr(self, name) < 1:
                raise AgentError(f"--{name.replace('_', '-')} {getattr(self, name)} is not allowed; allowed: an integer from 1 on")
