"""The test vectors of section 8 of the specification, and what they leave out: each rule with a position and what may
be done there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kepler_envs import KeplerEnv
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.kepler_3042.state import MOST_REWARDS, Node, Phase
from tests.component_file import write_rows
from tests.games.kepler_3042 import extremes
from tests.games.kepler_3042.invariants import check_decision, check_written
from tests.games.kepler_3042.purposeful import purposeful
from tests.games.kepler_3042.scenario import (
    ADVANCES,
    COLONIAL,
    DONE,
    GAME,
    MEDAL_SPACES,
    MINE,
    NEIGHBOURS,
    REGENERATE,
    SOL,
    TARGET,
    TECHNOLOGICAL,
    A,
    E,
    M,
    Play,
    Position,
    Seat,
    scenario,
    steps_between,
    to_hex,
)


@pytest.fixture(autouse=True)
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every decision of these positions is judged by the referee, too."""
    apply = Snapshot.apply

    def apply_and_judge(before: Snapshot, action: int) -> Snapshot:
        after = apply(before, action)
        check_decision(before.state, action, after.state, before.config)
        return after

    monkeypatch.setattr(Snapshot, "apply", apply_and_judge)


def test_ids_are_those_of_the_specification() -> None:
    """The other tests choose by texts."""
    first = {
        0: DONE, 1: "main action Space Missions", 10: "bonus action Space Logistics", 16: "advance Space Travels",
        21: "advance on the colonial track", 23: "with Earth", 29: "starship 1", 32: "choose energy",
        35: "burn energy from storage", 56: "convert energy on Earth into matter",
        59: "convert matter on colony 1 into energy",
        68: "allocate energy from Earth to colony 1", 158: to_hex(0), 158 + SOL: to_hex(SOL), 575: to_hex(417),
    }  # fmt: skip
    assert {action: GAME.actions.text(action) for action in first} == first


# ---------------------------------------------------------------- A to R: the rulebook's examples


def knowledge_for_everybody() -> Play:
    """Card 1 at the end of the last turn; seat 0 is first."""
    own = {"tech": [1, 0, 0, 1, 0], "track": [0, 2]}
    game = scenario(
        card=1, seats={0: own}, earth=[2, 1, 0], phase=Phase.CLEANUP, active=0, turn_index=4, beneficiaries={1, 2, 3},
        flow=Node.CARD_TECHNOLOGY,
    )  # fmt: skip
    assert game.legal() == {DONE, *ADVANCES}
    return game


def test_a_free_technology_burns_one_cube_less_than_its_new_level() -> None:
    """Vector A."""
    game = knowledge_for_everybody().play("advance Space Travels")
    assert game.node == Node.CARD_BURN and game.legal() == {
        "burn energy from storage",
        "burn matter from storage",
        "burn antimatter from storage",
        "burn energy from Earth",
        "burn matter from Earth",
    }
    game.play("burn energy from storage")
    own = game.own
    assert own.tech[0] == 2 and own.pit == [1, 0, 0] and own.storage == [4, 6, 3]
    assert own.track[TECHNOLOGICAL] == 3
    assert (game.node, game.seat, game.position.rewards) == (Node.REWARD_PRODUCTION, 0, [(0, E)])
    assert game.legal() == {DONE, "with Earth"}


def test_a_first_level_of_a_card_burns_nothing() -> None:
    """Vector A."""
    game = knowledge_for_everybody().play("advance Quantum Physics")
    own = game.own
    assert own.tech == [1, 1, 0, 1, 0] and own.pit == [0, 0, 0] and own.track[TECHNOLOGICAL] == 2
    assert (game.node, game.seat) == (Node.CARD_TECHNOLOGY, 1)


def test_the_progress_card_follows_the_last_turn() -> None:
    """The same, reached by ending the turn of the last seat."""
    own = {"tech": [1, 0, 0, 1, 0], "track": [0, 2]}
    others = {seat: {} for seat in (1, 2, 3)}
    game = scenario(card=1, seats={0: own, **others}, earth=[2, 1, 0], active=3, turn=3, turn_index=3)
    game.play("main action Colony Seeding").pass_to(Node.CARD_TECHNOLOGY)
    assert game.seat == 0 and game.position.phase == Phase.CLEANUP and game.position.beneficiaries == {1, 2, 3}
    assert game.legal() == {DONE, *ADVANCES}


def test_a_starship_stands_beside_the_planet_that_paid() -> None:
    """Vector B."""
    game = scenario(earth=[3, 3, 0], colonies={19: [2, 2, 0]})
    around = NEIGHBOURS[game.position.hex_of(19)]
    game.play("main action Space Missions")
    assert game.node == Node.SPACE_MISSIONS and game.legal() == {DONE, "with Earth", "with colony 1"}
    game.play("with Earth")
    assert game.legal() == {to_hex(place) for place in NEIGHBOURS[SOL]}
    game.play(to_hex(NEIGHBOURS[SOL][0]), "with colony 1")
    assert game.legal() <= {to_hex(place) for place in around}
    game.play_first()
    own = game.own
    assert own.cubes[0] == [2, 2, 0] and own.cubes[1] == [1, 1, 0] and own.storage == [4, 4, 3]
    assert own.ships.count(None) == 1


def seeding(antimatter_science: int) -> Play:
    game = scenario()
    where = [game.position.hex_of(planet) for planet in (22, 26)]
    own = {"tech": [0, 0, 0, 0, antimatter_science], "ships": [*where, None], "track": [4, 0], "pit": [1, 0, 0]}
    medals = [{7, 10, 13, 16}, set(MEDAL_SPACES)]
    return scenario(seats={0: own}, up=(22, 26), track_medals=medals).play("main action Colony Seeding")


def test_colonies_bring_leadership_medals_and_rewards() -> None:
    """Vector C."""
    game = seeding(3)
    assert game.node == Node.COLONY_SEEDING and game.legal() == {DONE, "starship 1", "starship 2"}
    game.play("starship 1", "starship 2")
    own, position = game.own, game.position
    assert own.planets == [22, 26] and own.track[COLONIAL] == 7 and own.ships == [None] * 3
    assert position.card_medals == [1, 0] and 7 not in position.track_medals[COLONIAL]
    assert game.node == Node.REWARD_REGENERATION and game.legal() == {DONE, "choose energy"}
    assert game.play("choose energy").own.pit == [0, 0, 0]


def test_an_alien_planet_needs_antimatter_science() -> None:
    """Vector C."""
    assert seeding(2).legal() == {DONE, "starship 1"}


def test_technologies_are_paid_by_one_card_and_bring_leadership() -> None:
    """Vector D and D2."""
    game = scenario(earth=[3, 0, 1]).play("main action Technological Development")
    assert game.node == Node.TECHNOLOGICAL_DEVELOPMENT
    game.play("advance Antimatter Science")  # Earth is the only card that can pay: DEVELOPMENT_PAYMENT is not asked
    own = game.own
    assert own.tech[4] == 1 and own.cubes[0] == [2, 0, 1] and own.track[TECHNOLOGICAL] == 0
    game.play("advance Antimatter Science")
    own = game.own
    assert own.tech[4] == 2 and own.cubes[0] == [0, 0, 0] and own.storage == [7, 7, 3] and own.track[TECHNOLOGICAL] == 1


def test_payment_is_asked_for_two_payers() -> None:
    game = scenario(earth=[1, 0, 0], colonies={19: [1, 0, 0]}).play(
        "main action Technological Development", "advance Antimatter Science"
    )
    assert game.node == Node.DEVELOPMENT_PAYMENT and game.legal() == {"with Earth", "with colony 1"}
    own = game.play("with colony 1").own
    assert own.cubes[0] == [1, 0, 0] and own.cubes[1] == [0, 0, 0] and own.tech[4] == 1


def terraforming(level: int) -> Play:
    return scenario(
        seats={0: {"tech": [0, 0, 0, level, 0], "action_cube": 0}}, colonies={2: [1, 0, 0], 5: [1, 1, 0]}
    ).play("main action Terraforming")  # fmt: skip


def test_terraforming_is_paid_by_the_planets_own_card() -> None:
    """Vector E."""
    game = terraforming(2)
    assert game.node == Node.TERRAFORMING and game.legal() == {DONE, "with colony 1", "with colony 2"}
    game.play("with colony 1", "with colony 2")
    own = game.own
    assert game.position.terraformed == {2, 5} and own.cubes == [[0] * 3] * 6 and own.track[COLONIAL] == 3
    assert game.node == Node.REWARD_PRODUCTION and game.position.rewards == [(0, M)]


def test_terraforming_needs_the_level_of_the_planet() -> None:
    """Vector E."""
    assert terraforming(1).legal() == {DONE, "with colony 1"}


def test_galactic_mapping_is_a_step_and_four_tiles() -> None:
    """Vector F."""
    game = scenario()
    position = game.position
    hidden = set(position.tiles) - position.face_up
    bodies = (4, 25, MINE, TARGET)
    chosen = [min(place for place in position.tiles if position.tiles[place] == body) for body in bodies]
    game = scenario(face_up=position.face_up - set(chosen)).play(
        "main action Galactic Mapping", "advance on the technological track"
    )
    before = set(game.position.tiles) - game.position.face_up
    assert game.node == Node.MAPPING_TILE and game.legal() == {to_hex(place) for place in before}
    assert before == hidden | set(chosen) and game.own.track[TECHNOLOGICAL] == 1
    game.play(*(to_hex(place) for place in chosen))
    assert set(game.position.tiles) - game.position.face_up == before - set(chosen)
    assert game.node == Node.BONUS_ACTION


def test_energy_storage_fills_one_card_as_far_as_storage_goes() -> None:
    """Vector G."""
    own = {"tech": [0, 0, 3, 0, 0], "storage": [3, 7, 3]}
    game = scenario(seats={0: own}, earth=[3, 0, 0], colonies={5: [1, 0, 0]}).play("main action Energy Storage")
    assert game.node == Node.ENERGY_STORAGE and game.legal() == {DONE, "with Earth", "with colony 1"}
    own = game.play("with colony 1").own
    assert own.cubes[1] == [4, 0, 0] and own.storage[E] == 0


def test_planetary_exploitation_takes_as_many_planets_as_terraforming_says() -> None:
    """Vector H."""
    own = {"tech": [0, 0, 0, 3, 0]}
    colonies = {21: [0, 0, 0], 22: [0, 0, 0], 3: [0, 0, 0]}
    game = scenario(seats={0: own}, colonies=colonies).play("main action Planetary Exploitation")
    assert game.node == Node.PLANETARY_EXPLOITATION and game.legal() == {
        DONE,
        "with colony 1",
        "with colony 2",
        "with colony 3",
    }
    game.play("with colony 1", "with colony 2")
    own = game.own
    assert own.cubes[1] == [1, 2, 0] and own.cubes[2] == [1, 3, 0] and own.storage == [5, 2, 3]
    assert game.node == Node.BONUS_ACTION, "the third slot is not offered"


def test_antimatter_generation_fills_one_card() -> None:
    """Vector I."""
    game = scenario(seats={0: {"tech": [0, 0, 0, 0, 3]}}, earth=[3, 3, 0]).play(
        "main action Antimatter Generation", "with Earth"
    )
    own = game.own
    assert own.cubes[0] == [3, 3, 2] and own.storage[A] == 1


def test_each_bonus_action_burns_a_cube() -> None:
    """Vector J."""
    game = scenario(earth=[3, 3, 0], colonies={19: [1, 0, 0]}).play("main action Space Missions", DONE)
    assert game.node == Node.BONUS_ACTION and game.legal() == {
        DONE,
        "bonus action Space Logistics",
        "bonus action Civil Modernity",
    }
    game.play("bonus action Space Logistics")
    assert game.node == Node.BONUS_BURN
    game.play("burn energy from colony 1")
    assert game.node == Node.PLACE
    game.play_first().play("bonus action Civil Modernity", "burn matter from storage")
    own = game.own
    assert own.pit == [1, 1, 0] and own.storage == [3, 3, 3] and own.track[COLONIAL] == 1
    assert sum(place is not None for place in own.ships) == 1


def moving(level: int, ships: list[int | None], bodies: dict[int, int]) -> Play:
    own = {"tech": [level, 0, 0, 0, 0], "ships": ships}
    return scenario(seats={0: own}, bodies=bodies, flow=Node.MOVEMENT, source=2, speed=level)


def test_starships_move_as_far_as_space_travels_says() -> None:
    """Vector K: the destination tells which starship is meant, if only one can go there."""
    game = moving(3, [145, 191, 102], {148: 27, 193: MINE})
    assert game.legal() > {DONE, to_hex(148), to_hex(193), to_hex(37)}
    game.play(to_hex(148), "starship 1", to_hex(193), to_hex(37))  # all three could reach the planet
    assert game.own.ships == [148, 193, 37] and game.node == Node.WITHDRAWAL
    zone = game.snapshot.config.tables[0]["zone"]
    assert (int(zone[102]), int(zone[37])) == (1, 2)


def test_a_colonial_target_is_taken_on_the_way() -> None:
    """Vector K: the target is removed, a step on the colonial track, and the starship has a space left."""
    game = moving(3, [None, None, 237], {239: TARGET})
    game.play(to_hex(239))
    assert not game.position.tiles and game.own.track[COLONIAL] == 1
    assert game.node == Node.GOING_ON and game.position.points == 1
    assert game.legal() == {DONE, to_hex(216), to_hex(217), to_hex(238), to_hex(260), to_hex(261)}
    game.play(DONE)
    assert game.own.ships[2] == 239 and game.node == Node.WITHDRAWAL


def test_the_starship_is_asked_for_where_several_can_go() -> None:
    """Two starships can reach the mine, the third cannot; either may go, and the others move afterwards."""
    for chosen in (1, 2):
        game = moving(2, [145, 147, 300], {146: MINE}).play(to_hex(146))
        assert game.node == Node.MOVER and game.legal() == {"starship 1", "starship 2"}
        game.play(f"starship {chosen}")
        assert game.own.ships[chosen - 1] == 146 and game.own.ships[2 - chosen] == (147, 145)[chosen - 1]
        assert game.node == Node.MOVEMENT and game.position.moved == {chosen - 1}
        assert to_hex(146) not in game.legal()


def test_a_starship_is_withdrawn_instead_of_further_moves() -> None:
    """In step 2c only; it ends the moves, and further starships may be withdrawn."""
    game = moving(2, [145, 147, None], {})
    assert {"starship 1", "starship 2", DONE} < game.legal()
    game.play("starship 2")
    assert game.node == Node.WITHDRAWAL and game.legal() == {DONE, "starship 1"}
    assert game.play("starship 1").seat == 1 and game.own.ships == [None] * 3
    by_action = scenario(seats={0: {"tech": [2, 0, 0, 0, 0], "ships": [145, 147, None]}})
    by_action.play("main action Stellar Propulsion")
    assert by_action.node == Node.MOVEMENT and "starship 1" not in by_action.legal()


def test_declining_the_moves_ends_the_turn() -> None:
    """Withdrawals were offered with them, and cubes could be converted."""
    own = {"tech": [2, 1, 0, 0, 0], "ships": [145, None, None]}
    game = scenario(seats={0: own}, earth=[1, 0, 0], flow=Node.MOVEMENT, source=2, speed=2)
    assert "convert energy on Earth into matter" in game.legal()
    assert game.play(DONE).seat == 1 and game.node == Node.MAIN_ACTION


def test_a_starship_that_cannot_move_is_withdrawn_instead_of_a_bonus_action() -> None:
    """A starship on a mine does not move, so declining the bonus actions ends the turn, and withdrawing is offered with
    them."""
    own = {"tech": [2, 0, 0, 0, 0], "ships": [193, None, None], "pit": [0, 1, 0]}
    game = scenario(seats={0: own}, bodies={193: MINE}).play("main action Colony Seeding")
    assert game.node == Node.BONUS_ACTION and "starship 1" in game.legal()
    after = Play(game.snapshot).play("starship 1")
    assert after.node == Node.REWARD_REGENERATION and after.own.ships == [None] * 3
    after.play("choose matter")
    assert after.seat == 1 and after.own.pit == [0, 0, 0]
    assert game.play(DONE).seat == 1 and game.own.ships[0] == 193


def test_the_end_of_the_turn_is_asked_for_where_cubes_have_come_since() -> None:
    """The last starship takes a target; the reward of the track's third space can be converted before the turn ends."""
    own = {"tech": [1, 1, 0, 0, 0], "ships": [237, None, None], "track": [2, 0], "storage": [4, 7, 3]}
    game = scenario(seats={0: own}, bodies={238: TARGET}, flow=Node.MOVEMENT, source=2, speed=1).play(to_hex(238))
    assert game.node == Node.REWARD_PRODUCTION
    game.play("with Earth")
    assert game.node == Node.WITHDRAWAL and "convert matter on Earth into energy" in game.legal()
    game.play("starship 1")
    assert game.node == Node.END_OF_TURN and DONE in game.legal()
    assert game.play(DONE).seat == 1


def test_withdrawal_from_a_mine_regenerates_a_cube() -> None:
    """Vector L."""
    own = {"ships": [193, None, None], "pit": [0, 1, 0]}
    game = scenario(seats={0: own}, bodies={193: MINE}, flow=Node.WITHDRAWAL)
    before = game.own.storage
    game.play("starship 1")
    assert game.node == Node.REWARD_REGENERATION and game.legal() == {DONE, "choose matter"}
    own = game.play("choose matter").own
    assert own.pit == [0, 0, 0] and own.storage == [before[0], before[1] + 1, before[2]] and own.ships == [None] * 3


def test_medals_go_to_whoever_is_furthest() -> None:
    """Vector M."""
    tracks = {0: [9, 3], 1: [4, 8], 2: [5, 2], 3: [6, 8]}
    seats = {seat: {"track": spaces} for seat, spaces in tracks.items()}
    game = scenario(
        seats=seats, card=2, card_medals=[1, 2], active=3, turn=3, turn_index=3, flow=Node.END_OF_TURN,
        track_medals=[{10, 13, 16}, {10, 13, 16}], phase=Phase.CLEANUP, beneficiaries=set(),
    )  # fmt: skip
    # a card for nobody is left: its last beneficiary declines
    position = game.position
    position.flow = position.node = Node.PLACE
    position.source, position.active, position.turn = 3, 3, 3
    game = Play(position.write(game.snapshot.config)).play(DONE)
    assert [seat.medals for seat in game.position.seats] == [[1, 0], [0, 2], [0, 0], [0, 2]]
    assert game.position.card_medals == [0, 0] and game.position.round == 2 and game.position.first == 3


def test_a_level_can_bring_two_steps_of_leadership() -> None:
    """Vector N: two steps of technological leadership: Genesis Protocol brings two."""
    own = {"tech": [0, 0, 0, 3, 0], "track": [0, 8]}
    medals = [set(MEDAL_SPACES), {13, 16}]
    game = scenario(
        seats={0: own, **{seat: {"tech": [0, 0, 0, 2, 0]} for seat in (1, 2, 3)}}, earth=[2, 2, 1], track_medals=medals
    ).play("main action Technological Development", "advance Terraforming")  # fmt: skip
    assert game.own.track[TECHNOLOGICAL] == 10 and game.position.card_medals == [0, 0]
    assert (
        game.node == Node.REWARD_PRODUCTION
        and game.position.rewards == [(0, E)]
        and game.legal() == {DONE, "with Earth"}
    )
    assert game.play("with Earth").own.cubes[0] == [1, 0, 0]


def test_the_first_at_level_three_raises_everybody_to_level_one() -> None:
    """Vector O."""
    levels = (2, 0, 1, 1)
    seats = {seat: {"tech": [0, 0, 0, level, 0]} for seat, level in enumerate(levels)}
    game = scenario(seats=seats, earth=[2, 1, 0])
    before = game.position.seats
    game.play("main action Technological Development", "advance Terraforming")
    after = game.position.seats
    assert [seat.tech[3] for seat in after] == [3, 1, 1, 1] and after[0].track[TECHNOLOGICAL] == 1
    for number in (2, 3):
        assert after[number] == before[number]
    before[1].tech[3] = 1
    assert after[1] == before[1]


def solo(campaign: int, level: int, **changes: Any) -> Play:
    return scenario(config=GAME.configure(1, campaign=campaign, level=level), **changes)


def finished(position: Position, config: Any) -> Snapshot:
    """The last card's last beneficiary declines in round 16: the game is over."""
    position.round, position.phase, position.flow = 16, Phase.CLEANUP, Node.CARD_PRODUCTION
    position.node, position.source, position.beneficiaries = Node.CARD_PRODUCTION, 0, set()
    others = [other for other in range(1, 19) if other not in (2, 9)]
    position.deck = [*others[:15], 9]
    position.active = position.turn = len(position.seats) - 1
    position.turn_index = len(position.seats)
    return Play(position.write(config)).play(DONE).snapshot


def test_points_above_the_minimum_bring_bonus_cubes() -> None:
    """57 points at level 2 are 17 above the minimum: three bonus cubes, and two antimatter at level 3."""
    game = solo(1, 2)
    position = game.position
    own = position.seats[0]
    own.objectives = {6, 7}
    own.tech, own.track, own.medals = [4, 4, 4, 4, 0], [20, 20], [4, 5]
    own.cubes[0], own.storage = [0, 0, 3], [7, 7, 1]
    planets = [planet for planet in position.tiles.values() if planet < MINE][:4]
    own.planets = planets
    position.face_up |= {position.hex_of(planet) for planet in planets}
    end = finished(position, game.snapshot.config)
    points = int(end.results()[1][0])
    own.medals = [own.medals[0] + 57 - points, own.medals[1]]
    end = finished(position, game.snapshot.config)
    info = GAME.info(end.state, end.config.tables[0], 0)
    assert info["final_vp"] == 57 and info["success"] and end.results()[2].tolist() == [1.0]
    assert (info["next_level"], info["next_bonus"]) == (3, 3)
    following = GAME.configure(1, campaign=1, level=3, bonus=3)
    start = Play(Snapshot.deal(following, 5))
    for kind in ("choose energy", "choose matter", "choose energy"):
        assert start.node == Node.SOLO_BONUS and start.legal() == {"choose energy", "choose matter"}
        start.play(kind)
    own = start.own
    assert start.node == Node.FIRST_TECHNOLOGY and own.cubes[0] == [2, 1, 2] and own.total() == [9, 8, 5]


def satisfied_objectives(game: Play) -> list[int]:
    """Those that the observation of seat 0 shows as satisfied."""
    shown = game.snapshot.config.observation["objectives.satisfied"].view(game.snapshot.observe(0))
    return [1 + number for number, there in enumerate(shown) if there]


@pytest.mark.parametrize("points", [49, 50])
def test_a_level_needs_its_objectives_and_its_points(points: int) -> None:
    """Vector Q: two terraformed planets satisfy three objectives; success needs fifty points, too."""
    game = solo(0, 3, seats={0: {"tech": [0, 0, 0, 4, 0], "action_cube": 0}})
    position = game.position
    long_zone = sorted(set(position.tiles), key=lambda place: -steps_between(place, SOL))
    places = [place for place in long_zone if position.tiles[place] < MINE][:2]
    by_number = {number: position.hex_of(number) for number in (2, 3)}
    for number, place in zip((3, 2), places, strict=True):  # rocky planet 3 far out, oceanic 2 anywhere
        other = position.tiles[place]
        position.tiles[place], position.tiles[by_number[number]] = number, other
        by_number = {key: position.hex_of(key) for key in (2, 3)}
    position.face_up |= {position.hex_of(2), position.hex_of(3)}
    own = position.seats[0]
    own.planets, own.cubes[1], own.cubes[2] = [2, 3], [1, 0, 0], [1, 0, 0]
    own.storage = [5, 7, 4]
    own.objectives = {1, 2, 3}
    game = Play(position.write(game.snapshot.config))
    assert satisfied_objectives(game) == []
    game.play("main action Terraforming", "with colony 1", "with colony 2")
    assert satisfied_objectives(game) == [1, 2, 3]
    position = game.position
    position.rewards = []
    position.seats[0].medals = [0, 0]
    position.seats[0].medals[0] += points - int(finished(position, game.snapshot.config).results()[1][0])
    end = finished(position, game.snapshot.config)
    assert end.results()[1].tolist() == [points]
    assert end.results()[2].tolist() == [1.0 if points >= 50 else -1.0]


def test_a_conversion_between_two_productions_makes_room_in_storage() -> None:
    """Vector R."""
    own = {"tech": [0, 1, 0, 3, 0], "storage": [3, 3, 3]}
    game = scenario(seats={0: own}, earth=[4, 4, 0], colonies={18: [0, 0, 0], 19: [0, 0, 0]})
    game.play(
        "main action Planetary Exploitation", "with colony 1", "convert matter on colony 1 into energy", "with colony 2"
    )
    own = game.own
    assert own.cubes[1] == [2, 1, 0] and own.cubes[2] == [1, 2, 0] and own.storage[:2] == [0, 0]


# ---------------------------------------------------------------- 8.1 scoring


def scored(seats: dict[int, Seat], terraformed: set[int], zones: dict[int, int], players: int = 2) -> Snapshot:
    """A finished game with these players; ``zones``: planet -> zone it lies in."""
    config = GAME.configure(players)
    position = Position.read(Snapshot.deal(config, 1).state)
    table = config.tables[0]
    position.tiles, position.face_up = {}, set()
    sites = {
        zone: [h for h in range(418) if table["zone"][h] == zone and table["terrain"][h] == 0] for zone in range(3)
    }
    for planet, zone in zones.items():
        position.tiles[sites[zone].pop()] = planet
    for number, seat in seats.items():
        seat.objectives = seat.objectives or position.seats[number].objectives
        for index, place in enumerate(seat.ships):
            if place == MINE:
                seat.ships[index] = sites[0].pop()
                position.tiles[seat.ships[index]] = MINE
        seat.storage = [0, 0, 0]
        position.seats[number] = seat
    position.face_up = set(position.tiles)
    position.terraformed = terraformed
    return finished(position, config)


def test_every_term_of_the_final_score() -> None:
    """Vector S1."""
    own = Seat(
        tech=[4, 1, 3, 3, 3], track=[15, 11], medals=[1, 2], planets=[2, 5, 18, 22, 26], ships=[MINE, None, None],
        objectives={8}, cubes=[[0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]],
    )  # fmt: skip
    end = scored({0: own}, {2, 5, 18}, {2: 0, 5: 1, 18: 1, 22: 2, 26: 2})
    assert end.results()[1][0] == 57
    info = GAME.info(end.state, end.config.tables[0], 0)
    terms = {name: points for name, points in info.items() if name.startswith("vp_")}
    assert terms == {
        "vp_antimatter": 2, "vp_all_five_types": 5, "vp_three_of_a_type": 0, "vp_mines": 2, "vp_maximum_technology": 2,
        "vp_medals": 3, "vp_zones": 11, "vp_tracks": 12, "vp_terraformed_planets": 15, "vp_objective": 5,
    }  # fmt: skip
    assert info["final_vp"] == 57 and info["objective_done"] and info["round"] == 16


def test_three_colonies_of_a_type_and_an_objective() -> None:
    """Vector S2."""
    own = Seat(tech=[2, 1, 2, 2, 0], track=[6, 4], planets=[3, 6, 10], objectives={14})
    end = scored({0: own}, {3, 6}, {3: 0, 6: 1, 10: 1})
    info = GAME.info(end.state, end.config.tables[0], 0)
    assert info["final_vp"] == 28 and info["vp_three_of_a_type"] == 3 and info["vp_objective"] == 7


def scored_alone(planets: list[int], terraformed: set[int], objective: int) -> dict[str, Any]:
    """The terms of a player with all antimatter on Earth, and with these colonies in the short zone."""
    own = Seat(planets=planets, objectives={objective}, cubes=[[0, 0, 3], *[[0, 0, 0]] * 5])
    end = scored({0: own}, terraformed, dict.fromkeys(planets, 0))
    return GAME.info(end.state, end.config.tables[0], 0)


def test_earth_is_no_colony() -> None:
    """Antimatter on it counts, but Earth itself is in no zone and of no type, and it was not terraformed."""
    alone = scored_alone([], set(), 7)
    assert (alone["final_vp"], alone["vp_antimatter"], alone["vp_objective"]) == (8, 3, 5)
    assert scored_alone([3, 6], {3, 6}, 14)["vp_three_of_a_type"] == 0, "Earth would be the third rocky planet"
    for planets, points in (([3], 0), ([3, 5], 7)):
        found = scored_alone(planets, set(planets), 11)  # two terraformed planets in the short zone
        assert (found["vp_zones"], found["vp_objective"]) == (len(planets), points)
    assert scored_alone([1, 2, 3, 5], set(), 13)["vp_objective"] == 0, "five colonies"


def tied(points: list[int], highest: list[int | None]) -> Snapshot:
    """Players with these points, of which a terraformed planet has that number."""
    seats, zones, terraformed = {}, {}, set()
    for number, planet in enumerate(highest):
        seats[number] = Seat(planets=[planet] if planet else [], objectives={13})
        if planet:
            zones[planet] = 0
            terraformed.add(planet)
    first = scored({number: seat for number, seat in seats.items()}, terraformed, zones, len(points))
    for number, seat in seats.items():
        seat.medals = [points[number] - int(first.results()[1][number]), 0]
    return scored(seats, terraformed, zones, len(points))


def test_ties_are_broken_by_the_highest_terraformed_planet() -> None:
    """Vector S3."""
    end = tied([57, 57, 40, 30], [18, 22, None, None])
    places, scores, returns = (values.tolist() for values in end.results())
    assert scores == [57, 57, 40, 30] and places == [2, 1, 3, 4]
    assert returns == pytest.approx([1 / 3, 1, -1 / 3, -1])
    places, _, returns = (values.tolist() for values in tied([57, 57, 40, 30], [None] * 4).results())
    assert places == [1, 1, 3, 4] and returns == pytest.approx([2 / 3, 2 / 3, -1 / 3, -1])
    places, _, returns = (values.tolist() for values in tied([33, 33], [None, None]).results())
    assert places == [1, 1] and returns == [0, 0]


def test_points_at_the_start_are_the_antimatter_of_the_level() -> None:
    """Vector S4."""
    for players in (2, 3, 4):
        assert Snapshot.deal(GAME.configure(players), 3).results()[1].tolist() == [0] * players
    for level in (1, 2, 3, 4):
        assert Snapshot.deal(GAME.configure(1, level=level), 3).results()[1].tolist() == [level - 1]


# ---------------------------------------------------------------- rulings that no vector covers


def test_theory_of_everything_burns_once() -> None:
    game = scenario(seats={0: {"tech": [0, 0, 4, 0, 0]}}, earth=[3, 3, 0]).play("main action Space Missions", DONE)
    game.play("bonus action Civil Modernity", "burn energy from storage")
    assert game.position.second_free == 1 and game.own.pit == [1, 0, 0]
    game.play("bonus action Space Logistics")
    assert game.node == Node.PLACE
    game.play_first()
    assert game.own.pit == [1, 0, 0] and game.position.second_free == 0


def test_wormhole_stabilizer_makes_starships_cheap() -> None:
    game = scenario(seats={0: {"tech": [4, 0, 0, 0, 0]}}, earth=[1, 0, 0]).play(
        "main action Space Missions", "with Earth"
    )
    assert game.own.cubes[0] == [0, 0, 0] and game.own.storage == [7, 7, 3]


def test_conversions_grow_with_the_technology() -> None:
    """What was used of the old level stays used; the difference comes at once."""
    own = {"tech": [0, 2, 0, 0, 0]}
    game = scenario(seats={0: own}, earth=[3, 3, 0], conversions=0, allocations=1).play(
        "main action Technological Development", "advance Quantum Physics"
    )
    position = game.position
    assert position.seats[0].tech[1] == 3 and (position.conversions, position.allocations) == (1, 2)


def test_sixth_colony_is_impossible() -> None:
    numbers = (1, 2, 3, 4, 5)
    game = scenario()
    place = game.position.hex_of(6)
    full = scenario(
        seats={0: {"ships": [place, None, None]}}, up=(6,), colonies={number: [0, 0, 0] for number in numbers}
    ).play("main action Colony Seeding")
    assert full.node != Node.COLONY_SEEDING


def test_a_mapping_is_a_unit() -> None:
    """Declined, there is neither a step nor a tile."""
    game = scenario().play("main action Galactic Mapping", DONE)
    assert game.own.track == [0, 0] and game.node == Node.BONUS_ACTION
    game = scenario().play("main action Galactic Mapping", "advance on the colonial track")
    assert game.node == Node.MAPPING_TILE and DONE not in game.legal()


def test_rewards_of_others_come_after_the_own_one() -> None:
    """A collaboration that takes three players over an icon at once."""
    seats = {0: {"tech": [3, 0, 0, 0, 0], "track": [0, 2]}, 2: {"track": [0, 2]}, 3: {"track": [0, 2]}}
    game = scenario(seats={**seats, 1: {"tech": [2, 0, 0, 0, 0]}}, earth=[3, 3, 1]).play(
        "main action Technological Development", "advance Space Travels"
    )
    assert game.position.rewards == [(0, E), (2, E), (3, E)]
    assert [seat.tech[0] for seat in game.position.seats] == [4, 2, 2, 2]
    assert (game.node, game.seat) == (Node.REWARD_PRODUCTION, 0)
    game.play("with Earth")
    assert (game.node, game.seat, game.legal()) == (Node.REWARD_PRODUCTION, 2, {DONE, "with Earth"})
    game.play(DONE)
    assert (game.node, game.seat) == (Node.REWARD_PRODUCTION, 3)
    game.play("with Earth")
    assert game.seat == 0


def test_most_rewards_wait_in_their_order(tmp_path: Path) -> None:
    """An icon on every space: three for the own level, nine for each of the others, who catch up three levels."""
    config = GAME.configure(4, write_rows(tmp_path / "extreme.toml", extremes.largest(4)))
    game = scenario(config=config, seats={0: {"tech": [3, 0, 0, 0, 0]}}, earth=[0, 0, 0]).play(
        "main action Technological Development", "advance Space Travels"
    )
    kinds = [M, REGENERATE, E]  # of the spaces 1, 2, 3, and so on
    waiting = [(seat, kinds[space % 3]) for seat, spaces in ((0, 3), (1, 9), (2, 9), (3, 9)) for space in range(spaces)]
    assert len(waiting) == MOST_REWARDS and game.position.rewards == waiting
    assert [seat.track[TECHNOLOGICAL] for seat in game.position.seats] == [3, 9, 9, 9]
    asked = []
    while game.node == Node.REWARD_PRODUCTION:
        asked.append(game.seat)
        game.play("with Earth")
    assert asked == [seat for seat, kind in waiting if kind != REGENERATE] and game.seat == 0
    assert [seat.cubes[0] for seat in game.position.seats] == [[1, 1, 0], *[[3, 3, 0]] * 3]
    check_written(game.position, game.snapshot.state, config)


def test_a_reward_that_brings_nothing_is_lost() -> None:
    own = {"track": [5, 0]}
    game = scenario(seats={0: own}).play("main action Galactic Mapping", "advance on the colonial track")
    assert game.node == Node.MAPPING_TILE and game.own.track[COLONIAL] == 6, "the pit is empty: no regeneration"


def test_a_reward_is_lost_even_where_a_conversion_could_bring_its_cube() -> None:
    """The energy that terraforming frees could be changed into a matter on Earth, but that comes too late."""
    own = {"tech": [0, 1, 0, 1, 0], "track": [2, 0], "storage": [0, 0, 3], "pit": [3, 6, 0], "action_cube": 0}
    game = scenario(seats={0: own}, earth=[3, 1, 0], colonies={2: [1, 0, 0]}).play("main action Terraforming")
    assert not any(text.startswith("convert") for text in game.legal()), "nor can it come before"
    game.play("with colony 1")
    assert game.own.track[COLONIAL] == 3 and game.own.storage == [1, 0, 3]
    assert game.position.rewards == [] and "convert matter on Earth into energy" in game.legal()


def test_placing_with_no_free_hex_beside_the_planet() -> None:
    """The nearest free hexes are offered."""
    ring = NEIGHBOURS[SOL]
    seats = {0: {}, 1: {"ships": ring[:3]}, 2: {"ships": ring[3:]}}
    game = scenario(seats=seats, earth=[1, 1, 0]).play("main action Space Missions", "with Earth")
    assert DONE not in game.legal() and {steps_between(place, SOL) for place in game.places()} == {2}


def test_starships_do_not_block_but_tiles_do() -> None:
    """A ring of starships can be crossed; a tile that is face down can neither be entered nor crossed."""
    ring = NEIGHBOURS[100]
    game = moving(2, [100, *ring[:2]], {})
    position = game.position
    position.seats[1].ships, position.seats[2].ships[0] = ring[2:5], ring[5]
    position.moved = {1, 2}
    game = Play(position.write(game.snapshot.config))
    assert {steps_between(100, place) for place in game.places()} == {2}
    closed = scenario(
        seats={0: {"tech": [2, 0, 0, 0, 0], "ships": [100, None, None]}}, bodies=dict.fromkeys(ring, MINE),
        face_up=set(),
        flow=Node.MOVEMENT, source=2, speed=2,
    )  # fmt: skip
    assert closed.legal() == {DONE, "starship 1"}, "it can be withdrawn, but not move"


def test_rewards_for_winning_alone() -> None:
    config = GAME.configure(4, reward_mode="win")
    for points, expected in (
        ([9, 5, 5, 1], [1, -1 / 3, -1 / 3, -1 / 3]), ([9, 9, 5, 1], [0.5, 0.5, -0.5, -0.5]),
        ([4, 4, 4, 4], [0, 0, 0, 0]),
    ):  # fmt: skip
        position = Position.read(tied(points, [None] * 4).state)
        position.end, position.win_loss = 0, 1
        for seat in position.seats:
            seat.objectives = {13}
        assert finished(position, config).results()[2].tolist() == pytest.approx(expected)


def test_ghost() -> None:
    """A space on both tracks each round, a level in rounds 5, 10 and 15; no rewards; what the human did not choose at
    first."""
    game = Play(Snapshot.deal(GAME.configure(1), 7)).play("advance Space Travels", "advance Energy Development")
    assert game.position.ghost.tech == [0, 1, 0, 1, 1] and game.position.ghost.track == [1, 1]
    levels = {}
    while not game.over:
        levels[game.position.round] = (game.position.ghost.track, sum(game.position.ghost.tech))
        game.play_first()
    assert levels[4] == ([4, 4], 3) and levels[5] == ([5, 5], 8) and levels[16] == ([16, 16], 18)
    assert game.position.ghost.tech == [3, 4, 3, 4, 4]
    assert sum(game.position.ghost.medals) > 0


def test_ghost_meets_medals() -> None:
    """In round 4 the ghost uncovers a medal on each track; whoever is furthest in 3b has both, here the ghost alone."""
    game = Play(Snapshot.deal(GAME.configure(1), 7)).play("advance Space Travels", "advance Energy Development")
    while game.position.round < 4:
        game.play_first()
    assert game.position.card_medals == [1, 1]
    while game.position.round < 5:
        game.play_first()
    assert (game.position.ghost.medals, game.own.medals) == ([1, 1], [0, 0])


def test_last_round_ends_the_game() -> None:
    game = Play(Snapshot.deal(GAME.configure(2), 3)).pass_to(Node.OVER)
    assert game.over and game.position.round == 16 and game.position.phase == Phase.OVER


def test_regeneration_is_a_reward_of_space_six() -> None:
    own = {"track": [5, 0], "pit": [0, 0, 1]}
    game = scenario(seats={0: own}).play("main action Galactic Mapping", "advance on the colonial track")
    assert game.position.rewards == [(0, REGENERATE)] and game.legal() == {DONE, "choose antimatter"}


# ---------------------------------------------------------------- 3.8 progress cards


EMPTY_HEXES = (102, 145, 191, 300)


def cleanup(card: int, seats: dict[int, dict[str, Any]] | None = None, first: int = 0, **changes: Any) -> Play:
    """The last turn of a round has ended without an action, and this card comes."""
    last = (first + 3) % 4
    seats = {number: (seats or {}).get(number, {}) for number in range(4)}
    game = scenario(card=card, seats=seats, first=first, active=last, turn=last, turn_index=3, **changes)
    game.play("main action Antimatter Generation")
    while game.position.phase == Phase.TURNS and game.position.round == 1:
        game.play(DONE)
    return game


def favoured(game: Play) -> set[int]:
    """The seat that the card asks, and those that it still waits for."""
    return {game.position.active} | game.position.beneficiaries


@pytest.mark.parametrize(
    ("card", "node", "seats"),
    [
        (1, Node.CARD_TECHNOLOGY, {0, 1, 2, 3}), (2, Node.PLACE, {1, 2}), (5, Node.CARD_REGENERATION, {0, 2}),
        (6, Node.CARD_REGENERATION, {1}), (7, Node.CARD_REGENERATION, {3}), (8, Node.CARD_REGENERATION, {0, 2}),
        (9, Node.CARD_PRODUCTION, {0, 2}), (10, Node.CARD_PRODUCTION, {1}), (11, Node.CARD_PRODUCTION, {3}),
        (12, Node.CARD_PRODUCTION, {0, 2}), (13, Node.PLACE, {0, 2}), (14, Node.CARD_TECHNOLOGY, {1}),
        (15, Node.MOVEMENT, {2}), (16, Node.CARD_TILE, {0, 1}), (17, Node.CARD_PRODUCTION, {1, 3}),
        (18, Node.CARD_EXPLOITATION, {0, 3}),
    ],
)  # fmt: skip
def test_whom_a_progress_card_is_for(card: int, node: Node, seats: set[int]) -> None:
    """2.6 and 3.8: the fewest colonies, the highest or lowest place on a track or in a technology; ties share it."""
    track = [[1, 7], [2, 0], [1, 7], [5, 1]]
    tech = [[2, 0, 1, 2, 0], [2, 0, 0, 1, 0], [0, 0, 1, 0, 0], [1, 0, 0, 2, 0]]
    planets = [[2], [], [], [5]]
    rows = {
        number: {
            "track": track[number], "tech": tech[number], "planets": planets[number], "pit": [1, 1, 0],
            "ships": [EMPTY_HEXES[number], None, None],
        }
        for number in range(4)
    }  # fmt: skip
    game = cleanup(card, rows, up=(2, 5))
    assert game.node == node and favoured(game) == seats and game.seat == min(seats)


@pytest.mark.parametrize(
    ("card", "tracks"), [(3, [[2, 7], [2, 0], [2, 7], [5, 1]]), (4, [[1, 7], [2, 1], [1, 7], [5, 1]])]
)
def test_a_card_can_bring_a_step_on_a_track(card: int, tracks: list[list[int]]) -> None:
    """Whom it is for is fixed before the first one moves (K31): the second of two equal ones moves as well, and those
    who are equal afterwards do not."""
    track = [[1, 7], [2, 0], [1, 7], [5, 1]]
    game = cleanup(card, {number: {"track": spaces} for number, spaces in enumerate(track)})
    assert game.position.round == 2 and [seat.track for seat in game.position.seats] == tracks


def test_a_card_asks_in_turn_order() -> None:
    """3.8: from the first player on, here seat 2."""
    game = cleanup(1, first=2)
    asked = []
    while game.node == Node.CARD_TECHNOLOGY:
        asked.append(game.seat)
        game.play(DONE)
    assert asked == [2, 3, 0, 1]


@pytest.mark.parametrize(("ghost", "for_me"), [(4, True), (5, True), (6, False)])
def test_the_ghost_is_compared_for_cards(ghost: int, for_me: bool) -> None:
    """3.8 and K29: a tie with the ghost is a tie; if the ghost alone is furthest, nobody gets anything."""
    config = GAME.configure(1)
    position = scenario(config=config, card=7, seats={0: {"track": [5, 0], "pit": [1, 0, 0]}}).position
    assert position.ghost is not None
    position.ghost.track = [ghost, 0]
    game = Play(position.write(config)).play("main action Antimatter Generation")
    while game.position.phase == Phase.TURNS and game.position.round == 1:
        game.play(DONE)
    assert (game.node == Node.CARD_REGENERATION) == for_me


@pytest.mark.parametrize(("card", "cubes"), [(5, 2), (7, 1)])
def test_a_card_regenerates_its_number_of_cubes(card: int, cubes: int) -> None:
    """2.6: two for whoever is behind, one for whoever is ahead."""
    own, others = (0, 1) if card == 5 else (1, 0)
    rows = {number: {"track": [others, 0]} for number in (1, 2, 3)}
    game = cleanup(card, {0: {"track": [own, 0], "pit": [1, 1, 1]}, **rows})
    for kind in ("choose antimatter", "choose energy")[:cubes]:
        assert (game.node, game.seat) == (Node.CARD_REGENERATION, 0)
        game.play(kind)
    assert game.position.round == 2 and game.own.pit == ([0, 1, 0] if cubes == 2 else [1, 1, 0])
    assert game.own.storage == ([7, 6, 3] if cubes == 2 else [6, 6, 3])


def test_a_card_produces_what_is_in_storage() -> None:
    """3.8: one planet gets the cubes as far as they go, and nobody is asked who has none of them."""
    rows = {0: {"storage": [1, 7, 3]}, 1: {"storage": [0, 7, 3]}, 3: {"track": [9, 0]}}
    game = cleanup(9, rows, earth=[3, 0, 0], colonies={19: [1, 0, 0]})
    assert (game.node, game.seat) == (Node.CARD_PRODUCTION, 0)
    game.play("with colony 1")
    assert game.own.cubes[:2] == [[3, 0, 0], [2, 0, 0]] and game.own.storage[E] == 0
    assert (game.node, game.seat) == (Node.CARD_PRODUCTION, 2)


def test_a_card_moves_starships_two_spaces() -> None:
    """3.8: whatever the level of Space Travels, and nothing can be withdrawn meanwhile."""
    rows = {0: {"ships": [100, 300, None]}} | {other: {"tech": [1, 0, 0, 0, 0]} for other in (1, 2, 3)}
    game = cleanup(15, rows, bodies={})
    assert (game.node, game.seat) == (Node.MOVEMENT, 0) and "starship 1" not in game.legal()
    reach = {place: min(steps_between(place, 100), steps_between(place, 300)) for place in game.places()}
    assert set(reach.values()) == {1, 2}
    game.play(to_hex(next(place for place in reach if steps_between(place, 100) == 2)))
    assert game.node == Node.MOVEMENT and all(steps_between(place, 300) <= 2 for place in game.places())
    game.play(DONE)
    assert game.position.round == 2 and game.own.ships[1] == 300


def test_a_card_turns_up_two_tiles() -> None:
    game = cleanup(16, {0: {"tech": [1, 0, 0, 0, 0]}})
    before = game.position.face_up
    for _ in range(2):
        assert (game.node, game.seat) == (Node.CARD_TILE, 0)
        game.play(to_hex(min(game.places())))
    assert game.position.round == 2 and len(game.position.face_up - before) == 2


def test_a_card_lets_one_colony_produce() -> None:
    """3.8: on its terraformed side if it is terraformed; the level of Terraforming sets no number."""
    game = scenario(colonies={21: [0, 0, 0], 22: [0, 0, 0]})
    planets = game.snapshot.config.tables[0]["planet"]
    plain, terraformed = planets["colony"][21].tolist(), planets["terraformed"][22].tolist()
    assert terraformed != planets["colony"][22].tolist()
    for chosen, produced in ((1, plain), (2, terraformed)):
        rows = {3: {"tech": [0, 0, 0, 1, 0]}, 0: {"tech": [0, 0, 0, 1, 0]}}
        game = cleanup(18, rows, colonies={21: [0, 0, 0], 22: [0, 0, 0]}, terraformed={22})
        assert game.node == Node.CARD_EXPLOITATION and game.legal() == {DONE, "with colony 1", "with colony 2"}
        game.play(f"with colony {chosen}")
        assert game.own.cubes[chosen] == produced and game.own.cubes[3 - chosen] == [0, 0, 0]
        assert game.position.round == 2


def test_a_card_brings_a_starship_beside_any_own_planet() -> None:
    """3.8: the last one in supply, too; without one the card is skipped."""
    rows = {0: {"ships": [300, 310, None]}} | {1: {"ships": list(EMPTY_HEXES[:3])}}
    rows |= {other: {"track": [9, 0]} for other in (2, 3)}
    game = cleanup(13, rows, colonies={19: [0, 0, 0]})
    assert (game.node, game.seat, favoured(game)) == (Node.PLACE, 0, {0, 1}) and DONE in game.legal()
    beside = set(NEIGHBOURS[SOL]) | set(NEIGHBOURS[game.position.hex_of(19)])
    assert game.places() <= beside and not game.places() <= set(NEIGHBOURS[SOL])
    game.play_first()
    assert game.position.round == 2, "seat 1 has all its starships on the map"


def test_open_patents_are_free_up_to_level_two() -> None:
    """2.6: the second level costs nothing, the third cannot be had."""
    rows = {0: {"tech": [2, 1, 0, 3, 0], "track": [0, 0]}} | {other: {"track": [0, 9]} for other in (1, 2, 3)}
    game = cleanup(14, rows)
    assert game.legal() == {DONE, "advance Quantum Physics", "advance Energy Development", "advance Antimatter Science"}
    game.play("advance Quantum Physics")
    assert game.own.tech[1] == 2 and game.own.pit == [0, 0, 0] and game.position.round == 2


def test_a_free_technology_needs_the_cubes_that_it_burns() -> None:
    """3.8: three for the fourth level, from storage and cards together; the highest level can be reached."""
    own = {"tech": [3, 2, 1, 0, 4], "storage": [1, 0, 0]}
    for pit, possible in (([0, 0, 0], {0, 1, 2, 3}), ([1, 0, 0], {1, 2, 3})):
        cubes = [1 - pit[0], 1, 0]
        game = cleanup(1, {0: own | {"pit": pit}}, earth=cubes)
        assert game.legal() == {DONE, *(ADVANCES[tech] for tech in possible)}


# ---------------------------------------------------------------- 3.7 bonus actions, one by one


def bonus(main: str, name: str, **changes: Any) -> Play:
    """Seat 0 has declined what the main action offers, and burned an energy in storage for a bonus action."""
    game = scenario(**changes).play(f"main action {main}")
    if game.node != Node.BONUS_ACTION:
        game.play(DONE)
    return game.play(f"bonus action {name}", "burn energy from storage")


def test_evolution_of_technology_brings_an_antimatter_to_any_planet() -> None:
    game = bonus("Colony Seeding", "Evolution of Technology", colonies={19: [0, 0, 0]})
    assert game.legal() == {DONE, "with Earth", "with colony 1"}
    game.play("with colony 1")
    assert game.own.cubes[1] == [0, 0, 1] and game.own.storage == [6, 7, 2] and game.node == Node.BONUS_ACTION


def test_scientific_progress_is_a_step_on_the_technological_track() -> None:
    assert bonus("Galactic Mapping", "Scientific Progress").own.track == [0, 1]


def test_exploratory_planning_moves_two_spaces_without_any_technology() -> None:
    """K36."""
    game = bonus("Galactic Mapping", "Exploratory Planning", seats={0: {"ships": [100, None, None]}})
    assert game.node == Node.MOVEMENT and {steps_between(100, place) for place in game.places()} == {1, 2}
    game.play(DONE)
    assert game.node == Node.BONUS_ACTION


def test_exploitation_of_neo_produces_on_earth_what_there_is() -> None:
    """3.7: an energy and a matter, as available."""
    assert bonus("Energy Storage", "Exploitation of NEO").own.cubes[0] == [1, 1, 0]
    short = bonus("Energy Storage", "Exploitation of NEO", seats={0: {"storage": [2, 0, 0]}}, earth=[0, 1, 0])
    assert short.own.cubes[0] == [1, 1, 0] and short.own.storage == [0, 0, 0]


def test_bonus_actions_that_would_bring_nothing_are_not_offered() -> None:
    """K18: a step at the end of a track, an antimatter or a starship that is not in supply, a move of no starship."""
    rows = {0: {"track": [20, 20], "storage": [7, 7, 0], "ships": [100, 102, 104]}}
    legal = scenario(seats=rows).play("main action Colony Seeding").legal()
    assert not {text for text in legal if text.startswith("bonus")}
    far = scenario(seats={0: {"storage": [7, 7, 0], "track": [0, 20]}}).play("main action Galactic Mapping", DONE)
    assert far.seat == 1, "no starship moves, the track has ended: nothing was asked"


def test_a_free_second_bonus_action_needs_no_cube() -> None:
    """3.7: the only cube is burned for the first one."""
    own = {"tech": [0, 0, 4, 0, 0], "storage": [1, 0, 0]}
    game = scenario(seats={0: own}).play("main action Space Missions", "bonus action Civil Modernity")
    assert game.own.storage == [0, 0, 0] and game.legal() == {DONE, "bonus action Space Logistics"}


# ---------------------------------------------------------------- main actions and quantum operations


def test_three_starships_may_be_built() -> None:
    game = scenario(earth=[4, 4, 0]).play("main action Space Missions")
    for _ in range(3):
        game.play("with Earth").play_first()
    assert game.own.cubes[0] == [1, 1, 0] and None not in game.own.ships and game.node == Node.BONUS_ACTION


def test_a_colony_produces_once_an_action() -> None:
    """3.2, PE: distinct colonies, also where the level lets two produce."""
    game = scenario(seats={0: {"tech": [0, 0, 0, 3, 0]}}, colonies={21: [0, 0, 0], 22: [0, 0, 0]})
    game.play("main action Planetary Exploitation", "with colony 1")
    assert game.legal() == {DONE, "with colony 2"}


def test_a_terraformed_colony_produces_more() -> None:
    game = scenario(seats={0: {"tech": [0, 0, 0, 1, 0]}}, colonies={22: [0, 0, 0]}, terraformed={22})
    planet = game.snapshot.config.tables[0]["planet"][22]
    game.play("main action Planetary Exploitation", "with colony 1")
    assert game.own.cubes[1] == planet["terraformed"].tolist() != planet["colony"].tolist()


def test_a_terraformed_colony_is_offered_for_what_only_its_other_side_produces() -> None:
    """Planet 2 produces matter, and terraformed energy, too: a card and the action ask for it while there is energy."""
    rows = {number: {"tech": [0, 0, 0, int(number == 0), 0]} for number in range(4)}
    rows[0]["storage"] = [7, 0, 3]
    for terraformed in (set(), {2}):
        changes = {"seats": rows, "colonies": {2: [0, 1, 0]}, "terraformed": terraformed}
        game = scenario(**changes).play("main action Planetary Exploitation")
        assert game.node == (Node.PLANETARY_EXPLOITATION if terraformed else Node.BONUS_ACTION)
        game = cleanup(18, **changes)
        assert game.node == (Node.CARD_EXPLOITATION if terraformed else Node.MAIN_ACTION)


@pytest.mark.parametrize("stored", [0, 1])
def test_nothing_is_stored_from_an_empty_supply(stored: int) -> None:
    """3.2, ES: a card is asked for only if there is energy."""
    game = scenario(seats={0: {"tech": [0, 0, 2, 0, 0], "storage": [stored, 7, 3]}}).play("main action Energy Storage")
    assert game.node == (Node.ENERGY_STORAGE if stored else Node.BONUS_ACTION)


def test_a_fifth_colony_is_possible() -> None:
    """K12: there are five markers."""
    place = scenario().position.hex_of(6)
    rows = {0: {"ships": [place, None, None]}}
    game = scenario(seats=rows, up=(6,), colonies={number: [0, 0, 0] for number in (1, 2, 3, 4)})
    game.play("main action Colony Seeding", "starship 1")
    assert game.own.planets == [1, 2, 3, 4, 6]


def test_operations_are_used_up() -> None:
    """3.5: each conversion and each allocation counts, and an allocation moves the cube between the two cards named."""
    own = {"tech": [0, 1, 0, 0, 0]}
    game = scenario(seats={0: own}, earth=[2, 0, 0], colonies={18: [1, 0, 0], 19: [0, 0, 1]})
    game.play("allocate antimatter from colony 2 to colony 1")
    assert game.own.cubes[:3] == [[2, 0, 0], [1, 0, 1], [0, 0, 0]]
    assert (game.position.conversions, game.position.allocations) == (1, 0)
    assert not any(text.startswith("allocate") for text in game.legal())
    game.play("convert energy on Earth into matter")
    assert game.own.cubes[0] == [1, 1, 0] and game.position.conversions == 0
    assert not any(text.startswith("convert") for text in game.legal())


def test_an_allocation_between_any_two_cards() -> None:
    """3.5: from each card to each other one, by its id."""
    for giver, taker in ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)):
        cubes = [[1, 0, 0], [1, 0, 0], [1, 0, 0]]
        game = scenario(seats={0: {"tech": [0, 1, 0, 0, 0]}}, earth=cubes[0], colonies={18: cubes[1], 19: cubes[2]})
        names = ("Earth", "colony 1", "colony 2")
        game.play(f"allocate energy from {names[giver]} to {names[taker]}")
        assert [card[E] for card in game.own.cubes[:3]] == [1 - (slot == giver) + (slot == taker) for slot in range(3)]


def test_operations_between_a_reward_and_its_card() -> None:
    """3.2: a reward that waits in the own turn can be preceded by a conversion, that of another seat cannot."""
    rows = {0: {"tech": [3, 1, 0, 0, 0], "track": [0, 2]}, 2: {"track": [0, 2]}}
    game = scenario(seats=rows, earth=[3, 3, 1]).play("main action Technological Development", "advance Space Travels")
    assert (game.node, game.seat) == (Node.REWARD_PRODUCTION, 0)
    assert game.own.cubes[0] == [1, 1, 0] and "convert energy on Earth into matter" in game.legal()
    game.play("with Earth")
    assert (game.node, game.seat, game.legal()) == (Node.REWARD_PRODUCTION, 2, {DONE, "with Earth"})


@pytest.mark.parametrize(
    ("planet", "colonised", "terraformed"), [(2, 1, 1), (3, 2, 0), (5, 0, 2), (22, 1, 2), (26, 2, 2)]
)
def test_leadership_by_type_of_planet(planet: int, colonised: int, terraformed: int) -> None:
    """2.3: oceanic, rocky, super-Earth, gas giant, alien."""
    place = scenario().position.hex_of(planet)
    rows = {0: {"tech": [0, 0, 0, 4, 3], "ships": [place, None, None], "action_cube": 0}}
    game = scenario(seats=rows, up=(planet,)).play("main action Colony Seeding", "starship 1")
    assert game.own.planets == [planet] and game.own.track == [colonised, 0]
    rows[0]["ships"] = [None] * 3
    game = scenario(seats=rows, colonies={planet: [2, 2, 1]}).play("main action Terraforming", "with colony 1")
    assert game.position.terraformed == {planet} and game.own.track == [terraformed, 0]


# ---------------------------------------------------------------- 6.4 shaping


def rewards(game: Play, *texts: str) -> list[float]:
    """What the last of these decisions is rewarded with, seat by seat."""
    env = KeplerEnv(game.snapshot.config)
    env.restore(game.snapshot)
    for text in texts:
        env.step(game.snapshot.config.actions.id_of(text))
    return list(env.rewards.values())


def test_shaping_compares_public_points_with_the_mean_of_the_others() -> None:
    """A terraformed planet of 3 points, of which 60 are worth one."""
    config = GAME.configure(3, shaping=0.5)
    game = scenario(config=config, seats={0: {"tech": [0, 0, 0, 4, 0], "action_cube": 0}}, colonies={2: [2, 0, 0]})
    paid = rewards(game, "main action Terraforming", "with colony 1")
    assert paid == pytest.approx([0.5 * 3 / 60, -0.5 * 1.5 / 60, -0.5 * 1.5 / 60])


def test_shaping_of_the_solo_game_is_a_share_of_the_minimum() -> None:
    """The objective counts once it is satisfied: an oceanic planet of 3 points and the 4 of Atlantis Project, of 40."""
    config = GAME.configure(1, campaign=0, level=2, shaping=0.5)
    seats = {0: {"tech": [0, 0, 0, 4, 0], "action_cube": 0, "objectives": {1, 2}}}
    game = scenario(config=config, seats=seats, colonies={1: [0, 2, 0]})
    assert config.tables[0]["zone"][game.position.hex_of(1)] != 2, "it would satisfy the other objective, too"
    assert rewards(game, "main action Terraforming", "with colony 1") == pytest.approx([0.5 * 7 / 40])


def test_shaping_is_taken_back_at_the_end() -> None:
    """The potential is 0 before the first decision and after the last: what a game pays adds up to its returns."""
    env = KeplerEnv(GAME.configure(2, shaping=0.5))
    env.reset(seed=3)
    choose, totals, shaped = purposeful(3), np.zeros(2), 0
    while not any(env.terminations.values()):
        env.step(choose(env.snapshot()))
        totals += list(env.rewards.values())
        shaped += any(env.rewards.values())
    assert shaped > 10 and totals == pytest.approx(env.snapshot().results()[2], abs=1e-5)
