"""Make the pictures of the pages: ``python -m docs.pictures``, or parts of them by name.

    python -m docs.pictures                    # all: gif thumbnails screenshots replays
    python -m docs.pictures thumbnails gif

``gif``, ``thumbnails`` and ``screenshots`` write into docs/images, which is kept; screenshots need Debian's chromium
and the extras ``web`` and ``dev``. ``replays`` writes a page of a whole game for each game into build/replays; the
site calls :func:`write_replays` when it is built.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from PIL import Image

import kepler_envs
from kepler_envs.cli.match import Match
from kepler_envs.cli.motion import MOST_FRAMES, Part, chosen, pixels, write_gif
from kepler_envs.engine.replay import Replay
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.web.house import House
from kepler_envs.web.page import replay_page
from kepler_envs.web.players import Players
from kepler_envs.web.tables import Table

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
REPLAYS = DOCS.parent / "build" / "replays"

SEED = 6
MOVING_GAME, MOVING_PLAYERS, MOVING_SEED = "kepler_3042", 4, 11
MOVING_PART: Part = (0, 0, 896, 732)
"""The head and the map: words can be read at 800 pixels."""
MOVING_SECONDS = 0.4

THUMBNAIL_WIDTH, THUMBNAIL_COLOURS = 480, 64
THUMBNAILS: dict[str, tuple[int, int, int, Part]] = {
    "kitten_adventurers": (8, 1, 42, (24, 76, 512, 320)),
    "kepler_run": (4, SEED, 73, (16, 360, 576, 360)),
    "ad_astra": (4, SEED, 120, (16, 96, 608, 380)),
    "race_to_kepler": (4, SEED, 160, (16, 96, 640, 400)),
    "kepler_3042": (2, SEED, 220, (160, 130, 640, 400)),
}
"""Players, seed, decisions into the game, and what part of the picture."""

SCREENSHOT_COLOURS = 256
DESKTOP, PHONE = (1280, 860), (375, 780)
DECIDED = {"kepler_3042": 150, "kitten_adventurers": 50}
"""Decisions of both seats before the screenshots."""


def greedy_game(name: str, players: int | None = None, seed: int = SEED) -> Match:
    """A whole game of greedy on all seats."""
    config = kepler_envs.load_game(name).configure(players)
    match = Match(config, seed, dict.fromkeys(range(config.num_players), "greedy"))
    while not match.over:
        match.let_bot_decide()
    return match


def positions_of(match: Match) -> list[Snapshot]:
    return list(match.replay().positions(match.config))


# ---------------------------------------------------------------- pictures


def gif() -> list[Path]:
    """A game in motion, for the top of the README: the positions after which the map has changed."""
    positions = positions_of(greedy_game(MOVING_GAME, MOVING_PLAYERS, MOVING_SEED))
    moving = [positions[0]]
    for before, after in zip(positions, positions[1:], strict=False):
        if _map_of(before) != _map_of(after):
            moving.append(after)
    moving.append(positions[-1])  # who wins
    path = IMAGES / f"{MOVING_GAME}.gif"
    write_gif(path, [moving[number] for number in chosen(len(moving), MOST_FRAMES)], None, MOVING_PART, MOVING_SECONDS)
    return [path]


def _map_of(position: Snapshot) -> list[bytes]:
    """What the map shows."""
    state = position.state
    fields = ("face_up", "planet_owner", "planet_terraformed", "bodies")
    return [state[field].tobytes() for field in fields] + [state["player"]["ship"].tobytes()]


def thumbnails() -> list[Path]:
    """A small picture of each game, for the README's table."""
    paths = []
    for name, (players, seed, decisions, part) in THUMBNAILS.items():
        positions = positions_of(greedy_game(name, players, seed))
        position = positions[min(decisions, len(positions) - 1)]
        paths.append(IMAGES / f"thumb_{name}.png")
        _save(Image.fromarray(pixels(position, None, part, THUMBNAIL_WIDTH)), paths[-1], THUMBNAIL_COLOURS)
    return paths


def _save(picture: Image.Image, path: Path, colours: int) -> None:
    # refined by k-means, or the few pixels of a planet take the colour of its neighbours
    picture.convert("RGB").quantize(colours, kmeans=3, dither=Image.Dither.NONE).save(path, optimize=True)


# ---------------------------------------------------------------- pages


def screenshots() -> list[Path]:
    """The pages of ``kepler-envs serve`` on a desk and on a phone, as docs/browser.md shows them."""
    from tests.web.browsing import chromium, page_of
    from tests.web.serving import client_of, house_in, new_table, serving, settle

    paths: list[Path] = []

    def shoot(page: object, name: str) -> None:
        paths.append(IMAGES / f"{name}.png")
        with tempfile.TemporaryDirectory() as folder:
            raw = Path(folder) / "raw.png"
            page.screenshot(path=raw)  # type: ignore[attr-defined]
            with Image.open(raw) as picture:
                _save(picture, paths[-1], SCREENSHOT_COLOURS)

    with (
        tempfile.TemporaryDirectory() as folder,
        house_in(Path(folder)) as house,
        serving(house) as base,
        chromium() as browser,
    ):
        with page_of(browser, *DESKTOP) as page:
            page.goto(f"{base}/host/{house.host_token}")
            page.locator(".open-table").wait_for()
            shoot(page, "browser_host")
        for game in ("kepler_3042", "kitten_adventurers"):
            table, links = new_table(client_of(house), house, game, options={})
            _decide_like_greedy(house, table, DECIDED[game])
            settle(table)
            with page_of(browser, *DESKTOP) as page:
                page.goto(f"{base}/seat/{links[0]}")
                page.locator(f".board[data-version='{table.version}'] svg").wait_for()
                if game == "kitten_adventurers":
                    page.locator(".ask select").select_option("best")
                    page.locator(".ask button").click()
                    page.locator(".moves .bar").first.wait_for()
                shoot(page, f"browser_{game}")
            with page_of(browser, *PHONE, device_scale_factor=2) as page:
                page.goto(f"{base}/seat/{links[0]}")
                page.locator(".board svg").wait_for()
                shoot(page, f"browser_{game}_phone")
        pages = write_replays(Path(folder), ("race_to_kepler",))
        with page_of(browser, *DESKTOP) as page:
            page.goto(pages[0].as_uri())
            page.locator(".board svg").wait_for()
            page.locator("main input[type=range]").fill("150")
            page.locator(".board[data-at='150']").wait_for()
            shoot(page, "browser_replay")
    return paths


def _decide_like_greedy(house: House, table: Table, decisions: int) -> None:
    """Take the decisions of the people at a table, until there have been so many and a person is asked."""
    players = Players(table.config, ["greedy"], SEED)
    while True:
        is_asked = table.to_move is not None and table.to_move.is_person  # from then on bots wait
        if is_asked and len(table.heard) >= decisions:
            return
        if is_asked:
            table.decide(table.position.seat, players.decide("greedy", table.position))
            house.play_on(table)


def write_replays(folder: Path, names: Sequence[str] = ()) -> list[Path]:
    """Write a page of a whole game for each game: ``replay_<game>.html``. They open from disk and load nothing.

    Args:
        folder: where to; it is made if it is not there.
        names: of the games; all of them if left out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in names or kepler_envs.list_games():
        game = kepler_envs.load_game(name)
        paths.append(folder / f"replay_{game.name}.html")
        page = replay_page(_shown_game(game.name), "a game of greedy players")
        paths[-1].write_text(page, encoding="utf-8")
    return paths


def _shown_game(name: str) -> Replay:
    return greedy_game(name).replay()


def replays() -> list[Path]:
    """The pages of whole games, into build/replays."""
    return write_replays(REPLAYS)


PARTS: dict[str, Callable[[], list[Path]]] = {part.__name__: part for part in (gif, thumbnails, screenshots, replays)}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m docs.pictures", description="Make the pictures of the pages.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"which ones: {' '.join(PARTS)}; all if left out")
    wanted = parser.parse_args(argv).parts
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {' '.join(PARTS)}")
    for part in wanted or PARTS:
        for path in PARTS[part]():
            print(f"{path.relative_to(DOCS.parent)}  {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
