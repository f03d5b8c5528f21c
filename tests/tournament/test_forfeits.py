"""Agents that crash, cheat, hang or end the process: they lose that game, and nothing else is lost."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import sqlite3
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

import kepler_envs
from kepler_envs import bots
from kepler_envs.bots.from_file import EXCEPTION, MIB, PROCESS_DIED, TOO_MUCH_MEMORY, TOO_SLOW, BotFromFile, seeds_of
from kepler_envs.bots.protocol import BotError, TrustedDecisions
from kepler_envs.cli import main
from kepler_envs.cli.tournament import PlayTournament
from kepler_envs.engine.batch import Batch
from kepler_envs.tournament import play
from kepler_envs.tournament.check import CheckError, check
from kepler_envs.tournament.ledger import Ledger, LedgerError
from kepler_envs.tournament.play import ILLEGAL, Course, Forfeit, GameResult, Players, SoFar, ranks_after_forfeits
from kepler_envs.tournament.run import save_replays
from kepler_envs.tournament.schedule import Schedule
from kepler_envs.tournament.workers import Task, Workers, _Messenger, _Worker
from tests.effort import slow
from tests.tournament.misbehaving import ASKED
from tests.tournament.playing import FILE, GAME, command, own, start
from tests.waiting import wait_until

CONFIG = kepler_envs.load_game(GAME).configure(4)


def is_time(game, agent: int = 1) -> bool:
    """Whether an agent of misbehaving.py does so in this game."""
    seats = [seat for seat, index in enumerate(game.agents) if index == agent]
    return bool(seats) and seeds_of(game.agent_seeds[seats[0]])[0] % 3 == 0


def games_with(name: str, count: int = 24, **settings):
    players, schedule = Players(("uniform", own(name)), CONFIG, **settings), Schedule(2, 4, 0)
    return players, [schedule[number] for number in range(count)]


@pytest.fixture(scope="module")
def fine() -> list[GameResult]:
    """The games if nobody misbehaves."""
    players, games = games_with("Lowest")
    return players.play(games)


# ---------------------------------------------------------------- what becomes of the game


@pytest.mark.parametrize(
    ("name", "reason", "words"),
    [
        ("Raises", EXCEPTION, "ValueError: no idea <what> to do"),
        ("NamesNoId", ILLEGAL, "act returned the id"),
        ("NamesIllegalId", ILLEGAL, "legal were"),
        ("NamesHalves", ILLEGAL, "act returned float64 (1,) in place of integers (1,)"),
        ("NamesWords", ILLEGAL, "act returned list in place of integers (1,)"),
        ("NamesNothing", ILLEGAL, "act returned NoneType in place of integers (1,)"),
        ("Exits", EXCEPTION, "SystemExit: had enough"),
        ("Interrupts", EXCEPTION, "KeyboardInterrupt"),
        ("Forks", EXCEPTION, "act forked a process that returned from it as well"),
    ],
)
def test_a_forfeit_costs_the_game_and_no_other(name, reason, words, fine):
    players, games = games_with(name)
    results = players.play(games)
    assert [players.play_alone(game)[1] for game in games] == results  # however the games are played
    lost = [result for result in results if result.forfeits]
    assert 4 <= len(lost) <= 16
    for game, result, without in zip(games, results, fine, strict=True):
        if not result.forfeits:
            assert (result.ranks, result.length) == (without.ranks, without.length)
            continue
        (forfeit,) = result.forfeits
        assert is_time(game) and forfeit.decision >= ASKED - 1
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


def test_an_agent_that_fails_in_a_game_of_the_command_line_is_an_error(capsys):
    assert main(["watch", GAME, "--agents", own("RaisesAtStart"), "--delay", "0"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"kepler-envs: {own('RaisesAtStart')}: exception: Traceback") and said.endswith(
        "OSError: no model file\n\n"
    )


def test_a_process_that_ends_says_how(tmp_path):
    (tmp_path / "mine.py").write_text("import os\nAgent = lambda config: os._exit(5)\n")
    with pytest.raises(BotError, match="its process ended with exit code 5"):
        bots.load(f"python:{tmp_path / 'mine.py'}:Agent", CONFIG)
    players, games = games_with("EndsTheProcess", 12)
    forfeits = players.play_alone(next(filter(is_time, games)))[1].forfeits
    assert [(each.reason, each.details) for each in forfeits] == [
        (PROCESS_DIED, "the process ended with exit code 3 while the bot was asked")
    ]


@slow
def test_games_without_an_agent_do_not_start_it():
    players, schedule = Players(("uniform", own("Raises"), "greedy"), CONFIG), Schedule(3, 4, 0)
    games = [schedule[number] for number in range(200) if 1 not in schedule[number].agents][:4]
    agent = players.agents[1]
    agent.start(np.zeros(0, np.int64), np.zeros(0, np.uint64))
    assert len(games) == 4 and not any(result.forfeits for result in players.play(games))


@slow
def test_a_forked_process_may_end_by_itself():
    players, games = games_with("ForksAndWaits", 8)
    game = next(filter(is_time, games))
    assert not players.play_alone(game)[1].forfeits


@slow
def test_a_hog_of_memory_forfeits_and_begins_anew():
    """It keeps what it took, so its process is replaced; games after that are not touched."""
    players, games = games_with("Hogs", 24, memory=256 * MIB)
    bad, fine = ([game for game in games if is_time(game) == late][:2] for late in (True, False))
    for game, late in ((bad[0], True), (fine[0], False), (bad[1], True), (fine[1], False)):
        forfeits = players.play_alone(game)[1].forfeits
        assert [forfeit.reason for forfeit in forfeits] == [TOO_MUCH_MEMORY] * late
        assert all("MemoryError" in forfeit.details for forfeit in forfeits)


def test_too_little_memory_for_the_process_itself():
    with pytest.raises(BotError, match="1 MiB of memory is too little: the bot's process takes"):
        bots.load(own("Lowest"), CONFIG, memory=MIB)


# ---------------------------------------------------------------- what an agent can reach


def test_what_is_written_changes_no_game(fine):
    """In the games' own memory, a bot that sets its quest cards to 1 wins four games of five."""
    players, games = games_with("Writes", 12)
    assert players.play(games) == [
        replace(result, agents=tuple(spec.replace("Lowest", "Writes") for spec in result.agents))
        for result in fine[: len(games)]
    ]


def test_no_game_is_in_the_process_of_an_agent():
    players, games = games_with("LooksForGames", 2)
    assert not any(result.forfeits for result in players.play(games))


def test_the_seed_of_a_game_does_not_follow_from_what_agents_are_told():
    """The seeds of schedule.py are mixed by steps that can be undone."""
    game = Schedule(2, 4, 0)[0]
    told = seeds_of(game.agent_seeds[0])[0]
    assert told != game.agent_seeds[0] and told == seeds_of(game.agent_seeds[0])[0]
    assert len({seeds_of(seed) for seed in range(1000)}) == 1000
    assert hashlib.blake2b((7).to_bytes(8, "little"), digest_size=16, person=b"agent of a file").digest() == b"".join(
        word.to_bytes(8, "little") for word in seeds_of(7)
    )


def test_snapshots_are_drawn_for_the_seat_whatever_else_is_played():
    players, games = games_with("Samples", 6)
    results = players.play(games)
    assert not any(result.forfeits for result in results)
    assert players.play(games[::-1])[::-1] == results == [players.play_alone(game)[1] for game in games]


def test_snapshots_do_not_tell_what_is_hidden():
    """Two games that a seat cannot tell apart give it the same snapshots."""
    agent = bots.load(own("Samples"), CONFIG)
    batch = Batch(CONFIG, 2, 3)
    rows = np.arange(2)
    for _ in range(30):
        batch.step(batch.uniform())
    true = batch.snapshot(0)
    for row, position in enumerate((true, true.resample(true.seat, 5))):
        batch.restore(row, position)
    assert batch.states[0].tobytes() != batch.states[1].tobytes()
    agent.start(rows, np.array([9, 9], np.uint64))
    states = agent._resampled(TrustedDecisions(batch, rows))
    assert states[: len(states) // 2] == states[len(states) // 2 :]
    agent.start(rows, np.array([9, 10], np.uint64))
    other = agent._resampled(TrustedDecisions(batch, rows))
    assert other[: len(other) // 2] == states[: len(states) // 2] != other[len(other) // 2 :]


# ---------------------------------------------------------------- games are played again before they count


@pytest.fixture(scope="module")
def played():
    players, games = games_with("Raises", 12)
    results = players.play(games)
    check(results, CONFIG)
    return results


def test_games_of_compiled_policies_have_no_course():
    assert all(
        result.course is None
        for result in Players(("uniform", "greedy"), CONFIG, whole_games=False).play([Schedule(2, 4, 0)[0]])
    )


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda game: {"ranks": game.ranks[::-1]}, "its ranks is"),
        (lambda game: {"scores": tuple(score + 1 for score in game.scores)}, "its scores is"),
        (lambda game: {"returns": tuple(-value for value in game.returns)}, "its returns is"),
        (lambda game: {"length": game.length + 1}, "its length is"),
        (lambda game: {"end": "truncated"}, "its end is truncated, played again terminated"),
        (lambda game: {"seed": game.seed + 1}, "decision|its|it is"),
        (lambda game: {"course": Course(game.course.actions, "0" * 64)}, "its final state is 0000"),
        (lambda game: {"course": Course(game.course.actions[:-1], game.course.digest)}, "it is not over"),
        (lambda game: {"course": Course([*game.course.actions, 0], game.course.digest)}, "it is over before decision"),
        (lambda game: {"course": Course([10**6], game.course.digest)}, "decision 1, id 1000000, is not legal"),
        (lambda game: {"forfeits": ()}, "its ranks is|its returns is"),
    ],
)
def test_a_game_that_does_not_follow_from_its_decisions_is_an_error(played, wrong, words):
    number = next(number for number, game in enumerate(played) if game.forfeits)
    changed = [*played[:number], replace(played[number], **wrong(played[number])), *played[number + 1 :]]
    with pytest.raises(CheckError, match=f"game {number} .*does not follow from its seed .*: ({words})"):
        check(changed, CONFIG)


class Cheat:
    """An agent in the process of the games that wins by writing into them; no file can be loaded so."""

    def start(self, rows, seeds) -> None: ...

    def act(self, decisions):
        for row, seat in zip(decisions.rows, decisions.seat, strict=True):
            decisions.batch.states["player"]["quest_count"][row, seat] = 1
        return decisions.action_mask.argmax(axis=1)


def test_a_changed_state_is_noticed_before_the_game_counts(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(bots.KINDS, "net", bots.Kind("net:PATH", "a cheat", lambda argument, config: Cheat()))
    command = [GAME, "--agents", "uniform", "net:x", "--games", "12", "--processes", "1", "--out", str(tmp_path)]
    assert main(["tournament", *command]) == 1
    said = capsys.readouterr().err
    assert re.search(r"kepler-envs: game \d+ \(seed \d+\) does not follow from its seed and its \d+ decisions: ", said)
    with sqlite3.connect(tmp_path / "games.sqlite") as database:
        assert database.execute("SELECT count(*) FROM games").fetchone() == (0,)


# ---------------------------------------------------------------- more that goes wrong


def test_an_agent_that_cannot_start_forfeits_every_game_before_its_first_decision():
    players, games = games_with("RaisesAtStart", 12)
    results = players.play(games)
    assert all("OSError: no model file" in result.forfeits[0].details for result in results)
    # it is started when it is first asked
    assert all(result.forfeits[0].decision < result.length for result in results)


def test_places():
    none = None
    assert ranks_after_forfeits([1, 2, 3, 4], [none, none, none, none]) == [1, 2, 3, 4]
    assert ranks_after_forfeits([1, 2, 3, 4], [0, none, none, none]) == [4, 1, 2, 3]
    assert ranks_after_forfeits([1, 2, 2, 4], [0, none, none, 0]) == [3, 1, 1, 3]
    assert ranks_after_forfeits([1, 2, 3, 4], [0, 1, none, 1]) == [4, 2, 1, 2]  # who forfeits first is last
    assert ranks_after_forfeits([2, 1], [0, 0]) == [1, 1]


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
    players, games = games_with("IsSlow", 4, limit=1.0)
    results = players.play(games)
    late = [result for result in results if result.forfeits]
    assert {result.number for result in late} == {game.number for game in games if is_time(game)} != set()
    for result in late:
        assert result.forfeits[0].reason == TOO_SLOW and "1 s were allowed" in result.forfeits[0].details


def test_only_the_first_decision_of_a_process_may_take_longer():
    """Also of one that takes the place of a process that has ended."""
    players, games = games_with("EndsTheProcess", 12, limit=2.0)
    fine, bad = (next(game for game in games if is_time(game) == ends) for ends in (False, True))
    longer = 2.0 + play.SECONDS_TO_START
    assert players._seconds_for(1) == longer
    for game, allowed in ((fine, 2.0), (bad, longer), (fine, 2.0)):
        assert bool(players.play_alone(game)[1].forfeits) == (game is bad)
        assert players._seconds_for(1) == allowed
    assert games_with("Lowest", 1)[0]._seconds_for(1) is None


@slow
def test_agents_that_never_return_or_end_the_process(tmp_path):
    """One process, which is replaced whenever an agent takes it down; every game is played to its end."""
    names = ("NeverReturns", "EndsTheProcess")
    players, schedule = Players(tuple(map(own, names)), CONFIG, limit=2.0), Schedule(2, 4, 0)
    bad = [number for number in range(40) if is_time(schedule[number], 0) and is_time(schedule[number])][:1]
    others = [n for n in range(40) if not is_time(schedule[n], 0) and not is_time(schedule[n])][:3]
    games = [schedule[number] for number in (*others[:1], *bad, *others[1:])]
    with Workers(players, 1) as workers:
        results = {result.number: result for some in workers.play([games]) for result in some}
    assert sorted(results) == sorted(game.number for game in games)
    assert not any(results[number].forfeits for number in others)
    reasons = {own("NeverReturns"): TOO_SLOW, own("EndsTheProcess"): PROCESS_DIED}
    for number in bad:
        forfeits = results[number].forfeits
        assert forfeits and all(forfeit.reason == reasons[forfeit.agent] for forfeit in forfeits)
        assert all(forfeit.decision >= ASKED - 1 for forfeit in forfeits)
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


def test_forfeits_of_a_process_that_is_ended_later_are_kept():
    """The parent alone remembers them, and the first to forfeit is last."""
    players, games = games_with("Raises", 1)
    workers, told = Workers(players, 2), []
    worker = _Worker(None, None, Task(games))
    first = Forfeit("uniform", 3, EXCEPTION, "ValueError")
    _Messenger(SimpleNamespace(send=told.append)).forfeited(first)
    assert workers._take(worker, told.pop()) == []
    worker.asked, worker.decisions, worker.actions = 1, 9, [5, 6]
    workers._blame(worker, TOO_SLOW, "cut off")
    (task,) = workers._again
    assert task.so_far == SoFar((5, 6), (first, Forfeit(own("Raises"), 9, TOO_SLOW, "cut off")))


@slow
def test_the_first_to_forfeit_is_last_when_the_process_is_ended_for_the_second():
    players = Players((own("RaisesAtStart"), "mcts:1000ms"), kepler_envs.load_game(GAME).configure(2), limit=0.3)
    games = [Schedule(2, 2, 0)[number] for number in range(2)]
    with Workers(players, 1) as workers:
        results = {result.number: result for some in workers.play([games]) for result in some}
    for number in range(2):
        assert [forfeit.reason for forfeit in results[number].forfeits] == [EXCEPTION, TOO_SLOW]
        assert results[number].ranks[results[number].agents.index(own("RaisesAtStart"))] == 2


def test_results_come_as_games_end(monkeypatch):
    """Not when all games of the batch have: what has ended is in the ledger before the process can be killed."""
    players, games = games_with("Lowest")
    monkeypatch.setattr(play, "SECONDS_TOGETHER", 0.0)
    parts = list(players.stream(games))
    assert len(parts) > 5
    monkeypatch.setattr(play, "SECONDS_TOGETHER", 1e9)
    (together,) = players.stream(games)
    assert together == [result for part in parts for result in part]


NEVER_ANSWERS = """
import ctypes, pathlib


class NeverAnswers:
    def __init__(self, config): ...

    def start(self, rows, seeds): ...

    def act(self, decisions):
        pathlib.Path(__file__).with_name("asked").touch()
        ctypes.PyDLL(None).sleep(1000)
"""


@slow
def test_ctrl_c_stops_the_tournament_and_is_no_forfeit(tmp_path):
    """The second one, while an agent is asked: nothing waits for its answer."""
    (tmp_path / "mine.py").write_text(NEVER_ANSWERS)
    agents = ("uniform", f"python:{tmp_path / 'mine.py'}:NeverAnswers")
    process = start(command(tmp_path / "out", agents, 12, "--processes", "1"))
    assert process.stdout is not None
    wait_until((tmp_path / "asked").exists, "asking the agent")
    os.killpg(process.pid, signal.SIGINT)
    said = iter(process.stdout.readline, "")
    assert any("finishing the games that are being played; Ctrl-C again drops them" in line for line in said)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    with sqlite3.connect(tmp_path / "out" / "games.sqlite") as database:
        for table in ("games", "forfeits"):
            assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


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
    database.execute("UPDATE tournament SET value = '2' WHERE name = 'format'")
    database.execute("DELETE FROM tournament WHERE name = 'checksum'")
    database.commit()
    database.close()
    with pytest.raises(LedgerError, match="a ledger of format 2, this version writes format 3"):
        Ledger(path, {})


def test_a_report_with_forfeits(tmp_path):
    settings = {"players": 4, "processes": 1, "bootstrap": 40, "games": 24}
    assert (
        PlayTournament(game=GAME, agents=("uniform", own("Raises")), out=tmp_path, **settings).run(Console(quiet=True))
        == 0
    )
    data = json.loads((tmp_path / "leaderboard.json").read_text())
    (group,) = data["forfeits"]
    database = sqlite3.connect(tmp_path / "games.sqlite")
    written = database.execute("SELECT game, agent, details FROM forfeits ORDER BY rowid").fetchall()
    database.close()
    assert group["games"] == len(written) > 4 and group["agent"] == "Raises"
    assert all(agent == own("Raises") and "no idea <what> to do" in details for _, agent, details in written)
    text = (tmp_path / "results.md").read_text()
    assert f"| Raises | exception | {len(written)} |" in text and "scores there are those that uniform play" in text
    page = (tmp_path / "report.html").read_text()
    assert "ValueError: no idea &lt;what&gt; to do" in page and "<what>" not in page


def test_a_game_without_forfeits_is_shown_if_there_is_one(played, tmp_path):
    players, games = games_with("Raises", 12)
    first = next(number for number, game in enumerate(played) if game.forfeits)
    assert not all(game.forfeits for game in played[first:])
    workers = SimpleNamespace(players=players, play_alone=lambda game, careful: players.play_alone(game))
    (shown,) = save_replays(tmp_path, workers, games, played[first:], ["uniform", "Raises"])
    (alone,) = save_replays(tmp_path, workers, games, [played[first]], ["uniform", "Raises"])
    assert shown.forfeits == {} and shown.game == min(game.number for game in played[first:] if not game.forfeits)
    assert alone.forfeits == {"Raises": played[first].forfeits[0].decision} and alone.game == first


@pytest.mark.parametrize("seconds", ["0", "-1", "nan"])
def test_a_limit_is_above_0(tmp_path, capsys, seconds):
    assert main(["tournament", GAME, "--seconds-per-decision", seconds, "--out", str(tmp_path / "out")]) == 2
    assert "--seconds-per-decision" in capsys.readouterr().err


# ---------------------------------------------------------------- agents of one's own


def test_agents_of_your_own():
    agent = bots.load(own("Lowest"), CONFIG)
    assert agent.name == own("Lowest") and isinstance(agent, BotFromFile)
    assert bots.fingerprint(own("Lowest")) == bots.fingerprint(own("Raises")) != ""
    assert np.array_equal(Players(("uniform", own("Lowest")), CONFIG)._policies >= 0, [True, False])


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("python:mine.py", "must read python:FILE.py:NAME"),
        ("python:nowhere.py:Agent", "there is no file nowhere.py"),
        (own("Missing"), "has nothing named Missing to call"),
        (own("NOT_CALLABLE"), "has nothing named NOT_CALLABLE to call"),
        (own("IsNoAgent"), r"IsNoAgent\(config\) has no start or no act method"),
        (own("FailsAtOnce"), r"FailsAtOnce\(config\) failed\n(.*\n)*SystemExit: not today"),
        (f"python:{FILE.parent / '__init__'}.txt:Agent", "there is no file"),
    ],
)
def test_files_without_an_agent(spec, message):
    with pytest.raises(BotError, match=message):
        bots.load(spec, CONFIG)
