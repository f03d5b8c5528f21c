"""Tree search: iterations per second, and where the time goes."""

from __future__ import annotations

import statistics
import time
from functools import partial

import kepler_envs
from benchmarks.sampling import Row, Settings, rates, ratio
from kepler_envs.bots.networks import load_network
from kepler_envs.bots.published import network_file
from kepler_envs.bots.search import MctsConfig, make_searcher, playout_policy, tree_generators
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.playout import playouts
from kepler_envs.engine.snapshot import Snapshot


def search_table(settings: Settings) -> list[Row]:
    """tree search against bare playouts"""
    asked, rows = MctsConfig(iterations=200), []
    for name in kepler_envs.list_games():
        game = kepler_envs.load_game(name)
        position, policy = Snapshot.deal(game.configure(), 1), playout_policy(game, asked.playout)
        searcher = make_searcher(position.config, asked)
        generators = tree_generators(1, 1)

        def search(rounds: int, searcher=searcher, generators=generators, position=position) -> int:
            return sum(searcher.grow(position.states, generators)[0].simulated for _ in range(rounds))

        def bare(rounds: int, position=position, policy=policy) -> int:
            return int(playouts(position, 200 * rounds, 1, policy).lengths.sum())

        samples = rates({"search": search, "playouts": bare}, settings, time.thread_time)
        decisions = search(10) / 2000  # of an iteration
        rows.append(
            Row(
                f"{name}, tree search, {policy.name} playouts, {game.default_players} players",
                f"{statistics.median(samples['search']) / decisions:,.0f} iterations/s of {decisions:.0f} decisions, "
                f"{ratio(samples, 'search', 'playouts'):.2f} of the speed of bare playouts",
                ratio=ratio(samples, "search", "playouts"),
            )
        )
    return rows


def guided_search_table(settings: Settings) -> list[Row]:
    """tree search guided by networks, 64 positions at a time"""
    from agents.checkpoint import load_policy  # with PyTorch, which the other parts do without
    from kepler_envs.adapters.pytorch import TorchLearner, torch_threads

    trees, asked, rows = 64, MctsConfig(iterations=20, network="bc-v1"), []
    for name in kepler_envs.list_games():
        config = kepler_envs.load_game(name).configure()
        file = network_file(asked.network, config)
        if file is None:
            continue
        batch, generators = Batch(config, trees, 1), tree_generators(1, trees)
        searcher, network = make_searcher(config, asked), load_network(file, config)

        def search(rounds: int, searcher=searcher, batch=batch, generators=generators) -> int:
            for _ in range(rounds):
                searcher.grow(batch.states, generators)
            return rounds * trees * asked.iterations

        def ask(rounds: int, network=network, batch=batch) -> int:
            for _ in range(rounds * asked.iterations):
                network(batch.observation, batch.action_mask)
            return rounds * trees * asked.iterations

        policy = load_policy(file, config)
        policy.set_training_mode(False)
        pytorch = partial(ask, network=TorchLearner(policy.network).answer)
        with torch_threads(1):
            samples = rates({"search": search, "network": ask, "pytorch": pytorch}, settings, time.thread_time)
        rows.append(
            Row(
                f"{name}, tree search with bc-v1, {config.num_players} players, {trees} positions at a time",
                f"{statistics.median(samples['search']):,.0f} iterations/s, {ratio(samples, 'search', 'network'):.2f} "
                "of the speed of the network alone, which is "
                f"{ratio(samples, 'network', 'pytorch'):.1f} times as fast as in PyTorch",
                ratio=ratio(samples, "search", "network"),
            )
        )
    return rows
