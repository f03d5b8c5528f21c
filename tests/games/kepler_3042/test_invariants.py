"""Every invariant after every decision of random games: all player counts, options, the solo levels; and the seeding of
section 8.3."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kepler_envs
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.kepler_3042.state import NUM_PLANETS, Node
from tests.component_file import Rows, own_rows, write_rows
from tests.effort import DEEP, games_to_play
from tests.games.kepler_3042 import extremes
from tests.games.kepler_3042.component_numbers import numbers_of
from tests.games.kepler_3042.invariants import check_decision, check_invariants
from tests.games.kepler_3042.purposeful import purposeful
from tests.games.kepler_3042.scenario import GAME, MINE, NEIGHBOURS, SOL, Position, scenario

PLAYER_COUNTS = (1, 2, 3, 4)


def play_checked(config: Configuration, seed: int, share: float = 0.8) -> tuple[Snapshot, Counter[str]]:
    """Play a game to its end and check each position and decision; the last position and what happened."""
    choose, position = purposeful(seed, share), Snapshot.deal(config, seed)
    events: Counter[str] = Counter()
    check_invariants(position.state, config)
    own_turns: Counter[tuple[int, int]] = Counter()
    while not position.over:
        before, action = position, choose(position)
        events[before.node.name] += 1
        if before.node == Node.MAIN_ACTION and action < 10:
            own_turns[int(before.state["round_number"]), before.seat] += 1
        position = before.apply(action)
        check_decision(before.state, action, position.state, config)
        check_invariants(position.state, config)
    expected = {(number, seat): 1 for number in range(1, 17) for seat in range(config.num_players)}
    assert own_turns == expected, "invariant 15"
    return position, events


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_games_of_every_player_count(players: int) -> None:
    for seed in range(games_to_play(1)):
        play_checked(GAME.configure(players), seed)


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_solo_games_of_every_level(level: int) -> None:
    for campaign in range(5) if DEEP else (level, (level + 2) % 5):
        config = GAME.configure(
            1, campaign=campaign, level=level, bonus=3 * (level - 1), solo_planets=18 + campaign % 2 * 2
        )
        last, events = play_checked(config, 10 * campaign + level)
        assert events["SOLO_BONUS"] == 3 * (level - 1)
        assert len(Position.read(last.state).seats[0].objectives) == level


def test_advanced_objectives_and_wins() -> None:
    for seed in range(games_to_play(1)):
        config = GAME.configure(3, objectives="advanced", reward_mode="win")
        last, _ = play_checked(config, seed)
        dealt = [min(seat.objectives) for seat in Position.read(last.state).seats]
        assert len(set(dealt)) == 3 and min(dealt) > 10


def test_the_random_games_reach_what_they_are_for() -> None:
    """Every node, colonies, terraformed planets, taken targets, medals."""
    happened: Counter[str] = Counter()
    nodes = {node.name for node in Node} - {"OVER", "SOLO_BONUS"}
    for seed in range(40):
        if seed >= 3 and nodes <= set(happened):
            break
        last, events = play_checked(GAME.configure(3), 100 + seed, 0.9)
        happened += events
        position = Position.read(last.state)
        happened["colonies"] += len(position.owners())
        happened["terraformed"] += len(position.terraformed)
        happened["medals"] += sum(sum(seat.medals) for seat in position.seats)
    assert nodes <= set(happened), nodes - set(happened)
    assert happened["colonies"] > 5 and happened["terraformed"] > 0 and happened["medals"] > 5


def test_same_seed_and_ids_give_the_same_states() -> None:
    """Invariant 14."""
    config = GAME.configure(3)
    digests = []
    for _ in range(2):
        choose, position = purposeful(3), Snapshot.deal(config, 3)
        while not position.over:
            position = position.apply(choose(position))
        digests.append(position.digest())
    assert digests[0] == digests[1]


# ---------------------------------------------------------------- 8.3 seeding


@pytest.mark.parametrize(("options", "tiles"), [
    ({"num_players": 1}, 22), ({"num_players": 1, "solo_planets": 20}, 24), ({"num_players": 2}, 24),
    ({"num_players": 3}, 30),
    ({"num_players": 4}, 36),
])  # fmt: skip
def test_seeding(options: dict[str, Any], tiles: int) -> None:
    """10,000 seeds: all tiles placed beside stars in play, none beside another or Sol, the short zone face up."""
    config = GAME.configure(**options)
    numbers = numbers_of(config)
    setup = numbers.setup[config.num_players]
    in_play = [star for star, kind in numbers.stars.items() if kind in setup["star_kinds"]]
    sites = np.zeros(418, bool)
    sites[[place for star in in_play for place in NEIGHBOURS[star]]] = True
    adjacency = np.zeros((418, 418), np.int16)
    for place, others in NEIGHBOURS.items():
        adjacency[place, others] = 1
    short = np.array(numbers.zone) == 0
    count, firsts = 10_000, Counter()
    for first in range(0, count, 2500):  # in parts: an observation of each is 11 kB
        states = deals_from(config, first, 2500)
        body = states["body"] > 0
        assert (body.sum(axis=1) == tiles).all() and not body[:, ~sites].any()
        assert not (body & (body.astype(np.int16) @ adjacency > 0)).any(), "two tiles side by side"
        assert not body[:, NEIGHBOURS[SOL]].any()
        bits = np.unpackbits(np.ascontiguousarray(states["face_up"]).view(np.uint8), axis=1, bitorder="little")[:, :418]
        assert (bits.astype(bool) == (body & short)).all()
        counts = np.array([(states["body"] == number).sum(axis=1) for number in range(1, NUM_PLANETS + 3)])
        group = {"solo_planets": 2}.get(next(iter(set(options) - {"num_players"}), ""), config.num_players)
        for number, row in numbers.planet.items():
            assert (counts[number - 1] == (row["min_players"] <= group)).all()
        assert (counts[MINE - 1] == setup["mines"]).all() and (counts[MINE] == setup["colonial_targets"]).all()
        firsts.update(states["first"].tolist())
    spread = np.array([firsts[seat] for seat in range(config.num_players)])
    assert np.abs(spread / count - 1 / config.num_players).max() < 0.03


def test_few_solo_deals_lack_planets_in_the_short_zone() -> None:
    """Of 18 planets, the page says 3 %: Internal Logistics cannot be met there."""
    config = GAME.configure(1)
    states, short = deals_from(config, 0, 5000), np.array(numbers_of(config).zone) == 0
    planets = ((states["planet_hex"] > 0) & short[states["planet_hex"]]).sum(axis=1)
    assert (planets < 2).mean() == pytest.approx(0.034, abs=0.008)


def deals_from(config: Configuration, first: int, count: int) -> np.ndarray:
    batch = kepler_envs.make_batch(config.game.id, count, **config.describe())
    batch.reset(np.arange(first, first + count, dtype=np.uint64))
    return batch.states


def test_the_deal_is_fair() -> None:
    """Each planet lies on each side of the map equally often, and each card and objective comes as often as another."""
    states = deals_from(GAME.configure(2), 0, 2500)
    left = states["planet_hex"][:, 1:] % 22 < 11
    in_play = states["planet_hex"][0, 1:] > 0
    share = left[:, in_play].mean(axis=0)
    assert share.std() < 0.02, "planets differ in where they lie"
    cards = np.bincount(states["deck"].ravel(), minlength=19)[1:]
    assert np.abs(cards / 2500 - 16 / 18).max() < 0.03
    objectives = [np.log2(states["player"]["objectives"][:, seat]).astype(int) for seat in range(2)]
    for dealt in objectives:
        assert np.abs(np.bincount(dealt, minlength=10) / 2500 - 0.1).max() < 0.03
    assert (objectives[0] != objectives[1]).all()


# ---------------------------------------------------------------- other files


def changed_rows() -> Rows:
    """The game's own rows with Sol and a star elsewhere, other radii, medals on other spaces, and other numbers."""
    rows = own_rows("kepler_3042")
    signs = {place: sign for place, sign in enumerate("".join(row["hexes"] for row in rows["terrain"]))}
    for old, new in ((SOL, 187), (74, 75)):
        signs[old], signs[new] = ".", signs[old]
    for number, row in enumerate(rows["terrain"]):
        row["hexes"] = "".join(signs[22 * number + column] for column in range(22))
    other = {"short_radius": 5, "free_technologies": 3, "start_cube": 8, "ships_per_mission": 2, "reveals": 3,
             "exploration_speed": 1, "vp_mine": 3, "vp_max_technology": 1}  # fmt: skip
    for row in rows["numbers"]:
        row["value"] = other.get(row["name"], row["value"])
    rows["tracks"][0] |= {"medals": [1, 2, 5, 8, 19], "icons": [[1, 2], [2, 0], [5, 1]]}
    rows["tracks"][1] |= {"medals": [3, 4, 6, 9, 20], "vp": [space // 3 for space in range(21)]}
    for row in rows["bonus_actions"]:
        row["line"] = {"column": "row", "row": "column"}[row["line"]]
    for row in rows["progress_cards"][1:6]:
        row |= {"who": "fewest_colonies", "solo": True}
    for row in rows["technology_levels"]:
        row |= {"unlock": row["level"] - 1, "leadership": 1}
    return rows


@pytest.mark.parametrize("players", [1, 2])
def test_games_with_other_numbers(players: int, tmp_path: Path) -> None:
    """On another map; whom five cards are for includes the ghost, which never has a colony."""
    config = GAME.configure(players, components=write_rows(tmp_path / "other.toml", changed_rows()))
    assert config.tables[0]["sol"] == 187 and config.components_digest != GAME.configure(players).components_digest
    for seed in range(games_to_play(1)):
        last, _ = play_checked(config, seed, 0.9)
        assert not set(NEIGHBOURS[187]) & set(Position.read(last.state, config).tiles)


@pytest.mark.parametrize("kind", ["largest", "smallest"])
def test_games_with_extreme_files(kind: str, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "extreme.toml", getattr(extremes, kind)(2))
    play_checked(GAME.configure(2, path, **extremes.options(kind, 2)), 1)


# ---------------------------------------------------------------- the referee is not blind


@pytest.mark.parametrize(
    ("field", "place", "named"),
    [
        ("player.cubes", (0, 0, 0), "row 0: cubes is"),
        ("player.track", (1, 0), "row 1: track is"),
        ("player.ship", (2, 0), "row 2: ships is"),
        ("body", (100,), "tiles is"),
        ("face_up", (3,), "face_up is"),
        ("planet_terraformed", (4,), "terraformed is"),
        ("deck", (15,), "deck is"),
        ("card_medals", (1,), "card_medals is"),
        ("conversions", (), "conversions is"),
        ("flow", (), "flow is"),
        ("bonus_used", (), "bonus_used is"),
        ("decisions", (), "decisions is"),
        ("rng", (), "rng is"),
    ],
)
def test_a_broken_outcome_is_named(field: str, place: tuple[int, ...], named: str) -> None:
    """One entry of the state is one more than the rules say."""
    game = scenario(seats={0: {"tech": [0, 0, 1, 0, 0]}}, earth=[3, 3, 0]).play("main action Energy Storage")
    before, action = game.snapshot, GAME.actions.id_of("with Earth")
    after = before.apply(action)
    check_decision(before.state, action, after.state, after.config)
    states = after.states.copy()
    reduce(getitem, field.split("."), states)[(0, *place)] += 1
    with pytest.raises(AssertionError, match=named):
        check_decision(before.state, action, states[0], after.config)


@pytest.mark.parametrize("name", ["score_sheet", "objectives_done"])
def test_a_broken_score_is_named(name: str) -> None:
    """Infos are made of these."""
    config = GAME.configure(2)
    choose, after = purposeful(1), Snapshot.deal(config, 1)
    while not after.over:
        before, action = after, choose(after)
        after = before.apply(action)
    check_decision(before.state, action, after.state, config)
    states = after.states.copy()
    states["player"][name][0, 1] ^= 1
    with pytest.raises(AssertionError, match="infos of seat 1"):
        check_decision(before.state, action, states[0], config)


def test_a_broken_deal_is_named() -> None:
    config = GAME.configure(2)
    states = Snapshot.deal(config, 1).states.copy()
    states["player"]["action_cube"][0, 1] += 1
    with pytest.raises(AssertionError, match="seats at the deal"):
        check_invariants(states[0], config)
