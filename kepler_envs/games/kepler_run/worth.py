"""What the ends of flights are worth, in hundredths of points.

Conditions are numbers to multiply with where they can be: what happens next in a flight is hard to foretell, for
processors as well.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import bit_count
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_run.observation_layout import MOST_WORTH, PLACE_DERIVED, PLACES_FUEL, PLACES_WORTH, POINT
from kepler_envs.games.kepler_run.state import MAX_PLAYERS, NUM_TRAITS, NUM_TYPES

NEVER = -(1 << 24)  # below all that anything could be worth

# What things are worth, in hundredths of points; a round to come is one after the present one.
FUEL_ON_SHIP, LAST_FUEL = 45, 2  # while there are rounds to come, and at the end
PLACE, TANK = 5, 1  # turn order: for each place flown, for each fuel left over
MODULE, DELIVERY, PART, STATION = 50, 75, 50, 50  # a round to come
CLOSEST_NOW, CLOSEST_LATER = 250, 60
USUAL = [(0, 0), *[(120, 60)] * NUM_TYPES, (250, 100), (350, 100)]
"""Hundredths of fuel that a part of each kind probably saves in a flight, and how much less for each of its dots."""

DOTS = 10  # 0..9
PART_LATER = np.array([PART * max(0, usual - dot * dots) // 100 for usual, dot in USUAL for dots in range(DOTS)])
"""[part field * DOTS + dots]: what a part is worth a round to come."""

CERTAIN = 6**MAX_PLAYERS
CHANCE = np.array([6 ** (MAX_PLAYERS - three - two) * 4**three * 3**two if three + two <= MAX_PLAYERS else 0
                   for three in range(MAX_PLAYERS) for two in range(MAX_PLAYERS)])  # fmt: skip
"""[MAX_PLAYERS * rivals ahead with three contracts in hand + those with two]: that none of them has chosen a contract,
of ``CERTAIN``."""

EACH_BYTE, TOP_BITS = 0x0101010101, 0x8080808080  # a byte for each seat


@leaf
def cut(worth):
    return max(-MOST_WORTH, min(MOST_WORTH, worth))


@leaf
def rounds_to_come(s, t):
    return int(t.rounds) - 1 - int(s.round_index)


@leaf
def fuel_worth_of(rounds):
    return FUEL_ON_SHIP if rounds > 0 else LAST_FUEL


# ---------------------------------------------------------------- worth of an end


@leaf
def load_worth(loaded, fuel_worth):
    """The worth of the fuel from the ship. If the tank suffices, what is left in it is subtracted."""
    return loaded * (fuel_worth if loaded > 0 else TANK)


@leaf
def open_deliveries(player):
    """The number of deliveries that would pay at the first sector of each type, in nibbles."""
    word = 0
    for kind in range(NUM_TYPES):
        word |= int(player.deliveries[kind]) * (1 - int(player.delivered[kind])) << 4 * kind + 4
    return word


@leaf
def stations_for(s, player):
    """The run indices where the player could leave a disk, as bits."""
    return np.int64(s.free_stations) if player.disks > 0 else 0


@leaf
def station_worth(t, rounds):
    """(worth of a disk: its points, its fuel in rounds to come; extra worth as the one closest to Kepler)."""
    return POINT * int(t.station_vp) + STATION * rounds, CLOSEST_LATER if rounds > 0 else CLOSEST_NOW


@leaf
def _each_icon(t, contract, fuel_worth):
    """What an icon of a contract pays to those who do not complete it."""
    return int(t.secondary_vp[contract]) * POINT + int(t.secondary_fuel[contract]) * fuel_worth


@leaf
def _hands(s, seat):
    """(rivals with three contracts in hand, those with two, those with one): the top bits of their bytes."""
    three, two, one = 0, 0, 0
    for other in range(MAX_PLAYERS):  # absent ones hold none; a constant count has no branches
        rival = s.player[other]
        count = int(rival.hand[0]) + int(rival.hand[1]) + int(rival.hand[2])
        top = (128 if other != seat else 0) << 8 * other
        three |= top * (count == 3)
        two |= top * (count == 2)
        one |= top * (count == 1)
    return three, two, one


@leaf
def _icons_of_rivals(s, seat, contract):
    """The icons of each rival who may hold a contract, in bytes.

    A player with fewer icons of it is behind.
    """
    word, position = 0, s.player[seat].order_position
    for other in range(MAX_PLAYERS):
        rival = s.player[other]
        icons = int(rival.icons[contract]) + (rival.order_position < position)
        word |= icons * (rival.hand[contract] & (other != seat)) << 8 * other
    return word


@leaf
def _contract_worth(crossed, each, prize, rivals, three, two, one):
    """The worth of a contract.

    It is the prize (0 if it is gone) if no rival who may hold the same contract crosses more; else what the icons pay.
    """
    ahead = (rivals | TOP_BITS) - (crossed + 1) * EACH_BYTE & TOP_BITS
    chance = CHANCE[MAX_PLAYERS * bit_count(ahead & three) + bit_count(ahead & two)]
    possible = (crossed > 0) & (prize > 0) & ((ahead & one) == 0)
    return crossed * each + (prize - crossed * each) * chance // CERTAIN * possible


@leaf
def _prize(s, t, contract):
    """The prize for completing a contract. It is 0 if somebody has completed it."""
    return int(t.complete_vp[contract]) * POINT * (s.completed_by[contract] == 0)


@leaf
def _kepler_worth(s, t, seat):
    """The first arrival's prize, unless somebody is there or will probably be there before."""
    earlier = int(s.arrivals)
    for other in range(MAX_PLAYERS):  # absent ones reach nothing
        rival = s.player[other]
        earlier += (rival.order_position < s.player[seat].order_position) & (rival.reach > s.run_length)
    return POINT * int(t.first_arrival_vp if earlier == 0 else t.later_arrival_vp)


# ---------------------------------------------------------------- all ends


@leaf
def contract_terms(s, t, seat, fuel_worth, chosen):
    """What the worth of contracts depends on besides the icons crossed.

    ``chosen`` is the contract of the round; below 0 it is any in hand.
    """
    player = s.player[seat]
    three, two, one = _hands(s, seat)
    no_0, no_1, no_2 = _not_allowed(player, chosen, 0), _not_allowed(player, chosen, 1), _not_allowed(player, chosen, 2)
    rivals_0 = _icons_of_rivals(s, seat, 0) if no_0 == 0 else 0
    rivals_1 = _icons_of_rivals(s, seat, 1) if no_1 == 0 else 0
    rivals_2 = _icons_of_rivals(s, seat, 2) if no_2 == 0 else 0
    return (
        three, two, one, rivals_0, rivals_1, rivals_2,
        _prize(s, t, 0), _prize(s, t, 1), _prize(s, t, 2),
        _each_icon(t, 0, fuel_worth), _each_icon(t, 1, fuel_worth), _each_icon(t, 2, fuel_worth),
        no_0, no_1, no_2,
    )  # fmt: skip


@leaf
def _not_allowed(player, chosen, contract):
    """The number to add to the worth of a contract so that one that is not allowed is never chosen."""
    return NEVER * (contract != chosen if chosen >= 0 else 1 - int(player.hand[contract]))


@leaf
def worth_of_contract(terms, contract, crossed, more_of_rivals):
    """The worth of a contract with that many icons crossed. ``more_of_rivals`` is what they cross beyond the present
    run."""
    three, two, one = terms[0], terms[1], terms[2]
    rivals, prize = terms[3 + contract] + more_of_rivals, terms[6 + contract]
    return terms[12 + contract] + _contract_worth(crossed, terms[9 + contract], prize, rivals, three, two, one)


@helper
def write_ends(s, t, seat, player, start, last, tank, ship, flying, deliveries, terms, out):
    """What it is worth to end a flight at each place from ``start`` to ``last``.

    Returns (the best worth, its end, the best with each contract), and at ``last`` (worth gained on the way, open
    deliveries, icons crossed of each contract, its worth with them, the first place of each type in bytes).
    """
    length, rounds = int(s.run_length), rounds_to_come(s, t)
    fuel_worth = fuel_worth_of(rounds)
    stations, disks, own_disk = stations_for(s, player), np.int64(s.disk_set), seat + 1
    station, closest = station_worth(t, rounds)
    visit, delivered = int(t.station_fuel) * fuel_worth, int(t.delivery_vp) * POINT
    gained, met = 0, 0
    crossed_0, crossed_1, crossed_2 = (
        int(player.icons[0]) * flying,
        int(player.icons[1]) * flying,
        int(player.icons[2]) * flying,
    )
    can_0, can_1, can_2 = terms[12] == 0, terms[13] == 0, terms[14] == 0
    with_0 = worth_of_contract(terms, 0, crossed_0, 0) if can_0 else NEVER
    with_1 = worth_of_contract(terms, 1, crossed_1, 0) if can_1 else NEVER
    with_2 = worth_of_contract(terms, 2, crossed_2, 0) if can_2 else NEVER
    best, best_0, best_1, best_2 = NEVER << 8, NEVER, NEVER, NEVER
    for place in range(start, last + 1):
        if start < place <= length:
            sector = s.run[place - 1]
            kind = int(sector.type)
            if (sector.asteroids > 0) & can_0:
                crossed_0 += int(sector.asteroids)
                with_0 = worth_of_contract(terms, 0, crossed_0, 0)
            if (sector.comets > 0) & can_1:
                crossed_1 += int(sector.comets)
                with_1 = worth_of_contract(terms, 1, crossed_1, 0)
            if (sector.stations > 0) & can_2:
                crossed_2 += int(sector.stations)
                with_2 = worth_of_contract(terms, 2, crossed_2, 0)
            gained += (deliveries >> 4 * kind & 15) * delivered + visit * (sector.disk == own_disk)
            deliveries &= ~(15 << 4 * kind)
            met += (place * (met >> 8 * kind & 255 == 0)) << 8 * kind
        fuel = int(out[PLACES_FUEL + PLACE_DERIVED * place]) - 1
        if fuel < 0:
            continue
        worth = gained + PLACE * place
        if place > length:
            worth += _kepler_worth(s, t, seat)
        else:
            worth += (stations << 1 >> place & 1) * (station + closest * (disks >> place == 0))
        out[PLACES_WORTH + PLACE_DERIVED * place] = cut(worth + max(with_0, with_1, with_2))
        if fuel - tank <= ship:
            worth -= load_worth(fuel - tank, fuel_worth)
            best_0, best_1, best_2 = (
                max(best_0, worth + with_0),
                max(best_1, worth + with_1),
                max(best_2, worth + with_2),
            )
            best = max(
                best,
                _ranked(worth + with_0, 0, place),
                _ranked(worth + with_1, 1, place),
                _ranked(worth + with_2, 2, place),
            )
    return (
        best >> 8, 63 - (best & 63), best_0, best_1, best_2,
        gained, deliveries, crossed_0, crossed_1, crossed_2, with_0, with_1, with_2, met,
    )  # fmt: skip


@leaf
def _ranked(worth, contract, place):
    """Numbers in the order of worth. Of equal ones the first contract comes first, then the nearest place."""
    return (worth << 8) + (NUM_TRAITS - 1 - contract << 6) + (63 - place)


@leaf
def best_end(out, column, first, last, tank, ship, fuel_worth):
    """The best worth of an end from ``first`` to ``last``, with 1 + the fuel to each place in a column."""
    best = NEVER
    for place in range(first, last + 1):
        loaded = int(out[column + PLACE_DERIVED * place]) - 1 - tank
        worth = int(out[PLACES_WORTH + PLACE_DERIVED * place]) - load_worth(loaded, fuel_worth)
        counts = (loaded >= -tank) & (loaded <= ship) & (out[PLACES_FUEL + PLACE_DERIVED * place] > 0)
        best = max(best, worth if counts else NEVER)
    return best
