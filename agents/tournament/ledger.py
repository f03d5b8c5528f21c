"""The record of every finished game: one SQLite file that survives interruptions.

Games are written in transactions, so a process killed at any moment leaves a ledger of whole games, and the same
command goes on where it stopped. The tables that an adaptive tournament chose are in it, too.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from agents.tournament.play import Forfeit, GameResult

FORMAT = 2

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
    time TEXT NOT NULL            -- UTC, when it was written
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
    agents TEXT NOT NULL          -- JSON: who sits at the table, as indices
);
"""


class LedgerError(ValueError):
    """A ledger that cannot be used; the message says why and what to do."""


class Ledger:
    """An open ledger; close it, or use it in a ``with``.

    Args:
        path: the file; it is created if there is none.
        tournament: what the games have in common, JSON-ready, by name. A ledger of another tournament is refused.

    Raises:
        LedgerError: no ledger, one of another tournament, or one that cannot be opened.
    """

    def __init__(self, path: str | Path, tournament: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.tournament = {"format": FORMAT, **tournament}
        self._database = sqlite3.connect(self.path, isolation_level=None)
        try:
            self._open()
        except sqlite3.DatabaseError as problem:
            self.close()
            raise LedgerError(f"{self.path} cannot be used as a ledger: {problem}; choose another folder") from problem
        except LedgerError:
            self.close()
            raise

    def _open(self) -> None:
        with self._transaction():
            tables = {name for (name,) in self._database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not tables:
                for statement in SCHEMA.split(";"):
                    self._database.execute(statement)
                rows = [(name, json.dumps(value)) for name, value in self.tournament.items()]
                self._database.executemany("INSERT INTO tournament VALUES (?, ?)", rows)
            elif not {"tournament", "games"} <= tables:
                raise LedgerError(f"{self.path} is a database, but not a ledger of games; choose another folder")
        found = {name: json.loads(value) for name, value in self._database.execute("SELECT * FROM tournament")}
        if found.get("format") != FORMAT:
            raise LedgerError(
                f"{self.path} is a ledger of format {found.get('format')}, this version writes format {FORMAT}; "
                "finish it with the version that began it, or choose another folder"
            )
        for name, value in self.tournament.items():
            here = json.loads(json.dumps(value))
            if found.get(name) != here:
                raise LedgerError(
                    f"{self.path} holds games of another tournament: its {name} is {json.dumps(found.get(name))}, "
                    f"not {json.dumps(here)}; choose another folder or delete the file"
                )

    def _transaction(self) -> _Transaction:
        return _Transaction(self._database)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    def add(self, results: Iterable[GameResult], options: str, commit: str) -> None:
        """Write games, all or none. LedgerError if one of them is there already."""
        results = list(results)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        # lists of numbers read the same in Python and in JSON, and json.dumps takes as long as a game
        rows = [
            (
                game.number, game.seed, options, _names(game.agents), str(list(game.ranks)), str(list(game.scores)),
                str(list(game.returns)), game.length, game.end, commit, now,
            )
            for game in results
        ]  # fmt: skip
        forfeits = [
            (game.number, forfeit.agent, forfeit.decision, forfeit.reason, forfeit.details)
            for game in results
            for forfeit in game.forfeits
        ]
        try:
            with self._transaction():
                self._database.executemany("INSERT INTO games VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
                self._database.executemany("INSERT INTO forfeits VALUES (?, ?, ?, ?, ?)", forfeits)
        except sqlite3.IntegrityError as problem:
            raise LedgerError(f"{self.path}: a game is there already; is another process writing to it?") from problem

    def missing(self, games: int) -> list[int]:
        """The numbers below ``games`` that have not been played, ascending."""
        played = {number for (number,) in self._database.execute("SELECT number FROM games")}
        return [number for number in range(games) if number not in played]

    def results(self, games: int) -> list[GameResult]:
        """The games with numbers below ``games``, ascending."""
        query = 'SELECT number, seed, agents, ranks, scores, returns, length, "end" FROM games WHERE number < ? ORDER BY number'
        forfeits: dict[int, list[Forfeit]] = {}
        for number, *rest in self._database.execute("SELECT * FROM forfeits WHERE game < ? ORDER BY rowid", (games,)):
            forfeits.setdefault(number, []).append(Forfeit(*rest))
        return [_result(row, tuple(forfeits.get(row[0], ()))) for row in self._database.execute(query, (games,))]

    def add_stage(self, tables: Sequence[Sequence[int]]) -> None:
        """Write the rounds of the next stage, all or none."""
        with self._transaction():
            counted = self._database.execute("SELECT count(*), coalesce(max(stage) + 1, 0) FROM rounds")
            number, stage = counted.fetchone()
            rows = [(number + i, stage, json.dumps(table)) for i, table in enumerate(tables)]
            self._database.executemany("INSERT INTO rounds VALUES (?, ?, ?)", rows)

    def stages(self) -> list[list[tuple[int, ...]]]:
        """The rounds that were chosen, stage by stage."""
        stages: list[list[tuple[int, ...]]] = []
        for stage, table in self._database.execute("SELECT stage, agents FROM rounds ORDER BY number"):
            if stage == len(stages):
                stages.append([])
            stages[stage].append(tuple(json.loads(table)))
        return stages

    def commits(self, games: int) -> list[str]:
        """The commits that the games with numbers below ``games`` were played at, in their order."""
        query = 'SELECT "commit" FROM games WHERE number < ? GROUP BY "commit" ORDER BY min(number)'
        return [commit for (commit,) in self._database.execute(query, (games,)) if commit]


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
        self._database.execute("COMMIT" if kind is None else "ROLLBACK")


def _result(row: Sequence[Any], forfeits: tuple[Forfeit, ...]) -> GameResult:
    number, seed, agents, ranks, scores, returns, length, end = row
    return GameResult(
        number, seed, tuple(json.loads(agents)), tuple(json.loads(ranks)), tuple(json.loads(scores)),
        tuple(json.loads(returns)), length, end, forfeits,
    )  # fmt: skip
