"""Train a network to play a game, with MaskablePPO.

The folder of a run holds
* last.zip: everything needed to continue, written at every evaluation and at the end, also after Ctrl-C;
* best.zip: the network alone, as it was when it won most against the last opponent of the evaluation;
* learning_curve.csv: a line per evaluation; tensorboard/: the same, with the losses;
* ratings.csv (with --seat pool): everybody who ever played in training, best first.

The same command with the same --out continues the run. With a budget in steps and one thread, an interrupted run
ends with the same network as an uninterrupted one. On a GPU it may differ: sums there need not keep their order.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from rich.console import Console

from agents.ending import INTERRUPTED, plain_ending
from agents.settings import TrainConfig
from kepler_envs.cli.common import parse
from kepler_envs.terminal import make_console, say, stop_on_signals

if TYPE_CHECKING:
    from agents.run import Run


def main() -> int:
    """The command line; the exit code."""
    with plain_ending():
        config = parse(TrainConfig, "agents.train", __doc__)
        console = make_console()
        # here, as Ctrl-C should end it quietly while PyTorch is imported, too
        from agents.progress import STOPPING, Display, full_disks_told_once
        from agents.run import train

        with full_disks_told_once(), stop_on_signals(console, STOPPING) as stop:
            display = Display(console)
            with display.progress:
                run = train(config, stop, display, say=partial(say, console))
        return _say_how_it_ended(run, console)


def _say_how_it_ended(run: Run, console: Console) -> int:
    """Print how far it is; the exit code."""
    share_of_games = run.env.env_seconds / run.seconds if run.seconds else 0.0
    console.print(
        f"{run.out}: {run.steps:,} steps in {run.seconds / 60:.1f} minutes, {share_of_games:.1%} of it in the games",
        markup=False,
        soft_wrap=True,
    )
    if run.fraction < 1:
        console.print("run the same command again to continue")
        return INTERRUPTED
    if not run.status().steps_per_second:
        console.print("its budget was used up before: a larger --steps or --minutes goes on")
    return 0


if __name__ == "__main__":
    sys.exit(main())
