"""The record of every finished game: one SQLite file that survives interruptions.

Games are written in transactions. So a process killed at any moment leaves a ledger of whole games, and the same
command continues where it stopped. The tables that an adaptive tournament chose are in it, too.

Every row has a checksum. A damaged ledger is refused, with the row that is damaged, and never read as if it were
intact.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from secrets import token_hex
from typing import Any

from kepler_envs.printable import one_line
from kepler_envs.tournament import LedgerError
from kepler_envs.tournament.play import Forfeit, GameResult

FORMAT = 3
EARLIER_FORMATS = ("1", "2")
"""Those without checksums."""

SCHEMA = """
CREATE TABLE tournament (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE games (
    number INTEGER PRIMARY KEY,   -- in the schedule, from 0
    seed INTEGER NOT NULL,        -- make(...).reset(seed=seed) deals the same game
    options TEXT NOT NULL,        -- digest of game, version, players, options and components
    agents TEXT NOT NULL,         -- JSON, by seat, as the next three
    ranks TEXT NOT NULL,
    scores TEXT NOT NULL,
    returns TEXT NOT NULL,
    length INTEGER NOT NULL,      -- decisions
    "end" TEXT NOT NULL,          -- terminated or truncated
    "commit" TEXT NOT NULL,       -- of the sources, empty if unknown
    time TEXT NOT NULL,           -- UTC, when it was written
    checksum TEXT NOT NULL        -- of these columns and of the game's forfeits
);
CREATE TABLE forfeits (           -- of finished games, in the order in which they happened
    game INTEGER NOT NULL,        -- its number
    agent TEXT NOT NULL,
    decision INTEGER NOT NULL,    -- decisions made before
    reason TEXT NOT NULL,         -- see play.py
    details TEXT NOT NULL         -- the traceback, or what was wrong
);
CREATE TABLE rounds (             -- of an adaptive schedule
    number INTEGER PRIMARY KEY,   -- from 0
    stage INTEGER NOT NULL,       -- rounds of a stage were chosen together
    agents TEXT NOT NULL,         -- JSON: who sits at the table, as indices
    checksum TEXT NOT NULL        -- of these columns
);
"""
CHECKSUM = "checksum"
"""The row of the table tournament with the checksum of its other rows."""
BESIDE = ("-journal", "-wal", "-shm")
"""What SQLite appends to a file's name for the files that it keeps beside it."""
NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_TRUNCATE)
"""What SQLite calls a disk without room, or a file that may not grow."""


class Ledger:
    """An open ledger. Close it, or use it in a ``with``.

    Args:
        path: the file. It is created if there is none.
        tournament: what the games have in common, by name, ready for JSON. A ledger of another tournament is refused.

    Raises:
        LedgerError: the file is no ledger, belongs to another tournament, is damaged, or cannot be opened.
        OSError: the disk is full.
    """

    def __init__(self, path: str | Path, tournament: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.tournament = {"format": FORMAT, **tournament}
        if not os.path.exists(self.path):  # which says no where Path.exists may raise
            self._create()
        self._database = self._connect(self.path)
        try:
            with self._clear_errors():
                self._check_identity()
                self._check_all()
        except BaseException as problem:
            self.close()
            if isinstance(problem, MemoryError):  # games are read one by one: it takes a damaged one
                raise self._damage(type(problem).__name__) from problem
            raise

    def _connect(self, path: Path) -> sqlite3.Connection:
        try:
            return sqlite3.connect(path, isolation_level=None)
        except (sqlite3.Error, ValueError) as problem:  # the latter of a path that no file can have
            raise LedgerError(f"{path} cannot be opened: {problem}; choose another folder") from problem

    def _create(self) -> None:
        """A whole ledger without games, or none: an empty file would be a damaged one.

        If another process has made one in the meantime, that one stays.
        """
        new = self.path.with_name(f".{self.path.name}.{token_hex(4)}")
        self._database = self._connect(new)
        try:
            with self._clear_errors():
                self._write_tables()
                self._database.execute("BEGIN EXCLUSIVE")  # nobody else has anything beside it until it is closed
                if _give_name(new, self.path):
                    _delete_beside(self.path)
        finally:
            self.close()
            new.unlink(missing_ok=True)

    def _write_tables(self) -> None:
        rows = [(name, json.dumps(value)) for name, value in self.tournament.items()]
        with self._transaction():
            for statement in SCHEMA.split(";"):
                self._database.execute(statement)
            self._database.executemany("INSERT INTO tournament VALUES (?, ?)", [*rows, (CHECKSUM, checksum(rows))])

    def _check_identity(self) -> None:
        """Raise LedgerError unless this is a ledger, and that of this tournament."""
        tables = {name for (name,) in self._database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not {"tournament", "games"} <= tables:
            raise LedgerError(f"{self.path} is a database, but not a ledger of games; choose another folder")
        rows = self._database.execute("SELECT * FROM tournament ORDER BY rowid").fetchall()
        found = {name: value for name, value in rows if name != CHECKSUM}
        if found.get("format") in EARLIER_FORMATS and CHECKSUM not in dict(rows):
            raise LedgerError(
                f"{self.path} is a ledger of format {found['format']}, this version writes format {FORMAT}; "
                "finish it with the version that began it, or choose another folder"
            )
        if (CHECKSUM, checksum(list(found.items()))) not in rows:
            raise self._damage("the table tournament does not have its checksum")
        for name, value in self.tournament.items():
            here = json.dumps(value)
            if found.get(name) != here:
                raise LedgerError(
                    f"{self.path} holds games of another tournament: {name} = {found.get(name)} there, {here} here; "
                    "choose another folder, or --fresh deletes it"
                )

    def _check_all(self) -> None:
        """Raise LedgerError if anything in the file is damaged."""
        problems = [problem for (problem,) in self._database.execute("PRAGMA quick_check(1)")]
        if problems != ["ok"]:
            raise self._damage(str(problems[0]).splitlines()[-1])
        games = sum(1 for _ in self._rows(2**63 - 1))
        if self._database.execute("SELECT count(*) FROM games").fetchone() != (games,):
            raise self._damage("its index and its rows do not agree")
        strays = "SELECT game FROM forfeits WHERE game NOT IN (SELECT number FROM games) LIMIT 1"
        for (number,) in self._database.execute(strays):
            raise self._damage(f"a forfeit belongs to game {number}, which is not there")
        seats = self.stages()
        played = self._database.execute("SELECT max(number) FROM games").fetchone()[0]
        if seats and played is not None and played >= sum(map(len, seats)) * len(seats[0][0]):
            raise self._damage(f"game {played} is there, but not its round")

    def _damage(self, what: str) -> LedgerError:
        return LedgerError(
            f"{self.path} is damaged: {one_line(what)}; put back a copy of the file, or begin anew with --fresh or in "
            "another folder"
        )

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Turn what SQLite finds wrong into a LedgerError, or an OSError where the disk is full."""
        try:
            yield
        except sqlite3.Error as problem:
            whole_code = getattr(problem, "sqlite_errorcode", 0)
            code = whole_code & 0xFF
            if whole_code in NO_ROOM:
                raise OSError(
                    errno.ENOSPC,
                    f"{problem}: every game in the ledger is kept; make room, and the same command goes on",
                    str(self.path),
                ) from problem
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise LedgerError(f"{self.path} is in use by another process") from problem
            if code == sqlite3.SQLITE_NOTADB:
                raise LedgerError(
                    f"{self.path} cannot be used as a ledger: {problem}; choose another folder"
                ) from problem
            if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
                raise LedgerError(f"{self.path} cannot be written: {problem}") from problem
            raise self._damage(str(problem)) from problem
        except (ValueError, OverflowError) as problem:
            if isinstance(problem, LedgerError):
                raise
            raise self._damage(str(problem)) from problem

    def _transaction(self) -> _Transaction:
        return _Transaction(self._database)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    def add(self, results: Iterable[GameResult], options: str, commit: str) -> None:
        """Write games, all or none. Raises LedgerError if one of them is there already, OSError if the disk is full."""
        results = list(results)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        games, forfeits = [], []
        for game in results:
            # lists of numbers read the same in Python and in JSON, and json.dumps takes as long as a game
            row = (
                game.number, game.seed, options, _names(game.agents), str(list(game.ranks)), str(list(game.scores)),
                str(list(game.returns)), game.length, game.end, commit, now,
            )  # fmt: skip
            lost = [
                (game.number, forfeit.agent, forfeit.decision, forfeit.reason, forfeit.details)
                for forfeit in game.forfeits
            ]
            games.append((*row, checksum([row, *lost])))
            forfeits += lost
        with self._clear_errors():
            try:
                with self._transaction():
                    self._database.executemany("INSERT INTO games VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", games)
                    self._database.executemany("INSERT INTO forfeits VALUES (?, ?, ?, ?, ?)", forfeits)
            except sqlite3.IntegrityError as problem:
                raise LedgerError(
                    f"{self.path}: a game is there already; is another process writing to it?"
                ) from problem

    def count(self) -> int:
        """The number of games."""
        with self._clear_errors():
            ((games,),) = self._database.execute("SELECT count(*) FROM games")
        return int(games)

    def missing(self, games: int) -> list[int]:
        """The numbers below ``games`` that have not been played, ascending."""
        with self._clear_errors():
            played = {number for (number,) in self._database.execute("SELECT number FROM games")}
        return [number for number in range(games) if number not in played]

    def results(self, games: int) -> list[GameResult]:
        """The games with numbers below ``games``, ascending."""
        with self._clear_errors():
            return [_result(row, lost) for row, lost in self._rows(games)]

    def _rows(self, games: int) -> Iterator[tuple[Sequence[Any], Sequence[Sequence[Any]]]]:
        """The rows of games, each with those of its forfeits; LedgerError at the first that does not have its
        checksum."""
        forfeits: dict[int, list[tuple[Any, ...]]] = {}
        for lost in self._database.execute("SELECT * FROM forfeits WHERE game < ? ORDER BY rowid", (games,)):
            forfeits.setdefault(lost[0], []).append(lost)
        for *row, found in self._database.execute("SELECT * FROM games WHERE number < ? ORDER BY number", (games,)):
            lost = forfeits.get(row[0], [])
            if checksum([row, *lost]) != found:
                raise self._damage(f"the row of game {row[0]} does not have its checksum")
            yield row, lost

    def add_stage(self, tables: Sequence[Sequence[int]]) -> None:
        """Write the rounds of the next stage, all or none. Raises OSError if the disk is full."""
        with self._clear_errors(), self._transaction():
            counted = self._database.execute("SELECT count(*), coalesce(max(stage) + 1, 0) FROM rounds")
            number, stage = counted.fetchone()
            rows = [(number + i, stage, json.dumps(table)) for i, table in enumerate(tables)]
            self._database.executemany(
                "INSERT INTO rounds VALUES (?, ?, ?, ?)", [(*row, checksum([row])) for row in rows]
            )

    def stages(self) -> list[list[tuple[int, ...]]]:
        """The rounds that were chosen, stage by stage."""
        stages: list[list[tuple[int, ...]]] = []
        with self._clear_errors():
            for place, (*row, found) in enumerate(self._database.execute("SELECT * FROM rounds ORDER BY number")):
                number, stage, table = row
                if checksum([row]) != found or number != place or not len(stages) - 1 <= stage <= len(stages):
                    raise self._damage(f"the row of round {place} does not have its checksum, or is missing")
                if stage == len(stages):
                    stages.append([])
                stages[stage].append(tuple(json.loads(table)))
        return stages

    def commits(self, games: int) -> list[str]:
        """The commits that the games with numbers below ``games`` were played at, in their order."""
        query = 'SELECT "commit" FROM games WHERE number < ? GROUP BY "commit" ORDER BY min(number)'
        with self._clear_errors():
            return [commit for (commit,) in self._database.execute(query, (games,)) if commit]


def delete_ledger(path: Path) -> None:
    """Delete a ledger, if there is one, with all that SQLite keeps beside it."""
    path.unlink(missing_ok=True)
    _delete_beside(path)


def _delete_beside(path: Path) -> None:
    """Delete what a killed process left beside a ledger that is gone: SQLite would play it into the next one."""
    for ending in BESIDE:
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _give_name(new: Path, path: Path) -> bool:
    """Give a new file its name. Returns whether it has it: another process may have given it to another file."""
    try:
        os.link(new, path)  # a rename would overwrite the other one
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        new.rename(path)
    return True


def checksum(rows: Sequence[Sequence[Any]]) -> str:
    """The checksum of rows as they are written: 16 hex digits of BLAKE2b."""
    return hashlib.blake2b(repr([tuple(row) for row in rows]).encode(errors="replace"), digest_size=8).hexdigest()


@lru_cache(maxsize=4096)
def _names(agents: tuple[str, ...]) -> str:
    return json.dumps(agents)


class _Transaction:
    """BEGIN IMMEDIATE ... COMMIT, or ROLLBACK after an exception."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def __enter__(self) -> None:
        self._database.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        try:
            self._database.execute("COMMIT" if kind is None else "ROLLBACK")
        except sqlite3.Error:
            if self._database.in_transaction:  # a COMMIT for which there was no room
                self._database.execute("ROLLBACK")
            if kind is None:
                raise


def _result(row: Sequence[Any], forfeits: Sequence[Sequence[Any]]) -> GameResult:
    number, seed, _, agents, ranks, scores, returns, length, end, _, _ = row
    return GameResult(
        number, seed, tuple(json.loads(agents)), tuple(json.loads(ranks)), tuple(json.loads(scores)),
        tuple(json.loads(returns)), length, end, tuple(Forfeit(*lost[1:]) for lost in forfeits),
    )  # fmt: skip
