"""What several commands share: how they are parsed, the arguments that name a game, a file that can be written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

import tyro
from tyro.conf import FlagCreatePairsOff, Positional, UseAppendAction, arg

from kepler_envs.engine.game import Configuration, read_value
from kepler_envs.engine.seeds import check_seed, fresh_seed
from kepler_envs.files import check_writable, prepare_streams
from kepler_envs.registry import load_game

T = TypeVar("T")

LEAST_WIDTH = 40
"""Columns of a help. In very few ones tyro would go on breaking lines for ever."""


def parse(command: type[T], module: str, about: str | None, arguments: Sequence[str] | None = None) -> T:
    """What the command line of ``python -m MODULE`` asks for, as a ``command``: a dataclass, or a union of some.

    Its flags have no opposites. Without ``arguments`` they are those of this process.
    """
    prepare_streams()
    config = (FlagCreatePairsOff,)
    return read_arguments(command, prog=f"python -m {module}", description=about, args=arguments, config=config)


def read_arguments(command: Any, **asked: Any) -> Any:
    """What ``tyro.cli`` makes of the command line. Its help has at least :data:`LEAST_WIDTH` columns."""
    if shutil.get_terminal_size().columns >= LEAST_WIDTH:
        return tyro.cli(command, **asked)
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(LEAST_WIDTH)
    try:
        return tyro.cli(command, **asked)
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


def optional(metavar: str, **more: Any) -> Any:
    """What an argument takes whose help says in words what leaving it out means, in place of ``(default: None)``."""
    return arg(metavar=metavar, help_behavior_hint="", **more)


Flag = Annotated[bool, arg(help_behavior_hint="")]
"""An option without a value, so that none is shown as its default."""
GameName = Annotated[Positional[str], arg(metavar="GAME")]
Options = Annotated[UseAppendAction[tuple[str, ...]], arg(metavar="KEY=VALUE")]
"""``--option KEY=VALUE``, once for each option."""
OnRay = Annotated[tuple[str, ...] | None, optional(metavar="[ADDRESS]")]
"""``--ray`` or ``--ray ADDRESS``."""
NO_CHOICES: Mapping[str, Iterable[Any]] = {}


class UsageError(Exception):
    """What the command line asks for is not possible; the message says what is."""


class AgentFailed(Exception):
    """An agent did not decide as the rules ask; the message says which one, and how."""


@dataclass(frozen=True)
class GameArguments:
    game: GameName
    """Name of the game; `kepler-envs list` prints them all."""
    players: Annotated[int | None, optional(metavar="N")] = None
    """Number of players; the game's default otherwise."""
    option: Options = ()
    """Set an option of the game. `kepler-envs show GAME` lists them."""
    components: Annotated[Path | None, optional(metavar="FILE")] = None
    """Your own component file, in place of the game's components.toml."""

    def configure(self) -> Configuration:
        """Configure the game as asked for."""
        game = load_game(self.game)
        choices = {option.name: option.choices for option in game.option_list}
        return game.configure(self.players, self.components, **parse_options(self.option, choices))


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Import what an extra brings, or say how to install it."""
    try:
        yield
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] == "kepler_envs":
            raise
        raise UsageError(f"this needs {problem.name}: pip install 'kepler_envs[{extra}]'") from problem


def parse_options(pairs: Iterable[str], choices: Mapping[str, Iterable[Any]] = NO_CHOICES) -> dict[str, Any]:
    """Turn ``key=value`` pairs into keyword arguments: one of an option's choices, numbers where a value reads as one,
    else text."""
    options: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not (name.isidentifier() and equals):
            raise UsageError(f"--option {pair!r} must read key=value, for example --option hand_size=5")
        if name in ("num_players", "components"):
            raise UsageError(f"--option {pair!r}: write --{name.removeprefix('num_')} {value or '...'} instead")
        if name in options:
            raise UsageError(f"--option {name} is given twice")
        options[name] = read_value(value, choices.get(name, ()))
    return options


def choose_seed(seed: int | None) -> int:
    """Return the seed that is asked for, or one from the system."""
    if seed is None:
        return fresh_seed()
    try:
        return check_seed(seed)
    except ValueError as problem:
        raise UsageError(str(problem)) from None


def check_folder(option: str, path: Path) -> None:
    """Check that what an option names is a folder, or that one can be made there."""
    found = next(part for part in (path, *path.parents) if part.exists())
    if not found.is_dir():
        raise UsageError(f"{option} {found} is a file; name a folder")


def check_source(option: str, path: Path) -> None:
    """Check that what an option names is a file that can be read more than once."""
    if path.is_dir():
        raise UsageError(f"{option} {path} is a folder; name a file")
    if not path.exists():
        raise UsageError(f"{option} {path}: there is no such file")
    if not path.is_file():
        raise UsageError(f"{option} {path} is a pipe or a device; name a file")


def check_target(path: Path | None) -> None:
    """Check that a file can be written there, before a game is played rather than after it."""
    if path is None:
        return
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no folder {path.parent}")
    check_writable(path)
