"""The tables of the observation and what actions point at; facts.py has what they hold."""

from __future__ import annotations

import re

from kepler_envs.games.race_to_kepler import actions
from kepler_envs.games.race_to_kepler.effects import Destination, Filter, Mode, Source
from tests.games.race_to_kepler.scenario import DONE, GAME, Seat, after, scenario


def test_tables() -> None:
    layout = GAME.observation
    assert (layout.size, layout.facts.size) == (1139, 911)
    assert {name: one.rows for name, one in layout.tables.items()} == {
        "game": 1, "players": 4, "operations": 4, "cards": 51, "top": 5, "look": 5, "frames": 8, "options": 4,
    }  # fmt: skip
    assert {name: one.rows for name, one in layout.fixed.items()} == {"kinds": 51, "cities": 15, "city_operations": 60}


def test_labels_of_the_effect_language_are_named() -> None:
    """With their numbers, of which 0 is none; a frame of the stack always has an origin, so that its numbers are one
    less."""
    layout = GAME.observation
    for name, words in (("source", Source), ("destination", Destination), ("mode", Mode), ("filter", Filter)):
        listed = re.findall(r"(\d+) (\w+)", layout[f"game.{name}"].meaning)
        assert listed == [(str(1 + word), word.name.lower()) for word in words] and len(listed) == len(words)
    origins = ["when played", "discarded", "ejected", "trait"]
    for name, first in (("game", 1), ("frames", 0)):
        told = [f"{first + number} {words}" for number, words in enumerate(origins)]
        assert ", ".join([*told, f"{first + 4} to {first + 7} operations"]) in layout[f"{name}.origin"].meaning


def test_ids_point_at_cards_and_at_what_is_printed_on_them() -> None:
    blocks = {block.name: block for block in GAME.actions.blocks}
    assert (
        [axis.table for axis in blocks["PLAY"].axes]
        == [axis.table for axis in blocks["ACQ"].axes]
        == ["cards", "kinds"]
    )
    assert blocks["ACQ"].axes[0].rows == blocks["ACQ"].axes[1].rows == (1, *range(3, 35))
    assert [blocks[name].axes[0].table for name in ("CITY", "OP", "OPT")] == ["cities", "operations", "options"]


def test_what_is_printed_on_cards_and_cities() -> None:
    """Jeweler: cost 4, a bonus of 2 in bids, 2 money and 1 energy.

    Tehran's first operation costs 3, moves a parsec and ejects an Iron.
    """
    fixed = GAME.observation.fixed

    def row(table: str, number: int) -> dict[str, list[int]]:
        values = fixed[table].values[number]
        return {one.field: values[one.offset : one.offset + one.size].tolist() for one in fixed[table].fields}

    jeweler = row("kinds", 24)
    assert jeweler["cost"] == [4] and jeweler["bid_value"] == [6] and jeweler["department"] == [4]
    assert jeweler["on_play"] == [1, 2, 0, 0, 0, 0, 0, 0] and jeweler["worth"] == [2 * 5 + 10 + 4 * 4]
    unknown = row("kinds", 9)  # no program when played; 2 energy when discarded or ejected
    assert (
        unknown["order"] == [-1000] and unknown["worth"] == [10 + 10 + 4 * 2] and unknown["lost_by_eject"] == [28 - 20]
    )
    tehran, first = row("cities", 3), row("city_operations", 12)
    assert tehran["hook"] == [2] and tehran["kinds"] == [1] and tehran["operations"] == [13, 14, 15, 0]
    assert first["cost"] == [3] and first["does"] == [0, 0, 0, 1, 0, 1, 1, 0] and first["needs_hand"] == [1]


def test_action_ids() -> None:
    assert (actions.CITY, actions.PLAY, actions.ACQUIRE_GOLD, actions.ACQUIRE + 3) == (0, 15, 66, 67)
    assert (actions.OPERATE, actions.PICK, actions.OPTION, actions.DONE, actions.END_TURN) == (99, 103, 154, 158, 159)
    assert len(GAME.actions) == 160


def test_a_long_move_counts_on() -> None:
    """After ten picks of "any number" nothing is said to be left."""
    position = after(
        scenario(Seat(hand="Demolition Experts, 14 Gold, Iron")), "play Demolition Experts", "choose alternative 2"
    )
    layout = GAME.observation
    for picked in range(12):
        seen = position.observe(0)
        assert layout["game.moved"].view(seen) == [picked] and layout["game.picks_left"].view(seen) == [10 - picked]
        position = after(position, "pick Gold")
    assert after(position, DONE).state["energy"] == 24
