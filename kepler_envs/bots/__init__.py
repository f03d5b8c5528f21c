"""All that chooses actions: ``bots.load("greedy", config)``.

A spec is a kind, with an argument behind a colon where the kind takes one: ``uniform``, ``greedy``, ``mcts:1000``,
``net:runs/kittens/best.zip``; or the name of a network that comes with the package: ``ad_astra/bc-v1``, for games of Ad
Astra also ``bc-v1``.
"""

from __future__ import annotations

from kepler_envs.bots.loading import KINDS, UNIFORM, Kind, fingerprint, load
from kepler_envs.bots.protocol import Bot, BotError, BotOpponent, Decisions, FileBot, TrustedDecisions, play_games

__all__ = [
    "KINDS", "UNIFORM", "Bot", "BotError", "BotOpponent", "Decisions", "FileBot", "Kind", "TrustedDecisions",
    "fingerprint", "load",
    "play_games",
]  # fmt: skip
