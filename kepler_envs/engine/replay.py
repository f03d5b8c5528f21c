"""Replays: a game as JSON Lines that can be read, shown, and replayed to the same bytes.

Line 1 is the header: format, game id, options, seed, digest of the component data, agents by seat. Then there is one
line per decision: the seat, the action id and its text. The last line has the final state's hash, the returns, the
ranks and the length.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from reprlib import Repr
from typing import Any

import numpy as np

from kepler_envs.engine.checks import check_type
from kepler_envs.engine.game import Configuration, Game
from kepler_envs.engine.seeds import check_seed
from kepler_envs.engine.snapshot import IllegalAction, Snapshot
from kepler_envs.files import write_atomically
from kepler_envs.printable import counted

FORMAT = "kepler-replay-1"
MOST_DIGITS = 20
"""The most digits of an integer. Seeds have as many."""

_quoting = Repr()  # few levels and entries
_quoting.maxstring = _quoting.maxother = 120


class ReplayError(ValueError):
    """A replay file cannot be read, or does not replay to the same game. The message names file and line."""


@dataclass
class Replay:
    """One recorded game.

    Attributes:
        game: the id of the game, with its version.
        options: the arguments of ``Game.configure``.
        seed: the seed of the deal.
        components: the digest of the tables.
        agents: a name per seat.
        actions: the ids in order.
        seats: the seat of each action.
        texts: the text of each action.
        final: the closing line (``hash``, ``returns``, ``rank``, ``length``), or None for an unfinished game.
    """

    game: str
    options: dict[str, Any]
    seed: int
    components: str
    agents: list[str]
    actions: list[int] = field(default_factory=list)
    seats: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    final: dict[str, Any] | None = None

    def add(self, position: Snapshot, action: int) -> Snapshot:
        """Record one more decision, made at ``position``.

        Returns:
            The position after it.

        Raises:
            IllegalAction: the id is not legal. Nothing is recorded.
        """
        after = position.apply(action)
        self.seats.append(position.seat)
        self.actions.append(int(action))
        self.texts.append(position.config.actions.text(action))
        self.final = closing(after, len(self.actions)) if after.over else None
        return after

    def cut(self, length: int) -> None:
        """Keep the first ``length`` decisions and drop all others."""
        if length < len(self.actions):
            self.final = None
        del self.seats[length:], self.actions[length:], self.texts[length:]

    def positions(self, config: Configuration) -> Iterator[Snapshot]:
        """Yield the position before each decision, then the last one.

        Raises :class:`IllegalAction` at a decision that does not fit the game, and ValueError if the seed is not
        allowed.
        """
        position = Snapshot.deal(config, self.seed)
        yield position
        for action in self.actions:
            position = position.apply(action)
            yield position


def record(
    config: Configuration, seed: int, actions: Sequence[int] | np.ndarray, agents: Sequence[str] | None = None
) -> Replay:
    """Make the replay of a game from its seed and ids.

    Args:
        config: the configuration that was played.
        seed: the seed of the deal.
        actions: the ids of all decisions in order, also as an integer array.
        agents: a name for each seat. None calls all of them ``unknown``.

    Raises:
        IllegalAction: they do not fit the game.
        ValueError: the seed is not allowed, or there is not one name for each seat.
        TypeError: ``config`` is no configuration, or a name is no text.
    """
    _check_config(config)
    names = list(agents) if agents is not None else ["unknown"] * config.num_players
    if isinstance(agents, str):
        raise TypeError(f"agents must be a name for each seat, not the text {agents!r}")
    for name in names:
        check_type("the name of an agent", name, str)
    if len(names) != config.num_players:
        raise ValueError(f"{counted(len(names), 'agent name')} for {counted(config.num_players, 'seat')}")
    replay = Replay(config.game.id, config.describe(), check_seed(seed), config.components_digest, names)
    position = Snapshot.deal(config, seed)
    for action in actions:
        position = replay.add(position, action)
    return replay


def _check_config(config: Any) -> None:
    check_type("config", config, Configuration, 'load_game("GAME").configure() makes one')


def _check_replay(replay: Any) -> None:
    check_type("replay", replay, Replay, "read_replay(PATH) reads one")


def _check_lengths(replay: Replay) -> None:
    """Raise ReplayError unless each decision has an action, a seat and a text."""
    actions, seats, texts = len(replay.actions), len(replay.seats), len(replay.texts)
    if not actions == seats == texts:
        raise ReplayError(
            f"the replay has {counted(actions, 'action')}, {counted(seats, 'seat')} and {counted(texts, 'text')}"
        )


def closing(position: Snapshot, length: int) -> dict[str, Any]:
    """The last line of a finished game."""
    ranks, _, returns = position.results()
    return {"hash": position.digest(), "returns": returns.tolist(), "rank": ranks.tolist(), "length": length}


def write_replay(path: str | Path, replay: Replay) -> None:
    """Write a replay as JSON Lines, whole or not at all.

    Raises:
        TypeError: it is no replay.
        ReplayError: it has not as many seats and texts as actions.
        OSError: the file cannot be written.
    """
    _check_replay(replay)
    _check_lengths(replay)
    header = {
        "format": FORMAT, "game": replay.game, "options": replay.options, "seed": replay.seed,
        "components": replay.components, "agents": replay.agents,
    }  # fmt: skip
    lines: list[dict[str, Any]] = [header]
    for seat, action, text in zip(replay.seats, replay.actions, replay.texts, strict=True):
        lines.append({"seat": seat, "action": action, "text": text})
    if replay.final is not None:
        lines.append({"end": True, **replay.final})
    write_atomically(Path(path), "".join(json.dumps(line) + "\n" for line in lines).encode())


def read_replay(path: str | Path) -> Replay:
    """Read a replay. Raises ReplayError naming the line that is wrong."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            texts = list(file)  # str.splitlines would break lines at what JSON may hold in a text, such as U+2028
    except (OSError, ValueError) as problem:  # also of a path that no file can have
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise ReplayError(f"{path}: cannot be read: {reason}") from problem
    lines = [_parse(path, number, line) for number, line in enumerate(texts, 1)]
    if not lines or lines[0].get("format") != FORMAT:
        raise ReplayError(f"{path}: line 1 must be a header with format {FORMAT!r}")
    replay = _read_header(path, lines[0])
    for number, line in enumerate(lines[1:], 2):
        if replay.final is not None:
            raise ReplayError(f"{path}: line {number} comes after the end of the game")
        if line.get("end"):
            replay.final = {name: value for name, value in line.items() if name != "end"}
            continue
        if type(line.get("action")) is not int or type(line.get("seat")) is not int:
            raise ReplayError(f"{path}: line {number} must have an integer seat and action")
        if type(line.get("text")) is not str:
            raise ReplayError(f"{path}: line {number} must have a text of type str, not {_quote(line.get('text'))}")
        replay.actions.append(line["action"])
        replay.seats.append(line["seat"])
        replay.texts.append(line["text"])
    return replay


def _parse(path: str | Path, number: int, line: str) -> dict[str, Any]:
    try:
        parsed = json.loads(line, parse_int=_integer)
    except _LongInteger as problem:
        raise ReplayError(f"{path}: line {number} has {problem}") from problem
    except ValueError as problem:
        raise ReplayError(f"{path}: line {number} is not JSON: {problem}") from problem
    except RecursionError:
        raise ReplayError(f"{path}: line {number} is nested too deeply") from None
    if not isinstance(parsed, dict):
        raise ReplayError(f"{path}: line {number} is not an object")
    return parsed


def _quote(value: Any) -> str:
    """Quote a value from a file for an error message, however long or deep it is."""
    return _quoting.repr(value)


class _LongInteger(ValueError):
    """An integer that nothing in a replay can be."""


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MOST_DIGITS:
        raise _LongInteger(f"an integer of {len(digits.lstrip('-')):,} digits; allowed are {MOST_DIGITS}")
    return int(digits)


HEADER_TYPES = {"game": str, "options": dict, "seed": int, "components": str, "agents": list}


def _read_header(path: str | Path, header: dict[str, Any]) -> Replay:
    for name, kind in HEADER_TYPES.items():
        if type(header.get(name)) is not kind:
            raise ReplayError(
                f"{path}: line 1 must have {name} of type {kind.__name__}, not {_quote(header.get(name))}"
            )
    for name, value in header["options"].items():
        if not isinstance(value, (str, int, float)):
            raise ReplayError(f"{path}: line 1: option {name!r} must be a number or a text, not {_quote(value)}")
    for name in header["agents"]:
        if type(name) is not str:
            raise ReplayError(f"{path}: line 1 must have agents of type str, not {_quote(name)}")
    return Replay(*(header[name] for name in HEADER_TYPES))


def configuration_of(replay: Replay, find_game: Callable[[str], Game]) -> Configuration:
    """The configuration that a replay was played in.

    Args:
        replay: the replay.
        find_game: the function that finds a game by its id: ``kepler_envs.load_game``.

    Raises:
        ReplayError: its game or its component data differ from those installed, or its game cannot be loaded.
        TypeError: it is no replay.
    """
    _check_replay(replay)
    try:
        check_seed(replay.seed)
        config = find_game(replay.game).configure(**replay.options)
    except (KeyError, ValueError, TypeError, OverflowError, RecursionError, OSError, ImportError) as problem:
        raise ReplayError(f"the replay's game cannot be set up: {problem}{_where_cards_are(replay)}") from problem
    if len(replay.agents) != config.num_players:
        names, seats = counted(len(replay.agents), "agent name"), counted(config.num_players, "seat")
        raise ReplayError(f"{names} for {seats}")
    if config.components_digest != replay.components:
        raise ReplayError(
            f"the replay was played with component data {replay.components}, the present ones are "
            f"{config.components_digest}"
        )
    return config


def _where_cards_are(replay: Replay) -> str:
    """What to do about a component file that is not where it was."""
    cards = replay.options.get("components")
    if not isinstance(cards, str) or Path(cards).is_file():
        return ""
    return f"; the component file was {cards}: change to the folder it is in, or correct line 1 of the replay"


def _check_is_of(replay: Replay, config: Configuration) -> None:
    """Raise ReplayError unless the replay says that its game was played in this configuration."""
    told = {"game": replay.game, **replay.options, "component data": replay.components}
    here = {"game": config.game.id, **config.describe(), "component data": config.components_digest}
    for name, value in told.items():
        if name != "components" and name in here and value != here[name]:
            raise ReplayError(f"the replay has {name} {value!r}, the configuration {here[name]!r}")


def verify(replay: Replay, config: Configuration) -> Snapshot:
    """Replay a game and return the last position.

    Raises:
        ReplayError: it was played in another configuration, its seed is not allowed, a decision has another seat or
            text, or is not legal, or the closing line differs.
        TypeError: it is no replay, or no configuration.
    """
    _check_replay(replay)
    _check_config(config)
    _check_is_of(replay, config)
    _check_lengths(replay)
    try:
        position = Snapshot.deal(config, replay.seed)
    except ValueError as problem:
        raise ReplayError(f"the replay's game cannot be dealt: {problem}") from problem
    for number, (action, seat, text) in enumerate(zip(replay.actions, replay.seats, replay.texts, strict=True), 1):
        if position.over:
            raise ReplayError(f"decision {number}: the game is already over")
        if seat != position.seat:
            raise ReplayError(f"decision {number}: seat {seat} is recorded, but seat {position.seat} decides")
        try:
            position = position.apply(action)
        except IllegalAction as problem:
            raise ReplayError(f"decision {number}: {problem}") from problem
        if text != config.actions.text(action):
            raise ReplayError(
                f"decision {number}: {_quote(text)} is recorded, but id {action} reads {config.actions.text(action)!r}"
            )
    if replay.final is None:
        if position.over:
            raise ReplayError("the game is over, but the replay has no closing line")
        return position
    if not position.over:
        decisions = counted(len(replay.actions), "decision")
        raise ReplayError(f"the closing line comes after {decisions}, but the game is not over")
    for name, value in closing(position, len(replay.actions)).items():
        if replay.final.get(name) != value:
            found = _quote(replay.final.get(name))
            raise ReplayError(f"the closing line has {name} = {found}, the game played again has {value!r}")
    return position
