"""The games of a run, from its settings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import kepler_envs
from agents.settings import TrainConfig, player_range
from kepler_envs.bots.greedy import greedy_games
from kepler_envs.bots.protocol import BotError
from kepler_envs.engine.game import REWARD_OPTIONS, Configuration, Game, read_value

SET_OTHERWISE = {
    "num_players": "--players sets it",
    "components": "--components sets it",
    "shaping": "--shaping sets it",
}
"""Arguments of a configuration that are no ``--option`` of a run, and what to do instead."""


def game_configurations(config: TrainConfig) -> list[Configuration]:
    """The games to train on: for each player count, ascending, every combination of the options' values.

    The combinations come in one order, whatever order options and values were written in.

    Raises:
        UnknownGame, OptionError, ComponentError, BotError: there are no such games; the message says what is allowed.
    """
    game: Game = kepler_envs.load_game(config.game)
    choices = {option.name: option.choices for option in game.option_list}
    asked: dict[str, list[Any]] = {"shaping": [config.shaping]} if "shaping" in choices else {}
    for text in config.option:
        name, values = _option(text, choices)
        if name in asked:
            raise BotError(f"--option {name} is given twice; write several values as {name}=value,value")
        asked[name] = sorted(values, key=partial(_place, choices=choices.get(name, ())))
    options = {name: asked[name] for name in (*choices, *asked) if name in asked}
    first, last = player_range(config.players) or (game.default_players, game.default_players)
    if first < last and config.seat != "pool":
        raise BotError(f"--players {config.players} needs --seat pool; with --seat {config.seat} write one number")
    if config.seat == "single" and any(len(values) > 1 for values in options.values()):
        raise BotError("several values of an option need --seat shared or --seat pool")
    return [
        game.configure(players, config.components, **dict(zip(options, values, strict=True)))
        for players in range(first, last + 1)
        for values in product(*options.values())
    ]


def _option(text: str, choices: Mapping[str, Sequence[Any]]) -> tuple[str, list[Any]]:
    """An option's name, and the values that it takes in turn."""
    name, equals, written = text.partition("=")
    if not equals:
        raise BotError(f"--option {text!r} is not allowed; write name=value, or name=value,value")
    if name in SET_OTHERWISE:
        raise BotError(f"--option {text} is not allowed; {SET_OTHERWISE[name]}")
    words = written.split(",")
    if name in REWARD_OPTIONS and len(words) > 1:
        raise BotError(
            f"--option {text} is not allowed; write one value of an option that only changes how a game is paid"
        )
    values = [read_value(word, choices.get(name, ())) for word in words]
    for number, value in enumerate(values):
        if value in values[:number]:
            raise BotError(f"--option {text} names {words[number]} twice")
    return name, values


def _place(value: Any, choices: Sequence[Any]) -> tuple[int, float, str]:
    """What the values of an option are sorted by: choices as the game lists them, then numbers, then all else."""
    listed = choices.index(value) if value in choices else len(choices)
    return listed, value if isinstance(value, (int, float)) else math.inf, str(value)


def exists(spec: str, games: Configuration) -> bool:
    """Whether a bot exists for this game. Not every game has greedy, and defaults that name it do without."""
    return spec != "greedy" or games.game.name in greedy_games()


def without_rewards(config: Configuration) -> Configuration:
    """The same games with default rewards."""
    values = {name: value for name, value in config.values.items() if name not in REWARD_OPTIONS}
    return config.game.configure(config.num_players, config.components, **values)


def distinct(values: Iterable[Any]) -> list[Any]:
    """The different values, in the order in which they come."""
    return list(dict.fromkeys(values))
