"""How Ray is asked for a cluster, told by a stand-in that needs no Ray."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from kepler_envs.tournament.cluster import Cluster


class StandIn(ModuleType):
    """Ray that keeps what it was asked and has no nodes."""

    def __init__(self) -> None:
        super().__init__("ray")
        self.asked: list[dict[str, Any]] = []

    def init(self, **settings: Any) -> None:
        self.asked.append({name: settings.get(name) for name in ("address", "num_cpus", "include_dashboard")})
        if settings["address"] == "auto":
            raise ConnectionError("no cluster on this machine")

    def nodes(self) -> list[dict[str, Any]]:
        return []

    def shutdown(self) -> None: ...


@pytest.fixture
def ray(monkeypatch) -> StandIn:
    strategies = ModuleType("ray.util.scheduling_strategies")
    strategies.NodeAffinitySchedulingStrategy = object
    found = StandIn()
    for module in (found, ModuleType("ray.util"), strategies):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return found


NEW = {"address": "local", "num_cpus": 2, "include_dashboard": False}


def test_a_new_cluster_has_the_cores_asked_for(ray):
    with Cluster("local", 2):
        assert ray.asked == [NEW]


def test_where_there_is_none_a_new_one_is_started(ray):
    with Cluster("", 2):
        assert [settings["address"] for settings in ray.asked] == ["auto", "local"] and ray.asked[1] == NEW
