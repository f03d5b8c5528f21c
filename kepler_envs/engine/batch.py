"""Thousands of games as arrays, stepped in place by one compiled call."""

from __future__ import annotations

import copy
from functools import cache, cached_property, partial
from typing import Any

import gymnasium
import numba
import numpy as np

from kepler_envs.engine import shared
from kepler_envs.engine.checks import check_integer, check_row, check_seats, check_type
from kepler_envs.engine.game import (
    RUNNING,
    TERMINATED,
    TRUNCATED,
    ComponentError,
    Configuration,
    Game,
    OptionError,
    record_array,
    records_from_bytes,
)
from kepler_envs.engine.kernel import INT, array_of, borrowed, helper, kernel, leaf
from kepler_envs.engine.linking import NOWHERE, Shared, address
from kepler_envs.engine.linking import shared as linked
from kepler_envs.engine.progress import load_or_compile
from kepler_envs.engine.rng import next_seed, start, stream_seed
from kepler_envs.engine.rows import row_dtype
from kepler_envs.engine.seeds import check_seed, fresh_seed
from kepler_envs.engine.shared import DEAL, LOOK, SEE
from kepler_envs.engine.simd import pack_bits
from kepler_envs.engine.snapshot import IllegalAction, Snapshot, describe_illegal
from kepler_envs.engine.transition import NO_DECISION, core, record_types

SKIP = -1
"""The action that leaves its game as it is."""

MOST_GAMES = 2**31 - 1
NONE_STUCK, FIRST_ILLEGAL = -1, -2
"""What a step of all rows ends with: a row that cannot go on, NONE_STUCK, or FIRST_ILLEGAL - row where nothing was
done."""

CHECKED_STEP, CHECK, STEP = 0, 1, 2
"""What is done with all rows: a step if all actions are legal, the check alone, or the step alone."""

GIVEN_SEEDS, NEXT_SEEDS, STREAM_SEEDS = 0, 1, 2
"""Where the seeds of a reset come from: the array as it is, the games that follow, the streams of one seed."""


class Batch:
    """``num_envs`` games side by side.

    The next game of a row replaces a finished one at once. What the finished game ended with stays in the ``final_*``
    arrays. All arrays are allocated once and overwritten by each step, so copy what you keep. All of them but
    ``states``, ``final_state``, ``observation`` and ``action_mask`` are views of the records ``rows``.

    Args:
        config: the game with its players, options and components.
        num_envs: the number of games N.
        seed: an integer 0 .. 2**64 - 1. Row g plays the games of stream g of this seed, whatever N is. Or an integer
            array (N,) with the seed of each row's first game. None takes a seed from the system.
        threads: the number of threads that share a step. More than one pays off from about a thousand games on. After
            a step with several, processes that are forked cannot use several themselves: begin them with ``spawn``.

    Raises:
        OptionError: a number is not allowed.
        ValueError: the seed is not allowed.
        TypeError: ``config`` is no configuration.
        ComponentError: see :meth:`reset`.

    Attributes:
        config: see above.
        num_envs: the number of games N.
        num_players: the number of seats P.
        threads: see above.
        single_observation_space: Gymnasium's Box of one row.
        single_action_space: Gymnasium's Discrete of one row.
        observation: int16 (N, D), of the seat to move.
        action_mask: int8 (N, A), of the seat to move.
        seat: int8 (N,), the seat to move.
        reward: float32 (N, P), what the last step paid each seat.
        terminated: bool (N,), whether the last step ended a game by its rules. The arrays above already show the next
            game.
        truncated: bool (N,), whether the last step ended a game by a limit.
        final_return: float32 (N, P), the returns of each row's last finished game.
        final_rank: int32 (N, P), its ranks.
        final_score: int32 (N, P), its scores.
        final_length: int32 (N,), the number of its decisions.
        final_state: its last state.
        episodes: int64 (N,), the number of games finished since the last :meth:`reset`.
        seed: uint64 (N,), the seeds of the current games. ``make(...).reset(seed=int(batch.seed[g]))`` deals the
            game of row g.
        infos: a dict with ``final_return``, ``final_rank``, ``final_score``, ``final_length``, ``episodes``, ``seat``
            and ``action_mask``.
        states: the N state records.
        legal_bits: uint64 (N, W), the legal sets as bits.
        legal_count: int32 (N,), the sizes of the legal sets.
        rows: the N records of :func:`kepler_envs.engine.rows.row_dtype`.
    """

    SKIP = SKIP

    def __init__(
        self, config: Configuration, num_envs: int, seed: int | np.integer | np.ndarray | None = None, threads: int = 1
    ) -> None:
        check_type("config", config, Configuration, 'load_game("GAME").configure() makes one')
        self.config = config
        self.num_envs = check_integer("num_envs", num_envs, 1, MOST_GAMES, error=OptionError)
        self.num_players = config.num_players
        self.threads = check_integer("threads", threads, 1, most_threads(), error=OptionError)
        self._allocate()
        self._bind_views()
        self._bind_kernels()
        self.reset(fresh_seed() if seed is None else seed)

    def __repr__(self) -> str:
        return f"<Batch of {self.num_envs} games of {self.config.label}, {int(self.episodes.sum())} finished>"

    @cached_property
    def single_observation_space(self) -> gymnasium.spaces.Box:
        """The space of one row of ``observation``."""
        layout = self.config.observation
        return gymnasium.spaces.Box(layout.low, layout.high, dtype=np.int16)

    @cached_property
    def single_action_space(self) -> gymnasium.spaces.Discrete:
        """The space of action ids."""
        return gymnasium.spaces.Discrete(len(self.config.actions))

    @property
    def untouched(self) -> bool:
        """Whether the games were dealt, and nobody has decided in any of them."""
        return not (self.episodes.any() or self.states["decisions"].any())

    def _allocate(self) -> None:
        game, rows = self.config.game, self.num_envs
        self.states = game.new_states(rows)
        self.final_state = game.new_states(rows)
        self.observation = np.zeros((rows, self.config.observation.size), np.int16)
        self.action_mask = np.zeros((rows, len(self.config.actions)), np.int8)
        self.rows = record_array(np.zeros(rows, row_dtype(game)))
        self._pick_words = np.zeros(game.mask_words, np.uint64)
        self._status = np.zeros(self.threads, np.int64)

    def _bind_views(self) -> None:
        rows, players = self.rows, self.num_players
        self.seed, self.policy_rng = rows["seed"], rows["policy_rng"]
        self.legal_bits, self.legal_count = rows["legal_bits"], rows["legal_count"]
        self.seat, self.terminated, self.truncated = rows["seat"], rows["terminated"], rows["truncated"]
        self.reward = rows["reward"][:, :players]
        self.final_return = rows["final_return"][:, :players]
        self.final_rank = rows["final_rank"][:, :players]
        self.final_score = rows["final_score"][:, :players]
        self.final_length, self.episodes = rows["final_length"], rows["episodes"]
        self.infos = {name: getattr(self, name) for name in INFOS}
        self._told = (self.observation, self.reward, self.terminated, self.truncated, self.infos)

    def _bind_kernels(self) -> None:
        game = self.config.game
        shaped = bool(self.config.values.get("shaping", 0))
        firsts = (
            shared.turn_kernel, shared.finish_kernel, *((shared.value_kernel,) if shaped else ()), begin_rows_kernel,
            step_rows_kernel,
            *(() if self.threads == 1 else (step_rows_parallel_kernel,)),
        )  # fmt: skip
        load_or_compile([partial(build, game) for build in firsts])
        self._arrays = (self.states, self.rows, self.observation, self.action_mask, self.config.constants)
        self._begin = begin_rows_kernel(game)
        self._step = step_rows_kernel(game) if self.threads == 1 else step_rows_parallel_kernel(game)
        self._value = shared.value_kernel(game).address if shaped else NOWHERE

    def __getstate__(self) -> dict[str, Any]:
        saved = {name: value for name, value in self.__dict__.items() if name not in _BOUND}
        for name in _RECORDS:  # as bytes: NumPy's own copies of records leave the padding undefined
            saved[name] = (getattr(self, name).dtype, getattr(self, name).tobytes())
        return saved

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__dict__.update(saved)
        for name in _RECORDS:
            dtype, data = saved[name]
            setattr(self, name, records_from_bytes(data, dtype))
        self.threads = min(self.threads, most_threads())  # there may be fewer here
        self._status = np.zeros(self.threads, np.int64)
        self._bind_views()
        self._bind_kernels()

    def __copy__(self) -> Batch:
        return copy.deepcopy(self)  # half a copy would play in the arrays of the other one

    def __deepcopy__(self, memo: dict[int, Any]) -> Batch:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        saved = self.__getstate__()
        config = saved.pop("config")  # immutable: shared
        twin.__setstate__({**copy.deepcopy(saved, memo), "config": config})
        return twin

    # ------------------------------------------------------------ games

    def reset(self, seed: int | np.integer | np.ndarray | None = None) -> None:
        """Deal every row anew. The ``final_*`` arrays stay as they are until a game ends.

        Args:
            seed: an integer gives row g stream g of it. An integer array (N,) gives each row the seed of its game. With
                None each row continues with its next game.

        Raises:
            ValueError: a seed is not allowed.
            ComponentError: a deal ends its game at once, before anybody decides. Only contrived component files do
                that. A batch holds games with decisions; the AEC environment pays out such a game.
        """
        first = np.zeros(1, np.uint64)
        if seed is None:
            mode = NEXT_SEEDS
        elif isinstance(seed, np.ndarray) and seed.ndim:
            if seed.shape != (self.num_envs,) or seed.dtype.kind not in "ui":
                raise ValueError(
                    f"seed must be an integer array ({self.num_envs},), not one of {seed.dtype} {seed.shape}"
                )
            wrong = np.flatnonzero(seed < 0)
            if wrong.size:
                raise ValueError(f"seed[{wrong[0]}] = {seed[wrong[0]]} is not allowed; allowed: an integer from 0 on")
            self.seed[:] = seed
            mode = GIVEN_SEEDS
        else:
            first[0] = check_seed(seed, f", an integer array ({self.num_envs},), or None")
            mode = STREAM_SEEDS
        self.reward[:] = 0
        self.terminated[:] = False
        self.truncated[:] = False
        self.episodes[:] = 0
        ended = self._begin(*self._arrays, first, mode, self._value)
        if ended >= 0:
            self._refuse_deal(ended)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """Make one decision in every game.

        Args:
            actions: integers (N,), at most int64. Each is an id that ``action_mask`` allows, or ``Batch.SKIP`` to leave
                that game as it is. The array may be read-only.

        Returns:
            ``observation``, ``reward``, ``terminated``, ``truncated``, ``infos``. They are the same arrays each time,
            overwritten.

        Raises:
            ValueError: the array has another type or shape. No game has changed.
            IllegalAction: an id is not legal; the message names the first such row. No game has changed.
            ComponentError: the step is done, but the next deal of a row ends its game at once (see :meth:`reset`).
        """
        actions = self._as_ids(actions)
        stuck = (
            self._step(*self._arrays, self.final_state, actions, self._value, CHECKED_STEP)
            if self.threads == 1
            else self._step_parallel(actions)
        )
        if stuck != NONE_STUCK:
            if stuck <= FIRST_ILLEGAL:
                self._refuse_action(FIRST_ILLEGAL - stuck, actions)
            if self.states["end"][stuck] != RUNNING:
                self._refuse_deal(stuck)
            raise AssertionError(f"{self.config.game.id}: game {stuck}: {NO_DECISION}")
        return self._told

    def _step_parallel(self, actions: np.ndarray) -> int:
        before = numba.get_num_threads()  # of the caller's own code
        numba.set_num_threads(self.threads)
        try:
            return int(self._step(*self._arrays, self.final_state, actions, self._value, self._status))
        finally:
            numba.set_num_threads(before)

    def _refuse_action(self, row: int, actions: np.ndarray) -> None:
        legal = self.config.legal_actions(self.action_mask[row])
        message = describe_illegal(self.config, self.states[row], int(actions[row]), legal)
        raise IllegalAction(f"game {row} of the batch: {message}")

    def _as_ids(self, actions: Any) -> np.ndarray:
        """The actions as kernels take them. Raises ValueError."""
        is_array = isinstance(actions, np.ndarray) and actions.shape == (self.num_envs,)
        if not is_array or actions.dtype.kind not in "iu" or actions.dtype == np.uint64:  # its values may not fit
            got = f"{actions.dtype} {actions.shape}" if isinstance(actions, np.ndarray) else type(actions).__name__
            raise ValueError(f"actions must be an integer array of shape ({self.num_envs},), at most int64, not {got}")
        ids = np.ascontiguousarray(actions, np.int64)
        return ids if ids.flags.aligned else ids.copy()

    def _refuse_deal(self, row: int) -> None:
        raise ComponentError(
            f"{self.config.game.id}: the deal of seed {self.seed[row]} (row {row}) ends the game at once, before "
            "anybody decides; a batch "
            "holds games with decisions: change the component file or the options"
        )

    def observe(self, seat: int | np.ndarray) -> np.ndarray:
        """What a seat sees now, as a new int16 array (N, D).

        ``seat`` is one seat for all rows, or an integer array (N,). Raises ValueError if the game has no such seat.
        """
        return self._observe(self.states, check_seats(seat, self.num_envs, self.num_players))

    def observe_final(self, seat: int | np.ndarray) -> np.ndarray:
        """What a seat sees in the last state of each row's last finished game, int16 (N, D).

        Rows that have not finished a game since the last :meth:`reset` are 0. ``seat`` is as in :meth:`observe`.
        """
        seats = check_seats(seat, self.num_envs, self.num_players)
        finished = self.episodes > 0
        if finished.all():
            return self._observe(self.final_state, seats)
        out = np.zeros_like(self.observation)
        out[finished] = self._observe(self.final_state[finished], seats[finished])
        return out

    def _observe(self, states: np.ndarray, seats: np.ndarray) -> np.ndarray:
        out = np.zeros((len(states), self.observation.shape[1]), self.observation.dtype)
        observe_rows_kernel(self.config.game)(states, self.config.constants, seats, out)
        return out

    def uniform(self) -> np.ndarray:
        """Draw a uniformly random legal id for every game, int64 (N,), from the batch's own ``policy_rng``.

        A row without a legal id gets ``SKIP``.
        """
        actions = np.empty(self.num_envs, np.int64)
        sample_rows_kernel(self.config.game)(self.rows, self.action_mask, actions, self._pick_words)
        return actions

    # ------------------------------------------------------------ positions

    def snapshot(self, row: int) -> Snapshot:
        """The position of one game. Raises ValueError if there is no such row."""
        return Snapshot.take(self.config, self.states, row)

    def final_snapshot(self, row: int) -> Snapshot:
        """The last position of a row's last finished game.

        Raises ValueError if there is no such row, or if it has not finished a game since the last :meth:`reset`.
        """
        row = check_row(row, self.num_envs)
        if self.episodes[row] == 0:
            raise ValueError(f"row {row} has not finished a game yet")
        return Snapshot.take(self.config, self.final_state, row)

    def restore(self, row: int, snapshot: Snapshot) -> None:
        """Put a position into a row. The row's seed stays: the game after this one follows from it.

        Raises ValueError if there is no such row, or if the position is over or belongs to another configuration.
        Raises TypeError if it is no snapshot.
        """
        row = check_row(row, self.num_envs)
        check_type("snapshot", snapshot, Snapshot, "batch.snapshot(row) gives one")
        if snapshot.config.digest != self.config.digest:
            raise ValueError("the snapshot belongs to another game, number of players, options or components")
        if snapshot.over:
            raise ValueError("the snapshot is of a finished game; a batch holds running games")
        self.states[row] = snapshot.states[0]
        refresh_row_kernel(self.config.game)(*self._arrays, row, self._value)


def most_threads() -> int:
    """The most threads that numba lets a kernel use in this process."""
    return int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


INFOS = ("final_return", "final_rank", "final_score", "final_length", "episodes", "seat", "action_mask")
"""What ``step`` returns as infos."""

_BOUND = (
    "seed", "policy_rng", "legal_bits", "legal_count", "seat", "terminated", "truncated", "reward", "final_return",
    "final_rank",
    "final_score", "final_length", "episodes", "infos", "_told", "_arrays", "_begin", "_step", "_value",
    "single_observation_space", "single_action_space",
)  # fmt: skip
"""Attributes that are views, compiled functions or spaces: left out of a pickle and made again."""

_RECORDS = ("states", "final_state", "rows")


# ---------------------------------------------------------------- kernels


@cache
def sample_rows_kernel(game: Game) -> Any:
    """(rows, action_mask int8 (N, A), actions int64 (N,), scratch uint64 (W,)).

    It draws a uniformly random allowed id for each row.
    """
    helpers, words, rest = core(game), game.mask_words, len(game.actions) - 64 * (game.mask_words - 1)
    count_legal, pick = helpers.count_legal, helpers.pick

    @kernel(
        game.scope,
        "sample_rows",
        (record_types(game).rows, array_of(np.int8, 2), array_of(np.int64), array_of(np.uint64)),
    )
    def sample_rows(rows, action_mask, actions, legal):
        action_mask = borrowed(action_mask)
        for g in range(rows.size):
            for word in range(words - 1):
                legal[word] = pack_bits(action_mask[g], 64 * word, 64)
            legal[words - 1] = pack_bits(action_mask[g], 64 * (words - 1), rest)
            count = count_legal(legal)
            actions[g] = pick(legal, count, rows[g].policy_rng) if count else SKIP

    return sample_rows


def _array_types(game: Game) -> tuple[Any, ...]:
    """Signature types of Batch._arrays: states, rows, observation, action_mask, constants."""
    kinds = record_types(game)
    return kinds.states, kinds.rows, array_of(np.int16, 2), array_of(np.int8, 2), kinds.constants


@cache
def _turn_row(game: Game) -> Any:
    """A compiled helper: a turn in a row of a batch, with what the row keeps of it; see
    :func:`kepler_envs.engine.shared.turn_kernel`."""
    expand, turn = core(game).expand, shared.turn_kernel(game).call

    @leaf
    def turn_row(s, c, action, row, observation, action_mask):
        row.legal_count = turn(s, c, action, address(row.legal_bits), address(observation), observation.size)
        row.seat = s.seat
        expand(row.legal_bits, action_mask)

    return turn_row


@cache
def begin_rows_kernel(game: Game) -> Any:
    """(*arrays, first uint64[1], mode, value): deal every row and write what its first seat sees.

    ``value`` is the address of :func:`kepler_envs.engine.shared.value_kernel` where rewards are shaped, or NOWHERE.
    Returns a row whose deal ends the game at once, or -1.
    """
    turn_row, find_value = _turn_row(game), shared.call_value(game)

    @kernel(game.scope, "begin_rows", (*_array_types(game), array_of(np.uint64), INT, INT))
    def begin_rows(states, rows, observation, action_mask, constants, first, mode, value):
        observation, action_mask = borrowed(observation), borrowed(action_mask)
        c = constants[0]
        ended = -1
        for g in range(states.size):
            s, row = states[g], rows[g]
            if mode == NEXT_SEEDS:
                row.seed = next_seed(row.seed)
            elif mode == STREAM_SEEDS:
                row.seed = stream_seed(first[0], g)
            start(row.policy_rng, ~row.seed)  # a stream apart from the deal's
            s.rng = row.seed
            turn_row(s, c, DEAL, row, observation[g], action_mask[g])
            if s.end != RUNNING:
                ended = g
            if value != NOWHERE:
                find_value(value, s, c.tables, address(row.potential))
        return ended

    return begin_rows


@cache
def refresh_row_kernel(game: Game) -> Any:
    """(*arrays, g, value): write what belongs to a row whose state was replaced; ``value`` as in ``begin_rows``."""
    turn_row, find_value = _turn_row(game), shared.call_value(game)

    @kernel(game.scope, "refresh_row", (*_array_types(game), INT, INT))
    def refresh_row(states, rows, observation, action_mask, constants, g, value):
        observation, action_mask = borrowed(observation), borrowed(action_mask)
        s, row, c = states[g], rows[g], constants[0]
        turn_row(s, c, LOOK, row, observation[g], action_mask[g])
        if value != NOWHERE:
            find_value(value, s, c.tables, address(row.potential))

    return refresh_row


@cache
def _step_rows(game: Game) -> Shared:
    """What :func:`step_rows_kernel` and its parallel form share."""
    turn, finish, find_value = shared.turn_kernel(game).call, shared.finish_kernel(game).call, shared.call_value(game)
    expand, is_legal, max_players = core(game).expand, core(game).is_legal, game.max_players

    @helper
    def find_illegal(rows, actions):
        """The first row with an illegal id, or -1."""
        for g in range(actions.size):
            if actions[g] != SKIP and not is_legal(rows[g].legal_bits, actions[g]):
                return g
        return -1

    @leaf
    def pay_shaping(s, t, row, value):
        """Reward every seat with the change of its potential."""
        for seat in range(max_players):
            row.reward[seat] = -row.potential[seat]
        find_value(value, s, t, address(row.potential))
        for seat in range(max_players):
            row.reward[seat] += row.potential[seat]

    @leaf
    def close_game(s, t, row):
        """Keep what the game ended with, and pay the returns."""
        finish(s, t, address(row.final_rank), address(row.final_score), address(row.final_return))
        for seat in range(max_players):
            row.reward[seat] += row.final_return[seat]
        row.final_length = s.decisions
        row.episodes += 1
        row.terminated = s.end == TERMINATED
        row.truncated = s.end == TRUNCATED

    @linked(game.scope, "step_rows", (*_step_types(game), INT))
    def step_rows(states, rows, observation, action_mask, constants, final_states, actions, value, what):
        if what != STEP:
            wrong = find_illegal(rows, actions)
            if wrong >= 0:
                return FIRST_ILLEGAL - wrong
            if what == CHECK:
                return NONE_STUCK
        observation, action_mask = borrowed(observation), borrowed(action_mask)
        c = constants[0]
        t = c.tables
        stuck, size = NONE_STUCK, observation.shape[1]
        for g in range(states.size):
            row = rows[g]
            for seat in range(max_players):
                row.reward[seat] = 0
            row.terminated = False
            row.truncated = False
            if actions[g] == SKIP:
                continue
            s = states[g]
            legal, out = address(row.legal_bits), address(observation[g])
            count = turn(s, c, actions[g], legal, out, size)
            if value != NOWHERE:
                pay_shaping(s, t, row, value)
            if s.end != RUNNING:
                close_game(s, t, row)
                final_states[g] = states[g]
                row.seed = next_seed(row.seed)
                s.rng = row.seed
                count = turn(s, c, DEAL, legal, out, size)
                if value != NOWHERE:
                    find_value(value, s, t, address(row.potential))
            if count == 0:
                stuck = g
            row.legal_count = count
            row.seat = s.seat
            expand(row.legal_bits, action_mask[g])
        return stuck

    return step_rows


def _step_types(game: Game) -> tuple[Any, ...]:
    """Signature types of what both forms of the step take first."""
    return (*_array_types(game), record_types(game).states, array_of(np.int64, readonly=True), INT)


def step_rows_kernel(game: Game) -> Any:
    """(*arrays, final_states, actions int64 (N,), value, what): one decision in every row; ``value`` as in
    ``begin_rows``, ``what`` is one of CHECKED_STEP, CHECK and STEP.

    If an illegal id is found, nothing is done, and FIRST_ILLEGAL - row is returned. Else a row without a legal action,
    or NONE_STUCK: its next deal ended the game at once, or the game has a bug.
    """
    return _step_rows(game).kernel


@cache
def step_rows_parallel_kernel(game: Game) -> Any:
    """(*arrays, final_states, actions int64 (N,), value, status int64 (threads,)): the same with CHECKED_STEP, shared
    between threads. ``status`` is for what each of them returns.

    Each thread checks its own rows. If one thread checked all of them, it would have to fetch from the other cores what
    they have just written, which can take as long as the step.
    """
    step_rows = _step_rows(game).call

    @leaf
    def among_all(ended, low):
        """What the rows from ``low`` on have ended with, with the number that the row has among all rows."""
        if ended == NONE_STUCK:
            return ended
        return low + ended if ended >= 0 else ended - low

    @kernel(game.scope, "step_rows_parallel", (*_step_types(game), array_of(np.int64)), parallel=True)
    def step_rows_parallel(states, rows, observation, action_mask, constants, final_states, actions, value, status):
        parts = status.size
        for what in (CHECK, STEP):
            for part in numba.prange(parts):
                low, high = actions.size * part // parts, actions.size * (part + 1) // parts
                ended = step_rows(
                    states[low:high], rows[low:high], observation[low:high], action_mask[low:high], constants,
                    final_states[low:high], actions[low:high], value, what,
                )  # fmt: skip
                status[part] = among_all(ended, low)
            for part in range(parts):
                if status[part] <= FIRST_ILLEGAL:
                    return status[part]
        return status.max()

    return step_rows_parallel


@cache
def observe_rows_kernel(game: Game) -> Any:
    """(states, constants, seats int64 (N,), out int16 (N, D)): what one seat of each row observes."""
    kinds, turn = record_types(game), shared.turn_kernel(game).call

    @kernel(game.scope, "observe_rows", (kinds.states, kinds.constants, array_of(np.int64), array_of(np.int16, 2)))
    def observe_rows(states, constants, seats, out):
        out = borrowed(out)
        for g in range(states.size):
            turn(states[g], constants[0], SEE - seats[g], NOWHERE, address(out[g]), out.shape[1])

    return observe_rows
