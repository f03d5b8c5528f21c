"""Where a bot loses its games: at one kind of node after the other, another bot chooses in its place.

python -m benchmarks.ablation kepler_run --agent bc-v1 --players 4 --games 4000    # by greedy, against greedy on all
other seats

All rows play the same deals, seats rotated. A kind of node whose row wins more than the first one is a kind at which
the bot chooses worse than the one in its place; Ctrl-C ends after the deals that are played.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
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
from agents.evaluation import mean_with_interval
from kepler_envs import bots
from kepler_envs.bots.protocol import Bot, TrustedDecisions
from kepler_envs.engine.game import Configuration
from kepler_envs.terminal import grid, make_console, stop_on_signals
from kepler_envs.tournament.pairing import parts_of, play_against
from kepler_envs.tournament.standings import Share, share

STOPPING = "stopping after these deals; once more to give it up"
COLUMNS = ("chosen by the other bot", "decisions a game", "chosen otherwise", "wins", "95 %", "more than alone")


class Mixed:
    """One bot, but at some kinds of nodes another one chooses. Both are started with the same seeds."""

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
    """A bot that plays alone, while another one is asked, too.

    Attributes:
        decisions, otherwise: int64 by node: decisions so far, and those in which the other bot would have chosen
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
    """What was found where another bot chooses at some kinds of nodes.

    Attributes:
        name: of the kind, or ``everything`` or ``nothing``. nodes: chosen at by the other bot.
        wins: float64, of each game so far; a win shared by w counts 1 / w.
        decisions, otherwise: of these kinds when the bot plays alone, and those of them in which the other would have
        chosen otherwise.
    """

    name: str
    nodes: tuple[int, ...]
    wins: np.ndarray = field(default_factory=lambda: np.zeros(0))
    decisions: int = 0
    otherwise: int = 0

    def share(self) -> Share:
        """Of wins."""
        return share(self.wins)

    def gain(self, alone: Row) -> Share:
        """Wins more than those of the bot alone in the same deals, with the 95 % interval of the pairs."""
        return mean_with_interval(self.wins - alone.wins)


@dataclass(frozen=True)
class Ablation:
    """Look for the kinds of nodes at which a bot chooses worse than another one."""

    game: tyro.conf.Positional[str]
    """Name of the game."""
    agent: Annotated[str, arg(metavar="SPEC")]
    """The bot that is looked into."""
    other: Annotated[str, arg(metavar="SPEC")] = "greedy"
    """The bot that chooses in its place."""
    against: Annotated[str, arg(metavar="SPEC")] = "greedy"
    """The bot on all other seats."""
    players: int | None = None
    """Number of players; the game's default if left out."""
    games: int = 2000
    """Of each row, rounded up to use every seat equally often."""
    side_by_side: int = 1000
    """Games played at a time: after these all rows have the same deals, and it can be stopped."""
    seed: int = 7
    """Of the games."""

    def configuration(self) -> Configuration:
        """What is played."""
        return kepler_envs.load_game(self.game).configure(self.players)


def ablate(
    asked: Ablation, stop: threading.Event, advance: Callable[[int, int], None] = lambda done, rows: None
) -> list[Row]:
    """Play the rows: nothing by the other bot, each kind of node that the bot meets, everything.

    Args:
        stop: ends it after the deals that are played, at least one part.
        advance: is told the games that were played, and the number of rows.
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
        alone.wins = np.append(alone.wins, play_against(compared, against, config, games, seed).wins)
        rows = rows or _rows_of_kinds(nodes, compared.decisions)
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


def _rows_of_kinds(nodes: type[IntEnum], decisions: np.ndarray) -> list[Row]:
    """A row for each kind of node that was met."""
    return [Row(node.name.lower().replace("_", " "), (int(node),)) for node in nodes if decisions[int(node)]]


def as_table(asked: Ablation, rows: list[Row]) -> Table:
    """What was found, with shares in per cent."""
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
            f"{100 * gain.mean:+.1f} ({100 * gain.low:+.1f} .. {100 * gain.high:+.1f})" if row is not alone else "",
        ))  # fmt: skip
    config = asked.configuration()
    title = (
        f"{config.game.id}, {config.num_players} players: {asked.agent}, with choices by {asked.other}, against "
        f"{asked.against}; "
        f"{len(alone.wins):,} games a row, seed {asked.seed}; an equal share is {1 / config.num_players:.1%}"
    )
    return grid(title, COLUMNS, lines, right=COLUMNS[1:])


def run(asked: Ablation, console: Console) -> int:
    """Play and print; 0, or 130 if it was stopped."""
    with stop_on_signals(console, STOPPING) as stop, Progress(console=console, transient=True) as progress:
        task = progress.add_task("playing", total=None)

        def advance(games: int, rows: int) -> None:
            progress.update(task, total=asked.games * rows, advance=games)

        rows = ablate(asked, stop, advance)
    console.print(as_table(asked, rows))
    return 130 if stop.is_set() else 0


def main() -> None:
    raise SystemExit(run(tyro.cli(Ablation, description=__doc__), make_console()))


if __name__ == "__main__":
    main()
