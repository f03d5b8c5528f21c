"""components.toml -> validated tables, effects compiled. A user's own file goes the same way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.engine.components import ComponentFile, load_tables, text_of
from kepler_envs.games.race_to_kepler.effects import (
    FILTERED_HOOKS,
    INSTRUCTION,
    MAX_COST,
    PARAMETER_FILTERS,
    PARAMETER_HOOKS,
    PROGRAM_HOOKS,
    PROGRAM_SIZE,
    TRIGGER_HOOKS,
    Filter,
    Hook,
    Memory,
    Place,
    check_program,
    in_words,
)
from kepler_envs.games.race_to_kepler.estimates import estimate_all
from kepler_envs.games.race_to_kepler.state import (
    CLASSES,
    CREW,
    FIRST_CREW,
    FIRST_TITAN,
    GOLD,
    IRON,
    MAFIA,
    MAX_PLAYERS,
    MIN_PLAYERS,
    MOST_SPACES,
    NUM_CITIES,
    NUM_KINDS,
    NUM_OPERATIONS,
    NUM_TOKENS,
    RESOURCE,
    TITAN,
)
from kepler_envs.games.race_to_kepler.work import Work
from kepler_envs.printable import counted

DEFAULT_FILE = Path(__file__).with_name("components.toml")
NAME_BYTES, WORDS_BYTES = 32, 160
MOST_COPIES = 64  # of a kind, and of all crew together: a zone's count stays within a byte
PILES = ("Iron", "Gold", "Mafia")

DEPARTMENTS = ("none", "scientist", "engineer", "miner", "smuggler")
CLASS_IDS = {
    "resource": range(IRON, GOLD + 1),
    "mafia": range(MAFIA, MAFIA + 1),
    "crew": range(FIRST_CREW, FIRST_TITAN),
    "titan": range(FIRST_TITAN, NUM_KINDS),
}

NUMBERS = {
    "track_length": (2, MOST_SPACES),
    "start_iron": (0, MOST_COPIES // MAX_PLAYERS),
    "start_gold": (0, MOST_COPIES // MAX_PLAYERS),
    "start_mafia": (0, MOST_COPIES // MAX_PLAYERS),
    "hand_size": (1, 20),
    "market_actions": (0, 9),
    "supply_size": (1, 10),
    "titan_row": (1, 16),
    "cities_dealt": (2, NUM_CITIES // MIN_PLAYERS),  # so that every deal has a decision, whatever cards and traits do
    "round_cap": (1, 1000),
    "turn_decision_cap": (1, 150),
}
"""The single numbers of a component file and what each may be."""

CARD = np.dtype(
    [
        ("on_play", "<i2"),  # addresses; NO_PROGRAM where there is none
        ("on_discard", "<i2"),
        ("on_eject", "<i2"),
        ("cost", "i1"),
        ("group", "i1"),  # index in CLASSES
        ("department", "i1"),  # index in DEPARTMENTS
        ("bid_bonus", "i1"),
        ("bid_value", "i1"),  # cost and bonus
        ("copies", "i1"),
        # estimates: worths.py
        ("worth", "<i2"),  # in the deck
        ("play_worth", "<i2"),
        ("discard_worth", "<i2"),
        ("eject_worth", "<i2"),
        ("order", "<i2"),  # which of the cards in hand is played first, the highest
    ],
    align=True,
)

CITY = np.dtype(
    [
        ("kinds", "<u8"),  # the cards its trait works on
        ("trait", "<i2"),  # address
        ("operation", "<i2", (NUM_OPERATIONS,)),  # addresses
        ("operation_cost", "i1", (NUM_OPERATIONS,)),
        ("least_cost", "i1"),  # of its operations
        ("needs_hand", "i1", (NUM_OPERATIONS,)),  # 1 if it wants a card from hand for what it gains
        ("trait_worth", "<i2"),
        ("operations", "i1"),  # how many
        ("hook", "i1"),  # Hook
        ("parameter", "i1"),
        ("difficulty", "i1"),
    ],
    align=True,
)

TABLES = np.dtype(
    [
        ("card", CARD, (NUM_KINDS,)),
        ("city", CITY, (NUM_CITIES,)),
        ("program", INSTRUCTION, (PROGRAM_SIZE,)),
        ("instructions", "<i2"),  # of the program memory in use
        ("costs_at_most", "<u8", (MAX_COST + 1,)),  # [c]: kinds but titans of cost c or less
        ("token_space", "i1", (NUM_TOKENS,)),
        ("tokens_behind", "u1", (MOST_SPACES + 1,)),  # [p]: tokens further on than p parsecs, as bits
        ("played_early", "<u8"),  # kinds that are played before operations and resources
        ("counting", "<u8"),  # kinds that gain by what has happened in the turn
        ("cities", "<u2"),  # those in the file, as bits
        *[(name, "<i2") for name in NUMBERS],
        # UTF-8, padded with zeros; only for texts and pictures
        ("card_name", "u1", (NUM_KINDS, NAME_BYTES)),
        ("card_words", "u1", (NUM_KINDS, 3, WORDS_BYTES)),  # when played, discarded, ejected
        ("city_name", "u1", (NUM_CITIES, NAME_BYTES)),
        ("trait_words", "u1", (NUM_CITIES, WORDS_BYTES)),
        ("operation_words", "u1", (NUM_CITIES, NUM_OPERATIONS, WORDS_BYTES)),
    ],
    align=True,
)

PROGRAMS = ("on_play", "on_discard", "on_eject")
CARD_COLUMNS = {
    "id": int, "key": str, "name": str, "class": str, "dept": str, "cost": int, "copies": int, "bid_bonus": int,
    "on_play": list, "on_discard": list, "on_eject": list, "prov": str,
}  # fmt: skip
CARD_DEFAULTS = {"bid_bonus": 0, "on_discard": [], "on_eject": []}
CITY_COLUMNS = {"id": int, "key": str, "name": str, "difficulty": int, "trait": dict, "ops": list, "prov": str}


def load_components(path: Path | None) -> np.ndarray:
    """Load the tables of a component file, or of the game's own if there is none: see :func:`load_tables`."""
    sections = (_read_numbers, _read_tokens, _read_cards_and_cities)
    return load_tables(path or DEFAULT_FILE, "race_to_kepler", TABLES, sections)


# ---------------------------------------------------------------- sections


def _read_numbers(file: ComponentFile, tables: Any) -> None:
    file.read_numbers(NUMBERS, tables)


def _read_tokens(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("encounter_tokens", {"id": int, "space": int, "prov": str})
    file.check_ids("encounter_tokens", rows, range(NUM_TOKENS))
    low = 1
    for position, row in enumerate(rows):
        where = f"encounter_tokens row {position + 1}"
        last = int(tables["track_length"]) - 1
        if not low <= row["space"] <= last:
            raise file.error(where, f"space is {row['space']}; spaces must ascend between 1 and {last}")
        tables["token_space"][position] = row["space"]
        tables["tokens_behind"][: row["space"]] |= 1 << position
        low = row["space"] + 1


def _read_cards_and_cities(file: ComponentFile, tables: Any) -> None:
    """Read cards and cities with their programs, which can work on all cards."""
    cards = _read_cards(file, tables)
    _check_copies(file, tables)
    cities = _read_cities(file, tables)
    _check_stand_ins(file, "cards", cards, "card", NUM_KINDS)
    _check_stand_ins(file, "cities", cities, "city", NUM_CITIES)
    _compile(file, tables, cards, cities)
    estimate_all(tables)


def _read_cards(file: ComponentFile, tables: Any) -> list[dict[str, Any]]:
    _fill_in(file, "cards", CARD_DEFAULTS)
    rows = file.rows("cards", CARD_COLUMNS)
    for position, row in enumerate(rows):
        where = _where("cards", position, row)
        _check_word(file, where, "class", row["class"], CLASSES[1:])
        _check_word(file, where, "dept", row["dept"], DEPARTMENTS)
        ids = CLASS_IDS[row["class"]]
        if row["id"] not in ids:
            raise file.error(where, f"id is {row['id']}; a card of class {row['class']} has an id {_span(ids)}")
        _check_unique(file, where, rows[:position], row)
        is_titan, has_department = row["class"] == "titan", row["class"] in ("crew", "titan")
        if has_department != (row["dept"] != "none"):
            wanted = "one of the departments" if has_department else "'none'"
            raise file.error(where, f"dept is {row['dept']!r}; for class {row['class']} it must be {wanted}")
        file.check_value(where, "cost", row["cost"], 0, 0 if is_titan else MAX_COST)
        file.check_value(where, "copies", row["copies"], 1, 1 if is_titan else MOST_COPIES)
        file.check_value(where, "bid_bonus", row["bid_bonus"], 0, MAX_COST)
        card = tables["card"][row["id"]]
        card["cost"], card["copies"], card["bid_bonus"] = row["cost"], row["copies"], row["bid_bonus"]
        card["bid_value"] = row["cost"] + row["bid_bonus"]
        card["group"], card["department"] = CLASSES.index(row["class"]), DEPARTMENTS.index(row["dept"])
        file.write_text(where, "name", row["name"], tables["card_name"][row["id"]])
    for cost in range(MAX_COST + 1):
        kinds = (
            kind
            for kind in range(FIRST_TITAN)
            if tables["card"]["group"][kind] and tables["card"]["cost"][kind] <= cost
        )
        tables["costs_at_most"][cost] = sum(1 << kind for kind in kinds)
    return rows


def _check_copies(file: ComponentFile, tables: Any) -> None:
    copies = tables["card"]["copies"]
    for kind, (pile, start) in enumerate(zip(PILES, ("start_iron", "start_gold", "start_mafia"), strict=True)):
        needed = max(1, MAX_PLAYERS * int(tables[start]))
        if copies[kind] < needed:
            raise file.error("cards", f"{copies[kind]} copies of the card with id {kind} ({pile}); {needed} are needed")
    crew = int(copies[FIRST_CREW:FIRST_TITAN].sum())
    least = int(tables["supply_size"]) + MIN_PLAYERS
    if not least <= crew <= MOST_COPIES:
        raise file.error("cards", f"{crew} crew cards; allowed: {least}..{MOST_COPIES}")


def _read_cities(file: ComponentFile, tables: Any) -> list[dict[str, Any]]:
    rows = file.rows("cities", CITY_COLUMNS)
    for position, row in enumerate(rows):
        where = _where("cities", position, row)
        file.check_value(where, "id", row["id"], 0, NUM_CITIES - 1)
        _check_unique(file, where, rows[:position], row)
        file.check_value(where, "difficulty", row["difficulty"], 1, 3)
        city = tables["city"][row["id"]]
        city["difficulty"] = row["difficulty"]
        _read_trait(file, f"{where}, trait", row["trait"], city)
        _read_operations(file, f"{where}, ops", row["ops"], city)
        tables["cities"] |= 1 << row["id"]
        file.write_text(where, "name", row["name"], tables["city_name"][row["id"]])
    needed = MIN_PLAYERS * int(tables["cities_dealt"])
    if len(rows) < needed:
        raise file.error("cities", f"{counted(len(rows), 'row')}; {MIN_PLAYERS} players need {needed} cities")
    return rows


def _read_trait(file: ComponentFile, where: str, trait: dict[str, Any], city: Any) -> None:
    _check_fields(file, where, trait, {"hook": str, "filter": str, "param": int, "effect": list})
    _check_word(file, where, "hook", trait["hook"], _words(Hook))
    _check_word(file, where, "filter", trait["filter"], _words(Filter))
    hook, which = Hook[trait["hook"].upper()], Filter[trait["filter"].upper()]
    if hook not in FILTERED_HOOKS and which != Filter.ANY:
        raise file.error(where, f"filter is {trait['filter']!r}; with the hook {trait['hook']!r} it must be 'any'")
    if which == Filter.COST_LE_VALUE:
        raise file.error(where, "filter is 'cost_le_value'; a trait has no move before it to compare with")
    if hook not in PROGRAM_HOOKS and trait["effect"]:
        raise file.error(where, f"effect is {trait['effect']}; with the hook {trait['hook']!r} it must be []")
    allowed = PARAMETER_HOOKS.get(hook, PARAMETER_FILTERS.get(which, (0, 0)))
    file.check_value(where, "param", trait["param"], *allowed)
    city["hook"], city["parameter"] = hook, trait["param"]


def _read_operations(file: ComponentFile, where: str, operations: list[Any], city: Any) -> None:
    if not 1 <= len(operations) <= NUM_OPERATIONS:
        raise file.error(where, f"{len(operations)} operations; allowed: 1..{NUM_OPERATIONS}")
    city["operations"] = len(operations)
    for number, operation in enumerate(operations):
        here = f"{where} {number + 1}"
        _check_fields(file, here, operation, {"cost": int, "effect": list})
        file.check_value(here, "cost", operation["cost"], 1, 99)
        city["operation_cost"][number] = operation["cost"]


# ---------------------------------------------------------------- programs


def _compile(file: ComponentFile, tables: Any, cards: list[dict[str, Any]], cities: list[dict[str, Any]]) -> None:
    """Check every program, put it into program memory and write it down in words."""
    memory = Memory(lambda which, parameter: kinds_of(tables, which, parameter))
    checked = []
    for place, program, (holder, field), words in (
        *_card_programs(file, tables, cards),
        *_city_programs(file, tables, cities),
    ):
        check_program(place, program)
        checked.append((place, program))
        holder[field] = memory.add(program)
        text = np.frombuffer(_fitting(in_words(program)), np.uint8)
        words[: len(text)] = text
        if len(memory.instructions) > PROGRAM_SIZE:
            raise place.wrong("", f"all programs together have more than {PROGRAM_SIZE} instructions")
    work = Work(cards, cities, int(tables["supply_size"]))  # programs can repeat one another: all are checked by now
    for place, program in checked:
        work.check(place, program)
    memory.write(tables["program"])
    tables["instructions"] = len(memory.instructions)
    for kind in range(NUM_KINDS):
        if not tables["card"][kind]["group"]:
            for name in PROGRAMS:
                tables["card"][kind][name] = -1


def _fitting(words: str) -> bytes:
    """Words (ASCII) as they fit into the tables; a mark tells where some are left out."""
    text = words.encode()
    return text if len(text) <= WORDS_BYTES else text[: WORDS_BYTES - 3] + b"..."


Programs = Iterator[tuple[Place, Any, tuple[Any, Any], Any]]
"""Where a program stands, its source, the field that its address goes to, and the room for its words."""


def _card_programs(file: ComponentFile, tables: Any, cards: list[dict[str, Any]]) -> Programs:
    for position, row in enumerate(cards):
        card, words = tables["card"][row["id"]], tables["card_words"][row["id"]]
        for number, name in enumerate(PROGRAMS):
            is_played = name == "on_play"
            where = f"{_where('cards', position, row)}, {name}"
            place = Place(file.error, where, has_kind=True, may_look=is_played, is_trigger=not is_played)
            yield place, row[name], (card, name), words[number]


def _city_programs(file: ComponentFile, tables: Any, cities: list[dict[str, Any]]) -> Programs:
    for position, row in enumerate(cities):
        where = _where("cities", position, row)
        city, hook = tables["city"][row["id"]], Hook[row["trait"]["hook"].upper()]
        place = Place(
            file.error, f"{where}, trait", has_kind=False, may_look=hook == Hook.TURN_START,
            is_trigger=hook in TRIGGER_HOOKS
        )  # fmt: skip
        yield place, row["trait"]["effect"], (city, "trait"), tables["trait_words"][row["id"]]
        city["kinds"] = kinds_of(tables, Filter[row["trait"]["filter"].upper()], row["trait"]["param"])
        for number, operation in enumerate(row["ops"]):
            place = Place(file.error, f"{where}, ops {number + 1}", has_kind=False, may_look=True, is_trigger=False)
            words = tables["operation_words"][row["id"], number]
            yield place, operation["effect"], (city["operation"], number), words


def kinds_of(tables: Any, which: Filter, parameter: int) -> int:
    """The kinds that pass a filter, as bits.

    COST_LE_VALUE depends on what was moved and gives none.
    """
    cards = tables["card"]
    passes = {
        Filter.ANY: cards["group"] > 0,
        Filter.IRON: np.arange(NUM_KINDS) == IRON,
        Filter.GOLD: np.arange(NUM_KINDS) == GOLD,
        Filter.RESOURCE: cards["group"] == RESOURCE,
        Filter.CREW: cards["group"] == CREW,
        Filter.TITAN: cards["group"] == TITAN,
        Filter.COST_LE: (cards["group"] > 0) & (cards["group"] != TITAN) & (cards["cost"] <= parameter),
        Filter.CREW_COST_EQ: (cards["group"] == CREW) & (cards["cost"] == parameter),
        Filter.COST_LE_VALUE: np.zeros(NUM_KINDS, bool),
        Filter.DEPT: (cards["group"] > 0) & (cards["department"] == parameter),
    }[which]
    return sum(1 << int(kind) for kind in np.flatnonzero(passes))


# ---------------------------------------------------------------- checks


def _fill_in(file: ComponentFile, section: str, defaults: dict[str, Any]) -> None:
    """Write the optional columns of a section where they are left out."""
    rows = file.data.get(section)
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            for name, value in defaults.items():
                row.setdefault(name, value)


def _where(section: str, position: int, row: dict[str, Any]) -> str:
    return f"{section} row {position + 1} ({row['name']!r})"


def _words(enum: Any) -> tuple[str, ...]:
    return tuple(member.name.lower() for member in enum)


def _span(ids: range) -> str:
    return str(ids[0]) if len(ids) == 1 else f"{ids[0]}..{ids[-1]}"


def _check_word(file: ComponentFile, where: str, name: str, word: str, allowed: tuple[str, ...]) -> None:
    if word not in allowed:
        raise file.error(where, f"{name} is {word!r}; there are {', '.join(allowed)}")


def _check_fields(file: ComponentFile, where: str, fields: Any, columns: dict[str, type]) -> None:
    """Check that an inline table has exactly these fields and types."""
    if not isinstance(fields, dict) or set(fields) != set(columns):
        raise file.error(where, f"{fields!r} must have exactly the fields {', '.join(columns)}")
    for name, kind in columns.items():
        if type(fields[name]) is not kind:
            raise file.error(where, f"{name} is {fields[name]!r}; it must be of type {kind.__name__}")


def _check_unique(file: ComponentFile, where: str, earlier: list[dict[str, Any]], row: dict[str, Any]) -> None:
    for column in ("id", "key", "name"):
        if row[column] in [other[column] for other in earlier]:
            raise file.error(where, f"{column} {row[column]!r} is used twice; they must differ")


def _check_stand_ins(file: ComponentFile, section: str, rows: list[dict[str, Any]], noun: str, ids: int) -> None:
    """Check that no name is the stand-in of an id without a row, because texts of actions must differ."""
    taken = {_stand_in(noun, number): number for number in set(range(ids)) - {row["id"] for row in rows}}
    for position, row in enumerate(rows):
        if row["name"] in taken:
            rule = f"name {row['name']!r} stands for the {noun} with id {taken[row['name']]}, which this file lacks"
            raise file.error(_where(section, position, row), rule)


# ---------------------------------------------------------------- names


def card_names(tables: Any) -> tuple[str, ...]:
    return tuple(card_name(tables, kind) for kind in range(len(tables["card_name"])))


def card_name(tables: Any, kind: int) -> str:
    """The name of a kind, or its number if the file has no card for it."""
    return text_of(tables["card_name"][kind]) or _stand_in("card", kind)


def city_names(tables: Any) -> tuple[str, ...]:
    return tuple(city_name(tables, city) for city in range(len(tables["city_name"])))


def city_name(tables: Any, city: int) -> str:
    """The name of a city, or its number if the file does not have it."""
    return text_of(tables["city_name"][city]) or _stand_in("city", city)


def _stand_in(noun: str, number: int) -> str:
    return f"{noun} {number}"
