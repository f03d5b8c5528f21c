"""Several attackers on a bot: the best counts, in games that did not choose it."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from agents.benchmark import robustness, tables
from agents.benchmark.__main__ import _tasks, main
from agents.benchmark.protocol import TASKS, task_of
from agents.benchmark.records import AttackLine
from agents.benchmark.robustness import Siege, _known, _line, attack, named_agents, published_agents
from agents.exploit import Outcome
from agents.seeds import FRESH_SEED
from kepler_envs.bots.protocol import BotError
from kepler_envs.bots.published import published_names
from kepler_envs.records import read_lines, write_lines
from kepler_envs.tournament.standings import Share
from tests.agents.endings import ends
from tests.effort import slow

TASK = task_of("kitten_adventurers")


@pytest.fixture
def siege(tmp_path, monkeypatch) -> Siege:
    """Two attackers of a few updates."""
    request = Siege.request

    def small(self: Siege, seed: int):
        return replace(request(self, seed), num_envs=8, n_steps=32, batch_size=128, eval_every=10_000, eval_games=8)

    monkeypatch.setattr(Siege, "request", small)
    return Siege(TASK, "uniform", 2, 500, 40, tmp_path / "attacks")


def test_the_best_of_the_attackers_plays_games_of_its_own(siege, tmp_path, monkeypatch):
    record, said, seeds = tmp_path / "record.csv", [], []
    measure = robustness.measure
    monkeypatch.setattr(
        robustness, "measure", lambda *arguments: seeds.append((arguments[0].seed, arguments[4])) or measure(*arguments)
    )
    found = attack(siege, record, threading.Event(), say=said.append)
    each = [float(share) for share in found.each.split()]
    assert len(each) == 2 and [(each.index(max(each)), FRESH_SEED)] == seeds
    assert (found.games, found.equal_share, found.attackers, found.decisions) == (40, 0.25, 2, 500)
    assert found.low <= found.wins <= found.high and read_lines(record, AttackLine) == [found]
    assert sum(line.startswith("kitten_adventurers-v1-4p: attacker") for line in said) == 2
    said.clear()
    assert attack(siege, record, threading.Event(), say=said.append) == found and said == [], "it is known"
    titles, ((*row,),) = tables.attacks(record)
    shown = dict(zip(titles, row, strict=True))
    assert shown["agent"] == "`uniform`" and shown["attackers x decisions"] == "2 x 500"
    assert shown["the best wins, games"].startswith(f"{100 * found.wins:.1f} % (")


def test_a_line_has_hours_and_the_numbers_of_the_final_games():
    each = [Outcome(Share(mean, 0, 1, 20), Share(0, -1, 1, 20), 0.25) for mean in (0.375, 0.5)]
    final = Outcome(Share(0.3, 0.2, 0.4, 40), Share(0.1, 0.0, 0.2, 40), 0.25)
    line = _line(Siege(TASK, "uniform"), each, final, 5400.0)
    assert (line.hours, line.each) == (1.5, "37.5 50.0")
    assert (line.wins, line.low, line.high, line.returns, line.games) == (0.3, 0.2, 0.4, 0.1, 40)


def test_an_attack_is_known_that_this_release_made_on_the_bot_as_it_is_in_as_many_games(tmp_path):
    record, siege = tmp_path / "record.csv", Siege(TASK, "greedy", games=40)
    outcome = Outcome(Share(0.3, 0.2, 0.4, 40), Share(0.1, 0.0, 0.2, 40), 0.25)
    line = _line(siege, [outcome] * 3, outcome, 60.0)
    write_lines(record, [line], AttackLine)
    assert _known(siege, record) == line
    assert _known(replace(siege, games=41), record) is _known(replace(siege, decisions=5), record) is None
    for changes in ({"release": ""}, {"agent_version": "greedy-0"}):
        write_lines(record, [replace(line, **changes)], AttackLine)
        assert _known(siege, record) is None


def test_fewer_games_do_not_replace_those_that_another_process_played_meanwhile(siege, tmp_path, monkeypatch):
    record, measure, written = tmp_path / "record.csv", robustness.measure, []
    outcome = Outcome(Share(0.3, 0.2, 0.4, 80), Share(0.1, 0.0, 0.2, 80), 0.25)
    other = replace(_line(siege, [outcome] * 2, outcome, 60.0), agent_version="older")

    def slow(*arguments):
        write_lines(record, [written[-1]], AttackLine)
        return measure(*arguments)

    monkeypatch.setattr(robustness, "measure", slow)
    written.append(other)
    assert attack(siege, record, threading.Event()).games == 40, "the other one attacked another version"
    write_lines(record, [], AttackLine, lambda line: True)
    written.append(_line(siege, [outcome] * 2, outcome, 60.0))
    told: list[str] = []
    assert attack(siege, record, threading.Event(), say=told.append) == written[-1]
    assert read_lines(record, AttackLine) == [written[-1]]
    assert told[-1] == "  not recorded: the record keeps its line of 80 games, these are 40"


def test_attackers_learn_at_different_rates(tmp_path):
    siege = Siege(TASK, "bc-v1", attackers=4, games=300, out=tmp_path)
    requests = [siege.request(seed) for seed in range(4)]
    assert [one.learning_rate for one in requests] == [1e-3, 3e-4, 1e-4, 1e-3]
    assert [one.training().final_learning_rate for one in requests] == pytest.approx([1e-4, 3e-5, 1e-5, 1e-4])
    assert [one.training().seed for one in requests] == [0, 1, 2, 3], "the fourth is not the first again"
    assert {(one.games, one.training().eval_games) for one in requests} == {(300, 150)}


def test_more_games_also_choose_the_checkpoints_anew():
    """Attackers that fewer games have chosen are not those that the record would be told of."""
    siege = Siege(TASK, "bc-v1", games=300)
    assert siege.request(0).out != replace(siege, games=600).request(0).out
    assert siege.request(0).out == replace(siege, attackers=7).request(0).out, "others may join them"


def test_attackers_of_a_bot_without_a_network_begin_with_its_imitation(tmp_path):
    starts = {agent: Siege(TASK, agent, out=tmp_path).request(0).training().start for agent in ("greedy", "pool-v1")}
    assert starts == {"greedy": "bc-v1", "pool-v1": "pool-v1"}


@slow
def test_a_stopped_attack_goes_on(siege, tmp_path):
    record, stop = tmp_path / "record.csv", threading.Event()
    assert attack(siege, record, stop, lambda status: None if status.evaluated else stop.set()) is None
    assert read_lines(record, AttackLine) == []
    told: list[str] = []
    parts = attack(siege, record, threading.Event(), say=told.append)
    assert sum(line.endswith("last.zip, which runs the code pickled in it") for line in told) == 1
    whole = attack(replace(siege, out=tmp_path / "whole"), tmp_path / "other.csv", threading.Event())
    assert replace(parts, hours=0.0) == replace(whole, hours=0.0)


def test_a_game_that_is_named_twice_is_one_task():
    names = TASK.game, TASK.game.partition("-v")[0]
    assert _tasks(names) == (TASK,) and _tasks(()) == TASKS


def test_every_published_agent_is_attacked():
    """But not one that plays alone, as solo-v1 does: nobody can attack it."""
    pairs = published_agents(TASKS)
    assert "solo-v1" not in {name for _, name in pairs} and "kepler_3042/solo-v1" in published_names()
    assert {task.game for task, _ in pairs} == {task.game for task in TASKS} and (TASK, "bc-v1") in pairs
    assert published_agents((TASK,)) == [pair for pair in pairs if pair[0] == TASK]


def test_bots_are_attacked_in_the_games_that_they_play():
    """Which these are is known before the first attack."""
    said = []
    pairs = named_agents(TASKS, ("pool-v2", "greedy"), said.append)
    having = {task for task in TASKS if f"{task.game.partition('-v')[0]}/pool-v2" in published_names()}
    assert 0 < len(having) < len(TASKS)
    assert pairs == [
        (task, name) for task in TASKS for name in ("pool-v2", "greedy") if name == "greedy" or task in having
    ]
    assert said == [f"{task.name}: pool-v2 is not attacked: there is none" for task in TASKS if task not in having]
    with pytest.raises(BotError, match="no bot 'pool-v22'"):
        named_agents(TASKS, ("greedy", "pool-v22"))
    with pytest.raises(BotError, match="solo-v1"):
        named_agents(TASKS[-1:], ("solo-v1",))


def test_the_command_says_what_was_wrong(tmp_path, capsys):
    with ends(capsys, "--attackers 0 is not allowed"):
        main(["attack", "--attackers", "0"])
    with ends(capsys, "no bot 'gredy'"):
        main(["attack", "--only", "kitten_adventurers", "--agents", "greedy", "gredy", "--out", str(tmp_path)])
    assert not list(tmp_path.iterdir())
    with ends(capsys, "the benchmark has no game 'chess'"):
        main(["attack", "--only", "chess"])
