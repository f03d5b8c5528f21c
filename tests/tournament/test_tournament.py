"""Tournaments: games that do not depend on how they are played, ledgers that survive, reports that can be checked."""

from __future__ import annotations

import io
import json
import os
import signal
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import kepler_envs
from kepler_envs import bots
from kepler_envs.bots.protocol import BotError, TrustedDecisions
from kepler_envs.cli import main
from kepler_envs.cli.tournament import PlayTournament
from kepler_envs.engine.replay import read_replay, verify
from kepler_envs.tournament import TournamentError, VersionError
from kepler_envs.tournament import ledger as ledger_module
from kepler_envs.tournament import run as tournament_module
from kepler_envs.tournament.ledger import Ledger, LedgerError
from kepler_envs.tournament.play import GameResult, Players
from kepler_envs.tournament.report import learning_curves, read_learning_curve
from kepler_envs.tournament.run import Tournament, display_names, replay_paths
from kepler_envs.tournament.schedule import Schedule
from kepler_envs.tournament.standings import standings
from kepler_envs.tournament.versions import Versions
from kepler_envs.tournament.workers import Workers
from tests.effort import only_deep, slow
from tests.interrupts import interrupted_children
from tests.tournament.playing import GAME, command, rows, start, wait_for_games

SPECS = ("uniform", "greedy")
CONFIG = kepler_envs.load_game(GAME).configure(4)


def tournament(out: Path, **settings) -> PlayTournament:
    return PlayTournament(game=GAME, players=4, out=out, **{"processes": 1, "games": 120, "bootstrap": 40, **settings})


def run(out: Path, **settings) -> int:
    return tournament(out, **settings).run(Console(quiet=True))


def report(out: Path) -> dict:
    data = json.loads((out / "leaderboard.json").read_text())
    del data["commits"]  # files may change while the tests run
    return data


# ---------------------------------------------------------------- games


def test_games_do_not_depend_on_batches_or_processes(tmp_path):
    settings = {"a": {"batch": 8}, "b": {"batch": 64, "processes": 2}, "c": {"batch": 1}}
    for name, chosen in settings.items():
        assert run(tmp_path / name, **chosen) == 0
    assert rows(tmp_path / "a") == rows(tmp_path / "b") == rows(tmp_path / "c")
    assert report(tmp_path / "a") == report(tmp_path / "b") == report(tmp_path / "c")


def test_games_do_not_depend_on_how_many_there_are(tmp_path, monkeypatch):
    """Many are played as whole games in compiled code."""
    run(tmp_path / "few")
    monkeypatch.setattr(tournament_module, "GAMES_WORTH_COMPILING", 100)
    run(tmp_path / "many", processes=2)
    assert rows(tmp_path / "few") == rows(tmp_path / "many")
    assert report(tmp_path / "few") == report(tmp_path / "many")


def test_memory_of_an_agent_is_asked_for_in_mib(tmp_path, monkeypatch):
    asked = []

    def refuse(*arguments, memory):
        asked.append(memory)
        raise BotError("enough is known")

    monkeypatch.setattr(tournament_module, "Players", refuse)
    for memory in (None, 256):
        with pytest.raises(BotError, match="enough is known"):
            run(tmp_path, memory_per_agent=memory)
    assert asked == [None, 256 * 2**20]


def test_games_do_not_depend_on_their_place_in_the_batch():
    players, schedule = Players(SPECS, CONFIG), Schedule(2, 4, 0)
    games = [schedule[number] for number in range(24)]
    forwards = players.play(games)
    assert players.play(games[::-1])[::-1] == forwards
    assert players.play(games[5:6]) == forwards[5:6]


def test_a_game_is_the_one_its_seed_deals():
    players, game = Players(SPECS, CONFIG), Schedule(2, 4, 0)[3]
    actions, result = players.play_alone(game)
    env = kepler_envs.make(GAME, num_players=4)
    env.reset(seed=result.seed)
    for action in actions:
        env.step(action)
    assert [env.infos[f"player_{seat}"]["rank"] for seat in range(4)] == list(result.ranks)
    assert len(actions) == result.length


def test_truncated_games_say_so():
    players = Players(SPECS, kepler_envs.load_game(GAME).configure(4, max_turns=3))
    result = players.play([Schedule(2, 4, 0)[0]])[0]
    assert result.end == "truncated"


def test_chunks_come_from_several_processes():
    players, schedule = Players(SPECS, CONFIG), Schedule(2, 4, 0)
    chunks = [[schedule[number] for number in range(first, first + 4)] for first in range(0, 24, 4)]
    with Workers(players, 2) as workers:
        for _ in range(2):  # they stay for more
            found = sorted((game for some in workers.play(chunks) for game in some), key=lambda game: game.number)
            assert found == players.play([game for chunk in chunks for game in chunk])


# ---------------------------------------------------------------- the ledger


def result(number: int) -> GameResult:
    return GameResult(number, 2**63 - 1 - number, ("a", "b"), (1, 2), (5, 3), (1.0, -1.0), 17, "terminated")


def test_a_ledger_keeps_games(tmp_path):
    with Ledger(tmp_path / "games.sqlite", {"game": "x"}) as ledger:
        ledger.add([result(3), result(1)], "digest", "commit-1")
        ledger.add([result(0)], "digest", "commit-2")
    with Ledger(tmp_path / "games.sqlite", {"game": "x"}) as ledger:
        assert ledger.results(3) == [result(0), result(1)]
        assert ledger.missing(6) == [2, 4, 5]
        assert ledger.commits(4) == ["commit-2", "commit-1"]


def test_a_game_is_written_once_and_all_or_none(tmp_path):
    with Ledger(tmp_path / "games.sqlite", {}) as ledger:
        ledger.add([result(0)], "", "")
        with pytest.raises(LedgerError, match="a game is there already"):
            ledger.add([result(1), result(0)], "", "")
        assert ledger.missing(3) == [1, 2]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"agents": ("greedy", "uniform")}, 'agents = \\["uniform", "greedy"\\] there, \\["greedy", "uniform"\\] here'),
        ({"seed": 1}, "seed = 0 there, 1 here"),
        ({"option": ("hand_size=5",)}, "options = .* there, .* here"),
        ({"players": 3}, '"num_players": 4.* there, .*"num_players": 3.* here'),
    ],
)
def test_a_foreign_ledger_is_refused(tmp_path, changed, message):
    run(tmp_path, games=12)
    before = rows(tmp_path)
    with pytest.raises(LedgerError, match=message):
        PlayTournament(**{"game": GAME, "players": 4, "out": tmp_path, "processes": 1, **changed}).run(
            Console(quiet=True)
        )
    assert rows(tmp_path) == before


def test_what_is_no_ledger_is_refused(tmp_path):
    path = tmp_path / "games.sqlite"
    path.write_text("this is no database, but it is long enough to be read as one" * 20)
    with pytest.raises(LedgerError, match="cannot be used as a ledger"):
        Ledger(path, {})
    path.unlink()
    sqlite3.connect(path).execute("CREATE TABLE other (x)").connection.close()
    with pytest.raises(LedgerError, match="a database, but not a ledger"):
        Ledger(path, {})


def test_more_games_extend_a_tournament(tmp_path):
    run(tmp_path / "steps", games=24)
    run(tmp_path / "steps", games=60)
    run(tmp_path / "once", games=60)
    assert rows(tmp_path / "steps") == rows(tmp_path / "once")
    assert report(tmp_path / "steps") == report(tmp_path / "once")
    output = io.StringIO()
    tournament(tmp_path / "steps", games=20).run(Console(file=output, width=300))
    assert "20 games are rounded up to 24: whole blocks of 12 balanced games\n" in output.getvalue()
    fewer = report(tmp_path / "steps")  # a report on the first of them
    assert (fewer["games"], fewer["games_in_ledger"], report(tmp_path / "once")["games_in_ledger"]) == (24, 60, 60)
    words = "games.sqlite holds 60 games; the report is about the first 24"
    assert f"{words}\n" in output.getvalue()
    for name in ("report.html", "results.md"):
        assert f"{words}. " in (tmp_path / "steps" / name).read_text()
        assert "the report is about" not in (tmp_path / "once" / name).read_text()
    tournament(tmp_path / "steps", games=1, fresh=True).run(Console(file=output, width=300))
    assert "\n1 game is rounded up to 12: whole blocks" in output.getvalue()
    assert len(rows(tmp_path / "steps")) == 12


def test_a_fresh_tournament_shows_none_of_the_old_games(tmp_path):
    run(tmp_path / "out", agents=("uniform", "greedy", "bc-v1"), games=30)
    (tmp_path / "out" / "replays" / "notes.txt").write_text("mine")
    for name in ("game-7.jsonl", "game-mine.jsonl"):
        (tmp_path / "out" / name).write_text("a game")
    run(tmp_path / "out", agents=("uniform", "greedy"), games=12, fresh=True)
    assert [path.name for path in (tmp_path / "out").glob("*.jsonl")] == ["game-mine.jsonl"]
    left = {path.name for path in (tmp_path / "out" / "replays").iterdir()}
    assert left - {"uniform-greedy.html"} == {"uniform-greedy.jsonl", "notes.txt"}


@slow
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT, pytest.param(signal.SIGTERM, marks=only_deep)])
def test_an_interrupted_tournament_goes_on(tmp_path, blow):
    games = 4800
    process = start(command(tmp_path / "hit", SPECS, games, "--batch", "2", "--processes", "2"))
    wait_for_games(process, tmp_path / "hit", 48)
    if blow == signal.SIGKILL:
        process.kill()
    else:
        os.killpg(process.pid, blow)  # as a terminal or a batch system does
    # ends when no worker holds the pipe any more: they go with their parent
    printed = process.communicate(timeout=120)[0]
    before = rows(tmp_path / "hit")
    assert 48 <= len(before) < games
    if blow != signal.SIGKILL:
        assert process.returncode == 130 and "the same command goes on from there" in printed
    assert run(tmp_path / "hit", games=games, bootstrap=40) == 0
    assert run(tmp_path / "whole", games=games, bootstrap=40) == 0
    after = rows(tmp_path / "hit")
    assert set(before) <= set(after)
    assert after == rows(tmp_path / "whole")
    assert report(tmp_path / "hit") == report(tmp_path / "whole")


def test_signals_do_not_end_processes_that_are_starting():
    """A terminal sends Ctrl-C to all of them, also to those that are still importing."""
    games = [Schedule(len(SPECS), 4, 3)[number] for number in range(12)]
    chunks = [games[first : first + 2] for first in range(0, 12, 2)]
    with interrupted_children() as interrupted, Workers(Players(SPECS, CONFIG), 2) as workers:
        results = [result for some in workers.play(chunks) for result in some]
    assert len(results) == 12 and len(interrupted) == 2


# ---------------------------------------------------------------- the report


def test_the_report(tmp_path, monkeypatch):
    """Its intervals are those of as many samples as were asked for, by the seed of the tournament."""
    games: list[GameResult] = []

    def noted(results, *others):
        games[:] = results
        return standings(results, *others)

    monkeypatch.setattr(tournament_module, "standings", noted)
    (tmp_path / "learning_curve.png").write_bytes(b"of an earlier tournament")
    run(tmp_path, bootstrap=60, seed=3)
    data = report(tmp_path)
    expected = [standings(games, SPECS, SPECS, *asked).as_json()["lines"] for asked in ((60, 3), (61, 3), (60, 4))]
    assert [data["lines"] == lines for lines in expected] == [True, False, False]
    assert [game.seed for game in games] == [Schedule(2, 4, 3)[number].seed for number in range(120)]
    assert [line["agent"] for line in data["lines"]] == ["greedy", "uniform"]
    assert data["games"] == len(rows(tmp_path)) == 120
    assert data["alone"][0][1]["games"] == 40 and data["alone"][0][1]["mean"] > 0.8
    text = (tmp_path / "results.md").read_text()
    assert "| greedy | +" in text and "uniform_greedy.jsonl" in text.replace("-", "_")
    assert (tmp_path / "ratings.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "learning_curve.png").exists()


class Lowest:
    """Plays the lowest legal id; it sees only what ``TrustedDecisions`` shows."""

    name = "lowest"

    def start(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        assert rows.dtype == np.int64 and seeds.dtype == np.uint64 and len(rows) == len(seeds)

    def act(self, decisions: TrustedDecisions) -> np.ndarray:
        assert decisions.observation.shape == (len(decisions), CONFIG.observation.size)
        assert np.all(decisions.seat == decisions.batch.seat[decisions.rows])
        return decisions.action_mask.argmax(axis=1)


def test_three_agents_one_of_them_learned(tmp_path, monkeypatch):
    monkeypatch.setitem(bots.KINDS, "net", bots.Kind("net:PATH", "a stand-in", lambda argument, config: Lowest()))
    (tmp_path / "learning_curve.csv").write_text(
        "steps,win_rate_uniform,win_rate_greedy,seconds\n0,0.25,,1\n512,0.5,0.1,9\n"
    )
    run(tmp_path, agents=(*SPECS, f"net:{tmp_path}"), games=72)
    data = report(tmp_path)
    assert [line["agent"] for line in data["lines"]] == ["greedy", "net", "uniform"]
    assert {line["seats"] for line in data["lines"]} == {96}
    assert sorted(replay["file"] for replay in data["replays"]) == [
        "greedy-net.jsonl",
        "uniform-greedy.jsonl",
        "uniform-net.jsonl",
    ]
    assert (tmp_path / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    assert "learning_curve.png" in (tmp_path / "results.md").read_text()


def test_a_checkpoint_that_changed_is_another_agent(tmp_path, monkeypatch):
    monkeypatch.setitem(bots.KINDS, "net", bots.Kind("net:PATH", "a stand-in", lambda argument, config: Lowest()))
    (tmp_path / "best.zip").write_bytes(b"weights")
    run(tmp_path, agents=(*SPECS, f"net:{tmp_path}"), games=36)
    (tmp_path / "best.zip").write_bytes(b"better weights")
    with pytest.raises(LedgerError, match="versions = .* there, .* here"):
        run(tmp_path, agents=(*SPECS, f"net:{tmp_path}"), games=36)


def test_no_ledger_has_games_of_two_versions_of_a_bot(tmp_path, monkeypatch, capsys):
    """Whoever loads a bot anew, for example in place of a process that was ended, gets the file that is there."""
    monkeypatch.setitem(bots.KINDS, "net", bots.Kind("net:PATH", "a stand-in", lambda argument, config: Lowest()))
    weights, add = tmp_path / "best.zip", Ledger.add
    weights.write_bytes(b"weights")

    def add_and_train(self, *arguments):
        add(self, *arguments)
        weights.write_bytes(b"better weights")

    monkeypatch.setattr(Ledger, "add", add_and_train)
    words = [GAME, "--agents", "uniform", f"net:{tmp_path}", "--out", str(tmp_path), "--processes", "1"]
    words += ["--games", "24", "--batch", "4", "--bootstrap", "40"]
    assert main(["tournament", *words]) == 1
    assert capsys.readouterr().err == (
        f"kepler-envs: net:{tmp_path} has changed since the tournament began; all games in the ledger are of the "
        "version before: put that back and the same command goes on, or begin anew with --fresh or another --out\n"
    )
    kept = rows(tmp_path)
    assert len(kept) == 4
    monkeypatch.setattr(Ledger, "add", add)
    weights.write_bytes(b"weights")
    assert main(["tournament", *words]) == 0
    assert len(rows(tmp_path)) == 24 and set(kept) < set(rows(tmp_path))


def test_files_of_bots_are_read_again_only_if_they_were_written(tmp_path, monkeypatch):
    weights, read = tmp_path / "best.zip", []
    weights.write_bytes(b"weights")
    monkeypatch.setattr(bots, "fingerprint", lambda spec, game: read.append(spec) or weights.read_text())
    versions = Versions(["greedy", f"net:{weights}"], GAME)
    assert versions.fingerprints == ["weights", "weights"] and read == ["greedy", f"net:{weights}"]
    versions.check()
    assert len(read) == 2
    copy = tmp_path / "copy"
    copy.write_bytes(b"weights")
    copy.replace(weights)
    versions.check()
    versions.check()
    assert len(read) == 3
    weights.write_bytes(b"better weights")
    with pytest.raises(VersionError, match=f"^net:{weights} has changed since the tournament began; "):
        versions.check()


@pytest.mark.parametrize("spec", ["net:{}", "net:{}/best.zip", "mcts:9,network=net:{}", "python:{}/best.zip:Bot"])
def test_a_file_that_is_gone_is_another_bot(tmp_path, spec):
    (tmp_path / "best.zip").write_bytes(b"weights")
    versions = Versions([spec.format(tmp_path)], GAME)
    versions.check()
    (tmp_path / "best.zip").unlink()
    with pytest.raises(VersionError, match="has changed since"):
        versions.check()


def test_any_game_of_a_ledger_can_be_played_again(tmp_path):
    """Bots that draw random numbers draw the same ones: `uniform` on every seat but one."""
    cup = Tournament(CONFIG, SPECS, games=24, out=tmp_path, processes=1, bootstrap=40)
    cup.run(Console(quiet=True))
    for number, seed, _, by_seat, ranks, _, _, length, _ in rows(tmp_path)[5:8]:
        replay = cup.replay(number)
        assert verify(replay, CONFIG).over
        assert (replay.seed, replay.agents) == (seed, json.loads(by_seat))
        assert (replay.final["rank"], replay.final["length"]) == (json.loads(ranks), length)


def test_a_game_that_is_not_in_the_ledger(tmp_path):
    cup = Tournament(CONFIG, SPECS, games=24, out=tmp_path, processes=1, bootstrap=40)
    with pytest.raises(TournamentError, match="there is no .*games.sqlite"):
        cup.replay(0)
    assert not (tmp_path / "games.sqlite").exists()
    cup.run(Console(quiet=True))
    for number in (24, -1, 2**63):
        with pytest.raises(TournamentError, match=f"games.sqlite has no game {number}$"):
            cup.replay(number)
    for wrong in ("1", 1.0, True, None):
        with pytest.raises(TournamentError, match=f"^number = {wrong!r} is not allowed; allowed: an integer from 0"):
            cup.replay(wrong)


def test_a_game_that_goes_otherwise_when_it_is_played_again(tmp_path, monkeypatch):
    cup = Tournament(CONFIG, SPECS, games=24, out=tmp_path, processes=1, bootstrap=40)
    cup.run(Console(quiet=True))
    results = Ledger.results
    monkeypatch.setattr(Ledger, "results", lambda *asked: [replace(game, length=1) for game in results(*asked)])
    with pytest.raises(TournamentError, match="game 3 goes otherwise when it is played again"):
        cup.replay(3)


def test_every_replay_verifies_and_is_a_game_of_the_ledger(tmp_path):
    run(tmp_path)
    ledger = {row[0]: row for row in rows(tmp_path)}
    replays = report(tmp_path)["replays"]
    assert len(replays) == 1
    for saved in replays:
        replay = read_replay(tmp_path / "replays" / saved["file"])
        assert verify(replay, CONFIG).over
        assert saved["same"] and sorted(set(replay.agents)) == sorted(SPECS)
        number, seed, _, by_seat, ranks, _, _, length, _ = ledger[saved["game"]]
        assert (replay.seed, replay.agents) == (seed, json.loads(by_seat))
        assert (replay.final["rank"], replay.final["length"]) == (json.loads(ranks), length)


def test_learning_curves_are_read_beside_checkpoints(tmp_path, monkeypatch):
    (tmp_path / "learning_curve.csv").write_text(
        "steps,win_rate_uniform,win_rate_greedy,seconds\n0,0.25,,1\n512,0.5,0.1,9\n"
    )
    found = read_learning_curve(f"net:{tmp_path / 'best.zip'}")
    assert found == read_learning_curve(f"net:{tmp_path}")
    assert found[0] == {"steps": 0, "win_rate_uniform": 0.25, "seconds": 1}
    assert found[1]["win_rate_greedy"] == 0.1
    assert read_learning_curve("greedy") == read_learning_curve(f"net:{tmp_path / 'other' / 'best.zip'}") == []
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    assert read_learning_curve(f"net:~/{tmp_path.name}") == found


@pytest.mark.parametrize(
    "lines, words",
    [
        (b"0,often\n", "'often'"),
        (b"0,nan\n", "win_rate_uniform is nan"),
        (b",0.5\n", "a line has no steps"),
        (b"0,\xff\n", "can't decode"),
        (b'0,"' + b"1" * 200_000, "field larger than field limit"),
    ],
    ids=["word", "nan", "no_steps", "no_text", "open_quote"],
)
def test_a_damaged_learning_curve_is_named(tmp_path, lines, words):
    path = tmp_path / "learning_curve.csv"
    path.write_bytes(b"steps,win_rate_uniform\n" + lines)
    with pytest.raises(TournamentError, match=f"^{path} is damaged: .*{words}.*; the games are kept$"):
        read_learning_curve(f"net:{tmp_path}")


def test_a_network_for_several_numbers_of_players_has_the_curve_of_this_table(tmp_path):
    columns = "steps,win_rate_greedy_3p,low_greedy_3p,high_greedy_3p,win_rate_greedy_4p,seconds"
    (tmp_path / "learning_curve.csv").write_text(f"{columns}\n0,0.3,0.2,0.4,0.25,1\n512,0.5,0.4,0.6,0.75,9\n")
    spec = f"net:{tmp_path}"
    found = learning_curves(("greedy", spec), 3)
    assert found == {(spec, "greedy"): [(0, 0.3, 0.2, 0.4, 1), (512, 0.5, 0.4, 0.6, 9)]}
    assert [point.wins for point in learning_curves((spec,), 4)[spec, "greedy"]] == [0.25, 0.75]
    assert learning_curves((spec,), 5) == {}  # it was never evaluated there


def test_an_experts_curve_has_columns_that_are_no_numbers(tmp_path):
    (tmp_path / "learning_curve.csv").write_text(
        "generation,steps,seconds,win_rate_greedy,low_greedy,high_greedy,against_best,accepted\n"
        "1,10,2.5,0.3,0.2,0.4,0.5,True\n"
    )
    expected = {"steps": 10, "seconds": 2.5, "win_rate_greedy": 0.3, "low_greedy": 0.2, "high_greedy": 0.4}
    assert read_learning_curve(f"net:{tmp_path}") == [expected]


def test_names_are_short_where_they_can_be():
    assert display_names(["uniform", "net:runs/a.zip"]) == ["uniform", "net"]
    assert display_names(["greedy", "net:a", "net:b"]) == ["greedy", "net:a", "net:b"]


# ---------------------------------------------------------------- the command line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chess"], "no game 'chess'"),
        ([GAME, "--agents", "uniform"], "at least two are needed"),
        ([GAME, "--agents", "uniform", "uniform"], "each named once"),
        ([GAME, "--agents", "uniform", "python:b\udcff.py:Bot"], "python:b?.py:Bot: its path is not UTF-8; rename"),
        ([GAME, "--agents", "uniform", "gredy"], "no bot 'gredy'; there are:"),
        (
            [GAME, "--players", "8", "--agents", *(f"mcts:{number}" for number in range(1, 41))],
            "--agents: 40 on 8 seats can sit at 76,906,245 different tables; allowed: at most 1,000,000. Name fewer",
        ),
        ([GAME, "--players", "9"], "num_players = 9 is not allowed"),
        (["kepler_3042", "--players", "1"], "--players 1 makes no tournament; allowed: at least 2"),
        ([GAME, "--games", "0"], "--games 0 is not allowed"),
        ([GAME, "--bootstrap", "39"], "--bootstrap 39 is not allowed; allowed: an integer from 40 on"),
        ([GAME, "--seed", "-1"], "--seed -1 is not allowed"),
        ([GAME, "--seed", str(2**64)], f"--seed {2**64} is not allowed; allowed: an integer 0..2**64 - 1"),
    ],
)
def test_wrong_arguments_are_one_line(tmp_path, capsys, arguments, message):
    assert main(["tournament", *arguments, "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_file_of_a_replay_is_named_after_both_agents():
    """Of a long name it has the end, in whole letters."""
    several = replay_paths(Path("replays"), ["a", "b!", "b?"])
    assert [path.name for path in several.values()] == ["a-b_.jsonl", "a-b_-0-2.jsonl", "b_-b_.jsonl"]
    (path,) = replay_paths(Path("replays"), ["x" * 300, "\u00e4" * 99 + "end"]).values()
    assert path.name == f"{'x' * 100}-{chr(0xE4) * 48}end.jsonl"


def test_the_command_writes_a_game_of_its_ledger_down(tmp_path, capsys):
    command = ["tournament", GAME, "--players", "3", "--option", "quest_size=2", "--games", "18", "--processes", "1"]
    command += ["--bootstrap", "40", "--out", str(tmp_path / "cup")]
    assert main(command) == 0
    ledger = (tmp_path / "cup" / "games.sqlite").read_bytes()
    capsys.readouterr()
    assert main([*command, "--replay", "7"]) == 0
    path = tmp_path / "cup" / "game-7.jsonl"
    assert "".join(capsys.readouterr().out.split()) == f"written:{path}"
    replay, row = read_replay(path), rows(tmp_path / "cup")[7]
    assert (replay.seed, replay.agents, replay.final["rank"]) == (row[1], json.loads(row[3]), json.loads(row[4]))
    assert main(["replay", str(path), "--delay", "0"]) == 0
    assert (tmp_path / "cup" / "games.sqlite").read_bytes() == ledger
    refused = (
        *((["--replay", number], f"has no game {number}") for number in ("99", "-1", "9" * 20)),
        (["--replay", "7", "--fresh"], "--fresh deletes"),
        (["--replay", "7", "--ray"], "leave --ray out"),
    )
    for wrong, message in refused:
        assert main([*command, *wrong]) == 2 and message in capsys.readouterr().err
    assert main([*command, "--seed", "5", "--replay", "7"]) == 2, "that is another tournament"
    assert (tmp_path / "cup" / "games.sqlite").read_bytes() == ledger


# ---------------------------------------------------------------- from Python


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("games", 1, 10**9),
        ("processes", 1, None),
        ("batch", 1, None),
        ("bootstrap", 40, None),
        ("memory_per_agent", 1, 10**9),
    ],
)
def test_counts_are_integers(name, least, most):
    none = (None,) if name in ("games", "batch", "bootstrap") else ()  # of the others it means any number
    allowed = f"from {least} on" if most is None else f"{least}..{most}"
    for value in (least - 1, least + 0.5, "80", True, *none, *(() if most is None else (most + 1, 10**32))):
        message = f"^--{name.replace('_', '-')} {value} is not allowed; allowed: an integer {allowed}$"
        with pytest.raises(TournamentError, match=message):
            Tournament(CONFIG, **{name: value})
    if most is not None:
        assert getattr(Tournament(CONFIG, **{name: most}), name) == most


@pytest.mark.parametrize("seconds", [0.0, float("nan"), 90_000, "1", True])
def test_a_time_limit_is_a_number(seconds):
    message = f"^--seconds-per-decision {seconds} is not allowed; allowed: above 0, up to 86400$"
    with pytest.raises(TournamentError, match=message):
        Tournament(CONFIG, seconds_per_decision=seconds)


@pytest.mark.parametrize("seconds", [1, np.int64(1), np.float32(1), np.float64(1)])
def test_a_time_limit_may_be_any_kind_of_number(tmp_path, seconds):
    """The ledger takes no numbers of NumPy, and 1 and 1.0 are the same limit."""
    for limit in (seconds, 1.0):
        cup = Tournament(
            CONFIG, games=12, out=tmp_path, seconds_per_decision=limit, memory_per_agent=None, processes=1, bootstrap=40
        )
        assert type(cup.seconds_per_decision) is float
        with Ledger(tmp_path / "games.sqlite", cup._identity(CONFIG, Versions(cup.agents, GAME))):
            pass


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"agents": ("greedy", 3)}, r"^agents must be a list or tuple of specs, not \('greedy', 3\)$"),
        ({"agents": "greedy"}, "^agents must be a list or tuple of specs, not 'greedy'$"),
        ({"fresh": "no"}, "^fresh must be a bool, not 'no'$"),  # it would delete an earlier tournament
        ({"adaptive": 0.5}, "^adaptive must be a bool, not 0.5$"),
        ({"cluster": "local"}, r"^cluster must be a Cluster, not 'local'; Cluster\(ADDRESS\) makes one$"),
        ({"config": GAME}, f"^config must be a Configuration, not '{GAME}'; .* makes one$"),
    ],
)
def test_values_of_another_type(wrong, message):
    with pytest.raises(TypeError, match=message):
        Tournament(**{"config": CONFIG, **wrong})


def test_text_and_numpy_integers_will_do(tmp_path):
    """A path as text, numbers as arrays hold them, agents as a list."""
    games, seed, memory = np.array([12, 5, 4096])
    cup = Tournament(
        CONFIG, ["uniform", "greedy"], games, out=str(tmp_path / "a"), seed=seed, memory_per_agent=memory,
        processes=1, bootstrap=40,
    )  # fmt: skip
    assert cup.out == tmp_path / "a" and cup.run(Console(quiet=True)) == 0
    run(tmp_path / "b", games=12, seed=5, memory_per_agent=4096)
    assert rows(tmp_path / "a") == rows(tmp_path / "b")


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (MemoryError(), "not enough memory; ask for less, such as fewer games"),
        (MemoryError("Unable to allocate 9 GiB"), "not enough memory: Unable to allocate 9 GiB; ask for less, such as"),
    ],
)
def test_a_lack_of_memory_is_said(tmp_path, monkeypatch, capsys, problem, words):
    def fail(*_):
        raise problem

    monkeypatch.setattr(Schedule, "__getitem__", fail)
    assert main(["tournament", GAME, "--processes", "1", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"kepler-envs: {words}")


def test_a_lack_of_memory_is_no_damage(tmp_path, monkeypatch):
    def fail(*_):
        raise MemoryError

    with Ledger(tmp_path / "games.sqlite", {}) as ledger:
        ledger.add([result(0)], "", "")
        monkeypatch.setattr(ledger_module, "_result", fail)
        with pytest.raises(MemoryError):
            ledger.results(1)


def test_a_folder_may_have_any_name(tmp_path, monkeypatch):
    """Its bytes may be no UTF-8, which a terminal need not take."""
    out = tmp_path / os.fsdecode(b"caf\xe9")
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict")
    tournament(out, games=24).run(Console(file=printed, width=300))
    tournament(out, games=12).run(Console(file=printed, width=300))
    monkeypatch.setattr(Tournament, "_play", lambda *_: False)
    assert tournament(out, games=12).run(Console(file=printed, width=300)) == 130
    printed.seek(0)
    said, ledger = printed.read(), f"{tmp_path}/caf?/games.sqlite"
    assert f"{ledger} holds 24 games; the report is about the first 12" in said
    assert f"stopped; every finished game is in {ledger}, the same command goes on from there" in said


def test_an_agent_that_cannot_be_loaded_stops_a_tournament_before_it_begins(tmp_path):
    with pytest.raises(BotError):
        run(tmp_path / "out", agents=("uniform", "net:"))
    assert not (tmp_path / "out").exists()
