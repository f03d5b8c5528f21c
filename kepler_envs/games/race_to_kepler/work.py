"""How long an effect can go on. Without a bound, programs that repeat one another would never end.

A *step* is an instruction carried out, or a card that is moved, drawn or looked at. What is counted is the longest way
through a program with everything it triggers and repeats. Every MOVE takes as many cards as it names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kepler_envs.games.race_to_kepler.effects import Destination, Hook, Place, Replay, Source
from kepler_envs.games.race_to_kepler.state import LOOK_ZONE, MOST_UNITS, STACK

MOST_STEPS = 200_000
"""The most steps of a program, some ten milliseconds. Those of the game's own components have fewer than 1,000."""

Program = Sequence[Any]


class Work:
    """The number of steps of the programs of a component file.

    Args:
        cards, cities: rows of the file, their programs checked.
        supply_size: the number of cards on offer.
    """

    def __init__(
        self, cards: Sequence[Mapping[str, Any]], cities: Sequence[Mapping[str, Any]], supply_size: int
    ) -> None:
        self._supply_size = supply_size
        self._triggered = dict.fromkeys(Hook, 0)
        self._repeated = dict.fromkeys(Replay, 0)  # on a full stack nothing is repeated
        for hook, programs in _triggers(cards, cities).items():
            self._triggered[hook] = sum(max(map(self.steps, kind), default=0) for kind in programs)
        played = [card["on_play"] for card in cards]
        crew = [card["on_play"] for card in cards if card["class"] == "crew"]
        for _ in range(STACK - 1):  # from the top frame down to the second
            self._repeated = {
                Replay.PLAY: max(map(self.steps, played), default=0),
                Replay.SUPPLY: max(map(self.steps, crew), default=0),
            }

    def check(self, place: Place, program: Program) -> None:
        """Raise the place's error if a program can take too many steps."""
        steps = self.steps(program)
        if steps > MOST_STEPS:
            raise place.wrong(
                "",
                f"the effect can take {steps:,} steps (instructions and cards moved, with all it triggers and "
                "repeats); "
                f"allowed: up to {MOST_STEPS:,}",
            )

    def steps(self, program: Program) -> int:
        """The most steps that a program can take, its end included. An empty one is not run."""
        return 1 + sum(map(self._instruction, program)) if program else 0

    def _instruction(self, instruction: Sequence[Any]) -> int:
        name, *parts = instruction
        if name == "choice":
            return 2 + max(map(self.steps, parts[0]))
        if name == "if":
            return 1 + self.steps(parts[2])
        if name == "replay":
            return 1 + self._repeated[Replay[parts[0].upper()]]
        if name == "move":
            return 1 + self._move(*parts)
        if name == "look":
            return 1 + int(parts[0])
        if name == "gain" and parts[0] == "draw":
            return 1 + self._drawn(*parts[1:])
        return 1

    def _drawn(self, amount: int, counter: str | None = None, cap: int = MOST_UNITS) -> int:
        return amount if counter is None else cap

    def _move(self, source: str, which: str, parameter: int, mode: str, count: int, destination: str) -> int:
        where, to = Source[source.upper()], Destination[destination.upper()]
        cards = min(count, {Source.SUPPLY: self._supply_size, Source.LOOK: LOOK_ZONE}.get(where, count))
        triggered = {Destination.EJECT: Hook.EJECT, Destination.DISCARD: Hook.DISCARD}.get(to, Hook.NONE)
        if where == Source.SUPPLY and to == Destination.AIRLOCK:
            triggered = Hook.SUPPLY_AIRLOCK
        return cards * (1 + self._triggered[triggered])


def _triggers(
    cards: Sequence[Mapping[str, Any]], cities: Sequence[Mapping[str, Any]]
) -> dict[Hook, tuple[list[Program], ...]]:
    """What a card that is moved can trigger: a program of its own, and the trait of the city."""
    return {
        Hook.EJECT: ([card["on_eject"] for card in cards], _traits(cities, Hook.EJECT)),
        Hook.DISCARD: ([card["on_discard"] for card in cards], _traits(cities, Hook.DISCARD)),
        Hook.SUPPLY_AIRLOCK: (_traits(cities, Hook.SUPPLY_AIRLOCK),),
    }


def _traits(cities: Sequence[Mapping[str, Any]], hook: Hook) -> list[Program]:
    return [city["trait"]["effect"] for city in cities if Hook[city["trait"]["hook"].upper()] == hook]
