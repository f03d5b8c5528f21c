"""Keep tables and watched games on disk: a folder each, with the game as a replay (``game.jsonl``).

A table's folder also says who sits where (``table.json``). Its replay is saved before a decision counts, as a whole or
not at all, so a killed server continues where it stopped. A watched game's folder says which bots play it
(``film.json``). Its replay is saved about once per second, and the bots continue from there. The files hold secrets
(links, the seed of the deal), so only their owner can open the folders. One server at a time uses a folder.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from kepler_envs import registry
from kepler_envs.engine.replay import ReplayError, configuration_of, read_replay, write_replay
from kepler_envs.files import alone_in, write_atomically
from kepler_envs.printable import counted, one_line
from kepler_envs.web import WebError
from kepler_envs.web.films import Film
from kepler_envs.web.tables import Seat, Table, new_token

HOST_TOKEN, TABLE, FILM, GAME = "host.token", "table.json", "film.json", "game.jsonl"
OWNER_ONLY_FOLDER, OWNER_ONLY_FILE = 0o700, 0o600

Kind = TypeVar("Kind")


def usual_folder() -> Path:
    """Return the usual folder for games: ``kepler_envs/tables`` in the user's data folder."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return Path(data) / "kepler_envs" / "tables"


class Store:
    """The folder that a server keeps its games in. No other server can use it until ``close``.

    Raises:
        WebError: another server uses it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=OWNER_ONLY_FOLDER)
        self._taken = ExitStack()
        refusal = WebError(f"another server uses {folder}: stop it, or give another --folder")
        self._taken.enter_context(alone_in(folder, refusal))

    def close(self) -> None:
        """Leave the folder to another server."""
        self._taken.close()

    def host_token(self) -> str:
        """Return the secret of whoever runs the server. It is the same at each start."""
        path = self.folder / HOST_TOKEN
        if path.is_file() and (token := path.read_text(encoding="utf-8").strip()):
            return token
        token = new_token()
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY_FILE), "w") as file:
            file.write(token + "\n")
        return token

    def add(self, table: Table) -> None:
        """Save a new table, and every decision from now on."""
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
        """Save a game to look at, and which bots play it ([] if nobody does)."""
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
        """Save the game as far as it has been played."""
        with film.lock:
            write_replay(self.folder / film.number / GAME, film.replay)

    def remove_film(self, film: Film) -> None:
        """Delete a film's files, if it has any."""
        if film.number:
            shutil.rmtree(self.folder / film.number, ignore_errors=True)

    def load_films(self) -> Iterator[tuple[str, Film, list[str]] | str]:
        """Load all films with their tokens and bots, oldest first. What cannot be read yields a message instead."""
        yield from self._each(FILM, self._load_film)

    def _load_film(self, folder: Path) -> tuple[str, Film, list[str]]:
        about = json.loads((folder / FILM).read_text(encoding="utf-8"))
        film = Film.of(read_replay(folder / GAME), str(about["label"]))
        film.number = folder.name
        return str(about["token"]), film, [str(spec) for spec in about["specs"]]

    # ------------------------------------------------------------ taking up again

    def load(self) -> Iterator[Table | str]:
        """Load all tables, oldest first. What cannot be read yields a message instead, and its files stay."""
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
            raise WebError(f"{counted(len(seats), 'seat')} in a game of {config.num_players}")
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
