"""A player's turn in Kepler-3042: the nine main actions, bonus actions, starships that move and are withdrawn, and
quantum operations on the way."""

from __future__ import annotations

from kepler_envs.games.kepler_3042.state import TURN_OVER, Node
from tests.games.kepler_3042.legal import (
    ALLOCATE,
    BONUS,
    BY_ACTION,
    BY_BONUS,
    BY_CARD,
    BY_TURN,
    CONVERT,
    DONE,
    HEX,
    MAIN,
    SHIP,
    SLOT,
    TECH,
    TRACK,
    destinations,
    movers,
    production,
    reach,
)
from tests.games.kepler_3042.referee_table import Table
from tests.games.kepler_3042.scenario import COLONIAL, MINE, REGENERATE, TARGET, TECHNOLOGICAL

MAIN_NODES = (
    Node.SPACE_MISSIONS, Node.COLONY_SEEDING, Node.TECHNOLOGICAL_DEVELOPMENT, Node.MOVEMENT, Node.TERRAFORMING,
    Node.MAPPING_TRACK, Node.ENERGY_STORAGE, Node.PLANETARY_EXPLOITATION, Node.ANTIMATTER_GENERATION,
)  # fmt: skip
"""Where each main action begins (3.4)."""


class Turn(Table):
    """Each method carries out a choice at the nodes it is named after."""

    # ------------------------------------------------------------ quantum operations (3.5)

    def operate(self, action: int) -> None:
        """A conversion or an allocation; the node stays."""
        position, seat = self.position, self.active
        if action < ALLOCATE:
            slot, kind = divmod(action - CONVERT, 2)
            seat.cubes[slot][kind] -= 1
            seat.storage[kind] += 1
            seat.storage[1 - kind] -= 1
            seat.cubes[slot][1 - kind] += 1
            position.conversions -= 1
        else:
            pair, kind = divmod(action - ALLOCATE, 3)
            giver, other = divmod(pair, 5)
            taker = other + (other >= giver)
            seat.cubes[giver][kind] -= 1
            seat.cubes[taker][kind] += 1
            position.allocations -= 1

    # ------------------------------------------------------------ main actions (3.4)

    def main(self, action: int) -> None:
        """The action cube moves, and the action begins."""
        main, numbers = action - MAIN, self.numbers
        self.active.action_cube = main
        registers = {
            0: {"left": numbers.number["ships_per_mission"]},
            3: {"source": BY_ACTION, "speed": numbers.benefit(self.active, "speed")},
            7: {"left": numbers.benefit(self.active, "planets")},
        }
        self.go(MAIN_NODES[main], **registers.get(main, {}))

    def space_missions(self, action: int) -> None:
        """Paid by the planet that the starship is built at."""
        if action == DONE:
            self.go(Node.BONUS_ACTION)
            return
        slot = action - SLOT
        self.spend(self.active, slot, self.numbers.ship_cost(self.active))
        self.go(Node.PLACE, left=self.position.left - 1, source=BY_ACTION, place_slot=slot)

    def place(self, action: int) -> None:
        """A starship from the supply; DONE only for a card."""
        source, left = self.position.source, self.position.left
        if action != DONE:
            self.active.ships[self.active.ships.index(None)] = action - HEX
        if source == BY_ACTION:
            self.go(Node.SPACE_MISSIONS, left=left)
        elif source == BY_BONUS:
            self.go(Node.BONUS_ACTION)
        else:
            self.end_benefit()

    def colony_seeding(self, action: int) -> None:
        """The starship comes back, the planet is the next colony."""
        if action == DONE:
            self.go(Node.BONUS_ACTION)
            return
        seat, ship = self.active, action - SHIP
        planet = self.position.tiles[seat.ships[ship]]
        seat.ships[ship] = None
        seat.planets.append(planet)
        row = self.numbers.planet[planet]
        self.lead(self.position.active, COLONIAL, self.numbers.type[row["type"]]["colonise"])

    def technological_development(self, action: int) -> None:
        """Any number of levels, one after the other."""
        if action == DONE:
            self.go(Node.BONUS_ACTION)
        else:
            self.go(Node.DEVELOPMENT_PAYMENT, technology=action - TECH)

    def development_payment(self, action: int) -> None:
        """Paid by one card; what the level brings, it brings at once."""
        tech = self.position.technology
        cost = self.numbers.level[tech, self.active.tech[tech] + 1]["cost"]
        self.spend(self.active, action - SLOT, cost)
        self.go(Node.TECHNOLOGICAL_DEVELOPMENT)
        self.advance(self.position.active, tech)

    def terraforming(self, action: int) -> None:
        """What is left over stays on the card."""
        if action == DONE:
            self.go(Node.BONUS_ACTION)
            return
        slot = action - SLOT
        planet = self.active.planets[slot - 1]
        row = self.numbers.planet[planet]
        self.spend(self.active, slot, row["cost"])
        self.position.terraformed.add(planet)
        self.lead(self.position.active, COLONIAL, self.numbers.type[row["type"]]["terraform"])

    def mapping_track(self, action: int) -> None:
        """K6: the step and the tiles are a unit."""
        if action == DONE:
            self.go(Node.BONUS_ACTION)
            return
        self.go(Node.MAPPING_TILE, left=self.numbers.number["reveals"])
        self.lead(self.position.active, action - TRACK, 1)

    def tile(self, action: int) -> None:
        """Turned up for good, in Galactic Mapping or by a card, which may be declined."""
        if action == DONE:
            self.position.left = 0
            return
        self.position.face_up.add(action - HEX)
        self.position.left -= 1

    def energy_storage(self, action: int) -> None:
        """All that the level yields, on one planet (K5)."""
        if action != DONE:
            self.produce(self.active, action - SLOT, [self.numbers.benefit(self.active, "energy"), 0, 0])
        self.go(Node.BONUS_ACTION)

    def antimatter_generation(self, action: int) -> None:
        """All that the level yields, on one planet (K5)."""
        if action != DONE:
            self.produce(self.active, action - SLOT, [0, 0, self.numbers.benefit(self.active, "antimatter")])
        self.go(Node.BONUS_ACTION)

    def planetary_exploitation(self, action: int) -> None:
        """Each colony once, as many as the level allows."""
        if action == DONE:
            self.go(Node.BONUS_ACTION)
            return
        self.exploit(action - SLOT)
        self.position.exploited.add(action - SLOT)
        self.position.left -= 1

    def exploit(self, slot: int) -> None:
        """A colony produces what its side says (2.3)."""
        planet = self.active.planets[slot - 1]
        self.produce(self.active, slot, production(self.position, self.numbers, planet))

    # ------------------------------------------------------------ bonus actions (3.7)

    def bonus_action(self, action: int) -> None:
        """Declined where no starship could move, it ends the turn; a withdrawal is step 2d already."""
        if action == DONE:
            speed = self.numbers.benefit(self.active, "speed")
            if destinations(self.position, self.active, self.numbers, speed):
                self.begin_moves()
            else:
                self.go(TURN_OVER)
        elif action >= SHIP:
            self.withdrawal(action)
        else:
            self.position.bonus_used.add(action - BONUS)
            if self.position.second_free:
                self.position.second_free = 0
                self.take_bonus(action - BONUS)
            else:
                self.go(Node.BONUS_BURN, bonus=action - BONUS)

    def bonus_burn(self, action: int) -> None:
        """K19: with Theory of Everything the first cube pays for both."""
        bonus = self.position.bonus
        self.burn(self.active, action)
        if self.numbers.benefit(self.active, "single_burn") and len(self.position.bonus_used) == 1:
            self.position.second_free = 1
        self.take_bonus(bonus)

    def take_bonus(self, bonus: int) -> None:
        """What the six of them do, in the order of their ids."""
        number = self.position.active
        self.go(Node.BONUS_ACTION)
        match bonus:
            case 0:
                self.go(Node.PLACE, source=BY_BONUS)
            case 1:
                self.go(Node.BONUS_ANTIMATTER)
            case 2:
                self.lead(number, TECHNOLOGICAL, 1)
            case 3:
                self.lead(number, COLONIAL, 1)
            case 4:
                self.go(Node.MOVEMENT, source=BY_BONUS, speed=self.numbers.number["exploration_speed"])
            case 5:
                self.produce(self.active, 0, [1, 1, 0])

    def bonus_antimatter(self, action: int) -> None:
        """On any own planet."""
        if action != DONE:
            self.produce(self.active, action - SLOT, [0, 0, 1])
        self.go(Node.BONUS_ACTION)

    # ------------------------------------------------------------ movement (3.6)

    def begin_moves(self) -> None:
        """Step 2c."""
        self.go(Node.MOVEMENT, source=BY_TURN, speed=self.numbers.benefit(self.active, "speed"))

    def movement(self, action: int) -> None:
        """A hex, which mostly tells the starship."""
        if action == DONE:
            self.leave_movement(declined=True)
        elif action >= HEX:
            able = movers(self.position, self.active, self.numbers, action - HEX)
            if len(able) == 1:
                self.move(able[0], action - HEX)
            else:
                self.position.flow, self.position.goal = Node.MOVER, action - HEX
        else:
            self.withdrawal(action)

    def mover(self, action: int) -> None:
        """The starship that goes to the hex chosen before."""
        goal, self.position.goal = self.position.goal, None
        self.move(action - SHIP, goal)

    def going_on(self, action: int) -> None:
        """The same starship goes on, or stays where the colonial target was."""
        ship = self.position.moving
        if action == DONE:
            self.end_move(ship)
        else:
            self.move(ship, action - HEX, self.position.points)

    def move(self, ship: int, place: int, points: int | None = None) -> None:
        """A colonial target is removed and brings a step; the starship may go on with the spaces left (K9)."""
        position = self.position
        points = position.speed if points is None else points
        steps = reach(position, self.numbers, self.active.ships[ship], points)[place]
        self.active.ships[ship] = place
        if position.tiles.get(place) == TARGET:
            del position.tiles[place]
            position.face_up.remove(place)
            position.flow, position.moving, position.points = Node.GOING_ON, ship, points - steps
            self.lead(position.active, COLONIAL, 1)
        else:
            self.end_move(ship)

    def end_move(self, ship: int) -> None:
        """Each starship moves once."""
        position = self.position
        position.flow, position.moving, position.points = Node.MOVEMENT, None, 0
        position.moved.add(ship)

    def leave_movement(self, declined: bool) -> None:
        """Declined in step 2c, it ends the turn: withdrawals were offered with the moves."""
        source = self.position.source
        if source == BY_CARD:
            self.end_benefit()
        elif source != BY_TURN:
            self.go(Node.BONUS_ACTION)
        else:
            self.go(TURN_OVER if declined else Node.WITHDRAWAL)

    # ------------------------------------------------------------ withdrawal (3.2)

    def withdrawal(self, action: int) -> None:
        """A starship on a mine regenerates a cube."""
        if action == DONE:
            self.go(TURN_OVER)
            return
        ship = action - SHIP
        place, self.active.ships[ship] = self.active.ships[ship], None
        self.go(Node.WITHDRAWAL)
        if self.position.tiles.get(place) == MINE:
            self.position.rewards.append((self.position.active, REGENERATE))

    def end_benefit(self) -> None:
        """The active seat has had what the progress card brings."""
        raise NotImplementedError
