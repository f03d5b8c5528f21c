"""Processes that compile, play and train: what ends them."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import wait

import pytest

from kepler_envs.processes import fresh_processes
from tests.waiting import is_running, wait_until


def test_an_exception_ends_what_is_under_way():
    """A second Ctrl-C is one."""
    with pytest.raises(KeyboardInterrupt), fresh_processes(1) as pool:
        worker = pool.submit(os.getpid).result()
        pool.submit(time.sleep, 600)
        raise KeyboardInterrupt
    wait_until(lambda: not is_running(worker), "ending")


def test_a_process_that_was_killed_is_said():
    with (
        pytest.raises(ChildProcessError, match="a process was killed; all were ended, and the same command continues"),
        fresh_processes(1) as pool,
    ):
        worker = pool.submit(os.getpid).result()
        waiting = pool.submit(time.sleep, 600)
        os.kill(worker, signal.SIGKILL)
        waiting.result()


def test_otherwise_what_is_under_way_is_finished():
    with fresh_processes(1) as pool:
        last = pool.submit(pow, 2, 10)
    wait([last])
    assert last.result() == 1024
