"""The component file of a configuration as it is written: numbers, cards and cities, and the programs of section 3 of
the specification as lists of instructions."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from kepler_envs.engine.game import Configuration
from kepler_envs.games.race_to_kepler.components import DEFAULT_FILE, DEPARTMENTS
from kepler_envs.games.race_to_kepler.state import GOLD, IRON, NUM_KINDS, Origin

Instruction = tuple[Any, ...]
Program = list[Instruction]

END: Instruction = ("end",)


@dataclass
class Card:
    """What is printed on a card, or 0 of everything for a kind that the file does not have."""

    cost: int = 0
    copies: int = 0
    bid_bonus: int = 0
    group: str = "none"
    department: int = 0
    programs: dict[str, Program] = field(default_factory=dict)


@dataclass
class City:
    """What is printed on a city."""

    hook: str
    which: str  # the filter of its trait
    parameter: int
    trait: Program
    costs: list[int]  # of its operations
    operations: list[Program]


class Book:
    """All of a component file that the rules need."""

    def __init__(self, path: Path) -> None:
        file = tomllib.loads(path.read_text(encoding="utf-8"))
        self.number: dict[str, int] = {row["name"]: row["value"] for row in file["numbers"]}
        self.spaces: list[int] = [row["space"] for row in file["encounter_tokens"]]
        rows = {row["id"]: row for row in file["cards"]}
        self.cards = [_card(rows[kind]) if kind in rows else Card() for kind in range(NUM_KINDS)]
        self.cities = {row["id"]: _city(row) for row in file["cities"]}

    def program(self, origin: int, kind: int | None, city: int | None) -> Program:
        """The program of a frame; a frame without a kind runs a program of the active player's city."""
        if kind is not None:
            return self.cards[kind].programs[("on_play", "on_discard", "on_eject")[origin]]
        assert city is not None
        return self.cities[city].trait if origin == Origin.TRAIT else self.cities[city].operations[origin - 4]

    def passes(self, which: str, parameter: int, kind: int, value: int = 0) -> bool:
        """3.1: whether a kind matches a filter; ``value`` is what the MOVE before moved.

        A titan has no cost, so that it never costs so much or less (R15).
        """
        card = self.cards[kind]
        match which:
            case "any":
                return True
            case "iron":
                return kind == IRON
            case "gold":
                return kind == GOLD
            case "resource" | "crew" | "titan":
                return card.group == which
            case "cost_le":
                return card.group != "titan" and card.cost <= parameter
            case "crew_cost_eq":
                return card.group == "crew" and card.cost == parameter
            case "cost_le_value":
                return card.group != "titan" and card.cost <= value + parameter
            case "dept":
                return card.department == parameter
        raise AssertionError(f"filter {which}")


def _card(row: dict[str, Any]) -> Card:
    programs = {name: compiled(row.get(name, [])) for name in ("on_play", "on_discard", "on_eject")}
    return Card(
        row["cost"], row["copies"], row.get("bid_bonus", 0), row["class"], DEPARTMENTS.index(row["dept"]), programs
    )


def _city(row: dict[str, Any]) -> City:
    trait, operations = row["trait"], row["ops"]
    return City(
        trait["hook"], trait["filter"], trait["param"], compiled(trait["effect"]),
        [one["cost"] for one in operations], [compiled(one["effect"]) for one in operations],
    )  # fmt: skip


def compiled(source: list[Any]) -> Program:
    """3.1: the instructions one after the other, with an end behind them. An empty program has none at all."""
    program: Program = []
    if source:
        _append(program, source)
        program.append(END)
    return program


def _append(program: Program, source: list[Any]) -> None:
    """Blocks follow their instruction; each alternative of a choice ends with a jump behind them all."""
    for name, *parts in source:
        here = len(program)
        program.append((name, *parts))
        if name == "if":
            counter, number, block = parts
            _append(program, block)
            program[here] = (name, counter, number, len(program))
        if name == "choice":
            starts, jumps = [], []
            for block in parts[0]:
                starts.append(len(program))
                _append(program, block)
                jumps.append(len(program))
                program.append(END)
            program[here] = (name, starts)
            for jump in jumps:
                program[jump] = ("jump", len(program))


@cache
def _book(path: Path, digest: str) -> Book:
    return Book(path)


def book_of(config: Configuration) -> Book:
    """The file of a configuration. A file that is written anew at the same place is another one."""
    return _book(config.components or DEFAULT_FILE, config.components_digest)
