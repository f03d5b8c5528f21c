"""Running one tournament, from the command line to the report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from kepler_envs.bots.from_file import MIB
from kepler_envs.engine.checks import check_type, is_integer, is_number
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.replay import Replay, read_replay, record, verify, write_replay
from kepler_envs.files import alone_in
from kepler_envs.printable import counted, printable, printable_name
from kepler_envs.revision import commit
from kepler_envs.terminal import say, stop_on_signals
from kepler_envs.tournament import TournamentError, check_config, check_counts, check_specs, check_tournament_seed
from kepler_envs.tournament.adaptive import AdaptiveSchedule
from kepler_envs.tournament.cluster import Cluster
from kepler_envs.tournament.html import PAGE, ReplayPage, write_page
from kepler_envs.tournament.ledger import Ledger, delete_ledger
from kepler_envs.tournament.play import COMPILED_TOGETHER, Chunk, GameResult, Players
from kepler_envs.tournament.ratings import FEWEST_SAMPLES
from kepler_envs.tournament.ray_workers import RayWorkers
from kepler_envs.tournament.report import (
    LEADERBOARD,
    LEARNING_CURVE,
    LEDGER,
    RATINGS,
    RESULTS,
    Facts,
    SavedReplay,
    part_of_ledger,
    print_report,
    write_report,
)
from kepler_envs.tournament.schedule import Schedule, count_tables
from kepler_envs.tournament.standings import standings
from kepler_envs.tournament.versions import Versions
from kepler_envs.tournament.workers import Workers

STOPPING = "finishing the games that are being played; Ctrl-C again drops them"
BATCH = 256
SHORT = 12
"""Digits of a commit in the ledger."""
GAMES_WORTH_COMPILING = 5000
"""From this many games on, whole games are played in compiled code: it compiles half a minute or more when it is first
used."""
_COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
REPLAYS = "replays"
MOST_BYTES = 100
"""Of an agent's name, in the name of a file."""
MOST_SECONDS = 86_400
"""Most seconds per decision that may be asked for."""
MOST_GAMES = 10**9
"""Most games that may be asked for: the schedule of so many takes hundreds of GB."""
MOST_TABLES = 10**6
"""Most tables in a block: all of them are listed, and played in any tournament."""
MOST_MEMORY = 10**9
"""Most MiB per agent that may be asked for, far above what machines have. The system takes at most 2**63 bytes."""
_COUNTS = {
    "games": (1, MOST_GAMES),
    "processes": (1, None),
    "batch": (1, None),
    "bootstrap": (FEWEST_SAMPLES, None),
    "memory_per_agent": (1, MOST_MEMORY),
}
"""The attributes of a tournament that are integers, and the least and the most that each may be."""


@dataclass(frozen=True)
class Tournament:
    """Bots against each other at balanced tables, rated, with a report. Asking again continues where it stopped.

    Attributes:
        config: the game that is played.
        agents: the specs of at least two bots.
        games: the number of games in the end. It is rounded up until every bot has sat on each seat equally often.
        adaptive: choose tables where it is least certain who is better, instead of a balanced schedule.
        seconds_per_decision: a bot that takes longer forfeits the game. None means any time.
        memory_per_agent: the MiB that the process of a bot from a file may take. None means any number.
        out: the folder that everything is written to and continued from.
        seed: the seed of the schedule. Each game's own seed follows from it.
        processes: the number of processes that play. None takes as many as there are cores.
        batch: the most games a process plays side by side.
        bootstrap: the number of samples for the intervals of the ratings.
        fresh: delete what an earlier tournament left in the folder.
        cluster: the cluster that plays, on its own cores. None plays in processes of this machine.

    Raises:
        TournamentError: a number or the choice of agents is not allowed, or there are both ``processes`` and a cluster.
            The message names the option of the command.
        TypeError: a value is of another type.
    """

    config: Configuration
    agents: tuple[str, ...] = ("uniform", "greedy")
    games: int = 1200
    adaptive: bool = False
    seconds_per_decision: float | None = None
    memory_per_agent: int | None = None
    out: Path = Path("runs/tournament")
    seed: int = 0
    processes: int | None = None
    batch: int = BATCH
    bootstrap: int = 400
    fresh: bool = False
    cluster: Cluster | None = None

    def __post_init__(self) -> None:
        self._check()
        object.__setattr__(self, "out", Path(self.out))
        kinds = {**dict.fromkeys((*_COUNTS, "seed"), int), "seconds_per_decision": float}
        for name, kind in kinds.items():  # the ledger takes no numbers of NumPy, and keeps 1 and 1.0 apart
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else kind(value))

    def run(self, console: Console, replay_page: ReplayPage | None = None) -> int:
        """Play what is missing and report. Returns 0, or 130 if it was stopped before the last game.

        Args:
            console: where to say how far it is, and to print the report.
            replay_page: makes the pages of whole games that the report links to. Without it there are none.

        Raises:
            BotError: an agent cannot be loaded. Nothing has been played or written.
            OSError: the folder cannot be made or written, or the disk is full.
            TournamentError: the folder holds another tournament or a damaged ledger, or another one is played there.
            VersionError: the file of an agent changed. What was played before is in the ledger.
        """
        with console.status("loading and compiling agents ..."):
            versions, players = self._load(whole_games=self.games >= GAMES_WORTH_COMPILING)
        with self._alone():
            return self._play_and_report(players, versions, console, replay_page)

    def replay(self, number: int) -> Replay:
        """A game of the ledger, played again by itself with the same seeds, those of the bots included.

        Its agents are named as in the report, with what they forfeited.

        Args:
            number: the number of the game in the ledger.

        Raises:
            BotError: an agent cannot be loaded.
            TournamentError: the number is not allowed, the folder holds no ledger, that of another tournament or a
                damaged one, the ledger has no such game, or the game goes otherwise now: an agent does not keep to its
                seeds.
            OSError: the folder cannot be read, or taken while the game is played.
        """
        if not is_integer(number):
            raise TournamentError(f"number = {number!r} is not allowed; allowed: an integer from 0 on")
        if not (self.out / LEDGER).exists():
            raise TournamentError(f"there is no {self.out / LEDGER}")
        versions, players = self._load(whole_games=False)
        with (
            self._alone(),
            Ledger(self.out / LEDGER, self._identity(self.config, versions)) as ledger,
            Workers(players, processes=1) as workers,
        ):
            known = 0 <= number < MOST_GAMES  # larger ones are none of SQLite's, which would pass for damage
            games = [game for game in ledger.results(int(number) + 1) if game.number == number] if known else []
            if not games:
                raise TournamentError(f"{ledger.path} has no game {number}")
            schedule = self._schedule(self.config, ledger)
            replay, saved = play_again(workers, schedule, games[0], display_names(self.agents))
        if not saved.same:
            raise TournamentError(f"game {number} goes otherwise when it is played again")
        return replay

    def _load(self, whole_games: bool) -> tuple[Versions, Players]:
        memory = None if self.memory_per_agent is None else self.memory_per_agent * MIB
        versions = Versions(self.agents, self.config.game.name)
        return versions, Players(self.agents, self.config, self.seconds_per_decision, whole_games, memory=memory)

    def _alone(self) -> AbstractContextManager[None]:
        return alone_in(
            self.out, TournamentError(f"another tournament is played in {self.out}: stop it, or give another --out")
        )

    def _play_and_report(
        self, players: Players, versions: Versions, console: Console, replay_page: ReplayPage | None
    ) -> int:
        config = self.config
        if self.fresh:
            delete_report(self.out)
            delete_ledger(self.out / LEDGER)
        with (
            Ledger(self.out / LEDGER, self._identity(config, versions)) as ledger,
            self._workers(players) as workers,
        ):
            schedule = self._schedule(config, ledger)
            games = self._whole_rounds(schedule, console)
            if (held := ledger.count()) > games:
                say(console, printable(part_of_ledger(ledger.path, held, games)))
            if not self._play(ledger, versions, schedule, workers, games, console):
                kept = f"every finished game is in {ledger.path}"
                say(console, printable(f"stopped; {kept}, the same command goes on from there"))
                return 130
            self._report(ledger, schedule, workers, games, console, replay_page)
        return 0

    def _report(
        self,
        ledger: Ledger,
        schedule: AnySchedule,
        workers: AnyWorkers,
        games: int,
        console: Console,
        replay_page: ReplayPage | None,
    ) -> None:
        config, names = workers.players.config, display_names(self.agents)
        results = ledger.results(games)
        with Progress(*_COLUMNS, console=console, transient=True) as progress:
            task = progress.add_task("rating", total=self.bootstrap)

            def advance(done: int, _: int) -> None:
                progress.update(task, completed=done)

            found = standings(results, self.agents, names, self.bootstrap, self.seed, advance)
        with console.status("replays and pictures ..."):
            saved = save_replays(self.out / REPLAYS, workers, schedule, results, names)
            facts = Facts(
                config, self.agents, self.seed, self.adaptive, self.seconds_per_decision, ledger.commits(games),
                ledger.count(),
            )  # fmt: skip
            write_report(self.out, found, saved, facts)
            write_page(self.out, found, saved, facts, replay_page)
        print_report(found, console)
        say(console, printable(f"written: {self.out / 'report.html'}, {self.out / 'results.md'}"))

    def _workers(self, players: Players) -> AnyWorkers:
        if self.cluster is None:
            return Workers(players, self.processes or os.cpu_count() or 1)
        return RayWorkers(players, self.cluster, self.batch)

    def _check(self) -> None:
        check_config(self.config)
        if self.config.num_players < 2:
            raise TournamentError("--players 1 makes no tournament; allowed: at least 2")
        check_specs("agents", self.agents)
        for name in ("adaptive", "fresh"):
            check_type(name, getattr(self, name), bool)
        if self.cluster is not None:
            check_type("cluster", self.cluster, Cluster, "Cluster(ADDRESS) makes one")
            if self.processes is not None:
                raise TournamentError(f"--processes {self.processes}: a cluster plays on its own cores; leave it out")
        if len(self.agents) < 2 or len(set(self.agents)) < len(self.agents):
            raise TournamentError(f"--agents {' '.join(self.agents)}: at least two are needed, each named once")
        for spec in self.agents:
            _check_text(spec)
        tables = count_tables(len(self.agents), self.config.num_players)
        if tables > MOST_TABLES:
            raise TournamentError(
                f"--agents: {len(self.agents)} on {self.config.num_players} seats can sit at {tables:,} different "
                f"tables; allowed: at most {MOST_TABLES:,}. Name fewer agents, or play with fewer --players"
            )
        for name, (least, most) in _COUNTS.items():
            check_counts(self, name, least=least, most=most)
        check_tournament_seed(self.seed)
        seconds = self.seconds_per_decision
        if seconds is not None and not (is_number(seconds) and 0 < seconds <= MOST_SECONDS):
            raise TournamentError(
                f"--seconds-per-decision {seconds} is not allowed; allowed: above 0, up to {MOST_SECONDS}"
            )

    def _identity(self, config: Configuration, versions: Versions) -> dict[str, Any]:
        """What all games of one ledger have in common."""
        return {
            "game": config.game.id,
            "options": {"num_players": config.num_players, **config.values},
            "components": config.components_digest,
            "agents": list(self.agents),
            "versions": versions.fingerprints,
            "seed": self.seed,
            "adaptive": self.adaptive,
            "seconds_per_decision": self.seconds_per_decision,
            "memory_per_agent": self.memory_per_agent,
        }

    def _schedule(self, config: Configuration, ledger: Ledger) -> AnySchedule:
        agents_and_seats = len(self.agents), config.num_players
        if self.adaptive:
            return AdaptiveSchedule(*agents_and_seats, self.seed, ledger.stages())
        return Schedule(*agents_and_seats, self.seed)

    def _whole_rounds(self, schedule: AnySchedule, console: Console) -> int:
        games = schedule.whole_rounds(self.games)
        if games != self.games:
            whole = f"whole blocks of {schedule.block} balanced games"
            if self.adaptive:
                whole = f"{schedule.block} balanced games first, then whole rounds of {schedule.seats}"
            asked = f"{counted(self.games, 'game')} {'is' if self.games == 1 else 'are'}"
            console.print(f"{asked} rounded up to {games}: {whole}")
        return games

    def _play(
        self,
        ledger: Ledger,
        versions: Versions,
        schedule: AnySchedule,
        workers: AnyWorkers,
        games: int,
        console: Console,
    ) -> bool:
        """Play the missing games. Returns whether all are there now."""
        made_at = commit(SHORT)
        with stop_on_signals(console, STOPPING) as stop, _progress(console) as progress:
            task = progress.add_task("games", total=games, completed=games - len(ledger.missing(games)))
            if isinstance(workers, RayWorkers):
                workers.watch = lambda: progress.update(task, description=_on(workers.cluster))
            while True:
                known = int(min(games, schedule.known))
                for results in workers.play(self._chunks(schedule, ledger.missing(known), workers), stop):
                    versions.check()
                    ledger.add(results, workers.players.config.digest, made_at)
                    progress.advance(task, len(results))
                if ledger.missing(known):
                    return False
                if known == games:
                    return True
                assert isinstance(schedule, AdaptiveSchedule)
                ledger.add_stage(schedule.choose_stage(ledger.results(known), self.agents))

    def _chunks(self, schedule: AnySchedule, missing: Sequence[int], workers: AnyWorkers) -> list[Chunk]:
        """The missing games in parts, at least one for each process.

        Whole games in compiled code come in larger ones.
        """
        parts: list[Chunk] = []
        games = [schedule[number] for number in missing]
        for compiled, most in ((True, COMPILED_TOGETHER * self.batch), (False, self.batch)):
            alike = [game for game in games if workers.players.is_compiled(game) == compiled]
            size = max(1, min(most, -(-len(alike) // workers.processes)))
            parts += [alike[low : low + size] for low in range(0, len(alike), size)]
        return parts


AnySchedule = Schedule | AdaptiveSchedule
AnyWorkers = Workers | RayWorkers


def _on(cluster: Cluster) -> str:
    return f"games on {cluster.size}" if cluster.cores else "waiting for a node"


class _GamesPerSecond(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f} games/s" if speed else "")


def _progress(console: Console) -> Progress:
    return Progress(*_COLUMNS[:-1], _GamesPerSecond(), _COLUMNS[-1], console=console)


def delete_report(folder: Path) -> None:
    """Delete the report of a tournament, its pictures, the games that it shows and those that were written down."""
    for name in (PAGE, LEADERBOARD, RESULTS, RATINGS, LEARNING_CURVE):
        (folder / name).unlink(missing_ok=True)
    for path in folder.glob("game-*.jsonl"):
        if path.stem.removeprefix("game-").isdecimal():
            path.unlink()
    for replay in (folder / REPLAYS).glob("*.jsonl"):
        replay.with_suffix(".html").unlink(missing_ok=True)
        replay.unlink()


def display_names(specs: Sequence[str]) -> list[str]:
    """Short names of the agents, all different. They may be shown anywhere.

    The name is the kind alone if only one agent is of that kind, the name of a bot of your own, and else the whole
    spec.
    """
    short = [spec.rpartition(":")[2] if spec.startswith("python:") else spec.partition(":")[0] for spec in specs]
    names = [printable_name(name if short.count(name) == 1 else spec) for name, spec in zip(short, specs, strict=True)]
    return [name if names.count(name) == 1 else f"{name} #{place}" for place, name in enumerate(names)]


def save_replays(
    folder: Path, workers: AnyWorkers, schedule: AnySchedule, results: Sequence[GameResult], names: Sequence[str]
) -> list[SavedReplay]:
    """Write one game of each two agents as a replay, if possible one without forfeits, and verify the file.

    The game is replayed for it: by itself, even if the tournament played it among others. It should be the same game.
    """
    folder.mkdir(parents=True, exist_ok=True)
    specs, config, saved = workers.players.specs, workers.players.config, []
    for (one, other), path in replay_paths(folder, names).items():
        theirs = [game for game in results if {specs[one], specs[other]} == set(game.agents)]
        game = min(theirs, key=lambda game: (bool(game.forfeits), game.number))
        replay, about = play_again(workers, schedule, game, names, path.name)
        saved.append(about)
        write_replay(path, replay)
        verify(read_replay(path), config)
    return saved


def play_again(
    workers: AnyWorkers, schedule: AnySchedule, game: GameResult, names: Sequence[str], file: str = ""
) -> tuple[Replay, SavedReplay]:
    """Play a game of a ledger again, by itself. Returns its replay, and what a report says about it."""
    specs = workers.players.specs
    actions, again = workers.play_alone(schedule[game.number], careful=bool(game.forfeits))
    by_seat = [names[specs.index(spec)] for spec in game.agents]
    same = (again.ranks, again.scores, again.length) == (game.ranks, game.scores, game.length)
    forfeits = {names[specs.index(forfeit.agent)]: forfeit.decision for forfeit in again.forfeits}
    saved = SavedReplay(file, game.number, by_seat, same, list(again.ranks), list(again.returns), forfeits)
    return record(workers.players.config, game.seed, actions, saved.seats), saved


def replay_paths(folder: Path, names: Sequence[str]) -> dict[tuple[int, int], Path]:
    """A file for each two agents, named after both, with a number where two pairs have the same name."""
    paths: dict[tuple[int, int], Path] = {}
    for one, other in combinations(range(len(names)), 2):
        path = folder / f"{_file_name(names[one])}-{_file_name(names[other])}.jsonl"
        taken = path in paths.values()
        paths[one, other] = path.with_stem(f"{path.stem}-{one}-{other}") if taken else path
    return paths


def _file_name(name: str) -> str:
    words = "".join(letter if letter.isalnum() else "_" for letter in name)
    return words.encode()[-MOST_BYTES:].decode(errors="ignore")


def _check_text(spec: str) -> None:
    """A path may be any bytes, and the ledger holds text."""
    try:
        spec.encode()
    except UnicodeEncodeError:
        raise TournamentError(f"--agents {printable_name(spec)}: its path is not UTF-8; rename the file") from None
