"""The bot that plays any legal action, all equally likely."""

from __future__ import annotations

from kepler_envs.bots.compiled import CompiledBot
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.playout import uniform_policy


class UniformBot(CompiledBot):
    """A bot that plays uniformly at random."""

    def __init__(self, config: Configuration) -> None:
        super().__init__(uniform_policy(config.game), config)
