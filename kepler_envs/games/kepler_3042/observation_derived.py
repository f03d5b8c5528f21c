"""What follows from the facts of an observation: what a player reads off the table at a glance.

Everything is worked out from what the seat sees: open tiles, boards, and its own objectives.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import bit_count, lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.simd import write_row
from kepler_envs.games.kepler_3042.hexes import WORDS, includes, is_empty
from kepler_envs.games.kepler_3042.layout import (
    IN_SPACE,
    LEVEL_ROW,
    ON_MINE,
    ON_PLANET,
    TRACK_ROW,
    WAYS_OF_A_SHIP,
    first,
    width,
    within,
)
from kepler_envs.games.kepler_3042.rules_actions import can_colonise, can_terraform
from kepler_envs.games.kepler_3042.rules_board import (
    benefit,
    colonies,
    cubes_outside_the_pit,
    extra,
    own_turn,
    planet_at,
    production,
    rows_in_use,
    seat_after,
    slots,
)
from kepler_envs.games.kepler_3042.rules_cards import burns_for, find_beneficiaries
from kepler_envs.games.kepler_3042.rules_movement import destinations, home, mover_hex, places, ready_to_move
from kepler_envs.games.kepler_3042.rules_scoring import achieved, public_points
from kepler_envs.games.kepler_3042.state import (
    ANTIMATTER,
    ANTIMATTER_GENERATION,
    ANTIMATTER_SCIENCE,
    BY_MISSION,
    COLONY_SEEDING,
    EARTH,
    ENERGY,
    ENERGY_DEVELOPMENT,
    ENERGY_STORAGE,
    GALACTIC_MAPPING,
    MATTER,
    MAX_COLONIES,
    MAX_LEVEL,
    MAX_SHIPS,
    MINE,
    NUM_BONUS,
    NUM_MAIN,
    NUM_MEDALS,
    NUM_PLANETS,
    NUM_RESOURCES,
    NUM_TECHS,
    NUM_TRACKS,
    PLANETARY_EXPLOITATION,
    SPACE_MISSIONS,
    SPACE_TRAVELS,
    STELLAR_PROPULSION,
    TECHNOLOGICAL_DEVELOPMENT,
    TERRAFORM,
    TERRAFORMING,
    TRACK_END,
    Node,
    Phase,
    What,
    Who,
)
from kepler_envs.games.kepler_3042.worth import (
    CUBE_READY,
    SOON,
    STEP,
    TURNS,
    bonus_worth,
    burn_cost,
    cube_worth,
    lead_of,
    less_where_others_are_nearer,
    level_worth,
    rounds_left,
    step_worth,
    terraforming_worth,
    usual_speed,
    way_worth,
    worth_case,
)

NOTHING = np.uint64(0)

GAME = first("game", derived=True)
(ASKED, OWN_TURN, ROUNDS_LEFT, FACE_DOWN, _1, _2, MINIMUM_SCORE, FOCUS, BURNABLE, BURN_COST, NEW_SHIP, WHO, WHAT, SUBJECT, COUNT, BURNS,
 PRODUCED, _3, _4, FOR_ME) = range(GAME, GAME + width("game", derived=True))  # fmt: skip

PLAYERS, PLAYER = first("players", derived=True), width("players", derived=True)
ON_COLONIES, PLAYERS_PRODUCTION, POSITION, TURN_TAKEN, PUBLIC_VP, RANK = (
    within(f"players.{name}") for name in ("on_colonies", "production", "position", "turn_taken", "public_vp", "rank")
)

TRACKS, TRACK = first("tracks", derived=True), width("tracks", derived=True)
(SPACE, NEXT_POINTS, NEXT_ICON, STEPS_TO_ICON, AHEAD, NEXT_MEDAL, STEPS_TO_MEDAL, STEP_WORTH) = range(TRACK)

TECHS, TECH = first("technologies", derived=True), width("technologies", derived=True)
(NEXT, COST, _5, _6, LEADERSHIP, TECH_POINTS, BENEFIT, EXTRA, MORE, MORE_EXTRA, TECH_LACKING, PAYERS, RAISED, OTHERS, FOR_FREE, BURNED,
 LEVEL_WORTH) = range(TECH)  # fmt: skip
assert (
    LEVEL_ROW["entries"].shape[0] == MORE_EXTRA - NEXT + 1
    and TRACK_ROW["entries"].shape[0] == STEPS_TO_ICON - SPACE + 1
)

MAIN, MAIN_ROW = first("main_actions", derived=True), width("main_actions", derived=True)
(COLUMN, ROW, AMOUNT, MAIN_WORTH, ITS_BONUSES) = range(MAIN_ROW)
BONUS, BONUS_ROW = first("bonus_actions", derived=True), width("bonus_actions", derived=True)
(OFFERED, BONUS_WORTH) = range(BONUS_ROW)
RESOURCES, RESOURCE = first("resources", derived=True), width("resources", derived=True)
(ON_CARDS, LACKING_IN_ALL, PRODUCTION_IN_ALL) = range(RESOURCE)

SLOTS, SLOT = first("slots", derived=True), width("slots", derived=True)
(SLOT_PLACE, CARD, TYPE, ZONE, LEVEL, TERRAFORMED, VP, SLOT_LEADERSHIP, CUBES, _7, _8, LACKING, _9, _10, PRODUCTION, _11, _12, MISSING,
 MISSING_LEVELS, READY, PRODUCIBLE, EXPLOITED, PAYS_LEVELS, PAYS_SHIPS, SHARE, ENERGY_WORTH, ANTIMATTER_WORTH,
 ANY_WORTH) = range(SLOT)  # fmt: skip

PLANETS, PLANET = first("planets", derived=True), width("planets", derived=True)
SITES, SITE = first("sites", derived=True), width("sites", derived=True)
PLANET_WORTH = within("planets.worth")
STARSHIPS, STARSHIP = first("starships", derived=True), width("starships", derived=True)
(WHERE, AIM, AIM_STEPS, AIM_TURNS, SHIP_WORTH, SEEDS, SEED_LEADERSHIP, SEED_POINTS) = range(STARSHIP)
RIVALS = first("rivals", derived=True)
OBJECTIVES, OBJECTIVE = first("objectives", derived=True), width("objectives", derived=True)
HAVE, SATISFIED = within("objectives.have"), within("objectives.satisfied")
WAYS, WAY = first("ways", derived=True), width("ways", derived=True)
(WAY_SHIP, WAY_TARGET, NEAR, FEWEST_TURNS, CHOSEN, WAY_STEPS, WAY_WORTH) = range(WAY)


@helper
def derive(s, t, seat, out):
    """Write all derived fields; ``out`` holds the facts, and what the component file says."""
    _derive_game(s, t, seat, out)
    _derive_players(s, t, seat, out)
    _derive_tiles(s, t, seat, out)
    _derive_starships(s, t, seat, out)
    _derive_slots(s, t, seat, out)
    _derive_technologies(s, t, seat, out)
    _derive_tracks(s, t, seat, out)
    _derive_actions(s, t, seat, out)
    _derive_objectives(s, t, seat, out)
    if s.seat == seat and s.node in (Node.MOVEMENT, Node.GOING_ON, Node.PLACE):
        _derive_ways(s, t, seat, out)


# ---------------------------------------------------------------- the whole


@helper
def _derive_game(s, t, seat, out):
    player = s.player[seat]
    out[ASKED] = s.seat == seat and s.phase != Phase.OVER
    out[OWN_TURN] = s.seat == seat and own_turn(s)
    out[ROUNDS_LEFT] = rounds_left(s)
    if s.level > 0:
        out[MINIMUM_SCORE] = t.minimum_score[s.level]
    if s.flow == Node.GOING_ON:
        out[FOCUS] = mover_hex(s) + 1
    elif s.flow == Node.PLACE and s.source == BY_MISSION:
        out[FOCUS] = home(s, t, s.player[s.active], s.place_slot - 1) + 1
    out[BURNABLE] = cubes_outside_the_pit(player)
    out[BURN_COST] = burn_cost(player, rounds_left(s))
    if s.round_number > 0:
        _derive_card(s, t, seat, out)


@leaf
def _derive_card(s, t, seat, out):
    card = t.card[s.deck[s.round_number - 1]]
    out[WHO] = card.who + 1
    out[WHAT] = card.what + 1
    if card.who >= Who.HIGHEST_TECH:
        out[SUBJECT] = card.tech + 1
    elif card.what == What.TRACK:
        out[SUBJECT] = card.track + 1
    out[COUNT] = card.count
    out[BURNS] = card.burns
    for kind in range(NUM_RESOURCES):
        out[PRODUCED + kind] = card.produced[kind]
    out[FOR_ME] = find_beneficiaries(s, t) >> seat & 1


@helper
def _derive_players(s, t, seat, out):
    n = int(s.num_players)
    for distance in range(n):
        other = int(seat_after(s, seat, distance))
        row = PLAYERS + PLAYER * distance
        player = s.player[other]
        write_row(out, row, player.counts_row)
        for slot in colonies(player):
            produced = production(s, t, player, slot)
            for kind in range(NUM_RESOURCES):
                out[row + ON_COLONIES + kind] += player.cubes[slot, kind]
                out[row + PLAYERS_PRODUCTION + kind] += produced[kind]
        position = other - int(s.first)
        position += n if position < 0 else 0
        out[row + POSITION] = position
        out[row + TURN_TAKEN] = s.phase in (Phase.TURNS, Phase.CLEANUP) and position < s.turn_index
        out[row + PUBLIC_VP] = public_points(s, t, other)
    for distance in range(n):
        row = PLAYERS + PLAYER * distance
        rank = 1
        for other in range(n):
            rank += int(out[PLAYERS + PLAYER * other + PUBLIC_VP] > out[row + PUBLIC_VP])
        out[row + RANK] = rank


@leaf
def _derive_objectives(s, t, seat, out):
    left = np.uint64(s.player[seat].objectives)
    while left != NOTHING:
        number = lowest(left)
        left = without_lowest(left)
        objective = t.objective[number]
        have = achieved(s, t, seat, np.int64(objective.test), np.int64(objective.subject))
        row = OBJECTIVES + OBJECTIVE * number
        out[row + HAVE] = have
        out[row + SATISFIED] = have >= objective.count


# ---------------------------------------------------------------- tiles and starships


@helper
def _derive_tiles(s, t, seat, out):
    """Open tiles without an owner: what they are worth, and the way of each own starship in space to the best one."""
    player = s.player[seat]
    left = rounds_left(s)
    speed = usual_speed(t, player)
    case, soon = worth_case(t, player), min(SOON, left)
    one, two, three = _in_space(s, player, 0), _in_space(s, player, 1), _in_space(s, player, 2)
    sites = 0
    best_new = 0
    planets, mines, down = 0, 0, 0
    for word in range(WORDS):
        down += bit_count(s.bodies[word] & ~s.face_up[word])
        planets += bit_count(s.colonised[word])
        tiles = s.face_up[word] & ~s.colonised[word]
        while tiles != NOTHING:
            place = 64 * word + lowest(tiles)
            tiles = without_lowest(tiles)
            body = int(s.body[place])
            worth = int(t.open_worth[case, soon, body, t.zone[place]])
            if body > NUM_PLANETS:
                out[SITES + SITE * sites] = worth
                sites += 1
                mines += int(body == MINE)
            else:
                out[PLANETS + PLANET * (body - 1) + PLANET_WORTH] = worth
                planets += 1
            if includes(s.ships, place):
                continue
            if one >= 0:
                _approach(s, t, player, 0, one, place, body, worth, speed, left, out)
            if two >= 0:
                _approach(s, t, player, 1, two, place, body, worth, speed, left, out)
            if three >= 0:
                _approach(s, t, player, 2, three, place, body, worth, speed, left, out)
            if worth > best_new:
                steps = int(t.sol_distance[place])
                new = way_worth(worth, body, steps, speed, left)
                if new > best_new:
                    if player.ships_in_space > 0:
                        new = less_where_others_are_nearer(s, t, player, -1, place, steps, new)
                    best_new = max(best_new, new)
    out[NEW_SHIP] = best_new
    planets = int(t.planets_in_play[s.tile_group]) - planets
    mines = int(t.setup[s.num_players].mines) - mines
    out[FACE_DOWN] = planets
    out[FACE_DOWN + 1] = mines
    out[FACE_DOWN + 2] = down - planets - mines


@leaf
def _in_space(s, player, ship):
    """Where an own starship in empty space is; -1 if it is not."""
    place = int(player.ship[ship]) - 1
    return place if place >= 0 and s.body[place] == 0 else -1


@leaf
def _approach(s, t, player, ship, start, place, body, worth, speed, left, out):
    """Each own starship in space remembers the best tile; one that is worth less than that needs no look."""
    row = STARSHIPS + STARSHIP * ship
    if worth > out[row + SHIP_WORTH]:
        steps = int(t.distance[start, place])
        found = way_worth(worth, body, steps, speed, left)
        if found > out[row + SHIP_WORTH]:
            if player.ships_in_space > 1:
                found = less_where_others_are_nearer(s, t, player, ship, place, steps, found)
            if found > out[row + SHIP_WORTH]:
                out[row + AIM] = place + 1
                out[row + AIM_STEPS] = steps
                out[row + AIM_TURNS] = TURNS[speed, steps]
                out[row + SHIP_WORTH] = found


@leaf
def _where(s, place):
    """IN_SUPPLY and so on."""
    if place < 0:
        return 0
    body = s.body[place]
    return IN_SPACE if body == 0 else ON_MINE if body == MINE else ON_PLANET


@helper
def _derive_starships(s, t, seat, out):
    player = s.player[seat]
    for ship in range(MAX_SHIPS):
        place = int(player.ship[ship]) - 1
        row = STARSHIPS + STARSHIP * ship
        out[row + WHERE] = _where(s, place)
        planet = planet_at(s, place) if place >= 0 else 0
        if planet > 0:
            out[row + SHIP_WORTH] = t.open_worth[
                worth_case(t, player), min(SOON, rounds_left(s)), planet, t.zone[place]
            ]
            out[row + SEEDS] = can_colonise(s, t, player, ship)
            out[row + SEED_LEADERSHIP] = t.colonise_leadership[t.planet[planet].kind]
            out[row + SEED_POINTS] = t.zone_vp[t.zone[place]]
    for distance in range(1, int(s.num_players)):
        other = s.player[seat_after(s, seat, distance)]
        for ship in range(MAX_SHIPS):
            out[RIVALS + MAX_SHIPS * (distance - 1) + ship] = _where(s, int(other.ship[ship]) - 1)


@helper
def _derive_ways(s, t, seat, out):
    """Where the starships that may move, or the new one, would best go, and by which legal hex."""
    player = s.player[seat]
    if s.node == Node.PLACE:
        legal = places(s, t, player)
        begin = max(0, int(s.place_slot) - 1)
        end = begin + 1 if s.place_slot > 0 else int(player.colonies) + 1
        best = _best_way(s, t, player, np.int64(-1), np.int64(begin), np.int64(end), np.int64(-1))
        second = _best_way(s, t, player, np.int64(-1), np.int64(begin), np.int64(end), np.int64(_goal(best)))
        _write_ways(t, player, np.int64(0), best, second, legal, out)
        return
    for ship in range(MAX_SHIPS):
        if ship == s.moving - 1 or (s.moving == 0 and ready_to_move(s, t, player, ship)):
            legal = destinations(s, t, player, ship, s.points if s.moving > 0 else s.speed)
            if not is_empty(legal):
                row = STARSHIPS + STARSHIP * ship
                best = int(out[row + SHIP_WORTH]) << 10 | int(out[row + AIM])
                second = _best_way(s, t, player, np.int64(ship), np.int64(0), np.int64(0), np.int64(_goal(best)))
                _write_ways(t, player, np.int64(ship + 1), best, second, legal, out)


@leaf
def _goal(way):
    """The tile of a way; -1 if it is none."""
    return (way & 1023) - 1


@helper
def _best_way(s, t, player, ship, begin, end, without):
    """1024 times the worth of the best tile to go to, and 1 + its hex; 0 if there is none.

    From a starship, or from the nearest of the planets of some slots; ``without`` is a tile that does not count.
    """
    left = rounds_left(s)
    speed = usual_speed(t, player)
    case, soon = worth_case(t, player), min(SOON, left)
    best = 0
    for word in range(WORDS):
        tiles = s.face_up[word] & ~s.colonised[word] & ~s.ships[word]
        while tiles != NOTHING:
            place = 64 * word + lowest(tiles)
            tiles = without_lowest(tiles)
            body = int(s.body[place])
            steps = 99
            if ship >= 0:
                steps = int(t.distance[player.ship[ship] - 1, place])
            for slot in range(begin, end):
                steps = min(steps, int(t.distance[home(s, t, player, slot), place]))
            worth = way_worth(int(t.open_worth[case, soon, body, t.zone[place]]), body, steps, speed, left)
            if worth > best >> 10 and place != without:
                worth = less_where_others_are_nearer(s, t, player, ship, place, steps, worth)
                if worth > best >> 10:
                    best = worth << 10 | place + 1
    return best


@helper
def _write_ways(t, player, ship, best, second, legal, out):
    """Two rows of a starship (0 the one that is placed)."""
    row = WAYS + WAY * WAYS_OF_A_SHIP * max(0, ship - 1)
    is_first = True
    for earlier in range(WAYS, row, WAY):
        is_first &= out[earlier + CHOSEN] == 0
    out[row + CHOSEN] = is_first and best > 0
    if best > 0:
        _write_way(t, player, ship, best, legal, out, row)
    if second > 0:
        _write_way(t, player, ship, second, legal, out, row + WAY)


@helper
def _write_way(t, player, ship, way, legal, out, row):
    target = _goal(way)
    speed = usual_speed(t, player)
    nearest, near, turns, soon = 99, 0, 99, 0
    for word in range(WORDS):
        left = legal[word]
        while left != NOTHING:
            place = 64 * word + lowest(left)
            left = without_lowest(left)
            steps = int(t.distance[place, target])
            if steps < nearest:
                nearest, near = steps, place
            if TURNS[speed, steps] < turns:
                turns, soon = TURNS[speed, steps], place
    out[row + WAY_SHIP] = ship
    out[row + WAY_TARGET] = target + 1
    out[row + NEAR] = near + 1
    out[row + FEWEST_TURNS] = soon + 1
    out[row + WAY_STEPS] = nearest
    out[row + WAY_WORTH] = way >> 10


# ---------------------------------------------------------------- the own board


@helper
def _derive_slots(s, t, seat, out):
    player = s.player[seat]
    cheap = extra(t, player, SPACE_TRAVELS) > 0
    left = rounds_left(s)
    for slot in slots(player):
        row = SLOTS + SLOT * slot
        out[row + SLOT_PLACE] = home(s, t, player, slot) + 1
        for kind in range(NUM_RESOURCES):
            out[row + CUBES + kind] = player.cubes[slot, kind]
            out[RESOURCES + RESOURCE * kind + ON_CARDS] += player.cubes[slot, kind]
        energy, matter = int(player.cubes[slot, ENERGY]), int(player.cubes[slot, MATTER])
        out[row + PAYS_SHIPS] = energy if cheap else min(energy, matter)
        if slot > EARTH:
            _derive_colony(s, t, player, slot, left, out, row)
            out[row + EXPLOITED] = seat == s.active and s.exploited >> slot & 1
    row = SLOTS + SLOT * EARTH
    out[row + TERRAFORMED] = 1
    out[row + ENERGY_WORTH] = 100
    out[row + ANTIMATTER_WORTH] = 100
    out[row + ANY_WORTH] = 100


@helper
def _derive_colony(s, t, player, slot, left, out, row):
    number = int(player.slot[slot])
    planet = t.planet[number]
    out[row + CARD] = number
    out[row + TYPE] = planet.kind + 1
    out[row + ZONE] = t.zone[s.planet_hex[number] - 1] + 1
    out[row + LEVEL] = planet.level
    produced = production(s, t, player, slot)
    producible = 0
    for kind in range(NUM_RESOURCES):
        out[row + PRODUCTION + kind] = produced[kind]
        out[RESOURCES + RESOURCE * kind + PRODUCTION_IN_ALL] += produced[kind]
        producible += min(int(produced[kind]), int(player.storage[kind]))
    out[row + PRODUCIBLE] = producible
    if s.planet_terraformed[number]:
        out[row + TERRAFORMED] = 1
        worth = 10 * (int(planet.colony[ENERGY]) + int(planet.colony[MATTER]) + 1)
        out[row + ENERGY_WORTH] = worth
        out[row + ANTIMATTER_WORTH] = worth
        out[row + ANY_WORTH] = worth
        return
    missing = 0
    for kind in range(NUM_RESOURCES):
        lacking = max(0, int(planet.cost[kind]) - int(player.cubes[slot, kind]))
        out[row + LACKING + kind] = lacking
        out[RESOURCES + RESOURCE * kind + LACKING_IN_ALL] += lacking
        missing += lacking
    missing_levels = max(0, int(planet.level) - extra(t, player, TERRAFORMING))
    out[row + VP] = planet.vp
    out[row + SLOT_LEADERSHIP] = t.terraform_leadership[planet.kind]
    out[row + MISSING] = missing
    out[row + MISSING_LEVELS] = missing_levels
    out[row + READY] = can_terraform(s, t, player, slot)
    share = max(5, 90 - 14 * missing - 20 * missing_levels)
    out[row + SHARE] = share * terraforming_worth(t, number) * min(4, left) // 400
    out[row + ENERGY_WORTH] = cube_worth(t, player, slot, ENERGY)
    out[row + ANTIMATTER_WORTH] = cube_worth(t, player, slot, ANTIMATTER)
    out[row + ANY_WORTH] = cube_worth(t, player, slot, -1)


@helper
def _derive_technologies(s, t, seat, out):
    player = s.player[seat]
    left = rounds_left(s)
    for tech in range(NUM_TECHS):
        row = TECHS + TECH * tech
        level = int(player.tech[tech])
        write_row(out, row, t.level_row[tech, level].entries)
        highest = 0
        for other in range(rows_in_use(s)):
            if other != seat:
                highest = max(highest, int(s.player[other].tech[tech]))
        out[row + OTHERS] = highest
        if level < MAX_LEVEL:
            _derive_next_level(s, t, seat, tech, level + 1, left, out, row)


@leaf
def _derive_next_level(s, t, seat, tech, level, left, out, row):
    player = s.player[seat]
    following = t.tech[tech, level]
    least = 99
    for slot in slots(player):
        lacking = 0
        for kind in range(NUM_RESOURCES):
            lacking += max(0, int(following.cost[kind]) - int(player.cubes[slot, kind]))
        least = min(least, lacking)
        out[row + PAYERS] += lacking == 0
        out[SLOTS + SLOT * slot + PAYS_LEVELS] += lacking == 0
    out[row + TECH_LACKING] = least
    for distance in range(1, int(s.num_players)):
        out[row + RAISED] += s.player[seat_after(s, seat, distance)].tech[tech] < following.unlock
    if s.round_number > 0:
        card = t.card[s.deck[s.round_number - 1]]
        if card.what == What.FREE_TECH and level <= card.count:
            burned = burns_for(card, level)
            out[row + FOR_FREE] = burned <= cubes_outside_the_pit(player)
            out[row + BURNED] = burned
    out[row + LEVEL_WORTH] = level_worth(t, tech, level, left)


@helper
def _derive_tracks(s, t, seat, out):
    player = s.player[seat]
    for track in range(NUM_TRACKS):
        row = TRACKS + TRACK * track
        space = int(player.track[track])
        ahead = lead_of(s, seat, track)
        write_row(out, row, t.track_row[track, space].entries)
        out[row + AHEAD] = ahead
        out[row + STEP_WORTH] = step_worth(s, t, player, track, ahead)
        nearest = TRACK_END + 1
        for medal in range(NUM_MEDALS):
            steps = int(t.medal_space[track, medal]) - space
            if steps > 0 and s.track_medals[track, medal]:
                nearest = min(nearest, steps)
        if nearest <= TRACK_END:
            out[row + STEPS_TO_MEDAL] = nearest
            out[row + NEXT_MEDAL] = nearest == 1


# ---------------------------------------------------------------- what the actions could bring


@helper
def _derive_actions(s, t, seat, out):
    """Bonus actions first: they count for the main actions on whose column and row they are."""
    player = s.player[seat]
    left = rounds_left(s)
    ways = 0
    for ship in range(MAX_SHIPS):
        row = STARSHIPS + STARSHIP * ship
        ways += int(out[row + SHIP_WORTH]) * int(out[row + WHERE] == IN_SPACE)
    steps = (int(out[TRACKS + STEP_WORTH]), int(out[TRACKS + TRACK + STEP_WORTH]))
    offered = int(t.bonus_of[player.action_cube])
    burned = int(out[BURN_COST])
    for bonus in range(NUM_BONUS):
        out[BONUS + BONUS_ROW * bonus + OFFERED] = offered >> bonus & 1
        out[BONUS + BONUS_ROW * bonus + BONUS_WORTH] = bonus_worth(player, bonus, steps, int(out[NEW_SHIP]), ways, left)
    for action in range(NUM_MAIN):
        row = MAIN + MAIN_ROW * action
        first_bonus = BONUS + BONUS_ROW * (int(out[row + COLUMN]) - 1)
        second_bonus = BONUS + BONUS_ROW * (int(out[row + ROW]) - 1)
        worth = max(0, int(out[first_bonus + BONUS_WORTH]) - burned) + max(
            0, int(out[second_bonus + BONUS_WORTH]) - burned
        )
        out[row + ITS_BONUSES] = worth
    _derive_flights(t, player, ways, out)
    _derive_planets_work(s, t, player, left, out)
    _derive_development(t, out)
    faces_down = int(out[FACE_DOWN]) + int(out[FACE_DOWN + 1]) + int(out[FACE_DOWN + 2])
    _write_action(out, GALACTIC_MAPPING, min(int(t.reveals), faces_down), max(steps[0], steps[1]))
    energy = min(benefit(t, player, ENERGY_DEVELOPMENT), int(player.storage[ENERGY]))
    _write_action(out, ENERGY_STORAGE, energy, CUBE_READY * energy * min(3, left) // 3)
    antimatter = min(benefit(t, player, ANTIMATTER_SCIENCE), int(player.storage[ANTIMATTER]))
    gain = max(0, 100 * int(t.vp_antimatter) - 40 * min(3, left) // 3)
    _write_action(out, ANTIMATTER_GENERATION, antimatter, gain * antimatter)


@leaf
def _write_action(out, action, amount, worth):
    out[MAIN + MAIN_ROW * action + AMOUNT] = amount
    out[MAIN + MAIN_ROW * action + MAIN_WORTH] = worth


@leaf
def _derive_flights(t, player, ways, out):
    """Space Missions, Colony Seeding and Stellar Propulsion."""
    payable = 0
    for slot in slots(player):
        payable += int(out[SLOTS + SLOT * slot + PAYS_SHIPS])
    built = min(min(payable, int(t.ships_per_mission)), int(player.ships_in_supply))
    _write_action(out, SPACE_MISSIONS, built, built * int(out[NEW_SHIP]) * 85 // 100)
    seeded, worth = 0, 0
    for ship in range(MAX_SHIPS):
        row = STARSHIPS + STARSHIP * ship
        if out[row + SEEDS] and seeded + player.colonies < MAX_COLONIES:
            seeded += 1
            worth += 100 * int(out[row + SEED_POINTS]) + STEP * int(out[row + SEED_LEADERSHIP])
    _write_action(out, COLONY_SEEDING, seeded, worth)
    speed = benefit(t, player, SPACE_TRAVELS) if player.ships_in_space > 0 else 0
    _write_action(out, STELLAR_PROPULSION, speed, ways * 14 // 100 if speed > 0 else 0)


@leaf
def _derive_planets_work(s, t, player, left, out):
    """Terraforming and Planetary Exploitation."""
    ready, worth, producing, best = 0, 0, 0, 0
    for slot in colonies(player):
        row = SLOTS + SLOT * slot
        if out[row + READY]:
            ready += 1
            worth += terraforming_worth(t, player.slot[slot])
        producing += int(out[row + PRODUCIBLE] > 0)
        best = max(best, int(out[row + PRODUCIBLE]))
    _write_action(out, TERRAFORM, ready, worth)
    exploited = min(producing, benefit(t, player, TERRAFORMING))
    _write_action(out, PLANETARY_EXPLOITATION, exploited, CUBE_READY * exploited * best * min(3, left) // 3)


@leaf
def _derive_development(t, out):
    """Technological Development: the levels that can be paid, and the best of them."""
    payable, worth = 0, 0
    for tech in range(NUM_TECHS):
        row = TECHS + TECH * tech
        if out[row + PAYERS] > 0:
            payable += 1
            worth = max(worth, int(out[row + LEVEL_WORTH]))
    _write_action(out, TECHNOLOGICAL_DEVELOPMENT, payable, worth)
