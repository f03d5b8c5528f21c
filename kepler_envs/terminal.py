"""Printing to a terminal, and stopping long work with Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from typing import Any

from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from kepler_envs.files import drop_output

WIDTH_OF_FILES = 160
"""Columns of what is printed into a file or a pipe, where tables need not wrap."""


class _Console(Console):
    is_stopping = False
    """Whether work was asked to stop, and still finishes what is under way."""

    def on_broken_pipe(self) -> None:
        """The reader of a pipe is gone (``| head``): end like any program, though a replay may be saved on the way.

        Ctrl-C ends the reader, too (``| tee``). What is then finished has to be saved, whoever reads of it.
        """
        self.quiet = True
        if not self.is_stopping:
            raise BrokenPipeError
        drop_output()


def make_console() -> Console:
    """Make the console that everything is printed to. It prints words as they are, without rich's own colours.

    A file or a pipe is no terminal, whatever ``FORCE_COLOR`` says: nobody could see a game move there.
    """
    sizes = ("COLUMNS", "LINES")  # of 0 columns nothing could be seen
    environ = {name: value for name, value in os.environ.items() if name not in sizes or value.strip("0")}
    console = _Console(highlight=False, emoji=False, force_terminal=sys.stdout.isatty(), _environ=environ)
    if not console.is_terminal and "COLUMNS" not in environ:
        console.width = WIDTH_OF_FILES
    return console


def say(console: Console, words: str) -> None:
    """Print words as they are, however long they are and whatever brackets they hold."""
    console.print(words, markup=False, soft_wrap=True)


def grid(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[str] = ()) -> Table:
    """A table with a title. Columns named in ``right`` are numbers. What the first column names is never broken."""
    heading = Text(title, style="bold")
    table = Table(title=heading, title_justify="left", min_width=heading.cell_len)  # a heading is never broken
    for column in columns:
        justify: JustifyMethod = "right" if column in right else "left"
        table.add_column(Text(column), justify=justify, overflow="fold", no_wrap=column == columns[0])
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    return table


HANGUP = getattr(signal, "SIGHUP", None)
"""The signal that tells a process of the end of its terminal. Windows has none."""
ENDINGS = [number for number in (signal.SIGTERM, HANGUP) if number is not None]
"""The signals that ask a process to end, the end of its terminal included."""


def _heeded_endings() -> list[signal.Signals]:
    """Those that this process does not ignore, as ``nohup`` has it do."""
    return [number for number in ENDINGS if signal.getsignal(number) != signal.SIG_IGN]


@contextmanager
def _handling(numbers: Iterable[signal.Signals], handle: Callable[[int, Any], None]) -> Iterator[None]:
    """Handle these signals in a block."""
    before = {number: signal.getsignal(number) for number in numbers}
    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _dropping_terminal() -> Callable[[], None]:
    """A function for when the terminal has ended. It drops what is printed there, which would fail."""
    on_terminal = [stream for stream in (sys.stdout, sys.stderr) if stream is not None and stream.isatty()]

    def drop() -> None:
        for stream in on_terminal:
            drop_output(stream)

    return drop


@contextmanager
def stop_on_signals(console: Console, message: str) -> Iterator[threading.Event]:
    """An event that the first Ctrl-C (or termination signal, or the end of the terminal) sets. The second one
    interrupts as usual, but a terminal ends only once, however often that is told.

    Args:
        message: printed when the event is set. It says what is still finished, and what a second Ctrl-C does.
    """
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    drop_terminal = _dropping_terminal()

    def handle(number: int, frame: Any) -> None:
        if number == HANGUP:
            drop_terminal()
        if stop.is_set():
            if number == HANGUP:
                return
            raise KeyboardInterrupt
        stop.set()
        if isinstance(console, _Console):
            console.is_stopping = True
        with suppress(OSError, RuntimeError):  # a full disk has no room for a log, and print cannot print in its midst
            console.print(message)

    with _handling((signal.SIGINT, *_heeded_endings()), handle):
        yield stop


@contextmanager
def termination_interrupts() -> Iterator[Callable[[], None]]:
    """In this block a termination signal, or the end of the terminal, interrupts as Ctrl-C does.

    Only the first one does. ``timeout`` and terminals send several, and what is then saved has to be whole. After a
    call of the function that the block gets, none does: a terminal that ends tells it by the end of the input first.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    ended, drop_terminal = False, _dropping_terminal()

    def handle(number: int, frame: Any) -> None:
        nonlocal ended
        if number == HANGUP:
            drop_terminal()
        if not ended:
            ended = True
            raise KeyboardInterrupt

    def spare() -> None:
        nonlocal ended
        ended = True

    with _handling(_heeded_endings(), handle):
        yield spare


@contextmanager
def hangup_terminates() -> Iterator[None]:
    """In this block the end of the terminal is a termination signal, for libraries that know only that one."""
    here = threading.current_thread() is threading.main_thread()
    heeded = [number for number in _heeded_endings() if here and number == HANGUP]
    with _handling(heeded, lambda number, frame: signal.raise_signal(signal.SIGTERM)):
        yield


@contextmanager
def signals_held_back() -> Iterator[None]:
    """Processes started here get neither Ctrl-C nor one of :data:`ENDINGS` before they call
    :func:`leave_signals_to_parent`.

    A terminal or a batch system sends them to all processes, and one that is still importing would die of it.
    """
    resource_tracker.ensure_running()  # or the first process starts it, and it lets Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, *ENDINGS))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave_signals_to_parent() -> None:
    """Ignore Ctrl-C, the end of the terminal and the first termination signal in a worker, whose parent decides what
    they mean.

    They count from now on, as do those that were held back.
    """

    def drop(number: int, frame: Any) -> None:
        signal.signal(number, signal.SIG_DFL)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, drop)
    if HANGUP is not None:
        signal.signal(HANGUP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, *ENDINGS))
