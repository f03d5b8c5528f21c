"""Work shared out between threads."""

from __future__ import annotations

import multiprocessing
import threading

import pytest

from kepler_envs.networks.threads import in_parts


def test_parts_are_everything_in_order():
    for threads in (1, 2, 3):
        parts = in_parts(lambda number, part: (number, list(range(10))[part]), 10, threads)
        assert [number for number, _ in parts] == list(range(threads))
        assert sum((its for _, its in parts), []) == list(range(10))


def test_each_part_has_a_thread():
    barrier = threading.Barrier(3, timeout=60)

    def work(number: int, part: slice) -> int:
        barrier.wait()
        return threading.get_ident()

    assert len(set(in_parts(work, 3, 3))) == 3


def test_an_error_comes_after_all_parts_have_ended():
    ended = []

    def work(number: int, part: slice) -> None:
        if number == 0:
            raise ValueError("the first")
        ended.append(number)

    with pytest.raises(ValueError, match="the first"):
        in_parts(work, 9, 3)
    assert sorted(ended) == [1, 2]
    with pytest.raises(ZeroDivisionError):
        in_parts(lambda number, part: 1 // (1 - number), 2, 2)


def _in_a_child(answers) -> None:
    answers.put(in_parts(lambda number, part: part.stop, 10, 2))


def test_it_works_after_a_fork():
    """Threads do not survive one."""
    assert in_parts(lambda number, part: part.stop, 10, 2) == [5, 10]
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_in_a_child, args=(answers,))
    child.start()
    assert answers.get(timeout=60) == [5, 10]
    child.join(60)
    assert child.exitcode == 0
