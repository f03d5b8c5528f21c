"""The rules: legal ids, their application, the result. The rules of the cards are in the files rules_<topic>.py beside
this one.

``s`` is the state record, ``t`` the component tables. R marks what the rulebook states. Every rule leaves the game at a
node with a seat to decide; the engine applies nodes with a single legal id.
"""

from __future__ import annotations

from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.returns import ahead_of_others, ranks_by, returns_by_rank, scores_of
from kepler_envs.games.ad_astra import rules_artifacts as artifacts
from kepler_envs.games.ad_astra import rules_building as building
from kepler_envs.games.ad_astra import rules_movement as movement
from kepler_envs.games.ad_astra import rules_round as rounds
from kepler_envs.games.ad_astra import rules_scoring as scoring
from kepler_envs.games.ad_astra import rules_trade as trading
from kepler_envs.games.ad_astra.actions import ARTIFACT
from kepler_envs.games.ad_astra.state import Node

PLAN, PRODUCE, MOVE, LAND = int(Node.PLAN), int(Node.PRODUCE), int(Node.MOVE), int(Node.LAND)
BUILD, BUILD_POS, TRADE, BANK_GET = int(Node.BUILD), int(Node.BUILD_POS), int(Node.TRADE), int(Node.BANK_GET)
OFFER_GIVE, OFFER_GET, REPLY = int(Node.OFFER_GIVE), int(Node.OFFER_GET), int(Node.REPLY)
ELEMENT, IDENT, IDENT_COUNT, DIFF = int(Node.ELEMENT), int(Node.IDENT), int(Node.IDENT_COUNT), int(Node.DIFF)
DISCARD, ART_RES = int(Node.DISCARD), int(Node.ART_RES)


# ---------------------------------------------------------------- legal ids


@helper
def legal(s, t, mask):
    """Set the bit of every legal id."""
    node = int(s.node)
    if node == PLAN:
        rounds.legal_placements(s, mask)
        _legal_artifacts(s, t, mask)
    elif node == PRODUCE:
        movement.legal_production(s, t, mask)
    elif node == MOVE:
        movement.legal_to_move(s, t, mask)
        _legal_artifacts(s, t, mask)
    elif node == LAND:
        movement.legal_to_land(s, mask)
    elif node == BUILD:
        building.legal_to_build(s, t, mask)
        _legal_artifacts(s, t, mask)
    elif node == BUILD_POS:
        building.legal_positions(s, t, mask)
    elif node == TRADE:
        trading.legal_to_trade(s, t, mask)
    elif node == BANK_GET:
        trading.legal_from_bank(s, mask)
    elif node == OFFER_GIVE:
        trading.legal_to_offer(s, mask)
    elif node == OFFER_GET:
        trading.legal_to_want(s, mask)
    elif node == REPLY:
        trading.legal_replies(mask)
    elif node == ELEMENT:
        scoring.legal_elements(mask)
    elif node in (IDENT, DIFF):
        scoring.legal_to_discard(s, mask)
        _legal_artifacts(s, t, mask)
    elif node == IDENT_COUNT:
        scoring.legal_counts(s, mask)
    elif node == DISCARD:
        rounds.legal_to_drop(s, mask)
    else:
        artifacts.legal_gifts(s, mask)


@leaf
def _legal_artifacts(s, t, mask):
    """Add the artifacts that can be played. Few seats hold any."""
    if s.player[s.seat].artifacts != 0:
        artifacts.legal_artifacts(s, t, mask)


# ---------------------------------------------------------------- applying an id


@helper
def apply(s, t, action):
    """Apply a legal id, and everything automatic that follows from it."""
    node = int(s.node)
    if action >= ARTIFACT:
        artifacts.play_artifact(s, t, action - ARTIFACT)
    elif node == PLAN:
        rounds.place_card(s, t, action)
    elif node == PRODUCE:
        movement.produce(s, t, action)
    elif node == MOVE:
        movement.move(s, t, action)
    elif node == LAND:
        movement.land(s, t, action)
    elif node == BUILD:
        building.build(s, t, action)
    elif node == BUILD_POS:
        building.build_at(s, t, action)
    elif node == TRADE:
        trading.trade(s, t, action)
    elif node == BANK_GET:
        trading.take_from_bank(s, action)
    elif node == OFFER_GIVE:
        trading.offer(s, action)
    elif node == OFFER_GET:
        trading.want(s, action)
    elif node == REPLY:
        trading.reply(s, action)
    elif node == ELEMENT:
        scoring.choose_element(s, t, action)
    elif node == IDENT:
        scoring.discard_identical(s, t, action)
    elif node == IDENT_COUNT:
        scoring.discard_count(s, t, action)
    elif node == DIFF:
        scoring.discard_different(s, t, action)
    elif node == DISCARD:
        rounds.drop_card(s, t, action)
    else:
        artifacts.take_gift(s, t, action)


# ---------------------------------------------------------------- results


@leaf
def _points(s, t, seat):
    return int(s.player[seat].points)


@leaf
def _points_that_end_the_game(s, t):
    return t.end_points


scores = scores_of(_points)
ranks = ranks_by(_points)
returns = returns_by_rank
potential = ahead_of_others(_points, _points_that_end_the_game)
