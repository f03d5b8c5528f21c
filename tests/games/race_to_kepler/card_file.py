"""Component files for tests: the game's own with some cards or cities changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.component_file import Rows, own_rows, write_rows


def default_data() -> Rows:
    """The game's own components.toml, parsed."""
    return own_rows("race_to_kepler")


def card(kind: int, name: str, on_play: list[Any], **columns: Any) -> dict[str, Any]:
    """A row of [[cards]]: a scientist of cost 2 unless told."""
    row = {
        "id": kind,
        "key": name.lower().replace(" ", "_"),
        "name": name,
        "class": "crew",
        "dept": "scientist",
        "cost": 2,
    }
    return {**row, "copies": 1, "on_play": on_play, "prov": "D", **columns}


def write_file(folder: Path, data: Rows) -> Path:
    """``data`` as a TOML file."""
    return write_rows(folder / "mine.toml", data)
