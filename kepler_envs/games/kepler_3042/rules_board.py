"""What the rules of every action stand on: cubes, tracks, technologies, starships and tiles."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.bits import allow
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.games.kepler_3042.actions import BURN, HEX, SLOT
from kepler_envs.games.kepler_3042.hexes import (
    allow_hexes,
    common,
    includes,
    is_empty,
    members,
    put_in,
    take_out,
    without,
)
from kepler_envs.games.kepler_3042.state import (
    MAX_SHIPS,
    MINE,
    NUM_PLANETS,
    NUM_RESOURCES,
    QUANTUM_PHYSICS,
    REGENERATION,
    REWARD_KINDS,
    TECHNOLOGICAL,
    TRACK_END,
    Node,
    Phase,
)

# ---------------------------------------------------------------- seats


@leaf
def seat_after(s, seat, distance):
    """The seat ``distance`` (at most the number of players) places clockwise of ``seat``."""
    following = seat + distance
    return following - s.num_players if following >= s.num_players else following


@leaf
def seats(s):
    """Iterate over all seats."""
    return range(int(s.num_players))


@leaf
def rows_in_use(s):
    """The rows of the table of players in use: the seats, or the one seat and the ghost."""
    return max(2, s.num_players)


@leaf
def own_turn(s):
    """Whether the seat to move is in its own turn, phase 2 of the round."""
    return s.phase == Phase.TURNS and s.seat == s.active


# ---------------------------------------------------------------- cubes


@leaf
def slots(player):
    """Iterate over Earth and the colonies of a player."""
    return range(player.colonies + 1)


@leaf
def colonies(player):
    """Iterate over the slots of the colonies."""
    return range(1, player.colonies + 1)


@leaf
def legal_slots(player, mask):
    """Allow any own card, Earth included."""
    for slot in slots(player):
        allow(mask, SLOT + slot)


@leaf
def produce(player, slot, kind, count):
    """Move as many of ``count`` cubes as there are from storage onto a card."""
    moved = min(count, player.storage[kind])
    player.storage[kind] -= moved
    player.cubes[slot, kind] += moved


@helper
def produce_all(player, slot, amounts):
    """Produce each kind as far as it is available (R)."""
    for kind in range(NUM_RESOURCES):
        produce(player, slot, kind, amounts[kind])


@leaf
def can_produce(player, amounts):
    """Whether any of the amounts is at least partly in storage."""
    possible = False
    for kind in range(NUM_RESOURCES):
        possible |= amounts[kind] > 0 and player.storage[kind] > 0
    return possible


@leaf
def production(s, t, player, slot):
    """The production of a colony. It is higher once the colony is terraformed."""
    number = player.slot[slot]
    planet = t.planet[number]
    return planet.terraformed if s.planet_terraformed[number] else planet.colony


@leaf
def can_pay(player, slot, cost):
    """Whether one card holds the whole cost. A payment comes from a single card (R)."""
    lacking = 0
    for kind in range(NUM_RESOURCES):
        lacking += player.cubes[slot, kind] < cost[kind]
    return lacking == 0


@helper
def spend(player, slot, cost):
    """Move cubes from one card back to storage."""
    for kind in range(NUM_RESOURCES):
        player.cubes[slot, kind] -= cost[kind]
        player.storage[kind] += cost[kind]


@leaf
def regenerate(player, kind):
    """Move a cube from the pit back to storage."""
    player.pit[kind] -= 1
    player.storage[kind] += 1


@helper
def legal_to_burn(s, mask):
    """Allow any cube in storage or on a card."""
    player = s.player[s.seat]
    for kind in range(NUM_RESOURCES):
        if player.storage[kind] > 0:
            allow(mask, BURN + kind)
        for slot in slots(player):
            if player.cubes[slot, kind] > 0:
                allow(mask, BURN + NUM_RESOURCES * (slot + 1) + kind)


@leaf
def burn(player, action):
    """Move a cube into the pit, from storage (place 0) or from the card of slot ``place - 1`` (R)."""
    place = (action - BURN) // NUM_RESOURCES
    kind = (action - BURN) % NUM_RESOURCES
    if place == 0:
        player.storage[kind] -= 1
    else:
        player.cubes[place - 1, kind] -= 1
    player.pit[kind] += 1


@leaf
def cubes_outside_the_pit(player):
    """The number of cubes that could be burned."""
    count = 0
    for kind in range(NUM_RESOURCES):
        count += player.total[kind] - player.pit[kind]
    return count


# ---------------------------------------------------------------- leadership tracks and rewards


@leaf
def lead(s, t, seat, track, spaces):
    """Advance on a track. There is one compiled version, whatever the types of the numbers."""
    _step_on_track(s, t, np.int64(seat), np.int64(track), np.int64(spaces))


@helper
def _step_on_track(s, t, seat, track, spaces):
    """Advance one space. A medal goes to the current card, an icon's reward waits for the player (R)."""
    player = s.player[seat]
    for _ in range(spaces):
        space = player.track[track] + 1
        if space > TRACK_END:
            break
        player.track[track] = space
        medal = t.medal[track, space] - 1
        if medal >= 0 and s.track_medals[track, medal] != 0:
            s.track_medals[track, medal] = 0
            s.card_medals[track] += 1
        if seat < s.num_players:  # the ghost takes no rewards (R)
            add_reward(s, seat, np.int64(t.icon[track, space]))


@helper
def add_reward(s, seat, kind):
    """Add a reward to the end of the queue. ``kind`` 0 is none."""
    if kind > 0:
        s.rewards[s.pending] = REWARD_KINDS * seat + kind
        s.pending += 1


@helper
def drop_reward(s):
    """Remove the first reward of the queue."""
    last = s.pending - 1
    for place in range(last):
        s.rewards[place] = s.rewards[place + 1]
    s.rewards[last] = 0
    s.pending = last


@leaf
def rewarded_seat(s):
    """The seat that gets the first reward of the queue."""
    return s.rewards[0] // REWARD_KINDS


@leaf
def reward_kind(s):
    """The kind of the first reward, from 1 on. It is 0 if none waits."""
    return s.rewards[0] % REWARD_KINDS


@leaf
def reward_is_useful(s):
    """Whether the first reward can bring anything; otherwise it is lost.

    It needs a cube in the pit, or in storage.
    """
    player = s.player[rewarded_seat(s)]
    kind = reward_kind(s) - 1
    if kind == REGENERATION:
        return player.pit[0] + player.pit[1] + player.pit[2] > 0
    return player.storage[kind] > 0


# ---------------------------------------------------------------- technologies


@leaf
def benefit(t, player, tech):
    """The first benefit of a technology's level.

    It is speed, conversions, energy, planets that produce, or antimatter.
    """
    return int(t.tech[tech, player.tech[tech]].benefit)


@leaf
def extra(t, player, tech):
    """The second benefit of a technology's level.

    It is cheap starships, allocations, single burn, the level that can be terraformed, or alien colonies.
    """
    return int(t.tech[tech, player.tech[tech]].extra)


@helper
def _raise_level(s, t, seat, tech):
    """Raise a level by one, with the leadership that it brings."""
    player = s.player[seat]
    level = player.tech[tech] + 1
    player.tech[tech] = level
    lead(s, t, seat, TECHNOLOGICAL, t.tech[tech, level].leadership)


@helper
def advance(s, t, seat, tech):
    """Reach a new level, with its benefits at once.

    The collaboration bonus raises all others below the level it unlocks (R).
    """
    player = s.player[seat]
    conversions, allocations = benefit(t, player, tech), extra(t, player, tech)
    _raise_level(s, t, seat, tech)
    if tech == QUANTUM_PHYSICS and s.phase == Phase.TURNS:
        s.conversions += benefit(t, player, tech) - conversions
        s.allocations += extra(t, player, tech) - allocations
    unlocked = t.tech[tech, player.tech[tech]].unlock
    for distance in range(1, s.num_players):
        other = seat_after(s, seat, distance)
        while s.player[other].tech[tech] < unlocked:
            _raise_level(s, t, other, tech)


# ---------------------------------------------------------------- starships and tiles


@helper
def station(s, seat, ship, hex_id):
    """Put a starship on a hex, or into the supply (-1), from wherever it is."""
    player = s.player[seat]
    before = player.ship[ship] - 1
    if before >= 0:
        take_out(s.ships, before)
    if hex_id >= 0:
        put_in(s.ships, hex_id)
    player.ship[ship] = hex_id + 1
    _count_ships(s, seat)


@helper
def _count_ships(s, seat):
    """Count where the starships of a seat are."""
    player = s.player[seat]
    player.ships_in_supply = 0
    player.ships_in_space = 0
    player.ships_on_planets = 0
    player.ships_on_mines = 0
    for ship in range(MAX_SHIPS):
        place = player.ship[ship] - 1
        body = s.body[place] if place >= 0 else 0
        if place < 0:
            player.ships_in_supply += 1
        elif body == 0:
            player.ships_in_space += 1
        elif body == MINE:
            player.ships_on_mines += 1
        else:
            player.ships_on_planets += 1


@leaf
def _face_down(s):
    """The hexes of tiles that are face down."""
    return without(members(s.bodies), members(s.face_up))


@leaf
def legal_tiles(s, mask):
    """Allow the tiles that are face down."""
    allow_hexes(mask, HEX, _face_down(s))


@leaf
def any_face_down(s):
    return not is_empty(_face_down(s))


@leaf
def turn_up(s, hex_id):
    put_in(s.face_up, hex_id)


@leaf
def is_empty_space(s, t, hex_id):
    """Whether a hex is space without a body. A starship may be there."""
    return includes(t.space, hex_id) and not includes(s.bodies, hex_id)


@leaf
def free_space(s, t):
    """The empty space hexes without a starship."""
    return without(without(members(t.space), members(s.bodies)), members(s.ships))


@leaf
def planet_at(s, hex_id):
    """The number of the planet on a hex, 0 if there is none."""
    body = int(s.body[hex_id])
    return body if body <= NUM_PLANETS else 0


@leaf
def uncolonised_face_up(s):
    """The hexes of face-up tiles without an owner."""
    return without(common(members(s.bodies), members(s.face_up)), members(s.colonised))


# ---------------------------------------------------------------- the end of an action


@leaf
def finish_action(s):
    """Go on to the choice of a bonus action, which ends main actions and bonus actions."""
    s.left = 0
    s.exploited = 0
    s.flow = Node.BONUS_ACTION
