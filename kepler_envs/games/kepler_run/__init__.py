"""Kepler Run: two to five players draft cards, fly along a growing run of sectors and race for Kepler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kepler_envs.engine.game import Option, OptionError, make_game, record_array
from kepler_envs.engine.returns import reward_mode_option
from kepler_envs.games.kepler_run import actions, components, observation, picture, rules, setup, state
from kepler_envs.games.kepler_run.state import (
    OPTIONS,
    RANDOM_FIRST_PLAYER,
    REWARD_MODES,
    RUN_SLOTS,
    SOURCES,
)

OPTION_LIST = (
    Option("seat_fuel", False, "whether ships start with fuel according to the starting order", (False, True)),
    Option("first_player", "random", "who starts", ("random", "seat0")),
    reward_mode_option(REWARD_MODES),
    Option("shaping", 0.0, "shaping reward per point gained above the mean, paid when a round ends", (), float, 0, 1),
)


def resolve_options(tables: np.void, num_players: int, values: Mapping[str, Any]) -> np.ndarray:
    """Turn checked option values into the options record that the rules read. Raises OptionError if the cards do not
    suffice."""
    needed = int(tables["initial_run"]) + int(tables["rounds"]) * (2 * num_players + 1)
    most = min(int(tables["cards_total"]), RUN_SLOTS)
    if needed > most:
        raise OptionError(
            f"kepler_run: {num_players} players need {needed} cards (initial_run + rounds * (2 * players + 1)); "
            f"allowed with this component file: at most {most}"
        )
    options = np.zeros(1, OPTIONS)
    record = options[0]
    record["num_players"] = num_players
    record["first_player"] = RANDOM_FIRST_PLAYER if values["first_player"] == "random" else 0
    record["seat_fuel"] = values["seat_fuel"]
    record["reward_mode"] = REWARD_MODES.index(values["reward_mode"])
    record["shaping"] = values["shaping"]
    return record_array(options)


def info(state: np.void, tables: np.void, seat: int) -> dict[str, Any]:
    """The infos of a seat: ``vp``, ``ship_fuel``, ``vp_<source>`` for each source, ``decisions`` and ``round``."""
    player = state["player"][seat]
    return {
        "vp": int(player["vp"]),
        "ship_fuel": int(player["fuel"]),
        **{f"vp_{source}": int(points) for source, points in zip(SOURCES, player["vp_from"], strict=True)},
        "decisions": int(state["decisions"]),
        "round": int(state["round_index"]),
    }


GAME = make_game(
    __name__,
    title="Kepler Run",
    version=1,
    default_players=4,
    max_decisions=435,
    option_list=OPTION_LIST,
    resolve_options=resolve_options,
    info=info,
    state=state,
    components=components,
    actions=actions,
    setup=setup,
    rules=rules,
    observation=observation,
    picture=picture,
)
