"""docs/benchmark.md and the records it is made from."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from agents.benchmark import tables
from agents.benchmark.__main__ import main
from agents.benchmark.protocol import TASKS
from agents.benchmark.records import ATTACKS, CURVES, EXACT, RESULTS, AttackLine, CurvePoint, ExactLine, Result
from agents.benchmark.report import PAGE, as_markdown, digest, records_of, write_page, write_picture
from agents.benchmark.tables import Row
from docs.build import PART
from kepler_envs.records import read_lines, write_lines
from tests.agents.endings import ends

RECORDS = ((RESULTS, Result), (CURVES, CurvePoint), (ATTACKS, AttackLine), (EXACT, ExactLine))


def test_the_page_has_every_generated_part_once():
    found = [match["name"] for match in PART.finditer(PAGE.read_text(encoding="utf-8"))]
    assert sorted(found) == sorted(tables.SECTIONS)


def test_the_page_says_what_the_records_say(tmp_path):
    fresh = tmp_path / "benchmark.md"
    fresh.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    write_page(fresh)
    assert fresh.read_text() == PAGE.read_text(), "run python -m agents.benchmark report"


@pytest.mark.parametrize(("path", "kind"), RECORDS)
def test_records_are_sorted_and_have_each_line_once(path, kind, tmp_path):
    lines = read_lines(path, kind)
    assert [line.key for line in lines] == sorted({line.key for line in lines})
    again = tmp_path / "again.csv"
    write_lines(again, reversed(lines), kind)
    assert not lines or again.read_bytes() == path.read_bytes()


def test_the_record_is_about_the_games_of_the_benchmark():
    games = {(task.game, task.players) for task in TASKS}
    assert {(line.game, line.players) for line in read_lines(RESULTS, Result)} <= games


def test_a_line_takes_the_place_of_the_one_with_its_key(tmp_path):
    path = tmp_path / "exact.csv"
    lines = [ExactLine("a-v1", "cfr", amount, 0, value, 9, 5, 0.1, "abc") for amount, value in ((20, 0.5), (3, 0.7))]
    write_lines(path, lines, ExactLine)
    write_lines(path, [ExactLine("a-v1", "cfr", 20, 0, 0.25, 9, 5, 0.1, "def")], ExactLine)
    assert [(line.amount, line.nash_conv, line.commit) for line in read_lines(path, ExactLine)] == [
        (3, 0.7, "abc"),
        (20, 0.25, "def"),
    ]
    assert read_lines(tmp_path / "nothing.csv", ExactLine) == []


def test_every_method_is_named_once_in_the_order_of_the_tables_whichever_games_it_has():
    at, told = np.array([0, 10]), np.array([[0.0, 1.0], [0.2, 0.8]])
    drawn = {(TASKS[1], Row(10, "late")): (at, told), (TASKS[0], Row(10, "early")): (at, told),
             (TASKS[0], Row(20, "late")): (at, told), (TASKS[1], Row(20, "late")): (at, told)}  # fmt: skip
    picture = tables.picture(drawn).decode()
    names = [f">{label}</text>" for label in ("early, 10", "late, 10", "late, 20")]
    assert [picture.count(name) for name in names] == [1, 1, 1]
    assert sorted(names, key=picture.index) == names
    assert "rotate(-90 " in picture and "rotate(-0 " not in picture, "only the label of the axis is turned"


def test_no_two_methods_look_the_same():
    at, told = np.array([0, 10]), np.array([[0.0, 1.0], [0.2, 0.8]])
    many = {(TASKS[0], Row(10, f"m{number:02}")): (at, told) for number in range(13)}
    styles = re.findall(r'style="(fill: none; [^"]*)"', tables.picture(many).decode())
    methods = Counter(style for style in styles if "stroke-width: 1.2" in style)
    assert len(methods) == 13 and set(methods.values()) == {2}, "each in the panel and in the legend"


def test_the_picture_is_there_where_there_are_curves(tmp_path):
    assert tables.curves_picture(tmp_path / "nothing.csv") == "None yet."
    write_lines(tmp_path / "curves.csv", [CurvePoint("a-v1", 2, "m", 9, 0, 9, 0.1, 0.5, 3)], CurvePoint)
    assert tables.curves_picture(tmp_path / "curves.csv").endswith("(images/benchmark.svg)")
    assert tables.PICTURE.exists() == CURVES.exists()


def test_the_picture_is_of_the_curves_of_the_record():
    assert records_of(tables.PICTURE) == digest(), "run python -m agents.benchmark report"


def test_a_picture_says_of_which_record_it_is(tmp_path):
    path = tmp_path / "curves.svg"
    write_picture(path)
    assert records_of(path) == digest()
    other = digest(tmp_path / "nothing.csv")
    assert other != digest() and records_of(tmp_path / "nothing.svg") == ""


def test_an_empty_table_says_so():
    assert as_markdown((("a", "b"), [])) == "None yet." and as_markdown((("a",), [(1,)])) == "| a |\n| --: |\n| 1 |"


def test_hours_are_those_of_a_run_however_many_opponents_it_met():
    runs = (("a", 0, 1.0), ("a", 0, 1.0), ("a", 1, 2.0), ("b", 0, 6.0))
    lines = [SimpleNamespace(game=game, seed=seed, hours=hours, kind="network") for game, seed, hours in runs]
    assert tables._hours(lines) == "3.00"


def test_a_record_of_your_own_is_printed_and_the_page_stays(tmp_path, capsys, monkeypatch):
    """Whoever measures into another file wants its scores, not those of the record of the page."""
    for name in ("write_page", "write_picture"):
        monkeypatch.setattr(f"agents.benchmark.report.{name}", lambda: pytest.fail("it wrote the page"))
    record = tmp_path / "mine.csv"
    lines = read_lines(RESULTS, Result)
    fixed = [line for line in lines if line.budget == 0]
    mine = [replace(line, method="mine") for line in lines if (line.method, line.seed) == ("pieces", 0)]
    write_lines(record, [*fixed, *mine], Result)
    assert main(["report", "--record", str(record)]) == 0
    printed = capsys.readouterr().out
    assert " mine " in printed and "pieces" not in printed and "NashConv" not in printed


def test_a_record_that_is_not_there(tmp_path, capsys):
    with ends(capsys, f"there is no {tmp_path / 'mine.csv'}"):
        main(["report", "--record", str(tmp_path / "mine.csv")])
