"""Playing scheduled games in this process: compiled policies among themselves, agents side by side, or one game by
itself.

However a game is played, its course is the same. It depends on its seed, on the agents and on their seeds. So a game
can be replayed in compiled code or step by step, among others or alone.

**Forfeits.** An agent forfeits if it raises an exception, names an id that is not legal, takes too long for a decision,
takes too much memory, or if its process ends. Uniform play then takes over its seats, the game goes on, and in the end
those seats are placed behind all others. If several agents forfeit, the first is last. The others keep their order, and
the game's rule for returns is applied to the resulting ranks.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from kepler_envs import bots
from kepler_envs.bots.compiled import CompiledBot
from kepler_envs.bots.from_file import EXCEPTION, ILLEGAL, TOO_SLOW, BotFailed, BotFromFile
from kepler_envs.bots.protocol import Bot, BotError, TrustedDecisions, legal_ids
from kepler_envs.bots.uniform import UniformBot
from kepler_envs.engine.batch import SKIP, Batch
from kepler_envs.engine.game import TERMINATED, TRUNCATED, Configuration
from kepler_envs.engine.playout import CompiledPolicy
from kepler_envs.engine.snapshot import IllegalAction
from kepler_envs.tournament.schedule import ScheduledGame, stand_in_seed
from kepler_envs.tournament.whole_games import WholeGames, returns_for

Chunk = Sequence[ScheduledGame]

COMPILED_TOGETHER = 4
"""Compiled games are this many times quicker to play than to write: more of them go into a transaction."""

ENDS = {TERMINATED: "terminated", TRUNCATED: "truncated"}
"""How a game ended, in the words of a ledger."""
SECONDS_TO_START = 10.0
"""What an agent's first decision in a process may take besides: libraries are loaded, code is compiled."""


@dataclass(frozen=True)
class Forfeit:
    """An agent lost a game otherwise than by its rules."""

    agent: str
    decision: int
    """Decisions that had been made in the game."""
    reason: str
    """EXCEPTION, ILLEGAL, TOO_SLOW, TOO_MUCH_MEMORY or PROCESS_DIED."""
    details: str
    """The traceback, or what was wrong."""


@dataclass(frozen=True)
class GameResult:
    """How a game ended, by seat: ranks, scores and returns.

    Rank 1 is best, and equal results share the better one.
    """

    number: int
    seed: int
    agents: tuple[str, ...]
    ranks: tuple[int, ...]
    scores: tuple[int, ...]
    returns: tuple[float, ...]
    length: int
    end: str
    """One of ``ENDS``."""
    forfeits: tuple[Forfeit, ...] = ()
    """In the order in which they happened."""
    course: Course | None = field(default=None, compare=False, repr=False)
    """How it got there; None for games that were played inside one compiled call, and those of a ledger."""


@dataclass(frozen=True)
class Course:
    """All decisions of a game, by which it can be replayed, and SHA-256 of the state it ended in."""

    actions: Sequence[int]
    digest: str


@dataclass(frozen=True)
class SoFar:
    """The beginning of a game that was broken off."""

    actions: tuple[int, ...] = ()
    forfeits: tuple[Forfeit, ...] = ()


SECONDS_TOGETHER = 1.0
"""Results of games that end within this time are reported together."""


class Monitor(Protocol):
    """Somebody who is told whose turn it is to think, and who forfeits; see workers.py."""

    def asking(self, agent: int, seconds: float | None, decisions: int, actions: Sequence[int]) -> None:
        """An agent is asked and may take so many seconds.

        Where a game is played by itself: after so many decisions, the last of which, since the last question, are
        ``actions``.
        """

    def answered(self) -> None:
        """It has answered, or raised."""

    def forfeited(self, forfeit: Forfeit) -> None:
        """It forfeited a game that is played by itself."""


class _Nobody:
    def asking(self, agent: int, seconds: float | None, decisions: int, actions: Sequence[int]) -> None: ...

    def answered(self) -> None: ...

    def forfeited(self, forfeit: Forfeit) -> None: ...


class _Failure(Exception):
    """What an agent did that it forfeits for."""

    def __init__(self, reason: str, details: str) -> None:
        super().__init__(reason, details)
        self.reason, self.details = reason, details


class Players:
    """The agents of a tournament, loaded once per process.

    Args:
        specs: the arguments of ``bots.load``.
        config: the game with its players and options.
        limit: the seconds for a decision. None means any time. Compiled policies are trusted to end. With a limit,
            games of other agents are played one at a time, so that a decision's time is its own.
        whole_games: play whole games in compiled code where compiled policies sit on all seats. This changes the speed,
            never a game, and compiles the game's rules once more.
        memory: the bytes that the process of an agent from a file may take. None means any number.
        monitor: is told whose turn it is, and who forfeits.
    """

    def __init__(
        self,
        specs: Sequence[str],
        config: Configuration,
        limit: float | None = None,
        whole_games: bool = True,
        monitor: Monitor | None = None,
        memory: int | None = None,
    ) -> None:
        self.specs = tuple(specs)
        self.config = config
        self.limit = limit
        self.memory = memory
        self.agents: tuple[Bot, ...] = tuple(bots.load(spec, config, memory) for spec in specs)
        self._monitor: Monitor = monitor or _Nobody()
        self._stand_in = UniformBot(config)
        self._has_decided: set[int] = set()
        self.whole_games = whole_games
        self._bind_compiled()

    def _bind_compiled(self) -> None:
        found = [compiled_policy(agent) for agent in self.agents]
        policies = sorted({policy for policy in found if policy is not None}, key=lambda policy: policy.name)
        self._policies = np.array([-1 if policy is None else policies.index(policy) for policy in found])
        self._compiled = set(np.flatnonzero(self._policies >= 0).tolist())
        worth_it = self.whole_games and len(self._compiled) > 1
        self._whole_games = WholeGames(self.config, tuple(policies)) if worth_it else None

    def is_compiled(self, game: ScheduledGame) -> bool:
        """Whether compiled policies sit on all seats."""
        return self._compiled.issuperset(game.agents)

    # ------------------------------------------------------------ many games

    def play(self, games: Chunk) -> list[GameResult]:
        """Play games to their ends. Returns their results in the same order."""
        order = {game.number: place for place, game in enumerate(games)}
        results = [result for some in self.stream(games) for result in some]
        return sorted(results, key=lambda result: order[result.number])

    def stream(self, games: Chunk) -> Iterator[list[GameResult]]:
        """Play games and yield results as games end, at most about every SECONDS_TOGETHER."""
        compiled = [game for game in games if self.is_compiled(game)]
        others = [game for game in games if not self.is_compiled(game)]
        if compiled and self._whole_games is None:
            yield from self.play_side_by_side(compiled)
        elif compiled:
            yield self._play_compiled(compiled)
        if self.limit is None and others:
            yield from self.play_side_by_side(others)
        else:
            for game in others:
                yield [self.play_alone(game)[1]]

    def _play_compiled(self, games: Chunk) -> list[GameResult]:
        assert self._whole_games is not None
        seated = np.array([game.agents for game in games])
        owners = (seated[:, :, None] == seated[:, None, :]).argmax(axis=2)
        ranks, scores, returns, endings = self._whole_games.play(
            np.array([game.seed for game in games], np.uint64),
            self._policies[seated],
            owners,
            np.array([game.agent_seeds for game in games], np.uint64),
        )
        ended = zip(ranks.tolist(), scores.tolist(), returns.tolist(), endings.tolist(), games, strict=True)
        return [
            self._result(game, place, score, paid, length, end) for place, score, paid, (length, end), game in ended
        ]

    def play_side_by_side(self, games: Chunk) -> Iterator[list[GameResult]]:
        """Play games step by step in one batch. Each agent is asked once per step.

        An agent that fails may have failed for any of them. Then the halves are replayed, down to the game that it
        fails in.
        """
        if len(games) == 1:
            yield [self.play_alone(games[0])[1]]
            return
        ended: set[int] = set()
        with suppress(_Failure):
            for results in self._play_batch(games):
                ended.update(result.number for result in results)
                yield results
        left = [game for game in games if game.number not in ended]
        for half in (left[: len(left) // 2], left[len(left) // 2 :]):
            if half:
                yield from self.play_side_by_side(half)

    def _play_batch(self, games: Chunk) -> Iterator[list[GameResult]]:
        """Play as play_side_by_side does. Raises _Failure if an agent fails in one of the games that are left."""
        batch = self._deal(games)
        seated = np.array([game.agents for game in games])
        seeds = np.array([game.agent_seeds for game in games], np.uint64)
        for index in range(len(self.agents)):
            at_table = seated == index
            rows = np.flatnonzero(at_table.any(axis=1))
            self._start(index, rows, seeds[rows, at_table[rows].argmax(axis=1)])
        rows = np.arange(len(games))
        running = np.ones(len(games), bool)
        made: list[np.ndarray] = []
        ended: list[GameResult] = []
        told = time.monotonic()
        while running.any():
            actions = np.full(len(games), SKIP, np.int64)
            deciding = np.where(running, seated[rows, batch.seat], -1)
            for index in range(len(self.agents)):
                asked = np.flatnonzero(deciding == index)
                if asked.size:
                    actions[asked] = self._ask(index, batch, asked)
            batch.step(actions)
            made.append(actions)
            over = batch.terminated | batch.truncated
            for row in np.flatnonzero(running & over).tolist():
                course = [] if self.is_compiled(games[row]) else [int(actions[row]) for actions in made]
                ended.append(self._batch_result(batch, row, games[row], course))
            running &= ~over
            if ended and (time.monotonic() - told > SECONDS_TOGETHER or not running.any()):
                yield ended
                ended, told = [], time.monotonic()

    # ------------------------------------------------------------ one game

    def play_alone(self, game: ScheduledGame, so_far: SoFar = SoFar()) -> tuple[list[int], GameResult]:
        """Play one game by itself. A game that was broken off continues from its beginning.

        Returns its actions and its result.
        """
        batch = self._deal([game])
        actions = list(so_far.actions)
        for action in actions:
            batch.step(np.array([action]))
        forfeits = {forfeit.agent: forfeit for forfeit in so_far.forfeits}
        row = np.zeros(1, np.int64)
        untold: list[int] = []
        self._stand_in.start(row, np.array([stand_in_seed(game)], np.uint64))
        started: set[int] = set()
        while not (batch.terminated[0] or batch.truncated[0]):
            seat = int(batch.seat[0])
            index = game.agents[seat]
            try:
                if self.specs[index] in forfeits:
                    action = int(self._stand_in.act(TrustedDecisions(batch, row))[0])
                else:
                    if index not in started:
                        started.add(index)
                        self._start(index, row, np.array([game.agent_seeds[seat]], np.uint64), len(actions), untold)
                    action = int(self._ask(index, batch, row, len(actions), untold)[0])
            except _Failure as failure:
                spec = self.specs[index]
                forfeits[spec] = Forfeit(spec, len(actions), failure.reason, failure.details)
                self._monitor.forfeited(forfeits[spec])
                continue
            actions.append(action)
            untold.append(action)
            batch.step(np.array([action]))
        return actions, self._batch_result(batch, 0, game, actions, tuple(forfeits.values()))

    # ------------------------------------------------------------ parts

    def _deal(self, games: Chunk) -> Batch:
        batch = Batch(self.config, len(games), 0)
        batch.reset(np.array([game.seed for game in games], np.uint64))
        return batch

    def _start(
        self, index: int, rows: np.ndarray, seeds: np.ndarray, decisions: int = 0, untold: list[int] | None = None
    ) -> None:
        self._watched(index, lambda: self.agents[index].start(rows, seeds), decisions, untold)

    def _ask(
        self, index: int, batch: Batch, rows: np.ndarray, decisions: int = 0, untold: list[int] | None = None
    ) -> np.ndarray:
        """Ask an agent for legal ids for rows. Raises _Failure."""
        answer = self._watched(index, lambda: self.agents[index].act(TrustedDecisions(batch, rows)), decisions, untold)
        self._has_decided.add(index)
        try:
            return legal_ids(batch, rows, answer)
        except IllegalAction as problem:
            raise _Failure(ILLEGAL, str(problem)) from None

    def _watched(self, index: int, call: Callable[[], Any], decisions: int, untold: list[int] | None) -> Any:
        """Return what ``call`` returns. Raises _Failure if it raises, or takes longer than it may.

        The monitor is told first, with the actions that it has not been told of in a game by itself.
        """
        if index in self._compiled:
            return call()
        agent, allowed = self.agents[index], self._seconds_for(index)
        if isinstance(agent, BotFromFile):
            self._prepare(agent)
            agent.seconds = allowed
        self._monitor.asking(index, allowed, decisions, untold or ())
        if untold:
            untold.clear()
        begun = time.perf_counter()
        try:
            answer = call()
        except BotFailed as failure:
            if not failure.goes_on:
                self._has_decided.discard(index)  # there will be another process
            raise _Failure(failure.reason, failure.details) from None
        except Exception as problem:
            raise _Failure(EXCEPTION, _traceback_of(problem)) from None
        finally:
            took = time.perf_counter() - begun
            self._monitor.answered()
        if allowed is not None and took > allowed:
            raise _Failure(TOO_SLOW, f"took {took:.3f} s; {allowed:g} s were allowed")
        return answer

    def _prepare(self, agent: BotFromFile) -> None:
        """Start a process for an agent from a file. The time that takes is not the agent's fault."""
        try:
            agent.prepare()
        except BotError as problem:
            raise _Failure(EXCEPTION, str(problem)) from None

    def release(self) -> None:
        """End the processes of agents from files. They are started again when they are needed."""
        for agent in self.agents:
            if isinstance(agent, BotFromFile):
                agent.close()

    def _seconds_for(self, index: int) -> float | None:
        """What an agent may take for what it is asked next."""
        if self.limit is None:
            return None
        return self.limit if index in self._has_decided else self.limit + SECONDS_TO_START

    def _batch_result(
        self, batch: Batch, row: int, game: ScheduledGame, actions: Sequence[int], forfeits: tuple[Forfeit, ...] = ()
    ) -> GameResult:
        """The result of a row's last finished game."""
        ranks, returns = ranks_and_returns(batch, row, [self.specs[index] for index in game.agents], forfeits)
        scores, length = batch.final_score[row].tolist(), int(batch.final_length[row])
        course = None if self.is_compiled(game) else Course(actions, batch.final_snapshot(row).digest())
        return self._result(game, ranks, scores, returns, length, int(batch.final_state["end"][row]), forfeits, course)

    def _result(
        self, game: ScheduledGame, ranks: Sequence[int], scores: Sequence[int], returns: Sequence[float], length: int,
        end: int, forfeits: tuple[Forfeit, ...] = (), course: Course | None = None,
    ) -> GameResult:  # fmt: skip
        return GameResult(
            number=game.number,
            seed=game.seed,
            agents=tuple([self.specs[index] for index in game.agents]),
            ranks=tuple(ranks),
            scores=tuple(scores),
            returns=tuple(returns),
            length=length,
            end=ENDS[end],
            forfeits=forfeits,
            course=course,
        )


def ranks_and_returns(
    batch: Batch, row: int, by_seat: Sequence[str], forfeits: Sequence[Forfeit]
) -> tuple[list[int], list[float]]:
    """Ranks and returns of a row's last finished game.

    Seats of agents (specs ``by_seat``) that forfeited are behind all others.
    """
    ranks, returns = batch.final_rank[row].tolist(), batch.final_return[row].tolist()
    if forfeits:
        lost = [forfeit.agent for forfeit in forfeits]
        ranks = ranks_after_forfeits(ranks, [lost.index(spec) if spec in lost else None for spec in by_seat])
        returns = list(returns_for(batch.final_snapshot(row), tuple(ranks)))
    return ranks, returns


def _traceback_of(problem: Exception) -> str:
    """The traceback from the agent's own method on."""
    frames = problem.__traceback__
    for _ in range(2):  # _watched, and the lambda it calls
        if frames is not None and frames.tb_next is not None:
            frames = frames.tb_next
    return "".join(traceback.format_exception(problem.with_traceback(frames)))


def compiled_policy(agent: Bot) -> CompiledPolicy | None:
    """The policy of an agent that only asks a compiled policy, else None."""
    if isinstance(agent, CompiledBot) and type(agent).act is CompiledBot.act:
        return agent.policy
    return None


def ranks_after_forfeits(ranks: Sequence[int], forfeited: Sequence[int | None]) -> list[int]:
    """Ranks with the seats of agents that forfeited behind all others.

    Args:
        ranks: the ranks as the game ended. 1 is best, and equal results share the better one.
        forfeited: per seat, None, or how many agents forfeited before the one that sits there. The seats of one agent
            share a place.
    """
    results = [(0, place) if order is None else (1, -order) for place, order in zip(ranks, forfeited, strict=True)]
    return [1 + sum(other < own for other in results) for own in results]
