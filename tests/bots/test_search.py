"""Tree search: sound trees, moves that depend on nothing hidden, the same for a seed however many threads there are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import kepler_envs
from agents import checkpoint
from agents.evaluation import evaluate
from kepler_envs import bots
from kepler_envs.bots.compiled import CompiledBot
from kepler_envs.bots.greedy import greedy_policy
from kepler_envs.bots.networks import load_network
from kepler_envs.bots.networks.checkpoint import TORCH_WEIGHTS
from kepler_envs.bots.protocol import BotError, TrustedDecisions
from kepler_envs.bots.search import Grown, MctsBot, MctsConfig, make_searcher, search, tree_generators
from kepler_envs.bots.search.kernels.guided import leaf_returns
from kepler_envs.bots.search.kernels.tree import MOST_SEATS, NONE, ROOT
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.kernel import JIT_ENABLED
from kepler_envs.engine.network import NetworkShape
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.registry import list_games
from tests.contract.subjects import play
from tests.effort import DEEP, games_to_play, slow
from tests.interrupts import seconds_until_ctrl_c_counts

GAMES = list_games() if DEEP else ("kitten_adventurers",)  # compiling the searches takes a minute or two a game
VARIANTS = (
    {},
    {"selection": "ucb"},
    {"playout": "uniform", "depth": 20, "trust": 0.0},
    {"trees": 3, "noise": 0.5},
    {"paired": 1},
    {"opponents": "policy", "paired": 1},
    {"network": "untrained"},
    {"network": "untrained", "opponents": "policy", "trees": 2},
    {"network": "untrained", "mix": 0.5, "noise": 0.5, "depth": 20},
)
UNTRAINED = {"steps": 0, "seconds": 0, "parameters": 0, "evaluations": {}}


@pytest.fixture(scope="module")
def untrained(tmp_path_factory):
    """Checkpoints of small networks with random weights, made when a game asks for its own; over greedy, or not."""
    folder = tmp_path_factory.mktemp("networks")

    def path(config: Configuration, over: str = "", **training: Any) -> str:
        file = folder / f"{config.game.name}-{config.num_players}-{over}{'-'.join(training)}.zip"
        if not file.exists():
            torch.manual_seed(7)
            network = NetworkShape(width=16, hidden=(16,), rows=8, over=over)
            weights = checkpoint.weights_of(checkpoint.build(network, config))
            checkpoint.write_checkpoint(
                file,
                checkpoint.describe(config, network, {"game": config.game.name, "seed": 0, **training}, UNTRAINED),
                {TORCH_WEIGHTS: weights},
            )
        return f"net:{file}"

    return path


def asked_for(config: Configuration, untrained, iterations: int, variant: dict) -> MctsConfig:
    if "network" in variant:
        variant = {**variant, "network": untrained(config, "greedy" if variant["network"] == "over greedy" else "")}
    return MctsConfig(iterations=iterations, **variant)


def positions(config: Configuration, seed: int, every: int) -> list[Snapshot]:
    """Each so-manieth position of a random game with more than one legal id, the last one left out."""
    return [position for position, _ in list(play(config, seed))[:-1:every] if len(position.legal_actions()) > 1]


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: "-".join(map(str, variant.values())) or "default")
@pytest.mark.parametrize("game", GAMES)
def test_a_tree_adds_up(game, variant, untrained):
    config = kepler_envs.load_game(game).configure()
    asked, guided = asked_for(config, untrained, 90, variant), "network" in variant
    for position in positions(config, 1, 29)[:6]:
        result = search(position, asked, seed=5)
        tree, children = result.tree, np.flatnonzero(result.tree["parent"] == ROOT)
        assert result.iterations == result.visits.sum() == 90
        assert set(np.flatnonzero(result.visits)) <= set(position.legal_actions())
        assert result.visits[result.action] == result.visits.max()
        assert tree["parent"][ROOT] == NONE
        assert (tree["available"][1:] >= tree["visits"][1:]).all()
        below = np.bincount(tree["parent"][1:], tree["visits"][1:], minlength=len(tree)).astype(int)
        # a node's first visit ends there, unless the game does
        assert (below[1:] <= np.maximum(tree["visits"][1:] - 1, 0)).all()
        assert below[ROOT] == tree["visits"][ROOT] - guided  # a network is asked about the root first
        priors = np.bincount(tree["parent"][1:], tree["prior"][1:], minlength=len(tree))
        if guided:
            opened = np.bincount(tree["parent"][1:], minlength=len(tree)) > 0
            assert np.abs(priors[opened] - 1).max() < 1e-5
            assert set(tree["action"][children]) == set(position.legal_actions())
        else:
            assert (tree["visits"][1:] >= 1).all() and (priors <= below).all()
            assert priors.any() == (asked.trust > 0)
        players = config.num_players
        assert np.abs(tree["value"][:, :players].sum(1)).max() < 1e-3
        assert (np.abs(tree["value"]) <= 2 * tree["visits"][:, None] + 1e-3).all()
        assert not tree["value"][:, players:].any()
        assert len(set(tree["action"][children])) == len(children)


def test_a_tree_counts_what_the_policy_of_the_playouts_chose():
    """Greedy of Kitten Adventurers always chooses the same; uniform play chooses each legal decision equally often."""
    config = kepler_envs.load_game("kitten_adventurers").configure()
    for position in positions(config, 1, 29)[:6]:
        legal = position.legal_actions()
        counts = chosen_at_root(position, MctsConfig(iterations=90))
        assert counts.max() == counts.sum() == 90
        counts = chosen_at_root(position, MctsConfig(iterations=3000, playout="uniform"))
        assert 2900 < counts.sum() == counts[legal].sum() <= 3000
        expected = 3000 / len(legal)
        assert (np.abs(counts[legal] - expected) < 5 * np.sqrt(expected)).all()


def chosen_at_root(position: Snapshot, asked: MctsConfig) -> np.ndarray:
    return Grown(search(position, asked, seed=5).tree, 0).root_priors(len(position.config.actions))


def test_opponents_by_policy_leave_own_decisions_alone_in_the_tree():
    """Behind an id that ends the turn there are ids of the searching seat's next turn, not of the next seat's."""
    config = kepler_envs.load_game("kitten_adventurers").configure(2)
    for position in positions(config, 4, 1):
        for ending in position.legal_actions():
            if position.apply(ending).seat != position.seat:
                only_others = ids_of_others_alone(position, ending)
                if len(only_others) > 1:
                    break
        else:
            continue
        break
    behind = {}
    for opponents in ("policy", "tree"):
        tree = search(position, MctsConfig(iterations=2000, trust=0.0, opponents=opponents), seed=1).tree
        (node,) = np.flatnonzero((tree["parent"] == ROOT) & (tree["action"] == ending))
        behind[opponents] = set(tree["action"][tree["parent"] == node].tolist())
    assert only_others & behind["tree"]
    assert behind["policy"] and not only_others & behind["policy"]


def ids_of_others_alone(position: Snapshot, ending: int) -> set[int]:
    """Ids that the next seat may have after ``ending``, and the seat to move never has in its next turn."""
    greedy, row = CompiledBot(greedy_policy(position.game), position.config), np.array([0])
    batch = Batch(position.config, 1, 0)
    own_next: set[int] = set()
    others_next: set[int] = set()
    for deal in range(150):
        after = position.resample(position.seat, deal).apply(ending)
        others_next |= set(after.legal_actions())
        greedy.start(row, np.array([deal], np.uint64))
        while not after.over and after.seat != position.seat:
            batch.restore(0, after)
            after = after.apply(int(greedy.act(TrustedDecisions(batch, row))[0]))
        own_next |= set() if after.over else set(after.legal_actions())
    return others_next - own_next


@pytest.mark.parametrize(
    ("values", "own", "players", "returns"),
    [
        ([0.5, -0.1, -0.4, 9.0], 0, 3, [0.5, -0.1, -0.4]),  # seats that do not play count for nothing
        ([0.5, -0.1, -0.4, 9.0], 2, 3, [-0.1, -0.4, 0.5]),  # the first is the observing seat's, then clockwise
        ([0.6, 0.0, 0.0, 0.0], 1, 4, [-0.15, 0.45, -0.15, -0.15]),  # they add up to 0
        ([7.0, -1.0], 1, 2, [-1.0, 1.0]),  # no return is above 1
        ([1.0, -1.0, -1.0], 0, 3, [1.0, -0.5, -0.5]),
    ],
)
def test_values_of_a_network_become_returns_of_seats(values, own, players, returns):
    found = np.zeros(players, np.float32)
    leaf_returns(np.array(values, np.float32), own, found)
    np.testing.assert_allclose(found, returns, atol=1e-6)


@pytest.mark.parametrize("players", [2, 4])
def test_a_network_that_learned_its_own_seat_s_value_leaves_the_rest_to_the_others(players, untrained):
    """With --seat single nobody tells it what the others get; its values of them are what chance made."""
    config = kepler_envs.load_game("kitten_adventurers").configure(players)
    position = positions(config, 3, 7)[0]
    asked = position.observe(position.seat)[None], position.action_mask()[None]
    priors, values = load_network(Path(untrained(config).removeprefix("net:")), config)(*asked)
    own_priors, own = load_network(Path(untrained(config, seat="single").removeprefix("net:")), config)(*asked)
    np.testing.assert_array_equal(own_priors, priors)
    assert own[0, 0] == values[0, 0] != 0
    np.testing.assert_allclose(own[0, 1:players], -values[0, 0] / (players - 1), rtol=1e-6)
    assert abs(values[0, :players].sum()) > 1e-3 > abs(own[0, :players].sum())


def by_distance(players: int) -> np.ndarray:
    """Values that differ by seat and add up to 0, from the seat to move on."""
    return np.arange(players, 0, -1) / 10 - (players + 1) / 20


def expect(monkeypatch: pytest.MonkeyPatch, values: np.ndarray) -> None:
    """Searches use a network that always expects these values, and has no preferences."""

    def network(observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = np.full((len(observations), MOST_SEATS), 5, np.float32)
        found[:, : values.size] = values
        return (masks / masks.sum(1, keepdims=True)).astype(np.float32), found

    network.over = ""  # type: ignore[attr-defined]
    monkeypatch.setattr("kepler_envs.bots.search.searcher.load_network", lambda file, config: network)


@pytest.mark.parametrize("game", GAMES)
def test_what_a_network_expects_for_all_seats_reaches_the_tree(game, monkeypatch):
    """Without the sums of its children a node has what the network said there: from the view of the seat that moves in
    it. Sums of thousands of single-precision numbers are good to a hundredth; seats differ by a tenth."""
    config = kepler_envs.load_game(game).configure()
    players, num_actions = config.num_players, len(config.actions)
    relative = by_distance(players)
    expect(monkeypatch, relative)
    searcher = make_searcher(config, MctsConfig(iterations=4 * num_actions, network="net:any"))
    movers = set()
    for position in positions(config, 6, 5)[:8]:
        (grown,) = searcher.grow(position.states, tree_generators(9, 1))
        own = grown.nodes["value"][:, :players].astype(np.float64)
        np.subtract.at(own, grown.nodes["parent"][1:], grown.nodes["value"][1:, :players])
        np.testing.assert_allclose(own[ROOT], np.roll(relative, position.seat), atol=0.01)
        for child in np.flatnonzero((grown.nodes["parent"] == ROOT) & (grown.nodes["visits"] > 0)):
            deals = [position.resample(position.seat, deal) for deal in range(20)]
            after = [deal.apply(int(grown.nodes["action"][child])) for deal in deals]
            if len({(one.seat, one.over) for one in after}) == 1 and not after[0].over:
                np.testing.assert_allclose(own[child], np.roll(relative, after[0].seat), atol=0.01)
                movers.add((after[0].seat - position.seat) % players)
    assert len(movers) > 1


@pytest.mark.parametrize("game", GAMES)
def test_playouts_make_up_their_share_of_a_leaf(game, monkeypatch):
    """Returns are averages of 1 - 2 (k - 1) / (n - 1), so what a playout adds to a node is a multiple of 1 / (n - 1)
    that adds up to 0; it is not the same in all of them."""
    config = kepler_envs.load_game(game).configure()
    players, share = config.num_players, 0.25
    relative = by_distance(players)
    expect(monkeypatch, relative)
    asked = MctsConfig(iterations=60, network="net:any", mix=share)
    (position,) = positions(config, 6, 5)[2:3]
    (grown,) = make_searcher(config, asked).grow(position.states, tree_generators(9, 1))
    root = grown.nodes["value"][ROOT, :players].astype(np.float64)
    children = grown.nodes["parent"] == ROOT
    first = root - grown.nodes["value"][children, :players].sum(0, dtype=np.float64)
    steps = (players - 1) * (first - (1 - share) * np.roll(relative, position.seat)) / share
    np.testing.assert_allclose(steps, steps.round(), atol=1e-3)
    assert abs(steps.sum()) < 1e-3 and np.abs(steps).max() == pytest.approx(players - 1, abs=1e-3)


@pytest.mark.parametrize("game", GAMES)
def test_with_playouts_alone_values_of_a_network_count_for_nothing(game, monkeypatch):
    config = kepler_envs.load_game(game).configure()
    (position,) = positions(config, 6, 5)[2:3]

    def values(mix: float, expected: np.ndarray) -> np.ndarray:
        expect(monkeypatch, expected)
        searcher = make_searcher(config, MctsConfig(iterations=60, network="net:any", mix=mix))
        return searcher.grow(position.states, tree_generators(9, 1))[0].nodes["value"]

    one, other = by_distance(config.num_players), -by_distance(config.num_players)
    np.testing.assert_array_equal(values(1.0, one), values(1.0, other))
    assert not np.array_equal(values(0.5, one), values(0.5, other))


@pytest.mark.parametrize("game", GAMES)
def test_a_network_over_greedy_is_told_what_greedy_would_do(game, untrained, monkeypatch):
    """In every deal the search looks at: its last entry is the choice of greedy there, which has the largest prior at
    first."""
    config, told = kepler_envs.load_game(game).configure(), []
    asked = MctsConfig(iterations=30, network=untrained(config, "greedy"))
    searcher = make_searcher(config, asked)
    network = searcher._network

    def watched(observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        priors, values = network(observations, masks)
        told.append((observations[0, -1], masks[0].copy(), priors[0]))
        return priors, values

    monkeypatch.setattr(searcher, "_network", watched)
    watched.over = "greedy"
    greedy = CompiledBot(greedy_policy(config.game), config)
    for position in positions(config, 6, 9)[:4]:
        told.clear()
        (grown,) = searcher.grow(position.states, tree_generators(9, 1))
        batch, rows = Batch(config, 1, 0), np.arange(1)
        batch.restore(0, position)
        chosen = set()
        for seed in range(40):  # greedy draws a few of its choices
            greedy.start(rows, np.array([seed], np.uint64))
            chosen.add(int(greedy.act(TrustedDecisions(batch, rows))[0]))
        choice, mask, _ = told[0]
        assert choice in chosen and (mask == batch.action_mask[0]).all()
        assert all(mask[choice] and priors.argmax() == choice for choice, mask, priors in told if mask.any())
        assert grown.iterations == 31


def test_a_network_over_greedy_does_not_go_with_other_playouts(untrained):
    config = kepler_envs.load_game("kitten_adventurers").configure()
    with pytest.raises(BotError, match="playout = uniform is not allowed; the network is over greedy"):
        make_searcher(config, MctsConfig(iterations=9, network=untrained(config, "greedy"), playout="uniform"))


HIDING = (
    {},
    {"paired": 1},
    {"network": "untrained"},
    {"network": "untrained", "opponents": "policy"},
    {"network": "over greedy"},
)


@pytest.mark.parametrize("variant", HIDING, ids=lambda variant: "-".join(map(str, variant)) or "default")
@pytest.mark.parametrize("game", GAMES)
def test_a_search_depends_on_nothing_the_seat_cannot_know(game, variant, untrained):
    """Positions that differ only in hidden things: the same tree, node by node."""
    config = kepler_envs.load_game(game).configure()
    asked = asked_for(config, untrained, 60, variant)
    for number, position in enumerate(positions(config, 2, 23)):
        trees = [
            search(position.resample(position.seat, 1000 * number + other), asked, seed=number).tree.tobytes()
            for other in range(3)
        ]
        assert len({search(position, asked, seed=number).tree.tobytes(), *trees}) == 1


@pytest.mark.parametrize(
    "variant",
    [{}, {"paired": 1}, {"network": "untrained"}, {"network": "over greedy"}],
    ids=["default", "paired", "network", "over greedy"],
)
@pytest.mark.parametrize("game", GAMES)
def test_a_move_is_a_function_of_seed_and_position(game, variant, untrained):
    """Whatever else is searched beside it, and on how many threads."""
    config = kepler_envs.load_game(game).configure()
    asked = asked_for(config, untrained, 50, {"trees": 2, **variant})
    chosen = positions(config, 3, 17)[:5]
    batch, rows = Batch(config, len(chosen), 0), np.arange(len(chosen))
    for row, position in enumerate(chosen):
        batch.restore(row, position)

    def moves(agent: MctsBot, asked_rows: np.ndarray) -> list[int]:
        agent.start(asked_rows, asked_rows.astype(np.uint64) + np.uint64(7))
        return agent.act(TrustedDecisions(batch, asked_rows)).tolist()

    alone = [moves(MctsBot(asked, config), rows[row : row + 1])[0] for row in rows]
    together = MctsBot(asked, config)
    first = moves(together, rows)
    assert first == alone == moves(MctsBot(replace(asked, threads=3), config), rows)
    assert first == moves(together, rows)  # started anew
    longer = replace(asked, iterations=400, trees=1)
    searched = [search(p, longer, seed=1).visits.tolist() for p in chosen[:2]]
    assert searched == [search(p, longer, seed=1).visits.tolist() for p in chosen[:2]]
    assert searched != [search(p, longer, seed=2).visits.tolist() for p in chosen[:2]]


@pytest.mark.parametrize(
    "variant", [{"trust": 0.0}, {"selection": "ucb"}, {"network": "untrained"}], ids=["puct", "ucb", "network"]
)
@pytest.mark.parametrize("game", [game for game in GAMES if game != "kepler_3042"])  # no last decision wins alone
def test_a_sure_win_is_taken(game, variant, untrained):
    """Last decisions of games of which one choice wins at once and another does not."""
    config = kepler_envs.load_game(game).configure(kepler_envs.load_game(game).min_players)
    found = 0
    for seed in range(games_to_play(40)):
        *_, (position, _), _ = play(config, seed)
        legal = position.legal_actions()
        deals = [position.resample(position.seat, deal) for deal in range(12)]  # what the others hide may decide, too
        ends = {action: [deal.apply(action) for deal in deals] for action in legal}
        best = {a for a in legal if all(end.over and end.results()[2][position.seat] == 1.0 for end in ends[a])}
        if not best or len(best) == len(legal):
            continue
        found += 1
        result = search(position, asked_for(config, untrained, 40 * len(legal), variant), seed=seed)
        assert result.action in best or result.values[result.action] > 0.99
        assert all(result.values[action] == 1.0 for action in best if result.visits[action])
    assert found


@pytest.mark.parametrize("game", GAMES)
def test_it_beats_uniform_play(game):
    config = kepler_envs.load_game(game).configure()
    result = evaluate(bots.load("mcts:60,threads=2", config), bots.load("uniform", config), config, 24)
    assert result.wins.low > 1 / config.num_players


def test_a_budget_of_time_is_a_budget():
    config = kepler_envs.load_game("kitten_adventurers").configure()
    position = Snapshot.deal(config, 1)
    short, long = (search(position, MctsConfig(milliseconds=ms), seed=1) for ms in (1, 200))
    assert 16 <= short.iterations < long.iterations
    assert long.iterations > 1100  # more than the arrays had room for at first
    assert long.visits.sum() == long.iterations


@pytest.mark.parametrize("trees", [1, 3])
def test_however_short_the_time_a_network_s_search_decides_for_a_legal_action(trees, untrained):
    """The first iteration only opens the root, so each tree needs another one."""
    config = kepler_envs.load_game("kitten_adventurers").configure()
    asked = MctsConfig(milliseconds=1e-6, trees=trees, network=untrained(config))
    chosen = [position for position in positions(config, 6, 5) if 0 not in position.legal_actions()]
    assert len(chosen) > 3
    for position in chosen:
        result = search(position, asked, seed=2)
        assert result.action in position.legal_actions() and result.iterations == trees


@pytest.mark.parametrize("variant", [{}, {"trees": 3, "paired": 1}], ids=["usual", "paired"])
def test_calls_of_compiled_code_change_nothing(variant, monkeypatch):
    """A budget is spent in many short calls. One long call would find the same."""
    position = Snapshot.deal(kepler_envs.load_game("kitten_adventurers").configure(), 1)
    asked = MctsConfig(iterations=1000, **variant)
    usual = search(position, asked, seed=3)
    monkeypatch.setattr("kepler_envs.bots.search.searcher.ITERATIONS_OF_A_CALL", 10**6)
    at_once = search(position, asked, seed=3)
    assert usual.tree.tobytes() == at_once.tree.tobytes() and np.array_equal(usual.visits, at_once.visits)
    assert usual.iterations == at_once.iterations >= 1000 and usual.simulated == at_once.simulated


@pytest.mark.skipif(not JIT_ENABLED, reason="Ctrl-C waits for nothing")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("variant", [{}, {"network": "untrained"}], ids=["playouts", "network"])
def test_ctrl_c_ends_a_long_search(variant, threads, untrained):
    """On all threads."""
    config = kepler_envs.load_game("kitten_adventurers").configure()
    position = Snapshot.deal(config, 1)
    searcher = make_searcher(config, replace(asked_for(config, untrained, 1_000_000, variant), threads=threads))
    states = np.repeat(position.states, 2 * threads)
    passed = seconds_until_ctrl_c_counts(lambda: searcher.grow(states, tree_generators(1, len(states))))
    assert passed < 3  # of 15 and more


class ClockOfEachThread:
    """For each thread one that goes on by a millisecond whenever the thread looks."""

    def __init__(self) -> None:
        self.looks: Counter[int] = Counter()

    def perf_counter(self) -> float:
        self.looks[threading.get_ident()] += 1
        return self.looks[threading.get_ident()] / 1000


@pytest.mark.parametrize("variant", [{}, {"network": "untrained"}], ids=["playouts", "network"])
@pytest.mark.parametrize(
    ("trees", "threads", "of_all_threads"),
    [(1, 1, 80), (8, 1, 80), (8, 2, 160), (3, 2, 120), (1, 2, 80)],  # 3 trees on 2 threads: one thread has 2
)
def test_trees_share_a_budget_of_time_on_every_thread(trees, threads, of_all_threads, variant, untrained, monkeypatch):
    config, clock = kepler_envs.load_game("kitten_adventurers").configure(), ClockOfEachThread()
    monkeypatch.setattr("kepler_envs.bots.search.searcher.time", clock)
    asked = replace(asked_for(config, untrained, 1, variant), iterations=0, milliseconds=80)
    search(Snapshot.deal(config, 1), replace(asked, trees=trees, threads=threads), seed=1)
    assert clock.looks.total() == pytest.approx(of_all_threads, abs=4 * trees)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("mcts", "lacks its argument"),
        ("mcts:0", "budget = 0 iterations, 0 ms is not allowed"),
        ("mcts:many", "iterations = 'many' is not of type int"),
        ("mcts:10s", "iterations = '10s' is not of type int; a budget reads 1000 (iterations) or 50ms"),
        ("mcts:xms", "milliseconds = 'x' is not of type float; a budget reads 1000 (iterations) or 50ms"),
        ("mcts:10,trust=x", "trust = 'x' is not of type float"),
        ("mcts:2000000", "iterations = 2000000 is not allowed; allowed: 1 to 1000000"),
        ("mcts:10,c=1", "there is no 'c'; there are iterations, milliseconds, playout"),
        ("mcts:10,trust", "'trust' must read name=value"),
        ("mcts:10,trust=2", "trust = 2.0 is not allowed; allowed: 0 to 1"),
        ("mcts:10,playout=ppo", "playout = ppo is not allowed; allowed: greedy, uniform"),
        ("mcts:10,selection=best", "selection = best is not allowed; allowed: ucb, puct"),
        ("mcts:10,opponents=greedy", "opponents = greedy is not allowed; allowed: tree, policy"),
        ("mcts:10,paired=2", "paired = 2 is not allowed; allowed: 0, 1"),
        ("mcts:10,network=net:a.zip,selection=ucb", "selection = ucb is not allowed; allowed: puct with a network"),
        ("mcts:10,selection=ucb,trust=0.9", "trust = 0.9 is not allowed; allowed: 0 with selection=ucb"),
        ("mcts:10,selection=ucb,caution=0.5", "caution = 0.5 is not allowed; allowed: 0 with selection=ucb"),
        ("mcts:10,network=net:a.zip,paired=1", "paired = 1 is not allowed; allowed: 0 with a network"),
        ("mcts:10,network=net:a.zip,depth=9", "depth = 9 is not allowed; allowed: 1000000 with a network and mix = 0"),
        ("mcts:10,network=net:a.zip,mix=2", "mix = 2.0 is not allowed; allowed: 0 to 1"),
        ("mcts:10,mix=0.5", "mix = 0.5 is not allowed; allowed: 0 without a network"),
        ("mcts:10,network=net:a.zip", "there is no checkpoint a.zip"),
        ("mcts:10,network=greedy", "network = 'greedy' is not a trained bot; write net:PATH"),
        ("mcts:-1", "iterations = -1 is not allowed; allowed: 1 to 1000000"),
        ("mcts:5ms,iterations=-1", "iterations = -1 is not allowed; allowed: 1 to 1000000"),
        ("mcts:5,milliseconds=-1", "milliseconds = -1.0 is not allowed; allowed: above 0, up to 3600000"),
        ("mcts:10,milliseconds=5", "budget = 10 iterations, 5 ms is not allowed"),
        ("mcts:10,exploration=-1", "exploration = -1.0 is not allowed; allowed: 0 to 1000000"),
        ("mcts:10,exploration=1e308", "exploration = 1e+308 is not allowed; allowed: 0 to 1000000"),
        ("mcts:10,network=", "network = '' is not a trained bot; write net:PATH or a published name"),
        ("mcts:10,exploration=inf", "exploration = inf is not allowed"),
        ("mcts:10,exploration=nan", "exploration = nan is not a number"),
        ("mcts:10,trust=-1", "trust = -1.0 is not allowed; allowed: 0 to 1"),
        ("mcts:infms", "milliseconds = inf is not allowed; allowed: above 0, up to 3600000"),
        ("mcts:10,depth=99999999999999999999", "depth = 99999999999999999999 is not allowed; allowed: 0 to 1000000"),
        ("mcts:10,exploration=1,exploration=2", "exploration is given twice, 1.0 and 2"),
        ("mcts:10,iterations=500", "iterations is given twice, 10 and 500"),
        ("mcts:10,trees=65", "trees = 65 is not allowed; allowed: 1 to 64"),
        ("mcts:10,threads=65", "threads = 65 is not allowed; allowed: 1 to 64"),
    ],
)
def test_what_is_not_allowed_is_said(spec, words):
    with pytest.raises(BotError) as caught:
        bots.load(spec, kepler_envs.load_game("kitten_adventurers").configure())
    assert words in str(caught.value)


def test_the_largest_numbers_named_are_allowed():
    asked = MctsConfig(1_000_000, exploration=1e6, trust=1.0, noise=1.0, depth=1_000_000, trees=64, threads=64)
    assert (asked.iterations, asked.trees, asked.threads) == (1_000_000, 64, 64)


@pytest.mark.parametrize("given", [{"milliseconds": "50"}, {"iterations": 10, "exploration": "1"}])
def test_settings_of_another_type_are_refused(given):
    with pytest.raises(BotError, match="is not of type float"):
        MctsConfig(**given)


def test_returns_are_added_up_in_double_precision():
    """In single precision, what is added to a large sum is rounded: after a million returns of -1/3 the mean was off by
    a thousandth."""
    position = kepler_envs.Snapshot.deal(kepler_envs.load_game("kitten_adventurers").configure(2), 1)
    assert search(position, MctsConfig(iterations=2), seed=1).tree["value"].dtype == np.float64


def test_a_row_that_was_not_started_is_refused():
    config = kepler_envs.load_game("kitten_adventurers").configure()
    agent, batch = bots.load("mcts:5", config), Batch(config, 2, 0)
    agent.start(np.array([0]), np.array([1], np.uint64))
    with pytest.raises(BotError, match="row 1"):
        agent.act(TrustedDecisions(batch, np.arange(2)))
    assert agent.act(TrustedDecisions(batch, np.arange(0))).tolist() == []


def test_a_finished_game_is_refused():
    *_, (position, _) = play(kepler_envs.load_game("kitten_adventurers").configure(2), 1)
    with pytest.raises(ValueError, match="over"):
        search(position, MctsConfig(iterations=5))


@pytest.mark.parametrize("argument", [100, None])
def test_a_search_is_read_from_text(argument):
    with pytest.raises(TypeError, match=f"^argument must be text, not {argument}; a budget reads 1000 "):
        MctsConfig.parse(argument)


def test_environments_are_no_positions():
    env = kepler_envs.make("kitten_adventurers")
    env.reset(seed=1)
    with pytest.raises(TypeError, match=r"snapshot must be a Snapshot, not <KeplerEnv .*; env\.snapshot\(\) gives one"):
        search(env, MctsConfig(iterations=5))
    with pytest.raises(TypeError, match=r"asked must be an MctsConfig, not 5; MctsConfig\.parse\("):
        search(env.snapshot(), 5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"iterations": "5"}, "iterations = '5' is not of type int"),
        ({"iterations": 1.5}, "iterations = 1.5 is not of type int"),
        ({"iterations": 5, "network": 3}, "network = 3 is not of type str"),
    ],
)
def test_settings_of_another_type(settings, message):
    with pytest.raises(BotError, match=message):
        MctsConfig(**settings)


SEARCH_ONE = """
import json, kepler_envs
from kepler_envs.bots.search import MctsConfig, search
position = kepler_envs.Snapshot.deal(kepler_envs.load_game("kitten_adventurers").configure(2), 4)
variants = ({"selection": "puct"}, {"selection": "ucb"}, {"paired": 1, "opponents": "policy"})
results = [search(position, MctsConfig(iterations=25, **variant), seed=3) for variant in variants]
print(json.dumps([[result.tree.tobytes().hex(), result.action] for result in results]))
"""


@slow
def test_uncompiled_equals_compiled():
    def found(disable: str) -> list:
        ran = subprocess.run(
            [sys.executable, "-c", SEARCH_ONE],
            env={**os.environ, "NUMBA_DISABLE_JIT": disable},
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    assert found("1") == found("0")
