"""Runs that go on with other settings than they began with, or that have nothing left to do."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents import checkpoint
from agents.evaluation import judged_alike
from agents.expert_run import ExpertRun, iterate
from agents.expert_settings import ExpertConfig
from agents.games import game_configurations
from agents.run import Run, train
from agents.run_folder import check_same_bots
from agents.settings import PoolConfig, TrainConfig
from kepler_envs.bots import greedy
from kepler_envs.bots.networks.checkpoint import expects_shaping, read_description, values_own_seat
from kepler_envs.bots.protocol import BotError
from kepler_envs.cli.common import UsageError
from tests.agents.comparing import equal

TINY = TrainConfig(
    players=2, option=("quest_size=2",), steps=256, num_envs=8, n_steps=32, batch_size=64, epochs=1, width=16,
    hidden=(16,), rows=8, eval_every=256, eval_games=8, eval_opponents=("uniform",),
)  # fmt: skip

OF_THE_START: dict[str, Any] = {name: getattr(TrainConfig, name) for name in ("width", "hidden", "rows")}
"""The size of a run that starts from a network, which has one of its own."""

SEARCHING = ExpertConfig(
    players=2, option=TINY.option, generations=1, search="8", searched=0.5, games=8, eval_games=8, gate=0.0
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Run:
    return train(replace(TINY, out=tmp_path_factory.mktemp("whole")))


@pytest.fixture(scope="module")
def of_its_seat(tmp_path_factory) -> Run:
    """A run that has learned its own seat's values, with shaping."""
    return train(replace(TINY, seat="single", out=tmp_path_factory.mktemp("single")))


def test_the_best_network_is_chosen_anew_when_the_last_opponent_changes(tmp_path):
    """What was won against a weaker opponent says nothing about a stronger one."""
    config = replace(TINY, out=tmp_path)
    first = train(config)
    assert first.best > 0.3
    other = replace(config, eval_opponents=("uniform", "greedy"))
    assert Run(other).best == first.best, "nothing is forgotten before there is something new"
    second = train(replace(other, steps=512))
    assert second.best == second.evaluations[-1].wins.mean < first.best
    results = read_description(tmp_path / "best.zip")["results"]
    assert results["steps"] == 512 and list(results["evaluations"]) == ["uniform", "greedy"]
    third = train(replace(other, steps=768))
    assert third.best >= second.best, "against the same opponents the best stays the best"


def test_the_best_network_is_chosen_anew_when_the_games_of_an_evaluation_change(tmp_path):
    """A network that won all of two games need not be better than one that won most of a hundred."""
    config = replace(TINY, out=tmp_path, eval_games=2)
    first = train(config)
    first.best = 1.0
    first.save()
    more = replace(config, eval_games=20)
    assert Run(more).best == 1.0, "nothing is forgotten before there is something new"
    second = train(replace(more, steps=512))
    assert second.best == second.evaluations[-1].wins.mean < 1
    assert read_description(tmp_path / "best.zip")["results"]["steps"] == 512
    second.best = 2.0
    second.save()
    assert train(replace(more, steps=768)).best == 2.0, "after as many games the best stays the best"


def test_a_run_goes_on_without_settings_that_it_never_used(tmp_path):
    """They were accepted when it was begun."""
    alone = PoolConfig(latest=0.8, sparring_share=0.0)
    config = replace(TINY, seat="pool", pool=alone, out=tmp_path)
    begun = replace(config, pool=replace(alone, sparring=()))
    object.__setattr__(begun.pool, "sparring", ("mcts:100",))
    for name, value in (("teacher", "greedy"), ("teacher_share", 0.0), ("teacher_noise", 0.3)):
        object.__setattr__(begun, name, value)
    train(begun)
    with pytest.raises(BotError, match="latest"):
        train(replace(config, pool=replace(alone, latest=0.7), steps=512))
    run = train(replace(config, steps=512))
    assert run.steps >= 512
    training = read_description(run.last)["training"]
    assert training["teacher"] is None and training["pool"]["sparring"] == ["greedy"]


def test_an_imitation_goes_on_without_settings_that_it_never_used(tmp_path):
    """They were accepted when it was begun."""
    config = replace(
        TINY, seat="pool", players="2-3", teacher="greedy", teacher_share=1.0, teacher_positions=100,
        batch_size=TrainConfig.batch_size, epochs=TrainConfig.epochs, out=tmp_path,
    )  # fmt: skip
    begun = replace(config)
    for name, value in (("learning_rate", 0.5), ("epochs", 7), ("pool", PoolConfig(latest=0.9))):
        object.__setattr__(begun, name, value)
    train(begun)
    with pytest.raises(BotError, match=r"other settings: teacher_noise is 0\.1, now 0\.2\. Use another"):
        train(replace(config, teacher_noise=0.2, steps=512))
    assert train(replace(config, steps=512)).steps == 512


@pytest.mark.parametrize(
    "learns",
    [
        {"teacher": "greedy"},
        {"seat": "single", "opponent": "greedy"},
        {"seat": "pool", "pool": PoolConfig(sparring=("uniform", "mcts:4"))},
        {"over": "greedy"},
    ],
    ids=["teacher", "opponent", "partner", "below"],
)
def test_a_run_does_not_go_on_with_other_versions_of_the_bots_that_it_learns_with(learns, tmp_path, monkeypatch):
    """It would no longer be the run that it says it is."""
    config = replace(TINY, out=tmp_path, **learns)
    Run(config).save()
    Run(config)
    monkeypatch.setattr(greedy, "greedy_version", lambda game: 9)
    said: list[str] = []
    with pytest.raises(BotError, match=r"that have changed since it was begun: \S+ was greedy-\d, now greedy-9\. Put"):
        Run(config, said.append)
    assert said == [], "nothing is announced that is then refused"


def test_a_run_does_not_go_on_with_another_network_as_its_teacher(finished, tmp_path):
    teacher = Path(shutil.copy(finished.out / "last.zip", tmp_path / "teacher.zip"))
    config = replace(TINY, teacher=f"net:{teacher}", out=tmp_path / "run")
    Run(config).save()
    teacher.write_bytes((finished.out / "best.zip").read_bytes())
    with pytest.raises(BotError, match=r"net:.*teacher.zip was [0-9a-f]{16}, now [0-9a-f]{16}\. Put back"):
        Run(config)
    teacher.unlink()
    with pytest.raises(BotError, match=r"net:.*teacher.zip was [0-9a-f]{16}, now it is gone\. Put back"):
        Run(config)


def test_a_run_whose_versions_nobody_noted_goes_on(tmp_path):
    check_same_bots({"game": "kitten_adventurers"}, {"greedy": "greedy-9"}, tmp_path / "last.zip")


def test_a_search_does_not_go_on_with_another_greedy(tmp_path, monkeypatch):
    config = replace(SEARCHING, out=tmp_path)
    ExpertRun(config)
    ExpertRun(config)
    monkeypatch.setattr(greedy, "greedy_version", lambda game: 9)
    with pytest.raises(BotError, match=r"greedy was greedy-\d, now greedy-9\. Put back"):
        ExpertRun(config)


def test_the_best_network_is_chosen_anew_when_the_last_opponent_is_of_another_version(tmp_path, monkeypatch):
    """It learned nothing from that opponent, so the run goes on, and says so."""
    config = replace(TINY, eval_opponents=("greedy",), out=tmp_path)
    first = train(config)
    first.best = 2.0
    first.save()
    monkeypatch.setattr(greedy, "greedy_version", lambda game: 9)
    said: list[str] = []
    second = train(replace(config, steps=512), say=said.append)
    assert said[0] == f"continuing {tmp_path / 'last.zip'}, which runs the code pickled in it"
    (before,) = {one.version for one in first.evaluations}
    assert said[1:] == [f"evaluations against greedy were against version {before}, from now on greedy-9"]
    assert second.best == second.evaluations[-1].wins.mean
    second.best = 2.0
    second.save()
    assert train(replace(config, steps=768), say=said.append).best == 2.0 and len(said) == 3


def test_the_best_network_stays_if_nobody_noted_the_version_of_the_opponent(finished):
    noted, unknown = finished.evaluations, [replace(one, version=None) for one in finished.evaluations]
    assert judged_alike(noted, unknown) and judged_alike(unknown, noted)
    assert not judged_alike(noted, [replace(one, version="greedy-9") for one in noted])


def test_options_and_their_values_come_in_any_order(tmp_path):
    one = replace(TINY, option=("quest_size=2,3", "hand_size=6,5"), out=tmp_path)
    other = replace(one, option=("hand_size=5,6", "quest_size=3,2"))
    games = [[each.values for each in game_configurations(config)] for config in (one, other)]
    assert games[0] == games[1] and len(games[0]) == 4
    Run(one).save()
    Run(other)
    with pytest.raises(BotError, match=r"option is \['quest_size=2,3', 'hand_size=6,5'\], now \['hand_size=5,6'\]"):
        Run(replace(one, option=("hand_size=5,6",)))


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:1000])])
def test_the_best_network_is_chosen_anew_when_it_is_lost_or_damaged(damage, finished, tmp_path):
    """Otherwise there is none until a network wins more than the one that is lost."""
    shutil.copytree(finished.out, tmp_path, dirs_exist_ok=True)
    run = Run(replace(TINY, out=tmp_path))
    run.best = 2.0
    run.save()
    damage(tmp_path / "best.zip")
    longer = train(replace(TINY, out=tmp_path, steps=512))
    assert longer.best == longer.evaluations[-1].wins.mean
    assert read_description(tmp_path / "best.zip")["results"]["steps"] == 512


def test_a_run_of_another_command_is_named(finished, tmp_path):
    searched = iterate(replace(SEARCHING, start=f"net:{finished.out}", out=tmp_path))
    with pytest.raises(BotError, match=r"last.zip is a run of agents.expert, not of agents.train. Use another --out"):
        Run(replace(TINY, out=searched.out))
    with pytest.raises(BotError, match=r"last.zip is a run of agents.train, not of agents.expert. Use another --out"):
        ExpertRun(replace(SEARCHING, out=finished.out))


@pytest.mark.parametrize("within", [".", "run"])
def test_a_file_is_no_folder_for_a_run(within, tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("kept")
    for begin, config in ((train, TINY), (iterate, SEARCHING)):
        with pytest.raises(UsageError, match=r"--out .*notes.txt is a file; name a folder"):
            begin(replace(config, out=file / within))
    assert file.read_text() == "kept"


def test_a_finished_run_that_is_started_again_stays_as_it_is(finished, monkeypatch):
    """Its files go on naming the code that it learned with."""
    monkeypatch.setattr(checkpoint, "commit", lambda: "another")
    before = {path.name: path.read_bytes() for path in finished.out.iterdir() if path.is_file()}
    told = []
    train(replace(TINY, out=finished.out), watch=told.append)
    assert [status.evaluated for status in told] == [True]
    assert {path.name: path.read_bytes() for path in finished.out.iterdir() if path.is_file()} == before


def test_the_best_network_of_another_run_is_not_replaced(finished, tmp_path):
    """It may be all that was kept of a run of days."""
    for name in ("best.zip", "best.json", "learning_curve.csv"):
        (tmp_path / name).write_bytes((finished.out / name).read_bytes())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(BotError, match=r"best.zip is the network of another run: delete it, or give another --out"):
        train(replace(TINY, out=tmp_path))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("file", ["best.zip", "last.zip"])
def test_a_run_that_is_killed_at_its_beginning_is_no_other_run(finished, file, tmp_path, monkeypatch):
    """Its own best network does not keep it from going on, whichever file was the last."""
    write, killed = checkpoint.write_checkpoint, []

    def write_and_die(path: Path, *content: Any, **named: Any) -> None:
        write(path, *content, **named)
        if path.name == file:
            killed.append(path)
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(checkpoint, "write_checkpoint", write_and_die)
        train(replace(TINY, out=tmp_path))
    assert len(killed) == 1
    run = train(replace(TINY, out=tmp_path))
    assert equal(run.policy, finished.policy) and [line["steps"] for line in run.curve] == [0, 256]


def meaning(file: Path) -> tuple[bool, bool]:
    """Whether the values of a network are those of its own seat alone, and whether they count shaping."""
    description = read_description(file)
    return values_own_seat(description), expects_shaping(description)


def test_values_mean_what_they_meant_until_a_run_learns(of_its_seat, tmp_path):
    """A search must not take values for returns of all seats that nobody taught."""
    assert meaning(of_its_seat.out / "best.zip") == (True, True)
    config = replace(TINY, **OF_THE_START, shaping=0.0, start=f"net:{of_its_seat.out}", out=tmp_path / "one")
    one = Run(config)
    one.save()
    one = Run(config)  # which was interrupted before it learned
    one.evaluate()
    assert meaning(one.last) == meaning(one.out / "best.zip") == (True, True)
    other = Run(replace(config, start=f"net:{one.out}", out=tmp_path / "other"))
    other.evaluate()
    assert meaning(other.out / "best.zip") == (True, True), "a run may start from one that learned nothing"
    other.best = 2.0  # no later evaluation wins as much
    other.advance()
    other.evaluate()
    other.save()
    assert meaning(other.out / "best.zip") == (True, True) and meaning(other.last) == (False, False)


def test_imitation_alone_teaches_the_values_of_all_seats():
    training = {"seat": "single", "shaping": 0.1, "teacher_share": 1.0}
    assert not values_own_seat({"training": training}) and not expects_shaping({"training": training})
    assert values_own_seat({"training": {**training, "teacher_share": 0.9}})


def test_values_of_a_search_s_network_mean_what_they_meant_until_it_learns(of_its_seat, tmp_path, monkeypatch):
    config = replace(SEARCHING, start=f"net:{of_its_seat.out}", guided_from=1, out=tmp_path)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(ExpertRun, "_write_best", interrupt)
        ExpertRun(config)
    run = ExpertRun(config)  # which writes what is missing
    assert meaning(run.last) == meaning(run.best_file) == (True, True)
    run = iterate(config)
    assert [line["accepted"] for line in run.curve] == [True, True]
    assert meaning(run.last) == meaning(run.best_file) == (False, False)


def interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def lose(start: Path) -> None:
    start.unlink()


def replace_by_larger(start: Path) -> None:
    """Put the network of another run there."""
    description = read_description(start)
    larger = {**description["network"], "width": 24}
    checkpoint.write_checkpoint(start, {**description, "network": larger}, {})


@pytest.mark.parametrize("change", [lose, replace_by_larger])
def test_a_run_goes_on_without_the_network_that_it_started_from(finished, change, tmp_path):
    start = Path(shutil.copy(finished.out / "best.zip", tmp_path / "start.zip"))
    config = replace(TINY, **OF_THE_START, start=f"net:{start}", out=tmp_path / "run")
    searching = replace(SEARCHING, start=config.start, out=tmp_path / "searching")
    train(config)
    iterate(searching)
    change(start)
    run, searched = train(replace(config, steps=512)), iterate(replace(searching, generations=2))
    assert run.steps == 512 and len(searched.curve) == 3
    network = read_description(finished.last)["network"]
    assert [read_description(one.last)["network"] for one in (run, searched)] == [network, network]


def test_all_code_that_a_run_learned_with_is_named(tmp_path, monkeypatch):
    for steps, code in ((256, "aaa"), (512, "bbb"), (512, "ccc"), (768, "bbb")):
        monkeypatch.setattr(checkpoint, "commit", lambda code=code: code)
        train(replace(TINY, out=tmp_path, steps=steps))
    assert read_description(tmp_path / "last.zip")["results"]["commits"] == ["aaa", "bbb"]


def test_all_code_that_a_run_with_a_search_learned_with_is_named(finished, tmp_path, monkeypatch):
    for generations, code in ((1, "aaa"), (2, "bbb"), (2, "ccc"), (3, "bbb")):
        monkeypatch.setattr(checkpoint, "commit", lambda code=code: code)
        iterate(replace(SEARCHING, start=f"net:{finished.out}", generations=generations, out=tmp_path))
    assert read_description(tmp_path / "last.zip")["results"]["commits"] == ["aaa", "bbb"]
