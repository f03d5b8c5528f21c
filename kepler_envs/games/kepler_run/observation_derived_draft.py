"""What a player works out in the draft: what each card is worth for each use, and each sector for a special action.

A use is worth what the best flight gains by it, its points, and what modules, parts, deliveries and stations are worth
in the rounds to come. Flights are planned anew where a use changes what they take; ends are looked at for which there
is fuel, and those for which ``AHEAD`` is missing.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_run.observation_layout import (
    AHEAD,
    AS_MODULE,
    AS_PART,
    AS_SECTOR,
    AS_SPECIAL,
    BEST,
    DISCOVERY,
    END,
    OFFERS,
    PLACE_DERIVED,
    PLACES_AIM,
    PLACES_BEST,
    PLACES_FUEL,
    PLACES_WORTH,
    POINT,
    ROW_OFFERS,
    UNKNOWN_SECTOR,
)
from kepler_envs.games.kepler_run.reach import (
    NONE,
    TOO_MUCH,
    add_tool,
    clear_column,
    find_fuel,
    first_jumps,
    lay_out_tools,
    leave,
    own_cost_of,
    saved_by,
    tail_of,
)
from kepler_envs.games.kepler_run.state import MAX_PLAYERS, OUTPOST, REFUEL, SLING_PART, Node
from kepler_envs.games.kepler_run.worth import (
    DELIVERY,
    DOTS,
    MODULE,
    NEVER,
    PART_LATER,
    PLACE,
    best_end,
    contract_terms,
    cut,
    fuel_worth_of,
    load_worth,
    open_deliveries,
    rounds_to_come,
    station_worth,
    stations_for,
    worth_of_contract,
    write_ends,
)

IN_TARGET = int(Node.TARGET)
NOWHERE = 99  # a place that is not there


@helper
def write_draft(s, t, seat, player, out):
    """Write the best flight with the pieces of now, and what a card or a special action changes."""
    rounds, aiming = rounds_to_come(s, t), s.node == IN_TARGET
    tank, ship = int(player.modules), int(player.fuel)
    tools, more_tools, sling = lay_out_tools(t, player, NONE)
    plan = find_fuel(
        s, t, player, 0, int(s.run_length) + 1, tank + ship + AHEAD, tools, more_tools, 0, not aiming, out, PLACES_FUEL
    )
    last, beyond = _add_unknown_fuel(s, out)
    terms = contract_terms(s, t, seat, fuel_worth_of(rounds), -1)
    deliveries = open_deliveries(player) + (1 << 4 * int(s.pending_type)) * aiming
    best, end, _, _, _, gained, deliveries_left, crossed_0, crossed_1, crossed_2, with_0, with_1, with_2, met = (
        write_ends(s, t, seat, player, 0, last, tank, ship, 0, deliveries, terms, out)
    )
    out[BEST] = cut(best)
    out[END] = end + 1
    rivals = _rivals_at_kepler(s)
    behind = gained, deliveries_left, crossed_0, crossed_1, crossed_2, with_0, with_1, with_2, rivals
    is_last = int(s.draft_pos) + 1 == 2 * int(s.num_players)
    grows = is_last and beyond >= 0  # by the other card, where there may be fuel for it
    fuel, worth = int(out[PLACES_FUEL + PLACE_DERIVED * last]), int(out[PLACES_WORTH + PLACE_DERIVED * last])
    if not aiming:
        now = best, last, beyond, behind, met, plan, deliveries, terms, tools, more_tools, sling
        _write_cards(s, t, seat, player, is_last, grows, now, out)
    else:
        if grows:
            other = s.row[lowest(np.uint64(s.row_set))]
            _add_sector(s, t, player, other, behind, tools, more_tools, terms, False, out)
        _write_aims(s, t, seat, player, best, last + grows, deliveries, terms, tools, more_tools, out)
    if grows:
        _restore(fuel, worth, last, out)


@leaf
def _add_unknown_fuel(s, out):
    """(the last place of the plan, the fuel to Kepler on the run of now; below 0 if it is too much).

    What sectors to be added will cost is added at Kepler.
    """
    last = int(s.run_length) + 1
    beyond = int(out[PLACES_FUEL + PLACE_DERIVED * last]) - 1
    if beyond >= 0:
        out[PLACES_FUEL + PLACE_DERIVED * last] += _unknown_fuel(s)
    while out[PLACES_FUEL + PLACE_DERIVED * last] == 0:
        last -= 1
    return last, beyond


# ---------------------------------------------------------------- the row


@leaf
def _write_cards(s, t, seat, player, is_last, grows, now, out):
    """Write what each card of the row is worth for each use, and which use of which card is worth most."""
    _, last, _, behind, _, _, _, terms, tools, more_tools, _ = now
    tank, ship, fuel_worth = int(player.modules), int(player.fuel), fuel_worth_of(rounds_to_come(s, t))
    before_kepler = best_end(out, PLACES_FUEL, 0, min(last, int(s.run_length)), tank, ship, fuel_worth)
    with_module = best_end(out, PLACES_FUEL, 0, last, tank + 1, ship, fuel_worth)
    chosen, choice = NEVER, 0
    cards = np.uint64(s.row_set)
    while cards:
        slot = lowest(cards)
        cards = without_lowest(cards)
        other, upto, tail = s.row[slot], last, 0
        if is_last:
            other = s.row[lowest(np.uint64(int(s.row_set) & ~(1 << slot)))]
            if grows:
                _add_sector(s, t, player, other, behind, tools, more_tools, terms, True, out)
                upto, tail = last + 1, tail_of(player, other)
            with_module = best_end(out, PLACES_FUEL, 0, upto, tank + 1, ship, fuel_worth)
        key = _write_card(s, t, seat, player, slot, other, is_last, upto, tail, before_kepler, with_module, now, out)
        # equal ones: the first use, then the first card
        key = (key >> 2 << 8) + ((key & 3) << 4) + 15 - slot
        choice = slot if key > chosen else choice
        chosen = max(chosen, key)
    out[ROW_OFFERS + OFFERS * choice + OFFERS - 1] = 4 - (chosen >> 4 & 3)


@leaf
def _write_card(s, t, seat, player, slot, other, is_last, upto, tail, before_kepler, with_module, now, out):
    """Write what a card is worth for each use, less what the flight of now is worth. Returns the key of the best."""
    best, last, beyond, behind, met, plan, deliveries, terms, tools, more_tools, sling = now
    card, rounds, tank, ship = s.row[slot], rounds_to_come(s, t), int(player.modules), int(player.fuel)
    worth = before_kepler
    if 0 <= beyond <= tank + ship:
        behind_run = _beyond(
            s, t, player, card, other, is_last, beyond, behind, plan, tools, more_tools, sling, terms, rounds, out
        )
        worth = max(worth, behind_run)
    key = _offer(out, slot, AS_SECTOR, worth + int(t.discover_vp) * POINT - best)
    wrenches = int(card.wrenches)
    if wrenches <= tank:
        worth = _flight_with(s, t, player, card, upto, tail, tank - wrenches, tools, more_tools, sling, out)
        worth += int(card.vp) * POINT
        worth += rounds * (PART_LATER[DOTS * int(card.part) + int(card.dots)] - MODULE * wrenches)
        key = max(key, _offer(out, slot, AS_PART, worth - best))
    if tank < t.boxes:
        key = max(key, _offer(out, slot, AS_MODULE, with_module + rounds * MODULE - best))
    action = int(card.action)
    if action > 0 and (action != OUTPOST or (player.disks > 0 and s.free_stations > 0)):
        worth = _special(
            s, t, seat, player, card, other, upto, last, met, deliveries, terms, rounds, tools, more_tools, out
        )
        key = max(key, _offer(out, slot, AS_SPECIAL, worth + rounds * DELIVERY - best))
    return key


@leaf
def _offer(out, slot, use, worth):
    """Write what a use of a card is worth. Returns a number in the order of worth; of equal ones the first use comes
    first."""
    out[ROW_OFFERS + OFFERS * slot + use] = cut(worth)
    return 4 * worth + 3 - use


@leaf
def _restore(fuel, worth, last, out):
    """Restore the places behind the run to what they were before a card was added."""
    out[PLACES_FUEL + PLACE_DERIVED * last] = fuel
    out[PLACES_WORTH + PLACE_DERIVED * last] = worth
    out[PLACES_FUEL + PLACE_DERIVED * (last + 1)] = 0
    out[PLACES_WORTH + PLACE_DERIVED * (last + 1)] = 0


@leaf
def _unknown_fuel(s):
    """The fuel that the sectors probably still to be added will cost before Kepler."""
    picks = 2 * int(s.num_players) - int(s.draft_pos) - 1
    return (UNKNOWN_SECTOR + DISCOVERY * picks + 50) // 100 if picks > 0 else 0


# ---------------------------------------------------------------- sectors behind the run


@leaf
def _rivals_at_kepler(s):
    """A 1 in the byte of each player who could reach Kepler.

    If the run grows, they cross the icons of the first new sector.
    """
    word = 0
    for other in range(MAX_PLAYERS):
        word |= (s.player[other].reach > s.run_length) << 8 * other
    return word


@leaf
def _after_sector(t, card, behind, more_0, more_1, more_2, terms):
    """(worth behind one more sector, turn order and its station not counted; what has been gained and crossed then)."""
    gained, deliveries, crossed_0, crossed_1, crossed_2, with_0, with_1, with_2, rivals = behind
    kind = int(card.type)
    gained += (deliveries >> 4 * kind & 15) * int(t.delivery_vp) * POINT
    deliveries &= ~(15 << 4 * kind)
    if card.asteroids > 0:
        crossed_0 += int(card.asteroids)
        with_0 = worth_of_contract(terms, 0, crossed_0, rivals * more_0)
    if card.comets > 0:
        crossed_1 += int(card.comets)
        with_1 = worth_of_contract(terms, 1, crossed_1, rivals * more_1)
    if card.stations > 0:
        crossed_2 += int(card.stations)
        with_2 = worth_of_contract(terms, 2, crossed_2, rivals * more_2)
    worth = gained + max(with_0, with_1, with_2)
    return worth, (gained, deliveries, crossed_0, crossed_1, crossed_2, with_0, with_1, with_2, rivals)


@leaf
def _end_at_card(t, player, card, rounds):
    """The worth of a disk on a sector that is added. Nobody has one behind it."""
    station, closest = station_worth(t, rounds)
    return (station + closest) * ((card.stations > 0) & (player.disks > 0))


@helper
def _add_sector(s, t, player, card, behind, tools, more_tools, terms, marks, out):
    """Add the last card of the row, which joins the run after the last pick.

    It takes the place of Kepler, which comes behind it.
    """
    place, limit = int(s.run_length) + 1, int(player.modules) + int(player.fuel) + AHEAD
    clear_column(out, PLACES_FUEL, place + 1)
    find_fuel(s, t, player, 0, place + 1, limit, tools, more_tools, tail_of(player, card), marks, out, PLACES_FUEL)
    worth, _ = _after_sector(t, card, behind, int(card.asteroids), int(card.comets), int(card.stations), terms)
    at_card = _end_at_card(t, player, card, rounds_to_come(s, t))
    out[PLACES_WORTH + PLACE_DERIVED * place] = cut(worth + PLACE * place + at_card)
    out[PLACES_WORTH + PLACE_DERIVED * (place + 1)] = cut(worth + PLACE * (place + 1) + POINT * int(t.first_arrival_vp))


@helper
def _beyond(s, t, player, card, other, is_last, beyond, behind, plan, tools, more_tools, sling, terms, rounds, out):
    """The best end behind the run if a card becomes its next sector. After the last pick the other card does, too."""
    length, fuel_worth, tank, ship = int(s.run_length), fuel_worth_of(rounds), int(player.modules), int(player.fuel)
    more_0, more_1, more_2 = int(card.asteroids), int(card.comets), int(card.stations)
    worth, behind = _after_sector(t, card, behind, more_0, more_1, more_2, terms)
    place = length + 1
    best = worth + PLACE * place + _end_at_card(t, player, card, rounds) - load_worth(beyond - tank, fuel_worth)
    fuel, tools_left, more_left, one, one_at, two, two_at = plan
    tail = tail_of(player, card)
    if sling == TOO_MUCH:
        paid, tools_left, more_left, one, one_at, two, two_at = leave(
            tools_left, more_left, one, one_at, two, two_at, tail & 15, tail >> 4
        )
        fuel = beyond + paid
    else:
        find_fuel(s, t, player, 0, place + 1, TOO_MUCH, tools, more_tools, tail, False, out, PLACES_AIM)
        fuel = int(out[PLACES_AIM + PLACE_DERIVED * (place + 1)]) - 1
        clear_column(out, PLACES_AIM, place + 1)
    place += 1
    if is_last:
        worth, behind = _after_sector(t, other, behind, more_0, more_1, more_2, terms)
        at_other = worth + PLACE * place + _end_at_card(t, player, other, rounds)
        best = max(best, at_other - load_worth(fuel - tank, fuel_worth) if fuel <= tank + ship else NEVER)
        tail = tail_of(player, other)
        paid, _, _, _, _, _, _ = leave(tools_left, more_left, one, one_at, two, two_at, tail & 15, tail >> 4)
        fuel += paid if sling == TOO_MUCH else tail >> 4
        place += 1
    fuel += _unknown_fuel(s)
    at_kepler = worth + PLACE * place + POINT * int(t.first_arrival_vp) - load_worth(fuel - tank, fuel_worth)
    return max(best, at_kepler if fuel <= tank + ship else NEVER)


# ---------------------------------------------------------------- parts


@leaf
def _flight_with(s, t, player, card, upto, tail, tank, tools, more_tools, sling, out):
    """The best flight with a card as a part, and with the tank of the modules that are left."""
    works, dots = int(card.part), int(card.dots)
    ship, fuel_worth = int(player.fuel), fuel_worth_of(rounds_to_come(s, t))
    best = NEVER
    if works != SLING_PART and sling == TOO_MUCH:
        for place in range(upto + 1):
            fuel = int(out[PLACES_FUEL + PLACE_DERIVED * place]) - 1
            loaded = fuel - max(0, saved_by(out, place, works) - dots) - tank
            worth = int(out[PLACES_WORTH + PLACE_DERIVED * place]) - load_worth(loaded, fuel_worth)
            best = max(best, worth if (fuel >= 0) & (loaded <= ship) else NEVER)
        return best
    with_it, more_with_it = add_tool(tools, more_tools, works, dots)
    find_fuel(s, t, player, 0, upto, tank + ship, with_it, more_with_it, tail, False, out, PLACES_AIM)
    kepler = PLACES_AIM + PLACE_DERIVED * (int(s.run_length) + 1)
    if upto > s.run_length and out[kepler] > 0:
        out[kepler] += _unknown_fuel(s)
    best = best_end(out, PLACES_AIM, 0, upto, tank, ship, fuel_worth)
    clear_column(out, PLACES_AIM, upto)
    return best


# ---------------------------------------------------------------- special actions


@leaf
def _special(s, t, seat, player, card, other, upto, last, met, deliveries, terms, rounds, tools, more_tools, out):
    """The best flight once a card was played for its special action, which makes it a delivery, too."""
    kind, action = int(card.type), int(card.action)
    pays = met >> 8 * kind & 255
    pays = NOWHERE if pays == 0 else pays
    pays = int(s.run_length) + 1 if (upto > last) & (pays == NOWHERE) & (other.type == card.type) else pays
    if action == OUTPOST:
        return _best_outpost(s, t, seat, player, upto, pays, rounds, out)
    if action == REFUEL:
        tank, ship, fuel_worth = int(player.modules), int(player.fuel), fuel_worth_of(rounds)
        added = min(int(t.refuel), int(t.fuel_cap) - ship)
        delivered = int(t.delivery_vp) * POINT
        return added * fuel_worth + _best_delivering(
            out, upto, tank, ship + added, fuel_worth, pays, delivered, NOWHERE
        )
    deliveries += 1 << 4 * kind
    return _best_reroute(s, t, seat, player, upto, pays, deliveries, terms, rounds, tools, more_tools, 0, False, out)


@leaf
def _best_delivering(out, upto, tank, ship, fuel_worth, pays, delivered, skipped):
    """The best flight if a delivery makes ends from ``pays`` on worth more.

    Two places from ``skipped`` on do not count.
    """
    best = NEVER
    for place in range(upto + 1):
        loaded = int(out[PLACES_FUEL + PLACE_DERIVED * place]) - 1 - tank
        worth = int(out[PLACES_WORTH + PLACE_DERIVED * place]) - load_worth(loaded, fuel_worth)
        worth += delivered * (place >= pays)
        counts = (loaded >= -tank) & (loaded <= ship) & (place != skipped) & (place != skipped + 1)
        best = max(best, worth if counts else NEVER)
    return best


@helper
def _best_outpost(s, t, seat, player, upto, pays, rounds, out):
    """The worth of a disk on the best of the free stations."""
    best, free, own_closest = NEVER, s.free_stations, _holds_closest(s, seat)
    while free:
        index = lowest(free)
        free = without_lowest(free)
        best = max(best, _outpost(s, t, player, index, upto, pays, rounds, own_closest, out))
    return best


@leaf
def _holds_closest(s, seat):
    """Whether the disk closest to Kepler is the player's own."""
    disks, owner = s.disk_set, 0
    while disks:
        owner = int(s.run[lowest(disks)].disk)
        disks = without_lowest(disks)
    return owner == seat + 1


@leaf
def _outpost(s, t, player, index, upto, pays, rounds, own_closest, out):
    """The worth of a disk on a run index, by itself and for the flight: it gives fuel, and there is one place less to
    end at."""
    fuel_worth, tank, ship = fuel_worth_of(rounds), int(player.modules), int(player.fuel)
    stations, disks = stations_for(s, player), np.int64(s.disk_set)
    station, closest = station_worth(t, rounds)
    visit, delivered = int(t.station_fuel) * fuel_worth, int(t.delivery_vp) * POINT
    best = NEVER
    for place in range(upto + 1):
        loaded = int(out[PLACES_FUEL + PLACE_DERIVED * place]) - 1 - tank
        worth = int(out[PLACES_WORTH + PLACE_DERIVED * place]) - load_worth(loaded, fuel_worth)
        worth += delivered * (place >= pays) + visit * (place > index)
        nearest = closest * (disks >> place == 0)
        lost = station + nearest if (place == index + 1) | (player.disks == 1) else nearest * (place <= index)
        worth -= lost * (stations << 1 >> place & 1)
        best = max(best, worth if (loaded >= -tank) & (loaded <= ship) else NEVER)
    farthest = disks >> index + 1 == 0
    return best + station + closest * (farthest & (not own_closest))


@leaf
def _best_reroute(s, t, seat, player, upto, pays, deliveries, terms, rounds, tools, more_tools, base, writes, out):
    """The best that two neighbours changing places can do, or each pair of them.

    It matters where a flight ends at one of the two.
    """
    fuel_worth, tank, ship, length = fuel_worth_of(rounds), int(player.modules), int(player.fuel), int(s.run_length)
    delivered, own_disk = int(t.delivery_vp) * POINT, seat + 1
    visit = int(t.station_fuel) * fuel_worth
    unchanged = _best_delivering(out, upto, tank, ship, fuel_worth, pays, delivered, NOWHERE)
    one, one_at, two, two_at = first_jumps(tools, more_tools)
    fuel, gained, crossed_0, crossed_1, crossed_2 = int(t.port_cost), 0, 0, 0, 0
    best, choice = NEVER, 0
    until = length
    if not writes:  # most swaps change nothing
        best, until = unchanged, min(length, upto + 1)
    for place in range(1, until):
        worth = unchanged
        if place <= upto:
            here, behind = s.run[place - 1], s.run[place]
            loaded = int(out[PLACES_FUEL + PLACE_DERIVED * place]) - 1 - tank
            if not writes and loaded > ship:
                break
            crossed = (
                crossed_0 + int(behind.asteroids),
                crossed_1 + int(behind.comets),
                crossed_2 + int(behind.stations),
            )
            front = gained + (deliveries >> 4 * int(behind.type) & 15) * delivered + visit * (behind.disk == own_disk)
            front += _end_in_front(s, t, player, place, crossed, terms, rounds)
            front = front - load_worth(loaded, fuel_worth) if (loaded >= -tank) & (loaded <= ship) else NEVER
            paid, _, _, _, _, _, _ = leave(
                tools, more_tools, one, one_at, two, two_at, int(behind.type), own_cost_of(player, behind)
            )
            back = _end_behind(s, t, player, place, fuel + paid, pays, rounds, out)
            worth = max(front, back)
            if writes and worth < unchanged:  # the best end may have been one of the two
                others = _best_delivering(out, upto, tank, ship, fuel_worth, pays, delivered, place)
                worth = max(worth, others)
            kind = int(here.type)
            gained += (deliveries >> 4 * kind & 15) * delivered + visit * (here.disk == own_disk)
            deliveries &= ~(15 << 4 * kind)
            crossed_0 += int(here.asteroids)
            crossed_1 += int(here.comets)
            crossed_2 += int(here.stations)
            paid, tools, more_tools, one, one_at, two, two_at = leave(
                tools, more_tools, one, one_at, two, two_at, kind, own_cost_of(player, here)
            )
            fuel += paid
        if writes:
            out[PLACES_AIM + PLACE_DERIVED * place] = cut(worth - base)
        choice = place if worth > best else choice
        best = max(best, worth)
    if writes:
        out[PLACES_BEST + PLACE_DERIVED * choice] = 1
    return best


@leaf
def _end_in_front(s, t, player, place, crossed, terms, rounds):
    """The worth of ending at the sector that comes to a place from the one behind: contracts, turn order and a disk."""
    stations, disks = stations_for(s, player), np.int64(s.disk_set)
    station, closest = station_worth(t, rounds)
    with_0 = worth_of_contract(terms, 0, crossed[0], 0)
    with_1 = worth_of_contract(terms, 1, crossed[1], 0)
    with_2 = worth_of_contract(terms, 2, crossed[2], 0)
    nearest = closest * ((disks >> place + 1 == 0) & (s.run[place - 1].disk == 0))
    return PLACE * place + max(with_0, with_1, with_2) + (stations >> place & 1) * (station + nearest)


@leaf
def _end_behind(s, t, player, place, fuel, pays, rounds, out):
    """The worth of ending at the sector that goes from a place to the one behind, having left the other one."""
    tank, ship = int(player.modules), int(player.fuel)
    if out[PLACES_FUEL + PLACE_DERIVED * (place + 1)] == 0 or fuel > tank + ship:
        return NEVER
    stations, disks = stations_for(s, player), np.int64(s.disk_set)
    station, closest = station_worth(t, rounds)
    worth = int(out[PLACES_WORTH + PLACE_DERIVED * (place + 1)]) + int(t.delivery_vp) * POINT * (place + 1 >= pays)
    change = (stations >> place - 1 & 1) - (stations >> place & 1)
    worth += change * (station + closest * (disks >> place + 1 == 0))
    return worth - load_worth(fuel - tank, fuel_worth_of(rounds))


@helper
def _write_aims(s, t, seat, player, base, upto, deliveries, terms, tools, more_tools, out):
    """Write each sector that the special action can be applied to."""
    rounds = rounds_to_come(s, t)
    if s.pending_action != OUTPOST:
        _best_reroute(s, t, seat, player, upto, NOWHERE, deliveries, terms, rounds, tools, more_tools, base, True, out)
        return
    best, choice, free, own_closest = NEVER, 0, s.free_stations, _holds_closest(s, seat)
    while free:
        index = lowest(free)
        free = without_lowest(free)
        worth = _outpost(s, t, player, index, upto, NOWHERE, rounds, own_closest, out)
        out[PLACES_AIM + PLACE_DERIVED * (index + 1)] = cut(worth - base)
        choice = index + 1 if worth > best else choice
        best = max(best, worth)
    out[PLACES_BEST + PLACE_DERIVED * choice] = 1
