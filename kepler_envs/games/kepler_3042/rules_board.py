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
    """All seats, to go through them."""
    return range(int(s.num_players))


@leaf
def rows_in_use(s):
    """Rows of the table of players in use: the seats, or the one seat and the ghost."""
    return max(2, s.num_players)


@leaf
def own_turn(s):
    """Whether the seat to move is in its own turn, phase 2 of the round."""
    return s.phase == Phase.TURNS and s.seat == s.active


# ---------------------------------------------------------------- cubes


@leaf
def slots(player):
    """Earth and the colonies of a player, to go through their cards."""
    return range(player.colonies + 1)


@leaf
def colonies(player):
    """The slots of the colonies."""
    return range(1, player.colonies + 1)


@leaf
def legal_slots(player, mask):
    """Any own card, Earth included."""
    for slot in slots(player):
        allow(mask, SLOT + slot)


@leaf
def produce(player, slot, kind, count):
    """As many of ``count`` cubes as are there, from storage onto a card."""
    moved = min(count, player.storage[kind])
    player.storage[kind] -= moved
    player.cubes[slot, kind] += moved


@helper
def produce_all(player, slot, amounts):
    """Each kind as far as it is available (R)."""
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
    """What a colony produces: more once it is terraformed."""
    number = player.slot[slot]
    planet = t.planet[number]
    return planet.terraformed if s.planet_terraformed[number] else planet.colony


@leaf
def can_pay(player, slot, cost):
    """Whether one card holds the whole cost: a payment comes from a single card (R)."""
    lacking = 0
    for kind in range(NUM_RESOURCES):
        lacking += player.cubes[slot, kind] < cost[kind]
    return lacking == 0


@helper
def spend(player, slot, cost):
    """From one card back to storage."""
    for kind in range(NUM_RESOURCES):
        player.cubes[slot, kind] -= cost[kind]
        player.storage[kind] += cost[kind]


@leaf
def regenerate(player, kind):
    """A cube from the pit back to storage."""
    player.pit[kind] -= 1
    player.storage[kind] += 1


@helper
def legal_to_burn(s, mask):
    """Any cube in storage or on a card."""
    player = s.player[s.seat]
    for kind in range(NUM_RESOURCES):
        if player.storage[kind] > 0:
            allow(mask, BURN + kind)
        for slot in slots(player):
            if player.cubes[slot, kind] > 0:
                allow(mask, BURN + NUM_RESOURCES * (slot + 1) + kind)


@leaf
def burn(player, action):
    """A cube into the pit, from storage (place 0) or the card of slot ``place - 1`` (R)."""
    place = (action - BURN) // NUM_RESOURCES
    kind = (action - BURN) % NUM_RESOURCES
    if place == 0:
        player.storage[kind] -= 1
    else:
        player.cubes[place - 1, kind] -= 1
    player.pit[kind] += 1


@leaf
def cubes_outside_the_pit(player):
    """What could be burned."""
    count = 0
    for kind in range(NUM_RESOURCES):
        count += player.total[kind] - player.pit[kind]
    return count


# ---------------------------------------------------------------- leadership tracks and rewards


@leaf
def lead(s, t, seat, track, spaces):
    """Advance on a track (one compiled version, whatever the types of the numbers)."""
    _step_on_track(s, t, np.int64(seat), np.int64(track), np.int64(spaces))


@helper
def _step_on_track(s, t, seat, track, spaces):
    """Space by space: a medal goes to the current card, an icon's reward waits for the player (R)."""
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
    """Behind the others in the queue; ``kind`` 0 is none."""
    if kind > 0:
        s.rewards[s.pending] = REWARD_KINDS * seat + kind
        s.pending += 1


@helper
def drop_reward(s):
    """The first of the queue is done with."""
    last = s.pending - 1
    for place in range(last):
        s.rewards[place] = s.rewards[place + 1]
    s.rewards[last] = 0
    s.pending = last


@leaf
def rewarded_seat(s):
    """Whose the first of the queue is."""
    return s.rewards[0] // REWARD_KINDS


@leaf
def reward_kind(s):
    """Its kind from 1 on, 0 if none waits."""
    return s.rewards[0] % REWARD_KINDS


@leaf
def reward_is_useful(s):
    """Whether the first of the queue can bring anything: a cube in the pit, or in storage; else it is lost."""
    player = s.player[rewarded_seat(s)]
    kind = reward_kind(s) - 1
    if kind == REGENERATION:
        return player.pit[0] + player.pit[1] + player.pit[2] > 0
    return player.storage[kind] > 0


# ---------------------------------------------------------------- technologies


@leaf
def benefit(t, player, tech):
    """The first benefit of a technology's level: speed, conversions, energy, planets that produce, antimatter."""
    return int(t.tech[tech, player.tech[tech]].benefit)


@leaf
def extra(t, player, tech):
    """The second one: cheap starships, allocations, single burn, level that can be terraformed, alien colonies."""
    return int(t.tech[tech, player.tech[tech]].extra)


@helper
def _raise_level(s, t, seat, tech):
    """One level up, with the leadership it brings."""
    player = s.player[seat]
    level = player.tech[tech] + 1
    player.tech[tech] = level
    lead(s, t, seat, TECHNOLOGICAL, t.tech[tech, level].leadership)


@helper
def advance(s, t, seat, tech):
    """A new level with its benefits at once, and the collaboration bonus: all others below the level it unlocks are
    raised (R)."""
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
    """How many starships of a seat are where."""
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
    """Hexes of tiles that are face down."""
    return without(members(s.bodies), members(s.face_up))


@leaf
def legal_tiles(s, mask):
    """Those that are face down."""
    allow_hexes(mask, HEX, _face_down(s))


@leaf
def any_face_down(s):
    return not is_empty(_face_down(s))


@leaf
def turn_up(s, hex_id):
    put_in(s.face_up, hex_id)


@leaf
def is_empty_space(s, t, hex_id):
    """A space hex without a body; a starship may be there."""
    return includes(t.space, hex_id) and not includes(s.bodies, hex_id)


@leaf
def free_space(s, t):
    """Empty space hexes without a starship."""
    return without(without(members(t.space), members(s.bodies)), members(s.ships))


@leaf
def planet_at(s, hex_id):
    """The number of the planet on a hex, 0 if there is none."""
    body = int(s.body[hex_id])
    return body if body <= NUM_PLANETS else 0


@leaf
def uncolonised_face_up(s):
    """Hexes of face-up tiles without an owner."""
    return without(common(members(s.bodies), members(s.face_up)), members(s.colonised))


# ---------------------------------------------------------------- the end of an action


@leaf
def finish_action(s):
    """Main actions and bonus actions end with the choice of a bonus action."""
    s.left = 0
    s.exploited = 0
    s.flow = Node.BONUS_ACTION
