"""One position: an immutable state that can be observed, resampled, continued and drawn."""

from __future__ import annotations

import hashlib
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from kepler_envs.engine import one_game
from kepler_envs.engine.checks import check_integer, check_row, check_seat, check_type, check_view, is_integer
from kepler_envs.engine.game import RUNNING, Configuration, Game, record_array, records_from_bytes
from kepler_envs.engine.naming import agent_name
from kepler_envs.engine.rng import GENERATOR
from kepler_envs.engine.seeds import check_seed, mix
from kepler_envs.printable import counted

if TYPE_CHECKING:
    from kepler_envs.engine.drawing import Drawing


class IllegalAction(ValueError):
    """The id is not legal at the current node.

    The message names the id in words, the seat, the node and the legal ids.
    """


def describe_illegal(config: Configuration, state: Any, action: Any, legal: list[int]) -> str:
    """The message of an :class:`IllegalAction`."""
    if not is_integer(action):
        words = f"{action!r} (action ids are integers)"
    elif 0 <= action < len(config.actions):
        words = f"{action} ({config.actions.text(int(action))!r})"
    else:
        words = f"{action} (no action id)"
    node = config.game.node_of(state).name
    offered = ", ".join(f"{choice} ({config.actions.text(choice)!r})" for choice in legal)
    mover = agent_name(state["seat"])
    return f"illegal action {words} by {mover} at node {node}; legal: {offered or 'none, the game is over'}"


class Snapshot:
    """A position of a game. It does not change.

    Args:
        config: the :class:`Configuration` it belongs to.
        states: the state record, as an array of length one. It is not copied; :meth:`take` copies.

    Attributes:
        config: see above.
        state: the state record. Treat it as read-only.
    """

    __slots__ = ("config", "_states")

    def __init__(self, config: Configuration, states: np.ndarray) -> None:
        self.config = config
        self._states = states

    @classmethod
    def take(cls, config: Configuration, states: np.ndarray, row: int = 0) -> Snapshot:
        """Copy row ``row`` of an array (N,) of states.

        Raises ValueError if there is no such row, and TypeError if ``config`` is no configuration, or ``states`` are
        not of its game.
        """
        _check_config(config)
        if not (isinstance(states, np.ndarray) and states.ndim == 1 and states.dtype == config.game.state):
            got = f"one {states.shape} of others" if isinstance(states, np.ndarray) else type(states).__name__
            raise TypeError(f"states must be an array (N,) of states of {config.game.id}, not {got}")
        row = check_row(row, len(states))
        return cls(config, states[row : row + 1]).clone()

    @classmethod
    def deal(cls, config: Configuration, seed: int) -> Snapshot:
        """Deal a new game from ``seed``, the same that ``reset(seed=seed)`` deals.

        Raises ValueError if the seed is not an integer 0 .. 2**64 - 1, and TypeError if ``config`` is no configuration.
        """
        _check_config(config)
        states = config.game.new_states(1)
        deal(config, states, check_seed(seed), *empty_sets(config))
        return cls(config, states)

    def __getstate__(self) -> tuple[Configuration, bytes]:
        return self.config, self._states.tobytes()

    def __setstate__(self, saved: tuple[Configuration, bytes]) -> None:
        self.config = saved[0]
        self._states = records_from_bytes(saved[1], saved[0].game.state)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Snapshot):
            return NotImplemented
        return self.config.digest == other.config.digest and self._states.tobytes() == other._states.tobytes()

    def __hash__(self) -> int:
        return hash(self._states.tobytes())

    def __repr__(self) -> str:
        now = "over" if self.over else f"{agent_name(self.seat)} at {self.node.name}"
        return f"<Snapshot {self.config.label}, after {counted(int(self.state['decisions']), 'decision')}, {now}>"

    @property
    def game(self) -> Game:
        """The :class:`Game` that is played."""
        return self.config.game

    @property
    def state(self) -> Any:
        return self._states[0]

    @property
    def states(self) -> np.ndarray:
        """The record as an array of length one, as kernels take it. Treat it as read-only."""
        return self._states

    @property
    def seat(self) -> int:
        """The seat that is to decide."""
        return int(self.state["seat"])

    @property
    def node(self) -> IntEnum:
        """The node that waits for a decision."""
        return self.config.game.node_of(self.state)

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return int(self.state["end"]) != RUNNING

    def digest(self) -> str:
        """SHA-256 of the state's bytes. Replays compare it."""
        return hashlib.sha256(self._states.tobytes()).hexdigest()

    def observe(self, seat: int) -> np.ndarray:
        """The observation of ``seat``, int16 (D,). Raises ValueError if the game has no such seat."""
        seat = check_seat(seat, self.config.num_players)
        observation = np.zeros(self.config.observation.size, np.int16)
        one_game.observe_kernel(self.config.game)(self._states, self.config.constants, seat, observation)
        return observation

    def action_mask(self) -> np.ndarray:
        """The legal ids as int8 (A,). All are 0 once the game is over."""
        legal, mask = empty_sets(self.config)
        one_game.legal_kernel(self.config.game)(self._states, self.config.constants, legal, mask)
        return mask

    def legal_actions(self) -> list[int]:
        """The legal ids in ascending order."""
        return [int(action) for action in np.flatnonzero(self.action_mask())]

    def clone(self) -> Snapshot:
        """An independent copy."""
        return snapshot_of(self._states, self.config)

    def apply(self, action: int) -> Snapshot:
        """The position after a decision. Raises :class:`IllegalAction` if ``action`` is not legal here."""
        after = self.clone()
        is_id = is_integer(action) and 0 <= action < len(self.config.actions)
        legal = np.zeros(self.config.game.mask_words, np.uint64)
        apply = one_game.apply_kernel(self.config.game)
        if not is_id or not apply(after._states, self.config.constants, legal, int(action)):
            raise IllegalAction(describe_illegal(self.config, self.state, action, self.legal_actions()))
        return after

    def resample(self, seat: int, seed: int) -> Snapshot:
        """The position as ``seat`` knows it: everything it cannot know is redrawn from ``seed``.

        That includes future chance; the game's own generator is neither used nor kept. Raises ValueError if the game
        has no such seat, or if the seed is not allowed.
        """
        seat = check_seat(seat, self.config.num_players)
        generators = record_array(np.zeros(1, GENERATOR))
        generators["rng"] = mix(check_seed(seed))
        drawn = self.clone()
        one_game.resample_kernel(self.config.game)(drawn._states, self.config.tables, seat, generators)
        return drawn

    def results(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(ranks int32, scores int32, returns float32), with one entry per seat.

        Returns are 0 until the game is over.
        """
        players = self.config.num_players
        ranks, scores = np.zeros(players, np.int32), np.zeros(players, np.int32)
        returns = np.zeros(players, np.float32)
        one_game.result_kernel(self.config.game)(self._states, self.config.tables, ranks, scores, returns)
        return ranks, scores, returns

    def text(self, seat: int | None = None) -> str:
        """The position as text for a terminal. ``seat`` sees only its own hidden cards; None sees everything.

        Raises ValueError if the game has no such seat.
        """
        return self.config.game.text(self.state, self.config, check_view(seat, self.config.num_players))

    def full_text(self, action: int) -> str:
        """A decision at this position in words, as the seat that decides reads it, and whoever sees everything.

        Raises ValueError if the game has no such id.
        """
        action = check_integer("action", action, 0, len(self.config.actions) - 1)
        return self.config.game.full_text(self.state, self.config, action)

    def public_text(self, action: int) -> str:
        """A decision at this position as everybody at the table hears it, without what the deciding seat keeps secret.

        Raises ValueError if the game has no such id.
        """
        action = check_integer("action", action, 0, len(self.config.actions) - 1)
        return self.config.game.public_text(self.state, self.config, action)

    def drawing(self, seat: int | None = None) -> Drawing:
        """The position as a Drawing (``.svg()``, ``.rgb()``), for ``seat`` as in :meth:`text`."""
        return self.config.game.draw(self.state, self.config, check_view(seat, self.config.num_players))


def _check_config(config: Any) -> None:
    check_type("config", config, Configuration, 'load_game("GAME").configure() makes one')


def snapshot_of(state: Any, config: Configuration) -> Snapshot:
    """A snapshot of one state record, wherever it lies, or of an array of one."""
    # bytes: NumPy would copy a nested record field by field, which takes ten times as long
    return Snapshot(config, records_from_bytes(state.tobytes(), config.game.state))


def empty_sets(config: Configuration) -> tuple[np.ndarray, np.ndarray]:
    """An empty legal set as kernels write it: bits uint64 (W,) and bytes int8 (A,), all 0."""
    return np.zeros(config.game.mask_words, np.uint64), np.zeros(len(config.actions), np.int8)


def deal(config: Configuration, states: np.ndarray, seed: int, legal: np.ndarray, action_mask: np.ndarray) -> None:
    """Write the game of ``seed`` into ``states`` of length one.

    Also write the legal set of its first decision, as bits and as bytes.
    """
    seeds = np.array([seed], np.uint64)
    one_game.begin_kernel(config.game)(states, config.constants, seeds, legal, action_mask)
