"""What a player reads off the table at a glance: the derived fields of an observation."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import bit_count, has, lowest, without_lowest
from kepler_envs.engine.game import RUNNING
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.simd import expand_bits, write_row
from kepler_envs.games.ad_astra.actions import DESTINATIONS, TO_DEEP
from kepler_envs.games.ad_astra.components import BETWEEN_SYSTEMS, COUPLE
from kepler_envs.games.ad_astra.observation_layout import (
    BEST_CARD,
    BEST_POSITION,
    BEST_STARSHIP,
    BEST_SYSTEM,
    CAN_TRAVEL,
    CARD_WORTH,
    CHOICE_WORTH,
    CHOICES,
    COUPLES,
    ELEMENT_ON_CARD,
    ELEMENT_WORTH,
    EMPTY_SPACES,
    END_POINTS,
    ENOUGH,
    FACE_DOWN_IN,
    FACE_DOWN_LEFT,
    FIRST_EMPTY,
    HAND,
    HELD,
    HELD_WITHOUT,
    ITEM_WORTH,
    KEPT,
    KEPT_SIZE,
    KNOWN,
    LAST_EMPTY,
    LATE_EMPTY,
    LEAD,
    LEAST_HELD,
    MISSING,
    MOST_CARDS,
    MOST_DIFFERENT,
    MOST_HELD,
    MOST_IDENTICAL,
    MOST_WORTH,
    NEW_SYSTEMS,
    OFFER_BALANCE,
    OFFER_GAIN,
    OUTPUT,
    PARTNER_HAND,
    PLACED,
    PLACES,
    POSITION_WORTH,
    PRESENT,
    PRESENT_IN,
    RARE,
    RESOURCE_ON_CARD,
    RESOURCE_WORTH,
    SCARCE_WORTH,
    SIZE,
    SPACE_OF,
    SPARE,
    STAR_BITS,
    STARSHIP_MOVE,
    SYSTEM_OF_STARSHIP,
    SYSTEM_ROWS,
    SYSTEM_WORTH,
    UNSEEN,
    UNSEEN_ALIENS,
)
from kepler_envs.games.ad_astra.rules_building import building_places
from kepler_envs.games.ad_astra.rules_movement import landing_places, legal_moves
from kepler_envs.games.ad_astra.state import (
    ALIEN,
    ALL_CARDS,
    BUILD_CARD,
    CARDS_OF_A_KIND,
    DEEP_SPACE,
    DIFFERENT,
    FIRST_MOVEMENT,
    FIRST_ORE,
    FIRST_SCORING,
    IDENTICAL,
    ITEM_FACTORY,
    ITEM_STARSHIP,
    ITEM_TERRAFORMER,
    MAX_PAWNS,
    MAX_PLAYERS,
    NUM_CARDS,
    NUM_ELEMENTS,
    NUM_ITEMS,
    NUM_RESOURCES,
    NUM_STARS,
    RESERVE,
    SCORING_CARDS,
    SLOTS,
    TRADE_CARD,
    Node,
)
from kepler_envs.games.ad_astra.views import (
    NOTHING,
    face_down,
    position_of,
    rows_of,
    seat_in_row,
)

PLAN, PRODUCE, MOVE, LAND = int(Node.PLAN), int(Node.PRODUCE), int(Node.MOVE), int(Node.LAND)
BUILD, BUILD_POS, TRADE, BANK_GET = int(Node.BUILD), int(Node.BUILD_POS), int(Node.TRADE), int(Node.BANK_GET)
ELEMENT, IDENT, DISCARD, ART_RES = int(Node.ELEMENT), int(Node.IDENT), int(Node.DISCARD), int(Node.ART_RES)

NEVER = -MOST_WORTH

# What a card, a move, a planet and an item are worth at a glance, in points or so.
PART_BITS = 16
PART_OF_OTHERS = np.array([0, 0, 0, *(-(-(1 << PART_BITS) // others) for others in range(2, MAX_PLAYERS))], np.int64)
"""For each number of players: ``total * this >> PART_BITS`` is the total of the others by their number."""

OWN_OUTPUT = 5  # against each card of the others
SAME_KIND = 8  # less for each own card of the kind that is placed already
SAME_SCORING = 14
SCORING, BUILDING_HAND, TRADING_HAND = 12, 2, 5
STARSHIP_IN_DEEP_SPACE, STARSHIP_WITH_FUEL = 7, 4
OUT_OF_DEEP_SPACE, NEW_SYSTEM = 10, 3
ALIEN_UP, ALIEN_DOWN, PLANET, PER_OUTPUT, TERRAFORMABLE, FUEL, OWN_PAWNS = 9, 14, 10, 3, 2, 3, 8
TERRAFORMER_WORTH, FACTORY_ON_ALIEN, FACTORY_WORTH, COLONY_ON_ALIEN, COLONY_WORTH, STARSHIP_WORTH = (
    100,
    90,
    30,
    80,
    50,
    60,
)


@helper
def derive(s, t, seat, out):
    """Write all derived fields; the facts are there already."""
    _derive_at_any_time(s, t, seat, out)
    for i in range(RARE, SIZE):
        out[i] = 0
    _derive_card_in_play(s, t, out)
    if s.end == RUNNING and s.seat == seat:
        _derive_for_decision(s, t, seat, out)


# ---------------------------------------------------------------- at any time


@leaf
def _derive_at_any_time(s, t, seat, out):
    """Write what the whole table shows."""
    player = s.player[seat]
    out[END_POINTS] = t.end_points
    out[FACE_DOWN_LEFT] = bit_count(face_down(s))
    out[UNSEEN_ALIENS] = player.unseen[ALIEN]
    out[CAN_TRAVEL] = player.hand[t.fuel] >= t.move_cost[BETWEEN_SYSTEMS]
    out[MOST_IDENTICAL] = min(int(player.elements[IDENTICAL]), ENOUGH)
    out[MOST_DIFFERENT] = player.elements[DIFFERENT]
    _derive_players(s, seat, out)
    write_row(out, HAND, player.hand)
    write_row(out, UNSEEN, player.unseen)  # one entry more, which the next lines write
    for resource in range(NUM_RESOURCES):
        out[HELD + resource] = min(int(player.hand[resource]), ENOUGH)
    write_row(out, SPACE_OF, player.space_of)
    write_row(out, COUPLES, t.faction[player.faction].couples)
    _derive_starships(player, out)
    expand_bits(out, PRESENT, np.uint64(int(player.present_in) & STAR_BITS), SYSTEM_ROWS)
    expand_bits(out, KNOWN, np.uint64(player.looked_at), SYSTEM_ROWS)
    write_row(out, FACE_DOWN_IN, s.face_down_in)


@leaf
def _derive_players(s, seat, out):
    for distance in range(MAX_PLAYERS):
        first = KEPT + KEPT_SIZE * distance
        player = s.player[seat_in_row(s, seat, distance)]
        write_row(out, first, player.kept_row)
        expand_bits(out, first + PRESENT_IN, np.uint64(player.present_in), NUM_STARS)


@leaf
def _derive_starships(player, out):
    held = player.colonies | player.factories | player.terraformers
    for ship in range(MAX_PAWNS):
        place = int(player.ship[ship])
        on_planet = place != RESERVE and place != DEEP_SPACE
        out[SYSTEM_OF_STARSHIP + ship] = (place - 1) // SLOTS + 1 if on_planet else 0
        out[HELD_WITHOUT + ship] = has(held, (place - 1) & 63) if on_planet else 0


@leaf
def _derive_card_in_play(s, t, out):
    """Write what the card being resolved is about, and what the next one may be put on.

    The entries that are written are 0 before.
    """
    slot = int(s.slot) - 1
    offered = 0
    if 0 <= slot < FIRST_MOVEMENT:
        offered = int(t.faction[s.player[s.owner].faction].production[slot])
    expand_bits(out, RESOURCE_ON_CARD, np.uint64(offered), NUM_RESOURCES)
    if slot >= FIRST_SCORING:
        for choice in range(2):
            out[ELEMENT_ON_CARD + int(t.element[slot - FIRST_SCORING, choice])] = 1
    elif s.partner > 0:
        write_row(out, PARTNER_HAND, s.player[s.partner - 1].hand)
        if s.get_count > 0:
            _derive_offer(s, out)
    elif s.empty_spaces != 0:
        _derive_empty_spaces(s, out)


@leaf
def _derive_empty_spaces(s, out):
    left = int(s.empty_spaces)
    out[EMPTY_SPACES] = bit_count(np.uint64(left))
    out[FIRST_EMPTY] = lowest(np.uint64(left)) + 1
    out[LAST_EMPTY] = _highest(left) + 1
    for _ in range(int(s.num_players)):
        without = left & ~(1 << _highest(left))
        left = without if without != 0 else left
    out[LATE_EMPTY] = _highest(left) + 1


@leaf
def _highest(spaces):
    """The last space of a set that is not empty."""
    spaces |= spaces >> 1
    spaces |= spaces >> 2
    spaces |= spaces >> 4
    spaces |= spaces >> 8
    return bit_count(np.uint64(spaces)) - 1


@leaf
def _derive_offer(s, out):
    """Write what the partner gains by the offer on the table."""
    hand = s.player[s.partner - 1].hand
    out[OFFER_GAIN] = int(s.give_count) - int(s.get_count)
    out[OFFER_BALANCE] = int(hand[int(s.get_type) - 1]) - int(hand[int(s.give_type) - 1])


# ---------------------------------------------------------------- what counts for the decision of the observer


@helper
def _derive_for_decision(s, t, seat, out):
    node = int(s.node)
    if node == PLAN:
        _derive_production(s, out)
        _derive_elements(s, t, out)
        _derive_cards(s, t, seat, out)
    elif node == PRODUCE:
        _derive_production(s, out)
    elif node == MOVE:
        _derive_moves(s, t, out)
    elif node in (LAND, BUILD_POS):
        _derive_positions(s, t, seat, out)
    elif node == BUILD:
        _derive_items(s, t, seat, out)
    elif node == TRADE:
        _derive_bank_trade(s, seat, out)
    elif node in (BANK_GET, ART_RES):
        _derive_least_held(s, seat, out)
    elif node == ELEMENT:
        _derive_elements(s, t, out)
        for choice in range(2):
            out[CHOICE_WORTH + choice] = out[ELEMENT_WORTH + int(out[CHOICES + choice]) - 1]
    elif node in (IDENT, DISCARD):
        _derive_most_held(s, seat, out)


@helper
def _derive_production(s, out):
    """Write what everybody would get of each resource. The outputs of all are there already, 0 for absent seats."""
    for resource in range(NUM_RESOURCES):
        stock = int(s.bank[resource])
        own = min(int(out[KEPT + resource]), stock)
        worth = OWN_OUTPUT * own
        for other in range(1, MAX_PLAYERS):
            worth -= min(int(out[KEPT + KEPT_SIZE * other + resource]), stock)
        out[OUTPUT + resource] = own
        out[RESOURCE_WORTH + resource] = worth
        out[SCARCE_WORTH + resource] = worth - int(out[HAND + resource])


@helper
def _derive_elements(s, t, out):
    """Write how far ahead the observer is by each element.

    The points of all are there already, 0 for absent seats.
    """
    bonus, share = int(t.bonus), PART_OF_OTHERS[s.num_players]
    first = KEPT + NUM_RESOURCES
    for element in range(NUM_ELEMENTS):
        own = int(out[first + element])
        most, total = 0, 0
        for other in range(1, MAX_PLAYERS):
            points = int(out[first + KEPT_SIZE * other + element])
            total += points
            most = max(most, points)
        worth = 2 * own - most - (total * share >> PART_BITS) + 2 * bonus * (own > most) - bonus * (own < most)
        out[LEAD + element] = own - most
        out[ELEMENT_WORTH + element] = worth >> 1


@leaf
def _derive_cards(s, t, seat, out):
    """Write what each card in hand promises this round, in points. Production and elements are there already."""
    player = s.player[seat]
    cards = int(player.cards)
    aside = 0
    for card in range(CARDS_OF_A_KIND):
        aside |= int(player.set_aside[card]) << FIRST_SCORING + card
    placed = ALL_CARDS & ~cards & ~aside
    starships = 0
    with_fuel = STARSHIP_WITH_FUEL * int(out[CAN_TRAVEL])
    for ship in range(MAX_PAWNS):
        place = int(player.ship[ship])
        starships += STARSHIP_IN_DEEP_SPACE if place == DEEP_SPACE else with_fuel if place != RESERVE else 0
    producing = bit_count(np.uint64(placed & (1 << FIRST_MOVEMENT) - 1))
    moving = bit_count(np.uint64(placed >> FIRST_MOVEMENT & (1 << CARDS_OF_A_KIND) - 1))
    scoring = bit_count(np.uint64(placed & SCORING_CARDS))
    for card in range(CARDS_OF_A_KIND):
        worth = 0
        for place in range(COUPLE):
            worth = max(worth, int(out[RESOURCE_WORTH + int(out[COUPLES + COUPLE * card + place]) - 1]))
        out[PLACED + card] = producing
        out[CARD_WORTH + card] = worth - SAME_KIND * producing
        systems = int(t.faction[player.faction].movement[card]) & ~int(player.present_in)
        new = bit_count(np.uint64(systems))
        out[PLACED + FIRST_MOVEMENT + card] = moving
        out[NEW_SYSTEMS + FIRST_MOVEMENT + card] = new
        out[CARD_WORTH + FIRST_MOVEMENT + card] = starships + new - SAME_KIND * moving
        worth = NEVER
        for choice in range(2):
            worth = max(worth, int(out[ELEMENT_WORTH + int(t.element[card, choice])]))
        out[PLACED + FIRST_SCORING + card] = scoring
        out[CARD_WORTH + FIRST_SCORING + card] = SCORING + 2 * worth - SAME_SCORING * scoring
    out[CARD_WORTH + BUILD_CARD] = BUILDING_HAND * int(player.hand_total)
    out[CARD_WORTH + TRADE_CARD] = int(player.hand_total) - TRADING_HAND
    best, best_worth = 0, NEVER
    for card in range(NUM_CARDS):
        held = cards >> card & 1
        worth = int(out[CARD_WORTH + card]) * held
        out[CARD_WORTH + card] = worth
        better = held != 0 and worth > best_worth
        best = card + 1 if better else best
        best_worth = worth if better else best_worth
    out[BEST_CARD] = best


@leaf
def _derive_moves(s, t, out):
    """Write what moves are worth.

    Leaving deep space is free and good. A planet is left for a new system when something else holds it.
    """
    for system in range(NUM_STARS):
        out[SYSTEM_WORTH + system] = NEW_SYSTEM * (1 - int(out[PRESENT + system])) + int(out[FACE_DOWN_IN + system])
    moves = legal_moves(s, t, s.gate != 0)
    best_worth = NEVER if s.gate else 0
    for ship in range(MAX_PAWNS):
        left = moves >> np.uint64(DESTINATIONS * ship) & np.uint64((1 << TO_DEEP) - 1)
        most = NEVER if left != NOTHING else 0
        while left != NOTHING:
            system = lowest(left)
            left = without_lowest(left)
            worth = _move_worth(ship, system, out)
            most = max(most, worth)
            if worth > best_worth:
                best_worth = worth
                out[BEST_STARSHIP] = ship + 1
                out[BEST_SYSTEM] = system + 1
        out[STARSHIP_MOVE + ship] = most


@leaf
def _move_worth(ship, system, out):
    start = int(out[SYSTEM_OF_STARSHIP + ship])
    if start == 0:
        return OUT_OF_DEEP_SPACE + int(out[SYSTEM_WORTH + system])
    if start == system + 1 or out[HELD_WITHOUT + ship] == 0:
        return -1
    return NEW_SYSTEM * int(out[PRESENT + system] == 0)


@leaf
def _derive_positions(s, t, seat, out):
    """Prefer an alien planet, else the type produced least so far. Unknown planets are in between."""
    if s.node == LAND:
        place = int(s.player[seat].ship[int(s.chosen_ship) - 1])
        left = landing_places(s, seat, place, int(s.chosen_system) - 1)
    else:
        left = rows_of(s, seat, building_places(s, t, seat, int(s.chosen_item) - 1))
    best_worth = NEVER
    while left != NOTHING:
        row = lowest(left)
        left = without_lowest(left)
        worth = _position_worth(s, t, seat, row)
        out[POSITION_WORTH + row] = worth
        if worth > best_worth:
            best_worth = worth
            out[BEST_POSITION] = row + 1


@leaf
def _position_worth(s, t, seat, row):
    player = s.player[seat]
    position = position_of(s, seat, row)
    kind = int(player.type_at[row]) - 1
    worth = 0
    if kind == ALIEN:
        worth = ALIEN_UP if has(s.face_up, position) else ALIEN_DOWN
    elif kind >= 0:
        worth = PLANET - PER_OUTPUT * int(player.output[kind]) + TERRAFORMABLE * int(t.terraformable[kind])
        worth -= FUEL * (kind == t.fuel)
    if has(player.pawns, position):
        worth -= OWN_PAWNS
    return worth


@leaf
def _derive_items(s, t, seat, out):
    """Write what items are worth, in points now and later. The ore of choice is the one held most."""
    player = s.player[seat]
    alien = s.of_type[ALIEN] & s.face_up
    for item in range(NUM_ITEMS):
        if item >= ITEM_STARSHIP:
            out[PLACES + item] = player.starships_left
            out[ITEM_WORTH + item] = STARSHIP_WORTH + int(player.hand[FIRST_ORE + item - ITEM_STARSHIP])
        else:
            places = building_places(s, t, seat, item)
            out[PLACES + item] = bit_count(places)
            out[ITEM_WORTH + item] = _item_worth(player, item, places & alien)


@leaf
def _item_worth(player, item, on_aliens):
    if item == ITEM_TERRAFORMER:
        return TERRAFORMER_WORTH
    if item == ITEM_FACTORY:
        return FACTORY_ON_ALIEN if on_aliens else FACTORY_WORTH
    return (COLONY_ON_ALIEN if on_aliens else COLONY_WORTH) + int(player.hand[FIRST_ORE + item])


@leaf
def _derive_bank_trade(s, seat, out):
    hand = s.player[seat].hand
    for resource in range(NUM_RESOURCES):
        out[MISSING] += hand[resource] == 0 and s.bank[resource] > 0
        if hand[resource] >= ENOUGH and out[SPARE] == 0:
            out[SPARE] = resource + 1


@leaf
def _derive_least_held(s, seat, out):
    fewest = MOST_CARDS + 1
    for resource in range(NUM_RESOURCES):
        held = int(s.player[seat].hand[resource])
        if held < fewest and s.bank[resource] > 0 and resource + 1 != s.give_type:
            fewest = held
            out[LEAST_HELD] = resource + 1


@leaf
def _derive_most_held(s, seat, out):
    most = 0
    for resource in range(NUM_RESOURCES):
        held = int(s.player[seat].hand[resource])
        if held > most:
            most = held
            out[MOST_HELD] = resource + 1
