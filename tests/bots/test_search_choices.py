"""Which decision a search looks at next, by the formulas, and what a playout is: how long, how random, in which deal.

The kernels go on with a tree that is there. So a test plants one with the numbers it wants, lets one iteration pass and
sees which decision got the visit.
"""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

import numpy as np
import pytest

import kepler_envs
from kepler_envs.bots.compiled import CompiledBot
from kepler_envs.bots.greedy import greedy_policy
from kepler_envs.bots.protocol import TrustedDecisions
from kepler_envs.bots.search import Grown, MctsBot, MctsConfig, playout_policy, search, tree_generators
from kepler_envs.bots.search.kernels.guided import descend_kernel
from kepler_envs.bots.search.kernels.tree import NONE, ROOT
from kepler_envs.bots.search.searcher import Forest, PlayoutSearcher, Workspace, streams
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration, record_array
from kepler_envs.engine.snapshot import Snapshot
from tests.contract.subjects import play

CONFIG = kepler_envs.load_game("kitten_adventurers").configure(2)
HOPELESS = -9.0
"""The mean of decisions that are never looked at."""


class Child(NamedTuple):
    """A decision at the root that has been tried: how often, with which mean, and in how many iterations it was legal
    before the one that follows."""

    visits: int
    mean: float
    available: int = 99
    prior: float = 0.0


ROOT_OF_MEAN_0 = Child(1, 0.0)


def position_with(choices: int, config: Configuration = CONFIG) -> Snapshot:
    """The first position of a random game with that many legal ids, after both seats have moved."""
    return next(p for p, _ in list(play(config, 4))[10:] if len(p.legal_actions()) == choices)


def plant(nodes: np.ndarray, seat: int, children: dict[int, Child], root: Child) -> int:
    """Write a tree of the root and its children. Returns the number of nodes."""
    nodes["parent"][ROOT] = nodes["action"][ROOT] = nodes["first_child"][ROOT] = nodes["next_sibling"][ROOT] = NONE
    nodes["visits"][ROOT], nodes["value"][ROOT, seat] = root.visits, root.visits * root.mean
    for number, (action, child) in enumerate(children.items(), 1):
        nodes["parent"][number], nodes["action"][number], nodes["first_child"][number] = ROOT, action, NONE
        nodes["next_sibling"][number] = nodes["first_child"][ROOT]
        nodes["visits"][number], nodes["available"][number] = child.visits, child.available
        nodes["value"][number, seat], nodes["prior"][number] = child.visits * child.mean, child.prior
        nodes["first_child"][ROOT] = number
    return len(children) + 1


def choice_of(asked: MctsConfig, position: Snapshot, children: dict[int, Child], root: Child = ROOT_OF_MEAN_0) -> int:
    """The decision at the root that the next iteration of a search with playouts looks at."""
    space = Workspace(position.config, 99)
    space.used[0] = plant(space.nodes, position.seat, children, root)
    PlayoutSearcher(position.config, asked)._run(position.states, streams(tree_generators(3, 1)[0]), space, 1)
    return int(space.nodes["action"][space.path[1]])


def choice_with_network(
    asked: MctsConfig, position: Snapshot, children: dict[int, Child], root: Child = ROOT_OF_MEAN_0
) -> int:
    """The same for a search with a network, whose priors the children have."""
    config, forest = position.config, Forest(position.config, 1, 99, over_a_bot=False)
    nodes = record_array(forest.nodes)
    forest.used[0] = plant(nodes[0], position.seat, children, root)
    descend_kernel(playout_policy(config.game, "greedy"))(
        position.states, config.tables, forest.work, nodes, forest.used, forest.paths, forest.depths, forest.legal,
        forest.untried, tree_generators(3, 1), asked.settings(), forest.observations, forest.masks, forest.seats,
        forest.ranks, forest.outcomes, config.observation.size,
    )  # fmt: skip
    return int(nodes["action"][0, forest.paths[0, 1]])


@pytest.mark.parametrize("exploration", [0.7, 2.0])
def test_ucb_weighs_how_often_a_decision_was_legal_against_its_visits(exploration):
    """mean + exploration * sqrt(ln(times legal, this one included) / visits), and whatever was never tried first."""
    position = position_with(3)
    one, other, third = position.legal_actions()
    asked = MctsConfig(iterations=1, selection="ucb", exploration=exploration)
    even = 0.1 + exploration * (sqrt(log(50) / 9) - sqrt(log(20) / 4))
    for more, expected in ((1e-6, one), (-1e-6, other)):
        rest = {other: Child(9, 0.1, 49), third: Child(1000, HOPELESS)}
        assert choice_of(asked, position, {one: Child(4, even + more, 19), **rest}) == expected
    assert choice_of(asked, position, {one: Child(4, 5.0, 19), other: Child(9, 0.1, 49)}) == third


def test_puct_weighs_a_prior_against_visits():
    """mean + exploration * sqrt(visits of all + 1) * prior / (1 + own visits), all priors alike with trust = 0."""
    position = position_with(3)
    one, other, third = position.legal_actions()
    asked = MctsConfig(iterations=1, exploration=1.5, trust=0.0)
    weight = 1.5 * sqrt(4 + 9 + 7 + 1) / 3
    even = 0.1 + weight * (1 / 10 - 1 / 5)
    for more, expected in ((1e-6, one), (-1e-6, other)):
        rest = {other: Child(9, 0.1), third: Child(7, HOPELESS)}
        assert choice_of(asked, position, {one: Child(4, even + more), **rest}) == expected


@pytest.mark.parametrize("caution", [0.0, 0.3])
def test_an_untried_decision_is_taken_for_as_good_as_its_parent_less_caution(caution):
    position = position_with(3)
    one, other, third = position.legal_actions()
    asked = MctsConfig(iterations=1, exploration=1.5, trust=0.0, caution=caution)
    weight = 1.5 * sqrt(4 + 9 + 1) / 3
    even = 0.25 - caution + weight - weight / 5
    for more, expected in ((1e-6, one), (-1e-6, third)):
        tried = {one: Child(4, even + more), other: Child(9, HOPELESS)}
        assert choice_of(asked, position, tried, root=Child(13, 0.25)) == expected


def test_the_choice_of_the_playout_policy_has_the_trust_and_its_even_share_of_the_rest():
    position = position_with(3)
    suggested = choice_of_greedy(position)
    other, third = (action for action in position.legal_actions() if action != suggested)
    asked = MctsConfig(iterations=1, exploration=1.5, trust=0.4)
    weight = 1.5 * sqrt(4 + 9 + 7 + 1)
    even = 0.1 + weight * (0.2 / 10 - (0.4 + 0.2) / 5)
    for more, expected in ((1e-6, suggested), (-1e-6, other)):
        rest = {other: Child(9, 0.1), third: Child(7, HOPELESS)}
        assert choice_of(asked, position, {suggested: Child(4, even + more), **rest}) == expected
    assert choice_of(asked, position, {}) == suggested, "it is the first to be tried"


def choice_of_greedy(position: Snapshot) -> int:
    batch, row = Batch(position.config, 1, 0), np.array([0])
    batch.restore(0, position)
    greedy = CompiledBot(greedy_policy(position.game), position.config)
    greedy.start(row, np.array([3], np.uint64))
    return int(greedy.act(TrustedDecisions(batch, row))[0])


def test_with_a_network_the_prior_is_its_own_but_for_an_even_share():
    """mean + exploration * sqrt(visits of all + 1) * (trust * prior + (1 - trust) / legal) / (1 + own visits), where
    decisions without a visit are as good as the root less caution."""
    position = position_with(3)
    one, other, third = position.legal_actions()
    asked = MctsConfig(iterations=1, exploration=1.5, trust=0.9, caution=0.2)
    weight = 1.5 * sqrt(4 + 9 + 7 + 1)
    even = 0.1 + weight * ((0.9 * 0.5 + 0.1 / 3) / 10 - (0.9 * 0.2 + 0.1 / 3) / 5)
    for more, expected in ((1e-6, one), (-1e-6, other)):
        rest = {other: Child(9, 0.1, prior=0.5), third: Child(7, HOPELESS, prior=0.3)}
        tree = {one: Child(4, even + more, prior=0.2), **rest}
        assert choice_with_network(asked, position, tree) == expected
    weight = 1.5 * sqrt(4 + 9 + 1)
    even = 0.25 - 0.2 + weight * ((0.9 * 0.3 + 0.1 / 3) - (0.9 * 0.2 + 0.1 / 3) / 5)
    for more, expected in ((1e-6, one), (-1e-6, third)):
        rest = {other: Child(9, HOPELESS, prior=0.5), third: Child(0, 0.0, prior=0.3)}
        tree = {one: Child(4, even + more, prior=0.2), **rest}
        assert choice_with_network(asked, position, tree, root=Child(14, 0.25)) == expected


def test_every_decision_is_searched_with_draws_of_its_own(monkeypatch):
    """In each row, in each tree, and at each decision of a game."""
    bot, drawn = MctsBot(MctsConfig(iterations=2, trees=2), CONFIG), []
    grow = bot._searcher.grow

    def noted(states: np.ndarray, generators: np.ndarray) -> list[Grown]:
        drawn.extend(generators["rng"].tolist())
        return grow(states, generators)

    monkeypatch.setattr(bot._searcher, "grow", noted)
    batch, rows = Batch(CONFIG, 3, 0), np.arange(3)
    bot.start(rows, rows.astype(np.uint64))
    for _ in range(4):
        batch.step(bot.act(TrustedDecisions(batch, rows)))
    assert len(drawn) == len(set(drawn)) == 3 * 2 * 4


@pytest.mark.parametrize("depth", [0, 5])
def test_a_playout_stops_after_as_many_decisions_as_its_depth(depth):
    """One iteration is one decision in the tree, and those."""
    assert search(Snapshot.deal(CONFIG, 1), MctsConfig(iterations=1, depth=depth), seed=1).simulated == 1 + depth


def test_noise_is_the_share_of_uniform_decisions_in_playouts():
    """Games of uniform play are longer than those of greedy, and with half of its decisions in between."""

    def length(**asked: object) -> float:
        found = search(Snapshot.deal(CONFIG, 1), MctsConfig(iterations=400, trust=0.0, **asked), seed=1)
        return found.simulated / found.iterations

    greedy, half, noisy, uniform = length(), length(noise=0.5), length(noise=1.0), length(playout="uniform")
    assert greedy < 0.9 * half and half < 0.9 * uniform
    assert noisy == pytest.approx(uniform, rel=0.1)


def test_paired_playouts_of_a_decision_are_numbered_by_its_visits():
    """Whatever drew the choices at the root: the n-th playout of a decision is the same, and another than the one
    before."""
    position = position_with(3)
    action = choice_of_greedy(position)
    searcher = PlayoutSearcher(CONFIG, MctsConfig(iterations=1, paired=1))

    def playout(visits: int, choices: int) -> list[float]:
        space, generators = Workspace(CONFIG, 99), streams(tree_generators(3, 1)[0])
        generators["rng"][:2] = choices, 7 * choices
        rest = {other: Child(1, HOPELESS) for other in position.legal_actions() if other != action}
        space.used[0] = plant(space.nodes, position.seat, {action: Child(visits, 0.0), **rest}, Child(visits + 2, 0.0))
        simulated = searcher._run(position.states, generators, space, 1)
        return [simulated, *space.nodes["value"][1, :2].tolist()]

    numbered = [playout(visits, 1) for visits in range(1, 9)]
    assert numbered == [playout(visits, 2) for visits in range(1, 9)]
    assert len(set(map(tuple, numbered))) > 2
