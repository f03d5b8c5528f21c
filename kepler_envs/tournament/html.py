"""report.html: the whole report in one file that opens from disk. It loads nothing and needs no scripts to be read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from kepler_envs.engine.game import Configuration
from kepler_envs.engine.replay import Replay, read_replay
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.files import write_atomically
from kepler_envs.printable import counted, printable, printable_name, short_names
from kepler_envs.tournament.report import (
    FORFEITS,
    LEADERBOARD,
    NOT_THE_SAME,
    SEATS,
    Facts,
    SavedReplay,
    Table,
    headline,
    learning_curves,
    notes,
    tables,
)
from kepler_envs.tournament.standings import Standings

PAGE = "report.html"
PICTURE_BYTES = 1_800_000
"""Size of all pictures together."""
MOST_REPLAYS, MOST_PICTURES = 6, 12
"""Number of replays shown, and of pictures of each."""
MOST_TRACEBACKS = 20
NAME_LETTERS = 22
"""Longest name of an agent beside a plot."""

STYLE = """
:root { color-scheme: light dark; --back: #fcfcfd; --card: #ffffff; --text: #1c2230; --faint: #667085; --line: #e2e6ee;
  --accent: #2f6fde; --good: 46 160 67; --bad: 214 73 51; }
@media screen and (prefers-color-scheme: dark) { :root { --back: #12151c; --card: #1a1f29; --text: #e4e8f0;
  --faint: #96a0b3; --line: #2d3442; --accent: #7ba7ff; --good: 63 185 80; --bad: 248 102 82; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 2rem 1.25rem 4rem; background: var(--back); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; } h2 { font-size: 1.15rem; margin: 0 0 .75rem; }
section { background: var(--card); border: 1px solid var(--line);
  border-radius: 12px; padding: 1.25rem 1.5rem; margin: 1.25rem 0; }
p, li, h1, summary, figcaption, code { overflow-wrap: anywhere; }
p { margin: .5rem 0; max-width: 52rem; } .faint, figcaption { color: var(--faint); font-size: .9rem; }
code, pre { font: .88em/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
pre { overflow-x: auto; background: var(--back); border: 1px solid var(--line); border-radius: 8px; padding: .75rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .4rem .8rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { color: var(--faint); font-weight: 600; white-space: normal; }
tbody th { position: sticky; left: 0; background: var(--card); }
tr:last-child td, tr:last-child th { border-bottom: 0; }
th:first-child, td:first-child, table.words td, table.words th { text-align: left; }
tbody th { color: var(--text); } table.words td { white-space: normal; }
a { color: var(--accent); } summary { cursor: pointer; }
svg.plot { display: block; width: 100%; max-width: 46rem; height: auto; overflow: visible; }
svg.plot text { fill: var(--text); font-size: 13px; } svg.plot .small { fill: var(--faint); font-size: 11.5px; }
svg.plot .axis { stroke: var(--line); } svg.plot .even { stroke: var(--faint); stroke-dasharray: 4 4; }
svg.plot .mark { fill: var(--accent); } svg.plot .range {
  stroke: var(--accent); stroke-width: 2.5; stroke-linecap: round; }
svg.plot .curve { fill: none; stroke-width: 2; } svg.plot .band { opacity: .15; }
figure { margin: 0 0 2rem; } figure:last-child { margin-bottom: 0; }
.frame svg { display: block; width: 100%; height: auto; border-radius: 8px; border: 1px solid var(--line); }
.frame { margin: .5rem 0; overflow-x: auto; }
.steps { display: none; gap: .6rem; align-items: center; margin: .5rem 0; }
.scripted .steps { display: flex; } .scripted .frame:not(.shown) { display: none; }
.steps input { flex: 1; min-width: 0; accent-color: var(--accent); }
@media (max-width: 40rem) { body { padding: 1rem .5rem 3rem; } section { padding: .9rem .75rem; }
  th, td { padding: .35rem .5rem; }
  svg.plot { width: 40rem; max-width: none; } .frame svg { width: 48rem; } }
button { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line);
  border-radius: 8px; padding: .2rem .8rem; cursor: pointer; }
@media print { /* paper cannot be scrolled */
  body { padding-bottom: 0; } section:last-child { margin-bottom: 0; }
  .wide, .frame { overflow: visible; } table { font-size: .8rem; } td { print-color-adjust: exact; }
  th, td, tbody th { white-space: normal; padding: .3rem .4rem; }
  svg.plot, .frame svg { width: 100%; } h2 { break-after: avoid; } tr, figure, svg { break-inside: avoid; } }
"""

SCRIPT = """
for (const figure of document.querySelectorAll("figure.replay")) {
  const frames = [...figure.querySelectorAll(".frame")], slider = figure.querySelector("input");
  const show = () => frames.forEach((frame, i) => frame.classList.toggle("shown", i === Number(slider.value)));
  const move = (by) => { slider.value = Number(slider.value) + by; show(); };
  figure.querySelector(".back").onclick = () => move(-1);
  figure.querySelector(".next").onclick = () => move(1);
  slider.oninput = show;
  figure.classList.add("scripted");
  show();
}
// what is scrolled sideways is reached by keys; the rest needs no stop
const stops = new ResizeObserver((seen) => seen.forEach(({target}) => {
  if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
  else target.removeAttribute("tabindex");
}));
document.querySelectorAll(".wide, .frame").forEach((box) => stops.observe(box));
"""


ReplayPage = Callable[[Replay, str, tuple[Sequence[int], Sequence[float]]], str]
"""Makes the page of a whole game from a replay, a heading, and ranks and returns by seat:
``kepler_envs.web.page.replay_page``."""


def write_page(
    folder: Path, found: Standings, replays: Sequence[SavedReplay], facts: Facts, replay_page: ReplayPage | None = None
) -> None:
    """Write report.html beside what ``write_report`` wrote. It reads the replays from the folder.

    With ``replay_page``, each pictured game gets a page of its own beside its replay, and the report links to it.
    """
    write_atomically(folder / PAGE, page(found, replays, facts, folder / "replays", replay_page).encode())


def page(
    found: Standings, replays: Sequence[SavedReplay], facts: Facts, folder: Path, replay_page: ReplayPage | None = None
) -> str:
    """Return the page. It is also well-formed XML."""
    config = facts.config
    title = f"{config.game.title}: tournament"
    leaderboard, *others = tables(found)
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="faint">{_code(headline(found, facts))}</p>',
        _section(leaderboard.title, ratings_plot(found), table(leaderboard)),
        *(_part(other, found) for other in others),
        *_learning_curves(facts),
        *_replays(found, replays, config, folder, replay_page),
        _section("How to read this", *map(_paragraph, notes(found, facts))),
        _section("Files", FILES),
    ]
    return PAGE_FRAME.format(title=escape(title), style=STYLE, body="\n".join(parts), script=SCRIPT)


PAGE_FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
<script>//<![CDATA[
{script}//]]></script>
</body>
</html>
"""

SEATS_NOTE = (
    "The plot and the first row show the share of all wins that went to each seat, whoever sat there. Every table is "
    "played once from each seat, so all seats have had the same agents. The dashed line is an equal share. A cell is "
    "coloured if its interval excludes the mean of its row."
)

FILES = (
    f'<p>Beside this page: <a href="{LEADERBOARD}">{LEADERBOARD}</a> (all numbers), <a '
    'href="results.md">results.md</a>, '
    '<a href="games.sqlite">games.sqlite</a> (every game, with seeds), <code>replays/</code>.</p>'
)


def _part(shown: Table, found: Standings) -> str:
    """A table with what belongs to it."""
    if shown.title == SEATS:
        return _section(shown.title, seats_plot(found), table(shown), _paragraph(SEATS_NOTE))
    if shown.title == FORFEITS:
        return _section(shown.title, table(shown), *_tracebacks(found))
    return _section(shown.title, table(shown))


def _section(title: str, *content: str) -> str:
    return f"<section>\n<h2>{escape(title)}</h2>\n" + "\n".join(content) + "\n</section>"


def _paragraph(text: str) -> str:
    return f"<p>{_code(text)}</p>"


def _code(text: str) -> str:
    """Text with `words` between backticks as code."""
    pieces = text.split("`")
    return "".join(f"<code>{escape(word)}</code>" if i % 2 else escape(word) for i, word in enumerate(pieces))


def table(shown: Table) -> str:
    """Draw a table. Cells are green where the row does better than even, and red where it does worse."""
    head = "".join(f'<th scope="col">{_breakable(name)}</th>' if name else "<td></td>" for name in shown.columns)
    rows = []
    for number, (name, *cells) in enumerate(shown.rows):
        heats = [None] * len(cells) if shown.heat is None else shown.heat[number]
        drawn = "".join(f"<td{_heat(heat)}>{escape(cell)}</td>" for cell, heat in zip(cells, heats, strict=True))
        rows.append(f'<tr><th scope="row">{_breakable(name)}</th>{drawn}</tr>')
    kind = ' class="words"' if shown.words else ""
    body = "\n".join(rows)
    return f'<div class="wide"><table{kind}>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'


def _breakable(name: str) -> str:
    """A name that may go on in the next line after the signs that agents' specs are made of."""
    return re.sub(r"([,:=/_])(?=.)", r"\1<wbr/>", escape(name))


def _heat(heat: float | None) -> str:
    if heat is None:
        return ""
    tone = "good" if heat > 0 else "bad"
    return f' style="background: rgb(var(--{tone}) / {0.45 * min(1.0, abs(heat)):.2f})"'


# ---------------------------------------------------------------- plots


def ratings_plot(found: Standings) -> str:
    """Plot each agent's rating with its interval."""
    rows = [(line.agent, line.rating, line.rating_low, line.rating_high) for line in found.lines]
    (anchor,) = short_names([found.anchor], 2 * NAME_LETTERS)
    return _intervals(rows, 0.0, f"rating, 0 = {anchor}", _rating, finest=1.0)


def seats_plot(found: Standings) -> str:
    """Plot each seat's share of wins with its interval."""
    rows = [(f"seat {seat}", share.mean, share.low, share.high) for seat, share in enumerate(found.by_seat)]
    return _intervals(rows, 1 / len(rows), "share of wins", _percent, finest=0.001)


def _rating(value: float, step: float) -> str:
    return f"{value:+z.{_decimals(step)}f}"


def _percent(value: float, step: float) -> str:
    return f"{value:.{_decimals(100 * step)}%}"


def _decimals(step: float) -> int:
    """How many decimals tell numbers apart that differ by a step."""
    return max(0, math.ceil(-math.log10(step) - 1e-6))


def _intervals(
    rows: Sequence[tuple[str, float, float, float]],
    even: float,
    label: str,
    words: Callable[[float, float], str],
    finest: float,
) -> str:
    """Rows of (name, value, low, high) on one axis, a dashed line at ``even``.

    Args:
        words: a value in words, to the step of its second argument.
        finest: the step to which marks name their values, or that of the axis if it is smaller.
    """
    width, left, right, line = 720, 170, 30, 30
    low, high = min(even, *(row[2] for row in rows)), max(even, *(row[3] for row in rows))
    pad = 0.06 * (high - low or 1.0)
    low, high = low - pad, high + pad

    def x(value: float) -> str:
        return f"{left + (value - low) / (high - low) * (width - left - right):.1f}"

    bottom = 14 + line * len(rows)
    parts = [f'<line class="even" x1="{x(even)}" x2="{x(even)}" y1="6" y2="{bottom}"/>']
    ticks = _ticks(low, high)
    step = ticks[1] - ticks[0]
    for tick in ticks:
        parts.append(f'<line class="axis" x1="{x(tick)}" x2="{x(tick)}" y1="{bottom}" y2="{bottom + 5}"/>')
        parts.append(
            f'<text class="small" x="{x(tick)}" y="{bottom + 19}" text-anchor="middle">{words(tick, step)}</text>'
        )
    parts.append(f'<line class="axis" x1="{left}" x2="{width - right}" y1="{bottom}" y2="{bottom}"/>')
    shown_names = short_names([row[0] for row in rows], NAME_LETTERS)
    for number, ((name, value, least, most), shown) in enumerate(zip(rows, shown_names, strict=True)):
        y = 24 + line * number
        parts += [
            f'<text x="{left - 14}" y="{y + 4}" text-anchor="end">{escape(shown)}</text>',
            f'<line class="range" x1="{x(least)}" x2="{x(most)}" y1="{y}" y2="{y}"/>',
            f'<circle class="mark" cx="{x(value)}" cy="{y}" r="5.5"><title>{escape(name)}: '
            f"{words(value, min(step, finest))}</title></circle>",
        ]
    parts.append(f'<text class="small" x="{left}" y="{bottom + 36}">{escape(label)}, with 95 % intervals</text>')
    return _plot(width, bottom + 42, label, parts)


def _plot(width: float, height: float, label: str, parts: Sequence[str]) -> str:
    inside = "\n".join(parts)
    return (
        f'<div class="wide"><svg class="plot" role="img" aria-label="{escape(label)}" viewBox="0 0 {width} {height}">\n'
        f"{inside}\n</svg></div>"
    )


def _ticks(low: float, high: float) -> list[float]:
    """Some round numbers between two."""
    step = 10.0 ** len(f"{int(max(1.0, high - low))}")
    if high - low <= 1:
        step = 1.0
    while (high - low) / step < 4:
        step /= 2 if f"{step:.3e}"[0] in "12" else 2.5
    first = int(low // step) + 1
    return [step * i for i in range(first, int(high // step) + 1)]


CURVE_LETTERS = 90
COLOURS = ("#2f6fde", "#e0782c", "#2ea043", "#a05bd6", "#d6336c", "#0aa2a2")


def _learning_curves(facts: Facts) -> list[str]:
    """Wins of one learner against uniform and greedy players while it learned, where a checkpoint has its curve."""
    players = facts.config.num_players
    curves = {
        f"{printable_name(spec)} against {opponent}": [(point.steps, point.wins) for point in points]
        for (spec, opponent), points in learning_curves(facts.specs, players).items()
    }
    if not curves:
        return []
    note = "Share of wins of one against others while it learned; the dashed line is an equal share."
    return [_section("Learning curve", _curves_plot(curves, 1 / players), _paragraph(note))]


def _curves_plot(curves: Mapping[str, Sequence[tuple[float, float]]], even: float) -> str:
    """Lines of (steps, share) by name, a dashed line at the share ``even``."""
    width, height, left = 720, 260, 50
    most = max(steps for points in curves.values() for steps, _ in points) or 1.0

    def place(steps: float, share: float) -> str:
        return f"{left + steps / most * (width - left):.1f},{height - share * height:.1f}"

    parts = [f'<polyline class="even" points="{place(0, even)} {place(most, even)}"/>']
    parts.append(f'<polyline class="axis" points="{place(0, 0)} {place(most, 0)}"/>')
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = height - share * height + 4
        parts.append(f'<text class="small" x="{left - 8}" y="{y:.1f}" text-anchor="end">{share:.0%}</text>')
    labels = short_names(list(curves), CURVE_LETTERS)
    for number, (shown, points) in enumerate(zip(labels, curves.values(), strict=True)):
        colour, y = COLOURS[number % len(COLOURS)], height + 42 + 18 * number
        drawn = " ".join(place(*point) for point in points)
        parts.append(f'<polyline class="curve" stroke="{colour}" points="{drawn}"/>')
        parts.append(f'<circle cx="{left + 6}" cy="{y - 4}" r="5" fill="{colour}"/>')
        parts.append(f'<text x="{left + 18}" y="{y}">{escape(shown)}</text>')
    words = f"{most:,.0f} steps of training"
    parts.append(f'<text class="small" x="{width}" y="{height + 18}" text-anchor="end">{words}</text>')
    return _plot(width, height + 48 + 18 * len(curves), "learning curves", parts)


# ---------------------------------------------------------------- forfeits and replays


def _tracebacks(found: Standings) -> list[str]:
    return [
        f"<details><summary>{escape(group.agent)}, game {group.game}, after {counted(group.decision, 'decision')}: "
        f"{escape(group.reason)}</summary><pre>{escape(printable(group.details))}</pre></details>"
        for group in found.forfeits[:MOST_TRACEBACKS]
    ]


def _replays(
    found: Standings,
    replays: Sequence[SavedReplay],
    config: Configuration,
    folder: Path,
    replay_page: ReplayPage | None,
) -> list[str]:
    """Pictures of some replays, those between the best agents first."""
    place = {line.agent: number for number, line in enumerate(found.lines)}
    best_first = sorted(replays, key=lambda saved: sorted(place[name] for name in set(saved.agents)))
    shown, others = best_first[:MOST_REPLAYS], best_first[MOST_REPLAYS:]
    figures = []
    for saved in shown:
        replay = read_replay(folder / saved.file)
        whole = "" if replay_page is None else _whole_game(saved, replay, folder, replay_page)
        figures.append(_figure(saved, replay, config, PICTURE_BYTES // len(shown), whole))
    more = [f'<a href="replays/{escape(saved.file)}">{escape(saved.file)}</a>' for saved in others]
    if more:
        figures.append(f"<p>More: {', '.join(more)}.</p>")
    return [_section("Replays", *figures)]


def _whole_game(saved: SavedReplay, replay: Replay, folder: Path, replay_page: ReplayPage) -> str:
    """Write the page of a whole game; the link to it."""
    name = f"{Path(saved.file).stem}.html"
    heading = f"game {saved.game}" + (f": {saved.substitution}" if saved.forfeits else "")
    write_atomically(folder / name, replay_page(replay, heading, (saved.ranks, saved.returns)).encode())
    return f'; <a href="replays/{escape(name)}">the whole game, step by step</a>'


def _figure(saved: SavedReplay, replay: Replay, config: Configuration, most_bytes: int, whole: str) -> str:
    frames = [
        f'<div class="frame"><div class="faint">{caption}</div>{svg}</div>'
        for caption, svg in pictures(replay, config, most_bytes)
    ]
    seats = ", ".join(f"seat {seat} {name}" for seat, name in enumerate(saved.agents))
    same = "" if saved.same else f" ({NOT_THE_SAME})"
    forfeits = f" {escape(saved.substitution)}." if saved.forfeits else ""
    return (
        f'<figure class="replay"><figcaption>Game {saved.game}: {escape(seats)}. '
        f"Places by seat: {', '.join(map(str, saved.ranks))}.{forfeits}{same} "
        f'<a href="replays/{escape(saved.file)}">{escape(saved.file)}</a>, <code>kepler-envs replay replays/'
        f"{escape(saved.file)}</code>{whole}</figcaption>\n"
        '<div class="steps"><button class="back" type="button">back</button>'
        f'<input type="range" min="0" max="{len(frames) - 1}" value="{len(frames) // 2}" aria-label="position"/>'
        '<button class="next" type="button">next</button></div>\n' + "\n".join(frames) + "</figure>"
    )


def pictures(replay: Replay, config: Configuration, most_bytes: int) -> Iterator[tuple[str, str]]:
    """Yield (caption, SVG) of positions spread evenly from first to last: as many as the bytes allow, at least two."""
    positions = list(replay.positions(config))
    size = max(len(_svg(positions[len(positions) // 2])), len(_svg(positions[-1])))
    count = max(2, min(MOST_PICTURES, most_bytes // size, len(positions)))
    for number in range(count):
        made = round(number * (len(positions) - 1) / (count - 1))
        caption = f"{made} of {len(replay.actions)} decisions"
        if made:
            seat, text = replay.seats[made - 1], positions[made - 1].full_text(replay.actions[made - 1])
            caption += f"; the last: seat {seat}, {replay.agents[seat]}: {text}"
        yield escape(caption), _svg(positions[made])


def _svg(position: Snapshot) -> str:
    """The picture as a part of a page, where it needs no namespace."""
    return position.drawing().svg().replace(' xmlns="http://www.w3.org/2000/svg"', "", 1)
