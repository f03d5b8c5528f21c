"""Component files that no game could read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kepler_envs
from kepler_envs import ComponentError
from kepler_envs.describe import component_file
from kepler_envs.engine.components import ComponentFile, load_tables, text_of
from tests.component_file import check_refused, own_text, write

GAMES = ("kitten_adventurers", "kepler_run", "ad_astra", "race_to_kepler", "kepler_3042")
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


def file_of(tmp_path: Path, text: str) -> ComponentFile:
    path = tmp_path / "mine.toml"
    path.write_text(META + text, encoding="utf-8")
    return ComponentFile(path, "kepler_run")


@pytest.mark.parametrize(
    "ids, error",
    [
        ([1, 2, 3], None),
        ([1, 3, 2], "seats row 2: id is 3; rows must have id 1..3 in this order"),
        ([1, 2], "seats: 2 rows; there are exactly 3"),
        ([1, 2, 3, 4], "seats: 4 rows; there are exactly 3"),
        ([1], "seats: 1 row; there are exactly 3"),
        ([], "seats: 0 rows; there are exactly 3"),
    ],
)
def test_rows_have_their_ids_in_order(ids: list[int], error: str | None, tmp_path: Path) -> None:
    file, rows = file_of(tmp_path, ""), [{"id": number} for number in ids]
    if error is None:
        file.check_ids("seats", rows, range(1, 4))
        return
    with pytest.raises(ComponentError) as caught:
        file.check_ids("seats", rows, range(1, 4))
    assert str(caught.value) == f"{file.path}: {error}"


def test_numbers_go_into_the_fields_of_their_names(tmp_path: Path) -> None:
    row = '[[numbers]]\nname = "rounds"\nvalue = {}\nmeaning = ""\nprov = "D"\n'
    tables: dict[str, int] = {}
    file_of(tmp_path, row.format(3)).read_numbers({"rounds": (1, 3)}, tables)
    assert tables == {"rounds": 3}
    with pytest.raises(ComponentError, match=r"numbers row 'rounds': value is 4; allowed: 1\.\.3"):
        file_of(tmp_path, row.format(4)).read_numbers({"rounds": (1, 3)}, tables)
    with pytest.raises(ComponentError, match="numbers: lacks the rows laps"):
        file_of(tmp_path, row.format(3)).read_numbers({"rounds": (1, 3), "laps": (1, 3)}, tables)


def test_a_section_that_nobody_reads_is_an_error(tmp_path: Path) -> None:
    row = "[[{}]]\nid = 0\n"
    known = '[provenance]\nD = "our design"\n' + row.format("seats")
    path = file_of(tmp_path, known).path
    read = [lambda file, tables: file.rows("seats", {"id": int})]
    load_tables(path, "kepler_run", np.dtype([("id", "u1")]), read)
    path = file_of(tmp_path, known + row.format("seatz")).path
    with pytest.raises(ComponentError, match="mine.toml: seatz: there is no such section; there are seats$"):
        load_tables(path, "kepler_run", np.dtype([("id", "u1")]), read)


@pytest.mark.parametrize("name", GAMES)
def test_tables_are_read_only_before_anybody_has_configured_the_game(name: str) -> None:
    """All environments of a process share them."""
    game = kepler_envs.load_game(name)
    for path in (None, component_file(game)):
        tables = game.load_components(path)
        assert tables.shape == (1,) and not tables.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            tables[:] = np.zeros(1, game.tables)


def test_a_text_is_followed_by_zeros(tmp_path: Path) -> None:
    out = np.full(8, ord("x"), np.uint8)
    file_of(tmp_path, "").write_text("seats row 1", "name", "ab", out)
    assert text_of(out) == "ab" and out.tolist() == [*b"ab", 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("name", GAMES)
def test_every_game_refuses_a_section_it_does_not_know(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, own_text(name) + "\n[[setupp]]\nplayers = 2\n")
    check_refused(name, path, "setupp: ", "there is no such section; there are ")


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(META, encoding="utf-8-sig")  # as some editors save UTF-8
    assert ComponentFile(path, "kepler_run").data == {"meta": {"game": "kepler_run"}}
