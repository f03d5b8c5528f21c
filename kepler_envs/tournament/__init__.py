"""Tournaments: a balanced schedule, a ledger that survives interruptions, ratings with intervals, a report.

    kepler-envs tournament kitten_adventurers --agents uniform greedy net:runs/train --games 10000 --out runs/tournament

The same command continues where an earlier one stopped. The folder then has ``games.sqlite`` (every game),
``report.html``, ``leaderboard.json``, ``results.md``, ``ratings.png``, ``learning_curve.png`` where there is one, and
``replays/``. See docs/tournaments.md.
"""

from __future__ import annotations

from typing import Any

from kepler_envs.engine.checks import check_type, is_integer
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.seeds import check_seed


class TournamentError(ValueError):
    """A tournament or a measurement cannot be played as asked. The message says what is allowed."""


def check_config(config: Any) -> None:
    """Raise TypeError unless it is a configuration."""
    check_type("config", config, Configuration, 'load_game("GAME").configure() makes one')


def check_specs(name: str, specs: Any) -> None:
    """Raise TypeError unless these are specs of bots: of a text, every letter would be one."""
    if not isinstance(specs, (list, tuple)) or not all(isinstance(spec, str) for spec in specs):
        raise TypeError(f"{name} must be a list or tuple of specs, not {specs!r}")


def check_counts(request: Any, *names: str, least: int = 1, most: int | None = None) -> None:
    """Raise TournamentError unless these attributes of a request are integers in ``least..most``.

    None as a bound means that there is no bound. None as a value will do where it is the default.
    """
    for name in names:
        value = getattr(request, name)
        may_be_none = getattr(type(request), name) is None
        fits = is_integer(value) and value >= least and (most is None or value <= most)
        if not (value is None and may_be_none) and not fits:
            option = f"--{name.replace('_', '-')}"
            allowed = f"an integer from {least} on" if most is None else f"an integer {least}..{most}"
            raise TournamentError(f"{option} {value} is not allowed; allowed: {allowed}")


def check_tournament_seed(seed: int) -> None:
    """Raise TournamentError unless games can be drawn from this seed."""
    try:
        check_seed(seed)
    except ValueError:
        raise TournamentError(f"--seed {seed} is not allowed; allowed: an integer 0..2**64 - 1") from None


class LedgerError(TournamentError):
    """A ledger cannot be read, or belongs to another tournament. The message says which."""


class VersionError(TournamentError):
    """A bot changed while the tournament was played. The message says which."""


class WorkerError(TournamentError):
    """A process ended or raised while no bot was asked, so it was not a bot's fault."""


class CheckError(TournamentError):
    """A game does not follow from its seed and its decisions."""


class ClusterError(TournamentError):
    """A cluster cannot be used. It cannot be reached, or its nodes would not play the same games."""
