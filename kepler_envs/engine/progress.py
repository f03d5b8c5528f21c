"""Progress messages on stderr while code is compiled. ``KEPLER_ENVS_QUIET=1`` silences them."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

QUIET_VARIABLE = "KEPLER_ENVS_QUIET"
SECONDS_BETWEEN_LINES = 10.0


class NotKept(Exception):
    """A kernel would have to be compiled, but only those that are kept may be loaded."""


def load_or_compile(builds: Sequence[Callable[[], Any]]) -> None:
    """Load what is kept of these kernels, then compile the others and say how far that is.

    Args:
        builds: what makes each kernel, by way of :func:`kepler_envs.engine.kernel.kernel`, and keeps it.
    """
    missing = [build for build in builds if not _is_kept(build)]
    before = _here.work
    _here.work = _Work(len(missing))
    try:
        for build in missing:
            build()
    finally:
        _here.work.end()
        _here.work = before


def _is_kept(build: Callable[[], Any]) -> bool:
    before, _here.only_loads = _here.only_loads, True
    try:
        build()
    except NotKept:
        return False
    finally:
        _here.only_loads = before
    return True


@contextmanager
def silence() -> Iterator[None]:
    """Print nothing in the meantime, because somebody else reports the progress."""
    before, _here.is_silent = _here.is_silent, True
    try:
        yield
    finally:
        _here.is_silent = before


@contextmanager
def one_kernel() -> Iterator[None]:
    """Around the making of a kernel; what is said of one that nobody announced ends with it."""
    with _timed():
        if _here.work is not None:
            yield
            return
        _here.work = _Work(1)
        try:
            yield
        finally:
            _here.work.end()
            _here.work = None


@contextmanager
def _timed() -> Iterator[None]:
    """Count the seconds; those of a kernel that another one brings along are the other one's."""
    is_outermost, _here.is_making = not _here.is_making, True
    began = time.monotonic()
    try:
        yield
    finally:
        if is_outermost:
            _here.is_making = False
            _here.seconds += time.monotonic() - began


def seconds_spent() -> float:
    """The seconds that this thread has compiled kernels so far, waited for others to do so, and loaded them."""
    return _here.seconds


def check_may_compile() -> None:
    """Raise NotKept while only kernels that are kept may be loaded."""
    if _here.only_loads:
        raise NotKept


def say_compiling(scope: str) -> None:
    """Report that a kernel of this scope is being compiled."""
    if _here.work is not None:
        _here.work.begin_one(scope)


def say_waiting(scope: str, kernel: str) -> None:
    """Report that another process is already compiling it."""
    if _here.work is not None:
        _here.work.say(f"waiting for another process that compiles {scope} ({kernel})", at_once=True)


class _Work:
    """A number of kernels that are compiled one after the other."""

    def __init__(self, total: int) -> None:
        self._total, self._begun = total, 0
        self._display: _Display | None = None

    def begin_one(self, scope: str) -> None:
        self._begun += 1
        total = max(self._total, self._begun)  # a kernel that calls another one brings it along
        self.say(f"compiling {scope}, once for this version: {self._begun} of {total} kernels")

    def say(self, words: str, at_once: bool = False) -> None:
        if _here.is_silent or os.environ.get(QUIET_VARIABLE, "") not in ("", "0") or sys.stderr is None:
            return
        if self._display is None:
            self._display = _make_display()
        self._display.show(words, max(0, self._begun - 1) / max(1, self._total), at_once)

    def end(self) -> None:
        if self._display is not None:
            self._display.end()
            self._display = None


class _Display(Protocol):
    def show(self, words: str, share: float, at_once: bool) -> None: ...

    def end(self) -> None: ...


class _Lines:
    """A line at the beginning, and one now and then: a log need not have one for each kernel."""

    def __init__(self) -> None:
        self._said = -float("inf")

    def show(self, words: str, share: float, at_once: bool) -> None:
        now = time.monotonic()
        if at_once:
            print(words, file=sys.stderr, flush=True)
        elif now - self._said >= SECONDS_BETWEEN_LINES:
            self._said = now
            print(words, file=sys.stderr, flush=True)

    def end(self) -> None:
        pass


class _Bar:
    """A bar of the package rich, gone when all is done."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._progress.start()
        self._task = self._progress.add_task("", total=1.0)

    def show(self, words: str, share: float, at_once: bool) -> None:
        self._progress.update(self._task, description=words, completed=share)

    def end(self) -> None:
        self._progress.stop()


def _make_display() -> _Display:
    if sys.stderr.isatty():
        try:
            return _Bar()
        except ImportError:
            pass  # rich is not among what the package needs
    return _Lines()


class _Here(threading.local):
    """Of each thread: what it compiles, and whether it may."""

    only_loads = False
    is_silent = False
    is_making = False
    seconds = 0.0
    work: _Work | None = None


_here = _Here()
