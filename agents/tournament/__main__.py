"""``python -m agents.tournament GAME --agents SPEC SPEC ... --out FOLDER``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import tyro

from agents.protocol import AgentError
from agents.tournament.ledger import LedgerError
from agents.tournament.run import Tournament
from agents.tournament.workers import WorkerError
from kepler_envs.cli.common import UsageError, make_console
from kepler_envs.engine.game import ComponentError, OptionError
from kepler_envs.engine.replay import ReplayError

EXPECTED = (AgentError, LedgerError, WorkerError, UsageError, OptionError, ComponentError, ReplayError, OSError)
"""What may go wrong without a bug: each becomes one line and exit code 2."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run with these arguments (``sys.argv`` if None); the exit code: 0 done, 2 not possible, 130 interrupted."""
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
    except EXPECTED as problem:
        print(f"tournament: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
