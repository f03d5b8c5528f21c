"""Who plays the seats that do not learn, for every adapter with one learner against others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from kepler_envs.checkout import UNIFORM, NoCheckoutError, find_agents
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration, OptionError, record_array
from kepler_envs.engine.playout import CompiledPolicy, choose_kernel, uniform_policy
from kepler_envs.engine.rng import GENERATOR

Choice = Callable[[np.ndarray, np.ndarray], int]
"""(observation int16 (D,), action_mask int8 (A,)) -> a legal id."""


class Opponent(Protocol):
    """Plays seats of some rows of a batch."""

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """Games begin in these rows (M,) of the batch; ``seeds`` (M,) uint64 are for the opponent's own randomness."""

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Legal ids (M,) for the seats to move in these rows (M,)."""


class CompiledOpponent:
    """A compiled policy as an opponent, with a generator for each row."""

    def __init__(self, policy: CompiledPolicy, num_envs: int) -> None:
        self._choose = choose_kernel(policy)
        self._generators = record_array(np.zeros(num_envs, GENERATOR))

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        self._generators["rng"][rows] = seeds

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        actions = np.empty(len(rows), np.int64)
        self._choose(
            batch.states, batch.config.tables, batch.legal_bits, batch.legal_count, self._generators, rows, actions
        )
        return actions


class CallableOpponent:
    """A function of observation and mask as an opponent. It has to keep what it remembers, and its randomness, by itself."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """A function does not learn of new games."""

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        return np.array([self._choice(batch.observation[row].copy(), batch.action_mask[row].copy()) for row in rows])


def opponent_of(given: Any, config: Configuration, num_envs: int) -> Opponent:
    """An opponent from what a user has at hand.

    Args:
        given: an agent's name as in ``agents.load`` (``uniform``, ``greedy``, ``mcts:100``, ``ppo:PATH``); None (plays uniformly); a
            :class:`CompiledPolicy`, an :class:`Opponent` (``agents.AgentOpponent`` makes one of an agent), or a function
            (observation, action_mask) -> id. All names but ``uniform`` need the source checkout.

    Raises:
        OptionError: a name in an installation without the checkout. AgentError (a ValueError): no agent of that name for this game.
        TypeError: anything else.
    """
    if isinstance(given, str) and given != UNIFORM:
        return _agent_of(given, config)
    if given is None or isinstance(given, str):
        given = uniform_policy(config.game)
    if isinstance(given, CompiledPolicy):
        return CompiledOpponent(given, num_envs)
    if callable(given):
        return given if hasattr(given, "start") else CallableOpponent(given)
    hint = "; wrap an agent in agents.AgentOpponent" if hasattr(given, "act") else ""
    raise TypeError(
        f"{given!r} is no opponent; allowed: None, an agent's name, a CompiledPolicy, an Opponent, "
        f"a function (observation, action_mask) -> id{hint}"
    )


def _agent_of(spec: str, config: Configuration) -> Opponent:
    try:
        agents = find_agents()
    except NoCheckoutError as problem:
        raise OptionError(f"opponent {spec!r}: {problem}") from problem
    opponent: Opponent = agents.AgentOpponent(agents.load(spec, config))
    return opponent


def opponent_seeds(game_seeds: np.ndarray) -> np.ndarray:
    """Seeds for opponents' own generators, uint64: other than those of the games, so that cards and choices are independent."""
    words = game_seeds ^ np.uint64(0x5851F42D4C957F2D)
    words = (words ^ (words >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return words ^ (words >> np.uint64(32))
