"""The rules: which ids are legal, their application, and what happens between two decisions.

``s`` is the state record, ``t`` the component tables, ``o`` the options; R marks what the rulebook states. Setup is in
setup.py, the rules of each other topic in a file rules_<topic>.py beside this one; a topic has its ``NODES``, and says
what is ``legal`` at them, how a choice is applied (``apply``), and, if some of its nodes end by themselves, when the
game ``goes_on`` from there. ``flow`` is the node of the seat whose turn or card it is; rewards of the tracks' icons
interrupt it, and ``_settle`` decides what is asked next.
"""

from __future__ import annotations

from kepler_envs.engine.bits import has
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_3042 import rules_actions as actions
from kepler_envs.games.kepler_3042 import rules_bonus as bonuses
from kepler_envs.games.kepler_3042 import rules_cards as cards
from kepler_envs.games.kepler_3042 import rules_movement as movement
from kepler_envs.games.kepler_3042 import rules_quantum as quantum
from kepler_envs.games.kepler_3042 import rules_round as rounds
from kepler_envs.games.kepler_3042 import rules_scoring as scoring
from kepler_envs.games.kepler_3042 import setup as dealing
from kepler_envs.games.kepler_3042.rules_board import drop_reward, reward_is_useful, reward_kind, rewarded_seat
from kepler_envs.games.kepler_3042.state import NEXT_BENEFICIARY, REGENERATION, TURN_OVER, Node

scores, ranks, returns, potential = scoring.scores, scoring.ranks, scoring.returns, scoring.potential


@helper
def legal(s, t, mask):
    """Set the bit of every legal id."""
    node = s.node
    if has(movement.NODES, node):
        movement.legal(s, t, mask)
    elif has(actions.NODES, node):
        actions.legal(s, t, mask)
    elif has(bonuses.NODES, node):
        bonuses.legal(s, t, mask)
    elif has(cards.NODES, node):
        cards.legal(s, t, mask)
    elif has(dealing.NODES, node):
        dealing.legal(s, mask)
    else:
        rounds.legal(mask)
    quantum.legal(s, mask)


@helper
def apply(s, t, action):
    """Apply a legal id, and everything automatic that follows from it."""
    node = s.node
    if quantum.is_quantum(action):
        quantum.apply(s, action)
    elif has(movement.NODES, node):
        movement.apply(s, t, action)
    elif has(actions.NODES, node):
        actions.apply(s, t, action)
    elif has(bonuses.NODES, node):
        bonuses.apply(s, t, action)
    elif has(cards.NODES, node):
        cards.apply(s, t, action)
    elif has(dealing.NODES, node):
        dealing.apply(s, t, action)
    else:
        rounds.apply(s, t)
    _settle(s, t)


@helper
def _settle(s, t):
    """Handle waiting rewards first, in their order. Then the flow goes on to the next question."""
    while True:
        if s.pending > 0:
            if reward_is_useful(s):
                s.node = Node.REWARD_REGENERATION if reward_kind(s) == REGENERATION + 1 else Node.REWARD_PRODUCTION
                s.seat = rewarded_seat(s)
                return
            drop_reward(s)
        elif not _goes_on(s, t):
            s.node = s.flow
            s.seat = s.active
            return


@leaf
def _goes_on(s, t):
    """Leave a node at which nothing is left to do. Returns False where there is a question."""
    flow = s.flow
    if flow == NEXT_BENEFICIARY:
        return rounds.goes_on(s, t)
    if flow == TURN_OVER:
        rounds.end_turn(s, t)
        return True
    if has(movement.NODES, flow):
        return movement.goes_on(s, t)
    if has(bonuses.NODES, flow):
        return bonuses.goes_on(s, t)
    if has(cards.NODES, flow):
        return cards.goes_on(s, t)
    if has(actions.NODES, flow):
        return actions.goes_on(s)
    return False
