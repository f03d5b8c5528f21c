"""The records of the benchmark: their lines, and their files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kepler_envs.records import Line

DOCS = Path(__file__).parents[2] / "docs"
RESULTS, CURVES = DOCS / "benchmark.csv", DOCS / "benchmark_curves.csv"
ATTACKS, EXACT = DOCS / "robustness.csv", DOCS / "exploitability.csv"


@dataclass(frozen=True)
class Result(Line):
    """One trained agent, or a bot for comparison, alone against ``opponent`` on all other seats.

    ``returns`` is its mean return with a 95 % interval, ``wins`` its share of wins. ``agent`` and ``opponent_version``
    identify the files that played: results against different versions of an opponent are not compared. ``hours`` and
    ``hardware`` are those of its training.
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
    """The mean return against the pool during training, as reported by whoever trained."""

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
    """What the best of several attackers wins from an agent on all other seats, in games that had no part in choosing
    it."""

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
    """The distance of a policy from equilibrium in a reduced game: NashConv, the sum of what a best response gains on
    each seat.

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
