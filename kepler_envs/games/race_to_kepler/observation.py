"""What a seat sees, and redrawing what it cannot know."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import bit_count, has, lowest
from kepler_envs.engine.game import RUNNING
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.rng import fork
from kepler_envs.engine.simd import expand_bits, write_row
from kepler_envs.games.race_to_kepler.observation_derived import derive
from kepler_envs.games.race_to_kepler.observation_layout import (
    ACTION,
    ACTIVE,
    ASKING,
    BID,
    CHOICE,
    CITY,
    CONCEALED,
    DECIDES,
    DECISIONS,
    DEEPER_KNOWN,
    DERIVED_PLAYER_SIZE,
    DERIVED_PLAYERS,
    DESTINATION,
    FACTS_SIZE,
    FILTER,
    FIRST,
    FRAMES,
    GAME_ROW,
    HAND,
    LAID,
    LEAD,
    LOOK,
    MAX_ROUNDS,
    MODE,
    MOST_DECISIONS,
    MOST_MOVED,
    MOVE,
    MOVED,
    NEXT,
    NODE,
    OFFER,
    OFFERS,
    ORIGIN,
    OTHER_DISCARD,
    PARAMETER,
    PICKS_LEFT,
    PLAYER_SIZE,
    PLAYERS,
    REPLAY,
    SHOWN,
    SIZE,
    SOURCE,
    THERE,
    TOP,
    USED,
    VALUE,
    WHAT,
    make_observation,
)
from kepler_envs.games.race_to_kepler.rules_cards import put_on_deck, random_kind, seat_at
from kepler_envs.games.race_to_kepler.rules_effects import NOTHING, may_stop, movable_kinds
from kepler_envs.games.race_to_kepler.rules_encounter import biddable_kinds
from kepler_envs.games.race_to_kepler.setup import draw_cities
from kepler_envs.games.race_to_kepler.state import (
    FIRST_TITAN,
    NEXT_CARDS,
    NUM_CITIES,
    NUM_KINDS,
    NUM_OPERATIONS,
)

__all__ = ["make_observation", "observe", "resample"]


# ---------------------------------------------------------------- observe


@leaf
def observe(s, t, seat, out):
    """Write the observation of ``seat``: rows of the state, with the seats turned to the observer.

    Derived fields are written where there is room for them. Everything is a leaf: past a call that could fail, the
    engine's arrays would be counted as in use, with atomic operations that wait for all that was written (measured: 25
    ns of 250).
    """
    n = int(s.num_players)
    has_derived = out.size > FACTS_SIZE
    write_row(out, GAME_ROW, s.game_row)
    _observe_game(s, t, seat, n, out)
    own = s.player[seat]
    city = int(own.city)
    for operation in range(NUM_OPERATIONS):
        out[WHAT + operation] = NUM_OPERATIONS * (city - 1) + operation + 1 if city > 0 else 0
    write_row(out, USED, s.op_used)
    _observe_cards(s, seat, n, out)
    for i in range(SHOWN, FACTS_SIZE):
        out[i] = 0
    if has_derived:
        for i in range(FACTS_SIZE, SIZE):
            out[i] = 0
    _observe_players(s, seat, n, has_derived, out)
    _observe_known(s, seat, out)
    if s.depth > 0:
        write_row(out, FRAMES, s.frame_row)
        if s.node == CHOICE:
            for option in range(int(t.program[s.frame[int(s.depth) - 1].at].amount)):
                out[THERE + option] = 1
    if has_derived:
        derive(s, t, seat, n, out)


@leaf
def _row_of(seat, other, n):
    """1 + the row of a player as a seat sees it."""
    distance = other - seat
    return 1 + (distance if distance >= 0 else distance + n)


@leaf
def _known_decisions(s, seat):
    """The decisions that the observer knows of: those of its own turn, and of all who choose cities.

    Elsewhere it is 0, because whether others were asked gives their cards away.
    """
    known = s.node == CITY or (seat == s.active and ACTION <= s.node <= REPLAY)
    return int(s.decisions) - int(s.decisions_before) if known else 0


@leaf
def _observe_game(s, t, seat, n, out):
    """Write the facts of the game.

    Of the program that asks, nothing is written about cards that only the active player sees.
    """
    for i in range(ACTIVE, PLAYERS):
        out[i] = 0
    if s.end == RUNNING:
        out[DECIDES] = _row_of(seat, int(s.seat), n)
        out[NODE] = int(s.node) + 1
    if s.node == CITY:
        expand_bits(out, OFFERS, np.uint64(s.player[seat].offers), NUM_CITIES)
    else:
        out[ACTIVE] = _row_of(seat, int(s.active), n)
        out[FIRST] = _row_of(seat, int(s.first), n)
    out[DECISIONS] = min(_known_decisions(s, seat), MOST_DECISIONS)
    out[MAX_ROUNDS] = s.max_rounds
    if s.depth > 0:
        frame = s.frame[int(s.depth) - 1]
        out[ASKING] = frame.kind
        out[ORIGIN] = int(frame.origin) + 1
        out[MOVED] = frame.moved
        out[VALUE] = frame.value
        if s.node == MOVE:
            instruction = t.program[frame.at]
            out[SOURCE] = int(instruction.what) + 1
            out[DESTINATION] = int(instruction.destination) + 1
            out[MODE] = int(instruction.mode) + 1
            out[FILTER] = int(instruction.filter) + 1
            out[PARAMETER] = instruction.parameter
            out[PICKS_LEFT] = min(int(instruction.amount), MOST_MOVED) - int(frame.moved)


@leaf
def _observe_players(s, seat, n, has_derived, out):
    """Write all there is of each player, so that its record is read once.

    Single cards known to be in hands are set where there are zeros.
    """
    for i in range(PLAYERS, WHAT):
        out[i] = 0
    best = -1
    for distance in range(n):
        player = s.player[seat_at(seat, distance, n)]
        row = PLAYERS + PLAYER_SIZE * distance
        write_row(out, row, player.seat_row)
        if has_derived:
            write_row(out, DERIVED_PLAYERS + DERIVED_PLAYER_SIZE * distance, player.derived_row)
        if player.known_open:
            known = int(player.known_size)
            for i in range(min(known, NEXT_CARDS)):
                if has(np.uint64(player.known_open), known - 1 - i):
                    out[row + NEXT + i] = player.known_kind[known - 1 - i]
        if distance > 0:
            best = max(best, int(player.parsecs))
            write_row(out, CONCEALED - NUM_KINDS + NUM_KINDS * distance, player.concealed)
            write_row(out, OTHER_DISCARD - NUM_KINDS + NUM_KINDS * distance, player.discard)
            for place in range(int(player.shown_size)):
                out[SHOWN + int(player.shown_kind[place]) - 1] |= 1 << (distance - 1)
    if has_derived:
        out[LEAD] = int(s.player[seat].parsecs) - best
    if s.node == CITY:
        out[PLAYERS] = s.player[seat].city


@leaf
def _observe_cards(s, seat, n, out):
    write_row(out, HAND, s.player[seat].own_row)
    if s.node == BID:
        write_row(out, LAID, s.player[seat].bid)
    else:
        write_row(out, LAID, s.player[s.active].play)
    write_row(out, OFFER, s.table_row)
    write_row(out, OFFER + FIRST_TITAN, s.titan_row)
    if n < 4:
        for i in range(OTHER_DISCARD - NUM_KINDS, OTHER_DISCARD):
            out[i] = 0
        for i in range(SHOWN - NUM_KINDS, SHOWN):
            out[i] = 0
    if n < 3:
        for i in range(OTHER_DISCARD - 2 * NUM_KINDS, OTHER_DISCARD - NUM_KINDS):
            out[i] = 0
        for i in range(SHOWN - 2 * NUM_KINDS, SHOWN - NUM_KINDS):
            out[i] = 0


@leaf
def _observe_known(s, seat, out):
    """Write the known single cards, on the own deck and in the own look zone. There are zeros until now."""
    own = s.player[seat]
    known = int(own.known_size)
    for place in range(known):
        kind = own.known_kind[known - 1 - place]
        if place < NEXT_CARDS:
            out[TOP + place] = kind
        else:
            out[DEEPER_KNOWN + place - NEXT_CARDS] = kind
    if s.look_size > 0 and seat == s.active:
        write_row(out, LOOK, s.look_kind)


# ---------------------------------------------------------------- resample


@helper
def resample(s, t, seat, generator):
    """Redraw the hands, decks, bids and look zones of others, the cities dealt to them, and chance.

    Where the cards of an opponent who is asked for a decision are redrawn, it has a choice with the new ones, too.
    Decisions are counted anew, except those the observer knows of, because their number tells what the others had to
    choose from.
    """
    if s.node == CITY:
        _redraw_cities(s, t, seat, generator)
    for other in range(int(s.num_players)):
        if other != seat:
            _redraw_cards(s, other, generator)
            while other == s.seat and not _has_a_choice(s, t):
                _redraw_cards(s, other, generator)
    s.decisions = _known_decisions(s, seat)
    s.decisions_before = 0
    s.rng = fork(generator)


@leaf
def _redraw_cities(s, t, seat, generator):
    """Deal others any of the cities that the observer was not dealt, and let them keep any of those."""
    left = np.uint64(t.cities) & ~np.uint64(s.player[seat].offers)
    for other in range(int(s.num_players)):
        if other != seat:
            player = s.player[other]
            dealt = draw_cities(generator, left, int(t.cities_dealt))
            left &= ~dealt
            player.offers = dealt
            if player.city > 0:
                player.city = lowest(draw_cities(generator, dealt, 1)) + 1


@helper
def _redraw_cards(s, other, generator):
    """Deal the concealed cards of a player anew to hand, bid, look zone and deck, each as large as it is.

    Cards that everybody saw go into a hand or onto a deck stay there; a hand's may have been bid since.
    """
    player = s.player[other]
    hand_size, bid_size, known = int(player.hand_size), int(player.bid_size), int(player.known_size)
    for kind in range(NUM_KINDS):
        player.deck[kind] = player.concealed[kind]
        player.hand[kind] = 0
        player.bid[kind] = 0
    player.deck_size += hand_size + bid_size
    if other == s.active:
        player.deck_size += s.look_size
    for place in range(known):
        if has(np.uint64(player.known_open), place):
            _set_aside(player, int(player.known_kind[place]) - 1)
    for place in range(int(player.shown_size)):
        _set_aside(player, int(player.shown_kind[place]) - 1)
    if other == s.active:
        for kind in range(NUM_KINDS):
            s.look[kind] = 0
        for place in range(int(s.look_size)):
            kind = _deal(player, generator)
            s.look[kind] += 1
            s.look_kind[place] = kind + 1
    for place in range(int(player.shown_size)):
        player.hand[int(player.shown_kind[place]) - 1] += 1
    for _ in range(hand_size + bid_size - int(player.shown_size)):
        player.hand[_deal(player, generator)] += 1
    player.hand_size = hand_size
    _redraw_bid(s, other, generator, hand_size + bid_size, bid_size)
    for place in range(known):
        if not has(np.uint64(player.known_open), place):
            player.known_kind[place] = _deal(player, generator) + 1
    player.known_size = 0
    for place in range(known):
        put_on_deck(player, int(player.known_kind[place]) - 1, np.bool_(False))


@leaf
def _redraw_bid(s, other, generator, held, bid_size):
    """Draw the bid from the cards that are in hand and bid together."""
    player = s.player[other]
    if s.node == BID and other == s.seat:
        s.last_bid = 0
    for bid in range(bid_size):
        kind = random_kind(generator, player.hand, held - bid)
        player.hand[kind] -= 1
        player.bid[kind] += 1
        if s.node == BID and other == s.seat and kind >= s.last_bid:
            s.last_bid = kind + 1


@leaf
def _set_aside(player, kind):
    """Take a certain card out of the deck."""
    player.deck[kind] -= 1
    player.deck_size -= 1


@helper
def _deal(player, generator):
    """Take a random card out of the deck."""
    kind = random_kind(generator, player.deck, int(player.deck_size))
    player.deck[kind] -= 1
    player.deck_size -= 1
    return kind


@helper
def _has_a_choice(s, t):
    """Whether the seat to move has two legal ids, where that depends on its concealed cards."""
    if s.end != RUNNING:
        return True
    if s.node == BID:
        return biddable_kinds(s) != NOTHING
    if s.node != MOVE:
        return True
    frame = s.frame[int(s.depth) - 1]
    instruction = t.program[frame.at]
    return bit_count(movable_kinds(s, t, frame, instruction)) + may_stop(frame, instruction) >= 2
