"""Tables kept as CSV: a dataclass is a line, lines of the same key replace one another."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from kepler_envs.files import write_atomically

DOCS = Path(__file__).parents[2] / "docs"
RESULTS, CURVES = DOCS / "benchmark.csv", DOCS / "benchmark_curves.csv"
ATTACKS, EXACT = DOCS / "robustness.csv", DOCS / "exploitability.csv"

KINDS = {"str": str, "int": int, "float": float}


@dataclass(frozen=True)
class Line:
    """A line of a record; ``KEY`` names the columns that tell lines apart."""

    KEY: ClassVar[tuple[str, ...]] = ()

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it apart."""
        return tuple(getattr(self, name) for name in self.KEY)


@dataclass(frozen=True)
class Result(Line):
    """One trained agent, or a bot for comparison, alone against ``opponent`` on all other seats.

    ``returns`` is its mean return with a 95 % interval, ``wins`` its share of wins. ``agent`` and ``opponent_version`` tell which files
    played: lines of another version of the opponent are not compared. ``hours`` and ``hardware`` are those of its training.
    """

    KEY: ClassVar = ("game", "players", "method", "budget", "seed", "opponent")
    game: str
    players: int
    method: str
    kind: str
    budget: int
    decisions: int
    seed: int
    opponent: str
    opponent_version: str
    known: str
    games: int
    returns: float
    low: float
    high: float
    wins: float
    hours: float
    hardware: str
    agent: str
    commit: str


@dataclass(frozen=True)
class CurvePoint(Line):
    """The mean return against the pool during training, as told by whoever trained."""

    KEY: ClassVar = ("game", "players", "method", "budget", "seed", "decisions")
    game: str
    players: int
    method: str
    budget: int
    seed: int
    decisions: int
    hours: float
    returns: float
    games: int


@dataclass(frozen=True)
class AttackLine(Line):
    """What the best of some attackers wins from an agent on all other seats, in games that had no part in choosing it."""

    KEY: ClassVar = ("game", "players", "agent", "decisions", "attackers")
    game: str
    players: int
    agent: str
    agent_version: str
    decisions: int
    attackers: int
    each: str
    wins: float
    low: float
    high: float
    returns: float
    games: int
    equal_share: float
    hours: float
    hardware: str
    commit: str


@dataclass(frozen=True)
class ExactLine(Line):
    """How far a policy is from equilibrium in a reduced game: NashConv, the sum over both seats of what a best response gains.

    ``amount`` counts iterations of CFR, decisions of training, or draws of a bot's choice in each information state.
    """

    KEY: ClassVar = ("game", "policy", "amount", "seed")
    game: str
    policy: str
    amount: int
    seed: int
    nash_conv: float
    states: int
    information_states: int
    seconds: float
    commit: str


Kind = TypeVar("Kind", bound=Line)


def read_lines(path: Path, kind: type[Kind]) -> list[Kind]:
    """The lines of a record; none if there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = {field.name: KINDS[str(field.type)] for field in fields(kind)}
    return [kind(**{name: cast(row[name]) for name, cast in columns.items()}) for row in rows]


def write_lines(
    path: Path, new: Iterable[Kind], kind: type[Kind], gone: Callable[[Kind], bool] = lambda line: False
) -> None:
    """Put lines in the place of those with their keys, or beside them, and leave out what is ``gone``; the record stays sorted."""
    kept = [line for line in read_lines(path, kind) if not gone(line)]
    lines = {line.key: line for line in [*kept, *new]}
    write_atomically(path, as_csv(kind, (lines[key] for key in sorted(lines))))


def as_csv(kind: type[Kind], lines: Iterable[Kind]) -> bytes:
    """The file of these lines."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(kind)])
    writer.writerows(astuple(line) for line in lines)
    return text.getvalue().encode()
