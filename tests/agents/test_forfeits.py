"""Agents that crash, cheat, hang or end the process: they lose that game, and nothing else is lost."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import agents
import kepler_envs
from agents.protocol import AgentError
from agents.tournament import play
from agents.tournament.__main__ import main
from agents.tournament.ledger import Ledger, LedgerError
from agents.tournament.play import (
    EXCEPTION,
    ILLEGAL,
    PROCESS_DIED,
    TOO_SLOW,
    Forfeit,
    GameResult,
    Players,
    SoFar,
    places_after_forfeits,
)
from agents.tournament.run import Tournament
from agents.tournament.schedule import Schedule
from agents.tournament.workers import Task, Workers, _Worker
from tests.agents.misbehaving import DECISION

GAME = "kitten_adventurers"
CONFIG = kepler_envs.game(GAME).configure(4)
FILE = Path(__file__).with_name("misbehaving.py")


def own(name: str) -> str:
    return f"python:{FILE}:{name}"


def games_with(name: str, count: int = 24, **settings):
    players, schedule = Players(("uniform", own(name)), CONFIG, **settings), Schedule(2, 4, 0)
    return players, [schedule[number] for number in range(count)]


# ---------------------------------------------------------------- what becomes of the game


@pytest.mark.parametrize(
    ("name", "reason", "words"),
    [
        ("Raises", EXCEPTION, "ValueError: no idea <what> to do"),
        ("NamesNoId", ILLEGAL, "act returned the id"),
        ("NamesIllegalId", ILLEGAL, "legal were"),
        ("NamesHalves", ILLEGAL, "act returned float64 (1,) in place of integers (1,)"),
    ],
)
def test_a_forfeit_costs_the_game_and_no_other(name, reason, words):
    players, games = games_with(name)
    results = players.play(games)
    assert [players.play_alone(game)[1] for game in games] == results  # however the games are played
    fine = Players(("uniform", own("Lowest")), CONFIG).play(games)
    lost = [result for result in results if result.forfeits]
    assert 4 <= len(lost) <= 16
    for game, result, without in zip(games, results, fine, strict=True):
        if not result.forfeits:
            assert (result.ranks, result.length) == (without.ranks, without.length)
            continue
        (forfeit,) = result.forfeits
        assert game.seed % 3 == 0 and forfeit.decision >= DECISION
        assert (forfeit.agent, forfeit.reason) == (own(name), reason) and words in forfeit.details
        own_seats = [seat for seat, spec in enumerate(result.agents) if spec == own(name)]
        assert {result.ranks[seat] for seat in own_seats} == {4 - len(own_seats) + 1}
        assert max(result.ranks[seat] for seat in range(4) if seat not in own_seats) <= 4 - len(own_seats)
        assert sum(result.returns) == pytest.approx(0, abs=1e-6)
        assert all(result.returns[seat] == pytest.approx(-1 / 3) for seat in own_seats)


def test_a_traceback_begins_in_the_agent():
    players, games = games_with("Raises")
    details = next(result.forfeits[0].details for result in players.play(games) if result.forfeits)
    frames = [line for line in details.splitlines() if line.startswith("  File")]
    assert len(frames) == 2 and all(str(FILE) in frame for frame in frames)


def test_an_agent_that_cannot_start_forfeits_every_game_before_its_first_decision():
    players, games = games_with("RaisesAtStart", 12)
    results = players.play(games)
    assert all("OSError: no model file" in result.forfeits[0].details for result in results)
    # it is started when it is first asked
    assert all(result.forfeits[0].decision < result.length for result in results)


def test_places():
    none = None
    assert places_after_forfeits([1, 2, 3, 4], [none, none, none, none]) == [1, 2, 3, 4]
    assert places_after_forfeits([1, 2, 3, 4], [0, none, none, none]) == [4, 1, 2, 3]
    assert places_after_forfeits([1, 2, 2, 4], [0, none, none, 0]) == [3, 1, 1, 3]
    assert places_after_forfeits([1, 2, 3, 4], [0, 1, none, 1]) == [4, 2, 1, 2]  # who forfeits first is last
    assert places_after_forfeits([2, 1], [0, 0]) == [1, 1]


def test_a_game_goes_on_from_where_it_was_broken_off():
    players, games = games_with("Lowest", 1)
    actions, whole = players.play_alone(games[0])
    forfeit = Forfeit(own("Lowest"), 40, PROCESS_DIED, "")
    again, result = players.play_alone(games[0], SoFar(tuple(actions[:40]), (forfeit,)))
    assert again[:40] == actions[:40] and result.forfeits == (forfeit,)
    assert again != actions and result.seed == whole.seed


# ---------------------------------------------------------------- time


def test_a_decision_that_took_too_long_is_a_forfeit(monkeypatch):
    monkeypatch.setattr(play, "SECONDS_TO_START", 0.0)
    players, games = games_with("IsSlow", 4, limit=0.15)
    results = players.play(games)
    late = [result for result in results if result.forfeits]
    assert {result.number for result in late} == {game.number for game in games if game.seed % 3 == 0} != set()
    for result in late:
        assert result.forfeits[0].reason == TOO_SLOW and "0.15 s were allowed" in result.forfeits[0].details


def test_agents_that_never_return_or_end_the_process(tmp_path):
    """One process, which is replaced whenever an agent takes it down; every game is played to its end."""
    names = ("NeverReturns", "EndsTheProcess")
    players, schedule = Players(tuple(map(own, names)), CONFIG, limit=0.5), Schedule(2, 4, 0)
    divisible = [number for number in range(40) if schedule[number].seed % 3 == 0][:1]
    others = [number for number in range(40) if schedule[number].seed % 3][:3]
    games = [schedule[number] for number in (*others[:1], *divisible, *others[1:])]
    with Workers(players, 1) as workers:
        results = {result.number: result for some in workers.play([games]) for result in some}
    assert sorted(results) == sorted(game.number for game in games)
    assert not any(results[number].forfeits for number in others)
    reasons = {own("NeverReturns"): TOO_SLOW, own("EndsTheProcess"): PROCESS_DIED}
    for number in divisible:
        forfeits = results[number].forfeits
        assert forfeits and all(forfeit.reason == reasons[forfeit.agent] for forfeit in forfeits)
        assert all(forfeit.decision >= DECISION for forfeit in forfeits)
        assert forfeits[0].decision <= forfeits[-1].decision < results[number].length


def test_games_of_a_process_that_died_are_played_again_in_halves():
    players, games = games_with("Lowest", 7)
    workers = Workers(players, 2)
    worker = _Worker(None, None, Task(games), {games[0].number, games[3].number}, asked=1)
    workers._blame(worker, PROCESS_DIED, "")
    halves = [[game.number for game in task.games] for task in workers._again]
    assert halves == [[1, 2], [4, 5, 6]]
    worker = _Worker(None, None, Task(games[:1]), asked=1, decisions=9, actions=[5, 6])
    workers._again.clear()
    workers._blame(worker, TOO_SLOW, "cut off")
    assert workers._again[0] == Task(games[:1], SoFar((5, 6), (Forfeit(own("Lowest"), 9, TOO_SLOW, "cut off"),)))


def test_results_come_as_games_end(monkeypatch):
    """Not when all games of the batch have: what has ended is in the ledger before the process can be killed."""
    players, games = games_with("Lowest")
    monkeypatch.setattr(play, "SECONDS_TOGETHER", 0.0)
    parts = list(players.stream(games))
    assert len(parts) > 5
    monkeypatch.setattr(play, "SECONDS_TOGETHER", 1e9)
    (together,) = players.stream(games)
    assert together == [result for part in parts for result in part]


# ---------------------------------------------------------------- ledger and report


def test_a_ledger_keeps_forfeits(tmp_path):
    forfeits = (Forfeit("b", 7, EXCEPTION, "Traceback\n"), Forfeit("a", 9, TOO_SLOW, "3 s"))
    lost = GameResult(4, 5, ("a", "b"), (1, 2), (0, 0), (0.5, -0.5), 17, "terminated", forfeits)
    with Ledger(tmp_path / "games.sqlite", {}) as ledger:
        ledger.add([lost], "", "")
        assert ledger.results(5) == [lost]
        assert ledger.results(4) == []


def test_a_ledger_of_another_format_is_refused(tmp_path):
    path = tmp_path / "games.sqlite"
    Ledger(path, {}).close()
    database = sqlite3.connect(path)
    database.execute("UPDATE tournament SET value = '1' WHERE name = 'format'")
    database.commit()
    database.close()
    with pytest.raises(LedgerError, match="a ledger of format 1, this version writes format 2"):
        Ledger(path, {})


def test_a_report_with_forfeits(tmp_path):
    settings = {"players": 4, "processes": 1, "bootstrap": 2, "games": 24}
    assert (
        Tournament(game=GAME, agents=("uniform", own("Raises")), out=tmp_path, **settings).run(Console(quiet=True)) == 0
    )
    data = json.loads((tmp_path / "leaderboard.json").read_text())
    (group,) = data["forfeits"]
    database = sqlite3.connect(tmp_path / "games.sqlite")
    written = database.execute("SELECT game, agent, details FROM forfeits ORDER BY rowid").fetchall()
    database.close()
    assert group["games"] == len(written) > 4 and group["agent"] == "Raises"
    assert all(agent == own("Raises") and "no idea <what> to do" in details for _, agent, details in written)
    text = (tmp_path / "results.md").read_text()
    assert f"| Raises | exception | {len(written)} |" in text
    page = (tmp_path / "report.html").read_text()
    assert "ValueError: no idea &lt;what&gt; to do" in page and "<what>" not in page


@pytest.mark.parametrize("seconds", ["0", "-1", "nan"])
def test_a_limit_is_above_0(tmp_path, capsys, seconds):
    assert main([GAME, "--seconds-per-decision", seconds, "--out", str(tmp_path / "out")]) == 2
    assert "--seconds-per-decision" in capsys.readouterr().err


# ---------------------------------------------------------------- agents of one's own


def test_agents_of_your_own():
    agent = agents.load(own("Lowest"), CONFIG)
    assert agent.name == own("Lowest") and type(agent).__name__ == "Lowest"
    assert agents.fingerprint(own("Lowest")) == agents.fingerprint(own("Raises")) != ""
    assert np.array_equal(Players(("uniform", own("Lowest")), CONFIG)._policies >= 0, [True, False])


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("python:mine.py", "must read python:FILE.py:NAME"),
        ("python:nowhere.py:Agent", "there is no file nowhere.py"),
        (own("Missing"), "has nothing named Missing to call"),
        (own("NOT_CALLABLE"), "has nothing named NOT_CALLABLE to call"),
        (own("IsNoAgent"), "has no methods start and act"),
        (f"python:{FILE.parent / '__init__'}.txt:Agent", "there is no file"),
    ],
)
def test_files_without_an_agent(spec, message):
    with pytest.raises(AgentError, match=message):
        agents.load(spec, CONFIG)
