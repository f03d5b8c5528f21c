"""The legal ids of any position of Kepler-3042, node by node as in section 3.2 of the specification.

The page of the game says how its nodes of movement differ from those of the specification: a hex is chosen first, and
starships are withdrawn instead of further moves or, where none could move, instead of a bonus action.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kepler_envs.engine.game import RUNNING, Configuration
from kepler_envs.games.kepler_3042.state import Node, Phase
from tests.games.kepler_3042.component_numbers import LAST_LEVEL, MOST_COLONIES, TRACK_END, Numbers, numbers_of
from tests.games.kepler_3042.scenario import MINE, NEIGHBOURS, REGENERATE, A, E, M, Position, Seat, steps_between

DONE, MAIN, BONUS, TECH, TRACK, SLOT, SHIP, RES, BURN, CONVERT, ALLOCATE, HEX = (
    0, 1, 10, 16, 21, 23, 29, 32, 35, 56, 68, 158,
)  # fmt: skip
"""Where the blocks of ids begin (4)."""

BY_ACTION, BY_BONUS, BY_TURN, BY_CARD = range(4)
"""Sources of a movement (3.6); of a starship that is placed, all but the third (3.4, 3.7, 3.8)."""

MUST_CHOOSE = frozenset(
    (Node.FIRST_TECHNOLOGY, Node.SOLO_BONUS, Node.MAIN_ACTION, Node.DEVELOPMENT_PAYMENT, Node.MOVER,
     Node.MAPPING_TILE, Node.BONUS_BURN, Node.CARD_BURN)
)  # fmt: skip
"""Nodes without DONE; so is PLACE, except from a card (4)."""

WITHOUT_OPERATIONS = MUST_CHOOSE - {Node.MAIN_ACTION} | {Node.PLACE, Node.GOING_ON, Node.BONUS_ANTIMATTER}
"""Nodes of a turn at which no quantum operation is possible (3.5)."""


def legal_actions(position: Position, config: Configuration) -> set[int]:
    """The legal ids: those that are proper to the node, DONE, and quantum operations."""
    if position.end != RUNNING:
        return set()
    legal = proper_actions(position, config)
    if position.node not in MUST_CHOOSE and (position.node != Node.PLACE or position.source == BY_CARD):
        legal.add(DONE)
    return legal | operations(position)


def proper_actions(position: Position, config: Configuration) -> set[int]:
    return set(PROPER[position.node](position, position.seats[position.turn], numbers_of(config)))


def slots_of(seat: Seat) -> range:
    """Earth and the colonies."""
    return range(1 + len(seat.planets))


def colonies_of(seat: Seat) -> Iterator[tuple[int, int]]:
    """Slot and planet of each colony."""
    return enumerate(seat.planets, 1)


def operations(position: Position) -> set[int]:
    """3.5, invariant 13: conversions and allocations, in the own turn alone."""
    if position.phase != Phase.TURNS or position.turn != position.active or position.node in WITHOUT_OPERATIONS:
        return set()
    seat = position.seats[position.turn]
    legal = set()
    for slot in slots_of(seat):
        card = seat.cubes[slot]
        if position.conversions:
            legal |= {CONVERT + 2 * slot + kind for kind in (E, M) if card[kind] and seat.storage[1 - kind]}
        if position.allocations:
            legal |= {allocation(slot, other, kind) for other in slots_of(seat) if other != slot for kind in held(card)}
    return legal


def allocation(giver: int, taker: int, kind: int) -> int:
    """The id of an allocation (4)."""
    return ALLOCATE + 3 * (5 * giver + taker - (taker > giver)) + kind


def held(cubes: list[int]) -> list[int]:
    """The kinds of which there is a cube."""
    return [kind for kind in range(3) if cubes[kind]]


def covers(card: list[int], cost: list[int]) -> bool:
    """All cubes of a payment come from the same card (2.1)."""
    return all(there >= price for there, price in zip(card, cost, strict=True))


# ---------------------------------------------------------------- setup, the main action


def _first_technology(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """2.8: different ones."""
    return {TECH + tech for tech in range(5) if seat.tech[tech] == 0}


def _main(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """The action cube must move (3.4)."""
    return {MAIN + main for main in range(9) if main != seat.action_cube}


def _space_missions(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """Up to three starships, each paid by the planet that it is built at (3.4)."""
    if position.left == 0 or None not in seat.ships:
        return set()
    return {SLOT + slot for slot in slots_of(seat) if covers(seat.cubes[slot], numbers.ship_cost(seat))}


def _place(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """3.6: beside the planet that paid (Sol for Earth), or beside any own planet."""
    slots = slots_of(seat) if position.place_slot is None else [position.place_slot]
    centres = [position.hex_of(seat.planets[slot - 1]) if slot else numbers.sol for slot in slots]
    return {HEX + place for centre in centres for place in nearest_free(position, numbers, centre)}


def nearest_free(position: Position, numbers: Numbers, centre: int) -> set[int]:
    """K7, K8: space without body and starship, as near to the planet as there is, whatever lies between."""
    free = numbers.space - set(position.tiles) - set(position.ships_at())
    beside = free & set(NEIGHBOURS[centre])
    if beside:
        return beside
    nearest = min(steps_between(place, centre) for place in free)
    return {place for place in free if steps_between(place, centre) == nearest}


def _colony_seeding(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """3.4, K12: starships on planets; alien planets take a level of Antimatter Science; five colonies at most."""
    if len(seat.planets) == MOST_COLONIES:
        return set()
    legal = set()
    for ship, place in enumerate(seat.ships):
        body = MINE if place is None else position.tiles.get(place, MINE)
        if body < MINE and (numbers.planet[body]["type"] != "alien" or numbers.benefit(seat, "alien_colonies")):
            legal.add(SHIP + ship)
    return legal


def _technological_development(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """3.4: a level that some card can pay alone."""
    below = [tech for tech in range(5) if seat.tech[tech] < LAST_LEVEL]
    return {TECH + tech for tech in below if payers(seat, numbers, tech)}


def payers(seat: Seat, numbers: Numbers, tech: int) -> list[int]:
    """The slots that can pay for the next level."""
    cost = numbers.level[tech, seat.tech[tech] + 1]["cost"]
    return [slot for slot in slots_of(seat) if covers(seat.cubes[slot], cost)]


def _development_payment(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """One card pays (3.4)."""
    assert position.technology is not None
    return {SLOT + slot for slot in payers(seat, numbers, position.technology)}


def _terraforming(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """3.4: colonies up to the level that Terraforming allows, whose card holds the cost."""
    most = numbers.benefit(seat, "terraform_level")
    return {
        SLOT + slot
        for slot, planet in colonies_of(seat)
        if planet not in position.terraformed
        and numbers.planet[planet]["level"] <= most
        and covers(seat.cubes[slot], numbers.planet[planet]["cost"])
    }


def _mapping_track(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """K6."""
    return {TRACK, TRACK + 1}


def face_down(position: Position) -> set[int]:
    return set(position.tiles) - position.face_up


def _tile(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """Any tile that is face down (3.4, 3.8)."""
    return {HEX + place for place in face_down(position)}


def _energy_storage(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """3.4."""
    return any_slot(seat, min(numbers.benefit(seat, "energy"), seat.storage[E]) > 0)


def _antimatter_generation(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """3.4."""
    return any_slot(seat, min(numbers.benefit(seat, "antimatter"), seat.storage[A]) > 0)


def any_slot(seat: Seat, there: bool) -> set[int]:
    """One card gets all that is produced, if there is anything (2.1)."""
    return {SLOT + slot for slot in slots_of(seat)} if there else set()


def production(position: Position, numbers: Numbers, planet: int) -> list[int]:
    """Of the side of the card that is up."""
    return numbers.planet[planet]["terraformed" if planet in position.terraformed else "colony"]


def producing(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """The colonies whose production is at least partly in storage; never Earth (2.1)."""
    stored = set(held(seat.storage))
    return {slot for slot, planet in colonies_of(seat) if stored & set(held(production(position, numbers, planet)))}


def _planetary_exploitation(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """3.4: distinct colonies, as many as Terraforming says."""
    return {SLOT + slot for slot in producing(position, seat, numbers) - position.exploited if position.left}


# ---------------------------------------------------------------- starships


def reach(position: Position, numbers: Numbers, start: int, points: int) -> dict[int, int]:
    """3.6: where a starship can end, with the steps there. It passes through space alone, other starships in it or not,
    and enters no tile that is face down, colonised, or holds a starship; a colonial target is taken at once."""
    owners, ships = position.owners(), position.ships_at()
    ends: dict[int, int] = {}
    frontier, seen = {start}, {start}
    for steps in range(1, points + 1):
        entered = {other for place in frontier for other in NEIGHBOURS[place]} & numbers.space - seen
        seen |= entered
        for place in entered - set(ships):
            body = position.tiles.get(place)
            if body is None or (place in position.face_up and body not in owners):
                ends[place] = steps
        frontier = entered - set(position.tiles)
    return ends


def ways(position: Position, seat: Seat, numbers: Numbers, speed: int) -> dict[int, dict[int, int]]:
    """By starship, where those that have not moved can end; one on a planet or mine does not move (K11)."""
    return {
        ship: reach(position, numbers, place, speed)
        for ship, place in enumerate(seat.ships)
        if ship not in position.moved and place is not None and place not in position.tiles
    }


def destinations(position: Position, seat: Seat, numbers: Numbers, speed: int) -> set[int]:
    return set().union(*ways(position, seat, numbers, speed).values())


def on_board(seat: Seat) -> set[int]:
    """Any starship on the board can be withdrawn in step 2d."""
    return {SHIP + ship for ship, place in enumerate(seat.ships) if place is not None}


def _movement(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """A hex that some starship reaches; in step 2c, a withdrawal instead of further moves."""
    legal = {HEX + place for place in destinations(position, seat, numbers, position.speed)}
    return legal | on_board(seat) if position.source == BY_TURN else legal


def movers(position: Position, seat: Seat, numbers: Numbers, place: int) -> list[int]:
    """The starships that can go to a hex."""
    return [ship for ship, ends in ways(position, seat, numbers, position.speed).items() if place in ends]


def _mover(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """One of the starships that reach the hex."""
    assert position.goal is not None
    return {SHIP + ship for ship in movers(position, seat, numbers, position.goal)}


def _going_on(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """3.6: after a colonial target, with the spaces that are left."""
    assert position.moving is not None
    place = seat.ships[position.moving]
    assert place is not None
    return {HEX + other for other in reach(position, numbers, place, position.points)}


def _withdrawal(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    return on_board(seat)


# ---------------------------------------------------------------- bonus actions


def _bonus_action(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """Bonus actions, and the withdrawals of step 2d where no starship could move in step 2c."""
    can_move = destinations(position, seat, numbers, numbers.benefit(seat, "speed"))
    return bonus_actions(position, seat, numbers) | (set() if can_move else on_board(seat))


def bonus_actions(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """3.7: each once a turn, for a cube that is burned."""
    if not (position.second_free or sources(seat)):
        return set()
    offered = numbers.bonuses_of(seat.action_cube) - position.bonus_used
    return {BONUS + bonus for bonus in offered if is_useful(position, seat, numbers, bonus)}


def is_useful(position: Position, seat: Seat, numbers: Numbers, bonus: int) -> bool:
    """K18: useless bonus actions are illegal."""
    conditions: list[Callable[[], bool]] = [
        lambda: None in seat.ships,
        lambda: seat.storage[A] > 0,
        lambda: seat.track[1] < TRACK_END,
        lambda: seat.track[0] < TRACK_END,
        lambda: bool(destinations(position, seat, numbers, numbers.number["exploration_speed"])),
        lambda: seat.storage[E] + seat.storage[M] > 0,
    ]
    return conditions[bonus]()


def sources(seat: Seat) -> list[int]:
    """The ids of the cubes that can be burned (K40): in storage or on any card."""
    return [
        BURN + 3 * source + kind
        for source, cubes in enumerate([seat.storage, *(seat.cubes[slot] for slot in slots_of(seat))])
        for kind in held(cubes)
    ]


def _burn(position: Position, seat: Seat, numbers: Numbers) -> list[int]:
    return sources(seat)


def _bonus_antimatter(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """3.7: on any own planet."""
    return any_slot(seat, seat.storage[A] > 0)


# ---------------------------------------------------------------- progress cards, rewards


def _card_technology(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """3.8: levels up to the highest that the card gives, if as many cubes can be burned."""
    args = numbers.card[position.deck[position.round - 1]]["args"]
    cubes = sum(seat.storage) + sum(sum(seat.cubes[slot]) for slot in slots_of(seat))
    levels = [(tech, level + 1) for tech, level in enumerate(seat.tech) if level < LAST_LEVEL]
    return {TECH + tech for tech, new in levels if new <= args["max_level"] and cubes >= burned_for(args, new)}


def burned_for(args: dict, new_level: int) -> int:
    """K39: the new level less one, or nothing."""
    return new_level - 1 if args["burn_rule"] == "new_level_minus_one" else 0


def _card_production(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """3.8: one card gets what is available of the cubes."""
    triple = numbers.card[position.deck[position.round - 1]]["args"]["triple"]
    return any_slot(seat, bool(set(held(triple)) & set(held(seat.storage))))


def _card_exploitation(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """3.8: whatever the level of Terraforming."""
    return {SLOT + slot for slot in producing(position, seat, numbers)}


def _regeneration(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """A cube in the pit (2.1)."""
    return {RES + kind for kind in held(seat.pit)}


def _reward_production(position: Position, seat: Seat, numbers: Numbers) -> set[int]:
    """2.5: one cube of the kind that the icon shows."""
    kind = position.rewards[0][1]
    assert kind != REGENERATE
    return any_slot(seat, seat.storage[kind] > 0)


PROPER: dict[Node, Callable] = {
    Node.FIRST_TECHNOLOGY: _first_technology,
    Node.SOLO_BONUS: lambda position, seat, numbers: {RES + E, RES + M},
    Node.MAIN_ACTION: _main,
    Node.SPACE_MISSIONS: _space_missions,
    Node.PLACE: _place,
    Node.COLONY_SEEDING: _colony_seeding,
    Node.TECHNOLOGICAL_DEVELOPMENT: _technological_development,
    Node.DEVELOPMENT_PAYMENT: _development_payment,
    Node.MOVEMENT: _movement,
    Node.MOVER: _mover,
    Node.GOING_ON: _going_on,
    Node.TERRAFORMING: _terraforming,
    Node.MAPPING_TRACK: _mapping_track,
    Node.MAPPING_TILE: _tile,
    Node.ENERGY_STORAGE: _energy_storage,
    Node.PLANETARY_EXPLOITATION: _planetary_exploitation,
    Node.ANTIMATTER_GENERATION: _antimatter_generation,
    Node.BONUS_ACTION: _bonus_action,
    Node.BONUS_BURN: _burn,
    Node.BONUS_ANTIMATTER: _bonus_antimatter,
    Node.WITHDRAWAL: _withdrawal,
    Node.END_OF_TURN: lambda position, seat, numbers: set(),
    Node.CARD_TECHNOLOGY: _card_technology,
    Node.CARD_BURN: _burn,
    Node.CARD_PRODUCTION: _card_production,
    Node.CARD_EXPLOITATION: _card_exploitation,
    Node.CARD_TILE: _tile,
    Node.CARD_REGENERATION: _regeneration,
    Node.REWARD_REGENERATION: _regeneration,
    Node.REWARD_PRODUCTION: _reward_production,
}
