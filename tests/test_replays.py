"""Replays from outside: damaged, edited or made to do harm, each is told in one clear line and never shown as if it
were the game."""

from __future__ import annotations

import json
import os
import random
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import kepler_envs
from kepler_envs.cli import main
from kepler_envs.engine.replay import ReplayError, configuration_of, read_replay, record, verify, write_replay
from kepler_envs.registry import BrokenGame
from tests.component_file import changed, own_text

GAME = "kitten_adventurers"
GAMES = Path(kepler_envs.__file__).parent / "games"
EDITS = 200


@pytest.fixture(scope="module")
def content(tmp_path_factory) -> bytes:
    """The file of a whole short game."""
    path = tmp_path_factory.mktemp("replay") / "game.jsonl"
    config = kepler_envs.load_game(GAME).configure(2, max_turns=4)
    batch, actions = kepler_envs.Batch(config, 1, 0), []
    batch.reset(np.array([5], np.uint64))
    while not batch.episodes[0]:
        choice = batch.uniform()
        actions.append(int(choice[0]))
        batch.step(choice)
    write_replay(path, record(config, 5, actions, ["ada", "ben"]))
    return path.read_bytes()


@pytest.fixture
def path(tmp_path, content) -> Path:
    path = tmp_path / "game.jsonl"
    path.write_bytes(content)
    return path


def edit(path: Path, line: int, **values) -> None:
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    lines[line].update(values)
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))


def edited(content: bytes, dice: random.Random) -> bytes:
    """One accident: a bit or a byte, a piece cut out or doubled, a line lost, doubled or moved, a value replaced."""
    kind, place = dice.randrange(8), dice.randrange(len(content))
    lines = content.splitlines(keepends=True)
    line = dice.randrange(len(lines))
    if kind == 0:
        return content[:place] + bytes([content[place] ^ 1 << dice.randrange(8)]) + content[place + 1 :]
    if kind == 1:
        return content[:place] + bytes([dice.randrange(256)]) + content[place + 1 :]
    if kind == 2:
        return content[:place]
    if kind == 3:
        return content[:place] + content[place + dice.randrange(1, 9) :]
    if kind == 4:
        return b"".join([*lines[:line], *lines[line + 1 :]])
    if kind == 5:
        return b"".join([*lines[:line], lines[line], *lines[line:]])
    if kind == 6:
        other = dice.randrange(len(lines))
        lines[line], lines[other] = lines[other], lines[line]
        return b"".join(lines)
    values = json.loads(lines[line])
    name = dice.choice(sorted(values))
    wrong = [None, -1, 10**19, 1.5, "", "x\x1b[2J", [], [[]] * 3, {}, True, float("nan")]
    lines[line] = json.dumps({**values, name: dice.choice(wrong)}).encode() + b"\n"
    return b"".join(lines)


def test_what_was_written_is_read(path):
    """The largest seed has as many digits as are allowed. A game that is not over has no closing line."""
    config = kepler_envs.load_game(GAME).configure(2, max_turns=4)
    whole = read_replay(path).actions
    for seed, actions in ((5, whole), (5, whole[:3]), (2**64 - 1, [])):
        replay = record(config, seed, actions)
        write_replay(path, replay)
        assert read_replay(path) == replay
        assert verify(replay, config).over == (replay.final is not None) == (actions == whole)


def test_no_accident_is_shown_as_the_game(path, content, capsys):
    """Whatever is edited is an error of one line; but nothing contradicts a name, or a file that ends where a game
    might have been left."""
    dice, original, outcomes = random.Random(14), read_replay(path), {0: 0, 1: 0, 2: 0}
    for _ in range(EDITS):
        path.write_bytes(edited(content, dice))
        code = main(["replay", str(path), "--at", "0"])
        said = capsys.readouterr()
        outcomes[code] += 1
        if code == 0:
            shown = read_replay(path)
            made = len(shown.actions)
            assert shown.final == original.final or (shown.final is None and made < len(original.actions))
            assert (shown.seed, shown.actions, shown.texts) == (
                original.seed,
                original.actions[:made],
                original.texts[:made],
            )
        else:
            words = said.err if code == 2 else said.out
            assert words.count("\n") == 1 and str(path) in words and "\x1b" not in words
    assert outcomes[0] <= EDITS // 10 and outcomes[1] >= 20 and outcomes[2] >= 20, outcomes


@pytest.mark.parametrize(
    ("line", "values", "words"),
    [
        (1, {"action": 10**4999}, "line 2 has an integer of 5,000 digits; allowed are 20"),
        (0, {"seed": -(10**4999)}, "line 1 has an integer of 5,000 digits"),
        (2, {"seat": 1.0}, "line 3 must have an integer seat and action"),
        (2, {"text": ["x"]}, "line 3 must have a text of type str, not ['x']"),
        (0, {"agents": ["ada", 7]}, "line 1 must have agents of type str, not 7"),
        (0, {"options": {"num_players": [2]}}, "option 'num_players' must be a number or a text, not [2]"),
        (0, {"game": "g" * 5000, "options": 3}, "line 1 must have options of type dict, not 3"),
    ],
)
def test_values_that_no_replay_has(line, values, words, path, capsys):
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        edit(path, line, **values)
    finally:
        sys.set_int_max_str_digits(limit)
    assert main(["replay", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"kepler-envs: {path}: ") and words in said and len(said) < 400


@pytest.mark.parametrize(
    ("line", "words"), [("{", "is not JSON: "), ("[1]", "is not an object"), ("7", "is not an object")]
)
def test_a_line_that_is_no_object(line, words, path, content):
    path.write_bytes(content + line.encode())
    with pytest.raises(ReplayError, match=rf"game\.jsonl: line {len(content.splitlines()) + 1} {words}"):
        read_replay(path)


@pytest.mark.parametrize("bracket", ["[", '{"a":'])
def test_deep_nesting(bracket, path, content, capsys):
    path.write_bytes(content + bracket.encode() * 100_000 + b"\n")
    assert main(["replay", str(path)]) == 2
    said = capsys.readouterr().err
    assert "is nested too deeply" in said and said.count("\n") == 1
    path.write_bytes(content.replace(b'"returns": ', b'"returns": ' + b"[" * 900 + b"]" * 900 + b', "x": ', 1))
    assert main(["replay", str(path)]) == 1
    assert "the closing line has returns = [[[" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "values", "words"),
    [
        (-1, {"hash": "0" * 64}, "the closing line has hash = '000"),
        (-1, {"returns": [1.0, 1.0]}, "the closing line has returns = [1.0, 1.0], the game played again has"),
        (0, {"agents": ["ada"]}, "1 agent name for 2 seats"),
        (3, {"text": "win at once"}, "decision 3: 'win at once' is recorded, but id"),
        (3, {"text": ""}, "decision 3: '' is recorded, but id"),
    ],
)
@pytest.mark.parametrize("arguments", [[], ["--at", "2"], ["--svg", "pictures"]])
def test_what_was_edited_is_not_shown(line, values, words, arguments, path, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    edit(path, line, **values)
    assert main(["replay", str(path), *arguments]) == 1
    said = capsys.readouterr().out
    assert said.startswith(f"DIFFERS  {path}: ") and words in said and said.count("\n") == 1
    assert not (tmp_path / "pictures").exists()


def test_ids_of_numpy_are_written():
    config = kepler_envs.load_game(GAME).configure(2)
    replay, position = record(config, 5, []), kepler_envs.Snapshot.deal(config, 5)
    replay.add(position, np.int64(position.legal_actions()[0]))
    assert [type(action) for action in replay.actions] == [int]


def test_cards_that_have_moved(tmp_path, monkeypatch, capsys):
    """A replay knows where its cards were, and by their digest whether others are the same."""
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "there")
    cards, other = Path("own.toml"), tmp_path / "other.toml"
    cards.write_text(changed(own_text(GAME), "hand = 7", "hand = 6"))
    other.write_text(own_text(GAME))
    config = kepler_envs.load_game(GAME).configure(2, cards)
    path = tmp_path / "game.jsonl"
    write_replay(path, record(config, 5, []))
    assert main(["replay", str(path)]) == 0
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    assert main(["replay", str(path)]) == 2
    assert f"{path}: it was played with the cards of own.toml, which is not there" in capsys.readouterr().err
    assert main(["replay", str(path), "--components", "there/own.toml"]) == 0
    assert main(["replay", str(path), "--components", str(other)]) == 1
    assert "was played with component data" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cards", "words"),
    [
        (str(GAMES / "kepler_run" / "components.toml"), "game is 'kepler_run'; this file must be for"),
        ("folder", "--components folder is a folder; name a file"),
        ("pipe", "--components pipe is a pipe or a device; name a file"),
        ("gone.toml", "--components gone.toml: there is no such file"),
        ("game.jsonl", "game.jsonl: not a TOML file: "),
    ],
)  # fmt: skip
def test_cards_that_are_none_of_this_game(cards, words, path, tmp_path, monkeypatch, capsys):
    """That is no difference of the game, but an option that cannot be met."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    assert main(["replay", str(path), "--components", cards]) == 2
    said = capsys.readouterr()
    assert words in said.err and said.err.count("\n") == 1 and not said.out


def test_cards_for_a_game_that_is_not_there(path, capsys):
    cards = GAMES / GAME / "components.toml"
    edit(path, 0, game="gone-v1")
    assert main(["replay", str(path), "--components", str(cards)]) == 1
    assert "the replay's game cannot be set up: " in capsys.readouterr().out


def test_names_cannot_command_a_terminal(path, capsys):
    edit(path, 0, agents=["\x1b[2Jada\x07\n\u202e", "b\ud800en"])
    assert main(["replay", str(path), "--delay", "0"]) == 0
    said = capsys.readouterr().out
    assert "?[2Jada???" in said and "b?en" in said and "\x1b" not in said and "\x07" not in said


@pytest.mark.parametrize("letter", ["\u2028", "\u2029", "\x85"])
def test_lines_end_where_json_lines_do(letter, path):
    """Other writers of JSON do not escape what only Unicode takes for the end of a line."""
    edit(path, 0, agents=[f"a{letter}da", "ben"])
    lines = [json.loads(line) for line in path.read_text().split("\n") if line]
    for end in ("\n", "\r\n"):
        text = "".join(json.dumps(line, ensure_ascii=False) + end for line in lines)
        path.write_text(text, encoding="utf-8", newline="")
        replay = read_replay(path)
        assert replay.agents == [f"a{letter}da", "ben"] and len(replay.actions) == len(lines) - 2


def test_a_full_disk_leaves_the_earlier_file(path, content, monkeypatch):
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left on device: '.*game.jsonl'"):
        write_replay(path, read_replay(path))
    assert path.read_bytes() == content and [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("agents", ["ab", ["ada", 2], [Path("ada"), Path("ben")]])
def test_names_of_agents_are_texts(agents):
    """What is no text could not be read back."""
    config = kepler_envs.load_game("kitten_adventurers").configure(2)
    with pytest.raises(TypeError, match="^agents must be a name for each seat|^the name of an agent must be text, not"):
        record(config, 5, [], agents)


def test_values_of_another_type_are_told_of(path):
    """A file that was not read, a game that was not configured, seeds that deal nothing."""
    replay, config = read_replay(path), kepler_envs.load_game(GAME).configure(2)
    for call in (partial(verify, config=config), partial(write_replay, path), lambda it: configuration_of(it, None)):
        with pytest.raises(
            TypeError, match=r"^replay must be a Replay, not 'game.jsonl'; read_replay\(PATH\) reads one$"
        ):
            call("game.jsonl")
    for call in (partial(verify, replay), partial(record, seed=5, actions=[])):
        with pytest.raises(TypeError, match=f"^config must be a Configuration, not '{GAME}'; .* makes one$"):
            call(config=GAME)
    for seed in (None, "x", 1.5):
        with pytest.raises(ValueError, match=f"^seed = {seed!r} is not allowed; allowed: an integer 0"):
            record(config, seed, [])


@pytest.mark.parametrize(
    ("players", "options", "words"),
    [
        (3, {}, "the replay has num_players 2, the configuration 3"),
        (2, {"hand_size": 7}, "the replay has hand_size 'rulebook', the configuration 7"),
    ],
)
def test_another_configuration_is_named(path, players, options, words):
    replay = read_replay(path)
    config = kepler_envs.load_game(GAME).configure(**{**replay.options, "num_players": players, **options})
    with pytest.raises(ReplayError, match=words):
        verify(replay, config)
    with pytest.raises(ReplayError, match="has game 'kitten_adventurers-v1', the configuration 'kepler_run-v1'"):
        verify(replay, kepler_envs.load_game("kepler_run").configure(2))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": -1}, "seed = -1 is not allowed; allowed: an integer 0"),
        ({"seed": "x"}, "seed = 'x' is not allowed; allowed: an integer 0"),
        ({"seats": [0]}, r"the replay has \d+ actions, 1 seat and \d+ texts"),
        ({"texts": []}, r"the replay has \d+ actions, \d+ seats and 0 texts"),
    ],
)
def test_a_replay_put_together_by_hand_may_be_wrong(path, changes, words):
    right = read_replay(path)
    with pytest.raises(ReplayError, match=words):
        verify(replace(right, **changes), kepler_envs.load_game(GAME).configure(**right.options))


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b", "a" * 300])
def test_no_file_can_have_such_a_name(path, name, tmp_path):
    with pytest.raises(ReplayError, match="cannot be read: "):
        read_replay(tmp_path / name)
    with pytest.raises(OSError):
        write_replay(tmp_path / name, read_replay(path))


def test_what_is_not_of_one_length_is_not_written(path, content):
    with pytest.raises(ReplayError, match=r"the replay has \d+ actions, 1 seat and \d+ texts"):
        write_replay(path, replace(read_replay(path), seats=[0]))
    assert path.read_bytes() == content


def test_a_cut_behind_the_end_drops_nothing(path):
    replay, whole = read_replay(path), read_replay(path)
    replay.cut(len(replay.actions))
    assert replay == whole
    replay.cut(len(replay.actions) - 1)
    assert replay.final is None and replay.texts == whole.texts[:-1]


def test_a_game_that_cannot_be_loaded_any_more(path):
    """Whoever reads many replays passes over this one as over any other that cannot be read."""

    def find(name: str) -> kepler_envs.Game:
        raise BrokenGame(f"{name} of broken 1.0 cannot be loaded: ModuleNotFoundError: No module named 'gone'")

    with pytest.raises(ReplayError, match="game cannot be set up: .*-v1 of broken 1.0 cannot be loaded: ModuleNot"):
        configuration_of(read_replay(path), find)


def test_cards_that_are_gone_are_asked_for(path):
    replay = read_replay(path)
    replay.options["components"] = "gone.toml"
    with pytest.raises(ReplayError, match="; the component file was gone.toml: change to the folder it is in, or corr"):
        configuration_of(replay, kepler_envs.load_game)
    replay.options["components"] = str(path)
    with pytest.raises(ReplayError, match=r"game\.jsonl: not a TOML file: [^;]*$"):
        configuration_of(replay, kepler_envs.load_game)
