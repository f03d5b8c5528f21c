"""The settings of a training run: the options of ``python -m agents.train``."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from agents.allowed import MOST_SEED, SIZE, need, need_defaults, need_distinct, need_network
from agents.expert_settings import ExpertConfig
from kepler_envs.bots.protocol import BotError
from kepler_envs.cli.common import Flag, Options, optional

MAY_CHANGE = (
    "out",
    "components",
    "steps",
    "minutes",
    "eval_every",
    "eval_games",
    "eval_opponents",
    "threads",
    "device",
    "trust_folder",
)
"""Settings that may change when you continue a run. Another component file must have the same cards."""

OF_THE_MACHINES = ("trust_folder", "processes", "ray")
"""Settings that say nothing of a run but where it is computed. Nothing that is saved names them."""

DEFAULT_STEPS = 2_000_000
OF_OWN_PLAY = (
    "opponent", "batch_size", "epochs", "learning_rate", "final_learning_rate", "gamma", "gae_lambda", "clip_range",
    "entropy", "max_grad_norm",
)  # fmt: skip
"""Settings of learning from its own play, which imitation alone leaves unused, as it does those of the pool."""


@dataclass(frozen=True)
class PoolConfig:
    """Who plays the seats that the learner does not play, with --seat pool. The four shares are relative to each
    other."""

    latest: float = 0.5
    """Share of seats played by the current network. It learns from these seats, too."""
    past: float = 0.1
    """Share of seats played by any snapshot, each equally often."""
    pfsp: float = 0.25
    """Share of seats played by strong snapshots: weight (1 - p)^2 if the learner beats it with probability p."""
    sparring_share: float = 0.15
    """Share of seats played by sparring partners, each equally often."""
    sparring: tuple[str, ...] = ("greedy",)
    """Specs of the sparring partners (greedy, mcts:100, bc-v1, net:PATH). May be empty."""
    snapshot_every: int = 100_000
    """Decisions of the learner between two snapshots."""
    snapshots: int = 20
    """Maximum number of snapshots. Beyond it, the one whose two neighbours are closest to each other is dropped."""
    lineup: int = 4
    """Snapshots and partners that take seats at a time. Each update draws one of them anew."""

    def __post_init__(self) -> None:
        need_distinct(self, "sparring", "pool.")
        for name in ("latest", "past", "pfsp", "sparring_share"):
            need(self, name, 0 <= getattr(self, name) < float("inf"), "a number from 0 on", "pool.")
        if self.total <= 0:
            raise BotError("the four shares of --pool are all 0; at least one must be above 0")
        for name, least in (("snapshot_every", 1), ("snapshots", 2), ("lineup", 1)):
            need(self, name, getattr(self, name) >= least, f"an integer from {least} on", "pool.")

    @property
    def total(self) -> float:
        """The sum of the four shares."""
        return self.latest + self.past + self.pfsp + self.sparring_share


@dataclass(frozen=True)
class TrainConfig:
    """Train a MaskablePPO agent for a game."""

    game: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[GAME]")] = "kitten_adventurers"
    """Name or id of the game."""
    out: Annotated[Path | None, optional("FOLDER")] = None
    """Folder of the run; default runs/GAME-PLAYERSp-SEAT. A run that is there continues; its pickled code is run."""
    trust_folder: Flag = False
    """Continue a run even if its folder or last.zip belongs to another user or others may write to it."""
    steps: Annotated[int | None, optional("N")] = None
    """Stop after this many decisions of the network in all games together. Without any budget, 2,000,000."""
    minutes: Annotated[float | None, optional("M")] = None
    """Stop after this many minutes, evaluations included, compiling not."""
    players: Annotated[int | str | None, optional("N")] = None
    """Number of players; default is the game's own. With --seat pool also a range, 3-5, for one network."""
    option: Options = ()
    """Option of the game. With several values, level=1,2, one network learns every combination."""
    components: Annotated[Path | None, optional("FILE")] = None
    """Your own component file, in place of the game's components.toml."""
    seed: int = 0
    """Seed of games, network and sampling. On one thread, the same seed gives the same run."""
    seat: Annotated[
        Literal["shared", "single", "pool"],
        tyro.conf.arg(
            help="shared: the network plays and learns from every seat. single: it plays one, `opponent` the others. "
            "pool: it plays one, and its present self, its snapshots and sparring partners play the others."
        ),
    ] = "shared"
    opponent: str = "uniform"
    """The bot on all other seats with --seat single (uniform, greedy, mcts:1000, net:PATH)."""
    pool: PoolConfig = field(default_factory=PoolConfig)
    start: Annotated[
        str | None,
        optional(
            "SPEC",
            help="Trained network to start from, bc-v1 or net:PATH; it sets width, hidden and rows. Player counts and "
            "cards may differ. A strong network needs a lower learning rate, such as 3e-4.",
        ),
    ] = None
    over: Annotated[Literal["greedy"] | None, optional("greedy", aliases=["--from"])] = None
    """Bot whose choice the network sees. It starts at that strength and learns where to deviate."""
    teacher: Annotated[str | None, optional("SPEC")] = None
    """Bot that the network imitates first, for example greedy. Without one, it learns from its own play alone."""
    teacher_share: float = 0.2
    """Share of the budget for imitation. With 1 it does nothing else."""
    teacher_positions: int = 200_000
    """Decisions of the teacher to learn from, gathered first and shown as often as the budget allows."""
    teacher_noise: float = 0.1
    """Share of random moves in the teacher's games."""
    teacher_learning_rate: float = 2e-3
    """Learning rate of Adam at the start of imitation. It falls to a twentieth."""
    num_envs: int = 64
    """Number of games played in parallel."""
    n_steps: int = 128
    """Decisions per game between two updates."""
    batch_size: int = 512
    """Decisions per minibatch."""
    epochs: int = 1
    """Passes over the decisions of each update."""
    learning_rate: float = 1e-3
    """Learning rate of Adam at the start."""
    final_learning_rate: float = 1e-4
    """Learning rate at the end, reached linearly. A lower --learning-rate needs a lower one here, too."""
    gamma: float = 1.0
    """Discount per decision of the learner."""
    gae_lambda: float = 0.95
    """Lambda of generalised advantage estimation: how far advantages look ahead."""
    clip_range: float = 0.2
    """Bound on how far an update may change the ratio of probabilities."""
    entropy: float = 0.005
    """Weight of the entropy bonus."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    max_grad_norm: float = 0.5
    """Maximum norm of the gradients."""
    shaping: float = 0.1
    """Value of the game's option `shaping`, an extra reward for progress, where the game has it."""
    width: int = 128
    """Units of the first layer."""
    hidden: tuple[int, ...] = (128,)
    """Units of the further layers, which policy and value each have for themselves."""
    rows: int = 32
    """Numbers that the network computes per row of the tables. With 0 it does not look at single rows."""
    eval_every: int = 250_000
    """Decisions between two evaluations. Each evaluation writes a checkpoint and a line of the learning curve."""
    eval_games: int = 200
    """Games per evaluation and opponent, rounded up so that every seat is used equally often."""
    eval_opponents: tuple[str, ...] = ("uniform", "greedy")
    """Bots to evaluate against, each on all other seats."""
    threads: int = 1
    """Threads for PyTorch. Two help only on an otherwise idle machine."""
    device: str = "cpu"
    """Device that the network learns on: cpu, cuda or cuda:1. Games always run on the processor."""

    def __post_init__(self) -> None:
        counts = (
            "num_envs", "n_steps", "batch_size", "epochs", "eval_every", "eval_games", "threads",
            "teacher_positions",
        )  # fmt: skip
        for name in counts:
            need(self, name, getattr(self, name) >= 1, "an integer from 1 on")
        need(self, "batch_size", self.batch_size >= 2, "an integer from 2 on: advantages are normalised")
        need(self, "n_steps", self.num_envs * self.n_steps >= 2, "an integer from 2 on with --num-envs 1")
        if self.seat == "single":  # the other learner shares a rest among the minibatches
            decisions = self.num_envs * self.n_steps
            sizes = f"sizes that leave no single one of {decisions:,} decisions: advantages are normalised"
            need(self, "batch_size", decisions % self.batch_size != 1, sizes)
        need_network(self)
        need_distinct(self, "eval_opponents")
        need(self, "seed", 0 <= self.seed <= MOST_SEED, f"0 to {MOST_SEED}")
        for name in ("learning_rate", "final_learning_rate", "teacher_learning_rate", "clip_range", "max_grad_norm"):
            need(self, name, 0 < getattr(self, name) < math.inf, "a number above 0")
        for name in ("entropy", "value_weight"):
            need(self, name, 0 <= getattr(self, name) < math.inf, "a number from 0 on")
        need(self, "steps", self.steps is None or self.steps >= 1, "an integer from 1 on")
        need(self, "minutes", self.minutes is None or 0 < self.minutes < math.inf, "a number above 0")
        for name in ("teacher_share", "teacher_noise", "gamma", "gae_lambda"):
            need(self, name, 0 <= getattr(self, name) <= 1, "0 to 1")
        self._check_unused()

    def _check_unused(self) -> None:
        """Raise BotError if something is asked for that the other settings leave unused."""
        if self.start is not None:
            need_defaults(self, SIZE, "only without --start")
        if self.seat != "single":
            need_defaults(self, ["opponent"], "only with --seat single")
        if self.seat != "pool":
            need_defaults(self.pool, [one.name for one in fields(PoolConfig)], "only with --seat pool", "pool.")
        if not self.pool.sparring_share and self.pool.sparring:
            need_defaults(self.pool, ["sparring"], "none, or --pool.sparring-share above 0", "pool.")
        if self.teacher is None:
            names = [one.name for one in fields(self) if one.name.startswith("teacher_")]
            need_defaults(self, names, "only with --teacher")
        else:
            need(self, "teacher_share", self.teacher_share > 0, "more than 0 with --teacher")
            if self.teacher_share == 1:
                self._need_no_own_play()

    def _need_no_own_play(self) -> None:
        """Raise BotError if something is asked for that imitation alone leaves unused."""
        allowed = "only with --teacher-share below 1"
        need_defaults(self, OF_OWN_PLAY, allowed)
        need_defaults(self.pool, [one.name for one in fields(PoolConfig)], allowed, "pool.")

    @property
    def learns_with(self) -> tuple[str, ...]:
        """Specs of the bots that the network learns from, or plays against while it learns."""
        if self.teacher is not None and self.teacher_share == 1:
            return (self.teacher,)
        others = {"shared": (), "single": (self.opponent,), "pool": self.pool.sparring}[self.seat]
        return others if self.teacher is None else (self.teacher, *others)

    @property
    def budget_steps(self) -> int | None:
        """Decisions after which training ends. None if only the time counts."""
        return DEFAULT_STEPS if self.steps is None and self.minutes is None else self.steps

    def progress(self, steps: int, seconds: float) -> float:
        """Share of the budget that is spent, 0..1. The learning rate follows it."""
        spent = [steps / self.budget_steps] if self.budget_steps is not None else []
        if self.minutes is not None:
            spent.append(seconds / (60 * self.minutes))
        return min(1.0, max(spent))


def without_unused(saved: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a saved run without those that it never used: teacher and sparring partners that have no share,
    and the settings of self-play if all is imitation. Once they were accepted, and such a run goes on if they are left
    out."""
    kept, pool = dict(saved), saved.get("pool", {})
    if saved.get("teacher_share") == 0:
        kept = {name: value for name, value in saved.items() if not name.startswith("teacher")}
    if saved.get("teacher") is not None and saved.get("teacher_share") == 1:
        kept = {name: value for name, value in saved.items() if name not in (*OF_OWN_PLAY, "pool")}
    if pool.get("sparring_share") == 0 and pool.get("sparring"):
        kept["pool"] = {**pool, "sparring": as_plain(PoolConfig.sparring)}
    return kept


def player_range(players: int | str | None) -> tuple[int, int] | None:
    """The first and the last player count that ``--players`` asks for. None stands for the game's default."""
    if players is None or isinstance(players, int):
        return None if players is None else (players, players)
    first, dash, last = players.partition("-")
    if not (first.isdecimal() and (last.isdecimal() or not dash) and int(first) <= int(last or first)):
        raise BotError(f"--players {players} is not allowed; write a number, or a range such as 3-5")
    return int(first), int(last or first)


def command_line(settings: Mapping[str, Any]) -> str:
    """The command line that gives these settings: those that are used and not the default."""
    settings = without_unused(settings)
    module, pool = settings.get("module", "agents.train"), settings.get("pool", {})
    flat = {
        **_unlike(MODULES[module], settings),
        **{f"pool.{name}": value for name, value in _unlike(PoolConfig, pool).items()},
    }
    words = ["python", "-m", module, str(settings["game"])]
    for name, value in flat.items():
        values = [str(one) for one in value] if isinstance(value, (list, tuple)) else [str(value)]
        for group in [[one] for one in values] if name == "option" else [values]:
            words += [f"--{name.replace('_', '-')}", *group]
    return shlex.join(words)


def _unlike(kind: type, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that differ from the defaults of a dataclass, without game and pool."""
    defaults = {one.name: one.default for one in fields(kind) if one.default is not MISSING and one.name != "game"}
    return {
        name: settings[name]
        for name, default in defaults.items()
        if name not in OF_THE_MACHINES
        and settings.get(name) is not None
        and as_plain(settings[name]) != as_plain(default)
    }


MODULES: Mapping[str, type] = {"agents.train": TrainConfig, "agents.expert": ExpertConfig}
"""The settings of each command that trains."""


def as_plain(value: Any) -> Any:
    """The value as JSON returns it."""
    return json.loads(json.dumps(value))
