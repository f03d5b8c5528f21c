"""Tournaments as a command that is watched and interrupted, their ledgers, and the agents of misbehaving.py."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from tests.waiting import wait_until

GAME = "kitten_adventurers"
FILE = Path(__file__).with_name("misbehaving.py")
ROOT = Path(__file__).parents[2]


def own(name: str) -> str:
    """The spec of an agent of misbehaving.py."""
    return f"python:{FILE}:{name}"


def rows(out: Path) -> list[tuple]:
    """All games of a ledger, without when and at which commit they were written."""
    with closing(sqlite3.connect(out / "games.sqlite")) as database:
        names = [row[1] for row in database.execute("PRAGMA table_info(games)")]
        kept = ", ".join(f'"{name}"' for name in names if name not in ("time", "commit", "checksum"))
        return database.execute(f"SELECT {kept} FROM games ORDER BY number").fetchall()


def count_games(out: Path) -> int:
    """How many games a ledger has, whoever is writing to it."""
    try:
        with closing(sqlite3.connect(f"file:{out / 'games.sqlite'}?mode=ro", uri=True, timeout=10)) as database:
            return int(database.execute("SELECT count(*) FROM games").fetchone()[0])
    except sqlite3.OperationalError:
        return 0  # not there yet, or without tables


def command(out: Path, agents: Sequence[str], games: int, *more: str) -> list[str]:
    return [
        sys.executable, "-m", "tests.tournament.without_pages", "tournament", GAME, "--players", "4", "--agents",
        *agents, "--games", str(games), "--bootstrap", "40", "--out", str(out), *more,
    ]  # fmt: skip


def start(words: list[str]) -> subprocess.Popen[str]:
    """Start a command. A signal to its group reaches all of its processes, as from a terminal."""
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT, start_new_session=True
    )


def wait_for_games(process: subprocess.Popen[str], out: Path, games: int) -> None:
    """Wait until a command has written so many games."""

    def are_there() -> bool:
        enough = count_games(out) >= games
        assert enough or process.poll() is None, process.communicate()[0]
        return enough

    wait_until(are_there, "playing", longest=300)
