"""Bots of your own, from a Python file: ``python:my_bots.py:MyBot``.

Such a bot runs in a process of its own (file_process.py). It is sent what its seats may know, and its answers come back
as bytes that are numbers or text, never as pickles. So its memory holds nothing of the games but
what it was sent, and no crash there ends another process.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.bots.protocol import BotError, TrustedDecisions, check_plays
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.seeds import mix
from kepler_envs.engine.snapshot import Snapshot

EXCEPTION, ILLEGAL = "exception", "illegal"
TOO_SLOW, TOO_MUCH_MEMORY, PROCESS_DIED = "too slow", "too much memory", "process died"
"""The reasons why a bot may fail. Its process can be asked again after the first two."""

READY, REFUSED, IDS, OTHER, NO_NUMBERS, RAISED, OUT_OF_MEMORY = b"L", b"R", b"I", b"O", b"N", b"E", b"M"
"""The first byte of what the process sends:

IDS is followed by int64 numbers, OTHER by any other array in NumPy's format.
"""

MOST_BYTES = 2**24
"""The most bytes an answer may have."""
MIB = 2**20


class BotFailed(BotError):
    """A bot from a file raised an exception, returned what makes no array of numbers, was too slow or took too much
    memory, or its process is gone.

    Attributes:
        reason: EXCEPTION, ILLEGAL, TOO_SLOW, TOO_MUCH_MEMORY or PROCESS_DIED.
        details: the traceback, or what was wrong.
        bot: its name, or "".
    """

    def __init__(self, reason: str, details: str, bot: str = "") -> None:
        super().__init__(reason, details, bot)  # a pickle keeps these: it may be raised on another machine
        self.reason, self.details, self.bot = reason, details, bot

    def __str__(self) -> str:
        return f"{self.bot}: {self.reason}: {self.details}" if self.bot else f"{self.reason}: {self.details}"

    @property
    def goes_on(self) -> bool:
        """Whether the bot's process can be asked again."""
        return self.reason in (EXCEPTION, ILLEGAL)


def split(argument: str) -> tuple[Path, str]:
    """Split ``my_bots.py:MyAgent`` into file and name; a leading ~ is the home folder. Raises BotError."""
    file, colon, name = argument.rpartition(":")
    if not (colon and file and name.isidentifier()):
        raise BotError(f"python:{argument} must read python:FILE.py:NAME")
    return Path(os.path.expanduser(file)), name


def seeds_of(seed: int) -> tuple[int, int]:
    """The two seeds made from the one a bot is given for a game: the seed it is told, and the one for its snapshots.

    A hash makes them, so that the bot cannot work backwards. All other steps from the game's seed to a bot's can be
    undone, and the deal follows from the game's seed.
    """
    digest = hashlib.blake2b(int(seed).to_bytes(8, "little"), digest_size=16, person=b"agent of a file").digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


class BotFromFile:
    """A bot from a file, in its own process; see :class:`kepler_envs.bots.protocol.FileBot`.

    Threads that ask it take turns. After a fork, the new process asks a bot of its own, which begins without memory. It
    cannot be copied or pickled.

    Args:
        argument: FILE.py:NAME. ``NAME(config)`` makes the bot there.
        config: the games to play.
        memory: the bytes that the process may take. None means any number.
        seconds_to_start: the time that starting the process and making the bot may take. None means any time.

    Attributes:
        seconds: the time that an answer may take. None means any time.

    Raises:
        BotError: there is no such file or name, it makes no bot, making it took too long, or the file itself raised.
    """

    def __init__(
        self, argument: str, config: Configuration, memory: int | None = None, seconds_to_start: float | None = None
    ) -> None:
        path, name = split(argument)
        if not os.path.isfile(path):
            raise BotError(f"python:{argument}: there is no file {path}")
        self.name = f"python:{argument}"
        self.seconds: float | None = None
        self._seconds_to_start = seconds_to_start
        self._config = config
        self._begins_with = (str(path.resolve()), name, config, memory)
        self._searches = False
        self._words: dict[int, int] = {}  # for each row, what its next snapshot is drawn from
        self._process: _Process | None = None
        self.prepare()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Refuse before anything is copied: two owners of one connection would close it for one another."""
        raise TypeError(
            f"bot {self.name} runs in a process of its own and cannot be copied or pickled; give its name, or load it "
            "again"
        )

    def prepare(self) -> None:
        """Start the process and make the bot, unless it is running. Raises BotError as the constructor does."""
        self._running()

    def _running(self) -> _Process:
        if self._process is None or self._process.made_in != os.getpid():  # it is that of the process before a fork
            process = _Process()
            self._searches = process.begin(self.name, self._begins_with, self._seconds_to_start)
            self._process = process
        return self._process

    def close(self) -> None:
        """End the process. ``prepare`` starts another one."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """See :meth:`Bot.start`. Raises BotFailed."""
        if not len(rows):
            return
        told, drawn = zip(*(seeds_of(int(seed)) for seed in seeds), strict=True)
        self._words.update(zip(rows.tolist(), drawn, strict=True))
        self._ask("start", np.array(rows, np.int64), np.array(told, np.uint64))

    def act(self, decisions: TrustedDecisions) -> np.ndarray:
        """See :meth:`Bot.act`. Raises BotFailed. What comes back may be any numbers."""
        check_plays(self.name, self._config, decisions)
        states = self._resampled(decisions) if self._searches else b""
        rows = np.array(decisions.rows, np.int64)
        return self._ask("act", rows, decisions.seat, decisions.observation, decisions.action_mask, states)

    def _resampled(self, decisions: TrustedDecisions) -> bytes:
        """The states of the rows' snapshots."""
        drawn = []
        for row, seat in zip(decisions.rows.tolist(), decisions.seat.tolist(), strict=True):
            if row not in self._words:
                raise BotError(f"bot {self.name} is asked about row {row}, where it was not started")
            self._words[row] = mix(self._words[row])
            position = Snapshot.take(self._config, decisions.batch.states, row)
            drawn.append(position.resample(seat, self._words[row]).states.tobytes())
        return b"".join(drawn)

    def _ask(self, *question: Any) -> np.ndarray:
        process = self._running()
        with process.turn, process.ending_with_failures(self):
            return process.ask(question, self.seconds)


class _Process:
    """The other process, and what comes back from it.

    It ends at the latest when its lifeline closes, a pipe of which only this process holds this end.

    Attributes:
        made_in: id of this process.
        turn: held while a question is asked, or another thread would take its answer.
    """

    def __init__(self) -> None:
        self.made_in, self.turn = os.getpid(), threading.Lock()
        ours, theirs = (Connection(end.detach()) for end in _sockets())
        watched, lifeline = Pipe(duplex=False)
        _lifelines.add(lifeline)
        self._connection = ours
        folders = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
        with theirs, watched:
            passed = [theirs.fileno(), watched.fileno()]
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "kepler_envs.bots.file_process", *map(str, passed)],
                pass_fds=passed,
                stdin=subprocess.DEVNULL,
                env={"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": folders},
                start_new_session=True,  # Ctrl-C must reach only those who started it
            )
        self.end = weakref.finalize(self, _end, self._process, ours, lifeline)

    @contextmanager
    def ending_with_failures(self, owner: BotFromFile) -> Iterator[None]:
        """Name the bot that failed, and close its process if it cannot answer again."""
        try:
            yield
        except BotFailed as failure:
            if not failure.goes_on:
                owner.close()
            raise BotFailed(failure.reason, failure.details, owner.name) from None
        except BaseException:  # otherwise its late answer would be taken for the next one
            owner.close()
            raise

    def begin(self, name: str, arguments: tuple[Any, ...], seconds: float | None) -> bool:
        """Make the bot. Returns whether it searches. Raises BotError."""
        try:
            self._connection.send(arguments)
            if not self._connection.poll(seconds):
                self.end()
                raise BotError(f"{name}: cut off while it was made; {seconds:g} s were allowed")
            reply = self._connection.recv_bytes(MOST_BYTES)
        except (EOFError, OSError):
            raise BotError(f"{name}: its process {self._ending()}") from None
        if reply[:1] != READY:
            self.end()
            raise BotError(f"{name}: {reply[1:].decode(errors='replace')}")
        return json.loads(reply[1:]) is True

    def ask(self, question: tuple[Any, ...], seconds: float | None) -> np.ndarray:
        """Ask for an answer. Raises BotFailed."""
        begun = time.monotonic()
        try:
            self._connection.send(question)
            if not self._connection.poll(seconds):
                took = time.monotonic() - begun
                raise BotFailed(TOO_SLOW, f"cut off after {took:.3f} s; {seconds:g} s were allowed")
            reply = self._connection.recv_bytes(MOST_BYTES)
        except (EOFError, OSError):
            raise BotFailed(PROCESS_DIED, f"the process {self._ending()} while the bot was asked") from None
        try:
            return _read(reply[:1], reply[1:])
        except BotFailed:
            raise
        except (ValueError, EOFError, SyntaxError, MemoryError):
            raise BotFailed(PROCESS_DIED, "the process sent something that is not an answer") from None

    def _ending(self) -> str:
        """End a process that cannot be understood any more, and say what it did. It has a moment to end by itself."""
        if not self._connection.readable:  # recv_bytes refuses to go on after a message that is too long
            found = f"sent more than {MOST_BYTES} bytes"
        else:
            try:
                found = f"ended with exit code {self._process.wait(1.0)}"
            except subprocess.TimeoutExpired:
                found = "closed its connection"
        self.end()
        return found


def _read(kind: bytes, content: bytes) -> np.ndarray:
    """The array that was sent. Raises BotFailed if it is a message, and errors of NumPy's if it is neither."""
    if kind == IDS:
        return np.frombuffer(content, np.int64)
    if kind == OTHER:
        return np.load(io.BytesIO(content), allow_pickle=False)
    reason = {RAISED: EXCEPTION, NO_NUMBERS: ILLEGAL, OUT_OF_MEMORY: TOO_MUCH_MEMORY}.get(kind, PROCESS_DIED)
    raise BotFailed(reason, content.decode(errors="replace"))


def _sockets() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets that take as much at a time as the system allows."""
    pair = socket.socketpair()
    for end in pair:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST_BYTES)
    return pair


_lifelines: weakref.WeakSet[Connection] = weakref.WeakSet()
"""Those of all processes. A fork that kept them open would keep the bots of a killed process alive."""


def _leave_to_parent() -> None:
    """Give up the bots of the process that this one was forked from: they are to end with that one."""
    for lifeline in _lifelines:
        lifeline.close()


os.register_at_fork(after_in_child=_leave_to_parent)


def _end(process: subprocess.Popen[bytes], connection: Connection, lifeline: Connection) -> None:
    """End the process and those that it started, unless a fork has left it to its parent."""
    if not lifeline.closed:
        with suppress(ProcessLookupError, PermissionError):  # all have ended, or what is left has other rights
            os.killpg(process.pid, signal.SIGKILL)  # it leads the group of its session
        process.wait()
        lifeline.close()
    with suppress(OSError):  # somebody else has closed it
        connection.close()
