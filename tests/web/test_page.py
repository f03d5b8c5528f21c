"""Pages without a server: a replay as one HTML file, and as a moving picture."""

from __future__ import annotations

import base64
import json
import re
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from kepler_envs import registry
from kepler_envs.cli import main
from kepler_envs.cli.motion import chosen, pixels
from kepler_envs.engine.replay import Replay, read_replay, record, write_replay
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.web.inline import show_replay
from kepler_envs.web.page import replay_page
from kepler_envs.web.players import Players
from kepler_envs.web.rules import rules_card, to_html
from tests.effort import DEEP, but_slow, slow
from tests.tournament.playing import own
from tests.web.browsing import chromium, page_of

GAMES = ("kitten_adventurers", "kepler_run", "ad_astra", "race_to_kepler", "kepler_3042")
LARGEST = 2_000_000  # bytes of a page


def game_of_greedy(name: str, players: int, seed: int = 3, most: int = 10**6) -> Replay:
    """A game of greedy against itself, cut off after ``most`` decisions."""
    config = registry.load_game(name).configure(players)
    bots, position, actions = Players(config, ["greedy"], seed), Snapshot.deal(config, seed), []
    while not position.over and len(actions) < most:
        actions.append(bots.decide("greedy", position))
        position = position.apply(actions[-1])
    return record(config, seed, actions, ["greedy"] * players)


def unpacked(page: str) -> dict[str, Any]:
    packed = re.search(r'id="game">([^<]*)</script>', page)
    assert packed
    return json.loads(zlib.decompress(base64.b64decode(packed.group(1))))


def unfolded(game: dict[str, Any], what: str, view: str) -> Iterator[str]:
    """The pictures or texts of a view, as filepage.js puts them together."""
    before: list[int] = []
    for head, tail, *middle in game[what][view]:
        before = [*before[:head], *middle, *(before[-tail:] if tail else [])]
        yield "\n".join(game["lines"][line] for line in before)


@pytest.mark.parametrize("name", but_slow(GAMES, "ad_astra"))
def test_a_page_holds_every_position_from_every_view(name: str) -> None:
    players = registry.load_game(name).min_players + (name == "kepler_3042")
    replay = game_of_greedy(name, players, most=60)
    config = registry.load_game(name).configure(players)
    game = unpacked(replay_page(replay, "a game"))
    positions = list(replay.positions(config))
    for view in ("open", *map(str, range(players))):
        seat = None if view == "open" else int(view)
        assert list(unfolded(game, "texts", view)) == [position.text(seat) for position in positions]
        pictures = list(unfolded(game, "pictures", view))
        assert len(pictures) == len(positions)
        for position, picture in list(zip(positions, pictures, strict=True))[::7]:
            drawn = position.drawing(seat).svg()
            assert picture == re.sub(r' data-actions="[^"]*"', "", drawn)
        drawings = [position.drawing(seat) for position in positions]
        assert game["news"][view][0] == []
        for number in range(1, len(positions), 7):
            assert game["news"][view][number] == drawings[number].changed_groups(drawings[number - 1])
    assert game["legal"][0] == positions[0].legal_actions() and game["taken"][:-1] == replay.actions
    assert [told["words"] for told in game["story"]["told"]] == replay.texts


WHOLE = [("kepler_3042", 2), *([("kitten_adventurers", 8), ("race_to_kepler", 4), ("kepler_3042", 4)] if DEEP else [])]
"""The game with the largest pictures; in the deep run the longest games, too."""


@slow
@pytest.mark.parametrize(("name", "players"), WHOLE)
def test_pages_of_whole_games_are_small_and_load_nothing(name: str, players: int) -> None:
    page = replay_page(game_of_greedy(name, players), "a game")
    assert len(page.encode()) < LARGEST
    assert not re.search(r'(src|href)="(?!#)', page) and "import " not in page.partition('<script type="module">')[
        2
    ].replace("// ", "")
    assert "default-src 'none'" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace('http-equiv="', "")


def test_names_from_outside_are_text() -> None:
    replay = game_of_greedy("kitten_adventurers", 2, most=5)
    replay.agents = ["</script><script>alert(1)</script>", "\x1b[31m<b>"]
    page = replay_page(replay, "<i>label</i>")
    assert "alert(1)" not in page and "<i>label" not in page
    assert unpacked(page)["story"]["seats"][0].startswith("</script>")


@slow
@pytest.mark.xdist_group("browser")
def test_a_page_inside_a_notebook(tmp_path: Path) -> None:
    replay = game_of_greedy("kitten_adventurers", 2)
    write_replay(tmp_path / "game.jsonl", replay)
    shown = show_replay(tmp_path / "game.jsonl", height=500)
    assert "game.jsonl" in shown.page and show_replay(replay, "mine").page.count("mine")
    (tmp_path / "notebook.html").write_text(f"<body>{shown._repr_html_()}</body>", encoding="utf-8")
    with chromium() as browser, page_of(browser) as page:
        page.goto((tmp_path / "notebook.html").as_uri())
        inside = page.frame_locator("iframe")
        inside.locator(".board[data-at='0'] svg").wait_for()
        inside.locator("button", has_text=">|").click()
        inside.locator(f".board[data-at='{len(replay.actions)}'] svg").wait_for()
        assert page.locator("iframe").bounding_box()["height"] == 500
        assert page.locator("iframe").get_attribute("title") == "a recorded game"


@pytest.mark.xdist_group("browser")
def test_a_page_from_disk_is_scrubbed_to_its_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replay = game_of_greedy("kitten_adventurers", 3)
    write_replay(tmp_path / "game.jsonl", replay)
    assert main(["replay", str(tmp_path / "game.jsonl"), "--html", str(tmp_path / "game.html")]) == 0
    assert "page written" in capsys.readouterr().out
    last = len(replay.actions)
    with chromium() as browser, page_of(browser) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((tmp_path / "game.html").as_uri())
        for at in (0, 1, last // 2, last):
            page.locator("main input[type=range]").fill(str(at))
            page.locator(f".board[data-at='{at}'] svg").wait_for()
        assert page.locator(".results tbody tr").count() == 3
        page.keyboard.press("Home")
        page.locator(".view").select_option("1")
        page.locator(".board", has_text="seen by player_1").wait_for()
        assert "a covered card" in page.locator(".board").inner_html()
        page.get_by_text("The board in words").click()
        start = Snapshot.deal(registry.load_game("kitten_adventurers").configure(3), replay.seed)
        assert page.locator("pre").inner_text() == start.text(1)
        page.locator(".drop").first.click()
        page.locator(".board:not([data-at='0'])").wait_for()
        assert asked == [(tmp_path / "game.html").as_uri()]


@pytest.mark.xdist_group("browser")
def test_a_page_is_printed_whole_and_dark_on_white(tmp_path: Path) -> None:
    """Browsers leave grounds out, and what is printed cannot be scrolled."""
    (tmp_path / "game.html").write_text(replay_page(game_of_greedy("kepler_run", 2, most=5), "a game"), "utf-8")
    with chromium() as browser, page_of(browser, 375, 800, color_scheme="dark") as page:
        page.goto((tmp_path / "game.html").as_uri())
        page.locator(".board svg").wait_for()
        for theme in ("auto", "dark"):
            assert page.get_by_role("button", name="colours").inner_text() == f"colours: {theme}"
            page.emulate_media(media="print")
            assert page.evaluate("getComputedStyle(document.querySelector('.prompt')).color") == LIGHT_THEME_INK
            assert page.evaluate(SCROLLED) == []
            page.emulate_media(media="screen")
            page.get_by_role("button", name="colours").click()


LIGHT_THEME_INK = "rgb(22, 27, 43)"
SCROLLED = """
[...document.querySelectorAll("body *:not(svg *)")].filter((box) => getComputedStyle(box).overflowX === "auto"
  && (box.scrollWidth > box.clientWidth + 1 || box.scrollHeight > box.clientHeight + 1)).map((box) => box.className)
"""
"""What has more than can be seen."""


@slow
def test_a_moving_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from PIL import Image

    replay = game_of_greedy("kitten_adventurers", 2)
    write_replay(tmp_path / "game.jsonl", replay)
    assert main(["replay", str(tmp_path / "game.jsonl"), "--gif", str(tmp_path / "game.gif")]) == 0
    with Image.open(tmp_path / "game.gif") as picture:
        assert picture.n_frames == min(60, len(replay.actions) + 1)
        assert picture.width == 800 and picture.info["loop"] == 0
    assert (tmp_path / "game.gif").stat().st_size < 1_000_000
    assert main(["replay", str(tmp_path / "game.jsonl"), "--gif", str(tmp_path / "nowhere" / "game.gif")]) == 2
    capsys.readouterr()


@slow
def test_a_tournaments_report_links_to_whole_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "--players 2 --agents uniform greedy --games 2 --bootstrap 40 --processes 1 --out"
    assert main(["tournament", "kitten_adventurers", *words.split(), str(tmp_path)]) == 0
    links = re.findall(r'href="(replays/[^"]*\.html)"', (tmp_path / "report.html").read_text(encoding="utf-8"))
    assert links == ["replays/uniform-greedy.html"]
    played = unpacked((tmp_path / links[0]).read_text(encoding="utf-8"))["story"]
    assert sorted(played["seats"]) == ["greedy", "uniform"] and played["results"]
    capsys.readouterr()


@slow
def test_a_report_shows_forfeits_as_the_ledger_has_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Uniform play, which went on for the agent that forfeited, came first by the rules of the game."""
    words = "--players 2 --option max_turns=60 --games 2 --bootstrap 40 --processes 1"
    agents = ["--agents", "uniform", own("RaisesAtStart")]
    assert main(["tournament", "kitten_adventurers", *words.split(), *agents, "--out", str(tmp_path)]) == 0
    replay = read_replay(tmp_path / "replays" / "uniform-RaisesAtStart.jsonl")
    assert replay.final is not None and replay.final["rank"] == [2, 1]
    assert replay.agents == ["uniform", "RaisesAtStart (forfeited after 1 decision)"]
    with closing(sqlite3.connect(tmp_path / "games.sqlite")) as ledger:
        assert ledger.execute("SELECT agent, decision FROM forfeits WHERE game = 0").fetchall() == [
            (own("RaisesAtStart"), 1)
        ]
    (saved,) = json.loads((tmp_path / "leaderboard.json").read_text())["replays"]
    assert saved["same"] and saved["agents"] == ["uniform", "RaisesAtStart"] and saved["ranks"] == [1, 2]
    assert saved["returns"] == [1, -1] and saved["forfeits"] == {"RaisesAtStart": 1}
    forfeit = "RaisesAtStart forfeited after 1 decision; uniform play finished"
    assert f"Places by seat: 1, 2. {forfeit}. <a" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"seats uniform, RaisesAtStart; {forfeit}" in (tmp_path / "results.md").read_text(encoding="utf-8")
    story = unpacked((tmp_path / "replays" / "uniform-RaisesAtStart.html").read_text(encoding="utf-8"))["story"]
    assert story["label"] == f"game 0: {forfeit}" and story["seats"] == replay.agents
    assert [(row["rank"], row["seat"], row["reward"]) for row in story["results"]] == [(1, 0, 1), (2, 1, -1)]
    capsys.readouterr()


def test_a_stretch_of_a_game_moves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from PIL import Image

    replay = game_of_greedy("kitten_adventurers", 2)
    write_replay(tmp_path / "game.jsonl", replay)
    command = ["replay", str(tmp_path / "game.jsonl"), "--gif", str(tmp_path / "game.gif"), "--start"]
    assert main([*command, "5", "--stop", "9"]) == 0
    with Image.open(tmp_path / "game.gif") as picture:
        assert picture.n_frames == 5
    for wrong in (["-1"], ["5", "--stop", "4"], ["0", "--stop", "100000"]):
        assert main([*command, *wrong]) == 2
    assert "is not allowed" in capsys.readouterr().err
    whole = pixels(next(iter(replay.positions(registry.load_game("kitten_adventurers").configure(2)))))
    part = pixels(
        next(iter(replay.positions(registry.load_game("kitten_adventurers").configure(2)))), None, (0, 0, 640, 320)
    )
    assert whole.shape[1] == part.shape[1] == 800 and part.shape[0] == 400


def test_positions_are_spread_evenly() -> None:
    assert chosen(3) == [0, 1, 2]
    numbers = chosen(1001, 11)
    assert numbers == list(range(0, 1001, 100))


def test_dark_is_the_same_by_system_and_by_switch() -> None:
    """Browsers that know light-dark() are too young to have it instead."""
    style = (files("kepler_envs.web") / "static" / "style.css").read_text(encoding="utf-8")
    palette = r" \{\n(  color-scheme: dark;\n.*?)\n\}"
    by_system, by_switch = (
        re.search(re.escape(selector) + palette, style, re.DOTALL)
        for selector in (':root:not([data-theme="light"])', ':root[data-theme="dark"]')
    )
    assert by_system and by_switch and by_system.group(1) == by_switch.group(1)


# ---------------------------------------------------------------- rules cards

DOCS = Path(__file__).parents[2] / "docs" / "games"


@pytest.mark.parametrize("name", GAMES)
def test_the_rules_card_is_the_section_of_the_games_page(name: str) -> None:
    """Where it differs: copy the section "The game" of docs/games/NAME.md to kepler_envs/rules/NAME.md."""
    section = re.search(r"\n## The game\n(.*?)\n##", (DOCS / f"{name}.md").read_text(encoding="utf-8"), re.DOTALL)
    assert section
    card = (files("kepler_envs.rules") / f"{name}.md").read_text(encoding="utf-8")
    assert card.strip() == section.group(1).strip()
    shown = rules_card(registry.load_game(name))
    assert shown["html"].count("<p>") > 2 and shown["asked"] and "**" not in shown["html"]


def test_markdown_of_cards() -> None:
    assert to_html("a *b* **c** `d` < e") == "<p>a <em>b</em> <strong>c</strong> <code>d</code> &lt; e</p>"
    assert to_html("1. one\n   more\n2. two") == "<ol><li>one more</li><li>two</li></ol>"
    assert to_html("- one\n- two") == "<ul><li>one</li><li>two</li></ul>"
    table = to_html("| | b |\n|---|---|\n| c | d |")
    assert '<tr><td></td><th scope="col">b</th></tr>' in table
    assert '<tr><th scope="row">c</th><td>d</td></tr>' in table
    assert "<tr><td>c</td><td>d</td></tr>" in to_html("| a | b |\n|---|---|\n| c | d |")
    assert "<script" not in to_html("<script>alert(1)</script>")
