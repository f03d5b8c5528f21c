"""Games of one configuration side by side, with everything that can be said of any position checked on the way."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path
from random import Random

import numpy as np

import kepler_envs
from kepler_envs import Batch, Configuration, Game, Snapshot
from kepler_envs.bots.greedy import greedy_policy
from kepler_envs.engine.game import record_array
from kepler_envs.engine.playout import choose_kernel
from kepler_envs.engine.rng import GENERATOR
from tests.contract.subjects import hooks_of, play
from tests.soak.configurations import choose_configuration

ROWS = 64
STEPS = 2000
CLOSE_LOOK = 50
"""Steps between two close looks at one row."""
PICTURE = 1000
"""Steps between two pictures."""

UNIFORM, EAGER, GREEDY, ERRING = range(4)
"""How a row plays: any legal id; ids that move the game on; greedy; greedy but for one decision in ten."""


class Finding(AssertionError):
    """Something that must not be; the message says what and where."""


def play_games(game: Game, seed: int, folder: Path) -> Counter[str]:
    """One trial: a batch of games under a configuration drawn from ``seed``; what was tried, by name."""
    random, tried = Random(seed), Counter[str]()
    config = choose_configuration(game, random, folder, tried)
    tried["configurations"] += 1
    batch = Batch(config, ROWS, random.getrandbits(64))
    style = np.array([row % 4 for row in range(ROWS)])
    choose = _Chooser(config, style, random.getrandbits(32))
    first_game: list[int] = []
    first_seed = int(batch.seed[0])
    for step in range(STEPS):
        actions = choose(batch)
        if batch.episodes[0] == 0:
            first_game.append(int(actions[0]))
        batch.step(actions)
        _check_step(batch, tried)
        if step % CLOSE_LOOK == 0:
            _look_closely(batch.snapshot(random.randrange(ROWS)), random, tried)
        if step % PICTURE == 0:
            position = batch.snapshot(random.randrange(ROWS))
            seat = random.choice((None, *range(config.num_players)))
            position.text(seat), position.drawing(seat).svg()
            tried["pictures"] += 1
    if batch.episodes[0]:
        _play_again(config, first_seed, first_game, tried)
    tried["decisions"] += ROWS * STEPS
    tried["games"] += int(batch.episodes.sum())
    _play_with_rules(config, random.getrandbits(32), tried)
    return tried


class _Chooser:
    """Legal ids for all rows of a batch, each row in its style."""

    def __init__(self, config: Configuration, style: np.ndarray, seed: int) -> None:
        self._greedy = choose_kernel(greedy_policy(config.game))
        self._style = style
        self._generators = record_array(np.zeros(len(style), GENERATOR))
        self._generators["rng"] = np.random.default_rng(seed).integers(0, 2**63, len(style))
        self._random = np.random.default_rng(seed + 1)
        self._eager = np.zeros(len(config.actions), bool)
        self._eager[sorted(hooks_of(config.game).eager_ids)] = True

    def __call__(self, batch: Batch) -> np.ndarray:
        actions = batch.uniform()
        chance = self._random.random(batch.num_envs)
        rows = np.flatnonzero((self._style == GREEDY) | ((self._style == ERRING) & (chance > 0.1)))
        chosen = np.empty(len(rows), np.int64)
        self._greedy(batch.states, batch.config.tables, batch.rows, self._generators, rows, chosen)
        actions[rows] = chosen
        for row in np.flatnonzero((self._style == EAGER) & (chance > 0.15)):
            eager = np.flatnonzero(self._eager & (batch.action_mask[row] > 0))
            if eager.size:
                actions[row] = self._random.choice(eager)
        return actions


def _check_step(batch: Batch, tried: Counter[str]) -> None:
    """What holds of the arrays after every step, in every row."""
    config = batch.config
    layout = config.observation
    _all_rows(batch, (batch.observation >= layout.low).all(axis=1), "an entry of the observation is below its bound")
    _all_rows(batch, (batch.observation <= layout.high).all(axis=1), "an entry of the observation is above its bound")
    _all_rows(batch, (batch.action_mask >> 1 == 0).all(axis=1), "the mask is not 0 and 1")
    counted = batch.action_mask.sum(axis=1, dtype=np.int64)
    _all_rows(batch, counted == batch.legal_count, "the mask and the number of legal ids differ")
    least = 2 - np.isin(batch.states["node"], config.game.always_offered)
    _all_rows(batch, counted >= least, "a seat is asked without a choice")
    _all_rows(batch, (batch.seat >= 0) & (batch.seat < config.num_players), "a seat that is not in the game decides")
    _all_rows(batch, np.isfinite(batch.reward).all(axis=1), "a reward is not a number")
    if config.num_players > 1:
        _all_rows(batch, np.abs(batch.reward.sum(axis=1)) < 1e-4, "rewards do not add up to 0")
    ended = np.flatnonzero(batch.terminated | batch.truncated)
    if ended.size:
        returns, ranks = batch.final_return[ended], batch.final_rank[ended]
        _require(bool((np.abs(returns) <= 1 + 1e-6).all()), "a return is outside -1 .. 1")
        _require(bool((ranks.min(axis=1) == 1).all() and ranks.max() <= config.num_players), "ranks are not ranks")
        best = np.where(ranks == 1, returns, 2).min(axis=1)
        _require(bool((best >= returns.max(axis=1) - 1e-6).all()), "somebody is paid more than a winner")
        tried["games cut off"] += int(batch.truncated.sum())


def _all_rows(batch: Batch, holds: np.ndarray, rule: str) -> None:
    if not holds.all():
        row = int(np.flatnonzero(~holds)[0])
        position = batch.snapshot(row)
        raise Finding(
            f"{rule}: game {batch.seed[row]}, decision {int(position.state['decisions'])}, {_describe(batch.config)}"
        )


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise Finding(rule)


def _describe(config: Configuration) -> str:
    return f"{config.game.id} {config.describe()}"


def _can_judge(config: Configuration) -> bool:
    """Whether the game's invariants hold with the configuration's components: some know only files much like its
    own."""
    extremes = import_module(f"tests.games.{config.game.name}.extremes")
    return config.components is None or set(extremes.INVARIANTS_HOLD) == {"largest", "smallest"}


def _look_closely(position: Snapshot, random: Random, tried: Counter[str]) -> None:
    """Invariants, resampling for every seat, texts: of one position."""
    config, hooks, judged = position.config, hooks_of(position.game), _can_judge(position.config)
    if judged:
        hooks.check_invariants(position.state, config)
        tried["positions with invariants"] += 1
    legal = position.legal_actions()
    _require(len({config.actions.text(action) for action in legal}) == len(legal), "two legal ids read the same")
    for seat in range(config.num_players):
        drawn = position.resample(seat, random.getrandbits(64))
        if judged:
            hooks.check_invariants(drawn.state, config)
        _require(np.array_equal(drawn.observe(seat), position.observe(seat)), "resampling changes what the seat sees")
        _require((drawn.node, drawn.seat) == (position.node, position.seat), "resampling changes who is asked what")
        if seat == position.seat:
            _require(drawn.legal_actions() == legal, "resampling changes the legal ids of the seat itself")
        tried["resampled positions"] += 1


def _play_again(config: Configuration, seed: int, actions: list[int], tried: Counter[str]) -> None:
    """A game of the batch, played again by itself, ends as it did there."""
    again = Batch(config, 1, 0)
    again.reset(np.array([seed], np.uint64))
    env = kepler_envs.make(config.game.id, **config.describe())
    env.reset(seed=seed)
    for action in actions:
        again.step(np.array([action]))
        env.step(action)
    _require(
        int(again.episodes[0]) == 1 and bool(again.terminated[0] | again.truncated[0]),
        "a game of the batch ends elsewhere by itself",
    )
    _require(env.snapshot() == again.final_snapshot(0), "the environment's game and the batch's differ")
    tried["games played again"] += 1


def _play_with_rules(config: Configuration, seed: int, tried: Counter[str]) -> None:
    """One game with invariants after every decision, and what the game's tests say of the decision itself."""
    if not _can_judge(config):
        return
    hooks, before = hooks_of(config.game), None
    for position, action in play(config, seed):
        if before is not None:
            hooks.check_decision(before[0].state, before[1], position.state, config)
        hooks.check_invariants(position.state, config)
        tried["positions with invariants"] += 1
        before = position, action
