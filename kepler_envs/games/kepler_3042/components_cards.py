"""The progress cards of a component file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kepler_envs.engine.components import ComponentFile
from kepler_envs.games.kepler_3042.components_checks import NAME_BYTES, check_choice, check_keys
from kepler_envs.games.kepler_3042.state import (
    MAX_LEVEL,
    MAX_SPEED,
    NUM_CARDS,
    NUM_RESOURCES,
    NUM_TECHS,
    NUM_TRACKS,
    ROUNDS,
    WHAT,
    WHO,
    What,
)
from kepler_envs.printable import counted

CARD = np.dtype(
    [
        ("who", "i1"),  # Who
        ("what", "i1"),  # What
        ("tech", "i1"),
        ("track", "i1"),
        ("count", "i1"),  # cubes, spaces, tiles or highest level
        ("burns", "i1"),  # 1: a free technology burns its new level less one cubes
        ("produced", "i1", (NUM_RESOURCES,)),
        ("solo", "i1"),  # 1: also in the solo deck
        ("name", "u1", (NAME_BYTES,)),
    ],
    align=True,
)


def read_cards(file: ComponentFile, tables: Any) -> None:
    """Read the eighteen progress cards."""
    columns = {"id": int, "name": str, "who": str, "what": str, "args": dict, "solo": bool, "prov": str}
    rows = file.rows("progress_cards", columns)
    file.check_ids("progress_cards", rows, range(1, NUM_CARDS + 1))
    for row in rows:
        where = f"progress_cards row {row['id']} ({row['name']!r})"
        check_choice(file, where, row, "who", WHO)
        check_choice(file, where, row, "what", WHAT)
        card, args, what = tables["card"][row["id"]], row["args"], WHAT[row["what"]]
        by_tech = row["who"].endswith("_tech")
        check_keys(file, where, "args", args, ["tech"] * by_tech + CARD_ARGUMENTS[what])
        if by_tech:
            file.check_range(where, args, "tech", 0, NUM_TECHS - 1)
            card["tech"] = args["tech"]
        card["who"], card["what"], card["solo"] = WHO[row["who"]], what, row["solo"]
        CARD_READERS[what](file, where, card, args)
    solo = sum(row["solo"] for row in rows)
    if solo < ROUNDS:
        raise file.error("progress_cards", f"{counted(solo, 'card')} with solo = true; the solo game needs {ROUNDS}")
    file.write_names("progress_cards", rows, "name", tables["card"]["name"][1:])


def _free_tech(file: ComponentFile, where: str, card: Any, args: dict[str, Any]) -> None:
    file.check_range(where, args, "max_level", 1, MAX_LEVEL)
    check_choice(file, where, args, "burn_rule", ("none", "new_level_minus_one"))
    card["count"], card["burns"] = args["max_level"], args["burn_rule"] != "none"


def _counted(name: str, most: int) -> Callable[[ComponentFile, str, Any, dict[str, Any]], None]:
    def read(file: ComponentFile, where: str, card: Any, args: dict[str, Any]) -> None:
        file.check_range(where, args, name, 1, most)
        card["count"] = args[name]

    return read


def _track(file: ComponentFile, where: str, card: Any, args: dict[str, Any]) -> None:
    file.check_range(where, args, "track", 0, NUM_TRACKS - 1)
    card["track"] = args["track"]


def _produced(file: ComponentFile, where: str, card: Any, args: dict[str, Any]) -> None:
    file.check_list(where, args, "triple", NUM_RESOURCES, 0, 7)
    if not any(args["triple"]):
        raise file.error(where, f"triple is {args['triple']}; it must produce something")
    card["produced"] = args["triple"]


CARD_ARGUMENTS = {
    What.FREE_TECH: ["max_level", "burn_rule"], What.SHIP: [], What.TRACK: ["track"], What.REGENERATE: ["n"],
    What.PRODUCE: ["triple"], What.MOVE: ["spaces"], What.FLIP: ["n"], What.EXPLOIT: ["n"],
}  # fmt: skip
CARD_READERS: dict[What, Callable[[ComponentFile, str, Any, dict[str, Any]], None]] = {
    What.FREE_TECH: _free_tech, What.SHIP: lambda *_: None, What.TRACK: _track, What.REGENERATE: _counted("n", 3),
    What.PRODUCE: _produced, What.MOVE: _counted("spaces", MAX_SPEED), What.FLIP: _counted("n", 9),
    What.EXPLOIT: _counted("n", 1),
}  # fmt: skip
