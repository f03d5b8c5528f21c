"""A batch of games as a ``VecEnv``, with one learning seat in each game, or with all of them learning.

With one learning seat, rewards accumulate between its decisions. With all of them learning, a step returns what it paid
seat 0, whoever moved: :class:`SharedMaskablePPO` reads what all seats were paid.
"""

from __future__ import annotations

import copy
import time
from typing import Any, Self

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from kepler_envs.adapters.opponents import Opponent, check_patience, choose, opponent_of
from kepler_envs.engine.aec import NoGameError
from kepler_envs.engine.batch import SKIP, Batch
from kepler_envs.engine.checks import check_view
from kepler_envs.engine.observation import Layout
from kepler_envs.engine.seeds import check_seed, opponent_seeds
from kepler_envs.engine.snapshot import IllegalAction
from kepler_envs.networks import with_choices


def observation_space(layout: Layout) -> spaces.Box:
    """The space of a layout's vectors, with the bounds of its pieces."""
    return spaces.Box(layout.low, layout.high, dtype=layout.dtype.type)


def with_choice(space: spaces.Box, batch: Batch) -> spaces.Box:
    """The space of observations with a bot's choice behind them."""
    low, high = np.append(space.low, 0), np.append(space.high, int(batch.single_action_space.n) - 1)
    return spaces.Box(low.astype(space.dtype), high.astype(space.dtype), dtype=space.dtype.type)


class _BatchVecEnv(VecEnv):
    """What both environments share: spaces, masks, seeding, and infos without a dict per game and step.

    Attributes:
        batch: the games. You may read its arrays.
        below: the bot that a network is over, or None.
        env_seconds: the time spent in ``step``, ``reset`` and ``action_masks`` so far, without that of opponents.
    """

    def __init__(self, batch: Batch, over: Any = None) -> None:
        if not hasattr(batch, "untouched"):
            raise TypeError(f"{batch!r} is not a batch of games; kepler_envs.make_batch makes one")
        self.batch = batch
        self.below = opponent_of(over, batch.config) if over else None
        self.env_seconds = 0.0
        self.render_mode: str | None = None
        seen = batch.single_observation_space
        super().__init__(
            batch.num_envs, seen if self.below is None else with_choice(seen, batch), batch.single_action_space
        )
        self._rows = np.arange(batch.num_envs)
        self._no_infos: list[dict[str, Any]] = [{} for _ in range(batch.num_envs)]
        self._actions = np.empty(0, np.int64)  # of the last step; there are none before the first reset
        self._untouched = batch.untouched

    def action_masks(self) -> np.ndarray:
        """bool (N, A): the legal actions of the seats to move. Raises RuntimeError before the first reset."""
        self._check_dealt()
        begin = time.perf_counter()
        masks = self.batch.action_mask.astype(np.bool_)
        self.env_seconds += time.perf_counter() - begin
        return masks

    def _observe(self) -> np.ndarray:
        """What the seats to move see, and what the bot below would do; a copy."""
        if self.below is None:
            return self.batch.observation.copy()
        return with_choices(self.batch.observation, self.below(self.batch, self._rows))

    def _observe_final(self, seats: np.ndarray) -> np.ndarray:
        """The final states of games that have just ended, as these seats see them; there is no choice."""
        final = self.batch.observe_final(seats)
        return final if self.below is None else with_choices(final, np.zeros(len(final), np.int64))

    def seat_below(self, below: Opponent) -> None:
        """Let ``below`` take over as the bot that a network is over."""
        self.below = below
        self.start_below(self._rows)

    def start_below(self, rows: np.ndarray) -> None:
        """Let the bot below begin anew in the running games of these rows (M,)."""
        if self.below is not None:
            self.below.start(rows, ~opponent_seeds(self.batch.seed[rows]))

    def without_bots(self) -> Self:
        """A shallow copy without opponent and bot below, to be pickled where others take their places afterwards.

        Until :meth:`seat_below`, nobody is below; a :class:`SeatVecEnv` cannot be used before :meth:`seat_opponent`.
        """
        twin = copy.copy(self)
        twin.__dict__.pop("opponent", None)
        twin.below = None
        return twin

    def _deal(self) -> None:
        """New games: from the seed that ``seed()`` was given, else the next of each row."""
        seed = self._seeds[0]
        self._reset_seeds()  # before a seed that is refused, which would be refused for ever
        self._reset_options()
        if seed is not None:
            self.batch.reset(check_seed(seed))
        elif not self._untouched:
            self.batch.reset()
        self._untouched = False
        self._actions = np.zeros(self.num_envs, np.int64)

    def _check_dealt(self) -> None:
        """Raise NoGameError before the first reset: the bots start in the games with it."""
        if not self._actions.size:
            raise NoGameError

    def step_async(self, actions: np.ndarray) -> None:
        """Take the decisions (N,).

        Raises:
            RuntimeError: it is before the first reset.
            IllegalAction: one is ``Batch.SKIP``: a learner cannot pass its turn.
        """
        self._check_dealt()
        self._actions = np.asarray(actions)
        if (passed := self._actions == SKIP).any():
            legal = np.flatnonzero(self.action_masks()[passed.argmax()]).tolist()
            raise IllegalAction(f"row {passed.argmax()}: {SKIP} is no action id; legal: {legal}")

    def close(self) -> None:
        """Do nothing: the games live in this process."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Return a method's result once per game. For ``action_masks`` these are the rows of one call."""
        result = getattr(self, method_name)(*method_args, **method_kwargs)
        if method_name == "action_masks":
            return list(result if indices is None else result[list(self._get_indices(indices))])
        return [result for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[gym.Wrapper], indices: Any = None) -> list[bool]:
        """Return True for stable-baselines3's ``Monitor``: infos have the ``episode`` that it would write."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]


class SeatVecEnv(_BatchVecEnv):
    """One learning seat in each game. The other seats play by themselves.

    ``step`` returns when it is the learner's turn again or its game is over. Rewards accumulate between the learner's
    decisions, the final loss included, so those of an episode sum to what the game paid that seat. Games that end
    before the learner's first decision are skipped. What is not legal raises IllegalAction, whether the learner chose
    it or the opponent.

    Infos of a finished game: ``terminal_observation`` (the final state as the learner's seat sees it), ``episode``
    (``r``; ``l``, the learner's decisions; ``t``), ``seat``, ``rank``, ``truncated``. A game that reaches a limit pays
    its final result like any other, so nothing is left to bootstrap: ``TimeLimit.truncated`` stays False.

    Args:
        batch: the games.
        opponent: plays all other seats. It is a bot's name, or anything else that
            :func:`kepler_envs.adapters.opponents.opponent_of` takes.
        learner_seat: a fixed seat. With None, game number k of row g is played from seat (g + k) mod P.
        over: the bot that a network is over, named as ``opponent``. Observations get one more entry: what it would do.

    Raises:
        ValueError: there is no such seat.
        BotError: there is no such bot (this is a ValueError).
        TypeError: it is no batch, or an opponent is something else.

    Attributes:
        learner: int8 (N,), the learner's seat in each running game.
        opponent_seconds: the time spent in opponents' code so far.
    """

    def __init__(
        self,
        batch: Batch,
        opponent: Any = None,
        learner_seat: int | None = None,
        over: Any = None,
    ) -> None:
        super().__init__(batch, over)
        self.learner_seat = check_view(learner_seat, batch.num_players, "learner_seat")
        self.opponent = opponent_of(opponent, batch.config)
        self.opponent_seconds = 0.0
        rows = self.num_envs
        self.learner = np.zeros(rows, np.int8)
        self._owed = np.zeros(rows, np.float32)  # paid to the learner since its last move
        self._undecided = np.ones(rows, np.bool_)  # games in which the learner has not moved yet
        self._decisions = np.zeros(rows, np.int64)
        self._return = np.zeros(rows, np.float64)
        self._rewards = np.zeros(rows, np.float32)
        self._dones = np.zeros(rows, np.bool_)
        self._infos = self._no_infos
        self._made = time.time()

    def seat_opponent(self, opponent: Opponent, salt: int = 0) -> None:
        """Let ``opponent`` take over the other seats of the running games, with seeds that depend on ``salt``."""
        self.opponent = opponent
        opponent.start(self._rows, opponent_seeds(self.batch.seed + np.uint64(salt)))

    def reset(self) -> np.ndarray:
        """Deal new games and play them up to the learner's first decision."""
        begin = time.perf_counter()
        played_before = self.opponent_seconds
        self._deal()
        self._begin_games(self._rows)
        self._play_others()
        self.env_seconds += time.perf_counter() - begin - (self.opponent_seconds - played_before)
        return self._observe()

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        begin = time.perf_counter()
        played_before = self.opponent_seconds
        self._dones = np.zeros(self.num_envs, np.bool_)
        self._infos = self._no_infos
        self.batch.step(self._actions)
        self._undecided[:] = False
        self._decisions += 1
        self._settle()
        self._play_others()
        rewards = np.where(self._dones, self._rewards, self._owed)
        running = ~self._dones
        self._return[running] += self._owed[running]
        self._owed[running] = 0  # what a new game pays before the first decision stays owed
        self.env_seconds += time.perf_counter() - begin - (self.opponent_seconds - played_before)
        return self._observe(), rewards, self._dones, self._infos

    def _play_others(self) -> None:
        """Let the opponents move until the learner is to move in every row."""
        batch = self.batch
        rows = np.flatnonzero(batch.seat != self.learner)
        begun = int(batch.episodes.sum())
        while len(rows):
            actions = np.full(self.num_envs, batch.SKIP)
            begin = time.perf_counter()
            actions[rows] = choose(self.opponent, batch, rows)
            self.opponent_seconds += time.perf_counter() - begin
            batch.step(actions)
            self._settle()
            check_patience(int(batch.episodes.sum()) - begun, self.num_envs, self.learner_seat)
            rows = np.flatnonzero(batch.seat != self.learner)

    def _settle(self) -> None:
        """Book what the last step of the batch paid and ended."""
        self._owed += self.batch.reward[self._rows, self.learner]
        ended = np.flatnonzero(self.batch.terminated | self.batch.truncated)
        if len(ended):
            self._report(ended[~self._undecided[ended]])
            self._begin_games(ended)

    def _report(self, rows: np.ndarray) -> None:
        """Keep reward and infos of games that ended and in which the learner had moved."""
        if not len(rows):
            return
        batch = self.batch
        self._rewards[rows] = self._owed[rows]
        self._dones[rows] = True
        self._return[rows] += self._owed[rows]
        self._infos = list(self._infos)
        terminal = self._observe_final(self.learner)
        elapsed = round(time.time() - self._made, 6)
        for row in rows:
            seat = int(self.learner[row])
            self._infos[row] = {
                "terminal_observation": terminal[row],
                "TimeLimit.truncated": False,
                "truncated": bool(batch.truncated[row]),
                "seat": seat,
                "rank": int(batch.final_rank[row, seat]),
                "episode": {"r": float(self._return[row]), "l": int(self._decisions[row]), "t": elapsed},
            }

    def _begin_games(self, rows: np.ndarray) -> None:
        batch = self.batch
        if self.learner_seat is None:
            self.learner[rows] = (rows + batch.episodes[rows]) % batch.num_players
        else:
            self.learner[rows] = self.learner_seat
        self._owed[rows] = 0
        self._return[rows] = 0
        self._decisions[rows] = 0
        self._undecided[rows] = True
        self.opponent.start(rows, opponent_seeds(batch.seed[rows]))
        self.start_below(rows)


class SharedSeatVecEnv(_BatchVecEnv):
    """Every seat learns. Each step is one decision per game, by the seat that is to move.

    A subclass may let others decide for some seats, from which nothing is learned: see ``learning`` and
    ``others_choose``.

    This is for :class:`SharedMaskablePPO`, which sorts the decisions by seat. Rewards returned here are seat 0's, so
    that those of an episode sum to somebody's return; what all seats were paid is in ``batch.reward``. A network
    against itself says nothing of its strength: measure that on a :class:`SeatVecEnv`. Infos of a finished game:
    ``terminal_observation`` (as the seat that ended it sees it), ``episode`` (``r`` is seat 0's return, ``l`` the
    decisions of all seats, ``t``), ``truncated``, ``returns`` (P,).

    Args:
        batch: the games.
        over: the bot that a network is over, named as an opponent of :class:`SeatVecEnv`. Observations get one more
            entry: what it would do.

    Raises:
        BotError: there is no such bot (this is a ValueError).
        TypeError: it is no batch, or what the network is over is no bot.
    """

    def __init__(self, batch: Batch, over: Any = None) -> None:
        super().__init__(batch, over)
        self._made = time.time()

    @property
    def seats(self) -> np.ndarray:
        """int8 (N,): The seats to move, a copy."""
        return self.batch.seat.copy()

    @property
    def learning(self) -> np.ndarray:
        """bool (N,): Whether the seat to move is the learner's."""
        return np.ones(self.num_envs, np.bool_)

    def others_choose(self, actions: np.ndarray) -> np.ndarray:
        """The learner's choices (N,), replaced by those of others where the seat to move is not the learner's."""
        return actions

    def reset(self) -> np.ndarray:
        """Deal new games."""
        begin = time.perf_counter()
        self._deal()
        self.start_below(self._rows)
        self.env_seconds += time.perf_counter() - begin
        return self._observe()

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        begin = time.perf_counter()
        batch = self.batch
        movers = self.seats
        batch.step(self._actions)
        dones = batch.terminated | batch.truncated
        infos = self._no_infos
        if dones.any():
            infos = list(infos)
            terminal = self._observe_final(movers)
            self.start_below(np.flatnonzero(dones))
            elapsed = round(time.time() - self._made, 6)
            for row in np.flatnonzero(dones):
                infos[row] = {
                    "terminal_observation": terminal[row],
                    "TimeLimit.truncated": False,
                    "truncated": bool(batch.truncated[row]),
                    "returns": batch.final_return[row].copy(),
                    "episode": {
                        "r": float(batch.final_return[row, 0]),
                        "l": int(batch.final_length[row]),
                        "t": elapsed,
                    },
                }
        result = self._observe(), batch.reward[:, 0].copy(), dones, infos
        self.env_seconds += time.perf_counter() - begin
        return result
