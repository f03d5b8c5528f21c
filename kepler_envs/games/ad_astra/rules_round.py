"""The round: planning, revealing one card after the other, and what follows the last one."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow_word
from kepler_envs.engine.game import TERMINATED
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.ad_astra.actions import PLACE, TAKE
from kepler_envs.games.ad_astra.rules_board import held_at_least, pay
from kepler_envs.games.ad_astra.state import (
    ALL_CARDS,
    BUILD_CARD,
    CARDS_OF_A_KIND,
    FIRST_MOVEMENT,
    FIRST_SCORING,
    MAX_PLAYERS,
    NUM_CARDS,
    NUM_SPACES,
    TRADE_CARD,
    EndReason,
    Node,
)
from kepler_envs.games.ad_astra.views import (
    NOTHING,
    clear_spaces,
    face_down,
    seat_after,
    show_placed_card,
    show_revealed_card,
)

PLAN, PRODUCE, MOVE, BUILD, TRADE = int(Node.PLAN), int(Node.PRODUCE), int(Node.MOVE), int(Node.BUILD), int(Node.TRADE)
ELEMENT, DISCARD, OVER = int(Node.ELEMENT), int(Node.DISCARD), int(Node.OVER)
POINTS, PLANETS, ROUNDS = int(EndReason.POINTS), int(EndReason.PLANETS), int(EndReason.ROUNDS)


# ---------------------------------------------------------------- planning


@helper
def start_round(s, t):
    """Take the placed cards back. Three scoring cards set aside come back together (R)."""
    spaces = int(t.spaces[s.num_players])
    for seat in range(int(s.num_players)):
        player = s.player[seat]
        aside = 0
        for card in range(CARDS_OF_A_KIND):
            aside |= int(player.set_aside[card]) << card
        if aside == (1 << CARDS_OF_A_KIND) - 1:
            aside = 0
            for card in range(CARDS_OF_A_KIND):
                player.set_aside[card] = 0
        player.cards = ALL_CARDS & ~(aside << FIRST_SCORING)
        player.to_place = spaces // int(s.num_players)
    for space in range(NUM_SPACES):
        s.space_owner[space] = 0
        s.space_card[space] = 0
    clear_spaces(s, spaces)
    s.empty_spaces = (1 << spaces) - 1
    s.revealed = 0
    s.round_number += 1
    s.node = PLAN
    s.seat = s.first


@leaf
def legal_placements(s, mask):
    """Allow any card of the hand on any empty space in use."""
    cards = int(s.player[s.seat].cards)
    spaces = np.uint64(s.empty_spaces)
    for card in range(NUM_CARDS):
        if cards >> card & 1:
            allow_word(mask, PLACE + NUM_SPACES * card, spaces)


@leaf
def place_card(s, t, action):
    """Place a card face down on its space.

    The next player clockwise goes on until all spaces are full.
    """
    card = (action - PLACE) // NUM_SPACES
    space = (action - PLACE) % NUM_SPACES
    seat = int(s.seat)
    player = s.player[seat]
    player.cards = int(player.cards) & ~(1 << card)
    player.to_place -= 1
    s.space_owner[space] = seat + 1
    s.space_card[space] = card + 1
    show_placed_card(s, space)
    s.empty_spaces = int(s.empty_spaces) & ~(1 << space)
    if s.empty_spaces == 0:
        next_space(s, t)
    else:
        s.seat = seat_after(s, seat, 1)


# ---------------------------------------------------------------- one card after the other


@helper
def next_space(s, t):
    """Reveal the card on the next space, or end the round."""
    _forget_card(s)
    space = int(s.revealed)
    if space == t.spaces[s.num_players]:
        _end_round(s, t)
        return
    s.revealed = space + 1
    show_revealed_card(s, space)
    slot = int(s.space_card[space]) - 1
    owner = int(s.space_owner[space]) - 1
    s.slot = slot + 1
    s.owner = owner
    s.seat = owner
    if slot < FIRST_MOVEMENT:
        s.node = PRODUCE
    elif slot < BUILD_CARD:
        s.node = MOVE
    elif slot == BUILD_CARD:
        s.node = BUILD
    elif slot == TRADE_CARD:
        s.node = TRADE
    else:  # at once: set aside, and its owner is the first player (R)
        s.node = ELEMENT
        s.first = owner
        s.player[owner].set_aside[slot - FIRST_SCORING] = 1


@leaf
def _forget_card(s):
    """Clear what the last card left behind, so that equal situations have equal states."""
    s.slot = 0
    s.owner = 0
    s.step = 0
    s.moved = 0
    s.owner_moved = 0
    s.gate = 0
    s.free = 0
    s.thesaurus = 0
    s.offers = 0
    s.bank_trades = 0
    s.element = 0
    for seat in range(MAX_PLAYERS):
        s.player[seat].discarded = 0


# ---------------------------------------------------------------- the end of the round


@leaf
def _end_round(s, t):
    """Test for the end of the game first; then the hand limit applies (R)."""
    for seat in range(int(s.num_players)):  # all cards are face up
        s.player[seat].filled_before = 0
        s.player[seat].came_back = 0
    s.end_reason = _end_reason(s, t)
    if s.end_reason != 0:
        s.node = OVER
        s.end = TERMINATED
    else:
        _enforce_hand_limit(s, t)


@leaf
def _end_reason(s, t):
    for seat in range(int(s.num_players)):
        if s.player[seat].points >= t.end_points:
            return POINTS
    if face_down(s) == NOTHING:
        return PLANETS
    if s.round_number == s.max_rounds:
        return ROUNDS
    return 0


@helper
def _enforce_hand_limit(s, t):
    """Let whoever holds too many cards discard one, clockwise from the first player.

    Then the next round begins.
    """
    for distance in range(int(s.num_players)):
        seat = seat_after(s, int(s.first), distance)
        if s.player[seat].hand_total > t.hand_limit:
            s.node = DISCARD
            s.seat = seat
            return
    start_round(s, t)


@leaf
def legal_to_drop(s, mask):
    """Allow any resource held."""
    allow_word(mask, TAKE, np.uint64(held_at_least(s, int(s.seat), 1)))


@leaf
def drop_card(s, t, action):
    pay(s, int(s.seat), action - TAKE, 1)
    _enforce_hand_limit(s, t)
