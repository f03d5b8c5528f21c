"""The subcommands together, and what becomes of errors."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

from tyro.conf import FlagCreatePairsOff, OmitSubcommandPrefixes, subcommand

from kepler_envs.cli.bench import Bench
from kepler_envs.cli.campaign import PlayCampaign
from kepler_envs.cli.codes import INTERRUPTED, KILLED_BY_PIPE
from kepler_envs.cli.common import read_arguments
from kepler_envs.cli.compile import Compile
from kepler_envs.cli.endings import EXPECTED, exit_code, in_words
from kepler_envs.cli.play import Play
from kepler_envs.cli.replay import ShowReplay
from kepler_envs.cli.serve import Serve
from kepler_envs.cli.show import ListGames, Show
from kepler_envs.cli.strength import MeasureStrength
from kepler_envs.cli.tournament import PlayTournament
from kepler_envs.cli.watch import Watch
from kepler_envs.files import drop_output
from kepler_envs.printable import printable
from kepler_envs.terminal import make_console

Command = (
    Annotated[ListGames, subcommand("list")]
    | Annotated[Show, subcommand("show")]
    | Annotated[Play, subcommand("play")]
    | Annotated[Watch, subcommand("watch")]
    | Annotated[Serve, subcommand("serve")]
    | Annotated[PlayTournament, subcommand("tournament")]
    | Annotated[MeasureStrength, subcommand("strength")]
    | Annotated[PlayCampaign, subcommand("campaign")]
    | Annotated[ShowReplay, subcommand("replay")]
    | Annotated[Bench, subcommand("bench")]
    | Annotated[Compile, subcommand("compile")]
)


def run(argv: Sequence[str] | None) -> int:
    """Parse and run; the exit code."""
    try:
        command = read_arguments(
            Command,
            prog="kepler-envs",
            description="Modern space board games as multi-agent reinforcement-learning environments. "
            "--version prints the version.",
            args=argv,
            config=(OmitSubcommandPrefixes, FlagCreatePairsOff),
        )
        return command.run(make_console())
    except SystemExit as stop:  # tyro has printed its help, or what is wrong with the arguments
        return stop.code if isinstance(stop.code, int) else 2
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        drop_output()
        return KILLED_BY_PIPE
    except EXPECTED as problem:
        print(printable(f"kepler-envs: {in_words(problem)}"), file=sys.stderr)
        return exit_code(problem)
