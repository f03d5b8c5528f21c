"""The bot that plays any legal action, each equally likely."""

from __future__ import annotations

from kepler_envs.bots.compiled import CompiledBot
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.playout import uniform_policy


class UniformBot(CompiledBot):
    """Uniformly random legal play."""

    def __init__(self, config: Configuration) -> None:
        super().__init__(uniform_policy(config.game), config)
