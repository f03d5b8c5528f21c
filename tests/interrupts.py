"""Ctrl-C at the worst moment: as soon as a process exists, which is long before it runs code of ours."""

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
    """Send SIGINT to every process that this one starts, once, as soon as it is there. Yields whom it was sent to."""
    old = {child.pid for child in multiprocessing.active_children()}
    done: set[int] = set()
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            for child in multiprocessing.active_children():
                if child.pid is not None and child.pid not in old | done:
                    os.kill(child.pid, signal.SIGINT)
                    done.add(child.pid)
            time.sleep(0.001)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield done
    finally:
        over.set()
        watcher.join()
