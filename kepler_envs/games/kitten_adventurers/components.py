"""components.toml -> validated tables. A user's own component file goes the same way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.engine.components import ComponentFile, load_tables, names
from kepler_envs.engine.kernel import leaf
from kepler_envs.games.kitten_adventurers.state import (
    COLUMN,
    HYPERSPEED,
    LADDER_LENGTH,
    MAX_CARDS,
    MAX_LADDERS,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_LANES,
    NUM_TYPES,
    WORMHOLE,
)

DEFAULT_FILE = Path(__file__).with_name("components.toml")
NAME_BYTES = 32

BY_QUEST = np.dtype([("below", "i1", (COLUMN,))])  # how far each type lies below a quest card; 0 not below, or wild
BY_TOP = np.dtype([("room", "i1", (COLUMN,))])  # how well each type lies on the top card of a lane
BY_SPAN = np.dtype([("roles", "i1", (COLUMN,))])  # what types from one value up to another are for
BY_LANE = np.dtype([("is_it", "i1", (NUM_LANES,))])  # 1 for a lane
BY_VIEW = np.dtype([("seats", "u1", (MAX_PLAYERS,))])  # seats from one on, clockwise; then the absent ones

STEP, ON_CHAIN, NEXT = 1, 2, 3
"""Of ``roles``: a value towards the quest card; one of the values of a chain; the first of these."""

SPANS = (NUM_TYPES + 1) ** 2
NUM_NUMBERS = 32  # a power of two: a number cut to it is a row
NOBODY = COLUMN - 1
"""Where ``room`` is -1: for no card."""

ON_NEXT, IN_EMPTY, ON_LOWER, ON_WILD = 14, 13, 7, 0
"""Of ``room``, best first: on its own or the next higher value, in an empty lane, on a lower card, on a hyperspeed
card. On a card that is 2 to 12 values higher it is in between (see :func:`room_on`)."""

TABLES = np.dtype(
    [
        ("cards_total", "<i2"),  # cards in the game
        ("card_count", "i1", (NUM_TYPES,)),  # cards of each type
        ("deck", "i1", (MAX_CARDS,)),  # the types of all cards in ascending order; unused places 0
        ("quest_size", "i1", (MAX_PLAYERS + 1,)),  # by number of players; 0: cannot be played
        ("hand_size", "i1", (MAX_PLAYERS + 1,)),
        ("quest_size_later", "i1", (MAX_PLAYERS + 1,)),  # the later edition's quest piles
        ("by_quest", BY_QUEST, (NUM_TYPES + 1,)),  # by card field
        ("by_top", BY_TOP, (NUM_TYPES + 1,)),  # by card field
        ("by_span", BY_SPAN, (2 * SPANS,)),  # by span_place: steps, and SPANS later chains
        ("by_lane", BY_LANE, (NUM_NUMBERS,)),  # by number; all 0 where there is no such lane
        ("by_view", BY_VIEW, ((MAX_PLAYERS + 1) * MAX_PLAYERS,)),  # by number of players and seat
        ("type_name", "u1", (NUM_TYPES, NAME_BYTES)),  # UTF-8, padded with zeros; only for texts and pictures
    ],
    align=True,
)


def load_components(path: Path | None) -> np.ndarray:
    """Load the tables of a component file, or of the game's own if there is none: see :func:`load_tables`."""
    return load_tables(
        path or DEFAULT_FILE, "kitten_adventurers", TABLES, (_read_card_types, _read_setup, _fill_relations)
    )


def _read_card_types(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("card_types", {"id": int, "name": str, "count": int, "prov": str})
    file.check_ids("card_types", rows, range(NUM_TYPES))
    for position, row in enumerate(rows):
        where = f"card_types row {position + 1} ({row['name']!r})"
        file.check_range(where, row, "count", 0, MAX_CARDS)
        tables["card_count"][position] = row["count"]
    file.write_names("card_types", rows, "name", tables["type_name"])
    _check_deck(file, tables)


def _check_deck(file: ComponentFile, tables: Any) -> None:
    counts = tables["card_count"].astype(int)
    total = int(counts.sum())
    if total > MAX_CARDS:
        raise file.error("card_types", f"the counts sum to {total}; at most {MAX_CARDS} cards are possible")
    bottoms = int(counts[WORMHOLE] + counts[HYPERSPEED])
    if not 1 <= bottoms <= MAX_LADDERS:
        raise file.error(
            "card_types",
            f"types {WORMHOLE} and {HYPERSPEED} together have {bottoms} cards; each can start a ladder, "
            f"so they must be 1..{MAX_LADDERS}",
        )
    tables["cards_total"] = total
    tables["deck"][:total] = np.repeat(np.arange(NUM_TYPES), counts)


def _read_setup(file: ComponentFile, tables: Any) -> None:
    columns = {"players": int, "quest": int, "hand": int, "quest_later_edition": int, "prov": str}
    rows = file.rows("setup", columns)
    for position, row in enumerate(rows):
        players, quest, hand = row["players"], row["quest"], row["hand"]
        where = f"setup row {position + 1} (players = {players})"
        if not MIN_PLAYERS <= players <= MAX_PLAYERS:
            raise file.error(where, f"players must be {MIN_PLAYERS}..{MAX_PLAYERS}")
        if tables["quest_size"][players]:
            raise file.error(where, "a second row for this number of players")
        for name in ("quest", "hand", "quest_later_edition"):
            file.check_range(where, row, name, 1, MAX_CARDS)
        needed = players * (quest + hand)
        if needed >= tables["cards_total"]:
            raise file.error(
                where,
                f"players * (quest + hand) = {needed} cards are dealt, but the deck has {tables['cards_total']}; "
                "at least one must be left",
            )
        tables["quest_size"][players] = quest
        tables["hand_size"][players] = hand
        tables["quest_size_later"][players] = row["quest_later_edition"]
    if not rows:
        raise file.error("setup", "no row; at least one number of players is needed")


def _fill_relations(file: ComponentFile, tables: Any) -> None:
    """Fill in what holds between two card types. It is looked up instead of worked out, and the same in all files."""
    for one in range(-1, NUM_TYPES):
        for card in range(NUM_TYPES):
            below = one - card if card < one < HYPERSPEED else 0
            tables["by_quest"]["below"][one + 1, card] = below
            tables["by_top"]["room"][one + 1, card] = room_on(one, card)
        tables["by_top"]["room"][one + 1, NOBODY] = -1
    for start in range(LADDER_LENGTH):
        for goal in range(start + 1, LADDER_LENGTH):
            steps, chain = (tables["by_span"]["roles"][_place_of_span(start, goal) + more] for more in (0, SPANS))
            steps[start:goal] = STEP
            chain[start:goal] = ON_CHAIN
            chain[start] = NEXT
    for lane in range(NUM_LANES):
        tables["by_lane"]["is_it"][lane, lane] = 1
    for players in range(MAX_PLAYERS + 1):
        for seat in range(players):
            row = tables["by_view"]["seats"][MAX_PLAYERS * players + seat]
            row[:] = range(MAX_PLAYERS)
            row[:players] = np.roll(row[:players], -seat)


def _place_of_span(start, goal):
    """The place of the span of the values ``start .. goal - 1``. -1 is allowed for both."""
    return (NUM_TYPES + 1) * (goal + 1) + start + 1


span_place = leaf(_place_of_span)  # the function itself fills tables: that compiles nothing


def room_on(top: int, card: int) -> int:
    """How well ``card`` fits on the card ``top`` of a lane (-1 for none), 0..14.

    The more plays it has to wait for, the worse.
    """
    if top < 0:
        return IN_EMPTY
    if top == HYPERSPEED:
        return ON_WILD
    if top < card:
        return ON_LOWER
    step = top - card
    if step <= 1:
        return ON_NEXT
    return ON_NEXT - step if step <= 6 else IN_EMPTY - step


def type_names(tables: Any) -> tuple[str, ...]:
    """The names of the card types."""
    return names(tables["type_name"])
