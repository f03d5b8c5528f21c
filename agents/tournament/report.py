"""The report of a tournament: tables for the terminal, leaderboard.json, results.md and pictures."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from agents.tournament.ratings import IMAGINARY_WINS
from agents.tournament.standings import Share, Standings
from kepler_envs.cli.common import grid
from kepler_envs.engine.game import Configuration

LEADERBOARD, RESULTS, RATINGS, LEARNING_CURVE = "leaderboard.json", "results.md", "ratings.png", "learning_curve.png"

ALONE = "Share of wins of one (row) against others (column) on all other seats, with 95 % intervals"
AHEAD = "How often row finishes before column at a common table, ties half"
SEATS = "Share of wins by seat"


@dataclass(frozen=True)
class SavedReplay:
    """A replay in the folder; ``same``: whether the game, played by itself, came out as in the ledger."""

    file: str
    game: int
    agents: list[str]
    same: bool


@dataclass(frozen=True)
class Table:
    """A table for the terminal and for Markdown alike; all columns but the first hold numbers."""

    title: str
    columns: list[str]
    rows: list[list[str]]

    def markdown(self) -> str:
        rule = ["---", *["--:"] * (len(self.columns) - 1)]
        return "\n".join("| " + " | ".join(row) + " |" for row in [self.columns, rule, *self.rows])


def tables(found: Standings) -> list[Table]:
    """The leaderboard, the two matrices and the seats."""
    names = [line.agent for line in found.lines]
    return [
        Table(
            "Leaderboard",
            ["agent", "rating", "95 %", "wins", "return", "place", "score", "seats"],
            [
                [
                    line.agent, f"{line.rating:+.0f}", f"{line.rating_low:+.0f} .. {line.rating_high:+.0f}",
                    f"{line.win_rate:.1%}", f"{line.mean_return:+.3f}", f"{line.mean_rank:.2f}",
                    f"{line.mean_score:.2f}", f"{line.seats:,}",
                ]
                for line in found.lines
            ],
        ),
        Table(ALONE, ["", *names], _matrix(names, found.alone)),
        Table(AHEAD, ["", *names], _matrix(names, found.ahead)),
        Table(
            SEATS,
            ["agent", *[f"seat {seat}" for seat in range(len(found.lines[0].win_rate_by_seat))]],
            [[line.agent, *[f"{rate:.1%}" for rate in line.win_rate_by_seat]] for line in found.lines],
        ),
    ]  # fmt: skip


def _matrix(names: Sequence[str], cells: Iterable[Iterable[Share | float | None]]) -> list[list[str]]:
    return [[name, *[_cell(cell) for cell in row]] for name, row in zip(names, cells, strict=True)]


def _cell(cell: Share | float | None) -> str:
    if cell is None:
        return ""
    if isinstance(cell, Share):
        return f"{cell.mean:.1%} ({cell.low:.1%} .. {cell.high:.1%})"
    return f"{cell:.1%}"


def summary(found: Standings) -> str:
    """One line on the games."""
    ends = ", ".join(f"{count:,} {end}" for end, count in found.ends.items())
    return f"{found.games:,} games ({ends}), {found.mean_length:.1f} decisions on average"


def print_report(found: Standings, console: Console) -> None:
    """The report for the terminal."""
    for table in tables(found):
        drawn = grid("", table.columns, table.rows, right=table.columns[1:])
        drawn.title = None  # rich would wrap it to the width of the table
        console.print(table.title, style="bold")
        console.print(drawn)
    console.print(summary(found))
    console.print(_scale(found))


def _scale(found: Standings) -> str:
    return f"Ratings: 400 points are odds of 10 to 1; 0 is {found.anchor}."


def write_report(
    folder: Path,
    found: Standings,
    replays: Sequence[SavedReplay],
    config: Configuration,
    specs: Sequence[str],
    seed: int,
    commits: Sequence[str],
) -> None:
    """Write everything but the ledger and the replays into ``folder``."""
    data = {
        "game": config.game.id,
        "options": config.describe(),
        "components": config.components_digest,
        "specs": list(specs),
        "seed": seed,
        "commits": list(commits),
        **found.as_json(),
        "replays": [asdict(replay) for replay in replays],
    }
    (folder / LEADERBOARD).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    draw_ratings(found, f"{config.game.title}, {config.num_players} players", folder / RATINGS)
    curves = {spec: curve for spec in specs if (curve := read_learning_curve(spec))}
    if curves:
        draw_learning_curves(curves, config.num_players, folder / LEARNING_CURVE)
    else:
        (folder / LEARNING_CURVE).unlink(missing_ok=True)
    (folder / RESULTS).write_text(
        _markdown(found, replays, config, specs, seed, commits, bool(curves)), encoding="utf-8"
    )


def _markdown(
    found: Standings,
    replays: Sequence[SavedReplay],
    config: Configuration,
    specs: Sequence[str],
    seed: int,
    commits: Sequence[str],
    has_curve: bool,
) -> str:
    leaderboard, *others = tables(found)
    options = ", ".join(f"{name} = {value}" for name, value in config.describe().items())
    parts = [
        f"# {config.game.title}: tournament",
        f"{summary(found)}. Agents: {', '.join(f'`{spec}`' for spec in specs)}. Schedule seed {seed}; "
        f"commit {', '.join(commits) or 'unknown'}. Game `{config.game.id}`: {options}.",
        leaderboard.markdown(),
        f"![ratings]({RATINGS})",
        f"{_scale(found)} They are the Plackett-Luce maximum likelihood estimate over all finishing orders, seat by seat, "
        f"with {IMAGINARY_WINS} imaginary win of each agent over each other; ties are broken at random. Intervals are "
        "percentiles of a bootstrap by game. Wins: a win shared by w seats counts 1 / w; an agent that sits on "
        "several seats of a table competes with itself, so the tables below say more.",
    ]
    for table in others:
        parts += [f"## {table.title}", table.markdown()]
    if has_curve:
        parts += ["## Learning curve", f"![learning curve]({LEARNING_CURVE})"]
    parts += [
        "## Replays",
        "\n".join(
            f"- [{replay.file}](replays/{replay.file}): game {replay.game}, seats {', '.join(replay.agents)}"
            + ("" if replay.same else "; played by itself, this game came out otherwise than in the ledger")
            for replay in replays
        ),
    ]
    return "\n\n".join(parts) + "\n"


# ---------------------------------------------------------------- pictures


def draw_ratings(found: Standings, title: str, path: Path) -> None:
    """Bars with intervals, best agent on top."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 1.2 + 0.5 * len(found.lines)), layout="constrained")
    axes = figure.subplots()
    for place, line in enumerate(reversed(found.lines)):
        axes.barh(place, line.rating, height=0.6, color="#4c78a8")
        axes.plot([line.rating_low, line.rating_high], [place, place], color="black", linewidth=1.5)
    axes.set_yticks(range(len(found.lines)), [line.agent for line in reversed(found.lines)])
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel(f"rating with 95 % interval (400 = odds of 10 to 1, 0 = {found.anchor})")
    axes.set_title(f"{title}, {found.games:,} games")
    figure.savefig(path, dpi=120)


def read_learning_curve(spec: str) -> list[dict[str, float]]:
    """The rows of the learning_curve.csv in or beside the checkpoint of a ``ppo:PATH``; empty if there is none."""
    kind, _, argument = spec.partition(":")
    if kind != "ppo":
        return []
    checkpoint = Path(argument)
    path = (checkpoint if checkpoint.is_dir() else checkpoint.parent) / "learning_curve.csv"
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as lines:
        return [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(lines)]


def draw_learning_curves(curves: dict[str, list[dict[str, float]]], players: int, path: Path) -> None:
    """Share of wins of one learner against uniform and against greedy players while it learns."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for spec, curve in curves.items():
        for opponent in ("uniform", "greedy"):
            points = [(row["steps"], row[f"win_rate_{opponent}"]) for row in curve if f"win_rate_{opponent}" in row]
            low, high = f"low_{opponent}", f"high_{opponent}"
            if points:
                label = f"against {opponent}" + (f", {spec}" if len(curves) > 1 else "")
                drawn = axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=label)
                band = [(row["steps"], row[low], row[high]) for row in curve if low in row and high in row]
                if band:
                    axes.fill_between(*zip(*band, strict=True), color=drawn[0].get_color(), alpha=0.2, linewidth=0)
    minutes = max(row.get("seconds", 0.0) for curve in curves.values() for row in curve) / 60
    axes.axhline(1 / players, color="grey", linestyle="--", linewidth=1, label="an equal share")
    axes.set_ylim(0, 1)
    axes.set_xlabel(f"steps of training ({minutes:.1f} minutes)")
    axes.set_ylabel("share of wins, one against others")
    axes.legend()
    figure.savefig(path, dpi=120)
