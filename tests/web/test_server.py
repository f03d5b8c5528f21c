"""The server: playing a game through its API, who may do what, requests that are not as they must be, going on after a
crash."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kepler_envs
from kepler_envs import ComponentError, registry
from kepler_envs.bots.published import find_published, published_path
from kepler_envs.bots.search import MctsConfig, search
from kepler_envs.cli import main
from kepler_envs.cli.common import UsageError
from kepler_envs.cli.serve import Serve
from kepler_envs.engine.replay import configuration_of, read_replay, record, verify, write_replay
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.terminal import make_console
from kepler_envs.web import UnknownError, WebError, api
from kepler_envs.web.advice import SEED, advise
from kepler_envs.web.cards import cards_of
from kepler_envs.web.expectations import Expectations
from kepler_envs.web.films import Film
from kepler_envs.web.players import Players
from kepler_envs.web.views import bots_to_ask
from tests.component_file import kittens_with, own_rows, write_rows
from tests.effort import only_deep, slow
from tests.waiting import LONGEST_WAIT, wait_until
from tests.web.serving import SHORT, client_of, form, house_in, new_table, serving, settle

GAME = "kitten_adventurers"
BEST_NETWORK = f"{GAME}/{find_published('best', GAME).stem}"
PERSON = "person"


class Room:
    """A house with a client, for short."""

    def __init__(self, house: Any) -> None:
        self.house = house
        self.client = client_of(house)
        self.host = f"/api/host/{house.host_token}"

    def table(self, game: str = GAME, seats: list[str] | None = None, **more: Any) -> tuple[Any, list[str]]:
        return new_table(self.client, self.house, game, seats, **more)

    def view(self, token: str) -> dict[str, Any]:
        answer = self.client.get(f"/api/seat/{token}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def decide(self, token: str, action: int, version: int) -> Any:
        return self.client.post(f"/api/seat/{token}/decide", json={"action": action, "version": version})


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    with house_in(tmp_path / "tables") as house:
        yield Room(house)


def play_to_the_end(room: Room, table: Any, tokens: dict[int, str], pick: int = 0) -> int:
    """People take a legal action in turn; how many they took."""
    taken = 0
    while True:
        settle(table)
        if table.position.over:
            return taken
        assert not table.problem
        view = room.view(tokens[table.position.seat])
        assert view["yours"] and view["turn"] == view["seat"]
        action = view["actions"][(pick + taken) % len(view["actions"])]
        answer = room.decide(tokens[table.position.seat], action["id"], view["version"])
        assert answer.status_code == 200, answer.text
        taken += 1


# ---------------------------------------------------------------- playing

LONGEST = "kepler_3042"
"""Has no option that shortens it. It is played to its end in a browser."""


@pytest.mark.parametrize("game", [pytest.param(name, marks=[only_deep] if name == LONGEST else []) for name in SHORT])
def test_a_game_is_played_to_its_end_and_saved(room: Room, game: str, tmp_path: Path) -> None:
    table, tokens = room.table(game)
    assert play_to_the_end(room, table, {0: tokens[0]}) > 0
    view = room.view(tokens[0])
    assert view["over"] and not view["yours"] and len(view["results"]) == SHORT[game]["players"]
    saved = tmp_path / "saved.jsonl"
    saved.write_bytes(room.client.get(f"/api/seat/{tokens[0]}/replay").content)
    replay = read_replay(saved)
    assert verify(replay, configuration_of(replay, registry.load_game)).over
    assert replay.agents == table.names
    story = room.client.get(f"/api/film/{view['film']}").json()
    assert story["decisions"] == len(replay.actions) == len(story["told"]) == len(story["scores"]) - 1
    assert story["scores"][-1] == table.position.results()[1].tolist()
    frame = room.client.get(f"/api/film/{view['film']}/frames/{story['decisions']}/open").json()
    assert frame["picture"] == table.position.drawing().svg() and frame["turn"] is None


def test_two_people_at_one_table(room: Room) -> None:
    table, tokens = room.table(seats=[PERSON, PERSON])
    waiting = 1 - table.position.seat
    mover = room.view(tokens[1 - waiting])
    idle = room.view(tokens[waiting])
    assert mover["actions"] and not idle["actions"] and not idle["yours"] and idle["turn"] == 1 - waiting
    refused = room.decide(tokens[waiting], mover["actions"][0]["id"], mover["version"])
    assert refused.status_code == 409 and "turn of player" in refused.json()["error"]
    play_to_the_end(room, table, dict(enumerate(tokens)))
    assert room.view(tokens[0])["results"] == room.view(tokens[1])["results"]


def test_what_others_hide_is_told_in_public_words(room: Room) -> None:
    table, tokens = room.table("ad_astra", seats=[PERSON] * 3)
    mover = table.position.seat
    view = room.view(tokens[mover])
    assert view["question"] and not any(room.view(tokens[seat])["question"] for seat in range(3) if seat != mover)
    placed = view["actions"][0]
    room.decide(tokens[mover], placed["id"], view["version"])
    for seat, token in enumerate(tokens):
        told = room.view(token)["heard"][-1]
        assert told["words"] == (placed["words"] if seat == mover else "place an action card face down on space 1")
        assert told["number"] == 1 and told["news"] == (seat != mover)


def test_undo_takes_back_the_bots_answers(room: Room) -> None:
    table, tokens = room.table()
    settle(table)
    answers: list[Any] = []
    while not answers:  # the turn is not over while a lane is asked for
        before, digest, heard = room.view(tokens[0]), table.position.digest(), len(table.heard)
        end = next((action for action in before["actions"] if action["block"] == "END_WITH"), before["actions"][0])
        room.decide(tokens[0], end["id"], before["version"])
        settle(table)
        answers = table.heard[heard + 1 :]
    answered = room.view(tokens[0])
    assert all(answer.seat == 1 for answer in answers) and answered["undo"]
    undone = room.client.post(f"/api/seat/{tokens[0]}/undo", json={})
    assert undone.status_code == 200
    assert undone.json()["version"] > answered["version"], "or pages that wait for news would not be told"
    assert table.position.digest() == digest and len(table.heard) == heard
    assert room.view(tokens[0])["actions"] == before["actions"]


def test_no_undo_behind_another_person(room: Room) -> None:
    table, tokens = room.table(seats=[PERSON, PERSON])
    first = table.position.seat
    while table.position.seat == first:
        view = room.view(tokens[first])
        room.decide(tokens[first], view["actions"][-1]["id"], view["version"])
    assert room.view(tokens[first])["undo"]
    second = room.view(tokens[1 - first])
    room.decide(tokens[1 - first], second["actions"][0]["id"], second["version"])
    assert not room.view(tokens[first])["undo"]
    refused = room.client.post(f"/api/seat/{tokens[first]}/undo", json={})
    assert refused.status_code == 409 and "another person" in refused.json()["error"]


def test_no_undo_once_another_persons_secret_has_turned_up(room: Room) -> None:
    """The second one to keep a city in secret turns both up, and must not choose again with what that shows."""
    table, tokens = room.table("race_to_kepler", seats=[PERSON, PERSON])
    for count in range(2):
        mover = table.position.seat
        view = room.view(tokens[mover])
        assert view["actions"][0]["words"].startswith("keep ")
        assert room.decide(tokens[mover], view["actions"][0]["id"], view["version"]).status_code == 200
        if count == 0:
            assert room.view(tokens[mover])["undo"], "the city that was kept is known to whoever kept it"
    kept = table.position.digest()
    assert not room.view(tokens[mover])["undo"]
    refused = room.client.post(f"/api/seat/{tokens[mover]}/undo", json={})
    assert refused.status_code == 409 and "seen something new" in refused.json()["error"]
    assert table.position.digest() == kept


def test_undo_says_nothing_of_what_a_bot_decided_in_secret(room: Room) -> None:
    """Whether a decision may be taken back would else depend on the card that the bot has put face down."""
    table, tokens = room.table("ad_astra", seats=[PERSON, PERSON, "uniform"])
    chance, secret = random.Random(1), 0
    while secret < 3:
        settle(table)
        mover, decided = table.position.seat, len(table.heard)
        view = room.view(tokens[mover])
        assert room.decide(tokens[mover], chance.choice(view["actions"])["id"], view["version"]).status_code == 200
        settle(table)
        answers = table.heard[decided + 1 :]
        if any(heard.own != heard.public for heard in answers):
            assert not room.view(tokens[mover])["undo"]
            secret += 1


def test_one_person_alone_may_undo_what_showed_something(room: Room) -> None:
    table, tokens = room.table("race_to_kepler", seats=[PERSON, "greedy"])
    settle(table)
    view = room.view(tokens[0])
    room.decide(tokens[0], view["actions"][0]["id"], view["version"])
    settle(table)
    assert len(table.heard) >= 2 and room.view(tokens[0])["undo"]


def test_a_decision_about_an_older_view_is_refused(room: Room) -> None:
    table, tokens = room.table(seats=[PERSON, PERSON])
    view = room.view(tokens[table.position.seat])
    digest = table.position.digest()
    refused = room.decide(tokens[table.position.seat], view["actions"][0]["id"], view["version"] - 1)
    assert refused.status_code == 409 and table.position.digest() == digest


def watched(room: Room, seats: list[str], **more: Any) -> str:
    asked = {name: value for name, value in form(GAME, seats, **more).items() if name != "advice"}
    return room.client.post(f"{room.host}/watch", json=asked).json()["token"]


def wait_for_the_end_of(film: Film) -> None:
    wait_until(lambda: not film.growing, "the game")


def test_watching_bots(room: Room) -> None:
    token = watched(room, ["greedy", "uniform"])
    wait_for_the_end_of(room.house.film(token))
    story = room.client.get(f"/api/film/{token}").json()
    assert not story["growing"] and story["results"] and story["seats"] == ["greedy", "uniform"]
    later = room.client.get(f"/api/film/{token}?from=3").json()
    assert later["told"] == story["told"][3:] and later["scores"] == story["scores"][3:]
    text = room.client.get(f"/api/film/{token}/replay").text
    again = room.client.post(f"{room.host}/replays", json={"name": "game.jsonl", "text": text}).json()["token"]
    assert room.client.get(f"/api/film/{again}").json()["told"] == story["told"]


def test_a_seed_that_is_given_deals_the_game_that_is_watched(room: Room) -> None:
    film = room.house.film(watched(room, ["uniform", "uniform"], seed="7"))
    dealt = Snapshot.deal(configuration_of(film.replay, registry.load_game), 7)
    assert film.replay.seed == 7 and film.positions[0].digest() == dealt.digest()


def test_results_are_those_of_the_last_position(room: Room) -> None:
    """Of a game in which no two seats have the same score."""
    names = ["greedy", "uniform", "mcts:1"]
    token = watched(room, names, players=3, seed="8")
    film = room.house.film(token)
    wait_for_the_end_of(film)
    ranks, scores, returns = film.positions[-1].results()
    assert len(set(scores.tolist())) == 3
    rows = room.client.get(f"/api/film/{token}").json()["results"]
    assert [row["rank"] for row in rows] == [1, 2, 3]
    for row in rows:
        seat = row["seat"]
        assert (row["name"], row["rank"], row["score"]) == (names[seat], ranks[seat], scores[seat])
        assert row["reward"] == pytest.approx(returns[seat], abs=1e-3)


def test_a_watched_game_is_there_after_a_restart(tmp_path: Path) -> None:
    with house_in(tmp_path) as house:
        room = Room(house)
        token = watched(room, ["greedy", "uniform"])
        wait_for_the_end_of(house.film(token))
        told = room.client.get(f"/api/film/{token}").json()
        again = room.client.post(
            f"{room.host}/replays",
            json={"name": "mine.jsonl", "text": room.client.get(f"/api/film/{token}/replay").text},
        ).json()["token"]
    with house_in(tmp_path) as house:
        room = Room(house)
        assert room.client.get(f"/api/film/{token}").json() == told
        assert room.client.get(f"/api/film/{again}").json()["label"] == "mine.jsonl"
        assert room.client.delete(f"{room.host}/films/{token}").status_code == 200
        assert room.client.get(f"/api/film/{token}").status_code == 404
        assert room.client.delete(f"{room.host}/films/{token}").status_code == 404
    with house_in(tmp_path) as house:
        assert [film["token"] for film in house.overview()["films"]] == [again]


def test_bots_play_a_watched_game_on_after_a_restart(tmp_path: Path) -> None:
    with house_in(tmp_path) as house:
        token = watched(Room(house), ["mcts:2000", "greedy"], options={})
        wait_until(lambda: len(house.film(token).positions) >= 4, "beginning")
    folder = tmp_path / next(path.parent.name for path in tmp_path.glob("*/film.json"))
    assert os.stat(folder).st_mode & 0o777 == 0o700
    first = read_replay(folder / "game.jsonl")
    assert first.final is None and len(first.actions) >= 3
    about = json.loads((folder / "film.json").read_text())
    (folder / "film.json").write_text(json.dumps({**about, "specs": ["greedy", "greedy"]}))  # no need to wait
    with house_in(tmp_path) as house:
        film = house.film(token)
        wait_for_the_end_of(film)
        assert film.positions[-1].over and film.replay.actions[: len(first.actions)] == first.actions
    assert read_replay(folder / "game.jsonl").final is not None


class Ponder:
    """Bots that do not decide before they may, and then as ever."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.thinking, self.may, self.done = threading.Event(), threading.Event(), threading.Event()
        self.others = threading.enumerate()  # games of earlier tests may take a while to end
        decide = Players.decide

        def ponder(players: Players, spec: str, position: Snapshot) -> int:
            self.thinking.set()
            self.may.wait(60)
            try:
                return decide(players, spec, position)
            finally:
                self.done.set()

        monkeypatch.setattr(Players, "decide", ponder)

    def ends(self) -> None:
        """Let them decide, and wait until their threads have ended."""
        self.may.set()
        assert self.done.wait(60)
        for thread in threading.enumerate():
            if thread.name in ("bots", "film") and thread not in self.others:
                thread.join(60)


@pytest.mark.parametrize("kind", ["watched", "table"])
def test_a_bot_that_thinks_on_after_the_end_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Else it would write over the game of the next server at this folder."""
    monkeypatch.setattr("kepler_envs.web.house.PATIENCE", 0.0)
    ponder = Ponder(monkeypatch)
    with house_in(tmp_path) as house:
        if kind == "watched":
            watched(Room(house), ["greedy", "greedy"])
        else:
            Room(house).table()  # of this seed, the second seat begins
        assert ponder.thinking.wait(60)
    (path,) = tmp_path.glob("*/game.jsonl")
    path.unlink()
    ponder.ends()
    assert not path.exists() and house.said == []


def test_what_others_changed_is_told(room: Room) -> None:
    """Groups of the picture that show something new since the seat's own last decision, in its own view."""
    table, tokens = room.table(seats=[PERSON, PERSON], options={})
    mover = table.position.seat
    view = room.view(tokens[mover])
    assert room.decide(tokens[mover], view["actions"][0]["id"], view["version"]).json()["news"] == []
    while table.position.seat == mover:
        table.decide(mover, table.position.legal_actions()[-1])
    left = table.position
    other = 1 - mover
    while table.position.seat == other:
        table.decide(other, table.position.legal_actions()[-1])
    news = room.view(tokens[mover])["news"]
    assert news == table.position.drawing(mover).changed_groups(left.drawing(mover)) and news
    assert room.view(tokens[other])["news"] == []


def test_choices_say_what_they_mean(room: Room) -> None:
    _, tokens = room.table("ad_astra", seats=[PERSON] * 3)
    views = [room.view(token) for token in tokens]
    mover = next(view for view in views if view["yours"])
    told = {action["words"]: action["more"] for action in mover["actions"]}
    assert told["place scoring card 1 on space 1"] == "colonies and factories or starships"
    assert told["place build card on space 1"] == ""


def test_expectations_of_the_published_network(room: Room) -> None:
    token = watched(room, ["greedy"] * 4, players=4, options={})
    film = room.house.film(token)
    wait_for_the_end_of(film)
    story = room.client.get(f"/api/film/{token}").json()
    assert story["expects"] == BEST_NETWORK
    assert film._expectations is None, "a network takes more memory than a game, and many games are shown"
    assert len(story["expected"]) == len(story["scores"])
    final = {row["seat"]: row["reward"] for row in story["results"]}
    assert story["expected"][-1] == pytest.approx([final[seat] for seat in range(4)], abs=1e-3)


def test_expectations_are_told_by_seat_whoever_is_to_move() -> None:
    config = kepler_envs.load_game(GAME).configure(4)
    expects, position = Expectations.of(config), Snapshot.deal(config, 3)
    assert expects is not None
    asked: set[int] = set()
    while not {1, 3} <= asked:
        values = expects.ask(position)[1]
        assert expects(position) == [round(float(values[(seat - position.seat) % 4]), 3) for seat in range(4)]
        asked.add(position.seat)
        position = position.apply(position.legal_actions()[0])


# ---------------------------------------------------------------- asking bots


def test_bots_are_asked(room: Room) -> None:
    table, tokens = room.table(options={})
    settle(table)
    legal = {action["id"] for action in room.view(tokens[0])["actions"]}
    before = table.position.digest()
    kinds = {"greedy": "choice", "best": "probabilities", "bc-v1": "probabilities", "mcts:50": "visits"}
    for bot, kind in kinds.items():
        said = room.client.post(f"/api/seat/{tokens[0]}/ask", json={"bot": bot})
        assert said.status_code == 200, said.text
        rows = said.json()["rows"]
        assert said.json()["kind"] == kind and {row["id"] for row in rows} == legal
        assert sum(row["share"] for row in rows) == pytest.approx(1, abs=0.01)
        assert [row["share"] for row in rows] == sorted((row["share"] for row in rows), reverse=True)
    assert table.position.digest() == before


@pytest.mark.parametrize(("bot", "shaped"), [("bc-v1", False), ("pool-v1", True), ("pool-v2", False)])
def test_an_answer_says_what_a_network_expects(room: Room, bot: str, shaped: bool) -> None:
    """One that learned from shaping rewards expects those, too; an imitation and one that ended without them do not."""
    table, tokens = room.table(seats=[PERSON] * 4, players=4, options={})
    note = room.client.post(f"/api/seat/{tokens[table.position.seat]}/ask", json={"bot": bot}).json()["note"]
    assert ("rewards for progress" in note) == shaped and "from -1 to 1" in note


def test_what_a_network_expects_is_told_of_the_seat_that_asks() -> None:
    config = kepler_envs.load_game(GAME).configure(4)
    position = Snapshot.deal(config, 3)
    while position.seat != 2:
        position = position.apply(position.legal_actions()[0])
    values = Expectations(f"{GAME}/bc-v1", config).ask(position)[1]
    assert len({round(float(value), 2) for value in values}) > 1
    assert f"a return of {values[0]:+z.2f}," in advise(position, "bc-v1")["note"]


def test_the_advice_of_a_search_is_what_it_found() -> None:
    position = Snapshot.deal(kepler_envs.load_game(GAME).configure(2), 3)
    found = search(position, MctsConfig.parse("60"), SEED)
    said = advise(position, "mcts:60")
    rows = said["rows"]
    assert said["note"].startswith("60 iterations; ") and advise(position, "mcts:1")["note"].startswith("1 iteration; ")
    assert any(row["value"] for row in rows)
    for row in rows:
        assert row["share"] == pytest.approx(found.visits[row["id"]] / found.visits.sum(), abs=1e-4)
        value = found.values[row["id"]]
        assert row["value"] == (None if np.isnan(value) else pytest.approx(value, abs=1e-3))
    tried, *others = advise(position, "mcts:1")["rows"]
    assert tried["share"] == 1 and tried["value"] is not None
    assert others and all((row["share"], row["value"]) == (0, None) for row in others), "JSON has no NaN"


def test_a_bot_that_there_is_not_is_refused_in_a_line(room: Room) -> None:
    """The page has a list of those that there are."""
    answer = room.client.post(f"{room.host}/tables", json=form(GAME, [PERSON, "gredy"]))
    assert answer.status_code == 400 and answer.json()["error"] == "there is no bot 'gredy': choose one from the list"
    table, tokens = room.table()
    settle(table)
    asked = room.client.post(f"/api/seat/{tokens[0]}/ask", json={"bot": "gredy"})
    assert asked.status_code == 400 and asked.json() == answer.json()


def test_networks_that_do_not_play_a_game_are_not_offered() -> None:
    kepler = kepler_envs.load_game("kepler_3042")
    pools, searches = ["pool-v1", "pool-v2", "pool-v3"], ["mcts:300", "mcts:1000"]
    assert bots_to_ask("kepler_3042", kepler.configure(1, level=3)) == ["greedy", "solo-v1", *searches]
    assert bots_to_ask("kepler_3042", kepler.configure(2)) == ["greedy", "best", "bc-v1", *pools, *searches]
    assert bots_to_ask("kepler_3042") == ["greedy", "best", "bc-v1", *pools, "solo-v1", *searches]


def test_who_may_ask_what(room: Room) -> None:
    table, tokens = room.table(seats=[PERSON, PERSON])
    waiting = tokens[1 - table.position.seat]
    assert room.client.post(f"/api/seat/{waiting}/ask", json={"bot": "greedy"}).status_code == 409
    mover = tokens[table.position.seat]
    for bot in ("mcts:9999999", "mcts:50000", "nobody", "x" * 5000):
        refused = room.client.post(f"/api/seat/{mover}/ask", json={"bot": bot})
        assert refused.status_code == 400 and len(refused.text) < 300, (bot, refused.text)
    other = room.client.post(f"/api/seat/{mover}/ask", json={"bot": "best"})  # which was trained for other options
    assert other.status_code == 400 and other.json()["error"].startswith(f"{BEST_NETWORK}.zip was trained")
    quiet, tokens = room.table(seats=[PERSON, PERSON], advice=False)
    assert room.client.post(f"/api/seat/{tokens[quiet.position.seat]}/ask", json={"bot": "greedy"}).status_code == 409


def test_more_questions_than_are_thought_about_at_once_are_turned_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import httpx2 as httpx

    thinking, answer = threading.Semaphore(0), threading.Event()

    def slowly(*asked: Any) -> dict[str, Any]:
        thinking.release()
        answer.wait(LONGEST_WAIT)
        return {"thought": True}

    monkeypatch.setattr(api, "advise", slowly)
    with house_in(tmp_path) as house, serving(house) as base, ThreadPoolExecutor() as pool:
        table, tokens = Room(house).table()
        settle(table)

        def ask() -> Any:
            asked = {"bot": "greedy"}
            return httpx.post(f"{base}/api/seat/{tokens[0]}/ask", json=asked, timeout=LONGEST_WAIT)

        asked = [pool.submit(ask) for _ in range(api.ASKED_AT_ONCE)]
        assert all(thinking.acquire(timeout=LONGEST_WAIT) for _ in asked)
        refused = ask()
        assert refused.status_code == 429
        assert refused.json()["error"] == "the server is thinking already: ask again in a moment"
        answer.set()
        assert [one.result().json() for one in asked] == [{"thought": True}] * api.ASKED_AT_ONCE
        assert ask().status_code == 200, "there is room again"


BOT = """
from pathlib import Path


class Lowest:
    def __init__(self, config):
        Path(__file__).with_name("loaded").touch()

    def start(self, rows, seeds): ...

    def act(self, decisions):
        return decisions.action_mask.argmax(axis=1)
"""


def test_no_bot_of_a_file_is_asked(room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it is there, and could answer: whoever has a seat must not run or read files of the server."""
    monkeypatch.setattr("kepler_envs.web.advice.LONGEST_SPEC", 5000)  # the path of a checkout may be long
    own, network = tmp_path / "own.py", published_path(*BEST_NETWORK.split("/"))
    own.write_text(BOT)
    table, tokens = room.table(seats=[PERSON, PERSON], options={})
    for bot in (f"python:{own}:Lowest", f"net:{network}", f"mcts:5,network=net:{network}"):
        refused = room.client.post(f"/api/seat/{tokens[table.position.seat]}/ask", json={"bot": bot})
        assert refused.status_code == 400, refused.text
        assert refused.json()["error"].startswith("bots to ask are greedy, best, names of published ones and mcts:N, ")
    assert not own.with_name("loaded").exists()


# ---------------------------------------------------------------- requests that are turned away


def test_only_links_open_anything(room: Room) -> None:
    table, tokens = room.table()
    settle(table)
    wrong = tokens[0][:-1] + ("A" if tokens[0][-1] != "A" else "B")
    for path in (f"/api/seat/{wrong}", f"/api/seat/{wrong}/events", f"/api/film/{wrong}",
                 f"/api/film/{table.film_token}",
                 f"/api/host/{wrong}", f"/api/host/{wrong}/menu", "/api/seat/", "/api/nothing", "/static/../tables.py",
                 "/static/page.html"):  # fmt: skip
        assert room.client.get(path).status_code == 404, path
    assert room.client.post(f"/api/host/{wrong}/tables", json=form(GAME)).status_code == 404
    assert "Open the link" in room.client.get("/seat/").text
    assert len(tokens[0]) >= 32 and tokens[0] != room.house.host_token
    # whoever runs the server is told seats' links, seats are told none
    assert tokens[0] in room.client.get(room.host).text
    page = room.client.get(f"/api/seat/{tokens[0]}").text
    assert tokens[0] not in page and room.house.host_token not in page


def test_host_and_origin(room: Room) -> None:
    _, tokens = room.table()
    path = f"/api/seat/{tokens[0]}"
    for host in (
        "evil.example",
        "evil.example:8042",
        "10.0.0.7:8042",
        "",
        "localhost.evil.example",
        "127.0.0.1.evil.example:8042",
    ):
        assert room.client.get(path, headers={"Host": host}).status_code == 403, host
    for host in ("localhost", "localhost:1", "127.0.0.1:8042", "[::1]:8042"):
        assert room.client.get(path, headers={"Host": host}).status_code == 200, host
    for origin in ("http://evil.example", "null", "https://127.0.0.1:9", "http://127.0.0.1"):
        answer = room.client.post(f"{path}/undo", json={}, headers={"Origin": origin})
        assert answer.status_code == 403, origin
    assert room.client.get(path, headers={"Origin": "http://127.0.0.1:8042"}).status_code == 200
    open_to_all = client_of(room.house, local=False, names=("Table.example",))
    for host, status in (("10.0.0.7:8042", 200), ("TABLE.example", 200), ("evil.example", 403)):
        assert open_to_all.get(path, headers={"Host": host}).status_code == status, host


def test_pages_load_nothing_from_elsewhere(room: Room) -> None:
    _, tokens = room.table()
    for path in ("/", f"/host/{room.house.host_token}", f"/seat/{tokens[0]}", "/static/style.css", "/static/viewer.js"):
        answer = room.client.get(path)
        assert answer.status_code == 200, path
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["referrer-policy"] == "no-referrer" and answer.headers["cache-control"] == "no-store"
        assert "http://" not in answer.text.replace("http://www.w3.org/2000/svg", "") and "https://" not in answer.text


NO_JSON, NO_OBJECT = "the body is not JSON: ", "the body is not a JSON object"
BAD_BODIES: list[tuple[str, Any, str]] = [
    ("decide", b"", NO_JSON), ("decide", b"{", NO_JSON), ("decide", b"[" * 60_000, NO_JSON),
    ("decide", b"\xff\xfe", NO_JSON), ("decide", b"[]", NO_OBJECT), ("undo", [], NO_OBJECT),
    ("decide", {}, "action must be int"), ("decide", {"action": "0", "version": 0}, "action must be int"),
    ("decide", {"action": True, "version": 0}, "action must be int"),
    ("decide", {"action": 0.0, "version": 0}, "action must be int"),
    ("decide", {"action": None, "version": 0}, "action must be int"),
    ("decide", {"action": 0}, "version must be int"), ("decide", {"action": 0, "version": 0.0}, "version must be int"),
    ("decide", {"action": 0, "version": 0, "x": 1}, "unknown fields: x; "), ("undo", {"x": 1}, "unknown fields: x; "),
    ("ask", {"bot": 5}, "bot must be str"), ("ask", {}, "bot must be str"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "body", "words"), BAD_BODIES)
def test_bad_bodies_change_nothing(room: Room, what: str, body: Any, words: str) -> None:
    """Each is refused for itself, not because its decision would come too late."""
    table, tokens = room.table()
    settle(table)
    before = room.client.get(f"/api/seat/{tokens[0]}").content
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    answer = room.client.post(f"/api/seat/{tokens[0]}/{what}", content=content, headers=headers)
    assert answer.status_code == 400 and answer.json()["error"].startswith(words), answer.text
    assert room.client.get(f"/api/seat/{tokens[0]}").content == before


@pytest.mark.parametrize("action", [-1, 51, 10**30, -(10**30), 2**63])
def test_actions_that_are_not_legal(room: Room, action: int) -> None:
    table, tokens = room.table()
    settle(table)
    view = room.view(tokens[0])
    answer = room.decide(tokens[0], action, view["version"])
    assert answer.status_code == 400 and "illegal action" in answer.json()["error"]
    assert room.view(tokens[0]) == view


def test_only_json_and_not_too_much_of_it(room: Room) -> None:
    _, tokens = room.table()
    path = f"/api/seat/{tokens[0]}/undo"
    assert room.client.post(path, content="{}", headers={"Content-Type": "text/plain"}).status_code == 400
    assert room.client.post(path, data={"a": "b"}).status_code == 400
    big = b'{"x": "' + b"x" * 70_000 + b'"}'
    assert room.client.post(path, content=big, headers={"Content-Type": "application/json"}).status_code == 413
    assert room.client.put(path).status_code == 405


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"game": "chess"}, 404), ({"players": 9}, 400), ({"players": "2"}, 400), ({"seats": [PERSON]}, 400),
        ({"seats": [PERSON, 5]}, 400), ({"seats": [PERSON, ""]}, 400),
        ({"seats": ["greedy", "greedy"]}, 400), ({"seats": [PERSON, "nobody"]}, 400),
        ({"seats": [PERSON, "net:/nowhere"]}, 400),
        ({"seats": [PERSON, "x" * 400]}, 400), ({"options": {"nonsense": "1"}}, 400),
        ({"options": {"quest_size": "99"}}, 400),
        ({"options": {"components": "/etc/passwd"}}, 400), ({"options": {"quest_size": [1]}}, 400),
        ({"seed": "-1"}, 400), ({"seed": "1_0"}, 400), ({"seed": "\u0661"}, 400),
        ({"seed": "x"}, 400), ({"seed": str(2**64)}, 400), ({"seed": 5}, 400), ({"advice": 1}, 400),
        ({"options": {"num_players": 2}}, 400),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_set_up(room: Room, wrong: dict[str, Any], status: int, tmp_path: Path) -> None:
    before = sorted(path.name for path in (tmp_path / "tables").iterdir())
    answer = room.client.post(f"{room.host}/tables", json={**form(GAME), **wrong})
    assert answer.status_code == status and answer.json()["error"], answer.text
    if {"components", "num_players"} & set(wrong.get("options", ())):  # fields of their own
        assert answer.json()["error"].startswith("kitten_adventurers: unknown options ")
    if wrong.get("seats") == [PERSON, ""]:  # a field that is easily left empty
        assert answer.json()["error"].startswith("player_1 has no bot: write what it is called")
    assert room.client.get(room.host).json()["tables"] == []
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == before


@pytest.mark.parametrize("text", ["", "x", "{}", '{"format": "kepler-replay-1"}', "[" * 5000])
def test_replays_that_cannot_be_opened(room: Room, text: str) -> None:
    answer = room.client.post(f"{room.host}/replays", json={"name": "x.jsonl", "text": text})
    assert answer.status_code == 400 and answer.json()["error"].startswith("x.jsonl"), answer.text


# ---------------------------------------------------------------- cards of one's own


def test_a_game_is_played_with_cards_that_the_server_was_told(tmp_path: Path) -> None:
    mine = kittens_with(7, tmp_path / "mine.toml")
    config = kepler_envs.load_game(GAME).configure(2, mine)
    with house_in(tmp_path / "tables", components=[mine]) as house:
        room = Room(house)
        menu = {game["name"]: game["components"] for game in room.client.get(f"{room.host}/menu").json()["games"]}
        assert menu.pop(GAME) == [{"name": "mine.toml", "bots": ["greedy", "mcts:300", "mcts:1000", "uniform"]}]
        assert set(menu) == {*kepler_envs.list_games()} - {GAME} and not any(menu.values())
        table, tokens = room.table(components="mine.toml")
        assert table.config.components_digest == config.components_digest
        assert room.view(tokens[0])["options"][-1] == "components = mine.toml"
        assert str(tmp_path) not in json.dumps(room.view(tokens[0]))
        watching = room.house.film(watched(room, ["greedy", "uniform"], components="mine.toml"))
        assert watching.config.components_digest == config.components_digest
        assert room.table()[0].config.components is None


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"components": "my.toml"}, f"there is no component file 'my.toml' of {GAME}; there are: 'mine.toml'"),
        ({"components": "/etc/passwd"}, f"there is no component file '/etc/passwd' of {GAME}; there are: 'mine.toml'"),
        (
            {"components": "mine.toml", "game": "kepler_run"},
            "there is no component file 'mine.toml' of kepler_run; there are: none",
        ),
        ({"components": 1}, "components must be str or null"),
    ],
)  # fmt: skip
def test_other_cards_than_those_of_the_server_are_refused(asked: dict[str, Any], words: str, tmp_path: Path) -> None:
    with house_in(tmp_path / "tables", components=[kittens_with(7, tmp_path / "mine.toml")]) as house:
        room = Room(house)
        answer = room.client.post(f"{room.host}/tables", json={**form(GAME), **asked})
        assert answer.status_code == 400 and answer.json()["error"] == words


def test_a_game_with_cards_of_one_s_own_can_be_saved_and_opened(tmp_path: Path) -> None:
    mine = kittens_with(7, tmp_path / "mine.toml")
    with house_in(tmp_path / "tables", components=[mine]) as house:
        room = Room(house)
        token = watched(room, ["greedy", "uniform"], components="mine.toml")
        wait_for_the_end_of(room.house.film(token))
        text = room.client.get(f"/api/film/{token}/replay").text
        assert json.loads(text.splitlines()[0])["options"]["components"] == "mine.toml"
        sent = {"name": "game.jsonl", "text": text}
        again = room.client.post(f"{room.host}/replays", json=sent).json()["token"]
        told = room.client.get(f"/api/film/{token}").json()["told"]
        assert room.client.get(f"/api/film/{again}").json()["told"] == told
    with house_in(tmp_path / "others", components=[kittens_with(6, tmp_path / "other.toml")]) as house:
        room = Room(house)
        answer = room.client.post(f"{room.host}/replays", json=sent)
        assert answer.status_code == 400 and "this game has a component file of its own" in answer.json()["error"]


def test_a_table_with_cards_of_one_s_own_is_there_after_a_restart(tmp_path: Path, monkeypatch: Any) -> None:
    mine = kittens_with(7, tmp_path / "mine.toml")
    monkeypatch.chdir(tmp_path)
    with house_in(tmp_path / "tables", components=[Path("mine.toml")]) as house:
        table, _ = Room(house).table(components="mine.toml")
    monkeypatch.chdir("/")
    with house_in(tmp_path / "tables") as house:
        assert house.table(table.number).config.components_digest == table.config.components_digest
    kittens_with(6, mine)
    with house_in(tmp_path / "tables") as house:
        (said,) = house.said
        assert said.startswith("not taken up again: ") and "was played with component data" in said
        assert table.number not in house.numbers


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for folder in ("a", "b", "c"):
        (tmp_path / folder).mkdir()
    paths = [kittens_with(count, tmp_path / folder / "mine.toml") for count, folder in ((7, "a"), (6, "b"), (5, "c"))]
    found = cards_of(paths)
    assert list(found) == ["mine.toml", "mine.toml (2)", "mine.toml (3)"]
    assert [one.path for one in found.values()] == paths
    last = kittens_with(4, tmp_path / "mine.toml (2)")
    assert [one.path for one in cards_of([*paths, last]).values()] == [*paths, last], "none hides another"


def test_a_file_whose_name_is_no_text_can_be_played_with(tmp_path: Path) -> None:
    mine = kittens_with(7, tmp_path / os.fsdecode(b"my\xff\n.toml"))
    with house_in(tmp_path / "tables", components=[mine]) as house:
        room = Room(house)
        menu = {game["name"]: game["components"] for game in room.client.get(f"{room.host}/menu").json()["games"]}
        (name,) = (one["name"] for one in menu[GAME])
        assert name == "my??.toml"
        table, tokens = room.table(components=name)
        assert table.config.components == mine
        assert room.view(tokens[0])["options"][-1] == "components = my??.toml"


def test_a_file_need_not_allow_the_default_number_of_players(tmp_path: Path) -> None:
    rows = own_rows(GAME)
    rows["setup"] = [row for row in rows["setup"] if row["players"] == 2]
    mine = write_rows(tmp_path / "mine.toml", rows)
    with house_in(tmp_path / "tables", components=[mine]) as house:
        assert Room(house).table(components="mine.toml")[0].config.num_players == 2
        assert kepler_envs.load_game(GAME).default_players == 4
        asked = {**form(GAME, ["person", *["greedy"] * 3]), "players": 4, "components": "mine.toml"}
        answer = Room(house).client.post(f"/api/host/{house.host_token}/tables", json=asked)
        assert answer.json()["error"].endswith("the component file has no setup row for 4 players; it has 2")
        rows["setup"] = []
    with pytest.raises(ComponentError):
        cards_of([write_rows(mine, rows)])


def test_a_file_may_change_while_the_server_runs(tmp_path: Path) -> None:
    mine = kittens_with(7, tmp_path / "mine.toml")
    with house_in(tmp_path / "tables", components=[mine]) as house:
        room = Room(house)
        kittens_with(6, mine)
        token = watched(room, ["greedy", "uniform"], components="mine.toml")
        wait_for_the_end_of(room.house.film(token))
        sent = {"name": "game.jsonl", "text": room.client.get(f"/api/film/{token}/replay").text}
        assert json.loads(sent["text"].splitlines()[0])["components"] == house.film(token).config.components_digest
        assert room.client.post(f"{room.host}/replays", json=sent).status_code == 200
        mine.unlink()
        assert room.client.post(f"{room.host}/replays", json=sent).status_code == 400
        answer = room.client.post(f"{room.host}/tables", json=form(GAME, components="mine.toml"))
        assert answer.json()["error"] == "mine.toml: cannot be read: No such file or directory", "not where it lay"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "mine.toml: cannot be read: No such file or directory"),
        ("[meta", "mine.toml: not a TOML file: "),
        ("", "mine.toml: meta: game is None; it must be the name of a game"),
        ('[meta]\ngame = "chess"', "mine.toml: no game 'chess'; there are: "),
        (f'[meta]\ngame = "{GAME}"', "mine.toml: "),
    ],
)
def test_a_server_does_not_begin_with_wrong_cards(text: str | None, words: str, tmp_path: Path, capsys: Any) -> None:
    mine = tmp_path / "mine.toml"
    if text is not None:
        mine.write_text(text)
    assert main(["serve", "--port", "0", "--folder", str(tmp_path / "tables"), "--components", str(mine)]) == 2
    assert words in capsys.readouterr().err and not (tmp_path / "tables").exists()


def test_an_upload_reads_no_file_of_the_server(room: Room) -> None:
    header = {
        "format": "kepler-replay-1",
        "game": "kitten_adventurers-v1",
        "seed": 1,
        "components": "0",
        "agents": ["a", "b"],
    }
    text = json.dumps({**header, "options": {"num_players": 2, "components": "/etc/passwd"}})
    answer = room.client.post(f"{room.host}/replays", json={"name": "x.jsonl", "text": text})
    assert answer.status_code == 400 and "passwd" not in answer.text


def test_the_replay_is_not_given_away_early(room: Room) -> None:
    seed = 2**53 + 987654321  # no number of a view looks like it
    table, tokens = room.table(seed=str(seed))
    settle(table)
    assert table.replay.seed == seed
    assert room.client.get(f"/api/seat/{tokens[0]}/replay").status_code == 409
    assert str(seed) not in json.dumps(room.view(tokens[0]))


def test_a_film_shows_a_seat_its_own_choices_and_tells_what_others_heard() -> None:
    film = Film.of(record(kepler_envs.load_game("ad_astra").configure(3), 5, []), "a label")
    mover, action = film.position(0).seat, film.position(0).legal_actions()[0]
    film.add(action)
    for seat, is_shown in ((mover, True), (None, True), ((mover + 1) % 3, False)):
        frame = film.frame(0, seat)
        assert (bool(frame["actions"]), frame["taken"]) == (is_shown, action if is_shown else None)
    assert film.frame(1, None)["taken"] is None
    story = film.story()
    assert story["told"][0]["public"] == "place an action card face down on space 1" != story["told"][0]["words"]
    assert (story["decisions"], len(story["scores"]), story["results"], story["growing"]) == (1, 2, [], False)
    for at in (-1, 2):
        with pytest.raises(UnknownError, match=rf"position {at} is not there; there are 0\.\.1"):
            film.position(at)
    for seat in (-1, 3):
        with pytest.raises(WebError, match=rf"seat {seat} is not there; there are 0\.\.2"):
            film.frame(0, seat)


def test_frames_that_are_not_there(room: Room) -> None:
    table, tokens = room.table()
    play_to_the_end(room, table, {0: tokens[0]})
    film = f"/api/film/{table.film_token}"
    for path, status in (("/frames/99999/open", 404), ("/frames/0/7", 400), ("/frames/0/-1", 400), ("/frames/0/x", 400),
                         ("/frames/x/open", 400), (f"/frames/{'9' * 5000}/open", 400), ("?from=x", 400),
                         ("?from=-1", 400)):  # fmt: skip
        answer = room.client.get(film + path)
        assert answer.status_code == status and answer.headers["X-Content-Type-Options"] == "nosniff", path
    last = len(table.heard)
    assert room.client.post(f"{film}/ask", json={"bot": "greedy", "at": last}).status_code == 409
    assert room.client.post(f"{film}/ask", json={"bot": "greedy", "at": 0}).status_code == 200


def test_tables_are_deleted_with_their_files(room: Room, tmp_path: Path) -> None:
    table, tokens = room.table()
    settle(table)
    assert (tmp_path / "tables" / table.number / "game.jsonl").is_file()
    assert room.client.delete(f"{room.host}/tables/{table.number}").status_code == 200
    assert not (tmp_path / "tables" / table.number).exists()
    assert room.client.get(f"/api/seat/{tokens[0]}").status_code == 404
    assert room.client.delete(f"{room.host}/tables/{table.number}").status_code == 404
    without_bots, _ = room.table(seats=[PERSON, PERSON])
    assert room.client.delete(f"{room.host}/tables/{without_bots.number}").status_code == 200


# ---------------------------------------------------------------- on disk


def test_a_decision_that_cannot_be_written_down_does_not_count(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    table, tokens = room.table(seats=[PERSON, PERSON])
    mover = tokens[table.position.seat]
    view = room.view(mover)

    def full(replay: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(table, "keep", full)
    answer = room.decide(mover, view["actions"][0]["id"], view["version"])
    assert answer.status_code == 507 and "No space" in answer.json()["error"]
    assert room.view(mover) == view and table.replay.actions == []


def test_files_are_their_owners(room: Room, tmp_path: Path) -> None:
    table, _ = room.table()
    assert (tmp_path / "tables" / table.number).stat().st_mode & 0o077 == 0
    assert (tmp_path / "tables" / "host.token").stat().st_mode & 0o077 == 0


def test_a_damaged_table_is_left_alone(tmp_path: Path) -> None:
    with house_in(tmp_path) as house:
        room = Room(house)
        good, tokens = room.table()
        bad, _ = room.table()
        settle(good)
        settle(bad)
    (tmp_path / bad.number / "game.jsonl").write_text("rubbish")
    with house_in(tmp_path) as house:
        assert house.numbers == {good.number}
        assert bad.number in house.said[0]
        assert Room(house).view(tokens[0])["heard"]
    assert (tmp_path / bad.number / "game.jsonl").read_text() == "rubbish"


SERVER = """
import signal, sys
from kepler_envs.cli import main

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where nohup runs the tests
sys.exit(main(["serve", "--port", "0", "--pace", "0", "--folder", sys.argv[1]]))
"""


def server_process(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """A server in a process of its own, and the link that it prints."""
    asked = [sys.executable, "-u", "-c", SERVER, str(folder)]
    running = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    return running, running.stdout.readline().split()[1]


def is_listening(base: str) -> bool:
    import httpx2 as httpx

    try:
        httpx.get(base, timeout=60)
    except httpx.TransportError:
        return False
    return True


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_server_that_is_told_to_end_leaves_its_folder(end: signal.Signals, tmp_path: Path) -> None:
    """By Ctrl-C, by a service manager, or as its terminal is closed: all that it does is finished first."""
    running, link = server_process(tmp_path)
    try:
        wait_until(lambda: is_listening(link), "the server")
        running.send_signal(end)
        assert running.wait(LONGEST_WAIT) == 130
    finally:
        running.kill()
        running.wait()
    assert running.stderr is not None and running.stderr.read() == "\n"
    assert [path.name for path in tmp_path.iterdir()] == ["host.token"]


@slow
def test_killed_in_mid_game_it_comes_back_with_its_games(tmp_path: Path) -> None:
    import httpx2 as httpx

    ask = httpx.Client(timeout=60)

    def start() -> tuple[subprocess.Popen[str], str, str]:
        running, link = server_process(tmp_path)
        base, _, token = link.rpartition("/host/")
        wait_until(lambda: is_listening(base), "the server")
        return running, base, token

    running, base, host = start()
    try:
        made = ask.post(f"{base}/api/host/{host}/tables", json=form(GAME, [PERSON, PERSON])).json()
        tokens = made["tokens"]
        for number in range(5):
            views = [ask.get(f"{base}/api/seat/{token}").json() for token in tokens]
            mover = next(view for view in views if view["yours"])
            body = {"action": mover["actions"][number % len(mover["actions"])]["id"], "version": mover["version"]}
            assert ask.post(f"{base}/api/seat/{tokens[mover['seat']]}/decide", json=body).status_code == 200
        before = [ask.get(f"{base}/api/seat/{token}").json() for token in tokens]
        versions = {view.pop("version") for view in before}
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        running, base, again = start()
        assert again == host
        after = [ask.get(f"{base}/api/seat/{token}").json() for token in tokens]
        assert min(view.pop("version") for view in after) > max(versions)
        assert after == before
    finally:
        running.kill()
        running.wait()


# ---------------------------------------------------------------- the command


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "70000"], "allowed: 0..65535"), (["--pace", "-1"], "allowed: 0 to 3600 seconds"),
        (["--pace", "inf"], "allowed: 0 to 3600"),
        (["nowhere.jsonl"], "cannot be read"),
        (["--host", "192.0.2.1", "--port", "0"], "--host 192.0.2.1"),
        (["--host", "no such host"], "--host no such host"),
        (["--host", ".example.com"], "--host .example.com: this cannot be the name of a machine"),
        *((["--name", name, "--port", "0"], f"--name {name!r} is not allowed; allowed: the name of a host, such as ")
          for name in ("", "http://box", "box:80", "my box", "::1", "b\u00fccher.example")),
    ],
)  # fmt: skip
def test_what_serve_refuses(words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *words, "--folder", str(tmp_path / "tables")]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "tables").exists()


def test_a_port_that_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["serve", "--port", str(port), "--folder", str(tmp_path)]) == 2
    assert f"--port {port}" in capsys.readouterr().err


def test_a_clear_word_about_who_can_play() -> None:
    from kepler_envs.web.guard import is_local

    assert "WARNING" in Serve(host="0.0.0.0")._who_can_play(local=False)
    assert "every machine" in Serve(host="0.0.0.0")._who_can_play(local=False)
    assert "Only this machine" in Serve()._who_can_play(local=True)
    assert [
        is_local(address) for address in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "::", "10.0.0.1", "x.example")
    ] == [True] * 3 + [False] * 4


def test_files_and_folders_to_look_at(tmp_path: Path) -> None:
    (tmp_path / "cup" / "replays").mkdir(parents=True)
    for name in ("cup/replays/b.jsonl", "cup/replays/a.jsonl", "cup/report.html", "game.jsonl"):
        (tmp_path / name).touch()
    found = Serve(open=(tmp_path / "game.jsonl", tmp_path / "cup"))._replays()
    assert [label for _, label in found] == ["game.jsonl", "cup: a.jsonl", "cup: b.jsonl"]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(UsageError, match="no replays"):
        Serve(open=(empty,))._replays()


def test_a_replay_that_does_not_verify_is_named(tmp_path: Path) -> None:
    config = kepler_envs.load_game(GAME).configure(2)
    first = Snapshot.deal(config, 5).legal_actions()[0]
    good, bad = record(config, 5, [first]), record(config, 5, [first])
    bad.texts[0] = "foo"
    for name, replay in (("a.jsonl", good), ("b.jsonl", bad)):
        write_replay(tmp_path / name, replay)
    with pytest.raises(UsageError, match=rf"^{tmp_path / 'b.jsonl'}: decision 1: 'foo' is recorded, but id"):
        Serve(open=(tmp_path,), port=0, folder=tmp_path / "tables").run(make_console())
