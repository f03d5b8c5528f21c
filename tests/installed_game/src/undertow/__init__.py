"""Undertow: two to four players pull one another's cards under.

There are 20 cards: four each of the worths 1 to 5. Everybody is dealt three. In your turn you play one card face up; it
becomes the open card, and the open card before it scores its worth for its owner.

If your card is worth exactly one less than the open card, it pulls it under. You score the worth of your own card at
once. Then you score the worth of the open card, too, or you sink it, and its owner loses that much. Either way no card
is open after that.

At the end of your turn you draw a card, as long as there are any. When all cards are played, the last open card scores.
The most points win.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kepler_envs.engine.game import Option, make_game, record_array
from kepler_envs.engine.returns import reward_mode_option
from undertow import actions, components, observation, picture, rules, setup, state
from undertow.state import OPTIONS, REWARD_MODES, Node

OPTION_LIST = (
    Option("first_player", "random", "who plays first", ("random", "seat0")),
    reward_mode_option(REWARD_MODES),
    Option("shaping", 0.0, "shaping reward per point above the mean", (), float, 0, 1),
)


def resolve_options(tables: np.void, num_players: int, values: Mapping[str, Any]) -> np.ndarray:
    """Turn checked option values into the options record that the setup reads."""
    options = np.zeros(1, OPTIONS)
    options[0]["num_players"] = num_players
    options[0]["random_first"] = values["first_player"] == "random"
    options[0]["reward_mode"] = REWARD_MODES.index(values["reward_mode"])
    options[0]["shaping"] = values["shaping"]
    return record_array(options)


def info(state: np.void, tables: np.void, seat: int) -> dict[str, Any]:
    """The infos of a seat, besides those that every game has."""
    return {"points": int(state["player"][seat]["score"])}


GAME = make_game(
    __name__,
    title="Undertow",
    version=1,
    default_players=3,
    max_decisions=100,
    always_offered=(Node.PLAY,),
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
