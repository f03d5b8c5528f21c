"""Playing scheduled games, in this process or in several."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass

import numpy as np

import agents
from agents.protocol import Agent, Decisions
from agents.tournament.schedule import ScheduledGame
from kepler_envs.engine.batch import SKIP, Batch
from kepler_envs.engine.game import TRUNCATED, Configuration

Chunk = Sequence[ScheduledGame]


@dataclass(frozen=True)
class GameResult:
    """How a game ended, by seat: places (1 is best, equal results share the better one), scores, returns."""

    number: int
    seed: int
    agents: tuple[str, ...]
    ranks: tuple[int, ...]
    scores: tuple[int, ...]
    returns: tuple[float, ...]
    length: int
    end: str
    """``terminated`` or ``truncated``."""


class Players:
    """The agents of a tournament, loaded once per process."""

    def __init__(self, specs: Sequence[str], config: Configuration) -> None:
        self.specs = tuple(specs)
        self.config = config
        self.agents: tuple[Agent, ...] = tuple(agents.load(spec, config) for spec in specs)

    def play(self, games: Chunk, watch: Callable[[np.ndarray], None] | None = None) -> list[GameResult]:
        """Play games side by side, each to its end.

        ``watch`` is shown the actions (N,) of each step, ``Batch.SKIP`` in the rows of finished games.
        """
        batch = Batch(self.config, len(games), 0)
        batch.reset(np.array([game.seed for game in games], np.uint64))
        seated = np.array([game.agents for game in games])
        self._start(games, seated)
        rows = np.arange(len(games))
        running = np.ones(len(games), bool)
        while running.any():
            actions = np.full(len(games), SKIP, np.int64)
            deciding = np.where(running, seated[rows, batch.seat], -1)
            for index, agent in enumerate(self.agents):
                asked = np.flatnonzero(deciding == index)
                if asked.size:
                    actions[asked] = agent.act(Decisions(batch, asked))
            if watch is not None:
                watch(actions)
            batch.step(actions)
            running &= batch.done == 0
        return [self._result(batch, row, game) for row, game in enumerate(games)]

    def _start(self, games: Chunk, seated: np.ndarray) -> None:
        seeds = np.array([game.agent_seeds for game in games], np.uint64)
        for index, agent in enumerate(self.agents):
            at_table = seated == index
            rows = np.flatnonzero(at_table.any(axis=1))
            agent.start(rows, seeds[rows, at_table[rows].argmax(axis=1)])

    def _result(self, batch: Batch, row: int, game: ScheduledGame) -> GameResult:
        return GameResult(
            number=game.number,
            seed=game.seed,
            agents=tuple(self.specs[index] for index in game.agents),
            ranks=tuple(batch.final_place[row].tolist()),
            scores=tuple(batch.final_score[row].tolist()),
            returns=tuple(batch.final_return[row].tolist()),
            length=int(batch.final_length[row]),
            end="truncated" if batch.final_state["end"][row] == TRUNCATED else "terminated",
        )


def play_all(
    players: Players, chunks: Sequence[Chunk], processes: int, stop: threading.Event | None = None
) -> Iterator[list[GameResult]]:
    """Play the chunks and yield the results of each as it finishes, in any order.

    With one process they are played here. Otherwise ``players`` made everything compile in this process, and the
    others only load it. Once ``stop`` is set no further chunk begins; those that are being played are still yielded.
    """
    stop = stop or threading.Event()
    if processes == 1 or len(chunks) <= 1:
        for chunk in chunks:
            if stop.is_set():
                return
            yield players.play(chunk)
        return
    waiting = list(reversed(chunks))
    pool = ProcessPoolExecutor(
        min(processes, len(chunks)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(players.specs, players.config),
    )
    running: set[Future[list[GameResult]]] = set()
    try:
        while running or (waiting and not stop.is_set()):
            while waiting and len(running) < 2 * processes:  # one in reserve for each process
                running.add(pool.submit(_play_in_worker, waiting.pop()))
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            if stop.is_set():
                waiting.clear()
                running = {future for future in running if not future.cancel()}
            for future in finished:
                yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


_players: Players | None = None


def _start_worker(specs: Sequence[str], config: Configuration) -> None:
    global _players
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
    threading.Thread(target=_die_with_parent, daemon=True).start()
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the processes already use all cores
    _players = Players(specs, config)


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _play_in_worker(chunk: Chunk) -> list[GameResult]:
    assert _players is not None
    return _players.play(chunk)
