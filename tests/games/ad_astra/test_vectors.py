"""The test vectors of sections 8.2 and 8.3 of the specification, by their numbers."""

from __future__ import annotations

import pytest

from kepler_envs import KeplerEnv
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.ad_astra.state import EndReason, Node
from tests.games.ad_astra.scenario import (
    BLUE,
    COLONY_X,
    COLONY_Y,
    DEEP,
    FACTORY,
    FIRST_ELEMENT,
    GREEN,
    PASS,
    RED,
    RESERVE,
    SECOND_ELEMENT,
    SYSTEMS,
    TERRAFORMER,
    USED,
    YELLOW,
    E,
    F,
    Play,
    W,
    Y,
    artifact,
    at,
    bank,
    cards,
    count,
    move,
    partner,
    resource,
    scenario,
    subset,
    worked_config,
)

COLONIES_OR_STARSHIPS, TERRAFORMERS_OR_SYSTEMS, IDENTICAL_OR_DIFFERENT = 8, 9, 10


# ---------------------------------------------------------------- 8.2 scoring


def test_colonies_and_factories() -> None:
    pawns = dict(colonies={0: {0, 1}, 1: {7}, 2: {14, 15, 16}}, factories={1: {8}})
    game = scenario(resolve=(BLUE, COLONIES_OR_STARSHIPS), **pawns).play(FIRST_ELEMENT)
    assert game.points() == [4, 5, 5, 2]


def test_colonies_and_factories_with_a_leader() -> None:
    pawns = dict(colonies={0: {0, 1}, 1: {7}, 2: {14, 15}}, factories={1: {8}})
    game = scenario(resolve=(BLUE, COLONIES_OR_STARSHIPS), **pawns).play(FIRST_ELEMENT)
    assert game.points() == [4, 8, 4, 2]


def test_starships() -> None:
    ships = {0: [DEEP, DEEP, 0], 1: [DEEP, 7], 2: [14, 14], 3: [DEEP]}
    game = scenario(resolve=(GREEN, COLONIES_OR_STARSHIPS), ships=ships).play(SECOND_ELEMENT)
    assert game.points() == [9, 4, 4, 2]


def test_terraformers() -> None:
    terraformers = {0: {1, 4}, 1: {7, 14}, 3: {25}}
    game = scenario(resolve=(BLUE, TERRAFORMERS_OR_SYSTEMS), terraformers=terraformers).play(FIRST_ELEMENT)
    assert game.points() == [6, 6, 0, 3]


def test_systems() -> None:
    ships = {0: [21], 1: [DEEP, 35], 2: [DEEP], 3: [28, 49]}
    colonies, terraformers = {0: {22}, 1: {42}, 3: {7}}, {0: {4}}
    game = scenario(
        resolve=(RED, TERRAFORMERS_OR_SYSTEMS), ships=ships, colonies=colonies, terraformers=terraformers
    ).play(SECOND_ELEMENT)
    assert game.points() == [3, 3, 1, 7]


IDENTICAL_HANDS = {2: [5, 0, 0, 0, 0, 0], 3: [0, 2, 0, 1, 0, 0], 0: [0, 0, 2, 0, 3, 0], 1: [0, 0, 6, 0, 0, 0]}


def identical_discards(last: int) -> Play:
    game = scenario(resolve=(RED, IDENTICAL_OR_DIFFERENT), hands=IDENTICAL_HANDS).play(FIRST_ELEMENT)
    assert (game.seat, game.node, game.legal()) == (YELLOW, Node.IDENT, {PASS, resource(W)})
    game.play(resource(W))
    assert game.legal() == {count(number) for number in (2, 3, 4, 5)}
    game.play(count(4))
    assert (game.seat, game.legal()) == (GREEN, {PASS, resource(F)})
    game.play(PASS)
    assert (game.seat, game.legal()) == (BLUE, {PASS, resource(E), resource(Y)})
    game.play(resource(Y), count(3))
    assert (game.seat, game.legal()) == (RED, {PASS, resource(E)})
    return game.play(resource(E), count(last))


def test_identical_resources() -> None:
    game = identical_discards(5)
    assert game.points() == [3, 8, 4, 0]
    assert game.hands() == [[0, 0, 2, 0, 0, 0], [0, 0, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0, 2, 0, 1, 0, 0]]
    assert game.position.bank == [24, 23, 22, 24, 25, 25]


def test_identical_resources_tied() -> None:
    assert identical_discards(4).points() == [3, 4, 4, 0]


def test_no_pair_is_not_asked() -> None:
    hands = {2: [1, 1, 1, 1, 1, 1], 3: [0] * 6, 0: [2, 0, 0, 0, 0, 0], 1: [0] * 6}
    game = scenario(resolve=(RED, IDENTICAL_OR_DIFFERENT), hands=hands).play(FIRST_ELEMENT)
    assert (game.seat, game.node) == (BLUE, Node.IDENT)


def test_different_resources() -> None:
    hands = {0: [1, 1, 1, 1, 0, 0], 1: [1] * 6, 2: [4, 0, 0, 0, 0, 0], 3: [0, 0, 0, 0, 1, 1]}
    game = scenario(resolve=(GREEN, IDENTICAL_OR_DIFFERENT), hands=hands).play(SECOND_ELEMENT)
    assert (subset([0, 1, 2, 3]), subset(range(6)), subset([4, 5])) == (336, 382, 367)
    for seat, action in ((BLUE, 336), (RED, 382), (GREEN, 367)):  # seat 2 is not asked
        assert (game.seat, game.node) == (seat, Node.DIFF)
        game.play(action)
    assert game.points() == [4, 9, 0, 2]
    assert game.hands() == [[0] * 6, [0] * 6, [4, 0, 0, 0, 0, 0], [0] * 6]


def test_identical_resources_with_the_artifact() -> None:
    """Three cards count five: more than four of another, and only three go back to the bank."""
    hands = {0: [4, 0, 0, 0, 0, 0], 1: [0, 3, 0, 0, 0, 0], 2: [0] * 6, 3: [0] * 6}
    game = scenario(resolve=(GREEN, IDENTICAL_OR_DIFFERENT), hands=hands, held={8: RED}).play(FIRST_ELEMENT)
    game.play(resource(W), count(4))
    assert game.legal() == {PASS, resource(F), artifact(8)}
    game.play(artifact(8))  # a discard is promised: of the one type, so the number is asked next
    assert (game.seat, game.node, game.legal()) == (RED, Node.IDENT_COUNT, {count(2), count(3)})
    game.play(count(3))
    assert game.points() == [4, 8, 0, 0]
    assert game.position.bank[F] == 25 and game.position.artifacts[8] == USED


# ---------------------------------------------------------------- 8.3 other vectors


def test_vector_01_bank_runs_out_at_production() -> None:
    game = scenario(
        resolve=(YELLOW, 0), hands={RED: [1, 1, 19, 1, 1, 1]},
        ships={GREEN: [0], BLUE: [21]}, colonies={GREEN: {0}},
    )  # fmt: skip
    assert game.position.bank[E] == 3
    game.play(resource(E))
    assert [hand[E] for hand in game.hands()] == [1, 19, 1, 1 + 3] and game.position.bank[E] == 0


@pytest.mark.parametrize(
    ("energy", "systems"), [(0, None), (1, {"LY", DEEP}), (2, {"LY", "TY", DEEP})], ids=["no energy", "one", "two"]
)
def test_vector_02_moves_within_a_system_of_the_card(energy: int, systems: set[str] | None) -> None:
    _check_moves(22, energy, systems)


@pytest.mark.parametrize(
    ("energy", "systems"), [(0, None), (1, {DEEP}), (2, {"LY", "TY", DEEP})], ids=["no energy", "one", "two"]
)
def test_vector_03_moves_from_another_system(energy: int, systems: set[str] | None) -> None:
    _check_moves(0, energy, systems)


def _check_moves(position: int, energy: int, systems: set[str] | None) -> None:
    game = scenario(resolve=(RED, 3), ships={RED: [position]}, hands={RED: [1, 1, energy, 1, 1, 1]})
    if systems is None:
        assert game.seat != RED, "passing was forced"
    else:
        assert game.seat == RED
        assert game.legal() == {PASS} | {move(0, system) for system in systems}


def test_vector_04_equal_starships() -> None:
    game = scenario(resolve=(RED, 3), ships={RED: [DEEP, DEEP]}, hands={RED: [0] * 6})
    assert game.legal() == {176, 178, 0}


def test_vector_05_colony_and_factory_on_an_alien_planet() -> None:
    game = scenario(resolve=(GREEN, 6), ships={GREEN: [23]}, hands={GREEN: [1, 1, 0, 2, 1, 1], BLUE: [0] * 6})
    game.play(COLONY_X)
    assert game.points()[GREEN] == 3 and game.position.seats[GREEN].colonies == {23}
    assert game.legal() == {PASS, FACTORY}
    game.play(FACTORY)
    green = game.position.seats[GREEN]
    assert green.points == 9 and green.hand == [0] * 6
    assert green.colonies == set() and green.factories == {23, 59} and green.reserve()[:2] == [4, 2]
    assert game.position.card() != (GREEN, 6) or game.seat != GREEN, "passing was forced"


def test_vector_06_terraformer_holds_a_planet() -> None:
    game = scenario(resolve=(RED, 6), ships={RED: [35]}, hands={RED: [3, 3, 0, 0, 1, 0]})
    assert game.play(TERRAFORMER).legal() == {at(35), at(56)}
    game.play(at(35))
    assert game.points()[RED] == 4 and game.hands()[RED] == [1, 1, 0, 0, 1, 0]
    gone = scenario(resolve=(RED, 6), ships={RED: [DEEP]}, terraformers={RED: {35}}, hands={RED: [1, 1, 0, 0, 1, 0]})
    assert gone.position.owner_of(35) == RED
    assert gone.legal() == {PASS, COLONY_Y}
    gone.play(COLONY_Y)
    red = gone.position.seats[RED]
    assert red.colonies == {35} and red.terraformers == {35} and red.hand == [0] * 6


def test_a_planet_has_room_for_one_building_and_one_terraformer() -> None:
    here = {"ships": {RED: [35]}, "colonies": {RED: {35}}, "terraformers": {RED: {35}}}
    game = scenario(resolve=(RED, 6), hands={RED: [6, 6, 0, 0, 1, 0]}, **here)
    assert game.legal() == {PASS, TERRAFORMER}, "no second colony"
    game.play(TERRAFORMER)  # on the start planet: the one place there is
    red = game.position.seats[RED]
    assert red.terraformers == {35, 57} and red.hand == [4, 4, 0, 0, 1, 0]
    assert game.seat != RED, "passing was forced"


def test_vector_07_scoring_cards_come_back() -> None:
    game = Play(Snapshot.deal(worked_config(), 1))
    for card, aside in ((8, {8}), (9, {8, 9}), (10, set())):
        game.play_round({BLUE: [(card, 12)]})
        assert game.position.seats[BLUE].aside == aside
        assert game.position.seats[BLUE].cards == set(range(11)) - aside
    assert game.position.round == 4
    game.play_round({BLUE: [(10, 12)]})
    assert game.position.seats[BLUE].aside == {10}


def test_vector_08_two_scoring_cards_in_one_round() -> None:
    game = scenario(aside={BLUE: {8}}).play_round({BLUE: [(9, 2), (10, 5)]})
    assert game.position.round == 2 and game.position.seats[BLUE].aside == set()
    assert game.position.seats[BLUE].cards == set(range(11))


def test_vector_09_hand_limit() -> None:
    game = scenario(resolve=(BLUE, COLONIES_OR_STARSHIPS), last=True, hands={YELLOW: [5, 4, 4, 0, 0, 0]})
    game.play(FIRST_ELEMENT)
    for left in (13, 12, 11):
        assert (game.seat, game.node, sum(game.hands()[YELLOW])) == (YELLOW, Node.DISCARD, left)
        assert game.legal() == {resource(W), resource(F), resource(E)}
        game.play(resource(W))
    assert game.hands()[YELLOW] == [2, 4, 4, 0, 0, 0]
    assert (game.node, game.seat, game.position.round) == (Node.PLAN, BLUE, 2)


def test_vector_10_fifty_points_in_mid_round() -> None:
    game = scenario(points={BLUE: 48}, hands={YELLOW: [5, 5, 5, 0, 0, 0]})
    spaces = []
    wanted = {BLUE: [(8, 3)], RED: [(7, 4), (6, 5)], GREEN: [(9, 12)]}
    position = game.position
    plans = {seat: list(pairs) for seat, pairs in wanted.items()}
    free = [space for space in range(1, 13) if space not in (3, 4, 5, 12)]
    while game.node == Node.PLAN:
        position = game.position
        if plans.get(game.seat):
            card, space = plans[game.seat].pop(0)
        else:
            card, space = min(position.mover.cards - {6, 7, 8, 9}), free.pop(0)
        game.play(2 + 15 * card + space - 1)
    while not game.over:
        spaces.append(game.position.current + 1)
        game.play(min(game.legal()))
    assert game.points()[BLUE] >= 50 and max(spaces) == 12, "the round was completed"
    assert sum(game.hands()[YELLOW]) > 10, "there was no hand limit"
    assert game.position.end_reason == EndReason.POINTS and game.position.round == 1


def test_vector_11_owner_waits() -> None:
    game = scenario(resolve=(RED, 3), ships={RED: [DEEP, DEEP]}).play(PASS)
    for seat in (YELLOW, GREEN, BLUE):
        assert game.seat == seat
        game.play(PASS)
    assert (game.seat, game.legal()) == (RED, {PASS, move(0, "LY"), move(0, "TY")})
    game.play(move(0, "LY"), at(21))
    assert (game.seat, game.legal()) == (RED, {PASS, move(1, "LY"), move(1, "TY")})
    game.play(move(1, "LY"), at(22))
    assert game.position.seats[RED].ships[:2] == [21, 22] and game.position.card() != (RED, 3)


def test_vector_12_foreign_terraformer() -> None:
    game = scenario(resolve=(RED, 3), terraformers={YELLOW: {35}}).play(move(0, "TY"))
    assert game.legal() == {at(36), at(37), at(38), at(39)}


def test_vector_13_rewards() -> None:
    game = scenario(resolve=(BLUE, 7), last=True, points={0: 60, 1: 50, 2: 50, 3: 40}).play(PASS)
    assert game.over and game.returns() == [1, 0, 0, -1]


def test_vector_14_rewards_of_a_tie() -> None:
    game = scenario(3, resolve=(0, 7), last=True, points=dict.fromkeys(range(3), 50)).play(PASS)
    assert game.over and game.returns() == [0, 0, 0]


def test_shaping_compares_points_with_the_mean_of_the_others() -> None:
    """Section 6: fifty points are worth one."""
    config = worked_config(shaping=0.5)
    pawns = dict(colonies={0: {0, 1}, 1: {7}, 2: {14, 15, 16}}, factories={1: {8}})
    game = scenario(config=config, resolve=(BLUE, COLONIES_OR_STARSHIPS), **pawns)
    env = KeplerEnv(config)
    env.restore(game.snapshot)
    env.step(FIRST_ELEMENT)
    points = [4, 5, 5, 2]
    expected = [0.5 * (own - (16 - own) / 3) / 50 for own in points]
    assert list(env.rewards.values()) == pytest.approx(expected)


def test_vector_15_star_gate() -> None:
    changes = dict(ships={BLUE: [22]}, hands={BLUE: [1, 1, 0, 1, 1, 1]}, held={1: BLUE})
    game = scenario(resolve=(BLUE, 3), **changes)
    assert game.legal() == {PASS, 384}
    game.play(384)
    assert game.legal() == {move(0, system) for system in SYSTEMS}
    for system in SYSTEMS:
        landing = scenario(resolve=(BLUE, 3), **changes).play(384, move(0, system))
        assert landing.hands()[BLUE] == [1, 1, 0, 1, 1, 1], "it costs nothing"
    game.play(move(0, "LY"))
    assert game.legal() == {at(21), at(23), at(24), at(25)}


# ---------------------------------------------------------------- rules that no vector shows


def test_the_hand_limit_begins_with_the_first_player() -> None:
    """3.1: clockwise from whoever revealed the last scoring card."""
    hands = {BLUE: [5, 5, 1, 0, 0, 0], GREEN: [5, 5, 1, 0, 0, 0]}
    game = scenario(resolve=(GREEN, COLONIES_OR_STARSHIPS), last=True, hands=hands).play(FIRST_ELEMENT)
    assert (game.seat, game.node) == (GREEN, Node.DISCARD)
    game.play(resource(W))
    assert (game.seat, game.node) == (BLUE, Node.DISCARD)


def test_a_starship_can_follow_one_that_has_moved() -> None:
    """The one that has landed on its planet does not stand for it: only starships that may both move are equal."""
    game = scenario(resolve=(RED, 3), ships={RED: [DEEP, 21]}).play(move(0, "LY"), at(21))
    while game.seat != RED:
        game.play(PASS)
    assert game.legal() == {PASS, move(1, "LY"), move(1, DEEP)}


def test_limits_of_a_trade_card() -> None:
    """A23, with one trade of each kind instead of 12 and 4."""
    config = worked_config(max_offers=1, max_bank_trades=1)
    hands = {BLUE: [4, 1, 0, 0, 0, 0], RED: [0, 2, 0, 0, 0, 0], YELLOW: [0] * 6, GREEN: [0] * 6}
    game = scenario(config=config, resolve=(BLUE, 7), hands=hands)
    assert game.legal() == {PASS, bank(W), partner(1)}
    game.play(bank(W), resource(F))
    assert game.hands()[BLUE] == [2, 2, 0, 0, 0, 0] and game.legal() == {PASS, partner(1)}
    game.play(partner(1), cards(W, 1), cards(F, 1))
    assert (game.seat, game.node) == (RED, Node.REPLY)
    assert game.play(PASS).position.card() != (BLUE, 7), "nothing is left but to pass"


def test_the_bank_gives_another_type() -> None:
    """A20 and A21: it has none but the type that could be given."""
    hands = {BLUE: [2, 0, 0, 0, 0, 0], RED: [0] * 6, YELLOW: [0] * 6, GREEN: [0, 25, 25, 25, 25, 25]}
    assert scenario(resolve=(BLUE, 7), hands=hands).legal() == {PASS, partner(3)}


# ---------------------------------------------------------------- artifacts (2.5)


def test_artifact_00_acts_when_drawn() -> None:
    """One of each resource the bank has; it is shown and leaves the game."""
    config = worked_config()
    deck = [0, 1, 2, 3, 4, 5, 6, 7, 8]
    hands = {YELLOW: [22, 0, 1, 1, 1, 1]}
    game = scenario(config=config, resolve=(RED, 3), deck=deck, hands=hands)
    assert game.position.bank[W] == 0
    game.play(move(0, "LY"), at(23))
    assert game.hands()[RED] == [1, 2, 2, 2, 2, 2]
    assert game.position.artifacts[0] == USED and game.position.deck == deck[1:]


def test_artifact_02_shows_everything() -> None:
    game = scenario(held={2: BLUE})
    assert artifact(2) in game.legal()
    game.play(artifact(2))
    assert (game.seat, game.node) == (BLUE, Node.PLAN) and artifact(2) not in game.legal()
    assert game.position.seats[BLUE].known == game.position.hidden() and game.position.artifacts[2] == USED


def test_artifact_03_needs_a_card_set_aside() -> None:
    assert artifact(3) not in scenario(held={3: BLUE}).legal()
    game = scenario(held={3: BLUE}, aside={BLUE: {8, 10}}).play(artifact(3))
    assert game.position.seats[BLUE].aside == set() and game.position.seats[BLUE].cards == set(range(11))


@pytest.mark.parametrize(("card", "node"), [(3, Node.MOVE), (6, Node.BUILD)])
def test_artifact_04_brings_three_cards(card: int, node: Node) -> None:
    hands = {BLUE: [0, 1, 0, 1, 1, 1], RED: [1, 1, 23, 1, 1, 1]}
    game = scenario(resolve=(BLUE, card), held={4: BLUE}, ships={BLUE: [21, DEEP]}, hands=hands)
    assert game.node == node and artifact(4) in game.legal()
    game.play(artifact(4))
    assert (game.seat, game.node) == (BLUE, Node.ART_RES)
    assert game.legal() == {resource(kind) for kind in range(6) if kind != E}, "the bank has no energy"
    game.play(resource(W))
    assert game.hands()[BLUE] == [3, 1, 0, 1, 1, 1] and (game.seat, game.node) == (BLUE, node)


def test_artifact_05_builds_for_free() -> None:
    game = scenario(
        resolve=(BLUE, 6), held={5: BLUE}, ships={BLUE: [21, 22]}, colonies={BLUE: {21}}, hands={BLUE: [0] * 6}
    )
    assert game.legal() == {PASS, artifact(5)}
    assert game.play(artifact(5)).legal() == {COLONY_X, FACTORY}
    game.play(FACTORY)
    assert game.position.seats[BLUE].factories == {21, 56} and game.position.seats[BLUE].colonies == set()
    assert game.position.free == 0


def test_artifact_06_terraforms_for_free() -> None:
    game = scenario(resolve=(YELLOW, 6), held={6: YELLOW}, ships={YELLOW: [35]}, hands={YELLOW: [0] * 6})
    assert game.legal() == {PASS, artifact(6)}
    game.play(artifact(6))
    assert (game.node, game.legal()) == (Node.BUILD_POS, {at(35), at(56)})
    game.play(at(56))
    assert game.points()[YELLOW] == 4 and game.position.seats[YELLOW].terraformers == {58}


def test_artifact_07_launches_a_starship() -> None:
    game = scenario(resolve=(RED, 3), held={7: RED}, ships={RED: [35]}, hands={RED: [0] * 6})
    assert game.legal() == {PASS, artifact(7)}
    game.play(artifact(7))
    assert game.position.seats[RED].ships == [35, DEEP, RESERVE, RESERVE]
    assert game.legal() == {PASS, move(1, "LY"), move(1, "TY")}


def test_artifact_08_makes_a_discard_compulsory() -> None:
    hands = {0: [0] * 6, 1: [1, 1, 1, 0, 0, 0], 2: [0] * 6, 3: [0] * 6}
    game = scenario(resolve=(BLUE, IDENTICAL_OR_DIFFERENT), hands=hands, held={8: RED}).play(SECOND_ELEMENT)
    game.play(artifact(8))
    assert game.legal() == {subset(kinds) for kinds in ([0, 1], [0, 2], [1, 2], [0, 1, 2])}
    assert game.play(subset([0, 1])).points() == [0, 2 + 2 + 3, 0, 0]


def test_artifact_09_scores_one_to_six() -> None:
    config = worked_config(artifacts="all", setup="random")
    gains = set()
    for rng in range(60):
        game = scenario(config=config, held={9: 0}, turn=0, first=0, rng=rng * 0x9E3779B97F4A7C15 % 2**64)
        gains.add(game.play(artifact(9)).points()[0])
    assert gains == {1, 2, 3, 4, 5, 6}


def test_artifact_10_takes_a_card_from_everybody() -> None:
    config = worked_config(artifacts="all", setup="random")
    hands = {0: [0] * 6, 1: [2, 0, 0, 0, 0, 0], 2: [0] * 6, 3: [0, 0, 0, 0, 0, 1]}
    game = scenario(config=config, held={10: 0}, turn=0, first=0, hands=hands).play(artifact(10))
    assert game.hands() == [[1, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0], [0] * 6, [0] * 6]
    nobody = scenario(config=config, held={10: 0}, turn=0, first=0, hands=dict.fromkeys(range(1, 4), [0] * 6))
    assert artifact(10) not in nobody.legal()
