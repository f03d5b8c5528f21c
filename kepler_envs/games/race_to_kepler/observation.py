"""What a seat sees, and redrawing what it cannot know."""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs.engine.bits import bit_count, lowest
from kepler_envs.engine.game import RUNNING
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.observation import COUNT, FLAG, ONE_HOT, Layout, piece, table
from kepler_envs.engine.rng import fork
from kepler_envs.engine.simd import expand_bits, write_row
from kepler_envs.games.race_to_kepler.effects import Destination, Mode, Source
from kepler_envs.games.race_to_kepler.rules_cards import put_on_deck, random_kind
from kepler_envs.games.race_to_kepler.rules_effects import NOTHING, may_stop, movable_kinds
from kepler_envs.games.race_to_kepler.rules_encounter import biddable_kinds
from kepler_envs.games.race_to_kepler.setup import draw_cities
from kepler_envs.games.race_to_kepler.state import (
    KNOWN_SLOTS,
    LOOK_ZONE,
    MAX_PLAYERS,
    MOST_COUNTED,
    MOST_UNITS,
    NUM_CITIES,
    NUM_DEPARTMENTS,
    NUM_KINDS,
    NUM_OPERATIONS,
    NUM_OPTIONS,
    NUM_ORIGINS,
    NUM_TITANS,
    NUM_TOKENS,
    PLAYER,
    STATE,
    Node,
)

CITY, ACTION, MOVE, CHOICE, REPLAY, BID = (
    int(node) for node in (Node.CITY, Node.ACTION, Node.MOVE, Node.CHOICE, Node.REPLAY, Node.BID)
)
MOST_CARDS = 400  # in the game; 142 with the default cards
MOST_SHOWN = 127  # of a kind in one zone
MOST_PARSECS = 200  # just below the end of the longest track, and the longest jump
MOST_MOVED = 10  # "any number" is shown as this
MOST_DECISIONS = 150 + MOST_CARDS  # of a turn, as shown; an effect may ask for more

LAYOUT = Layout(
    [
        piece("own_hand", COUNT, MOST_SHOWN, "cards in the own hand by kind", shape=NUM_KINDS, scale=5),
        piece("own_deck", COUNT, MOST_SHOWN, "cards in the own deck", shape=NUM_KINDS, scale=5),
        piece("own_discard", COUNT, MOST_SHOWN, "cards in the own discard pile", shape=NUM_KINDS, scale=5),
        piece("own_play", COUNT, MOST_SHOWN, "cards in the own play area", shape=NUM_KINDS, scale=5),
        piece("own_bid", COUNT, MOST_SHOWN, "cards in the own bid, face down", shape=NUM_KINDS, scale=5),
        piece("own_look", COUNT, LOOK_ZONE, "cards the observer looks at", shape=NUM_KINDS, scale=1),
        piece("own_known", COUNT, KNOWN_SLOTS, "cards of the own deck known to be on its top", shape=NUM_KINDS, scale=1),
        piece("own_top", ONE_HOT, 1, "the top card of the own deck, if known", shape=NUM_KINDS),
        table(
            "opponents",
            MAX_PLAYERS - 1,
            [
                piece("concealed", COUNT, MOST_SHOWN, "hand, deck, bid and look zone together", shape=NUM_KINDS, scale=5),
                piece("discard", COUNT, MOST_SHOWN, "discard pile", shape=NUM_KINDS, scale=5),
                piece("play", COUNT, MOST_SHOWN, "play area", shape=NUM_KINDS, scale=5),
            ],
        ),
        piece("supply", COUNT, 10, "cards on offer", shape=NUM_KINDS, scale=1),
        piece("airlock", COUNT, MOST_SHOWN, "cards in the airlock", shape=NUM_KINDS, scale=5),
        piece("crew_deck", COUNT, 64, "cards in the crew deck, whose order nobody knows", shape=NUM_KINDS, scale=4),
        piece("titan_row", FLAG, 1, "titans revealed", shape=NUM_TITANS),
        piece("titan_deck", FLAG, 1, "titans in their deck", shape=NUM_TITANS),
        piece("asking_card", ONE_HOT, 1, "the card whose program asks; all 0 for a city's", shape=NUM_KINDS),
        table(
            "players",
            MAX_PLAYERS,
            [
                piece("city", ONE_HOT, 1, "city; while cities are chosen only the own", shape=NUM_CITIES),
                piece("present", FLAG, 1, "1 for seats in the game"),
                piece("parsecs", COUNT, MOST_PARSECS, "position on the track", scale=20),
                piece("hand_size", COUNT, MOST_CARDS, "cards in hand", scale=5),
                piece("deck_size", COUNT, MOST_CARDS, "cards in the deck", scale=20),
                piece("discard_size", COUNT, MOST_CARDS, "cards in the discard pile", scale=20),
                piece("play_size", COUNT, MOST_CARDS, "cards in the play area", scale=10),
                piece("turns", COUNT, 1000, "turns taken", scale=40),
                piece("active", FLAG, 1, "it is this player's turn"),
                piece("decides", FLAG, 1, "this player decides"),
                piece("first", FLAG, 1, "the first player"),
                piece("bid_size", COUNT, MOST_CARDS, "cards bid", scale=5),
                piece("bid_closed", FLAG, 1, "the bid is complete"),
            ],
        ),
        piece("offers", FLAG, 1, "while cities are chosen: those dealt to the observer", shape=NUM_CITIES),
        piece("energy", COUNT, MOST_UNITS, "energy of the active player", scale=20),
        piece("money", COUNT, MOST_UNITS, "money", scale=10),
        piece("market", COUNT, MOST_UNITS, "market actions left", scale=3),
        piece("discount", COUNT, MOST_UNITS, "money that cards cost less this turn", scale=3),
        piece("ejected", COUNT, MOST_COUNTED, "cards ejected this turn", scale=5),
        piece("discarded", COUNT, MOST_COUNTED, "cards discarded by effects", scale=5),
        piece("market_taken", COUNT, MOST_COUNTED, "market actions spent", scale=3),
        piece("gold_played", COUNT, MOST_COUNTED, "Gold played", scale=5),
        piece("resource_played", COUNT, MOST_COUNTED, "Iron and Gold played", scale=5),
        piece("crew_played", COUNT, MOST_COUNTED, "crew played", scale=5),
        piece("titan_played", COUNT, MOST_COUNTED, "titans played", scale=3),
        piece("ops_used", COUNT, MOST_COUNTED, "operations used", scale=4),
        piece("departments", FLAG, 1, "departments played: scientist, engineer, miner, smuggler", shape=NUM_DEPARTMENTS),
        piece("op_used", FLAG, 1, "operations used at least once", shape=NUM_OPERATIONS),
        piece("race", FLAG, 1, "the Race phase has begun"),
        piece("round", COUNT, 1000, "rounds complete", scale=40),
        piece("gold_pile", COUNT, 64, "Gold in the pile", scale=26),
        piece("crew_deck_size", COUNT, 64, "cards in the crew deck", scale=64),
        piece("titan_deck_size", COUNT, NUM_TITANS, "titans in their deck", scale=16),
        piece("decisions", COUNT, MOST_DECISIONS, "decisions of the observer's own turn, or of the choice of cities; else 0", scale=150),
        piece("tokens", FLAG, 1, "encounter tokens still on the track", shape=NUM_TOKENS),
        piece("crossed", FLAG, 1, "encounter tokens the active player has passed this turn", shape=NUM_TOKENS),
        piece("node", ONE_HOT, 1, "what the seat to move is asked for; all 0 once the game is over", shape=len(Node) - 1),
        piece("move_source", ONE_HOT, 1, "at MOVE: where cards come from, in the order of the effect language", shape=len(Source)),
        piece("move_destination", ONE_HOT, 1, "at MOVE: where they go", shape=len(Destination)),
        piece("move_mode", ONE_HOT, 1, "at MOVE: must, may, up to, all", shape=len(Mode)),
        piece("picks_left", COUNT, MOST_MOVED, "at MOVE: cards that may still be moved, 10 at most", low=-MOST_SHOWN, scale=10),
        piece("picks_made", COUNT, MOST_SHOWN, "at MOVE: cards moved", scale=10),
        piece("moved", COUNT, MOST_SHOWN, "cards moved by the last move of the program that asks", scale=5),
        piece("value", COUNT, 5000, "the sum of their costs, if everybody has seen them", scale=10),
        piece("origin", ONE_HOT, 1, "where the program that asks stands: when played, discarded, ejected, trait, operations", shape=NUM_ORIGINS),
        piece("options", COUNT, NUM_OPTIONS, "at CHOICE: alternatives", scale=4),
    ]
)  # fmt: skip


def make_observation(tables: Any) -> Layout:
    """The 1308 entries, the same for every component file; seats are relative, 0 is the observer, then clockwise."""
    return LAYOUT


def _first(name: str) -> int:
    """Where a piece (or its row 0) begins."""
    return LAYOUT[name].offset


SIZE = LAYOUT.size
OWN_LOOK, OWN_KNOWN, OWN_TOP = (_first(p) for p in ("own_look", "own_known", "own_top"))
OPPONENTS, SUPPLY, ASKING_CARD = (_first(p) for p in ("opponents.concealed", "supply", "asking_card"))
PLAYERS, OFFERS, TURN, DECISIONS, TOKENS = (
    _first(p) for p in ("players.city", "offers", "energy", "decisions", "tokens")
)
NODE, MOVE_SOURCE, MOVE_DESTINATION, MOVE_MODE = (
    _first(p) for p in ("node", "move_source", "move_destination", "move_mode")
)
PICKS_LEFT, PICKS_MADE, MOVED, VALUE = (_first(p) for p in ("picks_left", "picks_made", "moved", "value"))
ORIGIN, OPTIONS = _first("origin"), _first("options")
OPPONENT_SIZE, PLAYER_SIZE = LAYOUT["opponents.concealed"].strides[0], LAYOUT["players.city"].strides[0]
SEAT_ROW = PLAYER["seat_row"].shape[0]
ACTIVE, DECIDES, FIRST, BID_SIZE, BID_CLOSED = (
    _first(f"players.{p}") - PLAYERS for p in ("active", "decides", "first", "bid_size", "bid_closed")
)
assert PLAYER["own_row"].shape[0] == OWN_LOOK and STATE["table_row"].shape[0] == ASKING_CARD - SUPPLY


# ---------------------------------------------------------------- observe


@helper
def observe(s, t, seat, out):
    """Write the observation of ``seat``: rows of the state, with the seats turned to the observer."""
    n = int(s.num_players)
    own = s.player[seat]
    write_row(out, 0, own.own_row)
    for i in range(OWN_LOOK, OPPONENTS):
        out[i] = 0
    if seat == s.active:
        write_row(out, OWN_LOOK, s.look)
    for known in range(int(own.known_size)):
        out[OWN_KNOWN - 1 + int(own.known_kind[known])] += 1
    if own.known_size > 0:
        out[OWN_TOP - 1 + int(own.known_kind[int(own.known_size) - 1])] = 1
    place = OPPONENTS
    for distance in range(1, MAX_PLAYERS):
        other = s.player[_seat_at(seat, distance, n)]
        write_row(out, place, other.concealed)
        write_row(out, place + NUM_KINDS, other.open_row)
        place += OPPONENT_SIZE
    write_row(out, SUPPLY, s.table_row)
    for i in range(ASKING_CARD, PLAYERS):
        out[i] = 0
    _observe_players(s, seat, n, out)
    expand_bits(out, OFFERS, np.uint64(own.offers), NUM_CITIES)
    write_row(out, TURN, s.turn_row)
    out[DECISIONS] = min(_known_decisions(s, seat), MOST_DECISIONS)
    write_row(out, TOKENS, s.token_row)
    for i in range(NODE, SIZE):
        out[i] = 0
    if s.end == RUNNING:
        out[NODE + int(s.node)] = 1
        if s.depth > 0:
            _observe_program(s, t, out)


@leaf
def _seat_at(seat, distance, n):
    """The seat so many places clockwise; absent seats follow those in the game."""
    if distance >= n:
        return distance
    other = seat + distance
    return other if other < n else other - n


@leaf
def _known_decisions(s, seat):
    """Those of the observer's own turn, and of all who choose cities. Elsewhere whether others were asked tells of their cards: 0."""
    known = s.node == CITY or (seat == s.active and ACTION <= s.node <= REPLAY)
    return int(s.decisions) - int(s.decisions_before) if known else 0


@leaf
def _observe_players(s, seat, n, out):
    place = PLAYERS
    for distance in range(MAX_PLAYERS):
        number = _seat_at(seat, distance, n)
        player = s.player[number]
        write_row(out, place, player.seat_row)
        out[place + ACTIVE] = player.present and number == s.active and s.node != CITY
        out[place + DECIDES] = player.present and number == s.seat and s.end == RUNNING
        out[place + FIRST] = player.present and number == s.first and s.node != CITY
        out[place + BID_SIZE] = player.bid_size
        out[place + BID_CLOSED] = player.bid_closed
        place += PLAYER_SIZE
    if s.node == CITY and s.player[seat].city > 0:
        out[PLAYERS + int(s.player[seat].city) - 1] = 1


@leaf
def _observe_program(s, t, out):
    """The program that asks; it says nothing of cards that only the active player sees."""
    frame = s.frame[int(s.depth) - 1]
    instruction = t.program[frame.at]
    if frame.kind > 0:
        out[ASKING_CARD + int(frame.kind) - 1] = 1
    out[MOVED] = frame.moved
    out[VALUE] = frame.value
    out[ORIGIN + int(frame.origin)] = 1
    if s.node == MOVE:
        out[MOVE_SOURCE + int(instruction.what)] = 1
        out[MOVE_DESTINATION + int(instruction.destination)] = 1
        out[MOVE_MODE + int(instruction.mode)] = 1
        out[PICKS_LEFT] = min(int(instruction.amount), MOST_MOVED) - int(frame.moved)
        out[PICKS_MADE] = frame.moved
    elif s.node == CHOICE:
        out[OPTIONS] = instruction.amount


# ---------------------------------------------------------------- resample


@helper
def resample(s, t, seat, generator):
    """Redraw the hands, decks, bids and look zones of others, the cities dealt to them, and chance.

    Where the cards of an opponent who is asked for a decision are redrawn, it has a choice with the new ones, too. Decisions are
    counted anew, but those the observer knows of: how many there were tells what the others had to choose from.
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
    """Others were dealt any of the cities that the observer was not, and kept any of those."""
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
    """Deal the concealed cards of a player anew to hand, bid, look zone and deck, each as large as it is."""
    player = s.player[other]
    for kind in range(NUM_KINDS):
        player.deck[kind] = player.concealed[kind]
        player.hand[kind] = 0
        player.bid[kind] = 0
    player.deck_size += player.hand_size + player.bid_size
    if other == s.active:
        player.deck_size += s.look_size
        for kind in range(NUM_KINDS):
            s.look[kind] = 0
        for place in range(int(s.look_size)):
            kind = _deal(player, generator)
            s.look[kind] += 1
            s.look_kind[place] = kind + 1
    for _ in range(int(player.hand_size)):
        player.hand[_deal(player, generator)] += 1
    if s.node == BID and other == s.seat:
        s.last_bid = 0
    for _ in range(int(player.bid_size)):
        kind = _deal(player, generator)
        player.bid[kind] += 1
        if s.node == BID and other == s.seat and kind >= s.last_bid:
            s.last_bid = kind + 1
    for place in range(int(player.known_size)):
        player.known_kind[place] = _deal(player, generator) + 1
    known = int(player.known_size)
    player.known_size = 0
    for place in range(known):
        put_on_deck(player, int(player.known_kind[place]) - 1)


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
