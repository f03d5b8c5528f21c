"""Tables and watched games on disk: a folder each, with the game as a replay (``game.jsonl``).

Beside the replay of a table lies who sits where (``table.json``). It is written before a decision counts, whole or not
at all, so that a server that was killed goes on where it stood. Beside that of a watched game lies which bots play it
(``film.json``); it is written now and then, and the bots play on from there. The files hold secrets (links, the seed of
the deal): only their owner can open the folders.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from kepler_envs import registry
from kepler_envs.engine.replay import ReplayError, configuration_of, read_replay, write_replay
from kepler_envs.files import write_atomically
from kepler_envs.printable import one_line
from kepler_envs.web import WebError
from kepler_envs.web.films import Film
from kepler_envs.web.tables import Seat, Table, new_token

HOST_TOKEN, TABLE, FILM, GAME = "host.token", "table.json", "film.json", "game.jsonl"
OWNER_ONLY_FOLDER, OWNER_ONLY_FILE = 0o700, 0o600

Kind = TypeVar("Kind")


def usual_folder() -> Path:
    """Where tables are kept unless told otherwise: ``kepler_envs/tables`` among the user's data."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return Path(data) / "kepler_envs" / "tables"


class Store:
    """The folder that all tables of a server are kept in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=OWNER_ONLY_FOLDER)

    def host_token(self) -> str:
        """The secret of whoever runs the server, the same at each start."""
        path = self.folder / HOST_TOKEN
        if path.is_file() and (token := path.read_text(encoding="utf-8").strip()):
            return token
        token = new_token()
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY_FILE), "w") as file:
            file.write(token + "\n")
        return token

    def add(self, table: Table) -> None:
        """Write a new table down, and every decision from now on."""
        folder = self.folder / table.number
        folder.mkdir(mode=OWNER_ONLY_FOLDER)
        try:
            seats = [{"spec": seat.spec, "token": seat.token} for seat in table.seats]
            about = {"seats": seats, "advice": table.advice, "film": table.film_token}
            write_atomically(folder / TABLE, json.dumps(about).encode())
            self._attach(table)
            table.save()
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def remove(self, table: Table) -> None:
        """Delete a table's files."""
        shutil.rmtree(self.folder / table.number)

    # ------------------------------------------------------------ watched games

    def add_film(self, token: str, film: Film, specs: list[str]) -> None:
        """Write down a game to look at, and which bots play it ([] if it is over)."""
        film.number = secrets.token_hex(6)
        folder = self.folder / film.number
        folder.mkdir(mode=OWNER_ONLY_FOLDER)
        try:
            about = {"token": token, "label": film.label, "specs": specs}
            write_atomically(folder / FILM, json.dumps(about).encode())
            self.save_film(film)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def save_film(self, film: Film) -> None:
        """Write the game down as far as it has been played."""
        with film.lock:
            write_replay(self.folder / film.number / GAME, film.replay)

    def remove_film(self, film: Film) -> None:
        """Delete a film's files, if it has any."""
        if film.number:
            shutil.rmtree(self.folder / film.number, ignore_errors=True)

    def load_films(self) -> Iterator[tuple[str, Film, list[str]] | str]:
        """All films with their tokens and bots, oldest first; for one that cannot be read, what is wrong with it."""
        yield from self._each(FILM, self._load_film)

    def _load_film(self, folder: Path) -> tuple[str, Film, list[str]]:
        about = json.loads((folder / FILM).read_text(encoding="utf-8"))
        film = Film.of(read_replay(folder / GAME), str(about["label"]))
        film.number = folder.name
        return str(about["token"]), film, [str(spec) for spec in about["specs"]]

    # ------------------------------------------------------------ taking up again

    def load(self) -> Iterator[Table | str]:
        """All tables, oldest first; for one that cannot be read, what is wrong with it. Its files stay."""
        yield from self._each(TABLE, self._load)

    def _each(self, name: str, load: Callable[[Path], Kind]) -> Iterator[Kind | str]:
        folders = [path for path in self.folder.iterdir() if (path / name).is_file()]
        for folder in sorted(folders, key=lambda path: (path / name).stat().st_mtime):
            try:
                yield load(folder)
            except (OSError, ValueError, KeyError, TypeError) as problem:
                yield f"{folder}: {one_line(problem)}"

    def _load(self, folder: Path) -> Table:
        about = json.loads((folder / TABLE).read_text(encoding="utf-8"))
        replay = read_replay(folder / GAME)
        config = configuration_of(replay, registry.load_game)
        seats = [Seat(str(seat["spec"]), str(seat["token"])) for seat in about["seats"]]
        if len(seats) != config.num_players:
            raise WebError(f"{len(seats)} seats in a game of {config.num_players}")
        table = Table(folder.name, config, replay.seed, seats, bool(about["advice"]))
        table.film_token = str(about["film"])
        table.take_up(replay.actions)
        if table.replay.seats != replay.seats or table.replay.final != replay.final:
            raise ReplayError("the game does not come out as it was written down")
        self._attach(table)
        return table

    def _attach(self, table: Table) -> None:
        path = self.folder / table.number / GAME

        table.keep = lambda replay: write_replay(path, replay)
