"""Version 0 beside this one, each in a process with its own code."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from benchmarks.sampling import Settings

ROOT = Path(__file__).parents[1]
V0_COMMIT = "5e2a210"
"""The last commit with all games at v0."""
ABSENT = f"commit {V0_COMMIT} is not in this checkout"
"""What a row says where there is nothing to compare with."""

ANSWER = """
import sys, time
for line in sys.stdin:
    start = time.thread_time()
    for _ in range(int(line)):
        one_round()
    print(time.thread_time() - start, flush=True)
"""
"""What a process does once it has defined ``one_round``: it reads numbers of rounds, and prints their CPU seconds."""


def has_v0(root: Path = ROOT) -> bool:
    """Whether a clone has the commit of v0, as a shallow one has not."""
    command = ["git", "cat-file", "-e", f"{V0_COMMIT}^{{commit}}"]
    return subprocess.run(command, cwd=root, capture_output=True).returncode == 0


@contextmanager
def old_checkout() -> Iterator[Path | None]:
    """A checkout of v0 in a temporary folder. None if this clone lacks its commit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "v0"
        add = ["git", "worktree", "add", "--detach", str(path), V0_COMMIT]
        if subprocess.run(add, cwd=ROOT, capture_output=True).returncode != 0:
            yield None
            return
        try:
            yield path
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(path)], cwd=ROOT, capture_output=True)


class Side:
    """A process with the code of one version.

    Args:
        script: defines ``one_round()``.
        arguments: what the script finds in ``sys.argv[1:]``.
        root: the checkout whose code it runs.
    """

    def __init__(self, script: str, arguments: Sequence[object], root: Path) -> None:
        self._root = root
        command = [sys.executable, "-c", script + ANSWER, *map(str, arguments)]
        self._process = subprocess.Popen(
            command, cwd=root, env=_environment(root), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, rounds: int) -> float:
        """CPU seconds of its main thread for so many rounds. ChildProcessError if the process has ended."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            print(rounds, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise ChildProcessError(f"the process with the code of {self._root} ended; above is what it said")
        return float(answer)

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._process.communicate()


def _environment(root: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"}


def in_turn(
    sides: Sequence[Side], settings: Settings, repetitions: int, warm_up: int = 1
) -> tuple[int, list[tuple[float, ...]]]:
    """Measure processes in turn, and end them.

    Args:
        sides: the first one says how many rounds fill a sample.
        repetitions: samples of each.
        warm_up: rounds that each plays before.

    Returns:
        The rounds of a sample, and for each repetition the CPU seconds of all sides.
    """
    with ExitStack() as stack:
        for side in sides:
            stack.enter_context(side)
        for side in sides:
            side.seconds(warm_up)
        rounds = max(1, round(warm_up * settings.seconds / max(sides[0].seconds(warm_up), 1e-6)))
        return rounds, [tuple(side.seconds(rounds) for side in sides) for _ in range(repetitions)]
