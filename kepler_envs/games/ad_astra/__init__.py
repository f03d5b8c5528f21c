"""Ad Astra: three to five players plan their actions face down, explore nine systems, build and trade."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kepler_envs.engine.components import check_setup_row, names
from kepler_envs.engine.game import Option, make_game, record_array
from kepler_envs.games.ad_astra import actions, components, observation, picture, rules, setup, state
from kepler_envs.games.ad_astra.components import MOST_ROUNDS
from kepler_envs.games.ad_astra.setup_options import FactionsOption, SetupOption, fix_factions, fix_setup
from kepler_envs.games.ad_astra.state import (
    NUM_ARTIFACTS,
    OPTIONS,
    REGULAR_ARTIFACTS,
    EndReason,
)

ARTIFACT_CARDS = {"none": 0, "regular": REGULAR_ARTIFACTS, "all": NUM_ARTIFACTS}

OPTION_LIST = (
    Option("artifacts", "regular",
           "which alien artifacts are used: none, all but the two optional ones, or all", tuple(ARTIFACT_CARDS)),
    Option("layout", "random", "how planets are spread over the systems", ("random", "even")),
    FactionsOption("factions", "random", "names of the factions of seats 0, 1, ..."),
    Option("max_rounds", MOST_ROUNDS, "number of rounds after which the game ends", (), int, 1, MOST_ROUNDS),
    Option("max_offers", 4, "how many offers to other players one trade card allows", (), int, 0, 20),
    Option("max_bank_trades", 12, "how many trades with the bank one trade card allows", (), int, 0, 40),
    SetupOption("setup", "random", "parts of the setup that are fixed instead of drawn"),
    Option("shaping", 0.0,
           "shaping reward for points above the mean of the others, as a share of those that end the game",
           (), float, 0, 1),
)  # fmt: skip


def resolve_options(tables: np.void, num_players: int, values: Mapping[str, Any]) -> np.ndarray:
    """Turn checked option values into the options record that the rules read. Raises OptionError if they do not fit
    together."""
    check_setup_row("ad_astra", tables["spaces"], num_players)
    options = np.zeros(1, OPTIONS)
    record = options[0]
    record["num_players"] = num_players
    record["artifacts"] = ARTIFACT_CARDS[values["artifacts"]]
    record["even_layout"] = values["layout"] == "even"
    for name in ("max_rounds", "max_offers", "max_bank_trades", "shaping"):
        record[name] = values[name]
    fix_factions(record, values["factions"], names(tables["faction"]["name"]))
    fix_setup(record, values["setup"], tables)
    return record_array(options)


def info(state: np.void, tables: np.void, seat: int) -> dict[str, Any]:
    """The infos of a seat: ``vp`` (points by seat), ``round``, ``end_reason`` (:class:`EndReason`) and ``decisions``.

    ``decisions`` counts those of the game. It is 0 while the game runs, because the count would give artifacts away.
    """
    return {
        "vp": [int(points) for points in state["player"]["points"][: state["num_players"]]],
        "round": int(state["round_number"]),
        "end_reason": EndReason(int(state["end_reason"])),
        "decisions": int(state["decisions"]) if state["end"] else 0,
    }


GAME = make_game(
    __name__,
    title="Ad Astra",
    version=1,
    default_players=4,
    max_decisions=13_000,
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
