"""The record of the benchmark `imitation`."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from benchmarks import imitation
from benchmarks.imitation import Measured, as_row, write
from kepler_envs.records import read_lines
from tests.agents.endings import ends

LINE = Measured(
    "ad_astra-v1", 4, 128, "128 64", 32, True, 1000, 0.1, "1 0 7", 12.0, 9, 0.9, 0.3, 0.25, 0.2, 0.3, 2000, 0.25, 5.0,
    60.5, "abc"
)  # fmt: skip


def test_a_line_takes_the_place_of_the_one_about_the_same_network(tmp_path):
    out = tmp_path / "record.csv"
    write(LINE, out)
    write(replace(LINE, players=3, derived=False), out)
    write(replace(LINE, wins=0.5), out)
    with out.open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [(line["players"], line["wins"], line["hidden"]) for line in lines] == [
        ("3", "0.25", "128 64"),
        ("4", "0.5", "128 64"),
    ]
    assert lines[1]["commit"] == "abc" and lines[1]["derived"] == "True"
    assert read_lines(out, Measured) == [replace(LINE, players=3, derived=False), replace(LINE, wins=0.5)]


def test_a_line_that_is_not_recorded_is_told(tmp_path, capsys):
    out = tmp_path / "record.csv"
    write(LINE, out)
    assert capsys.readouterr().out == ""
    write(replace(LINE, positions=900), out)
    assert capsys.readouterr().out == f"not recorded: {out} has a line of more positions or games\n"
    assert read_lines(out, Measured) == [LINE]


def test_a_target_is_met_or_not():
    assert as_row(LINE, 0.25).met is True and as_row(LINE, 0.26).met is False and as_row(LINE, None).met is None
    assert "flat network" in as_row(replace(LINE, rows=0, derived=False), None).what


@pytest.mark.parametrize(
    ("asked", "allowed"),
    [
        (["--positions", "0"], "an integer from 1 on"),
        (["--games", "0"], "an integer from 1 on"),
        (["--epochs", "nan"], "above 0"),
        (["--minutes", "-1.0"], "above 0"),
        (["--width", "0"], "1 to "),
    ],
)
def test_numbers_that_are_not_allowed_are_one_line(asked, allowed, monkeypatch, capsys, tmp_path):
    out = tmp_path / "record.csv"
    monkeypatch.setattr("sys.argv", ["imitation", "kitten_adventurers", "2", *asked, "--out", str(out)])
    with ends(capsys, f"^{' '.join(asked)} is not allowed; allowed: {allowed}"):
        imitation.main()
    assert not out.exists()
