"""Work on many positions, shared out between threads: compiled code runs without Python's lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import TypeVar

Result = TypeVar("Result")


def in_parts(work: Callable[[int, slice], Result], count: int, threads: int) -> list[Result]:
    """The results of ``work(number, part)`` for so many equal parts of ``count`` positions, each in a thread."""
    parts = [slice(count * number // threads, count * (number + 1) // threads) for number in range(threads)]
    if threads == 1:
        return [work(0, parts[0])]
    helpers = _helpers(os.getpid(), threads - 1)
    others = [helpers.submit(work, number, parts[number]) for number in range(1, threads)]
    try:
        first = work(0, parts[0])
    finally:
        wait(others)  # also after an error: they use arrays that the next call will use, too
    return [first, *(one.result() for one in others)]


@cache
def _helpers(process: int, count: int) -> ThreadPoolExecutor:
    """The threads beside the caller's. They do not survive a fork, so every process has its own."""
    return ThreadPoolExecutor(count, "positions")
