"""What the derived fields say, in positions that can be worked out by hand, and where greedy players decide."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kepler_envs import Snapshot, bots
from kepler_envs.engine.batch import Batch
from kepler_envs.games.kepler_run.actions import CONTRACT, LOAD
from kepler_envs.games.kepler_run.state import Node
from tests.component_file import own_rows, write_rows
from tests.games.kepler_run.scenario import GAME, Seat, flight, scenario

RUN = [1, 13, 22, 24]  # types 0, 1, 2, 3; leaving costs 1, 2, 3, 1
STATION = 3  # places with one: card 13 and card 22


def seen(position: Snapshot) -> dict[str, np.ndarray]:
    return position.config.observation.names(position.observe(position.seat))


def test_fuel_to_places_uses_built_in_part_and_booster_where_they_save_most() -> None:
    at_port = seen(flight(RUN, Seat(ship=0, tank=4)))
    assert at_port["places.fuel"][:7].tolist() == [
        1,
        1,
        1,
        2,
        4,
        5,
        0,
    ]  # 1 + fuel; the booster goes to the third sector
    assert at_port["places.fuel"][7:].tolist() == [0] * 30
    used = seen(flight(RUN, Seat(ship=0, tank=4, place=2, booster_used=True)))
    assert used["places.fuel"][:7].tolist() == [0, 0, 1, 3, 0, 0, 0]


def test_the_dearest_plan_reaches_its_bound(tmp_path: Path) -> None:
    """The first of five players plans with 10 fuel in the tank, 10 on the ship, 4 more, and 7 for unknown sectors."""
    rows = own_rows("kepler_run")
    dear = {"boxes": 10, "start_modules": 10, "fuel_cap": 10, "rounds": 2, "initial_run": 4, "port_cost": 2}
    for row in rows["numbers"]:
        row["value"] = dear.get(row["name"], row["value"])
    for row in rows["seat_fuel"]:
        row["fuel"] = 10
    for row in rows["game_cards"]:
        row |= {"cost": 7, "type": 0}
    config = GAME.configure(5, write_rows(tmp_path / "dear.toml", rows), seat_fuel=True)
    dearest = max(int(seen(Snapshot.deal(config, seed))["places.fuel"].max()) for seed in range(4))
    assert dearest == 1 + 10 + 10 + 4 + 7 == config.observation["places.fuel"].high


def test_a_bypass_frees_the_booster() -> None:
    # part 0 bypasses type 1 for 1 dot: 0 + 0 + 1, and the booster 1 in the third sector
    assert seen(flight(RUN, Seat(ship=0, tank=4, parts=[0])))["places.fuel"][:7].tolist() == [1, 1, 1, 2, 3, 4, 0]


def test_a_sling_leads_two_places_on() -> None:
    # part 6 for 1 dot over places 2 and 3, which cost 5 without tools
    slung = seen(flight(RUN, Seat(ship=0, tank=4, parts=[6], booster_used=True)))["places.fuel"]
    assert slung[:7].tolist() == [1, 1, 1, 2, 2, 3, 0]


def test_the_way_of_the_best_flight_keeps_tools_for_later() -> None:
    ways = seen(flight(RUN, Seat(ship=4, tank=9, place=1, parts=[8])))  # part 8 bypasses type 2 for 1 dot
    assert ways["game.end"][0] == 6  # Kepler
    assert ways["ways.best"].tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0]  # 1 to leave; booster and part save more later
    assert ways["ways.behind"][0] == 0 < ways["ways.behind"][8]


def test_a_load_for_kepler_and_no_more() -> None:
    seats = Seat(ship=0, modules=1, tank=1, fuel=6, disks=0, contract=1), Seat(ship=4, contract=1)
    load = seen(scenario(RUN, *seats, node=Node.LOAD, draft_pos=4, completed_by=[None, None, None]))
    assert load["loads.possible"].tolist() == [1] * 7 + [0] * 4
    assert load["loads.enough"].tolist() == [0, 0, 0, 1] + [0] * 7  # 4 fuel lead to Kepler, 1 is in the tank
    assert load["loads.spare"][:7].tolist() == [-3, -2, -1, 0, 1, 2, 3]
    behind = load["loads.behind"]
    assert behind[3] == 0 and behind[4:7].tolist() == [44, 88, 132]  # 45 on the ship, 1 in the tank
    assert behind[:3].min() > 0
    assert load["players.reach"].tolist() == [5, 4, 0, 0, 0]
    assert load["players.icons"][:2].tolist() == [[1, 1, 2], [1, 1, 2]]


def test_a_discovery_with_a_station_beyond_the_run() -> None:
    draft = seen(scenario([1, 2], Seat(ship=0), Seat(ship=4), row=[5, 0, 10, 15, 20]))
    assert draft["row.as_sector"][0] >= draft["row.as_sector"][1]
    assert np.count_nonzero(draft["row.best"]) == 1
    assert draft["row.as_special"][2] == 0  # it has none
    assert draft["row.as_special"][1] > 0


def test_greedy_players_choose_what_is_not_behind() -> None:
    """Contracts and loads: greedy plans the same flights."""
    config = GAME.configure(4)
    batch, rows = Batch(config, 16, seed=5), np.arange(16)
    bot = bots.load("greedy", config)
    bot.start(rows, rows.astype(np.uint64))
    agree = {Node.CONTRACT: [], Node.LOAD: []}
    for _ in range(130):
        actions = np.asarray(bot.act(bots.protocol.TrustedDecisions(batch, rows)))
        names = config.observation.names(batch.observation)
        for row, node in enumerate(batch.states["node"]):
            if node == Node.CONTRACT:
                agree[Node.CONTRACT].append(names["contracts.behind"][row, actions[row] - CONTRACT] == 0)
            elif node == Node.LOAD:
                agree[Node.LOAD].append(names["loads.enough"][row, actions[row] - LOAD] == 1)
        batch.step(actions)
    for found in agree.values():
        assert len(found) > 50 and np.mean(found) > 0.9
