"""OpenSpiel's own algorithms: search, outcome sampling, and exact methods on a game small enough for them."""

from __future__ import annotations

import numpy as np

from tests.clients import needs

needs("pyspiel")

import pyspiel
from open_spiel.python.algorithms import (
    cfr,
    exploitability,
    external_sampling_mccfr,
    ismcts,
    mcts,
    outcome_sampling_mccfr,
)

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


def play(game: pyspiel.Game, searching: pyspiel.Bot, deal: int) -> float:
    """What a bot that searches is paid against uniform play, in the seat that decides first."""
    state, rng = game.new_initial_state(), np.random.RandomState(deal)
    state.apply_action(deal)
    seat = state.current_player()
    while not state.is_terminal():
        legal = state.legal_actions()
        action = searching.step(state) if state.current_player() == seat else rng.choice(legal)
        assert action in legal
        state.apply_action(int(action))
    return state.returns()[seat]


def test_its_searches_play_whole_games():
    game, rng = pyspiel.load_game(SHORT), np.random.RandomState(3)
    evaluator = mcts.RandomRolloutEvaluator(1, rng)
    seeing = mcts.MCTSBot(game, 1.4, 20, evaluator, random_state=rng)
    guessing = ismcts.ISMCTSBot(game, evaluator, 1.4, 10, random_state=rng, allow_inconsistent_action_sets=True)
    assert sum(play(game, seeing, deal) for deal in range(5)) >= 1, "it sees the cards, and wins"
    assert all(play(game, guessing, deal) in (-1.0, 0.0, 1.0) for deal in range(2))
