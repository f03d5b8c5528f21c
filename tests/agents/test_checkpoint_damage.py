"""Checkpoints and runs that were edited, damaged or planted: each gives one clear error, and no code in them runs."""

from __future__ import annotations

import copy
import errno
import json
import os
import pickle
import random
import re
import threading
import zipfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch as th

import kepler_envs
from agents import checkpoint
from agents.exploit import Exploit
from agents.progress import full_disks_told_once
from agents.publish import Publish, publish
from agents.run import Run, beginning_of, shape_of
from agents.run_folder import check_nobody_else_writes
from agents.settings import TrainConfig
from agents.train import main
from kepler_envs import bots
from kepler_envs.bots.networks import CheckpointBot
from kepler_envs.bots.networks.checkpoint import DESCRIPTION, TORCH_WEIGHTS, read_description
from kepler_envs.bots.protocol import BotError, TrustedDecisions
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.network import NetworkShape
from kepler_envs.files import write_atomically
from tests.agents.endings import BROKEN_OFF, ends

EDITS = 200
GAME = "kitten_adventurers"
CONFIG = kepler_envs.load_game(GAME).configure(2, quest_size=2)
NETWORK = NetworkShape(8, (8,), 4)
RESULTS = {
    "steps": 5, "seconds": 1.5, "games": 3, "parameters": 9,
    "evaluations": {"uniform": {"mean": 0.5, "low": 0.2, "high": 0.7, "games": 8}},
}  # fmt: skip
TRAINING = {"game": GAME, "seed": 0, "pool": {"lineup": 4}, "option": ["quest_size=2"], "bots": {"greedy": "greedy-1"}}
VALUES = (
    None, True, -1, 0, 3, 10**6, 10**30, 0.5, float("nan"), "", "x" * 5000, "hex.*", "chess-v0", [], [[]], ["x"],
    [1, 2], [-1],
    [10**9], {}, {"x": {"y": []}}, [["x", "y"]],
)  # fmt: skip


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    return json.loads(json.dumps(checkpoint.describe(CONFIG, NETWORK, TRAINING, RESULTS)))


@pytest.fixture(scope="module")
def weights() -> bytes:
    return checkpoint.weights_of(checkpoint.build(NETWORK, CONFIG))


def choices(path: Path) -> list[int]:
    batch, rows = Batch(CONFIG, 16, 1), np.arange(16)
    return CheckpointBot(path, CONFIG).act(TrustedDecisions(batch, rows)).tolist()


def edited(description: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """One entry, however deep, is lost, renamed, or has another value."""
    found = copy.deepcopy(description)
    place: Any = found
    while True:
        keys = sorted(place) if isinstance(place, dict) else range(len(place))
        key = dice.choice(list(keys))
        if isinstance(place[key], (dict, list)) and place[key] and dice.random() < 0.75:
            place = place[key]
            continue
        kind = dice.randrange(6)
        if kind == 0:
            del place[key]
        elif kind == 1 and isinstance(place, dict):
            place[key + "x"] = place.pop(key)
        else:
            place[key] = dice.choice(VALUES)
        return found


def is_one_clear_line(problem: BotError, path: Path) -> bool:
    words = str(problem)
    return str(path) in words and "\n" not in words and len(words) < 700


def use_all_of_it(path: Path) -> None:
    """Use everything that reads a description: playing, starting a run, attacking, publishing."""
    choices(path)
    run = object.__new__(Run)
    run.config, run.all_games, run.games = TrainConfig(GAME, start=f"net:{path}"), [CONFIG], CONFIG
    beginning = beginning_of(run.config.start, run.config.over, [CONFIG])
    checkpoint.continue_network(checkpoint.build(shape_of(run.config, beginning), CONFIG), path, CONFIG)
    publish(Publish(path, f"{GAME}/tiny-v0", replace=True))


def test_edited_descriptions(description, weights, tmp_path, monkeypatch):
    """Each edit gives an error of one line, or a network that plays as before."""
    monkeypatch.setattr("agents.publish.COMPARED_STEPS", 1)
    monkeypatch.setattr("agents.publish.COMPARED_GAMES", 4)
    monkeypatch.setattr("kepler_envs.bots.published.FOLDER", tmp_path / "published")
    path, dice, outcomes = tmp_path / "last.zip", random.Random(3), Counter()
    (tmp_path / "learning_curve.csv").write_text("steps\n0\n")
    checkpoint.write_checkpoint(path, description, {TORCH_WEIGHTS: weights})
    use_all_of_it(path)
    as_before = choices(path)
    for _ in range(EDITS):
        found = edited(description, dice)
        checkpoint.write_checkpoint(path, found, {TORCH_WEIGHTS: weights})
        try:
            use_all_of_it(path)
        except BotError as problem:
            assert is_one_clear_line(problem, path), (problem, found)
            outcomes["refused"] += 1
            continue
        assert choices(path) == as_before
        outcomes["as before"] += 1
    assert outcomes["refused"] > EDITS / 2, outcomes


def test_weights_that_are_no_finite_numbers_are_refused(description, tmp_path):
    path = tmp_path / "last.zip"
    policy = checkpoint.build(NetworkShape.from_json(description["network"]), CONFIG)
    with th.no_grad():
        next(policy.parameters()).fill_(float("nan"))
    checkpoint.write_checkpoint(path, description, {TORCH_WEIGHTS: checkpoint.weights_of(policy)})
    with pytest.raises(BotError, match="its weights are not all finite numbers"):
        choices(path)


@pytest.mark.parametrize("spec", ["net:{}", "mcts:5,network=net:{}"])
def test_weights_too_large_to_compute_with_are_told_of(spec, description, tmp_path):
    """They are finite, what comes of them is not: a search would go on for ever."""
    path = tmp_path / "last.zip"
    policy = checkpoint.build(NetworkShape.from_json(description["network"]), CONFIG)
    with th.no_grad():
        for array in policy.parameters():
            array.copy_(th.where(th.rand_like(array) < 0.5, -1e30, 1e30))
    checkpoint.write_checkpoint(path, description, {TORCH_WEIGHTS: checkpoint.weights_of(policy)})
    bot = bots.load(spec.format(path), CONFIG)
    with pytest.raises(BotError, match="its answers are no finite numbers; its weights are too large") as raised:
        bots.play_games(bot, CONFIG, 2, 1)
    assert is_one_clear_line(raised.value, path)


def test_damaged_files(description, weights, tmp_path):
    path, dice, outcomes = tmp_path / "last.zip", random.Random(4), Counter()
    checkpoint.write_checkpoint(path, description, {TORCH_WEIGHTS: weights})
    whole, as_before = path.read_bytes(), choices(path)
    for number in range(EDITS // 2):
        place = dice.randrange(len(whole))
        kinds = (
            whole[:place] + bytes([whole[place] ^ 1 << dice.randrange(8)]) + whole[place + 1 :],
            whole[:place],
            whole[:place] + dice.randbytes(8) + whole[place + 8 :],
            whole[: place - place % 512] + bytes(512) + whole[place - place % 512 + 512 :],
        )
        path.write_bytes(kinds[number % 4])
        try:
            assert choices(path) == as_before
            outcomes["as before"] += 1
        except BotError as problem:
            assert is_one_clear_line(problem, path), problem
            outcomes["refused"] += 1
    assert outcomes["refused"] > EDITS / 4, outcomes


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"[" * 100_000, b'{"format": 1e5000}', b"1" * 5000])
def test_what_is_no_description(content, weights, tmp_path):
    path = tmp_path / "best.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(DESCRIPTION, content)
    with pytest.raises(BotError) as raised:
        read_description(path)
    assert is_one_clear_line(raised.value, path)


@pytest.mark.parametrize(
    ("part", "name", "value", "words"),
    [
        ("network", "width", 10**6, "network.width = 1000000; allowed: an integer 1..16384"),
        ("network", "hidden", [8, "x"], 'network.hidden = [8, "x"]; allowed: at most 16 integers 1..16384'),
        ("network", "depth", 3, 'network."depth", which this version does not know'),
        ("network", "rows", -1, "network.rows = -1; allowed: an integer 0..16384"),
        ("network", "rows", 5, "its weights do not fit the network it describes: tables."),
        ("network", "leave_out", [], 'network."leave_out", which this version does not know'),
        ("results", "steps", "many", 'results.steps = "many"; allowed: an integer from 0 on'),
        ("options", "quest_size", 3, "does not match its digest; was it edited?"),
    ],
)
def test_what_is_wrong_is_named(part, name, value, words, description, weights, tmp_path):
    path = tmp_path / "best.zip"
    found = {**description, part: {**description[part], name: value}}
    checkpoint.write_checkpoint(path, found, {TORCH_WEIGHTS: weights})
    with pytest.raises(BotError) as raised:
        bots.load(f"net:{path}", CONFIG)
    assert words in str(raised.value) and str(path) in str(raised.value)


def test_another_format_is_refused_and_what_is_missing_named(description, weights, tmp_path):
    path, lacking = tmp_path / "best.zip", {name: told for name, told in description.items() if name != "versions"}
    for found, words in (
        ({**description, "format": "of tomorrow"}, 'has format "of tomorrow"; this version reads '),
        (lacking, "its description lacks versions"),
    ):
        checkpoint.write_checkpoint(path, found, {TORCH_WEIGHTS: weights})
        with pytest.raises(BotError, match=words):
            bots.load(f"net:{path}", CONFIG)


# ---------------------------------------------------------------- going on with a run


class Tells:
    """Leaves a file behind if it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.fixture
def left(description, weights, tmp_path) -> tuple[TrainConfig, Path]:
    """What a run left in a folder: (its settings, a file that is there once its pickle has been read)."""
    config, told = TrainConfig(GAME, players=2, option=("quest_size=2",), out=tmp_path / "run"), tmp_path / "told"
    training = {**json.loads(json.dumps(asdict(config), default=str)), "trust_folder": False}
    found = checkpoint.describe(CONFIG, NETWORK, training, RESULTS)
    entries = {TORCH_WEIGHTS: weights, checkpoint.RUN: pickle.dumps(Tells(told))}
    checkpoint.write_checkpoint(config.out / "last.zip", found, entries)
    return config, told


OPEN = [
    (lambda folder: folder.chmod(0o777), "run may be written to by anybody"),
    (lambda folder: (folder / "last.zip").chmod(0o666), "last.zip may be written to by anybody"),
]
if hasattr(os, "getuid") and os.getuid() == 0:
    OPEN += [
        (lambda folder: os.chown(folder, 12345, -1), "run belongs to user 12345, and you are 0"),
        (lambda folder: os.chown(folder / "last.zip", 12345, -1), "last.zip belongs to user 12345"),
        (
            lambda folder: (os.chown(folder, -1, 54321), folder.chmod(0o775)),
            "run may be written to by group 54321",
        ),
    ]


@pytest.mark.skipif(os.name != "posix", reason="owners of files")
@pytest.mark.parametrize(("opened", "words"), OPEN)
def test_a_run_that_others_may_have_written_is_not_unpickled(opened, words, left):
    config, told = left
    check_nobody_else_writes(config.out / "last.zip")
    opened(config.out)
    with pytest.raises(BotError, match=rf"{words}.*executes whatever code is in its last.zip.*--trust-folder"):
        Run(config)
    assert not told.exists()
    trusting = TrainConfig(GAME, players=2, option=("quest_size=2",), out=config.out, trust_folder=True)
    with pytest.raises(BotError, match="is damaged"):  # and by now it was executed
        Run(trusting)
    assert told.exists()


def test_a_run_that_cannot_be_read_says_so_in_one_line(left):
    with pytest.raises(
        BotError, match="last.zip is damaged, or was written by other versions of the libraries: .*--start net:"
    ) as raised:
        Run(left[0])
    assert "\n" not in str(raised.value)


def test_an_attack_goes_on_only_in_a_trusted_folder(tmp_path):
    request = Exploit(GAME, "uniform", players=2, out=tmp_path, trust_folder=True)
    assert request.training().trust_folder and not Exploit(GAME, "uniform").trust_folder


def test_the_command_says_that_it_executes(left, monkeypatch, capsys):
    command = ["train", GAME, "--players", "2", "--option", "quest_size=2", "--out", str(left[0].out)]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit):
        main()
    said = capsys.readouterr()
    assert "last.zip, which runs the code pickled in it" in said.out and "is damaged" in said.err


# ---------------------------------------------------------------- full disks


def test_a_full_disk_leaves_the_earlier_checkpoint(left, monkeypatch):
    path = left[0].out / "last.zip"
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device: '.*last.zip'"):
        write_atomically(path, b"half")
    assert path.read_bytes() == before
    assert sorted(one.name for one in path.parent.iterdir()) == ["last.json", "last.zip"]


def test_training_on_a_full_disk_ends_in_one_line(tmp_path, monkeypatch, capsys):
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    command = [
        "train", GAME, "--players", "2", "--option", "quest_size=2", "--out", str(tmp_path), "--num-envs", "4",
        "--n-steps", "8",
        "--width", "8", "--hidden", "8", "--eval-games", "2", "--eval-opponents", "uniform",
    ]  # fmt: skip
    monkeypatch.setattr("sys.argv", command)
    monkeypatch.setattr(os, "fsync", full)
    line = (
        f"[Errno 28] No space left on device: '{tmp_path / 'last.zip'}'; all files written before are complete, "
        "run the same command again to continue\n"
    )
    with ends(capsys, f"^{re.escape(line)}$", BROKEN_OFF):
        main()


def test_the_thread_that_writes_the_curves_prints_no_traceback(monkeypatch):
    told = []
    monkeypatch.setattr(threading, "excepthook", told.append)

    def fail(problem: Exception) -> None:
        raise problem

    with full_disks_told_once():
        for problem in (OSError(errno.ENOSPC, "No space left on device"), ValueError("a bug")):
            thread = threading.Thread(target=fail, args=(problem,))
            thread.start()
            thread.join()
    assert [raised.exc_type for raised in told] == [ValueError]
