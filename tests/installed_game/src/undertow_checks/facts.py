"""The facts of a seat, twice: read from the state, and rebuilt from the seat's observation."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from undertow.state import Node

from kepler_envs import Configuration
from kepler_envs.engine.game import RUNNING, TERMINATED

HIDDEN = {
    "rng": "chance to come",
    "decisions": "counted by the engine; nothing depends on it",
    "deck": "nobody sees the deck",
    "reward_mode": "an option of the training, the same in the whole game",
    "shaping": "an option of the training, the same in the whole game",
}
"""Why a field of the state is not a fact of a seat."""


def facts_known(config: Configuration, state: Any, seat: int) -> dict[str, Any]:
    """The facts of a seat, by the path of the field. Seats count from this one."""
    n, players = config.num_players, state["player"]
    order = [(seat + row) % n for row in range(n)] + list(range(n, len(players)))
    known = {name: int(state[name]) for name in ("node", "end", "num_players", "open_worth", "deck_size")}
    known["seat"] = (int(state["seat"]) - seat) % n
    known["open_owner"] = (int(state["open_owner"]) - 1 - seat) % n if state["open_owner"] else -1
    known["played"] = state["played"]
    known["player.hand"] = players[seat]["hand"]
    return known | {f"player.{name}": players[name][order] for name in ("present", "score", "hand_size")}


def facts_seen(config: Configuration, observation: np.ndarray) -> dict[str, Any]:
    """The same, from the observation alone."""
    seen = config.observation.names(observation)
    return {
        "node": seen["game.node"][0],
        "end": TERMINATED if seen["game.node"][0] == Node.OVER else RUNNING,
        "num_players": seen["players.present"].sum(),
        "open_worth": seen["game.open"][0],
        "deck_size": seen["game.deck_size"][0],
        "seat": seen["game.turn"][0] - 1,
        "open_owner": seen["game.open_owner"][0] - 1,
        "played": seen["cards.played"],
        "player.hand": seen["cards.hand"],
        **{f"player.{name}": seen[f"players.{name}"] for name in ("present", "score", "hand_size")},
    }


def derived(config: Configuration, seen: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The derived pieces, computed from the facts alone."""
    copies = config.tables[0]["copies"]
    worths = np.arange(1, len(copies) + 1)
    return {
        "cards.unseen": copies - seen["cards.played"] - seen["cards.hand"],
        "cards.pulls": worths == seen["game.open"] - 1,
    }
