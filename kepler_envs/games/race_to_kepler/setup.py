"""The setup: decks, supply, and the city that each player chooses. ``o`` is the record of options."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow_word, bit, bit_count, lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.rng import below
from kepler_envs.games.race_to_kepler.actions import CITY as CITY_ID
from kepler_envs.games.race_to_kepler.rules_cards import count_card, draw_hand, look_ahead, refill_supply
from kepler_envs.games.race_to_kepler.rules_turn import begin_turn
from kepler_envs.games.race_to_kepler.state import (
    FIRST_CREW,
    FIRST_TITAN,
    GOLD,
    IRON,
    MAFIA,
    NUM_TITANS,
    NUM_TOKENS,
    Node,
)

CITY = int(Node.CITY)


@helper
def setup(s, t, o):
    """Set up decks, supply, tokens and the cities each player chooses from. Hands are drawn once all have chosen."""
    s.num_players = o.num_players
    s.max_rounds = o.max_rounds
    s.reward_mode = o.reward_mode
    s.shaping = o.shaping
    _fill_decks(s, t)
    refill_supply(s, t)
    for token in range(NUM_TOKENS):
        s.token[token] = 1
    left = np.uint64(t.cities)
    for seat in range(int(o.num_players)):
        _equip(s, t, seat)
        look_ahead(s, t, s.player[seat])
        dealt = draw_cities(s, left, int(t.cities_dealt))
        s.player[seat].offers = dealt
        left &= ~dealt
    s.node = CITY


@leaf
def _fill_decks(s, t):
    s.gold_pile = int(t.card[GOLD].copies) - int(t.start_gold) * int(s.num_players)
    for kind in range(FIRST_CREW, FIRST_TITAN):
        s.crew_deck[kind] = t.card[kind].copies
        s.crew_deck_size += t.card[kind].copies
    for titan in range(NUM_TITANS):
        s.titan_deck[titan] = t.card[FIRST_TITAN + titan].copies
        s.titan_deck_size += t.card[FIRST_TITAN + titan].copies


@leaf
def _equip(s, t, seat):
    """Give out the first deck. Iron and Mafia that nobody gets leave the game (R)."""
    player = s.player[seat]
    player.present = 1
    player.deck[IRON] = t.start_iron
    player.deck[GOLD] = t.start_gold
    player.deck[MAFIA] = t.start_mafia
    for kind in range(FIRST_CREW):
        player.concealed[kind] = player.deck[kind]
        player.deck_size += player.deck[kind]
        for _ in range(int(player.deck[kind])):
            count_card(t, player, kind, 1)


@helper
def draw_cities(generator, cities, count):
    """``count`` random members of a set of at least that many cities, as a set."""
    drawn = np.uint64(0)
    for _ in range(count):
        others = cities & ~drawn
        for _ in range(below(generator, bit_count(others))):
            others = without_lowest(others)
        drawn |= bit(lowest(others))
    return drawn


# ---------------------------------------------------------------- the choice of a city


@leaf
def legal_cities(s, mask):
    allow_word(mask, CITY_ID, np.uint64(s.player[s.seat].offers))


@helper
def choose_city(s, t, city):
    """Keep a city, hidden until all have chosen. Then hands are drawn and a random player begins."""
    n = int(s.num_players)
    s.player[s.seat].city = city + 1
    s.chosen += 1
    if s.chosen < n:
        s.seat += 1
        return
    for seat in range(n):
        player = s.player[seat]
        player.offers = 0
        player.open_city = player.city
    s.first = below(s, n)
    for seat in range(n):
        draw_hand(s, t, s.player[seat])
    begin_turn(s, t, np.int64(s.first))
