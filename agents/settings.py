"""What a training run is asked for."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from agents.expert_settings import ExpertConfig
from kepler_envs.bots.protocol import BotError

MAY_CHANGE = (
    "out",
    "steps",
    "minutes",
    "eval_every",
    "eval_games",
    "eval_opponents",
    "threads",
    "device",
    "trust_folder",
)
"""Fields that may differ when a run is taken up again."""

DEFAULT_STEPS = 2_000_000


@dataclass(frozen=True)
class PoolConfig:
    """Who plays the seats that are not the learner's, for --seat pool. The four shares are relative to each other."""

    latest: float = 0.5
    """Share of the network as it is; these seats learn, too."""
    past: float = 0.1
    """Share of snapshots, each equally often."""
    pfsp: float = 0.25
    """Share of snapshots that are likely to win: (1 - p)^2 for one that loses with probability p."""
    sparring_share: float = 0.15
    """Share of sparring partners, each equally often."""
    sparring: tuple[str, ...] = ("greedy",)
    """Sparring partners: any agents (greedy, mcts:100, bc-v1, net:PATH). None: no partners."""
    snapshot_every: int = 100_000
    """Decisions of the learner between two snapshots."""
    snapshots: int = 20
    """Most snapshots in the pool. Where they are closest together, one goes."""
    lineup: int = 4
    """Snapshots and partners that take seats in new games at a time; every update draws one of them anew."""

    def __post_init__(self) -> None:
        for name in ("latest", "past", "pfsp", "sparring_share"):
            value = getattr(self, name)
            if not 0 <= value < float("inf"):
                raise BotError(f"--pool.{name.replace('_', '-')} {value} is not allowed; allowed: 0 and more")
        if self.total <= 0:
            raise BotError("the four shares of --pool are all 0; one has to be more")
        for name, least in (("snapshot_every", 1), ("snapshots", 2), ("lineup", 1)):
            value = getattr(self, name)
            if value < least:
                raise BotError(f"--pool.{name.replace('_', '-')} {value} is not allowed; allowed: {least} and more")

    @property
    def total(self) -> float:
        """Of the shares."""
        return self.latest + self.past + self.pfsp + self.sparring_share


@dataclass(frozen=True)
class TrainConfig:
    """Train a MaskablePPO agent for a game."""

    game: Annotated[str, tyro.conf.Positional] = "kitten_adventurers"
    """Name or id of the game."""
    out: Path | None = None
    """Folder of the run, runs/GAME-PLAYERSp-SEAT unless told. A run that is already there goes on where it was: its
    last.zip is unpickled, which runs whatever code is in it."""
    trust_folder: bool = False
    """Go on with a run whose folder or last.zip belongs to somebody else, or which others may write to."""
    steps: int | None = None
    """Stop after this many decisions of the network, all games together; 2,000,000 if no budget is given."""
    minutes: float | None = None
    """Stop after this long, evaluations included."""
    players: int | str | None = None
    """Seats; the game's default unless told.

    A range such as 3-5 (with --seat pool): games of all these counts, one network.
    """
    option: tuple[str, ...] = ()
    """Options of the game, as name=value."""
    seed: int = 0
    """Of games, network and sampling. The same seed gives the same run on one thread."""
    seat: Literal["shared", "single", "pool"] = "shared"
    """shared: the network plays every seat and learns from all of them. single: one seat, the others are played by
    `opponent`.
    pool: one seat, the others are played by the network as it is, as it was, and by sparring partners."""
    opponent: str = "uniform"
    """For --seat single: the agent on all other seats (uniform, greedy, mcts:1000, net:PATH)."""
    pool: PoolConfig = field(default_factory=PoolConfig)
    start: str | None = None
    """Trained agent whose network the run begins with, for example bc-v1 or net:PATH; it settles width, hidden and
    rows. It may be one for other numbers of players."""
    over: Annotated[Literal["greedy"] | None, tyro.conf.arg(aliases=["--from"])] = None
    """The bot whose choice the network is told, and whose strength it begins with: it learns where to leave it (a
    residual policy)."""
    teacher: str | None = None
    """Agent that the network imitates first, for example greedy; None: it learns from its own play alone."""
    teacher_share: float = 0.2
    """Part of the budget for that; 1: it does nothing else."""
    teacher_positions: int = 200_000
    """The teacher's decisions that it learns from, gathered first, and again where a run is taken up; each is shown as
    often as the budget allows."""
    teacher_noise: float = 0.1
    """Share of the moves in these games that are random instead of the teacher's."""
    teacher_learning_rate: float = 2e-3
    """Of Adam while it imitates, at the start; a twentieth of it at the end."""
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
    rows: int = 32
    """Numbers that the network says of each row of the observation's tables; 0: it looks at no row by itself."""
    eval_every: int = 250_000
    """Decisions between two evaluations; each writes a checkpoint and a line of the learning curve."""
    eval_games: int = 200
    """Games of an evaluation against each opponent, rounded up to use every seat equally often."""
    eval_opponents: tuple[str, ...] = ("uniform", "greedy")
    """Agents to evaluate against, each on all other seats."""
    threads: int = 1
    """Threads of the network's arithmetic. Two help only on an otherwise idle machine."""
    device: str = "cpu"
    """Where the network learns: cpu, or a GPU as PyTorch names it, cuda or cuda:1.

    Games are played on the processor.
    """

    def __post_init__(self) -> None:
        counts = (
            "num_envs",
            "n_steps",
            "batch_size",
            "epochs",
            "width",
            "eval_every",
            "eval_games",
            "threads",
            "teacher_positions",
        )
        for name in (*counts, *(name for name in ("steps", "minutes") if getattr(self, name) is not None)):
            value = getattr(self, name)
            if value < 1 and not (name == "minutes" and value > 0):
                raise BotError(f"--{name.replace('_', '-')} {value} is not allowed; allowed: 1 and more")

        if self.rows < 0:
            raise BotError(f"--rows {self.rows} is not allowed; allowed: 0 and more")
        for name in ("teacher_share", "teacher_noise"):
            if not 0 <= getattr(self, name) <= 1:
                raise BotError(f"--{name.replace('_', '-')} {getattr(self, name)} is not allowed; allowed: 0 to 1")

    @property
    def budget_steps(self) -> int | None:
        """Decisions after which training ends; None where only the time counts."""
        return DEFAULT_STEPS if self.steps is None and self.minutes is None else self.steps

    def progress(self, steps: int, seconds: float) -> float:
        """How much of the budget is spent, 0..1: what the learning rate follows."""
        spent = [steps / self.budget_steps] if self.budget_steps is not None else []
        if self.minutes is not None:
            spent.append(seconds / (60 * self.minutes))
        return min(1.0, max(spent))


def player_range(players: int | str | None) -> list[int] | None:
    """The player counts that ``--players`` asks for; None: the game's default."""
    if players is None or isinstance(players, int):
        return None if players is None else [players]
    first, dash, last = players.partition("-")
    if not (first.isdecimal() and (last.isdecimal() or not dash) and int(first) <= int(last or first)):
        raise BotError(f"--players {players} is not allowed; write a number, or a range such as 3-5")
    return list(range(int(first), int(last or first) + 1))


def command_line(settings: Mapping[str, Any]) -> str:
    """The command that asks for the settings of a run: those that are not the default."""
    module, pool = settings.get("module", "agents.train"), settings.get("pool", {})
    flat = {
        **_unlike(MODULES[module], settings),
        **{f"pool.{name}": value for name, value in _unlike(PoolConfig, pool).items()},
    }
    words = ["python", "-m", module, str(settings["game"])]
    for name, value in flat.items():
        words.append(f"--{name.replace('_', '-')}")
        words += [str(one) for one in value] if isinstance(value, (list, tuple)) else [str(value)]
    return shlex.join(words)


def _unlike(kind: type, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that are not the default of a dataclass; those of its own position or kind (game, pool) aside."""
    defaults = {one.name: one.default for one in fields(kind) if one.default is not MISSING and one.name != "game"}
    return {
        name: settings[name]
        for name, default in defaults.items()
        if settings.get(name) is not None and as_plain(settings[name]) != as_plain(default)
    }


MODULES: Mapping[str, type] = {"agents.train": TrainConfig, "agents.expert": ExpertConfig}
"""What each command that trains is asked for."""


def as_plain(value: Any) -> Any:
    """As JSON gives it back."""
    return json.loads(json.dumps(value))
