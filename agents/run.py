"""A training run: begun or continued, advanced update by update, evaluated and saved."""

from __future__ import annotations

import dataclasses
import io
import math
import pickle
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
import torch as th
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import ConstantSchedule

from agents import checkpoint
from agents.checkpoint import bot_of, policy_kwargs
from agents.evaluation import Evaluation, Trial, judged_alike, trials_of
from agents.expert_settings import ExpertConfig
from agents.games import distinct, exists, game_configurations, without_rewards
from agents.imitation import Imitation, gather, packed, rate_at, unpacked
from agents.joined_batch import JoinedBatch, JoinedBot
from agents.pool import Pool, PoolVecEnv
from agents.positions import Positions, join
from agents.run_folder import (
    alone_in_run,
    as_csv,
    check_no_other_network,
    check_nobody_else_writes,
    check_same_bots,
    check_same_cards,
    check_same_run,
    run_folder,
    settings_as_json,
    versions_of,
)
from agents.seeds import TEACHER_SEED
from agents.settings import MAY_CHANGE, TrainConfig
from agents.status import Status
from kepler_envs import bots
from kepler_envs.adapters.opponents import Opponent
from kepler_envs.adapters.pytorch import torch_threads
from kepler_envs.adapters.sb3 import PiecePolicy, SeatVecEnv, SharedMaskablePPO, SharedSeatVecEnv, TooFewDecisions
from kepler_envs.adapters.sb3.learner import CheckedMaskablePPO
from kepler_envs.bots.networks import BEST_FILE, CURVE_FILE, LAST_FILE, checkpoint_at
from kepler_envs.bots.networks.checkpoint import (
    TORCH_WEIGHTS,
    check_fits,
    read_description,
    read_entries,
)
from kepler_envs.bots.protocol import Bot, BotError, BotOpponent
from kepler_envs.bots.published import network_file
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.network import NetworkShape
from kepler_envs.engine.progress import seconds_spent
from kepler_envs.files import write_atomically
from kepler_envs.printable import one_line

TEACHER_ENVS = 1024
"""Games of a teacher in parallel, for each number of players."""


class Run:
    """A training run: begun or continued, then advanced update by update.

    Args:
        config: its settings.
        say: called with each line that a user should read of a run that continues.

    Attributes:
        versions: those of the bots that the network learns from or plays against, by spec.
    """

    def __init__(self, config: TrainConfig, say: Callable[[str], None] = lambda line: None) -> None:
        self.config = config
        self.device = device_of(config.device)
        self.all_games = game_configurations(config)
        self.games = self.all_games[-1]  # with the most players; the network is made for these
        self.counts = distinct(games.num_players for games in self.all_games)
        self.judged = [without_rewards(games) for games in self.all_games]  # now: a component file may change
        self.out = run_folder(config)
        self.seconds = 0.0
        self.curve: list[dict[str, Any]] = []
        self.evaluations: tuple[Evaluation, ...] = ()
        self.best = -1.0
        self.accuracy = float("nan")
        self.prolonged: list[dict[str, Any]] = []  # earlier budgets, with the decisions at which each was changed
        self.commits: list[str] = []  # of the code that has learned so far, without the present one
        self._before: dict[str, Any] | None = None  # what the network it starts from learned with
        self._speed = 0.0
        self._imitation: Imitation | None = None
        self._imitated: dict[str, Any] | None = None  # the state of an imitation that is to continue
        description = self._description_to_continue() if self.last.exists() else None
        beginning = beginning_of(config.start, config.over, self.all_games) if description is None else self.last
        self.network = shape_of(config, beginning)
        self.versions = self._present_versions()
        if description is not None:
            check_same_bots(description["training"], self.versions, self.last)
        self.teachers = self._teachers()
        self._trials = self._make_trials()
        if description is None:
            self._begin(beginning)
        else:
            self._resume(description, say)
            self._say_who_changed(say)
        if isinstance(self.env, PoolVecEnv):
            self.env.load_partners()
        self.model.set_logger(configure(str(self.out / "tensorboard"), ["tensorboard"]))

    @property
    def last(self) -> Path:
        """The file that holds everything needed to continue."""
        return self.out / LAST_FILE

    @property
    def steps(self) -> int:
        """Decisions so far."""
        return int(self.model.num_timesteps)

    @property
    def is_new(self) -> bool:
        """Whether it has not been evaluated yet."""
        return not self.curve

    @property
    def policy(self) -> PiecePolicy:
        """The policy that is trained."""
        return cast(PiecePolicy, self.model.policy)

    @property
    def fraction(self) -> float:
        """Share of the budget that is spent, 0..1."""
        return self.config.progress(self.steps, self.seconds)

    # ------------------------------------------------------------ beginning

    def _begin(self, beginning: Path | None) -> None:
        config = self.config
        check_no_other_network(self.out / BEST_FILE)
        self.env = self._environment()
        self.model = self._model_class()(
            PiecePolicy,
            self.env,
            learning_rate=config.learning_rate,
            n_steps=config.n_steps,
            batch_size=config.batch_size,
            n_epochs=config.epochs,
            gamma=config.gamma,
            gae_lambda=config.gae_lambda,
            clip_range=config.clip_range,
            ent_coef=config.entropy,
            vf_coef=config.value_weight,
            max_grad_norm=config.max_grad_norm,
            policy_kwargs=policy_kwargs(self.network, self.games),
            seed=config.seed,
            device=self.device,
        )
        if beginning is not None:
            checkpoint.continue_network(self.policy, beginning, self.games)
            self._before = checkpoint.learned_before(beginning)

    def _environment(self) -> SharedSeatVecEnv | SeatVecEnv:
        config = self.config
        if config.seat == "pool":
            partners = tuple(spec for spec in config.pool.sparring if exists(spec, self.games))
            pool = Pool(dataclasses.replace(config.pool, sparring=partners), config.seed)
            return PoolVecEnv(JoinedBatch.deal(self.all_games, config.num_envs, config.seed), pool, self.network)
        if config.seat == "shared":
            several = len(self.all_games) > 1
            games: Batch | JoinedBatch = (
                JoinedBatch.deal(self.all_games, config.num_envs, config.seed)
                if several
                else Batch(self.games, config.num_envs, config.seed)
            )
            return SharedSeatVecEnv(games, self._below(games))
        batch = Batch(self.games, config.num_envs, config.seed)
        return SeatVecEnv(batch, self._training_opponent(), over=self._below(batch))

    def _below(self, batch: Batch | JoinedBatch) -> Opponent | None:
        """The bot that the network is over, or None."""
        over = self.network.over
        if not over:
            return None
        return JoinedBot(over, batch) if isinstance(batch, JoinedBatch) else BotOpponent(bots.load(over, batch.config))

    @property
    def pool(self) -> Pool | None:
        """The pool of opponents, with ``--seat pool``."""
        return self.env.pool if isinstance(self.env, PoolVecEnv) else None

    def _description_to_continue(self) -> dict[str, Any]:
        """The description of the run in the folder. BotError if it is not this one."""
        if not self.config.trust_folder:
            check_nobody_else_writes(self.last)
        description = read_description(self.last)
        check_same_run(description["training"], self.config, MAY_CHANGE, self.last)
        check_same_cards(description, self.games, self.last)
        return description

    def _present_versions(self) -> dict[str, str]:
        over = [self.network.over] if self.network.over else []
        return versions_of([*self.config.learns_with, *over], self.games)

    def _resume(self, description: dict[str, Any], say: Callable[[str], None]) -> None:
        (run,) = read_entries(self.last, [checkpoint.RUN])
        say(f"continuing {self.last}, which runs the code pickled in it")
        try:
            saved = pickle.loads(run)
            self.env = saved["env"]
            if isinstance(self.env, SeatVecEnv):
                self.env.seat_opponent(self._training_opponent())
            if (below := self._below(self.env.batch)) is not None:
                self.env.seat_below(below)
            archive = io.BytesIO(self.last.read_bytes())
            self.model = self._model_class().load(archive, self.env, device=self.device, force_reset=False)
            self.seconds, self.curve, self.best = saved["seconds"], saved["curve"], self._best_so_far(saved["best"])
            self.evaluations = saved["evaluations"]
            self._imitated = unpacked(saved["imitation"]) if saved["imitation"] is not None else None
            self.prolonged, self.commits = saved["prolonged"], description["results"]["commits"]
            self._before = description.get("learned_with")
            set_random_state(saved, self.device)
            self._note_budget(description["training"])
        except BotError:
            raise
        except Exception as error:  # unpickling lets through whatever the pickled things raise
            raise BotError(
                f"{self.last} is damaged, or was written by other versions of the libraries: {one_line(error)}. "
                f"Use another --out; --start net:{self.out / BEST_FILE} starts from the best network of the run"
            ) from error

    def _say_who_changed(self, say: Callable[[str], None]) -> None:
        """Name the opponents whose version is another one than in the last evaluations."""
        present = {trial.name: trial.version for trial in self._trials}
        for one in self.evaluations:
            version = present.get(one.opponent, one.version)
            if one.version not in (None, version):
                say(f"evaluations against {one.opponent} were against version {one.version}, from now on {version}")

    def _best_so_far(self, won: float) -> float:
        """What the best network won. Less than anything if its file is lost or damaged: then it is chosen anew."""
        try:
            read_description(self.out / BEST_FILE)
        except BotError:
            return -1.0
        return won

    def _note_budget(self, before: dict[str, Any]) -> None:
        """Note that the budget has changed, because learning rates followed it."""
        earlier = dataclasses.replace(self.config, steps=before["steps"], minutes=before["minutes"])
        if _budget(earlier) != _budget(self.config):
            self.prolonged.append({"at": self.steps, **_budget(earlier)})

    def _model_class(self) -> type[MaskablePPO]:
        return CheckedMaskablePPO if self.config.seat == "single" else SharedMaskablePPO

    def _teachers(self) -> list[Bot]:
        """The teacher for each configuration; empty without a teacher."""
        spec = self.config.teacher
        return [] if spec is None else [bots.load(spec, games) for games in self.all_games]

    def _make_trials(self) -> list[Trial]:
        """What evaluations are made of."""
        return trials_of([spec for spec in self.config.eval_opponents if exists(spec, self.games)], self.judged)

    def _training_opponent(self) -> BotOpponent:
        return BotOpponent(bots.load(self.config.opponent, self.games))

    # ------------------------------------------------------------ going on

    def advance(self) -> None:
        """Learn from as many decisions as a rollout has: the teacher's first, then its own."""
        began = clock()
        config, before = self.config, self.steps
        own_play = self.model._n_updates > 0  # a run that is prolonged does not go back to the teacher
        if self.teachers and not own_play and self.fraction < config.teacher_share:
            self._learn_from_teacher()
        else:
            self._learn_from_own_play()
        if self.pool is not None and self.steps // config.pool.snapshot_every > before // config.pool.snapshot_every:
            self.pool.add_snapshot(self.policy, self.steps)
        elapsed = clock() - began
        self.seconds += elapsed
        self._speed = (self.steps - before) / elapsed

    def _learn_from_own_play(self) -> None:
        self._imitation = self._imitated = None
        # whoever plays beside the learner starts anew with each update, as a run that continues has to start them
        if isinstance(self.env, PoolVecEnv):
            self.env.begin_rollout()
        if isinstance(self.env, SeatVecEnv):
            self.env.seat_opponent(self.env.opponent, self.steps)
        self.env.start_below(np.arange(self.env.num_envs))
        config = self.config
        rate = config.learning_rate + (config.final_learning_rate - config.learning_rate) * self.fraction
        self.model.lr_schedule = ConstantSchedule(rate)
        try:
            self.model.learn(1, reset_num_timesteps=False)  # one rollout
        except TooFewDecisions as error:
            raise BotError(f"{error}: more than --num-envs {config.num_envs} or --n-steps {config.n_steps}") from error

    def _learn_from_teacher(self) -> None:
        config = self.config
        if self._imitation is None:
            self._imitation = Imitation(self.policy.network, self._gather(), config.seed, config.value_weight)
            if self._imitated is not None:
                self._imitation.load_state(self._imitated)
        decisions = config.n_steps * config.num_envs
        rate = rate_at(self.fraction / config.teacher_share, config.teacher_learning_rate)
        self.policy.set_training_mode(True)
        surprise, error = self._imitation.learn(decisions, rate)
        self.model.num_timesteps += decisions
        self.model.logger.record("imitation/loss", surprise)
        self.model.logger.record("imitation/value_loss", error)
        self.model.logger.dump(self.steps)

    def _gather(self) -> Positions:
        """Gather the teacher's decisions, no more than will be shown. A run that is continued gathers the same ones
        again, unless its steps have changed and with them how many will be shown."""
        config, wanted = self.config, self.config.teacher_positions
        if config.budget_steps is not None:
            wanted = min(wanted, math.ceil(config.teacher_share * config.budget_steps))
        each = -(-wanted // len(self.all_games))
        seed = TEACHER_SEED + config.seed
        envs = TEACHER_ENVS * len(self.counts) // len(self.all_games)  # options share the games of a player count
        return join(
            [
                gather(games, teacher, each, config.teacher_noise, seed, envs, self._below_teacher(games, teacher))
                for games, teacher in zip(self.all_games, self.teachers, strict=True)
            ]
        )

    def _below_teacher(self, games: Configuration, teacher: Bot) -> Bot | None:
        """The bot that the network is over, or None; the teacher itself if it is that bot."""
        over = self.network.over
        if not over:
            return None
        return teacher if self.config.teacher == over else bots.load(over, games)

    def evaluate(self) -> None:
        """Play against the opponents of the evaluation and add a line to the learning curve. Keep the network if it is
        the best."""
        began = clock()
        learner = bot_of(self.policy, self.games)
        before = self._judging
        self.evaluations = tuple(trial.evaluate(learner, self.config.eval_games) for trial in self._trials)
        if not judged_alike(before, self._judging):
            self.best = -1.0
        for one in self.evaluations:
            self.model.logger.record(f"eval/{one.opponent}_win_rate", one.wins.mean)
        if self._imitation is not None:
            self.accuracy, _ = self._imitation.measure()
            self.model.logger.record("imitation/accuracy", self.accuracy)
        if self.pool is not None:
            self.model.logger.record("pool/rating", self.pool.learner.mu)
        self.model.logger.dump(self.steps)
        self.seconds += clock() - began
        self.curve.append(self._curve_line())
        self._keep_if_best()

    @property
    def _judging(self) -> tuple[Evaluation, ...]:
        """The evaluations against the last opponent, with each number of players."""
        return self.evaluations[-len(self.counts) :]

    def _keep_if_best(self) -> None:
        """Keep the network if it wins most against the last opponent, of all that played as many games against that
        one."""
        last = self._judging
        wins = float(np.mean([one.wins.mean for one in last])) if last else self.best
        if wins >= self.best:
            self.best = wins
            checkpoint.write_checkpoint(
                self.out / BEST_FILE, self._describe(), {TORCH_WEIGHTS: checkpoint.weights_of(self.policy)}
            )

    def save(self) -> None:
        """Write ``last.zip`` and the learning curve."""
        buffer = io.BytesIO()
        self.model.save(buffer)
        imitated = self._imitation.state() if self._imitation is not None else self._imitated
        saved = {
            "env": self.env.without_bots(),  # they are loaded by name
            "seconds": self.seconds,
            "curve": self.curve,
            "best": self.best,
            "evaluations": self.evaluations,
            "prolonged": self.prolonged,
            "imitation": packed(imitated) if imitated is not None else None,
            **random_state(self.device),
        }
        checkpoint.write_checkpoint(
            self.last, self._describe(), {checkpoint.RUN: pickle.dumps(saved)}, base=buffer.getvalue()
        )
        if self.curve:
            write_atomically(self.out / CURVE_FILE, as_csv(self.curve))
        if self.pool is not None:
            write_atomically(self.out / "ratings.csv", as_csv(self.pool.table()))

    def _describe(self) -> dict[str, Any]:
        results = {
            "steps": self.steps,
            "seconds": round(self.seconds, 1),
            "games": int(self.env.batch.episodes.sum()),
            "parameters": checkpoint.parameter_count(self.policy),
            "prolonged": self.prolonged,
            "commits": checkpoint.with_present(self.commits),
            "evaluated_at": self.evaluated_at,
            "evaluations": {one.opponent: one.summary for one in self.evaluations},
        }
        settings, before = settings_as_json(self.config), None if self.steps else self._before
        settings["bots"] = self.versions
        return checkpoint.describe(self.games, self.network, settings, results, self.all_games, before)

    def _curve_line(self) -> dict[str, Any]:
        line: dict[str, Any] = {
            "steps": self.steps,
            "seconds": round(self.seconds, 1),
            "games": int(self.env.batch.episodes.sum()),
            "mean_length": round(self.mean_length, 1),
        }
        for one in self.evaluations:
            line |= one.columns
        if self._imitation is not None:
            line["accuracy"] = round(self.accuracy, 4)
        if self.pool is not None:
            line["rating"] = round(self.pool.learner.mu, 3)
        return line

    @property
    def mean_length(self) -> float:
        """Mean length of the last hundred training games in decisions: of all seats with a shared network, else of the
        learner."""
        finished = self.model.ep_info_buffer or ()
        return float(np.mean([info["l"] for info in finished])) if finished else 0.0

    def status(self, evaluated: bool = False) -> Status:
        """The progress of the run, for displays."""
        return Status(
            self.steps, self.seconds, self.fraction, self._speed, self.mean_length, self.evaluations, evaluated,
            self.pool.summary() if self.pool is not None else "", self.evaluated_at,
        )  # fmt: skip

    @property
    def evaluated_at(self) -> int | None:
        """The steps at which the present evaluations were made."""
        return int(self.curve[-1]["steps"]) if self.curve else None


def random_state(device: th.device) -> dict[str, Any]:
    """The state of every generator that learning on this device draws from."""
    return {
        "torch_random": th.get_rng_state(),
        "numpy_random": np.random.get_state(),
        "device_random": th.cuda.get_rng_state(device) if device.type == "cuda" else None,
    }


def set_random_state(saved: dict[str, Any], device: th.device) -> None:
    """Go on from a :func:`random_state`. The generator of a GPU goes on if the run was on a GPU before."""
    th.set_rng_state(saved["torch_random"])
    np.random.set_state(saved["numpy_random"])
    its = saved["device_random"]
    if device.type == "cuda" and its is not None:
        th.cuda.set_rng_state(its, device)


def clock() -> float:
    """Seconds, without those in which this process compiles kernels: they would use up a first run's minutes."""
    return time.perf_counter() - seconds_spent()


def _budget(config: TrainConfig) -> dict[str, Any]:
    """The budget that is in force, also if none was asked for."""
    return {"steps": config.budget_steps, "minutes": config.minutes}


def device_of(name: str) -> th.device:
    """The device of that name. BotError if there is none."""
    gpus = [f"cuda:{number}" for number in range(th.cuda.device_count())]
    allowed = ["cpu", *(["cuda"] if gpus else []), *gpus]
    if name not in allowed:
        found = "" if gpus else " (PyTorch finds no GPU here)"
        raise BotError(f"--device {name} is not allowed; allowed: {', '.join(allowed)}{found}")
    return th.device(name)


def beginning_of(spec: str | None, over: str | None, all_games: Sequence[Configuration]) -> Path | None:
    """The checkpoint that a network starts from, if one is asked for, to learn these games.

    Raises:
        BotError: there is none, it is of another game, or it is over another bot than asked.
    """
    if spec is None:
        return None
    path = network_file(spec, all_games[-1])
    if path is None:
        bots.load(spec, all_games[-1])  # says so if there is no such bot
        raise BotError(f"--start {spec} is not a trained network; name one, for example net:PATH")
    path = checkpoint_at(path)
    description = read_description(path)
    for games in all_games:
        check_fits(description, games, str(path), to_learn_on=True)
    its = description["network"].get("over", "")
    if over is not None and over != its:
        raise BotError(f"--over {over} does not match --start {spec}, whose network is over {its or 'no bot'}")
    return path


def shape_of(config: TrainConfig | ExpertConfig, of: Path | None) -> NetworkShape:
    """The shape of the network to train: that of the checkpoint it goes on from, or that of the settings."""
    if of is not None:
        return NetworkShape.from_json(read_description(of)["network"])
    return NetworkShape(config.width, tuple(config.hidden), config.rows, config.over or "")


def train(
    config: TrainConfig,
    stop: threading.Event | None = None,
    watch: Callable[[Status], None] | None = None,
    accepted: Callable[[Run], None] = lambda run: None,
    say: Callable[[str], None] = lambda line: None,
) -> Run:
    """Begin a run, or continue the one in ``config.out``, until its budget is spent.

    Args:
        stop: when set, the run finishes its update, writes a checkpoint and returns.
        watch: called with the status after every update and every evaluation.
        accepted: called once with the run, before anything is learned: nobody else trains in the folder, and the run
            fits it.
        say: called with each line that a user should read of a run that continues: that its pickled code is run, and
            which opponents of the evaluations have changed.

    Raises:
        BotError: the run in the folder has other settings, learns with bots that have changed, or is trained by another
            process; or a setting is not allowed.
        UsageError: the folder is a file.
        UnknownGame, OptionError, ComponentError: there are no such games.
        DivergedError: the network's numbers have grown beyond all bounds.
    """
    with torch_threads(config.threads), alone_in_run(run_folder(config)):
        run = Run(config, say)
        try:
            accepted(run)
            advance_to_end(run, stop or threading.Event(), watch or (lambda status: None))
        finally:
            run.model.logger.close()  # it has a thread that writes
    return run


class Advancing(Protocol):
    """A run that learns from decisions, update by update, with evaluations at intervals."""

    config: TrainConfig

    @property
    def steps(self) -> int:
        """Decisions so far."""

    @property
    def fraction(self) -> float:
        """Share of the budget that is spent, 0..1."""

    @property
    def is_new(self) -> bool:
        """Whether it has not been evaluated yet."""

    def advance(self) -> None:
        """Learn from a rollout."""

    def evaluate(self) -> None:
        """Play against the opponents of the evaluation."""

    def save(self) -> None:
        """Write everything needed to continue."""

    def status(self, evaluated: bool = False) -> Status:
        """The progress of the run, for displays."""


def advance_to_end(run: Advancing, stop: threading.Event, watch: Callable[[Status], None]) -> None:
    """Continue until the budget is spent or, once ``stop`` is set, to the end of the update; then save.

    A run that learns nothing is left as it is: its files name the code and the libraries that it learned with.
    """
    if run.is_new:
        run.save()  # a best network without it would be that of another run
        run.evaluate()
        run.save()
    watch(run.status(evaluated=True))
    due, saved = _next_evaluation(run), run.steps
    while run.fraction < 1 and not stop.is_set():
        run.advance()
        evaluated = run.steps >= due or run.fraction >= 1
        if evaluated:
            run.evaluate()
            due = _next_evaluation(run)
            run.save()  # before it is told: whoever reads may be gone
            saved = run.steps
        watch(run.status(evaluated))
    if run.steps > saved:
        run.save()


def _next_evaluation(run: Advancing) -> int:
    return (run.steps // run.config.eval_every + 1) * run.config.eval_every
