"""Rules of the end of a round and of the game: contracts, the new order, cleanup, stations (3.7, 3.8)."""

from __future__ import annotations

from kepler_envs.engine.game import TERMINATED
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_run.rules_cards import add_fuel, forget_reach, score
from kepler_envs.games.kepler_run.rules_draft import begin_round
from kepler_envs.games.kepler_run.state import (
    BY_CLOSEST,
    BY_COMPLETE,
    BY_SECONDARY,
    BY_STATIONS,
    NUM_TYPES,
    Node,
)

OVER = int(Node.OVER)


@helper
def end_round(s, t):
    n = int(s.num_players)
    for position in range(n):
        _score_contract(s, t, int(s.order[position]))
    _find_new_order(s, n)
    for seat in range(n):
        _clean_up(s.player[seat])
    s.arrivals = 0
    s.committed_count = 0
    if s.round_index + 1 < t.rounds:
        s.round_index += 1
        begin_round(s, t)
    else:
        _score_stations(s, t)
        s.node = OVER
        s.end = TERMINATED
    for seat in range(n):
        s.player[seat].vp_paid = s.player[seat].vp


@helper
def _score_contract(s, t, seat):
    """Score the contract of one seat.

    Seats score in turn order, so that the earlier of equal players completes it (R).
    """
    player = s.player[seat]
    contract = int(player.contract) - 1
    crossed = int(player.icons[contract])
    if s.completed_by[contract] == 0 and crossed > 0 and _crossed_most(s, player, contract):
        s.completed_by[contract] = seat + 1
        player.hand[contract] = 0
        score(player, BY_COMPLETE, t.complete_vp[contract])
    else:
        score(player, BY_SECONDARY, crossed * int(t.secondary_vp[contract]))
        add_fuel(player, t, crossed * int(t.secondary_fuel[contract]))


@leaf
def _crossed_most(s, player, contract):
    """Whether nobody who revealed the same contract crossed more of its icons (ruling 19)."""
    for other in range(int(s.num_players)):
        if s.player[other].contract == player.contract and s.player[other].icons[contract] > player.icons[contract]:
            return False
    return True


@helper
def _find_new_order(s, n):
    """Find the new turn order.

    Closest to Kepler comes first, then more fuel left in the tank (R), then the old order (ruling 30).
    """
    for position in range(1, n):
        seat = int(s.order[position])
        place = position
        while place > 0 and _is_ahead(s.player[seat], s.player[s.order[place - 1]]):
            s.order[place] = s.order[place - 1]
            place -= 1
        s.order[place] = seat
    for position in range(n):
        s.player[s.order[position]].order_position = position


@leaf
def _is_ahead(player, other):
    return player.place > other.place or (player.place == other.place and player.tank > other.tank)


@helper
def _clean_up(player):
    player.revealed = player.contract
    player.contract = 0
    forget_reach(player)
    player.committed = 0
    player.flown = 0
    player.place = 0
    player.tank = 0
    player.booster_used = 0
    for slot in range(int(player.part_count)):
        player.parts[slot].used = 0
    for kind in range(NUM_TYPES):
        player.delivered[kind] = 0


@helper
def _score_stations(s, t):
    """Score each own station, and one prize for the station closest to Kepler (R)."""
    closest = -1
    for index in range(int(s.run_length)):
        if s.run[index].disk > 0:
            closest = int(s.run[index].disk) - 1
            score(s.player[closest], BY_STATIONS, t.station_vp)
    if closest >= 0:
        score(s.player[closest], BY_CLOSEST, t.closest_station_vp)
