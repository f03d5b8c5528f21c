"""NashConv in reduced games: known numbers, and policies that are tables of what a bot or a network does."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: pip install 'kepler_envs[openspiel]'")

import torch as th
from open_spiel.python.algorithms import cfr, exploitability

from agents.benchmark import __main__ as command
from agents.benchmark import exact, tables
from agents.benchmark.__main__ import INTERRUPTED, Exact
from agents.benchmark.exact import (
    REDUCED,
    Amounts,
    DealtVecEnv,
    Reduced,
    TablePolicy,
    batch_of,
    bot_table,
    measure,
    nash_conv,
    network_table,
    train_network,
    uniform_table,
)
from agents.benchmark.records import ExactLine
from kepler_envs.engine.batch import Batch
from kepler_envs.records import read_lines, write_lines
from kepler_envs.terminal import make_console
from tests.effort import slow

KITTENS, RACE = Reduced("kitten_adventurers", 2, REDUCED[0].options), Reduced("race_to_kepler", 4)


@pytest.mark.parametrize(
    ("game", "states", "known", "uniform"), [(KITTENS, 143, 94, 0.75), (RACE, 429, 208, 0.6328125)]
)
def test_uniform_play_is_far_from_equilibrium(game, states, known, uniform):
    assert (game.states, len(game.positions)) == (states, known)
    assert nash_conv(game, uniform_table(game)) == pytest.approx(uniform, abs=1e-6)


@pytest.mark.parametrize("game", [KITTENS, RACE])
def test_cfr_begins_with_uniform_play_and_comes_close(game):
    solver = cfr.CFRSolver(game.spiel)
    solver.evaluate_and_update_policy()
    first = exploitability.nash_conv(game.spiel, solver.average_policy())
    assert first == pytest.approx(nash_conv(game, uniform_table(game)))
    for _ in range(9):
        solver.evaluate_and_update_policy()
    assert exploitability.nash_conv(game.spiel, solver.average_policy()) < 0.2 * first


def test_a_seat_does_not_know_everything():
    """Positions of one information state differ, and are seen and decided alike."""
    waiting, found = [REDUCED[1].spiel.new_initial_state()], {}
    while waiting:
        state = waiting.pop()
        if not (state.is_chance_node() or state.is_terminal()):
            found.setdefault(state.information_state_string(), []).append(state.moment.position)
        waiting += [state.child(action) for action in state.legal_actions()]
    alike = [positions for positions in found.values() if len(set(positions)) > 1]
    assert len(alike) > 10
    for positions in alike:
        seat = positions[0].seat
        assert {position.seat for position in positions} == {seat}
        assert len({position.observe(seat).tobytes() for position in positions}) == 1
        assert len({tuple(position.legal_actions()) for position in positions}) == 1


def test_a_bot_s_policy_is_how_often_it_chooses_what():
    legal = batch_of(RACE).action_mask.astype(bool)
    table = bot_table(RACE, "uniform", 200)
    found = np.array(list(table.values()))
    assert found.sum(1) == pytest.approx(1) and not found[~legal].any()
    assert np.abs(found - np.array(list(uniform_table(RACE).values()))).max() < 0.2
    greedy = np.array(list(bot_table(RACE, "greedy", 2).values()))
    assert set(np.unique(greedy)) <= {0.0, 0.5, 1.0}
    assert nash_conv(RACE, bot_table(RACE, "mcts:100", 4)) < nash_conv(RACE, uniform_table(RACE))


def test_a_policy_speaks_of_legal_ids_alone():
    state = RACE.spiel.new_initial_state()
    state.apply_action(0)
    told = TablePolicy(RACE.spiel, uniform_table(RACE)).action_probabilities(state)
    assert sorted(told) == state.legal_actions() and sum(told.values()) == pytest.approx(1)


def test_training_is_on_the_deals_of_the_game(monkeypatch):
    setting = RACE.spiel.new_initial_state().moment.setting
    deals = [setting.deal(number) for number in range(RACE.deals)]
    env = DealtVecEnv(Batch(RACE.config, 8, 3), deals, 3)
    env.reset()
    begun = {env.batch.snapshot(row) for row in range(8)}
    assert begun <= set(deals)
    ended = 0
    for _ in range(40):
        observations, _, dones, _ = env.step(env.batch.uniform())
        assert np.array_equal(observations, env.batch.observation)
        for row in np.flatnonzero(dones):
            assert env.batch.snapshot(row) in deals
            ended += 1
    assert ended > 8


def test_a_little_training_comes_closer_and_repeats(monkeypatch):
    monkeypatch.setattr(exact, "NUM_ENVS", 16)
    one, other = (train_network(RACE, 6_000, 0) for _ in range(2))
    assert all(th.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert nash_conv(RACE, network_table(RACE, one)) < nash_conv(RACE, uniform_table(RACE))


def test_lines_of_a_reduced_game(tmp_path):
    record = tmp_path / "record.csv"
    amounts = Amounts(iterations=3, decisions=100, seeds=2, bots=(("greedy", 2),))
    measure(KITTENS, amounts, lambda line: write_lines(record, [line], ExactLine))
    lines = read_lines(record, ExactLine)
    assert [(line.policy, line.amount, line.seed) for line in lines] == [
        ("cfr", 1, 0), ("cfr", 2, 0), ("cfr", 3, 0), ("greedy", 2, 0), ("ppo", 100, 0), ("ppo", 100, 1),
        ("uniform", 0, 0),
    ]  # fmt: skip
    assert all(
        line.game == "kitten_adventurers-v1" and line.nash_conv >= 0 and line.states == KITTENS.states for line in lines
    )
    titles, rows = tables.exact(record)
    ppo = dict(zip(titles, rows[4], strict=True))
    assert ppo["policy"] == "`ppo`" and ppo["NashConv"].endswith("2 runs)")


class SetAfter(threading.Event):
    """An event that is set once it was asked so often."""

    def __init__(self, questions: int) -> None:
        super().__init__()
        self.left = questions

    def is_set(self) -> bool:
        self.left -= 1
        return self.left < 0


@slow
def test_a_stop_takes_effect_within_a_line_and_keeps_those_before(monkeypatch):
    """Whenever it comes: between lines, between draws, in a training, between iterations of CFR."""
    monkeypatch.setattr(exact, "NUM_ENVS", 2)
    monkeypatch.setattr(exact, "N_STEPS", 8)
    amounts = Amounts(iterations=2, decisions=10, seeds=1, bots=(("greedy", 3),))
    whole, never = [], SetAfter(10**6)
    assert measure(KITTENS, amounts, whole.append, never)
    questions = 10**6 - never.left
    assert [line.policy for line in whole] == ["uniform", "greedy", "ppo", "cfr", "cfr"]
    ends = []
    for asked in range(questions):
        kept: list[ExactLine] = []
        assert not measure(KITTENS, amounts, kept.append, SetAfter(asked))
        assert [known(line) for line in kept] == [known(line) for line in whole[: len(kept)]]
        ends.append(len(kept))
    assert ends == sorted(ends) and set(ends) == set(range(len(whole)))
    assert all(ends.count(lines) > 1 for lines in (1, 2)), "also in the middle of draws, and of a training"


def known(line: ExactLine) -> ExactLine:
    """A line without the time that it took."""
    return replace(line, seconds=0.0)


def test_the_command_is_interrupted_and_keeps_what_it_has(tmp_path, monkeypatch):
    record, stop, said = tmp_path / "record.csv", threading.Event(), []
    monkeypatch.setattr(exact, "REDUCED", (KITTENS, RACE))
    monkeypatch.setattr(command, "say", lambda console, words: said.append(words) or stop.set())
    asked = Exact(iterations=1, decisions=10, seeds=1, record=record)
    assert asked.run(make_console(), stop) == INTERRUPTED
    assert [(line.game, line.policy) for line in read_lines(record, ExactLine)] == [
        ("kitten_adventurers-v1", "uniform")
    ]
    assert len(said) == 1
