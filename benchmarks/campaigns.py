"""Play the solo campaigns of Kepler-3042: points and share of levels won, for each bot, campaign and level.

Each level begins without bonus cubes. A level is not played again if the record already has as many games of it by the
same version of the bot and of kepler_envs. Ctrl-C stops after the level being played.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Annotated, ClassVar

from rich.console import Console
from rich.progress import Progress
from tyro.conf import arg

import kepler_envs
from agents.allowed import need
from agents.ending import INTERRUPTED, plain_ending
from agents.evaluation import mean_with_interval
from kepler_envs import bots, records
from kepler_envs.cli.common import parse
from kepler_envs.engine.seeds import SEED_LIMIT
from kepler_envs.files import check_writable
from kepler_envs.games.kepler_3042.campaign import campaign_names
from kepler_envs.games.kepler_3042.state import NUM_CAMPAIGNS, NUM_LEVELS
from kepler_envs.revision import commit
from kepler_envs.terminal import grid, make_console, say, stop_on_signals
from kepler_envs.tournament.standings import share

GAME = kepler_envs.load_game("kepler_3042")
RECORD = Path(__file__).parents[1] / "docs" / "campaigns.csv"
STOPPING = "stopping after this level; press again to stop at once"


@dataclass(frozen=True)
class Line(records.Line):
    """One level of one campaign: mean points and share of games won, each with its 95 % interval.

    Student's for the points, Wilson's for the share.
    """

    KEY: ClassVar = ("level", "agent", "campaign")
    agent: str
    version: str
    campaign: int
    level: int
    games: int
    points: float
    points_low: float
    points_high: float
    won: float
    won_low: float
    won_high: float
    seed: int
    commit: str


@dataclass(frozen=True)
class Asked:
    """Play all levels of all campaigns and add the results to a record."""

    agents: Annotated[tuple[str, ...], arg(metavar="SPEC ...")] = ("uniform", "greedy")
    """Specs of the bots that play."""
    games: int = 100
    """Games per level of each campaign."""
    seed: int = 77
    """Seed of the games. All bots and campaigns play the same deals."""
    out: Path = RECORD
    """The record to add to, a CSV file."""

    def check(self) -> None:
        """Raise BotError if a number is not allowed."""
        need(self, "games", self.games >= 1, "an integer from 1 on")
        need(self, "seed", 0 <= self.seed < SEED_LIMIT, "0 to 2**64 - 1")


def measure(agent: str, campaign: int, level: int, games: int, seed: int) -> Line:
    """Play one level."""
    config = GAME.configure(1, campaign=campaign, level=level)
    version = bots.fingerprint(agent, GAME.name)  # of the file that plays: it may be another one afterwards
    batch = bots.play_games(bots.load(agent, config), config, games, seed)
    points = mean_with_interval(batch.final_score[:, 0].astype(float))
    won = share(batch.final_return[:, 0] > 0)
    return Line(
        agent, version, campaign, level, games,
        round(points.mean, 4), round(points.low, 4), round(points.high, 4), round(won.mean, 4), round(won.low, 4),
        round(won.high, 4),
        seed, commit() or "unknown",
    )  # fmt: skip


def measure_all(asked: Asked, stop: threading.Event, console: Console) -> bool:
    """Play the levels that the record lacks. Each line is written as soon as it is known. False if it was stopped
    before the last one.

    Raises before the first game: BotError if there is no such bot, RecordError if the file is no such record, OSError
    if it cannot be written.
    """
    for agent in asked.agents:
        bots.load(agent, GAME.configure(1))
    levels = list(product(asked.agents, range(1, NUM_LEVELS + 1), range(NUM_CAMPAIGNS)))
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("playing", total=len(levels))
        for agent, level, campaign in levels:
            progress.update(task, description=f"{agent}, level {level}")
            version = bots.fingerprint(agent, GAME.name)
            known = {line.key: line for line in read(asked.out) if line.version == version and line.is_of_this_release}
            line = known.get((level, agent, campaign))
            if line is None or line.games < asked.games:
                if stop.is_set():
                    return False
                check_writable(asked.out)
                played = measure(agent, campaign, level, asked.games, asked.seed)
                if (kept := write(played, asked.out)) is not None:
                    say(console, f"{agent}, level {level}, campaign {campaign}")
                    say(console, records.not_recorded(kept.games, played.games))
            progress.advance(task)
    return True


def read(path: Path) -> list[Line]:
    """The lines of a record; none if there is no file."""
    return records.read_lines(path, Line)


def write(line: Line, path: Path) -> Line | None:
    """Add a line, or put it in the place of the one with the same key; the record stays sorted.

    A line of more games of the same bot stays, and is returned: another process played them meanwhile.
    """
    return records.write_unless(
        path,
        line,
        lambda known: known.version == line.version and known.is_of_this_release and known.games > line.games,
    )


# ---------------------------------------------------------------- the table


def columns() -> tuple[str, ...]:
    """Titles of the ladder's columns."""
    return ("level", "minimum", "bot", "points, 95 %", *(f"won: {name}" for name in campaign_names()), "games each")


def ladder(lines: Iterable[Line]) -> list[tuple[str, ...]]:
    """A row for each level and bot of which one version played all campaigns. Points are means over the campaigns;
    fewest come first."""
    found = {line.key: line for line in lines}
    rows = []
    for level in range(1, NUM_LEVELS + 1):
        together = []
        for agent in sorted({agent for at, agent, _ in found if at == level}):
            parts = [found.get((level, agent, campaign)) for campaign in range(NUM_CAMPAIGNS)]
            complete = [line for line in parts if line is not None]
            if len(complete) == NUM_CAMPAIGNS and len({line.version for line in complete}) == 1:
                together.append((_mean_points(complete), agent, complete))
        for (points, half), agent, complete in sorted(together):
            rows.append((
                str(level), str(int(GAME.configure(1).tables[0]["minimum_score"][level])), agent,
                f"{points:.1f} ({points - half:.1f} .. {points + half:.1f})",
                *(f"{100 * line.won:.0f} %" for line in complete),
                str(min(line.games for line in complete)),
            ))  # fmt: skip
    return rows


def _mean_points(lines: Sequence[Line]) -> tuple[float, float]:
    """Mean over the lines, and at most half of its 95 % interval.

    All campaigns play the same deals, so luck need not cancel out: the interval of the mean is the mean of the
    intervals if campaigns go together as closely as can be, and narrower otherwise.
    """
    halves = [(line.points_high - line.points_low) / 2 for line in lines]
    return sum(line.points for line in lines) / len(lines), sum(halves) / len(lines)


def main() -> int:
    """Play what the record lacks, and show the ladder; the exit code."""
    with plain_ending():
        asked, console = parse(Asked, "benchmarks.campaigns", __doc__), make_console()
        with stop_on_signals(console, STOPPING) as stop:
            asked.check()
            complete = measure_all(asked, stop, console)
            found = ladder(read(asked.out))
            console.print(grid("Kepler-3042, solo campaigns", columns(), found, right=("level", "minimum")))
        return 0 if complete else INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
