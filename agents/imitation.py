"""Imitation: a network learns to predict what a teacher chooses, and what its games pay all seats.

positions = gather(config, bots.load("greedy", config), 200_000, seed=1)
report = imitate(policy.network, positions, epochs=12, minutes=15)
"""

from __future__ import annotations

import io
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch as th

from agents.positions import NOBODY, Kept, Positions, join
from agents.settings import TrainConfig
from kepler_envs.adapters.pytorch import Goal, PieceNetwork, learner_of, torch_threads
from kepler_envs.bots.protocol import Bot, TrustedDecisions
from kepler_envs.engine.batch import SKIP, Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.seeds import opponent_seeds, stream_seed

NOISE = TrainConfig.teacher_noise
"""Default share of random moves, so that a network also sees what follows a mistake."""

LEARNING_RATE = TrainConfig.teacher_learning_rate
FINAL_RATE = 0.05
"""Learning rate at the end, as a share of that at the start."""
VALUE_WEIGHT = TrainConfig.value_weight
MOST_NORM = 1.0
"""Maximum norm of the gradients."""
MINIBATCH = 512
PILOT = 64
"""Games played to learn how long games are."""
FEWEST_KEPT_OF = 4
"""Decisions played for one that is kept, if there are games enough for that. Positions of many games differ more than
positions of few, but a teacher that searches takes its time for each."""


# ---------------------------------------------------------------- positions


def gather(
    config: Configuration,
    teacher: Bot,
    positions: int,
    noise: float = NOISE,
    seed: int = 0,
    envs: int = 1024,
    below: Bot | None = None,
) -> Positions:
    """Decisions from games in which the teacher plays all seats.

    Games are played to their end, so that their returns are known and every phase is as frequent as in play. Decisions
    with a single legal action are left out.

    Args:
        positions: how many decisions. noise: share of uniformly random moves; what is learned there is still the
            teacher's choice.
        seed: of the noise, and of the batch of games. envs: the most games in parallel.
        below: the bot that the network is over, whose choices are kept, too. It may be the teacher.

    Raises:
        ValueError: ``positions`` is below 1, or ``noise`` not in 0..1.
    """
    if not (positions >= 1 and 0 <= noise <= 1):
        raise ValueError(
            f"positions = {positions}, noise = {noise} is not allowed; allowed: positions from 1 on, noise in 0..1"
        )
    random = np.random.default_rng([seed, 0x7EAC])
    envs = min(envs, positions)
    _, length = _play(config, teacher, min(envs, PILOT), seed, noise, 0.0, random)
    envs = min(envs, max(PILOT, round(FEWEST_KEPT_OF * positions / length)))
    share = min(1.0, 1.1 * positions / (envs * length))
    rounds: list[Positions] = []
    while sum(len(one) for one in rounds) < positions:
        deals = stream_seed(seed, len(rounds)) if rounds else seed  # seed + 1 may be that of another run
        one, _ = _play(config, teacher, envs, deals, noise, share, random, below)
        rounds.append(one)
    found = join(rounds)
    return found.take(np.sort(random.choice(len(found), positions, replace=False)))


def _play(
    config: Configuration,
    teacher: Bot,
    games: int,
    seed: int,
    noise: float,
    share: float,
    random: np.random.Generator,
    below: Bot | None = None,
) -> tuple[Positions, float]:
    """Decisions of ``games`` whole games, a share of all, and the mean number of decisions per game."""
    batch, rows = Batch(config, games, seed), np.arange(games)
    teacher.start(rows, opponent_seeds(batch.seed))
    if below is not None and below is not teacher:
        below.start(rows, ~opponent_seeds(batch.seed))  # as training does
    kept = Kept(batch)
    while rows.size:
        chosen = teacher.act(TrustedDecisions(batch, rows))
        told = _told(below, teacher, chosen, TrustedDecisions(batch, rows))
        taken = (random.random(rows.size) < share) & (batch.legal_count[rows] > 1)
        kept.add(rows[taken], chosen[taken, None], np.ones((int(taken.sum()), 1), np.float32), told[taken])
        actions = np.full(games, SKIP, np.int64)
        actions[rows] = np.where(random.random(rows.size) < noise, batch.uniform()[rows], chosen)
        batch.step(actions)
        rows = np.flatnonzero(batch.episodes == 0)
    return kept.positions(), float(batch.final_length.mean())


def _told(below: Bot | None, teacher: Bot, chosen: np.ndarray, decisions: TrustedDecisions) -> np.ndarray:
    """What the bot below would do, (M,). If it is the teacher, that is what it chose: asked again, it could differ."""
    if below is None:
        return np.full(len(chosen), NOBODY)
    return chosen if below is teacher else below.act(decisions)


# ---------------------------------------------------------------- learning


class Imitation:
    """A network that learns from positions, as many at a time as asked.

    Args:
        network: the network. positions: of a teacher. seed: of the order in which they are shown.
        value_weight: weight of the squared error of the returns, beside the cross-entropy of the choices.

    Raises:
        ValueError: there are no positions to learn from.
    """

    def __init__(
        self, network: PieceNetwork, positions: Positions, seed: int = 0, value_weight: float = VALUE_WEIGHT
    ) -> None:
        self.network, self.positions, self.seed, self.value_weight = network, positions, seed, value_weight
        self._over = network.inputs.shape.over
        self.learned_from, self.held_out = np.flatnonzero(~positions.held_out), np.flatnonzero(positions.held_out)
        if not len(self.learned_from):
            raise ValueError("there are no positions to learn from")
        self._learner = learner_of(network)
        self.optimizer = th.optim.Adam(network.parameters(), fused=True)
        self.shown = 0
        self._epoch, self._order = -1, self.learned_from

    @property
    def epochs(self) -> float:
        """How often each position was shown so far."""
        return self.shown / len(self.learned_from)

    def learn(self, positions: int, rate: float) -> tuple[float, float]:
        """Show the next positions in minibatches.

        Args:
            rate: learning rate of Adam.

        Returns:
            (mean surprise in nats, mean squared error of the returns).
        """
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        chosen = self._next(positions)
        parts = np.array_split(chosen, max(1, round(len(chosen) / MINIBATCH)))
        losses = [self._step(part) for part in parts]
        self.shown += positions
        return tuple(np.mean(losses, axis=0).tolist())

    def _next(self, count: int) -> np.ndarray:
        """The next positions of endless passes, each pass in an order of its own."""
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
        actions, shares = known.actions[chosen], known.shares[chosen]
        goal = Goal(known.returns[chosen], self.value_weight)
        told, _, values = self._learner.learn(
            known.seen(chosen, self._over), known.masks(chosen), actions, goal, shares
        )
        self._learner.clip_gradients(MOST_NORM)
        with torch_threads(1):
            self.optimizer.step()
        errors = (values[:, : goal.returns.shape[1]] - goal.returns) ** 2
        return float(-told.sum() * goal.policy_rate(shares)), _mean_known(errors)

    def measure(self) -> tuple[float, float]:
        """Measure on positions of games that it does not learn from.

        Returns:
            (share of the teacher's choices predicted, squared error of the returns). NaN where there is nothing to
            measure.
        """
        right, errors = [], []
        for chosen in (
            np.array_split(self.held_out, -(-len(self.held_out) // (4 * MINIBATCH))) if len(self.held_out) else ()
        ):
            known = self.positions
            priors, values = self._learner.answer(known.seen(chosen, self._over), known.masks(chosen))
            asked = known.shares[chosen, 0] > 0
            right.append((priors.argmax(1) == known.action[chosen])[asked])
            returns = known.returns[chosen]
            errors.append(((values[:, : returns.shape[1]] - returns) ** 2).ravel())
        if not right:
            return float("nan"), float("nan")
        return _mean_known(np.concatenate(right)), _mean_known(np.concatenate(errors))

    def state(self) -> dict[str, Any]:
        """Everything needed to continue with the same network and positions."""
        return {"optimizer": self.optimizer.state_dict(), "shown": self.shown}

    def load_state(self, state: dict[str, Any]) -> None:
        """Continue from a :meth:`state`."""
        self.optimizer.load_state_dict(state["optimizer"])
        self.shown = state["shown"]


def _mean_known(numbers: np.ndarray) -> float:
    """The mean of those that are not NaN; NaN if there are none, without NumPy's warning."""
    return float("nan") if np.isnan(numbers).all() else float(np.nanmean(numbers))


def packed(state: dict[str, Any]) -> bytes:
    """A :meth:`Imitation.state` as bytes. Tensors that are pickled can be read only where their device exists."""
    buffer = io.BytesIO()
    th.save(state, buffer)
    return buffer.getvalue()


def unpacked(state: bytes) -> dict[str, Any]:
    """The :meth:`Imitation.state` of these bytes, on the processor. Loading it moves it to the network's device."""
    return th.load(io.BytesIO(state), map_location="cpu", weights_only=True)


@dataclass(frozen=True)
class Report:
    """Results of an imitation, on games it did not learn from: share of choices predicted, squared error of returns."""

    accuracy: float
    value_error: float
    positions: int
    held_out: int
    epochs: float
    seconds: float


def rate_at(progress: float, rate: float = LEARNING_RATE) -> float:
    """The learning rate, which falls linearly to FINAL_RATE of its first value."""
    return rate * (1 - (1 - FINAL_RATE) * min(1.0, progress))


def imitate(
    network: PieceNetwork,
    positions: Positions,
    epochs: float = 12,
    minutes: float | None = None,
    seed: int = 0,
    learning_rate: float = LEARNING_RATE,
    watch: Callable[[float, float, float], None] | None = None,
) -> Report:
    """Let a network learn from positions.

    Args:
        epochs: how often each is shown. minutes: a limit; positions are shown less often if it would take longer.
        watch: called about every 10,000 positions with the share done (0..1), the surprise (nats) and the squared error
            of the returns.

    Returns:
        What the network has learned. With the same seed, and ``minutes`` None, the network is the same.

    Raises:
        ValueError: there are no positions to learn from, or ``epochs`` or ``minutes`` is no number above 0.
    """
    if not (0 < epochs < math.inf and (minutes is None or minutes > 0)):
        raise ValueError(f"epochs = {epochs}, minutes = {minutes} is not allowed; allowed: numbers above 0")
    began, done = time.perf_counter(), 0.0
    network.train()
    learner = Imitation(network, positions, seed)
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
        accuracy, value_error, len(learner.learned_from), len(learner.held_out), learner.epochs,
        time.perf_counter() - began
    )  # fmt: skip
