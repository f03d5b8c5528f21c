"""What the game's page says about its observation and its deals, beside what is generated."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from kepler_envs import Snapshot
from kepler_envs.games.kepler_3042 import GAME
from kepler_envs.games.kepler_3042.components_objectives import OBJECTIVE_ARGUMENTS
from kepler_envs.games.kepler_3042.state import WHAT, WHO, Node
from tests.contract.subjects import play

PAGE = Path(__file__).parents[3] / "docs" / "games" / "kepler_3042.md"
DEALS = 2000
SHORT_ZONE = 0


def test_labels_of_cards_and_objectives_are_named() -> None:
    """With the words of the component file and their numbers, of which 0 is none."""
    layout = GAME.observation
    for name, words in (("game.who", WHO), ("game.what", WHAT), ("objectives.test", OBJECTIVE_ARGUMENTS)):
        listed = re.findall(r"(\d+) (\w+)", layout[name].meaning)
        assert [int(number) for number, _ in listed] == list(range(1, layout[name].high + 1))
        assert {word for _, word in listed} == set(words)


def test_when_fields_about_slots_are_written() -> None:
    """At the nodes that their meaning tells, and wherever a turn has conversions or allocations left; else they are
    0."""
    config = GAME.configure(2)
    fields = [field for field in config.observation if field.derived and "allocations are left" in field.meaning]
    assert {field.table for field in fields} == {"slots", "resources"}
    found = set()
    for position, _ in play(config, 1):
        own = config.observation.names(position.observe(position.seat))
        left = bool(own["game.conversions"][0] + own["game.allocations"][0])
        written = any(own[field.name].any() for field in fields)
        assert left <= written or position.over
        found.add((position.node, left, written))
    assert {(Node.PLACE, True, True), (Node.PLACE, False, False), (Node.MAIN_ACTION, False, True)} <= found


def test_deals_with_few_planets_near_sol() -> None:
    config = GAME.configure(1)
    zone, few = config.tables[0]["zone"], 0
    for seed in range(DEALS):
        places = np.array(Snapshot.deal(config, seed).state["planet_hex"])
        places = places[places > 0] - 1
        assert places.size == 18
        few += (zone[places] == SHORT_ZONE).sum() < 2
    assert f"deals of 18 planets about {100 * few / DEALS:.0f} % have fewer than two in the short zone" in " ".join(
        PAGE.read_text(encoding="utf-8").split()
    )
