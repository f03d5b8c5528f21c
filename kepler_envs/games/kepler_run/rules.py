"""The rules: setup, legal ids, their application, the result.

``s`` is the state record, ``t`` the component tables, ``o`` the options, ``player`` a seat's record. Section numbers are
those of the specification's decision machine; R marks what the rulebook states.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow, allow_word, bit, has, lowest, without_lowest
from kepler_envs.engine.game import TERMINATED
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.returns import ahead_of_mean, ranks_by, returns_by, scores_of
from kepler_envs.engine.rng import below
from kepler_envs.games.kepler_run.actions import (
    BOOSTER,
    CONTRACT,
    DISCOVER,
    LOAD,
    MODULE,
    MOVE,
    PART,
    SPECIAL,
    STOP,
    TARGET,
    USE_PART,
)
from kepler_envs.games.kepler_run.state import (
    BY_CLOSEST,
    BY_COMPLETE,
    BY_DELIVERY,
    BY_DISCOVER,
    BY_KEPLER,
    BY_PART,
    BY_SECONDARY,
    BY_STATIONS,
    JUMP_PART,
    MAX_PLAYERS,
    NO_ACTION,
    NUM_SHIPS,
    NUM_TRAITS,
    OUTPOST,
    RANDOM_FIRST_PLAYER,
    REFUEL,
    REROUTE,
    REWARD_MODES,
    ROW_CARD,
    ROW_SLOTS,
    SECTOR_SIZE,
    SLING_PART,
    Node,
)

IN_DRAFT, IN_TARGET, IN_CONTRACT = int(Node.DRAFT), int(Node.TARGET), int(Node.CONTRACT)
IN_LOAD, IN_FLY, OVER = int(Node.LOAD), int(Node.FLY), int(Node.OVER)
NO_CARD = np.zeros(1, ROW_CARD)


# ---------------------------------------------------------------- setup (2.4)


@helper
def setup(s, t, o):
    """Shuffle, open the run, give out ships and what belongs to them, choose the first player."""
    n = int(o.num_players)
    s.num_players = n
    s.reward_mode = o.reward_mode
    s.shaping = o.shaping
    _fill_deck(s, t)
    for _ in range(int(t.initial_run)):
        _append_sector(s, t, _deal(s))
    _give_ships(s, t, n)
    first = int(o.first_player)
    if first == RANDOM_FIRST_PLAYER:
        first = below(s, n)
    for position in range(n):  # clockwise (P)
        seat = (first + position) % n
        s.order[position] = seat
        _give_pieces(s.player[seat], t, position, o.seat_fuel)
    for position in range(n, MAX_PLAYERS):
        s.order[position] = -1
    _begin_round(s, t)


@leaf
def _fill_deck(s, t):
    count = int(t.cards_total)
    for card in range(count):
        s.deck[card] = card
        s.unseen[card] = 1
    s.deck_count = count
    shuffle_deck(s, count, s)


@helper
def shuffle_deck(s, count, generator):
    """Bring the ``count`` cards of the deck into a random order."""
    for last in range(count - 1, 0, -1):
        other = below(generator, last + 1)
        card = int(s.deck[last])
        s.deck[last] = s.deck[other]
        s.deck[other] = card


@helper
def _give_ships(s, t, n):
    """Different colours at random."""
    free = (1 << NUM_SHIPS) - 1
    for seat in range(n):
        skipped = free
        for _ in range(below(s, NUM_SHIPS - seat)):
            skipped = int(without_lowest(skipped))
        ship = lowest(skipped)
        free &= ~(1 << ship)
        s.player[seat].ship = ship
        s.player[seat].built_in = t.ship_type[ship] + 1


@leaf
def _give_pieces(player, t, position, seat_fuel):
    player.present = 1
    player.order_position = position
    player.modules = t.start_modules
    player.disks = t.disks
    for contract in range(NUM_TRAITS):
        player.hand[contract] = 1
    if seat_fuel:
        player.fuel = t.seat_fuel[position]


# ---------------------------------------------------------------- cards and points


@leaf
def _deal(s):
    """The next card of the deck."""
    left = int(s.deck_count) - 1
    card = int(s.deck[left])
    s.deck[left] = 0
    s.deck_count = left
    s.unseen[card] = 0
    return card


@helper
def _append_sector(s, t, card):
    """A card becomes the last sector before Kepler."""
    index = int(s.run_length)
    s.run[index] = t.sector[card]
    s.run_card[index] = card + 1
    s.run_length = index + 1
    if s.run[index].stations > 0:
        s.free_stations |= bit(index)


@leaf
def _take_from_row(s, slot):
    """The id of the card taken; its slot stays empty."""
    card = int(s.row_card[slot]) - 1
    s.row[slot] = NO_CARD[0]
    s.row_card[slot] = 0
    s.row_set = int(s.row_set) & ~(1 << slot)
    return card


@leaf
def _score(player, source, points):
    player.vp += points
    player.vp_from[source] += points


@leaf
def _add_fuel(player, t, amount):
    """Fuel onto the ship; what is above the cap is lost (ruling 24)."""
    fuel = int(player.fuel) + amount
    cap = int(t.fuel_cap)
    player.fuel = fuel if fuel < cap else cap


@helper
def _place_disk(s, player, seat, index):
    player.disks -= 1
    s.run[index].disk = seat + 1
    s.disk_set |= bit(index)
    s.free_stations &= ~bit(index)


# ---------------------------------------------------------------- legal ids


@leaf
def legal(s, t, mask):
    """Set the bit of every legal id."""
    player = s.player[s.seat]
    node = int(s.node)
    if node == IN_FLY:
        _legal_moves(s, t, player, mask)
    elif node == IN_DRAFT:
        _legal_picks(s, t, player, mask)
    elif node == IN_LOAD:
        allow_word(mask, LOAD, (1 << (int(player.fuel) + 1)) - 1)
    elif node == IN_CONTRACT:
        for contract in range(NUM_TRAITS):
            if player.hand[contract]:
                allow(mask, CONTRACT + contract)
    elif s.pending_action == REROUTE:
        allow_word(mask, TARGET, (1 << (int(s.run_length) - 1)) - 1)
    else:
        allow_word(mask, TARGET, s.free_stations)


@leaf
def _legal_picks(s, t, player, mask):
    """Each card of the row for each use it can be put to (3.2)."""
    cards = int(s.row_set)
    modules = int(player.modules)
    parts, specials = 0, 0
    for slot in range(2 * int(s.num_players) + 1):
        card = s.row[slot]
        if card.wrenches <= modules:  # an empty slot has 0, and 0 for its action
            parts |= 1 << slot
        if card.action != NO_ACTION:
            specials |= 1 << slot
            if card.action == OUTPOST and (player.disks == 0 or s.free_stations == 0):
                specials &= ~(1 << slot)
    uses = (cards << DISCOVER) | ((parts & cards) << PART) | (specials << SPECIAL)
    if modules < t.boxes:
        uses |= cards << MODULE
    allow_word(mask, 0, uses)


@leaf
def _legal_moves(s, t, player, mask):
    """Ways of leaving the place (3.6); a single step by other means only where leaving costs fuel (ruling 26)."""
    place, tank, cost = int(player.place), int(player.tank), int(s.leaving_cost)
    moves = 1 << (STOP - MOVE)
    if tank >= cost:
        moves |= 1
    here = 0  # type field of a sector that is worth a part
    if place > 0 and cost > 0:
        here = int(s.run[place - 1].type)
        if player.booster_used == 0 and tank >= t.booster_dots:
            moves |= 1 << (BOOSTER - MOVE)
    for slot in range(int(player.part_count)):
        part = player.parts[slot]
        if part.used == 0 and tank >= part.dots:
            if part.part == SLING_PART:
                works = place < s.run_length
            else:
                works = here > 0 and (part.part == here or part.part == JUMP_PART)
            if works:
                moves |= 1 << (USE_PART - MOVE + slot)
    allow_word(mask, MOVE, moves)


# ---------------------------------------------------------------- applying an id


@leaf
def apply(s, t, action):
    """Apply a legal id and everything automatic behind it."""
    seat = int(s.seat)
    player = s.player[seat]
    if action >= MOVE:
        _fly(s, t, player, seat, action)
    elif action < TARGET:
        _pick(s, t, player, seat, action)
    elif action >= LOAD:
        _load(s, t, player, action - LOAD)
    elif action >= CONTRACT:
        _commit(s, player, action - CONTRACT)
    else:
        _aim(s, t, player, seat, action - TARGET)


# ---------------------------------------------------------------- draft (3.1 - 3.3)


@helper
def _begin_round(s, t):
    """Deal two cards a player and one more, face up (R)."""
    for slot in range(2 * int(s.num_players) + 1):
        card = _deal(s)
        s.row[slot] = t.row_card[card]
        s.row_card[slot] = card + 1
        s.row_set = int(s.row_set) | 1 << slot
    s.draft_pos = 0
    s.node = IN_DRAFT
    s.seat = s.order[0]


@leaf
def _pick(s, t, player, seat, action):
    slot = action % ROW_SLOTS
    cost_in_modules, points = s.row[slot].wrenches, s.row[slot].vp
    special = int(s.row[slot].action)
    card = _take_from_row(s, slot)
    if action < PART:  # DISCOVER
        _append_sector(s, t, card)
        _score(player, BY_DISCOVER, t.discover_vp)
    elif action < MODULE:
        player.modules -= cost_in_modules
        _install_part(player, t, card)
        _score(player, BY_PART, points)
    elif action < SPECIAL:
        player.modules += 1
    elif special == REFUEL:
        _add_fuel(player, t, int(t.refuel))
        _add_delivery(player, t, card)
    else:
        s.node = IN_TARGET
        s.pending_action = special
        s.pending_card = card + 1
        return
    _next_pick(s, t)


@leaf
def _install_part(player, t, card):
    slot = int(player.part_count)
    player.parts[slot].part = t.row_card[card].part
    player.parts[slot].dots = t.row_card[card].dots
    player.part_card[slot] = card + 1
    player.part_count = slot + 1


@leaf
def _add_delivery(player, t, card):
    slot = int(player.delivery_count)
    player.deliveries[slot].type = t.row_card[card].type
    player.delivery_card[slot] = card + 1
    player.delivery_count = slot + 1


@helper
def _aim(s, t, player, seat, index):
    """The special action that asked for a sector."""
    if s.pending_action == REROUTE:
        _swap_sectors(s, index)
    else:
        _place_disk(s, player, seat, index)
    _add_delivery(player, t, int(s.pending_card) - 1)
    s.pending_action = 0
    s.pending_card = 0
    s.node = IN_DRAFT
    _next_pick(s, t)


@helper
def _swap_sectors(s, index):
    """Sector ``index`` and the one after it change places, with their disks (ruling 36)."""
    here, beyond = s.run[index].entries, s.run[index + 1].entries
    for i in range(SECTOR_SIZE):
        entry = here[i]
        here[i] = beyond[i]
        beyond[i] = entry
    card = s.run_card[index]
    s.run_card[index] = s.run_card[index + 1]
    s.run_card[index + 1] = card
    s.disk_set = _swap_bits(s.disk_set, index)
    s.free_stations = _swap_bits(s.free_stations, index)


@leaf
def _swap_bits(word, index):
    if has(word, index) != has(word, index + 1):
        word ^= bit(index) | bit(index + 1)
    return word


@leaf
def _next_pick(s, t):
    """In turn order, then in reverse turn order (R); the last card joins the run without points."""
    n = int(s.num_players)
    picks = int(s.draft_pos) + 1
    s.draft_pos = picks
    if picks < n:
        s.seat = s.order[picks]
    elif picks < 2 * n:
        s.seat = s.order[2 * n - 1 - picks]
    else:
        slot = 0
        while s.row_card[slot] == 0:
            slot += 1
        _append_sector(s, t, _take_from_row(s, slot))
        s.node = IN_CONTRACT
        s.seat = s.order[0]


# ---------------------------------------------------------------- contracts and takeoff (3.4, 3.5)


@leaf
def _commit(s, player, contract):
    player.contract = contract + 1
    player.committed = 1
    chosen = int(s.committed_count) + 1
    s.committed_count = chosen
    if chosen < s.num_players:
        s.seat = s.order[chosen]
    else:
        _take_off(s, 0)


@leaf
def _take_off(s, position):
    """The player at this position of the order is next: a fuel for each module goes into the tank (R)."""
    seat = int(s.order[position])
    s.seat = seat
    s.player[seat].tank = s.player[seat].modules
    s.node = IN_LOAD


@leaf
def _load(s, t, player, amount):
    player.fuel -= amount
    player.tank += amount
    s.leaving_cost = t.port_cost
    s.node = IN_FLY


# ---------------------------------------------------------------- flight (3.6)


@leaf
def _fly(s, t, player, seat, action):
    if action == STOP:
        _establish_station(s, player, seat)
    else:
        for _ in range(_pay_for_steps(s, t, player, action)):
            _enter_next(s, t, player, seat)
    if action == STOP or player.place > s.run_length:
        _end_flight(s, t, player)


@leaf
def _pay_for_steps(s, t, player, action):
    """Spend the fuel for leaving in one of the ways there are; how many places on it leads."""
    if action == MOVE:
        player.tank -= s.leaving_cost
        return 1
    if action == BOOSTER:
        player.tank -= t.booster_dots
        player.booster_used = 1
        return 1
    part = player.parts[action - USE_PART]
    player.tank -= part.dots
    part.used = 1
    return 2 if part.part == SLING_PART else 1


@leaf
def _enter_next(s, t, player, seat):
    """One place on, with what waits there."""
    index = int(player.place)  # run index of the next place
    player.place = index + 1
    if index == s.run_length:
        _reach_kepler(s, t, player)
        return
    sector = s.run[index]
    _deliver(player, t, sector.type)
    if sector.disk == seat + 1:
        _add_fuel(player, t, int(t.station_fuel))
    s.leaving_cost = 0 if sector.type == player.built_in else sector.cost


@leaf
def _deliver(player, t, sector_type):
    """Every delivery of this type not yet made pays (ruling 11)."""
    for slot in range(int(player.delivery_count)):
        delivery = player.deliveries[slot]
        if delivery.type == sector_type and delivery.used == 0:
            delivery.used = 1
            _score(player, BY_DELIVERY, t.delivery_vp)


@leaf
def _reach_kepler(s, t, player):
    _score(player, BY_KEPLER, t.first_arrival_vp if s.arrivals == 0 else t.later_arrival_vp)
    s.arrivals += 1


@leaf
def _establish_station(s, player, seat):
    """A flight that ends at a station without a disk leaves one (R)."""
    index = int(player.place) - 1
    if index >= 0 and player.disks > 0 and has(s.free_stations, index):
        _place_disk(s, player, seat, index)


@leaf
def _end_flight(s, t, player):
    player.flown = 1
    s.leaving_cost = 0
    following = int(player.order_position) + 1
    if following < s.num_players:
        _take_off(s, following)
    else:
        _end_round(s, t)


# ---------------------------------------------------------------- scoring and cleanup (3.7, 3.8)


@helper
def _end_round(s, t):
    n = int(s.num_players)
    for seat in range(n):
        player = s.player[seat]
        player.crossed = icons_crossed(s, int(player.place), int(player.contract) - 1)
    for position in range(n):
        _score_contract(s, t, int(s.order[position]))
    _find_new_order(s, n)
    for seat in range(n):
        _clean_up(s.player[seat])
    s.arrivals = 0
    s.committed_count = 0
    if s.round_index + 1 < t.rounds:
        s.round_index += 1
        _begin_round(s, t)
    else:
        _score_stations(s, t)
        s.node = OVER
        s.end = TERMINATED
    for seat in range(n):
        s.player[seat].vp_paid = s.player[seat].vp


@helper
def _score_contract(s, t, seat):
    """The contract of one seat, in turn order, so that the earlier of equal players completes it (R)."""
    player = s.player[seat]
    contract, crossed = int(player.contract) - 1, int(player.crossed)
    if s.completed_by[contract] == 0 and crossed > 0 and _crossed_most(s, player):
        s.completed_by[contract] = seat + 1
        player.hand[contract] = 0
        _score(player, BY_COMPLETE, t.complete_vp[contract])
    else:
        _score(player, BY_SECONDARY, crossed * int(t.secondary_vp[contract]))
        _add_fuel(player, t, crossed * int(t.secondary_fuel[contract]))


@leaf
def _crossed_most(s, player):
    """Whether nobody who revealed the same contract crossed more of its icons (ruling 19)."""
    for other in range(int(s.num_players)):
        if s.player[other].contract == player.contract and s.player[other].crossed > player.crossed:
            return False
    return True


@helper
def icons_crossed(s, place, contract):
    """Icons of a contract on the sectors entered by a flight to ``place``."""
    count = 0
    sectors = place if place < s.run_length else int(s.run_length)
    for index in range(sectors):
        count += int(s.run[index].icons[contract])
    return count


@helper
def _find_new_order(s, n):
    """Closest to Kepler first, then more fuel left in the tank (R), then as before (ruling 30)."""
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
    player.crossed = 0
    player.committed = 0
    player.flown = 0
    player.place = 0
    player.tank = 0
    player.booster_used = 0
    for slot in range(int(player.part_count)):
        player.parts[slot].used = 0
    for slot in range(int(player.delivery_count)):
        player.deliveries[slot].used = 0


@helper
def _score_stations(s, t):
    """Each own station, and one prize for the station closest to Kepler (R)."""
    closest = -1
    for index in range(int(s.run_length)):
        if s.run[index].disk > 0:
            closest = int(s.run[index].disk) - 1
            _score(s.player[closest], BY_STATIONS, t.station_vp)
    if closest >= 0:
        _score(s.player[closest], BY_CLOSEST, t.closest_station_vp)


# ---------------------------------------------------------------- results (6)


@leaf
def _points(s, t, seat):
    return s.player[seat].vp


@leaf
def _points_and_fuel(s, t, seat):
    """Most victory points is first, then most fuel on the ship; players equal in both share the rank."""
    player = s.player[seat]
    return int(player.vp) * 128 + int(player.fuel)


@leaf
def _points_of_ended_rounds(s, t, seat):
    """What shaping has paid for: it pays when a round ends."""
    return int(s.player[seat].vp_paid)


scores = scores_of(_points)
ranks = ranks_by(_points_and_fuel)
returns = returns_by(REWARD_MODES)
potential = ahead_of_mean(_points_of_ended_rounds)
