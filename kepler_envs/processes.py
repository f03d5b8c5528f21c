"""Pools of processes that compile, play and train."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.context import SpawnContext
from typing import Any

from kepler_envs.terminal import ignore_interrupts

FRESH: SpawnContext = get_context("spawn")
"""Begins processes anew: threads of numba and PyTorch do not survive a fork."""


@contextmanager
def fresh_processes(
    count: int, begin: Callable[..., None] = ignore_interrupts, shared: tuple[Any, ...] = ()
) -> Iterator[ProcessPoolExecutor]:
    """A pool of processes that leave Ctrl-C to this one.

    At the end it waits for what they do, and drops what they have not begun. After an exception, such as that of a
    second Ctrl-C, it kills them.

    Args:
        begin: called in each process with ``shared``, which may hold events and queues of ``FRESH``. It has to call
            ``ignore_interrupts``.

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
