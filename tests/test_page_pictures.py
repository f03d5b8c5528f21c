"""The pictures of the pages: there, small, and of every game."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.pictures import IMAGES, MOVING_GAME, PARTS, THUMBNAILS, main, write_replays
from kepler_envs import list_games, load_game

LARGEST = {".gif": 1_000_000, ".png": 200_000, ".svg": 80_000}  # bytes


def test_pictures_are_small() -> None:
    found = [path for path in IMAGES.iterdir() if path.is_file()]
    assert {path.suffix for path in found} == set(LARGEST)
    for path in found:
        assert path.stat().st_size < LARGEST[path.suffix], path.name


def test_every_game_has_its_pictures() -> None:
    games = {load_game(name).name for name in list_games()}
    assert set(THUMBNAILS) == games and MOVING_GAME in games
    for game in games:
        assert (IMAGES / f"thumb_{game}.png").is_file() and (IMAGES / f"{game}.svg").is_file()
    assert (IMAGES / f"{MOVING_GAME}.gif").is_file()


def test_a_page_of_a_game_is_written(tmp_path: Path) -> None:
    (page,) = write_replays(tmp_path / "new", ["kepler_run"])
    assert page.name == "replay_kepler_run.html" and page.stat().st_size < 300_000


def test_an_unknown_part_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["films"])
    assert "there is no films; there are " + " ".join(PARTS) in capsys.readouterr().err
