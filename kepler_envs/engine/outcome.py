"""How a game ended, for its picture and its text: ranks, and whoever is first in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kepler_envs.engine.game import RUNNING, Configuration
from kepler_envs.engine.naming import agent_name
from kepler_envs.engine.snapshot import snapshot_of


def final_ranks(state: Any, config: Configuration) -> tuple[int, ...]:
    """The rank of every seat, from 1, as the game's rules have it; 0 for all while the game runs."""
    if state["end"] == RUNNING:
        return (0,) * config.num_players
    return tuple(snapshot_of(state, config).results()[0].tolist())


def leaders_in_words(ranks: Sequence[int]) -> str:
    """``player_0 and player_2``: all that share the first rank."""
    return " and ".join(agent_name(seat) for seat, rank in enumerate(ranks) if rank == 1)


def winners_in_words(ranks: Sequence[int]) -> str:
    """``player_1 wins``, ``player_0 and player_2 win``."""
    return f"{leaders_in_words(ranks)} {'wins' if ranks.count(1) == 1 else 'win'}"
