"""The front page: its tables come from the games and from one run of the benchmarks."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import kepler_envs
from benchmarks import figures
from benchmarks.figures import Figures, Source
from benchmarks.sampling import Row
from docs import front

ROOT = Path(__file__).parents[1]
SOURCE = Source("0.1.0", "0123456789", "2026-11-23", ("A processor", "Linux"))


def record(games: list[str]) -> Figures:
    rows = [
        Row("batch from Python, 256 games, 1 thread", "10.0 M/s = 0.50 of C", ratio=0.5),
        Row("AEC last()/step() loop against PettingZoo connect_four", "300 against 20 k/s = 15 times", ratio=15),
    ]
    for place, name in enumerate(games):
        rows += [
            Row(
                f"{name}, 4 players, 256 games: decisions beside OpenSpiel's gin_rummy through Python",
                "",
                ratio=40 + place,
            ),
            Row(f"{name}, MaskablePPO, 4 players, 1 thread", "", ratio=1.84 + place),
            Row(f"{name}, MaskablePPO, 4 players, 2 threads against 1", "", ratio=0.5),
            Row(f"{name}, first step from the wheel", "", ratio=1.25 + place / 10),
        ]
    return Figures(SOURCE, tuple(rows))


@pytest.fixture
def recorded(monkeypatch, tmp_path):
    path = tmp_path / "figures.json"
    monkeypatch.setattr(figures, "RECORD", path)
    return path


def test_the_table_of_speeds_has_five_rows_at_most_and_says_where_they_are_from(recorded):
    figures.write(record(kepler_envs.list_games()), recorded)
    lines = front.speed().splitlines()
    assert len(lines) <= 2 + 5 + 2 and lines[-1].endswith("kepler_envs 0.1.0, commit 0123456, 2026-11-23.")
    assert lines[2].endswith("| 10.0 M/s = 0.50 of C |")
    assert lines[4].endswith("| 40 to 44 times, by game |")
    assert lines[5].endswith("| 1.8 to 5.8 times, by game |") and lines[6].endswith("| 1.2 to 1.6 times, by game |")


def test_the_table_of_speeds_has_footnotes_for_its_own_rows_alone(recorded):
    run, other = record(kepler_envs.list_games()), Row("clone of a state", "12 ns")
    run = Figures(SOURCE, (*run.rows, other)).with_rows(replace(SOURCE, date="2026-11-24"), [other])
    figures.write(run, recorded)
    assert "measured again" not in front.speed() and "With *, measured again" in front.all_figures()
    [own] = figures.chosen(run, ["batch from Python"])
    figures.write(run.with_rows(replace(SOURCE, date="2026-11-25"), [own]), recorded)
    lines = front.speed().splitlines()
    assert lines[2].endswith(f"| {own.value} * |")
    [again] = [line for line in lines if "measured again" in line]
    assert again.startswith("With *, measured again: ") and again.endswith("2026-11-25.")


def test_the_page_of_figures_has_every_row_of_the_run(recorded):
    row = Row("engine alone", "21.3 M/s = 0.71 of C", ">= 0.5 of C", True, 0.71)
    short = Row("batch from Python", "5.0 M/s = 0.20 of C", ">= 0.35 of C", False, 0.2)
    figures.write(Figures(SOURCE, (row, Row("clone of a state", "12 ns"), short)), recorded)
    lines = front.all_figures().splitlines()
    assert lines[4] == "| batch from Python | 5.0 M/s = 0.20 of C | >= 0.35 of C, missed |"
    assert lines[2:4] == ["| engine alone | 21.3 M/s = 0.71 of C | >= 0.5 of C |", "| clone of a state | 12 ns |  |"]
    assert lines[-1] == figures.footnote(figures.read(recorded))
    figures.write(figures.read(recorded).with_rows(SOURCE, [replace(row, value="20.0 M/s = 0.70 of C")]), recorded)
    assert front.all_figures().splitlines()[2] == "| engine alone | 20.0 M/s = 0.70 of C * | >= 0.5 of C |"
    assert front.value(figures.read(recorded), "engine alone") == "20.0 M/s = 0.70 of C *"


def test_a_figure_that_a_game_lacks_is_an_error(recorded):
    figures.write(record(kepler_envs.list_games()[1:]), recorded)
    with pytest.raises(KeyError, match="4 figures with .* and there are more games"):
        front.speed()


def test_every_game_has_a_row_with_its_best_network():
    rows = front.games().splitlines()[2:]
    assert len(rows) == len(kepler_envs.list_games())
    for row, name in zip(rows, kepler_envs.list_games(), strict=True):
        game = kepler_envs.load_game(name)
        assert f"`{game.id}`" in row and f"| {game.min_players}-{game.max_players} |" in row
        assert re.search(r"`\w+-v\d+`: \d+ % with \d players; an equal share is \d+ %", row)
        [thumbnail] = re.findall(r"\((docs/images/[^)]+)\)", row)
        assert (ROOT / thumbnail).is_file()


def test_the_leaderboard_is_short():
    text = (ROOT / "README.md").read_text()
    part = text.partition("<!-- generated: leaderboard -->")[2].partition("<!-- end -->")[0]
    assert 2 < len([line for line in part.splitlines() if line.startswith("|")]) <= 2 + 8
