"""A bot made from a compiled policy."""

from __future__ import annotations

import numpy as np

from kepler_envs.bots.protocol import BotError, TrustedDecisions, check_decisions
from kepler_envs.engine.checks import check_type
from kepler_envs.engine.game import Configuration, record_array
from kepler_envs.engine.playout import CompiledPolicy, choose_kernel
from kepler_envs.engine.rng import GENERATOR
from kepler_envs.engine.seeds import mix_all


class CompiledBot:
    """A bot that asks a compiled policy for every decision. Each row of the batch has a generator of its own.

    Args:
        policy: the policy.
        config: the games to play. Options and the number of players may differ when it plays.

    Raises:
        BotError: the policy plays another game.
        TypeError: it is no policy, or ``config`` is no configuration.
    """

    def __init__(self, policy: CompiledPolicy, config: Configuration) -> None:
        check_type("policy", policy, CompiledPolicy, "bots.load makes bots of specs")
        check_type("config", config, Configuration, 'load_game("GAME").configure() makes one')
        if policy.game is not config.game:
            raise BotError(f"policy {policy.name} plays {policy.game.id}, not {config.game.id}")
        self.name = policy.name
        self.policy = policy
        self._choose = choose_kernel(policy)
        self._generators = record_array(np.zeros(0, GENERATOR))

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """See :meth:`Bot.start`."""
        self._make_room(int(rows.max(initial=-1)) + 1)
        self._generators["rng"][rows] = mix_all(seeds)  # neighbouring seeds would begin with the same draw

    def act(self, decisions: TrustedDecisions) -> np.ndarray:
        """See :meth:`Bot.act`."""
        check_decisions(decisions)
        batch, rows = decisions.batch, np.ascontiguousarray(decisions.rows, np.int64)
        if batch.config.game is not self.policy.game:
            raise BotError(f"bot {self.name} was loaded for {self.policy.game.id}, and this is {batch.config.game.id}")
        if rows.max(initial=-1) >= self._generators.size:
            raise BotError(f"bot {self.name} is asked about row {rows.max()}, where it was not started")
        actions = np.empty(len(rows), np.int64)
        self._choose(batch.states, batch.config.tables, batch.rows, self._generators, rows, actions)
        return actions

    def _make_room(self, rows: int) -> None:
        if rows > self._generators.size:
            grown = record_array(np.zeros(rows, GENERATOR))
            grown[: self._generators.size] = self._generators
            self._generators = grown
