"""What the contract tests run on: every game at every player count, and each game's own hooks.

A game's tests provide ``tests/games/<game>/invariants.py``. A game of another package brings ``invariants.py`` in a
package beside it, ``<package>_checks``. It has

    check_invariants(state, config)                AssertionError if the state breaks a rule
    check_decision(before, action, after, config)  the same for a decision (optional)
    EAGER                                          ids that move the game on; random games prefer them
    HIDES                                          whether the game has hidden cards (optional, True)
    REVEALS                                        pieces of the observation in which hidden things come to light
    ASKS_TELL                                      whether a hidden thing can decide that a seat is asked
                                                   (optional, False)
    possible_nodes(config)                         nodes that random games reach (optional, all but OVER)
    PLAYTHROUGH_OPTIONS                            options that keep golden playthroughs short (optional)
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from typing import Any

import numpy as np
import pytest

import kepler_envs
from kepler_envs import Configuration, Game, OptionError, Snapshot
from kepler_envs.registry import OWN_IDS, list_games
from tests.choosing import Chooser, eager, uniform
from tests.effort import only_deep


@dataclass(frozen=True)
class Hooks:
    """What a game's tests tell about the game."""

    check_invariants: Callable[[Any, Configuration], None]
    check_decision: Callable[[Any, int, Any, Configuration], None]
    eager_ids: frozenset[int]
    hides: bool
    reveals: tuple[str, ...]
    asks_tell: bool
    possible_nodes: Callable[[Configuration], set[Any]]
    playthrough_options: dict[str, Any]


def checks_name(game: Game, name: str) -> str:
    """Where a module of a game's tests is: in this repository, or in the package beside that of another's game."""
    return f"tests.games.{game.name}.{name}" if game.id in OWN_IDS else f"{game.module}_checks.{name}"


def checks_of(game: Game, name: str) -> Any:
    """A module of a game's tests."""
    return importlib.import_module(checks_name(game, name))


def is_tiny(game: Game) -> bool:
    """Whether a game may have few hands and short games: those of other packages may, this repository's do not."""
    return game.id not in OWN_IDS


def hooks_of(game: Game) -> Hooks:
    """The hooks in a game's invariants.py."""
    module = checks_of(game, "invariants")
    return Hooks(
        module.check_invariants,
        getattr(module, "check_decision", lambda *_: None),
        frozenset(module.EAGER),
        getattr(module, "HIDES", True),
        module.REVEALS,
        getattr(module, "ASKS_TELL", False),
        getattr(module, "possible_nodes", _all_nodes),
        getattr(module, "PLAYTHROUGH_OPTIONS", {}),
    )


def _all_nodes(config: Configuration) -> set[Any]:
    return {node for node in config.game.nodes if node.name != "OVER"}


def check_sum(config: Configuration, rewards: Any) -> None:
    """What one wins the others lose; only who plays alone wins or loses on his own. The last axis is the seats."""
    if config.num_players > 1:
        assert np.abs(np.sum(rewards, axis=-1)).max() < 1e-5, f"what all seats are paid must sum to 0: {rewards}"


def _few_counts(game: Game) -> list[int]:
    """The fewest, the default and the most players."""
    return sorted({game.min_players, game.default_players, game.max_players})


def _configurations() -> Iterator[Any]:
    """Every player count. Those that are not among the few say nearly the same as their neighbours."""
    for name in list_games():
        game = kepler_envs.load_game(name)
        for players in range(game.min_players, game.max_players + 1):
            marks = [] if players in _few_counts(game) else [only_deep]
            yield pytest.param(game.configure(players), id=f"{name}-{players}", marks=marks)


def _few_configurations() -> Iterator[Any]:
    """For what takes long."""
    for name in list_games():
        game = kepler_envs.load_game(name)
        for players in _few_counts(game):
            yield pytest.param(game.configure(players), id=f"{name}-{players}")


def variations(game: Game) -> Iterator[Configuration]:
    """The game with each allowed word of each option once, and with shaping if it has that.

    An option that is not for the default number of players is tried with the fewest.
    """
    for option in game.option_list:
        values = [choice for choice in option.choices if choice != option.default]
        if option.name == "shaping":
            values.append(0.25)
        for value in values:
            for players in (game.default_players, game.min_players):
                try:
                    yield game.configure(players, **{option.name: value})
                except OptionError:
                    continue  # allowed for other player counts only
                break


def _variations() -> Iterator[Any]:
    for name in list_games():
        for config in variations(kepler_envs.load_game(name)):
            changed = {key: value for key, value in config.values.items() if value != _default(config.game, key)}
            yield pytest.param(config, id=f"{name}-" + "-".join(f"{key}={value}" for key, value in changed.items()))


def _default(game: Game, name: str) -> Any:
    return next(option.default for option in game.option_list if option.name == name)


every_game = pytest.mark.parametrize(
    "game", [pytest.param(kepler_envs.load_game(name), id=name) for name in list_games()]
)
every_player_count = pytest.mark.parametrize("config", list(_configurations()))
few_player_counts = pytest.mark.parametrize("config", list(_few_configurations()))
every_option = pytest.mark.parametrize("config", list(_variations()))


def chooser(config: Configuration, seed: int) -> Chooser:
    """Even seeds play eagerly, odd ones uniformly."""
    return uniform(seed) if seed % 2 else eager(seed, hooks_of(config.game).eager_ids)


def make(config: Configuration, **arguments: Any) -> kepler_envs.KeplerEnv:
    """An environment of a configuration, through the public door."""
    return kepler_envs.make(config.game.id, **config.describe(), **arguments)


def play(config: Configuration, seed: int) -> Iterator[tuple[Snapshot, int]]:
    """A random game: each position with the id chosen there, at last the final position with -1."""
    choose = chooser(config, seed)
    position = Snapshot.deal(config, seed)
    while not position.over:
        action = choose(position.legal_actions())
        yield position, action
        position = position.apply(action)
    yield position, -1


def field_paths(dtype: np.dtype, before: str = "") -> Iterator[str]:
    """The paths of all fields, those of nested records included, less the views that overlay other fields."""
    seen: set[int] = set()
    for name in dtype.names or ():
        inner, offset = dtype.fields[name][:2]  # type: ignore[index]
        covered = range(offset, offset + inner.itemsize)
        if not seen.isdisjoint(covered):
            continue  # an overlay: a row of fields that are there by their own names
        if inner.base.names:
            yield from field_paths(inner.base, f"{before}{name}.")
        else:
            yield f"{before}{name}"
        seen.update(covered)


def differing_fields(one: Snapshot, other: Snapshot) -> list[str]:
    """The paths of the fields in which two states differ."""
    return [
        path
        for path in field_paths(one.config.game.state)
        if not np.array_equal(*(reduce(getitem, path.split("."), position.states) for position in (one, other)))
    ]
