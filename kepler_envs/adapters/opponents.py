"""Who plays the seats that do not learn, for every adapter with one learner against others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from kepler_envs import bots
from kepler_envs.bots.protocol import legal_ids
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.playout import CompiledPolicy

Choice = Callable[[np.ndarray, np.ndarray], int]
"""A function (observation int16 (D,), action_mask int8 (A,)) -> a legal id."""

MOST_GAMES = 1000
"""Games in a row in which the learner decides nothing, before an environment gives up."""


def check_patience(games: int, num_envs: int, seat: int | None) -> None:
    """Tell of a learner that never decides, as options may end every game before its first turn.

    Args:
        games: that have ended since a learner decided, in all rows.
        num_envs: the rows.
        seat: the learner's seat, if it is fixed.

    Raises:
        RuntimeError: there were more than MOST_GAMES of them per row.
    """
    if games > MOST_GAMES * num_envs:
        who = "the learner" if seat is None else f"seat {seat}"
        raise RuntimeError(
            f"{who} had nothing to decide in {games:,} games in a row: they end before its first turn. Allow more "
            "turns, or choose another seat"
        )


class Opponent(Protocol):
    """Plays seats of some rows of a batch."""

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """Begin games in these rows (M,) of the batch. ``seeds`` (M,) uint64 are for the opponent's own randomness."""

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Choose legal ids (M,) for the seats to move in these rows (M,)."""


class CallableOpponent:
    """A function of observation and mask as an opponent.

    The function has to take care of its own memory and randomness.
    """

    def __init__(self, choice: Choice) -> None:
        self._choice = choice

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """Do nothing: a function is not told about new games."""

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        return np.array([self._choice(batch.observation[row].copy(), batch.action_mask[row].copy()) for row in rows])


def choose(opponent: Opponent, batch: Batch, rows: np.ndarray) -> np.ndarray:
    """What an opponent chooses for these rows, int64 (M,). Raises IllegalAction unless all of it is legal."""
    return legal_ids(batch, rows, opponent(batch, rows), "the opponent")


def opponent_of(given: Any, config: Configuration) -> Opponent:
    """Make an opponent from what a user has at hand.

    Args:
        given: a bot's name as in ``bots.load`` (``uniform``, ``greedy``, ``mcts:100``, ``net:PATH``), a
            :class:`CompiledPolicy`, an :class:`Opponent` (``bots.BotOpponent`` makes one of a bot), or a function
            (observation, action_mask) -> id. None plays uniformly at random.

    Raises:
        BotError: there is no bot of that name for this game, or a policy plays another one (this is a ValueError).
        TypeError: it is anything else.
    """
    if given is None:
        given = bots.UNIFORM
    if isinstance(given, str):
        return bots.BotOpponent(bots.load(given, config))
    if isinstance(given, CompiledPolicy):
        return bots.BotOpponent(bots.CompiledBot(given, config))
    if isinstance(given, type):
        raise TypeError(f"{given!r} is a class; give an opponent that it makes")
    if callable(given):
        return given if hasattr(given, "start") else CallableOpponent(given)
    hint = "; wrap a bot in bots.BotOpponent" if hasattr(given, "act") else ""
    raise TypeError(
        f"{given!r} is not an opponent; allowed: None, a bot's name, a CompiledPolicy, an Opponent, "
        f"a function (observation, action_mask) -> id{hint}"
    )
