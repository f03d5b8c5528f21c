"""What follows from the facts of an observation: what a player reads off the table at a glance.

Everything is worked out from what the seat sees: open tiles, boards, and its own objectives. Points and objectives are
there for every observer; the rest is about the choice at a node, so it is worked out at that node alone, for the seat
that decides.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import bit_count, has, lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.simd import write_row
from kepler_envs.games.kepler_3042.hexes import WORDS, is_empty
from kepler_envs.games.kepler_3042.observation_layout import (
    CARD_ROW,
    FACTS_SIZE,
    IN_SPACE,
    LEVEL_ROW,
    ON_MINE,
    ON_PLANET,
    TRACK_ROW,
    WAYS_OF_A_SHIP,
    columns,
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
    planet_at,
    production,
    rows_in_use,
    seat_after,
    slots,
)
from kepler_envs.games.kepler_3042.rules_cards import burns_for, has_best_claim
from kepler_envs.games.kepler_3042.rules_movement import destinations, home, mover_hex, places, ready_to_move
from kepler_envs.games.kepler_3042.rules_scoring import achieved, public_points
from kepler_envs.games.kepler_3042.state import (
    ANTIMATTER,
    ANTIMATTER_GENERATION,
    ANTIMATTER_SCIENCE,
    BY_MISSION,
    CIVIL_MODERNITY,
    COLONIAL,
    COLONY_SEEDING,
    EARTH,
    ENERGY,
    ENERGY_DEVELOPMENT,
    ENERGY_STORAGE,
    EVOLUTION_OF_TECHNOLOGY,
    EXPLORATORY_PLANNING,
    GALACTIC_MAPPING,
    LINES,
    MATTER,
    MAX_COLONIES,
    MAX_LEVEL,
    MAX_SHIPS,
    MINE,
    NEO,
    NUM_BONUS,
    NUM_PLANETS,
    NUM_RESOURCES,
    NUM_TECHS,
    NUM_TRACKS,
    PLANETARY_EXPLOITATION,
    SCIENTIFIC_PROGRESS,
    SPACE_LOGISTICS,
    SPACE_MISSIONS,
    SPACE_TRAVELS,
    STELLAR_PROPULSION,
    TECHNOLOGICAL,
    TECHNOLOGICAL_DEVELOPMENT,
    TERRAFORM,
    TERRAFORMING,
    TRACK_END,
    Node,
    Phase,
    What,
    node_set,
)
from kepler_envs.games.kepler_3042.worth import (
    CUBE_READY,
    SOON,
    STEP,
    TURNS,
    burn_cost,
    cube_worth,
    lead_of,
    less_where_others_are_nearer,
    rounds_left,
    step_worth,
    terraforming_worth,
    usual_speed,
    way_worth,
    worth_case,
)

NOTHING = np.uint64(0)
NO_WAY = 1023  # a way is 1024 times its worth, and this less the hex of the tile: a larger number is the better way

LEAD, WHO, FOR_ME, BURN_COST, NEW_SHIP, FOCUS = (
    first("game", derived=True) + column for column in columns("game", "lead who for_me burn_cost new_ship focus")
)
PLAYERS, PLAYER = first("players", derived=True), width("players", derived=True)
PUBLIC_VP = within("players.public_vp")
OBJECTIVES, OBJECTIVE = first("objectives", derived=True), width("objectives", derived=True)
HAVE, SATISFIED = columns("objectives", "have satisfied")
TRACKS, TRACK = first("tracks", derived=True), width("tracks", derived=True)
AHEAD, NEXT_MEDAL, STEP_WORTH = columns("tracks", "ahead next_medal worth")
TECHS, TECH = first("technologies", derived=True), width("technologies", derived=True)
TECH_LACKING, PAYERS, RAISED, OTHERS, FOR_FREE, BURNED, LEVEL_WORTH = columns(
    "technologies", "lacking payers raised others for_free burned worth"
)
MAIN, MAIN_ROW = first("main_actions", derived=True), width("main_actions", derived=True)
COLUMN, ROW, AMOUNT, MAIN_WORTH, ITS_BONUSES = columns("main_actions", "column row amount worth bonus_worth")
BONUS, BONUS_ROW = first("bonus_actions", derived=True), width("bonus_actions", derived=True)
OFFERED, BONUS_WORTH = columns("bonus_actions", "offered worth")
RESOURCES, RESOURCE = first("resources", derived=True), width("resources", derived=True)
LACKING_IN_ALL, PRODUCTION_IN_ALL = columns("resources", "lacking production")
SLOTS, SLOT = first("slots", derived=True), width("slots", derived=True)
CARD, TERRAFORMED, VP, SLOT_LEADERSHIP, CUBES, LACKING, PRODUCTION = columns(
    "slots", "of terraformed vp leadership cubes lacking production"
)
MISSING, MISSING_LEVELS, READY, PRODUCIBLE, EXPLOITED, PAYS_SHIPS = columns(
    "slots", "missing missing_levels ready producible exploited pays_ships"
)
SHARE, ENERGY_WORTH, ANTIMATTER_WORTH, ANY_WORTH = columns("slots", "share energy antimatter any")
PLANETS, PLANET = first("planets", derived=True), width("planets", derived=True)
SITES, SITE = first("sites", derived=True), width("sites", derived=True)
PLANET_WORTH = within("planets.worth")
STARSHIPS, STARSHIP = first("starships", derived=True), width("starships", derived=True)
WHERE, SEEDS, SEED_LEADERSHIP, SEED_POINTS, AIM, AIM_STEPS, AIM_TURNS, SHIP_WORTH = columns(
    "starships", "where seeds leadership points target steps turns worth"
)
WAYS, WAY = first("ways", derived=True), width("ways", derived=True)
WAY_SHIP, WAY_TARGET, NEAR, FEWEST_TURNS, CHOSEN, WAY_STEPS, WAY_WORTH = columns(
    "ways", "ship target near soon chosen steps worth"
)

# rows that are copied from tables by component file: what comes before the first field that is computed
assert LEVEL_ROW["entries"].shape == (TECH_LACKING,)
assert TRACK_ROW["entries"].shape == (AHEAD,)
assert CARD_ROW["entries"].shape == (FOR_ME - WHO,)

TRACK_NODES = node_set(Node.MAIN_ACTION, Node.BONUS_ACTION, Node.MAPPING_TRACK)
TECHNOLOGY_NODES = node_set(Node.FIRST_TECHNOLOGY, Node.TECHNOLOGICAL_DEVELOPMENT, Node.CARD_TECHNOLOGY)
STARSHIP_NODES = node_set(
    Node.MAIN_ACTION, Node.COLONY_SEEDING, Node.MOVEMENT, Node.MOVER, Node.GOING_ON, Node.WITHDRAWAL
)
WAY_NODES = node_set(Node.MOVEMENT, Node.GOING_ON, Node.PLACE)
SLOT_NODES = node_set(
    Node.SOLO_BONUS, Node.MAIN_ACTION, Node.SPACE_MISSIONS, Node.DEVELOPMENT_PAYMENT, Node.TERRAFORMING,
    Node.ENERGY_STORAGE,
    Node.PLANETARY_EXPLOITATION, Node.ANTIMATTER_GENERATION, Node.BONUS_BURN, Node.BONUS_ANTIMATTER, Node.CARD_BURN,
    Node.CARD_PRODUCTION, Node.CARD_EXPLOITATION, Node.CARD_REGENERATION, Node.REWARD_REGENERATION,
    Node.REWARD_PRODUCTION,
)  # fmt: skip


@helper
def derive(s, t, seat, out):
    """Write all derived fields. What the component file says is copied, and what is there is written over it."""
    write_row(out, FACTS_SIZE, t.template[s.tile_group].entries)
    write_row(out, WHO, t.card_row[s.deck[s.round_number - 1] if s.round_number > 0 else 0].entries)
    _derive_points(s, t, seat, out)
    _derive_objectives(s, t, seat, out)
    if s.seat == seat and s.phase != Phase.OVER:
        _derive_choice(s, t, seat, out)


@helper
def _derive_choice(s, t, seat, out):
    """Write what the node is about."""
    node = s.node
    if has(SLOT_NODES, node) or s.conversions + s.allocations > 0:
        _derive_slots(s, t, seat, out)
    if has(TRACK_NODES, node):
        _derive_tracks(s, t, seat, out)
    if has(STARSHIP_NODES, node):
        _derive_starships(s, t, seat, out)
    if node == Node.MAIN_ACTION:
        _derive_main_actions(s, t, seat, out)
    elif node == Node.BONUS_ACTION:
        _derive_offered_bonuses(s, t, seat, out)
    elif node == Node.SPACE_MISSIONS:
        out[NEW_SHIP] = _new_ship(s, t, s.player[seat])
    elif has(TECHNOLOGY_NODES, node):
        _derive_technologies(s, t, seat, out)
    elif has(WAY_NODES, node):
        _derive_tiles(s, t, seat, out)
        _derive_ways(s, t, seat, out)


# ---------------------------------------------------------------- for every observer


@helper
def _derive_points(s, t, seat, out):
    """Write boards and points. The lead is on the best other, in the solo game on the minimum score."""
    best = int(t.minimum_score[s.level]) if s.level > 0 else 0
    other = seat
    for distance in range(int(s.num_players)):
        row = PLAYERS + PLAYER * distance
        points = public_points(s, t, other)
        write_row(out, row, s.player[other].counts_row)
        out[row + PUBLIC_VP] = points
        best = max(best, points) if distance > 0 else best
        other = int(seat_after(s, other, 1))
    out[LEAD] = out[PLAYERS + PUBLIC_VP] - best


@helper
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


# ---------------------------------------------------------------- ways to tiles


@helper
def _best_ways(s, t, player, ship, start, further):
    """The two tiles that are worth most by the way to them; of equal ones the first.

    A way is 1024 times its worth, and 1023 less the hex. ``ship`` goes there from ``start``. A new starship (-1) goes
    there from ``start``, or from the nearest own colony of those up to the slot ``further``.
    """
    left = rounds_left(s)
    speed = usual_speed(t, player)
    worths = t.open_worth[worth_case(t, player), min(SOON, left)]
    rivals = int(player.ships_in_space) - int(ship >= 0)
    distances = t.distance[start]
    best, second = NO_WAY, NO_WAY
    for word in range(WORDS):
        tiles = s.face_up[word] & ~s.colonised[word] & ~s.ships[word]
        while tiles != NOTHING:
            place = 64 * word + lowest(tiles)
            tiles = without_lowest(tiles)
            body = int(s.body[place])
            steps = int(distances[place])
            for slot in range(1, further + 1):
                steps = min(steps, int(t.distance[home(s, t, player, slot), place]))
            worth = way_worth(int(worths[body, t.zone[place]]), body, steps, speed, left)
            if rivals > 0:
                worth = less_where_others_are_nearer(s, t, player, ship, place, steps, worth)
            way = worth << 10 | NO_WAY - place
            second = max(second, min(best, way))
            best = max(best, way)
    return best, second


@leaf
def _worth_of(way):
    return way >> 10


@leaf
def _goal(way):
    """The tile of a way that is worth something."""
    return NO_WAY - (way & 1023)


@helper
def _new_ship(s, t, player):
    """The worth of a new starship at Sol, if there is one."""
    if player.ships_in_supply == 0:
        return 0
    return _worth_of(_best_ways(s, t, player, np.int64(-1), np.int64(t.sol), np.int64(0))[0])


@helper
def _derive_aims(s, t, player, out):
    """Write the best tile of each own starship in empty space. Returns the worth of all."""
    ways = 0
    if player.ships_in_space > 0:
        for ship in range(MAX_SHIPS):
            place = int(player.ship[ship]) - 1
            if place >= 0 and s.body[place] == 0:
                ways += _worth_of(_derive_aim(s, t, player, np.int64(ship), np.int64(place), out)[0])
    return ways


@helper
def _derive_aim(s, t, player, ship, place, out):
    """Find the two best ways, and write the first."""
    best, second = _best_ways(s, t, player, ship, place, np.int64(0))
    if _worth_of(best) > 0:
        row = STARSHIPS + STARSHIP * ship
        steps = int(t.distance[place, _goal(best)])
        out[row + AIM] = _goal(best) + 1
        out[row + AIM_STEPS] = steps
        out[row + AIM_TURNS] = TURNS[usual_speed(t, player), steps]
        out[row + SHIP_WORTH] = _worth_of(best)
    return best, second


# ---------------------------------------------------------------- starships and tiles


@leaf
def _where(s, place):
    """Where a starship is: IN_SUPPLY and so on."""
    if place < 0:
        return 0
    body = s.body[place]
    return IN_SPACE if body == 0 else ON_MINE if body == MINE else ON_PLANET


@helper
def _derive_starships(s, t, seat, out):
    """Write where the starships are, and the colonies that those on planets could become."""
    player = s.player[seat]
    for ship in range(MAX_SHIPS):
        out[STARSHIPS + STARSHIP * ship + WHERE] = _where(s, int(player.ship[ship]) - 1)
    if player.ships_on_planets > 0:
        for ship in range(MAX_SHIPS):
            place = int(player.ship[ship]) - 1
            planet = planet_at(s, place) if place >= 0 else 0
            if planet > 0:
                row = STARSHIPS + STARSHIP * ship
                out[row + SHIP_WORTH] = t.open_worth[
                    worth_case(t, player), min(SOON, rounds_left(s)), planet, t.zone[place]
                ]
                out[row + SEEDS] = can_colonise(s, t, player, ship)
                out[row + SEED_LEADERSHIP] = t.colonise_leadership[t.planet[planet].kind]
                out[row + SEED_POINTS] = t.zone_vp[t.zone[place]]
    if s.node == Node.MOVER:
        _derive_aims(s, t, player, out)


@helper
def _derive_tiles(s, t, seat, out):
    """Write what open tiles without an owner are worth to a starship on them."""
    worths = t.open_worth[worth_case(t, s.player[seat]), min(SOON, rounds_left(s))]
    site = SITES
    for word in range(WORDS):
        tiles = s.face_up[word] & ~s.colonised[word]
        while tiles != NOTHING:
            place = 64 * word + lowest(tiles)
            tiles = without_lowest(tiles)
            body = int(s.body[place])
            is_planet = body <= NUM_PLANETS
            out[PLANETS + PLANET * (body - 1) + PLANET_WORTH if is_planet else site] = worths[body, t.zone[place]]
            site += 0 if is_planet else SITE


@helper
def _derive_ways(s, t, seat, out):
    """Write where the starships that may move, or the new one, would best go, and by which legal hex."""
    player = s.player[seat]
    if s.node == Node.PLACE:
        start = home(s, t, player, max(0, int(s.place_slot) - 1))
        if s.source == BY_MISSION:
            out[FOCUS] = start + 1
        further = 0 if s.place_slot > 0 else int(player.colonies)
        best, second = _best_ways(s, t, player, np.int64(-1), np.int64(start), np.int64(further))
        if _worth_of(best) > 0:
            out[WAYS + CHOSEN] = 1
            _write_ways(t, player, np.int64(0), best, second, places(s, t, player), out)
        return
    if s.node == Node.GOING_ON:
        out[FOCUS] = mover_hex(s) + 1
    chosen = False
    for ship in range(MAX_SHIPS):
        place = int(player.ship[ship]) - 1
        if place >= 0 and s.body[place] == 0:
            best, second = _derive_aim(s, t, player, np.int64(ship), np.int64(place), out)
            moves = ship == s.moving - 1 or (s.moving == 0 and ready_to_move(s, t, player, ship))
            if moves and _worth_of(best) > 0:
                legal = destinations(s, t, player, ship, s.points if s.moving > 0 else s.speed)
                if not is_empty(legal):
                    out[WAYS + WAY * WAYS_OF_A_SHIP * ship + CHOSEN] = not chosen
                    chosen = True
                    _write_ways(t, player, np.int64(ship + 1), best, second, legal, out)


@helper
def _write_ways(t, player, ship, best, second, legal, out):
    """Write two rows of a starship. Number 0 is the one that is placed."""
    speed = usual_speed(t, player)
    row = WAYS + WAY * WAYS_OF_A_SHIP * max(0, ship - 1)
    for way in (best, second):
        if _worth_of(way) > 0:
            near, soon = _towards(t, legal, _goal(way), speed)
            out[row + WAY_SHIP] = ship
            out[row + WAY_TARGET] = _goal(way) + 1
            out[row + NEAR] = (near & 511) + 1
            out[row + FEWEST_TURNS] = (soon & 511) + 1
            out[row + WAY_STEPS] = near >> 9
            out[row + WAY_WORTH] = _worth_of(way)
        row += WAY


@helper
def _towards(t, legal, target, speed):
    """The hex nearest to a tile among some hexes, and the first one with the fewest turns to it.

    Each is the hex and 512 times its steps, or turns.
    """
    distances = t.distance[target]
    near, soon = 1 << 20, 1 << 20
    for word in range(WORDS):
        left = legal[word]
        while left != NOTHING:
            place = 64 * word + lowest(left)
            left = without_lowest(left)
            steps = int(distances[place])
            near = min(near, steps << 9 | place)
            soon = min(soon, int(TURNS[speed, steps]) << 9 | place)
    return near, soon


# ---------------------------------------------------------------- the own board


@helper
def _derive_slots(s, t, seat, out):
    player = s.player[seat]
    cheap = extra(t, player, SPACE_TRAVELS) > 0
    for slot in slots(player):
        row = SLOTS + SLOT * slot
        for kind in range(NUM_RESOURCES):
            out[row + CUBES + kind] = player.cubes[slot, kind]
        energy, matter = int(player.cubes[slot, ENERGY]), int(player.cubes[slot, MATTER])
        out[row + PAYS_SHIPS] = energy if cheap else min(energy, matter)
    row = SLOTS + SLOT * EARTH
    out[row + TERRAFORMED] = 1
    out[row + ENERGY_WORTH] = 100
    out[row + ANTIMATTER_WORTH] = 100
    out[row + ANY_WORTH] = 100
    for slot in colonies(player):
        row = SLOTS + SLOT * slot
        _derive_colony(s, t, player, slot, out, row)
        out[row + EXPLOITED] = seat == s.active and s.exploited >> slot & 1


@helper
def _derive_colony(s, t, player, slot, out, row):
    number = int(player.slot[slot])
    planet = t.planet[number]
    out[row + CARD] = number
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
    out[row + SHARE] = share * terraforming_worth(t, number) * min(4, rounds_left(s)) // 400
    out[row + ENERGY_WORTH] = cube_worth(t, player, slot, ENERGY)
    out[row + ANTIMATTER_WORTH] = cube_worth(t, player, slot, ANTIMATTER)
    out[row + ANY_WORTH] = cube_worth(t, player, slot, -1)


@leaf
def _lacking(t, player, tech, level, slot):
    """The number of cubes that a card lacks to pay for a level."""
    lacking = 0
    for kind in range(NUM_RESOURCES):
        lacking += max(0, int(t.tech[tech, level].cost[kind]) - int(player.cubes[slot, kind]))
    return lacking


@helper
def _derive_technologies(s, t, seat, out):
    player = s.player[seat]
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
            _derive_next_level(s, t, seat, tech, level + 1, out, row)


@leaf
def _derive_next_level(s, t, seat, tech, level, out, row):
    player = s.player[seat]
    least, payers, raised = 99, 0, 0
    for slot in slots(player):
        lacking = _lacking(t, player, tech, level, slot)
        least = min(least, lacking)
        payers += lacking == 0
    for distance in range(1, int(s.num_players)):
        raised += s.player[seat_after(s, seat, distance)].tech[tech] < t.tech[tech, level].unlock
    out[row + TECH_LACKING] = least
    out[row + PAYERS] = payers
    out[row + RAISED] = raised
    if s.round_number > 0:
        card = t.card[s.deck[s.round_number - 1]]
        if card.what == What.FREE_TECH and level <= card.count:
            burned = burns_for(card, level)
            out[row + FOR_FREE] = burned <= cubes_outside_the_pit(player)
            out[row + BURNED] = burned
    out[row + LEVEL_WORTH] = t.level_worth[tech, level, rounds_left(s)]


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
        medal = int(t.medal[track, min(space + 1, TRACK_END)]) - 1
        out[row + NEXT_MEDAL] = space < TRACK_END and medal >= 0 and s.track_medals[track, max(0, medal)]


# ---------------------------------------------------------------- what the actions could bring


@leaf
def _write_bonus(out, bonus, offered, worth):
    out[BONUS + BONUS_ROW * bonus + OFFERED] = offered >> bonus & 1
    out[BONUS + BONUS_ROW * bonus + BONUS_WORTH] = worth


@helper
def _write_bonuses(s, player, offered, new_ship, ways, out):
    """Write all bonus actions. ``ways`` is the worth of all own ways."""
    moderation = min(3, rounds_left(s))
    neo = 50 * moderation // 3 if player.storage[ENERGY] + player.storage[MATTER] > 0 else 0
    _write_bonus(out, SPACE_LOGISTICS, offered, 60 * new_ship // 100)
    _write_bonus(out, EVOLUTION_OF_TECHNOLOGY, offered, 100 if player.storage[ANTIMATTER] > 0 else 0)
    _write_bonus(out, SCIENTIFIC_PROGRESS, offered, out[TRACKS + TRACK * TECHNOLOGICAL + STEP_WORTH])
    _write_bonus(out, CIVIL_MODERNITY, offered, out[TRACKS + TRACK * COLONIAL + STEP_WORTH])
    _write_bonus(out, EXPLORATORY_PLANNING, offered, 25 * ways // 100)
    _write_bonus(out, NEO, offered, neo)


@helper
def _derive_offered_bonuses(s, t, seat, out):
    """Write the bonus actions that are offered. Tiles are looked at only for those."""
    player = s.player[seat]
    offered = int(t.bonus_of[player.action_cube])
    new_ship = _new_ship(s, t, player) if offered >> SPACE_LOGISTICS & 1 else 0
    ways = _derive_aims(s, t, player, out) if offered >> EXPLORATORY_PLANNING & 1 else 0
    out[NEW_SHIP] = new_ship
    out[BURN_COST] = burn_cost(player, rounds_left(s))
    _write_bonuses(s, player, offered, new_ship, ways, out)
    for bonus in range(NUM_BONUS):
        out[BONUS + BONUS_ROW * bonus + BONUS_WORTH] *= offered >> bonus & 1


@helper
def _derive_main_actions(s, t, seat, out):
    """Write bonus actions first: they count for the main actions of their column and row."""
    player = s.player[seat]
    left = rounds_left(s)
    new_ship = _new_ship(s, t, player)
    ways = _derive_aims(s, t, player, out)
    burned = burn_cost(player, left)
    out[NEW_SHIP] = new_ship
    out[BURN_COST] = burned
    out[FOR_ME] = has_best_claim(s, t, seat)
    _write_bonuses(s, player, int(t.bonus_of[player.action_cube]), new_ship, ways, out)
    for line in range(LINES):
        _add_line(out, int(out[MAIN + MAIN_ROW * line + COLUMN]) - 1, line, LINES, burned)
    for line in range(LINES):
        _add_line(out, int(out[MAIN + MAIN_ROW * LINES * line + ROW]) - 1, LINES * line, 1, burned)
    _derive_flights(t, player, new_ship, ways, out)
    _derive_planets_work(t, player, left, out)
    _derive_development(t, player, left, out)
    face_down = 0
    for word in range(WORDS):
        face_down += bit_count(s.bodies[word] & ~s.face_up[word])
    best_step = max(int(out[TRACKS + STEP_WORTH]), int(out[TRACKS + TRACK + STEP_WORTH]))
    _write_action(out, GALACTIC_MAPPING, min(int(t.reveals), face_down), best_step)
    energy = min(benefit(t, player, ENERGY_DEVELOPMENT), int(player.storage[ENERGY]))
    _write_action(out, ENERGY_STORAGE, energy, CUBE_READY * energy * min(3, left) // 3)
    antimatter = min(benefit(t, player, ANTIMATTER_SCIENCE), int(player.storage[ANTIMATTER]))
    gain = max(0, 100 * int(t.vp_antimatter) - 40 * min(3, left) // 3)
    _write_action(out, ANTIMATTER_GENERATION, antimatter, gain * antimatter)


@leaf
def _add_line(out, bonus, action, step, burned):
    """Count a bonus action for the three main actions of its column, or row.

    It counts by what it is worth beyond a burned cube.
    """
    beyond = max(0, int(out[BONUS + BONUS_ROW * bonus + BONUS_WORTH]) - burned)
    for number in range(LINES):
        out[MAIN + MAIN_ROW * (action + step * number) + ITS_BONUSES] += beyond


@leaf
def _write_action(out, action, amount, worth):
    out[MAIN + MAIN_ROW * action + AMOUNT] = amount
    out[MAIN + MAIN_ROW * action + MAIN_WORTH] = worth


@leaf
def _derive_flights(t, player, new_ship, ways, out):
    """Write Space Missions, Colony Seeding and Stellar Propulsion."""
    payable = 0
    for slot in slots(player):
        payable += int(out[SLOTS + SLOT * slot + PAYS_SHIPS])
    built = min(min(payable, int(t.ships_per_mission)), int(player.ships_in_supply))
    _write_action(out, SPACE_MISSIONS, built, built * new_ship * 85 // 100)
    if player.ships_on_planets > 0:
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
def _derive_planets_work(t, player, left, out):
    """Write Terraforming and Planetary Exploitation."""
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
def _derive_development(t, player, left, out):
    """Write Technological Development: the levels that can be paid for, and the best of them."""
    payable, worth = 0, 0
    for tech in range(NUM_TECHS):
        level = int(player.tech[tech]) + 1
        if level <= MAX_LEVEL:
            payers = 0
            for slot in slots(player):
                payers += _lacking(t, player, tech, level, slot) == 0
            if payers > 0:
                payable += 1
                worth = max(worth, int(t.level_worth[tech, level, left]))
    _write_action(out, TECHNOLOGICAL_DEVELOPMENT, payable, worth)
