"""The setup (2.4). ``o`` is the record of options."""

from __future__ import annotations

from kepler_envs.engine.bits import lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.rng import below
from kepler_envs.games.kepler_run.rules_cards import append_sector, deal
from kepler_envs.games.kepler_run.rules_draft import begin_round
from kepler_envs.games.kepler_run.state import MAX_PLAYERS, NUM_SHIPS, NUM_TRAITS, RANDOM_FIRST_PLAYER


@helper
def setup(s, t, o):
    """Shuffle, open the run, give out ships and what belongs to them, and choose the first player."""
    n = int(o.num_players)
    s.num_players = n
    s.reward_mode = o.reward_mode
    s.shaping = o.shaping
    _fill_deck(s, t)
    for _ in range(int(t.initial_run)):
        append_sector(s, t, deal(s))
    _give_ships(s, t, n)
    first = int(o.first_player)
    if first == RANDOM_FIRST_PLAYER:
        first = below(s, n)
    for position in range(n):  # clockwise (P)
        seat = (first + position) % n
        s.order[position] = seat
        _give_pieces(s.player[seat], t, position, o.seat_fuel)
    for position in range(n, MAX_PLAYERS):
        s.order[position] = -1
    begin_round(s, t)


@leaf
def _fill_deck(s, t):
    count = int(t.cards_total)
    for card in range(count):
        s.deck[card] = card
        s.unseen[card] = 1
    s.deck_count = count
    shuffle_deck(s, count, s)


@helper
def shuffle_deck(s, count, generator):
    """Shuffle the ``count`` cards of the deck."""
    for last in range(count - 1, 0, -1):
        other = below(generator, last + 1)
        card = int(s.deck[last])
        s.deck[last] = s.deck[other]
        s.deck[other] = card


@helper
def _give_ships(s, t, n):
    """Give out different colours at random."""
    free = (1 << NUM_SHIPS) - 1
    for seat in range(n):
        skipped = free
        for _ in range(below(s, NUM_SHIPS - seat)):
            skipped = int(without_lowest(skipped))
        ship = lowest(skipped)
        free &= ~(1 << ship)
        s.player[seat].ship = ship
        s.player[seat].built_in = t.ship_type[ship] + 1


@leaf
def _give_pieces(player, t, position, seat_fuel):
    player.present = 1
    player.order_position = position
    player.modules = t.start_modules
    player.disks = t.disks
    for contract in range(NUM_TRAITS):
        player.hand[contract] = 1
    if seat_fuel:
        player.fuel = t.seat_fuel[position]
