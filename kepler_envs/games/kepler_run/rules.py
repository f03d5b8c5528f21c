"""The rules: legal ids, their application, the result. What happens at each node stands in the files rules_<topic>.py.

``s`` is the state record, ``t`` the component tables. Section numbers are those of the specification's decision
machine; R marks what the rulebook states, rulings are those of the specification.
"""

from __future__ import annotations

from kepler_envs.engine.kernel import leaf
from kepler_envs.engine.returns import ahead_of_mean, ranks_by, returns_by, scores_of
from kepler_envs.games.kepler_run import rules_draft as draft
from kepler_envs.games.kepler_run import rules_flight as flight
from kepler_envs.games.kepler_run.actions import CONTRACT, LOAD, MOVE, TARGET
from kepler_envs.games.kepler_run.state import REWARD_MODES, Node

IN_DRAFT, IN_CONTRACT = int(Node.DRAFT), int(Node.CONTRACT)
IN_LOAD, IN_FLY = int(Node.LOAD), int(Node.FLY)


@leaf
def legal(s, t, mask):
    """Set the bit of every legal id."""
    player = s.player[s.seat]
    node = int(s.node)
    if node == IN_FLY:
        flight.legal_moves(s, t, player, mask)
    elif node == IN_DRAFT:
        draft.legal_picks(s, t, player, mask)
    elif node == IN_LOAD:
        flight.legal_loads(player, mask)
    elif node == IN_CONTRACT:
        flight.legal_contracts(player, mask)
    else:
        draft.legal_targets(s, mask)


@leaf
def apply(s, t, action):
    """Apply a legal id, and everything automatic that follows from it."""
    seat = int(s.seat)
    player = s.player[seat]
    if action >= MOVE:
        flight.fly(s, t, player, seat, action)
    elif action < TARGET:
        draft.pick(s, t, player, action)
    elif action >= LOAD:
        flight.load(s, t, player, action - LOAD)
    elif action >= CONTRACT:
        flight.commit(s, player, action - CONTRACT)
    else:
        draft.aim(s, t, player, seat, action - TARGET)


# ---------------------------------------------------------------- results (6)


@leaf
def _points(s, t, seat):
    return s.player[seat].vp


@leaf
def _points_and_fuel(s, t, seat):
    """The number that ranks players: victory points first, then fuel on the ship.

    Players who are equal in both share the rank.
    """
    player = s.player[seat]
    return int(player.vp) * 128 + int(player.fuel)


@leaf
def _points_of_ended_rounds(s, t, seat):
    """The points that shaping has paid for. It pays when a round ends."""
    return int(s.player[seat].vp_paid)


scores = scores_of(_points)
ranks = ranks_by(_points_and_fuel)
returns = returns_by(REWARD_MODES)
potential = ahead_of_mean(_points_of_ended_rounds)
