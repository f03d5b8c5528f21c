"""``python -m agents.tournament GAME --agents SPEC SPEC ... --out FOLDER``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import tyro

from agents.protocol import AgentError
from agents.tournament.check import CheckError
from agents.tournament.ledger import LedgerError
from agents.tournament.run import Tournament
from agents.tournament.workers import WorkerError
from kepler_envs.cli.common import UsageError, make_console
from kepler_envs.engine.game import ComponentError, OptionError
from kepler_envs.engine.replay import ReplayError
from kepler_envs.printable import printable

NOT_POSSIBLE = (AgentError, LedgerError, WorkerError, UsageError, OptionError, ComponentError, ReplayError)
"""What was asked for cannot be done: one line and exit code 2."""
BROKEN_OFF = (CheckError, OSError)
"""What ends a tournament on its way: one line and exit code 1. What was in the ledger before is there."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run with these arguments (``sys.argv`` if None); the exit code: 0 done, 1 broken off, 2 not possible, 130 interrupted."""
    try:
        tournament = tyro.cli(
            Tournament,
            prog="python -m agents.tournament",
            args=argv,
            config=(tyro.conf.FlagCreatePairsOff,),
        )
        return tournament.run(make_console())
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130
    except (*NOT_POSSIBLE, *BROKEN_OFF) as problem:
        print(printable(f"tournament: {problem}"), file=sys.stderr)
        return 1 if isinstance(problem, BROKEN_OFF) else 2


if __name__ == "__main__":
    sys.exit(main())
