"""The pages in a real browser: games played by clicks alone, reloads, two people, nothing hidden in page or traffic."""

from __future__ import annotations

import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kepler_envs import registry
from kepler_envs.engine.replay import record
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.web import forms
from kepler_envs.web.films import Film
from kepler_envs.web.page import replay_page
from kepler_envs.web.players import Players
from kepler_envs.web.views import seat_colours
from tests.component_file import kittens_with
from tests.effort import but_slow, slow
from tests.waiting import LONGEST_WAIT
from tests.web.browsing import chromium, decide, page_of
from tests.web.serving import SHORT, client_of, house_in, new_table, serving, settle

pytestmark = pytest.mark.xdist_group("browser")
PERSON = "person"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with house_in(tmp_path_factory.mktemp("tables")) as found:
        yield found


@pytest.fixture(scope="module")
def base(house: Any) -> Iterator[str]:
    with serving(house) as address:
        yield address


def table_of(house: Any, game: str, seats: list[str] | None = None, **more: Any) -> tuple[Any, list[str]]:
    return new_table(client_of(house), house, game, seats, **more)


@pytest.mark.parametrize("game", but_slow(SHORT, "kepler_3042", "kitten_adventurers"))
def test_a_game_is_played_by_clicks_alone(browser: Any, house: Any, base: str, game: str) -> None:
    """Set up on the page, played against greedy to the result, looked at afterwards."""
    chance = random.Random(game)
    short = SHORT[game]
    with page_of(browser) as page:
        page.goto(f"{base}/host/{house.host_token}")
        form = page.locator("section").first
        form.locator("[name=game]").select_option(game)
        form.locator("[name=players]").select_option(str(short["players"]))
        form.locator("summary").click()
        for name, value in short["options"].items():
            form.locator(f"[name={name}]").fill(value)
        form.get_by_placeholder("drawn").fill("5")
        page.locator(".open-table").click()
        page.wait_for_url("**/seat/*")
        clicks = 0
        while decide(page, chance, "done" if game == "kepler_3042" else "no more" if game == "race_to_kepler" else ""):
            clicks += 1
        assert clicks > 3
        table, _ = house.seat(page.url.rpartition("/")[2])
        assert table.position.over and table.replay.seats.count(0) == clicks
        assert page.locator(".results tbody tr").count() == short["players"]
        page.get_by_text("View the whole game").click()
        page.wait_for_url("**/film/*")
        page.locator(".board[data-at='0'] svg").wait_for()
        page.keyboard.press("End")
        page.locator(f".board[data-at='{len(table.heard)}'] svg").wait_for()
        page.evaluate("() => document.querySelector('.board .since')?.remove()")  # what the last decision changed
        assert page.locator(".board").inner_html() == browser_form(page, table.position.drawing().svg())


def browser_form(page: Any, svg: str) -> str:
    """SVG as the browser writes it."""
    return page.evaluate(
        "(svg) => { const box = document.createElement('div'); box.innerHTML = svg; return box.innerHTML; }", svg
    )


def test_a_reload_in_mid_game_loses_nothing(browser: Any, house: Any, base: str) -> None:
    table, tokens = table_of(house, "kitten_adventurers")
    chance = random.Random(1)
    with page_of(browser) as page:
        page.goto(f"{base}/seat/{tokens[0]}")
        for _ in range(3):
            assert decide(page, chance)
        settle(table)
        page.locator(f".board[data-version='{table.version}']").wait_for()
        page.mouse.move(0, 0)  # what the mouse is on lights up
        before = [page.locator(part).inner_html() for part in (".board", ".moves", ".heard")]
        page.reload()
        page.locator(f".board[data-version='{table.version}'] svg").wait_for()
        assert [page.locator(part).inner_html() for part in (".board", ".moves", ".heard")] == before
        assert decide(page, chance)


def test_two_people_at_one_table(browser: Any, house: Any, base: str) -> None:
    """What one of them does shows on the other's page without a reload."""
    table, tokens = table_of(house, "kitten_adventurers", [PERSON, PERSON])
    chance = random.Random(2)
    with page_of(browser) as one, page_of(browser) as two:
        pages = [one, two]
        for page, token in zip(pages, tokens, strict=True):
            page.goto(f"{base}/seat/{token}")
            page.locator(".board svg").wait_for()
        for _ in range(12):
            if table.position.over:
                break
            mover = table.position.seat
            pages[1 - mover].locator(".prompt", has_text=f"player_{mover}").wait_for()
            assert pages[1 - mover].locator(".moves button").count() == 0
            assert decide(pages[mover], chance)
            pages[1 - mover].locator(f".board[data-version='{table.version}']").wait_for()
        words = [page.locator(".heard li").last.inner_text().split(": ")[1] for page in pages]
        assert words[0] == words[1]
        aloud = [page.locator(".aloud").inner_text() for page in pages]
        assert aloud[1 - mover].endswith(f"player_{mover}: {words[0]}"), "what others decide is said"
        assert not any(f"player_{seat}" in said for seat, said in enumerate(aloud)), "what one decides is not"


def everything(page: Any, address: str) -> tuple[str, list[bytes]]:
    """What a page shows and all that it was sent (each body once), freshly loaded."""
    bodies: list[bytes] = []
    page.on("response", lambda answer: bodies.append(answer.body()) if "/events" not in answer.url else None)
    page.goto(address)
    page.locator(".board svg").wait_for()
    page.wait_for_timeout(300)
    return page.content(), sorted(set(bodies))


@pytest.mark.parametrize("game", but_slow(SHORT, "kepler_3042", "kepler_run"))
def test_nothing_hidden_in_page_or_traffic(browser: Any, house: Any, base: str, game: str) -> None:
    """Other cards behind the backs: the same page, the same traffic, byte for byte."""
    chance = random.Random(game)
    players = SHORT[game]["players"]
    table, tokens = table_of(house, game, [PERSON] * players, options={})
    for _ in range(25):
        if not table.position.over:
            table.decide(table.position.seat, chance.choice(table.position.legal_actions()))
    true, seat = table.position, 1
    found = []
    for position in (true, true.resample(seat, 7), true.resample(seat, 8)):
        table.position = position
        with page_of(browser) as page:
            found.append(everything(page, f"{base}/seat/{tokens[seat]}"))
    table.position = true
    assert found[0] == found[1] == found[2]


def test_a_card_placed_face_down_is_not_told(browser: Any, house: Any, base: str) -> None:
    table, tokens = table_of(house, "ad_astra", [PERSON] * 3)
    mover = table.position.seat
    action = next(
        a for a in table.position.legal_actions() if "scoring card 3 on space 7" in table.config.actions.text(a)
    )
    table.decide(mover, action)
    with page_of(browser) as page:
        content, bodies = everything(page, f"{base}/seat/{tokens[(mover + 1) % 3]}")
        sent = b"".join(bodies).decode()
        assert (
            "place an action card face down on space 7" in content
            and "place an action card face down on space 7" in sent
        )
        assert "scoring card 3 on space 7" not in content + sent
    with page_of(browser) as page:
        content, _ = everything(page, f"{base}/seat/{tokens[mover]}")
        assert "place scoring card 3 on space 7" in content


def test_keyboard_filter_and_undo(browser: Any, house: Any, base: str) -> None:
    table, tokens = table_of(house, "kitten_adventurers")
    settle(table)
    heard = len(table.heard)
    with page_of(browser) as page:
        page.goto(f"{base}/seat/{tokens[0]}")
        page.locator(".moves button").first.wait_for()
        assert page.locator(".prompt").inner_text() == "Your turn: play a card or end the turn"
        legal = [table.config.actions.text(action) for action in table.position.legal_actions()]
        page.keyboard.press("/")
        page.keyboard.type("end turn")
        wanted = [words for words in legal if "end" in words and "turn" in words]
        assert page.locator(".moves .words").all_inner_texts() == wanted
        page.keyboard.press("Escape")
        version = table.version
        page.keyboard.press("1")
        page.locator(f".board:not([data-version='{version}'])").wait_for()
        assert table.heard[heard].own == legal[0]
        page.locator(".moves button").first.wait_for()
        settle(table)
        page.locator(f".board[data-version='{table.version}']").wait_for()
        version = table.version
        page.keyboard.press("u")
        page.locator(f".board:not([data-version='{version}'])").wait_for()
        assert len(table.heard) == heard
        version = table.version
        page.evaluate(
            "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '1', repeat: true, bubbles: true }))"
        )
        page.wait_for_timeout(200)
        assert table.version == version, "a key that is held down takes no decision"
        element = page.locator(".board .can").first
        element.focus()
        page.keyboard.press("Enter")
        if page.locator(".menu button").count():
            page.keyboard.press("Enter")
        page.locator(f".board:not([data-version='{version}'])").wait_for()


def test_a_double_click_takes_back_one_decision(browser: Any, house: Any, base: str) -> None:
    table, tokens = table_of(house, "kitten_adventurers", [PERSON, PERSON])
    mover = table.position.seat
    for _ in range(2):
        table.decide(mover, table.position.legal_actions()[0])
    assert table.position.seat == mover
    with page_of(browser) as page:
        page.goto(f"{base}/seat/{tokens[mover]}")
        undo, version = page.get_by_role("button", name="Undo"), table.version
        undo.click()
        page.locator(f".board:not([data-version='{version}'])").wait_for()
        assert undo.is_enabled()
        page.mouse.down(click_count=2)  # the second one of a slow double click: the answer is here already
        page.mouse.up(click_count=2)
        page.wait_for_timeout(300)
        assert len(table.heard) == 1
        undo.click()
        wait_until(page, lambda: not table.heard)


def test_the_keyboard_plays_on_where_it_was(browser: Any, house: Any, base: str) -> None:
    """What had the focus is gone after a decision: the next choice gets it, the prompt while others decide."""
    table, tokens = table_of(house, "kitten_adventurers", [PERSON, PERSON])
    seat, other = table.position.seat, 1 - table.position.seat
    with page_of(browser) as page:
        focused = page.locator(":focus")
        page.goto(f"{base}/seat/{tokens[seat]}")
        page.locator(".moves button").first.wait_for()
        for choice, kind in ((".moves button", "move"), (".board .can", "can")):
            page.locator(choice).first.focus()
            while table.position.seat == seat:
                assert focused.get_attribute("class") == kind
                version = table.version
                page.keyboard.press("Enter")
                if page.locator(".menu button").count():
                    page.keyboard.press("Enter")
                page.locator(f".board:not([data-version='{version}'])").wait_for()
            assert focused.get_attribute("class") == "prompt"
            while table.position.seat == other:
                table.decide(other, table.position.legal_actions()[-1])
            page.locator(f".board[data-version='{table.version}']").wait_for()
            assert focused.get_attribute("class") == kind


@slow
def test_on_a_phone_the_page_stays_where_it_is(browser: Any, house: Any, base: str) -> None:
    """While others decide there are no moves to list. The focus is left alone: the space bar would decide."""
    table, tokens = table_of(house, "kitten_adventurers", [PERSON, PERSON])
    seat = table.position.seat
    while table.position.seat == seat:
        table.decide(seat, table.position.legal_actions()[-1])
    with page_of(browser, width=375, height=700) as page:
        page.goto(f"{base}/seat/{tokens[1 - seat]}")
        page.locator(".moves button").first.wait_for()
        page.evaluate("scrollTo(0, 9999)")
        place = "document.querySelector('.choices').getBoundingClientRect().top"
        before = page.evaluate(place)
        while table.position.seat != seat:
            version = table.version
            page.locator(".moves button").last.click()
            page.locator(f".board:not([data-version='{version}'])").wait_for()
        assert page.evaluate("document.activeElement === document.body")
        assert abs(page.evaluate(place) - before) < 60


def test_changes_are_framed_and_choices_explained(browser: Any, house: Any, base: str) -> None:
    table, tokens = table_of(house, "ad_astra", [PERSON] * 3)
    mover = table.position.seat
    scoring = next(a for a in table.position.legal_actions() if "build card on space 7" in table.config.actions.text(a))
    table.decide(mover, scoring)
    following = table.position.seat
    with page_of(browser) as page:
        page.goto(f"{base}/seat/{tokens[following]}")
        page.locator(".board .since .new").first.wait_for()
        frames = page.locator(".board .since .new").evaluate_all(
            "(all) => all.map((one) => one.getBoundingClientRect().x)"
        )
        placed = page.locator(".board g", has_text="space 7: a card face down").last.bounding_box()
        assert any(abs(x - placed["x"]) < 8 for x in frames)
        assert page.get_by_text("Framed in blue").is_visible()
        words = page.locator(".moves li", has_text="place scoring card 1 on space 1").first
        assert "colonies and factories or starships" in words.inner_text()
        page.keyboard.press("/")
        page.keyboard.type("starships")
        assert 0 < page.locator(".moves button").count() < len(table.position.legal_actions())


def test_main_actions_are_clicked_on_the_board(browser: Any, house: Any, base: str) -> None:
    table, tokens = table_of(house, "kepler_3042", [PERSON] * 2)
    while table.position.node.name != "MAIN_ACTION":
        table.decide(table.position.seat, table.position.legal_actions()[0])
    seat, version = table.position.seat, table.version
    with page_of(browser) as page:
        page.goto(f"{base}/seat/{tokens[seat]}")
        action = page.locator(".board .can", has_text="Energy Storage")
        assert "Energy Storage" in action.get_attribute("aria-description"), "what stands on the board is read out"
        action.locator("> .ring").dispatch_event("click")
        page.locator(f".board:not([data-version='{version}'])").wait_for()
    assert table.heard[-1].own == "main action Energy Storage"


def test_the_frame_of_a_hex_is_not_covered_by_its_neighbours(browser: Any, house: Any, base: str) -> None:
    table, tokens = table_of(house, "kepler_3042", [PERSON] * 2)
    while table.position.node.name != "MAPPING_TILE":
        legal = table.position.legal_actions()
        wanted = [action for action in legal if "Galactic Mapping" in table.config.actions.text(action)]
        table.decide(table.position.seat, (wanted or legal)[-1])
    with page_of(browser) as page:
        page.goto(f"{base}/seat/{tokens[table.position.seat]}")
        tiles = page.locator(".board .can", has_text="?")
        tiles.first.wait_for()
        inside = "(tiles) => tiles.map((at) => at.querySelector('.ring').width.baseVal.value < at.getBBox().width - 4)"
        assert tiles.count() > 5 and all(tiles.evaluate_all(inside))


def test_a_bot_is_asked_on_the_page(browser: Any, house: Any, base: str) -> None:
    table, tokens = table_of(house, "kitten_adventurers", options={})
    settle(table)
    with page_of(browser) as page:
        page.goto(f"{base}/seat/{tokens[0]}")
        page.locator(".ask select").select_option("best")
        page.get_by_text("What would it do?").focus()
        page.keyboard.press("Enter")
        page.locator(".moves .bar").first.wait_for()
        assert page.locator(":focus").inner_text() == "What would it do?"
        shares = [float(text.split()[0]) for text in page.locator(".moves .share").all_inner_texts()]
        assert len(shares) == len(table.position.legal_actions()) and shares == sorted(shares, reverse=True)
        page.get_by_text("Rules", exact=True).focus()
        page.keyboard.press("Enter")
        rules = page.locator("dialog[open]", has_text="quest pile")
        rules.wait_for()
        assert rules.evaluate("box => box.scrollTop") == 0
        page.keyboard.press("Escape")
        assert page.locator(":focus").inner_text() == "Rules"


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("width", [1200, 375, 320])
def test_nothing_sticks_out_and_words_are_readable(
    browser: Any, house: Any, base: str, width: int, scheme: str
) -> None:
    """No sideways scrolling of the page itself, and a contrast of at least 4.5 between words and what is behind
    them."""
    table, tokens = table_of(house, "kitten_adventurers")
    settle(table)
    table.seats[1].spec = "long_name" * 20
    for path in (f"/seat/{tokens[0]}", f"/host/{house.host_token}"):
        with page_of(browser, width=width, color_scheme=scheme) as page:
            page.goto(base + path)
            page.locator("button").nth(3).wait_for()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
            assert page.evaluate(LOW_CONTRAST) == []
            if path.startswith("/seat"):
                page.locator(".moves .key").first.wait_for()  # an answer that comes before the first view is dropped
                page.get_by_text("What would it do?").click()
                page.locator(".moves .bar ~ .key").first.wait_for()
                assert page.evaluate(LOW_CONTRAST) == []


def test_a_board_on_which_nothing_can_be_chosen_is_scrolled_with_keys(browser: Any, house: Any, base: str) -> None:
    """While others decide on a phone, or on a page that is enlarged. Shapes that can be chosen take the focus."""
    table, tokens = table_of(house, "kitten_adventurers", [PERSON, PERSON])
    with page_of(browser, width=375) as page:
        board = page.locator(".board")
        page.goto(f"{base}/seat/{tokens[1 - table.position.seat]}")
        board.locator("svg").wait_for()
        start = board.evaluate("board => board.scrollLeft")
        for _ in range(4):  # after the three buttons of the header
            page.keyboard.press("Tab")
        page.keyboard.press("ArrowRight")
        wait_until(page, lambda: board.evaluate("board => board.scrollLeft") > start)
        page.goto(f"{base}/seat/{tokens[table.position.seat]}")
        board.locator(".can").first.wait_for()
        assert board.get_attribute("tabindex") == "-1"


PANEL_STARTS = """() => {
    const box = (shape) => shape.getBoundingClientRect();
    const all = (kind) => [...document.querySelectorAll(`.board ${kind}`)];
    const name = box(all("text").find((text) => text.textContent.endsWith("(viewer)")));
    const across = (at) => at.left <= name.left && at.right >= name.right;
    const around = (at) => across(at) && at.top <= name.top && at.bottom >= name.bottom;
    const panel = all(":is(rect, use)").map(box).filter(around).sort((a, b) => a.width - b.width)[0];
    return panel.left - box(document.querySelector(".board")).left;
}"""
"""Where the panel of the seat begins in the frame of the board."""


@pytest.mark.parametrize("game", SHORT)
def test_on_a_phone_a_seat_sees_its_own_panel_first(browser: Any, house: Any, base: str, game: str) -> None:
    """Wherever it is on the board, it begins near the frame's left edge."""
    table, tokens = table_of(house, game, [PERSON] * SHORT[game]["players"])
    for seat, token in enumerate(tokens):
        with page_of(browser, width=360, height=700) as page:
            page.goto(f"{base}/seat/{token}")
            page.locator(".board svg").wait_for()
            assert 0 <= page.evaluate(PANEL_STARTS) < 40, seat
            assert page.evaluate("scrollY") == 0


@pytest.mark.parametrize("game", but_slow(SHORT, "kepler_run"))
def test_on_a_phone_a_view_of_a_film_shows_its_seats_panel_first(browser: Any, tmp_path: Path, game: str) -> None:
    """Then the board stays where the reader moves it, as long as the view is the same."""
    config = registry.load_game(game).configure(SHORT[game]["players"])
    start = Snapshot.deal(config, 3)
    replay = record(config, 3, [start.legal_actions()[0]], ["a person"] * config.num_players)
    (tmp_path / "game.html").write_text(replay_page(replay, "a game"), encoding="utf-8")
    with page_of(browser, width=360, height=700) as page:
        page.goto((tmp_path / "game.html").as_uri())
        board = page.locator(".board")
        for seat in range(config.num_players):
            page.locator("select.view").select_option(str(seat))
            page.locator(".board", has_text=f"seen by player_{seat}").wait_for()
            assert 0 <= page.evaluate(PANEL_STARTS) < 40, seat
        board.evaluate("board => board.scrollTo(77, 0)")
        page.keyboard.press("ArrowRight")
        page.locator(".board[data-at='1']").wait_for()
        assert board.evaluate("board => board.scrollLeft") == 77


def test_a_board_stays_where_the_reader_moved_it(browser: Any, house: Any, base: str) -> None:
    table, tokens = table_of(house, "kitten_adventurers", [PERSON, PERSON])
    with page_of(browser, width=360, height=700) as page:
        page.goto(f"{base}/seat/{tokens[table.position.seat]}")
        board = page.locator(".board")
        page.locator(".moves button").first.wait_for()
        board.evaluate("board => board.scrollTo(77, 0)")
        version = table.version
        page.locator(".moves button").first.click()
        page.locator(f".board:not([data-version='{version}'])").wait_for()
        assert board.evaluate("board => board.scrollLeft") == 77


def test_a_board_is_read_in_words(browser: Any, house: Any, base: str) -> None:
    """For who cannot see it: as the seat sees it, after every decision, and in every view of the whole game."""
    table, tokens = table_of(house, "kitten_adventurers", [PERSON, PERSON])
    seat = table.position.seat
    with page_of(browser, width=360) as page:
        words = page.locator("pre")
        page.goto(f"{base}/seat/{tokens[seat]}")
        page.get_by_text("The board in words").click()
        assert words.inner_text() == table.position.text(seat)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        version = table.version
        page.locator(".moves button").first.click()
        page.locator(f".board:not([data-version='{version}'])").wait_for()
        assert words.inner_text() == table.position.text(seat), "it stays open"
        while not table.position.over:
            table.decide(table.position.seat, table.position.legal_actions()[0])
        page.goto(f"{base}/film/{table.film_token}")
        page.locator("summary").wait_for()
        page.locator("summary").press("Space")  # which plays the game elsewhere
        start = Snapshot.deal(table.config, table.replay.seed)
        for view, seen in (("open", None), ("1", 1)):
            page.locator("select.view").select_option(view)
            wait_until(page, lambda seen=seen: words.inner_text() == start.text(seen))
        words.press("ArrowRight")
        wait_until(page, lambda: words.evaluate("words => words.scrollLeft") > 0)


def test_what_grounds_tell_is_seen_in_forced_colours(browser: Any, house: Any, base: str) -> None:
    """High contrast leaves grounds out, so that the bars of advice would not be there. Borders stay."""
    table, tokens = table_of(house, "kitten_adventurers")
    settle(table)
    with page_of(browser, forced_colors="active") as page:
        page.goto(f"{base}/seat/{tokens[0]}")
        page.locator(".moves .key").first.wait_for()
        page.get_by_text("What would it do?").click()
        bar = page.locator(".moves .bar").first
        bar.wait_for()
        ground, border, width = bar.evaluate(
            "bar => ['backgroundColor', 'borderBottomColor', 'borderBottomWidth'].map(of => getComputedStyle(bar)[of])"
        )
        assert border != ground and float(width.removesuffix("px")) >= 2


SMALLEST_SCALE = 0.6
"""Of the board: its letters of 11 to 13 units are 7 to 8 pixels high then."""


def test_the_board_is_large_enough_to_read(browser: Any, house: Any, base: str) -> None:
    """Its scale at the widths of phones, tablets, laptops and desks."""
    _, tokens = table_of(house, "kitten_adventurers")
    for width in (360, 768, 960, 1024, 1200, 1201, 1440):
        with page_of(browser, width=width) as page:
            page.goto(f"{base}/seat/{tokens[0]}")
            page.locator(".board svg").wait_for()
            drawn = page.locator(".board svg").evaluate(
                "svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width"
            )
            assert drawn >= SMALLEST_SCALE, width


@pytest.mark.parametrize("width", [1440, 320])
def test_long_names_do_not_push_the_score_out_of_sight(browser: Any, house: Any, base: str, width: int) -> None:
    """Nothing of the result has to be scrolled to, on the page of a seat and on that of the whole game."""
    table, tokens = table_of(house, "kitten_adventurers", [PERSON, PERSON])
    while not table.position.over:
        table.decide(table.position.seat, table.position.legal_actions()[0])
    table.seats[1].spec = "long_name" * 20
    table.replay.agents[:] = table.names
    for path in (f"/seat/{tokens[0]}", f"/film/{table.film_token}"):
        with page_of(browser, width=width) as page:
            page.goto(base + path)
            page.locator(".results").wait_for()
            rows = page.locator(".results tr").evaluate_all(
                "rows => rows.map((row) => row.getBoundingClientRect().right)"
            )
            box = page.locator(".results").bounding_box()
            assert len(rows) == 3 and max(rows) < box["x"] + box["width"] - 10
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


SMALLEST_LABEL = 9  # pixels


@pytest.mark.parametrize("width", [360, 1200, 1440])
def test_words_of_a_plot_are_large_enough_to_read(browser: Any, house: Any, base: str, width: int) -> None:
    """And do not run into one another, nor over the edge."""
    film = Film(registry.load_game("kitten_adventurers").configure(2), 1, ["greedy"] * 2, "a game")
    token = house.add_film(film)
    with page_of(browser, width=width) as page:
        page.goto(f"{base}/film/{token}")
        page.locator(".plot text").first.wait_for()
        for plot in page.locator(".plot").all():
            words = plot.locator("text").evaluate_all(
                "words => words.map((text) => [parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a,"
                " text.getBoundingClientRect().left, text.getBoundingClientRect().right])"
            )
            assert min(size for size, _, _ in words) >= SMALLEST_LABEL
            (_, _, end), (_, start, _) = words[-1], words[-2]
            assert end < start - 4 and plot.evaluate("plot => plot.getBoundingClientRect().left") <= words[0][1]
            assert plot.bounding_box()["height"] < 400


CONTRAST = """
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (...colours) => {
    const [a, b] = colours.map(light).sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
"""
"""Of two colours, as WCAG defines it, each by its channels, 0..255."""

LOW_CONTRAST = (
    f"() => {{{CONTRAST}"
    + """
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const ground = (element) => {
    const bar = element.parentElement.querySelector(":scope > .bar"); // of advice, behind the words of a move
    if (bar) return channels(getComputedStyle(bar).backgroundColor);
    for (; element; element = element.parentElement) {
      const found = channels(getComputedStyle(element).backgroundColor);
      if (found.length < 4 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const element of document.querySelectorAll("body *:not(svg *)")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.matches(":disabled")) continue;
    const found = contrast(channels(getComputedStyle(element).color), ground(element));
    if (found < 4.5) low.push(`${element.tagName} ${element.textContent.slice(0, 40)} ${found.toFixed(2)}`);
  }
  return low;
}
"""
)


TICKS = """async () => {
  const { Plot } = await import("/static/plot.js"), plot = new Plot(() => {});
  plot.show([[-0.96], [0.9]], ["greedy"], "returns");
  return [...plot.svg.querySelectorAll("text")].slice(0, 3).map((text) => text.textContent);
}"""


def test_a_legend_has_the_lines_of_its_plot(browser: Any, house: Any, base: str) -> None:
    """Seats are told apart by dashes alone, too. Their colours are those of the board, and seen in both schemes."""
    config = registry.load_game("ad_astra").configure(5)
    film = Film(config, 1, ["greedy"] * 5, "a game")
    token, colours = house.add_film(film), film.story()["colours"]
    look = "lines => lines.map(line => [line.getAttribute('stroke-dasharray'), getComputedStyle(line).stroke])"
    with page_of(browser) as page:
        page.goto(f"{base}/film/{token}")
        page.locator(".legend span").nth(4).wait_for()
        plot = page.locator(".plot").first.locator("path:not(.axis)").evaluate_all(look)
        legend = page.locator(".legend").first.locator("svg path")
        assert page.evaluate(TICKS) == ["-1.0", "0.0", "0.9"]
        assert legend.evaluate_all(look) == plot and len({dashes for dashes, _ in plot}) == 5
        box = legend.first.bounding_box()
        assert box is not None and box["width"] > 30
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            seen = legend.evaluate_all(STROKES)
            assert all(colours[seat] in at["made"] and at["contrast"] >= 3 for seat, at in enumerate(seen)), seen


@pytest.mark.parametrize("game", ["ad_astra", "kepler_run"])
def test_a_page_is_told_the_colours_of_the_board(game: str) -> None:
    config = registry.load_game(game).configure(5)
    position = Snapshot.deal(config, 1)
    colours = seat_colours(position)
    assert len(set(colours)) == 5 and all(f'"{colour}"' in position.drawing().svg() for colour in colours)
    assert seat_colours(Snapshot.deal(registry.load_game("kitten_adventurers").configure(2), 1)) == []


STROKES = (
    f"lines => {{{CONTRAST}"
    + """
  const brush = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const channels = (colour) => {
    brush.fillStyle = colour;
    brush.fillRect(0, 0, 1, 1);
    return [...brush.getImageData(0, 0, 1, 1).data];
  };
  const ground = channels(getComputedStyle(lines[0].closest("section")).backgroundColor);
  return lines.map((line, seat) => {
    const made = getComputedStyle(line).getPropertyValue(`--seat-${seat}`);
    return { contrast: contrast(channels(getComputedStyle(line).stroke), ground), made };
  });
}
"""
)


def test_a_table_with_cards_of_one_s_own(browser: Any, tmp_path: Path) -> None:
    mine = kittens_with(7, tmp_path / "mine.toml")
    with house_in(tmp_path / "tables", components=[mine]) as house, serving(house) as base, page_of(browser) as page:
        page.goto(f"{base}/host/{house.host_token}")
        form = page.locator("section", has_text="Allow asking bots").first
        form.wait_for()
        game, bots = form.locator("[name=game]"), form.locator("[name=seat-1] option")
        components = form.locator("[name=components]")
        game.select_option("Ad Astra")
        assert not components.is_visible(), "there are none for this game"
        game.select_option("Kitten Adventurers")
        assert "best" in bots.all_inner_texts()
        components.select_option("mine.toml")
        assert bots.all_inner_texts() == ["person", "greedy", "mcts:300", "mcts:1000", "uniform", "another bot ..."]
        form.locator(".open-table").click()
        page.wait_for_url("**/seat/*")
        page.locator(".board svg").wait_for()
        assert page.locator("header .faint").inner_text().endswith("; components = mine.toml"), "whoever plays is told"
        (number,) = house.numbers
        assert house.table(number).config.components == mine


def test_a_long_name_of_a_component_file_fits_a_phone(browser: Any, tmp_path: Path) -> None:
    mine = kittens_with(7, tmp_path / f"kittens{'_with_more_wild_cards' * 8}.toml")
    with (
        house_in(tmp_path / "tables", components=[mine]) as house,
        serving(house) as base,
        page_of(browser, 360, 740) as page,
    ):
        page.goto(f"{base}/host/{house.host_token}")
        page.locator("[name=game]").first.select_option("Kitten Adventurers")
        page.locator("[name=components]").first.select_option(mine.name)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_watching_and_stepping(browser: Any, house: Any, base: str) -> None:
    with page_of(browser) as page:
        page.goto(f"{base}/host/{house.host_token}")
        form = page.locator("section", has_text="Watch bots").first
        form.locator("[name=seat-0]").select_option("another bot ...")
        form.get_by_label("bot of player_0").fill("uniform")
        form.locator("[name=seat-1]").select_option("best")
        form.get_by_label("Players").select_option("3")
        assert form.locator("[name=seat-1]").input_value() == "best", "what was chosen stays"
        page.locator(".watch").click()
        page.wait_for_url("**/film/*")
        page.locator(".board svg").wait_for()
        film = house.film(page.url.rpartition("/")[2])
        assert film.replay.agents == ["uniform", "best", "greedy"]
        wait_until(page, lambda: not film.growing)
        page.locator(".results").wait_for()
        assert page.locator("th[scope=col]").all_inner_texts() == ["rank", "seat", "who", "score", "reward"]
        last = len(film.positions) - 1
        page.keyboard.press("/")
        assert page.locator(":focus").get_attribute("aria-label") == "filter the moves"
        page.keyboard.press("Escape")
        slider = page.locator("main input[type=range]")
        before = slider.input_value()
        page.locator(".moves").focus()
        page.keyboard.press("PageDown")
        assert slider.input_value() == before, "a list without buttons is scrolled with keys"
        page.locator(":focus").blur()
        page.keyboard.press("End")
        page.locator(f".board[data-at='{last}']").wait_for()
        page.keyboard.press("Home")
        page.locator(".board[data-at='0']").wait_for()
        page.keyboard.press("Space")
        page.get_by_role("button", name="Pause", exact=True).wait_for()
        page.locator(".board[data-at='1']").wait_for()
        page.keyboard.press("Home")
        assert page.get_by_title("play or pause (space)").inner_text() == "Play", "it stays where the reader went"
        page.keyboard.press("ArrowRight")
        page.locator(".board[data-at='1']").wait_for()
        page.locator(".heard button").first.focus()
        page.keyboard.press("ArrowDown")
        focused = "[document.activeElement.closest('li').className, getComputedStyle(document.activeElement).outline]"
        where, outline = page.evaluate(focused)
        assert where == "" and "solid 3px" in outline, "the second decision has the focus, and shows it"
        page.keyboard.press("Enter")
        page.locator(".board[data-at='2']").wait_for()
        assert page.locator("li.now :focus").count(), "and keeps it"
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Tab")
        assert page.locator(":focus").count() and not page.locator(".heard :focus").count(), "one stop of the Tab key"
        page.keyboard.press("Shift+Tab")
        assert page.locator(".heard :focus").inner_text().startswith("3 "), "where it was"
        page.keyboard.press("ArrowLeft")
        page.locator(".board[data-at='1']").wait_for()
        page.locator(".view").select_option("1")
        hidden = film.positions[1].drawing(1).svg().count("a covered card")
        page.locator(".board", has_text="seen by player_1").wait_for()
        assert page.locator(".board").inner_html().count("a covered card") == hidden > 0
        page.locator(".drop").first.click()
        page.locator(".board:not([data-at='1'])").wait_for()
        page.locator("main input[type=range]").fill("5")
        page.locator(".board[data-at='5']").wait_for()


def test_a_replay_file_is_opened(browser: Any, house: Any, base: str, tmp_path: Path) -> None:
    table, tokens = table_of(house, "kitten_adventurers")
    chance = random.Random(3)
    while not table.position.over:
        settle(table)
        if not table.position.over:
            table.decide(0, chance.choice(table.position.legal_actions()))
            house.play_on(table)
    saved = tmp_path / "mine.jsonl"
    saved.write_bytes(client_of(house).get(f"/api/seat/{tokens[0]}/replay").content)
    with page_of(browser) as page:
        page.goto(f"{base}/host/{house.host_token}")
        page.locator("input[type=file]").set_input_files(saved)
        page.wait_for_url("**/film/*")
        page.locator(".board svg").wait_for()
        assert "mine.jsonl" in page.locator("header").inner_text()


SHOWN = """(hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
"""A page goes into the background, or comes back. Headless pages are all in front."""


def wait_until(page: Any, true: Callable[[], bool]) -> None:
    """For what no locator finds; the page's policy forbids playwright's own way."""
    end = time.monotonic() + LONGEST_WAIT
    while not true():
        assert time.monotonic() < end
        page.wait_for_timeout(50)


@slow
def test_pages_in_the_background_leave_connections_to_others(browser: Any, house: Any, base: str) -> None:
    """A browser has six connections to a server. Who comes back to a page sees what has changed."""
    table, tokens = table_of(house, "kitten_adventurers", [PERSON, PERSON])
    with page_of(browser) as first:
        pages = [first, *(first.context.new_page() for _ in range(7))]
        for page in pages:
            page.goto(f"{base}/seat/{tokens[0]}")
            page.locator(".board svg").wait_for()
            page.evaluate(SHOWN, True)
        table.decide(table.position.seat, table.position.legal_actions()[0])
        first.evaluate(SHOWN, False)
        first.locator(f".board[data-version='{table.version}']").wait_for()


@slow
def test_a_page_in_the_background_still_says_whose_turn_it_is(browser: Any, house: Any, base: str) -> None:
    table, tokens = table_of(house, "kitten_adventurers", [PERSON, PERSON])
    waiting = 1 - table.position.seat
    with page_of(browser) as page:
        page.goto(f"{base}/seat/{tokens[waiting]}")
        page.locator(".board svg").wait_for()
        page.evaluate(SHOWN, True)
        while table.position.seat != waiting:
            table.decide(table.position.seat, table.position.legal_actions()[-1])
        wait_until(page, lambda: page.title().startswith("Your turn"))


STREAM = "window.EventSource = class extends EventSource { constructor(path) { super(path); window.stream = this; } };"


def test_news_that_comes_late_closes_no_menu(browser: Any, house: Any, base: str) -> None:
    """The answer to a decision may overtake the event that tells an earlier one."""
    table, tokens = table_of(house, "kitten_adventurers")
    settle(table)
    with page_of(browser) as page:
        page.add_init_script(STREAM)
        page.goto(f"{base}/seat/{tokens[0]}")
        page.locator(".board .can[aria-label*=' moves: '] > .ring").first.dispatch_event("click")
        page.locator(".menu button").first.wait_for()
        page.evaluate("(late) => window.stream.onmessage({ data: late })", str(table.version - 1))
        page.wait_for_timeout(500)
        assert page.locator(".menu").is_visible()


@slow
def test_a_page_goes_on_with_a_server_that_was_started_again(browser: Any, tmp_path: Path) -> None:
    """Undoing counts as a change, but is not in the saved game."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = browser.new_context()  # the browser says on the console that nobody answers
    try:
        page = context.new_page()
        with house_in(tmp_path) as house, serving(house, port) as base:
            table, tokens = table_of(house, "kitten_adventurers", [PERSON, PERSON])
            mover = table.position.seat
            page.goto(f"{base}/seat/{tokens[mover]}")
            for _ in range(3):
                table.decide(mover, table.position.legal_actions()[0])
                table.undo(mover)
            page.locator(f".board[data-version='{table.version}']").wait_for()
        page.locator("[role=alert]", has_text="Trying again").wait_for()
        with house_in(tmp_path) as house, serving(house, port):
            table, _ = house.seat(tokens[mover])
            page.locator(f".board[data-version='{table.version}']").wait_for()
            assert decide(page, random.Random(3)) and len(table.heard) == 1
    finally:
        context.close()


def test_who_plays_alone_is_told_of_no_others_and_has_no_rank(browser: Any, house: Any, base: str) -> None:
    table, tokens = table_of(house, "kepler_3042", [PERSON], players=1, options={"level": "2"})
    chance = random.Random(1)
    while not table.position.over:
        table.decide(0, chance.choice(table.position.legal_actions()))
    with page_of(browser) as page:
        page.goto(f"{base}/seat/{tokens[0]}")
        page.locator(".results").wait_for()
        assert page.locator("header .faint").first.inner_text() == "you are player_0; level = 2"
        assert page.locator(".results th").all_inner_texts() == ["seat", "who", "score", "reward"]


def test_a_page_goes_on_after_what_is_in_front_of_the_server_has_failed(browser: Any, house: Any, base: str) -> None:
    """A browser asks no more once a stream of events is refused, and one answer may get lost."""
    table, tokens = table_of(house, "kitten_adventurers", [PERSON, PERSON])
    context = browser.new_context()  # the browser says on the console what is refused
    try:
        page = context.new_page()
        page.route("**/api/**", lambda route: route.fulfill(status=502, body="bad gateway"))
        page.goto(f"{base}/seat/{tokens[0]}")
        page.locator("[role=alert]", has_text="status 502").wait_for()
        page.unroute("**/api/**")
        page.locator(".board svg").wait_for()
        assert page.locator("[role=alert]").first.inner_text() == ""
        table.decide(table.position.seat, table.position.legal_actions()[0])
        page.locator(f".board[data-version='{table.version}']").wait_for()
    finally:
        context.close()


def test_a_finished_game_needs_no_connection(browser: Any, house: Any, base: str) -> None:
    table, tokens = table_of(house, "kitten_adventurers", [PERSON, PERSON])
    with page_of(browser) as page:
        page.goto(f"{base}/seat/{tokens[0]}")
        with page.expect_event("requestfailed", lambda request: request.url.endswith("/events")):  # closed by the page
            while not table.position.over:
                table.decide(table.position.seat, table.position.legal_actions()[0])
        page.locator(".results").wait_for()


@slow
def test_what_is_wrong_with_a_form_is_said_where_its_button_is(browser: Any, house: Any, base: str) -> None:
    """On a screen on which the button is far below the start of the page."""
    with page_of(browser, width=390, height=500) as page:
        page.goto(f"{base}/host/{house.host_token}")
        form = page.locator("section", has_text="Watch bots").first
        form.locator("summary").click()
        form.get_by_placeholder("drawn").fill("-1")
        page.locator(".watch").click()
        said = page.get_by_text("A seed is a whole number.")
        said.wait_for()
        place = "words => [words.getBoundingClientRect().top, innerHeight - words.getBoundingClientRect().bottom]"
        assert min(said.evaluate(place)) >= 0, "it is on the screen"
        assert page.locator(":focus").inner_text() == "Watch"


@slow
def test_the_list_of_tables_keeps_up(browser: Any, tmp_path: Path) -> None:
    """Without disturbing who types, or is about to click."""
    with house_in(tmp_path) as house, serving(house) as base, page_of(browser) as page:
        table, _ = table_of(house, "kitten_adventurers", [PERSON, PERSON])
        gone, _ = table_of(house, "kitten_adventurers", [PERSON, PERSON])
        page.goto(f"{base}/host/{house.host_token}")
        headings = page.locator(".one-table h3")
        headings.nth(1).wait_for()
        oldest = "Table 1: Kitten Adventurers"
        assert headings.nth(1).inner_text() == f"{oldest}, 0 decisions, player_{table.position.seat} decides"
        names = page.locator(".one-table button").evaluate_all("buttons => buttons.map((button) => button.ariaLabel)")
        assert names == [f"Delete table {number}, Kitten Adventurers, and its game" for number in (2, 1)]
        seed, delete = page.get_by_placeholder("drawn").first, page.locator(".one-table button").last
        page.locator("summary").first.click()
        seed.fill("12")
        delete.focus()
        delete.evaluate("button => { window.before = button; }")

        table.decide(table.position.seat, table.position.legal_actions()[0])
        house.close_table(gone.number)
        added, _ = table_of(house, "kepler_run", [PERSON, PERSON])
        wait_until(page, lambda: "Kepler Run" in headings.first.inner_text())
        assert headings.nth(1).inner_text() == f"{oldest}, 1 decision, player_{table.position.seat} decides"
        assert headings.count() == 2 and seed.input_value() == "12"
        assert page.evaluate("document.activeElement === window.before && window.before.isConnected")

        page.evaluate(SHOWN, True)
        house.close_table(added.number)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.wait_for_timeout(3500)
        assert not asked and headings.count() == 2
        page.evaluate(SHOWN, False)
        wait_until(page, lambda: headings.count() == 1)
        house.close_table(table.number)
        page.locator(".one-table").wait_for(state="detached")
        assert not page.get_by_text("Give each person the link").is_visible()


def test_a_deleted_table_is_said_to_be_gone(browser: Any, house: Any, base: str) -> None:
    table, tokens = table_of(house, "kitten_adventurers", [PERSON, PERSON])
    context = browser.new_context()  # the browser says on the console that the link leads nowhere
    try:
        page = context.new_page()
        page.goto(f"{base}/seat/{tokens[0]}")
        page.locator(".board svg").wait_for()
        house.close_table(table.number)
        gone = page.locator("[role=alert]", has_text="the table was closed")
        gone.wait_for(timeout=15_000)
        page.reload()
        gone.wait_for()
        assert page.get_by_role("button").all_inner_texts() == ["colours: auto"], "nothing else would do anything"
        assert page.get_by_role("heading").all_inner_texts() == ["kepler_envs"]
    finally:
        context.close()


@pytest.fixture
def growing(house: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Any, threading.Event]]:
    """A game that bots play slowly until they are told: its token, its film, and the event that tells them."""
    decide, told, slow = Players.decide, threading.Event(), threading.Event()

    def slowly(players: Players, spec: str, position: Any) -> int:
        if threading.current_thread().name == "film" and not told.is_set():
            slow.wait(0.1)
        return decide(players, spec, position)

    monkeypatch.setattr(Players, "decide", slowly)
    token = house.watch(forms.configuration("kitten_adventurers", 2, {}), ["greedy", "greedy"], 5)
    try:
        yield token, house.film(token), told
    finally:
        told.set()


def test_a_watched_game_can_be_studied_while_it_is_played(browser: Any, base: str, growing: Any) -> None:
    """News of later decisions leaves alone what the reader does at an earlier one."""
    token, film, told = growing
    with page_of(browser) as page:
        page.goto(f"{base}/film/{token}")
        page.locator(".board svg").wait_for()
        page.get_by_title("play or pause (space)").click()
        page.keyboard.press("Home")
        page.locator(".board[data-at='0']").wait_for()
        page.get_by_text("What would it do?").click()
        page.locator(".moves .bar").first.wait_for()
        page.get_by_label("filter the moves").fill("e")
        page.evaluate(
            "new MutationObserver(() => { window.loud = true; })"
            ".observe(document.querySelector('.prompt'), { childList: true })"
        )
        listed = page.locator(".side .heard li").count()
        known = len(film.replay.actions)
        slider = page.locator("main input[type=range]")
        wait_until(page, lambda: int(slider.get_attribute("max")) > known + 5)
        assert film.growing
        assert page.get_by_label("filter the moves").input_value() == "e"
        assert page.locator(".moves .bar").count() and not page.evaluate("window.loud")
        assert int(page.locator(".prompt").inner_text().split()[2]) > known + 5
        assert page.locator(".side .heard li").count() > listed
        words = page.locator(".side .heard li").all_inner_texts()
        assert [int(text.split()[0]) for text in words] == list(range(1, len(words) + 1))
        told.set()
        page.locator(".results").wait_for()


def test_what_was_decided_is_marked_in_a_game_that_was_watched_live(browser: Any, house: Any, base: str) -> None:
    """A page first sees a position before anything has been decided there."""
    film = Film(forms.configuration("kitten_adventurers", 2, {}), 5, ["greedy", "greedy"], "a game")
    film.growing = True
    token = house.add_film(film)
    with page_of(browser) as page:
        page.goto(f"{base}/film/{token}")
        for last in range(1, 4):
            page.locator(f".board[data-at='{last - 1}'] svg").wait_for()
            assert page.locator(".moves .move").count() > 1 and page.locator(".moves .taken").count() == 0
            film.add(film.positions[-1].legal_actions()[0])
        page.locator(".board[data-at='3']").wait_for()
        for at in (2, 1, 0):
            page.keyboard.press("ArrowLeft")
            page.locator(f".board[data-at='{at}']").wait_for()
            taken = page.locator(".moves li", has=page.locator(".taken")).get_attribute("data-action")
            assert int(taken) == film.replay.actions[at]
    house.close_film(token)


@slow
def test_the_page_of_a_film_outlives_a_server_that_does_not_answer(browser: Any, base: str, growing: Any) -> None:
    """It says so, and goes on when the server is back."""
    token, film, told = growing
    context = browser.new_context()  # the browser says on the console that nobody answers
    try:
        page = context.new_page()
        page.goto(f"{base}/film/{token}")
        page.locator(".board svg").wait_for()
        page.route("**/api/film/**", lambda route: route.abort())
        page.get_by_text("Trying again").wait_for()
        page.keyboard.press("End")
        page.locator(".picture [role=alert]", has_text="does not answer").wait_for()
        assert page.get_by_title("play or pause (space)").inner_text() == "Play"
        page.unroute("**/api/film/**")
        told.set()
        page.locator(".results").wait_for()
        assert not page.get_by_text("Trying again").count()
        page.keyboard.press("End")
        page.locator(f".board[data-at='{len(film.replay.actions)}']").wait_for()
        assert not page.get_by_text("does not answer").count()
    finally:
        context.close()
