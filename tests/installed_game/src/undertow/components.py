"""components.toml -> checked tables. A user's own file goes the same way."""

from pathlib import Path
from typing import Any

import numpy as np

from kepler_envs.engine.components import ComponentFile, load_tables
from undertow.state import MAX_PLAYERS, WORTHS

DEFAULT_FILE = Path(__file__).with_name("components.toml")
MOST_COPIES = 9
TABLES = np.dtype([("copies", "i1", (WORTHS,)), ("hand_size", "i1")])


def load_components(path: Path | None) -> np.ndarray:
    """Load the tables of a component file, or of the game's own if there is none."""
    return load_tables(path or DEFAULT_FILE, "undertow", TABLES, (_read_cards, _read_numbers))


def _read_cards(file: ComponentFile, tables: Any) -> None:
    rows = file.rows("cards", {"worth": int, "copies": int, "prov": str})
    file.check_ids("cards", rows, range(1, WORTHS + 1), "worth")
    for place, row in enumerate(rows):
        file.check_range(f"cards row {place + 1}", row, "copies", 1, MOST_COPIES)
        tables["copies"][place] = row["copies"]


def _read_numbers(file: ComponentFile, tables: Any) -> None:
    file.read_numbers({"hand_size": (2, int(tables["copies"].sum()) // MAX_PLAYERS)}, tables)
