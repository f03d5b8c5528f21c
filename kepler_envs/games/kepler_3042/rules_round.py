"""The course of the game: rounds, turns, and the end of each round.

What a progress card brings is in rules_cards.py.
"""

from __future__ import annotations

from kepler_envs.engine.bits import allow
from kepler_envs.engine.game import RUNNING, TERMINATED
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_3042.actions import DONE
from kepler_envs.games.kepler_3042.rules_board import benefit, extra, lead, rows_in_use, seat_after, seats
from kepler_envs.games.kepler_3042.rules_cards import find_beneficiaries, start_benefit
from kepler_envs.games.kepler_3042.rules_scoring import write_score_sheet
from kepler_envs.games.kepler_3042.state import (
    COLONIAL,
    GHOST,
    MAX_LEVEL,
    NEXT_BENEFICIARY,
    NUM_TECHS,
    NUM_TRACKS,
    QUANTUM_PHYSICS,
    ROUNDS,
    TECHNOLOGICAL,
    Node,
    Phase,
)


@leaf
def legal(mask):
    """Allow the end of a turn. It is the only node here."""
    allow(mask, DONE)


@leaf
def apply(s, t):
    """End the turn."""
    end_turn(s, t)


@leaf
def goes_on(s, t):
    """Go to the next seat that the progress card is for. Returns False once the game is over."""
    _next_beneficiary(s, t)
    return s.end == RUNNING


# ---------------------------------------------------------------- phases 1 and 2


@helper
def start_round(s, t):
    """Open the next card. The ghost advances (R)."""
    s.round_number += 1
    if s.num_players == 1:
        _advance_ghost(s, t)
    s.phase = Phase.TURNS
    s.turn_index = 0
    _start_turn(s, t)


@helper
def _advance_ghost(s, t):
    """Advance the ghost a space on both tracks, and in some rounds a level of all technologies (R)."""
    lead(s, t, GHOST, COLONIAL, 1)
    lead(s, t, GHOST, TECHNOLOGICAL, 1)
    if t.ghost_advances[s.round_number]:
        ghost = s.player[GHOST]
        for tech in range(NUM_TECHS):
            ghost.tech[tech] = min(MAX_LEVEL, ghost.tech[tech] + 1)


@leaf
def _start_turn(s, t):
    s.active = seat_after(s, s.first, s.turn_index)
    player = s.player[s.active]
    s.conversions = benefit(t, player, QUANTUM_PHYSICS)
    s.allocations = extra(t, player, QUANTUM_PHYSICS)
    s.flow = Node.MAIN_ACTION


@helper
def end_turn(s, t):
    s.conversions = 0
    s.allocations = 0
    s.bonus_used = 0
    s.second_free = 0
    s.turn_index += 1
    if s.turn_index < s.num_players:
        _start_turn(s, t)
    else:
        _start_cleanup(s, t)


# -------------------------------------------------------- phase 3: the progress card, medals, the end of the round


@leaf
def _start_cleanup(s, t):
    """Fix who benefits before the first one does (R)."""
    s.phase = Phase.CLEANUP
    s.beneficiaries = find_beneficiaries(s, t)
    s.flow = NEXT_BENEFICIARY


@helper
def _next_beneficiary(s, t):
    """Go to the next seat in turn order that the card is for.

    After the last one the round ends.
    """
    if s.beneficiaries == 0:
        _hand_out_medals(s)
        _end_round(s, t)
        return
    seat = s.first
    while not s.beneficiaries >> seat & 1:
        seat = seat_after(s, seat, 1)
    s.beneficiaries &= ~(1 << seat)
    s.active = seat
    s.left = 0
    s.technology = 0
    start_benefit(s, t, seat)


@leaf
def _hand_out_medals(s):
    """Give the card's medals of a track's colour to whoever is furthest on it.

    If several are, all of them get medals (R).
    """
    rows = rows_in_use(s)
    for track in range(NUM_TRACKS):
        furthest = 0
        for row in range(rows):
            furthest = max(furthest, s.player[row].track[track])
        for row in range(rows):
            if s.player[row].track[track] == furthest:
                s.player[row].medals[track] += s.card_medals[track]
        s.card_medals[track] = 0


@leaf
def _end_round(s, t):
    """Pass the first player's marker to the right (R). After the last round the game is over."""
    if s.round_number < ROUNDS:
        s.first = seat_after(s, s.first, s.num_players - 1)
        start_round(s, t)
        return
    s.phase = Phase.OVER
    s.turn_index = 0
    s.active = 0
    s.flow = Node.OVER
    s.end = TERMINATED
    for seat in seats(s):
        write_score_sheet(s, t, seat)
