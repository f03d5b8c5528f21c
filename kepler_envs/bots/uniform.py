"""The agent that plays any legal action, each equally likely."""

from __future__ import annotations

from agents.compiled import CompiledAgent
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.playout import uniform_policy


class UniformAgent(CompiledAgent):
    """Uniformly random legal play."""

    def __init__(self, config: Configuration) -> None:
        super().__init__(uniform_policy(config.game), config)
