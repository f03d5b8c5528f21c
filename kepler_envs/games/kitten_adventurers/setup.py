"""The setup (2). ``o`` is the record of options."""

from __future__ import annotations

from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.rng import below
from kepler_envs.games.kitten_adventurers.rules_cards import note_quest_missing, open_quest_card, refill, take_from_deck
from kepler_envs.games.kitten_adventurers.state import LADDER_LENGTH, MAX_LADDERS, NUM_TYPES, RANDOM_FIRST_PLAYER

ALL_SLOTS = (1 << MAX_LADDERS) - 1


@helper
def setup(s, t, o):
    """Shuffle, deal quest piles and then hands, and choose the first player."""
    s.num_players = o.num_players
    s.hand_size = o.hand_size
    s.quest_size = o.quest_size
    s.reward_mode = o.reward_mode
    s.max_turns = o.max_turns
    s.max_plays = o.max_plays
    s.shaping = o.shaping
    s.fits = 1
    for value in range(LADDER_LENGTH):
        s.missing[value] = value
    s.slots_at[0] = ALL_SLOTS
    s.deck_count = t.cards_total
    for i in range(t.deck.size):
        s.deck[i] = t.deck[i]
    for card in range(NUM_TYPES):
        s.unseen[card] = t.card_count[card]
    for seat in range(int(o.num_players)):
        _deal_quest_pile(s, seat)
    note_quest_missing(s)
    for seat in range(int(o.num_players)):
        refill(s, seat)
    if o.first_player == RANDOM_FIRST_PLAYER:
        s.seat = below(s, int(o.num_players))
    else:
        s.seat = o.first_player


@leaf
def _deal_quest_pile(s, seat):
    player = s.player[seat]
    size = int(s.quest_size)
    count = int(s.deck_count)
    for i in range(size):
        s.quest_pile[seat * size + i] = take_from_deck(s, count)
        count -= 1
    s.deck_count = count
    player.present = 1
    player.quest_count = size
    open_quest_card(s, seat)
