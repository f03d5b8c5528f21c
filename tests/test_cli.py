"""The command line, mostly in this process: what is printed, what is written, exit codes."""

from __future__ import annotations

import ast
import io
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from pkgutil import iter_modules

import pytest
from rich.console import Console

import kepler_envs
from kepler_envs import bots, describe, networks, registry
from kepler_envs.bots.from_file import EXCEPTION, BotFailed
from kepler_envs.bots.protocol import BotError
from kepler_envs.bots.warmup import kernels as agent_kernels
from kepler_envs.bots.warmup import network_kernels
from kepler_envs.cli import bench, main
from kepler_envs.cli.common import UsageError, parse_options
from kepler_envs.cli.endings import exit_code
from kepler_envs.cli.match import Match
from kepler_envs.cli.stage import Frame, Stage
from kepler_envs.cli.strength import MeasureStrength
from kepler_envs.cli.tournament import PlayTournament
from kepler_envs.engine import batch, code_cache, one_game, playout, shared, warmup
from kepler_envs.engine.kernel import JIT_ENABLED
from kepler_envs.engine.replay import Replay, read_replay, verify
from kepler_envs.engine.snapshot import IllegalAction, Snapshot
from kepler_envs.tournament import strength
from kepler_envs.tournament.run import Tournament
from kepler_envs.tournament.strength import Strength
from tests.component_file import own_text

GAME = "kitten_adventurers"
SHORT = ["--option", "quest_size=1"]
"""Games of some dozen decisions."""


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables do not wrap, whatever the terminal the tests run in."""
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """What a person types, line by line, then the end of the input."""
    return lambda text: monkeypatch.setattr(sys, "stdin", io.StringIO(text))


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A replay of a short game between random players."""
    path = tmp_path / "game.jsonl"
    assert main(["watch", GAME, "--players", "3", *SHORT, "--seed", "11", "--quiet", "--save", str(path)]) == 0
    return path


def lines_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def rewrite(path: Path, lines: list[dict]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


# ---------------------------------------------------------------- list and show


def test_list_names_every_game(capsys):
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    for name in kepler_envs.list_games():
        game = kepler_envs.load_game(name)
        assert game.id in printed and game.title in printed


@pytest.mark.parametrize("name", registry.list_games())
def test_show_prints_every_row(name, capsys):
    assert main(["show", name]) == 0
    printed = capsys.readouterr().out
    game = kepler_envs.load_game(name)
    shown = [*describe.option_rows(game), *describe.node_rows(game), *describe.action_rows(game.actions)]
    for row in [*shown, *describe.piece_rows(game.observation), *describe.fixed_rows(game.observation)]:
        assert row.name in printed
    for table in describe.component_tables(game):
        assert f"Components: {table.section}" in printed


def test_show_for_some_players_keeps_their_rows_only(capsys):
    assert main(["show", GAME, "--players", "8"]) == 0
    setup = capsys.readouterr().out.partition("Components: setup")[2].partition("Provenance")[0]
    rows = [line.split("│")[1].strip() for line in setup.splitlines() if line.startswith("│")]
    assert rows == ["8"]


def test_show_own_components(tmp_path, capsys):
    own = tmp_path / "mine.toml"
    default = describe.component_file(kepler_envs.load_game(GAME))
    own.write_text(default.read_text().replace("Final Frontier", "Edge of Space"))
    assert main(["show", GAME, "--components", str(own)]) == 0
    assert "Edge of Space" in capsys.readouterr().out


# ---------------------------------------------------------------- play


def test_a_person_plays_a_whole_game_by_number(tmp_path, typed, capsys):
    path = tmp_path / "game.jsonl"
    typed("1\n" * 4000)
    command = ["play", GAME, "--players", "2", *SHORT, "--seat", "1", "--seed", "5", "--save", str(path)]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "player_1: you" in printed and "player_0: uniform" in printed
    assert "Result" in printed and f"Replay written: {path}" in printed
    replay = read_replay(path)
    assert replay.agents == ["uniform", "person"]
    position = Snapshot.deal(kepler_envs.load_game(GAME).configure(2, quest_size=1), 5)
    for seat, action in zip(replay.seats, replay.actions, strict=True):
        if seat == 1:
            assert action == position.legal_actions()[0]  # move number 1
        position = position.apply(action)
    assert position.over


def test_a_recorded_game_is_not_written_over(recorded, capsys):
    before = recorded.read_bytes()
    assert main(["play", GAME, "--players", "2", "--save", str(recorded)]) == 2
    assert f"--save {recorded} is there, and a game that was played cannot be made again" in capsys.readouterr().err
    assert recorded.read_bytes() == before


def test_the_board_is_the_seat_s_own_view_until_the_end(typed, capsys):
    typed("1\n1\n")
    assert main(["play", GAME, "--players", "3", "--seed", "5"]) == 0
    printed = capsys.readouterr().out
    assert "seen by player_0" in printed and "? ?" in printed
    assert "all cards open" not in printed


def test_a_person_is_told_what_the_others_did(tmp_path, typed, capsys):
    path = tmp_path / "game.jsonl"
    typed("7\n" * 3)  # 7 is the last of seven moves of the first decision: the turn ends
    assert main(["play", GAME, "--players", "3", "--seed", "5", "--save", str(path)]) == 0
    printed = capsys.readouterr().out
    told = printed[printed.index("Since your last move:") :]
    replay = read_replay(path)
    mine = [number for number, seat in enumerate(replay.seats) if seat == 0]
    between = range(mine[0] + 1, mine[1]) if len(mine) > 1 else range(mine[0] + 1, len(replay.seats))
    assert len(between) >= 2
    for number in between:
        assert f"player_{replay.seats[number]}: {replay.texts[number]}" in told


def test_secret_decisions_of_others_stay_secret(tmp_path, typed, capsys):
    path = tmp_path / "game.jsonl"
    typed("1\n" * 400)
    assert main(["play", "kepler_run", "--players", "3", "--seed", "5", "--save", str(path)]) == 0
    played = capsys.readouterr().out
    assert main(["replay", str(path), "--seat", "0"]) == 0
    shown = capsys.readouterr().out
    replay = read_replay(path)
    contracts = [n for n, text in enumerate(replay.texts) if text.startswith("choose the contract")]
    theirs = [n for n in contracts if replay.seats[n] != 0]
    assert theirs and len(theirs) < len(contracts)
    for printed in (played, shown):
        assert printed.count("choose a contract, face down") == len(theirs)
        assert not any(f"player_{replay.seats[n]}: {replay.texts[n]}" in printed for n in theirs)


def test_bad_input_is_answered_and_asked_again(typed, capsys):
    typed("99\nhello\n0\n\n-1\n1.5\nh\nb\nq\n")
    assert main(["play", GAME, "--players", "3", "--seed", "5"]) == 0
    printed = capsys.readouterr().out
    for wrong in ("99", "hello", "0", "", "-1", "1.5"):
        assert f"{wrong!r} is not a move. Type 1..7, or b (board), h (help), q (leave)." in printed
    assert "this help" in printed
    assert printed.count("seen by player_0") == 2  # asked once, and once more by b
    assert "You leave after 1 decision." in printed  # player_2 began


@pytest.mark.parametrize("ending", ["q\n", "Q \n", ""])
def test_leaving_keeps_the_game_so_far(ending, tmp_path, typed, capsys):
    path = tmp_path / "part.jsonl"
    typed("1\n" + ending)
    assert main(["play", GAME, "--players", "3", "--seed", "5", "--save", str(path)]) == 0
    assert "unfinished game written" in capsys.readouterr().out
    replay = read_replay(path)
    assert replay.final is None and len(replay.actions) == 2
    assert main(["replay", str(path)]) == 0
    assert "unfinished" in capsys.readouterr().out


def test_ctrl_c_leaves_the_game(monkeypatch, capsys):
    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    assert main(["play", GAME, "--players", "2", "--seed", "5"]) == 0
    assert "You leave" in capsys.readouterr().out


@pytest.fixture
def hangup_counts() -> Iterator[None]:
    """The end of the terminal reaches what is tested, also where ``nohup`` runs the tests."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangup_counts")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP])
def test_a_game_that_is_killed_is_kept(end, monkeypatch, tmp_path, capsys):
    path = tmp_path / "part.jsonl"
    answers = iter(["1"])

    def until_the_end(*_: object) -> str:
        for answer in answers:
            return answer
        signal.raise_signal(end)
        return "1"

    monkeypatch.setattr("builtins.input", until_the_end)
    assert main(["play", GAME, "--players", "3", "--seed", "5", "--save", str(path)]) == 0
    assert f"Replay of the unfinished game written: {path}" in capsys.readouterr().out
    assert len(read_replay(path).actions) == 2


@pytest.mark.usefixtures("hangup_counts")
def test_a_terminal_whose_end_is_told_after_that_of_the_input_loses_nothing(monkeypatch, tmp_path):
    path, replay = tmp_path / "part.jsonl", Match.replay

    def ended(*_: object) -> str:
        raise EOFError

    def replay_in_spite_of_the_signal(match: Match) -> Replay:
        signal.raise_signal(signal.SIGHUP)
        return replay(match)

    monkeypatch.setattr("builtins.input", ended)
    monkeypatch.setattr(Match, "replay", replay_in_spite_of_the_signal)
    assert main(["play", GAME, "--players", "2", "--seed", "5", "--save", str(path)]) == 0
    assert read_replay(path).actions == []


def test_people_share_the_keyboard(typed, capsys):
    typed("\n1\n" * 4000)  # wrong answers are no harm: an empty line hands over, or is answered
    assert main(["play", GAME, "--players", "2", *SHORT, "--seat", "all", "--seed", "5"]) == 0
    printed = capsys.readouterr().out
    assert "player_0: person" in printed and "player_1: person" in printed
    assert "player_1, it is your turn: press Enter" in printed and "Result" in printed


# ---------------------------------------------------------------- watch


def test_watch_is_repeatable_and_prints_every_move(tmp_path, capsys):
    path = tmp_path / "game.jsonl"
    command = ["watch", GAME, "--players", "2", *SHORT, "--seed", "3"]
    assert main([*command, "--save", str(path)]) == 0
    printed = capsys.readouterr().out
    replay = read_replay(path)
    assert replay.agents == ["uniform", "uniform"]
    for number, (seat, text) in enumerate(zip(replay.seats, replay.texts, strict=True), 1):
        assert f"{number:5}  player_{seat}: {text}\n" in printed
    assert main(command) == 0
    assert capsys.readouterr().out == printed.replace(f"Replay written: {path}\n", "")


def test_quiet_watch_prints_the_result_only(capsys):
    assert main(["watch", GAME, *SHORT, "--seed", "3", "--quiet"]) == 0
    printed = capsys.readouterr().out.lstrip()
    assert printed.startswith("Result") and "rank" in printed


def test_the_result_that_is_printed_is_that_of_the_game(tmp_path, capsys):
    """Of a game in which no two seats have the same rank or score."""
    path, names = tmp_path / "game.jsonl", ["uniform", "greedy", "mcts:1"]
    command = ["watch", GAME, "--players", "3", "--option", "quest_size=2", "--agents", *names, "--seed", "5"]
    assert main([*command, "--quiet", "--save", str(path)]) == 0
    printed = [line.strip("│ ").split("│") for line in capsys.readouterr().out.splitlines() if "player_" in line]
    config = kepler_envs.load_game(GAME).configure(3, quest_size=2)
    ranks, scores, returns = verify(read_replay(path), config).results()
    assert len(set(scores.tolist())) == 3 and ranks.tolist() == [3, 1, 2]
    assert [[cell.strip() for cell in row] for row in printed] == [
        [str(ranks[seat]), f"player_{seat}", names[seat], str(scores[seat]), f"{returns[seat]:+z.3f}"]
        for seat in (1, 2, 0)
    ]


def test_bots_of_a_match_draw_from_seeds_of_their_own(monkeypatch):
    seeds = [5]

    class Noted:
        def start(self, rows, its):
            seeds.extend(its.tolist())

    monkeypatch.setattr(bots, "load", lambda spec, config: Noted())
    Match(kepler_envs.load_game(GAME).configure(2), 5, {0: "one", 1: "other"})
    assert len(seeds) == len(set(seeds)) == 3, "not that of the deal, and no two alike"


def test_who_plays_alone_has_no_rank(capsys):
    assert main(["watch", "kepler_3042", "--players", "1", "--seed", "3", "--quiet"]) == 0
    printed = capsys.readouterr().out
    assert "score" in printed and "rank" not in printed


def test_watch_draws_every_position(tmp_path):
    folder = tmp_path / "new" / "pictures"
    path = tmp_path / "game.jsonl"
    command = ["watch", GAME, "--players", "2", *SHORT, "--seed", "3", "--quiet", "--svg", str(folder)]
    assert main([*command, "--save", str(path)]) == 0
    pictures = sorted(folder.iterdir())
    assert [picture.name for picture in pictures] == [f"{n:04}.svg" for n in range(len(read_replay(path).actions) + 1)]
    assert pictures[0].read_text().startswith("<svg")


def test_agents_of_the_checkout_can_be_watched(capsys):
    assert (
        main(["watch", GAME, "--players", "2", *SHORT, "--agents", "greedy", "uniform", "--seed", "3", "--quiet"]) == 0
    )
    printed = capsys.readouterr().out
    assert "greedy" in printed and "uniform" in printed


@pytest.mark.usefixtures("hangup_counts")
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_watch_keeps_the_game_so_far(end, monkeypatch, tmp_path, capsys):
    path = tmp_path / "part.jsonl"
    decide, replay = Match.let_bot_decide, Match.replay
    before = signal.getsignal(end)

    def until_the_end(match: Match) -> None:
        if len(match.actions) == 5:
            signal.raise_signal(end)
        decide(match)

    def replay_in_spite_of_another_signal(match: Match) -> Replay:
        signal.raise_signal(end)
        return replay(match)

    monkeypatch.setattr(Match, "let_bot_decide", until_the_end)
    if end != signal.SIGINT:  # timeout, for one, sends two
        monkeypatch.setattr(Match, "replay", replay_in_spite_of_another_signal)
    assert main(["watch", GAME, "--seed", "3", "--quiet", "--save", str(path)]) == 130
    assert len(read_replay(path).actions) == 5
    printed = capsys.readouterr()
    assert "You stopped watching after 5 decisions." in printed.out
    assert f"Replay of the unfinished game written: {path}" in printed.out
    assert printed.err == "" and signal.getsignal(end) is before


def test_watch_after_nohup_plays_on(monkeypatch, capsys):
    """What ignores the end of its terminal goes on ignoring it."""
    decide = Match.let_bot_decide

    def without_a_terminal(match: Match) -> None:
        signal.raise_signal(signal.SIGHUP)
        decide(match)

    monkeypatch.setattr(Match, "let_bot_decide", without_a_terminal)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert main(["watch", GAME, *SHORT, "--seed", "3", "--quiet"]) == 0
    finally:
        signal.signal(signal.SIGHUP, before)
    assert "Result" in capsys.readouterr().out


def test_on_a_terminal_the_position_is_redrawn():
    paper = io.StringIO()
    console = Console(file=paper, force_terminal=True, width=120, height=50, highlight=False)
    position = Snapshot.deal(kepler_envs.load_game(GAME).configure(), 1)
    frames = [Frame("the deal", position), *(Frame(f"move {number}", position) for number in range(3))]
    Stage(console, 0.001).show(iter(frames))
    assert paper.getvalue().count("no ladder in play") == 4
    assert "move 2" in paper.getvalue().rsplit("no ladder in play")[-1]


def test_on_a_terminal_that_cannot_be_cleared_moves_are_lines():
    paper = io.StringIO()
    console = Console(file=paper, force_terminal=True, width=120, height=50, _environ={"TERM": "dumb"})
    position = Snapshot.deal(kepler_envs.load_game(GAME).configure(), 1)
    Stage(console, 0.001).show(iter([Frame("the deal", position), *[Frame("a move", position)] * 3]))
    assert paper.getvalue().count("no ladder in play") == 2 and paper.getvalue().count("a move") == 3


# ---------------------------------------------------------------- replay


def test_a_replay_verifies(recorded, capsys):
    assert main(["replay", str(recorded)]) == 0
    printed = capsys.readouterr().out.splitlines()[-1]
    assert printed.startswith("OK  ") and lines_of(recorded)[-1]["hash"][:16] in printed


def test_a_replay_is_shown_move_by_move(recorded, capsys):
    capsys.readouterr()
    assert main(["replay", str(recorded)]) == 0
    printed = capsys.readouterr().out
    replay = read_replay(recorded)
    for number, text in enumerate(replay.texts, 1):
        assert f"{number:5}  player_{replay.seats[number - 1]}: {text}\n" in printed
    assert "Result" in printed


def test_one_position_of_a_replay(recorded, capsys):
    replay = read_replay(recorded)
    config = kepler_envs.load_game(GAME).configure(**replay.options)
    position = list(replay.positions(config))[4]
    capsys.readouterr()
    assert main(["replay", str(recorded), "--at", "4", "--seat", "1"]) == 0
    assert capsys.readouterr().out.strip() == position.text(1).strip()


def other_action(lines: list[dict]) -> None:
    lines[3]["action"] = 50 if lines[3]["action"] != 50 else 0


def other_seat(lines: list[dict]) -> None:
    lines[3]["seat"] = (lines[3]["seat"] + 1) % 3


def other_text(lines: list[dict]) -> None:
    lines[3]["text"] = "do something else"


def other_hash(lines: list[dict]) -> None:
    lines[-1]["hash"] = "0" * 64


def other_seed(lines: list[dict]) -> None:
    lines[0]["seed"] += 1


def other_cards(lines: list[dict]) -> None:
    lines[0]["components"] = "0" * 16


def a_decision_less(lines: list[dict]) -> None:
    del lines[-2]


@pytest.mark.parametrize(
    "tamper", [other_action, other_seat, other_text, other_hash, other_seed, other_cards, a_decision_less]
)
def test_a_tampered_replay_does_not_verify(tamper, recorded, capsys):
    lines = lines_of(recorded)
    tamper(lines)
    rewrite(recorded, lines)
    assert main(["replay", str(recorded)]) == 1
    assert f"DIFFERS  {recorded}: " in capsys.readouterr().out


def test_showing_an_impossible_game_names_the_decision(recorded, capsys):
    lines = lines_of(recorded)
    lines[3]["action"] = 50
    rewrite(recorded, lines)
    assert main(["replay", str(recorded)]) == 1
    assert "decision 3: illegal action 50 ('place it in lane 4')" in capsys.readouterr().out


def test_a_folder_for_pictures_may_have_a_dot_in_its_name(recorded, tmp_path):
    folder = tmp_path / "pictures.v1"
    folder.mkdir()
    assert main(["replay", str(recorded), "--svg", str(folder), "--at", "3"]) == 0
    assert [path.name for path in folder.iterdir()] == ["0003.svg"]


@pytest.mark.parametrize("option", ["--svg", "--png"])
def test_a_file_is_no_folder_for_pictures(option, recorded, monkeypatch, capsys):
    monkeypatch.chdir(recorded.parent)
    (recorded.parent / "file").write_text("mine")
    assert main(["replay", str(recorded), option, "file/all"]) == 2
    assert capsys.readouterr().err == f"kepler-envs: {option} file is a file; name a folder\n"


def test_pictures_of_a_replay(recorded, tmp_path, capsys):
    assert main(["replay", str(recorded), "--svg", str(tmp_path / "last.svg"), "--at", "3"]) == 0
    assert "1 picture written" in capsys.readouterr().out
    assert (tmp_path / "last.svg").read_text().startswith("<svg")
    assert main(["replay", str(recorded), "--svg", str(tmp_path / "all")]) == 0
    assert len(list((tmp_path / "all").iterdir())) == len(read_replay(recorded).actions) + 1


def test_png_of_a_replay(recorded, tmp_path):
    image = pytest.importorskip("PIL.Image")
    assert main(["replay", str(recorded), "--png", str(tmp_path / "last.png"), "--at", "3", "--seat", "0"]) == 0
    with image.open(tmp_path / "last.png") as picture:
        assert picture.size[0] > 100


# ---------------------------------------------------------------- errors


def test_ctrl_c_while_libraries_load_is_no_traceback(monkeypatch, capsys):
    class StillLoading:
        @property
        def run(self):
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "kepler_envs.cli.app", StillLoading())
    assert main(["list"]) == 130
    assert capsys.readouterr().err == "\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["show", "chess"], "no game 'chess'; there are: kitten_adventurers"),
        (["watch", f"{GAME}-v7"], "there is: kitten_adventurers-v1"),
        (["watch", GAME, "--players", "9"], "num_players = 9 is not allowed; allowed: an integer 2..8"),
        (
            ["watch", GAME, "--option", "hand_size=9"],
            "hand_size = 9 is not allowed; allowed: 'rulebook' or 5 or 6 or 7",
        ),
        (["watch", GAME, "--option", "hands=9"], "unknown option hands; there are"),
        (["watch", GAME, "--option", "hand_size"], "must read key=value"),
        (["watch", GAME, "--option", "num_players=3"], "write --players 3 instead"),
        (["watch", GAME, "--option", "components=x"], "write --components x instead"),
        (["watch", GAME, "--option", "hand_size=5", "--option", "hand_size=6"], "hand_size is given twice"),
        (["watch", GAME, "--components", "missing.toml"], "missing.toml: cannot be read"),
        (["watch", GAME, "--seed", "-1"], "seed = -1 is not allowed"),
        (["watch", GAME, "--delay", "-1"], "--delay -1 is not allowed"),
        (["watch", GAME, "--agents", "uniform", "uniform"], "name one for all or 4, for the seats 0, 1, 2, 3"),
        (["watch", GAME, "--agents", "nobody"], "no bot 'nobody'"),
        (["watch", GAME, "--save", "missing/game.jsonl"], "there is no folder missing"),
        (["play", GAME, "--save", "."], ". is a folder"),
        (["play", GAME, "--seat", "4"], "--seat 4 is not allowed; allowed: 0..3 or all"),
        (["replay", "missing.jsonl"], "missing.jsonl: cannot be read"),
        (["bench", "--seconds", "0"], "--seconds 0 is not allowed"),
        (["bench", "--num-envs", "0"], "num_envs = 0 is not allowed"),
        (["compile", "chess"], "no game 'chess'"),
        (["compile", "--processes", "0"], "--processes 0 is not allowed; allowed: an integer from 1 on"),
    ],
)
def test_what_is_not_possible_is_one_line_and_exit_code_2(arguments, words, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    written = capsys.readouterr().err
    assert written.startswith("kepler-envs: ") and words in written
    assert "Traceback" not in written


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--at", "10000"], "--at 10000 is not allowed"),
        (["--seat", "3"], "--seat 3 is not allowed; allowed: 0..2"),
        (["--svg", "picture.gif"], "name a file that ends in .svg, or a folder"),
        (["--svg", "missing/picture.svg"], "there is no folder missing"),
        (["--components", "missing.toml"], "--components missing.toml: there is no such file"),
        (
            ["--gif", "a.gif", "--start", "9", "--stop", "3"],
            "--stop 3 is not allowed; allowed: positions of the game, 9..",
        ),
        (["--stop", "3"], "--stop is for --gif"),
        (["--html", "a.html", "--seat", "1"], "--html writes the whole game with every view"),
        (["--html", "a.htm"], "--html a.htm: name a file that ends in .html"),
        (["--gif", "a.png", "--svg", "a.svg"], "--gif a.png: name a file that ends in .gif"),
        (["--html", "a.html", "--at", "3"], "--at is one position: for --svg, --png or the terminal, not for --html"),
        (["--gif", "a.gif", "--at", "3"], "not for --html and --gif"),
    ],
)
def test_errors_about_a_replay(arguments, words, recorded, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["replay", str(recorded), *arguments]) == 2
    assert words in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [recorded]  # nothing is written


@pytest.mark.parametrize("suffix", [".html", ".gif", ".svg", ".png"])
def test_a_replay_is_not_written_over(suffix, recorded, tmp_path, capsys):
    """By whatever name it is called."""
    replay, link = (tmp_path / f"{name}{suffix}" for name in ("game", "link"))
    replay.write_bytes(recorded.read_bytes())
    link.symlink_to(replay)
    for target in (replay, link):
        assert main(["replay", str(replay), f"--{suffix[1:]}", str(target)]) == 2
        assert f"{target} is the replay itself; name another file" in capsys.readouterr().err
    assert replay.read_bytes() == recorded.read_bytes()


def test_the_page_of_a_game_and_one_position_of_it(recorded, tmp_path):
    page, picture = tmp_path / "game.HTML", tmp_path / "game.svg"
    assert main(["replay", str(recorded), "--at", "3", "--html", str(page), "--svg", str(picture)]) == 0
    assert page.is_file() and picture.is_file()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["tournament", GAME, "--out", "file"], "--out file is a file; name a folder"),
        (["tournament", GAME, "--out", "file/cup"], "--out file is a file; name a folder"),
        (["serve", "--port", "0", "--folder", "file"], "--folder file is a file; name a folder"),
        (["strength", GAME, "--agents", "greedy", "--out", "folder"], "--out folder is a folder; name a file"),
        (["watch", GAME, "--svg", "file"], "--svg file is a file; name a folder"),
    ],
)
def test_a_file_is_no_folder_and_a_folder_no_file(command, words, monkeypatch, tmp_path, capsys):
    pytest.importorskip("uvicorn", reason="the server needs uvicorn (extra web)")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    assert main(command) == 2
    assert capsys.readouterr().err == f"kepler-envs: {words}\n"
    assert (tmp_path / "file").read_text() == "mine" and not list((tmp_path / "folder").iterdir())


@pytest.mark.parametrize("text", ["", "no json\n", '{"format": "other"}\n', '{"format": "kepler-replay-1"}\n'])
def test_a_file_that_is_no_replay(text, tmp_path, capsys):
    path = tmp_path / "game.jsonl"
    path.write_text(text)
    assert main(["replay", str(path)]) == 2
    assert f"kepler-envs: {path}: line 1 " in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["dance"], ["show"], ["watch", GAME, "--speed", "3"]])
def test_wrong_arguments_end_with_2(arguments, capsys):
    assert main(arguments) == 2
    assert capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], ["play", "--help"]])
def test_help(arguments, capsys):
    assert main(arguments) == 0
    assert "usage: kepler-envs" in capsys.readouterr().out


@pytest.mark.parametrize("command", [
    "list", "show", "play", "watch", "serve", "tournament", "strength", "campaign", "replay", "bench", "compile",
])  # fmt: skip
def test_help_says_what_is_left_out_in_words(command, capsys):
    assert main([command, "--help"]) == 0
    words = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert not [said for said in ("None", "(default: )", "False", "True") if said in words]


def test_words_of_options_are_no_longer_than_a_line():
    """tyro keeps the line breaks of a field's docstring: ``arg(help=...)`` takes what is longer."""
    root = Path(kepler_envs.__file__).parents[1]
    files = [file for folder in ("agents", "benchmarks", "kepler_envs/cli") for file in (root / folder).rglob("*.py")]
    classes = [
        one
        for text in map(Path.read_text, files)
        if "tyro" in text or "cli.common" in text
        for one in ast.walk(ast.parse(text))
        if isinstance(one, ast.ClassDef)
    ]
    words = [
        below.value.value
        for one in classes
        for above, below in pairwise(one.body)
        if isinstance(above, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    ]
    assert len(words) > 150 and [text for text in words if "\n" in text] == []


def test_options_are_numbers_where_they_read_as_one():
    assert parse_options(["a=5", "b=0.5", "c=rulebook", "d=x=y"]) == {"a": 5, "b": 0.5, "c": "rulebook", "d": "x=y"}
    choices = {"a": (False, True), "c": ("1", "2")}
    assert parse_options(["a=True", "b=True", "c=1"], choices) == {"a": True, "b": "True", "c": "1"}


def test_options_that_are_true_or_false(capsys):
    """Kepler Run's starting fuel by seat is one, and so is ``derived`` of every game."""
    watched = []
    for value in ("True", "False"):
        options = ["--option", f"seat_fuel={value}", "--option", "derived=False"]
        assert main(["watch", "kepler_run", *options, "--seed", "1", "--delay", "0"]) == 0
        watched.append(capsys.readouterr().out)
    assert watched[0] != watched[1]
    assert main(["watch", "kepler_run", "--option", "seat_fuel=perhaps"]) == 2
    assert "seat_fuel = 'perhaps' is not allowed; allowed: False or True" in capsys.readouterr().err


def test_people_who_play_all_seats_need_no_agents(capsys):
    assert main(["play", "kitten_adventurers", "--seat", "all", "--agents", "greedy"]) == 2
    assert "--agents greedy: people play all seats; leave it out" in capsys.readouterr().err


@pytest.mark.parametrize("library", ["tyro", "rich"])
def test_without_the_extra(library, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, library, None)
    assert main(["list"]) == 2
    assert capsys.readouterr().err == f"kepler-envs needs {library}: pip install 'kepler_envs[cli]'\n"


def test_without_pillow(recorded, monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert main(["replay", str(recorded), "--png", str(tmp_path / "a.png")]) == 2
    assert "pip install 'kepler_envs[cli]'" in capsys.readouterr().err


@pytest.mark.parametrize(("command", "request_of"), [(PlayTournament, Tournament), (MeasureStrength, Strength)])
def test_the_library_and_the_command_line_have_the_same_defaults(command, request_of):
    """The command line names them itself, because it starts without what tournaments need."""
    ours = {field.name: field.default for field in fields(command)}
    for field in fields(request_of):
        assert field.name in ("config", "cluster") or ours[field.name] == field.default, field.name


def test_strength_measures_what_it_was_asked_for(tmp_path, monkeypatch):
    asked, out = [], tmp_path / "record.csv"

    def measure_all(request, *_):
        asked.append(request)
        return True

    monkeypatch.setattr(strength, "measure_all", measure_all)
    cards = tmp_path / "cards.toml"
    cards.write_text(own_text(GAME), encoding="utf-8")
    words = ["strength", GAME, "--players", "3", "--agents", "greedy", "uniform", "--against", "bc-v1", "--games", "12"]
    words += ["--option", "hand_size=6", "--components", str(cards)]
    assert main([*words, "--side-by-side", "6", "--minutes", "2.5", "--seed", "9", "--out", str(out)]) == 0
    (found,) = asked
    config = kepler_envs.load_game(GAME).configure(3, cards, hand_size=6)
    assert found.config.components == cards
    assert found.config.digest == config.digest
    assert replace(found, config=config) == Strength(config, ("greedy", "uniform"), ("bc-v1",), 12, 6, 2.5, 9, out)


# ---------------------------------------------------------------- bench and compile

KERNELS = len(warmup.kernels(kepler_envs.load_game(GAME)))


def test_bench_prints_a_row_for_each_measurement(capsys):
    assert main(["bench", GAME, "--seconds", "0.01", "--num-envs", "4"]) == 0
    printed = capsys.readouterr().out
    for words in ("logical cores", "numba", "Batch of 4", "AEC", "playouts", "clone", "decisions/s", "games/s", "us"):
        assert words in printed


def test_bench_says_how_long_a_clone_takes_and_how_much_else_is_done_in_a_second(monkeypatch, capsys):
    rates = iter([4000.0, 300.0, 20.0, 500_000.0])
    monkeypatch.setattr(bench, "_rate", lambda work, seconds: next(rates))
    assert main(["bench", GAME, "--players", "2"]) == 0
    rows = [line.strip("│ ").split("│") for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert [(measured.strip(), unit.strip()) for _, measured, unit in rows] == [
        ("4,000", "decisions/s"),
        ("300", "decisions/s"),
        ("20", "games/s"),
        ("2.00", "us"),
    ]


def test_compile_lists_every_kernel_of_the_engine(capsys):
    names = [name for name, _ in warmup.kernels(kepler_envs.load_game(GAME))]
    in_modules = {
        name.removesuffix("_kernel")
        for module in (shared, one_game, batch, playout)
        for name, value in vars(module).items()
        if name.endswith("_kernel") and value.__module__ == module.__name__
    }
    assert len(names) == len(set(names)) and set(names) == in_modules


def test_compile_reports_its_progress():
    steps: list[tuple[str, int, int]] = []
    count = warmup.compile_kernels(warmup.kernels(kepler_envs.load_game(GAME)), lambda *step: steps.append(step))
    assert [done for _, done, _ in steps] == list(range(count))
    assert {total for _, _, total in steps} == {count}


@pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")
def test_compile_games_side_by_side(capsys):
    assert main(["compile", GAME, "kepler_run", "--processes", "2", "--no-agents"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(line.partition(":")[0] for line in lines if "kernels ready" in line) == [
        "kepler_run-v1",
        f"{GAME}-v1",
    ]


@pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")
def test_compile_command(capsys):
    assert main(["compile", GAME, "--no-agents"]) == 0
    printed = capsys.readouterr().out
    assert f"{kepler_envs.load_game(GAME).id}: {KERNELS} kernels ready in " in printed and "of agents" not in printed


@pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_compile_that_is_stopped_says_so(end, monkeypatch, capsys):
    monkeypatch.setattr("kepler_envs.cli.compile.compile_kernels", lambda listed, report: signal.raise_signal(end))
    assert main(["compile", GAME, "--processes", "1"]) == 130
    printed = capsys.readouterr()
    assert printed.out.endswith("\nStopped; what was compiled is kept.\n") and printed.err == ""


@pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")
def test_compile_for_this_processor(monkeypatch):
    """Only with --native is code that came with the package left aside."""
    used = []
    monkeypatch.setattr(
        "kepler_envs.cli.compile.compile_kernels", lambda listed, report: used.append(code_cache._uses_shipped) or 0
    )
    here = ["compile", GAME, "--processes", "1"]
    assert main(here) == main([*here, "--native", "--no-agents"]) == 0
    assert used == [*[True] * 4, *[False] * 2] and code_cache._uses_shipped


@pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")
def test_compile_has_the_kernels_of_agents(capsys):
    """Everything that greedy and mcts load for a game is named, and told apart from the game's own."""
    game = kepler_envs.load_game(GAME)
    listed = dict(agent_kernels(game))
    assert set(listed) == {"greedy: choose", "greedy: playout", "mcts: search", "mcts: descend", "mcts: absorb"}
    assert listed["greedy: choose"]() is bots.load("greedy", game.configure())._choose
    assert listed["mcts: search"]() is bots.load("mcts:5", game.configure())._searcher._kernel
    assert main(["compile", GAME]) == 0
    assert f"{KERNELS} kernels ready in " in (printed := capsys.readouterr().out) and ", 5 of agents in " in printed


def test_compile_lists_every_kernel_of_networks():
    """Whatever is compiled for networks can be compiled ahead: no first training waits for it."""
    modules = (import_module(f"kepler_envs.networks.{one.name}") for one in iter_modules(networks.__path__))
    defined = {
        value
        for module in modules
        for name, value in vars(module).items()
        if name.endswith("_kernel") and value.__module__ == module.__name__
    }
    listed = network_kernels(learning=True)
    assert len(listed) == len(defined) and {build for _, build in listed} == defined


@pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")
@pytest.mark.parametrize("processes", [1, 2])
def test_compile_has_the_kernels_of_networks_once(processes, capsys):
    """They are the same for all games."""
    assert main(["compile", GAME, "kepler_run", "--processes", str(processes)]) == 0
    printed = capsys.readouterr().out
    assert printed.count("kernels ready in ") == 3 and printed.count("networks: 4 kernels ready in ") == 1


@pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")
def test_compile_leaves_out_learning_without_pytorch(monkeypatch, capsys):
    """Networks play without it."""
    monkeypatch.setattr("kepler_envs.cli.compile.find_spec", lambda name: None)
    assert main(["compile", GAME, "--processes", "1"]) == 0
    assert "networks: 1 kernel ready in " in capsys.readouterr().out


@pytest.mark.parametrize("libraries", [(), ("tyro", "a library that nobody has")])
def test_version(capsys, monkeypatch, libraries):
    """It is asked for when something is wrong: libraries that are missing do not matter."""
    monkeypatch.setattr("kepler_envs.cli.LIBRARIES", libraries)
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith(f"kepler-envs {kepler_envs.__version__} (Python ")


# ---------------------------------------------------------------- as a program


def test_as_a_module_and_into_a_closed_pipe():
    program = [sys.executable, "-m", "kepler_envs"]
    listed = subprocess.run([*program, "list"], capture_output=True, text=True, timeout=300)
    assert listed.returncode == 0 and GAME in listed.stdout
    with subprocess.Popen([*program, "show", GAME], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as shown:
        shown.stdout.close()
        assert shown.wait(timeout=300) == 141
        assert shown.stderr.read() == b""


def test_a_recorded_game_is_the_game_that_was_played(recorded):
    replay = read_replay(recorded)
    config = kepler_envs.load_game(GAME).configure(**replay.options)
    position = verify(replay, config)
    assert position.results()[0].tolist() == replay.final["rank"]


ANSWERS = [
    ("[-1]", "act returned the id -1; legal were"),
    ("[]", "act returned"),
    ("[3.7]", "act returned float64"),
    ("None", ": illegal: act returned"),  # what its own process refuses
]


@pytest.mark.parametrize(("answer", "words"), ANSWERS)
def test_a_bot_that_answers_with_no_legal_id_is_named(answer, words, tmp_path, capsys):
    (tmp_path / "my.py").write_text(
        "class Bad:\n    def __init__(self, config): pass\n    def start(self, rows, seeds): pass\n"
        f"    def act(self, decisions): return {answer}\n"
    )
    bot = f"python:{tmp_path / 'my.py'}:Bad"
    assert main(["watch", GAME, "--players", "2", "--agents", bot, "--quiet", "--seed", "1"]) == 1
    said = capsys.readouterr().err
    assert f"agent {bot}, player_" in said and words in said and said.count("\n") == said.count(bot) == 1


def test_bots_that_break_a_command_off_end_it_with_another_code_than_bots_that_do_not_exist():
    assert exit_code(BotFailed(EXCEPTION, "KeyError")) == exit_code(IllegalAction("no action id")) == 1
    assert exit_code(BotError("no such bot")) == exit_code(UsageError("no such folder")) == 2
