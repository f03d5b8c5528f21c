"""Games on a cluster of several nodes, all on this machine: the same games, whatever happens to workers and nodes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import kepler_envs
from agents.expert_run import iterate
from kepler_envs.bots.from_file import EXCEPTION, BotFailed
from kepler_envs.cli import main
from kepler_envs.engine.snapshot import IllegalAction
from kepler_envs.tournament import CheckError, ClusterError, WorkerError, cluster, ray_workers
from kepler_envs.tournament.cluster import Cluster, Installed
from kepler_envs.tournament.pairing import parts_of, play_parts
from kepler_envs.tournament.play import Players
from kepler_envs.tournament.ray_workers import RayWorkers
from kepler_envs.tournament.schedule import Schedule
from kepler_envs.tournament.shipment import Shipment
from kepler_envs.tournament.strength import Strength, measure
from kepler_envs.tournament.workers import Workers
from tests.agents.test_expert import TINY, same, same_curve
from tests.effort import only_deep, slow
from tests.tournament.playing import GAME, ROOT, command, count_games, own, rows, start, wait_for_games
from tests.tournament.tasks import fail, lose

ray = pytest.importorskip("ray", reason="Ray is not installed: nothing is tested on a cluster")

CONFIG = kepler_envs.load_game(GAME).configure(4)
SLOW = ("uniform", "mcts:6")
pytestmark = pytest.mark.xdist_group("ray")  # one cluster, one after the other


@pytest.fixture(scope="module")
def nodes() -> Iterator[tuple[str, object]]:
    """(the address of a cluster of three nodes with a core each, the cluster); the first node only leads."""
    from ray.cluster_utils import Cluster as Nodes

    found = Nodes(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(3):
        found.add_node(num_cpus=1)
    yield found.address, found
    found.shutdown()


@pytest.fixture(scope="module")
def three(nodes) -> Iterator[Cluster]:
    """The connection of this process to these nodes, the only one it makes.

    Ray ends a process a minute after a cluster is gone that it still has a question for, so a process that connects to
    one cluster after the other may end in the middle of a test. Whatever else needs a connection is a command.
    """
    with Cluster(nodes[0]) as found:
        yield found


def play(out: Path, agents: Sequence[str], games: int, *more: str) -> str:
    """Play a tournament to its end, as a command; return what it printed."""
    asked = command(out, agents, games, *more)
    done = subprocess.run(asked, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# ---------------------------------------------------------------- the same games


MIXED = ("uniform", "greedy", "mcts:4")
SCHEDULES = {False: (), True: ("--adaptive",)}  # by whether they are adaptive


@pytest.fixture(scope="module")
def here(tmp_path_factory) -> Callable[[bool], list[tuple]]:
    """The ledger of processes of this machine, given whether the schedule is adaptive."""

    @cache
    def ledger(adaptive: bool) -> list[tuple]:
        out = tmp_path_factory.mktemp("here")
        play(out, MIXED, 180, "--processes", "2", *SCHEDULES[adaptive])
        return rows(out)

    return ledger


@slow
def test_a_ledger_is_the_same_on_a_cluster_that_is_started_for_it(tmp_path, here):
    """Before the nodes of the other tests are there, which would be found."""
    play(tmp_path, MIXED, 180, "--processes", "2", "--ray")
    assert rows(tmp_path) == here(False) and len(here(False)) >= 180


@only_deep
@pytest.mark.parametrize("adaptive", [False, True])
def test_a_ledger_is_the_same_on_three_nodes(tmp_path, here, nodes, adaptive):
    play(tmp_path, MIXED, 180, *SCHEDULES[adaptive], "--ray", nodes[0])
    assert rows(tmp_path) == here(adaptive)


@only_deep
def test_forfeits_are_those_of_a_tournament_without_ray(three):
    """A bot that raises, one that never returns and one that ends its process."""
    specs = (own("Raises"), own("NeverReturns"), own("EndsTheProcess"))
    players, schedule = Players(specs, CONFIG, limit=2.0), Schedule(3, 4, 0)
    games = [schedule[number] for number in range(12)]
    with Workers(players, 1) as here:
        known = {one.number: one for some in here.play([games]) for one in some}
    with RayWorkers(players, three, 4) as workers:
        found = {one.number: one for some in workers.play([games]) for one in some}
    assert sorted(found) == sorted(known) == [game.number for game in games]
    reasons = {number: {(one.agent, one.reason) for one in game.forfeits} for number, game in known.items()}
    assert {reason for some in reasons.values() for _, reason in some} == {"exception", "too slow", "process died"}
    for number, game in found.items():
        assert game.agents == known[number].agents and set(game.agents) <= set(specs)
        assert {(one.agent, one.reason) for one in game.forfeits} == reasons[number]
        if not game.forfeits:
            assert game == known[number]


@slow
def test_strengths_are_the_same(three):
    request = Strength(CONFIG, ("greedy",), ("uniform",), games=96, side_by_side=16)
    quiet, never = Console(quiet=True), threading.Event()
    *_, elsewhere = measure(request, "greedy", "uniform", never, quiet, three)
    *_, here = measure(request, "greedy", "uniform", never, quiet)
    assert elsewhere == here and here.games == 96


@slow
def test_parts_come_in_their_order_and_are_those_of_this_process(three):
    parts = list(parts_of(100, 12, 4, 9))
    assert sum(part.games for part in parts) == 100 and len({part.seed for part in parts}) == len(parts) == 9
    network = f"net:{ROOT / 'kepler_envs/bots/published' / GAME / 'bc-v1.zip'}"
    here = list(play_parts(network, "greedy", CONFIG, parts))
    there = list(play_parts(network, "greedy", CONFIG, parts, three))
    assert len(here) == len(there) == 9
    for one, other in zip(here, there, strict=True):
        assert np.array_equal(one.wins, other.wins) and np.array_equal(one.lengths, other.lengths)


@only_deep
def test_expert_iteration_learns_the_same(three, tmp_path):
    settings = replace(TINY, generations=2)
    here, there = (
        iterate(replace(settings, out=tmp_path / "here")),
        iterate(replace(settings, out=tmp_path / "there"), cluster=three),
    )
    assert same(here, there) and same_curve(here.curve, there.curve)


# ---------------------------------------------------------------- what may happen


def workers_with_tasks() -> list[int]:
    """Processes of Ray that do a task."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if words.startswith(b"ray::_call"):
                found.append(int(folder.name))
    return found


@only_deep
def test_nothing_is_lost_and_nothing_twice_whatever_goes_and_comes(tmp_path, nodes):
    """A worker is killed, a node is taken away, another comes, the driver is killed and started again."""
    address, cluster_of_nodes = nodes
    games, out = 600, tmp_path / "hit"
    on_ray = ("--batch", "8", "--ray", address)
    process = start(command(out, SLOW, games, *on_ray))
    wait_for_games(process, out, 24)
    killed = workers_with_tasks()
    assert killed
    os.kill(killed[0], signal.SIGKILL)
    wait_for_games(process, out, count_games(out) + 16)
    cluster_of_nodes.remove_node(cluster_of_nodes.list_all_nodes()[-1])
    cluster_of_nodes.add_node(num_cpus=1)
    wait_for_games(process, out, count_games(out) + 16)
    process.kill()
    process.communicate()
    before = rows(out)
    assert 24 < len(before) < games
    assert "3 nodes" in play(out, SLOW, games, *on_ray)
    play(tmp_path / "whole", SLOW, games, "--processes", "2")
    assert set(before) <= set(rows(out)) and rows(out) == rows(tmp_path / "whole")
    assert len({row[0] for row in rows(out)}) == len(rows(out)) >= games


@slow
def test_ctrl_c_leaves_a_ledger_to_go_on_from(tmp_path, nodes):
    out = tmp_path / "stopped"
    process = start(command(out, SLOW, 4000, "--batch", "8", "--ray", nodes[0]))
    wait_for_games(process, out, 8)
    os.killpg(process.pid, signal.SIGINT)
    printed = process.communicate(timeout=120)[0]
    assert process.returncode == 130 and "the same command goes on from there" in printed, printed
    assert 8 <= len(rows(out)) < 4000


@slow
def test_a_task_that_raises_says_so(three):
    with pytest.raises(WorkerError, match="a task failed on a worker:\n(.*\n)*KeyError: 'no such thing'"):
        list(three.map(fail, KeyError("no such thing"), iter([1])))


@pytest.mark.parametrize("problem", [BotFailed(EXCEPTION, "no idea", "mine"), CheckError("game 7"), IllegalAction("9")])
def test_what_a_bot_or_a_game_raises_is_what_it_is_without_ray(three, problem):
    with pytest.raises(type(problem), match=f"^{problem}$"):
        list(three.map(fail, problem, iter([1])))


@slow
@pytest.mark.parametrize("times", [2, 1000])
def test_what_all_tasks_need_is_sent_again_if_it_was_lost(three, tmp_path, times):
    """Ray says so of a driver that is slow to answer. A task of which it is always said ends the tournament."""
    (tmp_path / "left").write_text("x" * times)
    tasks = three.map(lose, str(tmp_path / "left"), iter([1]))
    if times > cluster.RETRIES:
        with pytest.raises(WorkerError, match="what all tasks need was lost 6 times"):
            list(tasks)
    else:
        assert list(tasks) == [(1, "found")]


def test_a_cluster_that_cannot_be_reached_is_one_sentence(tmp_path, capsys):
    began = time.monotonic()
    assert main(["tournament", GAME, "--out", str(tmp_path / "no"), "--ray", "127.0.0.1:1"]) == 2
    assert "the cluster at 127.0.0.1:1 cannot be reached" in capsys.readouterr().err
    assert time.monotonic() - began < 20 and not (tmp_path / "no").exists()
    for address in ("somewhere", "host:port"):
        assert main(["tournament", GAME, "--out", str(tmp_path / "no"), "--ray", address]) == 2
        assert "HOST:PORT" in capsys.readouterr().err
    assert main(["tournament", GAME, "--out", str(tmp_path / "no"), "--ray", "a:1", "b:2"]) == 2
    assert "one address or none" in capsys.readouterr().err


@slow
def test_a_cluster_that_refuses_a_token_is_told(nodes, monkeypatch):
    """Ray 2.60 says no more than that it failed to connect."""

    def refuse(**settings):
        raise ConnectionError("Failed to connect to Ray cluster")

    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(ClusterError, match=r"cannot be used: Failed to connect.*RAY_AUTH_MODE=token and the same ~/"):
        Cluster(nodes[0])


def test_an_error_without_a_word_is_named(monkeypatch):
    def fail(error: Exception, *_, **settings):
        raise error

    monkeypatch.setattr(ray, "init", partial(fail, AssertionError()))
    with pytest.raises(ClusterError, match=r"the cluster at local cannot be used: AssertionError\(\)"):
        Cluster("local")
    without_connection = Cluster.__new__(Cluster)
    without_connection._ray = ray
    monkeypatch.setattr(ray, "get", partial(fail, ray.exceptions.RayError()))
    with pytest.raises(WorkerError, match=r"workers were lost over it: RayError\(\)"):
        without_connection._result("a task")


@slow
def test_nodes_with_something_else_installed_are_named_before_the_first_game(
    nodes, three, monkeypatch, tmp_path, capsys
):
    other = Installed("0.0.9", "0123456789ab", "3.11.0", "0.68.0")
    monkeypatch.setattr(cluster, "installed_here", lambda: other)
    monkeypatch.setattr(ray, "init", lambda **_: None)  # it is connected, and stays so
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    assert main(["tournament", GAME, "--out", str(tmp_path / "no"), "--ray", nodes[0]]) == 2
    words = capsys.readouterr().err
    assert "install the same wheel" in words and str(other) in words and len(words.strip().splitlines()) == 1
    assert not (tmp_path / "no").exists()


@slow
def test_a_node_that_comes_later_is_checked_too(three, monkeypatch):
    monkeypatch.setattr(cluster, "installed_here", lambda: Installed("0.0.9", "0123456789ab", "3.11.0", "0.68.0"))
    with pytest.raises(ClusterError, match="install the same wheel"):
        list(three.map(fail, "", iter([1])))


def test_without_ray_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ClusterError, match=r"kepler_envs\[ray\]"):
        Cluster("127.0.0.1:1")


# ---------------------------------------------------------------- parts


def test_files_of_bots_travel(tmp_path):
    """Used where they lie if they are there and equal, else written to a folder of the user's own."""
    file = tmp_path / "mine.py"
    file.write_text("class Mine: ...\n")
    network = ROOT / "kepler_envs/bots/published" / GAME / "bc-v1.zip"
    specs = ("greedy", f"python:{file}:Mine", f"mcts:8,network=net:{network},exploration=1")
    shipment = Shipment.pack(specs)
    assert shipment.unpack() == specs
    file.write_text("class Other: ...\n")
    here = shipment.unpack()
    assert here[0] == "greedy" and here[2] == specs[2] and here[1] != specs[1]
    kind, path, name = here[1].split(":")
    assert (kind, name) == ("python", "Mine") and Path(path).read_text() == "class Mine: ...\n"
    assert Path(path).parents[2].stat().st_mode & 0o077 == 0
    assert Shipment.pack(specs).key != shipment.key


@pytest.mark.parametrize(
    ("spec", "here"),
    [
        ("net:net", "net:{}/net/best.zip"),
        ("net:t", "net:{}/t/best.zip"),
        ("mcts:100,network=net:t", "mcts:100,network=net:{}/t/best.zip"),
        ("mcts:100, network =net:net,trust=0.5", "mcts:100, network =net:{}/net/best.zip,trust=0.5"),
        ("mcts:9,network=net:t,network=net:t2", "mcts:9,network=net:{0}/t/best.zip,network=net:{0}/t2/best.zip"),
        ("mcts:9,network=net:t2,network=net:t", "mcts:9,network=net:{0}/t2/best.zip,network=net:{0}/t/best.zip"),
        ("mcts:9,network=bc-v1", "mcts:9,network=bc-v1"),
        ("net:a,network=net:t", "net:{}/a,network=net:t/best.zip"),
        ("python:on:on", "python:{}/on:on"),
        ("python:a:b.py:py", "python:{}/a:b.py:py"),
    ],
)
def test_only_paths_are_replaced_in_specs(tmp_path, monkeypatch, spec, here):
    """Short ones stand elsewhere in the spec, too."""
    for folder in ("net", "t", "t2", "a,network=net:t"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "best.zip").write_text(f"weights of {folder}")
    for file in ("on", "a:b.py"):
        (tmp_path / file).write_text("class Mine: ...\n")
    monkeypatch.chdir(tmp_path)
    assert Shipment.pack([spec]).unpack() == (here.format(tmp_path.resolve()),)


def test_files_of_the_same_name_stay_apart(tmp_path, monkeypatch):
    """On a machine that has none of them."""
    monkeypatch.chdir(tmp_path)
    for folder in ("t", "t2"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "best.zip").write_text(f"weights of {folder}")
    shipment = Shipment.pack(["net:t", "net:t2", "mcts:9,network=net:t2,network=net:t"])
    for folder in ("t", "t2"):
        (tmp_path / folder / "best.zip").unlink()
    one, other, both = shipment.unpack()
    paths = [one.removeprefix("net:"), other.removeprefix("net:"), *both.split(",network=net:")[1:]]
    assert both.startswith("mcts:9,network=net:") and len(set(paths)) == 4
    assert [Path(path).read_text() for path in paths] == [f"weights of {folder}" for folder in ("t", "t2", "t2", "t")]


def test_two_specs_of_one_file_stay_apart(tmp_path, monkeypatch):
    """As agents of their own, each with its own results."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "best.zip").write_text("weights")
    here = Shipment.pack(["net:t", "net:t/best.zip", f"net:{tmp_path}/t"]).unpack()
    assert len(set(here)) == 3
    assert [Path(spec.removeprefix("net:")).read_text() for spec in here] == ["weights"] * 3


def test_tasks_become_as_long_as_they_should():
    schedule, pace = Schedule(2, 4, 0), ray_workers.Pace()
    games = [schedule[number] for number in range(500)]
    tasks = ray_workers._tasks(games, pace, lambda: 3)
    sizes = [len(next(tasks))]
    for seconds in (0.008, 0.064, 2.0):
        pace.took(sizes[-1], seconds)
        sizes.append(len(next(tasks)))
    assert sizes == [8, 64, 100, 55], (
        "eight times as many, what a tenth of a second holds, half of what is left among three"
    )
    pace.took(55, 600.0)
    assert len(next(tasks)) == 1
    pace.took(1, 0.01)
    rest = [len(task) for task in tasks]
    assert sum(sizes) + 1 + sum(rest) == 500 and max(rest) == 8 and 1 <= rest[-1] <= 8


def test_results_out_of_order_are_put_in_order():
    class Reversed:
        def map(self, function, common, tasks, stop=None):
            for task in reversed(list(tasks)):
                yield task, function(common, task)

    parts = list(parts_of(24, 8, 4, 1))
    here, there = (list(play_parts("greedy", "uniform", CONFIG, parts, one)) for one in (None, Reversed()))
    assert [one.wins.tolist() for one in here] == [one.wins.tolist() for one in there]
