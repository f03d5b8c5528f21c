"""OpenSpiel's own algorithms: search, outcome sampling, and exact methods on a game small enough for them."""

from __future__ import annotations

import numpy as np

from tests.clients import needs

needs("pyspiel")

import pyspiel
from open_spiel.python.algorithms import (
    cfr,
    evaluate_bots,
    exploitability,
    external_sampling_mccfr,
    ismcts,
    mcts,
    outcome_sampling_mccfr,
)
from open_spiel.python.bots import uniform_random

import kepler_envs.adapters.openspiel  # noqa: F401

SHORT = "kepler_kitten_adventurers(players=2,options=quest_size:1,deals=20)"
TINY = "kepler_kitten_adventurers(players=2,options=quest_size:1;max_turns:2;max_plays:3,deals=2)"
"""66 information states: the one that docs/adapters.md names."""


def test_exact_methods_finish():
    game = pyspiel.load_game(TINY)
    solver = cfr.CFRSolver(game)
    assert len(solver._info_state_nodes) == 66
    before = exploitability.nash_conv(game, solver.average_policy())
    for _ in range(20):
        solver.evaluate_and_update_policy()
    after = exploitability.nash_conv(game, solver.average_policy())
    assert 0.8 < before < 0.85 and 0 <= after < 0.05


def test_sampling_methods():
    np.random.seed(1)
    game = pyspiel.load_game(TINY)
    for solver in (
        outcome_sampling_mccfr.OutcomeSamplingSolver(game),
        external_sampling_mccfr.ExternalSamplingSolver(game),
    ):
        for _ in range(300):
            solver.iteration()
        assert exploitability.nash_conv(game, solver.average_policy()) < 0.6


def test_outcome_sampling_on_a_whole_game():
    np.random.seed(1)
    solver = outcome_sampling_mccfr.OutcomeSamplingSolver(pyspiel.load_game(SHORT))
    for _ in range(5):
        solver.iteration()
    assert len(solver._infostates) > 20


def play(game: pyspiel.Game, searching: pyspiel.Bot, deals: int) -> float:
    """The mean return of a bot that searches, against uniform play, seats in turn."""
    paid = 0.0
    for number in range(deals):
        seat, rng = number % 2, np.random.RandomState(number)
        bots = [uniform_random.UniformRandomBot(1 - seat, rng)] * 2
        bots[seat] = searching
        paid += evaluate_bots.evaluate_bots(game.new_initial_state(), bots, rng)[seat]
    return paid / deals


def test_its_searches_beat_uniform_play():
    game, rng = pyspiel.load_game(SHORT), np.random.RandomState(3)
    evaluator = mcts.RandomRolloutEvaluator(1, rng)
    search = mcts.MCTSBot(game, 1.4, 30, evaluator, random_state=rng)
    assert play(game, search, 6) > 0, "it sees the cards"
    guess = ismcts.ISMCTSBot(game, evaluator, 1.4, 20, random_state=rng, allow_inconsistent_action_sets=True)
    assert play(game, guess, 6) > -1
