"""The course of the game: setup, turns, progress cards and the end of each round."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow, bit_count, lowest, without_lowest
from kepler_envs.engine.game import TERMINATED
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.rng import below
from kepler_envs.games.kepler_3042.actions import BURN, DONE, HEX, RES, SLOT, TECH
from kepler_envs.games.kepler_3042.components import ADVANCED, STANDARD
from kepler_envs.games.kepler_3042.hexes import members, neighbours, nth_member, put_in, single, size, union, without
from kepler_envs.games.kepler_3042.rules_actions import legal_slots, legal_to_turn_up, production
from kepler_envs.games.kepler_3042.rules_board import (
    TURNS,
    advance,
    all_tiles,
    benefit,
    burn,
    can_produce,
    cubes_outside_the_pit,
    extra,
    lead,
    produce_all,
    regenerate,
    rows_in_use,
    seat_after,
    tile_kind,
    turn_up,
)
from kepler_envs.games.kepler_3042.rules_movement import start_movement, start_placing
from kepler_envs.games.kepler_3042.rules_scoring import write_score_sheet
from kepler_envs.games.kepler_3042.state import (
    ANTIMATTER,
    BY_CARD,
    COLONIAL,
    EARTH,
    GHOST,
    MAX_LEVEL,
    NEXT_BENEFICIARY,
    NUM_CARDS,
    NUM_MEDALS,
    NUM_OBJECTIVES,
    NUM_PLANETS,
    NUM_RESOURCES,
    NUM_TECHS,
    NUM_TRACKS,
    QUANTUM_PHYSICS,
    ROUNDS,
    SHORT,
    TECHNOLOGICAL,
    Node,
    Phase,
    What,
    Who,
)

CLEANUP, GAME_OVER = int(Phase.CLEANUP), int(Phase.OVER)
FREE_TECH, SHIP, TRACK, REGENERATE, PRODUCE, MOVE, FLIP = (
    int(what) for what in (What.FREE_TECH, What.SHIP, What.TRACK, What.REGENERATE, What.PRODUCE, What.MOVE, What.FLIP)
)
ALL, FEWEST_COLONIES, HIGHEST_COLONIAL, LOWEST_COLONIAL, HIGHEST_TECHNOLOGICAL, LOWEST_TECHNOLOGICAL, HIGHEST_TECH = (
    int(who) for who in list(Who)[:-1]
)
ONE, NOTHING = np.uint64(1), np.uint64(0)


# ---------------------------------------------------------------- setup


@helper
def setup(s, t, o):
    """Tiles, objectives, progress cards, first player; then everybody chooses technologies."""
    s.num_players = o.num_players
    s.advanced = o.advanced
    s.win_loss = o.win_loss
    s.campaign = o.campaign
    s.level = o.level
    s.bonus_cubes = o.bonus
    s.tile_group = o.tile_group
    s.shaping = o.shaping
    place_tiles(s, t)
    deal_objectives(s, t)
    shuffle_deck(s, t)
    s.first = below(s, int(s.num_players))
    for track in range(NUM_TRACKS):
        for medal in range(NUM_MEDALS):
            s.track_medals[track, medal] = 1
    for seat in range(int(s.num_players)):
        equip(s, t, seat)
    if s.num_players == 1:
        s.player[GHOST].present = 1
        s.player[GHOST].ghost = 1
    s.active = s.first
    s.left = o.bonus
    s.flow = Node.SOLO_BONUS if o.bonus > 0 else Node.FIRST_TECHNOLOGY
    s.node = s.flow
    s.seat = s.active


@leaf
def random_member(members_of_word, generator):
    """A uniform one of a set in one word."""
    left = members_of_word
    for _ in range(below(generator, bit_count(members_of_word))):
        left = without_lowest(left)
    return lowest(left)


@leaf
def place_tiles(s, t):
    """In random order, each on a random hex that lies beside a star in play and beside no tile; open in the short zone (R)."""
    left = all_tiles(s, t)
    legal = members(t.setup[s.num_players].sites)
    for _ in range(bit_count(left)):
        tile = random_member(left, s)
        left &= ~(ONE << np.uint64(tile))
        place = nth_member(legal, below(s, size(legal)))
        put_tile(s, place, tile)
        legal = without(legal, union(single(place), neighbours(single(place))))
        if t.zone[place] == SHORT:
            turn_up(s, place)


@leaf
def put_tile(s, place, tile):
    body = tile_kind(tile)
    s.body[place] = body
    put_in(s.bodies, place)
    if body <= NUM_PLANETS:
        s.planet_hex[body] = place + 1


@leaf
def objectives_of_set(s, t):
    """Bits of the objectives that are dealt from."""
    wanted = ADVANCED if s.advanced else STANDARD
    found = NOTHING
    for number in range(NUM_OBJECTIVES):
        if t.objective[number].set == wanted:
            found |= ONE << np.uint64(number)
    return found


@leaf
def deal_objectives(s, t):
    """One to each player, face down; solo: those of the campaign up to its level (R)."""
    if s.num_players == 1:
        s.player[0].objectives = t.campaign[int(s.campaign) - 1, s.level]
        return
    left = objectives_of_set(s, t)
    for seat in range(int(s.num_players)):
        dealt = ONE << np.uint64(random_member(left, s))
        s.player[seat].objectives = dealt
        left &= ~dealt


@leaf
def usable_cards(s, t):
    """Bits of the progress cards that can be in the deck."""
    cards = NOTHING
    for card in range(1, NUM_CARDS + 1):
        if s.num_players > 1 or t.card[card].solo:
            cards |= ONE << np.uint64(card)
    return cards


@leaf
def shuffle_deck(s, t):
    left = usable_cards(s, t)
    for place in range(ROUNDS):
        card = random_member(left, s)
        left &= ~(ONE << np.uint64(card))
        s.deck[place] = card


@leaf
def equip(s, t, seat):
    """Cubes, starships in the supply; solo all cubes in storage and the level's antimatter besides on Earth (R)."""
    player = s.player[seat]
    player.present = 1
    player.ships_in_supply = len(player.ship)
    player.action_cube = t.start_cube
    for kind in range(NUM_RESOURCES):
        on_earth = 0 if s.num_players == 1 else int(t.earth[kind])
        player.total[kind] = t.cubes[kind]
        player.cubes[EARTH, kind] = on_earth
        player.storage[kind] = int(t.cubes[kind]) - on_earth
    if s.num_players == 1:
        player.total[ANTIMATTER] += t.level_antimatter[s.level]
        player.cubes[EARTH, ANTIMATTER] += t.level_antimatter[s.level]


@leaf
def legal_bonus_cubes(mask):
    """Energy or matter (R)."""
    for kind in range(ANTIMATTER):
        allow(mask, RES + kind)


@leaf
def place_bonus_cube(s, action):
    """An additional cube on Earth (R)."""
    player = s.player[0]
    player.cubes[EARTH, action - RES] += 1
    player.total[action - RES] += 1
    s.left -= 1
    if s.left == 0:
        s.flow = Node.FIRST_TECHNOLOGY


@leaf
def legal_first_technologies(s, mask):
    for tech in range(NUM_TECHS):
        if s.player[s.seat].tech[tech] == 0:
            allow(mask, TECH + tech)


@leaf
def choose_first_technology(s, t, action):
    """Different ones at level 1 for nothing, everybody in turn order (R)."""
    player = s.player[s.seat]
    player.tech[action - TECH] = 1
    chosen = 0
    for tech in range(NUM_TECHS):
        chosen += int(player.tech[tech])
    if chosen < t.free_technologies:
        return
    s.turn_index += 1
    if s.turn_index < s.num_players:
        s.active = seat_after(s, int(s.first), int(s.turn_index))
        return
    if s.num_players == 1:  # the ghost gets the others (R)
        for tech in range(NUM_TECHS):
            s.player[GHOST].tech[tech] = 1 - player.tech[tech]
    start_round(s, t)


# ---------------------------------------------------------------- phases 1 and 2


@helper
def start_round(s, t):
    """The next card is open; the ghost advances (R)."""
    s.round_number += 1
    if s.num_players == 1:
        advance_ghost(s, t)
    s.phase = TURNS
    s.turn_index = 0
    start_turn(s, t)


@helper
def advance_ghost(s, t):
    """A space on both tracks, and in some rounds a level of all technologies (R)."""
    lead(s, t, GHOST, COLONIAL, 1)
    lead(s, t, GHOST, TECHNOLOGICAL, 1)
    if t.ghost_advances[s.round_number]:
        ghost = s.player[GHOST]
        for tech in range(NUM_TECHS):
            ghost.tech[tech] = min(MAX_LEVEL, int(ghost.tech[tech]) + 1)


@leaf
def start_turn(s, t):
    s.active = seat_after(s, int(s.first), int(s.turn_index))
    player = s.player[s.active]
    s.conversions = benefit(t, player, QUANTUM_PHYSICS)
    s.allocations = extra(t, player, QUANTUM_PHYSICS)
    s.flow = Node.MAIN_ACTION


@leaf
def end_turn(s, t):
    s.conversions = 0
    s.allocations = 0
    s.bonus_used = 0
    s.second_free = 0
    s.turn_index += 1
    if s.turn_index < s.num_players:
        start_turn(s, t)
    else:
        start_cleanup(s, t)


# ---------------------------------------------------------------- phase 3: the progress card


@leaf
def card_in_play(s, t):
    return t.card[s.deck[int(s.round_number) - 1]]


@leaf
def start_cleanup(s, t):
    """Who benefits is fixed before the first one does (R)."""
    s.phase = CLEANUP
    s.beneficiaries = find_beneficiaries(s, t)
    s.flow = NEXT_BENEFICIARY


@leaf
def standing_for(s, row, who, tech):
    """What a card compares, so that more is the better claim on it."""
    player = s.player[row]
    if who == FEWEST_COLONIES:
        return -int(player.colonies)
    if who == HIGHEST_COLONIAL:
        return int(player.track[COLONIAL])
    if who == LOWEST_COLONIAL:
        return -int(player.track[COLONIAL])
    if who == HIGHEST_TECHNOLOGICAL:
        return int(player.track[TECHNOLOGICAL])
    if who == LOWEST_TECHNOLOGICAL:
        return -int(player.track[TECHNOLOGICAL])
    if who == HIGHEST_TECH:
        return int(player.tech[tech])
    return -int(player.tech[tech])


@helper
def find_beneficiaries(s, t):
    """Bits of the seats with the best claim, ties included; the ghost is compared, too (R)."""
    card = card_in_play(s, t)
    who, tech = int(card.who), int(card.tech)
    if who == ALL:
        return (1 << int(s.num_players)) - 1
    best = -TRACK_BOUND
    for row in range(rows_in_use(s)):
        best = max(best, standing_for(s, row, who, tech))
    seats = 0
    for seat in range(int(s.num_players)):
        seats |= int(standing_for(s, seat, who, tech) == best) << seat
    return seats


TRACK_BOUND = 100  # more than any track, level or number of colonies


@helper
def next_beneficiary(s, t):
    """The next seat in turn order that the card is for; after the last one the round ends."""
    if s.beneficiaries == 0:
        hand_out_medals(s)
        end_round(s, t)
        return
    seat = int(s.first)
    while not s.beneficiaries >> seat & 1:
        seat = seat_after(s, seat, 1)
    s.beneficiaries = int(s.beneficiaries) & ~(1 << seat)
    s.active = seat
    s.left = 0
    s.technology = 0
    start_benefit(s, t, seat)


@leaf
def start_benefit(s, t, seat):
    card = card_in_play(s, t)
    what = int(card.what)
    s.flow = NEXT_BENEFICIARY
    if what == FREE_TECH:
        s.flow = Node.CARD_TECHNOLOGY
    elif what == SHIP:
        if s.player[seat].ships_in_supply > 0:
            start_placing(s, BY_CARD, 0)
    elif what == TRACK:
        lead(s, t, seat, int(card.track), 1)
    elif what == REGENERATE:
        s.left = card.count
        s.flow = Node.CARD_REGENERATION
    elif what == PRODUCE:
        s.flow = Node.CARD_PRODUCTION
    elif what == MOVE:
        start_movement(s, BY_CARD, int(card.count))
    elif what == FLIP:
        s.left = card.count
        s.flow = Node.CARD_TILE
    else:
        s.flow = Node.CARD_EXPLOITATION


@leaf
def burns_for(card, level):
    """Cubes that a free level costs (the first one nothing)."""
    return level - 1 if card.burns else 0


@leaf
def legal_free_technologies(s, t, mask):
    card = card_in_play(s, t)
    player = s.player[s.seat]
    for tech in range(NUM_TECHS):
        level = int(player.tech[tech]) + 1
        if level <= card.count and burns_for(card, level) <= cubes_outside_the_pit(player):
            allow(mask, TECH + tech)
    allow(mask, DONE)


@leaf
def choose_free_technology(s, t, action):
    if action == DONE:
        s.flow = NEXT_BENEFICIARY
        return
    tech = action - TECH
    s.technology = tech + 1
    s.left = burns_for(card_in_play(s, t), int(s.player[s.seat].tech[tech]) + 1)
    s.flow = Node.CARD_BURN


@leaf
def burn_for_card(s, action):
    burn(s.player[s.seat], (action - BURN) // NUM_RESOURCES, (action - BURN) % NUM_RESOURCES)
    s.left -= 1


@leaf
def finish_free_technology(s, t):
    """All is burned: the level is reached; collaboration follows as always."""
    tech = int(s.technology) - 1
    s.technology = 0
    s.flow = NEXT_BENEFICIARY
    advance(s, t, np.int64(s.active), np.int64(tech))


@leaf
def legal_card_production(s, t, mask):
    player = s.player[s.seat]
    if can_produce(player, card_in_play(s, t).produced):
        legal_slots(player, mask)
    allow(mask, DONE)


@leaf
def produce_from_card(s, t, action):
    """All on one card of the player."""
    if action != DONE:
        produce_all(s.player[s.seat], action - SLOT, card_in_play(s, t).produced)
    s.flow = NEXT_BENEFICIARY


@leaf
def legal_card_exploitation(s, t, mask):
    player = s.player[s.seat]
    for slot in range(1, int(player.colonies) + 1):
        if can_produce(player, production(s, t, player, slot)):
            allow(mask, SLOT + slot)
    allow(mask, DONE)


@leaf
def exploit_from_card(s, t, action):
    player = s.player[s.seat]
    if action != DONE:
        produce_all(player, action - SLOT, production(s, t, player, action - SLOT))
    s.flow = NEXT_BENEFICIARY


@leaf
def legal_card_tiles(s, mask):
    legal_to_turn_up(s, mask)
    allow(mask, DONE)


@leaf
def map_tile_from_card(s, action):
    if action == DONE:
        s.left = 0
    else:
        turn_up(s, action - HEX)
        s.left -= 1


@leaf
def regenerate_from_card(s, action):
    if action == DONE:
        s.left = 0
    else:
        regenerate(s.player[s.seat], action - RES)
        s.left -= 1


# ---------------------------------------------------------------- phase 3: medals and the end of the round


@leaf
def hand_out_medals(s):
    """Whoever is furthest on a track gets the card's medals of its colour, all of them if several are (R)."""
    rows = rows_in_use(s)
    for track in range(NUM_TRACKS):
        furthest = 0
        for row in range(rows):
            furthest = max(furthest, int(s.player[row].track[track]))
        for row in range(rows):
            if s.player[row].track[track] == furthest:
                s.player[row].medals[track] += s.card_medals[track]
        s.card_medals[track] = 0


@leaf
def end_round(s, t):
    """The first player's marker goes to the right (R); after the last round the game is over."""
    if s.round_number < ROUNDS:
        s.first = seat_after(s, int(s.first), int(s.num_players) - 1)
        start_round(s, t)
        return
    s.phase = GAME_OVER
    s.turn_index = 0
    s.active = 0
    s.flow = Node.OVER
    s.end = TERMINATED
    for seat in range(int(s.num_players)):
        write_score_sheet(s, t, seat)
