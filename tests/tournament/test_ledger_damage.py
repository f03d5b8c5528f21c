"""Ledgers that were damaged, and disks that are full: one clear line, nothing altered, nothing lost."""

from __future__ import annotations

import errno
import os
import random
import shutil
import sqlite3
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from kepler_envs.cli import main
from kepler_envs.tournament import WorkerError
from kepler_envs.tournament import run as tournament_module
from kepler_envs.tournament.ledger import FORMAT, Ledger, LedgerError, checksum, delete_ledger
from kepler_envs.tournament.play import Forfeit, GameResult
from kepler_envs.tournament.workers import GOES_ON

DAMAGES = 200
IDENTITY = {"game": "x", "agents": ["a", "b"], "seed": 7}
GAME = "kitten_adventurers"


def game(number: int) -> GameResult:
    lost = (Forfeit("b", number, "exception", "Traceback\n" + "line\n" * 20),) if number % 5 == 0 else ()
    return GameResult(number, 2**62 - number, ("a", "b"), (1, 2), (5, 3), (1.0, -0.25), 17 + number, "terminated", lost)


GAMES = [game(number) for number in range(60)]
STAGES = [[(0, 1)] * 10, [(0, 1)] * 20]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "games.sqlite"
    with Ledger(path, IDENTITY) as ledger:
        for stage in STAGES:
            ledger.add_stage(stage)
        ledger.add(GAMES, "digest", "commit")
    return path


@pytest.fixture
def path(whole, tmp_path) -> Path:
    return Path(shutil.copy(whole, tmp_path))


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "a" * 300])
def test_no_ledger_can_have_such_a_name(name, tmp_path):
    with pytest.raises(LedgerError, match="cannot be opened: "):
        Ledger(tmp_path / name, IDENTITY)
    assert list(tmp_path.iterdir()) == []


def damage_bytes(path: Path, dice: random.Random) -> None:
    content = bytearray(path.read_bytes())
    kind, place = dice.randrange(5), dice.randrange(len(content))
    if kind == 0:
        content[place] ^= 1 << dice.randrange(8)
    elif kind == 1:
        content[place : place + 16] = dice.randbytes(16)
    elif kind == 2:
        del content[place:]
    elif kind == 3:
        del content[place : place + dice.randrange(1, 5000)]
    else:
        page = place // 4096 * 4096
        content[page : page + 4096] = bytes(4096)
    path.write_bytes(content)


COLUMNS = {
    "games": ("number", "seed", "agents", "ranks", "scores", "returns", "length", '"end"', '"commit"', "checksum"),
    "forfeits": ("game", "agent", "decision", "reason", "details"),
    "rounds": ("number", "stage", "agents", "checksum"),
    "tournament": ("name", "value"),
}
VALUES = (None, 0, -1, 3, 2**62, 0.5, "", "[1, 2]", "[" * 2000, "greedy", "null", b"\xff\xfe", "[2, 1]")


def damage_rows(path: Path, dice: random.Random) -> None:
    table = dice.choice(list(COLUMNS))
    with sqlite3.connect(path) as database:
        rowid = dice.choice(database.execute(f"SELECT rowid FROM {table}").fetchall())[0]
        try:
            if dice.random() < 0.2:
                database.execute(f"DELETE FROM {table} WHERE rowid = ?", (rowid,))
            else:
                change = f"UPDATE {table} SET {dice.choice(COLUMNS[table])} = ? WHERE rowid = ?"
                database.execute(change, (dice.choice(VALUES), rowid))
        except sqlite3.IntegrityError:
            pass  # SQLite itself refuses it: the ledger is as it was
    database.close()


def test_no_damage_is_read_as_if_it_were_the_tournament(whole, path):
    """Either everything that is read is as it was written, or one line says what is wrong."""
    dice, outcomes = random.Random(12), Counter()
    for number in range(DAMAGES):
        shutil.copy(whole, path)
        (damage_bytes if number % 2 else damage_rows)(path, dice)
        try:
            with Ledger(path, IDENTITY) as ledger:
                results, missing, stages = ledger.results(60), ledger.missing(60), ledger.stages()
                assert ledger.commits(60) == ["commit"]
        except LedgerError as problem:
            words = str(problem)
            assert words.startswith(str(path)) and "\n" not in words and len(words) < 600
            outcomes["refused"] += 1
            continue
        assert results == [each for each in GAMES if each.number not in missing]
        assert stages == STAGES
        outcomes["lacks games" if missing else "whole"] += 1
    assert outcomes["refused"] >= 0.6 * DAMAGES and outcomes["lacks games"] <= 0.05 * DAMAGES, outcomes


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE games SET ranks = '[2, 1]' WHERE number = 41", "the row of game 41 does not have its checksum"),
        ("UPDATE games SET number = 99 WHERE number = 41", "the row of game 99 does not have its checksum"),
        ("UPDATE forfeits SET decision = 1 WHERE game = 5", "the row of game 5 does not have its checksum"),
        ("DELETE FROM forfeits WHERE game = 5", "the row of game 5 does not have its checksum"),
        ("DELETE FROM games WHERE number = 5", "a forfeit belongs to game 5, which is not there"),
        ("UPDATE rounds SET agents = '[1, 1]' WHERE number = 3", "the row of round 3 does not have its checksum"),
        ("DELETE FROM rounds WHERE number = 3", "the row of round 3 does not have its checksum, or is missing"),
        ("DELETE FROM rounds WHERE number > 20", "game 59 is there, but not its round"),
        ("UPDATE tournament SET value = '8' WHERE name = 'seed'", "the table tournament does not have its checksum"),
        ("DELETE FROM tournament", "the table tournament does not have its checksum"),
    ],
)
def test_a_damaged_row_is_named(change, words, path):
    with sqlite3.connect(path) as database:
        database.execute(change)
    database.close()
    with pytest.raises(LedgerError) as raised:
        Ledger(path, IDENTITY)
    assert str(raised.value) == (
        f"{path} is damaged: {raised.value.args[0].split(': ')[1].partition(';')[0]}; "
        "put back a copy of the file, or begin anew with --fresh or in another folder"
    )
    assert words in str(raised.value)


def test_ledgers_of_this_format_keep_their_checksums():
    assert FORMAT == 3
    assert checksum([(0, 7, "digest", "[1, 2]"), (0, "b", 3)]) == "c1ffed304788398b"


def test_a_closed_ledger_is_not_used(path):
    with Ledger(path, IDENTITY) as ledger:
        pass
    with pytest.raises(LedgerError, match="closed database"):
        ledger.count()


def test_an_empty_file_is_no_new_ledger(tmp_path):
    path = tmp_path / "games.sqlite"
    path.touch()
    with pytest.raises(LedgerError, match="is a database, but not a ledger"):
        Ledger(path, IDENTITY)
    assert path.read_bytes() == b""


def test_a_ledger_in_use_says_so(path, monkeypatch):
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda name, **settings: connect(name, timeout=0.01, **settings))
    with pytest.raises(LedgerError, match="is in use by another process"):
        Ledger(path, IDENTITY)
    other.close()


# ---------------------------------------------------------------- beginning anew


def interrupted(path: Path) -> Path:
    """The journal that a process leaves which is killed while it writes to a ledger."""
    journal = path.with_name(f"{path.name}-journal")
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA cache_size = 1")
    database.execute("BEGIN IMMEDIATE")
    database.execute("UPDATE games SET agents = agents || 'x'")
    database.execute("INSERT INTO rounds VALUES (99, 9, ?, '')", ("x" * 2**20,))  # too much to be kept in memory
    content = journal.read_bytes()
    database.execute("ROLLBACK")
    database.close()
    journal.write_bytes(content)
    assert content[:8].hex() == "d9d505f920a163d7", "SQLite would not play it back"
    return journal


def test_a_journal_of_a_deleted_ledger_is_not_played_into_the_next_one(path):
    journal = interrupted(path)
    path.unlink()
    with Ledger(path, IDENTITY) as ledger:
        assert ledger.results(60) == [] and not journal.exists()
        ledger.add(GAMES, "digest", "commit")
    with Ledger(path, IDENTITY) as ledger:
        assert ledger.results(60) == GAMES
    assert list(path.parent.iterdir()) == [path]


def test_a_journal_of_a_ledger_that_is_there_is_played_back(path):
    journal = interrupted(path)
    with Ledger(path, IDENTITY) as ledger:
        assert ledger.results(60) == GAMES and not journal.exists()


def test_a_deleted_ledger_leaves_nothing(path):
    for ending in ("-journal", "-wal", "-shm"):
        path.with_name(path.name + ending).write_bytes(b"of SQLite")
    delete_ledger(path)
    assert list(path.parent.iterdir()) == []
    delete_ledger(path)


def test_a_fresh_tournament_after_one_that_was_killed(path):
    interrupted(path)
    command = [GAME, "--games", "12", "--bootstrap", "40", "--processes", "1", "--out", str(path.parent)]
    assert main(["tournament", *command, "--fresh"]) == 0
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM games").fetchone() == (12,)


def test_a_ledger_that_another_process_made_in_the_meantime_is_used(tmp_path, monkeypatch):
    """Both looked before either had made one."""
    path = tmp_path / "games.sqlite"
    with Ledger(path, IDENTITY) as first:
        monkeypatch.setattr(os.path, "exists", lambda _: False)
        first.add(GAMES[:1], "digest", "commit")
        with Ledger(path, IDENTITY) as second:
            second.add(GAMES[1:2], "digest", "commit")
        assert first.results(60) == GAMES[:2]
        with pytest.raises(LedgerError, match="holds games of another tournament"):
            Ledger(path, {**IDENTITY, "seed": 8})
    assert list(tmp_path.iterdir()) == [path]


def test_a_ledger_that_another_process_made_in_the_meantime_keeps_its_journal(path, monkeypatch):
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    other.execute("DELETE FROM games")
    monkeypatch.setattr(os.path, "exists", lambda _: False)
    Ledger(path, IDENTITY).close()
    assert sorted(file.name for file in path.parent.iterdir()) == ["games.sqlite", "games.sqlite-journal"]
    other.close()


def test_ledgers_begun_at_once_are_one(tmp_path):
    for trial in range(10):
        path, together = tmp_path / str(trial) / "games.sqlite", threading.Barrier(4, timeout=60)
        path.parent.mkdir()

        def begin(number: int, path: Path = path, together: threading.Barrier = together) -> None:
            together.wait()
            with Ledger(path, IDENTITY) as ledger:
                together.wait()
                ledger.add([GAMES[number]], "digest", "commit")

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(begin, range(4)))
        with Ledger(path, IDENTITY) as ledger:
            assert ledger.results(60) == GAMES[:4]
        assert list(path.parent.iterdir()) == [path]


def test_a_ledger_where_files_have_one_name_only(tmp_path, monkeypatch):
    """Some file systems have no hard links."""

    def refuse(*arguments):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with Ledger(tmp_path / "games.sqlite", IDENTITY) as ledger:
        assert ledger.results(60) == []
    assert [file.name for file in tmp_path.iterdir()] == ["games.sqlite"]


# ---------------------------------------------------------------- full disks


def test_a_full_disk_keeps_every_game_that_was_written(path):
    with Ledger(path, IDENTITY) as ledger:
        pages = ledger._database.execute("PRAGMA page_count").fetchone()[0]
        ledger._database.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(
            OSError, match="database or disk is full: every game in the ledger is kept; make room"
        ) as full:
            ledger.add([game(number) for number in range(60, 1060)], "digest", "commit")
        assert full.value.errno == errno.ENOSPC and full.value.filename == str(path)
        assert ledger.results(2000) == GAMES
        ledger._database.execute("PRAGMA max_page_count = 100000")
        ledger.add_stage([(0, 1)])
        ledger.add([game(60)], "digest", "commit")
    with Ledger(path, IDENTITY) as ledger:
        assert ledger.results(2000) == [*GAMES, game(60)]


def test_a_tournament_on_a_full_disk_ends_in_one_line(tmp_path, monkeypatch, capsys):
    """And the same command goes on once there is room."""
    add = Ledger.add

    def full(self, results, options, commit):
        pages = self._database.execute("PRAGMA page_count").fetchone()[0]
        self._database.execute(f"PRAGMA max_page_count = {pages}")
        long = (Forfeit("greedy", 1, "exception", "words" * 5000),)
        add(self, [replace(each, forfeits=long) for each in results], options, commit)

    command = [GAME, "--bootstrap", "40", "--processes", "1", "--out", str(tmp_path)]
    assert main(["tournament", *command, "--games", "12"]) == 0
    command += ["--games", "24"]
    with monkeypatch.context() as changed:
        changed.setattr(Ledger, "add", full)
        assert main(["tournament", *command]) == 1
    said = capsys.readouterr().err
    assert (
        said.startswith("kepler-envs: ") and said.count("\n") == 1 and "make room, and the same command goes on" in said
    )
    with sqlite3.connect(tmp_path / "games.sqlite") as database:
        assert database.execute("SELECT count(*) FROM games").fetchone() == (12,)
    assert main(["tournament", *command]) == 0


def test_a_report_on_a_full_disk_is_one_line_too(tmp_path, monkeypatch, capsys):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device", "results.md")

    monkeypatch.setattr(tournament_module, "write_report", full)
    command = [GAME, "--games", "12", "--bootstrap", "40", "--processes", "1", "--out", str(tmp_path)]
    assert main(["tournament", *command]) == 1
    assert capsys.readouterr().err == "kepler-envs: [Errno 28] No space left on device: 'results.md'\n"


def test_a_folder_that_cannot_be_made_is_not_possible(tmp_path, capsys):
    (tmp_path / "out").write_text("a file")
    assert main(["tournament", GAME, "--games", "12", "--processes", "1", "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err == f"kepler-envs: --out {tmp_path / 'out'} is a file; name a folder\n"


def test_a_report_that_cannot_be_written_leaves_the_one_before(tmp_path, monkeypatch, capsys):
    command = ["tournament", GAME, "--games", "12", "--bootstrap", "40", "--processes", "1", "--out", str(tmp_path)]
    assert main(command) == 0
    names = ("report.html", "results.md", "ratings.png", "leaderboard.json")
    before = {tmp_path / name: (tmp_path / name).read_bytes() for name in names}

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    capsys.readouterr()
    assert main(command) == 1
    assert str(tmp_path) in capsys.readouterr().err, "the file is named"
    assert {path: path.read_bytes() for path in before} == before


def test_a_killed_process_breaks_a_tournament_off(tmp_path, monkeypatch, capsys):
    def lost(*arguments: object) -> None:
        raise WorkerError(f"a process ended; {GOES_ON}")

    monkeypatch.setattr(tournament_module.Tournament, "_play", lost)
    command = ["tournament", GAME, "--games", "12", "--processes", "1", "--out", str(tmp_path)]
    assert main(command) == 1
    assert "finished games are kept, and the same command goes on" in capsys.readouterr().err
