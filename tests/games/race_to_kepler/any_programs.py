"""Component files whose programs are made at random, of every word of the effect language.

What the loader refuses is made anew, so that whatever it accepts can turn up.
"""

from __future__ import annotations

from random import Random
from typing import Any

from kepler_envs import ComponentError
from kepler_envs.games.race_to_kepler.effects import (
    PARAMETER_FILTERS,
    PROGRAM_HOOKS,
    TRIGGER_HOOKS,
    Counter,
    Destination,
    Filter,
    Hook,
    Mode,
    Place,
    Resource,
    Source,
    check_program,
)
from tests.games.race_to_kepler.card_file import default_data

NUMBERS = {
    "hand_size": (3, 5, 7), "market_actions": (0, 1, 3), "supply_size": (3, 5), "titan_row": (1, 3, 5),
    "turn_decision_cap": (20, 150), "start_iron": (2, 7), "track_length": (20, 40),
}  # fmt: skip
DEEPEST = 2
"""How deep blocks stand in one another."""


def any_file(random: Random) -> dict[str, Any]:
    """The game's own file with other numbers, and other programs on every second card and in every second city."""
    data = default_data()
    for row in data["numbers"]:
        if row["name"] in NUMBERS:
            row["value"] = random.choice(NUMBERS[row["name"]])
    for card in data["cards"]:
        if random.random() < 0.5:
            card["on_play"] = any_program(random, has_kind=True, may_look=True, is_trigger=False)
            for name in ("on_discard", "on_eject"):
                card[name] = any_program(random, has_kind=True, may_look=False, is_trigger=True)
    for city in data["cities"]:
        if random.random() < 0.5:
            city["trait"] = _any_trait(random)
            for operation in city["ops"]:
                operation["effect"] = any_program(random, has_kind=False, may_look=True, is_trigger=False)
    return data


def _any_trait(random: Random) -> dict[str, Any]:
    hook = random.choice(PROGRAM_HOOKS)
    looks, is_trigger = hook == Hook.TURN_START, hook in TRIGGER_HOOKS
    effect = any_program(random, has_kind=False, may_look=looks, is_trigger=is_trigger)
    return {"hook": hook.name.lower(), "filter": "any", "param": 0, "effect": effect}


def any_program(random: Random, **rules: bool) -> list[Any]:
    """A program that the loader accepts at such a place."""
    place = Place(lambda where, rule: ComponentError(rule), "anywhere", **rules)
    while True:
        program = _block(random, 0)
        try:
            check_program(place, program)
        except ComponentError:
            continue
        return program


def _block(random: Random, depth: int) -> list[Any]:
    return [_instruction(random, depth) for _ in range(random.choice((0, 1, 1, 2, 3)))]


def _instruction(random: Random, depth: int) -> list[Any]:
    makers = [_move] * 9 + [_gain] * 5 + [_look] * 2 + [_discount, _replay]
    if depth < DEEPEST:
        makers += [_choice, _if] * 2
    return random.choice(makers)(random, depth)


def _word(random: Random, words: Any) -> str:
    return random.choice(list(words)).name.lower()


def _gain(random: Random, depth: int) -> list[Any]:
    gain: list[Any] = ["gain", _word(random, Resource), random.choice((1, 1, 2, 3))]
    counted = [_word(random, Counter), random.choice((1, 2, 4, 99))]
    return gain + counted[: random.choice((0, 1, 2))]


def _move(random: Random, depth: int) -> list[Any]:
    which = random.choice((Filter.ANY, *Filter))
    parameter = random.randint(*PARAMETER_FILTERS.get(which, (0, 0)))
    number = random.choice((1, 1, 2, 2, 3, 99))
    return [
        "move", _word(random, Source), which.name.lower(), min(parameter, 4), _word(random, Mode), number,
        _word(random, Destination),
    ]  # fmt: skip


def _look(random: Random, depth: int) -> list[Any]:
    return ["look", random.choice((1, 2, 5))]


def _discount(random: Random, depth: int) -> list[Any]:
    return ["discount", random.choice((1, 2))]


def _replay(random: Random, depth: int) -> list[Any]:
    return ["replay", random.choice(("play", "supply"))]


def _choice(random: Random, depth: int) -> list[Any]:
    return ["choice", [_block(random, depth + 1) for _ in range(random.choice((2, 3, 4)))]]


def _if(random: Random, depth: int) -> list[Any]:
    return ["if", _word(random, Counter), random.choice((1, 2)), _block(random, depth + 1)]
