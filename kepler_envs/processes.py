"""Pools of processes that compile, play and train."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.context import SpawnContext
from typing import Any

from kepler_envs.terminal import leave_signals_to_parent

FRESH: SpawnContext = get_context("spawn")
"""Begins processes anew: threads of numba and PyTorch do not survive a fork."""


def begin_worker(at_the_end: Callable[[], object] = lambda: None) -> None:
    """What a process does first that works for another one: leave signals to that, and end with it.

    Args:
        at_the_end: called if that is gone, just before this one ends. It may have been killed.
    """
    leave_signals_to_parent()
    threading.Thread(target=_end_with_parent, args=(at_the_end,), daemon=True).start()


def _end_with_parent(at_the_end: Callable[[], object]) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        at_the_end()
        os._exit(1)


@contextmanager
def fresh_processes(
    count: int, begin: Callable[..., None] = begin_worker, shared: tuple[Any, ...] = ()
) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes that leave signals to this one, and end with it.

    At the end it waits for what they do, and drops what they have not begun. After an exception, such as that of a
    second Ctrl-C, it kills them.

    Args:
        begin: called in each process with ``shared``, which may hold events and queues of ``FRESH``. It has to call
            ``begin_worker``.

    Raises:
        ChildProcessError: a process was killed.
    """
    pool = ProcessPoolExecutor(count, FRESH, begin, shared)
    try:
        with _killed_by_exceptions():
            yield pool
    except BrokenProcessPool as problem:
        raise ChildProcessError("a process was killed; all were ended, and the same command continues") from problem
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _killed_by_exceptions() -> Iterator[None]:
    """Kill the processes that were started here after an exception."""
    others = set(multiprocessing.active_children())
    try:
        yield
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.kill()
        raise
