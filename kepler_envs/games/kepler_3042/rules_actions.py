"""Main actions, bonus actions and quantum operations."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_3042.actions import (
    ALLOCATE,
    BONUS,
    BURN,
    CONVERT,
    DONE,
    HEX,
    MAIN,
    NUM_DIRECTIONS,
    RES,
    SHIP,
    SLOT,
    TECH,
    TRACK,
)
from kepler_envs.games.kepler_3042.hexes import allow_hexes, put_in
from kepler_envs.games.kepler_3042.rules_board import (
    advance,
    benefit,
    burn,
    can_pay,
    can_produce,
    cubes_outside_the_pit,
    drop_reward,
    extra,
    face_down,
    finish_action,
    lead,
    own_turn,
    planet_at,
    produce,
    produce_all,
    regenerate,
    reward_kind,
    spend,
    station,
    turn_up,
)
from kepler_envs.games.kepler_3042.rules_movement import movable, start_movement, start_placing
from kepler_envs.games.kepler_3042.state import (
    ALIEN,
    ANTIMATTER,
    ANTIMATTER_SCIENCE,
    BY_LOGISTICS,
    BY_PLANNING,
    BY_PROPULSION,
    BY_TURN,
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
    MATTER,
    MAX_COLONIES,
    MAX_LEVEL,
    MAX_SHIPS,
    NUM_BONUS,
    NUM_MAIN,
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
)

QUANTUM_NODES = sum(
    1 << node
    for node in (
        Node.MAIN_ACTION, Node.SPACE_MISSIONS, Node.COLONY_SEEDING, Node.TECHNOLOGICAL_DEVELOPMENT, Node.MOVEMENT, Node.TERRAFORMING, Node.MAPPING_TRACK, Node.ENERGY_STORAGE, Node.PLANETARY_EXPLOITATION, Node.ANTIMATTER_GENERATION, Node.BONUS_ACTION, Node.WITHDRAWAL,
        Node.END_OF_TURN, Node.REWARD_REGENERATION, Node.REWARD_PRODUCTION,
    )
)  # fmt: skip
"""Nodes at which the turn player may also convert and allocate."""


# ---------------------------------------------------------------- choosing a main action


@leaf
def legal_main_actions(s, mask):
    """Any but the one the action cube lies on (R)."""
    for action in range(NUM_MAIN):
        if action != s.player[s.seat].action_cube:
            allow(mask, MAIN + action)


@leaf
def choose_main_action(s, t, action):
    chosen = action - MAIN
    player = s.player[s.seat]
    player.action_cube = chosen
    if chosen == SPACE_MISSIONS:
        s.left = t.ships_per_mission
        s.flow = Node.SPACE_MISSIONS
    elif chosen == COLONY_SEEDING:
        s.flow = Node.COLONY_SEEDING
    elif chosen == TECHNOLOGICAL_DEVELOPMENT:
        s.flow = Node.TECHNOLOGICAL_DEVELOPMENT
    elif chosen == STELLAR_PROPULSION:
        start_movement(s, BY_PROPULSION, benefit(t, player, SPACE_TRAVELS))
    elif chosen == TERRAFORM:
        s.flow = Node.TERRAFORMING
    elif chosen == GALACTIC_MAPPING:
        s.flow = Node.MAPPING_TRACK
    elif chosen == ENERGY_STORAGE:
        s.flow = Node.ENERGY_STORAGE
    elif chosen == PLANETARY_EXPLOITATION:
        s.left = benefit(t, player, TERRAFORMING)
        s.flow = Node.PLANETARY_EXPLOITATION
    else:
        s.flow = Node.ANTIMATTER_GENERATION


# ---------------------------------------------------------------- Colony Seeding


@leaf
def can_colonise(s, t, player, ship):
    """A starship on a planet, with a marker left; an alien planet needs the technology for it (R)."""
    place = int(player.ship[ship]) - 1
    planet = planet_at(s, place) if place >= 0 else 0
    if planet == 0 or player.colonies == MAX_COLONIES:
        return False
    return t.planet[planet].kind != ALIEN or extra(t, player, ANTIMATTER_SCIENCE) > 0


@leaf
def legal_to_colonise(s, t, mask):
    player = s.player[s.seat]
    for ship in range(MAX_SHIPS):
        if can_colonise(s, t, player, ship):
            allow(mask, SHIP + ship)
    allow(mask, DONE)


@leaf
def colonise(s, t, action):
    """The starship returns to the supply, a marker takes its place, and the planet's card comes without cubes (R)."""
    if action == DONE:
        finish_action(s)
        return
    seat = int(s.seat)
    player = s.player[seat]
    place = int(player.ship[action - SHIP]) - 1
    number = planet_at(s, place)
    station(s, np.int64(seat), action - SHIP, np.int64(-1))
    player.colonies += 1
    player.slot[player.colonies] = number
    s.planet_owner[number] = seat + 1
    put_in(s.colonised, place)
    kind = int(t.planet[number].kind)
    player.colonies_of_type[kind] += 1
    player.colonies_in_zone[t.zone[place]] += 1
    lead(s, t, seat, COLONIAL, int(t.colonise_leadership[kind]))


# ---------------------------------------------------------------- Technological Development


@leaf
def can_develop(t, player, tech):
    """Below the highest level, and a single card holds the price of the next one."""
    if player.tech[tech] == MAX_LEVEL:
        return False
    payers = 0
    for slot in range(int(player.colonies) + 1):
        payers += can_pay(player, slot, t.tech[tech, player.tech[tech] + 1].cost)
    return payers > 0


@leaf
def legal_to_develop(s, t, mask):
    player = s.player[s.seat]
    for tech in range(NUM_TECHS):
        if can_develop(t, player, tech):
            allow(mask, TECH + tech)
    allow(mask, DONE)


@leaf
def develop(s, action):
    if action == DONE:
        finish_action(s)
    else:
        s.technology = action - TECH + 1
        s.flow = Node.DEVELOPMENT_PAYMENT


@leaf
def legal_to_pay_development(s, t, mask):
    player = s.player[s.seat]
    tech = int(s.technology) - 1
    for slot in range(int(player.colonies) + 1):
        if can_pay(player, slot, t.tech[tech, player.tech[tech] + 1].cost):
            allow(mask, SLOT + slot)


@leaf
def pay_development(s, t, action):
    seat = int(s.seat)
    player = s.player[seat]
    tech = int(s.technology) - 1
    spend(player, action - SLOT, t.tech[tech, player.tech[tech] + 1].cost)
    s.technology = 0
    s.flow = Node.TECHNOLOGICAL_DEVELOPMENT
    advance(s, t, np.int64(seat), np.int64(tech))


# ---------------------------------------------------------------- Terraforming


@leaf
def can_terraform(s, t, player, slot):
    """Not terraformed yet, of a level the technology reaches, and its own card holds the cost (R)."""
    number = int(player.slot[slot])
    planet = t.planet[number]
    return (
        s.planet_terraformed[number] == 0
        and planet.level <= extra(t, player, TERRAFORMING)
        and can_pay(player, slot, planet.cost)
    )


@leaf
def legal_to_terraform(s, t, mask):
    player = s.player[s.seat]
    for slot in range(1, int(player.colonies) + 1):
        if can_terraform(s, t, player, slot):
            allow(mask, SLOT + slot)
    allow(mask, DONE)


@leaf
def terraform(s, t, action):
    if action == DONE:
        finish_action(s)
        return
    seat = int(s.seat)
    player = s.player[seat]
    slot = action - SLOT
    number = int(player.slot[slot])
    spend(player, slot, t.planet[number].cost)
    s.planet_terraformed[number] = 1
    player.terraformed += 1
    lead(s, t, seat, COLONIAL, int(t.terraform_leadership[t.planet[number].kind]))


# ---------------------------------------------------------------- Galactic Mapping


@leaf
def legal_tracks(mask):
    for track in range(NUM_TRACKS):
        allow(mask, TRACK + track)
    allow(mask, DONE)


@leaf
def choose_track(s, t, action):
    """A step on the track first, then the tiles."""
    if action == DONE:
        finish_action(s)
        return
    s.left = t.reveals
    s.flow = Node.MAPPING_TILE
    lead(s, t, int(s.seat), action - TRACK, 1)


@leaf
def legal_to_turn_up(s, mask):
    allow_hexes(mask, HEX, face_down(s))


@leaf
def map_tile(s, action):
    turn_up(s, action - HEX)
    s.left -= 1


# ---------------------------------------------------------------- Energy Storage, Antimatter Generation


@leaf
def legal_slots(player, mask):
    """Any own card, Earth included."""
    for slot in range(int(player.colonies) + 1):
        allow(mask, SLOT + slot)


@leaf
def legal_to_store(s, t, mask, kind, tech):
    player = s.player[s.seat]
    if benefit(t, player, tech) > 0 and player.storage[kind] > 0:
        legal_slots(player, mask)
    allow(mask, DONE)


@leaf
def store(s, t, action, kind, tech):
    """All that the technology yields on one card (R)."""
    player = s.player[s.seat]
    if action != DONE:
        produce(player, action - SLOT, kind, benefit(t, player, tech))
    finish_action(s)


# ---------------------------------------------------------------- Planetary Exploitation


@leaf
def production(s, t, player, slot):
    """What a colony produces: more once it is terraformed."""
    number = int(player.slot[slot])
    planet = t.planet[number]
    return planet.terraformed if s.planet_terraformed[number] else planet.colony


@leaf
def legal_to_exploit(s, t, mask):
    player = s.player[s.seat]
    if s.left > 0:
        for slot in range(1, int(player.colonies) + 1):
            if not s.exploited >> slot & 1 and can_produce(player, production(s, t, player, slot)):
                allow(mask, SLOT + slot)
    allow(mask, DONE)


@leaf
def exploit(s, t, action):
    if action == DONE:
        finish_action(s)
        return
    slot = action - SLOT
    player = s.player[s.seat]
    produce_all(player, slot, production(s, t, player, slot))
    s.exploited = int(s.exploited) | 1 << slot
    s.left -= 1


# ---------------------------------------------------------------- bonus actions


@leaf
def is_useful(s, t, seat, bonus):
    """A bonus action that would do nothing is not offered."""
    player = s.player[seat]
    if bonus == SPACE_LOGISTICS:
        return player.ships_in_supply > 0
    if bonus == EVOLUTION_OF_TECHNOLOGY:
        return player.storage[ANTIMATTER] > 0
    if bonus == SCIENTIFIC_PROGRESS:
        return player.track[TECHNOLOGICAL] < TRACK_END
    if bonus == CIVIL_MODERNITY:
        return player.track[COLONIAL] < TRACK_END
    if bonus == EXPLORATORY_PLANNING:
        return movable(s, t, np.int64(seat), np.int64(t.exploration_speed)) != 0
    return player.storage[ENERGY] + player.storage[MATTER] > 0


@helper
def usable_bonuses(s, t):
    """Bits of the bonus actions on the cube's column and row that the turn player can use."""
    seat = int(s.active)
    player = s.player[seat]
    if s.second_free == 0 and cubes_outside_the_pit(player) == 0:
        return 0
    offered = int(t.bonus_of[player.action_cube]) & ~int(s.bonus_used)
    usable = 0
    for bonus in range(NUM_BONUS):
        if offered >> bonus & 1 and is_useful(s, t, seat, bonus):
            usable |= 1 << bonus
    return usable


@leaf
def legal_bonuses(s, t, mask):
    usable = usable_bonuses(s, t)
    for bonus in range(NUM_BONUS):
        if usable >> bonus & 1:
            allow(mask, BONUS + bonus)
    allow(mask, DONE)


@leaf
def choose_bonus(s, t, action):
    """The starships' move follows once no bonus action is wanted."""
    if action == DONE:
        end_bonuses(s, t)
        return
    bonus = action - BONUS
    s.bonus_used = int(s.bonus_used) | 1 << bonus
    if s.second_free:
        s.second_free = 0
        take_bonus(s, t, bonus)
    else:
        s.bonus = bonus + 1
        s.flow = Node.BONUS_BURN


@leaf
def end_bonuses(s, t):
    """On to step 2c: every starship may move as far as Space Travels allows."""
    start_movement(s, BY_TURN, benefit(t, s.player[s.active], SPACE_TRAVELS))


@helper
def legal_to_burn(s, mask):
    """Any cube in storage or on a card."""
    player = s.player[s.seat]
    for kind in range(NUM_RESOURCES):
        if player.storage[kind] > 0:
            allow(mask, BURN + kind)
        for slot in range(int(player.colonies) + 1):
            if player.cubes[slot, kind] > 0:
                allow(mask, BURN + NUM_RESOURCES * (slot + 1) + kind)


@leaf
def burn_for_bonus(s, t, action):
    """One burned cube pays for one bonus action, for both with the highest Energy Development (R)."""
    player = s.player[s.seat]
    burn(player, (action - BURN) // NUM_RESOURCES, (action - BURN) % NUM_RESOURCES)
    bonus = int(s.bonus) - 1
    s.bonus = 0
    s.second_free = int(extra(t, player, ENERGY_DEVELOPMENT) > 0 and s.bonus_used == 1 << bonus)
    take_bonus(s, t, bonus)


@helper
def take_bonus(s, t, bonus):
    seat = int(s.seat)
    player = s.player[seat]
    s.flow = Node.BONUS_ACTION
    if bonus == SPACE_LOGISTICS:
        start_placing(s, BY_LOGISTICS, 0)
    elif bonus == EVOLUTION_OF_TECHNOLOGY:
        s.flow = Node.BONUS_ANTIMATTER
    elif bonus == SCIENTIFIC_PROGRESS:
        lead(s, t, seat, TECHNOLOGICAL, 1)
    elif bonus == CIVIL_MODERNITY:
        lead(s, t, seat, COLONIAL, 1)
    elif bonus == EXPLORATORY_PLANNING:
        start_movement(s, BY_PLANNING, int(t.exploration_speed))
    else:
        produce(player, EARTH, ENERGY, 1)
        produce(player, EARTH, MATTER, 1)


@leaf
def legal_antimatter_slots(s, mask):
    player = s.player[s.seat]
    if player.storage[ANTIMATTER] > 0:
        legal_slots(player, mask)
    allow(mask, DONE)


@leaf
def take_antimatter(s, action):
    if action != DONE:
        produce(s.player[s.seat], action - SLOT, ANTIMATTER, 1)
    s.flow = Node.BONUS_ACTION


@leaf
def legal_end_of_turn(mask):
    allow(mask, DONE)


# ---------------------------------------------------------------- rewards of the tracks' icons


@leaf
def legal_to_regenerate(s, mask):
    player = s.player[s.seat]
    for kind in range(NUM_RESOURCES):
        if player.pit[kind] > 0:
            allow(mask, RES + kind)
    allow(mask, DONE)


@leaf
def regenerate_reward(s, action):
    player = s.player[s.seat]
    drop_reward(s)
    if action != DONE:
        regenerate(player, action - RES)


@leaf
def legal_reward_slots(s, mask):
    legal_slots(s.player[s.seat], mask)
    allow(mask, DONE)


@leaf
def produce_reward(s, action):
    player = s.player[s.seat]
    kind = reward_kind(s) - 1
    drop_reward(s)
    if action != DONE:
        produce(player, action - SLOT, kind, 1)


# ---------------------------------------------------------------- quantum operations


@leaf
def is_quantum(action):
    """Whether an id converts or allocates."""
    return CONVERT <= action < HEX


@leaf
def legal_quantum(s, mask):
    """Conversions and allocations of the turn player, at most nodes of the turn (R)."""
    if QUANTUM_NODES >> int(s.node) & 1 and own_turn(s):
        player = s.player[s.seat]
        if s.conversions > 0:
            legal_conversions(player, mask)
        if s.allocations > 0 and player.colonies > 0:
            legal_allocations(player, mask)


@helper
def legal_conversions(player, mask):
    """An energy on a card against a matter in storage, or the reverse."""
    for direction in range(NUM_DIRECTIONS):
        if player.storage[MATTER if direction == 0 else ENERGY] > 0:
            for slot in range(int(player.colonies) + 1):
                if player.cubes[slot, direction] > 0:
                    allow(mask, CONVERT + NUM_DIRECTIONS * slot + direction)


@helper
def legal_allocations(player, mask):
    """A cube of a card to another own card."""
    slots = int(player.colonies) + 1
    for giver in range(slots):
        for kind in range(NUM_RESOURCES):
            if player.cubes[giver, kind] > 0:
                for taker in range(slots):
                    if taker != giver:
                        other = taker - int(taker > giver)
                        allow(mask, ALLOCATE + NUM_RESOURCES * (MAX_COLONIES * giver + other) + kind)


@helper
def operate(s, action):
    """A conversion or an allocation; the node stays."""
    player = s.player[s.seat]
    if action < ALLOCATE:
        slot = (action - CONVERT) // NUM_DIRECTIONS
        old = (action - CONVERT) % NUM_DIRECTIONS
        player.cubes[slot, old] -= 1
        player.storage[old] += 1
        produce(player, slot, 1 - old, 1)
        s.conversions -= 1
    else:
        kind = (action - ALLOCATE) % NUM_RESOURCES
        pair = (action - ALLOCATE) // NUM_RESOURCES
        giver = pair // MAX_COLONIES
        taker = pair % MAX_COLONIES
        taker += int(taker >= giver)
        player.cubes[giver, kind] -= 1
        player.cubes[taker, kind] += 1
        s.allocations -= 1
