"""Training: budgets, interruption and continuation, files, and the agents made from them."""

from __future__ import annotations

import csv
import io
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
import torch as th
import tyro
from rich.console import Console

import kepler_envs
from agents import checkpoint
from agents.benchmark.__main__ import COMMANDS
from agents.evaluation import Evaluation, evaluate
from agents.expert_settings import ExpertConfig
from agents.exploit import Exploit
from agents.imitation import packed, unpacked
from agents.progress import Display
from agents.publish import Publish
from agents.run import Run, random_state, set_random_state, train
from agents.run_folder import settings_as_json
from agents.settings import PoolConfig, TrainConfig, command_line
from agents.status import Status
from kepler_envs import bots, registry
from kepler_envs.adapters.sb3 import SeatVecEnv
from kepler_envs.bots.networks import CheckpointBot
from kepler_envs.bots.networks.checkpoint import (
    read_description,
    read_entries,
    trained_configurations,
)
from kepler_envs.bots.protocol import BotError, TrustedDecisions
from kepler_envs.networks import DivergedError
from kepler_envs.tournament.pairing import play_against
from kepler_envs.tournament.standings import Share
from tests.agents import compiling
from tests.agents.comparing import equal
from tests.component_file import kittens_with
from tests.effort import slow
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
STEPS = 1024
SIZE = {"width": TrainConfig.width, "hidden": TrainConfig.hidden, "rows": TrainConfig.rows}
"""That of a run that starts from a network, which has a size of its own."""
TINY = TrainConfig(
    players=2, option=("quest_size=2",), steps=STEPS, num_envs=8, n_steps=32, batch_size=64, epochs=1, width=16,
    hidden=(16,),
    rows=8, eval_every=512, eval_games=8, teacher="greedy",
)  # fmt: skip


IMITATING = {"teacher_share": 1.0, "batch_size": TrainConfig.batch_size, "epochs": TrainConfig.epochs}
"""Imitation alone, which leaves unused how a network learns from its own play."""


def interrupted(config: TrainConfig, at: int) -> Run:
    """A run that is stopped before its end, after the update with decision ``at``."""
    stop = threading.Event()
    part = train(config, stop, lambda status: stop.set() if status.steps >= at else None)
    assert at <= part.steps < config.steps
    return part


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Run:
    return train(replace(TINY, out=tmp_path_factory.mktemp("whole")))


def test_a_run_writes_what_it_says(finished):
    assert finished.steps == STEPS
    names = {path.name for path in finished.out.iterdir()}
    assert names == {"last.zip", "last.json", "best.zip", "best.json", "learning_curve.csv", "tensorboard"}
    assert (finished.out / "best.zip").stat().st_size < 2**20
    with (finished.out / "learning_curve.csv").open(newline="") as lines:
        curve = list(csv.DictReader(lines))
    assert [int(row["steps"]) for row in curve] == [0, 512, 1024]
    for row in curve:
        for opponent in ("uniform", "greedy"):
            low, mean, high = (float(row[f"{name}_{opponent}"]) for name in ("low", "win_rate", "high"))
            assert 0 <= low <= mean <= high <= 1 and int(row[f"games_{opponent}"]) == 8
    description = json.loads((finished.out / "last.json").read_text())
    assert description["game"] == "kitten_adventurers-v1"
    assert description["options"]["quest_size"] == 2 and "shaping" not in description["options"]
    assert description["training"]["learning_rate"] == TINY.learning_rate
    assert description["results"]["steps"] == STEPS
    assert description["versions"]["torch"] == th.__version__


def test_a_run_leaves_no_thread_behind(tmp_path):
    before = threading.active_count()
    train(replace(TINY, teacher=None, steps=256, out=tmp_path))
    assert threading.active_count() == before


def test_the_same_seed_gives_the_same_network(finished, tmp_path):
    again = train(replace(TINY, out=tmp_path))
    assert equal(finished.policy, again.policy)
    other = train(replace(TINY, out=tmp_path / "other", seed=1))
    assert not equal(finished.policy, other.policy)


def test_an_interrupted_run_ends_like_an_uninterrupted_one(finished, tmp_path):
    config = replace(TINY, out=tmp_path)
    part = interrupted(config, 256)
    assert part.steps == 256 and part.last.exists()
    rest = train(config)
    assert rest.steps == STEPS
    assert equal(finished.policy, rest.policy)
    assert [line["steps"] for line in rest.curve] == [0, 512, 1024]
    assert [line["win_rate_uniform"] for line in rest.curve] == [line["win_rate_uniform"] for line in finished.curve]


def test_a_run_that_goes_on_says_when_it_was_evaluated(tmp_path):
    output = io.StringIO()
    config = replace(TINY, out=tmp_path)
    interrupted(config, 256)
    results = read_description(tmp_path / "last.zip")["results"]
    assert (results["steps"], results["evaluated_at"]) == (256, 0)
    train(config, watch=Display(Console(file=output, width=200)))
    first, *others = [line for line in output.getvalue().splitlines() if "uniform" in line]
    assert "256 steps" in first and "after 0 steps: uniform" in first
    assert len(others) == 2 and not any("after" in line for line in others)


def test_brackets_in_names_are_shown():
    """Rich would read them as colours."""
    output, sure = io.StringIO(), Share(1.0, 1.0, 1.0, 8)
    opponent = Evaluation("net:runs/[red]/[/b]", sure, 50.0, sure)
    status = Status(8, 1.0, 0.5, 8.0, 50.0, (opponent,), True, "ratings: net:runs/[red] 25.0")
    Display(Console(file=output, width=200))(status)
    assert "net:runs/[red]/[/b] 100.0%" in output.getvalue() and "ratings: net:runs/[red] 25.0" in output.getvalue()


@pytest.mark.parametrize("seat", ["single", "pool"])
def test_an_interrupted_run_in_which_others_play_ends_like_an_uninterrupted_one(seat, tmp_path):
    """They draw from generators of their own, as `uniform` does."""
    config = replace(TINY, seat=seat, teacher=None, steps=512)
    whole = train(replace(config, out=tmp_path / "whole"))
    interrupted(replace(config, out=tmp_path / "parts"), 1)
    parts = train(replace(config, out=tmp_path / "parts"))
    assert equal(whole.policy, parts.policy)


def test_a_run_with_other_settings_is_not_taken_up(finished):
    with pytest.raises(BotError, match="begun with other settings: learning_rate is 0.001, now 0.5"):
        train(replace(TINY, out=finished.out, learning_rate=0.5))


def test_a_game_has_a_name_and_an_id(finished):
    again = train(replace(TINY, game="kitten_adventurers-v1", out=finished.out))
    assert again.steps == STEPS
    with pytest.raises(BotError, match="begun with other settings: game is 'kitten_adventurers(-v1)?', now 'ad_astra'"):
        train(replace(TINY, game="ad_astra", players=3, option=(), out=finished.out))


def test_a_rollout_without_decisions_of_the_learner_is_explained(tmp_path):
    nobody = PoolConfig(latest=0, past=0, pfsp=0, sparring_share=1, sparring=("uniform",))
    config = replace(TINY, seat="pool", pool=nobody, teacher=None, num_envs=1, n_steps=2, out=tmp_path)
    with pytest.raises(
        BotError, match="(0 decisions|1 decision) to learn from; .*: more than --num-envs 1 or --n-steps 2"
    ):
        train(config)


@pytest.fixture(scope="module")
def with_cards(tmp_path_factory) -> Run:
    """A run with a component file of its own."""
    folder = tmp_path_factory.mktemp("cards")
    return train(replace(TINY, steps=256, components=kittens_with(7, folder / "mine.toml"), out=folder / "run"))


def test_a_network_learns_and_plays_with_cards_of_one_s_own(with_cards, tmp_path):
    mine = with_cards.config.components
    own = kepler_envs.load_game("kitten_adventurers").configure(2, quest_size=2)
    config = own.game.configure(2, kittens_with(7, tmp_path / "moved.toml"), quest_size=2)
    description = read_description(with_cards.last)
    assert description["components_digest"] == config.components_digest != own.components_digest
    assert with_cards.env.batch.config.components_digest == config.components_digest
    assert f"--components {mine} " in command_line(description["training"])
    assert bots.load(f"net:{with_cards.out}", config)
    with pytest.raises(BotError, match=f"components_digest is '{config.components_digest}', here"):
        bots.load(f"net:{with_cards.out}", own)


def test_a_run_goes_on_with_the_same_cards_wherever_their_file_lies(with_cards, tmp_path):
    config, out = with_cards.config, tmp_path / "run"
    shutil.copytree(with_cards.out, out)
    moved = replace(config, out=out, components=kittens_with(7, tmp_path / "moved.toml"), steps=512)
    assert train(moved).steps == 512
    changed = kittens_with(6, tmp_path / "moved.toml")
    with pytest.raises(BotError, match=f"last.zip was begun with other cards than those of {changed}. Use another"):
        train(replace(moved, steps=768))
    with pytest.raises(BotError, match="last.zip was begun with other cards than the game's own. Use another --out"):
        train(replace(moved, components=None, steps=768))


@pytest.mark.parametrize("replaced", [True, False])
def test_a_run_is_judged_with_its_own_cards_whatever_becomes_of_their_file(replaced, monkeypatch, tmp_path):
    mine = kittens_with(7, tmp_path / "mine.toml")
    run = Run(replace(TINY, teacher=None, components=mine, out=tmp_path / "run"))
    if replaced:
        kittens_with(6, mine)
    else:
        mine.unlink()
    played = []

    def spy(learner, bot, config, *rest):
        played.append(config.components_digest)
        return play_against(learner, bot, config, *rest)

    monkeypatch.setattr("agents.evaluation.play_against", spy)
    run.evaluate()
    assert played == [run.games.components_digest] * 2, "against uniform and greedy"


def test_an_opponent_that_does_not_know_the_cards_leaves_no_run_behind(tmp_path):
    mine = kittens_with(7, tmp_path / "mine.toml")
    config = replace(TINY, teacher=None, components=mine, eval_opponents=("best",), out=tmp_path / "run")
    with pytest.raises(BotError, match="was trained for something else: components_digest is"):
        train(config)
    assert not config.out.exists()


def test_a_network_of_other_cards_may_learn_on(finished, with_cards, tmp_path):
    config = replace(TINY, teacher=None, **SIZE, start=f"net:{finished.out}", components=with_cards.config.components)
    begun = Run(replace(config, out=tmp_path / "mine"))
    assert equal(begun.policy, checkpoint.load_policy(finished.out / "best.zip", finished.games))
    assert train(replace(config, steps=256, out=tmp_path / "mine")).steps == 256
    back = Run(replace(config, start=f"net:{with_cards.out}", components=None, out=tmp_path / "own"))
    assert equal(back.policy, checkpoint.load_policy(with_cards.out / "best.zip", with_cards.games))


def test_an_option_may_be_given_again_on_the_command_line():
    words = ["--option", "campaign=0", "--option", "level=1,2"]
    config = tyro.cli(TrainConfig, args=words)
    assert config.option == ("campaign=0", "level=1,2")
    assert command_line(settings_as_json(config)) == "python -m agents.train kitten_adventurers " + " ".join(words)


def test_a_finished_run_goes_on_with_a_larger_budget(finished, tmp_path):
    first = train(replace(TINY, out=tmp_path, steps=256))
    assert first.steps == 256
    longer = train(replace(TINY, out=tmp_path, steps=512))
    assert longer.steps == 512
    results = json.loads((tmp_path / "last.json").read_text())["results"]
    assert results["prolonged"] == longer.prolonged == [{"at": 256, "steps": 256, "minutes": None}]


def test_a_run_begins_with_its_teachers_games(finished):
    """A fifth of the 1024 decisions: the first of four updates."""
    assert finished.model._n_updates == 3 * TINY.epochs
    alone = replace(TINY, teacher=None)
    assert Run(replace(alone, out=finished.out.parent / "alone")).teachers == []


def test_a_run_may_be_imitation_alone(tmp_path):
    """Imitation in one piece or in two. A continued run gathers its positions again."""
    config = replace(TINY, **IMITATING, steps=1024, teacher_positions=500)
    whole = train(replace(config, out=tmp_path / "whole"))
    assert whole.steps == 1024 and whole.model._n_updates == 0
    assert [0 <= line["accuracy"] <= 1 for line in whole.curve if line["steps"]] == [True, True]
    assert len(whole._imitation.positions) == 500 and whole._imitation.shown == 1024
    part = interrupted(replace(config, out=tmp_path / "parts"), 256)
    assert part.steps == 256
    (saved,) = read_entries(part.last, [checkpoint.RUN])
    assert isinstance(pickle.loads(saved)["imitation"], bytes), "a pickled tensor needs the device that it was on"
    rest = train(replace(config, out=tmp_path / "parts"))
    assert rest.steps == 1024 and rest.curve[-1]["accuracy"] == whole.curve[-1]["accuracy"]
    assert equal(whole.policy, rest.policy)


def test_the_state_of_an_imitation_is_read_on_the_processor(monkeypatch):
    """Whatever device it was saved on."""
    state = {"optimizer": {"state": {0: {"exp_avg": th.arange(3.0)}}}, "shown": 5}
    asked = []
    load = th.load
    monkeypatch.setattr(th, "load", lambda file, **how: asked.append(how) or load(file, **how))
    again = unpacked(packed(state))
    assert again["shown"] == 5 and th.equal(again["optimizer"]["state"][0]["exp_avg"], th.arange(3.0))
    assert asked == [{"map_location": "cpu", "weights_only": True}]


def test_a_teacher_that_does_not_exist_is_refused(monkeypatch, tmp_path):
    """Only defaults do without greedy."""
    twin = replace(kepler_envs.load_game("kitten_adventurers"), name="twin", module=__name__)
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(sys.modules[__name__], "GAME", twin, raising=False)
    kepler_envs.register(twin)
    with pytest.raises(BotError, match="there is no greedy bot for twin; there is one for: ad_astra"):
        Run(replace(TINY, game="twin", out=tmp_path))


def test_a_run_over_greedy_begins_as_greedy(tmp_path):
    """Before it has learned anything every game goes as greedy plays it; interrupted, it ends as it would have."""
    config = replace(TINY, over="greedy", teacher=None)
    whole = train(replace(config, out=tmp_path / "whole"))
    greedy = bots.load("greedy", whole.games)
    even = evaluate(greedy, bots.load("greedy", whole.games), whole.games, 8)
    assert whole.curve[0]["win_rate_greedy"] == pytest.approx(even.wins.mean)
    assert (
        whole.network.over == "greedy" and whole.policy.network.inputs.layout.size == whole.games.observation.size + 1
    )
    interrupted(replace(config, out=tmp_path / "parts"), 256)
    rest = train(replace(config, out=tmp_path / "parts"))
    assert rest.steps == STEPS
    assert equal(whole.policy, rest.policy)


@pytest.mark.parametrize("teacher", ["greedy", "uniform"])
def test_a_network_over_greedy_is_told_what_greedy_would_do_whoever_teaches_it(teacher, tmp_path):
    found = Run(replace(TINY, out=tmp_path, over="greedy", teacher=teacher))._gather()
    alike = (found.below == found.action).mean()
    assert (alike == 1) if teacher == "greedy" else (0 < alike < 0.8)
    assert found.masks(np.arange(len(found)))[np.arange(len(found)), found.below].all()


@pytest.mark.parametrize("seat", ["single", "pool"])
def test_every_kind_of_seat_learns_over_greedy(seat, tmp_path):
    run = train(replace(TINY, out=tmp_path, seat=seat, over="greedy", steps=256, teacher_share=0.5))
    assert run.steps >= 256 and run.env.observation_space.shape == (run.games.observation.size + 1,)


def test_a_device_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BotError, match="--device cuda:77 is not allowed; allowed: cpu"):
        Run(replace(TINY, out=tmp_path, device="cuda:77"))


@pytest.mark.skipif(not th.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("seat", ["shared", "single", "pool"])
def test_a_run_learns_on_a_gpu(seat, tmp_path):
    """Imitation and self-play. The saved network plays, and continues to learn, on the processor."""
    config = replace(TINY, out=tmp_path, seat=seat, device="cuda", steps=512)
    run = train(config)
    assert run.policy.network.device.type == "cuda" and run.steps >= 512
    assert train(replace(config, device="cpu", steps=1024)).policy.network.device.type == "cpu"


def test_random_numbers_go_on_on_every_device(monkeypatch):
    """On a GPU the policy draws from the GPU's own generator."""
    gpu, other, on_gpu = th.device("cuda:1"), th.device("cpu"), {th.device("cuda:1"): th.tensor([7], dtype=th.uint8)}
    monkeypatch.setattr(th.cuda, "get_rng_state", lambda device: on_gpu[device].clone())
    monkeypatch.setattr(th.cuda, "set_rng_state", lambda state, device: on_gpu.__setitem__(device, state))
    with th.random.fork_rng(devices=[]):
        saved, alone = (pickle.loads(pickle.dumps(random_state(device))) for device in (gpu, other))
        drawn = th.rand(3), np.random.random(3)
        on_gpu[gpu] = th.tensor([9], dtype=th.uint8)
        set_random_state(alone, gpu)
        assert on_gpu[gpu] == 9, "it has learned on the processor so far"
        set_random_state(saved, other)
        assert on_gpu[gpu] == 9, "it goes on on the processor"
        set_random_state(saved, gpu)
        assert on_gpu[gpu] == 7 and th.equal(th.rand(3), drawn[0]) and (np.random.random(3) == drawn[1]).all()


def test_minutes_have_sixty_seconds():
    config = TrainConfig("kitten_adventurers", minutes=2.0)
    assert config.progress(0, 30.0) == 0.25 and config.progress(0, 500.0) == 1
    assert replace(config, steps=400).progress(200, 30.0) == 0.5, "what is spent first counts"


def test_the_learning_rate_goes_from_the_first_to_the_final_one(tmp_path):
    config = replace(
        TINY, out=tmp_path, teacher=None, steps=512, eval_every=10**6, learning_rate=1e-3, final_learning_rate=1e-4
    )
    runs, rates = [], []

    def note(status: Status) -> None:
        if status.steps:
            rates.append(runs[0].policy.optimizer.param_groups[0]["lr"])

    train(config, watch=note, accepted=runs.append)
    assert rates == pytest.approx([1e-3, 5.5e-4])


def test_the_learner_has_the_settings_of_the_run(tmp_path):
    config = replace(
        TINY, out=tmp_path, teacher=None, n_steps=16, batch_size=32, epochs=4, gamma=0.9, gae_lambda=0.8,
        clip_range=0.3, entropy=0.02, value_weight=0.7, max_grad_norm=0.6,
    )  # fmt: skip
    model = Run(config).model
    assert (model.n_envs, model.n_steps, model.batch_size, model.n_epochs) == (8, 16, 32, 4)
    assert (model.gamma, model.rollout_buffer.gamma) == (0.9, 0.9)
    assert (model.gae_lambda, model.rollout_buffer.gae_lambda) == (0.8, 0.8)
    assert (model.clip_range(1.0), model.clip_range(0.0)) == (0.3, 0.3)
    assert (model.ent_coef, model.vf_coef, model.max_grad_norm) == (0.02, 0.7, 0.6)


def test_the_learning_rate_of_imitation_falls_over_its_share_of_the_budget(tmp_path):
    """Two of four updates: at the second, half of the way to a twentieth is gone."""
    config = replace(TINY, out=tmp_path, teacher_share=0.5, teacher_learning_rate=0.01, eval_every=10**6)
    runs, rates = [], []

    def note(status: Status) -> None:
        if 0 < status.steps <= 512:
            rates.append(runs[0]._imitation.optimizer.param_groups[0]["lr"])

    train(config, watch=note, accepted=runs.append)
    assert rates == pytest.approx([0.01, 0.01 * (1 - 0.95 / 2)])


def test_the_games_of_a_teacher_have_as_much_noise_as_asked(tmp_path):
    """Games of random moves are longer than those of greedy."""
    quiet, noisy = (
        Run(replace(TINY, out=tmp_path / str(noise), teacher_noise=noise, teacher_positions=64))._gather()
        for noise in (0.0, 1.0)
    )
    assert noisy.played > 1.5 * quiet.played
    assert len(quiet) == len(noisy) == 64


def test_an_evaluation_is_paid_as_the_game_pays_by_default(tmp_path):
    """Whatever the learner is paid: of three seats the first gets 1 and the others -1/2, here too."""
    config = replace(TINY, out=tmp_path, players=3, teacher=None, option=("quest_size=2", "reward_mode=rank"))
    run = Run(config)
    run.evaluate()
    assert run.games.values["reward_mode"] == "rank" and run.games.values["shaping"] == config.shaping > 0
    for one in run.evaluations:
        assert one.returns.mean == pytest.approx(1.5 * one.wins.mean - 0.5, abs=1e-6)


def test_compiling_takes_none_of_the_minutes(tmp_path, monkeypatch):
    """Otherwise a first run with a teacher compiles while it should imitate, and never does. Here all but a thousandth
    of the time is spent on it."""
    compiling.nearly_always(monkeypatch)
    began = time.perf_counter()
    run = train(replace(TINY, out=tmp_path, steps=256))
    assert run._imitation is not None and 0 < run.seconds <= 1.1 * compiling.LEFT * (time.perf_counter() - began)


def test_a_prolonged_run_does_not_go_back_to_its_teacher(tmp_path):
    first = train(replace(TINY, out=tmp_path, steps=512))
    updates = first.model._n_updates
    second = train(replace(TINY, out=tmp_path, steps=512 * 100, minutes=0.0001))
    assert second.fraction == 1.0 and second.steps == first.steps, "the time was up already"
    third = train(replace(TINY, out=tmp_path, steps=768))
    assert third.steps == 768 and third.model._n_updates == updates + TINY.epochs


@slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_saves_and_the_same_command_goes_on(tmp_path):
    command = [
        sys.executable, "-m", "agents.train", "kitten_adventurers", "--out", str(tmp_path), "--players", "2",
        "--option",
        "quest_size=2", "--num-envs", "8", "--n-steps", "32", "--width", "16", "--hidden", "16", "--eval-games", "4",
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [*command, "--steps", "100_000_000"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as running:
        wait_until(lambda: (tmp_path / "last.zip").exists() or running.poll() is not None, "beginning", longest=240)
        assert running.poll() is None
        running.send_signal(signal.SIGINT)
        said, _ = running.communicate(timeout=120)
    assert running.returncode == 130 and "run the same command again to continue" in said
    steps = json.loads((tmp_path / "last.json").read_text())["results"]["steps"]
    rest = subprocess.run(
        [*command, "--steps", str(steps + 256)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert rest.returncode == 0, rest.stderr
    assert json.loads((tmp_path / "last.json").read_text())["results"]["steps"] == steps + 256
    other = subprocess.run(
        [*command, "--seed", "1"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240
    )
    assert other.returncode == 2 and "begun with other settings: seed is 0, now 1" in other.stderr


def test_a_finished_run_is_saved_before_it_is_told(tmp_path):
    """Whoever reads what it prints may be gone."""

    def tell(status: Status) -> None:
        if status.fraction >= 1:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        train(replace(TINY, out=tmp_path, steps=256), watch=tell)
    assert read_description(tmp_path / "last.zip")["results"]["steps"] == 256


def test_one_learning_seat_against_given_opponents(tmp_path):
    run = train(replace(TINY, out=tmp_path, steps=512, seat="single", opponent="greedy", teacher=None))
    assert run.steps == 512 and run.env.opponent_seconds > 0
    assert (run.env.batch.episodes > 0).all()


def test_an_opponent_begins_each_rollout_with_other_seeds(tmp_path, monkeypatch):
    salts, seat_opponent = [], SeatVecEnv.seat_opponent

    def noted(env, opponent, salt=0):
        salts.append(salt)
        seat_opponent(env, opponent, salt)

    monkeypatch.setattr(SeatVecEnv, "seat_opponent", noted)
    single = replace(TINY, out=tmp_path, steps=512, seat="single", opponent="greedy", teacher=None, eval_every=10**6)
    train(single)
    assert len(salts) == len(set(salts)) == 2


@pytest.mark.parametrize("seat", ["shared", "single", "pool"])
def test_a_run_does_not_go_on_with_gradients_that_teach_nothing(seat, tmp_path):
    with pytest.raises(DivergedError, match="^the gradients are too large for float32"):
        train(replace(TINY, out=tmp_path, seat=seat, teacher=None, steps=256, value_weight=1e30))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"steps": 0}, "--steps 0 is not allowed; allowed: an integer from 1 on"),
        ({"num_envs": 0}, "--num-envs 0 is not allowed; allowed: an integer from 1 on"),
        ({"batch_size": 1}, "--batch-size 1 is not allowed; allowed: an integer from 2 on: advantages are normalised"),
        ({"num_envs": 1, "n_steps": 1}, "--n-steps 1 is not allowed; allowed: an integer from 2 on with --num-envs 1"),
        ({"learning_rate": -1.0}, "--learning-rate -1.0 is not allowed; allowed: a number above 0"),
        ({"learning_rate": float("nan")}, "--learning-rate nan is not allowed; allowed: a number above 0"),
        ({"entropy": float("inf")}, "--entropy inf is not allowed; allowed: a number from 0 on"),
        ({"gamma": 1.5}, "--gamma 1.5 is not allowed; allowed: 0 to 1"),
        ({"seed": -1}, f"--seed -1 is not allowed; allowed: 0 to {2**32 - 1}"),
        ({"seed": 2**32}, f"--seed {2**32} is not allowed; allowed: 0 to {2**32 - 1}"),
        ({"minutes": -1.0}, "--minutes -1.0 is not allowed; allowed: a number above 0"),
        ({"minutes": float("inf")}, "--minutes inf is not allowed; allowed: a number above 0"),
        ({"width": 16_385}, "--width 16385 is not allowed; allowed: 1 to 16384"),
        ({"hidden": (8, 0)}, "--hidden 8 0 is not allowed; allowed: at most 16 layers of 1 to 16384"),
        ({"hidden": (8,) * 17}, "is not allowed; allowed: at most 16 layers of 1 to 16384"),
        ({"rows": -1}, "--rows -1 is not allowed; allowed: 0 to 16384"),
        (
            {"seat": "single", "num_envs": 1, "n_steps": 17, "batch_size": 16},
            "--batch-size 16 is not allowed; allowed: sizes that leave no single one of 17 decisions",
        ),
        ({"start": "bc-v1", **SIZE, "hidden": (8, 8)}, "--hidden 8 8 is not allowed; allowed: only without --start"),
        ({"start": "bc-v1", **SIZE, "rows": 0}, "--rows 0 is not allowed; allowed: only without --start"),
        (
            {"eval_opponents": ("greedy", "uniform", "greedy")},
            "--eval-opponents greedy uniform greedy is not allowed; allowed: each bot once",
        ),
        ({"teacher_noise": 1.5}, "--teacher-noise 1.5 is not allowed; allowed: 0 to 1"),
        ({"opponent": "no-such-bot"}, "--opponent no-such-bot is not allowed; allowed: only with --seat single"),
        ({"pool": PoolConfig(latest=0.9)}, "--pool.latest 0.9 is not allowed; allowed: only with --seat pool"),
        ({"pool": PoolConfig(sparring=())}, "--pool.sparring  is not allowed; allowed: only with --seat pool"),
        (
            {"teacher": None, "teacher_share": 0.5},
            "--teacher-share 0.5 is not allowed; allowed: only with --teacher",
        ),
        (
            {**IMITATING, "learning_rate": 0.01},
            "--learning-rate 0.01 is not allowed; allowed: only with --teacher-share below 1",
        ),
        (
            {**IMITATING, "seat": "single", "opponent": "greedy"},
            "--opponent greedy is not allowed; allowed: only with --teacher-share below 1",
        ),
        (
            {**IMITATING, "seat": "pool", "pool": PoolConfig(latest=0.9)},
            "--pool.latest 0.9 is not allowed; allowed: only with --teacher-share below 1",
        ),
        ({"teacher_share": 0.0}, "--teacher-share 0.0 is not allowed; allowed: more than 0 with --teacher"),
        (
            {"seat": "pool", "pool": PoolConfig(sparring_share=0, sparring=("mcts:100",))},
            "--pool.sparring mcts:100 is not allowed; allowed: none, or --pool.sparring-share above 0",
        ),
    ],
)
def test_budgets_and_sizes_are_checked(wrong, words):
    with pytest.raises(BotError, match=words):
        replace(TINY, **wrong)


# ---------------------------------------------------------------- agents


def playing() -> kepler_envs.Configuration:
    return kepler_envs.load_game("kitten_adventurers").configure(2, quest_size=2)


def choices(agent, batch: kepler_envs.Batch, rows: np.ndarray) -> np.ndarray:
    return agent.act(TrustedDecisions(batch, rows))


@pytest.mark.parametrize("deterministic", [True, False])
def test_what_is_played_in_a_row_depends_on_no_other_row(finished, deterministic):
    batch = kepler_envs.Batch(playing(), 32, 5)
    rows = np.arange(32)
    together = CheckpointBot(finished.out, batch.config, deterministic)
    alone = CheckpointBot(finished.out, batch.config, deterministic)
    for agent in (together, alone):
        agent.start(rows, batch.seed)
    for _ in range(30):
        actions = choices(together, batch, rows)
        assert batch.action_mask[rows, actions].all()
        one_by_one = [int(choices(alone, batch, rows[row : row + 1])[0]) for row in rows]
        assert actions.tolist() == one_by_one
        batch.step(actions)


def test_an_agent_is_loaded_from_a_file_or_a_folder(finished):
    batch = kepler_envs.Batch(playing(), 16, 1)
    rows = np.arange(16)
    folder, file = (bots.load(f"net:{path}", batch.config) for path in (finished.out, finished.out / "best.zip"))
    for agent in (folder, file):
        agent.start(rows, batch.seed)
    assert (choices(folder, batch, rows) == choices(file, batch, rows)).all()


def test_a_checkpoint_of_another_game_is_refused(finished):
    other = kepler_envs.load_game("kitten_adventurers").configure(3, quest_size=2)
    with pytest.raises(BotError, match="num_players is 2, here 3"):
        bots.load(f"net:{finished.out}", other)
    longer = kepler_envs.load_game("kitten_adventurers").configure(2, quest_size=4)
    with pytest.raises(BotError, match="option quest_size is 2, here 4"):
        bots.load(f"net:{finished.out}", longer)


def test_what_is_no_checkpoint_is_refused(tmp_path):
    with pytest.raises(BotError, match="no checkpoint"):
        bots.load(f"net:{tmp_path}", playing())
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"not a zip")
    with pytest.raises(BotError, match="not a zip file"):
        bots.load(f"net:{broken}", playing())


def test_an_evaluation_uses_every_seat_and_counts_shared_wins_in_part():
    config = playing()
    greedy, uniform = bots.load("greedy", config), bots.load("uniform", config)
    strong = evaluate(greedy, uniform, config, 401)
    assert strong.wins.games == 402, "rounded up to whole rounds of seats"
    assert strong.wins.mean > 0.9
    even = evaluate(greedy, bots.load("greedy", config), config, 800)
    assert even.wins.low < 0.5 < even.wins.high


# ---------------------------------------------------------------- several values of an option

SOLO = replace(
    TINY, game="kepler_3042", players=1, option=("campaign=0,3", "level=1,2"), steps=512, eval_every=256,
    teacher_positions=200,
)  # fmt: skip
KEPLER = kepler_envs.load_game("kepler_3042")


@pytest.fixture(scope="module")
def solo(tmp_path_factory) -> Run:
    return train(replace(SOLO, out=tmp_path_factory.mktemp("solo")))


def test_games_are_spread_over_all_combinations(solo):
    parts = solo.env.batch.parts
    found = [(part.config.values["campaign"], part.config.values["level"], part.num_envs) for part in parts]
    assert found == [(0, 1, 2), (0, 2, 2), (3, 1, 2), (3, 2, 2)]
    assert solo._gather().game.max() > 3 and len(solo._gather()) == 104, "a fifth of the budget, as many of each"


def test_a_network_of_several_values_plays_them_all_and_nothing_else(solo):
    description = read_description(solo.out / "best.zip")
    assert description["num_players"] == 1
    assert (description["options"]["campaign"], description["options"]["level"]) == ([0, 3], [1, 2])
    assert description["options"]["bonus"] == 0 and "shaping" not in description["options"]
    for campaign in (0, 3):
        for level in (1, 2):
            config = KEPLER.configure(1, campaign=campaign, level=level)
            batch, agent, rows = kepler_envs.Batch(config, 2, 1), bots.load(f"net:{solo.out}", config), np.arange(2)
            agent.start(rows, batch.seed)
            batch.step(agent.act(TrustedDecisions(batch, rows)))
    with pytest.raises(
        BotError, match=r"option level is one of \[1, 2\], here 3; published networks that play this: solo-v1$"
    ):
        bots.load(f"net:{solo.out}", KEPLER.configure(1, campaign=3, level=3))
    with pytest.raises(BotError, match=r"num_players is 1, here 2"):
        bots.load(f"net:{solo.out}", KEPLER.configure(2))
    everything = trained_configurations(description, "last.zip")
    trained = [(one.values["campaign"], one.values["level"]) for one in everything]
    assert trained == [(0, 1), (0, 2), (3, 1), (3, 2)]


def test_alone_levels_are_won_or_lost(solo):
    """Nobody else plays, so there is one result: how many games were won, and with how many points."""
    (alone,) = solo.evaluations
    assert alone.opponent == "alone" and alone.wins.games == 8 and alone.wins.mean < 1
    assert alone.wins.mean == (1 + alone.returns.mean) / 2 and -10 < alone.points.mean < 60
    assert set(solo.curve[-1]) > {"win_rate_alone", "low_alone", "high_alone", "games_alone", "points_alone"}
    assert read_description(solo.last)["results"]["evaluations"]["alone"]["points"] == alone.points.mean


def test_a_run_of_several_values_goes_on_where_it_was_interrupted(solo, tmp_path):
    interrupted(replace(SOLO, out=tmp_path), 256)
    rest = train(replace(SOLO, out=tmp_path))
    assert equal(solo.policy, rest.policy)


@pytest.mark.parametrize("seat", ["shared", "pool"])
def test_a_run_of_several_values_starts_from_a_network_that_knows_them(solo, seat, tmp_path):
    alone = replace(SOLO, teacher=None, teacher_positions=TrainConfig.teacher_positions, **SIZE)
    begun = replace(alone, start=f"net:{solo.out}", seat=seat, steps=256, eval_opponents=("uniform",))
    assert train(replace(begun, out=tmp_path / "same")).steps >= 256
    with pytest.raises(BotError, match=r"option level is one of \[1, 2\], here 3"):
        Run(replace(begun, option=("level=3,1",), out=tmp_path / "other"))


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("level=1,5", "option level = 5 is not allowed; allowed: an integer 1..4"),
        ("level=1,", "option level = '' is not allowed; allowed: an integer 1..4"),
        ("level=1,2,1", "--option level=1,2,1 names 1 twice"),
        ("level=1,01", "--option level=1,01 names 01 twice"),
        ("level=1 level=2", "--option level is given twice; write several values as level=value,value"),
        ("reward_mode=a,b", "--option reward_mode=a,b is not allowed; write one value of an option that only changes"),
        ("shaping=0.2", "--option shaping=0.2 is not allowed; --shaping sets it"),
        ("shaping=0,0.1", "--option shaping=0,0.1 is not allowed; --shaping sets it"),
        ("num_players=2", "--option num_players=2 is not allowed; --players sets it"),
        ("components=my.toml", "--option components=my.toml is not allowed; --components sets it"),
        ("derived=True,False", "observation or actions differ between derived = False and derived = True, so one"),
        ("bonus=0,1,2,3,4,5,6,7,8", "--num-envs 8 is not allowed; allowed: an integer from 9 on, a game for each"),
    ],
)
def test_values_that_cannot_be_learned_together_are_refused(option, message, tmp_path):
    with pytest.raises((BotError, kepler_envs.OptionError), match=message):
        Run(replace(SOLO, option=tuple(option.split()), out=tmp_path))


def test_one_opponent_of_given_seats_plays_one_configuration(tmp_path):
    with pytest.raises(BotError, match="several values of an option need --seat shared or --seat pool"):
        Run(replace(SOLO, seat="single", out=tmp_path))


@pytest.mark.parametrize("settings", [TrainConfig, ExpertConfig, Exploit, Publish, *get_args(COMMANDS)])
def test_help_says_what_is_left_out_in_words(settings, capsys):
    with pytest.raises(SystemExit):
        tyro.cli(settings, args=["--help"])
    words = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert not [said for said in ("None", "(default: )", "False", "True") if said in words]
