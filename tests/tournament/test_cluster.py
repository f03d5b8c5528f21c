"""How Ray is asked for a cluster, told by a stand-in that needs no Ray."""

from __future__ import annotations

import io
import socket
import sys
import threading
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

import kepler_envs
from kepler_envs.cli.tournament import PlayTournament
from kepler_envs.tournament import ClusterError, TournamentError
from kepler_envs.tournament.cluster import Cluster
from kepler_envs.tournament.run import Tournament

CONFIG = kepler_envs.load_game("kitten_adventurers").configure(2)


class StandIn(ModuleType):
    """Ray that keeps what it was asked and has no nodes."""

    def __init__(self) -> None:
        super().__init__("ray")
        self.asked: list[dict[str, Any]] = []
        self.refusal = "Could not find any running Ray instance. Please specify the one to connect to"
        self.ended = 0

    def init(self, **settings: Any) -> None:
        self.asked.append({name: settings.get(name) for name in ("address", "num_cpus", "include_dashboard")})
        if settings["address"] == "auto" and self.refusal:
            raise ConnectionError(self.refusal)

    def nodes(self) -> list[dict[str, Any]]:
        return []

    def shutdown(self) -> None:
        self.ended += 1


@pytest.fixture
def ray(monkeypatch) -> StandIn:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    strategies = ModuleType("ray.util.scheduling_strategies")
    strategies.NodeAffinitySchedulingStrategy = object
    found = StandIn()
    for module in (found, ModuleType("ray.util"), strategies):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return found


NEW = {"address": "local", "num_cpus": 2, "include_dashboard": False}


def test_a_new_cluster_has_the_cores_asked_for(ray):
    with Cluster("local", 2):
        assert ray.asked == [NEW] and ray.ended == 0
    assert ray.ended == 1


def test_a_cluster_that_cannot_be_used_is_left(ray, monkeypatch):
    monkeypatch.setattr(ray, "nodes", lambda: [{}])
    with pytest.raises(KeyError):
        Cluster("local", 2)
    assert ray.ended == 1


def test_nodes_that_are_gone_or_have_no_core_are_none(ray, monkeypatch):
    nodes = [{"Alive": False, "Resources": {"CPU": 4.0}}, {"Alive": True, "Resources": {}}]
    monkeypatch.setattr(ray, "nodes", lambda: nodes)
    with Cluster("local", 2) as cluster:
        assert cluster.size == "0 nodes, 0 cores"


@pytest.mark.parametrize("variable", ["", "auto"])
def test_where_there_is_none_a_new_one_is_started(ray, monkeypatch, variable):
    monkeypatch.setenv("RAY_ADDRESS", variable)
    with Cluster("", 2):
        assert [settings["address"] for settings in ray.asked] == ["auto", "local"] and ray.asked[1] == NEW


def test_one_that_refuses_is_not_replaced(ray):
    ray.refusal = "Failed to connect to GCS within 5 seconds"
    with pytest.raises(ClusterError, match="a cluster on this machine cannot be used: Failed .*; if it asks for a tok"):
        Cluster("", 2)
    assert [settings["address"] for settings in ray.asked] == ["auto"]


def test_the_variable_of_ray_names_the_cluster(ray, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as there:
        address = f"127.0.0.1:{there.getsockname()[1]}"
        monkeypatch.setenv("RAY_ADDRESS", address)
        with Cluster():
            assert [settings["address"] for settings in ray.asked] == [address]
    with pytest.raises(ClusterError, match=f"the cluster at {address} cannot be reached"):
        Cluster()


def test_a_cluster_that_runs_has_cores_of_its_own(ray, monkeypatch):
    """Nothing says there how many of them play."""
    ray.refusal = ""
    with pytest.raises(ClusterError, match="^--processes 2: the cluster that runs on this .*leave it out, or .*local"):
        Cluster("", 2)
    assert [settings["address"] for settings in ray.asked] == ["auto"] and ray.ended == 1
    for address, variable in (("10.0.0.5:6379", ""), ("", "10.0.0.5:6379")):
        monkeypatch.setenv("RAY_ADDRESS", variable)
        with pytest.raises(ClusterError, match="^--processes 2: the cluster at 10.0.0.5:6379 has .*; leave it out, or"):
            Cluster(address, 2)
    assert len(ray.asked) == 1, "nothing was asked of a cluster elsewhere"
    assert ray.ended == 1, "a connection of the program's own, and its tasks, stay"
    with Cluster("local", 2):
        assert ray.asked[1] == NEW
    monkeypatch.delenv("RAY_ADDRESS")
    with Cluster():
        assert ray.asked[2]["address"] == "auto"


def test_a_tournament_plays_in_processes_or_on_a_cluster(ray):
    with Cluster("local") as cluster:
        assert Tournament(CONFIG, cluster=cluster).processes is None
        with pytest.raises(TournamentError, match="^--processes 2: a cluster plays on its own cores; leave it out$"):
            Tournament(CONFIG, cluster=cluster, processes=2)


def test_no_cluster_is_started_for_what_is_not_allowed(ray, tmp_path):
    asked = PlayTournament(game="kitten_adventurers", processes=0, ray=(), out=tmp_path)
    with pytest.raises(TournamentError, match="^--processes 0 is not allowed; allowed: an integer from 1 on$"):
        asked.run(Console(file=io.StringIO()))
    assert ray.asked == []


@pytest.mark.parametrize("address", ["here", "here:", ":6379", "here:ray", "here:²", "here:0", "here:65536"])
def test_an_address_has_a_host_and_a_port(ray, address):
    with pytest.raises(ClusterError, match=f"^--ray {address}: an address is HOST:PORT, for example 10.0.0.5:6379$"):
        Cluster(address)


@pytest.mark.parametrize("host", ["a..b", 64 * "x"])
def test_no_cluster_is_at_a_host_that_nobody_can_have(ray, host):
    with pytest.raises(ClusterError, match=f"^the cluster at {host}:6379 cannot be reached: .*label"):
        Cluster(f"{host}:6379")


@pytest.mark.parametrize("minutes, in_time", [(4, True), (6, False)])
def test_a_node_has_minutes_to_answer(ray, monkeypatch, minutes, in_time):
    """A worker that starts and imports on a machine whose cores are all busy."""
    ray.nodes = lambda: [{"Alive": True, "Resources": {"CPU": 1}, "NodeID": "1", "NodeManagerAddress": "10.0.0.6"}]
    strategies = sys.modules["ray.util.scheduling_strategies"]
    monkeypatch.setattr(strategies, "NodeAffinitySchedulingStrategy", lambda *there, **soft: there)
    ray.remote = lambda **settings: lambda function: SimpleNamespace(remote=lambda: function)
    ray.exceptions = SimpleNamespace(GetTimeoutError=TimeoutError, RayTaskError=RuntimeError)

    def get(question: Callable[[], str], timeout: float) -> str:
        if 60 * minutes > timeout:
            raise TimeoutError
        return question()

    ray.get = get
    if in_time:
        Cluster("local").close()
    else:
        with pytest.raises(ClusterError, match="node 10.0.0.6 does not answer within 5 minutes"):
            Cluster("local")


def test_a_cluster_without_nodes_is_told_of_and_can_be_left(ray):
    console, stop = Console(file=io.StringIO()), threading.Event()
    ray.remote = lambda **settings: lambda function: SimpleNamespace(remote=lambda *arguments: object())
    ray.put, ray.cancel = lambda what: what, lambda reference, force: None

    def wait(references: list[object], **settings: Any) -> tuple[list[object], list[object]]:
        if "num_returns" not in settings and console.file.getvalue():
            stop.set()
        return [], references

    ray.wait = wait
    with Cluster("local", 2, console) as cluster:
        assert list(cluster.map(len, (), iter(range(5)), stop)) == []
    assert console.file.getvalue() == "there is no node: waiting for one\n"
