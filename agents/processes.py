"""Pools of processes that play and train."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
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

    At the end it waits for what they do, and drops what they have not begun.

    Args:
        begin: called in each process with ``shared``, which may hold events and queues of ``FRESH``. It has to call
            ``ignore_interrupts``.
    """
    pool = ProcessPoolExecutor(count, FRESH, begin, shared)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
