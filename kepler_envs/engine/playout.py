"""Policies inside compiled code: choosing for a batch, and playing games to the end.

A *policy* is a ``@helper`` function ``policy(s, t, mask, count, generator) -> id``: state record, tables record, the
legal set (uint64 words) and its size, and a generator record for its own randomness. It may read of the state
only what the seat ``s.seat`` knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kepler_envs.engine.checks import check_integer, check_type
from kepler_envs.engine.code_cache import Scope
from kepler_envs.engine.game import RUNNING, Game, record_array
from kepler_envs.engine.kernel import INT, array_of, borrowed, helper, kernel
from kepler_envs.engine.rng import GENERATOR, fork, start
from kepler_envs.engine.seeds import check_seed, mix
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.engine.transition import core, record_types

PLAYOUTS_OF_A_CALL = 256
"""Playouts in one call of compiled code. Ctrl-C waits for its end."""


@dataclass(frozen=True)
class CompiledPolicy:
    """A compiled policy for one game, and what its code is kept under.

    Attributes:
        game: the game it plays.
        name: a name that is unique among the policies of the scope.
        function: the compiled function.
        scope: the names and sources the code is made from: the game's own scope, or one that adds the policy's folder.
    """

    game: Game
    name: str
    function: Any
    scope: Scope


@cache
def uniform_policy(game: Game) -> CompiledPolicy:
    """Choose every legal id with the same probability."""
    pick = core(game).pick

    @helper
    def uniform(s, t, mask, count, generator):
        return pick(mask, count, generator)

    return CompiledPolicy(game, "uniform", uniform, game.scope)


@cache
def choose_kernel(policy: CompiledPolicy) -> Any:
    """(states, tables, rows, generators (N,), asked int64 (M,), actions int64 (M,)).

    It writes the policy's choice for each of the rows ``asked``. ``rows`` are a batch's records, which hold the legal
    sets and their sizes.
    """
    game, choose_one = policy.game, policy.function
    kinds = record_types(game)
    signature = (
        kinds.states, kinds.tables, kinds.rows, array_of(GENERATOR), array_of(np.int64, readonly=True),
        array_of(np.int64),
    )  # fmt: skip

    @kernel(policy.scope, f"choose_{policy.name}", signature)
    def choose(states, tables, rows, generators, asked, actions):
        for i in range(asked.size):
            g = asked[i]
            row = rows[g]
            actions[i] = choose_one(states[g], tables[0], row.legal_bits[:], int(row.legal_count), generators[g])

    return choose


@cache
def playout_kernel(policy: CompiledPolicy) -> Any:
    """(origin states[1], tables, scratch states[1], legal uint64[W], generators[1], limit, ranks int32[P], returns (K,
    P), lengths int32 (K,))."""
    game, choose_one = policy.game, policy.function
    kinds, helpers, verbs = record_types(game), core(game), game.verbs
    decide, find_legal = helpers.decide, helpers.find_legal
    find_ranks, find_returns = verbs.ranks, verbs.returns
    signature = (
        kinds.states, kinds.tables, kinds.states, array_of(np.uint64), array_of(GENERATOR), INT, array_of(np.int32),
        array_of(np.float32, 2), array_of(np.int32),
    )  # fmt: skip

    @kernel(policy.scope, f"playouts_{policy.name}", signature)
    def playouts(origin, tables, scratch, legal, generators, limit, ranks, returns, lengths):
        t, generator, legal = tables[0], generators[0], borrowed(legal)
        for k in range(lengths.size):
            scratch[0] = origin[0]
            s = scratch[0]
            start(s, fork(generator))  # chance differs from playout to playout and from the real game's
            count = find_legal(s, t, legal)
            decisions = 0
            while s.end == RUNNING and decisions < limit:
                count = decide(s, t, choose_one(s, t, legal, count, generator), legal)
                decisions += 1
            lengths[k] = decisions
            if s.end != RUNNING:
                find_ranks(s, t, ranks)
                find_returns(s, t, ranks, returns[k])

    return playouts


@dataclass(frozen=True)
class Playouts:
    """The results of playouts.

    Attributes:
        returns: float32 (K, P), 0 where the limit cut a game off.
        lengths: int32 (K,), in decisions.
    """

    returns: np.ndarray
    lengths: np.ndarray


def playouts(
    snapshot: Snapshot, count: int, seed: int, policy: CompiledPolicy | None = None, limit: int = 2**31 - 1
) -> Playouts:
    """Play ``count`` games to their end from one position, in compiled code.

    The hidden cards are those of the snapshot. Resample it first to get what a seat may assume.

    Args:
        snapshot: the position where each game starts.
        count: the number of games.
        seed: determines the policy's choices and the chance from here on. The same seed gives the same games.
        policy: plays all seats. None plays uniformly at random.
        limit: the number of decisions after which a game is cut off.

    Raises:
        ValueError: a number is not allowed, or the policy is for another game.
        TypeError: it is no snapshot, or no policy.
    """
    check_type("snapshot", snapshot, Snapshot, "env.snapshot() gives one")
    if policy is not None:
        check_type("policy", policy, CompiledPolicy, "kepler_envs.bots.greedy.greedy_policy(game) gives one")
    count, limit = check_integer("count", count, 1), check_integer("limit", limit, 0, 2**31 - 1)
    game, config = snapshot.game, snapshot.config
    policy = policy or uniform_policy(game)
    if policy.game is not game:
        raise ValueError(f"policy {policy.name} plays {policy.game.id}, the snapshot is of {game.id}")
    generators = record_array(np.zeros(1, GENERATOR))
    generators["rng"] = mix(check_seed(seed))
    result = Playouts(np.zeros((count, config.num_players), np.float32), np.zeros(count, np.int32))
    play, scratch = playout_kernel(policy), game.new_states(1)
    legal, ranks = np.zeros(game.mask_words, np.uint64), np.zeros(config.num_players, np.int32)
    for first in range(0, count, PLAYOUTS_OF_A_CALL):
        part = slice(first, first + PLAYOUTS_OF_A_CALL)
        play(
            snapshot.states, config.tables, scratch, legal, generators, limit, ranks, result.returns[part],
            result.lengths[part],
        )  # fmt: skip
    return result
