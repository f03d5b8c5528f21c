"""Ctrl-C and a termination signal at the worst moment: as soon as a process exists, long before it runs our code."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupted_children() -> Iterator[set[int]]:
    """Send SIGINT and SIGTERM to every process that this one starts, as soon as it is there. Yields the processes."""
    old = {child.pid for child in multiprocessing.active_children()}
    done: set[int] = set()
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            for child in multiprocessing.active_children():
                if child.pid is not None and child.pid not in old | done:
                    os.kill(child.pid, signal.SIGINT)
                    os.kill(child.pid, signal.SIGTERM)
                    done.add(child.pid)
            time.sleep(0.001)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield done
    finally:
        over.set()
        watcher.join()
