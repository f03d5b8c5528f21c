"""report.html: well-formed, self-contained, with the numbers of leaderboard.json; and shown by a browser where there is
one."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.console import Console

import kepler_envs
from kepler_envs.cli.tournament import PlayTournament
from kepler_envs.engine.replay import read_replay
from kepler_envs.printable import short_names
from kepler_envs.tournament import html, metagame, report
from kepler_envs.tournament.html import PAGE, _ticks, pictures
from kepler_envs.tournament.standings import Margin, standings
from tests.tournament.playing import own
from tests.tournament.test_standings import game
from tests.web.browsing import chromium, find_chromium, page_of

GAME = "kitten_adventurers"
BROWSER = find_chromium()
pytestmark = pytest.mark.xdist_group("report_page")  # its tournament is played once
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium here: apt-get install chromium")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("tournament")
    (out / "learning_curve.csv").write_text("steps,win_rate_uniform,win_rate_greedy\n0,0.25,0.01\n512,0.5,0.1\n")
    agents = ("uniform", "greedy", own("Raises"))
    settings = {"players": 4, "option": ("quest_size=2", "max_turns=60"), "processes": 1, "bootstrap": 40, "games": 36}
    assert PlayTournament(game=GAME, agents=agents, out=out, **settings).run(Console(quiet=True)) == 0
    return out


@pytest.fixture(scope="module")
def page(folder) -> str:
    return (folder / PAGE).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tree(page) -> ElementTree.Element:
    return ElementTree.fromstring(page.partition("\n")[2])  # without the doctype


def rows_below(tree: ElementTree.Element, title: str) -> list[list[str]]:
    section = next(part for part in tree.iter("section") if part.findtext("h2") == title)
    return [["".join(cell.itertext()) for cell in row] for row in section.iter("tr")]


def test_it_loads_nothing(page, tree):
    assert "http" not in page.lower() and "url(" not in page and "@import" not in page
    for element in tree.iter():
        assert element.tag not in ("link", "iframe", "object", "embed", "base", "img")
        assert "src" not in element.attrib
        target = element.get("href", "")
        assert not re.match(r"[a-z]+:|/", target)  # files beside the page at most
    assert len(page) < 3_000_000


def test_links_lead_to_files(folder, tree):
    targets = [element.get("href") for element in tree.iter("a")]
    assert len(targets) >= 6 and all((folder / target).is_file() for target in targets)


def test_the_tables_have_the_numbers_of_the_leaderboard(folder, tree):
    data = json.loads((folder / "leaderboard.json").read_text())
    head, *rows = rows_below(tree, "Leaderboard")
    assert head[:4] == ["agent", "rating", "95 %", "wins"] and head[-1] == "forfeits"
    for row, line in zip(rows, data["lines"], strict=True):
        low, high = line["rating_low"], line["rating_high"]
        assert row[:4] == [
            line["agent"],
            f"{line['rating']:+z.0f}",
            f"{low:+z.0f} .. {high:+z.0f}",
            f"{line['win_rate']:.1%}",
        ]
        assert row[-1] == str(line["forfeits"])
    names = [line["agent"] for line in data["lines"]]
    title = next(
        part.findtext("h2") for part in tree.iter("section") if "others (column) on all" in part.findtext("h2")
    )
    head, *rows = rows_below(tree, title)
    assert head == ["", *names] and [row[0] for row in rows] == names
    for row, cells in zip(rows, data["alone"], strict=True):
        for shown, cell in zip(row[1:], cells, strict=True):
            assert shown == ("" if cell is None else f"{cell['mean']:.1%} ({cell['low']:.1%} .. {cell['high']:.1%})")
    rows = rows_below(tree, "Share of wins by seat, with 95 % intervals")
    assert rows[1] == ["all", *[f"{s['mean']:.1%} ({s['low']:.1%} .. {s['high']:.1%})" for s in data["by_seat"]]]
    assert sum(share["mean"] for share in data["by_seat"]) == pytest.approx(1)


def test_every_table_of_the_report_is_there(folder, tree):
    titles = [part.findtext("h2") for part in tree.iter("section")]
    assert [part.tag for part in tree.find("body")] == ["main", "script"]  # readers for the blind jump to main
    expected = 7 if metagame.is_installed() else 6
    assert len(set(titles)) == len(titles) and len(list(tree.iter("table"))) == expected
    if not metagame.is_installed():
        assert metagame.MISSING in "".join(tree.itertext())


def test_what_rounds_to_nothing_has_no_minus():
    assert report._cell(Margin(-0.001, -0.006, 0.004, 9)) == "+0.00 (-0.01 .. +0.00)"
    assert html._rating(-0.04, 0.1) == "+0.0"


def test_what_is_good_for_the_row_is_green():
    assert "--good" in html._heat(0.5) and "--bad" in html._heat(-0.5) and html._heat(None) == ""


def test_a_seat_is_coloured_if_the_agent_fares_otherwise_there():
    """One agent wins nine games of ten, wherever it sits."""
    ends = [("ub", (1, 2)), ("bu", (2, 1))] * 9 + [("ub", (2, 1)), ("bu", (1, 2))]
    found = standings([game(number, *ends[number % 20]) for number in range(400)], "ub", "ub", samples=5, seed=0)
    tables = {table.title: table for table in report.tables(found)}
    assert tables[report.SEATS].heat == [[None, None]] * 3, "the seat makes no difference"
    (one, other), (another, same) = tables[report.ALONE].heat
    assert one is same is None and (other, another) == (pytest.approx(0.8), pytest.approx(-0.8))


def test_plots_have_a_mark_for_each_agent_and_seat(tree):
    plots = [svg for svg in tree.iter("svg") if svg.get("class") == "plot"]
    assert [len([mark for mark in plot.iter("circle") if mark.get("class") == "mark"]) for plot in plots] == [3, 4]


def test_replays_are_shown_from_the_first_to_the_last_position(folder, tree):
    figures = [figure for figure in tree.iter("figure") if figure.get("class") == "replay"]
    data = json.loads((folder / "leaderboard.json").read_text())
    assert len(figures) == len(data["replays"]) == 3
    for figure in figures:
        frames = [part for part in figure.iter("div") if part.get("class") == "frame"]
        file = next(figure.iter("a")).get("href")
        length = read_replay(folder / file).final["length"]
        captions = [frame.findtext("div") for frame in frames]
        assert captions[0] == f"0 of {length} decisions" and captions[-1].startswith(
            f"{length} of {length} decisions; "
        )
        assert len(frames) == len(list(figure.iter("svg"))) >= 8
        assert next(figure.iter("input")).get("max") == str(len(frames) - 1)


def test_pictures_keep_to_their_bytes(folder):
    replay = read_replay(folder / "replays" / "uniform-greedy.jsonl")
    config = kepler_envs.load_game(GAME).configure(4, quest_size=2)
    few, many = (list(pictures(replay, config, most)) for most in (150_000, 10_000_000))
    assert 2 <= len(few) < len(many) == html.MOST_PICTURES and sum(len(svg) for _, svg in few) < 150_000


def test_a_learning_curve_is_drawn(folder, monkeypatch):
    curve = [{"steps": 0.0, "win_rate_uniform": 0.25}, {"steps": 100.0, "win_rate_uniform": 1.0}]
    monkeypatch.setattr(report, "read_learning_curve", lambda spec: curve if spec == "greedy" else [])

    class Facts:
        specs = ("greedy", "uniform")
        config = kepler_envs.load_game(GAME).configure(4)

    (section,) = html._learning_curves(Facts)
    assert 'points="50.0,195.0 720.0,0.0"' in section and "greedy against uniform" in section


@pytest.mark.parametrize(("low", "high"), [(-900, 700), (0.1, 0.35), (0, 1), (-3, 3), (5, 5.01), (-20000, 100)])
def test_ticks_are_few_and_inside(low, high):
    ticks = _ticks(low, high)
    assert 3 <= len(ticks) <= 12 and all(low <= tick <= high for tick in ticks)
    assert np.allclose(np.diff(ticks), ticks[1] - ticks[0])


def test_seats_that_are_nearly_equal_have_different_labels():
    shares = [SimpleNamespace(mean=mean, low=0.4862, high=0.5138) for mean in (0.4986, 0.5014)]
    plot = html.seats_plot(SimpleNamespace(by_seat=shares))
    labels = re.findall(r'text-anchor="middle">([^<]*)%</text>', plot)
    assert [float(label) / 100 for label in labels] == pytest.approx(_ticks(0.485, 0.515))
    assert re.findall(r"<title>(.*?)</title>", plot) == ["seat 0: 49.9%", "seat 1: 50.1%"]


def test_seats_that_differ_have_short_labels_and_exact_marks():
    shares = [SimpleNamespace(mean=mean, low=mean - 0.1, high=mean + 0.1) for mean in (0.2014, 0.7986)]
    plot = html.seats_plot(SimpleNamespace(by_seat=shares))
    assert ">20%</text>" in plot and "seat 0: 20.1%" in plot


def test_a_mark_lies_within_its_interval_where_its_value_does():
    shares = [SimpleNamespace(mean=mean, low=mean - 0.1, high=mean + 0.2) for mean in (0.2, 0.6)]
    plot = html.seats_plot(SimpleNamespace(by_seat=shares))
    marks = [float(x) for x in re.findall(r'cx="([\d.]+)"', plot)]
    intervals = re.findall(r'class="range" x1="([\d.]+)" x2="([\d.]+)"', plot)
    for mark, (low, high) in zip(marks, intervals, strict=True):
        assert (mark - float(low)) / (float(high) - float(low)) == pytest.approx(1 / 3, abs=0.01)


def browse(folder: Path, tmp_path: Path, *flags: str) -> str:
    """What chromium prints."""
    home = ["--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    address = (folder / PAGE).as_uri()
    done = subprocess.run(
        [BROWSER, "--headless=new", *home, *flags, address], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_browser
def test_a_browser_shows_it(folder, tmp_path):
    shown = browse(folder, tmp_path, "--dump-dom", "--virtual-time-budget=2000")
    assert shown.count('class="replay scripted"') == 3  # the script ran
    assert shown.count('class="frame shown"') == 3  # and shows one picture of each replay
    assert len(re.findall(r"<section>", shown)) == len(re.findall(r"<section>", (folder / PAGE).read_text()))


@needs_browser
def test_a_browser_draws_it_in_light_and_in_dark(folder, tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    means = {}
    for name, flags in (("light", ()), ("dark", ("--blink-settings=preferredColorScheme=0",))):
        path = tmp_path / f"{name}.png"
        browse(folder, tmp_path, "--window-size=1100,900", "--hide-scrollbars", f"--screenshot={path}", *flags)
        pixels = np.asarray(pillow.open(path).convert("L"))
        assert pixels.shape == (900, 1100) and pixels.std() > 10  # there is something on it
        means[name] = pixels.mean()
    assert means["light"] > 200 and means["dark"] < 80


STICKING_OUT = """
() => {
  const scrolls = (element) => {
    for (; element && element !== document.body; element = element.parentElement)
      if (["auto", "scroll"].includes(getComputedStyle(element).overflowX)) return true;
    return false;
  };
  return [...document.querySelectorAll("body *")].filter((element) => element.checkVisibility())
    .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element.parentElement))
    .map((element) => `${element.tagName} ${element.className} ${element.textContent.slice(0, 60)}`);
}
"""
"""Elements that reach beyond the page's right edge, unless something around them can be scrolled."""


def test_nothing_is_cut_off_on_a_phone(folder):
    with chromium() as browser, page_of(browser, 375, 800) as page:
        page.goto((folder / PAGE).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        assert page.evaluate(STICKING_OUT) == []
        sizes = page.evaluate(
            "() => [...document.querySelectorAll('svg.plot text')].map((text) => text.getBoundingClientRect().height)"
        )
        assert min(sizes) >= 10  # words of plots can be read
        for box in page.locator(".wide").all():  # all of a wide thing can be reached
            reach, width = box.evaluate("(box) => { box.scrollLeft = 1e6; return [box.scrollLeft, box.scrollWidth]; }")
            assert reach + box.bounding_box()["width"] >= width - 2


def test_it_is_printed_whole_and_dark_on_white(folder):
    """Browsers leave grounds out, and what is printed cannot be scrolled."""
    with chromium() as browser, page_of(browser, 700, 900, color_scheme="dark") as page:
        page.goto((folder / PAGE).as_uri())
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).color") == "rgb(28, 34, 48)"
        assert page.evaluate(STICKING_OUT) == []
        boxes = page.locator(".wide, .frame.shown").evaluate_all(
            "boxes => boxes.map((box) => [box.scrollWidth - box.clientWidth, getComputedStyle(box).overflowX])"
        )
        assert len(boxes) > 8 and all(box == [0, "visible"] for box in boxes)
        coloured = page.locator("td[style]").first
        assert coloured.evaluate("cell => getComputedStyle(cell).printColorAdjust") == "exact", "it tells something"


STOPS = """
() => [...document.querySelectorAll('.wide, .frame')].filter((box) => box.clientWidth)
  .map((box) => [box.scrollWidth > box.clientWidth, box.tabIndex])
"""
"""Of everything that may be wider than the page: whether it is, and whether keys reach it (0) or not (-1)."""


@pytest.mark.parametrize("width", [375, 1200])
def test_what_is_scrolled_sideways_is_reached_by_keys_and_nothing_else(folder, width):
    with chromium() as browser, page_of(browser, width, 800) as page:
        page.goto((folder / PAGE).as_uri())
        page.wait_for_function("() => document.readyState === 'complete'")
        for _ in range(2):
            page.evaluate("() => new Promise(requestAnimationFrame)")
        stops = page.evaluate(STOPS)
        assert len(stops) > 8 and all((tab_index == 0) == scrolled for scrolled, tab_index in stops)
        assert any(scrolled for scrolled, _ in stops) == (width == 375)


def test_no_heading_of_a_table_is_empty(tree):
    heads = [*tree.iter("th")]
    assert len(heads) > 30 and all("".join(head.itertext()) for head in heads)


def test_names_are_shortened_so_that_they_stay_different():
    assert short_names(["greedy", "uniform"], 22) == ["greedy", "uniform"]
    searches = [f"mcts:1000,network=kitten_adventurers/bc-v1,exploration=0.{digit}" for digit in (5, 6)]
    paths = [f"net:runs/{name}/kitten_adventurers/checkpoints/best.zip" for name in ("first", "second")]
    inside = [f"python:{'a' * 40}{letter}{'b' * 40}.py:Bot" for letter in "xyz"]
    for names in (searches, paths, inside, [*searches, *paths, *inside, "greedy"]):
        short = short_names(names, 22)
        assert len(set(short)) == len(names) and max(map(len, short)) <= 22
    assert short_names(["a" * 30, "a" * 30], 10) == ["aaaaa...aa"] * 2  # the same stays the same


def test_long_names_leave_room_for_the_bars(tmp_path, monkeypatch):
    figures = []
    monkeypatch.setattr(report, "_write_figure", lambda figure, path: figures.append(figure))
    names = [f"python:/home/somebody/experiments/{'x' * 80}/{number}/agent.py:Agent" for number in range(3)]
    lines = [SimpleNamespace(agent=name, rating=100.0, rating_low=50.0, rating_high=150.0) for name in names]
    found = SimpleNamespace(lines=lines, games=300, anchor=names[0])
    report.draw_ratings(found, "a game", tmp_path / "ratings.png")
    words = re.findall("<text[^>]*>([^<]*)</text>", html.ratings_plot(found))
    assert any("0 = python:/home" in text for text in words) and max(map(len, words)) < 90
    points = [report.CurvePoint(steps, 0.5, 0.4, 0.6, steps) for steps in (0.0, 1000.0)]
    report.draw_learning_curves({(name, "greedy"): points for name in names}, 4, tmp_path / "learning_curve.png")
    for figure in figures:
        figure.draw_without_rendering()
    bars, curves = (figure.axes[0] for figure in figures)
    assert figures[0].get_tightbbox().width < 7.1, "nothing is cut off"
    assert bars.get_position().width > 0.4 and len({one.get_text() for one in bars.get_yticklabels()}) == 3
    legend = curves.get_legend().get_window_extent()
    assert legend.width < 0.8 * curves.get_window_extent().width and len(curves.get_legend().get_texts()) == 4
