"""How commands end: which errors become one line, and the exit codes."""

from __future__ import annotations

from kepler_envs.bots.from_file import BotFailed
from kepler_envs.bots.protocol import BotError
from kepler_envs.cli.common import AgentFailed, UsageError
from kepler_envs.engine.game import ComponentError, OptionError
from kepler_envs.engine.replay import ReplayError
from kepler_envs.engine.snapshot import IllegalAction
from kepler_envs.files import NO_ROOM
from kepler_envs.records import RecordError
from kepler_envs.registry import BrokenGame, UnknownGame
from kepler_envs.tournament import CheckError, TournamentError, VersionError, WorkerError
from kepler_envs.web import WebError

EXPECTED = (
    UsageError,
    AgentFailed,
    UnknownGame,
    BrokenGame,
    BotError,
    OptionError,
    ComponentError,
    ReplayError,
    IllegalAction,
    TournamentError,
    RecordError,
    WebError,
    OSError,
    MemoryError,
)
"""What may go wrong without a bug of ours: each becomes one line."""

ON_THE_WAY = AgentFailed, BotFailed, IllegalAction, CheckError, VersionError, WorkerError
"""Those of them that come while games are played."""


def exit_code(problem: Exception) -> int:
    """1 for what breaks work off on its way (what was written before is there), 2 for what cannot be done as asked."""
    return 1 if isinstance(problem, ON_THE_WAY) or getattr(problem, "errno", None) in NO_ROOM else 2


def in_words(problem: Exception) -> str:
    """What an expected error says. A lack of memory may have no words of its own."""
    if not isinstance(problem, MemoryError):
        return str(problem)
    return f"not enough memory{f': {problem}' if str(problem) else ''}; ask for less, such as fewer games"
