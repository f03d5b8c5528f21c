"""Processes that compile, play and train: what ends them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import wait

import pytest

from kepler_envs.processes import fresh_processes
from tests.effort import slow
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


@slow
def test_the_others_do_not_outlive_one_that_was_killed():
    with pytest.raises(ChildProcessError), fresh_processes(2) as pool:
        workers = {future.result() for future in [pool.submit(_pid_after, 1.0) for _ in range(2)]}
        waiting = [pool.submit(time.sleep, 600) for _ in range(2)]
        os.kill(min(workers), signal.SIGKILL)
        waiting[0].result()
    assert len(workers) == 2
    wait_until(lambda: not any(map(is_running, workers)), "ending")


def _pid_after(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


def test_the_first_termination_signal_is_the_parents_business():
    with pytest.raises(ChildProcessError), fresh_processes(1) as pool:
        worker = pool.submit(os.getpid).result()
        os.kill(worker, signal.SIGTERM)
        assert pool.submit(pow, 2, 10).result() == 1024
        waiting = pool.submit(time.sleep, 600)
        os.kill(worker, signal.SIGTERM)
        waiting.result()


def test_the_end_of_the_terminal_is_the_parents_business():
    with fresh_processes(1) as pool:
        worker = pool.submit(os.getpid).result()
        os.kill(worker, signal.SIGHUP)
        os.kill(worker, signal.SIGHUP)
        assert pool.submit(pow, 2, 10).result() == 1024


PARENT = """
import os, time
from kepler_envs.processes import fresh_processes

if __name__ == "__main__":
    with fresh_processes(1) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        pool.submit(time.sleep, 600).result()
"""


@slow
def test_nobody_outlives_a_parent_that_was_killed(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    worker = int(parent.stdout.readline())
    assert is_running(worker)
    parent.kill()
    parent.wait()
    wait_until(lambda: not is_running(worker), "ending with its parent")


def test_otherwise_what_is_under_way_is_finished():
    with fresh_processes(1) as pool:
        last = pool.submit(pow, 2, 10)
    wait([last])
    assert last.result() == 1024
