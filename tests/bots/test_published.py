"""Agents that come with the repository, and the command that publishes them."""

from __future__ import annotations

import io
import json
import re
import shlex
import zipfile
from dataclasses import asdict, replace
from operator import gt

import numpy as np
import pytest
import torch as th
import tyro

import kepler_envs
from agents import checkpoint
from agents.publish import MOST_BYTES, Publish, agreement_of_play, main, publish, rounded
from agents.run import Run, train
from agents.settings import MODULES, PoolConfig, TrainConfig, command_line
from docs import build
from kepler_envs import bots
from kepler_envs.bots import published
from kepler_envs.bots.networks import CURVE_FILE, CheckpointBot
from kepler_envs.bots.networks.checkpoint import (
    PLAIN_WEIGHTS,
    player_counts,
    read_description,
    read_entries,
    trained_configurations,
)
from kepler_envs.bots.protocol import BotError, TrustedDecisions
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration

NAME = "kitten_adventurers/tiny-v0"


def play_legally(agent: bots.Bot, config: Configuration, steps: int = 60) -> None:
    batch, rows = Batch(config, 8, 3), np.arange(8)
    agent.start(rows, batch.seed)
    for _ in range(steps):
        batch.step(agent.act(TrustedDecisions(batch, rows)))  # refuses what is not legal


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Run:
    return train(
        TrainConfig(
            players=2,
            option=("quest_size=2",),
            steps=512,
            num_envs=8,
            n_steps=32,
            batch_size=64,
            epochs=1,
            width=16,
            hidden=(16,),
            rows=8,
            eval_every=256,
            eval_games=8,
            teacher="greedy",
            out=tmp_path_factory.mktemp("run"),
        )
    )


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty place for published agents; few positions are compared."""
    monkeypatch.setattr("agents.publish.COMPARED_STEPS", 10)
    monkeypatch.setattr(published, "FOLDER", tmp_path / "published")
    return tmp_path / "published"


# ---------------------------------------------------------------- what is published


@pytest.mark.parametrize("name", published.published_names())
def test_a_published_agent_is_small_complete_and_plays(name):
    game, short = name.split("/")
    path = published.published_path(game, short)
    assert path.stat().st_size < MOST_BYTES
    description = read_description(path)
    assert kepler_envs.load_game(description["game"]).name == game
    _, _, module, *words = shlex.split(command_line(description["training"]))  # which the page shows
    assert tyro.cli(MODULES[module], args=words).game.partition("-v")[0] == game
    assert description["seed"] == description["training"]["seed"]
    assert re.fullmatch(r"[0-9a-f]{40}\+?", description["commit"])
    assert description["budget"]["steps"] >= description["results"]["steps"] > 0
    assert description["budget"]["minutes"] > 0
    wins = description["results"]["evaluations"]
    counts = player_counts(description)
    if counts == [1]:
        assert list(wins) == ["alone"] and wins["alone"]["low"] > 0
    else:
        against = {bot: [one for spec, one in wins.items() if spec.startswith(bot)] for bot in ("uniform", "greedy")}
        beaten = against["uniform"] or against["greedy"]  # some runs were not evaluated against uniform
        assert against["greedy"] and len(beaten) == len(counts)
        assert all(map(gt, [one["low"] for one in beaten], [1 / count for count in counts]))
    assert description["float16"]["same_choice"] >= 0.99
    curve = read_entries(path, [CURVE_FILE])[0].decode().splitlines()
    assert {"steps", "seconds"} < set(curve[0].split(",")) and len(curve) > 2
    assert "/tmp" not in json.dumps(description) and "/home" not in json.dumps(description)
    for config in trained_configurations(description, name):
        play_legally(bots.load(name, config), config)


# ---------------------------------------------------------------- publishing


def test_a_run_is_published_and_loaded_by_name(finished, folder, capsys):
    main([str(finished.out), NAME])
    said = capsys.readouterr().out
    path = folder / "kitten_adventurers" / "tiny-v0.zip"
    assert f"{path.stat().st_size:,} bytes" in said and "chooses as in float32" in said
    assert published.published_names() == [NAME]
    config = kepler_envs.load_game("kitten_adventurers").configure(2, quest_size=2)
    for spec in (NAME, "tiny-v0"):
        agent = bots.load(spec, config)
        assert agent.name == spec
        play_legally(agent, config)
    description = read_description(path)
    assert description["seed"] == 0 and description["budget"]["steps"] == 512
    assert "out" not in description["training"] and str(finished.out) not in json.dumps(description)
    assert read_entries(path, [CURVE_FILE])[0] == (finished.out / CURVE_FILE).read_bytes()
    assert {path.name for path in folder.rglob("*.*")} == {"tiny-v0.zip"}


def test_the_best_network_of_a_game_has_a_name_of_its_own(finished, folder):
    """Until another one is the best."""
    config = kepler_envs.load_game("kitten_adventurers").configure(2, quest_size=2)
    publish(Publish(finished.out, NAME))
    assert published.find_published("best", "kitten_adventurers") is None
    with pytest.raises(BotError, match="no bot 'best'"):
        bots.load("best", config)
    publish(Publish(finished.out, "kitten_adventurers/other", best=True))
    for spec in ("best", "kitten_adventurers/best"):
        assert published.find_published(spec, "kitten_adventurers").stem == "other"
        assert bots.load(spec, config).name == spec
        assert bots.fingerprint(spec, "kitten_adventurers") == bots.fingerprint("kitten_adventurers/other")
    publish(Publish(finished.out, NAME, replace=True, best=True))
    assert published.best_names() == [NAME] and published.find_published("best", "ad_astra") is None
    with pytest.raises(BotError, match="'kitten_adventurers/best' cannot be published"):
        publish(Publish(finished.out, "kitten_adventurers/best"))


def test_published_weights_are_in_float16_and_stored_once(finished, folder):
    written = publish(Publish(finished.out, NAME))
    with np.load(io.BytesIO(read_entries(written.path, [PLAIN_WEIGHTS])[0]), allow_pickle=False) as arrays:
        assert {arrays[name].dtype for name in arrays.files} == {np.dtype(np.float16)}
        assert len(arrays.files) == len(list(finished.model.policy.parameters()))
    config = kepler_envs.load_game("kitten_adventurers").configure(2, quest_size=2)
    for loaded in checkpoint.load_policy(written.path, config).parameters():
        assert loaded.dtype == th.float32


def test_float16_does_not_change_play(finished, folder):
    written = publish(Publish(finished.out, NAME))
    config = kepler_envs.load_game("kitten_adventurers").configure(2, quest_size=2)
    whole, half = CheckpointBot(finished.out, config), bots.load(NAME, config)
    batch, rows = Batch(config, 32, 11), np.arange(32)
    same = []
    for _ in range(100):
        actions = whole.act(TrustedDecisions(batch, rows))
        same.append(half.act(TrustedDecisions(batch, rows)) == actions)
        batch.step(actions)
    assert np.mean(same) >= 0.99
    assert written.description["float16"]["same_choice"] >= 0.99


def test_weights_that_play_otherwise_are_noticed(finished):
    config = finished.games
    policy = finished.model.policy
    other = checkpoint.build(finished.network, config)
    assert agreement_of_play(policy, checkpoint.half_precision(other), config, finished.network) < 0.9


def test_play_is_compared_with_every_number_of_players_and_all_options(folder, tmp_path, monkeypatch):
    """It was compared with the most players only."""
    asked = TrainConfig(
        players="2-3", option=("quest_size=2,3",), seat="pool", steps=512, num_envs=8, n_steps=32, batch_size=64,
        epochs=1, width=16, hidden=(16,), rows=8, eval_every=512, eval_games=8, pool=PoolConfig(sparring=()),
        out=tmp_path / "run",
    )  # fmt: skip
    compared = []

    def worse_with_fewer(policy, weights, config, network) -> float:
        compared.append((config.num_players, config.values["quest_size"]))
        return 0.98 if compared[-1] == (2, 3) else agreement_of_play(policy, weights, config, network)

    monkeypatch.setattr("agents.publish.agreement_of_play", worse_with_fewer)
    with pytest.raises(BotError, match="in float16 it chooses the same in 98.00% of positions only"):
        publish(Publish(train(asked).out, NAME))
    assert compared == [(2, 2), (2, 3), (3, 2), (3, 3)] and not folder.exists()


def test_a_name_is_taken_once(finished, folder):
    first = publish(Publish(finished.out, NAME))
    with pytest.raises(BotError, match="is published already .*--replace"):
        publish(Publish(finished.out, NAME))
    assert publish(Publish(finished.out, NAME, replace=True)).path == first.path


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("tiny-v0", "write GAME/NAME"),
        ("kitten_adventurers/", "write GAME/NAME"),
        ("kitten_adventurers/a b", "write GAME/NAME"),
        ("kitten_adventurers/../x", "write GAME/NAME"),
        ("ad_astra/tiny-v0", "trained for kitten_adventurers; publish it as kitten_adventurers/tiny-v0"),
    ],
)
def test_bad_names_are_refused(finished, folder, name, message):
    with pytest.raises(BotError, match=message):
        publish(Publish(finished.out, name))
    assert not folder.exists()


def test_a_network_a_little_too_large_loses_digits(finished, folder, monkeypatch):
    whole = publish(Publish(finished.out, NAME))
    assert whole.description["float16"]["dropped_bits"] == 0
    monkeypatch.setattr("agents.publish.MOST_BYTES", whole.size)
    smaller = publish(Publish(finished.out, NAME, replace=True))
    assert smaller.size < whole.size and smaller.description["float16"]["dropped_bits"] == 1
    assert read_description(smaller.path)["float16"] == smaller.description["float16"]


def test_digits_are_rounded_off():
    values = np.array([1.0, 1 + 2**-10, 1 + 3 * 2**-10, -(1 + 5 * 2**-10), 0.0, 2 - 2**-10], np.float16)
    buffer = io.BytesIO()
    np.savez(buffer, weights=values)
    with np.load(io.BytesIO(rounded(buffer.getvalue(), 2))) as found:
        assert found["weights"].tolist() == [1, 1, 1 + 4 * 2**-10, -(1 + 4 * 2**-10), 0, 2]
    assert rounded(buffer.getvalue(), 0) == buffer.getvalue()


def test_large_networks_are_refused(finished, folder, monkeypatch):
    monkeypatch.setattr("agents.publish.MOST_BYTES", 5000)
    with pytest.raises(BotError, match="bytes, allowed are fewer than 5,000"):
        publish(Publish(finished.out, NAME))
    assert not folder.exists()


def test_a_folder_without_a_run_is_refused(folder, tmp_path):
    with pytest.raises(BotError, match="there is no checkpoint"):
        publish(Publish(tmp_path, NAME))


# ---------------------------------------------------------------- loading


def test_unknown_names_list_what_there_is(finished, folder):
    publish(Publish(finished.out, NAME))
    config = kepler_envs.load_game("kitten_adventurers").configure(2, quest_size=2)
    with pytest.raises(BotError, match=f"no bot 'kitten_adventurers/tiny-v1'; there are:\n(.*\n)+  {NAME}"):
        bots.load("kitten_adventurers/tiny-v1", config)
    elsewhere = kepler_envs.load_game("ad_astra").configure(4)
    with pytest.raises(BotError, match=f"no bot 'tiny-v0'; there are:\n(.*\n)+  {NAME}"):
        bots.load("tiny-v0", elsewhere)


def test_other_games_players_and_options_are_refused(finished, folder):
    publish(Publish(finished.out, NAME))
    with pytest.raises(BotError, match="num_players is 2, here 3"):
        bots.load("tiny-v0", kepler_envs.load_game("kitten_adventurers").configure(3, quest_size=2))
    with pytest.raises(BotError, match="option quest_size is 2, here 4"):
        bots.load("tiny-v0", kepler_envs.load_game("kitten_adventurers").configure(2, quest_size=4))
    with pytest.raises(BotError, match="game is 'kitten_adventurers-v1', here 'ad_astra-v1'"):
        bots.load(NAME, kepler_envs.load_game("ad_astra").configure(4))


def test_a_path_is_pointed_to(folder, tmp_path, monkeypatch):
    (tmp_path / "runs" / "kittens").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BotError, match="a checkpoint of your own is written net:runs/kittens"):
        bots.load("runs/kittens", kepler_envs.load_game("kitten_adventurers").configure(2))


def test_fingerprints_follow_published_files(finished, folder):
    assert bots.fingerprint(NAME) == bots.fingerprint("tiny-v0") == ""
    written = publish(Publish(finished.out, NAME))
    first = bots.fingerprint(NAME)
    assert first == bots.fingerprint("tiny-v0") == bots.fingerprint("tiny-v0", "kitten_adventurers") != ""
    assert bots.fingerprint("tiny-v0", "ad_astra") == ""
    with zipfile.ZipFile(written.path, "a") as archive:
        archive.writestr("more", "")
    assert bots.fingerprint(NAME) != first


# ---------------------------------------------------------------- commands


def test_a_published_command_asks_for_the_same_run():
    config = TrainConfig(
        "ad_astra", minutes=12.5, option=("a=1", "b=two"), hidden=(64, 32), seed=7, teacher="greedy", rows=16
    )  # fmt: skip
    pool = replace(config, players="3-5", seat="pool", pool=PoolConfig(latest=0.25, sparring=(), snapshots=5))
    begun = TrainConfig("ad_astra", seat="pool", pool=PoolConfig(sparring=("greedy", "mcts:20")), start="bc-v1")
    for asked in (TrainConfig(), config, pool, begun):
        command = command_line(json.loads(json.dumps(asdict(asked))))
        assert command.startswith("python -m agents.train ")
        assert tyro.cli(TrainConfig, args=command.split()[3:]) == asked


def test_the_page_lists_what_is_published(finished, folder):
    assert build.published_networks() == "None yet."
    written = publish(Publish(finished.out, NAME))
    line = build.published_networks().splitlines()[-1]
    assert f"| `{NAME}` | network alone | 2 |" in line and f"| {written.size / 1000:.0f} kB |" in line
    assert "512 decisions | 0 | " in line and f"`{written.description['command']}`" in line


def test_a_network_that_does_not_play_a_game_names_those_that_do():
    solo = kepler_envs.load_game("kepler_3042").configure(1)
    for spec in ("best", "mcts:10,network=best"):
        with pytest.raises(BotError, match=r"num_players is .*; published networks that play this: solo-v1$"):
            bots.load(spec, solo)
    one_card = kepler_envs.load_game("kitten_adventurers").configure(2, quest_size=2)
    with pytest.raises(BotError, match="published networks that play this: none$"):
        bots.load("best", one_card)
