"""Flights as greedy plans them: quickly for a few tools, by trying all ways to use them for many."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.effort import games_to_play, slow

ROOT = Path(__file__).parents[3]

COMPARE = """
import json
from itertools import product
import numpy as np
import kepler_envs
from kepler_envs.bots.greedy import kepler_run as greedy
from kepler_envs.games.kepler_run.observation_layout import BY_BOOSTER, BY_PARTS
from kepler_envs.games.kepler_run.reach import NONE
from kepler_envs.games.kepler_run.state import JUMP_PART, SLING_PART, Node
from tests.games.kepler_run.invariants import EAGER

config = kepler_envs.load_game("kepler_run").configure(4)
t, plan = config.tables[0], greedy._room_for_a_plan()[0]
compared = {"few": 0, "many": 0, "slings": 0, "reach": 0}


def ways_left(player):
    parts = player.parts[: int(player.part_count)]
    booster = [] if player.booster_used else [BY_BOOSTER]
    return [NONE, *booster, *(BY_PARTS + slot for slot, part in enumerate(parts) if not part.used)]


def tools_left(player):
    parts = player.parts[: int(player.part_count)]
    return [JUMP_PART] * (not player.booster_used) + [int(part.part) for part in parts if not part.used]


def fuel(find, s, seat, start, way, limit):
    find(s, t, seat, start, way, limit, plan)
    return [greedy._fuel_to(plan, place) for place in range(start, int(plan.farthest) + 1)]


def compare(s):
    for seat in range(config.num_players):
        player = s.player[seat]
        tools = tools_left(player)
        few = max((tools.count(kind) for kind in tools if kind != SLING_PART), default=0) <= 2
        few = few and tools.count(SLING_PART) <= 1
        assert greedy._are_few(player) == few, tools
        if not few:
            compared["many"] += 1
            continue
        compared["few"] += 1
        compared["slings"] += tools.count(SLING_PART)
        start = int(player.place) if s.node == Node.FLY and s.seat == seat else 0
        for way, limit in product(ways_left(player), (0, 3, 20)):
            asked = (s, seat, start, way, limit)
            assert fuel(greedy._find_least_fuel, *asked) == fuel(greedy._try_all_ways, *asked), asked[1:]
        if start == 0 and not player.flown and s.node != Node.OVER and not (s.node >= Node.LOAD and s.seat == seat):
            budget = int(player.modules) + int(player.fuel)
            known = fuel(greedy._try_all_ways, s, seat, 0, NONE, budget)
            assert int(player.reach) + 1 == [*known, greedy.TOO_MUCH].index(greedy.TOO_MUCH)
            compared["reach"] += 1


rng = np.random.default_rng(5)
for seed in range({seeds}):
    position = kepler_envs.Snapshot.deal(config, seed)
    while not position.over:
        if rng.random() < 0.15:
            compare(position.states[0])
        legal = position.legal_actions()
        eager = [action for action in legal if action in EAGER]
        position = position.apply(int(rng.choice(eager if eager and rng.random() < 0.7 else legal)))
print(json.dumps(compared))
"""


@slow
def test_quick_plans_are_those_of_all_ways():
    ran = subprocess.run(
        [sys.executable, "-c", COMPARE.replace("{seeds}", str(games_to_play(6)))],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    compared = json.loads(ran.stdout)
    assert compared["few"] >= 200 and compared["many"] >= 30 and compared["slings"] >= 50 and compared["reach"] >= 100
