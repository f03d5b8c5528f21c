"""Games with searches: what is kept of them, and what is learned from a tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kepler_envs
from agents.search_games import MOST_ACTIONS, Play, search_games, target_of
from kepler_envs import bots
from kepler_envs.bots.protocol import TrustedDecisions, play_games
from kepler_envs.bots.search import Grown, MctsConfig, make_searcher
from kepler_envs.bots.search.kernels.tree import NODE, NONE, ROOT

CONFIG = kepler_envs.load_game("kitten_adventurers").configure(3, quest_size=3)
ASKED = MctsConfig(iterations=12)


def tree(visits: list[int], means: list[float], priors: list[float]) -> Grown:
    """A root whose children are the actions 10, 11, ..., seat 1 searching.

    The priors are those of a network, or say how often the policy of the playouts chose each.
    """
    nodes = np.zeros(len(visits) + 1, NODE)
    nodes["parent"], nodes["action"] = [NONE, *[ROOT] * len(visits)], [NONE, *range(10, 10 + len(visits))]
    nodes["visits"] = [sum(visits), *visits]
    nodes["value"][1:, 1] = np.array(visits) * np.array(means)
    nodes["prior"][1:] = priors
    return Grown(nodes, 0)


def played(play: Play, games: int = 24, seed: int = 5, asked: MctsConfig | None = ASKED):
    greedy, uniform = bots.load("greedy", CONFIG), bots.load("uniform", CONFIG)
    searcher = make_searcher(CONFIG, asked) if asked else None
    return search_games(CONFIG, games, seed, asked, searcher, [greedy, uniform], bots.load("greedy", CONFIG), play)


# ---------------------------------------------------------------- targets


def test_visits_become_shares_and_the_most_visited_is_the_search_s():
    """By hand: three actions, prior 1/2 + 1/6 for the one greedy chose and 1/6 for the others, exploration 4, 100
    visits."""
    shares, best = target_of(tree([10, 80, 10], [0.1, 0.5, 0.4], [0, 100, 0]), 1, ASKED, 40, 3)
    assert best == 11 and shares.sum() == pytest.approx(1)
    scale = 4 * np.sqrt(101)
    worth = 0.5 + scale * (2 / 3) / 81
    kept = [np.ceil(scale / 6 / (worth - mean) - 1) for mean in (0.1, 0.4)]
    assert kept[0] == 9 and kept[1] > 10, "the first could be without a visit, the other one not"
    assert shares[10:13] == pytest.approx(np.array([9, 80, 10]) / 99)


def test_exploration_is_spread_over_what_was_never_tried_too():
    """The same with nine more legal actions: 1/24 for each. The first action could lose all but two of its visits."""
    shares, best = target_of(tree([10, 80, 10], [0.1, 0.5, 0.4], [0, 100, 0]), 1, ASKED, 40, 12)
    scale = 4 * np.sqrt(101)
    worth = 0.5 + scale * (1 / 2 + 1 / 24) / 81
    kept = [np.ceil(scale / 24 / (worth - mean) - 1) for mean in (0.1, 0.4)]
    assert best == 11 and kept == [2, 4]
    assert shares[10:13] == pytest.approx(np.array([2, 80, 4]) / 86)


@pytest.mark.parametrize("playout", ["greedy", "uniform"])
def test_a_policy_that_draws_is_trusted_as_often_as_it_chose_each_action(playout):
    """The prior is 0.46, 0.17 and 0.38: the visits of the two it chose are its own, not exploration's."""
    asked = MctsConfig(iterations=90, playout=playout, exploration=1.0)
    shares, best = target_of(tree([25, 39, 26], [0.1, 0.5, 0.1], [52, 0, 38]), 1, asked, 40, 3)
    scale, priors = np.sqrt(91), np.array([52 / 180, 0, 38 / 180]) + 1 / 6
    worth = 0.5 + scale * priors[1] / 40
    kept = np.ceil(scale * priors[[0, 2]] / (worth - 0.1) - 1)
    assert best == 11 and kept.tolist() == [9, 8]
    assert shares[10:13] == pytest.approx(np.array([9, 39, 8]) / 56)


def test_without_trust_it_does_not_matter_what_the_policy_of_the_playouts_chose():
    """Prior 1/3 for each of three actions."""
    asked = MctsConfig(iterations=100, trust=0.0, exploration=1.0)
    shares, _ = target_of(tree([10, 80, 10], [0.1, 0.5, 0.4], [0, 0, 0]), 1, asked, 40, 3)
    scale = np.sqrt(101) / 3
    kept = np.ceil(scale / (0.5 + scale / 81 - 0.1) - 1)
    assert kept == 7 and shares[10:13] == pytest.approx(np.array([7, 80, 10]) / 97)


def test_visits_that_are_kept_are_the_fewest_that_leave_an_action_behind_the_best_one():
    """In the selection formula, as one counts them up. Of an action ahead of it all are kept."""
    asked, rng, pruned = MctsConfig(iterations=100, exploration=1.0, trust=0.5), np.random.default_rng(0), 0
    for _ in range(300):
        visits, means = rng.integers(2, 40, 4), rng.uniform(-1, 1, 4)
        chosen = rng.multinomial(visits.sum(), rng.dirichlet(np.ones(4)))
        scale = np.sqrt(visits.sum() + 1) * (0.5 * chosen / visits.sum() + 0.5 / 4)
        shares, best = target_of(tree(visits.tolist(), means.tolist(), chosen.tolist()), 1, asked, 40, 4)
        top = means[best - 10] + scale[best - 10] / (1 + visits[best - 10])
        kept = visits.copy()
        for place in set(range(4)) - {best - 10}:
            behind = means[place] + scale[place] / (1 + np.arange(visits[place])) <= top
            if behind.any():
                fewest = int(behind.argmax())
                kept[place], pruned = fewest if fewest > 1 else 0, pruned + 1
        assert shares[10:14] == pytest.approx(kept / kept.sum())
    assert pruned > 300


def test_an_action_that_was_tried_once_is_not_learned():
    shares, best = target_of(tree([1, 30, 1], [-1.0, 0.9, -0.9], [32, 0, 0]), 1, ASKED, 40, 3)
    assert best == 11 and shares[11] == 1 and shares.sum() == 1


def test_of_equally_visited_actions_the_better_one_is_chosen():
    assert target_of(tree([20, 20], [0.1, 0.2], [40, 0]), 1, ASKED, 40, 2)[1] == 11
    assert target_of(tree([20, 20], [0.2, 0.2], [40, 0]), 1, ASKED, 40, 2)[1] == 10


def test_a_network_s_priors_say_what_exploration_had_made():
    asked = MctsConfig(iterations=100, network="net:any")
    trusted, _ = target_of(tree([20, 80], [0.0, 0.5], [0.9, 0.1]), 1, asked, 40, 2)
    doubted, _ = target_of(tree([20, 80], [0.0, 0.5], [0.1, 0.9]), 1, asked, 40, 2)
    assert doubted[10] < trusted[10] <= 0.2 + 1e-9


# ---------------------------------------------------------------- games


def test_only_searched_decisions_have_targets_and_all_have_returns():
    found = played(Play(searched=0.3, noise=0.0, quick=0.3))
    searched = found.shares.sum(1) > 0
    assert 0.3 < searched.mean() < 0.7 and len(found) > 100
    assert found.actions.shape[1] == min(MOST_ACTIONS, len(CONFIG.actions))
    masks = found.masks(np.arange(len(found)))
    assert masks.sum(1).min() == 2
    rows, columns = np.nonzero(found.shares)
    assert masks[rows, found.actions[rows, columns]].all(), "only legal actions have a share"
    assert (np.diff(found.shares, axis=1) <= 0).all(), "the best comes first"
    assert masks[np.arange(len(found)), found.below].all()
    assert np.abs(found.returns.sum(1)).max() < 1e-5 and not np.isnan(found.returns).any()


def test_noise_is_played_and_not_learned():
    """Without it every game is as long as greedy makes it. With nothing else games are longer, and still greedy says
    what to do."""
    greedy, alone = bots.load("greedy", CONFIG), play_games(bots.load("greedy", CONFIG), CONFIG, 24, 5)
    quiet, noisy = (
        search_games(CONFIG, 24, 5, None, None, [greedy], bots.load("greedy", CONFIG), Play(0.0, noise, 0.2))
        for noise in (0.0, 1.0)
    )
    assert quiet.played == alone.final_length.sum() and noisy.played > 1.2 * quiet.played
    assert len(noisy) > 100 and (noisy.action == noisy.below).all()


class Noted:
    """Plays the lowest legal id, and notes which seats it is asked for."""

    name = "noted"

    def __init__(self) -> None:
        self.asked: set[tuple[int, int]] = set()

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None: ...

    def act(self, decisions: TrustedDecisions) -> np.ndarray:
        self.asked |= set(zip(decisions.rows.tolist(), decisions.batch.seat[decisions.rows].tolist(), strict=True))
        return decisions.action_mask.argmax(1)


def test_each_seat_of_each_game_has_one_bot_throughout():
    one, other = Noted(), Noted()
    search_games(CONFIG, 24, 5, None, None, [one, other], bots.load("greedy", CONFIG), Play(0.0, 0.1, 0.2))
    assert not one.asked & other.asked and len(one.asked | other.asked) > 24 * 2
    assert 20 < len(one.asked) < 52, "about half of the seats each"
    assert {row for row, _ in one.asked} & {row for row, _ in other.asked}, "at one table sit both"


def test_every_search_has_deals_of_its_own():
    searcher, drawn = make_searcher(CONFIG, ASKED), []

    class Watched:
        def grow(self, states, generators):
            drawn.extend(generators["rng"].tolist())
            return searcher.grow(states, generators)

    for seed in (3, 4):
        search_games(
            CONFIG, 2, seed, ASKED, Watched(), [bots.load("uniform", CONFIG)], bots.load("greedy", CONFIG), Play()
        )
    assert len(set(drawn)) == len(drawn) > 20


def test_positions_in_which_the_search_leaves_greedy_count_more():
    found = played(Play(searched=1.0, noise=0.0, quick=0.0, differing=5.0))
    weights = found.shares.sum(1).round(4)
    differs = weights == 5
    assert set(weights) == {1.0, 5.0} and 0 < differs.mean() < 0.5
    assert (found.action[~differs] == found.below[~differs]).mean() > 0.95  # pruning may change the order of a tie


def test_with_nothing_searched_the_bots_play_as_they_do():
    """Without noise every game ends as greedy alone ends it."""
    greedy = bots.load("greedy", CONFIG)
    found = search_games(CONFIG, 16, 9, None, None, [greedy], bots.load("greedy", CONFIG), Play(0.0, 0.0, 1.0))
    alone = play_games(bots.load("greedy", CONFIG), CONFIG, 16, 9)
    for game in range(16):
        assert np.sort(found.returns[found.game == game][0]).tolist() == np.sort(alone.final_return[game]).tolist()


def test_without_a_search_greedy_says_what_is_to_be_done():
    """At all positions that are kept: what greedy would do is known there anyway."""
    found = played(Play(searched=0.3, noise=0.0, quick=0.3), asked=None)
    assert len(found) > 100 and (found.shares[:, 0] == 1).all() and (found.action == found.below).all()


def test_the_same_seed_plays_the_same_games():
    one, again, other = (played(Play(), seed=seed) for seed in (5, 5, 6))
    assert np.array_equal(one.observation, again.observation) and np.array_equal(one.shares, again.shares)
    assert not np.array_equal(one.observation[:50], other.observation[:50])


@pytest.mark.parametrize("differing", [1.0, 3.0])
def test_what_is_kept_of_a_search_is_what_the_search_finds(differing):
    """At every decision of a game, by the trees that it grew."""
    seen = {}
    searcher = make_searcher(CONFIG, ASKED)

    class Watched:
        def grow(self, states, generators):
            trees = searcher.grow(states, generators)
            for place, tree_ in enumerate(trees):
                seen.setdefault(len(seen), (states[place : place + 1].copy(), tree_))
            return trees

    greedy = bots.load("greedy", CONFIG)
    play = replace(Play(searched=1.0, noise=0.0, quick=0.0), differing=differing)
    found = search_games(CONFIG, 1, 3, ASKED, Watched(), [greedy], bots.load("greedy", CONFIG), play)
    assert len(found) == len(seen)
    for place, (states, grown) in seen.items():
        seat = int(states["seat"][0])
        visits, sums = grown.root_visits(seat, len(CONFIG.actions))
        best = int(np.lexsort((-np.arange(len(visits)), sums / np.maximum(visits, 1), visits))[-1])
        weight = differing if best != found.below[place] else 1.0
        assert found.shares[place].sum() == pytest.approx(weight)
        assert found.shares[place][found.actions[place] == best].sum() > 0
