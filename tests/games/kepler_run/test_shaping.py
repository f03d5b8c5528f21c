"""Shaping: coefficient x (own points of the round - mean over all players), paid when a round ends."""

from __future__ import annotations

import pytest

from kepler_envs import KeplerEnv, Snapshot
from kepler_envs.games.kepler_run.actions import STOP
from kepler_envs.games.kepler_run.state import Node
from tests.choosing import uniform
from tests.games.kepler_run.scenario import GAME, Seat, look, scenario

X = 0.05
CONFIG = GAME.configure(3, shaping=X)


def test_paid_when_a_round_ends() -> None:
    """Points of earlier rounds have been paid for; those of this round were partly scored before its last decision."""
    seats = [Seat(ship=ship, contract=1, place=place) for ship, place in enumerate([2, 3, 3])]
    seats[0].flown = seats[1].flown = True
    seats[0].points["kepler"], seats[0].vp_paid = 6, 4
    env = KeplerEnv(CONFIG)
    env.restore(scenario([2, 4, 6, 10], *seats, node=Node.FLY, turn=2, draft_pos=6, config=CONFIG))
    env.step(STOP)
    gains = [2 + 2, 5, 3]  # test vector 12, and two points of seat 0 from before
    assert list(env.rewards.values()) == pytest.approx([X * (gain - 4) for gain in gains])


def test_sums_over_a_game() -> None:
    """Nothing inside a round; in the end every point is paid for, those of the final scoring too."""
    choose, env = uniform(5), KeplerEnv(CONFIG)
    env.reset(seed=5)
    totals = dict.fromkeys(env.possible_agents, 0.0)
    while not any(env.terminations.values()):
        before = look(env.snapshot())
        env.step(choose(env.legal_actions()))
        for agent, reward in env.rewards.items():
            totals[agent] += reward
        now: Snapshot = env.snapshot()
        if look(now).round == before.round and not now.over:
            assert set(env.rewards.values()) == {0.0}
    points = [seat.vp for seat in look(env.snapshot()).seats]
    for seat, agent in enumerate(env.possible_agents):
        shaped = X * (points[seat] - sum(points) / 3)
        assert totals[agent] == pytest.approx(env.infos[agent]["returns"] + shaped, abs=1e-5)


def test_off_by_default() -> None:
    assert GAME.configure(3).values["shaping"] == 0
