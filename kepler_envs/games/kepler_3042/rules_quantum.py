"""Rules of quantum operations: conversions and allocations.

The turn player may make them between two other decisions.
"""

from __future__ import annotations

from kepler_envs.engine.bits import allow, has
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_3042.actions import ALLOCATE, CONVERT, HEX, NUM_DIRECTIONS
from kepler_envs.games.kepler_3042.rules_board import own_turn, produce, slots
from kepler_envs.games.kepler_3042.state import ENERGY, MATTER, MAX_COLONIES, NUM_RESOURCES, Node, node_set

NODES = node_set(
    Node.MAIN_ACTION, Node.SPACE_MISSIONS, Node.COLONY_SEEDING, Node.TECHNOLOGICAL_DEVELOPMENT, Node.MOVEMENT,
    Node.TERRAFORMING,
    Node.MAPPING_TRACK, Node.ENERGY_STORAGE, Node.PLANETARY_EXPLOITATION, Node.ANTIMATTER_GENERATION, Node.BONUS_ACTION,
    Node.WITHDRAWAL, Node.END_OF_TURN, Node.REWARD_REGENERATION, Node.REWARD_PRODUCTION,
)  # fmt: skip
"""Nodes at which the turn player may also convert and allocate."""


@leaf
def is_quantum(action):
    """Whether an id converts or allocates."""
    return CONVERT <= action < HEX


@leaf
def legal(s, mask):
    """Allow conversions and allocations of the turn player, at most nodes of the turn (R)."""
    if has(NODES, s.node) and own_turn(s):
        player = s.player[s.seat]
        if s.conversions > 0:
            _legal_conversions(player, mask)
        if s.allocations > 0 and player.colonies > 0:
            _legal_allocations(player, mask)


@helper
def apply(s, action):
    """Apply a conversion or an allocation. The node stays."""
    player = s.player[s.seat]
    if action < ALLOCATE:
        slot = (action - CONVERT) // NUM_DIRECTIONS
        old = (action - CONVERT) % NUM_DIRECTIONS
        player.cubes[slot, old] -= 1
        player.storage[old] += 1
        produce(player, slot, 1 - old, 1)
        s.conversions -= 1
    else:
        kind = (action - ALLOCATE) % NUM_RESOURCES
        pair = (action - ALLOCATE) // NUM_RESOURCES
        giver = pair // MAX_COLONIES
        taker = pair % MAX_COLONIES
        taker += int(taker >= giver)
        player.cubes[giver, kind] -= 1
        player.cubes[taker, kind] += 1
        s.allocations -= 1


@helper
def _legal_conversions(player, mask):
    """Allow exchanging an energy on a card for a matter in storage, or the reverse."""
    for direction in range(NUM_DIRECTIONS):
        if player.storage[MATTER if direction == 0 else ENERGY] > 0:
            for slot in slots(player):
                if player.cubes[slot, direction] > 0:
                    allow(mask, CONVERT + NUM_DIRECTIONS * slot + direction)


@helper
def _legal_allocations(player, mask):
    """Allow moving a cube of a card to another own card."""
    for giver in slots(player):
        for kind in range(NUM_RESOURCES):
            if player.cubes[giver, kind] > 0:
                for taker in slots(player):
                    if taker != giver:
                        other = taker - int(taker > giver)
                        allow(mask, ALLOCATE + NUM_RESOURCES * (MAX_COLONIES * giver + other) + kind)
