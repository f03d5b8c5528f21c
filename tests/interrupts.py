"""Ctrl-C, a termination signal and the end of the terminal at bad moments: as soon as a process exists, long before it
runs our code, and in the middle of compiled code."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def interrupted_children() -> Iterator[set[int]]:
    """Send SIGINT, SIGTERM and SIGHUP to every process that this one starts, as soon as it is there.

    Yields the processes.
    """
    old = {child.pid for child in multiprocessing.active_children()}
    done: set[int] = set()
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            for child in multiprocessing.active_children():
                if child.pid is not None and child.pid not in old | done:
                    os.kill(child.pid, signal.SIGINT)
                    os.kill(child.pid, signal.SIGTERM)
                    os.kill(child.pid, signal.SIGHUP)
                    done.add(child.pid)
            time.sleep(0.001)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield done
    finally:
        over.set()
        watcher.join()


def seconds_until_ctrl_c_counts(work: Callable[[], object]) -> float:
    """Do work that takes long, press Ctrl-C after 0.3 seconds, and measure how long the work goes on."""
    pressed = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    begun = time.perf_counter()
    pressed.start()
    with pytest.raises(KeyboardInterrupt):
        work()
        time.sleep(1)  # Ctrl-C counts now, at the latest
    return time.perf_counter() - begun - 0.3
