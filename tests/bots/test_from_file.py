"""The processes of bots from files: how long they live, what they leave behind, and what is said when they fail."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import kepler_envs
from kepler_envs import bots
from kepler_envs.bots.from_file import (
    EXCEPTION,
    MIB,
    MOST_BYTES,
    PROCESS_DIED,
    TOO_MUCH_MEMORY,
    BotFailed,
    BotFromFile,
)
from kepler_envs.bots.protocol import BotError, TrustedDecisions
from kepler_envs.engine.batch import Batch
from tests.effort import slow
from tests.waiting import is_running, wait_until

GAME = "kitten_adventurers"
CONFIG = kepler_envs.load_game(GAME).configure(4)

FILE = '''
import ctypes, gc, os, subprocess, time
from multiprocessing.connection import Connection
import numpy as np


class Lowest:
    def __init__(self, config): ...

    def start(self, rows, seeds): ...

    def act(self, decisions):
        return decisions.action_mask.argmax(axis=1)


class StartsAnother(Lowest):
    """Its file says which processes there are."""

    def __init__(self, config):
        self.other = subprocess.Popen(["sleep", "60"])
        with open(__file__ + ".pids", "w") as file:
            file.write(f"{os.getpid()} {self.other.pid}")

    def start(self, rows, seeds):
        open(__file__ + ".asked", "w").close()


class StartsAnotherAndEnds(StartsAnother):
    def act(self, decisions):
        os._exit(3)


class StartsAnotherAndNeverReturns(StartsAnother):
    """In native code that keeps the interpreter's lock, so that no thread of the process and no signal handler runs."""

    def start(self, rows, seeds):
        super().start(rows, seeds)
        ctypes.PyDLL(None).sleep(60)


class ReturnsTooMuch(Lowest):
    def act(self, decisions):
        return np.zeros(3_000_000)


class ReturnsAsMuchAsItMay(Lowest):
    def act(self, decisions):
        return np.zeros(2**21 - 1, np.int64)


class SendsTooMuch(Lowest):
    """Past what it returns, straight to the process that asks."""

    def act(self, decisions):
        for thing in gc.get_objects():
            if isinstance(thing, Connection):
                thing.send_bytes(bytes(2**24 + 1))


class SendsTooMuchAtOnce(SendsTooMuch):
    def __init__(self, config):
        self.act(None)


class ClosesItsSide(Lowest):
    def act(self, decisions):
        os.closerange(3, 256)
        time.sleep(60)


class LeavesNoMemory(Lowest):
    """Enough for itself, too little for the next question."""

    kept = []

    def start(self, rows, seeds):
        try:
            while True:
                self.kept.append(bytearray(2**18))
        except MemoryError:
            del self.kept[-2:]
'''

LOADS = f"""
import os, sys, time
import numpy as np
import kepler_envs
from kepler_envs import bots

def load():
    return bots.load(sys.argv[1], kepler_envs.load_game({GAME!r}).configure(4))

def start(bot):
    bot.start(np.arange(1), np.ones(1, np.uint64))
"""


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return path


def load(file: Path, name: str, memory: int | None = None) -> BotFromFile:
    agent = bots.load(f"python:{file}:{name}", CONFIG, memory=memory)
    assert isinstance(agent, BotFromFile)
    return agent


def act(agent: BotFromFile) -> np.ndarray:
    return agent.act(TrustedDecisions(Batch(CONFIG, 1, 0), np.arange(1)))


def processes_of(file: Path) -> list[int]:
    """The bot's process, and the one that it started."""
    return [int(number) for number in Path(f"{file}.pids").read_text().split()]


def wait_for_the_end_of(processes: list[int]) -> None:
    wait_until(lambda: not any(map(is_running, processes)), "ending", longest=10)


def test_a_bot_imports_what_lies_beside_its_file(tmp_path, monkeypatch):
    """Its own rather than another of that name, and nothing of it in the process that asks."""
    (tmp_path / "picking.py").write_text("raise RuntimeError('the wrong one')")
    monkeypatch.syspath_prepend(tmp_path)
    before, chosen = list(sys.path), []
    for way in ("argmax", "argsort"):
        home = tmp_path / way
        home.mkdir()
        (home / "mine.py").write_text(
            "from picking import pick\n\n\n" + FILE.replace("decisions.action_mask.argmax(axis=1)", "pick(decisions)")
        )
        last = "argmax(1)" if way == "argmax" else "argsort(1, kind='stable')[:, -1]"
        (home / "picking.py").write_text(f"def pick(decisions):\n    return decisions.action_mask.{last}\n")
        chosen.append(int(act(load(home / "mine.py", "Lowest"))[0]))
    legal = np.flatnonzero(Batch(CONFIG, 1, 0).action_mask[0])
    assert chosen == [legal[0], legal[-1]] and chosen[0] != chosen[1]
    assert sys.path == before and "picking" not in sys.modules


# ---------------------------------------------------------------- how long they live


def test_a_bot_outlives_the_thread_that_loaded_it(file):
    loaded = []
    thread = threading.Thread(target=lambda: loaded.append(load(file, "Lowest")))
    thread.start()
    thread.join()
    assert len(act(loaded[0])) == 1
    loaded[0].close()


def test_a_process_that_the_bot_started_ends_with_it(file):
    agent = load(file, "StartsAnother")
    processes = processes_of(file)
    assert all(is_running(process) for process in processes)
    agent.close()
    wait_for_the_end_of(processes)


def test_a_process_that_the_bot_started_ends_if_the_bot_ends_by_itself(file):
    agent = load(file, "StartsAnotherAndEnds")
    with pytest.raises(BotFailed, match="the process ended with exit code 3 while the bot was asked"):
        act(agent)
    wait_for_the_end_of(processes_of(file))


@slow
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("StartsAnother", "bot = load(); start(bot); print('ready', flush=True); time.sleep(60)"),
        ("StartsAnotherAndNeverReturns", "bot = load(); print('ready', flush=True); start(bot)"),
    ],
    ids=["idle", "busy"],
)
def test_a_killed_process_takes_its_bots_along(file, name, code):
    """With all that these have started, whatever they are doing."""
    parent = start_parent(file, name, code)
    wait_until(Path(f"{file}.asked").exists, "the question")
    parent.kill()
    wait_for_the_end_of(processes_of(file))
    parent.communicate()


def test_a_fork_does_not_keep_the_bots_of_a_killed_process(file):
    code = """
bot = load()
if os.fork():
    print("ready", flush=True)
sys.stdin.read()
"""
    parent = start_parent(file, "StartsAnother", code)
    parent.kill()
    wait_for_the_end_of(processes_of(file))
    parent.communicate()  # ends the fork


def start_parent(file: Path, name: str, code: str) -> subprocess.Popen:
    """A process that loads the bot, once it says that it is ready."""
    command = [sys.executable, "-c", LOADS + code, f"python:{file}:{name}"]
    parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None and parent.stdout.readline() == "ready\n"
    return parent


@slow
def test_a_fork_does_not_end_the_bots_of_the_process_it_comes_from(file):
    """Neither when it closes them nor when it ends, which collects them."""
    code = """
bot = load()
fork = os.fork()
if not fork:
    bot.close()
    sys.exit()
os.waitpid(fork, 0)
start(bot)
print("ready", flush=True)
"""
    start_parent(file, "Lowest", code).communicate(timeout=30)


@slow
def test_a_fork_has_a_bot_of_its_own(file):
    """The bots of two processes answer over connections of their own."""
    code = """
bot, config = load(), kepler_envs.load_game({GAME!r}).configure(4)
def play(seed):
    batch, rows = kepler_envs.Batch(config, 2, seed), np.arange(2)
    bot.start(rows, batch.seed)
    for _ in range(200):
        answer = bot.act(bots.TrustedDecisions(batch, rows))
        assert np.array_equal(answer, batch.action_mask.argmax(axis=1)), answer
        batch.step(answer)
print("ready", flush=True)
forks = []
for seed in (1, 2):
    fork = os.fork()
    if not fork:
        try:
            play(seed)
            os._exit(0)
        finally:
            os._exit(1)
    forks.append(fork)
play(3)
print([os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]) for fork in forks])
""".replace("{GAME!r}", repr(GAME))
    out, _ = start_parent(file, "Lowest", code).communicate(timeout=120)
    assert out == "[0, 0]\n"


def test_threads_take_turns(file):
    agent, wrong = load(file, "Lowest"), []

    def play(size: int) -> None:
        batch, rows = Batch(CONFIG, size, size), np.arange(size)
        for _ in range(150):
            answer = agent.act(TrustedDecisions(batch, rows))
            if not np.array_equal(answer, batch.action_mask.argmax(axis=1)):
                wrong.append(answer)
                return
            batch.step(answer)

    threads = [threading.Thread(target=play, args=(size,)) for size in (3, 4, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    agent.close()
    assert not wrong


@slow
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_copy_is_refused_before_anything_is_shared(file, tmp_path, duplicate):
    """A copied connection would be closed with the copy, and the next file that is opened would get its number."""
    agent = load(file, "Lowest")
    with pytest.raises(TypeError, match="runs in a process of its own and cannot be copied or pickled; give its name"):
        duplicate(agent)
    gc.collect()
    with (tmp_path / "log").open("wb") as log:
        assert len(act(agent)) == 1
        log.write(b"mine")
    assert (tmp_path / "log").read_bytes() == b"mine"
    agent.close()


def test_looking_at_an_environment_leaves_its_opponent_alone(file):
    """Gymnasium copies the arguments for ``spec``, or tries to."""
    agent = load(file, "Lowest")
    env = gymnasium.make("kepler/kitten_adventurers-v1", num_players=4, opponents=bots.BotOpponent(agent))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it could not
        assert env.spec is None or env.spec.id
    gc.collect()
    _, info = env.reset(seed=1)
    env.step(info["action_mask"].argmax())
    agent.close()


def test_a_process_whose_parent_has_ended_already_does_not_begin():
    reading, writing = os.pipe()
    os.close(writing)
    command = [sys.executable, "-m", "kepler_envs.bots.file_process", "0", str(reading)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[reading], start_new_session=True)
    os.close(reading)
    assert process.wait(60) == -9
    assert process.stdin is not None
    process.stdin.close()


# ---------------------------------------------------------------- what is said when they fail


def test_an_answer_that_is_too_large_says_so(file):
    """The process is well, so it goes on."""
    agent = load(file, "ReturnsTooMuch")
    for _ in range(2):
        with pytest.raises(
            BotFailed, match=f"the answer has 24000129 bytes; at most {MOST_BYTES} are allowed"
        ) as failed:
            act(agent)
        assert failed.value.reason == EXCEPTION
    agent.close()
    assert len(act(load(file, "ReturnsAsMuchAsItMay"))) == MOST_BYTES // 8 - 1


def test_a_process_that_sends_too_much_says_so(file):
    with pytest.raises(BotFailed, match=f"the process sent more than {MOST_BYTES} bytes") as failed:
        act(load(file, "SendsTooMuch"))
    assert failed.value.reason == PROCESS_DIED
    with pytest.raises(BotError, match=f"its process sent more than {MOST_BYTES} bytes"):
        load(file, "SendsTooMuchAtOnce")


def test_a_process_that_closes_its_side_did_not_end(file):
    with pytest.raises(BotFailed, match="the process closed its connection while the bot was asked") as failed:
        act(load(file, "ClosesItsSide"))
    assert failed.value.reason == PROCESS_DIED


@slow
def test_too_little_memory_for_a_question(file):
    """The question is longer than what a socket holds, so whoever asks is still sending it."""
    agent = load(file, "LeavesNoMemory", 256 * MIB)
    agent.start(np.arange(1), np.ones(1, np.uint64))
    with pytest.raises(BotFailed, match="MemoryError") as failed:
        agent.start(np.arange(2**18), np.ones(2**18, np.uint64))
    assert failed.value.reason == TOO_MUCH_MEMORY


@pytest.mark.parametrize("bot", ["mine", ""])
def test_a_failure_is_the_same_in_another_process(bot):
    failure = BotFailed(PROCESS_DIED, "the process ended", bot)
    again = pickle.loads(pickle.dumps(failure))
    assert str(again) == str(failure) == f"{'mine: ' * bool(bot)}{PROCESS_DIED}: the process ended"
    assert (again.reason, again.details, again.bot, again.goes_on) == (PROCESS_DIED, "the process ended", bot, False)
