"""Greedy play of Kepler-3042: it tries out each main action, and does everything else by rules of thumb.

For each main action, it plays the rest of its turn on a copy of the position. Then it takes the action whose turn ends
best. A position is worth its points, and what may still come of it: steps on the tracks, medals on the card,
technologies, cubes ready for use, starships on their way to good planets, and planets that could be terraformed. All of
this counts less, the fewer rounds are left. On the copy, what the seat cannot know is drawn anew.

Terraforming decides games. A colony is worth a share of its points, which rises with every cube and level that it no
longer lacks. Cubes go where they raise that share most. They are paid and burned where that lowers it least. Quantum
operations are done if they raise it. The numbers below began as guesses. An evolution strategy (separable CMA-ES) then
tuned them, playing for points against version 1 with two and four players.
"""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allowed, allowed_word, lowest, without_lowest
from kepler_envs.engine.kernel import borrowed, helper, leaf, room_for
from kepler_envs.games.kepler_3042 import rules
from kepler_envs.games.kepler_3042.actions import (
    ALLOCATE,
    BONUS,
    BURN,
    CONVERT,
    DONE,
    HEX,
    MAIN,
    NUM_ACTIONS,
    NUM_DIRECTIONS,
    NUM_SOURCES,
    RES,
    SHIP,
    SLOT,
    TECH,
    TRACK,
)
from kepler_envs.games.kepler_3042.hexes import NUM_HEXES, WORDS, allow_hexes, is_empty
from kepler_envs.games.kepler_3042.observation import resample
from kepler_envs.games.kepler_3042.observation_layout import MOST_TILES
from kepler_envs.games.kepler_3042.rules_board import benefit, extra, own_turn, production, reward_kind, rows_in_use
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
    ENERGY_DEVELOPMENT,
    EVOLUTION_OF_TECHNOLOGY,
    MATTER,
    MAX_COLONIES,
    MAX_LEVEL,
    MAX_SHIPS,
    MINE,
    NEO,
    NUM_BONUS,
    NUM_MAIN,
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
    Requirement,
)
from kepler_envs.games.kepler_3042.worth import TURNS, rounds_left

VERSION = 2
"""Goes up whenever a choice changes, so that records say which greedy played."""

MASK_WORDS = (NUM_ACTIONS + 63) // 64
NEVER = -1000.0
NOTHING = np.uint64(0)
MOST_STEPS = 100  # most decisions in a turn that is tried out

FIRST_CHOICES = (0, 2, 3, 4, 1)
"""Technologies in the order in which the seat wants them at the start. The first two are the pair with most points."""
TECH_WORTH = np.array(
    [
        [0, 1.03, 0.64, 0.85, 0.69],
        [0, 0.3, 0.25, 0.22, 0.61],
        [0, 1.0, 0.8, 0.74, 0.99],
        [0, 1.52, 1.76, 2.16, 1.27],
        [0, 0.72, 0.21, 0.58, 0.14],
    ]
)
"""What each level of each technology is worth for the rest of a whole game."""
# What things are worth, in points, where nothing else is said.
LEVEL_WORTH = 0.54  # each level on the way to the highest
LEVEL_CHOSEN, LEVEL_COST = 0.37, 0.14  # a level it can take now; each level below takes the second number off
LEVEL_WANTED = 0.14  # each point of a colony that needs a higher level to be terraformed
READY, STORED = 0.58, 0.31  # a cube on a card, and one in storage
READY_MOST, STORED_MOST = 3.0, 6.0  # cubes of a kind that count on a card, and in storage
READY_ANTIMATTER = 0.39  # antimatter in storage
SOON = 3.0  # with fewer rounds left than this, cubes and levels are worth less
EARTH_CUBE, CARD_CUBE = 0.35, 0.09  # a cube that arrives on Earth, and one that arrives on a colony
STEP, MEDAL, ICON = 0.55, 0.41, 0.06  # a step on a track, and the medal and the icon on its space
MEDAL_AHEAD, CATCHING_UP = 0.71, 0.5  # a medal on the card: to the leader, and to one who may catch up
PRODUCTION = 0.09  # each cube produced in each round left
SHARE_READY = 0.67  # share of a planet's worth that counts once its card holds all that terraforming costs
SHARE_BEGUN, SHARE_LEAST = 0.57, 0.04  # the largest and the smallest share before that
SHARE_CUBE, SHARE_LEVEL = 0.13, 0.16  # what each missing cube and each missing level takes off the share
SHARE_ROUNDS = 7.86  # with fewer rounds left than this, the share is smaller
MINE_WORTH, TARGET_WORTH, ALIEN_WORTH = 1.78, 0.74, 0.36
COLONY, COLONY_POINT, COLONY_LEVEL, COLONY_ROUNDS = 1.0, 0.27, 0.06, 6.62
SERIES = 1.05  # extra for a third planet of a type
STAYS_AWAY = 0.71  # factor on a target's worth for each turn on the way
NEARER = 0.25  # factor on it for each other starship of the seat that is nearer
IN_SPACE, ON_PLANET = 0.45, 0.56  # share of the worth of the target a starship flies to, or of the planet it stands on
SHIP_WANTED = 0.44  # what a target must be worth for a new starship to be worth its cubes
BURN_LEAST, BURN_SCARCE, BURN_MOST = 0.15, 0.55, 1.62  # price of a burned cube
BURN_CARD, BURN_ANTIMATTER, BURN_HELD = 0.3, 1.69, 0.06
ANTIMATTER_BONUS, NEO_BONUS, SHIP_BONUS, MOVE_BONUS = 0.46, 0.36, 0.77, 0.2
ALONE = 2.0  # factor on objectives in the solo game, which cannot be won without them
OBJECTIVE_BEGUN, OBJECTIVE_COLONY, OBJECTIVE_TERRAFORMED = 0.29, 0.35, 1.22  # shares of an objective's points
FROM_SHIP = 2.0  # steps added to a tile's distance from a starship, but not to that from Sol
QUANTUM_GAIN = 0.19  # a quantum operation must gain more than this

AWAY = np.cumprod([1.0, *[STAYS_AWAY] * TURNS.max()])
"""What turns on the way leave of a target's worth."""


_room_for_states = room_for(STATE, 2)
_room_for_targets = room_for(np.dtype([("hex", np.int64), ("worth", np.float64)]), MOST_TILES)
_room_for_mask = room_for(np.uint64, MASK_WORDS)
_room_for_cards = room_for(np.float64, NUM_SLOTS)


@helper
def policy(s, t, mask, count, generator):
    """The choice of the seat to move, from what it knows."""
    if s.node == Node.MAIN_ACTION:
        return _best_main_action(s, t, mask, generator)
    return _choice(s, t, mask)


# ---------------------------------------------------------------- trying out main actions


@helper
def _best_main_action(s, t, mask, generator):
    tried, legal = _room_for_states(), _room_for_mask()
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
    """Play the seat's choices up to the one that ends its turn. Others decline what they are offered in between."""
    legal = borrowed(legal)
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


@helper
def _position_worth(s, t, seat):
    player = s.player[seat]
    left = rounds_left(s)
    soon = min(1.0, left / SOON)
    worth = float(public_points(s, t, seat)) + _objective_worth(s, t, seat)
    for track in range(NUM_TRACKS):
        space = int(player.track[track])
        worth += STEP * space - int(t.track_vp[track, space])
        worth += MEDAL_AHEAD * int(s.card_medals[track]) * _leads(s, seat, track)
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
    """1.0 if nobody is ahead of the seat on a track, else a little."""
    for row in range(rows_in_use(s)):
        if s.player[row].track[track] > s.player[seat].track[track]:
            return 0.15
    return 1.0


@helper
def _objective_worth(s, t, seat):
    """What the seat's objectives are worth: their points once satisfied, less while a part is missing."""
    required = np.uint64(s.player[seat].objectives)
    worth = 0.0
    while required != NOTHING:
        objective = t.objective[lowest(required)]
        required = without_lowest(required)
        have = achieved(s, t, seat, np.int64(objective.test), np.int64(objective.subject))
        share = min(1.0, have / int(objective.count))
        worth += int(objective.vp) * (share if share == 1.0 else OBJECTIVE_BEGUN * share)
    return worth * _importance(s)


@leaf
def _cubes_worth(player, left):
    """What cubes are worth that can still be of use. Antimatter on a card already counts as points."""
    soon = min(1.0, left / SOON)
    worth = 0.0
    for kind in range(ANTIMATTER):
        worth += STORED * soon * min(STORED_MOST, float(player.storage[kind]))
        for slot in range(int(player.colonies) + 1):
            worth += READY * soon * min(READY_MOST, float(player.cubes[slot, kind]))
    return worth + READY_ANTIMATTER * soon * int(player.storage[ANTIMATTER])


@helper
def _colonies_worth(s, t, player, left):
    """What the colonies are worth: the production to come, and the prospect of terraforming them."""
    worth = 0.0
    for slot in range(1, int(player.colonies) + 1):
        made = production(s, t, player, slot)
        worth += PRODUCTION * left * (int(made[0]) + int(made[1]) + 2 * int(made[2]))
        worth += _hoped_for(s, t, player, slot, left, 0, 0, 0)
    return worth


@helper
def _hoped_for(s, t, player, slot, left, energy, matter, antimatter):
    """What the prospect of terraforming a colony would be worth with so many more cubes on its card."""
    share = _share(s, t, player, slot, left, energy, matter, antimatter)
    return share * _terraforming_worth(s, t, player, slot) if share > 0 else 0.0


@helper
def _share(s, t, player, slot, left, energy, matter, antimatter):
    """The share of what terraforming a colony is worth that counts now, with so many more cubes on its card."""
    number = int(player.slot[slot])
    if slot == EARTH or s.planet_terraformed[number]:
        return 0.0
    planet, cubes = t.planet[number], player.cubes[slot]
    lacking = max(0, int(planet.cost[ENERGY]) - int(cubes[ENERGY]) - energy)
    lacking += max(0, int(planet.cost[MATTER]) - int(cubes[MATTER]) - matter)
    lacking += max(0, int(planet.cost[ANTIMATTER]) - int(cubes[ANTIMATTER]) - antimatter)
    levels = max(0, int(planet.level) - extra(t, player, TERRAFORMING))
    if s.node == Node.TERRAFORMING and lacking + levels == 0:
        return 1.0
    if 1 + int(lacking > 0) + int(levels > 0) > left:
        return 0.0
    if lacking + levels == 0:
        return SHARE_READY
    share = max(SHARE_LEAST, SHARE_BEGUN - SHARE_CUBE * lacking - SHARE_LEVEL * levels)
    return share * min(1.0, left / SHARE_ROUNDS)


@helper
def _terraforming_worth(s, t, player, slot):
    """What terraforming a colony is worth: its points and steps, and what it does for the objectives."""
    number = int(player.slot[slot])
    planet = t.planet[number]
    zone = int(t.zone[int(s.planet_hex[number]) - 1])
    worth = int(planet.vp) + STEP * int(t.terraform_leadership[planet.kind])
    return worth + OBJECTIVE_TERRAFORMED * _wanted(s, t, player, np.int64(planet.kind), np.int64(zone), True)


@helper
def _wanted(s, t, player, kind, zone, terraformed):
    """How many points of the seat's objectives a planet of this type and zone brings, as a colony or terraformed."""
    worth = 0.0
    required = np.uint64(player.objectives)
    while required != NOTHING:
        objective = t.objective[lowest(required)]
        required = without_lowest(required)
        test, subject = int(objective.test), int(objective.subject)
        if terraformed:
            fits = _brings_terraformed(player, test, subject, kind, zone)
        else:
            fits = _brings_colonised(player, test, subject, kind, zone)
        if fits:
            worth += int(objective.vp) / int(objective.count)
    return worth * _importance(s)


@leaf
def _importance(s):
    return ALONE if s.num_players == 1 else 1.0


@leaf
def _brings_terraformed(player, test, subject, kind, zone):
    """Whether a terraformed planet brings an objective nearer."""
    return (
        (test == Requirement.TERRAFORMED_TYPE and subject == kind)
        or (test == Requirement.TERRAFORMED_ZONE and subject == zone)
        or test == Requirement.TERRAFORMED_TOTAL
        or (test == Requirement.TERRAFORMED_SAME_TYPE and player.colonies_of_type[kind] > 1)
    )


@leaf
def _brings_colonised(player, test, subject, kind, zone):
    """Whether a colony brings an objective nearer."""
    if test in (Requirement.COLONISED_TYPE, Requirement.TERRAFORMED_TYPE):
        return subject == kind
    if test in (Requirement.COLONISED_ZONE, Requirement.TERRAFORMED_ZONE):
        return subject == zone
    if test == Requirement.COLONISED_EACH_ZONE:
        return player.colonies_in_zone[zone] == 0
    if test == Requirement.COLONISED_TYPES:
        return player.colonies_of_type[kind] == 0
    if test == Requirement.TERRAFORMED_SAME_TYPE:
        return player.colonies_of_type[kind] > 0
    return test == Requirement.COLONISED_TOTAL


# ---------------------------------------------------------------- starships and where they go


@helper
def _target_worth(s, t, player, place, left):
    """What a tile is worth to a starship that reaches it."""
    body = int(s.body[place])
    if body == MINE:
        return MINE_WORTH
    if body == TARGET:
        return TARGET_WORTH
    if body == 0:
        return 0.0
    if player.colonies == MAX_COLONIES or left < 1:
        return 0.0
    planet = t.planet[body]
    if planet.kind == ALIEN and extra(t, player, ANTIMATTER_SCIENCE) == 0:
        return ALIEN_WORTH
    worth = COLONY + int(t.zone_vp[t.zone[place]]) + STEP * int(t.colonise_leadership[planet.kind])
    levels = max(0, int(planet.level) - 1 - extra(t, player, TERRAFORMING))
    worth += (COLONY_POINT - COLONY_LEVEL * levels) * int(planet.vp) * min(1.0, left / COLONY_ROUNDS)
    if player.colonies_of_type[planet.kind] == 2:
        worth += SERIES
    return worth + OBJECTIVE_COLONY * _wanted(s, t, player, np.int64(planet.kind), np.int64(t.zone[place]), False)


@helper
def _list_targets(s, t, player, left, targets):
    """List the open tiles that a starship could go to, those worth most first. Returns their number."""
    count = 0
    for word in range(WORDS):
        tiles = s.face_up[word] & ~s.colonised[word] & ~s.ships[word]
        while tiles != NOTHING:
            hex_id = 64 * word + lowest(tiles)
            tiles = without_lowest(tiles)
            worth = _target_worth(s, t, player, hex_id, left)
            if worth > 0:
                place = count
                while place > 0 and targets[place - 1].worth < worth:
                    targets[place] = targets[place - 1]
                    place -= 1
                targets[place].hex, targets[place].worth = hex_id, worth
                count += 1
    return count


@helper
def _best_way(s, t, player, ship, place, left, targets, count, known):
    """What the best listed tile is worth to a starship that sets out from hex ``place``; ``known`` if that is more.

    ``ship`` is the starship that is or might be there, -1 for a new one. A tile counts little if another of the seat's
    starships is nearer.
    """
    turns_to, way, best = TURNS[_usual_speed(t, player)], t.distance[place], known
    for number in range(count):
        worth = targets[number].worth
        if worth <= best:
            break  # as are all tiles that follow
        hex_id = targets[number].hex
        steps = int(way[hex_id])
        turns = turns_to[steps]
        if turns + int(s.body[hex_id] <= NUM_PLANETS) > left:
            continue
        worth *= AWAY[turns]
        if worth <= best:
            continue
        for other in range(MAX_SHIPS):
            rival = int(player.ship[other]) - 1
            if other != ship and rival >= 0 and s.body[rival] == 0 and t.distance[rival, hex_id] < steps:
                worth *= NEARER
        best = max(best, worth)
    return best


@helper
def _best_target(s, t, player, left):
    """What the best open tile is worth to a new starship."""
    targets = _room_for_targets()
    count = _list_targets(s, t, player, left, targets)
    return _best_way(s, t, player, -1, int(t.sol), left, targets, count, 0.0)


@leaf
def _usual_speed(t, player):
    """How many spaces a starship usually moves in a turn, some of them by exploratory movement."""
    return max(1, benefit(t, player, SPACE_TRAVELS) + 1)


@helper
def _ships_worth(s, t, seat, left):
    """What the starships are worth. One on a planet is nearly a colony. One in space counts by its best target."""
    player = s.player[seat]
    worth = 0.0
    room = MAX_COLONIES - int(player.colonies)
    targets = _room_for_targets()
    count = _list_targets(s, t, player, left, targets) if player.ships_in_space > 0 else 0
    for ship in range(MAX_SHIPS):
        place = int(player.ship[ship]) - 1
        if place < 0:
            continue
        body = int(s.body[place])
        if body == 0:
            worth += IN_SPACE * _best_way(s, t, player, ship, place, left, targets, count, 0.0)
        elif body <= NUM_PLANETS and room > 0:
            worth += ON_PLANET * _target_worth(s, t, player, place, left)
            room -= 1
    return worth


@leaf
def _legal_hexes(mask, word):
    """The legal hexes from ``64 * word`` on, as a word."""
    return allowed_word(mask, HEX + 64 * word, min(64, NUM_HEXES - 64 * word))


@helper
def _best_hex(s, t, mask, ship):
    """The legal hex that is worth most to a starship. DONE if that is legal and no hex is worth more than staying."""
    targets = _room_for_targets()
    count = _list_targets(s, t, s.player[s.seat], rounds_left(s), targets)
    return _best_hex_of(s, t, mask, ship, targets, count)


@helper
def _best_hex_of(s, t, mask, ship, targets, count):
    """The same with the targets listed."""
    player, left, targets = s.player[s.seat], rounds_left(s), borrowed(targets)
    best, best_worth = -1, NEVER
    if ship >= 0 and allowed(mask, DONE):
        best_worth = _best_way(s, t, player, ship, int(player.ship[ship]) - 1, left, targets, count, 0.0)
    for word in range(WORDS):
        hexes = _legal_hexes(mask, word)
        while hexes != NOTHING:
            hex_id = 64 * word + lowest(hexes)
            hexes = without_lowest(hexes)
            if s.body[hex_id] == 0:
                worth = _best_way(s, t, player, ship, hex_id, left, targets, count, max(0.0, best_worth))
            else:
                worth = _target_worth(s, t, player, hex_id, left)
            if worth > best_worth:
                best, best_worth = hex_id, worth
    return DONE if best < 0 or (best_worth <= 0 and allowed(mask, DONE)) else HEX + best


@helper
def _ship_to_move(s, t, targets, count):
    """The first starship that can move and has a target to go to; -1 if there is none."""
    player, left, targets = s.player[s.seat], rounds_left(s), borrowed(targets)
    for ship in range(MAX_SHIPS):
        can_move = ready_to_move(s, t, player, ship) and not is_empty(destinations(s, t, player, ship, s.speed))
        if can_move and _best_way(s, t, player, ship, int(player.ship[ship]) - 1, left, targets, count, 0.0) > 0:
            return ship
    return -1


@helper
def _mover(s, t, mask):
    """The starship that goes where several could go."""
    targets = _room_for_targets()
    count = _list_targets(s, t, s.player[s.seat], rounds_left(s), targets)
    ship = _ship_to_move(s, t, targets, count)
    return SHIP + ship if ship >= 0 and allowed(mask, SHIP + ship) else _any(mask, SHIP, SHIP + MAX_SHIPS)


@helper
def _best_move(s, t):
    """The best destination of the starship to move. Other starships may be able to reach it, too."""
    player, targets = s.player[s.seat], _room_for_targets()
    count = _list_targets(s, t, player, rounds_left(s), targets)
    ship = _ship_to_move(s, t, targets, count)
    if ship < 0:
        return DONE
    reached = _room_for_mask()
    for word in range(MASK_WORDS):
        reached[word] = 0
    allow_hexes(reached, HEX, destinations(s, t, player, ship, s.speed))
    return _best_hex_of(s, t, reached, ship, targets, count)


# ---------------------------------------------------------------- the other choices


@helper
def _choice(s, t, mask):
    """Choose by rules of thumb at any node but that of the main action.

    Quantum operations come before terraforming, and before the seat declines anything else.
    """
    action = _rule_of_thumb(s, t, mask)
    if (action == DONE or s.node == Node.TERRAFORMING) and own_turn(s) and s.conversions + s.allocations > 0:
        operation = _best_operation(s, t, mask)
        if operation != DONE:
            return operation
    return action


@helper
def _rule_of_thumb(s, t, mask):
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
        return (
            _paying_slot(s, t, mask, 1, 1 - int(extra(t, player, SPACE_TRAVELS) > 0), 0) if _wants_ships(s, t) else DONE
        )
    if node == Node.DEVELOPMENT_PAYMENT:
        tech = int(s.technology) - 1
        cost = t.tech[tech, int(player.tech[tech]) + 1].cost
        return _paying_slot(s, t, mask, int(cost[ENERGY]), int(cost[MATTER]), int(cost[ANTIMATTER]))
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
        return _cheapest_cube(s, t, player, mask)
    if node in (Node.CARD_REGENERATION, Node.REWARD_REGENERATION):
        return _regenerated(mask)
    if node == Node.SOLO_BONUS:
        return RES + (MATTER if player.cubes[EARTH, MATTER] < player.cubes[EARTH, ENERGY] else ENERGY)
    return DONE


@leaf
def _any(mask, first, end):
    """The lowest legal id from ``first`` up to ``end``; DONE if there is none."""
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
    """The legal technology that is worth most; DONE if none is worth more than nothing."""
    player = s.player[s.seat]
    best, best_worth = DONE, 0.0
    for tech in range(NUM_TECHS):
        if allowed(mask, TECH + tech):
            worth = _level_worth(s, t, player, np.int64(tech))
            if worth > best_worth:
                best, best_worth = TECH + tech, worth
    return best


@helper
def _level_worth(s, t, player, tech):
    """What the next level of a technology is worth.

    It is leadership, progress towards the highest level, and use in the rounds left, less what it costs.
    """
    left = rounds_left(s)
    level = int(player.tech[tech]) + 1
    worth = TECH_WORTH[tech, level] * left / ROUNDS + STEP * int(t.tech[tech, level].leadership) + LEVEL_CHOSEN
    if level == MAX_LEVEL:
        worth += int(t.vp_max_technology)
    elif left > 0:
        worth += LEVEL_WORTH
    if left > 0:
        worth -= LEVEL_COST * (level - 1)
    if tech == TERRAFORMING and left > 1:
        for slot in range(1, int(player.colonies) + 1):
            planet = t.planet[player.slot[slot]]
            worth += LEVEL_WANTED * int(planet.vp) * int(planet.level > extra(t, player, TERRAFORMING))
    return worth


@helper
def _paying_slot(s, t, mask, energy, matter, antimatter):
    """The card that loses least by paying; DONE if none can pay."""
    player = s.player[s.seat]
    left = rounds_left(s)
    best, least = DONE, -NEVER
    for slot in range(int(player.colonies) + 1):
        if allowed(mask, SLOT + slot):
            loss = _hoped_for(s, t, player, slot, left, 0, 0, 0)
            loss -= _hoped_for(s, t, player, slot, left, -energy, -matter, -antimatter)
            if loss < least:
                best, least = SLOT + slot, loss
    return best


@leaf
def _wants_ships(s, t):
    player = s.player[s.seat]
    left = rounds_left(s)
    return _best_target(s, t, player, left) > SHIP_WANTED


@leaf
def _step_worth(s, t, seat, track):
    """What one more step on a track is worth: the points, medal and icon on its space."""
    player = s.player[seat]
    space = int(player.track[track]) + 1
    if space > TRACK_END:
        return 0.0
    worth = STEP
    if rounds_left(s) == 0:
        worth = float(t.track_vp[track, space] - t.track_vp[track, space - 1])
    medal = int(t.medal[track, space]) - 1
    if medal >= 0 and s.track_medals[track, medal]:
        worth += MEDAL
    if t.icon[track, space] > 0:
        worth += ICON
    worth += CATCHING_UP * int(s.card_medals[track]) * (1.0 - _leads(s, seat, track))
    return worth


@leaf
def _better_track(s, t, seat):
    return int(_step_worth(s, t, seat, TECHNOLOGICAL) >= _step_worth(s, t, seat, COLONIAL))


@leaf
def _nearest_tile(s, t, mask):
    """The legal tile that is nearest to Sol, or to one of the seat's starships in space."""
    player = s.player[s.seat]
    best, least = DONE, -NEVER
    for word in range(WORDS):
        hexes = _legal_hexes(mask, word)
        while hexes != NOTHING:
            hex_id = 64 * word + lowest(hexes)
            hexes = without_lowest(hexes)
            steps = float(t.sol_distance[hex_id])
            for ship in range(MAX_SHIPS):
                place = int(player.ship[ship]) - 1
                if place >= 0 and s.body[place] == 0:
                    steps = min(steps, t.distance[place, hex_id] + FROM_SHIP)
            if steps < least:
                best, least = HEX + hex_id, steps
    return best


@helper
def _best_slot(s, t, mask):
    """The card where new cubes help most: a planet that they bring nearer to terraforming, else Earth."""
    player = s.player[s.seat]
    left = rounds_left(s)
    best, best_worth = DONE, NEVER
    for slot in range(int(player.colonies) + 1):
        if allowed(mask, SLOT + slot):
            energy = _made(s, t, player, slot, ENERGY)
            matter = _made(s, t, player, slot, MATTER)
            antimatter = _made(s, t, player, slot, ANTIMATTER)
            worth = (EARTH_CUBE if slot == EARTH else CARD_CUBE) * (energy + matter) + antimatter
            worth += _hoped_for(s, t, player, slot, left, energy, matter, antimatter)
            worth -= _hoped_for(s, t, player, slot, left, 0, 0, 0)
            if worth > best_worth:
                best, best_worth = SLOT + slot, worth
    return best


@helper
def _made(s, t, player, slot, kind):
    """How many cubes of a kind a card would get now."""
    node = int(s.node)
    if node == Node.ENERGY_STORAGE:
        made = benefit(t, player, ENERGY_DEVELOPMENT) * int(kind == ENERGY)
    elif node == Node.ANTIMATTER_GENERATION:
        made = benefit(t, player, ANTIMATTER_SCIENCE) * int(kind == ANTIMATTER)
    elif node == Node.BONUS_ANTIMATTER:
        made = int(kind == ANTIMATTER)
    elif node == Node.REWARD_PRODUCTION:
        made = int(reward_kind(s) - 1 == kind)
    elif node == Node.CARD_PRODUCTION:
        made = int(t.card[s.deck[s.round_number - 1]].produced[kind])
    else:
        made = int(production(s, t, player, slot)[kind])
    return min(made, int(player.storage[kind]))


# ---------------------------------------------------------------- quantum operations


@helper
def _best_operation(s, t, mask):
    """The conversion or allocation that gains most; DONE if none gains enough."""
    player = s.player[s.seat]
    slots, best, most = int(player.colonies) + 1, DONE, QUANTUM_GAIN
    prospect, present = _room_for_cards(), _room_for_cards()
    for slot in range(slots):
        prospect[slot] = 0.0
        if slot != EARTH and not s.planet_terraformed[player.slot[slot]]:
            prospect[slot] = _terraforming_worth(s, t, player, slot)
        present[slot] = _card_worth(s, t, player, slot, 0, 0, 0, prospect[slot])
    for slot in range(slots):
        for old in range(NUM_DIRECTIONS):
            action = CONVERT + NUM_DIRECTIONS * slot + old
            if allowed(mask, action):
                change = 1 - 2 * old  # energy into matter, or the reverse
                gain = _card_worth(s, t, player, slot, -change, change, 0, prospect[slot]) - present[slot]
                if gain > most:
                    best, most = action, gain
    if s.allocations > 0:
        for taker in range(slots):
            for kind in range(NUM_RESOURCES):
                energy, matter, antimatter = int(kind == 0), int(kind == 1), int(kind == 2)
                with_it = _card_worth(s, t, player, taker, energy, matter, antimatter, prospect[taker])
                gain = with_it - present[taker]
                if gain > most:
                    for giver in range(slots):
                        action = ALLOCATE + NUM_RESOURCES * (MAX_COLONIES * giver + taker - int(taker > giver)) + kind
                        if giver != taker and allowed(mask, action):
                            without = _card_worth(s, t, player, giver, -energy, -matter, -antimatter, prospect[giver])
                            loss = present[giver] - without
                            if gain - loss > most:
                                best, most = action, gain - loss
    return best


@helper
def _card_worth(s, t, player, slot, energy, matter, antimatter, prospect):
    """What the cubes on a card would be worth if there were so many more.

    They serve for terraforming, which is worth ``prospect``, and for what the seat can buy at this node.
    """
    left = rounds_left(s)
    worth = _share(s, t, player, slot, left, energy, matter, antimatter) * prospect
    held_energy = int(player.cubes[slot, ENERGY]) + energy
    held_matter = int(player.cubes[slot, MATTER]) + matter
    held_antimatter = int(player.cubes[slot, ANTIMATTER]) + antimatter
    if s.node == Node.TECHNOLOGICAL_DEVELOPMENT:
        most = 0.0
        for tech in range(NUM_TECHS):
            if player.tech[tech] < MAX_LEVEL:
                cost = t.tech[tech, int(player.tech[tech]) + 1].cost
                if held_energy >= cost[ENERGY] and held_matter >= cost[MATTER] and held_antimatter >= cost[ANTIMATTER]:
                    most = max(most, _level_worth(s, t, player, np.int64(tech)))
        worth += most
    if (
        s.node == Node.SPACE_MISSIONS
        and s.left > 0
        and player.ships_in_supply > 0
        and held_energy > 0
        and held_matter > 0
    ):
        worth += SHIP_BONUS if _wants_ships(s, t) else 0.0
    return worth


# ---------------------------------------------------------------- bonus actions


@leaf
def _best_bonus(s, t, mask):
    """The bonus action that is worth most; DONE if none is worth the cube burned for it."""
    best, best_worth = DONE, 0.0 if s.second_free else _burn_cost(s)
    for bonus in range(NUM_BONUS):
        if allowed(mask, BONUS + bonus):
            worth = _bonus_worth(s, t, bonus)
            if worth > best_worth:
                best, best_worth = BONUS + bonus, worth
    return best


@leaf
def _burn_cost(s):
    """What a burned cube costs: more, the fewer cubes there are for the rounds left."""
    player = s.player[s.seat]
    cubes = 0
    for kind in range(ANTIMATTER):
        cubes += int(player.total[kind]) - int(player.pit[kind])
    left = rounds_left(s)
    if cubes == 0:
        return 2.0
    return min(BURN_MOST, BURN_LEAST + BURN_SCARCE * left / cubes)


@leaf
def _bonus_worth(s, t, bonus):
    seat = int(s.seat)
    player = s.player[seat]
    left = rounds_left(s)
    if bonus == SCIENTIFIC_PROGRESS:
        return _step_worth(s, t, seat, TECHNOLOGICAL)
    if bonus == CIVIL_MODERNITY:
        return _step_worth(s, t, seat, COLONIAL)
    if bonus == EVOLUTION_OF_TECHNOLOGY:
        return ANTIMATTER_BONUS
    if bonus == NEO:
        return NEO_BONUS * min(1.0, left / SOON)
    if bonus == SPACE_LOGISTICS:
        return SHIP_BONUS * _best_target(s, t, player, left)
    gain, targets = 0.0, _room_for_targets()
    count = _list_targets(s, t, player, left, targets)
    for ship in range(MAX_SHIPS):
        place = int(player.ship[ship]) - 1
        if place >= 0 and s.body[place] == 0:
            gain += MOVE_BONUS * _best_way(s, t, player, ship, place, left, targets, count, 0.0)
    return gain


@helper
def _cheapest_cube(s, t, player, mask):
    """The cube that costs least to burn.

    Cubes from storage go first, those of the kind there is most of. Antimatter and cubes that their card needs go last.
    """
    left = rounds_left(s)
    best, least = DONE, -NEVER
    for place in range(NUM_SOURCES):
        for kind in range(NUM_RESOURCES):
            action = BURN + NUM_RESOURCES * place + kind
            if allowed(mask, action):
                held = int(player.storage[kind]) if place == 0 else int(player.cubes[place - 1, kind])
                cost = BURN_ANTIMATTER * int(kind == ANTIMATTER) - BURN_HELD * held
                if place > 0:
                    slot = place - 1
                    cost += BURN_CARD + _hoped_for(s, t, player, slot, left, 0, 0, 0)
                    cost -= _hoped_for(s, t, player, slot, left, -int(kind == 0), -int(kind == 1), -int(kind == 2))
                if cost < least:
                    best, least = action, cost
    return best


@leaf
def _regenerated(mask):
    """Take back antimatter if possible, else energy, else matter."""
    for kind in (ANTIMATTER, ENERGY, MATTER):
        if allowed(mask, RES + kind):
            return RES + kind
    return DONE
