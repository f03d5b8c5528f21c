"""Rules of bonus actions. Those of the action cube's column and row are offered, each for one burned cube."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_3042.actions import BONUS, DONE, SHIP, SLOT
from kepler_envs.games.kepler_3042.rules_board import (
    benefit,
    burn,
    cubes_outside_the_pit,
    extra,
    lead,
    legal_slots,
    legal_to_burn,
    produce,
)
from kepler_envs.games.kepler_3042.rules_movement import (
    legal_to_withdraw,
    movable,
    start_movement,
    start_placing,
    withdraw,
)
from kepler_envs.games.kepler_3042.state import (
    ANTIMATTER,
    BY_LOGISTICS,
    BY_PLANNING,
    BY_TURN,
    CIVIL_MODERNITY,
    COLONIAL,
    EARTH,
    ENERGY,
    ENERGY_DEVELOPMENT,
    EVOLUTION_OF_TECHNOLOGY,
    EXPLORATORY_PLANNING,
    MATTER,
    NUM_BONUS,
    SCIENTIFIC_PROGRESS,
    SPACE_LOGISTICS,
    SPACE_TRAVELS,
    TECHNOLOGICAL,
    TRACK_END,
    TURN_OVER,
    Node,
    node_set,
)

NODES = node_set(Node.BONUS_ACTION, Node.BONUS_BURN, Node.BONUS_ANTIMATTER)


@helper
def legal(s, t, mask):
    """Allow a bonus action, the cube burned for it, or the card that gets an antimatter."""
    if s.node == Node.BONUS_ACTION:
        _legal_bonuses(s, t, mask)
    elif s.node == Node.BONUS_BURN:
        legal_to_burn(s, mask)
    else:
        _legal_antimatter_slots(s, mask)


@helper
def apply(s, t, action):
    """Apply a choice at one of these nodes."""
    if s.node == Node.BONUS_ACTION:
        _choose_bonus(s, t, action)
    elif s.node == Node.BONUS_BURN:
        _burn_for_bonus(s, t, action)
    else:
        _take_antimatter(s, action)


@leaf
def goes_on(s, t):
    """End the bonus actions once none is left that could be used. Returns whether it did."""
    if s.flow == Node.BONUS_ACTION and _usable_bonuses(s, t) == 0:
        _end_bonuses(s, t)
        return True
    return False


# ---------------------------------------------------------------- choosing a bonus action


@leaf
def _is_useful(s, t, seat, bonus):
    """Whether a bonus action would do anything. Others are not offered."""
    player = s.player[seat]
    if bonus == SPACE_LOGISTICS:
        return player.ships_in_supply > 0
    if bonus == EVOLUTION_OF_TECHNOLOGY:
        return player.storage[ANTIMATTER] > 0
    if bonus == SCIENTIFIC_PROGRESS:
        return player.track[TECHNOLOGICAL] < TRACK_END
    if bonus == CIVIL_MODERNITY:
        return player.track[COLONIAL] < TRACK_END
    if bonus == EXPLORATORY_PLANNING:
        return movable(s, t, np.int64(seat), np.int64(t.exploration_speed)) != 0
    return player.storage[ENERGY] + player.storage[MATTER] > 0


@helper
def _usable_bonuses(s, t):
    """Bits of the bonus actions on the cube's column and row that the turn player can use."""
    seat = s.active
    player = s.player[seat]
    if s.second_free == 0 and cubes_outside_the_pit(player) == 0:
        return 0
    offered = t.bonus_of[player.action_cube] & ~s.bonus_used
    usable = 0
    for bonus in range(NUM_BONUS):
        if offered >> bonus & 1 and _is_useful(s, t, seat, bonus):
            usable |= 1 << bonus
    return usable


@leaf
def _legal_bonuses(s, t, mask):
    usable = _usable_bonuses(s, t)
    for bonus in range(NUM_BONUS):
        if usable >> bonus & 1:
            allow(mask, BONUS + bonus)
    if not _moves_follow(s, t):
        legal_to_withdraw(s, mask)
    allow(mask, DONE)


@leaf
def _choose_bonus(s, t, action):
    """Choose a bonus action, or none.

    The starships' move follows once none is wanted. Where none could move, one may be withdrawn at once.
    """
    if action == DONE:
        if _moves_follow(s, t):
            _end_bonuses(s, t)
        else:
            s.flow = TURN_OVER
        return
    if action >= SHIP:
        s.flow = Node.WITHDRAWAL
        withdraw(s, action - SHIP)
        return
    bonus = action - BONUS
    s.bonus_used |= 1 << bonus
    if s.second_free:
        s.second_free = 0
        _take_bonus(s, t, bonus)
    else:
        s.bonus = bonus + 1
        s.flow = Node.BONUS_BURN


@leaf
def _moves_follow(s, t):
    """Whether a starship could move in step 2c."""
    return movable(s, t, np.int64(s.active), np.int64(benefit(t, s.player[s.active], SPACE_TRAVELS))) != 0


@leaf
def done_ends_turn(s, t):
    """Whether declining what is asked now ends the turn."""
    node = s.node
    if node == Node.BONUS_ACTION:
        return not _moves_follow(s, t)
    if node == Node.MOVEMENT:
        return s.source == BY_TURN
    return node == Node.WITHDRAWAL or node == Node.END_OF_TURN


@helper
def _end_bonuses(s, t):
    """Go on to step 2c: every starship may move as far as Space Travels allows."""
    start_movement(s, BY_TURN, benefit(t, s.player[s.active], SPACE_TRAVELS))


# ---------------------------------------------------------------- taking it


@leaf
def _burn_for_bonus(s, t, action):
    """Burn the cube that pays for one bonus action.

    With the highest Energy Development it pays for both (R).
    """
    player = s.player[s.seat]
    burn(player, action)
    bonus = s.bonus - 1
    s.bonus = 0
    s.second_free = int(extra(t, player, ENERGY_DEVELOPMENT) > 0 and s.bonus_used == 1 << bonus)
    _take_bonus(s, t, bonus)


@helper
def _take_bonus(s, t, bonus):
    seat = s.seat
    player = s.player[seat]
    s.flow = Node.BONUS_ACTION
    if bonus == SPACE_LOGISTICS:
        start_placing(s, BY_LOGISTICS, 0)
    elif bonus == EVOLUTION_OF_TECHNOLOGY:
        s.flow = Node.BONUS_ANTIMATTER
    elif bonus == SCIENTIFIC_PROGRESS:
        lead(s, t, seat, TECHNOLOGICAL, 1)
    elif bonus == CIVIL_MODERNITY:
        lead(s, t, seat, COLONIAL, 1)
    elif bonus == EXPLORATORY_PLANNING:
        start_movement(s, BY_PLANNING, t.exploration_speed)
    else:
        produce(player, EARTH, ENERGY, 1)
        produce(player, EARTH, MATTER, 1)


@leaf
def _legal_antimatter_slots(s, mask):
    player = s.player[s.seat]
    if player.storage[ANTIMATTER] > 0:
        legal_slots(player, mask)
    allow(mask, DONE)


@leaf
def _take_antimatter(s, action):
    if action != DONE:
        produce(s.player[s.seat], action - SLOT, ANTIMATTER, 1)
    s.flow = Node.BONUS_ACTION
