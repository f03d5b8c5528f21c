"""The figures that pages quote: one run, kept with where it comes from."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import kepler_envs
from benchmarks import __main__ as program
from benchmarks import figures
from benchmarks.figures import RECORD, Figures, Source
from benchmarks.sampling import Row
from tests import release

ROWS = (
    Row("engine alone", "21.3 M/s = 0.71 of C", ">= 0.5 of C", True, 0.71),
    Row("clone of a state", "12 ns"),
    Row("engine compiled", "9 s"),
)
MACHINE = ("A processor, 2 logical cores, load 0.1", "Linux 6, Python 3.11.7")
SOURCE = Source("0.1.0", "0123456789abcdef", "2026-11-23", MACHINE)


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "figures.json"
    figures.write(Figures(SOURCE, ROWS), path)
    assert figures.read(path) == Figures(SOURCE, ROWS)
    content = json.loads(path.read_text())
    assert content["release"] == "0.1.0" and content["rows"][0]["ratio"] == 0.71


def test_rows_are_chosen_by_how_they_begin():
    found = Figures(SOURCE, ROWS)
    assert [row.what for row in figures.chosen(found, ["clone", "engine"])] == [
        "clone of a state",
        "engine alone",
        "engine compiled",
    ]
    with pytest.raises(KeyError, match="no figure that begins 'gone'"):
        figures.chosen(found, ["gone"])


def test_a_footnote_says_where_figures_come_from():
    assert figures.footnote(SOURCE) == (
        "A processor, 2 logical cores, load 0.1; Linux 6, Python 3.11.7; kepler_envs 0.1.0, commit 0123456, 2026-11-23."
    )


def run(monkeypatch, *arguments: str) -> None:
    """``python -m benchmarks`` with two parts that measure nothing."""

    def first(settings):
        """one part"""
        return [ROWS[0]]

    def second(settings):
        """another part"""
        return [ROWS[1]]

    monkeypatch.setattr(program, "chosen_parts", lambda only: [first, second])
    monkeypatch.setattr(program, "compiled_wheels", lambda: [Path("a.whl")])
    monkeypatch.setattr("sys.argv", ["benchmarks", *arguments])
    program.main()


def test_a_whole_run_is_recorded(tmp_path, monkeypatch, capsys):
    path = tmp_path / "figures.json"
    run(monkeypatch, "--record", str(path))
    written = figures.read(path)
    assert written.rows == ROWS[:2] and written.source.release == kepler_envs.__version__
    assert written.source.commit and len(written.source.date) == 10 and written.source.machine
    assert "figures.json" in capsys.readouterr().out


@pytest.mark.parametrize("part", [["--quick"], ["--only", "threads"]])
def test_a_part_of_a_run_is_not_recorded(tmp_path, monkeypatch, part):
    path = tmp_path / "figures.json"
    with pytest.raises(SystemExit, match="leave out --quick and --only"):
        run(monkeypatch, "--record", str(path), *part)
    assert not path.exists()


def test_a_run_without_the_wheel_is_not_begun(tmp_path, monkeypatch):
    """Its rows would be missing from the pages, which is noticed half an hour later."""
    path = tmp_path / "figures.json"
    monkeypatch.setattr(program, "compiled_wheels", lambda: [])
    monkeypatch.setattr("sys.argv", ["benchmarks", "--record", str(path)])
    with pytest.raises(SystemExit, match="--record needs the wheel to measure: make dist PYTHONS="):
        program.main()
    assert not path.exists()


def test_the_release_check_reads_what_is_recorded(tmp_path):
    (tmp_path / "kepler_envs").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "kepler_envs" / "revision.py").write_text('VERSION = "0.2.0"\n')
    figures.write(Figures(replace(SOURCE, release="0.2.1"), ROWS), tmp_path / "docs" / RECORD.name)
    assert list(release.figures(tmp_path)) == []
    figures.write(Figures(SOURCE, ROWS), tmp_path / "docs" / RECORD.name)
    assert len(list(release.figures(tmp_path))) == 1


@pytest.mark.skipif(not RECORD.exists(), reason="no figures are recorded yet")
def test_the_record_can_be_read():
    assert figures.read(RECORD).rows
