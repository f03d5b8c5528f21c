"""Random games that get somewhere: starships fly to planets, which are colonised, used and terraformed."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.kepler_3042.state import Node
from tests.games.kepler_3042.scenario import DONE, MINE, Position, main, steps_between


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
        if position.node in (Node.DESTINATION, Node.PLACE):
            return min(legal, key=lambda action: _way(position, action - 158) if action >= 158 else 99)
        if position.node in (Node.WITHDRAWAL, Node.END_OF_TURN):
            return DONE
        proper = [action for action in legal if action != DONE and not 56 <= action < 158]
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
        wanted.append(main(1))
    if own.planets:
        wanted += [main(4), main(7)]
    if in_space:
        wanted.append(main(3))
    if own.ships.count(None) >= 2 and min(own.cubes[0][:2]) > 0:
        wanted.append(main(0))
    wanted += [main(2), main(5), main(6), main(8)]
    first = [action for action in wanted if action in legal]
    return first[0] if random.random() < 0.5 else random.choice(first)
