"""How strong bots are: each alone against one on all other seats, seats rotated.

The share of wins goes into a line of a record, from which the tables of the pages are made. A line that is there with
as many games, by the same versions of the bots, is not played again. When the measurement is stopped, or its minutes
are over, the games so far are written, unless the record has as many already.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from rich.console import Console

from kepler_envs import bots, records
from kepler_envs.engine.checks import is_number
from kepler_envs.engine.game import Configuration
from kepler_envs.files import check_writable
from kepler_envs.printable import counted
from kepler_envs.revision import commit
from kepler_envs.terminal import say
from kepler_envs.tournament import TournamentError, check_config, check_counts, check_specs, check_tournament_seed
from kepler_envs.tournament.cluster import Cluster
from kepler_envs.tournament.pairing import Part, parts_of, play_parts
from kepler_envs.tournament.standings import share

SHORT = 7
"""Digits of a commit in the record."""
SIDE_BY_SIDE, SIDE_BY_SIDE_SLOW = 1000, 20
"""Games at a time unless asked otherwise. A thousand games of a search can take days, and until they are over nothing
is kept."""
SLOW = frozenset({"mcts", "python"})
"""Kinds of bots that may take long for a game."""


@dataclass(frozen=True)
class Strength:
    """Each of some bots alone against one on all other seats.

    Attributes:
        config: the game that is played.
        agents: the specs of the bots to measure.
        against: the bots on all other seats, one after the other.
        games: the number of games per pairing, rounded up to use every seat equally often.
        side_by_side: the number of games played at a time. They are kept if the rest is given up. None means 1000, or
            20 if a bot searches or comes from a file.
        minutes: no more games begin after this time for a pairing. Those played count.
        seed: the seed of the games.
        out: the record that lines are added to.

    Raises:
        TournamentError: a number is not allowed, nobody is named, or the game is for one player. The message names the
            option of the command.
        TypeError: a value is of another type.
    """

    config: Configuration
    agents: tuple[str, ...]
    against: tuple[str, ...] = ("greedy",)
    games: int = 1000
    side_by_side: int | None = None
    minutes: float | None = None
    seed: int = 77
    out: Path = Path("strength.csv")

    def __post_init__(self) -> None:
        check_config(self.config)
        for name in ("agents", "against"):
            check_specs(name, getattr(self, name))
            if not getattr(self, name):
                raise TournamentError(f"--{name}: at least one is needed")
        check_counts(self, "games", "side_by_side")
        if self.minutes is not None and not (is_number(self.minutes) and self.minutes > 0):
            raise TournamentError(f"--minutes {self.minutes} is not allowed; allowed: above 0")
        check_tournament_seed(self.seed)
        if self.config.num_players < 2:
            raise TournamentError("--players 1 leaves nobody to play against; allowed: at least 2")
        object.__setattr__(self, "out", Path(self.out))
        object.__setattr__(self, "seed", int(self.seed))  # NumPy's integers do not wrap around

    def games_at_a_time(self, *specs: str) -> int:
        """The number of games that these bots play at a time."""
        if self.side_by_side is not None:
            return self.side_by_side
        return SIDE_BY_SIDE_SLOW if SLOW & {spec.partition(":")[0] for spec in specs} else SIDE_BY_SIDE


@dataclass(frozen=True)
class Line(records.Line):
    """A line of the record: ``wins`` of one ``agent`` against ``against`` on all other seats, with a 95 % interval
    (Wilson's).

    The versions are fingerprints (:func:`kepler_envs.bots.fingerprint`) of files, or of rules of thumb. ``options`` are
    those that are not the game's defaults, as ``max_turns=6 quest_size=3``. ``components`` is the digest of the
    component tables if they are not the game's own.
    """

    KEY: ClassVar = ("game", "players", "agent", "against", "options", "components")
    game: str
    players: int
    agent: str
    against: str
    games: int
    wins: float
    low: float
    high: float
    seed: int
    commit: str
    agent_version: str = ""
    against_version: str = ""
    options: str = ""
    components: str = ""

    @property
    def is_current(self) -> bool:
        """Whether this release measured it with the bots that have these names today."""
        versions = tuple(bots.fingerprint(spec, self.game) for spec in (self.agent, self.against))
        return self.is_of_this_release and versions == (self.agent_version, self.against_version)


def read_lines(path: str | Path) -> list[Line]:
    """Read the lines of a record. Without a file there are none. Records older than the versions have empty ones.

    Raises:
        RecordError: the file is no such record (this is a ValueError).
        OSError: it cannot be read.
    """
    return records.read_lines(Path(path), Line)


def known_games(path: Path, pairing: tuple[Any, ...]) -> int:
    """The number of games of a pairing's line, 0 if there is none or it is not current."""
    return max((line.games for line in read_lines(path) if line.key == pairing and line.is_current), default=0)


def measure(
    request: Strength,
    agent: str,
    against: str,
    stop: threading.Event,
    console: Console,
    cluster: Cluster | None = None,
) -> Iterator[Line]:
    """Play a pairing in parts. Once it is stopped or its time is over, no further part begins.

    Yields the line of all games so far after each part. One part is played in any case, unless it is stopped while a
    cluster has no node.

    Args:
        request: the games, how many, at a time and for how long. Its bots and its record are not looked at.
        agent: the spec of the bot to measure.
        against: that of the bot on all other seats.
        stop: set it to end the measurement.
        console: where to say how far it is.
        cluster: the cluster that plays. None plays in this process.

    Raises:
        BotError: there is no such bot, or it fails.
        IllegalAction: a bot chose what is not legal.
        TournamentError: the cluster fails.
    """
    config = request.config
    game, (options, cards) = config.game.name, _unlike_defaults(config)
    versions = bots.fingerprint(agent, game), bots.fingerprint(against, game)  # files may change while they play
    began, wins = time.monotonic(), np.zeros(0)

    def goes_on(_: Part) -> bool:
        late = request.minutes is not None and time.monotonic() - began > 60 * request.minutes
        return not len(wins) or not (late or stop.is_set())

    at_a_time = request.games_at_a_time(agent, against)
    parts = takewhile(goes_on, parts_of(request.games, at_a_time, config.num_players, request.seed))
    given_up = stop if cluster is not None else None  # a cluster without nodes would never get to its first part
    for results in play_parts(agent, against, config, parts, cluster, given_up):
        wins = np.concatenate([wins, results.wins])
        console.print(f"  {len(wins):,} games, {wins.mean():.1%}, {time.monotonic() - began:.0f} s", highlight=False)
        found = share(wins)
        numbers = (round(found.mean, 4), round(found.low, 4), round(found.high, 4))
        yield Line(
            game, config.num_players, agent, against, found.games, *numbers, request.seed, commit(SHORT), *versions,
            options, cards,
        )  # fmt: skip


def measure_all(request: Strength, stop: threading.Event, console: Console, cluster: Cluster | None = None) -> bool:
    """Measure all pairings that the record lacks, here or on a cluster; arguments as for :func:`measure`.

    Returns False if it was stopped before the last games.

    Raises before the first game: RecordError if the file is no such record, OSError if it cannot be written, BotError
    if there is no such bot. Raises later what :func:`measure` does; the games of the parts before are recorded.
    """
    config = request.config
    options, cards = _unlike_defaults(config)
    parts = [config.game.name, counted(config.num_players, "player"), *options.split()]
    label = ", ".join([*parts, *([f"components={config.components}"] if config.components is not None else [])])
    pairings = {}
    for against in request.against:
        for agent in request.agents:
            name = f"{label}: {agent} against {against}"
            key = (config.game.name, config.num_players, agent, against, options, cards)
            if known_games(request.out, key) >= request.games:
                say(console, f"{name}: known")
            else:
                pairings[agent, against] = name
    if pairings:
        check_writable(request.out)
    for spec in dict.fromkeys(spec for pairing in pairings for spec in pairing):
        bots.load(spec, config)
    line = None
    for (agent, against), name in pairings.items():
        if stop.is_set():
            return False
        say(console, name)
        line = None
        try:
            for so_far in measure(request, agent, against, stop, console, cluster):
                line = so_far
        finally:  # the games before a bot failed are games, too
            if line is not None:
                record_line(request.out, line, console)
    return not stop.is_set() or not pairings or (line is not None and line.games >= request.games)


def _unlike_defaults(config: Configuration) -> tuple[str, str]:
    """What a line says of options and cards: those that are not the game's defaults."""
    usual = config.game.configure(config.num_players)
    options = [f"{name}={value}" for name, value in config.values.items() if value != usual.values[name]]
    own = config.components_digest != usual.components_digest
    return " ".join(options), config.components_digest if own else ""


def record_line(path: Path, line: Line, console: Console) -> None:
    """Write a line and print it, unless the record has one of as many games: the measurement may have ended early."""
    known = records.write_unless(  # first, as whoever reads may be gone
        path, line, lambda known: known.games >= line.games and known.is_current
    )
    console.print(
        f"  wins {line.wins:.1%} ({line.low:.1%} .. {line.high:.1%}), an equal share is {1 / line.players:.1%}",
        highlight=False,
    )
    if known is not None:
        console.print(records.not_recorded(known.games, line.games), highlight=False)
