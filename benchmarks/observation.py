"""What observations of v1 cost: against v0, many games against few, and beside OpenSpiel."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import kepler_envs
from benchmarks.engine_speed import batch_side
from benchmarks.sampling import Row, Settings, millions, rates, ratio
from benchmarks.v0 import ABSENT, ROOT, Side, in_turn, old_checkout

FEW, MANY = 256, 4096
LEAST_AGAINST_V0 = {
    "kepler_3042": 2.0,
    "ad_astra": 2.0,
    "race_to_kepler": 1.3,
    "kitten_adventurers": 0.95,
    "kepler_run": 0.95,
}
LEAST_MANY = 0.8
LEAST_BESIDE_OPENSPIEL = {"kepler_3042": 60}
USUAL_BESIDE_OPENSPIEL = 100

STEP = """
import sys
import kepler_envs
game, players, games = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
batch = kepler_envs.make_batch(game, num_envs=games, num_players=players, seed=1)
def one_round():
    batch.step(batch.uniform())
"""
"""A process that steps games with the code of one version."""


def observation(settings: Settings) -> list[Row]:
    """observations of v1 against v0, and beside OpenSpiel"""
    rows = []
    with old_checkout() as checkout:
        for name, players in configurations():
            rows += against_v0(settings, name, players, checkout)
    for name in kepler_envs.list_games():
        rows.append(many_against_few(settings, name))
    return rows + beside_openspiel(settings)


def configurations() -> Iterator[tuple[str, int]]:
    """Every game with fewest, default and most players, at least two."""
    for name in kepler_envs.list_games():
        game = kepler_envs.load_game(name)
        for players in sorted({max(2, game.min_players), game.default_players, game.max_players}):
            yield name, players


# ---------------------------------------------------------------- against v0


def against_v0(settings: Settings, name: str, players: int, checkout: Path | None) -> list[Row]:
    """Step both versions in turn, each in a process of its own."""
    what, least = f"{name}, {players} players, {FEW} games: batch step against v0", LEAST_AGAINST_V0[name]
    if checkout is None:
        return [Row(what, ABSENT, f">= {least:g}")]
    sides = Side(STEP, (f"{name}-v0", players, FEW), checkout), Side(STEP, (f"{name}-v1", players, FEW), ROOT)
    rounds, pairs = in_turn(sides, settings, 4 * settings.repetitions, warm_up=100)
    times = statistics.median(before / after for before, after in pairs)
    steps = rounds * FEW / 1e6
    before, after = (steps / statistics.median(side) for side in zip(*pairs, strict=True))
    return [
        Row(what, f"{after:.2f} M/s against {before:.2f} M/s = {times:.2f}", f">= {least:g}", times >= least, times)
    ]


# ---------------------------------------------------------------- many games, other libraries


def many_against_few(settings: Settings, name: str) -> Row:
    """Many games against few: do thousands of observations still fit the processor's caches?"""
    players = kepler_envs.load_game(name).default_players
    sides = {"few": batch_side(name, FEW, players), "many": batch_side(name, MANY, players)}
    samples = rates(sides, settings, time.thread_time)
    share = ratio(samples, "many", "few")
    value = f"{millions(samples['many'])} / {millions(samples['few'])} = {share:.2f}"
    what = f"{name}, {players} players: {MANY} games against {FEW}"
    return Row(what, value, f">= {LEAST_MANY:g}", share >= LEAST_MANY, share)


def beside_openspiel(settings: Settings) -> list[Row]:
    """Decisions of each game beside OpenSpiel's gin rummy, both stepped from Python with observations."""
    try:
        import pyspiel
    except ImportError:
        return [Row("decisions beside OpenSpiel's gin_rummy", "OpenSpiel is not installed")]
    rows = []
    for name in kepler_envs.list_games():
        players = kepler_envs.load_game(name).default_players
        sides = {"ours": batch_side(name, FEW, players), "theirs": openspiel_side(pyspiel.load_game("gin_rummy"))}
        samples = rates(sides, settings, time.thread_time)
        times, least = ratio(samples, "ours", "theirs"), LEAST_BESIDE_OPENSPIEL.get(name, USUAL_BESIDE_OPENSPIEL)
        theirs = statistics.median(samples["theirs"]) / 1e3
        value = f"{millions(samples['ours'])} against {theirs:.0f} k/s = {times:.0f} times as many"
        what = f"{name}, {players} players, {FEW} games: decisions beside OpenSpiel's gin_rummy through Python"
        rows.append(Row(what, value, f">= {least}", times >= least, times))
    return rows


def openspiel_side(game: Any) -> Callable[[int], int]:
    """Uniformly random play. The seat to move gets its observation tensor and its legal actions, as in ours."""
    rng = np.random.default_rng(0)

    def side(rounds: int) -> int:
        decisions = 0
        while decisions < 50 * rounds:
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes = state.chance_outcomes()  # all are as likely: gin rummy deals cards one by one
                    state.apply_action(outcomes[rng.integers(len(outcomes))][0])
                    continue
                state.observation_tensor()
                legal = state.legal_actions()
                state.apply_action(legal[rng.integers(len(legal))])
                decisions += 1
        return decisions

    return side
