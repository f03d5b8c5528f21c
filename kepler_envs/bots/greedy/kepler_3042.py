"""Greedy play of Kepler-3042: a main action is tried out, everything else follows rules of thumb.

For each main action the rest of the own turn is played on a copy of the position, and the action whose end of the turn is worth most is
chosen. A position is worth its points, and what may still become of it: steps on the tracks, medals on the card, technologies,
cubes that are ready, starships on their way to good planets, and planets that could be terraformed, all of it less the fewer
rounds are left. On the copy, what the seat cannot know is drawn anew.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allowed, lowest, without_lowest
from kepler_envs.engine.kernel import helper, leaf, room_for
from kepler_envs.games.kepler_3042 import rules
from kepler_envs.games.kepler_3042.actions import (
    BONUS,
    BURN,
    DONE,
    HEX,
    MAIN,
    NUM_ACTIONS,
    NUM_SOURCES,
    RES,
    SHIP,
    SLOT,
    TECH,
    TRACK,
)
from kepler_envs.games.kepler_3042.hexes import NUM_HEXES, WIDTH, WORDS, allow_hexes, is_empty
from kepler_envs.games.kepler_3042.observation import resample
from kepler_envs.games.kepler_3042.rules_board import benefit, extra, rows_in_use
from kepler_envs.games.kepler_3042.rules_bonus import done_ends_turn
from kepler_envs.games.kepler_3042.rules_movement import destinations, ready_to_move
from kepler_envs.games.kepler_3042.rules_scoring import achieved, public_points
from kepler_envs.games.kepler_3042.state import (
    ALIEN,
    ANTIMATTER,
    ANTIMATTER_SCIENCE,
    CIVIL_MODERNITY,
    COLONIAL,
    EARTH,
    ENERGY,
    EVOLUTION_OF_TECHNOLOGY,
    MATTER,
    MAX_COLONIES,
    MAX_LEVEL,
    MAX_SHIPS,
    MINE,
    NEO,
    NUM_BONUS,
    NUM_MAIN,
    NUM_OBJECTIVES,
    NUM_PLANETS,
    NUM_RESOURCES,
    NUM_SLOTS,
    NUM_TECHS,
    NUM_TRACKS,
    ROUNDS,
    SCIENTIFIC_PROGRESS,
    SPACE_LOGISTICS,
    SPACE_TRAVELS,
    STATE,
    TARGET,
    TECHNOLOGICAL,
    TERRAFORMING,
    TRACK_END,
    Node,
)

MASK_WORDS = (NUM_ACTIONS + 63) // 64
NEVER = -1000.0
NOTHING = np.uint64(0)
MOST_STEPS = 100  # decisions of a turn that is tried out

FIRST_CHOICES = (3, 0, 2, 4, 1)
"""Technologies in the order in which they are wanted at first."""
TECH_WORTH = np.array(
    [
        [0, 1.6, 1.0, 0.8, 0.8],
        [0, 0.1, 0.2, 0.3, 0.4],
        [0, 1.0, 0.8, 0.8, 0.6],
        [0, 1.4, 1.4, 1.8, 1.0],
        [0, 1.0, 0.2, 1.2, 0.4],
    ]
)
"""What each level of each technology is worth for the rest of a whole game."""
LEVEL_WORTH = 0.35  # of each level on the way to the highest one
READY, STORED = 0.38, 0.22  # worth of a cube on a card, in storage
STEP = 0.5  # of a track
STAYS_AWAY = 0.86  # what a turn more on its way leaves of the worth of a target


_room_for_states = room_for(STATE)


@helper
def policy(s, t, mask, count, generator):
    """The choice of the seat to move, from what it knows."""
    if s.node == Node.MAIN_ACTION:
        return _best_main_action(s, t, mask, generator)
    return _choice(s, t, mask)


# ---------------------------------------------------------------- trying out main actions


@helper
def _best_main_action(s, t, mask, generator):
    tried = _room_for_states(2)
    legal = np.empty(MASK_WORDS, np.uint64)
    seat = np.int64(s.seat)
    tried[0] = s
    resample(tried[0], t, seat, generator)
    best, best_worth = MAIN, NEVER
    for action in range(MAIN, MAIN + NUM_MAIN):
        if allowed(mask, action):
            tried[1] = tried[0]
            rules.apply(tried[1], t, action)
            _finish_turn(tried[1], t, seat, legal)
            worth = _position_worth(tried[1], t, seat)
            if worth > best_worth:
                best, best_worth = action, worth
    return best


@helper
def _finish_turn(s, t, seat, legal):
    """The own choices up to the one that ends the turn; others decline what they are offered meanwhile."""
    for _ in range(MOST_STEPS):
        for word in range(MASK_WORDS):
            legal[word] = 0
        rules.legal(s, t, legal)
        action = _choice(s, t, legal) if s.seat == seat else _lowest_allowed(legal)
        if s.seat == seat and action == DONE and done_ends_turn(s, t):
            break
        rules.apply(s, t, action)


@leaf
def _lowest_allowed(mask):
    word = 0
    while mask[word] == 0:
        word += 1
    return 64 * word + lowest(mask[word])


@leaf
def _rounds_left(s):
    """After this one."""
    return ROUNDS - int(s.round_number)


@helper
def _position_worth(s, t, seat):
    player = s.player[seat]
    left = _rounds_left(s)
    soon = min(1.0, left / 3)
    worth = float(public_points(s, t, seat)) + _objective_worth(s, t, seat)
    for track in range(NUM_TRACKS):
        space = int(player.track[track])
        worth += STEP * space - int(t.track_vp[track, space])
        worth += 0.7 * int(s.card_medals[track]) * _leads(s, seat, track)
    for tech in range(NUM_TECHS):
        level = int(player.tech[tech])
        for reached in range(1, level + 1):
            worth += TECH_WORTH[tech, reached] * left / ROUNDS
        worth += LEVEL_WORTH * level * soon
    worth += _cubes_worth(player, left)
    worth += _colonies_worth(s, t, player, left)
    return worth + _ships_worth(s, t, seat, left)


@leaf
def _leads(s, seat, track):
    """1 if nobody is ahead on a track, else a little."""
    for row in range(rows_in_use(s)):
        if s.player[row].track[track] > s.player[seat].track[track]:
            return 0.15
    return 1.0


@helper
def _objective_worth(s, t, seat):
    """Its points once satisfied, less while a part is missing."""
    required = np.uint64(s.player[seat].objectives)
    worth = 0.0
    for number in range(NUM_OBJECTIVES):
        if required >> np.uint64(number) & np.uint64(1):
            objective = t.objective[number]
            have = achieved(s, t, seat, np.int64(objective.test), np.int64(objective.subject))
            share = min(1.0, have / int(objective.count))
            worth += int(objective.vp) * (share if share == 1.0 else 0.5 * share)
    return worth


@leaf
def _cubes_worth(player, left):
    """Cubes that can still do something; antimatter on a card has its points already."""
    soon = min(1.0, left / 3)
    worth = 0.0
    for kind in range(ANTIMATTER):
        worth += STORED * soon * min(6, int(player.storage[kind]))
        for slot in range(int(player.colonies) + 1):
            worth += READY * soon * min(3, int(player.cubes[slot, kind]))
    return worth + 0.4 * soon * int(player.storage[ANTIMATTER])


@helper
def _colonies_worth(s, t, player, left):
    """Production to come, and terraforming."""
    worth = 0.0
    for slot in range(1, int(player.colonies) + 1):
        number = int(player.slot[slot])
        planet = t.planet[number]
        made = planet.terraformed if s.planet_terraformed[number] else planet.colony
        worth += 0.05 * left * (int(made[0]) + int(made[1]) + 2 * int(made[2]))
        if not s.planet_terraformed[number] and left > 0:
            worth += _terraforming_share(t, player, slot) * _terraforming_worth(t, number) * min(1.0, left / 4)
    return worth


@leaf
def _terraforming_worth(t, number):
    return int(t.planet[number].vp) + STEP * int(t.terraform_leadership[t.planet[number].kind])


@leaf
def _terraforming_share(t, player, slot):
    """How far a planet is on its way to be terraformed, 0..0.9."""
    planet = t.planet[player.slot[slot]]
    lacking = 0
    for kind in range(NUM_RESOURCES):
        lacking += max(0, int(planet.cost[kind]) - int(player.cubes[slot, kind]))
    share = 0.9 - 0.14 * lacking
    missing_levels = int(planet.level) - extra(t, player, TERRAFORMING)
    return max(0.05, share - 0.2 * max(0, missing_levels))


# ---------------------------------------------------------------- starships and where they go


@leaf
def _distance(one, other):
    """Steps between two hexes on the grid."""
    row, other_row = one // WIDTH, other // WIDTH
    across = (one % WIDTH - row // 2) - (other % WIDTH - other_row // 2)
    down = row - other_row
    return (abs(across) + abs(down) + abs(across + down)) // 2


@leaf
def _target_worth(s, t, player, place, left):
    """What a tile is worth to a starship that reaches it."""
    body = int(s.body[place])
    if body == MINE:
        return 1.9
    if body == TARGET:
        return 0.6
    if body == 0:
        return 0.0
    if player.colonies == MAX_COLONIES or left < 1:
        return 0.0
    planet = t.planet[body]
    if planet.kind == ALIEN and extra(t, player, ANTIMATTER_SCIENCE) == 0:
        return 0.3
    worth = 1.0 + int(t.zone_vp[t.zone[place]]) + STEP * int(t.colonise_leadership[planet.kind])
    levels = max(0, int(planet.level) - 1 - extra(t, player, TERRAFORMING))
    return worth + (0.35 - 0.08 * levels) * int(planet.vp) * min(1.0, left / 6)


@helper
def _best_target(s, t, player, ship, place, left):
    """What the best tile to go to from a hex is worth; tiles that another own starship is nearer to count little.

    ``ship`` is the one that is or might be there, -1 for a new one.
    """
    speed = _usual_speed(t, player)
    best = 0.0
    for word in range(WORDS):
        tiles = s.face_up[word] & ~s.colonised[word] & ~s.ships[word]
        while tiles != NOTHING:
            hex_id = 64 * word + lowest(tiles)
            tiles = without_lowest(tiles)
            steps = _distance(place, hex_id)
            turns = (steps + speed - 1) // speed
            if turns + int(s.body[hex_id] <= NUM_PLANETS) <= left:
                worth = _target_worth(s, t, player, hex_id, left) * STAYS_AWAY**turns
                for other in range(MAX_SHIPS):
                    rival = int(player.ship[other]) - 1
                    if other != ship and rival >= 0 and s.body[rival] == 0 and _distance(rival, hex_id) < steps:
                        worth *= 0.3
                best = max(best, worth)
    return best


@leaf
def _usual_speed(t, player):
    """Spaces a turn, some of the exploratory kind."""
    return max(1, benefit(t, player, SPACE_TRAVELS) + 1)


@helper
def _ships_worth(s, t, seat, left):
    """On a planet nearly a colony; in space by the way to the best target."""
    player = s.player[seat]
    worth = 0.0
    room = MAX_COLONIES - int(player.colonies)
    for ship in range(MAX_SHIPS):
        place = int(player.ship[ship]) - 1
        if place < 0:
            continue
        body = int(s.body[place])
        if body == 0:
            worth += 0.85 * _best_target(s, t, player, ship, place, left)
        elif body <= NUM_PLANETS and room > 0:
            worth += 0.92 * _target_worth(s, t, player, place, left)
            room -= 1
    return worth


@helper
def _best_hex(s, t, mask, ship):
    """The legal hex that is worth most to a starship; DONE if that is legal and no hex is worth more than where it is."""
    player = s.player[s.seat]
    left = _rounds_left(s)
    best, best_worth = -1, NEVER
    if ship >= 0 and allowed(mask, DONE):
        best_worth = _best_target(s, t, player, ship, int(player.ship[ship]) - 1, left)
    for hex_id in range(NUM_HEXES):
        if allowed(mask, HEX + hex_id):
            if s.body[hex_id] == 0:
                worth = _best_target(s, t, player, ship, hex_id, left)
            else:
                worth = _target_worth(s, t, player, hex_id, left)
            if worth > best_worth:
                best, best_worth = hex_id, worth
    return DONE if best < 0 or (best_worth <= 0 and allowed(mask, DONE)) else HEX + best


@leaf
def _ship_to_move(s, t):
    """The first one that can move and has a target to go to; -1 if there is none."""
    player = s.player[s.seat]
    left = _rounds_left(s)
    for ship in range(MAX_SHIPS):
        can_move = ready_to_move(s, t, player, ship) and not is_empty(destinations(s, t, player, ship, s.speed))
        if can_move and _best_target(s, t, player, ship, int(player.ship[ship]) - 1, left) > 0:
            return ship
    return -1


@leaf
def _mover(s, t, mask):
    ship = _ship_to_move(s, t)
    return SHIP + ship if ship >= 0 and allowed(mask, SHIP + ship) else _any(mask, SHIP, SHIP + MAX_SHIPS)


@helper
def _best_move(s, t):
    """Its best destination; other starships may reach that, too."""
    ship = _ship_to_move(s, t)
    if ship < 0:
        return DONE
    reached = np.zeros(MASK_WORDS, np.uint64)
    allow_hexes(reached, HEX, destinations(s, t, s.player[s.seat], ship, s.speed))
    return _best_hex(s, t, reached, ship)


# ---------------------------------------------------------------- the other choices


@helper
def _choice(s, t, mask):
    """Rules of thumb for every node but that of the main action."""
    node = int(s.node)
    player = s.player[s.seat]
    if node == Node.FIRST_TECHNOLOGY:
        return _first_technology(mask)
    if node in (Node.TECHNOLOGICAL_DEVELOPMENT, Node.CARD_TECHNOLOGY):
        return _best_technology(s, t, mask)
    if node == Node.PLACE:
        return _best_hex(s, t, mask, -1)
    if node == Node.MOVEMENT:
        return _best_move(s, t)
    if node == Node.MOVER:
        return _mover(s, t, mask)
    if node == Node.GOING_ON:
        return _best_hex(s, t, mask, int(s.moving) - 1)
    if node in (Node.COLONY_SEEDING, Node.TERRAFORMING):
        return _any(mask, SHIP, SHIP + MAX_SHIPS) if node == Node.COLONY_SEEDING else _any(mask, SLOT, SLOT + NUM_SLOTS)
    if node == Node.SPACE_MISSIONS:
        return _paying_slot(s, t, mask) if _wants_ships(s, t) else DONE
    if node == Node.DEVELOPMENT_PAYMENT:
        return _paying_slot(s, t, mask)
    if node == Node.MAPPING_TRACK:
        return TRACK + _better_track(s, t, int(s.seat))
    if node in (Node.MAPPING_TILE, Node.CARD_TILE):
        return _nearest_tile(s, t, mask)
    if node in (
        Node.ENERGY_STORAGE,
        Node.ANTIMATTER_GENERATION,
        Node.BONUS_ANTIMATTER,
        Node.REWARD_PRODUCTION,
        Node.CARD_PRODUCTION,
        Node.PLANETARY_EXPLOITATION,
        Node.CARD_EXPLOITATION,
    ):
        return _best_slot(s, t, mask)
    if node == Node.BONUS_ACTION:
        return _best_bonus(s, t, mask)
    if node in (Node.BONUS_BURN, Node.CARD_BURN):
        return _cheapest_cube(player, mask)
    if node in (Node.CARD_REGENERATION, Node.REWARD_REGENERATION):
        return _regenerated(mask)
    if node == Node.SOLO_BONUS:
        return RES + (MATTER if player.cubes[EARTH, MATTER] < player.cubes[EARTH, ENERGY] else ENERGY)
    return DONE


@leaf
def _any(mask, first, end):
    """The lowest legal id of a block, DONE if there is none."""
    for action in range(first, end):
        if allowed(mask, action):
            return action
    return DONE


@leaf
def _first_technology(mask):
    for tech in FIRST_CHOICES:
        if allowed(mask, TECH + tech):
            return TECH + tech
    return DONE


@leaf
def _best_technology(s, t, mask):
    """Leadership, the way to the highest level, and its use for the rounds left, less what it costs."""
    player = s.player[s.seat]
    left = _rounds_left(s)
    best, best_worth = DONE, 0.0
    for tech in range(NUM_TECHS):
        if allowed(mask, TECH + tech):
            level = int(player.tech[tech]) + 1
            worth = TECH_WORTH[tech, level] * left / ROUNDS + STEP * int(t.tech[tech, level].leadership) + 0.3
            if level == MAX_LEVEL:
                worth += int(t.vp_max_technology)
            elif left > 0:
                worth += LEVEL_WORTH
            if left > 0:
                worth -= 0.1 * (level - 1)
            if worth > best_worth:
                best, best_worth = TECH + tech, worth
    return best


@leaf
def _paying_slot(s, t, mask):
    """Earth rather than a planet whose cubes are saved for terraforming."""
    return _any(mask, SLOT, SLOT + NUM_SLOTS)


@leaf
def _wants_ships(s, t):
    player = s.player[s.seat]
    left = _rounds_left(s)
    return _best_target(s, t, player, -1, int(t.sol), left) > 0.5


@leaf
def _step_worth(s, t, seat, track):
    """One more space: its points, the medal and the icon on it."""
    player = s.player[seat]
    space = int(player.track[track]) + 1
    if space > TRACK_END:
        return 0.0
    worth = STEP
    if _rounds_left(s) == 0:
        worth = float(t.track_vp[track, space] - t.track_vp[track, space - 1])
    medal = int(t.medal[track, space]) - 1
    if medal >= 0 and s.track_medals[track, medal]:
        worth += 0.8
    if t.icon[track, space] > 0:
        worth += 0.25
    worth += 0.5 * int(s.card_medals[track]) * (1.0 - _leads(s, seat, track))
    return worth


@leaf
def _better_track(s, t, seat):
    return int(_step_worth(s, t, seat, TECHNOLOGICAL) >= _step_worth(s, t, seat, COLONIAL))


@leaf
def _nearest_tile(s, t, mask):
    """From Sol."""
    best, least = DONE, NUM_HEXES
    for hex_id in range(NUM_HEXES):
        if allowed(mask, HEX + hex_id) and t.sol_distance[hex_id] < least:
            best, least = HEX + hex_id, int(t.sol_distance[hex_id])
    return best


@leaf
def _best_slot(s, t, mask):
    """Where cubes help: on planets that lack them for terraforming, else on Earth."""
    player = s.player[s.seat]
    best, best_worth = DONE, NEVER
    for slot in range(int(player.colonies) + 1):
        if allowed(mask, SLOT + slot):
            worth = 1.0 if slot == EARTH else _slot_worth(s, t, player, slot)
            if worth > best_worth:
                best, best_worth = SLOT + slot, worth
    return best


@leaf
def _slot_worth(s, t, player, slot):
    number = int(player.slot[slot])
    planet = t.planet[number]
    worth = 0.1 * (int(planet.colony[0]) + int(planet.colony[1]))
    node = int(s.node)
    if s.planet_terraformed[number]:
        return worth + 0.1
    for kind in range(NUM_RESOURCES):
        lacking = int(planet.cost[kind]) - int(player.cubes[slot, kind])
        wanted = (
            kind == ENERGY
            if node == Node.ENERGY_STORAGE
            else kind == ANTIMATTER
            if node in (Node.ANTIMATTER_GENERATION, Node.BONUS_ANTIMATTER)
            else True
        )
        if wanted and lacking > 0:
            worth += 1.2 + 0.1 * int(planet.vp) - 0.1 * lacking - 0.1 * int(planet.level)
    return worth


@leaf
def _best_bonus(s, t, mask):
    """The bonus action that is worth most, if that is more than a cube."""
    best, best_worth = DONE, 0.0 if s.second_free else _burn_cost(s)
    for bonus in range(NUM_BONUS):
        if allowed(mask, BONUS + bonus):
            worth = _bonus_worth(s, t, bonus)
            if worth > best_worth:
                best, best_worth = BONUS + bonus, worth
    return best


@leaf
def _burn_cost(s):
    """A cube is worth more the fewer there are for the rounds left."""
    player = s.player[s.seat]
    cubes = 0
    for kind in range(ANTIMATTER):
        cubes += int(player.total[kind]) - int(player.pit[kind])
    left = _rounds_left(s)
    if cubes == 0:
        return 2.0
    return min(1.5, 0.1 + 0.28 * left / cubes)


@leaf
def _bonus_worth(s, t, bonus):
    seat = int(s.seat)
    player = s.player[seat]
    left = _rounds_left(s)
    if bonus == SCIENTIFIC_PROGRESS:
        return _step_worth(s, t, seat, TECHNOLOGICAL)
    if bonus == CIVIL_MODERNITY:
        return _step_worth(s, t, seat, COLONIAL)
    if bonus == EVOLUTION_OF_TECHNOLOGY:
        return 1.0
    if bonus == NEO:
        return 0.5 * min(1.0, left / 3)
    if bonus == SPACE_LOGISTICS:
        return 0.6 * _best_target(s, t, player, -1, int(t.sol), left)
    gain = 0.0
    for ship in range(MAX_SHIPS):
        place = int(player.ship[ship]) - 1
        if place >= 0 and s.body[place] == 0:
            gain += 0.25 * _best_target(s, t, player, ship, place, left)
    return gain


@leaf
def _cheapest_cube(player, mask):
    """From storage what is there most; antimatter and cubes on cards last."""
    best, least = DONE, -NEVER
    for place in range(NUM_SOURCES):
        for kind in range(NUM_RESOURCES):
            action = BURN + NUM_RESOURCES * place + kind
            if allowed(mask, action):
                held = int(player.storage[kind]) if place == 0 else int(player.cubes[place - 1, kind])
                cost = 1.0 - 0.05 * held + 0.4 * (place > 0) + 2.0 * (kind == ANTIMATTER)
                if cost < least:
                    best, least = action, cost
    return best


@leaf
def _regenerated(mask):
    """Antimatter is worth most."""
    for kind in (ANTIMATTER, ENERGY, MATTER):
        if allowed(mask, RES + kind):
            return RES + kind
    return DONE
