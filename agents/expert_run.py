"""A run of expert iteration: its network, its files of games, and the step from one generation to the next."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch as th

from agents import checkpoint
from agents.allowed import need
from agents.checkpoint import bot_of
from agents.evaluation import Evaluation, evaluate, trials_of
from agents.expert_settings import MAY_CHANGE, ExpertConfig
from agents.games import game_configurations, without_rewards
from agents.imitation import Imitation, gather, packed, rate_at, unpacked
from agents.positions import Positions, join
from agents.run import beginning_of, clock, shape_of
from agents.run_folder import (
    alone_in_run,
    as_csv,
    check_no_other_network,
    check_same_bots,
    check_same_cards,
    check_same_run,
    default_folder,
    settings_as_json,
    versions_of,
)
from agents.search_games import Play, search_games
from agents.seeds import BEST_SEED, EXPERT_SEED
from agents.settings import TrainConfig
from kepler_envs import bots
from kepler_envs.adapters.pytorch import torch_threads
from kepler_envs.adapters.sb3 import PiecePolicy
from kepler_envs.bots.networks import BEST_FILE, CURVE_FILE, LAST_FILE, CheckpointBot
from kepler_envs.bots.networks.checkpoint import TORCH_WEIGHTS, read_description, read_entries
from kepler_envs.bots.protocol import Bot, BotError
from kepler_envs.bots.search import MctsConfig, make_searcher
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.seeds import stream_seed
from kepler_envs.files import write_atomically
from kepler_envs.printable import one_line
from kepler_envs.processes import fresh_processes
from kepler_envs.terminal import signals_held_back
from kepler_envs.tournament import ClusterError
from kepler_envs.tournament.cluster import Cluster
from kepler_envs.tournament.shipment import Shipment

PROGRESS, OPTIMIZER = "expert.json", "optimizer.pth"
"""Entries of last.zip: the progress of the run, and the state of the optimiser while it learns."""
GAMES_AT_A_TIME = 128
"""Games per file: what each process loses if it is interrupted."""
FIRST_EPOCHS = 3
"""So many times as often as later positions, the decisions of greedy that are imitated first are shown."""
SHOWN_AT_A_TIME = 20_480
"""Positions between two looks at the clock."""
KEPT = ("generation", "seconds", "curve", "shown", "played", "accuracy", "best")
"""Attributes of a run that last.zip keeps as they are."""
AGENTS = Path(__file__).parent
PLAYING, LEARNING = "playing", "learning"


@dataclass(frozen=True)
class Job:
    """Games to play: everything a process needs to know. The same job gives the same games.

    Attributes:
        expert: the search; empty if greedy says what to do. guided: whether the network guides it.
        network: the checkpoint that plays half of the seats; None if greedy plays all.
    """

    config: Configuration
    games: int
    seed: int
    expert: str
    guided: bool
    network: Path | None
    play: Play
    out: Path

    def run(self) -> Path:
        """Play the games and write the file."""
        self.positions().save(self.out)
        return self.out

    def positions(self) -> Positions:
        """Play the games and return their positions."""
        below = bots.load("greedy", self.config)
        seated: list[Bot] = [bots.load("greedy", self.config)]
        if self.network is not None:
            seated.append(CheckpointBot(self.network, self.config))
        asked = self._asked() if self.expert else None
        searcher = make_searcher(self.config, asked) if asked else None
        return search_games(self.config, self.games, self.seed, asked, searcher, seated, below, self.play)

    def _asked(self) -> MctsConfig:
        """The settings of the search. Defaults depend on there being a network, but a path may have commas."""
        if not self.guided:
            return MctsConfig.parse(self.expert)
        return dataclasses.replace(MctsConfig.parse(f"{self.expert},network=net:"), network=f"net:{self.network}")


@dataclass(frozen=True)
class Status:
    """The progress of a run, for displays."""

    generation: int
    doing: str
    done: float
    """Share of the current task that is done, 0..1."""
    seconds: float
    fraction: float
    evaluations: tuple[Evaluation, ...]
    line: dict[str, Any] | None = None
    """The new line of the learning curve, at the end of a generation."""


def _load(path: Path, damaged: str, missing: str) -> Positions:
    """Positions of a file. If it is damaged or missing, BotError that says what can be done."""
    try:
        return Positions.load(path)
    except FileNotFoundError:
        raise BotError(f"{path} is missing. {missing}") from None
    except Exception as error:  # NumPy and zipfile let through whatever is raised in them
        raise BotError(f"{path} is damaged: {one_line(error)}. {damaged}") from error


def _configurations(config: ExpertConfig) -> list[Configuration]:
    asked = TrainConfig(
        config.game, players=config.players, option=config.option, components=config.components, seat="pool"
    )
    return [without_rewards(games) for games in game_configurations(asked)]


def expert_folder(config: ExpertConfig) -> Path:
    """The folder that a run is written to and continued from."""
    return config.out or default_folder(_configurations(config)[-1], config.players, "expert")


class ExpertRun:
    """A run of expert iteration: begun or continued, then advanced by a few games or some learning at a time.

    Attributes:
        generation: the current generation; 0 imitates greedy.
        played: decisions in games, including those of greedy that were imitated. shown: positions that the network has
            been shown.
        best: the generation that followed that of best.zip; None if there is no best network yet.
        cluster: plays the games; None for processes of this machine.
        versions: that of greedy, by its spec.
    """

    def __init__(self, config: ExpertConfig, cluster: Cluster | None = None) -> None:
        self.config, self.cluster = config, cluster
        self.all_games = _configurations(config)
        self.games = self.all_games[-1]
        self.out = expert_folder(config)
        self.versions = versions_of(["greedy"], self.games)  # it plays, is imitated and plays games out
        self.trials = trials_of(("uniform", "greedy"), self.all_games)
        self.seconds = 0.0
        self.curve: list[dict[str, Any]] = []
        self.evaluations: tuple[Evaluation, ...] = ()
        self.shown, self.played, self.accuracy = 0, 0, float("nan")
        self.best: int | None = None
        self._learning: Imitation | None = None
        self._learned: dict[str, Any] | None = None
        self._before: dict[str, Any] | None = None  # what the network it starts from learned with
        self.commits: list[str] = []  # of the code that has learned so far, without the present one
        self._played, self._length = 0, 0.0  # decisions in the games of this generation: all, and per game
        if self.last.exists():
            self._resume()
        else:
            self._begin()

    @property
    def last(self) -> Path:
        """The file that holds everything needed to continue."""
        return self.out / LAST_FILE

    @property
    def best_file(self) -> Path:
        """The file that holds the best network."""
        return self.out / BEST_FILE

    @property
    def fraction(self) -> float:
        """Share of the budget that is spent, 0..1."""
        minutes = self.config.minutes
        return max(self._fraction_of_work(), min(1.0, self.seconds / (60 * minutes)) if minutes is not None else 0.0)

    def _fraction_of_work(self) -> float:
        """Share of the generations and of the decisions that is spent, 0..1."""
        config, spent = self.config, [0.0]
        if config.budget is not None:
            spent.append(self.generations / config.budget)
        if config.steps is not None:
            spent.append((self.played + self._expected()) / config.steps)
        return min(1.0, max(spent))

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do. Minutes that are up end no generation that was begun before."""
        return (self._fraction_of_work() if self._under_way() else self.fraction) >= 1

    def _under_way(self) -> bool:
        """Whether this generation was begun."""
        if self._learning is not None or self._learned is not None:
            return True
        return any(self._file(self.generation, chunk).exists() for chunk in range(self._portions()[0]))

    def _expected(self) -> float:
        """Decisions in the games of the next generation if they are as long as the last ones.

        It is 0 if no games were played yet. A run that starts from a network plays its first ones whatever the budget.
        """
        files, games = self._portions()
        return files * games * self.mean_length

    @property
    def mean_length(self) -> float:
        """Mean length of the last generation's games in decisions. 0 before the end of the first generation."""
        return self.curve[-1]["mean_length"] if self.curve else 0.0

    @property
    def first(self) -> int:
        """The first generation. 0 imitates greedy, which a network that starts from another one need not do."""
        return 0 if self.config.start is None else 1

    @property
    def generations(self) -> int:
        """How many generations are over."""
        return self.generation - self.first

    @property
    def _dagger(self) -> bool:
        """Whether greedy says what to do in this generation."""
        config = self.config
        return config.start is None and not config.over and self.generation <= config.dagger

    # ------------------------------------------------------------ beginning

    def _begin(self) -> None:
        beginning = beginning_of(self.config.start, self.config.over, self.all_games)
        self.shape = shape_of(self.config, beginning)
        self._check_playouts()
        if any((self.out / "games").glob("*/*.npz")):
            raise BotError(f"{self.out / 'games'} holds games of another run: delete it, or give another --out")
        check_no_other_network(self.best_file)
        with torch_threads(1), th.random.fork_rng(devices=[]):
            th.manual_seed(self.config.seed)
            self.policy: PiecePolicy = checkpoint.build(self.shape, self.games)
        self.generation = 0
        if beginning is None:
            self._check_budget()
            self.save()
        else:
            checkpoint.continue_network(self.policy, beginning, self.games)
            self._before = checkpoint.learned_before(beginning)
            self._end_generation()

    def _check_playouts(self) -> None:
        """Raise BotError if a later generation could not search with the network, which learned to correct a bot."""
        config, over = self.config, self.shape.over
        fine = config.guided_from is None or not over or all(asked.playout == over for asked in config.searches())
        need(config, "search", fine, f"playout={over}, as the network is over {over}")

    def _check_budget(self) -> None:
        """Raise BotError if imitating greedy is sure to exceed the budget: each position is a decision of its games."""
        steps, least = self.config.steps, self.config.teacher_positions
        allowed = (
            f"an integer from {least} on, as --teacher-positions of greedy are imitated first; with --start none are"
        )
        need(self.config, "steps", steps is None or steps >= least, allowed)

    def _resume(self) -> None:
        description = read_description(self.last)
        check_same_run(description["training"], self.config, MAY_CHANGE, self.last)
        check_same_cards(description, self.games, self.last)
        check_same_bots(description["training"], self.versions, self.last)
        self._before = description.get("learned_with")
        progress, optimizer = read_entries(self.last, [PROGRESS, OPTIMIZER])
        try:
            known = json.loads(progress)
            for name in KEPT:
                setattr(self, name, known[name])
            self.evaluations = tuple(Evaluation.from_json(one) for one in known["evaluations"])
            self._learned = unpacked(optimizer) if optimizer else None
            self.commits = description["results"]["commits"]
            self._expected()  # reads the curve
        except Exception as error:  # PyTorch's reader lets through whatever is raised in it
            raise BotError(
                f"{self.last} is damaged, or was written by another version: {one_line(error)}. Use another --out"
            ) from error
        self.policy = checkpoint.load_policy(self.last, self.games)
        self.shape = shape_of(self.config, self.last)
        self._complete_best()

    def _complete_best(self) -> None:
        """Write best.zip if the run was killed before it could: last.zip, which is written first, holds its network."""
        if self.best is None or _generations_of(self.best_file) == self.best - self.first:
            return
        if self.best < self.generation or self._learned is not None:
            raise BotError(f"{self.best_file} is missing, or not the best network of {self.last}: use another --out")
        self._write_best()

    # ------------------------------------------------------------ going on

    def advance_to_end(self, stop: threading.Event, watch: Callable[[Status], None]) -> None:
        """Continue until the budget is spent or ``stop`` is set. Whatever is done is saved."""
        while not self.is_over and not stop.is_set():
            self.advance(stop, watch)

    def advance(self, stop: threading.Event, watch: Callable[[Status], None]) -> None:
        """Play the remaining games of a generation; if there are enough, learn from them and judge the result.

        Once ``stop`` is set, it returns at the next file of games or in the middle of learning, and loses nothing.
        """
        if self.generation and not self._play(stop, watch):
            return
        if not self._learn(stop, watch):
            return
        self.played += self._played
        line = self._end_generation()
        watch(self._status(LEARNING, 1.0, line))

    def _end_generation(self) -> dict[str, Any]:
        """Judge the network and save it, and then as the best one if it is. Returns the line of the learning curve.

        A run that is killed before it is saved judges again, beside the best network of before.
        """
        line = self._judge()
        self.generation += 1
        self._learning = self._learned = None
        if line["accepted"]:
            self.best = self.generation
        self.save()
        if line["accepted"]:
            self._write_best()
        return line

    def _portions(self) -> tuple[int, int]:
        """The files of a generation, for each configuration as many, and the games in each."""
        config, counts = self.config, len(self.all_games)
        files = -(-config.games // GAMES_AT_A_TIME)
        files = -(-files // counts) * counts
        return files, -(-config.games // files)

    def _jobs(self) -> Iterator[Job]:
        """The games of this generation that are still to be played."""
        config, counts = self.config, len(self.all_games)
        chunks, games = self._portions()
        guided = config.guided_from is not None and self.generation >= config.guided_from
        expert = "" if self._dagger else config.search
        play = Play(config.searched, config.noise, config.quick, config.differing)
        for chunk in range(chunks):
            path = self._file(self.generation, chunk)
            if not path.exists():
                seed = stream_seed(stream_seed(EXPERT_SEED + config.seed, self.generation), chunk)
                yield Job(self.all_games[chunk % counts], games, seed, expert, guided, self.best_file, play, path)

    def _folder(self, generation: int) -> Path:
        return self.out / "games" / f"{generation:03}"

    def _file(self, generation: int, chunk: int) -> Path:
        return self._folder(generation) / f"{chunk:03}.npz"

    def _play(self, stop: threading.Event, watch: Callable[[Status], None]) -> bool:
        """Play games. Returns whether all are played."""
        jobs = list(self._jobs())
        if not jobs:
            return True
        self._folder(self.generation).mkdir(parents=True, exist_ok=True)
        began, before = clock(), self.seconds
        for done, _ in enumerate(_results(jobs, self.config.processes or 1, stop, self.cluster), 1):
            self.seconds = before + clock() - began
            watch(self._status(PLAYING, done / len(jobs)))
        if self.seconds > before:
            self.save()
        return not list(self._jobs())

    def _learn(self, stop: threading.Event, watch: Callable[[Status], None]) -> bool:
        """Learn. Returns whether everything was shown as often as asked."""
        config = self.config
        if self._learning is None:
            began = clock()
            positions, self._played, games = self._positions()
            if positions.held_out.all():  # or if there are none
                raise BotError(
                    f"generation {self.generation} has no position to learn from: give another --out, and more "
                    "--searched, --quick or --games"
                )
            self._length = self._played / games
            self.policy.set_training_mode(True)
            self._learning = Imitation(
                self.policy.network, positions, config.seed + self.generation, config.value_weight
            )
            if self._learned is not None:
                self._learning.load_state(self._learned)
            self.seconds += clock() - began
        learning = self._learning
        whole = round(config.epochs * (FIRST_EPOCHS if self.generation == 0 else 1) * len(learning.learned_from))
        while learning.shown < whole:
            if stop.is_set():
                self.save()
                return False
            began = clock()
            count = min(SHOWN_AT_A_TIME, whole - learning.shown)
            learning.learn(count, rate_at(learning.shown / whole, config.learning_rate))
            self.shown += count
            self.seconds += clock() - began
            watch(self._status(LEARNING, learning.shown / whole))
        self.accuracy, _ = learning.measure()
        self.policy.set_training_mode(False)
        return True

    def _positions(self) -> tuple[Positions, int, int]:
        """The positions to learn from, and how many decisions and games were played for them in this generation.

        These are greedy's decisions first, then those of the games of the last generations. A game of greedy of which
        no position was kept is not counted.
        """
        if self.generation == 0:
            first = self._positions_of_greedy()
            return first, int(first.played), len(np.unique(first.game))
        known = range(max(1, self.generation - self.config.window + 1), self.generation + 1)
        found = [self._games_of(one) for one in known]
        played, (files, games) = sum(int(file.played) for file in found[-1]), self._portions()
        return join([file for its in found for file in its]), played, files * games

    def _games_of(self, generation: int) -> list[Positions]:
        """The positions of the games of a generation. Raises BotError if a file is damaged or missing."""
        damaged = missing = (
            f"The games of generation {generation} are not played again, so the run cannot go on: the network that "
            f"played them is gone. Put a copy of the file there, or give another --out; --start net:{self.best_file} "
            "starts from the best network of the run"
        )
        if generation == self.generation:
            missing = "Run the same command: its games are played again"
            damaged = "Delete it and run the same command: its games are played again"
        paths = [self._file(generation, chunk) for chunk in range(self._portions()[0])]
        return [_load(path, damaged, missing) for path in paths]

    def _positions_of_greedy(self) -> Positions:
        each = -(-self.config.teacher_positions // len(self.all_games))
        seed = EXPERT_SEED + self.config.seed
        teachers = [bots.load("greedy", games) for games in self.all_games]
        return join(
            [
                gather(games, greedy, each, seed=seed, below=greedy if self.shape.over else None)
                for games, greedy in zip(self.all_games, teachers, strict=True)
            ]
        )

    def _judge(self) -> dict[str, Any]:
        """Play against greedy and against the best network so far. If the network is not worse, it becomes the best.

        Returns:
            The new line of the learning curve.
        """
        config, began = self.config, clock()
        learner = bot_of(self.policy, self.games)
        self.evaluations = tuple(trial.evaluate(learner, config.eval_games) for trial in self.trials)
        share = float("nan")
        if self.best is not None:
            shares = [self._against_best(learner, games) for games in self.all_games]
            share = float(np.mean(shares))
        self.seconds += clock() - began
        line = self._curve_line(share)
        self.curve.append(line)
        return line

    def _against_best(self, learner: Bot, games: Configuration) -> float:
        """How the network fares beside the best one so far; 1 is equal. Alone, it is measured by its points."""
        asked = (games, self.config.eval_games, BEST_SEED + self.generation)
        best = CheckpointBot(self.best_file, games)
        found = evaluate(learner, best, *asked)
        if found.points is None:
            return games.num_players * found.wins.mean
        its = evaluate(best, best, *asked).points
        return found.points.mean / max(1.0, its.mean if its is not None else 1.0)

    def _curve_line(self, share: float) -> dict[str, Any]:
        line: dict[str, Any] = {
            "generation": self.generation,
            "steps": self.played,
            "seconds": round(self.seconds, 1),
            "mean_length": round(self._length, 1),
            "shown": self.shown,
            "accuracy": round(self.accuracy, 4),
        }
        for one in self.evaluations:
            line |= one.columns
        line["against_best"] = round(share, 4)
        line["accepted"] = share >= self.config.gate or self.best is None
        return line

    # ------------------------------------------------------------ files

    def _write_best(self) -> None:
        checkpoint.write_checkpoint(
            self.best_file, self._describe(), {TORCH_WEIGHTS: checkpoint.weights_of(self.policy)}
        )

    def save(self) -> None:
        """Write ``last.zip`` and the learning curve."""
        learned = self._learning.state() if self._learning is not None else self._learned
        progress = {name: getattr(self, name) for name in KEPT}
        progress["evaluations"] = [dataclasses.asdict(one) for one in self.evaluations]
        entries = {
            TORCH_WEIGHTS: checkpoint.weights_of(self.policy),
            PROGRESS: json.dumps(progress).encode(),
            OPTIMIZER: packed(learned) if learned is not None else b"",
        }
        checkpoint.write_checkpoint(self.last, self._describe(), entries)
        if self.curve:
            write_atomically(self.out / CURVE_FILE, as_csv(self.curve))

    def _describe(self) -> dict[str, Any]:
        results = {
            "steps": self.played,
            "shown": self.shown,
            "seconds": round(self.seconds, 1),
            "generations": self.generations,
            "parameters": checkpoint.parameter_count(self.policy),
            "commits": checkpoint.with_present(self.commits),
            "evaluations": {one.opponent: one.summary for one in self.evaluations},
        }
        settings = {"module": "agents.expert"} | settings_as_json(self.config) | {"bots": self.versions}
        before = None if self.shown else self._before
        return checkpoint.describe(self.games, self.shape, settings, results, self.all_games, before)

    def _status(self, doing: str, done: float, line: dict[str, Any] | None = None) -> Status:
        return Status(self.generation, doing, done, self.seconds, self.fraction, self.evaluations, line)


def _generations_of(best: Path) -> int | None:
    """How many generations were over when a best network was written. None without the file."""
    return read_description(best)["results"].get("generations") if best.exists() else None


# ---------------------------------------------------------------- processes


def _results(jobs: list[Job], processes: int, stop: threading.Event, cluster: Cluster | None) -> Iterator[Path]:
    """Yield files of games as they are written. Begins none after ``stop``."""
    if cluster is not None:
        sent = Sent(Shipment.pack([f"net:{jobs[0].network}"]), agents_here())
        for job, content in cluster.map(_play_elsewhere, sent, iter(jobs), stop):
            write_atomically(job.out, content)
            yield job.out
        return
    if processes == 1:
        for job in jobs:
            if stop.is_set():
                return
            yield job.run()
        return
    with fresh_processes(processes) as pool:
        left = iter(jobs)
        under_way: set[Future[Path]] = set()  # one for each process: a pool cannot cancel what it has queued for them
        while True:
            if not stop.is_set():
                with signals_held_back():  # the pool starts its processes now
                    under_way |= {pool.submit(job.run) for job in islice(left, processes - len(under_way))}
            if not under_way:
                return
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            for one in done:
                yield one.result()


@dataclass(frozen=True)
class Sent:
    """What all jobs need on a cluster.

    Attributes:
        network: the best network. agents: what :func:`agents_here` said where the jobs were made.
    """

    network: Shipment
    agents: str


@cache
def agents_here() -> str:
    """12 hex digits of the files of ``agents/``. The same job gives the same games only where they are the same."""
    digest = hashlib.sha256()
    for path in sorted(AGENTS.rglob("*.py")):
        digest.update(path.relative_to(AGENTS).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def _play_elsewhere(sent: Sent, job: Job) -> bytes:
    """Play a job in a worker of a cluster and return its file. The worker need not see the files of this machine.

    Raises ClusterError if it has another ``agents/`` than the process that made the job.
    """
    if agents_here() != sent.agents:
        raise ClusterError(
            f"node {socket.gethostname()} has {AGENTS} (files {agents_here()}), and this process has other files "
            f"({sent.agents}); all nodes need the same checkout"
        )
    (spec,) = sent.network.unpack()
    return dataclasses.replace(job, network=Path(spec.removeprefix("net:"))).positions().as_file()


def iterate(
    config: ExpertConfig,
    stop: threading.Event | None = None,
    watch: Callable[[Status], None] | None = None,
    cluster: Cluster | None = None,
) -> ExpertRun:
    """Begin a run, or continue the one in ``config.out``, on one thread until its budget is spent.

    Args:
        stop: when set, the run saves what is under way and returns.
        watch: called with the status after every file of games, some learning, and every generation.
        cluster: plays the games; None for processes of this machine.

    Raises:
        BotError, UsageError, UnknownGame, OptionError, ComponentError, DivergedError: see :func:`agents.run.train`.
        ClusterError: a node of the cluster has other files than this process.
    """
    with torch_threads(1), alone_in_run(expert_folder(config)):
        run = ExpertRun(config, cluster)
        run.advance_to_end(stop or threading.Event(), watch or (lambda status: None))
    return run
