"""The process of a bot from a file. from_file.py starts it and asks it:

``python -m kepler_envs.bots.file_process DESCRIPTOR``.
"""

from __future__ import annotations

import ctypes
import importlib.util
import io
import json
import os
import select
import signal
import sys
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.bots.from_file import IDS, MIB, OTHER, OUT_OF_MEMORY, RAISED, READY, REFUSED
from kepler_envs.bots.protocol import BotError, Decisions
from kepler_envs.engine.game import Configuration, records_from_bytes
from kepler_envs.engine.snapshot import Snapshot

MOST_WORDS = 20_000
"""Letters of a traceback that are sent, the last ones."""
SECONDS_TO_COME_BACK = 0.5
"""How long a forked process is waited for that may come back from the bot."""
PR_SET_PDEATHSIG = 1


def main(descriptor: int) -> None:
    """Make the bot, then answer until nobody asks any more."""
    _die_with_parent()
    connection = Connection(descriptor)
    file, name, config, memory = connection.recv()
    forks = Forks()
    try:
        if memory is not None:
            _limit_memory(memory)
        bot = load(Path(file), name, config)
        reply = READY + json.dumps(bool(getattr(bot, "searches", False))).encode()
    except BotError as problem:
        reply = REFUSED + str(problem).encode(errors="replace")
    except BaseException as problem:
        reply = REFUSED + f"{name}(config) failed\n{_traceback_of(problem)}".encode(errors="replace")
    forks.end_if_forked()
    forks.came_back()
    connection.send_bytes(reply)
    while reply[:1] == READY:
        try:
            method, *content = connection.recv()
        except EOFError:
            return
        connection.send_bytes(answer(bot, config, method, content, forks))


def load(path: Path, name: str, config: Configuration) -> Any:
    """Run the file and call ``NAME(config)``; BotError if that makes no bot.

    What the file itself raises goes through.
    """
    spec = importlib.util.spec_from_file_location(f"bots_of_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise BotError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickle look there
    spec.loader.exec_module(module)
    if not callable(getattr(module, name, None)):
        raise BotError(f"{path} has nothing named {name} to call")
    bot = getattr(module, name)(config)
    if not (callable(getattr(bot, "start", None)) and callable(getattr(bot, "act", None))):
        raise BotError(f"{name}(config) has no methods start and act; see FileBot in kepler_envs/bots/protocol.py")
    return bot


def answer(bot: Any, config: Configuration, method: str, content: list[Any], forks: Forks) -> bytes:
    """What the bot returns or raises, as bytes."""
    try:
        if method == "start":
            bot.start(*content)
            found = np.zeros(0, np.int64)
        else:
            found = np.asarray(bot.act(_decisions(config, *content)))
        sent = _array(found)
    except MemoryError as problem:
        sent = OUT_OF_MEMORY + _traceback_of(problem).encode(errors="replace")
    except BaseException as problem:  # sys.exit, KeyboardInterrupt: no more than an exception
        sent = RAISED + _traceback_of(problem).encode(errors="replace")
    finally:
        forks.end_if_forked()
    if forks.came_back():
        return RAISED + f"a process that {method} had forked came back from it".encode()
    return sent


def _array(found: np.ndarray) -> bytes:
    if found.ndim == 1 and found.dtype == np.int64:
        return IDS + found.tobytes()
    written = io.BytesIO()
    np.save(written, found, allow_pickle=False)
    return OTHER + written.getvalue()


def _decisions(
    config: Configuration, rows: np.ndarray, seat: np.ndarray, observation: np.ndarray, mask: np.ndarray, states: bytes
) -> Decisions:
    records = records_from_bytes(states, config.game.state)
    snapshots = [Snapshot.take(config, records, place) for place in range(len(records))]
    return Decisions(config, rows, seat, observation, mask, snapshots)


class Forks:
    """Processes that the bot forks: one that comes back from it would answer, too.

    They inherit the end of a pipe. Whoever comes back says so there; that all of them have ended shows, too.
    """

    def __init__(self) -> None:
        self._own = os.getpid()
        self._pipe: tuple[int, int] | None = None
        os.register_at_fork(before=self._open)

    def _open(self) -> None:
        if self._pipe is None and os.getpid() == self._own:
            self._pipe = os.pipe()

    def end_if_forked(self) -> None:
        """Ends any process but the first."""
        if os.getpid() == self._own:
            return
        try:
            if self._pipe is not None:
                os.write(self._pipe[1], b"!")
        finally:
            os._exit(0)

    def came_back(self) -> bool:
        """Whether one did since this was asked. Those that neither end nor come back are waited for a moment."""
        if self._pipe is None:
            return False
        reading, writing = self._pipe
        self._pipe = None
        os.close(writing)
        heard, _, _ = select.select([reading], [], [], SECONDS_TO_COME_BACK)
        found = bool(heard) and os.read(reading, 1) != b""
        os.close(reading)
        return found


def _traceback_of(problem: BaseException) -> str:
    """The traceback from the bot's own code on."""
    frames = problem.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith((__file__, "<frozen importlib")):
        frames = frames.tb_next
    words = "".join(traceback.format_exception(problem.with_traceback(frames or problem.__traceback__)))
    return words[-MOST_WORDS:]


def _limit_memory(memory: int) -> None:
    """Let this process and those it forks take no more than that many bytes each."""
    import resource

    taken = _memory_taken()
    if taken > memory:
        raise BotError(
            f"{memory / MIB:.0f} MiB of memory are too few: its process takes {taken / MIB:.0f} before it plays"
        )
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _memory_taken() -> int:
    """What counts for RLIMIT_DATA, where the system tells."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:")), 0)


def _die_with_parent() -> None:
    """Also in native code that never returns; where there is no prctl, when nobody asks any more."""
    prctl: Callable[..., int] | None = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]))
