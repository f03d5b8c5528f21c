"""Expert iteration: generations, gates, files, interruption and resumption."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch as th

import kepler_envs
from agents.evaluation import evaluate
from agents.expert import _words, main
from agents.expert_run import GAMES_AT_A_TIME, LEARNING, PLAYING, ExpertRun, Job, Status, _results, iterate
from agents.expert_settings import ExpertConfig
from agents.imitation import Imitation
from agents.positions import Positions, join
from agents.publish import Publish, publish
from agents.search_games import Play
from agents.seeds import BEST_SEED
from agents.settings import command_line
from kepler_envs import bots
from kepler_envs.adapters.pytorch import PieceNetwork
from kepler_envs.bots import published
from kepler_envs.bots.networks import CheckpointBot
from kepler_envs.bots.networks.checkpoint import read_description
from kepler_envs.bots.protocol import BotError, play_games
from kepler_envs.bots.search import MctsConfig
from kepler_envs.engine.batch import Batch
from kepler_envs.tournament import ClusterError
from tests.agents import compiling
from tests.component_file import kittens_with
from tests.effort import slow
from tests.interrupts import interrupted_children
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
TINY = ExpertConfig(
    players=2, option=("quest_size=2",), generations=3, teacher_positions=300, dagger=1, games=8, search="8",
    guided_from=2, searched=0.5,
    epochs=2, width=16, hidden=(16,), rows=8, eval_games=8, gate=0.0,
)  # fmt: skip

BEGUN = replace(
    TINY, teacher_positions=ExpertConfig.teacher_positions, width=ExpertConfig.width, hidden=ExpertConfig.hidden,
    rows=ExpertConfig.rows,
)  # fmt: skip
"""The same for runs that start from a network."""


@pytest.fixture(scope="module", autouse=True)
def _few_shown_at_a_time():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agents.expert_run.SHOWN_AT_A_TIME", 64)
        yield


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> ExpertRun:
    """Generation 0 imitates greedy, 1 is told by greedy what to do, 2 is guided by the network."""
    return iterate(replace(TINY, out=tmp_path_factory.mktemp("whole")))


def weights(run: ExpertRun) -> list[th.Tensor]:
    return [parameter.detach().clone() for parameter in run.policy.parameters()]


def same(one: ExpertRun, other: ExpertRun) -> bool:
    return all(th.equal(a, b) for a, b in zip(weights(one), weights(other), strict=True))


def same_curve(one: list[dict], other: list[dict]) -> bool:
    """But for the time it took."""
    return json.dumps([{**line, "seconds": 0} for line in one]) == json.dumps(
        [{**line, "seconds": 0} for line in other]
    )


def games_of(run: ExpertRun, generation: int) -> list[Path]:
    return sorted((run.out / "games" / f"{generation:03}").glob("*.npz"))


# ---------------------------------------------------------------- generations


def test_a_run_writes_what_it_says(finished):
    assert finished.generation == 3 and finished.fraction == 1
    assert {path.name for path in finished.out.iterdir()} == {
        "games", "best.zip", "best.json", "last.zip", "last.json", "learning_curve.csv",
    }  # fmt: skip
    with (finished.out / "learning_curve.csv").open(newline="") as lines:
        curve = list(csv.DictReader(lines))
    assert [int(row["generation"]) for row in curve] == [0, 1, 2]
    for row in curve:
        assert 0 <= float(row["low_greedy"]) <= float(row["win_rate_greedy"]) <= float(row["high_greedy"]) <= 1
        assert 0 <= float(row["win_rate_uniform"]) <= 1
    assert [row["against_best"] == "nan" for row in curve] == [True, False, False], "before the first, none was best"
    assert ["against the best" in _words(line, ()) for line in finished.curve] == [False, True, True]
    games = [path for generation in (1, 2) for path in games_of(finished, generation)]
    assert finished.played == sum(int(Positions.load(path).played) for path in games) + int(
        finished._positions_of_greedy().played
    )
    description = read_description(finished.out / "best.zip")
    assert description["training"]["module"] == "agents.expert" and description["training"]["search"] == "8"
    config = kepler_envs.load_game("kitten_adventurers").configure(2, quest_size=2)
    assert play_games(CheckpointBot(finished.out, config), config, 4, 0).final_length.min() > 0


def test_greedy_is_learned_from_first_then_a_search(finished):
    assert not games_of(finished, 0)
    first, second = (Positions.load(games_of(finished, generation)[0]) for generation in (1, 2))
    told = first.shares[:, 0] > 0
    assert told.any() and (first.action[told] == first.below[told]).all() and (first.shares[told] <= 1).all()
    assert (second.shares[:, 1] > 0).any(), "a search visits several actions"
    assert set(second.shares.sum(1).round(3)) <= {0.0, 1.0, 3.0}


def test_games_are_those_of_all_player_counts_and_as_many_as_asked(tmp_path):
    config = replace(TINY, players="2-3", games=3 * GAMES_AT_A_TIME, generations=2, out=tmp_path)
    run = ExpertRun(config)
    run.generation = 2
    jobs = list(run._jobs())
    assert [job.config.num_players for job in jobs] == [2, 3, 2, 3] and sum(job.games for job in jobs) == config.games
    deals = [int(seed) for job in jobs for seed in Batch(job.config, job.games, job.seed).seed]
    assert len(set(deals)) == config.games, "no game is dealt twice"
    assert all((job.expert, job.guided, job.network) == ("8", True, run.best_file) for job in jobs)


def test_each_generation_learns_with_the_settings_of_the_run(tmp_path, monkeypatch):
    """The learning rate falls to a twentieth each time. Each has an order of its own."""
    made, rates = [], []

    class Noted(Imitation):
        def __init__(self, network: PieceNetwork, positions: Positions, *settings: float) -> None:
            made.append(settings)
            super().__init__(network, positions, *settings)

        def learn(self, positions: int, rate: float) -> tuple[float, float]:
            rates.append((self.shown, rate))
            return super().learn(positions, rate)

    monkeypatch.setattr("agents.expert_run.Imitation", Noted)
    monkeypatch.setattr("agents.expert_run.SHOWN_AT_A_TIME", 16)
    short = replace(TINY, generations=2, teacher_positions=100, games=2, eval_games=2, out=tmp_path)
    run = iterate(replace(short, learning_rate=0.01, value_weight=0.3, seed=5))
    assert made == [(5, 0.3), (6, 0.3)]
    first, whole = run.curve[0]["shown"], run.curve[1]["shown"]
    again = next(place for place in range(1, len(rates)) if rates[place][0] == 0)
    for part, shown in ((rates[:again], first), (rates[again:], whole - first)):
        assert len(part) > 1
        assert [rate for _, rate in part] == pytest.approx([0.01 * (1 - 0.95 * done / shown) for done, _ in part])


def test_games_are_played_as_asked(tmp_path):
    run = ExpertRun(replace(TINY, searched=0.4, noise=0.3, quick=0.2, differing=5.0, out=tmp_path))
    run.generation = 1
    assert {job.play for job in run._jobs()} == {Play(searched=0.4, noise=0.3, quick=0.2, differing=5.0)}


def test_positions_are_shown_as_often_as_asked(finished):
    """Each twice a generation, and those of greedy, which come first, three times as often."""
    shown = np.diff([0, *(line["shown"] for line in finished.curve)]).tolist()
    greedy = finished._positions_of_greedy()
    played = [join([Positions.load(games_of(finished, one)[0]) for one in range(1, last + 1)]) for last in (1, 2)]
    learned = [np.count_nonzero(~positions.held_out) for positions in (greedy, *played)]
    assert shown == [3 * 2 * learned[0], 2 * learned[1], 2 * learned[2]]


def test_no_two_files_of_games_have_the_same_seed(tmp_path):
    """Not of several generations with more than a thousand files each, nor of runs with neighbouring seeds."""
    seeds = []
    for seed in (0, 1):
        run = ExpertRun(replace(TINY, games=1002 * GAMES_AT_A_TIME, seed=seed, out=tmp_path / str(seed)))
        for run.generation in (1, 2, 3):
            seeds += [job.seed for job in run._jobs()]
    assert len(seeds) == len(set(seeds)) == 2 * 3 * 1002


def test_the_best_network_plays_beside_greedy(finished, tmp_path):
    """Games in which nobody searches and nothing is random. Without a network they are those of greedy alone."""
    play = Play(searched=0.0, noise=0.0, quick=0.2)
    jobs = [Job(finished.games, 12, 5, "", False, it, play, tmp_path / "out.npz") for it in (None, finished.best_file)]
    greedy, both = (job.positions() for job in jobs)
    alone = play_games(bots.load("greedy", finished.games), finished.games, 12, 5)
    assert greedy.played == alone.final_length.sum() != both.played


def test_a_search_is_guided_by_a_network_wherever_it_lies(finished, tmp_path):
    """Also in a folder whose name has a comma, which separates the settings of a search."""
    there = tmp_path / "one, two=3" / "best.zip"
    there.parent.mkdir()
    there.write_bytes(finished.best_file.read_bytes())
    play, out = Play(searched=0.5), tmp_path / "out.npz"
    jobs = [Job(finished.games, 2, 5, "8", True, network, play, out) for network in (finished.best_file, there)]
    assert jobs[1]._asked() == MctsConfig(iterations=8, network=f"net:{there}")
    one, other = (job.positions() for job in jobs)
    assert np.array_equal(one.shares, other.shares) and (one.shares[:, 1] > 0).any()


def test_a_run_may_begin_with_a_network(finished, tmp_path):
    """It is judged before it learns anything, and imitates nobody."""
    start = f"net:{finished.out / 'best.zip'}"
    run = ExpertRun(replace(BEGUN, out=tmp_path, start=start))
    assert run.generation == 1 and [line["generation"] for line in run.curve] == [0]
    assert run.curve[0]["accepted"] and run.best_file.exists()
    best = ExpertRun(replace(TINY, out=finished.out))
    assert read_description(run.best_file)["network"] == read_description(finished.best_file)["network"]
    assert best.curve[-1]["win_rate_greedy"] == run.curve[0]["win_rate_greedy"]
    assert [(job.expert, job.guided) for job in run._jobs()] == [("8", False)], (
        "greedy plays games to their end, as nothing guides the search yet"
    )


def test_a_network_over_greedy_begins_as_greedy(tmp_path):
    """Not a bit is learned, and every game goes as greedy plays it; the values are learned first."""
    config = replace(TINY, out=tmp_path, over="greedy", generations=1)
    run = ExpertRun(config)
    games = run.games
    run._write_best()
    mine = play_games(CheckpointBot(run.best_file, games), games, 20, 3)
    assert (mine.final_return == play_games(bots.load("greedy", games), games, 20, 3).final_return).all()
    done = iterate(config)
    assert done.accuracy == 1 and done.curve[0]["win_rate_greedy"] > 0.2


def test_a_network_that_loses_to_the_best_one_is_not_kept(finished, tmp_path):
    config = replace(BEGUN, out=tmp_path, start=f"net:{finished.out / 'best.zip'}", gate=100.0, generations=1)
    run = iterate(config)
    assert [line["accepted"] for line in run.curve] == [True, False]
    assert run.best_file.read_bytes() != run.last.read_bytes()
    saved, last = (read_description(path)["results"] for path in (run.best_file, run.last))
    assert saved["steps"] == 0, "the best is still the one it began with"
    assert (saved["generations"], last["generations"], run.generations) == (0, 1, 1), "that is not one of its own"


def test_every_generation_meets_the_best_network_in_other_deals(finished, monkeypatch):
    """One set of deals may favour a seat: in 400 of Ad Astra the best network had 1.15 of a share against itself."""
    seeds = []

    def noted(learner, opponent, games, count, seed):
        seeds.append(seed)
        return evaluate(learner, opponent, games, count, seed)

    monkeypatch.setattr("agents.expert_run.evaluate", noted)
    best = CheckpointBot(finished.best_file, finished.games)
    for generation in (1, 2):
        monkeypatch.setattr(finished, "generation", generation)
        finished._against_best(best, finished.games)
    assert len(set(seeds)) == len(seeds) == 2 and min(seeds) > BEST_SEED


def test_beside_an_equal_a_network_has_one_share_of_the_wins(finished, monkeypatch):
    """What the gate asks for is in shares: three players win a third each."""
    its = SimpleNamespace(points=None, wins=SimpleNamespace(mean=1 / 3))
    monkeypatch.setattr("agents.expert_run.evaluate", lambda *asked: its)
    monkeypatch.setattr("agents.expert_run.CheckpointBot", lambda path, games: None)
    games = kepler_envs.load_game("kitten_adventurers").configure(3, quest_size=2)
    assert finished._against_best(None, games) == pytest.approx(1)


@pytest.mark.parametrize(("of_the_best", "share"), [(40.0, 0.75), (0.5, 30.0)])
def test_alone_a_network_is_measured_by_its_points_beside_those_of_the_best(finished, monkeypatch, of_the_best, share):
    """In the same games. Less than a point counts as one, so that nothing is divided by 0."""
    asked = []

    def evaluated(learner, opponent, *games):
        asked.append(games)
        points = SimpleNamespace(mean=30.0 if learner is None else of_the_best)
        return SimpleNamespace(points=points, wins=SimpleNamespace(mean=0.25))

    monkeypatch.setattr("agents.expert_run.evaluate", evaluated)
    monkeypatch.setattr("agents.expert_run.CheckpointBot", lambda path, games: "the best")
    games = kepler_envs.load_game("kepler_3042").configure(1)
    assert finished._against_best(None, games) == pytest.approx(share)
    assert asked[0] == asked[1] == (games, finished.config.eval_games, BEST_SEED + finished.generation)


# ---------------------------------------------------------------- interruption


@pytest.mark.parametrize("at", [(1, PLAYING), (1, LEARNING), (2, PLAYING), (2, LEARNING)], ids=str)
def test_an_interrupted_run_ends_like_an_uninterrupted_one(finished, tmp_path, at):
    stop = threading.Event()
    config = replace(TINY, out=tmp_path)

    def interrupt(status: Status) -> None:
        if (status.generation, status.doing) == at and status.line is None:
            stop.set()

    part = iterate(config, stop, interrupt)
    assert part.generation == at[0] and part.fraction < 1
    rest = iterate(config)
    assert rest.generation == 3 and same(rest, finished)
    assert [line["win_rate_greedy"] for line in rest.curve] == [line["win_rate_greedy"] for line in finished.curve]


def test_a_run_that_is_interrupted_twice_in_learning_ends_like_an_uninterrupted_one(finished, tmp_path):
    """The second time it is stopped, and saved, before it goes on learning."""
    stop = threading.Event()
    config = replace(TINY, out=tmp_path)

    def interrupt(status: Status) -> None:
        if (status.generation, status.doing) == (1, LEARNING) and 0.3 < status.done < 1:
            stop.set()

    part = iterate(config, stop, interrupt)
    assert 0 < part._learning.shown < part.config.epochs * len(part._learning.learned_from)
    again = iterate(config, stop)
    assert again.shown == part.shown, "it was still stopped"
    rest = iterate(config)
    assert same(rest, finished) and same_curve(rest.curve, finished.curve)


@pytest.mark.parametrize("at", [(0, LEARNING), (1, PLAYING), (1, LEARNING)], ids=str)
def test_minutes_that_are_up_end_no_generation_that_was_begun(tmp_path, monkeypatch, at):
    """They begin none, whenever the run was interrupted."""
    monkeypatch.setattr("agents.expert_run.GAMES_AT_A_TIME", 4)
    stop, config = threading.Event(), replace(TINY, out=tmp_path)

    def interrupt(status: Status) -> None:
        if (status.generation, status.doing) == at and status.line is None and status.done < 1:
            stop.set()

    assert iterate(config, stop, interrupt).generation == at[0]
    short = replace(config, generations=None, minutes=1e-6)
    part = ExpertRun(short)
    assert part.fraction == 1 and not part.is_over
    run = iterate(short)
    assert run.is_over and run.generation == at[0] + 1
    again = iterate(short)
    assert again.is_over and again.generation == at[0] + 1 and again.seconds == run.seconds


def test_minutes_have_sixty_seconds(tmp_path):
    run = ExpertRun(replace(TINY, out=tmp_path, generations=None, minutes=2.0))
    run.seconds = 30.0
    assert run.fraction == 0.25


def test_gathering_takes_its_part_of_the_minutes(tmp_path, monkeypatch):
    gone, gather = [0.0], ExpertRun._positions_of_greedy

    def slowly(run: ExpertRun) -> Positions:
        gone[0] += 90.0
        return gather(run)

    monkeypatch.setattr("agents.expert_run.clock", lambda: gone[0])
    monkeypatch.setattr(ExpertRun, "_positions_of_greedy", slowly)
    run = ExpertRun(replace(TINY, out=tmp_path, generations=None, minutes=2.0))
    run.advance(threading.Event(), lambda status: None)
    assert run.seconds == 90.0 and run.fraction == 0.75


def test_compiling_takes_none_of_the_minutes(tmp_path, monkeypatch):
    """As in agents.train. Here all but a thousandth of the time is spent on it."""
    compiling.nearly_always(monkeypatch)
    began = time.perf_counter()
    run = iterate(replace(TINY, out=tmp_path, generations=2))
    assert 0 < run.seconds <= 1.1 * compiling.LEFT * (time.perf_counter() - began)


def test_it_learns_on_one_thread(finished, tmp_path):
    """Sums over several threads would depend on their number."""
    before, told = th.get_num_threads(), set()
    th.set_num_threads(2)
    try:
        run = iterate(replace(TINY, out=tmp_path, generations=1), watch=lambda status: told.add(th.get_num_threads()))
        assert told == {1} and th.get_num_threads() == 2
    finally:
        th.set_num_threads(before)
    assert same_curve(run.curve, finished.curve[:1])


@slow
def test_more_processes_play_the_same_games(finished, tmp_path):
    with interrupted_children() as interrupted:  # Ctrl-C is for the main process
        run = iterate(replace(TINY, out=tmp_path, processes=2, generations=2))
    assert interrupted
    for one, other in zip(games_of(run, 1), games_of(finished, 1), strict=True):
        a, b = Positions.load(one), Positions.load(other)
        assert np.array_equal(a.observation, b.observation) and np.array_equal(a.shares, b.shares)


@slow
def test_processes_begin_no_further_files_once_stopped(finished, tmp_path, monkeypatch):
    monkeypatch.setattr("agents.expert_run.GAMES_AT_A_TIME", 1)
    shutil.copytree(finished.out, tmp_path, dirs_exist_ok=True)
    run, stop = ExpertRun(replace(TINY, out=tmp_path)), threading.Event()
    run.generation = 3
    jobs = list(run._jobs())
    run._folder(3).mkdir()
    assert len(jobs) == 8
    for _ in _results(jobs, 2, stop, None):
        stop.set()
    assert 1 <= len(games_of(run, 3)) <= 2, "those under way when the first was done"


@slow
def test_ctrl_c_keeps_the_run_and_the_same_command_goes_on(tmp_path):
    out = tmp_path / "run"
    command = [
        sys.executable, "-m", "agents.expert", "kitten_adventurers", "--players", "2", "--option", "quest_size=2",
        "--teacher-positions",
        "300", "--games", "4", "--search", "4", "--width", "16", "--hidden", "16", "--rows", "8", "--eval-games", "4",
        "--out", str(out),
    ]  # fmt: skip
    process = subprocess.Popen([*command, "--generations", "500"], cwd=ROOT, env={**os.environ}, stdout=subprocess.PIPE)
    wait_until((out / "learning_curve.csv").exists, "the first generation", longest=300)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=120)[0].decode()
    assert process.returncode == 130 and "run the same command again to continue" in said
    generation = json.loads((out / "last.json").read_text())["results"]["generations"]
    asked = [*command, "--generations", str(generation + 1)]
    again = subprocess.run(asked, cwd=ROOT, env={**os.environ}, capture_output=True, text=True, timeout=240)
    assert again.returncode == 0 and f"{generation + 1} generations" in again.stdout


def test_a_run_with_other_settings_is_not_taken_up(finished):
    with pytest.raises(BotError, match=r"begun with other settings: noise is 0\.05, now 0\.5"):
        ExpertRun(replace(TINY, out=finished.out, noise=0.5))


def test_a_run_may_have_cards_of_its_own(tmp_path):
    mine, moved = kittens_with(7, tmp_path / "mine.toml"), kittens_with(7, tmp_path / "moved.toml")
    config = replace(TINY, components=mine, generations=1, out=tmp_path / "run")
    run = iterate(config)
    own = run.games.game.configure(2).components_digest
    assert read_description(run.last)["components_digest"] == run.games.components_digest != own
    assert iterate(replace(config, components=moved, generations=2)).generations == 2
    assert len(games_of(run, 1)) == 1, "played with these cards, or the network would have been refused"
    with pytest.raises(BotError, match="last.zip was begun with other cards than the game's own. Use another --out"):
        ExpertRun(replace(config, components=None))


def test_a_damaged_run_says_so(finished, tmp_path):
    (tmp_path / "last.zip").write_bytes((finished.out / "last.zip").read_bytes()[:3000])
    with pytest.raises(BotError, match="last.zip is not a checkpoint"):
        ExpertRun(replace(TINY, out=tmp_path))


def test_a_run_of_another_version_says_so(finished, tmp_path):
    """Its learning curve lacks a column."""
    path = tmp_path / "last.zip"
    with zipfile.ZipFile(finished.out / "last.zip") as kept, zipfile.ZipFile(path, "w") as changed:
        for name in kept.namelist():
            changed.writestr(name, kept.read(name).replace(b'"mean_length"', b'"mean_before"'))
    with pytest.raises(BotError, match="last.zip is damaged, or was written by another version: .*mean_length"):
        ExpertRun(replace(TINY, out=tmp_path, steps=10**6))


def test_decisions_may_be_the_budget(finished, tmp_path):
    """No generation is begun that would go beyond it, with games as long as the last ones."""
    first, second, third = (line["steps"] for line in finished.curve)
    assert 300 < first < second < third == finished.played
    length = finished.curve[0]["mean_length"]
    assert first / 300 <= length, "of greedy's games, of which there are at most as many as positions"
    assert finished.curve[1]["mean_length"] == round((second - first) / TINY.games, 1)
    imitated = first + TINY.games * length
    for budget, generations in (
        (int(imitated) - 1, 1), (int(imitated) + 2, 2), (2 * second - first - 1, 2), (2 * second - first + 1, 3),
    ):  # fmt: skip
        config = replace(TINY, out=tmp_path / str(budget), generations=None, steps=budget)
        run = iterate(config)
        assert run.generation == generations and same_curve(run.curve, finished.curve[:generations])
        assert ExpertRun(config).fraction == 1, "continued, it decides the same"


def test_the_first_games_are_played_whatever_the_budget(finished, tmp_path):
    """How long they will be is not known before."""
    imitating = replace(TINY, out=tmp_path / "imitating", generations=None, steps=300)
    assert [line["generation"] for line in iterate(imitating).curve] == [0]
    begun = replace(BEGUN, out=tmp_path / "begun", generations=None, steps=1, start=f"net:{finished.out / 'best.zip'}")
    assert [line["generation"] for line in iterate(begun).curve] == [0, 1]


def test_a_budget_below_the_positions_of_greedy_is_refused(tmp_path):
    with pytest.raises(
        BotError, match="--steps 299 is not allowed; allowed: an integer from 300 on, as --teacher-positions"
    ):
        ExpertRun(replace(TINY, out=tmp_path, generations=None, steps=299))
    assert not list(tmp_path.iterdir())


def test_a_game_that_is_held_out_stays_so_when_the_window_moves(tmp_path):
    config = replace(TINY, out=tmp_path, window=2)
    run, dice = ExpertRun(config), np.random.default_rng(0)
    for generation, games in ((1, 33), (2, 47), (3, 50)):
        files = synthetic(generation, games, dice)
        (tmp_path / "games" / f"{generation:03}").mkdir(parents=True)
        files.save(tmp_path / "games" / f"{generation:03}" / "000.npz")
    found = []
    for generation in (2, 3):
        run.generation = generation
        known = run._positions()[0]
        its = known.observation[:, 0] == 2
        found.append(known.observation[its & known.held_out, 1].tolist())
    assert found[0] == found[1] == [19, 39]
    assert set(known.observation[:, 0]) == {2, 3}, "the window is of two generations"


def test_a_generation_of_which_nothing_was_kept_says_what_keeps_more(tmp_path):
    config = replace(TINY, out=tmp_path, games=1, searched=0.0, quick=1e-9)
    words = "generation 1 has no position to learn from: give another --out, and more --searched, --quick or --games"
    with pytest.raises(BotError, match=words):
        iterate(config)


def test_games_of_another_run_are_not_learned_from(finished, tmp_path):
    shutil.copytree(finished.out / "games", tmp_path / "games")
    with pytest.raises(BotError, match="games holds games of another run: delete it, or give another --out"):
        ExpertRun(replace(TINY, out=tmp_path, seed=7))


def test_a_damaged_file_of_games_is_named(finished, tmp_path):
    run = ExpertRun(replace(TINY, out=tmp_path))
    shutil.copytree(finished.out / "games", tmp_path / "games")
    path = games_of(run, 1)[0]
    path.write_bytes(path.read_bytes()[:100])
    run.generation = 1
    with pytest.raises(BotError, match=r"001/000.npz is damaged: .* Delete it and run the same command"):
        run._positions()


def synthetic(mark: int, games: int, dice: np.random.Generator) -> Positions:
    """Positions, one of each game, that show their mark and the number of their game."""
    seen = np.stack([np.full(games, mark), np.arange(games)], 1).astype(np.int16)
    zeros = np.zeros((games, 1), np.int16)
    return Positions(
        seen, zeros.astype(np.uint8), zeros, np.ones((games, 1), np.float32), zeros[:, 0],
        dice.random((games, 2), np.float32), np.arange(games), np.array(8), np.array(100),
    )  # fmt: skip


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"processes": 0}, "--processes 0 is not allowed; allowed: an integer from 1 on"),
        ({"games": 0}, "--games 0 is not allowed; allowed: an integer from 1 on"),
        ({"searched": 1.5}, "--searched 1.5 is not allowed; allowed: 0 to 1"),
        ({"searched": 0.0, "quick": 0.0}, "--searched 0.0 is not allowed; allowed: more than 0 with --quick 0"),
        ({"seed": -1}, "--seed -1 is not allowed; allowed: 0 to 4294967295"),
        ({"searched": 0.8, "quick": 0.3}, r"--quick 0.3 is not allowed; allowed: at most 0.2 with --searched 0.8"),
        ({"search": "20,selection=ucb"}, "--search 20,selection=ucb is not allowed; allowed: selection=puct"),
        ({"search": "20ms"}, "--search 20ms is not allowed; allowed: a budget in iterations"),
        ({"search": "20,network=bc-v1"}, "--search 20,network=bc-v1 is not allowed; allowed: no network"),
        ({"search": "20,network = bc-v1"}, "--search 20,network = bc-v1 is not allowed; allowed: no network"),
        ({"search": "20,network=bc-v1", "guided_from": 1}, "--search 20,network=bc-v1 is not allowed; allowed: no"),
        ({"search": "20,widht=3"}, "mcts: there is no 'widht'"),
        ({"search": "20,mix=0.5"}, "mcts: mix = 0.5 is not allowed; allowed: 0 without a network"),
        ({"search": "20,mix=0.5", "guided_from": 2}, "mcts: mix = 0.5 is not allowed; allowed: 0 without a network"),
        ({"search": "20,paired=1", "guided_from": 2}, "mcts: paired = 1 is not allowed; allowed: 0 with a network"),
        ({"hidden": (0,)}, "--hidden 0 is not allowed; allowed: at most 16 layers of 1 to 16384"),
        ({"epochs": 0.0}, "--epochs 0.0 is not allowed; allowed: a number above 0"),
        ({"epochs": float("inf")}, "--epochs inf is not allowed; allowed: a number above 0"),
        ({"differing": float("inf")}, "--differing inf is not allowed; allowed: a number from 0 on"),
        ({"guided_from": 0}, "--guided-from 0 is not allowed; allowed: an integer from 1 on"),
        ({"over": "greedy", "dagger": 5}, "--dagger 5 is not allowed; allowed: 0 or 1 with --start or --over"),
        ({"start": "bc-v1"}, "--teacher-positions 300 is not allowed; allowed: only without --start"),
        (
            {"start": "bc-v1", "teacher_positions": ExpertConfig.teacher_positions},
            "--width 16 is not allowed; allowed: only without --start",
        ),
        ({"option": ("quest_size=2", "shaping=0.2")}, "--option shaping=0.2 is not allowed; expert iteration learns"),
        ({"option": ("reward_mode=win",)}, "--option reward_mode=win is not allowed; expert iteration learns"),
    ],
)
def test_what_is_not_allowed_is_said(changes, words):
    with pytest.raises(BotError, match=words):
        replace(TINY, **changes)


@pytest.mark.parametrize("more, cores", [((), None), (("--processes", "2"), 2)])
def test_a_cluster_that_is_started_has_all_cores_unless_asked(monkeypatch, capsys, more, cores):
    """Nothing but what was asked for: a cluster that runs refuses a number of cores."""

    def cluster_at(asked, console, cores):
        raise ClusterError(f"asked: {asked}, {cores}")

    monkeypatch.setattr("agents.expert.cluster_at", cluster_at)
    monkeypatch.setattr("sys.argv", ["agents.expert", "kitten_adventurers", *more, "--ray", "10.0.0.5:6379"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert f"asked: ('10.0.0.5:6379',), {cores}\n" in capsys.readouterr().err


def test_playouts_can_have_a_part_in_a_search_that_is_guided_from_the_start():
    assert replace(TINY, search="20,mix=0.5", guided_from=1).search == "20,mix=0.5"


def test_a_search_that_a_network_over_a_bot_could_not_guide_is_refused(tmp_path):
    config = replace(TINY, over="greedy", search="20,playout=uniform", guided_from=2, out=tmp_path / "run")
    with pytest.raises(BotError, match="playout=uniform is not allowed; allowed: playout=greedy, as the network is"):
        iterate(config)
    assert not (tmp_path / "run").exists()
    stop = threading.Event()
    stop.set()
    iterate(replace(config, search="20,mix=0.5", guided_from=1), stop)


def test_a_start_over_another_bot_is_refused(finished, tmp_path):
    with pytest.raises(BotError, match="--over greedy does not match --start net:.*, whose network is over no bot"):
        ExpertRun(replace(BEGUN, out=tmp_path, start=f"net:{finished.out / 'best.zip'}", over="greedy"))


def test_the_command_of_a_run_asks_for_its_settings(finished):
    settings = {name: value for name, value in finished._describe()["training"].items() if name != "out"}
    assert not {"processes", "ray"} & set(settings), "they change nothing of a run"
    settings["processes"] = 1  # as in runs of before
    words = command_line(json.loads(json.dumps(settings)))
    assert words.startswith(
        "python -m agents.expert kitten_adventurers --generations 3 --players 2 --option quest_size=2"
    )
    assert "--processes" not in words and "--guided-from 2" in words and "--eval-games 8" in words


def test_a_run_is_published_like_any_other(finished, tmp_path, monkeypatch):
    monkeypatch.setattr("agents.publish.COMPARED_STEPS", 10)
    monkeypatch.setattr(published, "FOLDER", tmp_path)
    written = publish(Publish(finished.out, "kitten_adventurers/tiny-v0"))
    assert written.description["command"].startswith("python -m agents.expert kitten_adventurers ")
    assert written.description["budget"]["steps"] == finished.played
