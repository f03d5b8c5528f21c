"""Race to Kepler: two to four players build decks of crew, run their cities and bid for titans on the way to Kepler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kepler_envs.engine.game import Option, OptionError, make_game, record_array
from kepler_envs.engine.returns import reward_mode_option
from kepler_envs.games.race_to_kepler import actions, components, observation, picture, rules, setup, state
from kepler_envs.games.race_to_kepler.components import NUMBERS
from kepler_envs.games.race_to_kepler.state import (
    FIRST_CREW,
    FIRST_TITAN,
    OPTIONS,
    REWARD_MODES,
    EndReason,
)

FROM_FILE = "file"
OPTION_LIST = (
    Option("max_rounds", FROM_FILE,
           "number of rounds after which the game ends without a winner; the component file gives the default",
           (FROM_FILE,), int, *NUMBERS["round_cap"]),
    reward_mode_option(REWARD_MODES),
    Option("shaping", 0.0, "shaping reward for parsecs ahead of the mean of the others, as a share of those that win",
           (), float, 0, 1),
)  # fmt: skip


def resolve_options(tables: np.void, num_players: int, values: Mapping[str, Any]) -> np.ndarray:
    """Turn checked option values into the options record that the rules read. Raises OptionError if the cards do not
    suffice."""
    cities, needed = int(tables["cities"]).bit_count(), num_players * int(tables["cities_dealt"])
    if cities < needed:
        raise OptionError(
            f"race_to_kepler: {num_players} players need {needed} cities; the component file has {cities}"
        )
    crew = int(tables["card"]["copies"][FIRST_CREW:FIRST_TITAN].sum())
    least = int(tables["supply_size"]) + num_players
    if crew < least:
        raise OptionError(
            f"race_to_kepler: {num_players} players need {least} crew cards; the component file has {crew}"
        )
    options = np.zeros(1, OPTIONS)
    record = options[0]
    record["num_players"] = num_players
    record["max_rounds"] = tables["round_cap"] if values["max_rounds"] == FROM_FILE else values["max_rounds"]
    record["reward_mode"] = REWARD_MODES.index(values["reward_mode"])
    record["shaping"] = values["shaping"]
    return record_array(options)


def info(state: np.void, tables: np.void, seat: int) -> dict[str, Any]:
    """The infos of a seat: its ``parsecs`` and ``turns_taken``, the complete rounds as ``round``, ``end_reason``
    (:class:`EndReason`) and ``decisions``.

    ``decisions`` counts those of the game. It is 0 while the game runs, because the count would give cards away.
    """
    player = state["player"][seat]
    return {
        "parsecs": int(player["parsecs"]),
        "turns_taken": int(player["turns"]),
        "round": int(state["rounds"]),
        "end_reason": EndReason(int(state["end_reason"])),
        "decisions": int(state["decisions"]) if state["end"] else 0,
    }


GAME = make_game(
    __name__,
    title="Race to Kepler",
    version=1,
    default_players=4,
    max_decisions=48_000,
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
