"""The process in which a bot from a file runs. from_file.py starts it and asks it for actions:

``python -m kepler_envs.bots.file_process DESCRIPTOR LIFELINE``.
"""

from __future__ import annotations

import fcntl
import importlib.util
import io
import json
import os
import select
import signal
import sys
import traceback
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from kepler_envs.bots.from_file import IDS, MIB, MOST_BYTES, NO_NUMBERS, OTHER, OUT_OF_MEMORY, RAISED, READY, REFUSED
from kepler_envs.bots.protocol import BotError, Decisions
from kepler_envs.engine.game import Configuration, records_from_bytes
from kepler_envs.engine.snapshot import Snapshot

MOST_WORDS = 20_000
"""The most characters of a traceback that are sent: its last ones."""
SECONDS_TO_COME_BACK = 0.5
"""How long to wait for a forked process that may still return from the bot's code."""
BYTES_AT_A_TIME = 2**16


def main(descriptor: int, lifeline: int) -> None:
    """Make the bot, then answer until nobody asks any more."""
    _end_with_parent(lifeline)
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
            _end_group()
        except MemoryError as problem:
            connection.send_bytes(_out_of_memory(problem))
            _throw_away(connection)
            continue
        connection.send_bytes(answer(bot, config, method, content, forks))


def load(path: Path, name: str, config: Configuration) -> Any:
    """Run the file and call ``NAME(config)``. Raises BotError if that makes no bot. It may import modules that lie
    beside it, now and later.

    Exceptions that the file itself raises pass through.
    """
    sys.path.insert(0, str(path.parent))  # this process serves no other bot
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
        raise BotError(f"{name}(config) has no start or no act method; see FileBot in kepler_envs/bots/protocol.py")
    return bot


def answer(bot: Any, config: Configuration, method: str, content: list[Any], forks: Forks) -> bytes:
    """What the bot returns or raises, as bytes."""
    try:
        if method == "start":
            bot.start(*content)
            sent = IDS
        else:
            sent = _choice(bot.act(_decisions(config, *content)), len(content[0]))
    except MemoryError as problem:
        sent = _out_of_memory(problem)
    except BaseException as problem:  # sys.exit and KeyboardInterrupt are no worse than an exception
        sent = RAISED + _traceback_of(problem).encode(errors="replace")
    finally:
        forks.end_if_forked()
    if forks.came_back():
        return RAISED + f"{method} forked a process that returned from it as well".encode()
    return sent


def _choice(returned: Any, rows: int) -> bytes:
    """What the bot chose for so many rows as the bytes of an array, or a message if it makes none, or too many."""
    found = _array(returned)
    if found is None:
        return NO_NUMBERS + f"act returned {type(returned).__name__} in place of integers ({rows},)".encode()
    sent = _written(found)
    if len(sent) > MOST_BYTES:
        return RAISED + f"the answer has {len(sent)} bytes; at most {MOST_BYTES} are allowed".encode()
    return sent


def _array(returned: Any) -> np.ndarray | None:
    """What was returned as an array that can be sent; None if it makes none."""
    try:
        found = np.asarray(returned)
    except ValueError:  # lists of different lengths
        return None
    return None if found.dtype.hasobject else found


def _written(found: np.ndarray) -> bytes:
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
    """Watches the processes that the bot forks: one that returned from the bot's code would send an answer, too.

    They inherit one end of a pipe, and one that returns says so there. The pipe also shows when all of them have ended.
    """

    def __init__(self) -> None:
        self._own = os.getpid()
        self._pipe: tuple[int, int] | None = None
        os.register_at_fork(before=self._open)

    def _open(self) -> None:
        if self._pipe is None and os.getpid() == self._own:
            self._pipe = os.pipe()

    def end_if_forked(self) -> None:
        """End this process if the bot forked it."""
        if os.getpid() == self._own:
            return
        try:
            if self._pipe is not None:
                os.write(self._pipe[1], b"!")
        finally:
            os._exit(0)

    def came_back(self) -> bool:
        """Whether a forked process has returned since the last call. Waits a moment for those still running."""
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
    """The traceback, without what comes before the bot's own code."""
    frames = problem.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith((__file__, "<frozen importlib")):
        frames = frames.tb_next
    words = "".join(traceback.format_exception(problem.with_traceback(frames or problem.__traceback__)))
    return words[-MOST_WORDS:]


def _out_of_memory(problem: MemoryError) -> bytes:
    return OUT_OF_MEMORY + _traceback_of(problem).encode(errors="replace")


def _throw_away(connection: Connection) -> None:
    """Read the rest of a question for which there is no memory: whoever asks looks for an answer once all is sent."""
    while os.read(connection.fileno(), BYTES_AT_A_TIME):
        pass


def _limit_memory(memory: int) -> None:
    """Allow this process, and each one it forks, no more than ``memory`` bytes."""
    import resource

    taken = _memory_taken()
    if taken > memory:
        raise BotError(
            f"{memory / MIB:.0f} MiB of memory is too little: the bot's process takes {taken / MIB:.0f} before it plays"
        )
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))


def _memory_taken() -> int:
    """The bytes that count towards RLIMIT_DATA; 0 where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:")), 0)


def _end_with_parent(lifeline: int) -> None:
    """Have the system kill this process and those that it starts, once the parent is gone.

    The parent alone holds the other end of this pipe. When that closes, the system sends SIGKILL to the process group,
    so native code that keeps the interpreter's lock ends, too. A process that has left the group lives on. (prctl's
    PR_SET_PDEATHSIG would come as soon as the thread ends that started this process.) Without F_SETSIG, this process
    ends only when it waits for a question that can no longer come.
    """
    if hasattr(fcntl, "F_SETSIG"):
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    closed = select.poll()
    closed.register(lifeline, 0)  # that the other end is closed is always told
    if closed.poll(0):  # it was before, so no signal comes
        _end_group()


def _end_group() -> NoReturn:
    """End this process and those that it started."""
    os.killpg(os.getpgrp(), signal.SIGKILL)
    raise AssertionError("nothing runs after SIGKILL")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
