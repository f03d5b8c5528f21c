"""Component files for tests: the game's own with some cards or cities changed."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from kepler_envs.games.race_to_kepler.components import DEFAULT_FILE


def default_data() -> dict[str, Any]:
    """The game's own components.toml, parsed."""
    return tomllib.loads(DEFAULT_FILE.read_text(encoding="utf-8"))


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


def write_file(folder: Path, data: dict[str, Any]) -> Path:
    """``data`` as a TOML file."""
    lines = []
    for section, content in data.items():
        if isinstance(content, list):
            for row in content:
                lines += [f"[[{section}]]", *(f"{name} = {_toml(value)}" for name, value in row.items()), ""]
        else:
            lines += [f"[{section}]", *(f"{_toml(name)} = {_toml(value)}" for name, value in content.items()), ""]
    path = folder / "mine.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_toml(item) for item in value)}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(item)}" for name, item in value.items()) + " }"
    return '"' + value.replace('"', '\\"') + '"' if isinstance(value, str) else str(value)
