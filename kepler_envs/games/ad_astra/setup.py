"""The setup: factions, planets, artifacts, and what everybody starts with.

All of it is drawn, or given by an option (``o`` is the options record).
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import bit, bit_count, lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.rng import below
from kepler_envs.games.ad_astra.rules_board import follow_pawns, gain, launch_starship
from kepler_envs.games.ad_astra.rules_round import start_round
from kepler_envs.games.ad_astra.state import (
    ALIEN,
    COLONY,
    FACTORY,
    FIRST_START,
    NUM_FACTIONS,
    NUM_POSITIONS,
    NUM_RESOURCES,
    NUM_STARS,
    NUM_TYPES,
    RANDOM,
    SLOTS,
    STARSHIP,
    TERRAFORMER,
)
from kepler_envs.games.ad_astra.views import SYSTEM_SET, lay_out


@helper
def setup(s, t, o):
    """Set up factions, planets, artifact deck, what everybody starts with, and the first player."""
    s.num_players = o.num_players
    s.max_rounds = o.max_rounds
    s.max_offers = o.max_offers
    s.max_bank_trades = o.max_bank_trades
    s.shaping = o.shaping
    for resource in range(NUM_RESOURCES):
        s.bank[resource] = t.cards_per_resource
    _choose_factions(s, o)
    if o.planet[FIRST_START] == RANDOM:
        _draw_start_planets(s, t)
        _choose_system_sizes(s, t, o)
        _draw_planets(s, t)
    else:
        _place_given_planets(s, o)
    lay_out(s)
    _shuffle_artifacts(s, o)
    for seat in range(int(o.num_players)):
        _equip(s, t, seat)
    s.first = below(s, int(o.num_players)) if o.first == RANDOM else o.first
    start_round(s, t)


@leaf
def _choose_factions(s, o):
    left = np.uint64((1 << NUM_FACTIONS) - 1)
    for seat in range(int(o.num_players)):
        faction = int(o.faction[seat])
        if faction == RANDOM:
            others = left
            for _ in range(below(s, NUM_FACTIONS - seat)):
                others = without_lowest(others)
            faction = lowest(others)
        s.player[seat].faction = faction
        left &= ~bit(faction)


@leaf
def _draw_start_planets(s, t):
    """Draw start planets. They are never alien (R)."""
    for seat in range(int(s.num_players)):
        _put_planet(s, FIRST_START + seat, _draw_type(s, t, ALIEN))


@leaf
def _choose_system_sizes(s, t, o):
    """Choose the number of planets of each system.

    They are spread evenly, or each system gets the smallest number and the rest go one by one into a random system with
    room.
    """
    n = int(s.num_players)
    left = -n
    for kind in range(NUM_TYPES):
        left += int(t.planet_count[kind])
    for system in range(NUM_STARS):
        size = int(t.even_layout[n, system]) if o.even_layout else int(t.smallest_system)
        left -= size
        for slot in range(size):
            s.planets |= bit(SLOTS * system + slot)
    for _ in range(left):
        with_room = 0
        for system in range(NUM_STARS):
            if _size(s, system) < t.largest_system:
                with_room += 1
        skip = below(s, with_room)
        system = 0
        while skip > 0 or _size(s, system) >= t.largest_system:
            if _size(s, system) < t.largest_system:
                skip -= 1
            system += 1
        s.planets |= bit(SLOTS * system + _size(s, system))


@leaf
def _size(s, system):
    """The number of planets of a system."""
    return bit_count(s.planets & SYSTEM_SET[system])


@leaf
def _draw_planets(s, t):
    """Put a random one of the planets that are left on each place of the eight systems, face down."""
    for position in range(FIRST_START):
        if s.planets & bit(position):
            _put_planet(s, position, _draw_type(s, t, NUM_TYPES))


@leaf
def _draw_type(s, t, kinds):
    """The type of a random planet among those not placed yet, of the first ``kinds`` types."""
    left = 0
    for kind in range(kinds):
        left += int(t.planet_count[kind]) - bit_count(s.of_type[kind])
    place = below(s, left)
    kind = 0
    while True:
        copies = int(t.planet_count[kind]) - bit_count(s.of_type[kind])
        if place < copies:
            return kind
        place -= copies
        kind += 1


@leaf
def _put_planet(s, position, kind):
    s.planets |= bit(position)
    s.of_type[kind] |= bit(position)


@leaf
def _place_given_planets(s, o):
    for position in range(NUM_POSITIONS):
        if o.planet[position] != RANDOM:
            _put_planet(s, position, int(o.planet[position]))


@leaf
def _shuffle_artifacts(s, o):
    count = int(o.artifacts)
    s.deck_count = count
    for place in range(count):
        s.deck[place] = place
    if count > 0 and o.deck[0] != RANDOM:  # given from the top down
        for place in range(count):
            s.deck[count - 1 - place] = o.deck[place]
    else:
        for place in range(count - 1, 0, -1):
            other = below(s, place + 1)
            artifact = int(s.deck[place])
            s.deck[place] = s.deck[other]
            s.deck[other] = artifact


@leaf
def _equip(s, t, seat):
    """Give out pawns, resource cards, a factory on the start planet, and starships in deep space (R)."""
    player = s.player[seat]
    player.present = 1
    player.starships_left = t.pawn[STARSHIP].count
    player.colonies_left = t.pawn[COLONY].count
    player.factories_left = t.pawn[FACTORY].count - 1
    player.terraformers_left = t.pawn[TERRAFORMER].count
    player.factories = bit(FIRST_START + seat)
    for _ in range(int(t.pawn[STARSHIP].start)):
        launch_starship(s, t, seat)
    follow_pawns(s, t, seat, FIRST_START + seat)
    for resource in range(NUM_RESOURCES):
        gain(s, seat, resource, int(t.start_hand[resource]))
