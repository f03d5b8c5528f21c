"""The tables and curves of docs/benchmark.md, from the records. Needs neither PyTorch nor OpenSpiel."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kepler_envs
from agents.benchmark.playing import FIXED, normalised, reference, score
from agents.benchmark.protocol import DECISIONS, IMITATION, LEAST_SEEDS, ONE, POOL, SEARCH, TASKS, ZERO, Task
from agents.benchmark.records import (
    ATTACKS,
    CURVES,
    EXACT,
    RESULTS,
    AttackLine,
    CurvePoint,
    ExactLine,
    Result,
)
from agents.benchmark.statistics import Estimate, interquartile_mean, probability_of_improvement
from kepler_envs.records import read_lines

Table = tuple[Sequence[str], Sequence[Sequence[Any]]]
"""Titles of the columns, and the rows."""

NOTHING = ""
PICTURE = RESULTS.parent / "images" / "benchmark.svg"
COLOURS = 10
"""Colours of a picture, those of matplotlib's usual cycle. Methods beyond them have dashed lines."""


@dataclass(frozen=True, order=True)
class Row:
    """A method with a budget, or a fixed bot (budget 0)."""

    budget: int
    method: str


def rows_of(lines: list[Result]) -> list[Row]:
    """All rows: fixed bots first, then methods by budget."""
    return sorted({Row(line.budget, line.method) for line in lines})


def scores_of(lines: list[Result], task: Task, row: Row, opponents: tuple[str, ...]) -> np.ndarray:
    """The scores (runs,) of a row in a game, by seed; empty if nothing was measured."""
    seeds = sorted(
        {
            line.seed
            for line in lines
            if (line.game, line.players, line.method, line.budget) == (task.game, task.players, row.method, row.budget)
        }
    )
    if row.budget == 0:
        seeds = seeds or [0]
    found = [score(lines, task, row.method, row.budget, seed, opponents) for seed in seeds]
    return np.array([one for one in found if one is not None])


# ---------------------------------------------------------------- sections


def results(path: Path = RESULTS, opponents: tuple[str, ...] = POOL) -> Table:
    """Scores by game and over all games, with what they cost."""
    lines = read_lines(path, Result)
    titles = (
        "method",
        "kind",
        "decisions",
        "runs",
        *(_title(task) for task in TASKS),
        "all games",
        "hours per run",
        "hardware",
    )
    rows: list[Sequence[Any]] = []
    for row in rows_of(lines):
        own = [line for line in lines if (line.method, line.budget) == (row.method, row.budget)]
        found = [scores_of(lines, task, row, opponents) for task in TASKS]
        measured = [scores for scores in found if len(scores)]
        if not measured:
            continue
        runs = [len(scores) for scores in measured]
        rows.append(
            (
                f"`{row.method}`" + ("†" if any(line.known for line in own) else ""),
                own[0].kind,
                f"{row.budget:,}" if row.budget else NOTHING,
                NOTHING if not row.budget else str(runs[0]) if len(set(runs)) == 1 else f"{min(runs)}-{max(runs)}",
                *(_cell(row, scores) for scores in found),
                in_words(interquartile_mean(measured))
                + ("" if len(measured) == len(TASKS) else f", {len(measured)} of {len(TASKS)} games"),
                _hours(own),
                "; ".join(sorted({line.hardware for line in own if line.hardware})),
            )
        )
    return titles, rows


def _cell(row: Row, scores: np.ndarray) -> str:
    """The scores of a row in a game, and that runs are missing if they are."""
    if not len(scores):
        return NOTHING
    missing = row.budget and len(scores) < LEAST_SEEDS
    return in_words(interquartile_mean([scores])) + (f", {len(scores)} of {LEAST_SEEDS} runs" if missing else "")


def results_against_search(path: Path = RESULTS) -> Table:
    """The same scores against the search."""
    titles, rows = results(path, (SEARCH,))
    keep = [place for place, title in enumerate(titles) if title not in ("hours per run", "hardware")]
    return [titles[place] for place in keep], [[row[place] for place in keep] for row in rows]


def improvements(path: Path = RESULTS) -> Table:
    """How likely a run of one method scores more than one of another, for methods with the same budget, in games in
    which both have enough runs."""
    lines = read_lines(path, Result)
    rows: list[Sequence[Any]] = []
    for one, other in itertools.combinations([row for row in rows_of(lines) if row.budget], 2):
        if one.budget != other.budget:
            continue
        pairs = [(scores_of(lines, task, one, POOL), scores_of(lines, task, other, POOL)) for task in TASKS]
        pairs = [pair for pair in pairs if min(map(len, pair)) >= LEAST_SEEDS]
        if pairs:
            first, second = zip(*pairs, strict=True)
            found = probability_of_improvement(first, second)
            rows.append((f"`{one.method}`", f"`{other.method}`", f"{one.budget:,}", len(pairs), in_words(found, 2)))
    return ("a run of", "scores more than one of", "decisions", "games", "probability"), rows


def scale(path: Path = RESULTS) -> Table:
    """The returns behind the scores."""
    lines = read_lines(path, Result)
    rows = []
    for task in TASKS:
        for opponents, name in ((POOL, "pool"), ((SEARCH,), SEARCH)):
            found = [reference(lines, task, bot, opponents) for bot in (ZERO, ONE, IMITATION, SEARCH)]
            if found[0] is not None and found[1] is not None:
                rows.append((_title(task), f"`{name}`", *(NOTHING if one is None else f"{one:+z.3f}" for one in found)))
    return ("game", "on all other seats", *(f"`{bot}`" for bot in (ZERO, ONE, IMITATION, SEARCH))), rows


def attacks(path: Path = ATTACKS) -> Table:
    """What the best attacker wins from each bot."""
    rows = [
        (
            kepler_envs.load_game(line.game).title, line.players, f"`{line.agent}`",
            f"{line.attackers} x {line.decisions:,}",
            f"{100 * line.wins:.1f} % ({100 * line.low:.1f} .. {100 * line.high:.1f}), {line.games:,}",
            f"{100 * line.equal_share:.0f} %",
            line.each, f"{line.hours:.1f}", f"`{line.commit}`",
        )
        for line in read_lines(path, AttackLine)
    ]  # fmt: skip
    titles = (
        "game",
        "players",
        "agent",
        "attackers x decisions",
        "the best wins, games",
        "equal share",
        "each, %",
        "hours",
        "commit",
    )
    return titles, rows


def exact(path: Path = EXACT) -> Table:
    """NashConv in the reduced games: of several training runs the mean, the least and the most."""
    lines = read_lines(path, ExactLine)
    rows = []
    for (game, policy, amount), group in itertools.groupby(
        lines, key=lambda line: (line.game, line.policy, line.amount)
    ):
        found = list(group)
        values = [line.nash_conv for line in found]
        spread = f" ({min(values):.3f} .. {max(values):.3f}, {len(values)} runs)" if len(values) > 1 else ""
        rows.append(
            (
                kepler_envs.load_game(game).title, f"{found[0].states:,}", f"{found[0].information_states:,}",
                f"`{policy}`",
                f"{amount:,}" if amount else NOTHING, f"{np.mean(values):.3f}{spread}", f"`{found[0].commit}`",
            )
        )  # fmt: skip
    return (
        "game",
        "states",
        "information states",
        "policy",
        "iterations, decisions or draws",
        "NashConv",
        "commit",
    ), rows


def curves_picture(path: Path = CURVES) -> str:
    """The picture of the curves as Markdown, if there are any."""
    return f"![Score against decisions](images/{PICTURE.name})" if read_lines(path, CurvePoint) else "None yet."


SECTIONS: dict[str, Callable[[], Table | str]] = {
    "benchmark results": results,
    "benchmark curves": curves_picture,
    "benchmark search": results_against_search,
    "benchmark improvements": improvements,
    "benchmark scale": scale,
    "robustness": attacks,
    "exploitability": exact,
}
"""The generated parts of docs/benchmark.md: tables, and what is Markdown already."""

OF_RESULTS: dict[str, Callable[[Path], Table]] = {
    "benchmark results": results,
    "benchmark search": results_against_search,
    "benchmark improvements": improvements,
    "benchmark scale": scale,
}
"""Those of them that a record of results is enough for."""


def in_words(found: Estimate, digits: int = 2) -> str:
    """An estimate as text: ``0.93 (0.90 .. 0.95)``."""
    if math.isnan(found.low):
        return f"{found.value:.{digits}f}"
    return f"{found.value:.{digits}f} ({found.low:.{digits}f} .. {found.high:.{digits}f})"


def _title(task: Task) -> str:
    return f"{kepler_envs.load_game(task.game).title}, {task.players}"


def _hours(lines: list[Result]) -> str:
    hours = {(line.game, line.seed): line.hours for line in lines}
    return NOTHING if lines[0].kind == FIXED else f"{np.mean(list(hours.values())):.2f}"


# ---------------------------------------------------------------- curves


def curves(
    results_path: Path = RESULTS, curves_path: Path = CURVES
) -> dict[tuple[Task, Row], tuple[np.ndarray, np.ndarray]]:
    """For each game and method: decisions (points,), and the scores (runs, points) that the runs reported then.

    All runs are read at the decisions of the first one.
    """
    lines, points = read_lines(results_path, Result), read_lines(curves_path, CurvePoint)
    found = {}
    for task in TASKS:
        zero, one = reference(lines, task, ZERO, POOL), reference(lines, task, ONE, POOL)
        own = [point for point in points if (point.game, point.players) == (task.game, task.players)]
        if zero is None or one is None:
            continue
        for row in sorted({Row(point.budget, point.method) for point in own}):
            runs = _runs([point for point in own if (point.budget, point.method) == (row.budget, row.method)])
            at = runs[0][0]
            told = [
                np.interp(at, decisions, [normalised(value, zero, one) for value in values])
                for decisions, values in runs
            ]
            found[task, row] = at, np.array(told)
    return found


def _runs(points: list[CurvePoint]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Decisions and returns of each run."""
    seeds = sorted({point.seed for point in points})
    found = []
    for seed in seeds:
        own = sorted((point for point in points if point.seed == seed), key=lambda point: point.decisions)
        found.append((np.array([point.decisions for point in own]), np.array([point.returns for point in own])))
    return found


def picture(drawn: dict[tuple[Task, Row], tuple[np.ndarray, np.ndarray]]) -> bytes:
    """The curves as SVG: a panel per game, a line per method (the mean of its runs), shaded from the worst run to the
    best."""
    import io

    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter, MaxNLocator

    tasks = [task for task in TASKS if any(task == shown for shown, _ in drawn)]
    names = sorted({row for _, row in drawn})
    one_font = {"font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"]}  # or each word names ten others
    style: dict[Any, Any] = {"svg.hashsalt": "kepler_envs", "svg.fonttype": "none", "font.size": 8, **one_font}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(3.2 * max(1, len(tasks)), 3.0), layout="constrained")
        panels = figure.subplots(1, max(1, len(tasks)), squeeze=False)[0]
        lines = {}
        for panel, task in zip(panels, tasks, strict=False):
            panel.set_title(_title(task))
            panel.set_xlabel("decisions")
            panel.xaxis.set_major_locator(MaxNLocator(4))
            panel.xaxis.set_major_formatter(EngFormatter(sep=""))  # 200k, 10M
            panel.axhline(1.0, color="0.7", linewidth=0.8)
            for number, row in enumerate(names):
                if (task, row) in drawn:
                    at, told = drawn[task, row]
                    label = row.method if row.budget == DECISIONS else f"{row.method}, {row.budget:,}"
                    dashes = "-" if number < COLOURS else "--"
                    (lines[row],) = panel.plot(at, told.mean(0), dashes, color=f"C{number}", label=label, linewidth=1.2)
                    panel.fill_between(at, told.min(0), told.max(0), color=f"C{number}", alpha=0.2, linewidth=0)
        panels[0].set_ylabel("score: 0 uniform, 1 greedy")
        if lines:  # below all panels, as no game need have every method; in the order of the tables
            handles = [lines[row] for row in sorted(lines)]
            figure.legend(handles=handles, loc="outside lower center", ncols=len(lines), frameon=False)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    unindented = re.sub(rb"\n +<", b"\n<", file.getvalue())
    unturned = re.sub(rb' transform="rotate\(-?0 [^"]*"', b"", unindented)  # each text is turned by 0 degrees
    return re.sub(rb' d="[^"]*"', lambda path: _shortened(path[0]), unturned)


def _shortened(path: bytes) -> bytes:
    """A path of an SVG in tenths of a point, as millionths are not seen and weigh. Lines that follow lines are not
    called so."""
    tenths = re.sub(rb"(\d\.\d)\d+", rb"\1", path).replace(b".0 ", b" ")
    return tenths if re.search(rb"[CQ] ", tenths) else tenths.replace(b"\nL ", b"")
