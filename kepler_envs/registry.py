"""The registry of games: those of this package, those of installed packages, and those registered by hand.

A package brings a game of its own by an entry point of the group ``kepler_envs.games``, whose value names its
:class:`Game`:

    [project.entry-points."kepler_envs.games"]
    my_game-v0 = "my_package.my_game:GAME"

Nothing of a game is imported before it is asked for.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from kepler_envs.engine.checks import check_type
from kepler_envs.engine.game import NAME_OF_GAME, Configuration, Game, UnknownOptionError, game_of

ENTRY_POINTS = "kepler_envs.games"
"""The group of entry points by which an installed package brings games.

The name of an entry point is a game's id, its value ``module:GAME``.
"""

OWN_IDS = ("kitten_adventurers-v1", "kepler_run-v1", "ad_astra-v1", "race_to_kepler-v1", "kepler_3042-v1")
"""The ids of this package's games: folder below ``kepler_envs/games`` and version, in the order of the README."""

NAMESPACE = "kepler/"
"""What stands before the ids in the registries of PettingZoo and Gymnasium."""

_registered: dict[str, Game] = {}


class UnknownGame(KeyError):
    """There is no game of that name, or not in that version. The message names all that there are."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would put it in quotes


class BrokenGame(ImportError):
    """An installed package brings the game, but it cannot be loaded, or is not a :class:`Game` of that id.

    The message names the package and the reason.
    """


def list_games() -> tuple[str, ...]:
    """List the names of all games: this package's, then those of installed packages, then those registered by hand."""
    return tuple(map(name_of, list_ids()))


def list_ids() -> tuple[str, ...]:
    """List the ids of all games, such as ``kitten_adventurers-v1``, in the same order."""
    return tuple(_loaders()) + tuple(game.id for game in _registered.values())


def load_game(name: str) -> Game:
    """Load the game called ``name``. The version may be given, too: ``kitten_adventurers-v1``.

    So may the namespace that it has in other libraries: ``kepler/kitten_adventurers-v1``.

    Raises:
        UnknownGame: there is no such game.
        BrokenGame: an installed package brings it, but it cannot be loaded.
        TypeError: ``name`` is no text.
    """
    check_type("the name of a game", name, str)
    wanted, versioned, version = name.removeprefix(NAMESPACE).partition("-v")
    found = _registered.get(wanted) or _load_listed(wanted)
    if found is None:
        raise UnknownGame(f"no game {name!r}; there are: {', '.join(list_games())}")
    if versioned and version != str(found.version):
        raise UnknownGame(f"no version {version!r} of {wanted}; there is: {found.id}")
    return found


def configure(
    name: str, num_players: int | None, components: str | Path | None, options: dict[str, Any], also: Sequence[str]
) -> Configuration:
    """The configuration for a function that takes a game's options beside arguments of its own, ``also``.

    Raises:
        UnknownGame: there is no such game; a KeyError.
        BrokenGame: an installed package brings it, but it cannot be loaded; an ImportError.
        TypeError: ``name`` is no text.
        UnknownOptionError: there is no such option. The message names those arguments, too.
        OptionError: a value is not allowed.
        ComponentError: the component file is wrong.
    """
    try:
        return load_game(name).configure(num_players, components, **options)
    except UnknownOptionError as problem:
        raise UnknownOptionError(f"{problem}, {', '.join(also)}", problem.names) from None


def load_games() -> list[Game]:
    """Load all games. One that cannot be loaded is left out, with a warning."""
    games = []
    for name in list_games():
        try:
            games.append(load_game(name))
        except BrokenGame as problem:
            warnings.warn(str(problem), RuntimeWarning, stacklevel=2)
    return games


def register(game: Game) -> bool:
    """Make a game known by its name in this process. Returns False if it was known already.

    An entry point makes it known in all processes.

    Raises:
        TypeError: it is not a :class:`Game`, or not the ``GAME`` of its module, by which other processes find it.
        ValueError: there is another game of that name.
    """
    if not isinstance(game, Game):
        raise TypeError(f"{game!r} is not a Game")
    if not _is_exported(game):
        raise TypeError(
            f"{game.id} must be {NAME_OF_GAME} of its module {game.module!r}, by which other processes find it"
        )
    if game.name not in list_games():
        _registered[game.name] = game
        return True
    known = load_game(game.name)
    if known is not game:
        raise ValueError(f"there is another game {known.id}, of {known.module}")
    return False


def _is_exported(game: Game) -> bool:
    """Whether a game is what its module exports."""
    try:
        module = importlib.import_module(game.module)
    except (ImportError, TypeError, ValueError):  # the last two: a text that names no module
        return False
    return getattr(module, NAME_OF_GAME, None) is game


def name_of(game_id: str) -> str:
    """``kitten_adventurers`` of ``kitten_adventurers-v1``, ``kepler/kitten_adventurers-v1`` or that name itself."""
    return game_id.removeprefix(NAMESPACE).partition("-v")[0]


def _load_listed(name: str) -> Game | None:
    for game_id, load in _loaders().items():
        if name_of(game_id) == name:
            return load()
    return None


@cache
def _loaders() -> dict[str, Callable[[], Game]]:
    """The function that loads each game, by its id.

    Of two games with the same name the first one counts, with a warning. This package's own come first.
    """
    loaders: dict[str, Callable[[], Game]] = {
        game_id: partial(game_of, f"kepler_envs.games.{name_of(game_id)}") for game_id in OWN_IDS
    }
    names = set(map(name_of, OWN_IDS))
    for point in sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        name = name_of(point.name)
        if name in names:
            warnings.warn(f"{point.value} is not used: there is another game {name}", stacklevel=2)
            continue
        if point.name == name:
            warnings.warn(f"{point.value} is not used: its id {name} has no version, as in {name}-v0", stacklevel=2)
            continue
        names.add(name)
        loaders[point.name] = partial(_load_point, point)
    return loaders


def _load_point(point: EntryPoint) -> Game:
    package = f" of {point.dist.name} {point.dist.version}" if point.dist else ""
    try:
        found = point.load()
    except Exception as problem:
        raise BrokenGame(f"{point.name}{package} cannot be loaded: {type(problem).__name__}: {problem}") from problem
    if not isinstance(found, Game) or found.id != point.name:
        raise BrokenGame(f"{point.name}{package} is not a Game of that id, but {found!r}")
    return found
