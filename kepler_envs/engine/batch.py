"""Thousands of games as arrays, stepped in place by one compiled call."""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np

from kepler_envs.engine.game import RUNNING, Configuration, Game, OptionError, record_array
from kepler_envs.engine.kernel import INT, array_of, helper, kernel, tuple_of
from kepler_envs.engine.rng import GENERATOR, mix, next_seed, stream_seed
from kepler_envs.engine.rows import pack_bits
from kepler_envs.engine.seeds import check_seed, fresh_seed
from kepler_envs.engine.single import core, record_types
from kepler_envs.engine.snapshot import IllegalAction, Snapshot, blank_state, describe_illegal

SKIP = -1
"""An action that leaves its game as it is."""


class Batch:
    """``num_envs`` games side by side.

    A finished game is replaced at once by the next one of its row; what it ended with stays in the ``final_*``
    arrays. All arrays are allocated once and overwritten by each step: copy what you keep.

    Args:
        config: the game with its players, options and components.
        num_envs: number of games N.
        seed: 0 .. 2**64 - 1; row g plays the games of stream g of this seed, whatever N is. None: from the system.
        threads: threads that share a step. Worth it from about a thousand games on.

    Attributes:
        observation: int16 (N, D), of the seat to move.
        action_mask: int8 (N, A), of the seat to move.
        seat: int8 (N,), the seat to move.
        reward: float32 (N, P), what the last step paid each seat.
        done: int8 (N,), 0 running, 1 terminated, 2 truncated: how the last step ended a game; the next is already dealt.
        final_return, final_place, final_score: float32, int32, int32 (N, P), of each row's last finished game.
        final_length: int32 (N,), its decisions. final_state: its last state.
        episodes: int64 (N,), games finished. seed: uint64 (N,), seeds of the games now running:
            ``make(...).reset(seed=int(batch.seed[g]))`` deals the same game.
        states: the N state records. legal_bits: uint64 (N, W), legal sets as bits. legal_count: int32 (N,), their sizes.
    """

    SKIP = SKIP

    def __init__(self, config: Configuration, num_envs: int, seed: int | None = None, threads: int = 1) -> None:
        if not isinstance(num_envs, (int, np.integer)) or num_envs < 1:
            raise OptionError(f"num_envs = {num_envs!r} is not allowed; allowed: an integer from 1 on")
        most = int(numba.config.NUMBA_NUM_THREADS)
        if not isinstance(threads, (int, np.integer)) or not 1 <= threads <= most:
            raise OptionError(f"threads = {threads!r} is not allowed; allowed here: an integer 1..{most}")
        self.config = config
        self.num_envs = int(num_envs)
        self.num_players = config.num_players
        self.threads = int(threads)
        self._allocate()
        self._bind_kernels()
        self.reset(fresh_seed() if seed is None else seed)

    def _allocate(self) -> None:
        game, rows, players = self.config.game, self.num_envs, self.num_players
        self.states = game.new_states(rows)
        self.final_state = game.new_states(rows)
        self.observation = np.zeros((rows, self.config.observation.size), np.int16)
        self.action_mask = np.zeros((rows, len(self.config.actions)), np.int8)
        self.seat = np.zeros(rows, np.int8)
        self.reward = np.zeros((rows, players), np.float32)
        self.done = np.zeros(rows, np.int8)
        self.final_return = np.zeros((rows, players), np.float32)
        self.final_place = np.zeros((rows, players), np.int32)
        self.final_score = np.zeros((rows, players), np.int32)
        self.final_length = np.zeros(rows, np.int32)
        self.episodes = np.zeros(rows, np.int64)
        self.seed = np.zeros(rows, np.uint64)
        self.legal_bits = np.zeros((rows, game.mask_words), np.uint64)
        self.legal_count = np.zeros(rows, np.int32)
        self.policy_rng = record_array(np.zeros(rows, GENERATOR))
        self._pick_words = np.zeros(game.mask_words, np.uint64)
        self._potential = np.zeros((rows, players), np.float32)
        self._status = np.zeros(self.threads, np.int64)
        self._shaped = int(bool(self.config.values.get("shaping", 0)))

    def _bind_kernels(self) -> None:
        game = self.config.game
        self._arrays = (
            self.states, blank_state(self.config), self.config.tables, self.config.options, self.seed, self.legal_bits,
            self.legal_count, self.observation, self.action_mask, self.seat, self.reward, self.done, self._potential,
            self.final_state, self.final_return, self.final_place, self.final_score, self.final_length, self.episodes,
        )  # fmt: skip
        self._begin = begin_rows_kernel(game)
        self._step = step_rows_kernel(game) if self.threads == 1 else step_rows_parallel_kernel(game)
        self._find_illegal = find_illegal_kernel(game)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _BOUND}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__dict__.update(saved)
        self._bind_kernels()

    # ------------------------------------------------------------ games

    def reset(self, seed: int | np.ndarray | None = None) -> None:
        """Deal every row anew.

        Args:
            seed: an integer: row g gets stream g of it; an integer array (N,): the seed of each row's game; None: each row goes on
                with its next game.
        """
        if seed is None:
            self.seed += np.uint64(next_seed(np.uint64(0)))
        elif isinstance(seed, np.ndarray):
            if seed.shape != (self.num_envs,) or seed.dtype.kind not in "ui" or (seed.dtype.kind == "i" and seed.min() < 0):
                raise ValueError(
                    f"seeds must be {self.num_envs} integers from 0 on, not an array of {seed.dtype} {seed.shape}"
                )
            self.seed[:] = seed
        else:
            first = np.uint64(check_seed(seed))
            for row in range(self.num_envs):
                self.seed[row] = stream_seed(first, np.uint64(row))
        self.policy_rng["rng"] = [mix(word) for word in self.seed]
        self.reward[:] = 0
        self.done[:] = 0
        self.episodes[:] = 0
        self._begin(self._arrays)

    def step(self, actions: np.ndarray) -> None:
        """One decision in every game.

        Args:
            actions: integers (N,): an id that ``action_mask`` allows, or ``Batch.SKIP`` to leave that game as it is.

        Raises:
            IllegalAction: naming the first row with an id that is not legal; no game has changed.
        """
        actions = np.ascontiguousarray(actions, np.int64) if self._is_id_array(actions) else self._refuse_array(actions)
        wrong = self._find_illegal(self.legal_bits, actions)
        if wrong >= 0:
            legal = self.config.legal_ids(self.action_mask[wrong])
            message = describe_illegal(self.config, self.states[wrong], int(actions[wrong]), legal)
            raise IllegalAction(f"game {wrong} of the batch: {message}")
        if self.threads == 1:
            stuck = self._step(self._arrays, actions, self._shaped, 0, self.num_envs)
        else:
            numba.set_num_threads(self.threads)
            self._step(self._arrays, actions, self._shaped, self._status)
            stuck = int(self._status.max())
        if stuck >= 0:
            raise AssertionError(f"{self.config.game.id}: game {stuck} has a node without a legal action (a bug of the game)")

    def _is_id_array(self, actions: Any) -> bool:
        return (
            isinstance(actions, np.ndarray)
            and actions.shape == (self.num_envs,)
            and actions.dtype.kind in "iu"
            and actions.dtype != np.uint64
        )

    def _refuse_array(self, actions: Any) -> np.ndarray:
        got = f"{actions.dtype} {actions.shape}" if isinstance(actions, np.ndarray) else type(actions).__name__
        raise ValueError(f"actions must be an integer array of shape ({self.num_envs},), not {got}")

    def observe(self, seat: int | np.ndarray) -> np.ndarray:
        """What a seat (one for all rows, or an integer array (N,)) sees now: a new int16 array (N, D)."""
        seats = np.ascontiguousarray(np.broadcast_to(np.asarray(seat), (self.num_envs,)), np.int64)
        if seats.min() < 0 or seats.max() >= self.num_players:
            raise ValueError(f"seat {seat!r} is outside 0..{self.num_players - 1}")
        out = np.zeros_like(self.observation)
        observe_rows_kernel(self.config.game)(self.states, self.config.tables, seats, out)
        return out

    def observe_final(self, seat: int | np.ndarray) -> np.ndarray:
        """What a seat sees in the last state of each row's last finished game: int16 (N, D)."""
        seats = np.ascontiguousarray(np.broadcast_to(np.asarray(seat), (self.num_envs,)), np.int64)
        out = np.zeros_like(self.observation)
        observe_rows_kernel(self.config.game)(self.final_state, self.config.tables, seats, out)
        return out

    def uniform(self) -> np.ndarray:
        """A uniformly random legal id for every game: int64 (N,), from the batch's own ``policy_rng``."""
        actions = np.empty(self.num_envs, np.int64)
        sample_rows_kernel(self.config.game)(self.action_mask, self.policy_rng, actions, self._pick_words)
        return actions

    # ------------------------------------------------------------ positions

    def snapshot(self, row: int) -> Snapshot:
        """The position of one game."""
        return Snapshot.take(self.config, self.states, row)

    def final_snapshot(self, row: int) -> Snapshot:
        """The last position of a row's last finished game."""
        if self.episodes[row] == 0:
            raise ValueError(f"row {row} has not finished a game yet")
        return Snapshot.take(self.config, self.final_state, row)

    def restore(self, row: int, snapshot: Snapshot) -> None:
        """Put a position into a row. ValueError if it is over or of another configuration."""
        if snapshot.config.digest != self.config.digest:
            raise ValueError("the snapshot belongs to another game, number of players, options or components")
        if snapshot.over:
            raise ValueError("the snapshot is of a finished game; a batch holds running games")
        self.states[row] = snapshot.states[0]
        refresh_row_kernel(self.config.game)(self._arrays, row)


_BOUND = ("_arrays", "_begin", "_step", "_find_illegal")


# ---------------------------------------------------------------- kernels


@cache
def sample_rows_kernel(game: Game) -> Any:
    """(action_mask int8 (N, A), generators GENERATOR (N,), actions int64 (N,)): a uniform allowed id for each row."""
    helpers, words, rest = core(game), game.mask_words, len(game.actions) - 64 * (game.mask_words - 1)
    count_legal, pick = helpers.count_legal, helpers.pick

    @kernel(game.scope, "sample_rows", (array_of(np.int8, 2), array_of(GENERATOR), array_of(np.int64), array_of(np.uint64)))  # fmt: skip
    def sample_rows(action_mask, generators, actions, legal):
        for row in range(action_mask.shape[0]):
            for word in range(words - 1):
                legal[word] = pack_bits(action_mask[row], 64 * word, 64)
            legal[words - 1] = pack_bits(action_mask[row], 64 * (words - 1), rest)
            actions[row] = pick(legal, count_legal(legal), generators[row])

    return sample_rows


def _arrays_type(game: Game) -> Any:
    kinds = record_types(game)
    return tuple_of(
        kinds.states, kinds.blank, kinds.tables, kinds.options, array_of(np.uint64), array_of(np.uint64, 2),
        array_of(np.int32), array_of(np.int16, 2), array_of(np.int8, 2), array_of(np.int8), array_of(np.float32, 2),
        array_of(np.int8), array_of(np.float32, 2), kinds.states, array_of(np.float32, 2), array_of(np.int32, 2),
        array_of(np.int32, 2), array_of(np.int32), array_of(np.int64),
    )  # fmt: skip


@cache
def _row_helpers(game: Game) -> tuple[Any, Any, Any]:
    """Compiled helpers on one row: (deal, show, advance_rows)."""
    helpers, verbs = core(game), game.verbs
    begin, decide, expand, observe = helpers.begin, helpers.decide, helpers.expand, helpers.observe
    find_places, find_scores, find_returns, potential = verbs.places, verbs.scores, verbs.returns, verbs.potential

    @helper
    def show(arrays, g):
        """Write what the seat to move sees."""
        states, _, tables, _, _, legal_bits, _, observation, action_mask, seat = arrays[:10]
        s = states[g]
        expand(legal_bits[g], action_mask[g])
        observe(s, tables[0], int(s.seat), observation[g])
        seat[g] = s.seat

    @helper
    def deal(arrays, g):
        """Start the game of the row's seed."""
        states, blank, tables, options, seed, legal_bits, legal_count = arrays[:7]
        legal_count[g] = begin(states, g, blank, tables[0], options[0], seed[g], legal_bits[g])
        potential(states[g], tables[0], arrays[12][g])

    @helper
    def end_game(arrays, g):
        """Keep what the game ended with, pay the returns, deal the next one."""
        states, _, tables, _, seed = arrays[:5]
        reward, done = arrays[10], arrays[11]
        final_state, final_return, final_place, final_score, final_length, episodes = arrays[13:]
        s, t = states[g], tables[0]
        find_places(s, t, final_place[g])
        find_scores(s, t, final_score[g])
        find_returns(s, t, final_place[g], final_return[g])
        for seat in range(reward.shape[1]):
            reward[g, seat] += final_return[g, seat]
        done[g] = s.end
        final_length[g] = s.decisions
        final_state[g] = states[g]
        episodes[g] += 1
        seed[g] = next_seed(seed[g])
        deal(arrays, g)

    @helper
    def pay_shaping(arrays, g):
        states, tables, reward, before = arrays[0], arrays[2], arrays[10], arrays[12]
        for seat in range(reward.shape[1]):
            reward[g, seat] = -before[g, seat]
        potential(states[g], tables[0], before[g])
        for seat in range(reward.shape[1]):
            reward[g, seat] += before[g, seat]

    @helper
    def advance_rows(arrays, actions, shaped, low, high):
        """One decision in the rows ``low .. high - 1``; a row that got stuck, or -1."""
        states, _, tables, _, _, legal_bits, legal_count, observation, action_mask, seats, reward, done = arrays[:12]
        t = tables[0]
        stuck = -1
        for g in range(low, high):
            for seat in range(reward.shape[1]):
                reward[g, seat] = 0
            done[g] = 0
            action = actions[g]
            if action == SKIP:
                continue
            s = states[g]
            count = decide(s, t, action, legal_bits[g])
            legal_count[g] = count
            if shaped:
                pay_shaping(arrays, g)
            if s.end != RUNNING:
                end_game(arrays, g)
            elif count == 0:
                stuck = g
            expand(legal_bits[g], action_mask[g])
            observe(s, t, int(s.seat), observation[g])
            seats[g] = s.seat
        return stuck

    return deal, show, advance_rows


@cache
def begin_rows_kernel(game: Game) -> Any:
    deal, show, _ = _row_helpers(game)

    @kernel(game.scope, "begin_rows", (_arrays_type(game),))
    def begin_rows(arrays):
        for g in range(arrays[0].size):
            deal(arrays, g)
            show(arrays, g)

    return begin_rows


@cache
def refresh_row_kernel(game: Game) -> Any:
    _, show, _ = _row_helpers(game)
    find_legal, potential = core(game).find_legal, game.verbs.potential

    @kernel(game.scope, "refresh_row", (_arrays_type(game), INT))
    def refresh_row(arrays, g):
        states, tables, legal_bits, legal_count = arrays[0], arrays[2], arrays[5], arrays[6]
        legal_count[g] = find_legal(states[g], tables[0], legal_bits[g])
        potential(states[g], tables[0], arrays[12][g])
        show(arrays, g)

    return refresh_row


@cache
def step_rows_kernel(game: Game) -> Any:
    advance_rows = _row_helpers(game)[2]

    @kernel(game.scope, "step_rows", (_arrays_type(game), array_of(np.int64), INT, INT, INT))
    def step_rows(arrays, actions, shaped, low, high):
        return advance_rows(arrays, actions, shaped, low, high)

    return step_rows


@cache
def step_rows_parallel_kernel(game: Game) -> Any:
    advance_rows = _row_helpers(game)[2]

    @kernel(game.scope, "step_rows_parallel", (_arrays_type(game), array_of(np.int64), INT, array_of(np.int64)), parallel=True)  # fmt: skip
    def step_rows_parallel(arrays, actions, shaped, status):
        rows, parts = actions.size, status.size
        for part in numba.prange(parts):
            status[part] = advance_rows(arrays, actions, shaped, rows * part // parts, rows * (part + 1) // parts)

    return step_rows_parallel


@cache
def find_illegal_kernel(game: Game) -> Any:
    is_legal = core(game).is_legal

    @kernel(game.scope, "find_illegal", (array_of(np.uint64, 2), array_of(np.int64)))
    def find_illegal(legal_bits, actions):
        for g in range(actions.size):
            if actions[g] != SKIP and not is_legal(legal_bits[g], actions[g]):
                return g
        return -1

    return find_illegal


@cache
def observe_rows_kernel(game: Game) -> Any:
    kinds, observe = record_types(game), game.verbs.observe

    @kernel(game.scope, "observe_rows", (kinds.states, kinds.tables, array_of(np.int64), array_of(np.int16, 2)))
    def observe_rows(states, tables, seats, out):
        for g in range(states.size):
            observe(states[g], tables[0], seats[g], out[g])

    return observe_rows
