"""Training rows of the benchmark: from training to the table, and interrupted."""

from __future__ import annotations

import contextlib
import csv
import os
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch as th

from agents.benchmark import methods, playing, tables
from agents.benchmark.__main__ import main
from agents.benchmark.entry import Entry, TrainedRun, check, read_curve, read_entry
from agents.benchmark.methods import METHODS, Curve, Job, Trained
from agents.benchmark.playing import Effort, fixed_players, measure, normalised, players_of, score
from agents.benchmark.protocol import POOL, SEARCH, Task, task_of, version_of
from agents.benchmark.records import CurvePoint, Result
from agents.benchmark.running import entry_folder, train_entry
from agents.benchmark.tables import Row, rows_of, scores_of
from agents.evaluation import Evaluation
from agents.status import Status
from kepler_envs.bots.networks import CURVE_FILE
from kepler_envs.bots.networks.checkpoint import read_weights
from kepler_envs.bots.protocol import BotError
from kepler_envs.records import read_lines, write_lines
from kepler_envs.tournament.standings import Share
from tests.agents.endings import ends
from tests.effort import only_deep, slow

TASK = task_of("kitten_adventurers")
DECISIONS, SEEDS = 1024, [0, 1]
BUDGETS = dict.fromkeys(METHODS, DECISIONS) | {"expert": 22_500, "expert-guided": 22_500}
"""The games of greedy that the expert imitates have 19,970 decisions."""


@pytest.fixture(autouse=True)
def small(monkeypatch) -> None:
    """Updates of 256 decisions, curves of few games."""
    settings = Job.settings

    def less(job: Job, **changes):
        fewer = {
            "num_envs": 8,
            "n_steps": 32,
            "batch_size": 64,
            "eval_games": 8,
            "width": 16,
            "hidden": (16,),
            "rows": changes.get("rows", 8),
        }
        return replace(settings(job, **changes), **fewer)

    expert_settings = Job.expert_settings

    def tiny(job: Job, **changes):
        return replace(
            expert_settings(job, **changes),
            games=4,
            search="4",
            teacher_positions=100,
            eval_games=4,
            epochs=1,
            width=16,
            hidden=(16,),
            rows=8,
        )

    monkeypatch.setattr(Job, "settings", less)
    monkeypatch.setattr(Job, "expert_settings", tiny)
    monkeypatch.setattr(methods, "CURVE_GAMES", 8)
    monkeypatch.setattr(methods, "CURVE_POINTS", 2)


def train_whole(out: Path, method: str) -> Entry:
    entry = train_entry(out, TASK, METHODS[method], SEEDS, decisions=BUDGETS[method], threads=1, stop=threading.Event())
    assert entry is not None
    return entry


def weights(folder: Path, run: TrainedRun) -> dict[str, np.ndarray]:
    if run.agent.startswith("python:"):
        with np.load(folder / f"seed-{run.seed}" / "weights.npz") as arrays:
            return {name: arrays[name] for name in arrays.files}
    return read_weights(folder / run.agent)


def told(folder: Path, run: TrainedRun) -> list[tuple[float, ...]]:
    """A curve without its hours."""
    return [(point["decisions"], point["returns"], point["games"]) for point in read_curve(folder / run.curve)]


ONLY_DEEP = ("pieces", "pieces-pool-32", "expert", "expert-guided")
"""The first two are ``pieces-pool`` without a pool and with other sizes; the others are taken up after every evaluation
by the next test."""


@slow
@pytest.mark.parametrize(
    "method", [pytest.param(name, marks=[only_deep] if name in ONLY_DEEP else []) for name in METHODS]
)
def test_an_interrupted_row_ends_like_one_in_one_go(tmp_path, method):
    """It is stopped within the first run, and again within the second."""
    whole = train_whole(tmp_path / "whole", method)
    updates = 0
    for _ in range(3):
        stop = threading.Event()

        def watch(seed, status, stop=stop) -> None:
            nonlocal updates
            updates += not status.evaluated
            if updates in (1, 3):
                updates += 1
                stop.set()

        parts = train_entry(
            tmp_path / "parts",
            TASK,
            METHODS[method],
            SEEDS,
            decisions=BUDGETS[method],
            threads=1,
            stop=stop,
            watch=watch,
        )
        if parts is not None:
            break
    assert parts is not None and updates >= 4, "it was stopped twice"
    one, other = (entry_folder(tmp_path / name, TASK, METHODS[method], BUDGETS[method]) for name in ("whole", "parts"))
    assert [run.seed for run in whole.runs] == [run.seed for run in parts.runs] == SEEDS
    for first, second in zip(whole.runs, parts.runs, strict=True):
        own, again = weights(one, first), weights(other, second)
        assert own.keys() == again.keys() and all(np.array_equal(own[name], again[name]) for name in own)
        assert told(one, first) == told(other, second) and first.decisions == second.decisions >= DECISIONS
    assert check(other, BUDGETS[method], len(SEEDS)) == []


def test_an_evaluation_of_the_expert_that_was_killed_is_made_again(tmp_path, monkeypatch):
    """The run is saved before it: whatever is killed in it, no point is missing, and none is evaluated twice. Displays
    are told how fast it plays and how long the games are."""
    method, budget, calls, killed = METHODS["expert"], BUDGETS["expert"], [], set()
    seen: list[Status] = []
    whole = train_entry(
        tmp_path / "whole", TASK, method, [0], decisions=budget, threads=1, stop=threading.Event(),
        watch=lambda seed, status: seen.append(status),
    )  # fmt: skip
    (own_curve,) = tmp_path.rglob(CURVE_FILE)
    with own_curve.open(newline="") as file:
        lengths = [float(line["mean_length"]) for line in csv.DictReader(file)]
    assert [status.mean_length for status in seen if status.evaluated] == [0.0, *lengths] and min(lengths) > 40
    assert all(status.steps_per_second * status.seconds == pytest.approx(status.steps) for status in seen)
    assert all(len(status.evaluations) == len(POOL) for status in seen), "the last ones stay on show"
    path = entry_folder(tmp_path / "parts", TASK, method, budget) / "seed-0" / "curve.csv"
    evaluate = methods.evaluate

    def once_killed(*asked):
        due = len(read_curve(path)) if path.exists() else 0
        if due not in killed:
            killed.add(due)
            raise KeyboardInterrupt
        calls.append(due)
        return evaluate(*asked)

    monkeypatch.setattr(methods, "evaluate", once_killed)
    parts = None
    while parts is None:
        with contextlib.suppress(KeyboardInterrupt):
            parts = train_entry(
                tmp_path / "parts", TASK, method, [0], decisions=budget, threads=1, stop=threading.Event()
            )
    ((first,), (second,)) = whole.runs, parts.runs
    points = told(entry_folder(tmp_path / "whole", TASK, method, budget), first)
    assert points == told(path.parents[1], second) and points[-1][0] == second.decisions and len(points) > 3
    assert killed == set(range(len(points))) and calls == [due for due in sorted(killed) for _ in POOL]


@pytest.mark.parametrize("name", [pytest.param("sb3", marks=only_deep), "flat"])
def test_a_run_that_was_killed_before_a_point_was_written_lacks_none(tmp_path, monkeypatch, name):
    """It is saved before: every evaluation is told again."""
    method, killed, add = METHODS[name], set(), Curve.add
    whole = train_entry(tmp_path / "whole", TASK, method, [0], decisions=DECISIONS, threads=1, stop=threading.Event())

    def once_killed(curve: Curve, status: Status) -> None:
        if status.evaluated_at not in killed:
            killed.add(status.evaluated_at)
            raise KeyboardInterrupt
        add(curve, status)

    monkeypatch.setattr(Curve, "add", once_killed)
    parts = None
    while parts is None:
        with contextlib.suppress(KeyboardInterrupt):
            parts = train_entry(
                tmp_path / "parts", TASK, method, [0], decisions=DECISIONS, threads=1, stop=threading.Event()
            )
    one, other = (entry_folder(tmp_path / place, TASK, method, DECISIONS) for place in ("whole", "parts"))
    assert killed == {0, 512, 1024} == {point[0] for point in told(one, whole.runs[0])}
    assert told(one, whole.runs[0]) == told(other, parts.runs[0])


def test_a_job_is_trained_with_its_seed_and_budget(tmp_path):
    job = Job(TASK, 3, 1000, tmp_path / "training", tmp_path / "agent", 2, trust_folder=True)
    config, searching = job.settings(seat="pool"), job.expert_settings(guided_from=1)
    for one in (config, searching):
        assert (one.game, one.players, one.out) == (TASK.game, 4, tmp_path / "training")
        assert (one.seed, one.steps) == (3, 1000)
    assert (config.seat, config.threads, config.trust_folder, searching.guided_from) == ("pool", 2, True, 1)
    assert (config.eval_every, config.eval_opponents) == (500, POOL), "two points of the curve, after the first"


@pytest.mark.parametrize("method", METHODS)
def test_a_learner_has_the_threads_that_it_is_given(tmp_path, method):
    before, found, stop = th.get_num_threads(), [], threading.Event()

    def watch(status: Status) -> None:
        if not status.evaluated:
            found.append(th.get_num_threads())
            stop.set()

    job = Job(TASK, 0, BUDGETS[method], tmp_path / "training", tmp_path / "agent", before + 1)
    assert METHODS[method].train(job, stop, watch) is None
    assert found and set(found) == {before + 1} and th.get_num_threads() == before


def test_a_row_from_training_to_the_table(tmp_path, capsys):
    record, curves = tmp_path / "results.csv", tmp_path / "curves.csv"
    command = [
        "run", "kitten_adventurers", "pieces", "--seeds", "2", "--decisions", str(DECISIONS), "--games", "8",
        "--search-games", "0",
        "--out", str(tmp_path / "out"), "--record", str(record), "--curves", str(curves),
    ]  # fmt: skip
    assert main(command) == 0
    lines = read_lines(record, Result)
    own = [line for line in lines if line.method == "pieces"]
    assert [(line.opponent, line.seed) for line in own] == [(bot, seed) for seed in SEEDS for bot in sorted(POOL)]
    assert all(line.games == 8 and line.low <= line.returns <= line.high and line.hours > 0 for line in own)
    assert not any(line.method == line.opponent for line in lines), "equals need not be played"
    found = scores_of(lines, TASK, Row(DECISIONS, "pieces"), POOL)
    zero, one = (playing.reference(lines, TASK, bot, POOL) for bot in ("uniform", "greedy"))
    by_hand = [np.mean([line.returns for line in own if line.seed == seed]) for seed in SEEDS]
    assert found == pytest.approx([(returns - zero) / (one - zero) for returns in by_hand])
    titles, rows = tables.results(record)
    row = dict(zip(titles, rows[-1], strict=True))
    assert row["method"] == "`pieces`" and row["decisions"] == "1,024" and row["runs"] == "2"
    cell = row["Kitten Adventurers, 4"]
    assert cell.startswith(f"{found.mean():.2f} (") and cell.endswith("), 2 of 5 runs"), "a row needs five"
    assert row["all games"].endswith("1 of 5 games")
    assert [(point.seed, point.decisions) for point in read_lines(curves, CurvePoint)] == [
        (seed, steps) for seed in SEEDS for steps in (0, 512, 1024)
    ]
    ((at, runs),) = tables.curves(record, curves).values()
    assert at.tolist() == [0, 512, 1024] and runs.shape == (2, 3)
    assert tables.picture(tables.curves(record, curves)).lstrip().startswith(b"<?xml")
    before = record.read_bytes()
    capsys.readouterr()
    assert main(command) == 0 and record.read_bytes() == before
    assert "against" not in capsys.readouterr().out, "what is known is not played again"
    fewer = [*command, "--seeds", "1"]
    assert main(fewer) == 0 and record.read_bytes() == before
    others = [*fewer, "--out", str(tmp_path / "others"), "--games", "4"]
    for again in (others, [*others, "--seeds", "2"]):
        with ends(capsys, r"from other training \(seeds 0, 1\): give another --record and --curves, or add --replace"):
            main(again)
    assert not (tmp_path / "others").exists() and record.read_bytes() == before
    assert main([*others, "--first-seed", "2"]) == 0
    lines = read_lines(record, Result)
    elsewhere = [one for one in lines if one.budget and one.seed == 2]
    assert [(one.opponent, one.games) for one in elsewhere] == [(bot, 4) for bot in sorted(POOL)]
    write_lines(tmp_path / "rest.csv", [one for one in lines if one not in elsewhere], Result)
    assert (tmp_path / "rest.csv").read_bytes() == before, "the others keep their lines"
    assert {point.seed for point in read_lines(curves, CurvePoint)} == {0, 1, 2}
    with ends(capsys, r"from other training \(seeds 0, 1\)"):
        main([*others, "--first-seed", "1", "--seeds", "2"])


def test_measuring_stops_and_goes_on(tmp_path):
    record, stop = tmp_path / "results.csv", threading.Event()
    players, effort = fixed_players(TASK), Effort(8, 0)
    assert not measure(players, effort, record, stop, lambda line: stop.set() if "return" in line else None)
    assert len(read_lines(record, Result)) == 1
    assert measure(players, effort, record, threading.Event())
    assert {(line.method, line.opponent) for line in read_lines(record, Result)} == {
        (one, other) for one in POOL for other in POOL if one != other
    }


@pytest.mark.parametrize(("others", "kept"), [(12, 12), (4, 8)])
def test_fewer_games_do_not_replace_those_that_another_process_played_meanwhile(tmp_path, others, kept):
    record, players, said = tmp_path / "results.csv", fixed_players(TASK)[:2], []

    def say(told: str) -> None:
        if not said:
            assert measure(players, Effort(others, 0), record, threading.Event())
        said.append(told)

    assert measure(players, Effort(8, 0), record, threading.Event(), say)
    lines = read_lines(record, Result)
    assert len(lines) == 4 and {line.games for line in lines} == {kept}
    refused = [told for told in said if told == "  not recorded: the record keeps its line of 12 games, these are 8"]
    assert len(refused) == (4 if kept == others else 0)


# ---------------------------------------------------------------- scores


def line(
    method: str, opponent: str, returns: float, seed: int = 0, budget: int = 0, version: str | None = None
) -> Result:
    version = version_of(opponent, TASK.game) if version is None else version
    agent = version_of(method, TASK.game) if budget == 0 else ""
    return Result(
        TASK.game, TASK.players, method, "fixed", budget, budget, seed, opponent, version, "", 100, returns, returns,
        returns, 0.5, 0.0, "", agent, "abc",
    )  # fmt: skip


SCALE = [
    line("uniform", "greedy", -0.3), line("uniform", "bc-v1", -0.3), line("greedy", "uniform", 0.9),
    line("greedy", "bc-v1", 0.0),
    line("uniform", SEARCH, -0.3), line("greedy", SEARCH, -0.1),
]  # fmt: skip


def test_uniform_scores_0_and_greedy_1():
    assert score(SCALE, TASK, "uniform", 0, 0, POOL) == 0 and score(SCALE, TASK, "greedy", 0, 0, POOL) == 1
    assert score(SCALE, TASK, "bc-v1", 0, 0, POOL) is None, "nobody has played it"
    own = [line("mine", bot, returns, 3, 10) for bot, returns in zip(POOL, (0.9, 0.3, 0.0), strict=True)]
    assert score([*SCALE, *own], TASK, "mine", 10, 3, POOL) == pytest.approx((0.4 + 0.2) / (0.3 + 0.2))
    assert score([*SCALE, *own], TASK, "mine", 10, 4, POOL) is None and score(SCALE, TASK, "mine", 10, 3, POOL) is None
    searched = [*SCALE, line("mine", SEARCH, 0.1, 3, 10)]
    assert score(searched, TASK, "mine", 10, 3, (SEARCH,)) == pytest.approx(0.4 / 0.2)


def test_games_against_another_version_of_an_opponent_do_not_count():
    own = [line("mine", bot, 0.5, 3, 10) for bot in POOL]
    assert score([*SCALE, *own], TASK, "mine", 10, 3, POOL) is not None
    old = [replace(one, opponent_version="older") if one.opponent == "greedy" else one for one in own]
    assert score([*SCALE, *old], TASK, "mine", 10, 3, POOL) is None


def test_games_of_an_earlier_release_are_missing(tmp_path):
    """As are those that are too few, or of another version of one of the bots."""
    record, effort = tmp_path / "results.csv", Effort(100, 0)
    lines = [line(one, other, 0.0) for one in POOL for other in POOL if one != other]
    write_lines(record, lines, Result)
    assert playing._missing(fixed_players(TASK), effort, record) == []
    for changes in ({"release": ""}, {"games": 99}, {"opponent_version": "older"}, {"agent": "older"}):
        write_lines(record, [replace(one, **changes) for one in lines], Result)
        missing = playing._missing(fixed_players(TASK), effort, record)
        assert [pairing.key for pairing in missing] == [one.key for one in lines]


def test_games_of_another_version_of_a_bot_make_no_scale():
    own = [line("mine", bot, 0.5, 3, 10) for bot in POOL]
    old = [replace(one, agent="older") if one.method == "greedy" else one for one in SCALE]
    assert score([*old, *own], TASK, "mine", 10, 3, POOL) is None
    assert playing.reference(old, TASK, "greedy", POOL) is None
    assert playing.reference(old, TASK, "uniform", POOL) == pytest.approx(-0.2)


def test_there_must_be_a_scale():
    with pytest.raises(BotError, match="no scale between them"):
        normalised(0.5, 0.2, 0.2)


def test_versions_of_bots_are_those_of_their_files():
    assert version_of("uniform", TASK.game) == ""
    assert version_of("greedy", TASK.game) == version_of(SEARCH, TASK.game) != version_of("greedy", "kepler_3042-v1")
    assert version_of("bc-v1", TASK.game) != version_of("bc-v1", "ad_astra-v1") != ""


def test_rows_are_compared_where_both_have_games(tmp_path):
    """Where one of them has fewer than five runs, there is no comparison yet."""
    record = tmp_path / "results.csv"
    first = [line("one", bot, 0.1 * (seed < 3), seed, 10) for bot in POOL for seed in range(6)]
    second = [line("two", bot, 0.05, seed, 10) for bot in POOL for seed in range(5)]
    third = [line("three", bot, 0.15, seed, 99) for bot in POOL for seed in range(5)]
    few = [line("four", bot, 0.15, seed, 10) for bot in POOL for seed in range(4)]
    write_lines(record, [*SCALE, *first, *second, *third, *few], Result)
    assert rows_of(read_lines(record, Result))[-1] == Row(99, "three")
    _, rows = tables.improvements(record)
    assert rows == [("`one`", "`two`", "10", 1, "0.50 (0.17 .. 0.83)")]
    _, rows = tables.scale(record)
    assert rows[0] == ("Kitten Adventurers, 4", "`pool`", "-0.200", "+0.300", "", "")
    _, rows = tables.results_against_search(record)
    assert [row[0] for row in rows] == ["`greedy`", "`uniform`"]


def test_curves_are_scores_at_the_decisions_of_the_first_run(tmp_path):
    """Uniform play returns -0.2 and greedy 0.3. The second run, written first, was evaluated at other times."""
    record, curves = tmp_path / "results.csv", tmp_path / "curves.csv"
    write_lines(record, SCALE, Result)
    told = {4: ((0, -0.2), (100, 0.3)), 3: ((50, 0.05), (0, -0.2), (100, 0.8))}
    points = [
        CurvePoint(TASK.game, TASK.players, "mine", 100, seed, at, 0.0, returns, 8)
        for seed, its in told.items()
        for at, returns in its
    ]
    write_lines(curves, points, CurvePoint)
    (((task, row), (at, scores)),) = tables.curves(record, curves).items()
    assert (task, row, at.tolist()) == (TASK, Row(100, "mine"), [0, 50, 100])
    assert scores == pytest.approx(np.array([[0, 0.5, 2], [0, 0.5, 1]]))


def test_a_curve_that_is_taken_up_again_has_each_point_once(tmp_path):
    """Training may have been saved before the last point was written."""
    path = tmp_path / "curve.csv"
    path.write_text("decisions,hours,returns,games\n0,0,0.1,3\n512,1,0.2,3\n1024,2,0.3,3\n")
    games = Evaluation("uniform", Share(0.5, 0.4, 0.6, 8), 30.0, Share(0.5, 0.4, 0.6, 8))
    curve = Curve(path)
    for steps, at in ((256, 0), (512, 512)):
        curve.add(Status(steps, 3600.0, 0.5, 1.0, 1.0, (games, games), True, evaluated_at=at))
    assert path.read_text() == "decisions,hours,returns,games\n0,0.0,0.1,3\n512,1.0,0.5,16\n", "counts stay integers"


def test_an_unknown_method_is_answered_with_all_there_are(capsys):
    with ends(capsys, r"no method 'x'; there are:\n  sb3: "):
        main(["run", "kitten_adventurers", "x"])


@pytest.mark.parametrize(
    ("command", "option", "allowed"),
    [
        ("run kitten_adventurers flat", "--seeds 0", "an integer from 1 on"),
        ("run kitten_adventurers flat", "--decisions 0", "an integer from 1 on"),
        ("run kitten_adventurers flat", "--first-seed -1", "an integer from 0 on"),
        ("run kitten_adventurers flat", "--search-games -1", "an integer from 0 on"),
        ("check somewhere", "--seeds 0", "an integer from 1 on"),
        ("measure somewhere", "--games 0", "an integer from 1 on"),
        ("references", "--games -3", "an integer from 1 on"),
        ("attack", "--decisions 0", "an integer from 1 on"),
        ("exact", "--iterations 0", "an integer from 1 on"),
    ],
)
def test_an_amount_that_is_not_allowed_is_named_before_anything_is_played(command, option, allowed, capsys):
    with ends(capsys, f"{option} is not allowed; allowed: {allowed}"):
        main([*command.split(), *option.split()])


@pytest.mark.parametrize("command", ["check", "measure"])
def test_no_folder_is_no_answer(command, capsys):
    with ends(capsys, "no folder is named"):
        main([command])


GAMES = Evaluation("uniform", Share(0.5, 0.4, 0.6, 8), 30.0, Share(0.5, 0.4, 0.6, 8))
EVALUATED = Status(0, 0.0, 0.0, 0.0, 0.0, (GAMES,), True)


def test_a_method_that_tells_of_no_evaluation(tmp_path):
    silent = replace(METHODS["flat"], train=lambda job, stop, watch: Trained(job.decisions, 1.0, "agent.zip"))
    with pytest.raises(BotError, match="flat has no learning curve: it told watch of no evaluation"):
        train_entry(tmp_path, TASK, silent, [0], decisions=DECISIONS, threads=1, stop=threading.Event())
    assert not (entry_folder(tmp_path, TASK, silent, DECISIONS) / "entry.json").exists()


def test_the_shortest_run_took_some_time(tmp_path):
    def train(job: Job, stop: threading.Event, watch: methods.Watch) -> Trained:
        watch(EVALUATED)
        return Trained(job.decisions, 1.23456e-7, "agent.zip")

    quick = replace(METHODS["flat"], train=train)
    entry = train_entry(tmp_path, TASK, quick, [0], decisions=DECISIONS, threads=1, stop=threading.Event())
    assert entry is not None and entry.runs[0].hours == 1.235e-7


def test_seeds_of_several_machines_and_commits_are_told(tmp_path, monkeypatch):
    def train(job: Job, stop: threading.Event, watch: methods.Watch) -> Trained:
        watch(EVALUATED)
        return Trained(job.decisions, 1.0, "agent.zip")

    quick = replace(METHODS["flat"], train=train)
    asked = (("first", "aaa", [0]), ("second", "bbb", [0, 1]), ("second", "bbb", [0, 1]), ("third", "ccc", [0, 1]))
    for machine, code, seeds in asked:
        monkeypatch.setattr("agents.benchmark.running.processor", lambda machine=machine: machine)
        monkeypatch.setattr("agents.benchmark.running.commit", lambda code=code: code)
        entry = train_entry(tmp_path, TASK, quick, seeds, decisions=DECISIONS, threads=1, stop=threading.Event())
        assert entry == read_entry(entry_folder(tmp_path, TASK, quick, DECISIONS)), "also if nothing was trained"
    cores = f"1 of {os.cpu_count()} cores"
    assert (entry.hardware, entry.code) == (f"first, {cores}; second, {cores}", "aaa, bbb")


@pytest.mark.parametrize("method", ["sb3", "flat", "expert"])
def test_where_a_seed_was_interrupted_is_told_too(tmp_path, monkeypatch, method):
    """Of seed 1, which is not trained any further, nothing is told."""
    stop = threading.Event()
    for machine, code, seeds in (("first", "aaa", [0]), ("second", "bbb", [1]), ("third", "ccc", [0])):
        monkeypatch.setattr("agents.benchmark.running.processor", lambda machine=machine: machine)
        monkeypatch.setattr("agents.benchmark.running.commit", lambda code=code: code)
        entry = train_entry(
            tmp_path, TASK, METHODS[method], seeds, decisions=BUDGETS[method], threads=1, stop=stop,
            watch=lambda seed, status, machine=machine: None if machine == "third" else stop.set(),
        )  # fmt: skip
        assert (entry is None) == (machine != "third")
        stop.clear()
    cores = f"1 of {os.cpu_count()} cores"
    assert (entry.hardware, entry.code) == (f"first, {cores}; third, {cores}", "aaa, ccc")


def test_an_entry_of_another_budget_is_not_gone_on_with(tmp_path):
    assert entry_folder(tmp_path, TASK, METHODS["flat"], 5) != entry_folder(tmp_path, TASK, METHODS["flat"], 6)
    assert players_of(tmp_path, Entry(TASK.game, 4, "m", "other", "", "", "", 5, (), "", ())) == []
    assert Task("a-v1", 2).name == "a-v1-2p"
