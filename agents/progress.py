"""What training shows on a terminal."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from agents.status import Status

STOPPING = "stopping after this update; press again to stop at once"


def training_progress(console: Console) -> Progress:
    """Progress bars of training runs."""
    return Progress(
        TextColumn("{task.description}{task.fields[steps]}"), BarColumn(), TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(), TextColumn("{task.fields[results]}", markup=False), console=console, transient=True,
    )  # fmt: skip


class Display:
    """A progress bar, and a line per evaluation; with ``ratings`` also a line for the ratings of the pool.

    Args:
        name: begins every line, if there are several runs. progress: shows the bar, beside others.
    """

    def __init__(
        self, console: Console, ratings: bool = True, name: str = "", progress: Progress | None = None
    ) -> None:
        self.console = console
        self.ratings = ratings
        self.name = f"{name}  " if name else ""
        self.progress = progress or training_progress(console)
        self.task = self.progress.add_task(self.name, total=1.0, steps="", rate="", results="")

    def __call__(self, status: Status) -> None:
        rate = f"{status.steps_per_second:,.0f}/s"
        if status.evaluated:
            minutes, seconds = divmod(int(status.seconds), 60)
            self.console.print(
                f"{self.name}{status.steps:>11,} steps {minutes:>3}:{seconds:02} {rate:>10}   "
                f"length {status.mean_length:5.0f}   {_when(status)}"
                + "   ".join(one.in_words for one in status.evaluations),
                highlight=False,
                markup=False,
                soft_wrap=True,
            )
            if status.ratings and self.ratings:
                self.console.print(f"{'':>19} {status.ratings}", highlight=False, markup=False, soft_wrap=True)
        self.progress.update(
            self.task,
            completed=status.fraction,
            steps=f"{status.steps:,} steps",
            rate=rate,
            results=f"length {status.mean_length:.0f}, wins: "
            + ", ".join(f"{one.wins.mean:.0%} {one.against}" for one in status.evaluations),
        )


class SeedDisplays:
    """A display for each seed, from when it begins."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = training_progress(console)
        self._by_seed: dict[int, Display] = {}

    def __enter__(self) -> SeedDisplays:
        self._progress.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._progress.stop()

    def show(self, seed: int, status: Status) -> None:
        """Show the progress of that seed's run."""
        if seed not in self._by_seed:
            self._by_seed[seed] = Display(self._console, ratings=False, name=f"seed {seed}", progress=self._progress)
        self._by_seed[seed](status)


def _when(status: Status) -> str:
    """When the evaluations were made, if that was before."""
    return "" if status.evaluated_at in (None, status.steps) else f"after {status.evaluated_at:,} steps: "


@contextmanager
def full_disks_told_once() -> Iterator[None]:
    """Print a full disk's error once. TensorBoard writes in a thread of its own, whose traceback would be printed
    besides the error raised here."""
    before = threading.excepthook

    def tell(raised: threading.ExceptHookArgs) -> None:
        if not issubclass(raised.exc_type, OSError):
            before(raised)

    threading.excepthook = tell
    try:
        yield
    finally:
        threading.excepthook = before
