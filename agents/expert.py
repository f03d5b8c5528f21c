"""Expert iteration: let a network learn what a search finds.

Each generation plays games in which some decisions are searched. The network learns what the search visited and what
the games paid, from the games of the last generations. Then it plays against uniform, greedy and the best network so
far. If it is not worse than that one, it becomes the best one, plays in the next games, and may guide the search there
(T. Anthony, Z. Tian, D. Barber, arXiv:1705.08439, 2017; D. Silver et al., Science 362, 2018).

The folder of a run holds
* games/GENERATION/*.npz: positions of the games, written a file at a time;
* best.zip: the best network, which plays as net:FOLDER;
* last.zip: everything needed to continue, which plays as net:FOLDER/last.zip;
* learning_curve.csv: a line per generation.

The same command with the same --out continues the run. It learns on one thread, so an interrupted run ends with the
same network as an uninterrupted one, unless its budget is in minutes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from agents.ending import INTERRUPTED, plain_ending
from agents.expert_settings import ExpertConfig
from kepler_envs.cli.common import parse
from kepler_envs.printable import counted
from kepler_envs.terminal import make_console, stop_on_signals
from kepler_envs.tournament.cluster import cluster_at

if TYPE_CHECKING:
    from agents.evaluation import Evaluation
    from agents.expert_run import Status

STOPPING = "stopping after these games; press again to stop at once"


class Display:
    """A progress bar, and a line per generation."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.progress = Progress(
            TextColumn("{task.fields[doing]}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[results]}"),
            console=console, transient=True,
        )  # fmt: skip
        self.task = self.progress.add_task("", total=1.0, doing="", results="")

    def __call__(self, status: Status) -> None:
        if status.line is not None:
            self.console.print(_words(status.line, status.evaluations), highlight=False, markup=False, soft_wrap=True)
        results = ", ".join(f"{one.wins.mean:.0%} {one.against}" for one in status.evaluations)
        doing = f"generation {status.generation}, {status.doing}"
        self.progress.update(self.task, completed=status.done, doing=doing, results=results)


def _words(line: dict[str, Any], evaluations: Sequence[Evaluation]) -> str:
    """A line of the learning curve for people."""
    minutes, seconds = divmod(int(line["seconds"]), 60)
    wins = "   ".join(one.in_words for one in evaluations)
    known = "" if isnan(line["accuracy"]) else f"predicts {line['accuracy']:.1%}   "
    kept = "" if line["accepted"] else ", not kept"
    share = line["against_best"]
    judged = "" if isnan(share) else f"   {share:.2f} of an equal share against the best{kept}"
    return f"generation {line['generation']:>3} {minutes:>3}:{seconds:02}   {known}{wins}{judged}"


def main() -> int:
    """The command line; the exit code."""
    with plain_ending():
        config = parse(ExpertConfig, "agents.expert", __doc__)
        console = make_console()
        from agents.expert_run import iterate  # here, as Ctrl-C should end it quietly while PyTorch is imported, too

        with stop_on_signals(console, STOPPING) as stop:
            display = Display(console)
            with cluster_at(config.ray, console, config.processes) as cluster, display.progress:
                run = iterate(config, stop, display, cluster)
        generations = counted(run.generations, "generation")
        console.print(f"{run.out}: {generations} in {run.seconds / 60:.1f} minutes", markup=False, soft_wrap=True)
        if not run.is_over:
            console.print("run the same command again to continue")
            return INTERRUPTED
        return 0


if __name__ == "__main__":
    sys.exit(main())
