"""Tables and servers for tests: a house in a folder, a client without a network, a real server on loopback."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the server needs starlette (extra web)")
pytest.importorskip("uvicorn", reason="the server needs uvicorn (extra web)")
pytest.importorskip("httpx2", reason="the server is asked by httpx2 (extra dev)")

from starlette.testclient import TestClient

from kepler_envs.web.cards import cards_of
from kepler_envs.web.house import House
from kepler_envs.web.server import make_app
from kepler_envs.web.tables import PERSON, Table
from tests.waiting import LONGEST_WAIT

SHORT: dict[str, dict[str, Any]] = {
    "kitten_adventurers": {"players": 2, "options": {"quest_size": "2", "max_turns": "40"}},
    "kepler_run": {"players": 2, "options": {}},
    "ad_astra": {"players": 3, "options": {"max_rounds": "1"}},
    "race_to_kepler": {"players": 2, "options": {"max_rounds": "3"}},
    "kepler_3042": {"players": 2, "options": {}},
}
"""Games that are soon over, as forms ask for them."""


@contextmanager
def house_in(folder: Path, pace: float = 0.0, components: Iterable[Path] = ()) -> Iterator[House]:
    """A house whose bots stop at the end."""
    said: list[str] = []
    house = House(folder, pace, said.append, cards_of(components))
    house.said = said  # type: ignore[attr-defined]
    try:
        yield house
    finally:
        house.close()


def client_of(house: House, **settings: Any) -> TestClient:
    """A client that asks the application itself."""
    return TestClient(make_app(house, **settings), base_url="http://127.0.0.1:8042", raise_server_exceptions=False)


def form(game: str, seats: list[str] | None = None, **more: Any) -> dict[str, Any]:
    """What the page sends to set a table up: a person against greedy unless told otherwise."""
    short = SHORT[game]
    usual = [PERSON, *["greedy"] * (short["players"] - 1)]
    return {"game": game, "components": None, **short, "seats": seats or usual, "seed": "5", "advice": True, **more}


def new_table(
    client: TestClient, house: House, game: str, seats: list[str] | None = None, **more: Any
) -> tuple[Table, list[str]]:
    """A table and the tokens of its seats."""
    answer = client.post(f"/api/host/{house.host_token}/tables", json=form(game, seats, **more))
    assert answer.status_code == 200, answer.text
    return house.table(answer.json()["number"]), answer.json()["tokens"]


def settle(table: Table) -> None:
    """Wait until no bot has to decide."""
    end = time.monotonic() + LONGEST_WAIT
    while True:
        with table.lock:  # between two decisions, not in the middle of one
            mover = table.to_move
        if mover is None or mover.is_person or table.problem:
            return
        assert time.monotonic() < end, "the bots take too long"
        time.sleep(0.002)


@contextmanager
def serving(house: House, port: int = 0) -> Iterator[str]:
    """A server on loopback, at a free port unless one is given; its address."""
    import uvicorn

    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    server = uvicorn.Server(
        uvicorn.Config(make_app(house), log_level="warning", access_log=False, timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    end = time.monotonic() + LONGEST_WAIT
    while not server.started:
        assert time.monotonic() < end and thread.is_alive(), "the server does not start"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        house.closing.set()
        server.should_exit = True
        thread.join(10)
