"""What the engine does between two decisions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from kepler_envs.engine.transition import Transition

ROOT = Path(__file__).parents[2]

SETTLED = """
from enum import IntEnum
import dataclasses
import numpy as np
import kepler_envs
from kepler_envs.engine.game import RUNNING, TERMINATED
from kepler_envs.engine.transition import NOTHING, core

class Node(IntEnum):
    FREE, FORCED, ASKED = range(3)

def legal(s, t, mask):
    mask[0] = np.uint64(3 if s.node == Node.FREE else 2)

def apply(s, t, action):
    '''Forced nodes count down in the seat, then comes the node that is asked even with one id; that ends the game.'''
    if s.node == Node.ASKED:
        s.end = TERMINATED
    elif s.node == Node.FREE or s.seat > 0:
        s.seat = 3 if s.node == Node.FREE else s.seat - 1
        s.node = Node.FORCED
    else:
        s.node = Node.ASKED

plain = kepler_envs.load_game("kitten_adventurers")
verbs = dataclasses.replace(plain.verbs, legal=legal, apply=apply)
game = dataclasses.replace(plain, name="settled", always_offered=(Node.ASKED,), verbs=verbs)
states, legal_set = game.new_states(1), np.zeros(game.mask_words, np.uint64)
s, helpers = states[0], core(game)
assert helpers.settle(s, None, NOTHING, legal_set) == 2
assert s.node == Node.FREE and legal_set[0] == 3, "a free node stays"
assert helpers.decide(s, None, 0, legal_set) == 1 and s.node == Node.ASKED and s.seat == 0 and legal_set[0] == 2
assert s.decisions == 1, "forced nodes are no decisions"
assert helpers.settle(s, None, NOTHING, legal_set) == 1 and s.node == Node.ASKED, "settling again changes nothing"
assert helpers.decide(s, None, 1, legal_set) == 0 and s.end == TERMINATED and not legal_set.any() and s.decisions == 2
"""


ENDLESS = """
import dataclasses
import numpy as np
import kepler_envs
from kepler_envs.engine import transition

transition.MOST_FORCED = 1000  # uncompiled, a million would take long
plain = kepler_envs.load_game("kitten_adventurers")

def legal(s, t, mask):
    mask[0] = np.uint64(1 if s.decisions else 3)

verbs = dataclasses.replace(plain.verbs, legal=legal, apply=lambda s, t, action: None)
game = dataclasses.replace(plain, name="endless", always_offered=(), verbs=verbs)
env = kepler_envs.engine.aec.KeplerEnv(game.configure(2))
env.reset(seed=1)
try:
    env.step(0)
except AssertionError as problem:
    print(problem)
"""


def test_forced_nodes_without_end_are_an_error():
    code = f"import os\nos.environ['NUMBA_DISABLE_JIT'] = '1'\n{ENDLESS}"
    done = subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True, text=True)
    assert "endless-v1: a node without a legal action, or forced nodes without end (a bug of the game)" in done.stdout


def test_settle_applies_forced_nodes_alone():
    """A made-up game, uncompiled: in a process of its own."""
    code = f"import os\nos.environ['NUMBA_DISABLE_JIT'] = '1'\n{SETTLED}"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_every_helper_says_what_it_does():
    source = Path(sys.modules[Transition.__module__].__file__ or "").read_text(encoding="utf-8")
    for name in Transition._fields:
        assert f'    {name}: Any\n    """(' in source, name
