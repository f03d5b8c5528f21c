"""Everything that chooses actions: ``bots.load("greedy", config)``.

A spec is a kind, followed by a colon and an argument where the kind takes one: ``uniform``, ``greedy``, ``mcts:1000``,
``net:runs/kittens/best.zip``. Or it is the name of a network that comes with the package: ``ad_astra/bc-v1``, or just
``bc-v1`` for games of Ad Astra.
"""

from __future__ import annotations

from kepler_envs.bots.compiled import CompiledBot
from kepler_envs.bots.loading import KINDS, UNIFORM, Kind, fingerprint, load
from kepler_envs.bots.protocol import (
    Bot,
    BotError,
    BotOpponent,
    Decisions,
    FileBot,
    TrustedDecisions,
    UnknownBotError,
    play_games,
)

__all__ = [
    "KINDS", "UNIFORM", "Bot", "BotError", "BotOpponent", "CompiledBot", "Decisions", "FileBot", "Kind",
    "TrustedDecisions", "UnknownBotError",
    "fingerprint", "load", "play_games",
]  # fmt: skip
