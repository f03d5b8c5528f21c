"""Any configuration of a game: players, options, and component files that nobody would write and every loader accepts.

Such a file is the end of a random walk from the game's own file.

A step changes one value: a number, a word for another one of the same column, an instruction of a program, two rows
that change places in a column. The loader judges each step; what it refuses has to be a :class:`ComponentError` or an
:class:`OptionError`, and the step is taken back.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from kepler_envs import ComponentError, Configuration, Game, OptionError
from tests.component_file import own_rows, write_rows

NUMBERS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 99, 120, 127, 128, 255)
UNTOUCHED = ("id", "prov", "meaning", "game", "title")
"""Keys whose values are names of rows, or words for people."""

Place = tuple[Any, str | int]
"""A container and the key of a value in it."""


def choose_configuration(game: Game, random: Random, folder: Path, tried: Counter[str]) -> Configuration:
    """Any number of players, any options, and for every second a component file that nobody has seen."""
    path = folder / "generated.toml" if random.random() < 0.5 else None
    while True:
        players = random.randint(game.min_players, game.max_players)
        options = {}
        for option in game.option_list:
            if random.random() < 0.3:
                values = list(option.choices)
                if option.number is not None:
                    values += [option.low, option.high, option.number(random.uniform(option.low, option.high))]
                if values:
                    options[option.name] = random.choice(values)
        try:
            config = game.configure(players, **options)
            if path is None:
                return config
            return generate(game, random, path, partial(game.configure, players, path, **options), tried)
        except OptionError:
            continue  # values that do not go together


def generate(
    game: Game, random: Random, path: Path, configure: Callable[[], Configuration], tried: Counter[str]
) -> Configuration:
    """Write a legal file for ``game`` to ``path``; the configuration made from it.

    Args:
        configure: reads ``path`` and makes the configuration.
        tried: counts the files that were tried, by what became of them.
    """
    data = own_rows(game.name)
    write_rows(path, data)
    configure()
    for _ in range(random.choice((1, 3, 10, 30))):
        changed = copy.deepcopy(data)
        change(changed, random)
        write_rows(path, changed)
        try:
            configure()
        except (ComponentError, OptionError):
            tried["component files refused"] += 1
            continue
        tried["component files accepted"] += 1
        data = changed
    write_rows(path, data)
    return configure()


def change(data: dict[str, Any], random: Random) -> None:
    """Change one value of a parsed file in place."""
    places = list(_places(data))
    container, key = random.choice(places)
    value = container[key]
    if type(value) is int:
        container[key] = random.choice((*NUMBERS, value + 1, value - 1, value * 2))
    elif type(value) is bool:
        container[key] = not value
    elif isinstance(value, list):
        _change_list(value, random)
    else:
        container[key] = copy.deepcopy(random.choice([other[name] for other, name in places if name == key]))


def _change_list(values: list[Any], random: Random) -> None:
    """Drop an item, repeat one up to a dozen times, or exchange two."""
    if not values:
        return
    one, other = random.randrange(len(values)), random.randrange(len(values))
    kind = random.randrange(3)
    if kind == 0:
        del values[one]
    elif kind == 1:
        values[one:one] = [copy.deepcopy(values[one]) for _ in range(random.choice((1, 2, 12)))]
    else:
        values[one], values[other] = values[other], values[one]


def _places(container: Any) -> list[Place]:
    """Every value that may change, lists of values and lists of rows included."""
    found: list[Place] = []
    pairs = container.items() if isinstance(container, dict) else enumerate(container)
    for key, value in pairs:
        if key in UNTOUCHED:
            continue
        if isinstance(value, dict):
            found += _places(value)
        elif isinstance(value, list):
            found.append((container, key))
            found += _places(value)
        elif isinstance(value, (int, str)):
            found.append((container, key))
    return found
