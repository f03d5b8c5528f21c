"""What a seat sees, and redrawing what it cannot know."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.rng import below, fork
from kepler_envs.engine.simd import expand_bits, write_row
from kepler_envs.games.kepler_run.observation_derived import write_derived
from kepler_envs.games.kepler_run.observation_layout import (
    BY_BOOSTER,
    BY_PARTS,
    BY_STOP,
    CONTRACT_SIZE,
    CONTRACTS,
    DECIDER,
    DECK,
    FACTS_SIZE,
    GAME,
    KEPLER,
    LOADS,
    NUM_LOADS,
    ORDER,
    PARTS,
    PARTS_OF_A_SEAT,
    PLACE_SIZE,
    PLACES,
    PLAYER_SIZE,
    PLAYERS,
    ROW,
    WAY_SIZE,
    WAYS,
    make_observation,
)
from kepler_envs.games.kepler_run.setup import shuffle_deck
from kepler_envs.games.kepler_run.state import JUMP_PART, MAX_CARDS, MAX_PLAYERS, NUM_TRAITS, PLAYER, SECTOR

__all__ = ["make_observation", "observe", "resample"]

assert SECTOR.fields is not None and PLAYER.fields is not None
DISK, PLACE = int(SECTOR.fields["disk"][1]), int(PLAYER.fields["place"][1])
"""Fields whose numbers are other ones in an observation than in a state: seats seen from the observer, rows of a
table."""


# ---------------------------------------------------------------- observe


@leaf
def observe(s, t, seat, out):
    """Write the observation of ``seat``: rows of the state, with the seats turned to the observer."""
    if out.size > FACTS_SIZE:
        write_derived(s, t, seat, out)
    _write_game(s, seat, out)
    _write_places(s, seat, out)
    write_row(out, ROW, s.card_row)
    _write_ways(s, t, seat, s.player[seat], out)
    _write_players(s, seat, out)
    write_row(out, DECK, s.unseen)


@leaf
def _write_game(s, seat, out):
    n = int(s.num_players)
    write_row(out, GAME, s.game_row)
    out[DECIDER] = 1 + _distance(seat, int(s.seat), n)
    for position in range(n):
        out[ORDER + position] = 1 + _distance(seat, int(s.order[position]), n)
    for position in range(n, MAX_PLAYERS):
        out[ORDER + position] = 0
    chosen = int(s.player[seat].contract) - 1
    for contract in range(NUM_TRAITS):
        owner = int(s.completed_by[contract])
        out[CONTRACTS + CONTRACT_SIZE * contract] = 1 + _distance(seat, owner - 1, n) if owner > 0 else 0
        out[CONTRACTS + CONTRACT_SIZE * contract + 1] = contract == chosen


@leaf
def _write_places(s, seat, out):
    """Write Port, the sectors, Kepler."""
    for i in range(PLACE_SIZE):
        out[PLACES + i] = 0
        out[ROW - PLACE_SIZE + i] = 0
    write_row(out, PLACES + PLACE_SIZE, s.run_row)
    out[PLACES + PLACE_SIZE * (int(s.run_length) + 1)] = KEPLER
    disks = s.disk_set
    while disks:
        index = lowest(disks)
        disks = without_lowest(disks)
        owner = int(s.run[index].disk) - 1
        out[PLACES + PLACE_SIZE * (index + 1) + DISK] = 1 + _distance(seat, owner, int(s.num_players))


@leaf
def _write_ways(s, t, seat, player, out):
    """Write MOVE, BOOSTER, the own parts and STOP, each as a part, and how much can be loaded."""
    out[WAYS] = 0
    out[WAYS + 1] = int(s.leaving_cost) * (seat == s.seat)
    out[WAYS + 2] = 0
    out[WAYS + WAY_SIZE * BY_BOOSTER] = JUMP_PART
    out[WAYS + WAY_SIZE * BY_BOOSTER + 1] = t.booster_dots
    out[WAYS + WAY_SIZE * BY_BOOSTER + 2] = player.booster_used
    write_row(out, WAYS + WAY_SIZE * BY_PARTS, player.parts_row)
    for i in range(WAY_SIZE):
        out[WAYS + WAY_SIZE * BY_STOP + i] = 0
    expand_bits(out, LOADS, np.uint64((2 << int(player.fuel)) - 1), NUM_LOADS)


@leaf
def _write_players(s, seat, out):
    """Write the observer's row first, then the others clockwise, with their parts.

    Everything of absent seats is 0.
    """
    n = int(s.num_players)
    for distance in range(MAX_PLAYERS):
        other = distance
        if distance < n:
            other = seat + distance if seat + distance < n else seat + distance - n
        player = s.player[other]
        row = PLAYERS + PLAYER_SIZE * distance
        write_row(out, row, player.public_row)
        out[row + PLACE] = player.place + player.present
        if distance > 0:
            write_row(out, PARTS + PARTS_OF_A_SEAT * (distance - 1), player.parts_row)


@leaf
def _distance(seat, other, n):
    """The number of seats clockwise from ``seat`` to the other one."""
    distance = other - seat
    return distance if distance >= 0 else distance + n


# ---------------------------------------------------------------- resample


@helper
def resample(s, t, seat, generator):
    """Reshuffle the deck, and redraw the contracts that others have chosen from their hands.

    Everything else lies open. Nothing after setup is random, but the generator is replaced all the same.
    """
    count = 0
    for card in range(MAX_CARDS):
        if s.unseen[card]:
            s.deck[count] = card
            count += 1
    shuffle_deck(s, count, generator)
    for other in range(int(s.num_players)):
        if other != seat and s.player[other].committed:
            s.player[other].contract = _draw_contract(s.player[other], generator) + 1
    s.rng = fork(generator)


@leaf
def _draw_contract(player, generator):
    """A uniformly random one of the contracts in hand."""
    in_hand = 0
    for contract in range(NUM_TRAITS):
        in_hand += int(player.hand[contract])
    skip = below(generator, in_hand)
    for contract in range(NUM_TRAITS):
        if player.hand[contract]:
            if skip == 0:
                return contract
            skip -= 1
    return 0
