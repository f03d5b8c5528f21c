"""Rules of progress cards, and of the rewards of the tracks' icons."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_3042.actions import DONE, HEX, RES, SLOT, TECH
from kepler_envs.games.kepler_3042.rules_board import (
    advance,
    burn,
    can_produce,
    colonies,
    cubes_outside_the_pit,
    drop_reward,
    lead,
    legal_slots,
    legal_tiles,
    legal_to_burn,
    produce,
    produce_all,
    production,
    regenerate,
    reward_kind,
    rows_in_use,
    seats,
    turn_up,
)
from kepler_envs.games.kepler_3042.rules_movement import start_movement, start_placing
from kepler_envs.games.kepler_3042.state import (
    BY_CARD,
    COLONIAL,
    NEXT_BENEFICIARY,
    NUM_RESOURCES,
    NUM_TECHS,
    TECHNOLOGICAL,
    Node,
    What,
    Who,
    node_set,
)

NODES = node_set(
    Node.CARD_TECHNOLOGY, Node.CARD_BURN, Node.CARD_PRODUCTION, Node.CARD_EXPLOITATION, Node.CARD_TILE,
    Node.CARD_REGENERATION,
    Node.REWARD_REGENERATION, Node.REWARD_PRODUCTION,
)  # fmt: skip
TRACK_BOUND = 100  # more than any track, level or number of colonies


@helper
def legal(s, t, mask):
    """Allow declining what a card or an icon brings, but not the price of a level that was chosen."""
    node = s.node
    if node == Node.CARD_BURN:
        legal_to_burn(s, mask)
        return
    allow(mask, DONE)
    if node == Node.CARD_TECHNOLOGY:
        _legal_free_technologies(s, t, mask)
    elif node == Node.CARD_PRODUCTION:
        _legal_card_production(s, t, mask)
    elif node == Node.CARD_EXPLOITATION:
        _legal_card_exploitation(s, t, mask)
    elif node == Node.CARD_TILE:
        legal_tiles(s, mask)
    elif node == Node.REWARD_PRODUCTION:
        legal_slots(s.player[s.seat], mask)
    else:
        _legal_to_regenerate(s, mask)


@helper
def apply(s, t, action):
    """Apply a choice at one of these nodes."""
    node = s.node
    if node == Node.CARD_TECHNOLOGY:
        _choose_free_technology(s, t, action)
    elif node == Node.CARD_BURN:
        _burn_for_card(s, action)
    elif node == Node.CARD_PRODUCTION:
        _produce_from_card(s, t, action)
    elif node == Node.CARD_EXPLOITATION:
        _exploit_from_card(s, t, action)
    elif node == Node.CARD_TILE:
        _map_tile_from_card(s, action)
    elif node == Node.CARD_REGENERATION:
        _regenerate_from_card(s, action)
    elif node == Node.REWARD_REGENERATION:
        _regenerate_reward(s, action)
    else:
        _produce_reward(s, action)


@leaf
def goes_on(s, t):
    """Go on once all cubes or tiles of a card are done with. Returns whether it did."""
    flow = s.flow
    if s.left > 0 or flow not in (Node.CARD_BURN, Node.CARD_TILE, Node.CARD_REGENERATION):
        return False
    if flow == Node.CARD_BURN:
        _finish_free_technology(s, t)
    else:
        s.flow = NEXT_BENEFICIARY
    return True


# ---------------------------------------------------------------- who benefits, and how


@leaf
def _card_in_play(s, t):
    return t.card[s.deck[s.round_number - 1]]


@helper
def find_beneficiaries(s, t):
    """The seats with the best claim, as bits. Ties are included, and the ghost is compared, too (R)."""
    card = _card_in_play(s, t)
    who, tech = card.who, card.tech
    if who == Who.ALL:
        return (1 << s.num_players) - 1
    best = -TRACK_BOUND
    for row in range(rows_in_use(s)):
        best = max(best, _standing_for(s, row, who, tech))
    favoured = 0
    for seat in seats(s):
        favoured |= int(_standing_for(s, seat, who, tech) == best) << seat
    return favoured


@helper
def has_best_claim(s, t, seat):
    """Whether the card would be for a seat as things are."""
    card = _card_in_play(s, t)
    who, tech = card.who, card.tech
    if who == Who.ALL:
        return True
    own, claim = _standing_for(s, seat, who, tech), True
    for row in range(rows_in_use(s)):
        claim &= own >= _standing_for(s, row, who, tech)
    return claim


@leaf
def _standing_for(s, row, who, tech):
    """What a card compares: a higher number is the better claim on it."""
    player = s.player[row]
    if who == Who.FEWEST_COLONIES:
        return -player.colonies
    if who == Who.HIGHEST_COLONIAL:
        return player.track[COLONIAL]
    if who == Who.LOWEST_COLONIAL:
        return -player.track[COLONIAL]
    if who == Who.HIGHEST_TECHNOLOGICAL:
        return player.track[TECHNOLOGICAL]
    if who == Who.LOWEST_TECHNOLOGICAL:
        return -player.track[TECHNOLOGICAL]
    if who == Who.HIGHEST_TECH:
        return player.tech[tech]
    return -player.tech[tech]


@leaf
def start_benefit(s, t, seat):
    card = _card_in_play(s, t)
    what = card.what
    s.flow = NEXT_BENEFICIARY
    if what == What.FREE_TECH:
        s.flow = Node.CARD_TECHNOLOGY
    elif what == What.SHIP:
        if s.player[seat].ships_in_supply > 0:
            start_placing(s, BY_CARD, 0)
    elif what == What.TRACK:
        lead(s, t, seat, card.track, 1)
    elif what == What.REGENERATE:
        s.left = card.count
        s.flow = Node.CARD_REGENERATION
    elif what == What.PRODUCE:
        s.flow = Node.CARD_PRODUCTION
    elif what == What.MOVE:
        start_movement(s, BY_CARD, card.count)
    elif what == What.FLIP:
        s.left = card.count
        s.flow = Node.CARD_TILE
    else:
        s.flow = Node.CARD_EXPLOITATION


# ---------------------------------------------------------------- a free technology


@leaf
def burns_for(card, level):
    """The number of cubes that a free level costs. The first level costs none."""
    return level - 1 if card.burns else 0


@leaf
def _legal_free_technologies(s, t, mask):
    card = _card_in_play(s, t)
    player = s.player[s.seat]
    for tech in range(NUM_TECHS):
        level = player.tech[tech] + 1
        if level <= card.count and burns_for(card, level) <= cubes_outside_the_pit(player):
            allow(mask, TECH + tech)


@leaf
def _choose_free_technology(s, t, action):
    if action == DONE:
        s.flow = NEXT_BENEFICIARY
        return
    tech = action - TECH
    s.technology = tech + 1
    s.left = burns_for(_card_in_play(s, t), s.player[s.seat].tech[tech] + 1)
    s.flow = Node.CARD_BURN


@leaf
def _burn_for_card(s, action):
    burn(s.player[s.seat], action)
    s.left -= 1


@leaf
def _finish_free_technology(s, t):
    """Reach the level once all is burned. Collaboration follows as always."""
    tech = s.technology - 1
    s.technology = 0
    s.flow = NEXT_BENEFICIARY
    advance(s, t, np.int64(s.active), np.int64(tech))


# ---------------------------------------------------------------- cubes and tiles


@leaf
def _legal_card_production(s, t, mask):
    player = s.player[s.seat]
    if can_produce(player, _card_in_play(s, t).produced):
        legal_slots(player, mask)


@leaf
def _produce_from_card(s, t, action):
    """Produce everything on one card of the player."""
    if action != DONE:
        produce_all(s.player[s.seat], action - SLOT, _card_in_play(s, t).produced)
    s.flow = NEXT_BENEFICIARY


@leaf
def _legal_card_exploitation(s, t, mask):
    player = s.player[s.seat]
    for slot in colonies(player):
        if can_produce(player, production(s, t, player, slot)):
            allow(mask, SLOT + slot)


@leaf
def _exploit_from_card(s, t, action):
    player = s.player[s.seat]
    if action != DONE:
        produce_all(player, action - SLOT, production(s, t, player, action - SLOT))
    s.flow = NEXT_BENEFICIARY


@leaf
def _map_tile_from_card(s, action):
    if action == DONE:
        s.left = 0
    else:
        turn_up(s, action - HEX)
        s.left -= 1


@leaf
def _legal_to_regenerate(s, mask):
    player = s.player[s.seat]
    for kind in range(NUM_RESOURCES):
        if player.pit[kind] > 0:
            allow(mask, RES + kind)


@leaf
def _regenerate_from_card(s, action):
    if action == DONE:
        s.left = 0
    else:
        regenerate(s.player[s.seat], action - RES)
        s.left -= 1


# ---------------------------------------------------------------- rewards of the tracks' icons


@leaf
def _regenerate_reward(s, action):
    player = s.player[s.seat]
    drop_reward(s)
    if action != DONE:
        regenerate(player, action - RES)


@leaf
def _produce_reward(s, action):
    player = s.player[s.seat]
    kind = reward_kind(s) - 1
    drop_reward(s)
    if action != DONE:
        produce(player, action - SLOT, kind, 1)
