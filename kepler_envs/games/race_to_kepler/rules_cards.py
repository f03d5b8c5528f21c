"""Rules of cards and parsecs: drawing, where a card goes, the supply, the track."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import bit, has, lowest
from kepler_envs.engine.game import TERMINATED
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.rng import below
from kepler_envs.engine.simd import pack_bits
from kepler_envs.games.race_to_kepler.effects import NO_PROGRAM, Hook
from kepler_envs.games.race_to_kepler.state import (
    MOST_SPACES,
    NUM_KINDS,
    NUM_TITANS,
    NUM_TOKENS,
    SHOWN_SLOTS,
    STACK,
    EndReason,
    Node,
)

NO_CARD = -1
KEPLER, OVER = int(EndReason.KEPLER), int(Node.OVER)
HAND_SIZE = int(Hook.HAND_SIZE)


@leaf
def kinds_in(zone):
    """The kinds a zone has cards of, as bits."""
    return pack_bits(zone, 0, NUM_KINDS)


@leaf
def random_kind(generator, zone, size):
    """The kind of a uniformly random one of the ``size`` (at least 1) cards of a zone."""
    place = below(generator, size)
    kind = 0
    while place >= zone[kind]:
        place -= int(zone[kind])
        kind += 1
    return kind


# ---------------------------------------------------------------- a player's cards


@leaf
def draw(s, player):
    """Take the top card of the deck into nobody's zone, though still concealed. Returns its kind, or NO_CARD.

    The discard pile becomes the deck when a card is needed and the deck is empty (ruling R1).
    """
    if player.deck_size == 0:
        _reshuffle(player)
    if player.deck_size == 0:
        return NO_CARD
    if player.known_size > 0:
        player.known_size -= 1
        kind = int(player.known_kind[player.known_size]) - 1
        player.known_kind[player.known_size] = 0
        player.known_open = np.uint64(player.known_open) & ~bit(int(player.known_size))
    else:
        kind = random_kind(s, player.deck, int(player.deck_size))
    player.deck[kind] -= 1
    player.deck_size -= 1
    return kind


@leaf
def _reshuffle(player):
    for kind in range(NUM_KINDS):
        player.deck[kind] = player.discard[kind]
        player.concealed[kind] += player.discard[kind]
        player.discard[kind] = 0
    player.deck_size = player.discard_size
    player.discard_size = 0


@helper
def top_is_open(player):
    """Whether everybody knows which card lies on top of the deck."""
    return player.known_size > 0 and has(np.uint64(player.known_open), int(player.known_size) - 1) > 0


@leaf
def draw_to_hand(s, player, cards):
    """Draw that many cards, or as many as there are."""
    for _ in range(cards):
        is_open = top_is_open(player)
        kind = draw(s, player)
        if kind == NO_CARD:
            return
        player.hand[kind] += 1
        player.hand_size += 1
        if is_open:
            _remember(player, kind)


@leaf
def draw_hand(s, t, player):
    """Draw the hand for the next turn. A city may make it larger."""
    city = t.city[int(player.city) - 1]
    extra = int(city.parameter) if city.hook == HAND_SIZE else 0
    draw_to_hand(s, player, int(t.hand_size) + extra)


@helper
def put_on_deck(player, kind, is_open):
    """Put a card on top of the deck, where its owner knows it, and everybody if ``is_open``.

    The card is concealed already.
    """
    player.deck[kind] += 1
    player.deck_size += 1
    player.known_kind[player.known_size] = kind + 1
    if is_open:
        player.known_open = np.uint64(player.known_open) | bit(int(player.known_size))
    player.known_size += 1


@leaf
def put_in_hand(player, kind, is_open):
    """Put a card in hand that was not concealed until now, or at least not in hand.

    ``is_open`` tells whether everybody sees which card it is.
    """
    player.hand[kind] += 1
    player.hand_size += 1
    player.concealed[kind] += 1
    if is_open:
        _remember(player, kind)


@leaf
def put_on_discard(player, kind):
    player.discard[kind] += 1
    player.discard_size += 1


@leaf
def take_from_hand(player, kind):
    """Take a card out of the hand, where everybody sees it."""
    player.hand[kind] -= 1
    player.hand_size -= 1
    player.concealed[kind] -= 1
    if player.shown_size > 0:
        forget(player, kind)


@leaf
def take_from_discard(player, kind):
    player.discard[kind] -= 1
    player.discard_size -= 1


@leaf
def count_card(t, player, kind, cards):
    """Count ``cards`` (1 or -1) more of a kind as the player's."""
    player.worth += cards * t.card[kind].worth
    player.cards += cards
    player.average = player.worth // player.cards if player.cards > 0 else 0


# ---------------------------------------------------------------- what everybody knows of a hand


@helper
def _remember(player, kind):
    """Note that everybody knows this card is in hand, if there is room to note it."""
    if player.shown_size < SHOWN_SLOTS:
        player.shown_kind[player.shown_size] = kind + 1
        player.shown_size += 1


@helper
def forget(player, kind):
    """Note that a card of this kind has left the hand: one less is known to be there."""
    for place in range(int(player.shown_size)):
        if player.shown_kind[place] == kind + 1:
            player.shown_size -= 1
            for later in range(place, int(player.shown_size)):
                player.shown_kind[later] = player.shown_kind[later + 1]
            player.shown_kind[player.shown_size] = 0
            return


@helper
def forget_all(player):
    """Note that nobody knows any longer what is in this hand."""
    while player.shown_size > 0:
        player.shown_size -= 1
        player.shown_kind[player.shown_size] = 0


# ---------------------------------------------------------------- the table


@leaf
def take_from_supply(s, kind):
    s.supply[kind] -= 1
    s.supply_size -= 1


@leaf
def refill_supply(s, t):
    """Refill the supply from the crew deck while it lasts (ruling R3)."""
    while s.supply_size < t.supply_size and s.crew_deck_size > 0:
        kind = random_kind(s, s.crew_deck, int(s.crew_deck_size))
        s.crew_deck[kind] -= 1
        s.crew_deck_size -= 1
        s.supply[kind] += 1
        s.supply_size += 1


@helper
def draw_titan(s):
    """Draw a random titan from its deck, which is not empty. Returns its number."""
    place = below(s, int(s.titan_deck_size))
    titan = 0
    while titan < NUM_TITANS:
        if s.titan_deck[titan]:
            if place == 0:
                break
            place -= 1
        titan += 1
    s.titan_deck[titan] = 0
    s.titan_deck_size -= 1
    return titan


# ---------------------------------------------------------------- the stack of programs


@leaf
def push(s, address, card, own, origin):
    """Put a program on the stack. An empty one, or one on a full stack, is dropped.

    ``card``: 1 + kind, 0 for a city's.
    """
    if address == NO_PROGRAM or s.depth == STACK:
        return
    frame = s.frame[s.depth]
    frame.at = address
    frame.kind = card
    frame.own = own
    frame.origin = origin
    s.depth += 1


@leaf
def clear_frame(frame):
    frame.at = 0
    frame.moved = 0
    frame.value = 0
    frame.value_before = 0
    frame.kind = 0
    frame.own = 0
    frame.in_move = 0
    frame.looking = 0
    frame.origin = 0


# ---------------------------------------------------------------- the track


@leaf
def look_ahead(s, t, player):
    """Find how far it is to Kepler, and to the next encounter token."""
    parsecs = int(player.parsecs)
    ahead = pack_bits(s.token, 0, NUM_TOKENS) & np.uint64(t.tokens_behind[min(parsecs, MOST_SPACES)])
    player.to_kepler = int(t.track_length) - parsecs
    player.to_token = int(t.token_space[lowest(ahead)]) - parsecs if ahead else 0


@helper
def jump(s, t, seat, parsecs, crosses):
    """Move ahead, past encounter tokens if ``crosses``.

    Whoever arrives wins at once (R, ruling R26).
    """
    player = s.player[seat]
    before = int(player.parsecs)
    after = before + parsecs
    if crosses:
        for token in range(NUM_TOKENS):
            if s.token[token] and before < t.token_space[token] <= after:
                s.crossed[token] = 1
    player.parsecs = after
    look_ahead(s, t, player)
    if after >= t.track_length:
        s.winner = seat + 1
        s.end_reason = KEPLER
        s.end = TERMINATED
        s.node = OVER
        while s.depth > 0:
            s.depth -= 1
            clear_frame(s.frame[s.depth])


@leaf
def seat_at(seat, distance, n):
    """The seat that many places clockwise."""
    other = seat + distance
    return other if other < n else other - n
