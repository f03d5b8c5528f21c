"""Imitation: a network learns to predict what a teacher chooses, and what its games pay all seats.

positions = gather(config, bots.load("greedy", config), 200_000, seed=1)
report = imitate(policy.network, positions, epochs=12, minutes=15)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch as th
from torch.nn import functional as F

from kepler_envs.adapters.pytorch import CompiledLearner, PieceNetwork
from kepler_envs.bots.protocol import Bot, TrustedDecisions
from kepler_envs.engine.batch import SKIP, Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.seeds import opponent_seeds

NOISE = 0.1
"""Share of moves that are played at random, so that a network also sees what follows a mistake."""

LEARNING_RATE = 2e-3
FINAL_RATE = 0.05
"""Of the learning rate, at the end."""
VALUE_WEIGHT = 0.5
MOST_NORM = 1.0
"""Gradients are scaled down to this norm."""
MINIBATCH = 512
HELD_OUT = 20
"""Every so-manieth game is not learned from: predictions are measured on these."""
PILOT = 64
"""Games that are played to see how long they are."""


# ---------------------------------------------------------------- positions


@dataclass(frozen=True)
class Positions:
    """Decisions of a teacher, in the order they were made.

    Attributes:
        observation: int16 (M, D). mask: uint8 (M, A / 8 rounded up), action masks as ``np.packbits`` writes them.
        action: int16 (M,), the teacher's choice.
        returns: float32 (M, P), what the game paid in the end: the seat that decides first, then clockwise; NaN for seats it does not have.
        game: int64 (M,), a number for each game. actions: A.
    """

    observation: np.ndarray
    mask: np.ndarray
    action: np.ndarray
    returns: np.ndarray
    game: np.ndarray
    actions: int

    def __len__(self) -> int:
        return len(self.action)

    def masks(self, chosen: np.ndarray) -> np.ndarray:
        """bool (M, A) of these positions."""
        return np.unpackbits(self.mask[chosen], axis=1, count=self.actions).view(np.bool_)


def gather(
    config: Configuration, teacher: Bot, positions: int, noise: float = NOISE, seed: int = 0, envs: int = 1024
) -> Positions:
    """Decisions from games in which the teacher plays all seats.

    Games are played to their end, so that all of what they paid is known, and decisions of every phase are as frequent as in play. Those
    where only one action is legal are left out.

    Args:
        positions: how many. noise: share of moves that are uniformly random; what is learned there is still the teacher's choice.
        seed: of games and noise; games are those of this seed and the next ones. envs: games side by side.
    """
    random = np.random.default_rng([seed, 0x7EAC])
    envs = min(envs, positions)
    _, length = _play(config, teacher, min(envs, PILOT), seed, noise, 0.0, random)
    share = min(1.0, 1.1 * positions / (envs * length))
    rounds: list[Positions] = []
    while sum(len(one) for one in rounds) < positions:
        one, _ = _play(config, teacher, envs, seed + len(rounds), noise, share, random)
        rounds.append(replace(one, game=one.game + envs * len(rounds)))
    found = join(rounds)
    kept = np.sort(random.choice(len(found), positions, replace=False))
    return Positions(
        found.observation[kept], found.mask[kept], found.action[kept], found.returns[kept], found.game[kept], found.actions
    )  # fmt: skip


def _play(
    config: Configuration, teacher: Bot, games: int, seed: int, noise: float, share: float, random: np.random.Generator
) -> tuple[Positions, float]:
    """A share of the decisions of ``games`` whole games, and how many decisions a game has."""
    batch, rows, players = Batch(config, games, seed), np.arange(games), config.num_players
    teacher.start(rows, opponent_seeds(batch.seed))
    seen: list[tuple[np.ndarray, ...]] = []
    while rows.size:
        chosen = teacher.act(TrustedDecisions(batch, rows))
        taken = (random.random(rows.size) < share) & (batch.legal_count[rows] > 1)
        its = rows[taken]
        masks = np.packbits(batch.action_mask[its].view(np.bool_), axis=1)
        seen.append((batch.observation[its], masks, chosen[taken].astype(np.int16), its, batch.seat[its]))
        actions = np.full(games, SKIP, np.int64)
        actions[rows] = np.where(random.random(rows.size) < noise, batch.uniform()[rows], chosen)
        batch.step(actions)
        rows = np.flatnonzero(batch.episodes == 0)
    observation, mask, action, game, seat = (np.concatenate(part) for part in zip(*seen, strict=True))
    clockwise = (seat[:, None] + np.arange(players)) % players
    returns = batch.final_return[game[:, None], clockwise].astype(np.float32)
    found = Positions(observation, mask, action, returns, game, len(config.actions))
    return found, float(batch.final_length.mean())


def join(parts: Sequence[Positions]) -> Positions:
    """All of them one after the other; they may be of different numbers of players."""
    most = max(one.returns.shape[1] for one in parts)
    wide = [np.pad(one.returns, ((0, 0), (0, most - one.returns.shape[1])), constant_values=np.nan) for one in parts]
    names = ("observation", "mask", "action", "game")
    columns = {name: np.concatenate([getattr(one, name) for one in parts]) for name in names}
    return Positions(**columns, returns=np.concatenate(wide), actions=parts[0].actions)


# ---------------------------------------------------------------- learning


class Imitation:
    """A network that learns from positions, as many at a time as asked.

    Args:
        network: learns. positions: of a teacher. seed: of the order in which they are shown.
        value_weight: of the squared error of the returns, beside the cross-entropy of the choices.
    """

    def __init__(
        self, network: PieceNetwork, positions: Positions, seed: int = 0, value_weight: float = VALUE_WEIGHT
    ) -> None:
        self.network, self.positions, self.seed, self.value_weight = network, positions, seed, value_weight
        held_out = positions.game % HELD_OUT == HELD_OUT - 1
        self.learned_from, self.held_out = np.flatnonzero(~held_out), np.flatnonzero(held_out)
        if not len(self.learned_from):
            raise ValueError("there are no positions to learn from")
        self._learner = CompiledLearner(network)
        self.optimizer = th.optim.Adam(network.parameters(), fused=True)
        self.shown = 0
        self._epoch, self._order = -1, self.learned_from

    @property
    def epochs(self) -> float:
        """How often each position was shown so far."""
        return self.shown / len(self.learned_from)

    def learn(self, positions: int, rate: float) -> tuple[float, float]:
        """Show the next positions in minibatches; (mean surprise in nats, mean squared error of the returns).

        Args:
            rate: of Adam.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        chosen = self._next(positions)
        parts = np.array_split(chosen, max(1, round(len(chosen) / MINIBATCH)))
        losses = [self._step(part) for part in parts]
        self.shown += positions
        return tuple(np.mean(losses, axis=0).tolist())

    def _next(self, count: int) -> np.ndarray:
        """The next positions of endless passes, each in an order of its own."""
        every, chosen, shown = len(self.learned_from), [], self.shown
        while count > 0:
            epoch, first = divmod(shown, every)
            if epoch != self._epoch:
                self._epoch = epoch
                self._order = np.random.default_rng([self.seed, epoch]).permutation(self.learned_from)
            part = self._order[first : first + count]
            chosen.append(part)
            shown, count = shown + len(part), count - len(part)
        return np.concatenate(chosen)

    def _step(self, chosen: np.ndarray) -> tuple[float, float]:
        known = self.positions
        actions = known.action[chosen].astype(np.int64)
        log_probs, _, values = self._learner.judge(known.observation[chosen], known.masks(chosen), actions)
        surprise = -log_probs.mean()
        returns = th.as_tensor(known.returns[chosen])
        told = ~returns.isnan()
        error = F.mse_loss(values[:, : returns.shape[1]][told], returns[told])
        self.optimizer.zero_grad()
        (surprise + self.value_weight * error).backward()
        th.nn.utils.clip_grad_norm_(self.network.parameters(), MOST_NORM)
        self.optimizer.step()
        return surprise.item(), error.item()

    def measure(self) -> tuple[float, float]:
        """On positions of games that it does not learn from: (share of the teacher's choices it predicts, squared error of the returns)."""
        right, errors = [], []
        for chosen in (
            np.array_split(self.held_out, -(-len(self.held_out) // (4 * MINIBATCH))) if len(self.held_out) else ()
        ):
            priors, values = self._learner.answer(self.positions.observation[chosen], self.positions.masks(chosen))
            right.append(priors.argmax(1) == self.positions.action[chosen])
            returns = self.positions.returns[chosen]
            errors.append(((values[:, : returns.shape[1]] - returns) ** 2).ravel())
        if not right:
            return float("nan"), float("nan")
        return float(np.concatenate(right).mean()), float(np.nanmean(np.concatenate(errors)))

    def state(self) -> dict[str, Any]:
        """What it takes to go on with the same network and positions."""
        return {"optimizer": self.optimizer.state_dict(), "shown": self.shown}

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from a :meth:`state`."""
        self.optimizer.load_state_dict(state["optimizer"])
        self.shown = state["shown"]


@dataclass(frozen=True)
class Report:
    """How an imitation went: on positions of games it did not learn from, the share of choices predicted and the squared error of returns."""

    accuracy: float
    value_error: float
    positions: int
    held_out: int
    epochs: float
    seconds: float


def rate_at(progress: float, rate: float = LEARNING_RATE) -> float:
    """The learning rate, which falls evenly to FINAL_RATE of it."""
    return rate * (1 - (1 - FINAL_RATE) * min(1.0, progress))


def imitate(
    network: PieceNetwork,
    positions: Positions,
    epochs: float = 12,
    minutes: float | None = None,
    seed: int = 0,
    learning_rate: float = LEARNING_RATE,
    value_weight: float = VALUE_WEIGHT,
    watch: Callable[[float, float, float], None] | None = None,
) -> Report:
    """Let a network learn from positions.

    Args:
        epochs: how often each is shown. minutes: if that would take longer, they are shown less often.
        watch: is told how much is done (0..1), surprise (nats) and squared error of the returns, about every 10,000 positions.

    Returns:
        What it has learned. With the same seed, and ``minutes`` None, the network is the same.
    """
    began, done = time.perf_counter(), 0.0
    network.train()
    learner = Imitation(network, positions, seed, value_weight)
    whole = max(1, round(epochs * len(learner.learned_from)))
    while done < 1:
        surprise, error = learner.learn(min(20 * MINIBATCH, whole - learner.shown), rate_at(done, learning_rate))
        done = learner.shown / whole
        if minutes is not None:
            done = max(done, (time.perf_counter() - began) / (60 * minutes))
        if watch is not None:
            watch(min(1.0, done), surprise, error)
    accuracy, value_error = learner.measure()
    return Report(
        accuracy, value_error, len(learner.learned_from), len(learner.held_out), learner.epochs, time.perf_counter() - began
    )  # fmt: skip
