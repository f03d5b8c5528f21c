"""Train an agent: ``python -m agents.train kitten_adventurers --steps 2_000_000 --out runs/kittens``.

The folder of a run holds

* ``last.zip``: everything it takes to go on, written with every evaluation and at the end, Ctrl-C included;
* ``best.zip``: the network alone, as it was when it won most against the last of the evaluation's opponents;
* ``learning_curve.csv``: a line for each evaluation; ``tensorboard/``: the same and the losses;
* ``ratings.csv``, with ``--seat pool``: everybody who ever played in training, best first.

The same command with the same ``--out`` goes on where the run was: with the budget in steps and one thread, a run that
was interrupted ends with the same network as one that was not.
"""

from __future__ import annotations

import sys

import tyro
from rich.console import Console

import kepler_envs
from agents.progress import STOPPING, Display, explain, full_disks_told_once, say_if_resuming
from agents.run import train
from agents.settings import TrainConfig
from kepler_envs.bots.protocol import BotError
from kepler_envs.terminal import stop_on_signals


def main() -> None:
    """The command line."""
    config = tyro.cli(TrainConfig, prog="python -m agents.train", description=__doc__)
    console = Console()
    try:
        say_if_resuming(config, console)
        with full_disks_told_once(), stop_on_signals(console, STOPPING) as stop:
            display = Display(console)
            with display.progress:
                run = train(config, stop, display)
    except (BotError, kepler_envs.OptionError, KeyError, OSError) as error:
        sys.exit(explain(error))
    share_of_games = run.env.env_seconds / run.seconds if run.seconds else 0.0
    console.print(
        f"{run.out}: {run.steps:,} steps in {run.seconds / 60:.1f} minutes, {share_of_games:.1%} of it in the games"
    )
    if run.fraction < 1:
        console.print("the same command goes on from here")


if __name__ == "__main__":
    main()
