"""Rules of scoring cards."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow, allow_word, bit_count
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.ad_astra.actions import CHOOSE, COUNT, PASS, SMALLEST_DISCARD, SUBSET, SUBSETS, TAKE
from kepler_envs.games.ad_astra.rules_board import held_at_least, pay
from kepler_envs.games.ad_astra.rules_round import next_space
from kepler_envs.games.ad_astra.state import (
    COLONIES_FACTORIES,
    DIFFERENT,
    FIRST_SCORING,
    IDENTICAL,
    NUM_RESOURCES,
    STARSHIP,
    STARSHIPS,
    SYSTEMS,
    TERRAFORMERS,
    Node,
)
from kepler_envs.games.ad_astra.views import seat_after

IDENT, IDENT_COUNT, DIFF = int(Node.IDENT), int(Node.IDENT_COUNT), int(Node.DIFF)

SUBSETS_OF_HELD = np.array(
    [
        sum(1 << index for index, mask in enumerate(SUBSETS.tolist()) if mask & ~held == 0)
        for held in range(1 << NUM_RESOURCES)
    ],
    np.uint64,
)
"""For each set of resources held: the SUBSETS that can be discarded."""

THESAURUS = 8  # the artifact that makes a discard count more


# ---------------------------------------------------------------- legal ids


@leaf
def legal_elements(mask):
    allow(mask, CHOOSE)
    allow(mask, CHOOSE + 1)


@leaf
def _identical_choices(s):
    """The resources of which the deciding seat holds enough to discard some."""
    return np.uint64(held_at_least(s, int(s.seat), SMALLEST_DISCARD))


@leaf
def _different_choices(s):
    """The SUBSETS of what the deciding seat holds."""
    return SUBSETS_OF_HELD[held_at_least(s, int(s.seat), 1)]


@leaf
def discard_choices(s):
    """What can be discarded at the present node, as a set; 0 if nothing can."""
    return _identical_choices(s) if s.node == IDENT else _different_choices(s)


@leaf
def legal_to_discard(s, mask):
    allow_word(mask, TAKE if s.node == IDENT else SUBSET, discard_choices(s))
    if s.thesaurus == 0:
        allow(mask, PASS)


@leaf
def legal_counts(s, mask):
    """Allow from the smallest discard up to all cards of the type."""
    held = int(s.player[s.seat].hand[int(s.give_type) - 1])
    allow_word(mask, COUNT, np.uint64((1 << held - SMALLEST_DISCARD + 1) - 1))


# ---------------------------------------------------------------- scoring


@leaf
def choose_element(s, t, action):
    """Choose the element. The owner's choice applies to all (R)."""
    element = int(t.element[int(s.slot) - 1 - FIRST_SCORING, action - CHOOSE])
    s.element = element + 1
    if element in (IDENTICAL, DIFFERENT):  # clockwise from the owner's left, the owner last (R)
        s.node = IDENT if element == IDENTICAL else DIFF
        s.seat = seat_after(s, int(s.owner), 1)
    else:
        _award(s, t)


@leaf
def discard_identical(s, t, action):
    if action == PASS:
        _next_discarder(s, t)
    else:
        s.give_type = action - TAKE + 1
        s.node = IDENT_COUNT


@leaf
def discard_count(s, t, action):
    count = action - COUNT + SMALLEST_DISCARD
    pay(s, int(s.seat), int(s.give_type) - 1, count)
    s.give_type = 0
    s.node = IDENT
    _book(s, t, count)


@leaf
def discard_different(s, t, action):
    if action == PASS:
        _next_discarder(s, t)
        return
    resources = int(SUBSETS[action - SUBSET])
    for resource in range(NUM_RESOURCES):
        pay(s, int(s.seat), resource, resources >> resource & 1)
    _book(s, t, bit_count(np.uint64(resources)))


@leaf
def _book(s, t, count):
    """Count a discard: its cards, and more with the artifact."""
    if s.thesaurus != 0:
        count += int(t.artifact_amount[THESAURUS])
    s.player[s.seat].discarded = count
    _next_discarder(s, t)


@helper
def _next_discarder(s, t):
    s.thesaurus = 0
    step = int(s.step) + 1
    if step == s.num_players:
        _award(s, t)
        return
    s.step = step
    s.seat = seat_after(s, int(s.seat), 1)


@helper
def _award(s, t):
    """Give points to everybody, and the bonus to the sole leader if there is one (R)."""
    element = int(s.element) - 1
    most, leader = 0, -1
    for seat in range(int(s.num_players)):
        measure = _element_measure(s, t, element, seat)
        s.player[seat].points += measure if element == COLONIES_FACTORIES else measure * int(t.element_points[element])
        if measure > most:
            most, leader = measure, seat
        elif measure == most:
            leader = -1
    if leader >= 0:
        s.player[leader].points += int(t.bonus)
    next_space(s, t)


@helper
def _element_measure(s, t, element, seat):
    """What decides the bonus of an element: points for colonies and factories, numbers for all others."""
    player = s.player[seat]
    if element == COLONIES_FACTORIES:
        return int(t.element_points[element]) * bit_count(player.colonies) + int(t.factory_points) * bit_count(
            player.factories
        )
    if element == STARSHIPS:
        return int(t.pawn[STARSHIP].count) - int(player.starships_left)
    if element == TERRAFORMERS:
        return bit_count(player.terraformers)
    if element == SYSTEMS:
        return int(player.systems)
    return int(player.discarded)
