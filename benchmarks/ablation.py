"""Find out where a bot loses its games: another bot takes its place at one kind of node at a time.

All rows play the same deals, seats rotated. If a row clearly wins more than the first one, the bot chooses worse than
the other bot at that kind of node. Of forty rows, one seems to by chance alone: play it again with another seed. Ctrl-C
stops after the deals being played.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Annotated

import numpy as np
import tyro
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from tyro.conf import arg

import kepler_envs
from agents.allowed import need
from agents.ending import INTERRUPTED, plain_ending
from agents.evaluation import mean_with_interval
from kepler_envs import bots
from kepler_envs.bots.protocol import Bot, TrustedDecisions
from kepler_envs.cli.common import optional, parse
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.seeds import SEED_LIMIT
from kepler_envs.terminal import grid, make_console, stop_on_signals
from kepler_envs.tournament.pairing import parts_of, play_against
from kepler_envs.tournament.standings import Share, share

STOPPING = "stopping after these deals; press again to stop at once"
COLUMNS = ("chosen by the other bot", "decisions per game", "chosen otherwise", "wins", "95 %", "more than alone")


class Mixed:
    """A bot that lets another one choose at some kinds of nodes. Both start with the same seeds."""

    def __init__(self, agent: Bot, other: Bot, nodes: tuple[int, ...]) -> None:
        self.name = "mixed"
        self.agent = agent
        self.other = other
        self.nodes = nodes

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """See :meth:`Bot.start`."""
        self.agent.start(rows, seeds)
        self.other.start(rows, seeds)

    def act(self, decisions: TrustedDecisions) -> np.ndarray:
        """See :meth:`Bot.act`."""
        by_other = np.isin(decisions.batch.states["node"][decisions.rows], self.nodes)
        actions = np.empty(len(by_other), np.int64)
        for bot, asked in ((self.agent, ~by_other), (self.other, by_other)):
            if asked.any():
                actions[asked] = bot.act(TrustedDecisions(decisions.batch, decisions.rows[asked]))
        return actions


class Compared:
    """A bot that plays alone while another one is asked, too.

    Attributes:
        decisions, otherwise: int64 by node: decisions so far, and those where the other bot would have chosen
            otherwise.
    """

    def __init__(self, agent: Bot, other: Bot) -> None:
        self.name = agent.name
        self.agent = agent
        self.other = other
        self.decisions, self.otherwise = np.zeros(256, np.int64), np.zeros(256, np.int64)

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """See :meth:`Bot.start`."""
        self.agent.start(rows, seeds)
        self.other.start(rows, seeds)

    def act(self, decisions: TrustedDecisions) -> np.ndarray:
        """See :meth:`Bot.act`."""
        nodes = decisions.batch.states["node"][decisions.rows]
        actions = self.agent.act(decisions)
        np.add.at(self.decisions, nodes, 1)
        np.add.at(self.otherwise, nodes, actions != self.other.act(decisions))
        return actions


@dataclass
class Row:
    """The results with another bot choosing at some kinds of nodes.

    Attributes:
        name: the kind of node, or ``everything`` or ``nothing``. nodes: where the other bot chooses.
        wins: float64, one per game so far; a win shared by w seats counts 1 / w.
        decisions, otherwise: decisions at these nodes when the bot plays alone, and those where the other bot would
            have chosen otherwise.
    """

    name: str
    nodes: tuple[int, ...]
    wins: np.ndarray = field(default_factory=lambda: np.zeros(0))
    decisions: int = 0
    otherwise: int = 0

    def share(self) -> Share:
        """The share of wins."""
        return share(self.wins)

    def gain(self, alone: Row) -> Share:
        """How many more games it wins than the bot alone in the same deals, with the 95 % interval of the pairs."""
        return mean_with_interval(self.wins - alone.wins)


@dataclass(frozen=True)
class Ablation:
    """Find the kinds of nodes at which a bot chooses worse than another one."""

    game: tyro.conf.Positional[str]
    """Name of the game."""
    agent: Annotated[str, arg(metavar="SPEC")]
    """The bot to examine."""
    other: Annotated[str, arg(metavar="SPEC")] = "greedy"
    """The bot that chooses in its place."""
    against: Annotated[str, arg(metavar="SPEC")] = "greedy"
    """The bot on all other seats."""
    players: Annotated[int | None, optional("N")] = None
    """Number of players. Without it, the game's default."""
    games: int = 2000
    """Games per row, rounded up so that every seat is used equally often."""
    side_by_side: int = 1000
    """Games played at a time. It can be stopped after each such part, when all rows have played the same deals."""
    seed: int = 7
    """Seed of the games."""

    def check(self) -> None:
        """Raise BotError if a number is not allowed."""
        for name in ("games", "side_by_side"):
            need(self, name, getattr(self, name) >= 1, "an integer from 1 on")
        need(self, "seed", 0 <= self.seed < SEED_LIMIT, "0 to 2**64 - 1")

    def configuration(self) -> Configuration:
        """The configuration of the games."""
        return kepler_envs.load_game(self.game).configure(self.players)


def ablate(
    asked: Ablation, stop: threading.Event, advance: Callable[[int, int], None] = lambda done, rows: None
) -> list[Row]:
    """Play the rows: the other bot chooses nowhere, at each kind of node that the bot meets, everywhere.

    Args:
        stop: when set, it ends after the current deals, but plays at least one part.
        advance: called with the games just played and the number of rows.
    """
    config = asked.configuration()
    agent, other = bots.load(asked.agent, config), bots.load(asked.other, config)
    against = bots.load(asked.against, config)
    nodes = config.game.nodes
    alone, whole = Row("nothing", ()), Row("everything", tuple(int(node) for node in nodes))
    compared = Compared(agent, other)
    rows: list[Row] = []
    for part in parts_of(asked.games, asked.side_by_side, config.num_players, asked.seed):
        games, seed = part.games, part.seed
        before = alone.wins
        alone.wins = np.append(before, play_against(compared, against, config, games, seed).wins)
        rows = _rows_of_kinds(nodes, compared.decisions, rows, before)
        advance(games, len(rows) + 2)
        for row in [*rows, whole]:
            played = play_against(Mixed(agent, other, row.nodes), against, config, games, seed)
            row.wins = np.append(row.wins, played.wins)
            advance(games, len(rows) + 2)
        if stop.is_set():
            break
    for row in [*rows, whole]:
        row.decisions = int(compared.decisions[list(row.nodes)].sum())
        row.otherwise = int(compared.otherwise[list(row.nodes)].sum())
    return [alone, *rows, whole]


def _rows_of_kinds(nodes: type[IntEnum], decisions: np.ndarray, known: Sequence[Row], before: np.ndarray) -> list[Row]:
    """A row for each kind of node that came up.

    Where a kind had not come up yet, nobody could choose otherwise: the wins ``before`` are those of the bot alone.
    """
    rows = {row.nodes: row for row in known}
    return [
        rows.get((int(node),), Row(node.name.lower().replace("_", " "), (int(node),), before))
        for node in nodes
        if decisions[int(node)]
    ]


def as_table(asked: Ablation, rows: list[Row]) -> Table:
    """The results as a table, shares in per cent."""
    alone = rows[0]
    lines = []
    for row in rows:
        wins, gain = row.share(), row.gain(alone)
        lines.append((
            row.name,
            f"{row.decisions / len(row.wins):.1f}" if row is not alone else "",
            f"{row.otherwise / row.decisions:.1%}" if row.decisions else "",
            f"{wins.mean:.1%}",
            f"{wins.low:.1%} .. {wins.high:.1%}",
            f"{100 * gain.mean:+z.1f} ({100 * gain.low:+z.1f} .. {100 * gain.high:+z.1f})" if row is not alone else "",
        ))  # fmt: skip
    config = asked.configuration()
    title = (
        f"{config.game.id}, {config.num_players} players: {asked.agent}, with choices by {asked.other}, against "
        f"{asked.against}; {len(alone.wins):,} games per row, seed {asked.seed}; "
        f"an equal share is {1 / config.num_players:.1%}"
    )
    return grid(title, COLUMNS, lines, right=COLUMNS[1:])


def run(asked: Ablation, console: Console) -> int:
    """Play and print. Returns 0, or 130 if it was stopped before the last deals."""
    asked.check()
    with stop_on_signals(console, STOPPING) as stop, Progress(console=console, transient=True) as progress:
        task = progress.add_task("playing", total=None)

        def advance(games: int, rows: int) -> None:
            progress.update(task, total=asked.games * rows, advance=games)

        rows = ablate(asked, stop, advance)
    console.print(as_table(asked, rows))
    return 0 if len(rows[0].wins) >= asked.games else INTERRUPTED


def main() -> int:
    """Play what is asked for; the exit code."""
    with plain_ending():
        return run(parse(Ablation, "benchmarks.ablation", __doc__), make_console())


if __name__ == "__main__":
    sys.exit(main())
