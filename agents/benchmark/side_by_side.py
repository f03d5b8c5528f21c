"""Jobs in several processes, side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, TypeVar

from kepler_envs.processes import FRESH, begin_worker, fresh_processes
from kepler_envs.terminal import signals_held_back

Job = TypeVar("Job")
Done = TypeVar("Done")
Do = Callable[[Job, threading.Event, Callable[[Any], None]], Done | None]
"""Does a job, given the event that stops it and a function that tells how far it is. None if it was stopped."""

SECONDS_BETWEEN_LOOKS = 0.2
"""Of the process that waits for others."""

_stopping: Any = None
"""In a process that works: the event that stops all of them."""
_told: Any = None
"""In a process that works: the queue for what jobs tell."""
_working = threading.Lock()
"""In a process that works: held while it does."""


def side_by_side(
    do: Do[Job, Done],
    jobs: Sequence[Job],
    processes: int,
    stop: threading.Event,
    watch: Callable[[Any], None] = lambda told: None,
) -> Iterator[Done]:
    """Do jobs in so many processes, and yield what comes out as it comes. Jobs that were stopped are left out.

    What one of them raises stops the others, which keep what they have.

    Args:
        do: a function that can be pickled, as its jobs and results.
        watch: called here with what jobs tell.

    Raises:
        ChildProcessError: a process was killed.
    """
    stopping, told = FRESH.Event(), FRESH.SimpleQueue()
    problems: list[BaseException] = []
    with fresh_processes(processes, _begin_process, (stopping, told)) as pool:
        with signals_held_back():  # the pool starts its processes now
            under_way: set[Future[Done | None]] = {pool.submit(_do_in_process, do, job) for job in jobs}
        while under_way:
            done, under_way = wait(under_way, SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)
            while not told.empty():
                watch(told.get())
            for future in done:
                if problem := future.exception():
                    problems.append(problem)
                elif (result := future.result()) is not None:
                    yield result
            if stop.is_set() or problems:
                stopping.set()
        if problems:
            raise problems[0]


def _begin_process(stopping: Any, told: Any) -> None:
    global _stopping, _told
    _stopping, _told = stopping, told
    begin_worker(_keep_what_there_is)


def _keep_what_there_is() -> None:
    """Nobody takes the results any more: stop the job, and wait until it has."""
    _stopping.set()
    _working.acquire()


def _do_in_process(do: Do[Job, Done], job: Job) -> Done | None:
    def tell(something: Any) -> None:
        if not _stopping.is_set():  # else there may be nobody who takes it
            _told.put(something)

    with _working:
        return None if _stopping.is_set() else do(job, _stopping, tell)
