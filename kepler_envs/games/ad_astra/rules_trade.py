"""Rules of trade cards: the owner trades with the bank and makes offers to other players."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow, allow_word
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.ad_astra.actions import ACCEPT, BANK, CARDS, PARTNER, PASS, QUANTITIES, TAKE
from kepler_envs.games.ad_astra.rules_board import gain, hand_over, held_at_least, in_stock, pay
from kepler_envs.games.ad_astra.rules_round import next_space
from kepler_envs.games.ad_astra.state import NUM_RESOURCES, Node
from kepler_envs.games.ad_astra.views import seat_after

TRADE, BANK_GET, OFFER_GIVE = int(Node.TRADE), int(Node.BANK_GET), int(Node.OFFER_GIVE)
OFFER_GET, REPLY = int(Node.OFFER_GET), int(Node.REPLY)


# ---------------------------------------------------------------- legal ids


@helper
def legal_to_trade(s, t, mask):
    """Allow stopping, giving cards of one type to the bank, or choosing a partner who can exchange."""
    seat = int(s.seat)
    allow(mask, PASS)
    if s.bank_trades < s.max_bank_trades:
        stock = in_stock(s)
        enough = held_at_least(s, seat, int(t.bank_rate))
        for resource in range(NUM_RESOURCES):
            if enough >> resource & 1 and stock & ~(1 << resource):
                allow(mask, BANK + resource)
    if s.offers < s.max_offers:
        own = held_at_least(s, seat, 1)
        for distance in range(1, int(s.num_players)):
            other = held_at_least(s, seat_after(s, seat, distance), 1)
            if _can_exchange(own, other):
                allow(mask, PARTNER + distance - 1)


@leaf
def _can_exchange(own, other):
    """Whether two hands (sets of resources) allow an exchange of one type for another."""
    both = own | other
    return own != 0 and other != 0 and both & (both - 1) != 0


@leaf
def legal_from_bank(s, mask):
    """Allow any other type the bank has."""
    allow_word(mask, TAKE, np.uint64(in_stock(s) & ~(1 << int(s.give_type) - 1)))


@leaf
def legal_to_offer(s, mask):
    """Allow one or two cards of a type, if the partner holds another type."""
    partner = held_at_least(s, int(s.partner) - 1, 1)
    for resource in range(NUM_RESOURCES):
        if partner & ~(1 << resource):
            _allow_quantities(s, int(s.seat), resource, mask)


@leaf
def legal_to_want(s, mask):
    """Allow one or two cards of another type that the partner holds."""
    for resource in range(NUM_RESOURCES):
        if resource != s.give_type - 1:
            _allow_quantities(s, int(s.partner) - 1, resource, mask)


@leaf
def _allow_quantities(s, seat, resource, mask):
    for count in range(1, QUANTITIES + 1):
        if s.player[seat].hand[resource] >= count:
            allow(mask, CARDS + QUANTITIES * resource + count - 1)


@leaf
def legal_replies(mask):
    allow(mask, ACCEPT)
    allow(mask, PASS)


# ---------------------------------------------------------------- trading


@leaf
def trade(s, t, action):
    if action == PASS:
        next_space(s, t)
    elif action < PARTNER:
        s.give_type = action - BANK + 1
        s.give_count = t.bank_rate
        s.node = BANK_GET
    else:
        s.partner = seat_after(s, int(s.seat), action - PARTNER + 1) + 1
        s.node = OFFER_GIVE


@leaf
def take_from_bank(s, action):
    seat = int(s.seat)
    pay(s, seat, int(s.give_type) - 1, int(s.give_count))
    gain(s, seat, action - TAKE, 1)
    s.bank_trades += 1
    _clear_offer(s)


@leaf
def offer(s, action):
    s.give_type = (action - CARDS) // QUANTITIES + 1
    s.give_count = (action - CARDS) % QUANTITIES + 1
    s.node = OFFER_GET


@leaf
def want(s, action):
    """Put the offer on the table. The partner replies."""
    s.get_type = (action - CARDS) // QUANTITIES + 1
    s.get_count = (action - CARDS) % QUANTITIES + 1
    s.offers += 1
    s.node = REPLY
    s.seat = s.partner - 1


@leaf
def reply(s, action):
    """Carry out an accepted offer at once (R)."""
    owner, partner = int(s.owner), int(s.partner) - 1
    if action == ACCEPT:
        hand_over(s, owner, partner, int(s.give_type) - 1, int(s.give_count))
        hand_over(s, partner, owner, int(s.get_type) - 1, int(s.get_count))
    s.seat = owner
    _clear_offer(s)


@leaf
def _clear_offer(s):
    s.partner = 0
    s.give_type = 0
    s.give_count = 0
    s.get_type = 0
    s.get_count = 0
    s.node = TRADE
