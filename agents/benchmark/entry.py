"""An entry that somebody hands in: a folder with ``entry.json``, trained agents and learning curves, and the checks of
it.

The benchmark plays the agents and believes no claim about their strength. Decisions, hours and hardware are taken as
told.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from agents.benchmark.protocol import DECISIONS, FORMAT, LEAST_SEEDS, POOL, TASKS, Task, most_decisions
from agents.seeds import TRIAL_SEED
from kepler_envs import bots
from kepler_envs.bots.from_file import BotFromFile
from kepler_envs.bots.protocol import Bot, BotError
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.snapshot import IllegalAction
from kepler_envs.files import write_atomically
from kepler_envs.printable import counted, one_line
from kepler_envs.tournament.pairing import play_against

FILE = "entry.json"
KINDS = ("network", "residual", "search", "other")
"""Kinds of methods: a network alone, a network that corrects a written bot, a search, anything else."""
NAME = re.compile(r"[a-z0-9]+([-.][a-z0-9]+)*")
CURVE_COLUMNS = ("decisions", "hours", "returns", "games")
MOST_BYTES = 64_000_000
"""Most bytes in the folder of one trained agent."""
TRIAL_ROUNDS = 2
"""Trial games per seat, which show that an agent works."""
START_SECONDS, TRIAL_SECONDS = 600.0, 600.0
"""Time to make an agent from a file, and for an answer about all trial games: one that hangs would end no check."""
TRACEBACK = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n)+")
"""A traceback up to its exception."""
FRAME = re.compile(r'^ +File "(.+)", line (\d+)', re.MULTILINE)
"""File and line of each of its frames."""


@dataclass(frozen=True)
class TrainedRun:
    """One training run.

    Attributes:
        seed: seed of the run. decisions: decisions of the learner. hours: hours it took.
        agent: the final agent: a checkpoint (``seed-0/agent.zip``) or ``python:seed-0/agent.py:NAME``, in a folder of
            its own with everything it needs.
        curve: CSV with CURVE_COLUMNS: mean return against the pool during training.
    """

    seed: int
    decisions: int
    hours: float
    agent: str
    curve: str


@dataclass(frozen=True)
class Entry:
    """One method in one game.

    Attributes:
        method: its name in tables. kind: one of KINDS. about: one sentence about it. command: the command that trains
            it again. code: commit or address of its code.
        budget: decisions that every run was given. known: bots of the pool that the method trained with.
    """

    game: str
    players: int
    method: str
    kind: str
    about: str
    command: str
    code: str
    budget: int
    known: tuple[str, ...]
    hardware: str
    runs: tuple[TrainedRun, ...]

    @property
    def task(self) -> Task:
        return Task(self.game, self.players)


COLUMNS = {
    "game": str, "players": int, "method": str, "kind": str, "about": str, "command": str, "code": str, "budget": int,
    "known": list,
    "hardware": str, "runs": list,
}  # fmt: skip
RUN_COLUMNS = {"seed": int, "decisions": int, "hours": float, "agent": str, "curve": str}


# ---------------------------------------------------------------- files


def read_entry(folder: Path) -> Entry:
    """The entry in a folder. BotError lists everything that is wrong with its ``entry.json``."""
    entry, problems = _parse(folder)
    if entry is None:
        raise BotError("\n".join(problems))
    return entry


def write_entry(folder: Path, entry: Entry) -> None:
    """Write ``entry.json``."""
    text = json.dumps({"format": FORMAT, **asdict(entry)}, indent=2) + "\n"
    write_atomically(folder / FILE, text.encode())


def agent_spec(folder: Path, run: TrainedRun) -> str:
    """The spec that loads the agent of a run."""
    if run.agent.startswith("python:"):
        return f"python:{folder / run.agent.removeprefix('python:')}"
    return f"net:{folder / run.agent}"


def agent_file(folder: Path, run: TrainedRun) -> Path:
    """The checkpoint, or the Python file, of the agent of a run."""
    return folder / _relative(run.agent)


def agent_version(folder: Path, run: TrainedRun) -> str:
    """16 hex digits of all files in the folder of an agent, without the curve."""
    digest = hashlib.sha256()
    home = agent_file(folder, run).parent
    for path in sorted(path for path in home.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        if path != folder / run.curve:
            digest.update(path.relative_to(home).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def read_curve(path: Path) -> list[dict[str, float]]:
    """The points of a learning curve. BotError if the file is wrong."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if tuple(reader.fieldnames or ()) != CURVE_COLUMNS:
                raise BotError(f"its columns are {reader.fieldnames}; they must be {','.join(CURVE_COLUMNS)}")
            return [_point(row, reader.line_num) for row in reader]
    except BotError:
        raise
    except (OSError, ValueError, csv.Error) as error:
        raise BotError(f"it cannot be read: {one_line(error)}") from None


def _point(row: dict[Any, Any], line: int) -> dict[str, float]:
    """A row of a curve in numbers. BotError if it is wrong."""
    if None in row or None in row.values():
        raise BotError(f"line {line} has more or fewer values than {','.join(CURVE_COLUMNS)}")
    try:
        return {name: float(row[name]) for name in CURVE_COLUMNS}
    except ValueError as error:
        raise BotError(f"line {line} holds something other than numbers: {one_line(error)}") from None


# ---------------------------------------------------------------- what may be wrong


def check(
    folder: Path,
    budget: int = DECISIONS,
    seeds: int = LEAST_SEEDS,
    say: Callable[[str], None] = lambda line: None,
    stop: threading.Event | None = None,
) -> list[str] | None:
    """Everything that is wrong with an entry, one line each; empty if it can be measured. None if it was stopped before
    the last run.

    Every agent is loaded and plays some games, so this runs the code of agents from Python files.

    Args:
        budget: decisions that each run should have been given. seeds: minimum number of runs. say: called with the
            agent being tried.
    """
    entry, problems = _parse(folder)
    if entry is None:
        return problems
    problems += [f"{FILE}: {line}" for line in _about_entry(entry, budget, seeds)]
    if entry.task not in TASKS:
        return problems
    known: dict[str, int] = {}
    for number, run in enumerate(entry.runs):
        if stop is not None and stop.is_set():
            return None
        where = f"runs[{number}]"
        say(f"{where}: seed {run.seed}, {run.decisions:,} of {entry.budget:,} decisions, {run.agent}")
        files = list(_about_files(folder, run))
        found = [*_about_run(entry, run), *(files or _about_copies(folder, run, number, known))]
        problems += [f"{FILE}: {where}.{line}" for line in found]
        if not any(line.startswith("curve") for line in files):
            problems += [f"{run.curve}: {line}" for line in _about_curve(folder / run.curve, run)]
        if not any(line.startswith("agent") for line in found):
            problems += [f"{run.agent}: {line}" for line in _about_play(folder, entry, run)]
    return problems


def _parse(folder: Path) -> tuple[Entry | None, list[str]]:
    path = folder / FILE
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None, [f"there is no {path}"]
    except OSError as error:
        return None, [f"{FILE} cannot be read: {one_line(error)}"]
    except (ValueError, RecursionError) as error:
        return None, [f"{FILE} is not JSON: {one_line(error)}"]
    if not isinstance(saved, dict) or saved.get("format") != FORMAT:
        found = saved.get("format") if isinstance(saved, dict) else None
        return None, [f"{FILE}: format is {found!r}; it must be {FORMAT!r}"]
    problems = list(_wrong_columns({name: saved[name] for name in saved if name != "format"}, COLUMNS, ""))
    runs: list[Any] = saved["runs"] if isinstance(saved.get("runs"), list) else []
    for number, run in enumerate(runs):
        columns = run if isinstance(run, dict) else {}
        problems += _wrong_columns(columns, RUN_COLUMNS, f"runs[{number}].")
    if isinstance(saved.get("known"), list) and not all(isinstance(one, str) for one in saved["known"]):
        problems.append("known holds something other than names of bots")
    if problems:
        return None, [f"{FILE}: {line}" for line in problems]
    trained = tuple(TrainedRun(**{**run, "hours": _as_float(run["hours"])}) for run in runs)
    values = {name: saved[name] for name in COLUMNS if name not in ("known", "runs")}
    return Entry(**values, known=tuple(saved["known"]), runs=trained), []


def _as_float(number: float) -> float:
    """A number of JSON, which may be an integer of any length."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _wrong_columns(found: dict[str, Any], columns: dict[str, type], where: str) -> Iterator[str]:
    for name in columns.keys() - found.keys():
        yield f"{where}{name} is missing"
    for name in found.keys() - columns.keys():
        yield f"{where}{name} is unknown; there are {', '.join(columns)}"
    for name in columns.keys() & found.keys():
        kinds = (int, float) if columns[name] is float else (columns[name],)
        if isinstance(found[name], bool) or not isinstance(found[name], kinds):
            yield f"{where}{name} is {found[name]!r}; it must be of type {columns[name].__name__}"


def _about_entry(entry: Entry, budget: int, seeds: int) -> Iterator[str]:
    if entry.task not in TASKS:
        names = ", ".join(f"{task.game} with {task.players}" for task in TASKS)
        yield f"game and players are {entry.game!r} with {entry.players}; allowed: {names}"
    if not NAME.fullmatch(entry.method) or entry.method in POOL:
        yield (
            f"method is {entry.method!r}; write lower-case letters and digits, with single hyphens or points between "
            "them, and no name of a bot"
        )
    if entry.kind not in KINDS:
        yield f"kind is {entry.kind!r}; allowed: {', '.join(KINDS)}"
    if entry.budget != budget:
        yield f"budget is {entry.budget:,} decisions; it must be {budget:,}"
    for bot in entry.known:
        if bot not in POOL:
            yield f"known names {bot!r}; the pool has {', '.join(POOL)}"
    for name in ("about", "command", "code", "hardware"):
        text = getattr(entry, name)
        if not text.strip():
            yield f"{name} is empty"
        elif not text.isprintable():  # records and tables have a line for it
            yield f"{name} is {text!r}; it must be one line of characters that can be printed"
    numbers = [run.seed for run in entry.runs]
    if len(set(numbers)) < len(numbers):
        yield f"runs have seeds {numbers}; each may appear once"
    if len(numbers) < seeds:
        yield f"runs has {len(numbers)} training runs; at least {seeds} are needed"


def _about_run(entry: Entry, run: TrainedRun) -> Iterator[str]:
    most = most_decisions(entry.budget)
    if not 1 <= run.decisions <= most:
        yield f"decisions is {run.decisions:,}; allowed: 1..{most:,} (the budget and an update)"
    if not 0 < run.hours < math.inf:
        yield f"hours is {run.hours}; it must be above 0"
    if run.seed < 0:
        yield f"seed is {run.seed}; it must be 0 or more"


def _about_files(folder: Path, run: TrainedRun) -> Iterator[str]:
    agent = _relative(run.agent)
    if run.agent.startswith("python:") and not re.fullmatch(r"python:[^:]+\.py:\w+", run.agent):
        yield f"agent is {run.agent!r}; write python:FOLDER/FILE.py:NAME"
    elif len(agent.parts) < 2:
        yield f"agent is {run.agent!r}; it must lie in a folder of its own, such as seed-{run.seed}"
    elif problem := _about_path(folder, agent):
        yield f"agent is {problem}"
    else:
        size = sum(path.stat().st_size for path in (folder / agent).parent.rglob("*") if path.is_file())
        if size > MOST_BYTES:
            yield f"agent has a folder of {size:,} bytes; allowed: {MOST_BYTES:,}"
    if problem := _about_path(folder, PurePosixPath(run.curve)):
        yield f"curve is {problem}"


def _about_path(folder: Path, path: PurePosixPath) -> str:
    """What is wrong with the path of a file in the folder of an entry. The text is empty if nothing is.

    Files elsewhere are not looked at.
    """
    try:
        is_inside = not path.is_absolute() and (folder / path).resolve().is_relative_to(folder.resolve())
        is_file = is_inside and (folder / path).is_file()
    except (OSError, RuntimeError, ValueError):  # too long a name, links in circles, a character that no name has
        return f"{str(path)!r}; no file has such a name"
    if not is_inside:
        return f"{path}; it must lie in the folder of the entry"
    return "" if is_file else f"{path}; there is no such file"


def _about_copies(folder: Path, run: TrainedRun, number: int, known: dict[str, int]) -> Iterator[str]:
    """What a run shares with an earlier one. Copies would look like a method whose runs never differ.

    Args:
        known: the files and versions of the earlier runs, with the number of each. Those of this one are added.
    """
    file = agent_file(folder, run)
    own = [str(file.resolve()), agent_version(folder, run)]
    if not run.agent.startswith("python:"):  # a checkpoint is the whole agent, whatever lies beside it
        own.append(hashlib.sha256(file.read_bytes()).hexdigest())
    others = {known.setdefault(one, number) for one in own} - {number}
    if others:
        yield f"agent has the same files as that of runs[{min(others)}]; each run trains its own"
    other = known.setdefault(str((folder / run.curve).resolve()), number)
    if other != number:
        yield f"curve is the file of runs[{other}]; each run has its own"


def _relative(agent: str) -> PurePosixPath:
    return PurePosixPath(agent.removeprefix("python:").rpartition(":")[0] if agent.startswith("python:") else agent)


def _about_curve(path: Path, run: TrainedRun) -> Iterator[str]:
    try:
        points = read_curve(path)
    except BotError as error:
        yield str(error)
        return
    fractions = list(_about_counts(points))
    if fractions:
        yield from fractions[:1]
        return
    steps = [point["decisions"] for point in points]
    if len(points) < 2:
        yield f"it has {counted(len(points), 'point')}; at least 2 are needed"
    elif not all(later > earlier for earlier, later in zip(steps, steps[1:], strict=False)):
        yield "decisions do not ascend"
    elif steps[-1] != run.decisions:
        yield f"it ends after {steps[-1]:,.0f} decisions; the run made {run.decisions:,}"
    for line, point in enumerate(points, 2):
        if not -1 <= point["returns"] <= 1:
            yield f"line {line}: returns is {point['returns']}; allowed: -1..1"
        if not 0 <= point["hours"] < math.inf:
            yield f"line {line}: hours is {point['hours']}; it must be 0 or more"


def _about_counts(points: list[dict[str, float]]) -> Iterator[str]:
    """What a curve counts, in whole numbers."""
    for line, point in enumerate(points, 2):
        for name, least in (("decisions", 0), ("games", 1)):
            if not (least <= point[name] < math.inf and point[name].is_integer()):
                yield f"line {line}: {name} is {point[name]}; it must be a whole number from {least} on"


def _about_play(folder: Path, entry: Entry, run: TrainedRun) -> Iterator[str]:
    """Play some games twice: an agent must play legal actions, and the same ones from the same seeds."""
    config, spec = entry.task.config, agent_spec(folder, run)
    try:
        first, again = (_trial(spec, config) for _ in range(2))
    except (BotError, IllegalAction, ValueError) as error:
        yield f"it cannot play: {_reason(error, agent_file(folder, run).parent)}"
        return
    if not np.array_equal(first, again):
        yield "equal seeds give different games: it may draw only from the seeds that start() gets"


def _reason(error: Exception, home: Path) -> str:
    """What an error says. Of a traceback that is the end, with the last line that was reached in the agent's folder."""
    words = str(error)
    tracebacks = list(TRACEBACK.finditer(words))
    if not tracebacks:
        return one_line(error)
    frames = [(Path(file), line) for file, line in FRAME.findall(tracebacks[-1].group())]
    own = [f"{file.name}, line {line}: " for file, line in frames if file.is_relative_to(home.resolve())]
    return "".join(own[-1:]) + one_line(words[tracebacks[-1].end() :])


def _trial(spec: str, config: Configuration) -> np.ndarray:
    """Lengths of the trial games, each seat equally often."""
    games = TRIAL_ROUNDS * config.num_players
    return play_against(_loaded(spec, config), bots.load("uniform", config), config, games, TRIAL_SEED).lengths


def _loaded(spec: str, config: Configuration) -> Bot:
    kind, _, argument = spec.partition(":")
    if kind != "python":
        return bots.load(spec, config)
    agent = BotFromFile(argument, config, seconds_to_start=START_SECONDS)
    agent.seconds = TRIAL_SECONDS
    return agent
