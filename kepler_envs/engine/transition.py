"""What happens between two decisions, for any game: compiled helpers built once per game from its verbs.

The flow is always the same: a seat picks an id -> ``apply`` -> *settle* (forced nodes are applied) -> the next decision,
its legal set and its observation.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from kepler_envs.engine.bits import allowed, bit_count, lowest, without_lowest
from kepler_envs.engine.game import RUNNING, Game
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.rng import below, start
from kepler_envs.engine.simd import expand_bits

LEGAL, ILLEGAL, STUCK = 0, 1, 2
"""What a step reports: it was applied; the id was not legal (nothing happened); the game offers no legal id (a bug)."""

ZERO, ONE = np.uint64(0), np.uint64(1)


def build_core(game: Game) -> SimpleNamespace:
    """Compiled helpers over the verbs of ``game``; see each one's docstring."""
    words = game.mask_words
    num_actions = len(game.actions)
    rest = num_actions - 64 * (words - 1)
    always_offered = sum(1 << node for node in game.always_offered)
    setup, legal, apply, observe = game.verbs.setup, game.verbs.legal, game.verbs.apply, game.verbs.observe

    @leaf
    def count_legal(mask):
        """Number of ids in a legal set."""
        total = 0
        for word in range(words):
            total += bit_count(mask[word])
        return total

    @leaf
    def find_legal(s, t, mask):
        """Write the legal set of the current node; its size."""
        for word in range(words):
            mask[word] = ZERO
        legal(s, t, mask)
        return count_legal(mask)

    @leaf
    def only_legal(mask):
        """The id of a legal set of one."""
        action = 0
        for word in range(words):
            if mask[word] != ZERO:
                action = 64 * word + lowest(mask[word])
        return action

    @leaf
    def is_offered(s, count):
        """Whether the node with ``count`` legal ids is put to a seat."""
        return count != 1 or (always_offered >> int(s.node)) & 1

    @leaf
    def carry_out(s, t, action, mask):
        """Apply an id and what it forces, up to the next decision that is offered, and write its legal set; its size, 0 once the game is over."""
        while True:
            apply(s, t, action)
            if s.end != RUNNING:
                break
            count = find_legal(s, t, mask)
            if is_offered(s, count):
                return count
            action = only_legal(mask)
        for word in range(words):
            mask[word] = ZERO
        return 0

    @helper
    def begin(states, index, blank, t, o, seed, mask):
        """Deal game number ``index`` of ``states`` from ``seed``; the number of legal ids, 0 if the deal ends the game at once."""
        states[index] = blank[0]
        s = states[index]
        start(s, seed)
        setup(s, t, o)
        if s.end != RUNNING:
            for word in range(words):
                mask[word] = ZERO
            return 0
        count = find_legal(s, t, mask)
        return count if is_offered(s, count) else carry_out(s, t, only_legal(mask), mask)

    @leaf
    def decide(s, t, action, mask):
        """One decision with a legal id; the number of legal ids of the next one."""
        s.decisions += 1
        return carry_out(s, t, action, mask)

    @leaf
    def is_legal(mask, action):
        """Whether any integer is in the legal set."""
        return 0 <= action < num_actions and allowed(mask, action) == ONE

    @leaf
    def pick(mask, count, generator):
        """A uniform one of the ``count`` ids of a legal set."""
        skip = below(generator, count)
        word = 0
        while word < words - 1:
            here = bit_count(mask[word])
            if skip < here:
                break
            skip -= here
            word += 1
        left = mask[word]
        for _ in range(skip):
            left = without_lowest(left)
        return 64 * word + lowest(left)

    @leaf
    def expand(mask, out):
        """A legal set as bytes, 0 or 1."""
        for word in range(words - 1):
            expand_bits(out, 64 * word, mask[word], 64)
        expand_bits(out, 64 * (words - 1), mask[words - 1], rest)

    return SimpleNamespace(
        find_legal=find_legal, begin=begin, decide=decide, is_legal=is_legal, pick=pick,
        count_legal=count_legal, expand=expand, observe=observe,
    )  # fmt: skip
