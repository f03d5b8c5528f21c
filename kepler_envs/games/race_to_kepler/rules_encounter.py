"""Rules of titan encounters: sealed bids in turn, and what the winner takes (SPEC section 4.2)."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow, allow_word, bit
from kepler_envs.engine.game import RUNNING
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.simd import pack_bits
from kepler_envs.games.race_to_kepler.actions import DONE, PICK
from kepler_envs.games.race_to_kepler.effects import Hook
from kepler_envs.games.race_to_kepler.rules_cards import (
    count_card,
    draw_titan,
    forget,
    jump,
    kinds_in,
    look_ahead,
    put_in_hand,
)
from kepler_envs.games.race_to_kepler.rules_turn import next_turn
from kepler_envs.games.race_to_kepler.state import FIRST_TITAN, NUM_KINDS, NUM_TITANS, NUM_TOKENS, Node

BID, TITAN = int(Node.BID), int(Node.TITAN)
WIN_BID, BID_BONUS = int(Hook.WIN_BID), int(Hook.BID_BONUS)
NOBODY = -1
NOTHING = np.uint64(0)


@helper
def after_turn(s, t):
    """Start an encounter if a token was crossed, otherwise the next turn.

    Of several tokens only the first one counts (ruling R9).
    """
    for token in range(NUM_TOKENS):
        if s.crossed[token] and s.token[token]:
            s.token[token] = 0
            for seat in range(int(s.num_players)):
                look_ahead(s, t, s.player[seat])
            _reveal_titans(s, t)
            return
    next_turn(s, t)


@leaf
def _reveal_titans(s, t):
    revealed = min(int(t.titan_row), int(s.titan_deck_size))
    for _ in range(revealed):
        s.titan_row[draw_titan(s)] = 1
    if revealed > 0:
        _ask_next_bidder(s)
    else:
        _end_encounter(s, t)


# ---------------------------------------------------------------- bidding


@helper
def _ask_next_bidder(s):
    """Ask the player furthest on who has not bid.

    Of equals it is the next one clockwise from the last bidder, at first from the active player.
    """
    n = int(s.num_players)
    bidders = 0
    for seat in range(n):
        bidders += s.player[seat].bid_place > 0
    start = int(s.active) if s.last_bidder == 0 else int(s.last_bidder) - 1
    best = NOBODY
    for distance in range(n):
        seat = start + distance
        if seat >= n:
            seat -= n
        if s.player[seat].bid_place == 0 and (best == NOBODY or s.player[seat].parsecs > s.player[best].parsecs):
            best = seat
    s.player[best].bid_place = bidders + 1
    s.last_bidder = best + 1
    s.last_bid = 0
    s.node = BID
    s.seat = best


@helper
def biddable_kinds(s):
    """The kinds in hand from the last kind bid on. Bids are sets, not sequences."""
    kinds = kinds_in(s.player[s.seat].hand)
    if s.last_bid > 0:
        kinds &= ~(bit(int(s.last_bid) - 1) - bit(0))
    return kinds


@helper
def legal_bids(s, mask):
    allow_word(mask, PICK, biddable_kinds(s))
    allow(mask, DONE)


@helper
def bid(s, t, action):
    """Bid another card face down, or complete the bid."""
    player = s.player[s.seat]
    if action != DONE:
        kind = action - PICK
        player.hand[kind] -= 1
        player.hand_size -= 1
        player.bid[kind] += 1
        player.bid_size += 1
        s.last_bid = kind + 1
        return
    player.bid_closed = 1
    for seat in range(int(s.num_players)):
        if s.player[seat].bid_place == 0:
            _ask_next_bidder(s)
            return
    _reveal_bids(s, t)


@leaf
def _reveal_bids(s, t):
    """Reveal the bids. The highest value wins, and of equals the earlier bidder (R).

    All cards bid are discarded without triggers (ruling R18).
    """
    winner, most = NOBODY, 0
    for seat in range(int(s.num_players)):
        player = s.player[seat]
        if player.bid_size > 0:
            value = bid_value(s, t, seat)
            if winner == NOBODY or value > most or (value == most and player.bid_place < s.player[winner].bid_place):
                winner, most = seat, value
    for seat in range(int(s.num_players)):
        _discard_bid(s.player[seat])
    s.last_bid = 0
    s.last_bidder = 0
    if winner == NOBODY:
        _end_encounter(s, t)
    else:
        s.node = TITAN
        s.seat = winner


@helper
def bid_value(s, t, seat):
    """The costs and bonuses of the cards of a bid that is not empty, and the bonus of the city."""
    player = s.player[seat]
    city = t.city[int(player.city) - 1]
    value = int(city.parameter) if city.hook == BID_BONUS else 0
    for kind in range(NUM_KINDS):
        if player.bid[kind] > 0:
            value += int(player.bid[kind]) * int(t.card[kind].bid_value)
    return value


@helper
def _discard_bid(player):
    if player.shown_size > 0:
        for kind in range(NUM_KINDS):
            for _ in range(int(player.bid[kind])):
                forget(player, kind)
    for kind in range(NUM_KINDS):
        player.discard[kind] += player.bid[kind]
        player.concealed[kind] -= player.bid[kind]
        player.bid[kind] = 0
    player.discard_size += player.bid_size
    player.bid_size = 0
    player.bid_closed = 0
    player.bid_place = 0


# ---------------------------------------------------------------- the titan


@helper
def legal_titans(s, t, mask):
    allow_word(mask, PICK, pack_bits(s.titan_row, 0, NUM_TITANS) << np.uint64(FIRST_TITAN))
    if t.city[int(s.player[s.seat].city) - 1].hook == WIN_BID:
        allow(mask, DONE)


@helper
def take_titan(s, t, action):
    """Take the titan into the winner's hand, or a jump instead, which crosses no token (ruling R10)."""
    player = s.player[s.seat]
    if action == DONE:
        jump(s, t, np.int64(s.seat), np.int64(t.city[int(player.city) - 1].parameter), np.bool_(False))
    else:
        kind = action - PICK
        put_in_hand(player, kind, np.bool_(True))
        count_card(t, player, kind, 1)
        s.titan_row[kind - FIRST_TITAN] = 0
    _end_encounter(s, t)


@helper
def _end_encounter(s, t):
    """Put the other titans back. From now on it is a race (R)."""
    for titan in range(NUM_TITANS):
        if s.titan_row[titan]:
            s.titan_row[titan] = 0
            s.titan_deck[titan] = 1
            s.titan_deck_size += 1
    s.race = 1
    if s.end == RUNNING:
        next_turn(s, t)
