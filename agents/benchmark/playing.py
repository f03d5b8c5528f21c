"""Playing the agents of an entry, and the bots they are compared with, against the pool and the search, for the
record."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from agents.benchmark.entry import FILE, Entry, TrainedRun, agent_spec, agent_version, read_curve, read_entry
from agents.benchmark.protocol import GAMES, ONE, POOL, SEARCH, SEARCH_GAMES, ZERO, Task, version_of
from agents.benchmark.records import CurvePoint, Result
from agents.benchmark.side_by_side import side_by_side
from agents.evaluation import mean_return
from agents.seeds import BENCHMARK_SEED
from kepler_envs.bots.protocol import BotError
from kepler_envs.records import change_lines, not_recorded, read_lines, write_lines, write_unless
from kepler_envs.revision import commit
from kepler_envs.tournament.pairing import parts_of, play_parts

SIDE_BY_SIDE = 400
"""Games played at a time. A stop takes effect between them."""
FIXED = "fixed"
"""The kind of bots that nobody trained."""


@dataclass(frozen=True)
class Effort:
    """How many games to play against each bot of the pool, and against the search (0 for none)."""

    games: int = GAMES
    search_games: int = SEARCH_GAMES

    def opponents(self, spec: str) -> list[tuple[str, int]]:
        """Every opponent of a bot, with the number of games. The search is slow on any seat."""
        games = self.search_games if spec == SEARCH else self.games
        return [(bot, count) for bot, count in (*((bot, games) for bot in POOL), (SEARCH, self.search_games)) if count]


@dataclass(frozen=True)
class Player:
    """Somebody to measure: its columns in the record, and its spec."""

    task: Task
    method: str
    kind: str
    budget: int
    spec: str
    version: str
    known: tuple[str, ...] = ()
    hardware: str = ""
    run: TrainedRun = TrainedRun(0, 0, 0.0, "", "")

    @property
    def row(self) -> tuple[str, int, str, int]:
        """The columns that all runs of its method share."""
        return self.task.game, self.task.players, self.method, self.budget

    @property
    def key(self) -> tuple[str, int, str, int, int]:
        """The columns of its own run."""
        return *self.row, self.run.seed

    @property
    def told(self) -> dict[str, Any]:
        """The columns that nobody measures, with what the entry says about them."""
        return {
            "kind": self.kind,
            "decisions": self.run.decisions,
            "known": " ".join(self.known),
            "hours": self.run.hours,
            "hardware": self.hardware,
        }


def players_of(folder: Path, entry: Entry) -> list[Player]:
    """The players of an entry."""
    return [
        Player(
            entry.task,
            entry.method,
            entry.kind,
            entry.budget,
            agent_spec(folder, run),
            agent_version(folder, run),
            entry.known,
            entry.hardware,
            run,
        )
        for run in entry.runs
    ]


def fixed_players(task: Task) -> list[Player]:
    """The bots that define the score, the rest of the pool, and the search."""
    return [Player(task, bot, FIXED, 0, bot, version_of(bot, task.game)) for bot in (*POOL, SEARCH)]


@dataclass(frozen=True)
class Pairing:
    """A player alone against a bot on all other seats: the version of the bot, and the number of games."""

    player: Player
    opponent: str
    version: str
    games: int

    @property
    def key(self) -> tuple[str, int, str, int, int, str]:
        """The key of its line in the record."""
        return *self.player.key, self.opponent

    def __str__(self) -> str:
        player = self.player
        return f"{player.task.name}: {player.method}, seed {player.run.seed}, against {self.opponent}"


def measure(
    players: list[Player],
    effort: Effort,
    record: Path,
    stop: threading.Event,
    say: Callable[[str], None] = lambda line: None,
    processes: int = 1,
) -> bool:
    """Play what the record lacks and write it, pairing by pairing. False if it was stopped before the last one.

    Lines of these players that the record has follow what an entry says by now.

    Args:
        processes: how many pairings are played side by side. Their games are the same as one after the other.

    Raises:
        BotError: a bot cannot play.
        ChildProcessError: a process was killed.
    """
    _correct(players, record, say)
    missing = _missing(players, effort, record)
    together = min(processes, len(missing))
    played = _play_side_by_side(missing, together, stop, say) if together > 1 else _play_in_turn(missing, stop, say)
    left = len(missing)
    for line in played:
        known = write_unless(record, line, partial(_has_more_games, line))
        say(
            f"  return {line.returns:+z.3f} ({line.low:+z.3f} .. {line.high:+z.3f}), wins {line.wins:.1%}, "
            f"{line.games:,} games"
        )
        if known is not None:
            say(not_recorded(known.games, line.games))
        left -= 1
    return left == 0


def _correct(players: list[Player], record: Path, say: Callable[[str], None]) -> None:
    """Put what the entry says into the lines about its agents, where it said something else before."""
    by_key = {player.key: player for player in players}
    words: dict[tuple[Any, ...], str] = {}  # once for all lines of an agent

    def corrected(line: Result) -> Result:
        player = by_key.get(line.key[:5])
        if player is None or player.version != line.agent:
            return line
        if names := [name for name, value in player.told.items() if getattr(line, name) != value]:
            words[player.key] = (
                f"{player.task.name}: {player.method}, seed {player.run.seed}: the record had other values of "
                f"{', '.join(names)}; they are those of the entry now"
            )
        return replace(line, **player.told)

    change_lines(record, Result, corrected)
    for told in words.values():
        say(told)


def _missing(players: list[Player], effort: Effort, record: Path) -> list[Pairing]:
    """The pairings that the record lacks. A bot is not played against itself: that is 0, as among all equals."""
    known = {line.key: line for line in read_lines(record, Result)}
    pairings = (
        Pairing(player, opponent, version_of(opponent, player.task.game), games)
        for player in players
        for opponent, games in effort.opponents(player.spec)
        if not (player.kind == FIXED and player.spec == opponent)
    )
    return [pairing for pairing in pairings if not _is_answered(pairing, known.get(pairing.key))]


def _play_in_turn(pairings: list[Pairing], stop: threading.Event, say: Callable[[str], None]) -> Iterator[Result]:
    """Play pairings one after the other, up to the first that was stopped."""
    for pairing in pairings:
        say(str(pairing))
        line = _play(pairing, stop)
        if line is None:
            return
        yield line


def _play_side_by_side(
    pairings: list[Pairing], processes: int, stop: threading.Event, say: Callable[[str], None]
) -> Iterator[Result]:
    """Play pairings in so many processes. Each is named once it has been played."""
    for pairing, line in side_by_side(_play_in_process, pairings, processes, stop):
        say(str(pairing))
        yield line


def _play_in_process(
    pairing: Pairing, stop: threading.Event, tell: Callable[[str], None]
) -> tuple[Pairing, Result] | None:
    line = _play(pairing, stop)
    return None if line is None else (pairing, line)


def check_not_taken(players: list[Player], record: Path) -> None:
    """Raise BotError if the record has other agents in the rows of these: two methods must not share a name."""
    others = _others(players, {player.row for player in players}, record)
    if others:
        name = Task(others[0].game, others[0].players).name
        raise BotError(
            f"the record has another agent of {others[0].method} in {name}, seed {others[0].seed}; give the method "
            "another name, or add --replace"
        )


def check_row_is_free(folder: Path, row: tuple[str, int, str, int], seeds: Collection[int], record: Path) -> None:
    """Raise BotError if the record has agents of these seeds in a row that are not those of an entry, before they are
    trained. Those of other seeds may be trained elsewhere.

    Args:
        folder: that of the entry. row: game, players, method and budget.
    """
    players = players_of(folder, read_entry(folder)) if (folder / FILE).exists() else []
    others = sorted({line.seed for line in _others(players, {row}, record)})
    if set(others) & set(seeds):
        raise BotError(
            f"{record} has {row[2]} in {Task(*row[:2]).name} from other training (seeds "
            f"{', '.join(map(str, others))}): give another --record and --curves, or add --replace, which removes "
            "those agents with their games and curves"
        )


def remove_others(players: list[Player], record: Path, curves: Path) -> None:
    """Remove other agents from the rows of these, whomever they played against, and their curves."""
    rows, own = {player.row for player in players}, {player.key for player in players}
    others = set(_others(players, rows, record))
    write_lines(record, [], Result, others.__contains__)
    write_lines(curves, [], CurvePoint, lambda point: point.key[:4] in rows and point.key[:5] not in own)


def _others(players: list[Player], rows: Collection[tuple[Any, ...]], record: Path) -> list[Result]:
    """The lines about other agents than these in some rows. Seed and version tell agents apart."""
    own = {player.key: player.version for player in players}
    return [line for line in read_lines(record, Result) if line.key[:4] in rows and own.get(line.key[:5]) != line.agent]


def _is_answered(pairing: Pairing, line: Result | None) -> bool:
    """Whether a line of the record has as many games of the same bots."""
    if line is None or line.games < pairing.games or not line.is_of_this_release:
        return False
    return line.opponent_version == pairing.version and line.agent == pairing.player.version


def _has_more_games(line: Result, known: Result) -> bool:
    """Whether a line of the record has more games of the same bots, which another process played meanwhile."""
    same_bots = (known.opponent_version, known.agent) == (line.opponent_version, line.agent)
    return same_bots and known.games > line.games and known.is_of_this_release


def _play(pairing: Pairing, stop: threading.Event) -> Result | None:
    """The line of the record about a pairing. None if it was stopped."""
    player, config = pairing.player, pairing.player.task.config
    parts = list(parts_of(pairing.games, SIDE_BY_SIDE, config.num_players, BENCHMARK_SEED))
    found = list(play_parts(player.spec, pairing.opponent, config, parts, stop=stop))
    if len(found) < len(parts):
        return None
    returns, wins = (np.concatenate([getattr(one, name) for one in found]) for name in ("returns", "wins"))
    mean = mean_return(returns)
    return Result(
        game=player.task.game, players=player.task.players, method=player.method, budget=player.budget,
        seed=player.run.seed, opponent=pairing.opponent, opponent_version=pairing.version, games=mean.games,
        returns=round(mean.mean, 5), low=round(mean.low, 5), high=round(mean.high, 5),
        wins=round(float(wins.mean()), 5), agent=player.version, commit=commit(7) or "unknown", **player.told,
    )  # fmt: skip


def write_curves(folder: Path, entry: Entry, record: Path) -> None:
    """Copy the curves of an entry into the record, in place of those it has of these runs."""
    points = [
        CurvePoint(
            entry.game,
            entry.players,
            entry.method,
            entry.budget,
            run.seed,
            int(point["decisions"]),
            point["hours"],
            point["returns"],
            int(point["games"]),
        )
        for run in entry.runs
        for point in read_curve(folder / run.curve)
    ]
    runs = {point.key[:-1] for point in points}
    write_lines(record, points, CurvePoint, lambda point: point.key[:-1] in runs)


# ---------------------------------------------------------------- scores


def reference(lines: list[Result], task: Task, bot: str, opponents: tuple[str, ...]) -> float | None:
    """The mean return of a fixed bot against these opponents. None if the record lacks one.

    Lines about another version of the bot do not count.
    """
    return _returns_against(lines, task, bot, 0, 0, opponents)


def score(
    lines: list[Result], task: Task, method: str, budget: int, seed: int, opponents: tuple[str, ...]
) -> float | None:
    """The score from the mean return against these opponents: 0 is uniform play, 1 is greedy. None if the record lacks
    games.

    Lines measured against another version of an opponent do not count.
    """
    zero, one = (reference(lines, task, bot, opponents) for bot in (ZERO, ONE))
    own = _returns_against(lines, task, method, budget, seed, opponents)
    return None if zero is None or one is None or own is None else normalised(own, zero, one)


def normalised(returns: float, zero: float, one: float) -> float:
    """A return as a score. BotError if greedy returns no more than uniform play, so that there is no scale."""
    if one <= zero:
        raise BotError(f"{ONE} returns {one:.3f} and {ZERO} {zero:.3f}: there is no scale between them")
    return (returns - zero) / (one - zero)


_present_version = cache(version_of)
"""Of a bot of the pool, whose files nobody changes meanwhile. Tables ask for it thousands of times."""


def _returns_against(
    lines: list[Result], task: Task, method: str, budget: int, seed: int, opponents: tuple[str, ...]
) -> float | None:
    found = {
        line.opponent: line.returns
        for line in lines
        if (line.game, line.players, line.method, line.budget, line.seed)
        == (task.game, task.players, method, budget, seed)
        and line.opponent_version == _present_version(line.opponent, task.game)
        and (budget > 0 or line.agent == _present_version(method, task.game))  # of what was trained, files may be gone
    }
    if budget == 0:
        found[method] = 0.0  # a bot among its equals
    return float(np.mean([found[one] for one in opponents])) if set(opponents) <= found.keys() else None
