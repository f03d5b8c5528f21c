"""What a seat sees, and redrawing what it cannot know."""

from __future__ import annotations

from typing import Any

from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.observation import CATEGORY, COUNT, FLAG, Layout, piece, table
from kepler_envs.engine.rng import below, fork
from kepler_envs.engine.simd import write_difference, write_row
from kepler_envs.games.kitten_adventurers.actions import END_WITH, PLAY_QUEST
from kepler_envs.games.kitten_adventurers.state import (
    HYPERSPEED,
    LADDER_LENGTH,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_LANES,
    NUM_TYPES,
    PLAYER,
    STATE,
    Node,
)

GLOBALS_SIZE = STATE["globals_row"].shape[0]
TABLE_SIZE = STATE["table_row"].shape[0]
ROW_SIZE = PLAYER["public_row"].shape[0]
TABLE_START = GLOBALS_SIZE
HAND_START = TABLE_START + TABLE_SIZE
PLAYERS_START = HAND_START + NUM_TYPES
UNSEEN_START = PLAYERS_START + MAX_PLAYERS * ROW_SIZE
ACTIVE_DISTANCE = (STATE.names or ()).index("active_distance")
"""The one entry of the globals that differs between observers."""

MAX_LIMIT = 30_000  # of turns and plays, by option


def make_observation(tables: Any) -> Layout:
    """The 352 entries; seats are relative, 0 is the observer, then clockwise."""
    cards = int(tables["cards_total"])
    copies = int(tables["card_count"].max())
    most_quests = max(35, int(tables["quest_size"].max()), int(tables["quest_size_later"].max()))
    most_hand = max(7, int(tables["hand_size"].max()))
    bottoms = int(tables["card_count"][0] + tables["card_count"][HYPERSPEED])
    field = "0 none, else 1 + type"
    return Layout(
        [
            piece("phase", CATEGORY, max(Node), "node: 0 PLAY, 1 VALUE, 2 LANE, 3 OVER"),
            piece("num_players", COUNT, MAX_PLAYERS, "players in the game", low=MIN_PLAYERS),
            piece("hand_size", COUNT, most_hand, "cards a hand is refilled to", low=1),
            piece("deck_count", COUNT, cards, "cards in the deck"),
            piece("discard_count", COUNT, cards, "cards in the discard"),
            piece("turns", COUNT, MAX_LIMIT, "turns ended", scale=600),
            piece("plays", COUNT, MAX_LIMIT, "cards played on ladders", scale=1000),
            piece("dead_turns", COUNT, MAX_PLAYERS, "passes without a play in a row"),
            piece("pending_source", CATEGORY, END_WITH, "hyperspeed announced by: 0 none, else 1 + id of the play"),
            piece("pending_card", CATEGORY, NUM_TYPES, f"card announced to end the turn: {field}"),
            piece("active_seat", CATEGORY, MAX_PLAYERS - 1, "relative seat of the active player"),
            piece("played_this_turn", COUNT, MAX_LIMIT, "cards played this turn", scale=24),
            piece("ladders", COUNT, bottoms, "ladders of height 1..12", shape=LADDER_LENGTH - 1),
            piece("discard", COUNT, copies, "cards of each type in the discard", shape=NUM_TYPES),
            piece("on_ladders", COUNT, copies, "cards of each type on ladders", shape=NUM_TYPES),
            piece("own_hand", COUNT, min(copies, most_hand), "cards of each type in the own hand", shape=NUM_TYPES),
            table(
                "players",
                MAX_PLAYERS,
                [
                    piece("present", FLAG, 1, "1 for seats in the game"),
                    piece("quest_count", COUNT, most_quests, "quest cards left"),
                    piece("quest_top", CATEGORY, NUM_TYPES, f"open quest card: {field}"),
                    piece("hand_count", COUNT, most_hand, "cards in hand"),
                    *[
                        part
                        for lane in range(1, NUM_LANES + 1)
                        for part in (
                            piece(f"lane_{lane}_depth", COUNT, cards, f"cards in lane {lane}", scale=10),
                            piece(f"lane_{lane}_top", CATEGORY, NUM_TYPES, f"top card of lane {lane}: {field}"),
                            piece(f"lane_{lane}_second", CATEGORY, NUM_TYPES, "the card below"),
                            piece(f"lane_{lane}_third", CATEGORY, NUM_TYPES, "the third card from the top"),
                        )
                    ],
                    piece("lane_types", COUNT, copies, "cards of each type in all four lanes", shape=NUM_TYPES),
                ],
            ),
            piece("unseen", COUNT, copies, "cards of each type the observer sees nowhere", shape=NUM_TYPES),
        ]
    )


# ---------------------------------------------------------------- observe


@leaf
def observe(s, t, seat, out):
    """Write the observation of ``seat``: rows of the state, with the seats turned to the observer."""
    n = int(s.num_players)
    own_hand = s.player[seat].hand
    write_row(out, 0, s.globals_row)
    distance = int(s.seat) - seat
    out[ACTIVE_DISTANCE] = distance if distance >= 0 else distance + n
    write_row(out, TABLE_START, s.table_row)
    write_row(out, HAND_START, own_hand)
    other = seat
    place = PLAYERS_START
    for _ in range(n):
        write_row(out, place, s.player[other].public_row)
        place += ROW_SIZE
        other += 1
        if other == n:
            other = 0
    for i in range(place, UNSEEN_START):
        out[i] = 0
    write_difference(out, UNSEEN_START, s.unseen, own_hand)


# ---------------------------------------------------------------- resample


@helper
def resample(s, t, seat, generator):
    """Redraw other hands, deck and covered quest cards uniformly from what ``seat`` does not see.

    A card its owner has announced (a hyperspeed card from the hand, the card that ends the turn) stays in that hand.
    The order of the deck is the generator's future, so the generator is replaced as well.
    """
    n = int(s.num_players)
    pool = s.unseen  # counts down to the deck's cards; what is dealt from it stays unseen and is added back
    left = 0
    for card in range(NUM_TYPES):
        pool[card] -= s.player[seat].hand[card]
        left += int(pool[card])
    announced = _announced_card(s) if seat != s.seat else -1
    if announced >= 0:  # set aside before anything is dealt
        pool[announced] -= 1
        left -= 1
    for other in range(n):
        if other != seat:
            left = _redraw_hand(s, other, announced if other == s.seat else -1, pool, left, generator)
    for other in range(n):
        left = _redraw_quest_pile(s, other, pool, left, generator)
    _fill_deck(s, pool)
    for other in range(n):
        _add_unseen_cards(s, other, pool)
    s.rng = fork(generator)


@leaf
def _announced_card(s):
    """The type everybody knows to be in the active player's hand, or -1."""
    if s.pending_card > 0:
        return int(s.pending_card) - 1
    if 0 < s.pending_source <= PLAY_QUEST:
        return HYPERSPEED
    return -1


@leaf
def _redraw_hand(s, other, announced, pool, left, generator):
    player = s.player[other]
    for card in range(NUM_TYPES):
        player.hand[card] = 0
    player.hand_set = 0
    for i in range(int(player.hand_count)):
        card = announced
        if i > 0 or announced < 0:
            card = _draw(pool, left, generator)
            left -= 1
        player.hand[card] += 1
        player.hand_set = int(player.hand_set) | 1 << card
    return left


@leaf
def _redraw_quest_pile(s, other, pool, left, generator):
    first = other * int(s.quest_size)
    for i in range(int(s.player[other].quest_count) - 1):
        s.quest_pile[first + i] = _draw(pool, left, generator)
        left -= 1
    return left


@leaf
def _draw(pool, left, generator):
    """Take a uniform one of the ``left`` cards of the pool (counts per type)."""
    place = below(generator, left)
    card = 0
    while place >= pool[card]:
        place -= int(pool[card])
        card += 1
    pool[card] -= 1
    return card


@leaf
def _fill_deck(s, pool):
    count = 0
    for card in range(NUM_TYPES):
        for _ in range(int(pool[card])):
            s.deck[count] = card
            count += 1


@leaf
def _add_unseen_cards(s, other, pool):
    player = s.player[other]
    for card in range(NUM_TYPES):
        pool[card] += player.hand[card]
    first = other * int(s.quest_size)
    for i in range(int(player.quest_count) - 1):
        pool[s.quest_pile[first + i]] += 1
