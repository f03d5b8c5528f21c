"""The rules: legal ids, their application, the result. The rules of the cards are in the files rules_<topic>.py beside
this one.

``s`` is the state record, ``t`` the component tables. R marks what the rulebook states. Every rule leaves the game at a
node with a seat to decide; the engine applies nodes with a single legal id.
"""

from __future__ import annotations

from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.returns import ahead_of_others, rank_returns, ranks_by, returns_by, scores_of
from kepler_envs.games.race_to_kepler import rules_effects as effects
from kepler_envs.games.race_to_kepler import rules_encounter as encounter
from kepler_envs.games.race_to_kepler import rules_turn as turn
from kepler_envs.games.race_to_kepler import setup
from kepler_envs.games.race_to_kepler.actions import CITY as CITY_ID
from kepler_envs.games.race_to_kepler.actions import END_TURN
from kepler_envs.games.race_to_kepler.state import REWARD_MODES, EndReason, Node

CITY, ACTION, BID, TITAN = int(Node.CITY), int(Node.ACTION), int(Node.BID), int(Node.TITAN)
ROUNDS = int(EndReason.ROUNDS)


# ---------------------------------------------------------------- legal ids and their application


@leaf
def legal(s, t, mask):
    """Set the bit of every legal id."""
    node = int(s.node)
    if node == ACTION:
        turn.legal_actions(s, t, mask)
    elif node == BID:
        encounter.legal_bids(s, mask)
    elif node == TITAN:
        encounter.legal_titans(s, t, mask)
    elif node == CITY:
        setup.legal_cities(s, mask)
    else:
        effects.legal_in_program(s, t, mask)


@leaf
def apply(s, t, action):
    """Apply a legal id, and everything automatic that follows from it."""
    node = int(s.node)
    if node == BID:
        encounter.bid(s, t, action)
    elif node == TITAN:
        encounter.take_titan(s, t, action)
    elif node == CITY:
        setup.choose_city(s, t, action - CITY_ID)
    else:
        if node == ACTION:
            turn.act(s, t, action)
        else:
            effects.decide_in_program(s, t, action)
        if action == END_TURN:
            encounter.after_turn(s, t)
        else:
            effects.run(s, t)


# ---------------------------------------------------------------- results


@leaf
def _parsecs(s, t, seat):
    """The parsecs, which decide the game. Whoever has arrived is ahead of all others."""
    return int(s.player[seat].parsecs)


@leaf
def _parsecs_that_win(s, t):
    return t.track_length


scores = scores_of(_parsecs)
ranks = ranks_by(_parsecs)
potential = ahead_of_others(_parsecs, _parsecs_that_win)
_returns_by_mode = returns_by(REWARD_MODES)


@helper
def returns(s, t, ranks, out):
    """Write returns by winning or by rank. At the round cap they are half of the returns by rank."""
    if s.end_reason != ROUNDS:
        _returns_by_mode(s, t, ranks, out)
        return
    n = int(s.num_players)
    rank_returns(ranks, n, out)
    for seat in range(n):
        out[seat] = out[seat] / 2
