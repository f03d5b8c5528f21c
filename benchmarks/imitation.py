"""What a network can see: how often it predicts greedy's choices, and how often it beats greedy, after imitating it on
one core.

`python -m benchmarks.imitation ad_astra 4` measures one game, `python -m benchmarks --only imitation` all of them.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import tyro

import kepler_envs
from agents.allowed import need, need_network
from agents.ending import plain_ending
from benchmarks.sampling import Row, Settings
from kepler_envs import bots, records
from kepler_envs.cli.common import Flag, parse
from kepler_envs.engine.network import NetworkShape
from kepler_envs.files import check_writable
from kepler_envs.revision import commit

TARGETS = {
    ("kitten_adventurers", 4): 0.24, ("kepler_run", 4): 0.24, ("race_to_kepler", 4): 0.24, ("ad_astra", 4): 0.23,
    ("kepler_3042", 2): 0.42, ("kepler_3042", 4): 0.18,
}  # fmt: skip
"""Share of wins to reach, by (game, players)."""

RECORD = Path(__file__).parents[1] / "docs" / "imitation.csv"
POSITIONS_SEED, NETWORK_SEED, GAMES_SEED = 1, 0, 7


@dataclass(frozen=True)
class Asked:
    """One network: what it learns from, and what it sees."""

    game: tyro.conf.Positional[str]
    """Name of the game."""
    players: tyro.conf.Positional[int]
    """Number of players."""
    positions: int = 200_000
    """Decisions of greedy to learn from."""
    epochs: float = 12
    """How often each decision is shown to the network."""
    minutes: float = 15
    """Most minutes for gathering and learning together, without compiling."""
    games: int = 2000
    """Games against greedy on all other seats, each seat equally often."""
    width: int = 128
    """Units of the first layer."""
    hidden: tuple[int, ...] = (128,)
    """Units of the further layers."""
    rows: int = 32
    """Numbers that the network computes for each row of a table. 0 makes a flat network."""
    derived: Flag = True
    """Show the network the facts alone, without the derived fields that follow from them."""

    def check(self) -> None:
        """Raise BotError if a number is not allowed."""
        for name in ("epochs", "minutes"):
            need(self, name, 0 < getattr(self, name) < math.inf, "above 0")
        for name in ("positions", "games"):
            need(self, name, getattr(self, name) >= 1, "an integer from 1 on")
        need_network(self)


@dataclass(frozen=True)
class Measured(records.Line):
    """A line of the record: what was asked, and what came of it.

    A win shared by w seats counts 1 / w; ``low`` to ``high`` is the 95 % interval.
    """

    KEY: ClassVar = ("game", "players", "width", "hidden", "rows", "derived")
    game: str
    players: int
    width: int
    hidden: str
    rows: int
    derived: bool
    positions: int
    noise: float
    seeds: str
    epochs: float
    parameters: int
    accuracy: float
    value_error: float
    wins: float
    low: float
    high: float
    games: int
    equal_share: float
    seconds_gathering: float
    seconds_learning: float
    commit: str

    @property
    def amounts(self) -> tuple[int, int]:
        """How much was learned from and played: the more, the better the line."""
        return self.positions, self.games


def measure(asked: Asked) -> Measured:
    """Gather, learn and play, on one core."""
    import torch  # here alone: the other parts do without it

    from agents.checkpoint import bot_of, build, parameter_count
    from agents.evaluation import evaluate
    from agents.imitation import NOISE, gather, imitate
    from kepler_envs.adapters.pytorch import torch_threads

    config = kepler_envs.load_game(asked.game).configure(asked.players, derived=asked.derived)
    greedy = bots.load("greedy", config)
    with torch_threads(1):
        gather(config, greedy, 1)  # compiles what is not compiled yet
        began = time.perf_counter()
        positions = gather(config, greedy, asked.positions, NOISE, POSITIONS_SEED)
        gathering = time.perf_counter() - began
        left = max(0.01, asked.minutes - gathering / 60)
        torch.manual_seed(NETWORK_SEED)
        policy = build(NetworkShape(asked.width, asked.hidden, asked.rows), config)
        report = imitate(policy.network, positions, asked.epochs, left, NETWORK_SEED)
        wins = evaluate(bot_of(policy, config), greedy, config, asked.games, GAMES_SEED).wins
    return Measured(
        config.game.id, asked.players, asked.width, " ".join(map(str, asked.hidden)), asked.rows, asked.derived,
        asked.positions, NOISE,
        f"{POSITIONS_SEED} {NETWORK_SEED} {GAMES_SEED}", round(report.epochs, 2), parameter_count(policy),
        round(report.accuracy, 4), round(report.value_error, 4), round(wins.mean, 4), round(wins.low, 4),
        round(wins.high, 4),
        wins.games, round(1 / asked.players, 4), round(gathering, 1), round(report.seconds, 1), commit() or "unknown",
    )  # fmt: skip


def write(line: Measured, out: Path) -> None:
    """Add a line to a record, or put it in the place of the one with the same key; the record stays sorted.

    A line of more positions or games of this release stays, and this is printed.
    """
    if records.write_unless(out, line, lambda known: known.is_of_this_release and known.amounts > line.amounts):
        print(f"not recorded: {out} has a line of more positions or games")


IMITATED = "greedy imitated from"
"""In the names of the rows of :func:`imitation`."""


def imitation(settings: Settings) -> list[Row]:
    """networks that imitate greedy"""
    rows: list[Row] = []
    for (game, players), target in TARGETS.items():
        asked = Asked(game, players, settings.positions, minutes=settings.minutes, games=settings.games)
        for one, goal in ((asked, target), (replace(asked, rows=0, derived=False), None)):
            found = measure(one)
            if not settings.quick:
                write(found, RECORD)
            rows.append(as_row(found, goal))
    return rows


def as_row(found: Measured, target: float | None) -> Row:
    """The line as a figure of the printed table."""
    seen = "" if found.rows and found.derived else ", a flat network of the facts alone"
    return Row(
        f"{found.game}, {found.players} players: {IMITATED} {found.positions:,} positions{seen}",
        f"{found.accuracy:.1%} of choices predicted, {found.wins:.1%} wins ({found.low:.1%} .. {found.high:.1%}) of "
        f"{found.games} games, equal share {found.equal_share:.0%}; "
        f"{found.seconds_gathering + found.seconds_learning:.0f} s",
        "" if target is None else f"{target:.0%} wins",
        None if target is None else found.wins >= target,
    )


@dataclass(frozen=True)
class Command(Asked):
    """Imitate greedy in one game and add the result to a record."""

    out: Path = RECORD
    """The record to add to, a CSV file. Processes that run side by side need one each."""


def main() -> None:
    """Measure one network."""
    with plain_ending():
        asked = parse(Command, "benchmarks.imitation", __doc__)
        asked.check()
        kepler_envs.load_game(asked.game).configure(asked.players)
        records.read_lines(asked.out, Measured)
        check_writable(asked.out)
        found = measure(asked)
        row = as_row(found, TARGETS.get((asked.game, asked.players)))
        print(f"{row.what}: {row.value} {row.target}")
        write(found, asked.out)


if __name__ == "__main__":
    main()
