"""Games on a terminal of 80 x 24: screens that hold everything, keys that step back and forth."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from rich.console import Console

from kepler_envs import Game, Snapshot, load_game
from kepler_envs.cli import main
from kepler_envs.cli import stage as staging
from kepler_envs.cli.keys import TerminalKeys
from kepler_envs.cli.match import Match
from kepler_envs.cli.play import LINES_BELOW, converse
from kepler_envs.cli.screens import pack, split_list, split_text
from kepler_envs.cli.stage import Frame, Stage, compose
from kepler_envs.printable import one_line, shorten, wrap
from kepler_envs.rules import as_lines, rules_text
from kepler_envs.web.views import explanations
from tests.contract.subjects import every_game

WIDTH, HEIGHT = 80, 24
KITTENS = "kitten_adventurers"


def positions(game: Game, players: int, every: int = 23, most: int = 400) -> Iterator[Snapshot]:
    """Some positions of a random game, from the deal on."""
    chance, position = random.Random(game.name), Snapshot.deal(game.configure(players), players)
    for number in range(most):
        if number % every == 0 or position.over:
            yield position
        if position.over:
            return
        position = position.apply(chance.choice(position.legal_actions()))


def words_of(lines: list[str]) -> list[str]:
    return " ".join(lines).split()


def test_a_text_that_is_too_long_ends_in_dots():
    assert [shorten("abcdef", letters) for letters in (6, 5, 3)] == ["abcdef", "ab...", "..."]
    assert len(one_line("x " * 300)) == 300 and one_line(ValueError()) == "ValueError"


@every_game
def test_every_position_fits_a_terminal_of_80_by_24(game: Game) -> None:
    for players in {game.min_players, game.max_players}:
        for position in positions(game, players):
            for seat in (None, players - 1):
                screens = split_text(position.text(seat), WIDTH, HEIGHT - LINES_BELOW)
                for number in range(len(screens)):
                    lines = [f"{move:5}  player_0: {'a long move ' * 12}" for move in range(9)]
                    shown = compose(position, seat, lines, number, WIDTH, HEIGHT)
                    assert len(shown) <= HEIGHT and max(map(len, shown)) <= WIDTH
                assert all(len(screen) <= HEIGHT - LINES_BELOW for screen in screens)
                head = position.text(seat).split("\n")[:2]
                told = [word for screen in screens for word in words_of(screen[len(head) :])]
                assert told == words_of(position.text(seat).split("\n")[2:])  # nothing is left out


@every_game
def test_moves_fit_and_say_what_they_mean(game: Game) -> None:
    explained: set[str] = set()
    for position in positions(game, game.default_players, every=3):
        if position.over:
            break
        more = explanations(position)
        assert set(more) <= set(position.legal_actions()) and all(more.values())
        explained |= {position.config.actions.block_of(action).name for action in more}
        moves = [f"{action} ({more.get(action, '')})" for action in position.legal_actions()]
        screens = split_list(moves, WIDTH, HEIGHT)
        assert all(len(screen) <= HEIGHT and max(map(len, screen)) <= WIDTH for screen in screens)
        assert sorted(word for screen in screens for word in words_of(screen)) == sorted(words_of(moves))
    assert len(explained) >= 2


def test_a_card_is_named_by_what_it_does() -> None:
    position = Snapshot.deal(load_game("ad_astra").configure(), 3)
    more = explanations(position)
    actions = position.config.actions
    moving = [more[action] for action in more if "movement card 1 on space 1" in actions.text(action)]
    systems = ("small", "large", "twin", "nebula")
    assert len(moving) >= 1 and all(words.startswith(systems) and " or " in words for words in moving)
    scoring = [more[action] for action in more if "scoring card 1" in actions.text(action)]
    assert scoring and set(scoring) == {"colonies and factories or starships"}


def test_what_others_hide_is_not_explained() -> None:
    """Equal for positions that differ in what the seat to move does not know."""
    for name in ("ad_astra", "kepler_3042", "race_to_kepler", "kepler_run", KITTENS):
        for position in positions(load_game(name), 3, most=120):
            if not position.over:
                assert explanations(position) == explanations(position.resample(position.seat, 5))


def test_blocks_stay_together() -> None:
    text = "\n".join(["1", "2", "", "3", "4", "", "5", "6", "7", "8", "9"])
    assert pack(text, 80, 5) == [["1", "2", "", "3", "4"], ["5", "6", "7", "8", "9"]]
    assert pack(text, 80, 4) == [["1", "2"], ["3", "4"], ["5", "6", "7", "8"], ["9"]]
    assert wrap("  one two three", 10) == ["  one two", "     three"]
    assert split_list(["a", "b", "c", "d", "e"], 9, 2) == [["a   c   e", "b   d"]]


@every_game
def test_rules_fit(game: Game) -> None:
    lines = as_lines(rules_text(game), WIDTH)
    assert len(lines) > 20 and max(map(len, lines)) <= WIDTH
    assert not {"*", "`", "|"} & set("".join(lines))


# ---------------------------------------------------------------- keys


class Pressed:
    """Keys that are pressed one after the other; an empty one stands for the time that runs out."""

    def __init__(self, *keys: str) -> None:
        self.keys = list(keys)
        self.asked: list[float | None] = []

    def read(self, seconds: float | None) -> str:
        self.asked.append(seconds)
        return self.keys.pop(0) if self.keys else ""


def terminal(width: int = WIDTH, height: int = HEIGHT) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, height=height, highlight=False)


def shown(frames: list[Frame], *keys: str) -> tuple[list[str], Pressed]:
    """The lines of the moves on show after each key, and what was asked of the keyboard."""
    pressed, console = Pressed(*keys), terminal()
    Stage(console, 0.5, keys=pressed).show(iter(frames))
    screens = console.file.getvalue().split("\x1b[2J\x1b[H")[1:]  # type: ignore[attr-defined]
    return [screen.split("\n")[-2].strip() for screen in screens], pressed


def some_frames() -> list[Frame]:
    position = Snapshot.deal(load_game(KITTENS).configure(2), 1)
    return [Frame(f"move {number}", position) for number in range(5)]


def test_a_show_runs_by_itself_to_its_end() -> None:
    moves, pressed = shown(some_frames())
    assert moves == [f"move {number}" for number in range(5)]
    assert set(pressed.asked) == {0.5}


def test_space_pauses_and_arrows_step() -> None:
    keys = ["", "space", "right", "left", "left", "end", "right", "home", "q"]
    moves, pressed = shown(some_frames(), *keys)
    at = [0, 1, 1, 2, 1, 0, 4, 4, 0]
    assert moves == [f"move {number}" for number in at]
    assert pressed.asked == [0.5, 0.5, *[None] * 7]


def test_space_goes_on_where_one_has_stepped_back() -> None:
    moves, _ = shown(some_frames(), "", "", "left", "space", "", "", "")
    assert [int(move.split()[1]) for move in moves] == [0, 1, 2, 1, 1, 2, 3, 4]


def test_the_pace_can_be_changed() -> None:
    _, pressed = shown(some_frames(), "+", "-", "-", "q")
    assert pressed.asked == [0.5, 0.25, 0.5, 1.0]


def test_tab_turns_to_the_next_screen() -> None:
    position = Snapshot.deal(load_game("kepler_3042").configure(4), 1)
    console = terminal()
    Stage(console, 0.5, keys=Pressed("space", "tab", "tab", "q")).show(iter([Frame("the deal", position)]))
    screens = console.file.getvalue().split("\x1b[2J\x1b[H")[1:]  # type: ignore[attr-defined]
    assert "Sgr" in screens[0] and "Sgr" not in screens[2].replace("Sgr Sagittarius", "")
    assert "cubes: E energy, M matter, A antimatter" in screens[2] and "screen 2 of" in screens[2]


def test_a_person_plays_in_screens(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = iter(["", "h", "", "m", "b", "nonsense", "1", "q"])
    monkeypatch.setattr("builtins.input", lambda *_: next(typed))
    console = terminal()
    match = Match(load_game("kepler_3042").configure(2), 1, {1: "uniform"})
    assert converse(console, match, [0]) is False
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    screens = printed.split("\x1b[2J\x1b[H")
    assert "Type the number of a move" in printed and "Sol in its middle" in printed
    assert "'nonsense' is not a move." in printed and len(match.actions) >= 1
    for screen in screens[1:]:
        lines = [line for line in screen.split("\n") if "> " not in line or "help)" not in line]
        assert max(len(line) for line in lines) <= WIDTH
        assert len(lines) <= HEIGHT


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_replay_is_stepped_through_on_a_real_terminal(tmp_path: Path) -> None:
    import pty

    game = tmp_path / "game.jsonl"
    words = ["--players", "2", "--option", "quest_size=1", "--seed", "3", "--quiet", "--save", str(game)]
    assert main(["watch", KITTENS, *words]) == 0
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "kepler_envs", "replay", str(game), "--delay", "0.01"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
    child = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    seen = b""
    sent = [(b"pause", b" "), (b"paused", b"\x1b[D"), (b"Kitten", b"\x1b[F"), (b"paused", b"q")]
    with suppress(OSError):  # which ends the reading where the child has closed its end
        while got := os.read(master, 65536):
            seen += got
            if sent and sent[0][0] in seen:
                os.write(master, sent.pop(0)[1])
                time.sleep(0.1)
    assert child.wait(60) == 0
    os.close(master)
    assert b"paused" in seen and b"Result" in seen and not sent
    assert staging.KEYS.split()[0].encode() in seen


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of another kind")
def test_keys_that_were_pressed_ahead_are_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a bot thinks, say."""
    import pty

    person, program = pty.openpty()
    with os.fdopen(program, "r") as terminal, os.fdopen(person, "wb", buffering=0) as keyboard:
        monkeypatch.setattr(sys, "stdin", terminal)
        with TerminalKeys() as keys:
            keyboard.write(b"\x1b[C\x1b[C  q\x1b[5~+\x1b")
            assert [keys.read(5.0) for _ in range(8)] == [
                "right",
                "right",
                "space",
                "space",
                "q",
                "\x1b",
                "+",
                "escape",
            ]
            assert keys.read(0.0) == ""
