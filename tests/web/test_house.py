"""A house under strain: two servers at one folder, bots that hang or fail, tables deleted at a bad moment, names that
must not be shown as they are."""

from __future__ import annotations

import dataclasses
import io
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kepler_envs.cli import main
from kepler_envs.cli.common import UsageError
from kepler_envs.cli.serve import Serve
from kepler_envs.engine.replay import Replay, record, write_replay
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.terminal import make_console
from kepler_envs.web import NotNowError, UnknownError, WebError, forms
from kepler_envs.web.films import Film
from kepler_envs.web.house import House
from kepler_envs.web.players import Players
from kepler_envs.web.store import Store
from kepler_envs.web.tables import PERSON, Table
from kepler_envs.web.views import shown_name
from tests.component_file import kittens_with
from tests.effort import slow
from tests.waiting import LONGEST_WAIT, wait_until
from tests.web.serving import client_of, house_in, settle

CONFIG = forms.configuration("kitten_adventurers", 2, {"max_turns": "40"})

HANGS = """
class Hangs:
    def __init__(self, config):
        pass

    def start(self, rows, seeds):
        pass

    def act(self, decisions):
        while True:
            pass
"""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with house_in(tmp_path / "tables") as found:
        yield found


def said_at(house: House) -> list[str]:
    return house.said  # type: ignore[attr-defined]


def take_turns(house: House, table: Table) -> None:
    """Let the person at seat 0 decide until the bot has to."""
    settle(table)
    while table.position.seat == 0 and not table.position.over:
        table.decide(0, table.position.legal_actions()[-1])
    assert not table.position.over
    house.play_on(table)


def table_to_bot(house: House, bot: str, seed: int = 5) -> Table:
    """A table at which the bot has to decide."""
    table = house.open_table(CONFIG, [PERSON, bot], seed, advice=True)
    if table.position.seat == 0:
        take_turns(house, table)
    return table


@pytest.fixture
def hanging(tmp_path: Path) -> str:
    """The spec of a bot that thinks for ever."""
    path = tmp_path / "hangs.py"
    path.write_text(HANGS)
    return f"python:{path}:Hangs"


# ---------------------------------------------------------------- two servers at one folder


def test_a_folder_has_one_server_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two would write over each other's games."""
    with house_in(tmp_path) as first:
        table = first.open_table(CONFIG, [PERSON, PERSON], 5, advice=True)
        with pytest.raises(WebError, match="another server uses"):
            House(tmp_path)
        assert main(["serve", "--port", "0", "--folder", str(tmp_path)]) == 2
        said = capsys.readouterr().err
        assert str(tmp_path) in said and "--folder" in said
        table.decide(table.position.seat, table.position.legal_actions()[0])
    with house_in(tmp_path) as second:
        assert len(second.table(table.number).heard) == 1


def test_a_closed_house_takes_no_more_decisions(tmp_path: Path) -> None:
    """Another server may have the folder already."""
    with house_in(tmp_path) as first:
        table = first.open_table(CONFIG, [PERSON, PERSON], 5, advice=True)
    with pytest.raises(UnknownError):
        table.decide(table.position.seat, table.position.legal_actions()[0])
    with house_in(tmp_path) as second:
        assert second.table(table.number).heard == []


class Halted:
    """A method that waits, when it is called, until it may go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kind: type, name: str) -> None:
        self.called, self.may = threading.Event(), threading.Event()
        method = getattr(kind, name)

        def halted(*given: Any) -> Any:
            self.called.set()
            assert self.may.wait(LONGEST_WAIT)
            return method(*given)

        monkeypatch.setattr(kind, name, halted)


def watch(house: House) -> None:
    house.watch(CONFIG, ["greedy", "greedy"], 5)


def set_up(house: House) -> None:
    house.open_table(CONFIG, [PERSON, PERSON], 5, advice=True)


def in_background(act: Callable[[], Any]) -> tuple[threading.Thread, list[Exception]]:
    """Run it in a thread; what it raises comes into the list."""
    problems: list[Exception] = []

    def run() -> None:
        try:
            act()
        except Exception as problem:
            problems.append(problem)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, problems


@pytest.mark.parametrize("begin", [set_up, watch])
def test_a_game_that_is_set_up_too_late_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: Callable[[House], None]
) -> None:
    """Loading its bots takes a while, and another server may have the folder then."""
    halted = Halted(monkeypatch, Players, "__init__")
    with house_in(tmp_path) as house:
        thread, problems = in_background(lambda: begin(house))
        assert halted.called.wait(LONGEST_WAIT)
        house.close()
        halted.may.set()
        thread.join(LONGEST_WAIT)
        assert [type(problem) for problem in problems] == [NotNowError] and "being stopped" in str(problems[0])
        assert not list(tmp_path.glob("*/*")) and house.overview() == {"tables": [], "films": []}


@pytest.mark.parametrize(("begin", "name"), [(set_up, "add"), (watch, "add_film")])
def test_a_game_that_is_being_written_down_is_part_of_the_house_that_closes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: Callable[[House], None], name: str
) -> None:
    halted = Halted(monkeypatch, Store, name)
    with house_in(tmp_path) as house:
        beginning, problems = in_background(lambda: begin(house))
        assert halted.called.wait(LONGEST_WAIT)
        closing, _ = in_background(house.close)
        closing.join(0.2)
        assert closing.is_alive(), "nobody else has the folder yet"
        halted.may.set()
        for thread in (closing, beginning):
            thread.join(LONGEST_WAIT)
            assert not thread.is_alive()
        assert not problems
        for number in house.numbers:
            with pytest.raises(UnknownError):
                house.table(number).save()
    with house_in(tmp_path) as house:
        assert sum(map(len, house.overview().values())) == 1


@pytest.mark.parametrize("kind", ["table", "film"])
def test_a_closed_house_deletes_nothing(tmp_path: Path, kind: str) -> None:
    """Another server may have taken the game up already."""
    with house_in(tmp_path) as house:
        table = finished_table(house)
        token = house.add_film(Film.of(table.replay, "mine"), keep=True)
    with pytest.raises(NotNowError, match="being stopped"):
        if kind == "table":
            house.close_table(table.number)
        else:
            house.close_film(token)
    with house_in(tmp_path) as house:
        assert house.numbers == {table.number} and house.film(token).label == "mine"


def test_versions_grow_from_one_server_to_the_next(tmp_path: Path) -> None:
    """So a page never takes news for old, or sends a decision about a position that is gone."""
    with house_in(tmp_path) as first:
        table = first.open_table(CONFIG, [PERSON, PERSON], 5, advice=True)
        mover, action = table.position.seat, table.position.legal_actions()[0]
        table.decide(mover, action)
        table.undo(mover)
    with house_in(tmp_path) as second:
        again = second.table(table.number)
        assert again.version > table.version
        with pytest.raises(NotNowError, match="look again"):
            again.decide(mover, action, table.version)
        again.decide(mover, action, again.version)


def test_a_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kepler_envs.files.fcntl", None)
    with house_in(tmp_path), house_in(tmp_path):
        pass


def test_bots_at_a_table_draw_from_seeds_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = [5]

    class Noted:
        def start(self, rows: Any, its: Any) -> None:
            seeds.extend(its.tolist())

    monkeypatch.setattr("kepler_envs.web.players.load_bot", lambda spec, config: Noted())
    Players(CONFIG, ["one", "other"], 5)
    assert len(seeds) == len(set(seeds)) == 3, "not that of the deal, and no two alike"


# ---------------------------------------------------------------- bots that hang or fail


@slow
def test_a_bot_that_hangs_is_cut_off(house: House, hanging: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so at its table, and bots at other tables go on."""
    monkeypatch.setattr("kepler_envs.web.players.MOST_SECONDS", 0.5)
    hung = [table_to_bot(house, hanging, seed) for seed in range(2)]
    other = table_to_bot(house, "greedy")
    settle(other)
    wait_until(lambda: all(table.problem for table in hung), "cutting bots off")
    assert "too slow" in said_at(house)[0]


@slow
def test_deleting_tables_ends_their_bots(house: House, hanging: str) -> None:
    """Bots that hang at deleted tables keep no other bot waiting, and nothing is said about them."""
    hung = [table_to_bot(house, hanging, seed) for seed in range(2)]
    wait_until(lambda: house._thinking._value == 0, "beginning to think")  # type: ignore[attr-defined]
    for table in hung:
        house.close_table(table.number)
    settle(table_to_bot(house, "greedy"))
    wait_until(lambda: not house._busy, "ending")
    assert said_at(house) == [] and all(table.number not in house._players for table in hung)


class Scripted:
    """Bots whose next answer waits until it is let go; ``problem`` is raised then, else they decide as ever."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, problem: Exception | None = None) -> None:
        self.thinking, self.may, self.problem = threading.Event(), threading.Event(), problem
        decide = Players.decide

        def scripted(players: Players, spec: str, position: Snapshot) -> int:
            if not self.thinking.is_set():
                self.thinking.set()
                assert self.may.wait(LONGEST_WAIT)
                if self.problem:
                    raise self.problem
            return decide(players, spec, position)

        monkeypatch.setattr(Players, "decide", scripted)


def test_a_bot_that_fails_on_a_position_that_was_taken_back(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked again about the position that is there now."""
    bots = Scripted(monkeypatch, RuntimeError("once"))
    table = table_to_bot(house, "greedy")
    if not table.heard:  # the bot begins: there is nothing to take back yet
        bots.problem = None
        bots.may.set()
        settle(table)
        bots.thinking.clear(), bots.may.clear()
        bots.problem = RuntimeError("once")
        take_turns(house, table)
    assert bots.thinking.wait(LONGEST_WAIT)
    table.undo(0)
    take_turns(house, table)
    bots.may.set()
    settle(table)
    assert not table.problem and (table.position.over or table.position.seat == 0)


def test_a_bot_that_cannot_begin(house: House, tmp_path: Path) -> None:
    """Whoever sets the table up is told, and nothing is kept of it."""
    path = tmp_path / "lost.py"
    path.write_text(HANGS.replace("seeds):\n        pass", "seeds):\n        raise RuntimeError('lost')"))
    with pytest.raises(WebError, match="RuntimeError: lost"):
        house.open_table(CONFIG, [PERSON, f"python:{path}:Hangs"], 5, advice=True)
    assert house.numbers == set() and not list((tmp_path / "tables").glob("*/*"))


# ---------------------------------------------------------------- deleting tables


def test_deleting_a_table_while_it_is_written(house: House, tmp_path: Path) -> None:
    """The decision that is being written is finished first; no later one is written."""
    table = house.open_table(CONFIG, [PERSON, PERSON], 5, advice=True)
    writing, keep = threading.Event(), table.keep

    def slowly(replay: Replay) -> None:
        writing.set()
        time.sleep(0.3)
        keep(replay)

    table.keep = slowly
    problems: list[Exception] = []

    def decide() -> None:
        try:
            table.decide(table.position.seat, table.position.legal_actions()[0])
        except Exception as problem:
            problems.append(problem)

    person = threading.Thread(target=decide)
    person.start()
    assert writing.wait(LONGEST_WAIT)
    house.close_table(table.number)
    person.join()
    assert problems == [] and len(table.heard) == 1
    assert not (tmp_path / "tables" / table.number).exists()
    with pytest.raises(UnknownError, match="closed"):
        table.decide(table.position.seat, table.position.legal_actions()[0])
    assert len(table.heard) == 1 and house.numbers == set()


@pytest.mark.parametrize("problem", [None, RuntimeError("no answer")])
def test_a_bot_that_answers_after_its_table_was_deleted(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: Exception | None
) -> None:
    bots = Scripted(monkeypatch, problem)
    table = table_to_bot(house, "greedy")
    assert bots.thinking.wait(LONGEST_WAIT)
    house.close_table(table.number)
    bots.may.set()
    wait_until(lambda: not house._busy, "ending")
    assert said_at(house) == [] and table.number not in house._players
    assert not (tmp_path / "tables" / table.number).exists()


def finished_table(house: House) -> Table:
    table = house.open_table(CONFIG, [PERSON, PERSON], 5, advice=True)
    while not table.position.over:
        table.decide(table.position.seat, table.position.legal_actions()[0])
    return table


def test_the_film_of_a_table_is_no_watched_game(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes with its table, stands in no list of its own and takes no other game's place."""
    monkeypatch.setattr("kepler_envs.web.house.MOST_FILMS", 1)
    table = finished_table(house)
    film = house.film(table.film_token)
    assert film is house.film(table.film_token) and film.positions[-1].over
    assert house.overview()["films"] == []
    with pytest.raises(UnknownError):
        house.close_film(table.film_token)
    token = house.add_film(Film.of(film.replay, "mine"), keep=True)
    assert [film["token"] for film in house.overview()["films"]] == [token]
    house.close_table(table.number)
    with pytest.raises(UnknownError):
        house.film(table.film_token)
    assert house.film(token).label == "mine"


# ---------------------------------------------------------------- names


def test_a_watched_game_does_not_show_where_a_bot_lies(house: House, hanging: str, tmp_path: Path) -> None:
    token = house.watch(CONFIG, [hanging, "greedy"], 5)
    label = house.film(token).story()["label"]
    assert label == "Kitten Adventurers: python:hangs.py:Hangs, greedy" and str(tmp_path) not in label
    house.close_film(token)


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("net:/home/alice/mine.zip", "net:mine.zip"),
        ("net:/home/alice/runs/", "net:runs"),
        ("net:C:\\runs\\mine.zip", "net:mine.zip"),
        ("python:/home/alice/bot.py:Bot", "python:bot.py:Bot"),
        ("mcts:5,network=net:/home/alice/mine.zip,mix=0.5", "mcts:5,network=net:mine.zip,mix=0.5"),
        ("mcts:200,network=best", "mcts:200,network=best"),
        ("greedy", "greedy"),
        ("somebody:else", "somebody:else"),
    ],
)
def test_names_of_bots_do_not_tell_where_their_files_lie(spec: str, shown: str) -> None:
    assert shown_name(spec) == shown


def test_a_label_that_is_no_text(house: House) -> None:
    """A file's name may hold bytes that are no UTF-8."""
    film = house.film(finished_table(house).film_token)
    house.add_film(Film.of(film.replay, "a\udcff\n.jsonl"), keep=True)
    client, host = client_of(house), f"/api/host/{house.host_token}"
    assert client.get(host).json()["films"][0]["label"] == "a??.jsonl"
    body = json.dumps({"name": "b\udcff", "text": ""})
    refused = client.post(f"{host}/replays", content=body, headers={"Content-Type": "application/json"})
    assert refused.status_code == 400 and refused.json()["error"].startswith("b?")


# ---------------------------------------------------------------- the command


class ClosesItsStream(logging.StreamHandler):
    """As the handler of absl does, which OpenSpiel brings."""

    def close(self) -> None:
        self.stream.close()
        super().close()


@pytest.fixture
def apps(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The applications of servers, each of which stops at once."""
    import uvicorn

    found: list[Any] = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda server, sockets: found.append(server.config.app))
    return found


def test_the_link_that_is_printed_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], apps: list[Any]
) -> None:
    """Also where ``--host`` is a name."""
    from starlette.testclient import TestClient

    here = Serve(port=0)._listen()
    monkeypatch.setattr(Serve, "_listen", lambda self: here)  # wherever the name leads
    handler = ClosesItsStream(io.StringIO())
    assert Serve(host="My-Box.example", port=0, folder=tmp_path).run(make_console()) == 0
    assert not handler.stream.closed, "the log of another library goes on"
    here.close()
    link = capsys.readouterr().out.split()[1]
    assert link.startswith("http://My-Box.example:")
    assert TestClient(apps[0], base_url=link).get(link).status_code == 200
    assert TestClient(apps[0]).get("http://evil.example/").status_code == 403


def shown_by(app: Any, said: str) -> list[str]:
    """The games that the page behind the printed link lists, newest first."""
    from starlette.testclient import TestClient

    base, _, token = next(word for word in said.split() if "/host/" in word).partition("/host/")
    return [film["label"] for film in TestClient(app, base_url=base).get(f"/api/host/{token}").json()["films"]]


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """The folder of a tournament with three replays."""
    folder = tmp_path / "cup"
    (folder / "replays").mkdir(parents=True)
    first = Snapshot.deal(CONFIG, 5).legal_actions()[0]
    for name in "abc":
        write_replay(folder / "replays" / f"{name}.jsonl", record(CONFIG, 5, [first]))
    return folder


def test_all_replays_of_a_tournament_are_shown(
    tmp_path: Path, cup: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], apps: list[Any]
) -> None:
    """They take no places from games that were set up on the page: those can only be deleted while a server runs."""
    monkeypatch.setattr("kepler_envs.web.house.MOST_FILMS", 1)
    film = Film(CONFIG, 5, ["greedy", "greedy"], "mine")
    with house_in(tmp_path / "tables") as house:
        for seed in range(2):
            house.add_film(Film(CONFIG, seed, ["greedy", "greedy"], "shown"))
        token = house.add_film(film, keep=True)
        with pytest.raises(NotNowError, match="delete some first"):
            house.add_film(Film(CONFIG, 6, ["greedy", "greedy"], "another"), keep=True)
    assert Serve(open=(cup,), port=0, folder=tmp_path / "tables").run(make_console()) == 0
    said = capsys.readouterr().out
    assert shown_by(apps[0], said) == ["cup: c.jsonl", "cup: b.jsonl", "cup: a.jsonl", "mine"]
    assert "Left out" not in said
    with house_in(tmp_path / "tables") as house:
        assert [film["token"] for film in house.overview()["films"]] == [token], "files of others are not kept"


def test_replays_that_are_too_many_for_the_memory(
    tmp_path: Path, cup: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], apps: list[Any]
) -> None:
    monkeypatch.setattr("kepler_envs.cli.serve.MOST_OPEN", 2)
    (cup / "replays" / "c.jsonl").write_text("this one is not read")
    assert Serve(open=(cup,), port=0, folder=tmp_path / "tables").run(make_console()) == 0
    said = capsys.readouterr().out
    assert shown_by(apps[0], said) == ["cup: b.jsonl", "cup: a.jsonl"]
    assert said.startswith(f"Left out: 1 of 3 replays, from {cup / 'replays' / 'c.jsonl'} on."), said


def test_a_replay_is_shown_with_the_component_file_that_the_server_was_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], apps: list[Any]
) -> None:
    """Replays that are saved in the browser name the file without its folder."""
    (tmp_path / "cards").mkdir()
    mine = kittens_with(7, tmp_path / "cards" / "mine.toml")
    replay, path = record(CONFIG.game.configure(2, mine), 5, []), tmp_path / "game.jsonl"
    replay.options["components"] = "mine.toml"
    write_replay(path, replay)
    asked = Serve(open=(path,), port=0, folder=tmp_path / "tables")
    with pytest.raises(UsageError, match="the component file was mine.toml: change to the folder it is in"):
        asked.run(make_console())
    assert dataclasses.replace(asked, components=(mine,)).run(make_console()) == 0
    assert shown_by(apps[0], capsys.readouterr().out) == ["game.jsonl"]


def test_a_server_that_cannot_begin_leaves_the_folder(
    tmp_path: Path, cup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(house: House, film: Film) -> str:
        raise MemoryError

    monkeypatch.setattr(House, "add_film", fail)
    with pytest.raises(MemoryError) as problem:  # which holds on to the house
        Serve(open=(cup,), port=0, folder=tmp_path / "tables").run(make_console())
    with house_in(tmp_path / "tables"):
        del problem
