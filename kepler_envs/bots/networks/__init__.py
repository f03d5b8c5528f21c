"""Agents that ask a trained network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Protocol

import numpy as np
import torch as th

from agents.checkpoint import load_policy
from agents.inference import CompiledNetwork, can_compile
from agents.protocol import AgentError, TrustedDecisions
from kepler_envs.adapters.sb3 import PiecePolicy
from kepler_envs.engine.game import Configuration

CHECKPOINTS = ("best.zip", "last.zip")
"""What a folder of a training run is searched for, in this order."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_U11, _U27, _U30, _U31 = (np.uint64(shift) for shift in (11, 27, 30, 31))


class PositionNetwork(Protocol):
    """What a network says of positions. Its answer about one depends on no other."""

    def __call__(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(priors float32 (N, A), 0 for what is illegal; returns float32 (N,) that it expects for the seat to move).

        Args:
            observations: int16 (N, D).
            masks: int8 (N, A).
        """


class NetworkAgent:
    """Plays what a network finds best, or draws from its probabilities. What is played in a row depends on no other row.

    Args:
        policy: the network; its weights are copied.
        deterministic: the most probable action; else a draw, from a generator that each row has for itself.
    """

    def __init__(self, policy: PiecePolicy, name: str = "network", deterministic: bool = True) -> None:
        self.name = name
        self.deterministic = deterministic
        self._network = position_network(policy)
        self._words = np.zeros(0, np.uint64)  # SplitMix64, one per row

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """See :meth:`Agent.start`."""
        missing = int(rows.max(initial=-1)) + 1 - len(self._words)
        if missing > 0:
            self._words = np.concatenate([self._words, np.zeros(missing, np.uint64)])
        self._words[rows] = seeds

    def act(self, decisions: TrustedDecisions) -> np.ndarray:
        """See :meth:`Agent.act`."""
        probabilities, _ = self._network(decisions.observation, decisions.action_mask)
        return probabilities.argmax(1) if self.deterministic else self._draw(probabilities, decisions.rows)

    def _draw(self, probabilities: np.ndarray, rows: np.ndarray) -> np.ndarray:
        if rows.max(initial=-1) >= len(self._words):
            raise AgentError(f"agent {self.name} is asked for row {rows.max()}, in which it has not been started")
        self._words[rows] += _GOLDEN
        word = self._words[rows]
        word = (word ^ (word >> _U30)) * _MIX_1
        word = (word ^ (word >> _U27)) * _MIX_2
        uniform = ((word ^ (word >> _U31)) >> _U11) * 2.0**-53
        return draw(probabilities, uniform)


def draw(probabilities: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """An action for each row: its probabilities (N, A), and a number (N,) uniform in [0, 1) that decides."""
    reached = probabilities.cumsum(1)
    return (reached <= (uniform * reached[:, -1])[:, None]).sum(1)


class TorchNetwork:
    """What a network says of positions, computed by PyTorch: see :class:`PositionNetwork`.

    Sums in another order differ in their last bits when a network is asked for another number of positions at a time, so it computes in
    double precision: two actions would have to be as good to one part in 10**13 to be swapped by that.
    """

    def __init__(self, policy: PiecePolicy) -> None:
        self._policy = deepcopy(policy).double()
        self._policy.set_training_mode(False)

    def __call__(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with th.no_grad(), one_thread():
            log_probs, values = self._policy.log_probs_and_values(th.as_tensor(observations), masks.astype(np.bool_))
        return log_probs.exp().float().numpy(), values.squeeze(1).float().numpy()


def position_network(policy: PiecePolicy) -> PositionNetwork:
    """A copy of a network to ask about positions: compiled, or where it has convolutions, by PyTorch."""
    return CompiledNetwork(policy) if can_compile(policy) else TorchNetwork(policy)


def load_network(path: Path, config: Configuration) -> PositionNetwork:
    """The network of a checkpoint, or of the best one in a folder; AgentError as :class:`PPOAgent`."""
    return position_network(load_policy(checkpoint_at(path), config))


def checkpoint_at(path: Path) -> Path:
    """The checkpoint a path stands for: itself, or the best one in the folder of a run."""
    return find_checkpoint(path) if path.is_dir() else path


class PPOAgent(NetworkAgent):
    """A checkpoint of ``python -m agents.train``.

    Args:
        path: the checkpoint, or the folder of its run (the best one in it is taken).
        config: the games to play.
        deterministic: see :class:`NetworkAgent`.

    Raises:
        AgentError: no such file, not a checkpoint, or one that was trained for another game, number of players or options.
    """

    def __init__(self, path: Path, config: Configuration, deterministic: bool = True) -> None:
        super().__init__(load_policy(checkpoint_at(path), config), f"ppo:{path}", deterministic)


def find_checkpoint(folder: Path) -> Path:
    """The checkpoint in the folder of a run."""
    for name in CHECKPOINTS:
        if (folder / name).is_file():
            return folder / name
    raise AgentError(f"there is no checkpoint in {folder}; looked for {', '.join(CHECKPOINTS)}")


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch compute on one thread: the few rows an agent asks about are not worth more, and sums keep their order."""
    threads = th.get_num_threads()
    th.set_num_threads(1)
    try:
        yield
    finally:
        th.set_num_threads(threads)
