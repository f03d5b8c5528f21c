"""Rules of cards, points, fuel and disks, which all parts of a round use."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import bit
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_run.state import NUM_TRAITS, ROW_CARD

NO_CARD = np.zeros(1, ROW_CARD)


@leaf
def deal(s):
    """Take the next card of the deck."""
    left = int(s.deck_count) - 1
    card = int(s.deck[left])
    s.deck[left] = 0
    s.deck_count = left
    s.unseen[card] = 0
    return card


@helper
def append_sector(s, t, card):
    """Add a card as the last sector before Kepler."""
    index = int(s.run_length)
    s.run[index] = t.sector[card]
    s.run_card[index] = card + 1
    s.run_length = index + 1
    if s.run[index].stations > 0:
        s.free_stations |= bit(index)


@leaf
def take_from_row(s, slot):
    """Take a card from its slot, which stays empty. Returns the card's id."""
    card = int(s.row_card[slot]) - 1
    s.row[slot] = NO_CARD[0]
    s.row_card[slot] = 0
    s.row_set = int(s.row_set) & ~(1 << slot)
    return card


@leaf
def score(player, source, points):
    player.vp += points
    player.vp_from[source] += points


@leaf
def add_fuel(player, t, amount):
    """Put fuel onto the ship. What is above the cap is lost (ruling 24)."""
    fuel = int(player.fuel) + amount
    cap = int(t.fuel_cap)
    player.fuel = fuel if fuel < cap else cap


@leaf
def forget_reach(player):
    """Clear how far a flight could go: it begins, or the round is over."""
    player.reach = 0
    for contract in range(NUM_TRAITS):
        player.icons[contract] = 0


@helper
def place_disk(s, player, seat, index):
    player.disks -= 1
    s.run[index].disk = seat + 1
    s.disk_set |= bit(index)
    s.free_stations &= ~bit(index)
