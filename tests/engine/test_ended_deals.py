"""Games that are over as soon as they are dealt, as contrived component files make them: paid out by the environment,
refused by a batch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

GAME = '''
import dataclasses
import numpy as np
import kepler_envs
from kepler_envs import Batch, ComponentError, IllegalAction, KeplerEnv, Snapshot, playouts
from kepler_envs.engine.game import TERMINATED
from kepler_envs.engine.seeds import following_seed, stream_seed

plain = kepler_envs.load_game("kitten_adventurers")

def setup(s, t, o):
    """A deal whose generator is even is won by the seat that would begin, another by whoever empties the pile."""
    ends = int(s.rng) % 2 == 0
    plain.verbs.setup(s, t, o)
    if ends:
        s.player[int(s.seat)].quest_count = 0
        s.end = TERMINATED

game = dataclasses.replace(plain, name="ends", verbs=dataclasses.replace(plain.verbs, setup=setup))
config = game.configure(2, quest_size=1)
ended = [seed for seed in range(200) if Snapshot.deal(config, seed).over]
going = [seed for seed in range(200) if seed not in ended]
assert len(ended) > 50 < len(going)
'''

PAID_OUT = """
env = KeplerEnv(config)
env.reset(seed=ended[0])
seen, reward, terminated, truncated, info = env.last()
assert terminated and not truncated and not seen["action_mask"].any() and env.legal_actions() == []
assert sorted(env.rewards.values()) == [-1, 1] and env.infos[env.agent_selection]["rank"] == 1
for _ in env.agent_iter():
    env.step(None)
assert not env.agents
result = playouts(Snapshot.deal(config, ended[0]), 3, seed=1)
assert (result.lengths == 0).all() and (abs(result.returns) == 1).all()
"""

REFUSED = """
def refusal(ask):
    try:
        ask()
    except ComponentError as problem:
        return str(problem)
    raise AssertionError("not refused")

def words(seed, row):
    return f"ends-v1: the deal of seed {seed} (row {row}) ends the game at once, before anybody decides"

assert refusal(lambda: [Batch(config, 3, seed=seed) for seed in range(50)])
alone = next(seed for seed in range(50) if not Snapshot.deal(config, stream_seed(seed, 0)).over)
batch = Batch(config, 1, seed=alone)
assert words(ended[0], 0) in refusal(lambda: batch.reset(np.array([ended[0]], np.uint64)))
assert batch.uniform().tolist() == [Batch.SKIP], "no decision is handed out"

last = next(seed for seed in going if Snapshot.deal(config, following_seed(seed)).over)
batch.reset(np.array([last], np.uint64))
steps = 0
def on():
    global steps
    while True:
        assert batch.action_mask.any() and batch.legal_count[0] > 0
        batch.step(batch.uniform())
        steps += 1
        assert not batch.episodes[0]
assert words(following_seed(last), 0) in refusal(on)
assert batch.episodes[0] == 1, "the step itself is done, and what it ended is told"
assert batch.terminated[0] and not batch.truncated[0]
assert batch.final_length[0] == steps + 1 and abs(batch.final_return).sum() == 2
try:
    batch.step(np.zeros(1, int))
except IllegalAction as problem:
    assert "the game is over" in str(problem)
else:
    raise AssertionError("a game that is over was stepped")
"""


def run(program: str) -> None:
    """In a process of its own, uncompiled: a game nobody else has is not worth compiling."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    result = subprocess.run(
        [sys.executable, "-c", GAME + program], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 0, result.stderr


def test_the_environment_pays_such_a_game_out() -> None:
    run(PAID_OUT)


def test_a_batch_refuses_such_a_deal() -> None:
    run(REFUSED)
