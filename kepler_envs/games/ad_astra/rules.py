"""The rules: setup, legal ids, their application, the result. The cards have their rules in the files rules_<topic>.py beside this one.

``s`` is the state record, ``t`` the component tables, ``o`` the options; R marks what the rulebook states.
Every rule leaves the game at a node with a seat to decide; nodes with a single legal id are applied by the engine.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import bit, bit_count, lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.returns import ahead_of_others, ranks_by, returns_by_rank, scores_of
from kepler_envs.engine.rng import below
from kepler_envs.games.ad_astra import rules_artifacts as artifacts
from kepler_envs.games.ad_astra import rules_building as building
from kepler_envs.games.ad_astra import rules_movement as movement
from kepler_envs.games.ad_astra import rules_round as rounds
from kepler_envs.games.ad_astra import rules_scoring as scoring
from kepler_envs.games.ad_astra import rules_trade as trading
from kepler_envs.games.ad_astra.actions import ARTIFACT
from kepler_envs.games.ad_astra.rules_board import SYSTEM_SET, follow_pawns, gain, launch_starship
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
    Node,
)

PLAN, PRODUCE, MOVE, LAND = int(Node.PLAN), int(Node.PRODUCE), int(Node.MOVE), int(Node.LAND)
BUILD, BUILD_POS, TRADE, BANK_GET = int(Node.BUILD), int(Node.BUILD_POS), int(Node.TRADE), int(Node.BANK_GET)
OFFER_GIVE, OFFER_GET, REPLY = int(Node.OFFER_GIVE), int(Node.OFFER_GET), int(Node.REPLY)
ELEMENT, IDENT, IDENT_COUNT, DIFF = int(Node.ELEMENT), int(Node.IDENT), int(Node.IDENT_COUNT), int(Node.DIFF)
DISCARD, ART_RES = int(Node.DISCARD), int(Node.ART_RES)


# ---------------------------------------------------------------- setup


@helper
def setup(s, t, o):
    """Factions, planets, artifact deck, what everybody starts with, the first player."""
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
    _shuffle_artifacts(s, o)
    for seat in range(int(o.num_players)):
        _equip(s, t, seat)
    s.first = below(s, int(o.num_players)) if o.first == RANDOM else o.first
    rounds.start_round(s, t)


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
    """A start planet is never alien (R)."""
    for seat in range(int(s.num_players)):
        _put_planet(s, FIRST_START + seat, _draw_type(s, t, ALIEN))


@leaf
def _choose_system_sizes(s, t, o):
    """Evenly, or the smallest number everywhere and the rest one by one in a random system with room."""
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
    """Planets of a system."""
    return bit_count(s.planets & SYSTEM_SET[system])


@leaf
def _draw_planets(s, t):
    """A random one of the planets that are left on each place of the eight systems, face down."""
    for position in range(FIRST_START):
        if s.planets & bit(position):
            _put_planet(s, position, _draw_type(s, t, NUM_TYPES))


@leaf
def _draw_type(s, t, kinds):
    """The type of a random one of the planets not placed yet, of the first ``kinds`` types."""
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
    """Pawns, resource cards, a factory on the start planet, starships in deep space (R)."""
    player = s.player[seat]
    player.present = 1
    player.starships_left = t.pawn[STARSHIP].count
    player.colonies_left = t.pawn[COLONY].count
    player.factories_left = t.pawn[FACTORY].count - 1
    player.terraformers_left = t.pawn[TERRAFORMER].count
    player.factories = bit(FIRST_START + seat)
    s.face_up |= bit(FIRST_START + seat)
    for _ in range(int(t.pawn[STARSHIP].start)):
        launch_starship(s, t, seat)
    follow_pawns(s, seat)
    for resource in range(NUM_RESOURCES):
        gain(s, seat, resource, int(t.start_hand[resource]))


# ---------------------------------------------------------------- legal ids


@helper
def legal(s, t, mask):
    """Set the bit of every legal id."""
    node = int(s.node)
    if node == PLAN:
        rounds.legal_placements(s, mask)
        legal_artifacts(s, t, mask)
    elif node == PRODUCE:
        movement.legal_production(s, t, mask)
    elif node == MOVE:
        movement.legal_to_move(s, t, mask)
        legal_artifacts(s, t, mask)
    elif node == LAND:
        movement.legal_to_land(s, mask)
    elif node == BUILD:
        building.legal_to_build(s, t, mask)
        legal_artifacts(s, t, mask)
    elif node == BUILD_POS:
        building.legal_positions(s, t, mask)
    elif node == TRADE:
        trading.legal_to_trade(s, t, mask)
    elif node == BANK_GET:
        trading.legal_from_bank(s, mask)
    elif node == OFFER_GIVE:
        trading.legal_to_offer(s, mask)
    elif node == OFFER_GET:
        trading.legal_to_want(s, mask)
    elif node == REPLY:
        trading.legal_replies(mask)
    elif node == ELEMENT:
        scoring.legal_elements(mask)
    elif node in (IDENT, DIFF):
        scoring.legal_to_discard(s, mask)
        legal_artifacts(s, t, mask)
    elif node == IDENT_COUNT:
        scoring.legal_counts(s, mask)
    elif node == DISCARD:
        rounds.legal_to_drop(s, mask)
    else:
        artifacts.legal_gifts(s, mask)


@leaf
def legal_artifacts(s, t, mask):
    """Few seats hold any."""
    if s.player[s.seat].artifacts != 0:
        artifacts.legal_artifacts(s, t, mask)


# ---------------------------------------------------------------- applying an id


@helper
def apply(s, t, action):
    """Apply a legal id and everything automatic behind it."""
    node = int(s.node)
    if action >= ARTIFACT:
        artifacts.play_artifact(s, t, action - ARTIFACT)
    elif node == PLAN:
        rounds.place_card(s, t, action)
    elif node == PRODUCE:
        movement.produce(s, t, action)
    elif node == MOVE:
        movement.move(s, t, action)
    elif node == LAND:
        movement.land(s, t, action)
    elif node == BUILD:
        building.build(s, t, action)
    elif node == BUILD_POS:
        building.build_at(s, t, action)
    elif node == TRADE:
        trading.trade(s, t, action)
    elif node == BANK_GET:
        trading.take_from_bank(s, t, action)
    elif node == OFFER_GIVE:
        trading.offer(s, action)
    elif node == OFFER_GET:
        trading.want(s, action)
    elif node == REPLY:
        trading.reply(s, action)
    elif node == ELEMENT:
        scoring.choose_element(s, t, action)
    elif node == IDENT:
        scoring.discard_identical(s, t, action)
    elif node == IDENT_COUNT:
        scoring.discard_count(s, t, action)
    elif node == DIFF:
        scoring.discard_different(s, t, action)
    elif node == DISCARD:
        rounds.drop_card(s, t, action)
    else:
        artifacts.take_gift(s, t, action)


# ---------------------------------------------------------------- results


@leaf
def _points(s, t, seat):
    return int(s.player[seat].points)


@leaf
def _points_that_end_the_game(s, t):
    return t.end_points


scores = scores_of(_points)
ranks = ranks_by(_points)
returns = returns_by_rank
potential = ahead_of_others(_points, _points_that_end_the_game)
