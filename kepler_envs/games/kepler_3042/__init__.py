"""Kepler-3042: one to four nations explore the galaxy in sixteen rounds, colonise and terraform planets; with solo
campaigns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kepler_envs.engine.game import Option, OptionError, make_game, record_array
from kepler_envs.games.kepler_3042 import actions, components, observation, picture, rules, setup, state
from kepler_envs.games.kepler_3042.rules_scoring import TERMS
from kepler_envs.games.kepler_3042.state import (
    MAX_CONVERSIONS,
    NUM_CAMPAIGNS,
    NUM_LEVELS,
    OPTIONS,
)

SOLO_PLANETS = {18: 1, 20: 2}
"""Planets of the solo game -> the group of tiles that is used."""

OPTION_LIST = (
    Option("objectives", "standard", "which set of objectives is dealt (2 to 4 players)", ("standard", "advanced")),
    Option("reward_mode", "rank", "final rewards depend on winning or on the rank (2 to 4 players)", ("win", "rank")),
    Option("campaign", 0, "solo: which campaign is played", (), int, 0, NUM_CAMPAIGNS - 1),
    Option("level", 1, "solo: which level of the campaign is played", (), int, 1, NUM_LEVELS),
    Option("bonus", 0,
           "solo: bonus cubes of energy or matter, carried over from the previous level", (), int, 0, MAX_CONVERSIONS),
    Option("solo_planets", 18, "solo: number of planets on the map", tuple(SOLO_PLANETS)),
    Option("shaping", 0.0,
           "shaping reward for points above the mean of the others, divided by 60; solo: for points, divided by the "
           "minimum score",
           (), float, 0, 1),
)  # fmt: skip
FOR_SOLO = ("campaign", "level", "bonus", "solo_planets")
FOR_SEVERAL = ("objectives", "reward_mode")


def resolve_options(tables: np.void, num_players: int, values: Mapping[str, Any]) -> np.ndarray:
    """Turn checked option values into the options record that the rules read. Raises OptionError for options of the
    other kind of game."""
    defaults = {option.name: option.default for option in OPTION_LIST}
    for name in FOR_SEVERAL if num_players == 1 else FOR_SOLO:
        if values[name] != defaults[name]:
            who = "2 to 4 players" if num_players == 1 else "the solo game"
            raise OptionError(
                f"kepler_3042: option {name} = {values[name]!r} is for {who} only; allowed here: {defaults[name]!r}"
            )
    options = np.zeros(1, OPTIONS)
    record = options[0]
    record["num_players"] = num_players
    record["shaping"] = values["shaping"]
    if num_players == 1:
        _fix_solo(record, values, tables)
    else:
        record["tile_group"] = num_players
        record["advanced"] = values["objectives"] == "advanced"
        record["win_loss"] = values["reward_mode"] == "win"
    return record_array(options)


def _fix_solo(record: Any, values: Mapping[str, Any], tables: np.void) -> None:
    most = int(tables["bonus_cube_cap"])
    if values["bonus"] > most:
        raise OptionError(
            f"kepler_3042: option bonus = {values['bonus']} is not allowed; allowed: an integer 0..{most}"
        )
    record["campaign"] = values["campaign"] + 1
    record["level"], record["bonus"] = values["level"], values["bonus"]
    record["tile_group"] = SOLO_PLANETS[values["solo_planets"]]


def info(state: np.void, tables: np.void, seat: int) -> dict[str, Any]:
    """The infos of a seat: ``round``, and ``final_vp``, ``vp_<term>`` for each term of the score, and
    ``objective_done``, which are 0 until the game is scored.

    The solo game adds ``success``, ``next_level`` and ``next_bonus``. These are the options of the next episode; after
    a failure they are those of this one, to try again.
    """
    player = state["player"][seat]
    sheet = {term: int(points) for term, points in zip(TERMS, player["score_sheet"], strict=True)}
    found: dict[str, Any] = {"round": int(state["round_number"]), "final_vp": sum(sheet.values())}
    found |= {f"vp_{term}": points for term, points in sheet.items()}
    found["objective_done"] = bool(player["objectives_done"])
    if state["num_players"] == 1:
        found |= campaign_result(state, tables, found["final_vp"], found["objective_done"])
    return found


def campaign_result(state: np.void, tables: np.void, points: int, objectives_done: bool) -> dict[str, Any]:
    """Whether a solo game reached its level, and the options ``level`` and ``bonus`` that follow."""
    level = int(state["level"])
    minimum = int(tables["minimum_score"][level])
    if not (objectives_done and points >= minimum):
        return {"success": False, "next_level": level, "next_bonus": int(state["bonus_cubes"])}
    if level == NUM_LEVELS:
        return {"success": True, "next_level": level, "next_bonus": 0}
    cubes = (points - minimum) // int(tables["bonus_points_per_cube"])
    return {"success": True, "next_level": level + 1, "next_bonus": min(cubes, int(tables["bonus_cube_cap"]))}


GAME = make_game(
    __name__,
    title="Kepler-3042",
    version=1,
    default_players=2,
    max_decisions=4096,
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
