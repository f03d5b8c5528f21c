"""Information-set Monte Carlo tree search for any number of players, in compiled code.

Single-observer ISMCTS (P. I. Cowling, E. J. Powley, D. Whitehouse, "Information Set Monte Carlo Tree Search", IEEE
TCIAIG 4(2), 2012): each iteration redraws what the searching seat cannot know, walks down the one tree among the
decisions legal in that deal, adds a node, plays the game to its end and adds the returns of all seats to the nodes on
the way (max^n: every seat maximises its own). Decisions are compared by UCB with availability counts, or by PUCT (D.
Silver et al., Nature 550, 2017) with a prior from the playout policy.
"""

from __future__ import annotations

from functools import cache
from math import log, sqrt
from typing import Any

import numpy as np

from kepler_envs.bots.search.kernels.tree import IN_TREE, NODE, NONE, PUCT, ROOT, SETTINGS
from kepler_envs.engine.bits import allowed
from kepler_envs.engine.game import RUNNING
from kepler_envs.engine.kernel import INT, array_of, borrowed, helper, kernel, leaf
from kepler_envs.engine.playout import CompiledPolicy
from kepler_envs.engine.rng import GENERATOR, below, stream_seed
from kepler_envs.engine.transition import core, record_types

ZERO, ONE, LOW_6 = np.uint64(0), np.uint64(1), np.uint64(63)
FINE = 1 << 30  # a random share is drawn in steps of 1 / FINE


@leaf
def chance(generator, share):
    """True with probability ``share``."""
    return share > 0.0 and below(generator, FINE) < share * FINE


@leaf
def _worth(child, seat, settings):
    """The UCB of a tried decision for the seat to move."""
    visits = float(child.visits)
    return float(child.value[seat]) / visits + settings.exploration * sqrt(log(float(child.available)) / visits)


@leaf
def _prior(action, suggested, count, settings):
    """The prior probability that PUCT gives a decision.

    ``suggested`` is what the playout policy would do, NONE if it was not asked.
    """
    if suggested == NONE:
        return 1.0 / count
    even = (1.0 - settings.trust) / count
    return settings.trust + even if action == suggested else even


@helper
def meet_children(nodes, node, legal, untried):
    """Count a node's legal children as available and leave in ``untried`` the legal decisions without a node.

    Returns (number of legal children, their visits).
    """
    for word in range(legal.size):
        untried[word] = legal[word]
    tried, visits = 0, 0
    child = int(nodes[node].first_child)
    while child != NONE:
        action = int(nodes[child].action)
        if allowed(legal, action):
            untried[action >> 6] &= ~(ONE << (np.uint64(action) & LOW_6))
            nodes[child].available += 1
            tried += 1
            visits += int(nodes[child].visits)
        child = int(nodes[child].next_sibling)
    return tried, visits


@helper
def _best_by_ucb(nodes, node, legal, seat, settings):
    """The legal child with the largest UCB. All legal decisions have been tried."""
    best, best_worth = NONE, 0.0
    child = int(nodes[node].first_child)
    while child != NONE:
        if allowed(legal, int(nodes[child].action)):
            worth = _worth(nodes[child], seat, settings)
            if best == NONE or worth > best_worth:
                best, best_worth = child, worth
        child = int(nodes[child].next_sibling)
    return best


@helper
def _best_by_puct(nodes, node, legal, untried, count, visits, seat, suggested, settings):
    """The legal child with the largest PUCT value, or NONE if an untried decision beats all of them.

    Counts that the playout policy chose ``suggested``, if there is a child for it.
    """
    scale = settings.exploration * sqrt(visits + 1.0)
    here = nodes[node]
    unknown = (float(here.value[seat]) / float(here.visits) if here.visits > 0 else 0.0) - settings.caution
    best, best_worth = NONE, -1e30
    any_untried = False
    for word in range(legal.size):
        any_untried |= untried[word] != ZERO
    if any_untried:
        best_worth = unknown + scale * _prior(NONE - 1, suggested, count, settings)
    if suggested != NONE and allowed(untried, suggested):
        best_worth = unknown + scale * _prior(suggested, suggested, count, settings)
    child = int(here.first_child)
    while child != NONE:
        action = int(nodes[child].action)
        if allowed(legal, action):
            if action == suggested:
                nodes[child].prior += 1.0
            visited = float(nodes[child].visits)
            mean = float(nodes[child].value[seat]) / visited
            worth = mean + scale * _prior(action, suggested, count, settings) / (1.0 + visited)
            if worth > best_worth:
                best, best_worth = child, worth
        child = int(nodes[child].next_sibling)
    return best


@leaf
def add_child(nodes, used, node, action):
    """Add a new node below ``node``. Returns its number."""
    child = int(used[0])
    used[0] += 1
    nodes[child].parent = node
    nodes[child].action = action
    nodes[child].first_child = NONE
    nodes[child].next_sibling = nodes[node].first_child
    nodes[child].visits = 0
    nodes[child].available = 1
    nodes[child].prior = 0.0
    for seat in range(nodes[child].value.size):
        nodes[child].value[seat] = 0.0
    nodes[node].first_child = child
    return child


@leaf
def plant(nodes, used):
    """Begin a tree with the root alone."""
    used[0] = 1
    nodes[ROOT].parent = NONE
    nodes[ROOT].first_child = NONE
    nodes[ROOT].next_sibling = NONE
    nodes[ROOT].action = NONE
    nodes[ROOT].visits = 0
    nodes[ROOT].available = 0
    nodes[ROOT].prior = 0.0
    for seat in range(nodes[ROOT].value.size):
        nodes[ROOT].value[seat] = 0.0


@leaf
def add_returns(nodes, path, depth, returns):
    """Count one more iteration for the nodes ``path[0..depth]``."""
    for step in range(depth + 1):
        node = path[step]
        nodes[node].visits += 1
        for seat in range(returns.size):
            nodes[node].value[seat] += returns[seat]


@cache
def search_kernel(policy: CompiledPolicy) -> Any:
    """(origin states[1], tables, work states[1], nodes NODE[C], used int64[1], path int32[C], legal and untried
    uint64[W], generators[3], settings SETTINGS[1], iterations, ranks int32[P], returns float32[P]) -> decisions
    simulated.

    Searches for the seat to move at ``origin``. It goes on with the tree in ``nodes[:used]``, or begins one if ``used``
    is 0. There must be room for one more node per iteration. All chance comes from the first generator. With
    ``settings.paired``, only the choices at the root come from it. Deals and playouts then come from the second
    generator, which is set anew for each of them from the third.
    """
    game, consult = policy.game, policy.function
    kinds, helpers, verbs = record_types(game), core(game), game.verbs
    decide, find_legal, pick = helpers.decide, helpers.find_legal, helpers.pick
    resample, find_ranks, find_returns = verbs.resample, verbs.ranks, verbs.returns
    signature = (
        kinds.states, kinds.tables, kinds.states, array_of(NODE), array_of(np.int64), array_of(np.int32),
        array_of(np.uint64), array_of(np.uint64), array_of(GENERATOR), array_of(SETTINGS), INT, array_of(np.int32),
        array_of(np.float32),
    )  # fmt: skip

    @helper
    def choose_child(s, t, nodes, used, node, legal, untried, count, generator, settings):
        """The child to go on with, or a new one if an untried decision is due."""
        seat = int(s.seat)
        tried, visits = meet_children(nodes, node, legal, untried)
        suggested = NONE
        if settings.selection == PUCT:
            if settings.trust > 0.0:
                suggested = consult(s, t, legal, count, generator)
            child = _best_by_puct(nodes, node, legal, untried, count, visits, seat, suggested, settings)
        else:
            child = _best_by_ucb(nodes, node, legal, seat, settings) if tried == count else NONE
        if child != NONE:
            return child
        if suggested != NONE and allowed(untried, suggested):
            child = add_child(nodes, used, node, suggested)
            nodes[child].prior = 1.0
            return child
        return add_child(nodes, used, node, pick(untried, count - tried, generator))

    @kernel(policy.scope, f"search_{policy.name}", signature)
    def search(
        origin, tables, work, nodes, used, path, legal, untried, generators, settings_array, iterations, ranks, returns
    ):
        t, settings = tables[0], settings_array[0]
        nodes, used, path = borrowed(nodes), borrowed(used), borrowed(path)
        legal, untried = borrowed(legal), borrowed(untried)
        if used[0] == 0:
            plant(nodes, used)
        generator = generators[settings.paired]
        simulated = 0
        for _ in range(iterations):
            work[0] = origin[0]
            s = work[0]
            own = int(s.seat)
            node, depth, beyond = ROOT, 0, 0
            in_tree = True
            path[0] = ROOT
            if settings.paired:  # the decision comes first: its visits say which deal is due
                count = find_legal(s, t, legal)
                node = choose_child(s, t, nodes, used, ROOT, legal, untried, count, generators[0], settings)
                generator.rng = stream_seed(generators[2].rng, int(nodes[node].visits))
            resample(s, t, own, generator)
            count = find_legal(s, t, legal)
            if settings.paired:
                depth = 1
                path[1] = node
                in_tree = nodes[node].visits > 0
                count = decide(s, t, int(nodes[node].action), legal)
                simulated += 1
            while s.end == RUNNING and (in_tree or beyond < settings.depth):
                if in_tree and (settings.opponents == IN_TREE or int(s.seat) == own):
                    node = choose_child(s, t, nodes, used, node, legal, untried, count, generator, settings)
                    action = int(nodes[node].action)
                    depth += 1
                    path[depth] = node
                    in_tree = nodes[node].visits > 0
                else:
                    if not in_tree:
                        beyond += 1
                    if not in_tree and chance(generator, settings.noise):
                        action = pick(legal, count, generator)
                    else:
                        action = int(consult(s, t, legal, count, generator))
                count = decide(s, t, action, legal)
                simulated += 1
            find_ranks(s, t, ranks)
            find_returns(s, t, ranks, returns)
            add_returns(nodes, path, depth, returns)
        return simulated

    return search
