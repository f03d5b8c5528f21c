"""Exact distance from equilibrium: NashConv, computed by OpenSpiel, in two games reduced to a few thousand states.

Counterfactual regret minimisation (CFR) shows that it goes to 0. Uniform play, greedy, search and a network trained by
PPO are compared with it, each as its policy in every information state. The reduced games have two players, component
files of their own (``reduced/``) and a few deals, which everybody may know: PPO trains on these deals, while a search
draws what is hidden from all deals of the cards.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import torch as th
from open_spiel.python import policy as policies
from open_spiel.python.algorithms import cfr, exploitability

import kepler_envs.adapters.openspiel  # registers the games
from agents.benchmark.records import ExactLine
from kepler_envs import bots
from kepler_envs.adapters.sb3 import PiecePolicy, SharedMaskablePPO, SharedSeatVecEnv, piece_policy
from kepler_envs.bots.protocol import TrustedDecisions
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.seeds import stream_seed
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.revision import commit

FOLDER = Path(__file__).with_name("reduced")
SHOWN_ITERATIONS = (1, 2, 5, 10, 20, 50, 100, 200, 500)
"""Iterations of CFR that are recorded, as far as it runs, beside its last one."""
DRAWS = 32
"""Choices of a bot per information state. Their frequencies are its policy."""
CFR, PPO = "cfr", "ppo"

NUM_ENVS, N_STEPS = 64, 32


@dataclass(frozen=True)
class Reduced:
    """A game made small by the component file ``reduced/<name>.toml``."""

    name: str
    deals: int
    options: str = ""

    @cached_property
    def spiel(self) -> pyspiel.Game:
        """The game in OpenSpiel."""
        file = str(FOLDER / f"{self.name}.toml")
        parameters = {"players": 2, "deals": self.deals, "options": self.options, "components": file}
        return pyspiel.load_game(f"kepler_{self.name}", parameters)

    @cached_property
    def config(self) -> Configuration:
        """The game in this library."""
        return self.spiel.new_initial_state().moment.setting.config

    @cached_property
    def positions(self) -> Mapping[str, Snapshot]:
        """A position for every information state, by OpenSpiel's name for it. What its seat sees is the same in all of
        them."""
        return self._walk[0]

    @property
    def states(self) -> int:
        """Number of states in the whole tree, chance and ends included."""
        return self._walk[1]

    @cached_property
    def _walk(self) -> tuple[dict[str, Snapshot], int]:
        found: dict[str, Snapshot] = {}
        waiting, count = [self.spiel.new_initial_state()], 0
        while waiting:
            state = waiting.pop()
            count += 1
            if not (state.is_chance_node() or state.is_terminal()):
                found.setdefault(state.information_state_string(), state.moment.position)
            waiting += [state.child(action) for action in state.legal_actions()]
        return found, count


REDUCED = (
    Reduced("kitten_adventurers", 30, "max_turns:6;first_player:seat0"),
    Reduced("race_to_kepler", 30),
)


# ---------------------------------------------------------------- policies


class TablePolicy(policies.Policy):
    """A policy by information state: probabilities (A,) of the ids."""

    def __init__(self, game: pyspiel.Game, table: Mapping[str, np.ndarray]) -> None:
        super().__init__(game, list(range(game.num_players())))
        self._table = table

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        """Probabilities by legal id."""
        player = state.current_player() if player_id is None else player_id
        row = self._table[state.information_state_string(player)]
        return {action: float(row[action]) for action in state.legal_actions(player)}


def nash_conv(game: Reduced, table: Mapping[str, np.ndarray]) -> float:
    """What both seats together gain if each plays a best response against this policy."""
    return float(exploitability.nash_conv(game.spiel, TablePolicy(game.spiel, table)))


def table_of(game: Reduced, probabilities: np.ndarray) -> dict[str, np.ndarray]:
    """A table of probabilities (states, A) in the order of ``game.positions``; each row is made to sum to 1."""
    exact = probabilities.astype(np.float64)
    return dict(zip(game.positions, exact / exact.sum(1, keepdims=True), strict=True))


def batch_of(game: Reduced) -> Batch:
    """A batch with every information state as a row."""
    batch = Batch(game.config, len(game.positions), 0)
    for row, position in enumerate(game.positions.values()):
        batch.restore(row, position)
    return batch


def bot_table(
    game: Reduced, spec: str, draws: int = DRAWS, stop: threading.Event | None = None
) -> dict[str, np.ndarray] | None:
    """How often a bot chooses each action in each information state, in ``draws`` choices from different seeds. None if
    it was stopped before the last one."""
    batch, bot = batch_of(game), bots.load(spec, game.config)
    rows = np.arange(batch.num_envs)
    chosen = np.zeros(batch.action_mask.shape)
    for draw in range(draws):
        if stop is not None and stop.is_set():
            return None
        bot.start(rows, np.array([stream_seed(draw, int(row)) for row in rows], np.uint64))
        chosen[rows, bot.act(TrustedDecisions(batch, rows))] += 1
    return table_of(game, chosen)


def uniform_table(game: Reduced) -> dict[str, np.ndarray]:
    """A table with every legal id equally likely."""
    return table_of(game, batch_of(game).action_mask)


def network_table(game: Reduced, network: PiecePolicy) -> dict[str, np.ndarray]:
    """The probabilities that a network draws from."""
    batch = batch_of(game)
    with th.no_grad():
        log_probs, _ = network.log_probs_and_values(th.as_tensor(batch.observation), batch.action_mask.astype(np.bool_))
    return table_of(game, log_probs.exp().numpy())


# ---------------------------------------------------------------- learning


class DealtVecEnv(SharedSeatVecEnv):
    """Games that begin with one of a few deals, each equally likely."""

    def __init__(self, batch: Batch, deals: list[Snapshot], seed: int) -> None:
        super().__init__(batch)
        self._deals = deals
        self._random = np.random.default_rng(seed)

    def reset(self) -> np.ndarray:
        """Deal new games."""
        super().reset()
        self._deal_known(self._rows)
        return self._observe()

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        _, rewards, dones, infos = super().step_wait()
        self._deal_known(np.flatnonzero(dones))
        return self._observe(), rewards, dones, infos

    def _deal_known(self, rows: np.ndarray) -> None:
        for row, deal in zip(rows, self._random.integers(len(self._deals), size=len(rows)), strict=True):
            self.batch.restore(int(row), self._deals[deal])


def train_network(game: Reduced, decisions: int, seed: int, stop: threading.Event | None = None) -> PiecePolicy | None:
    """Train by self-play with MaskablePPO on the deals of the game. None if it was stopped.

    The settings are those of ``agents.train``, but networks and batches are smaller and the entropy bonus is twice as
    large.
    """
    setting = game.spiel.new_initial_state().moment.setting
    deals = [setting.deal(number) for number in range(game.deals)]
    env = DealtVecEnv(Batch(game.config, NUM_ENVS, seed), deals, seed)
    model = SharedMaskablePPO(
        PiecePolicy, env, n_steps=N_STEPS, batch_size=512, n_epochs=3, learning_rate=lambda left: 1e-4 + 9e-4 * left,
        gamma=1.0,
        ent_coef=0.01, policy_kwargs=piece_policy(game.config, 64, (64,), 16), seed=seed, device="cpu",
    )  # fmt: skip
    stop = stop or threading.Event()
    model.learn(decisions, lambda *_: not stop.is_set())
    if stop.is_set():
        return None
    assert isinstance(model.policy, PiecePolicy)
    return model.policy


def trained_table(game: Reduced, decisions: int, seed: int, stop: threading.Event) -> dict[str, np.ndarray] | None:
    """The probabilities of a network trained for this. None if it was stopped."""
    network = train_network(game, decisions, seed, stop)
    return None if network is None else network_table(game, network)


# ---------------------------------------------------------------- what is measured


@dataclass(frozen=True)
class Amounts:
    """How much to compute: iterations of CFR, decisions per PPO run, number of runs, draws of bots."""

    iterations: int
    decisions: int
    seeds: int
    bots: tuple[tuple[str, int], ...] = (("greedy", DRAWS), ("mcts:100", DRAWS))


def measure(
    game: Reduced, amounts: Amounts, told: Callable[[ExactLine], None], stop: threading.Event | None = None
) -> bool:
    """Measure everything about a reduced game, and call back with each line as soon as it is known. False if it was
    stopped before the last one."""
    stop = stop or threading.Event()

    def line(policy: str, amount: int, seed: int, value: float, began: float) -> None:
        version = kepler_envs.load_game(game.name).id
        seconds = round(time.perf_counter() - began, 1)
        counts = game.states, len(game.positions)
        told(ExactLine(version, policy, amount, seed, round(value, 4), *counts, seconds, commit(7) or "unknown"))

    for policy, amount, seed, make in _tables(game, amounts, stop):
        began = time.perf_counter()
        table = None if stop.is_set() else make()
        if table is None:
            return False
        line(policy, amount, seed, nash_conv(game, table), began)
    return _solve(game, amounts.iterations, partial(line, CFR), stop)


def _tables(
    game: Reduced, amounts: Amounts, stop: threading.Event
) -> Iterator[tuple[str, int, int, Callable[[], dict[str, np.ndarray] | None]]]:
    """The lines that come from a table: policy, amount, seed, and what makes the table."""
    yield "uniform", 0, 0, partial(uniform_table, game)
    for spec, draws in amounts.bots:
        yield spec, draws, 0, partial(bot_table, game, spec, draws, stop)
    for seed in range(amounts.seeds):
        yield PPO, amounts.decisions, seed, partial(trained_table, game, amounts.decisions, seed, stop)


def _solve(
    game: Reduced, iterations: int, line: Callable[[int, int, float, float], None], stop: threading.Event
) -> bool:
    """Run CFR and call back with its lines. False if it was stopped before the last iteration."""
    began = time.perf_counter()
    solver = cfr.CFRSolver(game.spiel)
    for iteration in range(1, iterations + 1):
        if stop.is_set():
            return False
        solver.evaluate_and_update_policy()
        if iteration in SHOWN_ITERATIONS or iteration == iterations:
            line(iteration, 0, exploitability.nash_conv(game.spiel, solver.average_policy()), began)
    return True
