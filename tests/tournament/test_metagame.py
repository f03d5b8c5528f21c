"""The meta-game on matrices whose answers are known."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from kepler_envs.tournament import metagame, report, standings
from kepler_envs.tournament.metagame import (
    alone_tables,
    alpha_rank,
    evaluate,
    nash_averaging,
    payoffs,
    resampled,
    wins_alone,
)
from kepler_envs.tournament.play import GameResult

CYCLE = np.array([[0, -0.6, 0.6], [0.6, 0, -0.6], [-0.6, 0.6, 0]])
DOMINANCE = np.array([[0, 0.5, 0.8], [-0.5, 0, 0.3], [-0.8, -0.3, 0]])

needs_open_spiel = pytest.mark.skipif(not metagame.is_installed(), reason=metagame.MISSING)


@needs_open_spiel
def test_rock_paper_scissors_is_shared():
    assert alpha_rank(CYCLE) == pytest.approx([1 / 3] * 3, abs=1e-6)
    mass, average = nash_averaging(CYCLE)
    assert mass == pytest.approx([1 / 3] * 3, abs=1e-3) and average == pytest.approx([0] * 3, abs=1e-3)


@needs_open_spiel
def test_dominance_leaves_one():
    shares = alpha_rank(DOMINANCE)
    assert shares[0] > 0.97 and shares[0] > shares[1] > shares[2] and shares.sum() == pytest.approx(1)
    mass, average = nash_averaging(DOMINANCE)
    assert mass == pytest.approx([1, 0, 0], abs=1e-3)
    assert average == pytest.approx(DOMINANCE[:, 0], abs=1e-3)


@needs_open_spiel
def test_a_copy_changes_nothing_for_the_others():
    """Nash averaging's point: two copies of scissors share its mass, and the averages stay."""
    order = [0, 1, 2, 2]
    copied = CYCLE[np.ix_(order, order)]
    mass, average = nash_averaging(copied)
    assert mass == pytest.approx([1 / 3, 1 / 3, 1 / 6, 1 / 6], abs=1e-3) and average == pytest.approx([0] * 4, abs=1e-3)


@needs_open_spiel
def test_nash_averaging_is_open_spiels():
    """It makes the same convex programme anew for each game."""
    import pyspiel
    from open_spiel.python.algorithms.nash_averaging import nash_averaging as by_open_spiel

    rng = np.random.default_rng(0)
    for agents in (2, 4, 4, 7):
        wins = rng.binomial(40, 0.5, (agents, agents)) / 40
        game, names = wins - wins.T, [str(i) for i in range(agents)]
        asked = pyspiel.create_matrix_game("meta", "meta", names, names, game.tolist(), game.T.tolist())
        theirs = [found.ravel() for found in by_open_spiel(asked)]
        for own, other in zip(nash_averaging(game), theirs, strict=True):
            assert own == pytest.approx(other, abs=3e-4)


@needs_open_spiel
def test_without_an_answer_there_is_none():
    """Payoffs of which none is an equilibrium: the solver's last answer is not taken for theirs."""
    nash_averaging(CYCLE)
    mass, average = nash_averaging(np.ones((3, 3)))
    assert np.isnan(mass).all() and np.isnan(average).all()


@needs_open_spiel
def test_a_solver_that_fails_leaves_no_answer(monkeypatch):
    """Least of all that of the game before."""
    import cvxpy

    def fail(*_):
        raise cvxpy.error.SolverError("it gave up")

    nash_averaging(CYCLE)
    monkeypatch.setattr(cvxpy.Problem, "solve", fail)
    mass, average = nash_averaging(DOMINANCE)
    assert np.isnan(mass).all() and np.isnan(average).all()
    found = standings.standings([table(0, "rp", 1), table(1, "pr", 0)], ["r", "p"], ["r", "p"], samples=2, seed=0)
    assert [(value.nash_mass, value.nash_average) for value in found.metagame] == [(None, None)] * 2
    assert found.metagame[0].alpha_rank.mean > 0.97  # the other method has its answer
    json.dumps(found.as_json(), allow_nan=False)  # NaN is no JSON
    rows = next(each.rows for each in report.tables(found) if each.title == report.METAGAME)
    assert [row[2:] for row in rows] == [["not found"] * 2] * 2


def table(number: int, names: str, winner: int) -> GameResult:
    ranks = tuple(1 if seat == winner else 2 for seat in range(len(names)))
    zeros = (0,) * len(names)
    return GameResult(number, number, tuple(names), ranks, zeros, zeros, 1, "terminated")


@needs_open_spiel
def test_three_players_that_go_in_circles():
    """One rock among papers never wins, one paper among rocks always, and so on round; mixed tables do not count."""
    results = []
    for one, other, wins in (("p", "r", True), ("s", "p", True), ("r", "s", True)):
        results += [table(len(results) + i, one + other * 2, 0 if wins else 1) for i in range(5)]
        results += [table(len(results) + i, other + one * 2, 1) for i in range(5)]
    results += [table(len(results) + i, "rps", 0) for i in range(50)]
    found = standings.standings(results, ["r", "p", "s"], ["r", "p", "s"], samples=4, seed=0)
    for value in found.metagame:
        assert value.alpha_rank.mean == pytest.approx(1 / 3, abs=1e-6)
        assert value.nash_mass.mean == pytest.approx(1 / 3, abs=1e-3)
        assert value.nash_mass.low == pytest.approx(1 / 3, abs=1e-3)  # every game of a pairing went the same way


@needs_open_spiel
def test_intervals_show_what_is_uncertain():
    """Two agents: one that won 6 of 10 may not be better at all."""
    agents = np.tile([[0, 1], [1, 0]], (5, 1))
    first_wins = np.array([1, 1, 1, 1, 1, 1, 0, 0, 0, 0])
    wins = np.where(agents == 0, first_wins[:, None], 1 - first_wins[:, None]).astype(float)
    better, worse = evaluate(agents, wins, [0, 1], 100, 0)
    assert (better.nash_mass.mean, better.nash_average.mean) == (pytest.approx(1), pytest.approx(0, abs=1e-6))
    assert worse.nash_average.mean == pytest.approx(-0.2, abs=1e-6)
    assert better.alpha_rank.low < 0.5 < better.alpha_rank.mean


def test_games_of_two_seats_are_drawn_for_both_at_once():
    """A = 2 w - 1 for a share of wins w, so that its deviation is 2 sqrt(w (1 - w) / games)."""
    agents = np.tile([[0, 1], [1, 0]], (200, 1))
    first_wins = (np.arange(400) < 226).astype(float)
    won = wins_alone(agents, np.where(agents == 0, first_wins[:, None], 1 - first_wins[:, None]), [0, 1])
    rng = np.random.default_rng(0)
    drawn = [payoffs(resampled(won, 2, rng))[0, 1] for _ in range(4000)]
    share = 226 / 400
    assert np.std(drawn) == pytest.approx(2 * np.sqrt(share * (1 - share) / 400), rel=0.05)


def test_games_of_more_seats_are_drawn_apart():
    """One among others and the other way round are different games, of different numbers."""
    agents = np.array([[0, 1, 1]] * 100 + [[1, 0, 0]] * 300)
    wins = np.zeros((400, 3))
    wins[::2, 0], wins[1::2, 1] = 1, 1
    won, rng = wins_alone(agents, wins, [0, 1]), np.random.default_rng(0)
    drawn = [payoffs(resampled(won, 3, rng))[0, 1] for _ in range(4000)]
    assert np.std(drawn) == pytest.approx(np.sqrt(0.25 / 100 + 0.25 / 300), rel=0.05)


@needs_open_spiel
def test_draws_leave_no_winner_to_rounding():
    """Means of 1/3 over 12 and over 15 games differ in their last digit."""
    pairs = [([one] + [other] * 2, 12 + 3 * one) for one in range(3) for other in range(3) if one != other]
    agents = np.array([seats for seats, games in pairs for _ in range(games)])
    wins = np.full(agents.shape, 1 / 3)
    assert np.any(payoffs(wins_alone(agents, wins, [0, 1, 2])))
    for value in evaluate(agents, wins, [0, 1, 2], 3, 0):
        assert value.alpha_rank.mean == pytest.approx(1 / 3, abs=1e-6)
        assert value.alpha_rank.low == pytest.approx(1 / 3, abs=1e-6)


@needs_open_spiel
def test_one_game_of_each_pair_is_enough():
    one, other = evaluate(np.array([[0, 1]]), np.array([[1.0, 0.0]]), [0, 1], 1, 0)
    assert one.alpha_rank.mean > 0.97 and other.nash_average.mean == pytest.approx(-1, abs=1e-3)
    assert evaluate(np.array([[0, 1]]), np.array([[1.0, 0.0]]), [0, 1, 2], 1, 0) is None


def test_tables_of_one_against_others():
    agents = np.array([[0, 1, 1], [1, 0, 1], [0, 0, 1], [0, 1, 2], [2, 2, 1]])
    assert alone_tables(agents, 0, 1).tolist() == [True, True, False, False, False]
    assert alone_tables(agents, 1, 0).tolist() == [False, False, True, False, False]
    assert alone_tables(agents, 1, 2).tolist() == [False, False, False, False, True]
    assert not alone_tables(agents, 1, 1).any()


@pytest.mark.parametrize("name", ["cvxpy", "open_spiel", "networkx"])
def test_every_library_is_needed(monkeypatch, name):
    """open_spiel imports networkx without declaring it."""
    for module in [one for one in sys.modules if one.startswith("open_spiel")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    assert not metagame.is_installed() and f" {name}" in metagame.MISSING


def test_without_open_spiel_there_is_none(monkeypatch):
    monkeypatch.setattr(metagame, "is_installed", lambda: False)
    results = [table(0, "ab", 0), table(1, "ba", 0)]
    assert standings.standings(results, ["a", "b"], ["a", "b"], samples=1, seed=0).metagame is None
