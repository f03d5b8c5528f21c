"""Gymnasium's vector environments: one seat in each of many games, stepped together as a batch.

For example::

    import gymnasium
    import kepler_envs  # registers the games

    envs = gymnasium.make_vec("kepler/kitten_adventurers-v1", num_envs=64, num_players=4, opponents="greedy")
    observations, infos = envs.reset(seed=7)
    actions = infos["action_mask"].argmax(axis=1)
    observations, rewards, terminations, truncations, infos = envs.step(actions)
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from kepler_envs.adapters.gym import (
    ILLEGAL_MODES,
    SEAT_ARGUMENTS,
    configuration,
    final_info,
    refused_info,
    seat_opponents,
)
from kepler_envs.adapters.opponents import check_patience, choose
from kepler_envs.engine.aec import NoGameError
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.checks import (
    check_choice,
    check_integer,
    check_reset_options,
    check_type,
    check_view,
    is_integer,
)
from kepler_envs.engine.game import Configuration, OptionError
from kepler_envs.engine.rendering import render
from kepler_envs.engine.seeds import SEED_LIMIT, check_seed, opponent_seeds
from kepler_envs.engine.snapshot import IllegalAction, Snapshot, describe_illegal

RENDER_MODES = ("ansi", "svg", "rgb_array")
NUMBERS = (bool, int, float)
"""Types whose values Gymnasium gathers in arrays of numbers; others become arrays of objects."""


def make_seats(
    name: str,
    num_envs: int = 1,
    num_players: int | None = None,
    opponents: Any = None,
    seat: int | None = None,
    illegal: str = "lose",
    render_mode: str | None = None,
    components: str | Path | None = None,
    threads: int = 1,
    **options: Any,
) -> SeatVectorEnv:
    """Make the environment behind ``gymnasium.make_vec("kepler/<game>", ...)``.

    It is a :class:`SeatVectorEnv` with the game's players, components and options.

    Raises:
        UnknownGame: there is no such game; a KeyError.
        BrokenGame: an installed package brings it, but it cannot be loaded; an ImportError.
        OptionError: a value is not allowed.
        ComponentError: the component file is wrong.
        BotError: there is no such bot (this is a ValueError).
        TypeError: an opponent is something else.
    """
    config = configuration("make_seats", name, num_players, components, options, (*SEAT_ARGUMENTS, "threads"))
    return SeatVectorEnv(config, num_envs, opponents, seat, illegal, render_mode, threads)


class SeatVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """``num_envs`` games N with one learner in each.

    It does what a ``SyncVectorEnv`` over :class:`kepler_envs.adapters.gym.SeatEnv` does, to the bit.

    The next game follows a finished one within the same step (``AutoresetMode.SAME_STEP``). Observation and
    ``action_mask`` are those of the new game's first decision, so no mask is ever empty and no step is lost. ``infos``
    hold what the old game ended with: ``final_obs`` and ``final_info``, for the rows of ``_final_info``.

    Row g of ``reset(seed=s)`` plays the game of ``gymnasium.make(...).reset(seed=s + g)``, and then the games of its
    resets without a seed.

    Args:
        config: the game with its players, options and components.
        num_envs: the number of games.
        opponents, seat: as in :class:`kepler_envs.adapters.gym.SeatEnv`.
        illegal: as in :class:`kepler_envs.adapters.gym.SeatEnv`. With ``raise`` no game changes.
        render_mode: None, ``ansi``, ``svg`` or ``rgb_array``. It gives a picture of each row.
        threads: the number of threads that share a step. More than one pays off from about a thousand games on. After
            a step with several, processes that are forked cannot use several themselves: begin them with ``spawn``.

    ``observation`` is int16 (N, D), ``rewards`` float64 (N,), ``terminations`` and ``truncations`` bool (N,). ``infos``
    has an array (N, ...) for each entry of a single environment's info. Beside it, with a leading ``_``, are the rows
    (bool) that have it.

    Raises:
        OptionError: a value is not allowed.
        BotError: there is no such bot (this is a ValueError).
        TypeError: an opponent is something else.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 2, "autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(
        self,
        config: Configuration,
        num_envs: int,
        opponents: Any = None,
        seat: int | None = None,
        illegal: str = "lose",
        render_mode: str | None = None,
        threads: int = 1,
    ) -> None:
        check_type("config", config, Configuration, 'load_game("GAME").configure() makes one')
        check_choice("illegal", illegal, ILLEGAL_MODES, OptionError)
        check_choice("render_mode", render_mode, (None, *RENDER_MODES), OptionError)
        self.config = config
        self.fixed_seat = check_view(seat, config.num_players, "seat", OptionError)
        self.illegal = illegal
        self.render_mode = render_mode
        self._batch = Batch(config, num_envs, 0, threads)
        self.num_envs = self._batch.num_envs
        self.single_observation_space = self._batch.single_observation_space
        self.single_action_space = self._batch.single_action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._opponents = seat_opponents(opponents, config)
        self._rows = np.arange(self.num_envs)
        self._learner = np.zeros(self.num_envs, np.int64)
        drawn = [seeding.np_random() for _ in self._rows]
        self._random = [generator for generator, _ in drawn]  # of seats and further seeds, one for each row
        self._random_seeds = [seed for _, seed in drawn]
        self._dealt = False
        self._owed = np.zeros(self.num_envs, np.float64)  # paid before the learner's first decision, and not yet told
        self._begin_step()

    def __copy__(self) -> SeatVectorEnv:
        return copy.deepcopy(self)  # half a copy would play in the arrays of the other one

    # ------------------------------------------------------------ games

    def reset(
        self, *, seed: int | Sequence[int | None] | np.ndarray | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal games and play them up to the learner's first decision.

        Args:
            seed: an integer s gives row g the seed s + g. A sequence gives one seed to each row. None continues from
                each row's last seed.
            options: ``reset_mask``, bool (N,), are the rows to deal anew. The others stay as they are and have no
                infos. Give the game's options to ``make_vec``.

        Raises:
            ValueError: a seed or the mask is not allowed.
            TypeError: ``options`` is neither a dict nor None.
            RuntimeError: the first reset leaves rows out, or every game ends before the learner's first decision.
            IllegalAction: an opponent chose what is not legal.
        """
        chosen = self._rows_of(options)
        seeds = self._row_seeds(seed)
        for row in chosen:
            if seeds[row] is not None:
                self._random[row], self._random_seeds[row] = seeding.np_random(seeds[row])
        self._dealt = True
        self._in_play[:] = False
        self._deal(chosen, [self._following(row) if seeds[row] is None else seeds[row] for row in chosen])
        self._play_others()
        return self._batch.observation.copy(), self._running_infos(chosen)

    def _rows_of(self, options: dict[str, Any] | None) -> np.ndarray:
        """The rows to deal anew."""
        check_reset_options(options)
        mask = (options or {}).get("reset_mask")
        if mask is None:
            return self._rows
        if not (
            isinstance(mask, np.ndarray) and mask.shape == (self.num_envs,) and mask.dtype == np.bool_ and mask.any()
        ):
            raise ValueError(f"reset_mask must be a bool array ({self.num_envs},) with at least one row, not {mask!r}")
        if not self._dealt and not mask.all():
            raise RuntimeError("some rows would have no game: call reset() without a mask first")
        return np.flatnonzero(mask)

    def _row_seeds(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if is_integer(seed):
            check_integer("seed", seed, 0, SEED_LIMIT - self.num_envs)
            return [int(seed) + row for row in range(self.num_envs)]
        if isinstance(seed, str) or not hasattr(seed, "__len__") or len(seed) != self.num_envs:
            raise ValueError(f"seed = {seed!r} is not allowed; allowed: an integer, {self.num_envs} of them, or None")
        return [None if one is None else check_seed(one, ", or None") for one in seed]

    def _following(self, row: int) -> int:
        return int(self._random[row].integers(2**63))

    def _deal(self, rows: np.ndarray, seeds: Sequence[int]) -> None:
        """Deal new games in these rows (M,)."""
        if len(rows) == self.num_envs:
            self._batch.reset(np.array(seeds, np.uint64))
        else:
            for row, seed in zip(rows, seeds, strict=True):
                self._batch.restore(row, Snapshot.deal(self.config, seed))
                self._batch.seed[row] = seed
        for row in rows:
            self._learner[row] = self._draw_seat(row)
        self._owed[rows] = 0
        own_seeds = opponent_seeds(self._batch.seed[rows])
        for place, opponent in enumerate(self._opponents):
            opponent.start(rows, own_seeds + np.uint64(place))

    def _draw_seat(self, row: int) -> int:
        if self.fixed_seat is not None:
            return self.fixed_seat
        return int(self._random[row].integers(self.config.num_players))

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Apply the learners' decisions, action ids (N,).

        Returns:
            The observations at the learners' next decisions, in the next game where one has ended; the rewards since
            the last ones; which games terminated; which were truncated (they reached a limit); infos.

        Raises:
            RuntimeError: no game is running.
            ValueError: the actions are not N integers.
            IllegalAction: an action is illegal, and ``illegal="raise"``. Or an opponent's is, whatever ``illegal`` is.
        """
        self._check_dealt()
        ids, refused = self._check_actions(actions)
        self._begin_step()
        self._rewards += self._owed
        self._owed[:] = 0
        for row in refused:
            self._refuse(row, ids[row])
        ids[refused] = Batch.SKIP
        self._deal_next(refused)
        self._advance(ids)
        self._play_others()
        infos = {**self._final_infos, **self._running_infos(self._rows)}
        return self._batch.observation.copy(), self._rewards, self._terminations, self._truncations, infos

    def _begin_step(self) -> None:
        self._rewards = np.zeros(self.num_envs, np.float64)  # paid to the learner since its last decision
        self._terminations = np.zeros(self.num_envs, np.bool_)
        self._truncations = np.zeros(self.num_envs, np.bool_)
        self._in_play = np.ones(self.num_envs, np.bool_)  # rows with the game in which the learner decided
        self._final_infos: dict[str, Any] = {}

    def _check_actions(self, actions: Any) -> tuple[np.ndarray, np.ndarray]:
        """The ids int64 (N,), and the rows (M,) in which they are illegal."""
        ids = np.asarray(actions)
        if ids.shape != (self.num_envs,) or ids.dtype.kind not in "iu":
            raise ValueError(f"the learners must decide with {self.num_envs} integer action ids, not {actions!r}")
        known = (ids >= 0) & (ids < len(self.config.actions))
        ids = ids.astype(np.int64)
        legal = known & (self._batch.action_mask[self._rows, np.where(known, ids, 0)] != 0)
        refused = np.flatnonzero(~legal)
        if refused.size and self.illegal == "raise":
            raise IllegalAction(f"row {refused[0]}: {self._describe_illegal(refused[0], ids[refused[0]])}")
        return ids, refused

    def _describe_illegal(self, row: int, action: int) -> str:
        legal = self.config.legal_actions(self._batch.action_mask[row])
        return describe_illegal(self.config, self._batch.states[row], int(action), legal)

    def _refuse(self, row: int, action: int) -> None:
        """Let the learner lose by its illegal action."""
        info = refused_info(self._batch, row, int(self._learner[row]), self._describe_illegal(row, action))
        self._rewards[row] = -1.0
        self._terminations[row] = True
        self._end(row, self._batch.observation[row].copy(), info)

    def _play_others(self) -> None:
        """Let the opponents move until the learner is to move in every row."""
        batch, players, games = self._batch, self.config.num_players, 0
        while True:
            behind = (batch.seat - self._learner - 1) % players
            if (behind == players - 1).all():
                return
            actions = np.full(self.num_envs, batch.SKIP)
            for place, opponent in enumerate(self._opponents):
                rows = np.flatnonzero(behind == place)
                if rows.size:
                    actions[rows] = choose(opponent, batch, rows)
            games += self._advance(actions)
            check_patience(games, self.num_envs, self.fixed_seat)

    def _advance(self, actions: np.ndarray) -> int:
        """Step the batch once. Book what it paid and ended; new games follow those that ended: so many."""
        batch = self._batch
        batch.step(actions)
        paid = batch.reward[self._rows, self._learner]
        self._rewards += np.where(self._in_play, paid, 0)
        self._owed += np.where(self._in_play, 0, paid)
        ended = np.flatnonzero(batch.terminated | batch.truncated)
        if ended.size:
            self._finish(ended[self._in_play[ended]])
            self._deal_next(ended)
        return len(ended)

    def _finish(self, rows: np.ndarray) -> None:
        """Finish these games. The learner had decided in them."""
        batch = self._batch
        self._terminations[rows] = batch.terminated[rows]
        self._truncations[rows] = batch.truncated[rows]
        last_seen = batch.observe_final(self._learner)
        for row in rows:
            self._end(row, last_seen[row], final_info(batch, row, int(self._learner[row])))

    def _end(self, row: int, observation: np.ndarray, info: dict[str, Any]) -> None:
        self._in_play[row] = False
        self._final_infos = self._add_info(self._final_infos, {"final_obs": observation, "final_info": info}, row)

    def _deal_next(self, rows: np.ndarray) -> None:
        if rows.size:
            self._deal(rows, [self._following(row) for row in rows])

    # ------------------------------------------------------------ what is told

    def _running_infos(self, rows: np.ndarray) -> dict[str, Any]:
        """Those of the games that run now, for these rows (M,)."""
        told = np.zeros(self.num_envs, np.bool_)
        told[rows] = True
        infos: dict[str, Any] = {
            "action_mask": self._batch.action_mask * told[:, None],
            "seat": self._learner * told,
            "returns": np.zeros(self.num_envs),
            "rank": np.zeros(self.num_envs, np.int64),
            "score": np.zeros(self.num_envs, np.int64),
        }
        for name, value in self.config.blank_info().items():
            infos[name] = self._blank_column(value, rows)
        return infos | {f"_{name}": told.copy() for name in infos}

    def _blank_column(self, value: Any, rows: np.ndarray) -> np.ndarray:
        if type(value) in NUMBERS:
            return np.zeros(self.num_envs, type(value))
        column = np.full(self.num_envs, None, object)
        for row in rows:
            column[row] = list(value) if isinstance(value, list) else value
        return column

    @property
    def np_random(self) -> tuple[np.random.Generator, ...]:
        """The rows' generators of seats and further seeds, as single environments have them."""
        return tuple(self._random)

    @property
    def np_random_seed(self) -> tuple[int, ...]:
        """The seeds of these generators."""
        return tuple(self._random_seeds)

    def snapshot(self, row: int) -> Snapshot:
        """The present position of a row.

        Raises:
            ValueError: there is no such row.
            RuntimeError: before the first ``reset``, as does :meth:`render`.
        """
        self._check_dealt()
        return self._batch.snapshot(row)

    def render(self) -> tuple[Any, ...] | None:
        """The position of each row in the render mode, as its learner sees it. Without a mode it is None."""
        if self.render_mode is None:
            return None
        mode = self.render_mode
        return tuple(render(self.snapshot(row), int(self._learner[row]), mode) for row in range(self.num_envs))

    def _check_dealt(self) -> None:
        if not self._dealt:
            raise NoGameError
