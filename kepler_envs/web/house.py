"""All tables and films of a server, found by their secret tokens. Bots play them in the background."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kepler_envs.engine.game import Configuration
from kepler_envs.engine.replay import Replay
from kepler_envs.engine.seeds import fresh_seed
from kepler_envs.printable import one_line
from kepler_envs.web import NotNowError, UnknownError
from kepler_envs.web.cards import NO_CARDS, Cards
from kepler_envs.web.films import Film
from kepler_envs.web.players import Players
from kepler_envs.web.store import Store
from kepler_envs.web.tables import Seat, Table, new_token
from kepler_envs.web.views import shown_name

MOST_TABLES, MOST_FILMS = 200, 200
BOT_THREADS = 2
"""Number of bots that think at once."""
PATIENCE = 3.0  # seconds
SAVE_EVERY = 1.0
"""Seconds after which a watched game is saved again."""


class House:
    """Everything that goes on at a server.

    Args:
        folder: folder that games are kept in.
        pace: least number of seconds between two decisions of bots at a table with people.
        say: called with messages for whoever runs the server.
        cards: component files to set games up with, by the name that pages have for them.

    Raises:
        WebError: another server uses the folder.

    Attributes:
        host_token: the secret of whoever runs the server.
        closing: set once everything is to stop.
    """

    def __init__(
        self, folder: Path, pace: float = 0.4, say: Callable[[str], None] = lambda words: None,
        cards: Mapping[str, Cards] = NO_CARDS,
    ) -> None:  # fmt: skip
        self._store = Store(folder)
        self.cards = cards
        self._pace = pace
        self._say = say
        self._lock = threading.RLock()
        self._tables: dict[str, Table] = {}
        self._seats: dict[str, tuple[Table, int]] = {}
        self._films: dict[str, Film] = {}
        self._table_films: dict[str, Film] = {}  # of finished tables, with which they go
        self._players: dict[str, Players] = {}  # the bots of tables, loaded once
        self._busy: set[str] = set()
        self._thinking = threading.BoundedSemaphore(BOT_THREADS)
        self.closing = threading.Event()
        self.host_token = self._store.host_token()
        for found in self._store.load():
            if isinstance(found, str):
                say(f"not taken up again: {found}")
            else:
                self._put(found)
                self.play_on(found)
        for film in self._store.load_films():
            if isinstance(film, str):
                say(f"not taken up again: {film}")
            else:
                self._take_up(*film)

    def close(self) -> None:
        """Stop all bots. One that is thinking at a table gets a moment to finish, but no more.

        Nothing is written once this returns, so another server may go on with the folder.
        """
        self.closing.set()
        end = time.monotonic() + PATIENCE
        while self._busy and time.monotonic() < end:
            time.sleep(0.01)
        with self._lock:  # a new game that is being written down is finished first
            tables, films = list(self._tables.values()), list(self._films.values())
        for table in tables:
            table.close()
        for film in films:
            with film.lock:
                self._save_if_growing(film)
                film.growing = False
        self._store.close()

    @contextmanager
    def _open(self) -> Iterator[None]:
        """Games are added and deleted one at a time, and not once the house closes: NotNowError then.

        Locks of tables and films are taken inside this one, never around it.
        """
        with self._lock:
            if self.closing.is_set():
                raise NotNowError("the server is being stopped")
            yield

    # ------------------------------------------------------------ tables

    def open_table(self, config: Configuration, specs: list[str], seed: int | None, advice: bool) -> Table:
        """Deal a game.

        Args:
            specs: by seat, a bot's spec or ``person``.

        Raises:
            NotNowError: there are too many tables, or the house closes.
            WebError: one of the bots cannot play this game.
        """
        seats = [Seat(spec) for spec in specs]
        players = Players(config, _bots_of(seats), fresh_seed())  # raises before anything is written
        try:
            table = Table(secrets.token_hex(6), config, fresh_seed() if seed is None else seed, seats, advice)
            self._add(table, players)
        except BaseException:
            players.close()
            raise
        self.play_on(table)
        return table

    def _add(self, table: Table, players: Players) -> None:
        """Write a new table down and let people in."""
        with self._open():
            if len(self._tables) >= MOST_TABLES:
                raise NotNowError(f"there are {MOST_TABLES} tables: close some first")
            self._store.add(table)
            self._players[table.number] = players
            self._put(table)

    def close_table(self, number: str) -> None:
        """Forget a table and delete its files."""
        with self._open():
            table = self.table(number)
            del self._tables[number]
            players = self._players.pop(number, None)
            self._table_films.pop(table.film_token, None)
            for seat in table.seats:
                self._seats.pop(seat.token, None)
            table.close()  # before its files go, or a decision could still be written
            self._store.remove(table)
        if players:
            players.close()

    def _put(self, table: Table) -> None:
        with self._lock:
            self._tables[table.number] = table
            for number, seat in enumerate(table.seats):
                if seat.is_person:
                    self._seats[seat.token] = (table, number)

    def table(self, number: str) -> Table:
        """Return the table of that number; UnknownError if there is none."""
        try:
            return self._tables[number]
        except KeyError:
            raise UnknownError("there is no such table") from None

    @property
    def numbers(self) -> set[str]:
        """The numbers of all tables."""
        return set(self._tables)

    def seat(self, token: str) -> tuple[Table, int]:
        """Return the table and the seat whose link holds this secret; UnknownError if there is none."""
        try:
            return self._seats[token]
        except KeyError:
            raise UnknownError("there is no such seat: the link is wrong, or the table was closed") from None

    def play_on(self, table: Table) -> None:
        """Let bots decide in the background until a person is asked, or the game is over."""
        with self._lock:
            mover = table.to_move
            if mover is None or mover.is_person or table.number in self._busy or self.closing.is_set():
                return
            if table.number not in self._tables:  # it was deleted
                return
            self._busy.add(table.number)
        threading.Thread(target=self._let_bots_decide, args=(table,), name="bots", daemon=True).start()

    def _let_bots_decide(self, table: Table) -> None:
        try:
            while not self.closing.is_set() and table.number in self._tables:
                with table.lock:
                    mover, position, version = table.to_move, table.position, table.version
                if mover is None or mover.is_person:
                    break
                began = time.monotonic()
                try:
                    with self._thinking:
                        action = self._players_of(table).decide(mover.spec, position)
                    self.closing.wait(max(0.0, self._pace - (time.monotonic() - began)))
                    table.decide_for_bot(action, version)
                except Exception as problem:  # whatever a bot of the user's own raises, or a full disk
                    if self._stop(table, version, mover.spec, problem):
                        break
        finally:
            with self._lock:
                self._busy.discard(table.number)
        if not table.problem:
            self.play_on(table)  # a person may have decided just now

    def _stop(self, table: Table, version: int, spec: str, problem: Exception) -> bool:
        """Say that a bot cannot decide; False if the table has changed meanwhile, so that it need not."""
        with table.lock:
            if version == table.version:
                self._say(f"table {table.number}, bot {spec}: {one_line(problem)}")
            return table.stop(version, f"the bot {shown_name(spec)} cannot go on; the server's terminal says why")

    def _players_of(self, table: Table) -> Players:
        """Return the bots of a table. After a restart they are loaded when they are needed."""
        players = self._players.get(table.number)
        if players is None:
            players = Players(table.config, _bots_of(table.seats), fresh_seed())
            with self._lock:
                self.table(table.number)  # it may have been deleted
                self._players[table.number] = players
        return players

    # ------------------------------------------------------------ films

    def add_film(self, film: Film, keep: bool = False, specs: list[str] | None = None) -> str:
        """Put a game on show and return its token.

        Args:
            keep: show it again after a restart of the server. Only games that are kept are limited in number.
            specs: the bots that play it, by seat.

        Raises:
            NotNowError: too many are kept, or the house closes.
        """
        with self._open():
            if keep and sum(bool(film.number) for film in self._films.values()) >= MOST_FILMS:
                raise NotNowError(f"{MOST_FILMS} watched and opened games are kept: delete some first")
            token = new_token()
            if keep:
                self._store.add_film(token, film, specs or [])
            self._films[token] = film
            return token

    def close_film(self, token: str) -> None:
        """Forget a game on show and delete its files; UnknownError if there is none."""
        with self._open():
            if token not in self._films:
                raise UnknownError("there is no such game")
            film = self._films.pop(token)
            film.growing = False
            with film.lock:
                self._store.remove_film(film)

    def _take_up(self, token: str, film: Film, specs: list[str]) -> None:
        """Put a saved game on show again, and let the bots finish it if they had not."""
        self._films[token] = film
        if film.positions[-1].over or not specs:
            return
        film.growing = True
        threading.Thread(target=self._shoot, args=(film, None, specs), name="film", daemon=True).start()

    def watch(self, config: Configuration, specs: list[str], seed: int | None) -> str:
        """Let bots play a game to watch and return its token; WebError if one of them cannot play it."""
        seed = fresh_seed() if seed is None else seed
        players = Players(config, specs, seed)
        names = [shown_name(spec) for spec in specs]
        film = Film(config, seed, names, f"{config.game.title}: {', '.join(names)}")
        film.growing = True
        try:
            token = self.add_film(film, keep=True, specs=specs)
        except BaseException:
            players.close()
            raise
        threading.Thread(target=self._shoot, args=(film, players, specs), name="film", daemon=True).start()
        return token

    def _shoot(self, film: Film, players: Players | None, specs: list[str]) -> None:
        saved = time.monotonic()
        try:
            players = players or Players(film.config, specs, fresh_seed())
            while film.growing and not self.closing.is_set() and not film.positions[-1].over:
                position = film.positions[-1]
                film.add(players.decide(specs[position.seat], position))
                if time.monotonic() - saved >= SAVE_EVERY:
                    self._save_if_growing(film)
                    saved = time.monotonic()
            self._save_if_growing(film)
        except Exception as problem:
            self._say(f"a game being watched: {one_line(problem)}")
            film.problem = "a bot cannot go on; the server's terminal says why"
        finally:
            film.growing = False

    def _save_if_growing(self, film: Film) -> None:
        with film.lock:  # a film that was just closed must not get its files back
            if film.growing and film.number:
                self._store.save_film(film)

    def film(self, token: str) -> Film:
        """Return the film of a token, or the whole game of a finished table; UnknownError if there is none."""
        with self._lock:
            shown = self._films.get(token) or self._table_films.get(token)
            if shown:
                return shown
            table = next((table for table in self._tables.values() if table.film_token == token), None)
        if table is None:
            raise UnknownError("there is no such game")
        with table.lock:
            if not table.position.over:
                raise UnknownError("there is no such game")
            replay = table.replay
        film = Film.of(Replay(**vars(replay)), f"{table.config.game.title}: a game at this server")
        with self._lock:
            self.table(table.number)  # it may have been deleted
            return self._table_films.setdefault(token, film)

    # ------------------------------------------------------------ what the host is told

    def overview(self) -> dict[str, Any]:
        """List all tables with the links of their seats, and all films."""
        with self._lock:
            tables, films = list(self._tables.values()), list(self._films.items())
        return {
            "tables": [_table_words(table) for table in reversed(tables)],
            "films": [
                {"token": token, "label": film.label, "decisions": len(film.replay.actions), "growing": film.growing}
                for token, film in reversed(films)
            ],
        }


def _bots_of(seats: list[Seat]) -> list[str]:
    return [seat.spec for seat in seats if not seat.is_person]


def _table_words(table: Table) -> dict[str, Any]:
    with table.lock:
        return {
            "number": table.number,
            "title": table.config.game.title,
            "decisions": len(table.heard),
            "over": table.position.over,
            "turn": None if table.position.over else table.position.seat,
            "problem": table.problem,
            "seats": [
                {"name": shown_name(seat.spec), "token": seat.token if seat.is_person else ""} for seat in table.seats
            ],
            "film": table.film_token if table.position.over else "",
        }
