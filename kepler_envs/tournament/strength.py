"""How strong agents are: ``python -m agents.strength kepler_run --agents uniform mcts:100 ppo-v0 --games 1000``.

One agent plays against another on all other seats, seats rotated, and its share of wins goes into a line of ``docs/strength.csv``, from which
the tables of the pages are made. A line that is there with as many games is not played again; after Ctrl-C, or once ``--minutes`` are
over, the games so far are written.
"""

from __future__ import annotations

import csv
import io
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from rich.console import Console

import agents
import kepler_envs
from agents.checkpoint import commit, write_atomically
from agents.protocol import AgentError
from agents.tournament.standings import share
from agents.train import play_against, stop_on_signals
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.seeds import stream_seed

RECORD = Path(__file__).parent.parent / "docs" / "strength.csv"


@dataclass(frozen=True)
class Strength:
    """Measure agents, each alone against one on all other seats."""

    game: Annotated[str, tyro.conf.Positional]
    """Name or id of the game."""
    agents: tuple[str, ...]
    """Agents to measure."""
    against: tuple[str, ...] = ("greedy",)
    """Agents on all other seats, one after the other."""
    players: int | None = None
    """Seats; the game's default unless told."""
    games: int = 1000
    """Games of each pairing, rounded up to use every seat equally often."""
    side_by_side: int = 1000
    """Games played at a time: what is kept if the rest is given up."""
    minutes: float | None = None
    """Most time for a pairing; the games played by then count."""
    seed: int = 77
    """Of the games."""
    out: Path = RECORD
    """The record that lines are added to."""

    def __post_init__(self) -> None:
        for name in ("games", "side_by_side", "minutes"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise AgentError(f"--{name.replace('_', '-')} {value} is not allowed; allowed: above 0")


@dataclass(frozen=True)
class Line:
    """A line of the record: ``wins`` of one ``agent`` against ``against`` on all other seats, with a 95 % interval (Wilson's)."""

    game: str
    players: int
    agent: str
    against: str
    games: int
    wins: float
    low: float
    high: float
    seed: int
    commit: str

    @property
    def key(self) -> tuple[str, int, str, str]:
        return self.game, self.players, self.agent, self.against


def read_lines(path: Path = RECORD) -> list[Line]:
    """The lines of a record; none if there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = {field.name: str(field.type) for field in fields(Line)}
    kinds = {"str": str, "int": int, "float": float}
    return [Line(**{name: kinds[kind](row[name]) for name, kind in names.items()}) for row in rows]


def write_line(path: Path, line: Line) -> None:
    """Put a line in the place of that of the same pairing, or behind all others; the record stays sorted."""
    lines = {old.key: old for old in read_lines(path)} | {line.key: line}
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(Line)])
    writer.writerows(astuple(lines[key]) for key in sorted(lines))
    write_atomically(path, text.getvalue().encode())


def measure(
    request: Strength, config: Configuration, agent: str, against: str, stop: threading.Event, console: Console
) -> Line:
    """Play a pairing, in parts, until it is stopped or its time is over."""
    learner, others = agents.load(agent, config), agents.load(against, config)
    began, wins = time.monotonic(), np.zeros(0)
    for part in _parts(request, config):
        results = play_against(learner, others, config, part, stream_seed(request.seed, len(wins)))
        wins = np.concatenate([wins, results.wins])
        console.print(f"  {len(wins):,} games, {wins.mean():.1%}, {time.monotonic() - began:.0f} s", highlight=False)
        late = request.minutes is not None and time.monotonic() - began > 60 * request.minutes
        if late or stop.is_set():
            break
    found = share(wins)
    numbers = (round(found.mean, 4), round(found.low, 4), round(found.high, 4))
    return Line(
        config.game.name, config.num_players, agent, against, found.games, *numbers, request.seed, short_commit()
    )


def short_commit() -> str:
    """Seven digits, and ``+`` if files differ from it; empty outside a repository."""
    found = commit() or ""
    return found[:7] + found[40:]


def _parts(request: Strength, config: Configuration) -> Iterator[int]:
    """Games of each part, all of them whole rounds of the seats."""
    seats = config.num_players
    left = -(-request.games // seats) * seats
    most = -(-request.side_by_side // seats) * seats
    while left > 0:
        yield min(left, most)
        left -= most


def run(request: Strength, stop: threading.Event, console: Console) -> None:
    """Measure all pairings that the record lacks."""
    config = kepler_envs.game(request.game).configure(request.players)
    for against in request.against:
        for agent in request.agents:
            known = {line.key: line.games for line in read_lines(request.out)}
            name = f"{config.game.name}, {config.num_players} players: {agent} against {against}"
            if known.get((config.game.name, config.num_players, agent, against), 0) >= request.games:
                console.print(f"{name}: known", highlight=False)
                continue
            if stop.is_set():
                return
            console.print(name, highlight=False)
            line = measure(request, config, agent, against, stop, console)
            write_line(request.out, line)
            console.print(
                f"  wins {line.wins:.1%} ({line.low:.1%} .. {line.high:.1%}), an equal share is {1 / line.players:.1%}",
                highlight=False,
            )


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    console = Console()
    try:
        request = tyro.cli(Strength, prog="python -m agents.strength", args=argv, description=__doc__)
        with stop_on_signals(console, after="these games") as stop:
            run(request, stop, console)
    except (AgentError, kepler_envs.OptionError, KeyError) as error:
        sys.exit(f"strength: {error.args[0]}")
    except OSError as error:
        sys.exit(f"strength: {error}")


if __name__ == "__main__":
    main()
