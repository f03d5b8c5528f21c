"""Tree search guided by a network, for many positions in lock-step: PUCT with its policy as prior and its value at the
leaves.

As in AlphaZero (D. Silver et al., Science 362, 2018), but over information sets: each iteration redraws what the
searching seat cannot know. It has two compiled halves. ``descend`` walks down the tree of each position to a decision
without children and writes what the seat to move there sees. One call of the network then answers for all positions.
``absorb`` grows and updates the trees. A playout can make up a share of a leaf's value, as in AlphaGo (D. Silver et
al., Nature 529, 2016).

The network values a decision for all seats, the one to move first. The returns of several players add up to 0 and lie
in [-1, 1]. The network need not know that: its values are shifted, and shrunk if need be, until they do, too.
"""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import Any

import numpy as np

from kepler_envs.bots.search.kernels.search import add_child, add_returns, chance, meet_children, plant
from kepler_envs.bots.search.kernels.tree import IN_TREE, NODE, NONE, ROOT, SETTINGS
from kepler_envs.engine.bits import allowed, lowest, without_lowest
from kepler_envs.engine.game import RUNNING
from kepler_envs.engine.kernel import INT, array_of, borrowed, helper, kernel
from kepler_envs.engine.playout import CompiledPolicy
from kepler_envs.engine.rng import GENERATOR
from kepler_envs.engine.transition import core, record_types

ZERO = np.uint64(0)
OVER = -1
"""In place of a seat: the iteration reached the end of the game, and there is nothing to ask the network."""


@helper
def _add_children(nodes, used, node, legal, priors):
    """Add a child for each legal id. It is not counted as available before it is met."""
    for word in range(legal.size):
        left = legal[word]
        while left != ZERO:
            action = 64 * word + lowest(left)
            child = add_child(nodes, used, node, action)
            nodes[child].available = 0
            nodes[child].prior = priors[action]
            left = without_lowest(left)


@helper
def _best_by_prior(nodes, node, legal, tried, count, visits, seat, settings):
    """The legal child with the largest PUCT value, or NONE if a decision that is not yet a child beats all of them.

    The prior is the network's, with ``1 - trust`` of it spread evenly. A decision that was not legal in the deal the
    network saw has only its part of that.
    """
    scale = settings.exploration * sqrt(visits + 1.0)
    even = (1.0 - settings.trust) / count
    here = nodes[node]
    unknown = float(here.value[seat]) / float(here.visits) - settings.caution
    best, best_worth = NONE, unknown + scale * even if tried < count else -1e30
    child = int(here.first_child)
    while child != NONE:
        if allowed(legal, int(nodes[child].action)):
            visited = float(nodes[child].visits)
            mean = float(nodes[child].value[seat]) / visited if visited > 0.0 else unknown
            worth = mean + scale * (settings.trust * float(nodes[child].prior) + even) / (1.0 + visited)
            if worth > best_worth:
                best, best_worth = child, worth
        child = int(nodes[child].next_sibling)
    return best


@helper
def leaf_returns(values, own, returns):
    """The returns of all seats from the values of a network, which begin with ``own`` and go on clockwise.

    If there are more values than seats, only the first ones count.
    """
    players = returns.size
    mean = np.float32(0.0)
    for beyond in range(players):
        mean += min(max(values[beyond], np.float32(-1.0)), np.float32(1.0)) / players
    if players == 1:
        mean = np.float32(0.0)
    largest = np.float32(1.0)
    for beyond in range(players):
        seat = (own + beyond) % players
        returns[seat] = min(max(values[beyond], np.float32(-1.0)), np.float32(1.0)) - mean
        largest = max(largest, abs(returns[seat]))
    for seat in range(players):
        returns[seat] /= largest


@cache
def descend_kernel(policy: CompiledPolicy) -> Any:
    """(origins states[G], tables, work states[G], nodes NODE[G, C], used int64[G, 1], paths int32[G, L], depths
    int64[G], legal uint64[G, W], untried uint64[W], generators[G], settings SETTINGS[1], observations int16[G, D],
    masks int8[G, A], seats int64[G], ranks int32[P], outcomes float32[G, P], size int64) -> decisions simulated.

    Runs one iteration for each position, down to the decision that the network is asked about, which belongs to the
    seat in ``seats``. If the game ends on the way, its returns are added and the seat is ``OVER``. Otherwise, with
    ``settings.mix`` above 0, ``policy`` plays on to the end, and the returns are left in ``outcomes``. ``policy`` plays
    the other seats where ``settings.opponents`` says so. A position with ``used`` = 0 begins its tree. ``size`` entries
    of an observation are the game's. If there is one more, it becomes what ``policy`` would do. There must be room for
    as many more nodes as a path is long and, for ``absorb``, as there are actions.
    """
    game, consult = policy.game, policy.function
    kinds, helpers, verbs = record_types(game), core(game), game.verbs
    decide, find_legal, expand, observe = helpers.decide, helpers.find_legal, helpers.expand, helpers.observe
    pick = helpers.pick
    resample, find_ranks, find_returns = verbs.resample, verbs.ranks, verbs.returns
    signature = (
        kinds.states, kinds.tables, kinds.states, array_of(NODE, 2), array_of(np.int64, 2), array_of(np.int32, 2),
        array_of(np.int64), array_of(np.uint64, 2), array_of(np.uint64), array_of(GENERATOR), array_of(SETTINGS),
        array_of(np.int16, 2), array_of(np.int8, 2), array_of(np.int64), array_of(np.int32), array_of(np.float32, 2),
        INT,
    )  # fmt: skip

    @helper
    def choose_child(s, nodes, used, node, legal, untried, count, generator, settings):
        """The child to go on with, or a new one for a decision that no deal allowed before."""
        tried, visits = meet_children(nodes, node, legal, untried)
        child = _best_by_prior(nodes, node, legal, tried, count, visits, int(s.seat), settings)
        if child != NONE:
            return child
        return add_child(nodes, used, node, pick(untried, count - tried, generator))

    @helper
    def play_out(s, t, legal, count, generator, settings):
        """Play on to the end of the game, or for ``settings.depth`` decisions. Returns the number of decisions."""
        played = 0
        while s.end == RUNNING and played < settings.depth:
            if chance(generator, settings.noise):
                action = pick(legal, count, generator)
            else:
                action = int(consult(s, t, legal, count, generator))
            count = decide(s, t, action, legal)
            played += 1
        return played

    @kernel(policy.scope, f"descend_{policy.name}", signature)
    def descend(
        origins, tables, work, nodes, used, paths, depths, legal, untried, generators, settings_array, observations,
        masks, seats, ranks, outcomes, size,
    ):  # fmt: skip
        t, settings = tables[0], settings_array[0]
        nodes, used, paths, outcomes = borrowed(nodes), borrowed(used), borrowed(paths), borrowed(outcomes)
        legal, untried = borrowed(legal), borrowed(untried)
        observations, masks = borrowed(observations), borrowed(masks)
        simulated = 0
        for g in range(origins.size):
            if used[g, 0] == 0:
                plant(nodes[g], used[g])
            work[g] = origins[g]
            s = work[g]
            own = int(s.seat)
            resample(s, t, own, generators[g])
            count = find_legal(s, t, legal[g])
            node, depth = ROOT, 0
            paths[g, 0] = ROOT
            while s.end == RUNNING:
                if settings.opponents == IN_TREE or int(s.seat) == own:
                    if nodes[g, node].first_child == NONE:
                        break
                    node = choose_child(s, nodes[g], used[g], node, legal[g], untried, count, generators[g], settings)
                    action = int(nodes[g, node].action)
                    depth += 1
                    paths[g, depth] = node
                else:
                    action = int(consult(s, t, legal[g], count, generators[g]))
                count = decide(s, t, action, legal[g])
                simulated += 1
            depths[g] = depth
            if s.end == RUNNING:
                seats[g] = int(s.seat)
                observe(s, t, np.int64(s.seat), observations[g, :size])
                if observations.shape[1] > size:
                    observations[g, size] = consult(s, t, legal[g], count, generators[g])
                expand(legal[g], masks[g])
                if settings.mix > 0.0:
                    untried[:] = legal[g]
                    simulated += play_out(s, t, untried, count, generators[g], settings)
                    find_ranks(s, t, ranks)
                    find_returns(s, t, ranks, outcomes[g])
            else:
                seats[g] = OVER
                find_ranks(s, t, ranks)
                find_returns(s, t, ranks, outcomes[g])
                add_returns(nodes[g], paths[g], depth, outcomes[g])
        return simulated

    return descend


@cache
def absorb_kernel(policy: CompiledPolicy) -> Any:
    """(nodes NODE[G, C], used int64[G, 1], paths int32[G, L], depths int64[G], legal uint64[G, W], seats int64[G],
    priors float32[G, A], values float32[G, seats], outcomes float32[G, P], settings SETTINGS[1], returns float32[P]).

    Gives each decision where ``descend`` ended its children, with the network's priors, and adds the network's values
    to the nodes on the way, of which ``outcomes`` make up the share ``settings.mix``.
    """
    signature = (
        array_of(NODE, 2), array_of(np.int64, 2), array_of(np.int32, 2), array_of(np.int64), array_of(np.uint64, 2),
        array_of(np.int64), array_of(np.float32, 2), array_of(np.float32, 2), array_of(np.float32, 2),
        array_of(SETTINGS), array_of(np.float32),
    )  # fmt: skip

    @kernel(policy.scope, "absorb", signature)
    def absorb(nodes, used, paths, depths, legal, seats, priors, values, outcomes, settings_array, returns):
        nodes, used, paths, legal = borrowed(nodes), borrowed(used), borrowed(paths), borrowed(legal)
        priors, values, returns = borrowed(priors), borrowed(values), borrowed(returns)
        played_out = np.float32(settings_array[0].mix)
        expected = np.float32(1.0) - played_out
        for g in range(seats.size):
            if seats[g] == OVER:
                continue
            leaf = int(paths[g, depths[g]])
            _add_children(nodes[g], used[g], leaf, legal[g], priors[g])
            leaf_returns(values[g], int(seats[g]), returns)
            for seat in range(returns.size):
                returns[seat] = expected * returns[seat] + played_out * outcomes[g, seat]
            add_returns(nodes[g], paths[g], depths[g], returns)

    return absorb
