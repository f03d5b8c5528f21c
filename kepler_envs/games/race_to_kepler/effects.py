"""The effect language: what a program in components.toml may say, its compiled form, and the same in words.

A program is a list of instructions, each a list that begins with its name:

    ["gain", resource, n]  ["gain", resource, n, counter]  ["gain", resource, n, counter, cap]
    ["move", source, filter, parameter, mode, n, destination]
    ["look", n]
    ["choice", [program, program, ...]]
    ["if", counter, n, program]
    ["replay", "play" or "supply"]
    ["discount", n]

The words are the members of the enums below in lower case. ``docs/games/race_to_kepler.md`` says what each does,
rules_effects.py does it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from kepler_envs.games.race_to_kepler.state import LOOK_ZONE, MOST_UNITS, NUM_OPTIONS
from kepler_envs.printable import counted

ANY_NUMBER = 99
"""As the n of a MOVE: as many as there are."""
MAX_COST = 20  # of a card
MAX_AMOUNT = 20  # of one GAIN or DISCOUNT
MAX_NESTING = 4  # CHOICE and IF inside one another
PROGRAM_SIZE = 2048  # instructions of a whole component file
NO_PROGRAM = -1  # the address of an empty program
EFFECTS = ("energy", "money", "market", "parsecs", "draws", "gained", "ejected", "discarded")
"""What a program is summed up as: units, and cards drawn, gained from the table, ejected, discarded."""


class Op(IntEnum):
    END = 0
    GAIN = 1
    MOVE = 2
    LOOK = 3
    CHOICE = 4
    JMP = 5
    IF = 6
    REPLAY = 7
    DISCOUNT = 8


class Resource(IntEnum):
    ENERGY = 0
    MONEY = 1
    MARKET = 2
    JUMP = 3
    DRAW = 4


class Counter(IntEnum):
    MOVED = 0
    VALUE = 1
    FROM_OWN = 2
    EJECTED = 3
    DISCARDED = 4
    MARKET_TAKEN = 5
    GOLD_PLAYED = 6
    GOLD_IN_HAND = 7
    RESOURCE_PLAYED = 8
    CREW_PLAYED = 9
    TITAN_PLAYED = 10
    DEPARTMENTS = 11
    OPS_USED = 12


class Filter(IntEnum):
    ANY = 0
    IRON = 1
    GOLD = 2
    RESOURCE = 3
    CREW = 4
    TITAN = 5
    COST_LE = 6
    CREW_COST_EQ = 7
    COST_LE_VALUE = 8
    DEPT = 9


class Source(IntEnum):
    HAND = 0
    DISCARD = 1
    HAND_DISCARD = 2
    SUPPLY = 3
    AIRLOCK = 4
    PLAY = 5
    SELF = 6
    LOOK = 7
    DECK = 8
    GOLDPILE = 9
    TITANDECK = 10
    SELF_DISCARD = 11


class Destination(IntEnum):
    EJECT = 0
    DISCARD = 1
    AIRLOCK = 2
    HAND = 3
    OWNDISCARD = 4
    DECKTOP = 5


class Mode(IntEnum):
    MUST = 0
    MAY = 1
    UPTO = 2
    ALL = 3


class Replay(IntEnum):
    PLAY = 0
    SUPPLY = 1


class Hook(IntEnum):
    """When a city's trait works."""

    NONE = 0
    TURN_START = 1
    PLAY = 2
    ACQUIRE = 3
    EJECT = 4
    DISCARD = 5
    SUPPLY_AIRLOCK = 6
    ALL_OPS = 7
    WIN_BID = 8
    HAND_SIZE = 9
    DISCOUNT = 10
    BID_BONUS = 11
    REPEAT_OPS = 12


FILTERED_HOOKS = (Hook.PLAY, Hook.ACQUIRE, Hook.EJECT, Hook.DISCARD, Hook.SUPPLY_AIRLOCK)
"""Hooks with a card, which the trait's filter is tested on."""
TRIGGER_HOOKS = (Hook.EJECT, Hook.DISCARD, Hook.SUPPLY_AIRLOCK)
"""Hooks that interrupt a MOVE: their programs may not move on what would trigger again."""
PROGRAM_HOOKS = (Hook.TURN_START, *FILTERED_HOOKS, Hook.ALL_OPS)
PARAMETER_HOOKS = {
    Hook.WIN_BID: (1, 20),
    Hook.HAND_SIZE: (1, 10),
    Hook.DISCOUNT: (1, MAX_COST),
    Hook.BID_BONUS: (1, 20),
}
"""What the parameter of a hook without a program may be."""

PARAMETER_FILTERS = {
    Filter.COST_LE: (0, MAX_COST),
    Filter.CREW_COST_EQ: (0, MAX_COST),
    Filter.COST_LE_VALUE: (0, MAX_COST),
    Filter.DEPT: (1, 4),
}
UNFILTERED_SOURCES = (Source.DECK, Source.GOLDPILE, Source.TITANDECK)
"""Sources whose cards nobody chooses."""
OWN_SOURCES = (Source.SELF, Source.SELF_DISCARD)
CONCEALED_SOURCES = (Source.HAND, Source.LOOK, Source.DECK)
CONCEALED_DESTINATIONS = (Destination.HAND, Destination.DECKTOP)

INSTRUCTION = np.dtype(
    [
        ("kinds", "<u8"),  # MOVE: kinds that pass the filter, unless that is COST_LE_VALUE
        ("op", "i1"),  # Op
        ("what", "i1"),  # GAIN: Resource; MOVE: Source; REPLAY: Replay
        ("counter", "i1"),  # GAIN: 1 + Counter, 0 for none; IF: 1 + Counter
        ("filter", "i1"),  # MOVE: Filter
        ("parameter", "i1"),  # MOVE: the filter's
        ("mode", "i1"),  # MOVE: Mode
        ("destination", "i1"),  # MOVE: Destination
        ("shown", "i1"),  # MOVE: 1 if everybody sees the cards moved
        ("amount", "<i2"),  # GAIN, MOVE, LOOK, DISCOUNT: n; IF: at least; CHOICE: options
        ("cap", "<i2"),  # GAIN: at most
        ("target", "<i2", (NUM_OPTIONS,)),  # CHOICE: where each option begins; JMP and IF: [0] where to go on
        ("worth", "<i2"),  # what it gains by itself, about (worths.py)
        ("rest", "i1", (len(EFFECTS),)),  # what it and all behind it do, about, in the order of EFFECTS
    ],
    align=True,
)


class Place:
    """Where in a file a program stands, and what may be in it there."""

    def __init__(
        self, error: Callable[[str, str], Exception], where: str, *, has_kind: bool, may_look: bool, is_trigger: bool
    ) -> None:
        self.error = error
        self.where = where
        self.has_kind = has_kind  # a card's own program
        self.may_look = may_look
        self.is_trigger = is_trigger

    def wrong(self, path: str, rule: str) -> Exception:
        return self.error(f"{self.where}{path}", rule)


# ---------------------------------------------------------------- checks


def check_program(place: Place, program: Any) -> None:
    """Raise the place's error where a program breaks a rule. The path counts instructions from 1."""
    _check_block(place, "", program, 0, _Before())


class _Before:
    """What has happened before an instruction, on some way through its program."""

    def __init__(self) -> None:
        self.looked = False
        self.hidden_move = False  # the last MOVE kept its cards from the others


def _check_block(place: Place, path: str, block: Any, nesting: int, before: _Before) -> None:
    if not isinstance(block, list):
        raise place.wrong(path, f"{block!r} is not a list of instructions")
    for number, instruction in enumerate(block, 1):
        here = f"{path} instruction {number}" if not path else f"{path}.{number}"
        if (
            not isinstance(instruction, list) or not instruction or instruction[0] not in list(CHECKS)
        ):  # it may be a list
            raise place.wrong(here, f"{instruction!r} is not an instruction; there are {', '.join(CHECKS)}")
        CHECKS[instruction[0]](place, here, instruction, nesting, before)


def _word(place: Place, path: str, what: str, word: Any, words: type[IntEnum]) -> Any:
    known = [member.name.lower() for member in words]
    if word not in known:
        raise place.wrong(path, f"{what} {word!r} is unknown; there are {', '.join(known)}")
    return words[word.upper()]


def _number(place: Place, path: str, what: str, value: Any, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        allowed = str(low) if low == high else f"{low}..{high}"
        raise place.wrong(path, f"{what} is {value!r}; allowed: {allowed}")


def _length(place: Place, path: str, instruction: list[Any], form: str, *lengths: int) -> None:
    if len(instruction) not in lengths:
        raise place.wrong(path, f"{instruction!r} has {counted(len(instruction), 'part')}; it must be {form}")


def _check_gain(place: Place, path: str, instruction: list[Any], nesting: int, before: _Before) -> None:
    _length(place, path, instruction, "['gain', resource, n, counter, cap], the last two optional", 3, 4, 5)
    _word(place, path, "resource", instruction[1], Resource)
    _number(place, path, "n", instruction[2], 1, MAX_AMOUNT)
    if len(instruction) > 3:
        counter = _word(place, path, "counter", instruction[3], Counter)
        _check_value_known(place, path, before, counter == Counter.VALUE)
    if len(instruction) > 4:
        _number(place, path, "cap", instruction[4], 1, MOST_UNITS)


def _check_move(place: Place, path: str, instruction: list[Any], nesting: int, before: _Before) -> None:
    _length(place, path, instruction, "['move', source, filter, parameter, mode, n, destination]", 7)
    source = _word(place, path, "source", instruction[1], Source)
    which = _word(place, path, "filter", instruction[2], Filter)
    _number(place, path, "parameter", instruction[3], *PARAMETER_FILTERS.get(which, (0, 0)))
    mode = _word(place, path, "mode", instruction[4], Mode)
    _number(place, path, "n", instruction[5], 1, ANY_NUMBER)
    destination = _word(place, path, "destination", instruction[6], Destination)
    if mode == Mode.MAY and instruction[5] == ANY_NUMBER:
        rule = f"n is {ANY_NUMBER}, any number; with the mode 'may' all n cards move or none, so it must be 'upto'"
        raise place.wrong(path, rule)
    if source in UNFILTERED_SOURCES and which != Filter.ANY:
        raise place.wrong(
            path, f"filter is {instruction[2]!r}; cards of {instruction[1]} cannot be chosen, so it must be 'any'"
        )
    if source in UNFILTERED_SOURCES and mode in (Mode.MAY, Mode.UPTO):
        raise place.wrong(
            path, f"mode is {instruction[4]!r}; moves from {instruction[1]} are not asked for: 'must' or 'all'"
        )
    if source in OWN_SOURCES and not place.has_kind:
        raise place.wrong(path, f"source {instruction[1]!r} is for programs of cards; a city is none")
    if place.is_trigger and (
        destination in (Destination.EJECT, Destination.DISCARD)
        or (source == Source.SUPPLY and destination == Destination.AIRLOCK)
    ):
        raise place.wrong(
            path, f"a trigger may not move {instruction[1]} -> {instruction[6]}: triggers never cause triggers"
        )
    _check_value_known(place, path, before, which == Filter.COST_LE_VALUE)
    before.hidden_move = is_concealed(source, destination)


def is_concealed(source: int, destination: int) -> bool:
    """Whether a card moves from one place that the others do not see to another."""
    return source in CONCEALED_SOURCES and destination in CONCEALED_DESTINATIONS


def _check_value_known(place: Place, path: str, before: _Before, uses_value: bool) -> None:
    if uses_value and before.hidden_move:
        raise place.wrong(path, "the value of cards that the other players have not seen cannot be used")


def _check_look(place: Place, path: str, instruction: list[Any], nesting: int, before: _Before) -> None:
    _length(place, path, instruction, "['look', n]", 2)
    _number(place, path, "n", instruction[1], 1, LOOK_ZONE)
    if not place.may_look:
        raise place.wrong(path, "look is only allowed in on_play, operations and traits with the hook turn_start")
    if before.looked:
        raise place.wrong(path, "a program can look only once")
    before.looked = True


def _check_choice(place: Place, path: str, instruction: list[Any], nesting: int, before: _Before) -> None:
    _length(place, path, instruction, "['choice', [program, program, ...]]", 2)
    blocks = instruction[1]
    if not isinstance(blocks, list) or not 2 <= len(blocks) <= NUM_OPTIONS:
        raise place.wrong(path, f"a choice is between 2..{NUM_OPTIONS} programs")
    _check_nesting(place, path, nesting)
    after = []
    for option, block in enumerate(blocks, 1):
        way = _copy(before)
        _check_block(place, f"{path} option {option}", block, nesting + 1, way)
        after.append(way)
    _join(before, after)


def _check_if(place: Place, path: str, instruction: list[Any], nesting: int, before: _Before) -> None:
    _length(place, path, instruction, "['if', counter, n, program]", 4)
    counter = _word(place, path, "counter", instruction[1], Counter)
    _check_value_known(place, path, before, counter == Counter.VALUE)
    _number(place, path, "n", instruction[2], 1, MOST_UNITS)
    _check_nesting(place, path, nesting)
    way = _copy(before)
    _check_block(place, f"{path} then", instruction[3], nesting + 1, way)
    _join(before, [before, way])


def _copy(before: _Before) -> _Before:
    same = _Before()
    same.looked, same.hidden_move = before.looked, before.hidden_move
    return same


def _join(before: _Before, ways: list[_Before]) -> None:
    """Note what may have happened once the ways are one again."""
    looked, hidden = any(way.looked for way in ways), any(way.hidden_move for way in ways)
    before.looked, before.hidden_move = looked, hidden


def _check_nesting(place: Place, path: str, nesting: int) -> None:
    if nesting == MAX_NESTING:
        raise place.wrong(path, f"choice and if may stand at most {MAX_NESTING} deep in one another")


def _check_replay(place: Place, path: str, instruction: list[Any], nesting: int, before: _Before) -> None:
    _length(place, path, instruction, "['replay', 'play' or 'supply']", 2)
    _word(place, path, "place", instruction[1], Replay)
    if place.is_trigger:
        raise place.wrong(path, "a trigger may not replay: triggers never cause triggers")
    if before.looked:
        raise place.wrong(path, "replay may not follow look: the card repeated might look, too")


def _check_discount(place: Place, path: str, instruction: list[Any], nesting: int, before: _Before) -> None:
    _length(place, path, instruction, "['discount', n]", 2)
    _number(place, path, "n", instruction[1], 1, MAX_AMOUNT)


CHECKS: dict[str, Callable[[Place, str, list[Any], int, _Before], None]] = {
    "gain": _check_gain,
    "move": _check_move,
    "look": _check_look,
    "choice": _check_choice,
    "if": _check_if,
    "replay": _check_replay,
    "discount": _check_discount,
}


# ---------------------------------------------------------------- compiling


class Memory:
    """Program memory in the making. ``kinds_of`` gives the set of kinds that pass a filter with a parameter."""

    def __init__(self, kinds_of: Callable[[Filter, int], int]) -> None:
        self.instructions: list[dict[str, Any]] = []
        self._kinds_of = kinds_of

    def add(self, program: Sequence[Any]) -> int:
        """Compile a checked program. Returns its address, or NO_PROGRAM if it is empty."""
        if not program:
            return NO_PROGRAM
        address = len(self.instructions)
        self._block(program)
        self._emit(Op.END)
        return address

    def write(self, out: np.ndarray) -> None:
        """Write the programs into the tables."""
        for row, instruction in zip(out, self.instructions, strict=False):
            for field, value in instruction.items():
                if field == "target":
                    row["target"][: len(value)] = value
                else:
                    row[field] = value

    def _emit(self, op: Op, **fields: Any) -> dict[str, Any]:
        instruction = {"op": int(op), **fields}
        self.instructions.append(instruction)
        return instruction

    def _block(self, block: Sequence[Any]) -> None:
        for name, *parts in block:
            if name == "gain":
                self._gain(*parts)
            elif name == "move":
                self._move(*parts)
            elif name == "look":
                self._emit(Op.LOOK, amount=parts[0])
            elif name == "choice":
                self._choice(parts[0])
            elif name == "if":
                self._if(*parts)
            elif name == "replay":
                self._emit(Op.REPLAY, what=Replay[parts[0].upper()])
            else:
                self._emit(Op.DISCOUNT, amount=parts[0])

    def _gain(self, resource: str, amount: int, counter: str | None = None, cap: int = MOST_UNITS) -> None:
        counted = 0 if counter is None else 1 + Counter[counter.upper()]
        self._emit(Op.GAIN, what=Resource[resource.upper()], amount=amount, counter=counted, cap=cap)

    def _move(self, source: str, which: str, parameter: int, mode: str, count: int, destination: str) -> None:
        where, to, passing = Source[source.upper()], Destination[destination.upper()], Filter[which.upper()]
        self._emit(
            Op.MOVE, what=where, filter=passing, parameter=parameter, kinds=self._kinds_of(passing, parameter),
            mode=Mode[mode.upper()], amount=count, destination=to, shown=int(not is_concealed(where, to)),
        )  # fmt: skip

    def _choice(self, blocks: Sequence[Any]) -> None:
        choice = self._emit(Op.CHOICE, amount=len(blocks), target=[])
        jumps = []
        for block in blocks:
            choice["target"].append(len(self.instructions))
            self._block(block)
            jumps.append(self._emit(Op.JMP))
        for jump in jumps:
            jump["target"] = [len(self.instructions)]

    def _if(self, counter: str, least: int, block: Sequence[Any]) -> None:
        test = self._emit(Op.IF, counter=1 + Counter[counter.upper()], amount=least)
        self._block(block)
        test["target"] = [len(self.instructions)]


# ---------------------------------------------------------------- in words

_RESOURCES = {"energy": "E", "money": "$", "market": "market action", "jump": "parsec", "draw": "card"}
_COUNTERS = {
    "moved": "card moved", "value": "cost", "from_own": "own card", "ejected": "card ejected",
    "discarded": "card discarded",
    "market_taken": "market action taken", "gold_played": "Gold played", "gold_in_hand": "Gold in hand",
    "resource_played": "Iron or Gold played", "crew_played": "crew played", "titan_played": "titan played",
    "departments": "department played", "ops_used": "operation used",
}  # fmt: skip
_PLACES = {
    "hand": "hand", "discard": "discard pile", "hand_discard": "hand or discard pile", "supply": "supply",
    "airlock": "airlock",
    "play": "play area", "self": "itself", "look": "cards looked at", "deck": "deck top", "goldpile": "Gold pile",
    "titandeck": "titan deck", "self_discard": "itself",
}  # fmt: skip
_TARGETS = {"hand": "to hand", "airlock": "to airlock", "owndiscard": "to discard pile", "decktop": "to deck top"}


def in_words(program: Sequence[Any]) -> str:
    """A program on one line, as short as it can be read."""
    words = ""
    for number, (name, *parts) in enumerate(program):
        follows_move = number > 0 and program[number - 1][0] == "move"
        if name == "if" and parts[0] == "moved" and follows_move:
            least = "" if parts[1] in (1, program[number - 1][5]) else f", if {parts[1]} or more"
            words += f"{least}: {in_words(parts[2])}"  # "may eject 2 from hand: 3 E"
        else:
            words += ("; " if words else "") + _instruction_in_words(name, *parts)
    return words


def _instruction_in_words(name: str, *parts: Any) -> str:
    if name == "gain":
        return _gain_in_words(*parts)
    if name == "move":
        return _move_in_words(*parts)
    if name == "look":
        return f"look at {parts[0]}"
    if name == "choice":
        return " or ".join(f"({in_words(block)})" for block in parts[0])
    if name == "if" and parts[0] == "from_own":
        return f"if from hand or discard pile: {in_words(parts[2])}"
    if name == "if":
        return f"if {parts[1]} {_COUNTERS[parts[0]]}: {in_words(parts[2])}"
    if name == "replay":
        return f"repeat a card in {'play' if parts[0] == 'play' else 'the supply'}"
    return f"cards cost {parts[0]} less"


def _gain_in_words(resource: str, amount: int, counter: str = "", cap: int = 0) -> str:
    unit = _RESOURCES[resource]
    plural = "s" if amount > 1 else ""
    words = {"energy": f"{amount} E", "money": f"${amount}", "jump": f"jump {amount}", "draw": f"draw {amount}"}.get(
        resource, f"{amount} {unit}{plural}"
    )
    if counter:
        words += f" per {_COUNTERS[counter]}"
    return words + (f" (at most {cap})" if cap else "")


def _move_in_words(source: str, which: str, parameter: int, mode: str, count: int, destination: str) -> str:
    number = "any number" if count == ANY_NUMBER else str(count)
    verb = {"may": "may ", "upto": "up to " if count not in (1, ANY_NUMBER) else "may ", "all": "all: "}.get(mode, "")
    if which == "any":
        kind = ""
    elif which in ("cost_le", "cost_le_value"):
        kind = f" of cost <= {parameter if which == 'cost_le' else f'that + {parameter}'}"
    elif which == "crew_cost_eq":
        kind = f" crew of cost {parameter}"
    elif which == "dept":
        kind = f" {('scientist', 'engineer', 'miner', 'smuggler')[parameter - 1]}"
    elif which == "resource":
        kind = " Iron/Gold"
    else:
        kind = f" {which.capitalize()}"
    if source == "goldpile" and destination == "hand":
        return f"gain {number} Gold"
    if source in ("self", "self_discard"):
        what = "itself"
    elif source == "supply" and which == "any":
        what = f"{number} of the supply"
    else:
        what = f"{number}{kind} from {_PLACES[source]}"
    if destination in ("eject", "discard"):
        return f"{verb}{destination} {what}" if mode != "upto" or count == 1 else f"{destination} {verb}{what}"
    return f"{verb}{what} {_TARGETS[destination]}"
