"""Playing in several processes, and taking processes away from agents that do not answer.

Each process plays one task after another and says whose turn it is before it asks an agent. So the parent knows whom to
blame if a process dies. It can also kill one whose agent thinks for too long, in whatever code, compiled code that
never returns included. A game that was broken off in this way continues in another process from where it stood, without
the agent, and without those that had forfeited before. Agents of that game that draw random numbers start their
generators anew there.
"""

from __future__ import annotations

import os
import threading
import time
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from kepler_envs.bots.from_file import PROCESS_DIED, TOO_SLOW
from kepler_envs.engine.game import Configuration
from kepler_envs.processes import FRESH, begin_worker
from kepler_envs.terminal import signals_held_back
from kepler_envs.tournament import WorkerError
from kepler_envs.tournament.check import check
from kepler_envs.tournament.play import Chunk, Forfeit, GameResult, Players, SoFar
from kepler_envs.tournament.schedule import ScheduledGame

GOES_ON = "finished games are kept, and the same command goes on"
SLACK = 0.1
"""Seconds that an answer may be on its way."""

ASKING, ANSWERED, FORFEITED, PLAYED, DONE, FAILED = range(6)
"""The first entry of what a process sends."""


Played = tuple[list[GameResult], list[int]]
"""Results of a task, and the actions if it is a game by itself."""


@dataclass(frozen=True)
class Task:
    """Games to play; one that was broken off comes alone, with its beginning."""

    games: Chunk
    so_far: SoFar = SoFar()


@dataclass
class _Worker:
    """What the parent knows of a process."""

    process: Any
    connection: Connection
    task: Task | None = None
    ended: set[int] = field(default_factory=set)
    """Games of the task whose results have come."""
    asked: int | None = None
    """The agent that is asked now, since ``asked_at``, after ``decisions`` decisions."""
    asked_at: float = 0.0
    allowed: float | None = None
    """Seconds it may take."""
    decisions: int = 0
    actions: list[int] = field(default_factory=list)
    """Of the present game, up to the last question, if it is played by itself."""
    forfeits: list[Forfeit] = field(default_factory=list)
    """Of the same game."""

    @property
    def due(self) -> float | None:
        """The time by which the present question has to be answered."""
        return None if self.asked is None or self.allowed is None else self.asked_at + self.allowed + SLACK


class Workers:
    """The processes that play: this one, or others, which are started when they are needed.

    Close them, or use it in a ``with``.

    Args:
        players: the agents. They made everything compile in this process; the others only load it.
        processes: the number of processes that play. One is this process itself, unless the agents have a limit of
            time: then it has to be another, which can be killed.
    """

    def __init__(self, players: Players, processes: int) -> None:
        self.players = players
        self.processes = processes
        self._tasks: Iterator[Task] = iter(())
        self._again: deque[Task] = deque()
        self._workers: list[_Worker] = []
        if processes > 1 or players.limit is not None:
            players.release()  # others will play

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill the processes, whatever they are doing."""
        for worker in list(self._workers):
            self._end(worker)

    def play(self, chunks: Sequence[Chunk], stop: threading.Event | None = None) -> Iterator[list[GameResult]]:
        """Play the chunks and yield the results of each as it finishes, in any order.

        Once ``stop`` is set no further chunk begins. Those that are being played are still yielded.

        Raises:
            WorkerError: a process ended for another reason than an agent.
            CheckError: a game does not follow from its seed and its decisions.
        """
        for results in self._play(chunks, stop or threading.Event()):
            check(results, self.players.config)
            yield results

    def _play(self, chunks: Sequence[Chunk], stop: threading.Event) -> Iterator[list[GameResult]]:
        if self.players.limit is None and (self.processes == 1 or len(chunks) <= 1):
            for chunk in chunks:
                if stop.is_set():
                    return
                yield from self.players.stream(chunk)
            return
        self._tasks = self._split(chunks)
        while self._hand_out(stop):
            finished = self._listen()
            self._hand_out(stop)  # before the results are looked at, which may take a while
            yield from (results for results, _ in finished)
            self._cut_off()

    def play_alone(self, game: ScheduledGame, careful: bool = False) -> tuple[list[int], GameResult]:
        """Play one game by itself. Returns its actions and its result.

        With ``careful``, an agent may end the process that plays it.
        """
        actions, result = self._play_alone(game, careful)
        check([result], self.players.config)
        return actions, result

    def _play_alone(self, game: ScheduledGame, careful: bool) -> tuple[list[int], GameResult]:
        if self.players.limit is None and (self.processes == 1 or not careful):
            return self.players.play_alone(game)
        self._again.append(Task([game]))
        while self._hand_out(threading.Event()):
            for (result,), actions in self._listen():
                return actions, result
            self._cut_off()
        raise AssertionError("a task ends with results")

    def _split(self, chunks: Sequence[Chunk]) -> Iterator[Task]:
        """With a limit of time, games that take it one by one: what has been played is not lost with the process."""
        for chunk in chunks:
            by_itself = [self.players.limit is not None and not self.players.is_compiled(game) for game in chunk]
            together = [game for game, alone in zip(chunk, by_itself, strict=True) if not alone]
            if together:
                yield Task(together)
            yield from (Task([game]) for game, alone in zip(chunk, by_itself, strict=True) if alone)

    def _hand_out(self, stop: threading.Event) -> bool:
        """Give tasks to idle processes, and start processes as long as there are tasks.

        Returns whether any process has something to do.
        """
        idle = [worker for worker in self._workers if worker.task is None]
        while idle or len(self._workers) < self.processes:
            task = self._next_task(stop)
            if task is None:
                break
            worker = idle.pop() if idle else self._start()
            worker.task, worker.ended, worker.asked = task, set(), None
            worker.actions, worker.forfeits = list(task.so_far.actions), list(task.so_far.forfeits)
            with suppress(BrokenPipeError):  # it died: _listen finds out
                worker.connection.send(task)
        return any(worker.task is not None for worker in self._workers)

    def _next_task(self, stop: threading.Event) -> Task | None:
        if self._again:
            return self._again.popleft()
        return None if stop.is_set() else next(self._tasks, None)

    def _start(self) -> _Worker:
        ours, theirs = FRESH.Pipe()
        players = self.players
        arguments = (theirs, players.specs, players.config, players.limit, players.whole_games, players.memory)
        process = FRESH.Process(target=_work, args=arguments, daemon=True)
        with signals_held_back():
            process.start()
        theirs.close()
        worker = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def _end(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.process.kill()
        worker.process.join()
        worker.connection.close()

    # ------------------------------------------------------------ messages

    def _listen(self) -> list[Played]:
        """Read what has come, or wait for it until the next limit at the latest. Returns the results among it."""
        soonest = min((worker.due for worker in self._workers if worker.due is not None), default=None)
        timeout = 1.0 if soonest is None else max(0.0, min(1.0, soonest - time.monotonic()))
        finished: list[Played] = []
        by_connection = {worker.connection: worker for worker in self._workers}
        for connection in wait(list(by_connection), timeout):
            worker = by_connection[connection]  # type: ignore[index]
            try:
                while worker.connection.poll():
                    finished += self._take(worker, worker.connection.recv())
            except (EOFError, ConnectionResetError):
                self._has_died(worker)
        return finished

    def _take(self, worker: _Worker, message: tuple[Any, ...]) -> list[Played]:
        kind, *content = message
        if kind == ASKING:
            worker.asked, worker.allowed, worker.decisions, actions = content
            worker.actions += actions
            worker.asked_at = time.monotonic()
        elif kind == ANSWERED:
            worker.asked = None
        elif kind == FORFEITED:
            worker.forfeits += content
        elif kind == PLAYED:
            results, actions = content
            worker.ended.update(result.number for result in results)
            return [(results, actions)]
        elif kind == DONE:
            worker.task = None
        elif kind == FAILED:
            raise WorkerError(f"a process that plays games failed:\n{content[0]}")
        return []

    # ------------------------------------------------------------ agents that do not come back

    def _cut_off(self) -> None:
        """Kill processes whose agent is overdue."""
        for worker in list(self._workers):
            if worker.due is not None and time.monotonic() > worker.due and not worker.connection.poll():
                took = time.monotonic() - worker.asked_at
                self._end(worker)
                self._blame(worker, TOO_SLOW, f"cut off after {took:.3f} s; {worker.allowed:g} s were allowed")

    def _has_died(self, worker: _Worker) -> None:
        self._end(worker)
        code = worker.process.exitcode
        if worker.asked is None:
            raise WorkerError(
                f"a process that plays games ended with exit code {code} while no bot was asked; "
                + ('does your script play inside `if __name__ == "__main__":`?' if code == 1 else GOES_ON)
            )
        self._blame(worker, PROCESS_DIED, f"the process ended with exit code {code} while the bot was asked")

    def _blame(self, worker: _Worker, reason: str, details: str) -> None:
        """Let the games continue: one by itself without the agent that was asked, others in halves down to one."""
        task = worker.task
        assert task is not None and worker.asked is not None
        if len(task.games) > 1:
            left = [game for game in task.games if game.number not in worker.ended]
            halves = left[: len(left) // 2], left[len(left) // 2 :]
            self._again += [Task(half) for half in halves if half]
            return
        spec = self.players.specs[worker.asked]
        forfeit = Forfeit(spec, worker.decisions, reason, details)
        self._again.append(Task(task.games, SoFar(tuple(worker.actions), (*worker.forfeits, forfeit))))


# ---------------------------------------------------------------- in the process


class _Messenger:
    """Tells the parent whose turn it is, and who forfeits."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def asking(self, agent: int, seconds: float | None, decisions: int, actions: Sequence[int]) -> None:
        self._connection.send((ASKING, agent, seconds, decisions, list(actions)))

    def answered(self) -> None:
        self._connection.send((ANSWERED,))

    def forfeited(self, forfeit: Forfeit) -> None:
        self._connection.send((FORFEITED, forfeit))


def _work(
    connection: Connection,
    specs: Sequence[str],
    config: Configuration,
    limit: float | None,
    whole_games: bool,
    memory: int | None,
) -> None:
    begin_worker()
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the processes already use all cores
    try:
        players = Players(specs, config, limit, whole_games, _Messenger(connection), memory)
        while True:
            task = connection.recv()
            if len(task.games) == 1:
                actions, result = players.play_alone(task.games[0], task.so_far)
                connection.send((PLAYED, [result], actions))
            else:
                for results in players.stream(task.games):
                    connection.send((PLAYED, results, []))
            connection.send((DONE,))
    except (EOFError, BrokenPipeError):
        return
    except Exception:
        connection.send((FAILED, traceback.format_exc()))
