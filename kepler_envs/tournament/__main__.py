"""``python -m agents.tournament GAME --agents SPEC SPEC ... --out FOLDER``."""

from __future__ import annotations

import errno
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

EXPECTED = (
    AgentError, CheckError, LedgerError, WorkerError, UsageError, OptionError, ComponentError, ReplayError, OSError,
)  # fmt: skip
"""What may go wrong without a bug: each becomes one line."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def exit_code(problem: Exception) -> int:
    """1 for what ends a tournament on its way (what the ledger had before is there), 2 for what cannot be done as asked."""
    return 1 if isinstance(problem, CheckError) or getattr(problem, "errno", None) in NO_ROOM else 2


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
    except EXPECTED as problem:
        print(printable(f"tournament: {problem}"), file=sys.stderr)
        return exit_code(problem)


if __name__ == "__main__":
    sys.exit(main())
