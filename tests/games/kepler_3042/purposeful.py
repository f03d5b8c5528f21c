"""Random games that get somewhere: starships fly to planets, which are colonised, used and terraformed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.kepler_3042.state import (
    ANTIMATTER_GENERATION,
    COLONY_SEEDING,
    ENERGY_STORAGE,
    GALACTIC_MAPPING,
    PLANETARY_EXPLOITATION,
    SPACE_MISSIONS,
    STELLAR_PROPULSION,
    TECHNOLOGICAL_DEVELOPMENT,
    TERRAFORM,
    Node,
)
from tests.games.kepler_3042.scenario import DONE_ID, FIRST_HEX_ID, FIRST_MAIN_ID, MINE, Position, steps_between


def purposeful(seed: int, share: float = 0.8) -> Callable[[Snapshot], int]:
    """Choices with a purpose in that share of the decisions, and any in the others."""
    random = Random(seed)

    def choose(snapshot: Snapshot) -> int:
        legal = snapshot.legal_actions()
        if random.random() > share:
            return random.choice(legal)
        position = Position.read(snapshot.state)
        if position.node == Node.MAIN_ACTION:
            return _main_action(position, legal, random)
        if position.node in (Node.MOVEMENT, Node.GOING_ON, Node.PLACE):
            return min(
                legal, key=lambda action: _way(position, action - FIRST_HEX_ID) if action >= FIRST_HEX_ID else 99
            )
        if position.node in (Node.WITHDRAWAL, Node.END_OF_TURN):
            return DONE_ID
        withdrawn = range(29, 32) if position.node == Node.BONUS_ACTION else ()
        proper = [a for a in legal if a != DONE_ID and not 56 <= a < FIRST_HEX_ID and a not in withdrawn]
        return random.choice(proper or legal)

    return choose


def _way(position: Position, place: int) -> int:
    """Steps to the nearest open tile that is worth a visit."""
    owners, ships = position.owners(), position.ships_at()
    goals = [tile for tile in position.face_up if position.tiles[tile] not in owners and tile not in ships]
    return min((steps_between(place, goal) for goal in goals), default=0)


def _main_action(position: Position, legal: list[int], random: Random) -> int:
    own = position.seats[position.turn]
    on_planets = [place for place in own.ships if place is not None and position.tiles.get(place, MINE) < MINE]
    in_space = [place for place in own.ships if place is not None and place not in position.tiles]
    wanted = []
    if on_planets and len(own.planets) < 5:
        wanted.append(COLONY_SEEDING)
    if own.planets:
        wanted += [TERRAFORM, PLANETARY_EXPLOITATION]
    if in_space:
        wanted.append(STELLAR_PROPULSION)
    if own.ships.count(None) >= 2 and min(own.cubes[0][:2]) > 0:
        wanted.append(SPACE_MISSIONS)
    wanted += [TECHNOLOGICAL_DEVELOPMENT, GALACTIC_MAPPING, ENERGY_STORAGE, ANTIMATTER_GENERATION]
    first = [FIRST_MAIN_ID + chosen for chosen in wanted if FIRST_MAIN_ID + chosen in legal]
    return first[0] if random.random() < 0.5 else random.choice(first)
