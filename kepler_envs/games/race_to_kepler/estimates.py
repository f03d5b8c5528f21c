"""Estimates of what cards, operations and instructions are worth, in tenths of an energy. They depend on the component
file alone.

They are put into the tables when a file is read. worths.py adds what the moment does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kepler_envs.games.race_to_kepler.effects import (
    CONCEALED_SOURCES,
    EFFECTS,
    NO_PROGRAM,
    OWN_SOURCES,
    Counter,
    Destination,
    Mode,
    Op,
    Resource,
    Source,
)
from kepler_envs.games.race_to_kepler.state import RESOURCE

GAIN_WORTH = np.array([10, 5, 4, 40, 11], np.int64)
"""Of one energy, money, market action, parsec, card; in the order of Resource."""
COUNTED = np.array([1, 3, 1, 1, 2, 1, 1, 2, 2, 2, 1, 2, 2], np.int64)
"""What a counter will read, about; in the order of Counter."""
MOVE_WORTH = np.array([3, 0, 1, 12, 4, 3], np.int64)
"""Of one card moved to each Destination."""
COST_WORTH = 4  # of crew, for a unit of cost: designers knew what cards are worth
TRIGGER_SHARE = 50  # per cent of what a trigger gains: how often it will be pulled
MOST_WORTH = 9_999  # any worth above counts as this
NEVER, AT_ONCE = -1_000, 999  # orders: that of a card without a program, the highest
RESOURCES, LATE = -10, -9  # order of resources; of what is played only when operations have had their cards
OF_THE_TURN = int(Counter.EJECTED)  # the first counter that counts more than the program's own last MOVE
assert len(GAIN_WORTH) == len(Resource) and len(COUNTED) == len(Counter) and len(MOVE_WORTH) == len(Destination)


def estimate_all(tables: Any) -> None:
    """Write the estimates into the tables of a component file that is complete otherwise."""
    program = tables["program"]
    for at in range(int(tables["instructions"]) - 1, -1, -1):  # what is behind an instruction is known by then
        program[at]["worth"] = min(_instruction_worth(program[at]), MOST_WORTH)
        program[at]["rest"] = np.minimum(_rest(program, at), 99)
    for kind, card in enumerate(tables["card"]):
        for name in ("play", "discard", "eject"):
            card[f"{name}_worth"] = program_worth(program, int(card[f"on_{name}"]))
        worth = int(card["play_worth"])
        worth += sum(TRIGGER_SHARE * int(card[f"{name}_worth"]) // 100 for name in ("discard", "eject"))
        card["worth"] = min(worth if card["group"] == RESOURCE else worth + COST_WORTH * int(card["cost"]), MOST_WORTH)
        card["order"] = min(max(_order(program, card), NEVER), AT_ONCE)
        if card["order"] >= LATE:
            tables["played_early"] |= np.uint64(1 << kind)
        if any(instruction["counter"] - 1 >= OF_THE_TURN for instruction in _gains(program, int(card["on_play"]))):
            tables["counting"] |= np.uint64(1 << kind)
    for city in tables["city"]:
        city["trait_worth"] = program_worth(program, int(city["trait"])) if city["operations"] else 0
        city["least_cost"] = min(city["operation_cost"][: int(city["operations"])], default=0)
        for operation in range(int(city["operations"])):
            city["needs_hand"][operation] = _needs_hand(program, int(city["operation"][operation]))


def _instruction_worth(instruction: Any) -> int:
    op, amount = Op(int(instruction["op"])), int(instruction["amount"])
    if op == Op.GAIN:
        return _usual(instruction) * int(GAIN_WORTH[instruction["what"]])
    if op == Op.MOVE:
        return min(amount, 2) * int(MOVE_WORTH[instruction["destination"]])
    return {Op.LOOK: 3 * amount, Op.REPLAY: 20, Op.DISCOUNT: 5 * amount}.get(op, 0)


def _usual(gain: Any) -> int:
    """The units that a GAIN brings, as an estimate."""
    if gain["counter"] == 0:
        return int(gain["amount"])
    return min(int(gain["amount"]) * int(COUNTED[int(gain["counter"]) - 1]), int(gain["cap"]))


def program_worth(program: Any, address: int) -> int:
    """The worth of everything a program might gain. Of alternatives the best one counts."""
    if address == NO_PROGRAM:
        return 0
    worth, at = 0, address
    while program[at]["op"] != Op.END:
        if program[at]["op"] == Op.CHOICE:
            best = 0
            for option in range(int(program[at]["amount"])):
                end, gained = int(program[at]["target"][option]), 0
                while program[end]["op"] != Op.JMP:
                    gained += int(program[end]["worth"])
                    end += 1
                best = max(best, gained)
            worth, at = worth + best, int(program[end]["target"][0])
        else:
            worth, at = worth + int(program[at]["worth"]), at + 1
    return min(worth, MOST_WORTH)


def _rest(program: Any, at: int) -> np.ndarray:
    """What the instruction and all behind it do, in the order of EFFECTS.

    Conditions are taken to hold, and of alternatives the most of each effect counts.
    """
    instruction = program[at]
    op, target = int(instruction["op"]), instruction["target"]
    if op == Op.END:
        return np.zeros(len(EFFECTS), np.int64)
    if op == Op.JMP:
        return program[int(target[0])]["rest"].astype(np.int64)
    if op == Op.CHOICE:
        return np.max([program[int(target[option])]["rest"] for option in range(int(instruction["amount"]))], axis=0)
    rest = program[at + 1]["rest"].astype(np.int64)
    if op == Op.GAIN:
        rest[instruction["what"]] += _usual(instruction)
    elif op == Op.MOVE:
        source, destination = int(instruction["what"]), int(instruction["destination"])
        if destination in (Destination.EJECT, Destination.DISCARD):
            rest[EFFECTS.index("ejected") + int(destination == Destination.DISCARD)] += int(instruction["amount"])
        elif source not in (*CONCEALED_SOURCES, *OWN_SOURCES) and destination != Destination.AIRLOCK:
            rest[EFFECTS.index("gained")] += int(instruction["amount"])
    return rest


def _gains(program: Any, address: int) -> list[Any]:
    """The GAIN instructions of a program."""
    found = []
    at = address
    while at != NO_PROGRAM and program[at]["op"] != Op.END:
        if program[at]["op"] == Op.GAIN:
            found.append(program[at])
        at += 1
    return found


def _order(program: Any, card: Any) -> int:
    """The order in which cards are played.

    Cards that draw come first, cards that count what happened this turn last, and resources once crew has had its
    choice.
    """
    if card["group"] == RESOURCE:
        return RESOURCES
    at, order = int(card["on_play"]), 0
    if at == NO_PROGRAM:
        return NEVER  # better discarded or ejected
    for gain in _gains(program, at):
        counter = int(gain["counter"]) - 1
        order += 4 * int(gain["what"] == Resource.DRAW)
        if counter in (Counter.GOLD_PLAYED, Counter.RESOURCE_PLAYED):
            order -= 20
        elif counter >= OF_THE_TURN:
            order -= 4
    while program[at]["op"] != Op.END:
        order -= 6 * int(program[at]["op"] == Op.REPLAY)
        at += 1
    return order


def _needs_hand(program: Any, address: int) -> bool:
    """Whether an operation wants a card from hand for what it gains."""
    at = address
    while at != NO_PROGRAM and program[at]["op"] != Op.END:
        if program[at]["op"] == Op.MOVE and program[at]["mode"] == Mode.MAY:
            return program[at]["what"] in (Source.HAND, Source.HAND_DISCARD)
        at += 1
    return False
