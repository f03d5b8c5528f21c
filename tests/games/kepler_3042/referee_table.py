"""What is done on the table of Kepler-3042, whoever does it: cubes move, markers step, levels rise, tiles are turned
up."""

from __future__ import annotations

from kepler_envs.engine.game import Configuration
from kepler_envs.games.kepler_3042.state import Phase
from tests.games.kepler_3042.component_numbers import LAST_LEVEL, TRACK_END, numbers_of
from tests.games.kepler_3042.legal import BURN
from tests.games.kepler_3042.scenario import TECHNOLOGICAL, Position, Seat

QUANTUM_PHYSICS = 1


class Table:
    """A position in which a referee carries out the rules."""

    def __init__(self, position: Position, config: Configuration) -> None:
        self.position = position
        self.config = config
        self.numbers = numbers_of(config)
        self.players = len(position.seats)

    @property
    def active(self) -> Seat:
        """The player whose setup, turn or card it is."""
        return self.position.seats[self.position.active]

    def after(self, seat: int, distance: int = 1) -> int:
        """Clockwise (K44)."""
        return (seat + distance) % self.players

    def go(self, flow: int, **registers: int | None) -> None:
        """To another node of the active seat; what the one before has noted is forgotten, but for these registers."""
        position = self.position
        position.left = position.source = position.speed = position.points = 0
        position.bonus = position.technology = position.place_slot = position.goal = position.moving = None
        position.exploited, position.moved = set(), set()
        position.flow = flow
        for name, value in registers.items():
            setattr(position, name, value)

    # ------------------------------------------------------------ cubes (2.1)

    def produce(self, seat: Seat, slot: int, triple: list[int]) -> None:
        """From storage to one card, as far as available."""
        for kind, wanted in enumerate(triple):
            number = min(wanted, seat.storage[kind])
            seat.storage[kind] -= number
            seat.cubes[slot][kind] += number

    def spend(self, seat: Seat, slot: int, cost: list[int]) -> None:
        """From one card to storage."""
        for kind, price in enumerate(cost):
            seat.cubes[slot][kind] -= price
            seat.storage[kind] += price

    def burn(self, seat: Seat, action: int) -> None:
        """From storage (location 0) or a card to the pit."""
        location, kind = divmod(action - BURN, 3)
        place = seat.cubes[location - 1] if location else seat.storage
        place[kind] -= 1
        seat.pit[kind] += 1

    def regenerate(self, seat: Seat, kind: int) -> None:
        """From the pit to storage."""
        seat.pit[kind] -= 1
        seat.storage[kind] += 1

    # ------------------------------------------------------------ leadership (2.5)

    def lead(self, number: int | None, track: int, spaces: int) -> None:
        """Space by space: a medal goes to the progress card, an icon is a reward that waits. None is the ghost, which
        gets no rewards."""
        position = self.position
        row = position.ghost if number is None else position.seats[number]
        assert row is not None
        for _ in range(spaces):
            if row.track[track] == TRACK_END:
                return
            row.track[track] += 1
            space = row.track[track]
            if space in position.track_medals[track]:
                position.track_medals[track].remove(space)
                position.card_medals[track] += 1
            if number is not None and space in self.numbers.icons[track]:
                position.rewards.append((number, self.numbers.icons[track][space]))

    # ------------------------------------------------------------ technologies (3.3)

    def advance(self, number: int, tech: int) -> None:
        """A level, its leadership, and what it unlocks for the others; there is no collaboration with the ghost."""
        seat = self.position.seats[number]
        before = self.allowances(seat)
        self.raise_level(number, tech)
        if tech == QUANTUM_PHYSICS and self.position.phase == Phase.TURNS and number == self.position.active:
            now = self.allowances(seat)
            self.position.conversions += now[0] - before[0]
            self.position.allocations += now[1] - before[1]
        unlocked = self.numbers.level[tech, seat.tech[tech]]["unlock"]
        for distance in range(1, self.players):
            other = self.after(number, distance)
            while self.position.seats[other].tech[tech] < unlocked:
                self.raise_level(other, tech)

    def raise_level(self, number: int, tech: int) -> None:
        """A level by itself, with its leadership."""
        seat = self.position.seats[number]
        seat.tech[tech] += 1
        self.lead(number, TECHNOLOGICAL, self.numbers.level[tech, seat.tech[tech]]["leadership"])

    def allowances(self, seat: Seat) -> tuple[int, int]:
        """Conversions and allocations of a whole turn."""
        return self.numbers.benefit(seat, "conversions"), self.numbers.benefit(seat, "allocations")

    def raise_ghost(self) -> None:
        """All its technologies, up to the last level (K30)."""
        assert self.position.ghost is not None
        self.position.ghost.tech = [min(level + 1, LAST_LEVEL) for level in self.position.ghost.tech]
