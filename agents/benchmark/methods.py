"""The methods that the benchmark can train.

To add one, add an entry to METHODS. Whoever trains elsewhere hands in a folder.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from agents.benchmark.entry import CURVE_COLUMNS, read_curve
from agents.benchmark.protocol import CURVE_GAMES, CURVE_POINTS, POOL, Task
from agents.evaluation import Evaluation, evaluate
from agents.expert_settings import ExpertConfig
from agents.run_folder import alone_in_run, as_csv
from agents.settings import PoolConfig, TrainConfig
from agents.status import Status
from kepler_envs import bots
from kepler_envs.bots.networks.checkpoint import TORCH_WEIGHTS, read_description, read_entries
from kepler_envs.files import write_atomically

AGENT, CURVE = "agent.zip", "curve.csv"
"""The network of a run, and its learning curve, in its folder."""
THREE_PASSES: dict[str, Any] = {"batch_size": 2048, "epochs": 3}
"""How most methods learn from a rollout: with the defaults that ``agents.train`` had when they were trained."""
AS_OPTIONS = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in THREE_PASSES.items())


@dataclass(frozen=True)
class Job:
    """One training run: what is trained, and where.

    Attributes:
        decisions: the budget. training: folder for its state. agent: folder for the trained agent and its curve.
        trust_folder: continue the run even if others may write to the folder of its state.
    """

    task: Task
    seed: int
    decisions: int
    training: Path
    agent: Path
    threads: int = 1
    trust_folder: bool = False

    @property
    def curve(self) -> Path:
        """The learning curve."""
        return self.agent / CURVE

    def settings(self, **changes: Any) -> TrainConfig:
        """The settings for ``agents.train``, with an evaluation against the pool at every point of the curve."""
        return TrainConfig(
            game=self.task.game, players=self.task.players, steps=self.decisions, seed=self.seed, out=self.training,
            threads=self.threads, eval_every=max(1, self.decisions // CURVE_POINTS), eval_games=CURVE_GAMES,
            eval_opponents=POOL, trust_folder=self.trust_folder, **changes,
        )  # fmt: skip

    def expert_settings(self, **changes: Any) -> ExpertConfig:
        """The settings for ``agents.expert``."""
        return ExpertConfig(
            self.task.game, players=self.task.players, steps=self.decisions, seed=self.seed, out=self.training,
            **changes,
        )  # fmt: skip


@dataclass(frozen=True)
class Trained:
    """The result of a job: decisions and hours it took, and the spec of the agent within its folder."""

    decisions: int
    hours: float
    spec: str


Watch = Callable[[Status], None]
Training = Callable[[Job, threading.Event, Watch], Trained | None]
"""Trains, or continues. None if it was stopped. The same job ends with the same agent, interrupted or not.

It keeps its state in ``job.training``, and leaves its agent, with all its files, in ``job.agent``. The learning curve
is made of what it tells: at the beginning, on its way and at the end it calls ``watch`` with a Status that has
evaluations against every bot of POOL and is ``evaluated``.
"""


@dataclass(frozen=True)
class Method:
    """A way to learn: its name and kind in an entry, a description, the bots of the pool it trains with, and how to
    train it."""

    name: str
    kind: str
    about: str
    command: str
    train: Training
    known: tuple[str, ...] = ()


def train_with_agents(job: Job, stop: threading.Event, watch: Watch, **settings: Any) -> Trained | None:
    """Train with ``python -m agents.train`` and these settings. The agent is the final network."""
    from agents.run import train

    run = train(job.settings(**settings), stop, watch)
    if run.fraction < 1:
        return None
    _keep_network(run.last, job.agent)
    return Trained(run.steps, run.seconds / 3600, AGENT)


def train_with_sb3(job: Job, stop: threading.Event, watch: Watch) -> Trained | None:
    """Train with the policy and learner of sb3-contrib."""
    from agents.benchmark.sb3 import train_sb3, write_agent
    from kepler_envs.adapters.pytorch import torch_threads

    with torch_threads(job.threads):
        run = train_sb3(job.settings(**THREE_PASSES), job.training, stop, watch)
    if run.fraction < 1:
        return None
    return Trained(run.steps, run.seconds / 3600, f"python:{write_agent(run, job.agent)}")


def train_expert(job: Job, stop: threading.Event, watch: Watch, **settings: Any) -> Trained | None:
    """Train with ``python -m agents.expert`` and these settings. Decisions are those of its games, including those of
    greedy that it imitates first. The hours leave out the evaluations against the pool.

    The curve has a point per generation. A generation is saved before it is evaluated, so that a run that was killed in
    between begins with the evaluation that the curve lacks.
    """
    from agents.checkpoint import bot_of
    from agents.expert_run import ExpertRun
    from kepler_envs.adapters.pytorch import torch_threads

    with torch_threads(job.threads), alone_in_run(job.training):
        run = ExpertRun(job.expert_settings(**settings))
        pool = [bots.load(name, run.games) for name in POOL]
        evaluations: tuple[Evaluation, ...] = ()

        def tell(learned: bool) -> None:
            nonlocal evaluations
            if learned:
                learner = bot_of(run.policy, run.games)
                evaluations = tuple(evaluate(learner, other, run.games, CURVE_GAMES) for other in pool)
            speed = run.played / run.seconds if run.seconds else 0.0
            watch(Status(run.played, run.seconds, run.fraction, speed, run.mean_length, evaluations, learned))

        tell(learned=run.played not in Curve(job.curve).points)
        run.advance_to_end(stop, lambda status: tell(learned=status.line is not None))
    if not run.is_over:
        return None
    _keep_network(run.last, job.agent)
    return Trained(run.played, run.seconds / 3600, AGENT)


def _keep_network(checkpoint: Path, folder: Path) -> None:
    """Keep only the weights and the description of a checkpoint."""
    from agents.checkpoint import write_checkpoint

    (weights,) = read_entries(checkpoint, [TORCH_WEIGHTS])
    write_checkpoint(folder / AGENT, read_description(checkpoint), {TORCH_WEIGHTS: weights})


# Whoever trains with bots of the pool knows its opponents; so this pool holds nobody but the learner, as it is and as
# it was.
OWN_POOL = PoolConfig(latest=0.5, past=0.2, pfsp=0.3, sparring_share=0.0, sparring=())

METHODS = {
    method.name: method
    for method in (
        Method(
            "sb3", "network",
            "MaskablePPO and MlpPolicy of sb3-contrib, unchanged; one seat learns, the network plays the others",
            "python -m agents.benchmark run GAME sb3", train_with_sb3,
        ),
        Method(
            "flat", "network", "MaskablePPO on the flat vector, self-play in which all seats learn",
            f"python -m agents.train GAME --seat shared --rows 0 {AS_OPTIONS}",
            partial(train_with_agents, seat="shared", rows=0, **THREE_PASSES),
        ),
        Method(
            "pieces", "network", "the same, but the network also looks at the rows of the tables",
            f"python -m agents.train GAME --seat shared {AS_OPTIONS}",
            partial(train_with_agents, seat="shared", **THREE_PASSES),
        ),
        Method(
            "pieces-512", "network", "`pieces` with one pass over minibatches of 512 instead of three over 2,048",
            "python -m agents.train GAME --seat shared", partial(train_with_agents, seat="shared"),
        ),
        Method(
            "pieces-512-0.002", "network", "`pieces-512` with a learning rate that begins at 0.002",
            "python -m agents.train GAME --seat shared --learning-rate 0.002",
            partial(train_with_agents, seat="shared", learning_rate=2e-3),
        ),
        Method(
            "pieces-pool", "network", "`pieces` against a pool of earlier versions of itself",
            f"python -m agents.train GAME --seat pool {AS_OPTIONS}",
            partial(train_with_agents, seat="pool", pool=OWN_POOL, **THREE_PASSES),
        ),
        Method(
            "pieces-pool-32", "network", "the same with updates of 256 games x 32 decisions instead of 64 x 128",
            f"python -m agents.train GAME --seat pool --num-envs 256 --n-steps 32 {AS_OPTIONS}",
            partial(train_with_agents, seat="pool", pool=OWN_POOL, num_envs=256, n_steps=32, **THREE_PASSES),
        ),
        Method(
            "expert", "network", "imitation of greedy, then expert iteration: searches with playouts by greedy",
            "python -m agents.expert GAME", train_expert, known=("greedy",),
        ),
        Method(
            "expert-guided", "network", "the same, but searches are guided by the network instead of playouts",
            "python -m agents.expert GAME --guided-from 1", partial(train_expert, guided_from=1), known=("greedy",),
        ),
    )
}  # fmt: skip
"""The methods by name."""


def _with_counts(point: dict[str, float]) -> dict[str, Any]:
    """A point that was read, as it was written: decisions and games are counts."""
    return point | {name: int(point[name]) for name in ("decisions", "games")}


class Curve:
    """The learning curve of a job, written with every evaluation."""

    def __init__(self, path: Path) -> None:
        self.path = path
        known = [_with_counts(point) for point in read_curve(path)] if path.exists() else []
        self.points = {point["decisions"]: point for point in known}

    def add(self, status: Status) -> None:
        """Add a point, and drop those that come after it.

        A run that continues begins with its last evaluation, from which it may have learned on. That adds no point.
        """
        at = status.steps if status.evaluated_at is None else status.evaluated_at
        if at < status.steps and at in self.points:
            return
        returns = [one.returns.mean for one in status.evaluations]
        values = (
            at,
            round(status.seconds / 3600, 5),
            round(sum(returns) / len(returns), 5),
            sum(one.returns.games for one in status.evaluations),
        )
        known = {steps: point for steps, point in self.points.items() if steps < at}
        self.points = {**known, at: dict(zip(CURVE_COLUMNS, values, strict=True))}
        write_atomically(self.path, as_csv(list(self.points.values())))
