"""The games of a run, from its settings."""

from __future__ import annotations

from typing import Any

import kepler_envs
from agents.settings import TrainConfig, player_range
from kepler_envs.bots.greedy import greedy_games
from kepler_envs.bots.protocol import BotError
from kepler_envs.engine.game import REWARD_OPTIONS, Configuration, Game


def game_configurations(config: TrainConfig) -> list[Configuration]:
    """The games to train on, one configuration per player count, ascending. OptionError or KeyError say what is
    allowed."""
    game: Game = kepler_envs.load_game(config.game)
    options = dict(_option(text) for text in config.option)
    if any(option.name == "shaping" for option in game.option_list):
        options.setdefault("shaping", config.shaping)
    counts = player_range(config.players) or [game.default_players]
    if len(counts) > 1 and config.seat != "pool":
        raise BotError(f"--players {config.players} needs --seat pool; with --seat {config.seat} write one number")
    return [game.configure(players, **options) for players in counts]


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise BotError(f"--option {text!r} is not allowed; write name=value")
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


def exists(spec: str, games: Configuration) -> bool:
    """Whether a bot exists for this game. Not every game has greedy, and defaults that name it do without."""
    return spec != "greedy" or games.game.name in greedy_games()


def without_rewards(config: Configuration) -> Configuration:
    """The same games with default rewards."""
    values = {name: value for name, value in config.values.items() if name not in REWARD_OPTIONS}
    return config.game.configure(config.num_players, config.components, **values)
