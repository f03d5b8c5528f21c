"""Check what a wheel with compiled code promises, on the installed package alone. Runs as a script in a clean
environment.

    python -I installed.py play            batches equal single games, bots play bots, and nothing is compiled
    python -I installed.py first GAME      import, make, reset and one step; nothing is compiled
    python -I installed.py lesser REASON   code does not fit for this reason: one kernel is compiled, with one message
    python -I installed.py again           the same kernel once more, from the user's cache
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

os.environ.setdefault("NUMBA_NUM_THREADS", "2")  # two threads are tried on machines with one core, too

import numpy as np
from numba.core import event

GAME, SEED, DECISIONS = "kitten_adventurers", 5, 300
compiled: list[str] = []


class Counter(event.Listener):
    """Counts the functions that numba compiles."""

    def on_start(self, event: event.Event) -> None:
        compiled.append(event.data["dispatcher"].py_func.__qualname__)

    def on_end(self, event: event.Event) -> None:
        pass


class Told(logging.Handler):
    """Collects the messages of the package."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append((record.levelname, record.getMessage()))


def check_batch(name: str) -> None:
    """Compare each game of a batch, decision by decision, with the same game played alone."""
    import kepler_envs

    batch = kepler_envs.make_batch(name, 3, seed=SEED)
    env = kepler_envs.make(name)
    for row in range(3):
        batch.reset(SEED)
        env.reset(seed=int(batch.seed[row]))
        for _ in range(DECISIONS):
            seen = env.observe(env.agent_selection)
            assert np.array_equal(seen["observation"], batch.observation[row]), name
            assert np.array_equal(seen["action_mask"], batch.action_mask[row]), name
            actions = batch.uniform()
            env.step(int(actions[row]))
            batch.step(actions)
            over = bool(batch.terminated[row] or batch.truncated[row])
            assert over == (not env.agents or env.terminations[env.agents[0]] or env.truncations[env.agents[0]]), name
            if over:
                returns = [env.infos[agent]["returns"] for agent in env.possible_agents]
                assert np.allclose(returns, batch.final_return[row]), name
                break


def check_threads(name: str) -> None:
    """Compare two threads with one."""
    import kepler_envs

    one, two = (kepler_envs.make_batch(name, 8, seed=SEED, threads=threads) for threads in (1, 2))
    for _ in range(DECISIONS):
        actions = one.uniform()
        assert all(np.array_equal(*pair) for pair in zip(one.step(actions)[:4], two.step(actions)[:4], strict=True)), (
            name
        )
    assert one.states.tobytes() == two.states.tobytes(), name


def let_bots_play(name: str) -> None:
    """Let greedy, a search and uniform play a game to its end."""
    import kepler_envs
    from kepler_envs import bots

    config = kepler_envs.load_game(name).configure()
    batch, rows = kepler_envs.Batch(config, 2, SEED), np.arange(2)
    players = [bots.load(("greedy", "mcts:2", "uniform")[seat % 3], config) for seat in range(config.num_players)]
    for bot in players:
        bot.start(rows, batch.seed)
    while not batch.episodes.any():
        actions = np.full(2, batch.SKIP)
        for seat, bot in enumerate(players):
            asked = rows[batch.seat == seat]
            if asked.size:
                actions[asked] = bot.act(bots.TrustedDecisions(batch, asked))
        batch.step(actions)


def play() -> None:
    import kepler_envs

    for name in kepler_envs.list_games():
        check_batch(name)
        check_threads(name)
        let_bots_play(name)
        print(f"{name:20} batch equal to single games, two threads to one, bots against bots", flush=True)


def take_first_step(name: str) -> None:
    import kepler_envs

    env = kepler_envs.make(name)
    env.reset(seed=SEED)
    env.step(env.legal_actions()[0])


def one_kernel() -> None:
    import kepler_envs
    from kepler_envs.engine import batch

    batch.refresh_row_kernel(kepler_envs.load_game(GAME))


def pretend(reason: str) -> str:
    """Make the code that came with the package unfit, and return the expected message. The caller edits sources."""
    if reason == "numba":
        import numba

        made_with, numba.__version__ = numba.__version__, "0.68.99"
        return f"it was made with numba {made_with}, and here is 0.68.99"
    if reason == "processor":
        import llvmlite.binding as llvm

        whole = llvm.get_host_cpu_features

        def fewer() -> object:
            features = whole()
            features["avx2"] = False
            return features

        llvm.get_host_cpu_features = fewer
        return "this processor lacks avx2"
    return f"the sources of {GAME} are not those it was made from"


def main(what: str, *more: str) -> None:
    event.register("numba:compile", Counter())
    told = Told()
    log = logging.getLogger("kepler_envs")
    log.setLevel(logging.INFO)
    log.addHandler(told)
    if what == "lesser":
        reason = pretend(more[0])
        one_kernel()
        assert compiled, "nothing was compiled"
        (level, message) = told.records[0]
        assert len(told.records) == 1 and level == "INFO" and f"not used: {reason};" in message, told.records
    elif what == "again":
        pretend(more[0])
        one_kernel()
        assert not compiled and len(told.records) <= 1, (compiled, told.records)
    else:
        play() if what == "play" else take_first_step(more[0])
        assert not compiled, f"compiled: {compiled}"
        assert not told.records, told.records
    import kepler_envs

    assert "site-packages" in Path(kepler_envs.__file__).parts, "not the installed package"


if __name__ == "__main__":
    main(*sys.argv[1:])
