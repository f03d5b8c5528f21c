"""The figures that pages quote: one run, kept with where it comes from."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

import kepler_envs
from benchmarks import __main__ as program
from benchmarks import figures, start_up
from benchmarks.figures import RECORD, Figures, Source
from benchmarks.sampling import Row, Settings
from kepler_envs.cli.codes import INTERRUPTED
from kepler_envs.records import RecordError
from tests import release
from tests.agents.endings import IMPOSSIBLE, ends

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
    once = (
        "A processor, 2 logical cores, load 0.1; Linux 6, Python 3.11.7; kepler_envs 0.1.0, commit 0123456, 2026-11-23."
    )
    assert figures.footnote(Figures(SOURCE, ROWS)) == once
    again = Figures(SOURCE, ROWS).with_rows(replace(SOURCE, commit="fedcba98"), ROWS[:1])
    assert figures.footnote(again) == f"{once}\n\nWith *, measured again: {once.replace('0123456', 'fedcba9')}"


def test_a_footnote_says_that_files_were_changed():
    found = Figures(replace(SOURCE, commit="0123456789abcdef+"), ROWS)
    assert "commit 0123456+, 2026-11-23." in figures.footnote(found)


def test_rows_that_are_measured_again_are_marked(tmp_path):
    later, last = replace(SOURCE, date="2026-11-24"), replace(SOURCE, date="2026-11-25")
    found = Figures(SOURCE, ROWS).with_rows(later, [replace(ROWS[1], value="50 ns"), ROWS[2]])
    assert [row.value + found.mark(row) for row in found.rows] == ["21.3 M/s = 0.71 of C", "50 ns *", "9 s *"]
    found = found.with_rows(last, [replace(ROWS[1], value="40 ns")])
    assert [row.value + found.mark(row) for row in found.rows] == ["21.3 M/s = 0.71 of C", "40 ns **", "9 s *"]
    figures.write(found, tmp_path / "figures.json")
    assert figures.read(tmp_path / "figures.json") == found
    assert len(found.with_rows(last, ROWS[1:]).again) == 1
    with pytest.raises(RecordError, match="the record has no row 'gone': record a whole run"):
        found.with_rows(last, [Row("gone", "1")])


def part(row: Row) -> Callable[[Settings], list[Row]]:
    """A part of the benchmarks that measures nothing."""
    return lambda settings: [row]


def interrupted(settings: Settings) -> list[Row]:
    raise KeyboardInterrupt


def run(monkeypatch, *arguments: str, parts: Sequence[Callable] = (part(ROWS[0]), part(ROWS[1]))) -> int:
    """``python -m benchmarks`` with these parts; its exit code."""
    monkeypatch.setattr(program, "chosen_parts", lambda only: parts)
    monkeypatch.setattr("sys.argv", ["benchmarks", *arguments])
    return program.main()


def test_a_whole_run_is_recorded(tmp_path, monkeypatch, capsys):
    path = tmp_path / "figures.json"
    run(monkeypatch, "--record", str(path))
    written = figures.read(path)
    assert written.rows == ROWS[:2] and written.source.release == kepler_envs.__version__
    assert written.source.commit and len(written.source.date) == 10 and written.source.machine
    assert "figures.json" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "message"), [(["--quick"], "leave out --quick"), (["--only", "threads"], "there is no .*figures.json")]
)
def test_what_is_no_record_is_refused(tmp_path, monkeypatch, capsys, asked, message):
    path = tmp_path / "figures.json"
    with ends(capsys, message, IMPOSSIBLE):
        run(monkeypatch, "--record", str(path), *asked)
    assert not path.exists()


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"rows": [{}]}', '{"rows": [], "release": "0"}'])
def test_another_file_is_no_record_of_figures(tmp_path, monkeypatch, capsys, content):
    path = tmp_path / "figures.json"
    path.write_text(content)
    with ends(capsys, "figures.json is no record of figures: ", IMPOSSIBLE):
        run(monkeypatch, "--record", str(path), "--only", "threads")
    assert path.read_text() == content


@pytest.mark.parametrize(
    ("asked", "allowed"),
    [
        (["--seconds", "nan"], "above 0"),
        (["--seconds", "0.0"], "above 0"),
        (["--minutes", "inf"], "above 0"),
        (["--repetitions", "0"], "an integer from 1 on"),
        (["--ppo-steps", "-1"], "an integer from 0 on"),
        (["--positions", "0"], "an integer from 1 on"),
        (["--games", "-5"], "an integer from 1 on"),
    ],
)
def test_numbers_that_are_not_allowed_are_one_line(monkeypatch, capsys, asked, allowed):
    with ends(capsys, f"^{' '.join(asked)} is not allowed; allowed: {allowed}\n$", IMPOSSIBLE):
        run(monkeypatch, *asked)


def test_unknown_parts_are_refused(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["benchmarks", "--only", "threads", "gone"])
    with ends(capsys, "^there is no part gone; there are: .*, threads, ", IMPOSSIBLE):
        program.main()


def test_an_interrupted_run_shows_what_it_measured(tmp_path, monkeypatch, capsys):
    path = tmp_path / "figures.json"
    assert run(monkeypatch, "--record", str(path), parts=[part(ROWS[1]), interrupted]) == INTERRUPTED
    assert not path.exists()
    shown = capsys.readouterr().out
    assert "12 ns" in shown and "interrupted: a record needs a whole run, nothing is written" in shown


def test_parts_that_were_measured_again_are_kept(tmp_path, monkeypatch):
    path = tmp_path / "figures.json"
    figures.write(Figures(SOURCE, (ROWS[0], replace(ROWS[1], value="old"), ROWS[2])), path)
    asked = ("--record", str(path), "--only", "second", "third")
    assert run(monkeypatch, *asked, parts=[part(ROWS[1]), interrupted]) == INTERRUPTED
    assert figures.read(path).rows == ROWS


@pytest.mark.parametrize("parts", [[interrupted], [lambda settings: []]])
def test_nothing_measured_leaves_the_record_as_it_was(tmp_path, monkeypatch, parts):
    """Ctrl-C in the first part, or a part that needs a GPU where there is none."""
    path = tmp_path / "figures.json"
    figures.write(Figures(SOURCE, ROWS), path)
    run(monkeypatch, "--record", str(path), "--only", "learner_on_gpu", parts=parts)
    assert figures.read(path) == Figures(SOURCE, ROWS)


def test_parts_are_measured_again(tmp_path, monkeypatch):
    path = tmp_path / "figures.json"
    figures.write(Figures(SOURCE, (replace(ROWS[0], value="old"), *ROWS[1:])), path)
    run(monkeypatch, "--record", str(path), "--only", "first")
    found = figures.read(path)
    assert found.rows == ROWS and found.source == SOURCE
    assert [one.rows for one in found.again] == [(ROWS[0].what, ROWS[1].what)]


def test_a_run_without_the_wheel_is_not_begun(tmp_path, monkeypatch, capsys):
    """Its rows would be missing from the pages, which is noticed half an hour later."""
    path = tmp_path / "figures.json"
    monkeypatch.setattr(program, "compiled_wheels", lambda: [])
    monkeypatch.setattr("sys.argv", ["benchmarks", "--record", str(path)])
    with ends(capsys, "--record needs the wheel to measure: make dist PYTHONS=", IMPOSSIBLE):
        program.main()
    assert not path.exists()


@pytest.fixture
def measures_nothing(monkeypatch):
    """A run that should have been refused fails instead of measuring."""
    monkeypatch.setattr(program, "measure", lambda *arguments: pytest.fail("it has begun"))


@pytest.mark.usefixtures("measures_nothing")
def test_a_run_with_the_wheel_of_other_sources_is_not_begun(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(program, "compiled_wheels", lambda: [tmp_path / "a.whl"])
    monkeypatch.setattr(program, "differing", lambda wheel: ["kepler_envs/files.py"])
    with ends(capsys, "a.whl has another kepler_envs/files.py than this checkout: make dist PYTHONS=", IMPOSSIBLE):
        run(monkeypatch, "--record", str(tmp_path / "figures.json"), parts=[start_up.start_up])


def test_only_a_wheel_of_this_version_and_python_is_measured(tmp_path, monkeypatch):
    python = "cp{}{}".format(*sys.version_info)
    (tmp_path / "dist").mkdir()
    for name in (f"0.0.9-{python}-{python}", f"{kepler_envs.__version__}-py3-none", f"99.0.0-{python}-{python}"):
        (tmp_path / "dist" / f"kepler_envs-{name}-any.whl").touch()
    monkeypatch.setattr(start_up, "ROOT", tmp_path)
    assert start_up.compiled_wheels() == []
    fits = tmp_path / "dist" / f"kepler_envs-{kepler_envs.__version__}-{python}-{python}-any.whl"
    fits.touch()
    assert start_up.compiled_wheels() == [fits]


def test_a_wheel_is_compared_with_the_sources(tmp_path):
    folder = tmp_path / "kepler_envs"
    folder.mkdir()
    for name in ("same.py", "edited.py", "new.py", "cards.toml"):
        (folder / name).write_text(name)
    wheel = tmp_path / "a.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in {"same.py": "same.py", "edited.py": "old", "gone.py": "", "cards.toml": "old"}.items():
            archive.writestr(f"kepler_envs/{name}", text)
        archive.writestr("kepler_envs/_compiled/scope/code.nbc", "code")
        archive.writestr("kepler_envs-0.1.0.dist-info/METADATA", "")
    found = start_up.differing(wheel, tmp_path)
    assert found == [f"kepler_envs/{name}" for name in ("cards.toml", "edited.py", "gone.py", "new.py")]


@pytest.mark.usefixtures("measures_nothing")
@pytest.mark.parametrize("part", program.MAY_LACK)
def test_a_part_that_the_record_lacks_is_not_measured(tmp_path, monkeypatch, capsys, part):
    """That it cannot be recorded would be noticed after minutes, or hours."""
    monkeypatch.setattr(program, "has_v0", lambda: True)
    path = tmp_path / "figures.json"
    figures.write(Figures(SOURCE, ROWS), path)
    with ends(capsys, f"the record has no rows of {part.__name__} that --only could measure again", IMPOSSIBLE):
        run(monkeypatch, "--record", str(path), "--only", part.__name__, parts=[part])
    rows = (*ROWS, Row(f"a game, {program.MAY_LACK[part]} and more", "1"))
    figures.write(Figures(SOURCE, rows), path)
    program._check_record(path, Settings(only=(part.__name__,)), [part])


@pytest.mark.usefixtures("measures_nothing")
@pytest.mark.parametrize("part", [program.observation, program.learner_against_v0])
def test_a_run_without_v0_is_not_begun(tmp_path, monkeypatch, capsys, part):
    monkeypatch.setattr(program, "has_v0", lambda: False)
    with ends(capsys, "this clone lacks v0's commit .*: git fetch --unshallow", IMPOSSIBLE):
        run(monkeypatch, "--record", str(tmp_path / "figures.json"), parts=[part])


def test_new_processes_write_their_bytecode(tmp_path, monkeypatch):
    """As an installation does, so that they are not measured with the time to read sources."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    (tmp_path / "imported.py").touch()
    start_up._seconds_of("import imported", str(tmp_path), start_up._environment(str(tmp_path / "cache")))
    assert list(tmp_path.glob("__pycache__/imported.*.pyc"))


def test_the_release_check_reads_what_is_recorded(tmp_path):
    (tmp_path / "kepler_envs").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "kepler_envs" / "revision.py").write_text('VERSION = "0.2.0"\n')
    figures.write(Figures(replace(SOURCE, release="0.2.1"), ROWS), tmp_path / "docs" / RECORD.name)
    assert list(release.figures(tmp_path)) == []
    figures.write(Figures(SOURCE, ROWS), tmp_path / "docs" / RECORD.name)
    assert len(list(release.figures(tmp_path))) == 1


def test_the_record_can_be_read():
    assert figures.read(RECORD).rows
