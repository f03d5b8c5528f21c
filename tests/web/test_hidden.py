"""Nothing a seat cannot know leaves the server for it: positions that differ only in that give byte-equal answers
everywhere."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from kepler_envs.engine.snapshot import Snapshot
from tests.effort import games_to_play
from tests.web.serving import SHORT, client_of, house_in, new_table

DECISIONS = 45
REDRAWS = (1, 2**40)


def answers(client, token: str, mover: bool, version: int) -> list[bytes]:
    """Every answer a seat can get, without changing anything; status codes included."""
    asked = [
        client.get(f"/api/seat/{token}"),
        client.get(f"/api/seat/{token}/rules"),
        client.get(f"/api/seat/{token}/replay"),
        client.get(f"/seat/{token}"),
        client.post(f"/api/seat/{token}/decide", json={"action": 10**6, "version": -1}),
        client.post(f"/api/seat/{token}/decide", json={"action": 10**6, "version": version}),
    ]
    for bot in ("greedy", "best", "mcts:12", "uniform"):
        asked.append(client.post(f"/api/seat/{token}/ask", json={"bot": bot}))
        assert asked[-1].status_code == (200 if mover else 409), asked[-1].text
    return [b"%d " % answer.status_code + answer.content for answer in asked]


@pytest.mark.parametrize("game", SHORT)
def test_positions_that_a_seat_cannot_tell_apart_give_equal_answers(game: str, tmp_path: Path) -> None:
    chance = random.Random(f"{game} seen from everywhere")
    with house_in(tmp_path) as house:
        client = client_of(house)
        for seed in range(games_to_play(1)):
            players = SHORT[game]["players"]
            table, tokens = new_table(client, house, game, ["person"] * players, seed=str(seed), options={})
            for _ in range(DECISIONS):
                table.decide(table.position.seat, chance.choice(table.position.legal_actions()))
                if table.position.over:
                    break
                if chance.random() > 0.3:
                    continue
                true = table.position
                seat = chance.randrange(players) if chance.random() < 0.5 else true.seat
                expected = answers(client, tokens[seat], seat == true.seat, table.version)
                for redraw in REDRAWS:
                    table.position = true.resample(seat, redraw)
                    assert isinstance(table.position, Snapshot)
                    assert answers(client, tokens[seat], seat == true.seat, table.version) == expected
                table.position = true


@pytest.mark.parametrize("game", SHORT)
def test_the_picture_of_what_is_known_is_the_picture_of_what_is(game: str, tmp_path: Path) -> None:
    """The redraw behind a view changes nothing that its seat sees, hears or may do."""
    chance = random.Random(game)
    with house_in(tmp_path) as house:
        client = client_of(house)
        players = SHORT[game]["players"]
        table, tokens = new_table(client, house, game, ["person"] * players, options={})
        for _ in range(60):
            if table.position.over:
                break
            for seat, token in enumerate(tokens):
                view = client.get(f"/api/seat/{token}").json()
                assert view["picture"] == table.position.drawing(seat).svg()
                assert view["text"] == table.position.text(seat)
                mine = table.position.legal_actions() if seat == table.position.seat else []
                assert [action["id"] for action in view["actions"]] == mine
            table.decide(table.position.seat, chance.choice(table.position.legal_actions()))


@pytest.mark.parametrize("game", SHORT)
def test_undo_among_people_gives_nothing_away(game: str, tmp_path: Path) -> None:
    """A decision that may be undone showed nothing: it would have shown the same in any position that looked the same
    to the seat. What shows nothing may be undone."""
    chance = random.Random(f"{game} taken back")
    may, may_not = 0, 0
    with house_in(tmp_path) as house:
        client = client_of(house)
        for seed in range(games_to_play(2)):
            players = SHORT[game]["players"]
            table, tokens = new_table(client, house, game, ["person"] * players, seed=str(seed))
            while not table.position.over and len(table.heard) < games_to_play(80):
                before, seat = table.position, table.position.seat
                action = chance.choice(before.legal_actions())
                table.decide(seat, action)
                if table.position.over:
                    break
                seen = table.position.observe(seat)
                same = all(
                    np.array_equal(before.resample(seat, redraw).apply(action).observe(seat), seen)
                    for redraw in range(1000, 1030)
                )
                assert client.get(f"/api/seat/{tokens[seat]}").json()["undo"] == same
                may, may_not = may + same, may_not + (not same)
    assert may and may_not
