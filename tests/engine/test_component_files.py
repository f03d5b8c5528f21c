"""Component files that no game could read."""

from __future__ import annotations

from pathlib import Path

import pytest

from kepler_envs import ComponentError
from kepler_envs.engine.components import ComponentFile

META = '[meta]\ngame = "kepler_run"\n'


@pytest.mark.parametrize(
    "content, words",
    [
        (b"rounds = ", "not a TOML file"),
        (b"rounds = " + b"[" * 100_000, "not a TOML file: nested too deeply"),
        (b"rounds = " + b"9" * 5000, "not a TOML file: Exceeds the limit"),
        (b"name = \"\xff\"", "not a TOML file"),
        (b"", "meta: game is None"),
    ],
    ids=["syntax", "nested", "digits", "encoding", "empty"],
)  # fmt: skip
def test_what_is_no_file_of_the_game_is_one_clear_error(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    with pytest.raises(ComponentError) as caught:
        ComponentFile(path, "kepler_run")
    assert str(caught.value).startswith(f"{path}: ") and words in str(caught.value)


def test_the_file_of_a_game_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(META, encoding="utf-8")
    assert ComponentFile(path, "kepler_run").data == {"meta": {"game": "kepler_run"}}
