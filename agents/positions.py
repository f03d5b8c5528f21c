"""Decisions to learn from: what a seat saw, what a teacher or a search would do, and what the game finally paid."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from kepler_envs.engine.batch import Batch
from kepler_envs.files import write_atomically
from kepler_envs.networks import with_choices

NOBODY = -1
"""Marks a missing choice: no bot was asked."""
HELD_OUT = 20
"""One in so many games is not learned from. Predictions are measured there."""


@dataclass(frozen=True)
class Positions:
    """Decisions, in the order in which they were made.

    Attributes:
        observation: int16 (M, D). mask: uint8 (M, A / 8 rounded up), action masks as ``np.packbits`` writes them.
        actions: int16 (M, K), actions to choose, best first. shares: float32 (M, K), how much of the choice each of
            them gets; their sum is the weight of the position, 0 if only its returns are to be learned.
        below: int16 (M,), choice of the bot that a network is over; NOBODY if none was asked.
        returns: float32 (M, P), what the game paid in the end: the deciding seat first, then clockwise; NaN for seats
            that the game lacks.
        game: int64 (M,), a number for each game.
        num_actions: int64 (), A. played: int64 (), all decisions of these games.
    """

    observation: np.ndarray
    mask: np.ndarray
    actions: np.ndarray
    shares: np.ndarray
    below: np.ndarray
    returns: np.ndarray
    game: np.ndarray
    num_actions: np.ndarray
    played: np.ndarray

    def __len__(self) -> int:
        return len(self.mask)

    @property
    def action(self) -> np.ndarray:
        """int16 (M,): the best action."""
        return self.actions[:, 0]

    @property
    def held_out(self) -> np.ndarray:
        """bool (M,): the positions of games that are held out. A set of fewer than 20 games has none."""
        return self.game % HELD_OUT == HELD_OUT - 1

    def masks(self, chosen: np.ndarray) -> np.ndarray:
        """bool (M, A): the action masks."""
        return np.unpackbits(self.mask[chosen], axis=1, count=int(self.num_actions)).view(np.bool_)

    def seen(self, chosen: np.ndarray, over: str) -> np.ndarray:
        """What a network, over a bot or none, sees of these positions."""
        observations = self.observation[chosen]
        return with_choices(observations, self.below[chosen]) if over else observations

    def take(self, chosen: np.ndarray) -> Positions:
        """A selection of the positions."""
        return replace(self, **{name: getattr(self, name)[chosen] for name in ROWS})

    def save(self, path: Path) -> None:
        """Write the positions to a ``.npz`` file, as a whole or not at all."""
        write_atomically(path, self.as_file())

    def as_file(self) -> bytes:
        """The bytes of a compressed ``.npz`` file."""
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **{field.name: getattr(self, field.name) for field in fields(self)})
        return buffer.getvalue()

    @classmethod
    def load(cls, path: Path) -> Positions:
        """The positions of a file. Raises whatever the readers of NumPy and zipfile raise if it has none."""
        with np.load(path, allow_pickle=False) as arrays:
            missing = [field.name for field in fields(cls) if field.name not in arrays]
            if missing:
                raise ValueError(f"{path} has no positions: {', '.join(missing)} missing")
            return cls(**{field.name: arrays[field.name] for field in fields(cls)})


ROWS = tuple(field.name for field in fields(Positions) if field.name not in ("num_actions", "played"))
"""Names of the arrays with one row per position."""


class Kept:
    """Collects decisions of a batch that are to be learned from, until all its games are over."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._parts: list[tuple[np.ndarray, ...]] = []

    def add(self, rows: np.ndarray, actions: np.ndarray, shares: np.ndarray, below: np.ndarray) -> None:
        """Add the decisions that are due in these rows (M,); for the rest see :class:`Positions`."""
        batch = self._batch
        masks = np.packbits(batch.action_mask[rows].view(np.bool_), axis=1)
        choices = actions.astype(np.int16), shares, below.astype(np.int16)
        self._parts.append((batch.observation[rows], masks, *choices, rows, batch.seat[rows]))

    def positions(self) -> Positions:
        """All positions, once all games are over."""
        batch = self._batch
        columns = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        observation, mask, actions, shares, below, game, seat = columns
        clockwise = (seat[:, None] + np.arange(batch.num_players)) % batch.num_players
        returns = batch.final_return[game[:, None], clockwise].astype(np.float32)
        num_actions, played = np.array(len(batch.config.actions)), np.array(int(batch.final_length.sum()))
        return Positions(observation, mask, actions, shares, below, returns, game, num_actions, played)


def join(parts: Sequence[Positions]) -> Positions:
    """Join several sets of positions, which may be of different numbers of players.

    Games get new numbers where two sets use the same ones. These differ by multiples of HELD_OUT, so that a game that
    is held out stays held out, whatever its set is joined with.
    """
    columns = {name: [getattr(one, name) for one in parts] for name in ROWS}
    for name, missing in (("returns", np.nan), ("actions", 0), ("shares", 0)):
        most = max(array.shape[1] for array in columns[name])
        columns[name] = [_widened(array, most, missing) for array in columns[name]]
    first = 0
    for number, games in enumerate(columns["game"]):
        columns["game"][number] = games + first
        first += -(-(int(games.max(initial=-1)) + 1) // HELD_OUT) * HELD_OUT
    whole = {name: np.concatenate(arrays) for name, arrays in columns.items()}
    return Positions(**whole, num_actions=parts[0].num_actions, played=np.array(sum(int(one.played) for one in parts)))


def _widened(array: np.ndarray, columns: int, missing: float) -> np.ndarray:
    return np.pad(array, ((0, 0), (0, columns - array.shape[1])), constant_values=missing)
