"""The report of a tournament: tables for the terminal, leaderboard.json, results.md and pictures. html.py makes the
page."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from kepler_envs.bots.networks import CURVE_FILE
from kepler_envs.engine.game import Configuration
from kepler_envs.files import write_atomically
from kepler_envs.printable import counted, printable, printable_name, short_names
from kepler_envs.terminal import grid
from kepler_envs.tournament import TournamentError
from kepler_envs.tournament.metagame import MISSING, Evaluation, Value
from kepler_envs.tournament.ratings import IMAGINARY_WINS
from kepler_envs.tournament.standings import Margin, Share, Standings

LEDGER = "games.sqlite"
LEADERBOARD, RESULTS, RATINGS, LEARNING_CURVE = "leaderboard.json", "results.md", "ratings.png", "learning_curve.png"

ALONE = "Share of wins of one (row) against others (column) on all other seats, with 95 % intervals"
MARGINS = "Score of one (row) less the mean score of the others (column) in the same games, with 95 % intervals"
AHEAD = "How often row finishes before column at a common table, ties half"
SEATS = "Share of wins by seat, with 95 % intervals"
METAGAME = "Who invades whom: alpha-rank and Nash averaging, with 95 % intervals"
FORFEITS = "Forfeits"


@dataclass(frozen=True)
class Facts:
    """The settings of a tournament, the commits at which its games were played, and how many games its ledger holds."""

    config: Configuration
    specs: Sequence[str]
    seed: int
    adaptive: bool
    seconds_per_decision: float | None
    commits: Sequence[str]
    held: int


@dataclass(frozen=True)
class SavedReplay:
    """A replay in the folder: the game, played again by itself.

    Attributes:
        same: whether it came out as in the ledger.
        ranks: by seat, with seats of agents that forfeited behind all others. The replay has those of the moves alone.
        returns: by seat, for these ranks.
        forfeits: the agents that forfeited, and after how many decisions.
    """

    file: str
    game: int
    agents: list[str]
    same: bool
    ranks: list[int]
    returns: list[float]
    forfeits: dict[str, int]

    @property
    def seats(self) -> list[str]:
        """The agents' names in the replay: who did not play to the end is said there, too."""
        return [
            f"{name} ({_forfeited(self.forfeits[name])})" if name in self.forfeits else name for name in self.agents
        ]

    @property
    def substitution(self) -> str:
        """Who forfeited and who went on, or ""."""
        lost = ", ".join(f"{name} {_forfeited(decisions)}" for name, decisions in self.forfeits.items())
        return f"{lost}; uniform play finished" if lost else ""


def _forfeited(decisions: int) -> str:
    return f"forfeited after {counted(decisions, 'decision')}"


@dataclass(frozen=True)
class Table:
    """A table for the terminal, Markdown and HTML. All columns but the first hold numbers, unless ``words``.

    ``heat``: for each number, how far it is from even, from -1 (bad for the row) to 1. None is not coloured.
    """

    title: str
    columns: list[str]
    rows: list[list[str]]
    heat: list[list[float | None]] | None = None
    words: bool = False

    def markdown(self) -> str:
        rule = ["---", *["---" if self.words else "--:"] * (len(self.columns) - 1)]
        return "\n".join("| " + " | ".join(map(in_markdown, row)) + " |" for row in [self.columns, rule, *self.rows])


def tables(found: Standings) -> list[Table]:
    """Make all tables: leaderboard, matrices, seats, and, where there are any, meta-game and forfeits."""
    names, seats = [line.agent for line in found.lines], len(found.by_seat)
    widest = max((abs(cell.mean) for row in found.margins for cell in row if cell is not None), default=0.0)
    made = [
        _leaderboard(found),
        _matrix(ALONE, names, found.alone, lambda cell: _from_even(cell.mean, 1 / seats)),
        _matrix(MARGINS, names, found.margins, lambda cell: cell.mean / (widest or 1.0)),
        _matrix(AHEAD, names, found.ahead, lambda cell: _from_even(cell, 0.5)),
        Table(
            SEATS,
            ["agent", *[f"seat {seat}" for seat in range(seats)]],
            [
                ["all", *map(_cell, found.by_seat)],
                *[[line.agent, *map(_cell, line.by_seat)] for line in found.lines],
            ],
            [
                [_if_clear(cell, 1 / seats) for cell in found.by_seat],
                *[[_if_clear(cell, line.win_rate) for cell in line.by_seat] for line in found.lines],
            ],
        ),
    ]
    if found.metagame is not None:
        made.append(_metagame(names, found.metagame))
    if found.forfeits:
        rows = [
            [group.agent, group.reason, f"{group.games:,}", f"{group.game}", _last_line(group.details)]
            for group in found.forfeits
        ]
        made.append(Table(FORFEITS, ["agent", "reason", "games", "first game", "what was wrong"], rows, words=True))
    return made


def _leaderboard(found: Standings) -> Table:
    columns = ["agent", "rating", "95 %", "wins", "return", "rank", "score", "seats"]
    rows = [
        [
            line.agent, f"{line.rating:+z.0f}", f"{line.rating_low:+z.0f} .. {line.rating_high:+z.0f}",
            f"{line.win_rate:.1%}", f"{line.mean_return:+z.3f}", f"{line.mean_rank:.2f}",
            f"{line.mean_score:.2f}", f"{line.seats:,}",
        ]
        for line in found.lines
    ]  # fmt: skip
    if found.forfeits:
        columns.append("forfeits")
        rows = [[*row, f"{line.forfeits:,}"] for row, line in zip(rows, found.lines, strict=True)]
    return Table("Leaderboard", columns, rows)


def _matrix(title: str, names: Sequence[str], cells: Sequence[Sequence[Any]], heat: Callable[[Any], float]) -> Table:
    rows = [[name, *map(_cell, row)] for name, row in zip(names, cells, strict=True)]
    return Table(title, ["", *names], rows, [[None if cell is None else heat(cell) for cell in row] for row in cells])


def _metagame(names: Sequence[str], evaluations: Sequence[Evaluation]) -> Table:
    rows = [
        [name, _value(each.alpha_rank, ".1%"), _value(each.nash_mass, ".1%"), _value(each.nash_average, "+z.3f")]
        for name, each in zip(names, evaluations, strict=True)
    ]
    return Table(METAGAME, ["agent", "alpha-rank", "share in the equilibrium", "payoff against it"], rows)


def _value(value: Value | None, digits: str) -> str:
    return "not found" if value is None else _estimate(value, digits)


def _estimate(value: Share | Margin | Value, digits: str) -> str:
    """A mean with its interval, each in this format."""
    return f"{value.mean:{digits}} ({value.low:{digits}} .. {value.high:{digits}})"


def _from_even(share: float, even: float) -> float:
    """How far a share is from an even one: -1 (none) to 1 (all)."""
    if share <= even:
        return share / even - 1 if even > 0 else 0.0
    return (share - even) / (1 - even)


def _if_clear(share: Share, even: float) -> float | None:
    """How far a share is from an even one, if that is outside of its interval."""
    return None if share.low <= even <= share.high else _from_even(share.mean, even)


def _cell(cell: Share | Margin | float | None) -> str:
    if cell is None:
        return ""
    if isinstance(cell, Share):
        return _estimate(cell, ".1%")
    if isinstance(cell, Margin):
        return _estimate(cell, "+z.2f")
    return f"{cell:.1%}"


def _last_line(text: str) -> str:
    return printable_name(text.strip().rpartition("\n")[2])


def in_markdown(words: str) -> str:
    """Escape words for a Markdown table."""
    return words.replace("|", "\\|").replace("<", "&lt;")


def summary(found: Standings) -> str:
    """Return one line about the games."""
    ends = ", ".join(f"{count:,} {end}" for end, count in found.ends.items())
    return f"{found.games:,} games ({ends}), {found.mean_length:.1f} decisions on average"


def print_report(found: Standings, console: Console) -> None:
    """Print the report on the terminal."""
    for table in tables(found):
        drawn = grid("", table.columns, table.rows, right=[] if table.words else table.columns[1:])
        drawn.title = None  # rich would wrap it to the width of the table
        console.print(table.title, style="bold")
        console.print(drawn)
    if found.metagame is None:
        console.print(MISSING, markup=False)
    console.print(summary(found))
    console.print(scale(found))


def scale(found: Standings) -> str:
    """Explain the numbers of the ratings."""
    return f"Ratings: 400 points are odds of 10 to 1; 0 is {found.anchor}."


def notes(found: Standings, facts: Facts) -> list[str]:
    """Return what a reader of the tables should know, in paragraphs."""
    paragraphs = [
        f"{scale(found)} They are the Plackett-Luce maximum likelihood estimate over all finishing orders, seat by "
        f"seat, with {IMAGINARY_WINS} imaginary win and {IMAGINARY_WINS} imaginary loss of each agent, spread over all "
        "others; a game with ties counts as all its possible orders. The rating of an agent that never wins, or never "
        "loses, hangs on those imaginary games and grows with the number of games. Intervals are percentiles of a "
        f"Bayesian bootstrap by game. They are those of the difference to {found.anchor}: two that overlap may belong "
        "to agents of which one is clearly better. A win shared by w seats counts 1 / w. An agent that sits on several "
        "seats of a table competes with itself, so the other tables say more.",
    ]
    if facts.adaptive:
        paragraphs.append(
            "The schedule was adaptive: it chose tables where it was least certain who is better, so the tables of "
            "one against others have unequal numbers of games. Wins, return, rank and score of the leaderboard, the "
            "wins of seats, and how often one agent finishes before another are means over tables that differ from "
            "agent to agent."
        )
    if facts.seconds_per_decision is not None:
        paragraphs.append(f"A decision could take {facts.seconds_per_decision:g} s.")
    if found.forfeits:
        paragraphs.append(
            "An agent that forfeited a game was replaced by uniform play there, and its seats were placed behind all "
            "others. The scores there are those that uniform play came to."
        )
    if found.metagame is None:
        paragraphs.append(f"{MISSING}.")
    else:
        paragraphs.append(
            "The meta-game of alpha-rank and Nash averaging: two players choose an agent each. The payoff is the "
            "share of wins of one alone against the other on all other seats, less the same with the two exchanged. "
            "alpha-rank is the share of time that a population spends with an agent. Nash averaging gives the "
            "equilibrium of largest entropy and the payoff against it."
        )
    return paragraphs


def write_report(folder: Path, found: Standings, replays: Sequence[SavedReplay], facts: Facts) -> None:
    """Write everything but the ledger and the replays into ``folder``."""
    config = facts.config
    data = {
        "game": config.game.id,
        "options": config.describe(),
        "components": config.components_digest,
        "specs": list(facts.specs),
        "seed": facts.seed,
        "adaptive": facts.adaptive,
        "seconds_per_decision": facts.seconds_per_decision,
        "commits": list(facts.commits),
        "games_in_ledger": facts.held,
        **found.as_json(),
        "replays": [asdict(replay) for replay in replays],
    }
    write_atomically(folder / LEADERBOARD, f"{json.dumps(data, indent=1)}\n".encode())
    draw_ratings(found, f"{config.game.title}, {config.num_players} players", folder / RATINGS)
    curves = learning_curves(facts.specs, config.num_players)
    if curves:
        draw_learning_curves(curves, config.num_players, folder / LEARNING_CURVE)
    else:
        (folder / LEARNING_CURVE).unlink(missing_ok=True)
    write_atomically(folder / RESULTS, _markdown(found, replays, facts, bool(curves)).encode())


def part_of_ledger(ledger: Path | str, held: int, games: int) -> str:
    """Say that a report is about the first games of a longer ledger."""
    return f"{ledger} holds {held:,} games; the report is about the first {games:,}"


def headline(found: Standings, facts: Facts) -> str:
    """Return games, agents, seed, commit and options in one line."""
    part = f" {part_of_ledger(LEDGER, facts.held, found.games)}." if facts.held > found.games else ""
    described = facts.config.describe()
    if "components" in described:
        described["components"] = _as_code(described["components"])
    options = ", ".join(f"{name} = {value}" for name, value in described.items())
    return (
        f"{summary(found)}.{part} Agents: {', '.join(map(_as_code, facts.specs))}. "
        f"{'Adaptive schedule' if facts.adaptive else 'Schedule'} with seed {facts.seed}; "
        f"commit {', '.join(facts.commits) or 'unknown'}. Game `{facts.config.game.id}`: {options}."
    )


def _as_code(path: str) -> str:
    """A spec or a path, which may hold anything, as Markdown shows code."""
    name = printable_name(path).replace("`", "'")
    return f"`{name}`"


def _markdown(found: Standings, replays: Sequence[SavedReplay], facts: Facts, has_curve: bool) -> str:
    leaderboard, *others = tables(found)
    parts = [
        f"# {facts.config.game.title}: tournament",
        headline(found, facts),
        leaderboard.markdown(),
        f"![ratings]({RATINGS})",
        *notes(found, facts),
    ]
    for table in others:
        parts += [f"## {table.title}", table.markdown()]
    if has_curve:
        parts += ["## Learning curve", f"![learning curve]({LEARNING_CURVE})"]
    parts += [
        "## Replays",
        "\n".join(
            f"- [{replay.file}](replays/{replay.file}): game {replay.game}, seats "
            f"{in_markdown(', '.join(replay.agents))}"
            + (f"; {in_markdown(replay.substitution)}" if replay.forfeits else "")
            + ("" if replay.same else f"; {NOT_THE_SAME}")
            for replay in replays
        ),
    ]
    return "\n\n".join(parts) + "\n"


NOT_THE_SAME = "played by itself, this game came out otherwise than in the ledger"


# ---------------------------------------------------------------- pictures


LABEL_LETTERS = 36
"""Longest name of an agent beside a bar, or in a legend: half the width of the picture."""


def draw_ratings(found: Standings, title: str, path: Path) -> None:
    """Draw the ratings as bars with intervals, the best agent on top."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 1.2 + 0.5 * len(found.lines)), layout="constrained")
    axes = figure.subplots()
    for place, line in enumerate(reversed(found.lines)):
        axes.barh(place, line.rating, height=0.6, color="#4c78a8")
        axes.plot([line.rating_low, line.rating_high], [place, place], color="black", linewidth=1.5)
    *names, anchor = short_names([*(line.agent for line in reversed(found.lines)), found.anchor], LABEL_LETTERS)
    axes.set_yticks(range(len(found.lines)), names, parse_math=False)
    axes.axvline(0, color="black", linewidth=0.8)
    words = f"rating with 95 % interval (400 = odds of 10 to 1, 0 = {anchor})"
    figure.supxlabel(words, fontsize="medium", parse_math=False)  # across the figure: beside long names axes are narrow
    axes.set_title(f"{title}, {found.games:,} games")
    _write_figure(figure, path)


def _write_figure(figure: Any, path: Path) -> None:
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=120)
    write_atomically(path, image.getvalue())


DRAWN = re.compile(r"steps|seconds|(win_rate|low|high)_\w+")
"""The columns of a learning curve that are drawn. Others need not be numbers."""


def read_learning_curve(spec: str) -> list[dict[str, float]]:
    """Read what is drawn of the learning_curve.csv in or beside the checkpoint of a ``net:PATH``.

    It is empty if there is none. TournamentError if it is no table of numbers.
    """
    kind, _, argument = spec.partition(":")
    if kind != "net":
        return []
    checkpoint = Path(os.path.expanduser(argument))  # no shell writes it out behind a colon
    path = (checkpoint if checkpoint.is_dir() else checkpoint.parent) / CURVE_FILE
    if not path.is_file():
        return []
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            return [_drawn(row) for row in csv.DictReader(lines, restkey="")]
    except (ValueError, csv.Error) as problem:
        raise TournamentError(
            f"{printable(str(path))} is damaged: {problem}. Mend it or delete it, and run the same command again; the "
            "games are kept"
        ) from problem


def _drawn(row: dict[str, Any]) -> dict[str, float]:
    """The numbers of a row that are drawn. ValueError if one is none, or if it is not known after how many steps."""
    numbers = {name: float(value) for name, value in row.items() if value and DRAWN.fullmatch(name)}
    for name, number in numbers.items():
        if not math.isfinite(number):
            raise ValueError(f"{name} is {number}")
    if numbers and "steps" not in numbers:
        raise ValueError("a line has no steps")
    return numbers


class CurvePoint(NamedTuple):
    """One learner's share of wins at one evaluation. The interval is NaN where a file has none."""

    steps: float
    wins: float
    low: float
    high: float
    seconds: float


def learning_curves(specs: Sequence[str], players: int) -> dict[tuple[str, str], list[CurvePoint]]:
    """The curves to draw, by the learner's spec and the opponent, as far as checkpoints have them beside them.

    A network that learns several numbers of players has a curve for each; that of this table counts.
    """
    found = {}
    for spec in specs:
        rows = read_learning_curve(spec)
        for opponent in ("uniform", "greedy"):
            points = _curve(rows, f"{opponent}_{players}p") or _curve(rows, opponent)
            if len(points) > 1:
                found[spec, opponent] = points
    return found


def _curve(rows: list[dict[str, float]], trial: str) -> list[CurvePoint]:
    none = float("nan")
    return [
        CurvePoint(
            row["steps"], row[f"win_rate_{trial}"], row.get(f"low_{trial}", none), row.get(f"high_{trial}", none),
            row.get("seconds", 0.0),
        )
        for row in rows
        if f"win_rate_{trial}" in row
    ]  # fmt: skip


def draw_learning_curves(curves: dict[tuple[str, str], list[CurvePoint]], players: int, path: Path) -> None:
    """Plot one learner's share of wins against uniform and against greedy players while it learns."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    learners = list(dict.fromkeys(spec for spec, _ in curves))
    names = dict(zip(learners, short_names([printable_name(spec) for spec in learners], LABEL_LETTERS), strict=True))
    for (spec, opponent), points in curves.items():
        label = f"against {opponent}" + (f", {names[spec]}" if len(learners) > 1 else "")
        steps, wins, low, high, _ = np.array(points).T
        (line,) = axes.plot(steps, wins, marker="o", markersize=3, label=label)
        axes.fill_between(steps, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    minutes = max(point.seconds for points in curves.values() for point in points) / 60
    axes.axhline(1 / players, color="grey", linestyle="--", linewidth=1, label="an equal share")
    axes.set_ylim(0, 1)
    axes.set_xlabel(f"steps of training ({minutes:.1f} minutes)")
    axes.set_ylabel("share of wins, one against others")
    for text in axes.legend().get_texts():
        text.set_parse_math(False)
    _write_figure(figure, path)
