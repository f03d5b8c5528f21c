"""Records as CSV files: what is read, what is refused, and several writers."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from kepler_envs import records
from kepler_envs.records import Line, RecordError, change_lines, read_lines, write_lines, write_unless
from kepler_envs.revision import VERSION

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Height(Line):
    KEY: ClassVar = ("name",)
    name: str
    metres: int
    note: str = ""


@dataclass(frozen=True)
class Summit(Height):
    climbed: bool = False


def test_lines_are_written_sorted_and_read_again(tmp_path):
    path = tmp_path / "heights.csv"
    write_lines(path, [Height("b", 2), Height("a", 1, "a note, with a comma")], Height)
    write_lines(path, [Height("b", 3)], Height)
    assert read_lines(path, Height) == [Height("a", 1, "a note, with a comma"), Height("b", 3)]
    assert path.read_text().splitlines()[0] == "release,name,metres,note"
    write_lines(path, [Height("c", 1)], Height, gone=lambda line: line.metres == 1)
    assert read_lines(path, Height) == [Height("b", 3), Height("c", 1)], "new lines are not gone"


def test_what_is_true_is_written_in_one_way(tmp_path):
    path = tmp_path / "summits.csv"
    write_lines(path, [Summit("a", 1, climbed=True), Summit("b", 2)], Summit)
    assert [line.climbed for line in read_lines(path, Summit)] == [True, False]
    path.write_text("name,metres,climbed\na,1,yes\n")
    with pytest.raises(RecordError, match="line 2: .* 'yes' is neither True nor False"):
        read_lines(path, Summit)


def test_an_older_record_lacks_columns_that_have_defaults(tmp_path):
    path = tmp_path / "heights.csv"
    path.write_text("name,metres\na,1\n")
    assert read_lines(path, Height) == [Height("a", 1, release="")]


def test_lines_are_changed_where_they_stand(tmp_path, monkeypatch):
    """Those of another process, written in the last moment, too."""
    path, in_turn = tmp_path / "heights.csv", records.in_turn
    write_lines(path, [Height("a", 1), Height("b", 4)], Height)

    def after_another(folder):
        monkeypatch.setattr(records, "in_turn", in_turn)
        write_lines(path, [Height("b", 5), Height("c", 3)], Height)
        return in_turn(folder)

    monkeypatch.setattr(records, "in_turn", after_another)
    change_lines(path, Height, lambda line: replace(line, note="high") if line.metres > 2 else line)
    assert read_lines(path, Height) == [Height("a", 1), Height("b", 5, "high"), Height("c", 3, "high")]


def test_a_record_in_which_nothing_is_changed_stays_as_it_is(tmp_path, monkeypatch):
    path = tmp_path / "heights.csv"
    path.write_text("name,metres\nb,2\na,1\n")
    before = path.stat()
    monkeypatch.setattr(records, "in_turn", lambda folder: pytest.fail("a folder may be read-only"))
    change_lines(path, Height, lambda line: line)
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    change_lines(tmp_path / "none.csv", Height, lambda line: line)
    assert not (tmp_path / "none.csv").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"my only notes\n", "is no record of this kind: its first line lacks name, metres"),
        (b"name,height\na,1\n", "is no record of this kind: its first line lacks metres"),
        (b"\xff\xfe\x00", "is no record: "),
        (b"name,metres\na,tall\n", "line 2: this is no line of a record with the columns release, name, metres, note"),
        (b"name,metres,note\na,1,\nb,2", "line 3: .* it has more cells than the first line, or fewer"),
        (b"name,metres\na,1,2\n", "line 2: .* it has more cells than the first line, or fewer"),
        (b"release,name,metres\nabc,a,1\n", "line 2: "),
        (b"release,name,metres,by\n0.1.0,a,1,me\n", "has columns that this version does not know, .* lose: 'by'"),
    ],
)
def test_what_is_no_record_is_refused_and_stays(content, words, tmp_path):
    path = tmp_path / "heights.csv"
    path.write_bytes(content)
    with pytest.raises(RecordError, match=words):
        write_lines(path, [Height("b", 3)], Height)
    assert path.read_bytes() == content


def test_an_empty_file_is_a_record_without_lines(tmp_path):
    path = tmp_path / "empty.csv"
    path.touch()
    assert read_lines(path, Height) == []


def test_several_processes_write_to_one_record(tmp_path):
    """One of them through a link in another folder."""
    path, each, link = tmp_path / "heights.csv", 50, tmp_path / "other" / "link.csv"
    link.parent.mkdir()
    link.symlink_to(path)
    command = (
        "import pathlib, sys; from kepler_envs.records import write_lines; from tests.test_records import Height\n"
        f"for number in range({each}):\n"
        "  write_lines(pathlib.Path(sys.argv[1]), [Height(sys.argv[2] + str(number), number)], Height)"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", command, str(file), name], cwd=ROOT)
        for file, name in ((path, "a"), (link, "b"))
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    lines = read_lines(path, Height)
    assert len(lines) == 2 * each and {line.release for line in lines} == {VERSION}


def test_a_line_that_is_enough_stays(tmp_path):
    path = tmp_path / "heights.csv"

    def write(line: Height) -> Height | None:
        return write_unless(path, line, lambda known: known.metres > line.metres)

    assert [write(Height("b", 2)), write(Height("a", 1)), write(Height("b", 1))] == [None, None, Height("b", 2)]
    assert write(Height("b", 2, "as high")) is None, "and one that is not is replaced"
    assert read_lines(path, Height) == [Height("a", 1), Height("b", 2, "as high")]


@pytest.mark.parametrize(
    ("release", "counts"),
    [("", False), ("0.9.7", False), ("1.3.9", False), ("1.4.0", True), ("1.4.7", True), ("1.5.0", True)],
)
def test_lines_of_earlier_releases_do_not_count(monkeypatch, release, counts):
    """Only the last number of the version may be another one."""
    monkeypatch.setattr(records, "VERSION", "1.4.2")
    assert Height("a", 1, release=release).is_of_this_release == counts
