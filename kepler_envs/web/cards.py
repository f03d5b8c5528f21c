"""Component files that games of a server can be set up with, beside the games' own. Pages know them by name, so that
nobody sees where they lie."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from kepler_envs import registry
from kepler_envs.engine.components import game_of
from kepler_envs.engine.game import ComponentError, Configuration, Game, OptionError
from kepler_envs.printable import printable_name
from kepler_envs.web.views import bots_to_ask


@dataclass(frozen=True)
class Cards:
    """A component file, and a configuration with it.

    Attributes:
        path: the file, also for a server that is started again elsewhere.
        config: a game with a number of players that the file allows, the default one if it does. The file may change
            later.
    """

    path: Path
    config: Configuration

    @property
    def game(self) -> str:
        """The name of the game that they are for."""
        return self.config.game.name

    @property
    def bots(self) -> list[str]:
        """The bots that a page offers to play with these cards."""
        return [*bots_to_ask(self.game, self.config), "uniform"]

    @property
    def present_digest(self) -> str:
        """The digest of the tables in the file as it is now, "" if it is no component file any more."""
        try:
            return _configured(self.config.game, self.path).components_digest
        except (ComponentError, OptionError):
            return ""


NO_CARDS: Mapping[str, Cards] = {}


def cards_of(paths: Iterable[Path]) -> dict[str, Cards]:
    """The cards of these files by name: that of the file, with a number if it is taken.

    Raises:
        ComponentError: a file cannot be read, is for a game that is not installed, or breaks a rule of its game.
        OptionError: it allows no number of players.
    """
    found: dict[str, Cards] = {}
    for path in paths:
        try:
            game = registry.load_game(game_of(path))
        except registry.UnknownGame as problem:
            raise ComponentError(f"{path}: {problem}") from problem
        found[_free_name(path, found)] = Cards(path.absolute(), _configured(game, path.absolute()))
    return found


def _free_name(path: Path, taken: Collection[str]) -> str:
    """A name for a file that no other one has. JSON holds it, even if the file's own is not UTF-8."""
    name = printable_name(path.name)
    names = (f"{name} ({number})" if number > 1 else name for number in count(1))
    return next(name for name in names if name not in taken)


def _configured(game: Game, path: Path) -> Configuration:
    """A game with these cards. A file need not allow the default number of players."""
    try:
        return game.configure(components=path)
    except OptionError:
        for players in range(game.min_players, game.max_players + 1):
            with suppress(OptionError):
                return game.configure(players, path)
        raise
