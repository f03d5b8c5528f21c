"""Kitten Adventurers Space Agency: two to eight players empty their quest piles onto shared ladders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kepler_envs.engine.components import check_setup_row
from kepler_envs.engine.game import RUNNING, TRUNCATED, Option, OptionError, make_game, record_array
from kepler_envs.engine.returns import reward_mode_option
from kepler_envs.games.kitten_adventurers import actions, components, observation, picture, rules, setup, state
from kepler_envs.games.kitten_adventurers.observation_layout import MAX_LIMIT
from kepler_envs.games.kitten_adventurers.state import (
    OPTIONS,
    RANDOM_FIRST_PLAYER,
    REWARD_MODES,
    EndReason,
    Node,
)

OPTION_LIST = (
    Option(
        "hand_size", "rulebook", "cards a hand is refilled to; 5 is the rulebook's slower game", ("rulebook", 5, 6, 7)
    ),
    Option("quest_size", "rulebook", "number of cards in a quest pile", ("rulebook", "later_edition"), int, 1, 35),
    Option("first_player", "random", "who plays first", ("random", "seat0")),
    reward_mode_option(REWARD_MODES),
    Option("max_turns", 600, "number of turns after which the game is cut off", (), int, 1, MAX_LIMIT),
    Option(
        "max_plays", 1000, "number of cards played on ladders after which the game is cut off", (), int, 1, MAX_LIMIT
    ),
    Option("shaping", 0.0, "shaping reward per quest card played above the mean, paid at turn end", (), float, 0, 1),
)


def resolve_options(tables: np.void, num_players: int, values: Mapping[str, Any]) -> np.ndarray:
    """Turn checked option values into the options record that the rules read. Raises OptionError if the cards do not
    suffice."""
    check_setup_row("kitten_adventurers", tables["quest_size"], num_players)
    hand, quest = values["hand_size"], values["quest_size"]
    options = np.zeros(1, OPTIONS)
    record = options[0]
    record["num_players"] = num_players
    record["hand_size"] = tables["hand_size"][num_players] if hand == "rulebook" else hand
    if quest in ("rulebook", "later_edition"):
        column = "quest_size" if quest == "rulebook" else "quest_size_later"
        record["quest_size"] = tables[column][num_players]
    else:
        record["quest_size"] = quest
    dealt = num_players * (int(record["quest_size"]) + int(record["hand_size"]))
    if dealt >= tables["cards_total"]:
        raise OptionError(
            f"kitten_adventurers: {num_players} players with quest piles of {record['quest_size']} and hands of "
            f"{record['hand_size']} need {dealt} cards; allowed: at most {tables['cards_total'] - 1}"
        )
    record["first_player"] = RANDOM_FIRST_PLAYER if values["first_player"] == "random" else 0
    record["reward_mode"] = REWARD_MODES.index(values["reward_mode"])
    for name in ("max_turns", "max_plays", "shaping"):
        record[name] = values[name]
    return record_array(options)


def info(state: np.void, tables: np.void, seat: int) -> dict[str, Any]:
    """The infos of a seat.

    They are ``quest_left``, ``hand_count``, ``lane_count``, ``plays_own``, ``turns`` and ``end_reason``
    (:class:`EndReason`).
    """
    player = state["player"][seat]
    return {
        "quest_left": int(player["quest_count"]),
        "hand_count": int(player["hand_count"]),
        "lane_count": int(player["lane"]["depth"].sum()),
        "plays_own": int(player["plays"]),
        "turns": int(state["turns"]),
        "end_reason": end_reason(state),
    }


def end_reason(state: np.void) -> EndReason:
    """Why the game ended."""
    if state["end"] == RUNNING:
        return EndReason.RUNNING
    if state["end"] == TRUNCATED:
        return EndReason.LIMIT
    empty = 0 in state["player"]["quest_count"][: state["num_players"]]
    return EndReason.WIN if empty else EndReason.STALEMATE


GAME = make_game(
    __name__,
    title="Kitten Adventurers",
    version=1,
    default_players=4,
    always_offered=(Node.PLAY,),
    max_decisions=3200,
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
