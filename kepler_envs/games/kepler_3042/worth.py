"""Rules of thumb: what things are worth to a seat, in hundredths of a point.

They follow the greedy bot's, in whole numbers, so that compiled and plain code agree to the last one. They read public
facts only.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_3042.hexes import HEIGHT, WIDTH
from kepler_envs.games.kepler_3042.rules_board import benefit, extra, rows_in_use
from kepler_envs.games.kepler_3042.state import (
    ALIEN,
    ANTIMATTER,
    ANTIMATTER_SCIENCE,
    ENERGY,
    MATTER,
    MAX_COLONIES,
    MAX_LEVEL,
    MAX_SHIPS,
    MAX_SPEED,
    MINE,
    NUM_PLANETS,
    NUM_RESOURCES,
    NUM_TECHS,
    NUM_ZONES,
    ROUNDS,
    SPACE_TRAVELS,
    TARGET,
    TERRAFORMING,
    TRACK_END,
)

STEP = 50  # of a track
MINE_WORTH, TARGET_WORTH, ALIEN_WORTH = 190, 60, 30
LEVEL_WORTH = np.array(
    [[0, 160, 100, 80, 80], [0, 10, 20, 30, 40], [0, 100, 80, 80, 60], [0, 140, 140, 180, 100], [0, 100, 20, 120, 40]]
)
"""What each level of each technology is worth for the rest of a whole game."""
CUBE_READY = 16  # a cube on a card rather than in storage
MOST_STEPS = WIDTH + HEIGHT
TURNS = np.array([[-(-steps // max(1, speed)) for steps in range(MOST_STEPS)] for speed in range(MAX_SPEED + 2)])
"""Turns of a way by speed and steps. Steps are the distance in hexes, whatever lies between."""
AWAY = np.array([round(1024 * 0.86**turns) for turns in range(MOST_STEPS)])
"""What turns on the way leave of a target's worth, of 1024."""
NEARER = 30  # per cent left where another own starship is nearer
CASES = 2 * (MAX_LEVEL + 1) + 1
SOON = 6  # rounds after which planets are worth no more
OPEN_WORTH = np.dtype((np.int16, (CASES, SOON + 1, TARGET + 1, NUM_ZONES)))


@leaf
def rounds_left(s):
    """The number of rounds after this one."""
    return ROUNDS - int(s.round_number)


@leaf
def usual_speed(t, player):
    """A guess of the spaces per turn: one more than Space Travels gives, as some turns have Exploratory Planning."""
    return max(1, benefit(t, player, SPACE_TRAVELS) + 1)


def open_worths(tables: Any) -> np.ndarray:
    """The worth of open tiles to a starship on them, int16 by :func:`worth_case`, rounds left (0..6), body and zone."""
    worths = np.zeros((CASES, SOON + 1, TARGET + 1, NUM_ZONES), np.int16)
    worths[:, :, MINE], worths[:, :, TARGET] = MINE_WORTH, TARGET_WORTH
    for case, left, number, zone in product(
        range(CASES - 1), range(1, SOON + 1), range(1, NUM_PLANETS + 1), range(NUM_ZONES)
    ):
        planet, (reach, aliens) = tables["planet"][number], divmod(case, 2)
        if planet["kind"] == ALIEN and not aliens:
            worths[case, left, number, zone] = ALIEN_WORTH
            continue
        levels = max(0, int(planet["level"]) - 1 - reach)
        worth = 100 + 100 * int(tables["zone_vp"][zone]) + STEP * int(tables["colonise_leadership"][planet["kind"]])
        worths[case, left, number, zone] = worth + (35 - 8 * levels) * int(planet["vp"]) * left // SOON
    return worths


LEVEL_WORTHS = np.dtype((np.int16, (NUM_TECHS, MAX_LEVEL + 1, ROUNDS + 1)))


def level_worths(tables: Any) -> np.ndarray:
    """The worth of a level that is reached, int16 by technology, level and rounds left.

    It counts the level's use, its leadership, and the way to the highest one.
    """
    worths = np.zeros(LEVEL_WORTHS.shape, np.int16)
    for tech, level, left in product(range(NUM_TECHS), range(1, MAX_LEVEL + 1), range(ROUNDS + 1)):
        worth = int(LEVEL_WORTH[tech, level]) * left // ROUNDS + STEP * int(tables["tech"][tech, level]["leadership"])
        worth += 100 * int(tables["vp_max_technology"]) if level == MAX_LEVEL else 35 if left > 0 else 0
        worths[tech, level, left] = worth + 30 - (10 * (level - 1) if left > 0 else 0)
    return worths


@leaf
def worth_case(t, player):
    """The case in the table of worths.

    It goes by the level of planets that may be terraformed, and by whether alien ones may be colonised. The last case
    is without markers left.
    """
    if player.colonies == MAX_COLONIES:
        return CASES - 1
    return 2 * extra(t, player, TERRAFORMING) + min(1, extra(t, player, ANTIMATTER_SCIENCE))


@leaf
def way_worth(worth, body, steps, speed, left):
    """The worth of a tile that many steps away, less for each turn. It is 0 if the starship comes too late."""
    turns = TURNS[speed, steps]
    late = turns + int(body <= NUM_PLANETS) > left
    return 0 if late else worth * AWAY[turns] >> 10


@helper
def less_where_others_are_nearer(s, t, player, ship, goal, steps, worth):
    """Leave little of a target for each other own starship in space that is nearer.

    ``ship`` is -1 for a new one.
    """
    for other in range(MAX_SHIPS):
        place = int(player.ship[other]) - 1
        if other != ship and place >= 0 and s.body[place] == 0 and t.distance[place, goal] < steps:
            worth = worth * NEARER // 100
    return worth


@leaf
def lead_of(s, seat, track):
    """The number of spaces ahead of the best other, below 0 if behind."""
    best = -1
    for row in range(rows_in_use(s)):
        if row != seat:
            best = max(best, int(s.player[row].track[track]))
    return int(s.player[seat].track[track]) - best


@leaf
def step_worth(s, t, player, track, ahead):
    """The worth of one more space: its points, the medal and the icon on it."""
    space = int(player.track[track]) + 1
    if space > TRACK_END:
        return 0
    worth = STEP
    if rounds_left(s) == 0:
        worth = 100 * (int(t.track_vp[track, space]) - int(t.track_vp[track, space - 1]))
    medal = int(t.medal[track, space]) - 1
    if medal >= 0 and s.track_medals[track, medal]:
        worth += 80
    if t.icon[track, space] > 0:
        worth += 25
    if ahead < 0:
        worth += 42 * int(s.card_medals[track])
    return worth


@leaf
def burn_cost(player, left):
    """The worth of a cube that is burned. It is higher the fewer cubes there are for the rounds left."""
    cubes = 0
    for kind in range(ANTIMATTER):
        cubes += int(player.total[kind]) - int(player.pit[kind])
    return 200 if cubes == 0 else min(150, 10 + 28 * left // cubes)


@leaf
def terraforming_worth(t, number):
    planet = t.planet[number]
    return 100 * int(planet.vp) + STEP * int(t.terraform_leadership[planet.kind])


@leaf
def cube_worth(t, player, slot, only):
    """The worth of a cube on a colony's card that is still to be terraformed, ``only`` of one kind (-1: any)."""
    planet = t.planet[player.slot[slot]]
    worth = 10 * (int(planet.colony[ENERGY]) + int(planet.colony[MATTER]))
    for kind in range(NUM_RESOURCES):
        lacking = int(planet.cost[kind]) - int(player.cubes[slot, kind])
        if (only < 0 or only == kind) and lacking > 0:
            worth += 120 + 10 * int(planet.vp) - 10 * lacking - 10 * int(planet.level)
    return worth
