"""Gymnasium: one seat of a game against given opponents.

For example::

    import gymnasium
    import kepler_envs  # registers the games

    env = gymnasium.make("kepler/kitten_adventurers-v1", num_players=4)
    observation, info = env.reset(seed=7)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from kepler_envs.adapters.opponents import Opponent, check_patience, choose, opponent_of
from kepler_envs.bots.protocol import BotOpponent
from kepler_envs.engine.aec import NoGameError
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.checks import check_choice, check_reset_options, check_type, check_view, is_integer
from kepler_envs.engine.game import Configuration, OptionError, UnknownOptionError
from kepler_envs.engine.rendering import RENDER_MODES, Window, render
from kepler_envs.engine.seeds import check_seed, opponent_seeds
from kepler_envs.engine.snapshot import IllegalAction, Snapshot, describe_illegal
from kepler_envs.registry import configure

ILLEGAL_MODES = ("lose", "raise")
SEAT_ARGUMENTS = ("opponents", "seat", "illegal", "render_mode")
"""What ``gymnasium.make`` takes beside what ``Game.configure`` does."""
ROW = np.zeros(1, np.int64)
"""The one row of the batch."""


def make_seat(
    name: str,
    num_players: int | None = None,
    opponents: Any = None,
    seat: int | None = None,
    illegal: str = "lose",
    render_mode: str | None = None,
    components: str | Path | None = None,
    **options: Any,
) -> SeatEnv:
    """Make the environment behind ``gymnasium.make("kepler/<game>", ...)``.

    It is a :class:`SeatEnv` with the game's players, components and options.

    Raises:
        UnknownGame: there is no such game; a KeyError.
        BrokenGame: an installed package brings it, but it cannot be loaded; an ImportError.
        OptionError: a value is not allowed.
        ComponentError: the component file is wrong.
        BotError: there is no such bot (this is a ValueError).
        TypeError: an opponent is something else.
    """
    config = configuration("make_seat", name, num_players, components, options)
    return SeatEnv(config, opponents, seat, illegal, render_mode)


def configuration(
    caller: str,
    name: str,
    num_players: int | None,
    components: str | Path | None,
    options: dict[str, Any],
    also: Sequence[str] = SEAT_ARGUMENTS,
) -> Configuration:
    """The configuration that a user of Gymnasium asks ``caller`` for. It raises the errors of :func:`make_seat`."""
    try:
        return configure(name, num_players, components, options, also)
    except UnknownOptionError as problem:
        # as Python words it
        message = f"{caller}() got an unexpected keyword argument {problem.names[0]!r}: {problem}"
        raise UnknownOptionError(message, problem.names) from None


class SeatEnv(gymnasium.Env[np.ndarray, int | np.integer]):
    """A game as one of its players lives it.

    ``step`` returns when it is the learner's turn again, or when the game is over. Rewards accumulate between the
    learner's decisions, the final loss included, so they sum to what the game paid that seat: what it paid before the
    learner's first decision comes with that. Games that end before it are skipped. A truncated game (it reached a
    limit) has paid its final result, so there is nothing to bootstrap.

    Args:
        config: the game with its players, options and components.
        opponents: one opponent for all other seats, or a sequence with one for each of them, seated in order behind the
            learner. An opponent is a bot's name (``greedy``) or anything else that
            :func:`kepler_envs.adapters.opponents.opponent_of` takes. None plays uniformly at random.
        seat: the learner's seat. None draws it anew at each ``reset``.
        illegal: what an illegal action does. ``lose``: the game ends with reward -1 and a text in ``info["illegal"]``,
            because Gymnasium wants every action of the space to be accepted. ``raise``: it raises an
            :class:`IllegalAction`, and nothing changes.
        render_mode: None, ``ansi`` (str), ``svg`` (str), ``rgb_array`` (uint8 H x W x 3) or ``human``. It shows what
            the learner sees.

    ``observation`` is int16 (D,), with the pieces of ``env.unwrapped.config.observation``. ``info`` has ``action_mask``
    (int8 (A,)), ``seat``, ``returns``, ``rank``, ``score`` and what the game's page lists. All but the mask and the
    seat are 0 until the end. At the end the mask is all 1: vectorised environments that start the next game one step
    later take an action in between, which nobody looks at.

    Raises:
        OptionError: a value is not allowed.
        BotError: there is no such bot (this is a ValueError).
        TypeError: an opponent is something else.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": 2}

    def __init__(
        self,
        config: Configuration,
        opponents: Any = None,
        seat: int | None = None,
        illegal: str = "lose",
        render_mode: str | None = None,
    ) -> None:
        check_type("config", config, Configuration, 'load_game("GAME").configure() makes one')
        check_choice("illegal", illegal, ILLEGAL_MODES, OptionError)
        check_choice("render_mode", render_mode, (None, *RENDER_MODES), OptionError)
        self.config = config
        self.fixed_seat = check_view(seat, config.num_players, "seat", OptionError)
        self.illegal = illegal
        self.render_mode = render_mode
        self._batch = Batch(config, 1, seed=0)
        self.observation_space = self._batch.single_observation_space
        self.action_space = self._batch.single_action_space
        self._opponents = seat_opponents(opponents, config)
        self._learner = 0
        self._owed = 0.0  # paid to the learner and not yet told
        self._running = False
        self._dealt = False
        self._window = Window(config.game.title)

    def __copy__(self) -> SeatEnv:
        return copy.deepcopy(self)  # half a copy would play in the arrays of the other one

    # ------------------------------------------------------------ game

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal a game and play it up to the learner's first decision.

        Args:
            seed: an integer 0 .. 2**64 - 1. It deals the game that the AEC environment deals from it. None continues
                from the last seed.
            options: ignored. Give the game's options to ``make``.

        Raises:
            ValueError: the seed is not allowed.
            TypeError: ``options`` is neither a dict nor None.
            RuntimeError: every game ends before the learner's first decision.
            IllegalAction: an opponent chose what is not legal.
        """
        check_reset_options(options)
        seed = None if seed is None else check_seed(seed, ", or None")
        super().reset(seed=seed)
        self._deal(self._following() if seed is None else seed)
        games = 0
        while not self._play_others():
            games += 1
            check_patience(games, 1, self.fixed_seat)
            self._deal(self._following())
        self._show()
        return self._batch.observation[0].copy(), self._info()

    def _following(self) -> int:
        return int(self.np_random.integers(2**63))

    def _deal(self, seed: int) -> None:
        if self.fixed_seat is None:
            self._learner = int(self.np_random.integers(self.config.num_players))
        else:
            self._learner = self.fixed_seat
        self._batch.reset(np.array([seed], np.uint64))
        self._dealt = True
        seeds = opponent_seeds(self._batch.seed)
        for place, opponent in enumerate(self._opponents):
            opponent.start(ROW, seeds + np.uint64(place))
        self._running = True
        self._owed = 0.0

    def _play_others(self) -> bool:
        """Let the opponents move until the learner decides. Returns False if the game is over."""
        while self._running and self._batch.seat[0] != self._learner:
            behind = int(self._batch.seat[0] - self._learner - 1) % self.config.num_players
            self._advance(choose(self._opponents[behind], self._batch, ROW))
        return self._running

    def _advance(self, actions: np.ndarray) -> None:
        self._batch.step(actions)
        self._owed += float(self._batch.reward[0, self._learner])
        self._running = not (self._batch.terminated[0] or self._batch.truncated[0])

    def step(self, action: int | np.integer) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Apply the learner's decision.

        Returns:
            The observation at the learner's next decision or at the end, the reward since the last one, terminated,
            truncated (the game reached a limit), info.

        Raises:
            RuntimeError: no game is running.
            ValueError: the action is not an integer.
            IllegalAction: the action is illegal, and ``illegal="raise"``. Or an opponent's is, whatever ``illegal`` is.
        """
        if not self._running:
            raise NoGameError
        if not is_integer(action):
            raise ValueError(f"the learner must decide with an integer action id, not {action!r}")
        if not (0 <= action < len(self.config.actions) and self._batch.action_mask[0, action]):
            return self._refuse(int(action))
        self._advance(np.array([action], np.int64))
        goes_on = self._play_others()
        self._show()
        if goes_on:
            return self._batch.observation[0].copy(), self._collect(), False, False, self._info()
        observation = self._batch.observe_final(self._learner)[0]
        terminated, truncated = bool(self._batch.terminated[0]), bool(self._batch.truncated[0])
        return observation, self._collect(), terminated, truncated, final_info(self._batch, 0, self._learner)

    def _collect(self) -> float:
        """What the learner was paid since its last decision, or since the deal."""
        paid, self._owed = self._owed, 0.0
        return paid

    def _refuse(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        batch = self._batch
        legal = self.config.legal_actions(batch.action_mask[0])
        message = describe_illegal(self.config, batch.states[0], action, legal)
        if self.illegal == "raise":
            raise IllegalAction(message)
        self._running = False
        self._show()
        return batch.observation[0].copy(), -1.0, True, False, refused_info(batch, 0, self._learner, message)

    # ------------------------------------------------------------ what is told

    def _info(self) -> dict[str, Any]:
        return {
            "action_mask": self._batch.action_mask[0].copy(),
            "seat": self._learner,
            "returns": 0.0,
            "rank": 0,
            "score": 0,
            **self.config.blank_info(),
        }

    def action_masks(self) -> np.ndarray:
        """bool (A,): the legal actions, as sb3-contrib's MaskablePPO asks for them. At the end all are, as in ``info``.

        Raises RuntimeError before the first ``reset``, as do :meth:`snapshot` and :meth:`render`.
        """
        self._check_dealt()
        if not self._running:  # the batch already shows the next game, which nobody will play
            return np.ones(len(self.config.actions), np.bool_)
        return self._batch.action_mask[0].astype(np.bool_)

    def snapshot(self) -> Snapshot:
        """The present position, or the last one of a finished game."""
        self._check_dealt()
        over = self._batch.episodes[0] > 0 and not self._running
        return self._batch.final_snapshot(0) if over else self._batch.snapshot(0)

    def render(self) -> Any:
        """The position in the render mode, as the learner sees it. ``human`` returns None."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() was called, but render_mode is None: give one to make()")
            return None
        if self.render_mode == "human":
            self._show()
            return None
        return render(self.snapshot(), self._learner, self.render_mode)

    def _show(self) -> None:
        """Let a window follow the game."""
        if self.render_mode == "human":
            self._window.show(self.snapshot(), self._learner)

    def _check_dealt(self) -> None:
        if not self._dealt:
            raise NoGameError

    def close(self) -> None:
        """Close the window, if ``human`` opened one."""
        if self.render_mode == "human":
            self._window.close()


def final_info(batch: Batch, row: int, seat: int) -> dict[str, Any]:
    """What the learner in ``seat`` is told about the last finished game of a row."""
    results = {
        "returns": float(batch.final_return[row, seat]),
        "rank": int(batch.final_rank[row, seat]),
        "score": int(batch.final_score[row, seat]),
    }
    return _ended_info(batch.config, seat, results, batch.final_state[row])


def refused_info(batch: Batch, row: int, seat: int, message: str) -> dict[str, Any]:
    """What the learner is told about a game that its illegal action ends."""
    last = batch.snapshot(row)
    results = {"returns": -1.0, "rank": batch.num_players, "score": int(last.results()[1][seat])}
    return {**_ended_info(batch.config, seat, results, last.state), "illegal": message}


def _ended_info(config: Configuration, seat: int, results: dict[str, Any], state: Any) -> dict[str, Any]:
    return {
        "action_mask": np.ones(len(config.actions), np.int8),
        "seat": seat,
        **results,
        **config.game.info(state, config.tables[0], seat),
    }


def seat_opponents(given: Any, config: Configuration) -> list[Opponent]:
    """Make an opponent for each seat behind the learner's."""
    others = config.num_players - 1
    if not isinstance(given, (list, tuple)):
        given = [given] * others
    if len(given) != others:
        raise OptionError(f"{len(given)} opponents for {others} other seats; allowed: {others} of them, or one for all")
    return [_seat_opponent(one, config) for one in given]


def _seat_opponent(given: Any, config: Configuration) -> Opponent:
    """Make an opponent for one seat.

    A bot that somebody has loaded is copied: it remembers games by their rows, and other seats and environments have
    rows of the same numbers.
    """
    return given.with_own_memory() if isinstance(given, BotOpponent) else opponent_of(given, config)
