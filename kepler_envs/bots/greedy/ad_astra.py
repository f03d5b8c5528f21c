"""Greedy play of Ad Astra.

A round is planned around one scoring card, played as late as possible. The seat picks the card whose better element
puts it furthest ahead. It plays production cards as early as possible and building cards in between. It plays a
movement card when a starship has somewhere to go.

Starships go where the seat has no pawn yet. They leave a planet only if a colony, factory or terraformer holds it. The
seat builds what scores at once first: terraformers, then colonies and factories on alien planets, then starships, other
colonies and other factories. It discards cards for points when it has enough of them. It accepts a trade that brings
more cards than it costs, or as many of a scarcer type. It plays an artifact as soon as it can.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allowed, bit_count, has, lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.ad_astra.actions import (
    ACCEPT,
    ARTIFACT,
    AT,
    BANK,
    CHOOSE,
    COUNT,
    DESTINATIONS,
    GO,
    ITEM,
    PASS,
    PLACE,
    SMALLEST_DISCARD,
    SUBSET,
    SUBSETS,
    TAKE,
)
from kepler_envs.games.ad_astra.components import BETWEEN_SYSTEMS
from kepler_envs.games.ad_astra.rules_board import system_of
from kepler_envs.games.ad_astra.state import (
    ALIEN,
    BUILD_CARD,
    DEEP_SPACE,
    FIRST_MOVEMENT,
    FIRST_ORE,
    FIRST_SCORING,
    ITEM_FACTORY,
    ITEM_STARSHIP,
    ITEM_TERRAFORMER,
    MAX_PAWNS,
    NUM_ARTIFACTS,
    NUM_CARDS,
    NUM_ITEMS,
    NUM_POSITIONS,
    NUM_RESOURCES,
    NUM_SPACES,
    NUM_STARS,
    NUM_TYPES,
    RESERVE,
    TRADE_CARD,
    Node,
)
from kepler_envs.games.ad_astra.views import SYSTEM_SET, face_down, position_of

VERSION = 1
"""Goes up whenever a choice changes, so that records say which greedy played."""

PLAN, PRODUCE, MOVE, LAND = int(Node.PLAN), int(Node.PRODUCE), int(Node.MOVE), int(Node.LAND)
BUILD, BUILD_POS, TRADE, REPLY = int(Node.BUILD), int(Node.BUILD_POS), int(Node.TRADE), int(Node.REPLY)
ELEMENT, IDENT, IDENT_COUNT, DIFF = int(Node.ELEMENT), int(Node.IDENT), int(Node.IDENT_COUNT), int(Node.DIFF)
DISCARD = int(Node.DISCARD)
NEVER = -1_000_000
GATE = ARTIFACT + 1

DIFFERENT_WORTH = 3  # discards different resources only if it has this many
IDENTICAL_WORTH = 3  # discards identical ones only if it has this many


@helper
def policy(s, t, mask, count, generator):
    """The choice of the seat to move, from what it sees."""
    node = int(s.node)
    artifact = _artifact_to_play(mask)
    if artifact >= 0:
        return artifact
    if node == PLAN:
        return _plan(s, t)
    if node == PRODUCE:
        return _best_production(s, mask)
    if node == MOVE:
        return _best_move(s, mask)
    if node in (LAND, BUILD_POS):
        return _best_planet(s, t, mask)
    if node == BUILD:
        return _best_item(s, mask)
    if node == TRADE:
        return _best_bank_trade(s, mask)
    if node == REPLY:
        return _reply(s)
    if node == ELEMENT:
        return _best_element(s, t)
    if node == IDENT:
        return _identical(s, mask)
    if node == IDENT_COUNT:
        return COUNT + int(s.player[s.seat].hand[int(s.give_type) - 1]) - SMALLEST_DISCARD
    if node == DIFF:
        return _different(s, mask)
    if node == DISCARD:
        return TAKE + _most_held(s, mask)
    return _scarcest(s, mask)


@leaf
def _artifact_to_play(mask):
    """Any artifact that can be played; -1 if there is none. The gate is never played: it needs a better reason."""
    for action in range(ARTIFACT, ARTIFACT + NUM_ARTIFACTS):
        if action != GATE and allowed(mask, action):
            return action
    return -1


# ---------------------------------------------------------------- planning


@helper
def _plan(s, t):
    """Place the card that is worth most now, on the space that suits it."""
    best, best_worth = 0, NEVER
    cards = int(s.player[s.seat].cards)
    for card in range(NUM_CARDS):
        if cards >> card & 1:
            worth = _card_worth(s, t, card)
            if worth > best_worth:
                best, best_worth = card, worth
    return PLACE + NUM_SPACES * best + _space_for(s, best)


@leaf
def _placed(s, first, last):
    """The number of the seat's cards from slots first..last on the board. It knows its own cards."""
    placed = 0
    for space in range(NUM_SPACES):
        if s.space_owner[space] == s.seat + 1 and first <= int(s.space_card[space]) - 1 <= last:
            placed += 1
    return placed


@leaf
def _card_worth(s, t, card):
    """How much a card promises this round, roughly in points."""
    seat = int(s.seat)
    player = s.player[seat]
    if card < FIRST_MOVEMENT:
        best = 0
        offered = int(t.faction[player.faction].production[card])
        for resource in range(NUM_RESOURCES):
            if offered >> resource & 1:
                best = max(best, _production_worth(s, resource))
        return best - 8 * _placed(s, 0, FIRST_MOVEMENT - 1)
    if card < BUILD_CARD:
        systems = int(t.faction[player.faction].movement[card - FIRST_MOVEMENT])
        return _movement_worth(s, t, systems) - 8 * _placed(s, FIRST_MOVEMENT, BUILD_CARD - 1)
    if card == BUILD_CARD:
        return 2 * int(player.hand_total)
    if card == TRADE_CARD:
        return int(player.hand_total) - 5
    worth = NEVER
    for choice in range(2):
        worth = max(worth, _element_worth(s, t, int(t.element[card - FIRST_SCORING, choice])))
    return 12 + 2 * worth - 14 * _placed(s, FIRST_SCORING, NUM_CARDS - 1)


@leaf
def _space_for(s, card):
    """The space for a card: production goes first, scoring last.

    All other cards go as late as leaves a free space for each player behind them.
    """
    spaces = np.uint64(s.empty_spaces)
    if card < FIRST_MOVEMENT:
        return lowest(spaces)
    last = 0
    while spaces != np.uint64(0):
        last = lowest(spaces)
        spaces = without_lowest(spaces)
        if card < FIRST_SCORING and bit_count(spaces) <= int(s.num_players):
            break
    return last


@leaf
def _movement_worth(s, t, systems):
    """What a movement card is worth: the starships it could send out, and a little for each new system."""
    player = s.player[s.seat]
    worth = 0
    for ship in range(MAX_PAWNS):
        if player.ship[ship] == DEEP_SPACE:
            worth += 7
        elif player.ship[ship] != RESERVE and player.hand[t.fuel] >= t.move_cost[BETWEEN_SYSTEMS]:
            worth += 4
    for system in range(NUM_STARS):
        if systems >> system & 1 and player.pawns & SYSTEM_SET[system] == np.uint64(0):
            worth += 1
    return worth


# ---------------------------------------------------------------- production


@helper
def _production_worth(s, resource):
    """The cards that producing a resource brings the seat, weighed against those it brings the others."""
    worth = 0
    n = int(s.num_players)
    for seat in range(n):
        units = min(int(s.player[seat].output[resource]), int(s.bank[resource]))
        worth += 5 * units if seat == s.seat else -units
    return worth


@leaf
def _best_production(s, mask):
    best, best_worth = 0, NEVER
    for resource in range(NUM_RESOURCES):
        if allowed(mask, TAKE + resource):
            worth = _production_worth(s, resource) - int(s.player[s.seat].hand[resource])
            if worth > best_worth:
                best, best_worth = resource, worth
    return TAKE + best


# ---------------------------------------------------------------- movement and places


@leaf
def _best_move(s, mask):
    """The most promising move, or a pass if none is worth its energy."""
    best, best_worth = PASS, 0 if allowed(mask, PASS) else NEVER
    for ship in range(MAX_PAWNS):
        for system in range(NUM_STARS):
            action = GO + DESTINATIONS * ship + system
            if allowed(mask, action):
                worth = _move_worth(s, ship, system)
                if worth > best_worth:
                    best, best_worth = action, worth
    return best


@leaf
def _lowest_allowed(mask, first, end):
    """The lowest legal id from ``first`` up to ``end``; ``first`` if there is none."""
    for action in range(first, end):
        if allowed(mask, action):
            return action
    return first


@leaf
def _move_worth(s, ship, system):
    """What a move is worth.

    Leaving deep space is free and good. Leaving a planet is bad unless a colony, factory or terraformer holds it.
    """
    player = s.player[s.seat]
    place = int(player.ship[ship])
    worth = 0
    if player.pawns & SYSTEM_SET[system] == np.uint64(0):
        worth += 3
    if place == DEEP_SPACE:
        return worth + 10 + bit_count(face_down(s) & SYSTEM_SET[system])
    if system_of(place) == system:
        return -1
    held = player.colonies | player.factories | player.terraformers
    if not has(held, place - 1):
        return -1
    return worth


@leaf
def _best_planet(s, t, mask):
    """The best position on offer: an alien planet, else the type that the seat produces least.

    Unknown planets rank in between.
    """
    best, best_worth = 0, NEVER
    for row in range(NUM_POSITIONS):
        if allowed(mask, AT + row):
            worth = _planet_worth(s, t, position_of(s, int(s.seat), row))
            if worth > best_worth:
                best, best_worth = row, worth
    return AT + best


@leaf
def _planet_worth(s, t, position):
    seat = int(s.seat)
    player = s.player[seat]
    visible = s.face_up | player.known
    worth = 0
    if has(visible, position):
        for kind in range(NUM_TYPES):
            if has(s.of_type[kind], position):
                if kind == ALIEN:
                    worth += 9 if has(s.face_up, position) else 14
                else:
                    worth += 10 - 3 * int(player.output[kind])
                    worth += 2 * int(t.terraformable[kind])
                    if kind == t.fuel:
                        worth -= 3
    if has(player.pawns, position):
        worth -= 8
    return worth


# ---------------------------------------------------------------- building and trade


@leaf
def _best_item(s, mask):
    best, best_worth = PASS, 0
    for item in range(NUM_ITEMS):
        if allowed(mask, ITEM + item):
            worth = _item_worth(s, item)
            if worth > best_worth:
                best, best_worth = ITEM + item, worth
    return best


@leaf
def _item_worth(s, item):
    """What an item is worth: points now and in later scoring. Of two ores, the one held most is the better payment."""
    player = s.player[s.seat]
    if item == ITEM_TERRAFORMER:
        return 100
    alien = s.of_type[ALIEN] & s.face_up
    if item == ITEM_FACTORY:
        return 90 if player.colonies & alien else 30
    if item < ITEM_FACTORY:
        spots = (player.starships | player.terraformers) & ~(player.colonies | player.factories)
        return (80 if spots & alien else 50) + int(player.hand[FIRST_ORE + item])
    return 60 + int(player.hand[FIRST_ORE + item - ITEM_STARSHIP])


@leaf
def _best_bank_trade(s, mask):
    """Trade away a type held at least four times, if another is missing; else pass."""
    player = s.player[s.seat]
    missing = 0
    for resource in range(NUM_RESOURCES):
        if player.hand[resource] == 0 and s.bank[resource] > 0:
            missing += 1
    if missing > 0:
        for resource in range(NUM_RESOURCES):
            if player.hand[resource] >= 4 and allowed(mask, BANK + resource):
                return BANK + resource
    return PASS


@leaf
def _scarcest(s, mask):
    """Where the seat may take a resource, the one it holds least of. At any other node, the lowest legal id."""
    player = s.player[s.seat]
    best, fewest = -1, 1000
    for resource in range(NUM_RESOURCES):
        if allowed(mask, TAKE + resource) and player.hand[resource] < fewest:
            best, fewest = TAKE + resource, int(player.hand[resource])
    if best >= 0:
        return best
    return _lowest_allowed(mask, 0, ARTIFACT)


@leaf
def _reply(s):
    """Accept a trade that brings more cards than it costs, or as many of a scarcer type."""
    hand = s.player[s.seat].hand
    got, lost = int(s.give_count), int(s.get_count)
    if got > lost or (got == lost and hand[int(s.give_type) - 1] + 1 < hand[int(s.get_type) - 1]):
        return ACCEPT
    return PASS


# ---------------------------------------------------------------- scoring


@helper
def _element_worth(s, t, element):
    """How far the seat is ahead on an element, in points, bonus included.

    It is compared with the mean of the best other seat and the average other seat.
    """
    own = int(s.player[s.seat].elements[element])
    most, total = 0, 0
    for seat in range(int(s.num_players)):
        if seat != s.seat:
            points = int(s.player[seat].elements[element])
            total += points
            most = max(most, points)
    worth = 2 * own - most - total // (int(s.num_players) - 1)
    if own > most:
        worth += 2 * int(t.bonus)
    elif own < most:
        worth -= int(t.bonus)
    return worth // 2


@leaf
def _best_element(s, t):
    card = int(s.slot) - 1 - FIRST_SCORING
    first = _element_worth(s, t, int(t.element[card, 0]))
    return CHOOSE if first >= _element_worth(s, t, int(t.element[card, 1])) else CHOOSE + 1


@leaf
def _most_held(s, mask):
    """The resource on offer that the seat holds most of."""
    player = s.player[s.seat]
    best, most = 0, -1
    for resource in range(NUM_RESOURCES):
        if allowed(mask, TAKE + resource) and player.hand[resource] > most:
            best, most = resource, int(player.hand[resource])
    return best


@leaf
def _identical(s, mask):
    resource = _most_held(s, mask)
    if s.player[s.seat].hand[resource] >= IDENTICAL_WORTH or not allowed(mask, PASS):
        return TAKE + resource
    return PASS


@leaf
def _different(s, mask):
    """Discard one of each type held, or pass if too few types are held."""
    player = s.player[s.seat]
    held = 0
    for resource in range(NUM_RESOURCES):
        if player.hand[resource] > 0:
            held |= 1 << resource
    if bit_count(np.uint64(held)) < DIFFERENT_WORTH and allowed(mask, PASS):
        return PASS
    index = 0
    while SUBSETS[index] != held:
        index += 1
    return SUBSET + index
