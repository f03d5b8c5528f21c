"""Rules of the nine main actions. Those of starships are in rules_movement.py."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_3042.actions import DONE, HEX, MAIN, SHIP, SLOT, TECH, TRACK
from kepler_envs.games.kepler_3042.hexes import put_in
from kepler_envs.games.kepler_3042.rules_board import (
    advance,
    any_face_down,
    benefit,
    can_pay,
    can_produce,
    colonies,
    extra,
    finish_action,
    lead,
    legal_slots,
    legal_tiles,
    planet_at,
    produce,
    produce_all,
    production,
    slots,
    spend,
    station,
    turn_up,
)
from kepler_envs.games.kepler_3042.rules_movement import start_movement
from kepler_envs.games.kepler_3042.state import (
    ALIEN,
    ANTIMATTER,
    ANTIMATTER_SCIENCE,
    BY_PROPULSION,
    COLONIAL,
    COLONY_SEEDING,
    ENERGY,
    ENERGY_DEVELOPMENT,
    ENERGY_STORAGE,
    GALACTIC_MAPPING,
    MAX_COLONIES,
    MAX_LEVEL,
    MAX_SHIPS,
    NUM_MAIN,
    NUM_TECHS,
    NUM_TRACKS,
    PLANETARY_EXPLOITATION,
    SPACE_MISSIONS,
    SPACE_TRAVELS,
    STELLAR_PROPULSION,
    TECHNOLOGICAL_DEVELOPMENT,
    TERRAFORM,
    TERRAFORMING,
    Node,
    node_set,
)

NODES = node_set(
    Node.MAIN_ACTION, Node.COLONY_SEEDING, Node.TECHNOLOGICAL_DEVELOPMENT, Node.DEVELOPMENT_PAYMENT, Node.TERRAFORMING,
    Node.MAPPING_TRACK, Node.MAPPING_TILE, Node.ENERGY_STORAGE, Node.PLANETARY_EXPLOITATION, Node.ANTIMATTER_GENERATION,
)  # fmt: skip


@helper
def legal(s, t, mask):
    """Allow the choice of a main action, and the choices it brings."""
    node = s.node
    if node == Node.MAIN_ACTION:
        _legal_main_actions(s, mask)
    elif node == Node.COLONY_SEEDING:
        _legal_to_colonise(s, t, mask)
    elif node == Node.TECHNOLOGICAL_DEVELOPMENT:
        _legal_to_develop(s, t, mask)
    elif node == Node.DEVELOPMENT_PAYMENT:
        _legal_to_pay_development(s, t, mask)
    elif node == Node.TERRAFORMING:
        _legal_to_terraform(s, t, mask)
    elif node == Node.MAPPING_TRACK:
        _legal_tracks(mask)
    elif node == Node.MAPPING_TILE:
        legal_tiles(s, mask)
    elif node == Node.ENERGY_STORAGE:
        _legal_to_store(s, t, mask, ENERGY, ENERGY_DEVELOPMENT)
    elif node == Node.PLANETARY_EXPLOITATION:
        _legal_to_exploit(s, t, mask)
    else:
        _legal_to_store(s, t, mask, ANTIMATTER, ANTIMATTER_SCIENCE)


@helper
def apply(s, t, action):
    """Apply the choice of a main action, or a choice within one."""
    node = s.node
    if node == Node.MAIN_ACTION:
        _choose_main_action(s, t, action)
    elif node == Node.DEVELOPMENT_PAYMENT:
        _pay_development(s, t, action)
    elif node == Node.MAPPING_TILE:
        _map_tile(s, action)
    elif action == DONE:
        finish_action(s)
    elif node == Node.COLONY_SEEDING:
        _colonise(s, t, action)
    elif node == Node.TECHNOLOGICAL_DEVELOPMENT:
        _develop(s, action)
    elif node == Node.TERRAFORMING:
        _terraform(s, t, action)
    elif node == Node.MAPPING_TRACK:
        _choose_track(s, t, action)
    elif node == Node.ENERGY_STORAGE:
        _store(s, t, action, ENERGY, ENERGY_DEVELOPMENT)
    elif node == Node.PLANETARY_EXPLOITATION:
        _exploit(s, t, action)
    else:
        _store(s, t, action, ANTIMATTER, ANTIMATTER_SCIENCE)


@leaf
def goes_on(s):
    """End the action once all tiles that may be turned up are, or none is face down. Returns whether it did."""
    if s.flow == Node.MAPPING_TILE and (s.left == 0 or not any_face_down(s)):
        finish_action(s)
        return True
    return False


# ---------------------------------------------------------------- choosing a main action


@leaf
def _legal_main_actions(s, mask):
    """Allow any main action but the one the action cube lies on (R)."""
    for action in range(NUM_MAIN):
        if action != s.player[s.seat].action_cube:
            allow(mask, MAIN + action)


@leaf
def _choose_main_action(s, t, action):
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
    """Whether a starship on a planet can found a colony. That takes a marker, and for an alien planet the technology
    (R)."""
    place = player.ship[ship] - 1
    planet = planet_at(s, place) if place >= 0 else 0
    if planet == 0 or player.colonies == MAX_COLONIES:
        return False
    return t.planet[planet].kind != ALIEN or extra(t, player, ANTIMATTER_SCIENCE) > 0


@leaf
def _legal_to_colonise(s, t, mask):
    player = s.player[s.seat]
    for ship in range(MAX_SHIPS):
        if can_colonise(s, t, player, ship):
            allow(mask, SHIP + ship)
    allow(mask, DONE)


@leaf
def _colonise(s, t, action):
    """Return the starship to the supply. A marker takes its place, and the planet's card comes without cubes (R)."""
    seat = s.seat
    player = s.player[seat]
    place = player.ship[action - SHIP] - 1
    number = planet_at(s, place)
    station(s, np.int64(seat), action - SHIP, np.int64(-1))
    player.colonies += 1
    player.slot[player.colonies] = number
    s.planet_owner[number] = seat + 1
    put_in(s.colonised, place)
    kind = t.planet[number].kind
    player.colonies_of_type[kind] += 1
    player.colonies_in_zone[t.zone[place]] += 1
    lead(s, t, seat, COLONIAL, t.colonise_leadership[kind])


# ---------------------------------------------------------------- Technological Development


@leaf
def _can_develop(t, player, tech):
    """Whether a technology is below its highest level and a single card holds the price of the next one."""
    if player.tech[tech] == MAX_LEVEL:
        return False
    payers = 0
    for slot in slots(player):
        payers += can_pay(player, slot, t.tech[tech, player.tech[tech] + 1].cost)
    return payers > 0


@leaf
def _legal_to_develop(s, t, mask):
    player = s.player[s.seat]
    for tech in range(NUM_TECHS):
        if _can_develop(t, player, tech):
            allow(mask, TECH + tech)
    allow(mask, DONE)


@leaf
def _develop(s, action):
    s.technology = action - TECH + 1
    s.flow = Node.DEVELOPMENT_PAYMENT


@leaf
def _legal_to_pay_development(s, t, mask):
    player = s.player[s.seat]
    tech = s.technology - 1
    for slot in slots(player):
        if can_pay(player, slot, t.tech[tech, player.tech[tech] + 1].cost):
            allow(mask, SLOT + slot)


@leaf
def _pay_development(s, t, action):
    seat = s.seat
    player = s.player[seat]
    tech = s.technology - 1
    spend(player, action - SLOT, t.tech[tech, player.tech[tech] + 1].cost)
    s.technology = 0
    s.flow = Node.TECHNOLOGICAL_DEVELOPMENT
    advance(s, t, np.int64(seat), np.int64(tech))


# ---------------------------------------------------------------- Terraforming


@leaf
def can_terraform(s, t, player, slot):
    """Whether a colony can be terraformed.

    It must not be terraformed yet, the technology must reach its level, and its own card must hold the cost (R).
    """
    number = player.slot[slot]
    planet = t.planet[number]
    return (
        s.planet_terraformed[number] == 0
        and planet.level <= extra(t, player, TERRAFORMING)
        and can_pay(player, slot, planet.cost)
    )


@leaf
def _legal_to_terraform(s, t, mask):
    player = s.player[s.seat]
    for slot in colonies(player):
        if can_terraform(s, t, player, slot):
            allow(mask, SLOT + slot)
    allow(mask, DONE)


@leaf
def _terraform(s, t, action):
    seat = s.seat
    player = s.player[seat]
    slot = action - SLOT
    number = player.slot[slot]
    spend(player, slot, t.planet[number].cost)
    s.planet_terraformed[number] = 1
    player.terraformed += 1
    lead(s, t, seat, COLONIAL, t.terraform_leadership[t.planet[number].kind])


# ---------------------------------------------------------------- Galactic Mapping


@leaf
def _legal_tracks(mask):
    for track in range(NUM_TRACKS):
        allow(mask, TRACK + track)
    allow(mask, DONE)


@leaf
def _choose_track(s, t, action):
    """Step on the track first. The tiles follow."""
    s.left = t.reveals
    s.flow = Node.MAPPING_TILE
    lead(s, t, s.seat, action - TRACK, 1)


@leaf
def _map_tile(s, action):
    turn_up(s, action - HEX)
    s.left -= 1


# ---------------------------------------------------------------- Energy Storage, Antimatter Generation


@leaf
def _legal_to_store(s, t, mask, kind, tech):
    player = s.player[s.seat]
    if benefit(t, player, tech) > 0 and player.storage[kind] > 0:
        legal_slots(player, mask)
    allow(mask, DONE)


@leaf
def _store(s, t, action, kind, tech):
    """Store all that the technology yields on one card (R)."""
    player = s.player[s.seat]
    produce(player, action - SLOT, kind, benefit(t, player, tech))
    finish_action(s)


# ---------------------------------------------------------------- Planetary Exploitation


@leaf
def _legal_to_exploit(s, t, mask):
    player = s.player[s.seat]
    if s.left > 0:
        for slot in colonies(player):
            if not s.exploited >> slot & 1 and can_produce(player, production(s, t, player, slot)):
                allow(mask, SLOT + slot)
    allow(mask, DONE)


@leaf
def _exploit(s, t, action):
    slot = action - SLOT
    player = s.player[s.seat]
    produce_all(player, slot, production(s, t, player, slot))
    s.exploited |= 1 << slot
    s.left -= 1
