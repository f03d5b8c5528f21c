"""Games of several player counts and options in parallel, for one network that plays them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kepler_envs import bots
from kepler_envs.bots.protocol import BotError, TrustedDecisions
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration


def check_alike(configs: Sequence[Configuration]) -> None:
    """Raise BotError unless one network can play all these games: they need equal actions and equal pieces of the
    observation."""
    first = configs[0]
    for other in configs[1:]:
        if list(other.observation) != list(first.observation) or list(other.actions.blocks) != list(
            first.actions.blocks
        ):
            raise BotError(
                f"{first.game.id}: observation or actions differ between {_differences(other, first)}, so one network "
                "cannot play both; train one for each"
            )


def _differences(one: Configuration, other: Configuration) -> str:
    """What tells two configurations of a game apart, in words."""
    if one.num_players != other.num_players:
        return f"{one.num_players} and {other.num_players} players"
    names = [name for name, value in one.values.items() if value != other.values[name]]
    return " and ".join(", ".join(f"{name} = {config.values[name]}" for name in names) for config in (one, other))


class JoinedBatch:
    """Several batches used as one: their rows follow one another, arrays per seat have a column for each seat of the
    largest game.

    It has what an environment of Stable-Baselines3 needs of a :class:`Batch`. Seats that a game lacks are paid 0.

    Attributes:
        parts: the batches. config, num_players: of the one with most players. num_envs: rows of all.
        players: int64 (N,), seats of the game in each row.
        single_observation_space, single_action_space: of the batch with most players.
    """

    def __init__(self, parts: Sequence[Batch]) -> None:
        check_alike([part.config for part in parts])
        self.parts = tuple(parts)
        self.config = max((part.config for part in parts), key=lambda config: config.num_players)
        self.num_players = self.config.num_players
        self.num_envs = sum(part.num_envs for part in parts)
        largest = max(parts, key=lambda part: part.num_players)
        self.single_observation_space = largest.single_observation_space
        self.single_action_space = largest.single_action_space
        self.players = np.concatenate([np.full(part.num_envs, part.num_players) for part in parts])

    @classmethod
    def deal(cls, configs: Sequence[Configuration], num_envs: int, seed: int) -> JoinedBatch:
        """``num_envs`` games, spread evenly over these configurations. BotError if there are more of these."""
        if num_envs < len(configs):
            raise BotError(
                f"--num-envs {num_envs} is not allowed; allowed: an integer from {len(configs)} on, a game for each "
                "combination of players and options"
            )
        sizes = [len(rows) for rows in np.array_split(np.arange(num_envs), len(configs))]
        return cls(
            [
                Batch(config, size, seed + number)
                for number, (config, size) in enumerate(zip(configs, sizes, strict=True))
            ]
        )

    @property
    def untouched(self) -> bool:
        """See :attr:`Batch.untouched`."""
        return all(part.untouched for part in self.parts)

    def step(self, actions: np.ndarray) -> None:
        """See :meth:`Batch.step`. Read the results from the attributes, each of which joins arrays anew."""
        for part, _, its in self.split(np.arange(self.num_envs)):
            part.step(actions[its])

    def reset(self, seed: int | None = None) -> None:
        """See :meth:`Batch.reset`. The parts get different seeds."""
        for number, part in enumerate(self.parts):
            part.reset(None if seed is None else seed + number)

    def split(self, rows: np.ndarray) -> Iterator[tuple[Batch, np.ndarray, np.ndarray]]:
        """For each part that has some of these rows (M,), ascending: the part, its own row numbers, and their places in
        the M."""
        first = 0
        for part in self.parts:
            places = np.flatnonzero((rows >= first) & (rows < first + part.num_envs))
            if len(places):
                yield part, rows[places] - first, places
            first += part.num_envs

    def _rows(self, name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in self.parts])

    def _seats(self, name: str) -> np.ndarray:
        arrays = [getattr(part, name) for part in self.parts]
        joined, first = np.zeros((self.num_envs, self.num_players), arrays[0].dtype), 0
        for array in arrays:
            joined[first : first + len(array), : array.shape[1]] = array
            first += len(array)
        return joined

    observation = property(lambda self: self._rows("observation"))
    action_mask = property(lambda self: self._rows("action_mask"))
    seat = property(lambda self: self._rows("seat"))
    seed = property(lambda self: self._rows("seed"))
    terminated = property(lambda self: self._rows("terminated"))
    truncated = property(lambda self: self._rows("truncated"))
    episodes = property(lambda self: self._rows("episodes"))
    final_length = property(lambda self: self._rows("final_length"))
    reward = property(lambda self: self._seats("reward"))
    final_return = property(lambda self: self._seats("final_return"))
    final_rank = property(lambda self: self._seats("final_rank"))
    final_score = property(lambda self: self._seats("final_score"))

    def observe_final(self, seat: np.ndarray) -> np.ndarray:
        """See :meth:`Batch.observe_final`."""
        return np.concatenate([part.observe_final(seat[its]) for part, _, its in self.split(np.arange(self.num_envs))])


class JoinedBot:
    """A bot by its spec, loaded once for each part of a :class:`JoinedBatch`; a teacher or an opponent."""

    def __init__(self, spec: str, batch: JoinedBatch) -> None:
        self._bots = {id(part): bots.load(spec, part.config) for part in batch.parts}
        self._batch = batch

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """Start games in these rows (M,), with seeds (M,) for its own randomness."""
        for part, own, places in self._batch.split(rows):
            self._bots[id(part)].start(own, seeds[places])

    def __call__(self, batch: JoinedBatch, rows: np.ndarray) -> np.ndarray:
        """Legal ids (M,) for the seats to move in these rows (M,), ascending."""
        actions = np.empty(len(rows), np.int64)
        for part, own, places in self._batch.split(rows):
            actions[places] = self._bots[id(part)].act(TrustedDecisions(part, own))
        return actions
